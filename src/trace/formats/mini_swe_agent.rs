//! mini-swe-agent, `*.traj.json`: one document with `messages`, or in the oldest versions the bare
//! array of them.
//!
//! Version 1 writes the command into a fence of the assistant's text and answers in the next user
//! message; version 2 uses tool calls. The templates in `info.config` hold example commands and are
//! no part of the run.

use super::blocks::{member_text, time_of, tool_calls};
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, Outcome};
use crate::trace::json::{self, Json};
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::step::{Answer, Call, Envelope, Message, Steps, What};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "mini-swe-agent",
    fit,
    open: || Box::new(MiniSweAgent::default()),
    records_calls: true,
    experimental: false,
};

/// Words of the system prompt of version 1.
const PROMPT_MARKS: [&str; 2] = [
    "mswea_bash_command",
    "exactly ONE bash code block with ONE command",
];
/// Fences around a command.
const FENCES: [&str; 2] = ["```bash", "```mswea_bash_command"];
/// The command that ends a run.
const SUBMIT: &str = "COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT";

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    if record
        .str("trajectory_format")
        .is_some_and(|name| name.starts_with("mini-swe-agent"))
    {
        return Fit::Strong;
    }
    if let Some(info) = record.get("info") {
        let own = info.has("mini_version")
            || info.at(&["config", "agent"]).is_some()
            || info.has("exit_status");
        let first = record.list("messages").first();
        let roles = first.is_none_or(|first| first.str("role").is_some());
        return Fit::strong_if(own && roles && record.get("messages").is_some());
    }
    let role = record.str("role");
    let marked = |message: &Json<'_>| {
        let text = message.str("content").unwrap_or_default();
        message.str("role") == Some("system") && PROMPT_MARKS.iter().any(|mark| text.contains(mark))
    };
    match role {
        None if record.list("messages").first().is_some_and(marked) => Fit::Strong,
        Some(_) if marked(record) => Fit::Strong,
        Some("user" | "assistant" | "tool" | "exit") if record.str("content").is_some() => {
            Fit::Follows
        }
        _ => Fit::No,
    }
}

/// What was there so far.
#[derive(Default)]
struct MiniSweAgent {
    /// A prompt was there.
    prompted: bool,
    /// A command waits for the message with its output.
    waiting: bool,
    /// The command that waits ends the run.
    submits: bool,
    /// The document says how the run ended.
    ended: bool,
    /// Messages come in a document, not one by one.
    document: bool,
}

impl Adapter for MiniSweAgent {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if record.str("role").is_some() {
            if !self.document && record.str("role") == Some("system") {
                *self = Self::default();
                out.push(What::TurnEnd);
                out.push(What::Start);
            }
            return self.message(record, out);
        }
        if out.part().starts() {
            *self = Self {
                document: true,
                ..Self::default()
            };
            out.push(What::TurnEnd);
            out.push(What::Start);
        }
        self.ended |= record
            .at(&["info", "exit_status"])
            .and_then(Json::as_str)
            .is_some();
        for message in record.list("messages") {
            self.message(message, out);
        }
        if out.part().ends() {
            out.push(What::TurnEnd);
            if self.ended {
                out.push(What::End);
            }
            self.document = false;
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

impl MiniSweAgent {
    fn message(&mut self, message: &Json<'_>, out: &mut Steps) {
        let time = time_of(message, "timestamp")
            .or_else(|| time_of(message.get("extra").unwrap_or(message), "timestamp"));
        out.under(Envelope {
            time,
            ..Envelope::default()
        });
        let text = member_text(message, "content");
        match message.str("role").unwrap_or_default() {
            "system" | "developer" => out.say(Channel::System, text, None),
            "assistant" => self.assistant(message, &text, out),
            "tool" => {
                let id = message.str("tool_call_id").map(str::to_owned);
                out.push(What::Answer(answer(message, text, id)));
            }
            "user" => self.user(message, text, out),
            "exit" => {
                out.push(What::TurnEnd);
                out.say(Channel::System, text, None);
                out.push(What::End);
                self.ended = true;
            }
            _ => {
                out.say(Channel::Raw, readable(message), None);
                out.push(What::Problem(Problem::UnknownRecord));
            }
        }
    }

    fn assistant(&mut self, message: &Json<'_>, text: &str, out: &mut Steps) {
        let reasoning = message.str("reasoning_content").unwrap_or_default();
        out.say(Channel::Reasoning, reasoning, None);
        if !message.list("tool_calls").is_empty() {
            let last = message.list("tool_calls").iter().any(|call| {
                let arguments = call.at(&["function", "arguments"]);
                arguments.is_some_and(|arguments| readable(arguments).contains(SUBMIT))
            });
            say(text, last, out);
            tool_calls(message, out);
            return;
        }
        let actions = message
            .get("extra")
            .map(|extra| extra.list("actions"))
            .unwrap_or_default();
        if !actions.is_empty() {
            out.say(Channel::Assistant, text, None);
            for action in actions {
                let mut call = tools::call("bash", action);
                call.id = action.str("tool_call_id").map(str::to_owned);
                self.submits = call.text.contains(SUBMIT);
                self.waiting = call.id.is_none();
                out.push(What::Call(call));
            }
            return;
        }
        let Some((said, command)) = fenced(text) else {
            // None or several: the agent is told to write one, and nothing is run.
            return out.say(Channel::Assistant, text, None);
        };
        say(&said, command.contains(SUBMIT), out);
        let args = Json::Obj(vec![("command".into(), Json::Str(command.into()))]);
        self.waiting = true;
        self.submits = command.contains(SUBMIT);
        out.push(What::Call(Call {
            id: None,
            ..tools::call("bash", &args)
        }));
    }

    fn user(&mut self, message: &Json<'_>, text: String, out: &mut Steps) {
        if self.waiting {
            self.waiting = false;
            out.push(What::Answer(answer(message, text, None)));
            if self.submits {
                self.submits = false;
                out.push(What::TurnEnd);
                out.push(What::End);
            }
        } else if self.prompted {
            out.say(Channel::System, text, None);
        } else {
            self.prompted = true;
            out.say(Channel::Prompt, text, None);
        }
    }
}

/// What the agent says with a call; with the one that ends the run it is the final message.
fn say(text: &str, last: bool, out: &mut Steps) {
    if last && !text.trim().is_empty() {
        out.push(What::Final(Message::new(Channel::Result, text.trim())));
    } else {
        out.say(Channel::Assistant, text, None);
    }
}

/// The text around the one fenced command, and the command.
fn fenced(text: &str) -> Option<(String, &str)> {
    let mut found = None;
    for fence in FENCES {
        let mut rest = text;
        let mut before = 0;
        while let Some(at) = rest.find(fence) {
            let start = before + at;
            let inside = start + fence.len();
            let body = text.get(inside..)?;
            let blanks = body.len() - body.trim_start_matches([' ', '\t', '\r']).len();
            let code = body.get(blanks..).and_then(|code| code.strip_prefix('\n'));
            if let Some(code) = code {
                let from = inside + blanks + 1;
                let Some(length) = code
                    .find("\n```")
                    .or_else(|| code.starts_with("```").then_some(0))
                else {
                    break;
                };
                let end = from + length + if length == 0 { 3 } else { 4 };
                if found.replace((start, from, from + length, end)).is_some() {
                    return None;
                }
                before = end;
            } else {
                before = inside;
            }
            rest = text.get(before..).unwrap_or_default();
        }
    }
    let (start, from, to, end) = found?;
    let around = format!(
        "{}\n{}",
        text.get(..start)?.trim_end(),
        text.get(end..).unwrap_or_default().trim()
    );
    Some((around.trim().to_owned(), text.get(from..to)?.trim()))
}

/// The observation: tags around return code and output in version 1, JSON text and a clean copy of it
/// in version 2.
fn answer(message: &Json<'_>, text: String, id: Option<String>) -> Answer {
    let code = |value: &Json<'_>| {
        value
            .int("returncode")
            .and_then(|code| code.try_into().ok())
    };
    let mut outcome = Outcome::default();
    let mut shown = None;
    if let Some(extra) = message.get("extra").filter(|extra| extra.has("returncode")) {
        outcome.exit_code = code(extra);
        outcome.error = extra.first_str(&["exception_info"]).is_some();
    }
    if let Some(code) = tagged(&text, "returncode") {
        outcome.exit_code = code.trim().parse().ok();
        shown = tagged(&text, "output").map(|output| output.trim_start_matches('\n').to_owned());
    } else if let Ok(value @ Json::Obj(_)) = json::parse(text.trim())
        && value.has("returncode")
    {
        outcome.exit_code = outcome.exit_code.or(code(&value));
        outcome.error |= value.first_str(&["exception_info"]).is_some();
        shown = value.str("output").map(str::to_owned);
    }
    outcome.interrupted = text.contains("timed out and has been killed");
    outcome.truncated = outcome::is_truncated(&text) || text.contains("<elided_chars>");
    Answer {
        id,
        text: decoded(shown.unwrap_or(text)),
        outcome,
    }
}

/// What stands between `<tag>` and the last `</tag>`.
fn tagged<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let open = format!("<{tag}>");
    let (_, rest) = text.split_once(&open)?;
    let end = rest.rfind(&format!("</{tag}>"))?;
    rest.get(..end)
}
