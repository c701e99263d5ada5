//! Input that is no trace, and anything at all.

use proptest::prelude::*;
use serde_json::Value;
use trace_audit::Error;
use trace_audit::trace::event::{Channel, Coverage};
use trace_audit::trace::{TraceFile, read_traces};

use crate::samples::{Layout, samples, samples_in};
use crate::support::{Log, read_bytes, read_paths, texts};

/// What is said once and copied into everything behind it must not be long: these would take hours.
#[test]
fn long_names_are_not_copied_into_every_event() {
    let name = "n".repeat(1 << 20);
    let thread = format!(r#"{{"type":"thread.started","thread_id":"{name}"}}"#);
    let say = |n: usize| {
        format!(
            r#"{{"type":"item.completed","item":{{"id":"{n}","type":"reasoning","text":"x"}}}}"#
        )
    };
    let lines: Vec<String> = std::iter::once(thread)
        .chain((0..50_000).map(say))
        .collect();
    let (events, _) = read_bytes(lines.join("\n").as_bytes());
    assert_eq!(events.len(), 50_000);

    let parts = "{}".to_owned() + &",{}".repeat(200_000);
    let edit = format!(
        r#"{{"type":"assistant","session_id":"s","uuid":"u","message":{{"content":[{{"type":"tool_use","id":"c","name":"MultiEdit","input":{{"file_path":"{name}","edits":[{parts}]}}}}]}}}}"#
    );
    let (events, _) = read_bytes(edit.as_bytes());
    assert_eq!(events.len(), 1);
    assert!(
        events[0]
            .edits
            .iter()
            .map(|edit| edit.path.len())
            .sum::<usize>()
            < 8 << 20
    );
}

/// A text is held back until what stands behind it tells what it is; its number must not be taken twice.
#[test]
fn texts_that_are_held_back_keep_numbers_apart() {
    let trace = "TO LLM 2026-01-02T03:04:05\n-------\nUSER Output from git log --all\nUSER abc\n-------\n\
                 ASSISTANU Ok\nUSER Go on\nLLM RESPONSE 2026-01-02T03:04:08\nASSISTANT Done.\n";
    let (events, _) = read_bytes(trace.as_bytes());
    assert_eq!(events.len(), 4);
    let lines: Vec<u64> = events.iter().map(|event| event.source.line).collect();
    assert_eq!(lines, [3, 3, 6, 9]);
}

#[test]
fn what_is_no_trace() {
    let (events, report) = read_bytes(b"");
    assert_eq!((events.len(), report.coverage), (0, Coverage::Missing));
    assert_eq!(report.files[0].format, "empty");
    assert_eq!(
        report.files[0].sha256,
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );

    let (events, report) = read_bytes(b"SQLite format 3\0\x10\0");
    assert_eq!((events.len(), report.coverage), (0, Coverage::Missing));
    assert!(report.reasons[0].contains("SQLite"), "{:?}", report.reasons);

    let dir = tempfile::tempdir().unwrap();
    let (_, report) = read_paths(&[dir.path().to_owned()]);
    assert_eq!(report.coverage, Coverage::Missing);
    assert!(
        report.reasons[0].contains("no regular file"),
        "{:?}",
        report.reasons
    );

    let (_, report) = read_paths(&[]);
    assert_eq!(
        (report.coverage, report.reasons.len()),
        (Coverage::Missing, 1)
    );

    let gone = TraceFile {
        path: dir.path().join("gone.jsonl"),
        label: "gone.jsonl".into(),
    };
    let error = read_traces(&[gone], &mut Log::default()).unwrap_err();
    assert!(matches!(error, Error::InputMissing { .. }));
    assert!(
        error
            .to_string()
            .contains("gone.jsonl: there is no such trace file")
    );
}

#[test]
fn two_agents_in_one_file() {
    let parts = samples_in(Layout::Lines);
    let text: String = parts.iter().map(|sample| sample.text.as_str()).collect();
    let (events, report) = read_bytes(text.as_bytes());
    let separate: Vec<String> = parts
        .iter()
        .flat_map(|sample| texts(&read_bytes(sample.text.as_bytes()).0))
        .collect();
    assert_eq!(texts(&events), separate);
    let names: Vec<&str> = parts.iter().map(|sample| sample.format.as_str()).collect();
    assert_eq!(report.files[0].format, names.join("+"));
}

// ---- anything at all ----------------------------------------------------------------------------

fn any_json() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        Just("type"),
        Just("assistant"),
        Just("user"),
        Just("result"),
        Just("system"),
        Just("init"),
        Just("message"),
        Just("content"),
        Just("tool_use"),
        Just("tool_result"),
        Just("text"),
        Just("item"),
        Just("item.completed"),
        Just("item.started"),
        Just("thread.started"),
        Just("command_execution"),
        Just("command"),
        Just("session_id"),
        Just("sessionId"),
        Just("sessionID"),
        Just("part"),
        Just("state"),
        Just("input"),
        Just("output"),
        Just("id"),
        Just("tool_call"),
        Just("shellToolCall"),
        Just("editToolCall"),
        Just("args"),
        Just("success"),
        Just("uuid"),
        Just("parentUuid"),
        Just("progress"),
        Just("agent_progress"),
        Just("data"),
        Just("msg"),
        Just("exec_command_begin"),
        Just("call_id"),
        Just("*** Begin Patch\n*** Add File: x\n+y"),
        Just("bash -lc 'x'"),
        Just("{\"a\":\"\\n\"}"),
        Just(""),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((words.clone(), inner), 0..8).prop_map(|members| {
                Value::Object(
                    members
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect(),
                )
            }),
        ]
    })
}

fn check_sane(bytes: &[u8]) {
    let (events, report) = read_bytes(bytes);
    assert_eq!(report.files[0].events, events.len() as u64);
    assert_eq!(report.files[0].sha256.len(), 64);
    let mut ids: Vec<_> = events.iter().map(|event| event.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), events.len(), "ids are unique");
    for event in &events {
        assert!(event.source.bytes.end <= 2 * bytes.len() as u64 + 3);
        assert_eq!(event.outcome.is_some(), event.channel == Channel::Output);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        check_sane(&bytes);
    }

    #[test]
    fn any_records(records in prop::collection::vec(any_json(), 0..12)) {
        let text: String = records.iter().map(|record| format!("{record}\n")).collect();
        check_sane(text.as_bytes());
    }

    /// A real record with one of its parts replaced.
    #[test]
    fn almost_records(which in any::<prop::sample::Index>(), line in any::<prop::sample::Index>(), at in any::<prop::sample::Index>(), value in any_json()) {
        let samples: Vec<_> = samples().into_iter().filter(|sample| sample.layout != Layout::Text).collect();
        let sample = which.get(&samples);
        let values = serde_json::Deserializer::from_str(&sample.text).into_iter::<Value>();
        let mut records: Vec<Value> = values.map(|value| value.unwrap()).collect();
        let line = line.index(records.len());
        let mut pointers = Vec::new();
        collect_pointers(&records[line], String::new(), &mut pointers);
        let pointer = at.get(&pointers).clone();
        *records[line].pointer_mut(&pointer).unwrap() = value;
        let text: String = records.iter().map(|record| format!("{record}\n")).collect();
        check_sane(text.as_bytes());
    }
}

fn collect_pointers(value: &Value, here: String, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                collect_pointers(member, format!("{here}/{key}"), out);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect_pointers(item, format!("{here}/{index}"), out);
            }
        }
        _ => {}
    }
    out.push(here);
}

#[test]
fn keys_of_our_report_hide_no_record_of_an_agent() {
    for sample in samples_in(Layout::Lines) {
        let (plain, _) = read_bytes(sample.text.as_bytes());
        let smuggled: Vec<String> = sample
            .lines()
            .iter()
            .map(|line| {
                let mut record: serde_json::Value = serde_json::from_str(line).unwrap();
                for key in [
                    "schema", "trace", "line", "event", "channel", "actor", "text",
                ] {
                    if let Some(members) = record.as_object_mut() {
                        members.entry(key).or_insert_with(|| "trace-audit/1".into());
                    }
                }
                record.to_string()
            })
            .collect();
        let (events, report) = read_bytes(smuggled.join("\n").as_bytes());
        let problems = format!("{:?}", report.files[0].problems);
        assert!(!problems.contains("trace-audit wrote"), "{}", sample.format);
        assert!(events.len() >= plain.len(), "{}", sample.format);
    }
}
