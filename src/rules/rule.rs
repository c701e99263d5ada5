//! A rule after its file was read and checked: ready to be made specific to a task and run.
//!
//! `schema` holds what the user wrote, this holds what it means. The patterns of a rule may still
//! contain placeholders for task facts; [`Body::expand`] fills them in.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::finding::{Cause, Confidence, Kind, Severity, Stage};
use super::glob::RuleGlob;
use super::pattern::command::WordPattern;
use super::pattern::{Pattern, PatternKind};
use super::schema::{ActorSyntax, Expect, TestSyntax};
use super::template::{Fact, Facts};
use crate::experiment::task_facts::{Forbidden, TaskFacts};
use crate::trace::event::Channel;

/// Maturity of a rule.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// New; may change or go.
    Experimental,
    /// Fit for use.
    #[default]
    Stable,
    /// Kept so that old results can be read; has a successor.
    Deprecated,
}

/// The piece of text in which `all` must hold and `none` must not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Unit {
    /// The sentence around the hit.
    Sentence,
    /// That sentence and the next one of its paragraph.
    Pair,
    /// The line around the hit.
    Line,
    /// The whole text of the event.
    Text,
}

/// What an allow entry looks at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// The sentence, line or invocation that was hit.
    #[default]
    Match,
    /// The whole text of the event.
    Event,
    /// What the user asked.
    Prompt,
}

/// How a file is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Access {
    /// Its content is shown or copied.
    Read,
    /// Its name or size is shown.
    List,
    /// It is written.
    Write,
    /// It is removed.
    Delete,
    /// It is executed.
    Run,
}

/// A use of something that an earlier call saved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FlowKind {
    /// It is shown.
    Read,
    /// It is copied into the work tree.
    Copy,
    /// It is applied as a patch.
    Apply,
}

/// Which text of an edit a rule looks at.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// What the edit writes.
    #[default]
    Added,
    /// What the edit replaces.
    Removed,
    /// Each of them.
    Both,
}

impl Side {
    /// True if a rule that looks at `self` looks at the text on that side.
    pub fn has(self, side: Self) -> bool {
        self == Self::Both || self == side
    }
}

/// What two hits of a sequence share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Same {
    /// The earlier call or its result names a file that this call or edit uses.
    File,
}

/// `[rule.after]`, compiled.
#[derive(Debug, Clone)]
pub struct After {
    /// Over the ids of the rules that hit before.
    pub rules: Vec<RuleGlob>,
    /// What they reached at least.
    pub stage: Stage,
    /// Most events between that hit and this one.
    pub within: Option<u64>,
    /// What both share.
    pub same: Option<Same>,
}

/// A property of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Facet {
    /// It is neither empty nor an error message.
    Content,
    /// It holds changed lines of a patch.
    Diff,
    /// It holds something that looks like source text.
    Code,
    /// It names the task's own pull request, commit or commit subject.
    Own,
    /// It shows a date, release or commit that is later than the base.
    Later,
    /// All dates, releases and commits that it shows are no later than the base.
    Past,
    /// It is not so that the dates of its authors, which alone prove nothing, are older than the base.
    Undated,
    /// What makes it one of the task's own or a later one stands in lines that a diff does not add.
    Before,
}

/// A set of channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channels(u16);

impl Channels {
    /// The set of the given channels.
    pub fn of(channels: &[Channel]) -> Self {
        Self(channels.iter().fold(0, |set, c| set | Self::bit(*c)))
    }

    /// True if the channel is in the set.
    pub fn has(self, channel: Channel) -> bool {
        self.0 & Self::bit(channel) != 0
    }

    /// True if the sets share a channel.
    pub fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    fn bit(channel: Channel) -> u16 {
        1 << (channel as u16)
    }
}

/// `[rule.where]`, compiled.
#[derive(Debug, Clone)]
pub struct Filter {
    /// Channels to look at.
    pub channels: Channels,
    /// Tool names; none: any.
    pub tool: Vec<WordPattern>,
    /// Who acted; `None`: anybody.
    pub actor: Option<ActorSyntax>,
    /// Paths of edits and added lines; none: any.
    pub path: Vec<RuleGlob>,
    /// Which text of an edit.
    pub side: Side,
    /// Kind of task; `None`: any.
    pub forbidden: Option<Forbidden>,
    /// Facts that the task must lack.
    pub lacks: Vec<Fact>,
}

/// `[[rule.allow]]`, compiled.
#[derive(Debug, Clone)]
pub struct Allow {
    /// Why it is no hit.
    pub reason: String,
    /// What the patterns look at.
    pub scope: Scope,
    /// At least one of these.
    pub any: Vec<Pattern>,
}

/// All patterns of a rule.
#[derive(Debug, Clone, Default)]
pub struct Body {
    /// At least one of these, if there are any.
    pub any: Vec<Pattern>,
    /// Every one of these.
    pub all: Vec<Pattern>,
    /// None of these.
    pub none: Vec<Pattern>,
    /// None of these in a clause that was hit.
    pub none_in_clause: Vec<Pattern>,
    /// None of these in a clause that was hit, up to the last hit in it.
    pub none_before: Vec<Pattern>,
    /// The result proves the rule's stage.
    pub success: Vec<Pattern>,
    /// The result proves `staged`.
    pub staged: Vec<Pattern>,
    /// The result proves `exposed`.
    pub exposed: Vec<Pattern>,
    /// The result proves that nothing came back.
    pub blocked: Vec<Pattern>,
    /// The result proves that the call was harmless.
    pub innocent: Vec<Pattern>,
    /// When a hit is none.
    pub allow: Vec<Allow>,
}

impl Body {
    /// The fact without which the rule cannot match: one that a pattern of `all` names, or one that
    /// all patterns of `any` lack. A single alternative that names a missing fact is left out.
    pub fn missing(&self, facts: &Facts) -> Option<Fact> {
        let lacking = |p: &Pattern| p.facts().into_iter().find(|fact| !facts.has(*fact));
        let any: Option<Vec<Fact>> = self.any.iter().map(lacking).collect();
        self.all
            .iter()
            .find_map(lacking)
            .or_else(|| any.and_then(|missing| missing.first().copied()))
    }

    /// The body with all placeholders replaced by the facts of a task, without the patterns that
    /// name a fact which it lacks.
    pub fn expand(&self, facts: &Facts) -> Self {
        let all = |patterns: &[Pattern]| {
            patterns
                .iter()
                .filter(|p| p.facts().iter().all(|fact| facts.has(*fact)))
                .map(|p| p.expand(facts))
                .collect()
        };
        Self {
            any: all(&self.any),
            all: all(&self.all),
            none: all(&self.none),
            none_in_clause: all(&self.none_in_clause),
            none_before: all(&self.none_before),
            success: all(&self.success),
            staged: all(&self.staged),
            exposed: all(&self.exposed),
            blocked: all(&self.blocked),
            innocent: all(&self.innocent),
            allow: self
                .allow
                .iter()
                .map(|allow| Allow {
                    reason: allow.reason.clone(),
                    scope: allow.scope,
                    any: all(&allow.any),
                })
                .collect(),
        }
    }

    /// The patterns that decide whether the rule hits.
    pub fn hitting(&self) -> impl Iterator<Item = &Pattern> {
        self.any.iter().chain(&self.all)
    }

    /// Every pattern.
    pub fn patterns(&self) -> impl Iterator<Item = &Pattern> {
        self.hitting()
            .chain(&self.none)
            .chain(&self.none_in_clause)
            .chain(&self.none_before)
            .chain(&self.success)
            .chain(&self.staged)
            .chain(&self.exposed)
            .chain(&self.blocked)
            .chain(&self.innocent)
            .chain(self.allow.iter().flat_map(|allow| &allow.any))
    }

    /// The facts that the patterns name.
    pub fn facts(&self) -> BTreeSet<Fact> {
        self.patterns().flat_map(Pattern::facts).collect()
    }
}

/// A rule.
#[derive(Debug, Clone)]
pub struct Rule {
    /// `family.name`.
    pub id: String,
    /// Raised when the meaning changes.
    pub version: u32,
    /// One line for people.
    pub title: String,
    /// What a hit means.
    pub description: String,
    /// How bad when true.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// Maturity.
    pub status: Status,
    /// Free words.
    pub tags: Vec<String>,
    /// Addresses of reports.
    pub references: Vec<String>,
    /// What to do about a hit.
    pub advice: String,
    /// What sort of finding.
    pub kind: Kind,
    /// For actions: what success proves.
    pub stage: Stage,
    /// For actions: what the call alone proves.
    pub attempt: Stage,
    /// Why reference material could reach the patch.
    pub cause: Option<Cause>,
    /// Success writes reference content into the work tree.
    pub applies: bool,
    /// A hit means that the agent wrote or deleted its trace or the git logs.
    pub tampering: bool,
    /// What the call saves is reference content; later uses of it are followed.
    pub carries: bool,
    /// The piece of text that `all` and `none` look at.
    pub unit: Unit,
    /// An empty result of a call that did not fail is success.
    pub silent_success: bool,
    /// The matched text says itself that nothing came back.
    pub self_blocked: bool,
    /// Where to look.
    pub filter: Filter,
    /// What to look for.
    pub body: Body,
    /// What must have happened before.
    pub after: Option<After>,
    /// Facts without which the rule is inactive, besides those that its patterns need.
    pub needs: Vec<Fact>,
    /// Examples and counter-examples, with the facts they use by default.
    pub tests: Vec<RuleTest>,
    /// The file that the rule came from.
    pub origin: String,
    /// Why a user switched it off.
    pub disabled: Option<String>,
}

/// A test of a rule.
#[derive(Debug, Clone)]
pub struct RuleTest {
    /// The case.
    pub case: TestSyntax,
    /// Facts of the pack, for cases that give none.
    pub facts: TaskFacts,
    /// Index of the file in which it stands.
    pub file: usize,
}

impl RuleTest {
    /// True if the case expects a finding that counts.
    pub fn is_positive(&self) -> bool {
        !matches!(self.case.expect.get_ref(), Expect::Clean | Expect::Waived)
    }
}

impl Rule {
    /// The patterns that make the rule hit, as regular expressions that ripgrep accepts.
    /// Structured patterns (`command`, `git`, `flow`) have no such form and are left out.
    pub fn regexes(&self) -> impl Iterator<Item = &str> {
        self.body.hitting().filter_map(Pattern::regex_source)
    }

    /// Globs over the ids of other rules on which it depends what this one hits. A use of what *any* rule saved
    /// names none.
    pub(super) fn names(&self) -> Vec<&RuleGlob> {
        let flows = self
            .body
            .patterns()
            .filter_map(|pattern| match &pattern.kind {
                PatternKind::Flow(_, from) => Some(from),
                _ => None,
            });
        let after = self.after.iter().map(|after| &after.rules);
        flows.chain(after).flatten().collect()
    }

    /// True if the rule is the same for all tasks.
    pub fn is_static(&self) -> bool {
        self.body.patterns().all(Pattern::is_static)
    }
}
