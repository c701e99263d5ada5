//! How much a treatment changes an agent's rate, and how sure that is. Both rates come from the same
//! draws of tasks: most runs are the same before and after, and separate intervals would hide that.

use std::collections::{BTreeMap, BTreeSet};

use super::analysis::Options;
use super::bootstrap::{self, Interval};
use super::exact::Exact;
use super::model::{Outcome, Run, Scores};
use super::tables::{self, By, Row, Table, find_row};
use super::treatments::{Level, Selection};

/// The change of an agent's rate of PASS against all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The agent.
    pub agent: String,
    /// Rate under the treatment minus rate over all runs.
    pub change: Option<Exact>,
    /// 95 % interval; `None` without bootstrap or with fewer than two tasks.
    pub interval: Option<Interval>,
}

/// Runs and PASS of the touched agents in one task.
#[derive(Debug, Clone, Default)]
struct Cluster(Vec<Counts>);

/// Before and after.
#[derive(Debug, Clone, Copy, Default)]
struct Counts {
    before: [f64; 2],
    after: [f64; 2],
}

impl Counts {
    /// Rate after minus rate before.
    fn change(&self) -> Option<f64> {
        let ([pass_before, before], [pass_after, after]) = (self.before, self.after);
        (before > 0.0 && after > 0.0).then(|| pass_after / after - pass_before / before)
    }
}

impl bootstrap::Additive for Cluster {
    fn add(&mut self, other: &Self) {
        self.0
            .resize(self.0.len().max(other.0.len()), Counts::default());
        for (sum, part) in self.0.iter_mut().zip(&other.0) {
            for (a, b) in sum.before.iter_mut().zip(part.before) {
                *a += b;
            }
            for (a, b) in sum.after.iter_mut().zip(part.after) {
                *a += b;
            }
        }
    }
}

/// The change of every agent; empty for all runs.
pub(super) fn differences(
    scores: &Scores,
    selection: &Selection,
    options: &Options,
) -> Vec<Difference> {
    if selection.level == Level::All {
        return Vec::new();
    }
    let touched: BTreeSet<&str> = selection
        .left_out
        .iter()
        .map(|l| l.run.agent.as_str())
        .collect();
    let clusters = clusters(scores, selection, options, &touched);
    let intervals = bootstrap::intervals(&clusters, options.bootstrap, |sum| {
        let mut changes: Vec<Option<f64>> = sum.0.iter().map(Counts::change).collect();
        changes.resize(touched.len(), None);
        changes
    });
    // The change of an agent none of whose runs is touched is 0 in every draw.
    let untouched = bootstrap::possible(&clusters, options.bootstrap).then_some(Interval {
        low: 0.0,
        high: 0.0,
        undefined: 0,
    });
    let mut intervals: BTreeMap<&str, Option<Interval>> =
        touched.into_iter().zip(intervals).collect();
    let everything: Vec<&Run> = scores.runs.values().collect();
    let before = tables::table(&everything, options.rule, By::Agent);
    let after = tables::table(&selection.runs, options.rule, By::Agent);
    let rate = |table: &Table, agent: &str| find_row(&table.rows, "", agent).and_then(Row::rate);
    scores
        .agents()
        .into_iter()
        .map(|agent| Difference {
            agent: agent.into(),
            change: rate(&after, agent)
                .zip(rate(&before, agent))
                .map(|(a, b)| a - b),
            interval: intervals.remove(agent).unwrap_or(untouched),
        })
        .collect()
}

fn clusters(
    scores: &Scores,
    selection: &Selection,
    options: &Options,
    touched: &BTreeSet<&str>,
) -> Vec<Cluster> {
    let place: BTreeMap<&str, usize> = touched
        .iter()
        .enumerate()
        .map(|(n, agent)| (*agent, n))
        .collect();
    let mut clusters: BTreeMap<&str, Cluster> = BTreeMap::new();
    let all = scores.runs.values().map(|r| (r, false));
    for (run, after) in all.chain(selection.runs.iter().map(|r| (*r, true))) {
        let Some(outcome) = options.rule.judge(run) else {
            continue;
        };
        let cluster = clusters.entry(&run.task).or_default();
        cluster.0.resize(touched.len(), Counts::default());
        if let Some(counts) = place
            .get(run.agent.as_str())
            .and_then(|n| cluster.0.get_mut(*n))
        {
            let [pass, runs] = if after {
                &mut counts.after
            } else {
                &mut counts.before
            };
            *pass += f64::from(u8::from(outcome == Outcome::Pass));
            *runs += 1.0;
        }
    }
    clusters.into_values().collect()
}
