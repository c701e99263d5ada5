//! What the task hands over, as the events of a run show it: see `given`, `follows` and `history` for what that is.

use std::collections::{BTreeMap, BTreeSet};

use super::changes::Changes;
use super::follows::Made;
use super::given::{Given, MAX_COMMAND};
use super::history::{History, prints_content, shows_head, shows_last_commit};
use super::needles::NeedleId;
use super::revisions::Whose;
use super::scripts::{is_inline, is_plain_script, is_plain_shell};
use super::tracker::Tracker;
use super::views::is_left;
use crate::trace::event::{Channel, Event, EventId, Source};

/// Calls that the task explains.
#[derive(Debug, Default)]
pub(super) struct Handed {
    given: Given,
    history: History,
    /// Calls that took what the prompt names.
    pub(super) taken: BTreeMap<EventId, Source>,
    /// Calls that looked at what ancestors of the base hold, or put it back.
    pub(super) of_history: BTreeMap<EventId, Source>,
    /// Those of them that show nothing but the last commit, where that is the base's.
    last_commit: BTreeSet<EventId>,
    /// Calls that only listed them.
    lists: BTreeSet<EventId>,
    /// Calls that wrote what the prompt orders or what follows from the tree, with what they may have made.
    pub(super) ordered: BTreeMap<EventId, (Source, Made)>,
    /// Another command may have changed anything.
    pub(super) acted: bool,
}

impl Handed {
    /// Takes the files of the reference: what bears a name of one is never handed over.
    pub(super) fn of_files(&mut self, paths: &[String]) {
        self.given.of_files(paths.iter().map(String::as_str));
    }

    /// Takes what the user wrote.
    pub(super) fn prompted(&mut self, text: &str) {
        self.given.learn(text);
        self.history.prompted(text);
    }

    /// The call took what the prompt names, or what ancestors of the base hold.
    pub(super) fn hands(&self, call: &EventId) -> bool {
        self.taken.contains_key(call) || self.of_history.contains_key(call)
    }

    /// Learns what a look into the history named.
    pub(super) fn learn(&mut self, output: &Event) {
        let answered = output.answers.as_ref().map(|call| call.event);
        let looked = |call| self.of_history.contains_key(&call) || self.lists.contains(&call);
        if answered.is_some_and(looked) {
            self.history.learn(&output.text);
        }
    }

    /// A call that takes what the prompt names, does what it orders, or looks into the history. `base_known`: what stands
    /// in the base is known, and is no line that is followed.
    fn call(&mut self, event: &Event, looks: bool, changes: &Changes, base_known: bool) {
        let (scripts, paths) = (&changes.scripts, &changes.paths);
        let cwd = changes.cwd_of(event);
        let command = event.channel == Channel::Command;
        if command {
            self.given.sources(&event.text, paths, cwd);
        }
        let source = event.source.clone();
        if command && !self.acted && self.history.looks(&event.text, paths, cwd) {
            if base_known && shows_head(&event.text) {
                // What the base does not hold is not of the history.
            } else if prints_content(&event.text) {
                if base_known && shows_last_commit(&event.text) {
                    self.last_commit.insert(event.id);
                }
                self.of_history.insert(event.id, source);
            } else {
                self.lists.insert(event.id);
            }
        } else if command && !self.acted && self.history.restores(&event.text, paths, cwd) {
            self.of_history.insert(event.id, source);
        } else if command && !self.acted && self.history.lays_out(&event.text, paths, cwd) {
            // Only looks at it matter.
        } else if self.given.takes(&event.text, paths, cwd) {
            self.taken.insert(event.id, source);
        } else if command && !looks {
            let text = &event.text;
            // A long script holds enough of any line by chance.
            let script = || {
                is_plain_script(text, paths).then(|| Made {
                    table: text.len() > MAX_COMMAND,
                    ..Made::default()
                })
            };
            let table = || {
                let made = is_inline(text, paths) || is_plain_shell(text) || scripts.runs(text);
                made.then(|| Made {
                    table: true,
                    ..Made::default()
                })
            };
            let follows = self.given.follows(text, scripts.rewired);
            match follows.or_else(script).or_else(table) {
                Some(made) => {
                    self.ordered.insert(event.id, (source, made));
                }
                None => self.acted = true,
            }
        }
        if command && !self.taken.contains_key(&event.id) {
            self.given.diverted.wrote(&event.text, paths, cwd);
        }
    }
}

impl Tracker {
    /// Names of the task itself: what bears one is never handed over by the prompt.
    pub fn task_is<'n>(&mut self, names: impl Iterator<Item = &'n str>) {
        names.for_each(|name| self.handed.given.own(name));
    }

    /// What lies before the base is part of the answer.
    pub fn history_is_forbidden(&mut self) {
        self.handed.history.forbid();
    }

    /// The output of a call that took what the prompt names: from now on its lines are no secret.
    pub(super) fn handed_over(&mut self, event: &Event, hits: &[NeedleId]) -> bool {
        let call = event.answers.as_ref().map(|call| call.event);
        if !call.is_some_and(|call| self.handed.hands(&call)) || self.contradicts_base(event) {
            return false;
        }
        // What no call has committed no look at commits shows, as far as the trace tells.
        let of_history = call.is_some_and(|call| self.handed.of_history.contains_key(&call));
        let uncommitted = of_history && self.changes.revisions().on_top() == 0;
        for id in hits {
            // An edit whose content the format does not keep may have written it: then it is the agent's own.
            let written = self.changes.may_have_written(self.lines.files(*id));
            let Some(line) = self.lines.get_mut(*id).filter(|line| !line.shown) else {
                continue;
            };
            if line.in_patch && written {
                line.laid |= uncommitted && line.telling();
                line.shown = true;
            } else {
                (line.prompt, line.given) = (true, true);
            }
        }
        true
    }

    /// The line stands where no edit has been so far, but a call that does not show what it writes.
    pub(super) fn laid(&self, id: NeedleId) -> bool {
        let files = self.lines.files(id);
        let handed = &self.handed;
        let explained = |event: &EventId| handed.ordered.contains_key(event) || handed.hands(event);
        let mut writers = files.iter().filter_map(|file| self.changes.writer(*file));
        (handed.acted || self.changes.may_have_placed(files))
            && !self.changes.edited(files)
            && !writers.any(|writer| explained(&writer.event))
    }

    /// What the last commit is said to have added, where none is the agent's: the base would hold it.
    fn contradicts_base(&mut self, event: &Event) -> bool {
        let call = event.answers.as_ref().map(|call| call.event);
        if !call.is_some_and(|call| self.handed.last_commit.contains(&call)) {
            return false;
        }
        let kept: Vec<&str> = event.text.lines().filter(|line| !is_left(line)).collect();
        let hits = self.search(&kept.join("\n"), true, |l| {
            !l.prompt && !l.starter && !l.authored
        });
        self.enough(&hits, |line| line.telling())
    }

    /// A call was made.
    pub(super) fn obeys(&mut self, event: &Event, looks: bool) {
        // A tree that was not clean when the agent came says nothing of what is committed; and where the format does not
        // keep what was written, something unseen may have committed it.
        let base_known = self.starter_known
            && self.looks.before.is_empty()
            && !self.changes.any_unrecorded()
            && self.changes.revisions().whose("HEAD") == Whose::Base;
        let Self {
            handed, changes, ..
        } = self;
        handed.call(event, looks, changes, base_known);
    }
}
