//! The lines that are followed through a trace, and what is known of each.
//!
//! A line is known by its text without white space. Lines of the GT and of the final patch are one set:
//! an equal text is one line, whoever wrote it.

use std::borrow::Cow;
use std::collections::hash_map::Entry;

use foldhash::{HashMap, HashMapExt};
use smallvec::SmallVec;

use super::model::Inputs;
use super::needles::{MIN_BYTES, NeedleId, Needles};
use super::paths::{PathId, Paths};
use crate::similarity::normalise::squeezed;
use crate::trace::event::EventId;

/// A line of that many characters is evidence of a showing by itself.
const VERY_LONG: usize = 60;

/// Lines below that are too common to be evidence of a showing at all.
const LONG: usize = 16;

/// Index of a text that showed something new.
pub(super) type ShowingId = u32;

/// Where a line belongs.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// Distinctive lines of the GT with this text, as indices.
    pub(super) gt: SmallVec<[u32; 2]>,
    /// Files of the GT or the patch that have it.
    pub(super) files: SmallVec<[PathId; 2]>,
}

/// One line and its story. The first event that holds it decides; later ones change nothing.
///
/// Each occurrence in an output touches it, in no order: it takes one line of the processor's cache.
#[derive(Debug, Default)]
#[repr(align(64))]
pub(super) struct Line {
    /// It is a distinctive line of the GT.
    pub(super) of_gt: bool,
    /// It stands in the final patch.
    pub(super) in_patch: bool,
    /// Long enough to be evidence, together with others.
    pub(super) long: bool,
    /// Long enough to be evidence alone.
    pub(super) very_long: bool,
    /// It stands in the starter tree.
    pub(super) starter: bool,
    /// It stands in the starter tree as part of another text: seeing it proves nothing.
    pub(super) part: bool,
    /// It stands in the prompt.
    pub(super) prompt: bool,
    /// A turn of the user held it before the agent wrote or was shown it.
    pub(super) told: bool,
    /// A call that took what the prompt names showed it, before the agent wrote or was shown it.
    pub(super) given: bool,
    /// A call whose effect the trace does not show may have written it before that turn.
    pub(super) doubted: bool,
    /// The agent wrote it, sooner or later.
    pub(super) authored: bool,
    /// It did so only when a copy from elsewhere may have put it there before.
    pub(super) late: bool,
    /// An output held it before the agent wrote it, however little that proves.
    pub(super) shown: bool,
    /// A look at the tree showed it in a file that no edit had touched, behind a call that does not show what it wrote; or
    /// one at a commit, where no call had made any.
    pub(super) laid: bool,
    /// The showing that exposed it as a line of the GT.
    pub(super) exposed: Option<ShowingId>,
    /// The showing by which it came in, as a line of the patch.
    pub(super) seen: Option<ShowingId>,
    /// The call whose output was the first of these showings; a better one may have taken its place.
    pub(super) first_call: Option<EventId>,
    /// That showing was a sub-agent's report, whose own trace may follow.
    pub(super) reported: bool,
    /// A read of the tree showed it before any call could have put it there.
    pub(super) preapplied: bool,
    /// A read of the tree before any call could have changed it showed it, in one file of several.
    pub(super) at_start: bool,
    /// The last event that held it, to count it once an event.
    pub(super) stamp: u64,
}

impl Line {
    /// A line of the GT whose showing is evidence, together with others.
    pub(super) fn telling(&self) -> bool {
        self.long && !self.part && self.of_gt
    }

    /// The agent wrote it before it was shown.
    pub(super) fn typed(&self) -> bool {
        self.authored && !self.shown && !self.late
    }
}

/// The texts that are searched.
struct Texts<'i> {
    by_text: HashMap<Cow<'i, str>, NeedleId>,
    /// That of each line.
    of_lines: Vec<Cow<'i, str>>,
    /// Other texts that show a line, with its number.
    others: Vec<(Cow<'i, str>, NeedleId)>,
}

impl<'i> Texts<'i> {
    fn with_capacity(lines: usize) -> Self {
        Self {
            by_text: HashMap::with_capacity(lines),
            of_lines: Vec::with_capacity(lines),
            others: Vec::new(),
        }
    }

    /// The line with that text, or a new one; `None` when it is too short to be searched.
    fn add(&mut self, text: &'i str, all: &mut Vec<Line>) -> Option<NeedleId> {
        let text = squeezed(text);
        if text.len() < MIN_BYTES {
            return None;
        }
        let place = match self.by_text.entry(text) {
            Entry::Occupied(known) => return Some(*known.get()),
            Entry::Vacant(place) => place,
        };
        let id = NeedleId::try_from(all.len()).ok()?;
        let text = place.key().clone();
        let length = text.chars().take(VERY_LONG).count();
        all.push(Line {
            long: length >= LONG,
            very_long: length >= VERY_LONG,
            ..Line::default()
        });
        self.of_lines.push(text);
        place.insert(id);
        Some(id)
    }

    /// What shows the line as well.
    fn add_another(&mut self, text: &'i str, id: NeedleId) {
        if let Entry::Vacant(place) = self.by_text.entry(squeezed(text)) {
            self.others.push((place.key().clone(), id));
            place.insert(id);
        }
    }
}

/// All lines, with the search for them.
#[derive(Debug, Default)]
pub(super) struct Lines {
    pub(super) all: Vec<Line>,
    /// Where each belongs.
    owners: Vec<Owners>,
    /// The first texts of the lines, then others of some.
    needles: Needles,
    /// The lines of those others.
    others: Vec<NeedleId>,
    /// For each file and line of the patch, the line that it is; `None` when it is too short.
    pub(super) patch: Vec<Vec<Option<NeedleId>>>,
    /// Lines that cannot be searched for.
    pub(super) unsearched: u64,
}

impl Lines {
    /// Merges the lines of GT and patch and prepares the search.
    pub(super) fn new<'i>(inputs: &Inputs<'i>, paths: &mut Paths) -> Self {
        let mut out = Self {
            all: Vec::with_capacity(inputs.lines.len()),
            owners: Vec::with_capacity(inputs.lines.len()),
            ..Self::default()
        };
        let mut texts = Texts::with_capacity(inputs.lines.len());
        let gt_files: Vec<PathId> = inputs.gt_paths.iter().map(|p| paths.add(p)).collect();
        for (index, line) in (0u32..).zip(inputs.lines) {
            let Some(id) = texts.add(&line.squeezed, &mut out.all) else {
                out.unsearched += 1;
                continue;
            };
            if let Some(commented) = &line.commented {
                texts.add_another(commented, id);
            }
            if let Some((known, owners)) = out.grown(id) {
                owners.gt.push(index);
                owners.files.extend(gt_files.get(line.file).copied());
                known.of_gt = true;
                known.part |= inputs.in_starter.get(index as usize) == Some(&true);
                known.in_patch |= line.shared;
            }
        }
        for file in inputs.patch {
            let path = paths.add(&file.path);
            let ids = file.lines.iter().map(|line| {
                let id = texts.add(&line.text, &mut out.all)?;
                let (known, owners) = out.grown(id)?;
                known.in_patch = true;
                known.starter |= line.starter;
                if owners.files.last() != Some(&path) {
                    owners.files.push(path);
                }
                Some(id)
            });
            let ids = ids.collect();
            out.patch.push(ids);
        }
        let others = texts.others.iter().map(|(text, _)| text);
        out.needles = Needles::new(texts.of_lines.iter().chain(others).map(Cow::as_ref));
        out.others = texts.others.iter().map(|(_, id)| *id).collect();
        out.drop_unsearched();
        out
    }

    /// A line that was added now or before.
    fn grown(&mut self, id: NeedleId) -> Option<(&mut Line, &mut Owners)> {
        if self.owners.len() < self.all.len() {
            self.owners.push(Owners::default());
        }
        Some((
            self.all.get_mut(id as usize)?,
            self.owners.get_mut(id as usize)?,
        ))
    }

    /// All lines and where they belong.
    pub(super) fn with_owners(&self) -> impl Iterator<Item = (&Line, &Owners)> {
        self.all.iter().zip(&self.owners)
    }

    /// The same, to change the lines.
    pub(super) fn with_owners_mut(&mut self) -> impl Iterator<Item = (&mut Line, &Owners)> {
        self.all.iter_mut().zip(&self.owners)
    }

    /// A line and where it belongs.
    pub(super) fn both(&self, id: NeedleId) -> Option<(&Line, &Owners)> {
        self.all.get(id as usize).zip(self.owners.get(id as usize))
    }

    /// Files that have a line.
    pub(super) fn files(&self, id: NeedleId) -> &[PathId] {
        self.owners
            .get(id as usize)
            .map_or(&[], |owners| &owners.files)
    }

    /// A line by its number.
    pub(super) fn get(&self, id: NeedleId) -> Option<&Line> {
        self.all.get(id as usize)
    }

    /// A line by its number.
    pub(super) fn get_mut(&mut self, id: NeedleId) -> Option<&mut Line> {
        self.all.get_mut(id as usize)
    }

    /// Calls `hit` for every occurrence of a line in squeezed text.
    pub(super) fn scan(&mut self, squeezed: &[u8], mut hit: impl FnMut(NeedleId, &mut Line)) {
        let Self {
            all,
            needles,
            others,
            ..
        } = self;
        needles.scan(squeezed, |id| {
            let other = || others.get((id as usize).checked_sub(all.len())?);
            let id = other().copied().unwrap_or(id);
            if let Some(line) = all.get_mut(id as usize) {
                hit(id, line);
            }
        });
    }

    /// Lines that are not searched are treated like short ones: nothing is said of them.
    fn drop_unsearched(&mut self) {
        let skipped = self.needles.skipped();
        self.unsearched += skipped.len() as u64;
        if skipped.is_empty() {
            return;
        }
        for id in self.patch.iter_mut().flatten() {
            if id.is_some_and(|id| skipped.binary_search(&id).is_ok()) {
                *id = None;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::model::{AddedFile, AddedLine};
    use crate::similarity::model::DistinctiveLine;

    #[test]
    fn a_comment_within_a_line_does_not_hide_it() {
        let lines = [DistinctiveLine {
            file: 0,
            gt_line: 7,
            squeezed: "moor(quay,true)".into(),
            commented: Some("moor(quay,/*wide*/true)".into()),
            long: false,
            shared: true,
            prose: false,
        }];
        let patch = [AddedFile {
            path: "quay.ts".into(),
            generated: false,
            around: Vec::new(),
            lines: vec![AddedLine {
                text: "moor(quay,/*wide*/true)".into(),
                starter: false,
            }],
        }];
        let mut lines = Lines::new(
            &Inputs {
                gt_paths: &["quay.ts".to_owned()],
                lines: &lines,
                in_starter: &[],
                patch: &patch,
                prompt: "",
                starter_known: false,
            },
            &mut Paths::default(),
        );
        assert_eq!((lines.all.len(), lines.patch[0][0]), (1, Some(0)));
        for text in ["x=moor(quay,true);", "x=moor(quay,/*wide*/true);"] {
            let mut hits = Vec::new();
            lines.scan(text.as_bytes(), |id, _| hits.push(id));
            assert_eq!(hits, [0], "{text}");
        }
    }
}
