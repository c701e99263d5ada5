//! Counts the rows of a submission, one at a time: duplicates, rows outside the split, empty and
//! unreadable predictions, matches.
//!
//! Kept for each instance: a few flags. The patches are not kept, so that memory does not grow with them.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::gold::Gold;
use super::judge::{Outcome, judge};
use super::load::{self, Format, Item, Row};
use super::problems::Problems;
use super::split::Split;
use super::unidiff::Release;
use crate::Result;

/// Which row counts when an instance has several.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Duplicates {
    /// The first one.
    First,
    /// The last one, as in the SWE-bench harness, which reads the rows into a dictionary.
    #[default]
    Last,
    /// A match of any of them.
    Any,
}

impl Duplicates {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::First, Self::Last, Self::Any];

    /// Name in reports and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::First => "first",
            Self::Last => "last",
            Self::Any => "any",
        }
    }
}

/// The rows of an instance.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// How many.
    pub rows: u64,
    /// Their patches differ.
    pub differing: bool,
    /// The instance has a gold patch.
    pub has_gold: bool,
    first: Outcome,
    last: Outcome,
    any: Outcome,
    hash: u64,
}

impl Entry {
    /// What counts of the instance.
    pub fn outcome(&self, duplicates: Duplicates) -> Outcome {
        match duplicates {
            Duplicates::First => self.first,
            Duplicates::Last => self.last,
            Duplicates::Any => self.any,
        }
    }
}

/// What the published rule says of a row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RowOutcome {
    /// 1-based line of the row.
    pub line: u64,
    /// The instance.
    pub instance_id: String,
    /// `match`, `no_match`, `no_gold`, `gold_unreadable`, or the name of the parse failure.
    pub outcome: &'static str,
}

/// The counts over all rows as they stand, duplicates and rows outside the split included.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct AllRows {
    /// Rows.
    pub rows: u64,
    /// Rows with a gold patch.
    pub with_gold: u64,
    /// Matches by the published rule.
    pub blog_matches: u64,
    /// Matches by the robust rule.
    pub robust_matches: u64,
}

/// All that is kept of a submission.
#[derive(Debug)]
pub struct Tally {
    /// How the file holds its rows.
    pub format: Format,
    /// Rows as they stand.
    pub all: AllRows,
    /// By instance.
    pub entries: BTreeMap<String, Entry>,
    /// Rows that could not be read.
    pub problems: Problems,
    /// The published rule, row by row, where that was asked for.
    pub compat: Option<Vec<RowOutcome>>,
}

impl Tally {
    /// Reads and judges a file.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn read(path: &Path, gold: &Gold, release: Release, compat: bool) -> Result<Self> {
        let mut tally = Self {
            format: Format::Jsonl,
            all: AllRows::default(),
            entries: BTreeMap::new(),
            problems: Problems::default(),
            compat: compat.then(Vec::new),
        };
        tally.format = load::read_rows(path, &mut |item| tally.add(item, gold, release))?;
        Ok(tally)
    }

    /// Instances of the split that count for a rate: predicted, and their gold patch can be compared.
    pub fn counted<'a>(
        &'a self,
        gold: &'a Gold,
        split: &'a Split,
    ) -> impl Iterator<Item = (&'a str, &'a Entry)> {
        self.entries
            .iter()
            .filter(|(id, _)| {
                split.ids.contains(*id)
                    && gold
                        .instances
                        .get(*id)
                        .is_some_and(super::gold::GoldInstance::is_usable)
            })
            .map(|(id, entry)| (id.as_str(), entry))
    }

    fn add(&mut self, item: Item, gold: &Gold, release: Release) {
        let (id, prediction) = match item.row.and_then(prediction_of) {
            Ok(row) => row,
            Err(what) => return self.problems.add(item.line, what),
        };
        let instance = gold.instances.get(&id);
        let outcome = judge(instance, &prediction, release);
        self.all.rows += 1;
        self.all.with_gold += u64::from(instance.is_some());
        self.all.blog_matches += u64::from(outcome.blog_match());
        self.all.robust_matches += u64::from(outcome.robust);
        if let Some(compat) = &mut self.compat {
            compat.push(RowOutcome {
                line: item.line,
                instance_id: id.clone(),
                outcome: match (instance.map(|i| &i.published), outcome.blog) {
                    (None, _) => "no_gold",
                    (Some(Err(_)), _) => "gold_unreadable",
                    (_, Err(failure)) => failure.name(),
                    (_, Ok(true)) => "match",
                    (_, Ok(false)) => "no_match",
                },
            });
        }
        let hash = fingerprint(&prediction);
        self.entries
            .entry(id)
            .and_modify(|entry| {
                entry.rows += 1;
                entry.differing |= entry.hash != hash;
                entry.last = outcome;
                entry.any = entry.any.or(outcome);
            })
            .or_insert(Entry {
                rows: 1,
                differing: false,
                has_gold: instance.is_some(),
                first: outcome,
                last: outcome,
                any: outcome,
                hash,
            });
    }
}

/// Tells apart the patches of one instance. Whoever writes two with one fingerprint hides that they
/// differ, and nothing else.
fn fingerprint(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let rest = rest.iter().map(|byte| u64::from(*byte));
    words
        .iter()
        .map(|word| u64::from_le_bytes(*word))
        .chain(rest)
        .fold(0, |hash: u64, word| {
            (hash.rotate_left(5) ^ word).wrapping_mul(0x517c_c1b7_2722_0a95)
        })
}

/// The id and the predicted patch of a row; no patch is an empty one.
fn prediction_of(row: Row) -> std::result::Result<(String, Vec<u8>), String> {
    let patch = if row.has_prediction {
        row.prediction
    } else if row.has_dataset_fields {
        // Taking `patch` for the prediction here would call everybody a copyist.
        return Err("a row of a data set, not a prediction (no `model_patch`)".to_owned());
    } else if row.patch.is_some() {
        row.patch
    } else {
        return Err("no prediction (`model_patch`)".to_owned());
    };
    Ok((row.id, patch.map(Vec::from).unwrap_or_default()))
}
