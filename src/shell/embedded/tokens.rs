//! A coarse lexer for the source texts of Python, JavaScript, Perl, Ruby, PHP and their kin.
//!
//! It knows strings, comments and names, which is all that is needed to find calls with literal
//! arguments. What it does not know becomes a [`Token::Other`].

use super::super::cursor::Cursor;
use super::super::escapes::push_escape;

/// How a string refers to variables.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Interpolation {
    None,
    /// `{name}` of Python.
    Braces,
    /// `${name}` of JavaScript.
    DollarBraces,
    /// `$name`, `${name}` of Perl and PHP.
    Dollar,
    /// `#{name}` of Ruby.
    HashBraces,
}

/// A token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Token {
    /// An identifier, with the sigil of Perl and PHP.
    Name(String),
    /// A string literal, escapes undone.
    Text(String, Interpolation),
    /// A literal that runs its content as a shell command (`` `…` ``, `qx(…)`, `%x(…)`).
    Command(String, Interpolation),
    /// `.`, `->` or `::` between names.
    Member,
    /// The end of a line or a `;`.
    End,
    Other(char),
}

/// Where a line begins among the tokens, and how far it is indented.
#[derive(Debug, Clone, Copy)]
pub(super) struct Line {
    pub(super) token: usize,
    pub(super) indent: usize,
}

/// Cuts a source text into tokens; the lines are noted where their indentation says something.
pub(super) fn tokenise(language: &str, source: &str) -> (Vec<Token>, Vec<Line>) {
    let mut lexer = Lexer {
        cursor: Cursor::new(source),
        language,
        tokens: Vec::new(),
        lines: Vec::new(),
    };
    while let Some(b) = lexer.cursor.peek(0) {
        lexer.next(b);
    }
    (lexer.tokens, lexer.lines)
}

struct Lexer<'t> {
    cursor: Cursor<'t>,
    language: &'t str,
    tokens: Vec<Token>,
    lines: Vec<Line>,
}

impl Lexer<'_> {
    fn next(&mut self, b: u8) {
        match b {
            b' ' | b'\t' | b'\r' => self.cursor.advance(1),
            b'\n' | b';' => {
                self.cursor.advance(1);
                self.tokens.push(Token::End);
                if b == b'\n' && self.language == "python" {
                    self.line();
                }
            }
            b'#' if !matches!(self.language, "node" | "go") => {
                self.cursor.take_while(|b| b != b'\n');
            }
            b'/' if matches!(self.language, "node" | "php" | "go") && self.comment() => {}
            b'"' | b'\'' => self.quoted(b, false),
            b'`' => self.backquoted(),
            // In Perl and PHP it joins strings.
            b'.' if matches!(self.language, "perl" | "php") => {
                self.cursor.advance(1);
                self.tokens.push(Token::Other('+'));
            }
            b'.' => self.member("."),
            b'-' if self.cursor.peek(1) == Some(b'>') => self.member("->"),
            b':' if self.cursor.peek(1) == Some(b':') => self.member("::"),
            b'%' if self.language == "ruby" && self.cursor.peek(1) == Some(b'x') => {
                self.cursor.advance(2);
                self.delimited(true);
            }
            b'$' | b'@' | b'_' => self.name(),
            _ if b.is_ascii_alphabetic() => self.name(),
            _ => {
                if let Some(c) = self.cursor.next_char() {
                    self.tokens.push(Token::Other(c));
                }
            }
        }
    }

    /// Notes where a line begins that holds something.
    fn line(&mut self) {
        let rest = self.cursor.rest();
        let text = rest.trim_start_matches([' ', '\t']);
        if !text.starts_with(['\n', '\r', '#']) && !text.is_empty() {
            self.lines.push(Line {
                token: self.tokens.len(),
                indent: rest.len() - text.len(),
            });
        }
    }

    fn member(&mut self, text: &str) {
        self.cursor.eat(text);
        self.tokens.push(Token::Member);
    }

    /// Skips a comment; false if there is none.
    fn comment(&mut self) -> bool {
        match self.cursor.peek(1) {
            Some(b'/') => {
                self.cursor.take_while(|b| b != b'\n');
                true
            }
            Some(b'*') => {
                let length = self.cursor.rest().find("*/");
                match length {
                    Some(length) => self.cursor.advance(length + 2),
                    None => self.cursor.finish(),
                }
                true
            }
            _ => false,
        }
    }

    /// A name, or the prefix of a string (`r"…"`, `f'…'`), or `qx(…)` and `q(…)` of Perl.
    fn name(&mut self) {
        // What stands side by side is joined.
        if self.language == "awk" && matches!(self.tokens.last(), Some(Token::Text(..))) {
            self.tokens.push(Token::Other('+'));
        }
        let start = self.cursor.position();
        self.cursor.take_while(|b| b == b'$' || b == b'@');
        self.cursor
            .take_while(|b| b == b'_' || b.is_ascii_alphanumeric());
        let name = self.cursor.since(start).to_owned();
        let next = self.cursor.peek(0);
        let quote = next.filter(|b| matches!(b, b'"' | b'\''));
        match (self.language, name.as_str(), quote) {
            ("python", prefix, Some(quote))
                if prefix.len() <= 2 && prefix.bytes().all(|b| b"rRbBfFuU".contains(&b)) =>
            {
                let lower = prefix.to_ascii_lowercase();
                self.quoted(quote, lower.contains('r'));
                if lower.contains('f')
                    && let Some(Token::Text(_, interpolation)) = self.tokens.last_mut()
                {
                    *interpolation = Interpolation::Braces;
                }
            }
            ("perl", "qx", _) => self.delimited(true),
            ("perl", "qw", _) => self.words(),
            ("perl", "q" | "qq", _) if next.is_some_and(|b| b"({[/|!".contains(&b)) => {
                self.delimited(false);
            }
            _ => self.tokens.push(Token::Name(name)),
        }
    }

    /// How double-quoted strings of the language refer to variables.
    fn interpolation(&self) -> Interpolation {
        match self.language {
            "perl" | "php" | "powershell" | "julia" => Interpolation::Dollar,
            "ruby" => Interpolation::HashBraces,
            _ => Interpolation::None,
        }
    }

    fn quoted(&mut self, quote: u8, raw: bool) {
        let triple = [quote; 3];
        let triple = std::str::from_utf8(&triple).unwrap_or_default();
        let long = self.language == "python" && self.cursor.eat(triple);
        if !long {
            self.cursor.advance(1);
        }
        let single = quote == b'\'' && matches!(self.language, "perl" | "php" | "ruby");
        let mut bytes = Vec::new();
        loop {
            let plain = self.cursor.take_while(|b| {
                b != quote && b != b'\\' && (long || b != b'\n' || self.language != "python")
            });
            bytes.extend_from_slice(plain.as_bytes());
            match self.cursor.peek(0) {
                Some(b'\\') => self.escape(raw || single, &mut bytes),
                Some(b) if b == quote => {
                    if long && !self.cursor.eat(triple) {
                        self.cursor.advance(1);
                        bytes.push(quote);
                        continue;
                    }
                    if !long {
                        self.cursor.advance(1);
                    }
                    break;
                }
                _ => break,
            }
        }
        let interpolation = if quote == b'"' {
            self.interpolation()
        } else {
            Interpolation::None
        };
        let text = String::from_utf8_lossy(&bytes).into_owned();
        self.tokens.push(Token::Text(text, interpolation));
    }

    fn escape(&mut self, raw: bool, bytes: &mut Vec<u8>) {
        self.cursor.advance(1);
        match self.cursor.next_char() {
            // A joined line.
            Some('\n') => {}
            Some(c) if raw => {
                if !matches!(c, '\'' | '"' | '\\') {
                    bytes.push(b'\\');
                }
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
            }
            Some(c @ ('$' | '`' | '#' | '@')) => bytes.extend(u8::try_from(c)),
            Some(c) => push_escape(c, &mut self.cursor, bytes),
            None => bytes.push(b'\\'),
        }
    }

    fn backquoted(&mut self) {
        self.cursor.advance(1);
        let mut bytes = Vec::new();
        loop {
            let plain = self.cursor.take_while(|b| b != b'`' && b != b'\\');
            bytes.extend_from_slice(plain.as_bytes());
            if self.cursor.peek(0) != Some(b'\\') {
                break;
            }
            self.escape(false, &mut bytes);
        }
        self.cursor.eat("`");
        let text = String::from_utf8_lossy(&bytes).into_owned();
        self.tokens.push(match self.language {
            "node" => Token::Text(text, Interpolation::DollarBraces),
            "perl" | "php" | "ruby" | "julia" => Token::Command(text, self.interpolation()),
            _ => Token::Text(text, Interpolation::None),
        });
    }

    /// `qw(a b)`: a list of words.
    fn words(&mut self) {
        self.delimited(false);
        let Some(Token::Text(text, _)) = self.tokens.pop() else {
            return;
        };
        self.tokens.push(Token::Other('['));
        for word in text.split_whitespace() {
            let word = word.to_owned();
            self.tokens.push(Token::Text(word, Interpolation::None));
            self.tokens.push(Token::Other(','));
        }
        self.tokens.push(Token::Other(']'));
    }

    /// `(…)`, `{…}`, `/…/` after `qx`, `%x`, `q`.
    fn delimited(&mut self, runs: bool) {
        let Some(open) = self.cursor.peek(0) else {
            return;
        };
        let close = match open {
            b'(' => b')',
            b'{' => b'}',
            b'[' => b']',
            b'<' => b'>',
            other => other,
        };
        self.cursor.advance(1);
        let text = self.cursor.take_while(|b| b != close).to_owned();
        self.cursor.advance(1);
        let interpolation = self.interpolation();
        self.tokens.push(if runs {
            Token::Command(text, interpolation)
        } else {
            Token::Text(text, interpolation)
        });
    }
}
