//! Grams of tokens: T12 and S23.
//!
//! Breaking and joining lines changes every line and no token: the share of the GT's 12-token windows
//! that the patch has (T12) survives a formatter. Replacing names leaves the shape: with names,
//! numbers and strings blanked (S23, 23 tokens) a renamed copy is still seen; keywords stay, since a
//! renaming cannot touch them. Unrelated files of the same kind match in shape now and then, so S23
//! alone never accuses.
//!
//! A window counts only if more than half of its tokens stand in distinctive lines, and not if the
//! starter side of the GT's own hunks or the prompt has it too: what was there before is no copy.
//! Windows are compared by 64-bit hash; with a million of them on one side and ten million on the
//! other, the chance of any false match is below one in a million.

use std::collections::HashMap;

use super::lexer::{TokenKind, is_keyword, tokens};

/// Length of the windows of T12, in tokens.
pub const CONCRETE: usize = 12;

/// Length of the windows of S23, in tokens.
pub const ABSTRACT: usize = 23;

/// The windows of the GT, to look those of a patch up in.
#[derive(Debug, Clone)]
pub struct Grams {
    length: usize,
    abstracted: bool,
    /// Numbers of the tokens that the GT uses.
    vocabulary: HashMap<String, u32>,
    /// Number of each window, by its hash.
    windows: HashMap<u64, u32>,
    /// For each window: it stood in the starter or the prompt.
    known: Vec<bool>,
}

/// A token that the GT does not use.
const FOREIGN: u32 = u32::MAX;

/// The tokens of a file, each with a flag: it stands in a distinctive line.
#[derive(Debug, Clone, Default)]
struct Stream(Vec<(u32, bool)>);

impl Grams {
    /// Windows of [`CONCRETE`] tokens.
    pub fn concrete() -> Self {
        Self::new(CONCRETE, false)
    }

    /// Windows of [`ABSTRACT`] tokens with names, numbers and strings blanked.
    pub fn abstracted() -> Self {
        Self::new(ABSTRACT, true)
    }

    fn new(length: usize, abstracted: bool) -> Self {
        Self {
            length,
            abstracted,
            vocabulary: HashMap::new(),
            windows: HashMap::new(),
            known: Vec::new(),
        }
    }

    /// Adds the lines of a GT file, each with the flag "distinctive". Returns the numbers of the
    /// file's windows, each once.
    pub fn add<'t>(&mut self, lines: impl Iterator<Item = (&'t str, bool)>) -> Vec<u32> {
        let mut vocabulary = std::mem::take(&mut self.vocabulary);
        let stream = self.stream(lines, |name| {
            let fresh = vocabulary.len() as u32;
            Some(*vocabulary.entry(name.to_owned()).or_insert(fresh))
        });
        self.vocabulary = vocabulary;
        let mut numbers = Vec::new();
        for window in stream.0.windows(self.length) {
            let own = window.iter().filter(|(_, own)| *own).count();
            if own * 2 > self.length {
                let fresh = self.known.len() as u32;
                let number = *self.windows.entry(hash(window)).or_insert(fresh);
                if number == fresh {
                    self.known.push(false);
                }
                numbers.push(number);
            }
        }
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// Takes out the windows that these lines have: they stood there before.
    pub fn subtract<'t>(&mut self, lines: impl Iterator<Item = &'t str>) {
        for number in self.find(lines) {
            if let Some(known) = self.known.get_mut(number as usize) {
                *known = true;
            }
        }
    }

    /// The numbers of the windows that these lines have, each once, in order.
    pub fn find<'t>(&self, lines: impl Iterator<Item = &'t str>) -> Vec<u32> {
        let stream = self.stream(lines.map(|line| (line, false)), |name| {
            self.vocabulary.get(name).copied()
        });
        let mut found: Vec<u32> = stream
            .0
            .windows(self.length)
            .filter(|window| window.iter().all(|(token, _)| *token != FOREIGN))
            .filter_map(|window| self.windows.get(&hash(window)).copied())
            .collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// True for a window that counts.
    pub fn counts(&self, number: u32) -> bool {
        !self.known.get(number as usize).copied().unwrap_or(true)
    }

    /// Number of windows, with those that do not count.
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// True without windows.
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }

    /// Lexes lines. `number` gives a token its number.
    fn stream<'t>(
        &self,
        lines: impl Iterator<Item = (&'t str, bool)>,
        mut number: impl FnMut(&str) -> Option<u32>,
    ) -> Stream {
        let mut stream = Stream::default();
        let mut name = String::new();
        // The last token is a comma that a formatter may have put before a closing bracket.
        let mut comma = false;
        for (line, own) in lines {
            // A backslash that continues the line is layout.
            let trimmed = line.trim_end();
            let line = trimmed.strip_suffix('\\').unwrap_or(trimmed);
            for token in tokens(line) {
                let is = |text: &str| token.kind == TokenKind::Punct && token.text == text;
                if comma && (is(")") || is("]") || is("}")) {
                    stream.0.pop();
                }
                comma = is(",");
                name.clear();
                match token.kind {
                    TokenKind::Identifier if self.abstracted && !is_keyword(token.text) => {
                        name.push('i');
                    }
                    TokenKind::Number if self.abstracted => name.push('n'),
                    TokenKind::String if self.abstracted => name.push('s'),
                    TokenKind::String => {
                        name.push('"');
                        name.push_str(token.text);
                    }
                    _ => {
                        name.push(' ');
                        name.push_str(token.text);
                    }
                }
                stream.0.push((number(&name).unwrap_or(FOREIGN), own));
            }
        }
        stream
    }
}

/// FNV-1a over the numbers of the tokens, mixed at the end.
fn hash(window: &[(u32, bool)]) -> u64 {
    let folded = window
        .iter()
        .fold(0xcbf2_9ce4_8422_2325_u64, |hash, (token, _)| {
            (hash ^ u64::from(*token))
                .wrapping_mul(0x9e37_79b9_7f4a_7c15)
                .rotate_left(23)
        });
    folded ^ (folded >> 29)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn share(mut grams: Grams, gt: &[&str], patch: &[&str]) -> (usize, usize) {
        let all = grams.add(gt.iter().map(|line| (*line, true)));
        (grams.find(patch.iter().copied()).len(), all.len())
    }

    const GT: &[&str] = &[
        "def total(items, rate):",
        "    amount = sum(item.price * item.count for item in items)",
        "    return round(amount * (1 + rate), 2)",
    ];

    #[test]
    fn formatting_changes_nothing() {
        let (found, all) = share(
            Grams::concrete(),
            GT,
            &[
                "def total(",
                "    items,",
                "    rate,",
                "):",
                "    amount = sum( \\",
                "        item.price * item.count for item in items",
                "    )",
                "    return round(",
                "        amount * (1 + rate), 2,",
                "    )",
            ],
        );
        assert!(all > 20);
        assert_eq!(found, all);
        let quotes = share(
            Grams::concrete(),
            &["f('a', 'b', x, y, z, u)"],
            &["f(\"a\", \"b\", x, y, z, u)"],
        );
        assert_eq!(quotes.0, quotes.1);
    }

    #[test]
    fn only_the_shape_survives_a_renaming() {
        let renamed: Vec<String> = GT
            .iter()
            .map(|line| {
                line.replace("item", "row")
                    .replace("amount", "acc")
                    .replace("rate", "tax")
                    .replace("total", "gross")
            })
            .collect();
        let renamed: Vec<&str> = renamed.iter().map(String::as_str).collect();
        assert_eq!(share(Grams::concrete(), GT, &renamed).0, 0);
        let (found, all) = share(Grams::abstracted(), GT, &renamed);
        assert!(all > 10);
        assert_eq!(found, all);
        let other: Vec<String> = renamed
            .iter()
            .map(|l| l.replace("return", "yield"))
            .collect();
        let other = share(
            Grams::abstracted(),
            GT,
            &other.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        assert!(other.0 < other.1, "keywords are part of the shape");
    }

    #[test]
    fn what_stood_there_before_does_not_count() {
        let mut grams = Grams::concrete();
        let all = grams.add(GT.iter().map(|line| (*line, true)));
        grams.subtract(GT.iter().copied().skip(1));
        let counted = all.iter().filter(|n| grams.counts(**n)).count();
        assert!(counted > 0 && counted < all.len());
        // Windows of undistinctive lines are not windows at all.
        let mut grams = Grams::concrete();
        assert!(grams.add(GT.iter().map(|line| (*line, false))).is_empty());
        assert!(grams.is_empty());
    }

    proptest! {
        #[test]
        fn more_lines_never_lose_windows(
            lines in proptest::collection::vec("[ab(),]{0,9}", 0..20),
            more in proptest::collection::vec("[ab(),]{0,9}", 0..5),
        ) {
            let gt: Vec<&str> = lines.iter().map(String::as_str).collect();
            let mut grams = Grams::concrete();
            let all = grams.add(gt.iter().map(|l| (*l, true)));
            // A comma at the end may be dropped before a bracket of the next line.
            let longer = gt.iter().copied().chain(["x"]).chain(more.iter().map(String::as_str));
            let found = grams.find(longer);
            prop_assert!(all.iter().all(|n| found.contains(n)));
        }
    }
}
