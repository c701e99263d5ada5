//! Cuts a JSON file into its rows without reading it whole.
//!
//! A list or a map is not parsed but scanned for the end of each element, which strings and brackets
//! give away; the elements are parsed one by one. So a bad element costs only itself.

use std::io::{self, BufRead};

use super::row::Row;
use super::{Item, MAX_ROW_BYTES};

/// Bytes with a count of lines.
pub(super) struct Source<R> {
    input: R,
    line: u64,
    /// The element that was read last.
    element: Vec<u8>,
    max: usize,
}

/// What came of reading an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Read {
    Whole,
    TooLong,
    CutOff,
}

type Sink<'a> = &'a mut dyn FnMut(Item);

impl<R: BufRead> Source<R> {
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            line: 1,
            element: Vec::new(),
            max: MAX_ROW_BYTES,
        }
    }

    fn peek(&mut self) -> io::Result<Option<u8>> {
        loop {
            match self.input.fill_buf() {
                Ok(buffer) => return Ok(buffer.first().copied()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    fn skip_one(&mut self, byte: u8) {
        self.line += u64::from(byte == b'\n');
        self.input.consume(1);
    }

    /// Passes over white space and, at the very beginning, a byte order mark.
    fn skip_space(&mut self) -> io::Result<Option<u8>> {
        while let Some(byte) = self.peek()? {
            if !(byte.is_ascii_whitespace() || matches!(byte, 0xef | 0xbb | 0xbf)) {
                return Ok(Some(byte));
            }
            self.skip_one(byte);
        }
        Ok(None)
    }

    /// Reads a line, without its end, into `element`; `None` at the end.
    fn next_line(&mut self) -> io::Result<Option<Read>> {
        self.element.clear();
        let mut read = Read::Whole;
        let mut any = false;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                return Ok(any.then_some(read));
            }
            any = true;
            let end = memchr::memchr(b'\n', buffer);
            let part = buffer.get(..end.unwrap_or(buffer.len())).unwrap_or(buffer);
            if self.element.len() + part.len() > self.max {
                read = Read::TooLong;
                self.element.clear();
            }
            if read == Read::Whole {
                self.element.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.input.consume(used);
            if end.is_some() {
                self.line += 1;
                return Ok(Some(read));
            }
        }
    }

    /// Reads a JSON value into `element`: up to where its brackets and quotes close.
    fn next_value(&mut self) -> io::Result<Read> {
        self.element.clear();
        let mut scan = Scan::default();
        let mut read = Read::Whole;
        loop {
            let buffer = match self.input.fill_buf() {
                Ok(buffer) => buffer,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            if buffer.is_empty() {
                // A bare word may end with the file.
                let whole = scan.bare && scan.depth == 0 && !scan.in_string;
                return Ok(if whole { read } else { Read::CutOff });
            }
            let (used, done) = scan.take(buffer);
            let part = buffer.get(..used).unwrap_or(buffer);
            self.line += u64::try_from(memchr::memchr_iter(b'\n', part).count()).unwrap_or(0);
            if self.element.len() + part.len() > self.max {
                read = Read::TooLong;
                self.element.clear();
            }
            if read == Read::Whole {
                self.element.extend_from_slice(part);
            }
            self.input.consume(used);
            if done {
                return Ok(read);
            }
        }
    }

    fn hand_on(&self, line: u64, read: Read, key: Option<&str>, sink: Sink<'_>) {
        let row = match read {
            Read::Whole => Row::from_json(&self.element, key),
            Read::TooLong => Err(format!("a row of more than {} MiB", self.max >> 20)),
            Read::CutOff => Err("broken JSON: the file ends inside a row".to_owned()),
        };
        sink(Item { line, row });
    }

    fn broken(&self, sink: Sink<'_>, what: &str) {
        sink(Item {
            line: self.line,
            row: Err(format!(
                "broken JSON: {what}; the rest of the file is not read"
            )),
        });
    }
}

/// Finds the end of a value.
#[derive(Debug, Default)]
struct Scan {
    depth: u64,
    in_string: bool,
    escaped: bool,
    /// The value is a number, `true`, `null` or garbage, which only the next mark ends.
    bare: bool,
}

impl Scan {
    /// How many bytes belong to the value, and whether it is complete.
    fn take(&mut self, buffer: &[u8]) -> (usize, bool) {
        let mut at = 0;
        while let Some(byte) = buffer.get(at) {
            if self.in_string {
                if self.escaped {
                    self.escaped = false;
                    at += 1;
                    continue;
                }
                let rest = buffer.get(at..).unwrap_or_default();
                let Some(next) = memchr::memchr2(b'"', b'\\', rest) else {
                    return (buffer.len(), false);
                };
                at += next + 1;
                if rest.get(next) == Some(&b'\\') {
                    self.escaped = true;
                } else {
                    self.in_string = false;
                    if self.depth == 0 && !self.bare {
                        return (at, true);
                    }
                }
                continue;
            }
            match byte {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth += 1,
                // Only at the top of a bare word: the end of what the value stands in.
                b'}' | b']' if self.depth == 0 => return (at, true),
                b'}' | b']' => {
                    self.depth -= 1;
                    if self.depth == 0 && !self.bare {
                        return (at + 1, true);
                    }
                }
                b',' if self.depth == 0 => return (at, true),
                byte if self.depth == 0 && byte.is_ascii_whitespace() => return (at, true),
                _ if self.depth == 0 => self.bare = true,
                _ => {}
            }
            at += 1;
        }
        (buffer.len(), false)
    }
}

/// One row a line. A line may be a map from ids to rows, too.
pub(super) fn lines<R: BufRead>(source: &mut Source<R>, sink: Sink<'_>) -> io::Result<()> {
    loop {
        let line = source.line;
        let Some(read) = source.next_line()? else {
            return Ok(());
        };
        let mut text = source.element.as_slice();
        if line == 1 {
            text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        }
        if read == Read::Whole {
            if !text.trim_ascii().is_empty() {
                sink(Item {
                    line,
                    row: Row::from_json(text, None),
                });
            }
        } else {
            source.hand_on(line, read, None, sink);
        }
    }
}

/// A list of rows.
pub(super) fn list<R: BufRead>(source: &mut Source<R>, sink: Sink<'_>) -> io::Result<()> {
    if let Some(byte) = source.skip_space()? {
        source.skip_one(byte);
    }
    loop {
        match source.skip_space()? {
            None => {
                source.broken(sink, "the list does not end");
                return Ok(());
            }
            Some(b']') => return Ok(()),
            Some(_) => {}
        }
        let line = source.line;
        let read = source.next_value()?;
        source.hand_on(line, read, None, sink);
        if read == Read::CutOff || !comma(source, b']', sink)? {
            return Ok(());
        }
    }
}

/// An object with a row for each id.
pub(super) fn map<R: BufRead>(source: &mut Source<R>, sink: Sink<'_>) -> io::Result<()> {
    if let Some(byte) = source.skip_space()? {
        source.skip_one(byte);
    }
    loop {
        match source.skip_space()? {
            Some(b'"') => {}
            Some(b'}') => return Ok(()),
            other => {
                let what = other.map_or(
                    "the object does not end",
                    |_| "an id in quotes was expected",
                );
                source.broken(sink, what);
                return Ok(());
            }
        }
        let line = source.line;
        let read = source.next_value()?;
        let key: Option<String> = (read == Read::Whole)
            .then(|| serde_json::from_slice(&source.element).ok())
            .flatten();
        if source.skip_space()? != Some(b':') {
            source.broken(sink, "a colon was expected");
            return Ok(());
        }
        source.skip_one(b':');
        source.skip_space()?;
        let read = source.next_value()?;
        match key {
            Some(key) => source.hand_on(line, read, Some(&key), sink),
            None => sink(Item {
                line,
                row: Err("an id that is no text".to_owned()),
            }),
        }
        if read == Read::CutOff || !comma(source, b'}', sink)? {
            return Ok(());
        }
    }
}

/// Passes over the comma behind an element; false when no element follows.
fn comma<R: BufRead>(source: &mut Source<R>, end: u8, sink: Sink<'_>) -> io::Result<bool> {
    match source.skip_space()? {
        Some(b',') => {
            source.skip_one(b',');
            Ok(true)
        }
        Some(byte) if byte == end => Ok(false),
        _ => {
            source.broken(sink, "a comma or the end was expected");
            Ok(false)
        }
    }
}

/// Objects one after the other, each over several lines.
pub(super) fn objects<R: BufRead>(source: &mut Source<R>, sink: Sink<'_>) -> io::Result<()> {
    while source.skip_space()?.is_some() {
        let line = source.line;
        let read = source.next_value()?;
        if source.element.is_empty() && read == Read::Whole {
            source.broken(sink, "an object was expected");
            return Ok(());
        }
        source.hand_on(line, read, None, sink);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn short(text: &str) -> Vec<(u64, bool)> {
        let mut source = Source::new(io::BufReader::with_capacity(3, text.as_bytes()));
        source.max = 40;
        let mut out = Vec::new();
        lines(&mut source, &mut |item| {
            out.push((item.line, item.row.is_ok()))
        })
        .unwrap();
        out
    }

    #[test]
    fn too_long_rows_are_passed_over() {
        let row = r#"{"instance_id": "a"}"#;
        let long = format!(r#"{{"instance_id": "a", "x": "{}"}}"#, "y".repeat(50));
        assert_eq!(
            short(&format!("{row}\n{long}\n{row}")),
            [(1, true), (2, false), (3, true)]
        );
        let mut source = Source::new(format!("[{row},{long},{row}]").into_bytes().leak() as &[u8]);
        source.max = 40;
        let mut out = Vec::new();
        list(&mut source, &mut |item| out.push(item.row.is_ok())).unwrap();
        assert_eq!(out, [true, false, true]);
    }

    proptest! {
        /// Where the buffers end makes no difference.
        #[test]
        fn any_buffer_size(size in 1usize..40, text in "[\\[\\]{}\",:\\\\a\n ]{0,60}") {
            for shape in 0..4 {
                let with = |size: usize| {
                    let mut source = Source::new(io::BufReader::with_capacity(size, text.as_bytes()));
                    let mut out = Vec::new();
                    let sink = &mut |item: Item| out.push((item.line, item.row.map(|r| r.id)));
                    match shape {
                        0 => lines(&mut source, sink),
                        1 => list(&mut source, sink),
                        2 => map(&mut source, sink),
                        _ => objects(&mut source, sink),
                    }
                    .unwrap();
                    out
                };
                prop_assert_eq!(with(size), with(1000));
            }
        }
    }
}
