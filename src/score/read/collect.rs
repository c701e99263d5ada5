//! Gathers statements about runs from any source, applies the profile's spellings, and refuses
//! contradictions.

use std::collections::btree_map::Entry;
use std::path::{Path, PathBuf};

use crate::score::model::{Outcome, Place, Points, Rating, Run, Scores};
use crate::score::profile::Profile;
use crate::{Error, Result};

/// What one row, or one report, says of a run.
#[derive(Debug, Default)]
pub(super) struct RunFacts {
    /// Name of the run; made up from the other parts when the source has none.
    pub(super) run: String,
    /// Task, or empty.
    pub(super) task: String,
    /// Agent, or empty.
    pub(super) agent: String,
    /// Form of the prompt, or empty.
    pub(super) prompt: String,
    /// Date, or empty.
    pub(super) date: String,
    /// Family, or empty.
    pub(super) family: String,
}

/// What one judge says of it.
#[derive(Debug)]
pub(super) struct Statement {
    /// The judge.
    pub(super) judge: String,
    /// The verdict.
    pub(super) verdict: Outcome,
    /// The points; empty without.
    pub(super) points: Vec<Points>,
}

/// Gathers statements.
pub(super) struct Collector<'p> {
    profile: &'p Profile,
    scores: Scores,
}

impl<'p> Collector<'p> {
    /// An empty one.
    pub(super) fn new(profile: &'p Profile) -> Self {
        Self {
            profile,
            scores: Scores::default(),
        }
    }

    /// Registers a file; the index goes into [`Place`].
    pub(super) fn file(&mut self, path: &Path) -> usize {
        self.scores.files.push(path.into());
        self.scores.files.len() - 1
    }

    /// The counters of what was met.
    pub(super) fn notes(&mut self) -> &mut crate::score::model::ReadNotes {
        &mut self.scores.notes
    }

    /// Remembers the names of the point columns of the first table that has any.
    pub(super) fn components(&mut self, names: &[String]) {
        if self.scores.components.is_empty() {
            self.scores.components = names.to_vec();
        }
    }

    /// Adds what is known about a run and returns its key.
    pub(super) fn run(&mut self, facts: RunFacts, place: Place) -> Result<String> {
        let facts = self.complete(facts, place)?;
        let (_, marked) = self.profile.unmarked(&facts.run);
        let family = if facts.family.is_empty() {
            self.profile.family(&facts.task).to_string()
        } else {
            facts.family
        };
        let run = Run {
            name: facts.run.clone(),
            task: facts.task,
            agent: facts.agent,
            prompt: facts.prompt,
            family,
            date: facts.date,
            marked,
            ratings: Default::default(),
            place,
        };
        match self.scores.runs.entry(facts.run.clone()) {
            Entry::Vacant(slot) => {
                slot.insert(run);
            }
            Entry::Occupied(mut slot) => {
                let known = slot.get_mut();
                let pairs = [
                    ("task", &mut known.task, &run.task),
                    ("agent", &mut known.agent, &run.agent),
                    ("prompt", &mut known.prompt, &run.prompt),
                    ("date", &mut known.date, &run.date),
                    ("family", &mut known.family, &run.family),
                ];
                for (what, old, new) in pairs {
                    if old.is_empty() {
                        old.clone_from(new);
                    } else if !new.is_empty() && old != new {
                        let what = format!("run {}: {what} is `{new}` here", facts.run);
                        let other = format!("`{old}` there");
                        return Err(contradiction(
                            &self.scores.files,
                            place,
                            known.place,
                            &what,
                            &other,
                        ));
                    }
                }
            }
        }
        Ok(facts.run)
    }

    /// Fills gaps from the name of the run, and the name from the parts.
    fn complete(&mut self, mut facts: RunFacts, place: Place) -> Result<RunFacts> {
        facts.run = base_name(&facts.run).to_string();
        let parts = self.profile.run_name.captures(&facts.run);
        if let Some(parts) = parts {
            for (group, slot) in [
                ("task", &mut facts.task),
                ("agent", &mut facts.agent),
                ("prompt", &mut facts.prompt),
                ("date", &mut facts.date),
            ] {
                if slot.is_empty() {
                    *slot = parts
                        .name(group)
                        .map_or(String::new(), |m| m.as_str().into());
                }
            }
        }
        if let Some(name) = self.profile.agent_aliases.get(&facts.agent) {
            let key = (
                "agent",
                std::mem::replace(&mut facts.agent, name.clone()),
                name.clone(),
            );
            *self.scores.notes.aliases.entry(key).or_default() += 1;
        }
        for (what, value) in [("task", &facts.task), ("agent", &facts.agent)] {
            if value.is_empty() {
                return Err(self.error(
                    place,
                    format!("says nothing about the {what} of run `{}`", facts.run),
                    format!("add a column, or name it with --column {what}=HEADER"),
                ));
            }
        }
        if facts.run.is_empty() {
            let parts = [&facts.task, &facts.agent, &facts.prompt, &facts.date];
            let parts: Vec<&str> = parts
                .into_iter()
                .map(String::as_str)
                .filter(|p| !p.is_empty())
                .collect();
            facts.run = parts.join("-");
        }
        Ok(facts)
    }

    /// Adds a rating to a run that [`Collector::run`] named.
    pub(super) fn rating(&mut self, run: &str, statement: Statement, place: Place) -> Result<()> {
        let mut judge = statement.judge;
        if let Some(name) = self.profile.judge_aliases.get(&judge) {
            let key = (
                "judge",
                std::mem::replace(&mut judge, name.clone()),
                name.clone(),
            );
            *self.scores.notes.aliases.entry(key).or_default() += 1;
        }
        let rating = Rating {
            verdict: statement.verdict,
            points: statement.points,
            place,
        };
        if !rating.points.is_empty() && rating.points.len() != self.scores.components.len() {
            self.scores.notes.other_components += 1;
        }
        let Some(known) = self.scores.runs.get_mut(run) else {
            return Ok(());
        };
        match known.ratings.entry(judge.clone()) {
            Entry::Vacant(slot) => {
                slot.insert(rating);
                self.scores.judges.insert(judge);
            }
            Entry::Occupied(mut slot) => {
                let old = slot.get_mut();
                let points_differ = !old.points.is_empty()
                    && !rating.points.is_empty()
                    && old.points != rating.points;
                if old.verdict != rating.verdict || points_differ {
                    let say = |r: &Rating| match r.total() {
                        Some(total) if points_differ => {
                            format!(
                                "{} with {} points",
                                r.verdict.name(),
                                total as f64 / Points::UNIT as f64
                            )
                        }
                        _ => r.verdict.name().to_string(),
                    };
                    let what = format!("run {run}, judge {judge}: {} here", say(&rating));
                    let other = format!("{} there", say(old));
                    return Err(contradiction(
                        &self.scores.files,
                        place,
                        old.place,
                        &what,
                        &other,
                    ));
                }
                if old.points.is_empty() {
                    old.points = rating.points;
                }
                self.scores.notes.duplicates += 1;
            }
        }
        Ok(())
    }

    /// The scores; a table without rows is an error, since nothing can be said about it.
    pub(super) fn finish(self) -> Result<Scores> {
        if self.scores.runs.is_empty() {
            return Err(Error::BadData {
                path: self.scores.files.first().cloned().unwrap_or_default(),
                line: None,
                what: "holds no rows".into(),
                fix: "name a table with at least one run".into(),
            });
        }
        Ok(self.scores)
    }

    /// Bad data at a place.
    pub(super) fn error(&self, place: Place, what: String, fix: String) -> Error {
        Error::BadData {
            path: path_of(&self.scores.files, place),
            line: Some(place.line),
            what,
            fix,
        }
    }
}

/// The last part of a path written with either slash, without final slashes.
pub(super) fn base_name(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

fn path_of(files: &[PathBuf], place: Place) -> PathBuf {
    files.get(place.file).cloned().unwrap_or_default()
}

fn contradiction(files: &[PathBuf], here: Place, there: Place, what: &str, other: &str) -> Error {
    let there_path = path_of(files, there);
    Error::BadData {
        path: path_of(files, here),
        line: Some(here.line),
        what: format!("{what}, {other} ({}:{})", there_path.display(), there.line),
        fix: "one of the two lines is wrong or belongs to another run; correct or remove it".into(),
    }
}
