//! Claude Code, `--output-format stream-json` (1.x and 2.x), and the array of `json --verbose`.
//!
//! The prompt is not in the stream. What is there repeatedly is read once: `tool_use_result` is a copy
//! of a result, `stream_event` holds fragments of what follows whole, the text of `result` is the last
//! message again. Records of a sub-agent carry the id of the call that started it.

use super::claude_message::{self, Around};
use super::{Adapter, Format, qwen_stream, user_turn};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::problem::Problem;
use crate::trace::step::{Envelope, Message, Steps, What, Who, remembered};
use crate::trace::text::readable;

pub(crate) const FORMAT: Format = Format {
    name: "claude-stream",
    fit,
    open: || Box::new(ClaudeStream::default()),
    records_calls: true,
    experimental: false,
};

/// Record types without a message of the agent.
const NOISE: [&str; 11] = [
    "stream_event",
    "rate_limit_event",
    "tool_progress",
    "tool_use_summary",
    "auth_status",
    "control_request",
    "control_response",
    "control_cancel_request",
    "keep_alive",
    "prompt_suggestion",
    "streamlined_text",
];

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    if !is_record(record) || qwen_stream::is_qwen(record) {
        return Fit::No;
    }
    let kind = record.str("type").unwrap_or_default();
    let session = record.str("session_id").is_some();
    let marked = record.get("parent_tool_use_id").is_some() || record.str("uuid").is_some();
    match kind {
        "system" => Fit::by(
            session && (marked || record.has("tools") || record.has("mcp_servers")),
            session && record.str("subtype").is_some(),
        ),
        "assistant" | "user" => {
            let message = record.get("message");
            let own = message.is_some_and(|m| m.str("id").is_some() && m.has("model"));
            let strong = message.is_some() && (marked || own) && !qwen_stream::is_either(record);
            Fit::by(strong, message.is_some())
        }
        "result" => {
            let keys = ["total_cost_usd", "num_turns", "permission_denials", "uuid"];
            let own = keys.iter().any(|key| record.get(key).is_some());
            let text = record.str("result").is_some() && !record.has("request_id");
            Fit::by(own, text && session)
        }
        "stream_event" => Fit::strong_if(record.has_obj("event")),
        kind if NOISE.contains(&kind) => Fit::by(session && marked, true),
        _ => Fit::by(false, session && marked),
    }
}

/// Has a type and is no record of the session store.
pub(super) fn is_record(record: &Json<'_>) -> bool {
    record.str("type").is_some() && !record.has("sessionId") && record.get("parentUuid").is_none()
}

#[derive(Default)]
pub(super) struct ClaudeStream {
    /// Of the last record that names one.
    session: String,
    cwd: Option<String>,
    /// The agent said or did something.
    acted: bool,
}

impl Adapter for ClaudeStream {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if let Some(session) = record.str("session_id").map(remembered)
            && session != self.session
        {
            self.session = session;
            self.cwd = None;
        }
        let kind = record.str("type").unwrap_or_default();
        if kind == "system" && record.str("subtype") == Some("init") {
            self.cwd = record.str("cwd").map(remembered);
        }
        out.under(self.envelope(record));
        claude_message::check_beginning(record, &mut self.acted, out);
        match kind {
            "system" => system(record, out),
            "assistant" => {
                if let Some(message) = record.get("message") {
                    claude_message::assistant(message, out);
                }
            }
            "user" => user(record, out),
            "result" => result(record, out),
            kind if NOISE.contains(&kind) => {}
            _ => {
                out.say(Channel::Raw, readable(record), None);
                out.push(What::Problem(Problem::UnknownRecord));
            }
        }
    }
}

impl ClaudeStream {
    fn envelope(&self, record: &Json<'_>) -> Envelope {
        Envelope {
            session: self.session.clone(),
            who: match record.str("parent_tool_use_id") {
                Some(call) => Who::Child(call.to_owned()),
                None => Who::Main,
            },
            uuid: record.str("uuid").map(str::to_owned),
            time: record.str("timestamp").map(str::to_owned),
            cwd: self.cwd.clone(),
        }
    }
}

fn system(record: &Json<'_>, out: &mut Steps) {
    match record.str("subtype") {
        Some("init") => out.push(What::Start),
        // Commands in the background are tasks too, and no sub-agents.
        Some("task_started") => {
            if let (Some(call), Some(name), true) = (
                record.str("tool_use_id"),
                record.str("task_id"),
                record.has("subagent_type"),
            ) {
                out.push(What::ChildName {
                    call: call.to_owned(),
                    name: name.to_owned(),
                    calls: None,
                });
            }
        }
        _ => {
            if let Some(text) = record.first_str(&["content", "output"]) {
                out.say(Channel::System, text, None);
            }
        }
    }
}

fn user(record: &Json<'_>, out: &mut Steps) {
    let around = Around {
        copy: record.get("tool_use_result"),
        injected: record.is_true("isSynthetic") || record.is_true("isMeta"),
        summary: record.is_true("isCompactSummary"),
        denied: false,
        plain: user_turn::is_plain(record),
    };
    if let Some(message) = record.get("message") {
        claude_message::user(message, &around, out);
    }
}

fn result(record: &Json<'_>, out: &mut Steps) {
    for error in record.list("errors").iter().filter_map(Json::as_str) {
        out.say(Channel::System, error, None);
    }
    if let Some(text) = record.str("result").filter(|text| !text.trim().is_empty()) {
        out.push(What::Final(Message::new(Channel::Result, text)));
    }
    out.push(What::End);
}
