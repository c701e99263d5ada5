//! What is known about the honesty of each scored run: the audit's verdicts, the names given to be left
//! out, and the marks in the names, put together.

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
    /// The standing that a verdict gives; `harness` if that is among its causes.
    pub fn of_verdict(verdict: Option<Verdict>, harness: bool) -> Self {
        match verdict {
            None => Self::Failed,
            Some(Verdict::Clean) => Self::Clean,
            Some(Verdict::Inconclusive) => Self::Inconclusive,
            Some(Verdict::Partial) => Self::Partial,
            Some(Verdict::Invalid) if harness => Self::Harness,
            Some(Verdict::Invalid) => Self::Invalid,
        }
    }

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

/// How a run was taken out by its owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TakenOut {
    /// Its name ends as the profile's mark.
    Marked,
    /// The audit says so.
    InAudit,
    /// It is named on the command line.
    Named,
}

/// The standing of every run, from the audit and the names.
#[derive(Debug, Clone, Default)]
pub struct Standings<'a> {
    by_run: BTreeMap<&'a str, Standing>,
    /// Runs that their owner took out, and how; they stay out whatever an audit says.
    taken_out: BTreeMap<&'a str, TakenOut>,
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
        let runs = || tables.iter().flat_map(|s| s.runs.values());
        let scored: BTreeSet<&str> = runs().map(|r| r.name.as_str()).collect();
        // A name with the mark and one without mean the same run, unless the tables have both.
        let mut by_bare: BTreeMap<&str, &AuditedRun> = BTreeMap::new();
        for audited in audits.into_iter().flat_map(BTreeMap::values) {
            if !scored.contains(audited.run.as_str()) {
                by_bare
                    .entry(profile.unmarked(&audited.run).0)
                    .or_insert(audited);
            }
        }
        for run in runs() {
            let bare = profile.unmarked(&run.name).0;
            let audited = audits
                .and_then(|a| a.get(&run.name))
                .or_else(|| by_bare.get(bare).copied());
            out.by_run
                .insert(&run.name, audited.map_or(Standing::NotAudited, standing));
            out.audited.extend(audited.map(|a| (run.name.as_str(), a)));
            if run.marked {
                out.take_out(&run.name, TakenOut::Marked);
            } else if audited.is_some_and(|a| a.excluded) {
                out.take_out(&run.name, TakenOut::InAudit);
            }
        }
        let seen: BTreeSet<&str> = out.audited.values().map(|a| a.run.as_str()).collect();
        out.unscored = audits
            .into_iter()
            .flat_map(BTreeMap::values)
            .filter(|a| !seen.contains(a.run.as_str()))
            .collect();
        for name in exclude {
            let run = out.named(name, profile)?;
            out.take_out(run, TakenOut::Named);
        }
        Ok(out)
    }

    /// A run is out by its owner's word; that it is invalid, or spoilt, says more and stays.
    fn take_out(&mut self, run: &'a str, how: TakenOut) {
        self.taken_out.entry(run).or_insert(how);
        let standing = self.by_run.entry(run).or_insert(Standing::Excluded);
        if !matches!(standing, Standing::Harness | Standing::Invalid) {
            *standing = Standing::Excluded;
        }
    }

    /// How its owner took a run out, if so.
    pub fn taken_out(&self, run: &Run) -> Option<TakenOut> {
        self.taken_out.get(run.name.as_str()).copied()
    }

    /// The run that a name on the command line means.
    fn named(&self, name: &str, profile: &Profile) -> Result<&'a str> {
        let wanted = super::read::run_name(name);
        if let Some((run, _)) = self.by_run.get_key_value(wanted) {
            return Ok(run);
        }
        let bare = profile.unmarked(wanted).0;
        let mut runs = self.by_run.keys().copied();
        let like = runs.find(|run| profile.unmarked(run).0 == bare);
        like.ok_or_else(|| unknown_run(wanted, self.by_run.keys().copied()))
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
                && !self.taken_out.contains_key(run)
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
}

fn standing(audited: &AuditedRun) -> Standing {
    Standing::of_verdict(audited.verdict, audited.is_harness())
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

    #[test]
    fn names_to_exclude_must_exist() {
        let profile = Profile::built_in().unwrap();
        let scores = scores_of(&[
            ("T1-amber-long", "T1", "amber", "P"),
            ("T2-amber-long", "T2", "amber", "P"),
        ]);
        let exclude = |name: &str| Standings::new(&[&scores], None, &[name.to_string()], &profile);
        let out = exclude("some/dir/T1-amber-long/").unwrap();
        let standing = |s: &Standings, run: &str| s.of(&scores.runs[run]);
        assert_eq!(standing(&out, "T1-amber-long"), Standing::Excluded);
        assert_eq!(standing(&out, "T2-amber-long"), Standing::NotAudited);
        let marked = exclude("T1-amber-long-INVALID").unwrap();
        assert_eq!(standing(&marked, "T1-amber-long"), Standing::Excluded);
        let message = exclude("T1-amber-short").unwrap_err().to_string();
        assert!(
            message.contains("nearest name is T1-amber-long"),
            "{message}"
        );
    }

    fn audits(text: &str) -> Audits {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a.jsonl");
        std::fs::write(&path, text).unwrap();
        crate::score::read::audit::load(&[path]).unwrap()
    }

    #[test]
    fn marks_names_and_audit_together() {
        let profile = Profile::built_in().unwrap();
        let mut scores = scores_of(&[
            ("A", "t1", "a", "P"),
            ("A-INVALID", "t1", "a", "P"),
            ("B", "t2", "a", "P"),
            ("C", "t3", "a", "P"),
            ("D", "t4", "a", "P"),
        ]);
        scores.runs.get_mut("A-INVALID").unwrap().marked = true;
        let audits = audits(
            r#"{"run":"A-INVALID","verdict":"invalid"}
               {"run":"B-INVALID","verdict":"invalid","excluded":true}
               {"run":"C","verdict":"clean","excluded":"by hand"}
               {"run":"D","verdict":"clean"}"#,
        );
        let exclude = ["D".to_string()];
        let got = Standings::new(&[&scores], Some(&audits), &exclude, &profile).unwrap();
        let stands = |run: &str| {
            let run = &scores.runs[run];
            (got.of(run), got.taken_out(run))
        };
        // The audit's A-INVALID is the table's A-INVALID; A itself was not audited.
        assert_eq!(stands("A"), (Standing::NotAudited, None));
        assert_eq!(
            stands("A-INVALID"),
            (Standing::Invalid, Some(TakenOut::Marked))
        );
        assert_eq!(stands("B"), (Standing::Invalid, Some(TakenOut::InAudit)));
        assert_eq!(stands("C"), (Standing::Excluded, Some(TakenOut::InAudit)));
        assert_eq!(stands("D"), (Standing::Excluded, Some(TakenOut::Named)));
        // Judged again with other thresholds, what was taken out stays out.
        let clean = scores
            .runs
            .keys()
            .map(|r| (r.clone(), Standing::Clean))
            .collect();
        let again = got.rejudged(&clean);
        assert_eq!(again.of(&scores.runs["B"]), Standing::Invalid);
        assert_eq!(again.of(&scores.runs["A"]), Standing::Clean);
    }
}
