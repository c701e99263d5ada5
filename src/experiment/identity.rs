//! Which run this is: task, agent, prompt variant and day, from flags, metadata and name.
//!
//! The flag wins, then what the harness wrote down, then the name of the directory. Sources that
//! contradict each other are all reported: metadata lies where the agent can write, and a task id
//! changed there would send the audit to another task's ground truth.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::agents::canonical_agent;
use super::metadata::Metadata;
use super::name::RunName;
use super::wording::show;

/// What is known of a run's identity.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) task: Option<String>,
    /// The sources name different tasks, and no flag decided.
    pub(crate) task_disputed: bool,
    /// The other tasks that they name and that the benchmark has, where it is disputed.
    pub(crate) rival_tasks: Vec<String>,
    /// Canonical name of the agent.
    pub(crate) agent: Option<String>,
    pub(crate) prompt_variant: Option<String>,
    pub(crate) date: Option<String>,
    pub(crate) notes: Vec<String>,
}

/// A source and what it says.
type Said = (&'static str, String);

const METADATA: &str = "the metadata";
const PROMPT_FILE: &str = "the metadata's prompt file";
const NAME: &str = "the directory's name";

/// Puts together what the sources say. `base_repo` is asked which of several tasks exists.
pub(crate) fn resolve(
    task_flag: Option<&str>,
    metadata: &Metadata,
    name: &RunName,
    aliases: &BTreeMap<String, String>,
    base_repo: Option<&Path>,
) -> Identity {
    let mut notes = Vec::new();
    let tasks = said([
        ("--task", task_flag.map(str::to_owned)),
        (METADATA, metadata.task.clone()),
        (PROMPT_FILE, metadata.prompt_file_task.clone()),
        (NAME, name.task.clone()),
    ]);
    // A task that the benchmark does not have is a worse hint than one that it has.
    let exists = |task: &str| base_repo.is_some_and(|dir| dir.join(task).is_dir());
    let chosen = match task_flag {
        Some(_) => tasks.first(),
        None => tasks.iter().find(|(_, t)| exists(t)).or(tasks.first()),
    };
    let disputed = report("task", chosen, &tasks, &mut notes);

    let canonical = |value: &Option<String>| value.as_deref().map(|v| canonical_agent(v, aliases));
    let agents = said([
        (METADATA, canonical(&metadata.config)),
        (NAME, canonical(&name.agent)),
    ]);
    let variants = said([
        (METADATA, metadata.prompt_variant.clone()),
        (PROMPT_FILE, metadata.prompt_file_variant.clone()),
        (NAME, name.prompt_variant.clone()),
    ]);
    let dates = said([(METADATA, metadata.date.clone()), (NAME, name.date.clone())]);
    Identity {
        rival_tasks: match (task_flag, chosen) {
            (None, Some((_, chosen))) => rivals(chosen, &tasks, exists),
            _ => Vec::new(),
        },
        task: chosen.map(|(_, task)| task.clone()),
        task_disputed: disputed && task_flag.is_none(),
        agent: first("agent", &agents, &mut notes).or_else(|| canonical(&metadata.agent)),
        prompt_variant: first("prompt variant", &variants, &mut notes),
        date: first("date", &dates, &mut notes),
        notes,
    }
}

/// The other tasks that exist, sorted.
fn rivals(chosen: &str, tasks: &[Said], exists: impl Fn(&str) -> bool) -> Vec<String> {
    let others = tasks.iter().map(|(_, task)| task);
    let others: BTreeSet<&String> = others
        .filter(|task| *task != chosen && exists(task))
        .collect();
    others.into_iter().cloned().collect()
}

/// The sources that say something.
fn said<const N: usize>(sources: [(&'static str, Option<String>); N]) -> Vec<Said> {
    let words = sources.into_iter();
    words.filter_map(|(s, v)| v.map(|v| (s, v))).collect()
}

/// The first value there is, with a note when others differ.
fn first(what: &str, said: &[Said], notes: &mut Vec<String>) -> Option<String> {
    report(what, said.first(), said, notes);
    said.first().map(|(_, value)| value.clone())
}

/// Notes that sources differ; true when they do.
fn report(what: &str, chosen: Option<&Said>, said: &[Said], notes: &mut Vec<String>) -> bool {
    let Some((_, chosen)) = chosen else {
        return false;
    };
    if said.iter().all(|(_, value)| value == chosen) {
        return false;
    }
    let words: Vec<String> = said
        .iter()
        .map(|(source, value)| format!("{source} says {}", show(value)))
        .collect();
    notes.push(format!(
        "the {what} is contradicted: {}; {} is used",
        words.join(", "),
        show(chosen)
    ));
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meta(task: Option<&str>, config: Option<&str>) -> Metadata {
        Metadata {
            task: task.map(str::to_owned),
            config: config.map(str::to_owned),
            ..Metadata::default()
        }
    }

    #[test]
    fn flag_then_metadata_then_name() {
        let name = RunName::parse("T34-cursor-composer2-long-2026-04-14");
        let none = BTreeMap::new();
        for (flag, metadata, want, disputed) in [
            (Some("T1"), Some("T2"), "T1", false),
            (None, Some("T2"), "T2", true),
            (None, Some("T34"), "T34", false),
            (None, None, "T34", false),
        ] {
            let id = resolve(flag, &meta(metadata, None), &name, &none, None);
            assert_eq!(id.task.as_deref(), Some(want));
            assert_eq!(id.task_disputed, disputed);
            assert_eq!(id.notes.is_empty(), want == "T34", "{:?}", id.notes);
        }
    }

    #[test]
    fn a_task_that_the_benchmark_has_is_preferred() {
        let root = tempfile::tempdir().unwrap();
        std::fs::create_dir(root.path().join("T34")).unwrap();
        let name = RunName::parse("T34-codex-long");
        let id = resolve(
            None,
            &meta(Some("T99"), None),
            &name,
            &BTreeMap::new(),
            Some(root.path()),
        );
        assert_eq!(id.task.as_deref(), Some("T34"));
        assert!(id.task_disputed);
        // A flag is obeyed whatever exists.
        let id = resolve(
            Some("T98"),
            &meta(None, None),
            &name,
            &BTreeMap::new(),
            Some(root.path()),
        );
        assert_eq!(id.task.as_deref(), Some("T98"));
    }

    #[test]
    fn spellings_of_one_agent_do_not_contradict() {
        let name = RunName::parse("T34-codex-long-20260418");
        let none = BTreeMap::new();
        let id = resolve(None, &meta(None, Some("codex-gpt-5.4")), &name, &none, None);
        assert_eq!(id.agent.as_deref(), Some("codex-gpt-5_4"));
        assert!(id.notes.is_empty());
        let id = resolve(None, &meta(None, Some("other")), &name, &none, None);
        assert_eq!(id.agent.as_deref(), Some("other"));
        assert!(
            id.notes[0].contains("agent is contradicted"),
            "{:?}",
            id.notes
        );
        let only = Metadata {
            agent: Some("claude-code".to_owned()),
            ..Metadata::default()
        };
        let id = resolve(None, &only, &RunName::parse("T34"), &none, None);
        assert_eq!(id.agent.as_deref(), Some("claude-code"));
    }
}
