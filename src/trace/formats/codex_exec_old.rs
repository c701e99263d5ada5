//! Codex, `codex exec --json` up to 0.42: a line with the settings, one with the prompt, then
//! `{"id", "msg": {"type", …}}`.
//!
//! Unlike its successor it records the prompt and what edits wrote. Output comes in encoded chunks
//! and then whole, so the chunks are skipped.

use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, EditOp, FileEdit, Outcome};
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::patch_text::hunk_lines;
use crate::trace::shell_words::command_of_argv;
use crate::trace::step::{Answer, Call, Envelope, Steps, What, Who, remembered};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "codex-exec-old",
    fit,
    open: || Box::new(CodexExecOld::default()),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let message = record.at(&["msg", "type"]).and_then(Json::as_str).is_some();
    let settings = record.has("workdir") && record.has("sandbox") && record.has("provider");
    let prompt = record.str("prompt").is_some() && record.members().len() == 1;
    Fit::by((message && record.has("id")) || settings, prompt)
}

#[derive(Default)]
struct CodexExecOld {
    /// Runs in this file so far; there is no session id.
    runs: u32,
    cwd: Option<String>,
}

impl Adapter for CodexExecOld {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if record.has("workdir") {
            out.push(What::TurnEnd);
            self.runs += 1;
            self.cwd = record.str("workdir").map(remembered);
        }
        out.under(Envelope {
            session: format!("run {}", self.runs),
            who: Who::Main,
            cwd: self.cwd.clone(),
            ..Envelope::default()
        });
        if record.has("workdir") {
            out.push(What::Start);
        } else if let Some(text) = record.str("prompt") {
            out.say(Channel::Prompt, text, None);
        } else if let Some(message) = record.get("msg") {
            message_record(message, out);
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

fn message_record(message: &Json<'_>, out: &mut Steps) {
    let text = |key| message.str(key).unwrap_or_default();
    match message.str("type").unwrap_or_default() {
        "task_started" => out.push(What::Active),
        "task_complete" => {
            out.push(What::TurnEnd);
            out.push(What::End);
        }
        "agent_message" => out.say(Channel::Assistant, text("message"), None),
        "agent_reasoning" => out.say(Channel::Reasoning, text("text"), None),
        "error" | "stream_error" | "background_event" => {
            out.say(Channel::System, text("message"), None);
        }
        "exec_command_begin" => call(message, command(message), out),
        "patch_apply_begin" => call(message, patch(message), out),
        "mcp_tool_call_begin" => call(message, mcp(message), out),
        "web_search_end" => call(message, tools::call("web_search", message), out),
        "exec_command_end" => answer(message, exec_text(message), out),
        "patch_apply_end" => {
            let both = format!("{}{}", text("stdout"), text("stderr"));
            answer(message, both, out);
        }
        "mcp_tool_call_end" => {
            let result = message.get("result").map(readable).unwrap_or_default();
            answer(message, result, out);
        }
        "plan_update" => {
            let plan = Call {
                expects_result: false,
                ..tools::call("update_plan", message)
            };
            out.push(What::Call(plan));
        }
        // Chunks and running totals: their content comes again, whole.
        _ => {}
    }
}

fn call(message: &Json<'_>, call: Call, out: &mut Steps) {
    out.push(What::Call(Call {
        id: message.str("call_id").map(str::to_owned),
        ..call
    }));
}

fn command(message: &Json<'_>) -> Call {
    let argv: Vec<&str> = message
        .list("command")
        .iter()
        .filter_map(Json::as_str)
        .collect();
    Call {
        channel: Channel::Command,
        text: command_of_argv(&argv),
        ..tools::call("shell", &Json::Null)
    }
}

pub(super) fn mcp(message: &Json<'_>) -> Call {
    let invocation = message.get("invocation").unwrap_or(message);
    let tool = format!(
        "mcp__{}__{}",
        invocation.str("server").unwrap_or_default(),
        invocation.str("tool").unwrap_or_default()
    );
    tools::call(&tool, invocation.get("arguments").unwrap_or(&Json::Null))
}

/// `changes: {path: {update: {unified_diff, move_path}} | {add: {content}} | {delete}}`.
pub(super) fn patch(message: &Json<'_>) -> Call {
    let changes = message
        .get("changes")
        .map(Json::members)
        .unwrap_or_default();
    let edits: Vec<FileEdit> = changes
        .iter()
        .map(|(path, change)| {
            let string = |path: &[&str]| change.at(path).and_then(Json::as_str);
            // Newer versions name the kind inside: `{type: "update", unified_diff}`.
            let either = |kind, key| string(&[kind, key]).or_else(|| string(&[key]));
            let target = either("update", "move_path").unwrap_or(path);
            let (op, old, new) = if let Some(diff) = either("update", "unified_diff") {
                let (old, new) = hunk_lines(diff);
                (EditOp::Replace, Some(old), Some(new))
            } else if change.has("delete") || change.str("type") == Some("delete") {
                (EditOp::Delete, None, None)
            } else if let Some(content) = either("add", "content") {
                (EditOp::Write, None, Some(content.to_owned()))
            } else {
                (EditOp::Unrecorded, None, None)
            };
            FileEdit {
                path: target.to_owned(),
                op,
                old,
                new,
            }
        })
        .collect();
    Call {
        channel: Channel::Edit,
        text: tools::new_texts(&edits),
        edits,
        ..tools::call("apply_patch", &Json::Null)
    }
}

/// The whole output is there three times.
fn exec_text(message: &Json<'_>) -> String {
    if let Some(text) = message.first_str(&["aggregated_output"]) {
        return text.to_owned();
    }
    let text = |key| message.str(key).unwrap_or_default();
    format!("{}{}", text("stdout"), text("stderr"))
}

fn answer(message: &Json<'_>, text: String, out: &mut Steps) {
    let failed = matches!(message.get("success"), Some(Json::Bool(false)))
        || message.at(&["result", "Err"]).is_some();
    let outcome = Outcome {
        exit_code: message
            .int("exit_code")
            .and_then(|code| code.try_into().ok()),
        error: failed,
        truncated: outcome::is_truncated(&text),
        ..Outcome::default()
    };
    out.push(What::Answer(Answer {
        id: message.str("call_id").map(str::to_owned),
        text: decoded(text),
        outcome,
    }));
}
