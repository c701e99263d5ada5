//! OpenHands since version 1: the events of its agent SDK, in the `history` of `output.jsonl`, one in a file of its
//! own, or one a line.
//!
//! Written from the published definitions of the events; no real file was there. An event says in `kind` what it is.
//! An `ActionEvent` holds what the model thought, the call as the model wrote it (`tool_call`) and as it was understood
//! (`action`, null when it could not be carried out); an `ObservationEvent` answers it by `tool_call_id`. Of a file that
//! was edited, the observation keeps the whole text before and after, which the model never saw.

use super::blocks::{member_text, text_of};
use super::openhands::{Events, unknown};
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, Outcome};
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::step::{Answer, Call, Message, Steps, What};
use crate::trace::text::decoded;
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "openhands-sdk",
    fit,
    open: || -> Box<dyn Adapter> { Box::new(Events::new(is_event, event)) },
    records_calls: true,
    experimental: true,
};

/// Kinds of events that say or do something, or that answer.
const KINDS: [&str; 7] = [
    "SystemPromptEvent",
    "MessageEvent",
    "ActionEvent",
    "ObservationEvent",
    "UserRejectObservation",
    "AgentErrorEvent",
    "ConversationErrorEvent",
];

/// Kinds of events that are about the run and were shown to nobody, or repeat others.
const ASIDE: [&str; 9] = [
    "CondensationRequest",
    "ConversationStateUpdateEvent",
    "HookExecutionEvent",
    "InterruptEvent",
    "LLMCompletionLogEvent",
    "PauseEvent",
    "StreamingDeltaEvent",
    "TokenEvent",
    "SecurityAnalyzerConfigurationEvent",
];

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    if record.get("history").is_some() {
        return Fit::strong_if(record.list("history").first().is_some_and(is_event));
    }
    let named = record.str("id").is_some() || record.str("timestamp").is_some();
    let source = matches!(
        record.str("source"),
        Some("agent" | "user" | "environment" | "hook")
    );
    Fit::strong_if(named && source && is_event(record))
}

fn is_event(record: &Json<'_>) -> bool {
    record
        .str("kind")
        .is_some_and(|kind| KINDS.contains(&kind) || ASIDE.contains(&kind))
}

fn event(events: &mut Events, event: &Json<'_>, out: &mut Steps) {
    let kind = event.str("kind").unwrap_or_default();
    match kind {
        "SystemPromptEvent" => {
            let prompt = event.get("system_prompt").map(content).unwrap_or_default();
            out.say(Channel::System, prompt, None);
        }
        "MessageEvent" => message(event, out),
        "ActionEvent" => action(events, event, out),
        "ObservationEvent" => observed(event, out),
        "UserRejectObservation" => {
            let denied = Outcome {
                denied: true,
                ..Outcome::default()
            };
            answer(event, member_text(event, "rejection_reason"), denied, out);
        }
        "AgentErrorEvent" => {
            let text = member_text(event, "error");
            let failed = outcome::of_text(&text, true);
            answer(event, text, failed, out);
        }
        "ConversationErrorEvent" => out.say(Channel::System, member_text(event, "detail"), None),
        "Condensation" | "CondensationSummaryEvent" => {
            out.say(Channel::System, member_text(event, "summary"), None);
        }
        kind if ASIDE.contains(&kind) => {}
        _ => unknown(event, out),
    }
}

/// The text of one block or of several.
fn content(value: &Json<'_>) -> String {
    value
        .str("text")
        .map_or_else(|| text_of(value), str::to_owned)
}

fn message(event: &Json<'_>, out: &mut Steps) {
    let message = event.get("llm_message").unwrap_or(event);
    reasoning(message, out);
    let text = member_text(message, "content");
    match event.str("source") {
        Some("user") => out.say(Channel::Prompt, text, None),
        Some("agent") => out.say(Channel::Assistant, text, None),
        _ => out.say(Channel::System, text, None),
    }
    out.say(
        Channel::System,
        member_text(event, "extended_content"),
        None,
    );
}

/// What the model thought before it said or did something.
fn reasoning(holder: &Json<'_>, out: &mut Steps) {
    let thought = member_text(holder, "reasoning_content");
    for block in holder.list("thinking_blocks") {
        let block = block.str("thinking").unwrap_or_default();
        // Both hold the same text for some models.
        if !thought.contains(block.trim()) {
            out.say(Channel::Reasoning, block, None);
        }
    }
    out.say(Channel::Reasoning, thought, None);
}

fn action(events: &mut Events, event: &Json<'_>, out: &mut Steps) {
    reasoning(event, out);
    out.say(Channel::Assistant, member_text(event, "thought"), None);
    let written = event.get("tool_call").unwrap_or(&Json::Null);
    let function = written.get("function").unwrap_or(written);
    let tool = event.str("tool_name").or_else(|| function.str("name"));
    let tool = tool.unwrap_or("unknown");
    let understood = event.get("action").filter(|_| event.has_obj("action"));
    // A call that could not be understood was not carried out; its arguments are those that the model wrote.
    let args = understood
        .map(|action| {
            action
                .get("data")
                .filter(|_| action.has_obj("data"))
                .unwrap_or(action)
        })
        .or_else(|| function.get("arguments"))
        .unwrap_or(&Json::Null);
    match tool {
        "think" => return out.say(Channel::Reasoning, member_text(args, "thought"), None),
        "finish" if understood.is_some() => {
            let said = member_text(args, "message");
            if !said.trim().is_empty() {
                out.push(What::Final(Message::new(Channel::Result, said.trim())));
            }
            events.finish();
            return;
        }
        _ => {}
    }
    out.push(What::Call(Call {
        id: event.str("tool_call_id").map(str::to_owned),
        ..call(tool, args)
    }));
}

fn call(tool: &str, args: &Json<'_>) -> Call {
    match tool {
        // Typed into a process that runs already.
        "terminal" | "execute_bash" if args.is_true("is_input") => Call {
            channel: Channel::ToolCall,
            text: member_text(args, "command"),
            ..tools::call(tool, &Json::Null)
        },
        "file_editor" | "planning_file_editor" => Call {
            tool: tool.to_owned(),
            ..tools::call("str_replace_editor", args)
        },
        "delegate" | "task" => Call {
            child: true,
            ..tools::call(tool, args)
        },
        _ => tools::call(tool, args),
    }
}

fn observed(event: &Json<'_>, out: &mut Steps) {
    let nothing = Json::Null;
    let seen = event.get("observation").unwrap_or(&nothing);
    let tool = event.str("tool_name").unwrap_or_default();
    if matches!(tool, "think" | "finish") {
        return;
    }
    let text = ["content", "output", "text", "error"]
        .into_iter()
        .map(|key| member_text(seen, key))
        .find(|text| !text.is_empty())
        .unwrap_or_default();
    let code = seen
        .int("exit_code")
        .or_else(|| match seen.at(&["metadata", "exit_code"]) {
            Some(Json::Int(code)) => Some(*code),
            _ => None,
        });
    let failed = seen.is_true("is_error") || seen.str("error").is_some_and(|e| !e.is_empty());
    let said = outcome::of_text(&text, failed);
    let shell = matches!(tool, "terminal" | "execute_bash");
    let how = Outcome {
        exit_code: code.and_then(|code| code.try_into().ok()),
        error: failed,
        // No command has that exit code: the tool gave up waiting.
        interrupted: said.interrupted || seen.is_true("timeout") || (shell && code == Some(-1)),
        ..said
    };
    answer(event, text, how, out);
    out.say(
        Channel::System,
        member_text(event, "extended_content"),
        None,
    );
}

fn answer(event: &Json<'_>, text: String, outcome: Outcome, out: &mut Steps) {
    let id = event.str("tool_call_id").map(str::to_owned);
    if id.is_none() {
        out.push(What::Problem(Problem::UnknownRecord));
    }
    out.push(What::Answer(Answer {
        id,
        text: decoded(text),
        outcome,
    }));
}
