//! `compare`, and the forms in which a ground truth is named.

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use trace_audit::patch::{load_gt, load_range, parse};

use super::fixture::{Bench, TEN, commit, git, write};

fn compare(args: &[&str]) -> (i32, Value) {
    let out = Command::new(env!("CARGO_BIN_EXE_trace-audit"))
        .arg("compare")
        .args(args)
        .args(["-f", "json"])
        .output()
        .unwrap();
    let report = serde_json::from_slice(&out.stdout)
        .unwrap_or_else(|e| panic!("{e}: {}", String::from_utf8_lossy(&out.stderr)));
    (out.status.code().unwrap(), report)
}

fn schema() -> jsonschema::Validator {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/report.schema.json");
    let schema: Value = serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

/// An upstream with a base and a merged change, and a benchmark's copy of the base.
fn upstream() -> (Bench, String, String) {
    let bench = Bench::new();
    let upstream = bench.base();
    let before = git(&upstream, &["rev-parse", "HEAD"]);
    let new: String = (0..30)
        .map(|n| format!("let value_{n} = compute_margin({n}, \"number {n}\");\n"))
        .collect();
    write(&upstream, "src/new.rs", &new);
    write(&upstream, "src/a.txt", TEN.replace("five", "FIVE"));
    git(&upstream, &["mv", "keep.txt", "kept.txt"]);
    std::fs::remove_file(upstream.join("src/b.txt")).unwrap();
    let after = commit(&upstream, "the change");
    write(&bench.run(), "src/other_name.rs", new);
    (bench, before, after)
}

#[test]
fn two_commits_are_the_difference_that_git_prints() {
    if !super::git_available() {
        return;
    }
    let (bench, before, after) = upstream();
    let printed = git(&bench.base(), &["diff", "-M", &before, &after]);
    let mut printed = parse(format!("{printed}\n").as_bytes());
    printed.files.sort_by(|a, b| a.path().cmp(b.path()));
    for (from, to) in [
        (before.as_str(), after.as_str()),
        ("HEAD~1", "HEAD"),
        ("main^", "main"),
    ] {
        let range = load_range(&bench.base(), from, to).unwrap();
        assert!(range.patch.files == printed.files, "{from}..{to}");
    }
    for (from, to, code) in [("HEAD", "HEAD", 65), ("HEAD", "none", 65)] {
        assert_eq!(
            load_range(&bench.base(), from, to).unwrap_err().exit_code(),
            code
        );
    }
    assert_eq!(
        load_range(&bench.dir.path().join("none"), "a", "b")
            .unwrap_err()
            .exit_code(),
        65
    );
}

#[test]
fn a_work_tree_beside_two_references_one_of_them_a_range() {
    if !super::git_available() {
        return;
    }
    let (bench, before, after) = upstream();
    let other = bench.dir.path().join("other.patch");
    std::fs::write(
        &other,
        "--- a/keep.txt\n+++ b/keep.txt\n@@ -1 +1,2 @@\n kept\n+and something of its own\n",
    )
    .unwrap();
    let range = format!("{}@{before}..{after}", bench.base().display());
    let run = bench.run();
    // The starter as a plain directory, its history gone on.
    let starter = bench.dir.path().join("starter");
    git(
        bench.dir.path(),
        &[
            "clone",
            "-q",
            bench.base().to_str().unwrap(),
            starter.to_str().unwrap(),
        ],
    );
    git(&starter, &["checkout", "-q", &before]);
    let args = [
        "--gt",
        other.to_str().unwrap(),
        "--gt",
        &range,
        "--worktree",
        run.to_str().unwrap(),
        "--base-repo",
        starter.to_str().unwrap(),
        "--show",
    ];
    let (code, report) = compare(&args);
    let errors: Vec<_> = schema()
        .iter_errors(&report)
        .map(|e| e.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:?}");
    let found = &report["runs"][0];
    assert_eq!(found["inputs"]["gt"], range.as_str());
    assert_eq!(found["inputs"]["base"], before.as_str());
    assert_eq!((code, found["verdict"].as_str()), (1, Some("partial")));
    for key in ["trace", "provenance"] {
        assert!(found[key].is_null(), "{key}");
    }
    let blocks = found["detail"]["matching_blocks"].as_array().unwrap();
    assert_eq!(blocks.len(), 1);
    assert_eq!(blocks[0]["path"], "src/other_name.rs");
    assert_eq!(blocks[0]["lines"].as_array().unwrap().len(), 30);
    let (_, without) = compare(&args[..args.len() - 1]);
    assert!(without["runs"][0].get("detail").is_none());
}

#[test]
fn a_wrong_starter_tree_is_said_first() {
    if !super::git_available() {
        return;
    }
    let (bench, before, after) = upstream();
    let wrong = bench.dir.path().join("wrong");
    for n in 0..30 {
        write(&wrong, &format!("lib/file{n}.py"), format!("value = {n}\n"));
    }
    let range = format!("{}@{before}..{after}", bench.base().display());
    let (run, wrong) = (bench.run(), wrong.display().to_string());
    std::fs::remove_file(run.join("src/other_name.rs")).unwrap();
    let (code, report) = compare(&[
        "--gt",
        &range,
        "--worktree",
        run.to_str().unwrap(),
        "--base-repo",
        &wrong,
    ]);
    let found = &report["runs"][0];
    assert_eq!(
        (code, found["reason"].as_str()),
        (3, Some("gt_does_not_fit"))
    );
    let first = found["problems"][0].as_str().unwrap();
    assert!(
        first.contains("is it the starter tree of this task?"),
        "{first}"
    );
}

#[test]
fn every_form_of_a_ground_truth() {
    let dir = tempfile::tempdir().unwrap();
    let diff = "diff --git a/src/x.py b/src/x.py\n--- a/src/x.py\n+++ b/src/x.py\n@@ -1 +1,2 @@\n one\n+two = 2\n";
    let no_prefix = diff.replace("a/src", "src").replace("b/src", "src");
    let row = serde_json::json!({"instance_id": "o__r-1", "patch": diff, "test_patch": diff});
    let envelope =
        "*** Begin Patch\n*** Update File: src/x.py\n@@\n one\n+two = 2\n*** End Patch\n";
    let merge = "diff --cc src/x.py\nindex 1,2..3\n--- a/src/x.py\n+++ b/src/x.py\n@@@ -1,1 -1,1 +1,2 @@@\n  one\n++two = 2\n";
    let plain = "--- src/x.py.orig\t2031-01-01 00:00:00\n+++ src/x.py\t2031-01-02 00:00:00\n@@ -1 +1,2 @@\n one\n+two = 2\n";
    let quoted = diff.replace(
        "a/src/x.py b/src/x.py",
        r#""a/\163rc/x.py" "b/\163rc/x.py""#,
    );
    let crlf = diff.replace('\n', "\r\n");
    let cut = format!("{diff}@@ -9,3 +10,4 @@\n nine\n+ten = 10\n");
    for (name, text, problems) in [
        ("git diff", diff, false),
        ("without prefix", &no_prefix, false),
        ("SWE-bench row", &row.to_string(), false),
        (
            "rows in a list",
            &serde_json::json!([row]).to_string(),
            false,
        ),
        ("envelope of an edit tool", envelope, false),
        ("merge", merge, false),
        ("diff -u", plain, false),
        ("quoted", &quoted, false),
        ("CRLF", &crlf, true),
        ("cut off", &cut, true),
    ] {
        let path = dir.path().join("gt");
        std::fs::write(&path, text).unwrap();
        let gt = load_gt(&path, None).unwrap();
        assert_eq!(gt.patch.files.len(), 1, "{name}");
        assert_eq!(gt.patch.files[0].path(), "src/x.py", "{name}");
        let first = gt.patch.files[0].added().next().unwrap();
        assert_eq!(first.text, "two = 2", "{name}");
        assert_eq!(
            !gt.patch.problems.is_empty(),
            problems,
            "{name}: {:?}",
            gt.patch.problems
        );
    }
    // Forms whose content is not lines of text.
    let odd = [
        (
            "submodule",
            "diff --git a/mod b/mod\nindex 1111111..2222222 160000\n--- a/mod\n+++ b/mod\n@@ -1 +1 @@\n-Subproject commit 1111111\n+Subproject commit 2222222\n",
        ),
        (
            "mode",
            "diff --git a/x.sh b/x.sh\nold mode 100644\nnew mode 100755\n",
        ),
        (
            "rename",
            "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
        ),
        (
            "binary",
            "diff --git a/p.png b/p.png\nindex 1..2 100644\nGIT binary patch\nliteral 3\nKcmZ\n\nliteral 3\nKcmZ\n\n",
        ),
        (
            "notebook",
            "diff --git a/n.ipynb b/n.ipynb\n--- a/n.ipynb\n+++ b/n.ipynb\n@@ -1 +1,2 @@\n {\n+   \"source\": [\"x = compute_margin(1)\\n\"],\n",
        ),
    ];
    for (name, text) in odd {
        let path = dir.path().join("gt");
        std::fs::write(&path, text).unwrap();
        let gt = load_gt(&path, None).unwrap();
        assert_eq!(gt.patch.files.len(), 1, "{name}");
        assert!(
            gt.patch.problems.is_empty(),
            "{name}: {:?}",
            gt.patch.problems
        );
    }
}

/// The agent's patch in forms other than `git diff`, against a reference of 110 lines.
#[test]
fn every_form_of_a_patch_of_the_agent_is_the_same_copy() {
    let dir = tempfile::tempdir().unwrap();
    let lines = |file: &str, count: usize| -> Vec<String> {
        (0..count)
            .map(|n| format!("let {file}_{n} = compute_margin({n}, \"{file} number {n}\");"))
            .collect()
    };
    let (new, changed) = (lines("fresh", 60), lines("changed", 50));
    let with = |prefix: &str, lines: &[String]| -> String {
        lines
            .iter()
            .map(|line| format!("{prefix}{line}\n"))
            .collect()
    };
    let diff = |a: &str, b: &str| {
        format!(
            "diff --git {a}src/fresh.rs {b}src/fresh.rs\nnew file mode 100644\n--- /dev/null\n+++ {b}src/fresh.rs\n\
             @@ -0,0 +1,60 @@\n{}diff --git {a}src/a.txt {b}src/a.txt\n--- {a}src/a.txt\n+++ {b}src/a.txt\n\
             @@ -10 +10,51 @@\n ten\n{}",
            with("+", &new),
            with("+", &changed)
        )
    };
    let gt = dir.path().join("gt.patch");
    std::fs::write(&gt, diff("a/", "b/")).unwrap();
    let envelope = format!(
        "*** Begin Patch\n*** Add File: src/fresh.rs\n{}*** Update File: src/a.txt\n@@\n ten\n{}*** End Patch\n",
        with("+", &new),
        with("+", &changed)
    );
    let parts: Vec<String> = [
        format!("*** Add File: src/fresh.rs\n{}", with("+", &new)),
        format!(
            "*** Update File: src/a.txt\n@@\n ten\n{}",
            with("+", &changed)
        ),
    ]
    .iter()
    .map(|part| format!("*** Begin Patch\n{part}*** End Patch\n"))
    .collect();
    let moved = envelope.replace(
        "Update File: src/a.txt\n",
        "Update File: src/a.txt\n*** Move to: lib/b.txt\n",
    );
    let combined = format!(
        "diff --cc src/fresh.rs\nindex 1,2..3\n--- a/src/fresh.rs\n+++ b/src/fresh.rs\n@@@ -0,0 -0,0 +1,60 @@@\n{}\
         diff --cc src/a.txt\nindex 1,2..3\n--- a/src/a.txt\n+++ b/src/a.txt\n@@@ -10,1 -10,1 +10,51 @@@\n  ten\n{}",
        with("++", &new),
        with("++", &changed)
    );
    let own = envelope
        .replace("compute_margin", "measure")
        .replace("let ", "const ");
    for (name, text, want) in [
        ("git diff", diff("a/", "b/"), "invalid"),
        ("without prefix", diff("", ""), "invalid"),
        ("CRLF", diff("a/", "b/").replace('\n', "\r\n"), "invalid"),
        ("envelope", envelope.clone(), "invalid"),
        ("envelope, CRLF", envelope.replace('\n', "\r\n"), "invalid"),
        ("envelope, moved", moved, "invalid"),
        (
            "several envelopes, with words between",
            parts.join("and then\n"),
            "invalid",
        ),
        ("combined", combined, "invalid"),
        ("another solution in an envelope", own, "clean"),
    ] {
        let patch = dir.path().join("agent.patch");
        std::fs::write(&patch, text).unwrap();
        let (_, report) = compare(&[
            "--gt",
            gt.to_str().unwrap(),
            "--patch",
            patch.to_str().unwrap(),
        ]);
        let found = &report["runs"][0];
        assert_eq!(found["verdict"], want, "{name}: {}", found["problems"]);
        if want == "invalid" {
            assert_eq!(found["similarity"]["hand_written_identical"], 2, "{name}");
        }
    }
}

/// A patch that does not show what was changed acquits nobody; one that shows less is judged by what it shows.
#[test]
fn a_patch_that_cannot_be_read_is_not_clean() {
    let dir = tempfile::tempdir().unwrap();
    let lines: Vec<String> = (0..40)
        .map(|n| format!("let margin_{n} = compute_margin({n}, \"number {n}\");"))
        .collect();
    let body = |sign: &str| -> String { lines.iter().map(|l| format!("{sign}{l}\n")).collect() };
    let head = "diff --git a/src/m.rs b/src/m.rs\nindex 1111111..2222222 100644\n";
    let names = "--- a/src/m.rs\n+++ b/src/m.rs\n";
    let gt = format!("{head}{names}@@ -1 +1,41 @@\n fn m() {{}}\n{}", body("+"));
    write(dir.path(), "gt.patch", &gt);
    let other = "diff --git a/src/o.rs b/src/o.rs\n--- a/src/o.rs\n+++ b/src/o.rs\n@@ -1 +1,2 @@\n a\n+let own = 1;\n";
    for (name, patch, want) in [
        ("whole", gt.clone(), "partial"),
        ("other", other.to_owned(), "clean"),
        ("mail", format!("{other}-- \n2.40\n\nFrom 1 Mon\nSubject: b\n\n- one\n+ two\n---\n{other}"), "clean"),
        ("crlf", other.replace('\n', "\r\n"), "clean"),
        ("mode", "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n".into(), "clean"),
        ("empty file", "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n".into(), "clean"),
        ("another binary", "diff --git a/x.png b/x.png\nindex 1..2 100644\nBinary files a/x.png and b/x.png differ\n".into(), "clean"),
        ("binary", format!("{head}Binary files a/src/m.rs and b/src/m.rs differ\n"), "inconclusive"),
        ("data", format!("{head}GIT binary patch\nliteral 5\nMcmZQz\n\nliteral 0\nHcmV?d00001\n\n"), "inconclusive"),
        ("dots", format!("{head}{names}@@ ... @@\n{}", body("+")), "inconclusive"),
        ("one line", gt.replace('\n', ""), "inconclusive"),
        ("counts", gt.replace("+1,41", "+1,1"), "inconclusive"),
        ("signs", gt.replace("\n+let", "\n>let"), "inconclusive"),
    ] {
        let path = dir.path().join("own.patch");
        std::fs::write(&path, patch).unwrap();
        let gt = dir.path().join("gt.patch");
        let (_, report) = compare(&["--gt", gt.to_str().unwrap(), "--patch", path.to_str().unwrap()]);
        assert_eq!(report["runs"][0]["verdict"], want, "{name}: {report:#}");
    }
}
