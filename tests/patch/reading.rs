//! Patches read from text, against known totals and against git.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use trace_audit::patch::model::{FilePatch, FileStatus, LineKind, Patch};
use trace_audit::patch::{parse, render};

use super::fixture::{TEN, commit, git, write};

pub(super) fn real_patches() -> Vec<PathBuf> {
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
pub(super) fn real_patches_have_the_known_totals() {
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
pub(super) type Numstat = BTreeMap<Vec<u8>, Option<(usize, usize)>>;

pub(super) fn numstat_of_git(patch: &Path) -> Numstat {
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

/// The same of what was parsed. git gives a rename its new path.
pub(super) fn numstat(patch: &Patch) -> Numstat {
    let one = |f: &FilePatch| {
        let counts = (f.added().count(), f.lines_of(LineKind::Removed).count());
        (f.path().to_vec(), (!f.binary).then_some(counts))
    };
    patch.files.iter().map(one).collect()
}

#[test]
pub(super) fn real_patches_agree_with_git_file_by_file() {
    let paths = real_patches();
    if paths.is_empty() || !super::git_available() {
        return;
    }
    for path in &paths {
        let patch = parse(&std::fs::read(path).unwrap());
        assert!(
            numstat(&patch) == numstat_of_git(path),
            "{}",
            path.display()
        );
    }
}

/// A repository with two commits between which everything happens that git can write in a patch.
fn eventful() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    git(at, &["init", "-q", "-b", "main"]);
    let long: String = (0..200).map(|n| format!("line {n}\n")).collect();
    write(at, "plain.txt", TEN);
    write(at, "with space.txt", TEN);
    write(at, "\u{6587}\u{4ef6}.txt", TEN);
    write(at, "tab\there \"quoted\"", TEN);
    write(at, "moved.txt", &long);
    write(at, "moved-same.txt", TEN.repeat(2));
    write(at, "copied.txt", long.replace("line", "copied line"));
    write(at, "gone.txt", TEN);
    write(at, "empty-gone", "");
    write(at, "crlf.txt", TEN.replace('\n', "\r\n"));
    write(at, "latin.txt", b"caf\xe9\n\x0c\nform feed\n");
    write(at, "no-newline.txt", "a\nb");
    write(at, "picture.bin", b"\0\x01\x02 old");
    write(at, "query.sql", "-- one\n-- two\n++ three\n");
    write(at, "script.sh", "#!/bin/sh\n");
    commit(at, "before");
    write(
        at,
        "plain.txt",
        TEN.replace("two\n", "two\nand a half\n")
            .replace("nine\n", ""),
    );
    write(at, "with space.txt", TEN.replace("one", "1"));
    write(at, "\u{6587}\u{4ef6}.txt", TEN.replace("ten\n", "ten"));
    write(at, "tab\there \"quoted\"", "");
    std::fs::create_dir(at.join("to")).unwrap();
    std::fs::remove_file(at.join("moved.txt")).unwrap();
    write(at, "to/moved.txt", long.replace("line 7\n", "line seven\n"));
    std::fs::rename(at.join("moved-same.txt"), at.join("to/same.txt")).unwrap();
    write(
        at,
        "copied.txt",
        long.replace("line", "copied line").replace("17\n", "\n"),
    );
    write(
        at,
        "copy.txt",
        long.replace("line", "copied line").replace("27\n", "\n"),
    );
    std::fs::remove_file(at.join("gone.txt")).unwrap();
    std::fs::remove_file(at.join("empty-gone")).unwrap();
    write(at, "empty-new", "");
    write(
        at,
        "new.txt",
        "-- a\n++ b\n@@ -1 +1 @@\ndiff --git a/x b/x\n--- a/x\n+++ b/x\n",
    );
    write(
        at,
        "crlf.txt",
        TEN.replace("three", "3").replace('\n', "\r\n"),
    );
    write(at, "latin.txt", b"caf\xe9 au lait\n\x0c\nform feed\n");
    write(at, "no-newline.txt", "a\nc");
    write(at, "picture.bin", b"\0\x01\x02 new");
    write(at, "query.sql", "-- two\n++ three\n++ four\n-- a/x\n");
    git(at, &["add", "-A"]);
    git(at, &["update-index", "--chmod=+x", "script.sh"]);
    git(
        at,
        &[
            "commit",
            "-q",
            "-m",
            "after\n\n--- a/fake\n+++ b/fake\n is no patch\n@@ -1 +1 @@\n",
        ],
    );
    dir
}

#[test]
fn every_way_in_which_git_writes_a_patch() {
    if !super::git_available() {
        return;
    }
    let dir = eventful();
    let range = ["HEAD~1", "HEAD"];
    let count = |status: FileStatus, patch: &Patch| {
        patch.files.iter().filter(|f| f.status == status).count()
    };
    for options in [
        &["-M"][..],
        &["--no-renames"],
        &["-M", "-C", "--find-copies-harder"],
        &["-M", "--binary"],
        &["-M", "--full-index", "--function-context"],
        &["-M", "-U0"],
        &["-M", "-U50"],
        &["--no-renames", "--no-prefix"],
        &["-M", "--no-prefix"],
        &["-M", "--src-prefix=i/", "--dst-prefix=w/"],
        &["-M", "--src-prefix=old/", "--dst-prefix=new/"],
    ] {
        let write_patch = |command: &[&str]| {
            let out = Command::new("git")
                .args(command)
                .args(options)
                .args(["--no-color", "--no-ext-diff"])
                .args(range)
                .current_dir(dir.path())
                .output()
                .unwrap();
            assert!(
                out.status.success(),
                "{}",
                String::from_utf8_lossy(&out.stderr)
            );
            out.stdout
        };
        let text = write_patch(&["diff"]);
        let patch = parse(&text);
        assert!(
            patch.problems.is_empty(),
            "{options:?}: {:?}",
            patch.problems
        );
        // What git counts with the same options, which are not those of `git apply`.
        let mut want = BTreeMap::new();
        let listed = write_patch(&["diff", "--numstat", "-z"]);
        let mut records = listed.split(|b| *b == 0);
        while let Some(record) = records.next().filter(|r| !r.is_empty()) {
            let fields: Vec<&[u8]> = record.splitn(3, |b| *b == b'\t').collect();
            let number = |f: &[u8]| String::from_utf8_lossy(f).parse::<usize>().ok();
            // A move has its two paths in records of their own.
            let path = match fields[2] {
                b"" => records.nth(1).unwrap(),
                path => path,
            };
            want.insert(path.to_vec(), number(fields[0]).zip(number(fields[1])));
        }
        assert_eq!(numstat(&patch), want, "{options:?}");
        assert_eq!(count(FileStatus::ModeOnly, &patch), 1, "{options:?}");
        let names = write_patch(&["diff", "--name-status"]);
        let with_mark = |mark: u8| {
            names
                .split(|b| *b == b'\n')
                .filter(|l| l.first() == Some(&mark))
                .count()
        };
        assert_eq!(
            count(FileStatus::Renamed, &patch),
            with_mark(b'R'),
            "{options:?}"
        );
        assert_eq!(
            count(FileStatus::Copied, &patch),
            with_mark(b'C'),
            "{options:?}"
        );
        assert_eq!(
            count(FileStatus::Added, &patch),
            with_mark(b'A'),
            "{options:?}"
        );
        assert_eq!(
            count(FileStatus::Deleted, &patch),
            with_mark(b'D'),
            "{options:?}"
        );
        if !options.contains(&"--no-prefix") && !options.contains(&"-U0") {
            let again = parse(&render(&patch));
            assert!(again == patch, "{options:?}: not the same after writing");
        }
    }
    let mail = Command::new("git")
        .args(["format-patch", "--stdout", "--binary", "-M", "-1"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    let plain = Command::new("git")
        .args(["diff", "-M", "HEAD~1", "HEAD"])
        .current_dir(dir.path())
        .output()
        .unwrap();
    assert!(parse(&mail.stdout).files == parse(&plain.stdout).files);
}
