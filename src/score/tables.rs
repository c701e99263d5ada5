//! Counts and means of groups of runs.

use std::collections::BTreeMap;

use serde::Serialize;

use super::exact::{Exact, ratio};
use super::interval::wilson;
use super::model::{Outcome, Points, Run};
use super::panel::PanelRule;
use super::rank::ranks;

/// What the runs are grouped by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum By {
    /// All runs in one group.
    All,
    /// The agent.
    Agent,
    /// The family of the task.
    Family,
    /// The form of the prompt.
    Prompt,
    /// Family and agent.
    FamilyAgent,
    /// Form of the prompt and agent.
    PromptAgent,
}

impl By {
    /// All groupings, in the order of printing.
    pub const ALL: [Self; 6] = [
        Self::All,
        Self::Agent,
        Self::Family,
        Self::Prompt,
        Self::FamilyAgent,
        Self::PromptAgent,
    ];

    /// The name in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Agent => "agent",
            Self::Family => "family",
            Self::Prompt => "prompt",
            Self::FamilyAgent => "family_agent",
            Self::PromptAgent => "prompt_agent",
        }
    }

    /// The labels of a run's group; `None` when the table does not say.
    fn key(self, run: &Run) -> Option<[&str; 2]> {
        let known = |text| Some(text).filter(|t: &&str| !t.is_empty());
        Some(match self {
            Self::All => ["", ""],
            Self::Agent => ["", &run.agent],
            Self::Family => [known(run.family.as_str())?, ""],
            Self::Prompt => [known(run.prompt.as_str())?, ""],
            Self::FamilyAgent => [known(run.family.as_str())?, &run.agent],
            Self::PromptAgent => [known(run.prompt.as_str())?, &run.agent],
        })
    }
}

/// One group of runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// The family or form of the prompt; empty when grouped by neither.
    pub scope: String,
    /// The agent; empty when not grouped by it.
    pub agent: String,
    /// Runs that at least one judge rated: the denominator of the rate.
    pub runs: u64,
    /// Of them, PASS.
    pub pass: u64,
    /// Of them, PARTIAL.
    pub partial: u64,
    /// Of them, FAIL.
    pub fail: u64,
    /// Runs that no judge rated; in no denominator.
    pub unrated: u64,
    /// Runs with points.
    pub scored: u64,
    /// Mean over runs of the mean over judges of the sum of points.
    pub mean: Option<Exact>,
    /// Rank among the agents of the same scope by rate, ties shared.
    pub rank: Option<u64>,
    /// Rank by mean score.
    pub rank_by_mean: Option<u64>,
}

impl Row {
    /// Share of PASS.
    pub fn rate(&self) -> Option<Exact> {
        ratio(self.pass, self.runs)
    }

    /// Wilson's 95 % interval of the rate.
    pub fn interval(&self) -> Option<(f64, f64)> {
        wilson(self.pass, self.runs)
    }
}

/// All groups of one grouping, sorted by label.
#[derive(Debug, Clone, PartialEq)]
pub struct Table {
    /// What is grouped by.
    pub by: By,
    /// The groups.
    pub rows: Vec<Row>,
}

/// The row of a group; rows are sorted by scope and agent.
pub fn find_row<'r>(rows: &'r [Row], scope: &str, agent: &str) -> Option<&'r Row> {
    let at = rows.binary_search_by(|r| (r.scope.as_str(), r.agent.as_str()).cmp(&(scope, agent)));
    at.ok().and_then(|at| rows.get(at))
}

/// The tables of a set of runs, one for each of [`By::ALL`].
pub fn tables(runs: &[&Run], rule: PanelRule) -> Vec<Table> {
    By::ALL
        .into_iter()
        .map(|by| table(runs, rule, by))
        .collect()
}

/// One table.
pub fn table(runs: &[&Run], rule: PanelRule, by: By) -> Table {
    let mut groups: BTreeMap<[&str; 2], Group> = BTreeMap::new();
    for run in runs {
        if let Some(key) = by.key(run) {
            groups.entry(key).or_default().add(run, rule);
        }
    }
    let mut rows: Vec<Row> = groups
        .into_iter()
        .map(|([scope, agent], g)| g.row(scope, agent))
        .collect();
    if matches!(by, By::Agent | By::FamilyAgent | By::PromptAgent) {
        for scope in rows.chunk_by_mut(|a, b| a.scope == b.scope) {
            let rates: Vec<_> = scope.iter().map(Row::rate).collect();
            let means: Vec<_> = scope.iter().map(|r| r.mean.clone()).collect();
            for ((row, rank), by_mean) in scope.iter_mut().zip(ranks(&rates)).zip(ranks(&means)) {
                row.rank = rank;
                row.rank_by_mean = by_mean;
            }
        }
    }
    Table { by, rows }
}

/// Mean of each component of the points over all ratings that have points.
pub fn component_means(runs: &[&Run], components: usize) -> Vec<Option<Exact>> {
    let mut sums = vec![0i128; components];
    let mut count = 0;
    for rating in runs.iter().flat_map(|r| r.ratings.values()) {
        if rating.points.len() == components && components > 0 {
            count += 1;
            for (sum, points) in sums.iter_mut().zip(&rating.points) {
                *sum = sum.saturating_add(points.units());
            }
        }
    }
    sums.into_iter()
        .map(|sum| (count > 0).then(|| units(sum, count)))
        .collect()
}

/// `sum / (count * 10^18)`.
fn units(sum: i128, count: u64) -> Exact {
    Exact::new(sum.into(), num_bigint::BigInt::from(count) * Points::UNIT)
}

/// The sum over the judges of a run's points, and how many judges gave points.
fn total(run: &Run) -> Option<(i128, u64)> {
    let totals: Vec<i128> = run
        .ratings
        .values()
        .filter_map(super::model::Rating::total)
        .collect();
    (!totals.is_empty()).then(|| {
        (
            totals.iter().fold(0i128, |a, b| a.saturating_add(*b)),
            totals.len() as u64,
        )
    })
}

#[derive(Default)]
struct Group {
    votes: [u64; 3],
    unrated: u64,
    /// Sum of the runs' totals by number of judges that gave points, and how many such runs.
    totals: BTreeMap<u64, (i128, u64)>,
}

impl Group {
    fn add(&mut self, run: &Run, rule: PanelRule) {
        match rule.judge(run) {
            Some(outcome) => {
                for (word, count) in Outcome::ALL.into_iter().zip(self.votes.iter_mut()) {
                    *count += u64::from(word == outcome);
                }
            }
            None => self.unrated += 1,
        }
        if let Some((sum, judges)) = total(run) {
            let slot = self.totals.entry(judges).or_default();
            slot.0 = slot.0.saturating_add(sum);
            slot.1 += 1;
        }
    }

    fn row(self, scope: &str, agent: &str) -> Row {
        let [fail, partial, pass] = self.votes;
        let scored: u64 = self.totals.values().map(|(_, runs)| runs).sum();
        let sum = self.totals.iter().fold(
            Exact::from_integer(0.into()),
            |sum, (judges, (total, _))| sum + units(*total, *judges),
        );
        Row {
            scope: scope.into(),
            agent: agent.into(),
            runs: fail + partial + pass,
            pass,
            partial,
            fail,
            unrated: self.unrated,
            scored,
            mean: (scored > 0).then(|| sum / Exact::from_integer(scored.into())),
            rank: None,
            rank_by_mean: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::exact::fixed;
    use crate::score::testing::scores_of;

    #[test]
    fn counts_means_and_ranks() {
        let scores = scores_of(&[
            ("a1", "t1", "amber", "PPP"),
            ("a2", "t2", "amber", "F-."),
            ("b1", "t1", "birch", "PPF"),
            ("b2", "t2", "birch", "..."),
            ("c1", "t1", "cedar", "PP"),
        ]);
        let runs: Vec<&Run> = scores.runs.values().collect();
        let got: Vec<_> = table(&runs, PanelRule { pass: 2, fail: 1 }, By::Agent)
            .rows
            .into_iter()
            .map(|r| {
                let mean = r.mean.as_ref().map(|m| fixed(m, 2)).unwrap_or_default();
                (
                    r.agent.clone(),
                    [r.runs, r.pass, r.partial, r.fail, r.unrated],
                    mean,
                    r.rank,
                    r.rank_by_mean,
                )
            })
            .collect();
        assert_eq!(
            got,
            [
                // Means of runs, not of ratings: (12 + 3) / 2, not (36 + 6) / 5.
                (
                    "amber".into(),
                    [2, 1, 0, 1, 0],
                    "7.50".into(),
                    Some(3),
                    Some(3)
                ),
                (
                    "birch".into(),
                    [1, 1, 0, 0, 1],
                    "8.00".into(),
                    Some(1),
                    Some(2)
                ),
                (
                    "cedar".into(),
                    [1, 1, 0, 0, 0],
                    "12.00".into(),
                    Some(1),
                    Some(1)
                ),
            ]
        );
        // No family known: no rows.
        assert!(
            table(&runs, PanelRule { pass: 2, fail: 1 }, By::Family)
                .rows
                .is_empty()
        );
    }
}
