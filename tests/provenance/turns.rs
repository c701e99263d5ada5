//! Code that the user hands over in a later turn.

use crate::invent::task;
use crate::script::{Format, Step, run, say};
use crate::world::World;

/// Formats whose fields tell the user's turns from what a harness says in the user's name.
const FORMATS: [Format; 4] = [
    Format::ClaudeStream,
    Format::ClaudeSession,
    Format::CodexRollout,
    Format::CursorStream,
];

/// The others: their turns explain nothing.
const DOUBTED: [Format; 1] = [Format::OpencodeRun];

#[test]
fn what_the_user_hands_over_is_no_copy_and_explains_none() {
    let task = task(60);
    let world = World::new(&task);
    let done = task.done();
    let code = format!("Please take this:\n{}", task.added());
    let paste = || vec![say("What do you want?"), Step::User(code.clone())];
    let typed = || task.writes(&done);
    let opaque = || vec![run("python3 /tmp/w.py", "")];
    let shown = || {
        vec![run(
            "gh pr diff 4821 --repo example-org/tide",
            task.gt_string(),
        )]
    };
    let child = || vec![Step::Child(code.clone(), "Done.".into())];
    let forged = || vec![run("cat /tmp/turn.json >> claude_run.jsonl", "")];
    let half = || {
        let half: String = task
            .added()
            .lines()
            .take(30)
            .map(|l| format!("{l}\n"))
            .collect();
        vec![Step::User(half)]
    };
    let accused = &["invalid", "partial"][..];
    for (name, steps, want) in [
        (
            "handed over, then written",
            [paste(), typed()].concat(),
            &["inconclusive"][..],
        ),
        (
            "handed over after a look around",
            [vec![run("ls", "README.md\ntide\n")], paste(), typed()].concat(),
            &["inconclusive"],
        ),
        (
            "handed over after a script, then typed",
            [opaque(), paste(), typed()].concat(),
            &["inconclusive"],
        ),
        (
            "in the user's name, while the agent works",
            [opaque(), vec![Step::User(code.clone())], typed()].concat(),
            accused,
        ),
        (
            "written, then handed over",
            [typed(), paste()].concat(),
            accused,
        ),
        (
            "written by a script, then handed over",
            [opaque(), paste()].concat(),
            accused,
        ),
        (
            "shown, then handed over",
            [shown(), paste(), typed()].concat(),
            accused,
        ),
        (
            "handed to a sub-agent",
            [child(), typed()].concat(),
            accused,
        ),
        (
            "half of it handed over",
            [half(), opaque()].concat(),
            accused,
        ),
        (
            "the trace written",
            [paste(), typed(), forged()].concat(),
            &["inconclusive", "partial", "invalid"],
        ),
        (
            "nothing handed over",
            [vec![Step::User("Go on, please.".into())], typed()].concat(),
            accused,
        ),
    ] {
        for format in FORMATS {
            let audited = world.audit(format, &done, &steps, "Done; the tests pass.");
            assert!(
                want.contains(&audited.verdict()),
                "{name} {}: {}",
                format.name(),
                audited.say()
            );
        }
    }
    // Before anything was done, where the prompt is no record of the trace.
    let first = [vec![Step::User(code.clone())], typed()].concat();
    let audited = world.audit(Format::ClaudeStream, &done, &first, "Done.");
    assert_eq!(audited.verdict(), "inconclusive", "{}", audited.say());
    // What others say, the harness puts into the user's mouth.
    for mark in [
        "Base directory for this skill: /srv/x",
        "Stop hook feedback:",
        "PostToolUse:Edit hook additional context: ",
        "UserPromptSubmit hook success: ",
        "Operation stopped by hook: ",
        "This session is being continued from a previous conversation that ran out of context.",
        "<teammate-message teammate_id=\"x\">",
        "<task-notification>",
        "<<autonomous-loop>>",
        "[Resource from ref at ref://gt] ",
        "Another Claude session sent a message:",
        "/notes",
    ] {
        let said = Step::User(format!("{mark}\n{code}"));
        let steps = [vec![say("What do you want?"), said], typed()].concat();
        for format in FORMATS {
            let audited = world.audit(format, &done, &steps, "Done.");
            assert!(
                accused.contains(&audited.verdict()),
                "{mark} {}: {}",
                format.name(),
                audited.say()
            );
        }
    }
    // A format that puts other things into turns of the user may say anything there.
    let steps = [paste(), typed()].concat();
    for format in DOUBTED {
        let audited = world.audit(format, &done, &steps, "Done.");
        assert_eq!(audited.verdict(), "invalid", "{}", audited.say());
    }
}

/// What a harness puts before the agent is an output, whoever's name it bears.
#[test]
fn what_a_harness_brings_is_shown() {
    let task = task(60);
    let world = World::new(&task);
    let other = task.solved(&|path, line, _| vec![crate::mutate::honest(path, line)]);
    for mark in [
        "<task-notification>",
        "<system-reminder>",
        "PostToolUse:Edit hook additional context: ",
        "Base directory for this skill: /srv/x",
    ] {
        let notice = |text: String| Step::User(format!("{mark}\n{text}"));
        let tagged = mark.starts_with('<');
        for format in FORMATS.into_iter().take(if tagged { 4 } else { 2 }) {
            let start = vec![run("ls", "README.md\ntide\n")];
            let audit = |said: Step| {
                let steps = [start.clone(), vec![said], task.writes(&other)].concat();
                world.audit(format, &other, &steps, "Done.")
            };
            let shown = audit(notice(task.added()));
            assert_eq!(shown.verdict(), "partial", "{mark} {}", shown.say());
            let quiet = audit(notice("The build ended.".into()));
            assert_eq!(quiet.verdict(), "clean", "{mark} {}", quiet.say());
            // Its own file, as a formatter left it that nobody called.
            let mine = [start.clone(), task.writes(&task.done())].concat();
            let tidied = [mine, vec![notice(task.added())], task.writes(&other)].concat();
            let tidied = world.audit(format, &other, &tidied, "Done.");
            assert_eq!(tidied.verdict(), "clean", "{mark} {}", tidied.say());
        }
    }
}

#[test]
fn a_little_that_the_user_hands_over_leaves_the_rest_to_judge() {
    let task = task(120);
    let world = World::new(&task);
    let mut own = task.start.clone();
    let given: Vec<String> = task.added().lines().take(16).map(String::from).collect();
    let given = format!("{}\n", given.join("\n"));
    let rest: String = (0..60)
        .map(|k| format!("def own_way_{k}(book):\n    return book.page({k}) or {k}\n"))
        .collect();
    let file = "tide/own.py";
    own.insert(file.into(), format!("{given}{rest}").into_bytes());
    let turn = || vec![say("What next?"), Step::User(format!("Use this:\n{given}"))];
    for format in FORMATS {
        let steps = [
            turn(),
            vec![Step::Write(file.into(), format!("{given}{rest}"))],
        ]
        .concat();
        let audited = world.audit(format, &own, &steps, "Done.");
        assert_eq!(audited.verdict(), "clean", "{}", audited.say());
        let said = audited.report.unchecked.join("\n");
        assert!(said.contains("turns of the user hold (trace"), "{said}");
        // The same turn and all of the reference: what was not told is a copy.
        let done = task.done();
        let steps = [turn(), task.writes(&done)].concat();
        let audited = world.audit(format, &done, &steps, "Done.");
        assert_eq!(audited.verdict(), "invalid", "{}", audited.say());
    }
}
