//! Which shape a JSON file has, from its beginning.

use std::io::{self, Read};

use serde::de::IgnoredAny;

use super::read_up_to;

/// How much of a file is looked at.
const LOOK_AHEAD: usize = 1 << 20;

/// The shapes of JSON files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// One object a line.
    Lines,
    /// One list of rows.
    List,
    /// One object, with a row for each id.
    Map,
    /// Objects of several lines each.
    Objects,
}

/// Decides by the beginning of the file. What is no JSON at all is read line by line.
pub(super) fn shape(file: &mut impl Read) -> io::Result<Shape> {
    let mut buffer = vec![0; LOOK_AHEAD];
    let filled = read_up_to(file, &mut buffer)?;
    buffer.truncate(filled);
    let text = buffer.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&buffer);
    let text = text.trim_ascii_start();
    Ok(match text.first() {
        Some(b'[') => Shape::List,
        Some(b'{') => object_shape(text),
        _ => Shape::Lines,
    })
}

fn object_shape(text: &[u8]) -> Shape {
    let mut lines = text
        .split(|b| *b == b'\n')
        .map(<[u8]>::trim_ascii)
        .filter(|line| !line.is_empty());
    let first = lines.next().unwrap_or_default();
    let second = lines.next().and_then(<[u8]>::first);
    let complete = match serde_json::from_slice::<IgnoredAny>(first) {
        Ok(_) => true,
        // A broken line, or the first of many lines of one object?
        Err(error) => !error.is_eof() || second == Some(&b'{'),
    };
    match (first_entry(text), complete) {
        // Rows begin with a text or a number.
        (Some((_, b'{')), _) => Shape::Map,
        (Some((key, b'"' | b'n')), _) if second.is_none() && !is_row(text, key) => Shape::Map,
        (_, true) => Shape::Lines,
        (_, false) => Shape::Objects,
    }
}

/// The first key of an object and the first character of its value.
fn first_entry(text: &[u8]) -> Option<(&[u8], u8)> {
    let rest = text.strip_prefix(b"{")?.trim_ascii_start();
    let rest = rest.strip_prefix(b"\"")?;
    let end = rest.iter().position(|b| *b == b'"')?;
    let (key, rest) = rest.split_at_checked(end)?;
    let value = rest
        .strip_prefix(b"\"")?
        .trim_ascii_start()
        .strip_prefix(b":")?
        .trim_ascii_start();
    Some((key, *value.first()?))
}

/// Looks like a row and not like a map from ids to patches.
fn is_row(text: &[u8], key: &[u8]) -> bool {
    const FIELDS: &[&str] = &[
        "instance_id",
        "model_patch",
        "model_name_or_path",
        "repo",
        "patch",
    ];
    FIELDS.iter().any(|field| field.as_bytes() == key)
        || bstr::ByteSlice::contains_str(text, "\"instance_id\"")
}
