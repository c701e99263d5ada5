//! What provenance needs to know of a run, and what it says of it.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::opaque::OpaqueCopy;
use crate::similarity::model::{DistinctiveLine, Ratio};
use crate::stored;
use crate::trace::event::EventId;

/// What the lines of a trace are compared with.
#[derive(Debug, Clone, Copy, Default)]
pub struct Inputs<'a> {
    /// Paths of the GT files, in the order of `Similarity::files`.
    pub gt_paths: &'a [String],
    /// The distinctive lines of the GT.
    pub lines: &'a [DistinctiveLine],
    /// For each of them: it stands in the starter as part of another text ([`Parts`](super::Parts)),
    /// so that seeing it proves nothing. Shorter than `lines` where that is not known.
    pub in_starter: &'a [bool],
    /// The final patch of the agent.
    pub patch: &'a [AddedFile],
    /// What the agent was asked. Its lines are no exposure.
    pub prompt: &'a str,
    /// The starter tree was searched for the lines of the GT. Without that, a GT line that is shown may
    /// well have stood in the tree from the start: only outputs that certainly come from elsewhere are
    /// exposures then, and nothing is said about lines applied before the run.
    pub starter_known: bool,
}

/// A file of the agent's final patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedFile {
    /// Path relative to the run.
    pub path: String,
    /// Made by a generator.
    pub generated: bool,
    /// The added lines, in order.
    pub lines: Vec<AddedLine>,
    /// Lines that the patch removes from it or leaves around its changes: the file had them before the run.
    pub around: Vec<String>,
}

/// An added line of the agent's final patch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AddedLine {
    /// The line as it stands, or squeezed.
    pub text: String,
    /// It stands somewhere in the starter tree.
    pub starter: bool,
}

/// Added lines of one file that no event of the trace holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnseenLines {
    /// The file.
    pub path: String,
    /// How many.
    pub lines: u64,
    /// How many of them are distinctive lines of the GT.
    pub gt_lines: u64,
    /// That call copied the file in from outside of the work tree.
    pub imported: bool,
    /// The last call that may have written them (inferred, not shown).
    pub event: Option<EventId>,
    /// The trace file of that call, as an index into the run's list.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub file: u32,
    /// The 1-based line of that call in its trace file.
    pub line: Option<u64>,
    /// The text of that call, cut.
    pub command: Option<String>,
}

/// A text that showed GT lines to the agent before it wrote them.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Exposure {
    /// The GT file whose lines were shown.
    pub gt_path: String,
    /// Line ranges in the new version of that file, such as `120-210`.
    pub gt_lines: Vec<String>,
    /// How many distinctive lines this event brought for this file.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub lines: u64,
    /// The event that showed them.
    pub event: EventId,
    /// The trace file of that event, as an index into the run's list.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub file: u32,
    /// Its 1-based line.
    pub line: u64,
    /// The command or call behind it, cut.
    pub command: Option<String>,
    /// The GT file is prose; such exposures count neither for E nor for X.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub prose: bool,
}

/// Where the added lines of the final patch came from, in lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ledger {
    /// The agent typed it first.
    pub authored: u64,
    /// It came in through an event before the agent wrote it.
    pub seen_first: u64,
    /// Moved or copied inside the repository.
    pub starter: u64,
    /// Stood in the prompt.
    pub prompt: u64,
    /// No event holds it.
    pub unseen: u64,
    /// In a generated file.
    pub generated: u64,
    /// In a file that the agent edited by a call whose content the format does not keep.
    pub unrecorded: u64,
}

/// How much text of files that have to do with the GT (and are no prose) the ledger is about, in lines of [`LINE_SIZE`] characters: a long line counts as many.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LedgerSize {
    /// Text that some event holds, or the starter or the prompt.
    pub shown: u64,
    /// Text that no event holds.
    pub unseen: u64,
    /// Of that, the longest line.
    pub unseen_longest: u64,
    /// The same in lines, prose too.
    pub shown_lines: u64,
    /// Those that no event holds.
    pub unseen_lines: u64,
}

/// Characters, without white space, that make up a line where text is measured by size.
pub const LINE_SIZE: u64 = 80;

impl LedgerSize {
    /// The size of a line without white space.
    pub(super) fn of(line: &str) -> u64 {
        (line.len() as u64).div_ceil(LINE_SIZE).max(1)
    }
}

/// What the trace says of changes to GT files that the agent did not make.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Environment {
    /// Files that `git status` listed as changed before any call could have changed them.
    pub changed_before: Vec<String>,
    /// Files that the last `git status` did not list, after which no call could have changed them unseen.
    pub unchanged_at_the_end: Vec<String>,
    /// Every call of the trace reads only, or is an edit whose content the trace holds.
    pub all_explained: bool,
    /// The same, or runs tests.
    pub accounted: bool,
}

/// Provenance of one run.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Provenance {
    /// Share of long distinctive lines that the agent was shown before it wrote them.
    pub e: Option<f64>,
    /// Share of long distinctive lines that were shown and then stand in the final patch.
    pub x: Option<f64>,
    /// The first exposure.
    pub first_exposure: Option<Exposure>,
    /// All exposures, by event and GT file.
    pub exposures: Vec<Exposure>,
    /// Every added line of the final patch; `None` without a patch or a trace with calls.
    pub ledger: Option<Ledger>,
    /// The same by size.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub ledger_size: LedgerSize,
    /// `e` with its parts (code files only).
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub e_ratio: Ratio,
    /// `x` with its parts (code files only).
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub x_ratio: Ratio,
    /// Of the lines that `e` counts, those shown no later than [`Provenance::last_gt_edit`].
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub e_in_time: u64,
    /// Of these, those that are not of tests alone: a harness may show its tests.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub e_of_solution: u64,
    /// The same over prose files; printed apart, never judged.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub e_prose: Ratio,
    /// The same over prose files; printed apart, never judged.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub x_prose: Ratio,
    /// Of the distinctive GT lines in the final patch, those that the agent typed first.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub shared_typed: Ratio,
    /// Those lines, as indices into [`Inputs::lines`], sorted. Not stored: a store holds their hashes
    /// (`audit::prints`).
    #[serde(skip)]
    pub typed_lines: Vec<u32>,
    /// Distinctive lines that a turn of the user held before the agent wrote or was shown them, and that nothing can have
    /// put into the tree before, as indices like those.
    #[serde(skip)]
    pub told_lines: Vec<u32>,
    /// Distinctive lines that came with what the prompt names, or from a tool whose output follows from the tree, as indices
    /// like those.
    #[serde(skip)]
    pub given_lines: Vec<u32>,
    /// Those that a script or plain text tools of the command made of the tree: given where they are regular and what stands
    /// in them was given.
    #[serde(skip)]
    pub table_lines: Vec<u32>,
    /// Calls that looked at ancestors of the base only.
    #[serde(skip)]
    pub history_looks: BTreeSet<EventId>,
    /// The calls behind them: trace file, 1-based line.
    #[serde(skip)]
    pub given_at: BTreeMap<EventId, (u32, u64)>,
    /// Where those turns stand: trace file, 1-based line.
    #[serde(skip)]
    pub told_at: Vec<(u32, u64)>,
    /// The last event that changed a file of the GT, as far as the trace shows.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub last_gt_edit: Option<EventId>,
    /// Distinctive GT lines that a read of the work tree showed before any call could have put them
    /// there: they stood in it before the agent's first action.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub preapplied_lines: u64,
    /// Distinctive GT lines in the patch that no event holds, of any file, behind a call that may have written them and
    /// that is no formatter, generator or edit.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub placed_lines: u64,
    /// Distinctive GT lines in the patch of which the trace does not show that the agent wrote them by itself.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub unaccounted: u64,
    /// The most long lines of a GT file of code that follow each other, were shown, and stand in the patch.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub shown_run: u64,
    /// Lines of the patch that no event holds, by file, with the call that may have written them.
    #[serde(default)]
    pub unseen: Vec<UnseenLines>,
    /// Of those files, the ones that have nothing to do with the GT: no code of its kind, and no line of it.
    #[serde(skip)]
    pub beside: BTreeSet<String>,
    /// Much of a file of the GT that a call wrote which does not show what it wrote.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub opaque: Vec<OpaqueCopy>,
    /// Lines that could not be searched for: too short, or one of too many that look alike.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub unsearched: u64,
    /// Outputs that held a distinctive line of the GT, whoever had it first.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub gt_outputs: BTreeSet<EventId>,
    /// Outputs that held lines of the patch that were the agent's own by then, and no line of the GT that was not.
    #[serde(skip)]
    pub own_outputs: BTreeSet<EventId>,
    /// Calls that put nothing into the tree by git but revisions that the agent made.
    #[serde(skip)]
    pub own_takes: BTreeSet<EventId>,
    /// Files of the patch that hold something else than the trace says: its last word on them is a
    /// whole file that was written and that nothing changed afterwards.
    #[serde(skip)]
    pub contradictions: Vec<String>,
    /// Paths (relative to the run where possible) that some call of the trace wrote.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub written_paths: Vec<String>,
    /// What the agent did not do.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub environment: Environment,
}
