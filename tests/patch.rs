//! Patches and work trees against real data and against git itself.

use std::path::{Path, PathBuf};

fn shared_data() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    if dir.is_dir() {
        return Some(dir);
    }
    println!(
        "skipped: no real data beside this checkout ({})",
        dir.display()
    );
    None
}

fn git_available() -> bool {
    let found = std::process::Command::new("git")
        .arg("--version")
        .output()
        .is_ok();
    if !found {
        println!("skipped: git is not installed");
    }
    found
}

mod reading {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::process::Command;

    use trace_audit::patch::model::{FileStatus, LineKind, Patch};
    use trace_audit::patch::{parse, render};

    fn real_patches() -> Vec<PathBuf> {
        let Some(data) = super::shared_data() else {
            return Vec::new();
        };
        let tasks = std::fs::read_dir(data.join("longhorizon/base_repo")).unwrap();
        let mut found: Vec<_> = tasks
            .map(|t| t.unwrap().path().join("eval/gt_diff.patch"))
            .filter(|p| p.is_file())
            .collect();
        found.sort();
        found
    }

    #[derive(Debug, Default, PartialEq, Eq)]
    struct Totals {
        files: usize,
        added: usize,
        removed: usize,
        binary: usize,
        new: usize,
        deleted: usize,
        renamed: usize,
        no_newline: usize,
    }

    impl Totals {
        fn add(&mut self, patch: &Patch) {
            for file in &patch.files {
                self.files += 1;
                self.added += file.added().count();
                self.removed += file.lines_of(LineKind::Removed).count();
                self.binary += usize::from(file.binary);
                self.new += usize::from(file.status == FileStatus::Added);
                self.deleted += usize::from(file.status == FileStatus::Deleted);
                self.renamed += usize::from(file.status == FileStatus::Renamed);
                let lines = file.hunks.iter().flat_map(|h| &h.lines);
                self.no_newline += lines.filter(|l| l.no_newline).count();
            }
        }
    }

    #[test]
    fn real_patches_have_the_known_totals() {
        let paths = real_patches();
        if paths.is_empty() {
            return;
        }
        assert_eq!(paths.len(), 61);
        let mut totals = Totals::default();
        for path in &paths {
            let bytes = std::fs::read(path).unwrap();
            let patch = parse(&bytes);
            assert!(
                patch.problems.is_empty(),
                "{}: {:?}",
                path.display(),
                patch.problems
            );
            let again = parse(&render(&patch));
            assert!(
                again == patch,
                "{}: not the same after writing",
                path.display()
            );
            totals.add(&patch);
        }
        assert_eq!(
            totals,
            Totals {
                files: 4544,
                added: 461_586,
                removed: 50_028,
                binary: 109,
                new: 1601,
                deleted: 14,
                renamed: 41,
                no_newline: 83,
            }
        );
    }

    /// Path to (added, removed), `None` for binary files.
    type Numstat = BTreeMap<Vec<u8>, Option<(usize, usize)>>;

    fn numstat_of_git(patch: &std::path::Path) -> Numstat {
        let out = Command::new("git")
            .args(["apply", "--numstat", "-z"])
            .arg(patch)
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        let mut found = Numstat::new();
        for record in out.stdout.split(|b| *b == 0).filter(|r| !r.is_empty()) {
            let mut fields = record.splitn(3, |b| *b == b'\t');
            let mut number = || {
                let text = String::from_utf8_lossy(fields.next().unwrap()).into_owned();
                text.parse::<usize>().ok()
            };
            let (added, removed) = (number(), number());
            let path = fields.next().unwrap().to_vec();
            found.insert(path, added.zip(removed));
        }
        found
    }

    #[test]
    fn real_patches_agree_with_git_file_by_file() {
        let paths = real_patches();
        if paths.is_empty() || !super::git_available() {
            return;
        }
        for path in &paths {
            let patch = parse(&std::fs::read(path).unwrap());
            let ours: Numstat = patch
                .files
                .iter()
                .map(|f| {
                    let counts = (f.added().count(), f.lines_of(LineKind::Removed).count());
                    // git gives a rename its new path.
                    (f.path().to_vec(), (!f.binary).then_some(counts))
                })
                .collect();
            let theirs = numstat_of_git(path);
            assert!(ours == theirs, "{}", path.display());
        }
    }
}

/// Runs and bases made with git, and what is read from them.
mod fixture {
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
            write(&run, "src/a.txt", &TEN.replace("five\n", "FIVE\n"));
            write(&run, "new.txt", "n1\nn2\n");
            std::fs::remove_file(run.join("src/b.txt")).unwrap();
        }

        pub(super) fn request<'a>(&self, run: &'a Path, base: Option<&'a Path>) -> BaseRequest<'a> {
            BaseRequest {
                run,
                given: None,
                base_repo: base,
                known_commit: None,
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
        let exclude = BTreeSet::from(["claude_run.jsonl".to_owned(), ".claude".to_owned()]);
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
}

mod states {
    use super::fixture::{Bench, brief, commit, git, work, write};

    #[test]
    fn the_final_tree_counts_whatever_git_says() {
        if !super::git_available() {
            return;
        }
        type Hide = fn(&std::path::Path);
        let states: &[(&str, Hide)] = &[
            ("uncommitted", |_| {}),
            ("staged", |run| drop(git(run, &["add", "-A"]))),
            ("committed", |run| drop(commit(run, "work"))),
            ("committed twice and reset softly", |run| {
                commit(run, "work");
                git(run, &["commit", "-q", "--allow-empty", "-m", "more"]);
                git(run, &["reset", "-q", "--soft", "HEAD~2"]);
            }),
            ("amended", |run| {
                git(run, &["add", "-A"]);
                git(run, &["commit", "-q", "--amend", "-m", "start"]);
            }),
            ("on another branch", |run| {
                git(run, &["checkout", "-q", "-b", "other"]);
                commit(run, "work");
            }),
            ("detached", |run| {
                commit(run, "work");
                git(run, &["checkout", "-q", "--detach"]);
            }),
            ("orphan branch", |run| {
                git(run, &["checkout", "-q", "--orphan", "fresh"]);
                commit(run, "work");
            }),
            ("assume-unchanged", |run| {
                git(
                    run,
                    &[
                        "update-index",
                        "--assume-unchanged",
                        "src/a.txt",
                        "src/b.txt",
                    ],
                );
            }),
            ("skip-worktree", |run| {
                git(
                    run,
                    &["update-index", "--skip-worktree", "src/a.txt", "src/b.txt"],
                );
            }),
            ("staged and deleted from the index", |run| {
                git(run, &["add", "-A"]);
                git(run, &["rm", "-q", "--cached", "src/a.txt", "new.txt"]);
            }),
            ("info/exclude", |run| write(run, ".git/info/exclude", "*\n")),
            ("index removed", |run| {
                std::fs::remove_file(run.join(".git/index")).unwrap()
            }),
            ("index damaged", |run| {
                write(run, ".git/index", "DIRC nonsense")
            }),
            ("HEAD damaged", |run| write(run, ".git/HEAD", "nonsense")),
            ("sparse checkout", |run| {
                git(run, &["config", "core.sparseCheckout", "true"]);
                write(run, ".git/info/sparse-checkout", "/keep.txt\n");
            }),
            ("reflog rewritten", |run| write(run, ".git/logs/HEAD", "")),
            ("no repository", |run| {
                std::fs::remove_dir_all(run.join(".git")).unwrap()
            }),
        ];
        for (name, hide) in states {
            let bench = Bench::new();
            bench.work();
            hide(&bench.run());
            let agent = bench.read();
            assert_eq!(brief(&agent.patch), work(), "{name}");
            assert!(!agent.base.missing_in_run, "{name}");
        }
    }

    #[test]
    fn a_repository_made_anew_is_noticed() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        bench.work();
        std::fs::remove_dir_all(bench.run().join(".git")).unwrap();
        git(&bench.run(), &["init", "-q"]);
        commit(&bench.run(), "all of it");
        let agent = bench.read();
        assert_eq!(brief(&agent.patch), work());
        assert!(agent.base.missing_in_run);
        assert!(!agent.problems.is_empty());
    }
}
