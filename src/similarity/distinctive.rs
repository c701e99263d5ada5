//! Which GT lines carry information.
//!
//! Brackets, `return nil` and licence headers stand in every patch; a line of the starter or of the
//! prompt was there to be read. What is left is *distinctive*, and only that is compared. The rule
//! is binary on purpose: weighting lines by rarity gives the same scores and cannot be explained.

use std::sync::LazyLock;

use foldhash::HashSet;
use memchr::memmem;
use serde::Deserialize;

use super::normalise::squeeze;

/// Shortest distinctive line, in characters of comparison text (a CJK character counts as one).
pub const MIN_CHARS: usize = 8;

/// Shortest line that counts for exposure, in characters of comparison text.
pub const LONG_CHARS: usize = 16;

/// True for a line that says nothing, by itself: too short, no letter, on the stop list, or part of
/// a licence text. `text` is comparison text.
pub fn is_trivial(text: &str) -> bool {
    if !has_chars(text, MIN_CHARS) || !text.chars().any(char::is_alphabetic) {
        return true;
    }
    let listed = || TRIVIAL.lines.contains(text.to_lowercase().as_str());
    text.len() <= TRIVIAL.longest && listed()
        || TRIVIAL
            .licence
            .as_ref()
            .is_some_and(|pieces| pieces.is_match(text))
}

/// True for a line long enough to count for exposure.
pub fn is_long(text: &str) -> bool {
    has_chars(text, LONG_CHARS)
}

/// At least so many characters.
fn has_chars(text: &str, count: usize) -> bool {
    // A character has four bytes at most.
    text.len() >= count && (text.len() >= count * 4 || text.chars().nth(count - 1).is_some())
}

/// The text of a prompt, ready for look-ups.
pub struct PromptText {
    squeezed: String,
    /// Its lines: a large prompt is one that repeats much of the GT, line by line.
    lines: HashSet<String>,
    /// Every window of [`PROBE_BYTES`] bytes, so that most lines are turned away without a search.
    windows: HashSet<[u8; PROBE_BYTES]>,
}

/// No distinctive line is shorter than [`MIN_CHARS`] characters, hence bytes.
const PROBE_BYTES: usize = MIN_CHARS;

impl PromptText {
    /// Folds a prompt.
    pub fn new(prompt: &str) -> Self {
        let squeezed = squeeze(prompt);
        let windows = squeezed
            .as_bytes()
            .windows(PROBE_BYTES)
            .filter_map(|window| window.try_into().ok())
            .collect();
        Self {
            lines: prompt.lines().map(squeeze).collect(),
            squeezed,
            windows,
        }
    }

    /// True if the line (comparison text) stands in the prompt, be it within a longer line.
    pub fn contains(&self, text: &str) -> bool {
        let bytes = text.as_bytes();
        // Whatever the text is made of must stand there too: some pieces first, then all of them.
        let known = |piece: &[u8; PROBE_BYTES]| self.windows.contains(piece);
        let (pieces, _) = bytes.as_chunks::<PROBE_BYTES>();
        if !pieces.iter().all(known) {
            return false;
        }
        self.lines.contains(text)
            || bytes.array_windows::<PROBE_BYTES>().all(known)
                && memmem::find(self.squeezed.as_bytes(), bytes).is_some()
    }
}

/// `data/trivial.toml`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TrivialFile {
    #[serde(rename = "schema")]
    _schema: u32,
    lines: HashSet<String>,
    licence: Vec<String>,
}

#[derive(Default)]
struct Trivial {
    lines: HashSet<String>,
    /// Bytes of the longest of them.
    longest: usize,
    licence: Option<aho_corasick::AhoCorasick>,
}

/// The built-in lists. A test makes sure that they parse, so the empty default is never met.
static TRIVIAL: LazyLock<Trivial> = LazyLock::new(|| {
    toml::from_str::<TrivialFile>(include_str!("data/trivial.toml"))
        .map(|file| Trivial {
            longest: file.lines.iter().map(String::len).max().unwrap_or(0),
            lines: file.lines,
            licence: aho_corasick::AhoCorasick::builder()
                .ascii_case_insensitive(true)
                .kind(Some(aho_corasick::AhoCorasickKind::DFA))
                .build(file.licence)
                .ok(),
        })
        .unwrap_or_default()
});

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_lists_are_in_comparison_text() {
        let file: TrivialFile = toml::from_str(include_str!("data/trivial.toml")).unwrap();
        assert!(TRIVIAL.licence.is_some());
        for line in file.lines.iter().chain(&file.licence) {
            assert_eq!(*line, squeeze(line).to_lowercase(), "{line}");
        }
    }

    #[test]
    fn trivial_lines() {
        for (line, want) in [
            ("return nil", true),
            ("} else {", true),
            ("if err != nil {", true),
            ("));;}}]]>>", true),
            ("0x00, 0x01, 0x02,", false), // holds letters
            ("0, 1, 2, 3, 4, 5", true),
            ("Return Nil", true),
            ("# Licensed under the Apache License, Version 2.0", true),
            ("total += price", false),
            ("计算总价并返回结果", false),
            ("计算总价并返回", true), // seven characters
            ("from x import y", false),
        ] {
            assert_eq!(is_trivial(&squeeze(line)), want, "{line}");
        }
        assert!(is_long("abcdefghijklmnop") && !is_long("abcdefghijklmno"));
    }

    #[test]
    fn prompt_lines_are_found_inside_longer_lines() {
        let prompt = PromptText::new("Add `func Sign(pod *v1.Pod) string` to\n  the plugin.");
        assert!(prompt.contains(&squeeze("func Sign(pod *v1.Pod) string")));
        assert!(prompt.contains(&squeeze("to the plugin.")));
        assert!(!prompt.contains(&squeeze("func Sign(pod *v1.Pod) int")));
        assert!(!PromptText::new("").contains("abcdefgh"));
    }

    proptest! {
        #[test]
        fn the_window_filter_loses_nothing(
            before in "[ab中]{0,20}",
            part in "[ab中]{8,20}",
            after in "[ab中]{0,20}",
        ) {
            let text = format!("{before}{part}{after}");
            prop_assert!(PromptText::new(&text).contains(&part));
        }
    }
}
