//! Compound commands: groups, conditions, loops, `case`, functions, `[[ … ]]`.

use std::rc::Rc;

use super::ast::{Kind, RawWord, Script};
use super::parser::{Parser, ends_words, is_delimiter};

impl Parser<'_> {
    /// Reads a compound command whose opening word was just read.
    pub(super) fn compound(&mut self, word: &str) -> Kind {
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
                let never = condition.constant() == Some(word == "until");
                let body = self.loop_body();
                Kind::Group(if never {
                    vec![condition]
                } else {
                    vec![condition, body]
                })
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

    pub(super) fn parenthesised(&mut self) -> Kind {
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

    /// The conditions and branches of an `if`, in order: whichever is taken, all may be executed, except
    /// those that a plain `true` or `false` rules out.
    fn alternatives(&mut self) -> Kind {
        let mut parts = Vec::new();
        let mut opening = "if";
        let (mut condition, mut taken) = (None, false);
        loop {
            let part = self.list(&["then", "elif", "else", "fi"]);
            let branch = opening == "then";
            let may_run = !(taken || branch && condition == Some(false));
            if branch {
                taken |= condition == Some(true);
            } else {
                condition = part.constant();
            }
            if may_run {
                parts.push(part);
            }
            match self.reserved() {
                Some("fi") => {
                    self.cursor.advance("fi".len());
                    return Kind::Group(parts);
                }
                Some(word) => {
                    self.cursor.advance(word.len());
                    opening = word;
                }
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
            return Kind::Count { header: word, body };
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

    pub(super) fn function(&mut self, name: String) -> Kind {
        self.skip_lines();
        let before = self.nodes;
        match self.command() {
            Some(body) => Kind::Function {
                name,
                body: Rc::new(body),
                nodes: self.nodes - before,
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
}
