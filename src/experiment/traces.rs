//! Finding the trace files of a run, in the root of its directory.
//!
//! The name of a trace says who wrote it there (a runner script), not which format it has: the same
//! `claude_run.jsonl` holds the records of three agents. So names only *find* files; formats are
//! detected by content. Two tiers: the names that runners are known to use, and, when none of those
//! holds anything, names under which session files are kept elsewhere. A repository may have an
//! `events.jsonl` of its own, therefore the second tier is a fallback and its files must begin like
//! JSON. Names that a repository may well use for its own work (`output.jsonl`, `*.traj`, `commands.txt`)
//! are taken only when the content is that of a log that this tool reads.
//!
//! Standard error beside a trace (`claude_run.log`, `codex_output.log`) is read too, since an agent
//! may say there what it did; it is plain text, so it can add findings and never coverage.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::artefacts;
use super::guarded::{self, Entry, RunDir};
use super::name::RunName;
use super::wording::{show, show_path};
use crate::Result;
use crate::trace::{format_of, head_of};

/// Most session files that the second tier takes from one directory.
const MAX_SESSION_FILES: usize = 1_000;

/// Bytes of a file that are looked at to tell whether it is a log.
const LOG_HEAD: u64 = 1 << 20;

/// What a trace file is to the audit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum TraceRole {
    /// The agent's own record.
    Trace,
    /// Standard error of the agent, kept in a file of its own: raw text, never a proof of coverage.
    Stderr,
    /// Plain standard output of an agent whose runner kept no record: raw text, never a proof of
    /// coverage.
    Log,
}

/// One file to read as (part of) the trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TraceInput {
    /// Where it is; links inside the run are resolved.
    pub path: PathBuf,
    /// What to call it: its name in the run directory, or the path as the user gave it.
    pub label: String,
    /// What it is.
    pub role: TraceRole,
}

/// The files that runners write, in the order in which they are read.
const RUNNER_FILES: &[(&str, TraceRole)] = &[
    ("claude_run.jsonl", TraceRole::Trace),
    ("cursor_run.jsonl", TraceRole::Trace),
    ("codex_events.jsonl", TraceRole::Trace),
    ("codex_events_isolated.jsonl", TraceRole::Trace),
    ("claude_run.log", TraceRole::Stderr),
    ("cursor_run.log", TraceRole::Stderr),
    ("codex_output.log", TraceRole::Stderr),
    ("codex_output_isolated.log", TraceRole::Stderr),
];

/// Usual names of a trace that no known runner wrote.
const SESSION_NAMES: &[&str] = &[
    "trace.jsonl",
    "trace.json",
    "session.jsonl",
    "transcript.jsonl",
    "trajectory.jsonl",
    "trajectory.json",
    "agent.jsonl",
    "events.jsonl",
];

/// Endings of compressed files. They are recognised by their content; the ending only finds them.
const PACKED: [&str; 3] = ["", ".gz", ".zst"];

/// The name of a file before it was compressed.
pub(super) fn unpacked_name(name: &str) -> &str {
    let packed = PACKED.iter().filter(|ending| !ending.is_empty());
    packed
        .filter_map(|ending| name.strip_suffix(ending))
        .next()
        .unwrap_or(name)
}

/// Names that agents and harnesses give to their logs and that others use too.
const SHARED_NAMES: &[&str] = &[
    ".aider.chat.history.md",
    ".aider.llm.history",
    "output.jsonl",
    "chat_history.jsonl",
    "wire.jsonl",
    "api_conversation_history.json",
    "agent.cast",
    "agent.log",
    "commands.txt",
];
/// Endings of such names.
const SHARED_ENDINGS: &[&str] = &[".traj", ".traj.json"];

/// True for a name under which a log is taken when its content is one.
pub(super) fn is_shared_name(name: &str) -> bool {
    let name = unpacked_name(name);
    let ends = |ending: &&str| name.len() > ending.len() && name.ends_with(*ending);
    let session = name.starts_with("ses_") && name.ends_with(".json");
    SHARED_NAMES.contains(&name) || SHARED_ENDINGS.iter().any(ends) || session
}

/// True for a name that a runner script gives to a trace or to standard error beside it, compressed
/// or not.
pub fn is_runner_file(root_name: &str) -> bool {
    let name = unpacked_name(root_name);
    RUNNER_FILES.iter().any(|(known, _)| *known == name)
}

/// The names of runners' traces, for messages.
pub(crate) fn runner_traces() -> impl Iterator<Item = &'static str> {
    RUNNER_FILES
        .iter()
        .filter(|(_, role)| *role == TraceRole::Trace)
        .map(|(name, _)| *name)
}

/// True when the directory holds a file under a name that only runners give to traces.
pub(crate) fn has_runner_trace(dir: &Path) -> bool {
    let mut names = RUNNER_FILES
        .iter()
        .flat_map(|(name, _)| PACKED.map(|ending| format!("{name}{ending}")));
    names.any(|name| dir.join(name).symlink_metadata().is_ok())
}

/// True for the names that agents give to their session files (`rollout-….jsonl`, `session-….jsonl`,
/// `<uuid>.jsonl`), for `AGENT_run.jsonl` of runners that are not in the table, and for the usual
/// names of a trace.
pub(super) fn is_session_name(name: &str) -> bool {
    let name = unpacked_name(name);
    let Some(stem) = name.strip_suffix(".jsonl") else {
        return SESSION_NAMES.contains(&name) || name.ends_with(".eval");
    };
    SESSION_NAMES.contains(&name)
        || stem.starts_with("rollout-")
        || stem.starts_with("session-")
        || stem.ends_with("_run")
        || is_uuid(stem)
}

/// Hexadecimal digits in groups of 8, 4, 4, 4 and 12.
pub(super) fn is_uuid(text: &str) -> bool {
    let groups: Vec<&str> = text.split('-').collect();
    groups.iter().map(|g| g.len()).eq([8, 4, 4, 4, 12])
        && groups
            .iter()
            .all(|g| g.bytes().all(|b| b.is_ascii_hexdigit()))
}

/// The traces that the user named; each keeps the path as given for its label.
///
/// # Errors
/// When one of them is missing, unreadable or a directory.
pub(crate) fn named(paths: &[PathBuf], notes: &mut Vec<String>) -> Result<Vec<TraceInput>> {
    let mut found = Vec::new();
    for path in paths {
        guarded::check_named_file(path, "check the path given with --trace")?;
        let name = path
            .file_name()
            .map(|n| n.to_string_lossy())
            .unwrap_or_default();
        if artefacts::is_evaluator_artefact(&name) {
            notes.push(format!(
                "{} has the name of an evaluator's file: what it says may be the evaluator's, not the agent's",
                show_path(path)
            ));
        }
        let role = RUNNER_FILES
            .iter()
            .find(|(known, _)| *known == unpacked_name(&name))
            .map_or(TraceRole::Trace, |(_, role)| *role);
        found.push(TraceInput {
            path: path.clone(),
            label: path.to_string_lossy().into_owned(),
            role,
        });
    }
    Ok(found)
}

/// The traces in the root of a run directory, in a fixed order. Names in `ignored` are an evaluator's.
/// What is refused, empty or taken from the second tier goes to `notes`.
///
/// # Errors
/// When a trace is there and may not be read: a verdict without it would be about another run.
pub(crate) fn find(
    run: &RunDir,
    ignored: &[String],
    notes: &mut Vec<String>,
) -> Result<Vec<TraceInput>> {
    let is_ignored = |name: &str| ignored.iter().any(|i| i == name);
    let mut found = Vec::new();
    for (name, role) in RUNNER_FILES {
        // A compressed file beside a plain one is read too: what is a copy adds nothing, and what is none must
        // not be hidden by a harmless one. Logs are compressed when new ones take their place: it is the older.
        for ending in PACKED.iter().rev() {
            let name = format!("{name}{ending}");
            if !is_ignored(&name) {
                take(run, &name, *role, &mut found, notes)?;
            }
        }
    }
    if found
        .iter()
        .any(|t| t.role == TraceRole::Trace && !is_empty(&t.path))
    {
        return Ok(found);
    }
    for name in session_names(run, &is_ignored, notes)? {
        let before = found.len();
        take(run, &name, TraceRole::Trace, &mut found, notes)?;
        let Some(new) = found.get(before) else {
            continue;
        };
        let fits = if is_shared_name(&name) {
            // Both histories of aider tell of the same chat.
            let again = name == ".aider.llm.history" && has_chat(&found);
            !again && holds_a_log(&new.path)
        } else {
            begins_like_json(&new.path)
        };
        if fits {
            notes.push(format!(
                "no runner's trace was found with content; {} was read as the trace",
                show(&name)
            ));
        } else {
            found.truncate(before);
        }
    }
    Ok(found)
}

/// Adds one name of the root if it is there and may be read.
fn take(
    run: &RunDir,
    name: &str,
    role: TraceRole,
    found: &mut Vec<TraceInput>,
    notes: &mut Vec<String>,
) -> Result<()> {
    match run.entry(name) {
        Entry::Absent => {}
        Entry::Refused(why) => notes.push(format!(
            "{} in the run directory was not read: it {why}",
            show(name)
        )),
        Entry::File(path) => {
            guarded::check_named_file(&path, "restore the file")?;
            if is_empty(&path) {
                notes.push(format!("{} is empty (0 bytes)", show(name)));
            }
            found.push(TraceInput {
                path,
                label: name.to_owned(),
                role,
            });
        }
    }
    Ok(())
}

/// The second-tier names in the root, sorted.
pub(super) fn session_names(
    run: &RunDir,
    is_ignored: &dyn Fn(&str) -> bool,
    notes: &mut Vec<String>,
) -> Result<Vec<String>> {
    let entries = fs::read_dir(&run.path)
        .map_err(|e| guarded::unreadable(&run.path, &e, "name an existing run directory"))?;
    let mut names: Vec<String> = entries
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| is_session_name(name) || is_shared_name(name))
        .filter(|name| !is_runner_file(name) && !is_ignored(name))
        .filter(|name| !artefacts::is_evaluator_artefact(name))
        .collect();
    names.sort();
    if names.len() > MAX_SESSION_FILES {
        notes.push(format!(
            "the run directory holds {} session files; the first {MAX_SESSION_FILES} by name were read",
            names.len()
        ));
        names.truncate(MAX_SESSION_FILES);
    }
    Ok(names)
}

/// The chat that aider kept is among them.
fn has_chat(found: &[TraceInput]) -> bool {
    found
        .iter()
        .any(|trace| trace.label == ".aider.chat.history.md")
}

/// True when the first bytes of a file are those of a log in a known format.
fn holds_a_log(path: &Path) -> bool {
    let head = fs::File::open(path).and_then(|file| head_of(file, LOG_HEAD));
    head.is_ok_and(|head| format_of(&head).is_some())
}

fn is_empty(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| meta.len() == 0)
}

/// True when the first visible byte of a file opens a JSON object or array.
pub(crate) fn begins_like_json(path: &Path) -> bool {
    let Ok(head) = fs::File::open(path).and_then(|file| head_of(file, 4096)) else {
        return false;
    };
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    head.iter()
        .find(|b| !b.is_ascii_whitespace())
        .is_some_and(|b| matches!(b, b'{' | b'['))
}

/// The plain-text log of the first campaigns, in `experiment_logs/` beside the run directory: under
/// the run's own name or as `TASK-AGENT-VARIANT.log`.
pub(crate) fn sibling_log(run: &RunDir, name: &RunName) -> Option<TraceInput> {
    let folder = run.path.parent()?.join("experiment_logs");
    let parts = [&name.task, &name.agent, &name.prompt_variant];
    let parts: Vec<&str> = parts.into_iter().flatten().map(String::as_str).collect();
    [run.name(), parts.join("-")]
        .into_iter()
        .map(|stem| format!("{stem}.log"))
        .map(|file| (folder.join(&file), file))
        .find(|(path, _)| path.is_file())
        .map(|(path, file)| TraceInput {
            path,
            label: format!("../experiment_logs/{file}"),
            role: TraceRole::Log,
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run_with(files: &[(&str, &str)]) -> (tempfile::TempDir, RunDir) {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("T1-codex-long");
        fs::create_dir(&run).unwrap();
        for (name, text) in files {
            fs::write(run.join(name), text).unwrap();
        }
        let run = RunDir::open(&run).unwrap();
        (dir, run)
    }

    fn labels(run: &RunDir) -> (Vec<(String, TraceRole)>, Vec<String>) {
        let mut notes = Vec::new();
        let found = find(run, &[], &mut notes).unwrap();
        let found = found.into_iter().map(|t| (t.label, t.role)).collect();
        (found, notes)
    }

    #[test]
    fn runner_files_with_their_roles() {
        let (_keep, run) = run_with(&[
            ("codex_output.log", "x"),
            ("codex_events_isolated.jsonl", "{}"),
            ("codex_events.jsonl", "{}"),
            ("events.jsonl", "{}"),
            ("eval_codex_events.jsonl", "{}"),
            ("eval_events.jsonl", "{}"),
        ]);
        let (found, notes) = labels(&run);
        let want = [
            ("codex_events.jsonl", TraceRole::Trace),
            ("codex_events_isolated.jsonl", TraceRole::Trace),
            ("codex_output.log", TraceRole::Stderr),
        ];
        assert_eq!(found, want.map(|(n, r)| (n.to_owned(), r)));
        assert!(notes.is_empty(), "{notes:?}");
    }

    #[test]
    fn compressed_files_are_found_by_their_names() {
        let packed = |text: &str| {
            use std::io::Write as _;
            let mut encoder = flate2::write::GzEncoder::new(Vec::new(), Default::default());
            encoder.write_all(text.as_bytes()).unwrap();
            encoder.finish().unwrap()
        };
        let (_keep, run) = run_with(&[("claude_run.jsonl", "{}"), ("claude_run.jsonl.gz", "x")]);
        assert_eq!(labels(&run).0.len(), 2, "neither hides the other");

        let (_keep, run) = run_with(&[("claude_run.log.gz", "x")]);
        fs::write(run.path.join("claude_run.jsonl.gz"), packed("{}")).unwrap();
        let found = labels(&run).0;
        let want = [
            ("claude_run.jsonl.gz", TraceRole::Trace),
            ("claude_run.log.gz", TraceRole::Stderr),
        ];
        assert_eq!(found, want.map(|(n, r)| (n.to_owned(), r)));
        assert!(is_runner_file("codex_events.jsonl.zst") && has_runner_trace(&run.path));

        let (_keep, run) = run_with(&[]);
        fs::write(run.path.join("rollout-1.jsonl.gz"), packed(" {}")).unwrap();
        fs::write(run.path.join("rollout-2.jsonl.gz"), packed("words")).unwrap();
        let found = labels(&run).0;
        assert_eq!(found, [("rollout-1.jsonl.gz".to_owned(), TraceRole::Trace)]);
    }

    #[test]
    fn session_files_only_when_no_runner_trace_has_content() {
        let uuid = "808c9c5f-78a9-406b-8436-ac4bd9e45d22.jsonl";
        let (_keep, run) = run_with(&[
            ("claude_run.jsonl", ""),
            ("claude_run.log", "stderr"),
            (uuid, "\u{feff}\n {}"),
            ("rollout-2026-04-18.jsonl", "{}"),
            ("events.jsonl", "plain words"),
            ("robot_run.jsonl", "{}"),
            ("eval_events.jsonl", "{}"),
            ("data.jsonl", "{}"),
        ]);
        let (found, notes) = labels(&run);
        let want = [
            ("claude_run.jsonl", TraceRole::Trace),
            ("claude_run.log", TraceRole::Stderr),
            (uuid, TraceRole::Trace),
            ("robot_run.jsonl", TraceRole::Trace),
            ("rollout-2026-04-18.jsonl", TraceRole::Trace),
        ];
        assert_eq!(found, want.map(|(n, r)| (n.to_owned(), r)));
        assert_eq!(notes.len(), 4, "{notes:?}");
        assert!(notes[0].contains("0 bytes"));

        let (_keep, run) = run_with(&[("claude_run.jsonl", "{}"), (uuid, "{}")]);
        assert_eq!(labels(&run).0.len(), 1);
    }

    #[test]
    fn names_that_a_repository_may_use_too() {
        const TRAJ: &str = r#"{"environment":"e","trajectory":[{"action":"ls","observation":"a"}],"history":[],"info":{}}"#;
        let (_keep, run) = run_with(&[
            ("django__1.traj", TRAJ),
            ("molecule.traj", r#"{"atoms":[1,2]}"#),
            ("output.jsonl", r#"{"loss":0.5}"#),
            (
                ".aider.chat.history.md",
                "\n# aider chat started at 2026-01-02 03:04:05\n",
            ),
            (".aider.llm.history", "TO LLM 2026-01-02T03:04:05\n"),
            ("commands.txt", "make\nmake install\n"),
        ]);
        let (found, notes) = labels(&run);
        let want = [".aider.chat.history.md", "django__1.traj"];
        assert_eq!(found, want.map(|n| (n.to_owned(), TraceRole::Trace)));
        assert_eq!(notes.len(), 2, "{notes:?}");
    }

    #[test]
    fn an_evaluators_file_is_no_trace() {
        let (_keep, run) = run_with(&[("claude_run.jsonl", "{}"), ("trace.jsonl", "{}")]);
        let mut notes = Vec::new();
        let ignored = ["claude_run.jsonl".to_owned(), "trace.jsonl".to_owned()];
        assert!(find(&run, &ignored, &mut notes).unwrap().is_empty());
        assert_eq!(find(&run, &ignored[..1], &mut notes).unwrap().len(), 1);
    }

    #[test]
    fn uuids() {
        assert!(is_uuid("808c9c5f-78a9-406b-8436-ac4bd9e45d22"));
        for text in [
            "",
            "----",
            "808c9c5f-78a9-406b-8436-ac4bd9e45d2g",
            "808c9c5f78a9406b8436ac4bd9e45d22",
        ] {
            assert!(!is_uuid(text), "{text}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_trace_that_leads_out_of_the_run_is_refused() {
        let (keep, run) = run_with(&[]);
        fs::write(keep.path().join("other.jsonl"), "{}").unwrap();
        std::os::unix::fs::symlink("../other.jsonl", run.path.join("claude_run.jsonl")).unwrap();
        fs::create_dir(run.path.join("codex_events.jsonl")).unwrap();
        let (found, notes) = labels(&run);
        assert!(found.is_empty());
        assert_eq!(notes.len(), 2);
        assert!(
            notes[0].contains("leads out of the run directory"),
            "{notes:?}"
        );
        assert!(notes[1].contains("is a directory"), "{notes:?}");
    }

    #[test]
    fn logs_of_the_first_campaigns() {
        for (dir_name, log_name) in [
            ("T1-codex-long", "T1-codex-long.log"),
            ("project-T1-codex-long-v2", "T1-codex-long.log"),
        ] {
            let keep = tempfile::tempdir().unwrap();
            let path = keep.path().join(dir_name);
            fs::create_dir(&path).unwrap();
            let run = RunDir::open(&path).unwrap();
            let name = RunName::parse(dir_name);
            assert_eq!(sibling_log(&run, &name), None);
            let logs = keep.path().join("experiment_logs");
            fs::create_dir(&logs).unwrap();
            fs::write(logs.join(log_name), "out").unwrap();
            let log = sibling_log(&run, &name).unwrap();
            assert_eq!(log.label, format!("../experiment_logs/{log_name}"));
            assert_eq!(log.role, TraceRole::Log);
        }
    }

    #[test]
    fn named_traces_are_checked() {
        let (_keep, run) = run_with(&[("eval_codex.log", "x"), ("claude_run.log", "x")]);
        let mut notes = Vec::new();
        let paths = [
            run.path.join("eval_codex.log"),
            run.path.join("claude_run.log"),
        ];
        let found = named(&paths, &mut notes).unwrap();
        assert_eq!(found[0].role, TraceRole::Trace);
        assert_eq!(found[1].role, TraceRole::Stderr);
        assert_eq!(notes.len(), 1);
        let missing = named(&[run.path.join("nothing.jsonl")], &mut notes).unwrap_err();
        assert_eq!(missing.exit_code(), 66);
        assert!(missing.to_string().contains("--trace"));
        let folder = named(std::slice::from_ref(&run.path), &mut notes).unwrap_err();
        assert_eq!(folder.exit_code(), 65);
    }
}
