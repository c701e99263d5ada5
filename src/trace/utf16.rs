//! UTF-16, which some shells write when they redirect output, as UTF-8.

use std::io::{self, Read};

/// How many bytes are converted at a time.
const CHUNK: usize = 64 * 1024;

/// Which byte of a unit comes first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// The low one.
    Little,
    /// The high one.
    Big,
}

/// Converts UTF-16 to UTF-8. A unit without its pair becomes U+FFFD, a single last byte is dropped.
pub(super) struct Utf16<R> {
    inner: R,
    order: Order,
    /// Raw bytes not yet converted: at most a high surrogate and half a unit.
    pending: Vec<u8>,
    out: Vec<u8>,
    at: usize,
    eof: bool,
}

impl<R: Read> Utf16<R> {
    pub(super) fn new(inner: R, order: Order) -> Self {
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
