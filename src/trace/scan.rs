//! Where does a JSON value end? A resumable scan that builds nothing.
//!
//! The reader must cut a stream into records before it can parse them: records may share a line,
//! span many lines, or be cut off. The scanner knows just enough grammar to tell a value that goes on
//! from one that is broken, so that a record that lost its tail does not swallow the ones after it.
//! A raw line feed inside a string is never valid JSON and is the usual sign of a lost tail.

use memchr::memchr3;

/// Containers nested deeper than this count as broken: it bounds the memory of the scan.
const MAX_DEPTH: usize = 1 << 20;

/// What the grammar allows next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Want {
    Value,
    ValueOrEnd,
    Key,
    KeyOrEnd,
    Colon,
    CommaOrEnd,
}

/// The state of a scan that may continue in the next chunk.
#[derive(Debug, Clone)]
pub(crate) struct Scanner {
    /// Open containers: true for an object.
    stack: Vec<bool>,
    want: Want,
    in_string: bool,
    string_is_key: bool,
    escaped: bool,
    in_scalar: bool,
}

/// What a chunk brought.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Scan {
    /// The value ends after that many bytes of the chunk.
    Done(usize),
    /// The value goes on behind the chunk.
    More,
    /// The byte at that index of the chunk cannot stand there.
    Broken(usize),
}

impl Scanner {
    /// A scan that stands before the first byte of an object or array.
    pub(crate) fn new() -> Self {
        Self {
            stack: Vec::new(),
            want: Want::Value,
            in_string: false,
            string_is_key: false,
            escaped: false,
            in_scalar: false,
        }
    }

    /// Goes on with the next chunk. Must not be called again after `Done` or `Broken`.
    pub(crate) fn feed(&mut self, chunk: &[u8]) -> Scan {
        let mut at = 0;
        while let Some(rest) = chunk.get(at..).filter(|rest| !rest.is_empty()) {
            if self.in_string {
                match self.string(rest) {
                    Ok(used) => at += used,
                    Err(bad) => return Scan::Broken(at + bad),
                }
                continue;
            }
            let Some(&byte) = rest.first() else { break };
            if !self.token(byte) {
                return Scan::Broken(at);
            }
            at += 1;
            if self.stack.is_empty() && matches!(byte, b'}' | b']') {
                return Scan::Done(at);
            }
        }
        Scan::More
    }

    /// Inside a string: how many bytes were used, or where it broke.
    fn string(&mut self, rest: &[u8]) -> Result<usize, usize> {
        if self.escaped {
            self.escaped = false;
            return if rest.first() == Some(&b'\n') {
                Err(0)
            } else {
                Ok(1)
            };
        }
        match memchr3(b'"', b'\\', b'\n', rest) {
            None => Ok(rest.len()),
            Some(at) => match rest.get(at) {
                Some(b'"') => {
                    self.in_string = false;
                    self.want = if self.string_is_key {
                        Want::Colon
                    } else {
                        Want::CommaOrEnd
                    };
                    Ok(at + 1)
                }
                Some(b'\\') => {
                    self.escaped = true;
                    Ok(at + 1)
                }
                _ => Err(at),
            },
        }
    }

    /// Outside strings: true when the byte may stand here.
    fn token(&mut self, byte: u8) -> bool {
        let value_may_start = matches!(self.want, Want::Value | Want::ValueOrEnd);
        let was_scalar = std::mem::take(&mut self.in_scalar);
        match byte {
            b' ' | b'\t' | b'\r' | b'\n' => true,
            b'"' => {
                self.string_is_key = matches!(self.want, Want::Key | Want::KeyOrEnd);
                self.in_string = self.string_is_key || value_may_start;
                self.in_string
            }
            b'{' | b'[' => {
                if !value_may_start || self.stack.len() >= MAX_DEPTH {
                    return false;
                }
                let object = byte == b'{';
                self.stack.push(object);
                self.want = if object {
                    Want::KeyOrEnd
                } else {
                    Want::ValueOrEnd
                };
                true
            }
            b'}' => self.close(true, Want::KeyOrEnd),
            b']' => self.close(false, Want::ValueOrEnd),
            b',' => {
                let ok = self.want == Want::CommaOrEnd;
                self.want = if self.stack.last() == Some(&true) {
                    Want::Key
                } else {
                    Want::Value
                };
                ok
            }
            b':' => {
                let ok = self.want == Want::Colon;
                self.want = Want::Value;
                ok
            }
            b'-' | b'+' | b'.' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                self.in_scalar = true;
                if was_scalar {
                    return true;
                }
                self.want = Want::CommaOrEnd;
                value_may_start
            }
            _ => false,
        }
    }

    /// Closes a container of that kind; `empty` is what it wants when nothing is in it yet.
    fn close(&mut self, object: bool, empty: Want) -> bool {
        let ok = self.stack.last() == Some(&object)
            && (self.want == Want::CommaOrEnd || self.want == empty);
        if ok {
            self.stack.pop();
            self.want = Want::CommaOrEnd;
        }
        ok
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scan(text: &str) -> Scan {
        Scanner::new().feed(text.as_bytes())
    }

    #[test]
    fn ends_of_values() {
        for (text, want) in [
            ("{}", Scan::Done(2)),
            ("[]", Scan::Done(2)),
            (r#"{"a":1}{"b":2}"#, Scan::Done(7)),
            ("{\n  \"a\": [1, {\"b\": null}]\n}\nx", Scan::Done(27)),
            (r#"{"a":"}\"]"} "#, Scan::Done(12)),
            (r#"[1.5e3,"x",NaN]"#, Scan::Done(15)),
            (r#"{"a":"#, Scan::More),
            (r#"{"a":"b"#, Scan::More),
            ("{\"a\":\"b\nc\"}", Scan::Broken(7)),
            ("{\"a\":\"b\\\nc\"}", Scan::Broken(8)),
            ("{\"a\":1\n{\"b\":2}", Scan::Broken(7)),
            ("{\"a\":1,\n{\"b\":2}", Scan::Broken(8)),
            ("{a:1}", Scan::Broken(1)),
            ("[12:30:01]", Scan::Broken(3)),
            ("[1,]", Scan::Broken(3)),
            ("{]", Scan::Broken(1)),
            ("[1 2]", Scan::Broken(3)),
            ("{\"a\" 1}", Scan::Broken(5)),
            ("{\"a\":}", Scan::Broken(5)),
        ] {
            assert_eq!(scan(text), want, "{text:?}");
        }
    }

    #[test]
    fn the_cut_into_chunks_does_not_matter() {
        let text =
            "{\"k\\\"ey\": [\"a\\\\\", 12, {\"b\": \"\\u1234 }]\"}], \"z\": true} tail".as_bytes();
        let whole = Scanner::new().feed(text);
        assert_eq!(whole, Scan::Done(text.len() - 5));
        for size in 1..8 {
            let mut scanner = Scanner::new();
            let mut at = 0;
            let mut result = Scan::More;
            for chunk in text.chunks(size) {
                match scanner.feed(chunk) {
                    Scan::More => at += chunk.len(),
                    Scan::Done(used) => {
                        result = Scan::Done(at + used);
                        break;
                    }
                    Scan::Broken(used) => {
                        result = Scan::Broken(at + used);
                        break;
                    }
                }
            }
            assert_eq!(result, whole, "chunks of {size}");
        }
    }

    #[test]
    fn depth_is_bounded() {
        assert_eq!(scan(&"[".repeat(MAX_DEPTH)), Scan::More);
        assert_eq!(scan(&"[".repeat(MAX_DEPTH + 1)), Scan::Broken(MAX_DEPTH));
    }
}
