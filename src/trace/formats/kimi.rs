//! Kimi Code, `wire.jsonl` of a session: dotted types, the run in `context.append_loop_event`.
//!
//! A prompt stands there twice (`turn.prompt` and `context.append_message`); the second is what the
//! model was given. A sub-agent has a file of its own.

use super::blocks::{member_text, time_of};
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, Outcome};
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::step::{Answer, Call, Envelope, Message, Steps, What, Who, remembered};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "kimi",
    fit,
    open: || Box::new(Kimi::default()),
    records_calls: true,
    experimental: false,
};

/// Records without a word of user or agent.
const NOISE: [&str; 8] = [
    "llm.",
    "usage.",
    "tools.",
    "token_counting.",
    "runtime.",
    "permission.",
    "plugin.",
    "plan_mode.",
];

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let kind = record.str("type").unwrap_or_default();
    if kind == "metadata" {
        return Fit::strong_if(record.has("protocol_version") && record.has("created_at"));
    }
    let own = [
        "context.",
        "turn.",
        "config.",
        "profile.",
        "full_compaction.",
    ];
    let known = own
        .iter()
        .chain(&NOISE)
        .any(|start| kind.starts_with(start));
    let dotted = kind.contains('.') && record.int("time").is_some();
    let foreign = record.has("data") || record.has("parentId");
    if !dotted || foreign {
        return Fit::No;
    }
    if known { Fit::Strong } else { Fit::Follows }
}

#[derive(Default)]
struct Kimi {
    cwd: Option<String>,
    /// The file is that of a sub-agent.
    child: bool,
    /// What the turn was begun for was said.
    system: String,
}

impl Adapter for Kimi {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        let kind = record.str("type").unwrap_or_default();
        if let Some(cwd) = record.str("cwd").or_else(|| {
            let disclosed = record.at(&["environmentDisclosure", "cwd"]);
            disclosed.and_then(Json::as_str)
        }) {
            self.cwd = Some(remembered(cwd));
        }
        let origin = record.at(&["origin", "name"]).and_then(Json::as_str);
        self.child |= kind == "turn.prompt" && origin == Some("subagent");
        out.under(Envelope {
            who: if self.child {
                Who::Child("subagent".to_owned())
            } else {
                Who::Main
            },
            time: time_of(record, "time"),
            cwd: self.cwd.clone(),
            ..Envelope::default()
        });
        match kind {
            "metadata" => {
                *self = Self::default();
                out.push(What::TurnEnd);
                out.push(What::Start);
            }
            "config.update" | "profile.bind" => {
                let text = record.str("systemPrompt").unwrap_or_default();
                if text != self.system {
                    text.clone_into(&mut self.system);
                    out.say(Channel::System, text, None);
                }
            }
            "context.append_message" => context_message(record, out),
            "context.append_loop_event" => {
                loop_event(record.get("event").unwrap_or(record), out);
            }
            "context.apply_compaction" => out.push(What::Message(Message {
                aside: true,
                ..Message::new(
                    Channel::Assistant,
                    record.str("summary").unwrap_or_default(),
                )
            })),
            // The same text comes as a message.
            "turn.prompt" | "turn.steer" => {}
            "turn.ended" => {
                out.push(What::TurnEnd);
                out.push(What::End);
            }
            "turn.cancel" | "full_compaction.begin" | "full_compaction.complete" => {}
            _ if NOISE.iter().any(|start| kind.starts_with(start)) => {}
            _ => unknown(record, out),
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

fn context_message(record: &Json<'_>, out: &mut Steps) {
    let nothing = Json::Null;
    let message = record.get("message").unwrap_or(&nothing);
    let text = member_text(message, "content");
    let by_user = message.at(&["origin", "kind"]).and_then(Json::as_str);
    match message.str("role").unwrap_or_default() {
        "user" if by_user.is_none_or(|kind| kind == "user") => out.say(Channel::Prompt, text, None),
        "user" | "system" => out.say(Channel::System, text, None),
        "assistant" => out.say(Channel::Assistant, text, None),
        _ => unknown(record, out),
    }
}

fn loop_event(event: &Json<'_>, out: &mut Steps) {
    let nothing = Json::Null;
    match event.str("type").unwrap_or_default() {
        "content.part" => {
            let part = event.get("part").unwrap_or(&nothing);
            match part.str("type").unwrap_or_default() {
                "text" => out.say(
                    Channel::Assistant,
                    part.str("text").unwrap_or_default(),
                    None,
                ),
                "think" => out.say(
                    Channel::Reasoning,
                    part.str("think").unwrap_or_default(),
                    None,
                ),
                _ => unknown(part, out),
            }
        }
        "tool.call" => out.push(What::Call(Call {
            id: event.str("toolCallId").map(str::to_owned),
            ..tools::call(
                event.str("name").unwrap_or("unknown"),
                event.get("args").unwrap_or(&nothing),
            )
        })),
        "tool.result" => {
            let result = event.get("result").unwrap_or(&nothing);
            let text = member_text(result, "output");
            let failed = result.is_true("isError") || result.is_true("is_error");
            let said = outcome::of_text(&text, failed);
            out.push(What::Answer(Answer {
                id: event.str("toolCallId").map(str::to_owned),
                outcome: Outcome {
                    truncated: said.truncated || text.starts_with("[Truncated at "),
                    ..said
                },
                text: decoded(text),
            }));
        }
        "step.end" if event.str("finishReason") == Some("end_turn") => {
            out.push(What::TurnEnd);
            out.push(What::End);
        }
        "step.begin" | "step.end" | "step.retry" => {}
        _ => unknown(event, out),
    }
}

fn unknown(value: &Json<'_>, out: &mut Steps) {
    out.say(Channel::Raw, readable(value), None);
    out.push(What::Problem(Problem::UnknownRecord));
}
