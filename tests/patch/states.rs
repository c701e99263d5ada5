//! Ways in which an agent leaves its work; all read the same.

use super::fixture::{Bench, brief, commit, git, work, write};

/// Hides or moves the work of a run.
pub(super) type Hide = fn(&std::path::Path);

/// Ways in which an agent leaves its work, on purpose or not. None of them changes a file of the work tree.
pub(super) const STATES: &[(&str, Hide)] = &[
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
    ("stashed and taken back", |run| {
        git(run, &["stash", "-q", "-u"]);
        git(run, &["stash", "apply", "-q"]);
    }),
    ("work dropped from the history, files put back", |run| {
        commit(run, "work");
        git(run, &["reset", "-q", "HEAD~1"]);
        git(run, &["reflog", "expire", "--expire=now", "--all"]);
    }),
    ("a worktree of another repository", |run| {
        std::fs::remove_dir_all(run.join(".git")).unwrap();
        write(run, ".git", "gitdir: /srv/elsewhere/.git/worktrees/x\n");
    }),
    ("git settings that change what a diff prints", |run| {
        for (key, value) in [
            ("diff.noprefix", "true"),
            ("diff.mnemonicPrefix", "true"),
            ("color.ui", "always"),
            ("core.quotePath", "true"),
            ("core.worktree", "/srv/elsewhere"),
            ("core.bare", "true"),
            ("core.ignoreStat", "true"),
            ("core.trustctime", "false"),
            ("core.untrackedCache", "true"),
            ("status.showUntrackedFiles", "no"),
        ] {
            git(run, &["config", key, value]);
        }
    }),
    ("no repository", |run| {
        std::fs::remove_dir_all(run.join(".git")).unwrap()
    }),
];

#[test]
fn the_final_tree_counts_whatever_git_says() {
    if !super::git_available() {
        return;
    }
    for (name, hide) in STATES {
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
