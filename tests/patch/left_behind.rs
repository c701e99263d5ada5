//! Stashes, dropped commits, reflogs: evidence of where lines came from, and no work.

use trace_audit::report::model::RunReport;
use trace_audit::verdict::measures::Verdict;

use super::fixture::{commit, git, write};
use super::states::Hide;
use super::verdicts::Leak;

fn audit(hide: Hide, with_base: bool) -> RunReport {
    let leak = Leak::new();
    let run = leak.bench.run();
    // By the patch alone.
    write(&run, "claude_run.jsonl", "");
    hide(&run);
    leak.audit(with_base.then(|| leak.bench.base()).as_deref())
}

#[test]
fn gt_lines_outside_of_the_final_tree_are_named_and_not_counted() {
    if !super::git_available() {
        return;
    }
    // The ignored file of the GT (40 lines) is in no commit and is removed, so that nothing of it is in the tree.
    let cases: &[(&str, Hide, &str, u64)] = &[
        (
            "stashed",
            |run| drop(git(run, &["stash", "-q"])),
            "stash@{0}",
            50,
        ),
        (
            "stashed with untracked files, and packed",
            |run| {
                git(run, &["stash", "-q", "-u"]);
                git(run, &["gc", "-q"]);
            },
            "stash@{0} (untracked files)",
            60,
        ),
        (
            "a stash that was dropped",
            |run| {
                git(run, &["stash", "-q"]);
                git(run, &["stash", "drop", "-q"]);
            },
            "dropped commit",
            50,
        ),
        (
            "committed and reset",
            |run| {
                commit(run, "work");
                git(run, &["reset", "-q", "--hard", "HEAD~1"]);
            },
            "HEAD@{1}",
            110,
        ),
        (
            "committed, reset, the reflog emptied",
            |run| {
                commit(run, "work");
                git(run, &["reset", "-q", "--hard", "HEAD~1"]);
                write(run, ".git/logs/HEAD", "");
                write(run, ".git/logs/refs/heads/main", "");
            },
            "dropped commit",
            110,
        ),
        (
            "on a branch",
            |run| {
                git(run, &["checkout", "-q", "-b", "other"]);
                commit(run, "work");
                git(run, &["checkout", "-q", "main"]);
                std::fs::remove_dir_all(run.join(".git/logs")).unwrap();
            },
            "refs/heads/other",
            110,
        ),
    ];
    for (name, hide, place, lines) in cases {
        let hide_all: Hide = *hide;
        for with_base in [true, false] {
            let leak = Leak::new();
            let run = leak.bench.run();
            write(&run, "claude_run.jsonl", "");
            std::fs::remove_file(run.join("build/hidden.rs")).unwrap();
            hide_all(&run);
            // Untracked files that git left behind.
            let _ = std::fs::remove_file(run.join("src/fresh.rs"));
            let report = leak.audit(with_base.then(|| leak.bench.base()).as_deref());
            let found = report.inputs.left_behind.iter().find(|l| l.name == *place);
            let found = found.unwrap_or_else(|| panic!("{name}: {:?}", report.inputs.left_behind));
            assert_eq!((found.gt_lines, found.in_patch), (*lines, 0), "{name}");
            let said = report.problems.iter().any(|p| p.starts_with(place));
            assert!(said, "{name}: {:?}", report.problems);
            assert_ne!(
                report.verdict,
                Some(Verdict::Invalid),
                "{name}: {:?}",
                report.reason
            );
        }
    }
}

#[test]
fn what_the_final_tree_has_too_is_not_repeated() {
    if !super::git_available() {
        return;
    }
    let report = audit(|run| drop(commit(run, "work")), true);
    assert!(
        report.inputs.left_behind.is_empty(),
        "{:?}",
        report.inputs.left_behind
    );
}
