//! Made-up facts for the tests of this module.

use super::entry::{Entry, EntryHead, Outcome};
use crate::audit::RunFacts;
use crate::audit::prints::{Hashes, LineHash, Prints};
use crate::report::model::InputsInfo;
use crate::rules::EngineReport;
use crate::similarity::model::Ratio;
use crate::trace::event::Coverage;
use crate::verdict::measures::{GtState, Measures, PatchState};

/// Facts of a run that nothing is known of.
pub(crate) fn facts() -> RunFacts {
    RunFacts {
        identity: Default::default(),
        measures: Measures::default(),
        comparison: None,
        trace: None,
        coverage_reasons: Vec::new(),
        rules: EngineReport::default(),
        provenance: None,
        prints: Prints::default(),
        inputs: InputsInfo::default(),
        unchecked: Vec::new(),
        problems: Vec::new(),
    }
}

/// A run of task T1 whose GT has the lines `0..n`, of which the patch has `shared` and the agent
/// typed `typed`.
pub(crate) fn entry(
    run: &str,
    agent: &str,
    n: u64,
    shared: impl IntoIterator<Item = LineHash>,
    typed: impl IntoIterator<Item = LineHash>,
) -> Entry {
    let shared: Hashes = shared.into_iter().collect();
    let mut facts = facts();
    facts.identity.run = run.to_owned();
    facts.identity.agent = Some(agent.to_owned());
    facts.identity.task = Some("T1".to_owned());
    facts.inputs.gt_sha256 = Some("gt of T1".to_owned());
    facts.measures = Measures {
        gt: GtState::Present,
        patch: PatchState::Present,
        coverage: Coverage::Full,
        n,
        u: Ratio::new(shared.as_slice().len() as u64, n),
        e: Ratio::new(0, n),
        ..Measures::default()
    };
    facts.prints = Prints {
        gt: (0..n).collect(),
        shared,
        typed: typed.into_iter().collect(),
        ..Prints::default()
    };
    Entry {
        head: EntryHead {
            run: run.to_owned(),
            path: format!("/srv/{run}"),
            task: Some("T1".to_owned()),
            agent: Some(agent.to_owned()),
            ..EntryHead::default()
        },
        outcome: Outcome::Facts(Box::new(facts)),
    }
}
