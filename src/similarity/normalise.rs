//! Text folded for comparison: what an honest copyist changes without noticing does not count.
//!
//! Two texts that look alike must compare alike. [`fold`] undoes what a reader cannot see: width and
//! ligature variants (NFKC), invisible format characters, letters of other scripts that look like
//! Latin ones. [`squeeze`] also removes all white space, so that indentation, line breaks and diff
//! prefixes make no difference. Distinctive lines and the texts they are searched in go through the
//! same function; a line folded one way and a text folded another would never meet.

use std::borrow::Cow;

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

use super::confusables;

/// Removes all white space and invisible format characters, applies NFKC and folds look-alikes.
///
/// Distinctive lines and the texts they are searched in go through this same function, so that
/// indentation, line breaks, diff prefixes and full-width letters make no difference.
pub fn squeeze(text: &str) -> String {
    if text.is_ascii() {
        let mut out = Vec::new();
        squeeze_ascii(&mut out, text.as_bytes());
        // ASCII is UTF-8, so nothing is ever lost here.
        return String::from_utf8(out).unwrap_or_default();
    }
    folded(text).filter(|c| !c.is_whitespace()).collect()
}

/// Appends what [`squeeze`] leaves of ASCII.
///
/// Every byte is written, and the next overwrites it unless it is kept: words are short, and a branch at each
/// of their ends would be mispredicted.
pub fn squeeze_ascii(out: &mut Vec<u8>, text: &[u8]) {
    const STEP: usize = 8;
    let mut kept = out.len();
    // The last step may write beyond what is kept of it.
    out.resize(kept + text.len() + STEP, 0);
    let (steps, rest) = text.as_chunks::<STEP>();
    let mut step = |bytes: &[u8]| {
        let Some(slots) = out
            .get_mut(kept..)
            .and_then(|slots| slots.first_chunk_mut::<STEP>())
        else {
            return;
        };
        let mut next = 0;
        for byte in bytes {
            // Always below: the mask tells the compiler.
            if let Some(slot) = slots.get_mut(next & (STEP - 1)) {
                *slot = *byte;
            }
            next += usize::from(byte.is_ascii_graphic());
        }
        kept += next;
    };
    for bytes in steps {
        step(bytes);
    }
    step(rest);
    out.truncate(kept);
}

/// Letters and digits, lower case: what is left of a name, whichever way it is written.
pub fn bare(text: &str) -> String {
    let kept = text.chars().filter(|c| c.is_alphanumeric());
    kept.flat_map(char::to_lowercase).collect()
}

/// [`squeeze`] of a text that is squeezed already, most of the time.
pub fn squeezed(text: &str) -> Cow<'_, str> {
    if text.bytes().all(|byte| byte.is_ascii_graphic()) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(squeeze(text))
    }
}

/// Applies NFKC, removes invisible format characters and folds look-alikes; white space stays, as
/// blanks. What the lexer reads.
pub fn fold(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        if !text.bytes().any(|b| b.is_ascii_control()) {
            return Cow::Borrowed(text);
        }
        // Most lines of most languages are indented by tabs.
        if text.bytes().all(|b| b == b'\t' || !b.is_ascii_control()) {
            return Cow::Owned(text.replace('\t', " "));
        }
    }
    Cow::Owned(
        folded(text)
            .map(|c| if c.is_whitespace() { ' ' } else { c })
            .collect(),
    )
}

/// The characters of `text` after NFKC, without format characters, look-alikes folded.
///
/// Format characters go first as well as last: one that stands between a letter and its accent
/// keeps NFKC from joining the two.
fn folded(text: &str) -> Box<dyn Iterator<Item = char> + '_> {
    let visible = |c: &char| c.is_whitespace() || !is_format_character(*c);
    if is_nfkc_quick(text.chars()) == IsNormalized::Yes && text.chars().all(|c| visible(&c)) {
        return Box::new(text.chars().map(confusables::latin));
    }
    let without = text.chars().filter(visible);
    Box::new(without.nfkc().filter(visible).map(confusables::latin))
}

/// True for characters that show nothing: zero-width, joiners, direction marks, soft hyphen,
/// variation selectors, tags and other controls.
pub fn is_format_character(c: char) -> bool {
    matches!(c,
        '\u{0}'..='\u{1f}' | '\u{7f}'..='\u{9f}' | '\u{ad}' | '\u{34f}' | '\u{61c}'
        | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}' | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}'
        | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn squeezes_what_nobody_sees() {
        for (text, want) in [
            ("\tif x {  ", "ifx{"),
            ("a\u{200b}b\u{feff}c", "abc"),
            ("ｆｏｏ（１）；", "foo(1);"),
            ("ﬁle", "file"),
            ("usеr_nаme", "user_name"), // Cyrillic e and a
            ("е\u{200d}\u{301}", "e\u{301}"),
            ("e\u{200d}\u{301}", "é"),
            ("中文 字符", "中文字符"),
            ("a\u{a0}b\u{2028}c\r\n", "abc"),
            ("nul\0bell\u{7}", "nulbell"),
            ("", ""),
        ] {
            assert_eq!(squeeze(text), want, "{text:?}");
        }
    }

    #[test]
    fn folding_keeps_blanks() {
        assert_eq!(fold("a\tb  c"), "a b  c");
        assert_eq!(fold("ｆｏｏ\u{3000}ｂａｒ"), "foo bar");
        assert!(matches!(fold("plain text"), Cow::Borrowed(_)));
    }

    proptest! {
        #[test]
        fn steps_keep_what_single_bytes_keep(text in "[ -~\t\r\n\u{0}\u{1b}\u{7f}]{0,60}|[!~ ]{0,40}") {
            let plain: String = text.chars().filter(char::is_ascii_graphic).collect();
            let mut out = b"before".to_vec();
            squeeze_ascii(&mut out, text.as_bytes());
            prop_assert_eq!(out, format!("before{plain}").into_bytes());
        }

        #[test]
        fn the_short_ways_of_ascii_lead_to_the_same(text in "[\\x00-\\x7f]{0,40}") {
            let long: String = folded(&text).map(|c| if c.is_whitespace() { ' ' } else { c }).collect();
            prop_assert_eq!(fold(&text), long.as_str());
            prop_assert_eq!(squeeze(&text), long.replace(' ', ""));
            prop_assert_eq!(squeezed(&text), squeeze(&text));
            let tabs = text.replace(|c: char| c.is_ascii_control(), "\t");
            prop_assert_eq!(fold(&tabs), tabs.replace('\t', " "));
        }

        #[test]
        fn indentation_and_invisible_characters_change_nothing(text in "\\PC{0,40}", at in 0usize..40) {
            let mut chars: Vec<char> = text.chars().collect();
            chars.insert(at.min(chars.len()), '\u{200b}');
            let marked: String = chars.into_iter().collect();
            prop_assert_eq!(squeeze(&marked), squeeze(&text));
            prop_assert_eq!(squeeze(&format!("\t  {text}\r")), squeeze(&text));
        }

        #[test]
        fn folding_then_squeezing_is_squeezing(text in "\\PC{0,40}") {
            prop_assert_eq!(squeeze(&fold(&text)), squeeze(&text));
        }

        #[test]
        fn no_white_space_and_no_format_character_is_left(text in any::<String>()) {
            prop_assert!(squeeze(&text).chars().all(|c| !c.is_whitespace() && !is_format_character(c)));
        }
    }
}
