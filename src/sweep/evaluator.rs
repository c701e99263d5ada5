//! What the evaluators of a benchmark said of a run: a reason to look at it, never evidence.
//!
//! A run that passed is worth an audit before one that failed, and a judge who writes "byte-identical"
//! has seen something. Verdicts come from the reports in the root of the run or from a score table;
//! words only from reports. The files lie where the agent could have written them.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::experiment::guarded::{Content, RunDir};
use crate::score::model::Outcome;
use crate::score::profile::Profile;
use crate::score::read;

/// Longest report that is read, in bytes.
const MAX_REPORT: u64 = 4 << 20;

/// Reports of one run that are read, the first ones by name.
const MAX_REPORTS: usize = 64;

/// Words by which a judge says that the patch is a copy, in lower case.
const COPY_WORDS: &[&str] = &[
    "byte-identical",
    "byte-for-byte identical",
    "byte for byte identical",
    "character-for-character identical",
    "complete application of upstream",
    "complete application of the upstream",
    "逐字节一致",
    "逐字节相同",
];

/// Votes of the judges, and what they remarked.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Evaluation {
    /// Votes for PASS.
    pub pass: u64,
    /// Votes for PARTIAL.
    pub partial: u64,
    /// Votes for FAIL.
    pub fail: u64,
    /// The words of a judge that say that the patch is a copy.
    pub words: Option<String>,
}

/// A verdict of the evaluators, to choose runs by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Vote {
    /// At least one judge says PASS.
    Pass,
    /// No judge says PASS, and one says PARTIAL.
    Partial,
    /// All that judge say FAIL.
    Fail,
    /// No verdict is known.
    None,
}

impl Evaluation {
    /// The best that any judge says.
    pub fn vote(&self) -> Vote {
        match self {
            Self { pass: 1.., .. } => Vote::Pass,
            Self { partial: 1.., .. } => Vote::Partial,
            Self { fail: 1.., .. } => Vote::Fail,
            _ => Vote::None,
        }
    }

    fn add(&mut self, outcome: Outcome) {
        match outcome {
            Outcome::Pass => self.pass += 1,
            Outcome::Partial => self.partial += 1,
            Outcome::Fail => self.fail += 1,
        }
    }
}

/// Where evaluations are read.
pub struct Evaluations {
    profile: Profile,
    /// From score tables, by the name of the run.
    table: BTreeMap<String, Evaluation>,
}

impl Evaluations {
    /// Reads the score tables; reports are read run by run.
    ///
    /// # Errors
    /// When a table is missing or broken.
    pub fn new(tables: &[PathBuf]) -> Result<Self> {
        let profile = Profile::built_in()?;
        let scores = if tables.is_empty() {
            Default::default()
        } else {
            read::load(tables, &profile)?.runs
        };
        let table = scores
            .into_iter()
            .map(|(name, run)| {
                let [fail, partial, pass] = run.votes();
                let evaluation = Evaluation {
                    pass,
                    partial,
                    fail,
                    words: None,
                };
                (name, evaluation)
            })
            .collect();
        Ok(Self { profile, table })
    }

    /// What is said of a run. A table's verdicts win over those of reports.
    pub fn of(&self, run: &RunDir) -> Evaluation {
        let mut evaluation = self.reports(run);
        if let Some(known) = self.table.get(&run.name()) {
            evaluation = Evaluation {
                words: evaluation.words,
                ..known.clone()
            };
        }
        evaluation
    }

    fn reports(&self, run: &RunDir) -> Evaluation {
        let mut evaluation = Evaluation::default();
        // A directory that cannot be read is an error of the audit that follows.
        let entries = fs::read_dir(&run.path).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries
            .filter_map(|entry| entry.file_name().into_string().ok())
            .filter(|name| self.profile.reports.file.is_match(name))
            .collect();
        names.sort();
        for name in names.iter().take(MAX_REPORTS) {
            let Content::Bytes(bytes) = run.read(name, MAX_REPORT) else {
                continue;
            };
            let text = String::from_utf8_lossy(&bytes);
            if let Some(outcome) = read::verdict_of(&text, &self.profile) {
                evaluation.add(outcome);
            }
            if evaluation.words.is_none() {
                let lower = text.to_lowercase();
                let said = COPY_WORDS.iter().find(|words| lower.contains(**words));
                evaluation.words = said.map(|words| (*words).to_owned());
            }
        }
        evaluation
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn verdicts_and_words_of_reports() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("T1-codex-long-20260101");
        fs::create_dir(&run).unwrap();
        let put = |name: &str, text: &str| fs::write(run.join(name), text).unwrap();
        put(
            "eval_report-claude.md",
            "## Verdict: **PASS**\nThe patch is Byte-Identical.",
        );
        put("eval_report-codex.md", "Verdict: FAIL");
        put("eval_report-glm.md", "no verdict here");
        put("other.md", "Verdict: PASS");
        let run = RunDir::open(&run).unwrap();
        let got = Evaluations::new(&[]).unwrap().of(&run);
        assert_eq!((got.pass, got.partial, got.fail), (1, 0, 1));
        assert_eq!(got.words.as_deref(), Some("byte-identical"));
        assert_eq!(got.vote(), Vote::Pass);

        let table = dir.path().join("scores.csv");
        fs::write(
            &table,
            "dir,task,agent,evaluator,verdict\nT1-codex-long-20260101,T1,codex,glm,PARTIAL\n",
        )
        .unwrap();
        let got = Evaluations::new(&[table]).unwrap().of(&run);
        assert_eq!(got.vote(), Vote::Partial);
        assert!(got.words.is_some());
    }
}
