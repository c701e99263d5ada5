//! One run of a sweep: what was known before it was read, and its facts or why there are none.
//!
//! This is the form in which shards write and `merge` reads, and in which runs reach the judgement.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::evaluator::{Evaluation, Vote};
use crate::audit::RunFacts;
use crate::report::model::RunReport;

/// What is known of a run before it is read.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EntryHead {
    /// Name of the directory.
    pub run: String,
    /// Its path.
    pub path: String,
    /// Task id.
    pub task: Option<String>,
    /// Canonical name of the agent.
    pub agent: Option<String>,
    /// `long` or `short`.
    pub prompt_variant: Option<String>,
    /// Day of the run, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// Marked as out of the evaluation.
    pub excluded: bool,
    /// What the evaluators say.
    pub evaluation: Evaluation,
}

/// A run of a sweep.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Entry {
    /// What was known before.
    pub head: EntryHead,
    /// What is known now.
    pub outcome: Outcome,
}

/// Facts, or why there are none.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The facts.
    Facts(Box<RunFacts>),
    /// What went wrong, in words.
    Error(String),
}

impl Entry {
    /// The facts, if there are any.
    pub fn facts(&self) -> Option<&RunFacts> {
        match &self.outcome {
            Outcome::Facts(facts) => Some(facts),
            Outcome::Error(_) => None,
        }
    }
}

impl EntryHead {
    /// The report of a run that could not be read.
    pub fn failed(&self, error: &str) -> RunReport {
        RunReport {
            task: self.task.clone(),
            agent: self.agent.clone(),
            prompt_variant: self.prompt_variant.clone(),
            date: self.date.clone(),
            excluded: self.excluded,
            ..RunReport::failed(&self.run, &self.path, error.to_owned())
        }
    }
}

/// The place of a run in the output. A run without a task comes last.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct OrderKey {
    later_task: bool,
    no_task: bool,
    task: Option<String>,
    later: bool,
    run: String,
    path: String,
}

impl OrderKey {
    /// `passing` are the tasks to put first, and in them runs that passed; empty for none.
    pub fn new(head: &EntryHead, passing: &BTreeSet<Option<String>>) -> Self {
        let first = passing.contains(&head.task);
        Self {
            later_task: !first,
            no_task: head.task.is_none(),
            task: head.task.clone(),
            later: first && head.evaluation.vote() != Vote::Pass,
            run: head.run.clone(),
            path: head.path.clone(),
        }
    }
}
