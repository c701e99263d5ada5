//! Which runs count. A treatment says what is left out and what stands in for it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::model::{Run, Scores};
use super::profile::Profile;
use super::read::audit::{AuditedRun, Audits};
use crate::verdict::measures::Verdict;
use crate::{Error, Result};

/// What is known about a run's honesty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// Audited: clean.
    Clean,
    /// The audit does not mention it.
    NotAudited,
    /// The audit could not judge it (an error); as little known as with inconclusive.
    Failed,
    /// Audited: it cannot be told.
    Inconclusive,
    /// Audited: partial.
    Partial,
    /// Audited: invalid.
    Invalid,
    /// Taken out by its owner: by name on the command line, by the ending of its name, or so marked in
    /// the audit.
    Excluded,
    /// The environment's fault, never the agent's.
    Harness,
}

impl Standing {
    /// The word in JSON and tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "clean",
            Self::NotAudited => "not_audited",
            Self::Failed => "failed",
            Self::Inconclusive => "inconclusive",
            Self::Partial => "partial",
            Self::Invalid => "invalid",
            Self::Excluded => "excluded",
            Self::Harness => "harness",
        }
    }
}

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

/// The standing of every run, from the audit and the names.
#[derive(Debug, Clone, Default)]
pub struct Standings<'a> {
    by_run: BTreeMap<&'a str, Standing>,
    /// What the audit says, by name of the scored run.
    pub audited: BTreeMap<&'a str, &'a AuditedRun>,
    /// Runs of the audit that no score table has.
    pub unscored: Vec<&'a AuditedRun>,
    /// Whether there is an audit at all.
    pub any_audit: bool,
}

impl<'a> Standings<'a> {
    /// Puts audit, names on the command line and runs together. Names match without path and final
    /// slash, and with or without the ending that marks a run as taken out.
    ///
    /// # Errors
    ///
    /// A name to exclude is no run of the tables.
    pub fn new(
        tables: &[&'a Scores],
        audits: Option<&'a Audits>,
        exclude: &[String],
        profile: &Profile,
    ) -> Result<Self> {
        let mut out = Self {
            any_audit: audits.is_some(),
            ..Self::default()
        };
        let mut by_name: BTreeMap<&str, &AuditedRun> = BTreeMap::new();
        for audited in audits.into_iter().flat_map(BTreeMap::values) {
            by_name
                .entry(profile.unmarked(&audited.run).0)
                .or_insert(audited);
        }
        for run in tables.iter().flat_map(|s| s.runs.values()) {
            let bare = profile.unmarked(&run.name).0;
            let audited = audits
                .and_then(|a| a.get(&run.name))
                .or_else(|| by_name.get(bare).copied());
            let standing = match audited.map(standing) {
                Some(Standing::Harness) => Standing::Harness,
                _ if run.marked => Standing::Excluded,
                Some(standing) => standing,
                None => Standing::NotAudited,
            };
            out.by_run.insert(&run.name, standing);
            out.audited.extend(audited.map(|a| (run.name.as_str(), a)));
        }
        let seen: BTreeSet<&str> = out.audited.values().map(|a| a.run.as_str()).collect();
        out.unscored = audits
            .into_iter()
            .flat_map(BTreeMap::values)
            .filter(|a| !seen.contains(a.run.as_str()))
            .collect();
        for name in exclude {
            let wanted = super::read::run_name(name);
            let found: Vec<&str> = out
                .by_run
                .keys()
                .copied()
                .filter(|run| {
                    *run == wanted || profile.unmarked(run).0 == profile.unmarked(wanted).0
                })
                .collect();
            let exact = found.iter().find(|run| **run == wanted).or(found.first());
            let Some(run) = exact else {
                return Err(unknown_run(wanted, out.by_run.keys().copied()));
            };
            out.by_run.insert(run, Standing::Excluded);
        }
        Ok(out)
    }

    /// The standing of a run.
    pub fn of(&self, run: &Run) -> Standing {
        self.by_run
            .get(run.name.as_str())
            .copied()
            .unwrap_or(Standing::NotAudited)
    }

    /// The same runs with other verdicts (see [`super::sensitivity`]). Runs that their owner took out
    /// stay out.
    pub fn rejudged(&self, verdicts: &BTreeMap<String, Standing>) -> Self {
        let mut out = self.clone();
        for (run, standing) in &mut out.by_run {
            if let Some(new) = verdicts.get(*run)
                && *standing != Standing::Excluded
            {
                *standing = *new;
            }
        }
        out
    }

    /// How many of these runs have each standing.
    pub fn counts(&self, runs: &BTreeMap<String, Run>) -> BTreeMap<Standing, u64> {
        let mut counts = BTreeMap::new();
        for run in runs.values() {
            *counts.entry(self.of(run)).or_default() += 1;
        }
        counts
    }

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

fn standing(audited: &AuditedRun) -> Standing {
    if audited.is_harness() && audited.verdict == Some(Verdict::Invalid) {
        return Standing::Harness;
    }
    match audited.verdict {
        _ if audited.excluded => Standing::Excluded,
        None => Standing::Failed,
        Some(Verdict::Clean) => Standing::Clean,
        Some(Verdict::Inconclusive) => Standing::Inconclusive,
        Some(Verdict::Partial) => Standing::Partial,
        Some(Verdict::Invalid) => Standing::Invalid,
    }
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

fn unknown_run<'r>(wanted: &str, names: impl Iterator<Item = &'r str>) -> Error {
    // The names that begin alike help against a wrong date.
    let shared = |name: &str| {
        name.chars()
            .zip(wanted.chars())
            .take_while(|(a, b)| a == b)
            .count()
    };
    let best = names
        .map(|n| (shared(n), n))
        .filter(|(s, _)| *s >= 4)
        .max_by_key(|(s, n)| (*s, std::cmp::Reverse(*n)));
    let hint = best.map_or(String::new(), |(_, n)| format!("; the nearest name is {n}"));
    Error::Usage {
        what: format!("--exclude {wanted}: the score tables have no run of that name"),
        fix: format!("a run is named as in the tables{hint}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::testing::scores_of;

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
    fn names_to_exclude_must_exist() {
        let profile = Profile::built_in().unwrap();
        let scores = scores_of(&[
            ("T1-amber-long", "T1", "amber", "P"),
            ("T2-amber-long", "T2", "amber", "P"),
        ]);
        let exclude = |name: &str| Standings::new(&[&scores], None, &[name.to_string()], &profile);
        let out = exclude("some/dir/T1-amber-long/").unwrap();
        assert_eq!(
            names(&out.select(&scores, None, Level::Invalid, Policy::Drop)),
            "T2-amber-long"
        );
        assert!(exclude("T1-amber-long-INVALID").is_ok());
        let message = exclude("T1-amber-short").unwrap_err().to_string();
        assert!(
            message.contains("nearest name is T1-amber-long"),
            "{message}"
        );
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
