//! Reads simple expressions: what a string or list comes to.

use super::tokens::{Interpolation, Token};
use super::values::{Names, Text, Value, as_text, join, result};

/// Most tokens looked at for one expression: longer ones are not followed.
const MAX_TOKENS: usize = 256;

/// Deepest nesting of expressions that is followed.
const MAX_DEPTH: usize = 6;

/// Reads expressions from a list of tokens.
#[derive(Debug)]
pub(super) struct Reader<'t> {
    tokens: &'t [Token],
    names: &'t Names,
    position: usize,
    left: usize,
}

impl<'t> Reader<'t> {
    /// A reader at `position`.
    pub(super) fn new(tokens: &'t [Token], position: usize, names: &'t Names) -> Self {
        Self {
            tokens,
            names,
            position,
            left: MAX_TOKENS,
        }
    }

    fn peek(&self) -> Option<&'t Token> {
        if self.left == 0 {
            return None;
        }
        self.tokens.get(self.position)
    }

    fn peek_second(&self) -> Option<&'t Token> {
        self.tokens.get(self.position + 1)
    }

    fn take(&mut self) -> Option<&'t Token> {
        let token = self.peek()?;
        self.position += 1;
        self.left -= 1;
        Some(token)
    }

    fn skip_lines(&mut self) {
        while self.peek() == Some(&Token::End) {
            self.take();
        }
    }

    /// Reads the arguments of a call, after its opening parenthesis; keyword arguments are left
    /// out.
    pub(super) fn arguments(&mut self) -> Vec<Value> {
        self.sequence(')', 0)
    }

    /// Reads arguments without parentheses up to the end of the statement.
    pub(super) fn bare_arguments(&mut self) -> Vec<Value> {
        let mut out = vec![self.expression(0)];
        while self.peek() == Some(&Token::Other(',')) {
            self.take();
            out.push(self.expression(0));
        }
        out
    }

    fn sequence(&mut self, close: char, depth: usize) -> Vec<Value> {
        let mut out = Vec::new();
        loop {
            self.skip_lines();
            match self.peek() {
                None => return out,
                // Another closing bracket ends a broken list too.
                Some(Token::Other(c @ (')' | ']' | '}'))) => {
                    if *c == close {
                        self.take();
                    }
                    return out;
                }
                Some(Token::Other(',')) => {
                    self.take();
                    continue;
                }
                _ => {}
            }
            let keyword = matches!(self.peek(), Some(Token::Name(_)))
                && matches!(self.peek_second(), Some(Token::Other('=' | ':')));
            if keyword {
                self.take();
                self.take();
                // `args=[…]` and `args: […]` are the command for some libraries.
                let value = self.expression(depth + 1);
                if matches!(value, Value::List(_)) {
                    out.push(value);
                }
            } else {
                out.push(self.expression(depth + 1));
            }
            self.skip_rest(close);
        }
    }

    /// Skips what is left of an argument.
    fn skip_rest(&mut self, close: char) {
        let mut open = 0_usize;
        while let Some(token) = self.peek() {
            match token {
                Token::Other(c) if open == 0 && (*c == close || *c == ',') => return,
                Token::Other('(' | '[' | '{') => open += 1,
                Token::Other(')' | ']' | '}') => {
                    if open == 0 {
                        return;
                    }
                    open -= 1;
                }
                _ => {}
            }
            self.take();
        }
    }

    /// Reads an expression: terms joined by `+`.
    pub(super) fn expression(&mut self, depth: usize) -> Value {
        if depth > MAX_DEPTH {
            return Value::Unknown;
        }
        let mut value = self.term(depth);
        loop {
            if self.peek() != Some(&Token::Other('+')) {
                break;
            }
            self.take();
            let right = self.term(depth);
            value = match (value, right) {
                (Value::Text(mut a), Value::Text(b)) => {
                    a.join(&b);
                    Value::Text(a)
                }
                (Value::Text(mut a), _) => {
                    a.join(&Text::unresolved());
                    Value::Text(a)
                }
                (Value::Unknown, Value::Text(b)) => {
                    let mut a = Text::unresolved();
                    a.join(&b);
                    Value::Text(a)
                }
                (Value::List(mut a), Value::List(b)) => {
                    a.extend(b);
                    Value::List(a)
                }
                (Value::List(mut a), _) => {
                    a.push(Text::unresolved());
                    Value::List(a)
                }
                (other, _) => other,
            };
        }
        value
    }

    fn term(&mut self, depth: usize) -> Value {
        let value = match self.peek() {
            Some(Token::Text(..)) => {
                let mut joined = Text::default();
                // Neighbouring literals are one string in Python.
                while let Some(Token::Text(text, interpolation)) = self.peek() {
                    self.take();
                    joined.join(&self.interpolate(text, *interpolation));
                }
                Value::Text(joined)
            }
            Some(Token::Other(open @ ('[' | '('))) => {
                self.take();
                let close = if *open == '[' { ']' } else { ')' };
                let items = self.sequence(close, depth);
                match items.as_slice() {
                    [only] if *open == '(' => only.clone(),
                    _ => Value::List(items.into_iter().map(as_text).collect()),
                }
            }
            Some(Token::Name(_)) => self.named(depth),
            Some(Token::Other(c)) if c.is_ascii_digit() => {
                let mut digits = String::new();
                while let Some(Token::Other(c)) = self.peek() {
                    if !c.is_ascii_digit() {
                        break;
                    }
                    digits.push(*c);
                    self.take();
                }
                Value::Text(Text::known(digits))
            }
            _ => Value::Unknown,
        };
        self.methods(value, depth)
    }

    /// A name, a member of it, or a call.
    fn named(&mut self, depth: usize) -> Value {
        let mut last = "";
        let mut first = "";
        let mut members = 0_usize;
        while let Some(Token::Name(name)) = self.peek() {
            self.take();
            if matches!(name.as_str(), "new" | "await" | "my" | "f") && members == 0 {
                continue;
            }
            if members == 0 {
                first = name;
            }
            last = name;
            members += 1;
            if self.peek() == Some(&Token::Member)
                && matches!(self.peek_second(), Some(Token::Name(_)))
                && !(members == 1 && matches!(self.names.get(name.as_str()), Some(Value::Text(_))))
            {
                self.take();
            } else {
                break;
            }
        }
        if self.peek() != Some(&Token::Other('(')) {
            return match (self.names.get(first), first, last) {
                (Some(value), ..) if members == 1 => value.clone(),
                (_, "sys", "executable") => Value::Text(Text::known("python".to_owned())),
                (_, "process", "execPath") => Value::Text(Text::known("node".to_owned())),
                _ => Value::Unknown,
            };
        }
        loop {
            self.take();
            let arguments = self.sequence(')', depth);
            let value = result(first, last, &arguments);
            // `require("x").f(…)`, `__import__("x").f(…)`: what counts is the last call.
            let Some(Token::Name(name)) = self.peek_second() else {
                return value;
            };
            let calls = self.tokens.get(self.position + 2) == Some(&Token::Other('('));
            let goes_on = self.peek() == Some(&Token::Member) && calls;
            if value != Value::Unknown || !goes_on {
                return value;
            }
            last = name;
            self.take();
            self.take();
        }
    }

    /// Methods of strings and lists behind a term.
    fn methods(&mut self, mut value: Value, depth: usize) -> Value {
        while self.peek() == Some(&Token::Member)
            && !matches!(value, Value::Unknown)
            && let Some(Token::Name(name)) = self.peek_second()
            && !name.starts_with('$')
        {
            self.take();
            self.take();
            let arguments = if self.peek() == Some(&Token::Other('(')) {
                self.take();
                self.sequence(')', depth)
            } else {
                Vec::new()
            };
            value = match (name.as_str(), value, arguments.first()) {
                (
                    "decode" | "encode" | "toString" | "strip" | "trim" | "rstrip" | "chomp"
                    | "to_s" | "read",
                    same,
                    _,
                ) => same,
                ("split", Value::Text(text), _) => Value::List(
                    text.text
                        .split_whitespace()
                        .map(|word| Text {
                            text: word.to_owned(),
                            ..text.clone()
                        })
                        .collect(),
                ),
                // `" ".join([…])` of Python, `[…].join(" ")` elsewhere.
                ("join", Value::Text(separator), Some(Value::List(items))) => {
                    join(items, &separator)
                }
                ("join", Value::List(items), separator) => {
                    let separator = separator.cloned().map(as_text).unwrap_or_default();
                    join(&items, &separator)
                }
                ("concat", Value::Text(mut text), Some(Value::Text(more))) => {
                    text.join(more);
                    Value::Text(text)
                }
                ("format", Value::Text(text), _) => Value::Text(Text {
                    dynamic: true,
                    ..text
                }),
                _ => Value::Unknown,
            };
        }
        if let (Value::Text(text), Some(Token::Other('%'))) = (&mut value, self.peek()) {
            // `"…%s" % x`
            text.dynamic = true;
        }
        value
    }

    /// Puts known values in the place of variables in a string.
    fn interpolate(&self, text: &str, interpolation: Interpolation) -> Text {
        let (open, close) = match interpolation {
            Interpolation::None => return Text::known(text.to_owned()),
            Interpolation::Braces => ("{", true),
            Interpolation::DollarBraces => ("${", true),
            Interpolation::HashBraces => ("#{", true),
            Interpolation::Dollar => ("$", false),
        };
        let mut out = Text::default();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(open) {
            out.join(&Text::known(before.to_owned()));
            let (name, left) = if close {
                after.split_once('}').unwrap_or((after, ""))
            } else {
                let after = after.strip_prefix('{').unwrap_or(after);
                let end = after
                    .bytes()
                    .position(|b| b != b'_' && !b.is_ascii_alphanumeric())
                    .unwrap_or(after.len());
                let (name, left) = after.split_at_checked(end).unwrap_or((after, ""));
                (name, left.strip_prefix('}').unwrap_or(left))
            };
            let sigil = format!("${name}");
            let bound = self.names.get(name).or_else(|| self.names.get(&sigil));
            match bound {
                Some(Value::Text(value)) => out.join(value),
                _ => out.join(&Text::unresolved()),
            }
            rest = left;
        }
        out.join(&Text::known(rest.to_owned()));
        out
    }
}
