//! What an exact-match report says. Pure data, in the order in which it is read.

use std::collections::BTreeMap;

use serde::{Serialize, Serializer};

use super::flags::Flag;
use super::gold::{FileHunks, GoldFile, GoldInstance};
use super::load::Format;
use super::problems::Problems;
use super::statistics::{Count, wilson};
use super::tally::{AllRows, Duplicates, RowOutcome};

/// The whole report.
#[derive(Debug, Serialize)]
pub struct Report<'a> {
    /// Version of the form of this report.
    pub schema: &'static str,
    /// The program.
    pub tool: Tool,
    /// What was compared with what.
    pub inputs: Inputs<'a>,
    /// The submissions, in the order in which they were given.
    pub submissions: Vec<Submission<'a>>,
    /// The submissions beside each other; `None` for a single one.
    pub population: Option<Population>,
    /// Files found in directories that hold no predictions.
    pub skipped: Vec<Skipped>,
}

impl Report<'_> {
    /// Leaves out the lists of matching instances.
    pub fn without_matches(mut self) -> Self {
        for submission in &mut self.submissions {
            submission.matches.clear();
        }
        self
    }
}

/// The program that made the report.
#[derive(Debug, Clone, Serialize)]
pub struct Tool {
    /// Its version.
    pub version: &'static str,
}

/// A file that was passed over.
#[derive(Debug, Clone, Serialize)]
pub struct Skipped {
    /// The file.
    pub path: String,
    /// Why.
    pub why: String,
}

/// What was compared with what.
#[derive(Debug, Serialize)]
pub struct Inputs<'a> {
    /// Files with gold patches.
    pub gold: &'a [GoldFile],
    /// Instances with a gold patch.
    pub gold_instances: u64,
    /// Instances whose gold patch cannot be compared (no changed line, or `unidiff` cannot read it).
    pub gold_unusable: Vec<&'a str>,
    /// Instances with two different gold patches, of which the first counts.
    pub gold_conflicting: &'a [String],
    /// The file with the split; `None`: the instances with a gold patch.
    pub split: Option<&'a str>,
    /// Instances of the split.
    pub split_size: u64,
    /// Instances of the split without a gold patch.
    pub split_without_gold: u64,
    /// Which row counts when an instance has several.
    pub duplicates: Duplicates,
    /// Release of `unidiff` that is imitated.
    pub unidiff: &'static str,
}

/// Matches of a rule.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Rate {
    /// How many.
    pub matches: u64,
    /// Their share of the denominator, in 0..=1; `None` of nothing.
    pub rate: Option<f64>,
    /// 95 % interval (Wilson).
    pub interval: Option<[f64; 2]>,
}

impl Rate {
    /// `matches` of `denominator`.
    pub fn new(matches: u64, denominator: u64) -> Self {
        let count = Count {
            matches,
            trials: denominator,
        };
        Self {
            matches,
            rate: count.rate(),
            interval: wilson(count).map(|(low, high)| [low, high]),
        }
    }
}

/// A submission.
#[derive(Debug, Serialize)]
pub struct Submission<'a> {
    /// Its name.
    pub name: String,
    /// Its file.
    pub path: String,
    /// How the file holds its rows.
    pub format: Format,
    /// What stands out; the mismatch with the split first.
    pub flags: Vec<Flag>,
    /// Rows with a prediction.
    pub rows: u64,
    /// Instances among them.
    pub unique: u64,
    /// Rows beyond the first of their instance.
    pub duplicates: u64,
    /// Instances whose rows hold different patches.
    pub differing_duplicates: u64,
    /// Matches if the first, the last or any row of an instance counted.
    pub by_duplicates: BTreeMap<&'static str, RuleCounts>,
    /// Instances that are not in the split.
    pub outside_split: u64,
    /// Instances of the split that have a prediction and no gold patch that can be compared.
    pub without_gold: u64,
    /// Lines that are no prediction.
    pub broken_rows: u64,
    /// Instances whose prediction is empty.
    pub empty: u64,
    /// Instances whose prediction `unidiff` cannot read; the published rule counts them as no match.
    pub unparsable: u64,
    /// The same by kind of failure, and how many the tolerant reader could read.
    pub unparsable_kinds: BTreeMap<&'static str, Unparsable>,
    /// Instances whose prediction is not empty and holds no change to a file.
    pub no_change_found: u64,
    /// Instances whose prediction lacks its final line feed.
    pub no_final_newline: u64,
    /// What rates are shares of.
    pub denominator: u64,
    /// The same in words.
    pub denominator_words: String,
    /// The published rule, bit for bit.
    pub blog: Rate,
    /// The published rule once both patches end with a line feed.
    pub blog_newline: Rate,
    /// The published rule on runs of changed lines, without context, read tolerantly.
    pub no_context: Rate,
    /// The robust rule.
    pub robust: Rate,
    /// The published rule, as a share of the whole split: a submission may leave out instances.
    pub blog_of_split: Rate,
    /// The robust rule, as a share of the whole split.
    pub robust_of_split: Rate,
    /// All rows as they stand.
    pub all_rows: AllRows,
    /// Instances outside the split.
    pub outside: Outside,
    /// By size of the gold patch.
    pub sizes: Vec<SizeClass>,
    /// Matches by the robust rule that chance lets expect, from the sizes of the gold patches.
    pub expected_by_chance: f64,
    /// The large gold patches, which tell a leak from a strong model.
    pub large: Large,
    /// Predictions that hold the hidden tests.
    pub tests: Tests,
    /// Comparison with the results, where there are any.
    pub resolved: Option<Resolved>,
    /// The matching instances, the largest gold patch first.
    pub matches: Vec<Match<'a>>,
    /// The published rule row by row, with `--compat`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub compat: Option<Vec<RowOutcome>>,
    /// Lines that could not be read.
    pub problems: Problems,
}

/// Matches by the two rules.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RuleCounts {
    /// The published rule.
    pub blog: u64,
    /// The robust rule.
    pub robust: u64,
}

/// Predictions that `unidiff` cannot read for one reason.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Unparsable {
    /// How many.
    pub count: u64,
    /// How many of them the tolerant reader could read.
    pub repaired: u64,
}

/// Instances outside the split.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Outside {
    /// How many.
    pub instances: u64,
    /// With a gold patch.
    pub with_gold: u64,
    /// Matches by the published rule.
    pub blog_matches: u64,
    /// Matches by the robust rule.
    pub robust_matches: u64,
}

/// Instances with gold patches of about one size.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SizeClass {
    /// Lines, such as `4-7`.
    pub lines: &'static str,
    /// Instances.
    pub instances: u64,
    /// Matches by the published rule.
    pub blog: u64,
    /// Matches by the robust rule.
    pub robust: u64,
    /// Matches by the robust rule that chance lets expect.
    pub expected: f64,
    /// The expectation rests on an extrapolation: no honest match of this size was seen.
    pub extrapolated: bool,
}

/// Instances with large gold patches.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Large {
    /// From how many lines on.
    pub from_lines: u64,
    /// Instances.
    pub instances: u64,
    /// Matches by the published rule.
    pub blog: u64,
    /// Matches by the robust rule.
    pub robust: Rate,
    /// Matches that chance lets expect.
    pub expected: f64,
    /// Probability of at least so many by chance (Poisson tail; for triage, not a verdict).
    pub p_chance: f64,
}

/// Predictions that hold the hidden tests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Tests {
    /// Predicted instances whose gold row has hidden tests.
    pub instances: u64,
    /// Predictions that hold all of them, by the robust rule.
    pub matches: u64,
}

/// Comparison with the results.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Resolved {
    /// Resolved instances of the denominator.
    pub instances: u64,
    /// Their share.
    pub rate: Option<f64>,
    /// Matches by the robust rule that are not resolved: a copy of the gold patch nearly always resolves.
    pub unresolved_matches: u64,
}

/// A matching instance.
#[derive(Debug, Serialize)]
pub struct Match<'a> {
    /// The instance.
    pub instance_id: &'a str,
    /// In the split.
    pub in_split: bool,
    /// Size of the gold patch.
    pub lines: u64,
    /// Chance that an honest prediction holds all of its lines.
    pub p_chance: f64,
    /// The published rule.
    pub blog: bool,
    /// The published rule once both patches end with a line feed.
    pub blog_newline: bool,
    /// Without context.
    pub no_context: bool,
    /// The robust rule.
    pub robust: bool,
    /// The prediction holds the hidden tests, too.
    pub tests: bool,
    /// Resolved, where there are results.
    pub resolved: Option<bool>,
    /// The other submissions on this instance; `None` where there are none.
    pub peers: Option<Peers>,
    /// The hunks of the gold patch.
    pub hunks: Hunks<'a>,
}

/// The other submissions on an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Peers {
    /// How many match by the robust rule.
    pub matching: u64,
    /// How many have a prediction that is not empty.
    pub of: u64,
}

/// The hunks of a gold patch, made when they are written.
#[derive(Debug, Clone, Copy)]
pub struct Hunks<'a>(pub(super) &'a GoldInstance);

impl Hunks<'_> {
    /// The hunks, file by file.
    pub fn files(self) -> Vec<FileHunks> {
        self.0.hunks()
    }
}

impl Serialize for Hunks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.files().serialize(serializer)
    }
}

/// The submissions beside each other.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Population {
    /// How many submissions.
    pub submissions: u64,
    /// By the published rule.
    pub blog: Spread,
    /// By the robust rule.
    pub robust: Spread,
}

/// Match rates of all submissions by one rule.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Spread {
    /// Mean of the rates.
    pub average: Option<f64>,
    /// Smallest and largest rate.
    pub range: Option<[f64; 2]>,
    /// Submissions taken for outliers: above the line of the post, or modified z above 3.5.
    pub outliers: Vec<String>,
    /// Mean without the outliers.
    pub average_without: Option<f64>,
    /// Range without the outliers.
    pub range_without: Option<[f64; 2]>,
    /// The fitted beta-binomial, outliers by z trimmed; `None` when there are too few submissions.
    pub beta_binomial: Option<Fit>,
    /// Why there are no tests, where there are none.
    pub no_test: Option<String>,
    /// The tests, one a submission.
    pub tests: Vec<Test>,
}

/// A fitted beta-binomial distribution.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Fit {
    /// Mean rate.
    pub mean: f64,
    /// Overdispersion, in 0..1.
    pub rho: f64,
}

/// A submission among the others.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Test {
    /// The submission.
    pub name: String,
    /// Modified z of its rate.
    pub z: Option<f64>,
    /// Upper tail of the fitted beta-binomial.
    pub p: Option<f64>,
    /// Beyond what a false-discovery rate of 5 % allows (Benjamini-Hochberg).
    pub significant: bool,
}
