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
            let run = out.named(name, profile)?;
            out.by_run.insert(run, Standing::Excluded);
        }
        Ok(out)
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
}

fn standing(audited: &AuditedRun) -> Standing {
    let judged = Standing::of_verdict(audited.verdict, audited.is_harness());
    if audited.excluded && judged != Standing::Harness {
        Standing::Excluded
    } else {
        judged
    }
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
}
