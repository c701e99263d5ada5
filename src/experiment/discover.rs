//! All inputs of one run, from as little as a directory.
//!
//! Flags win over metadata, metadata over names. Any subset of inputs works: what is missing is said
//! in [`RunInputs::notes`], and only what was *named* and is missing, or is there and closed, is an
//! error.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::artefacts::RootFilter;
use super::base_tree;
use super::config::{Config, FactsSource};
use super::facts_file::FactsTable;
use super::gt::{self, GtInput, InputSource};
use super::guarded::{self, RunDir};
use super::identity::{self, Identity};
use super::layout;
use super::metadata::{Metadata, is_task_id};
use super::name::RunName;
use super::prompt::{self, BenchmarkPrompt, PromptInput};
use super::rivals;
use super::run_check;
use super::sessions;
use super::task_facts::TaskFacts;
use super::traces::{self, TraceInput};
use super::wording::show;
use crate::{Error, Result};

/// What the user named with flags.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Options {
    /// `--gt`: the GT patch, or several of which any would be a solution: files, or `REPOSITORY@FROM..TO`.
    pub gt: Vec<PathBuf>,
    /// `--patch`: the agent's patch, instead of a work tree.
    pub patch: Option<PathBuf>,
    /// `--handwritten`: the list of hand-written files.
    pub handwritten: Option<PathBuf>,
    /// `--task`: the task id.
    pub task: Option<String>,
    /// `--trace`: the traces, instead of those in the run directory.
    pub traces: Vec<PathBuf>,
    /// `--base`: a directory with the starter tree, or a commit.
    pub base: Option<String>,
    /// `--prompt`: the prompt that the agent saw.
    pub prompt: Option<PathBuf>,
    /// `--facts`: facts about the tasks.
    pub facts: Option<PathBuf>,
    /// `--base-repo`: where the tasks are.
    pub base_repo: Option<PathBuf>,
    /// The starter tree itself: a plain directory or a git repository.
    pub base_tree: Option<PathBuf>,
}

/// Everything that the audit of one run starts from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RunInputs {
    /// The run directory, absolute.
    pub dir: Option<PathBuf>,
    /// What its name says.
    pub name: RunName,
    /// Task id.
    pub task: Option<String>,
    /// Metadata and name disagree about the task and no flag decided. The metadata could have been
    /// changed by the agent, so a verdict on such a run should say which GT it rests on.
    pub task_disputed: bool,
    /// The same run as one of each other task that metadata or name say it is, and that the benchmark has: to be
    /// judged as each.
    pub rivals: Vec<RunInputs>,
    /// Canonical name of the agent.
    pub agent: Option<String>,
    /// `long`, `short` or what the metadata calls it.
    pub prompt_variant: Option<String>,
    /// Day of the run, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// The benchmark excludes the run from scores (`-INVALID`).
    pub excluded: bool,
    /// The traces, in the order in which they are read.
    pub traces: Vec<TraceInput>,
    /// Session logs in the run directory that are no traces of this run as far as can be told, and were not read.
    /// They may be the repository's own.
    pub unread_sessions: Vec<TraceInput>,
    /// Names in the root of the run that are not the agent's work.
    pub root_filter: RootFilter,
    /// The GT patch; `None` when the task has none.
    pub gt: Option<GtInput>,
    /// Further references; the best match of all decides.
    pub other_gt: Vec<GtInput>,
    /// Files of the GT that people wrote.
    pub handwritten: Option<BTreeSet<String>>,
    /// Files of the GT that tools wrote.
    pub generated: Option<BTreeSet<String>>,
    /// All files of the GT, by the benchmark's list.
    pub gt_files: Option<BTreeSet<String>>,
    /// The hand-written list names every file and the generated list is empty: it says nothing.
    pub lists_cover_all: bool,
    /// The prompt that the agent saw.
    pub prompt: Option<PromptInput>,
    /// The benchmark's current prompt, when `prompt` is the run's own copy and differs from it. To be
    /// used instead when the trace shows the agent writing `TASK_PROMPT.md`.
    pub benchmark_prompt: Option<PromptInput>,
    /// The starter tree: a plain directory or a git repository.
    pub base_tree: Option<PathBuf>,
    /// Who named the starter tree.
    pub base_source: Option<InputSource>,
    /// The base commit, only when a flag named it (facts have one of their own).
    pub base_commit: Option<String>,
    /// What is known of the task; empty when no facts were given.
    pub task_facts: TaskFacts,
    /// The file they stand in (the configuration, when they are written there).
    pub facts_file: Option<PathBuf>,
    /// The agent's patch as a file.
    pub patch_file: Option<PathBuf>,
    /// What is missing or contradictory, in words.
    pub notes: Vec<String>,
}

/// Finds the inputs of a run. Without a run directory, flags must name a trace or a patch.
///
/// # Errors
/// [`Error::InputMissing`] (66) when something named is not there, or the GT is there and closed;
/// [`Error::BadData`] (65) when the directory is no run or a file does not hold what it should;
/// [`Error::Usage`] (64) when nothing to audit was named or a flag's value cannot be meant.
pub fn discover(run: Option<&Path>, options: &Options, config: &Config) -> Result<RunInputs> {
    check_flags(run, options)?;
    let run = run.map(run_check::open).transpose()?;
    let run = run.as_ref();
    let base_repo = find_base_repo(run, options, config)?;
    let is_task = |word: &str| base_repo.as_ref().is_some_and(|b| b.join(word).is_dir());
    let name = run
        .map(|r| RunName::parse_knowing(&r.name(), is_task))
        .unwrap_or_default();
    let metadata = run.map(Metadata::read).unwrap_or_default();
    let mut notes = metadata.notes.clone();
    let (traces, unread_sessions) = find_logs(run, &name, options, config, &mut notes)?;
    if let Some(run) = run {
        let signs = !traces.is_empty() || has_git(run);
        run_check::require_run(run, &name, signs, options.names_a_task())?;
        note_unfinished(run, &mut notes);
    }

    let id = identity::resolve(
        options.task.as_deref(),
        &metadata,
        &name,
        &config.aliases,
        base_repo.as_deref(),
    );
    notes.extend(id.notes.iter().cloned());
    let by_name = name.task == id.task;
    let task_dir = match (&base_repo, &id.task) {
        (Some(base_repo), Some(task)) => Some(base_repo.join(task)),
        _ => None,
    };
    let truth = gt::locate(
        &options.gt,
        options.handwritten.as_deref(),
        task_dir.as_deref(),
    )?;
    note_missing_task(&id, base_repo.as_deref(), options, &mut notes);
    notes.extend(truth.notes.iter().cloned());
    let prompts = find_prompts(run, &id, task_dir.as_deref(), options)?;
    notes.extend(prompts.notes);
    if prompts.prompt.is_none() {
        notes.push("the prompt is unknown: its lines cannot be left out".to_owned());
    }
    let rivals = rivals::find(run, &id, options, config, &mut notes);
    let base = find_base(task_dir.as_deref(), options)?;
    let (task_facts, facts_file) = find_facts(id.task.as_deref(), options, config, &mut notes)?;

    Ok(RunInputs {
        dir: run.map(|r| r.path.clone()),
        excluded: name.excluded,
        root_filter: root_filter(run, &traces, config),
        lists_cover_all: truth.lists_cover_all(),
        name,
        task: id.task,
        // A task that the benchmark does not have cannot draw that of the name into doubt.
        task_disputed: id.task_disputed
            && options.gt.is_empty()
            && (!rivals.is_empty() || !by_name),
        rivals,
        agent: id.agent,
        prompt_variant: id.prompt_variant,
        date: id.date,
        traces,
        unread_sessions,
        gt: truth.gt,
        other_gt: truth.others,
        handwritten: truth.hand_written,
        generated: truth.generated,
        gt_files: truth.all_files,
        prompt: prompts.prompt,
        benchmark_prompt: prompts.benchmark,
        base_tree: base.tree,
        base_source: base.source,
        base_commit: base.commit,
        task_facts,
        facts_file,
        patch_file: options.patch.clone(),
        notes,
    })
}

/// The traces of a run, those of its sessions that lie in other places first, and session logs that
/// cannot be told to be of it.
fn find_logs(
    run: Option<&RunDir>,
    name: &RunName,
    options: &Options,
    config: &Config,
    notes: &mut Vec<String>,
) -> Result<(Vec<TraceInput>, Vec<TraceInput>)> {
    let mut traces = find_traces(run, name, options, config, notes)?;
    let Some(run) = run.filter(|_| options.traces.is_empty()) else {
        return Ok((traces, Vec::new()));
    };
    let found = sessions::besides(run, &traces, &config.evaluator_files, notes);
    // When they took place is not known: what they hold must not pass for done after the end.
    traces.splice(0..0, found.own);
    Ok((traces, found.unread))
}

/// Which run a directory is, without reading more of it than its name and metadata.
///
/// # Errors
/// As [`discover`], as far as the directory itself and `base_repo` are concerned.
pub fn identify(run: &Path, options: &Options, config: &Config) -> Result<RunInputs> {
    let run = run_check::open(run)?;
    let base_repo = find_base_repo(Some(&run), options, config)?;
    let is_task = |word: &str| base_repo.as_ref().is_some_and(|b| b.join(word).is_dir());
    let name = RunName::parse_knowing(&run.name(), is_task);
    let id = identity::resolve(
        options.task.as_deref(),
        &Metadata::read(&run),
        &name,
        &config.aliases,
        base_repo.as_deref(),
    );
    Ok(RunInputs {
        dir: Some(run.path),
        excluded: name.excluded,
        name,
        task: id.task,
        agent: id.agent,
        prompt_variant: id.prompt_variant,
        date: id.date,
        ..RunInputs::default()
    })
}

impl Options {
    /// The user said what the directory is about: then anything is a run.
    fn names_a_task(&self) -> bool {
        self.task.is_some() || !self.gt.is_empty()
    }
}

/// What is known of a task, for traces that are read without a run.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TaskInputs {
    /// Task id.
    pub task: Option<String>,
    /// What is known of the task; empty when no facts were given.
    pub facts: TaskFacts,
    /// The file they stand in (the configuration, when they are written there).
    pub facts_file: Option<PathBuf>,
    /// The prompt that was named, or that of the task.
    pub prompt: Option<PromptInput>,
    /// What is missing or contradictory, in words.
    pub notes: Vec<String>,
}

/// Finds what flags and configuration say of a task.
///
/// # Errors
/// As [`discover`].
pub fn discover_task(options: &Options, config: &Config) -> Result<TaskInputs> {
    check_task(options)?;
    let base_repo = find_base_repo(None, options, config)?;
    let (metadata, name) = (Metadata::default(), RunName::default());
    let id = identity::resolve(
        options.task.as_deref(),
        &metadata,
        &name,
        &config.aliases,
        base_repo.as_deref(),
    );
    let task_dir = match (&base_repo, &id.task) {
        (Some(base_repo), Some(task)) => Some(base_repo.join(task)),
        _ => None,
    };
    let prompts = find_prompts(None, &id, task_dir.as_deref(), options)?;
    let mut notes = id.notes;
    notes.extend(prompts.notes);
    let (facts, facts_file) = find_facts(id.task.as_deref(), options, config, &mut notes)?;
    Ok(TaskInputs {
        task: id.task,
        facts,
        facts_file,
        prompt: prompts.prompt,
        notes,
    })
}

/// Refuses flags that cannot be meant.
fn check_flags(run: Option<&Path>, options: &Options) -> Result<()> {
    if run.is_none() && options.traces.is_empty() && options.patch.is_none() {
        return Err(Error::Usage {
            what: "nothing to audit was named".to_owned(),
            fix: "name a run directory, or a trace with --trace, or a patch with --patch"
                .to_owned(),
        });
    }
    check_task(options)?;
    if let Some(patch) = &options.patch {
        guarded::check_named_file(patch, "check the path given with --patch")?;
    }
    Ok(())
}

/// Refuses a task id that cannot be one.
fn check_task(options: &Options) -> Result<()> {
    if let Some(task) = options.task.as_deref().filter(|t| !is_task_id(t)) {
        return Err(Error::Usage {
            what: format!("--task {} is no task id", show(task)),
            fix: "write the name of a folder in base_repo, such as T34".to_owned(),
        });
    }
    Ok(())
}

fn find_traces(
    run: Option<&RunDir>,
    name: &RunName,
    options: &Options,
    config: &Config,
    notes: &mut Vec<String>,
) -> Result<Vec<TraceInput>> {
    let mut found = match run {
        _ if !options.traces.is_empty() => traces::named(&options.traces, notes)?,
        Some(run) => traces::find(run, &config.evaluator_files, notes)?,
        None => Vec::new(),
    };
    if found.is_empty() {
        found.extend(run.and_then(|run| traces::sibling_log(run, name)));
    }
    if found.is_empty() {
        notes.push(match run {
            Some(_) => format!(
                "no trace in the root of the run directory (looked for {} and session files)",
                traces::runner_traces().collect::<Vec<_>>().join(", ")
            ),
            None => "no trace was given".to_owned(),
        });
    }
    Ok(found)
}

fn has_git(run: &RunDir) -> bool {
    run.path.join(".git").symlink_metadata().is_ok()
}

/// Some harnesses leave `RUNNING` at the start and `COMPLETED` at the end.
fn note_unfinished(run: &RunDir, notes: &mut Vec<String>) {
    let has = |name: &str| run.path.join(name).symlink_metadata().is_ok();
    if has("RUNNING") && !has("COMPLETED") {
        notes.push(
            "`RUNNING` is there and `COMPLETED` is not: the run may not have ended".to_owned(),
        );
    }
}

/// `base_repo` by flag, by configuration, or above the run (above the working directory without one).
fn find_base_repo(
    run: Option<&RunDir>,
    options: &Options,
    config: &Config,
) -> Result<Option<PathBuf>> {
    let named = options.base_repo.as_deref().or(config.base_repo.as_deref());
    let here = std::env::current_dir().ok();
    let starts = match run {
        Some(run) => vec![
            layout::search_start_of_run(&run.path),
            layout::search_start_of_run(&run.real),
        ],
        None => vec![here.as_deref().and_then(layout::search_start)],
    };
    let starts: Vec<&Path> = starts.into_iter().flatten().collect();
    layout::base_repo(named, &starts)
}

/// Says why there is no ground truth when the place to look for it is unknown.
fn note_missing_task(
    id: &Identity,
    base_repo: Option<&Path>,
    options: &Options,
    notes: &mut Vec<String>,
) {
    let missing = match (&id.task, base_repo) {
        _ if !options.gt.is_empty() => return,
        (None, _) => "the task is unknown; name it with --task, or the patch with --gt",
        (Some(_), None) => {
            "no folder `base_repo` was found; name it with --base-repo, or the patch with --gt"
        }
        (Some(_), Some(_)) => return,
    };
    notes.push(format!("no ground truth: {missing}"));
}

fn find_prompts(
    run: Option<&RunDir>,
    id: &Identity,
    task_dir: Option<&Path>,
    options: &Options,
) -> Result<prompt::Prompts> {
    let benchmark = match (task_dir, &id.task, &id.prompt_variant) {
        (Some(task_dir), Some(task), Some(variant)) => Some(BenchmarkPrompt {
            task_dir,
            task,
            variant,
        }),
        _ => None,
    };
    prompt::find(options.prompt.as_deref(), run, benchmark.as_ref())
}

/// Where the agent started.
#[derive(Default)]
struct Base {
    tree: Option<PathBuf>,
    source: Option<InputSource>,
    commit: Option<String>,
}

/// Starter tree and base commit. A directory given with `--base` replaces the benchmark's tree; a
/// commit given with it is looked up in whatever tree there is.
fn find_base(task_dir: Option<&Path>, options: &Options) -> Result<Base> {
    let own = match &options.base_tree {
        Some(tree) => {
            if !tree.is_dir() {
                return Err(Error::InputMissing {
                    path: tree.clone(),
                    what: "no such directory".to_owned(),
                    fix: "name a git repository, or a directory with the files".to_owned(),
                });
            }
            Base {
                source: Some(InputSource::Flag),
                tree: Some(tree.clone()),
                commit: None,
            }
        }
        None => {
            let tree = task_dir.and_then(base_tree::locate);
            Base {
                source: tree.as_ref().map(|_| InputSource::Benchmark),
                tree,
                commit: None,
            }
        }
    };
    let Some(text) = options.base.as_deref() else {
        return Ok(own);
    };
    let fix = "give --base a directory with the starter tree, or a commit";
    let path = Path::new(text);
    if path.is_dir() {
        return Ok(Base {
            tree: Some(path.to_owned()),
            source: Some(InputSource::Flag),
            commit: None,
        });
    }
    if path.is_absolute() || text.starts_with("./") || text.starts_with("../") {
        return Err(Error::InputMissing {
            path: path.to_owned(),
            what: "no such directory".to_owned(),
            fix: fix.to_owned(),
        });
    }
    let is_revision = !text.starts_with('-')
        && !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"._/@{}^~-".contains(&b));
    if !is_revision {
        return Err(Error::Usage {
            what: format!("--base {} is no commit and no directory", show(text)),
            fix: fix.to_owned(),
        });
    }
    Ok(Base {
        commit: Some(text.to_owned()),
        ..own
    })
}

/// The facts of the task and the file they come from: the flag's, else what the configuration says.
fn find_facts(
    task: Option<&str>,
    options: &Options,
    config: &Config,
    notes: &mut Vec<String>,
) -> Result<(TaskFacts, Option<PathBuf>)> {
    let read;
    let (table, file) = match (&options.facts, &config.facts) {
        (Some(path), _) | (None, Some(FactsSource::File(path))) => {
            read = FactsTable::read(path)?;
            (Some(&read), Some(path.clone()))
        }
        (None, Some(FactsSource::Inline(table))) => (Some(table), config.path.clone()),
        (None, None) => (None, None),
    };
    notes.extend(table.iter().flat_map(|t| t.notes.iter().cloned()));
    let inactive = "rules that need the task's pull request or commits are inactive";
    match (table, task) {
        (None, _) => notes.push(format!("no task facts: {inactive}")),
        (Some(_), None) => notes.push(format!("the task is unknown: {inactive}")),
        (Some(table), Some(task)) => match table.get(task) {
            Some(facts) => return Ok((facts.clone(), file)),
            None => notes.push(format!("no facts about task {}: {inactive}", show(task))),
        },
    }
    let facts = TaskFacts {
        task: task.map(str::to_owned),
        ..TaskFacts::default()
    };
    Ok((facts, file))
}

/// The names in the root that are not the agent's work, with the traces of this run.
fn root_filter(run: Option<&RunDir>, traces: &[TraceInput], config: &Config) -> RootFilter {
    let in_root = |trace: &TraceInput| {
        let run = run?;
        let name = trace.path.file_name()?;
        let folder = trace.path.parent()?.canonicalize().ok()?;
        (folder == run.real).then(|| name.to_string_lossy().into_owned())
    };
    let labels = traces.iter().map(|t| t.label.clone());
    let names = traces.iter().filter_map(in_root);
    RootFilter::new(
        config
            .evaluator_files
            .iter()
            .cloned()
            .chain(labels)
            .chain(names),
    )
}
