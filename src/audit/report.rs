//! From facts and judgement to the report of a run.

use std::collections::BTreeSet;

use super::RunFacts;
use crate::experiment::discover::RunInputs;
use crate::patch::BaseInfo;
use crate::report::Lang;
use crate::report::model::{InputsInfo, RunReport, TraceInfo, Words};
use crate::trace::TraceReport;
use crate::trace::event::Coverage;
use crate::verdict::explain::explain;
use crate::verdict::judge::Judgement;
use crate::verdict::measures::PatchState;
use crate::verdict::policy::Policy;

/// The report of a judged run.
pub(super) fn report(
    inputs: &RunInputs,
    facts: &RunFacts,
    judgement: &Judgement,
    policy: &Policy,
    lang: Lang,
) -> RunReport {
    let explanation = explain(&facts.measures, policy, lang);
    let mut unchecked = facts.sources.unchecked.clone();
    unchecked.extend(unchecked_parts(inputs, facts));
    let mut problems = inputs.notes.clone();
    problems.extend(facts.sources.problems.iter().cloned());
    let mut notes = Vec::new();
    if let Some(comparison) = &facts.comparison {
        notes.extend(comparison.notes.iter().cloned());
    }
    notes.extend(facts.rules.notes.iter().cloned());
    notes.extend(inactive_rules(facts));
    RunReport {
        run: run_name(inputs),
        path: path(inputs),
        task: inputs.task.clone(),
        agent: inputs.agent.clone(),
        prompt_variant: inputs.prompt_variant.clone(),
        date: inputs.date.clone(),
        excluded: inputs.excluded,
        error: None,
        verdict: Some(judgement.verdict),
        author_label: Some(judgement.author_label),
        reason: Some(judgement.reason),
        clause: Some(judgement.clause),
        confidence: Some(judgement.confidence),
        causes: judgement.causes.clone(),
        flags: judgement.flags.clone(),
        trace: facts.trace.as_ref().map(|t| trace_info(t, facts)),
        similarity: facts.comparison.as_ref().map(|c| c.similarity.clone()),
        provenance: facts.provenance.clone(),
        measures: Some(facts.measures.clone()),
        findings: facts.rules.findings.clone(),
        inputs: inputs_info(inputs, facts),
        unchecked,
        problems,
        notes,
        words: Words {
            conditions: explanation.conditions,
            missed: explanation.missed,
            chance: explanation.chance,
        },
    }
}

fn run_name(inputs: &RunInputs) -> String {
    if !inputs.name.raw.is_empty() {
        return inputs.name.raw.clone();
    }
    let trace = inputs.traces.first().map(|t| t.label.clone());
    let patch = || inputs.patch_file.as_ref().map(|p| p.display().to_string());
    trace.or_else(patch).unwrap_or_default()
}

fn path(inputs: &RunInputs) -> String {
    inputs
        .dir
        .as_ref()
        .map_or_else(|| run_name(inputs), |dir| dir.display().to_string())
}

fn trace_info(trace: &TraceReport, facts: &RunFacts) -> TraceInfo {
    TraceInfo {
        coverage: facts.measures.coverage,
        reasons: facts.coverage_reasons.clone(),
        files: trace.files.clone(),
    }
}

fn inputs_info(inputs: &RunInputs, facts: &RunFacts) -> InputsInfo {
    let base = facts.sources.base_info();
    InputsInfo {
        gt: facts.sources.gt_label.clone(),
        gt_sha256: facts.sources.gt.as_ref().map(|gt| gt.sha256.clone()),
        base: base.and_then(|base| base_name(base, inputs)),
        base_source: base.map(|base| base.source.name().to_owned()),
        prompt: inputs.prompt.as_ref().map(|p| p.label.clone()),
        facts: inputs.facts_file.as_ref().map(|p| p.display().to_string()),
    }
}

fn base_name(base: &BaseInfo, inputs: &RunInputs) -> Option<String> {
    let directory = || inputs.base_tree.as_ref().map(|p| p.display().to_string());
    base.commit.clone().or_else(directory)
}

/// What the verdict does not rest on, most important first.
fn unchecked_parts(inputs: &RunInputs, facts: &RunFacts) -> Vec<String> {
    let mut out = Vec::new();
    match facts.measures.coverage {
        Coverage::Full => {}
        Coverage::Partial => out.extend(facts.coverage_reasons.iter().cloned()),
        Coverage::SummaryOnly => {
            out.push("tool calls (the trace holds only a final message)".to_owned());
        }
        Coverage::Missing => out.push("what the agent did (there is no readable trace)".to_owned()),
    }
    if facts.sources.gt.is_none() {
        out.push("similarity (there is no ground truth)".to_owned());
    }
    if facts.sources.patch.is_none() && facts.measures.patch == PatchState::Absent {
        out.push("similarity (there is no patch and no work tree)".to_owned());
    }
    if inputs.task_facts.pull_request.is_none() && inputs.task_facts.gt_commit.is_none() {
        out.push("whether the task's own pull request was reached (no task facts)".to_owned());
    }
    out
}

/// Rules that had nothing to look for, since the facts they name are not known.
fn inactive_rules(facts: &RunFacts) -> Option<String> {
    let inactive = &facts.rules.inactive;
    let missing: BTreeSet<_> = inactive.iter().map(|r| r.missing_fact.as_str()).collect();
    let missing: Vec<_> = missing.into_iter().collect();
    (!inactive.is_empty()).then(|| {
        format!(
            "rules not used since the task's facts lack {}: {}",
            missing.join(", "),
            inactive.len()
        )
    })
}
