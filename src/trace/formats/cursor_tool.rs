//! Tool calls of Cursor: one member named after the kind of tool, with arguments and result.

use crate::trace::event::{Channel, EditOp, Outcome};
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::patch_text::hunk_lines;
use crate::trace::step::{Answer, Call, Envelope, Steps, What, Who};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

/// The one member of `tool_call`.
pub(super) struct Tool<'r, 'a> {
    name: String,
    args: &'r Json<'a>,
    /// What came back; only in the record at the end of the call.
    pub(super) result: Option<&'r Json<'a>>,
}

impl<'r, 'a> Tool<'r, 'a> {
    /// Finds it.
    pub(super) fn of(tool_call: &'r Json<'a>) -> Option<Self> {
        if let Some(function) = tool_call.get("function") {
            return Some(Self {
                name: function.str("name")?.to_owned(),
                args: function.get("arguments")?,
                result: tool_call.get("result"),
            });
        }
        let (name, tool) = tool_call
            .members()
            .iter()
            .find(|(key, value)| key.ends_with("ToolCall") && value.has("args"))
            .or_else(|| {
                tool_call
                    .members()
                    .iter()
                    .find(|(_, value)| value.has("args"))
            })?;
        let args = tool.get("args")?;
        let mcp = args.get("args").filter(|_| name.starts_with("mcp"));
        Some(Self {
            name: match mcp {
                Some(_) => format!(
                    "mcp__{}__{}",
                    args.str("providerIdentifier").unwrap_or_default(),
                    args.first_str(&["toolName", "name"]).unwrap_or_default()
                ),
                None => name.clone().into_owned(),
            },
            args: mcp.unwrap_or(args),
            result: tool.get("result"),
        })
    }

    /// The call; for a completed edit with what its result says that it wrote.
    pub(super) fn call(&self, id: &str, completed: bool) -> Call {
        let mut call = Call {
            id: Some(id.to_owned()),
            restated: completed,
            ..tools::call(&self.name, self.args)
        };
        let diff = self.result.and_then(|r| r.at(&["success", "diffString"]));
        if self.name == "editToolCall" {
            for edit in &mut call.edits {
                if let Some(diff) = diff.and_then(Json::as_str) {
                    let (old, new) = hunk_lines(diff);
                    (edit.op, edit.old, edit.new) = (EditOp::Replace, Some(old), Some(new));
                } else if edit.op == EditOp::Write {
                    // A stream of new text, not known to be the whole file.
                    edit.op = EditOp::Replace;
                }
            }
            if call.edits.iter().any(|edit| edit.new.is_some()) {
                call.text = tools::new_texts(&call.edits);
            }
        }
        call
    }

    /// The result of the call.
    pub(super) fn answer(&self, id: &str, result: &Json<'_>) -> Answer {
        let mut outcome = Outcome::default();
        let mut body = result;
        for (name, value) in result.members() {
            match &**name {
                "success" => {}
                "failure" | "error" => outcome.error = true,
                "rejected" | "permissionDenied" | "denied" => outcome.denied = true,
                "timeout" | "aborted" | "cancelled" | "interrupted" => outcome.interrupted = true,
                _ => continue,
            }
            body = value;
            break;
        }
        outcome.error |= outcome.denied;
        outcome.exit_code = body.int("exitCode").and_then(|code| code.try_into().ok());
        // A command that ran and failed is told by its exit code.
        outcome.error &= outcome.exit_code.is_none();
        let text = result_text(body);
        outcome.truncated = outcome::is_truncated(&text)
            || ["truncated", "isTruncated", "wasTruncated"]
                .iter()
                .any(|flag| body.is_true(flag));
        Answer {
            id: Some(id.to_owned()),
            text: decoded(text),
            outcome,
        }
    }
}

/// What the model was given back. Whole files before and after an edit are kept for the editor only.
fn result_text(body: &Json<'_>) -> String {
    if let Some(text) = body.as_str() {
        return text.to_owned();
    }
    if body.has("diffString") || body.has("afterFullFileContent") {
        return body.str("message").unwrap_or_default().to_owned();
    }
    if let Some(text) = body.first_str(&["interleavedOutput"]) {
        return text.to_owned();
    }
    if body.str("stdout").is_some() || body.str("stderr").is_some() {
        let stdout = body.str("stdout").unwrap_or_default();
        return format!("{stdout}{}", body.str("stderr").unwrap_or_default());
    }
    match body.first_str(&["content", "output"]) {
        Some(text) => text.to_owned(),
        None => readable(body),
    }
}

/// Steps of a sub-agent, where the result of its call holds them.
pub(super) fn child_steps(call: &str, result: &Json<'_>, out: &mut Steps) {
    let steps = result.at(&["success", "conversationSteps"]);
    let Some(steps) = steps.map(Json::items).filter(|steps| !steps.is_empty()) else {
        return;
    };
    let parent = (**out.envelope()).clone();
    out.under(Envelope {
        who: Who::Child(call.to_owned()),
        ..parent.clone()
    });
    for (index, step) in steps.iter().enumerate() {
        if let Some(text) = step
            .at(&["assistantMessage", "text"])
            .and_then(Json::as_str)
        {
            out.say(Channel::Assistant, text, None);
        }
        if let Some(text) = step.at(&["thinkingMessage", "text"]).and_then(Json::as_str) {
            out.say(Channel::Reasoning, text, None);
        }
        if let Some(tool) = step.get("toolCall").and_then(Tool::of) {
            let id = format!("{call}/{index}");
            out.push(What::Call(tool.call(&id, true)));
            if let Some(result) = tool.result {
                out.push(What::Answer(tool.answer(&id, result)));
            }
        }
    }
    out.under(parent);
}
