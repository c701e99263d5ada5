//! From text to tree: lists, pipelines, compound commands, redirections.
//!
//! A recursive-descent parser whose depth is bounded; each byte is read once (arithmetic is looked
//! ahead at, with a bound). It never fails: what does not fit the grammar is skipped, marked
//! [`Parser::incomplete`], and reading goes on, since a command after a mistake may still matter.
//!
//! A tree takes many times the memory of its text, so a list is handed out in parts
//! ([`Parser::part`]), of which one is there at a time. Where a text is nested too deeply, or one
//! of its commands has too many words, it is cut, and the rest is read as a text of its own: neither
//! depth nor length hides anything.

use std::borrow::Cow;

use super::ast::{Command, HereBody, Item, Script};
use super::cursor::{Base, Cursor};
use super::limits::{MAX_NESTING, MAX_TREE, PART_OF_TREE};
use super::model::Join;

/// The part of a text that was nested too deeply, or stood behind too much, to be read with it.
#[derive(Debug)]
pub(crate) struct Rest<'t> {
    pub(crate) text: Cow<'t, str>,
    pub(crate) base: Base,
}

impl Rest<'_> {
    /// The same, for a text that does not last.
    pub(super) fn owned<'o>(self) -> Rest<'o> {
        Rest {
            text: Cow::Owned(self.text.into_owned()),
            base: self.base,
        }
    }
}

/// What an unquoted backslash means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    /// It takes the meaning of the next character away.
    Posix,
    /// It separates directories (`cmd`, PowerShell).
    Windows,
}

/// Words that open or join compound commands, when they stand where a program could.
const RESERVED: &[&str] = &[
    "!", "[[", "case", "coproc", "do", "done", "elif", "else", "esac", "fi", "for", "function",
    "if", "select", "then", "time", "until", "while", "{", "}",
];

/// True for a word that opens, joins or closes a compound command.
pub(super) fn is_reserved(word: &str) -> bool {
    RESERVED.contains(&word)
}

/// Reserved words that end something: alone they are a mistake.
const CLOSERS: &[&str] = &["do", "done", "elif", "else", "esac", "fi", "then", "}"];

/// Nodes that a command counts for, besides its words: it is larger.
const COMMAND_NODES: usize = 4;

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
    /// What stands behind the places where the text was cut, in its order. Each is at least one
    /// byte shorter than the text.
    pub(super) rests: Vec<Rest<'t>>,
    /// Nodes of the tree that is being read: commands, words and their parts.
    pub(super) nodes: usize,
    /// How the next pipeline of the outermost list is joined to the one before; `None` at the end
    /// of the text.
    next: Option<Join>,
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
            rests: Vec::new(),
            nodes: 0,
            next: Some(Join::First),
        }
    }

    /// A parser for a text within this one; [`Parser::take_in`] ends it.
    pub(super) fn inner<'i>(&self, text: &'i str, base: Base) -> Parser<'i> {
        Parser {
            nodes: self.nodes,
            ..Parser::new(text, base, self.depth, self.dialect)
        }
    }

    /// Takes over what came of a text within this one.
    pub(super) fn take_in(&mut self, inner: Parser<'_>) {
        self.incomplete |= inner.incomplete;
        self.nodes = inner.nodes;
        self.rests.extend(inner.rests.into_iter().map(Rest::owned));
    }

    /// The next part of the text: whole pipelines. `None` when there are no more.
    pub(crate) fn part(&mut self) -> Option<Script> {
        self.part_of(PART_OF_TREE)
    }

    /// The same, for parts that end at the first pipeline with which they have so many nodes.
    pub(crate) fn part_of(&mut self, nodes: usize) -> Option<Script> {
        let mut join = self.next?;
        self.nodes = 0;
        let mut items = Vec::new();
        while self.nodes < nodes || !self.pending.is_empty() {
            if !self.item(&[], &mut join, &mut items) {
                self.end();
                return Some(Script { items });
            }
        }
        self.next = Some(join);
        Some(Script { items })
    }

    /// The whole text as one list.
    pub(super) fn whole(&mut self) -> Script {
        let script = self.list(&[]);
        self.end();
        script
    }

    fn end(&mut self) {
        self.next = None;
        self.read_heredocs();
        self.incomplete |= !self.pending.is_empty();
    }

    /// Goes one level down; when that is too deep, reading ends and the rest is set aside.
    pub(super) fn enter(&mut self) -> bool {
        self.depth += 1;
        let allowed = self.depth <= MAX_NESTING;
        if !allowed {
            self.cut();
        }
        allowed
    }

    /// Counts nodes of the tree; when there are too many, reading ends and the rest is set aside.
    pub(super) fn count(&mut self, nodes: usize) {
        self.nodes = self.nodes.saturating_add(nodes);
        if self.nodes > MAX_TREE && !self.cursor.at_end() {
            self.cut();
        }
    }

    fn cut(&mut self) {
        self.incomplete = true;
        let base = self.base.inner(self.cursor.position());
        let rest = self.cursor.cut();
        if !rest.is_empty() {
            let text = Cow::Borrowed(rest);
            self.rests.push(Rest { text, base });
        }
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
    pub(super) fn skip_lines(&mut self) {
        loop {
            self.skip_blank();
            if !self.cursor.eat("\n") {
                return;
            }
            self.read_heredocs();
        }
    }

    /// Skips everything that separates commands, except `;;` and `;&`, which end a `case` arm.
    pub(super) fn skip_separators(&mut self) {
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
    pub(super) fn reserved(&self) -> Option<&'static str> {
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
        while self.item(until, &mut join, &mut items) {}
        Script { items }
    }

    /// Reads the next pipeline of a list, if there is one, and how the one behind it is joined;
    /// false at the end of the list.
    fn item(&mut self, until: &[&str], join: &mut Join, items: &mut Vec<Item>) -> bool {
        self.skip_separators();
        let rest = self.cursor.rest();
        if rest.is_empty() {
            return false;
        }
        if rest.starts_with(')') {
            if self.open_parens == 0 {
                self.skip_unexpected(1);
            }
            return self.open_parens == 0;
        }
        if rest.starts_with(";;") || rest.starts_with(";&") {
            let ends = until.contains(&"esac");
            if !ends {
                self.skip_unexpected(2);
            }
            return !ends;
        }
        if let Some(word) = self.reserved() {
            if until.contains(&word) {
                return false;
            }
            if CLOSERS.contains(&word) {
                self.skip_unexpected(word.len());
                return true;
            }
        }
        let before = self.cursor.position();
        let commands = self.pipeline();
        if self.cursor.position() == before {
            self.skip_unexpected(1);
        }
        if !commands.is_empty() {
            items.push(Item {
                join: *join,
                commands,
            });
        }
        self.skip_blank();
        *join = if self.cursor.eat("&&") {
            Join::And
        } else if self.cursor.eat("||") {
            Join::Or
        } else {
            Join::Then
        };
        true
    }

    pub(super) fn skip_unexpected(&mut self, bytes: usize) {
        self.incomplete = true;
        self.cursor.advance(bytes);
    }

    fn pipeline(&mut self) -> Vec<Command> {
        // Most are of one command: four at once, as vectors grow, would be half of all memory.
        let mut commands = Vec::with_capacity(1);
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
                Some("!") => self.cursor.advance(1),
                Some(word @ "coproc") => {
                    self.cursor.advance(word.len());
                    self.skip_name_of_group();
                }
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

    /// Skips a name in front of a `{` or `(`: `coproc NAME { …; }`.
    fn skip_name_of_group(&mut self) {
        self.skip_blank();
        let before = self.cursor.position();
        let name = self.cursor.take_while(is_name).len();
        self.skip_blank();
        let group = matches!(self.cursor.peek(0), Some(b'{' | b'('));
        if name == 0 || !group {
            self.cursor.seek(before);
        }
    }

    /// Reads one command; `None` when there is none.
    pub(super) fn command(&mut self) -> Option<Command> {
        self.count(COMMAND_NODES);
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
}

/// True for the bytes that end a word in command position.
pub(super) fn is_delimiter(b: u8) -> bool {
    matches!(
        b,
        b' ' | b'\t' | b'\n' | b'\r' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>'
    )
}

/// True for the operators that end the words of a simple command.
pub(super) fn ends_words(b: u8) -> bool {
    matches!(b, b'\n' | b';' | b'&' | b'|' | b'(' | b')' | b'<' | b'>')
}

/// True for the bytes of a variable name.
pub(super) fn is_name(b: u8) -> bool {
    b == b'_' || b.is_ascii_alphanumeric()
}
