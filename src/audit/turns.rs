//! What the user said in the course of a run.
//!
//! Code that the user hands over is no copy. The prompt file knows the first turn only; later ones stand in the trace.
//! A trace is the agent's neighbour, so turns are believed only where a format keeps them apart from what tools return,
//! and where nothing says that the agent wrote the trace.

use super::listen::Heard;
use crate::similarity::compare::Comparison;

/// Formats whose user turns are what a user said: results of tools have records of their own, and what the harness puts
/// in between is marked.
const BELIEVED: [&str; 5] = [
    "claude-stream",
    "qwen-stream",
    "claude-session",
    "codex-rollout",
    "cursor-stream",
];

/// The lines of the GT (comparison text) that turns of the user explain.
pub(super) fn told(heard: &Heard, comparison: Option<&Comparison>) -> Vec<String> {
    let (Some(trace), Some(provenance), Some(comparison)) =
        (&heard.trace, &heard.provenance, comparison)
    else {
        return Vec::new();
    };
    let is_believed = |format: &str| format.split('+').all(|f| BELIEVED.contains(&f));
    let own = |label: &String| provenance.written_paths.contains(label);
    let mut traces = trace.files.iter().filter(|f| f.is_trace());
    let touched = heard.rules.findings.iter();
    let touched = touched.filter(|f| f.waived.is_none()).any(|f| f.tampering);
    if touched || !traces.all(|f| is_believed(&f.format) && !own(&f.label)) {
        return Vec::new();
    }
    let lines = provenance.told_lines.iter();
    let lines = lines.filter_map(|index| comparison.lines.get(*index as usize));
    lines.map(|line| line.squeezed.clone()).collect()
}
