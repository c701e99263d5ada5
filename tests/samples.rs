//! The sample runs: their verdicts, their JSON against the schema, and that nothing in the output
//! depends on anything but the inputs.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod support;

use serde_json::Value;
use support::{strings, trace_audit};

/// Run, verdict, reason, exit code, one flag or cause that must be there.
const SAMPLES: &[(&str, &str, &str, i32, &str)] = &[
    (
        "S1-claude-opus-max-long-20310412",
        "clean",
        "no_copy_found",
        0,
        "",
    ),
    (
        "S1-codex-gpt-5_4-short-20310413",
        "partial",
        "answer_seen",
        1,
        "upstream-fetch",
    ),
    (
        "S1-cursor-composer2-long-2031-04-12",
        "invalid",
        "full_leak",
        2,
        "upstream-fetch",
    ),
    (
        "S2-cursor-composer2-short-20310413",
        "inconclusive",
        "too_small_to_tell",
        3,
        "summary_only",
    ),
    (
        "S2-opencode-glm51-long-20310414",
        "clean",
        "no_copy_found",
        0,
        "attempted_blocked",
    ),
];

fn audit(format: &str, runs: &[&str]) -> (i32, Vec<u8>) {
    let mut args = vec!["--format".to_owned(), format.to_owned()];
    args.extend(
        runs.iter()
            .map(|run| format!("{}/samples/experiment/{run}", env!("CARGO_MANIFEST_DIR"))),
    );
    let output = trace_audit(&args);
    (output.status.code().unwrap(), output.stdout)
}

#[test]
fn every_sample_has_its_verdict() {
    for (run, verdict, reason, code, sign) in SAMPLES {
        let (exit, bytes) = audit("json", &[run]);
        let report: Value = serde_json::from_slice(&bytes).unwrap();
        let found = &report["runs"][0];
        assert_eq!(found["verdict"], *verdict, "{run}: {found:#}");
        assert_eq!(found["reason"], *reason, "{run}");
        assert_eq!(exit, *code, "{run}");
        let signs = [strings(&found["flags"]), strings(&found["causes"])].concat();
        assert!(sign.is_empty() || signs.contains(sign), "{run}: {signs:?}");
    }
}

#[test]
fn reports_keep_to_the_schema() {
    let schema: Value = serde_json::from_str(include_str!("../docs/report.schema.json")).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let runs: Vec<_> = SAMPLES.iter().map(|s| s.0).collect();
    let (_, bytes) = audit("json", &runs);
    let report: Value = serde_json::from_slice(&bytes).unwrap();
    let errors: Vec<_> = validator
        .iter_errors(&report)
        .map(|e| e.to_string())
        .collect();
    assert!(errors.is_empty(), "{errors:#?}");

    // A schema that accepts anything would pass the check above.
    let mut broken = report.clone();
    broken["runs"][0]["verdict"] = Value::from("probably");
    assert!(!validator.is_valid(&broken));

    let (_, bytes) = audit("jsonl", &runs);
    let lines: Vec<Value> = bytes
        .split(|b| *b == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(lines.len(), runs.len());
    for (line, run) in lines.iter().zip(report["runs"].as_array().unwrap()) {
        let mut expected = run.clone();
        expected["schema"] = report["schema"].clone();
        expected["tool"] = report["tool"].clone();
        assert_eq!(*line, expected);
    }
}

#[test]
fn worst_verdict_gives_the_exit_code() {
    let all: Vec<_> = SAMPLES.iter().map(|s| s.0).collect();
    let clean_and_inconclusive = [
        "S1-claude-opus-max-long-20310412",
        "S2-cursor-composer2-short-20310413",
    ];
    assert_eq!(audit("json", &all).0, 2);
    assert_eq!(audit("json", &clean_and_inconclusive).0, 3);
    let with_missing = ["S1-claude-opus-max-long-20310412", "no-such-run"];
    let (code, bytes) = audit("json", &with_missing);
    let report: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(code, 66);
    assert_eq!(report["summary"]["errors"], 1);
    assert_eq!(report["runs"][1]["verdict"], Value::Null);
}

#[test]
fn output_is_the_same_every_time() {
    let runs: Vec<_> = SAMPLES.iter().map(|s| s.0).collect();
    assert_eq!(audit("json", &runs), audit("json", &runs));
    assert_eq!(audit("text", &runs), audit("text", &runs));
}

#[test]
fn the_readme_shows_what_the_program_prints() {
    let readme = include_str!("../README.md");
    for run in [
        "S1-cursor-composer2-long-2031-04-12",
        "S1-claude-opus-max-long-20310412",
    ] {
        let (_, bytes) = audit("text", &[run]);
        let text = String::from_utf8(bytes).unwrap();
        assert!(
            readme.contains(text.trim_end()),
            "README and output differ:\n{text}"
        );
    }
}

#[test]
fn links_between_the_documents_lead_somewhere() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut checked = 0;
    for file in [
        "README.md",
        "CONTRIBUTING.md",
        "docs/rules.md",
        "docs/verdict.md",
        "docs/similarity.md",
        "docs/score.md",
        "docs/exact-match.md",
    ] {
        let text = std::fs::read_to_string(root.join(file)).unwrap();
        let folder = root.join(file).parent().unwrap().to_owned();
        for link in text
            .split("](")
            .skip(1)
            .filter_map(|rest| rest.split(')').next())
        {
            let path = link.split('#').next().unwrap_or_default();
            if path.is_empty() || link.contains("://") {
                continue;
            }
            assert!(folder.join(path).exists(), "{file}: {link}");
            checked += 1;
        }
    }
    assert!(checked > 3, "{checked} links");
}

#[test]
fn a_run_that_failed_is_a_record_too() {
    let (code, bytes) = audit("json", &["no-such-run"]);
    let report: Value = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(code, 66);
    assert_eq!(report["runs"][0]["verdict"], Value::Null);
    assert!(report["runs"][0]["error"].is_string());
    let schema: Value = serde_json::from_str(include_str!("../docs/report.schema.json")).unwrap();
    assert!(
        jsonschema::validator_for(&schema)
            .unwrap()
            .is_valid(&report)
    );
}

#[test]
fn a_work_tree_that_is_gone_acquits_nobody() {
    let dir = tempfile::tempdir().unwrap();
    let run = dir.path().join("S1-newagent-long-2031-04-12");
    std::fs::create_dir(&run).unwrap();
    let root = env!("CARGO_MANIFEST_DIR");
    let output = trace_audit(&[
        "-f".to_owned(),
        "json".to_owned(),
        "--base-repo".to_owned(),
        format!("{root}/samples/base_repo"),
        run.display().to_string(),
    ]);
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(3), "{report:#}");
    let run = &report["runs"][0];
    assert_eq!(run["reason"], "no_evidence");
    let unchecked = run["unchecked"].to_string();
    assert!(unchecked.contains("the work tree is empty"), "{unchecked}");
}

#[test]
fn colours_are_there_when_asked_for_and_never_in_a_pipe() {
    let run = format!(
        "{}/samples/experiment/{}",
        env!("CARGO_MANIFEST_DIR"),
        SAMPLES[0].0
    );
    let plain = trace_audit(std::slice::from_ref(&run));
    let coloured = trace_audit(&["--color".to_owned(), "always".to_owned(), run]);
    assert!(!plain.stdout.contains(&0x1b));
    assert!(
        coloured
            .stdout
            .windows(5)
            .any(|w| w == b"\x1b[32m" || w == b"\x1b[1m\x1b")
    );
}
