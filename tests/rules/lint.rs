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
    ("large-regex", "8:24", "kind = \"mention\"\nmatch.any = [{ regex = 'zebra|(?:[a-z]{1,100}x){1,120}abc' }]\nCASES"),
    ("slow-regex", "9:24", "kind = \"action\"\ncause = \"delegated\"\nmatch.any = [{ regex = '[a-z]{2}[0-9]{3}' }]\nwhere.channels = [\"command\"]\n"),
    ("unused-allow", "10:10", "kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }]\n[[rule.allow]]\nreason = 'never seen'\nany = [{ literal = 'pony' }]\nCASES"),
    ("failing-test", "12:10", "kind = \"mention\"\nmatch.any = [{ literal = 'horse' }]\nCASES"),
    ("closed-gap", "12:10", "kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }]\n[[rule.test]]\nname = \"c\"\nevent = { channel = \"assistant\", text = \"zebra\" }\nexpect = \"todo-match\"\nCASES"),
    ("unknown-rule", "9:33", "kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }]\nafter = { rules = [\"mention.*\", \"mention.numbr\"] }\nCASES"),
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
    let text = String::from_utf8(patterns).unwrap();
    assert!(text.lines().count() > 100);
    // The engine of ripgrep, asked directly: also where ripgrep is not installed.
    for line in text.lines() {
        let built = regex::RegexBuilder::new(line)
            .case_insensitive(true)
            .build();
        assert!(built.is_ok(), "{line}: {built:?}");
    }
    // As the manual says: all of them with `-i`, those of ASCII characters with `--no-unicode` too.
    let ascii: Vec<&str> = text.lines().filter(|line| line.is_ascii()).collect();
    for (options, patterns) in [
        (&["-i"][..], text.clone()),
        (&["-i", "--no-unicode"], ascii.join("\n")),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("patterns");
        std::fs::write(&file, patterns).unwrap();
        let Ok(rg) = Command::new("rg")
            .args(options)
            .arg("-cf")
            .arg(&file)
            .arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml"))
            .output()
        else {
            println!("skipped: ripgrep is not installed");
            return;
        };
        let said = String::from_utf8_lossy(&rg.stderr);
        assert!(
            said.is_empty(),
            "{options:?}: {}",
            said.lines().last().unwrap()
        );
    }
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

/// The faults planted in three files: where each of them must be shown, once, and nothing else.
#[rustfmt::skip]
const PLANTED: &[(&str, &[&str])] = &[
    ("a-syntax", &["5:1", "7:1", "11:34", "13:14", "15:36", "19:51", "28:12", "32:1", "50:10"]),
    ("b-schema", &[
        "1:10", "3:3", "6:1", "7:6", "7:6", "8:1", "9:12", "11:8", "12:16", "12:32", "12:77", "13:32", "14:1", "15:20",
        "17:1", "18:6", "18:6", "21:8", "22:43", "22:76", "23:9", "25:1", "25:1", "26:6", "38:12",
    ]),
    ("c-more", &["4:6", "5:31", "8:6", "10:13", "14:21", "17:6", "17:6", "26:10", "27:1", "32:11", "33:10", "43:34", "43:60"]),
];

#[test]
fn every_planted_fault_is_shown_once_at_its_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cmd/rules-check-all.in/rules");
    let report = RuleSet::check(std::slice::from_ref(&root)).unwrap();
    let place = |line: &str| {
        let (file, place) = line.trim().strip_prefix("--> ")?.split_once(".toml:")?;
        Some((
            Path::new(file).file_name()?.to_str()?.to_owned(),
            place.to_owned(),
        ))
    };
    let shown: Vec<(String, String)> = report.rendered.lines().filter_map(place).collect();
    let planted = PLANTED.iter().flat_map(|(file, places)| {
        let at = |place: &&str| ((*file).to_owned(), (*place).to_owned());
        places.iter().map(at).collect::<Vec<_>>()
    });
    assert_eq!(shown, planted.collect::<Vec<_>>());
    assert_eq!(report.errors + report.warnings, shown.len());
    assert_eq!((report.rules, report.passed, report.not_run), (8, 1, 7));
}

/// A file that cannot be read as text is one fault more, with its place; what else is wrong is shown all the same.
#[test]
fn a_file_that_is_no_text_hides_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut bytes =
        format!("{HEAD}kind = \"mention\"\nmatch.any = [{{ literal = 'zebra").into_bytes();
    bytes.extend(b"\xe9' }]\ntags = 7\n");
    std::fs::write(dir.path().join("a.toml"), bytes).unwrap();
    std::fs::write(dir.path().join("b.toml"), "schema = 9").unwrap();
    std::fs::write(dir.path().join("c.toml"), vec![b'#'; 61 << 20]).unwrap();
    let shown = RuleSet::check(&[dir.path().to_owned()]).unwrap().rendered;
    for (place, message) in [
        ("a.toml:8:32", "must be UTF-8"),
        ("a.toml:9:8", "invalid type: integer `7`, expected a list"),
        ("b.toml:1:10", "another format"),
        (
            "c.toml:1:1",
            "the file has 63963136 bytes, and a rule file has at most 1048576",
        ),
    ] {
        assert!(
            shown.contains(place) && shown.contains(message),
            "{place} {message}: {shown}"
        );
    }
    let run = |args: &[&str]| {
        let done = Command::new(env!("CARGO_BIN_EXE_trace-audit"))
            .args(args)
            .current_dir(dir.path())
            .output();
        done.unwrap().status.code()
    };
    assert_eq!(run(&["rules", "check", "."]), Some(1));
    assert_eq!(run(&["rules", "test", "."]), Some(65));
    assert_eq!(run(&["rules", "check", "nowhere"]), Some(66));
}

/// What is too much says so, and what to do.
#[test]
fn limits_are_reported() {
    let rule = |number: usize, pattern: &str| {
        format!(
            "[[rule]]\nid = \"mine.r{number}\"\ntitle = \"t\"\nseverity = \"low\"\nconfidence = \"low\"\nkind = \"mention\"\nmatch.any = [{pattern}]\n"
        )
    };
    let many: String = (0..1_003)
        .map(|n| rule(n, "{ literal = 'zebra' }"))
        .collect();
    let list: String = (0..1_003)
        .map(|n| format!("{{ literal = 'zebra {n} x' }},"))
        .collect();
    let unknown: String = (0..50).map(|n| format!("k{n} = 1\n")).collect();
    for (text, message) in [
        (many, "there are more than 1000 rules"),
        (
            rule(0, &list),
            "there are more than 1000 patterns in this list",
        ),
        (
            rule(0, &format!("{{ literal = '{}' }}", "zebra".repeat(20_000))),
            "it has 100000 bytes, and a text of a pattern has at most 65536",
        ),
        (
            rule(0, "{ regex = 'zebra(x{900}){900}' }"),
            "so large that it could not be used",
        ),
        (
            rule(0, "{ literal = 'zebra' }") + &unknown,
            "there are more than 40 mistakes in this entry",
        ),
        (
            "a = [\n".repeat(300),
            "there are more than 100 TOML mistakes in this file",
        ),
        (
            "[[override]]\nid = 'mention.number'\nenabled = true\n".repeat(1_003),
            "there are more than 1000 overrides",
        ),
        (
            format!("a = {}{}", "[".repeat(50_000), "]".repeat(50_000)),
            "cannot recurse further",
        ),
    ] {
        let shown = check(&format!("schema = 1\n{text}"));
        assert_eq!(
            shown.matches(message).count(),
            1,
            "{message}: {}",
            shown.lines().take(20).collect::<Vec<_>>().join("\n")
        );
    }
}

/// What follows from a mistake is not said again, and what does not is.
#[test]
#[rustfmt::skip]
fn only_what_is_wrong_by_itself_is_shown() {
    let sound = "match.any = [{ literal = 'zebra' }]\nkind = \"mention\"\n";
    for (body, faults) in [
        // A key that is mistyped is not missing too, and a rule without it has no other faults.
        ("kynd = \"action\"\nstage = \"obtained\"\nmatch.any = [{ literal = 'zebra' }]\nCASES", 1),
        ("kind = \"action\"\ncuase = \"delegated\"\nmatch.any = [{ command = { program = 'x' } }]\nCASES", 1),
        ("kind = \"mention\"\nmacth.any = [{ literal = 'zebra' }]\nCASES", 1),
        ("kind = \"mention\"\nmatch.any = [{ literla = 'zebra' }]\nCASES", 1),
        ("kind = \"mention\"\nmatch.any = [\nCASES", 1),
        // Tests of such a rule fail or not: nobody can know.
        ("kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }, { regex = 'hors(e' }]\n[[rule.test]]\nname = 'x'\nevent = { channel = \"assistant\", text = \"horse\" }\nexpect = \"match\"\nCASES", 1),
        // A test with a mistake does not hide that another fails, nor does a title, a tag, a severity.
        ("SOUND[[rule.test]]\nname = 'x'\nevent = { text = 'a' }\nexpect = 'cleen'\n[[rule.test]]\nname = 'y'\nevent = { channel = 'assistant', text = 'a' }\nexpect = 'match'\nCASES", 2),
        ("SOUNDstatus = 'old'\ntags = 1\n[[rule.test]]\nname = 'y'\nevent = { channel = 'assistant', text = 'a' }\nexpect = 'match'\nCASES", 3),
        // What never holds.
        ("SOUNDafter = { rules = [] }\nCASES", 1),
        // A literal over a fact that there is not; braces of other languages.
        ("kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }, { literal = 'pull/{nosuch}' }]\nCASES", 1),
        ("kind = \"mention\"\nmatch.any = [{ literal = 'zebra' }, { literal = '${nosuch}' }]\nCASES", 0),
        // All that is missing at one place is told at once.
        ("CASES", 1),
        // An override of a rule that has mistakes is about a rule that is there.
        ("kind = \"mention\"\nmatch.any = [{ regex = 'hors(e' }]\nCASES\n[[override]]\nid = 'mine.x'\nreplace = { severity = 'high' }\n", 1),
        ("SOUNDCASES\n[[override]]\nid = 'mine.y'\nreplace = { severity = 'higher' }\n", 2),
        // An override is checked like a rule.
        ("SOUNDCASES\n[[override]]\nid = 'forge.own-pr-diff'\nreplace = { channels = ['prompt'] }\n", 1),
        ("SOUNDCASES\n[[override]]\nid = 'mention.number'\nreplace = { any = [{ regex = '[0-9]+' }] }\n", 1),
        ("SOUNDCASES\n[[override]]\nid = 'mention.number'\nreplace = { any = [] }\n", 1),
    ] {
        let text = format!("{HEAD}{}", body.replace("SOUND", sound).replace("CASES", CASES));
        let shown = check(&text);
        let count = shown.matches("mine.toml:").count();
        assert_eq!(count, faults, "{text}\n{shown}");
    }
}
