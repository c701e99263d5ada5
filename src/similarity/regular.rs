//! Lines that say nothing new: a table, stubs, the same rewrite at a hundred places.
//!
//! A GT is *regular* when its distinctive lines have few shapes (names, numbers and strings blanked), each many times. Its
//! size in lines then says little: who does the task at all in that form writes all of them. Not so where the names and
//! texts in them carry information: those must stand in what was given, the starter tree or the prompt.

use std::collections::BTreeSet;

use aho_corasick::AhoCorasick;

use super::lexer::{TokenKind, is_keyword, tokens};
use super::mechanical::shape;
use super::normalise::{bare, squeeze};

/// Each shape must stand there so often on the average.
const EACH: usize = 4;

/// Fewer lines are not regular, they are few.
const MIN_LINES: usize = 8;

/// A shorter name or text carries no information.
const MIN_NAME: usize = 5;

/// More names than that are not looked for.
const MAX_NAMES: usize = 20_000;

/// So many of a hundred names must be given.
const GIVEN: usize = 95;

/// A regular GT, while its names are looked for in what was given.
#[derive(Debug)]
pub struct Regular {
    shapes: u64,
    names: Vec<String>,
    given: Vec<bool>,
    search: AhoCorasick,
}

impl Regular {
    /// Reads the added lines of the GT, of which those count whose comparison text is one of `distinctive`. `None` when they
    /// are not regular.
    pub fn new<'l>(
        lines: impl Iterator<Item = &'l str>,
        distinctive: &BTreeSet<&str>,
    ) -> Option<Self> {
        let mut shapes = BTreeSet::new();
        let mut names = BTreeSet::new();
        let mut seen = BTreeSet::new();
        for line in lines {
            let text = squeeze(line);
            if !distinctive.contains(text.as_str()) || !seen.insert(text) {
                continue;
            }
            shapes.insert(shape(line));
            let telling = |kind, text: &str| match kind {
                TokenKind::Identifier => !is_keyword(text),
                TokenKind::Number | TokenKind::String => true,
                TokenKind::Punct => false,
            };
            let tokens = tokens(line).filter(|token| telling(token.kind, token.text));
            names.extend(
                tokens
                    .map(|token| bare(token.text))
                    .filter(|n| n.len() >= MIN_NAME),
            );
        }
        let regular = seen.len() >= MIN_LINES && shapes.len() * EACH <= seen.len();
        if !regular || names.len() > MAX_NAMES {
            return None;
        }
        let names: Vec<String> = names.into_iter().collect();
        Some(Self {
            shapes: shapes.len() as u64,
            given: vec![false; names.len()],
            search: AhoCorasick::new(&names).ok()?,
            names,
        })
    }

    /// Reads the prompt, or a file of the starter.
    pub fn read(&mut self, content: &str) {
        let content = bare(content);
        for found in self.search.find_overlapping_iter(&content) {
            if let Some(given) = self.given.get_mut(found.pattern().as_usize()) {
                *given = true;
            }
        }
    }

    /// The number of shapes, where the names were given; 0 where not.
    pub fn finish(self) -> u64 {
        let given = self.given.iter().filter(|given| **given).count();
        let all = given * 100 >= self.names.len() * GIVEN;
        if all { self.shapes } else { 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shapes(lines: &[String], given: &str) -> Option<u64> {
        let texts: Vec<String> = lines.iter().map(|line| squeeze(line)).collect();
        let distinctive = texts.iter().map(String::as_str).collect();
        let mut regular = Regular::new(lines.iter().map(String::as_str), &distinctive)?;
        regular.read(given);
        Some(regular.finish())
    }

    #[test]
    fn a_table_of_what_was_given_is_one_line() {
        let name = |n: u8| format!("{}arbour", char::from(b'a' + n));
        let table = |n| format!("    \"{0}\": Port(title=\"{0}\", depth={n}00),", name(n));
        let lines: Vec<String> = (0..20).map(table).collect();
        let page: String = (0..20)
            .map(|n| format!("| {} |\n", name(n).to_uppercase()))
            .collect();
        let entry = "\"x\": Port(title=\"x\", depth=1)";
        assert_eq!(shapes(&lines, &format!("{page}{entry}")), Some(1));
        assert_eq!(
            shapes(&lines, entry),
            Some(0),
            "what the table says came from elsewhere"
        );
        assert_eq!(shapes(&lines[..7], &page), None, "few lines");
        let code: Vec<String> = (0..20)
            .map(|n| format!("let v = {}f({});", "g(".repeat(n), ")".repeat(n)))
            .collect();
        assert_eq!(
            shapes(&code, "let v = f(g());"),
            None,
            "code has many shapes"
        );
    }
}
