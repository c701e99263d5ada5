//! From text to tree: lists, pipelines, compound commands, redirections.
//!
//! A recursive-descent parser whose depth is bounded; each byte is read once (arithmetic is looked
//! ahead at, with a bound). It never fails: what does not fit the grammar is skipped, marked
//! [`Parsed::incomplete`], and reading goes on, since a command after a mistake may still matter.

use std::rc::Rc;

use super::ast::{
    AssignedValue, Assignment, Command, HereBody, Item, Kind, RawRedirect, RawWord, Script, Simple,
};
use super::cursor::{Base, Cursor};
use super::limits::MAX_NESTING;
use super::model::Join;

/// What came of a text.
#[derive(Debug)]
pub(crate) struct Parsed {
    pub(crate) script: Script,
    /// Something did not fit the grammar or was nested too deeply.
    pub(crate) incomplete: bool,
}

/// What an unquoted backslash means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// It takes the meaning of the next character away.
    Posix,
    /// It separates directories (`cmd`, PowerShell).
    Windows,
}

/// Parses a text that already stands `depth` levels deep.
pub(crate) fn parse_text(text: &str, base: Base, depth: usize, dialect: Dialect) -> Parsed {
    let mut parser = Parser::new(text, base, depth, dialect);
    let script = parser.list(&[]);
    parser.read_heredocs();
    if !parser.pending.is_empty() {
        parser.incomplete = true;
    }
    Parsed {
        script,
        incomplete: parser.incomplete,
    }
}

/// Words that open or join compound commands, when they stand where a program could.
const RESERVED: &[&str] = &[
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "select", "then", "time", "until", "while", "{", "}",
];

/// Reserved words that end something: alone they are a mistake.
const CLOSERS: &[&str] = &["do", "done", "elif", "else", "esac", "fi", "then", "}"];

/// Builtins whose arguments are assignments and may be arrays.
const DECLARING: &[&str] = &["declare", "export", "local", "readonly", "typeset"];

/// A heredoc whose body follows on the next line.
#[derive(Debug)]
pub(super) struct PendingHeredoc {
    pub(super) delimiter: String,
    /// `<<-`: leading tabs are removed.
    pub(super) strip_tabs: bool,
    /// A quoted delimiter: the body is taken as it stands.
    pub(super) quoted: bool,
    pub(super) body: HereBody,
}

/// The state of reading one text.
#[derive(Debug)]
pub(super) struct Parser<'t> {
    pub(super) cursor: Cursor<'t>,
    pub(super) base: Base,
    pub(super) depth: usize,
    pub(super) dialect: Dialect,
    pub(super) incomplete: bool,
    pub(super) pending: Vec<PendingHeredoc>,
    /// Open `(` of subshells and substitutions: only inside them may `)` end a list.
    pub(super) open_parens: usize,
}

impl<'t> Parser<'t> {
    pub(super) fn new(text: &'t str, base: Base, depth: usize, dialect: Dialect) -> Self {
        Self {
            cursor: Cursor::new(text),
            base,
            depth,
            dialect,
            incomplete: false,
            pending: Vec::new(),
            open_parens: 0,
        }
    }

    /// Goes one level down; when that is too deep, reading ends.
    pub(super) fn enter(&mut self) -> bool {
        self.depth += 1;
        let allowed = self.depth <= MAX_NESTING;
        if !allowed {
            self.incomplete = true;
            self.cursor.finish();
        }
        allowed
    }

    pub(super) fn leave(&mut self) {
        self.depth -= 1;
    }

    /// Skips blanks, joined lines and a comment.
    pub(super) fn skip_blank(&mut self) {
        loop {
            self.cursor
                .take_while(|b| matches!(b, b' ' | b'\t' | b'\r'));
            if !self.cursor.eat("\\\n") && !self.cursor.eat("\\\r\n") {
                break;
            }
        }
        let fresh = self.cursor.previous().is_none_or(is_delimiter);
        if fresh && self.cursor.peek(0) == Some(b'#') {
            self.cursor.take_while(|b| b != b'\n');
        }
    }

    /// Skips blanks and lines; reads the bodies of heredocs that are due.
    fn skip_lines(&mut self) {
        loop {
            self.skip_blank();
            if !self.cursor.eat("\n") {
                return;
            }
            self.read_heredocs();
        }
    }

    /// Skips everything that separates commands, except `;;` and `;&`, which end a `case` arm.
    fn skip_separators(&mut self) {
        loop {
            self.skip_lines();
            let rest = self.cursor.rest();
            if rest.starts_with(";;") || rest.starts_with(";&") || rest.starts_with("&>") {
                return;
            }
            if !self.cursor.eat(";") && !self.cursor.eat("&") {
                return;
            }
        }
    }

    /// The reserved word that stands here.
    fn reserved(&self) -> Option<&'static str> {
        let rest = self.cursor.rest();
        RESERVED.iter().copied().find(|word| {
            rest.strip_prefix(word)
                .is_some_and(|after| after.bytes().next().is_none_or(is_delimiter))
        })
    }

    /// Reads pipelines up to one of the words in `until`, a closing parenthesis, the end of a
    /// `case` arm or the end of the text. What ended it is left unread.
    pub(super) fn list(&mut self, until: &[&str]) -> Script {
        let mut items = Vec::new();
        let mut join = Join::First;
        loop {
            self.skip_separators();
            let rest = self.cursor.rest();
            if rest.is_empty() {
                break;
            }
            if rest.starts_with(')') {
                if self.open_parens > 0 {
                    break;
                }
                self.skip_unexpected(1);
                continue;
            }
            if rest.starts_with(";;") || rest.starts_with(";&") {
                if until.contains(&"esac") {
                    break;
                }
                self.skip_unexpected(2);
                continue;
            }
            if let Some(word) = self.reserved() {
                if until.contains(&word) {
                    break;
                }
                if CLOSERS.contains(&word) {
                    self.skip_unexpected(word.len());
                    continue;
                }
            }
            let before = self.cursor.position();
            let commands = self.pipeline();
            if self.cursor.position() == before {
                self.skip_unexpected(1);
            }
            if !commands.is_empty() {
                items.push(Item { join, commands });
            }
            self.skip_blank();
            join = if self.cursor.eat("&&") {
                Join::And
            } else if self.cursor.eat("||") {
                Join::Or
            } else {
                Join::Then
            };
        }
        Script { items }
    }

    fn skip_unexpected(&mut self, bytes: usize) {
        self.incomplete = true;
        self.cursor.advance(bytes);
    }

    fn pipeline(&mut self) -> Vec<Command> {
        let mut commands = Vec::new();
        loop {
            self.skip_pipeline_prefix();
            if let Some(command) = self.command() {
                commands.push(command);
            }
            self.skip_blank();
            if self.cursor.rest().starts_with("||") {
                return commands;
            }
            if !self.cursor.eat("|&") && !self.cursor.eat("|") {
                return commands;
            }
            self.skip_lines();
        }
    }

    /// Skips `!` and `coproc`, and `time` in front of a compound command; in front of a simple one
    /// `time` is an ordinary wrapper.
    fn skip_pipeline_prefix(&mut self) {
        loop {
            self.skip_blank();
            match self.reserved() {
                Some(word @ ("!" | "coproc")) => self.cursor.advance(word.len()),
                Some("time") => {
                    let before = self.cursor.position();
                    self.cursor.advance("time".len());
                    self.skip_blank();
                    if self.cursor.eat("-p") {
                        self.skip_blank();
                    }
                    if self.reserved().is_none() && self.cursor.peek(0) != Some(b'(') {
                        self.cursor.seek(before);
                        return;
                    }
                }
                _ => return,
            }
        }
    }

    /// Reads one command; `None` when there is none.
    fn command(&mut self) -> Option<Command> {
        let offset = self.base.at(self.cursor.position());
        let kind = if self.cursor.peek(0) == Some(b'(') {
            self.parenthesised()
        } else {
            match self.reserved() {
                Some("time") | None => return self.simple(offset),
                Some(word) => {
                    self.cursor.advance(word.len());
                    self.compound(word)
                }
            }
        };
        let mut redirects = Vec::new();
        loop {
            self.skip_blank();
            match self.redirect() {
                Some(redirect) => redirects.push(redirect),
                None => break,
            }
        }
        Some(Command {
            kind,
            redirects,
            offset,
        })
    }

    /// Reads a compound command whose opening word was just read.
    fn compound(&mut self, word: &str) -> Kind {
        if !self.enter() {
            self.leave();
            return Kind::Group(Vec::new());
        }
        let kind = match word {
            "{" => {
                let script = self.list(&["}"]);
                self.expect("}");
                Kind::Group(vec![script])
            }
            "if" => self.alternatives(),
            "while" | "until" => {
                let condition = self.list(&["do"]);
                Kind::Group(vec![condition, self.loop_body()])
            }
            "for" | "select" => self.for_loop(),
            "case" => self.case(),
            "function" => {
                self.skip_blank();
                let name = self.word().plain().unwrap_or_default().to_owned();
                self.skip_blank();
                if self.cursor.eat("(") {
                    self.skip_blank();
                    self.expect(")");
                }
                self.function(name)
            }
            "[[" => Kind::Test(self.test_words()),
            _ => {
                self.incomplete = true;
                Kind::Group(Vec::new())
            }
        };
        self.leave();
        kind
    }

    /// Skips an expected word, or marks the text incomplete.
    fn expect(&mut self, word: &str) {
        self.skip_separators();
        if !self.cursor.eat(word) {
            self.incomplete = true;
        }
    }

    fn parenthesised(&mut self) -> Kind {
        if let Some(word) = self.arithmetic("((") {
            return Kind::Arithmetic(word);
        }
        self.cursor.advance(1);
        Kind::Subshell(self.parenthesised_list())
    }

    /// Reads a list up to the closing parenthesis, whose partner was just read.
    pub(super) fn parenthesised_list(&mut self) -> Script {
        let mut script = Script::default();
        if self.enter() {
            self.open_parens += 1;
            script = self.list(&[]);
            self.open_parens -= 1;
            if !self.cursor.eat(")") {
                self.incomplete = true;
            }
        }
        self.leave();
        script
    }

    /// The conditions and branches of an `if`, in order: whichever is taken, all may be executed.
    fn alternatives(&mut self) -> Kind {
        let mut parts = Vec::new();
        loop {
            parts.push(self.list(&["then", "elif", "else", "fi"]));
            match self.reserved() {
                Some("fi") => {
                    self.cursor.advance("fi".len());
                    return Kind::Group(parts);
                }
                Some(word) => self.cursor.advance(word.len()),
                None => {
                    self.incomplete = true;
                    return Kind::Group(parts);
                }
            }
        }
    }

    /// Reads `do … done` or `{ … }`.
    fn loop_body(&mut self) -> Script {
        self.skip_separators();
        let close = match self.reserved() {
            Some("do") => "done",
            Some("{") => "}",
            _ => {
                self.incomplete = true;
                return Script::default();
            }
        };
        self.cursor.advance(if close == "}" { 1 } else { 2 });
        let body = self.list(&[close]);
        self.expect(close);
        body
    }

    fn for_loop(&mut self) -> Kind {
        self.skip_blank();
        if let Some(word) = self.arithmetic("((") {
            let body = self.loop_body();
            let header = Command {
                kind: Kind::Arithmetic(word),
                redirects: Vec::new(),
                offset: self.base.at(self.cursor.position()),
            };
            let item = Item {
                join: Join::First,
                commands: vec![header],
            };
            let header = Script { items: vec![item] };
            return Kind::Group(vec![header, body]);
        }
        let name = self.word().plain().unwrap_or_default().to_owned();
        self.skip_lines();
        let mut words = None;
        if self.cursor.rest().starts_with("in") && self.cursor.peek(2).is_none_or(is_delimiter) {
            self.cursor.advance(2);
            let mut list = Vec::new();
            loop {
                self.skip_blank();
                if self.cursor.peek(0).is_none_or(ends_words) {
                    break;
                }
                list.push(self.word());
            }
            words = Some(list);
        }
        Kind::For {
            name,
            words,
            body: self.loop_body(),
        }
    }

    fn case(&mut self) -> Kind {
        self.skip_blank();
        let word = self.word();
        self.skip_lines();
        if !self.cursor.eat("in") {
            self.incomplete = true;
        }
        let mut arms = Vec::new();
        loop {
            self.skip_separators();
            while self.cursor.eat(";;&") || self.cursor.eat(";;") || self.cursor.eat(";&") {
                self.skip_separators();
            }
            if self.reserved() == Some("esac") {
                self.cursor.advance("esac".len());
                break;
            }
            if self.cursor.at_end() {
                self.incomplete = true;
                break;
            }
            self.skip_pattern();
            arms.push(self.list(&["esac"]));
            if self.cursor.peek(0) == Some(b')') {
                // The parenthesis belongs to whatever holds the broken `case`.
                self.incomplete = true;
                break;
            }
        }
        Kind::Case { word, arms }
    }

    /// Skips the pattern of a `case` arm with its closing parenthesis.
    fn skip_pattern(&mut self) {
        self.cursor.eat("(");
        loop {
            self.skip_blank();
            match self.cursor.peek(0) {
                Some(b')') => return self.cursor.advance(1),
                Some(b'|') => self.cursor.advance(1),
                Some(b'\n') | None => {
                    self.incomplete = true;
                    return self.cursor.advance(1);
                }
                Some(_) => {
                    let before = self.cursor.position();
                    self.word();
                    if self.cursor.position() == before {
                        self.skip_unexpected(1);
                    }
                }
            }
        }
    }

    fn function(&mut self, name: String) -> Kind {
        self.skip_lines();
        match self.command() {
            Some(body) => Kind::Function {
                name,
                body: Rc::new(body),
            },
            None => {
                self.incomplete = true;
                Kind::Group(Vec::new())
            }
        }
    }

    /// Words up to `]]`; operators inside are no shell operators.
    fn test_words(&mut self) -> Vec<RawWord> {
        let mut words = Vec::new();
        loop {
            self.skip_lines();
            match self.cursor.peek(0) {
                None | Some(b';') => {
                    self.incomplete = true;
                    return words;
                }
                Some(b'&' | b'|' | b'(' | b')' | b'<' | b'>') => self.cursor.advance(1),
                Some(_) => {
                    let word = self.word();
                    if word.plain() == Some("]]") {
                        return words;
                    }
                    words.push(word);
                }
            }
        }
    }

    /// Reads assignments, words and redirections up to an operator.
    fn simple(&mut self, offset: usize) -> Option<Command> {
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
    fn redirect(&mut self) -> Option<RawRedirect> {
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

/// True for the bytes that end a word in command position.
pub(super) fn is_delimiter(b: u8) -> bool {
    matches!(
        b,
        b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
    )
}

/// True for the operators that end the words of a simple command.
fn ends_words(b: u8) -> bool {
    matches!(b, b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

/// True for the bytes of a variable name.
pub(super) fn is_name(b: u8) -> bool {
    b == b'_' || b.is_ascii_alphanumeric()
}
