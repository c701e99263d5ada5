//! Functions that a source text defines for itself: `def sh(c): return run(c, shell=True)`.
//!
//! A call of one is looked into with its arguments in the place of its parameters, as far as a helper of a few
//! lines goes: what belongs to the body is told by brackets, or by the next definition.

use std::collections::{BTreeMap, BTreeSet};

use super::Search;
use super::names::{READING, STARTING};
use super::reader::Reader;
use super::tokens::{Line, Token};
use super::values::{Text, Value, as_text};

/// Tokens of one body that are looked at.
const LONGEST: usize = 200;

/// Calls within calls that are looked into.
const DEEPEST: usize = 3;

/// Definitions that are kept of one text.
const DEFINED: usize = 512;

/// Calls that are looked into in one text.
const MOST: usize = 256;

/// One definition.
#[derive(Debug, Clone)]
struct Function {
    /// Names of the parameters; the last one takes all that is left if `rest`.
    parameters: Vec<String>,
    rest: bool,
    /// The tokens of the body.
    from: usize,
    to: usize,
}

/// The definitions of one text.
#[derive(Debug, Default)]
pub(super) struct Functions {
    known: BTreeMap<String, Function>,
    active: BTreeSet<String>,
    /// There are more than are kept.
    pub(super) cut: bool,
    /// Calls that were looked into.
    calls: usize,
    /// Programs are functions of their names: `from sh import git`.
    pub(super) names_programs: bool,
}

impl Functions {
    /// All definitions among the tokens.
    pub(super) fn find(tokens: &[Token], lines: &[Line]) -> Self {
        let mut found = Self::default();
        let name = |at: usize| match tokens.get(at) {
            Some(Token::Name(name)) => Some(name.as_str()),
            _ => None,
        };
        for at in 0..tokens.len() {
            let Some(word) = name(at) else { continue };
            if matches!(word, "plumbum")
                || word == "sh" && matches!(at.checked_sub(1).and_then(name), Some("from"))
            {
                found.names_programs = true;
            }
            let function = match word {
                // `def f(a):`, `function f(a) {`, `sub f {`
                "def" | "function" | "func" | "fn" => {
                    name(at + 1).and_then(|own| Some((own, listed(tokens, lines, at)?)))
                }
                // `f = lambda a: …`
                "lambda" => bound(tokens, at).map(|own| {
                    let (parameters, rest, from) = names(tokens, at + 1, &Token::Other(':'));
                    let function = Function {
                        parameters,
                        rest,
                        from,
                        to: line(tokens, from),
                    };
                    (own, function)
                }),
                // `const f = (a) => …`, `const f = a => …`
                _ => arrow(tokens, at).map(|function| (word, function)),
            };
            if let Some((own, function)) = function {
                if found.known.len() >= DEFINED {
                    found.cut = true;
                    break;
                }
                found.known.insert(own.to_owned(), function);
            }
        }
        found.keep_active(tokens);
        found
    }

    /// Only those count that start or read something, by themselves or by one of the others.
    fn keep_active(&mut self, tokens: &[Token]) {
        for _ in 0..DEEPEST {
            let active: Vec<String> = self
                .known
                .iter()
                .filter(|(_, function)| {
                    let body = tokens.get(function.from..function.to.min(tokens.len()));
                    body.unwrap_or_default().iter().any(|token| match token {
                        Token::Command(..) => true,
                        Token::Name(name) => {
                            let calls = STARTING.contains(&name.as_str())
                                || READING.contains(&name.as_str());
                            calls || self.active.contains(name)
                        }
                        _ => false,
                    })
                })
                .map(|(name, _)| name.clone())
                .collect();
            self.active.extend(active);
        }
        self.known.retain(|name, _| self.active.contains(name));
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.known.contains_key(name)
    }
}

/// The name that what stands at `at` is assigned to.
fn bound(tokens: &[Token], at: usize) -> Option<&str> {
    match (tokens.get(at.checked_sub(2)?), tokens.get(at - 1)) {
        (Some(Token::Name(name)), Some(Token::Other('='))) => Some(name),
        _ => None,
    }
}

/// The definition whose word stands at `at`, and its name behind it.
fn listed(tokens: &[Token], lines: &[Line], at: usize) -> Option<Function> {
    if tokens.get(at + 2) != Some(&Token::Other('(')) {
        return None;
    }
    let (parameters, rest, after) = names(tokens, at + 3, &Token::Other(')'));
    let opens = (after..after + 8).find(|at| tokens.get(*at) == Some(&Token::Other('{')));
    let to = match opens.filter(|_| lines.is_empty()) {
        Some(open) => closing(tokens, open),
        None => outdented(lines, at, after).unwrap_or_else(|| definition(tokens, after)),
    };
    Some(Function {
        parameters,
        rest,
        from: after,
        to: to.min(after + LONGEST),
    })
}

/// The first line behind `after` that is indented no more than the one with `at`.
fn outdented(lines: &[Line], at: usize, after: usize) -> Option<usize> {
    let behind = lines.partition_point(|line| line.token <= at);
    let own = behind.checked_sub(1).and_then(|own| lines.get(own));
    let indent = own.map_or(0, |line| line.indent);
    let mut later = lines.get(behind..)?.iter();
    let found = later.find(|line| line.token >= after && line.indent <= indent);
    found.map(|line| line.token)
}

/// `f = (a) => …`, `f = async (a) => …`, `f = a => …` behind the name at `at`.
fn arrow(tokens: &[Token], at: usize) -> Option<Function> {
    if tokens.get(at + 1) != Some(&Token::Other('=')) {
        return None;
    }
    let mut from = at + 2;
    if matches!(tokens.get(from), Some(Token::Name(word)) if word == "async") {
        from += 1;
    }
    let (parameters, rest, after) = match tokens.get(from)? {
        Token::Other('(') => names(tokens, from + 1, &Token::Other(')')),
        Token::Name(name) => (vec![name.clone()], false, from + 1),
        _ => return None,
    };
    let points = tokens.get(after) == Some(&Token::Other('='))
        && tokens.get(after + 1) == Some(&Token::Other('>'));
    if !points {
        return None;
    }
    let to = match tokens.get(after + 2) {
        Some(Token::Other('{')) => closing(tokens, after + 2),
        _ => line(tokens, after + 2),
    };
    Some(Function {
        parameters,
        rest,
        from: after + 2,
        to,
    })
}

/// The names up to `close`, whether the last one takes the rest, and where it goes on.
fn names(tokens: &[Token], mut at: usize, close: &Token) -> (Vec<String>, bool, usize) {
    let (mut found, mut rest, mut fresh) = (Vec::new(), false, true);
    let end = at + LONGEST;
    while let Some(token) = tokens.get(at).filter(|token| *token != close && at < end) {
        match token {
            Token::Name(name) if fresh => {
                found.push(name.clone());
                fresh = false;
            }
            Token::Other(',') => fresh = true,
            // `*a`, `...a`
            Token::Other('*') | Token::Member => rest = true,
            _ => {}
        }
        at += 1;
    }
    (found, rest, at + 1)
}

/// The end of the statement.
fn line(tokens: &[Token], from: usize) -> usize {
    let rest = tokens.get(from..).unwrap_or_default();
    let length = rest
        .iter()
        .take(LONGEST)
        .take_while(|token| **token != Token::End)
        .count();
    from + length
}

/// The next definition, or so many tokens.
fn definition(tokens: &[Token], from: usize) -> usize {
    let next =
        |token: &&Token| matches!(token, Token::Name(word) if word == "def" || word == "class");
    let rest = tokens.get(from..).unwrap_or_default();
    let length = rest
        .iter()
        .take(LONGEST)
        .take_while(|token| !next(token))
        .count();
    from + length
}

/// The bracket that closes the one at `open`.
fn closing(tokens: &[Token], open: usize) -> usize {
    let mut depth = 0_usize;
    for (at, token) in tokens.iter().enumerate().skip(open).take(LONGEST) {
        match token {
            Token::Other('{') => depth += 1,
            Token::Other('}') => {
                depth -= 1;
                if depth == 0 {
                    return at;
                }
            }
            _ => {}
        }
    }
    open + LONGEST
}

impl Search<'_, '_> {
    /// Looks into a call of a function of the text's own, unless it stands in its definition.
    pub(super) fn own_call(&mut self, name: &str, arguments: Vec<Value>, at: usize) {
        let Some(function) = self.functions.known.get(name).cloned() else {
            return;
        };
        let inside = (function.from..function.to).contains(&at);
        let defines = matches!(at.checked_sub(1).and_then(|at| self.tokens.get(at)),
            Some(Token::Name(word)) if matches!(word.as_str(), "def" | "function" | "func" | "fn"));
        let knows = arguments.iter().any(|value| *value != Value::Unknown);
        if inside && self.open_calls == 0 || defines || !knows || self.open_calls >= DEEPEST {
            return;
        }
        self.functions.calls += 1;
        if self.functions.calls > MOST {
            self.evaluator.incomplete = true;
            return;
        }
        let size: usize = arguments.iter().map(Value::size).sum();
        if !self
            .evaluator
            .charge(size + function.to.saturating_sub(function.from))
        {
            return;
        }
        let mut old = Vec::new();
        let mut given = arguments.into_iter();
        for (place, parameter) in function.parameters.iter().enumerate() {
            let takes_rest = function.rest && place + 1 == function.parameters.len();
            let value = if takes_rest {
                let rest: Vec<Text> = given.by_ref().map(as_text).collect();
                Value::List(rest)
            } else {
                given.next().unwrap_or(Value::Unknown)
            };
            old.push((
                parameter.clone(),
                self.names.insert(parameter.clone(), value),
            ));
        }
        self.open_calls += 1;
        self.part(function.from, function.to);
        self.open_calls -= 1;
        for (parameter, value) in old {
            match value {
                Some(value) => self.names.insert(parameter, value),
                None => self.names.remove(&parameter),
            };
        }
    }

    /// `x += value`, `x.append(value)`.
    pub(super) fn extend(&mut self, name: &str, value: Value) {
        let Some(known) = self.names.get(name).cloned() else {
            return;
        };
        if !self.evaluator.charge(known.size() + value.size()) {
            return;
        }
        let joined = match (known, value) {
            (Value::List(mut items), Value::List(more)) => {
                items.extend(more);
                Value::List(items)
            }
            (known @ (Value::Text(_) | Value::Each(_)), value) => {
                super::values::behind(known, value)
            }
            (known, _) => known,
        };
        self.names.insert(name.to_owned(), joined);
    }

    /// `a, b = x, y` at the first of the names; the result is where the values stand.
    pub(super) fn bind_several(&mut self, at: usize) -> Option<usize> {
        let starts = at.checked_sub(1).and_then(|at| self.tokens.get(at));
        if !matches!(starts, None | Some(Token::End)) {
            return None;
        }
        let mut names = Vec::new();
        let mut at = at;
        while let Some(Token::Name(name)) = self.tokens.get(at) {
            names.push(name.clone());
            at += 1;
            match self.tokens.get(at) {
                Some(Token::Other(',')) => at += 1,
                Some(Token::Other('=')) if self.tokens.get(at + 1) != Some(&Token::Other('=')) => {
                    let values = Reader::new(self.tokens, at + 1, &self.names).bare_arguments();
                    let size: usize = values.iter().map(Value::size).sum();
                    if values.len() == names.len() && self.evaluator.charge(size) {
                        self.names.extend(names.into_iter().zip(values));
                    }
                    return Some(at + 1);
                }
                _ => return None,
            }
        }
        None
    }
}
