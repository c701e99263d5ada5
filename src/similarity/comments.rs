//! Takes the comments out of the lines of a diff.
//!
//! Works on fragments: the lines of one hunk, which may begin or end in the middle of a block
//! comment. Strings are respected within a line. What a line means never depends on anything outside
//! its hunk, and strings are taken to end with their line, so that the same line gives the same text
//! in almost every surrounding; only block comments need a state:
//!
//! - a fragment begins inside a block comment when the first marker in it closes one;
//! - a block comment that is not closed before the next one opens, or before the fragment ends,
//!   hides the rest of its own line only (a glob such as `path/*` in a text would otherwise swallow
//!   the code after it), and after it only lines that begin with `*`;
//! - Python docstrings are strings, hence code.
//!
//! Guessing states can be abused: a regular expression with `/*` in it and one with `*/` further down
//! would hide all code between them. So a line that only a state hides is marked, and whoever looks
//! for GT lines in a patch also looks at such lines by themselves ([`strip_line`]).

use std::borrow::Cow;

use super::syntax::{Apostrophe, Syntax};

/// A line without its comments.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripped<'a> {
    /// What is left, white space kept.
    pub code: Cow<'a, str>,
    /// Something was taken out because of the lines before.
    pub by_state: bool,
}

/// One line without its comments, read as code whatever came before.
pub fn strip_line<'a>(syntax: &Syntax, line: &'a str) -> Cow<'a, str> {
    if syntax.is_plain() {
        return line.into();
    }
    let specials = Specials::of(syntax);
    let mut scanner = Scanner::new(syntax, &specials, line);
    scanner.strip(false, false);
    scanner.out.into()
}

/// The lines without their comments. As many as given.
pub fn strip<'a>(syntax: &Syntax, lines: &[&'a str]) -> Vec<Stripped<'a>> {
    if syntax.is_plain() {
        let whole = |line: &&'a str| Stripped {
            code: (*line).into(),
            by_state: false,
        };
        return lines.iter().map(whole).collect();
    }
    let specials = Specials::of(syntax);
    let closes = closes_after(syntax, &specials, lines);
    let mut in_block = closes.first().copied().unwrap_or(false);
    // Whether a line that begins with `*` can belong to a comment that the fragment does not show.
    let mut after_comment = true;
    let mut out = Vec::with_capacity(lines.len());
    for (index, line) in lines.iter().enumerate() {
        let rest = if in_block {
            Some(*line)
        } else {
            star_line(syntax, line, after_comment)
        };
        let Some(rest) = rest else {
            out.push(Stripped {
                code: "".into(),
                by_state: true,
            });
            continue;
        };
        // Most lines have neither comment nor string.
        if !in_block && rest.len() == line.len() && !line.bytes().any(|byte| specials.has(byte)) {
            after_comment = after_comment && line.trim().is_empty();
            out.push(Stripped {
                code: (*line).into(),
                by_state: false,
            });
            continue;
        }
        let mut scanner = Scanner::new(syntax, &specials, rest);
        scanner.out.reserve(rest.len());
        let real = closes.get(index + 1).copied().unwrap_or(false);
        let end = scanner.strip(in_block, real);
        let nothing_left = scanner.out.trim().is_empty();
        after_comment = match end {
            End::Code => nothing_left && (after_comment || in_block),
            End::Block | End::Unclosed => true,
        };
        let by_state = in_block || rest.len() != line.len();
        in_block = end == End::Block;
        out.push(Stripped {
            // Most lines have no comment: hand them back without a copy.
            code: if scanner.out == *line {
                (*line).into()
            } else {
                scanner.out.into()
            },
            by_state,
        });
    }
    out
}

/// For a line that looks like the inside of a block comment: `None` if all of it is, otherwise what
/// is to be scanned.
fn star_line<'a>(syntax: &Syntax, line: &'a str, after_comment: bool) -> Option<&'a str> {
    let trimmed = line.trim_start();
    if !syntax.stars || !trimmed.starts_with('*') || !after_comment {
        return Some(line);
    }
    if let Some(rest) = trimmed.strip_prefix("*/") {
        return Some(rest);
    }
    let text = trimmed.trim_start_matches('*');
    let comment = text.is_empty() || text.starts_with(char::is_whitespace);
    if comment { None } else { Some(line) }
}

/// `out[i]`: reading on from line `i` in a block comment, a closing marker comes before the next
/// opening one.
fn closes_after(syntax: &Syntax, specials: &Specials, lines: &[&str]) -> Vec<bool> {
    let mut out = vec![false; lines.len() + 1];
    if syntax.block.is_none() {
        return out;
    }
    let mut state = false;
    for (line, slot) in lines.iter().zip(out.iter_mut()).rev() {
        state = match Scanner::new(syntax, specials, line).first_marker() {
            Some(Marker::Close) => true,
            Some(Marker::Open) => false,
            None => state,
        };
        *slot = state;
    }
    out
}

/// Where a line ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    /// In code, or in a comment that ends with the line.
    Code,
    /// Inside a block comment that ends in a later line of the fragment.
    Block,
    /// Inside a block comment whose end is not in the fragment.
    Unclosed,
}

/// A block marker without its partner in the same line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Open,
    Close,
}

/// What stands next in a line.
enum Piece<'a> {
    Code(&'a str),
    Open,
    Close,
    LineComment,
}

/// The bytes with which a string or a comment can begin or end. All of them are ASCII.
struct Specials([bool; 256]);

impl Specials {
    fn of(syntax: &Syntax) -> Self {
        let mut out = Self([false; 256]);
        let (open, close) = syntax.block.unwrap_or_default();
        let markers = syntax.line.iter().chain([&open, &close]);
        let firsts = markers.filter_map(|marker| marker.bytes().next());
        for byte in firsts.chain(syntax.quotes.bytes()).chain([b'\'']) {
            if let Some(slot) = out.0.get_mut(usize::from(byte)) {
                *slot = true;
            }
        }
        out
    }

    fn has(&self, byte: u8) -> bool {
        self.0.get(usize::from(byte)).copied().unwrap_or(true)
    }
}

/// Reads one line.
struct Scanner<'a> {
    syntax: &'a Syntax,
    specials: &'a Specials,
    rest: &'a str,
    /// The last character of code, for markers that must follow a blank.
    previous: Option<char>,
    /// Quotes that were seen not to close in this line: each is looked for once only.
    unclosed: Vec<char>,
    out: String,
}

impl<'a> Scanner<'a> {
    fn new(syntax: &'a Syntax, specials: &'a Specials, line: &'a str) -> Self {
        Self {
            syntax,
            specials,
            rest: line,
            previous: None,
            unclosed: Vec::new(),
            out: String::new(),
        }
    }

    /// Collects the code of the line in `out`. `closes`: a block comment that this line leaves open
    /// is closed by a later one.
    fn strip(&mut self, mut in_block: bool, closes: bool) -> End {
        loop {
            if in_block && !self.skip_block() {
                return End::Block;
            }
            in_block = false;
            match self.piece() {
                None | Some(Piece::LineComment) => return End::Code,
                Some(Piece::Code(text)) => self.out.push_str(text),
                // A closing marker in code is an operator or a text; keep it.
                Some(Piece::Close) => self
                    .out
                    .push_str(self.syntax.block.map_or("", |(_, close)| close)),
                Some(Piece::Open) if self.skip_block() => self.out.push(' '),
                Some(Piece::Open) if closes => return End::Block,
                Some(Piece::Open) => return End::Unclosed,
            }
        }
    }

    /// The first block marker that has no partner in this line, read as code.
    fn first_marker(&mut self) -> Option<Marker> {
        loop {
            match self.piece()? {
                Piece::Code(_) => {}
                Piece::LineComment => return None,
                Piece::Close => return Some(Marker::Close),
                Piece::Open if self.skip_block() => {}
                Piece::Open => return Some(Marker::Open),
            }
        }
    }

    /// Moves behind the next closing marker; false if the line has none.
    fn skip_block(&mut self) -> bool {
        let Some((_, close)) = self.syntax.block else {
            return true;
        };
        match self.rest.split_once(close) {
            Some((_, after)) => {
                self.rest = after;
                self.previous = None;
                true
            }
            None => false,
        }
    }

    /// Takes the next piece of code, string or marker.
    fn piece(&mut self) -> Option<Piece<'a>> {
        let first = self.rest.chars().next()?;
        if !self.specials.has(*self.rest.as_bytes().first()?) {
            return self.code(self.plain());
        }
        if let Some((open, close)) = self.syntax.block {
            if let Some(after) = self.rest.strip_prefix(open) {
                self.rest = after;
                return Some(Piece::Open);
            }
            if let Some(after) = self.rest.strip_prefix(close) {
                self.rest = after;
                self.previous = None;
                return Some(Piece::Close);
            }
        }
        if self.at_line_comment() {
            return Some(Piece::LineComment);
        }
        let length = if self.syntax.quotes.contains(first) || first == '\'' {
            self.literal(first)
        } else {
            self.plain()
        };
        self.code(length)
    }

    fn code(&mut self, length: usize) -> Option<Piece<'a>> {
        let (piece, rest) = self.rest.split_at_checked(length)?;
        self.rest = rest;
        self.previous = piece.chars().next_back().or(self.previous);
        Some(Piece::Code(piece))
    }

    fn at_line_comment(&self) -> bool {
        let syntax = self.syntax;
        if syntax.line_first_only && self.previous.is_some_and(|c| !c.is_whitespace()) {
            return false;
        }
        if syntax.line_after_blank && self.previous.is_some_and(|c| !c.is_whitespace()) {
            return false;
        }
        syntax.line.iter().any(|marker| {
            self.rest.starts_with(marker)
                // A marker that ends in a blank also ends the line.
                || marker.strip_suffix(' ').is_some_and(|bare| self.rest == bare)
        })
    }

    /// Length of the code up to the next character that could begin a string or a comment; at least
    /// one character.
    fn plain(&self) -> usize {
        let mut bytes = self.rest.bytes().enumerate().skip(1);
        bytes
            .find(|(_, byte)| self.specials.has(*byte))
            .map_or(self.rest.len(), |(at, _)| at)
    }

    /// Length of the string or character literal that begins here, or of the quote alone.
    fn literal(&mut self, quote: char) -> usize {
        if quote == '\'' {
            match self.syntax.apostrophe {
                Apostrophe::Plain => return 1,
                Apostrophe::Char => return char_literal(self.rest),
                Apostrophe::String => {}
            }
        }
        // Python's tripled quotes: up to the next three, or to the end of the line.
        if matches!(quote, '"' | '\'') {
            let tripled = if quote == '"' { "\"\"\"" } else { "'''" };
            if let Some(inner) = self.rest.strip_prefix(tripled) {
                return inner
                    .find(tripled)
                    .map_or(self.rest.len(), |at| at + 2 * tripled.len());
            }
        }
        if self.unclosed.contains(&quote) {
            return quote.len_utf8();
        }
        let mut escaped = false;
        for (at, c) in self.rest.char_indices().skip(1) {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                return at + c.len_utf8();
            }
        }
        self.unclosed.push(quote);
        quote.len_utf8()
    }
}

/// Length of `'x'`, `'\n'`, `'\u{1F600}'`; 1 for anything else.
fn char_literal(text: &str) -> usize {
    let mut chars = text.char_indices().skip(1);
    let Some((_, first)) = chars.next() else {
        return 1;
    };
    if first == '\\' {
        // Escapes are short; the character after the backslash may itself be a quote.
        return chars
            .skip(1)
            .take(10)
            .find(|(_, c)| *c == '\'')
            .map_or(1, |(at, _)| at + 1);
    }
    match chars.next() {
        Some((at, '\'')) if first != '\'' => at + 1,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(path: &str, line: &str) -> String {
        strip(Syntax::of(path), &[line])[0]
            .code
            .trim_end()
            .to_owned()
    }

    #[test]
    fn single_lines() {
        for (path, line, want) in [
            ("a.go", "x := 1 // one", "x := 1"),
            (
                "a.go",
                "u := \"http://host/\" // c",
                "u := \"http://host/\"",
            ),
            ("a.go", "r := `a // b`", "r := `a // b`"),
            ("a.go", "f(/* n= */ 1, 2)", "f(  1, 2)"),
            ("a.c", "char q = '\"'; // quote", "char q = '\"';"),
            ("a.c", "char q = '\\''; // quote", "char q = '\\'';"),
            ("a.c", "#include <x.h>", "#include <x.h>"),
            ("a.c", "n = 1'000'000; // many", "n = 1'000'000;"),
            (
                "a.rs",
                "fn f<'a>(x: &'a str) {} // it's",
                "fn f<'a>(x: &'a str) {}",
            ),
            ("a.js", "s = 'it\\'s // no'; // yes", "s = 'it\\'s // no';"),
            (
                "a.ts",
                "const g = \"src/**/*.ts\";",
                "const g = \"src/**/*.ts\";",
            ),
            (
                "a.css",
                "a { b: url(http://h/) } /* c */",
                "a { b: url(http://h/) }",
            ),
            ("a.py", "x = '#'  # real", "x = '#'"),
            (
                "a.py",
                "\"\"\"doc # not\"\"\"  # real",
                "\"\"\"doc # not\"\"\"",
            ),
            ("a.py", "\"\"\"doc # not", "\"\"\"doc # not"),
            ("a.py", "# whole line", ""),
            ("a.sh", "echo ${#x} $# # count", "echo ${#x} $#"),
            ("a.yml", "key: a#b # c", "key: a#b"),
            ("a.yml", "say: don't # c", "say: don't"),
            ("a.sql", "select '--' -- why", "select '--'"),
            ("a.lua", "f() --[[ x ]] g()", "f()   g()"),
            ("a.hs", "a --> b -- c", "a --> b"),
            ("a.ini", "key = a;b", "key = a;b"),
            ("a.ini", "  ; c", ""),
            ("a.html", "<p>x</p><!-- y -->", "<p>x</p>"),
            ("a.php", "#[Attr] # why", "#[Attr]"),
            ("a.ml", "let x = 1 (* one *)", "let x = 1"),
            (
                "a.md",
                "# Heading // not a comment",
                "# Heading // not a comment",
            ),
            ("a.unknown", "# x", "# x"),
            ("a.m", "total = tally(1, 2) % why", "total = tally(1, 2)"),
            ("a.m", "int x = 1; // why", "int x = 1;"),
            (
                "a.m",
                "NSLog(@\"%d % e\", i%2);",
                "NSLog(@\"%d % e\", i%2);",
            ),
            ("a.cls", "Integer x = 1; // why", "Integer x = 1;"),
            (
                "a.cls",
                "\\def\\x{http://host/} % why",
                "\\def\\x{http://host/}",
            ),
            ("a.bat", "set x=1 & REM why", "set x=1"),
            ("a.bat", "@rem why", ""),
            ("a.cmd", "call theorem x:y", "call theorem x:y"),
            ("a.js", "", ""),
        ] {
            assert_eq!(one(path, line), want.trim_end(), "{path}: {line}");
        }
    }

    fn many(path: &str, text: &str) -> Vec<String> {
        let lines: Vec<&str> = text.lines().collect();
        strip(Syntax::of(path), &lines)
            .iter()
            .map(|l| l.code.trim().to_owned())
            .collect()
    }

    #[test]
    fn fragments_of_block_comments() {
        for (text, want) in [
            // Whole.
            ("a();\n/* x\n y\n*/ b();", "a();|||b();"),
            ("/** x\n * y\n */\nb();", "|||b();"),
            // Begins inside.
            ("still a comment\nmore */ b();\nc();", "|b();|c();"),
            (" * y\n */\nb();", "||b();"),
            // Begins and ends inside: only the stars show it.
            (" * y\n * z\n *", "||"),
            // Ends inside.
            ("a();\n/* x\n * y", "a();||"),
            // Never closed: hides the rest of its line only.
            ("a(path/*);\nb();\nc();", "a(path|b();|c();"),
            // Not closed before the next one opens.
            (
                "a(path/*);\nb();\n/* x */\nc();\n/* y\n*/",
                "a(path|b();||c();||",
            ),
            // A product over two lines and a pointer are code.
            ("a = b\n  * c;\n*p = 3;", "a = b|* c;|*p = 3;"),
            // A glob in a string is none of this.
            (
                "x = \"**/*.ts\";\ny();\nz = \"a/*\";",
                "x = \"**/*.ts\";|y();|z = \"a/*\";",
            ),
            // A stray end after a star line.
            (" * x\n */ b();\n", "|b();"),
        ] {
            assert_eq!(many("a.c", text).join("|"), want, "{text:?}");
        }
    }

    #[test]
    fn markup_and_script_blocks() {
        assert_eq!(
            many("a.html", "<a>\n<!-- x\ny -->\n<b>").join("|"),
            "<a>|||<b>"
        );
        assert_eq!(many("a.ps1", "a\n<# x\n#>\nb").join("|"), "a|||b");
    }

    #[test]
    fn what_a_state_hides_is_marked() {
        let lines = [
            "let a = /[/*]/;",
            "real(code); // c",
            "let b = /[*/]/;",
            "more();",
        ];
        let stripped = strip(Syntax::of("a.js"), &lines);
        let marks: Vec<bool> = stripped.iter().map(|line| line.by_state).collect();
        assert_eq!(marks, [false, true, true, false]);
        assert_eq!(
            strip_line(Syntax::of("a.js"), lines[1]).trim(),
            "real(code);"
        );
        assert!(strip(Syntax::of("a.c"), &[" * star"])[0].by_state);
    }

    #[test]
    fn unclosed_quotes_take_linear_time() {
        let line = "\\\"'`".repeat(200_000);
        for path in ["a.js", "a.c", "a.py", "a.yml", "a.sql"] {
            assert!(strip(Syntax::of(path), &[&line])[0].code.len() == line.len());
        }
        let line = "'''\"\"\"".repeat(100_000);
        assert!(!strip(Syntax::of("a.py"), &[&line])[0].code.is_empty());
        let line = "/* ".repeat(300_000);
        assert!(strip(Syntax::of("a.c"), &[&line])[0].code.is_empty());
        let line = "/*/".repeat(300_000);
        assert!(strip(Syntax::of("a.c"), &[&line])[0].code.len() <= line.len());
    }

    proptest! {
        #[test]
        fn never_panics_and_keeps_the_number_of_lines(
            lines in proptest::collection::vec("[ a'\"`/*#\\-;%!<>(){}\\[\\]é\\\\]{0,24}", 0..12),
            path in prop::sample::select(vec![
                "a.c", "a.js", "a.py", "a.sh", "a.sql", "a.lua", "a.hs", "a.el", "a.ini", "a.tex",
                "a.html", "a.php", "a.ml", "a.ps1", "a.md",
            ]),
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            prop_assert_eq!(strip(Syntax::of(path), &lines).len(), lines.len());
        }

        #[test]
        fn only_takes_away(line in "[ab \"'/*]{0,24}") {
            let out = one("a.c", &line);
            let mut rest = line.chars();
            // What is left is a subsequence of the line (a blank may stand for a comment).
            prop_assert!(out.chars().filter(|c| *c != ' ').all(|c| rest.any(|r| r == c)));
        }
    }
}
