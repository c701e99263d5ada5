//! Finding the inputs of runs in benchmarks made for the test, and in the names and tasks of a real
//! one where it is at hand.

// The helpers of a test may stop on the first surprise as the tests themselves may.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use trace_audit::Error;
use trace_audit::experiment::config::Config;
use trace_audit::experiment::discover::{Options, RunInputs, discover};
use trace_audit::experiment::gt::InputSource;
use trace_audit::experiment::traces::TraceRole;

/// A benchmark with two tasks and no runs.
struct Bench {
    root: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let bench = Self {
            root: tempfile::tempdir().unwrap(),
        };
        for task in ["T1", "T2"] {
            bench.write(&format!("base_repo/{task}/eval/gt_diff.patch"), "patch\n");
            bench.write(
                &format!("base_repo/{task}/eval/handwritten_files.txt"),
                "src/a.rs\r\ndocs/two words.md\r\n",
            );
            bench.write(
                &format!("base_repo/{task}/eval/gt_files.txt"),
                "src/a.rs\ndocs/two words.md\ngen.rs\n",
            );
            bench.write(
                &format!("base_repo/{task}/eval/auto_generated_files.txt"),
                "gen.rs\n",
            );
            bench.write(
                &format!("base_repo/{task}/prompts/{task}-long.md"),
                &format!("Solve {task}.\n"),
            );
            bench.write(&format!("base_repo/{task}/repo/src/a.rs"), "fn a() {}\n");
        }
        bench.write(
            "facts.tsv",
            "task\tpull_request\tgt_commit\nT1\t41\tabcdef0\nT2\t42\t\n",
        );
        bench
    }

    fn at(&self, path: &str) -> PathBuf {
        self.root.path().join(path)
    }

    fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.at(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    /// A run directory with a trace in it.
    fn run(&self, name: &str) -> PathBuf {
        let trace = format!("experiment/{name}/claude_run.jsonl");
        self.write(&trace, "{\"type\":\"result\"}\n");
        self.at(&format!("experiment/{name}"))
    }
}

fn find(run: &Path, options: &Options) -> Result<RunInputs, Error> {
    discover(Some(run), options, &Config::default())
}

fn has_note(inputs: &RunInputs, words: &str) -> bool {
    inputs.notes.iter().any(|note| note.contains(words))
}

#[test]
fn a_run_needs_only_its_directory() {
    let bench = Bench::new();
    let run = bench.run("T1-codex-long-20260418-run2-INVALID");
    bench.write(
        "experiment/T1-codex-long-20260418-run2-INVALID/claude_run.log",
        "warning\n",
    );
    let config = Config::parse(&bench.at("trace-audit.toml"), "facts = 'facts.tsv'").unwrap();
    let inputs = discover(Some(&run.join("")), &Options::default(), &config).unwrap();
    assert_eq!(inputs.task.as_deref(), Some("T1"));
    assert_eq!(inputs.agent.as_deref(), Some("codex-gpt-5_4"));
    assert_eq!(inputs.prompt_variant.as_deref(), Some("long"));
    assert_eq!(inputs.date.as_deref(), Some("2026-04-18"));
    assert!(inputs.excluded && !inputs.task_disputed);
    let traces: Vec<_> = inputs
        .traces
        .iter()
        .map(|t| (t.label.as_str(), t.role))
        .collect();
    assert_eq!(
        traces,
        [
            ("claude_run.jsonl", TraceRole::Trace),
            ("claude_run.log", TraceRole::Stderr)
        ]
    );
    let gt = inputs.gt.as_ref().unwrap();
    assert_eq!(gt.path, bench.at("base_repo/T1/eval/gt_diff.patch"));
    assert_eq!(inputs.handwritten.as_ref().unwrap().len(), 2);
    assert!(
        inputs
            .handwritten
            .as_ref()
            .unwrap()
            .contains("docs/two words.md")
    );
    assert_eq!(inputs.generated.as_ref().unwrap().len(), 1);
    assert!(!inputs.lists_cover_all);
    let prompt = inputs.prompt.as_ref().unwrap();
    assert_eq!(prompt.text, "Solve T1.\n");
    assert_eq!(prompt.label, "base_repo/T1/prompts/T1-long.md");
    assert_eq!(inputs.base_tree, Some(bench.at("base_repo/T1/repo")));
    assert_eq!(inputs.task_facts.pull_request.as_deref(), Some("41"));
    assert!(inputs.notes.is_empty(), "{:?}", inputs.notes);
}

#[test]
fn flags_before_metadata_before_names() {
    let bench = Bench::new();
    let run = bench.run("T1-codex-long-20260418");
    let metadata = |text: &str| {
        bench.write("experiment/T1-codex-long-20260418/run_metadata.json", text);
    };
    metadata(r#"{"task_id":"T2","config":"claude-opus-max","run_date":"2026-04-19"}"#);
    let inputs = find(&run, &Options::default()).unwrap();
    assert_eq!(inputs.task.as_deref(), Some("T2"));
    assert_eq!(inputs.agent.as_deref(), Some("claude-opus-max"));
    assert_eq!(inputs.date.as_deref(), Some("2026-04-19"));
    assert!(inputs.task_disputed);
    for what in ["task", "agent", "date"] {
        assert!(
            has_note(&inputs, &format!("the {what} is contradicted")),
            "{:?}",
            inputs.notes
        );
    }

    let options = Options {
        task: Some("T1".to_owned()),
        ..Options::default()
    };
    let inputs = find(&run, &options).unwrap();
    assert_eq!(inputs.task.as_deref(), Some("T1"));
    assert!(!inputs.task_disputed && has_note(&inputs, "--task says `T1`"));

    // The path in the metadata is a hint about the task and is never opened.
    let secret = bench.write("T2/prompts/T2-long.md", "secret");
    metadata(&format!(
        r#"{{"prompt_file":{secret:?},"prompt_type":"long"}}"#
    ));
    let inputs = find(&run, &Options::default()).unwrap();
    assert_eq!(inputs.task.as_deref(), Some("T2"));
    assert_eq!(inputs.prompt.unwrap().text, "Solve T2.\n");

    // A task that would lead out of the benchmark is no task.
    metadata(r#"{"task_id":"../../elsewhere","prompt_type":"../x"}"#);
    let inputs = find(&run, &Options::default()).unwrap();
    assert_eq!(inputs.task.as_deref(), Some("T1"));
    assert!(has_note(&inputs, "is no task") && has_note(&inputs, "is no prompt type"));
}

#[test]
fn any_subset_of_inputs_works() {
    let bench = Bench::new();
    let trace = bench.write("loose/trace.jsonl", "{}\n");
    let patch = bench.write("loose/agent.patch", "diff --git a/x b/x\n");
    let run = bench.run("T1-codex-long-20260418");

    let only_trace = Options {
        traces: vec![trace.clone()],
        ..Options::default()
    };
    let inputs = discover(None, &only_trace, &Config::default()).unwrap();
    assert_eq!(inputs.traces[0].label, trace.to_string_lossy());
    assert_eq!((inputs.gt, inputs.dir, inputs.task), (None, None, None));

    let only_patch = Options {
        patch: Some(patch.clone()),
        gt: vec![bench.at("base_repo/T1/eval/gt_diff.patch")],
        ..Options::default()
    };
    let inputs = discover(None, &only_patch, &Config::default()).unwrap();
    assert_eq!(inputs.patch_file, Some(patch));
    assert_eq!(inputs.gt.unwrap().source, InputSource::Flag);
    assert!(inputs.traces.is_empty());

    let by_base_repo = Options {
        traces: vec![trace.clone()],
        task: Some("T2".to_owned()),
        base_repo: Some(bench.at("")),
        ..Options::default()
    };
    let inputs = discover(None, &by_base_repo, &Config::default()).unwrap();
    assert_eq!(
        inputs.gt.unwrap().path,
        bench.at("base_repo/T2/eval/gt_diff.patch")
    );

    // A named trace replaces those of the run, and a trace in the root is none of the agent's work.
    let inputs = find(&run, &only_trace).unwrap();
    assert_eq!(inputs.traces.len(), 1);
    let odd = bench.write("experiment/T1-codex-long-20260418/odd.jsonl", "{}");
    let named = Options {
        traces: vec![odd],
        ..Options::default()
    };
    let inputs = find(&run, &named).unwrap();
    assert!(inputs.root_filter.excludes("odd.jsonl"));
    assert!(!inputs.root_filter.excludes("other.jsonl"));

    let error = discover(None, &Options::default(), &Config::default()).unwrap_err();
    assert_eq!(error.exit_code(), 64);
}

#[test]
fn what_is_missing_is_said() {
    let bench = Bench::new();
    fs::create_dir_all(bench.at("experiment/T9-codex-short-20260418")).unwrap();
    let inputs = find(
        &bench.at("experiment/T9-codex-short-20260418"),
        &Options::default(),
    )
    .unwrap();
    for words in [
        "no trace",
        "no ground truth",
        "no task facts",
        "prompt is unknown",
    ] {
        assert!(has_note(&inputs, words), "{words}: {:?}", inputs.notes);
    }

    let alone = tempfile::tempdir().unwrap();
    let run = alone.path().join("runs/T1-codex-long-20260418");
    fs::create_dir_all(&run).unwrap();
    fs::write(run.join("claude_run.jsonl"), "").unwrap();
    fs::write(run.join("RUNNING"), "").unwrap();
    let inputs = find(&run, &Options::default()).unwrap();
    for words in ["--base-repo", "0 bytes", "may not have ended"] {
        assert!(has_note(&inputs, words), "{words}: {:?}", inputs.notes);
    }
}

/// Sets one flag.
type Set = fn(&mut Options, PathBuf);

fn with(set: Set, path: PathBuf) -> Options {
    let mut options = Options::default();
    set(&mut options, path);
    options
}

#[test]
fn a_named_input_that_is_missing_is_an_error() {
    let bench = Bench::new();
    let run = bench.run("T1-codex-long-20260418");
    let flags: [(&str, Set); 8] = [
        ("--gt", |o, p| o.gt = vec![p]),
        ("--patch", |o, p| o.patch = Some(p)),
        ("--handwritten", |o, p| o.handwritten = Some(p)),
        ("--prompt", |o, p| o.prompt = Some(p)),
        ("--facts", |o, p| o.facts = Some(p)),
        ("base_repo", |o, p| o.base_repo = Some(p)),
        ("--trace", |o, p| o.traces = vec![p]),
        ("--base", |o, p| o.base = p.to_str().map(str::to_owned)),
    ];
    for (flag, set) in flags {
        let error = find(&run, &with(set, bench.at("none"))).unwrap_err();
        assert_eq!(error.exit_code(), 66, "{flag}");
        assert!(error.to_string().contains(flag), "{flag}: {error}");
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let bench = Bench::new();
    let run = bench.run("T1-codex-long-20260418");
    let task: Set = |o, p| o.task = p.to_str().map(str::to_owned);
    let base: Set = |o, p| o.base = p.to_str().map(str::to_owned);
    for (set, value) in [
        (task, "../x"),
        (task, ""),
        (base, "-x"),
        (base, "a b"),
        (base, ""),
    ] {
        let error = find(&run, &with(set, PathBuf::from(value))).unwrap_err();
        assert_eq!(error.exit_code(), 64, "{value:?}");
    }
    for (path, code) in [
        ("none", 66),
        ("base_repo/T1/repo/src/a.rs", 65),
        ("base_repo", 65),
        ("experiment", 65),
        ("", 65),
    ] {
        let error = find(&bench.at(path), &Options::default()).unwrap_err();
        assert_eq!(error.exit_code(), code, "{path}: {error}");
    }
}

#[test]
fn base_by_flag() {
    let bench = Bench::new();
    let run = bench.run("T1-codex-long-20260418");
    let base = |text: &str| {
        let options = Options {
            base: Some(text.to_owned()),
            ..Options::default()
        };
        let inputs = find(&run, &options).unwrap();
        (inputs.base_tree, inputs.base_commit)
    };
    let own = Some(bench.at("base_repo/T1/repo"));
    assert_eq!(base("HEAD~2"), (own.clone(), Some("HEAD~2".to_owned())));
    assert_eq!(base("0123abcd"), (own, Some("0123abcd".to_owned())));
    let other = bench.at("base_repo/T2/repo");
    assert_eq!(base(&other.to_string_lossy()), (Some(other), None));
}

#[test]
fn a_locked_ground_truth_is_an_error_with_the_command() {
    let bench = Bench::new();
    let run = bench.run("T1-codex-long-20260418");
    let (eval, locked) = (
        bench.at("base_repo/T1/eval"),
        bench.at("base_repo/T1/eval.locked"),
    );
    fs::rename(&eval, &locked).unwrap();
    let error = find(&run, &Options::default()).unwrap_err();
    assert_eq!(error.exit_code(), 66);
    let command = format!("mv '{}' '{}'", locked.display(), eval.display());
    assert!(error.to_string().contains(&command), "{error}");
    // The command is the one that helps.
    assert!(
        Command::new("sh")
            .args(["-c", &command])
            .status()
            .unwrap()
            .success()
    );
    assert!(find(&run, &Options::default()).unwrap().gt.is_some());
    // Another ground truth makes the locked one unnecessary.
    fs::rename(&eval, &locked).unwrap();
    let options = Options {
        gt: vec![bench.at("base_repo/T2/eval/gt_diff.patch")],
        ..Options::default()
    };
    assert!(find(&run, &options).is_ok());
}

/// Runs as an unprivileged user in a process of its own; see [`as_nobody`].
#[test]
#[ignore = "started by the tests of closed folders"]
fn child_that_looks_for_inputs() {
    let Some(run) = std::env::var_os("EXPERIMENT_TEST_RUN") else {
        println!("skipped: not started by another test");
        return;
    };
    match find(Path::new(&run), &Options::default()) {
        Ok(inputs) => println!("FOUND {:?} {:?}", inputs.gt, inputs.notes),
        Err(e) => println!("EXIT {} {e}", e.exit_code()),
    }
}

/// What `discover` says about a run when permissions count: root may read everything, so a root
/// process starts this test again as user and group 65534. `None` when that cannot be done.
#[cfg(unix)]
fn as_nobody(run: &Path) -> Option<String> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    use std::os::unix::process::CommandExt;
    let closed = tempfile::NamedTempFile::new().unwrap();
    fs::set_permissions(closed.path(), fs::Permissions::from_mode(0o000)).unwrap();
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args([
            "--exact",
            "child_that_looks_for_inputs",
            "--ignored",
            "--nocapture",
        ])
        .env("EXPERIMENT_TEST_RUN", run)
        .current_dir("/");
    if fs::File::open(closed.path()).is_ok() {
        command.uid(65534).gid(65534);
    } else {
        assert_ne!(closed.path().metadata().unwrap().uid(), 0);
    }
    let output = command.output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    (text.contains("EXIT ") || text.contains("FOUND ")).then_some(text)
}

#[cfg(unix)]
#[test]
fn closed_folders_are_errors_with_the_command() {
    use std::os::unix::fs::PermissionsExt;
    let bench = Bench::new();
    let run = bench.run("T1-codex-long-20260418");
    let mode = |path: &str, mode: u32| {
        let mode = fs::Permissions::from_mode(mode);
        fs::set_permissions(bench.at(path), mode).unwrap();
    };
    mode("", 0o755);
    for (path, closed, open) in [
        ("base_repo/T1/eval", 0o000, 0o755),
        ("base_repo/T1/eval", 0o600, 0o755),
        ("base_repo/T1", 0o000, 0o755),
        ("base_repo/T1/eval/gt_diff.patch", 0o000, 0o644),
        ("base_repo/T1/eval/handwritten_files.txt", 0o000, 0o644),
        ("experiment/T1-codex-long-20260418", 0o000, 0o755),
        (
            "experiment/T1-codex-long-20260418/claude_run.jsonl",
            0o000,
            0o644,
        ),
    ] {
        mode(path, closed);
        let said = as_nobody(&run);
        mode(path, open);
        let Some(said) = said else {
            println!("skipped: this process can neither be refused nor become another user");
            return;
        };
        let bits = if bench.at(path).is_dir() {
            "u+rx"
        } else {
            "u+r"
        };
        let command = format!("chmod {bits} '{}'", bench.at(path).display());
        assert!(said.contains("EXIT 66 "), "{path}: {said}");
        assert!(said.contains(&command), "{path}: {said}");
        // Its owner can run the command; afterwards the same search finds everything.
        assert!(
            Command::new("sh")
                .args(["-c", &command])
                .status()
                .unwrap()
                .success()
        );
    }
    // Renamed and closed: both commands.
    fs::rename(
        bench.at("base_repo/T1/eval"),
        bench.at("base_repo/T1/eval.locked"),
    )
    .unwrap();
    mode("base_repo/T1/eval.locked", 0o000);
    let said = as_nobody(&run);
    mode("base_repo/T1/eval.locked", 0o755);
    let said = said.unwrap();
    assert!(
        said.contains("EXIT 66 ") && said.contains(" && chmod u+rx "),
        "{said}"
    );
    fs::rename(
        bench.at("base_repo/T1/eval.locked"),
        bench.at("base_repo/T1/eval"),
    )
    .unwrap();
    let said = as_nobody(&run).unwrap();
    assert!(said.contains("FOUND Some"), "{said}");
}

#[cfg(unix)]
#[test]
fn links_in_a_run_lead_nowhere() {
    use std::os::unix::fs::symlink;
    let bench = Bench::new();
    let name = "T1-codex-long-20260418";
    let run = bench.at("experiment").join(name);
    fs::create_dir_all(&run).unwrap();
    // Everything the agent could aim at something outside: another task's files, system files, a
    // directory, a device, itself.
    let other = bench.write("experiment/other/claude_run.jsonl", "{}");
    let meta = bench.write("experiment/other/run_metadata.json", r#"{"task_id":"T2"}"#);
    symlink(&other, run.join("claude_run.jsonl")).unwrap();
    symlink(&meta, run.join("run_metadata.json")).unwrap();
    symlink("/etc/passwd", run.join("TASK_PROMPT.md")).unwrap();
    symlink("/dev/zero", run.join("codex_events.jsonl")).unwrap();
    symlink("/etc", run.join("eval")).unwrap();
    symlink("cursor_run.jsonl", run.join("cursor_run.jsonl")).unwrap();
    // An agent-made benchmark inside the run.
    bench.write(
        &format!("experiment/{name}/base_repo/T1/eval/gt_diff.patch"),
        "fake",
    );
    bench.write(
        &format!("experiment/{name}/trace-audit.toml"),
        "base_repo = 'base_repo'",
    );

    let config = Config::find(Some(&run), None).unwrap();
    assert_eq!(config.base_repo, None);
    let inputs = discover(Some(&run), &Options::default(), &config).unwrap();
    assert!(inputs.traces.is_empty(), "{:?}", inputs.traces);
    assert_eq!(inputs.task.as_deref(), Some("T1"));
    assert_eq!(
        inputs.gt.clone().unwrap().path,
        bench.at("base_repo/T1/eval/gt_diff.patch")
    );
    assert_eq!(
        inputs.prompt.as_ref().unwrap().source,
        InputSource::Benchmark
    );
    let refused = inputs
        .notes
        .iter()
        .filter(|n| n.contains("out of the run"))
        .count();
    assert_eq!(refused, 4, "{:?}", inputs.notes);

    // A run that is itself reached by a link is the user's choice.
    let link = bench.at("experiment/T2-codex-long-20260418");
    symlink(&run, &link).unwrap();
    let inputs = find(&link, &Options::default()).unwrap();
    assert_eq!(inputs.task.as_deref(), Some("T2"));
}

/// The benchmark whose names and tasks the tool was made for, where it is at hand.
fn real_benchmark() -> Option<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/longhorizon");
    if !root.is_dir() {
        println!("skipped: {} is not here", root.display());
        return None;
    }
    Some(root)
}

#[test]
fn the_496_runs_find_their_tasks() {
    let Some(real) = real_benchmark() else { return };
    let here = tempfile::tempdir().unwrap();
    let experiment = here.path().join("experiment");
    let options = Options {
        base_repo: Some(real.join("base_repo")),
        facts: Some(real.join("task_facts.tsv")),
        ..Options::default()
    };
    let (mut runs, mut without_gt, mut untold, mut hand_written) = (0, 0, 0, 0);
    for line in fs::read_to_string(real.join("all_dirs.txt"))
        .unwrap()
        .lines()
    {
        let name = line.trim_end_matches('/').rsplit('/').next().unwrap();
        let run = experiment.join(name);
        fs::create_dir_all(&run).unwrap();
        fs::write(run.join("claude_run.jsonl"), "{}").unwrap();
        let inputs = find(&run, &options).unwrap();
        let task = inputs.task.clone().unwrap();
        assert!(name.starts_with(&format!("{task}-")), "{name}");
        runs += 1;
        without_gt += usize::from(inputs.gt.is_none());
        untold += usize::from(inputs.lists_cover_all);
        hand_written += inputs.handwritten.as_ref().unwrap().len();
        assert_eq!(inputs.gt.is_none(), task == "T39", "{name}");
        assert_eq!(inputs.task_facts.task.as_deref(), Some(task.as_str()));
        assert!(inputs.prompt.is_some() && inputs.agent.is_some(), "{name}");
        assert_eq!(
            inputs.notes.len(),
            usize::from(task == "T39"),
            "{:?}",
            inputs.notes
        );
    }
    assert_eq!((runs, without_gt), (496, 8));
    // 26 tasks with an empty generated list, and 6 whose list holds a blank line only.
    assert_eq!(untold, 8 * 32);
    assert_eq!(hand_written, 8 * 4_720);
}
