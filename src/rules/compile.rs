//! From what stands in a file to a [`Rule`], with every contradiction reported.

use std::ops::Range;

use toml::Spanned;

use super::compile_pattern::{Position, globs, patterns, unknown_fact, word};
use super::diagnostic::Sink;
use super::finding::{Kind, Stage};
use super::pattern::command::WordPattern;
use super::pattern::{Pattern, PatternKind};
use super::rule::{After, Allow, Body, Channels, Filter, Rule, RuleTest, Scope, Side, Unit};
use super::schema::{AfterSyntax, AllowSyntax, RuleSyntax, TestSyntax, WhereSyntax};
use super::template::Fact;
use crate::experiment::task_facts::TaskFacts;
use crate::trace::event::Channel;

/// Longest rule id, in bytes.
const MAX_ID: usize = 48;

/// Compiles one rule; `None` if it has errors.
pub(super) fn rule(
    syntax: Spanned<RuleSyntax>,
    facts: &TaskFacts,
    origin: &str,
    sink: &mut Sink,
) -> Option<Rule> {
    let whole = syntax.span();
    let syntax = syntax.into_inner();
    let id = syntax.id.get_ref().clone();
    let start = id_ok(&syntax.id, sink);
    let kind = *syntax.kind.get_ref();
    let (stage, attempt) = stages(&syntax, kind, sink)?;
    let filter = filter(&syntax.r#where, kind, sink);
    let matching = syntax.r#match.into_inner();
    let body = Body {
        any: patterns(matching.any, Position::Match, sink)?,
        all: patterns(matching.all, Position::Match, sink)?,
        none: patterns(matching.none, Position::Match, sink)?,
        none_in_clause: patterns(matching.none_in_clause, Position::Match, sink)?,
        none_before: patterns(matching.none_before, Position::Match, sink)?,
        success: patterns(syntax.outcome.success, Position::Outcome, sink)?,
        staged: patterns(syntax.outcome.staged, Position::Outcome, sink)?,
        exposed: patterns(syntax.outcome.exposed, Position::Outcome, sink)?,
        blocked: patterns(syntax.outcome.blocked, Position::Outcome, sink)?,
        innocent: patterns(syntax.outcome.innocent, Position::Outcome, sink)?,
        allow: allows(syntax.allow, sink)?,
    };
    let filter = filter?;
    let after = match syntax.after {
        Some(syntax) => Some(after(syntax, sink)?),
        None => None,
    };
    let needs = facts_named(&syntax.r#where.needs, sink);
    let tests = tests(syntax.test, facts, sink);
    let rule = Rule {
        id,
        version: syntax.version,
        title: syntax.title.get_ref().clone(),
        description: syntax.description,
        severity: syntax.severity,
        confidence: syntax.confidence,
        status: syntax.status,
        tags: syntax.tags,
        references: syntax.references,
        advice: syntax.advice,
        kind,
        stage,
        attempt,
        cause: syntax.cause,
        applies: syntax.applies,
        tampering: syntax.tampering,
        carries: syntax
            .carries
            .unwrap_or(kind == Kind::Action && stage >= Stage::Staged),
        unit: syntax.unit.unwrap_or(default_unit(kind)),
        silent_success: syntax.outcome.silent_success,
        self_blocked: syntax.outcome.self_blocked,
        filter,
        body,
        after,
        needs,
        tests,
        origin: origin.to_owned(),
        disabled: None,
    };
    let ok = consistent(&rule, whole, sink);
    (start && ok).then_some(rule)
}

fn default_unit(kind: Kind) -> Unit {
    match kind {
        Kind::Admission | Kind::Action => Unit::Sentence,
        Kind::Mention | Kind::Mark => Unit::Line,
    }
}

/// True for `family.name`.
pub fn is_rule_id(text: &str) -> bool {
    let parts: Vec<&str> = text.split('.').collect();
    let part_ok = |part: &&str| {
        !part.is_empty()
            && part
                .bytes()
                .all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-')
    };
    text.len() <= MAX_ID && parts.len() >= 2 && parts.iter().all(part_ok)
}

fn id_ok(id: &Spanned<String>, sink: &mut Sink) -> bool {
    let text = id.get_ref();
    let ok = is_rule_id(text);
    if !ok {
        sink.error_help(
            id.span(),
            format!("bad rule id `{text}`"),
            format!("write `family.name` with a-z, 0-9 and -, at most {MAX_ID} bytes"),
        );
    }
    ok
}

/// The stage that success proves and the stage that the call alone proves.
fn stages(syntax: &RuleSyntax, kind: Kind, sink: &mut Sink) -> Option<(Stage, Stage)> {
    let given = [&syntax.stage, &syntax.attempt];
    if kind != Kind::Action {
        for stage in given.into_iter().flatten() {
            sink.error(stage.span(), "only actions have a stage");
        }
        return Some((Stage::Mentioned, Stage::Mentioned));
    }
    if syntax.cause.is_none() && !syntax.tampering {
        sink.error_help(
            syntax.kind.span(),
            "an action needs a cause",
            "add for instance `cause = \"upstream-fetch\"`",
        );
        return None;
    }
    let stage = syntax
        .stage
        .as_ref()
        .map_or(Stage::Obtained, |s| *s.get_ref());
    let attempt = syntax
        .attempt
        .as_ref()
        .map_or_else(|| Stage::Attempted.min(stage), |s| *s.get_ref());
    if stage == Stage::Used {
        let span = syntax.stage.as_ref().map_or(0..0, Spanned::span);
        sink.error_help(
            span,
            "a rule cannot prove `used`",
            "what was used is found by comparing the patch",
        );
        return None;
    }
    if attempt > Stage::Attempted {
        let span = syntax.attempt.as_ref().map_or(0..0, Spanned::span);
        sink.error(span, "a call alone proves at most `attempted`");
        return None;
    }
    Some((stage, attempt))
}

fn default_channels(kind: Kind) -> &'static [Channel] {
    use Channel::{Assistant, Command, Edit, Output, Raw, Reasoning, Result, ToolCall, Web};
    match kind {
        Kind::Action => &[Command, ToolCall, Web],
        Kind::Admission => &[Assistant, Reasoning, Result, Command, Edit],
        Kind::Mark => &[Edit],
        Kind::Mention => &[
            Assistant, Reasoning, Result, Command, ToolCall, Web, Edit, Output, Raw,
        ],
    }
}

fn filter(syntax: &WhereSyntax, kind: Kind, sink: &mut Sink) -> Option<Filter> {
    let mut ok = true;
    let channels = match &syntax.channels {
        Some(channels) => {
            let asked = channels.get_ref();
            let prompt = asked
                .iter()
                .any(|c| matches!(c, Channel::Prompt | Channel::System));
            if prompt && kind != Kind::Mention {
                sink.error_help(
                    channels.span(),
                    "the prompt convicts nobody",
                    "only rules of kind `mention` may look at `prompt` and `system`",
                );
                ok = false;
            }
            if asked.is_empty() {
                sink.error(channels.span(), "no channel: the rule can never match");
                ok = false;
            }
            Channels::of(asked)
        }
        None => Channels::of(default_channels(kind)),
    };
    let tool: Option<Vec<WordPattern>> = syntax.tool.iter().map(|t| word(t, sink)).collect();
    let path = globs(&syntax.path, sink);
    ok.then_some(())?;
    Some(Filter {
        channels,
        tool: tool?,
        actor: syntax.actor,
        path: path?,
        side: side(syntax, kind, sink)?,
        forbidden: syntax.forbidden,
        lacks: facts_named(&syntax.lacks, sink),
    })
}

/// Only edits have two sides.
fn side(syntax: &WhereSyntax, kind: Kind, sink: &mut Sink) -> Option<Side> {
    let Some(side) = &syntax.side else {
        return Some(Side::default());
    };
    let edits = syntax
        .channels
        .as_ref()
        .is_none_or(|channels| channels.get_ref().contains(&Channel::Edit));
    if kind == Kind::Mark || !edits {
        sink.error_help(
            side.span(),
            "only edits have a side",
            "add `edit` to `channels`; marks look at added lines",
        );
        return None;
    }
    Some(*side.get_ref())
}

fn after(syntax: AfterSyntax, sink: &mut Sink) -> Option<After> {
    Some(After {
        rules: globs(&syntax.rules, sink)?,
        stage: syntax.stage.unwrap_or(Stage::Attempted),
        within: syntax.within,
        same: syntax.same,
    })
}

fn facts_named(names: &[Spanned<String>], sink: &mut Sink) -> Vec<Fact> {
    names
        .iter()
        .filter_map(|name| {
            let fact = Fact::named(name.get_ref());
            if fact.is_none() {
                unknown_fact(name.get_ref(), name.span(), sink);
            }
            fact
        })
        .collect()
}

pub(super) fn allows(list: Vec<AllowSyntax>, sink: &mut Sink) -> Option<Vec<Allow>> {
    list.into_iter()
        .map(|allow| {
            if allow.reason.get_ref().trim().is_empty() {
                sink.error(allow.reason.span(), "an allow entry needs a reason");
                return None;
            }
            Some(Allow {
                reason: allow.reason.into_inner(),
                scope: allow.scope,
                any: patterns(allow.any, Position::Allow, sink)?,
            })
        })
        .collect()
}

pub(super) fn tests(
    list: Vec<Spanned<TestSyntax>>,
    facts: &TaskFacts,
    sink: &mut Sink,
) -> Vec<RuleTest> {
    list.into_iter()
        .filter_map(|test| {
            let one = test.get_ref().event.is_some();
            if one != test.get_ref().events.is_empty() {
                sink.error(test.span(), "a test has either `event` or `events`");
                return None;
            }
            Some(RuleTest {
                case: test.into_inner(),
                facts: facts.clone(),
                file: sink.file,
            })
        })
        .collect()
}

/// Contradictions between the parts of a rule.
fn consistent(rule: &Rule, whole: Range<usize>, sink: &mut Sink) -> bool {
    let before = sink.count();
    let at = whole.start..whole.start + "[[rule]]".len();
    let body = &rule.body;
    if body.any.is_empty() && body.all.is_empty() {
        sink.error(
            at.clone(),
            format!("rule `{}` has nothing to match", rule.id),
        );
    }
    let outcome = !body.success.is_empty() || !body.exposed.is_empty() || !body.blocked.is_empty();
    if rule.kind != Kind::Action && (outcome || rule.silent_success || rule.self_blocked) {
        sink.error(
            at.clone(),
            format!("rule `{}`: only actions have an outcome", rule.id),
        );
    }
    let texts = rule.filter.channels.meets(Channels::of(TEXT_CHANNELS));
    if !sink.trusted && texts && rule.kind != Kind::Mark && !anchored(body) {
        sink.error_help(
            at.clone(),
            format!("rule `{}` would run on every text", rule.id),
            "each alternative of `any`, or one of `all`, needs three letters that every match contains",
        );
    }
    let structured = |p: &Pattern| !matches!(p.kind, PatternKind::Text(_) | PatternKind::Is(_));
    for allow in &body.allow {
        if allow.scope != Scope::Match && allow.any.iter().any(structured) {
            sink.error(
                at.clone(),
                format!(
                    "rule `{}`: allow entries over a whole text take texts only",
                    rule.id
                ),
            );
        }
    }
    if rule.kind == Kind::Mention && body.hitting().any(structured) {
        sink.error(
            at,
            format!("rule `{}`: a mention is a text; use kind `action`", rule.id),
        );
    }
    sink.count() == before
}

/// Channels whose texts can be large.
const TEXT_CHANNELS: &[Channel] = &[
    Channel::Output,
    Channel::Assistant,
    Channel::Reasoning,
    Channel::Result,
    Channel::Edit,
    Channel::Prompt,
    Channel::System,
    Channel::Raw,
];

/// True if the rule runs only on texts that hold an anchor. Placeholders are facts of some length.
fn anchored(body: &Body) -> bool {
    let has = |p: &Pattern| match &p.kind {
        PatternKind::Text(regexp) => regexp.anchors().is_some() || !p.facts().is_empty(),
        // Addresses and paths are few and short.
        _ => true,
    };
    (!body.any.is_empty() && body.any.iter().all(has)) || body.all.iter().any(has)
}
