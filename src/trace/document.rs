//! Logs that are one JSON object: `{"info": …, "messages": [{…}, {…}, …]}`.
//!
//! Such a document may be as big as the longest run, so it is never held whole: its *section*, the
//! array that holds the run, is given out item by item, as if each item were a record, and so is
//! every other member. Everything an adapter is shown is a document again, a small one: the head with
//! an empty section, then `{"messages": [item]}` for each item, `{"key": value}` for each other member
//! and `{}` at the end. A document on one short line comes whole. An adapter that reads what is there
//! and asks [`Part`] where the document starts and ends is right for both.

use std::borrow::Cow;

use super::json::Json;
use super::scan::{Scan, Scanner};

/// Members that hold the run when they are arrays of objects.
const SECTIONS: [&str; 7] = [
    "messages",
    "trajectory",
    "history",
    "steps",
    "loglines",
    "samples",
    "events",
];
/// The mark of an object that is one record: a sample of Inspect, whose texts refer to one another.
const WHOLE: &str = "epoch";
/// True for the name of a member that is a section when it is an array.
pub(crate) fn is_section(key: &[u8]) -> bool {
    SECTIONS.iter().any(|name| name.as_bytes() == key)
}

/// True for the name of the member that marks an object as one record.
pub(crate) fn is_mark(key: &[u8]) -> bool {
    key == WHOLE.as_bytes()
}

/// The section must begin within that many bytes; otherwise the object is one record.
pub(crate) const MAX_HEAD: usize = 1 << 20;

/// Which part of a document a record is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) enum Part {
    /// All of it; or the record is no document.
    #[default]
    Whole,
    /// From its start up to the start of its section.
    Head,
    /// One item of the section of that name.
    Item(&'static str),
    /// Another member.
    Member,
    /// Its end.
    End,
    /// What stands intact of a record that breaks off, which is all of one that is no document.
    Cut,
}

impl Part {
    /// The document starts here.
    pub(crate) fn starts(self) -> bool {
        matches!(self, Self::Whole | Self::Head | Self::Cut)
    }

    /// The document ends here.
    pub(crate) fn ends(self) -> bool {
        matches!(self, Self::Whole | Self::End)
    }
}

/// What stands at the start of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ahead {
    /// A section, whose first item stands behind that many bytes.
    Section(&'static str, usize),
    /// No section.
    Nothing,
    /// Not enough was read to tell; look again from that member on.
    More(usize),
}

/// Looks for the first section of the object that `bytes` begin with. `from` is 0 at first, then what
/// [`Ahead::More`] said.
pub(crate) fn section_ahead(bytes: &[u8], from: usize) -> Ahead {
    let mut at = from.max(1);
    while at <= MAX_HEAD {
        let Some(key_at) = skip(bytes, at, b", \t\r\n") else {
            return Ahead::More(at);
        };
        let Some(member) = Member::at(bytes, key_at) else {
            let cut_off = bytes.get(key_at) == Some(&b'"') && key_at + MAX_KEY > bytes.len();
            return if cut_off {
                Ahead::More(at)
            } else {
                Ahead::Nothing
            };
        };
        if is_mark(member.key) {
            return Ahead::Nothing;
        }
        let unfinished = match member.section(bytes) {
            Some(Ok((name, first))) => return Ahead::Section(name, first),
            Some(Err(())) => true,
            None => match value_end(bytes, member.value) {
                Scan::Done(end) => {
                    at = end;
                    continue;
                }
                Scan::More => true,
                Scan::Broken(_) => false,
            },
        };
        return if unfinished && bytes.len() <= MAX_HEAD {
            Ahead::More(at)
        } else {
            Ahead::Nothing
        };
    }
    Ahead::Nothing
}

/// Longest key that is looked at, in bytes, with the white space behind it.
const MAX_KEY: usize = 1024;

/// What stands behind the first section of a document. It tells the format of documents whose first key is the
/// section, and whose they are.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Behind {
    /// Its members that are no arrays, as they stand, each behind a comma. What an array holds may have happened,
    /// and belongs where it stands.
    pub(crate) members: String,
    /// Its arrays in the same way; of a section its first item at most.
    arrays: String,
    /// A member was left out: it is too long.
    pub(crate) cut: bool,
    /// One of the members is the mark of an object that is one record.
    pub(crate) is_record: bool,
}

impl Behind {
    /// Both, for telling the format.
    pub(crate) fn all(&self) -> String {
        format!("{}{}", self.members, self.arrays)
    }

    /// Adds a member that is no section: its key, and the text from the key to the end of the value.
    pub(crate) fn member(&mut self, key: &[u8], text: &[u8]) {
        self.is_record |= is_mark(key);
        let is_array = Member::at(text, 0).is_some_and(|member| member.is_array(text));
        let to = match is_array {
            true => &mut self.arrays,
            false => &mut self.members,
        };
        match std::str::from_utf8(text) {
            Ok(text) if to.len() + text.len() <= MAX_HEAD => {
                to.push(',');
                to.push_str(text);
            }
            _ => self.cut |= !is_array,
        }
    }

    /// Adds a section.
    pub(crate) fn section(&mut self, name: &str, first: &[u8]) {
        let first = std::str::from_utf8(first).unwrap_or_default();
        let fits = self.arrays.len() + first.len() <= MAX_HEAD;
        let first = if fits { first } else { "" };
        if self.arrays.len() <= 2 * MAX_HEAD {
            self.arrays.push_str(&format!(",\"{name}\":[{first}]"));
        }
    }
}

/// What stands behind the section whose first item begins at `first`, in the document that `bytes` begin with; `None`
/// unless all of that is in the first [`MAX_HEAD`] bytes.
pub(crate) fn members_behind(bytes: &[u8], first: usize) -> Option<Behind> {
    let bytes = bytes.get(..bytes.len().min(MAX_HEAD)).unwrap_or_default();
    let mut behind = Behind::default();
    // The section from its bracket on.
    let bracket = memchr::memrchr(b'[', bytes.get(..first)?)?;
    let Scan::Done(mut at) = value_end(bytes, bracket) else {
        return None;
    };
    loop {
        let key_at = skip(bytes, at, b", \t\r\n")?;
        if bytes.get(key_at) == Some(&b'}') {
            return Some(behind);
        }
        let member = Member::at(bytes, key_at)?;
        let Scan::Done(end) = value_end(bytes, member.value) else {
            return None;
        };
        match member.section(bytes) {
            Some(Ok((name, item))) => {
                let item_end = match value_end(bytes, item) {
                    Scan::Done(end) => end,
                    _ => item,
                };
                behind.section(name, bytes.get(item..item_end).unwrap_or_default());
            }
            _ => behind.member(member.key, bytes.get(key_at..end).unwrap_or_default()),
        }
        at = end;
    }
}

/// The first item of a section, which `bytes` begin with, if all of it is there.
pub(crate) fn first_item(bytes: &[u8]) -> &[u8] {
    match value_end(bytes, 0) {
        Scan::Done(end) => bytes.get(..end).unwrap_or_default(),
        _ => &[],
    }
}

/// A member of an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Member<'b> {
    /// Its name, escapes and all.
    pub(crate) key: &'b [u8],
    /// Where its value begins.
    pub(crate) value: usize,
}

impl<'b> Member<'b> {
    /// The member whose key begins at `at`; `None` when there is none, or not enough was read.
    pub(crate) fn at(bytes: &'b [u8], at: usize) -> Option<Self> {
        let near = bytes.get(at..bytes.len().min(at + MAX_KEY))?;
        let inside = near.strip_prefix(b"\"")?;
        let length = memchr::memchr2(b'"', b'\\', inside)?;
        let key = inside.get(..length)?;
        let colon = skip(near, length + 1, b"\" \t\r\n")?;
        let value = skip(near, colon, b": \t\r\n")?;
        (near.get(colon) == Some(&b':')).then_some(Self {
            key,
            value: at + value,
        })
    }

    /// Its value is an array.
    pub(crate) fn is_array(&self, bytes: &[u8]) -> bool {
        bytes.get(self.value) == Some(&b'[')
    }

    /// For a section, its name and where its first item begins; an error when not enough was read.
    pub(crate) fn section(&self, bytes: &[u8]) -> Option<Result<(&'static str, usize), ()>> {
        let name = SECTIONS
            .iter()
            .find(|name| name.as_bytes() == self.key)
            .copied()?;
        if bytes.get(self.value) != Some(&b'[') {
            return None;
        }
        let Some(first) = skip(bytes, self.value + 1, b" \t\r\n") else {
            return Some(Err(()));
        };
        matches!(bytes.get(first), Some(b'{' | b'[')).then_some(Ok((name, first)))
    }
}

/// Where the value that begins at `at` ends.
pub(crate) fn value_end(bytes: &[u8], at: usize) -> Scan {
    let rest = bytes.get(at..).unwrap_or_default();
    match rest.first() {
        Some(b'{' | b'[') => match Scanner::new().feed(rest) {
            Scan::Done(used) => Scan::Done(at + used),
            Scan::Broken(used) => Scan::Broken(at + used),
            Scan::More => Scan::More,
        },
        Some(b'"') => string_end(bytes, at),
        Some(_) => match rest.iter().position(|byte| b",}] \t\r\n".contains(byte)) {
            Some(0) => Scan::Broken(at),
            Some(length) => Scan::Done(at + length),
            None => Scan::More,
        },
        None => Scan::More,
    }
}

fn string_end(bytes: &[u8], at: usize) -> Scan {
    let mut next = at + 1;
    loop {
        let rest = bytes.get(next..).unwrap_or_default();
        let Some(found) = memchr::memchr3(b'"', b'\\', b'\n', rest) else {
            return Scan::More;
        };
        match rest.get(found) {
            Some(b'"') => return Scan::Done(next + found + 1),
            Some(b'\\') => next += found + 2,
            _ => return Scan::Broken(next + found),
        }
    }
}

/// The first byte at or behind `from` that is none of those; `None` when there is none.
pub(crate) fn skip(bytes: &[u8], from: usize, over: &[u8]) -> Option<usize> {
    let rest = bytes.get(from..)?;
    let length = rest.iter().position(|byte| !over.contains(byte))?;
    Some(from + length)
}

/// The text of a part as the text of a document.
pub(crate) fn closed(part: Part, text: &str) -> Cow<'_, str> {
    match part {
        // Closed by [`Records`](super::records::Records), which knows what stands behind it.
        Part::Head => Cow::Borrowed(text),
        Part::Member => Cow::Owned(format!("{{{text}}}")),
        Part::End => Cow::Borrowed("{}"),
        Part::Whole | Part::Item(_) | Part::Cut => Cow::Borrowed(text),
    }
}

/// An item of a section as a document.
pub(crate) fn with_item<'a>(section: &'static str, item: Json<'a>) -> Json<'a> {
    Json::Obj(vec![(Cow::Borrowed(section), Json::Arr(vec![item]))])
}

/// The document with that item as the only one of a section.
pub(crate) fn with_section<'a>(
    document: Json<'a>,
    section: &'static str,
    item: Json<'a>,
) -> Json<'a> {
    match document {
        Json::Obj(mut members) => {
            // Of several members of one name the last one counts.
            members.push((Cow::Borrowed(section), Json::Arr(vec![item])));
            Json::Obj(members)
        }
        other => other,
    }
}

/// A document without its sections.
pub(crate) fn without_sections<'a>(document: &Json<'a>) -> Json<'a> {
    let others = document.members().iter();
    let others = others.filter(|(name, value)| {
        !(SECTIONS.contains(&name.as_ref()) && matches!(value, Json::Arr(_)))
    });
    Json::Obj(others.cloned().collect())
}

/// The items of the sections of a whole document.
pub(crate) fn items<'r, 'a>(document: &'r Json<'a>) -> impl Iterator<Item = &'r Json<'a>> {
    SECTIONS
        .iter()
        .flat_map(|name| document.list(name))
        .filter(|item| matches!(item, Json::Obj(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sections() {
        for (text, want) in [
            (r#"{"messages":[{"a":1}]}"#, Ahead::Section("messages", 13)),
            (
                "{\n \"info\": {\"messages\": [{}]},\n \"n\": 1.5, \"steps\" : [\n  {",
                Ahead::Section("steps", 56),
            ),
            (
                r#"{"a":"\"messages\":[{","history":[[{"#,
                Ahead::Section("history", 34),
            ),
            (r#"{"messages":[],"x":1}"#, Ahead::Nothing),
            (r#"{"messages":["a"]}"#, Ahead::Nothing),
            (r#"{"messages":{"a":[{}]}}"#, Ahead::Nothing),
            (r#"{"message":{"content":[{}]}}"#, Ahead::Nothing),
            (r#"{"epoch":1,"messages":[{}]}"#, Ahead::Nothing),
            (r#"{"a":1}"#, Ahead::Nothing),
            (r#"{"a":1,"#, Ahead::More(6)),
            (r#"{"a":"x"#, Ahead::More(1)),
            (r#"{"mess"#, Ahead::More(1)),
            (r#"{"messages":["#, Ahead::More(1)),
            (r#"{{"messages":[{}]}"#, Ahead::Nothing),
            ("{\"a\":\"x\ny\",\"messages\":[{}]}", Ahead::Nothing),
            ("{", Ahead::More(1)),
        ] {
            assert_eq!(section_ahead(text.as_bytes(), 0), want, "{text}");
        }
        let far = format!(r#"{{"a":"{}","messages":[{{}}]}}"#, "x".repeat(MAX_HEAD));
        assert_eq!(section_ahead(far.as_bytes(), 0), Ahead::Nothing);
    }
}
