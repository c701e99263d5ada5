//! A window on a stream that remembers where it is: offset, line, indentation.

use std::io::{self, Read};
use std::ops::Range;

/// First size of the window in bytes; it grows with the longest record and never shrinks below this.
pub(crate) const WINDOW: usize = 256 << 10;

/// The window grows by half; a big one by so many bytes, or an eighth of it, at a time: what it has too much is
/// memory all the same.
const MAX_GROWTH: usize = 4 << 20;

/// Where a piece of the stream stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Piece {
    /// 1-based line of its first byte.
    pub(crate) line: u64,
    /// Byte range in the stream.
    pub(crate) bytes: Range<u64>,
    /// Byte range in the window; good until more is read.
    pub(crate) range: Range<usize>,
}

/// A window on a stream, with the position of the next byte to look at.
pub(crate) struct Buffer<R> {
    source: R,
    /// What was read, and room for more.
    buf: Vec<u8>,
    /// Next byte to look at, as an index of `buf`.
    pos: usize,
    /// End of what was read, as an index of `buf`.
    filled: usize,
    /// Offset in the stream of the first byte of `buf`.
    base: u64,
    /// 1-based line of `pos`.
    line: u64,
    /// White space at the start of that line.
    indent: usize,
    /// Nothing but white space was met on that line.
    in_indent: bool,
    eof: bool,
}

impl<R: Read> Buffer<R> {
    pub(crate) fn new(source: R) -> Self {
        Self {
            source,
            buf: vec![0; WINDOW],
            pos: 0,
            filled: 0,
            base: 0,
            line: 1,
            indent: 0,
            in_indent: true,
            eof: false,
        }
    }

    /// Reads more; false when there is nothing more. Keeps everything from the position on.
    pub(crate) fn fill(&mut self) -> io::Result<bool> {
        if self.eof {
            return Ok(false);
        }
        if self.filled == self.buf.len() {
            self.forget_read();
        }
        if self.filled == self.buf.len() {
            let more = (self.buf.len() / 2).min(MAX_GROWTH.max(self.buf.len() / 8));
            self.buf.resize(self.buf.len() + more, 0);
        }
        let room = self.buf.get_mut(self.filled..).unwrap_or_default();
        let count = loop {
            match self.source.read(room) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                other => break other?,
            }
        };
        self.filled += count;
        self.eof = count == 0;
        Ok(!self.eof)
    }

    /// Moves what was not looked at yet to the front of the window.
    fn forget_read(&mut self) {
        if self.pos > 0 {
            self.buf.copy_within(self.pos..self.filled, 0);
            self.base += self.pos as u64;
            self.filled -= self.pos;
            self.pos = 0;
        }
    }

    /// Gives memory back after something long.
    pub(crate) fn shrink(&mut self) {
        self.forget_read();
        self.buf.truncate(self.filled.max(WINDOW));
        self.buf.shrink_to_fit();
    }

    /// What was read and not looked at yet.
    pub(crate) fn unread(&self) -> &[u8] {
        self.buf.get(self.pos..self.filled).unwrap_or_default()
    }

    /// The bytes of a piece that was just taken.
    pub(crate) fn bytes(&self, piece: &Piece) -> &[u8] {
        self.buf.get(piece.range.clone()).unwrap_or_default()
    }

    /// The byte at that distance from the position, read if need be.
    pub(crate) fn peek(&mut self, ahead: usize) -> io::Result<Option<u8>> {
        loop {
            if let Some(byte) = self.unread().get(ahead) {
                return Ok(Some(*byte));
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Distance to the next line feed at or behind `from`, if it is less than `limit`.
    pub(crate) fn line_feed(&mut self, from: usize, limit: usize) -> io::Result<Option<usize>> {
        let mut seen = from;
        loop {
            let unread = self.unread();
            if let Some(found) = unread.get(seen..).and_then(|u| memchr::memchr(b'\n', u)) {
                return Ok(Some(seen + found).filter(|at| *at < limit));
            }
            seen = seen.max(unread.len());
            if seen >= limit || !self.fill()? {
                return Ok(None);
            }
        }
    }

    /// Everything there is was read.
    pub(crate) fn at_end(&self) -> bool {
        self.eof
    }

    /// Moves over one byte of white space or punctuation between records.
    pub(crate) fn skip(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.line += 1;
                self.indent = 0;
                self.in_indent = true;
            }
            b' ' | b'\t' => self.indent += usize::from(self.in_indent),
            b'\r' | 0 => {}
            _ => self.in_indent = false,
        }
        self.pos = (self.pos + 1).min(self.filled);
    }

    /// Takes the next `len` bytes as a piece and moves behind it.
    pub(crate) fn take(&mut self, len: usize) -> Piece {
        let range = self.pos..(self.pos + len).min(self.filled);
        let offset = self.base + range.start as u64;
        let piece = Piece {
            line: self.line,
            bytes: offset..offset + range.len() as u64,
            range: range.clone(),
        };
        let bytes = self.buf.get(range.clone()).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.in_indent = false;
        self.pos = range.end;
        piece
    }

    /// Moves back to the start of the piece that was taken last.
    pub(crate) fn untake(&mut self, piece: &Piece) {
        self.pos = piece.range.start;
        self.line = piece.line;
    }

    /// 1-based line of the position.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// White space at the start of the line of the position.
    pub(crate) fn indent(&self) -> usize {
        self.indent
    }

    /// Nothing but white space stands between the start of the line and the position.
    pub(crate) fn starts_line(&self) -> bool {
        self.in_indent
    }

    /// Offset of the position in the stream.
    pub(crate) fn offset(&self) -> u64 {
        self.base + self.pos as u64
    }

    /// Bytes read from the stream so far.
    pub(crate) fn read_so_far(&self) -> u64 {
        self.base + self.filled as u64
    }

    /// Size of the window.
    #[cfg(test)]
    pub(crate) fn window(&self) -> usize {
        self.buf.len()
    }
}
