//! Decoders for texts that hide a command: base64, base32, hexadecimal.
//!
//! Each takes a bound on its output and gives `None` for input it cannot decode.

/// Decodes base64 (both alphabets), ignoring white space; stops at the padding.
pub(super) fn base64(input: &[u8], most: usize) -> Option<Vec<u8>> {
    let value = |b: u8| {
        Some(match b {
            b'A'..=b'Z' => b - b'A',
            b'a'..=b'z' => b - b'a' + 26,
            b'0'..=b'9' => b - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        })
    };
    grouped(input, 6, most, value)
}

/// Decodes base32.
pub(super) fn base32(input: &[u8], most: usize) -> Option<Vec<u8>> {
    let value = |b: u8| {
        Some(match b {
            b'A'..=b'Z' => b - b'A',
            b'2'..=b'7' => b - b'2' + 26,
            _ => return None,
        })
    };
    grouped(input, 5, most, value)
}

/// Decodes hexadecimal digits, ignoring white space.
pub(super) fn hex(input: &[u8], most: usize) -> Option<Vec<u8>> {
    let value = |b: u8| {
        let digit = char::from(b).to_digit(16)?;
        u8::try_from(digit).ok()
    };
    grouped(input, 4, most, value)
}

/// Puts digits of `bits` bits together to bytes; left-over bits are dropped.
fn grouped(
    input: &[u8],
    bits: u32,
    most: usize,
    value: impl Fn(u8) -> Option<u8>,
) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut buffer = 0_u32;
    let mut filled = 0;
    for b in input.iter().copied().filter(|b| !b.is_ascii_whitespace()) {
        if b == b'=' {
            break;
        }
        buffer = (buffer << bits) | u32::from(value(b)?);
        filled += bits;
        if filled >= 8 {
            filled -= 8;
            out.push(u8::try_from((buffer >> filled) & 0xff).unwrap_or_default());
            buffer &= (1 << filled) - 1;
            if out.len() > most {
                return None;
            }
        }
    }
    (!out.is_empty()).then_some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_texts_are_decoded() {
        let decoded = |bytes: Option<Vec<u8>>| bytes.map(|b| String::from_utf8(b).unwrap());
        assert_eq!(
            decoded(base64(b"Z2l0IHNo\nb3c=", 99)).as_deref(),
            Some("git show")
        );
        assert_eq!(decoded(base32(b"M5UXI===", 99)).as_deref(), Some("git"));
        assert_eq!(decoded(hex(b"67 69\n74", 99)).as_deref(), Some("git"));
        assert_eq!(base64(b"not base64!", 99), None);
        assert_eq!(base64(b"Z2l0IHNob3c=", 3), None);
        assert_eq!(base64(b"", 9), None);
    }
}
