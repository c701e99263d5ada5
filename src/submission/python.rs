//! White space as Python sees it.

use bstr::ByteSlice;

/// What `str.strip` removes and `\s` matches: Unicode white space and the separators 0x1c to 0x1f.
pub(super) fn is_space(c: char) -> bool {
    c.is_whitespace() || matches!(c, '\u{1c}'..='\u{1f}')
}

/// `text.strip().startswith('#')`.
pub(super) fn is_hash_comment(text: &[u8]) -> bool {
    match text.first() {
        Some(b'#') => true,
        // Most lines begin with a letter: no need to decode them.
        Some(b'a'..=b'z' | b'A'..=b'Z') | None => false,
        _ => text.chars().find(|c| !is_space(*c)) == Some('#'),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_behind_any_space() {
        for (text, want) in [
            ("# x\n", true),
            ("  \t# x", true),
            ("\u{a0}\u{2003}#", true),
            ("\u{1c}\u{1f}#", true),
            ("\u{200b}#", false),
            ("x # y", false),
            ("", false),
            (" \n", false),
        ] {
            assert_eq!(is_hash_comment(text.as_bytes()), want, "{text:?}");
        }
        assert!(!is_hash_comment(b"\xff#"));
    }
}
