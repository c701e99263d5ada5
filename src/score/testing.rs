//! Builders for the tests of this module.

use std::collections::BTreeMap;

use super::model::{Outcome, Place, Points, Rating, Run, Scores};

/// `P`, `F`, `-` (PARTIAL); anything else is no rating.
pub(super) fn outcome(c: char) -> Option<Outcome> {
    match c {
        'P' => Some(Outcome::Pass),
        'F' => Some(Outcome::Fail),
        '-' => Some(Outcome::Partial),
        _ => None,
    }
}

/// A run; judges are `j0`, `j1`, ...; a PASS has 12 points, a PARTIAL 6, a FAIL 0.
pub(super) fn run(name: &str, task: &str, agent: &str, votes: &str) -> Run {
    let place = Place { file: 0, line: 1 };
    let mut ratings = BTreeMap::new();
    for (i, c) in votes.chars().enumerate() {
        if let Some(verdict) = outcome(c) {
            let points = match verdict {
                Outcome::Pass => "12",
                Outcome::Partial => "6",
                Outcome::Fail => "0",
            };
            let points = vec![Points::parse(points).unwrap()];
            ratings.insert(
                format!("j{i}"),
                Rating {
                    verdict,
                    points,
                    place,
                },
            );
        }
    }
    Run {
        name: name.into(),
        task: task.into(),
        agent: agent.into(),
        prompt: "long".into(),
        family: String::new(),
        date: String::new(),
        marked: false,
        ratings,
        place,
    }
}

/// One run for each row of votes, each of its own task.
pub(super) fn runs_of(rows: &[&str]) -> Vec<Run> {
    rows.iter()
        .enumerate()
        .map(|(i, votes)| run(&format!("r{i}"), &format!("t{i}"), "a", votes))
        .collect()
}

/// Scores of (run, task, agent, votes).
pub(super) fn scores_of(rows: &[(&str, &str, &str, &str)]) -> Scores {
    let mut scores = Scores::default();
    for (name, task, agent, votes) in rows {
        let run = run(name, task, agent, votes);
        scores.judges.extend(run.ratings.keys().cloned());
        scores.runs.insert((*name).into(), run);
    }
    scores
}
