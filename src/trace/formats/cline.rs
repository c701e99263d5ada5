//! Cline and Roo Code, `api_conversation_history.json`: an array of messages with blocks.
//!
//! Calls are XML in the text of the assistant (`<execute_command><command>…`) or, in newer versions,
//! blocks; a result is the next message of the user, `[execute_command for '…'] Result:`. Experimental:
//! written from descriptions of the format.

use super::claude_message::{self, Around};
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, Outcome};
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::seen::hash_of;
use crate::trace::step::{Answer, Call, Message, Steps, What};
use crate::trace::text::decoded;
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "cline",
    fit,
    open: || Box::new(Cline::default()),
    records_calls: true,
    experimental: true,
};

/// Calls in XML that are looked for.
const TOOLS: [&str; 19] = [
    "execute_command",
    "read_file",
    "write_to_file",
    "replace_in_file",
    "apply_diff",
    "insert_content",
    "search_and_replace",
    "search_files",
    "list_files",
    "list_code_definition_names",
    "browser_action",
    "web_fetch",
    "use_mcp_tool",
    "access_mcp_resource",
    "ask_followup_question",
    "attempt_completion",
    "new_task",
    "switch_mode",
    "plan_mode_respond",
];

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let role = matches!(record.str("role"), Some("user" | "assistant"));
    let bare = role
        && record.get("content").is_some()
        && [
            "type",
            "message",
            "created",
            "session_id",
            "extra",
            "tool_calls",
        ]
        .iter()
        .all(|key| record.get(key).is_none());
    if !bare {
        return Fit::No;
    }
    let texts = record
        .list("content")
        .iter()
        .filter_map(|block| block.str("text"));
    let mut texts = texts.chain(record.str("content"));
    let own = texts.any(|text| {
        let text = text.trim();
        text.starts_with("<task>")
            || text.starts_with("<environment_details>")
            || text.contains("</execute_command>")
            || text.contains("</attempt_completion>")
            || text.contains("</write_to_file>")
    });
    if own { Fit::Strong } else { Fit::Follows }
}

/// Tags of one call that are looked at.
const MAX_TAGS: usize = 64;

#[derive(Default)]
struct Cline {
    started: bool,
    /// A call in XML waits for its result.
    waiting: bool,
    /// Hash of the last message with texts: user and agent take turns, so the same one again is a copy.
    last: u64,
}

impl Adapter for Cline {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if !self.started {
            self.started = true;
            out.push(What::Start);
        }
        let blocks = record.list("content");
        let xml = blocks
            .iter()
            .all(|block| matches!(block.str("type"), Some("text" | "image")));
        let assistant = record.str("role") == Some("assistant");
        if !xml {
            return if assistant {
                claude_message::assistant(record, out);
            } else {
                claude_message::user(record, &Around::default(), out);
            };
        }
        let texts = blocks.iter().filter_map(|block| block.str("text"));
        let texts: Vec<&str> = texts.chain(record.str("content")).collect();
        let hash = hash_of((assistant, &texts));
        if std::mem::replace(&mut self.last, hash) == hash {
            return out.push(What::Problem(Problem::Repeated));
        }
        if assistant {
            texts.iter().for_each(|text| self.assistant(text, out));
        } else {
            self.user(&texts, out);
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

impl Cline {
    /// At most one call in a message is run: the first.
    fn assistant(&mut self, text: &str, out: &mut Steps) {
        let calls = TOOLS.iter().filter_map(|tool| {
            let open = format!("<{tool}>");
            let start = text.find(&open)?;
            let inside = text.get(start + open.len()..)?;
            let end = inside.rfind(&format!("</{tool}>"))?;
            Some((start, *tool, inside.get(..end)?))
        });
        let Some((start, tool, inside)) = calls.min_by_key(|(start, ..)| *start) else {
            return out.say(Channel::Assistant, text, None);
        };
        let said = text.get(..start).unwrap_or_default();
        let (thought, said) = match said.rsplit_once("</thinking>") {
            Some((thought, said)) => (thought.trim().trim_start_matches("<thinking>"), said),
            None => ("", said),
        };
        out.say(Channel::Reasoning, thought, None);
        out.say(Channel::Assistant, said.trim(), None);
        if tool == "attempt_completion" {
            let result = tagged(inside, "result").unwrap_or(inside);
            out.push(What::Final(Message::new(Channel::Result, result.trim())));
            out.push(What::End);
            return;
        }
        self.waiting = true;
        let args: Vec<_> = members(inside)
            .into_iter()
            .map(|(name, value)| (name.into(), Json::Str(value.into())))
            .collect();
        out.push(What::Call(Call {
            id: None,
            ..tools::call(tool, &Json::Obj(args))
        }));
    }

    fn user(&mut self, texts: &[&str], out: &mut Steps) {
        let mut texts = texts.iter().copied();
        let answers = |first: &&str| first.starts_with('[') && first.contains("] Result:");
        if self.waiting || texts.clone().next().as_ref().is_some_and(answers) {
            self.waiting = false;
            let first = texts.next().unwrap_or_default();
            let (head, inline) = first.split_once("Result:").unwrap_or((first, ""));
            let mut result = inline.trim().to_owned();
            let mut rest = Vec::new();
            for text in texts.by_ref() {
                if text.trim_start().starts_with("<environment_details>") {
                    rest.push(text);
                } else if result.is_empty() {
                    result = text.to_owned();
                } else {
                    rest.push(text);
                }
            }
            if result.is_empty() && !head.starts_with('[') {
                result = first.to_owned();
            }
            let denied = result.starts_with("The user denied this operation");
            out.push(What::Answer(Answer {
                id: None,
                outcome: Outcome {
                    denied,
                    error: denied,
                    truncated: outcome::is_truncated(&result),
                    ..Outcome::default()
                },
                text: decoded(result),
            }));
            return rest.iter().for_each(|text| said(text, out));
        }
        texts.for_each(|text| said(text, out));
    }
}

/// Words of the user, or of the program around them.
fn said(text: &str, out: &mut Steps) {
    let injected = text.trim_start().starts_with("<environment_details>")
        || text.trim_start().starts_with("[ERROR]");
    let channel = if injected {
        Channel::System
    } else {
        Channel::Prompt
    };
    out.say(channel, text, None);
}

fn tagged<'t>(text: &'t str, tag: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{tag}>"))?;
    let end = rest.rfind(&format!("</{tag}>"))?;
    rest.get(..end)
}

/// `<name>value</name>`, one after the other. The value of the last one may hold such tags itself.
fn members(mut text: &str) -> Vec<(&str, &str)> {
    let mut members = Vec::new();
    let mut looked = 0;
    while let Some((_, rest)) = text.split_once('<') {
        let Some((name, rest)) = rest.split_once('>') else {
            break;
        };
        let plain =
            !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_');
        let close = format!("</{name}>");
        match rest.find(&close).filter(|_| plain) {
            Some(end) => {
                let (value, behind) = rest.split_at_checked(end).unwrap_or((rest, ""));
                members.push((name, value.strip_prefix('\n').unwrap_or(value)));
                text = behind.get(close.len()..).unwrap_or_default();
            }
            None => text = rest,
        }
        looked += 1;
        if looked == MAX_TAGS {
            break;
        }
    }
    members
}
