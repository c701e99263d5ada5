//! What reading the traces of a run brought to light, besides the events.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::event::Coverage;
use super::problem::TraceProblem;
use crate::stored;

/// A trace file to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceFile {
    /// Where it is.
    pub path: PathBuf,
    /// How reports call it, usually its path relative to the run.
    pub label: String,
}

/// One trace file, as read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFileReport {
    /// Where it is; empty when it comes from a store, since it may be another machine's.
    #[serde(skip)]
    pub path: PathBuf,
    /// How reports call it.
    #[serde(rename = "path")]
    pub label: String,
    /// SHA-256 of its bytes as they lie on disk, in lower-case hexadecimal; empty when it could not be
    /// read to its end.
    pub sha256: String,
    /// The formats found in it, in the order of their first record, joined by `+`; `generic` for JSON
    /// of no known format, `text` for text, `empty` for nothing, `none` for what could not be read.
    pub format: String,
    /// Records: JSON values, and lines that are none.
    pub records: u64,
    /// Events that came out of it, after repeats were dropped.
    pub events: u64,
    /// What was wrong with it, in the order of the file.
    pub problems: Vec<TraceProblem>,
    /// Calls in it, after repeats were dropped.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub calls: u64,
    /// Results in it that answer a call.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub results: u64,
    /// Results in it that answer no call.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub orphans: u64,
    /// The start of a session is in it.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub has_start: bool,
    /// The end of a session is in it.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub has_end: bool,
}

impl TraceFileReport {
    /// False for a file that holds something, and not one record of a known format or other JSON.
    pub fn is_trace(&self) -> bool {
        !matches!(self.format.as_str(), "text" | "" | "none")
    }

    /// True for a file without a byte.
    pub fn is_empty(&self) -> bool {
        self.format == "empty"
    }

    /// The error for a file that was named as a trace and is none.
    pub fn not_a_trace(&self) -> crate::Error {
        let why = self.problems.first();
        crate::Error::BadData {
            path: self.path.clone(),
            line: why.map(|p| p.line).filter(|line| *line > 0),
            what: format!(
                "this is no trace of an agent: {}",
                why.map_or("nothing in it is a record", |p| p.what.as_str())
            ),
            fix: "name the log that the agent's runner wrote, such as claude_run.jsonl or \
                  codex_events.jsonl"
                .to_owned(),
        }
    }
}

/// All trace files of a run, as read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceReport {
    /// How much of the run they show. [`Coverage::Full`] still lacks the check that every changed file
    /// has a writer: see [`TraceReport::lower`].
    pub coverage: Coverage,
    /// In words, why coverage is not full.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub reasons: Vec<String>,
    /// The files, in the order given.
    pub files: Vec<TraceFileReport>,
    /// Calls, after repeats were dropped.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub calls: u64,
    /// Results that answer a call.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub results: u64,
    /// Calls without a result.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub unanswered: u64,
    /// Results without a call.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub orphans: u64,
    /// Sub-agents that were started and whose own steps are not, or not all, in the files.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub missing_children: Vec<String>,
}

impl TraceReport {
    /// Lowers the coverage to at most `to` and says why. Never raises it.
    pub fn lower(&mut self, to: Coverage, reason: impl Into<String>) {
        self.coverage = self.coverage.min(to);
        self.reasons.push(reason.into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lowering_never_raises() {
        let mut report = TraceReport {
            coverage: Coverage::Full,
            reasons: Vec::new(),
            files: Vec::new(),
            calls: 0,
            results: 0,
            unanswered: 0,
            orphans: 0,
            missing_children: Vec::new(),
        };
        report.lower(Coverage::Partial, "a.rs has no writer");
        report.lower(Coverage::Full, "nothing");
        assert_eq!(report.coverage, Coverage::Partial);
        assert_eq!(report.reasons, ["a.rs has no writer", "nothing"]);
    }
}
