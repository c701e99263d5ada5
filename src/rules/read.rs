//! One rule file: from its text to its entries as written, with everything that is wrong with them.

use std::borrow::Cow;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeTable, DeValue, ValueDeserializer};

use super::diagnostic::{self, Sink, SourceFile};
use super::gather::{self, Doubts};
use super::recover::{self, recover};
use super::schema::{OverrideSyntax, PackSyntax, RuleSyntax, SCHEMA_VERSION};
use crate::experiment::task_facts::TaskFacts;

/// An entry as written.
#[derive(Debug)]
pub(super) struct Entry<T> {
    /// Where it stands.
    pub(super) span: Range<usize>,
    /// What stands there.
    pub(super) syntax: T,
    /// What of it is not known.
    pub(super) doubts: Doubts,
}

/// The entries of a file.
#[derive(Debug, Default)]
pub(super) struct FileEntries {
    /// Facts of tests that give none; `None`: the file gives none.
    pub(super) facts: Option<TaskFacts>,
    /// The rules that could be read at all.
    pub(super) rules: Vec<Entry<RuleSyntax>>,
    /// The overrides that could be read at all.
    pub(super) overrides: Vec<Entry<OverrideSyntax>>,
    /// `[[rule]]` tables, with those that could not be read.
    pub(super) count: usize,
    /// Ids of rules in parts that could not be read.
    pub(super) lost: Vec<String>,
    /// There may be rules of which not even the id is known.
    pub(super) unknown: bool,
}

/// Most rules of a user, in all files, and most overrides. Each run looks at all of them, and each test too.
pub(super) const MAX_ENTRIES: usize = 1_000;

/// How many entries of a user were read so far.
#[derive(Debug, Default)]
pub(super) struct Taken {
    rules: usize,
    overrides: usize,
}

/// Counts an entry; false, with a message for the first, if it is one too many.
fn fits(taken: &mut usize, what: &str, span: Range<usize>, sink: &mut Sink) -> bool {
    *taken += usize::from(!sink.trusted);
    if *taken == MAX_ENTRIES + 1 {
        sink.error_help(
            span,
            format!(
                "there are more than {MAX_ENTRIES} {what}; those from here on are not looked at"
            ),
            "use fewer: one rule can have many patterns in `any`",
        );
    }
    *taken <= MAX_ENTRIES
}

/// Reads a file.
pub(super) fn file(file: &SourceFile, taken: &mut Taken, sink: &mut Sink) -> FileEntries {
    let mut entries = FileEntries {
        unknown: file.unread,
        ..FileEntries::default()
    };
    if file.unread {
        return entries;
    }
    let text = if file.trusted {
        Cow::Owned(without_tests(&file.text))
    } else {
        Cow::Borrowed(file.text.as_ref())
    };
    match DeTable::parse(&text) {
        Ok(table) => tables(table.into_inner(), &[], &mut entries, taken, sink),
        Err(_) => {
            let found = recover(&text);
            for (span, message) in found.mistakes {
                match message.starts_with("cannot extend value of type inline table") {
                    true => sink.error_help(
                        span,
                        message,
                        "what is written in braces is complete: write the table with a header, such as `[override.append]`",
                    ),
                    false => sink.error(span, message),
                }
            }
            if found.more {
                sink.error_help(
                    text.len()..text.len(),
                    format!(
                        "there are more than {} TOML mistakes in this file",
                        recover::MAX_MISTAKES
                    ),
                    "mend those that are shown, then check again",
                );
            }
            let gaps = found.gaps.iter().filter_map(|gap| text.get(gap.clone()));
            entries.lost = gaps.flat_map(ids).collect();
            match DeTable::parse(&found.text) {
                Ok(table) if !found.text.is_empty() => {
                    tables(table.into_inner(), &found.gaps, &mut entries, taken, sink);
                }
                _ => {
                    entries.lost = ids(&text).collect();
                    entries.unknown = true;
                }
            }
        }
    }
    entries
}

/// What is given as `id` in a text that could not be read.
fn ids(text: &str) -> impl Iterator<Item = String> {
    text.lines().filter_map(|line| {
        let (_, value) = line.split_once('=').filter(|(key, _)| key.trim() == "id")?;
        let value = value.trim().trim_start_matches(['"', '\'']);
        let id = value.split(['"', '\'', ' ', '#']).next()?;
        Some(id.to_owned())
    })
}

fn tables(
    table: DeTable,
    gaps: &[Range<usize>],
    entries: &mut FileEntries,
    taken: &mut Taken,
    sink: &mut Sink,
) {
    let text = sink.text;
    let doubts = |entry: &Spanned<DeValue>| {
        let region = || recover::region(text, entry);
        let gap = !gaps.is_empty() && {
            let region = region();
            gaps.iter()
                .any(|gap| gap.start < region.end && region.start < gap.end)
        };
        if gap {
            Doubts::of_gaps()
        } else {
            Doubts::default()
        }
    };
    let mut schema = None;
    for (key, value) in table {
        match key.get_ref().as_ref() {
            "schema" => schema = Some(value),
            "pack" => {
                let mut doubts = doubts(&value);
                let given = value.get_ref().get("test_facts").is_some();
                let pack: Option<PackSyntax> = read(value, &mut doubts, sink);
                entries.facts = pack.map(|pack| pack.test_facts).filter(|_| given);
            }
            "rule" => {
                for entry in list(value, sink) {
                    entries.count += 1;
                    if !fits(&mut taken.rules, "rules", entry.span(), sink) {
                        entries.unknown = true;
                        continue;
                    }
                    let mut doubts = doubts(&entry);
                    let span = entry.span();
                    match read(entry, &mut doubts, sink) {
                        Some(syntax) => entries.rules.push(Entry {
                            span,
                            syntax,
                            doubts,
                        }),
                        None => entries.unknown = true,
                    }
                }
            }
            "override" => {
                for entry in list(value, sink) {
                    if !fits(&mut taken.overrides, "overrides", entry.span(), sink) {
                        break;
                    }
                    let mut doubts = doubts(&entry);
                    let span = entry.span();
                    if let Some(syntax) = read(entry, &mut doubts, sink) {
                        entries.overrides.push(Entry {
                            span,
                            syntax,
                            doubts,
                        });
                    }
                }
            }
            other => unknown_key(other, key.span(), &value, entries, sink),
        }
    }
    let gone = gaps
        .iter()
        .any(|gap| text.get(gap.clone()).is_some_and(|t| t.contains("schema")));
    if schema.is_some() || !gone {
        check_schema(schema.as_ref(), sink);
    }
}

/// A key that is none. What is nearly `rule` may be rules.
fn unknown_key(
    key: &str,
    span: Range<usize>,
    value: &Spanned<DeValue>,
    entries: &mut FileEntries,
    sink: &mut Sink,
) {
    let names = ["schema", "pack", "rule", "override"];
    let near = diagnostic::nearest(key, names.into_iter());
    let help = near.map_or_else(
        || format!("the tables of a rule file are {}", names.join(", ")),
        |name| format!("did you mean `{name}`?"),
    );
    if near == Some("rule") {
        let tables = value.get_ref().as_array().into_iter();
        let id = |table: &Spanned<DeValue>| {
            Some(table.get_ref().get("id")?.get_ref().as_str()?.to_owned())
        };
        let ids: Vec<Option<String>> = tables.flat_map(|list| list.iter()).map(id).collect();
        entries.unknown |= ids.is_empty() || ids.contains(&None);
        entries.lost.extend(ids.into_iter().flatten());
    }
    sink.error_help(span, format!("unknown key `{key}`"), help);
}

/// Built-in files are known to be right: nothing is kept for a second attempt.
fn read<T: DeserializeOwned>(
    value: Spanned<DeValue>,
    doubts: &mut Doubts,
    sink: &mut Sink,
) -> Option<T> {
    if !sink.trusted {
        return gather::entry(value, doubts, sink);
    }
    let span = value.span();
    T::deserialize(ValueDeserializer::from(value))
        .map_err(|error| sink.toml(&error, span))
        .ok()
}

/// A built-in file without its `[[rule.test]]` tables: they are more than half of the packs, and
/// only a check needs them. Offsets into it mean nothing, and nothing is wrong in it that would need one.
fn without_tests(text: &str) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let end = memchr::memmem::find(rest.as_bytes(), b"\n[").map_or(rest.len(), |at| at + 1);
        let (table, after) = rest.split_at_checked(end).unwrap_or((rest, ""));
        if !table.starts_with("[[rule.test") && !table.starts_with("[rule.test") {
            kept.push_str(table);
        }
        rest = after;
    }
    kept
}

fn check_schema(schema: Option<&Spanned<DeValue<'_>>>, sink: &mut Sink) {
    let help = format!("start the file with `schema = {SCHEMA_VERSION}`");
    let Some(value) = schema else {
        return sink.error_help(0..0, "the file does not say which format it has", help);
    };
    let number = value
        .get_ref()
        .as_integer()
        .and_then(|i| i64::from_str_radix(i.as_str(), i.radix()).ok());
    if number != Some(SCHEMA_VERSION) {
        sink.error_help(value.span(), "this version reads another format", help);
    }
}

/// The tables of an array of tables.
fn list<'d>(value: Spanned<DeValue<'d>>, sink: &mut Sink) -> Vec<Spanned<DeValue<'d>>> {
    let span = value.span();
    match value.into_inner() {
        DeValue::Array(array) => array.into_iter().collect(),
        _ => {
            sink.error(span, "write [[double brackets]]: there can be several");
            Vec::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_of_built_in_packs_are_left_out() {
        let text = "[[rule]]\nid = 1\n[[rule.test]]\ntext = \"[x]\"\n[rule.test.facts]\na = 1\n[[rule]]\nid = 2";
        let kept = without_tests(text);
        assert_eq!(kept, "[[rule]]\nid = 1\n[[rule]]\nid = 2");
    }
}
