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

use foldhash::{HashMap, HashMapExt};

use super::lexer::{Token, TokenKind, is_keyword, tokens};

/// Length of the windows of T12, in tokens.
pub const CONCRETE: usize = 12;

/// Length of the windows of S23, in tokens.
pub const ABSTRACT: usize = 23;

/// The tokens that the GT uses, as numbers.
#[derive(Debug, Clone, Default)]
pub struct Vocabulary {
    tokens: HashMap<String, u32>,
    /// Of each token, the number of its shape.
    shapes: Vec<u32>,
    /// Numbers of the shapes.
    shape_numbers: HashMap<String, u32>,
}

/// A token that the GT does not use.
const FOREIGN: u32 = u32::MAX;

/// The tokens of a file.
#[derive(Debug, Clone, Default)]
pub struct Stream {
    /// As they are, without the signs that may be added at will.
    pub tokens: Sequence,
    /// All of them, with names, numbers and strings blanked.
    pub shapes: Sequence,
}

/// Numbers of tokens, in order.
#[derive(Debug, Clone, Default)]
pub struct Sequence {
    /// The numbers.
    pub numbers: Vec<u32>,
    /// Whether they stand in distinctive lines.
    own: Vec<bool>,
}

impl Sequence {
    fn push(&mut self, number: u32, own: bool) {
        self.numbers.push(number);
        self.own.push(own);
    }

    fn pop(&mut self) {
        self.numbers.pop();
        self.own.pop();
    }
}

/// Signs that a copyist may add or leave out nearly anywhere: a semicolon that ends a line, parentheses
/// around an expression. T12 does not see them; in S23, which has little else, they count.
const AT_WILL: [&str; 3] = [";", "(", ")"];

impl Vocabulary {
    /// Lexes lines of the GT, each with the flag "distinctive", and learns their tokens.
    pub fn learn<'t>(&mut self, lines: impl Iterator<Item = (&'t str, bool)>) -> Stream {
        lex(lines, |key, token| {
            if let Some(number) = self.tokens.get(key) {
                return (*number, self.shape(*number));
            }
            let number = self.shapes.len() as u32;
            let fresh = self.shape_numbers.len() as u32;
            let shape = *self
                .shape_numbers
                .entry(shape_key(key, token).to_owned())
                .or_insert(fresh);
            self.tokens.insert(key.to_owned(), number);
            self.shapes.push(shape);
            (number, shape)
        })
    }

    /// Lexes lines of another text.
    pub fn read<'t>(&self, lines: impl Iterator<Item = &'t str>) -> Stream {
        lex(lines.map(|line| (line, false)), |key, token| {
            if let Some(number) = self.tokens.get(key) {
                return (*number, self.shape(*number));
            }
            let shape = self.shape_numbers.get(shape_key(key, token));
            (FOREIGN, shape.copied().unwrap_or(FOREIGN))
        })
    }

    fn shape(&self, number: u32) -> u32 {
        self.shapes.get(number as usize).copied().unwrap_or(FOREIGN)
    }
}

/// What is left of a token when names, numbers and strings are blanked.
fn shape_key<'k>(key: &'k str, token: Token<'_>) -> &'k str {
    match token.kind {
        TokenKind::Identifier if !is_keyword(token.text) => "i",
        TokenKind::Number => "n",
        TokenKind::String => "s",
        TokenKind::Identifier | TokenKind::Punct => key,
    }
}

/// Lexes lines. `number` gives a token (with its key: the text, strings with a quote before it, so
/// that they differ from names) its number and that of its shape.
fn lex<'t>(
    lines: impl Iterator<Item = (&'t str, bool)>,
    mut number: impl FnMut(&str, Token<'_>) -> (u32, u32),
) -> Stream {
    let mut stream = Stream::default();
    let mut key = String::new();
    // The last token is a comma that a formatter may have put before a closing bracket.
    let mut comma = false;
    for (line, own) in lines {
        // A backslash that continues the line is layout.
        let trimmed = line.trim_end();
        let line = trimmed.strip_suffix('\\').unwrap_or(trimmed);
        for token in tokens(line) {
            let is = |text: &str| token.kind == TokenKind::Punct && token.text == text;
            if comma && (is(")") || is("]") || is("}")) {
                stream.tokens.pop();
                stream.shapes.pop();
            }
            comma = is(",");
            key.clear();
            key.push(if token.kind == TokenKind::String {
                '"'
            } else {
                ' '
            });
            key.push_str(token.text);
            let at_will = token.kind == TokenKind::Punct && AT_WILL.contains(&token.text);
            let (token, shape) = number(&key, token);
            stream.shapes.push(shape, own);
            if !at_will {
                stream.tokens.push(token, own);
            }
        }
    }
    stream
}

/// The windows of the GT, to look those of a patch up in.
#[derive(Debug, Clone)]
pub struct Grams {
    length: usize,
    /// Number of each window, by its hash.
    windows: HashMap<u64, u32>,
    /// For each window: it stood in the starter or the prompt.
    known: Vec<bool>,
}

impl Grams {
    /// Windows of `length` tokens ([`CONCRETE`] or [`ABSTRACT`]).
    pub fn new(length: usize) -> Self {
        Self {
            length,
            windows: HashMap::new(),
            known: Vec::new(),
        }
    }

    /// Adds the windows of a GT file. Returns their numbers, each once.
    pub fn add(&mut self, tokens: &Sequence) -> Vec<u32> {
        let mut numbers = Vec::new();
        // Tokens of distinctive lines in the window, counted along.
        let mut own = tokens
            .own
            .iter()
            .take(self.length - 1)
            .filter(|own| **own)
            .count();
        let entering = tokens.own.iter().skip(self.length - 1);
        let leaving = tokens.own.iter();
        let hashes = hashes(&tokens.numbers, self.length);
        for ((hash, enters), leaves) in hashes.zip(entering).zip(leaving) {
            own += usize::from(*enters);
            let counted = own;
            own -= usize::from(*leaves);
            if counted * 2 > self.length {
                let fresh = self.known.len() as u32;
                let number = *self.windows.entry(hash).or_insert(fresh);
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

    /// Takes out the windows of these tokens: they stood there before.
    pub fn subtract(&mut self, tokens: &Sequence) {
        for number in self.find(tokens) {
            if let Some(known) = self.known.get_mut(number as usize) {
                *known = true;
            }
        }
    }

    /// The numbers of the windows that these tokens have, each once, in order.
    pub fn find(&self, tokens: &Sequence) -> Vec<u32> {
        let mut found: Vec<u32> = tokens
            .numbers
            .split(|token| *token == FOREIGN)
            .flat_map(|known| hashes(known, self.length))
            .filter_map(|hash| self.windows.get(&hash).copied())
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
}

/// What the hash of a window is multiplied with for every token that enters; odd.
const FACTOR: u64 = 0x9e37_79b9_7f4a_7c15;

/// The hashes of all windows of `length` tokens, each from the one before: the sum of the tokens, each mixed
/// by itself and multiplied by a power of [`FACTOR`] for its place.
fn hashes(tokens: &[u32], length: usize) -> impl Iterator<Item = u64> + '_ {
    let first = tokens.get(..length);
    let shift = |hash: u64, token: &u32| hash.wrapping_mul(FACTOR).wrapping_add(mix(*token));
    let mut hash = first.unwrap_or_default().iter().fold(0, shift);
    let leaving = (0..length).fold(1u64, |power, _| power.wrapping_mul(FACTOR));
    let rolled = tokens.iter().zip(tokens.iter().skip(length));
    let rolled = rolled.map(move |(leaves, enters)| {
        let gone = mix(*leaves).wrapping_mul(leaving);
        hash = shift(hash, enters).wrapping_sub(gone);
        hash
    });
    first.map(|_| hash).into_iter().chain(rolled)
}

/// Spreads the number of a token over 64 bits (the finaliser of SplitMix64).
fn mix(token: u32) -> u64 {
    let mut mixed = (u64::from(token) + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Of the windows of `gt`, those that `patch` has.
    fn share(length: usize, gt: &[&str], patch: &[&str]) -> (usize, usize) {
        let mut vocabulary = Vocabulary::default();
        let mut grams = Grams::new(length);
        let side = |stream: &Stream| {
            if length == CONCRETE {
                stream.tokens.clone()
            } else {
                stream.shapes.clone()
            }
        };
        let stream = vocabulary.learn(gt.iter().map(|line| (*line, true)));
        let all = grams.add(&side(&stream));
        let found = grams.find(&side(&vocabulary.read(patch.iter().copied())));
        (found.len(), all.len())
    }

    proptest! {
        #[test]
        fn hashes_are_those_of_each_window(
            tokens in proptest::collection::vec(0u32..5, 0..40), length in 1usize..15,
        ) {
            let rolled: Vec<u64> = hashes(&tokens, length).collect();
            let alone: Vec<u64> =
                tokens.windows(length).flat_map(|w| hashes(w, length)).collect();
            prop_assert_eq!(&rolled, &alone);
            for (a, b) in tokens.windows(length).zip(&rolled) {
                for (c, d) in tokens.windows(length).zip(&rolled) {
                    prop_assert_eq!(a == c, b == d);
                }
            }
        }
    }

    const GT: &[&str] = &[
        "def total(items, rate):",
        "    amount = sum(item.price * item.count for item in items)",
        "    return round(amount * (1 + rate), 2)",
    ];

    #[test]
    fn formatting_changes_nothing() {
        let (found, all) = share(
            CONCRETE,
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
        assert!(all > 15);
        assert_eq!(found, all);
        let signs = [
            "def total(items, rate):",
            "    amount = (sum((item.price * item.count) for item in items));",
            "    return (round(amount * (1 + rate), 2));",
        ];
        assert_eq!(share(CONCRETE, GT, &signs), (all, all));
        let quotes = share(
            CONCRETE,
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
        assert_eq!(share(CONCRETE, GT, &renamed).0, 0);
        let (found, all) = share(ABSTRACT, GT, &renamed);
        assert!(all > 10);
        assert_eq!(found, all);
        let other: Vec<String> = renamed
            .iter()
            .map(|l| l.replace("return", "yield"))
            .collect();
        let other = share(
            ABSTRACT,
            GT,
            &other.iter().map(String::as_str).collect::<Vec<_>>(),
        );
        assert!(other.0 < other.1, "keywords are part of the shape");
    }

    #[test]
    fn what_stood_there_before_does_not_count() {
        let mut vocabulary = Vocabulary::default();
        let mut grams = Grams::new(CONCRETE);
        let stream = vocabulary.learn(GT.iter().map(|line| (*line, true)));
        let all = grams.add(&stream.tokens);
        grams.subtract(&vocabulary.read(GT.iter().copied().skip(1)).tokens);
        let counted = all.iter().filter(|n| grams.counts(**n)).count();
        assert!(counted > 0 && counted < all.len());
        // Windows of undistinctive lines are not windows at all.
        let stream = vocabulary.learn(GT.iter().map(|line| (*line, false)));
        let mut grams = Grams::new(CONCRETE);
        assert!(grams.add(&stream.tokens).is_empty() && grams.is_empty());
    }

    proptest! {
        #[test]
        fn more_lines_never_lose_windows(
            lines in proptest::collection::vec("[ab(),]{0,9}", 0..20),
            more in proptest::collection::vec("[ab(),]{0,9}", 0..5),
        ) {
            let gt: Vec<&str> = lines.iter().map(String::as_str).collect();
            let (found, all) = share(CONCRETE, &gt, &gt);
            prop_assert_eq!(found, all);
            // A comma at the end may be dropped before a bracket of the next line: keep them apart.
            let longer = gt.iter().copied().chain(["x"]).chain(more.iter().map(String::as_str));
            prop_assert_eq!(share(CONCRETE, &gt, &longer.collect::<Vec<_>>()).0, all);
        }
    }
}
