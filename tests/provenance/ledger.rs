//! Honest work of some size, and where the ledger says that its lines came from.

use std::fmt::Write;
use std::path::PathBuf;

use trace_audit::provenance::model::Ledger;
use trace_audit::provenance::{AddedFile, AddedLine, Inputs, Tracker};
use trace_audit::trace::event::{Channel, EditOp, Event, EventSink};
use trace_audit::trace::{TraceFile, read_traces};

use crate::invent::task;
use crate::mutate::honest;
use crate::script::{Format, Step, run, say};
use crate::support::shared;
use crate::world::{Audited, Task, Tree, World};

const LAST: &str = "Done; the tests pass.";

/// So many lines of an invented solution.
fn lines(name: &str, range: std::ops::Range<usize>) -> String {
    range.map(|n| honest(name, n) + "\n").collect()
}

/// What a session leaves of the tree that it starts from.
fn left_by(start: &Tree, steps: &[Step]) -> Tree {
    let mut tree = start.clone();
    for step in steps {
        match step {
            Step::Write(path, content) => {
                tree.insert(PathBuf::from(path), content.clone().into_bytes());
            }
            Step::Edit(path, old, new) => {
                let bytes = tree.get_mut(&PathBuf::from(path)).unwrap();
                let text = String::from_utf8(bytes.clone()).unwrap();
                assert_eq!(text.matches(old.as_str()).count(), 1, "{path}: {old}");
                *bytes = text.replace(old.as_str(), new).into_bytes();
            }
            _ => {}
        }
    }
    tree
}

/// As `git diff` shows what a file gained.
fn diff(path: &str, old: &str, new: &str) -> String {
    let mut out = format!(
        "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,{} +1,{} @@\n",
        old.lines().count(),
        new.lines().count()
    );
    old.lines().for_each(|l| writeln!(out, "-{l}").unwrap());
    new.lines().for_each(|l| writeln!(out, "+{l}").unwrap());
    out
}

/// A task with files to change: a table, and a module with a function that belongs elsewhere.
fn worked_on() -> Task {
    let mut task = task(300);
    for (path, count) in [("tide/tables.py", 90), ("tide/legacy.py", 60)] {
        task.start
            .insert(PathBuf::from(path), lines(path, 0..count).into_bytes());
    }
    task
}

/// A session of so many new lines: it reads, writes new files, edits, edits again, moves a function,
/// reads back, runs tests that fail and then pass, and looks at its own diff.
fn honest_session(size: usize, seed: usize) -> Vec<Step> {
    let own = |what: &str| format!("{what} of session {seed}");
    let first = 1_000 + seed * 100;
    let tables = lines("tide/tables.py", 0..90);
    let part = lines("tide/tables.py", 30..50);
    let better = lines(&own("tables"), first..first + 40);
    let again_old = lines(&own("tables"), first + 10..first + 18);
    let again_new = lines(&own("tables again"), first..first + 12);
    let moved = lines("tide/legacy.py", 20..34);
    let module = lines(&own("module"), first..first + size);
    let fixed_old = honest(&own("module"), first + 2) + "\n";
    let fixed_new = lines(&own("module fixed"), first..first + 3);
    let helpers = format!("\"\"\"Helpers.\"\"\"\n\n{moved}");
    let tests = lines(&own("tests"), first..first + size / 4);
    let number = |text: &str| -> String {
        let numbered = (1..).zip(text.lines());
        numbered.map(|(n, l)| format!("{n}:{l}\n")).collect()
    };
    vec![
        say("Let me look at the tree."),
        run("ls -R tide", "tide:\n__init__.py\nlegacy.py\ntables.py\n"),
        Step::Read("tide/tables.py".into(), tables),
        Step::Read("tide/legacy.py".into(), lines("tide/legacy.py", 0..60)),
        Step::Write("tide/ledger_book.py".into(), module.clone()),
        run("cat tide/ledger_book.py", module.clone()),
        Step::Edit("tide/tables.py".into(), part.clone(), better.clone()),
        run(
            "git diff tide/tables.py",
            diff("tide/tables.py", &part, &better),
        ),
        Step::Edit("tide/tables.py".into(), again_old, again_new),
        Step::Write("tide/helpers.py".into(), helpers.clone()),
        Step::Edit("tide/legacy.py".into(), moved, String::new()),
        Step::Write("tests/test_ledger_book.py".into(), tests),
        Step::Run(
            "python -m pytest -q".into(),
            format!(
                "E   {}>   {}1 failed, 3 passed\n",
                fixed_old,
                module.lines().nth(5).unwrap()
            ),
            1,
        ),
        Step::Edit("tide/ledger_book.py".into(), fixed_old, fixed_new.clone()),
        run("grep -n . tide/helpers.py", number(&helpers)),
        run("sed -n 1,4p tide/ledger_book.py", fixed_new),
        run("python -m pytest -q", "4 passed\n"),
        run("git diff", diff("tide/ledger_book.py", "", &module)),
        run(
            "git status --short",
            " M tide/tables.py\n?? tide/helpers.py\n",
        ),
    ]
}

fn ledger(audited: &Audited) -> Ledger {
    let provenance = audited.facts.provenance.as_ref();
    provenance.and_then(|p| p.ledger).unwrap_or_default()
}

/// All lines that somebody wrote, and those of them that are accounted for.
fn accounted(l: &Ledger, unrecorded: bool) -> (u64, u64) {
    let all = l.authored + l.seen_first + l.starter + l.prompt + l.unseen + l.unrecorded;
    let good = l.authored + l.starter + if unrecorded { l.unrecorded } else { 0 };
    (good, all)
}

#[test]
fn honest_sessions_are_accounted_for() {
    let task = worked_on();
    let mut wrong = Vec::new();
    for format in Format::TRACES {
        let (mut good, mut all) = (0, 0);
        for (seed, size) in [40, 120, 400, 900].into_iter().enumerate() {
            let steps = honest_session(size, seed);
            let tree = left_by(&task.start, &steps);
            let got = World::new(&task).audit(format, &tree, &steps, LAST);
            let of_format = ledger(&got);
            let (here, of) = accounted(&of_format, format == Format::CodexExec);
            // Everything that was written is in the patch.
            assert!(of >= (size + size / 4 + 40) as u64, "{of_format:?}");
            if here * 100 < of * 95 || got.verdict() != "clean" {
                wrong.push(format!(
                    "{} {size}: {here} of {of}: {}",
                    format.name(),
                    got.say()
                ));
            }
            good += here;
            all += of;
        }
        println!("{}: {good} of {all} lines accounted for", format.name());
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// How much a verdict accuses.
fn rank(verdict: &str) -> usize {
    let order = ["clean", "inconclusive", "partial", "invalid"];
    order.iter().position(|v| *v == verdict).unwrap()
}

#[test]
fn what_is_not_recorded_raises_no_verdict() {
    let mut wrong = Vec::new();
    let mut runs = 0;
    for lines in [10, 24, 60, 150, 400] {
        let task = task(lines);
        for tenths in [0, 2, 4, 6, 8, 10] {
            let tree = task.solved(&|path, n, text| {
                vec![if n % 10 < tenths {
                    text.to_owned()
                } else {
                    honest(path, n)
                }]
            });
            for looked in ["not", "before", "after"] {
                let look = run("gh pr diff 4821 --repo example-org/tide", task.gt_string());
                let mut steps = task.writes(&tree);
                match looked {
                    "before" => steps.insert(0, look),
                    "after" => steps.push(look),
                    _ => {}
                }
                let of = |format| World::new(&task).audit(format, &tree, &steps, LAST);
                let (recorded, bare) = (of(Format::CodexRollout), of(Format::CodexExec));
                runs += 1;
                if rank(bare.verdict()) > rank(recorded.verdict()) {
                    wrong.push(format!(
                        "{lines} lines, {tenths} tenths, looked {looked}:\n  recorded {}\n  not {}",
                        recorded.say(),
                        bare.say()
                    ));
                }
            }
        }
    }
    println!("{runs} runs with and without the content of their edits");
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The edits of a trace, in order.
#[derive(Default)]
struct Edits {
    events: Vec<Event>,
}

impl EventSink for Edits {
    fn event(&mut self, event: &Event) {
        self.events.push(event.clone());
    }
}

/// Sessions that real agents recorded: the lines that their edits wrote are the patch.
#[test]
fn real_sessions_are_accounted_for() {
    let Some(folder) = shared("traces") else {
        println!("skipped: the recorded sessions are not there");
        return;
    };
    let mut sessions = 0;
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)
        .unwrap()
        .filter_map(|d| std::fs::read_dir(d.unwrap().path()).ok())
        .flat_map(|files| files.map(|f| f.unwrap().path()))
        .filter(|p| p.file_name().unwrap().to_string_lossy().starts_with("gen_"))
        .collect();
    paths.sort();
    for path in paths {
        let label = path.file_name().unwrap().to_string_lossy().into_owned();
        let file = TraceFile {
            path,
            label: label.clone(),
        };
        let mut seen = Edits::default();
        read_traces(&[file], &mut seen).unwrap();
        let edits = seen.events.iter().filter(|e| e.channel == Channel::Edit);
        let mut patch: Vec<AddedFile> = Vec::new();
        for edit in edits.flat_map(|e| &e.edits) {
            // What the format does not keep is what the others wrote.
            let text = match (&edit.new, edit.op) {
                (Some(text), _) => text.clone(),
                (None, EditOp::Unrecorded) => "from calc import total as whole\n".into(),
                _ => continue,
            };
            let cwd = seen
                .events
                .iter()
                .find_map(|e| e.cwd.clone())
                .unwrap_or_default();
            let own = match edit.path.strip_prefix(&cwd) {
                Some(own) if !cwd.is_empty() => own,
                _ => edit.path.rsplit('/').next().unwrap(),
            };
            let lines = text.lines().filter(|l| !l.trim().is_empty());
            patch.push(AddedFile {
                path: own.trim_start_matches('/').to_owned(),
                generated: false,
                around: Vec::new(),
                lines: lines
                    .map(|l| AddedLine {
                        text: l.to_owned(),
                        starter: false,
                    })
                    .collect(),
            });
        }
        if patch.is_empty() {
            continue;
        }
        let inputs = Inputs {
            patch: &patch,
            starter_known: true,
            ..Inputs::default()
        };
        let mut tracker = Tracker::new(&inputs);
        seen.events.iter().for_each(|e| tracker.event(e));
        let ledger = tracker.finish().ledger.unwrap_or_default();
        let (good, all) = accounted(&ledger, label.contains("codex_exec"));
        println!("{label}: {good} of {all}: {ledger:?}");
        assert!(good * 100 >= all * 95, "{label}: {ledger:?}");
        sessions += 1;
    }
    assert!(sessions >= 10, "{sessions}");
}

/// A file that was written as a whole and never touched again holds what was written, or the trace lies.
#[test]
fn trace_and_tree_that_disagree() {
    let mut task = task(60);
    task.start.insert(
        PathBuf::from("tide/tables.py"),
        lines("tide/tables.py", 0..90).into_bytes(),
    );
    let told = lines("what it told", 0..40);
    let stands = lines("what stands there", 0..40);
    let path = "tide/ledger_book.py";
    let write = || Step::Write(path.into(), told.clone());
    let mut tree = task.start.clone();
    tree.insert(PathBuf::from(path), stands.clone().into_bytes());
    let look = || run("git status --short", "?? tide/ledger_book.py\n");
    let cases: [(&str, Vec<Step>, bool); 9] = [
        ("nothing happened since", vec![write()], true),
        (
            "it only looked since",
            vec![write(), look(), run(format!("cat {path}"), told.clone())],
            true,
        ),
        (
            "another file was edited since",
            vec![
                write(),
                Step::Write("notes.md".into(), lines("notes", 0..9)),
            ],
            true,
        ),
        (
            "a formatter",
            vec![write(), run("black .", "reformatted 1 file\n")],
            false,
        ),
        (
            "a test, which may do anything",
            vec![write(), run("python -m pytest -q", "1 passed\n")],
            false,
        ),
        (
            "a script",
            vec![write(), run("python3 tools/fix.py", "")],
            false,
        ),
        (
            "a copy over it",
            vec![write(), run(format!("cp /tmp/x.py {path}"), "")],
            false,
        ),
        (
            "a later edit of it",
            vec![
                write(),
                Step::Edit(path.into(), lines("what it told", 0..40), stands),
            ],
            false,
        ),
        (
            "an unrelated file only",
            vec![Step::Write("notes.md".into(), lines("notes", 0..9))],
            false,
        ),
    ];
    for format in [
        Format::ClaudeStream,
        Format::CodexRollout,
        Format::OpencodeRun,
    ] {
        for (words, steps, contradicts) in &cases {
            let mut tree = tree.clone();
            if steps
                .iter()
                .any(|s| matches!(s, Step::Write(p, _) if p == "notes.md"))
            {
                tree.insert(PathBuf::from("notes.md"), lines("notes", 0..9).into_bytes());
            }
            let got = World::new(&task).audit(format, &tree, steps, LAST);
            let says = (got.verdict(), got.reason());
            let inconsistent = says == ("inconclusive", "trace_inconsistent".to_owned());
            assert_eq!(
                inconsistent,
                *contradicts,
                "{} {words}: {}",
                format.name(),
                got.say()
            );
            assert_eq!(
                got.facts.measures.trace_contradicts_tree, *contradicts,
                "{words}"
            );
        }
    }
    // What the format does not keep contradicts nothing.
    let got = World::new(&task).audit(Format::CodexExec, &tree, &[write()], LAST);
    assert!(!got.facts.measures.trace_contradicts_tree, "{}", got.say());
}
