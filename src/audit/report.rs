//! From facts and judgement to the report of a run.

use std::collections::BTreeSet;

use super::{RunFacts, alike};
use crate::report::Lang;
use crate::report::model::{RunReport, TraceInfo, Words};
use crate::trace::TraceReport;
use crate::verdict::explain::{audit_log_word, explain};
use crate::verdict::judge::Judgement;
use crate::verdict::measures::Measures;
use crate::verdict::policy::Policy;

/// The report of a run that was judged by `measures`.
pub(super) fn report(
    facts: &RunFacts,
    measures: &Measures,
    judgement: &Judgement,
    policy: &Policy,
    lang: Lang,
) -> RunReport {
    let explanation = explain(measures, policy, lang);
    let mut notes = Vec::new();
    let comparison = facts.comparison.as_ref();
    if let Some(comparison) = comparison {
        notes.extend(comparison.notes.iter().cloned());
    }
    notes.extend(facts.rules.notes.iter().cloned());
    notes.extend(inactive_rules(facts));
    let id = facts.identity.clone();
    RunReport {
        run: id.run,
        path: id.path,
        task: id.task,
        agent: id.agent,
        prompt_variant: id.prompt_variant,
        date: id.date,
        excluded: id.excluded,
        error: None,
        verdict: Some(judgement.verdict),
        author_label: Some(judgement.author_label),
        reason: Some(judgement.reason),
        clause: Some(judgement.clause),
        confidence: Some(judgement.confidence),
        causes: judgement.causes.clone(),
        flags: judgement.flags.clone(),
        trace: facts.trace.as_ref().map(|t| trace_info(t, facts)),
        similarity: comparison.map(|c| c.similarity.clone()),
        provenance: facts.provenance.clone(),
        measures: Some(measures.clone()),
        findings: facts.rules.findings.clone(),
        inputs: facts.inputs.clone(),
        unchecked: facts.unchecked.clone(),
        problems: facts.problems.clone(),
        notes,
        detail: None,
        words: Words {
            conditions: explanation.conditions,
            missed: explanation.missed,
            chance: explanation.chance,
            alike: comparison.map_or_else(Vec::new, |c| alike::sentences(c, lang)),
            audit_log: Some(audit_log_word(measures, policy)),
        },
    }
}

fn trace_info(trace: &TraceReport, facts: &RunFacts) -> TraceInfo {
    TraceInfo {
        coverage: facts.measures.coverage,
        reasons: facts.coverage_reasons.clone(),
        files: trace.files.clone(),
    }
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
