//! Lines of the GT in the patch that the trace does not explain, of whatever file: too few of one file to be a copy of it
//! (`opaque`), and enough together that "the agent wrote all of it" is not what the trace shows.

use std::collections::{BTreeMap, BTreeSet};

use super::follows::Made;
use super::lines::{Line, Owners};
use super::opaque::{counts, longest};
use super::paths::PathId;
use super::tracker::Tracker;
use crate::similarity::normalise::squeeze;
use crate::similarity::testpath::is_test;
use crate::trace::event::{EventId, Source};

/// What is not explained.
#[derive(Debug, Default)]
pub(super) struct Unexplained {
    /// Lines that no event holds, behind a call that may have written them.
    pub(super) placed: u64,
    /// Lines that are not shown to be the agent's own.
    pub(super) unaccounted: u64,
}

/// Counts them.
pub(super) fn unexplained(t: &Tracker) -> Unexplained {
    let mut out = Unexplained::default();
    // A final message explains nothing, and says nothing either.
    if !t.calls {
        return out;
    }
    let explained = |l: &Line| l.typed() || l.prompt || l.preapplied || l.starter;
    for (line, owners) in t.lines.with_owners() {
        if !line.in_patch || !line.telling() || explained(line) {
            continue;
        }
        if line.shown {
            out.unaccounted += 1;
            // Shown where only a call may have put it that says nothing of that, then written by the agent.
            let edited = || {
                let mut files = owners.files.iter();
                files.any(|file| t.changes.story(*file).unrecorded)
            };
            let copied = line.laid && line.exposed.is_none() && (line.authored || edited());
            out.placed += u64::from(copied);
            continue;
        }
        let (placed, unaccounted) = placed(t, owners);
        out.placed += u64::from(placed && !line.authored);
        out.unaccounted += u64::from(unaccounted);
    }
    out
}

/// Whether a call may have put a line of these files there, where the format keeps what edits write; and whether the line
/// is neither one that an edit may have written nor one that a formatter made.
fn placed(t: &Tracker, owners: &Owners) -> (bool, bool) {
    let stories = owners.files.iter().map(|file| {
        let (writer, story) = (t.changes.writer(*file), t.changes.story(*file));
        let tidied = writer.is_some_and(|w| w.tidies) && story.recorded;
        let placed = match writer {
            Some(writer) => counts(t, writer, story),
            // No call is known to write there, and one did that may write anything.
            None => {
                t.handed.acted && !story.recorded && !story.unrecorded && !is_of_tests(t, owners)
            }
        };
        (placed, story.unrecorded || tidied)
    });
    let of_files: Vec<(bool, bool)> = stories.collect();
    let quiet = of_files.iter().any(|(_, quiet)| *quiet) || is_of_tests(t, owners);
    let unaccounted = !quiet || t.changes.may_have_placed(&owners.files);
    (of_files.iter().any(|(placed, _)| *placed), unaccounted)
}

/// All of its files are tests: those a harness may copy in.
pub(super) fn is_of_tests(t: &Tracker, owners: &Owners) -> bool {
    owners
        .files
        .iter()
        .all(|file| is_test(t.changes.paths.get(*file)))
}

/// The distinctive lines that the prompt hands over: shown by calls that took what it names, or standing where only such
/// calls, or ones whose output follows from the tree, may have put them.
///
/// Beside them those of which that holds where they are regular and what stands in them was given.
pub(super) fn given_lines(t: &Tracker) -> (Vec<u32>, Vec<u32>) {
    let (mut given, mut tables) = (BTreeSet::new(), BTreeSet::new());
    for (_, owners) in t.lines.with_owners().filter(|(line, _)| line.given) {
        given.extend(owners.gt.iter().copied());
    }
    for (index, file) in t.patch.iter().enumerate() {
        let Some(path) = t.changes.paths.id(&file.path) else {
            continue;
        };
        if t.changes.story(path).unrecorded {
            continue;
        }
        let of_line = t.lines.patch.get(index).into_iter().flatten();
        for (added, id) in file.lines.iter().zip(of_line) {
            let both = id.and_then(|id| t.lines.both(id));
            let Some((line, owners)) = both.filter(|(line, _)| line.of_gt) else {
                continue;
            };
            let explained = line.authored || line.exposed.is_some() || line.starter;
            match written(t, path, &added.text).filter(|_| !explained) {
                Some(false) => given.extend(owners.gt.iter().copied()),
                Some(true) => tables.extend(owners.gt.iter().copied()),
                None => {}
            }
        }
    }
    (given.into_iter().collect(), tables.into_iter().collect())
}

/// A call that took what the prompt names or what the history holds, or one whose output follows from the tree, may have
/// written the line there, and no other: whether that holds of a regular table only.
fn written(t: &Tracker, path: PathId, text: &str) -> Option<bool> {
    let file = t.changes.paths.get(path);
    let makes = |(_, made): &(Source, Made)| {
        let piece = |piece: &String| squeeze(text).contains(piece.as_str());
        let may = made.may_be(file) && (made.pieces.is_empty() || made.pieces.iter().any(piece));
        may.then_some(made.table)
    };
    let handed = &t.handed;
    match t.changes.writer(path) {
        Some(writer) if handed.hands(&writer.event) => Some(false),
        // Behind any other call that may have written, nobody tells which of them did.
        _ if handed.acted => None,
        Some(writer) if !handed.ordered.contains_key(&writer.event) => None,
        _ => handed.ordered.values().filter_map(makes).min(),
    }
}

/// Where those calls stand.
pub(super) fn given_at(t: &Tracker) -> BTreeMap<EventId, (u32, u64)> {
    let ordered = t
        .handed
        .ordered
        .iter()
        .map(|(id, (source, _))| (id, source));
    let all = t
        .handed
        .taken
        .iter()
        .chain(&t.handed.of_history)
        .chain(ordered);
    all.map(|(id, source)| (*id, (source.file, source.line)))
        .collect()
}

/// The most long lines of one GT file of code that follow each other there, were shown, and stand in the patch.
pub(super) fn shown_run(t: &Tracker) -> u64 {
    let mut used: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
    for (line, owners) in t.lines.with_owners() {
        if line.exposed.is_none() || !line.telling() {
            continue;
        }
        for gt in owners.gt.iter().filter_map(|i| t.gt_lines.get(*i as usize)) {
            if gt.shared && gt.long && !gt.prose {
                used.entry(gt.file).or_default().insert(gt.gt_line);
            }
        }
    }
    let longest = used.into_iter().map(|(file, lines)| {
        let of_file = t.gt_lines.iter().filter(|l| l.file == file && l.long);
        let mut whole: Vec<u32> = of_file.map(|line| line.gt_line).collect();
        whole.sort_unstable();
        whole.dedup();
        longest(&lines, &whole)
    });
    longest.max().unwrap_or_default() as u64
}
