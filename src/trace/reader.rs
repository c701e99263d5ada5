//! From bytes to records: cuts a stream at the boundaries of JSON values and of text lines.
//!
//! The usual record is one line, `{…}`; such a line is handed out as it is and only taken apart
//! ([`Reader::take_apart`]) when it does not parse. Everything else goes through the [`Scanner`]:
//! records that share a line or span many, arrays of records (whose elements are the records, so
//! that a big array is never held whole), records behind text. When a value breaks, the reader gives
//! out the broken part and goes on at the next place where a record can begin.
//!
//! The reader holds one record at a time. Its work is linear: what is scanned again after a failure
//! is bounded by [`RESCAN_FACTOR`] times the bytes read, beyond which broken parts are skipped whole.

use std::io::{self, Read};
use std::ops::Range;

use memchr::memmem;

use super::scan::{Scan, Scanner};

/// Records longer than this (in bytes) are skipped and reported.
pub(crate) const MAX_RECORD: usize = 256 << 20;
/// Text lines longer than this (in bytes) are handed out in pieces.
pub(crate) const MAX_TEXT: usize = 16 << 20;
/// First size of the buffer; the longest line that takes the quick way.
const BUFFER: usize = 256 << 10;
/// Bytes that may be scanned again after failures, as a multiple of the bytes read.
const RESCAN_FACTOR: u64 = 4;
/// Bytes that may be scanned again in any case.
const RESCAN_MIN: u64 = 1 << 20;

/// What was cut out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cut {
    /// A whole line `{…}` that was not looked into: it may hold more than one value.
    Line,
    /// One balanced object or array.
    Value,
    /// A line, or part of one, that is no JSON.
    Text,
    /// Starts like JSON and is broken.
    Broken,
    /// Starts like JSON and has no end before the end of the file.
    CutShort,
    /// Longer than [`MAX_RECORD`]; its bytes are gone.
    TooLong,
}

/// A piece of the stream; its bytes are valid until the next one is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// What it is.
    pub(crate) cut: Cut,
    /// 1-based line of its first byte.
    pub(crate) line: u64,
    /// Where it stands in the stream.
    pub(crate) bytes: Range<u64>,
    /// Where it stands in the buffer.
    range: Range<usize>,
}

/// Oddities of the stream that belong to no record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Oddities {
    /// 1-based line of the first line that ends in CR LF.
    pub(crate) crlf: Option<u64>,
    /// 1-based line of the first zero byte between records.
    pub(crate) nul: Option<u64>,
    /// Arrays of records that have no end.
    pub(crate) open_arrays: u64,
}

/// Cuts a stream into spans.
pub(crate) struct Reader<R> {
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
    /// The next record was refused as a whole line.
    apart: bool,
    /// Nesting of arrays of records.
    arrays: u64,
    rescanned: u64,
    max_record: usize,
    oddities: Oddities,
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(source: R) -> Self {
        Self {
            source,
            buf: vec![0; BUFFER],
            pos: 0,
            filled: 0,
            base: 0,
            line: 1,
            indent: 0,
            in_indent: true,
            eof: false,
            apart: false,
            arrays: 0,
            rescanned: 0,
            max_record: MAX_RECORD,
            oddities: Oddities::default(),
        }
    }

    /// The bytes of a span that was just taken.
    pub(crate) fn bytes(&self, span: &Span) -> &[u8] {
        self.buf.get(span.range.clone()).unwrap_or_default()
    }

    /// What was odd about the stream so far.
    pub(crate) fn oddities(&self) -> Oddities {
        Oddities {
            open_arrays: self.arrays,
            ..self.oddities
        }
    }

    /// 1-based line of the next byte.
    pub(crate) fn line(&self) -> u64 {
        self.line
    }

    /// Takes back a [`Cut::Line`] that does not parse: the next spans are its parts.
    pub(crate) fn take_apart(&mut self, span: &Span) {
        self.pos = span.range.start;
        self.line = span.line;
        self.apart = true;
    }

    /// The next span; `None` at the end of the stream.
    pub(crate) fn next_span(&mut self) -> io::Result<Option<Span>> {
        loop {
            self.skip_separators()?;
            let apart = std::mem::take(&mut self.apart);
            let Some(first) = self.peek(0)? else {
                return Ok(None);
            };
            return match first {
                b'{' if !apart && self.whole_line()? => Ok(Some(self.take_line())),
                b'{' => self.value().map(Some),
                b'[' => {
                    if self.array_of_records()? {
                        self.arrays += 1;
                        self.pos += 1;
                        continue;
                    }
                    self.value().map(Some)
                }
                _ => self.text().map(Some),
            };
        }
    }

    // ---- the buffer -------------------------------------------------------------------------

    /// Reads more; false when there is nothing more. Keeps everything from `pos` on.
    fn fill(&mut self) -> io::Result<bool> {
        if self.eof {
            return Ok(false);
        }
        // The span that was given out last is in front of `pos`, and done with.
        if self.filled == self.buf.len() {
            self.forget_read();
        }
        if self.filled == self.buf.len() {
            self.buf.resize(self.buf.len() + self.buf.len() / 2, 0);
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

    /// Moves what was not looked at yet to the front of the buffer.
    fn forget_read(&mut self) {
        if self.pos == 0 {
            return;
        }
        self.buf.copy_within(self.pos..self.filled, 0);
        self.base += self.pos as u64;
        self.filled -= self.pos;
        self.pos = 0;
    }

    /// The byte at that distance from `pos`.
    fn peek(&mut self, ahead: usize) -> io::Result<Option<u8>> {
        loop {
            if let Some(byte) = self.unread().get(ahead) {
                return Ok(Some(*byte));
            }
            if !self.fill()? {
                return Ok(None);
            }
        }
    }

    fn unread(&self) -> &[u8] {
        self.buf.get(self.pos..self.filled).unwrap_or_default()
    }

    /// Distance from `pos` to the next line feed at or behind `from`, reading on up to `limit` bytes.
    fn line_feed(&mut self, from: usize, limit: usize) -> io::Result<Option<usize>> {
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

    /// Makes a span of the next `len` bytes and moves behind it.
    fn take(&mut self, cut: Cut, len: usize) -> Span {
        let range = self.pos..(self.pos + len).min(self.filled);
        let offset = self.base + range.start as u64;
        let span = Span {
            cut,
            line: self.line,
            bytes: offset..offset + range.len() as u64,
            range: range.clone(),
        };
        let bytes = self.buf.get(range.clone()).unwrap_or_default();
        self.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
        self.in_indent = false;
        self.pos = range.end;
        span
    }

    // ---- between records --------------------------------------------------------------------

    /// Moves over white space, zero bytes, byte order marks and, inside an array, its punctuation.
    fn skip_separators(&mut self) -> io::Result<()> {
        while let Some(byte) = self.peek(0)? {
            match byte {
                b'\n' => {
                    self.line += 1;
                    self.indent = 0;
                    self.in_indent = true;
                }
                b' ' | b'\t' => self.indent += usize::from(self.in_indent),
                b'\r' | 0x1e => {}
                0 => {
                    self.oddities.nul.get_or_insert(self.line);
                }
                b',' if self.arrays > 0 => {}
                b']' if self.arrays > 0 => self.arrays -= 1,
                0xef if self.peek(1)? == Some(0xbb) && self.peek(2)? == Some(0xbf) => self.pos += 2,
                _ => break,
            }
            self.pos += 1;
        }
        Ok(())
    }

    /// At `[`: true when an object follows, so that its elements are the records.
    fn array_of_records(&mut self) -> io::Result<bool> {
        let mut ahead = 1;
        while let Some(byte) = self.peek(ahead)? {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' if ahead < BUFFER => ahead += 1,
                byte => return Ok(byte == b'{'),
            }
        }
        Ok(false)
    }

    // ---- records ----------------------------------------------------------------------------

    /// True when the line that starts here is short enough and ends in `}`.
    fn whole_line(&mut self) -> io::Result<bool> {
        let end = self.line_feed(0, BUFFER)?;
        let unread = self.unread();
        let line = match end {
            Some(end) => unread.get(..end).unwrap_or_default(),
            None if self.eof && unread.len() < BUFFER => unread,
            None => return Ok(false),
        };
        let closed = line.trim_ascii_end().last() == Some(&b'}');
        if end.is_some() && line.last() == Some(&b'\r') {
            self.oddities.crlf.get_or_insert(self.line);
        }
        Ok(closed)
    }

    /// Takes the line that [`Reader::whole_line`] has looked at.
    fn take_line(&mut self) -> Span {
        let unread = self.unread();
        let end = memchr::memchr(b'\n', unread).unwrap_or(unread.len());
        let len = unread.get(..end).unwrap_or_default().trim_ascii_end().len();
        self.take(Cut::Line, len)
    }

    /// Scans an object or array that starts here.
    fn value(&mut self) -> io::Result<Span> {
        let mut scanner = Scanner::new();
        let mut fed = 0;
        loop {
            let chunk = self.unread().get(fed..).unwrap_or_default();
            match scanner.feed(chunk) {
                Scan::Done(used) => return self.complete(fed + used),
                Scan::Broken(at) => return self.recover(fed + at, false),
                Scan::More => fed += chunk.len(),
            }
            if fed > self.max_record {
                return self.skip_record();
            }
            if !self.fill()? {
                return self.recover(fed, true);
            }
        }
    }

    /// A balanced value of that length. `[x] text` is a line of text, not a value with text behind.
    fn complete(&mut self, len: usize) -> io::Result<Span> {
        if self.peek(0)? == Some(b'[') {
            let end = self.line_feed(len, MAX_TEXT)?;
            let unread = self.unread();
            let rest = unread.get(len..end.unwrap_or(unread.len()));
            let mut rest = rest.unwrap_or_default().iter();
            if !rest.all(|byte| b" \t\r,]".contains(byte)) {
                return self.text();
            }
        }
        Ok(self.take(Cut::Value, len))
    }

    /// Gives up a record that is too long and goes on behind its line.
    fn skip_record(&mut self) -> io::Result<Span> {
        let (line, start) = (self.line, self.base + self.pos as u64);
        loop {
            let unread = self.unread().len();
            let end = memchr::memchr(b'\n', self.unread());
            self.take(Cut::TooLong, end.unwrap_or(unread));
            if end.is_some() || !self.fill()? {
                break;
            }
        }
        let end = self.base + self.pos as u64;
        self.forget_read();
        self.buf.truncate(self.filled.max(BUFFER));
        self.buf.shrink_to_fit();
        Ok(Span {
            cut: Cut::TooLong,
            line,
            bytes: start..end,
            range: 0..0,
        })
    }

    /// The value that starts here breaks after `len` bytes, or the stream ends there.
    fn recover(&mut self, len: usize, at_end: bool) -> io::Result<Span> {
        let cut = match (self.unread().first(), at_end) {
            // `[INFO] …` is a line of text.
            (Some(b'['), _) => Cut::Text,
            (_, true) => Cut::CutShort,
            (_, false) => Cut::Broken,
        };
        let scanned = self.unread().get(..len).unwrap_or_default();
        let Some(first_line) = memchr::memchr(b'\n', scanned) else {
            return self.broken_line(cut, len);
        };
        self.rescanned += (len - first_line) as u64;
        let affordable =
            self.rescanned <= RESCAN_FACTOR * (self.base + self.filled as u64) + RESCAN_MIN;
        let scanned = self.unread().get(..len).unwrap_or_default();
        let end = if affordable {
            next_start(scanned, first_line, self.indent)
        } else {
            None
        };
        let end = end.unwrap_or_else(|| {
            if at_end {
                len
            } else {
                // Go on with the line in which it broke.
                memchr::memrchr(b'\n', scanned).unwrap_or(len)
            }
        });
        // A part before the end is not what the end of the file cut off.
        let cut = match cut {
            Cut::CutShort if end < len => Cut::Broken,
            cut => cut,
        };
        Ok(self.take(cut, end.max(1)))
    }

    /// A broken value within one line: up to a record later in the line, or the whole line.
    fn broken_line(&mut self, cut: Cut, len: usize) -> io::Result<Span> {
        let end = self.line_feed(len, self.max_record)?;
        if end.is_none() && self.unread().len() >= self.max_record {
            return self.skip_record();
        }
        let unread = self.unread();
        let end = end.unwrap_or(unread.len());
        let line = unread.get(..end).unwrap_or_default();
        match record_inside(line) {
            Some(start) => Ok(self.take(
                if cut == Cut::CutShort {
                    Cut::Broken
                } else {
                    cut
                },
                start,
            )),
            None => Ok(self.take(cut, line.trim_ascii_end().len().max(1))),
        }
    }

    /// A line of text, or the text before a record on the same line.
    fn text(&mut self) -> io::Result<Span> {
        let end = self.line_feed(0, MAX_TEXT)?;
        let unread = self.unread();
        let len = end.unwrap_or_else(|| unread.len().min(MAX_TEXT));
        let line = unread.get(..len).unwrap_or_default();
        let crlf = end.is_some() && line.last() == Some(&b'\r');
        let len = match record_inside(line) {
            Some(start) => start,
            None => line.trim_ascii_end().len().max(1),
        };
        if crlf {
            self.oddities.crlf.get_or_insert(self.line);
        }
        Ok(self.take(Cut::Text, len))
    }
}

/// In a broken value of several lines: the line feed in front of a line that begins a record at the
/// same indentation. Lines of the broken value itself are indented deeper.
fn next_start(scanned: &[u8], first_line: usize, indent: usize) -> Option<usize> {
    let mut start = first_line + 1;
    while let Some(line) = scanned.get(start..).filter(|line| !line.is_empty()) {
        let body = line.get(indent..).unwrap_or_default();
        let blank = line
            .iter()
            .take(indent)
            .all(|byte| matches!(byte, b' ' | b'\t'));
        if blank && (body.starts_with(b"{") || body.starts_with(b"[{")) {
            return Some(start - 1);
        }
        start += memchr::memchr(b'\n', line)? + 1;
    }
    None
}

/// In a line that is no record: where a record begins that ends with the line. Looks at every `{"`,
/// and scans no more than a few times the line.
fn record_inside(line: &[u8]) -> Option<usize> {
    let line = line.trim_ascii_end();
    if !line.ends_with(b"}") {
        return None;
    }
    let mut budget = line.len() * RESCAN_FACTOR as usize + 4096;
    for start in memmem::find_iter(line, b"{\"") {
        let tail = line.get(start..).unwrap_or_default();
        if start > 0 {
            match Scanner::new().feed(tail) {
                Scan::Done(used) if ends_in_records(tail, used) => return Some(start),
                Scan::Done(used) | Scan::Broken(used) => budget = budget.checked_sub(used)?,
                Scan::More => budget = budget.checked_sub(tail.len())?,
            }
        }
    }
    None
}

/// True when nothing, or another object, stands behind the value.
fn ends_in_records(tail: &[u8], used: usize) -> bool {
    let rest = tail.get(used..).unwrap_or_default().trim_ascii_start();
    rest.is_empty() || rest.starts_with(b"{\"")
}

#[cfg(test)]
mod tests;
