//! Goose, session files: `{"role", "created", "content": [{"type": "toolRequest", …}]}`.
//!
//! Experimental: written from the published types.

use super::blocks::{member_text, text_of, time_of};
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::step::{Answer, Call, Envelope, Steps, What, remembered};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "goose",
    fit,
    open: || Box::new(Goose::default()),
    records_calls: true,
    experimental: true,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    if record.has("working_dir") && record.has("description") && record.get("role").is_none() {
        return Fit::Strong;
    }
    let message = record.str("role").is_some() && record.int("created").is_some();
    let own = record
        .list("content")
        .iter()
        .any(|block| matches!(block.str("type"), Some("toolRequest" | "toolResponse")));
    Fit::by(
        message && own,
        message && !record.list("content").is_empty(),
    )
}

#[derive(Default)]
struct Goose {
    cwd: Option<String>,
}

impl Adapter for Goose {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        let start = record.has("working_dir");
        if start {
            self.cwd = record.str("working_dir").map(remembered);
        }
        out.under(Envelope {
            time: time_of(record, "created"),
            cwd: self.cwd.clone(),
            ..Envelope::default()
        });
        if start {
            out.push(What::TurnEnd);
            return out.push(What::Start);
        }
        let own = match record.str("role") {
            Some("assistant") => Channel::Assistant,
            _ => Channel::Prompt,
        };
        for block in record.list("content") {
            message_block(block, own, out);
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

fn message_block(block: &Json<'_>, own: Channel, out: &mut Steps) {
    let nothing = Json::Null;
    let id = block.str("id").map(str::to_owned);
    match block.str("type").unwrap_or_default() {
        "text" => out.say(own, block.str("text").unwrap_or_default(), None),
        "thinking" => {
            let text = block.str("thinking").unwrap_or_default();
            out.say(Channel::Reasoning, text, None);
        }
        "toolRequest" => {
            let call = block.at(&["toolCall", "value"]).unwrap_or(&nothing);
            out.push(What::Call(Call {
                id,
                ..tools::call(
                    call.str("name").unwrap_or("unknown"),
                    call.get("arguments").unwrap_or(&nothing),
                )
            }));
        }
        "toolResponse" => {
            let result = block.get("toolResult").unwrap_or(&nothing);
            let value = result.get("value").unwrap_or(&nothing);
            let mut text = match value.get("content") {
                Some(content) => text_of(content),
                None => text_of(value),
            };
            text.push_str(&member_text(result, "error"));
            let failed = result.str("status") == Some("error") || value.is_true("isError");
            out.push(What::Answer(Answer {
                id,
                outcome: outcome::of_text(&text, failed),
                text: decoded(text),
            }));
        }
        "image" | "redactedThinking" | "toolConfirmationRequest" => {}
        "summarizationRequested" | "contextLengthExceeded" | "systemNotification" => {
            out.say(Channel::System, readable(block), None);
        }
        _ => {
            out.say(Channel::Raw, readable(block), None);
            out.push(What::Problem(Problem::UnknownRecord));
        }
    }
}
