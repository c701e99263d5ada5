//! The table in the documentation of `patch::objects`, row by row.

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
        gt: None,
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
            gt: None,
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

#[test]
fn a_repository_of_another_user_is_read() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    bench.work();
    let (run, start) = (bench.run(), head(&bench.base()));
    if std::os::unix::fs::chown(run.join(".git"), Some(12345), None).is_err() {
        println!("skipped: only root can give a directory away");
        return;
    }
    assert_eq!(brief(&read(&run, &start).patch), work());
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
        gt: None,
    };
    let found = choose_base(&request).unwrap();
    assert_eq!(found.info.source, BaseSource::BaseRepoTree);
    assert_eq!(brief(&against(&run, &found, None).patch), work());
}
