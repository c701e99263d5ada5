//! From entries to reports: the runs of a task together, the tasks one after the other.
//!
//! Entries come in order, so only the runs of one task are held at a time. Runs whose task is unknown
//! are judged alone: nobody knows what they could be compared with.

use std::io;

use super::across::Across;
use super::entry::{Entry, Outcome};
use super::group::{harness_files, shared_lines};
use super::summary::{SweepSummary, Totals};
use crate::audit::Judge;
use crate::report::model::{RunReport, Summary};
use crate::verdict::judge::Flag;
use crate::verdict::peers::{Discount, PeerFacts, discounts};

/// Judges the entries of a sweep.
pub struct Judging<'a> {
    judge: Judge<'a>,
    group: Vec<Entry>,
    across: Across,
    totals: Totals,
}

impl<'a> Judging<'a> {
    /// A judge of sweeps.
    pub fn new(judge: Judge<'a>) -> Self {
        Self {
            judge,
            group: Vec::new(),
            across: Across::default(),
            totals: Totals::default(),
        }
    }

    /// Takes the next entry. `out` gets the reports of a task when all its runs are there.
    ///
    /// # Errors
    /// What `out` says.
    pub fn push(
        &mut self,
        entry: Entry,
        out: &mut dyn FnMut(&RunReport) -> io::Result<()>,
    ) -> io::Result<()> {
        let same_task =
            |first: &Entry| first.head.task.is_some() && first.head.task == entry.head.task;
        if self.group.first().is_some_and(|first| !same_task(first)) {
            self.flush(out)?;
        }
        self.group.push(entry);
        Ok(())
    }

    /// Judges the last task and sums up.
    ///
    /// # Errors
    /// What `out` says.
    pub fn finish(
        mut self,
        out: &mut dyn FnMut(&RunReport) -> io::Result<()>,
    ) -> io::Result<(Summary, SweepSummary)> {
        self.flush(out)?;
        Ok(self.totals.finish(&self.across))
    }

    fn flush(&mut self, out: &mut dyn FnMut(&RunReport) -> io::Result<()>) -> io::Result<()> {
        let group = std::mem::take(&mut self.group);
        let mut remarks = vec![Remarks::default(); group.len()];
        for (a, b, shared) in shared_lines(&group) {
            for (at, other) in [(a, b), (b, a)] {
                if let (Some(remarks), Some(other)) = (remarks.get_mut(at), group.get(other)) {
                    remarks.flags.push(Flag::SharesLines);
                    remarks.notes.push(format!(
                        "shares {} unusual lines with {}; who had them first cannot be told",
                        shared.lines, other.head.run
                    ));
                }
            }
            self.totals.shared_lines.push(shared);
        }
        for file in harness_files(&group) {
            for remarks in &mut remarks {
                remarks.flags.push(Flag::HarnessFile);
                remarks.notes.push(format!(
                    "{}: all {} runs of the task have it alike and no trace shows a writer, so it came from the harness",
                    file.path, file.runs
                ));
            }
            self.totals.harness_files.push(file);
        }
        let peers = peer_discounts(&group);
        for ((entry, mut remarks), peers) in group.iter().zip(remarks).zip(peers) {
            let report = self.report(entry, &mut remarks, peers);
            self.across.add(entry, self.judge.policy);
            self.totals.add(entry, &report);
            out(&report)?;
        }
        Ok(())
    }

    fn report(&self, entry: &Entry, remarks: &mut Remarks, peers: Option<Discount>) -> RunReport {
        let facts = match &entry.outcome {
            Outcome::Error(error) => return entry.head.failed(error),
            Outcome::Facts(facts) => facts,
        };
        let mut measures = facts.measures.clone();
        if let Some(peers) = peers {
            measures.take_peers(&peers);
            remarks.notes.push(format!(
                "{} distinctive lines of the ground truth were written by runs of at least three other agent families \
                 and weigh less: n {} instead of {}",
                peers.common, measures.n, facts.measures.n
            ));
        }
        let mut report = self.judge.judge(facts, &measures);
        report.flags.append(&mut remarks.flags);
        report.flags.sort_unstable();
        report.flags.dedup();
        report.notes.append(&mut remarks.notes);
        report
    }
}

/// What the other runs of a task say of one.
#[derive(Debug, Clone, Default)]
struct Remarks {
    flags: Vec<Flag>,
    notes: Vec<String>,
}

/// What the peers take off each run of a group.
fn peer_discounts(group: &[Entry]) -> Vec<Option<Discount>> {
    let facts = group.iter().map(|e| e.facts().and_then(|f| f.peer_facts()));
    // A run without a GT is nobody's peer: an empty one keeps the places.
    let facts: Vec<PeerFacts> = facts.map(Option::unwrap_or_default).collect();
    discounts(&facts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Lang;
    use crate::sweep::testing::entry;
    use crate::verdict::measures::Verdict;
    use crate::verdict::policy::Policy;

    fn reports(entries: Vec<Entry>) -> (Vec<RunReport>, Summary, SweepSummary) {
        let policy = Policy::default();
        let mut judging = Judging::new(Judge {
            policy: &policy,
            lang: Lang::En,
        });
        let mut reports = Vec::new();
        let mut out = |report: &RunReport| {
            reports.push(report.clone());
            Ok(())
        };
        for entry in entries {
            judging.push(entry, &mut out).unwrap();
        }
        let (summary, sweep) = judging.finish(&mut out).unwrap();
        (reports, summary, sweep)
    }

    #[test]
    fn what_independent_peers_wrote_weighs_less() {
        let alone = || entry("T1-claude", "claude-opus", 24, 0..24, []);
        let (judged, ..) = reports(vec![alone()]);
        assert_eq!(judged[0].verdict, Some(Verdict::Partial));
        let peers = ["codex-1", "cursor-1", "opencode-1"];
        let mut runs = vec![alone()];
        runs.extend(peers.map(|agent| entry(agent, agent, 24, 0..24, 0..24)));
        let (judged, summary, _) = reports(runs);
        assert_eq!(
            judged[0].verdict,
            Some(Verdict::Inconclusive),
            "{:?}",
            judged[0].measures
        );
        assert!(judged[0].notes.iter().any(|n| n.contains("weigh less")));
        assert_eq!(summary.runs, 4);
    }

    #[test]
    fn a_task_is_judged_when_all_its_runs_are_there() {
        let policy = Policy::default();
        let mut judging = Judging::new(Judge {
            policy: &policy,
            lang: Lang::En,
        });
        let mut seen = 0;
        let mut out = |_: &RunReport| {
            seen += 1;
            Ok(())
        };
        let of = |task: Option<&str>| {
            let mut entry = entry("r", "a-1", 9, [], []);
            entry.head.task = task.map(str::to_owned);
            entry
        };
        for task in [Some("T1"), Some("T1"), Some("T2"), None, None] {
            judging.push(of(task), &mut out).unwrap();
        }
        judging.finish(&mut |_| Ok(())).unwrap();
        assert_eq!(seen, 4);
    }
}
