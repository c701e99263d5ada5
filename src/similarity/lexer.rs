//! One small lexer for all languages.
//!
//! Added lines of a diff are fragments: they do not parse, and a grammar for each language would be
//! a dependency for each. Names, numbers, strings and signs are cut the same way nearly everywhere,
//! and both sides of a comparison are cut by the same rules, so a wrong cut costs nothing as long as
//! it is the same cut. The lexer reads one line at a time, after comments were taken out
//! ([`super::comments`]) and look-alikes folded ([`super::normalise::fold`]).

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    /// A name or a keyword; a run of letters of any script.
    Identifier,
    /// Begins with a digit.
    Number,
    /// Between quotes. Which quotes makes no difference.
    String,
    /// A single other character.
    Punct,
}

/// A token of one line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Token<'a> {
    /// What it is.
    pub kind: TokenKind,
    /// Its text; for a string, what stands between the quotes.
    pub text: &'a str,
}

/// The tokens of one line.
pub fn tokens(line: &str) -> Tokens<'_> {
    Tokens {
        rest: line,
        previous: ' ',
        unclosed: [false; QUOTES.len()],
    }
}

/// What strings are put between.
pub const QUOTES: [char; 3] = ['"', '\'', '`'];

/// Iterator made by [`tokens`].
#[derive(Debug, Clone)]
pub struct Tokens<'a> {
    rest: &'a str,
    /// The character before `rest`.
    previous: char,
    /// Quotes that were seen not to close in this line: each is looked for once only.
    unclosed: [bool; QUOTES.len()],
}

impl<'a> Tokens<'a> {
    /// Takes `length` bytes off the front.
    fn take(&mut self, length: usize) -> &'a str {
        let (text, rest) = self
            .rest
            .split_at_checked(length)
            .unwrap_or((self.rest, ""));
        self.rest = rest;
        self.previous = text.chars().next_back().unwrap_or(self.previous);
        text
    }

    fn take_while(&mut self, more: impl Fn(char) -> bool) -> &'a str {
        let ascii = |byte: &u8| byte.is_ascii() && more(char::from(*byte));
        let bytes = self.rest.as_bytes();
        let length = bytes.iter().position(|byte| !ascii(byte));
        let length = match length {
            // The rest of the run may go on in another script.
            Some(at) if !bytes.get(at).is_some_and(u8::is_ascii) => {
                self.rest.find(|c| !more(c)).unwrap_or(self.rest.len())
            }
            Some(at) => at,
            None => self.rest.len(),
        };
        if length == 0 {
            return "";
        }
        self.take(length)
    }

    /// What stands between the quote at the front and its partner in this line.
    fn string(&mut self, quote: char) -> Option<&'a str> {
        let index = QUOTES.iter().position(|q| *q == quote)?;
        // `don't`, `&'a`, `<'a>`: not the beginning of a string.
        let no_string = quote == '\''
            && (self.previous.is_alphanumeric() || matches!(self.previous, '&' | '<'));
        if no_string || self.unclosed.get(index).copied().unwrap_or(true) {
            return None;
        }
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, c)| {
            let found = *c == quote && !escaped;
            escaped = *c == '\\' && !escaped;
            found
        });
        let Some((at, _)) = end else {
            if let Some(flag) = self.unclosed.get_mut(index) {
                *flag = true;
            }
            return None;
        };
        self.take(at + 1).get(1..at)
    }
}

impl<'a> Iterator for Tokens<'a> {
    type Item = Token<'a>;

    fn next(&mut self) -> Option<Token<'a>> {
        self.take_while(char::is_whitespace);
        let first = self.rest.chars().next()?;
        let (kind, text) = if first.is_ascii_digit() {
            let number = |c: char| c.is_alphanumeric() || c == '_' || c == '.';
            (TokenKind::Number, self.take_while(number))
        } else if is_word(first) {
            (TokenKind::Identifier, self.take_while(is_word))
        } else if let Some(inner) = self.string(first) {
            (TokenKind::String, inner)
        } else {
            (TokenKind::Punct, self.take(first.len_utf8()))
        };
        Some(Token { kind, text })
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// True for words that a renaming cannot touch: the keywords of the common languages together.
pub fn is_keyword(word: &str) -> bool {
    KEYWORDS.binary_search(&word).is_ok()
}

/// Sorted.
#[rustfmt::skip]
const KEYWORDS: &[&str] = &[
    "False", "None", "Self", "True", "abstract", "and", "as", "assert", "async", "await", "bool",
    "boolean", "break", "byte", "case", "catch", "chan", "char", "class", "const", "continue",
    "crate", "def", "default", "defer", "del", "delete", "do", "double", "elif", "else", "end",
    "enum", "except", "export", "extends", "extern", "false", "final", "finally", "float", "fn",
    "for", "foreach", "from", "func", "function", "go", "goto", "if", "impl", "implements",
    "import", "in", "include", "inline", "instanceof", "int", "interface", "is", "lambda", "let",
    "long", "loop", "map", "match", "mod", "module", "mut", "namespace", "native", "new", "nil",
    "nonlocal", "not", "null", "operator", "or", "package", "pass", "private", "protected", "pub",
    "public", "raise", "range", "ref", "require", "return", "select", "self", "short", "signed",
    "sizeof", "static", "string", "struct", "super", "switch", "synchronized", "template", "this",
    "throw", "throws", "trait", "true", "try", "type", "typedef", "typename", "typeof", "union",
    "unsafe", "unsigned", "use", "using", "var", "virtual", "void", "volatile", "where", "while",
    "with", "yield",
];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn show(line: &str) -> String {
        tokens(line)
            .map(|t| match t.kind {
                TokenKind::Identifier => t.text.to_owned(),
                TokenKind::Number => format!("#{}", t.text),
                TokenKind::String => format!("<{}>", t.text),
                TokenKind::Punct => t.text.to_owned(),
            })
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn cuts_lines_of_many_languages() {
        for (line, want) in [
            ("if err != nil {", "if err ! = nil {"),
            ("x = 0x1F_u8 + 1.5e3", "x = #0x1F_u8 + #1.5e3"),
            ("say('it\\'s', \"a b\")", "say ( <it\\'s> , <a b> )"),
            ("fn f<'a>(x: &'a str)", "fn f < ' a > ( x : & ' a str )"),
            ("don't", "don ' t"),
            ("\"\"\"doc", "<> \" doc"),
            ("s := `raw \\`", "s : = ` raw \\ `"),
            ("变量 = $x_1;", "变量 = $x_1 ;"),
            ("  ", ""),
            ("", ""),
        ] {
            assert_eq!(show(line), want, "{line}");
        }
    }

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.windows(2).all(|w| w[0] < w[1]));
        assert!(is_keyword("return") && !is_keyword("returned"));
    }

    #[test]
    fn unclosed_quotes_take_linear_time() {
        assert!(tokens(&"\\\"'`".repeat(300_000)).count() > 100);
    }

    proptest! {
        #[test]
        fn loses_nothing_but_white_space_and_quotes(line in "[a-z0-9 \"'`\\\\é中(),.]{0,40}") {
            let kept = |c: &char| !c.is_whitespace() && !QUOTES.contains(c);
            let joined: String = tokens(&line).map(|t| t.text).collect();
            prop_assert_eq!(
                joined.chars().filter(kept).collect::<String>(),
                line.chars().filter(kept).collect::<String>()
            );
        }

        #[test]
        fn never_panics(line in any::<String>()) {
            prop_assert!(tokens(&line).count() <= line.len());
        }
    }
}
