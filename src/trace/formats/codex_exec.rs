//! Codex, `codex exec --json` (0.44 and later).
//!
//! A thread of turns; in a turn, items, each `started` and `completed` under one id that is unique in
//! its thread. Prompt, working directory, model and times are not recorded, nor is the content of
//! `file_change`. The last message of a turn is its result.

use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, EditOp, FileEdit, Outcome};
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::shell_words::unwrap_harness_shell;
use crate::trace::step::{Answer, Call, Envelope, Steps, What, Who, remembered};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "codex-exec",
    fit,
    open: || Box::new(CodexExec::default()),
    records_calls: true,
    experimental: false,
};

/// Codex cuts the output of a command at this many bytes and does not say so.
const OUTPUT_CAP: usize = 1 << 20;

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    match record.str("type").unwrap_or_default() {
        "thread.started" => Fit::strong_if(record.str("thread_id").is_some()),
        "turn.started" | "turn.completed" | "turn.failed" => Fit::Strong,
        "item.started" | "item.updated" | "item.completed" => {
            Fit::strong_if(record.has_obj("item"))
        }
        "error" => Fit::by(false, record.str("message").is_some()),
        _ => Fit::No,
    }
}

#[derive(Default)]
struct CodexExec {
    thread: String,
}

impl Adapter for CodexExec {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        let kind = record.str("type").unwrap_or_default();
        if kind == "thread.started" {
            // Whatever the thread before said last was its final word.
            out.push(What::TurnEnd);
            self.thread = remembered(record.str("thread_id").unwrap_or_default());
        }
        out.under(Envelope {
            session: self.thread.clone(),
            who: Who::Main,
            ..Envelope::default()
        });
        match kind {
            "thread.started" => out.push(What::Start),
            "turn.started" => out.push(What::Active),
            "turn.completed" | "turn.failed" => {
                if let Some(text) = record.at(&["error", "message"]).and_then(Json::as_str) {
                    out.say(Channel::System, text, None);
                }
                out.push(What::TurnEnd);
                out.push(What::End);
            }
            "error" => out.say(
                Channel::System,
                record.str("message").unwrap_or_default(),
                None,
            ),
            _ => {
                if let Some(item) = record.get("item") {
                    item_record(kind, item, out);
                }
            }
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

fn item_record(kind: &str, item: &Json<'_>, out: &mut Steps) {
    let completed = kind == "item.completed";
    let id = item.str("id");
    let text = item.str("text").unwrap_or_default();
    match item.first_str(&["type", "item_type"]).unwrap_or_default() {
        "agent_message" | "assistant_message" if completed => {
            out.say(Channel::Assistant, text, id);
        }
        "reasoning" if completed => out.say(Channel::Reasoning, text, id),
        "error" if completed => {
            out.say(Channel::System, item.str("message").unwrap_or_default(), id);
        }
        "agent_message" | "assistant_message" | "reasoning" | "error" => {}
        // Only what is new in an update matters: the plan is said when it is made and when it changes.
        "todo_list" => plan(item, out),
        _ if kind == "item.updated" => {}
        known => tool_item(known, item, completed, out),
    }
}

/// The agent's plan: a call without a result.
fn plan(item: &Json<'_>, out: &mut Steps) {
    let call = Call {
        id: item.str("id").map(str::to_owned),
        expects_result: false,
        restated: true,
        text: readable(item.get("items").unwrap_or(&Json::Null)),
        ..tools::call("todo_list", &Json::Null)
    };
    out.push(What::Call(call));
}

fn tool_item(kind: &str, item: &Json<'_>, completed: bool, out: &mut Steps) {
    let mut call = match kind {
        "command_execution" => command(item),
        "file_change" => file_change(item),
        "mcp_tool_call" => mcp(item),
        "web_search" => {
            // The query may be missing until the search is done.
            if item.first_str(&["query"]).is_none() && !completed {
                return;
            }
            tools::call("web_search", item)
        }
        _ => {
            out.push(What::Problem(Problem::UnknownRecord));
            tools::call(kind, item)
        }
    };
    call.id = item.str("id").map(str::to_owned);
    call.restated = completed;
    out.push(What::Call(call));
    // The pages that a search found are not in the trace, so it has no result.
    if completed && kind != "web_search" {
        out.push(What::Answer(answer(kind, item)));
    }
}

fn command(item: &Json<'_>) -> Call {
    let command = item.str("command").unwrap_or_default();
    Call {
        channel: Channel::Command,
        text: unwrap_harness_shell(command).unwrap_or_else(|| command.to_owned()),
        ..tools::call("shell", &Json::Null)
    }
}

fn file_change(item: &Json<'_>) -> Call {
    let edits = item
        .list("changes")
        .iter()
        .filter_map(|change| {
            Some(FileEdit {
                path: change.str("path")?.to_owned(),
                op: if change.str("kind") == Some("delete") {
                    EditOp::Delete
                } else {
                    EditOp::Unrecorded
                },
                old: None,
                new: None,
            })
        })
        .collect();
    Call {
        channel: Channel::Edit,
        edits,
        text: String::new(),
        ..tools::call("file_change", &Json::Null)
    }
}

fn mcp(item: &Json<'_>) -> Call {
    let tool = format!(
        "mcp__{}__{}",
        item.str("server").unwrap_or_default(),
        item.str("tool").unwrap_or_default()
    );
    tools::call(&tool, item.get("arguments").unwrap_or(&Json::Null))
}

fn answer(kind: &str, item: &Json<'_>) -> Answer {
    let exit_code = item.int("exit_code").and_then(|code| code.try_into().ok());
    let failed = item.str("status") == Some("failed");
    let text = match kind {
        "command_execution" => item.str("aggregated_output").unwrap_or_default().to_owned(),
        "mcp_tool_call" => mcp_text(item),
        _ => String::new(),
    };
    let said = outcome::of_text(&text, failed);
    Answer {
        id: item.str("id").map(str::to_owned),
        outcome: Outcome {
            exit_code,
            // A command that ran and failed is told by its exit code.
            error: failed && exit_code.is_none(),
            denied: item.str("status") == Some("declined") || (said.denied && exit_code.is_none()),
            interrupted: said.interrupted && exit_code.is_none(),
            truncated: said.truncated || text.len() >= OUTPUT_CAP,
        },
        text: decoded(text),
    }
}

/// `structured_content` is a copy of the text.
fn mcp_text(item: &Json<'_>) -> String {
    let content = item.at(&["result", "content"]).map(Json::items);
    let mut pieces: Vec<String> = content
        .unwrap_or_default()
        .iter()
        .map(|block| match block.str("text") {
            Some(text) => text.to_owned(),
            None if block.str("type") == Some("image") => "[image]".to_owned(),
            None => readable(block),
        })
        .collect();
    if pieces.is_empty() {
        pieces.extend(item.at(&["result", "structured_content"]).map(readable));
    }
    pieces.extend(
        item.at(&["error", "message"])
            .and_then(Json::as_str)
            .map(str::to_owned),
    );
    pieces.join("\n")
}
