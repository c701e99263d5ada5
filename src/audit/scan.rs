//! Rules alone, over one trace: no ground truth, no patch, no verdict.

use crate::Result;
use crate::experiment::discover::TaskInputs;
use crate::report::model::{InputsInfo, RunReport, ToolInfo, TraceInfo};
use crate::rules::finding::{Finding, Kind, Stage};
use crate::rules::{Engine, RuleSet};
use crate::trace::event::Coverage;
use crate::trace::{TraceFile, read_traces};

/// What made the report of a scan: no policy is at work in it.
pub fn tool(rules: &RuleSet) -> ToolInfo {
    ToolInfo {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        rules_digest: rules.digest(),
        policy: None,
        policy_digest: None,
    }
}

/// Runs the rules over one trace; the path `-` is standard input. `task` has what is known of the task (facts, prompt, notes); its other inputs are not looked at.
///
/// # Errors
/// When the trace cannot be read, or is none.
pub fn scan(rules: &RuleSet, task: &TaskInputs, file: TraceFile) -> Result<RunReport> {
    let label = file.label.clone();
    let prompt = task.prompt.as_ref().map(|p| p.text.as_str());
    let mut engine = Engine::new(rules, &task.facts, prompt, vec![label.clone()]);
    let trace = read_traces(&[file], &mut engine)?;
    if let Some(file) = trace.files.iter().find(|f| !f.is_trace() || f.is_empty()) {
        return Err(file.not_a_trace());
    }
    let found = engine.finish();
    let mut unchecked = if trace.coverage == Coverage::SummaryOnly {
        vec!["tool calls (the trace holds only a final message)".to_owned()]
    } else {
        trace.reasons.clone()
    };
    if found.unclear_commands > 0 {
        unchecked.push(format!(
            "{} commands that could not be taken apart",
            found.unclear_commands
        ));
    }
    let mut report = RunReport::failed(&label, &label, String::new());
    report.error = None;
    report.task.clone_from(&task.task);
    report.causes = found
        .findings
        .iter()
        .filter(|f| convicts(f))
        .filter_map(|f| f.cause)
        .collect();
    report.causes.sort_unstable();
    report.causes.dedup();
    report.trace = Some(TraceInfo {
        coverage: trace.coverage,
        reasons: trace.reasons,
        files: trace.files,
    });
    report.inputs = InputsInfo {
        prompt: task.prompt.as_ref().map(|p| p.label.clone()),
        facts: task.facts_file.as_ref().map(|p| p.display().to_string()),
        ..InputsInfo::default()
    };
    report.findings = found.findings;
    report.unchecked = unchecked;
    report.problems.clone_from(&task.notes);
    report.notes = found.notes;
    Ok(report)
}

/// The finding alone says that reference content was taken: it was obtained, or the agent says so.
pub fn convicts(finding: &Finding) -> bool {
    finding.waived.is_none()
        && (finding.kind == Kind::Admission || finding.stage >= Some(Stage::Obtained))
}
