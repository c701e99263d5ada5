//! Text in another encoding than the tools of the task read: nothing hides in one.
//!
//! UTF-16 and UTF-32 are told by a mark or by their zero bytes. Python (and Ruby) read a file as its first two
//! lines say (`# -*- coding: utf-7 -*-`), and two of these encodings turn any text into ASCII that shows no line
//! of it: UTF-7 and the escapes of a string literal. Both are decoded here. Any other that does not leave ASCII
//! as it is, is named: such a file was not compared.

use memchr::memchr;

use crate::base64::sextet;

/// How a content reads.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// As it stands.
    Plain,
    /// In UTF-8, decoded.
    Decoded(Vec<u8>),
    /// It says that it is in an encoding (this name) which is not decoded here.
    Unknown(String),
}

/// How the content reads; `old` is what stood there before (empty for a new file). A declaration that was there
/// before is nobody's trick.
pub(crate) fn encoding(old: &[u8], content: &[u8]) -> Encoding {
    if memchr(0, old).is_none()
        && let Some(text) = wide(content)
    {
        return Encoding::Decoded(text.into_bytes());
    }
    let Some(name) = declared(content) else {
        return Encoding::Plain;
    };
    if declared(old).as_ref() == Some(&name) {
        return Encoding::Plain;
    }
    match name.as_str() {
        "utf-7" | "utf7" | "u7" | "unicode-1-1-utf-7" => Encoding::Decoded(utf7(content)),
        "unicode-escape" | "unicodeescape" => Encoding::Decoded(escapes(content, true)),
        "raw-unicode-escape" => Encoding::Decoded(escapes(content, false)),
        name if keeps_ascii(name) => Encoding::Plain,
        _ => Encoding::Unknown(name),
    }
}

/// UTF-32 or UTF-16 as text.
fn wide(content: &[u8]) -> Option<String> {
    utf32(content).or_else(|| utf16(content))
}

fn utf32(content: &[u8]) -> Option<String> {
    let (little, marked, text) = match content {
        [0xff, 0xfe, 0, 0, text @ ..] => (true, true, text),
        [0, 0, 0xfe, 0xff, text @ ..] => (false, true, text),
        [b, 0, 0, 0, ..] if *b != 0 => (true, false, content),
        [0, 0, 0, b, ..] if *b != 0 => (false, false, content),
        _ => return None,
    };
    let (units, []) = text.as_chunks::<4>() else {
        return None;
    };
    let unit = |unit: &[u8; 4]| match little {
        true => char::from_u32(u32::from_le_bytes(*unit)),
        false => char::from_u32(u32::from_be_bytes(*unit)),
    };
    let text: Option<String> = units.iter().map(unit).collect();
    text.filter(|text| marked || is_text(text))
}

fn utf16(content: &[u8]) -> Option<String> {
    let (little, marked, text) = match content {
        [0xff, 0xfe, text @ ..] => (true, true, text),
        [0xfe, 0xff, text @ ..] => (false, true, text),
        [0, b, ..] if *b != 0 => (false, false, content),
        [b, 0, ..] if *b != 0 => (true, false, content),
        _ => return None,
    };
    let (pairs, []) = text.as_chunks::<2>() else {
        return None;
    };
    let unit = |pair: &[u8; 2]| match little {
        true => u16::from_le_bytes(*pair),
        false => u16::from_be_bytes(*pair),
    };
    // Without a mark: of a text, most characters have a zero byte.
    let small = pairs.iter().filter(|pair| unit(pair) < 0x100).count();
    if !marked && small * 2 < pairs.len() {
        return None;
    }
    let units = pairs.iter().map(unit);
    let text: String = char::decode_utf16(units).collect::<Result<_, _>>().ok()?;
    (marked || is_text(&text)).then_some(text)
}

/// Characters below which bytes without a mark are not taken for a text in another encoding.
const MIN_CHARACTERS: usize = 8;

/// What was decoded on a guess reads as a text: numbers of two and four bytes do not.
fn is_text(text: &str) -> bool {
    let strange = |c: char| c.is_control() && !c.is_whitespace();
    !text.contains(strange) && text.chars().nth(MIN_CHARACTERS - 1).is_some()
}

/// Longest line that is looked at for a declaration, in bytes.
const MAX_DECLARATION: usize = 1024;

/// The encoding that one of the first two lines names in a comment (PEP 263), in lower case with `-` for `_`.
fn declared(content: &[u8]) -> Option<String> {
    let content = content.strip_prefix(b"\xef\xbb\xbf").unwrap_or(content);
    let mut lines = content.split(|b| matches!(b, b'\n' | b'\r'));
    for _ in 0..3 {
        let line = lines.next()?;
        let line = line.get(..MAX_DECLARATION).unwrap_or(line);
        let line = line.trim_ascii_start();
        if line.is_empty() {
            // The second half of CR LF, or an empty first line.
            continue;
        }
        let comment = line.strip_prefix(b"#")?;
        let Some(at) = memchr::memmem::find(comment, b"coding") else {
            continue;
        };
        let rest = comment.get(at + b"coding".len()..).unwrap_or_default();
        let Some((b':' | b'=', name)) = rest.split_first() else {
            continue;
        };
        let name: String = name
            .trim_ascii_start()
            .iter()
            .take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_' | b'.'))
            .map(|b| char::from(*b).to_ascii_lowercase())
            .map(|c| if c == '_' { '-' } else { c })
            .collect();
        if !name.is_empty() {
            return Some(name);
        }
    }
    None
}

/// True for the encodings in common use in which ASCII stands as it is.
fn keeps_ascii(name: &str) -> bool {
    const STARTS: &[&str] = &[
        "utf-8",
        "utf8",
        "ascii",
        "us-ascii",
        "latin",
        "iso-8859",
        "iso8859",
        "l1",
        "l2",
        "cp12",
        "cp4",
        "cp7",
        "cp8",
        "cp93",
        "cp94",
        "cp95",
        "windows-",
        "koi8",
        "mac",
        "gb",
        "big5",
        "euc",
        "shift",
        "sjis",
        "s-jis",
        "ms932",
        "johab",
        "tis-620",
        "binary",
        "undecided",
        "unix",
        "dos",
        "prefer-utf-8",
        "no-conversion",
        "raw-text",
        "x-",
    ];
    STARTS.iter().any(|start| name.starts_with(start))
}

/// Decodes UTF-7 (RFC 2152). What is no valid sequence stays as it stands.
fn utf7(content: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = memchr(b'+', rest) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        out.extend_from_slice(before);
        let digits = from.get(1..).unwrap_or_default();
        let count = digits.iter().take_while(|b| sextet(**b).is_some()).count();
        let (digits, after) = digits.split_at_checked(count).unwrap_or((digits, &[]));
        match (shifted(digits), after.strip_prefix(b"-")) {
            (_, Some(after)) if count == 0 => {
                out.push(b'+');
                rest = after;
            }
            (Some(text), after_minus) => {
                out.extend_from_slice(text.as_bytes());
                rest = after_minus.unwrap_or(after);
            }
            (None, _) => {
                out.push(b'+');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.extend_from_slice(rest);
    out
}

/// The text of one shifted sequence: base64 of UTF-16, most significant byte first.
fn shifted(digits: &[u8]) -> Option<String> {
    let mut units = Vec::with_capacity(digits.len() * 6 / 16);
    let (mut bits, mut count) = (0u32, 0);
    for digit in digits {
        bits = bits << 6 | sextet(*digit)?;
        count += 6;
        if count >= 16 {
            count -= 16;
            units.push(u16::try_from(bits >> count & 0xffff).ok()?);
            bits &= (1 << count) - 1;
        }
    }
    if units.is_empty() || bits != 0 {
        return None;
    }
    char::decode_utf16(units).collect::<Result<_, _>>().ok()
}

/// Undoes the escapes of a string literal: those of numbers, and, with `all`, the short ones.
fn escapes(content: &[u8], all: bool) -> Vec<u8> {
    let mut out = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(at) = memchr(b'\\', rest) {
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, &[]));
        out.extend_from_slice(before);
        let kind = from.get(1).copied();
        let digits = match kind {
            Some(b'u') => 4,
            Some(b'U') => 8,
            Some(b'x') if all => 2,
            _ => 0,
        };
        let hex = from.get(2..2 + digits).filter(|_| digits > 0);
        let number = hex
            .and_then(|hex| std::str::from_utf8(hex).ok())
            .and_then(|hex| u32::from_str_radix(hex, 16).ok())
            .and_then(char::from_u32);
        if let Some(c) = number {
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            rest = from.get(2 + digits..).unwrap_or_default();
            continue;
        }
        let octal: Vec<u32> = from
            .iter()
            .skip(1)
            .take(3)
            .map_while(|b| char::from(*b).to_digit(8))
            .collect();
        let (short, used) = match kind {
            _ if !all => (None, 0),
            Some(b'n') => (Some(b'\n'), 2),
            Some(b'r') => (Some(b'\r'), 2),
            Some(b't') => (Some(b'\t'), 2),
            Some(c @ (b'\\' | b'\'' | b'"')) => (Some(c), 2),
            _ => {
                let value = octal.iter().fold(0, |sum, digit| sum * 8 + digit);
                let byte = u8::try_from(value).ok().filter(|_| !octal.is_empty());
                (byte, 1 + octal.len())
            }
        };
        match short {
            Some(byte) => {
                out.push(byte);
                rest = from.get(used..).unwrap_or_default();
            }
            None => {
                out.push(b'\\');
                rest = from.get(1..).unwrap_or_default();
            }
        }
    }
    out.extend_from_slice(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn decoded(content: &[u8]) -> Option<String> {
        match encoding(b"", content) {
            Encoding::Decoded(text) => Some(String::from_utf8(text).unwrap()),
            _ => None,
        }
    }

    #[test]
    fn two_and_four_bytes() {
        let text = "let x = 1;\n// é 中 😀\n";
        for mark in ["", "\u{feff}"] {
            let marked = format!("{mark}{text}");
            let units: Vec<u16> = marked.encode_utf16().collect();
            let all = [
                units.iter().flat_map(|u| u.to_le_bytes()).collect(),
                units.iter().flat_map(|u| u.to_be_bytes()).collect(),
                marked
                    .chars()
                    .flat_map(|c| u32::from(c).to_le_bytes())
                    .collect(),
                marked
                    .chars()
                    .flat_map(|c| u32::from(c).to_be_bytes())
                    .collect::<Vec<u8>>(),
            ];
            for bytes in all {
                assert_eq!(decoded(&bytes).as_deref(), Some(text), "{mark:?}");
                assert_eq!(encoding(b"\0", &bytes), Encoding::Plain);
            }
        }
        for plain in [
            &b"x"[..],
            b"",
            b"plain",
            b"a\0\xff\xdb",
            b"\0\xff",
            &[1, 0, 0, 0].repeat(20),
            &[1, 0, 2, 0].repeat(20),
            b"\x89PNG\r\n\x1a\n\0\0",
        ] {
            assert_eq!(decoded(plain), None, "{plain:?}");
        }
    }

    #[test]
    fn declared_encodings() {
        for (content, want) in [
            (
                "# -*- coding: utf-7 -*-\nx +AD0- 1\n",
                "# -*- coding: utf-7 -*-\nx = 1\n",
            ),
            (
                "#!/bin/x\n# vim: set fileencoding=UTF_7 :\n+AGEAYg\n",
                "#!/bin/x\n# vim: set fileencoding=UTF_7 :\nab\n",
            ),
            (
                "# coding=u7\n1 +- 2 +b- a+b +2D3eAA-\n",
                "# coding=u7\n1 + 2 +b- a+b 😀\n",
            ),
            (
                "# coding: unicode_escape\n\\x61\\u0062\\U00000063\\144\\n\\\\\\q\\",
                "# coding: unicode_escape\nabcd\n\\\\q\\",
            ),
            (
                "\u{feff}# coding: raw_unicode_escape\r\n\\u0061\\n",
                "\u{feff}# coding: raw_unicode_escape\r\na\\n",
            ),
        ] {
            assert_eq!(
                decoded(content.as_bytes()).as_deref(),
                Some(want),
                "{content}"
            );
        }
        for plain in [
            "# coding: utf-8\n+AGE-",
            "# -*- coding: latin-1 -*-\n+AGE-",
            "x\n# coding: utf-7\n+AGE-",
            "a\nb\n# coding: utf-7\n+AGE-",
            "// coding: utf-7\n+AGE-",
            "# encodings\n+AGE-",
            "",
        ] {
            assert_eq!(encoding(b"", plain.as_bytes()), Encoding::Plain, "{plain}");
        }
        let strange = b"# coding: rot_13\nvzcbeg bf\n";
        assert_eq!(
            encoding(b"", strange),
            Encoding::Unknown("rot-13".to_owned())
        );
        assert_eq!(
            encoding(b"# coding: rot13\n", b"# coding: rot13\nx"),
            Encoding::Plain
        );
    }

    proptest! {
        #[test]
        fn nothing_panics(content in proptest::collection::vec(any::<u8>(), 0..200), cookie in 0usize..3) {
            let cookie = ["# coding: utf-7\n", "# coding: unicode_escape\n", ""][cookie];
            let content = [cookie.as_bytes(), &content].concat();
            drop(encoding(b"", &content));
        }
    }
}
