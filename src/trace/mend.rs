//! Makes a record parse that a strict JSON parser refuses, without losing what it says.
//!
//! Agents write strings that were cut between the halves of a surrogate pair (`"\ud83d"`), Python
//! writes `NaN`, damaged logs hold raw control characters, and a hostile record may be nested so deep
//! that a recursive parser must give up. One pass over the text rewrites exactly these places. Text
//! that is damaged beyond that is not mended; [`loose_text`] still gets its strings out.

use std::borrow::Cow;

/// Containers below this depth are kept as one string of their source text. Less than the recursion
/// limit of the parser.
pub(crate) const MAX_NESTING: usize = 100;

/// A mended record and what was done to it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Mended {
    /// JSON, if the text was balanced.
    pub(crate) text: String,
    /// A part was nested too deep and became a string.
    pub(crate) deep: bool,
    /// Strings or numbers were replaced.
    pub(crate) values: bool,
}

/// Rewrites what can be rewritten. The result need not parse.
pub(crate) fn mend(text: &str) -> Mended {
    let mut out = Mended {
        text: String::with_capacity(text.len() + 16),
        ..Mended::default()
    };
    let mut depth = 0_usize;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        match first {
            '"' => rest = copy_string(rest, &mut out),
            '{' | '[' if depth >= MAX_NESTING => {
                let (deep, tail) = rest.split_at_checked(balanced(rest)).unwrap_or((rest, ""));
                push_quoted(&mut out.text, deep);
                out.deep = true;
                rest = tail;
            }
            '{' | '[' | '}' | ']' | ',' | ':' => {
                depth = match first {
                    '{' | '[' => depth + 1,
                    '}' | ']' => depth.saturating_sub(1),
                    _ => depth,
                };
                out.text.push(first);
                rest = rest.get(1..).unwrap_or_default();
            }
            ' ' | '\t' | '\r' | '\n' => {
                out.text.push(first);
                rest = rest.get(1..).unwrap_or_default();
            }
            _ => rest = copy_scalar(rest, &mut out),
        }
    }
    out
}

/// Copies a number or word; one that JSON does not know becomes `null`.
fn copy_scalar<'t>(rest: &'t str, out: &mut Mended) -> &'t str {
    let end = rest
        .find(|c: char| "{}[],:\" \t\r\n".contains(c))
        .unwrap_or(rest.len());
    let (scalar, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
    let known = matches!(scalar, "true" | "false" | "null")
        || serde_json::from_str::<f64>(scalar).is_ok_and(f64::is_finite);
    out.text.push_str(if known { scalar } else { "null" });
    out.values |= !known;
    tail
}

/// Copies a string literal with its quotes; returns what is behind it.
fn copy_string<'t>(rest: &'t str, out: &mut Mended) -> &'t str {
    out.text.push('"');
    let mut rest = rest.get(1..).unwrap_or_default();
    loop {
        let plain = rest
            .find(|c: char| c == '"' || c == '\\' || c < ' ')
            .unwrap_or(rest.len());
        let (copied, tail) = rest.split_at_checked(plain).unwrap_or((rest, ""));
        out.text.push_str(copied);
        let Some(first) = tail.chars().next() else {
            return "";
        };
        rest = tail.get(1..).unwrap_or_default();
        match first {
            '"' => {
                out.text.push('"');
                return rest;
            }
            '\\' => rest = copy_escape(rest, out),
            control => {
                push_unicode_escape(&mut out.text, control);
                out.values = true;
            }
        }
    }
}

/// Copies an escape whose backslash was already taken; returns what is behind it.
fn copy_escape<'t>(rest: &'t str, out: &mut Mended) -> &'t str {
    let Some(kind) = rest.chars().next() else {
        out.text.push_str("\\\\");
        out.values = true;
        return "";
    };
    if kind == 'u' {
        if let Some(unit) = hex4(rest.get(1..5)) {
            let tail = rest.get(5..).unwrap_or_default();
            return copy_unit(unit, rest, tail, out);
        }
    } else if "\"\\/bfnrt".contains(kind) {
        out.text.push('\\');
        out.text.push(kind);
        return rest.get(1..).unwrap_or_default();
    }
    // No JSON escape: the backslash stands for itself.
    out.text.push_str("\\\\");
    out.values = true;
    rest
}

/// Copies `\uXXXX`, with its other half if it is one half of a pair.
fn copy_unit<'t>(unit: u16, rest: &'t str, tail: &'t str, out: &mut Mended) -> &'t str {
    let low = || {
        tail.strip_prefix("\\u")
            .and_then(|low| hex4(low.get(..4)))
            .filter(|low| (0xdc00..0xe000).contains(low))
    };
    match unit {
        0xd800..0xdc00 if low().is_some() => {
            out.text.push('\\');
            out.text.push_str(rest.get(..11).unwrap_or_default());
            tail.get(6..).unwrap_or_default()
        }
        0xd800..0xe000 => {
            out.text.push_str("\\ufffd");
            out.values = true;
            tail
        }
        _ => {
            out.text.push('\\');
            out.text.push_str(rest.get(..5).unwrap_or_default());
            tail
        }
    }
}

fn hex4(digits: Option<&str>) -> Option<u16> {
    let digits = digits.filter(|d| d.len() == 4 && d.bytes().all(|b| b.is_ascii_hexdigit()))?;
    u16::from_str_radix(digits, 16).ok()
}

fn push_unicode_escape(out: &mut String, c: char) {
    use std::fmt::Write as _;
    // Writing to a string cannot fail.
    let _ = write!(out, "\\u{:04x}", u32::from(c));
}

/// Writes a text as a JSON string literal.
fn push_quoted(out: &mut String, text: &str) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            c if c < ' ' => push_unicode_escape(out, c),
            c => out.push(c),
        }
    }
    out.push('"');
}

/// Length of the container that the text starts with; the whole text when it does not end.
fn balanced(text: &str) -> usize {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' | b'[' if !in_string => depth += 1,
            b'}' | b']' if !in_string => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return at + 1;
                }
            }
            _ => {}
        }
    }
    text.len()
}

/// The strings and scalars of something that was meant to be JSON, decoded, one a line, keys before
/// their values. Never fails; text that does not look like JSON is returned as it is.
pub(crate) fn loose_text(text: &str) -> Cow<'_, str> {
    let trimmed = text.trim_start();
    if !trimmed.starts_with(['{', '[', '"']) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = trimmed;
    while let Some(first) = rest.chars().next() {
        if first == '"' {
            let mut literal = Mended::default();
            rest = copy_string(rest, &mut literal);
            if !ends_quoted(&literal.text) {
                literal.text.push('"');
            }
            let decoded: Option<String> = serde_json::from_str(&literal.text).ok();
            push_piece(&mut out, decoded.as_deref().unwrap_or(&literal.text));
            if let Some(tail) = rest.trim_start().strip_prefix(':') {
                out.push(':');
                rest = tail;
            }
        } else if "{}[],:".contains(first) || first.is_whitespace() {
            rest = rest.get(first.len_utf8()..).unwrap_or_default();
        } else {
            let end = rest
                .find(|c: char| "{}[],\"".contains(c) || c == '\n')
                .unwrap_or(rest.len());
            let (word, tail) = rest.split_at_checked(end).unwrap_or((rest, ""));
            push_piece(&mut out, word.trim_end());
            rest = tail;
        }
    }
    Cow::Owned(out)
}

/// True when a literal copied by [`copy_string`] has its closing quote.
fn ends_quoted(literal: &str) -> bool {
    let body = literal.strip_prefix('"').and_then(|l| l.strip_suffix('"'));
    body.is_some_and(|body| {
        let backslashes = body.bytes().rev().take_while(|b| *b == b'\\').count();
        backslashes % 2 == 0
    })
}

fn push_piece(out: &mut String, piece: &str) {
    if out.ends_with(':') {
        out.push(' ');
    } else if !out.is_empty() {
        out.push('\n');
    }
    out.push_str(piece);
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn mends_what_a_strict_parser_refuses() {
        for (text, want) in [
            (r#"{"a":"\ud83d"}"#, "{\"a\":\"\u{fffd}\"}"),
            (r#"{"a":"\ud83d\ude00 \udc00"}"#, "{\"a\":\"😀 \u{fffd}\"}"),
            (r#"{"a":"\ud83dA"}"#, "{\"a\":\"\u{fffd}A\"}"),
            ("{\"a\":\"x\u{1b}[1m\ty\"}", "{\"a\":\"x\\u001b[1m\\ty\"}"),
            (
                r#"{"a":NaN,"b":-Infinity,"c":1e999,"d":12}"#,
                r#"{"a":null,"b":null,"c":null,"d":12}"#,
            ),
            (r#"{"a":"c:\x \u12"}"#, r#"{"a":"c:\\x \\u12"}"#),
        ] {
            let mended = mend(text);
            assert!(mended.values && !mended.deep, "{text}");
            let got: serde_json::Value = serde_json::from_str(&mended.text).unwrap();
            let want: serde_json::Value = serde_json::from_str(want).unwrap();
            assert_eq!(got, want, "{text}");
        }
    }

    #[test]
    fn deep_parts_become_text() {
        let inner = r#"{"secret":"git \"show\" v2"}"#;
        let text = format!(
            "{{\"a\":{}{inner}{},\"b\":1}}",
            "[".repeat(5_000),
            "]".repeat(5_000)
        );
        let mended = mend(&text);
        assert!(mended.deep && !mended.values);
        let value = crate::trace::json::parse(&mended.text).unwrap();
        assert_eq!(value.int("b"), Some(1));
        assert!(mended.text.contains("secret"));
    }

    #[test]
    fn white_space_that_json_does_not_know_is_no_end() {
        // A form feed once made the loop stand still.
        assert_eq!(mend("[\u{c}]").text, "[null]");
        assert_eq!(mend("\u{c}\u{b}\u{a0}").text, "null");
    }

    #[test]
    fn valid_json_stays_as_it_is() {
        let text = r#"{"a":["\u0041\n\/",-1.5e-3,true,null,{"é":"😀"}]}"#;
        assert_eq!(
            mend(text),
            Mended {
                text: text.to_owned(),
                deep: false,
                values: false
            }
        );
    }

    #[test]
    fn strings_of_a_cut_record() {
        for (text, want) in [
            (
                r#"{"type":"assistant","n":12,"c":[{"text":"line\none \"q\""},{"command":"git sh"#,
                "type: assistant\nn: 12\nc:\ntext: line\none \"q\"\ncommand: git sh",
            ),
            (r#"{"a":"b\"#, "a: b\\"),
            (r#"{"a":"b\\"#, "a: b\\"),
            ("plain {text}", "plain {text}"),
            ("{unquoted: yes}", "unquoted: yes"),
        ] {
            assert_eq!(
                loose_text(text).replace(":\ntext", ": text"),
                want.replace(":\ntext", ": text"),
                "{text}"
            );
        }
    }

    proptest! {
        #[test]
        fn never_panics_and_keeps_valid_json(text in "[\\x00-\\x7f\\\\\"{}\\[\\],:ud89é😀]{0,80}") {
            let mended = mend(&text);
            let _ = loose_text(&text);
            if let Ok(value) = serde_json::from_str::<serde_json::Value>(&text) {
                let again: serde_json::Value = serde_json::from_str(&mended.text).unwrap();
                prop_assert_eq!(value, again);
            }
        }
    }
}
