//! `[[override]]`: changes of a rule that is already there.
//!
//! Each changed key is named under `replace` or `append`; nothing is merged by guesswork.

use toml::Spanned;

use super::compile;
use super::compile_pattern::{Position, patterns};
use super::diagnostic::Sink;
use super::finding::{Kind, Stage};
use super::rule::{Channels, Rule};
use super::schema::{AppendSyntax, OverrideSyntax, ReplaceSyntax};

/// Applies one `[[override]]`.
pub(super) fn apply(rule: &mut Rule, change: OverrideSyntax, sink: &mut Sink) {
    let span = change.id.span();
    if change.enabled == Some(false) {
        match change.reason {
            Some(reason) if !reason.get_ref().trim().is_empty() => {
                rule.disabled = Some(reason.into_inner());
            }
            _ => sink.error_help(
                span.clone(),
                "a rule is switched off with a reason",
                "add `reason = \"…\"`",
            ),
        }
    }
    if change.enabled.is_none() && change.replace.is_none() && change.append.is_none() {
        sink.error(span, "the override changes nothing");
    }
    if let Some(replace) = change.replace {
        self::replace(rule, replace, sink);
    }
    if let Some(append) = change.append {
        self::append(rule, append, sink);
    }
}

fn replace(rule: &mut Rule, new: ReplaceSyntax, sink: &mut Sink) {
    fn put<T>(field: &mut T, value: Option<T>) {
        if let Some(value) = value {
            *field = value;
        }
    }
    put(&mut rule.title, new.title);
    put(&mut rule.description, new.description);
    put(&mut rule.severity, new.severity);
    put(&mut rule.confidence, new.confidence);
    put(&mut rule.status, new.status);
    put(&mut rule.advice, new.advice);
    if new.cause.is_some() {
        rule.cause = new.cause;
    }
    for (stage, highest) in [
        (&new.stage, Stage::Obtained),
        (&new.attempt, Stage::Attempted),
    ] {
        if let Some(stage) = stage
            && (rule.kind != Kind::Action || *stage.get_ref() > highest)
        {
            sink.error(stage.span(), "the rule cannot have this stage");
        }
    }
    put(&mut rule.stage, new.stage.map(Spanned::into_inner));
    put(&mut rule.attempt, new.attempt.map(Spanned::into_inner));
    put(
        &mut rule.filter.channels,
        new.channels.map(|c| Channels::of(c.get_ref())),
    );
    let mut list = |new: Option<Vec<_>>| new.and_then(|list| patterns(list, Position::Match, sink));
    put(&mut rule.body.any, list(new.any));
    put(&mut rule.body.all, list(new.all));
    put(&mut rule.body.none, list(new.none));
}

fn append(rule: &mut Rule, more: AppendSyntax, sink: &mut Sink) {
    rule.tags.extend(more.tags);
    rule.references.extend(more.references);
    let facts = rule
        .tests
        .first()
        .map(|t| t.facts.clone())
        .unwrap_or_default();
    for (list, position, target) in [
        (more.any, Position::Match, &mut rule.body.any),
        (more.none, Position::Match, &mut rule.body.none),
        (more.success, Position::Outcome, &mut rule.body.success),
        (more.blocked, Position::Outcome, &mut rule.body.blocked),
    ] {
        target.extend(patterns(list, position, sink).unwrap_or_default());
    }
    rule.body
        .allow
        .extend(compile::allows(more.allow, sink).unwrap_or_default());
    rule.tests.extend(compile::tests(more.test, &facts, sink));
}
