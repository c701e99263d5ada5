//! What shows only when runs are looked at together.

use std::fs;

use serde_json::Value;

use crate::generate::{Bench, Deed, write};
use crate::{Stage, stderr};

fn report(stage: &Stage) -> Value {
    let output = stage.sweep(&["-f", "json"]);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {}", stderr(&output)))
}

fn run<'a>(report: &'a Value, name: &str) -> &'a Value {
    let runs = report["runs"].as_array().unwrap();
    runs.iter().find(|r| r["run"] == name).unwrap()
}

#[test]
fn the_answer_to_another_task_and_a_file_of_the_harness() {
    let stage = Stage::new(2, 8, 2);
    let wrong = "T01-claude-opus-max-long-20260101";
    let dir = stage.bench.experiments().join(wrong);
    write(&dir.join("pkg/feature.py"), &Bench::answer("T02"));
    for entry in fs::read_dir(stage.bench.experiments()).unwrap() {
        let path = entry.unwrap().path();
        if path.display().to_string().contains("/T02-") {
            write(
                &path.join("tests/test_hidden.py"),
                "def test_hidden_behaviour():\n    assert feature() == 41\n",
            );
        }
    }
    let report = report(&stage);
    let sweep = &report["sweep"];
    assert_eq!(sweep["other_tasks"][0]["run"], wrong, "{sweep:#}");
    assert_eq!(sweep["other_tasks"][0]["other"], "T02");
    assert_eq!(
        sweep["harness_files"][0]["path"], "tests/test_hidden.py",
        "{sweep:#}"
    );
    assert_eq!(sweep["harness_files"].as_array().unwrap().len(), 1);
    let of_task = run(&report, "T02-codex-gpt-5_4-long-20260101");
    assert!(
        of_task["flags"]
            .as_array()
            .unwrap()
            .contains(&"harness_file".into())
    );
    let looks = sweep["look_first"].as_array().unwrap();
    assert!(looks.iter().any(|l| l["run"] == wrong), "{looks:#?}");
}

#[test]
fn reasons_to_look_are_no_evidence() {
    let stage = Stage::new(1, 4, 2);
    let name = "T01-claude-opus-max-long-20260101";
    let dir = stage.bench.experiments().join(name);
    let before = report(&stage);
    fs::write(
        dir.join("eval_report-x.md"),
        "Verdict: PASS\nByte-identical to upstream.",
    )
    .unwrap();
    let after = report(&stage);
    assert_eq!(run(&before, name)["verdict"], run(&after, name)["verdict"]);
    let look = &after["sweep"]["look_first"][0];
    let found = after["sweep"]["look_first"]
        .as_array()
        .unwrap()
        .iter()
        .find(|l| l["run"] == name);
    assert_eq!(
        found.unwrap()["reasons"][0]["words"],
        "byte-identical",
        "{look:#}"
    );
}

#[test]
fn excluded_runs_are_audited_and_marked() {
    let stage = Stage::new(1, 1, 2);
    let name = "T01-cursor-composer2-long-2026-01-02-INVALID";
    stage.bench.add_run("T01", name, Deed::Copies, 2);
    let report = report(&stage);
    let found = run(&report, name);
    assert_eq!(
        (found["excluded"].as_bool(), found["verdict"].as_str()),
        (Some(true), Some("invalid"))
    );
    assert_eq!(report["sweep"]["excluded"], 1);
}
