//! Which runs count. A treatment says what is left out and what stands in for it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::model::{Run, Scores};
use super::standing::{Standing, Standings};

/// What is left out, from nothing to everything that is not shown to be clean. Runs that no audit
/// mentions always stay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// Nothing.
    All,
    /// Runs spoilt by the environment.
    Harness,
    /// And invalid runs, and those their owner took out.
    Invalid,
    /// And partial ones.
    Partial,
    /// And those that cannot be told.
    Inconclusive,
}

impl Level {
    /// All levels, mildest first.
    pub const ALL: [Self; 5] = [
        Self::All,
        Self::Harness,
        Self::Invalid,
        Self::Partial,
        Self::Inconclusive,
    ];

    /// The word in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Harness => "harness",
            Self::Invalid => "invalid",
            Self::Partial => "partial",
            Self::Inconclusive => "inconclusive",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::All => "all runs",
            Self::Harness => "minus harness faults",
            Self::Invalid => "minus invalid",
            Self::Partial => "minus invalid and partial",
            Self::Inconclusive => "minus invalid, partial and inconclusive",
        }
    }

    /// Whether a run of this standing is left out.
    pub fn removes(self, standing: Standing) -> bool {
        let from = match standing {
            Standing::Clean | Standing::NotAudited => return false,
            Standing::Harness => Self::Harness,
            Standing::Excluded | Standing::Invalid => Self::Invalid,
            Standing::Partial => Self::Partial,
            Standing::Inconclusive | Standing::Failed => Self::Inconclusive,
        };
        self >= from
    }
}

/// What happens to the place of a run that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Policy {
    /// It leaves numerator and denominator.
    Drop,
    /// A rerun of the same task, agent and prompt takes it, where there is one; else it is dropped.
    Substitute,
}

impl Policy {
    /// The word in JSON and CSV.
    pub fn name(self) -> &'static str {
        match self {
            Self::Drop => "drop",
            Self::Substitute => "substitute",
        }
    }

    /// In words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Drop => "a run left out leaves numerator and denominator",
            Self::Substitute => {
                "a rerun of the same task, agent and prompt takes the place of a run left out; without one it is dropped"
            }
        }
    }
}

/// A run that is left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LeftOut<'a> {
    /// The run.
    pub run: &'a Run,
    /// Why.
    pub standing: Standing,
    /// The rerun in its place.
    pub replaced_by: Option<&'a Run>,
}

/// The runs under one treatment.
#[derive(Debug, Clone)]
pub struct Selection<'a> {
    /// What is left out.
    pub level: Level,
    /// What becomes of its place.
    pub policy: Policy,
    /// The runs that count, in the order of names.
    pub runs: Vec<&'a Run>,
    /// Those that do not.
    pub left_out: Vec<LeftOut<'a>>,
}

impl<'a> Standings<'a> {
    /// The runs under a treatment.
    pub fn select(
        &self,
        scores: &'a Scores,
        reruns: Option<&'a Scores>,
        level: Level,
        policy: Policy,
    ) -> Selection<'a> {
        let mut pool = match policy {
            Policy::Drop => BTreeMap::new(),
            Policy::Substitute => self.pool(scores, reruns, level),
        };
        let mut out = Selection {
            level,
            policy,
            runs: Vec::new(),
            left_out: Vec::new(),
        };
        for run in scores.runs.values() {
            let standing = self.of(run);
            if !level.removes(standing) {
                out.runs.push(run);
                continue;
            }
            let replaced_by = pool.get_mut(&cell(run)).and_then(Vec::pop);
            out.runs.extend(replaced_by);
            out.left_out.push(LeftOut {
                run,
                standing,
                replaced_by,
            });
        }
        out.runs.sort_by(|a, b| a.name.cmp(&b.name));
        out
    }

    /// Reruns that may stand in, by cell, the latest last. A run of the tables themselves stands for
    /// itself, and a rerun that the treatment would leave out stands for nobody.
    fn pool(
        &self,
        scores: &Scores,
        reruns: Option<&'a Scores>,
        level: Level,
    ) -> BTreeMap<Cell<'a>, Vec<&'a Run>> {
        let mut pool: BTreeMap<Cell<'a>, Vec<&'a Run>> = BTreeMap::new();
        for run in reruns.into_iter().flat_map(|r| r.runs.values()) {
            if !scores.runs.contains_key(&run.name) && !level.removes(self.of(run)) {
                pool.entry(cell(run)).or_default().push(run);
            }
        }
        for runs in pool.values_mut() {
            // 2026-04-24 and 20260424 are the same day.
            runs.sort_by_key(|r| (r.date.replace('-', ""), &r.name));
        }
        pool
    }
}

type Cell<'a> = (&'a str, &'a str, &'a str);

fn cell(run: &Run) -> Cell<'_> {
    (&run.task, &run.agent, &run.prompt)
}

/// The runs of the items (task and form of the prompt) on which every agent of `all` has a run left.
pub fn common<'a>(runs: &[&'a Run], all: &BTreeSet<&str>) -> Vec<&'a Run> {
    let mut agents: BTreeMap<(&str, &str), BTreeSet<&str>> = BTreeMap::new();
    for run in runs {
        agents.entry(run.item()).or_default().insert(&run.agent);
    }
    runs.iter()
        .copied()
        .filter(|r| agents.get(&r.item()).is_some_and(|a| a.len() == all.len()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::profile::Profile;
    use crate::score::read::audit::{AuditedRun, Audits};
    use crate::score::testing::scores_of;
    use crate::verdict::measures::Verdict;

    fn audits(rows: &[(&str, &str)]) -> Audits {
        rows.iter()
            .map(|(run, what)| {
                let verdict = match *what {
                    "clean" => Some(Verdict::Clean),
                    "inconclusive" => Some(Verdict::Inconclusive),
                    "partial" => Some(Verdict::Partial),
                    "failed" => None,
                    _ => Some(Verdict::Invalid),
                };
                let audited = AuditedRun {
                    run: (*run).into(),
                    verdict,
                    reason: String::new(),
                    causes: if *what == "harness" {
                        vec!["harness".into()]
                    } else {
                        vec![]
                    },
                    confidence: String::new(),
                    excluded: false,
                    error: None,
                    digest: String::new(),
                    tool: None,
                    measures: None,
                    path: "a".into(),
                    line: 1,
                };
                ((*run).to_string(), audited)
            })
            .collect()
    }

    fn names(selection: &Selection) -> String {
        selection
            .runs
            .iter()
            .map(|r| r.name.as_str())
            .collect::<Vec<_>>()
            .join(" ")
    }

    #[test]
    fn levels_and_policies() {
        let profile = Profile::built_in().unwrap();
        let mut scores = scores_of(&[
            ("c", "t1", "a", "P"),
            ("f", "t2", "a", "P"),
            ("h", "t3", "a", "P"),
            ("i", "t4", "a", "P"),
            ("n", "t5", "a", "P"),
            ("p", "t6", "a", "P"),
            ("u", "t7", "a", "P"),
            ("x-INVALID", "t8", "a", "P"),
        ]);
        scores.runs.get_mut("x-INVALID").unwrap().marked = true;
        let mut reruns = scores_of(&[
            ("i-new", "t4", "a", "F"),
            ("i-old", "t4", "a", "F"),
            ("p-bad", "t6", "a", "F"),
            ("i", "t4", "a", "P"),
        ]);
        for (run, date) in [("i-new", "2026-04-24"), ("i-old", "20260101")] {
            reruns.runs.get_mut(run).unwrap().date = date.into();
        }
        let audits = audits(&[
            ("c", "clean"),
            ("f", "failed"),
            ("h", "harness"),
            ("i", "invalid"),
            ("p", "partial"),
            ("u", "inconclusive"),
            ("p-bad", "partial"),
            ("ghost", "invalid"),
            ("x", "clean"),
        ]);
        let standings = Standings::new(&[&scores, &reruns], Some(&audits), &[], &profile).unwrap();
        assert_eq!(
            standings
                .unscored
                .iter()
                .map(|a| a.run.as_str())
                .collect::<Vec<_>>(),
            ["ghost"]
        );
        let select =
            |level, policy| names(&standings.select(&scores, Some(&reruns), level, policy));
        assert_eq!(select(Level::All, Policy::Drop), "c f h i n p u x-INVALID");
        assert_eq!(
            select(Level::Harness, Policy::Drop),
            "c f i n p u x-INVALID"
        );
        assert_eq!(select(Level::Invalid, Policy::Drop), "c f n p u");
        assert_eq!(select(Level::Partial, Policy::Drop), "c f n u");
        assert_eq!(select(Level::Inconclusive, Policy::Drop), "c n");
        assert_eq!(
            select(Level::Invalid, Policy::Substitute),
            "c f i-new n p u"
        );
        // The rerun of p is partial itself.
        assert_eq!(select(Level::Partial, Policy::Substitute), "c f i-new n u");
    }

    #[test]
    fn common_items_are_those_every_agent_kept() {
        let scores = scores_of(&[
            ("a1", "t1", "a", "P"),
            ("a2", "t2", "a", "P"),
            ("b1", "t1", "b", "P"),
            ("b3", "t3", "b", "P"),
        ]);
        let runs: Vec<&Run> = scores.runs.values().collect();
        let got: Vec<&str> = common(&runs, &scores.agents())
            .iter()
            .map(|r| r.name.as_str())
            .collect();
        assert_eq!(got, ["a1", "b1"]);
    }
}
