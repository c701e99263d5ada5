//! Much of one file of the GT that stands in the patch, written by a call that does not show what it wrote.
//!
//! Whatever the program: lines that no event holds came from somewhere. Few of them may be a script's own; so many of
//! one file are not what a formatter or a substitution makes by chance.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::changes::Writer;
use super::ledger::{FileStory, Origin};
use super::model::AddedFile;
use super::ranges::ranges;
use super::tracker::Tracker;
use crate::similarity::prose::is_prose;
use crate::similarity::testpath::is_test;
use crate::trace::event::EventId;

/// So many long lines of one file are needed.
const MIN_LINES: usize = 8;

/// And they are this share of its long lines, in per cent, unless as many as [`MIN_LINES`] follow each other.
const MIN_SHARE: usize = 60;

/// Lines of one file of the GT that an opaque call put into the patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpaqueCopy {
    /// The file of the patch.
    pub path: String,
    /// The file of the GT.
    pub gt_path: String,
    /// The ranges of lines there.
    pub gt_lines: Vec<String>,
    /// How many long distinctive lines.
    pub lines: u64,
    /// How many of them the agent did not write later on either.
    pub unwritten: u64,
    /// That call brought the file in from elsewhere.
    pub imported: bool,
    /// The call that may have written them.
    pub event: EventId,
    /// Its 1-based line.
    pub line: u64,
    /// Its text, cut.
    pub command: String,
}

/// The copies in one file of the patch, whose lines have these origins.
pub(super) fn copies(
    t: &Tracker,
    file: &AddedFile,
    index: usize,
    origins: &[Origin],
    story: FileStory,
    writer: Option<&Writer>,
) -> Vec<OpaqueCopy> {
    let Some(writer) = writer.filter(|w| counts(t, w, story)) else {
        return Vec::new();
    };
    if file.generated || is_test(&file.path) || is_prose(&file.path) {
        return Vec::new();
    }
    let mut found: BTreeMap<usize, (BTreeSet<u32>, BTreeSet<u32>)> = BTreeMap::new();
    let of_line = t.lines.patch.get(index).into_iter().flatten();
    for (origin, id) in origins.iter().zip(of_line) {
        let Some((line, owners)) = id.and_then(|id| t.lines.both(id)) else {
            continue;
        };
        let opaque = *origin == Origin::Unseen || line.late && *origin == Origin::Authored;
        if !opaque || !line.telling() || line.preapplied || line.starter {
            continue;
        }
        for gt in owners.gt.iter().filter_map(|i| t.gt_lines.get(*i as usize)) {
            let (all, unwritten) = found.entry(gt.file).or_default();
            all.insert(gt.gt_line);
            if !line.late {
                unwritten.insert(gt.gt_line);
            }
        }
    }
    let copy = |(gt, (lines, unwritten)): (usize, (BTreeSet<u32>, BTreeSet<u32>))| {
        let gt_path = t.gt_paths.get(gt)?;
        if lines.len() < MIN_LINES || is_test(gt_path) || is_prose(gt_path) {
            return None;
        }
        let mut whole: Vec<u32> = t
            .gt_lines
            .iter()
            .filter(|line| line.file == gt && line.long)
            .map(|line| line.gt_line)
            .collect();
        whole.sort_unstable();
        whole.dedup();
        let much =
            lines.len() * 100 >= whole.len() * MIN_SHARE || longest(&lines, &whole) >= MIN_LINES;
        much.then(|| OpaqueCopy {
            path: file.path.clone(),
            gt_path: gt_path.clone(),
            lines: lines.len() as u64,
            unwritten: unwritten.len() as u64,
            gt_lines: ranges(lines.into_iter().collect(), &whole),
            imported: writer.imports,
            event: writer.event,
            line: writer.line,
            command: writer.command.clone(),
        })
    };
    found.into_iter().filter_map(copy).collect()
}

/// The call is one that says something: no formatter of what the agent typed, no generator, and no format is at fault that
/// does not keep what was written.
pub(super) fn counts(t: &Tracker, writer: &Writer, story: FileStory) -> bool {
    let unrecorded = writer.unrecorded || t.changes.any_unrecorded() && !writer.imports;
    !(unrecorded || writer.generates || writer.tidies && story.recorded)
}

/// The longest run of lines that follow each other in the file.
pub(super) fn longest(lines: &BTreeSet<u32>, whole: &[u32]) -> usize {
    let runs = whole.split(|line| !lines.contains(line));
    runs.map(<[u32]>::len).max().unwrap_or_default()
}
