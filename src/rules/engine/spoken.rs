//! Lines that a command prints by itself (`|| echo failed`): they are no content of what it fetches.

use std::borrow::Cow;
use std::collections::BTreeMap;

use super::Engine;
use super::scripts::spoken;
use super::steps::Step;
use crate::rules::outcome::Sink;
use crate::shell::model::Join;

impl Engine<'_> {
    /// Notes what a step prints by itself.
    pub(super) fn listen_to(&mut self, step: &Step) {
        let Some(invocation) = step.invocation.as_ref().filter(|_| step.io.speaks) else {
            return;
        };
        let plain = step.state.sink == Sink::Shown && invocation.args.iter().all(|w| !w.dynamic);
        if !plain || self.spoken.len() >= MAX_SPOKEN {
            return;
        }
        let refuses = invocation.join == Join::Or;
        for line in plain_lines(&spoken(invocation)) {
            *self.spoken.entry(line).or_insert(refuses) |= refuses;
        }
    }
}

/// Lines that a command prints by itself and that are kept in mind.
const MAX_SPOKEN: usize = 32;

/// Longest of them, in bytes.
const MAX_SPOKEN_LINE: usize = 200;

/// The lines of a text that say something, without what stands around them.
fn plain_lines(text: &str) -> impl Iterator<Item = String> {
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && line.len() <= MAX_SPOKEN_LINE)
        .map(str::to_owned)
        .take(MAX_SPOKEN)
        .collect::<Vec<_>>()
        .into_iter()
}

/// A result without the lines that the command itself printed, and whether one of these stands behind `||`: the
/// program before it failed.
pub(super) fn without_spoken<'t>(
    text: &'t str,
    spoken: &BTreeMap<String, bool>,
) -> (Cow<'t, str>, bool) {
    if spoken.is_empty() || !text.lines().any(|line| spoken.contains_key(line.trim())) {
        return (Cow::Borrowed(text), false);
    }
    let mut refused = false;
    let lines = text.split_inclusive('\n').filter(|line| {
        let said = spoken.get(line.trim());
        refused |= said == Some(&true);
        said.is_none()
    });
    let kept = lines.collect();
    (Cow::Owned(kept), refused)
}
