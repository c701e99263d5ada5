//! What the runs of one task say about each other.
//!
//! Pure: entries in, remarks out, nothing depends on their order. Nothing here accuses a run by
//! itself. That two runs share lines is said of both, since who had them first cannot be told.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::entry::Entry;
use crate::audit::prints::{LineHash, Prints};
use crate::verdict::peers::family;

/// Unusual lines that two runs must share.
pub const MIN_SHARED: u64 = 16;

/// Of the unusual lines of the run that has fewer, at least one in so many must be shared.
const MIN_PART: u64 = 5;

/// A line that more runs have is not unusual.
const MAX_HOLDERS: usize = 3;

/// Runs that a task must have before a line can be called unusual among them.
const MIN_RUNS: usize = 4;

/// Agent families that must have a file before nobody but the harness can have made it.
const MIN_FAMILIES: usize = 3;

/// Two runs of a task that share unusual lines. Says nothing about who took them from whom, or both
/// from a third place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SharedLines {
    /// The task.
    pub task: Option<String>,
    /// Names of the two runs, sorted.
    pub runs: [String; 2],
    /// Lines that both added, that are no lines of base, prompt or GT, and that hardly any other run
    /// has. Of large patches a sample is compared, so this is the least.
    pub lines: u64,
}

/// A file that every run of a task has with the same lines, though no trace shows a writer.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct HarnessFile {
    /// The task.
    pub task: Option<String>,
    /// The file.
    pub path: String,
    /// How many runs have it.
    pub runs: u64,
    /// How many agent families they are of.
    pub families: u64,
}

/// The prints of a run with its place in the group.
fn prints(group: &[Entry]) -> impl Iterator<Item = (usize, &Entry, &Prints)> {
    let all = group.iter().enumerate();
    all.filter_map(|(at, entry)| Some((at, entry, &entry.facts()?.prints)))
}

/// Pairs of runs that share unusual lines, by their places in the group.
pub fn shared_lines(group: &[Entry]) -> Vec<(usize, usize, SharedLines)> {
    if prints(group).count() < MIN_RUNS {
        return Vec::new();
    }
    let mut holders: BTreeMap<LineHash, Vec<usize>> = BTreeMap::new();
    for (at, _, prints) in prints(group) {
        let lines = prints.sketch.as_slice().iter();
        for line in lines.filter(|line| !prints.gt.contains(**line)) {
            holders.entry(*line).or_default().push(at);
        }
    }
    let mut own: BTreeMap<usize, u64> = BTreeMap::new();
    let mut both: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for runs in holders.values().filter(|runs| runs.len() <= MAX_HOLDERS) {
        for (number, a) in runs.iter().enumerate() {
            *own.entry(*a).or_default() += 1;
            for b in runs.iter().skip(number + 1) {
                *both.entry((*a, *b)).or_default() += 1;
            }
        }
    }
    let fewer = |a: &usize, b: &usize| {
        let lines = |at| own.get(at).copied().unwrap_or(0);
        lines(a).min(lines(b))
    };
    let enough = both
        .into_iter()
        .filter(|((a, b), lines)| *lines >= MIN_SHARED && lines * MIN_PART >= fewer(a, b));
    enough
        .filter_map(|((a, b), lines)| {
            let (first, second) = (group.get(a)?, group.get(b)?);
            let mut runs = [first.head.run.clone(), second.head.run.clone()];
            runs.sort();
            let task = first.head.task.clone();
            Some((a, b, SharedLines { task, runs, lines }))
        })
        .collect()
}

/// Files that all runs have alike and no run wrote. Runs that could not be read do not count.
pub fn harness_files(group: &[Entry]) -> Vec<HarnessFile> {
    let mut families = BTreeSet::new();
    let mut count = 0;
    let mut alike: Option<BTreeSet<(&str, LineHash)>> = None;
    for (_, entry, prints) in prints(group) {
        let unwritten = prints.files.iter().filter(|file| !file.written);
        let here: BTreeSet<_> = unwritten.map(|f| (f.path.as_str(), f.lines)).collect();
        count += 1;
        families.insert(family(entry.head.agent.as_deref().unwrap_or_default()));
        alike = Some(match alike {
            None => here,
            Some(before) => before.intersection(&here).copied().collect(),
        });
    }
    families.remove("");
    if families.len() < MIN_FAMILIES {
        return Vec::new();
    }
    let task = group.first().and_then(|entry| entry.head.task.clone());
    let files = alike.into_iter().flatten();
    files
        .map(|(path, _)| HarnessFile {
            task: task.clone(),
            path: path.to_owned(),
            runs: count,
            families: families.len() as u64,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::audit::prints::FilePrint;
    use crate::sweep::entry::Outcome;
    use crate::sweep::testing::entry;

    fn with(run: &str, agent: &str, change: impl FnOnce(&mut Prints)) -> Entry {
        let mut entry = entry(run, agent, 10, [], []);
        if let Outcome::Facts(facts) = &mut entry.outcome {
            change(&mut facts.prints);
        }
        entry
    }

    #[test]
    fn lines_that_only_two_runs_have() {
        let common = 5_000..5_100;
        let run = |name: &str, own: std::ops::Range<u64>| {
            let lines = common.clone().chain(own).chain(0..10);
            with(name, "x-1", |p| p.sketch = lines.collect())
        };
        let mut group = vec![
            run("d", 100..150),
            run("a", 100..130),
            run("b", 300..350),
            run("c", 400..450),
        ];
        let pairs = shared_lines(&group);
        assert_eq!(pairs.len(), 1);
        assert_eq!(pairs[0].2.runs, ["a".to_owned(), "d".to_owned()]);
        assert_eq!(pairs[0].2.lines, 30);
        group.reverse();
        assert_eq!(shared_lines(&group)[0].2, pairs[0].2);
        // Among three runs nothing is unusual; lines of the GT never are.
        assert_eq!(shared_lines(&group[1..]), []);
        for entry in &mut group {
            if let Outcome::Facts(facts) = &mut entry.outcome {
                facts.prints.gt = (100..130).collect();
            }
        }
        assert_eq!(shared_lines(&group), []);
    }

    #[test]
    fn files_that_nobody_wrote() {
        let run = |agent: &str, lines, written| {
            with(agent, agent, |p| {
                p.files = vec![FilePrint {
                    path: "tests/t.py".into(),
                    lines,
                    written,
                }];
            })
        };
        let three = [
            run("a-1", 7, false),
            run("b-1", 7, false),
            run("c-1", 7, false),
        ];
        let found = harness_files(&three);
        assert_eq!((found.len(), found[0].runs, found[0].families), (1, 3, 3));
        for other in [
            run("d-1", 8, false),
            run("d-1", 7, true),
            with("d-1", "d-1", |_| {}),
        ] {
            let mut four = three.to_vec();
            four.push(other);
            assert_eq!(harness_files(&four), []);
        }
        let mut two = three[..2].to_vec();
        two.push(run("a-2", 7, false));
        assert_eq!(harness_files(&two), []);
        assert_eq!(harness_files(&[]), []);
    }
}
