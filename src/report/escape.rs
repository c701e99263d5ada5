//! Text from a run, made harmless for a terminal.
//!
//! Paths, commands and messages are written by the audited party. Printed as they are, they could
//! move the cursor, recolour the screen, reorder the line or forge a verdict.

use std::borrow::Cow;
use std::fmt::Write;

use crate::similarity::normalise::is_format_character;

/// `text` with every control and invisible character as a visible escape (`\n`, `\u{1b}`).
pub fn for_terminal(text: &str) -> Cow<'_, str> {
    if !text.chars().any(needs_escape) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        match c {
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if needs_escape(c) => {
                // Writing to a String cannot fail.
                let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// A control character, or one that shows nothing or changes what others show.
pub(crate) fn needs_escape(c: char) -> bool {
    c.is_control() || is_format_character(c) || matches!(c, '\u{2028}' | '\u{2029}')
}

/// At most `limit` characters of `text`, with `…` where something was cut off.
pub fn cut(text: &str, limit: usize) -> Cow<'_, str> {
    match text.char_indices().nth(limit) {
        None => Cow::Borrowed(text),
        Some((at, _)) => {
            let head = text.get(..at).unwrap_or_default();
            Cow::Owned(format!("{head}…"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_drives_a_terminal_survives() {
        let cases = [
            ("plain 上游", "plain 上游"),
            ("a\u{1b}[2Jb", "a\\u{1b}[2Jb"),
            ("a\nb\tc\r", "a\\nb\\tc\\r"),
            ("a\u{202e}b", "a\\u{202e}b"),
            ("a\u{200b}b", "a\\u{200b}b"),
            ("a\u{9b}31mb", "a\\u{9b}31mb"),
            ("\u{2028}", "\\u{2028}"),
        ];
        for (input, expected) in cases {
            assert_eq!(for_terminal(input), expected);
        }
    }

    #[test]
    fn cut_counts_characters() {
        assert_eq!(cut("上游修复", 4), "上游修复");
        assert_eq!(cut("上游修复", 2), "上游…");
        assert_eq!(cut("", 0), "");
    }
}
