//! Words: quotes, backslashes and expansions, up to where the word ends.

use std::rc::Rc;

use super::ast::{Part, RawWord};
use super::cursor::Base;
use super::parser::{Dialect, Parser, is_delimiter};

/// What ends the word being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum End {
    /// A blank or an operator.
    Token,
    /// The `}` of a parameter expansion.
    Brace,
    /// The `}` of a parameter expansion inside double quotes.
    QuotedBrace,
    /// The `"` of a double-quoted text.
    Quote,
    /// The end of the text (a heredoc, an arithmetic expression).
    Text,
}

impl End {
    /// True where blanks, operators and single quotes are ordinary characters.
    pub(super) fn quoted(self) -> bool {
        matches!(self, Self::Quote | Self::QuotedBrace | Self::Text)
    }
}

/// Collects the parts of a word, joining neighbouring literals.
#[derive(Debug, Default)]
pub(super) struct Parts(pub(super) Vec<Part>);

impl Parts {
    pub(super) fn literal(&mut self, added: &str, is_quoted: bool) {
        if let Some(Part::Literal { text, quoted }) = self.0.last_mut()
            && *quoted == is_quoted
        {
            text.push_str(added);
        } else {
            self.0.push(Part::Literal {
                text: added.to_owned(),
                quoted: is_quoted,
            });
        }
    }
}

impl Parser<'_> {
    /// Reads a word; empty if none stands here.
    pub(super) fn word(&mut self) -> RawWord {
        self.count(1);
        let start = self.cursor.position();
        let parts = self.parts(End::Token);
        let written = self.cursor.since(start);
        let exact = match (parts.as_slice(), self.base) {
            ([Part::Literal { text, .. }], Base::Exact(_)) => {
                let inner = written.get(1..written.len().saturating_sub(1));
                if text == written {
                    Some(self.base.at(start))
                } else if inner == Some(text) {
                    Some(self.base.at(start + 1))
                } else {
                    None
                }
            }
            _ => None,
        };
        RawWord {
            source: written.contains('\\').then(|| Rc::from(written)),
            parts,
            exact,
        }
    }

    /// The text of a heredoc whose delimiter was not quoted.
    pub(super) fn here_text(&mut self) -> RawWord {
        RawWord {
            parts: self.parts(End::Text),
            ..RawWord::default()
        }
    }

    pub(super) fn parts(&mut self, end: End) -> Vec<Part> {
        let mut parts = Parts(Vec::with_capacity(1));
        loop {
            self.count(1);
            let ordinary = self.cursor.take_while(|b| !is_special(b, end));
            if !ordinary.is_empty() {
                parts.literal(ordinary, end.quoted());
            }
            let Some(b) = self.cursor.peek(0) else {
                if !matches!(end, End::Token | End::Text) {
                    self.incomplete = true;
                }
                break;
            };
            match b {
                b'"' if end == End::Quote => {
                    self.cursor.advance(1);
                    break;
                }
                b'}' if matches!(end, End::Brace | End::QuotedBrace) => {
                    self.cursor.advance(1);
                    break;
                }
                b'\\' => self.backslash(end, &mut parts),
                b'$' => self.dollar(end, &mut parts),
                b'`' => self.backquote(end, &mut parts),
                b'"' if end != End::Text => {
                    self.cursor.advance(1);
                    self.double_quoted(&mut parts);
                }
                b'\'' if !end.quoted() => self.single_quoted(&mut parts),
                b'<' | b'>' if end == End::Token && self.cursor.peek(1) == Some(b'(') => {
                    self.process_substitution(&mut parts);
                }
                b'(' if end == End::Token && self.extended_glob(&mut parts) => {}
                _ if end == End::Token && is_delimiter(b) => break,
                _ => {
                    let start = self.cursor.position();
                    self.cursor.advance(1);
                    parts.literal(self.cursor.since(start), end.quoted());
                }
            }
        }
        parts.0
    }

    pub(super) fn double_quoted(&mut self, parts: &mut Parts) {
        let inner = self.parts(End::Quote);
        if inner.is_empty() {
            parts.literal("", true);
        }
        for part in inner {
            match part {
                Part::Literal { text, .. } => parts.literal(&text, true),
                other => parts.0.push(other),
            }
        }
    }

    fn single_quoted(&mut self, parts: &mut Parts) {
        self.cursor.advance(1);
        parts.literal(self.cursor.take_while(|b| b != b'\''), true);
        if !self.cursor.eat("'") {
            self.incomplete = true;
        }
    }

    fn backslash(&mut self, end: End, parts: &mut Parts) {
        let next = self.cursor.peek(1);
        if self.cursor.eat("\\\n") || self.cursor.eat("\\\r\n") {
            return;
        }
        self.cursor.advance(1);
        let keeps = match end {
            _ if self.dialect == Dialect::Windows => true,
            End::Token | End::Brace => is_drive_path(&parts.0) && next.is_some_and(|b| b != b' '),
            End::Quote => !matches!(next, Some(b'$' | b'`' | b'"' | b'\\')),
            End::QuotedBrace => !matches!(next, Some(b'$' | b'`' | b'"' | b'\\' | b'}')),
            End::Text => !matches!(next, Some(b'$' | b'`' | b'\\')),
        };
        if keeps || next.is_none() {
            parts.literal("\\", end.quoted());
        } else if let Some(c) = self.cursor.next_char() {
            parts.literal(c.encode_utf8(&mut [0; 4]), true);
        }
    }

    /// Reads the inside of `$'…'`, after the quote.
    pub(super) fn ansi_quoted(&mut self) -> String {
        let mut bytes: Vec<u8> = Vec::new();
        loop {
            let plain = self.cursor.take_while(|b| b != b'\'' && b != b'\\');
            bytes.extend_from_slice(plain.as_bytes());
            if self.cursor.eat("'") {
                break;
            }
            if !self.cursor.eat("\\") {
                self.incomplete = true;
                break;
            }
            let Some(c) = self.cursor.next_char() else {
                self.incomplete = true;
                break;
            };
            super::escapes::push_escape(c, &mut self.cursor, &mut bytes);
        }
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// `@(a|b)`: pattern lists stay in the word. False if the parenthesis is none of theirs.
    fn extended_glob(&mut self, parts: &mut Parts) -> bool {
        /// A longer list is no pattern but a mistake.
        const LONGEST: usize = 256;
        let marks = matches!(parts.0.last(), Some(Part::Literal { text, quoted: false })
            if text.ends_with(['@', '?', '*', '+', '!']));
        let inside = self.cursor.rest();
        let length = inside
            .bytes()
            .take(LONGEST)
            .position(|b| b == b')' || b == b'\n');
        match length {
            Some(length) if marks && inside.as_bytes().get(length) == Some(&b')') => {
                let start = self.cursor.position();
                self.cursor.advance(length + 1);
                parts.literal(self.cursor.since(start), false);
                true
            }
            _ => false,
        }
    }
}

/// True for the bytes that need a look while a word with this end is read.
fn is_special(b: u8, end: End) -> bool {
    match b {
        b'\\' | b'$' | b'`' => true,
        b'"' => end != End::Text,
        b'}' => matches!(end, End::Brace | End::QuotedBrace),
        b'\'' => !end.quoted(),
        _ => end == End::Token && is_delimiter(b),
    }
}

/// True for a word that begins with a drive (`C:`), whose backslashes separate directories.
fn is_drive_path(parts: &[Part]) -> bool {
    let [
        Part::Literal {
            text,
            quoted: false,
        },
    ] = parts
    else {
        return false;
    };
    let mut bytes = text.bytes();
    bytes.next().is_some_and(|b| b.is_ascii_alphabetic())
        && bytes.next() == Some(b':')
        && bytes.next().is_none_or(|b| b == b'\\')
}
