//! One run from its inputs to its report: facts first, then the judgement.
//!
//! [`Auditor::facts`] is a function of one run's inputs and the rules; a [`Judge`] is cheap and looks at
//! facts and policy only. That split lets facts be stored, and many runs be judged together, or again
//! with other numbers.

mod alike;
mod apart;
mod ears;
mod facts;
mod gt_lines;
mod harness;
mod left_behind;
mod listen;
pub mod prints;
mod reading;
mod refine;
mod report;
pub mod scan;
mod search;
mod sources;
mod starter;
mod turns;

use std::collections::BTreeSet;

use crate::Result;
use crate::experiment::discover::RunInputs;
use crate::report::Lang;
use crate::report::model::{Detail, InputsInfo, RunReport, ToolInfo};
use crate::rules::RuleSet;
use crate::similarity::blocks::blocks;
use crate::similarity::compare::Comparison;
use crate::similarity::model::{DistinctiveLine, Ratio};
use crate::trace::TraceReport;
use crate::trace::event::Coverage;
use crate::verdict::judge::judge;
use crate::verdict::measures::{GtState, Measures};
use crate::verdict::policy::Policy;

use harness::Faults;
use listen::Heard;
use prints::Prints;
use reading::Reading;
use sources::Sources;
use starter::StarterCache;

pub use facts::{FACTS_SCHEMA, RunFacts, RunIdentity};

/// Judges runs by one set of rules and one policy.
pub struct Auditor<'a> {
    rules: &'a RuleSet,
    policy: &'a Policy,
    lang: Lang,
    starters: StarterCache,
}

impl<'a> Auditor<'a> {
    /// An auditor whose words are in `lang`.
    pub fn new(rules: &'a RuleSet, policy: &'a Policy, lang: Lang) -> Self {
        Self {
            rules,
            policy,
            lang,
            starters: StarterCache::default(),
        }
    }

    /// What made the reports.
    pub fn tool(&self) -> ToolInfo {
        self.judge_of_facts().tool(self.rules.digest())
    }

    /// Reads everything that belongs to a run. May be called from several threads at once; look-ups in the
    /// starter tree of a task are shared between its runs.
    ///
    /// # Errors
    /// When an input that was found or named cannot be read.
    pub fn facts(&self, inputs: &RunInputs) -> Result<RunFacts> {
        let (facts, _) = facts(inputs, self.rules, &self.starters)?;
        Ok(facts)
    }

    /// Compares a patch or work tree with the GT and nothing else, whatever traces there are: the verdict that
    /// similarity alone carries, with the blocks of lines that both have as detail.
    ///
    /// # Errors
    /// When an input that was found or named cannot be read.
    pub fn compare(&self, mut inputs: RunInputs) -> Result<RunReport> {
        inputs.traces.clear();
        let (facts, reading) = facts(&inputs, self.rules, &self.starters)?;
        let sources = reading.sources;
        let mut report = self.judge(&facts);
        // Of the inputs, only those of a comparison can be missing.
        report.problems = sources.problems;
        report.unchecked = sources.unchecked;
        let trace = "what the agent did (a comparison reads no trace)";
        report.unchecked.push(trace.to_owned());
        let matching_blocks = match (&sources.gt, &sources.patch, &facts.comparison) {
            (Some(gt), Some(patch), Some(comparison)) => blocks(&gt.patch, patch, comparison),
            _ => Vec::new(),
        };
        let comparison = facts.comparison.iter();
        report.detail = Some(Detail {
            matching_blocks,
            matching_remarks: comparison.flat_map(alike::matching_remarks).collect(),
        });
        Ok(report)
    }

    /// The verdict on a run, and all that it rests on.
    pub fn judge(&self, facts: &RunFacts) -> RunReport {
        self.judge_of_facts().judge(facts, &facts.measures)
    }

    /// The part of the auditor that judges.
    pub fn judge_of_facts(&self) -> Judge<'a> {
        Judge {
            policy: self.policy,
            lang: self.lang,
        }
    }
}

/// Judges facts, whoever gathered them.
#[derive(Debug, Clone, Copy)]
pub struct Judge<'a> {
    /// The numbers of the verdict.
    pub policy: &'a Policy,
    /// Language of the words.
    pub lang: Lang,
}

impl Judge<'_> {
    /// What makes the reports, with rules of that digest.
    pub fn tool(&self, rules_digest: String) -> ToolInfo {
        ToolInfo {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rules_digest,
            policy: Some(self.policy.name.clone()),
            policy_digest: Some(self.policy.digest()),
        }
    }

    /// The verdict on a run by `measures`: those of the facts, or what other runs made of them.
    pub fn judge(&self, facts: &RunFacts, measures: &Measures) -> RunReport {
        let judgement = judge(measures, self.policy);
        report::report(facts, measures, &judgement, self.policy, self.lang)
    }
}

/// Reads everything that belongs to a run: a function of its inputs and the rules. A run of which it is not
/// certain of what task it is, is read as one of each, and the worst is taken (by the default policy, so that
/// facts do not depend on another): the agent could have named the task.
fn facts(
    inputs: &RunInputs,
    rules: &RuleSet,
    starters: &StarterCache,
) -> Result<(RunFacts, Reading)> {
    let mut worst = facts_of_task(inputs, rules, starters)?;
    if inputs.rivals.is_empty() {
        return Ok(worst);
    }
    let policy = Policy::default();
    let weight = |facts: &RunFacts| {
        let verdict = judge(&facts.measures, &policy).verdict;
        (verdict, facts.measures.copy_score())
    };
    for rival in &inputs.rivals {
        let next = facts_of_task(rival, rules, starters)?;
        if weight(&next.0) > weight(&worst.0) {
            worst = next;
        }
    }
    let all = std::iter::once(inputs).chain(&inputs.rivals);
    let tasks: Vec<&str> = all.filter_map(|i| i.task.as_deref()).collect();
    let note = format!(
        "judged as a run of each task that it may be of ({}), by the worst: {}",
        tasks.join(", "),
        worst.0.identity.task.as_deref().unwrap_or_default()
    );
    // What the sources said stands in the notes of the first.
    let said = inputs
        .notes
        .iter()
        .find(|n| n.starts_with("the task is contradicted"));
    worst
        .0
        .problems
        .retain(|p| Some(p) != said && !p.starts_with("the task is contradicted"));
    worst
        .0
        .problems
        .splice(0..0, said.cloned().into_iter().chain([note]));
    Ok(worst)
}

/// Reads everything that belongs to a run of one task.
fn facts_of_task(
    inputs: &RunInputs,
    rules: &RuleSet,
    starters: &StarterCache,
) -> Result<(RunFacts, Reading)> {
    let prompt = trusted_prompt(inputs);
    let prompt = prompt.as_deref();
    let (mut reading, mut heard, faults) = read(inputs, rules, starters, prompt)?;
    let comparison = reading.comparison.take();
    let left = left_behind::left_behind(inputs, &mut reading.sources, comparison.as_ref());
    let sources = &reading.sources;

    let content_unrecorded = refined(&mut heard, comparison.as_ref());
    let mut measures = Measures {
        content_unrecorded,
        gt: gt_state(inputs, sources),
        patch: sources.patch_state,
        coverage: heard.coverage,
        gt_incomplete: sources
            .gt
            .as_ref()
            .is_some_and(|gt| !gt.patch.problems.is_empty()),
        preapplied_lines: sources.preapplied_lines,
        stood_there: faults.preapplied,
        harness_copy: !faults.copied.is_empty(),
        told: reading.told,
        handed_over: reading.handed_over,
        not_compared: sources.not_compared + faults.doubtful,
        ..Measures::default()
    };
    if let Some(comparison) = &comparison {
        measures.take_similarity(&comparison.similarity);
        measures.with_residue = residue(sources, comparison);
    }
    take_trace(&mut measures, &heard, comparison.as_ref());
    if measures.coverage == Coverage::Full && measures.copy_score() >= ALIKE {
        measures.shapes = reading.shapes(comparison.as_ref(), prompt);
    }
    let lines = comparison.as_ref().map_or(&[][..], |c| c.lines.as_slice());
    let prints = Prints::new(lines, &heard.added, prompt, heard.provenance.as_ref());
    let mut problems = inputs.notes.clone();
    problems.extend(sources.problems.iter().cloned());
    if !heard.unread.is_empty() {
        problems.push(format!(
            "not read: {} (session logs that no id ties to a trace of this run; to read one with the others, name all of them with --trace)",
            listen::shortened(&heard.unread)
        ));
    }
    problems.extend(left.iter().map(left_behind::note));
    let facts = RunFacts {
        identity: RunIdentity::new(inputs),
        unchecked: facts::unchecked(inputs, sources, measures.coverage, &heard.reasons),
        inputs: InputsInfo {
            left_behind: left,
            ..facts::inputs_info(inputs, sources)
        },
        measures,
        comparison,
        trace: heard.trace,
        coverage_reasons: heard.reasons,
        rules: heard.rules,
        provenance: heard.provenance,
        prints,
        problems,
    };
    Ok((facts, reading))
}

/// Findings and provenance brought together; true when something was certainly obtained and the trace does not hold what.
fn refined(heard: &mut Heard, comparison: Option<&Comparison>) -> bool {
    let missing = |t: &TraceReport| !t.missing_children.is_empty();
    if heard.trace.as_ref().is_some_and(missing) {
        refine::missing_child(&mut heard.rules.findings);
    }
    let (Some(provenance), Some(comparison)) = (&heard.provenance, comparison) else {
        return false;
    };
    let size = refine::Size {
        n16: comparison.similarity.n16,
        kept: comparison.similarity.u_ratio,
    };
    let unrecorded = refine::refine(&mut heard.rules.findings, provenance, size);
    refine::add_unclear(&mut heard.rules, provenance);
    unrecorded
}

/// What the traces add to the measures.
fn take_trace(measures: &mut Measures, heard: &Heard, comparison: Option<&Comparison>) {
    let findings = &heard.rules.findings;
    let Some(provenance) = &heard.provenance else {
        measures.take_findings(findings, None);
        return;
    };
    measures.take_provenance(provenance);
    let brought = refine::brought_in(provenance, comparison);
    measures.outcome_missing += u64::from(brought);
    measures.take_findings(findings, provenance.last_gt_edit);
    measures.explain_imports(provenance);
}

/// When the run's own metadata names another task than its directory, and that one is not known, nobody knows which
/// reference is the right one.
fn gt_state(inputs: &RunInputs, sources: &Sources) -> GtState {
    if inputs.task_disputed && inputs.rivals.is_empty() && sources.gt.is_some() {
        GtState::DoesNotFit
    } else {
        sources.gt_state
    }
}

/// A patch that is less like the GT is accused of no copy by its size.
const ALIKE: f64 = 0.5;

/// Distinctive lines of the GT in the patch or in copies that lie in the run and are no work; nothing where
/// there is no such copy.
fn residue(sources: &Sources, comparison: &Comparison) -> Ratio {
    if sources.residue.is_empty() {
        return Ratio::default();
    }
    let there = |line: &&DistinctiveLine| line.shared || sources.residue.contains(&line.squeezed);
    let lines = comparison.lines.iter();
    Ratio::new(
        lines.filter(there).count() as u64,
        comparison.lines.len() as u64,
    )
}

/// Reads a run's inputs and its traces, again where the traces show what belongs to the agent's work and what
/// does not.
fn read(
    inputs: &RunInputs,
    rules: &RuleSet,
    starters: &StarterCache,
    prompt: Option<&str>,
) -> Result<(Reading, Heard, Faults)> {
    let none = BTreeSet::new();
    let mut reading = Reading::best(inputs, &none, starters, prompt)?;
    let mut heard = reading.listen(inputs, rules, prompt)?;
    // Files under names of the evaluation that the agent wrote are its work. That shows in the trace, which
    // is read with the work at hand: in the rare case both are read again.
    let own = reading
        .sources
        .written_by_the_agent(inputs, heard.provenance.as_ref());
    if !own.is_empty() {
        reading = Reading::best(inputs, &own, starters, prompt)?;
        heard = reading.listen(inputs, rules, prompt)?;
    }
    reading.tables(&mut heard, prompt);
    let mut told = turns::told(&heard, reading.comparison.as_ref());
    told.asked = reading.asked_only(inputs, prompt, &heard);
    if !(told.lines.is_empty() && told.asked.is_empty()) {
        reading.told(inputs, prompt, &told);
        heard = reading.follow_again(heard, inputs, prompt)?;
    }
    let faults = harness::faults(&heard, reading.comparison.as_ref(), &reading.sources.apart);
    if !faults.copied.is_empty() {
        reading.without(inputs, &faults, prompt);
        heard = reading.listen(inputs, rules, prompt)?;
    }
    Ok((reading, heard, faults))
}

/// The prompt as far as it can be believed whatever the trace says.
///
/// The copy in the run directory is what the agent saw, and the agent could have written the answer
/// into it. So where the benchmark has a prompt too, only the lines that stand in both count; others
/// where the trace shows that nothing wrote them ([`Reading::asked_only`]).
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
