//! A position in a command text, with the few moves that the parsers need.
//!
//! Shell syntax is ASCII, so moves go by bytes; slices are taken with `str::get` and are therefore
//! always whole characters.

/// Where a text came from: how positions in it map to the outermost text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Base {
    /// The text stands unchanged in the outermost one, from this position on.
    Exact(usize),
    /// The text was made (unescaped, decoded, joined) by the command at this position.
    Fixed(usize),
}

impl Base {
    /// Position in the outermost text of a position in this one.
    pub(crate) fn at(self, position: usize) -> usize {
        match self {
            Self::Exact(base) => base.saturating_add(position),
            Self::Fixed(at) => at,
        }
    }

    /// The base of a part of this text that begins at `position`.
    pub(crate) fn inner(self, position: usize) -> Self {
        match self {
            Self::Exact(base) => Self::Exact(base.saturating_add(position)),
            fixed @ Self::Fixed(_) => fixed,
        }
    }
}

/// A read position.
#[derive(Debug, Clone)]
pub(crate) struct Cursor<'t> {
    text: &'t str,
    pos: usize,
}

impl<'t> Cursor<'t> {
    pub(crate) fn new(text: &'t str) -> Self {
        Self { text, pos: 0 }
    }

    pub(crate) fn position(&self) -> usize {
        self.pos
    }

    pub(crate) fn at_end(&self) -> bool {
        self.pos >= self.text.len()
    }

    /// The byte `ahead` bytes further on.
    pub(crate) fn peek(&self, ahead: usize) -> Option<u8> {
        self.text
            .as_bytes()
            .get(self.pos.saturating_add(ahead))
            .copied()
    }

    /// The byte before the position.
    pub(crate) fn previous(&self) -> Option<u8> {
        let before = self.pos.checked_sub(1)?;
        self.text.as_bytes().get(before).copied()
    }

    pub(crate) fn rest(&self) -> &'t str {
        self.text.get(self.pos..).unwrap_or_default()
    }

    /// The text from `start` to the position.
    pub(crate) fn since(&self, start: usize) -> &'t str {
        self.text.get(start..self.pos).unwrap_or_default()
    }

    /// Moves on by `bytes`, to the next character boundary at least.
    pub(crate) fn advance(&mut self, bytes: usize) {
        let mut to = self.pos.saturating_add(bytes).min(self.text.len());
        while !self.text.is_char_boundary(to) {
            to += 1;
        }
        self.pos = to;
    }

    /// Moves to a position reached before or found by a search.
    pub(crate) fn seek(&mut self, position: usize) {
        self.pos = 0;
        self.advance(position);
    }

    /// Ends the text here and returns what stood behind.
    pub(crate) fn cut(&mut self) -> &'t str {
        let rest = self.rest();
        self.text = self.text.get(..self.pos).unwrap_or_default();
        rest
    }

    /// Moves to the end.
    pub(crate) fn finish(&mut self) {
        self.pos = self.text.len();
    }

    /// Skips `expected` if it stands here.
    pub(crate) fn eat(&mut self, expected: &str) -> bool {
        let here = self.rest().starts_with(expected);
        if here {
            self.pos += expected.len();
        }
        here
    }

    /// Takes one character.
    pub(crate) fn next_char(&mut self) -> Option<char> {
        let c = self.rest().chars().next()?;
        self.pos += c.len_utf8();
        Some(c)
    }

    /// Takes the bytes for which `wanted` holds.
    pub(crate) fn take_while(&mut self, wanted: impl Fn(u8) -> bool) -> &'t str {
        let rest = self.rest();
        let length = rest.bytes().position(|b| !wanted(b)).unwrap_or(rest.len());
        let start = self.pos;
        self.advance(length);
        self.since(start)
    }

    /// Takes the rest of the line without its newline, and skips the newline.
    ///
    /// The second value says whether there was a newline.
    pub(crate) fn take_line(&mut self) -> (&'t str, bool) {
        let rest = self.rest();
        match memchr::memchr(b'\n', rest.as_bytes()) {
            Some(length) => {
                let line = rest.get(..length).unwrap_or_default();
                self.pos = self.pos.saturating_add(length + 1);
                (line, true)
            }
            None => {
                self.finish();
                (rest, false)
            }
        }
    }
}
