//! Text in the dress of bytes: dumps (`xxd`, `hexdump`, `od`), percent and quoted-printable escapes, base32, uuencode,
//! rot13, and what is packed inside any of them.
//!
//! Such a dress is worn by a whole text or a long part of it. So a few bytes of every [`STRIDE`] are looked at first, and
//! ordinary text is passed over; what is taken for a carrier and is none costs a reading and shows nothing, since only
//! lines of the GT count. Each reading is linear, and its result at most a few times as long as the text.

use std::io::Read;
use std::sync::LazyLock;

use crate::shell::inflate::gzip;

/// Shorter texts carry nothing worth the look.
const MIN_BYTES: usize = 192;

/// A sample is taken every so many bytes.
const STRIDE: usize = 384;

/// Bytes of a sample.
const SAMPLE: usize = 64;

/// Bytes of what a packed block holds that are looked at.
const MAX_UNPACKED: usize = 8 << 20;

/// Bytes of what all packed blocks of a run hold that are looked at.
const MAX_UNPACKED_ALL: usize = 128 << 20;

/// What packed blocks have cost so far.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Unpacked(usize);

/// Bytes of a line of a dump; its text stands behind them.
const MAX_ROW: usize = 64;

/// Samples without a sign between two that have it.
const GAP: usize = 2;

/// Dresses, by what a sample of them looks like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Dress {
    Dump,
    Numbers,
    Spread,
    Percent,
    Quoted,
    Escapes,
    Base32,
    Uu,
    Turned,
}

const DRESSES: [Dress; 9] = [
    Dress::Dump,
    Dress::Numbers,
    Dress::Spread,
    Dress::Percent,
    Dress::Quoted,
    Dress::Escapes,
    Dress::Base32,
    Dress::Uu,
    Dress::Turned,
];

/// What a byte can be. Each is counted in a byte of its own of one number: a sample is shorter than such a byte's
/// range, so all are counted by one addition a byte.
#[derive(Debug, Clone, Copy)]
enum Sign {
    Digit,
    Hex,
    Space,
    Lower,
    Upper,
    /// Signs of lists of numbers.
    Between,
    Base32,
    Uu,
    /// The letters that code has most often, and what rot13 makes of them.
    Often,
    Turned,
    Percent,
    Backslash,
    Equals,
}

impl Sign {
    const fn one(self) -> u128 {
        1 << (8 * self as u32)
    }
}

/// What each byte is.
static SIGNS: LazyLock<[u128; 256]> = LazyLock::new(|| {
    std::array::from_fn(|at| {
        let byte = u8::try_from(at).unwrap_or(0);
        let signs = [
            (Sign::Digit, byte.is_ascii_digit()),
            (Sign::Hex, byte.is_ascii_hexdigit()),
            (Sign::Space, byte.is_ascii_whitespace()),
            (Sign::Lower, byte.is_ascii_lowercase()),
            (Sign::Upper, byte.is_ascii_uppercase()),
            (
                Sign::Between,
                matches!(byte, b',' | b'[' | b']' | b'(' | b')'),
            ),
            (
                Sign::Base32,
                matches!(byte, b'A'..=b'Z' | b'2'..=b'7' | b'\n'),
            ),
            (Sign::Uu, matches!(byte, b' '..=b'`' | b'\n' | b'\r')),
            (
                Sign::Often,
                matches!(byte, b'e' | b't' | b'o' | b'i' | b'n' | b's'),
            ),
            (
                Sign::Turned,
                matches!(byte, b'r' | b'g' | b'b' | b'v' | b'a' | b'f'),
            ),
            (Sign::Percent, byte == b'%'),
            (Sign::Backslash, byte == b'\\'),
            (Sign::Equals, byte == b'='),
        ];
        let those = signs.iter().filter(|(_, is)| *is);
        those.map(|(sign, _)| sign.one()).sum()
    })
});

/// How many bytes of a sample are what.
struct Counts<'s> {
    sample: &'s [u8],
    signs: u128,
}

impl<'s> Counts<'s> {
    fn of(sample: &'s [u8], table: &[u128; 256]) -> Self {
        let signs = |byte: &u8| table.get(usize::from(*byte)).copied().unwrap_or(0);
        Self {
            sample,
            signs: sample.iter().map(signs).sum(),
        }
    }

    fn count(&self, sign: Sign) -> usize {
        usize::from((self.signs >> (8 * sign as u32)) as u8)
    }

    fn wear(&self, dress: Dress) -> bool {
        let (space, digits) = (self.count(Sign::Space), self.count(Sign::Digit));
        let (hex, lower) = (self.count(Sign::Hex), self.count(Sign::Lower));
        let sample = self.sample;
        match dress {
            // The text beside the bytes of a dump is a quarter of it.
            Dress::Dump => {
                let most = (hex + space) * 20 >= SAMPLE * 13;
                hex * 2 >= SAMPLE && most && digits * 2 >= hex && hex > digits
            }
            Dress::Numbers => {
                let list = digits + space + self.count(Sign::Between);
                digits * 3 >= SAMPLE && list >= SAMPLE - 2
            }
            Dress::Spread => {
                let blank = space * 2 >= SAMPLE && lower * 10 >= SAMPLE;
                blank && alone(sample) * 4 >= SAMPLE - space
            }
            Dress::Percent => self.count(Sign::Percent) >= 3 && marks(sample, b"%", is_hex2) >= 3,
            Dress::Escapes => {
                self.count(Sign::Backslash) >= 3 && marks(sample, b"\\x", is_hex2) >= 3
            }
            Dress::Quoted => {
                let mut places = sample.windows(3);
                self.count(Sign::Equals) > 0
                    && places.any(|w| matches!(w, b"=3D" | b"=20" | b"=09"))
            }
            Dress::Base32 => self.count(Sign::Base32) >= SAMPLE - 1,
            Dress::Uu => {
                let letters = self.count(Sign::Upper);
                self.count(Sign::Uu) == SAMPLE && space * 3 < SAMPLE && letters * 6 >= SAMPLE
            }
            Dress::Turned => {
                let (turned, often) = (self.count(Sign::Turned), self.count(Sign::Often));
                lower * 2 >= SAMPLE && turned * 4 > often * 5
            }
        }
    }
}

/// The parts of a text that wear a dress. A single sample says nothing, unless the text has few.
fn worn(text: &str) -> Vec<(Dress, &str)> {
    #[derive(Default, Clone, Copy)]
    struct Part {
        first: usize,
        last: usize,
        hits: usize,
    }
    let few = text.len() < STRIDE * 4;
    let mut out = Vec::new();
    let mut close = |dress: Dress, part: Part| {
        if part.hits >= 2 || few && part.hits == 1 {
            out.push((dress, part_of(text, part.first, part.last)));
        }
    };
    let mut parts = [Part::default(); DRESSES.len()];
    let table = &*SIGNS;
    for (at, chunk) in text.as_bytes().chunks(STRIDE).enumerate() {
        let Some(sample) = chunk.get(..SAMPLE) else {
            break;
        };
        let counts = Counts::of(sample, table);
        for (dress, part) in DRESSES.into_iter().zip(&mut parts) {
            if !counts.wear(dress) {
                continue;
            }
            if part.hits > 0 && at > part.last + 1 + GAP {
                close(dress, *part);
                part.hits = 0;
            }
            if part.hits == 0 {
                part.first = at;
            }
            (part.last, part.hits) = (at, part.hits + 1);
        }
    }
    for (dress, part) in DRESSES.into_iter().zip(parts) {
        close(dress, part);
    }
    out
}

/// The text around samples, in whole lines where they are not long.
fn part_of(text: &str, first: usize, last: usize) -> &str {
    let bytes = text.as_bytes();
    let from = first.saturating_sub(1 + GAP) * STRIDE;
    let to = ((last + 2 + GAP) * STRIDE).min(bytes.len());
    let start = bytes.get(from..to).and_then(|b| memchr::memchr(b'\n', b));
    let start = match start {
        Some(n) if from > 0 && n < STRIDE => from + n + 1,
        _ => text.floor_char_boundary(from),
    };
    text.get(start..text.ceil_char_boundary(to))
        .unwrap_or_default()
}

/// Signs that stand alone between blanks.
fn alone(sample: &[u8]) -> usize {
    let blank = |b: &u8| *b == b' ';
    let alone = |w: &&[u8]| matches!(w, [a, b, c] if blank(a) && !blank(b) && blank(c));
    sample.windows(3).filter(alone).count()
}

/// How often a mark stands there with what must follow it.
fn marks(sample: &[u8], mark: &[u8], follows: fn(&[u8]) -> Option<u8>) -> usize {
    let places = sample.windows(mark.len() + 2);
    places
        .filter(|w| w.strip_prefix(mark).and_then(follows).is_some())
        .count()
}

/// Shows what the text holds in any of the dresses.
pub(super) fn each(text: &str, spent: &mut Unpacked, mut show: impl FnMut(&str)) {
    if text.len() < MIN_BYTES {
        return;
    }
    for (dress, part) in worn(text) {
        let bytes = match dress {
            Dress::Dump => dump(part),
            Dress::Spread => spread(part),
            Dress::Numbers => {
                show_bytes(&dump(part), spent, &mut show);
                numbers(part)
            }
            Dress::Percent => escaped(part, b'%', 1, b"+"),
            Dress::Escapes => escaped(part, b'\\', 2, b""),
            Dress::Quoted => quoted(part),
            Dress::Base32 => base32(part),
            Dress::Uu => uu(part),
            Dress::Turned => turned(part).into_bytes(),
        };
        show_bytes(&bytes, spent, &mut show);
    }
}

/// Shows bytes: unpacked, where they are packed.
fn show_bytes(bytes: &[u8], spent: &mut Unpacked, show: &mut impl FnMut(&str)) {
    if bytes.len() < MIN_BYTES / 4 {
        return;
    }
    match unpacked(bytes, spent) {
        Some(inner) => show(&String::from_utf8_lossy(&inner)),
        None => show(&String::from_utf8_lossy(bytes)),
    }
}

/// The content of a block packed by gzip, zlib or Zstandard, as far as it is looked at; `None` for other bytes.
pub(super) fn unpacked(bytes: &[u8], spent: &mut Unpacked) -> Option<Vec<u8>> {
    let most = MAX_UNPACKED.min(MAX_UNPACKED_ALL.saturating_sub(spent.0));
    let inner = match bytes {
        [0x1f, 0x8b, ..] => gzip(bytes, most)?,
        [0x78, check, ..] if (0x7800 + u32::from(*check)) % 31 == 0 => {
            limited(flate2::read::ZlibDecoder::new(bytes), most)
        }
        [0x28, 0xb5, 0x2f, 0xfd, ..] => {
            limited(ruzstd::decoding::StreamingDecoder::new(bytes).ok()?, most)
        }
        _ => return None,
    };
    spent.0 = spent.0.saturating_add(inner.len());
    Some(inner)
}

/// As much as can be read, and is looked at.
fn limited(source: impl Read, most: usize) -> Vec<u8> {
    let mut out = Vec::new();
    // What came before an error is there.
    let _ = source.take(most as u64).read_to_end(&mut out);
    out
}

fn is_hex2(bytes: &[u8]) -> Option<u8> {
    let [high, low, ..] = bytes else { return None };
    let digit = |b: &u8| char::from(*b).to_digit(16);
    u8::try_from(digit(high)? * 16 + digit(low)?).ok()
}

/// Dumps in hexadecimal, and in octal behind an offset.
fn dump(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for line in text.lines() {
        let line = line.trim_end();
        // `00000010: 6469 6666  di`: words as they stand. `0000010 6964 6666`: words the other way round.
        let (offset, row) = match line.trim_start().split_once(": ") {
            Some((offset, rest)) if offset.bytes().all(|b| b.is_ascii_hexdigit()) => {
                (true, rest.split("  ").next().unwrap_or_default())
            }
            _ => (false, line.split(['|', '>']).next().unwrap_or_default()),
        };
        let mut words = row.split_whitespace().peekable();
        let long = |word: &&str| (6..=16).contains(&word.len());
        let is_hex = |word: &str| word.bytes().all(|b| b.is_ascii_hexdigit());
        let placed = !offset && words.peek().is_some_and(|w| long(w) && is_hex(w));
        // Without an offset, a line of one word may be all of it (`xxd -p`).
        let one = row.split_whitespace().nth(1).is_none();
        if placed && !one {
            words.next();
        }
        for word in words.take(MAX_ROW) {
            if !is_hex(word) {
                break;
            }
            let octal = placed && word.len() == 3 && word.bytes().all(|b| b < b'8');
            if octal {
                out.extend(u8::from_str_radix(word, 8).ok());
            } else if placed && word.len() == 6 && word.bytes().all(|b| b < b'8') {
                let both = u16::from_str_radix(word, 8).unwrap_or_default();
                out.extend(both.to_le_bytes());
            } else if word.len() % 2 == 0 {
                let pairs = word.as_bytes().chunks(2).filter_map(is_hex2);
                if !offset && matches!(word.len(), 4 | 8) {
                    out.extend(pairs.collect::<Vec<_>>().into_iter().rev());
                } else {
                    out.extend(pairs);
                }
            } else {
                break;
            }
        }
    }
    out
}

/// `0000000   d   i   f   f  \n`: without the offsets, and with the line ends.
fn spread(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    for line in text.lines() {
        let (first, rest) = line.split_once(' ').unwrap_or((line, ""));
        let offset = first.len() >= 6 && first.bytes().all(|b| b.is_ascii_hexdigit());
        let rest = if offset { rest } else { line };
        for sign in rest.split_whitespace() {
            match sign {
                "\\n" | "nl" => out.push(b'\n'),
                "\\t" | "\\r" | "ht" | "cr" | "sp" => out.push(b' '),
                _ => out.extend(sign.bytes()),
            }
        }
    }
    out
}

/// Numbers of characters.
fn numbers(text: &str) -> Vec<u8> {
    let words = text.split(|c: char| !c.is_ascii_digit());
    let numbers = words.filter(|w| !w.is_empty());
    numbers.filter_map(|w| w.parse().ok()).collect()
}

/// `mark` (and as many bytes of the text as `length` says), then two hexadecimal digits. `blank` are bytes that stand
/// for a blank.
fn escaped(text: &str, mark: u8, length: usize, blank: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = (*first == mark).then(|| after.get(length - 1..).and_then(is_hex2));
        rest = after;
        match code.flatten() {
            Some(byte) => {
                out.push(byte);
                rest = after.get(length + 1..).unwrap_or_default();
            }
            None if blank.contains(first) => out.push(b' '),
            None => out.push(*first),
        }
    }
    out
}

/// Quoted-printable.
fn quoted(text: &str) -> Vec<u8> {
    let joined = text.replace("=\r\n", "").replace("=\n", "");
    escaped(&joined, b'=', 1, b"")
}

/// Base32: words of its letters that are long enough.
fn base32(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let (mut bits, mut held) = (0u32, 0u32);
    for line in text.lines().filter(|line| line.len() >= 16) {
        for byte in line.bytes() {
            let value = match byte {
                b'A'..=b'Z' => byte - b'A',
                b'2'..=b'7' => byte - b'2' + 26,
                _ => continue,
            };
            bits = (bits << 5 | u32::from(value)) & 0xf_ffff;
            held += 5;
            if held >= 8 {
                held -= 8;
                out.push((bits >> held & 0xff) as u8);
            }
        }
    }
    out
}

/// Uuencode: the first sign of a line says how many bytes it holds.
fn uu(text: &str) -> Vec<u8> {
    let mut out = Vec::new();
    let value = |b: u8| u32::from(b.wrapping_sub(b' ') & 0x3f);
    for line in text.lines().map(str::as_bytes) {
        let Some((first, rest)) = line.split_first() else {
            continue;
        };
        let size = value(*first) as usize;
        // Blanks at the end may be lost.
        let want = size.div_ceil(3) * 4;
        if size == 0 || rest.len() > want + 1 || rest.len() + 8 < want {
            continue;
        }
        let start = out.len();
        for four in rest.chunks(4) {
            let at = |i: usize| four.get(i).copied().map_or(0, value);
            let all = at(0) << 18 | at(1) << 12 | at(2) << 6 | at(3);
            out.extend([(all >> 16) as u8, (all >> 8) as u8, all as u8]);
        }
        out.truncate(start + size.min(out.len() - start));
    }
    out
}

/// Rot13.
fn turned(text: &str) -> String {
    let turn = |c: char, first: u8| char::from((c as u8 - first + 13) % 26 + first);
    let one = |c: char| match c {
        'a'..='z' => turn(c, b'a'),
        'A'..='Z' => turn(c, b'A'),
        _ => c,
    };
    text.chars().map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CODE: &str = "def gauge_harbour(quays, depth=4):\n    total = sum(quay.depth + 1 for quay in quays)\n    if total > \
                        100:\n        raise OverflowError(f\"{total} is over\")\n    return total * depth % 17\n\n\n";

    fn shows(text: &str) -> bool {
        let wanted = "total=sum(quay.depth+1forquayinquays)";
        let mut found = false;
        each(text, &mut Unpacked::default(), |decoded| {
            let squeezed: String = decoded.split_whitespace().collect();
            found |= squeezed.contains(wanted);
        });
        found
    }

    fn rows(size: usize, row: impl Fn(usize, &[u8]) -> String) -> String {
        let code = CODE.repeat(2);
        let rows = code.as_bytes().chunks(size).enumerate();
        rows.map(|(n, bytes)| row(n * size, bytes) + "\n").collect()
    }

    fn hex(bytes: &[u8]) -> Vec<String> {
        bytes.iter().map(|b| format!("{b:02x}")).collect()
    }

    fn text(bytes: &[u8]) -> String {
        bytes
            .iter()
            .map(|b| {
                if b.is_ascii_graphic() || *b == b' ' {
                    char::from(*b)
                } else {
                    '.'
                }
            })
            .collect()
    }

    #[test]
    fn dumps() {
        let pairs = |bytes: &[u8]| {
            hex(bytes)
                .chunks(2)
                .map(|c| c.concat())
                .collect::<Vec<_>>()
                .join(" ")
        };
        let turned = |bytes: &[u8]| {
            let swap = |c: &[String]| c.iter().rev().cloned().collect::<String>();
            hex(bytes).chunks(2).map(swap).collect::<Vec<_>>().join(" ")
        };
        let octal = |bytes: &[u8]| {
            bytes
                .iter()
                .map(|b| format!("{b:03o}"))
                .collect::<Vec<_>>()
                .join(" ")
        };
        let words = |bytes: &[u8]| {
            let word = |c: &[u8]| {
                format!(
                    "{:06o}",
                    u16::from_le_bytes([c[0], *c.get(1).unwrap_or(&0)])
                )
            };
            bytes.chunks(2).map(word).collect::<Vec<_>>().join(" ")
        };
        let cell = |b: &u8| match b {
            b'\n' => "  \\n".to_owned(),
            b => format!("   {}", char::from(*b)),
        };
        let all: [(&str, String); 10] = [
            (
                "xxd",
                rows(16, |n, b| format!("{n:08x}: {:40} {}", pairs(b), text(b))),
            ),
            (
                "xxd -g1",
                rows(16, |n, b| {
                    format!("{n:08x}: {}  {}", hex(b).join(" "), text(b))
                }),
            ),
            ("xxd -p", rows(30, |_, b| hex(b).concat())),
            (
                "hexdump -C",
                rows(16, |n, b| {
                    format!("{n:08x}  {}  |{}|", hex(b).join(" "), text(b))
                }),
            ),
            ("hexdump", rows(16, |n, b| format!("{n:07x} {}", turned(b)))),
            (
                "od -tx1",
                rows(16, |n, b| format!("{n:07o} {}", hex(b).join(" "))),
            ),
            (
                "od -An -tx1",
                rows(16, |_, b| format!(" {}", hex(b).join(" "))),
            ),
            ("od -b", rows(16, |n, b| format!("{n:07o} {}", octal(b)))),
            ("od", rows(16, |n, b| format!("{n:07o} {}", words(b)))),
            (
                "od -c",
                rows(16, |n, b| {
                    format!("{n:07o}{}", b.iter().map(cell).collect::<String>())
                }),
            ),
        ];
        for (name, dump) in all {
            assert!(shows(&dump), "{name}\n{dump}");
            let inside = format!(
                "{}{dump}{}",
                "a line of words\n".repeat(40),
                "and more of them\n".repeat(40)
            );
            assert!(shows(&inside), "{name} inside\n{dump}");
        }
    }

    #[test]
    fn escapes_and_letters() {
        let code = CODE.repeat(3);
        let letters = |alphabet: &[u8], bits: usize| {
            let mut stream: Vec<u8> = code
                .bytes()
                .flat_map(|b| (0..8).rev().map(move |i| b >> i & 1))
                .collect();
            stream.resize(stream.len().div_ceil(bits) * bits, 0);
            let value = |c: &[u8]| c.iter().fold(0usize, |v, b| v << 1 | usize::from(*b));
            stream
                .chunks(bits)
                .map(|c| char::from(alphabet[value(c)]))
                .collect::<String>()
        };
        let percent: String = code
            .bytes()
            .map(|b| {
                if b.is_ascii_alphanumeric() {
                    char::from(b).to_string()
                } else {
                    format!("%{b:02X}")
                }
            })
            .collect();
        let soft = |text: &str| {
            text.as_bytes()
                .chunks(70)
                .map(|c| String::from_utf8_lossy(c).into_owned() + "=\n")
                .collect::<String>()
        };
        let uu: String = code
            .as_bytes()
            .chunks(45)
            .map(|row| {
                let mut all = row.to_vec();
                all.resize(row.len().div_ceil(3) * 3, 0);
                let sign = |v: u32| {
                    if v == 0 {
                        '`'
                    } else {
                        char::from(b' ' + v as u8)
                    }
                };
                let body: String = all
                    .chunks(3)
                    .flat_map(|c| {
                        let n = u32::from(c[0]) << 16 | u32::from(c[1]) << 8 | u32::from(c[2]);
                        (0..4).map(move |i| sign(n >> (18 - 6 * i) & 63))
                    })
                    .collect();
                format!("{}{body}\n", sign(row.len() as u32))
            })
            .collect();
        for (name, carrier) in [
            ("percent", percent.clone()),
            ("plus", percent.replace("%20", "+")),
            (
                "escapes",
                code.bytes().map(|b| format!("\\x{b:02x}")).collect(),
            ),
            ("quoted", soft(&code.replace('=', "=3D"))),
            ("base32", letters(b"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 5)),
            ("uu", format!("begin 644 x\n{uu}`\nend\n")),
            ("rot13", turned(&code)),
            ("numbers", code.bytes().map(|b| format!("{b} ")).collect()),
            ("list", format!("{:?}", code.as_bytes())),
        ] {
            assert!(shows(&carrier), "{name}\n{carrier}");
        }
    }

    #[test]
    fn packed_blocks() {
        use std::io::Write;
        let mut zlib = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::default());
        zlib.write_all(CODE.repeat(20).as_bytes()).unwrap();
        let zlib = zlib.finish().unwrap();
        let mut spent = Unpacked::default();
        assert_eq!(
            unpacked(&zlib, &mut spent).unwrap(),
            CODE.repeat(20).as_bytes()
        );
        assert!(shows(&hex(&zlib).concat()));
        // A bomb is cut.
        let mut bomb = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
        bomb.write_all(&vec![b'a'; 40 << 20]).unwrap();
        let bomb = bomb.finish().unwrap();
        let sizes: Vec<usize> = (0..20)
            .map(|_| unpacked(&bomb, &mut spent).unwrap().len())
            .collect();
        assert_eq!(sizes[0], MAX_UNPACKED);
        assert!(sizes.iter().sum::<usize>() <= MAX_UNPACKED_ALL);
        assert_eq!(unpacked(b"plain", &mut spent), None);
    }

    /// Ordinary text is passed over.
    #[test]
    fn ordinary_text_is_not_read_again() {
        for text in [
            include_str!("../../docs/similarity.md"),
            include_str!("../../docs/rules.md"),
            include_str!("layers.rs"),
            include_str!("tracker.rs"),
        ] {
            let again: usize = worn(text).iter().map(|(_, part)| part.len()).sum();
            assert!(again * 10 < text.len(), "{again} of {}", text.len());
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in any::<String>(), odd in "[0-9a-fA-Z%=+ \n\r|:`x\\\\]{0,600}") {
            each(&text, &mut Unpacked::default(), |_| {});
            each(&odd, &mut Unpacked::default(), |_| {});
            for f in [dump, spread, numbers, quoted, base32, uu] {
                prop_assert!(f(&odd).len() <= odd.len() * 2);
                f(&text);
            }
            prop_assert!(escaped(&odd, b'%', 1, b"+").len() <= odd.len());
            escaped(&text, b'\\', 2, b"");
        }
    }
}
