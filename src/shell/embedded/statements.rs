//! Statements of a source text: what binds a name, and what is called with which arguments.

use super::Search;
use super::names::{OPENING, READING, STARTING};
use super::reader::Reader;
use super::tokens::Token;
use super::values::{Text, Value, as_text};

impl Search<'_, '_> {
    /// Binds the variables of loops over literal lists: in a comprehension they are used before.
    pub(super) fn bind_loops(&mut self) {
        for at in 0..self.tokens.len() {
            let header = (self.tokens.get(at), self.tokens.get(at + 1));
            let (Some(Token::Name(name)), Some(Token::Name(joiner))) = header else {
                continue;
            };
            let opens = matches!(self.tokens.get(at + 2), Some(Token::Other('[' | '(')));
            if !opens || !matches!(joiner.as_str(), "in" | "of") {
                continue;
            }
            let list = Reader::new(self.tokens, at + 2, &self.names).expression(0);
            if let Value::List(items) = list {
                self.names.insert(name.clone(), Value::Each(items));
            }
        }
    }

    /// `"command" | getline` and `print | "command"` of awk.
    pub(super) fn awk_pipe(&mut self, at: usize) {
        let after = (self.tokens.get(at + 1), self.tokens.get(at + 2));
        let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
        let reads = matches!(after, (Some(Token::Other('|')), Some(Token::Name(name))) if name == "getline");
        if reads || before == Some(&Token::Other('|')) {
            let text = Reader::new(self.tokens, at, &self.names).expression(0);
            self.shell(&as_text(text));
        }
    }

    /// Handles the path of names at `at`; gives the position to go on from.
    pub(super) fn name(&mut self, at: usize) -> usize {
        let mut path: Vec<&str> = Vec::new();
        let mut next = at;
        while let Some(Token::Name(name)) = self.tokens.get(next) {
            path.push(name);
            next += 1;
            if self.tokens.get(next) != Some(&Token::Member) {
                break;
            }
            next += 1;
        }
        let Some(last) = path.last().copied() else {
            return at + 1;
        };
        let Some(following) = self.tokens.get(next) else {
            return next;
        };
        match following {
            Token::Other('=') if self.tokens.get(next + 1) != Some(&Token::Other('=')) => {
                self.bind(last, next + 1);
            }
            // `x <- value` of R.
            Token::Other('<')
                if self.language == "r"
                    && self.tokens.get(next + 1) == Some(&Token::Other('-')) =>
            {
                self.bind(last, next + 2);
            }
            Token::Other('+') if self.tokens.get(next + 1) == Some(&Token::Other('=')) => {
                let value = Reader::new(self.tokens, next + 2, &self.names).expression(0);
                self.extend(last, value);
            }
            Token::Other(',') if path.len() == 1 => {
                if let Some(values) = self.bind_several(at) {
                    return values;
                }
            }
            Token::Other('(') => self.call_at(&path, at, next + 1),
            // ``$`git show` `` of script shells for JavaScript.
            Token::Text(..) if self.language == "node" && last == "$" => {
                let text = self.command_text(next);
                self.shell(&text);
            }
            // `system "git show"` of Perl and Ruby, `do shell script "…"`.
            Token::Text(..) | Token::Other('[')
                if matches!(self.language, "perl" | "ruby" | "applescript") =>
            {
                let mut reader = Reader::new(self.tokens, next, &self.names);
                let arguments = reader.bare_arguments();
                let runs = self.language == "applescript" && last == "script";
                self.called(if runs { &["system"] } else { &path }, false, &arguments);
            }
            // `getprint shift`, `open my $out, "-|", "git", …`
            Token::Name(_)
                if self.language == "perl"
                    && matches!(
                        path.as_slice(),
                        ["getprint" | "get" | "open" | "system" | "exec"]
                    ) =>
            {
                let arguments = Reader::new(self.tokens, next, &self.names).bare_arguments();
                self.called(&path, false, &arguments);
            }
            _ => {}
        }
        next.max(at + 1)
    }

    /// A call of the path of names at `at`, whose arguments begin at `inside`.
    fn call_at(&mut self, path: &[&str], at: usize, inside: usize) {
        let Some(last) = path.last().copied() else {
            return;
        };
        if path.len() == 1 && self.functions.has(last) {
            let arguments = Reader::new(self.tokens, inside, &self.names).arguments();
            self.own_call(last, arguments, at);
            return;
        }
        if let [owner, "append" | "push" | "extend"] = path
            && self.names.contains_key(*owner)
        {
            let mut given = Reader::new(self.tokens, inside, &self.names).arguments();
            let value = match given.pop() {
                Some(Value::Text(text)) => Value::List(vec![text]),
                other => other.unwrap_or(Value::Unknown),
            };
            if !matches!(self.names.get(*owner), Some(Value::Map(_))) {
                self.extend(owner, value);
                return;
            }
        }
        let alias = self.aliases.get(last).filter(|_| path.len() == 1).cloned();
        let named: Vec<&str> = alias.as_deref().into_iter().collect();
        let path = if named.is_empty() { path } else { &named };
        let known_owner = path.len() > 1
            && path
                .first()
                .is_some_and(|owner| self.names.contains_key(*owner));
        let arguments = if known_owner || self.is_interesting(path) {
            Reader::new(self.tokens, inside, &self.names).arguments()
        } else {
            Vec::new()
        };
        let before = at.checked_sub(1).and_then(|before| self.tokens.get(before));
        let is_member = before == Some(&Token::Member);
        self.opened(path, &arguments, at, inside);
        self.called(path, is_member, &arguments);
    }

    fn bind(&mut self, name: &str, at: usize) {
        let value = Reader::new(self.tokens, at, &self.names).expression(0);
        if value == Value::Unknown && matches!(self.names.get(name), Some(Value::Map(_))) {
            // `with Client(base_url=…) as c` was met before.
            self.names.remove(name);
        }
        if self.evaluator.charge(value.size()) {
            self.names.insert(name.to_owned(), value);
        }
    }

    pub(super) fn command_text(&self, at: usize) -> Text {
        let Some(Token::Command(text, interpolation) | Token::Text(text, interpolation)) =
            self.tokens.get(at)
        else {
            return Text::default();
        };
        let literal = [Token::Text(text.clone(), *interpolation)];
        as_text(Reader::new(&literal, 0, &self.names).expression(0))
    }

    /// `import x as y`, `{ x: y } = require(…)`, `y = os.system`.
    pub(super) fn bind_aliases(&mut self) {
        let known = |name: &str| {
            STARTING.contains(&name) || READING.contains(&name) || OPENING.contains(&name)
        };
        for window in self.tokens.windows(3) {
            let [Token::Name(name), joiner, Token::Name(other)] = window else {
                continue;
            };
            let joins = matches!(joiner, Token::Other(':'))
                || matches!(joiner, Token::Name(word) if word == "as");
            if joins && known(name) && !known(other) {
                self.aliases.insert(other.clone(), name.clone());
            }
        }
        for window in self.tokens.windows(6) {
            if let [
                Token::Name(other),
                Token::Other('='),
                Token::Name(_),
                Token::Member,
                Token::Name(name),
                Token::End,
            ] = window
                && known(name)
            {
                self.aliases.insert(other.clone(), name.clone());
            }
        }
    }
}
