//! Anchors of the expressions of the built-in packs, worked out beforehand.
//!
//! Parsing a thousand expressions for their anchors was half of what a start costs. The table holds, one line
//! each, an expression as written and its anchors, separated by tabs and sorted by expression. It is looked up
//! by the whole expression, so a table that lags behind the packs costs time and is never wrong. Line breaks
//! and tabs inside of them are shown as symbols. A test keeps the table up to date:
//!
//! ```sh
//! UPDATE_DOCS=1 cargo test --lib rules::pattern::known
//! ```

use std::borrow::Cow;
use std::cmp::Ordering;
use std::sync::LazyLock;

/// The lines of the table.
static LINES: LazyLock<Vec<&str>> = LazyLock::new(|| include_str!("known.tsv").lines().collect());

/// The anchors of an expression that stands in the table (see
/// [`Regexp::anchors`](super::regexp::Regexp::anchors)).
pub(super) fn anchors(written: &str) -> Option<Option<Vec<Cow<'static, str>>>> {
    let written = shown(written)?;
    let at = LINES
        .binary_search_by(|line| compared(line, &written))
        .ok()?;
    let anchors: Vec<_> = LINES.get(at)?.split('\t').skip(1).map(meant).collect();
    Some((!anchors.is_empty()).then_some(anchors))
}

/// The expression of a line compared with another one. The end of the expression is not looked for, since nothing
/// in it is below the tab behind it.
fn compared(line: &str, written: &str) -> Ordering {
    let (line, written) = (line.as_bytes(), written.as_bytes());
    let start = line.get(..written.len()).unwrap_or(line);
    start
        .cmp(written)
        .then_with(|| match line.get(written.len()) {
            None | Some(b'\t') => Ordering::Equal,
            Some(_) => Ordering::Greater,
        })
}

/// White space that cannot stand in a field, and the symbols shown in its place.
const SYMBOLS: [(char, char); 3] = [('\t', '\u{2409}'), ('\n', '\u{2424}'), ('\r', '\u{240d}')];

/// A text as it stands in the table; `None` if it holds the symbols themselves.
fn shown(text: &str) -> Option<Cow<'_, str>> {
    let bytes = text.as_bytes();
    // Nearly every expression: a fast look, since each start takes it for all of them.
    if text.is_ascii() && memchr::memchr3(b'\t', b'\n', b'\r', bytes).is_none() {
        return Some(Cow::Borrowed(text));
    }
    if text.contains(SYMBOLS.map(|(_, symbol)| symbol)) {
        return None;
    }
    let replaced = |c: char| {
        SYMBOLS
            .iter()
            .find(|(blank, _)| *blank == c)
            .map_or(c, |(_, s)| *s)
    };
    Some(text.chars().map(replaced).collect())
}

/// The text that stands in a field.
fn meant(field: &'static str) -> Cow<'static, str> {
    if field.is_ascii() || !field.contains(SYMBOLS.map(|(_, symbol)| symbol)) {
        return Cow::Borrowed(field);
    }
    let replaced = |c: char| {
        SYMBOLS
            .iter()
            .find(|(_, symbol)| *symbol == c)
            .map_or(c, |(b, _)| *b)
    };
    field.chars().map(replaced).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::rules::RuleSet;
    use crate::rules::pattern::regexp::derived;

    /// What the table should be.
    fn table() -> String {
        let rules = RuleSet::builtin().unwrap();
        let patterns = rules.rules().iter().flat_map(|rule| rule.body.patterns());
        let written: BTreeSet<&str> = patterns
            .filter_map(|pattern| pattern.regexp())
            .map(|regexp| regexp.written())
            .collect();
        let lines: BTreeMap<String, Vec<String>> = written
            .into_iter()
            .filter_map(|written| {
                let anchors = derived(written).unwrap_or_default();
                let anchors = anchors.iter().map(|a| shown(a).map(Cow::into_owned));
                Some((
                    shown(written)?.into_owned(),
                    anchors.collect::<Option<_>>()?,
                ))
            })
            .collect();
        let line = |(key, anchors): (String, Vec<String>)| {
            std::iter::once(key)
                .chain(anchors)
                .collect::<Vec<_>>()
                .join("\t")
                + "\n"
        };
        lines.into_iter().map(line).collect()
    }

    #[test]
    fn the_table_is_that_of_the_built_in_packs() {
        let table = table();
        if std::env::var_os("UPDATE_DOCS").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/rules/pattern/known.tsv");
            std::fs::write(path, table).unwrap();
            return;
        }
        let there: BTreeSet<&str> = LINES.iter().copied().collect();
        let wanted: BTreeSet<&str> = table.lines().collect();
        let differing: Vec<&&str> = there.symmetric_difference(&wanted).collect();
        assert!(
            differing.is_empty(),
            "run with UPDATE_DOCS=1: {differing:?}"
        );
    }

    #[test]
    fn every_expression_has_the_anchors_that_are_derived_from_it() {
        let rules = RuleSet::builtin().unwrap();
        let patterns = rules.rules().iter().flat_map(|rule| rule.body.patterns());
        for regexp in patterns.filter_map(|pattern| pattern.regexp()) {
            assert_eq!(anchors(regexp.written()), Some(derived(regexp.written())));
        }
    }

    #[test]
    fn only_what_stands_in_the_table_is_known() {
        assert_eq!(anchors("no such expression"), None);
        assert_eq!(anchors(""), None);
        assert!(LINES.is_sorted_by_key(|line| line.split('\t').next()));
    }
}
