//! Which base is taken, from where, and how sure that is.

use trace_audit::patch::base::{BaseKind, BaseSource};
use trace_audit::patch::{BaseRequest, choose_base, parse};
use trace_audit::rules::finding::Confidence;

use super::fixture::{Bench, TEN, against, brief, commit, git, work, write};

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
        gt: None,
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

const GT: &[u8] = b"diff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n\
    @@ -4,3 +4,3 @@\n four\n-five\n+FIVE\n six\n";

#[test]
fn the_gt_tells_commits_before_the_task_from_those_after_it() {
    if !super::git_available() {
        return;
    }
    // Upstream holds the GT; the benchmark clones it and goes back to the base.
    let bench = Bench::new();
    let upstream = bench.base();
    let start = git(&upstream, &["rev-parse", "HEAD"]);
    write(&upstream, "src/a.txt", TEN.replace("five", "FIVE"));
    let merged = commit(&upstream, "the GT");
    let run = bench.dir.path().join("cloned");
    git(
        bench.dir.path(),
        &[
            "clone",
            "-q",
            upstream.to_str().unwrap(),
            run.to_str().unwrap(),
        ],
    );
    git(&run, &["reset", "-q", "--hard", &start]);
    write(&run, "new.txt", "n\n");
    commit(&run, "work");
    let gt = parse(GT);
    let request = bench.request(&run, None);
    let found = choose_base(&request).unwrap();
    assert_eq!(
        found.info.commit,
        Some(merged),
        "the oldest entry, without a GT"
    );
    let request = BaseRequest {
        gt: Some(&gt),
        ..request
    };
    let found = choose_base(&request).unwrap();
    assert_eq!(found.info.commit, Some(start.clone()));
    assert_eq!(found.info.source, BaseSource::Reflog);
    // A branch that is named like the commit does not stand for it.
    git(&run, &["branch", &start[..10], "HEAD"]);
    let short = BaseRequest {
        known_commit: Some(&start[..10]),
        ..request
    };
    let found = choose_base(&short).unwrap();
    assert_eq!(found.info.source, BaseSource::Metadata);
    assert_eq!(found.info.commit, Some(start));
}

#[test]
fn a_repository_made_anew_around_the_gt_is_no_base() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    bench.work();
    let run = bench.run();
    std::fs::remove_dir_all(run.join(".git")).unwrap();
    git(&run, &["init", "-q"]);
    commit(&run, "start");
    let gt = parse(GT);
    let request = BaseRequest {
        gt: Some(&gt),
        ..bench.request(&run, None)
    };
    let found = choose_base(&request).unwrap();
    assert_eq!(found.info.source, BaseSource::Unknown);
    assert!(
        found.problems[0].contains("already holds"),
        "{:?}",
        found.problems
    );
}
