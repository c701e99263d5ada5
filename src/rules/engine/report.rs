//! What the engine has found, put in order.

use super::Engine;
use super::calls::{MAX_SCRIPT_BYTES, MAX_STEPS};
use super::past::MAX_PAST;
use super::windows::LONGEST;
use crate::rules::finding::{Finding, Kind};
use crate::rules::flow::MAX_SAVED;

/// Mentions of one rule that are kept. A note says how many more there were; other kinds of
/// findings are never cut.
pub const MAX_MENTIONS: usize = 200;

/// A rule that could not be used for this task.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct InactiveRule {
    /// Its id.
    pub id: String,
    /// The fact that the task lacks.
    pub missing_fact: String,
}

/// Everything that the rules found in one run.
#[derive(Debug, Clone, Default, serde::Serialize, serde::Deserialize)]
pub struct EngineReport {
    /// Sorted by event, then rule; at most one of each rule on an event.
    pub findings: Vec<Finding>,
    /// Rules that name a fact which the task lacks.
    pub inactive: Vec<InactiveRule>,
    /// What was cut or could not be done.
    pub notes: Vec<String>,
    /// Commands that could not be taken apart, wholly or in part: what they run is not known for sure.
    pub unclear_commands: u64,
    /// What to say of the results of such commands, and of scripts that nobody can read, if a result turns
    /// out to hold reference content: one finding a result. They are no findings by themselves.
    #[serde(skip)]
    pub unclear_results: Vec<Finding>,
}

impl Engine<'_> {
    /// The findings, sorted, one of each rule on an event: the strongest.
    pub fn finish(self) -> EngineReport {
        let mut notes = Vec::new();
        for (number, count) in &self.mentions {
            let (Some(active), Some(more)) = (
                self.active.get(*number),
                count.checked_sub(MAX_MENTIONS).filter(|more| *more > 0),
            ) else {
                continue;
            };
            notes.push(format!("{more} more mentions by rule {}", active.rule.id));
        }
        for (rule, times) in &self.gave_up {
            notes.push(format!(
                "rule {rule}: too many hits that do not count in {times} texts; the rest was skipped"
            ));
        }
        if self.long_commands > 0 {
            notes.push(format!(
                "{} commands have a pipeline of more than {LONGEST} programs: it was cut",
                self.long_commands
            ));
        }
        if self.steps > MAX_STEPS {
            notes.push(format!(
                "the commands start more than {MAX_STEPS} programs: the rest was looked at as text"
            ));
        }
        if self.script_bytes > MAX_SCRIPT_BYTES {
            notes.push(format!(
                "files that the agent wrote were run too often: only {} MiB of them were followed",
                MAX_SCRIPT_BYTES >> 20
            ));
        }
        if self.stash.overflowed() {
            notes.push(format!(
                "more than {MAX_SAVED} saved paths: later ones were not followed"
            ));
        }
        if self.past.overflow {
            notes.push(format!(
                "more than {MAX_PAST} hits that other rules wait for: later ones were not remembered"
            ));
        }
        notes.sort();
        let mut findings = self.findings;
        findings.sort_by(|a, b| {
            (a.event, &a.rule)
                .cmp(&(b.event, &b.rule))
                .then_with(|| strength(b).cmp(&strength(a)))
        });
        findings.dedup_by(|a, b| a.event == b.event && a.rule == b.rule);
        EngineReport {
            unclear_commands: self.unclear_commands,
            unclear_results: self.unclear_results,
            findings,
            inactive: self.inactive,
            notes,
        }
    }
}

/// How much a finding says: one that counts before one that is waived, then by stage.
fn strength(finding: &Finding) -> impl Ord + use<> {
    (
        finding.waived.is_none(),
        finding.stage,
        finding.applies,
        !finding.blocked,
        finding.names_own,
        finding.confidence,
        finding.kind == Kind::Admission,
    )
}
