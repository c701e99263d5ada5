//! What stands in a rule file, as written: one struct for each table of the TOML.
//!
//! Nothing is judged here. A key that is not listed is an error (`deny_unknown_fields`), because a
//! mistyped key that is silently dropped is a leak that is silently missed. No struct is flattened:
//! serde cannot check unknown keys through a flattened struct. Values that a later step can reject
//! are [`Spanned`], so that the message can point at them. `docs/rules.md` explains every key.

use serde::Deserialize;
use toml::Spanned;

use super::finding::{Cause, Confidence, Kind, Severity, Stage};
use super::rule::{Access, Facet, FlowKind, Same, Scope, Side, Status, Unit};
use crate::experiment::task_facts::{Forbidden, TaskFacts};
use crate::rules::git::call::Prints;
use crate::rules::git::reach::Reach;
use crate::trace::event::Channel;

/// The file format that this version reads.
pub const SCHEMA_VERSION: i64 = 1;

/// The `[pack]` table.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table such as { id = \"ours\" }")]
pub struct PackSyntax {
    /// Name of the pack.
    pub id: String,
    /// Version of the pack.
    #[serde(default)]
    pub version: String,
    /// Licence of the rules.
    #[serde(default)]
    pub license: String,
    /// What the pack is about.
    #[serde(default)]
    pub description: String,
    /// Facts that the tests of this file use when they give none.
    #[serde(default, with = "FactsSyntax")]
    pub test_facts: TaskFacts,
}

/// One `[[rule]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `id`, `title`, …")]
pub struct RuleSyntax {
    /// `family.name`.
    pub id: Spanned<String>,
    /// Raised when the meaning of the rule changes.
    #[serde(default = "one")]
    pub version: u32,
    /// One line for people.
    pub title: Spanned<String>,
    /// What the hit means.
    #[serde(default)]
    pub description: String,
    /// How bad when true.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// Maturity.
    #[serde(default)]
    pub status: Status,
    /// Free words.
    #[serde(default)]
    pub tags: Vec<String>,
    /// Addresses of reports.
    #[serde(default)]
    pub references: Vec<String>,
    /// What to do about a hit.
    #[serde(default)]
    pub advice: String,
    /// What sort of finding.
    pub kind: Spanned<Kind>,
    /// What success proves.
    pub stage: Option<Spanned<Stage>>,
    /// What the call alone proves.
    pub attempt: Option<Spanned<Stage>>,
    /// Why reference material could reach the patch.
    pub cause: Option<Cause>,
    /// Success writes reference content into the work tree.
    #[serde(default)]
    pub applies: bool,
    /// A hit means that the agent wrote or deleted its trace or the git logs.
    #[serde(default)]
    pub tampering: bool,
    /// What the call saves is reference content; later uses of it are followed.
    pub carries: Option<bool>,
    /// The piece of text that `all` and `none` look at.
    pub unit: Option<Unit>,
    /// Where to look.
    #[serde(default)]
    pub r#where: WhereSyntax,
    /// What to look for.
    pub r#match: Spanned<MatchSyntax>,
    /// What must have happened before.
    pub after: Option<AfterSyntax>,
    /// How the linked result moves the stage.
    #[serde(default)]
    pub outcome: OutcomeSyntax,
    /// When a hit is none.
    #[serde(default)]
    pub allow: Vec<AllowSyntax>,
    /// Examples and counter-examples.
    #[serde(default)]
    pub test: Vec<Spanned<TestSyntax>>,
}

fn one() -> u32 {
    1
}

/// `[rule.where]`: the cheap filter. A missing key filters nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { channels = [\"command\"] }"
)]
pub struct WhereSyntax {
    /// Channels; the default depends on the kind.
    pub channels: Option<Spanned<Vec<Channel>>>,
    /// Globs over the tool name, case-insensitive.
    #[serde(default)]
    pub tool: Vec<Spanned<String>>,
    /// Who acted.
    pub actor: Option<ActorSyntax>,
    /// Globs over the path of an edit or of added lines.
    #[serde(default)]
    pub path: Vec<Spanned<String>>,
    /// For edits: which text to look at.
    pub side: Option<Spanned<Side>>,
    /// Which part of the history must be the answer of the task.
    pub forbidden: Option<Forbidden>,
    /// Facts that the task must lack.
    #[serde(default)]
    pub lacks: Vec<Spanned<String>>,
    /// Facts that the task must have, besides those that the patterns name.
    #[serde(default)]
    pub needs: Vec<Spanned<String>>,
}

/// Who acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ActorSyntax {
    /// The agent itself.
    Main,
    /// A sub-agent.
    Child,
}

/// `[rule.match]`: `any` (or), `all` (and), `none` (not).
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `any`, `all` or `none`")]
pub struct MatchSyntax {
    /// At least one of these.
    #[serde(default)]
    pub any: Vec<Spanned<PatternSyntax>>,
    /// Every one of these.
    #[serde(default)]
    pub all: Vec<Spanned<PatternSyntax>>,
    /// None of these.
    #[serde(default)]
    pub none: Vec<Spanned<PatternSyntax>>,
    /// None of these in a clause that was hit.
    #[serde(default)]
    pub none_in_clause: Vec<Spanned<PatternSyntax>>,
    /// None of these in a clause that was hit, up to the last hit in it.
    #[serde(default)]
    pub none_before: Vec<Spanned<PatternSyntax>>,
}

/// One pattern: exactly one of `literal`, `regex`, `command`, `git`, `fetch`, `file`, `flow`, `is`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a pattern such as { literal = \"…\" }"
)]
pub struct PatternSyntax {
    /// A text.
    pub literal: Option<Spanned<String>>,
    /// A regular expression.
    pub regex: Option<Spanned<String>>,
    /// A program and its arguments.
    pub command: Option<CommandSyntax>,
    /// A git command by what it reaches and what it prints.
    pub git: Option<GitSyntax>,
    /// A regular expression over an address that is fetched.
    pub fetch: Option<Spanned<String>>,
    /// A regular expression over a path that is used.
    pub file: Option<Spanned<String>>,
    /// With `file`: how it is used.
    pub access: Option<Vec<Access>>,
    /// A use of something that an earlier call saved.
    pub flow: Option<FlowKind>,
    /// With `flow`: globs over the ids of the rules that saved it.
    #[serde(default)]
    pub from: Vec<Spanned<String>>,
    /// In `outcome`: properties of the result, all of which must hold.
    #[serde(default)]
    pub is: Vec<Facet>,
    /// The match must name a version later than the base, or none.
    #[serde(default)]
    pub newer: bool,
    /// Upper and lower case differ.
    #[serde(default)]
    pub case_sensitive: bool,
}

/// `command = { program = …, args = … }`.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { program = \"gh\" }"
)]
pub struct CommandSyntax {
    /// Globs over the program name; one is enough.
    pub program: Spanned<OneOrMany>,
    /// Words that must follow one another among the arguments, with gaps: globs, or `/regex/`.
    #[serde(default)]
    pub args: Vec<Spanned<String>>,
    /// Words that no argument may be.
    #[serde(default)]
    pub without: Vec<Spanned<String>>,
    /// The repository that the command names.
    pub repo: Option<RepoSyntax>,
}

/// Which repository a forge command is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RepoSyntax {
    /// The task's own, or none named.
    Target,
    /// Another one.
    Other,
}

/// A string or a list of strings.
#[derive(Debug, Clone)]
pub struct OneOrMany(pub Vec<String>);

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl<'de> serde::de::Visitor<'de> for Visitor {
            type Value = OneOrMany;

            fn expecting(&self, f: &mut std::fmt::Formatter) -> std::fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E>(self, one: &str) -> Result<OneOrMany, E> {
                Ok(OneOrMany(vec![one.to_owned()]))
            }

            fn visit_seq<A: serde::de::SeqAccess<'de>>(
                self,
                mut list: A,
            ) -> Result<OneOrMany, A::Error> {
                let mut many = Vec::new();
                while let Some(one) = list.next_element()? {
                    many.push(one);
                }
                Ok(OneOrMany(many))
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

/// `git = { verb = …, reach = …, prints = … }`; a missing key filters nothing.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { verb = [\"show\"] }"
)]
pub struct GitSyntax {
    /// Sub-commands.
    #[serde(default)]
    pub verb: Vec<String>,
    /// What the named revisions lead to; one is enough.
    #[serde(default)]
    pub reach: Vec<Reach>,
    /// What comes out; one is enough.
    #[serde(default)]
    pub prints: Vec<Prints>,
    /// The command looks for something (`--grep`, `-S`, `-G`, a pipe into grep).
    pub searches: Option<bool>,
    /// A regular expression over the addresses, remotes and refspecs that it names.
    pub remote: Option<Spanned<String>>,
}

/// `[rule.after]`: an earlier hit without which this rule does not hit.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { rules = [\"forge.*\"] }"
)]
pub struct AfterSyntax {
    /// Globs over the ids of the rules that hit before; one is enough.
    pub rules: Spanned<Vec<Spanned<String>>>,
    /// What they reached at least; `attempted` if missing.
    pub stage: Option<Stage>,
    /// Most events between that hit and this one, 0 for the same call; any number if missing.
    pub within: Option<u64>,
    /// What both must share.
    pub same: Option<Same>,
}

/// `[rule.outcome]`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table such as { success = [{ is = [\"diff\"] }] }"
)]
pub struct OutcomeSyntax {
    /// The result proves `stage`. Empty: any content does.
    #[serde(default)]
    pub success: Vec<Spanned<PatternSyntax>>,
    /// The result proves `staged`.
    #[serde(default)]
    pub staged: Vec<Spanned<PatternSyntax>>,
    /// The result proves `exposed`.
    #[serde(default)]
    pub exposed: Vec<Spanned<PatternSyntax>>,
    /// The result proves that nothing came back (besides the errors that are always known).
    #[serde(default)]
    pub blocked: Vec<Spanned<PatternSyntax>>,
    /// The result proves that the call was harmless.
    #[serde(default)]
    pub innocent: Vec<Spanned<PatternSyntax>>,
    /// An empty result of a call that did not fail is success.
    #[serde(default)]
    pub silent_success: bool,
    /// The matched text says itself that nothing came back.
    #[serde(default)]
    pub self_blocked: bool,
}

/// One `[[rule.allow]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with `reason` and `any`")]
pub struct AllowSyntax {
    /// Why it is no hit; printed with the waived finding.
    pub reason: Spanned<String>,
    /// What the patterns look at.
    #[serde(default)]
    pub scope: Scope,
    /// At least one of these.
    pub any: Vec<Spanned<PatternSyntax>>,
}

/// One `[[rule.test]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a table with `name`, `event` and `expect`"
)]
pub struct TestSyntax {
    /// What the case shows.
    pub name: String,
    /// The only event.
    pub event: Option<TestEventSyntax>,
    /// Several events.
    #[serde(default)]
    pub events: Vec<TestEventSyntax>,
    /// Facts of the task; the pack's `test_facts` if missing.
    #[serde(default, deserialize_with = "facts")]
    pub facts: Option<TaskFacts>,
    /// What the user asked.
    pub prompt: Option<String>,
    /// What must come out.
    pub expect: Spanned<Expect>,
}

/// Task facts in a rule file. Other than in a table of facts, whose other columns are none of our business, a key that is
/// no fact is an error here.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(
    remote = "TaskFacts",
    default,
    deny_unknown_fields,
    expecting = "task facts such as { pull_request = \"4711\" }"
)]
struct FactsSyntax {
    task: Option<String>,
    upstream: Option<String>,
    pull_request: Option<String>,
    issue: Option<String>,
    base_commit: Option<String>,
    base_version: Option<String>,
    base_date: Option<String>,
    gt_commit: Option<String>,
    gt_subject: Option<String>,
    gt_authors: Option<String>,
    merged: Option<String>,
    package: Option<String>,
    requirement: Option<String>,
    forbidden: Forbidden,
    allowed: Option<String>,
}

fn facts<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<TaskFacts>, D::Error> {
    FactsSyntax::deserialize(deserializer).map(Some)
}

/// What a test expects of its rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Expect {
    /// A finding that counts, of any stage.
    Match,
    /// No finding, or only waived ones.
    Clean,
    /// A known gap: it should match and does not. Reported, never a failure.
    TodoMatch,
    /// A finding that an allow entry, the prompt or the result waives.
    Waived,
    /// The strongest finding is `mentioned`.
    Mentioned,
    /// The strongest finding is `attempted` and not shown to be blocked.
    Attempted,
    /// The strongest finding is `attempted` and blocked.
    Blocked,
    /// The strongest finding is `exposed`.
    Exposed,
    /// The strongest finding is `staged`.
    Staged,
    /// The strongest finding is `obtained`.
    Obtained,
    /// The strongest finding is `obtained` and writes into the work tree.
    Applied,
}

/// An event of a test, with its result if it is a call.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "an event such as { text = \"git log\" }"
)]
pub struct TestEventSyntax {
    /// Channel; `command` if missing.
    #[serde(default = "command")]
    pub channel: Channel,
    /// Tool name.
    pub tool: Option<String>,
    /// The text.
    #[serde(default)]
    pub text: String,
    /// For an edit: the path.
    pub path: Option<String>,
    /// For an edit: the text that it replaces.
    pub removed: Option<String>,
    /// What the call returned. Missing: the trace does not hold it.
    pub result: Option<String>,
    /// Exit code of the call.
    pub exit_code: Option<i32>,
    /// The call reported an error.
    #[serde(default)]
    pub error: bool,
    /// Id of a sub-agent.
    pub actor: Option<String>,
}

fn command() -> Channel {
    Channel::Command
}

/// One `[[override]]`.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with the `id` of a rule")]
pub struct OverrideSyntax {
    /// The rule to change.
    pub id: Spanned<String>,
    /// `false` switches it off.
    pub enabled: Option<bool>,
    /// Why; needed to switch off.
    pub reason: Option<Spanned<String>>,
    /// Keys to put in place of the old ones.
    pub replace: Option<ReplaceSyntax>,
    /// Entries to add.
    pub append: Option<AppendSyntax>,
}

/// `replace = { … }`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with the keys to replace")]
pub struct ReplaceSyntax {
    /// See [`RuleSyntax`].
    pub title: Option<String>,
    /// See [`RuleSyntax`].
    pub description: Option<String>,
    /// See [`RuleSyntax`].
    pub severity: Option<Severity>,
    /// See [`RuleSyntax`].
    pub confidence: Option<Confidence>,
    /// See [`RuleSyntax`].
    pub status: Option<Status>,
    /// See [`RuleSyntax`].
    pub stage: Option<Spanned<Stage>>,
    /// See [`RuleSyntax`].
    pub attempt: Option<Spanned<Stage>>,
    /// See [`RuleSyntax`].
    pub cause: Option<Cause>,
    /// See [`RuleSyntax`].
    pub advice: Option<String>,
    /// See [`WhereSyntax`].
    pub channels: Option<Spanned<Vec<Channel>>>,
    /// See [`MatchSyntax`].
    pub any: Option<Vec<Spanned<PatternSyntax>>>,
    /// See [`MatchSyntax`].
    pub all: Option<Vec<Spanned<PatternSyntax>>>,
    /// See [`MatchSyntax`].
    pub none: Option<Vec<Spanned<PatternSyntax>>>,
}

/// `append = { … }`.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a table with the entries to add")]
pub struct AppendSyntax {
    /// See [`RuleSyntax`].
    #[serde(default)]
    pub tags: Vec<String>,
    /// See [`RuleSyntax`].
    #[serde(default)]
    pub references: Vec<String>,
    /// See [`MatchSyntax`].
    #[serde(default)]
    pub any: Vec<Spanned<PatternSyntax>>,
    /// See [`MatchSyntax`].
    #[serde(default)]
    pub none: Vec<Spanned<PatternSyntax>>,
    /// See [`OutcomeSyntax`].
    #[serde(default)]
    pub success: Vec<Spanned<PatternSyntax>>,
    /// See [`OutcomeSyntax`].
    #[serde(default)]
    pub blocked: Vec<Spanned<PatternSyntax>>,
    /// See [`AllowSyntax`].
    #[serde(default)]
    pub allow: Vec<AllowSyntax>,
    /// See [`TestSyntax`].
    #[serde(default)]
    pub test: Vec<Spanned<TestSyntax>>,
}
