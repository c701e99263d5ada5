//! Words: quotes, backslashes and expansions, up to where the word ends.

use std::rc::Rc;

use super::ast::{Index, Operation, Part, RawWord, Variable};
use super::cursor::Base;
use super::parser::{Dialect, Parser, is_delimiter, is_name, parse_text};

/// What ends the word being read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
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
    fn quoted(self) -> bool {
        matches!(self, Self::Quote | Self::QuotedBrace | Self::Text)
    }
}

/// Collects the parts of a word, joining neighbouring literals.
#[derive(Debug, Default)]
struct Parts(Vec<Part>);

impl Parts {
    fn literal(&mut self, added: &str, is_quoted: bool) {
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

    fn parts(&mut self, end: End) -> Vec<Part> {
        let mut parts = Parts::default();
        loop {
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

    fn double_quoted(&mut self, parts: &mut Parts) {
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

    fn dollar(&mut self, end: End, parts: &mut Parts) {
        let start = self.cursor.position();
        let quoted = end.quoted();
        match self.cursor.peek(1) {
            Some(b'(') => {
                if let Some(word) = self.arithmetic("$((") {
                    parts.0.push(Part::Arithmetic {
                        word: Rc::new(word),
                        raw: Rc::from(self.cursor.since(start)),
                    });
                    return;
                }
                self.cursor.advance(2);
                let script = self.parenthesised_list();
                parts.0.push(Part::Command {
                    script: Rc::new(script),
                    raw: Rc::from(self.cursor.since(start)),
                    quoted,
                });
            }
            Some(b'{') => {
                self.cursor.advance(2);
                let variable = if self.enter() {
                    self.parameter(start, end)
                } else {
                    None
                };
                self.leave();
                if let Some(variable) = variable {
                    parts.0.push(Part::Variable {
                        variable: Rc::new(variable),
                        quoted,
                    });
                }
            }
            Some(b'\'') if !quoted => {
                self.cursor.advance(2);
                let text = self.ansi_quoted();
                parts.literal(&text, true);
            }
            Some(b'"') if !quoted => {
                self.cursor.advance(2);
                self.double_quoted(parts);
            }
            Some(b) if is_name(b) || is_special_parameter(b) => {
                self.cursor.advance(1);
                let name = if b == b'_' || b.is_ascii_alphabetic() {
                    self.cursor.take_while(is_name)
                } else {
                    let at = self.cursor.position();
                    self.cursor.advance(1);
                    self.cursor.since(at)
                };
                let name = name.to_owned();
                parts.0.push(Part::Variable {
                    variable: Rc::new(Variable {
                        name,
                        index: Index::None,
                        operation: Operation::Value,
                        argument: RawWord::default(),
                        raw: self.cursor.since(start).to_owned(),
                    }),
                    quoted,
                });
            }
            _ => {
                self.cursor.advance(1);
                parts.literal("$", quoted);
            }
        }
    }

    /// Reads the inside of `${ … }`, after the brace.
    fn parameter(&mut self, start: usize, end: End) -> Option<Variable> {
        let marked = match (self.cursor.peek(0), self.cursor.peek(1)) {
            (Some(b'#'), Some(b)) if is_name(b) || b == b'@' || b == b'*' => {
                Some(Operation::Length)
            }
            (Some(b'!'), Some(b)) if is_name(b) => Some(Operation::Indirect),
            _ => None,
        };
        if marked.is_some() {
            self.cursor.advance(1);
        }
        let mut name = self.cursor.take_while(is_name).to_owned();
        if name.is_empty() {
            let at = self.cursor.position();
            if self.cursor.peek(0).is_some_and(is_special_parameter) {
                self.cursor.advance(1);
            }
            name = self.cursor.since(at).to_owned();
        }
        let index = self.subscript();
        let operation = self.operation();
        let inner_end = if end.quoted() {
            End::QuotedBrace
        } else {
            End::Brace
        };
        let argument = RawWord {
            parts: self.parts(inner_end),
            ..RawWord::default()
        };
        if name.is_empty() {
            self.incomplete = true;
        }
        Some(Variable {
            name,
            index,
            operation: marked.unwrap_or(operation),
            argument,
            raw: self.cursor.since(start).to_owned(),
        })
    }

    fn subscript(&mut self) -> Index {
        if !self.cursor.eat("[") {
            return Index::None;
        }
        let start = self.cursor.position();
        self.cursor
            .take_while(|b| !matches!(b, b']' | b'}' | b'\n' | b'"' | b'\''));
        let index = self.cursor.since(start).to_owned();
        self.cursor.eat("]");
        match index.as_str() {
            "@" | "*" => Index::All,
            _ => Index::At(index),
        }
    }

    fn operation(&mut self) -> Operation {
        const OPERATIONS: &[(&str, Operation)] = &[
            (":-", Operation::Default),
            (":=", Operation::Assign),
            (":+", Operation::Alternative),
            (":?", Operation::Default),
            ("-", Operation::Default),
            ("=", Operation::Assign),
            ("+", Operation::Alternative),
            ("?", Operation::Default),
            ("##", Operation::StripPrefix { longest: true }),
            ("#", Operation::StripPrefix { longest: false }),
            ("%%", Operation::StripSuffix { longest: true }),
            ("%", Operation::StripSuffix { longest: false }),
            ("//", Operation::Replace { all: true }),
            ("/", Operation::Replace { all: false }),
            ("^^", Operation::Upper { all: true }),
            ("^", Operation::Upper { all: false }),
            (",,", Operation::Lower { all: true }),
            (",", Operation::Lower { all: false }),
            (":", Operation::Substring),
        ];
        if self.cursor.peek(0) == Some(b'}') {
            return Operation::Value;
        }
        OPERATIONS
            .iter()
            .find(|(text, _)| self.cursor.eat(text))
            .map_or(Operation::Unknown, |(_, operation)| *operation)
    }

    /// Reads the inside of `$'…'`, after the quote.
    fn ansi_quoted(&mut self) -> String {
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

    /// `` `…` ``: backslashes in front of `` ` ``, `\` and `$` are taken off, then it is a script.
    fn backquote(&mut self, end: End, parts: &mut Parts) {
        let start = self.cursor.position();
        self.cursor.advance(1);
        let inner = self.cursor.position();
        let mut script = String::new();
        let mut unchanged = true;
        loop {
            script.push_str(self.cursor.take_while(|b| b != b'`' && b != b'\\'));
            if self.cursor.eat("`") {
                break;
            }
            if !self.cursor.eat("\\") {
                self.incomplete = true;
                break;
            }
            let escapes = match self.cursor.peek(0) {
                Some(b'`' | b'\\' | b'$') => true,
                Some(b'"') => end == End::Quote,
                _ => false,
            };
            if !escapes {
                script.push('\\');
            }
            unchanged &= !escapes;
            script.extend(self.cursor.next_char());
        }
        let base = if unchanged {
            self.base.inner(inner)
        } else {
            Base::Fixed(self.base.at(start))
        };
        if self.enter() {
            let parsed = parse_text(&script, base, self.depth, self.dialect);
            self.incomplete |= parsed.incomplete;
            parts.0.push(Part::Command {
                script: Rc::new(parsed.script),
                raw: Rc::from(self.cursor.since(start)),
                quoted: end.quoted(),
            });
        }
        self.leave();
    }

    fn process_substitution(&mut self, parts: &mut Parts) {
        let start = self.cursor.position();
        self.cursor.advance(2);
        let script = self.parenthesised_list();
        parts.0.push(Part::Process {
            script: Rc::new(script),
            raw: Rc::from(self.cursor.since(start)),
        });
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

    /// Reads `(( … ))` or `$(( … ))` if the parentheses match; substitutions inside are parsed.
    pub(super) fn arithmetic(&mut self, opening: &str) -> Option<RawWord> {
        /// Longer expressions are read as commands.
        const LONGEST: usize = 4096;
        let rest = self.cursor.rest();
        let inside = rest.strip_prefix(opening)?;
        let mut open = 2_usize;
        let mut length = None;
        for (at, b) in inside.bytes().take(LONGEST).enumerate() {
            match b {
                b'(' => open += 1,
                b')' => open -= 1,
                _ => continue,
            }
            if open == 1 && b == b')' {
                let closes = inside.as_bytes().get(at + 1) == Some(&b')');
                if !closes {
                    return None;
                }
                length = Some(at);
                break;
            }
        }
        let length = length?;
        let text = inside.get(..length)?;
        let start = self.cursor.position() + opening.len();
        self.cursor.advance(opening.len() + length + 2);
        let mut word = RawWord::default();
        if self.enter() {
            let mut inner = Parser::new(text, self.base.inner(start), self.depth, self.dialect);
            word = inner.here_text();
            self.incomplete |= inner.incomplete;
        }
        self.leave();
        Some(word)
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

fn is_special_parameter(b: u8) -> bool {
    matches!(b, b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-')
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
