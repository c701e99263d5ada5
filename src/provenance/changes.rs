//! What the calls of a run did to its files: who wrote which, when last, and how much of it is recorded.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::cutting::path_words;
use super::imports::{Own, Rewriter, rewrites};
use super::ledger::FileStory;
use super::paths::{PathId, Paths, Place};
use super::reads::{changes_to, reads_only, runs_tests, tool_reads_only};
use super::revisions::Revisions;
use super::scripts::Scripts;
use super::views::{View, Views};
use super::writes::{Writes, command_writes, tool_writes};
use crate::similarity::normalise::squeeze;
use crate::trace::event::{Channel, EditOp, Event, EventId};

/// Calls whose result is awaited. Beyond, the oldest counts as done.
const MAX_PENDING: usize = 4096;

/// Commands that are kept until it is known where the tree lies, and bytes of one.
const MAX_UNPLACED: usize = 256;
const MAX_COMMAND: usize = 4096;

/// Characters of a command that are kept as evidence.
const COMMAND_CHARS: usize = 300;

/// A call that may have changed files without the trace saying how.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    pub(super) event: EventId,
    pub(super) line: u64,
    pub(super) command: String,
    /// It copied something in from outside of the tree.
    pub(super) imports: bool,
    /// It is an edit whose content the format does not keep.
    pub(super) unrecorded: bool,
    /// It only formats.
    pub(super) tidies: bool,
    /// It only generates.
    pub(super) generates: bool,
    /// Whether it copied something in is not known yet.
    unplaced: bool,
}

impl From<&Event> for Writer {
    fn from(event: &Event) -> Self {
        Self {
            imports: false,
            unrecorded: event.channel == Channel::Edit,
            tidies: false,
            generates: false,
            unplaced: false,
            event: event.id,
            line: event.source.line,
            command: cut(&event.text),
        }
    }
}

impl Writer {
    /// A later call may have written the same. What came from elsewhere still stands there.
    fn give_way(&mut self, later: &Self) {
        let quiet = |writer: &Self| writer.tidies || writer.generates;
        let stays =
            (self.imports || self.unplaced) && !later.imports || quiet(later) && !quiet(self);
        if !stays {
            *self = later.clone();
        }
    }
}

/// How much of what a call may do to the tree the trace tells.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// All of it.
    pub(super) all: bool,
    /// It runs the tests of the tree, which write no source.
    pub(super) tests: bool,
}

/// What a call changed, until its result tells whether it did.
#[derive(Debug, Default)]
struct Pending {
    known: BTreeSet<PathId>,
    other: BTreeSet<String>,
    /// It may have changed any file.
    tree: bool,
    /// Known files that it wrote as a whole, by the hashes of their lines.
    whole: Vec<(PathId, HashSet<u64>)>,
    /// An edit call, which changes nothing when it fails. A command that fails may have done half.
    edit: bool,
}

/// The changes so far.
#[derive(Debug)]
pub(super) struct Changes {
    pub(super) paths: Paths,
    /// Files of the GT.
    gt: BTreeSet<PathId>,
    /// Those, and the code of the patch: who writes the solution elsewhere is not done with it.
    work: BTreeSet<PathId>,
    /// The directory that the agent works in, as last recorded.
    cwd: Option<String>,
    stories: BTreeMap<PathId, FileStory>,
    writers: BTreeMap<PathId, Writer>,
    tree_writer: Option<Writer>,
    pending: BTreeMap<EventId, Pending>,
    /// No call so far could have changed the tree.
    undisturbed: bool,
    /// A command left the tree, and a shell may stay where it went.
    left: bool,
    last_gt_edit: Option<EventId>,
    /// For each file that an edit changed whose content the format does not keep: the first such edit.
    first_unrecorded: BTreeMap<PathId, EventId>,
    /// The last call that changed a file by name, and the last that may have changed any.
    last_change: BTreeMap<PathId, EventId>,
    last_tree_change: Option<EventId>,
    written: BTreeSet<String>,
    /// Known files whose last change was to be written as a whole.
    last_write: BTreeMap<PathId, HashSet<u64>>,
    /// What the agent made outside of the tree.
    own: Own,
    /// Scripts that it wrote as files.
    pub(super) scripts: Scripts,
    /// What it made of its own work.
    views: Views,
    /// The last call whose result told that.
    learned: Option<EventId>,
    /// Commands that name absolute paths, from before it was known where the tree lies.
    unplaced: Vec<(EventId, String)>,
}

impl Changes {
    /// Nothing happened yet.
    pub(super) fn new(paths: Paths, gt: BTreeSet<PathId>, code: BTreeSet<PathId>) -> Self {
        Self {
            paths,
            work: &gt | &code,
            gt,
            cwd: None,
            stories: BTreeMap::new(),
            writers: BTreeMap::new(),
            tree_writer: None,
            pending: BTreeMap::new(),
            undisturbed: true,
            left: false,
            last_gt_edit: None,
            first_unrecorded: BTreeMap::new(),
            last_change: BTreeMap::new(),
            last_tree_change: None,
            written: BTreeSet::new(),
            last_write: BTreeMap::new(),
            own: Own::default(),
            scripts: Scripts::default(),
            views: Views::default(),
            learned: None,
            unplaced: Vec::new(),
        }
    }

    /// Remembers where the agent works.
    pub(super) fn works_in(&mut self, cwd: &str) {
        self.paths.start_in(cwd);
        if self.cwd.as_deref() != Some(cwd) {
            self.cwd = Some(cwd.to_owned());
        }
    }

    /// The working directory of an event, as far as recorded.
    pub(super) fn cwd_of<'a>(&'a self, event: &'a Event) -> Option<&'a str> {
        event.cwd.as_deref().or(self.cwd.as_deref())
    }

    /// Whether everything up to now left the tree as the environment made it, and the agent in it.
    pub(super) fn undisturbed(&self) -> bool {
        self.undisturbed && !self.left
    }

    /// The files of the GT.
    pub(super) fn gt_files(&self) -> impl Iterator<Item = (PathId, &str)> {
        self.gt.iter().map(|id| (*id, self.paths.get(*id)))
    }

    /// The call runs the tests of the tree, and reads: neither writes a source.
    fn runs_tests(&self, call: &Event) -> bool {
        let inside = |dir: &str| self.paths.place(dir, self.cwd_of(call)) != Place::Outside;
        call.channel == Channel::Command && runs_tests(&call.text, inside)
    }

    /// A call was made.
    pub(super) fn call(&mut self, event: &Event) -> Told {
        let tool = event.tool.as_deref().unwrap_or_default();
        let cwd = event.cwd.as_deref().or(self.cwd.as_deref());
        let looks = match event.channel {
            Channel::Command => reads_only(&event.text),
            Channel::ToolCall => tool_reads_only(tool),
            _ => false,
        };
        let writes = match event.channel {
            // Of what a look makes only the name of a branch is remembered.
            Channel::Command if looks && !event.text.contains("branch") => Writes::default(),
            Channel::Command => {
                let mut writes = command_writes(&event.text, &self.paths, cwd);
                let brings = self.own.imports(&event.text, &self.paths, cwd);
                writes.imports = writes.imports && !self.own.covers(&event.text, &self.paths, cwd);
                writes.imports |= brings;
                writes
            }
            Channel::ToolCall => tool_writes(tool, &event.text, &self.paths, cwd),
            _ => Writes::default(),
        };
        if event.channel == Channel::Command && event.cwd.is_none() {
            let outside = |dir: &str| self.paths.place(dir, cwd) == Place::Outside;
            self.left |= changes_to(&event.text).any(outside);
        }
        let tests = !looks && self.runs_tests(event);
        self.undisturbed &= looks || tests;
        if !looks && event.channel != Channel::Edit {
            // A test, a formatter, a hook: who knows what they change.
            self.last_write.clear();
        }
        if event.channel == Channel::Edit {
            self.edit(event);
        } else if !writes.is_empty() {
            self.wrote(event, writes);
        }
        let recorded = |op: EditOp| op != EditOp::Unrecorded;
        let all = match event.channel {
            Channel::Web => true,
            Channel::Edit => !event.edits.is_empty() && event.edits.iter().all(|e| recorded(e.op)),
            _ => looks,
        };
        Told { all, tests }
    }

    /// It is known now where the tree lies: what was copied before may have come from outside of it.
    fn place_earlier(&mut self) {
        if self.unplaced.is_empty() || !self.paths.is_placed() {
            return;
        }
        let all = self.writers.values_mut().chain(&mut self.tree_writer);
        all.for_each(|writer| writer.unplaced = false);
        for (call, command) in std::mem::take(&mut self.unplaced) {
            let writes = command_writes(&command, &self.paths, None);
            if !writes.imports || self.own.covers(&command, &self.paths, None) {
                continue;
            }
            let of_call = self.writers.iter_mut().filter(|(_, w)| w.event == call);
            let of_tree = self.tree_writer.as_mut().filter(|w| w.event == call);
            of_call
                .filter(|(path, _)| writes.known.contains(path))
                .map(|(_, writer)| writer)
                .chain(of_tree.filter(|_| writes.tree))
                .for_each(|writer| writer.imports = true);
        }
    }

    fn wrote(&mut self, event: &Event, writes: Writes) {
        let absolute = |w: &str| w.starts_with(['/', '~']);
        let unplaced = event.channel == Channel::Command
            && !self.paths.is_placed()
            && self.unplaced.len() < MAX_UNPLACED
            && event.text.len() <= MAX_COMMAND
            && event.text.split_whitespace().any(absolute);
        if unplaced {
            self.unplaced.push((event.id, event.text.clone()));
        }
        let rewrites = rewrites(&event.text);
        let writer = Writer {
            imports: writes.imports,
            tidies: rewrites == Some(Rewriter::Formatter),
            generates: rewrites == Some(Rewriter::Generator),
            unplaced,
            ..Writer::from(event)
        };
        for path in &writes.known {
            let known = self.writers.entry(*path).or_insert_with(|| writer.clone());
            known.give_way(&writer);
        }
        if writes.tree {
            let known = self.tree_writer.get_or_insert_with(|| writer.clone());
            known.give_way(&writer);
        }
        let pending = Pending {
            known: writes.known,
            other: writes.other,
            tree: writes.tree,
            ..Pending::default()
        };
        self.expect(event.id, pending);
    }

    fn edit(&mut self, event: &Event) {
        let cwd = self.cwd_of(event).map(str::to_owned);
        let mut pending = Pending {
            edit: true,
            ..Pending::default()
        };
        for edit in &event.edits {
            let place = self.paths.edited(&edit.path, cwd.as_deref());
            self.place_earlier();
            let whole = edit.op == EditOp::Write;
            let path = match &place {
                Place::Known(id) => self.paths.get(*id),
                Place::Tree(path) => path.as_str(),
                Place::Outside => edit.path.as_str(),
            };
            self.scripts
                .edited(path, whole, edit.new.as_deref(), &self.paths);
            match place {
                Place::Known(path) => {
                    pending.known.insert(path);
                    self.last_write.remove(&path);
                    if let (EditOp::Write, Some(text)) = (edit.op, &edit.new) {
                        let lines = text.lines().map(|l| hash_of(&squeeze(l)));
                        pending.whole.push((path, lines.collect()));
                    }
                    let story = self.stories.entry(path).or_default();
                    if edit.op == EditOp::Unrecorded {
                        story.unrecorded = true;
                        self.first_unrecorded.entry(path).or_insert(event.id);
                        self.writers.insert(path, Writer::from(event));
                    } else {
                        story.recorded = true;
                    }
                }
                Place::Tree(path) if !path.is_empty() => {
                    pending.other.insert(path);
                }
                Place::Tree(_) | Place::Outside => {
                    self.own.wrote(&edit.path);
                    pending.other.insert(edit.path.clone());
                }
            }
        }
        self.expect(event.id, pending);
    }

    fn expect(&mut self, call: EventId, pending: Pending) {
        self.pending.insert(call, pending);
        if self.pending.len() > MAX_PENDING
            && let Some((oldest, done)) = self.pending.pop_first()
        {
            self.confirm(oldest, done);
        }
    }

    /// What the output of a command shows, where that may be the agent's own work.
    pub(super) fn view(&self, event: &Event) -> Option<View> {
        let call = event.answers.as_ref()?;
        let command = (call.channel == Channel::Command).then_some(&call.text)?;
        let made = self.own.files();
        let view = self
            .views
            .shows(command, &self.paths, self.cwd_of(event), made)?;
        let shaped = self.own.shaped().is_some_and(|files| {
            let mut words = command.split(|c: char| c.is_whitespace() || "'\";|&".contains(c));
            words.any(|word| files.contains(word))
        });
        Some(View { shaped, ..view })
    }

    /// Revisions of git that are the agent's own.
    pub(super) fn revisions(&self) -> &Revisions {
        &self.views.revisions
    }

    /// The output was looked at: from now on what its command made stands there.
    pub(super) fn made(&mut self, event: &Event) {
        let Some(call) = &event.answers else { return };
        let succeeded = event.outcome.unwrap_or_default().succeeded();
        let new = self.learned.is_none_or(|last| last < call.event);
        if new && call.channel == Channel::Command {
            self.learned = Some(call.event);
            let cwd = event.cwd.as_deref().or(self.cwd.as_deref());
            let Self { views, paths, .. } = self;
            views.learn(&call.text, &event.text, succeeded, paths, cwd);
        }
    }

    /// The output holds nothing of the GT: a file that it shows as a whole is none of its sources.
    pub(super) fn read_innocent(&mut self, event: &Event) {
        let Some(call) = &event.answers else { return };
        let outcome = event.outcome.unwrap_or_default();
        let whole = match call.channel {
            Channel::Command => call.text.strip_prefix("cat "),
            Channel::ToolCall if tool_reads_only(call.tool.as_deref().unwrap_or_default()) => {
                let part = ["offset", "limit", "range"]
                    .iter()
                    .any(|w| call.text.contains(w));
                (!part).then_some(call.text.as_str())
            }
            _ => None,
        };
        let Some(text) = whole.filter(|_| outcome.succeeded() && !outcome.truncated) else {
            return;
        };
        let mut words = path_words(text).filter(|word| word.contains(['/', '.']));
        if let (Some(word), None) = (words.next(), words.next())
            && let Place::Tree(path) = self.paths.place(word, self.cwd_of(event))
        {
            self.own.read(path);
        }
    }

    /// An edit whose content the format does not keep changed one of these files before that call.
    pub(super) fn unrecorded_before(&self, files: &[PathId], call: EventId) -> bool {
        let mut of_files = files.iter().filter_map(|f| self.first_unrecorded.get(f));
        of_files.any(|first| *first < call)
    }

    /// The result of a call is known.
    pub(super) fn result(&mut self, event: &Event) {
        let Some(call) = &event.answers else { return };
        let Some(pending) = self.pending.remove(&call.event) else {
            return;
        };
        let outcome = event.outcome.unwrap_or_default();
        let done = if pending.edit {
            outcome.succeeded()
        } else {
            !outcome.denied
        };
        if done {
            self.confirm(call.event, pending);
        }
    }

    fn confirm(&mut self, call: EventId, done: Pending) {
        if done.tree || done.known.iter().any(|p| self.work.contains(p)) {
            self.last_gt_edit = self.last_gt_edit.max(Some(call));
        }
        self.last_write.extend(done.whole);
        for path in &done.known {
            let last = self.last_change.entry(*path).or_insert(call);
            *last = call.max(*last);
        }
        if done.tree {
            self.last_tree_change = self.last_tree_change.max(Some(call));
        }
        let known = done.known.iter().map(|p| self.paths.get(*p).to_owned());
        self.written.extend(known);
        self.written.extend(done.other);
    }

    /// A call whose effect the trace does not show may have written any of these files.
    pub(super) fn may_have_written(&self, files: &[PathId]) -> bool {
        self.tree_writer.is_some() || files.iter().any(|f| self.writers.contains_key(f))
    }

    /// A call that is no edit, formatter or generator may have written any of these files, and the trace does not show what.
    pub(super) fn may_have_placed(&self, files: &[PathId]) -> bool {
        let places = |w: &Writer| !w.unrecorded && !w.tidies && !w.generates;
        let of_files = files.iter().filter_map(|f| self.writers.get(f));
        of_files.chain(&self.tree_writer).any(places)
    }

    /// An edit has changed one of these files.
    pub(super) fn edited(&self, files: &[PathId]) -> bool {
        let stories = files.iter().filter_map(|file| self.stories.get(file));
        stories
            .into_iter()
            .any(|story| story.recorded || story.unrecorded)
    }

    /// A call brought one of these files in from elsewhere.
    pub(super) fn imported(&self, files: &[PathId]) -> bool {
        let mut of_files = files.iter().filter_map(|f| self.writers.get(f));
        of_files.any(|w| w.imports)
    }

    /// Some edit's content is not kept by the format.
    pub(super) fn any_unrecorded(&self) -> bool {
        !self.first_unrecorded.is_empty()
    }

    /// What stands in one of these files in the end was written before that call, by an edit whose
    /// content the format does not keep: nothing that the trace shows changed the file from then on.
    pub(super) fn finished_unrecorded(&self, files: &[PathId], call: EventId) -> bool {
        let before = |last: Option<EventId>| last.is_none_or(|last| last < call);
        files.iter().any(|file| {
            let first = self.first_unrecorded.get(file);
            first.is_some_and(|first| *first < call)
                && before(self.last_change.get(file).copied())
                && before(self.last_tree_change)
        })
    }

    /// What the trace shows of a file.
    pub(super) fn story(&self, path: PathId) -> FileStory {
        self.stories.get(&path).copied().unwrap_or_default()
    }

    /// The last call that may have written a file without the trace saying how.
    pub(super) fn writer(&self, path: PathId) -> Option<&Writer> {
        let of_file = self.writers.get(&path);
        let of_tree = self.tree_writer.as_ref();
        let imports = [of_file, of_tree].into_iter().flatten().find(|w| w.imports);
        imports.or(of_file).or(of_tree)
    }

    /// The lines of a file as it was written last, as hashes; `None` when something may have changed it
    /// since, or it was never written as a whole.
    pub(super) fn last_write(&self, path: PathId) -> Option<&HashSet<u64>> {
        self.last_write.get(&path)
    }

    /// No more results will come: calls without one count as done.
    pub(super) fn finish(&mut self) {
        while let Some((call, done)) = self.pending.pop_first() {
            self.confirm(call, done);
        }
    }

    /// The last event that changed a file of the GT, or code of the patch.
    pub(super) fn last_gt_edit(&self) -> Option<EventId> {
        self.last_gt_edit
    }

    /// Paths that some call wrote, sorted.
    pub(super) fn written(&self) -> Vec<String> {
        self.written.iter().cloned().collect()
    }
}

/// A hash of a line. The party under audit chooses the lines, so it is a keyed one.
pub(super) fn hash_of(line: &str) -> u64 {
    use std::hash::{BuildHasher, RandomState};
    static KEY: std::sync::LazyLock<RandomState> = std::sync::LazyLock::new(RandomState::new);
    KEY.hash_one(line)
}

/// The beginning of a text, for evidence.
pub(super) fn cut(text: &str) -> String {
    let mut chars = text.chars();
    let mut out: String = chars.by_ref().take(COMMAND_CHARS).collect();
    if chars.next().is_some() {
        out.push('…');
    }
    out
}
