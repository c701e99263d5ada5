//! Texts: undoing disguises, cutting sentences, making excerpts.

pub mod clause;
pub mod excerpt;
pub mod fold;
pub mod quote;
pub mod segment;

use std::borrow::Cow;

use regex_automata::meta;
use regex_automata::util::syntax;

/// A regular expression of this program (not of a rule): ASCII, on bytes, so that negated classes
/// may cross characters that are not ASCII. `None` only if the source is wrong, which the tests of
/// its user would show.
pub(crate) fn ascii(source: &str) -> Option<regex::bytes::Regex> {
    regex::bytes::RegexBuilder::new(source)
        .unicode(false)
        .build()
        .ok()
}

/// The same for texts of which another look has said that a match is likely: without the search for literals of its
/// own, whose preparation is most of what such an expression costs.
pub(crate) fn expected(source: &str) -> Option<meta::Regex> {
    meta::Builder::new()
        .configure(meta::Config::new().auto_prefilter(false))
        .syntax(syntax::Config::new().unicode(false).utf8(false))
        .build(source)
        .ok()
}

/// The words of a text.
pub fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split_whitespace()
}

/// The largest character boundary at or before a byte offset.
pub fn floor(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// The smallest character boundary at or after a byte offset.
pub fn ceil(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at += 1;
    }
    at
}

/// The part of a text between two byte offsets, widened to whole characters.
pub fn slice(text: &str, range: std::ops::Range<usize>) -> &str {
    let start = floor(text, range.start);
    let end = ceil(text, range.end.max(range.start));
    text.get(start..end).unwrap_or_default()
}

/// The text with capital letters other than ASCII lowered; ASCII is left to the automaton of
/// anchors, which ignores its case.
pub fn lowered(text: &str) -> Cow<'_, str> {
    let capital = |c: char| !c.is_ascii() && c.is_uppercase();
    if text.is_ascii() || !text.chars().any(capital) {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(text.to_lowercase())
    }
}

/// White space folded to single blanks, letters lowered: for comparing quotations.
pub fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in words(text) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.extend(word.chars().flat_map(char::to_lowercase));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slices_never_split_characters() {
        let text = "a上b";
        for start in 0..6 {
            for end in 0..6 {
                slice(text, start..end);
            }
        }
        assert_eq!(slice(text, 2..3), "上");
    }

    #[test]
    fn folding() {
        assert_eq!(folded("  A\n\tЖ b "), "a ж b");
        assert_eq!(lowered("Взял A"), "взял a");
        assert_eq!(lowered("上游 A"), "上游 A");
    }
}
