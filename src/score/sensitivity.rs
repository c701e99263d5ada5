//! Does the ranking depend on the auditor? The span of each agent's rank over every treatment, both
//! denominators, and audits with other thresholds.
//!
//! Thresholds: an audit is a set of verdicts, and verdicts come from measures by a policy of numbers.
//! [`verdicts_at`] asks a closure for the verdict of every run at each scale of the policy (0.8 and
//! 1.2 of all thresholds) and yields other audits of the same runs. The closure is the caller's, since
//! judging is the work of `verdict`; it gets the audited run, whose `measures` member holds the numbers
//! if the audit file carries them (key `measures`). A file without them cannot be judged again, and
//! the report says so instead of a span.

use std::collections::{BTreeMap, BTreeSet};

use super::read::audit::{AuditedRun, Audits};
use super::standing::Standing;
use super::tables::Table;

/// The factors by which all thresholds of the audit are multiplied.
pub const SCALES: [f64; 2] = [0.8, 1.2];

/// Judges an audited run again with all thresholds multiplied; `None` if its numbers are not there.
pub type Judge<'j> = dyn Fn(&AuditedRun, f64) -> Option<Standing> + 'j;

/// Standings of runs, by the names of the audit.
pub type Rejudged = BTreeMap<String, Standing>;

/// The span of an agent's ranks.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Span {
    /// The agent.
    pub agent: String,
    /// The best rank it has anywhere.
    pub best: Option<u64>,
    /// The worst.
    pub worst: Option<u64>,
    /// In how many rankings it has none, because none of its runs is left.
    pub unranked: u64,
}

impl Span {
    /// Whether the rank is the same everywhere.
    pub fn is_point(&self) -> bool {
        self.best == self.worst && self.unranked == 0
    }
}

/// What became of the thresholds.
#[derive(Debug, Clone, PartialEq)]
pub enum Thresholds {
    /// Not tried, and why.
    NotComputed(String),
    /// Spans with the verdicts at all of [`SCALES`] added, and how many runs change their standing at
    /// each scale.
    Computed {
        /// One for each agent.
        spans: Vec<Span>,
        /// (scale, runs whose standing changes).
        changed: Vec<(f64, u64)>,
        /// Whether a rank changes over one and the same denominator.
        moved: bool,
    },
}

/// Rankings to compare: tables by agent, without scope.
#[derive(Debug, Clone, Default)]
pub struct Rankings {
    left: Vec<Table>,
    common: Vec<Table>,
}

impl Rankings {
    /// Adds the ranking over the runs left and that over the common items.
    pub fn add(&mut self, left: Table, common: Table) {
        self.left.push(left);
        self.common.push(common);
    }

    /// The spans over all of them.
    pub fn spans(&self, agents: &BTreeSet<&str>) -> Vec<Span> {
        spans(agents, self.left.iter().chain(&self.common))
    }

    /// Whether a rank changes over one and the same denominator. A table in which agents lack tasks has
    /// other ranks over the common items from the start; that is not the auditor's doing.
    pub fn move_within_a_denominator(&self, agents: &BTreeSet<&str>) -> bool {
        [&self.left, &self.common]
            .into_iter()
            .any(|tables| spans(agents, tables.iter()).iter().any(|s| !s.is_point()))
    }
}

/// The spans of the agents over rankings (tables by agent, without scope).
fn spans<'t>(agents: &BTreeSet<&str>, rankings: impl Iterator<Item = &'t Table>) -> Vec<Span> {
    let mut spans: BTreeMap<&str, Span> = agents
        .iter()
        .map(|agent| {
            let span = Span {
                agent: (*agent).into(),
                best: None,
                worst: None,
                unranked: 0,
            };
            (*agent, span)
        })
        .collect();
    for table in rankings {
        let ranks: BTreeMap<&str, Option<u64>> = table
            .rows
            .iter()
            .map(|r| (r.agent.as_str(), r.rank))
            .collect();
        // No agent has a run left: this says nothing about the order.
        if ranks.values().all(Option::is_none) {
            continue;
        }
        for (agent, span) in &mut spans {
            match ranks.get(agent).copied().flatten() {
                Some(rank) => {
                    span.best = Some(span.best.map_or(rank, |b| b.min(rank)));
                    span.worst = Some(span.worst.map_or(rank, |w| w.max(rank)));
                }
                None => span.unranked += 1,
            }
        }
    }
    spans.into_values().collect()
}

/// The standing of every audited run at each scale.
///
/// # Errors
///
/// A sentence that says why the runs cannot be judged again.
pub fn verdicts_at(audits: &Audits, judge: Option<&Judge>) -> Result<Vec<(f64, Rejudged)>, String> {
    let Some(judge) = judge else {
        let measured = audits.values().any(|a| a.measures.is_some());
        return Err(if measured {
            "nothing here can judge the runs again".into()
        } else {
            "the audit holds verdicts without the numbers (member measures) that would let them be judged again".into()
        });
    };
    let mut out = Vec::new();
    for scale in SCALES {
        let mut standings = BTreeMap::new();
        for audited in audits.values().filter(|a| a.verdict.is_some()) {
            let Some(standing) = judge(audited, scale) else {
                return Err(format!(
                    "the audit does not carry the numbers behind the verdict of {} (member measures)",
                    audited.run
                ));
            };
            standings.insert(audited.run.clone(), standing);
        }
        out.push((scale, standings));
    }
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::panel::PanelRule;
    use crate::score::tables::{By, table};
    use crate::score::testing::scores_of;

    #[test]
    fn spans_cover_all_rankings() {
        let rule = PanelRule { pass: 1, fail: 1 };
        let rank = |rows: &[(&str, &str, &str, &str)]| {
            let scores = scores_of(rows);
            table(&scores.runs.values().collect::<Vec<_>>(), rule, By::Agent)
        };
        let first = rank(&[("a", "t", "amber", "P"), ("b", "t", "birch", "F")]);
        let second = rank(&[("a", "t", "amber", "F"), ("b", "t", "birch", "P")]);
        let third = rank(&[("b", "t", "birch", "P")]);
        let nobody = rank(&[]);
        let agents = BTreeSet::from(["amber", "birch"]);
        let got = spans(&agents, [&first, &second, &third, &nobody].into_iter());
        let got: Vec<_> = got
            .iter()
            .map(|s| (s.best, s.worst, s.unranked, s.is_point()))
            .collect();
        assert_eq!(
            got,
            [(Some(1), Some(2), 1, false), (Some(1), Some(2), 0, false)]
        );
        assert!(
            spans(&agents, [&first].into_iter())
                .iter()
                .all(Span::is_point)
        );
    }
}
