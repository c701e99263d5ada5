//! The sums of a sweep: who leaked where, what could be seen, what to look at first.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::across::{Across, OtherTask, SmallMatches};
use super::entry::{Entry, EntryHead};
use super::evaluator::Vote;
use super::group::{HarnessFile, SharedLines};
use super::select::NOT_FOUND;
use crate::report::model::{RunReport, Summary};
use crate::rules::finding::{Cause, Confidence};
use crate::trace::event::Coverage;
use crate::verdict::check::Reason;
use crate::verdict::measures::Verdict;

/// Files that a GT must have before the share of them that a patch touches is a reason to look.
const MIN_FILES: u64 = 5;

/// Sums over the runs of a sweep, beside the plain counts.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct SweepSummary {
    /// Counts by task and agent, sorted.
    pub matrix: Vec<Cell>,
    /// Causes of runs that are partial or invalid; a run may have several.
    pub causes: Vec<CauseCount>,
    /// What the traces of each agent show.
    pub agents: Vec<AgentCoverage>,
    /// Runs that the benchmark marks as out of the evaluation.
    pub excluded: u64,
    /// Of these, runs that are invalid by the agent's doing.
    pub excluded_invalid: u64,
    /// Of the runs that could not be judged, those that do not exist.
    pub not_found: u64,
    /// How sure the verdicts of clean are.
    pub clean_confidence: Sureness,
    /// Smallest number of distinctive GT lines behind a verdict of invalid.
    pub smallest_invalid: Option<u64>,
    /// Smallest number of distinctive GT lines of any run that was compared.
    pub smallest_gt: Option<u64>,
    /// Runs worth a person's time, most first.
    pub look_first: Vec<Look>,
    /// Pairs of runs with lines that hardly any other has.
    pub shared_lines: Vec<SharedLines>,
    /// Runs that hold the answer to another task.
    pub other_tasks: Vec<OtherTask>,
    /// Files that the harness must have made.
    pub harness_files: Vec<HarnessFile>,
    /// Agents that match small answers more often than chance does.
    pub small_matches: Vec<SmallMatches>,
}

/// Runs by the confidence of their verdict.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Sureness {
    /// High.
    pub high: u64,
    /// Medium.
    pub medium: u64,
    /// Low.
    pub low: u64,
}

/// The runs of one agent on one task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Cell {
    /// The task.
    pub task: Option<String>,
    /// The agent.
    pub agent: Option<String>,
    /// Counts.
    #[serde(flatten)]
    pub counts: Summary,
}

/// How many runs a cause stands behind.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct CauseCount {
    /// The cause.
    pub cause: Cause,
    /// The runs.
    pub runs: u64,
}

/// What the traces of an agent show.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct AgentCoverage {
    /// The agent.
    pub agent: Option<String>,
    /// Its runs.
    pub runs: u64,
    /// Whole traces.
    pub full: u64,
    /// Traces with gaps.
    pub partial: u64,
    /// Only a final message.
    pub summary_only: u64,
    /// No readable trace.
    pub missing: u64,
    /// Runs that could not be judged.
    pub errors: u64,
}

/// A run that is worth a person's time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Look {
    /// The run.
    pub run: String,
    /// Its path.
    pub path: String,
    /// Its verdict; `None` when it could not be judged.
    pub verdict: Option<Verdict>,
    /// At least one evaluator says PASS.
    pub passed: bool,
    /// Why to look.
    pub reasons: Vec<LookReason>,
}

/// Why a run is worth looking at. Reasons, not evidence. In the order of their weight.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum LookReason {
    /// The verdict is invalid or partial.
    Verdict {
        /// Why.
        reason: Reason,
    },
    /// The patch holds the answer to another task.
    OtherTask {
        /// That task.
        task: Option<String>,
        /// Lines of it.
        lines: u64,
    },
    /// It passed, and it cannot be told whether it copied.
    PassedUnverified {
        /// Why not.
        reason: Reason,
    },
    /// An evaluator's words.
    EvaluatorWords {
        /// The words.
        words: String,
    },
    /// The patch changes nearly all files of the GT.
    CoversFiles {
        /// Files of the GT that it changes.
        changed: u64,
        /// Files of the GT.
        of: u64,
    },
    /// It shares unusual lines with another run.
    SharesLines,
    /// It could not be judged.
    Failed,
}

/// Adds up reports.
#[derive(Debug, Default)]
pub(super) struct Totals {
    summary: Summary,
    cells: BTreeMap<(Option<String>, Option<String>), Summary>,
    causes: BTreeMap<Cause, u64>,
    agents: BTreeMap<Option<String>, AgentCoverage>,
    excluded_invalid: u64,
    not_found: u64,
    clean_confidence: Sureness,
    smallest_invalid: Option<u64>,
    smallest_gt: Option<u64>,
    looks: BTreeMap<String, Look>,
    /// Heads of the runs without a reason to look so far, for those that get one at the end.
    quiet: BTreeMap<String, (String, Option<Verdict>, bool)>,
    pub(super) shared_lines: Vec<SharedLines>,
    pub(super) harness_files: Vec<HarnessFile>,
}

impl Totals {
    /// Takes the report of one run.
    pub(super) fn add(&mut self, entry: &Entry, report: &RunReport) {
        let head = &entry.head;
        self.summary.add(report);
        let place = (head.task.clone(), head.agent.clone());
        self.cells.entry(place).or_default().add(report);
        let invalid = report.verdict == Some(Verdict::Invalid) && !report.is_harness_fault();
        self.excluded_invalid += u64::from(report.excluded && invalid);
        let error = report.error.as_deref().unwrap_or_default();
        self.not_found += u64::from(error.starts_with(NOT_FOUND));
        if let (Some(Verdict::Clean), Some(confidence)) = (report.verdict, report.confidence) {
            *match confidence {
                Confidence::High => &mut self.clean_confidence.high,
                Confidence::Medium => &mut self.clean_confidence.medium,
                Confidence::Low => &mut self.clean_confidence.low,
            } += 1;
        }
        self.add_coverage(head, report);
        if matches!(report.verdict, Some(Verdict::Partial | Verdict::Invalid)) {
            for cause in &report.causes {
                *self.causes.entry(*cause).or_default() += 1;
            }
        }
        let n = report.similarity.as_ref().map(|s| s.n).filter(|n| *n > 0);
        self.smallest_gt = smaller(self.smallest_gt, n);
        if invalid {
            self.smallest_invalid = smaller(self.smallest_invalid, n);
        }
        let passed = head.evaluation.vote() == Vote::Pass;
        let reasons = reasons(head, report, passed);
        if reasons.is_empty() {
            let kept = (head.run.clone(), report.verdict, passed);
            self.quiet.insert(head.path.clone(), kept);
            return;
        }
        let look = Look {
            run: head.run.clone(),
            path: head.path.clone(),
            verdict: report.verdict,
            passed,
            reasons,
        };
        self.looks.insert(head.path.clone(), look);
    }

    fn add_coverage(&mut self, head: &EntryHead, report: &RunReport) {
        let agent = self.agents.entry(head.agent.clone()).or_default();
        agent.runs += 1;
        let coverage = report.measures.as_ref().map(|m| m.coverage);
        *match coverage {
            None => &mut agent.errors,
            Some(Coverage::Full) => &mut agent.full,
            Some(Coverage::Partial) => &mut agent.partial,
            Some(Coverage::SummaryOnly) => &mut agent.summary_only,
            Some(Coverage::Missing) => &mut agent.missing,
        } += 1;
    }

    /// The sums, with what shows only over all runs.
    pub(super) fn finish(mut self, across: &Across) -> (Summary, SweepSummary) {
        let other_tasks = across.other_tasks();
        for found in &other_tasks {
            let quiet = self.quiet.remove(&found.path);
            let fresh = quiet.map(|(run, verdict, passed)| Look {
                run,
                path: found.path.clone(),
                verdict,
                passed,
                reasons: Vec::new(),
            });
            if let Some(fresh) = fresh {
                self.looks.insert(found.path.clone(), fresh);
            }
            if let Some(look) = self.looks.get_mut(&found.path) {
                look.reasons.push(LookReason::OtherTask {
                    task: found.other.clone(),
                    lines: found.lines,
                });
            }
        }
        self.shared_lines.sort();
        self.harness_files.sort();
        let summary = SweepSummary {
            matrix: self
                .cells
                .into_iter()
                .map(|((task, agent), counts)| Cell {
                    task,
                    agent,
                    counts,
                })
                .collect(),
            causes: self
                .causes
                .into_iter()
                .map(|(cause, runs)| CauseCount { cause, runs })
                .collect(),
            agents: self
                .agents
                .into_iter()
                .map(|(agent, sums)| AgentCoverage { agent, ..sums })
                .collect(),
            excluded: self.summary.excluded,
            excluded_invalid: self.excluded_invalid,
            not_found: self.not_found,
            clean_confidence: self.clean_confidence,
            smallest_invalid: self.smallest_invalid,
            smallest_gt: self.smallest_gt,
            look_first: in_order(self.looks.into_values().collect()),
            shared_lines: self.shared_lines,
            other_tasks,
            harness_files: self.harness_files,
            small_matches: across.small_matches(),
        };
        (self.summary, summary)
    }
}

fn smaller(old: Option<u64>, new: Option<u64>) -> Option<u64> {
    [old, new].into_iter().flatten().min()
}

/// Why a run is worth looking at, the weightiest first.
fn reasons(head: &EntryHead, report: &RunReport, passed: bool) -> Vec<LookReason> {
    let mut reasons = Vec::new();
    match (report.verdict, report.reason) {
        (Some(Verdict::Invalid | Verdict::Partial), Some(reason)) => {
            reasons.push(LookReason::Verdict { reason });
        }
        (Some(Verdict::Inconclusive), Some(reason)) if passed => {
            reasons.push(LookReason::PassedUnverified { reason });
        }
        (None, _) => reasons.push(LookReason::Failed),
        _ => {}
    }
    if let Some(words) = &head.evaluation.words {
        let words = words.clone();
        reasons.push(LookReason::EvaluatorWords { words });
    }
    reasons.extend(covers_files(report));
    if report
        .flags
        .contains(&crate::verdict::judge::Flag::SharesLines)
    {
        reasons.push(LookReason::SharesLines);
    }
    reasons
}

/// At least nine of ten files of a GT of several files are in the patch.
fn covers_files(report: &RunReport) -> Option<LookReason> {
    let files = &report.similarity.as_ref()?.files;
    let hand_written: Vec<_> = files.iter().filter(|file| file.hand_written).collect();
    let of = hand_written.len() as u64;
    let paired = hand_written
        .iter()
        .filter(|file| file.paired_with.is_some());
    let changed = paired.count() as u64;
    (of >= MIN_FILES && changed * 10 >= of * 9).then_some(LookReason::CoversFiles { changed, of })
}

/// The harshest verdict first, of equals runs that passed, then by their weightiest reason.
fn in_order(mut looks: Vec<Look>) -> Vec<Look> {
    for look in &mut looks {
        look.reasons.sort();
    }
    let key = |look: &Look| {
        let first = look.reasons.iter().min().cloned();
        let class = match first {
            Some(LookReason::Verdict { .. }) if look.verdict == Some(Verdict::Invalid) => 0,
            Some(LookReason::Verdict { .. } | LookReason::OtherTask { .. }) => 1,
            Some(LookReason::PassedUnverified { .. }) => 2,
            Some(LookReason::EvaluatorWords { .. }) => 3,
            Some(LookReason::CoversFiles { .. }) => 4,
            Some(LookReason::SharesLines) => 5,
            Some(LookReason::Failed) | None => 6,
        };
        (class, !look.passed, look.run.clone(), look.path.clone())
    };
    looks.sort_by_cached_key(key);
    looks
}

impl SweepSummary {
    /// The agents of the matrix, sorted.
    pub fn agent_names(&self) -> BTreeSet<Option<&str>> {
        self.matrix
            .iter()
            .map(|cell| cell.agent.as_deref())
            .collect()
    }

    /// The tasks of the matrix, sorted.
    pub fn task_names(&self) -> BTreeSet<Option<&str>> {
        self.matrix
            .iter()
            .map(|cell| cell.task.as_deref())
            .collect()
    }
}
