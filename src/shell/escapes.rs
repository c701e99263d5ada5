//! Backslash escapes of `$'…'`, `echo -e` and `printf`.

use super::cursor::Cursor;

/// Appends what the escape `\c` stands for; the position is after `c`.
///
/// Values above 127 written as `\xHH` or octal are bytes and may form UTF-8 together; an unknown
/// escape stays as it is, backslash included.
pub(crate) fn push_escape(c: char, cursor: &mut Cursor<'_>, out: &mut Vec<u8>) {
    match c {
        'a' => out.push(7),
        'b' => out.push(8),
        'e' | 'E' => out.push(27),
        'f' => out.push(12),
        'n' => out.push(b'\n'),
        'r' => out.push(b'\r'),
        't' => out.push(b'\t'),
        'v' => out.push(11),
        '\\' | '\'' | '"' | '?' => out.extend(u8::try_from(c)),
        '0'..='7' => {
            let first = u32::from(c) - u32::from('0');
            // `\0nnn` of echo has three digits after the zero.
            let more = if c == '0' { 3 } else { 2 };
            let value = digits(cursor, 8, more, first);
            out.push(value.to_le_bytes().first().copied().unwrap_or_default());
        }
        'x' => match hex(cursor, 2) {
            Some(value) => out.push(value.to_le_bytes().first().copied().unwrap_or_default()),
            None => out.extend_from_slice(b"\\x"),
        },
        'u' | 'U' => {
            let length = if c == 'u' { 4 } else { 8 };
            match hex(cursor, length).and_then(char::from_u32) {
                Some(decoded) => push_char(decoded, out),
                None => {
                    out.push(b'\\');
                    push_char(c, out);
                }
            }
        }
        'c' => {
            if let Some(control) = cursor.next_char() {
                let code = u32::from(control) & 0x1f;
                out.push(code.to_le_bytes().first().copied().unwrap_or_default());
            }
        }
        _ => {
            out.push(b'\\');
            push_char(c, out);
        }
    }
}

fn push_char(c: char, out: &mut Vec<u8>) {
    out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
}

fn hex(cursor: &mut Cursor<'_>, longest: usize) -> Option<u32> {
    cursor
        .peek(0)
        .filter(u8::is_ascii_hexdigit)
        .map(|_| digits(cursor, 16, longest, 0))
}

fn digits(cursor: &mut Cursor<'_>, radix: u32, longest: usize, first: u32) -> u32 {
    let mut value = first;
    for _ in 0..longest {
        let digit = cursor.peek(0).and_then(|b| char::from(b).to_digit(radix));
        let Some(digit) = digit else { break };
        value = value.wrapping_mul(radix).wrapping_add(digit);
        cursor.advance(1);
    }
    value
}

/// Undoes the escapes in a text, as `echo -e` and `printf` do.
pub(crate) fn unescape(text: &str) -> Vec<u8> {
    let mut cursor = Cursor::new(text);
    let mut out = Vec::with_capacity(text.len());
    while !cursor.at_end() {
        out.extend_from_slice(cursor.take_while(|b| b != b'\\').as_bytes());
        if cursor.eat("\\") {
            match cursor.next_char() {
                Some(c) => push_escape(c, &mut cursor, &mut out),
                None => out.push(b'\\'),
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_undone() {
        let cases: &[(&str, &[u8])] = &[
            (r"a\tb", b"a\tb"),
            (r"\x67\x69t", b"git"),
            (r"\147\0151t", b"git"),
            (r"\u0067it", b"git"),
            (r"\U00000067it", b"git"),
            (r"\q\", b"\\q\\"),
            (r"\xzz", b"\\xzz"),
            (r"\e[0m", b"\x1b[0m"),
            (r"\ud800", b"\\u"),
        ];
        for (text, want) in cases {
            assert_eq!(&unescape(text), want, "{text}");
        }
    }
}
