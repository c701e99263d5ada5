//! Is what the user named a run at all?
//!
//! A wrong argument gets one message that says what was looked for and what to write instead.

use std::fs;
use std::path::Path;

use super::guarded::{self, RunDir};
use super::layout;
use super::name::RunName;
use super::traces;
use super::wording::{shell_quote, show_path};
use crate::{Error, Result};

/// Opens the path that was named as a run: a directory that can be read.
///
/// # Errors
/// [`Error::InputMissing`] when it is missing or closed, [`Error::BadData`] when it is a file,
/// [`Error::Usage`] when the path is empty.
pub(crate) fn open(given: &Path) -> Result<RunDir> {
    let fix = "check the path of the run directory";
    if given.as_os_str().is_empty() {
        return Err(Error::Usage {
            what: "the path of the run directory is empty".to_owned(),
            fix: "check the variable or the quotes it came from".to_owned(),
        });
    }
    let meta = fs::metadata(given).map_err(|e| guarded::unreadable(given, &e, fix))?;
    if !meta.is_dir() {
        return Err(no_directory(given, meta.is_file()));
    }
    fs::read_dir(given).map_err(|e| guarded::unreadable(given, &e, fix))?;
    RunDir::open(given)
}

/// The error for a file where a run directory is expected.
fn no_directory(path: &Path, regular: bool) -> Error {
    let ends = |ends: &[&str]| {
        path.extension()
            .is_some_and(|e| ends.iter().any(|end| e.eq_ignore_ascii_case(end)))
    };
    let quoted = shell_quote(path);
    let fix = if regular && ends(&["patch", "diff"]) {
        format!("to audit a patch alone: --patch {quoted} --gt FILE")
    } else if regular && (ends(&["jsonl", "log"]) || traces::begins_like_json(path)) {
        format!("to audit a trace alone: --trace {quoted}")
    } else {
        "name the run directory; a trace is given with --trace, a patch with --patch".to_owned()
    };
    Error::BadData {
        path: path.to_owned(),
        line: None,
        what: "a file, where a run directory is needed".to_owned(),
        fix,
    }
}

/// Refuses a directory that is no run: one that holds runs, and one that shows no sign of any.
/// `signs` says that something of a run was found or named by a flag.
///
/// # Errors
/// [`Error::BadData`] with what to name instead.
pub(crate) fn require_run(run: &RunDir, name: &RunName, signs: bool, named: bool) -> Result<()> {
    if named || name.is_run_like() || layout::has_run_marks(&run.path) {
        return Ok(());
    }
    let inside = layout::runs_inside(&run.path, 3);
    if let Some(first) = inside.first() {
        let names: Vec<String> = inside
            .iter()
            .filter_map(|p| p.strip_prefix(&run.path).ok())
            .map(show_path)
            .collect();
        return Err(Error::BadData {
            path: run.path.clone(),
            line: None,
            what: format!(
                "not a run, but a directory that holds runs ({}, …)",
                names.join(", ")
            ),
            fix: format!("name a run, such as {}", shell_quote(first)),
        });
    }
    if signs {
        return Ok(());
    }
    let looked_for: Vec<&str> = traces::runner_traces().collect();
    Err(Error::BadData {
        path: run.path.clone(),
        line: None,
        what: format!(
            "this directory is no run: there is no trace ({}), no run_metadata.json, no \
             TASK_PROMPT.md and no .git in it, and its name is not like T34-agent-long-2026-04-14",
            looked_for.join(", ")
        ),
        fix: "name a run directory, or say what is missing: --task TASK, --trace FILE, --gt FILE"
            .to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(dir: &Path, signs: bool, named: bool) -> Result<()> {
        let run = open(dir)?;
        let name = RunName::parse(&run.name());
        require_run(&run, &name, signs, named)
    }

    #[test]
    fn files_get_the_flag_that_takes_them() {
        let root = tempfile::tempdir().unwrap();
        for (name, text, word) in [
            ("a.patch", "diff --git", "--patch '"),
            ("a.jsonl", "", "--trace '"),
            ("run.log", "x", "--trace '"),
            ("noext", " {\"type\":1}", "--trace '"),
            ("notes.md", "words", "name the run directory"),
        ] {
            let path = root.path().join(name);
            fs::write(&path, text).unwrap();
            let error = open(&path).unwrap_err();
            assert_eq!(error.exit_code(), 65);
            assert!(error.to_string().contains(word), "{name}: {error}");
        }
        assert_eq!(open(&root.path().join("none")).unwrap_err().exit_code(), 66);
        assert_eq!(open(Path::new("")).unwrap_err().exit_code(), 64);
        // Below a file there is nothing either.
        let below = root.path().join("a.patch/x");
        assert_eq!(open(&below).unwrap_err().exit_code(), 66);
    }

    #[test]
    fn directories_that_are_no_run() {
        let root = tempfile::tempdir().unwrap();
        let at = |p: &str| root.path().join(p);
        fs::create_dir_all(at("experiment/T1-codex-long-20260418")).unwrap();
        fs::create_dir_all(at("empty")).unwrap();

        let error = check(&at("empty"), false, false).unwrap_err().to_string();
        assert!(
            error.contains("is no run") && error.contains("--trace FILE"),
            "{error}"
        );
        assert!(check(&at("empty"), true, false).is_ok());
        assert!(check(&at("empty"), false, true).is_ok());

        for (dir, word) in [
            ("experiment", "(`T1-codex-long-20260418`, …)"),
            ("", "(`experiment/T1-codex-long-20260418`, …)"),
        ] {
            // Signs such as a `.git` do not make a directory of runs a run.
            let error = check(&at(dir), true, false).unwrap_err().to_string();
            assert!(error.contains(word), "{error}");
            assert!(check(&at(dir), false, true).is_ok());
        }
        assert!(check(&at("experiment/T1-codex-long-20260418"), false, false).is_ok());
        fs::write(at("experiment/run_metadata.json"), "{}").unwrap();
        assert!(check(&at("experiment"), false, false).is_ok());
    }
}
