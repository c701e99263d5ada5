//! Reading a text line by line, with as much look-ahead as a patch needs.

use memchr::memchr;

/// A place in a text. Copying it is how to look ahead and how to go back.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cursor<'a> {
    rest: &'a [u8],
    line: u64,
}

impl<'a> Cursor<'a> {
    /// The start of a text.
    pub(super) fn new(text: &'a [u8]) -> Self {
        Self {
            rest: text,
            line: 1,
        }
    }

    /// 1-based number of the line that [`Self::next`] will return.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// The next line without its line feed; `None` at the end of the text.
    pub(super) fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        self.line += 1;
        match memchr(b'\n', self.rest).and_then(|at| self.rest.split_at_checked(at)) {
            Some((line, rest)) => {
                self.rest = rest.strip_prefix(b"\n").unwrap_or(rest);
                Some(line)
            }
            None => Some(std::mem::take(&mut self.rest)),
        }
    }

    /// The next line, without moving.
    pub(super) fn peek(&self) -> Option<&'a [u8]> {
        self.ahead(0)
    }

    /// The line `skip` lines after the next one, without moving.
    pub(super) fn ahead(&self, skip: usize) -> Option<&'a [u8]> {
        let mut copy = *self;
        for _ in 0..skip {
            copy.next()?;
        }
        copy.next()
    }
}

/// A line without one carriage return at its end.
pub(super) fn trim_cr(line: &[u8]) -> &[u8] {
    line.strip_suffix(b"\r").unwrap_or(line)
}
