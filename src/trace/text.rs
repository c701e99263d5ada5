//! JSON as text that a pattern or a person can read.
//!
//! Patterns are written against decoded text: no quotes around words, no `\n` for a line feed. Tool
//! arguments become `key: value` lines. Tool results often hold JSON text whose strings hold the
//! source code that matters (an MCP server returning a file, an API returning a patch), so strings
//! inside JSON text are decoded too, up to three levels; the raw text always stays in front of them,
//! because a line of a JSON *file* must be found as it stands.

use super::json::{self, Json};

/// How often text inside text is decoded.
const MAX_LEVELS: u32 = 3;

/// `key: value` lines for the members of a value, in the order of the text, decoded.
pub(crate) fn readable(value: &Json<'_>) -> String {
    let mut out = String::new();
    write_value(value, &mut out);
    out
}

/// A text and, behind it, the strings that it holds as JSON and that read differently when decoded.
pub(crate) fn decoded(text: String) -> String {
    if !looks_like_json(&text) {
        return text;
    }
    let mut out = text.clone();
    push_inner(&text, MAX_LEVELS, &mut out);
    out
}

fn write_value(value: &Json<'_>, out: &mut String) {
    match value {
        Json::Obj(members) => {
            for (key, member) in members {
                start_line(out);
                out.push_str(key);
                out.push(':');
                match member {
                    Json::Obj(_) | Json::Arr(_) => {}
                    _ => out.push(' '),
                }
                write_value(member, out);
            }
        }
        Json::Arr(items) => {
            for item in items {
                start_line(out);
                write_value(item, out);
            }
        }
        Json::Str(text) => {
            out.push_str(text);
            push_inner(text, MAX_LEVELS, out);
        }
        Json::Null => out.push_str("null"),
        Json::Bool(flag) => out.push_str(if *flag { "true" } else { "false" }),
        Json::Int(number) => out.push_str(&number.to_string()),
        Json::Float(number) => out.push_str(&number.to_string()),
    }
}

fn start_line(out: &mut String) {
    if !out.is_empty() && !out.ends_with('\n') {
        out.push('\n');
    }
}

/// Appends the strings inside a JSON text that hold escapes, decoded.
fn push_inner(text: &str, levels: u32, out: &mut String) {
    if levels == 0 || !looks_like_json(text) {
        return;
    }
    let Ok(value) = json::parse(text.trim()) else {
        return;
    };
    push_escaped_strings(&value, levels, out);
}

/// Strings that were escaped are the owned ones: the others read the same in the raw text.
fn push_escaped_strings(value: &Json<'_>, levels: u32, out: &mut String) {
    match value {
        Json::Str(std::borrow::Cow::Owned(text)) => {
            start_line(out);
            out.push_str(text);
            push_inner(text, levels - 1, out);
        }
        Json::Arr(items) => {
            for item in items {
                push_escaped_strings(item, levels, out);
            }
        }
        Json::Obj(members) => {
            for (_, member) in members {
                push_escaped_strings(member, levels, out);
            }
        }
        _ => {}
    }
}

/// A cheap look before a parse: brackets or quotes around the whole.
fn looks_like_json(text: &str) -> bool {
    let text = text.trim();
    let ends = (text.bytes().next(), text.bytes().next_back());
    matches!(
        ends,
        (Some(b'{'), Some(b'}')) | (Some(b'['), Some(b']')) | (Some(b'"'), Some(b'"'))
    ) && text.contains('\\')
}

/// The longest prefix of at most that many bytes that ends between characters.
pub(crate) fn cut(text: &str, bytes: usize) -> &str {
    if text.len() <= bytes {
        return text;
    }
    let mut end = bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_as_lines() {
        let value = json::parse(
            r#"{"path":"a.rs","n":3,"deep":{"k":[1,{"x":"y"}],"e":{}},"list":["a","b"],"z":null}"#,
        )
        .unwrap();
        assert_eq!(
            readable(&value),
            "path: a.rs\nn: 3\ndeep:\nk:\n1\nx: y\ne:\nlist:\na\nb\nz: null"
        );
        assert_eq!(readable(&Json::Str("x".into())), "x");
    }

    #[test]
    fn strings_inside_strings_are_decoded_three_levels_deep() {
        let mut text = "fn a() {\n    b();\n}".to_owned();
        let mut levels = vec![text.clone()];
        for _ in 0..4 {
            text = serde_json::json!({ "t": text }).to_string();
            levels.push(text.clone());
        }
        for level in &levels[1..4] {
            let got = decoded(level.clone());
            assert!(got.starts_with(level), "the raw text stays");
            assert!(got.contains("fn a() {\n    b();\n}"), "{level}");
        }
        assert!(!decoded(text).contains("fn a() {\n"), "no further");
    }

    #[test]
    fn a_json_file_reads_as_it_stands() {
        let file = "{\n  \"name\": \"calc\",\n  \"version\": \"1.0\"\n}\n";
        for text in [file, "{not json \\n}", "plain", ""] {
            assert_eq!(decoded(text.to_owned()), text);
        }
    }

    #[test]
    fn cuts_between_characters() {
        assert_eq!(cut("aé", 2), "a");
        assert_eq!(cut("aé", 3), "aé");
        assert_eq!(cut("", 0), "");
        assert_eq!(cut("é", 1), "");
    }
}
