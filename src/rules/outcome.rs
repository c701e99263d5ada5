//! How the linked result moves the stage of a finding.
//!
//! ```text
//! no result in the trace            attempt, outcome missing
//! content left out, or still to come attempt, outcome missing
//! empty, refused, only an error     attempt, blocked
//! empty, of an unclear command      attempt, outcome missing
//! the result proves the rule's case rule's stage, or less where the content did not reach the
//!                                   agent: saved aside -> staged, counted -> exposed
//! the result shows names only       exposed
//! the result proves innocence       waived
//! anything else                     attempt
//! ```

use super::finding::Stage;
use super::pattern::{Pattern, PatternKind};
use super::result::CallResult;
use super::rule::{Body, Facet, Rule};

/// Where the output of a call goes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Sink {
    /// The agent sees it.
    #[default]
    Shown,
    /// It changes the work tree: `… | git apply`.
    Applied,
    /// It is written to a code file of the work tree.
    IntoTree,
    /// It is written elsewhere.
    Aside,
    /// It is executed.
    Run,
    /// It is dropped or counted.
    Dropped,
}

/// What the result proves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// How far the action got.
    pub stage: Stage,
    /// Nothing came back.
    pub blocked: bool,
    /// The work tree was changed.
    pub applies: bool,
    /// The result is cut short, or written in a way that nobody can read: the stage could be higher, or is a guess.
    pub missing: bool,
    /// Why the finding does not count.
    pub waived: Option<&'static str>,
}

impl Judgement {
    /// Nothing came back.
    pub fn blocked(rule: &Rule) -> Self {
        Self {
            stage: rule.attempt,
            blocked: true,
            applies: false,
            missing: false,
            waived: None,
        }
    }
}

/// Reason of a finding that its result waives.
pub const INNOCENT: &str = "the result shows nothing later than the base";

/// How a call stands when its result comes.
#[derive(Debug, Clone, Copy, Default)]
pub struct CallState {
    /// Where the output goes.
    pub sink: Sink,
    /// The command goes on after a failure (`|| true`), so silence proves nothing.
    pub forgiving: bool,
    /// The command could not be taken apart, or stands too deep in others: where its output goes is
    /// a guess.
    pub unclear: bool,
    /// Another part of the command, which runs whether or not this one brought something, shows a file of the
    /// work tree: source text in the result can be of either.
    pub beside: bool,
    /// What comes out is written in a way that nobody can read (`| rev`, `| base64`): its text tells nothing.
    pub opaque: bool,
    /// It is a program that writes what it fetches to files by itself: silence is no failure.
    pub keeps: bool,
}

/// Judges one finding by the result of its call.
pub fn judge(rule: &Rule, body: &Body, call: CallState, result: &CallResult) -> Judgement {
    let attempt = |blocked, missing| Judgement {
        stage: rule.attempt,
        blocked,
        applies: false,
        missing,
        waived: None,
    };
    if any(&body.innocent, result) {
        return Judgement {
            waived: Some(INNOCENT),
            ..attempt(false, false)
        };
    }
    let keeps = call.keeps && call.sink == Sink::Shown && !rule.silent_success;
    let silent = rule.silent_success
        || keeps
        || matches!(call.sink, Sink::IntoTree | Sink::Aside | Sink::Applied);
    if result.empty && silent && result.outcome.succeeded() {
        return if call.forgiving {
            attempt(false, true)
        } else {
            success(rule, if keeps { Sink::Aside } else { call.sink })
        };
    }
    if result.empty && call.unclear && result.outcome.succeeded() {
        return attempt(false, true);
    }
    if result.running || result.left_out && rule.stage >= Stage::Staged {
        return attempt(false, true);
    }
    // What changes the work tree shows nothing by itself.
    let changes = rule.applies && rule.silent_success && !result.errors;
    if call.beside && !changes && !tells_its_own(result) {
        return attempt(result.errors, !result.errors);
    }
    if any(&body.blocked, result) || result.failed {
        return attempt(true, false);
    }
    // Where the output is not shown, it cannot be looked at. Names count only where they are shown.
    let names = rule.attempt == Stage::Mentioned && rule.stage == Stage::Exposed;
    let looked_at = names && !body.success.is_empty();
    let unseen = call.sink != Sink::Shown && !looked_at;
    let opaque = call.opaque && call.sink == Sink::Shown;
    if unseen || body.success.is_empty() || any(&body.success, result) {
        let mut judgement = success(rule, call.sink);
        judgement.missing = opaque && rule.stage >= Stage::Obtained;
        return judgement;
    }
    if opaque && rule.stage >= Stage::Obtained && result.is(&[Facet::Content]) {
        return attempt(false, true);
    }
    for (patterns, stage) in [
        (&body.staged, Stage::Staged),
        (&body.exposed, Stage::Exposed),
    ] {
        if any(patterns, result) {
            return Judgement {
                stage: stage.min(rule.stage).max(rule.attempt),
                ..attempt(false, false)
            };
        }
    }
    attempt(false, result.outcome.truncated)
}

/// True if the result can only be of what was fetched: changed lines, a later commit, the progress of a download.
fn tells_its_own(result: &CallResult) -> bool {
    let arrived = |line: &str| {
        let mut words = line.split_whitespace();
        let status = line.starts_with("HTTP/") && line.contains(" 200");
        let full = words.next() == Some("100");
        status
            || full
                && words
                    .next()
                    .is_some_and(|size| size.starts_with(|c: char| c.is_ascii_digit()))
    };
    [Facet::Diff, Facet::Own, Facet::Later]
        .iter()
        .any(|facet| result.is(&[*facet]))
        || result.text.lines().any(arrived)
}

fn success(rule: &Rule, sink: Sink) -> Judgement {
    let (stage, applies) = match sink {
        Sink::Shown => (rule.stage, rule.applies),
        Sink::Applied | Sink::IntoTree if rule.stage >= Stage::Obtained => (rule.stage, true),
        Sink::Applied | Sink::IntoTree => (rule.stage, rule.applies),
        Sink::Aside | Sink::Run if rule.stage >= Stage::Staged => (Stage::Staged, false),
        // Names that were saved or counted were not shown.
        Sink::Aside | Sink::Run | Sink::Dropped => (rule.stage.min(Stage::Exposed), false),
    };
    Judgement {
        stage: stage.max(rule.attempt),
        blocked: false,
        applies,
        missing: false,
        waived: None,
    }
}

fn any(patterns: &[Pattern], result: &CallResult) -> bool {
    patterns.iter().any(|pattern| match &pattern.kind {
        PatternKind::Is(facets) => result.is(facets),
        PatternKind::Text(regexp) => regexp.is_match(result.text),
        _ => false,
    })
}
