//! What provenance says of a run.

use serde::Serialize;

use crate::similarity::model::Ratio;
use crate::trace::event::EventId;

/// A text that showed GT lines to the agent before it wrote them.
#[derive(Debug, Clone, Serialize)]
pub struct Exposure {
    /// The GT file whose lines were shown.
    pub gt_path: String,
    /// Line ranges in the new version of that file, such as `120-210`.
    pub gt_lines: Vec<String>,
    /// How many distinctive lines this event brought for this file.
    #[serde(skip)]
    pub lines: u64,
    /// The event that showed them.
    pub event: EventId,
    /// The trace file of that event, as an index into the run's list.
    #[serde(skip)]
    pub file: u32,
    /// Its 1-based line.
    pub line: u64,
    /// The command or call behind it, cut.
    pub command: Option<String>,
}

/// Where the added lines of the final patch came from, in lines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
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

/// Provenance of one run.
#[derive(Debug, Clone, Default, Serialize)]
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
    /// `e` with its parts (code files only).
    #[serde(skip)]
    pub e_ratio: Ratio,
    /// `x` with its parts (code files only).
    #[serde(skip)]
    pub x_ratio: Ratio,
    /// Of the distinctive GT lines in the final patch, those that the agent typed first.
    #[serde(skip)]
    pub shared_typed: Ratio,
    /// The last event that changed a file of the GT, as far as the trace shows.
    #[serde(skip)]
    pub last_gt_edit: Option<EventId>,
    /// Distinctive GT lines that a read of the work tree showed before any call could have put them
    /// there: they stood in it before the agent's first action.
    #[serde(skip)]
    pub preapplied_lines: u64,
    /// Paths (relative to the run where possible) that some call of the trace wrote.
    #[serde(skip)]
    pub written_paths: Vec<String>,
}
