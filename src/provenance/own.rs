//! What is the agent's own, though it did not type it as it stands: lines that its edits and commands make of what it
//! typed, and lines of its work that it looks at again.

use std::collections::BTreeSet;

use super::lines::Line;
use super::needles::NeedleId;
use super::paths::{PathId, Place};
use super::substitutions::substitutions;
use super::templates::Typed;
use super::tracker::{MIN_LINES, Tracker};
use super::views::is_left;
use super::writes::{command_writes, named};
use crate::trace::event::{Actor, Event};

/// So many lines of the agent's own stand beside each one that it did not keep, where a view of its work shows both.
const MIN_SHARE: usize = 8;

impl Tracker {
    /// The lines that an edit of a part of them made.
    pub(super) fn edited_parts(&mut self, event: &Event) {
        let cwd = self.changes.cwd_of(event).map(str::to_owned);
        for edit in &event.edits {
            let Some(new) = &edit.new else { continue };
            let Place::Known(id) = self.changes.paths.place(&edit.path, cwd.as_deref()) else {
                continue;
            };
            if let Some(old) = &edit.old {
                self.replaced(&[id], old, new, &event.actor);
            }
            self.derived.typed(id, new);
        }
    }

    /// The lines that a command makes by replacements that it spells out.
    pub(super) fn substituted(&mut self, event: &Event) {
        if self.derived.is_empty() {
            return;
        }
        let replacements = substitutions(&event.text);
        if replacements.is_empty() {
            return;
        }
        let files = self.derived.files();
        let named = named(&event.text, &self.changes.paths, self.changes.cwd_of(event));
        let of_patch: Vec<PathId> = files.intersection(&named).copied().collect();
        // `grep -rl a | xargs sed -i s/a/b/` names none.
        let files = match of_patch.is_empty() {
            true => files.into_iter().collect(),
            false => of_patch,
        };
        for (old, new) in replacements {
            self.replaced(&files, &old, &new, &event.actor);
        }
    }

    /// The lines that a command makes of its own words, in a loop that it spells out.
    pub(super) fn templates(&mut self, event: &Event) {
        if self.derived.is_empty() {
            return;
        }
        let Some(mut typed) = Typed::of(&event.text) else {
            return;
        };
        let cwd = self.changes.cwd_of(event).map(str::to_owned);
        let writes = command_writes(&event.text, &self.changes.paths, cwd.as_deref());
        if writes.imports {
            return;
        }
        for (index, file) in self.patch.iter().enumerate() {
            let id = self.changes.paths.id(&file.path);
            if file.generated || id.is_none_or(|id| !writes.known.contains(&id)) {
                continue;
            }
            let ids = self.lines.patch.get(index).into_iter().flatten();
            let made: Vec<NeedleId> = ids
                .zip(&file.lines)
                .filter_map(|(id, line)| (*id).filter(|_| typed.makes(&line.text)))
                .collect();
            for id in made {
                if let Some(line) = self.lines.get_mut(id) {
                    line.authored = true;
                }
            }
        }
    }

    /// A replacement in these files: the lines of the patch that it makes are the agent's.
    fn replaced(&mut self, files: &[PathId], old: &str, new: &str, actor: &Actor) {
        for file in files {
            for line in self.derived.replaced(*file, old, new) {
                self.authored(&line, actor);
            }
        }
    }

    /// Parts lines that nobody was seen to write into those that a call of the agent's must have written whose content
    /// the trace does not hold, and others.
    ///
    /// They are the agent's when what is looked at may be its own work, and shows no others: of a file that no such call
    /// changed, or that are not in the patch. The reference has lines of both kinds.
    pub(super) fn unrecorded_work(
        &mut self,
        event: &Event,
        ids: Vec<NeedleId>,
    ) -> (Vec<NeedleId>, Vec<NeedleId>) {
        let kept = |id: &NeedleId| self.lines.get(*id).is_some_and(|l| l.in_patch);
        let view = ids.iter().any(kept).then(|| self.changes.view(event));
        let Some(view) = view.flatten() else {
            return (Vec::new(), ids);
        };
        let call = event.answers.as_ref().map_or(event.id, |call| call.event);
        let written = |t: &Self, id: NeedleId| {
            let files = t.lines.files(id);
            let opaque = !view.mounted && t.changes.may_have_written(files);
            let kept = t.lines.get(id).is_some_and(|l| l.in_patch);
            kept && (view.shaped || opaque || t.changes.unrecorded_before(files, call))
        };
        let mut right = ids.clone();
        if view.compared {
            let text: Vec<&str> = event.text.lines().filter(|l| !is_left(l)).collect();
            right = self.search(&text.join("\n"), true, |l| {
                !l.prompt && !l.starter && !l.authored
            });
            let new: BTreeSet<NeedleId> = ids.iter().copied().collect();
            right.retain(|id| new.contains(id));
        }
        let telling = |id: &&NeedleId| self.lines.get(**id).is_some_and(Line::telling);
        let (mine, others) = right
            .iter()
            .filter(telling)
            .partition::<Vec<NeedleId>, _>(|id| written(self, **id));
        // Lines that the agent took out again later.
        if others.len() * MIN_SHARE > mine.len() {
            return (Vec::new(), ids);
        }
        let mine: BTreeSet<NeedleId> = right.into_iter().filter(|id| written(self, *id)).collect();
        ids.into_iter().partition(|id| mine.contains(id))
    }

    /// The output holds lines of the patch that are the agent's, and no line of the GT that is not.
    pub(super) fn showed_own(&mut self, event: &Event, own: &[NeedleId], foreign: &[NeedleId]) {
        let line = |id: &NeedleId| self.lines.get(*id);
        let enough = self.patch_lines.clamp(1, MIN_LINES);
        let kept = own.iter().filter_map(line).filter(|l| l.in_patch).count();
        let others = foreign.iter().filter_map(line);
        let others = others.filter(|l| l.of_gt && !l.part).count();
        // What the agent wrote and took out again, in a format that does not keep it, looks like somebody else's.
        let few = self.changes.any_unrecorded() && !self.enough(foreign, Line::telling);
        if kept >= enough && (others == 0 || few && others * MIN_SHARE <= kept)
            || self.shows_the_patch(foreign)
        {
            self.own_outputs.insert(event.id);
        }
    }

    /// The lines are those of the patch, nearly all of which no reference has: it is the agent's work, whatever the command
    /// names, in a format that does not keep what was written.
    fn shows_the_patch(&self, ids: &[NeedleId]) -> bool {
        let lines = ids.iter().filter_map(|id| self.lines.get(*id));
        let (of_gt, mine): (Vec<&Line>, Vec<&Line>) = lines
            .filter(|line| !line.part && (line.in_patch || line.of_gt))
            .partition(|line| line.of_gt);
        self.changes.any_unrecorded()
            && of_gt.iter().all(|line| line.in_patch)
            && mine.len() >= MIN_SHARE.max(of_gt.len() * MIN_SHARE)
    }
}
