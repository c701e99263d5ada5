//! Antigravity, the steps of a conversation: `{"step_index", "source", "type", "status", "content"}`.
//!
//! Calls stand in the planner's response without ids; the steps behind it are their results, named by
//! the kind of tool. The values of arguments are JSON texts once more. Long texts are cut
//! (`truncated_fields`), and nothing marks a start or an end.

use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::{self, Json};
use crate::trace::outcome;
use crate::trace::step::{Answer, Envelope, Steps, What, remembered};
use crate::trace::text::decoded;
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "antigravity",
    fit,
    open: || Box::new(Antigravity),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    Fit::strong_if(
        record.int("step_index").is_some()
            && ["source", "type", "status"]
                .iter()
                .all(|key| record.str(key).is_some()),
    )
}

struct Antigravity;

impl Adapter for Antigravity {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        out.under(Envelope {
            uuid: record.int("step_index").map(|step| format!("step {step}")),
            time: record.str("created_at").map(remembered),
            ..Envelope::default()
        });
        let text = record.str("content").unwrap_or_default();
        match (
            record.str("type").unwrap_or_default(),
            record.str("source").unwrap_or_default(),
        ) {
            ("USER_INPUT", _) => out.say(Channel::Prompt, text, None),
            ("PLANNER_RESPONSE", _) => {
                out.say(
                    Channel::Reasoning,
                    record.str("thinking").unwrap_or_default(),
                    None,
                );
                out.say(Channel::Assistant, text, None);
                for call in record.list("tool_calls") {
                    let name = call.str("name").unwrap_or("unknown");
                    out.push(What::Call(tools::call(name, &arguments(call))));
                }
            }
            ("CONVERSATION_HISTORY" | "CHECKPOINT" | "SYSTEM_MESSAGE" | "EPHEMERAL_MESSAGE", _)
            | (_, "SYSTEM") => out.say(Channel::System, text, None),
            _ => {
                let mut outcome = outcome::of_text(text, record.str("status") == Some("ERROR"));
                outcome.truncated |= !record.list("truncated_fields").is_empty();
                out.push(What::Answer(Answer {
                    id: None,
                    text: decoded(text.to_owned()),
                    outcome,
                }));
            }
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

/// The arguments, each decoded once; without what is shown to people only.
fn arguments(call: &Json<'_>) -> Json<'static> {
    let args = call.get("args").map(Json::members).unwrap_or_default();
    let args = args.iter().filter(|(name, _)| !name.starts_with("tool"));
    let members = args.map(|(name, value)| {
        let text = value.as_str().unwrap_or_default();
        let value = match json::parse(text) {
            Ok(Json::Str(text)) => text.into_owned(),
            _ if value.as_str().is_some() => text.to_owned(),
            _ => crate::trace::text::readable(value),
        };
        (name.clone().into_owned().into(), Json::Str(value.into()))
    });
    Json::Obj(members.collect())
}
