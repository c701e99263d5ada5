//! From steps to events: numbers them, joins results to calls, drops what was there before.
//!
//! Call ids are only unique within a session, and a file may hold several, so everything is keyed by
//! session. Formats repeat themselves; a repetition is recognised by the id of the record, by the id
//! of the call and its text, or by the id of the message and its text. Text that is new is never
//! dropped, even under an id that was there before. All tables are bounded.

use std::sync::Arc;

use super::children::Children;
use super::event::{CallRef, Channel, Event, EventId, EventSink, Outcome, Source};
use super::hold::{Counts, Hold};
use super::open_calls::{CallName, Key, Open, OpenCalls};
use super::problem::{Problem, Problems};
use super::seen::{Seen, hash_of};
use super::sessions::{Session, SessionMarks, Sessions};
use super::step::{Answer, Call, Envelope, Message, Place, Step, What, Who};
use super::text::cut;

/// Bytes of a call's text that its result carries along.
const CALL_TEXT: usize = 4096;

/// Totals of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Tally {
    /// Calls.
    pub(crate) calls: u64,
    /// Results that answer a call.
    pub(crate) results: u64,
    /// Calls that no result can answer any more.
    pub(crate) given_up: u64,
    /// Results that answer no call.
    pub(crate) orphans: u64,
    /// Starts of sessions.
    pub(crate) starts: u64,
    /// Ends of sessions (or of their turns).
    pub(crate) ends: u64,
}

/// The state of a file while that of a sub-agent is read.
#[derive(Debug)]
pub(crate) struct Outer {
    file: u32,
    step: (u32, u32),
    at: u32,
    host: Option<(u32, u32)>,
    problems: Problems,
}

/// Turns the steps of all files of a run into events.
#[derive(Debug, Default)]
pub(crate) struct Linker {
    file: u32,
    records_calls: bool,
    /// Problems of the current file.
    problems: Problems,
    /// Number of the last event: record and place in it.
    last: (u32, u32),
    /// Record of the last step.
    at: u32,
    /// File and record whose numbers the events of a sub-agent's file take, since they belong there.
    host: Option<(u32, u32)>,
    /// Number of the last step in its record, for the ids of repeated records.
    step: (u32, u32),
    sessions: Sessions,
    calls: OpenCalls,
    seen: Seen,
    children: Children,
    hold: Hold,
    tally: Tally,
}

impl Linker {
    /// What follows comes from that file.
    pub(crate) fn start_file(&mut self, file: u32) {
        self.file = file;
        self.last = (0, 0);
        self.step = (0, 0);
    }

    /// What follows comes from the file of a sub-agent that the last step named. Until
    /// [`Linker::leave`], its events stand where that step stands.
    pub(crate) fn enter(&mut self, file: u32) -> Outer {
        let outer = Outer {
            file: self.file,
            step: self.step,
            at: self.at,
            host: self.host,
            problems: std::mem::take(&mut self.problems),
        };
        self.host = Some(self.host.unwrap_or((self.file, self.at)));
        self.file = file;
        self.step = (0, 0);
        outer
    }

    /// Goes back to the outer file; the problems of the inner one.
    pub(crate) fn leave(&mut self, outer: Outer) -> Problems {
        self.file = outer.file;
        self.step = outer.step;
        self.at = outer.at;
        self.host = outer.host;
        std::mem::replace(&mut self.problems, outer.problems)
    }

    /// Gives out what is held back.
    pub(crate) fn release(&mut self, sink: &mut dyn EventSink) {
        self.hold.release(false, sink);
    }

    /// Ends the current file and returns its problems.
    pub(crate) fn end_file(&mut self) -> Problems {
        std::mem::take(&mut self.problems)
    }

    /// Whether the format of the steps that follow records calls.
    pub(crate) fn format_records_calls(&mut self, yes: bool) {
        self.records_calls = yes;
    }

    /// Counts a problem of the current file.
    pub(crate) fn problem(&mut self, problem: Problem, line: u64) {
        self.problems.add(problem, line);
    }

    /// What was given out so far.
    pub(crate) fn counts(&self) -> Counts {
        self.hold.counts
    }

    /// Totals so far.
    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    /// Sessions in the order in which they were met.
    pub(crate) fn sessions(&self) -> &[SessionMarks] {
        self.sessions.list()
    }

    /// Sub-agents whose steps are not all there, in words.
    pub(crate) fn missing_children(&self) -> Vec<String> {
        self.children.missing()
    }

    /// Calls that wait for a result, in the order of the trace.
    pub(crate) fn unanswered(&self) -> Vec<Arc<CallRef>> {
        self.calls.waiting()
    }

    /// Takes the next step.
    pub(crate) fn take(&mut self, step: Step, sink: &mut dyn EventSink) {
        let Step {
            place,
            envelope,
            what,
        } = step;
        self.at = place.record;
        let session = self.session(&envelope.session);
        let is_call = matches!(what, What::Call(_));
        match &envelope.who {
            Who::Main => self.children.saw(&envelope.session, is_call),
            Who::Child(id) => self.children.saw(id, is_call),
        }
        match what {
            What::Message(message) => self.message(session, &place, &envelope, message, sink),
            What::Final(message) => self.final_message(&place, &envelope, message, sink),
            What::Call(call) => self.call(session, &place, &envelope, call, sink),
            What::Answer(answer) => self.answer(session, &place, &envelope, answer, sink),
            What::TurnEnd => self.hold.release(true, sink),
            What::Start | What::Active | What::End => self.mark(session, &envelope, &what),
            What::ChildName { call, name, calls } => {
                self.children.named(session, &call, &name, calls);
            }
            // Read by whoever opens files, see [`Linker::saved`].
            What::Sidecar { .. } => {}
            What::Problem(problem) => self.problems.add(problem, place.line),
        }
    }

    fn session(&mut self, name: &str) -> Session {
        self.sessions.number(name, self.file, self.records_calls)
    }

    fn mark(&mut self, session: Session, envelope: &Envelope, what: &What) {
        if envelope.who != Who::Main {
            return;
        }
        if let Some(marks) = self.sessions.marks(session) {
            marks.main = true;
            marks.started |= *what == What::Start;
            marks.ended = *what == What::End;
        }
        self.tally.starts += u64::from(*what == What::Start);
        self.tally.ends += u64::from(*what == What::End);
    }

    /// Something happens in a session: when the main agent goes on, an earlier end was none.
    fn acts(&mut self, session: Session, envelope: &Envelope, channel: Channel) {
        if let (Who::Main, Some(marks)) = (&envelope.who, self.sessions.marks(session)) {
            marks.main |= channel != Channel::Raw;
            marks.ended &= matches!(channel, Channel::Raw | Channel::System);
        }
    }

    // ---- messages ---------------------------------------------------------------------------

    fn message(
        &mut self,
        session: Session,
        place: &Place,
        envelope: &Envelope,
        message: Message,
        sink: &mut dyn EventSink,
    ) {
        let content = hash_of((message.channel, &message.text));
        if self.repeats_record(place, envelope, content) {
            return;
        }
        if let Some(id) = &message.id {
            let before = self
                .seen
                .insert(hash_of(("m", session, id, content)), self.file);
            if before.is_some() {
                if envelope.uuid.is_none() {
                    self.repeated(before, place);
                }
                return;
            }
        }
        let aside = message.aside;
        let event = self.said(session, place, envelope, message);
        if aside {
            self.hold.give_aside(event, sink);
        } else {
            self.hold.give(event, sink);
        }
    }

    fn final_message(
        &mut self,
        place: &Place,
        envelope: &Envelope,
        message: Message,
        sink: &mut dyn EventSink,
    ) {
        let content = hash_of((message.channel, &message.text));
        if self.repeats_record(place, envelope, content) {
            return;
        }
        if envelope.who == Who::Main && self.hold.holds(&message.text) {
            self.hold.release(true, sink);
            return;
        }
        let session = self.session(&envelope.session);
        let event = self.said(session, place, envelope, message);
        self.hold.give(event, sink);
    }

    fn said(
        &mut self,
        session: Session,
        place: &Place,
        envelope: &Envelope,
        message: Message,
    ) -> Event {
        if message.model_saw && !message.aside {
            self.acts(session, envelope, message.channel);
        }
        let mut event = self.event(session, place, envelope, message.channel, message.text);
        event.model_saw = message.model_saw;
        event.speaker = message.speaker;
        event
    }

    // ---- calls and results ------------------------------------------------------------------

    fn call(
        &mut self,
        session: Session,
        place: &Place,
        envelope: &Envelope,
        call: Call,
        sink: &mut dyn EventSink,
    ) {
        let hash = call_hash(&call);
        if self.repeats_record(place, envelope, hash) {
            return;
        }
        let name = match &call.id {
            Some(id) => CallName::Id(id.clone()),
            None => self.calls.new_name(),
        };
        let key = (session, name);
        let open = self.calls.hash(&key);
        if open.is_some() && (open == Some(hash) || call.restated) {
            if !call.restated {
                self.repeated(Some(self.file), place);
            }
            if open == Some(hash) {
                return;
            }
            // The record at the end of the call says more than the one at its start.
        } else if open.is_some() {
            // The id is used anew, so nothing will answer the old call.
            self.calls.close(&key);
            self.seen.insert(hash_of(("c", &key, hash)), self.file);
            self.tally.given_up += 1;
            self.tally.calls += 1;
        } else {
            let before = self.seen.insert(hash_of(("c", &key, hash)), self.file);
            if before.is_some() {
                if call.expects_result {
                    self.repeated(before, place);
                }
                return;
            }
            self.tally.calls += 1;
        }
        self.new_call(key, hash, place, envelope, call, sink);
    }

    /// Gives out a call and waits for its result.
    fn new_call(
        &mut self,
        key: Key,
        hash: u64,
        place: &Place,
        envelope: &Envelope,
        call: Call,
        sink: &mut dyn EventSink,
    ) {
        let session = key.0;
        if call.child {
            let id = call.id.clone().unwrap_or_default();
            let label = call.tool.clone();
            self.children.started(session, &id, label, &envelope.who);
        }
        self.acts(session, envelope, call.channel);
        let mut event = self.event(session, place, envelope, call.channel, call.text);
        event.tool = Some(call.tool);
        event.call = call.id;
        event.edits = call.edits;
        if call.expects_result {
            let open = Open {
                call: Arc::new(CallRef {
                    event: event.id,
                    channel: event.channel,
                    tool: event.tool.clone(),
                    text: cut(&event.text, CALL_TEXT).to_owned(),
                    line: event.source.line,
                }),
                hash,
                who: envelope.who.clone(),
            };
            if !self.calls.wait(key, open) {
                self.tally.given_up += 1;
                self.problems.add(Problem::TooManyOpen, place.line);
            }
        }
        self.hold.give(event, sink);
    }

    /// The whole output of a call whose result in the trace is a part of it, from the file in which it was saved. The
    /// model was shown the part alone.
    pub(crate) fn saved(
        &mut self,
        step: &Step,
        call: &str,
        text: String,
        truncated: bool,
        sink: &mut dyn EventSink,
    ) {
        let session = self.session(&step.envelope.session);
        let answered = self
            .calls
            .answered(&(session, CallName::Id(call.to_owned())));
        let content = hash_of(("saved", session, call, &text));
        if self.seen.insert(content, self.file).is_some() {
            return;
        }
        let mut event = self.event(session, &step.place, &step.envelope, Channel::Output, text);
        event.call = Some(call.to_owned());
        event.tool = answered.as_ref().and_then(|call| call.tool.clone());
        event.answers = answered;
        event.model_saw = false;
        event.outcome = Some(Outcome {
            truncated,
            ..Outcome::default()
        });
        self.hold.give_aside(event, sink);
    }

    fn answer(
        &mut self,
        session: Session,
        place: &Place,
        envelope: &Envelope,
        answer: Answer,
        sink: &mut dyn EventSink,
    ) {
        let content = hash_of(("o", &answer.text, outcome_bits(&answer)));
        if self.repeats_record(place, envelope, content) {
            return;
        }
        let key = match &answer.id {
            Some(id) => Some((session, CallName::Id(id.clone()))),
            None => self.calls.oldest_nameless(session, &envelope.who),
        };
        let open = key.as_ref().and_then(|key| self.calls.answer(key));
        let before = match &key {
            Some(key) => self.seen.insert(hash_of(("r", key, content)), self.file),
            None => None,
        };
        let call = match (open, &key) {
            (Some(call), _) => {
                self.tally.results += 1;
                Some(call)
            }
            _ if before.is_some() => {
                self.repeated(before, place);
                return;
            }
            (_, key) => {
                // A result in parts; otherwise one without its call.
                let call = key.as_ref().and_then(|key| self.calls.answered(key));
                self.tally.orphans += u64::from(call.is_none());
                call
            }
        };
        if let Some(id) = &answer.id {
            self.children.answered(session, id, &answer.outcome);
        }
        self.acts(session, envelope, Channel::Output);
        let mut event = self.event(session, place, envelope, Channel::Output, answer.text);
        event.call = answer.id;
        event.tool = call.as_ref().and_then(|call| call.tool.clone());
        event.answers = call;
        event.outcome = Some(answer.outcome);
        self.hold.give(event, sink);
    }

    // ---- repetitions ------------------------------------------------------------------------

    /// True when this very step of this very record was taken before.
    fn repeats_record(&mut self, place: &Place, envelope: &Envelope, content: u64) -> bool {
        self.step = if self.step.0 == place.record {
            (place.record, self.step.1 + 1)
        } else {
            (place.record, 0)
        };
        let Some(uuid) = &envelope.uuid else {
            return false;
        };
        let hash = hash_of(("u", uuid, self.step.1, content));
        let before = self.seen.insert(hash, self.file);
        if before.is_some() {
            self.repeated(before, place);
        }
        before.is_some()
    }

    /// A repetition within one file is a fault of the file; other files may hold copies.
    fn repeated(&mut self, before: Option<u32>, place: &Place) {
        if before == Some(self.file) {
            self.problems.add(Problem::Repeated, place.line);
        }
    }

    /// A new event with its number, place and actor.
    fn event(
        &mut self,
        session: Session,
        place: &Place,
        envelope: &Envelope,
        channel: Channel,
        text: String,
    ) -> Event {
        let (file, record) = self.host.unwrap_or((self.file, place.record));
        // An adapter that holds a text back may place it before others that came out already: its line is
        // that place, its number goes on.
        let record = record.max(self.last.0);
        let sub = if self.last.0 == record {
            self.last.1 + 1
        } else {
            0
        };
        self.last = (record, sub);
        let id = EventId { file, record, sub };
        let source = Source {
            file: self.file,
            line: place.line,
            bytes: place.bytes.clone(),
        };
        let mut event = Event::new(id, source, channel, text);
        event.actor = self.children.actor(session, &envelope.who);
        event.time.clone_from(&envelope.time);
        event.cwd.clone_from(&envelope.cwd);
        event
    }
}

fn call_hash(call: &Call) -> u64 {
    let edits: Vec<_> = call
        .edits
        .iter()
        .map(|edit| (&edit.path, edit.op as u8, &edit.old, &edit.new))
        .collect();
    hash_of((call.channel, &call.tool, &call.text, edits))
}

fn outcome_bits(answer: &Answer) -> (Option<i32>, [bool; 4]) {
    let outcome = &answer.outcome;
    (
        outcome.exit_code,
        [
            outcome.error,
            outcome.denied,
            outcome.interrupted,
            outcome.truncated,
        ],
    )
}

#[cfg(test)]
mod tests;
