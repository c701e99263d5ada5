//! Gzip, as far as a hidden command needs it: one member, output bounded.
//!
//! `echo H4sI… | base64 -d | gunzip | sh` hides a command behind DEFLATE (RFC 1951) in a gzip
//! member (RFC 1952). The decoder follows the canonical-code method of Mark Adler's `puff`: codes
//! are counted by length, and a symbol is found bit by bit. Checksums are not looked at: a shell
//! would run what came out before the error too.

/// Longest Huffman code, in bits.
const MAX_BITS: usize = 15;

/// Order in which the lengths of the code-length code are stored.
const LENGTH_ORDER: [usize; 19] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

/// Base length and extra bits of the length symbols from 257.
const LENGTHS: [(usize, u32); 29] = [
    (3, 0),
    (4, 0),
    (5, 0),
    (6, 0),
    (7, 0),
    (8, 0),
    (9, 0),
    (10, 0),
    (11, 1),
    (13, 1),
    (15, 1),
    (17, 1),
    (19, 2),
    (23, 2),
    (27, 2),
    (31, 2),
    (35, 3),
    (43, 3),
    (51, 3),
    (59, 3),
    (67, 4),
    (83, 4),
    (99, 4),
    (115, 4),
    (131, 5),
    (163, 5),
    (195, 5),
    (227, 5),
    (258, 0),
];

/// Base distance and extra bits of the distance symbols.
const DISTANCES: [(usize, u32); 30] = [
    (1, 0),
    (2, 0),
    (3, 0),
    (4, 0),
    (5, 1),
    (7, 1),
    (9, 2),
    (13, 2),
    (17, 3),
    (25, 3),
    (33, 4),
    (49, 4),
    (65, 5),
    (97, 5),
    (129, 6),
    (193, 6),
    (257, 7),
    (385, 7),
    (513, 8),
    (769, 8),
    (1025, 9),
    (1537, 9),
    (2049, 10),
    (3073, 10),
    (4097, 11),
    (6145, 11),
    (8193, 12),
    (12289, 12),
    (16385, 13),
    (24577, 13),
];

/// Unpacks a gzip member into at most `most` bytes; `None` if it is none or too long.
pub(crate) fn gzip(input: &[u8], most: usize) -> Option<Vec<u8>> {
    let [0x1f, 0x8b, 8, flags, _, _, _, _, _, _, rest @ ..] = input else {
        return None;
    };
    let mut rest = rest;
    if flags & 4 != 0 {
        let [low, high, after @ ..] = rest else {
            return None;
        };
        rest = after.get(usize::from(u16::from_le_bytes([*low, *high]))..)?;
    }
    // File name and comment, each ended by a zero.
    for flag in [8, 16] {
        if flags & flag != 0 {
            let end = rest.iter().position(|b| *b == 0)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & 2 != 0 {
        rest = rest.get(2..)?;
    }
    inflate(rest, most)
}

/// Unpacks a DEFLATE stream.
fn inflate(input: &[u8], most: usize) -> Option<Vec<u8>> {
    let mut bits = Bits {
        bytes: input,
        buffer: 0,
        filled: 0,
    };
    let mut out = Vec::new();
    loop {
        let last = bits.take(1)?;
        match bits.take(2)? {
            0 => stored(&mut bits, &mut out)?,
            1 => {
                let mut lengths = [8_u8; 288];
                for (symbol, length) in lengths.iter_mut().enumerate() {
                    *length = match symbol {
                        144..=255 => 9,
                        256..=279 => 7,
                        _ => 8,
                    };
                }
                let literals = Code::new(&lengths);
                block(&mut bits, &literals, &Code::new(&[5; 30]), &mut out, most)?;
            }
            2 => {
                let (literals, distances) = dynamic_codes(&mut bits)?;
                block(&mut bits, &literals, &distances, &mut out, most)?;
            }
            _ => return None,
        }
        if out.len() > most {
            return None;
        }
        if last == 1 {
            return Some(out);
        }
    }
}

/// Bits of a byte string, lowest first.
struct Bits<'b> {
    bytes: &'b [u8],
    buffer: u32,
    filled: u32,
}

impl Bits<'_> {
    /// The next `count` bits, at most 16.
    fn take(&mut self, count: u32) -> Option<usize> {
        while self.filled < count {
            let (first, rest) = self.bytes.split_first()?;
            self.buffer |= u32::from(*first) << self.filled;
            self.filled += 8;
            self.bytes = rest;
        }
        let value = self.buffer & ((1 << count) - 1);
        self.buffer >>= count;
        self.filled -= count;
        usize::try_from(value).ok()
    }
}

/// A canonical Huffman code.
struct Code {
    /// How many codes there are of each length.
    counts: [usize; MAX_BITS + 1],
    /// Symbols in the order of their codes.
    symbols: Vec<usize>,
}

impl Code {
    fn new(lengths: &[u8]) -> Self {
        let mut counts = [0; MAX_BITS + 1];
        for length in lengths {
            if let Some(count) = counts.get_mut(usize::from(*length)) {
                *count += 1;
            }
        }
        if let Some(unused) = counts.first_mut() {
            *unused = 0;
        }
        let mut order: Vec<(u8, usize)> = lengths
            .iter()
            .copied()
            .zip(0..)
            .filter(|(length, _)| *length > 0)
            .collect();
        order.sort_unstable();
        Self {
            counts,
            symbols: order.into_iter().map(|(_, symbol)| symbol).collect(),
        }
    }

    /// Reads one symbol.
    fn read(&self, bits: &mut Bits<'_>) -> Option<usize> {
        let (mut code, mut first, mut index) = (0_usize, 0_usize, 0_usize);
        for count in self.counts.iter().skip(1) {
            code |= bits.take(1)?;
            if let Some(offset) = code.checked_sub(first).filter(|offset| offset < count) {
                return self.symbols.get(index + offset).copied();
            }
            index += count;
            first = (first + count) << 1;
            code <<= 1;
        }
        None
    }
}

fn stored(bits: &mut Bits<'_>, out: &mut Vec<u8>) -> Option<()> {
    bits.buffer = 0;
    bits.filled = 0;
    let [low, high, _, _, rest @ ..] = bits.bytes else {
        return None;
    };
    let (content, rest) = rest.split_at_checked(usize::from(u16::from_le_bytes([*low, *high])))?;
    out.extend_from_slice(content);
    bits.bytes = rest;
    Some(())
}

/// Reads the two codes of a block that brings its own.
fn dynamic_codes(bits: &mut Bits<'_>) -> Option<(Code, Code)> {
    let literals = bits.take(5)? + 257;
    let distances = bits.take(5)? + 1;
    let given = bits.take(4)? + 4;
    let mut lengths = [0_u8; 19];
    for at in LENGTH_ORDER.iter().take(given) {
        *lengths.get_mut(*at)? = u8::try_from(bits.take(3)?).ok()?;
    }
    let code = Code::new(&lengths);
    let mut lengths: Vec<u8> = Vec::new();
    while lengths.len() < literals + distances {
        let (value, repeat) = match code.read(bits)? {
            16 => (*lengths.last()?, 3 + bits.take(2)?),
            17 => (0, 3 + bits.take(3)?),
            18 => (0, 11 + bits.take(7)?),
            length => (u8::try_from(length).ok()?, 1),
        };
        lengths.extend(std::iter::repeat_n(value, repeat));
    }
    let (first, second) = lengths.split_at_checked(literals)?;
    Some((Code::new(first), Code::new(second.get(..distances)?)))
}

/// Unpacks one compressed block.
fn block(
    bits: &mut Bits<'_>,
    literals: &Code,
    distances: &Code,
    out: &mut Vec<u8>,
    most: usize,
) -> Option<()> {
    loop {
        let symbol = literals.read(bits)?;
        if symbol < 256 {
            out.push(u8::try_from(symbol).ok()?);
        } else if symbol == 256 {
            return Some(());
        } else {
            let (base, extra) = LENGTHS.get(symbol - 257)?;
            let length = base + bits.take(*extra)?;
            let (base, extra) = DISTANCES.get(distances.read(bits)?)?;
            let start = out.len().checked_sub(base + bits.take(*extra)?)?;
            for at in start..start + length {
                out.push(*out.get(at)?);
            }
        }
        if out.len() > most {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::codec::base64;
    use super::*;
    use proptest::prelude::*;

    fn unpacked(packed: &str) -> Option<String> {
        let bytes = base64(packed.as_bytes(), 1 << 20)?;
        gzip(&bytes, 1 << 20).map(|bytes| String::from_utf8(bytes).unwrap())
    }

    #[test]
    fn members_of_all_block_types_are_unpacked() {
        assert_eq!(
            unpacked("H4sIAAAAAAAAAwERAO7/Z2l0IHNob3cgOWFjNGUxN2TgC8XdEQAAAA==").as_deref(),
            Some("git show 9ac4e17d")
        );
        assert_eq!(
            unpacked("H4sIAAAAAAAAA0vPLFEozsgvV7BMTDZJNTRPAQDgC8XdEQAAAA==").as_deref(),
            Some("git show 9ac4e17d")
        );
        let named = "H4sICAAAAAAAA3J1bi5zaABLzyxRKM7IL1ewTEw2STU0TwEA4AvF3REAAAA=";
        assert_eq!(unpacked(named).as_deref(), Some("git show 9ac4e17d"));
        // A block with its own codes and matches at several distances.
        let dynamic = "H4sIAAAAAAAAA11TW46DMAy8CkeInfDIcRBldysBrSjsam9fk7EN6lcSxx6PZ5Jh6udnbKvfftrHrno9+yXKMk5fEpzH/rWvowSm/v+xbzFU3+v9FutqOMqIkZhQLbfruO3rknGdEeak1an6u9+2H8HFmbJtWuB0Ws+tbmJTLkCr0Wywo1ioSGpZGu81PKZ9XpiVk0O1IMV0NkUqBUxtpdJU55YemoIupyChcKhLYfKpFdjHcCA2aMs5eRJ4kjpA9ac46eICZtRBGniRy+LAVDhxhNZs5Dh/CCQeGm52CsgVDhdpYzTPD+BwynkcyY5ZYbsLD1FIbNAXVTBM+/MJAAU2k4FEGE50XdjNwODswpD3Lk1UHzLDg0rh7jWmPYynhO7B3SJU6uszIOMsghiwEiIQoouiZepWOzdXIRmXGmQnY89bNqVKPpd/OpWFTW39f/wGLjk5Wb0DAAA=";
        let text = unpacked(dynamic).unwrap();
        assert_eq!(text.len(), 957);
        assert!(text.starts_with("clamp37 value8 span38 self37 m"), "{text}");
        assert!(text.ends_with("out30 column32 return35 clamp2"), "{text}");
        assert_eq!(text.bytes().map(u64::from).sum::<u64>(), 82534);
    }

    #[test]
    fn what_is_too_long_or_broken_is_refused() {
        let bomb = base64(b"H4sIAAAAAAAAA+3BMQEAAADCoKzrX8IaHkABAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAArwaH+uIboIYBAA==", 1 << 20).unwrap();
        assert_eq!(gzip(&bomb, 1 << 20).map(|b| b.len()), Some(100_000));
        assert_eq!(gzip(&bomb, 99_999), None);
        for length in 0..bomb.len().min(60) {
            assert_eq!(gzip(&bomb[..length], 1 << 20), None);
        }
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = inflate(&bytes, 1 << 16);
        }
    }
}
