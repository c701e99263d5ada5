//! The calls and results in a Codex rollout.

use std::rc::Rc;

use super::codex_exec_old;
use super::codex_rollout::{CodexRollout, unknown};
use crate::trace::event::{Channel, Outcome};
use crate::trace::json::{self, Json};
use crate::trace::outcome;
use crate::trace::patch_text;
use crate::trace::seen::hash_of;
use crate::trace::shell_words::command_of_argv;
use crate::trace::step::{Answer, Call, Envelope, Place, Steps, What};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

/// A call that is held back, with its place.
pub(super) type Held = (Place, Rc<Envelope>, Call);

/// Lines that Codex writes in front of an output, up to `Output:`. Where a process goes on, they stay: they say under
/// which number the rest can be had.
const HEADERS: [&str; 7] = [
    "Exit code: ",
    "Wall time: ",
    "Chunk ID: ",
    "Process exited with code ",
    "Original token count: ",
    "Total output lines: ",
    "Warning: truncated output",
];
/// How often such headers are taken off one output: a patch run by a command has two.
const MAX_HEADERS: usize = 2;

/// An item of the model's conversation that is no message.
pub(super) fn call_or_output(rollout: &mut CodexRollout, item: &Json<'_>, out: &mut Steps) {
    let nothing = Json::Null;
    let get = |key| item.get(key).unwrap_or(&nothing);
    match item.str("type").unwrap_or_default() {
        "function_call" => {
            let tool = qualified(item.str("namespace"), item.str("name").unwrap_or("unknown"));
            call(rollout, item, tools::call(&tool, get("arguments")), out);
        }
        "custom_tool_call" => {
            let tool = item.str("name").unwrap_or("unknown");
            call(rollout, item, tools::call(tool, get("input")), out);
        }
        "local_shell_call" => {
            call(
                rollout,
                item,
                tools::call("local_shell", get("action")),
                out,
            );
        }
        "tool_search_call" => {
            let mut search = tools::call("tool_search", get("arguments"));
            search.expects_result = false;
            call(rollout, item, search, out);
        }
        "web_search_call" => {
            let mut search = search_call(get("action"));
            search.expects_result = false;
            search.id = item.first_str(&["call_id", "id"]).map(str::to_owned);
            if !rollout.searched_before(&search.text, false) {
                rollout.acts(out);
                rollout.hold(search, out);
            }
        }
        "function_call_output" | "custom_tool_call_output" => {
            answer(rollout, item, output_of(get("output")), out);
        }
        "tool_search_output" => {}
        // A shape of other tools that write rollouts.
        "tool_call" => {
            let name = item.at(&["function", "name"]).and_then(Json::as_str);
            let name = name.or_else(|| item.str("name")).unwrap_or("unknown");
            call(rollout, item, tools::call(name, get("arguments")), out);
        }
        "tool_result" => {
            let result = get("result");
            answer(rollout, item, output_of(result), out);
        }
        _ => unknown(item, out),
    }
}

/// `namespace` is the server of an MCP tool.
fn qualified(namespace: Option<&str>, name: &str) -> String {
    match namespace.filter(|space| !space.is_empty()) {
        Some(space) => format!("{}__{name}", space.trim_end_matches('_')),
        None => name.to_owned(),
    }
}

fn call(rollout: &mut CodexRollout, item: &Json<'_>, mut call: Call, out: &mut Steps) {
    rollout.acts(out);
    // A patch handed to the shell goes to the edit tool and never to a shell.
    let patch = Some(&call).filter(|call| call.channel == Channel::Command);
    if let Some(patch) = patch.and_then(|call| patch_text::heredoc(&call.text)) {
        let edits = patch_text::file_edits(patch);
        if !edits.is_empty() {
            call.channel = Channel::Edit;
            call.text = tools::new_texts(&edits);
            call.edits = edits;
        }
    }
    let id = item.first_str(&["call_id"]).map(str::to_owned);
    if let Some(id) = &id {
        rollout.calls.insert(hash_of(&**id), 0);
        if call.child {
            rollout.spawns.insert(hash_of(&**id), 0);
        }
    }
    out.push(What::Call(Call { id, ..call }));
}

fn answer(rollout: &mut CodexRollout, item: &Json<'_>, found: (String, Outcome), out: &mut Steps) {
    rollout.acts(out);
    let (text, outcome) = found;
    let id = item.first_str(&["call_id"]);
    let spawned = id.filter(|id| rollout.spawns.get(hash_of(*id)).is_some());
    if let Some(call) = spawned
        && let Ok(value) = json::parse(text.trim())
        && let Some(name) = value.first_str(&["agent_id", "thread_id"])
    {
        out.push(What::ChildName {
            call: call.to_owned(),
            name: name.to_owned(),
            calls: None,
        });
    }
    out.push(What::Answer(Answer {
        id: id.map(str::to_owned),
        text: decoded(text),
        outcome,
    }));
}

/// The text of an output and how the call ended.
fn output_of(output: &Json<'_>) -> (String, Outcome) {
    match output {
        Json::Str(text) => {
            // Before 0.50, and for patches: JSON in the string.
            if let Ok(value @ Json::Obj(_)) = json::parse(text)
                && let (Some(inner), Some(metadata)) = (value.str("output"), value.get("metadata"))
            {
                let code = metadata.int("exit_code");
                return ended(inner, code.and_then(|code| code.try_into().ok()), false);
            }
            let (text, code, cut) = without_headers(text);
            ended(text, code, cut)
        }
        Json::Arr(blocks) => {
            let pieces: Vec<String> = blocks.iter().map(block_text).collect();
            ended(&pieces.join("\n"), None, false)
        }
        Json::Obj(_) => {
            let failed = matches!(output.get("success"), Some(Json::Bool(false)));
            if let Some(content) = output.first_str(&["content", "text"]) {
                let (text, code, cut) = without_headers(content);
                let (text, mut outcome) = ended(text, code, cut);
                outcome.error |= failed;
                return (text, outcome);
            }
            if output.get("stdout").is_some() {
                let code = output.int("exitCode").or_else(|| output.int("exit_code"));
                let both = [output.str("stdout"), output.str("stderr")];
                let both: String = both.into_iter().flatten().collect();
                return ended(&both, code.and_then(|code| code.try_into().ok()), false);
            }
            ended(&readable(output), None, false)
        }
        Json::Null => (String::new(), Outcome::default()),
        other => ended(&readable(other), None, false),
    }
}

fn block_text(block: &Json<'_>) -> String {
    match (block.str("text"), block.str("type")) {
        (Some(text), _) => text.to_owned(),
        (None, Some("input_image" | "image")) => "[image]".to_owned(),
        _ => readable(block),
    }
}

/// Takes off what Codex writes in front of an output: the text, the exit code, and whether it says
/// that it is not all.
fn without_headers(text: &str) -> (&str, Option<i32>, bool) {
    let (mut text, mut code, mut cut) = (text, None, false);
    for _ in 0..MAX_HEADERS {
        let mut rest = text;
        let mut found = false;
        let (mut this_code, mut this_cut) = (None, false);
        while let Some((line, tail)) = rest.split_once('\n') {
            rest = tail;
            if line == "Output:" {
                found = true;
                break;
            }
            if !line.is_empty() && !HEADERS.iter().any(|header| line.starts_with(header)) {
                break;
            }
            let number = line
                .strip_prefix("Exit code: ")
                .or_else(|| line.strip_prefix("Process exited with code "));
            this_code = this_code.or(number.and_then(|number| number.trim().parse().ok()));
            this_cut |= line.starts_with("Total output lines: ") || line.starts_with("Warning: ");
        }
        if !found {
            break;
        }
        text = rest;
        code = code.or(this_code);
        cut |= this_cut;
    }
    (text, code, cut)
}

fn ended(text: &str, exit_code: Option<i32>, cut: bool) -> (String, Outcome) {
    let head = text.trim_start();
    let aborted = head.starts_with("aborted by user") || head.starts_with("command timed out");
    let denied = head.starts_with("exec command rejected by user")
        || head.starts_with("patch rejected")
        || head.starts_with("command rejected");
    let failed = exit_code.is_none()
        && (denied
            || head.starts_with("exec_command failed")
            || head.starts_with("execution error"));
    let marks = [" chars truncated…", " tokens truncated…", "[... omitted "];
    let outcome = Outcome {
        exit_code,
        error: failed,
        denied: denied && exit_code.is_none(),
        interrupted: aborted,
        truncated: cut
            || text.starts_with("Total output lines: ")
            || marks.iter().any(|mark| text.contains(mark))
            || outcome::is_truncated(text),
    };
    (text.to_owned(), outcome)
}

/// A search, a page that was opened, or a search in it.
fn search_call(action: &Json<'_>) -> Call {
    tools::call("web_search", action)
}

/// An event about a call: it says again what the conversation says, unless the conversation does not.
pub(super) fn event(rollout: &mut CodexRollout, event: &Json<'_>, out: &mut Steps) {
    let nothing = Json::Null;
    let get = |key| event.get(key).unwrap_or(&nothing);
    match event.str("type").unwrap_or_default() {
        "exec_command_end" | "CommandExecution" => {
            let argv = event.list("command").iter().filter_map(Json::as_str);
            let command = command_of_argv(&argv.collect::<Vec<_>>());
            let code = event.int("exit_code").and_then(|code| code.try_into().ok());
            let text = event.first_str(&["aggregated_output"]).map_or_else(
                || {
                    ["stdout", "stderr"]
                        .iter()
                        .filter_map(|key| event.str(key))
                        .collect()
                },
                str::to_owned,
            );
            let call = Call {
                channel: Channel::Command,
                text: command,
                ..tools::call("shell", &Json::Null)
            };
            both(rollout, event, call, ended(&text, code, false), out);
        }
        "patch_apply_end" | "FileChange" => {
            let text: String = ["stdout", "stderr"]
                .iter()
                .filter_map(|key| event.str(key))
                .collect();
            let failed = matches!(event.get("success"), Some(Json::Bool(false)))
                || event.str("status") == Some("failed");
            let (text, mut outcome) = ended(&text, None, false);
            outcome.error |= failed;
            both(
                rollout,
                event,
                codex_exec_old::patch(event),
                (text, outcome),
                out,
            );
        }
        "mcp_tool_call_end" | "McpToolCall" => {
            let invocation = event.get("invocation").unwrap_or(event);
            let call = codex_exec_old::mcp(invocation);
            let result = get("result");
            let (result, failed) = match (result.get("Ok"), result.get("Err")) {
                (Some(ok), _) => (ok, ok.is_true("isError")),
                (None, Some(error)) => (error, true),
                (None, None) => (result, result.is_true("isError")),
            };
            let pieces: Vec<String> = result.list("content").iter().map(block_text).collect();
            let text = match pieces.is_empty() {
                true if result.get("content").is_some() => String::new(),
                true => readable(result),
                false => pieces.join("\n"),
            };
            let (text, mut outcome) = ended(&text, None, false);
            outcome.error |= failed;
            both(rollout, event, call, (text, outcome), out);
        }
        "dynamic_tool_call_response" => {
            let tool = qualified(
                event.str("namespace"),
                event.str("tool").unwrap_or("unknown"),
            );
            let pieces: Vec<String> = event.list("content_items").iter().map(block_text).collect();
            let (text, mut outcome) = ended(&pieces.join("\n"), None, false);
            outcome.error |= matches!(event.get("success"), Some(Json::Bool(false)));
            let call = tools::call(&tool, get("arguments"));
            both(rollout, event, call, (text, outcome), out);
        }
        "web_search_end" | "Extension" | "WebSearch" => searched(rollout, event, out),
        // Progress, totals, settings, and what people did to the session.
        _ => {}
    }
}

/// A call and its result in one event. What is known by its id was told by the conversation.
fn both(
    rollout: &mut CodexRollout,
    event: &Json<'_>,
    call: Call,
    found: (String, Outcome),
    out: &mut Steps,
) {
    let id = event.first_str(&["call_id", "id"]);
    let known = id.is_some_and(|id| rollout.calls.insert(hash_of(id), 0).is_some());
    if known {
        return;
    }
    rollout.acts(out);
    let (text, outcome) = found;
    out.push(What::Call(Call {
        id: id.map(str::to_owned),
        ..call
    }));
    out.push(What::Answer(Answer {
        id: id.map(str::to_owned),
        text: decoded(text),
        outcome,
    }));
}

/// A search with its results.
fn searched(rollout: &mut CodexRollout, event: &Json<'_>, out: &mut Steps) {
    let action = event
        .get("action")
        .filter(|action| matches!(action, Json::Obj(_)));
    let mut call = search_call(action.unwrap_or(event));
    let id = event.first_str(&["call_id", "id"]);
    let known = id.is_some_and(|id| rollout.calls.insert(hash_of(id), 0).is_some());
    let second = rollout.searched_before(&call.text, true);
    if known || (second && rollout.search.is_none()) {
        return;
    }
    if second {
        // The same search, told with less.
        rollout.search = None;
    }
    rollout.acts(out);
    call.id = id.map(str::to_owned);
    let results = event.list("results");
    call.expects_result = !results.is_empty();
    out.push(What::Call(call));
    if !results.is_empty() {
        let pieces: Vec<String> = results.iter().map(readable).collect();
        out.push(What::Answer(Answer {
            id: id.map(str::to_owned),
            text: decoded(pieces.join("\n")),
            outcome: Outcome::default(),
        }));
    }
}
