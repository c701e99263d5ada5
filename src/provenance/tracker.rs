//! One pass over the events of a run, in order: for each followed line, who had it first.
//!
//! - A text that the agent wrote (message, command, call, edit; sub-agents too) makes its lines
//!   *authored*.
//! - An output that holds a line before it was authored *shows* it. An output is an exposure when it
//!   shows at least [`MIN_LINES`] long lines of the GT, or one very long one, and does not show the
//!   agent's own work tree (see `scope`).
//! - What no event holds was written by a call whose effect the trace does not show; `changes` knows
//!   which calls may have.

use std::collections::BTreeSet;

use super::changes::{Changes, cut};
use super::derived::Derived;
use super::handed::Handed;
use super::layers::Layers;
use super::lines::{Line, Lines, ShowingId};
use super::looks::{Looks, status_list};
use super::model::{AddedFile, Inputs, Provenance};
use super::needles::NeedleId;
use super::paths::Paths;
use super::scope::{Scope, scope, takes_own};
use super::start::{self, Read};
use super::totals;
use super::turns::{Turn, Turns};
use crate::similarity::model::DistinctiveLine;
use crate::similarity::prose::is_prose;
use crate::similarity::testpath::is_test;
use crate::trace::event::{Actor, Channel, Event, EventId, EventSink, Source};

/// So many long lines make an output an exposure; fewer may be coincidence.
pub(super) const MIN_LINES: usize = 3;

/// An output that showed something new.
#[derive(Debug)]
pub(super) struct Showing {
    pub(super) event: EventId,
    pub(super) source: Source,
    pub(super) command: Option<String>,
}

/// What is kept of a distinctive line.
#[derive(Debug)]
pub(super) struct GtLine {
    pub(super) file: usize,
    pub(super) gt_line: u32,
    pub(super) long: bool,
    pub(super) shared: bool,
    pub(super) prose: bool,
}

impl From<&DistinctiveLine> for GtLine {
    fn from(line: &DistinctiveLine) -> Self {
        Self {
            file: line.file,
            gt_line: line.gt_line,
            long: line.long,
            shared: line.shared,
            prose: line.prose,
        }
    }
}

/// Follows the lines of GT and patch through the events of a run.
#[derive(Debug)]
pub struct Tracker {
    pub(super) lines: Lines,
    pub(super) changes: Changes,
    pub(super) looks: Looks,
    pub(super) showings: Vec<Showing>,
    pub(super) gt_paths: Vec<String>,
    pub(super) gt_lines: Vec<GtLine>,
    pub(super) patch: Vec<AddedFile>,
    pub(super) starter_known: bool,
    /// Every call so far reads only, runs tests, or is an edit whose content the trace holds.
    pub(super) accounted: bool,
    layers: Layers,
    pub(super) derived: Derived,
    /// Number of the text that is searched; the stamp of a line.
    now: u64,
    /// A call, or an output, was seen.
    pub(super) calls: bool,
    pub(super) outputs: bool,
    /// Outputs that held a line of the GT, whoever had it first.
    pub(super) gt_outputs: BTreeSet<EventId>,
    /// Outputs that held lines of the patch that were the agent's, and no others of the GT.
    pub(super) own_outputs: BTreeSet<EventId>,
    /// Calls that put nothing into the tree by git but revisions that the agent made.
    pub(super) own_takes: BTreeSet<EventId>,
    /// Lines of the patch that are followed.
    pub(super) patch_lines: usize,
    pub(super) turns: Turns,
    /// What the task hands over.
    pub(super) handed: Handed,
}

/// Part of a solution, wherever it stands.
fn is_code(file: &AddedFile) -> bool {
    !file.generated && !is_test(&file.path) && !is_prose(&file.path)
}

impl Tracker {
    /// Prepares the search. Costs time and memory in proportion to the lines of GT and patch.
    pub fn new(inputs: &Inputs<'_>) -> Self {
        let mut paths = Paths::default();
        let lines = Lines::new(inputs, &mut paths);
        let derived = Derived::new(inputs, &mut paths);
        let patch_lines = lines.all.iter().filter(|l| l.in_patch).count();
        let gt = inputs.gt_paths.iter().map(|p| paths.add(p)).collect();
        let code = inputs.patch.iter().filter(|file| is_code(file));
        let code = code.map(|file| paths.add(&file.path)).collect();
        let mut tracker = Self {
            lines,
            changes: Changes::new(paths, gt, code),
            looks: Looks::default(),
            showings: Vec::new(),
            gt_paths: inputs.gt_paths.to_vec(),
            gt_lines: inputs.lines.iter().map(GtLine::from).collect(),
            patch: inputs.patch.iter().map(without_around).collect(),
            starter_known: inputs.starter_known,
            accounted: true,
            layers: Layers::default(),
            derived,
            now: 0,
            calls: false,
            outputs: false,
            gt_outputs: BTreeSet::new(),
            own_outputs: BTreeSet::new(),
            own_takes: BTreeSet::new(),
            patch_lines,
            turns: Turns::default(),
            handed: Handed::default(),
        };
        let folders = inputs
            .gt_paths
            .iter()
            .filter_map(|path| path.rsplit_once('/'));
        tracker.task_is(folders.flat_map(|(folder, _)| folder.split('/')));
        tracker.handed.of_files(inputs.gt_paths);
        tracker.prompted(inputs.prompt);
        tracker
    }

    /// Adds up what was found.
    pub fn finish(mut self) -> Provenance {
        self.changes.finish();
        self.shown_when_done();
        self.stood_there();
        totals::provenance(&self)
    }

    /// Takes back the showings of lines that stood in the tree by then, as far as the trace tells: a
    /// format that does not keep what was written must not turn a look at the end into a copy.
    fn shown_when_done(&mut self) {
        let Self { lines, changes, .. } = self;
        for (line, owners) in lines.with_owners_mut().filter(|(l, _)| l.in_patch) {
            let first = line.first_call;
            if first.is_some_and(|call| changes.finished_unrecorded(&owners.files, call)) {
                (line.exposed, line.seen) = (None, None);
            }
        }
    }

    /// The lines in `text` that `wanted` asks for, each once.
    pub(super) fn search(
        &mut self,
        text: &str,
        encoded: bool,
        wanted: impl Fn(&Line) -> bool,
    ) -> Vec<NeedleId> {
        self.now += 1;
        let Self {
            lines, layers, now, ..
        } = self;
        let mut hits = Vec::new();
        layers.each(text, encoded, |squeezed| {
            lines.scan(squeezed, |id, line| {
                if line.stamp != *now && wanted(line) {
                    line.stamp = *now;
                    hits.push(id);
                }
            });
        });
        hits
    }

    /// The user's words: their lines are nobody's exposure.
    fn prompted(&mut self, text: &str) {
        self.handed.prompted(text);
        for id in self.search(text, false, |l| !l.prompt && !l.authored && !l.shown) {
            if let Some(line) = self.lines.get_mut(id) {
                line.prompt = true;
            }
        }
    }

    /// A turn of the user: from now on what it holds is no secret. What may stand in the tree by then is not explained
    /// by it, unless the agent types it afterwards.
    fn told(&mut self, event: &Event) {
        let hits = self.search(&event.text, false, |l| !l.told && !l.authored && !l.shown);
        if !hits.is_empty() {
            self.turns.told.push(event.source.clone());
        }
        for id in hits {
            let doubted = self.changes.may_have_written(self.lines.files(id));
            if let Some(line) = self.lines.get_mut(id) {
                (line.prompt, line.told, line.doubted) = (true, true, doubted);
            }
        }
    }

    /// The agent's words.
    pub(super) fn authored(&mut self, text: &str, actor: &Actor) {
        self.wrote(text, actor, false);
    }

    /// The agent's words, that write no file: a line of the GT that a call may have put there before is not explained by
    /// them.
    fn said(&mut self, text: &str, actor: &Actor) {
        self.wrote(text, actor, true);
    }

    fn wrote(&mut self, text: &str, actor: &Actor, words: bool) {
        // `echo … | base64 -d > file` writes what it unpacks.
        let unpacks = ["base64", "b64decode"].iter().any(|w| text.contains(w));
        for id in self.search(text, unpacks, |l| !l.authored) {
            let files = self.lines.files(id);
            let kept = |line: &Line| line.in_patch && line.telling();
            let kept = self.lines.get(id).is_some_and(kept);
            if kept && words && self.changes.may_have_placed(files) {
                continue;
            }
            let late = kept && self.changes.imported(files);
            let Some(line) = self.lines.get_mut(id) else {
                continue;
            };
            line.authored = true;
            line.late = late;
            // A sub-agent's own trace follows that of its parent, which may have looked at its work.
            line.laid &= *actor == Actor::Main;
            // A sub-agent's report was read before the sub-agent's own trace, which shows now that it
            // wrote the line.
            if line.reported && *actor != Actor::Main {
                (line.exposed, line.seen, line.shown) = (None, None, false);
                line.first_call = None;
            }
        }
    }

    /// An edit: its new texts, or the whole when the format does not part them.
    fn edited(&mut self, event: &Event) {
        self.edited_parts(event);
        let mut whole = true;
        for text in event.edits.iter().filter_map(|e| e.new.as_deref()) {
            self.authored(text, &event.actor);
            whole = false;
        }
        if whole {
            self.authored(&event.text, &event.actor);
        }
    }

    /// What a tool returned.
    fn output(&mut self, event: &Event) {
        self.outputs = true;
        self.changes.result(event);
        self.handed.learn(event);
        self.look(event);
        self.shown(event);
        self.changes.made(event);
    }

    /// What a harness put before the agent in the course of the run: a text beside the result of a tool is an output. A
    /// reminder, a notice, the words of a hook may show the agent's own file as a formatter left it that nobody called,
    /// so they show what does not stand in the patch in the end.
    fn brought(&mut self, event: &Event) {
        if event.channel == Channel::Prompt {
            self.shown(event);
            return;
        }
        let hits = self.search(&event.text, true, |l| {
            !(l.prompt || l.starter || l.authored || l.in_patch)
        });
        self.showed(event, &hits, false);
    }

    /// The followed lines that an output holds.
    fn shown(&mut self, event: &Event) {
        let hits = self.search(&event.text, true, |l| !l.prompt && !l.starter);
        let of_gt = |id: &NeedleId| {
            let line = self.lines.get(*id);
            line.is_some_and(|l| l.of_gt && !l.part)
        };
        if hits.iter().any(of_gt) {
            self.gt_outputs.insert(event.id);
        } else {
            self.changes.read_innocent(event);
        }
        let is_new = |id: &NeedleId| self.lines.get(*id).is_some_and(|l| !l.authored);
        let (new, mut own): (Vec<NeedleId>, Vec<NeedleId>) = hits.into_iter().partition(is_new);
        if new.is_empty() {
            self.showed_own(event, &own, &[]);
            return;
        }
        if self.handed_over(event, &new) {
            return;
        }
        let mut scope = match &event.answers {
            Some(call) => {
                let changes = &self.changes;
                let base_known = self.starter_known && !changes.any_unrecorded();
                let (own, cwd) = (changes.revisions(), changes.cwd_of(event));
                scope(call, &changes.paths, cwd, own, base_known)
            }
            // The call before the first of the trace: the head of the trace is lost, and with it what the agent wrote.
            None if !self.calls => Scope::OwnChanges,
            None => Scope::Unclear,
        };
        let start = self.start(event, &scope);
        if let (Scope::Unclear, Some(read)) = (&scope, &start) {
            // A pattern of file names.
            scope = Scope::Files(read.files.clone());
        }
        let (mut read, foreign): (Vec<NeedleId>, Vec<NeedleId>) =
            new.into_iter().partition(|id| self.is_own(*id, &scope));
        let (others, foreign) = self.unrecorded_work(event, foreign);
        read.extend(others);
        self.read_back(&read, start.map(|read| read.only));
        own.extend(read);
        self.showed_own(event, &own, &foreign);
        self.showed(event, &foreign, scope == Scope::Report);
    }

    /// What an output shows of the tree before anything could have changed it.
    fn start(&self, event: &Event, scope: &Scope) -> Option<Read> {
        if !self.starter_known || !self.changes.undisturbed() {
            return None;
        }
        let call = event.answers.as_ref()?;
        if *scope == Scope::OwnChanges {
            return Some(Read {
                files: BTreeSet::new(),
                only: true,
            });
        }
        let is_patch = || {
            let mut lines = event.text.lines();
            lines.any(|line| line.starts_with("diff --git "))
        };
        let read = start::read(call, &self.changes.paths, self.changes.cwd_of(event))?;
        (!is_patch()).then_some(read)
    }

    /// A call puts back what the agent made.
    fn takes_own(&mut self, event: &Event) {
        let changes = &self.changes;
        let (paths, cwd) = (&changes.paths, changes.cwd_of(event));
        if event.channel == Channel::Command
            && takes_own(&event.text, paths, cwd, changes.revisions())
        {
            self.own_takes.insert(event.id);
        }
    }

    /// A whole list of the changed files says of the others that they are unchanged.
    fn look(&mut self, event: &Event) {
        let Some(list) = status_list(event) else {
            return;
        };
        let changes = &self.changes;
        let files = changes.gt_files();
        self.looks.look(list, files, changes.undisturbed());
    }

    /// The output shows the line in the agent's own tree.
    fn is_own(&self, id: NeedleId, scope: &Scope) -> bool {
        let Some(line) = self.lines.get(id) else {
            return false;
        };
        let named = match scope {
            Scope::OwnChanges => true,
            Scope::Files(files) => self.lines.files(id).iter().any(|f| files.contains(f)),
            Scope::Outside | Scope::Report => return false,
            // A search over the tree shows lines of the starter; unless they were taken out of the GT's
            // lines, seeing them proves nothing.
            Scope::Unclear => !self.starter_known && line.in_patch,
        };
        // What the agent neither typed nor keeps, somebody else's text, was put there by a call that shows
        // nothing of it: a copy, a download, a patch. A look at it is a look at the reference.
        let put_there =
            line.telling() && !line.in_patch && !line.preapplied && !self.changes.undisturbed();
        if put_there {
            return false;
        }
        // A script or an unrecorded edit may have put it there before.
        named || line.in_patch && self.changes.may_have_written(self.lines.files(id))
    }

    /// The agent looked at its own tree. Before anything could change the tree, what is there is the
    /// environment's: `start` says whether the output can only be of the files of the lines.
    fn read_back(&mut self, ids: &[NeedleId], start: Option<bool>) {
        for id in ids {
            let laid = self.laid(*id);
            if let Some(line) = self.lines.get_mut(*id) {
                line.laid |= laid && !line.shown && line.telling();
                line.shown = true;
                line.preapplied |= start == Some(true) && line.telling();
                line.at_start |= start.is_some() && line.telling();
            }
        }
    }

    /// Lines that were printed at the start among other files of the tree, and that nothing in the trace can have
    /// written since, stood in their file from the start.
    fn stood_there(&mut self) {
        if !self.accounted {
            return;
        }
        for line in &mut self.lines.all {
            line.preapplied |= line.at_start && line.in_patch && !line.authored;
        }
    }

    /// The agent was shown lines that it had not written.
    fn showed(&mut self, event: &Event, ids: &[NeedleId], reported: bool) {
        let exposes = self.enough(ids, Line::telling);
        let brings = self.enough(ids, |l| l.long);
        let Ok(showing) = ShowingId::try_from(self.showings.len()) else {
            return;
        };
        let call = event.answers.as_ref().map_or(event.id, |c| c.event);
        let mut new = false;
        for id in ids {
            let Some(line) = self.lines.get_mut(*id) else {
                continue;
            };
            // What a sub-agent saw says more than what it reported.
            let better = line.reported && !reported;
            let mut changed = false;
            if exposes && line.telling() && (line.exposed.is_none() || better) {
                line.exposed = Some(showing);
                changed = true;
            }
            if brings && (line.seen.is_none() || better) {
                line.seen = Some(showing);
                changed = true;
            }
            if !line.shown || better && changed {
                line.reported = reported;
            }
            line.shown = true;
            if changed {
                line.first_call.get_or_insert(call);
            }
            new |= changed;
        }
        if new {
            self.showings.push(Showing {
                event: event.id,
                source: event.source.clone(),
                command: event.answers.as_ref().map(|c| cut(&c.text)),
            });
        }
    }

    /// The lines that count are enough to be no coincidence.
    pub(super) fn enough(&self, ids: &[NeedleId], counts: impl Fn(&Line) -> bool) -> bool {
        let lines = || {
            ids.iter()
                .filter_map(|id| self.lines.get(*id))
                .filter(|l| counts(l))
        };
        lines().any(|l| l.very_long) || lines().take(MIN_LINES).count() == MIN_LINES
    }
}

/// The file with what is asked of it at the end.
fn without_around(file: &AddedFile) -> AddedFile {
    AddedFile {
        path: file.path.clone(),
        generated: file.generated,
        lines: file.lines.clone(),
        around: Vec::new(),
    }
}

impl EventSink for Tracker {
    fn event(&mut self, event: &Event) {
        // What the model never saw is no evidence.
        if !event.model_saw {
            return;
        }
        if let (Actor::Main, Some(cwd)) = (&event.actor, &event.cwd) {
            self.changes.works_in(cwd);
        }
        let mut looks = false;
        if event.channel.is_call() {
            self.calls = true;
            self.takes_own(event);
            let told = self.changes.call(event);
            self.looks.call(told.all);
            looks = told.all || told.tests;
            self.accounted &= looks;
            if event.channel != Channel::Edit {
                self.obeys(event, looks);
            }
        }
        let turn = self.turns.take(event);
        match event.channel {
            Channel::Prompt if turn == Turn::User => self.told(event),
            Channel::Prompt if turn == Turn::Task => self.prompted(&event.text),
            Channel::Prompt | Channel::System if turn == Turn::Harness => self.brought(event),
            // What is not certainly the user's, is not believed. A sub-agent's prompt is its parent's call; what a harness
            // says before the agent acts is the task's; a line that no adapter understood may be anything.
            Channel::Prompt | Channel::System | Channel::Raw => {}
            Channel::Output => self.output(event),
            Channel::Edit => self.edited(event),
            Channel::Command => {
                self.substituted(event);
                self.templates(event);
                self.wrote(&event.text, &event.actor, looks);
            }
            Channel::ToolCall => self.authored(&event.text, &event.actor),
            Channel::Assistant | Channel::Reasoning | Channel::Web | Channel::Result => {
                self.said(&event.text, &event.actor);
            }
        }
    }
}
