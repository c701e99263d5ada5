//! Session logs in a run directory that are not under the name of a trace.
//!
//! A runner's trace is not always all there is: an agent whose home lies in the run directory keeps its own
//! sessions there (`.claude/projects/…`, `.codex/sessions/…`), a second script wrote to `logs/`, somebody copied
//! a session beside the trace. What they hold was done in this run or in another; which one, only an id can
//! tell. A session whose id stands at the start of a trace of the run belongs to it and is read with it. Any other
//! is named and not read: what an evaluator's session holds, or a fixture that the agent wrote, must not be held
//! against the agent, but nobody can call the trace complete while it lies there. Files that the base holds as they
//! are belong to the repository; whoever knows the base leaves them out.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;

use walkdir::WalkDir;

use super::artefacts;
use super::guarded::RunDir;
use super::traces::{self, TraceInput, TraceRole};
use crate::trace::{format_of, head_of};

/// Folders in which agents keep their sessions, below their home.
const AGENT_FOLDERS: &[&str] = &[
    ".claude/projects",
    ".codex/sessions",
    ".codex/archived_sessions",
    ".cursor/projects",
    ".gemini/tmp",
    ".qwen/projects",
    ".qwen/tmp",
    ".copilot",
    ".pi",
    ".factory/sessions",
    ".kimi",
    ".grok",
    ".hermes",
    ".openclaw",
    ".local/share/opencode",
    ".local/share/goose",
];
/// Folders in which runners and people keep logs.
const LOG_FOLDERS: &[&str] = &[
    "log",
    "logs",
    "trace",
    "traces",
    "trajectory",
    "trajectories",
    "transcript",
    "transcripts",
    "session",
    "sessions",
];
/// How deep these folders are searched.
const MAX_DEPTH: usize = 8;
/// Files of these folders that are looked at.
const MAX_FILES: usize = 2_000;
/// Bytes of a file that are looked at to tell whether it is a log.
const LOG_HEAD: u64 = 64 << 10;
/// Bytes at the start of a trace in which its ids are looked for.
const TRACE_HEAD: u64 = 256 << 10;
/// Messages of a known role, which data sets hold too: in a folder of logs that is no sign of a session.
const ANYBODYS: &str = "chat";

/// What lies in a run besides its traces.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Sessions {
    /// Sessions of this run.
    pub(crate) own: Vec<TraceInput>,
    /// Logs of whatever run, not to be read.
    pub(crate) unread: Vec<TraceInput>,
}

/// Looks for session logs besides the traces that were `found`.
pub(crate) fn besides(
    run: &RunDir,
    found: &[TraceInput],
    ignored: &[String],
    notes: &mut Vec<String>,
) -> Sessions {
    let mut sessions = Sessions::default();
    let known: BTreeSet<&str> = found.iter().map(|trace| trace.label.as_str()).collect();
    let ids = ids_of(found);
    for (label, in_agents_folder) in candidates(run, ignored, notes) {
        if known.contains(label.as_str()) {
            continue;
        }
        let path = run.path.join(&label);
        let head = File::open(&path).and_then(|file| head_of(file, LOG_HEAD));
        let format = head.ok().and_then(|head| format_of(&head));
        if format.is_none_or(|format| format == ANYBODYS && !in_agents_folder) {
            continue;
        }
        let own = uuids(&label).any(|id| ids.iter().any(|head| head.contains(id)));
        let input = TraceInput {
            path,
            label,
            role: TraceRole::Trace,
        };
        match own {
            true => sessions.own.push(input),
            false => sessions.unread.push(input),
        }
    }
    sessions
}

/// The starts of the traces, where their ids stand.
fn ids_of(found: &[TraceInput]) -> Vec<String> {
    let traces = found.iter().filter(|trace| trace.role == TraceRole::Trace);
    let heads = traces.filter_map(|trace| {
        let head = head_of(File::open(&trace.path).ok()?, TRACE_HEAD).ok()?;
        Some(String::from_utf8_lossy(&head).into_owned())
    });
    heads.collect()
}

/// The names of folders and files in a path that are, or end in, an id.
fn uuids(label: &str) -> impl Iterator<Item = &str> {
    const LENGTH: usize = 36;
    label.split('/').filter_map(|part| {
        let stem = part.split('.').next()?;
        let id = stem.get(stem.len().checked_sub(LENGTH)?..)?;
        traces::is_uuid(id).then_some(id)
    })
}

/// Files that may be logs, by their place and name, sorted; with whether an agent keeps its sessions there.
fn candidates(run: &RunDir, ignored: &[String], notes: &mut Vec<String>) -> Vec<(String, bool)> {
    let root = traces::session_names(
        run,
        &|name| ignored.iter().any(|i| i == name),
        &mut Vec::new(),
    );
    let mut all: Vec<(String, bool)> = root
        .unwrap_or_default()
        .into_iter()
        .filter(|name| {
            run.path
                .join(name)
                .symlink_metadata()
                .is_ok_and(|meta| meta.is_file())
        })
        .map(|name| (name, false))
        .collect();
    let mut left = MAX_FILES;
    let folders = AGENT_FOLDERS.iter().map(|folder| (folder, true));
    for (folder, of_agent) in folders.chain(LOG_FOLDERS.iter().map(|folder| (folder, false))) {
        let first = folder.split('/').next().unwrap_or(folder);
        if ignored.iter().any(|name| name == first) || !is_real_folder(&run.path, folder) {
            continue;
        }
        let walk = WalkDir::new(run.path.join(folder))
            .max_depth(MAX_DEPTH)
            .sort_by_file_name();
        let files = walk
            .into_iter()
            .flatten()
            .filter(|entry| entry.file_type().is_file());
        for entry in files {
            let name = entry.file_name().to_string_lossy();
            let wanted = match of_agent {
                true => is_data(&name),
                false => {
                    traces::is_runner_file(&name)
                        || traces::is_session_name(&name)
                        || traces::is_shared_name(&name)
                }
            };
            if !wanted || artefacts::is_evaluator_artefact(&name) {
                continue;
            }
            if left == 0 {
                notes.push(format!(
                    "the run directory holds more than {MAX_FILES} files that may be session logs; the others were not looked at"
                ));
                return all;
            }
            left -= 1;
            if let Some(label) = entry
                .path()
                .strip_prefix(&run.path)
                .ok()
                .and_then(Path::to_str)
            {
                all.push((label.to_owned(), of_agent));
            }
        }
    }
    all
}

/// True for a folder of the run that no link stands in the way of.
fn is_real_folder(run: &Path, folder: &str) -> bool {
    let mut path = run.to_owned();
    folder.split('/').all(|part| {
        path.push(part);
        path.symlink_metadata().is_ok_and(|meta| meta.is_dir())
    })
}

/// True for the endings of session files, compressed or not.
fn is_data(name: &str) -> bool {
    let name = traces::unpacked_name(name);
    name.ends_with(".jsonl") || name.ends_with(".json")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const ID: &str = "808c9c5f-78a9-406b-8436-ac4bd9e45d22";
    const OTHER: &str = "11111111-78a9-406b-8436-ac4bd9e45d22";

    fn stream(id: &str) -> String {
        format!(
            r#"{{"type":"system","subtype":"init","session_id":"{id}","tools":["Bash"],"uuid":"u"}}"#
        )
    }

    fn session(id: &str) -> String {
        format!(
            r#"{{"parentUuid":null,"sessionId":"{id}","type":"user","uuid":"u","message":{{"role":"user","content":"x"}}}}"#
        )
    }

    fn labels(files: &[(String, String)]) -> (Vec<String>, Vec<String>) {
        let dir = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let run = RunDir::open(dir.path()).unwrap();
        let mut notes = Vec::new();
        let found = traces::find(&run, &[], &mut notes).unwrap();
        let sessions = besides(&run, &found, &[], &mut notes);
        let label = |inputs: Vec<TraceInput>| inputs.into_iter().map(|input| input.label).collect();
        (label(sessions.own), label(sessions.unread))
    }

    #[test]
    fn a_session_of_the_run_is_read_and_any_other_is_named() {
        let own = format!(".claude/projects/-w/{ID}.jsonl");
        let child = format!(".claude/projects/-w/{ID}/subagents/agent-1.jsonl");
        let other = format!(".claude/projects/-w/{OTHER}.jsonl");
        let rollout =
            format!(".codex/sessions/2026/01/02/rollout-2026-01-02T03-04-05-{OTHER}.jsonl");
        let codex = r#"{"timestamp":"t","type":"session_meta","payload":{"id":"x"}}"#.to_owned();
        let (read, unread) = labels(&[
            ("claude_run.jsonl".to_owned(), stream(ID)),
            ("session.jsonl".to_owned(), session(OTHER)),
            ("logs/claude_run.jsonl".to_owned(), stream(OTHER)),
            ("logs/steps.jsonl".to_owned(), stream(OTHER)),
            (own.clone(), session(ID)),
            (child.clone(), session(ID)),
            (other.clone(), session(OTHER)),
            (rollout.clone(), codex),
        ]);
        assert_eq!(read, [child, own]);
        assert_eq!(
            unread,
            ["session.jsonl", &other, &rollout, "logs/claude_run.jsonl"]
        );
    }

    #[test]
    fn what_is_no_log_is_neither() {
        let none = labels(&[
            ("claude_run.jsonl".to_owned(), stream(ID)),
            ("output.jsonl".to_owned(), r#"{"loss":0.5}"#.to_owned()),
            (
                "logs/events.jsonl".to_owned(),
                r#"{"role":"user","content":"a data set"}"#.to_owned(),
            ),
            (".claude/settings.json".to_owned(), "{}".to_owned()),
            (
                ".claude/projects/notes.jsonl".to_owned(),
                "{\"a\":1}".to_owned(),
            ),
            ("tests/data/session.jsonl".to_owned(), session(OTHER)),
        ]);
        assert_eq!(none, (vec![], vec![]));
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        let outside = dir.path().join("outside");
        fs::create_dir_all(outside.join("projects")).unwrap();
        fs::write(outside.join("projects/session.jsonl"), session(OTHER)).unwrap();
        fs::create_dir_all(run.join(".codex/sessions")).unwrap();
        let link = |to: &Path, name: &str| std::os::unix::fs::symlink(to, run.join(name)).unwrap();
        link(&outside, ".claude");
        link(
            &outside.join("projects/session.jsonl"),
            ".codex/sessions/session.jsonl",
        );
        link(&outside.join("projects/session.jsonl"), "session.jsonl");
        let run = RunDir::open(&run).unwrap();
        assert_eq!(
            besides(&run, &[], &[], &mut Vec::new()),
            Sessions::default()
        );
    }
}
