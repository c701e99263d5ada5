//! Qwen Code's own session store, `~/.qwen/projects/<dir>/chats/<session>.jsonl`.
//!
//! The envelope of Claude Code's store around the parts of Google's messages. Telemetry repeats calls
//! and answers, and is skipped. An answer that calls nothing ends the turn.

use super::gemini_parts;
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::problem::Problem;
use crate::trace::seen::{Seen, hash_of};
use crate::trace::step::{Envelope, Steps, What, Who, remembered};
use crate::trace::text::readable;

pub(crate) const FORMAT: Format = Format {
    name: "qwen-chat",
    fit,
    open: || Box::new(QwenChat::default()),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let envelope = record.str("uuid").is_some() && record.str("sessionId").is_some();
    let parts = record.at(&["message", "parts"]).is_some();
    Fit::strong_if(envelope && (parts || record.get("systemPayload").is_some()))
}

#[derive(Default)]
struct QwenChat {
    /// Records of this file.
    seen: Seen,
}

impl Adapter for QwenChat {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        out.under(Envelope {
            session: record.str("sessionId").map(remembered).unwrap_or_default(),
            who: match record.str("agentId") {
                Some(agent) if record.is_true("isSidechain") => Who::Child(agent.to_owned()),
                _ => Who::Main,
            },
            uuid: record.str("uuid").map(str::to_owned),
            time: record.str("timestamp").map(str::to_owned),
            cwd: record.str("cwd").map(str::to_owned),
        });
        match record.get("parentUuid") {
            Some(Json::Str(parent)) if self.seen.get(hash_of(&**parent)).is_none() => {
                out.push(What::Problem(Problem::MissingParent));
            }
            Some(Json::Null) => out.push(What::Start),
            _ => {}
        }
        message(record, out);
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

fn message(record: &Json<'_>, out: &mut Steps) {
    let parts = record.at(&["message", "parts"]).map(Json::items);
    let parts = parts.unwrap_or_default();
    let failed = record
        .at(&["toolCallResult", "status"])
        .and_then(Json::as_str)
        == Some("error");
    match record.str("type").unwrap_or_default() {
        "assistant" => {
            if gemini_parts::read(parts, Channel::Assistant, failed, out) {
                out.push(What::End);
            }
        }
        "user" => {
            // What the agent tells itself, in the user's place.
            let channel = match record.str("subtype") {
                Some("notification") => Channel::System,
                _ => Channel::Prompt,
            };
            gemini_parts::read(parts, channel, failed, out);
        }
        "tool_result" => {
            gemini_parts::read(parts, Channel::System, failed, out);
        }
        "system" => {
            gemini_parts::read(parts, Channel::System, failed, out);
        }
        _ => {
            out.say(Channel::Raw, readable(record), None);
            out.push(What::Problem(Problem::UnknownRecord));
        }
    }
}
