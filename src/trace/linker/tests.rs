//! Linking is tested through a format whose records are short: `codex exec`.

use crate::trace::event::Coverage;
use crate::trace::open_calls::MAX_OPEN_CALLS;
use crate::trace::testing::{read, read_files, short};

use super::*;

const START: &str = r#"{"type":"thread.started","thread_id":"t1"}"#;
const END: &str = r#"{"type":"turn.completed","usage":{}}"#;

fn command(phase: &str, id: &str, command: &str, output: &str) -> String {
    format!(
        r#"{{"type":"item.{phase}","item":{{"id":"{id}","type":"command_execution","command":"bash -lc '{command}'","aggregated_output":"{output}","exit_code":{},"status":"completed"}}}}"#,
        if phase == "started" { "null" } else { "0" }
    )
}

fn trace(records: &[String]) -> String {
    let mut lines = vec![START.to_owned()];
    lines.extend_from_slice(records);
    lines.push(END.to_owned());
    lines.join("\n")
}

#[test]
fn numbers_links_and_coverage() {
    let text = trace(&[
        command("started", "item_0", "git log", ""),
        command("completed", "item_0", "git log", "c1"),
    ]);
    let (events, report) = read(&text);
    assert_eq!(short(&events), ["command git log", "output c1 !0"]);
    let ids: Vec<String> = events.iter().map(|event| event.id.to_string()).collect();
    assert_eq!(ids, ["0:2.0", "0:3.0"]);
    let answers = events[1].answers.as_ref().unwrap();
    assert_eq!(
        (answers.event, answers.text.as_str()),
        (events[0].id, "git log")
    );
    assert_eq!((answers.line, answers.tool.as_deref()), (2, Some("shell")));
    assert_eq!(report.coverage, Coverage::Full);
    assert_eq!((report.calls, report.results, report.unanswered), (1, 1, 0));
}

#[test]
fn a_call_that_never_ended_is_kept() {
    let (events, report) = read(&trace(&[command("started", "item_0", "sleep 9", "")]));
    assert_eq!(short(&events), ["command sleep 9"]);
    assert_eq!(report.unanswered, 1);
    assert_eq!(
        report.reasons,
        ["1 call without a result, the first at a:2 (shell)"]
    );
}

#[test]
fn a_repeated_call_is_one_event() {
    let repeated = vec![command("started", "item_0", "ls", ""); 5000];
    let (events, report) = read(&trace(&repeated));
    assert_eq!(short(&events), ["command ls"]);
    assert_eq!(report.files[0].problems[0].count, 4999);
    assert_eq!(report.coverage, Coverage::Partial);
}

#[test]
fn a_repeated_record_is_one_event_and_a_problem() {
    let done = command("completed", "item_0", "ls", "a");
    let (events, report) = read(&trace(&[done.clone(), done]));
    assert_eq!(short(&events), ["command ls", "output a !0"]);
    assert_eq!(
        report.files[0].problems[0].what,
        "a record that was there before"
    );
    assert_eq!(report.coverage, Coverage::Partial);
}

#[test]
fn an_id_that_is_used_again_is_another_call() {
    let (events, report) = read(&trace(&[
        command("started", "item_0", "first", ""),
        command("started", "item_0", "second", ""),
        command("completed", "item_0", "second", "2"),
        command("completed", "item_0", "third", "3"),
    ]));
    assert_eq!(
        short(&events),
        [
            "command first",
            "command second",
            "output 2 !0",
            "command third",
            "output 3 !0"
        ]
    );
    assert_eq!((report.calls, report.results, report.unanswered), (3, 2, 1));
    let answered: Vec<_> = events
        .iter()
        .filter_map(|event| event.answers.as_ref())
        .map(|call| call.text.as_str())
        .collect();
    assert_eq!(answered, ["second", "third"]);
}

#[test]
fn sessions_do_not_share_ids() {
    let one = trace(&[command("completed", "item_0", "ls", "a")]);
    let two = one.replace("t1", "t2");
    let (events, report) = read(&format!("{one}\n{two}\n"));
    assert_eq!(
        short(&events),
        ["command ls", "output a !0", "command ls", "output a !0"]
    );
    assert_eq!(report.coverage, Coverage::Full);

    // The same session again is a repetition: damage in one file, a copy in another.
    let (events, report) = read(&format!("{one}\n{one}\n"));
    assert_eq!(events.len(), 2);
    assert_eq!(report.coverage, Coverage::Partial);
    let (events, report) = read_files(&[&one, &one]);
    assert_eq!(events.len(), 2);
    assert_eq!(report.coverage, Coverage::Full);
    assert_eq!((report.files[0].events, report.files[1].events), (2, 0));
}

#[test]
fn a_session_that_goes_on_behind_its_end_has_none() {
    let more = command("completed", "item_7", "ls", "a");
    let said = command("completed", "item_1", "pwd", "/w");
    let whole = trace(&[said]);
    assert_eq!(read(&whole).1.coverage, Coverage::Full);
    let (_, report) = read(&format!("{whole}\n{more}"));
    assert_eq!(report.coverage, Coverage::Partial);
    assert_eq!(report.reasons, ["no end of session t1 in a"]);
}

#[test]
fn results_without_a_call() {
    let orphan = r#"{"type":"user","session_id":"s","uuid":"u1","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":"out"}]}}"#;
    let (events, report) = read(orphan);
    assert_eq!(short(&events), ["output out !orphan"]);
    assert_eq!(report.orphans, 1);
    assert!(
        report
            .reasons
            .contains(&"1 result without its call".to_owned())
    );
}

#[test]
fn a_result_in_another_file_finds_its_call() {
    let call = r#"{"type":"assistant","session_id":"s","uuid":"u1","message":{"content":[{"type":"tool_use","id":"x","name":"Bash","input":{"command":"ls"}}]}}"#;
    let result = r#"{"type":"user","session_id":"s","uuid":"u2","message":{"content":[{"type":"tool_result","tool_use_id":"x","content":"out"}]}}"#;
    let (events, report) = read_files(&[call, result]);
    assert_eq!(short(&events), ["command ls", "output out"]);
    assert_eq!(events[1].answers.as_ref().unwrap().event, events[0].id);
    assert_eq!((report.unanswered, report.orphans), (0, 0));
}

#[test]
fn calls_without_ids_are_answered_in_order() {
    let record = |kind: &str, rest: &str| {
        format!(r#"{{"type":"{kind}","sessionId":"s","uuid":"{rest}",{rest}}}"#).replace(
            &format!(r#""uuid":"{rest}""#),
            &format!(r#""n":{}"#, rest.len()),
        )
    };
    let text = [
        record("tool_use", r#""name":"bash","input":{"command":"one"}"#),
        record("tool_use", r#""name":"bash","input":{"command":"two"}"#),
        record("tool_result", r#""output":"1""#),
        record("tool_result", r#""output":"22""#),
        record("tool_result", r#""output":"333""#),
    ]
    .join("\n");
    let (events, _) = read(&text);
    assert_eq!(
        short(&events),
        [
            "command one",
            "command two",
            "output 1",
            "output 22",
            "output 333 !orphan"
        ]
    );
    assert_eq!(events[3].answers.as_ref().unwrap().text, "two");
}

#[test]
fn the_table_of_open_calls_is_bounded() {
    let calls: Vec<String> = (0..MAX_OPEN_CALLS + 10)
        .map(|n| command("started", &format!("item_{n}"), &format!("c{n}"), ""))
        .collect();
    let (events, report) = read(&trace(&calls));
    assert_eq!(events.len(), MAX_OPEN_CALLS + 10);
    assert_eq!(report.unanswered, MAX_OPEN_CALLS as u64 + 10);
    assert_eq!(report.files[0].problems[0].count, 10);

    // The oldest were given up, the others are still answered.
    let mut records = calls;
    records.push(command("completed", "item_4100", "c4100", "late"));
    let (_, report) = read(&trace(&records));
    assert_eq!((report.results, report.orphans), (1, 0));
}

#[test]
fn a_hundred_thousand_calls() {
    let calls: Vec<String> = (0..100_000)
        .map(|n| command("completed", &format!("item_{n}"), &format!("c{n}"), "x"))
        .collect();
    let (events, report) = read(&trace(&calls));
    assert_eq!(events.len(), 200_000);
    assert_eq!((report.calls, report.results), (100_000, 100_000));
    assert_eq!(report.coverage, Coverage::Full);
}

#[test]
fn the_text_of_a_call_is_cut_in_its_results_only() {
    let long = "x".repeat(10_000);
    let (events, _) = read(&trace(&[command("completed", "item_0", &long, "a")]));
    assert_eq!(events[0].text.len(), 10_000);
    assert_eq!(events[1].answers.as_ref().unwrap().text.len(), CALL_TEXT);
}
