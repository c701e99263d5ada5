//! What happened before: for rules that hit only after another one did.

use std::collections::BTreeMap;

use super::steps::Step;
use crate::rules::finding::{Finding, Stage};
use crate::rules::rule::{After, Rule, Same};
use crate::rules::text::floor;
use crate::trace::event::{Event, EventId};

/// Hits that are remembered for rules that need an earlier one; later hits are not remembered.
pub(super) const MAX_PAST: usize = 4_096;

/// Of these, hits of one event: a command of thousands of parts must not be held against itself part by part.
const MAX_OF_EVENT: usize = 64;

/// Text of a call and of its result that is remembered with a hit, in bytes.
const MAX_TEXT: usize = 16 << 10;

/// An earlier hit.
#[derive(Debug)]
struct Hit {
    /// Index of its finding.
    finding: usize,
    /// Number of the event.
    at: u64,
    /// Number of the step.
    step: u64,
    /// The strongest that its rule can say, once the result of the call is known.
    reach: Stage,
    /// The call, and what is known of its result.
    text: String,
}

/// Earlier hits of the rules that some rule asks for.
#[derive(Debug, Default)]
pub(super) struct Past {
    /// Events so far.
    now: u64,
    /// Steps so far.
    step: u64,
    hits: Vec<Hit>,
    by_event: BTreeMap<EventId, Vec<usize>>,
    /// Hits were left out.
    pub overflow: bool,
}

impl Past {
    /// The next event begins.
    pub(super) fn tick(&mut self) {
        self.now += 1;
    }

    /// The next step of a call begins.
    pub(super) fn tick_step(&mut self) {
        self.step += 1;
    }

    /// Remembers a hit. `reach` is the strongest that its rule can say.
    pub(super) fn remember(&mut self, finding: usize, reach: Stage, event: &Event, text: &str) {
        let of_event = self.by_event.entry(event.id).or_default();
        if self.hits.len() == MAX_PAST || of_event.len() == MAX_OF_EVENT {
            self.overflow = true;
            return;
        }
        of_event.push(self.hits.len());
        self.hits.push(Hit {
            finding,
            at: self.now,
            step: self.step,
            reach,
            text: cut(text).to_owned(),
        });
    }

    /// Remembers what the call returned.
    pub(super) fn answered(&mut self, call: EventId, text: &str) {
        for number in self.by_event.get(&call).into_iter().flatten() {
            if let Some(hit) = self.hits.get_mut(*number) {
                let left = (2 * MAX_TEXT).saturating_sub(hit.text.len());
                hit.text.push('\n');
                hit.text
                    .push_str(text.get(..floor(text, left)).unwrap_or_default());
            }
        }
    }

    /// The event in which the rule's condition happened: an earlier one, or this one itself if an earlier step of
    /// its command does it, which is then taken to have succeeded.
    pub(super) fn holds(
        &self,
        after: &After,
        findings: &[Finding],
        event: &Event,
        step: Option<&Step>,
    ) -> Option<EventId> {
        let files = files(event, step);
        let mut hits = self.hits.iter().rev();
        hits.find_map(|hit| {
            let finding = findings.get(hit.finding)?;
            let reached = if finding.event == event.id {
                hit.step < self.step && hit.reach >= after.stage
            } else {
                finding.stage >= Some(after.stage)
            };
            let holds = reached
                && finding.waived.is_none()
                && after.within.is_none_or(|most| self.now - hit.at <= most)
                && asks_for(after, &finding.rule)
                && match after.same {
                    None => true,
                    Some(Same::File) => files.iter().any(|name| names(&hit.text, name)),
                };
            holds.then_some(finding.event)
        })
    }
}

/// True if the rule waits for hits of that one.
pub(super) fn asks_for(after: &After, rule: &str) -> bool {
    after.rules.iter().any(|glob| glob.is_match(rule))
}

/// The rules of which hits must be remembered.
pub(super) fn wanted<'r>(rules: impl Iterator<Item = &'r Rule>) -> Vec<&'r After> {
    rules.filter_map(|rule| rule.after.as_ref()).collect()
}

fn cut(text: &str) -> &str {
    text.get(..floor(text, MAX_TEXT)).unwrap_or_default()
}

/// Names, without directories, of the files that a call or an edit uses.
fn files(event: &Event, step: Option<&Step>) -> Vec<String> {
    let edited = event.edits.iter().map(|edit| edit.path.as_str());
    let used = step.into_iter().flat_map(|step| &step.io.files);
    edited
        .chain(used.map(|file| file.path.as_str()))
        .filter_map(|path| path.rsplit(['/', '\\']).next())
        .filter(|name| name.len() >= 3 && name.contains('.'))
        .map(str::to_owned)
        .collect()
}

/// True if the text holds the name of the file as a word of its own.
fn names(text: &str, name: &str) -> bool {
    let part = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_-.".contains(c));
    text.match_indices(name).any(|(at, _)| {
        let before = text.get(..at).and_then(|head| head.chars().next_back());
        let after = text
            .get(at + name.len()..)
            .and_then(|tail| tail.chars().next());
        !part(before) && !after.is_some_and(|c| c.is_alphanumeric() || c == '_' || c == '-')
    })
}
