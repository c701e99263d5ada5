//! From what stands in a file to a [`Rule`], with every contradiction reported.

use std::ops::Range;

use toml::Spanned;

use super::compile_pattern::{Position, globs, patterns, unknown_fact, words};
use super::diagnostic::Sink;
use super::finding::{Kind, Stage};
use super::pattern::{Pattern, PatternKind};
use super::rule::{After, Allow, Body, Channels, Filter, Rule, RuleTest, Scope, Side, Unit};
use super::schema::{
    AfterSyntax, AllowSyntax, MatchSyntax, OutcomeSyntax, RuleSyntax, TestSyntax, WhereSyntax,
};
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
    let at = header(&syntax);
    let syntax = syntax.into_inner();
    let id = syntax.id.get_ref().clone();
    id_ok(&syntax.id, sink);
    // From here on a mistake makes the rule useless.
    let before = sink.count();
    let kind = *syntax.kind.get_ref();
    let outcome = has_outcome(&syntax.outcome);
    let matching = syntax.r#match.get_ref();
    let nothing = matching.any.is_empty() && matching.all.is_empty();
    let (stage, attempt) = stages(&syntax, kind, sink);
    let filter = filter(&syntax.r#where, kind, sink);
    let needs = facts_named(&syntax.r#where.needs, sink);
    let (silent_success, self_blocked) =
        (syntax.outcome.silent_success, syntax.outcome.self_blocked);
    let (body, known) = body(
        syntax.r#match.into_inner(),
        syntax.outcome,
        syntax.allow,
        sink,
    );
    let after = syntax.after.map(|syntax| after(syntax, sink));
    let parts = Parts {
        id: &id,
        kind,
        channels: filter.as_ref().map(|filter| filter.channels),
        body: &body,
        known,
        nothing,
        outcome,
        at,
    };
    consistent(&parts, sink);
    let ok = sink.count() == before;
    let tests = tests(syntax.test, facts, sink);
    let after = match after {
        Some(after) => Some(after?),
        None => None,
    };
    let rule = Rule {
        id,
        version: syntax.version,
        title: syntax.title.into_inner(),
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
        silent_success,
        self_blocked,
        filter: filter?,
        body,
        after,
        needs,
        tests,
        origin: origin.to_owned(),
        disabled: None,
    };
    ok.then_some(rule)
}

/// The header of a rule, or the first line of one in another form.
fn header(syntax: &Spanned<RuleSyntax>) -> Range<usize> {
    let whole = syntax.span();
    let end = whole.end.min(whole.start + "[[rule]]".len());
    whole.start..end
}

/// Which lists of patterns are whole: what is said of them holds.
#[derive(Debug, Clone, Copy)]
struct Known {
    any: bool,
    all: bool,
}

/// The patterns of a rule, all of which were looked at.
fn body(
    matching: MatchSyntax,
    outcome: OutcomeSyntax,
    allow: Vec<AllowSyntax>,
    sink: &mut Sink,
) -> (Body, Known) {
    let mut list = |list, position| patterns(list, position, sink);
    let any = list(matching.any, Position::Match);
    let all = list(matching.all, Position::Match);
    let known = Known {
        any: !any.bad,
        all: !all.bad,
    };
    let body = Body {
        any: any.good,
        all: all.good,
        none: list(matching.none, Position::Match).good,
        none_in_clause: list(matching.none_in_clause, Position::Match).good,
        none_before: list(matching.none_before, Position::Match).good,
        success: list(outcome.success, Position::Outcome).good,
        staged: list(outcome.staged, Position::Outcome).good,
        exposed: list(outcome.exposed, Position::Outcome).good,
        blocked: list(outcome.blocked, Position::Outcome).good,
        innocent: list(outcome.innocent, Position::Outcome).good,
        allow: allows(allow, sink),
    };
    (body, known)
}

fn has_outcome(outcome: &OutcomeSyntax) -> bool {
    let lists = [
        &outcome.success,
        &outcome.staged,
        &outcome.exposed,
        &outcome.blocked,
        &outcome.innocent,
    ];
    lists.iter().any(|list| !list.is_empty()) || outcome.silent_success || outcome.self_blocked
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

fn id_ok(id: &Spanned<String>, sink: &mut Sink) {
    let text = id.get_ref();
    if !is_rule_id(text) {
        sink.error_help(
            id.span(),
            format!("bad rule id `{text}`"),
            format!("write `family.name` with a-z, 0-9 and -, at most {MAX_ID} bytes"),
        );
    }
}

/// The stage that success proves and the stage that the call alone proves.
fn stages(syntax: &RuleSyntax, kind: Kind, sink: &mut Sink) -> (Stage, Stage) {
    let given = [&syntax.stage, &syntax.attempt];
    if kind != Kind::Action {
        for stage in given.into_iter().flatten() {
            if !sink.doubts.about(&["kind"]) {
                sink.error(stage.span(), "only actions have a stage");
            }
        }
        return (Stage::Mentioned, Stage::Mentioned);
    }
    if syntax.cause.is_none() && !syntax.tampering && !sink.doubts.about(&["cause", "tampering"]) {
        sink.error_help(
            syntax.kind.span(),
            "an action needs a cause",
            "add for instance `cause = \"upstream-fetch\"`",
        );
    }
    let stage = syntax
        .stage
        .as_ref()
        .map_or(Stage::Obtained, |s| *s.get_ref());
    let attempt = syntax
        .attempt
        .as_ref()
        .map_or_else(|| Stage::Attempted.min(stage), |s| *s.get_ref());
    if let Some(given) = syntax.stage.as_ref().filter(|_| stage == Stage::Used) {
        sink.error_help(
            given.span(),
            "a rule cannot prove `used`",
            "what was used is found by comparing the patch",
        );
    }
    if let Some(given) = syntax
        .attempt
        .as_ref()
        .filter(|_| attempt > Stage::Attempted)
    {
        sink.error(given.span(), "a call alone proves at most `attempted`");
    }
    (stage, attempt)
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

/// True if a rule looks at texts that can be large.
pub(super) fn reads_texts(syntax: &RuleSyntax) -> bool {
    let asked = syntax
        .r#where
        .channels
        .as_ref()
        .map(|channels| channels.get_ref().as_slice());
    let channels = asked.unwrap_or_else(|| default_channels(*syntax.kind.get_ref()));
    Channels::of(channels).meets(Channels::of(TEXT_CHANNELS))
}

fn filter(syntax: &WhereSyntax, kind: Kind, sink: &mut Sink) -> Option<Filter> {
    let mut ok = true;
    let channels = match &syntax.channels {
        Some(channels) => {
            let asked = channels.get_ref();
            let prompt = asked
                .iter()
                .any(|c| matches!(c, Channel::Prompt | Channel::System));
            if prompt && kind != Kind::Mention && !sink.doubts.about(&["kind"]) {
                prompt_convicts(channels.span(), sink);
                ok = false;
            }
            if asked.is_empty() && !sink.doubts.about(&["channels"]) {
                sink.error(channels.span(), "no channel: the rule can never match");
                ok = false;
            }
            Channels::of(asked)
        }
        None => Channels::of(default_channels(kind)),
    };
    let (tool, path) = (words(&syntax.tool, sink), globs(&syntax.path, sink));
    let (side, lacks) = (side(syntax, kind, sink), facts_named(&syntax.lacks, sink));
    ok.then_some(())?;
    Some(Filter {
        channels,
        tool: tool?,
        actor: syntax.actor,
        path: path?,
        side: side?,
        forbidden: syntax.forbidden,
        lacks,
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
    if (kind == Kind::Mark || !edits) && !sink.doubts.about(&["kind", "channels"]) {
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
    let mut holds = true;
    if syntax.rules.get_ref().is_empty() {
        sink.error_help(
            syntax.rules.span(),
            "no rule is asked for, so this never holds",
            "name one or more, such as `rules = [\"forge.*\"]`",
        );
        holds = false;
    }
    let rules = globs(syntax.rules.get_ref(), sink)?;
    holds.then_some(After {
        rules,
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

pub(super) fn allows(list: Vec<AllowSyntax>, sink: &mut Sink) -> Vec<Allow> {
    list.into_iter()
        .map(|allow| {
            if allow.reason.get_ref().trim().is_empty() {
                sink.error(allow.reason.span(), "an allow entry needs a reason");
            }
            Allow {
                reason: allow.reason.into_inner(),
                scope: allow.scope,
                any: patterns(allow.any, Position::Allow, sink).good,
            }
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
            // What is expected of it is not known.
            if sink.doubts.test(&test.span()) {
                return None;
            }
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

/// What must fit together in a rule.
struct Parts<'r> {
    id: &'r str,
    kind: Kind,
    /// `None`: not known.
    channels: Option<Channels>,
    body: &'r Body,
    known: Known,
    /// There are no patterns, not even wrong ones.
    nothing: bool,
    /// The rule says something of the result.
    outcome: bool,
    /// Where to say so.
    at: Range<usize>,
}

/// Contradictions between the parts of a rule.
fn consistent(parts: &Parts, sink: &mut Sink) {
    let Parts {
        id, kind, body, at, ..
    } = parts;
    if parts.nothing && !sink.doubts.about(&["match", "any", "all"]) {
        sink.error(at.clone(), format!("rule `{id}` has nothing to match"));
    }
    if *kind != Kind::Action && parts.outcome && !sink.doubts.about(&["kind"]) {
        sink.error(
            at.clone(),
            format!("rule `{id}`: only actions have an outcome"),
        );
    }
    let texts = parts
        .channels
        .is_some_and(|c| c.meets(Channels::of(TEXT_CHANNELS)));
    let sure = !parts.nothing
        && !sink
            .doubts
            .about(&["kind", "channels", "match", "any", "all"]);
    if !sink.trusted && texts && sure && *kind != Kind::Mark && !anchored(body, parts.known) {
        sink.error_help(
            at.clone(),
            format!("rule `{id}` would run on every text"),
            "each alternative of `any`, or one of `all`, needs three letters that every match contains",
        );
    }
    let structured = |p: &Pattern| !matches!(p.kind, PatternKind::Text(_) | PatternKind::Is(_));
    for allow in &body.allow {
        if allow.scope != Scope::Match && allow.any.iter().any(structured) {
            sink.error(
                at.clone(),
                format!("rule `{id}`: allow entries over a whole text take texts only"),
            );
        }
    }
    if *kind == Kind::Mention && body.hitting().any(structured) && !sink.doubts.about(&["kind"]) {
        sink.error(
            at.clone(),
            format!("rule `{id}`: a mention is a text; use kind `action`"),
        );
    }
}

/// Contradictions in a rule that an override made; they are shown at a place in it.
pub(super) fn changed(rule: &Rule, at: Range<usize>, sink: &mut Sink) {
    let prompt = Channels::of(&[Channel::Prompt, Channel::System]);
    if rule.kind != Kind::Mention && rule.filter.channels.meets(prompt) {
        prompt_convicts(at.clone(), sink);
    }
    let parts = Parts {
        id: &rule.id,
        kind: rule.kind,
        channels: Some(rule.filter.channels),
        body: &rule.body,
        known: Known {
            any: true,
            all: true,
        },
        nothing: rule.body.any.is_empty() && rule.body.all.is_empty(),
        outcome: !rule.body.success.is_empty() || !rule.body.blocked.is_empty(),
        at,
    };
    consistent(&parts, sink);
}

fn prompt_convicts(at: Range<usize>, sink: &mut Sink) {
    sink.error_help(
        at,
        "the prompt convicts nobody",
        "only rules of kind `mention` may look at `prompt` and `system`",
    );
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

/// False if the rule runs on texts that hold no anchor. Placeholders are facts of some length.
fn anchored(body: &Body, known: Known) -> bool {
    let has = |p: &Pattern| match &p.kind {
        PatternKind::Text(regexp) => regexp.anchors().is_some() || !p.facts().is_empty(),
        // Addresses and paths are few and short.
        _ => true,
    };
    let any = body.any.iter().all(has) && (!known.any || !body.any.is_empty());
    any || body.all.iter().any(has) || !known.all
}
