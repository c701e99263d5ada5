//! Grok, `chat_history.jsonl` of a session: `{"type": "system" | "user" | "assistant" | …, "content"}`.
//!
//! There is no session id. A sub-agent has a file of its own; searches of the provider are recorded
//! without their result.

use super::blocks::{member_text, tool_calls};
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::step::{Answer, Call, Steps, What};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "grok",
    fit,
    open: || Box::new(Grok),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let bare = record.get("content").is_some()
        && [
            "message",
            "session_id",
            "sessionId",
            "uuid",
            "data",
            "payload",
        ]
        .iter()
        .all(|key| record.get(key).is_none());
    match record.str("type").unwrap_or_default() {
        "system" => Fit::by(
            bare && record
                .str("content")
                .is_some_and(|text| text.contains("Grok")),
            bare && record.members().len() == 2,
        ),
        "user" => Fit::by(
            bare && (record.has("prompt_index") || record.has("synthetic_reason")),
            bare,
        ),
        "assistant" => Fit::by(bare && record.has("model_id"), bare),
        "tool_result" => Fit::by(false, bare && record.str("tool_call_id").is_some()),
        "backend_tool_call" => Fit::strong_if(record.has_obj("kind")),
        // The same as that of another agent.
        "reasoning" if record.get("summary").is_some() => Fit::Follows,
        _ => Fit::No,
    }
}

struct Grok;

impl Adapter for Grok {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        let text = member_text(record, "content");
        match record.str("type").unwrap_or_default() {
            "system" => {
                out.push(What::TurnEnd);
                out.push(What::Start);
                out.say(Channel::System, text, None);
            }
            "user" if record.has("synthetic_reason") => out.say(Channel::System, text, None),
            "user" => out.say(Channel::Prompt, text, None),
            "assistant" => {
                out.say(Channel::Assistant, text, None);
                if tool_calls(record, out) == 0 {
                    out.push(What::TurnEnd);
                    out.push(What::End);
                }
            }
            "reasoning" => out.say(Channel::Reasoning, member_text(record, "summary"), None),
            "tool_result" => out.push(What::Answer(Answer {
                id: record.str("tool_call_id").map(str::to_owned),
                outcome: outcome::of_text(&text, record.is_true("is_error")),
                text: decoded(text),
            })),
            "backend_tool_call" => backend(record, out),
            _ => {
                out.say(Channel::Raw, readable(record), None);
                out.push(What::Problem(Problem::UnknownRecord));
            }
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

fn backend(record: &Json<'_>, out: &mut Steps) {
    let nothing = Json::Null;
    let kind = record.get("kind").unwrap_or(&nothing);
    out.push(What::Call(Call {
        id: kind.str("id").map(str::to_owned),
        ..tools::call(
            kind.str("tool_type").unwrap_or("unknown"),
            kind.get("action").unwrap_or(&nothing),
        )
    }));
}
