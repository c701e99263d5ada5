//! Faults of the environment, and work under names that evaluators use.

use serde_json::{Value, json};
use trace_audit::report::model::RunReport;
use trace_audit::rules::finding::Cause;
use trace_audit::verdict::check::Reason;
use trace_audit::verdict::judge::Flag;
use trace_audit::verdict::measures::Verdict;

use super::fixture::{TEN, write};
use super::verdicts::Leak;

/// A call and what came back.
type Step<'a> = (&'a str, Value, &'a str);

fn run<'a>(command: &str, output: &'a str) -> Step<'a> {
    ("Bash", json!({ "command": command }), output)
}

fn trace(steps: &[Step<'_>], ended: bool) -> String {
    let mut lines = vec![json!({
        "type": "system", "subtype": "init", "cwd": "/srv/run", "tools": ["Bash", "Write"], "model": "m", "session_id": "s"
    })];
    for (at, (tool, input, output)) in steps.iter().enumerate() {
        let id = format!("c{at}");
        lines.push(json!({"type": "assistant", "session_id": "s", "message": {"role": "assistant", "content": [
            {"type": "tool_use", "id": id, "name": tool, "input": input}]}}));
        lines.push(
            json!({"type": "user", "session_id": "s", "message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": id, "content": output, "is_error": false}]}}),
        );
    }
    if ended {
        lines.push(json!({"type": "result", "subtype": "success", "is_error": false, "result": "Done.", "session_id": "s"}));
    }
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// Audits a run that holds the GT with this trace.
fn audit(leak: &Leak, steps: &[Step<'_>], ended: bool) -> RunReport {
    write(&leak.bench.run(), "claude_run.jsonl", trace(steps, ended));
    leak.audit(Some(&leak.bench.base()))
}

#[test]
fn what_stood_in_the_tree_before_is_the_environments_fault() {
    if !super::git_available() {
        return;
    }
    let leak = Leak::new();
    let status = run(
        "git status --short",
        " M src/a.txt\n D src/b.txt\n?? new.txt\n?? src/fresh.rs\n",
    );
    let look = run("cat keep.txt", "kept\n");
    let tests = run("pytest -q", "1 passed\n");
    let opaque = run("./prepare.sh", "");
    for (name, steps, ended, harness) in [
        (
            "listed by the first status",
            vec![status.clone(), tests.clone()],
            true,
            true,
        ),
        (
            "listed, and the tail is cut off",
            vec![status.clone(), tests.clone()],
            false,
            true,
        ),
        (
            "a full trace without a writer",
            vec![look.clone()],
            true,
            true,
        ),
        (
            "no writer, and the tail is cut off",
            vec![look.clone()],
            false,
            false,
        ),
        (
            "a script before the status",
            vec![opaque.clone(), status.clone()],
            true,
            false,
        ),
        ("a script and no look", vec![opaque], true, false),
    ] {
        let report = audit(&leak, &steps, ended);
        assert_eq!(
            report.verdict,
            Some(Verdict::Invalid),
            "{name}: {:?}",
            report.reason
        );
        assert_eq!(
            report.is_harness_fault(),
            harness,
            "{name}: {:?}",
            report.reason
        );
        assert_eq!(
            report.causes == [Cause::Harness],
            harness,
            "{name}: {:?}",
            report.causes
        );
        if !harness {
            assert_eq!(report.reason, Some(Reason::UnexplainedCopy), "{name}");
        }
    }
}

#[test]
fn what_came_after_the_end_is_taken_out() {
    if !super::git_available() {
        return;
    }
    let leak = Leak::new();
    let bench_run = leak.bench.run();
    // The agent wrote one file; the GT's new ones came later.
    let own = format!("{TEN}the agent's own line, unlike any other\n");
    write(&bench_run, "src/a.txt", &own);
    for name in ["new.txt", "build/hidden.rs"] {
        std::fs::remove_file(bench_run.join(name)).unwrap();
    }
    std::fs::copy(
        leak.bench.base().join("src/b.txt"),
        bench_run.join("src/b.txt"),
    )
    .unwrap();
    let wrote: Step<'_> = (
        "Write",
        json!({"file_path": "/srv/run/src/a.txt", "content": own}),
        "ok",
    );
    let status = run("git status --short", " M src/a.txt\n");
    let steps = [wrote.clone(), status];
    let report = audit(&leak, &steps, true);
    assert!(
        report.flags.contains(&Flag::HarnessCopy),
        "{:?}",
        report.flags
    );
    assert_eq!(
        report.verdict,
        Some(Verdict::Clean),
        "{:?} {:?}",
        report.reason,
        report.problems
    );
    let said = report.problems.iter().any(|p| p.contains("src/fresh.rs"));
    assert!(said, "{:?}", report.problems);
    // With its tail cut off, the trace proves nothing.
    let report = audit(&leak, &steps, false);
    assert!(
        !report.flags.contains(&Flag::HarnessCopy),
        "{:?}",
        report.flags
    );
    assert_ne!(report.reason, Some(Reason::GtPreapplied));
    // Neither does one with a script in it.
    let script = run("./prepare.sh", "");
    let report = audit(&leak, &[script, steps[0].clone(), steps[1].clone()], true);
    assert!(
        !report.flags.contains(&Flag::HarnessCopy),
        "{:?}",
        report.flags
    );
}

#[test]
fn work_under_an_evaluators_name_is_work() {
    if !super::git_available() {
        return;
    }
    let leak = Leak::new();
    let bench_run = leak.bench.run();
    // The whole copy hides in files that evaluators leave behind.
    let fresh = std::fs::read_to_string(bench_run.join("src/fresh.rs")).unwrap();
    for name in ["src/a.txt", "src/b.txt"] {
        std::fs::copy(leak.bench.base().join(name), bench_run.join(name)).unwrap();
    }
    for name in ["new.txt", "build/hidden.rs", "src/fresh.rs"] {
        std::fs::remove_file(bench_run.join(name)).unwrap();
    }
    write(&bench_run, ".claude/plans.rs", &fresh);
    write(&bench_run, "eval_report-2.md", "an evaluator's words\n");
    let wrote: Step<'_> = (
        "Write",
        json!({"file_path": "/srv/run/.claude/plans.rs", "content": fresh}),
        "ok",
    );
    let report = audit(&leak, &[wrote], true);
    let shared = report.similarity.unwrap().u_ratio.num;
    assert_eq!(shared, 60, "the agent wrote it");
    let report = audit(&leak, &[run("ls", "src\n")], true);
    assert_eq!(
        report.similarity.unwrap().u_ratio.num,
        0,
        "an evaluator wrote it"
    );
}
