//! One run from its inputs to its report: facts first, then the judgement.
//!
//! [`Auditor::facts`] is a function of one run's inputs and the rules; [`Auditor::judge`] is cheap and looks at
//! facts and policy only. That split lets many runs be judged together, or again with other numbers.

mod listen;
mod refine;
mod report;
pub mod scan;
mod sources;

use std::collections::BTreeSet;

use crate::Result;
use crate::experiment::discover::RunInputs;
use crate::provenance::model::Provenance;
use crate::report::Lang;
use crate::report::model::{RunReport, ToolInfo};
use crate::rules::{EngineReport, RuleSet};
use crate::similarity::compare::{CompareInputs, Comparison, compare};
use crate::similarity::starter::{NoStarter, Starter};
use crate::trace::TraceReport;
use crate::verdict::judge::judge;
use crate::verdict::measures::{GtState, Measures};
use crate::verdict::policy::Policy;

use sources::{BaseFiles, Sources};

/// What is known of one run after everything was read: the input of the judgement.
pub struct RunFacts {
    /// The verdict's input.
    pub measures: Measures,
    /// The comparison, with a GT.
    pub comparison: Option<Comparison>,
    /// What the trace showed; `None` without a trace file.
    pub trace: Option<TraceReport>,
    /// Why the trace shows no more, in words.
    pub coverage_reasons: Vec<String>,
    /// What the rules found.
    pub rules: EngineReport,
    /// Where the lines came from; `None` without a GT or a trace.
    pub provenance: Option<Provenance>,
    /// GT, patch and base.
    sources: Sources,
}

/// Judges runs by one set of rules and one policy.
pub struct Auditor<'a> {
    rules: &'a RuleSet,
    policy: &'a Policy,
    lang: Lang,
}

impl<'a> Auditor<'a> {
    /// An auditor whose words are in `lang`.
    pub fn new(rules: &'a RuleSet, policy: &'a Policy, lang: Lang) -> Self {
        Self {
            rules,
            policy,
            lang,
        }
    }

    /// What made the reports.
    pub fn tool(&self) -> ToolInfo {
        ToolInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rules_digest: self.rules.digest(),
            policy: Some(self.policy.name.clone()),
            policy_digest: Some(self.policy.digest()),
        }
    }

    /// Reads everything that belongs to a run.
    ///
    /// # Errors
    /// When an input that was found or named cannot be read.
    pub fn facts(&self, inputs: &RunInputs) -> Result<RunFacts> {
        facts(inputs, self.rules)
    }

    /// The verdict on a run, and all that it rests on.
    pub fn judge(&self, inputs: &RunInputs, facts: &RunFacts) -> RunReport {
        let judgement = judge(&facts.measures, self.policy);
        report::report(inputs, facts, &judgement, self.policy, self.lang)
    }
}

/// Reads everything that belongs to a run: a function of its inputs and the rules.
fn facts(inputs: &RunInputs, rules: &RuleSet) -> Result<RunFacts> {
    let sources = sources::read(inputs)?;
    let prompt = trusted_prompt(inputs);
    let comparison = compare_with_gt(inputs, &sources, prompt.as_deref());
    let mut heard = listen::listen(
        inputs,
        rules,
        &sources,
        comparison.as_ref(),
        prompt.as_deref(),
    )?;

    let content_unrecorded = match (&heard.provenance, &comparison) {
        (Some(provenance), Some(comparison)) => refine::refine(
            &mut heard.rules.findings,
            provenance,
            comparison.similarity.n16,
        ),
        _ => false,
    };

    let mut measures = Measures {
        content_unrecorded,
        // When the run's own metadata names another task than its directory, nobody knows which
        // reference is the right one.
        gt: if inputs.task_disputed && sources.gt.is_some() {
            GtState::DoesNotFit
        } else {
            sources.gt_state
        },
        patch: sources.patch_state,
        coverage: heard.coverage,
        gt_incomplete: sources
            .gt
            .as_ref()
            .is_some_and(|gt| !gt.patch.problems.is_empty()),
        preapplied_lines: sources.preapplied_lines,
        not_compared: sources.not_compared,
        ..Measures::default()
    };
    if let Some(comparison) = &comparison {
        measures.take_similarity(&comparison.similarity);
    }
    if let Some(provenance) = &heard.provenance {
        measures.take_provenance(provenance);
    }
    let last_edit = heard.provenance.as_ref().and_then(|p| p.last_gt_edit);
    measures.take_findings(&heard.rules.findings, last_edit);
    Ok(RunFacts {
        measures,
        comparison,
        trace: heard.trace,
        coverage_reasons: heard.reasons,
        rules: heard.rules,
        provenance: heard.provenance,
        sources,
    })
}

/// The prompt as far as it can be believed.
///
/// The copy in the run directory is what the agent saw, and the agent could have written the answer
/// into it. So where the benchmark has a prompt too, only the lines that stand in both count.
fn trusted_prompt(inputs: &RunInputs) -> Option<String> {
    let seen = inputs.prompt.as_ref()?;
    let Some(benchmark) = &inputs.benchmark_prompt else {
        return Some(seen.text.clone());
    };
    let known: BTreeSet<&str> = benchmark.text.lines().map(str::trim).collect();
    let both: Vec<&str> = seen
        .text
        .lines()
        .filter(|line| known.contains(line.trim()))
        .collect();
    Some(both.join("\n"))
}

fn compare_with_gt(
    inputs: &RunInputs,
    sources: &Sources,
    prompt: Option<&str>,
) -> Option<Comparison> {
    let gt = sources.gt.as_ref()?;
    let base = sources.tree().map(BaseFiles);
    let starter: &dyn Starter = match &base {
        Some(base) => base,
        None => &NoStarter,
    };
    Some(compare(&CompareInputs {
        gt: &gt.patch,
        patch: sources.patch.as_ref(),
        handwritten: inputs.handwritten.as_ref(),
        generated: inputs.generated.as_ref(),
        starter,
        prompt,
        files: base.as_ref().map(|b| b as _),
    }))
}
