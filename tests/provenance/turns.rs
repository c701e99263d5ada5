//! Code that the user hands over in a later turn.

use crate::invent::task;
use crate::script::{Format, Step, run, say};
use crate::world::World;

const FORMATS: [Format; 4] = [
    Format::ClaudeStream,
    Format::ClaudeSession,
    Format::CodexRollout,
    Format::CursorStream,
];

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
            &["clean"][..],
        ),
        (
            "handed over after a look around",
            [vec![run("ls", "README.md\ntide\n")], paste(), typed()].concat(),
            &["clean"],
        ),
        (
            "handed over after a script, then typed",
            [opaque(), paste(), typed()].concat(),
            &["clean"],
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
    // What a skill or a hook says, the harness puts into the user's mouth.
    for mark in [
        "Base directory for this skill: /srv/x",
        "Stop hook feedback:",
    ] {
        let steps = [vec![Step::User(format!("{mark}\n{code}"))], typed()].concat();
        for format in [Format::ClaudeStream, Format::ClaudeSession] {
            let audited = world.audit(format, &done, &steps, "Done.");
            assert!(
                accused.contains(&audited.verdict()),
                "{mark} {}: {}",
                format.name(),
                audited.say()
            );
        }
    }
    // A format that puts results of tools into turns of the user may say anything there.
    let steps = [paste(), typed()].concat();
    let audited = world.audit(Format::OpencodeRun, &done, &steps, "Done.");
    assert_eq!(audited.verdict(), "invalid", "{}", audited.say());
}
