//! The parts of a message as Google's models have them, shared by Gemini CLI and Qwen Code:
//! `{text}`, `{text, thought: true}`, `{functionCall: {id, name, args}}`, `{functionResponse}`.

use std::borrow::Cow;

use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::step::{Answer, Call, Steps, What};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

/// Lines that the shell tool writes behind an output.
const TRAILERS: [&str; 5] = [
    "Error: (none)",
    "Exit Code: ",
    "Signal: ",
    "Background PIDs: ",
    "Process Group PGID: ",
];

/// Texts at the start of a user's part that the agent put there.
const INJECTED: [&str; 3] = [
    "<session_context>",
    "<system-reminder>",
    "This is the Gemini CLI.",
];

/// The channel of what the user's side says.
pub(super) fn user_channel(text: &str) -> Channel {
    let start = text.trim_start();
    if INJECTED.iter().any(|mark| start.starts_with(mark)) {
        Channel::System
    } else {
        Channel::Prompt
    }
}

/// `{id, name, args}`.
pub(super) fn call(call: &Json<'_>) -> Call {
    let nothing = Json::Null;
    let name = call.str("name").unwrap_or("unknown");
    let args = call.get("args").unwrap_or(&nothing);
    Call {
        id: call.str("id").map(str::to_owned),
        ..tools::call(name, args)
    }
}

/// `{id, response: {output} | {error}}`, as the model was given it. `failed` is what the record around
/// it says.
pub(super) fn response(function: &Json<'_>, failed: bool) -> Answer {
    let nothing = Json::Null;
    let response = function.get("response").unwrap_or(&nothing);
    let error = response.str("error");
    let text = response.str("output").or(error);
    let text = match (text, response) {
        (Some(text), _) => Cow::Borrowed(text),
        (None, Json::Obj(members)) if members.is_empty() => Cow::Borrowed(""),
        (None, response) => Cow::Owned(readable(response)),
    };
    let (text, exit_code) = shell_output(&text);
    let head = text.get(..2048).unwrap_or(text);
    let mut outcome = outcome::of_text(text, failed || error.is_some());
    outcome.exit_code = outcome.exit_code.or(exit_code);
    outcome.truncated |= head.starts_with("Tool output was too large");
    Answer {
        id: function.str("id").map(str::to_owned),
        text: decoded(text.to_owned()),
        outcome,
    }
}

/// The output within what the shell tool reports, and the exit code. Only what the tool writes around
/// an output is taken off.
fn shell_output(text: &str) -> (&str, Option<i32>) {
    let inner = text
        .strip_prefix("<untrusted_context>\n")
        .and_then(|text| text.strip_suffix("\n</untrusted_context>"))
        .unwrap_or(text);
    let body = match inner.strip_prefix("Output: ") {
        Some(body) => body,
        None if inner.starts_with("Command: ") => {
            let Some((_, body)) = inner.split_once("\nOutput: ") else {
                return (inner, None);
            };
            body
        }
        None => return (inner, None),
    };
    let mut rest = body;
    let mut code = None;
    while let Some((before, line)) = rest.rsplit_once('\n') {
        let Some(trailer) = TRAILERS.iter().find(|trailer| line.starts_with(**trailer)) else {
            break;
        };
        if *trailer == "Exit Code: " {
            code = line
                .strip_prefix(trailer)
                .and_then(|n| n.trim().parse().ok());
        }
        rest = before;
    }
    (rest, code)
}

/// Says a thought.
pub(super) fn thought(thought: &Json<'_>, out: &mut Steps) {
    let both = [thought.str("subject"), thought.str("description")];
    let both: Vec<&str> = both.into_iter().flatten().collect();
    out.say(Channel::Reasoning, both.join("\n"), None);
}

/// Reads the parts of a message. True when the agent spoke in it and called nothing.
pub(super) fn read(parts: &[Json<'_>], channel: Channel, failed: bool, out: &mut Steps) -> bool {
    let (mut spoke, mut called) = (false, false);
    for part in parts {
        if let Some(function) = part.get("functionCall") {
            out.push(What::Call(call(function)));
            called = true;
        } else if let Some(function) = part.get("functionResponse") {
            out.push(What::Answer(response(function, failed)));
        } else if let Some(text) = part.as_str().or_else(|| part.str("text")) {
            let channel = match channel {
                _ if part.is_true("thought") => Channel::Reasoning,
                Channel::Prompt => user_channel(text),
                channel => channel,
            };
            spoke |= channel == Channel::Assistant && !text.trim().is_empty();
            out.say(channel, text, None);
        }
    }
    spoke && !called
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_shell_tool_writes_around_an_output() {
        for (text, want, code) in [
            ("plain\nExit Code: 1", "plain\nExit Code: 1", None),
            (
                "<untrusted_context>\nOutput: fatal: x\nExit Code: 128\nProcess Group PGID: 7\n</untrusted_context>",
                "fatal: x",
                Some(128),
            ),
            (
                "Command: ls\nDirectory: (root)\nOutput: a\nb\nError: (none)\nExit Code: 0\nSignal: 0\nProcess Group PGID: 1",
                "a\nb",
                Some(0),
            ),
            (
                "Output: a\nError: real\nExit Code: 2",
                "a\nError: real",
                Some(2),
            ),
            ("Command: cut", "Command: cut", None),
        ] {
            assert_eq!(shell_output(text), (want, code), "{text}");
        }
    }
}
