//! Claude Code's own session store, `~/.claude/projects/<dir>/<session>.jsonl`.
//!
//! The same messages as in the stream, in another envelope, and with the prompts. Records form a tree
//! by `parentUuid`, which shows whether one is missing. Sub-agents have been kept in three ways: as
//! `isSidechain` records among the others, inside `progress` records, and (now) in files of their own.
//! A resumed session repeats earlier records under their old `uuid`.

use std::collections::{HashMap, VecDeque};

use super::claude_message::{self, Around};
use super::{Adapter, Format, user_turn};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::problem::Problem;
use crate::trace::seen::{Seen, hash_of};
use crate::trace::step::{Envelope, Message, Steps, What, Who, remembered};
use crate::trace::text::readable;

pub(crate) const FORMAT: Format = Format {
    name: "claude-session",
    fit,
    open: || Box::new(ClaudeSession::default()),
    records_calls: true,
    experimental: false,
};

/// Prompts of sub-agents that wait for their first record.
const MAX_WAITING: usize = 256;
/// Records of sub-agents without an agent id whose origin is remembered.
const MAX_SIDECHAIN: usize = 1 << 16;

/// Book-keeping without a text of the conversation, or with a copy of one.
const NOISE: [&str; 17] = [
    "file-history-snapshot",
    "queue-operation",
    "last-prompt",
    "pr-link",
    "permission-mode",
    "mode",
    "agent-name",
    "agent-color",
    "agent-setting",
    "custom-title",
    "ai-title",
    "tag",
    "frame-link",
    "relocated",
    "worktree-state",
    "bridge-session",
    "speculation-accept",
];

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let Some(kind) = record.str("type") else {
        return Fit::No;
    };
    // Dotted types and `message.parts` belong to agents that use the same keys.
    let foreign = kind.contains('.')
        || record.has("projectHash")
        || record.has("exitCode")
        || record.get("systemPayload").is_some()
        || record.at(&["message", "parts"]).is_some()
        || ["toolName", "toolId", "finalText"]
            .iter()
            .any(|key| record.has(key))
        || kind == "message"
        || (kind == "system" && record.has("id") && !record.has("uuid"));
    let by_kind = match kind {
        "summary" => record.has("leafUuid"),
        "file-history-snapshot" => record.has("snapshot"),
        _ => record.str("sessionId").is_some(),
    };
    let tree = record.get("parentUuid").is_some() && record.str("uuid").is_some();
    Fit::strong_if(!foreign && (by_kind || tree))
}

/// The sub-agent of a file that begins with that record.
pub(super) fn child_name<'j>(first: &'j Json<'_>) -> Option<&'j str> {
    first
        .str("agentId")
        .filter(|_| first.is_true("isSidechain"))
}

#[derive(Default)]
struct ClaudeSession {
    /// Of the last record that names one.
    session: String,
    /// Records of this file.
    seen: Seen,
    /// Prompts of sub-agents, and the calls that gave them.
    waiting: VecDeque<(u64, String)>,
    /// Which sub-agent a sidechain record without an agent id belongs to.
    sidechain: HashMap<u64, String>,
    /// The agent said or did something.
    acted: bool,
}

impl Adapter for ClaudeSession {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if let Some(session) = record.str("sessionId") {
            self.session = remembered(session);
        }
        let who = self.who(record);
        out.under(Envelope {
            session: self.session.clone(),
            uuid: record.str("uuid").map(str::to_owned),
            time: record.str("timestamp").map(str::to_owned),
            cwd: record.str("cwd").map(str::to_owned),
            who,
        });
        self.check_parent(record, out);
        claude_message::check_beginning(record, &mut self.acted, out);
        self.read(record, out);
        if let Some(uuid) = record.str("uuid") {
            self.seen.insert(hash_of(uuid), 0);
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

impl ClaudeSession {
    fn read(&mut self, record: &Json<'_>, out: &mut Steps) {
        match record.str("type").unwrap_or_default() {
            "assistant" => self.assistant(record, out),
            "user" => user(record, out),
            "system" => {
                if let Some(text) = record.str("content") {
                    out.say(Channel::System, text, None);
                }
            }
            "attachment" => attachment(record, out),
            "summary" => self.summary(record, out),
            "progress" => self.progress(record, out),
            "tool_use" => claude_message::tool_use(record, out),
            "tool_result" => claude_message::answer(record, &Around::default(), out),
            kind if NOISE.contains(&kind) => {}
            _ => {
                out.say(Channel::Raw, readable(record), None);
                out.push(What::Problem(Problem::UnknownRecord));
            }
        }
    }

    /// The tree starts at a record without a parent, and has no holes.
    fn check_parent(&self, record: &Json<'_>, out: &mut Steps) {
        match record.get("parentUuid") {
            Some(Json::Str(parent)) if self.seen.get(hash_of(&**parent)).is_none() => {
                out.push(What::Problem(Problem::MissingParent));
            }
            Some(Json::Null) if record.str("subtype") != Some("compact_boundary") => {
                out.push(What::Start);
            }
            _ => {}
        }
    }

    fn who(&mut self, record: &Json<'_>) -> Who {
        if !record.is_true("isSidechain") {
            return Who::Main;
        }
        if let Some(agent) = record.str("agentId") {
            return Who::Child(agent.to_owned());
        }
        let parent = record.str("parentUuid").map(hash_of);
        let known = parent
            .and_then(|parent| self.sidechain.get(&parent))
            .cloned();
        let id = known.unwrap_or_else(|| self.root_of_sidechain(record));
        if let Some(uuid) = record.str("uuid")
            && self.sidechain.len() < MAX_SIDECHAIN
        {
            self.sidechain.insert(hash_of(uuid), id.clone());
        }
        Who::Child(id)
    }

    /// The first record of a sub-agent repeats the prompt of the call that started it.
    fn root_of_sidechain(&mut self, record: &Json<'_>) -> String {
        let content = record.at(&["message", "content"]);
        let text = content.and_then(|content| match content {
            Json::Arr(blocks) => blocks.first().and_then(|block| block.str("text")),
            content => content.as_str(),
        });
        let prompt = hash_of(text.unwrap_or_default());
        let found = self.waiting.iter().position(|(hash, _)| *hash == prompt);
        match found.and_then(|at| self.waiting.remove(at)) {
            Some((_, call)) => call,
            None => remembered(record.str("uuid").unwrap_or("sidechain")),
        }
    }

    fn assistant(&mut self, record: &Json<'_>, out: &mut Steps) {
        let Some(message) = record.get("message") else {
            return;
        };
        for block in message.list("content") {
            let prompt = block.at(&["input", "prompt"]).and_then(Json::as_str);
            if let (Some(prompt), Some(call)) = (prompt, block.str("id")) {
                if self.waiting.len() >= MAX_WAITING {
                    self.waiting.pop_front();
                }
                self.waiting.push_back((hash_of(prompt), remembered(call)));
            }
        }
        claude_message::assistant(message, out);
        if message.str("stop_reason") == Some("end_turn") {
            out.push(What::End);
        }
    }

    /// The title of a conversation, which need not be this one.
    fn summary(&self, record: &Json<'_>, out: &mut Steps) {
        let own = record
            .str("leafUuid")
            .is_some_and(|leaf| self.seen.get(hash_of(leaf)).is_some());
        let channel = if own {
            Channel::Assistant
        } else {
            Channel::System
        };
        out.push(What::Message(Message {
            model_saw: own,
            aside: true,
            ..Message::new(channel, record.str("summary").unwrap_or_default())
        }));
    }

    /// Messages of a sub-agent; all else is the growing copy of a result that comes whole.
    fn progress(&mut self, record: &Json<'_>, out: &mut Steps) {
        let nothing = Json::Null;
        let data = record.get("data").unwrap_or(&nothing);
        let inner = data.get("message").unwrap_or(&nothing);
        let (Some("agent_progress"), Some(message)) = (data.str("type"), inner.get("message"))
        else {
            return;
        };
        let call = record
            .first_str(&["parentToolUseID", "toolUseID"])
            .unwrap_or_default();
        if let Some(name) = data.str("agentId") {
            out.push(What::ChildName {
                call: call.to_owned(),
                name: name.to_owned(),
                calls: None,
            });
        }
        let envelope = Envelope {
            who: Who::Child(call.to_owned()),
            uuid: inner.str("uuid").map(str::to_owned),
            time: inner.str("timestamp").map(str::to_owned),
            ..(**out.envelope()).clone()
        };
        out.under(envelope);
        if inner.str("type") == Some("assistant") {
            claude_message::assistant(message, out);
        } else {
            let around = Around {
                copy: inner.get("toolUseResult"),
                ..Around::default()
            };
            claude_message::user(message, &around, out);
        }
    }
}

fn user(record: &Json<'_>, out: &mut Steps) {
    let around = Around {
        copy: record.get("toolUseResult"),
        injected: record.is_true("isMeta"),
        summary: record.is_true("isCompactSummary"),
        denied: record.has("toolDenialKind"),
        plain: user_turn::is_plain(record),
    };
    if let Some(message) = record.get("message") {
        claude_message::user(message, &around, out);
    }
}

/// Text that the harness put before the model; a queued prompt is the user's.
fn attachment(record: &Json<'_>, out: &mut Steps) {
    let Some(attachment) = record.get("attachment") else {
        return;
    };
    match attachment.get("prompt") {
        Some(prompt) if attachment.str("type") == Some("queued_command") => {
            let blocks = prompt.items().iter().filter_map(|block| block.str("text"));
            for text in prompt.as_str().into_iter().chain(blocks) {
                out.say(Channel::Prompt, text, None);
            }
        }
        _ => out.say(Channel::System, readable(attachment), None),
    }
}
