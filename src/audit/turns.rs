//! What the user said in the course of a run.
//!
//! Code that the user hands over is no copy. The prompt file knows the first turn only; later ones stand in the trace.
//! A trace is the agent's neighbour, so turns are believed only where a format keeps them apart from what tools return
//! and from what the harness says in the user's name, and where nothing says that the agent wrote the trace. Which turns
//! those are, `trace::formats::user_turn` and `provenance::turns` know.
//!
//! Even so nobody knows where the user had the code. So what turns explain is said aloud, and where the verdict would
//! hang on them it is that it cannot be told.

use std::collections::BTreeSet;

use super::listen::Heard;
use crate::provenance::model::Provenance;
use crate::rules::finding::{Finding, Kind, Stage};
use crate::similarity::compare::Comparison;
use crate::similarity::model::Similarity;

/// Formats whose fields tell the user's own turns from others.
const BELIEVED: [&str; 4] = [
    "claude-stream",
    "claude-session",
    "codex-rollout",
    "cursor-stream",
];

/// Sizes of the GT at which clauses of the table begin (4, 6, 5, 12).
const SIZES: [u64; 6] = [1, 8, 16, 32, 50, 100];

/// Turns that are named.
const NAMED: usize = 5;

/// What turns of the user explain.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// Lines of the GT (comparison text).
    pub(super) lines: Vec<String>,
    /// Where the turns stand.
    pub(super) places: String,
    /// How many of them came with what the prompt names, or from tools, and where.
    pub(super) given: usize,
    pub(super) given_places: String,
    /// Other lines: those that stand in the run's own copy of the prompt alone, which no call can have written.
    pub(super) asked: Vec<String>,
}

/// So many of the lines that calls brought, in the patch, and such a share of the GT, are what a leak of a part is made of.
const PART: u64 = 8;
const SHARE_OF_PART: u64 = 10;

/// Whether a verdict would hang on what was told: the patch holds so much of what calls brought that it would be the copy
/// of a part, had it come from elsewhere; or the GT shrank to nothing, or to a size at which less is said or by half, and
/// the patch held much of it before.
pub(super) fn decides(before: &Comparison, after: &Similarity, told: &Told) -> bool {
    let given = told.lines.iter().take(told.given).map(String::as_str);
    let given: BTreeSet<&str> = given.collect();
    let used = before.lines.iter().filter(|line| line.shared);
    let used = used.filter(|l| given.contains(l.squeezed.as_str())).count() as u64;
    let before = &before.similarity;
    if used >= PART && used * SHARE_OF_PART >= before.n {
        return true;
    }
    let class = |n: u64| SIZES.iter().filter(|size| n >= **size).count();
    let (was, is) = (before.n, after.n);
    let alike = before
        .copy_score
        .unwrap_or(0.0)
        .max(before.u.unwrap_or(0.0))
        >= 0.5
        || before.identical_files > after.identical_files;
    is < was && (is == 0 || alike && (class(is) < class(was) || is * 2 <= was))
}

/// The lines of the GT that turns of the user explain, and where.
pub(super) fn told(heard: &Heard, comparison: Option<&Comparison>) -> Told {
    let (Some(trace), Some(provenance), Some(comparison)) =
        (&heard.trace, &heard.provenance, comparison)
    else {
        return Told::default();
    };
    let is_believed = |format: &str| format.split('+').all(|f| BELIEVED.contains(&f));
    let own = |label: &String| provenance.written_paths.contains(label);
    let mut traces = trace.files.iter().filter(|f| f.is_trace());
    let touched = heard.rules.findings.iter();
    let touched = touched.filter(|f| f.waived.is_none()).any(|f| f.tampering);
    if touched {
        return Told::default();
    }
    let mut out = given(heard, provenance, comparison);
    if !traces.all(|f| is_believed(&f.format) && !own(&f.label)) {
        return out;
    }
    let lines = provenance.told_lines.iter();
    let lines = lines.filter_map(|index| comparison.lines.get(*index as usize));
    let places = provenance.told_at.iter().take(NAMED).map(|(file, line)| {
        let label = trace.files.get(*file as usize).map(|f| f.label.as_str());
        format!("{}:{line}", label.unwrap_or_default())
    });
    let mut places: Vec<String> = places.collect();
    if provenance.told_at.len() > NAMED {
        places.push("…".to_owned());
    }
    out.lines.extend(lines.map(|line| line.squeezed.clone()));
    out.places = places.join(", ");
    out
}

/// What calls brought that took what the prompt names, or did what it orders. Where a rule says of one of them that it
/// aimed at reference material, the prompt hands nothing over.
fn given(heard: &Heard, provenance: &Provenance, comparison: &Comparison) -> Told {
    let aims = |f: &Finding| {
        f.kind == Kind::Action
            && f.waived.is_none()
            && f.stage > Some(Stage::Mentioned)
            && provenance.given_at.contains_key(&f.event)
    };
    if provenance.given_lines.is_empty() || heard.rules.findings.iter().any(aims) {
        return Told::default();
    }
    let lines = provenance.given_lines.iter();
    let lines = lines.filter_map(|index| comparison.lines.get(*index as usize));
    let lines: Vec<String> = lines.map(|line| line.squeezed.clone()).collect();
    let label = |file: u32| {
        let file = heard
            .trace
            .as_ref()
            .and_then(|t| t.files.get(file as usize));
        file.map(|f| f.label.as_str()).unwrap_or_default()
    };
    let places = provenance.given_at.values().take(NAMED);
    let places = places.map(|(file, line)| format!("{}:{line}", label(*file)));
    Told {
        given: lines.len(),
        given_places: places.collect::<Vec<_>>().join(", "),
        lines,
        ..Told::default()
    }
}
