//! OpenCode, `opencode run --format json`.
//!
//! One record per part of a message. A tool call is written once, when it has ended, with input and
//! output. The prompt is not there, and the steps of a sub-agent are not either: its call names a
//! session that needs its own export.

use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, Outcome};
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::step::{Answer, Call, Envelope, Steps, What, Who};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "opencode-run",
    fit,
    open: || Box::new(OpencodeRun::default()),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let kinds = ["step_start", "step_finish", "tool_use", "text", "reasoning"];
    let kind = record.str("type").unwrap_or_default();
    Fit::strong_if(
        record.str("sessionID").is_some()
            && ((kinds.contains(&kind) && record.has_obj("part"))
                || (kind == "error" && record.has("error"))),
    )
}

#[derive(Default)]
struct OpencodeRun {
    session: String,
}

impl Adapter for OpencodeRun {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        let session = record.str("sessionID").unwrap_or_default();
        let new_session = session != self.session;
        if new_session {
            out.push(What::TurnEnd);
            session.clone_into(&mut self.session);
        }
        let nothing = Json::Null;
        let part = record.get("part").unwrap_or(&nothing);
        out.under(Envelope {
            session: session.to_owned(),
            who: Who::Main,
            uuid: part.str("id").map(str::to_owned),
            time: record.int("timestamp").map(|ms| ms.to_string()),
            cwd: None,
        });
        let id = part.str("messageID");
        match record.str("type").unwrap_or_default() {
            // A session has no record of its own start: its first step is the start.
            "step_start" if new_session => out.push(What::Start),
            "step_start" => out.push(What::Active),
            "step_finish" => {
                if part.str("reason") == Some("stop") {
                    out.push(What::TurnEnd);
                    out.push(What::End);
                }
            }
            "text" => out.say(Channel::Assistant, part.str("text").unwrap_or_default(), id),
            "reasoning" => out.say(Channel::Reasoning, part.str("text").unwrap_or_default(), id),
            "tool_use" => tool(part, out),
            "error" => {
                let error = record.get("error").unwrap_or(&nothing);
                out.say(Channel::System, readable(error), None);
            }
            _ => out.push(What::Problem(Problem::UnknownRecord)),
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

/// A part that is a call with, once it has ended, its result.
pub(super) fn tool(part: &Json<'_>, out: &mut Steps) {
    let nothing = Json::Null;
    let state = part.get("state").unwrap_or(&nothing);
    let id = part.str("callID").map(str::to_owned);
    let call = Call {
        id: id.clone(),
        ..tools::call(
            part.str("tool").unwrap_or("unknown"),
            state.get("input").unwrap_or(&nothing),
        )
    };
    let child = call.child;
    out.push(What::Call(call));
    if let (true, Some(call), Some(name)) = (
        child,
        &id,
        state.at(&["metadata", "sessionId"]).and_then(Json::as_str),
    ) {
        out.push(What::ChildName {
            call: call.clone(),
            name: name.to_owned(),
            calls: None,
        });
    }
    let failed = state.str("status") == Some("error");
    if !failed && !matches!(state.str("status"), Some("completed" | "success")) {
        return;
    }
    // `metadata.output` is a longer or shorter copy that the model was not given.
    let text = state
        .first_str(if failed { &["error"] } else { &["output"] })
        .unwrap_or_default();
    let said = outcome::of_text(text, failed);
    let metadata = state.get("metadata").unwrap_or(&nothing);
    out.push(What::Answer(Answer {
        id,
        outcome: Outcome {
            exit_code: metadata.int("exit").and_then(|code| code.try_into().ok()),
            truncated: said.truncated || metadata.is_true("truncated"),
            ..said
        },
        text: decoded(text.to_owned()),
    }));
}
