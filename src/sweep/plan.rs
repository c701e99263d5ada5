//! From the directories that were found to the runs that are audited, in their order.
//!
//! The order is the order of the output, so it depends on nothing but the runs: by task, then by name.
//! The runs of a task stand together, since they are judged together.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use sha2::{Digest, Sha256};

use super::entry::{EntryHead, OrderKey};
use super::evaluator::{Evaluation, Evaluations, Vote};
use super::select::{Found, base_name};
use crate::experiment::agents::canonical_agent;
use crate::experiment::config::Config;
use crate::experiment::discover::{Options, identify};
use crate::experiment::guarded::RunDir;
use crate::experiment::name::RunName;
use crate::{Error, Result};

/// Which of the runs are audited. An empty list asks for nothing.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Task ids.
    pub tasks: Vec<String>,
    /// Agents, in any known spelling.
    pub agents: Vec<String>,
    /// First day, `YYYY-MM-DD`.
    pub since: Option<String>,
    /// Last day, `YYYY-MM-DD`.
    pub until: Option<String>,
    /// What the evaluators say.
    pub votes: Vec<Vote>,
}

/// Part `index` of `count`, 1-based.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Shard {
    /// Which part.
    pub index: u32,
    /// Of how many.
    pub count: u32,
}

impl Shard {
    /// Whether a run of that name belongs to this part: decided by the name alone, so that machines
    /// that see different runs still agree.
    pub fn holds(self, run: &str) -> bool {
        let digest = Sha256::digest(run.as_bytes());
        let head = digest.iter().take(8);
        let number = head.fold(0u64, |n, byte| n << 8 | u64::from(*byte));
        number % u64::from(self.count.max(1)) + 1 == u64::from(self.index)
    }
}

impl std::str::FromStr for Shard {
    type Err = String;

    /// Reads `I/N`.
    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let parts = text.split_once('/').and_then(|(index, count)| {
            let shard = Self {
                index: index.parse().ok()?,
                count: count.parse().ok()?,
            };
            (1..=shard.count).contains(&shard.index).then_some(shard)
        });
        parts.ok_or_else(|| "write I/N with 1 <= I <= N, such as 1/3".to_owned())
    }
}

/// A run to audit.
#[derive(Debug, Clone)]
pub struct Planned {
    /// What is known of it before it is read.
    pub head: EntryHead,
    /// The directory.
    pub path: PathBuf,
    /// The configuration that holds for it, as an index into [`Plan::configs`].
    pub config: usize,
    /// Why it cannot be audited.
    pub problem: Option<String>,
}

/// All runs of a sweep, in order.
#[derive(Debug, Default)]
pub struct Plan {
    /// The runs.
    pub runs: Vec<Planned>,
    /// Configurations that hold for them.
    pub configs: Vec<Config>,
    /// Runs that the filters left out.
    pub left_out: usize,
}

/// How a sweep chooses and orders its runs.
pub struct Choice<'a> {
    /// The filters.
    pub filter: &'a Filter,
    /// Only this part.
    pub shard: Option<Shard>,
    /// Tasks with a run that passed come first, and in them the runs that passed.
    pub passing_first: bool,
    /// What the evaluators say.
    pub evaluations: &'a Evaluations,
    /// Inputs named by flags.
    pub options: &'a Options,
    /// `--config`.
    pub config: Option<&'a std::path::Path>,
}

impl Plan {
    /// Identifies the runs, leaves out what is not asked for and puts the rest in order.
    ///
    /// # Errors
    /// When a configuration has a mistake; a run that cannot be identified is one with an error.
    pub fn new(found: &[Found], choice: &Choice<'_>) -> Result<Self> {
        let mut plan = Self::default();
        let mut known: BTreeMap<PathBuf, usize> = BTreeMap::new();
        for found in found {
            // The configuration is searched from the folder that holds the run.
            let folder = found.path.parent().unwrap_or(&found.path).to_owned();
            let config = match known.get(&folder) {
                Some(config) => *config,
                None => {
                    let config = Config::find(Some(&found.path), choice.config)?;
                    plan.configs.push(config);
                    known.insert(folder, plan.configs.len() - 1);
                    plan.configs.len() - 1
                }
            };
            let at = plan.configs.get(config);
            let planned = at.map(|c| identified(found, config, c, choice));
            plan.runs.extend(planned);
        }
        let all = plan.runs.len();
        let asked = Asked::new(choice.filter, &plan.configs);
        plan.runs.retain(|run| asked.wants(run));
        plan.left_out = all - plan.runs.len();
        let passing: BTreeSet<Option<String>> = plan
            .runs
            .iter()
            .filter(|run| choice.passing_first && run.head.evaluation.vote() == Vote::Pass)
            .map(|run| run.head.task.clone())
            .collect();
        plan.runs
            .sort_by_cached_key(|run| OrderKey::new(&run.head, &passing));
        if let Some(shard) = choice.shard {
            plan.runs.retain(|run| shard.holds(&run.head.run));
        }
        Ok(plan)
    }
}

fn identified(found: &Found, config: usize, of: &Config, choice: &Choice<'_>) -> Planned {
    let shown = found.path.display().to_string();
    let name = RunName::parse(base_name(&shown));
    let mut planned = Planned {
        head: EntryHead {
            run: name.raw.clone(),
            path: shown,
            task: choice.options.task.clone().or(name.task),
            agent: name.agent.map(|agent| canonical_agent(&agent, &of.aliases)),
            prompt_variant: name.prompt_variant,
            date: name.date,
            excluded: name.excluded,
            evaluation: Evaluation::default(),
        },
        path: found.path.clone(),
        config,
        problem: found.problem.clone(),
    };
    if planned.problem.is_some() {
        return planned;
    }
    match identify(&found.path, choice.options, of) {
        Ok(inputs) => {
            let head = &mut planned.head;
            if let Ok(dir) = RunDir::open(&found.path) {
                head.evaluation = choice.evaluations.of(&dir);
            }
            if let Some(dir) = &inputs.dir {
                head.path = dir.display().to_string();
            }
            head.run = inputs.name.raw;
            head.task = inputs.task;
            head.agent = inputs.agent;
            head.prompt_variant = inputs.prompt_variant;
            head.date = inputs.date;
            head.excluded = inputs.excluded;
        }
        Err(error) => planned.problem = Some(error.to_string()),
    }
    planned
}

/// The filters, with spellings resolved.
struct Asked<'a> {
    filter: &'a Filter,
    agents: Vec<BTreeSet<String>>,
}

impl<'a> Asked<'a> {
    fn new(filter: &'a Filter, configs: &[Config]) -> Self {
        let agents = configs.iter().map(|config| {
            let names = filter.agents.iter();
            names.map(|a| canonical_agent(a, &config.aliases)).collect()
        });
        Self {
            filter,
            agents: agents.collect(),
        }
    }

    fn wants(&self, run: &Planned) -> bool {
        let f = self.filter;
        let head = &run.head;
        let task = head.task.as_ref();
        let agents = self.agents.get(run.config);
        let in_time = |date: &String| {
            f.since.as_ref().is_none_or(|since| date >= since)
                && f.until.as_ref().is_none_or(|until| date <= until)
        };
        (f.tasks.is_empty() || task.is_some_and(|task| f.tasks.contains(task)))
            && (f.agents.is_empty()
                || (head.agent.as_ref()).is_some_and(|a| agents.is_some_and(|s| s.contains(a))))
            && ((f.since.is_none() && f.until.is_none()) || head.date.as_ref().is_some_and(in_time))
            && (f.votes.is_empty() || f.votes.contains(&head.evaluation.vote()))
    }
}

/// A day in any usual form.
///
/// # Errors
/// When it is none.
pub fn day(text: &str) -> Result<String> {
    crate::experiment::date::normalise_date(text).ok_or_else(|| Error::Usage {
        what: format!("{} is no date", crate::experiment::wording::show(text)),
        fix: "write it as 2026-04-14".to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_is_in_exactly_one_shard() {
        for count in [1, 2, 3, 7] {
            for name in ["", "T1-codex-long", "a", "b", "c", "\u{1b}[2J"] {
                let holders = (1..=count).filter(|index| {
                    Shard {
                        index: *index,
                        count,
                    }
                    .holds(name)
                });
                assert_eq!(holders.count(), 1, "{name} of {count}");
            }
        }
        assert_eq!("2/3".parse(), Ok(Shard { index: 2, count: 3 }));
        for bad in ["", "0/3", "4/3", "1", "1/", "a/b", "-1/2", "1/0"] {
            assert!(bad.parse::<Shard>().is_err(), "{bad}");
        }
    }

    #[test]
    fn filters_and_order() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        let mut found = Vec::new();
        for (name, report) in [
            ("T2-codex-gpt-5_4-long-20260410", "Verdict: PASS"),
            (
                "T1-cursor-composer2-long-2026-04-14-INVALID",
                "Verdict: FAIL",
            ),
            ("T1-codex-gpt-5_4-short-20260412", ""),
            ("T2-claude-opus-max-long-20260411", "Verdict: PARTIAL"),
        ] {
            let run = root.join(name);
            std::fs::create_dir(&run).unwrap();
            if !report.is_empty() {
                std::fs::write(run.join("eval_report-x.md"), report).unwrap();
            }
            found.push(Found {
                path: run,
                problem: None,
            });
        }
        let evaluations = Evaluations::new(&[]).unwrap();
        let options = Options::default();
        let names = |filter: &Filter, passing_first| -> Vec<String> {
            let plan = Plan::new(
                &found,
                &Choice {
                    filter,
                    shard: None,
                    passing_first,
                    evaluations: &evaluations,
                    options: &options,
                    config: None,
                },
            );
            let runs = plan.unwrap().runs.into_iter();
            runs.map(|r| r.head.run.split("-2026").next().unwrap().to_owned())
                .collect()
        };
        let none = Filter::default();
        let (c1, u1) = ("T1-codex-gpt-5_4-short", "T1-cursor-composer2-long");
        let (a2, c2) = ("T2-claude-opus-max-long", "T2-codex-gpt-5_4-long");
        assert_eq!(names(&none, false), [c1, u1, a2, c2]);
        assert_eq!(names(&none, true), [c2, a2, c1, u1]);
        let only = |change: fn(&mut Filter)| {
            let mut filter = Filter::default();
            change(&mut filter);
            names(&filter, false)
        };
        assert_eq!(only(|f| f.tasks = vec!["T2".into()]), [a2, c2]);
        assert_eq!(only(|f| f.agents = vec!["codex".into()]), [c1, c2]);
        assert_eq!(only(|f| f.since = Some("2026-04-12".into())), [c1, u1]);
        assert_eq!(only(|f| f.until = Some("2026-04-10".into())), [c2]);
        assert_eq!(only(|f| f.votes = vec![Vote::Pass, Vote::None]), [c1, c2]);
    }
}
