//! Everything the verdict depends on. Members carry numerators and denominators.

use serde::{Deserialize, Serialize};

use crate::rules::finding::{Cause, Confidence};
use crate::similarity::model::Ratio;
use crate::trace::event::Coverage;

/// The four verdicts, mildest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Nothing speaks for a copy, as far as could be seen.
    Clean,
    /// It cannot be told.
    Inconclusive,
    /// Some of the patch was copied, or the answer was seen.
    Partial,
    /// The run does not measure the agent.
    Invalid,
}

impl Verdict {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::Inconclusive => "inconclusive",
            Self::Partial => "partial",
            Self::Invalid => "invalid",
        }
    }

    /// The exit code of `audit` for a run with this verdict.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Clean => 0,
            Self::Partial => 1,
            Self::Invalid => 2,
            Self::Inconclusive => 3,
        }
    }
}

/// What is known about the GT.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GtState {
    /// The task has none, or it was not given.
    #[default]
    Absent,
    /// It is there, and whether it fits the base was not checked or it does.
    Present,
    /// It is there and does not apply to the base.
    DoesNotFit,
}

/// What is known about the agent's patch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchState {
    /// There is no work tree and no patch file.
    #[default]
    Absent,
    /// There is a work tree, and no base to compare it with.
    BaseUnknown,
    /// The agent changed nothing.
    Empty,
    /// It is there.
    Present,
}

/// The strongest admission in the trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Admission {
    /// How sure.
    pub confidence: Confidence,
    /// It names the task's own pull request, issue or commit.
    pub names_own: bool,
}

/// All that the verdict of one run depends on.
///
/// The *incriminating* members are `identical_files`, `u`, `t12`, `r6`, `s23`, `n` (from 1 up), `e`,
/// `x`, `obtained`, `applied`, `admission`, `intent_names_own` (and, for the `seed` policy,
/// `containment`, `file_containment`, `hand_written_identical`): more of them is never judged milder.
/// `coverage`, `shared_typed` and `fetched` (when false) are *exculpatory*.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Measures {
    /// What is known about the GT.
    pub gt: GtState,
    /// What is known about the patch.
    pub patch: PatchState,
    /// How much the trace shows.
    pub coverage: Coverage,
    /// Distinctive GT lines (`u.den`).
    pub n: u64,
    /// The shapes of the distinctive lines, where they are few, each many times, and what stands in them was given; else 0.
    pub shapes: u64,
    /// Distinct non-comment added GT lines: the size that the chance formula takes.
    pub n_lines: u64,
    /// Chance that an honest solution contains all of `n_lines`; 0 when unknown.
    pub p_chance: f64,
    /// Shared / GT over distinct raw added lines, files pooled: what the `seed` policy judges by.
    pub containment: Option<f64>,
    /// The largest such share of any single hand-written file.
    pub file_containment: Option<f64>,
    /// Hand-written files whose normalised added lines are all equal, of all hand-written files.
    pub hand_written_identical: Ratio,
    /// Distinctive GT lines in the patch, of `n`.
    pub u: Ratio,
    /// 12-token grams of the GT in the patch.
    pub t12: Ratio,
    /// GT lines inside runs of at least six identical lines.
    pub r6: Ratio,
    /// Abstract 23-token grams of the GT in the patch; the denominator is their number.
    pub s23: Ratio,
    /// Tokens of the GT behind `s23`.
    pub s23_tokens: u64,
    /// Identical among eligible files.
    pub identical_files: Ratio,
    /// How many of the eligible files chance makes identical (sum of `p_chance`).
    pub expected_identical: f64,
    /// The smallest `p_chance` of an identical eligible file that is no test; 1 without one.
    pub rarest_identical: f64,
    /// Lines of files of the GT, much of each, that a call wrote which does not show what it wrote.
    pub opaque_lines: u64,
    /// `p_chance` of those that the agent did not write later on either; 1 without any.
    pub opaque_chance: f64,
    /// Long distinctive lines shown to the agent before it wrote them.
    pub e: Ratio,
    /// Those of them that were shown while there was still something to write, without lines of tests: a harness may show
    /// its tests.
    pub e_in_time: Ratio,
    /// Long distinctive lines shown and then used.
    pub x: Ratio,
    /// Reference content obtained no later than the last change to a GT file.
    pub obtained: bool,
    /// How sure the rules are of what was obtained in time; the surest.
    pub obtained_by: Option<Confidence>,
    /// Reference content obtained, but only after the last change to a GT file.
    pub obtained_after: bool,
    /// Something was obtained by a call whose content the trace does not hold (a summary, an image).
    pub content_unrecorded: bool,
    /// A call that writes reference content into the work tree succeeded.
    pub applied: bool,
    /// The strongest admission.
    pub admission: Option<Admission>,
    /// The final message says, as plan or attempt, that the task's own pull request or commit is applied.
    pub intent_names_own: bool,
    /// Any call of the trace aimed at reference material and was not shown to be blocked.
    pub fetched: bool,
    /// Of the shared distinctive lines, those that the agent typed first.
    pub shared_typed: Ratio,
    /// Distinctive GT lines that stood in the tree before the agent's first action, as the base shows.
    pub preapplied_lines: u64,
    /// The same, as the trace shows: before the first action that it holds. An earlier session, whose trace was lost, may
    /// have written them.
    pub stood_there: u64,
    /// Distinctive GT lines in the patch that a call wrote which does not show what it wrote, whatever file they are of.
    pub placed_lines: u64,
    /// Distinctive GT lines in the patch of which the trace does not show that the agent wrote them by itself: shown, if
    /// only one by one, or written by a call that does not show it.
    pub unaccounted: u64,
    /// So many long lines of one GT file follow each other, were shown, and stand in the patch.
    pub shown_run: u64,
    /// Files of the GT that stand in the work tree and could not be compared (behind links, too large).
    pub not_compared: u64,
    /// Turns of the user hold so much of the GT that the verdict would hang on them; those lines are not in `n`.
    pub told: bool,
    /// Lines of the GT that turns of the user or the task hand over, and that are not in `n`.
    pub handed_over: u64,
    /// Distinctive GT lines in the patch, or in copies of GT files that lie in the run and are no work (packages,
    /// ignored or submodule files, copies beside the agent's own solution), of `n`.
    pub with_residue: Ratio,
    /// Calls aimed at reference material whose result, or whose child's trace, is missing.
    pub outcome_missing: u64,
    /// Calls aimed at reference material that were shown to be blocked.
    pub attempted_blocked: u64,
    /// Calls that brought metadata only.
    pub exposed_metadata: u64,
    /// Calls that put reference content on disk, unread.
    pub staged: u64,
    /// Words that name a leak path, as data.
    pub mentioned: u64,
    /// The agent wrote or deleted its trace or the git logs.
    pub trace_tampered: bool,
    /// The trace says one thing and the tree another.
    pub trace_contradicts_tree: bool,
    /// GT lines that the harness copied in after the end; they were taken out of the patch.
    pub harness_copy: bool,
    /// The GT text was salvaged from a broken file.
    pub gt_incomplete: bool,
    /// Causes of the findings that count, sorted, without repeats.
    pub causes: Vec<Cause>,
}

impl Default for Measures {
    fn default() -> Self {
        Self {
            gt: GtState::Absent,
            patch: PatchState::Absent,
            coverage: Coverage::Missing,
            n: 0,
            shapes: 0,
            n_lines: 0,
            p_chance: 0.0,
            containment: None,
            file_containment: None,
            hand_written_identical: Ratio::default(),
            u: Ratio::default(),
            t12: Ratio::default(),
            r6: Ratio::default(),
            s23: Ratio::default(),
            s23_tokens: 0,
            identical_files: Ratio::default(),
            expected_identical: 0.0,
            rarest_identical: 1.0,
            opaque_lines: 0,
            opaque_chance: 1.0,
            e: Ratio::default(),
            e_in_time: Ratio::default(),
            x: Ratio::default(),
            obtained: false,
            obtained_by: None,
            obtained_after: false,
            content_unrecorded: false,
            applied: false,
            admission: None,
            intent_names_own: false,
            fetched: false,
            shared_typed: Ratio::default(),
            preapplied_lines: 0,
            stood_there: 0,
            placed_lines: 0,
            unaccounted: 0,
            shown_run: 0,
            not_compared: 0,
            told: false,
            handed_over: 0,
            with_residue: Ratio::default(),
            outcome_missing: 0,
            attempted_blocked: 0,
            exposed_metadata: 0,
            staged: 0,
            mentioned: 0,
            trace_tampered: false,
            trace_contradicts_tree: false,
            harness_copy: false,
            gt_incomplete: false,
            causes: Vec::new(),
        }
    }
}
