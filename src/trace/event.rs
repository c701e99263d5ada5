//! The event model: what happened in a run, whatever agent recorded it.

use std::fmt;
use std::ops::Range;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// Where a text stands in a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Channel {
    /// What the user asked.
    Prompt,
    /// System text and injected reminders.
    System,
    /// What the agent said.
    Assistant,
    /// What the agent thought.
    Reasoning,
    /// A shell command that was executed.
    Command,
    /// A call of any other tool, with its arguments.
    ToolCall,
    /// The address or query of a fetch or search.
    Web,
    /// Content or a patch that the agent wrote with a tool.
    Edit,
    /// What a tool returned.
    Output,
    /// The final message.
    Result,
    /// A line that no adapter understood.
    Raw,
}

impl Channel {
    /// All channels, in their order.
    pub const ALL: [Self; 11] = [
        Self::Prompt,
        Self::System,
        Self::Assistant,
        Self::Reasoning,
        Self::Command,
        Self::ToolCall,
        Self::Web,
        Self::Edit,
        Self::Output,
        Self::Result,
        Self::Raw,
    ];

    /// The name used in JSON, rules and text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::System => "system",
            Self::Assistant => "assistant",
            Self::Reasoning => "reasoning",
            Self::Command => "command",
            Self::ToolCall => "tool_call",
            Self::Web => "web",
            Self::Edit => "edit",
            Self::Output => "output",
            Self::Result => "result",
            Self::Raw => "raw",
        }
    }

    /// True for the channels in which the agent does something that can have a result.
    pub fn is_call(self) -> bool {
        matches!(
            self,
            Self::Command | Self::ToolCall | Self::Web | Self::Edit
        )
    }
}

impl fmt::Display for Channel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// Identity and order of an event: trace file, record in the file, event in the record.
///
/// Printed as `FILE:RECORD.SUB`, all 0-based except the record, which is 1-based.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct EventId {
    /// Index into the run's list of trace files.
    pub file: u32,
    /// 1-based number of the record in its file.
    pub record: u32,
    /// Number of the event within its record.
    pub sub: u32,
}

impl fmt::Display for EventId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}.{}", self.file, self.record, self.sub)
    }
}

impl Serialize for EventId {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        s.collect_str(self)
    }
}

impl FromStr for EventId {
    type Err = &'static str;

    /// Reads what `Display` writes.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parts = text.split_once(':').and_then(|(file, rest)| {
            let (record, sub) = rest.split_once('.')?;
            Some(Self {
                file: file.parse().ok()?,
                record: record.parse().ok()?,
                sub: sub.parse().ok()?,
            })
        });
        parts.ok_or("an event is written FILE:RECORD.SUB")
    }
}

impl<'de> Deserialize<'de> for EventId {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Who acted: the agent itself or a sub-agent that it started.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Actor {
    /// The agent of the run.
    #[default]
    Main,
    /// A sub-agent.
    Child {
        /// Its id in the trace (often the id of the call that started it).
        id: String,
        /// The id of the actor that started it; `None` when that is the main agent or unknown.
        parent: Option<String>,
    },
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Main => f.write_str("main"),
            Self::Child { id, .. } => f.write_str(id),
        }
    }
}

/// What an edit did to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum EditOp {
    /// The whole file was written.
    Write,
    /// A part was replaced.
    Replace,
    /// The file was removed.
    Delete,
    /// The format says that the file changed, and not how (Codex exec `file_change`).
    Unrecorded,
}

/// One file touched by an edit call. One call may hold several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileEdit {
    /// The path as the trace has it (absolute or relative to the working directory).
    pub path: String,
    /// What was done.
    pub op: EditOp,
    /// The replaced text, as far as recorded.
    pub old: Option<String>,
    /// The new text, as far as recorded. For [`EditOp::Write`], the whole file.
    pub new: Option<String>,
}

/// How a call ended. All fields say only what the trace records.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Outcome {
    /// The exit code, where the format keeps one.
    pub exit_code: Option<i32>,
    /// The tool reported an error.
    pub error: bool,
    /// The call was refused (permission, policy).
    pub denied: bool,
    /// The call was interrupted or timed out.
    pub interrupted: bool,
    /// The recorded output is shorter than the real one.
    pub truncated: bool,
}

impl Outcome {
    /// False when the trace says that the call failed, was refused or interrupted.
    pub fn succeeded(&self) -> bool {
        !self.error && !self.denied && !self.interrupted && self.exit_code.unwrap_or(0) == 0
    }
}

/// The call that an output answers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallRef {
    /// The event of the call.
    pub event: EventId,
    /// Its channel.
    pub channel: Channel,
    /// Its tool.
    pub tool: Option<String>,
    /// Its text (command, address, arguments), cut to a few kilobytes.
    pub text: String,
    /// 1-based line of the call in its trace file.
    pub line: u64,
}

/// Where an event stands in a trace file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Source {
    /// Index into the run's list of trace files.
    pub file: u32,
    /// 1-based line.
    pub line: u64,
    /// Byte range of the record in the (decompressed) file.
    pub bytes: Range<u64>,
}

/// One normalised step of a run. Texts are decoded: no JSON escapes are left.
#[derive(Debug, Clone)]
pub struct Event {
    /// Identity and order.
    pub id: EventId,
    /// Where it stands.
    pub source: Source,
    /// Its channel.
    pub channel: Channel,
    /// Who acted.
    pub actor: Actor,
    /// Tool name as the trace has it (`Bash`, `WebFetch`, `shell`), for calls and outputs.
    pub tool: Option<String>,
    /// Call id as the trace has it, for calls and outputs.
    pub call: Option<String>,
    /// For an output: the call it answers, when the trace holds that call.
    pub answers: Option<Arc<CallRef>>,
    /// Working directory, where recorded.
    pub cwd: Option<String>,
    /// Time stamp as the trace has it; never computed with, only shown.
    pub time: Option<String>,
    /// The text: message, command, address or query, arguments, output. For an edit, the new text of
    /// all its files, one after the other.
    pub text: String,
    /// For an edit: the files it touched.
    pub edits: Vec<FileEdit>,
    /// For an output: how the call ended.
    pub outcome: Option<Outcome>,
    /// False for text that the log keeps and the model never saw (whole files kept for undo,
    /// demonstrations, data-set rows). Such text is no evidence.
    pub model_saw: bool,
    /// For a prompt: whose words it holds, as far as the format tells that apart.
    pub speaker: Speaker,
}

impl Event {
    /// An event with the given place, channel and text and nothing else.
    pub fn new(id: EventId, source: Source, channel: Channel, text: impl Into<String>) -> Self {
        Self {
            id,
            source,
            channel,
            actor: Actor::Main,
            tool: None,
            call: None,
            answers: None,
            cwd: None,
            time: None,
            text: text.into(),
            edits: Vec::new(),
            outcome: None,
            model_saw: true,
            speaker: Speaker::Unknown,
        }
    }
}

/// Who speaks in the user's name.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Speaker {
    /// The format does not say.
    #[default]
    Unknown,
    /// The record is nothing but a user's own words.
    User,
    /// A harness: it stands beside the result of a tool, or says so.
    Harness,
}

/// Something that takes events in order: the rule engine, the ledger, the `events` command.
pub trait EventSink {
    /// Takes the next event.
    fn event(&mut self, event: &Event);

    /// Takes the next event, which nobody else needs: who would copy it can keep it.
    fn owned(&mut self, event: Event) {
        self.event(&event);
    }
}

/// How much of a run the trace shows. Ordered from least to most.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// There is no trace, or nothing in it can be read.
    Missing,
    /// A final message and no tool calls.
    SummaryOnly,
    /// Some steps are missing or their results are.
    Partial,
    /// It has start and end, every call has a result, every changed file a writer, and no named
    /// sub-agent is missing. Claimed only when shown.
    Full,
}

impl Coverage {
    /// The name used in JSON and text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Missing => "missing",
            Self::SummaryOnly => "summary-only",
            Self::Partial => "partial",
            Self::Full => "full",
        }
    }
}
