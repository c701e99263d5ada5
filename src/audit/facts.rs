//! What is known of one run after everything was read: the input of the judgement.

use serde::{Deserialize, Serialize};

use super::prints::Prints;
use super::sources::Sources;
use crate::experiment::discover::RunInputs;
use crate::patch::BaseInfo;
use crate::provenance::model::Provenance;
use crate::report::model::InputsInfo;
use crate::rules::EngineReport;
use crate::similarity::compare::Comparison;
use crate::trace::TraceReport;
use crate::trace::event::Coverage;
use crate::verdict::measures::{Measures, PatchState};
use crate::verdict::peers::{PeerFacts, family};

/// Version of the stored form of [`RunFacts`]. To be raised whenever a type inside changes its shape
/// or a member its meaning: a store of another version is not read.
pub const FACTS_SCHEMA: &str = "trace-audit-facts/6";

/// Which run this is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunIdentity {
    /// Name of the run directory, or of the trace or patch where there is none.
    pub run: String,
    /// Path as given.
    pub path: String,
    /// Task id.
    pub task: Option<String>,
    /// Agent configuration.
    pub agent: Option<String>,
    /// `long` or `short`.
    pub prompt_variant: Option<String>,
    /// Date of the run, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// The directory is marked as out of the evaluation (`-INVALID`).
    pub excluded: bool,
}

/// All that judging a run needs, and all that its report shows. It refers to nothing outside itself,
/// so it can be stored, sent to another machine and judged there, with other numbers or other runs
/// beside it. To be written inside [`crate::stored::whole`].
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunFacts {
    /// Which run.
    pub identity: RunIdentity,
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
    /// What other runs are compared with.
    pub prints: Prints,
    /// The inputs.
    pub inputs: InputsInfo,
    /// What could not be checked, in words, most important first.
    pub unchecked: Vec<String>,
    /// What was wrong with the inputs, in words.
    pub problems: Vec<String>,
}

impl RunFacts {
    /// What this run says about the lines of its task, to runs of the same task; `None` without a GT.
    /// Take the discounts that come of it with [`Measures::take_peers`] before judging.
    pub fn peer_facts(&self) -> Option<PeerFacts> {
        let gt = self.inputs.gt_sha256.as_deref()?;
        let task = self.identity.task.as_deref().unwrap_or_default();
        let agent = self.identity.agent.as_deref().unwrap_or_default();
        Some(PeerFacts {
            task: format!("{task} {gt}"),
            family: family(agent).to_owned(),
            independent: self.measures.independent(),
            lines: self.prints.gt.as_slice().to_vec(),
            shared: self.prints.shared.as_slice().to_vec(),
            typed: self.prints.typed.as_slice().to_vec(),
        })
    }
}

impl RunIdentity {
    pub(super) fn new(inputs: &RunInputs) -> Self {
        let run = run_name(inputs);
        let dir = inputs.dir.as_ref();
        Self {
            path: dir.map_or_else(|| run.clone(), |dir| dir.display().to_string()),
            run,
            task: inputs.task.clone(),
            agent: inputs.agent.clone(),
            prompt_variant: inputs.prompt_variant.clone(),
            date: inputs.date.clone(),
            excluded: inputs.excluded,
        }
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

/// The inputs as the report names them.
pub(super) fn inputs_info(inputs: &RunInputs, sources: &Sources) -> InputsInfo {
    let base = sources.base_info();
    InputsInfo {
        gt: sources.gt_label.clone(),
        gt_sha256: sources.gt.as_ref().map(|gt| gt.sha256.clone()),
        base: base.and_then(|base| base_name(base, inputs)),
        base_source: base.map(|base| base.source.name().to_owned()),
        prompt: inputs.prompt.as_ref().map(|p| p.label.clone()),
        prompt_sha256: inputs.prompt.as_ref().map(|p| p.sha256.clone()),
        facts: inputs.facts_file.as_ref().map(|p| p.display().to_string()),
        left_behind: Vec::new(),
    }
}

fn base_name(base: &BaseInfo, inputs: &RunInputs) -> Option<String> {
    let directory = || inputs.base_tree.as_ref().map(|p| p.display().to_string());
    base.commit.clone().or_else(directory)
}

/// What the verdict does not rest on, most important first.
pub(super) fn unchecked(
    inputs: &RunInputs,
    sources: &Sources,
    coverage: Coverage,
    reasons: &[String],
) -> Vec<String> {
    let mut out = sources.unchecked.clone();
    match coverage {
        Coverage::Full => {}
        Coverage::Partial => out.extend(reasons.iter().cloned()),
        Coverage::SummaryOnly => {
            out.push("tool calls (the trace holds only a final message)".to_owned());
        }
        Coverage::Missing => out.push("what the agent did (there is no readable trace)".to_owned()),
    }
    if sources.gt.is_none() {
        out.push("similarity (there is no ground truth)".to_owned());
    }
    if sources.patch.is_none() && sources.patch_state == PatchState::Absent {
        out.push("similarity (there is no patch and no work tree)".to_owned());
    }
    if inputs.task_facts.pull_request.is_none() && inputs.task_facts.gt_commit.is_none() {
        out.push("whether the task's own pull request was reached (no task facts)".to_owned());
    }
    out
}
