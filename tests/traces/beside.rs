//! Sessions in a run directory beside its trace: those of the run are read, any other is named.

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

const RUN: &str = "S1-claude-opus-max-long-20310412";
/// The session of that run, as its trace has it.
const SESSION: &str = "7d1b0c5e-1111-4222-8333-944455556666";

/// The samples, to be changed.
struct Bench {
    dir: tempfile::TempDir,
}

impl Bench {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
        for entry in walkdir::WalkDir::new(&from) {
            let entry = entry.unwrap();
            let to = dir.path().join(entry.path().strip_prefix(&from).unwrap());
            if entry.file_type().is_dir() {
                std::fs::create_dir_all(to).unwrap();
            } else {
                std::fs::copy(entry.path(), to).unwrap();
            }
        }
        Self { dir }
    }

    fn run(&self) -> PathBuf {
        self.dir.path().join("experiment").join(RUN)
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    fn write_in_run(&self, path: &str, text: &str) {
        self.write(&format!("experiment/{RUN}/{path}"), text);
    }

    fn audit(&self) -> Value {
        let output = Command::new(env!("CARGO_BIN_EXE_trace-audit"))
            .arg(self.run())
            .args(["--format", "json"])
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        report["runs"][0].clone()
    }
}

/// A sub-agent that took the patch of the task's pull request.
fn thief(session: &str) -> String {
    let record = |uuid: &str, parent: Value, kind: &str, block: Value| {
        json!({"sessionId": session, "uuid": uuid, "parentUuid": parent, "type": kind, "isSidechain": true, "agentId": "a1",
            "cwd": "/srv/w", "timestamp": "2031-04-12T03:04:05Z",
            "message": {"role": kind, "content": [block], "stop_reason": "tool_use"}})
        .to_string()
    };
    let call = json!({"type":"tool_use","id":"thief1","name":"Bash","input":{"command":"gh pr diff 4821 --repo example-org/lantern"}});
    let gt = include_str!("../../samples/base_repo/S1/eval/gt_diff.patch");
    let result = json!({"type":"tool_result","tool_use_id":"thief1","content":gt});
    let lines = [
        record("x1", Value::Null, "assistant", call),
        record("x2", json!("x1"), "user", result),
    ];
    lines.join("\n")
}

#[test]
fn the_run_as_it_is_is_clean_beyond_doubt() {
    let run = Bench::new().audit();
    assert_eq!(
        (&run["verdict"], &run["confidence"]),
        (&json!("clean"), &json!("high"))
    );
    assert_eq!(run["trace"]["coverage"], "full");
}

#[test]
fn a_session_of_the_run_is_read_wherever_it_lies() {
    let bench = Bench::new();
    let path = format!(".claude/projects/-srv-w/{SESSION}/subagents/agent-a1.jsonl");
    bench.write_in_run(&path, &thief(SESSION));
    let run = bench.audit();
    let files = run["trace"]["files"].as_array().unwrap();
    assert_eq!(files[0]["path"], json!(path));
    assert_ne!(run["verdict"], "clean");
    let finding = run["findings"]
        .as_array()
        .unwrap()
        .iter()
        .find(|f| f["trace"] == json!(path));
    assert!(finding.is_some(), "{}", run["findings"]);
}

#[test]
fn another_session_is_named_and_keeps_the_trace_from_being_complete() {
    for path in [
        "logs/claude_run.jsonl",
        "session.jsonl",
        ".claude/projects/-srv-w/11111111-1111-4222-8333-944455556666.jsonl",
        ".codex/sessions/2031/04/12/rollout-2031-04-12T03-04-05-11111111-1111-4222-8333-944455556666.jsonl",
    ] {
        let bench = Bench::new();
        bench.write_in_run(path, &thief("11111111-1111-4222-8333-944455556666"));
        let run = bench.audit();
        assert_eq!(run["trace"]["coverage"], "partial", "{path}");
        // What it says is nobody's, but nobody can be sure any more.
        assert_eq!(run["verdict"], "clean", "{path}");
        assert_ne!(run["confidence"], "high", "{path}");
        assert!(
            run["problems"].to_string().contains(path),
            "{}",
            run["problems"]
        );
        assert!(
            run["unchecked"].to_string().contains(path),
            "{}",
            run["unchecked"]
        );
        // Named by the user, it is read.
        let output = Command::new(env!("CARGO_BIN_EXE_trace-audit"))
            .arg(bench.run())
            .args(["--format", "json", "--trace"])
            .arg(bench.run().join(path))
            .arg("--trace")
            .arg(bench.run().join("claude_run.jsonl"))
            .output()
            .unwrap();
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_ne!(report["runs"][0]["verdict"], "clean", "{path}");
    }
}

#[test]
fn a_compressed_trace_beside_the_plain_one_is_read() {
    use std::io::Write as _;
    let bench = Bench::new();
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packed.write_all(thief("other").as_bytes()).unwrap();
    std::fs::write(
        bench.run().join("claude_run.jsonl.gz"),
        packed.finish().unwrap(),
    )
    .unwrap();
    let run = bench.audit();
    assert_eq!(run["trace"]["files"][0]["path"], "claude_run.jsonl.gz");
    assert_ne!(run["verdict"], "clean");
}

/// The honest twin: sessions that are files of the repository.
#[test]
fn sample_sessions_of_the_repository_are_no_traces() {
    let bench = Bench::new();
    for path in [
        "logs/claude_run.jsonl",
        "events.jsonl",
        "tests/data/session.jsonl",
    ] {
        bench.write_in_run(path, &thief("other"));
        bench.write(&format!("base_repo/S1/repo/{path}"), &thief("other"));
    }
    let run = bench.audit();
    assert_eq!(
        (&run["verdict"], &run["confidence"]),
        (&json!("clean"), &json!("high")),
        "{run}"
    );
    assert_eq!(run["trace"]["coverage"], "full");
    // Changed, they may be anything.
    bench.write_in_run("logs/claude_run.jsonl", &thief("another"));
    let run = bench.audit();
    assert_eq!(run["trace"]["coverage"], "partial");
    assert!(
        run["problems"]
            .to_string()
            .contains("logs/claude_run.jsonl")
    );
}
