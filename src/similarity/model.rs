//! The numbers of a comparison, with their numerators and denominators.

use serde::{Deserialize, Serialize};

use super::new_paths::NewPath;
use crate::patch::model::FileStatus;
use crate::stored;

/// A share that remembers what it is a share of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ratio {
    /// How many of them.
    pub num: u64,
    /// How many there are.
    pub den: u64,
}

impl Ratio {
    /// `num` of `den`.
    pub fn new(num: u64, den: u64) -> Self {
        Self { num, den }
    }

    /// The share in 0..=1, or `None` when there is nothing to share.
    pub fn value(self) -> Option<f64> {
        (self.den > 0).then(|| self.num as f64 / self.den as f64)
    }

    /// The share, with 0 when there is nothing to share.
    pub fn or_zero(self) -> f64 {
        self.value().unwrap_or(0.0)
    }
}

/// One GT file against the agent's patch.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FileSimilarity {
    /// Path in the GT (the new one; the old one of a deleted file).
    pub path: String,
    /// Path in the agent's patch that it was compared with.
    pub paired_with: Option<String>,
    /// Counts for the measures: in the hand-written list, or not generated where there is no list.
    pub hand_written: bool,
    /// Made by a generator (listed or detected).
    pub generated: bool,
    /// A test, by its path.
    #[serde(default)]
    pub test: bool,
    /// What the GT does to it.
    pub status: FileStatus,
    /// Added lines in the GT.
    pub gt_lines: u64,
    /// Distinctive lines among them (distinct).
    pub distinctive: u64,
    /// Distinctive lines that the paired file has too.
    pub shared: u64,
    /// Distinctive lines found anywhere in the patch: shows a file that was split or merged.
    #[serde(default)]
    pub shared_anywhere: u64,
    /// Shared / GT, over distinct raw added lines (the rule that many scripts call "Jaccard").
    pub containment: Option<f64>,
    /// Shared / union, over distinct raw added lines.
    pub jaccard: Option<f64>,
    /// Larger of distinctive containment and 12-token containment; `None` without either.
    pub copy_score: Option<f64>,
    /// Longest run of consecutive identical normalised lines.
    pub longest_run: u64,
    /// Chance that an honest solution contains all its lines (see `chance`).
    pub p_chance: f64,
    /// All normalised added lines are equal (as a multiset). A file that adds no code is identical
    /// if its comment lines are; one that adds no line at all, if the patch does the same to the same
    /// path: the same deletion, rename or mode change, or the same removed lines. Never true for
    /// binary files: their content is not compared.
    pub identical: bool,
    /// Long enough to be judged alone (at least 8 distinctive lines).
    pub eligible: bool,
}

/// The whole comparison, over hand-written files unless said otherwise.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Similarity {
    /// Distinctive GT lines (distinct).
    pub n: u64,
    /// Those of at least 16 characters.
    pub n16: u64,
    /// Distinct non-comment added GT lines; the input of the chance formula.
    pub n_lines: u64,
    /// Chance that an honest solution contains all of `n_lines`.
    pub p_chance: f64,
    /// `n_lines` is above 31, where the chance formula is extrapolated.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub p_chance_extrapolated: bool,
    /// Hand-written files of the GT.
    pub hand_written_files: u64,
    /// Those whose normalised added lines are all equal.
    pub hand_written_identical: u64,
    /// Files long enough to be judged alone.
    pub eligible_files: u64,
    /// Eligible files with a copy score of at least 0.9, or of at least 16 distinctive lines of which that share stands
    /// anywhere in the patch.
    pub identical_files: u64,
    /// `identical_files / eligible_files`, 0 if none is eligible.
    pub id_files: f64,
    /// Shared / GT over distinct raw added lines, files pooled.
    pub containment: Option<f64>,
    /// Shared / union over distinct raw added lines, files pooled.
    pub jaccard: Option<f64>,
    /// Larger of `u` and `t12`.
    pub copy_score: Option<f64>,
    /// Distinctive containment of the run.
    pub u: Option<f64>,
    /// Containment of 12-token grams.
    pub t12: Option<f64>,
    /// Containment of abstract 23-token grams; `None` until computed.
    pub s23: Option<f64>,
    /// Share of GT lines inside runs of at least six identical lines.
    pub r6: Option<f64>,
    /// Longest run of consecutive identical normalised lines.
    pub longest_run: u64,
    /// Distinctive containment, lines counted as often as they occur (M).
    pub multiset: Option<f64>,
    /// Share of change blocks with a distinctive line that the patch makes exactly (H).
    pub hunks: Option<f64>,
    /// Comment lines and messages of the GT, and those that the patch adds word for word; `None` without a
    /// patch. Shown, never scored.
    pub remarks: Option<Ratio>,
    /// Paths that the GT and the patch both create. Shown, never scored.
    pub new_paths: Vec<NewPath>,
    /// Sum of `p_chance` over eligible files: how many identical ones chance gives.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub expected_identical: f64,
    /// The smallest `p_chance` of an identical eligible file that is no test; `None` without one.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub rarest_identical: Option<f64>,
    /// `u` with its parts: distinctive lines shared, of `n`.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub u_ratio: Ratio,
    /// `t12` with its parts.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub t12_ratio: Ratio,
    /// `r6` with its parts.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub r6_ratio: Ratio,
    /// `s23` with its parts; the denominator is in grams.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub s23_ratio: Ratio,
    /// Tokens behind `s23`: the length of a text with as many different grams. A table of a thousand
    /// equal rows counts as one row.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub s23_tokens: u64,
    /// `multiset` with its parts.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub multiset_ratio: Ratio,
    /// `hunks` with its parts.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub hunks_ratio: Ratio,
    /// The part of `u` that lies in test files of the GT.
    #[serde(default)]
    pub u_tests: Ratio,
    /// Per GT file, in the order of the GT.
    pub files: Vec<FileSimilarity>,
}

/// A distinctive GT line: the unit of evidence that provenance looks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DistinctiveLine {
    /// Index into [`Similarity::files`].
    pub file: usize,
    /// 1-based line in the new version of the GT file (its first occurrence).
    pub gt_line: u32,
    /// The line without white space and comments, folded: what is searched for in squeezed text.
    pub squeezed: String,
    /// The same with its comments, where one stands within the code: in a text that shows the line, this is
    /// what stands there.
    pub commented: Option<String>,
    /// At least 16 characters: counts for exposure.
    pub long: bool,
    /// In the agent's patch too.
    pub shared: bool,
    /// In a prose file (Markdown, text, documentation): exposure of it is printed apart.
    pub prose: bool,
}
