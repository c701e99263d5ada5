//! pi and OpenClaw, session files: `{"type": "session", …}`, then `{"type": "message", "message": {…}}`.
//!
//! Roles are `user`, `assistant`, `toolResult` and `bashExecution` (a command of the user). Calls of a
//! response that was aborted were never run.

use super::blocks::{member_text, text_of};
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, Outcome};
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::step::{Answer, Call, Envelope, Message, Steps, What, remembered};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "pi",
    fit,
    open: || Box::new(Pi::default()),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let dated = record.str("timestamp").is_some();
    match record.str("type").unwrap_or_default() {
        "session" => Fit::strong_if(dated && record.str("id").is_some() && record.has("cwd")),
        "message" => {
            let Some(message) = record.get("message") else {
                return Fit::No;
            };
            let own = matches!(message.str("role"), Some("toolResult" | "bashExecution"))
                || (message.has("provider") && message.has("stopReason"))
                || block_types(message).any(|kind| kind == "toolCall");
            let plain = message.str("role").is_some() && dated && message.get("content").is_some();
            let foreign = block_types(message).any(|kind| kind.starts_with("tool_"));
            Fit::by(own, plain && !foreign)
        }
        "model_change" => Fit::strong_if(record.has("provider") && record.has("modelId")),
        "thinking_level_change" => Fit::strong_if(record.has("thinkingLevel")),
        "compaction" | "branch_summary" => Fit::strong_if(dated && record.str("summary").is_some()),
        "custom" | "custom_message" => Fit::strong_if(record.str("customType").is_some()),
        "label" | "session_info" | "compact" => Fit::Follows,
        _ => Fit::No,
    }
}

fn block_types<'r>(message: &'r Json<'_>) -> impl Iterator<Item = &'r str> {
    let blocks = message.list("content").iter();
    blocks.filter_map(|block| block.str("type"))
}

#[derive(Default)]
struct Pi {
    session: String,
    cwd: Option<String>,
}

impl Adapter for Pi {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        let kind = record.str("type").unwrap_or_default();
        if kind == "session" {
            out.push(What::TurnEnd);
            self.session = remembered(record.str("id").unwrap_or_default());
            self.cwd = record.str("cwd").map(remembered);
        }
        out.under(Envelope {
            session: self.session.clone(),
            time: record.str("timestamp").map(remembered),
            cwd: self.cwd.clone(),
            ..Envelope::default()
        });
        match kind {
            "session" => out.push(What::Start),
            "message" => message(record.get("message").unwrap_or(record), out),
            "compaction" | "branch_summary" => {
                let text = record.str("summary").unwrap_or_default();
                out.push(What::Message(Message {
                    aside: true,
                    ..Message::new(Channel::Assistant, text)
                }));
            }
            "custom_message" => out.say(Channel::System, member_text(record, "content"), None),
            "model_change" | "thinking_level_change" | "custom" | "label" | "session_info" => {}
            _ => unknown(record, out),
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

fn message(message: &Json<'_>, out: &mut Steps) {
    match message.str("role").unwrap_or_default() {
        "user" => out.say(Channel::Prompt, member_text(message, "content"), None),
        "system" => out.say(Channel::System, member_text(message, "content"), None),
        "assistant" => assistant(message, out),
        "toolResult" => {
            let text = member_text(message, "content");
            out.push(What::Answer(Answer {
                id: message.str("toolCallId").map(str::to_owned),
                outcome: outcome::of_text(&text, message.is_true("isError")),
                text: decoded(text),
            }));
        }
        "bashExecution" => {
            let command = message.str("command").unwrap_or_default();
            out.say(Channel::Prompt, format!("! {command}"), None);
            out.say(
                Channel::System,
                message.str("output").unwrap_or_default(),
                None,
            );
        }
        "compactionSummary" | "branchSummary" | "custom" => {
            let text = message.get("summary").or_else(|| message.get("content"));
            out.say(Channel::System, text.map(text_of).unwrap_or_default(), None);
        }
        _ => unknown(message, out),
    }
}

fn assistant(message: &Json<'_>, out: &mut Steps) {
    let stop = message.str("stopReason").unwrap_or_default();
    let stopped = matches!(stop, "aborted" | "error");
    if let Some(text) = message.str("content") {
        out.say(Channel::Assistant, text, None);
    }
    for block in message.list("content") {
        match block.str("type").unwrap_or_default() {
            "text" => out.say(
                Channel::Assistant,
                block.str("text").unwrap_or_default(),
                None,
            ),
            "thinking" => {
                let text = block.str("thinking").unwrap_or_default();
                out.say(Channel::Reasoning, text, None);
            }
            "toolCall" => {
                let nothing = Json::Null;
                let id = block.str("id").map(str::to_owned);
                out.push(What::Call(Call {
                    id: id.clone(),
                    ..tools::call(
                        block.str("name").unwrap_or("unknown"),
                        block.get("arguments").unwrap_or(&nothing),
                    )
                }));
                if stopped {
                    out.push(What::Answer(Answer {
                        id,
                        text: message.str("errorMessage").unwrap_or_default().to_owned(),
                        outcome: Outcome {
                            error: true,
                            interrupted: true,
                            ..Outcome::default()
                        },
                    }));
                }
            }
            "image" => {}
            _ => unknown(block, out),
        }
    }
    if matches!(stop, "stop" | "length") {
        out.push(What::TurnEnd);
        out.push(What::End);
    }
}

fn unknown(value: &Json<'_>, out: &mut Steps) {
    out.say(Channel::Raw, readable(value), None);
    out.push(What::Problem(Problem::UnknownRecord));
}
