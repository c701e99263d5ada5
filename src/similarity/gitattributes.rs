//! Reads `.gitattributes` for one question: is a file marked `linguist-generated`?
//!
//! A small part of the format: patterns, set and unset attributes, macros (`[attr]name …`). The last
//! matching line wins; a file deeper in the tree wins over one above. Quoted patterns are read;
//! lines that cannot be read are passed over, as git does.

use globset::{GlobBuilder, GlobMatcher};

/// The attribute that hosts use to fold generated files away in a review.
const ATTRIBUTE: &str = "linguist-generated";

/// One `.gitattributes` file.
#[derive(Debug, Clone, Default)]
pub struct Attributes {
    rules: Vec<(GlobMatcher, bool)>,
}

impl Attributes {
    /// Reads the text of a file. Keeps only the lines that say something of generated files.
    pub fn parse(text: &str) -> Self {
        let mut macros: Vec<&str> = Vec::new();
        let mut rules = Vec::new();
        for line in text.lines() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            if let Some(definition) = line.strip_prefix("[attr]") {
                let mut words = definition.split_whitespace();
                if let Some(name) = words.next()
                    && words.filter_map(|word| state(word, &[])).next_back() == Some(true)
                {
                    macros.push(name);
                }
                continue;
            }
            let Some((pattern, attributes)) = pattern_of(line) else {
                continue;
            };
            let generated = attributes
                .split_whitespace()
                .filter_map(|word| state(word, &macros))
                .next_back();
            if let Some(generated) = generated
                && let Some(glob) = glob(&pattern)
            {
                rules.push((glob, generated));
            }
        }
        Self { rules }
    }

    /// What the file says of `path`, which is relative to the file's directory.
    pub fn generated(&self, path: &str) -> Option<bool> {
        self.rules
            .iter()
            .rev()
            .find(|(glob, _)| glob.is_match(path))
            .map(|(_, generated)| *generated)
    }

    /// True if no line speaks of generated files.
    pub fn is_empty(&self) -> bool {
        self.rules.is_empty()
    }
}

/// What one word of an attribute list says of [`ATTRIBUTE`].
fn state(word: &str, macros: &[&str]) -> Option<bool> {
    let is_ours = |name: &str| name == ATTRIBUTE || macros.contains(&name);
    if let Some(name) = word.strip_prefix(['-', '!']) {
        return is_ours(name).then_some(false);
    }
    match word.split_once('=') {
        Some((name, value)) => is_ours(name).then(|| !matches!(value, "false" | "0")),
        None => is_ours(word).then_some(true),
    }
}

/// Splits a line into its pattern, quotes undone, and its attributes.
fn pattern_of(line: &str) -> Option<(String, &str)> {
    let Some(quoted) = line.strip_prefix('"') else {
        let (pattern, attributes) = line.split_once(char::is_whitespace)?;
        return Some((pattern.to_owned(), attributes));
    };
    let mut pattern = String::new();
    let mut escaped = false;
    for (at, c) in quoted.char_indices() {
        match c {
            _ if escaped => {
                pattern.push(c);
                escaped = false;
            }
            '\\' => escaped = true,
            '"' => return Some((pattern, quoted.get(at + 1..)?)),
            _ => pattern.push(c),
        }
    }
    None
}

/// A pattern of git as a glob over the whole path.
fn glob(pattern: &str) -> Option<GlobMatcher> {
    let anchored = pattern.trim_end_matches('/').contains('/');
    let pattern = pattern.strip_prefix('/').unwrap_or(pattern);
    // Braces mean nothing to git.
    let pattern = pattern.replace('{', "[{]").replace('}', "[}]");
    let pattern = if anchored {
        pattern
    } else {
        format!("**/{pattern}")
    };
    GlobBuilder::new(&pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .ok()
        .map(|glob| glob.compile_matcher())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_match_wins() {
        let attributes = Attributes::parse(
            "# comment\n\
             [attr]made linguist-generated=true diff=made\n\
             *.pb.go linguist-generated=true\n\
             /api/*.json linguist-generated\n\
             docs/** made\n\
             docs/own.md -made\n\
             \"with blank.txt\" made\n\
             *.c text\n\
             {a,b}.x linguist-generated\n\
             *.h linguist-generated=false\n\
             [ linguist-generated\n\
             broken",
        );
        for (path, want) in [
            ("a/b/x.pb.go", Some(true)),
            ("api/x.json", Some(true)),
            ("sub/api/x.json", None),
            ("api/v1/x.json", None),
            ("docs/a/b.md", Some(true)),
            ("docs/own.md", Some(false)),
            ("with blank.txt", Some(true)),
            ("x.c", None),
            ("x.h", Some(false)),
            ("a.x", None),
            ("{a,b}.x", Some(true)),
        ] {
            assert_eq!(attributes.generated(path), want, "{path}");
        }
        assert!(Attributes::parse("*.c text\n").is_empty());
    }
}
