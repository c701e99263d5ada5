//! Long traces, several runs in one file, deep families of sub-agents, and the tool's own words.

use std::fmt::Write as _;
use std::process::Command;

use serde_json::{Value, json};
use trace_audit::trace::event::{Actor, Channel, Coverage, Event};

use crate::samples::{Layout, samples_in};
use crate::support::{read_bytes, read_paths, texts};

/// Members that hold ids of sessions, records, messages or calls.
const IDS: [&str; 18] = [
    "request_id",
    "uuid",
    "parentUuid",
    "id",
    "parentId",
    "session_id",
    "sessionId",
    "sessionID",
    "thread_id",
    "messageId",
    "messageID",
    "call_id",
    "callID",
    "callId",
    "tool_use_id",
    "toolCallId",
    "tool_call_id",
    "tool_id",
];

/// Another run of the same agent: the same words under other ids.
fn with_other_ids(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                match member {
                    Value::String(text) if IDS.contains(&key.as_str()) => text.push_str("-2"),
                    member => with_other_ids(member),
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(with_other_ids),
        _ => {}
    }
}

#[test]
fn two_runs_appended() {
    for sample in samples_in(Layout::Lines) {
        let (once, _) = read_bytes(sample.text.as_bytes());
        let records = sample.lines().into_iter().map(serde_json::from_str);
        let first: Vec<Value> = records.map(Result::unwrap).collect();
        let mut second = first.clone();
        second.iter_mut().for_each(with_other_ids);
        if first == second {
            // A run without any id is the same run again.
            continue;
        }
        let second: String = second.iter().map(|value| format!("{value}\n")).collect();
        let both = format!("{}{second}", sample.text);
        let (twice, report) = read_bytes(both.as_bytes());
        let name = &sample.format;
        assert_eq!(
            texts(&twice),
            [texts(&once), texts(&once)].concat(),
            "{name}"
        );
        assert_eq!(
            report.coverage, sample.coverage,
            "{name}: {:?}",
            report.reasons
        );
        assert_eq!(report.orphans + report.unanswered, 0, "{name}");
        let results = twice
            .iter()
            .filter(|event| event.channel == Channel::Result);
        assert_eq!(results.count(), 2, "{name}: each run has its last word");
    }
}

/// The calls of a hundred thousand turns, in a format whose results stand in other records and in one
/// whose results repeat the call.
#[test]
fn a_hundred_thousand_calls() {
    const CALLS: usize = 100_000;
    let mut claude = String::from(
        "{\"type\":\"system\",\"subtype\":\"init\",\"session_id\":\"s\",\"tools\":[],\"uuid\":\"i\"}\n",
    );
    let mut codex = String::from("{\"type\":\"thread.started\",\"thread_id\":\"t\"}\n");
    for n in 0..CALLS {
        let _ = writeln!(
            claude,
            r#"{{"type":"assistant","message":{{"id":"m{n}","model":"x","role":"assistant","content":[{{"type":"tool_use","id":"c{n}","name":"Bash","input":{{"command":"echo {n}"}}}}]}},"parent_tool_use_id":null,"session_id":"s","uuid":"a{n}"}}
{{"type":"user","message":{{"role":"user","content":[{{"type":"tool_result","tool_use_id":"c{n}","content":"{n}"}}]}},"parent_tool_use_id":null,"session_id":"s","uuid":"u{n}"}}"#
        );
        let _ = writeln!(
            codex,
            r#"{{"type":"item.completed","item":{{"id":"item_{n}","type":"command_execution","command":"echo {n}","aggregated_output":"{n}","exit_code":0,"status":"completed"}}}}"#
        );
    }
    claude.push_str("{\"type\":\"result\",\"num_turns\":1,\"result\":\"Done.\",\"session_id\":\"s\",\"uuid\":\"r\"}\n");
    codex.push_str("{\"type\":\"turn.completed\",\"usage\":{}}\n");
    for text in [claude, codex] {
        let (events, report) = read_bytes(text.as_bytes());
        let of = |channel| events.iter().filter(move |event| event.channel == channel);
        assert_eq!(of(Channel::Command).count(), CALLS);
        assert_eq!(of(Channel::Output).count(), CALLS);
        for output in of(Channel::Output) {
            let call = output.answers.as_ref().unwrap();
            assert_eq!(call.text, format!("echo {}", output.text));
        }
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
    }
}

/// How deep the family of an actor is, by following its parents through the events.
fn depth(events: &[Event], id: &str) -> usize {
    let mut depth = 1;
    let mut id = id.to_owned();
    loop {
        let parent = events.iter().find_map(|event| match &event.actor {
            Actor::Child { id: own, parent } if *own == id => Some(parent.clone()),
            _ => None,
        });
        match parent.flatten() {
            Some(parent) => {
                depth += 1;
                id = parent;
            }
            None => return depth,
        }
    }
}

const DEEP: usize = 50;

#[test]
fn sub_agents_fifty_deep_in_one_file() {
    let parent = |n: usize| match n {
        0 => Value::Null,
        n => json!(format!("task{}", n - 1)),
    };
    let mut lines =
        vec![json!({"type":"system","subtype":"init","session_id":"s","tools":[],"uuid":"i"})];
    let record = |n: usize, kind: &str, uuid: String, block: Value| {
        json!({"type": kind, "session_id": "s", "uuid": uuid, "parent_tool_use_id": parent(n),
               "message": {"role": kind, "model": "x", "id": format!("m{uuid}"), "content": [block]}})
    };
    for n in 0..DEEP {
        let call = json!({"type":"tool_use","id":format!("task{n}"),"name":"Task","input":{"prompt":format!("level {n}")}});
        lines.push(record(n, "assistant", format!("a{n}"), call));
    }
    let call =
        json!({"type":"tool_use","id":"c","name":"Bash","input":{"command":"git log --all"}});
    lines.push(record(DEEP, "assistant", "last".into(), call));
    let result = json!({"type":"tool_result","tool_use_id":"c","content":"abc Fix (#5)"});
    lines.push(record(DEEP, "user", "out".into(), result));
    for n in (0..DEEP).rev() {
        let result =
            json!({"type":"tool_result","tool_use_id":format!("task{n}"),"content":"report"});
        lines.push(record(n, "user", format!("u{n}"), result));
    }
    lines.push(json!({"type":"result","num_turns":1,"result":"Done.","session_id":"s","uuid":"r"}));
    let text: Vec<String> = lines.iter().map(Value::to_string).collect();
    let (events, report) = read_bytes(text.join("\n").as_bytes());
    assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
    let command = events
        .iter()
        .find(|event| event.channel == Channel::Command);
    let Actor::Child { id, .. } = &command.unwrap().actor else {
        panic!("the command is a sub-agent's");
    };
    assert_eq!(depth(&events, id), DEEP);
}

/// The session of an agent in Claude's own store: what it asks its sub-agent, and what that returns.
fn session(level: usize, last: bool) -> String {
    let envelope = |uuid: String, parent: Option<String>, kind: &str, message: Value| {
        let mut record = json!({"sessionId": "s", "uuid": format!("{level}-{uuid}"), "type": kind, "message": message,
            "parentUuid": parent.map(|parent| format!("{level}-{parent}")), "isSidechain": level > 0});
        if level > 0 {
            record["agentId"] = json!(format!("agent{level}"));
        }
        record
    };
    let block =
        |block: Value| json!({"role": "assistant", "content": [block], "stop_reason": "tool_use"});
    let mut lines = vec![envelope(
        "p".into(),
        None,
        "user",
        json!({"role": "user", "content": format!("level {level}")}),
    )];
    let (call, result) = if last {
        let call =
            json!({"type":"tool_use","id":"c","name":"Bash","input":{"command":"git log --all"}});
        (call, json!("abc Fix (#5)"))
    } else {
        let call = json!({"type":"tool_use","id":format!("task{level}"),"name":"Task","input":{"prompt":format!("level {}", level + 1)}});
        (call, json!("report"))
    };
    let id = call["id"].clone();
    lines.push(envelope(
        "a".into(),
        Some("p".into()),
        "assistant",
        block(call),
    ));
    let mut answer = envelope(
        "r".into(),
        Some("a".into()),
        "user",
        json!({"role": "user", "content": [{"type":"tool_result","tool_use_id":id,"content":result}]}),
    );
    if !last {
        answer["toolUseResult"] = json!({"agentId": format!("agent{}", level + 1)});
    }
    lines.push(answer);
    let end = json!({"role": "assistant", "content": [{"type":"text","text":format!("Done {level}.")}], "stop_reason": "end_turn"});
    lines.push(envelope("e".into(), Some("r".into()), "assistant", end));
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// The files of a family of sub-agents, the main agent's first.
fn family(dir: &std::path::Path, levels: usize) -> Vec<std::path::PathBuf> {
    (0..=levels)
        .map(|level| {
            let path = dir.join(format!("{level:03}.jsonl"));
            std::fs::write(&path, session(level, level == levels)).unwrap();
            path
        })
        .collect()
}

#[test]
fn sub_agents_fifty_deep_in_files_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let paths = family(dir.path(), DEEP);
    let (events, report) = read_paths(&paths);
    assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
    let command = events
        .iter()
        .find(|event| event.channel == Channel::Command);
    let Actor::Child { id, .. } = &command.unwrap().actor else {
        panic!("the command is a sub-agent's");
    };
    assert_eq!(id, "agent50");
    // What a sub-agent did stands where its parent names it, before the parent's next step.
    let at = |text: &str| events.iter().position(|event| event.text == text).unwrap();
    assert!(at("git log --all") < at("Done 0."));
    assert!(at("Done 10.") < at("Done 9.") && at("level 9") < at("level 10"));
    let ids: Vec<_> = events.iter().take(100).map(|event| event.id).collect();
    assert!(ids.is_sorted(), "{ids:?}");
    let all: std::collections::BTreeSet<_> = events.iter().map(|event| event.id).collect();
    assert_eq!(all.len(), events.len());
    let counted: u64 = report.files.iter().map(|file| file.events).sum();
    assert_eq!(counted, events.len() as u64);
    assert_eq!(depth(&events, id), DEEP);
    // Without the last one, that one is missing.
    let (_, report) = read_paths(&paths[..DEEP]);
    assert_eq!(report.coverage, Coverage::Partial);
    assert_eq!(report.missing_children, ["agent50 (Task)"]);
}

fn trace_audit(args: &[&str]) -> std::process::Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trace-audit"));
    command
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(args)
        .output()
        .unwrap()
}

/// A report speaks of another run: read back by an agent, or written into the trace, it convicts nobody.
#[test]
fn the_tools_own_report_is_no_evidence() {
    let leaked = "samples/experiment/S1-cursor-composer2-long-2031-04-12";
    let caught = "samples/experiment/S1-codex-gpt-5_4-short-20310413";
    let mut reports = Vec::new();
    for run in [leaked, caught] {
        for format in ["text", "json", "jsonl"] {
            let output = trace_audit(&[run, "--format", format]);
            let report = String::from_utf8(output.stdout).unwrap();
            assert!(
                report.to_lowercase().contains("invalid")
                    || report.contains("artial")
                    || report.contains("ARTIAL")
            );
            reports.push(report);
        }
        let events = trace_audit(&["events", &format!("{caught}/codex_events.jsonl")]);
        reports.push(String::from_utf8(events.stdout).unwrap());
    }
    let file = |text: &str| {
        let mut file = tempfile::Builder::new()
            .suffix(".jsonl")
            .tempfile()
            .unwrap();
        std::io::Write::write_all(&mut file, text.as_bytes()).unwrap();
        file
    };
    let stages = |path: &std::path::Path| -> (String, Vec<(String, String)>) {
        let output = trace_audit(&["--trace", path.to_str().unwrap(), "--format", "json"]);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let run = &report["runs"][0];
        let findings = run["findings"].as_array().unwrap().iter();
        let above = findings.filter(|finding| {
            finding["kind"] == "admission"
                || !matches!(finding["stage"].as_str(), None | Some("mentioned"))
        });
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let above = above.map(|finding| (text(&finding["rule"]), text(&finding["excerpt"])));
        (text(&run["verdict"]), above.collect())
    };
    for report in &reports {
        // Read by the agent.
        let lines = [
            json!({"type":"system","subtype":"init","cwd":"/w","session_id":"s","tools":["Bash"],"uuid":"i"}),
            json!({"type":"assistant","session_id":"s","uuid":"a","parent_tool_use_id":null,"message":{"id":"m","model":"x","role":"assistant","content":[{"type":"tool_use","id":"c","name":"Bash","input":{"command":"cat audit-of-last-week.txt"}}]}}),
            json!({"type":"user","session_id":"s","uuid":"u","parent_tool_use_id":null,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":report}]}}),
            json!({"type":"result","num_turns":1,"result":"Done.","session_id":"s","uuid":"r"}),
        ];
        let text: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let trace = file(&text);
        let (verdict, above) = stages(trace.path());
        assert_eq!(above, [], "{report}");
        assert_ne!(verdict, "invalid");
        assert_ne!(verdict, "partial");

        // Written into the trace itself, by a runner that redirects everything.
        let (events, plain) = read_bytes(text.as_bytes());
        let mixed = format!("{report}{text}");
        let (mixed_events, mixed_report) = read_bytes(mixed.as_bytes());
        assert_eq!(texts(&mixed_events), texts(&events));
        assert_eq!(plain.coverage, Coverage::Full);
        assert_ne!(mixed_report.coverage, Coverage::Full);
        let trace = file(&mixed);
        assert_eq!(stages(trace.path()).1, [], "{report}");
    }
}

/// A document in a result is text that the model was given, also an encoded one.
#[test]
fn documents_in_results_are_read() {
    for (source, want) in [
        (
            r#"{"type":"text","media_type":"text/plain","data":"let tide = 7;"}"#,
            "let tide = 7;",
        ),
        (
            r#"{"type":"base64","media_type":"text/plain","data":"bGV0IHRpZGU="}"#,
            "bGV0IHRpZGU=",
        ),
        (
            r#"{"type":"base64","media_type":"application/pdf","data":"JVBERi0="}"#,
            "[document]",
        ),
        (
            r#"{"type":"content","content":[{"type":"text","text":"let tide"}]}"#,
            "let tide",
        ),
    ] {
        let trace = format!(
            r#"{{"type":"assistant","session_id":"s","uuid":"u","message":{{"content":[{{"type":"tool_use","id":"c","name":"Read","input":{{"file_path":"a"}}}}]}}}}
{{"type":"user","session_id":"s","uuid":"v","message":{{"content":[{{"type":"tool_result","tool_use_id":"c","content":[{{"type":"document","title":"a","source":{source}}}]}}]}}}}"#
        );
        let (events, _) = read_bytes(trace.as_bytes());
        let output = events
            .iter()
            .find(|e| e.channel == Channel::Output)
            .unwrap();
        assert!(output.text.contains(want), "{}", output.text);
    }
}
