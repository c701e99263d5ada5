//! `[[override]]`: changes of a rule that is already there.
//!
//! Each changed key is named under `replace` or `append`; nothing is merged by guesswork.

use std::ops::Range;

use toml::Spanned;

use super::compile;
use super::compile_pattern::{Position, patterns};
use super::diagnostic::Sink;
use super::finding::{Cause, Confidence, Kind, Severity, Stage};
use super::pattern::Pattern;
use super::rule::{Allow, Channels, Rule, RuleTest, Status};
use super::schema::{AppendSyntax, OverrideSyntax, ReplaceSyntax};
use crate::experiment::task_facts::TaskFacts;

/// An `[[override]]` that was checked without a look at the rule.
#[derive(Debug)]
pub(super) struct Change {
    /// Where to say what is wrong with it as a whole.
    at: Range<usize>,
    enabled: Option<bool>,
    /// Why the rule is switched off.
    disabled: Option<String>,
    replace: Option<Replace>,
    append: Option<Append>,
}

#[derive(Debug)]
struct Replace {
    title: Option<String>,
    description: Option<String>,
    severity: Option<Severity>,
    confidence: Option<Confidence>,
    status: Option<Status>,
    stage: Option<Spanned<Stage>>,
    attempt: Option<Spanned<Stage>>,
    cause: Option<Cause>,
    advice: Option<String>,
    channels: Option<Channels>,
    any: Option<Vec<Pattern>>,
    all: Option<Vec<Pattern>>,
    none: Option<Vec<Pattern>>,
}

#[derive(Debug)]
struct Append {
    tags: Vec<String>,
    references: Vec<String>,
    any: Vec<Pattern>,
    none: Vec<Pattern>,
    success: Vec<Pattern>,
    blocked: Vec<Pattern>,
    allow: Vec<Allow>,
    tests: Vec<RuleTest>,
}

/// Checks what stands in an override; `None` if something in it is wrong. `facts` are those of tests that give none.
pub(super) fn compile(
    change: OverrideSyntax,
    facts: &TaskFacts,
    sink: &mut Sink,
) -> Option<Change> {
    let before = sink.count();
    let span = change.id.span();
    let mut disabled = None;
    if change.enabled == Some(false) {
        match change.reason {
            Some(reason) if !reason.get_ref().trim().is_empty() => {
                disabled = Some(reason.into_inner());
            }
            _ if sink.doubts.about(&["reason"]) => {}
            _ => sink.error_help(
                span.clone(),
                "a rule is switched off with a reason",
                "add `reason = \"…\"`",
            ),
        }
    }
    let empty = change.enabled.is_none() && change.replace.is_none() && change.append.is_none();
    if empty && !sink.doubts.about(&["enabled", "replace", "append"]) {
        sink.error_help(
            span,
            "the override changes nothing",
            "add `replace`, `append`, or `enabled = false` with a `reason`",
        );
    }
    let replace = change.replace.map(|new| self::replace(new, sink));
    let append = change.append.map(|more| self::append(more, facts, sink));
    (sink.count() == before).then_some(Change {
        at: change.id.span(),
        enabled: change.enabled,
        disabled,
        replace,
        append,
    })
}

fn replace(new: ReplaceSyntax, sink: &mut Sink) -> Replace {
    for (stage, highest) in stages(&new.stage, &new.attempt) {
        if let Some(stage) = stage
            && *stage.get_ref() > highest
        {
            no_such_stage(stage.span(), sink);
        }
    }
    let channels = new.channels.filter(|channels| {
        let empty = channels.get_ref().is_empty() && !sink.doubts.about(&["channels"]);
        if empty {
            sink.error(channels.span(), "no channel: the rule can never match");
        }
        !empty
    });
    let mut list = |new: Option<Vec<_>>| new.map(|list| patterns(list, Position::Match, sink).good);
    Replace {
        any: list(new.any),
        all: list(new.all),
        none: list(new.none),
        title: new.title,
        description: new.description,
        severity: new.severity,
        confidence: new.confidence,
        status: new.status,
        stage: new.stage,
        attempt: new.attempt,
        cause: new.cause,
        advice: new.advice,
        channels: channels.map(|channels| Channels::of(channels.get_ref())),
    }
}

fn append(more: AppendSyntax, facts: &TaskFacts, sink: &mut Sink) -> Append {
    let mut list = |list, position| patterns(list, position, sink).good;
    Append {
        tags: more.tags,
        references: more.references,
        any: list(more.any, Position::Match),
        none: list(more.none, Position::Match),
        success: list(more.success, Position::Outcome),
        blocked: list(more.blocked, Position::Outcome),
        allow: compile::allows(more.allow, sink),
        tests: compile::tests(more.test, facts, sink),
    }
}

fn stages<'s>(
    stage: &'s Option<Spanned<Stage>>,
    attempt: &'s Option<Spanned<Stage>>,
) -> [(Option<&'s Spanned<Stage>>, Stage); 2] {
    [
        (stage.as_ref(), Stage::Obtained),
        (attempt.as_ref(), Stage::Attempted),
    ]
}

fn no_such_stage(span: Range<usize>, sink: &mut Sink) {
    sink.error(span, "the rule cannot have this stage");
}

/// Changes a rule.
pub(super) fn apply(rule: &mut Rule, change: Change, sink: &mut Sink) {
    fn put<T>(field: &mut T, value: Option<T>) {
        if let Some(value) = value {
            *field = value;
        }
    }
    match change.enabled {
        Some(true) => rule.disabled = None,
        Some(false) => rule.disabled = change.disabled,
        None => {}
    }
    if let Some(new) = change.replace {
        for (stage, _) in stages(&new.stage, &new.attempt) {
            if let Some(stage) = stage.filter(|_| rule.kind != Kind::Action) {
                no_such_stage(stage.span(), sink);
            }
        }
        put(&mut rule.title, new.title);
        put(&mut rule.description, new.description);
        put(&mut rule.severity, new.severity);
        put(&mut rule.confidence, new.confidence);
        put(&mut rule.status, new.status);
        put(&mut rule.advice, new.advice);
        rule.cause = new.cause.or(rule.cause);
        put(&mut rule.stage, new.stage.map(Spanned::into_inner));
        put(&mut rule.attempt, new.attempt.map(Spanned::into_inner));
        put(&mut rule.filter.channels, new.channels);
        put(&mut rule.body.any, new.any);
        put(&mut rule.body.all, new.all);
        put(&mut rule.body.none, new.none);
    }
    if let Some(more) = change.append {
        rule.tags.extend(more.tags);
        rule.references.extend(more.references);
        rule.body.any.extend(more.any);
        rule.body.none.extend(more.none);
        rule.body.success.extend(more.success);
        rule.body.blocked.extend(more.blocked);
        rule.body.allow.extend(more.allow);
        rule.tests.extend(more.tests);
    }
    compile::changed(rule, change.at, sink);
}
