//! Cursor, `agent-transcripts/ID/ID.jsonl` of its session store: `{"role", "message": {"content": […]}}`.
//!
//! Results of tools are rarely stored, ids of calls never, and no record marks a start or an
//! end, so such a transcript is never complete.

use super::blocks::member_text;
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::seen::hash_of;
use crate::trace::step::{Answer, Call, Envelope, Steps, What};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "cursor-transcript",
    fit,
    open: || Box::new(CursorTranscript::default()),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let turn_ended = record.str("type") == Some("turn_ended") && record.str("status").is_some();
    let message = matches!(record.str("role"), Some("user" | "assistant"))
        && record.has_obj("message")
        && record.at(&["message", "content"]).is_some()
        && record.get("type").is_none();
    Fit::strong_if(message || (turn_ended && record.members().len() <= 4))
}

#[derive(Default)]
struct CursorTranscript {
    /// Hash of the record before. Nothing has an id, so the same record twice is a copy only when one
    /// stands right behind the other.
    last: u64,
}

impl Adapter for CursorTranscript {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        out.under(Envelope::default());
        let hash = hash_of(record);
        if hash == self.last {
            return out.push(What::Problem(Problem::Repeated));
        }
        self.last = hash;
        let nothing = Json::Null;
        let message = record.get("message").unwrap_or(&nothing);
        let own = match record.str("role") {
            Some("assistant") => Channel::Assistant,
            Some(_) => Channel::Prompt,
            None => return out.push(What::TurnEnd),
        };
        if let Some(text) = message.str("content") {
            return out.say(own, text, None);
        }
        for block in message.list("content") {
            match block.str("type").unwrap_or_default() {
                "text" => out.say(own, block.str("text").unwrap_or_default(), None),
                "thinking" => out.say(
                    Channel::Reasoning,
                    block.first_str(&["thinking", "text"]).unwrap_or_default(),
                    None,
                ),
                "tool_use" | "tool_call" | "tool-call" => {
                    let input = block.get("input").or_else(|| block.get("args"));
                    out.push(What::Call(Call {
                        id: block.str("id").map(str::to_owned),
                        ..tools::call(
                            block.first_str(&["name", "toolName"]).unwrap_or("unknown"),
                            input.unwrap_or(&nothing),
                        )
                    }));
                }
                "tool_result" | "tool-result" => {
                    let text = member_text(block, "content");
                    out.push(What::Answer(Answer {
                        // Calls have no ids, whatever the result names.
                        id: None,
                        outcome: outcome::of_text(&text, block.is_true("is_error")),
                        text: decoded(text),
                    }));
                }
                "image" => {}
                _ => match block.str("text") {
                    Some(text) => out.say(own, text, None),
                    None => {
                        out.say(Channel::Raw, readable(block), None);
                        out.push(What::Problem(Problem::UnknownRecord));
                    }
                },
            }
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}
