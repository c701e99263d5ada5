//! Harbor, `trajectory.json`: the Agent Trajectory Interchange Format (ATIF) 1.0 to 1.8.
//!
//! One document with `steps`. Calls and outputs stand in `extra` once or twice more. Sub-agents are
//! documents under `subagent_trajectories`, or files of their own that a result names. Experimental:
//! written from the published types.

use super::blocks::{member_text, text_of};
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::step::{Answer, Call, Envelope, Steps, What, Who, remembered};
use crate::trace::text::decoded;
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "atif",
    fit,
    open: || Box::new(Atif::default()),
    records_calls: true,
    experimental: true,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let version = record.str("schema_version");
    // The version may stand behind a long list of steps.
    let step = record.list("steps").first().is_some_and(|step| {
        let source = matches!(step.str("source"), Some("system" | "user" | "agent"));
        step.int("step_id").is_some() && source && step.get("message").is_some()
    });
    Fit::strong_if(version.map_or(step, |version| version.starts_with("ATIF-")))
}

#[derive(Default)]
struct Atif {
    session: Envelope,
}

impl Adapter for Atif {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if out.part().starts() {
            let id = record.first_str(&["session_id", "trajectory_id"]);
            self.session = Envelope {
                session: remembered(id.unwrap_or_default()),
                ..Envelope::default()
            };
            out.push(What::TurnEnd);
            out.under(self.session.clone());
            out.push(What::Start);
        }
        out.under(self.session.clone());
        for step in record.list("steps") {
            step_steps(step, &self.session, out);
        }
        for child in record.list("subagent_trajectories") {
            let id = child.first_str(&["trajectory_id", "session_id"]);
            let envelope = Envelope {
                who: Who::Child(remembered(id.unwrap_or("subagent"))),
                ..self.session.clone()
            };
            for step in child.list("steps") {
                step_steps(step, &envelope, out);
            }
        }
        if out.part().ends() {
            out.under(self.session.clone());
            out.push(What::TurnEnd);
            out.push(What::End);
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

fn step_steps(step: &Json<'_>, session: &Envelope, out: &mut Steps) {
    if step.is_true("is_copied_context") {
        return;
    }
    out.under(Envelope {
        time: step.str("timestamp").map(remembered),
        ..session.clone()
    });
    let text = member_text(step, "message");
    match step.str("source").unwrap_or_default() {
        "user" => out.say(Channel::Prompt, text, None),
        "agent" => {
            let thought = step.str("reasoning_content").unwrap_or_default();
            out.say(Channel::Reasoning, thought, None);
            out.say(Channel::Assistant, text, None);
        }
        _ => out.say(Channel::System, text, None),
    }
    let nothing = Json::Null;
    for call in step.list("tool_calls") {
        out.push(What::Call(Call {
            id: call.str("tool_call_id").map(str::to_owned),
            ..tools::call(
                call.str("function_name").unwrap_or("unknown"),
                call.get("arguments").unwrap_or(&nothing),
            )
        }));
    }
    let results = step.get("observation").map(|seen| seen.list("results"));
    for result in results.unwrap_or_default() {
        let id = result.str("source_call_id").map(str::to_owned);
        for child in result.list("subagent_trajectory_ref") {
            let name = child.first_str(&["trajectory_id", "session_id"]);
            if let (Some(call), Some(name)) = (&id, name) {
                out.push(What::ChildName {
                    call: call.clone(),
                    name: remembered(name),
                    calls: None,
                });
            }
        }
        let text = result.get("content").map(text_of).unwrap_or_default();
        out.push(What::Answer(Answer {
            id,
            outcome: outcome::of_text(&text, false),
            text: decoded(text),
        }));
    }
}
