//! Decimal numbers as Python reads them: digits of any script, at most 4,300 of them.

use bstr::ByteSlice;
use regex_syntax::hir::{Class, HirKind};

/// Longest text that Python 3.11 and later convert to a number.
const MAX_DIGITS: usize = 4_300;

/// The decimal digits that `text` begins with, at least one, and the rest.
pub(super) fn run(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let ascii = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let mut end = ascii;
    // Nearly every number is ASCII; only where it is not, characters are decoded.
    if text.get(ascii).is_some_and(|b| *b >= 0x80) {
        let rest = text.get(ascii..).unwrap_or_default();
        end += rest
            .char_indices()
            .find(|(_, _, c)| digit(*c).is_none())
            .map_or(rest.len(), |(at, _, _)| at);
    }
    text.split_at_checked(end).filter(|_| end > 0)
}

/// The number that a [`run`] of digits stands for, `u64::MAX` for larger ones; `None` where Python refuses.
pub(super) fn value(digits: &[u8]) -> Option<u64> {
    let mut count = 0;
    let mut value = 0u64;
    for c in digits.chars() {
        count += 1;
        value = value
            .saturating_mul(10)
            .saturating_add(digit(c).unwrap_or(0));
    }
    (count <= MAX_DIGITS).then_some(value)
}

/// What a decimal digit of any script counts.
fn digit(c: char) -> Option<u64> {
    if c.is_ascii() {
        return c.to_digit(10).map(u64::from);
    }
    let code = u32::from(c);
    // Digits come in tens, zero first; a range may hold several tens.
    ranges()
        .iter()
        .find(|(start, end)| (*start..=*end).contains(&code))
        .map(|(start, _)| u64::from((code - start) % 10))
}

/// The code points of category Nd.
fn ranges() -> &'static [(u32, u32)] {
    static RANGES: std::sync::LazyLock<Vec<(u32, u32)>> = std::sync::LazyLock::new(|| {
        let Ok(hir) = regex_syntax::parse(r"\p{Nd}") else {
            return Vec::new();
        };
        match hir.kind() {
            HirKind::Class(Class::Unicode(class)) => class
                .iter()
                .map(|range| (u32::from(range.start()), u32::from(range.end())))
                .collect(),
            _ => Vec::new(),
        }
    });
    &RANGES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digits_of_any_script() {
        let read = |text: &str| run(text.as_bytes()).map(|(d, rest)| (value(d), rest.len()));
        assert_eq!(read("12,3"), Some((Some(12), 2)));
        assert_eq!(read("1\u{0661}\u{0969} "), Some((Some(113), 1)));
        assert_eq!(read("\u{1d7d8}\u{1d7ff}"), Some((Some(9), 0)));
        assert_eq!(read("\u{b2}"), None);
        assert_eq!(read(""), None);
        assert_eq!(read("x1"), None);
        assert_eq!(run(b"1\xff").unwrap().1, b"\xff");
    }

    #[test]
    fn too_long_for_python() {
        assert_eq!(value("0".repeat(4_300).as_bytes()), Some(0));
        assert_eq!(value("0".repeat(4_301).as_bytes()), None);
        assert_eq!(value("9".repeat(40).as_bytes()), Some(u64::MAX));
    }

    #[test]
    fn every_range_is_whole_tens() {
        assert!(ranges().len() > 50);
        assert!(
            ranges()
                .iter()
                .all(|(start, end)| (end - start + 1) % 10 == 0)
        );
    }
}
