//! From a file to UTF-8 bytes: digest, container, encoding.
//!
//! Everything below this module sees one stream of (nearly) UTF-8 bytes. Three layers, in this order:
//! the SHA-256 of the bytes as they lie on disk, the container (`.gz`, `.zst` … are recognised by their
//! first bytes; a decoder for one is one more arm in [`open`]), and UTF-16, which some shells write when
//! they redirect output.

use std::io::{self, Read};

use sha2::{Digest, Sha256};

use super::problem::Problem;

/// How many bytes are looked at to tell container and encoding.
const HEAD: usize = 512;
/// How many bytes are converted at a time.
const CHUNK: usize = 64 * 1024;

/// Counts and digests the raw bytes that pass.
pub(crate) struct Digesting<R> {
    inner: R,
    sha: Sha256,
    /// Bytes read so far.
    pub(crate) bytes: u64,
}

impl<R: Read> Digesting<R> {
    pub(crate) fn new(inner: R) -> Self {
        Self {
            inner,
            sha: Sha256::new(),
            bytes: 0,
        }
    }

    /// The digest, in lower-case hexadecimal.
    pub(crate) fn hex(&self) -> String {
        use std::fmt::Write as _;
        let mut out = String::with_capacity(64);
        for byte in self.sha.clone().finalize() {
            // Writing to a string cannot fail.
            let _ = write!(out, "{byte:02x}");
        }
        out
    }
}

impl<R: Read> Read for Digesting<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buf)?;
        if let Some(bytes) = buf.get(..count) {
            self.sha.update(bytes);
            self.bytes += count as u64;
        }
        Ok(count)
    }
}

/// What the first bytes say.
pub(crate) enum Opened<'r> {
    /// Text, as UTF-8; with what was noticed about its encoding.
    Text(Box<dyn Read + 'r>, Option<Problem>),
    /// Bytes that this version cannot read as text.
    Closed(Problem),
}

/// Looks at the head of a stream and returns it as UTF-8 text.
pub(crate) fn open<'r>(mut raw: impl Read + 'r) -> io::Result<Opened<'r>> {
    let mut head = vec![0; HEAD];
    let mut filled = 0;
    while let Some(rest) = head.get_mut(filled..).filter(|rest| !rest.is_empty()) {
        match raw.read(rest) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    head.truncate(filled);
    if let Some(problem) = container(&head) {
        return Ok(Opened::Closed(problem));
    }
    let (encoding, noticed) = encoding(&head);
    let stream = io::Cursor::new(head).chain(raw);
    Ok(match encoding {
        Encoding::Utf8 => Opened::Text(Box::new(stream), noticed),
        Encoding::Utf16(order) => Opened::Text(Box::new(Utf16::new(stream, order)), noticed),
    })
}

/// Containers by their first bytes.
fn container(head: &[u8]) -> Option<Problem> {
    const MAGIC: [(&[u8], &str); 10] = [
        (b"\x1f\x8b", "gzip"),
        (b"\x28\xb5\x2f\xfd", "Zstandard"),
        (b"PK\x03\x04", "a zip archive"),
        (b"\xfd7zXZ\x00", "xz"),
        (b"BZh", "bzip2"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\x7fELF", "a program"),
        (b"\x89PNG", "an image"),
        (b"%PDF-", "a PDF"),
        (b"\xff\xd8\xff", "an image"),
    ];
    MAGIC
        .iter()
        .find(|(magic, _)| head.starts_with(magic))
        .map(|(_, name)| Problem::Container(name))
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Order {
    Little,
    Big,
}

enum Encoding {
    Utf8,
    Utf16(Order),
}

/// UTF-16 by its byte order mark, or by the zero bytes beside the ASCII characters that start a record.
fn encoding(head: &[u8]) -> (Encoding, Option<Problem>) {
    let order = match head {
        [0xff, 0xfe, ..] => Some(Order::Little),
        [0xfe, 0xff, ..] => Some(Order::Big),
        [1..=0x7f, 0, 1..=0x7f, 0, ..] => Some(Order::Little),
        [0, 1..=0x7f, 0, 1..=0x7f, ..] => Some(Order::Big),
        _ => None,
    };
    match order {
        Some(order) => (Encoding::Utf16(order), Some(Problem::Utf16)),
        None if head.starts_with(b"\xef\xbb\xbf") => (Encoding::Utf8, Some(Problem::ByteOrderMark)),
        None => (Encoding::Utf8, None),
    }
}

/// Converts UTF-16 to UTF-8. A unit without its pair becomes U+FFFD, a single last byte is dropped.
struct Utf16<R> {
    inner: R,
    order: Order,
    /// Raw bytes not yet converted: at most a high surrogate and half a unit.
    pending: Vec<u8>,
    out: Vec<u8>,
    at: usize,
    eof: bool,
}

impl<R: Read> Utf16<R> {
    fn new(inner: R, order: Order) -> Self {
        Self {
            inner,
            order,
            pending: Vec::new(),
            out: Vec::new(),
            at: 0,
            eof: false,
        }
    }

    /// Converts the next chunk into `out`.
    fn refill(&mut self) -> io::Result<()> {
        self.out.clear();
        self.at = 0;
        while self.out.is_empty() && !self.eof {
            let count = (&mut self.inner)
                .take(CHUNK as u64)
                .read_to_end(&mut self.pending)?;
            self.eof = count == 0;
            self.convert();
        }
        Ok(())
    }

    fn convert(&mut self) {
        let mut units: Vec<u16> = self
            .pending
            .as_chunks::<2>()
            .0
            .iter()
            .map(|pair| match self.order {
                Order::Little => u16::from_le_bytes(*pair),
                Order::Big => u16::from_be_bytes(*pair),
            })
            .collect();
        let mut used = units.len() * 2;
        // A high surrogate at the end waits for its other half.
        if !self.eof
            && units
                .last()
                .is_some_and(|unit| (0xd800..0xdc00).contains(unit))
        {
            units.pop();
            used -= 2;
        }
        self.pending.drain(..used);
        let mut bytes = [0; 4];
        for unit in char::decode_utf16(units) {
            let unit = unit.unwrap_or(char::REPLACEMENT_CHARACTER);
            self.out
                .extend_from_slice(unit.encode_utf8(&mut bytes).as_bytes());
        }
    }
}

impl<R: Read> Read for Utf16<R> {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        if self.at >= self.out.len() {
            self.refill()?;
        }
        let count = self.out.get(self.at..).unwrap_or_default().read(buf)?;
        self.at += count;
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> (String, Option<Problem>) {
        match open(bytes).unwrap() {
            Opened::Text(mut text, noticed) => {
                let mut out = Vec::new();
                text.read_to_end(&mut out).unwrap();
                (String::from_utf8(out).unwrap(), noticed)
            }
            Opened::Closed(problem) => (String::new(), Some(problem)),
        }
    }

    fn utf16(text: &str, order: Order, mark: bool) -> Vec<u8> {
        let mark = if mark { "\u{feff}" } else { "" };
        format!("{mark}{text}")
            .encode_utf16()
            .flat_map(|unit| match order {
                Order::Little => unit.to_le_bytes(),
                Order::Big => unit.to_be_bytes(),
            })
            .collect()
    }

    #[test]
    fn utf16_with_and_without_mark() {
        let text = format!(
            "{{\"type\":\"x\",\"text\":\"{}\"}}\n",
            "计算 🎉 é".repeat(20_000)
        );
        for order in [Order::Little, Order::Big] {
            for mark in [false, true] {
                let (got, noticed) = read_all(&utf16(&text, order, mark));
                assert_eq!(got.trim_start_matches('\u{feff}'), text);
                assert_eq!(noticed, Some(Problem::Utf16));
            }
        }
    }

    #[test]
    fn a_lone_surrogate_is_replaced() {
        let mut bytes = utf16("{\"a\":\"", Order::Little, true);
        bytes.extend(0xd83d_u16.to_le_bytes());
        bytes.extend(utf16("\"}", Order::Little, false));
        assert_eq!(read_all(&bytes).0, "\u{feff}{\"a\":\"\u{fffd}\"}");
        bytes.extend(0xd83d_u16.to_le_bytes());
        bytes.push(b'x');
        assert_eq!(read_all(&bytes).0, "\u{feff}{\"a\":\"\u{fffd}\"}\u{fffd}");
    }

    #[test]
    fn utf8_passes_through() {
        for text in ["", "x", "{}\n", "\0\0\0{\"a\":1}\n", "é\n"] {
            assert_eq!(read_all(text.as_bytes()), (text.to_owned(), None));
        }
        let marked = "\u{feff}{}\n";
        assert_eq!(
            read_all(marked.as_bytes()),
            (marked.to_owned(), Some(Problem::ByteOrderMark))
        );
    }

    #[test]
    fn containers_are_named() {
        assert_eq!(
            read_all(b"\x1f\x8b\x08\0rest").1,
            Some(Problem::Container("gzip"))
        );
    }

    #[test]
    fn digest_of_what_was_read() {
        let mut reader = Digesting::new(&b"abc"[..]);
        io::copy(&mut reader, &mut io::sink()).unwrap();
        assert_eq!(
            reader.hex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
        assert_eq!(reader.bytes, 3);
    }
}
