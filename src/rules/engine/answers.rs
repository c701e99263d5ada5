//! Answers: what came back for a call, and what it makes of the findings that wait for it.

use std::collections::BTreeSet;

use super::spoken::without_spoken;
use super::{Call, Engine};
use crate::rules::finding::{Finding, Stage};
use crate::rules::outcome::{Judgement, judge};
use crate::rules::result::{CallResult, is_diff};
use crate::rules::rule::Facet;
use crate::rules::text::fold::plain;
use crate::trace::event::{CallRef, Channel, Event, EventId, Outcome};

/// Results of unclear commands that are kept in mind; the others are looked at for lines alone.
const MAX_UNCLEAR: usize = 4_096;

/// Results in front of their calls that are kept.
const MAX_EARLY: usize = 64;

/// Longest of them, in bytes.
const MAX_EARLY_TEXT: usize = 256 << 10;

/// What git says when there is nothing that it could commit.
const NO_COMMIT: [&str; 4] = [
    "nothing to commit",
    "nothing added to commit",
    "no changes added to commit",
    "Aborting commit",
];

impl Engine<'_> {
    /// What a call returned.
    pub(super) fn output(&mut self, event: &Event) {
        let text = plain(&event.text);
        self.mark(&text);
        self.mentions(event, &text);
        let Some(answers) = &event.answers else {
            self.keep_early(event);
            return;
        };
        self.past.answered(answers.event, &text);
        self.installed.learn(answers, &text, &self.task);
        let outcome = event.outcome.unwrap_or_default();
        self.answered(answers.event, event, &text, outcome);
        for earlier in self.jobs.fetched_by(answers.event).to_vec() {
            self.answered(earlier, event, &text, outcome);
        }
        self.jobs.learn(answers, &text, outcome);
        self.own_commit(event, answers, &text);
    }

    /// A call of git that shows the task's own commit with its change has obtained it, whatever else is known of it.
    fn own_commit(&mut self, event: &Event, answers: &CallRef, text: &str) {
        let asks = |text: &str| {
            let mut words = text.split(|c: char| !c.is_ascii_alphanumeric());
            words.any(|word| ["git", "tig", "GIT"].contains(&word))
        };
        if answers.channel != Channel::Command || !self.task.shows_gt(text) || !asks(&answers.text)
        {
            return;
        }
        let known = self.findings.iter().rev().any(|finding| {
            finding.event == answers.event
                && (finding.stage >= Some(Stage::Obtained) || finding.waived.is_some())
        });
        if !known && is_diff(text) {
            let found = self.own_commit_shown(event, answers);
            self.findings.push(found);
        }
    }

    /// Remembers a result that stands in front of its call: records can be out of order.
    fn keep_early(&mut self, event: &Event) {
        let Some(call) = &event.call else { return };
        if self.early.len() < MAX_EARLY && event.text.len() <= MAX_EARLY_TEXT {
            self.early.insert(call.clone(), event.clone());
        }
    }

    /// Judges a call by its result that was met before it.
    pub(super) fn answer_early(&mut self, event: &Event) {
        if self.early.is_empty() {
            return;
        }
        let early = event.call.as_ref().and_then(|call| self.early.remove(call));
        if let Some(early) = early {
            let text = plain(&early.text);
            self.answered(event.id, &early, &text, early.outcome.unwrap_or_default());
        }
    }

    /// A result, or a further one, of that call.
    fn answered(&mut self, id: EventId, event: &Event, text: &str, outcome: Outcome) {
        let Some(mut call) = self.calls.remove(&id) else {
            return;
        };
        if let Some(beyond) = call.lists {
            self.history.learn(text, beyond);
        }
        if call.commits {
            self.history.learn_made(text);
            if !call.answered && NO_COMMIT.iter().any(|said| text.contains(said)) {
                self.history.take_from_top(1);
            }
        }
        let asked = |waiting: &super::Waiting| {
            let finding = self.findings.get(waiting.finding);
            finding.is_some_and(|finding| finding.waived.is_some())
        };
        if call.lists == Some(true) && call.waiting.iter().any(asked) {
            // The prompt asks to look for lost work: what the reflog calls a commit is that work.
            self.history.learn_reflog(text);
        }
        let mut ended = true;
        if !call.waiting.is_empty() {
            ended = self.judge(id, event, &call, text, outcome);
        }
        if call.unclear
            && self.unclear_results.len() < MAX_UNCLEAR
            && let Some(answers) = &event.answers
        {
            let said = self.unclear_result(event, answers);
            self.unclear_results.push(said);
        }
        call.answered |= ended;
        // A call can have several results (a background job, a stream): keep what waits for more.
        self.calls.insert(id, call);
    }

    /// Judges what waits for the result. False if the command goes on and has printed nothing so far.
    fn judge(
        &mut self,
        id: EventId,
        event: &Event,
        call: &Call,
        text: &str,
        outcome: Outcome,
    ) -> bool {
        let (text, refused) = without_spoken(text, &call.spoken);
        let asked = event.answers.as_deref().map_or("", |call| &call.text);
        let outcome = told_by_echo(asked, &text, outcome);
        let mut result = CallResult::new(&text, outcome, &self.task, &self.history);
        if refused && result.empty {
            result.refuse();
        }
        let reads = |call: &CallRef| self.installed.is_read_by(&call.text);
        if !result.failed && event.answers.as_deref().is_some_and(reads) {
            result.facets.insert(Facet::Later);
        }
        let mut nothing = true;
        // The only fetch of the call failed, so what reads its file reads something else.
        let failures = || call.waiting.iter().filter_map(|w| w.unseen.as_deref());
        let fetches: BTreeSet<_> = failures().collect();
        let failed = match fetches.first() {
            Some((program, name)) if fetches.len() == 1 => result.tells_failure(program, name),
            _ => false,
        };
        for waiting in &call.waiting {
            let (Some(active), Some(finding)) = (
                self.active.get(waiting.active),
                self.findings.get_mut(waiting.finding),
            ) else {
                continue;
            };
            let in_vain = failed && (waiting.unseen.is_some() || waiting.from == Some(id))
                || waiting.follows && result.errors;
            let judgement = if in_vain {
                Judgement::blocked(active.rule)
            } else {
                judge(active.rule, active.body(), waiting.state, &result)
            };
            nothing &= judgement.blocked;
            settle(finding, judgement, event.id, !call.answered);
        }
        if nothing {
            self.stash.forget(id);
        }
        !result.running
    }
}

/// How a call ended, where all that it printed is what `echo $?` says: `curl -sfo x ADDRESS; echo $?`.
fn told_by_echo(command: &str, text: &str, mut outcome: Outcome) -> Outcome {
    let said = text
        .trim()
        .trim_start_matches(|c: char| !c.is_ascii_digit());
    if command.contains("echo")
        && command.contains("$?")
        && text.trim().len() <= MAX_ECHO
        && let Ok(code @ 1..=255) = said.trim_end_matches([']', ')', '.']).parse::<i32>()
        && outcome.succeeded()
    {
        outcome.exit_code = Some(code);
    }
    outcome
}

/// Longest line that such an `echo` prints: `exit code: 255`.
const MAX_ECHO: usize = 20;

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
