//! Reads an entry of a rule file with *all* that is wrong with it.
//!
//! serde stops at the first mistake. So the mistake is noted and taken out (an unknown key, a value of the wrong type) or
//! filled in (a key that is missing), and the entry is read again. What is missing or wrong now only because of a mistake
//! that was noted already is kept in mind as [`Doubts`], so that nobody is told twice.

use std::collections::BTreeSet;
use std::ops::Range;

use serde::de::DeserializeOwned;
use toml::Spanned;
use toml::de::{DeArray, DeTable, DeValue, ValueDeserializer};

use super::diagnostic::{Sink, nearest};

/// Mistakes of one entry that are shown; of one with more, the rest is shown when these are mended.
const MAX_MISTAKES: usize = 40;

/// Where values that were filled in seem to stand: in no file.
pub(super) const NOWHERE: Range<usize> = usize::MAX..usize::MAX;

/// What to fill in for each key that some table needs.
const FILLERS: &str = "id = 'filled.in'\ntitle = '-'\nseverity = 'low'\nconfidence = 'low'\nkind = 'mention'\n\
                       match = {}\nreason = '-'\nany = []\nname = '-'\nexpect = 'match'\nrules = []\nprogram = '-'\n";

/// Keys that decide nothing about what a rule hits: a test means the same whatever their values are.
const HARMLESS: &[&str] = &[
    "id",
    "version",
    "title",
    "description",
    "advice",
    "severity",
    "confidence",
    "status",
    "tags",
    "references",
    "license",
    "reason",
    "test",
];

/// What is not known of an entry, since it was wrong.
#[derive(Debug, Clone, Default)]
pub(super) struct Doubts {
    /// Keys whose values are not what was meant.
    keys: BTreeSet<String>,
    /// Something is missing that could be anything: a key that is not like any other, a line that is no TOML.
    anything: bool,
    /// Parts of the entry were no TOML, so that its tables lack keys.
    gaps: bool,
    /// Mistakes that were noted, and the tables around them.
    places: Vec<Range<usize>>,
    /// Tests with mistakes.
    tests: Vec<Range<usize>>,
    /// Keys that a table lacks only because of a mistake that was noted.
    absent: Vec<(Range<usize>, String)>,
}

impl Doubts {
    /// Doubts about everything: a part of the entry was no TOML.
    pub(super) fn of_gaps() -> Self {
        Self {
            anything: true,
            gaps: true,
            ..Self::default()
        }
    }

    /// True if one of the keys may not be what was meant.
    pub(super) fn about(&self, keys: &[&str]) -> bool {
        self.anything || keys.iter().any(|key| self.keys.contains(*key))
    }

    /// True if the entry means what it says, but for what a person reads.
    pub(super) fn harmless(&self) -> bool {
        !self.anything && self.keys.iter().all(|key| HARMLESS.contains(&key.as_str()))
    }

    /// True if nothing was wrong.
    pub(super) fn sure(&self) -> bool {
        !self.anything && self.keys.is_empty()
    }

    /// True if a test is not as it was meant.
    pub(super) fn test(&self, span: &Range<usize>) -> bool {
        self.tests.contains(span)
    }

    /// True if what is wrong at a place only follows from a mistake that was noted.
    pub(super) fn explain(&self, span: &Range<usize>, text: &str) -> bool {
        let around = |place: &Range<usize>| span.start <= place.start && place.end <= span.end;
        *span == NOWHERE || self.places.iter().any(around) || self.gaps && on_header(span, text)
    }
}

/// What one message of serde says.
enum Mistake<'m> {
    /// A key is missing.
    Missing(&'m str),
    /// There is no such key.
    Unknown,
    /// A value cannot be used.
    Value,
}

/// Reads an entry, and notes everything that is wrong with it. What could not be used is filled in.
pub(super) fn entry<T: DeserializeOwned>(
    mut value: Spanned<DeValue<'_>>,
    doubts: &mut Doubts,
    sink: &mut Sink,
) -> Option<T> {
    let mut absent = Vec::new();
    let read = entry_without(&mut value, doubts, sink, &mut absent);
    tell_absent(absent, sink);
    read
}

/// Keys that are missing, with the tables that lack them: one message for each table.
fn tell_absent(mut absent: Vec<(Range<usize>, String)>, sink: &mut Sink) {
    while let Some((table, _)) = absent.first().cloned() {
        let here = absent.extract_if(.., |(span, _)| *span == table);
        let keys: Vec<String> = here.map(|(_, key)| format!("`{key}`")).collect();
        let word = if keys.len() == 1 { "field" } else { "fields" };
        sink.error(table, format!("missing {word} {}", keys.join(", ")));
    }
}

/// The same; what is missing is put on a list.
fn entry_without<T: DeserializeOwned>(
    value: &mut Spanned<DeValue<'_>>,
    doubts: &mut Doubts,
    sink: &mut Sink,
    absent: &mut Vec<(Range<usize>, String)>,
) -> Option<T> {
    let whole = value.span();
    for _ in 0..MAX_MISTAKES {
        let error = match T::deserialize(ValueDeserializer::from(value.clone())) {
            Ok(read) => return Some(read),
            Err(error) => error,
        };
        let span = error.span().unwrap_or_else(|| whole.clone());
        let message = error.message();
        let mistake = if let Some(key) = quoted(message, "missing field `") {
            Mistake::Missing(key)
        } else if message.starts_with("unknown field `") {
            Mistake::Unknown
        } else {
            Mistake::Value
        };
        let told = match mistake {
            Mistake::Missing(key) => doubts.explain_absence(key, &span, sink.text),
            _ => false,
        };
        match mistake {
            _ if told => {}
            Mistake::Missing(key) => absent.push((span.clone(), key.to_owned())),
            _ => sink.toml(&error, whole.clone()),
        }
        let mut path = Vec::new();
        let Some(table) = mend(value, &span, &mistake, &mut path) else {
            doubts.anything = true;
            return None;
        };
        doubts.remember(&path, table, span, &mistake, message);
    }
    sink.error_help(
        whole,
        format!("there are more than {MAX_MISTAKES} mistakes in this entry"),
        "mend those that are shown, then check again",
    );
    doubts.anything = true;
    None
}

/// A step from an entry to a value in it: a key of a table, or an item of a list.
struct Step {
    key: Option<String>,
    span: Range<usize>,
}

impl Doubts {
    /// True if the key is missing because it was taken out, mistyped, or stands in a line that is no TOML.
    fn explain_absence(&self, key: &str, table: &Range<usize>, text: &str) -> bool {
        let absent = |(span, name): &(Range<usize>, String)| span == table && name == key;
        self.absent.iter().any(absent) || self.gaps && on_header(table, text)
    }

    fn remember(
        &mut self,
        path: &[Step],
        table: Range<usize>,
        span: Range<usize>,
        mistake: &Mistake,
        message: &str,
    ) {
        // Of a table with a mistake nothing is said that holds for the table as a whole. The entry itself is no such
        // table: what is said of it asks for its keys.
        self.places.push(span);
        self.places
            .extend(path.iter().map(|step| step.span.clone()));
        let key = match mistake {
            Mistake::Missing(key) => Some((*key).to_owned()),
            Mistake::Unknown => meant(message).map(str::to_owned),
            Mistake::Value => path.iter().rev().find_map(|step| step.key.clone()),
        };
        if let Some(key) = &key {
            self.absent.push((table, key.clone()));
        }
        if let Some(at) = path
            .iter()
            .position(|step| step.key.as_deref() == Some("test"))
        {
            // The other tests, and the rule, are as they were meant.
            self.keys.insert("test".to_owned());
            self.tests
                .extend(path.get(at + 1).map(|step| step.span.clone()));
            return;
        }
        self.anything |= key.is_none();
        self.keys
            .extend(path.first().and_then(|step| step.key.clone()));
        self.keys.extend(key);
    }
}

/// True if a place is the header of a table.
fn on_header(span: &Range<usize>, text: &str) -> bool {
    let before = text
        .get(..span.start)
        .unwrap_or_default()
        .trim_end_matches([' ', '\t']);
    let header = text
        .get(span.clone())
        .is_some_and(|header| header.starts_with('['));
    header && (before.is_empty() || before.ends_with('\n'))
}

/// Takes out or fills in what a message is about. Gives the place of the table or list that was changed, and leaves in
/// `path` the steps to what was wrong.
fn mend(
    value: &mut Spanned<DeValue<'_>>,
    span: &Range<usize>,
    mistake: &Mistake,
    path: &mut Vec<Step>,
) -> Option<Range<usize>> {
    let here = value.span();
    match value.get_mut() {
        DeValue::Table(table) => {
            if let Mistake::Missing(key) = mistake
                && here == *span
                && !table.contains_key(*key)
            {
                table.insert(
                    Spanned::new(NOWHERE, (*key).to_owned().into()),
                    filler(key)?,
                );
                return Some(here);
            }
            let wrong = |(key, value): &(&Spanned<_>, &Spanned<_>)| match mistake {
                Mistake::Missing(_) => false,
                Mistake::Unknown => key.span() == *span,
                Mistake::Value => value.span() == *span,
            };
            let found = table
                .iter()
                .find(wrong)
                .map(|(key, _)| key.get_ref().to_string());
            if let Some(key) = found {
                if matches!(mistake, Mistake::Value) {
                    path.push(Step {
                        key: Some(key.clone()),
                        span: span.clone(),
                    });
                }
                table.remove(key.as_str())?;
                return Some(here);
            }
            for (key, value) in table.iter_mut() {
                path.push(Step {
                    key: Some(key.get_ref().to_string()),
                    span: value.span(),
                });
                if let Some(changed) = mend(value, span, mistake, path) {
                    return Some(changed);
                }
                path.pop();
            }
        }
        DeValue::Array(list) => {
            let wrong = list.iter().position(|item| item.span() == *span);
            if let (Mistake::Value, Some(at)) = (mistake, wrong) {
                let all = std::mem::replace(list, DeArray::new())
                    .into_iter()
                    .enumerate();
                *list = all
                    .filter(|(number, _)| *number != at)
                    .map(|(_, item)| item)
                    .collect();
                return Some(here);
            }
            for item in list.iter_mut() {
                path.push(Step {
                    key: None,
                    span: item.span(),
                });
                if let Some(changed) = mend(item, span, mistake, path) {
                    return Some(changed);
                }
                path.pop();
            }
        }
        _ => {}
    }
    None
}

/// A value that stands in for one that a table needs.
fn filler(key: &str) -> Option<Spanned<DeValue<'static>>> {
    let mut all = DeTable::parse(FILLERS).ok()?.into_inner();
    let value = all.remove(key)?.into_inner();
    Some(Spanned::new(NOWHERE, value))
}

/// What stands between the beginning of a message and the next quote.
fn quoted<'m>(message: &'m str, beginning: &str) -> Option<&'m str> {
    message.strip_prefix(beginning)?.split('`').next()
}

/// The key that was most likely meant by an unknown one.
fn meant(message: &str) -> Option<&str> {
    let mut quoted = message.split('`').skip(1).step_by(2);
    nearest(quoted.next()?, quoted)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::schema::{OverrideSyntax, PackSyntax, RuleSyntax};

    /// Each key without which some table cannot be read can be filled in.
    #[test]
    fn every_key_that_is_needed_can_be_filled_in() {
        let empty = |text: &'static str| {
            let table = DeTable::parse(text).unwrap().into_inner();
            Spanned::new(0..0, DeValue::Table(table))
        };
        let file = crate::rules::diagnostic::SourceFile::new("x", "");
        for text in [
            "",
            "[match]\nany = [{ command = {} }]\n[after]\n[[allow]]\n[[test]]\n",
            "[replace]\nany = [{}]\n[append]\n[[append.allow]]\n[[append.test]]\n",
        ] {
            let mut all = Vec::new();
            let mut sink = Sink::new(0, &file, &mut all);
            let rule = entry::<RuleSyntax>(empty(text), &mut Doubts::default(), &mut sink);
            let change = entry::<OverrideSyntax>(empty(text), &mut Doubts::default(), &mut sink);
            let pack = entry::<PackSyntax>(empty(text), &mut Doubts::default(), &mut sink);
            assert!(
                rule.is_some() && change.is_some() && pack.is_some(),
                "{text}"
            );
        }
    }
}
