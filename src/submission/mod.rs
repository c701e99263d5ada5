//! Exact-match audit of submissions: how many predictions of a benchmark submission equal the gold
//! patch, and whether that is more than strong and honest work explains.
//!
//! ```text
//! gold files ──load──> gold ──┐
//! split ─────load──> split ───┤
//! predictions ─load─> rows ─judge─> tally ─summary─> submissions ─population─> report
//!                            (unidiff + blog rule, robust rule)        │
//! results ───load──> resolved ─────────────────────────────────────────┘
//! ```
//!
//! The published rule ([`blog_rule`]) is reproduced bit for bit, with the failures of the Python package
//! it stands on ([`unidiff`]); the robust rule ([`robust_rule`]) is what to go by. Matches on small gold
//! patches mean little: half of all honest predictions match a one-line one. The share on patches of 16
//! and more lines separates a leak from a strong model.

pub mod blog_rule;
mod digits;
pub mod discover;
pub mod flags;
pub mod gold;
pub mod judge;
pub mod load;
pub mod model;
mod population;
pub mod problems;
mod python;
pub mod report;
pub mod results;
pub mod robust_rule;
pub mod split;
pub mod statistics;
mod summary;
pub mod tally;
pub mod unidiff;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use crate::{Error, Result};
use discover::{Source, discover};
use gold::Gold;
use model::{Inputs, Report, Skipped, Tool};
use population::PeerCounts;
use results::Results;
use split::Split;
use summary::{Context, summarise};
use tally::{Duplicates, Tally};
use unidiff::Release;

/// What to compare.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Files with gold patches.
    pub gold: Vec<PathBuf>,
    /// Files or directories with predictions.
    pub predictions: Vec<PathBuf>,
    /// The split: a list of ids or a data set; the instances with a gold patch if there is none.
    pub split: Option<PathBuf>,
    /// Reports of evaluations: files, directories, or `NAME=FILE`.
    pub results: Vec<String>,
    /// Which row counts when an instance has several.
    pub duplicates: Duplicates,
    /// Release of `unidiff` to imitate.
    pub release: Release,
    /// Keep what the published rule says of each row.
    pub compat: bool,
}

/// All that was read and counted; [`Audit::report`] says what it means.
#[derive(Debug)]
pub struct Audit {
    options: Options,
    gold: Gold,
    split: Split,
    sources: Vec<Source>,
    tallies: Vec<Tally>,
    resolved: BTreeMap<String, BTreeSet<String>>,
    skipped: Vec<Skipped>,
}

impl Audit {
    /// Reads and judges all files.
    ///
    /// # Errors
    /// When a file cannot be read, a named one holds no prediction, or results fit no submission.
    pub fn run(options: Options) -> Result<Self> {
        let gold = Gold::load(&options.gold, options.release)?;
        let split = match &options.split {
            Some(path) => Split::load(path)?,
            None => Split::of_gold(&gold),
        };
        let mut audit = Self {
            gold,
            split,
            sources: Vec::new(),
            tallies: Vec::new(),
            resolved: BTreeMap::new(),
            skipped: Vec::new(),
            options,
        };
        for source in discover(&audit.options.predictions)? {
            audit.read(source)?;
        }
        if audit.sources.is_empty() {
            return Err(Error::BadData {
                path: audit
                    .options
                    .predictions
                    .first()
                    .cloned()
                    .unwrap_or_default(),
                line: None,
                what: "no file holds predictions".to_owned(),
                fix: "each row needs `instance_id` and `model_patch`".to_owned(),
            });
        }
        let names: Vec<&str> = audit.sources.iter().map(|s| s.name.as_str()).collect();
        audit.resolved = Results::load(&audit.options.results)?.assign(&names)?;
        Ok(audit)
    }

    fn read(&mut self, source: Source) -> Result<()> {
        let compat = self.options.compat;
        let tally = Tally::read(&source.path, &self.gold, self.options.release, compat)?;
        if tally.all.rows > 0 {
            self.sources.push(source);
            self.tallies.push(tally);
            return Ok(());
        }
        let why = tally.problems.first().map_or_else(
            || "has no row".to_owned(),
            |what| format!("has no prediction: {what}"),
        );
        if source.found {
            self.skipped.push(Skipped {
                path: source.path.display().to_string(),
                why,
            });
            return Ok(());
        }
        Err(Error::BadData {
            path: source.path,
            line: tally.problems.first_line(),
            what: why,
            fix: "each row needs `instance_id` and `model_patch`".to_owned(),
        })
    }

    /// What was found.
    pub fn report(&self) -> Report<'_> {
        let duplicates = self.options.duplicates;
        let peers = PeerCounts::of(&self.tallies, &self.gold, &self.split, duplicates);
        let context = Context {
            gold: &self.gold,
            split: &self.split,
            duplicates,
            peers: &peers,
        };
        let mut submissions: Vec<_> = self
            .sources
            .iter()
            .zip(&self.tallies)
            .map(|(source, tally)| {
                summarise(source, tally, self.resolved.get(&source.name), context)
            })
            .collect();
        let population = population::compare(&mut submissions);
        let without_gold = self
            .split
            .ids
            .iter()
            .filter(|id| !self.gold.instances.contains_key(*id))
            .count();
        let size = |n: usize| u64::try_from(n).unwrap_or(u64::MAX);
        Report {
            schema: "trace-audit/1",
            tool: Tool {
                version: env!("CARGO_PKG_VERSION"),
            },
            inputs: Inputs {
                gold: &self.gold.files,
                gold_instances: size(self.gold.instances.len()),
                gold_unusable: self.gold.unusable().collect(),
                gold_conflicting: &self.gold.conflicting,
                split: self.split.path.as_deref(),
                split_size: size(self.split.ids.len()),
                split_without_gold: size(without_gold),
                duplicates,
                unidiff: self.options.release.name(),
            },
            submissions,
            population,
            skipped: self.skipped.clone(),
        }
    }
}
