//! What the tests on real benchmark data share: finding the data, rebuilding a starter tree from a
//! patch, laying out a benchmark, running the program.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr
)]
#![allow(
    dead_code,
    unreachable_pub,
    reason = "each test file uses a part of this"
)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;
use trace_audit::patch::model::{FileStatus, LineKind, Patch};

/// The directory of real benchmark data beside the checkout, or a printed remark that it is absent.
pub fn shared(what: &str) -> Option<PathBuf> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data")
        .join(what);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {what} is not beside this checkout");
    None
}

/// The old version of every file of a patch, as far as its hunks show it: context and removed lines
/// at their places, invented lines between them.
pub fn starter_tree(patch: &Patch) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut tree = BTreeMap::new();
    for file in &patch.files {
        if matches!(file.status, FileStatus::Added | FileStatus::Copied) {
            continue;
        }
        let Some(path) = &file.old_path else { continue };
        if file.binary {
            // The patch does not hold what was there, only that something was.
            tree.insert(PathBuf::from(path.to_string()), b"\0before\n".to_vec());
            continue;
        }
        let mut lines: Vec<Vec<u8>> = Vec::new();
        let mut final_newline = true;
        for hunk in &file.hunks {
            while lines.len() + 1 < hunk.old_start as usize {
                lines.push(format!("filler {} of {path}", lines.len() + 1).into_bytes());
            }
            for line in hunk.lines.iter().filter(|l| l.kind != LineKind::Added) {
                lines.push(line.text.to_vec());
                final_newline = !line.no_newline;
            }
        }
        let mut bytes = lines.join(&b'\n');
        if final_newline && !lines.is_empty() {
            bytes.push(b'\n');
        }
        tree.insert(PathBuf::from(path.to_string()), bytes);
    }
    tree
}

/// Writes files below `root`.
pub fn write_tree(root: &Path, tree: &BTreeMap<PathBuf, Vec<u8>>) {
    for (path, bytes) in tree {
        write(&root.join(path), bytes);
    }
}

/// Writes one file and the directories above it.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, bytes).unwrap();
}

/// A benchmark in a temporary directory: `base_repo/` and `experiment/`.
pub struct Benchmark {
    pub root: TempDir,
}

impl Benchmark {
    pub fn new() -> Self {
        Self {
            root: TempDir::new().unwrap(),
        }
    }

    pub fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    /// Copies a real task's GT, lists and prompts, and puts a rebuilt starter tree beside them.
    pub fn add_real_task(&self, data: &Path, task: &str) -> Patch {
        let from = data.join("base_repo").join(task);
        let to = self.path("base_repo").join(task);
        for folder in ["eval", "prompts"] {
            for entry in fs::read_dir(from.join(folder)).unwrap() {
                let entry = entry.unwrap();
                write(
                    &to.join(folder).join(entry.file_name()),
                    fs::read(entry.path()).unwrap(),
                );
            }
        }
        fs::copy(data.join("task_facts.tsv"), self.path("task_facts.tsv")).unwrap();
        let gt = trace_audit::patch::parse(&fs::read(from.join("eval/gt_diff.patch")).unwrap());
        write_tree(&to.join("repo"), &starter_tree(&gt));
        gt
    }

    /// A run directory that holds the starter tree.
    pub fn add_run(&self, task: &str, run: &str) -> PathBuf {
        let from = self.path("base_repo").join(task).join("repo");
        let to = self.path("experiment").join(run);
        copy_tree(&from, &to);
        to
    }

    /// Applies the task's GT to a run with git, which is not our code.
    pub fn apply_gt(&self, task: &str, run: &Path) {
        let patch = self.path("base_repo").join(task).join("eval/gt_diff.patch");
        let status = Command::new("git")
            .args(["apply", "--whitespace=nowarn"])
            .arg(&patch)
            .current_dir(run)
            .env("GIT_CEILING_DIRECTORIES", run.parent().unwrap())
            .status()
            .unwrap();
        assert!(status.success(), "git apply of {} failed", patch.display());
    }

    /// Audits a run; returns exit code and the JSON of the run.
    pub fn audit(&self, run: &Path, more: &[&str]) -> (i32, Value) {
        let facts = self.path("task_facts.tsv");
        let mut args = vec!["--format".to_owned(), "json".to_owned()];
        if facts.exists() {
            args.extend(["--facts".to_owned(), facts.display().to_string()]);
        }
        args.extend(more.iter().map(|s| (*s).to_owned()));
        args.push(run.display().to_string());
        let output = trace_audit(&args);
        let code = output.status.code().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|error| {
            panic!(
                "no JSON ({error}), exit {code}: {}",
                String::from_utf8_lossy(&output.stderr)
            )
        });
        (code, report["runs"][0].clone())
    }
}

/// Copies a tree of plain files.
pub fn copy_tree(from: &Path, to: &Path) {
    for entry in walkdir::WalkDir::new(from) {
        let entry = entry.unwrap();
        if entry.file_type().is_file() {
            let relative = entry.path().strip_prefix(from).unwrap();
            write(&to.join(relative), fs::read(entry.path()).unwrap());
        }
    }
}

/// Runs the program.
pub fn trace_audit(args: &[String]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trace-audit"))
        .args(args)
        .output()
        .unwrap()
}

/// Names of a JSON array of strings.
pub fn strings(value: &Value) -> Vec<&str> {
    value
        .as_array()
        .map(|a| a.iter().filter_map(Value::as_str).collect())
        .unwrap_or_default()
}

/// Runs `f` on all items, on two threads, and returns the results in order.
pub fn parallel<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let results = std::sync::Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some(item) = items.get(at) else { break };
                    let result = f(item);
                    results.lock().unwrap().push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().unwrap();
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

/// `text` is what stands in `docs/`; with `UPDATE_DOCS=1` it is put there.
pub fn is_documented(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("docs")
        .join(name);
    if std::env::var_os("UPDATE_DOCS").is_some() {
        fs::write(&path, text).unwrap();
    }
    let there = fs::read_to_string(&path).unwrap_or_default();
    if let Some((number, (want, got))) = (1..)
        .zip(text.lines().zip(there.lines()))
        .find(|(_, (a, b))| a != b)
    {
        panic!(
            "docs/{name}:{number} is out of date (UPDATE_DOCS=1 writes it anew)\n  now: {want}\n  there: {got}"
        );
    }
    assert_eq!(
        text.lines().count(),
        there.lines().count(),
        "docs/{name} is out of date"
    );
}
