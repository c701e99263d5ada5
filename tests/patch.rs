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

mod bases {
    use trace_audit::patch::base::{BaseKind, BaseSource};
    use trace_audit::patch::{BaseRequest, choose_base};
    use trace_audit::rules::finding::Confidence;

    use super::fixture::{Bench, against, brief, commit, git, work, write};

    #[test]
    fn each_source_in_its_order() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let start = git(&bench.base(), &["rev-parse", "HEAD"]);
        bench.work();
        let run = bench.run();
        commit(&run, "work");
        let base = bench.base();
        let plain = bench.dir.path().join("plain");
        std::fs::create_dir(&plain).unwrap();
        for name in [".gitignore", "src/a.txt", "src/b.txt", "keep.txt"] {
            write(&plain, name, std::fs::read(base.join(name)).unwrap());
        }
        let none = BaseRequest {
            run: &run,
            given: None,
            base_repo: None,
            known_commit: None,
        };
        use BaseSource::{BaseRepoHead, BaseRepoTree, Given, Metadata, Reflog};
        for (request, source, confidence, kind) in [
            (
                BaseRequest {
                    given: Some("HEAD~1"),
                    ..none
                },
                Given,
                Confidence::High,
                BaseKind::Commit,
            ),
            (
                BaseRequest {
                    given: Some(&start[..8]),
                    ..none
                },
                Given,
                Confidence::High,
                BaseKind::Commit,
            ),
            (
                BaseRequest {
                    given: Some("main^"),
                    ..none
                },
                Given,
                Confidence::High,
                BaseKind::Commit,
            ),
            (
                BaseRequest {
                    base_repo: Some(&base),
                    ..none
                },
                BaseRepoHead,
                Confidence::High,
                BaseKind::Commit,
            ),
            (
                BaseRequest {
                    base_repo: Some(&plain),
                    ..none
                },
                BaseRepoTree,
                Confidence::High,
                BaseKind::Directory,
            ),
            (
                BaseRequest {
                    known_commit: Some(&start),
                    ..none
                },
                Metadata,
                Confidence::Medium,
                BaseKind::Commit,
            ),
            (none, Reflog, Confidence::Low, BaseKind::Commit),
        ] {
            let found = choose_base(&request).unwrap();
            assert_eq!(found.info.source, source);
            assert_eq!(found.info.confidence, Some(confidence), "{source:?}");
            assert_eq!(found.info.kind, kind);
            let commit = (kind == BaseKind::Commit).then(|| start.clone());
            assert_eq!(found.info.commit, commit, "{source:?}");
            assert_eq!(
                brief(&against(&run, &found, None).patch),
                work(),
                "{source:?}"
            );
        }
        let bad = BaseRequest {
            given: Some("v9"),
            ..none
        };
        assert_eq!(choose_base(&bad).unwrap_err().exit_code(), 64);
    }

    #[test]
    fn nothing_is_believed_when_the_known_commit_is_missing() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let run = bench.run();
        let request = BaseRequest {
            known_commit: Some("0123456789012345678901234567890123456789"),
            ..bench.request(&run, None)
        };
        let found = choose_base(&request).unwrap();
        assert_eq!(found.info.source, BaseSource::Unknown);
        assert!(found.tree.is_none());
        assert!(found.problems[0].contains("replaced or cut"));
        let agent = against(&run, &found, None);
        assert!(agent.patch.files.is_empty());
    }

    #[test]
    fn head_is_the_last_resort_and_no_repository_is_unknown() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        bench.work();
        let run = bench.run();
        std::fs::remove_dir_all(run.join(".git/logs")).unwrap();
        git(&run, &["pack-refs", "--all"]);
        let found = choose_base(&bench.request(&run, None)).unwrap();
        assert_eq!(found.info.source, BaseSource::Head);
        assert_eq!(found.info.confidence, Some(Confidence::Low));
        assert_eq!(brief(&against(&run, &found, None).patch), work());
        std::fs::remove_dir_all(run.join(".git")).unwrap();
        let found = choose_base(&bench.request(&run, None)).unwrap();
        assert_eq!(found.info.source, BaseSource::Unknown);
    }

    #[test]
    fn a_reflog_of_a_clone_is_of_medium_confidence() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        write(&bench.base(), "more.txt", "x\n");
        let start = commit(&bench.base(), "second");
        let run = bench.dir.path().join("cloned");
        let from = bench.base();
        git(
            bench.dir.path(),
            &["clone", "-q", from.to_str().unwrap(), run.to_str().unwrap()],
        );
        write(&run, "new.txt", "n\n");
        commit(&run, "work");
        let found = choose_base(&bench.request(&run, None)).unwrap();
        assert_eq!(found.info.source, BaseSource::Reflog);
        assert_eq!(found.info.confidence, Some(Confidence::Medium));
        assert_eq!(found.info.commit, Some(start));
    }
}

#[cfg(unix)]
mod hostile {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use trace_audit::patch::model::FileStatus::{Added, Modified};
    use trace_audit::patch::{choose_base, parse};

    use super::fixture::{Bench, TEN, against, brief, commit, entry, git, work, write};

    /// Plants everything that makes git execute something or hide something.
    fn plant(run: &Path, canary: &Path) {
        let script = run.join(".git/evil.sh");
        write(
            run,
            ".git/evil.sh",
            format!("#!/bin/sh\ntouch {}\ncat\n", canary.display()),
        );
        std::fs::set_permissions(&script, PermissionsExt::from_mode(0o755)).unwrap();
        let evil = script.display();
        let config = format!(
            "[core]\n\tfsmonitor = {evil}\n\thooksPath = {hooks}\n\tpager = {evil}\n\teditor = {evil}\n\
             \tsshCommand = {evil}\n\taskPass = {evil}\n\tgitProxy = {evil}\n\tattributesFile = {attributes}\n\
             \talternateRefsCommand = {evil}\n\tquotePath = true\n\
             [diff]\n\texternal = {evil}\n\tnoprefix = true\n\tmnemonicPrefix = true\n[color]\n\tui = always\n\
             [diff \"d\"]\n\tcommand = {evil}\n\ttextconv = {evil}\n\
             [filter \"f\"]\n\tclean = {evil}\n\tsmudge = {evil}\n\tprocess = {evil}\n\trequired = true\n\
             [alias]\n\tcat-file = !{evil}\n[credential]\n\thelper = {evil}\n\
             [include]\n\tpath = evil-config\n[remote \"origin\"]\n\turl = ext::{evil}\n\
             \tpromisor = true\n[protocol \"ext\"]\n\tallow = always\n[uploadpack]\n\tpackObjectsHook = {evil}\n",
            hooks = run.join(".git/hooks").display(),
            attributes = run.join(".git/evil-attributes").display(),
        );
        write(run, ".git/config", config);
        write(
            run,
            ".git/evil-config",
            format!("[core]\n\tfsmonitor = {evil}\n"),
        );
        write(run, ".git/evil-attributes", "* filter=f diff=d\n");
        write(run, ".git/info/attributes", "* filter=f diff=d\n");
        write(run, ".gitattributes", "* filter=f diff=d\n");
        for hook in [
            "post-index-change",
            "reference-transaction",
            "fsmonitor-watchman",
            "pre-auto-gc",
        ] {
            let path = run.join(".git/hooks").join(hook);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            let _ = std::fs::remove_file(&path);
            symlink(&script, path).unwrap();
        }
    }

    #[test]
    fn nothing_of_the_run_is_executed() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        bench.work();
        let canary = bench.dir.path().join("canary");
        plant(&bench.run(), &canary);
        // A missing object, which a partial clone would fetch.
        let run = bench.run();
        let start = git(&bench.base(), &["rev-parse", "HEAD"]);
        let mut want = work();
        want.insert(0, entry(".gitattributes", Added, 1, 0));
        for base in [Some(bench.base()), None] {
            let mut request = bench.request(&run, base.as_deref());
            request.known_commit = Some(&start);
            let found = choose_base(&request).unwrap();
            assert_eq!(brief(&against(&run, &found, None).patch), want);
        }
        let id = git(&bench.base(), &["rev-parse", "HEAD:src/a.txt"]);
        std::fs::remove_file(run.join(".git/objects").join(&id[..2]).join(&id[2..])).unwrap();
        let mut request = bench.request(&run, None);
        request.known_commit = Some(&start);
        let agent = against(&run, &choose_base(&request).unwrap(), None);
        assert_eq!(agent.flags.unreadable, ["src/a.txt"]);
        assert!(!canary.exists(), "something of the run was executed");
        // The trap is armed: git in the run does execute it.
        let status = ["-c", "core.hooksPath=/dev/null", "status"];
        let _ = std::process::Command::new("git")
            .args(status)
            .current_dir(&run)
            .output();
        assert!(canary.exists(), "the trap does not work");
    }

    #[test]
    fn links_are_compared_and_never_followed() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let run = bench.run();
        symlink("/etc/passwd", run.join("secret")).unwrap();
        symlink(".", run.join("circle")).unwrap();
        symlink("../..", run.join("src/up")).unwrap();
        symlink("b.txt", run.join("src/beside")).unwrap();
        std::fs::remove_file(run.join("keep.txt")).unwrap();
        symlink("src/b.txt", run.join("keep.txt")).unwrap();
        let agent = bench.read();
        assert_eq!(
            brief(&agent.patch),
            [
                entry("circle", Added, 1, 0),
                entry("keep.txt", Modified, 1, 1),
                entry("secret", Added, 1, 0),
                entry("src/beside", Added, 1, 0),
                entry("src/up", Added, 1, 0),
            ]
        );
        assert_eq!(
            agent.patch.files[2].added().next().unwrap().text,
            "/etc/passwd"
        );
        assert_eq!(agent.flags.links_outside, ["secret", "src/up"]);
    }

    #[test]
    fn pipes_and_sockets_are_not_opened() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let run = bench.run();
        let fifo = |path: &Path| {
            let _ = std::fs::remove_file(path);
            let made = std::process::Command::new("mkfifo")
                .arg(path)
                .status()
                .unwrap();
            assert!(made.success());
        };
        fifo(&run.join("pipe"));
        fifo(&run.join("keep.txt"));
        fifo(&run.join(".gitmodules"));
        let _socket = std::os::unix::net::UnixListener::bind(run.join("socket")).unwrap();
        fifo(&run.join(".git/objects/pack/pack-0000000000000000000000000000000000000000.pack"));
        fifo(&run.join(".git/logs/HEAD"));
        let id = git(&bench.base(), &["rev-parse", "HEAD:keep.txt"]);
        fifo(&run.join(".git/objects").join(&id[..2]).join(&id[2..]));
        write(&run, "src/a.txt", TEN.replace("two", "2"));
        let agent = bench.read();
        assert_eq!(brief(&agent.patch), [entry("src/a.txt", Modified, 1, 1)]);
        assert_eq!(
            agent.flags.special,
            [".gitmodules", "keep.txt", "pipe", "socket"]
        );
        // The run's own objects, pipe among them.
        let start = git(&bench.base(), &["rev-parse", "HEAD"]);
        let mut request = bench.request(&run, None);
        request.known_commit = Some(&start);
        let found = choose_base(&request).unwrap();
        assert_eq!(found.problems.len(), 2, "{:?}", found.problems);
        assert_eq!(brief(&against(&run, &found, None).patch).len(), 1);
        fifo(&run.join(".git/HEAD"));
        assert!(
            choose_base(&bench.request(&run, None))
                .unwrap()
                .tree
                .is_none()
        );
    }

    #[test]
    fn strange_names_and_kinds() {
        if !super::git_available() {
            return;
        }
        use bstr::ByteSlice;
        use std::os::unix::ffi::OsStrExt;
        let bench = Bench::new();
        let names: &[&[u8]] = &[
            b"new\nline",
            b"q\"uote",
            b"tab\t",
            b"caf\xe9",
            b" lead",
            b"-dash",
            b":(glob)*",
        ];
        for name in names {
            write(&bench.base(), "x", "old\n");
            std::fs::rename(
                bench.base().join("x"),
                bench.base().join(std::ffi::OsStr::from_bytes(name)),
            )
            .unwrap();
        }
        write(&bench.base(), "dir/file", "f\n");
        write(&bench.base(), "file", "f\n");
        write(&bench.base(), "empty", "");
        write(&bench.base(), "filled", "");
        write(&bench.base(), "bin", b"\0old");
        commit(&bench.base(), "strange");
        let run = bench.run();
        std::fs::remove_dir_all(&run).unwrap();
        bench.copy_to_run();
        for name in names {
            std::fs::write(run.join(std::ffi::OsStr::from_bytes(name)), "new\n").unwrap();
        }
        std::fs::remove_dir_all(run.join("dir")).unwrap();
        write(&run, "dir", "now a file\n");
        std::fs::remove_file(run.join("file")).unwrap();
        write(&run, "file/in", "now a dir\n");
        write(&run, "empty", "no more");
        write(&run, "filled", "");
        write(&run, "bin", b"\0new");
        std::fs::set_permissions(run.join("keep.txt"), PermissionsExt::from_mode(0o755)).unwrap();
        let agent = bench.read();
        for name in names {
            let file = agent
                .patch
                .files
                .iter()
                .find(|f| f.path() == name.as_bstr())
                .unwrap();
            assert_eq!(
                (file.status, file.added().count()),
                (Modified, 1),
                "{}",
                name.as_bstr()
            );
        }
        let rest: Vec<_> = brief(&agent.patch)
            .into_iter()
            .filter(|(p, ..)| !names.iter().any(|n| n.to_str_lossy() == *p))
            .map(|(p, s, a, r)| format!("{p} {s:?} +{a} -{r}"))
            .collect();
        assert_eq!(
            rest,
            [
                "bin Modified +0 -0",
                "dir Added +1 -0",
                "dir/file Deleted +0 -1",
                "empty Modified +1 -0",
                "file Deleted +0 -1",
                "file/in Added +1 -0",
            ]
        );
        assert!(agent.patch.files.iter().any(|f| f.binary));
        assert_eq!(agent.flags.mode_only, 1);
    }

    #[test]
    fn enormous_files_and_unreadable_ones_are_bounded() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let run = bench.run();
        for name in ["sparse", "keep.txt"] {
            let file = std::fs::File::create(run.join(name)).unwrap();
            file.set_len(5 << 30).unwrap();
        }
        let agent = bench.read();
        assert_eq!(
            brief(&agent.patch),
            [
                entry("keep.txt", Modified, 0, 0),
                entry("sparse", Added, 0, 0)
            ]
        );
        assert!(agent.patch.files.iter().all(|f| f.binary));
        assert_eq!(agent.flags.oversized.len(), 2);
        assert_eq!(agent.problems.len(), 1);
    }

    #[test]
    fn the_gt_names_ignored_files_and_lends_its_hunks() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let run = bench.run();
        write(&run, ".gitignore", "*\n");
        write(&run, "build/out.o", "x\n");
        write(&run, "build/named.txt", "n\n");
        write(&run, "other.o", "x\n");
        write(&run, "claude_run.jsonl", "{}\n");
        write(&run, ".claude/settings.json", "{}\n");
        write(&run, "src/claude_run.jsonl", "{}\n");
        // The GT says the same change in another way than a difference finds it.
        write(&run, "src/a.txt", TEN.replace("five\n", "five\nfive\n"));
        let gt = parse(
            b"diff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ -3,4 +3,5 @@\n three\n four\n+five\n five\n six\n\
              diff --git a/build/named.txt b/build/named.txt\nnew file mode 100644\n--- /dev/null\n+++ b/build/named.txt\n@@ -0,0 +1 @@\n+n\n",
        );
        let agent = bench.read_with(Some(&gt));
        assert_eq!(
            brief(&agent.patch),
            [
                entry(".gitignore", Modified, 1, 2),
                entry("build/named.txt", Added, 1, 0),
                entry("src/a.txt", Modified, 1, 0),
                entry("src/claude_run.jsonl", Added, 1, 0),
            ]
        );
        assert_eq!(agent.patch.files[2].hunks, gt.files[0].hunks);
        assert_eq!(agent.flags.gt_hunks, 2);
        assert_eq!(agent.flags.ignored, 2);
        assert_eq!(agent.flags.excluded, [".claude", "claude_run.jsonl"]);
    }
}

#[cfg(unix)]
mod neutral {
    use std::os::unix::fs::symlink;
    use std::process::Command;

    use trace_audit::patch::model::FileStatus::{Added, Deleted, Modified, Renamed};
    use trace_audit::patch::parse;

    use super::fixture::{Bench, TEN, brief, commit, entry, write};

    #[test]
    fn links_that_a_copy_resolved_are_no_work() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let base = bench.base();
        write(&base, "src/sub/c.txt", "c\n");
        symlink("src/a.txt", base.join("link")).unwrap();
        symlink("link", base.join("link2")).unwrap();
        symlink("src/sub", base.join("linkdir")).unwrap();
        symlink("nowhere", base.join("dangling")).unwrap();
        symlink("keep.txt", base.join("cut")).unwrap();
        commit(&base, "links");
        let run = bench.run();
        std::fs::remove_dir_all(&run).unwrap();
        bench.copy_to_run();
        for (name, copy) in [("link", "src/a.txt"), ("link2", "src/a.txt")] {
            std::fs::remove_file(run.join(name)).unwrap();
            std::fs::copy(base.join(copy), run.join(name)).unwrap();
        }
        std::fs::remove_file(run.join("linkdir")).unwrap();
        write(&run, "linkdir/c.txt", "c\n");
        write(&run, "linkdir/new.txt", "n\n");
        std::fs::remove_file(run.join("dangling")).unwrap();
        std::fs::remove_file(run.join("cut")).unwrap();
        let agent = bench.read();
        assert_eq!(
            brief(&agent.patch),
            [
                entry("cut", Deleted, 0, 1),
                entry("linkdir/new.txt", Added, 1, 0)
            ]
        );
        assert_eq!(agent.flags.links_copied, 4);
        write(&run, "link2", TEN.replace("one", "1"));
        write(&run, "linkdir/c.txt", "C\n");
        let agent = bench.read();
        assert_eq!(
            brief(&agent.patch)[1..3],
            [
                entry("link2", Modified, 1, 1),
                entry("linkdir/c.txt", Modified, 1, 1)
            ]
        );
    }

    #[test]
    fn line_ends_and_large_file_pointers_are_no_work() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let pointer = "version https://git-lfs.github.com/spec/v1\n\
            oid sha256:2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824\nsize 5\n";
        write(&bench.base(), "large.bin", pointer);
        commit(&bench.base(), "pointer");
        let run = bench.run();
        std::fs::remove_dir_all(&run).unwrap();
        bench.copy_to_run();
        write(&run, "large.bin", "hello");
        write(&run, "keep.txt", "kept\r\n");
        write(
            &run,
            "src/a.txt",
            TEN.replace("two\n", "two and a half\n")
                .replace('\n', "\r\n"),
        );
        let agent = bench.read();
        assert_eq!(brief(&agent.patch), [entry("src/a.txt", Modified, 1, 1)]);
        assert_eq!(agent.flags.line_ends, ["keep.txt", "src/a.txt"]);
        assert_eq!(agent.flags.lfs, ["large.bin"]);
    }

    #[test]
    fn moves_are_found_by_content_or_told_by_the_gt() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let run = bench.run();
        std::fs::create_dir(run.join("moved")).unwrap();
        std::fs::rename(run.join("keep.txt"), run.join("moved/keep.txt")).unwrap();
        std::fs::remove_file(run.join("src/a.txt")).unwrap();
        write(&run, "src/z.txt", TEN.replace("one", "1"));
        let gt = parse(
            b"diff --git a/src/a.txt b/src/z.txt\nsimilarity index 90%\nrename from src/a.txt\nrename to src/z.txt\n",
        );
        let agent = bench.read();
        assert_eq!(
            brief(&agent.patch),
            [
                entry("moved/keep.txt", Renamed, 0, 0),
                entry("src/a.txt", Deleted, 0, 10),
                entry("src/z.txt", Added, 10, 0),
            ]
        );
        let agent = bench.read_with(Some(&gt));
        assert_eq!(brief(&agent.patch)[1], entry("src/z.txt", Renamed, 1, 1));
    }

    #[test]
    fn a_nested_repository_is_work_and_a_submodule_is_not() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let run = bench.run();
        write(&run, "nested/.git/HEAD", "ref: refs/heads/main\n");
        write(&run, "nested/x.txt", "x\n");
        let agent = bench.read();
        assert_eq!(brief(&agent.patch), [entry("nested/x.txt", Added, 1, 0)]);
        assert_eq!(agent.flags.nested_repos, ["nested"]);
        std::fs::remove_dir_all(run.join("nested")).unwrap();
        let base = bench.base();
        let done = Command::new("git")
            .args([
                "update-index",
                "--add",
                "--cacheinfo",
                "160000,0123456789012345678901234567890123456789,mod",
            ])
            .current_dir(&base)
            .status()
            .unwrap();
        assert!(done.success());
        super::fixture::git(&base, &["commit", "-q", "-m", "submodule"]);
        write(&run, "mod/file.c", "int x;\n");
        let agent = bench.read();
        assert!(agent.patch.files.is_empty());
        assert_eq!(agent.flags.submodules, 1);
    }
}

/// The table in the documentation of `patch::objects`, row by row.
#[cfg(unix)]
mod objects {
    use std::os::unix::fs::symlink;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use trace_audit::patch::base::BaseSource;
    use trace_audit::patch::{AgentPatch, Base, BaseRequest, choose_base};

    use super::fixture::{Bench, TEN, against, brief, commit, git, work, write};

    /// The base found in the run itself, given its commit.
    fn known(run: &Path, id: &str) -> Base {
        let request = BaseRequest {
            run,
            given: None,
            base_repo: None,
            known_commit: Some(id),
        };
        choose_base(&request).unwrap()
    }

    fn read(run: &Path, id: &str) -> AgentPatch {
        against(run, &known(run, id), None)
    }

    fn head(dir: &Path) -> String {
        git(dir, &["rev-parse", "HEAD"])
    }

    fn assert_unknown(base: &Base, why: &str) {
        assert_eq!(base.info.source, BaseSource::Unknown);
        assert!(
            base.problems.iter().any(|p| p.contains(why)),
            "{why}: {:?}",
            base.problems
        );
    }

    #[test]
    fn packed_shallow_and_replaced() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        write(&bench.base(), "keep.txt", "kept longer\n");
        let start = commit(&bench.base(), "second");
        let run = bench.dir.path().join("shallow");
        let url = format!("file://{}", bench.base().display());
        git(
            bench.dir.path(),
            &["clone", "-q", "--depth", "1", &url, run.to_str().unwrap()],
        );
        write(&run, "keep.txt", "changed\n");
        let changed = commit(&run, "work");
        git(
            &run,
            &[
                "repack",
                "-q",
                "-a",
                "-d",
                "--write-midx",
                "--write-bitmap-index",
            ],
        );
        git(&run, &["commit-graph", "write", "--reachable"]);
        // The agent says that the base is its own commit.
        git(&run, &["replace", &start, &changed]);
        write(&run, ".git/info/grafts", format!("{start} {changed}\n"));
        write(&run, ".git/shallow", "nonsense\n");
        let agent = read(&run, &start);
        assert_eq!(brief(&agent.patch).len(), 1, "{:?}", agent.problems);
        assert!(agent.problems.is_empty());
    }

    #[test]
    fn sha256_and_reftable() {
        if !super::git_available() {
            return;
        }
        for (option, reftable) in [
            ("--object-format=sha256", false),
            ("--ref-format=reftable", true),
        ] {
            let dir = tempfile::tempdir().unwrap();
            let made = Command::new("git")
                .args(["init", "-q", option])
                .current_dir(dir.path())
                .status()
                .unwrap();
            if !made.success() {
                println!("skipped: this git has no {option}");
                continue;
            }
            write(dir.path(), "x", TEN);
            let start = commit(dir.path(), "start");
            write(dir.path(), "x", TEN.replace("two", "2"));
            commit(dir.path(), "work");
            assert_eq!(brief(&read(dir.path(), &start).patch).len(), 1, "{option}");
            let request = BaseRequest {
                run: dir.path(),
                given: None,
                base_repo: None,
                known_commit: None,
            };
            let found = choose_base(&request).unwrap();
            if reftable {
                assert_unknown(&found, "reftable");
            } else {
                assert_eq!(found.info.commit, Some(start));
            }
        }
    }

    #[test]
    fn a_git_file_is_followed_inside_the_run_only() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let (run, start) = (bench.run(), head(&bench.base()));
        bench.work();
        let outside = bench.dir.path().join("elsewhere.git");
        std::fs::rename(run.join(".git"), &outside).unwrap();
        write(&run, ".git", format!("gitdir: {}\n", outside.display()));
        assert_unknown(&known(&run, &start), "not followed");
        std::fs::remove_file(run.join(".git")).unwrap();
        symlink(&outside, run.join(".git")).unwrap();
        assert_unknown(&known(&run, &start), "is a link");
        std::fs::remove_file(run.join(".git")).unwrap();
        std::fs::create_dir(run.join("build")).unwrap();
        std::fs::rename(&outside, run.join("build/inner")).unwrap();
        write(&run, ".git", "gitdir: build/inner\n");
        assert_eq!(brief(&read(&run, &start).patch), work());
        write(&run, ".git", "nonsense");
        assert_unknown(&known(&run, &start), "no git directory");
    }

    #[test]
    fn alternates_and_links_lead_nowhere_outside() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let (run, start) = (bench.run(), head(&bench.base()));
        bench.work();
        let objects = run.join(".git/objects");
        let outside = bench.dir.path().join("objects");
        std::fs::rename(&objects, &outside).unwrap();
        symlink(&outside, &objects).unwrap();
        assert_unknown(&known(&run, &start), "is a link");
        std::fs::remove_file(&objects).unwrap();
        std::fs::create_dir_all(objects.join("info")).unwrap();
        write(
            &objects,
            "info/alternates",
            format!("{}\n", outside.display()),
        );
        assert_unknown(&known(&run, &start), "not in the run");
        // A folder of loose objects that is a link.
        let fanout = &start[..2];
        symlink(outside.join(fanout), objects.join(fanout)).unwrap();
        assert_unknown(&known(&run, &start), "no directory");
        // Inside the run a chain is followed.
        std::fs::rename(&outside, run.join("build")).unwrap();
        std::fs::create_dir_all(run.join(".git/middle/info")).unwrap();
        write(&objects, "info/alternates", "../middle\n");
        write(
            &run,
            ".git/middle/info/alternates",
            "../../build\n../objects\n",
        );
        assert_eq!(brief(&read(&run, &start).patch), work());
    }

    #[test]
    fn a_linked_pack_is_left_out() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let (run, start) = (bench.run(), head(&bench.base()));
        git(&run, &["gc", "-q"]);
        for entry in std::fs::read_dir(run.join(".git/objects/pack")).unwrap() {
            let path = entry.unwrap().path();
            let moved = bench.dir.path().join(path.file_name().unwrap());
            std::fs::rename(&path, &moved).unwrap();
            symlink(&moved, &path).unwrap();
        }
        assert_unknown(&known(&run, &start), "no regular file");
    }

    fn loose(run: &Path, id: &str) -> PathBuf {
        let path = run.join(".git/objects").join(&id[..2]).join(&id[2..]);
        // git writes objects read-only.
        let _ = std::fs::remove_file(run.join("none"));
        path
    }

    fn overwrite(path: &Path, content: &[u8]) {
        let _ = std::fs::remove_file(path);
        std::fs::write(path, content).unwrap();
    }

    #[test]
    fn a_forged_or_damaged_object_is_refused() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let (run, start) = (bench.run(), head(&bench.base()));
        bench.work();
        let changed = commit(&run, "work");
        let blob = git(&run, &["rev-parse", &format!("{start}:src/a.txt")]);
        let other = git(&run, &["rev-parse", &format!("{changed}:src/a.txt")]);
        // The base file, said to be what the agent made of it: it would look unchanged only to a reader that
        // believes names, and the difference of the others must stay.
        let kept = std::fs::read(loose(&run, &blob)).unwrap();
        overwrite(
            &loose(&run, &blob),
            &std::fs::read(loose(&run, &other)).unwrap(),
        );
        let agent = read(&run, &start);
        assert_eq!(agent.flags.unreadable, ["src/a.txt"]);
        assert_eq!(brief(&agent.patch).len(), 2);
        overwrite(&loose(&run, &blob), b"nonsense");
        assert_eq!(read(&run, &start).flags.unreadable, ["src/a.txt"]);
        overwrite(&loose(&run, &blob), &kept);
        // The base commit itself.
        overwrite(
            &loose(&run, &start),
            &std::fs::read(loose(&run, &changed)).unwrap(),
        );
        assert_unknown(&known(&run, &start), "forged");
        overwrite(&loose(&run, &start), &kept);
        assert_unknown(&known(&run, &start), "forged");
    }

    #[test]
    fn a_damaged_pack_is_no_end() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let (run, start) = (bench.run(), head(&bench.base()));
        git(&run, &["gc", "-q"]);
        let pack = std::fs::read_dir(run.join(".git/objects/pack"))
            .unwrap()
            .map(|e| e.unwrap().path())
            .find(|p| p.extension().is_some_and(|e| e == "pack"))
            .unwrap();
        let whole = std::fs::read(&pack).unwrap();
        for at in (12..whole.len()).step_by(7) {
            let mut broken = whole.clone();
            broken[at] ^= 0x55;
            overwrite(&pack, &broken);
            let agent = read(&run, &start);
            assert!(
                agent.patch.files.is_empty(),
                "byte {at}: {:?}",
                brief(&agent.patch)
            );
        }
        overwrite(&pack, &whole[..whole.len() / 2]);
        assert!(known(&run, &start).tree.is_none());
    }

    #[test]
    fn a_tree_that_holds_itself_many_times_is_refused() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let run = bench.run();
        let mut tree = git(&run, &["write-tree"]);
        for _ in 0..12 {
            let list: String = (0..100)
                .map(|n| format!("040000 tree {tree}\td{n}\n"))
                .collect();
            write(&run, "list", list);
            let out = Command::new("git")
                .arg("mktree")
                .stdin(std::fs::File::open(run.join("list")).unwrap())
                .current_dir(&run)
                .output()
                .unwrap();
            tree = String::from_utf8_lossy(&out.stdout).trim().to_owned();
        }
        let bomb = git(&run, &["commit-tree", "-m", "bomb", &tree]);
        assert_unknown(&known(&run, &bomb), "more than");
    }

    #[test]
    fn an_enormous_blob_is_not_unpacked() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        let run = bench.run();
        write(&run, "zeros", vec![b'0'; 65 << 20]);
        let start = commit(&run, "large");
        assert!(read(&run, &start).patch.files.is_empty(), "unchanged");
        write(&run, "zeros", "small now\n");
        let agent = read(&run, &start);
        assert_eq!(agent.flags.oversized, ["zeros"]);
        assert!(agent.patch.files[0].binary);
    }

    /// Runs one test of this file in a process with other variables.
    fn in_child(test: &str, run: &Path, id: &str, vars: &[(&str, &str)]) {
        let out = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", test, "--ignored", "--nocapture"])
            .env("CHILD_RUN", run)
            .env("CHILD_BASE", id)
            .envs(vars.iter().copied())
            .output()
            .unwrap();
        let text = String::from_utf8_lossy(&out.stdout);
        assert!(out.status.success() && text.contains("1 passed"), "{text}");
    }

    fn child() -> (PathBuf, String) {
        let var = |name| std::env::var(name).unwrap();
        (var("CHILD_RUN").into(), var("CHILD_BASE"))
    }

    #[test]
    fn variables_of_the_caller() {
        if !super::git_available() {
            return;
        }
        let bench = Bench::new();
        bench.work();
        let (run, start) = (bench.run(), head(&bench.base()));
        in_child(
            "objects::child_reads_the_work",
            &run,
            &start,
            &[
                ("GIT_DIR", "/nonexistent"),
                ("GIT_OBJECT_DIRECTORY", "/nonexistent"),
                ("GIT_CONFIG_COUNT", "nonsense"),
                ("GIT_TRACE", "1"),
                ("GIT_EXEC_PATH", "/nonexistent"),
            ],
        );
        in_child(
            "objects::child_has_no_git",
            &run,
            &start,
            &[("PATH", "/nonexistent")],
        );
    }

    #[test]
    #[ignore = "started by `variables_of_the_caller`"]
    fn child_reads_the_work() {
        let (run, start) = child();
        assert_eq!(brief(&read(&run, &start).patch), work());
    }

    #[test]
    #[ignore = "started by `variables_of_the_caller`"]
    fn child_has_no_git() {
        let (run, start) = child();
        assert_unknown(&known(&run, &start), "git cannot be started");
        // The starter tree's files serve as base, history or not.
        let base = run.with_file_name("base_repo");
        let request = BaseRequest {
            run: &run,
            given: None,
            base_repo: Some(&base),
            known_commit: None,
        };
        let found = choose_base(&request).unwrap();
        assert_eq!(found.info.source, BaseSource::BaseRepoTree);
        assert_eq!(brief(&against(&run, &found, None).patch), work());
    }
}
