//! States of a run in which `git diff HEAD` and a script around it see nothing, or too much, or fail. Each has one
//! right patch.

use trace_audit::patch::model::FileStatus::{Added, Modified};
use trace_audit::patch::model::Patch;

use super::fixture::{Bench, Brief, brief, commit, entry, git, work, write};

/// Prepares base and run, and does some work.
type Prepare = fn(&Bench);

fn both(bench: &Bench, name: &str, content: &str) {
    write(&bench.base(), name, content);
    write(&bench.run(), name, content);
    commit(&bench.base(), "more");
    commit(&bench.run(), "more");
}

fn text(patch: &Patch, path: &str) -> Vec<u8> {
    let file = patch.files.iter().find(|f| *f.path() == path).unwrap();
    let mut text = Vec::new();
    for line in file.added() {
        text.extend_from_slice(&line.text);
        text.push(b'\n');
    }
    text
}

#[test]
fn each_state_has_its_right_patch() {
    if !super::git_available() {
        return;
    }
    let rows: Vec<(&str, Prepare, Brief)> = vec![
        (
            "the agent committed its work",
            |bench| {
                bench.work();
                commit(&bench.run(), "work");
            },
            work(),
        ),
        (
            "the agent stashed its work: the final tree is the starter",
            |bench| {
                bench.work();
                git(&bench.run(), &["stash", "-q", "-u"]);
            },
            vec![],
        ),
        (
            "diff.noprefix, diff.mnemonicPrefix, color.ui in the configuration",
            |bench| {
                bench.work();
                for (key, value) in [
                    ("diff.noprefix", "true"),
                    ("diff.mnemonicPrefix", "true"),
                    ("color.ui", "always"),
                ] {
                    git(&bench.run(), &["config", key, value]);
                }
            },
            work(),
        ),
        (
            "an untracked path with spaces",
            |bench| {
                let name =
                    "Misc/NEWS.d/next/Core and Builtins/2020-10-23-08-54-04.x-42128.SWmVEm.rst";
                write(&bench.run(), name, "words\n");
            },
            vec![entry(
                "Misc/NEWS.d/next/Core and Builtins/2020-10-23-08-54-04.x-42128.SWmVEm.rst",
                Added,
                1,
                0,
            )],
        ),
        (
            "a changed file with a name that is no ASCII",
            |bench| {
                both(bench, "src/caf\u{e9} \u{6587}.txt", "old\n");
                write(&bench.run(), "src/caf\u{e9} \u{6587}.txt", "new\n");
            },
            vec![entry("src/caf\u{e9} \u{6587}.txt", Modified, 1, 1)],
        ),
        (
            "bytes that are no UTF-8, in a new file, a changed one and a binary one",
            |bench| {
                both(bench, "latin.txt", "one\ntwo\n");
                write(&bench.run(), "latin.txt", b"one\ntwo caf\xe9\n");
                write(&bench.run(), "fresh.txt", b"\xff\xfe\xe9\n");
                write(&bench.run(), "data.bin", b"\0\xff");
            },
            vec![
                entry("data.bin", Added, 0, 0),
                entry("fresh.txt", Added, 1, 0),
                entry("latin.txt", Modified, 1, 1),
            ],
        ),
        (
            "a new file that a .gitignore of the run names",
            |bench| {
                write(&bench.run(), "src/.gitignore", "fresh.txt\n");
                write(&bench.run(), "src/fresh.txt", "new\n");
            },
            vec![
                entry("src/.gitignore", Added, 1, 0),
                entry("src/fresh.txt", Added, 1, 0),
            ],
        ),
        (
            "an added line that looks like a file header",
            |bench| {
                both(bench, "zzz", "z\n");
                write(
                    &bench.run(),
                    "keep.txt",
                    "kept\n++ b/zzz\n-- a/zzz\n@@ -1 +1 @@\n",
                );
            },
            vec![entry("keep.txt", Modified, 3, 0)],
        ),
        (
            "traces and reports of evaluators beside the work",
            |bench| {
                for name in [
                    "claude_run.jsonl",
                    "eval_report.md",
                    ".claude/settings.json",
                ] {
                    write(&bench.run(), name, "{}\n");
                }
                write(&bench.run(), "docs/eval_report.md", "mine\n");
            },
            vec![entry("docs/eval_report.md", Added, 1, 0)],
        ),
    ];
    for (name, prepare, want) in rows {
        let bench = Bench::new();
        prepare(&bench);
        let agent = bench.read();
        assert_eq!(brief(&agent.patch), want, "{name}");
        assert!(agent.flags.unreadable.is_empty(), "{name}");
    }
}

#[test]
fn lines_are_kept_byte_by_byte() {
    if !super::git_available() {
        return;
    }
    let bench = Bench::new();
    let content =
        b"form\x0cfeed\nvertical\x0btab\nlone\rreturn\nnext\xc2\x85line\n\xe9\xff\n++ b/x\n";
    write(&bench.run(), "odd.txt", content);
    assert_eq!(text(&bench.read().patch, "odd.txt"), content);
}
