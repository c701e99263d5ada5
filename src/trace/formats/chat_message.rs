//! Messages of the chat shape that most frameworks use: `{role, content, tool_calls}`.
//!
//! `content` is a string or blocks; calls are `{id, function: {name, arguments}}`, or flat as Inspect
//! writes them; results are messages of the role `tool`.

use std::borrow::Cow;

use super::attachments::Attachments;
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::step::{Answer, Call, Steps, What};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

/// Reads one message. True when the agent spoke in it and called nothing.
pub(super) fn read(message: &Json<'_>, texts: &Attachments<'_>, out: &mut Steps) -> bool {
    // SWE-agent shows its model a run of another task, whose messages may come from a log that is cut off.
    if message.is_true("is_demo") || message.str("message_type") == Some("demonstration") {
        return false;
    }
    let content = message.get("content").or_else(|| message.get("message"));
    let channel = match message.str("role").unwrap_or_default() {
        "assistant" | "model" | "ai" => Channel::Assistant,
        "user" | "human" => Channel::Prompt,
        "tool" | "function" => {
            out.push(What::Answer(answer(message, content, texts)));
            return false;
        }
        "" => {
            out.say(Channel::Raw, readable(message), None);
            out.push(What::Problem(Problem::UnknownRecord));
            return false;
        }
        _ => Channel::System,
    };
    let id = message.str("id");
    // Under both names it is often the same.
    let [first, second] =
        ["reasoning_content", "reasoning"].map(|key| text_at(message, key, texts));
    let twice = first == second;
    out.say(Channel::Reasoning, first, None);
    if !twice {
        out.say(Channel::Reasoning, second, None);
    }
    let mut spoke = false;
    let mut say = |text: &str, out: &mut Steps| {
        spoke |= !text.trim().is_empty();
        out.say(channel, texts.fill(text), id);
    };
    let mut called = false;
    match content {
        Some(Json::Str(text)) => say(text, out),
        Some(Json::Arr(blocks)) => {
            for block in blocks {
                match (
                    block.str("type"),
                    block.as_str().or_else(|| block.str("text")),
                ) {
                    (Some("reasoning" | "thinking"), text) => {
                        let text = text.or_else(|| block.first_str(&["reasoning", "thinking"]));
                        out.say(
                            Channel::Reasoning,
                            texts.fill(text.unwrap_or_default()),
                            None,
                        );
                    }
                    (Some("tool_use"), _) => called |= used(block, texts, out),
                    (Some(kind), _) if kind.ends_with("tool_result") => {
                        let content = block.get("content");
                        out.push(What::Answer(answer(block, content, texts)));
                    }
                    (_, Some(text)) => say(text, out),
                    // Encoded bodies: the text is not in the trace.
                    _ => {}
                }
            }
        }
        Some(Json::Null) | None => {}
        Some(other) => say(&readable(other), out),
    }
    for call in message.list("tool_calls") {
        out.push(What::Call(tool_call(call)));
        called = true;
    }
    if let Some(function) = message
        .get("function_call")
        .filter(|f| f.str("name").is_some())
    {
        out.push(What::Call(tool_call(function)));
        called = true;
    }
    channel == Channel::Assistant && spoke && !called
}

fn text_at<'t>(message: &'t Json<'_>, key: &str, texts: &Attachments<'_>) -> Cow<'t, str> {
    texts.fill(message.str(key).unwrap_or_default())
}

/// `{id, function: {name, arguments}}`, `{id, function, arguments}` or `{name, arguments}`.
pub(super) fn tool_call(call: &Json<'_>) -> Call {
    let nothing = Json::Null;
    let function = call.get("function").unwrap_or(&nothing);
    let name = function
        .str("name")
        .or_else(|| function.as_str())
        .or_else(|| call.str("name"));
    let arguments = function
        .get("arguments")
        .or_else(|| call.get("arguments"))
        .or_else(|| call.get("input"))
        .unwrap_or(&nothing);
    Call {
        id: call.str("id").map(str::to_owned),
        ..tools::call(name.unwrap_or("unknown"), arguments)
    }
}

/// A call within the content. The provider of the model ran it where its result stands beside it.
fn used(block: &Json<'_>, texts: &Attachments<'_>, out: &mut Steps) -> bool {
    out.push(What::Call(tool_call(block)));
    match block.get("result") {
        Some(result) => {
            out.push(What::Answer(answer(block, Some(result), texts)));
            false
        }
        None => true,
    }
}

/// The result of a call.
pub(super) fn answer(
    message: &Json<'_>,
    content: Option<&Json<'_>>,
    texts: &Attachments<'_>,
) -> Answer {
    let mut text = match content {
        Some(Json::Str(text)) => texts.fill(text).into_owned(),
        Some(Json::Arr(blocks)) => {
            let pieces = blocks.iter().map(|block| {
                match (
                    block.as_str().or_else(|| block.str("text")),
                    block.str("type"),
                ) {
                    (Some(text), _) => texts.fill(text).into_owned(),
                    (None, Some(kind)) => format!("[{kind}]"),
                    (None, None) => readable(block),
                }
            });
            pieces.collect::<Vec<_>>().join("\n")
        }
        Some(Json::Null) | None => String::new(),
        Some(other) => readable(other),
    };
    let error = message.get("error").filter(|error| **error != Json::Null);
    let kind = error
        .and_then(|error| error.str("type"))
        .unwrap_or_default();
    if let Some(error) = error
        && text.trim().is_empty()
    {
        text = error
            .str("message")
            .map_or_else(|| readable(error), str::to_owned);
    }
    let failed = error.is_some() || message.is_true("is_error");
    let mut outcome = outcome::of_text(&text, failed);
    outcome.denied |= matches!(kind, "permission" | "approval");
    outcome.interrupted |= matches!(kind, "timeout" | "limit");
    outcome.truncated |= kind == "output_limit";
    let id = ["tool_call_id", "tool_use_id", "id"];
    Answer {
        id: message.first_str(&id).map(str::to_owned),
        text: decoded(text),
        outcome,
    }
}
