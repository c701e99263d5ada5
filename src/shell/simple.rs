//! Simple commands: assignments, words, redirections.

use super::ast::{
    AssignedValue, Assignment, Command, HereBody, Kind, RawRedirect, RawWord, Simple,
};
use super::parser::{Parser, ends_words, is_delimiter, is_name};

/// Builtins whose arguments are assignments and may be arrays.
const DECLARING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

impl Parser<'_> {
    /// Reads assignments, words and redirections up to an operator.
    pub(super) fn simple(&mut self, offset: usize) -> Option<Command> {
        let mut simple = Simple::default();
        let mut redirects = Vec::new();
        loop {
            self.skip_blank();
            if let Some(redirect) = self.redirect() {
                redirects.push(redirect);
                continue;
            }
            let at_process = {
                let rest = self.cursor.rest();
                rest.starts_with("<(") || rest.starts_with(">(")
            };
            match self.cursor.peek(0) {
                Some(b'(') => match self.parenthesis_in_words(&simple) {
                    Some(kind) => {
                        return Some(Command {
                            kind,
                            redirects,
                            offset,
                        });
                    }
                    None => break,
                },
                None => break,
                Some(b) if ends_words(b) && !at_process => break,
                Some(_) => {}
            }
            let declares = simple
                .words
                .first()
                .and_then(RawWord::plain)
                .is_some_and(|word| DECLARING.contains(&word));
            if (simple.words.is_empty() || declares)
                && let Some(assignment) = self.assignment(declares)
            {
                simple.assignments.push(assignment);
                continue;
            }
            simple.words.push(self.word());
        }
        let empty =
            simple.words.is_empty() && simple.assignments.is_empty() && redirects.is_empty();
        (!empty).then_some(Command {
            kind: Kind::Simple(simple),
            redirects,
            offset,
        })
    }

    /// A `(` after words: `name()` begins a function; anything else is a mistake, after which the
    /// parenthesis is read as a group of its own.
    fn parenthesis_in_words(&mut self, simple: &Simple) -> Option<Kind> {
        let name = match simple.words.as_slice() {
            [word] => word.plain(),
            _ => None,
        };
        let after = self.cursor.rest().get(1..).unwrap_or_default();
        let gap = after.len() - after.trim_start_matches([' ', '\t']).len();
        match name {
            Some(name) if after.get(gap..).is_some_and(|rest| rest.starts_with(')')) => {
                let name = name.to_owned();
                self.cursor.advance(gap + 2);
                let kind = if self.enter() {
                    self.function(name)
                } else {
                    Kind::Group(Vec::new())
                };
                self.leave();
                Some(kind)
            }
            _ => {
                self.incomplete = true;
                None
            }
        }
    }

    /// Reads `name=value` and its relatives; with `only_arrays` just `name=(…)`.
    fn assignment(&mut self, only_arrays: bool) -> Option<Assignment> {
        let before = self.cursor.position();
        let name = self.cursor.take_while(is_name).to_owned();
        let index = if self.cursor.peek(0) == Some(b'[') {
            let start = self.cursor.position() + 1;
            self.cursor
                .take_while(|b| b != b']' && !is_delimiter(b) && b != b'=');
            let index = self.cursor.since(start).to_owned();
            self.cursor.eat("]").then_some(index)
        } else {
            None
        };
        let append = self.cursor.eat("+=");
        let first_is_digit = name.bytes().next().is_none_or(|b| b.is_ascii_digit());
        let array = self.cursor.rest().trim_start_matches('=').starts_with('(');
        if first_is_digit || !(append || self.cursor.eat("=")) || (only_arrays && !array) {
            self.cursor.seek(before);
            return None;
        }
        let value = if self.cursor.peek(0) == Some(b'(') {
            self.cursor.advance(1);
            AssignedValue::Array(self.array_words())
        } else {
            let word = self.word();
            match index {
                Some(index) => AssignedValue::Element(index, word),
                None => AssignedValue::Scalar(word),
            }
        };
        Some(Assignment {
            name,
            append,
            value,
        })
    }

    fn array_words(&mut self) -> Vec<RawWord> {
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            match self.cursor.peek(0) {
                Some(b')') => {
                    self.cursor.advance(1);
                    return words;
                }
                None => {
                    self.incomplete = true;
                    return words;
                }
                Some(b) if ends_words(b) => self.skip_unexpected(1),
                Some(_) => words.push(self.word()),
            }
        }
    }

    /// Reads a redirection if one stands here.
    pub(super) fn redirect(&mut self) -> Option<RawRedirect> {
        const OPERATORS: &[&str] = &[
            "&>>", "&>", "<<<", "<<-", "<<", "<>", "<&", ">>", ">|", ">&", "<", ">",
        ];
        let before = self.cursor.position();
        if self.cursor.eat("{") {
            self.cursor.take_while(is_name);
            self.cursor.eat("}");
        } else {
            self.cursor.take_while(|b| b.is_ascii_digit());
        }
        let operator = OPERATORS.iter().find(|op| self.cursor.eat(op)).copied();
        let process = matches!(operator, Some("<" | ">")) && self.cursor.peek(0) == Some(b'(');
        let Some(operator) = operator.filter(|_| !process) else {
            self.cursor.seek(before);
            return None;
        };
        let written = self.cursor.since(before).to_owned();
        self.skip_blank();
        let target = self.word();
        if target.parts.is_empty() {
            self.incomplete = true;
        }
        let body = matches!(operator, "<<" | "<<-").then(HereBody::default);
        if let Some(body) = &body {
            self.expect_heredoc(&target, operator == "<<-", body);
        }
        Some(RawRedirect {
            operator: written,
            target,
            body,
        })
    }
}
