//! What a score table says: runs, judges, and one rating for each pair that has one.
//!
//! Verdicts are taken as they are. Judges apply rules that differ from text to text (a "destructive"
//! patch fails whatever its points), so a verdict computed again from the points would be another
//! verdict.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// A judge's verdict on a run, worst first (the order matters to the ordinal statistics).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// The task was not solved.
    Fail,
    /// Some of it was.
    Partial,
    /// The task was solved.
    Pass,
}

impl Outcome {
    /// All three, worst first.
    pub const ALL: [Self; 3] = [Self::Fail, Self::Partial, Self::Pass];

    /// The word in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fail => "FAIL",
            Self::Partial => "PARTIAL",
            Self::Pass => "PASS",
        }
    }
}

/// Points, in units of 10⁻¹⁸, so that decimals of a table are kept exactly and sums do not overflow.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Points(i128);

impl Points {
    /// How many units make one point.
    pub const UNIT: i128 = 1_000_000_000_000_000_000;
    /// The largest absolute value that is read.
    pub const MAX: i128 = 1_000_000_000;

    /// Reads a plain decimal: sign, digits, at most 18 decimals, no exponent.
    ///
    /// # Errors
    ///
    /// A sentence fragment saying what is wrong ("is not a number").
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let (negative, digits) = match text.strip_prefix('-') {
            Some(rest) => (true, rest),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let (whole, decimals) = digits.split_once('.').unwrap_or((digits, ""));
        if whole.is_empty() && decimals.is_empty()
            || !whole
                .chars()
                .chain(decimals.chars())
                .all(|c| c.is_ascii_digit())
        {
            return Err("is not a plain decimal number");
        }
        if decimals.len() > 18 {
            return Err("has more than 18 decimals");
        }
        let whole: i128 = match whole {
            "" => 0,
            _ => whole.parse().map_err(|_| "is too large")?,
        };
        if whole >= Self::MAX {
            return Err("is too large");
        }
        let decimals: i128 = format!("{decimals:0<18}")
            .parse()
            .map_err(|_| "is not a plain decimal number")?;
        let units = whole * Self::UNIT + decimals;
        Ok(Self(if negative { -units } else { units }))
    }

    /// The units of 10⁻¹⁸.
    pub fn units(self) -> i128 {
        self.0
    }
}

/// Where a statement stands: a file of [`Scores::files`] and its 1-based line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Index into [`Scores::files`].
    pub file: usize,
    /// 1-based line.
    pub line: u64,
}

/// One judge's word on one run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rating {
    /// The verdict as written.
    pub verdict: Outcome,
    /// The points by component; empty when the table has none for this rating.
    pub points: Vec<Points>,
    /// Where it was read first.
    pub place: Place,
}

impl Rating {
    /// The sum of the components, in units of 10⁻¹⁸; `None` without points.
    pub fn total(&self) -> Option<i128> {
        (!self.points.is_empty()).then(|| self.points.iter().map(|p| p.units()).sum())
    }
}

/// One run: an agent's attempt at a task, with what the judges say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run {
    /// The name of its directory, without path and final slash.
    pub name: String,
    /// The task.
    pub task: String,
    /// The agent.
    pub agent: String,
    /// The form of the prompt; empty when the table does not say.
    pub prompt: String,
    /// The family of tasks; empty when neither table nor profile says.
    pub family: String,
    /// The date as written; empty when the table does not say.
    pub date: String,
    /// The name ends as the profile's mark for runs that were taken out of the scoring.
    pub marked: bool,
    /// One rating for each judge that gave a verdict.
    pub ratings: BTreeMap<String, Rating>,
    /// Where it was read first.
    pub place: Place,
}

impl Run {
    /// How many judges say FAIL, PARTIAL, PASS.
    pub fn votes(&self) -> [u64; 3] {
        Outcome::ALL.map(|o| self.ratings.values().filter(|r| r.verdict == o).count() as u64)
    }

    /// What the agents are compared on: a task in one form of the prompt.
    pub fn item(&self) -> (&str, &str) {
        (&self.task, &self.prompt)
    }
}

/// Everything that was read from the score tables, in an order that does not depend on theirs.
#[derive(Debug, Clone, Default)]
pub struct Scores {
    /// The files, in the order of reading.
    pub files: Vec<PathBuf>,
    /// Runs by name.
    pub runs: BTreeMap<String, Run>,
    /// Every judge with at least one rating.
    pub judges: BTreeSet<String>,
    /// Names of the components of the points, of the first table that has any.
    pub components: Vec<String>,
    /// What was met on the way.
    pub notes: ReadNotes,
}

impl Scores {
    /// The ratings of all runs.
    pub fn ratings(&self) -> usize {
        self.runs.values().map(|r| r.ratings.len()).sum()
    }

    /// The distinct agents, sorted.
    pub fn agents(&self) -> BTreeSet<&str> {
        self.runs.values().map(|r| r.agent.as_str()).collect()
    }

    /// The distinct tasks, sorted.
    pub fn tasks(&self) -> BTreeSet<&str> {
        self.runs.values().map(|r| r.task.as_str()).collect()
    }
}

/// What the readers met and handled; printed, since a table that needed repairs should be known to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadNotes {
    /// (kind, written, read as) and how often.
    pub aliases: BTreeMap<(&'static str, String, String), u64>,
    /// Header lines repeated as data.
    pub header_rows: u64,
    /// Ratings read again with the same content.
    pub duplicates: u64,
    /// Cells or rows of a judge without a verdict.
    pub blank_verdicts: u64,
    /// Ratings without points, though the table has columns for them.
    pub blank_points: u64,
    /// Ratings with some of the points only; none of them is used.
    pub torn_points: u64,
    /// Ratings whose number of components differs from that of the first table.
    pub other_components: u64,
    /// Report files that were left aside (links, special files).
    pub skipped_files: u64,
}

impl ReadNotes {
    /// The notes as sentences, in a fixed order.
    pub fn sentences(&self) -> Vec<String> {
        let mut out: Vec<String> = self
            .aliases
            .iter()
            .map(|((kind, from, to), n)| format!("{kind} {from} is read as {to} ({n} times)"))
            .collect();
        for (count, text) in [
            (
                self.header_rows,
                "header lines repeated among the rows, skipped",
            ),
            (
                self.duplicates,
                "ratings read more than once with the same content, counted once",
            ),
            (
                self.blank_verdicts,
                "judges' cells without a verdict: no rating",
            ),
            (
                self.blank_points,
                "verdicts without points: counted as verdicts, left out of the mean score",
            ),
            (
                self.torn_points,
                "verdicts with some of their points missing: left out of the mean score",
            ),
            (
                self.other_components,
                "ratings with another number of point columns than the first table: totals may not compare",
            ),
            (
                self.skipped_files,
                "report files that are links or no plain files, not read",
            ),
        ] {
            if count > 0 {
                out.push(format!("{count} {text}"));
            }
        }
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_are_exact_decimals() {
        for (text, units) in [
            ("5", Ok(5 * Points::UNIT)),
            ("2.3333", Ok(2_333_300_000_000_000_000)),
            ("-0.5", Ok(-500_000_000_000_000_000)),
            (".5", Ok(500_000_000_000_000_000)),
            ("5.", Ok(5 * Points::UNIT)),
            ("2.3333333333333335", Ok(2_333_333_333_333_333_500)),
            ("1e3", Err("is not a plain decimal number")),
            ("NaN", Err("is not a plain decimal number")),
            ("", Err("is not a plain decimal number")),
            (".", Err("is not a plain decimal number")),
            ("--1", Err("is not a plain decimal number")),
            ("٣", Err("is not a plain decimal number")),
            ("1000000000", Err("is too large")),
            (
                "99999999999999999999999999999999999999999999",
                Err("is too large"),
            ),
            ("0.0000000000000000001", Err("has more than 18 decimals")),
        ] {
            assert_eq!(Points::parse(text).map(Points::units), units, "{text}");
        }
    }
}
