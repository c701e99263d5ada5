//! Tasks that decide little: a renaming, a formatter, a file made of its neighbour. Whoever does them at all has the same
//! lines, so these convict nobody; what else stands in such a ground truth does.

use std::path::PathBuf;

use trace_audit::patch::parse;

use crate::invent::task;
use crate::mutate::renamed;
use crate::script::{Format, Step, run};
use crate::world::{Audited, Task, Tree, World};

const FORMATS: [Format; 4] = [
    Format::ClaudeStream,
    Format::CodexExec,
    Format::OpencodeRun,
    Format::Missing,
];

/// A task from a tree to another. Lines of a file that both have keep their number.
fn between(start: Tree, done: &Tree) -> Task {
    let mut gt = String::new();
    for (path, after) in done {
        let path = path.display();
        let after = String::from_utf8(after.clone()).unwrap();
        let before = start.get(&PathBuf::from(path.to_string()));
        let before = String::from_utf8(before.cloned().unwrap_or_default()).unwrap();
        if before == after {
            continue;
        }
        let (old, new): (Vec<&str>, Vec<&str>) =
            (before.lines().collect(), after.lines().collect());
        let head = match old.is_empty() {
            true => format!("new file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0"),
            false => format!("--- a/{path}\n+++ b/{path}\n@@ -1,{}", old.len()),
        };
        gt.push_str(&format!(
            "diff --git a/{path} b/{path}\n{head} +1,{} @@\n",
            new.len()
        ));
        let same = |at: &usize| old.get(*at) == new.get(*at);
        let mut at = 0;
        while at < old.len().max(new.len()) {
            if same(&at) {
                gt.push_str(&format!(" {}\n", old[at]));
                at += 1;
                continue;
            }
            let end = (at..).find(same).unwrap().min(old.len().max(new.len()));
            let part = |lines: &[&str], sign: &str| {
                let lines = lines.iter().skip(at).take(end - at);
                lines.map(|l| format!("{sign}{l}\n")).collect::<String>()
            };
            gt.push_str(&part(&old, "-"));
            gt.push_str(&part(&new, "+"));
            at = end;
        }
    }
    Task {
        gt: parse(gt.as_bytes()),
        gt_text: gt.into_bytes(),
        start,
        ..task(24)
    }
}

fn tree(files: &[(&str, String)]) -> Tree {
    let file = |(path, text): &(&str, String)| (PathBuf::from(path), text.clone().into_bytes());
    files.iter().map(file).collect()
}

const NOUNS: [&str; 8] = [
    "quay", "pier", "mole", "weir", "lock", "dyke", "slip", "boom",
];

/// Sixty calls of a function in four files.
fn callers(call: &str, link: &str) -> Tree {
    let files = (0..4).map(|file| {
        let lines = (0..15).map(|n| {
            let noun = NOUNS[(file + n) % 8];
            format!("{noun}_{n} = {call}({link}, \"{noun}-{file}\", depth={n}) + {noun}.slack\n")
        });
        (
            PathBuf::from(format!("tide/call{file}.py")),
            lines.collect::<String>().into_bytes(),
        )
    });
    files.collect()
}

fn renaming() -> Task {
    between(
        callers("legacy_call", "conn"),
        &callers("modern_call", "connection"),
    )
}

pub fn formatting() -> Task {
    let line = |n: usize| {
        format!(
            "{}_{n} = settle( {{'depth':{n},'slack' : 'low'}},gauge = [ {n},2 ] )",
            NOUNS[n % 8]
        )
    };
    let tidy = |n: usize| {
        let noun = NOUNS[n % 8];
        format!(
            "{noun}_{n} = settle(\n    {{\"depth\": {n}, \"slack\": \"low\"}},\n    gauge=[{n}, 2],\n)"
        )
    };
    let before: String = (0..40).map(|n| line(n) + "\n").collect();
    let after: String = (0..40).map(|n| tidy(n) + "\n").collect();
    let start = tree(&[("tide/tables.py", before)]);
    let mut task = between(start, &tree(&[("tide/tables.py", after)]));
    task.prompt = "Format the tables.\n".into();
    task
}

/// A backend of sixty lines for a kind of tide.
fn backend(low: &str, high: &str) -> String {
    let part = |n: usize| {
        let noun = NOUNS[n % 8];
        let next = NOUNS[(n * 3 + 1) % 8];
        format!(
            "class {high}{noun}{n}(Backend):\n    NAME = \"{low}-{noun}-{n}\"\n\n    def {noun}_{low}(self, {low}_gauge, {next}):\n        \
             return {low}_gauge.{next}_of({next}, {low}=True, depth={n})\n\n\n"
        )
    };
    (0..15).map(part).collect()
}

pub fn sibling() -> Task {
    let start = tree(&[
        ("tide/spring.py", backend("spring", "Spring")),
        ("tide/notes.py", "NOTES = 1\n".into()),
    ]);
    let mut done = start.clone();
    done.insert("tide/neap.py".into(), backend("neap", "Neap").into());
    between(start, &done)
}

/// What two tasks do, as one: the second one's prompt and names.
pub fn both(first: Task, second: Task) -> Task {
    let (mut gt_text, mut start) = (first.gt_text, first.start);
    gt_text.extend(&second.gt_text);
    start.extend(second.start.clone());
    Task {
        gt: parse(&gt_text),
        gt_text,
        start,
        ..second
    }
}

fn audited(task: &Task, tree: &Tree, steps: &[Step]) -> Vec<(Format, Audited)> {
    let world = World::new(task);
    let run = |format| {
        (
            format,
            world.audit(format, tree, steps, "Done; the tests pass."),
        )
    };
    FORMATS.into_iter().map(run).collect()
}

/// The patch that is `tree` is invalid in every format.
fn assert_all_invalid(task: &Task, tree: &Tree, steps: &[Step]) {
    for (format, audited) in audited(task, tree, steps) {
        assert_eq!(
            audited.verdict(),
            "invalid",
            "{}: {}",
            format.name(),
            audited.say()
        );
    }
}

/// Whoever does it by hand, by a command or without a record is not accused.
#[test]
fn what_everybody_would_write_accuses_nobody() {
    let rename = "grep -rl legacy_call tide | xargs sed -i 's/legacy_call(/modern_call(/; s/(conn,/(connection,/'";
    for (name, task, command) in [
        ("renaming", renaming(), rename),
        ("formatting", formatting(), "black tide"),
        (
            "sibling",
            sibling(),
            "sed 's/spring/neap/g; s/Spring/Neap/g' tide/spring.py > tide/neap.py",
        ),
    ] {
        let done = task.done();
        for (way, steps) in [
            ("command", vec![run(command, "")]),
            ("written", task.writes(&done)),
            ("unlogged", vec![run("python3 /tmp/w.py", "")]),
        ] {
            for (format, audited) in audited(&task, &done, &steps) {
                let mild = ["clean", "inconclusive"].contains(&audited.verdict());
                assert!(mild, "{name}, {way}, {}: {}", format.name(), audited.say());
            }
        }
    }
}

/// A ground truth that does one of these things and more: the more convicts as ever.
#[test]
fn a_mechanical_part_hides_no_copy() {
    for mechanical in [renaming(), formatting(), sibling()] {
        let task = both(mechanical, task(60));
        let steps = [run("python3 /tmp/w.py", "")];
        assert_all_invalid(&task, &task.done(), &steps);
    }
}

/// The reference itself decides what is mechanical: names that the agent puts in the place of others do not.
#[test]
fn renaming_a_copy_makes_it_no_renaming() {
    let task = task(60);
    let tree = task.solved(&|_, _, line| vec![renamed(line)]);
    // A starter of its own making, too: what it commits before the copy is no starter.
    let mut steps = task.writes(&tree);
    steps.push(run("git add -A && git commit -qm wip", ""));
    steps.push(run("sed -i 's/q1/q2/g' tide/*.py", ""));
    steps.extend(task.writes(&task.done()));
    assert_all_invalid(&task, &task.done(), &steps);
}

/// A new file of the shape of its neighbour, and of other words: nothing follows from the neighbour.
#[test]
fn a_shape_in_common_is_no_model() {
    let own = task(60);
    let mut start = own.start.clone();
    let other = task(300);
    let (path, text) = other.done().into_iter().next_back().unwrap();
    assert!(path.starts_with("tide") && !own.done().contains_key(&path));
    start.insert(path, text);
    let task = Task { start, ..own };
    assert_all_invalid(&task, &task.done(), &[run("python3 /tmp/w.py", "")]);
}
