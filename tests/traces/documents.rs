//! Documents: neither the order of their keys nor the length of what stands in front decides what they are.

use std::io::Write;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use trace_audit::trace::TraceReport;
use trace_audit::trace::event::{Coverage, Event};

use crate::samples::{Layout, samples_in};
use crate::support::{read_bytes, texts};

/// A result so long, in KiB, that a look at the start of the file does not see beyond it.
fn long_result(size: usize) -> String {
    format!("abc Fix (#5)\n{}", "line of output.\n".repeat(size << 6))
}

/// An object with its members in that order.
fn document(members: &[(&String, &Value)], pretty: bool) -> String {
    let members: Vec<String> = members
        .iter()
        .map(|(key, value)| {
            let value = match pretty {
                true => serde_json::to_string_pretty(value).unwrap(),
                false => value.to_string(),
            };
            format!("{}: {value}", json!(key))
        })
        .collect();
    match pretty {
        true => format!("{{\n{}\n}}\n", members.join(",\n")),
        false => format!("{{{}}}", members.join(",")),
    }
}

/// Orders of the members of an object: each array first with the others turned around, and the reverse.
fn orders(object: &serde_json::Map<String, Value>) -> Vec<Vec<(&String, &Value)>> {
    let members: Vec<_> = object.iter().collect();
    let mut orders = vec![members.iter().rev().copied().collect()];
    for first in members.iter().filter(|(_, value)| value.is_array()) {
        let others: Vec<_> = members
            .iter()
            .filter(|member| member.0 != first.0)
            .copied()
            .collect();
        for turn in 0..others.len() {
            let mut others = others.clone();
            others.rotate_left(turn);
            orders.push([vec![*first], others].concat());
        }
    }
    orders
}

fn keys(order: &[(&String, &Value)]) -> Vec<String> {
    order.iter().map(|(key, _)| (*key).clone()).collect()
}

fn sorted_texts(events: &[Event]) -> Vec<String> {
    let mut texts = texts(events);
    texts.sort();
    texts
}

/// Documents of every format that has them, with a result of that many KiB.
fn documents(size: usize) -> Vec<(String, serde_json::Map<String, Value>)> {
    let mut documents: Vec<(String, Value)> = Vec::new();
    for sample in samples_in(Layout::Object) {
        let long = json!(long_result(size)).to_string();
        let text = sample.text.replace("abc Fix (#5)", long.trim_matches('"'));
        let value: Value = match serde_json::from_str(&text) {
            Ok(value) => value,
            // The result stands in a string in a string.
            Err(error) => panic!("{}: {error}", sample.format),
        };
        if sample.format == "inspect" {
            let one = value["samples"][0].clone();
            documents.push(("inspect".to_owned(), one));
        }
        documents.push((sample.format, value));
    }
    // Formats that are lines today and were, or also are, documents.
    let parts = json!([{"text": "Fix it"}]);
    let shell = json!({"id":"c1","name":"run_shell_command","args":{"command":"git log --all"},"status":"success",
        "result":[{"functionResponse":{"id":"c1","name":"run_shell_command","response":{"output":long_result(size)}}}]});
    documents.push(("gemini-chat".to_owned(), json!({
        "sessionId": "s1", "projectHash": "p", "startTime": "2026-01-02T03:04:05Z", "lastUpdated": "2026-01-02T03:04:05Z",
        "messages": [
            {"id":"m1","timestamp":"2026-01-02T03:04:05Z","type":"user","content":parts},
            {"id":"m2","timestamp":"2026-01-02T03:04:05Z","type":"gemini","content":"","toolCalls":[shell]},
            {"id":"m3","timestamp":"2026-01-02T03:04:05Z","type":"gemini","content":"Done."}]})));
    let step = json!({"role":"assistant","content":"Looking.\n```bash\ngit log --all\n```"});
    documents.push(("mini-swe-agent".to_owned(), json!({
        "info": {"exit_status":"Submitted","submission":"","config":{"agent":{"system_template":"x"}}},
        "messages": [{"role":"system","content":"You can use a shell."},{"role":"user","content":"Fix it"}, step,
            {"role":"user","content":format!("<returncode>0</returncode>\n<output>\n{}</output>", long_result(size))},
            {"role":"assistant","content":"Done."}],
        "trajectory_format": "mini-swe-agent-1"})));
    documents
        .into_iter()
        .filter_map(|(format, value)| match value {
            Value::Object(members) => Some((format, members)),
            _ => None,
        })
        .collect()
}

/// Reads a document with its keys in each of these orders, of which each must read as the document does.
fn check_orders(
    format: &str,
    object: &serde_json::Map<String, Value>,
    orders: &[Vec<(&String, &Value)>],
    wrong: &mut Vec<String>,
) {
    let whole = document(&object.iter().collect::<Vec<_>>(), false);
    let (plain, plain_report) = read_bytes(whole.as_bytes());
    assert!(
        texts(&plain).contains(&"git log --all".to_owned()),
        "{format}"
    );
    for order in orders {
        let text = document(order, true);
        let (events, report) = read_bytes(text.as_bytes());
        let same = |report: &TraceReport| {
            report.files[0].format == format
                && (report.coverage, report.orphans)
                    == (plain_report.coverage, plain_report.orphans)
        };
        if !same(&report) || sorted_texts(&events) != sorted_texts(&plain) {
            wrong.push(format!(
                "{format} {:?}: {} {:?} {} events of {}",
                keys(order),
                report.files[0].format,
                report.reasons,
                events.len(),
                plain.len()
            ));
        }
    }
}

#[test]
fn the_order_of_keys_and_the_place_of_the_long_array_decide_nothing() {
    let mut wrong = Vec::new();
    for (format, object) in documents(1100) {
        check_orders(&format, &object, &orders(&object), &mut wrong);
    }
    for (format, object) in documents(3 << 10) {
        let orders = orders(&object);
        let last: Vec<_> = orders.into_iter().rev().take(1).collect();
        assert!(document(&last[0], true).len() > 3 << 20, "{format}");
        check_orders(&format, &object, &last, &mut wrong);
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Standard input cannot be read twice: a document that says at its end what it is cannot be read rightly there, and is
/// never taken for whole.
#[test]
fn what_is_told_late_on_standard_input_is_said() {
    for (format, object) in documents(1100) {
        let list = object.iter().find(|(key, _)| *key == "messages");
        let Some(first) = list.filter(|_| format == "mini-swe-agent") else {
            continue;
        };
        let others = object.iter().filter(|(key, _)| *key != "messages");
        let order: Vec<_> = std::iter::once(first).chain(others).collect();
        let mut child = Command::new(env!("CARGO_BIN_EXE_trace-audit"))
            .args(["scan", "-", "--format", "json"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(document(&order, true).as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let trace = &report["runs"][0]["trace"];
        assert_ne!(trace["coverage"], "full");
        let problems = trace["files"][0]["problems"].to_string();
        assert!(problems.contains("shows only at its end"), "{problems}");
    }
}

/// The documents that hold one another's keys are told apart by what they hold.
#[test]
fn a_cut_document_is_still_told_by_its_items() {
    for (format, object) in documents(1100) {
        let Some(first) = object.iter().find(|(key, _)| {
            ["trajectory", "history", "steps"].contains(&key.as_str())
                || (*key == "messages" && format == "opencode-export")
        }) else {
            continue;
        };
        let text = document(&[first], true);
        let cut = text.trim_end().trim_end_matches(['}', ']', '\n', ' ']);
        let (events, report) = read_bytes(format!("{cut}\"").as_bytes());
        assert_ne!(report.coverage, Coverage::Full, "{format}");
        let (whole, _) = read_bytes(document(&object.iter().collect::<Vec<_>>(), false).as_bytes());
        if texts(&whole).contains(&"git log --all".to_owned()) && format != "swe-agent" {
            assert!(
                texts(&events).contains(&"git log --all".to_owned()),
                "{format}"
            );
        }
    }
}
