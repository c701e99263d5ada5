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
        static RULES: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::load(&[]).unwrap());
        let policy = Policy::load("default").unwrap();
        let auditor = Auditor::new(&RULES, &policy, Lang::En);
        let inputs = discover(Some(&self.bench.run()), &options, &Config::default()).unwrap();
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
