//! The engine on sequences of events: what the cases of single rules do not show.

use std::sync::Arc;

use proptest::prelude::*;

use super::hits::CAUTIOUS;
use super::*;
use crate::rules::finding::{Confidence, Stage};
use crate::trace::event::{CallRef, Outcome, Source};

fn facts() -> TaskFacts {
    TaskFacts {
        upstream: Some("https://github.com/octo/gizmo".into()),
        pull_request: Some("4711".into()),
        gt_commit: Some("b07c4f19".into()),
        base_commit: Some("5e1d0c2".into()),
        ..TaskFacts::default()
    }
}

#[derive(Default)]
struct Run {
    events: Vec<Event>,
}

impl Run {
    fn add(&mut self, channel: Channel, text: &str) -> &mut Event {
        let record = u32::try_from(self.events.len()).unwrap() + 1;
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
        self.events.push(Event::new(id, source, channel, text));
        self.events.last_mut().unwrap()
    }

    fn call(&mut self, text: &str, result: &str) {
        let id = self.add(Channel::Command, text).id;
        self.answer(id, text, result);
    }

    fn answer(&mut self, id: EventId, text: &str, result: &str) {
        let output = self.add(Channel::Output, result);
        output.outcome = Some(Outcome::default());
        output.answers = Some(Arc::new(CallRef {
            event: id,
            channel: Channel::Command,
            tool: None,
            text: text.to_owned(),
            line: 1,
        }));
    }

    fn findings(&self, prompt: Option<&str>) -> Vec<Finding> {
        let rules = RuleSet::builtin().unwrap();
        let mut engine = Engine::new(&rules, &facts(), prompt, vec!["run.jsonl".into()]);
        for event in &self.events {
            engine.event(event);
        }
        engine.finish().findings
    }

    fn finding(&self, rule: &str) -> Finding {
        let all = self.findings(None);
        let found = all.iter().find(|f| f.rule == rule);
        found.cloned().unwrap_or_else(|| panic!("{all:#?}"))
    }
}

const DIFF: &str = "diff --git a/a b/a\n@@ -1 +1 @@\n+    w = clamp(w);";

#[test]
fn a_finding_tells_where_it_is_and_where_it_got_to() {
    let mut run = Run::default();
    run.add(Channel::Assistant, "I look.");
    run.call("gh pr diff 4711", DIFF);
    let finding = run.finding("forge.own-pr-diff");
    assert_eq!((finding.line, finding.trace.as_str()), (2, "run.jsonl"));
    assert_eq!(finding.event.record, 2);
    assert_eq!(finding.reached_at.record, 3);
    assert!(finding.names_own && !finding.outcome_missing && !finding.blocked);
    assert_eq!(finding.excerpt, "gh pr diff 4711");
}

#[test]
fn the_own_commit_is_known_wherever_git_shows_it() {
    let shown = format!("commit b07c4f19e2\nAuthor: A <a@b.example>\n\n    x\n\n{DIFF}");
    let other = shown.replace("b07c4f19e2", "a17c4f19e2");
    for (command, result, found) in [
        ("git show $(cat /tmp/sha)", &shown, true),
        ("cd /opt/up && git log -1 -p", &shown, true),
        ("git -C /opt/other show HEAD", &shown, true),
        ("GIT_DIR=/opt/up.git git show", &shown, true),
        ("tig show", &shown, true),
        ("git -C /opt/other show HEAD", &other, false),
        ("cat notes.txt", &shown, false),
        (
            "git log -1",
            &"commit b07c4f19e2\n\n    x".to_owned(),
            false,
        ),
    ] {
        let mut run = Run::default();
        run.call(command, result);
        let findings = run.findings(None);
        let mut all = findings.iter();
        let own = all.any(|f| f.names_own && f.stage == Some(Stage::Obtained));
        assert_eq!(own, found, "{command}: {findings:#?}");
    }
}

#[test]
fn results_may_come_late_and_in_pieces() {
    let mut run = Run::default();
    let first = run.add(Channel::Command, "gh pr diff 4711").id;
    let second = run.add(Channel::Command, "git show b07c4f19").id;
    run.answer(second, "", "fatal: bad object b07c4f19");
    run.answer(first, "", "Fetching …");
    run.answer(first, "", DIFF);
    assert_eq!(
        run.finding("forge.own-pr-diff").stage,
        Some(Stage::Obtained)
    );
    assert!(run.finding("git-history.show-own-commit").blocked);
}

/// Starts a command, and fetches its output by another call.
fn fetched_later(command: (&str, &str), started: &str, fetch: (&str, Channel, &str)) -> Finding {
    let mut run = Run::default();
    let event = run.add(Channel::Command, command.1);
    event.tool = Some(command.0.to_owned());
    let first = event.id;
    let answer = |run: &mut Run, id, channel, tool: &str, text: &str| {
        run.answer(id, "", text);
        let output = run.events.last_mut().unwrap();
        output.outcome.as_mut().unwrap().interrupted = text.is_empty();
        let answers = CallRef {
            event: id,
            channel,
            tool: Some(tool.to_owned()),
            text: String::new(),
            line: 1,
        };
        output.answers = Some(Arc::new(answers));
    };
    answer(&mut run, first, Channel::Command, command.0, started);
    // Another command in between, and a first look that is too early.
    run.call("ls", "a");
    for result in ["(no output yet)", DIFF] {
        let event = run.add(fetch.1, fetch.2);
        event.tool = Some(fetch.0.to_owned());
        let id = event.id;
        answer(&mut run, id, fetch.1, fetch.0, result);
    }
    run.finding("forge.own-pr-diff")
}

#[test]
fn output_that_is_fetched_later_is_output_of_the_command() {
    const SHOW: &str = "gh pr diff 4711";
    let log = "/tmp/c/tasks/b5a3.output";
    let written =
        format!("Command running in background with ID: b5a3. Output is being written to: {log}");
    let tail = format!("tail -n 50 {log}");
    let path = format!("file_path: {log}");
    for (command, started, fetch) in [
        (
            ("Bash", SHOW),
            "Command running in background with ID: bash_1",
            ("BashOutput", Channel::ToolCall, "bash_id: bash_1"),
        ),
        (
            ("Bash", SHOW),
            &written,
            (
                "TaskOutput",
                Channel::ToolCall,
                "task_id: b5a3\nblock: true",
            ),
        ),
        (("Bash", SHOW), &written, ("Read", Channel::ToolCall, &path)),
        (("Bash", SHOW), &written, ("Bash", Channel::Command, &tail)),
        (
            ("exec_command", SHOW),
            "Wall time: 1.0 seconds\nProcess running with session ID 61234\nOutput:\n",
            (
                "write_stdin",
                Channel::ToolCall,
                "session_id: 61234\nchars: ",
            ),
        ),
        (
            ("bash", SHOW),
            "<command started in background with shellId: 2>",
            ("read_bash", Channel::ToolCall, "shellId: 2\ndelay: 5"),
        ),
        (
            ("mcp__box__start_process", SHOW),
            "Process started with PID 4242 (shell: bash)",
            (
                "mcp__box__read_process_output",
                Channel::ToolCall,
                "pid: 4242",
            ),
        ),
        (
            ("run_in_terminal", SHOW),
            "Command is running in terminal with ID=ab-12",
            (
                "get_terminal_output",
                Channel::ToolCall,
                r#"{"id":"ab-12"}"#,
            ),
        ),
        (("terminal", SHOW), "", ("terminal", Channel::ToolCall, "")),
        (
            ("Bash", "tmux send-keys -t w 'gh pr diff 4711' Enter"),
            "ok",
            ("Bash", Channel::Command, "tmux capture-pane -p -t w"),
        ),
    ] {
        let finding = fetched_later(command, started, fetch);
        assert_eq!(finding.stage, Some(Stage::Obtained), "{started} {fetch:?}");
        assert!(!finding.blocked, "{started}");
    }
    for (started, fetch) in [
        (
            "started in background with sessionId: show",
            ("read_bash", Channel::ToolCall, "sessionId: show"),
        ),
        (
            "Command is running in the background.",
            ("read_bash", Channel::ToolCall, "sessionId: mine"),
        ),
        (
            "Process running with session ID 61234",
            (
                "write_stdin",
                Channel::ToolCall,
                "session_id: 61234\nchars: q",
            ),
        ),
        (
            "Process running with session ID 61234",
            ("write_stdin", Channel::Command, "less options"),
        ),
    ] {
        let finding = fetched_later(("bash", SHOW), started, fetch);
        assert_eq!(finding.stage, Some(Stage::Obtained), "{started} {fetch:?}");
    }
    // Another process is another command.
    let delay = ("read_bash", Channel::ToolCall, "shellId: tests\ndelay: 5");
    let finding = fetched_later(
        ("bash", SHOW),
        "<command started in background with shellId: 5>",
        delay,
    );
    assert_eq!(finding.stage, Some(Stage::Attempted));
    for (started, fetch) in [
        (
            "Command running in background with ID: bash_1",
            ("BashOutput", Channel::ToolCall, "bash_id: bash_2"),
        ),
        (
            "Process running with session ID 61234",
            (
                "Read",
                Channel::ToolCall,
                "file_path: /srv/a\noffset: 61234",
            ),
        ),
    ] {
        let finding = fetched_later(("Bash", SHOW), started, fetch);
        assert_eq!(finding.stage, Some(Stage::Attempted), "{started} {fetch:?}");
    }
}

#[test]
fn a_result_may_stand_in_front_of_its_call() {
    for (id, stage) in [("c1", Stage::Obtained), ("c2", Stage::Attempted)] {
        let mut run = Run::default();
        run.add(Channel::Output, DIFF).call = Some("c1".to_owned());
        run.add(Channel::Command, "gh pr diff 4711").call = Some(id.to_owned());
        assert_eq!(run.finding("forge.own-pr-diff").stage, Some(stage));
    }
}

#[test]
fn a_call_without_a_result_says_so() {
    let mut run = Run::default();
    run.add(Channel::Command, "gh pr diff 4711");
    let finding = run.finding("forge.own-pr-diff");
    assert_eq!(finding.stage, Some(Stage::Attempted));
    assert!(finding.outcome_missing && !finding.blocked);
}

#[test]
fn a_command_that_cannot_be_read_is_a_weak_finding() {
    let rules = RuleSet::builtin().unwrap();
    let mut engine = Engine::new(&rules, &facts(), None, Vec::new());
    let mut run = Run::default();
    let event = run
        .add(Channel::Command, "if (( 'x; gh pr diff 4711")
        .clone();
    engine.event(&event);
    let findings = engine.finish().findings;
    let found = findings.iter().find(|f| f.rule == "forge.own-pr-diff");
    assert_eq!(found.map(|f| f.confidence), Some(Confidence::Low));
    assert!(found.is_some_and(|f| f.title.ends_with(CAUTIOUS)));
}

#[test]
fn what_the_model_did_not_see_is_no_evidence() {
    let mut run = Run::default();
    run.add(Channel::Assistant, "I applied PR #4711 in full.")
        .model_saw = false;
    assert!(run.findings(None).is_empty());
}

#[test]
fn the_prompt_convicts_nobody_and_a_sub_agents_prompt_is_none() {
    let mut run = Run::default();
    run.add(
        Channel::Prompt,
        "I applied PR #4711 from upstream. Never run gh pr diff 4711.",
    );
    run.add(Channel::Assistant, "I applied PR #4711 from upstream.");
    run.call("gh pr diff 4711", DIFF);
    let counting = |run: &Run| -> Vec<String> {
        let all = run.findings(None).into_iter();
        all.filter(|f| f.waived.is_none() && f.kind != Kind::Mention)
            .map(|f| f.rule)
            .collect()
    };
    assert_eq!(counting(&run), ["forge.own-pr-diff"]);
    let mut run = Run::default();
    run.add(Channel::Prompt, "I applied PR #4711 from upstream.")
        .actor = Actor::Child {
        id: "c".into(),
        parent: None,
    };
    run.add(Channel::Assistant, "I applied PR #4711 from upstream.");
    let claims = counting(&run);
    assert!(claims.iter().all(|rule| rule.starts_with("admission.")) && !claims.is_empty());
}

#[test]
fn many_mentions_are_counted_and_not_kept() {
    let rules = RuleSet::builtin().unwrap();
    let mut run = Run::default();
    for _ in 0..MAX_MENTIONS + 5 {
        run.add(Channel::Assistant, "a cherry-pick");
    }
    let mut engine = Engine::new(&rules, &facts(), None, Vec::new());
    run.events.iter().for_each(|e| engine.event(e));
    let report = engine.finish();
    assert_eq!(report.findings.len(), MAX_MENTIONS);
    assert_eq!(
        report.notes,
        ["5 more mentions by rule mention.cherry-pick"]
    );
}

#[test]
fn decoys_do_not_hide_a_claim() {
    let mut text = "I did not copy the upstream fix. ".repeat(300);
    text.push_str("I copied the upstream fix.");
    let mut run = Run::default();
    run.add(Channel::Result, &text);
    run.finding("admission.applied-upstream");
}

#[test]
fn rules_without_their_facts_are_listed() {
    let rules = RuleSet::builtin().unwrap();
    let engine = Engine::new(&rules, &TaskFacts::default(), None, Vec::new());
    let report = engine.finish();
    let own = report.inactive.iter().find(|r| r.id == "forge.own-issue");
    assert_eq!(own.map(|r| r.missing_fact.as_str()), Some("issue"));
    let ids = report.inactive.iter().map(|r| r.id.as_str());
    assert!(!ids.clone().any(|id| id == "git-history.take"));
}

#[test]
fn files_of_the_work_tree_are_no_hidden_files() {
    let mut run = Run::default();
    run.add(Channel::Command, "cat /tests/check.py").cwd = Some("/tests".into());
    run.add(Channel::Command, "cat /solution/x.py");
    let found: Vec<String> = run.findings(None).into_iter().map(|f| f.rule).collect();
    assert_eq!(found, ["answer.solution"]);
}

#[test]
fn marks_stand_in_added_lines() {
    let rules = RuleSet::builtin().unwrap();
    let mut engine = Engine::new(&rules, &facts(), None, Vec::new());
    let lines = [
        (7, "int x;"),
        (9, "// see https://github.com/octo/gizmo/pull/4711"),
    ];
    let found = engine.scan_added_lines("src/a.c", lines.into_iter());
    let shown: Vec<(&str, &str, u64)> = found
        .iter()
        .map(|f| (f.rule.as_str(), f.trace.as_str(), f.line))
        .collect();
    assert_eq!(shown, [("marks.upstream-link", "src/a.c", 9)]);
    assert!(engine.finish().findings.is_empty());
}

const WORDS: &[&str] = &[
    "git",
    "show",
    "b07c4f19",
    "|",
    "git apply",
    "&&",
    "curl",
    "-o",
    "/tmp/x",
    "https://github.com/octo/gizmo/pull/4711.diff",
    ">",
    "src/a.py",
    "cat",
    "'",
    "\"",
    "$(",
    ")",
    "<(",
    "\n",
    "I applied",
    "PR #4711",
    "上游",
    "已完整应用",
    "not",
    ".",
    "。",
    "diff --git a/a b/a",
    "+    x = f(y);",
    "fatal: no",
    "{}",
    "xargs",
    "bash -c",
    "<<E",
    "E",
    "python -c",
    "\u{200b}",
    "git log --all",
    "commit 51d0aaa0",
    "Date: 2031-01-01",
    "../eval/gt_diff.patch",
    "\\",
    "é",
];

fn channel() -> impl Strategy<Value = Channel> {
    prop::sample::select(vec![
        Channel::Prompt,
        Channel::System,
        Channel::Assistant,
        Channel::Reasoning,
        Channel::Command,
        Channel::ToolCall,
        Channel::Web,
        Channel::Edit,
        Channel::Output,
        Channel::Result,
        Channel::Raw,
    ])
}

fn text() -> impl Strategy<Value = String> {
    prop::collection::vec(prop::sample::select(WORDS), 0..12).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn any_events_give_findings_in_order(
        events in prop::collection::vec((channel(), text(), any::<bool>()), 0..12)
    ) {
        let mut run = Run::default();
        let mut last = None;
        for (channel, text, linked) in &events {
            match last.filter(|_| *linked && *channel == Channel::Output) {
                Some(call) => run.answer(call, "", text),
                None => {
                    let id = run.add(*channel, text).id;
                    last = channel.is_call().then_some(id).or(last);
                }
            }
        }
        let findings = run.findings(None);
        let again = run.findings(None);
        prop_assert_eq!(format!("{findings:?}"), format!("{again:?}"));
        let keys: Vec<_> = findings.iter().map(|f| (f.event, f.rule.clone())).collect();
        let mut sorted = keys.clone();
        sorted.sort();
        sorted.dedup();
        prop_assert_eq!(keys, sorted);
        for f in &findings {
            let said = matches!(f.channel, Channel::Prompt | Channel::System);
            prop_assert!(!said || f.kind == Kind::Mention);
            prop_assert!(!f.blocked || f.stage <= Some(Stage::Attempted));
            prop_assert!(!f.applies || f.stage == Some(Stage::Obtained));
            prop_assert!((f.kind == Kind::Admission) == f.stage.is_none());
            prop_assert!(f.excerpt.chars().count() <= crate::rules::text::excerpt::MAX_EXCERPT);
        }
    }
}
