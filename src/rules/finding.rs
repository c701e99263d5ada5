//! What a rule found. Findings are evidence, not verdicts.

use serde::{Deserialize, Serialize};

use crate::stored;
use crate::trace::event::{Channel, EventId};

/// What sort of thing a finding is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Words that name a leak path, as data.
    Mention,
    /// A property of the patch (a licence header, a contributor's name).
    Mark,
    /// Something the agent did; has a [`Stage`].
    Action,
    /// What the agent says it did; has no stage.
    Admission,
}

/// How far an action got. Ordered from weakest to strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Stage {
    /// The words occur as data.
    Mentioned,
    /// A call aimed at reference material was made.
    Attempted,
    /// Names, titles or metadata came back, or a result recorded in full without any GT line.
    Exposed,
    /// Reference content lies on disk outside the work tree, unread.
    Staged,
    /// Reference content entered the context or, by a call that succeeded, the work tree.
    Obtained,
    /// A later edit moves to it.
    Used,
}

/// Why reference material could reach a patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The upstream pull request, commit or file was fetched.
    UpstreamFetch,
    /// It was found in the local git history.
    GitHistory,
    /// It was copied from an installed or downloaded package.
    PackageCopy,
    /// GT, grader, hidden tests or a data-set row were read.
    AnswerFile,
    /// A sub-agent was asked to get it.
    Delegated,
    /// Another project's code.
    ThirdParty,
    /// A copy with no recorded source: memorised or unlogged.
    UnexplainedCopy,
    /// The environment's fault, never the agent's.
    Harness,
}

impl Cause {
    /// The name used in JSON, rules and text.
    pub fn name(self) -> &'static str {
        match self {
            Self::UpstreamFetch => "upstream-fetch",
            Self::GitHistory => "git-history",
            Self::PackageCopy => "package-copy",
            Self::AnswerFile => "answer-file",
            Self::Delegated => "delegated",
            Self::ThirdParty => "third-party",
            Self::UnexplainedCopy => "unexplained-copy",
            Self::Harness => "harness",
        }
    }
}

/// How bad a finding is when it is true.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// For the record.
    Info,
    /// Minor.
    Low,
    /// Worth a look.
    Medium,
    /// Serious.
    High,
    /// Decides a verdict alone.
    Critical,
}

/// How sure a finding or a verdict is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Weak evidence.
    Low,
    /// Probable.
    Medium,
    /// Shown.
    High,
}

impl Confidence {
    /// The name used in JSON and text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
        }
    }
}

/// One hit of one rule, judged by the outcome of the call it stands in.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Finding {
    /// Rule id, `family.name`.
    pub rule: String,
    /// The rule's title, for people.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub title: String,
    /// What sort of finding.
    pub kind: Kind,
    /// Why reference material could reach the patch.
    pub cause: Option<Cause>,
    /// How far the action got; `None` for admissions and marks.
    pub stage: Option<Stage>,
    /// The result proves that nothing came back.
    pub blocked: bool,
    /// The call's result is not in the trace, so the stage could be higher.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub outcome_missing: bool,
    /// Success writes reference content into the work tree (git apply, checkout, cherry-pick, cp).
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub applies: bool,
    /// The matched text names the task's own pull request, issue or commit.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub names_own: bool,
    /// The agent wrote or deleted its trace or the git logs.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub tampering: bool,
    /// How bad.
    pub severity: Severity,
    /// How sure.
    pub confidence: Confidence,
    /// Channel of the event.
    pub channel: Channel,
    /// Who acted.
    pub actor: String,
    /// Path of the trace file, as given.
    pub trace: String,
    /// 1-based line in the trace file.
    pub line: u64,
    /// The event that was hit.
    pub event: EventId,
    /// The event at which the stage was reached (the result), or the event itself.
    #[serde(default, skip_serializing_if = "stored::hidden")]
    pub reached_at: EventId,
    /// Call id, where the event is a call or its output.
    pub call: Option<String>,
    /// The text around the hit: cut, control characters escaped, secrets redacted.
    pub excerpt: String,
    /// Stable over reordering of the trace: a hash of rule, channel and matched text.
    pub fingerprint: String,
    /// Reason of the allow entry that suppressed it; a waived finding counts for nothing.
    pub waived: Option<String>,
}
