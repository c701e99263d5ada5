//! GT lines in what a run left behind: stashes, dropped commits, other branches. Evidence, never counted as work.

use std::collections::BTreeSet;

use super::sources::Sources;
use crate::experiment::discover::RunInputs;
use crate::patch::history::History;
use crate::report::model::LeftBehind;
use crate::similarity::compare::Comparison;
use crate::similarity::finder::LineFinder;

/// So many distinctive lines that the final tree has not make a commit worth mentioning: fewer may be coincidence,
/// and what the tree has is judged there.
const MIN_LINES: usize = 3;

/// Looks for distinctive lines of the GT in the commits of the run. What could not be read is added to the
/// problems of `sources`.
pub(super) fn left_behind(
    inputs: &RunInputs,
    sources: &mut Sources,
    comparison: Option<&Comparison>,
) -> Vec<LeftBehind> {
    let lines = comparison.map_or(&[][..], |c| c.lines.as_slice());
    let (Some(dir), false, None) = (&inputs.dir, lines.is_empty(), &inputs.patch_file) else {
        return Vec::new();
    };
    let commit = sources.base_info().and_then(|base| base.commit.clone());
    let Some(mut history) = History::open(dir, commit.as_deref()) else {
        return Vec::new();
    };
    let queries: BTreeSet<String> = lines.iter().map(|l| l.squeezed.clone()).collect();
    let shared: BTreeSet<&str> = lines
        .iter()
        .filter(|l| l.shared)
        .map(|l| l.squeezed.as_str())
        .collect();
    let mut finder = LineFinder::repeating(&queries);
    let mut found = Vec::new();
    for left in history.commits.clone() {
        history.visit(&left, sources.tree(), &mut |content| {
            // Reading from memory does not fail.
            let _ = finder.read(content);
        });
        let here = finder.take_found();
        let in_patch = here.iter().filter(|l| shared.contains(l.as_str())).count();
        if here.len() - in_patch >= MIN_LINES {
            found.push(LeftBehind {
                name: left.name,
                commit: left.commit.to_string(),
                gt_lines: here.len() as u64,
                in_patch: in_patch as u64,
            });
        }
    }
    sources.problems.append(&mut history.problems);
    found
}

/// The same for people.
pub(super) fn note(left: &LeftBehind) -> String {
    format!(
        "{} ({}) holds {} distinctive lines of the ground truth, {} of them in the final tree too; it is no work \
         and is not counted",
        left.name,
        left.commit.get(..12).unwrap_or(&left.commit),
        left.gt_lines,
        left.in_patch
    )
}
