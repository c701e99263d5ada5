//! OpenHands: `output.jsonl` (one document per task, with the events in `history`) and event files.
//!
//! An event is an action or the observation that answers it. Old versions keep the arguments of an
//! action on the event itself, newer ones under `args`. The whole response of the model stands in
//! `tool_call_metadata` once more. What the document holds beside the events (the row of the data set,
//! settings, the final patch) the agent never saw, so it is no evidence.

use super::blocks::member_text;
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, EditOp, FileEdit, Outcome};
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::step::{Answer, Call, Envelope, Message, Steps, What, remembered};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "openhands",
    fit,
    open: || -> Box<dyn Adapter> { Box::new(Events::new(is_event, event)) },
    records_calls: true,
    experimental: false,
};

/// Members of a document beside its events.
const AROUND: [&str; 8] = [
    "instance_id",
    "instance",
    "issue",
    "instruction",
    "test_result",
    "git_patch",
    "metadata",
    "metrics",
];

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    if record.get("history").is_some() {
        let first = record.list("history").first();
        let first = first.map(|item| item.items().first().unwrap_or(item));
        let around = AROUND.iter().any(|key| record.get(key).is_some());
        return Fit::strong_if(around && first.is_some_and(is_event));
    }
    let source = matches!(record.str("source"), Some("agent" | "user" | "environment"));
    let dated = record.int("id").is_some() && record.str("timestamp").is_some();
    Fit::strong_if(source && dated && is_event(record))
}

fn is_event(record: &Json<'_>) -> bool {
    record.str("action").is_some() || record.str("observation").is_some()
}

/// Reads the events of one kind of file: the documents around them, and files without one.
pub(super) struct Events {
    session: String,
    /// Something was said or done.
    begun: bool,
    /// The agent said that it has finished.
    finished: bool,
    /// Number of the last event.
    last: Option<i64>,
    is_event: fn(&Json<'_>) -> bool,
    event: fn(&mut Self, &Json<'_>, &mut Steps),
}

impl Adapter for Events {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if (self.is_event)(record) {
            // A file of events has no document around them.
            if !self.begun {
                out.push(What::Start);
            }
            self.read(record, out);
            if self.finished {
                out.push(What::End);
            }
            return;
        }
        if out.part().starts() {
            out.push(What::TurnEnd);
            *self = Self {
                session: session_of(record),
                ..Self::new(self.is_event, self.event)
            };
            out.under(self.envelope(record));
            out.push(What::Start);
        }
        for item in record.list("history") {
            match item {
                Json::Arr(pair) => pair.iter().for_each(|event| self.read(event, out)),
                event => self.read(event, out),
            }
        }
        out.under(self.envelope(&Json::Null));
        if let Some(error) = record.str("error") {
            out.say(Channel::System, error, None);
        }
        if out.part().ends() {
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

fn session_of(document: &Json<'_>) -> String {
    let id = document.str("instance_id").map(remembered);
    let issue = || {
        document.at(&["issue", "number"]).and_then(|n| match n {
            Json::Int(number) => Some(format!("issue {number}")),
            _ => None,
        })
    };
    id.or_else(issue).unwrap_or_default()
}

impl Events {
    pub(super) fn new(
        is_event: fn(&Json<'_>) -> bool,
        event: fn(&mut Self, &Json<'_>, &mut Steps),
    ) -> Self {
        Self {
            session: String::new(),
            begun: false,
            finished: false,
            last: None,
            is_event,
            event,
        }
    }

    /// The agent said that it has finished.
    pub(super) fn finish(&mut self) {
        self.finished = true;
    }

    fn envelope(&self, event: &Json<'_>) -> Envelope {
        Envelope {
            session: self.session.clone(),
            time: event.str("timestamp").map(remembered),
            ..Envelope::default()
        }
    }

    fn read(&mut self, event: &Json<'_>, out: &mut Steps) {
        out.under(self.envelope(event));
        (self.event)(self, event, out);
        self.begun = true;
    }
}

fn event(events: &mut Events, event: &Json<'_>, out: &mut Steps) {
    if let Some(id) = event.int("id") {
        if events.last.is_some_and(|last| id < last) {
            out.push(What::Problem(Problem::OutOfOrder));
        }
        events.last = events.last.max(Some(id));
    }
    match (event.str("action"), event.str("observation")) {
        (Some(action), _) => self::action(events, action, event, out),
        (_, Some(observation)) => observed(observation, event, out),
        _ => unknown(event, out),
    }
}

fn action(events: &mut Events, action: &str, event: &Json<'_>, out: &mut Steps) {
    let args = event.get("args").unwrap_or(event);
    let text = |key: &str| args.str(key).unwrap_or_default();
    let user =
        event.str("source") == Some("user") || (event.str("source").is_none() && !events.begun);
    if !matches!(action, "think" | "finish" | "message" | "system") {
        out.say(Channel::Assistant, text("thought"), None);
    }
    match action {
        "message" if user => out.say(Channel::Prompt, text("content"), None),
        "message" => out.say(Channel::Assistant, text("content"), None),
        "system" => out.say(Channel::System, text("content"), None),
        "think" => out.say(Channel::Reasoning, text("thought"), None),
        "finish" | "reject" => {
            let said = [text("thought"), text("final_thought")].map(str::trim);
            let said = match said {
                [thought, last] if thought != last => format!("{thought}\n{last}"),
                [thought, _] => thought.to_owned(),
            };
            if !said.trim().is_empty() {
                out.push(What::Final(Message::new(Channel::Result, said.trim())));
            }
            events.finish();
        }
        "recall"
        | "null"
        | "change_agent_state"
        | "agent_state_changed"
        | "condensation"
        | "condensation_request"
        | "pause"
        | "stop"
        | "resume"
        | "start" => {}
        _ => {
            let call = call(action, args);
            out.push(What::Call(Call {
                id: id_of(event, "id"),
                ..call
            }));
        }
    }
}

/// Events are numbered; an observation names the action that it answers.
fn id_of(event: &Json<'_>, key: &str) -> Option<String> {
    event.int(key).map(|id| format!("event {id}"))
}

fn call(action: &str, args: &Json<'_>) -> Call {
    let text = |key: &str| args.str(key);
    let plain = |channel, text: &str| Call {
        channel,
        text: text.to_owned(),
        ..tools::call(action, &Json::Null)
    };
    match action {
        "run" if args.is_true("is_input") => {
            plain(Channel::ToolCall, text("command").unwrap_or_default())
        }
        "run" => plain(Channel::Command, text("command").unwrap_or_default()),
        "run_ipython" => python(text("code").unwrap_or_default()),
        "browse" => plain(Channel::Web, text("url").unwrap_or_default()),
        "browse_interactive" => plain(Channel::Web, text("browser_actions").unwrap_or_default()),
        "read" => plain(
            Channel::ToolCall,
            &format!("path: {}", text("path").unwrap_or_default()),
        ),
        "edit" | "write" if text("command") != Some("view") => {
            let edits = vec![edit(args)];
            Call {
                channel: Channel::Edit,
                text: tools::new_texts(&edits),
                edits,
                ..tools::call(action, &Json::Null)
            }
        }
        "delegate" => Call {
            child: true,
            ..plain(
                Channel::ToolCall,
                &args.get("inputs").map(readable).unwrap_or_default(),
            )
        },
        "mcp" | "call_tool_mcp" => tools::call(
            text("name").unwrap_or("mcp"),
            args.get("arguments").unwrap_or(&Json::Null),
        ),
        _ => plain(Channel::ToolCall, &readable(args)),
    }
}

/// Functions of the agent's own library that write files: `name(path, …)`.
const SKILLS: [&str; 5] = [
    "edit_file_by_replace(",
    "insert_content_at_line(",
    "append_file(",
    "edit_file(",
    "create_file(",
];

/// Code for an interactive Python: one call of a function that writes a file, or a script.
fn python(code: &str) -> Call {
    let code = code.trim();
    let skill = SKILLS.iter().find_map(|name| code.strip_prefix(name));
    if let Some((path, rest)) = skill.and_then(python_text) {
        let argument = |name: &str| {
            let (_, value) = rest.split_once(name)?;
            Some(python_text(value.trim_start().strip_prefix('=')?)?.0)
        };
        let edits = vec![FileEdit {
            path,
            op: EditOp::Replace,
            old: argument("to_replace"),
            new: argument("new_content").or_else(|| argument("content")),
        }];
        return Call {
            channel: Channel::Edit,
            text: tools::new_texts(&edits),
            edits,
            ..tools::call("run_ipython", &Json::Null)
        };
    }
    Call {
        channel: Channel::Command,
        text: tools::script("python3", code),
        ..tools::call("run_ipython", &Json::Null)
    }
}

/// The string literal that a text begins with, and what stands behind it.
fn python_text(text: &str) -> Option<(String, &str)> {
    let text = text.trim_start();
    let quote = ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .find(|quote| text.starts_with(quote))?;
    let mut rest = text.get(quote.len()..)?;
    let mut out = String::new();
    loop {
        if let Some(behind) = rest.strip_prefix(quote) {
            return Some((out, behind));
        }
        let mut chars = rest.chars();
        match chars.next()? {
            '\\' => match chars.next()? {
                'n' => out.push('\n'),
                't' => out.push('\t'),
                '\n' => {}
                c if "\\'\"".contains(c) => out.push(c),
                c => out.extend(['\\', c]),
            },
            c => out.push(c),
        }
        rest = chars.as_str();
    }
}

/// An edit by the agent's editor (`command`), or by a model that was given new content.
fn edit(args: &Json<'_>) -> FileEdit {
    let text = |key: &str| args.str(key).map(str::to_owned);
    let (op, old, new) = match args.str("command") {
        Some("create") => (EditOp::Write, None, text("file_text")),
        Some("str_replace") => (
            EditOp::Replace,
            text("old_str"),
            text("new_str").or_else(|| Some(String::new())),
        ),
        Some("insert") => (EditOp::Replace, None, text("new_str")),
        Some("undo_edit") => (EditOp::Unrecorded, None, None),
        _ => match text("content") {
            // A part of the file, or the whole of it.
            Some(content) if args.int("start").unwrap_or(1) <= 1 && args.int("end") == Some(-1) => {
                (EditOp::Write, None, Some(content))
            }
            Some(content) => (EditOp::Replace, None, Some(content)),
            None => (EditOp::Unrecorded, None, None),
        },
    };
    FileEdit {
        path: args.str("path").unwrap_or_default().to_owned(),
        op,
        old,
        new,
    }
}

fn observed(observation: &str, event: &Json<'_>, out: &mut Steps) {
    let text = member_text(event, "content");
    match observation {
        "recall" | "think" | "agent_state_changed" | "null" | "condense" => {
            return out.say(Channel::System, text, None);
        }
        _ => {}
    }
    let extras = event.get("extras").unwrap_or(event);
    let code = extras
        .at(&["metadata", "exit_code"])
        .or_else(|| extras.get("exit_code"));
    let code = match code {
        Some(Json::Int(code)) => (*code).try_into().ok(),
        _ => None,
    };
    let failed = match observation {
        "error" => true,
        "run" => code.is_none() && matches!(event.get("success"), Some(Json::Bool(false))),
        _ => text.starts_with("ERROR:"),
    };
    let said = outcome::of_text(&text, failed);
    out.push(What::Answer(Answer {
        id: id_of(event, "cause"),
        outcome: Outcome {
            exit_code: code,
            error: failed,
            denied: observation == "user_rejected",
            // No command has that exit code: the harness gave up waiting.
            interrupted: said.interrupted || (observation == "run" && code == Some(-1)),
            truncated: said.truncated,
        },
        text: decoded(text),
    }));
}

pub(super) fn unknown(event: &Json<'_>, out: &mut Steps) {
    out.say(Channel::Raw, readable(event), None);
    out.push(What::Problem(Problem::UnknownRecord));
}
