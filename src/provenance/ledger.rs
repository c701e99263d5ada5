//! The ledger: every added line of the final patch, with its origin.

use super::lines::{Line, Lines};
use super::model::{AddedFile, Ledger, LedgerSize};
use crate::similarity::prose::is_prose;

/// Where a line came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Authored,
    SeenFirst,
    Starter,
    Prompt,
    Unseen,
    Generated,
    Unrecorded,
}

/// What the trace shows of a file of the patch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct FileStory {
    /// A call wrote it whose content the trace holds.
    pub(super) recorded: bool,
    /// A call wrote it whose content the format does not keep.
    pub(super) unrecorded: bool,
}

/// The origins of the lines of one file, in order.
///
/// A line too short to be told from others (a bracket) follows the line before it in its file, or else
/// the line after it; in a file of such lines only, the calls that wrote the file decide.
pub(super) fn origins(
    file: &AddedFile,
    index: usize,
    lines: &Lines,
    story: FileStory,
) -> Vec<Origin> {
    if file.generated {
        return vec![Origin::Generated; file.lines.len()];
    }
    let empty = Vec::new();
    let ids = lines.patch.get(index).unwrap_or(&empty);
    let known: Vec<Option<Origin>> = ids
        .iter()
        .map(|id| {
            let line = lines.all.get((*id)? as usize)?;
            Some(origin(line, story))
        })
        .collect();
    let alone = if story.recorded {
        Origin::Authored
    } else if story.unrecorded {
        Origin::Unrecorded
    } else {
        Origin::Unseen
    };
    let first = known.iter().copied().flatten().next().unwrap_or(alone);
    known
        .into_iter()
        .scan(first, |last, origin| {
            *last = origin.unwrap_or(*last);
            Some(*last)
        })
        .collect()
}

/// The origin of a line that is long enough to be followed.
fn origin(line: &Line, story: FileStory) -> Origin {
    if line.prompt && line.long {
        Origin::Prompt
    } else if line.authored && line.seen.is_none() {
        Origin::Authored
    } else if line.starter {
        Origin::Starter
    } else if line.seen.is_some() {
        Origin::SeenFirst
    } else if story.unrecorded {
        Origin::Unrecorded
    } else {
        Origin::Unseen
    }
}

/// Counts origins.
pub(super) fn count(ledger: &mut Ledger, origins: &[Origin]) {
    for origin in origins {
        *match origin {
            Origin::Authored => &mut ledger.authored,
            Origin::SeenFirst => &mut ledger.seen_first,
            Origin::Starter => &mut ledger.starter,
            Origin::Prompt => &mut ledger.prompt,
            Origin::Unseen => &mut ledger.unseen,
            Origin::Generated => &mut ledger.generated,
            Origin::Unrecorded => &mut ledger.unrecorded,
        } += 1;
    }
}

/// Adds up the sizes of lines with these origins.
pub(super) fn measure(size: &mut LedgerSize, file: &AddedFile, origins: &[Origin]) {
    let prose = is_prose(&file.path);
    for (line, origin) in file.lines.iter().zip(origins) {
        let this = if prose { 0 } else { LedgerSize::of(&line.text) };
        match origin {
            Origin::Unseen => {
                size.unseen_lines += 1;
                size.unseen += this;
                size.unseen_longest = size.unseen_longest.max(this);
            }
            Origin::Authored | Origin::SeenFirst | Origin::Starter | Origin::Prompt => {
                size.shown_lines += 1;
                size.shown += this;
            }
            Origin::Generated | Origin::Unrecorded => {}
        }
    }
}
