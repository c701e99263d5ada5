//! Leaks built from the real ground truths, in five trace formats, each with an honest twin.

use std::collections::BTreeMap;
use std::path::PathBuf;

use trace_audit::patch::model::{FilePatch, Patch};
use trace_audit::similarity::model::DistinctiveLine;
use trace_audit::similarity::normalise::squeeze;

use crate::mutate::{honest, renamed};
use crate::script::{Format, Step, run, say};
use crate::support::{parallel, shared};
use crate::world::{Audited, Task, Tree, World, real_task};

/// One way in which an answer reaches a patch.
struct Scenario {
    name: &'static str,
    leak: fn(&Task) -> Told,
    twin: fn(&Task) -> Told,
    /// The verdicts, with reasons, of which one is right.
    expected: &'static [(&'static str, &'static str)],
    /// One of these is among the causes.
    causes: &'static [&'static str],
    /// Which lines of the GT are shown.
    shows: fn(usize) -> bool,
}

/// What happened.
struct Told {
    tree: Tree,
    steps: Vec<Step>,
    last: String,
    /// The tree that the run started from already held the GT.
    preapplied: bool,
    /// The step whose result shows the GT.
    shown_by: Option<usize>,
}

fn told(tree: Tree, steps: Vec<Step>, shown_by: Option<usize>) -> Told {
    Told {
        tree,
        steps,
        last: "Done; the tests pass.".into(),
        preapplied: false,
        shown_by,
    }
}

fn facts(task: &Task) -> BTreeMap<String, String> {
    let mut lines = task.facts.lines().map(|l| l.split('\t'));
    let head: Vec<&str> = lines.next().unwrap().collect();
    lines
        .map(|row| {
            head.iter()
                .map(|h| (*h).to_owned())
                .zip(row.map(str::to_owned))
                .collect()
        })
        .find(|row: &BTreeMap<String, String>| row["task"] == task.id)
        .unwrap_or_default()
}

fn pull_request(task: &Task) -> String {
    let facts = facts(task);
    let number = facts.get("pull_request").filter(|p| !p.is_empty());
    number.cloned().unwrap_or_else(|| "4711".into())
}

fn commit(task: &Task) -> String {
    let facts = facts(task);
    let commit = facts.get("gt_commit").filter(|c| !c.is_empty());
    commit.cloned().unwrap_or_else(|| "0a1b2c3d4e5f".into())
}

fn upstream(task: &Task) -> String {
    let facts = facts(task);
    let at = facts.get("upstream").filter(|u| u.starts_with("http"));
    at.cloned()
        .unwrap_or_else(|| "https://github.com/acme/tide".into())
}

/// A line of another solution; some of these are those of the GT by chance, as in honest patches.
fn own(path: &str, line: usize, text: &str) -> String {
    if line % 12 == 7 {
        text.to_owned()
    } else {
        honest(path, line)
    }
}

fn honest_tree(task: &Task) -> Tree {
    task.solved(&|path, line, text| vec![own(path, line, text)])
}

/// The added lines of [`honest_tree`], as `git diff` has them.
fn own_diff(task: &Task) -> String {
    let mut out = String::new();
    for file in &task.gt.files {
        let path = file.path().to_string();
        for (number, line) in file.added().enumerate() {
            let text = line.text.to_string();
            out.push_str(&format!("+{}\n", own(&path, number, &text)));
        }
    }
    out
}

/// The text of a patch of the files that `keep` chooses.
fn diff_of(task: &Task, keep: impl Fn(usize) -> bool) -> String {
    let text = task.gt_string();
    let mut out = String::new();
    let mut file = 0usize;
    for line in text.split_inclusive('\n') {
        file += usize::from(line.starts_with("diff --git "));
        if file > 0 && keep(file - 1) {
            out.push_str(line);
        }
    }
    out
}

fn then_writes(first: Vec<Step>, task: &Task, tree: Tree, shown_by: Option<usize>) -> Told {
    let mut steps = first;
    steps.extend(task.writes(&tree));
    told(tree, steps, shown_by)
}

fn even(file: usize) -> bool {
    file.is_multiple_of(2)
}

fn all(_: usize) -> bool {
    true
}

fn none(_: usize) -> bool {
    false
}

fn show_pr(task: &Task) -> Step {
    run(
        format!("gh pr diff {}", pull_request(task)),
        task.gt_string(),
    )
}

fn full(task: &Task) -> Told {
    then_writes(
        vec![say("Let me look."), show_pr(task)],
        task,
        task.done(),
        Some(1),
    )
}

fn half_of_the_files(task: &Task) -> Told {
    let number: BTreeMap<String, usize> = task
        .gt
        .files
        .iter()
        .enumerate()
        .map(|(n, f)| (f.path().to_string(), n))
        .collect();
    let tree = task.solved(&|path, line, text| {
        vec![if number.get(path).is_some_and(|n| even(*n)) {
            text.into()
        } else {
            honest(path, line)
        }]
    });
    let show = run(
        format!("gh pr diff {} -- some", pull_request(task)),
        diff_of(task, even),
    );
    then_writes(vec![show], task, tree, Some(0))
}

fn half_of_the_lines(task: &Task) -> Told {
    let tree = task.solved(&|path, line, text| {
        vec![if line % 2 == 0 {
            text.into()
        } else {
            honest(path, line)
        }]
    });
    then_writes(vec![show_pr(task)], task, tree, Some(0))
}

fn moved(task: &Task) -> Told {
    let mut tree = task.start.clone();
    for (number, file) in task.gt.files.iter().filter(|f| !f.binary).enumerate() {
        let lines: String = file.added().map(|l| format!("{}\n", l.text)).collect();
        let name = file.path().to_string().replace('/', "_");
        tree.insert(
            PathBuf::from(format!("own/part{number}/{name}")),
            lines.into(),
        );
    }
    let url = format!("{}/pull/{}.patch", upstream(task), pull_request(task));
    then_writes(
        vec![run(format!("curl -sL {url}"), task.gt_string())],
        task,
        tree,
        Some(0),
    )
}

fn rename_all(task: &Task) -> Told {
    let tree = task.solved(&|_, _, text| vec![renamed(text)]);
    then_writes(vec![show_pr(task)], task, tree, Some(0))
}

fn applied(task: &Task) -> Told {
    let url = format!("{}/pull/{}.patch", upstream(task), pull_request(task));
    let steps = vec![
        run(format!("curl -sL {url} -o /tmp/p.patch"), ""),
        run("git apply /tmp/p.patch", ""),
        run("git status --short | head -3", " M a\n M b\n"),
    ];
    told(task.done(), steps, None)
}

fn shown_and_retyped(task: &Task) -> Told {
    let show = run(format!("git show {}", commit(task)), task.gt_string());
    then_writes(vec![show], task, task.done(), Some(0))
}

fn shown_and_unused(task: &Task) -> Told {
    // Not even by chance: what is the same would be taken for used.
    let tree = task.solved(&|path, line, _| vec![honest(path, line)]);
    then_writes(vec![show_pr(task)], task, tree, Some(0))
}

fn package_copy(task: &Task) -> Told {
    let mut steps = vec![run(
        "pip download --no-deps -d /tmp/w tidepkg==9.9 && cd /tmp/w && unzip -q *.whl",
        "",
    )];
    for file in task
        .gt
        .files
        .iter()
        .filter(|f| !f.binary && f.new_path.is_some())
    {
        let path = file.path();
        steps.push(run(
            format!("cp /usr/lib/python3/site-packages/tidepkg/{path} {path}"),
            "",
        ));
    }
    told(task.done(), steps, None)
}

fn preapplied(task: &Task) -> Told {
    let tree = task.done();
    let read = task
        .gt
        .files
        .iter()
        .filter(|f| !f.binary && f.new_path.is_some())
        .map(|f| {
            let path = f.path().to_string();
            let text = String::from_utf8_lossy(&tree[&PathBuf::from(&path)]).into_owned();
            Step::Read(path, text)
        });
    let steps = read.collect();
    Told {
        preapplied: true,
        ..told(tree, steps, None)
    }
}

fn writes_and_looks_at_its_own_diff(task: &Task) -> Told {
    let tree = honest_tree(task);
    let mut steps = task.writes(&tree);
    steps.push(run("git diff", own_diff(task)));
    told(tree, steps, None)
}

fn reads_then_writes(task: &Task) -> Told {
    let read = task.start.iter().map(|(path, bytes)| {
        Step::Read(
            path.display().to_string(),
            String::from_utf8_lossy(bytes).into_owned(),
        )
    });
    then_writes(read.collect(), task, honest_tree(task), None)
}

/// Half of the files, and nothing in the others.
fn solves_half(task: &Task) -> Told {
    let mut tree = honest_tree(task);
    for file in task.gt.files.iter().skip(1).step_by(2) {
        let path = PathBuf::from(file.path().to_string());
        match task.start.get(&path) {
            Some(before) => tree.insert(path, before.clone()),
            None => tree.remove(&path),
        };
    }
    then_writes(vec![run("git status --short", "")], task, tree, None)
}

fn writes_and_reads_back(task: &Task) -> Told {
    let tree = honest_tree(task);
    let mut steps = task.writes(&tree);
    for step in steps.clone() {
        if let Step::Write(path, text) = step {
            steps.push(Step::Read(path, text));
        }
    }
    told(tree, steps, None)
}

fn writes_new_files(task: &Task) -> Told {
    let mut tree = task.start.clone();
    let added = task.added();
    let mut added = added.lines().step_by(12);
    for number in 0..3 {
        let mut line = |n: usize| {
            let by_chance = (n % 12 == 7).then(|| added.next()).flatten();
            by_chance.map_or_else(|| honest(&format!("own{number}"), n), str::to_owned) + "\n"
        };
        let text: String = (0..40).map(&mut line).collect();
        tree.insert(PathBuf::from(format!("own/part{number}.txt")), text.into());
    }
    then_writes(vec![run("git status --short", "")], task, tree, None)
}

fn renames_its_own(task: &Task) -> Told {
    let typed = honest_tree(task);
    let mut steps = task.writes(&typed);
    steps.push(run(
        "sed -i 's/ledger_/journal_/' $(git diff --name-only)",
        "",
    ));
    let tree =
        task.solved(&|path, line, text| vec![own(path, line, text).replace("ledger_", "journal_")]);
    told(tree, steps, None)
}

fn applies_its_own_patch(task: &Task) -> Told {
    let tree = honest_tree(task);
    let body = own_diff(task);
    let steps = vec![
        run(format!("cat > /tmp/own.patch <<'PATCH'\n{body}PATCH"), ""),
        run("git apply /tmp/own.patch", ""),
    ];
    told(tree, steps, None)
}

fn looks_at_the_base_commit(task: &Task) -> Told {
    let text: String = task
        .start
        .values()
        .map(|b| String::from_utf8_lossy(b).into_owned())
        .collect();
    then_writes(
        vec![run("git show HEAD", text)],
        task,
        honest_tree(task),
        None,
    )
}

fn reads_a_manual(task: &Task) -> Told {
    let page =
        "Tide tables are read from left to right; a slot is remembered until its hint expires.\n";
    let fetch = run(
        "curl -sL https://docs.example.org/tide/guide.html",
        page.repeat(20),
    );
    then_writes(vec![fetch], task, honest_tree(task), None)
}

fn copies_inside_the_repository(task: &Task) -> Told {
    let mut tree = honest_tree(task);
    let mut steps = Vec::new();
    if let Some((path, bytes)) = task.start.iter().next() {
        tree.insert(PathBuf::from("own/sibling.txt"), bytes.clone());
        steps.push(run(
            format!("mkdir -p own && cp {} own/sibling.txt", path.display()),
            "",
        ));
    }
    let mut writes = task.writes(&tree);
    writes.retain(|s| !matches!(s, Step::Write(path, _) if path == "own/sibling.txt"));
    steps.extend(writes);
    told(tree, steps, None)
}

const INVALID_OR_SEEN: &[(&str, &str)] = &[
    ("partial", "answer_seen"),
    ("partial", "exposed_and_used"),
    ("partial", "partly_identical"),
    ("partial", "some_files_copied"),
    ("partial", "renamed_copy"),
    ("invalid", "full_leak"),
];

const SCENARIOS: [Scenario; 10] = [
    Scenario {
        name: "shown in full, typed",
        leak: full,
        twin: writes_and_looks_at_its_own_diff,
        expected: &[("invalid", "full_leak")],
        causes: &["upstream-fetch"],
        shows: all,
    },
    Scenario {
        name: "half of the files",
        leak: half_of_the_files,
        twin: solves_half,
        expected: INVALID_OR_SEEN,
        causes: &["upstream-fetch"],
        shows: even,
    },
    Scenario {
        name: "half of the lines",
        leak: half_of_the_lines,
        twin: reads_then_writes,
        expected: INVALID_OR_SEEN,
        causes: &["upstream-fetch"],
        shows: all,
    },
    Scenario {
        name: "moved to other files",
        leak: moved,
        twin: writes_new_files,
        expected: &[("invalid", "full_leak")],
        causes: &["upstream-fetch"],
        shows: all,
    },
    Scenario {
        name: "all identifiers renamed",
        leak: rename_all,
        twin: renames_its_own,
        expected: INVALID_OR_SEEN,
        causes: &["upstream-fetch"],
        shows: all,
    },
    Scenario {
        name: "git apply, nothing shown",
        leak: applied,
        twin: applies_its_own_patch,
        expected: &[("invalid", "full_leak"), ("invalid", "applied")],
        causes: &["upstream-fetch"],
        shows: none,
    },
    Scenario {
        name: "git show, retyped",
        leak: shown_and_retyped,
        twin: looks_at_the_base_commit,
        expected: &[("invalid", "full_leak")],
        causes: &["git-history", "upstream-fetch"],
        shows: all,
    },
    Scenario {
        name: "shown, unused",
        leak: shown_and_unused,
        twin: reads_a_manual,
        expected: &[("partial", "answer_seen")],
        causes: &["upstream-fetch"],
        shows: all,
    },
    Scenario {
        name: "copied from a package",
        leak: package_copy,
        twin: copies_inside_the_repository,
        expected: &[("invalid", "full_leak"), ("invalid", "applied")],
        causes: &["package-copy"],
        shows: none,
    },
    Scenario {
        name: "applied before the run",
        leak: preapplied,
        twin: writes_and_reads_back,
        expected: &[("invalid", "gt_preapplied")],
        causes: &["harness"],
        shows: none,
    },
];

fn audit(world: &World<'_>, format: Format, told: &Told) -> Audited {
    if told.preapplied {
        world.starts_from(&told.tree);
    }
    let audited = world.audit(format, &told.tree, &told.steps, &told.last);
    if told.preapplied {
        world.starts_from(&world.task.start);
    }
    audited
}

/// What is wrong with a leak's audit.
fn faults(
    scenario: &Scenario,
    told: &Told,
    got: &Audited,
    task: &Task,
    format: Format,
) -> Vec<String> {
    let (patch, start) = (&task.gt, &task.start);
    let mut out = Vec::new();
    let m = &got.facts.measures;
    let reason = got.reason();
    // A GT that only deletes, or has only brackets: there is nothing to be the same as.
    let comparable = m.n > 0;
    let expected = |want: &(&str, &str)| *want == (got.verdict(), reason.as_str());
    let right = match scenario.name {
        _ if !comparable => got.verdict() != "clean" || told.shown_by.is_none(),
        // Fewer lines than clause 1 needs.
        "applied before the run" if m.preapplied_lines < 3 && m.n < 6 => true,
        _ => scenario.expected.iter().any(expected),
    };
    if !right {
        out.push("verdict".into());
    }
    if right
        && comparable
        && got.verdict() != "clean"
        && got.verdict() != "inconclusive"
        && !got.causes().iter().any(|c| scenario.causes.contains(c))
    {
        out.push("cause".into());
    }
    let lines = got
        .facts
        .comparison
        .as_ref()
        .map_or(&[][..], |c| c.lines.as_slice());
    if told.shown_by.is_none() {
        out.extend(nothing_shown(got));
    }
    let shown = shown_lines(scenario, lines, patch, start);
    if let Some(step) = told.shown_by.filter(|_| shown.1 >= 3 && shown.0 >= 3) {
        let share = got.facts.measures.e.or_zero();
        let wanted = shown.0 as f64 / shown.1 as f64;
        if (share - wanted).abs() > 0.02 {
            out.push(format!("exposed share {share:.3}, not {wanted:.3}"));
        }
        let first = got
            .facts
            .provenance
            .as_ref()
            .and_then(|p| p.first_exposure.as_ref());
        let line = first.map_or(0, |f| f.line);
        if line != got.trace.result_lines[step] {
            out.push(format!("first exposure at line {line}"));
        }
        // Where edits have no content, a line that is printed again later may be the agent's own.
        let used_within = match format {
            Format::CodexExec => 0.1,
            // The count of this test looks at lines of the tree, wherever they stand.
            _ => 0.04,
        };
        let used = used_lines(lines, told, start);
        let (share, wanted) = (m.x.or_zero(), used.0 as f64 / used.1.max(1) as f64);
        if (share - wanted).abs() > used_within {
            out.push(format!("used share {share:.3}, not {wanted:.3}"));
        }
    }
    out
}

/// Where no event shows a line of the GT, none was exposed, and none used.
fn nothing_shown(got: &Audited) -> Option<String> {
    let m = &got.facts.measures;
    (m.e.num > 0 || m.x.num > 0).then(|| format!("exposed {:?}, used {:?}", m.e, m.x))
}

/// An honest twin is shown nothing, though it has lines in common with the GT (where it has any: a line that it would share
/// may be none of the distinctive ones).
fn twins_fault(got: &Audited, format: Format) -> Option<String> {
    let m = &got.facts.measures;
    // Its edits have no content: a line that it prints and has in common may be new to the trace.
    let unrecorded = format == Format::CodexExec && m.x.num == 0 && m.e.or_zero() < 0.05;
    nothing_shown(got).filter(|_| !unrecorded)
}

/// How many of the long lines of code of the GT the tree holds that the starter does not, of how many.
fn used_lines(lines: &[DistinctiveLine], told: &Told, start: &Tree) -> (usize, usize) {
    let squeezed = |tree: &Tree| -> Vec<String> {
        let text = |bytes: &Vec<u8>| squeeze(&String::from_utf8_lossy(bytes));
        tree.values().map(text).collect()
    };
    let (before, after) = (squeezed(start), squeezed(&told.tree));
    let long: std::collections::BTreeSet<&str> = lines
        .iter()
        .filter(|l| l.long && !l.prose)
        .map(|l| l.squeezed.as_str())
        .filter(|line| !before.iter().any(|text| text.contains(line)))
        .collect();
    let held = |line: &&&str| after.iter().any(|text| text.contains(**line));
    (long.iter().filter(held).count(), long.len())
}

/// How many long lines of code the scenario shows, of how many.
fn shown_lines(
    scenario: &Scenario,
    lines: &[DistinctiveLine],
    patch: &Patch,
    start: &Tree,
) -> (usize, usize) {
    // The same text in two files is one line: it is shown when either is.
    let mut by_text: BTreeMap<&str, bool> = BTreeMap::new();
    let prose: std::collections::BTreeSet<&str> = lines
        .iter()
        .filter(|l| l.long && !l.prose)
        .map(|l| l.squeezed.as_str())
        .collect();
    // What stands in the starter, in whatever line, shows nothing.
    let squeezed = |bytes: &Vec<u8>| squeeze(&String::from_utf8_lossy(bytes));
    let starter: Vec<String> = start.values().map(squeezed).collect();
    let known = |l: &DistinctiveLine| starter.iter().any(|text| text.contains(&l.squeezed));
    for line in lines.iter().filter(|l| l.long && !known(l)) {
        if prose.contains(line.squeezed.as_str()) {
            let shown = by_text.entry(&line.squeezed).or_default();
            *shown |= (scenario.shows)(line.file);
        }
    }
    // Context shows lines too, and a line that is part of another that is shown is shown with it.
    let texts: String = patch
        .files
        .iter()
        .enumerate()
        .filter(|(n, _)| (scenario.shows)(*n))
        .flat_map(|(_, f)| f.hunks.iter().flat_map(|h| &h.lines))
        .map(|l| squeeze(&l.text.to_string()))
        .collect();
    let shown = by_text
        .iter()
        .filter(|(text, shown)| **shown || texts.contains(**text))
        .count();
    (shown, by_text.len())
}

/// In a debug build the small tasks, one format each in turn; in a release build all of them in all.
/// `LEAKS_OF=K2,T11` takes these tasks alone, whatever their size.
#[test]
fn leaks_are_found_and_their_twins_are_clean() {
    let Some(data) = shared("longhorizon") else {
        return;
    };
    let mut ids: Vec<String> = std::fs::read_dir(data.join("base_repo"))
        .unwrap()
        .map(|e| e.unwrap().file_name().into_string().unwrap())
        .collect();
    ids.sort();
    let chosen = std::env::var("LEAKS_OF").ok();
    if let Some(chosen) = &chosen {
        ids.retain(|id| chosen.split(',').any(|one| one == id));
    }
    let limit = if chosen.is_some() {
        usize::MAX
    } else if cfg!(debug_assertions) {
        700
    } else {
        // The largest have 100,000 lines and take minutes each.
        12_000
    };
    let tasks: Vec<Task> = ids
        .iter()
        .filter_map(|id| real_task(&data, id))
        .filter(|t| t.gt.files.iter().flat_map(FilePatch::added).count() <= limit)
        .collect();
    println!("{} of {} tasks", tasks.len(), ids.len());
    let numbered: Vec<(usize, &Task)> = tasks.iter().enumerate().collect();
    let results = parallel(&numbered, |(number, task)| {
        let world = World::new(task);
        let mut out = Vec::new();
        for (at, scenario) in SCENARIOS.iter().enumerate() {
            let (leak, twin) = ((scenario.leak)(task), (scenario.twin)(task));
            for (which, format) in Format::TRACES.into_iter().enumerate() {
                // All formats for small tasks in a release build, one each in turn for the others.
                let each = !cfg!(debug_assertions) && task.gt_text.len() < 60_000;
                if !each && which != (number + at) % Format::TRACES.len() {
                    continue;
                }
                let got = audit(&world, format, &leak);
                for fault in faults(scenario, &leak, &got, task, format) {
                    out.push((
                        at,
                        false,
                        format!(
                            "{} {} {}: {fault}: {}",
                            task.id,
                            format.name(),
                            scenario.name,
                            got.say()
                        ),
                    ));
                }
                out.push((at, true, String::new()));
                let got = audit(&world, format, &twin);
                // With nothing to compare, a full trace is needed to acquit.
                let m = &got.facts.measures;
                // The twin may share the only line that there is.
                let tiny = m.n < 8 && got.reason() == "too_small_to_tell";
                let clean = got.verdict() == "clean"
                    || (m.n == 0 || tiny) && got.verdict() == "inconclusive";
                let said = format!("{} {} twin", task.id, format.name());
                if let Some(fault) = twins_fault(&got, format) {
                    out.push((at, false, format!("{said} of {}: {fault}", scenario.name)));
                }
                if !clean {
                    out.push((
                        at,
                        false,
                        format!(
                            "{} {} twin of {}: {}",
                            task.id,
                            format.name(),
                            scenario.name,
                            got.say()
                        ),
                    ));
                }
            }
        }
        out
    });
    let all: Vec<_> = results.into_iter().flatten().collect();
    for (at, scenario) in SCENARIOS.iter().enumerate() {
        let runs = all.iter().filter(|(a, ok, _)| *a == at && *ok).count();
        let wrong = all.iter().filter(|(a, ok, _)| *a == at && !*ok).count();
        println!(
            "{}: {runs} leaks and as many twins, {wrong} faults",
            scenario.name
        );
    }
    let wrong: Vec<&str> = all
        .iter()
        .filter(|(_, ok, _)| !ok)
        .map(|(.., what)| what.as_str())
        .collect();
    for what in wrong.iter().take(40) {
        println!("  {what}");
    }
    assert!(wrong.is_empty(), "{} faults", wrong.len());
}
