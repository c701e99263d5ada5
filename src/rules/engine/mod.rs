//! Runs the rules over the events of one run.
//!
//! ```text
//! text of an event ─plain─> index of anchors ─> candidate rules ─> their expressions
//! command ─shell─> steps ─git, files, addresses, saved paths─> structured patterns
//! result of a call ─> judges the findings of that call
//! ```
//!
//! - A call is looked at step by step; words that are only printed, searched or recorded are no
//!   call. Its findings wait for its result, which moves their stage ([`super::outcome`]).
//! - A mention is looked for in the raw text of an event, a claim (`admission`) or an intention in
//!   the sentences of what the agent says.
//! - What stands in the prompt is no evidence, and what the prompt asks for is allowed
//!   ([`super::prompt`]).

mod answers;
mod calls;
mod cautious;
mod hits;
mod images;
mod indirect;
mod installed;
mod jobs;
mod matching;
mod past;
mod placing;
mod report;
mod scripts;
mod sessions;
mod sinks;
mod spoken;
mod steps;
mod windows;

use std::collections::{BTreeMap, BTreeSet};

use super::RuleSet;
use super::finding::{Finding, Kind};
use super::flow::Stash;
use super::git::history::History;
use super::git::reach::Reach;
use super::index::{Builder, Index, Marks, matches_unmarked};
use super::outcome::CallState;
use super::prompt::Prompt;
use super::rule::{After, Body, Rule, Side};
use super::task::Task;
use super::text::fold::plain;
use crate::experiment::task_facts::TaskFacts;
use crate::trace::event::{Actor, Channel, Event, EventId, EventSink};

use images::OwnImages;
use indirect::Aliases;
use installed::Installed;
use jobs::Jobs;
use matching::Subject;
use past::Past;
pub use report::{EngineReport, InactiveRule, MAX_MENTIONS};
use scripts::Scripts;
use sessions::Sessions;

/// A rule that is active for this task.
#[derive(Debug)]
struct Active<'r> {
    rule: &'r Rule,
    /// The patterns with the facts filled in; `None`: those of the rule itself.
    expanded: Option<Body>,
}

impl Active<'_> {
    fn body(&self) -> &Body {
        self.expanded.as_ref().unwrap_or(&self.rule.body)
    }
}

/// Numbers of the active rules that can match the text that was marked last. A text holds anchors of a
/// few rules at most, so the others are not even looked at.
#[derive(Debug, Default)]
struct Candidates {
    /// The rule that each slot belongs to.
    owners: Vec<Option<usize>>,
    /// Rules that can match a text without anchors.
    unmarked: Vec<usize>,
    /// Sorted.
    current: Vec<usize>,
}

impl Candidates {
    fn new(active: &[Active], slots: u32) -> Self {
        let mut new = Self {
            owners: vec![None; slots as usize],
            ..Self::default()
        };
        for (number, active) in active.iter().enumerate() {
            if matches_unmarked(active.body()) {
                new.unmarked.push(number);
            }
            for pattern in active.body().hitting() {
                if let Some(owner) = new.owners.get_mut(pattern.slot as usize) {
                    *owner = Some(number);
                }
            }
        }
        new
    }

    fn find(&mut self, marks: &Marks) {
        self.current.clone_from(&self.unmarked);
        let owner = |slot: &u32| self.owners.get(*slot as usize).copied().flatten();
        self.current.extend(marks.marked().iter().filter_map(owner));
        self.current.sort_unstable();
        self.current.dedup();
    }
}

/// A finding that waits for the result of its call.
#[derive(Debug)]
struct Waiting {
    finding: usize,
    active: usize,
    state: CallState,
    /// The program that fetches, if its output is not shown, and the name of the file that it writes.
    unseen: Option<Box<(String, String)>>,
    /// The call that saved what this one uses.
    from: Option<EventId>,
    /// An earlier part of the same command must have succeeded.
    follows: bool,
}

/// What is known of a call until its result comes.
#[derive(Debug, Default)]
struct Call {
    waiting: Vec<Waiting>,
    /// The call lists commits; true if it walks more than `HEAD`.
    lists: Option<bool>,
    /// The call cannot be taken apart, or runs a script that is not in the trace.
    unclear: bool,
    /// The call makes a commit.
    commits: bool,
    /// What the command itself prints (`echo done`), and whether that stands behind `||`.
    spoken: BTreeMap<String, bool>,
    answered: bool,
}

/// Runs the rules over events, in order, and judges calls by their results.
#[derive(Debug)]
pub struct Engine<'r> {
    rules: &'r RuleSet,
    active: Vec<Active<'r>>,
    candidates: Candidates,
    index: Index,
    marks: Marks,
    task: Task,
    prompt: Prompt,
    labels: Vec<String>,
    history: History,
    installed: Installed,
    own_images: OwnImages,
    stash: Stash,
    scripts: Scripts,
    aliases: Aliases,
    sessions: Sessions,
    /// The first working directory that the trace names: the work tree.
    root: Option<String>,
    /// Where the git commands of the current command line lead.
    listed: BTreeSet<Reach>,
    /// Files that the agent wrote itself: reading them back shows nothing new.
    own_files: BTreeSet<String>,
    calls: BTreeMap<EventId, Call>,
    jobs: Jobs,
    /// Results whose calls were not met yet, by the ids of the calls.
    early: BTreeMap<String, Event>,
    findings: Vec<Finding>,
    mentions: BTreeMap<usize, usize>,
    gave_up: BTreeMap<String, usize>,
    /// Commands with a pipeline too long to be looked at as one.
    long_commands: usize,
    unclear_commands: u64,
    unclear_results: Vec<Finding>,
    /// Lines that the current command itself prints, as in [`Call`].
    spoken: BTreeMap<String, bool>,
    /// Texts of the simplest steps of the current command.
    looked_at: BTreeSet<String>,
    /// Steps looked at so far, in the whole run.
    steps: usize,
    /// Files of the agent's that the current command was seen to run.
    ran: BTreeSet<String>,
    /// Those of them that were read with it.
    read_with: BTreeSet<String>,
    /// Bytes of such files read so far, in the whole run.
    script_bytes: usize,
    inactive: Vec<InactiveRule>,
    past: Past,
    /// What rules ask to have happened before.
    asked: Vec<&'r After>,
    /// Which text of an edit is being looked at.
    side: Side,
}

impl<'r> Engine<'r> {
    /// An engine for one run. `prompt` is what the user asked, where it is known from a file; more
    /// is learned from prompt events. `trace_labels` are the names of the trace files.
    pub fn new(
        rules: &'r RuleSet,
        facts: &TaskFacts,
        prompt: Option<&str>,
        trace_labels: Vec<String>,
    ) -> Self {
        let task = Task::new(facts);
        let mut builder = Builder::starting_at(rules.index.next_slot());
        let (mut active, mut inactive) = (Vec::new(), Vec::new());
        for rule in rules.rules().iter().filter(|r| r.disabled.is_none()) {
            let filter = &rule.filter;
            if filter.forbidden.is_some_and(|f| f != task.forbidden)
                || filter.lacks.iter().any(|fact| task.facts.has(*fact))
            {
                continue;
            }
            let needed = rule.needs.iter().copied().find(|f| !task.facts.has(*f));
            if let Some(missing) = needed.or_else(|| rule.body.missing(&task.facts)) {
                inactive.push(InactiveRule {
                    id: rule.id.clone(),
                    missing_fact: missing.name().to_owned(),
                });
                continue;
            }
            let expanded = (!rule.is_static()).then(|| {
                let mut body = rule.body.expand(&task.facts);
                builder.add(&mut body);
                body
            });
            active.push(Active { rule, expanded });
        }
        let asked = past::wanted(active.iter().map(|a| a.rule));
        let index = builder.build();
        let marks = Marks::new(index.next_slot());
        let candidates = Candidates::new(&active, index.next_slot());
        let allowed: Vec<&str> = [&task.allowed, &task.requirement]
            .into_iter()
            .flatten()
            .map(String::as_str)
            .collect();
        let prompt = Prompt::new(prompt, &allowed);
        let stash = Stash::new(task.repository_name());
        Self {
            rules,
            active,
            candidates,
            index,
            marks,
            prompt,
            labels: trace_labels,
            history: History::default(),
            installed: Installed::default(),
            own_images: OwnImages::default(),
            stash,
            scripts: Scripts::default(),
            aliases: Aliases::new(),
            sessions: Sessions::default(),
            own_files: BTreeSet::new(),
            listed: BTreeSet::new(),
            root: None,
            calls: BTreeMap::new(),
            jobs: Jobs::default(),
            early: BTreeMap::new(),
            findings: Vec::new(),
            mentions: BTreeMap::new(),
            gave_up: BTreeMap::new(),
            long_commands: 0,
            unclear_commands: 0,
            unclear_results: Vec::new(),
            ran: BTreeSet::new(),
            read_with: BTreeSet::new(),
            looked_at: BTreeSet::new(),
            spoken: BTreeMap::new(),
            steps: 0,
            script_bytes: 0,
            inactive,
            past: Past::default(),
            asked,
            side: Side::Added,
            task,
        }
    }

    /// Marks the patterns that can match the text.
    fn mark(&mut self, text: &str) {
        self.mark_all(std::iter::once(text));
    }

    /// Marks the patterns that can match any of the texts.
    fn mark_all<'t>(&mut self, texts: impl Iterator<Item = &'t str>) {
        self.marks.clear();
        for text in texts {
            self.rules.index.scan(text, &mut self.marks);
            self.index.scan(text, &mut self.marks);
        }
        self.candidates.find(&self.marks);
    }

    /// A text that is not a call.
    fn text(&mut self, event: &Event) {
        let text = plain(&event.text);
        self.mark(&text);
        self.mentions(event, &text);
        let subject = Subject {
            text: &text,
            step: None,
        };
        self.try_rules(event, subject, |rule| {
            matches!(rule.kind, Kind::Action | Kind::Admission)
        });
    }

    /// Words that name a leak path, anywhere in the raw text.
    fn mentions(&mut self, event: &Event, text: &str) {
        let subject = Subject { text, step: None };
        self.try_rules(event, subject, |rule| rule.kind == Kind::Mention);
    }
}

impl EventSink for Engine<'_> {
    fn event(&mut self, event: &Event) {
        // Text that the model never saw is no evidence.
        if !event.model_saw {
            return;
        }
        self.past.tick();
        if self.root.is_none() {
            self.root.clone_from(&event.cwd);
        }
        self.jobs.called(event);
        match event.channel {
            Channel::Prompt | Channel::System => {
                if event.channel == Channel::Prompt && event.actor == Actor::Main {
                    self.prompt.learn(&event.text);
                }
                let text = plain(&event.text);
                self.mark(&text);
                self.mentions(event, &text);
            }
            Channel::Command => {
                self.command(event);
                self.answer_early(event);
            }
            Channel::ToolCall | Channel::Web | Channel::Edit => {
                self.call(event);
                self.answer_early(event);
            }
            Channel::Output => self.output(event),
            Channel::Assistant | Channel::Reasoning | Channel::Result | Channel::Raw => {
                self.text(event);
            }
        }
    }
}

#[cfg(test)]
mod tests;
