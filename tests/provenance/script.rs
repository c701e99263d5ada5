//! A small generator of traces: one script of what an agent did, written down as six agents would.

use std::path::Path;

use serde_json::{Value, json};

// The generator writes more than the tests need now.
#[allow(dead_code)]
/// What an agent did, with what came back.
#[derive(Debug, Clone)]
pub enum Step {
    /// It said something.
    Say(String),
    /// It ran a command; output and exit code.
    Run(String, String, i32),
    /// It read a file with its own tool: path relative to the run, and the content.
    Read(String, String),
    /// It wrote a whole file.
    Write(String, String),
    /// It replaced a text of a file by another: path, old, new.
    Edit(String, String, String),
    /// It fetched an address; what its tool returned (a summary, mostly).
    Web(String, String),
    /// The user said something more (formats that keep it).
    User(String),
    /// It started a sub-agent whose steps are in no file.
    Child(String, String),
    /// It started a sub-agent whose steps are streamed among its own, where the format does so (Claude's stream).
    Crew(String, Vec<Step>, String),
}

pub fn run(command: impl Into<String>, output: impl Into<String>) -> Step {
    Step::Run(command.into(), output.into(), 0)
}

pub fn say(text: impl Into<String>) -> Step {
    Step::Say(text.into())
}

/// The formats that the generator writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Format {
    ClaudeStream,
    ClaudeSession,
    CodexExec,
    CodexRollout,
    OpencodeRun,
    CursorStream,
    /// The single object with the final message.
    CursorJson,
    /// No trace at all.
    Missing,
}

impl Format {
    /// Those that record calls.
    pub const TRACES: [Self; 6] = [
        Self::ClaudeStream,
        Self::ClaudeSession,
        Self::CodexExec,
        Self::CodexRollout,
        Self::OpencodeRun,
        Self::CursorStream,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Self::ClaudeStream => "claude-stream",
            Self::ClaudeSession => "claude-session",
            Self::CodexExec => "codex-exec",
            Self::CodexRollout => "codex-rollout",
            Self::OpencodeRun => "opencode-run",
            Self::CursorStream => "cursor-stream",
            Self::CursorJson => "cursor-json",
            Self::Missing => "no trace",
        }
    }
}

/// A trace, and for each step the 1-based line of its result (0 when it has none).
#[derive(Debug, Default)]
pub struct Trace {
    pub text: String,
    pub result_lines: Vec<u64>,
}

/// Writes a session down. `last` is the final message.
pub fn trace(format: Format, cwd: &Path, prompt: &str, steps: &[Step], last: &str) -> Trace {
    let mut writer = Writer {
        format,
        cwd: cwd.display().to_string(),
        records: Vec::new(),
        parent: None,
        under: None,
    };
    writer.start(prompt);
    let mut result_lines = Vec::new();
    for step in steps {
        result_lines.push(if writer.step(step) {
            writer.records.len() as u64
        } else {
            0
        });
    }
    writer.end(last);
    Trace {
        text: writer.records.iter().map(|r| format!("{r}\n")).collect(),
        result_lines,
    }
}

struct Writer {
    format: Format,
    cwd: String,
    records: Vec<Value>,
    parent: Option<String>,
    /// The call of the sub-agent that is writing.
    under: Option<String>,
}

impl Writer {
    fn push(&mut self, record: Value) {
        self.records.push(record);
    }

    fn id(&self) -> String {
        format!("id{}", self.records.len())
    }

    fn start(&mut self, prompt: &str) {
        let record = match self.format {
            Format::ClaudeStream => json!({
                "type": "system", "subtype": "init", "cwd": self.cwd, "session_id": "s1", "model": "m",
                "tools": ["Bash", "Edit"], "permissionMode": "default", "uuid": "u0"}),
            Format::ClaudeSession => {
                return self.session("user", json!({"role": "user", "content": prompt}));
            }
            Format::CodexExec => {
                self.push(json!({"type": "thread.started", "thread_id": "t1"}));
                json!({"type": "turn.started"})
            }
            Format::CodexRollout => {
                let meta = json!({"id": "r1", "timestamp": "2031-04-12T10:00:00.000Z", "cwd": self.cwd,
                    "originator": "codex_exec", "cli_version": "0.120.0", "source": "exec"});
                self.rollout("session_meta", meta);
                self.rollout(
                    "event_msg",
                    json!({"type": "task_started", "turn_id": "t1"}),
                );
                let content = json!([{"type": "input_text", "text": prompt}]);
                let message = json!({"type": "message", "role": "user", "content": content});
                return self.rollout("response_item", message);
            }
            Format::OpencodeRun => self.part("step_start", json!({"type": "step-start"})),
            Format::CursorStream => {
                self.push(json!({
                    "type": "system", "subtype": "init", "apiKeySource": "login", "cwd": self.cwd,
                    "session_id": "s1", "model": "m", "permissionMode": "default"}));
                json!({"type": "user", "session_id": "s1", "message": {
                    "role": "user", "content": [{"type": "text", "text": prompt}]}})
            }
            Format::CursorJson | Format::Missing => return,
        };
        self.push(record);
    }

    fn part(&self, kind: &str, mut part: Value) -> Value {
        part["id"] = json!(format!("prt{}", self.records.len()));
        part["messageID"] = json!("msg1");
        part["sessionID"] = json!("ses1");
        json!({"type": kind, "timestamp": 1_000 + self.records.len(), "sessionID": "ses1", "part": part})
    }

    /// A record of Codex's session store.
    fn rollout(&mut self, kind: &str, payload: Value) {
        self.push(
            json!({"timestamp": "2031-04-12T10:00:00.000Z", "type": kind, "payload": payload}),
        );
    }

    /// A call of Codex as its session store has it, and what came back.
    fn rollout_call(&mut self, kind: &str, call: Value, output: &str, exit: i32) -> bool {
        let id = self.id();
        let mut call = call;
        call["type"] = json!(kind);
        call["call_id"] = json!(id);
        self.rollout("response_item", call);
        let output = format!(
            "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code {exit}\nOutput:\n{output}"
        );
        let answer = json!({"type": format!("{kind}_output"), "call_id": id, "output": output});
        self.rollout("response_item", answer);
        true
    }

    /// A record of the session store: a tree by `parentUuid`.
    fn session(&mut self, kind: &str, message: Value) {
        let uuid = format!("u{}", self.records.len());
        let record = json!({
            "parentUuid": self.parent, "isSidechain": false, "userType": "external", "cwd": self.cwd,
            "sessionId": "s1", "version": "2.0.0", "type": kind, "message": message,
            "uuid": uuid, "timestamp": "2031-04-12T10:00:00.000Z"});
        self.parent = Some(uuid);
        self.push(record);
    }

    /// Writes a step; true when its result stands in the record written last.
    fn step(&mut self, step: &Step) -> bool {
        match step {
            Step::Say(text) => {
                self.say(text, false);
                false
            }
            Step::Run(command, output, exit) => self.command(command, output, *exit),
            Step::Read(path, content) => self.read(path, content),
            Step::Write(path, content) => self.write(path, content),
            Step::Edit(path, old, new) => self.edit(path, old, new),
            Step::Web(url, output) => self.web(url, output),
            Step::User(text) => {
                self.user(text);
                false
            }
            Step::Child(prompt, report) => self.child(prompt, &[], report),
            Step::Crew(prompt, steps, report) => self.child(prompt, steps, report),
        }
    }

    fn child(&mut self, prompt: &str, steps: &[Step], report: &str) -> bool {
        let at = self.records.len();
        let own = self.tool(
            ["Task", "task", "taskToolCall"],
            json!({"description": "look", "prompt": prompt, "subagent_type": "general"}),
            report,
            0,
        );
        if self.format == Format::ClaudeStream && !steps.is_empty() {
            // Its steps stand between the call and what it reported.
            let answer = self.records.pop();
            self.under = Some(format!("id{at}"));
            for step in steps {
                self.step(step);
            }
            self.under = None;
            if let Some(mut answer) = answer {
                answer["uuid"] = json!(format!("v{}", self.records.len()));
                self.push(answer);
            }
        }
        own
    }

    fn user(&mut self, text: &str) {
        let block = json!({"role": "user", "content": [{"type": "text", "text": text}]});
        match self.format {
            Format::ClaudeStream => self.push(
                json!({"type": "user", "session_id": "s1", "uuid": self.id(),
                "parent_tool_use_id": self.under, "message": block}),
            ),
            Format::ClaudeSession => self.session("user", block),
            Format::CodexRollout => {
                let content = json!([{"type": "input_text", "text": text}]);
                let message = json!({"type": "message", "role": "user", "content": content});
                self.rollout("response_item", message);
            }
            Format::CursorStream => {
                self.push(json!({"type": "user", "session_id": "s1", "message": block}));
            }
            _ => {}
        }
    }

    fn say(&mut self, text: &str, last: bool) {
        let block = json!([{"type": "text", "text": text}]);
        let message = json!({"id": self.id(), "role": "assistant", "content": block,
            "stop_reason": if last { json!("end_turn") } else { Value::Null }});
        match self.format {
            Format::ClaudeStream => self.push(json!({
                "type": "assistant", "session_id": "s1", "uuid": format!("v{}", self.id()),
                "parent_tool_use_id": self.under, "message": message})),
            Format::ClaudeSession => self.session("assistant", message),
            Format::CodexExec => self.push(json!({"type": "item.completed", "item": {
                "id": self.id(), "type": "agent_message", "text": text}})),
            Format::CodexRollout => {
                let content = json!([{"type": "output_text", "text": text}]);
                let message = json!({"type": "message", "role": "assistant", "content": content});
                self.rollout("response_item", message);
            }
            Format::OpencodeRun => {
                let record = self.part("text", json!({"type": "text", "text": text}));
                self.push(record);
            }
            Format::CursorStream => self.push(json!({"type": "assistant", "session_id": "s1",
                "message": {"role": "assistant", "content": block}})),
            Format::CursorJson | Format::Missing => {}
        }
    }

    fn command(&mut self, command: &str, output: &str, exit: i32) -> bool {
        if self.format == Format::CodexExec {
            let id = self.id();
            let quoted = command.replace('\'', "'\\''");
            let item = |status: &str, output: &str, exit: Value| {
                json!({"id": id, "type": "command_execution", "command": format!("/bin/bash -lc '{quoted}'"),
                    "aggregated_output": output, "exit_code": exit, "status": status})
            };
            let done = if exit == 0 { "completed" } else { "failed" };
            let records = [
                json!({"type": "item.started", "item": item("in_progress", "", Value::Null)}),
                json!({"type": "item.completed", "item": item(done, output, json!(exit))}),
            ];
            self.records.extend(records);
            return true;
        }
        if self.format == Format::CodexRollout {
            let arguments = json!({"cmd": command}).to_string();
            let call = json!({"name": "exec_command", "arguments": arguments});
            return self.rollout_call("function_call", call, output, exit);
        }
        self.tool(
            ["Bash", "bash", "shellToolCall"],
            json!({"command": command}),
            output,
            exit,
        )
    }

    fn read(&mut self, path: &str, content: &str) -> bool {
        let numbered: String = (1..)
            .zip(content.lines())
            .map(|(n, line)| format!("{n:>6}→{line}\n"))
            .collect();
        match self.format {
            Format::CodexExec | Format::CodexRollout => {
                self.command(&format!("cat {path}"), content, 0)
            }
            Format::CursorStream => self.tool(
                ["", "", "readToolCall"],
                json!({"path": self.absolute(path)}),
                content,
                0,
            ),
            _ => self.tool(
                ["Read", "read", ""],
                json!({"file_path": self.absolute(path), "filePath": self.absolute(path)}),
                &numbered,
                0,
            ),
        }
    }

    fn absolute(&self, path: &str) -> String {
        format!("{}/{path}", self.cwd)
    }

    fn write(&mut self, path: &str, content: &str) -> bool {
        let full = self.absolute(path);
        match self.format {
            Format::CodexExec => self.file_change(path),
            Format::CodexRollout => {
                let lines: String = content.lines().map(|l| format!("+{l}\n")).collect();
                self.apply_patch(&format!("*** Add File: {path}\n{lines}"))
            }
            Format::CursorStream => {
                let diff: String = content.lines().map(|l| format!("+{l}\n")).collect();
                let id = self.id();
                let args = json!({"path": full, "streamContent": content});
                self.push(json!({"type": "tool_call", "subtype": "started", "call_id": id, "session_id": "s1",
                    "tool_call": {"editToolCall": {"args": args}}}));
                self.push(json!({"type": "tool_call", "subtype": "completed", "call_id": id, "session_id": "s1",
                    "tool_call": {"editToolCall": {"args": args, "result": {"success": {
                        "path": full, "linesAdded": 1, "linesRemoved": 0, "diffString": diff,
                        "afterFullFileContent": content, "message": "The file was written."}}}}}));
                true
            }
            _ => self.tool(
                ["Write", "write", ""],
                json!({"file_path": full, "filePath": full, "content": content}),
                "The file was written.",
                0,
            ),
        }
    }

    /// Codex's `--json` tells which files an edit changed, and not how.
    fn file_change(&mut self, path: &str) -> bool {
        let (id, full) = (self.id(), self.absolute(path));
        for (kind, status) in [
            ("item.started", "in_progress"),
            ("item.completed", "completed"),
        ] {
            self.push(
                json!({"type": kind, "item": {"id": id, "type": "file_change",
                "changes": [{"path": full, "kind": "update"}], "status": status}}),
            );
        }
        true
    }

    fn apply_patch(&mut self, files: &str) -> bool {
        let input = format!("*** Begin Patch\n{files}*** End Patch\n");
        let call = json!({"name": "apply_patch", "input": input});
        self.rollout_call(
            "custom_tool_call",
            call,
            "Success. Updated the following files.",
            0,
        )
    }

    fn edit(&mut self, path: &str, old: &str, new: &str) -> bool {
        let full = self.absolute(path);
        let signed = |sign: &str, text: &str| -> String {
            text.lines().map(|l| format!("{sign}{l}\n")).collect()
        };
        let hunk = signed("-", old) + &signed("+", new);
        match self.format {
            Format::CodexExec => self.file_change(path),
            Format::CodexRollout => {
                self.apply_patch(&format!("*** Update File: {path}\n@@\n{hunk}"))
            }
            Format::CursorStream => {
                let id = self.id();
                let args = json!({"path": full});
                self.push(json!({"type": "tool_call", "subtype": "started", "call_id": id, "session_id": "s1",
                    "tool_call": {"editToolCall": {"args": args}}}));
                self.push(json!({"type": "tool_call", "subtype": "completed", "call_id": id, "session_id": "s1",
                    "tool_call": {"editToolCall": {"args": args, "result": {"success": {
                        "path": full, "linesAdded": new.lines().count(), "linesRemoved": old.lines().count(),
                        "diffString": hunk, "message": "The file was updated."}}}}}));
                true
            }
            _ => self.tool(
                ["Edit", "edit", ""],
                json!({"file_path": full, "filePath": full, "old_string": old, "new_string": new,
                    "oldString": old, "newString": new}),
                "The file was updated.",
                0,
            ),
        }
    }

    fn web(&mut self, url: &str, output: &str) -> bool {
        if matches!(self.format, Format::CodexExec | Format::CodexRollout) {
            return self.command(&format!("curl -sL {url}"), output, 0);
        }
        self.tool(
            ["WebFetch", "webfetch", "webFetchToolCall"],
            json!({"url": url, "prompt": "What does it change?"}),
            output,
            0,
        )
    }

    /// A call of another tool and its result; the names are Claude's, OpenCode's and Cursor's.
    fn tool(&mut self, names: [&str; 3], input: Value, output: &str, exit: i32) -> bool {
        let id = self.id();
        match self.format {
            Format::ClaudeStream | Format::ClaudeSession => {
                let call = json!({"id": format!("m{id}"), "role": "assistant", "content": [
                    {"type": "tool_use", "id": id, "name": names[0], "input": input}]});
                let output = if exit == 0 {
                    output.to_owned()
                } else {
                    format!("Exit code {exit}\n{output}")
                };
                let result = json!({"role": "user", "content": [{"type": "tool_result",
                    "tool_use_id": id, "is_error": exit != 0, "content": output}]});
                if self.format == Format::ClaudeSession {
                    self.session("assistant", call);
                    self.session("user", result);
                } else {
                    for (kind, message) in [("assistant", call), ("user", result)] {
                        let uuid = format!("v{}", self.records.len());
                        self.push(json!({"type": kind, "session_id": "s1", "uuid": uuid,
                            "parent_tool_use_id": self.under, "message": message}));
                    }
                }
            }
            Format::OpencodeRun => {
                let record = self.part(
                    "tool_use",
                    json!({"type": "tool", "tool": names[1], "callID": id,
                    "state": {"status": "completed", "input": input, "output": output,
                        "metadata": {"exit": exit, "truncated": false}}}),
                );
                self.push(record);
            }
            Format::CursorStream => {
                self.push(json!({"type": "tool_call", "subtype": "started", "call_id": id, "session_id": "s1",
                    "tool_call": {names[2]: {"args": input}}}));
                let body =
                    json!({"exitCode": exit, "stdout": output, "stderr": "", "content": output});
                let result = if exit == 0 {
                    json!({"success": body})
                } else {
                    json!({"failure": body})
                };
                self.push(json!({"type": "tool_call", "subtype": "completed", "call_id": id, "session_id": "s1",
                    "tool_call": {names[2]: {"args": input, "result": result}}}));
            }
            Format::CodexExec => {
                let item = |status: &str, result: Value| {
                    json!({"id": id, "type": "mcp_tool_call",
                    "server": "agents", "tool": names[0], "arguments": input, "result": result,
                    "error": null, "status": status})
                };
                let records = [
                    json!({"type": "item.started", "item": item("in_progress", Value::Null)}),
                    json!({"type": "item.completed", "item": item("completed",
                        json!({"content": [{"type": "text", "text": output}], "structured_content": null}))}),
                ];
                self.records.extend(records);
            }
            Format::CodexRollout => {
                let call = json!({"name": names[0], "arguments": input.to_string()});
                return self.rollout_call("function_call", call, output, exit);
            }
            Format::CursorJson | Format::Missing => return false,
        }
        true
    }

    fn end(&mut self, last: &str) {
        match self.format {
            Format::CursorJson => {
                self.push(json!({
                "type": "result", "subtype": "success", "is_error": false, "duration_ms": 90_210,
                "duration_api_ms": 90_210, "result": last, "session_id": "s1", "request_id": "r1"}))
            }
            Format::Missing => {}
            _ => {
                self.say(last, true);
                let end = match self.format {
                    Format::ClaudeStream => {
                        json!({"type": "result", "subtype": "success", "is_error": false,
                        "result": last, "session_id": "s1", "uuid": "u99", "num_turns": 3,
                        "permission_denials": []})
                    }
                    Format::CodexExec => {
                        json!({"type": "turn.completed", "usage": {"input_tokens": 1}})
                    }
                    Format::CodexRollout => {
                        json!({"timestamp": "2031-04-12T10:00:00.000Z", "type": "event_msg",
                        "payload": {"type": "task_complete", "turn_id": "t1", "last_agent_message": last}})
                    }
                    Format::OpencodeRun => self.part(
                        "step_finish",
                        json!({"type": "step-finish", "reason": "stop"}),
                    ),
                    Format::CursorStream => {
                        json!({"type": "result", "subtype": "success", "is_error": false,
                        "duration_ms": 90_210, "duration_api_ms": 90_210, "result": last, "session_id": "s1",
                        "request_id": "r1"})
                    }
                    _ => return,
                };
                self.push(end);
            }
        }
    }
}
