//! Copilot CLI: `events.jsonl` of a session, and `--output-format json`.
//!
//! Both hold `{type, data, id, timestamp, parentId}`; the output adds fleeting records that repeat
//! everything in pieces, and a `result`. A call is told by the message that makes it and when it starts.

use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::seen::{Seen, hash_of};
use crate::trace::step::{Answer, Call, Envelope, Steps, What, Who, remembered};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "copilot",
    fit,
    open: || Box::new(Copilot::default()),
    records_calls: true,
    experimental: false,
};

/// First words of record types without a text of the conversation.
const NOISE: [&str; 10] = [
    "session",
    "hook",
    "model",
    "assistant",
    "tool",
    "subagent",
    "permission",
    "abort",
    "skill",
    "user",
];

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let kind = record.str("type").unwrap_or_default();
    if kind == "result" {
        return Fit::strong_if(record.has("sessionId") && record.has("exitCode"));
    }
    let envelope =
        record.has_obj("data") && record.str("id").is_some() && record.get("parentId").is_some();
    Fit::strong_if(envelope && (kind.contains('.') || kind == "abort"))
}

#[derive(Default)]
struct Copilot {
    session: String,
    cwd: Option<String>,
    /// A session was started in this file, so every record has its parent in it.
    whole: bool,
    /// Ids of records.
    records: Seen,
    /// Ids of calls, and texts of thoughts.
    told: Seen,
}

impl Adapter for Copilot {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        let nothing = Json::Null;
        let data = record.get("data").unwrap_or(&nothing);
        let kind = record.str("type").unwrap_or_default();
        if kind == "session.start" {
            self.session = data.str("sessionId").map(remembered).unwrap_or_default();
            self.whole = true;
        }
        if let Some(cwd) = data.at(&["context", "cwd"]).and_then(Json::as_str) {
            self.cwd = Some(remembered(cwd));
        }
        out.under(Envelope {
            session: self.session.clone(),
            who: match data.str("parentToolCallId") {
                Some(call) => Who::Child(call.to_owned()),
                None => Who::Main,
            },
            uuid: record.str("id").map(str::to_owned),
            time: record.str("timestamp").map(str::to_owned),
            cwd: self.cwd.clone(),
        });
        if record.is_true("ephemeral") && kind != "assistant.reasoning" {
            return;
        }
        self.chain(record, out);
        self.read(kind, data, out);
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

impl Copilot {
    /// Every record of a session names the one before it.
    fn chain(&mut self, record: &Json<'_>, out: &mut Steps) {
        let known = |id: &str| self.records.get(hash_of(id)).is_some();
        if self.whole && record.str("parentId").is_some_and(|parent| !known(parent)) {
            out.push(What::Problem(Problem::MissingParent));
        }
        if let Some(id) = record.str("id") {
            self.records.insert(hash_of(id), 0);
        }
    }

    fn read(&mut self, kind: &str, data: &Json<'_>, out: &mut Steps) {
        let content = data.str("content").unwrap_or_default();
        match kind {
            "session.start" => out.push(What::Start),
            // The output has no start of its own; its first turn is the first.
            "assistant.turn_start" if !self.whole && data.str("turnId") == Some("0") => {
                out.push(What::Start);
            }
            "session.resume" => out.push(What::Active),
            "session.shutdown" | "result" => {
                out.push(What::TurnEnd);
                out.push(What::End);
            }
            "user.message" => out.say(Channel::Prompt, content, None),
            "system.message" | "system.notification" => out.say(Channel::System, content, None),
            "session.info" | "session.error" | "session.warning" => {
                out.say(
                    Channel::System,
                    data.str("message").unwrap_or_default(),
                    None,
                );
            }
            "assistant.reasoning" => self.think(content, out),
            "assistant.message" => {
                self.think(data.str("reasoningText").unwrap_or_default(), out);
                out.say(Channel::Assistant, content, None);
                for request in data.list("toolRequests") {
                    self.call("request", request, request.str("name"), out);
                }
            }
            "tool.execution_start" => self.call("start", data, data.str("toolName"), out),
            "tool.execution_complete" => out.push(What::Answer(answer(data))),
            "subagent.started" | "subagent.completed" => {
                if let Some(call) = data.str("toolCallId") {
                    out.push(What::ChildName {
                        call: call.to_owned(),
                        name: call.to_owned(),
                        calls: data.int("totalToolCalls").and_then(|n| n.try_into().ok()),
                    });
                }
            }
            _ => {
                let first = kind.split('.').next().unwrap_or_default();
                // Its secret filter works on whole lines and may hit the type.
                if !NOISE.contains(&first) || kind.contains('*') {
                    out.say(Channel::Raw, readable(data), None);
                    out.push(What::Problem(Problem::UnknownRecord));
                }
            }
        }
    }

    /// A thought is told beside the message and in a record of its own.
    fn think(&mut self, text: &str, out: &mut Steps) {
        let known = self.told.insert(hash_of(("thought", text)), 0);
        if known.is_none() {
            out.say(Channel::Reasoning, text, None);
        }
    }

    /// A call, told in that way.
    fn call(&mut self, way: &str, request: &Json<'_>, tool: Option<&str>, out: &mut Steps) {
        let id = request.str("toolCallId");
        let told = id.and_then(|id| self.told.insert(hash_of((way, &self.session, id)), 0));
        if told.is_some() {
            out.push(What::Problem(Problem::Repeated));
        }
        let known = id.and_then(|id| self.told.insert(hash_of(("call", &self.session, id)), 0));
        if known.is_some() {
            return;
        }
        let nothing = Json::Null;
        let arguments = request.get("arguments").unwrap_or(&nothing);
        out.push(What::Call(Call {
            id: id.map(str::to_owned),
            // A sub-agent tells itself when it starts; a call that is refused starts none.
            child: false,
            ..tools::call(tool.unwrap_or("unknown"), arguments)
        }));
    }
}

fn answer(data: &Json<'_>) -> Answer {
    let failed = matches!(data.get("success"), Some(Json::Bool(false)));
    let said = data.at(&["result", "content"]).and_then(Json::as_str);
    let error = data.at(&["error", "message"]).and_then(Json::as_str);
    let (text, code) = without_shell_id(said.or(error).unwrap_or_default());
    let mut outcome = outcome::of_text(text, failed);
    let shell = data
        .get("shellExecution")
        .and_then(|shell| shell.int("exitCode"));
    outcome.exit_code = shell.and_then(|code| code.try_into().ok()).or(code);
    outcome.denied |= data.at(&["error", "code"]).and_then(Json::as_str) == Some("denied");
    Answer {
        id: data.str("toolCallId").map(str::to_owned),
        text: decoded(text.to_owned()),
        outcome,
    }
}

/// Takes off `<shellId: 3 completed with exit code 0>`, the last line of an output.
fn without_shell_id(text: &str) -> (&str, Option<i32>) {
    let (body, last) = text.rsplit_once('\n').unwrap_or(("", text));
    let end = last
        .strip_prefix("<shellId: ")
        .and_then(|end| end.strip_suffix('>'));
    match end.and_then(|end| end.split_once(" completed with exit code ")) {
        Some((_, code)) => (body, code.parse().ok()),
        None => (text, None),
    }
}
