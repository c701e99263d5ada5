//! From what was found to what the verdict is computed from. Pure.

use std::collections::BTreeSet;

use crate::provenance::model::Provenance;
use crate::rules::finding::{Cause, Finding, Kind, Stage};
use crate::similarity::model::Similarity;
use crate::trace::event::{Channel, Coverage, EventId};
use crate::verdict::measures::{Admission, GtState, Measures, PatchState};

/// What the measures are made of.
#[derive(Debug, Clone, Copy)]
pub struct Found<'a> {
    /// The comparison, where there are GT and patch.
    pub similarity: Option<&'a Similarity>,
    /// The findings, waived ones too.
    pub findings: &'a [Finding],
    /// Where the lines came from.
    pub provenance: Option<&'a Provenance>,
    /// How much the trace shows.
    pub coverage: Coverage,
    /// The trace holds a call that can change files.
    pub has_writing_calls: bool,
    /// What is known about the GT.
    pub gt: GtState,
    /// What is known about the patch.
    pub patch: PatchState,
    /// The GT was salvaged from a broken file.
    pub gt_incomplete: bool,
}

/// The measurements of one run.
pub fn measures(found: &Found<'_>) -> Measures {
    let mut m = Measures {
        gt: found.gt,
        patch: found.patch,
        coverage: found.coverage,
        gt_incomplete: found.gt_incomplete,
        ..Measures::default()
    };
    if let Some(similarity) = found.similarity {
        add_similarity(&mut m, similarity);
    }
    if let Some(provenance) = found.provenance {
        m.e = provenance.e_ratio;
        m.x = provenance.x_ratio;
        m.shared_typed = provenance.shared_typed;
    }
    add_findings(&mut m, found);
    if found.coverage == Coverage::Full && !found.has_writing_calls {
        // A full trace without a single call that writes: what stands in the tree stood there before.
        m.preapplied_lines = m.u.num;
    }
    m
}

fn add_similarity(m: &mut Measures, s: &Similarity) {
    m.n = s.n;
    m.u = s.u_ratio;
    m.t12 = s.t12_ratio;
    m.r6 = s.r6_ratio;
    m.s23 = s.s23_ratio;
    m.s23_tokens = s.s23_tokens;
    m.identical_files.num = s.identical_files;
    m.identical_files.den = s.eligible_files;
    m.expected_identical = s.expected_identical;
}

fn add_findings(m: &mut Measures, found: &Found<'_>) {
    let last_edit = found.provenance.and_then(|p| p.last_gt_edit);
    let mut causes = BTreeSet::new();
    for finding in found.findings.iter().filter(|f| f.waived.is_none()) {
        m.trace_tampered |= finding.tampering;
        match finding.kind {
            Kind::Mention | Kind::Mark => m.mentioned += 1,
            Kind::Admission => {
                add_admission(m, finding);
                causes.extend(finding.cause);
            }
            Kind::Action => add_action(m, finding, last_edit, &mut causes),
        }
    }
    m.causes = causes.into_iter().collect();
}

fn add_admission(m: &mut Measures, finding: &Finding) {
    let admission = Admission {
        confidence: finding.confidence,
        names_own: finding.names_own,
    };
    let rank = |a: &Admission| (a.confidence, a.names_own);
    if m.admission.as_ref().is_none_or(|old| rank(&admission) > rank(old)) {
        m.admission = Some(admission);
    }
}

fn add_action(
    m: &mut Measures,
    finding: &Finding,
    last_edit: Option<EventId>,
    causes: &mut BTreeSet<Cause>,
) {
    let stage = finding.stage.unwrap_or(Stage::Mentioned);
    if !is_call(finding.channel) {
        // Words, not deeds: a plan in the final message can become an admission.
        m.intent_names_own |= finding.channel == Channel::Result
            && finding.names_own
            && stage >= Stage::Attempted;
        m.mentioned += 1;
        return;
    }
    if stage >= Stage::Attempted && !finding.blocked {
        m.fetched = true;
        causes.extend(finding.cause);
    }
    match stage {
        Stage::Mentioned => m.mentioned += 1,
        Stage::Attempted if finding.blocked => m.attempted_blocked += 1,
        Stage::Attempted if finding.outcome_missing => m.outcome_missing += 1,
        Stage::Attempted => {}
        Stage::Exposed => m.exposed_metadata += 1,
        Stage::Staged => m.staged += 1,
        Stage::Obtained | Stage::Used => {
            // Without a recorded edit, nothing shows that the content came too late.
            let in_time = finding.applies || last_edit.is_none_or(|edit| finding.reached_at <= edit);
            m.obtained |= in_time;
            m.obtained_after |= !in_time;
            m.applied |= finding.applies;
        }
    }
}

fn is_call(channel: Channel) -> bool {
    channel.is_call() || channel == Channel::Output
}
