//! Sweeps from outside: the same bytes in every way, what happens when something breaks, what hostile
//! names can do.
//!
//! The size for measuring is made by hand:
//!
//! ```text
//! TRACE_AUDIT_SWEEP=/tmp/sweep TRACE_AUDIT_RUNS=2000 TRACE_AUDIT_KB=1000 \
//!     cargo test --test sweep -- --ignored generate
//! ```

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::print_stderr,
    clippy::string_slice,
    clippy::too_many_lines,
    missing_docs,
    unreachable_pub,
    dead_code,
    reason = "tests may stop at the first surprise; not every system runs all of them"
)]

mod across;
mod generate;
mod hostile;
mod interrupted;
mod names;
mod same;

use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use generate::Bench;
use tempfile::TempDir;

/// An experiment with a cache beside it.
pub struct Stage {
    pub root: TempDir,
    pub bench: Bench,
}

impl Stage {
    /// `tasks` tasks with `runs` runs together.
    pub fn new(tasks: usize, runs: usize, kilobytes: usize) -> Self {
        let root = TempDir::new().unwrap();
        let bench = Bench::new(root.path());
        bench.fill(tasks, runs, kilobytes, 5);
        Self { root, bench }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    /// `sweep` of all experiments with a cache of its own.
    pub fn sweep(&self, args: &[&str]) -> Output {
        let experiments = self.bench.experiments();
        let mut all = vec!["sweep", experiments.to_str().unwrap()];
        all.extend(args);
        self.run(&all)
    }

    pub fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_trace-audit"));
        command
            .args(args)
            .current_dir(self.root.path())
            .env("XDG_CACHE_HOME", self.path("cache"));
        command
    }

    /// Files in the cache.
    pub fn cached(&self) -> Vec<PathBuf> {
        files(&self.path("cache"))
    }
}

/// All files below a directory that have their final name.
pub fn files(dir: &Path) -> Vec<PathBuf> {
    let all = walkdir::WalkDir::new(dir).sort_by_file_name();
    let all = all
        .into_iter()
        .flatten()
        .filter(|e| e.file_type().is_file());
    let all = all.filter(|e| e.path().extension().is_none());
    all.map(walkdir::DirEntry::into_path).collect()
}

pub fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

pub fn stdout(output: &Output) -> String {
    text(&output.stdout)
}

pub fn stderr(output: &Output) -> String {
    text(&output.stderr)
}

#[test]
#[ignore = "makes gigabytes; run by hand, see the head of this file"]
fn generate() {
    let number = |name: &str, usual: usize| {
        std::env::var(name).map_or(usual, |value| value.parse().expect(name))
    };
    let dir = std::env::var("TRACE_AUDIT_SWEEP").expect("TRACE_AUDIT_SWEEP names a directory");
    let tasks = number("TRACE_AUDIT_TASKS", 62);
    let bench = Bench::new(Path::new(&dir));
    bench.fill(
        tasks,
        number("TRACE_AUDIT_RUNS", 2_000),
        number("TRACE_AUDIT_KB", 1_000),
        50,
    );
}
