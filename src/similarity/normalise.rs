//! Text folded for comparison: what an honest copyist changes without noticing does not count.

use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfkc_quick};

/// Removes all white space and invisible format characters and applies NFKC.
///
/// Distinctive lines and the texts they are searched in go through this same function, so that
/// indentation, line breaks, diff prefixes and full-width letters make no difference.
pub fn squeeze(text: &str) -> String {
    let kept = |c: &char| !c.is_whitespace() && !is_format_character(*c);
    if text.is_ascii() || is_nfkc_quick(text.chars()) == IsNormalized::Yes {
        text.chars().filter(kept).collect()
    } else {
        text.nfkc().filter(kept).collect()
    }
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
