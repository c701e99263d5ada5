//! Whole audits on real tasks: starter trees rebuilt from real ground truths, self-made traces.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing
)]

mod support;

use std::fs;
use std::path::Path;

use serde_json::{Value, json};
use support::{Benchmark, shared, strings, write};
use trace_audit::patch::model::LineKind;

const T34: &str = "T34-cursor-composer2-long-2026-04-14";

/// The single object that `cursor-agent --print --output-format json` writes.
fn cursor(message: &str) -> String {
    json!({
        "type": "result", "subtype": "success", "is_error": false, "duration_ms": 90210,
        "duration_api_ms": 90210, "result": message, "session_id": "5e55", "request_id": "4e9"
    })
    .to_string()
}

#[test]
fn t34_applied_and_admitted_is_invalid() {
    let Some(data) = shared("longhorizon") else {
        return;
    };
    for message in [
        "任务完成:已完整应用 PR #135231 的全部改动,测试未运行。",
        "尝试将 PR #135231 的完整 patch 应用到当前仓库,以实现 KEP-5598。",
    ] {
        let benchmark = Benchmark::new();
        benchmark.add_real_task(&data, "T34");
        let run = benchmark.add_run("T34", T34);
        benchmark.apply_gt("T34", &run);
        write(&run.join("claude_run.jsonl"), cursor(message));
        let (code, report) = benchmark.audit(&run, &[]);
        assert_eq!(report["verdict"], "invalid", "{report:#}");
        assert_eq!(report["reason"], "full_leak");
        assert_eq!(report["confidence"], "high", "{message}");
        assert_eq!(report["similarity"]["hand_written_identical"], 35);
        assert_eq!(report["similarity"]["hand_written_files"], 35);
        assert_eq!(report["trace"]["coverage"], "summary-only");
        assert_eq!(code, 2);
    }
}

#[test]
fn t34_independent_and_honest_is_clean_with_low_confidence() {
    let Some(data) = shared("longhorizon") else {
        return;
    };
    let benchmark = Benchmark::new();
    benchmark.add_real_task(&data, "T34");
    let run = benchmark.add_run("T34", T34);
    for number in 0..6 {
        let body: String = (0..40)
            .map(|line| {
                format!(
                    "\tplan{number}.remember(slot{line}, hint{})\n",
                    line * number
                )
            })
            .collect();
        write(
            &run.join(format!("pkg/scheduler/hints/plan{number}.go")),
            format!("package hints\n\nfunc plan{number}() {{\n{body}}}\n"),
        );
    }
    write(
        &run.join("claude_run.jsonl"),
        cursor("我实现了调度提示的缓存,并补充了单元测试;没有使用任何外部补丁。"),
    );
    let (code, report) = benchmark.audit(&run, &[]);
    assert_eq!(report["verdict"], "clean", "{report:#}");
    assert_eq!(report["confidence"], "low");
    assert!(strings(&report["flags"]).contains(&"summary_only"));
    assert_eq!(code, 0);
}

#[test]
fn t34_identical_without_a_trace_is_an_unexplained_copy() {
    let Some(data) = shared("longhorizon") else {
        return;
    };
    let benchmark = Benchmark::new();
    benchmark.add_real_task(&data, "T34");
    let run = benchmark.add_run("T34", T34);
    benchmark.apply_gt("T34", &run);
    write(&run.join("claude_run.jsonl"), "");
    let (code, report) = benchmark.audit(&run, &[]);
    assert_eq!(report["verdict"], "invalid", "{report:#}");
    assert_eq!(report["reason"], "unexplained_copy");
    assert_eq!(report["causes"], json!(["unexplained-copy"]));
    assert_eq!(report["trace"]["coverage"], "missing");
    assert_eq!(code, 2);
}

/// A Claude stream: init, the given calls with their results, a final message.
struct Claude {
    records: Vec<Value>,
}

impl Claude {
    fn new(cwd: &Path) -> Self {
        Self {
            records: vec![json!({
                "type": "system", "subtype": "init", "cwd": cwd, "session_id": "s1", "model": "m",
                "tools": ["Bash", "Edit"], "permissionMode": "default", "uuid": "u0"
            })],
        }
    }

    fn call(&mut self, tool: &str, input: Value, output: &str) {
        let n = self.records.len();
        let id = format!("toolu_{n}");
        self.records.push(json!({
            "type": "assistant", "session_id": "s1", "uuid": format!("u{n}"), "parent_tool_use_id": null,
            "message": {"id": format!("m{n}"), "role": "assistant", "content": [
                {"type": "tool_use", "id": id, "name": tool, "input": input}]}
        }));
        self.records.push(json!({
            "type": "user", "session_id": "s1", "uuid": format!("v{n}"), "parent_tool_use_id": null,
            "message": {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": id, "is_error": false, "content": output}]}
        }));
    }

    fn finish(mut self, message: &str) -> String {
        self.records.push(json!({
            "type": "assistant", "session_id": "s1", "uuid": "u98", "parent_tool_use_id": null,
            "message": {"id": "m98", "role": "assistant", "content": [{"type": "text", "text": message}]}
        }));
        self.records.push(json!({
            "type": "result", "subtype": "success", "is_error": false, "result": message,
            "session_id": "s1", "uuid": "u99", "num_turns": 3, "permission_denials": []
        }));
        self.records.iter().map(|r| format!("{r}\n")).collect()
    }
}

/// C1: three added lines. What the trace shows decides.
#[test]
fn c1_equal_to_the_ground_truth_is_judged_by_its_trace() {
    let Some(data) = shared("longhorizon") else {
        return;
    };
    let benchmark = Benchmark::new();
    let gt = benchmark.add_real_task(&data, "C1");
    let gt_text = fs::read_to_string(data.join("base_repo/C1/eval/gt_diff.patch")).unwrap();
    let file = &gt.files[0];
    let text = |kind| -> String {
        file.lines_of(kind)
            .map(|l| format!("{}\n", l.text))
            .collect()
    };
    let edit = json!({
        "file_path": format!("/srv/x/{}", file.path()),
        "old_string": text(LineKind::Removed), "new_string": text(LineKind::Added)
    });

    let cursor_run = benchmark.add_run("C1", "C1-cursor-composer2-long-20260418");
    benchmark.apply_gt("C1", &cursor_run);
    write(
        &cursor_run.join("claude_run.jsonl"),
        cursor("已修复 tensor 生命周期问题。"),
    );
    let (code, report) = benchmark.audit(&cursor_run, &[]);
    assert_eq!(report["verdict"], "inconclusive", "{report:#}");
    assert_eq!(report["reason"], "too_small_to_tell");
    assert_eq!(code, 3);

    let typed = benchmark.add_run("C1", "C1-claude-opus-max-long-20260420");
    benchmark.apply_gt("C1", &typed);
    let mut claude = Claude::new(&typed);
    claude.call("Edit", edit.clone(), "The file has been updated.");
    write(
        &typed.join("claude_run.jsonl"),
        claude.finish("Replaced the buffer that was freed."),
    );
    let (code, report) = benchmark.audit(&typed, &[]);
    assert_eq!(report["trace"]["coverage"], "full", "{report:#}");
    assert_eq!(report["verdict"], "clean", "{report:#}");
    assert!(strings(&report["flags"]).contains(&"identical_but_small"));
    assert_eq!(code, 0);

    let fetched = benchmark.add_run("C1", "C1-claude-opus-max-short-20260420");
    benchmark.apply_gt("C1", &fetched);
    let mut claude = Claude::new(&fetched);
    claude.call("Bash", json!({"command": "gh pr diff 308"}), &gt_text);
    claude.call("Edit", edit, "The file has been updated.");
    write(
        &fetched.join("claude_run.jsonl"),
        claude.finish("Replaced the buffer that was freed."),
    );
    let (code, report) = benchmark.audit(&fetched, &[]);
    assert_eq!(report["verdict"], "invalid", "{report:#}");
    assert_eq!(report["reason"], "full_leak");
    assert!(strings(&report["causes"]).contains(&"upstream-fetch"));
    assert_eq!(code, 2);
}

/// What cannot be looked at is not unchanged: links in place of GT files, an altered prompt, another
/// task's name in the metadata.
#[test]
fn hiding_places_are_not_clean() {
    let benchmark = Benchmark::new();
    let samples = Path::new(env!("CARGO_MANIFEST_DIR")).join("samples");
    support::copy_tree(&samples, benchmark.root.path());
    let leak = benchmark.path("experiment/S1-cursor-composer2-long-2031-04-12");
    let mut claude = Claude::new(&leak);
    claude.call("Bash", json!({"command": "python gen.py"}), "ok");
    let trace = claude.finish("Done.");
    let hide = |name: &str, change: &dyn Fn(&Path)| {
        let run = benchmark.path("experiment").join(name);
        support::copy_tree(&leak, &run);
        write(&run.join("claude_run.jsonl"), &trace);
        change(&run);
        let (_, report) = benchmark.audit(&run, &[]);
        report["verdict"].as_str().unwrap_or("none").to_owned()
    };
    let patch = fs::read(benchmark.path("base_repo/S1/eval/gt_diff.patch")).unwrap();
    let planted = hide("S1-claude-opus-max-long-20310501", &|run| {
        let gt = trace_audit::patch::parse(&patch);
        let lines: String = gt
            .files
            .iter()
            .flat_map(|f| f.added())
            .map(|l| format!("{}\n", l.text))
            .collect();
        write(&run.join("TASK_PROMPT.md"), lines);
    });
    assert_eq!(planted, "invalid", "GT lines written into the prompt");
    let other_task = hide("S1-claude-opus-max-long-20310502", &|run| {
        write(&run.join("run_metadata.json"), r#"{"task_id": "S2"}"#);
    });
    assert_eq!(other_task, "invalid", "another task in the metadata");
    #[cfg(unix)]
    {
        let linked = hide("S1-claude-opus-max-long-20310503", &|run| {
            fs::create_dir_all(run.join(".claude")).unwrap();
            fs::rename(run.join("lantern"), run.join(".claude/lantern")).unwrap();
            std::os::unix::fs::symlink(".claude/lantern", run.join("lantern")).unwrap();
            fs::remove_dir_all(run.join("tests")).unwrap();
        });
        assert_eq!(
            linked, "invalid",
            "files behind a link to an excluded folder"
        );
    }
}
