//! Runs the rules over the events of one run.
//!
//! ```text
//! text of an event ─plain─> automaton of anchors ─> candidate rules ─> their expressions
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

mod matching;
mod report;
mod steps;

use std::collections::{BTreeMap, BTreeSet};

use super::RuleSet;
use super::finding::{Confidence, Finding, Kind, Stage};
use super::flow::{Saved, Stash};
use super::git::history::History;
use super::git::reach::{Map, Reach};
use super::index::{Builder, Index, Marks};
use super::outcome::{CallState, Judgement, judge};
use super::pattern::PatternKind;
use super::prompt::{ASKED, Prompt, QUOTED};
use super::result::CallResult;
use super::rule::{Access, Allow, Body, Rule, Scope};
use super::schema::ActorSyntax;
use super::task::Task;
use super::template::Fact;
use super::text::excerpt::{excerpt, fingerprint};
use super::text::fold::plain;
use super::text::slice;
use crate::experiment::task_facts::TaskFacts;
use crate::shell;
use crate::shell::model::Origin;
use crate::trace::event::{
    Actor, Channel, EditOp, Event, EventId, EventSink, FileEdit, Outcome, Source,
};

use matching::{Hit, Subject, each_hit};
pub use report::{EngineReport, InactiveRule, MAX_MENTIONS};
use steps::{MAX_STEPS, Step, steps_of};

/// Longest file that is remembered because the agent may run it later, in bytes.
const MAX_SCRIPT: usize = 64 << 10;

/// Files that are remembered because the agent may run them later.
const MAX_SCRIPTS: usize = 256;

/// Files that are remembered because the agent wrote them.
const MAX_OWN_FILES: usize = 16_384;

/// Added to the title of findings in a command that could not be taken apart.
const CAUTIOUS: &str = " (the command could not be taken apart)";

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

/// A finding that waits for the result of its call.
#[derive(Debug)]
struct Waiting {
    finding: usize,
    active: usize,
    state: CallState,
}

/// What is known of a call until its result comes.
#[derive(Debug, Default)]
struct Call {
    waiting: Vec<Waiting>,
    /// The call lists commits; true if it walks more than `HEAD`.
    lists: Option<bool>,
    /// The call makes a commit.
    commits: bool,
    answered: bool,
}

/// Runs the rules over events, in order, and judges calls by their results.
#[derive(Debug)]
pub struct Engine<'r> {
    rules: &'r RuleSet,
    active: Vec<Active<'r>>,
    index: Index,
    marks: Marks,
    task: Task,
    prompt: Prompt,
    labels: Vec<String>,
    history: History,
    stash: Stash,
    scripts: BTreeMap<String, String>,
    /// The first working directory that the trace names: the work tree.
    root: Option<String>,
    /// Where the git commands of the current command line lead.
    listed: BTreeSet<Reach>,
    /// Files that the agent wrote itself: reading them back shows nothing new.
    own_files: BTreeSet<String>,
    calls: BTreeMap<EventId, Call>,
    findings: Vec<Finding>,
    mentions: BTreeMap<usize, usize>,
    gave_up: BTreeMap<String, usize>,
    inactive: Vec<InactiveRule>,
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
        let index = builder.build();
        let marks = Marks::new(index.next_slot());
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
            index,
            marks,
            prompt,
            labels: trace_labels,
            history: History::default(),
            stash,
            scripts: BTreeMap::new(),
            own_files: BTreeSet::new(),
            listed: BTreeSet::new(),
            root: None,
            calls: BTreeMap::new(),
            findings: Vec::new(),
            mentions: BTreeMap::new(),
            gave_up: BTreeMap::new(),
            inactive,
            task,
        }
    }

    fn mark(&mut self, text: &str) {
        self.marks.clear();
        self.rules.index.scan(text, &mut self.marks);
        self.index.scan(text, &mut self.marks);
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

    fn command(&mut self, event: &Event) {
        let text = plain(&event.text).into_owned();
        self.mark(&text);
        self.mentions(event, &text);
        let line = shell::parse(&event.text);
        self.listed.clear();
        let cwd = self.cwd(event);
        let mut steps = steps_of(&line, cwd.as_deref());
        self.add_scripts(&mut steps, cwd.as_deref());
        for step in steps {
            self.step(event, step);
        }
        if line.incomplete || line.invocations.len() > MAX_STEPS {
            self.step(event, Step::whole(&text));
        }
    }

    /// Files that the agent wrote before and runs now.
    fn add_scripts(&self, steps: &mut Vec<Step>, cwd: Option<&str>) {
        let mut all = Vec::with_capacity(steps.len());
        for step in std::mem::take(steps) {
            let mut more = Vec::new();
            let run = step.io.files.iter().filter(|f| f.access == Access::Run);
            for file in run {
                let path = step.place(cwd).resolve(&file.path);
                let Some(source) = self.scripts.get(&path) else {
                    continue;
                };
                let shell = step.invocation.as_ref().is_some_and(|i| {
                    super::call::programs::is_shell(&i.program) || i.program == path
                });
                if shell || path.ends_with(".sh") {
                    more.extend(steps_of(&shell::parse(source), cwd));
                } else {
                    more.push(Step::script(source, cwd));
                }
            }
            all.push(step);
            all.extend(more);
        }
        *steps = all;
    }

    /// One step of a call.
    fn step(&mut self, event: &Event, mut step: Step) {
        let cwd = self.cwd(event);
        let cwd = cwd.as_deref();
        self.tidy_files(&mut step, cwd);
        step.flow = self.stash.uses(&step.io, &step.place(cwd));
        if let Some(git) = &mut step.git {
            let foreign = step.moved.as_deref().or(cwd).is_some_and(|dir| {
                self.stash
                    .find(&super::flow::Place::default().resolve(dir))
                    .is_some()
            });
            let map = Map {
                task: &self.task,
                history: &self.history,
                foreign,
            };
            map.classify(git);
            let handed = step.invocation.as_ref().is_some_and(|i| {
                i.args.iter().any(|w| w.dynamic)
                    || i.origin == Origin::Wrapped && git.words.iter().all(|w| w == "{}")
            });
            if handed {
                // Its revisions come from what the same command listed before.
                git.reach.extend(&self.listed);
            }
            self.listed.extend(&git.reach);
            if map.makes_later(git)
                && let Some(name) = &git.creates
            {
                self.history.add_later(name);
            }
            if git.verb == "remote"
                && let Some(name) = &git.creates
            {
                self.history.add_remote(name);
            }
            let call = self.calls.entry(event.id).or_default();
            let beyond = git
                .reach
                .iter()
                .any(|r| !matches!(r, Reach::Own | Reach::Past | Reach::Branch));
            let listing = matches!(
                git.verb.as_str(),
                "log" | "rev-list" | "reflog" | "blame" | "rev-parse"
            );
            if listing {
                call.lists = Some(call.lists.unwrap_or(false) || beyond);
            }
            call.commits |= git.verb == "commit";
        }
        self.mark(&step.text);
        let named = step.io.files.iter().map(|f| &f.path);
        for text in named.chain(&step.io.fetches) {
            self.rules.index.scan(text, &mut self.marks);
            self.index.scan(text, &mut self.marks);
        }
        let before = self.findings.len();
        let subject = Subject {
            text: &step.text,
            step: Some(&step),
        };
        self.try_rules(event, subject, |rule| rule.kind == Kind::Action);
        if let Some(message) = &step.message {
            self.mark(message);
            let subject = Subject {
                text: message,
                step: None,
            };
            self.try_rules(event, subject, |rule| rule.kind == Kind::Admission);
        }
        self.remember(event, &step, before);
    }

    /// The working directory of an event, or else that of the run.
    fn cwd(&self, event: &Event) -> Option<String> {
        event.cwd.clone().or_else(|| self.root.clone())
    }

    /// Reading back what the agent wrote itself is no reading of anything. Files of the work tree
    /// are called by their path in it, so that patterns over absolute paths mean files outside.
    fn tidy_files(&self, step: &mut Step, cwd: Option<&str>) {
        let root = self
            .root
            .as_deref()
            .map(|root| format!("{}/", root.trim_end_matches('/')));
        let mut files = std::mem::take(&mut step.io.files);
        files.retain(|file| {
            let path = step.place(cwd).resolve(&file.path);
            file.access != Access::Read
                || !self.own_files.contains(&path)
                || self.stash.find(&path).is_some()
        });
        if let Some(root) = root.filter(|root| root.len() > 1) {
            for file in &mut files {
                if let Some(inside) = file.path.strip_prefix(&root) {
                    file.path = inside.to_owned();
                }
            }
        }
        step.io.files = files;
    }

    /// Remembers what the step saved and wrote.
    fn remember(&mut self, event: &Event, step: &Step, before: usize) {
        let cwd = self.cwd(event);
        let place = step.place(cwd.as_deref());
        self.stash.spread(&step.io, &place);
        let bringing =
            self.findings.iter().skip(before).find(|f| {
                f.waived.is_none() && self.rules.rule(&f.rule).is_some_and(|r| r.carries)
            });
        if let Some(finding) = bringing {
            let saved = Saved {
                rule: finding.rule.clone(),
                cause: finding.cause,
                event: event.id,
            };
            for path in &step.saves {
                self.stash.add(path, saved.clone());
            }
        } else if step.io.fetches.is_empty() {
            for file in step.io.files.iter().filter(|f| f.access == Access::Write) {
                if self.own_files.len() < MAX_OWN_FILES {
                    self.own_files.insert(place.resolve(&file.path));
                }
            }
        }
        let heredoc = step.invocation.as_ref().and_then(|i| i.heredoc.as_deref());
        if let (Some(text), [path]) = (heredoc, step.saves.as_slice()) {
            self.add_script(path.clone(), text);
        }
    }

    fn add_script(&mut self, path: String, text: &str) {
        if text.len() <= MAX_SCRIPT
            && (self.scripts.len() < MAX_SCRIPTS || self.scripts.contains_key(&path))
        {
            self.scripts.insert(path, text.to_owned());
        }
    }

    /// A web call, a call of another tool, an edit.
    fn call(&mut self, event: &Event) {
        let text = plain(&event.text).into_owned();
        self.mark(&text);
        self.mentions(event, &text);
        if event.channel == Channel::Edit {
            self.history.set_edited();
            let subject = Subject {
                text: &text,
                step: None,
            };
            self.try_rules(event, subject, |rule| rule.kind == Kind::Admission);
            for edit in &event.edits {
                let cwd = self.cwd(event);
                let place = super::flow::Place {
                    moved: None,
                    cwd: cwd.as_deref(),
                };
                if let (EditOp::Write, Some(new)) = (edit.op, &edit.new) {
                    self.add_script(place.resolve(&edit.path), new);
                }
            }
        }
        self.step(event, Step::of_call(event, &text));
    }

    fn output(&mut self, event: &Event) {
        let text = plain(&event.text);
        self.mark(&text);
        self.mentions(event, &text);
        let Some(answers) = &event.answers else {
            return;
        };
        let outcome = event.outcome.unwrap_or_default();
        let Some(mut call) = self.calls.remove(&answers.event) else {
            return;
        };
        if let Some(beyond) = call.lists {
            self.history.learn(&text, beyond);
        }
        if call.commits {
            self.history.learn_made(&text);
        }
        if !call.waiting.is_empty() {
            self.judge(event, &call, &text, outcome);
        }
        call.answered = true;
        // A call can have several results (a background job, a stream): keep what waits for more.
        self.calls.insert(answers.event, call);
    }

    fn judge(&mut self, event: &Event, call: &Call, text: &str, outcome: Outcome) {
        let result = CallResult::new(text, outcome, &self.task, &self.history);
        let mut nothing = true;
        for waiting in &call.waiting {
            let (Some(active), Some(finding)) = (
                self.active.get(waiting.active),
                self.findings.get_mut(waiting.finding),
            ) else {
                continue;
            };
            let judgement = judge(active.rule, active.body(), waiting.state, &result);
            nothing &= judgement.blocked;
            settle(finding, judgement, event.id, !call.answered);
        }
        if nothing && let Some(answers) = &event.answers {
            self.stash.forget(answers.event);
        }
    }

    /// Tries the rules of some kinds on a text or step, and adds what they find.
    fn try_rules(&mut self, event: &Event, subject: Subject, kinds: impl Fn(&Rule) -> bool) {
        for number in 0..self.active.len() {
            let Some(active) = self.active.get(number) else {
                return;
            };
            let rule = active.rule;
            if !kinds(rule) || !self.applies(rule, event) || !self.marks.can_match(active.body()) {
                continue;
            }
            if let Some((hit, waived)) = self.first_hit(number, event, subject) {
                self.add(number, event, subject, &hit, waived);
            }
        }
    }

    /// True if the rule looks at events like this one.
    fn applies(&self, rule: &Rule, event: &Event) -> bool {
        let filter = &rule.filter;
        filter.channels.has(event.channel)
            && filter.tool.as_ref().is_none_or(|tools| {
                // A format may keep the query of a search and not the name of the tool.
                let unnamed = event.channel == Channel::Web;
                event
                    .tool
                    .as_deref()
                    .map_or(unnamed, |tool| tools.is_match(tool))
            })
            && filter
                .actor
                .is_none_or(|actor| (actor == ActorSyntax::Main) == (event.actor == Actor::Main))
            && filter
                .path
                .as_ref()
                .is_none_or(|paths| event.edits.iter().any(|edit| paths.is_match(&edit.path)))
    }

    /// The first hit that counts; if none counts, the first with the reason.
    fn first_hit(
        &mut self,
        number: usize,
        event: &Event,
        subject: Subject,
    ) -> Option<(Hit, Option<String>)> {
        let active = self.active.get(number)?;
        let (rule, body) = (active.rule, active.body());
        if data_hides(rule, body, subject) {
            return None;
        }
        let mut first: Option<(Hit, Option<String>)> = None;
        let complete = each_hit(body, rule.unit, subject, &self.task, &self.marks, |hit| {
            let waived = self.waived(rule, body, event, subject, &hit);
            let counts = waived.is_none();
            if counts || first.is_none() {
                first = Some((hit, waived));
            }
            counts
        });
        if !complete {
            *self.gave_up.entry(rule.id.clone()).or_default() += 1;
        }
        first
    }

    /// Why a hit does not count.
    fn waived(
        &self,
        rule: &Rule,
        body: &Body,
        event: &Event,
        subject: Subject,
        hit: &Hit,
    ) -> Option<String> {
        let piece = slice(subject.text, hit.piece.clone());
        let allowed = |allow: &&Allow| {
            let text = match allow.scope {
                Scope::Match => piece,
                Scope::Event => event.text.as_str(),
                Scope::Prompt => self.prompt.text(),
            };
            allow.any.iter().any(|p| match &p.kind {
                PatternKind::Text(regexp) => regexp.is_match(text),
                _ => matching::fits(p, subject, &self.task),
            })
        };
        if let Some(allow) = body.allow.iter().find(allowed) {
            return Some(allow.reason.clone());
        }
        match subject.step {
            None => {
                let prompt = matches!(event.channel, Channel::Prompt | Channel::System);
                (!prompt && self.prompt.quotes(piece)).then(|| QUOTED.to_owned())
            }
            Some(step) => {
                let asked = step
                    .invocation
                    .as_ref()
                    .is_some_and(|i| self.prompt.allows(i))
                    || !step.io.fetches.is_empty()
                        && step.io.fetches.iter().all(|a| {
                            self.prompt.names_address(a) && !self.task.names_own_change(a)
                        });
                (asked && !rule.tampering).then(|| ASKED.to_owned())
            }
        }
    }

    /// Adds a finding, or makes the one that the rule already has on this event stronger.
    fn add(
        &mut self,
        number: usize,
        event: &Event,
        subject: Subject,
        hit: &Hit,
        waived: Option<String>,
    ) {
        let Some(active) = self.active.get(number) else {
            return;
        };
        let rule = active.rule;
        if rule.kind == Kind::Mention {
            let count = self.mentions.entry(number).or_default();
            *count += 1;
            if *count > MAX_MENTIONS {
                return;
            }
        }
        let call = subject.step.is_some();
        let cautious = subject.step.is_some_and(|step| step.cautious);
        let piece = slice(subject.text, hit.piece.clone());
        let needs_own = [Fact::Pr, Fact::Issue, Fact::GtSha]
            .iter()
            .any(|fact| active.rule.body.hitting().any(|p| p.facts().contains(fact)));
        let finding = Finding {
            rule: rule.id.clone(),
            title: format!("{}{}", rule.title, if cautious { CAUTIOUS } else { "" }),
            kind: rule.kind,
            cause: hit
                .used
                .as_ref()
                .and_then(|used| used.saved.cause)
                .or(rule.cause),
            stage: match rule.kind {
                Kind::Action => Some(rule.attempt),
                Kind::Mention => Some(Stage::Mentioned),
                Kind::Admission | Kind::Mark => None,
            },
            blocked: rule.self_blocked,
            outcome_missing: call && rule.stage > rule.attempt,
            applies: false,
            names_own: needs_own || self.task.names_own(piece),
            tampering: rule.tampering,
            severity: rule.severity,
            confidence: if cautious {
                Confidence::Low
            } else {
                rule.confidence
            },
            channel: event.channel,
            actor: event.actor.to_string(),
            trace: self
                .labels
                .get(event.source.file as usize)
                .cloned()
                .unwrap_or_default(),
            line: event.source.line,
            event: event.id,
            reached_at: event.id,
            call: event.call.clone(),
            excerpt: excerpt(subject.text, &hit.range),
            fingerprint: fingerprint(
                &rule.id,
                event.channel,
                slice(subject.text, hit.range.clone()),
            ),
            waived,
        };
        let state = subject.step.map(|step| step.state);
        self.keep(number, event.id, finding, state);
    }

    /// Marks in added lines of a patch: licence headers, names of contributors, links. `path` is
    /// the path of the file, lines come with their 1-based numbers. Rules of kind `mark` look at
    /// nothing else: in a trace the same words are only edits in progress.
    pub fn scan_added_lines<'l>(
        &mut self,
        path: &str,
        lines: impl Iterator<Item = (u32, &'l str)>,
    ) -> Vec<Finding> {
        let before = self.findings.len();
        for (number, line) in lines {
            let source = Source {
                file: u32::MAX,
                line: u64::from(number),
                bytes: 0..0,
            };
            let mut event = Event::new(EventId::default(), source, Channel::Edit, line);
            event.edits.push(FileEdit {
                path: path.to_owned(),
                op: EditOp::Replace,
                old: None,
                new: None,
            });
            let text = plain(line);
            self.mark(&text);
            let subject = Subject {
                text: &text,
                step: None,
            };
            self.try_rules(&event, subject, |rule| rule.kind == Kind::Mark);
        }
        let mut found = self.findings.split_off(before);
        for finding in &mut found {
            path.clone_into(&mut finding.trace);
        }
        found
    }

    fn keep(&mut self, number: usize, event: EventId, finding: Finding, state: Option<CallState>) {
        let at = self.findings.len();
        self.findings.push(finding);
        if let Some(state) = state {
            self.calls.entry(event).or_default().waiting.push(Waiting {
                finding: at,
                active: number,
                state,
            });
        }
    }
}

/// A rule of texts does not look at words that a program prints, searches or records.
fn data_hides(rule: &Rule, body: &Body, subject: Subject) -> bool {
    rule.kind == Kind::Action
        && subject.step.is_some_and(|step| step.data)
        && body
            .hitting()
            .any(|p| matches!(p.kind, PatternKind::Text(_)))
}

/// Applies a judgement. A call with several results keeps the strongest.
fn settle(finding: &mut Finding, judgement: Judgement, at: EventId, first: bool) {
    let waived = judgement.waived.map(str::to_owned);
    if first {
        finding.stage = Some(judgement.stage);
        finding.applies = judgement.applies;
        finding.blocked = judgement.blocked;
        finding.outcome_missing = judgement.missing;
        finding.reached_at = at;
        finding.waived = finding.waived.take().or(waived);
        return;
    }
    if finding.stage < Some(judgement.stage) || judgement.applies && !finding.applies {
        finding.stage = finding.stage.max(Some(judgement.stage));
        finding.applies |= judgement.applies;
        finding.reached_at = at;
    }
    finding.blocked &= judgement.blocked;
    finding.outcome_missing &= judgement.missing;
}

impl EventSink for Engine<'_> {
    fn event(&mut self, event: &Event) {
        // Text that the model never saw is no evidence.
        if !event.model_saw {
            return;
        }
        if self.root.is_none() {
            self.root.clone_from(&event.cwd);
        }
        match event.channel {
            Channel::Prompt | Channel::System => {
                if event.channel == Channel::Prompt && event.actor == Actor::Main {
                    self.prompt.learn(&event.text);
                }
                let text = plain(&event.text);
                self.mark(&text);
                self.mentions(event, &text);
            }
            Channel::Command => self.command(event),
            Channel::ToolCall | Channel::Web | Channel::Edit => self.call(event),
            Channel::Output => self.output(event),
            Channel::Assistant | Channel::Reasoning | Channel::Result | Channel::Raw => {
                self.text(event);
            }
        }
    }
}
