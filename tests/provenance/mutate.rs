//! Ways to change lines: what a copyist does to them, and honest lines to put in their place.

/// Keywords of the languages of the tasks: they are not renamed.
const KEYWORDS: [&str; 58] = [
    "if",
    "else",
    "for",
    "while",
    "return",
    "func",
    "def",
    "class",
    "import",
    "from",
    "package",
    "var",
    "let",
    "const",
    "type",
    "struct",
    "interface",
    "public",
    "private",
    "protected",
    "static",
    "void",
    "int",
    "string",
    "bool",
    "true",
    "false",
    "nil",
    "None",
    "null",
    "new",
    "this",
    "self",
    "try",
    "except",
    "catch",
    "throw",
    "raise",
    "switch",
    "case",
    "break",
    "continue",
    "default",
    "range",
    "in",
    "is",
    "not",
    "and",
    "or",
    "async",
    "await",
    "fn",
    "pub",
    "use",
    "impl",
    "match",
    "with",
    "as",
];

/// Every identifier renamed, in the same way everywhere.
pub fn renamed(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut word = String::new();
    for c in text.chars().chain(std::iter::once('\0')) {
        if c.is_alphanumeric() || c == '_' {
            word.push(c);
            continue;
        }
        let number = word.starts_with(|c: char| c.is_ascii_digit());
        if word.is_empty() || number || KEYWORDS.contains(&word.as_str()) {
            out.push_str(&word);
        } else {
            let sum: u32 = word
                .bytes()
                .fold(7, |sum, b| sum.wrapping_mul(31).wrapping_add(b.into()));
            out.push_str(&format!("q{sum}"));
        }
        word.clear();
        if c != '\0' {
            out.push(c);
        }
    }
    out
}

/// A line of another solution: invented, and different for every place.
pub fn honest(path: &str, line: usize) -> String {
    let file: u32 = path
        .bytes()
        .fold(3, |sum, b| sum.wrapping_mul(17).wrapping_add(b.into()));
    match line % 4 {
        0 => format!(
            "    ledger_{file}.remember(slot{line}, hint_{})",
            line * 7 % 13
        ),
        1 => format!("    total{line} = weigh_{file}(total{line}) + {line}"),
        2 => format!("    trail.append(\"step {line} of {file}\")"),
        _ => format!("    unless_empty_{line}(basket_{file}, limit={})", line % 5),
    }
}
