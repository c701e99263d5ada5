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

use memchr::memmem;

use super::buffer::{Buffer, Piece, WINDOW};
use super::document::{self, Ahead, Behind, Part};
use super::intact;
use super::scan::{Scan, Scanner};

/// Records longer than this (in bytes) are skipped and reported.
pub(crate) const MAX_RECORD: usize = 256 << 20;
/// Text lines longer than this (in bytes) are handed out in pieces.
pub(crate) const MAX_TEXT: usize = 16 << 20;
/// Lines up to this length take the quick way.
const QUICK_LINE: usize = WINDOW;
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
    Unfinished,
    /// Longer than [`MAX_RECORD`]; its bytes are gone.
    TooLong,
}

/// A piece of the stream with what it is; its bytes are valid until the next one is taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    /// What it is.
    pub(crate) cut: Cut,
    /// Which part of a document, see [`document`].
    pub(crate) part: Part,
    /// Where it stands.
    pub(crate) piece: Piece,
}

/// Oddities of the stream that belong to no record.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Oddities {
    /// 1-based line of the first line that ends in CR LF.
    pub(crate) crlf: Option<u64>,
    /// 1-based line of the first zero byte between records.
    pub(crate) nul: Option<u64>,
    /// Arrays of records, and documents, that have no end.
    pub(crate) open_arrays: u64,
}

/// Whether lines are given out as they are, for formats in which white space and blank lines count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verbatim {
    Off,
    /// At the start of a line.
    Line,
    /// Behind a line whose line feed is still there.
    Behind,
}

/// Cuts a stream into spans.
pub(crate) struct Reader<R> {
    buffer: Buffer<R>,
    /// The next record was refused as a whole line.
    apart: bool,
    /// Nesting of arrays of records.
    arrays: u64,
    /// The document that is being given out.
    document: Option<parts::Open>,
    /// Offset of the end of the damaged line that was looked at last.
    line_end: u64,
    /// A comma was met since the last item.
    comma: bool,
    /// What stands behind its first section, when that is near enough.
    behind: Option<Behind>,
    /// The first item of that section, when it is near enough.
    first_item: String,
    /// The object that begins here is one record, whatever is in it.
    whole: bool,
    /// Lines are given out as they are.
    verbatim: Verbatim,
    rescanned: u64,
    max_record: usize,
    oddities: Oddities,
}

impl<R: Read> Reader<R> {
    pub(crate) fn new(source: R) -> Self {
        Self {
            buffer: Buffer::new(source),
            apart: false,
            arrays: 0,
            document: None,
            line_end: 0,
            comma: false,
            behind: None,
            first_item: String::new(),
            whole: false,
            verbatim: Verbatim::Off,
            rescanned: 0,
            max_record: MAX_RECORD,
            oddities: Oddities::default(),
        }
    }

    /// The bytes of a span that was just taken.
    pub(crate) fn bytes(&self, span: &Span) -> &[u8] {
        self.buffer.bytes(&span.piece)
    }

    /// What stands behind the first section of the document whose head was given out last; `None` when that is
    /// too far away to be seen.
    pub(crate) fn behind(&mut self) -> Option<Behind> {
        self.behind.take()
    }

    /// The first item of that section, if it is near enough to be seen.
    pub(crate) fn first_item(&self) -> &str {
        &self.first_item
    }

    /// Takes back the head of a document that was given out last: it is one record.
    pub(crate) fn take_whole(&mut self, head: &Span) {
        self.buffer.untake(&head.piece);
        self.document = None;
        self.whole = true;
    }

    /// The section in which the reader stands.
    pub(crate) fn section(&self) -> Option<&'static str> {
        self.document.and_then(|open| open.section)
    }

    /// A document was begun whose end was not met yet.
    pub(crate) fn in_a_document(&self) -> bool {
        self.document.is_some()
    }

    /// What was odd about the stream so far.
    pub(crate) fn oddities(&self) -> Oddities {
        Oddities {
            open_arrays: self.oddities.open_arrays
                + self.arrays
                + u64::from(self.document.is_some()),
            ..self.oddities
        }
    }

    /// 1-based line of the next byte.
    pub(crate) fn line(&self) -> u64 {
        self.buffer.line()
    }

    /// Takes back a [`Cut::Line`] that does not parse: the next spans are its parts.
    pub(crate) fn take_apart(&mut self, span: &Span) {
        self.buffer.untake(&span.piece);
        self.apart = true;
    }

    /// The log is text from here on, or is not: then its lines are cut no further, and blank ones and
    /// white space are kept.
    pub(crate) fn verbatim(&mut self, yes: bool) {
        self.verbatim = match (yes, self.verbatim) {
            (false, _) => Verbatim::Off,
            (true, Verbatim::Off) => Verbatim::Behind,
            (true, on) => on,
        };
    }

    /// The next span; `None` at the end of the stream.
    pub(crate) fn next_span(&mut self) -> io::Result<Option<Span>> {
        if self.verbatim != Verbatim::Off {
            return self.line_as_it_is();
        }
        loop {
            if let Some(open) = self.document {
                self.skip_separators()?;
                match self.in_document(open)? {
                    Some(span) => return Ok(Some(span)),
                    None if self.buffer.peek(0)?.is_none() => return Ok(None),
                    None => continue,
                }
            }
            self.skip_separators()?;
            let apart = std::mem::take(&mut self.apart);
            let Some(first) = self.buffer.peek(0)? else {
                return Ok(None);
            };
            let whole = std::mem::take(&mut self.whole);
            return match first {
                b'{' if whole => self.scan_value().map(Some),
                b'{' if !apart && self.whole_line()? => Ok(Some(self.take_line())),
                b'{' => self.value().map(Some),
                b'[' if self.array_of_records()? => {
                    self.arrays += 1;
                    self.buffer.skip(b'[');
                    continue;
                }
                b'[' => self.value().map(Some),
                _ => self.text().map(Some),
            };
        }
    }

    fn take(&mut self, cut: Cut, len: usize) -> Span {
        Span {
            cut,
            part: Part::Whole,
            piece: self.buffer.take(len),
        }
    }

    /// Moves over white space, zero bytes, byte order marks and, inside an array, its punctuation.
    fn skip_separators(&mut self) -> io::Result<()> {
        while let Some(byte) = self.buffer.peek(0)? {
            match byte {
                b'\n' | b' ' | b'\t' | b'\r' | 0x1e => {}
                0 => {
                    self.oddities.nul.get_or_insert(self.buffer.line());
                }
                b',' if self.arrays > 0 || self.document.is_some() => self.comma = true,
                b']' if self.arrays > 0 && self.document.is_none() => self.arrays -= 1,
                0xef if self.at_byte_order_mark()? => {
                    self.buffer.skip(byte);
                    self.buffer.skip(byte);
                }
                _ => break,
            }
            self.buffer.skip(byte);
        }
        Ok(())
    }

    fn at_byte_order_mark(&mut self) -> io::Result<bool> {
        Ok(self.buffer.peek(1)? == Some(0xbb) && self.buffer.peek(2)? == Some(0xbf))
    }

    /// At `[`: true when an object follows, so that its elements are the records.
    fn array_of_records(&mut self) -> io::Result<bool> {
        let mut ahead = 1;
        while let Some(byte) = self.buffer.peek(ahead)? {
            match byte {
                b' ' | b'\t' | b'\r' | b'\n' if ahead < WINDOW => ahead += 1,
                byte => return Ok(byte == b'{'),
            }
        }
        Ok(false)
    }

    /// True when the line that starts here is short enough and ends in `}`.
    fn whole_line(&mut self) -> io::Result<bool> {
        let end = self.buffer.line_feed(0, QUICK_LINE)?;
        let unread = self.buffer.unread();
        let line = match end {
            Some(end) => unread.get(..end).unwrap_or_default(),
            None if self.buffer.at_end() && unread.len() < QUICK_LINE => unread,
            None => return Ok(false),
        };
        let closed = line.trim_ascii_end().last() == Some(&b'}');
        if end.is_some() && line.last() == Some(&b'\r') {
            self.oddities.crlf.get_or_insert(self.buffer.line());
        }
        Ok(closed)
    }

    /// Takes the line that [`Reader::whole_line`] has looked at.
    fn take_line(&mut self) -> Span {
        let unread = self.buffer.unread();
        let end = memchr::memchr(b'\n', unread).unwrap_or(unread.len());
        let len = unread.get(..end).unwrap_or_default().trim_ascii_end().len();
        self.take(Cut::Line, len)
    }

    /// Gives out an object or array that starts here, or the head of a document.
    fn value(&mut self) -> io::Result<Span> {
        let mut from = 0;
        while self.buffer.peek(0)? == Some(b'{') {
            match document::section_ahead(self.buffer.unread(), from) {
                Ahead::Section(name, first) => return self.open_document(name, first),
                Ahead::More(member) if self.read_more()? => from = member,
                Ahead::More(_) | Ahead::Nothing => break,
            }
        }
        self.scan_value()
    }

    /// Scans an object or array that starts here.
    fn scan_value(&mut self) -> io::Result<Span> {
        let mut scanner = Scanner::new();
        let mut fed = 0;
        loop {
            let chunk = self.buffer.unread().get(fed..).unwrap_or_default();
            match scanner.feed(chunk) {
                Scan::Done(used) => return self.complete(fed + used),
                Scan::Broken(at) => return self.recover(fed + at, false),
                Scan::More => fed += chunk.len(),
            }
            if fed > self.max_record {
                return self.skip_record();
            }
            if !self.buffer.fill()? {
                return self.recover(fed, true);
            }
        }
    }

    /// A balanced value of that length. `[x] text` is a line of text, not a value with text behind.
    fn complete(&mut self, len: usize) -> io::Result<Span> {
        if self.buffer.peek(0)? == Some(b'[') && self.document.is_none() {
            let end = self.buffer.line_feed(len, MAX_TEXT)?;
            let unread = self.buffer.unread();
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
        let (line, start) = (self.buffer.line(), self.buffer.offset());
        loop {
            let unread = self.buffer.unread();
            let end = memchr::memchr(b'\n', unread);
            let len = end.unwrap_or(unread.len());
            self.buffer.take(len);
            if end.is_some() || !self.buffer.fill()? {
                break;
            }
        }
        let end = self.buffer.offset();
        self.buffer.shrink();
        Ok(Span {
            cut: Cut::TooLong,
            part: Part::Whole,
            piece: Piece {
                line,
                bytes: start..end,
                range: 0..0,
            },
        })
    }

    /// The value that starts here breaks after `len` bytes, or the stream ends there.
    fn recover(&mut self, len: usize, at_end: bool) -> io::Result<Span> {
        let cut = match (self.buffer.peek(0)?, at_end) {
            // `[INFO] …` is a line of text.
            (Some(b'['), _) => Cut::Text,
            (_, true) => Cut::Unfinished,
            (_, false) => Cut::Broken,
        };
        let scanned = self.buffer.unread().get(..len).unwrap_or_default();
        let Some(first_line) = memchr::memchr(b'\n', scanned) else {
            return self.broken_line(cut, len);
        };
        self.rescanned += (len - first_line) as u64;
        let next = if self.affordable() > 0 {
            next_start(scanned, first_line, self.buffer.indent())
        } else {
            None
        };
        let end = match next {
            Some(next) => next,
            None if at_end => len,
            // Go on with the line in which it broke.
            None => memchr::memrchr(b'\n', scanned).unwrap_or(len),
        };
        Ok(self.take(cut.before(end < len), end.max(1)))
    }

    /// A broken value within one line: up to a record later in the line, or the whole line.
    fn broken_line(&mut self, cut: Cut, len: usize) -> io::Result<Span> {
        // A record that holds a whole run, cut off: what is in it is no record of its own.
        let scanned = self.buffer.unread();
        let breaks_off = matches!(scanned.get(len), None | Some(b'\n' | b'\r'));
        if breaks_off && self.affordable() > 0 {
            let whole = intact::is_one_record(scanned.get(..len).unwrap_or_default());
            self.rescanned += len as u64;
            if whole {
                return Ok(self.take(cut, len));
            }
        }
        if self.document.is_some() {
            self.rescanned += len as u64;
            let length = self.rest_of_line(len)?;
            let length = self.up_to_item(length);
            return Ok(self.take(cut, length));
        }
        let end = self.buffer.line_feed(len, self.max_record)?;
        let unread = self.buffer.unread();
        if end.is_none() && unread.len() >= self.max_record {
            return self.skip_record();
        }
        let length = end.unwrap_or(unread.len());
        let line = unread.get(..length).unwrap_or_default();
        let (cut, len) = match record_inside(line) {
            Some(start) => (cut.before(true), start),
            None => (cut, line.trim_ascii_end().len().max(1)),
        };
        Ok(self.take(cut, len))
    }

    /// A whole line, without its end.
    fn line_as_it_is(&mut self) -> io::Result<Option<Span>> {
        if self.verbatim == Verbatim::Behind {
            if self.buffer.peek(0)? == Some(b'\r') {
                self.buffer.skip(b'\r');
            }
            if self.buffer.peek(0)? == Some(b'\n') {
                self.buffer.skip(b'\n');
            }
            self.verbatim = Verbatim::Line;
        }
        if self.buffer.peek(0)?.is_none() {
            return Ok(None);
        }
        let end = self.buffer.line_feed(0, MAX_TEXT)?;
        let unread = self.buffer.unread();
        let length = match end {
            Some(end) => end,
            None if unread.len() > MAX_TEXT => between_characters(unread, MAX_TEXT),
            None => unread.len(),
        };
        let line = unread.get(..length).unwrap_or_default();
        let crlf = end.is_some() && line.last() == Some(&b'\r');
        if end.is_some() || self.buffer.at_end() {
            self.verbatim = Verbatim::Behind;
        }
        if crlf {
            self.oddities.crlf.get_or_insert(self.buffer.line());
        }
        Ok(Some(self.take(Cut::Text, length - usize::from(crlf))))
    }

    /// A line of text, or the text before a record on the same line.
    fn text(&mut self) -> io::Result<Span> {
        let end = self.buffer.line_feed(0, MAX_TEXT)?;
        let unread = self.buffer.unread();
        let len = end.unwrap_or_else(|| unread.len().min(MAX_TEXT));
        let line = unread.get(..len).unwrap_or_default();
        let crlf = end.is_some() && line.last() == Some(&b'\r');
        let len = match record_inside(line) {
            Some(start) => start,
            None if end.is_none() && len == MAX_TEXT => between_characters(unread, len),
            None => line.trim_ascii_end().len().max(1),
        };
        if crlf {
            self.oddities.crlf.get_or_insert(self.buffer.line());
        }
        Ok(self.take(Cut::Text, len))
    }
}

impl Cut {
    /// What it is when something follows it: then it is not what the end of the stream cut off.
    fn before(self, something: bool) -> Self {
        match self {
            Self::Unfinished if something => Self::Broken,
            cut => cut,
        }
    }
}

/// The last place at or before `at` where a UTF-8 character begins.
fn between_characters(bytes: &[u8], at: usize) -> usize {
    let continues = |at: &usize| bytes.get(*at).is_some_and(|byte| byte & 0xc0 == 0x80);
    (at.saturating_sub(3)..=at)
        .rev()
        .find(|at| !continues(at))
        .unwrap_or(at)
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

mod parts;
#[cfg(test)]
mod tests;
