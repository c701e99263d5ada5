//! Reads simple expressions: what a string or list comes to.

use super::tokens::{Interpolation, Token};
use super::values::{ARGUMENTS, Names, Text, Value, as_text, behind, filled, join, result};

/// Most tokens looked at for one expression: longer ones are not followed.
const MAX_TOKENS: usize = 256;

/// Deepest nesting of expressions that is followed.
const MAX_DEPTH: usize = 6;

/// The strings of a value in a list.
fn spread(value: Value) -> Vec<Text> {
    match value {
        Value::List(items) => items,
        other => vec![as_text(other)],
    }
}

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

    /// Where it goes on behind the arguments of a call.
    pub(super) fn end(mut self) -> usize {
        self.skip_rest(')');
        while self.peek() == Some(&Token::Other(',')) {
            self.take();
            self.skip_rest(')');
        }
        self.position + 1
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
        let mut named = Vec::new();
        while let Some((name, value)) = self.entry(close, depth) {
            match name {
                // `args=[…]` and `args: […]` are the command for some libraries.
                Some(_) if matches!(value, Value::List(_)) && close != '}' => out.push(value),
                Some(name) => named.push((name, value)),
                None => out.push(value),
            }
        }
        if !named.is_empty() {
            out.push(Value::Map(named));
        }
        out
    }

    /// The next value of a list, with its name if it has one: `name=value`, `name: value`, `"name": value`.
    fn entry(&mut self, close: char, depth: usize) -> Option<(Option<String>, Value)> {
        loop {
            self.skip_lines();
            match self.peek()? {
                // Another closing bracket ends a broken list too.
                Token::Other(c @ (')' | ']' | '}')) => {
                    if *c == close {
                        self.take();
                    }
                    return None;
                }
                Token::Other(',' | '*') | Token::Member => {
                    self.take();
                }
                _ => break,
            }
        }
        let joins = matches!(self.peek_second(), Some(Token::Other('=' | ':')));
        // `a == b` and `"a" => b` name nothing.
        let twice = matches!(
            self.tokens.get(self.position + 2),
            Some(Token::Other('=' | '>'))
        );
        let name = match self.peek() {
            Some(Token::Name(name)) if joins => Some(name.clone()),
            Some(Token::Text(name, _)) if joins && close == '}' && !twice => Some(name.clone()),
            _ => None,
        };
        if name.is_some() {
            self.take();
            self.take();
        }
        let shorthand = match self.peek() {
            Some(Token::Name(name)) if close == '}' => Some(name.clone()),
            _ => None,
        };
        let value = self.expression(depth + 1);
        self.skip_rest(close);
        Some((name.or(shorthand), value))
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
                (a @ (Value::Text(_) | Value::Each(_)), b @ (Value::Text(_) | Value::Each(_))) => {
                    behind(a, b)
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
                let mut joined = Value::Text(Text::default());
                // Neighbouring literals are one string in Python.
                while let Some(Token::Text(text, interpolation)) = self.peek() {
                    self.take();
                    joined = behind(joined, self.interpolate(text, *interpolation));
                }
                joined
            }
            Some(Token::Other('{')) => {
                self.take();
                match self.sequence('}', depth).pop() {
                    Some(map @ Value::Map(_)) => map,
                    _ => Value::Unknown,
                }
            }
            Some(Token::Other(open @ ('[' | '('))) => {
                self.take();
                let close = if *open == '[' { ']' } else { ')' };
                let items = self.sequence(close, depth);
                match items.as_slice() {
                    [only] if *open == '(' => only.clone(),
                    // `["git", *words]`
                    _ => Value::List(items.into_iter().flat_map(spread).collect()),
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
                && !(members == 1
                    && matches!(
                        self.names.get(name.as_str()),
                        Some(Value::Text(_) | Value::List(_))
                    ))
            {
                self.take();
            } else {
                break;
            }
        }
        if self.peek() == Some(&Token::Other('['))
            && members == 1
            && let Some(Token::Text(key, _)) = self.peek_second()
            && let Some(value) = self.names.get(first).and_then(|map| map.entry(&[key]))
        {
            self.take();
            self.take();
            self.take();
            return value.clone();
        }
        if let (2, "sys" | "process", "argv") = (members, first, last)
            && let Some(value) = self.argument(first == "process")
        {
            return value;
        }
        // The first argument of a Perl script, outside of its functions.
        if (members, first) == (1, "shift")
            && !matches!(self.peek(), Some(Token::Other('(' | '@')))
            && let Some(Value::List(items)) = self.names.get(ARGUMENTS)
            && let Some(item) = items.get(1)
        {
            return Value::Text(item.clone());
        }
        if self.peek() != Some(&Token::Other('(')) {
            if members == 2
                && let Some(value) = self.names.get(first).and_then(|map| map.entry(&[last]))
            {
                return value.clone();
            }
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

    /// `sys.argv[1]`, `process.argv[2]`, at the bracket: an argument that the script was given.
    fn argument(&mut self, behind_program: bool) -> Option<Value> {
        let (Some(Token::Other('[')), Some(Token::Other(digit))) =
            (self.peek(), self.peek_second())
        else {
            return None;
        };
        let at = digit.to_digit(10)? as usize;
        let at = at.checked_sub(usize::from(behind_program))?;
        let Some(Value::List(items)) = self.names.get(ARGUMENTS) else {
            return None;
        };
        let item = items.get(at)?.clone();
        for _ in 0..3 {
            self.take();
        }
        Some(Value::Text(item))
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
                ("format", Value::Text(text), _) => {
                    let values: Vec<Text> = arguments.iter().cloned().map(as_text).collect();
                    Value::Text(filled(&text, &values, false))
                }
                _ => Value::Unknown,
            };
        }
        if let (Value::Text(text), Some(Token::Other('%'))) = (&value, self.peek()) {
            // `"…%s" % x`
            let text = text.clone();
            self.take();
            let values = match self.term(depth + 1) {
                Value::List(items) => items,
                other => vec![as_text(other)],
            };
            return Value::Text(filled(&text, &values, true));
        }
        value
    }

    /// Puts known values in the place of variables in a string.
    fn interpolate(&self, text: &str, interpolation: Interpolation) -> Value {
        let (open, close) = match interpolation {
            Interpolation::None => return Value::Text(Text::known(text.to_owned())),
            Interpolation::Braces => ("{", true),
            Interpolation::DollarBraces => ("${", true),
            Interpolation::HashBraces => ("#{", true),
            Interpolation::Dollar => ("$", false),
        };
        let mut out = Value::Text(Text::default());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once(open) {
            out = behind(out, Value::Text(Text::known(before.to_owned())));
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
            out = behind(out, self.placed(name.trim()));
            rest = left;
        }
        behind(out, Value::Text(Text::known(rest.to_owned())))
    }

    /// What stands for an expression in a string: a name, an entry of a map, a literal.
    fn placed(&self, expression: &str) -> Value {
        let quoted = |text: &str| {
            let inner = text.trim_matches(['"', '\'']);
            (inner.len() + 2 == text.len()).then(|| inner.to_owned())
        };
        let number = !expression.is_empty() && expression.bytes().all(|b| b.is_ascii_digit());
        if number {
            return Value::Text(Text::known(expression.to_owned()));
        }
        if let Some(text) = quoted(expression) {
            return Value::Text(Text::known(text));
        }
        let sigil = format!("${expression}");
        let bound = self
            .names
            .get(expression)
            .or_else(|| self.names.get(&sigil));
        let entry = || {
            let (name, key) = match expression.split_once('[') {
                Some((name, key)) => (name, quoted(key.strip_suffix(']')?)?),
                None => expression.split_once('.').map(|(n, k)| (n, k.to_owned()))?,
            };
            self.names.get(name)?.entry(&[key.as_str()])
        };
        match bound.or_else(entry) {
            Some(value @ (Value::Text(_) | Value::Each(_))) => value.clone(),
            _ => Value::Text(Text::unresolved()),
        }
    }
}
