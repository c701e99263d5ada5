//! Expansions in words: `$x`, `${x…}`, `$(…)`, backquotes, `<(…)`, arithmetic.

use std::rc::Rc;

use super::ast::{Index, Operation, Part, RawWord, Variable};
use super::cursor::Base;
use super::limits::MAX_NESTING;
use super::parser::{Parser, is_name};
use super::words::{End, Parts};

impl Parser<'_> {
    pub(super) fn dollar(&mut self, end: End, parts: &mut Parts) {
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
            "@" => Index::All,
            "*" => Index::Joined,
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

    /// `` `…` ``: backslashes in front of `` ` ``, `\` and `$` are taken off, then it is a script.
    pub(super) fn backquote(&mut self, end: End, parts: &mut Parts) {
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
        if self.depth == MAX_NESTING {
            // Too deep: what stands between the quotes is part of the rest.
            self.cursor.seek(inner);
        }
        if self.enter() {
            let mut inner = self.inner(&script, base);
            let parsed = inner.whole();
            self.take_in(inner);
            parts.0.push(Part::Command {
                script: Rc::new(parsed),
                raw: Rc::from(self.cursor.since(start)),
                quoted: end.quoted(),
            });
        }
        self.leave();
    }

    pub(super) fn process_substitution(&mut self, parts: &mut Parts) {
        let start = self.cursor.position();
        self.cursor.advance(2);
        let script = self.parenthesised_list();
        parts.0.push(Part::Process {
            script: Rc::new(script),
            raw: Rc::from(self.cursor.since(start)),
        });
    }

    /// Reads `(( … ))` or `$(( … ))` if the parentheses match; substitutions inside are parsed.
    pub(super) fn arithmetic(&mut self, opening: &str) -> Option<RawWord> {
        /// Longer expressions are read as commands.
        const LONGEST: usize = 4096;
        if self.depth == MAX_NESTING {
            return None;
        }
        let rest = self.cursor.rest();
        let inside = rest.strip_prefix(opening)?;
        let mut open = 2_usize;
        let mut length = None;
        for (at, b) in inside.bytes().take(LONGEST).enumerate() {
            match b {
                // Nested as deeply as commands may be, so that a row of parentheses is not looked
                // ahead at from each of them.
                b'(' if open > MAX_NESTING => return None,
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
            let mut inner = self.inner(text, self.base.inner(start));
            word = inner.here_text();
            self.incomplete |= inner.incomplete;
            self.nodes = inner.nodes;
            self.rests.append(&mut inner.rests);
        }
        self.leave();
        Some(word)
    }
}

fn is_special_parameter(b: u8) -> bool {
    matches!(b, b'@' | b'*' | b'#' | b'?' | b'$' | b'!' | b'-')
}
