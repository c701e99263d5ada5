//! What shows only when all tasks are looked at together.
//!
//! A patch that holds the answer to *another* task went wrong in the harness or was copied from the
//! wrong pull request; compared with its own GT it looks innocent. And one small match proves
//! nothing, while an agent that matches small answers far more often than chance does is worth a look. Both are
//! reasons to look, not verdicts.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::entry::Entry;
use crate::audit::prints::{Hashes, LineHash};
use crate::similarity::chance::poisson_tail;
use crate::verdict::policy::Policy;

/// Lines of a run's sketch that are kept until the end.
const KEPT: usize = 512;

/// Lines of another task's GT that a patch must hold.
pub const MIN_LINES: u64 = 16;

/// Of the lines of that GT, at least one in so many must be there.
const MIN_PART: u64 = 4;

/// Small matches of one agent that are enough to be mentioned.
const MIN_MATCHES: u64 = 3;

/// Chance of as many small matches, below which they are mentioned.
const MAX_PROBABILITY: f64 = 0.001;

/// A run whose patch holds lines of another task's GT.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct OtherTask {
    /// The run.
    pub run: String,
    /// Its path.
    pub path: String,
    /// Its own task.
    pub task: Option<String>,
    /// The task whose GT it holds.
    pub other: Option<String>,
    /// Distinctive lines of that GT in the patch, as far as compared.
    pub lines: u64,
    /// Lines of that GT that were compared: all, or a sample for a large patch.
    pub of: u64,
}

/// An agent that matches small answers more often than chance does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct SmallMatches {
    /// The agent.
    pub agent: String,
    /// Tasks whose answer is too small to judge a copy by.
    pub tasks: u64,
    /// Of these, tasks in which a patch of the agent is the same as the answer.
    pub matches: u64,
    /// How many chance gives.
    pub expected: f64,
    /// How likely chance gives that many or more.
    pub probability: f64,
}

/// Gathers what is needed of each run until all are known.
#[derive(Debug, Default)]
pub struct Across {
    /// By digest of the GT: its task and its lines.
    answers: BTreeMap<String, (Option<String>, Hashes)>,
    runs: Vec<Kept>,
    /// By agent and task: chance that no run matches, and whether one does.
    small: BTreeMap<(String, String), (f64, bool)>,
}

#[derive(Debug)]
struct Kept {
    run: String,
    path: String,
    task: Option<String>,
    gt: Option<String>,
    /// The smallest hashes, without those of the run's own GT.
    lines: Vec<LineHash>,
    /// All lines of the patch up to here were seen.
    up_to: LineHash,
}

impl Across {
    /// Takes one run.
    pub fn add(&mut self, entry: &Entry, policy: &Policy) {
        let Some(facts) = entry.facts() else { return };
        let prints = &facts.prints;
        let gt = facts.inputs.gt_sha256.clone();
        if let Some(digest) = &gt {
            let known = self.answers.entry(digest.clone());
            known.or_insert_with(|| (entry.head.task.clone(), prints.gt.clone()));
        }
        let sketch = prints.sketch.as_slice();
        let kept: Vec<_> = sketch.iter().copied().take(KEPT).collect();
        let whole = prints.lines == kept.len() as u64;
        self.runs.push(Kept {
            run: entry.head.run.clone(),
            path: entry.head.path.clone(),
            task: entry.head.task.clone(),
            gt,
            up_to: match kept.last() {
                Some(last) if !whole => *last,
                _ => LineHash::MAX,
            },
            lines: kept
                .into_iter()
                .filter(|h| !prints.gt.contains(*h))
                .collect(),
        });
        let m = &facts.measures;
        if (1..policy.size.small).contains(&m.n)
            && let (Some(agent), Some(task)) = (&entry.head.agent, &entry.head.task)
        {
            let key = (agent.clone(), task.clone());
            let (none, matched) = self.small.entry(key).or_insert((1.0, false));
            *none *= 1.0 - m.p_chance.clamp(0.0, 1.0);
            *matched |= m.u.or_zero() > policy.same.copy_score;
        }
    }

    /// Runs that hold the answer to another task, sorted.
    pub fn other_tasks(&self) -> Vec<OtherTask> {
        let mut found = Vec::new();
        let mut index: BTreeMap<LineHash, Vec<usize>> = BTreeMap::new();
        for (number, (_, lines)) in self.answers.values().enumerate() {
            for line in lines.as_slice() {
                index.entry(*line).or_default().push(number);
            }
        }
        let answers: Vec<_> = self.answers.iter().collect();
        for run in &self.runs {
            let mut hits: BTreeMap<usize, u64> = BTreeMap::new();
            for number in run
                .lines
                .iter()
                .filter_map(|line| index.get(line))
                .flatten()
            {
                *hits.entry(*number).or_default() += 1;
            }
            for (number, lines) in hits.into_iter().filter(|(_, lines)| *lines >= MIN_LINES) {
                let Some((digest, (task, answer))) = answers.get(number) else {
                    continue;
                };
                let of = answer.as_slice().partition_point(|line| *line <= run.up_to) as u64;
                let own = run.gt.as_ref() == Some(digest) || run.task == *task;
                if !own && lines * MIN_PART >= of {
                    found.push(OtherTask {
                        run: run.run.clone(),
                        path: run.path.clone(),
                        task: run.task.clone(),
                        other: task.clone(),
                        lines,
                        of,
                    });
                }
            }
        }
        found.sort();
        found
    }

    /// Agents with more small matches than chance gives, by name.
    pub fn small_matches(&self) -> Vec<SmallMatches> {
        let agents: BTreeSet<&String> = self.small.keys().map(|(agent, _)| agent).collect();
        let of_agent = |agent: &String| {
            let tasks = self.small.iter().filter(|((a, _), _)| a == agent);
            let mut out = SmallMatches {
                agent: agent.clone(),
                tasks: 0,
                matches: 0,
                expected: 0.0,
                probability: 1.0,
            };
            for (none, matched) in tasks.map(|(_, told)| told) {
                out.tasks += 1;
                out.matches += u64::from(*matched);
                out.expected += 1.0 - none;
            }
            out.probability = poisson_tail(out.matches, out.expected);
            out
        };
        agents
            .into_iter()
            .map(of_agent)
            .filter(|a| a.matches >= MIN_MATCHES && a.probability < MAX_PROBABILITY)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::entry::Outcome;
    use crate::sweep::testing::entry;

    fn task(run: &str, task: &str, gt: std::ops::Range<u64>, patch: std::ops::Range<u64>) -> Entry {
        let mut entry = entry(run, "codex-1", 10, [], []);
        entry.head.task = Some(task.into());
        if let Outcome::Facts(facts) = &mut entry.outcome {
            facts.inputs.gt_sha256 = Some(format!("gt of {task}"));
            facts.prints.gt = gt.collect();
            facts.prints.lines = patch.clone().count() as u64;
            facts.prints.sketch = patch.take(2_048).collect();
        }
        entry
    }

    fn others(entries: &[Entry]) -> Vec<OtherTask> {
        let mut across = Across::default();
        for entry in entries {
            across.add(entry, &Policy::default());
        }
        across.other_tasks()
    }

    #[test]
    fn the_answer_to_another_task() {
        let honest = task("honest", "T1", 0..100, 1_000..1_200);
        let own = task("own", "T2", 200..300, 200..300);
        let wrong = task("wrong", "T1", 0..100, 200..300);
        let found = others(&[honest.clone(), own.clone(), wrong]);
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].run.as_str(), found[0].other.as_deref()),
            ("wrong", Some("T2"))
        );
        assert_eq!((found[0].lines, found[0].of), (100, 100));
        // A large patch: only what its sample could have shown counts.
        let large = task("large", "T1", 0..100, 250..3_000);
        let found = others(&[honest.clone(), own.clone(), large]);
        assert_eq!((found[0].lines, found[0].of), (50, 100));
        let few = task("few", "T1", 0..100, 290..300);
        assert_eq!(others(&[honest, own, few]), []);
    }

    #[test]
    fn an_agent_that_is_lucky_too_often() {
        let mut across = Across::default();
        let mut add = |agent: &str, task: &str, same: bool| {
            let mut entry = entry("r", agent, 8, if same { 0..8 } else { 0..0 }, []);
            entry.head.agent = Some(agent.into());
            entry.head.task = Some(task.into());
            if let Outcome::Facts(facts) = &mut entry.outcome {
                facts.measures.p_chance = 0.03;
            }
            across.add(&entry, &Policy::default());
        };
        for number in 0..10 {
            add("lucky", &format!("T{number}"), number < 4);
            add("usual", &format!("T{number}"), number == 0);
        }
        let found = across.small_matches();
        assert_eq!(found.len(), 1);
        assert_eq!(
            (found[0].agent.as_str(), found[0].matches, found[0].tasks),
            ("lucky", 4, 10)
        );
        assert!(found[0].expected < 0.4 && found[0].probability < 0.001);
    }
}
