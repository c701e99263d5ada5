//! What the harness wrote down about a run: `run_metadata.json`, `experiment_meta.json`,
//! `run_info.json`.
//!
//! The files lie where the agent could edit them, and several scripts wrote them over time. So every
//! value is a **hint**: read within limits, checked for its form, never opened as a path, and
//! reported when two files disagree. A wrong type costs one value, a broken file costs that file.

use std::collections::BTreeMap;

use serde_json::Value;

use super::date::normalise_date;
use super::guarded::{Content, RunDir};
use super::wording::show;

/// The files in the order of their weight: the first that has a value decides.
const FILES: &[&str] = &["run_metadata.json", "experiment_meta.json", "run_info.json"];

/// Largest metadata file that is read, in bytes.
const LIMIT: u64 = 1 << 20;

/// Longest value that is taken, in bytes.
const VALUE_LIMIT: usize = 1024;

/// What the metadata files say, each value as far as they have it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// Task id (`task_id`, `task`).
    pub task: Option<String>,
    /// Prompt variant (`prompt_type`).
    pub prompt_variant: Option<String>,
    /// The agent's configuration (`config`, `agent_name`), as written.
    pub config: Option<String>,
    /// The agent's program (`agent`), such as `claude-code`.
    pub agent: Option<String>,
    /// The model.
    pub model: Option<String>,
    /// Day of the run, `YYYY-MM-DD` (`run_date`, `date`).
    pub date: Option<String>,
    /// Task id that the path in `prompt_file` names; its last components are looked at, nothing else.
    pub prompt_file_task: Option<String>,
    /// Prompt variant that the path in `prompt_file` names.
    pub prompt_file_variant: Option<String>,
    /// Names of the files that were found.
    pub files: Vec<&'static str>,
    /// What could not be read or contradicts itself, in words.
    pub notes: Vec<String>,
}

impl Metadata {
    /// Reads the metadata files of a run.
    pub fn read(run: &RunDir) -> Self {
        let mut this = Self::default();
        for file in FILES {
            match run.read(file, LIMIT) {
                Content::Absent => {}
                Content::Refused(why) => {
                    this.notes.push(format!("`{file}` was not read: it {why}"))
                }
                Content::Bytes(bytes) => {
                    this.files.push(file);
                    this.add(file, &bytes);
                }
            }
        }
        this
    }

    /// Takes the values of one file; what an earlier file said stays.
    fn add(&mut self, file: &'static str, bytes: &[u8]) {
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let object: BTreeMap<String, Value> = match serde_json::from_slice(bytes) {
            Ok(object) => object,
            Err(e) => {
                self.notes
                    .push(format!("`{file}` is no JSON object that can be read ({e})"));
                return;
            }
        };
        let mut get = |keys: &[&str]| {
            keys.iter()
                .find_map(|key| text_of(file, key, object.get(*key)?, &mut self.notes))
        };
        let task = get(&["task_id", "task"]);
        let variant = get(&["prompt_type"]);
        let config = get(&["config", "agent_name"]);
        let agent = get(&["agent"]);
        let model = get(&["model"]);
        let date = get(&["run_date", "date"]);
        let prompt_file = get(&["prompt_file"]);

        let notes = &mut self.notes;
        let task = task.filter(|t| accept(file, "task", t, is_task_id(t), notes));
        let variant = variant.filter(|v| accept(file, "prompt type", v, is_variant(v), notes));
        let day = date.as_deref().and_then(normalise_date);
        if let Some(date) = &date {
            accept(file, "date", date, day.is_some(), notes);
        }
        let (prompt_task, prompt_variant) =
            prompt_file.as_deref().map(prompt_hint).unwrap_or_default();
        for (what, slot, new) in [
            ("task", &mut self.task, task),
            ("prompt type", &mut self.prompt_variant, variant),
            ("configuration", &mut self.config, config),
            ("agent", &mut self.agent, agent),
            ("model", &mut self.model, model),
            ("date", &mut self.date, day),
            (
                "task of the prompt file",
                &mut self.prompt_file_task,
                prompt_task,
            ),
            (
                "type of the prompt file",
                &mut self.prompt_file_variant,
                prompt_variant,
            ),
        ] {
            merge(file, what, slot, new, notes);
        }
    }
}

/// Keeps the first value and reports a different second one.
fn merge(
    file: &str,
    what: &str,
    slot: &mut Option<String>,
    new: Option<String>,
    notes: &mut Vec<String>,
) {
    match (&slot, new) {
        (None, new) => *slot = new,
        (Some(old), Some(new)) if *old != new => notes.push(format!(
            "the metadata files disagree on the {what}: {}, then {} in `{file}`; the first is used",
            show(old),
            show(&new)
        )),
        _ => {}
    }
}

/// `ok`, with a note when it is not.
fn accept(file: &str, what: &str, value: &str, ok: bool, notes: &mut Vec<String>) -> bool {
    if !ok {
        notes.push(format!("`{file}`: {} is no {what}; ignored", show(value)));
    }
    ok
}

/// A value as text: strings trimmed, numbers as written; anything else is reported and ignored.
fn text_of(file: &str, key: &str, value: &Value, notes: &mut Vec<String>) -> Option<String> {
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Null => return None,
        Value::Bool(_) | Value::Array(_) | Value::Object(_) => {
            notes.push(format!("`{file}`: `{key}` is no text; ignored"));
            return None;
        }
    };
    if text.len() > VALUE_LIMIT {
        notes.push(format!(
            "`{file}`: `{key}` is longer than {VALUE_LIMIT} bytes; ignored"
        ));
        return None;
    }
    if text.chars().any(char::is_control) {
        notes.push(format!(
            "`{file}`: `{key}` holds control characters ({}); ignored",
            show(&text)
        ));
        return None;
    }
    (!text.is_empty()).then_some(text)
}

/// What a text must look like to be used as a task id: letters, digits, `.`, `_`, `-`, at most 128,
/// first a letter or digit. It becomes part of a path, so nothing that could leave a folder is one.
pub fn is_task_id(text: &str) -> bool {
    is_plain_word(text, 128)
}

/// What a text must look like to be used as a prompt variant; as [`is_task_id`], at most 32.
pub fn is_variant(text: &str) -> bool {
    is_plain_word(text, 32)
}

fn is_plain_word(text: &str, limit: usize) -> bool {
    text.len() <= limit
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
        && text
            .bytes()
            .next()
            .is_some_and(|b| b.is_ascii_alphanumeric())
        && !text.contains("..")
}

/// Task and variant that a prompt path names: in `…/T01/prompts/T01-long.md`, the folder above
/// `prompts`, and what follows the task in the file's name. The path is of another machine.
fn prompt_hint(path: &str) -> (Option<String>, Option<String>) {
    let mut parts = path.rsplit(['/', '\\']);
    let file = parts.next().unwrap_or_default();
    if parts.next() != Some("prompts") {
        return (None, None);
    }
    let Some(task) = parts.next().filter(|t| is_task_id(t)) else {
        return (None, None);
    };
    let variant = file
        .strip_prefix(task)
        .and_then(|rest| rest.strip_prefix('-'))
        .and_then(|rest| rest.strip_suffix(".md"))
        .filter(|v| is_variant(v));
    (Some(task.to_owned()), variant.map(str::to_owned))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(files: &[(&str, &[u8])]) -> Metadata {
        let dir = tempfile::tempdir().unwrap();
        for (name, bytes) in files {
            std::fs::write(dir.path().join(name), bytes).unwrap();
        }
        Metadata::read(&RunDir::open(dir.path()).unwrap())
    }

    #[test]
    fn the_keys_of_each_writer() {
        let m = read(&[(
            "run_metadata.json",
            br#"{"task_id":"T01","prompt_type":"long","agent":"claude-code","model":"opus",
                 "config":"claude-opus-max","run_date":"2026-04-14","effort":"max",
                 "prompt_file":"/home/me/base_repo/T01/prompts/T01-long.md"}"#,
        )]);
        assert_eq!(m.task.as_deref(), Some("T01"));
        assert_eq!(m.prompt_variant.as_deref(), Some("long"));
        assert_eq!(m.config.as_deref(), Some("claude-opus-max"));
        assert_eq!(m.agent.as_deref(), Some("claude-code"));
        assert_eq!(m.model.as_deref(), Some("opus"));
        assert_eq!(m.date.as_deref(), Some("2026-04-14"));
        assert_eq!(m.prompt_file_task.as_deref(), Some("T01"));
        assert_eq!(m.prompt_file_variant.as_deref(), Some("long"));
        assert!(m.notes.is_empty(), "{:?}", m.notes);

        let m = read(&[(
            "experiment_meta.json",
            br#"{"task":"C1","prompt_type":"short","date":20260418,"agent":"codex","status":"prepared"}"#,
        )]);
        assert_eq!(m.task.as_deref(), Some("C1"));
        assert_eq!(m.date.as_deref(), Some("2026-04-18"));

        let m = read(&[(
            "run_info.json",
            br#"{"run_id":7,"task_id":"K1","prompt_type":"long","agent_name":"codex"}"#,
        )]);
        assert_eq!(m.config.as_deref(), Some("codex"));
        assert_eq!(m.files, ["run_info.json"]);
    }

    #[test]
    fn disagreements_are_reported_and_the_first_file_decides() {
        let m = read(&[
            (
                "run_metadata.json",
                br#"{"task_id":"T01","run_date":"20260414"}"#,
            ),
            (
                "run_info.json",
                br#"{"task_id":"T02","date":"2026-04-14","agent_name":"x"}"#,
            ),
        ]);
        assert_eq!(m.task.as_deref(), Some("T01"));
        assert_eq!(m.config.as_deref(), Some("x"));
        assert_eq!(m.notes.len(), 1, "{:?}", m.notes);
        assert!(m.notes[0].contains("`T01`") && m.notes[0].contains("`T02`"));
    }

    #[test]
    fn wrong_types_cost_one_value_and_broken_files_one_file() {
        let m = read(&[
            (
                "run_metadata.json",
                br#"{"task_id":["T01"],"task":"T02","prompt_type":null,"model":{},"date":"soon"}"#,
            ),
            ("experiment_meta.json", b"{\"task\":"),
            ("run_info.json", b"[1,2]"),
        ]);
        assert_eq!(m.task.as_deref(), Some("T02"));
        assert_eq!(m.prompt_variant, None);
        assert_eq!(m.date, None);
        assert_eq!(m.notes.len(), 5, "{:?}", m.notes);
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let m = read(&[("run_info.json", format!("{{\"x\":{deep}}}").as_bytes())]);
        assert_eq!(m.notes.len(), 1);
        let m = read(&[("run_info.json", &vec![b' '; (1 << 20) + 1])]);
        assert!(m.notes[0].contains("larger than"), "{:?}", m.notes);
    }

    #[test]
    fn control_characters_are_refused() {
        let m = read(&[(
            "run_info.json",
            br#"{"agent_name":"a\u001b[31m","model":"b\nc"}"#,
        )]);
        assert_eq!((m.config, m.model), (None, None));
        assert_eq!(m.notes.len(), 2, "{:?}", m.notes);
        assert!(m.notes.iter().all(|n| !n.contains(char::is_control)));
    }

    #[test]
    fn nothing_in_metadata_can_point_elsewhere() {
        for task in [
            "../../etc",
            "/etc",
            "a/b",
            "..",
            ".",
            "a..b",
            "",
            " ",
            "-x",
            "T1\n",
            "Т1",
        ] {
            assert!(!is_task_id(task), "{task:?}");
            let json = serde_json::json!({"task_id": task, "prompt_type": task}).to_string();
            let m = read(&[("run_metadata.json", json.as_bytes())]);
            // `T1\n` is trimmed to a good id; everything else is refused.
            assert_eq!(m.task.is_some(), task.trim() == "T1", "{task:?}");
        }
        for (path, task, variant) in [
            (
                "/x/base_repo/T01/prompts/T01-long.md",
                Some("T01"),
                Some("long"),
            ),
            (
                "C:\\b\\T01\\prompts\\T01-short.md",
                Some("T01"),
                Some("short"),
            ),
            ("T01/prompts/T02-long.md", Some("T01"), None),
            ("prompts/T01-long.md", None, None),
            ("/x/../prompts/x.md", None, None),
            ("/x/T01/T01-long.md", None, None),
            ("/x/T01/prompts/T01-a/../b.md", None, None),
            ("/x/T01/prompts/", Some("T01"), None),
            ("", None, None),
        ] {
            let hint = prompt_hint(path);
            assert_eq!(
                (hint.0.as_deref(), hint.1.as_deref()),
                (task, variant),
                "{path}"
            );
        }
    }

    proptest! {
        #[test]
        fn no_content_panics(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let mut m = Metadata::default();
            m.add("run_metadata.json", &bytes);
        }
    }
}
