//! From a file to UTF-8 bytes: digest, container, encoding.
//!
//! Everything below this module sees one stream of (nearly) UTF-8 bytes. Three layers, in this order:
//! the SHA-256 of the bytes as they lie on disk, the [`container`] (recognised by its
//! first bytes, never by a name), and [UTF-16](super::utf16).

use std::cell::RefCell;
use std::io::{self, BufReader, Read};
use std::rc::Rc;

use sha2::{Digest, Sha256};

use super::container::{self, Container};
use super::problem::Problem;
use super::utf16::{Order, Utf16};

/// How many bytes are looked at to tell container and encoding.
const HEAD: usize = 512;
/// Containers inside containers that are opened.
const MAX_NESTED: usize = 2;
/// What was wrong with a container, known only when it was read.
pub(crate) type Trouble = Rc<RefCell<Vec<Problem>>>;

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
        crate::digest::hex(&self.sha.clone().finalize())
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

/// A file as text.
pub(crate) struct Opened<'r> {
    /// UTF-8, nearly.
    pub(crate) text: Box<dyn Read + 'r>,
    /// What was noticed at its start.
    pub(crate) noticed: Option<Problem>,
    /// What goes wrong while it is unpacked.
    pub(crate) trouble: Trouble,
}

/// Looks at the head of a stream and returns it as UTF-8 text.
///
/// # Errors
/// When the stream itself cannot be read. What is wrong with its content is a problem, no error.
pub(crate) fn open<'r>(raw: impl Read + 'r) -> io::Result<Opened<'r>> {
    let trouble = Trouble::default();
    let mut stream: Box<dyn Read + 'r> = Box::new(raw);
    for nested in 0.. {
        let head;
        (head, stream) = with_head(stream)?;
        let kind = container::of(&head);
        let problem = match kind {
            Some(Container::Packed(packed)) if nested < MAX_NESTED => {
                let source = BufReader::new(stream);
                stream = container::unpack(packed, source, Rc::clone(&trouble));
                continue;
            }
            Some(Container::Packed(packed)) => Problem::Container(packed.name()),
            Some(Container::Closed(name)) => Problem::Container(name),
            None => {
                let (encoding, noticed) = encoding(&head);
                return Ok(Opened {
                    text: match encoding {
                        Encoding::Utf8 => stream,
                        Encoding::Utf16(order) => Box::new(Utf16::new(stream, order)),
                    },
                    noticed,
                    trouble,
                });
            }
        };
        return Ok(Opened {
            text: Box::new(io::empty()),
            noticed: Some(problem),
            trouble,
        });
    }
    // Not reached: the loop ends in its third round.
    Err(io::ErrorKind::InvalidData.into())
}

/// The first bytes of a stream, and the stream with them in front again.
fn with_head<'r>(mut raw: Box<dyn Read + 'r>) -> io::Result<(Vec<u8>, Box<dyn Read + 'r>)> {
    let mut head = Vec::with_capacity(HEAD);
    raw.by_ref().take(HEAD as u64).read_to_end(&mut head)?;
    let stream = io::Cursor::new(head.clone()).chain(raw);
    Ok((head, Box::new(stream)))
}

/// The first bytes of a file as text, after unpacking; fewer where something is wrong with it.
pub(crate) fn head_of(raw: impl Read, bytes: u64) -> io::Result<Vec<u8>> {
    let mut head = Vec::new();
    open(raw)?.text.take(bytes).read_to_end(&mut head)?;
    Ok(head)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn read_all(bytes: &[u8]) -> (String, Option<Problem>) {
        let mut opened = open(bytes).unwrap();
        let mut out = Vec::new();
        opened.text.read_to_end(&mut out).unwrap();
        let trouble = opened.trouble.borrow().first().copied();
        (String::from_utf8(out).unwrap(), opened.noticed.or(trouble))
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
            read_all(b"SQLite format 3\0rest").1,
            Some(Problem::Container("an SQLite database"))
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
