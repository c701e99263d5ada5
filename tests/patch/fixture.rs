//! Runs and bases made with git, and what is read from them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;
use trace_audit::patch::model::{FileStatus, LineKind, Patch};
use trace_audit::patch::{AgentPatch, Base, BaseRequest, choose_base, worktree_patch};

pub(super) const TEN: &str = "one\ntwo\nthree\nfour\nfive\nsix\nseven\neight\nnine\nten\n";

/// A benchmark of one task: its starter repository and one run.
pub(super) struct Bench {
    pub(super) dir: TempDir,
}

impl Bench {
    /// A starter repository with one commit, and a copy of it as the run.
    pub(super) fn new() -> Self {
        let bench = Self {
            dir: tempfile::tempdir().unwrap(),
        };
        let base = bench.base();
        std::fs::create_dir_all(base.join("src")).unwrap();
        git(&base, &["init", "-q", "-b", "main"]);
        write(&base, ".gitignore", "build/\n*.o\n");
        write(&base, "src/a.txt", TEN);
        write(&base, "src/b.txt", "gone\n");
        write(&base, "keep.txt", "kept\n");
        commit(&base, "start");
        bench.copy_to_run();
        bench
    }

    pub(super) fn copy_to_run(&self) {
        let status = Command::new("cp")
            .arg("-r")
            .args([self.base(), self.run()])
            .status()
            .unwrap();
        assert!(status.success());
    }

    pub(super) fn base(&self) -> PathBuf {
        self.dir.path().join("base_repo")
    }

    pub(super) fn run(&self) -> PathBuf {
        self.dir.path().join("run")
    }

    /// What an agent does: one file changed, one new, one gone.
    pub(super) fn work(&self) {
        let run = self.run();
        write(&run, "src/a.txt", TEN.replace("five\n", "FIVE\n"));
        write(&run, "new.txt", "n1\nn2\n");
        std::fs::remove_file(run.join("src/b.txt")).unwrap();
    }

    pub(super) fn request<'a>(&self, run: &'a Path, base: Option<&'a Path>) -> BaseRequest<'a> {
        BaseRequest {
            run,
            given: None,
            base_repo: base,
            known_commit: None,
            gt: None,
        }
    }

    /// The base from the starter repository, and the work against it.
    pub(super) fn read(&self) -> AgentPatch {
        self.read_with(None)
    }

    pub(super) fn read_with(&self, gt: Option<&Patch>) -> AgentPatch {
        let (run, base) = (self.run(), self.base());
        let base = choose_base(&self.request(&run, Some(&base))).unwrap();
        against(&run, &base, gt)
    }
}

pub(super) fn against(run: &Path, base: &Base, gt: Option<&Patch>) -> AgentPatch {
    let exclude = ["claude_run.jsonl", "eval_report.md", ".claude"]
        .map(str::to_owned)
        .into_iter()
        .collect::<BTreeSet<_>>();
    worktree_patch(run, base, &exclude, gt).unwrap()
}

/// Path, status, added and removed lines.
pub(super) type Brief = Vec<(String, FileStatus, usize, usize)>;

pub(super) fn brief(patch: &Patch) -> Brief {
    patch
        .files
        .iter()
        .map(|f| {
            let removed = f.lines_of(LineKind::Removed).count();
            (f.path().to_string(), f.status, f.added().count(), removed)
        })
        .collect()
}

pub(super) fn entry(
    path: &str,
    status: FileStatus,
    added: usize,
    removed: usize,
) -> (String, FileStatus, usize, usize) {
    (path.to_owned(), status, added, removed)
}

/// What [`Bench::work`] must be read as.
pub(super) fn work() -> Brief {
    vec![
        entry("new.txt", FileStatus::Added, 2, 0),
        entry("src/a.txt", FileStatus::Modified, 1, 1),
        entry("src/b.txt", FileStatus::Deleted, 0, 1),
    ]
}

pub(super) fn write(dir: &Path, name: &str, content: impl AsRef<[u8]>) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

pub(super) fn git(dir: &Path, args: &[&str]) -> String {
    let out = Command::new("git")
        .args(args)
        .current_dir(dir)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_AUTHOR_NAME", "A")
        .env("GIT_AUTHOR_EMAIL", "a@example.org")
        .env("GIT_COMMITTER_NAME", "A")
        .env("GIT_COMMITTER_EMAIL", "a@example.org")
        .output()
        .unwrap();
    assert!(
        out.status.success(),
        "git {args:?}: {}",
        String::from_utf8_lossy(&out.stderr)
    );
    String::from_utf8_lossy(&out.stdout).trim().to_owned()
}

pub(super) fn commit(dir: &Path, message: &str) -> String {
    git(dir, &["add", "-A"]);
    git(dir, &["commit", "-q", "-m", message]);
    git(dir, &["rev-parse", "HEAD"])
}
