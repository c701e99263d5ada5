//! Comma-separated values, strictly.
//!
//! The usual readers are lenient: a quote that is never closed swallows the rest of the file into one
//! field, and hundreds of runs vanish without a word. Here every fault is an error with its line.
//! Inside is RFC 4180 with the liberties that real files take: any line end, a byte-order mark, blank
//! lines, a quote inside an unquoted field. Fields are bytes; only those that are used must be UTF-8.

use std::io::BufRead;

/// Largest field, in bytes.
pub(super) const MAX_FIELD: usize = 1 << 20;
/// Most fields in a record.
pub(super) const MAX_FIELDS: usize = 4096;

/// One record and the line on which it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Record {
    /// 1-based.
    pub(super) line: u64,
    /// The fields, unquoted.
    pub(super) fields: Vec<Vec<u8>>,
}

/// Why a record could not be read.
#[derive(Debug)]
pub(super) enum Fault {
    /// The input failed.
    Io(std::io::Error),
    /// The text is broken: the line, and what is wrong with it.
    Text(u64, String),
}

/// Reads records one after the other.
pub(super) struct Reader<R> {
    input: R,
    delimiter: u8,
    line: u64,
    started: bool,
}

#[derive(PartialEq, Eq)]
enum State {
    FieldStart,
    Plain,
    Quoted,
    QuoteInQuoted,
}

impl<R: BufRead> Reader<R> {
    /// A reader; the delimiter is decided by the first line.
    pub(super) fn new(input: R) -> Self {
        Self {
            input,
            delimiter: b',',
            line: 1,
            started: false,
        }
    }

    /// The next record that is not a blank line; `None` at the end.
    pub(super) fn next(&mut self) -> Result<Option<Record>, Fault> {
        if !self.started {
            self.started = true;
            self.begin()?;
        }
        loop {
            match self.record()? {
                None => return Ok(None),
                Some(Record { fields, .. })
                    if fields.iter().all(Vec::is_empty) && fields.len() == 1 => {}
                record => return Ok(record),
            }
        }
    }

    /// Takes off a byte-order mark and finds the delimiter in what is buffered of the first line.
    fn begin(&mut self) -> Result<(), Fault> {
        let buffer = self.input.fill_buf().map_err(Fault::Io)?;
        if buffer.starts_with(&[0xFF, 0xFE]) || buffer.starts_with(&[0xFE, 0xFF]) {
            return Err(Fault::Text(1, "is UTF-16".into()));
        }
        let mark: &[u8] = b"\xEF\xBB\xBF";
        let skip = if buffer.starts_with(mark) {
            mark.len()
        } else {
            0
        };
        let line = buffer
            .split(|b| matches!(b, b'\n' | b'\r'))
            .next()
            .unwrap_or_default();
        let count = |d: u8| line.iter().filter(|b| **b == d).count();
        if count(b',') == 0 {
            if count(b'\t') > 0 {
                self.delimiter = b'\t';
            } else if count(b';') > 0 {
                self.delimiter = b';';
            }
        }
        self.input.consume(skip);
        Ok(())
    }

    fn byte(&mut self) -> Result<Option<u8>, Fault> {
        loop {
            match self.input.fill_buf() {
                Ok(buffer) => {
                    let byte = buffer.first().copied();
                    if byte.is_some() {
                        self.input.consume(1);
                    }
                    return Ok(byte);
                }
                Err(e) if e.kind() == std::io::ErrorKind::Interrupted => {}
                Err(e) => return Err(Fault::Io(e)),
            }
        }
    }

    /// Consumes the `\n` of a `\r\n`.
    fn line_feed(&mut self) -> Result<(), Fault> {
        if self.input.fill_buf().map_err(Fault::Io)?.first() == Some(&b'\n') {
            self.input.consume(1);
        }
        Ok(())
    }

    fn record(&mut self) -> Result<Option<Record>, Fault> {
        let line = self.line;
        let (mut fields, mut field) = (Vec::new(), Vec::new());
        let mut state = State::FieldStart;
        let mut quoted_from = line;
        let mut empty = true;
        loop {
            let Some(byte) = self.byte()? else {
                if state == State::Quoted {
                    let what = "opens a quote that is never closed";
                    return Err(Fault::Text(quoted_from, what.into()));
                }
                if empty {
                    return Ok(None);
                }
                fields.push(field);
                return Ok(Some(Record { line, fields }));
            };
            empty = false;
            match (&state, byte) {
                (State::Quoted, b'"') => state = State::QuoteInQuoted,
                (State::Quoted, _) => {
                    self.line += u64::from(byte == b'\n');
                    field.push(byte);
                }
                (State::QuoteInQuoted, b'"') => {
                    field.push(byte);
                    state = State::Quoted;
                }
                (State::FieldStart, b'"') => {
                    quoted_from = self.line;
                    state = State::Quoted;
                }
                (_, b'\r' | b'\n') => {
                    if byte == b'\r' {
                        self.line_feed()?;
                    }
                    self.line += 1;
                    fields.push(field);
                    return Ok(Some(Record { line, fields }));
                }
                (_, _) if byte == self.delimiter => {
                    fields.push(std::mem::take(&mut field));
                    state = State::FieldStart;
                }
                (State::QuoteInQuoted, _) => {
                    return Err(Fault::Text(
                        self.line,
                        "has text after a closing quote".into(),
                    ));
                }
                (State::FieldStart | State::Plain, _) => {
                    field.push(byte);
                    state = State::Plain;
                }
            }
            if field.len() > MAX_FIELD {
                return Err(Fault::Text(
                    line,
                    format!("has a field of more than {MAX_FIELD} bytes"),
                ));
            }
            if fields.len() >= MAX_FIELDS {
                return Err(Fault::Text(
                    line,
                    format!("has more than {MAX_FIELDS} fields"),
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn all(text: &[u8]) -> Result<Vec<(u64, Vec<String>)>, String> {
        // A tiny buffer, so that every refill happens.
        let mut reader = Reader::new(std::io::BufReader::with_capacity(64, text));
        let mut out = Vec::new();
        loop {
            match reader.next() {
                Ok(None) => return Ok(out),
                Ok(Some(r)) => {
                    let fields = r
                        .fields
                        .iter()
                        .map(|f| String::from_utf8_lossy(f).into())
                        .collect();
                    out.push((r.line, fields));
                }
                Err(Fault::Text(line, what)) => return Err(format!("{line}: {what}")),
                Err(Fault::Io(e)) => return Err(e.to_string()),
            }
        }
    }

    #[test]
    fn reads_what_real_files_hold() {
        let row = |line: u64, fields: &[&str]| {
            (
                line,
                fields.iter().map(|s| s.to_string()).collect::<Vec<_>>(),
            )
        };
        for (text, rows) in [
            ("", vec![]),
            ("\n\r\n", vec![]),
            (
                "a,b\r\n1,2\r\n",
                vec![row(1, &["a", "b"]), row(2, &["1", "2"])],
            ),
            ("a,b\r1,2", vec![row(1, &["a", "b"]), row(2, &["1", "2"])]),
            (
                "\u{feff}a,b\n\n1,",
                vec![row(1, &["a", "b"]), row(3, &["1", ""])],
            ),
            (
                "\"a,\"\"x\"\"\ny\",b\nc,d\n",
                vec![row(1, &["a,\"x\"\ny", "b"]), row(3, &["c", "d"])],
            ),
            ("5\" disk,b\n", vec![row(1, &["5\" disk", "b"])]),
            ("a\tb,c\n", vec![row(1, &["a\tb", "c"])]),
            (
                "a\tb\n1\t2,5\n",
                vec![row(1, &["a", "b"]), row(2, &["1", "2,5"])],
            ),
            (
                "a;b\n1;2,5\n",
                vec![row(1, &["a", "b"]), row(2, &["1", "2,5"])],
            ),
            ("a\n\"\"\n\"x\"", vec![row(1, &["a"]), row(3, &["x"])]),
        ] {
            assert_eq!(all(text.as_bytes()), Ok(rows), "{text:?}");
        }
    }

    #[test]
    fn faults_have_their_line() {
        for (text, message) in [
            (
                "a,b\nx,\"1\ny,2\nz,3\n",
                "2: opens a quote that is never closed",
            ),
            ("a,b\n\"x\"y,2\n", "2: has text after a closing quote"),
        ] {
            assert_eq!(all(text.as_bytes()), Err(message.into()), "{text:?}");
        }
        assert_eq!(all(&[0xFF, 0xFE, b'a', 0]), Err("1: is UTF-16".into()));
        assert!(
            all(&vec![b'x'; MAX_FIELD + 2])
                .unwrap_err()
                .starts_with("1: has a field of more")
        );
        assert!(
            all(&vec![b','; MAX_FIELDS + 2])
                .unwrap_err()
                .starts_with("1: has more than")
        );
    }

    proptest! {
        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = all(&bytes);
        }

        #[test]
        fn reads_back_what_was_quoted(rows in proptest::collection::vec(
            proptest::collection::vec("[a\",\n\r;é ]{0,5}", 2..4), 1..6)
        ) {
            let text: String = rows.iter().map(|row| {
                let cells: Vec<String> = row.iter().map(|c| format!("\"{}\"", c.replace('"', "\"\""))).collect();
                cells.join(",") + "\n"
            }).collect();
            // The first line decides on the delimiter, so it must show a comma.
            let text = format!("h,h\n{text}");
            let got: Vec<Vec<String>> = all(text.as_bytes()).unwrap().into_iter().skip(1).map(|r| r.1).collect();
            prop_assert_eq!(got, rows);
        }
    }
}
