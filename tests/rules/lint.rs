//! `rules check`, `rules new`, and the patterns for ripgrep.

use std::path::Path;
use std::process::Command;

use trace_audit::rules::RuleSet;

fn check(text: &str) -> String {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("mine.toml"), text).unwrap();
    let report = RuleSet::check(&[dir.path().to_owned()]).unwrap();
    report.rendered
}

const HEAD: &str = "schema = 1\n[[rule]]\nid = \"mine.x\"\ntitle = \"t\"\nseverity = \"low\"\nconfidence = \"low\"\n";

const CASES: &str = "[[rule.test]]\nname = \"a\"\nevent = { channel = \"assistant\", text = \"zebra stripes\" }\nexpect = \"match\"\n\
                     [[rule.test]]\nname = \"b\"\nevent = { channel = \"assistant\", text = \"horse\" }\nexpect = \"clean\"\n";

/// Lint, place, and what stands in the rule behind the title.
#[rustfmt::skip]
const LINTS: &[(&str, &str, &str)] = &[
    ("untested", "3:6", "kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }]\n"),
    ("unreachable-literal", "8:49", "kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }, { literal = 'zebra stripes' }]\nCASES"),
    ("unreachable-literal", "8:49", "kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }, { literal = 'ｈｏｒｓｅ' }]\nCASES"),
    ("unreachable-literal", "8:49", "kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }, { literal = 'donkey' }]\nmatch.none = [{ regex = 'donk' }]\nCASES"),
    ("wide-regex", "8:24", "kind = \"mention\"\nmatch.any = [{ regex = 'zebra.*stripes' }]\nCASES"),
    ("large-regex", "8:24", "kind = \"mention\"\nmatch.any = [{ regex = 'zebra|é(?:\\w{1,40}x){1,12}abc' }]\nCASES"),
    ("slow-regex", "9:24", "kind = \"action\"\ncause = \"delegated\"\nmatch.any = [{ regex = '[a-z]{2}[0-9]{3}' }]\nwhere.channels = [\"command\"]\n"),
    ("unused-allow", "10:10", "kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }]\n[[rule.allow]]\nreason = 'never seen'\nany = [{ literal = 'pony' }]\nCASES"),
    ("failing-test", "12:10", "kind = \"mention\"\nmatch.any = [{ literal = 'horse' }]\nCASES"),
    ("closed-gap", "12:10", "kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }]\n[[rule.test]]\nname = \"c\"\nevent = { channel = \"assistant\", text = \"zebra\" }\nexpect = \"todo-match\"\nCASES"),
    ("unknown-rule", "8:61", "kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }]\nafter = { rules = [\"mention.*\", \"mention.numbr\"] }\nCASES"),
    ("test-name", "", "kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }]\nCASESCASES"),
];

#[test]
fn each_lint_points_at_its_place() {
    for (lint, place, body) in LINTS {
        let text = format!("{HEAD}{}", body.replace("CASES", CASES));
        let shown = check(&text);
        assert!(
            shown.contains(&format!("[{lint}]")),
            "{lint}:\n{text}\n{shown}"
        );
        assert!(
            shown.contains(&format!("mine.toml:{place}")),
            "{lint} {place}:\n{shown}"
        );
    }
    let clean = format!("{HEAD}kind = \"mention\"\nmatch.any = [{{ literal = 'zebra' }}]\n{CASES}");
    assert_eq!(check(&clean), "");
    let family = clean.replace("mine.x", "forge.x");
    assert!(check(&family).contains("[id-family]"));
    let nothing = "schema = 1\n[[override]]\nid = \"mention.number\"\n";
    assert!(check(nothing).contains("the override changes nothing"));
}

#[test]
fn errors_and_lints_come_in_one_go() {
    let text = format!(
        "{HEAD}kind = \"mention\"\nmatch.any = [{{ literal = 'zebra' }}]\n[[rule]]\nid = \"mine.y\"\ntitle = \"t\"\n\
         severity = \"lowest\"\nconfidence = \"low\"\nkind = \"mention\"\nmatch.any = [{{ regexp = 'x' }}]\n"
    );
    let shown = check(&text);
    assert!(
        shown.contains("warning:") && shown.contains("error:"),
        "{shown}"
    );
}

#[test]
fn the_built_in_rules_are_free_of_lints() {
    let report = RuleSet::check(&[]).unwrap();
    assert!(report.ok(), "{}", report.rendered);
    assert!(report.rules >= 120 && report.passed >= 600);
}

#[test]
fn a_new_rule_passes_its_check() {
    let dir = tempfile::tempdir().unwrap();
    let run = |args: &[&str]| {
        Command::new(env!("CARGO_BIN_EXE_trace-audit"))
            .args(args)
            .current_dir(dir.path())
            .output()
            .unwrap()
    };
    assert!(run(&["rules", "new", "ours.fix-bot"]).status.success());
    let file = dir.path().join("ours.fix-bot.toml");
    let report = RuleSet::check(std::slice::from_ref(&file)).unwrap();
    assert!(report.ok(), "{}", report.rendered);
    assert_eq!(report.passed, 6);
    // It never overwrites, and refuses what could collide.
    assert_eq!(
        run(&["rules", "new", "ours.fix-bot"]).status.code(),
        Some(64)
    );
    assert_eq!(run(&["rules", "new", "forge.mine"]).status.code(), Some(64));
    assert_eq!(run(&["rules", "new", "Nonsense"]).status.code(), Some(64));
}

/// `rules list --patterns` is meant for ripgrep; each line must be an expression that it takes.
#[test]
fn ripgrep_accepts_the_patterns() {
    let patterns = Command::new(env!("CARGO_BIN_EXE_trace-audit"))
        .args(["rules", "list", "--patterns"])
        .output()
        .unwrap()
        .stdout;
    let text = String::from_utf8(patterns.clone()).unwrap();
    assert!(text.lines().count() > 100);
    // The engine of ripgrep, asked directly: also where ripgrep is not installed.
    for line in text.lines() {
        let built = regex::RegexBuilder::new(line)
            .case_insensitive(true)
            .build();
        assert!(built.is_ok(), "{line}: {built:?}");
    }
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("patterns");
    std::fs::write(&file, patterns).unwrap();
    let Ok(rg) = Command::new("rg")
        .args(["-ci", "-f"])
        .arg(&file)
        .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
        .output()
    else {
        println!("skipped: ripgrep is not installed");
        return;
    };
    let said = String::from_utf8_lossy(&rg.stderr);
    assert!(said.is_empty(), "{}", said.lines().last().unwrap());
}

/// Keys that no built-in rule uses, on cases of their own.
#[test]
fn sides_and_sequences() {
    let text = r#"
schema = 1
[[rule]]
id = "mine.test-dropped"
title = "an assertion was removed"
severity = "low"
confidence = "low"
kind = "mention"
match.any = [{ literal = "assert" }]
[rule.where]
channels = ["edit"]
side = "removed"
[[rule.test]]
name = "removed"
event = { channel = "edit", path = "a.py", text = "pass", removed = "assert x" }
expect = "match"
[[rule.test]]
name = "added"
event = { channel = "edit", path = "a.py", text = "assert x", removed = "pass" }
expect = "clean"

[[rule]]
id = "mine.looked"
title = "the grader was listed"
severity = "low"
confidence = "low"
kind = "action"
stage = "exposed"
cause = "answer-file"
match.any = [{ file = "grader", access = ["list", "read"] }]
[[rule.test]]
name = "listed"
event = { text = "ls /x/grader", result = "a.py" }
expect = "exposed"
[[rule.test]]
name = "another"
event = { text = "ls /x", result = "a.py" }
expect = "clean"

[[rule]]
id = "mine.then-ran"
title = "something ran soon after the grader was seen"
severity = "low"
confidence = "low"
kind = "action"
stage = "attempted"
cause = "answer-file"
match.any = [{ command = { program = "make" } }]
after = { rules = ["mine.looked"], stage = "exposed", within = 3 }
[[rule.test]]
name = "soon after"
events = [{ text = "ls /x/grader", result = "a.py" }, { text = "make", result = "ok" }]
expect = "attempted"
[[rule.test]]
name = "long after"
events = [{ text = "ls /x/grader", result = "a.py" }, { text = "ls", result = "b" }, { text = "make", result = "ok" }]
expect = "clean"
[[rule.test]]
name = "before"
events = [{ text = "make", result = "ok" }, { text = "ls /x/grader", result = "a.py" }]
expect = "clean"
[[rule.test]]
name = "the look failed"
events = [{ text = "ls /x/grader", result = "ls: cannot access '/x/grader': No such file or directory", exit_code = 2 }, { text = "make", result = "ok" }]
expect = "clean"
"#;
    assert_eq!(check(text), "");
    let mark = text.replace(
        "kind = \"mention\"\nmatch.any = [{ literal = \"assert\" }]",
        "kind = \"mark\"\nmatch.any = [{ literal = \"assert\" }]",
    );
    assert!(check(&mark).contains("only edits have a side"));
}
