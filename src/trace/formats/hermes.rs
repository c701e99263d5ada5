//! Hermes, a session as one document: `{"session_id", "platform", "session_start", "messages": […]}`.

use super::blocks::{member_text, tool_calls};
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::step::{Answer, Envelope, Steps, What, remembered};
use crate::trace::text::{decoded, readable};

pub(crate) const FORMAT: Format = Format {
    name: "hermes",
    fit,
    open: || Box::new(Hermes::default()),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    Fit::strong_if(
        record.str("session_id").is_some()
            && record.has("platform")
            && record.has("session_start")
            && record.get("messages").is_some(),
    )
}

#[derive(Default)]
struct Hermes {
    session: Envelope,
    /// The last message called no tool.
    rests: bool,
}

impl Adapter for Hermes {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if out.part().starts() {
            let cwd = record.str("cwd").or_else(|| {
                let configured = record.at(&["model_config", "cwd"]);
                configured.and_then(Json::as_str)
            });
            self.session = Envelope {
                session: remembered(record.str("session_id").unwrap_or_default()),
                cwd: cwd.map(remembered),
                ..Envelope::default()
            };
            self.rests = false;
            out.push(What::TurnEnd);
            out.under(self.session.clone());
            out.push(What::Start);
        }
        out.under(self.session.clone());
        out.say(
            Channel::System,
            record.str("system_prompt").unwrap_or_default(),
            None,
        );
        for message in record.list("messages") {
            self.message(message, out);
        }
        if out.part().ends() {
            out.push(What::TurnEnd);
            if self.rests {
                out.push(What::End);
            }
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

impl Hermes {
    fn message(&mut self, message: &Json<'_>, out: &mut Steps) {
        let text = member_text(message, "content");
        match message.str("role").unwrap_or_default() {
            "user" => out.say(Channel::Prompt, text, None),
            "system" => out.say(Channel::System, text, None),
            "assistant" => {
                let thought = message.first_str(&["reasoning", "reasoning_content"]);
                out.say(Channel::Reasoning, thought.unwrap_or_default(), None);
                out.say(Channel::Assistant, text, None);
                self.rests = tool_calls(message, out) == 0;
            }
            "tool" => {
                let failed = message.str("finish_reason") == Some("error");
                out.push(What::Answer(Answer {
                    id: message.str("tool_call_id").map(str::to_owned),
                    outcome: outcome::of_text(&text, failed),
                    text: decoded(text),
                }));
            }
            "session_meta" => {}
            _ => {
                out.say(Channel::Raw, readable(message), None);
                out.push(What::Problem(Problem::UnknownRecord));
            }
        }
    }
}
