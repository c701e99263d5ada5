//! The names of real runs: a list of another machine, all variants.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use tempfile::TempDir;

use crate::generate::{Bench, Deed};
use crate::{Stage, stderr, stdout};

#[test]
fn a_list_of_496_runs_of_another_machine() {
    let data =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/longhorizon/all_dirs.txt");
    let Ok(list) = fs::read_to_string(&data) else {
        eprintln!("skipped: all_dirs.txt is not beside this checkout");
        return;
    };
    let root = TempDir::new().unwrap();
    let bench = Bench::new(root.path());
    let names: Vec<&str> = list
        .lines()
        .filter_map(|l| l.trim_end_matches('/').rsplit('/').next())
        .collect();
    assert_eq!(names.len(), 496);
    let task = |name: &str| name.split('-').next().unwrap().to_owned();
    for task in names.iter().map(|name| task(name)).collect::<BTreeSet<_>>() {
        bench.add_task(&task);
    }
    for name in &names {
        // The benchmark renamed three runs after the list was written.
        let here =
            match name.contains("cursor-composer2-long-2026-04-14") && name.starts_with("T34") {
                true => format!("{name}-INVALID"),
                false => (*name).to_owned(),
            };
        bench.add_run(&task(name), &here, Deed::Writes, 1);
    }
    let stage = Stage { root, bench };
    fs::write(stage.path("all_dirs.txt"), &list).unwrap();
    let output = stage.run(&["sweep", "all_dirs.txt", "-f", "json"]);
    let report: Value = serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|e| panic!("{e} {}", stderr(&output)));
    assert_eq!(report["summary"]["runs"], 496);
    assert_eq!(report["summary"]["errors"], 0);
    let agents: Vec<_> = report["sweep"]["agents"]
        .as_array()
        .unwrap()
        .iter()
        .map(|a| {
            (
                a["agent"].as_str().unwrap(),
                a["runs"].as_u64().unwrap(),
                a["summary_only"].as_u64().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        agents,
        [
            ("claude-opus-max", 124, 0),
            ("codex-gpt-5_4", 124, 0),
            ("cursor-composer2", 124, 124),
            ("opencode-glm51", 124, 0)
        ]
    );
    let text = stdout(&stage.run(&["sweep", "all_dirs.txt"]));
    assert!(text.contains("496 runs of 62 tasks by 4 agents"), "{text}");
    assert!(
        text.contains("cursor-composer2: 124 runs, final message only"),
        "{text}"
    );
    assert!(text.contains("1 marked as excluded"), "{text}");
    for run in report["runs"].as_array().unwrap() {
        assert!(
            run["date"].is_string() && run["prompt_variant"].is_string(),
            "{run:#}"
        );
    }
}
