//! Droid: the stream of `droid exec -o stream-json`, and session files.
//!
//! The stream has flat records (`tool_call` with `toolName`, `completion` with `finalText`); the
//! session file wraps messages with the blocks `tool_use` and `tool_result`.

use super::blocks::member_text;
use super::claude_message::{self, Around};
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
    name: "droid",
    fit,
    open: || Box::new(Droid::default()),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let session = session_of(record).is_some();
    match record.str("type").unwrap_or_default() {
        "session_start" => Fit::strong_if(record.str("id").is_some() && record.has("title")),
        "message" if session => {
            Fit::strong_if(record.str("role").is_some() && record.str("text").is_some())
        }
        "message" => {
            let message = record.get("message");
            let blocks = message.map(|m| m.list("content")).unwrap_or_default();
            let own =
                |block: &Json<'_>| matches!(block.str("type"), Some("tool_use" | "tool_result"));
            let plain = message.is_some_and(|m| m.str("role").is_some() && m.has("content"));
            let foreign = blocks.iter().any(|b| b.str("type") == Some("toolCall"))
                || message.is_some_and(|m| m.has("provider") || m.has("stopReason"));
            Fit::by(
                record.has("id") && blocks.iter().any(own),
                record.has("id") && plain && !foreign,
            )
        }
        "system" => Fit::strong_if(
            session
                && record.has("id")
                && record.has("model")
                && record.has("cwd")
                && !record.has("uuid")
                && !record.has("apiKeySource"),
        ),
        "tool_call" => Fit::strong_if(session && record.str("toolName").is_some()),
        "tool_result" => Fit::strong_if(session && record.get("value").is_some()),
        "completion" => Fit::strong_if(session && record.has("finalText")),
        "error" => Fit::strong_if(session && record.has("source") && record.has("message")),
        _ => Fit::No,
    }
}

fn session_of<'r>(record: &'r Json<'_>) -> Option<&'r str> {
    record.str("session_id").or_else(|| record.str("sessionId"))
}

#[derive(Default)]
struct Droid {
    session: String,
    cwd: Option<String>,
}

impl Adapter for Droid {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        let kind = record.str("type").unwrap_or_default();
        if let Some(session) = session_of(record) {
            self.session = remembered(session);
        }
        if matches!(kind, "session_start" | "system") {
            out.push(What::TurnEnd);
            self.cwd = record.str("cwd").map(remembered);
            if let ("session_start", Some(id)) = (kind, record.str("id")) {
                self.session = remembered(id);
            }
        }
        out.under(Envelope {
            session: self.session.clone(),
            time: super::blocks::time_of(record, "timestamp"),
            cwd: self.cwd.clone(),
            ..Envelope::default()
        });
        match kind {
            "session_start" | "system" => out.push(What::Start),
            "message" => message(record, out),
            "tool_call" => call(record, out),
            "tool_result" => answer(record, out),
            "completion" => {
                let text = record.str("finalText").unwrap_or_default();
                if !text.trim().is_empty() {
                    out.push(What::Final(Message::new(Channel::Result, text)));
                }
                out.push(What::TurnEnd);
                out.push(What::End);
            }
            "error" => out.say(Channel::System, member_text(record, "message"), None),
            _ => {
                out.say(Channel::Raw, readable(record), None);
                out.push(What::Problem(Problem::UnknownRecord));
            }
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

fn message(record: &Json<'_>, out: &mut Steps) {
    if let Some(text) = record.str("text") {
        let channel = match record.str("role") {
            Some("assistant") => Channel::Assistant,
            Some("system") => Channel::System,
            _ => return prompt(text, out),
        };
        return out.say(channel, text, None);
    }
    let message = record.get("message").unwrap_or(record);
    match message.str("role") {
        Some("assistant") => claude_message::assistant(message, out),
        _ => {
            let from = out.len();
            for block in message.list("content") {
                match block.str("text") {
                    Some(text) => prompt(text, out),
                    None => {
                        let blocks = Json::Arr(vec![block.clone()]);
                        let message = Json::Obj(vec![("content".into(), blocks)]);
                        claude_message::user(&message, &Around::default(), out);
                    }
                }
            }
            out.say(
                Channel::Prompt,
                message.str("content").unwrap_or_default(),
                None,
            );
            out.answers_from(from, |answer| {
                if answer.outcome.exit_code.is_none() {
                    answer.outcome.exit_code = failed_with(&answer.text);
                }
            });
        }
    }
}

/// What the user said, behind reminders of the program.
fn prompt(text: &str, out: &mut Steps) {
    let mut text = text.trim_start();
    while let Some(rest) = text.strip_prefix("<system-reminder>") {
        let (reminder, behind) = rest.split_once("</system-reminder>").unwrap_or((rest, ""));
        out.say(Channel::System, reminder.trim(), None);
        text = behind.trim_start();
    }
    out.say(Channel::Prompt, text, None);
}

/// `Error: Command failed (exit code: 1)` at the start of a result.
fn failed_with(text: &str) -> Option<i32> {
    let line = text
        .lines()
        .next()
        .filter(|line| line.starts_with("Error: "))?;
    let (_, code) = line.rsplit_once("(exit code: ")?;
    code.trim_end_matches(')').trim().parse().ok()
}

fn id_of(record: &Json<'_>) -> Option<String> {
    record.first_str(&["toolCallId", "id"]).map(str::to_owned)
}

fn call(record: &Json<'_>, out: &mut Steps) {
    let nothing = Json::Null;
    out.push(What::Call(Call {
        id: id_of(record),
        ..tools::call(
            record.str("toolName").unwrap_or("unknown"),
            record.get("parameters").unwrap_or(&nothing),
        )
    }));
}

fn answer(record: &Json<'_>, out: &mut Steps) {
    let nothing = Json::Null;
    let value = record.get("value").unwrap_or(&nothing);
    let text = match value.str("stdout") {
        Some(stdout) => format!("{stdout}{}", value.str("stderr").unwrap_or_default()),
        None => value
            .as_str()
            .map_or_else(|| readable(value), str::to_owned),
    };
    let said = outcome::of_text(&text, record.is_true("isError"));
    let code = value.int("exitCode").and_then(|code| code.try_into().ok());
    out.push(What::Answer(Answer {
        id: id_of(record),
        outcome: Outcome {
            exit_code: code.or(said.exit_code).or_else(|| failed_with(&text)),
            ..said
        },
        text: decoded(text),
    }));
}
