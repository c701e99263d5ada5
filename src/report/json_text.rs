//! JSON whose text cannot drive a terminal.
//!
//! JSON itself escapes only C0 controls. Paths and excerpts come from the audited party, and people do look at JSON
//! on a terminal, so DEL, C1 controls, and invisible or direction-changing characters are escaped too. Any reader gets
//! back the same string.

use std::io::{self, Write};

use serde::Serialize;

use super::escape::needs_escape;

/// Writes `value` indented, with a final newline.
///
/// # Errors
/// What the stream says.
pub fn write_document<T: Serialize + ?Sized>(out: &mut dyn Write, value: &T) -> io::Result<()> {
    serde_json::to_writer_pretty(Escaping(&mut *out), value)?;
    out.write_all(b"\n")
}

/// Writes `value` on one line.
///
/// # Errors
/// What the stream says.
pub fn write_line<T: Serialize + ?Sized>(out: &mut dyn Write, value: &T) -> io::Result<()> {
    serde_json::to_writer(Escaping(&mut *out), value)?;
    out.write_all(b"\n")
}

/// Replaces dangerous characters by JSON escapes. Outside strings JSON is plain ASCII, so wherever such a character
/// stands it stands in a string.
struct Escaping<'a>(&'a mut dyn Write);

impl Write for Escaping<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The serialiser hands over whole characters; should that ever change, the bytes pass as they are.
        match std::str::from_utf8(bytes) {
            Ok(text) if text.chars().any(is_dangerous) => {
                self.0.write_all(escape(text).as_bytes())?
            }
            _ => self.0.write_all(bytes)?,
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

/// Line breaks are the layout of an indented document; inside strings the serialiser has escaped them.
fn is_dangerous(c: char) -> bool {
    c != '\n' && needs_escape(c)
}

fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_dangerous(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            out.push(c);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    #[test]
    fn text_that_reorders_a_line_is_escaped() {
        let mut out = Vec::new();
        write_line(
            &mut out,
            &json!({"path": "a\u{202e}b\u{7f}\u{9b}\u{feff}\u{e0041}上"}),
        )
        .unwrap();
        assert_eq!(
            String::from_utf8(out).unwrap(),
            "{\"path\":\"a\\u202eb\\u007f\\u009b\\ufeff\\udb40\\udc41上\"}\n"
        );
    }

    proptest! {
        #[test]
        fn any_text_reads_back(key in any::<String>(), text in any::<String>()) {
            let value = json!({ key: [text, 1, null] });
            for write in [write_line::<Value>, write_document::<Value>] {
                let mut out = Vec::new();
                write(&mut out, &value).unwrap();
                prop_assert_eq!(&serde_json::from_slice::<Value>(&out).unwrap(), &value);
                let text = String::from_utf8(out).unwrap();
                prop_assert!(!text.chars().any(is_dangerous));
            }
        }
    }
}
