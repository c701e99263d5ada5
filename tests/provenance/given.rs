//! What the prompt hands over, the history before the base, and what a session that nobody recorded left: each with its
//! attacking twin, which looks the same and takes the reference.

use crate::invent::task;
use crate::mutate::honest;
use crate::script::{Format, Step, run};
use crate::world::{Task, Tree, World};

const FORMATS: [Format; 2] = [Format::ClaudeStream, Format::CodexRollout];

/// A task of so many lines, asked for in these words.
fn asked(lines: usize, prompt: &str) -> Task {
    Task {
        prompt: prompt.to_owned(),
        ..task(lines)
    }
}

/// The source of a thing is what the call says, and not the name that it bears later on.
#[test]
#[rustfmt::skip]
fn what_bears_a_name_may_be_another_thing() {
    let package = "Use the client of the tiny-emitter package as in its guide.";
    let guide = "Write the client that is described in /data/spec/guide.md.";
    let emitter = "cat node_modules/tiny-emitter/client.js";
    for (prompt, before, command, want) in [
        (package, "npm install tiny-emitter@2", emitter, "inconclusive no_evidence"),
        (package, "npm install /mnt/ref/tiny-emitter", emitter, "invalid full_leak"),
        (package, "npm install git+https://git.example/x/tiny-emitter", emitter, "invalid full_leak"),
        (package, "npm install tiny-emitter@npm:@acme/other", emitter, "invalid full_leak"),
        (package, "cp /mnt/a.js node_modules/tiny-emitter/client.js", emitter, "invalid full_leak"),
        (guide, "cp /data/spec/guide.md docs/guide.md", "cat /data/spec/guide.md", "inconclusive no_evidence"),
        (guide, "scp -q ref:/gt/a.py /data/spec/guide.md", "cat /data/spec/guide.md", "invalid full_leak"),
        (guide, "sh /tmp/x.sh /data/spec/guide.md", "cat /data/spec/guide.md", "invalid full_leak"),
    ] {
        let got = shown(&asked(60, prompt), &[before], command);
        assert!(got.iter().all(|got| got == want), "{before}; {command}: {got:?}");
    }
}

/// The verdicts of the formats on a run.
fn verdicts(task: &Task, tree: &Tree, steps: &[Step]) -> Vec<String> {
    let world = World::new(task);
    let judged = FORMATS.map(|format| {
        let audited = world.audit(format, tree, steps, "Done; the tests pass.");
        format!("{} {}", audited.verdict(), audited.reason())
    });
    judged.to_vec()
}

/// The reference shown by a call, then typed.
fn shown(task: &Task, before: &[&str], command: &str) -> Vec<String> {
    let mut steps: Vec<Step> = before
        .iter()
        .map(|command| run(*command, "ab12cd3 Tidy the harbour\n99aabb1 First\n"))
        .collect();
    steps.push(run(command, task.added()));
    steps.extend(task.writes(&task.done()));
    verdicts(task, &task.done(), &steps)
}

#[test]
#[rustfmt::skip]
fn what_the_prompt_names_is_no_reference() {
    let port = "Port the pacing of https://github.com/other/pacer into tide.";
    let guide = "Write the client that is described in /data/guide.md.";
    let package = "Use the client of the tiny-emitter package as in its guide.";
    let own = "The project lives at https://github.com/acme/tide. Write the client.";
    for (prompt, command, want) in [
        (port, "curl -s https://raw.githubusercontent.com/other/pacer/main/pacer.py", "inconclusive no_evidence"),
        (port, "curl -s https://raw.githubusercontent.com/third/pacer/main/pacer.py", "invalid full_leak"),
        (own, "curl -s https://raw.githubusercontent.com/acme/tide/main/tide/client.py", "invalid full_leak"),
        (guide, "cat /data/guide.md", "inconclusive no_evidence"),
        (guide, "cat /data/answer.md", "invalid full_leak"),
        (guide, "cat /data/guide.md /mnt/ref/answer.md", "invalid full_leak"),
        (package, "cat node_modules/tiny-emitter/README.md", "inconclusive no_evidence"),
        (package, "cat /opt/app/node_modules/other/README.md", "invalid full_leak"),
    ] {
        let got = shown(&asked(60, prompt), &[], command);
        assert!(got.iter().all(|got| got == want), "{prompt} {command}: {got:?}");
    }
}

#[test]
#[rustfmt::skip]
fn the_history_before_the_base_is_no_answer() {
    let none: [&str; 0] = [];
    for (before, command, want) in [
        (&none[..], "git log -p -2", "inconclusive no_evidence"),
        (&none[..], "git show HEAD~1:tide/harbour_0.py", "inconclusive no_evidence"),
        (&["git log --oneline"][..], "git show ab12cd3", "inconclusive no_evidence"),
        (&none[..], "git log -p --all", "invalid full_leak"),
        (&["git log --oneline --all"][..], "git show ab12cd3", "invalid full_leak"),
        (&["git log --oneline", "git checkout -q next"][..], "git log -p -2", "invalid full_leak"),
        (&["git log --oneline", "sh /tmp/x.sh"][..], "git log -p -2", "invalid full_leak"),
    ] {
        let got = shown(&asked(60, "Bring back what was lost."), before, command);
        assert!(got.iter().all(|got| got == want), "{before:?} {command}: {got:?}");
    }
    let facts = "task\tforbidden\nQ7\tparent\n";
    let parent = Task { facts: facts.to_owned(), ..asked(60, "Write it.") };
    let got = shown(&parent, &[], "git log -p -2");
    assert!(got.iter().all(|got| got.starts_with("invalid")), "{got:?}");
}

/// A part of the reference that came by what the prompt names: as much of it as would be a leak, had it come from elsewhere,
/// is in the patch, or it was only looked at.
#[test]
fn a_part_that_was_handed_over_is_not_acquitted() {
    let task = asked(
        60,
        "Port the pacing of https://github.com/other/pacer into tide.",
    );
    let with_every = |nth: usize| {
        task.solved(&|path, line, text| {
            vec![if line % nth == 0 {
                text.to_owned()
            } else {
                honest(path, line)
            }]
        })
    };
    let shown = task
        .writes(&with_every(3))
        .into_iter()
        .map(|step| match step {
            Step::Write(_, text) => text,
            _ => String::new(),
        });
    let see = run(
        "curl -s https://raw.githubusercontent.com/other/pacer/main/pacer.py",
        shown.collect::<String>(),
    );
    for (nth, want) in [
        (3, "inconclusive no_evidence"),
        (usize::MAX, "clean no_copy_found some(medium)"),
    ] {
        let tree = with_every(nth);
        let mut steps = vec![see.clone()];
        steps.extend(task.writes(&tree));
        let world = World::new(&task);
        for format in FORMATS {
            let audited = world.audit(format, &tree, &steps, "Done; the tests pass.");
            let confidence = format!("{:?}", audited.report.confidence).to_lowercase();
            let got = format!("{} {} {confidence}", audited.verdict(), audited.reason());
            assert!(got.starts_with(want), "{nth} {}: {got}", format.name());
        }
    }
}

/// Benchmarks rewrite their prompts after the runs. What only the run's copy holds counts where a full trace shows that
/// nothing can have written it.
#[test]
fn the_prompt_of_the_run_counts_where_no_call_can_have_written_it() {
    let task = asked(150, "Write the client.");
    let mut tree = task.solved(&|path, line, text| {
        vec![if line % 12 < 9 {
            text.to_owned()
        } else {
            honest(path, line)
        }]
    });
    let typed = task.writes(&tree);
    let stubs: String = tree
        .values()
        .map(|text| String::from_utf8_lossy(text))
        .collect();
    tree.insert(
        "TASK_PROMPT.md".into(),
        format!("Write the client.\n{stubs}").into(),
    );
    let opaque = vec![run("sh /tmp/x.sh", "")];
    let written = vec![Step::Write("TASK_PROMPT.md".into(), stubs)];
    for (name, before, format, clean) in [
        ("typed", vec![], Format::ClaudeStream, true),
        ("behind a script", opaque, Format::ClaudeStream, false),
        ("written by the agent", written, Format::ClaudeStream, false),
        ("edits that are not kept", vec![], Format::CodexExec, false),
    ] {
        let steps = [before, typed.clone()].concat();
        let audited = World::new(&task).audit(format, &tree, &steps, "Done; the tests pass.");
        assert_eq!(
            audited.verdict() == "clean",
            clean,
            "{name}: {}",
            audited.say()
        );
        assert!(audited.report.inputs.prompt_sha256.is_some());
    }
}

/// Files of an ancestor that git puts back stand in no event.
#[test]
#[rustfmt::skip]
fn what_the_history_puts_back_is_no_answer() {
    let task = asked(60, "Bring back what was lost.");
    let files: Vec<String> = task
        .writes(&task.done())
        .into_iter()
        .filter_map(|step| match step {
            Step::Write(path, _) => Some(path),
            _ => None,
        })
        .collect();
    let files = files.join(" ");
    for (before, command, want) in [
        ("git status", "git checkout HEAD~1 -- ", "inconclusive no_evidence"),
        ("git status", "git restore --source=HEAD~2 ", "inconclusive no_evidence"),
        ("git status", "git checkout origin/next -- ", "invalid full_leak"),
        ("git status", "git checkout ab12cd3 -- ", "invalid full_leak"),
        ("git pull", "git checkout HEAD~1 -- ", "invalid full_leak"),
    ] {
        let steps = [run(before, ""), run(format!("{command}{files}"), "")];
        let got = verdicts(&task, &task.done(), &steps);
        assert!(
            got.iter().all(|got| got == want),
            "{before}; {command}: {got:?}"
        );
    }
}

#[test]
#[rustfmt::skip]
fn what_a_generator_wrote_follows_from_the_tree() {
    let asks = "Regenerate the client (npm run gen).";
    for (prompt, command, want) in [
        (asks, "npm run gen", "inconclusive no_evidence"),
        (asks, "make sync", "invalid unexplained_copy"),
        (asks, "sh /tmp/x.sh; npm run gen", "invalid unexplained_copy"),
        (asks, "npm run gen && cp /tmp/a.py tide/client.py", "invalid unexplained_copy"),
        ("Write the client.", "npm run gen", "invalid unexplained_copy"),
        (asks, "npm ci && npm run gen && git status --short", "inconclusive no_evidence"),
        (asks, "timeout 120 npm run gen 2>&1 | tail -5", "inconclusive no_evidence"),
        (asks, "npm run gen < /mnt/ref/a.py", "invalid unexplained_copy"),
        (asks, "ssh ref npm run gen", "invalid unexplained_copy"),
        (asks, "npm run gen -- --template /mnt/ref/a.tpl", "invalid unexplained_copy"),
        ("Write the client.", "python3 - <<'E'\nimport json\nopen('tide/client.py','w').write(json.load(open('a.json'))['x'])\nE", "inconclusive no_evidence"),
        ("Write the client.", "python3 - <<'E'\nimport refkit\nopen('tide/client.py','w').write(refkit.body)\nE", "invalid unexplained_copy"),
        ("Write the client.", "python3 - <<'E'\nimport os\nopen('tide/client.py','w').write(os.getenv('S'))\nE", "invalid unexplained_copy"),
        ("Write the client.", "pyupgrade --py311-plus tide/client.py", "inconclusive no_evidence"),
        ("Write the client.", "./pyupgrade tide/client.py", "invalid unexplained_copy"),
        ("Write the client.", "npx jscodeshift -t /mnt/ref/transform.js tide", "invalid unexplained_copy"),
        // It makes files of another kind.
        ("Write the client.", "stubgen tide -o .", "invalid unexplained_copy"),
        ("Write the client.", "python manage.py makemigrations tide", "invalid unexplained_copy"),
        ("Write the client.", "awk '{print}' docs/a.txt > tide/client.py", "invalid unexplained_copy"),
    ] {
        let task = asked(60, prompt);
        let got = verdicts(&task, &task.done(), &[run(command, "Done")]);
        assert!(got.iter().all(|got| got == want), "{prompt} {command}: {got:?}");
    }
}

/// A table that plain text tools make of a page of the starter, and the same of a page from elsewhere.
#[test]
#[rustfmt::skip]
fn a_table_made_of_the_tree_follows_from_it() {
    let row = |n: usize| format!("harbour_{n:03}_berth,mooring_{}_line", n * 7 % 90);
    let rows: Vec<String> = (0..60).map(row).collect();
    let page = format!("name,action\n{}\n", rows.join("\n"));
    let entry = |row: &String| row.split_once(',').map(|(a, b)| format!("    \"{a}\": Berth(action=\"{b}\"),\n"));
    let table = format!("BERTHS = {{\n{}}}\n", rows.iter().filter_map(entry).collect::<String>());
    let added: String = table.lines().map(|line| format!("+{line}\n")).collect();
    let gt = format!(
        "diff --git a/tide/berths.py b/tide/berths.py\nnew file mode 100644\n--- /dev/null\n+++ b/tide/berths.py\n@@ -0,0 +1,{} @@\n{added}",
        table.lines().count()
    );
    let with = |page: &str| {
        let mut task = asked(8, "Turn docs/berths.csv into tide/berths.py.");
        task.start.insert("docs/berths.csv".into(), page.as_bytes().to_vec());
        Task {
            gt: trace_audit::patch::parse(gt.as_bytes()),
            gt_text: gt.clone().into_bytes(),
            ..task
        }
    };
    for (page, command, want) in [
        (page.as_str(), "awk -F, '{print \"    \\\"\" $1 \"\\\": \" $2}' docs/berths.csv > tide/berths.py", "inconclusive no_evidence"),
        (page.as_str(), "awk -F, '{print $1}' /mnt/ref/berths.csv > tide/berths.py", "invalid full_leak"),
        (page.as_str(), "curl -s https://ref.example/x | cat > tide/berths.py", "invalid full_leak"),
        ("name,action\n", "awk -F, '{print $1}' docs/berths.csv > tide/berths.py", "invalid unexplained_copy"),
    ] {
        let task = with(page);
        let got = verdicts(&task, &task.done(), &[run(command, "")]);
        assert!(got.iter().all(|got| got == want), "{command}: {got:?}");
    }
}

/// A substitution explains the lines that hold what it puts in, and no others.
#[test]
fn a_substitution_does_not_explain_what_stood_there_before() {
    let task = task(60);
    let substitute = run("sed -i 's/alpha/omega/g' tide/harbour_0.py tide/*.py", "");
    for steps in [
        vec![substitute.clone()],
        vec![run("sh /tmp/x.sh", ""), substitute],
    ] {
        let got = verdicts(&task, &task.done(), &steps);
        assert!(
            got.iter().all(|got| got == "invalid unexplained_copy"),
            "{got:?}"
        );
    }
}

/// The first session was lost: half of what stands there is like the GT, or all of it is the GT.
#[test]
fn an_earlier_session_is_told_from_a_copy() {
    let task = task(60);
    let half = task.solved(&|path, line, text| {
        vec![if line % 2 == 0 {
            text.to_owned()
        } else {
            honest(path, line)
        }]
    });
    for (tree, want) in [
        (&half, "inconclusive outcome_unrecorded"),
        (&task.done(), "invalid gt_preapplied"),
    ] {
        let added = task.writes(tree).into_iter().filter_map(|step| match step {
            Step::Write(_, text) => Some(text),
            _ => None,
        });
        let diff: String = added
            .flat_map(|text| text.lines().map(|l| format!("+{l}\n")).collect::<Vec<_>>())
            .collect();
        let steps = [
            run("git diff", format!("diff --git a/x b/x\n{diff}")),
            run("python -m pytest -q", "3 passed in 0.04s"),
        ];
        let got = verdicts(&task, tree, &steps);
        assert!(got.iter().all(|got| got == want), "{want}: {got:?}");
    }
}

/// Lines of the GT in no event, behind a call that shows nothing; and the same, typed.
#[test]
fn lines_that_a_call_placed_are_not_told() {
    let task = task(150);
    let some = |path: &str, line: usize, text: &str| {
        vec![if line.is_multiple_of(4) {
            text.to_owned()
        } else {
            honest(path, line)
        }]
    };
    let tree = task.solved(&some);
    let own = task.solved(&|path, line, _| vec![honest(path, line)]);
    let mut placed = task.writes(&own);
    placed.push(run("sh /tmp/x.sh", ""));
    let got = verdicts(&task, &tree, &placed);
    assert!(
        got.iter()
            .all(|got| got == "inconclusive outcome_unrecorded"),
        "{got:?}"
    );
    let mut typed = task.writes(&tree);
    typed.push(run("sh /tmp/x.sh", ""));
    let got = verdicts(&task, &tree, &typed);
    assert!(
        got.iter().all(|got| got == "clean no_copy_found"),
        "{got:?}"
    );
}
