//! Where a benchmark keeps its things, seen from a run directory.
//!
//! ```text
//! ROOT/base_repo/TASK/{repo,prompts,eval}     the benchmark's own: trusted, links are followed
//! ROOT/experiment/RUN                         the agent's: hostile
//! ```
//!
//! The search goes **upward from the parent** of the run, never into the run itself: a `base_repo`
//! or a configuration inside it would be the agent's.

use std::fs;
use std::path::{Path, PathBuf};

use super::guarded;
use super::name::RunName;
use super::traces;
use crate::{Error, Result};

/// How many folders above the run are searched for `base_repo` when no folder named `experiment` or
/// `experiments` shows the way.
const LEVELS: usize = 6;

/// Files by which a directory shows that a harness ran an agent in it.
const MARKERS: &[&str] = &[
    "run_metadata.json",
    "experiment_meta.json",
    "run_info.json",
    "TASK_PROMPT.md",
];

/// True when a harness left its marks in the directory.
pub(crate) fn has_run_marks(dir: &Path) -> bool {
    MARKERS
        .iter()
        .any(|name| dir.join(name).symlink_metadata().is_ok())
        || traces::has_runner_trace(dir)
}

/// True when a directory is meant as a run, by its marks or by its name.
pub(crate) fn is_run_like(dir: &Path) -> bool {
    let name = dir
        .file_name()
        .map(|n| n.to_string_lossy())
        .unwrap_or_default();
    RunName::parse(&name).is_run_like() || has_run_marks(dir)
}

/// Where a search upward may begin: `dir` itself, or, when `dir` lies in a run, the folder that holds
/// that run.
pub(crate) fn search_start(dir: &Path) -> Option<&Path> {
    let outermost = dir.ancestors().filter(|a| has_run_marks(a)).last();
    match outermost {
        Some(run) => run.parent(),
        None => Some(dir),
    }
}

/// Where a search upward from a run may begin: its parent; for a directory that does not look like a
/// run and may lie in one, as [`search_start`].
pub(crate) fn search_start_of_run(run: &Path) -> Option<&Path> {
    let parent = run.parent()?;
    if is_run_like(run) {
        Some(parent)
    } else {
        search_start(parent)
    }
}

/// The benchmark's `base_repo` folder: `named` (by a flag or the configuration: the folder itself or
/// the one that holds it), else the one found above `start`; `None` when there is none.
///
/// # Errors
/// When `named` is not there, is no directory or may not be entered.
pub(crate) fn base_repo(named: Option<&Path>, starts: &[&Path]) -> Result<Option<PathBuf>> {
    match named {
        Some(dir) => named_base_repo(dir).map(Some),
        None => Ok(starts.iter().find_map(|start| search_base_repo(start))),
    }
}

fn named_base_repo(dir: &Path) -> Result<PathBuf> {
    let fix = "name the folder `base_repo` of the benchmark, or the one that holds it";
    let meta = fs::metadata(dir).map_err(|e| guarded::unreadable(dir, &e, fix))?;
    if !meta.is_dir() {
        return Err(Error::BadData {
            path: dir.to_owned(),
            line: None,
            what: "no directory".to_owned(),
            fix: fix.to_owned(),
        });
    }
    let inner = dir.join("base_repo");
    Ok(if inner.is_dir() {
        inner
    } else {
        dir.to_owned()
    })
}

/// Looks beside the nearest folder named `experiment` or `experiments` at or above `start`, then in
/// `start` and the folders above it.
fn search_base_repo(start: &Path) -> Option<PathBuf> {
    let beside = start.ancestors().find(|a| {
        a.file_name()
            .is_some_and(|n| n == "experiment" || n == "experiments")
    });
    let beside = beside.and_then(Path::parent);
    beside
        .into_iter()
        .chain(start.ancestors().take(LEVELS))
        .map(|dir| dir.join("base_repo"))
        .find(|dir| dir.is_dir())
}

/// The children of a directory that look like runs, sorted by name; at most `limit` are returned.
/// Folders named `experiment` and `experiments` are looked into as well.
pub(crate) fn runs_inside(dir: &Path, limit: usize) -> Vec<PathBuf> {
    let mut children = Vec::new();
    for folder in [
        dir.to_owned(),
        dir.join("experiment"),
        dir.join("experiments"),
    ] {
        // A folder that cannot be read shows no runs.
        let entries = fs::read_dir(&folder).into_iter().flatten();
        children.extend(entries.flatten().map(|entry| entry.path()));
    }
    children.sort();
    children.retain({
        // Each look costs a few system calls: no more than are asked for.
        let mut left = limit;
        move |path| {
            let is_run = left > 0 && path.is_dir() && is_run_like(path);
            left -= usize::from(is_run);
            is_run
        }
    });
    children
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes the directories and returns the root.
    fn tree(dirs: &[&str]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for dir in dirs {
            fs::create_dir_all(root.path().join(dir)).unwrap();
        }
        root
    }

    #[test]
    fn base_repo_is_found_above_the_run() {
        for (dirs, start, want) in [
            (
                &["base_repo", "experiment"][..],
                "experiment",
                Some("base_repo"),
            ),
            (
                &["base_repo", "experiments/a/b/c/d/e/f"],
                "experiments/a/b/c/d/e/f",
                Some("base_repo"),
            ),
            (&["base_repo", "a/b/c/d/e"], "a/b/c/d/e", Some("base_repo")),
            (&["base_repo", "a/b/c/d/e/f"], "a/b/c/d/e/f", None),
            (&["base_repo", "runs"], "runs", Some("base_repo")),
            (
                &["base_repo", "experiment/base_repo"],
                "experiment",
                Some("base_repo"),
            ),
            (&["runs"], "runs", None),
        ] {
            let root = tree(dirs);
            let found = base_repo(None, &[&root.path().join(start)]).unwrap();
            let found = found.map(|p| p.strip_prefix(root.path()).unwrap().to_owned());
            assert_eq!(found, want.map(PathBuf::from), "{dirs:?} from {start}");
        }
    }

    #[test]
    fn base_repo_by_name() {
        let root = tree(&["bench/base_repo/T1", "other/T1"]);
        let at = |p: &str| root.path().join(p);
        for (given, want) in [
            ("bench", "bench/base_repo"),
            ("bench/base_repo", "bench/base_repo"),
            ("other", "other"),
        ] {
            assert_eq!(base_repo(Some(&at(given)), &[]).unwrap(), Some(at(want)));
        }
        fs::write(at("file"), "").unwrap();
        assert_eq!(
            base_repo(Some(&at("none")), &[]).unwrap_err().exit_code(),
            66
        );
        assert_eq!(
            base_repo(Some(&at("file")), &[]).unwrap_err().exit_code(),
            65
        );
    }

    #[test]
    fn a_search_never_begins_inside_a_run() {
        let root = tree(&["experiment/run/inner/deep", "plain"]);
        let at = |p: &str| root.path().join(p);
        assert_eq!(search_start(&at("plain")), Some(at("plain").as_path()));
        fs::write(at("experiment/run/claude_run.jsonl"), "").unwrap();
        fs::write(at("experiment/run/inner/TASK_PROMPT.md"), "").unwrap();
        for inside in [
            "experiment/run",
            "experiment/run/inner",
            "experiment/run/inner/deep",
        ] {
            assert_eq!(search_start(&at(inside)), Some(at("experiment").as_path()));
        }
        let deep = at("experiment/run/inner/deep");
        assert_eq!(search_start_of_run(&deep), Some(at("experiment").as_path()));
        // A trace that somebody left in the root of the benchmark does not hide the benchmark from a
        // run that is one.
        fs::write(at("claude_run.jsonl"), "").unwrap();
        let run = at("experiment/run");
        assert_eq!(search_start_of_run(&run), run.parent());
    }

    #[test]
    fn runs_are_seen_by_name_or_marks() {
        let root = tree(&[
            "experiment/T2-codex-long-20260418",
            "experiment/T1-x-short",
            "experiment/other",
            "experiment/marked",
        ]);
        fs::write(
            root.path().join("experiment/marked/run_metadata.json"),
            "{}",
        )
        .unwrap();
        fs::write(root.path().join("experiment/T9-codex-long"), "a file").unwrap();
        let names = |dir: &Path| -> Vec<String> {
            runs_inside(dir, 9)
                .iter()
                .map(|p| p.file_name().unwrap().to_string_lossy().into_owned())
                .collect()
        };
        let want = ["T1-x-short", "T2-codex-long-20260418", "marked"];
        assert_eq!(names(&root.path().join("experiment")), want);
        assert_eq!(names(root.path()), want);
        assert_eq!(runs_inside(root.path(), 1).len(), 1);
    }
}
