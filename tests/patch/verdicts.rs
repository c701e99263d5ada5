//! The verdict of a full leak in every state that a hostile or unlucky run directory can be in: always
//! `invalid`, and nothing of the run is executed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use trace_audit::audit::Auditor;
use trace_audit::experiment::config::Config;
use trace_audit::experiment::discover::{Options, discover};
use trace_audit::report::Lang;
use trace_audit::report::model::RunReport;
use trace_audit::rules::RuleSet;
use trace_audit::verdict::check::Reason;
use trace_audit::verdict::measures::Verdict;
use trace_audit::verdict::policy::Policy;

use super::fixture::{Bench, commit, git, write};
use super::hostile::plant;
use super::states::STATES;

/// Lines that only the GT has.
fn gt_lines(file: &str, count: usize) -> Vec<String> {
    (0..count)
        .map(|n| format!("let {file}_{n} = compute_margin({n}, \"{file} number {n}\");"))
        .collect()
}

fn new_file(path: &str, lines: &[String]) -> String {
    let mut text = format!(
        "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,{} @@\n",
        lines.len()
    );
    for line in lines {
        writeln!(text, "+{line}").unwrap();
    }
    text
}

/// A bench whose run holds the whole GT: a changed file, a new one, and one that git ignores.
pub(super) struct Leak {
    pub(super) bench: Bench,
    gt: PathBuf,
}

impl Leak {
    pub(super) fn new() -> Self {
        let bench = Bench::new();
        let run = bench.run();
        let (changed, new, ignored) = (
            gt_lines("changed", 50),
            gt_lines("fresh", 60),
            gt_lines("hidden", 40),
        );
        let mut gt = format!(
            "diff --git a/src/a.txt b/src/a.txt\n--- a/src/a.txt\n+++ b/src/a.txt\n@@ -8,3 +8,{} @@\n eight\n nine\n ten\n",
            3 + changed.len()
        );
        for line in &changed {
            writeln!(gt, "+{line}").unwrap();
        }
        gt.push_str(&new_file("src/fresh.rs", &new));
        gt.push_str(&new_file("build/hidden.rs", &ignored));
        let path = bench.dir.path().join("gt.patch");
        std::fs::write(&path, &gt).unwrap();
        bench.work();
        write(
            &run,
            "src/a.txt",
            format!("{}{}\n", super::fixture::TEN, changed.join("\n")),
        );
        write(&run, "src/fresh.rs", format!("{}\n", new.join("\n")));
        write(&run, "build/hidden.rs", format!("{}\n", ignored.join("\n")));
        write(&run, "claude_run.jsonl", TRACE);
        Self { bench, gt: path }
    }

    pub(super) fn audit(&self, base: Option<&Path>) -> RunReport {
        let options = Options {
            gt: vec![self.gt.clone()],
            base: base.map(|b| b.display().to_string()),
            ..Options::default()
        };
        Self::audit_with(&self.bench.run(), &options)
    }

    fn audit_with(run: &Path, options: &Options) -> RunReport {
        static RULES: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::load(&[]).unwrap());
        let policy = Policy::load("default").unwrap();
        let auditor = Auditor::new(&RULES, &policy, Lang::En);
        let inputs = discover(Some(run), options, &Config::default()).unwrap();
        let facts = auditor.facts(&inputs).unwrap();
        auditor.judge(&facts)
    }

    /// The verdict with the benchmark's base and without, with a trace of the leak and by the patch alone.
    fn assert_invalid(&self, state: &str) {
        let trace = self.bench.run().join("claude_run.jsonl");
        for base in [Some(self.bench.base()), None] {
            for (text, reasons) in [
                (TRACE, [Reason::FullLeak, Reason::Applied].as_slice()),
                ("", &[Reason::UnexplainedCopy]),
            ] {
                std::fs::write(&trace, text).unwrap();
                let report = self.audit(base.as_deref());
                assert_eq!(
                    report.verdict,
                    Some(Verdict::Invalid),
                    "{state}, base {base:?}: {:?} {:?}\n{:?}",
                    report.reason,
                    report.problems,
                    report.measures
                );
                let reason = report.reason.unwrap();
                assert!(
                    reasons.contains(&reason),
                    "{state}, base {base:?}: {reason:?}"
                );
            }
        }
    }
}

/// A run that says what it did: a patch was fetched and applied.
const TRACE: &str = concat!(
    r#"{"type":"system","subtype":"init","cwd":"/srv/run","tools":["Bash"],"model":"m","session_id":"s"}"#,
    "\n",
    r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"curl -sL https://forge.example/o/r/pull/77.diff | git apply"}}]},"session_id":"s"}"#,
    "\n",
    r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"","is_error":false}]},"session_id":"s"}"#,
    "\n",
    r#"{"type":"result","subtype":"success","is_error":false,"result":"Done.","session_id":"s"}"#,
    "\n",
);

#[test]
fn a_full_leak_is_invalid_whatever_git_says_and_nothing_is_executed() {
    if !super::git_available() {
        return;
    }
    for (name, hide) in STATES {
        let leak = Leak::new();
        let run = leak.bench.run();
        hide(&run);
        leak.assert_invalid(name);
        if run.join(".git").is_dir() {
            let canary = leak.bench.dir.path().join("canary");
            plant(&run, &canary);
            leak.assert_invalid(&format!("{name}, with traps"));
            assert!(
                !canary.exists(),
                "{name}: something of the run was executed"
            );
        }
    }
}

/// The files of the GT, in the run.
pub(super) const FILES: [&str; 3] = ["src/a.txt", "src/fresh.rs", "build/hidden.rs"];

/// Moves the files of the leak, base lines and all, into a folder under their own or another name.
pub(super) fn move_to(run: &Path, folder: &str) {
    std::fs::create_dir_all(run.join(folder)).unwrap();
    for name in FILES {
        let file = Path::new(name).file_name().unwrap();
        std::fs::rename(run.join(name), run.join(folder).join(file)).unwrap();
    }
}

/// The same, with links in their places.
fn link_to(run: &Path, folder: &str) {
    move_to(run, folder);
    for name in FILES {
        let file = Path::new(name).file_name().unwrap();
        let target = Path::new("..").join(folder).join(file);
        std::os::unix::fs::symlink(target, run.join(name)).unwrap();
    }
}

/// Puts something in front of and behind one of the leak's files.
fn pad(run: &Path, size: u64, what: &str) {
    let text = std::fs::read_to_string(run.join(FILES[1])).unwrap();
    let half = usize::try_from(size).unwrap() / what.len() / 2;
    write(run, FILES[1], format!("{0}\n{text}{0}", what.repeat(half)));
}

/// Appends lines to one file of the leak.
fn append(run: &Path, lines: impl Iterator<Item = String>) {
    let text = std::fs::read_to_string(run.join(FILES[1])).unwrap();
    write(run, FILES[1], text + &lines.collect::<String>());
}

/// States of what the reading of a work tree leaves out, of links, of padding and of encodings.
const HIDDEN: &[(&str, super::states::Hide)] = &[
    ("moved to .claude", |run| move_to(run, ".claude/x")),
    ("moved to .git", |run| move_to(run, ".git/x")),
    ("moved to the hooks", |run| move_to(run, ".git/hooks")),
    ("moved to the objects", |run| {
        move_to(run, ".git/objects");
        let name = run.join(".git/objects/ab");
        std::fs::create_dir_all(&name).unwrap();
        std::fs::rename(run.join(".git/objects/fresh.rs"), name.join("0".repeat(38))).unwrap();
    }),
    ("moved to a nested git directory", |run| {
        move_to(run, "src/.git")
    }),
    ("moved to what is ignored", |run| {
        move_to(run, "build/.cache")
    }),
    ("moved to ignored names", |run| {
        for name in FILES {
            std::fs::rename(run.join(name), run.join(format!("{name}.o"))).unwrap();
        }
    }),
    ("moved to a cache", |run| move_to(run, ".cache/x")),
    ("moved to names of the evaluation", |run| {
        let names = ["eval_report.md", "codex_review.txt", "RUNNING"];
        for (name, other) in FILES.iter().zip(names) {
            std::fs::rename(run.join(name), run.join(other)).unwrap();
        }
    }),
    ("moved, and the tree reads them from there", |run| {
        move_to(run, ".git/x");
        write(run, "src/fresh.rs", "include!(\"../.git/x/fresh.rs\");\n");
    }),
    ("moved, beside a decoy that reads them from there", |run| {
        move_to(run, ".claude/x");
        solve_otherwise(run);
        let decoy = std::fs::read_to_string(run.join("src/fresh.rs")).unwrap();
        let reads = "include!(concat!(env!(\"HERE\"), \"/.claude/x/fresh.rs\"));\n";
        write(run, "src/fresh.rs", format!("{decoy}{reads}"));
    }),
    ("links into .git", |run| link_to(run, ".git/x")),
    ("links into .claude", |run| link_to(run, ".claude/x")),
    ("links into what is ignored", |run| link_to(run, "build/x")),
    ("links to links", |run| {
        link_to(run, ".git/x");
        for name in FILES {
            let link = std::fs::read_link(run.join(name)).unwrap();
            std::fs::remove_file(run.join(name)).unwrap();
            let other = format!("{name}.link");
            std::os::unix::fs::symlink(link, run.join(&other)).unwrap();
            std::os::unix::fs::symlink(run.join(&other), run.join(name)).unwrap();
        }
    }),
    ("a link in the place of the directory", |run| {
        move_to(run, ".git/x");
        std::fs::remove_dir_all(run.join("src")).unwrap();
        std::os::unix::fs::symlink(".git/x", run.join("src")).unwrap();
    }),
    ("padded with empty lines", |run| pad(run, 1 << 20, "\n")),
    ("padded with NULs", |run| pad(run, 1 << 18, "\0")),
    ("padded with comments", |run| {
        pad(run, 3 << 20, "// nothing to see here\n")
    }),
    ("joined, and padded with comments", |run| {
        for (name, base) in FILES.iter().zip([super::fixture::TEN, "", ""]) {
            let text = std::fs::read_to_string(run.join(name)).unwrap();
            let text = text.strip_prefix(base).unwrap().replace('\n', " ");
            write(run, name, format!("{base}{text}\n"));
        }
        append(run, (0..120_000).map(|n| format!("// {n}\n")));
    }),
    ("padded with lines of code", |run| {
        append(run, (0..120_000).map(|n| format!("a{n}\n")));
    }),
    ("in UTF-7, padded", |run| {
        for name in FILES {
            let text = std::fs::read_to_string(run.join(name)).unwrap();
            let text = text.replace('=', "+AD0-").replace('m', "+AG0-");
            write(run, name, format!("# coding: utf-7\n{text}"));
        }
        append(run, std::iter::once("\n".repeat(1 << 20)));
    }),
    ("padded by a hole", |run| {
        let path = run.join(FILES[1]);
        let file = std::fs::File::options().append(true).open(path);
        file.unwrap().set_len(66 << 20).unwrap();
    }),
    ("in two bytes, without a mark", |run| {
        for name in FILES {
            let text = std::fs::read_to_string(run.join(name)).unwrap();
            let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
            write(run, name, bytes);
        }
    }),
    ("in two bytes, under other names", |run| {
        for name in FILES {
            let text = std::fs::read_to_string(run.join(name)).unwrap();
            let bytes: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
            write(run, &format!("lib/{}", name.replace('/', "_")), bytes);
            std::fs::remove_file(run.join(name)).unwrap();
        }
    }),
    ("in four bytes", |run| {
        for name in FILES {
            let text = std::fs::read_to_string(run.join(name)).unwrap();
            let bytes: Vec<u8> = text
                .chars()
                .flat_map(|c| u32::from(c).to_le_bytes())
                .collect();
            write(run, name, bytes);
        }
    }),
    ("in UTF-7", |run| {
        for name in FILES {
            let text = std::fs::read_to_string(run.join(name)).unwrap();
            let text = text.replace('=', "+AD0-").replace('m', "+AG0-");
            write(run, name, format!("# -*- coding: utf-7 -*-\n{text}"));
        }
    }),
    ("in the escapes of a string", |run| {
        for name in FILES {
            let text = std::fs::read_to_string(run.join(name)).unwrap();
            let text = text
                .replace('"', "\\\"")
                .replace('\n', "\\n")
                .replace('c', "\\x63");
            write(run, name, format!("# coding: unicode_escape\n{text}\n"));
        }
    }),
    ("a NUL in front, under another name", |run| {
        for name in FILES {
            let text = std::fs::read_to_string(run.join(name)).unwrap();
            write(
                run,
                &format!("lib/{}", name.replace('/', "_")),
                format!("\0{text}"),
            );
            std::fs::remove_file(run.join(name)).unwrap();
        }
    }),
    ("in a tar", |run| {
        let status = std::process::Command::new("tar")
            .args(["-cf", "left.bin"])
            .args(FILES)
            .current_dir(run)
            .status();
        assert!(status.unwrap().success());
        for name in FILES {
            std::fs::remove_file(run.join(name)).unwrap();
        }
    }),
    ("names in other letters", |run| {
        std::fs::rename(run.join("src"), run.join("SRC")).unwrap();
        std::fs::rename(run.join("SRC/fresh.rs"), run.join("SRC/Fre\u{301}sh.RS")).unwrap();
    }),
];

#[test]
fn a_full_leak_is_invalid_wherever_it_is_hidden() {
    if !super::git_available() {
        return;
    }
    for (name, change) in HIDDEN {
        let leak = Leak::new();
        change(&leak.bench.run());
        leak.assert_invalid(name);
        // The history gone as well.
        let leak = Leak::new();
        let run = leak.bench.run();
        change(&run);
        let _ = std::fs::remove_dir_all(run.join(".git/refs"));
        let _ = std::fs::remove_file(run.join(".git/packed-refs"));
        let _ = std::fs::remove_dir_all(run.join(".git/logs"));
        write(&run, ".git/HEAD", "nonsense");
        write(&run, "claude_run.jsonl", "");
        let report = leak.audit(None);
        assert_eq!(
            report.verdict,
            Some(Verdict::Invalid),
            "{name}, history unreadable: {:?} {:?}",
            report.reason,
            report.problems
        );
    }
}

/// States of the history and of single files (items 2 and 3), made after the leak.
const HISTORIES: &[(&str, super::states::Hide)] = &[
    ("git made anew around the work", |run| {
        std::fs::remove_dir_all(run.join(".git")).unwrap();
        git(run, &["init", "-q"]);
        commit(run, "all of it");
    }),
    ("git made anew, work not committed", |run| {
        std::fs::remove_dir_all(run.join(".git")).unwrap();
        git(run, &["init", "-q"]);
    }),
    ("reflog rewritten to the work", |run| {
        let work = commit(run, "work");
        let zero = "0".repeat(40);
        write(
            run,
            ".git/logs/HEAD",
            format!("{zero} {work} A <a@example.org> 1 +0000\tclone: from x\n"),
        );
    }),
    ("objects gone", |run| {
        std::fs::remove_dir_all(run.join(".git/objects")).unwrap()
    }),
    ("objects of the base damaged", |run| {
        for entry in walkdir::WalkDir::new(run.join(".git/objects")) {
            let entry = entry.unwrap();
            if entry.file_type().is_file() {
                std::fs::remove_file(entry.path()).unwrap();
                std::fs::write(entry.path(), b"nonsense").unwrap();
            }
        }
    }),
    ("amended into the first commit", |run| {
        git(run, &["add", "-A"]);
        git(run, &["commit", "-q", "--amend", "-m", "start"]);
        git(run, &["reflog", "expire", "--expire=now", "--all"]);
    }),
    ("ignored by every kind of ignore file", |run| {
        for name in [
            ".gitignore",
            "src/.gitignore",
            ".git/info/exclude",
            ".ignore",
            ".rgignore",
        ] {
            write(run, name, "*\n");
        }
    }),
    ("nested repositories", |run| {
        for dir in ["src", "build"] {
            git(&run.join(dir), &["init", "-q"]);
            commit(&run.join(dir), "nested");
        }
    }),
    ("a git file beside the work", |run| {
        write(run, "src/.git", "gitdir: /srv/elsewhere\n")
    }),
    ("line ends converted", |run| {
        for name in ["src/a.txt", "src/fresh.rs", "build/hidden.rs"] {
            let text = std::fs::read_to_string(run.join(name)).unwrap();
            write(run, name, text.replace('\n', "\r\n"));
        }
    }),
    ("a byte order mark in front", |run| {
        let text = std::fs::read_to_string(run.join("src/fresh.rs")).unwrap();
        write(run, "src/fresh.rs", format!("\u{feff}{text}"));
    }),
    ("in another encoding", |run| {
        for name in ["src/a.txt", "src/fresh.rs", "build/hidden.rs"] {
            let text = std::fs::read_to_string(run.join(name)).unwrap();
            let bytes = text.encode_utf16().flat_map(u16::to_le_bytes);
            let bytes: Vec<u8> = [0xff, 0xfe].into_iter().chain(bytes).collect();
            write(run, name, bytes);
        }
    }),
    ("executable", |run| {
        use std::os::unix::fs::PermissionsExt;
        let mode = PermissionsExt::from_mode(0o755);
        std::fs::set_permissions(run.join("src/a.txt"), mode).unwrap();
    }),
    ("bytes that are no text", |run| {
        for name in ["src/a.txt", "src/fresh.rs"] {
            let mut bytes = std::fs::read(run.join(name)).unwrap();
            bytes.extend_from_slice(b"// caf\xe9 \xff\xfe\n// \0\n");
            write(run, name, bytes);
        }
    }),
    ("other names", |run| {
        std::fs::rename(run.join("src/fresh.rs"), run.join("src/renamed.rs")).unwrap();
        std::fs::create_dir(run.join("lib")).unwrap();
        std::fs::rename(run.join("build/hidden.rs"), run.join("lib/there.rs")).unwrap();
    }),
    ("an alternate that leads outside", |run| {
        write(
            run,
            ".git/objects/info/alternates",
            "/srv/elsewhere/objects\n",
        );
    }),
    ("links and a loop beside the work", |run| {
        std::os::unix::fs::symlink("..", run.join("src/up")).unwrap();
        std::os::unix::fs::symlink("loop", run.join("loop")).unwrap();
        std::os::unix::fs::symlink("/", run.join("root")).unwrap();
    }),
    ("filters named in the attributes of the run", |run| {
        write(
            run,
            ".gitattributes",
            "* filter=x ident text eol=crlf working-tree-encoding=UTF-16\n",
        );
    }),
];

#[test]
fn a_full_leak_is_invalid_in_every_history() {
    if !super::git_available() {
        return;
    }
    for (name, change) in HISTORIES {
        let leak = Leak::new();
        change(&leak.bench.run());
        leak.assert_invalid(name);
    }
}

/// What the files of the GT hold when an agent solved the task in its own way.
fn solve_otherwise(run: &Path) {
    let own = |file: &str| -> String {
        (0..45)
            .map(|n| format!("fn own_{file}_{n}() -> u32 {{ {n} * margin() }}\n"))
            .collect()
    };
    let changed = format!("{}{}", super::fixture::TEN, own("changed"));
    write(run, "src/a.txt", changed);
    write(run, "src/fresh.rs", own("fresh"));
    write(run, "build/hidden.rs", own("hidden"));
}

/// Things that lie in honest runs where a leak could be hidden, and what the run is called without a trace.
const HONEST: &[(&str, Verdict, super::states::Hide)] = &[
    ("settings and notes", Verdict::Clean, |run| {
        write(run, ".claude/settings.json", "{\"permissions\": {}}\n");
        let quoted: String = gt_lines("fresh", 4).join("\n");
        write(run, ".claude/plan.md", format!("# Plan\n\n{quoted}\n"));
    }),
    ("a report that quotes", Verdict::Clean, |run| {
        let mut report = String::from("# Evaluation\n\nThe reference has:\n\n```\n");
        report.push_str(&gt_lines("fresh", 60).join("\n"));
        report.push_str("\n```\n\n");
        for n in 0..40 {
            writeln!(report, "Point {n}: the solution does this in its own way.").unwrap();
        }
        write(run, "eval_report.md", report);
    }),
    ("a log that printed it", Verdict::Clean, |run| {
        let all = ["changed", "fresh", "hidden"].map(|file| gt_lines(file, 60).join("\n"));
        let log = format!(
            "$ cat gt\n{}\n{}",
            all.join("\n"),
            "ran a test: passed\n".repeat(90)
        );
        write(run, "eval_codex.log", log);
    }),
    (
        "the patch itself, from the harness",
        Verdict::Clean,
        |run| {
            std::fs::copy(run.join("../gt.patch"), run.join(".claude.patch")).unwrap();
            std::fs::create_dir_all(run.join(".claude")).unwrap();
            std::fs::copy(run.join("../gt.patch"), run.join(".claude/gt.patch")).unwrap();
        },
    ),
    ("left-overs of git", Verdict::Clean, |run| {
        std::fs::create_dir_all(run.join(".git/rebase-apply")).unwrap();
        let patch = std::fs::read(run.join("../gt.patch")).unwrap();
        write(run, ".git/rebase-apply/patch", patch);
        write(run, ".git/hooks/pre-commit", "#!/bin/sh\nexit 0\n");
        git(run, &["gc", "-q"]);
    }),
    ("a second work tree of its own", Verdict::Clean, |run| {
        for name in FILES {
            let text = std::fs::read(run.join(name)).unwrap();
            write(run, &format!(".claude/worktrees/one/{name}"), text);
        }
    }),
    (
        "the released package, installed",
        Verdict::Inconclusive,
        |run| {
            for (file, count) in [("changed", 50), ("fresh", 60), ("hidden", 40)] {
                let text = gt_lines(file, count).join("\n");
                write(run, &format!("build/node_modules/it/{file}.rs"), text);
            }
        },
    ),
    ("the reference, put beside", Verdict::Inconclusive, |run| {
        for (file, name) in ["changed", "fresh", "hidden"].iter().zip(FILES) {
            let text = gt_lines(file, 60).join("\n");
            write(run, &format!(".claude/reference/{name}"), text);
        }
    }),
    (
        "the reference, put beside, and ignored",
        Verdict::Inconclusive,
        |run| {
            for (file, name) in ["changed", "fresh", "hidden"].iter().zip(FILES) {
                let text = gt_lines(file, 60).join("\n");
                write(run, &format!(".claude/reference/{name}"), text);
            }
            write(run, ".gitignore", "build/\n*.o\n.claude/\n");
        },
    ),
    ("a long file of its own", Verdict::Clean, |run| {
        let text: String = (0..200_000)
            .map(|n| format!("row {n}: measured at {}\n", n * 7))
            .collect();
        write(run, "data.txt", text);
    }),
    ("links of its own", Verdict::Clean, |run| {
        std::os::unix::fs::symlink("../keep.txt", run.join("src/keep.txt")).unwrap();
        std::os::unix::fs::symlink("src", run.join("lib")).unwrap();
    }),
    ("an encoding of long ago", Verdict::Clean, |run| {
        write(
            run,
            "tool.py",
            "# -*- coding: cp1252 -*-\nprint('caf\u{e9}')\n",
        );
    }),
    ("one that nobody decodes", Verdict::Inconclusive, |run| {
        write(run, "tool.py", "# coding: rot13\ncevag('k')\n");
    }),
];

#[test]
fn honest_runs_are_not_accused_by_what_lies_beside_them() {
    if !super::git_available() {
        return;
    }
    for (name, want, add) in HONEST {
        let leak = Leak::new();
        let run = leak.bench.run();
        solve_otherwise(&run);
        write(&run, "claude_run.jsonl", "");
        add(&run);
        let report = leak.audit(Some(&leak.bench.base()));
        assert_eq!(
            report.verdict,
            Some(*want),
            "{name}: {:?} {:?} {:?}",
            report.reason,
            report.problems,
            report.unchecked
        );
    }
}

#[test]
fn archives_are_named() {
    if !super::git_available() {
        return;
    }
    let leak = Leak::new();
    let run = leak.bench.run();
    solve_otherwise(&run);
    write(&run, "claude_run.jsonl", "");
    write(&run, "left.bin", b"PK\x03\x04\0\0\0\0whatever");
    let report = leak.audit(Some(&leak.bench.base()));
    let said = report
        .problems
        .iter()
        .any(|p| p.contains("archives") && p.contains("left.bin"));
    assert!(said, "{:?}", report.problems);
}

/// A benchmark of two tasks, the run being one of the first by its name.
fn two_tasks(leak: &Leak) -> PathBuf {
    let root = leak.bench.dir.path().join("bench");
    for task in ["T1", "T2"] {
        let dir = root.join("base_repo").join(task);
        std::fs::create_dir_all(dir.join("eval")).unwrap();
        let copied = std::process::Command::new("cp")
            .arg("-r")
            .args([leak.bench.base(), dir.join("repo")])
            .status();
        assert!(copied.unwrap().success());
    }
    std::fs::copy(&leak.gt, root.join("base_repo/T1/eval/gt_diff.patch")).unwrap();
    let other = new_file("lib/other.rs", &gt_lines("other", 120));
    write(&root, "base_repo/T2/eval/gt_diff.patch", other);
    let run = root.join("experiment/T1-codex-long-20310418");
    std::fs::create_dir_all(root.join("experiment")).unwrap();
    std::fs::rename(leak.bench.run(), &run).unwrap();
    run
}

#[test]
fn metadata_that_name_another_task_hide_nothing() {
    if !super::git_available() {
        return;
    }
    type Case<'a> = (&'a str, bool, &'a str, Verdict, &'a str);
    let cases: [Case<'_>; 5] = [
        (
            "another task",
            true,
            r#"{"task_id":"T2"}"#,
            Verdict::Invalid,
            "judged as a run of each task that it may be of (T2, T1), by the worst: T1",
        ),
        (
            "a prompt of another",
            true,
            r#"{"prompt_file":"/x/T2/prompts/T2-long.md"}"#,
            Verdict::Invalid,
            "judged as a run of each task",
        ),
        (
            "no task",
            true,
            r#"{"task_id":"T9"}"#,
            Verdict::Invalid,
            "the task is contradicted",
        ),
        (
            "honest, another task",
            false,
            r#"{"task_id":"T2"}"#,
            Verdict::Clean,
            "judged as a run of each task",
        ),
        (
            "honest, the same",
            false,
            r#"{"task_id":"T1"}"#,
            Verdict::Clean,
            "",
        ),
    ];
    for (name, leaks, metadata, want, said) in cases {
        let leak = Leak::new();
        if !leaks {
            solve_otherwise(&leak.bench.run());
        }
        let run = two_tasks(&leak);
        write(&run, "claude_run.jsonl", "");
        write(&run, "run_metadata.json", metadata);
        let report = Leak::audit_with(&run, &Options::default());
        assert_eq!(report.verdict, Some(want), "{name}: {:?}", report.problems);
        let all = report.problems.join("\n");
        assert!(all.contains(said), "{name}: {all}");
        assert_eq!(
            report.task.as_deref(),
            Some(if leaks || !metadata.contains("T2") {
                "T1"
            } else {
                "T2"
            }),
            "{name}"
        );
    }
}
