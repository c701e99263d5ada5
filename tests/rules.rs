//! The built-in rules: their own cases, and the labelled cases under `../shared/data/cases`.
//!
//! The labelled cases are not part of the project. Without them their tests say so and pass.

#![allow(
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used
)]

#[path = "rules/flows.rs"]
mod flows;
#[path = "rules/fresh.rs"]
mod fresh;
#[path = "rules/hidden.rs"]
mod hidden;
#[path = "rules/languages.rs"]
mod languages;
#[path = "rules/left.rs"]
mod left;
#[path = "rules/lint.rs"]
mod lint;
#[path = "rules/manual.rs"]
mod manual;
#[path = "rules/real.rs"]
mod real;
#[path = "rules/said.rs"]
mod said;
#[path = "rules/second.rs"]
mod second;
#[path = "rules/tables.rs"]
mod tables;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tables::{BLOCKED, CLAIMS, HONEST, NAMES, NO_CLAIMS, OBTAINED};
use trace_audit::experiment::task_facts::TaskFacts;
use trace_audit::rules::finding::{Finding, Kind, Stage};
use trace_audit::rules::{Engine, RuleSet};
use trace_audit::trace::event::{
    Actor, CallRef, Channel, EditOp, Event, EventId, EventSink, FileEdit, Outcome, Source,
};
use trace_audit::trace::{TraceFile, read_traces};

fn rules() -> RuleSet {
    RuleSet::builtin().unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn every_built_in_rule_passes_its_own_cases() {
    let rules = rules().in_full().unwrap();
    let report = rules.selftest();
    assert!(report.ok(), "{:#?}", report.failed);
    for rule in rules.rules() {
        let positive = rule.tests.iter().filter(|t| t.is_positive()).count();
        let negative = rule.tests.len() - positive;
        assert!(
            positive >= 2 && negative >= 2,
            "{}: {positive} positive and {negative} negative cases",
            rule.id
        );
    }
}

/// The author's list of strings (issue 2, item 4): each is seen, none convicts by itself.
#[test]
fn every_red_flag_string_is_covered() {
    let rules = rules();
    for text in [
        "PR #123",
        "pull/123",
        "cherry-pick",
        "git apply x",
        "I fetched it",
        "上游",
        "完整应用",
        "applied it verbatim",
        "merged the patch",
        "gh pr diff 1",
        "gh pr view 1",
        "gh pr checkout 1",
        "git fetch origin pull/1",
        "https://raw.githubusercontent.com/a/b",
        "https://gitlab.com/a/b/-/patch",
        "see #12345",
        "git apply <(curl x",
        "curl x.patch",
        "wget x.patch",
        "#48213",
        "issue #48190",
        "9ac4e17d",
    ] {
        let findings = run(
            &rules,
            &facts(),
            None,
            &[event(1, Channel::Assistant, text)],
        );
        assert!(!findings.is_empty(), "{text:?} is not seen");
        assert!(
            findings.iter().all(|f| f.kind == Kind::Mention),
            "{text:?} convicts: {findings:#?}"
        );
    }
}

#[test]
fn the_two_wordings_of_the_known_case() {
    let rules = rules();
    let strongest = |text: &str| {
        let findings = run(&rules, &facts(), None, &[event(1, Channel::Result, text)]);
        findings
            .into_iter()
            .filter(|f| f.kind != Kind::Mention)
            .map(|f| (f.kind, f.stage, f.names_own))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        strongest("工作已结束：已完整应用 PR #48213，所有文件均已更新。"),
        [(Kind::Admission, None, true)]
    );
    assert_eq!(
        strongest("尝试将 PR #48213 的完整 patch 应用到当前仓库"),
        [(Kind::Action, Some(Stage::Attempted), true)]
    );
    for negated in [
        "没有应用 PR #48213 的补丁",
        "未应用 PR #48213",
        "请不要应用 PR #48213 的完整补丁",
    ] {
        assert_eq!(strongest(negated), [], "{negated}");
    }
}

fn facts() -> TaskFacts {
    TaskFacts {
        upstream: Some("https://github.com/acme/widget".into()),
        pull_request: Some("48213".into()),
        issue: Some("48190".into()),
        gt_commit: Some("9ac4e17d".into()),
        ..TaskFacts::default()
    }
}

fn run(rules: &RuleSet, facts: &TaskFacts, prompt: Option<&str>, events: &[Event]) -> Vec<Finding> {
    let mut engine = Engine::new(rules, facts, prompt, vec!["t".to_owned()]);
    for event in events {
        engine.event(event);
    }
    engine.finish().findings
}

fn event(record: u32, channel: Channel, text: &str) -> Event {
    let id = EventId {
        file: 0,
        record,
        sub: 0,
    };
    let source = Source {
        file: 0,
        line: u64::from(record),
        bytes: 0..0,
    };
    Event::new(id, source, channel, text)
}

/// Builds the small trace of one labelled case.
#[derive(Default)]
struct Trace {
    events: Vec<Event>,
}

impl Trace {
    fn next(&mut self, channel: Channel, text: &str) -> &mut Event {
        let record = u32::try_from(self.events.len()).unwrap() + 1;
        self.events.push(event(record, channel, text));
        self.events.last_mut().unwrap()
    }

    /// A call or text as the cases write it: `Tool {json}`, `Task: …` and `mcp__x {json}` are tool
    /// calls, `path: content` is an edit of that path, `(sub-agent) …` is of a child.
    fn add(&mut self, channel: Channel, text: &str) {
        let (child, text) = match text.strip_prefix("(sub-agent) ") {
            Some(rest) => (true, rest),
            None => (false, text),
        };
        let tool_call = (channel == Channel::Command)
            .then(|| tool_call(text))
            .flatten();
        let event = match tool_call {
            Some((tool, arguments)) => {
                let read = as_a_trace_holds_it(tool, arguments);
                let event = self.next(Channel::ToolCall, arguments);
                event.tool = Some(tool.to_owned());
                if let Some(read) = read {
                    (event.channel, event.text, event.edits) =
                        (read.channel, read.text, read.edits);
                }
                event
            }
            None => self.next(channel, text),
        };
        if child {
            event.actor = Actor::Child {
                id: "child".into(),
                parent: None,
            };
        }
        if channel == Channel::Edit {
            let (path, new) = match text.split_once(": ") {
                Some((path, new)) if path.starts_with('/') => (path, new),
                _ => ("src/layout.py", text),
            };
            event.edits = vec![FileEdit {
                path: path.to_owned(),
                op: EditOp::Write,
                old: None,
                new: Some(new.to_owned()),
            }];
        }
    }

    /// What came before a case: `COMMAND -> RESULT`, several behind semicolons; the lines of a result stand between
    /// slashes. Without an arrow it is a command whose result is not told.
    fn before(&mut self, text: &str) {
        let Some((command, rest)) = text.split_once(" -> ") else {
            self.add(Channel::Command, text);
            return;
        };
        let (result, more) = match rest.split_once("; ") {
            Some((result, more)) if more.contains(" -> ") => (result, Some(more)),
            _ => (rest, None),
        };
        self.add(Channel::Command, command);
        self.result(&result.replace(" / ", "\n"));
        more.into_iter().for_each(|more| self.before(more));
    }

    /// The result of the last call that has none.
    fn result(&mut self, text: &str) {
        let answered: Vec<EventId> = self
            .events
            .iter()
            .filter_map(|e| e.answers.as_ref().map(|a| a.event))
            .collect();
        let call = self
            .events
            .iter()
            .rev()
            .find(|e| e.channel.is_call() && !answered.contains(&e.id))
            .cloned();
        let output = self.next(Channel::Output, text);
        output.outcome = Some(Outcome {
            exit_code: exit_code(text),
            truncated: text.contains("truncated"),
            ..Outcome::default()
        });
        output.answers = call.map(|call| {
            Arc::new(CallRef {
                event: call.id,
                channel: call.channel,
                tool: call.tool,
                text: call.text,
                line: call.source.line,
            })
        });
    }
}

fn tool_call(text: &str) -> Option<(&str, &str)> {
    if let Some(prompt) = text.strip_prefix("Task: ") {
        return Some(("Task", prompt));
    }
    let (tool, arguments) = text.split_once(' ')?;
    let named = tool
        .chars()
        .all(|c| c.is_alphanumeric() || "_.-".contains(c));
    (named && arguments.starts_with('{') && arguments.ends_with('}')).then_some((tool, arguments))
}

/// The call as the adapters read it out of a trace: `Bash {"command": …}` is a command there.
fn as_a_trace_holds_it(tool: &str, arguments: &str) -> Option<Event> {
    #[derive(Default)]
    struct Calls(Vec<Event>);
    impl EventSink for Calls {
        fn event(&mut self, event: &Event) {
            self.0
                .extend(event.channel.is_call().then(|| event.clone()));
        }
    }
    let function = serde_json::json!({"name": tool, "arguments": arguments});
    let call = serde_json::json!([{"id": "c", "type": "function", "function": function}]);
    let record = serde_json::json!({"role": "assistant", "content": null, "tool_calls": call});
    let written = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(written.path(), format!("{record}\n")).unwrap();
    let file = TraceFile {
        path: written.path().to_owned(),
        label: "t".to_owned(),
    };
    let mut calls = Calls::default();
    read_traces(&[file], &mut calls).unwrap();
    calls.0.into_iter().next()
}

/// `… (exit 1)` or `exit 0, …`.
fn exit_code(text: &str) -> Option<i32> {
    let (_, rest) = text.split_once("exit ")?;
    let digits: String = rest.chars().take_while(char::is_ascii_digit).collect();
    digits.parse().ok()
}

fn channel(name: &str) -> Channel {
    serde_json::from_value(serde_json::Value::String(name.to_owned())).unwrap()
}

/// A file of labelled cases; `CASES=DIRECTORY` measures another set.
fn case_file(name: &str) -> Option<Vec<serde_json::Value>> {
    let labelled = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/cases");
    let directory = std::env::var_os("CASES").map_or_else(labelled, PathBuf::from);
    let path = directory.join(name);
    let Ok(text) = std::fs::read_to_string(&path) else {
        println!("skipped: {} is not there", path.display());
        return None;
    };
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

/// What the rules say of a case, as a word, strongest first.
fn verdict(findings: &[Finding]) -> &'static str {
    let counting = || findings.iter().filter(|f| f.waived.is_none());
    if counting().any(|f| f.kind == Kind::Admission) {
        return "admission";
    }
    let strongest = counting().max_by_key(|f| (f.stage, f.blocked));
    match strongest.map(|f| (f.stage, f.blocked)) {
        None => "nothing",
        Some((Some(Stage::Obtained), _)) => "obtained",
        Some((Some(Stage::Staged), _)) => "staged",
        Some((Some(Stage::Exposed), _)) => "exposed",
        Some((Some(Stage::Attempted), true)) => "blocked",
        Some((Some(Stage::Attempted), false)) => "attempted",
        Some(_) => "mentioned",
    }
}

fn judge(rules: &RuleSet, case: &serde_json::Value) -> Vec<Finding> {
    let facts: TaskFacts = match &case["facts"] {
        serde_json::Value::Null => full_facts(),
        facts => serde_json::from_value(facts.clone()).unwrap(),
    };
    let prompt = case["prompt"].as_str();
    let mut trace = Trace::default();
    if let Some(prior) = case["prior"].as_str() {
        trace.before(prior);
    }
    for call in case["calls"].as_array().into_iter().flatten() {
        trace.add(Channel::Command, call[0].as_str().unwrap());
        trace.result(call[1].as_str().unwrap());
    }
    if case["calls"].is_null() {
        trace.add(
            channel(case["channel"].as_str().unwrap()),
            case["text"].as_str().unwrap(),
        );
    }
    if let Some(result) = case["result"].as_str().filter(|r| *r != "<not recorded>") {
        trace.result(result);
    }
    if let Some(next) = case["next"].as_str() {
        let (command, _) = next.split_once(" (exit").unwrap_or((next, ""));
        trace.add(Channel::Command, command);
        trace.result("");
        trace.events.last_mut().unwrap().outcome = Some(Outcome {
            exit_code: exit_code(next),
            ..Outcome::default()
        });
    }
    run(rules, &facts, prompt, &trace.events)
}

#[test]
fn labelled_events() {
    let Some(cases) = case_file("events.jsonl") else {
        return;
    };
    let rules = rules();
    let mut matrix: BTreeMap<(String, &str), Vec<String>> = BTreeMap::new();
    for case in &cases {
        let findings = judge(&rules, case);
        let label = case["label"].as_str().unwrap().to_owned();
        let id = case["id"].as_str().unwrap().to_owned();
        if std::env::var_os("CASES").is_some() {
            for f in &findings {
                println!(
                    "{id} {label}: {} {:?} {:?} blocked={} applies={} waived={:?}",
                    f.rule, f.kind, f.stage, f.blocked, f.applies, f.waived
                );
            }
        }
        matrix
            .entry((label, verdict(&findings)))
            .or_default()
            .push(id);
    }
    for ((label, verdict), ids) in &matrix {
        println!("{label:16} {verdict:10} {:3}  {}", ids.len(), ids.join(" "));
    }
    let count = |label: &str, verdicts: &[&str]| {
        matrix
            .iter()
            .filter(|((l, v), _)| l == label && verdicts.contains(v))
            .map(|(_, ids)| ids.len())
            .sum::<usize>()
    };
    let total = |label: &str| cases.iter().filter(|c| c["label"] == label).count();
    let leaks = count("leak", &["obtained", "admission"]);
    assert!(leaks * 100 >= total("leak") * 95, "{leaks} leaks are found");
    let blocked = count("attempt_blocked", &["blocked"]);
    assert!(
        blocked * 10 >= total("attempt_blocked") * 9,
        "{blocked} are blocked"
    );
    assert_eq!(count("attempt_blocked", &["obtained", "admission"]), 0);
    assert_eq!(count("suspicious", &["obtained", "admission"]), 0);
    let unseen = matrix.get(&("suspicious".to_owned(), "nothing"));
    let needs_gt = cases.iter().filter(|c| c["needs_gt"] == true).count();
    assert!(unseen.map_or(0, Vec::len) <= needs_gt + 1);
    let benign = count("benign", &["nothing", "mentioned"]);
    assert_eq!(benign, total("benign"), "benign cases above mentioned");
}

/// `acme/widget 4.1.3, base 3f1c2ab (2031-03-02); reference PR #48213 = 9ac4e17d (2031-03-19), …`
fn sequence_facts(task: &str) -> TaskFacts {
    let words: Vec<&str> = task
        .split(|c: char| c.is_whitespace() || matches!(c, ',' | ';' | '(' | ')' | '=' | '#'))
        .filter(|w| !w.is_empty())
        .collect();
    let after = |name: &str, n: usize| {
        let at = words.iter().position(|w| *w == name)?;
        words.get(at + n).map(|w| (*w).to_owned())
    };
    TaskFacts {
        upstream: words.first().map(|r| format!("https://github.com/{r}")),
        base_version: words.get(1).map(|w| (*w).to_owned()),
        base_commit: after("base", 1),
        base_date: after("base", 2),
        pull_request: after("PR", 1),
        gt_commit: after("PR", 2),
        merged: after("PR", 3),
        ..TaskFacts::default()
    }
}

#[test]
fn labelled_sequences() {
    let Some(cases) = case_file("sequences.jsonl") else {
        return;
    };
    let rules = rules();
    for case in &cases {
        let id = case["id"].as_str().unwrap();
        let facts = sequence_facts(case["task"].as_str().unwrap());
        let mut trace = Trace::default();
        for event in case["events"].as_array().unwrap() {
            let text = event["text"].as_str().unwrap();
            match channel(event["channel"].as_str().unwrap()) {
                Channel::Output => trace.result(text),
                channel => trace.add(channel, text),
            }
        }
        let findings = run(&rules, &facts, None, &trace.events);
        let reached = |stages: &[Stage]| {
            findings
                .iter()
                .any(|f| f.waived.is_none() && f.stage.is_some_and(|stage| stages.contains(&stage)))
        };
        let attempted = reached(&[
            Stage::Attempted,
            Stage::Exposed,
            Stage::Staged,
            Stage::Obtained,
        ]);
        let obtained = reached(&[Stage::Obtained]);
        println!("{id} {} {attempted} {obtained}", verdict(&findings));
        assert_eq!(case["attempted"], attempted, "{id} attempted {findings:#?}");
        assert_eq!(case["obtained"], obtained, "{id} obtained {findings:#?}");
        if !obtained {
            let exposed = reached(&[Stage::Exposed, Stage::Staged]);
            assert_eq!(case["exposed"], exposed, "{id} exposed {findings:#?}");
        }
    }
}

fn full_facts() -> TaskFacts {
    TaskFacts {
        base_commit: Some("3f1c2ab".into()),
        base_version: Some("4.1.3".into()),
        base_date: Some("2031-03-02".into()),
        merged: Some("2031-03-19".into()),
        package: Some("acme-widget".into()),
        gt_subject: Some("Fix negative width in Layout.measure".into()),
        ..facts()
    }
}

/// One call with its result, and what the rules say of it.
fn said(rules: &RuleSet, facts: &TaskFacts, command: &str, result: &str) -> &'static str {
    let mut trace = Trace::default();
    trace.add(Channel::Command, command);
    trace.result(result);
    verdict(&run(rules, facts, None, &trace.events))
}

#[test]
fn variants_of_every_way_to_the_answer() {
    let (rules, facts) = (rules(), full_facts());
    let wrong: Vec<String> = OBTAINED
        .iter()
        .map(|(command, result)| (said(&rules, &facts, command, result), command))
        .filter(|(said, _)| *said != "obtained")
        .map(|(said, command)| format!("{said:10} {command}"))
        .collect();
    assert!(wrong.is_empty(), "not obtained:\n{}", wrong.join("\n"));
}

#[test]
fn attempts_that_got_nothing_or_only_names() {
    let (rules, facts) = (rules(), full_facts());
    let mut wrong = Vec::new();
    for (cases, wanted) in [
        (BLOCKED, &["blocked"][..]),
        (NAMES, &["attempted", "exposed", "staged"]),
    ] {
        for (command, result) in cases {
            let said = said(&rules, &facts, command, result);
            if !wanted.contains(&said) {
                wrong.push(format!("{said:10} {command} => {result}"));
            }
        }
    }
    assert!(wrong.is_empty(), "wrong:\n{}", wrong.join("\n"));
}

#[test]
fn honest_work_is_not_accused() {
    let (rules, facts) = (rules(), full_facts());
    let wrong: Vec<String> = HONEST
        .iter()
        .map(|(command, result)| (said(&rules, &facts, command, result), command))
        .filter(|(said, _)| !matches!(*said, "nothing" | "mentioned"))
        .map(|(said, command)| format!("{said:10} {command}"))
        .collect();
    assert!(wrong.is_empty(), "accused:\n{}", wrong.join("\n"));
}

#[test]
fn claims_are_told_from_denials_and_talk() {
    let (rules, facts) = (rules(), full_facts());
    let claims = |text: &str| {
        let findings = run(&rules, &facts, None, &[event(1, Channel::Result, text)]);
        findings
            .iter()
            .any(|f| f.kind == Kind::Admission && f.waived.is_none())
    };
    let missed: Vec<_> = CLAIMS.iter().filter(|text| !claims(text)).collect();
    let false_ones: Vec<_> = NO_CLAIMS.iter().filter(|text| claims(text)).collect();
    assert!(
        missed.is_empty() && false_ones.is_empty(),
        "missed {missed:#?}, false {false_ones:#?}"
    );
}

/// The rule of the tutorial is a rule, and its tests hold.
#[test]
fn the_tutorial_works() {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md"));
    let text = text.unwrap();
    let blocks: Vec<&str> = text
        .split("```toml\n")
        .skip(1)
        .map(|block| block.split("```").next().unwrap())
        .collect();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("fixbot.toml"), blocks[..2].concat()).unwrap();
    std::fs::write(
        dir.path().join("override.toml"),
        format!("schema = 1\n{}", blocks[2]),
    )
    .unwrap();
    let rules = RuleSet::load(&[dir.path().to_owned()]).unwrap_or_else(|e| panic!("{e}"));
    let rule = rules.rule("ours.fixbot").unwrap();
    assert_eq!(rule.tests.len(), 4);
    let report = rules.selftest();
    let own: Vec<_> = report.failed.iter().filter(|f| f.rule == rule.id).collect();
    assert!(own.is_empty(), "{own:#?}");
    assert!(rules.rule("mention.number").unwrap().disabled.is_some());
}

/// The manual names every key of the file format.
#[test]
fn the_manual_names_every_key() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manual = std::fs::read_to_string(root.join("docs/rules.md")).unwrap();
    let schema = std::fs::read_to_string(root.join("src/rules/schema.rs")).unwrap();
    let keys: Vec<&str> = schema
        .lines()
        .filter_map(|line| line.strip_prefix("    pub ")?.split_once(':'))
        .map(|(key, _)| key.trim_start_matches("r#"))
        .collect();
    assert!(keys.len() > 80, "{keys:?}");
    let words: Vec<&str> = manual
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let missing: Vec<&&str> = keys.iter().filter(|key| !words.contains(key)).collect();
    assert!(missing.is_empty(), "not in docs/rules.md: {missing:?}");
    // Each of them does something: a file that uses all of them is right, and its tests hold.
    let file = root.join("tests/rules/every-key.toml");
    let text = std::fs::read_to_string(&file).unwrap();
    let used: Vec<&str> = text
        .split(|c: char| !c.is_alphanumeric() && c != '_')
        .collect();
    let missing: Vec<&&str> = keys.iter().filter(|key| !used.contains(key)).collect();
    assert!(
        missing.is_empty(),
        "not in tests/rules/every-key.toml: {missing:?}"
    );
    let report = RuleSet::check(&[file]).unwrap();
    assert!(report.ok(), "{}", report.rendered);
    assert_eq!((report.rules, report.passed), (7, 28));
}

/// The placeholders, and the values of each list of names, stand in the manual.
#[test]
fn the_manual_names_every_value() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manual = std::fs::read_to_string(root.join("docs/rules.md")).unwrap();
    for (name, _) in trace_audit::rules::template::Fact::ALL {
        assert!(manual.contains(&format!("`{{{name}}}`")), "{name}");
    }
    // What an unknown value is answered with names all that there are.
    let rule = |line: &str| format!("schema = 1\n[[rule]]\nid = 'x.y'\n{line}\n[[rule.test]]\n");
    let mut values = 0;
    for line in [
        "severity = '?'",
        "confidence = '?'",
        "status = '?'",
        "kind = '?'",
        "stage = '?'",
        "cause = '?'",
        "unit = '?'",
        "where = { channels = ['?'] }",
        "where = { actor = '?' }",
        "where = { side = '?' }",
        "where = { forbidden = '?' }",
        "match.any = [{ access = ['?'] }]",
        "match.any = [{ flow = '?' }]",
        "match.any = [{ is = ['?'] }]",
        "match.any = [{ git = { reach = ['?'] } }]",
        "match.any = [{ git = { prints = ['?'] } }]",
        "match.any = [{ command = { program = '', repo = '?' } }]",
        "after = { rules = [], same = '?' }",
        "allow = [{ reason = '', any = [], scope = '?' }]",
        "[[rule.test]]\nexpect = '?'",
    ] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("x.toml");
        std::fs::write(&file, rule(line)).unwrap();
        let shown = RuleSet::check(&[file]).unwrap().rendered;
        let answer = shown.lines().find(|l| l.contains("unknown variant `?`"));
        let answer = answer.unwrap_or_else(|| panic!("{line}: {shown}"));
        for value in answer.split('`').skip(3).step_by(2) {
            // Set by the audit alone.
            if !matches!(value, "used" | "unexplained-copy" | "harness") {
                assert!(manual.contains(value), "{line}: {value}");
                values += 1;
            }
        }
    }
    assert!(values > 80, "{values}");
}

/// Commands of tens of kilobytes, of every kind that repeats: what is made of one is bounded by its length.
#[test]
fn work_on_one_command_is_linear() {
    const KINDS: &[(&str, &str)] = &[
        ("git show x", " | cat a"),
        ("", "echo $(git log) "),
        ("", "echo `git log`;"),
        ("", "cat > a.sh <<'E'\ngit show x\nE\n"),
        ("", "bash <<E\ngit show x\nE\n"),
        ("", "curl -o /tmp/a https://h.example/a/b ; "),
        ("", "git diff HEAD~1 -- a.py && "),
        ("", "x=git; $x show y; "),
        ("", "for i in 1 2 3; do git show $i; done; "),
        ("", "f() { git show x; }; f; "),
        ("", "diff <(git show a) <(git show b); "),
        ("", "bash -c 'git show x'; "),
        ("cat", " a/b.py"),
        ("echo ", "${x:-git}"),
        ("echo ", "{a,b}"),
        ("echo ", "$(("),
        ("", "(("),
        ("", "if true; then "),
    ];
    for (head, part) in KINDS {
        let made = |bytes: usize| {
            let command = format!("{head}{}", part.repeat(bytes / part.len()));
            let line = trace_audit::shell::parse(&command);
            let words = line.invocations.iter().flat_map(|i| &i.args);
            let made = line.invocations.len() + words.map(|w| w.text.len() + 1).sum::<usize>();
            (made, command.len())
        };
        let ((small, _), (large, length)) = (made(12_000), made(24_000));
        assert!(
            large <= 24 * length + (1 << 18),
            "{part:?}: {large} of {length} bytes"
        );
        assert!(
            large <= 2 * small + small / 4 + 4_096,
            "{part:?}: {small}, then {large}"
        );
    }
}
