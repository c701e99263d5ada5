//! Traces as people have them: real logs counted by an independent walk, and damaged ones.

// The helpers of tests are tests too.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout
)]

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::{Path, PathBuf};

use proptest::prelude::*;
use serde_json::Value;
use trace_audit::Error;
use trace_audit::trace::event::{Actor, Channel, Coverage, EditOp, Event, EventSink};
use trace_audit::trace::{TraceFile, TraceReport, read_traces};

#[derive(Default)]
struct Log(Vec<Event>);

impl EventSink for Log {
    fn event(&mut self, event: &Event) {
        self.0.push(event.clone());
    }
}

fn read_paths(paths: &[PathBuf]) -> (Vec<Event>, TraceReport) {
    let files: Vec<TraceFile> = paths
        .iter()
        .map(|path| TraceFile {
            path: path.clone(),
            label: path.file_name().unwrap().to_string_lossy().into_owned(),
        })
        .collect();
    let mut log = Log::default();
    let report = read_traces(&files, &mut log).unwrap();
    (log.0, report)
}

fn read_bytes(bytes: &[u8]) -> (Vec<Event>, TraceReport) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read_paths(&[file.path().to_owned()])
}

/// The real traces, or `None` with a line that says so.
fn real_traces() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/traces");
    if dir.is_dir() {
        return Some(dir);
    }
    println!("skipped: the collection of real traces is not there");
    None
}

// ---- counting by hand ---------------------------------------------------------------------------

/// What a trace holds, each thing counted once.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Counts {
    commands: usize,
    web: usize,
    edits: usize,
    other_calls: usize,
    outputs: usize,
    /// Assistant texts and final messages.
    said: usize,
    prompts: usize,
}

fn counts_of(events: &[Event]) -> Counts {
    let count = |channels: &[Channel]| {
        events
            .iter()
            .filter(|event| channels.contains(&event.channel))
            .count()
    };
    Counts {
        commands: count(&[Channel::Command]),
        web: count(&[Channel::Web]),
        edits: count(&[Channel::Edit]),
        other_calls: count(&[Channel::ToolCall]),
        outputs: count(&[Channel::Output]),
        said: count(&[Channel::Assistant, Channel::Result]),
        prompts: count(&[Channel::Prompt]),
    }
}

/// All JSON values of a file; top-level arrays of objects are their elements.
fn values(path: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(path).unwrap();
    let values = serde_json::Deserializer::from_str(&text).into_iter::<Value>();
    values
        .flat_map(|value| match value.unwrap() {
            Value::Array(items) if items.iter().all(Value::is_object) => items,
            value => vec![value],
        })
        .collect()
}

fn kind_of<'c>(counts: &'c mut Counts, tool: &str) -> &'c mut usize {
    match tool {
        "Bash" | "bash" | "shell" | "command_execution" => &mut counts.commands,
        "WebFetch" | "WebSearch" | "webfetch" | "web_search" => &mut counts.web,
        "Edit" | "Write" | "MultiEdit" | "NotebookEdit" | "edit" | "write" | "file_change" => {
            &mut counts.edits
        }
        _ => &mut counts.other_calls,
    }
}

fn blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// Walks Claude records of either kind.
fn count_claude(records: &[Value]) -> Counts {
    let mut counts = Counts::default();
    let mut seen = BTreeSet::new();
    let mut last_text = String::new();
    let mut uuids = BTreeSet::new();
    for record in records {
        uuids.insert(record["uuid"].as_str().unwrap_or_default());
        let leaf = record["leafUuid"].as_str().unwrap_or_default();
        counts.said += usize::from(record["type"] == "summary" && uuids.contains(leaf));
        let record_type = record["type"].as_str().unwrap_or_default();
        if record_type == "result" {
            let text = record["result"].as_str().unwrap_or_default();
            counts.said += usize::from(!blank(text) && text != last_text);
        }
        if record_type == "tool_use" {
            *kind_of(&mut counts, record["name"].as_str().unwrap()) += 1;
        }
        counts.outputs += usize::from(record_type == "tool_result");
        if record_type != "assistant" && record_type != "user" {
            continue;
        }
        let content = &record["message"]["content"];
        let text_counts = |text: &str| !blank(text);
        if let Some(text) = content.as_str().filter(|text| text_counts(text)) {
            if record_type == "assistant" {
                counts.said += 1;
                last_text = text.to_owned();
            } else {
                let typed = text.starts_with("<bash-input>");
                let injected = text.starts_with('<') || text.starts_with("Caveat");
                counts.prompts += usize::from(typed || !injected);
            }
        }
        for (index, block) in content.as_array().into_iter().flatten().enumerate() {
            let id = |key: &str| match block[key].as_str() {
                Some(id) => format!("{key} {id}"),
                None => format!("{}#{index}", record["uuid"]),
            };
            match block["type"].as_str().unwrap_or_default() {
                "text" if record_type == "assistant" => {
                    counts.said += 1;
                    last_text = block["text"].as_str().unwrap().to_owned();
                }
                "text" => counts.prompts += 1,
                "tool_use" if seen.insert(id("id")) => {
                    *kind_of(&mut counts, block["name"].as_str().unwrap()) += 1;
                }
                "tool_result" if seen.insert(id("tool_use_id")) => counts.outputs += 1,
                _ => {}
            }
        }
    }
    counts
}

fn count_codex(records: &[Value]) -> Counts {
    let mut counts = Counts::default();
    let mut items: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for record in records.iter().filter(|record| record["item"].is_object()) {
        let item = &record["item"];
        items
            .entry(item["id"].as_str().unwrap().to_owned())
            .or_default()
            .push(record);
    }
    for records in items.values() {
        let done = records
            .iter()
            .any(|record| record["type"] == "item.completed");
        match records[0]["item"]["type"].as_str().unwrap() {
            "agent_message" => counts.said += 1,
            "reasoning" | "error" => {}
            tool => {
                // The one MCP server in these files edits with `replace {path, with}`.
                let replaces = records[0]["item"]["tool"] == "replace";
                let tool = if replaces { "edit" } else { tool };
                *kind_of(&mut counts, tool) += 1;
                // A plan is written down, not run.
                counts.outputs += usize::from(done && tool != "todo_list");
            }
        }
    }
    counts
}

fn count_codex_old(records: &[Value]) -> Counts {
    let mut counts = Counts::default();
    for record in records {
        counts.prompts += usize::from(record["prompt"].is_string());
        match record["msg"]["type"].as_str().unwrap_or_default() {
            "exec_command_begin" => counts.commands += 1,
            "patch_apply_begin" => counts.edits += 1,
            "exec_command_end" | "patch_apply_end" => counts.outputs += 1,
            "agent_message" => counts.said += 1,
            _ => {}
        }
    }
    counts
}

fn count_opencode(records: &[Value]) -> Counts {
    let mut counts = Counts::default();
    for record in records {
        match record["type"].as_str().unwrap() {
            "text" => counts.said += 1,
            "tool_use" => {
                *kind_of(&mut counts, record["part"]["tool"].as_str().unwrap()) += 1;
                counts.outputs += 1;
            }
            _ => {}
        }
    }
    counts
}

#[test]
fn real_files_hold_what_an_independent_count_finds() {
    let Some(dir) = real_traces() else { return };
    let mut checked = 0;
    for folder in [
        "claude-stream",
        "claude-session",
        "claude-session/ccl",
        "codex-exec",
        "opencode",
    ] {
        let mut paths: Vec<PathBuf> = std::fs::read_dir(dir.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.is_file())
            .collect();
        paths.sort();
        for path in paths {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            let sidecar = name.ends_with(".meta.json") || name.ends_with(".txt");
            // Two fixtures with made-up repetitions and misspellings are counted by hand below.
            let by_hand = name == "agentsessions_claude__small.jsonl"
                || name == "claude-code-log__edge_cases.jsonl";
            let other_format = name.contains("storage_") || name.contains("export");
            if sidecar || by_hand || other_format {
                continue;
            }
            let records = values(&path);
            let (format, want) = match folder {
                "claude-stream" => ("claude-stream", count_claude(&records)),
                "codex-exec" if records[0]["workdir"].is_string() => {
                    ("codex-exec-old", count_codex_old(&records))
                }
                "codex-exec" => ("codex-exec", count_codex(&records)),
                "opencode" => ("opencode-run", count_opencode(&records)),
                _ => ("claude-session", count_claude(&records)),
            };
            let (events, report) = read_paths(&[path]);
            assert_eq!(counts_of(&events), want, "{name}");
            assert_eq!(report.files[0].format, format, "{name}");
            assert_eq!(report.files[0].records, records.len() as u64, "{name}");
            assert_eq!(report.files[0].events, events.len() as u64, "{name}");
            checked += 1;
        }
    }
    assert_eq!(checked, 105);
}

#[test]
fn real_fixtures_counted_by_hand() {
    let Some(dir) = real_traces() else { return };
    let read = |name: &str| read_paths(&[dir.join("claude-session").join(name)]);

    let (events, report) = read("claude-code-log__edge_cases.jsonl");
    let want = Counts {
        commands: 0,
        web: 0,
        edits: 1,       // MultiEdit, line 9
        other_calls: 2, // FailingTool, TodoWrite
        outputs: 1,     // line 5; the one in line 10 is under a misspelt key
        said: 3,        // lines 2, 9, and the summary of this conversation
        prompts: 5,     // lines 1, 3, 11, 12, 18
    };
    assert_eq!(counts_of(&events), want);
    assert_eq!(report.files[0].records, 19);
    assert!(
        report
            .reasons
            .iter()
            .any(|reason| reason.contains(":13: a bare value"))
    );

    let (events, report) = read("agentsessions_claude__small.jsonl");
    let counts = counts_of(&events);
    assert_eq!(
        (counts.commands, counts.outputs, counts.other_calls),
        (2, 3, 1)
    );
    assert_eq!(report.coverage, Coverage::Partial);

    // Cursor's own transcripts are none of the formats read so far: everything is raw.
    let cursor = dir.join("cursor/agentsessions_cursor__large.jsonl");
    let (events, report) = read_paths(&[cursor]);
    assert_eq!(
        (events.len(), report.files[0].format.as_str()),
        (10, "generic")
    );
    assert_eq!(report.coverage, Coverage::Missing);
}

#[test]
fn coverage_of_the_real_runs() {
    let Some(dir) = real_traces() else { return };
    let child = "ses_dd78e2014ffe3LIbbi60UfvHDX (task)";
    let session = "claude-session/gen_claude__808c9c5f-78a9-406b-8436-ac4bd9e45d22";
    for (names, coverage, missing) in [
        (
            vec!["claude-stream/gen_claude_latest_stream.jsonl"],
            Coverage::Full,
            vec![],
        ),
        (
            vec!["claude-stream/gen_claude_latest_partial.jsonl"],
            Coverage::Full,
            vec![],
        ),
        (
            vec!["claude-stream/gen_claude_1.0.128_stream.jsonl"],
            Coverage::Full,
            vec![],
        ),
        (
            vec!["claude-stream/claude-code-action__sample-turns.json"],
            Coverage::Full,
            vec![],
        ),
        (
            vec!["claude-stream/gen_claude_latest_result.json"],
            Coverage::SummaryOnly,
            vec![],
        ),
        (
            vec!["codex-exec/gen_codex_exec_latest.jsonl"],
            Coverage::Full,
            vec![],
        ),
        (
            vec!["opencode/gen_opencode_1.18_run.jsonl"],
            Coverage::Partial,
            vec![child],
        ),
        (
            vec![&format!("{session}.jsonl")],
            Coverage::Partial,
            vec!["a4c651ce98f4fb239 (Agent)"],
        ),
        (
            vec![
                &format!("{session}.jsonl"),
                &format!("{session}__subagents__agent-a4c651ce98f4fb239.jsonl"),
            ],
            Coverage::Full,
            vec![],
        ),
    ] {
        let paths: Vec<PathBuf> = names.iter().map(|name| dir.join(name)).collect();
        let (_, report) = read_paths(&paths);
        assert_eq!(report.coverage, coverage, "{names:?} {:?}", report.reasons);
        assert_eq!(report.missing_children, missing, "{names:?}");
        assert_eq!(report.reasons.is_empty(), coverage == Coverage::Full);
    }
}

#[test]
fn the_stream_and_the_session_of_one_run_are_one_run() {
    let Some(dir) = real_traces() else { return };
    let stream = dir.join("claude-stream/gen_claude_latest_stream.jsonl");
    let session = dir.join("claude-session/gen_claude__808c9c5f-78a9-406b-8436-ac4bd9e45d22.jsonl");
    let child = dir.join("claude-session/gen_claude__808c9c5f-78a9-406b-8436-ac4bd9e45d22__subagents__agent-a4c651ce98f4fb239.jsonl");
    let (alone, _) = read_paths(std::slice::from_ref(&stream));
    let (all, report) = read_paths(&[stream, session, child]);
    let alone = counts_of(&alone);
    let all = counts_of(&all);
    assert_eq!(
        (all.commands, all.outputs, all.edits),
        (alone.commands, alone.outputs, alone.edits)
    );
    // What only the session store has: the prompt, and what the sub-agent said.
    assert_eq!((all.prompts, all.said), (alone.prompts + 1, alone.said + 2));
    assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
}

/// The commands of the script that every agent was given, in its own words.
const SCRIPT: [&str; 6] = [
    "git status --short; ls -la; cat README.md",
    "git log --oneline --all --graph --color=always",
    r"printf '\033[31mred\033[0m \r\n'; printf '\x80\xff\xfe raw bytes\n'",
    "git show origin/main -- calc.py",
    "seq 1 20000",
    "python3 -c 'from calc import total; print(total([1,2,3]))' && git diff && false",
];

#[test]
fn the_scripted_scenario_is_read_alike_in_every_format() {
    let Some(dir) = real_traces() else { return };
    for name in [
        "claude-stream/gen_claude_1.0.128_stream.jsonl",
        "claude-stream/gen_claude_latest_stream.jsonl",
        "claude-stream/gen_claude_latest_partial.jsonl",
        "claude-session/gen_claude__808c9c5f-78a9-406b-8436-ac4bd9e45d22.jsonl",
        "claude-session/gen_claude1__ebaf4a22-895c-4f7f-a17f-a4a17634c564.jsonl",
        "codex-exec/gen_codex_exec_0.29.0.jsonl",
        "codex-exec/gen_codex_exec_0.42.0.jsonl",
        "codex-exec/gen_codex_exec_0.49.0.jsonl",
        "codex-exec/gen_codex_exec_0.80.0.jsonl",
        "codex-exec/gen_codex_exec_latest.jsonl",
        "opencode/gen_opencode_1.18_run.jsonl",
    ] {
        let (events, _) = read_paths(&[dir.join(name)]);
        for command in SCRIPT {
            let found = events.iter().filter(|event| {
                event.channel == Channel::Command
                    && (event.text == command || event.text.ends_with(&format!("; {command}")))
            });
            assert_eq!(found.count(), 1, "{name}: {command}");
        }
        let outputs = events
            .iter()
            .filter(|event| event.channel == Channel::Output);
        for output in outputs.clone() {
            assert!(output.answers.is_some(), "{name}: {}", output.text);
        }
        let shown = outputs.filter(|event| event.text.contains("index 4ec4e03..c52e4fd"));
        let behind: BTreeSet<&str> = shown
            .filter_map(|event| event.answers.as_deref())
            .map(|call| call.text.as_str())
            .collect();
        assert!(behind.contains(SCRIPT[3]), "{name}: {behind:?}");
        let edits: Vec<_> = events.iter().flat_map(|event| &event.edits).collect();
        let paths: Vec<_> = edits.iter().map(|edit| edit.path.as_str()).collect();
        assert_eq!(
            paths,
            ["/srv/demo/work/calc.py", "/srv/demo/work/test_calc.py"],
            "{name}"
        );
        if edits[0].op != EditOp::Unrecorded {
            assert_eq!(
                edits[0].new.as_deref().map(str::trim_end),
                Some("    for i in range(len(xs)):")
            );
            assert!(
                edits[1].new.as_deref().unwrap().ends_with("== 6  # 求和\n"),
                "{name}"
            );
        }
        let last = events
            .iter()
            .rfind(|event| event.actor == Actor::Main)
            .unwrap();
        assert_eq!(last.channel, Channel::Result, "{name}");
        assert!(
            last.text.contains("matches upstream commit (#102). 完成。"),
            "{name}"
        );
    }
}

// ---- damage -------------------------------------------------------------------------------------

/// One complete run per format, written for these tests, one record a line.
fn samples() -> Vec<(&'static str, Vec<&'static str>)> {
    vec![
        (
            "claude-stream",
            vec![
                r#"{"type":"system","subtype":"init","cwd":"/w","session_id":"s1","tools":["Bash"],"uuid":"i1"}"#,
                r#"{"type":"assistant","message":{"id":"m1","model":"x","role":"assistant","content":[{"type":"text","text":"Looking."}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"a1"}"#,
                r#"{"type":"assistant","message":{"id":"m1","model":"x","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"git log --all"}}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"a2"}"#,
                r#"{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"abc Fix (#5)"}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"u1"}"#,
                r#"{"type":"assistant","message":{"id":"m2","model":"x","role":"assistant","content":[{"type":"text","text":"Done."}]},"parent_tool_use_id":null,"session_id":"s1","uuid":"a3"}"#,
                r#"{"type":"result","subtype":"success","num_turns":2,"result":"Done.","session_id":"s1","uuid":"r1"}"#,
            ],
        ),
        (
            "claude-session",
            vec![
                r#"{"parentUuid":null,"isSidechain":false,"sessionId":"s2","type":"user","uuid":"k0","message":{"role":"user","content":"Fix it"}}"#,
                r#"{"parentUuid":"k0","isSidechain":false,"sessionId":"s2","type":"assistant","uuid":"k1","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"c1","name":"Bash","input":{"command":"git log --all"}}],"stop_reason":"tool_use"}}"#,
                r#"{"parentUuid":"k1","isSidechain":false,"sessionId":"s2","type":"user","uuid":"k2","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"abc Fix (#5)"}]}}"#,
                r#"{"parentUuid":"k2","isSidechain":false,"sessionId":"s2","type":"assistant","uuid":"k3","message":{"id":"m2","role":"assistant","content":[{"type":"text","text":"Done."}],"stop_reason":"end_turn"}}"#,
            ],
        ),
        (
            "codex-exec",
            vec![
                r#"{"type":"thread.started","thread_id":"t1"}"#,
                r#"{"type":"turn.started"}"#,
                r#"{"type":"item.completed","item":{"id":"item_0","type":"agent_message","text":"Looking."}}"#,
                r#"{"type":"item.started","item":{"id":"item_1","type":"command_execution","command":"bash -lc 'git log --all'","aggregated_output":"","exit_code":null,"status":"in_progress"}}"#,
                r#"{"type":"item.completed","item":{"id":"item_1","type":"command_execution","command":"bash -lc 'git log --all'","aggregated_output":"abc Fix (#5)","exit_code":0,"status":"completed"}}"#,
                r#"{"type":"item.completed","item":{"id":"item_2","type":"agent_message","text":"Done."}}"#,
                r#"{"type":"turn.completed","usage":{"input_tokens":5}}"#,
            ],
        ),
        (
            "codex-exec-old",
            vec![
                r#"{"workdir":"/w","sandbox":"full","provider":"p","model":"m"}"#,
                r#"{"prompt":"Fix it"}"#,
                r#"{"id":"0","msg":{"type":"exec_command_begin","call_id":"c1","command":["bash","-lc","git log --all"],"cwd":"/w"}}"#,
                r#"{"id":"0","msg":{"type":"exec_command_end","call_id":"c1","stdout":"abc Fix (#5)","stderr":"","aggregated_output":"abc Fix (#5)","exit_code":0}}"#,
                r#"{"id":"0","msg":{"type":"agent_message","message":"Done."}}"#,
                r#"{"id":"0","msg":{"type":"task_complete","last_agent_message":"Done."}}"#,
            ],
        ),
        (
            "cursor-json",
            vec![
                r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"result":"Done.","session_id":"s","request_id":"r"}"#,
            ],
        ),
        (
            "cursor-stream",
            vec![
                r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"s","model":"m","permissionMode":"default"}"#,
                r#"{"type":"user","message":{"role":"user","content":[{"type":"text","text":"Fix it"}]},"session_id":"s"}"#,
                r#"{"type":"tool_call","subtype":"started","call_id":"c1","tool_call":{"shellToolCall":{"args":{"command":"git log --all"}}},"session_id":"s"}"#,
                r#"{"type":"tool_call","subtype":"completed","call_id":"c1","tool_call":{"shellToolCall":{"args":{"command":"git log --all"},"result":{"success":{"exitCode":0,"stdout":"abc Fix (#5)"}}}},"session_id":"s"}"#,
                r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"Done."}]},"session_id":"s"}"#,
                r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":9,"result":"Done.","session_id":"s","request_id":"r"}"#,
            ],
        ),
        (
            "opencode-run",
            vec![
                r#"{"type":"step_start","timestamp":1,"sessionID":"ses1","part":{"id":"p1","type":"step-start"}}"#,
                r#"{"type":"tool_use","timestamp":2,"sessionID":"ses1","part":{"id":"p2","type":"tool","tool":"bash","callID":"c1","state":{"status":"completed","input":{"command":"git log --all"},"output":"abc Fix (#5)","metadata":{"exit":0}}}}"#,
                r#"{"type":"text","timestamp":3,"sessionID":"ses1","part":{"id":"p3","messageID":"m","type":"text","text":"Done."}}"#,
                r#"{"type":"step_finish","timestamp":4,"sessionID":"ses1","part":{"id":"p4","type":"step-finish","reason":"stop"}}"#,
            ],
        ),
    ]
}

fn texts(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter(|event| event.channel != Channel::Raw)
        .map(|event| event.text.clone())
        .collect()
}

/// Runs a kind of damage over every sample; `damage` gets the lines and the whole text.
fn for_each_sample(mut check: impl FnMut(&str, &[&str], &str)) {
    for (format, lines) in samples() {
        let text = format!("{}\n", lines.join("\n"));
        check(format, &lines, &text);
    }
}

#[test]
fn whole_samples_are_full() {
    for_each_sample(|format, _, text| {
        let (events, report) = read_bytes(text.as_bytes());
        let want = if format == "cursor-json" {
            Coverage::SummaryOnly
        } else {
            Coverage::Full
        };
        assert_eq!(report.coverage, want, "{format}: {:?}", report.reasons);
        assert_eq!(report.files[0].format, format);
        let last = events.last().unwrap();
        assert_eq!(
            (last.channel, last.text.as_str()),
            (Channel::Result, "Done."),
            "{format}"
        );
        // A final line feed is nothing to ask for.
        let (again, _) = read_bytes(text.trim_end().as_bytes());
        assert_eq!(texts(&again), texts(&events));
    });
}

#[test]
fn cut_off_at_twenty_places() {
    for_each_sample(|format, _, text| {
        for step in 0..20 {
            let at = text.trim_end().len() * step / 20;
            let whole_lines = text[..at].rfind('\n').map_or("", |end| &text[..=end]);
            let (events, report) = read_bytes(&text.as_bytes()[..at]);
            assert_ne!(report.coverage, Coverage::Full, "{format} at {at}");
            let (intact, _) = read_bytes(whole_lines.as_bytes());
            let (events, intact) = (texts(&events), texts(&intact));
            assert!(events.starts_with(&intact), "{format} at {at}: {events:?}");
        }
    });
}

#[test]
fn flipped_bytes() {
    for_each_sample(|format, lines, text| {
        let (whole, _) = read_bytes(text.as_bytes());
        for step in 0..20 {
            let at = text.trim_end().len() * step / 20;
            for flip in [0x80, 0x01, 0x20] {
                let mut bytes = text.as_bytes().to_vec();
                bytes[at] ^= flip;
                let (events, report) = read_bytes(&bytes);
                // Other bits can turn one valid text into another.
                if flip == 0x80 {
                    assert_ne!(report.coverage, Coverage::Full, "{format} at {at}");
                }
                let lost = texts(&whole).len().saturating_sub(texts(&events).len());
                assert!(
                    lost <= 2,
                    "{format} at {at} of {}: lost {lost}",
                    lines.len()
                );
            }
        }
    });
}

#[test]
fn doubled_records() {
    for_each_sample(|format, lines, text| {
        let (whole, _) = read_bytes(text.as_bytes());
        let doubled: String = lines
            .iter()
            .map(|line| format!("{line}\n{line}\n"))
            .collect();
        let (events, report) = read_bytes(doubled.as_bytes());
        assert_ne!(report.coverage, Coverage::Full, "{format}");
        let calls = |events: &[Event]| events.iter().filter(|e| e.channel.is_call()).count();
        assert_eq!(calls(&events), calls(&whole), "{format}");
        let outputs = |events: &[Event]| {
            events
                .iter()
                .filter(|e| e.channel == Channel::Output)
                .count()
        };
        assert_eq!(outputs(&events), outputs(&whole), "{format}");
    });
}

#[test]
fn reordered_records() {
    for_each_sample(|format, lines, _| {
        let reversed: Vec<&str> = lines.iter().rev().copied().collect();
        let (_, report) = read_bytes(reversed.join("\n").as_bytes());
        assert_ne!(report.coverage, Coverage::Full, "{format}");
        assert_eq!(report.files[0].records, lines.len() as u64, "{format}");
    });
}

#[test]
fn mixed_with_other_output() {
    for_each_sample(|format, lines, text| {
        let (whole, _) = read_bytes(text.as_bytes());
        let noise = [
            "Reading additional input from stdin...",
            "[WARN] retry {1}",
            "{ not json",
            "\u{1b}[33mwarning\u{1b}[0m: \"quoted\"",
            "}",
            "[",
        ];
        let mixed: String = lines
            .iter()
            .zip(noise.iter().cycle())
            .map(|(line, noise)| format!("{noise}\n{line}\n"))
            .collect();
        let (events, report) = read_bytes(mixed.as_bytes());
        assert_eq!(texts(&events), texts(&whole), "{format}");
        assert_ne!(report.coverage, Coverage::Full, "{format}");

        // On the same line, in front of each record.
        let glued: String = lines
            .iter()
            .map(|line| format!("\u{1b}[0m2026-01-01 {line}\n"))
            .collect();
        let (events, report) = read_bytes(glued.as_bytes());
        assert_eq!(texts(&events), texts(&whole), "{format}");
        assert_ne!(report.coverage, Coverage::Full, "{format}");
    });
}

#[test]
fn converted_files() {
    let utf16 = |text: &str, little: bool, mark: bool| -> Vec<u8> {
        let mark = if mark { "\u{feff}" } else { "" };
        let text = format!("{mark}{text}");
        let units = text.encode_utf16();
        units
            .flat_map(|unit| {
                if little {
                    unit.to_le_bytes()
                } else {
                    unit.to_be_bytes()
                }
            })
            .collect()
    };
    for_each_sample(|format, _, text| {
        let (whole, _) = read_bytes(text.as_bytes());
        for (name, bytes) in [
            ("CR LF", text.replace('\n', "\r\n").into_bytes()),
            ("mark", format!("\u{feff}{text}").into_bytes()),
            ("UTF-16 LE", utf16(text, true, true)),
            ("UTF-16 BE", utf16(text, false, true)),
            ("UTF-16 LE, no mark", utf16(text, true, false)),
            ("UTF-16 BE, no mark", utf16(text, false, false)),
            ("zeros", format!("\0\0\0\0{text}").into_bytes()),
        ] {
            let (events, report) = read_bytes(&bytes);
            assert_eq!(texts(&events), texts(&whole), "{format}, {name}");
            assert_ne!(report.coverage, Coverage::Full, "{format}, {name}");
            assert_eq!(report.files[0].problems.len(), 1, "{format}, {name}");
        }
    });
}

#[test]
fn other_layouts_of_the_same_records() {
    for_each_sample(|format, lines, text| {
        let (whole, plain) = read_bytes(text.as_bytes());
        let pretty = |line: &&str| {
            let value: Value = serde_json::from_str(line).unwrap();
            serde_json::to_string_pretty(&value).unwrap()
        };
        let values: Vec<Value> = lines
            .iter()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect();
        for (name, layout) in [
            ("glued", lines.concat()),
            ("array", format!("[{}]", lines.join(","))),
            ("array of lines", format!("[\n{}\n]\n", lines.join(",\n"))),
            (
                "pretty",
                lines.iter().map(pretty).collect::<Vec<_>>().join("\n"),
            ),
            (
                "pretty array",
                serde_json::to_string_pretty(&values).unwrap(),
            ),
        ] {
            let (events, report) = read_bytes(layout.as_bytes());
            assert_eq!(texts(&events), texts(&whole), "{format}, {name}");
            assert_eq!(
                report.coverage, plain.coverage,
                "{format}, {name}: {:?}",
                report.reasons
            );
        }
    });
}

#[test]
fn odd_strings_are_read_and_counted() {
    for_each_sample(|format, _, text| {
        if format == "cursor-json" {
            return;
        }
        let deep = format!("{}\\\"{}", "[".repeat(3), "]".repeat(3));
        for (name, odd, shown) in [
            (
                "lone surrogate",
                r"abc \ud83d Fix (#5)",
                "abc \u{fffd} Fix (#5)",
            ),
            (
                "control character",
                "abc \u{1b}[1m\u{1} Fix (#5)",
                "abc \u{1b}[1m\u{1} Fix (#5)",
            ),
            ("bracket soup", deep.as_str(), "[[[\"]]]"),
        ] {
            let damaged = text.replace("abc Fix (#5)", odd);
            let (events, report) = read_bytes(damaged.as_bytes());
            let outputs: Vec<_> = events
                .iter()
                .filter(|e| e.channel == Channel::Output)
                .collect();
            assert_eq!(outputs[0].text, shown, "{format}, {name}");
            let damage = name != "bracket soup";
            assert_eq!(
                report.coverage != Coverage::Full,
                damage,
                "{format}, {name}"
            );
        }
        // A member nested beyond what a parser takes does not hide the rest of the record.
        let nest = format!("{{\"deep\":{}{},", "[".repeat(10_000), "]".repeat(10_000));
        let damaged = text.replacen('{', &nest, 1);
        let (events, report) = read_bytes(damaged.as_bytes());
        assert!(
            texts(&events).contains(&"git log --all".to_owned()),
            "{format}"
        );
        assert_ne!(report.coverage, Coverage::Full, "{format}");
    });
}

#[test]
fn a_line_of_twenty_megabytes() {
    let big = "line of output\\n".repeat(20 << 16);
    for_each_sample(|format, _, text| {
        if format == "cursor-json" {
            return;
        }
        let (events, report) = read_bytes(text.replace("abc Fix (#5)", &big).as_bytes());
        let output = events
            .iter()
            .find(|event| event.channel == Channel::Output)
            .unwrap();
        assert_eq!(output.text.len(), big.len() / 16 * 15, "{format}");
        assert!(output.answers.is_some());
        assert_eq!(report.files[0].problems, [], "{format}");
    });
}

#[test]
fn one_call_five_thousand_times_and_results_without_calls() {
    for_each_sample(|format, lines, text| {
        let Some(call) = lines.iter().find(|line| line.contains("git log --all")) else {
            return;
        };
        let repeated = text.replacen(call, &vec![*call; 5000].join("\n"), 1);
        let (events, report) = read_bytes(repeated.as_bytes());
        let commands = events
            .iter()
            .filter(|event| event.channel == Channel::Command);
        assert_eq!(commands.count(), 1, "{format}");
        assert_ne!(report.coverage, Coverage::Full, "{format}");

        let without: Vec<&str> = lines
            .iter()
            .filter(|line| !line.contains("git log --all") || line.contains("abc Fix"))
            .copied()
            .collect();
        let (events, report) = read_bytes(without.join("\n").as_bytes());
        let output = events
            .iter()
            .find(|event| event.channel == Channel::Output)
            .unwrap();
        assert!(output.text.contains("abc Fix"), "{format}");
        // Formats whose result repeats the call lose nothing.
        let restated = ["codex-exec", "cursor-stream", "opencode-run"].contains(&format);
        assert_eq!(report.orphans, u64::from(!restated), "{format}");
        assert_eq!(report.coverage == Coverage::Full, restated, "{format}");
    });
}

/// What is said once and copied into everything behind it must not be long: these would take hours.
#[test]
fn long_names_are_not_copied_into_every_event() {
    let name = "n".repeat(1 << 20);
    let thread = format!(r#"{{"type":"thread.started","thread_id":"{name}"}}"#);
    let say = |n: usize| {
        format!(
            r#"{{"type":"item.completed","item":{{"id":"{n}","type":"reasoning","text":"x"}}}}"#
        )
    };
    let lines: Vec<String> = std::iter::once(thread)
        .chain((0..50_000).map(say))
        .collect();
    let (events, _) = read_bytes(lines.join("\n").as_bytes());
    assert_eq!(events.len(), 50_000);

    let parts = "{}".to_owned() + &",{}".repeat(200_000);
    let edit = format!(
        r#"{{"type":"assistant","session_id":"s","uuid":"u","message":{{"content":[{{"type":"tool_use","id":"c","name":"MultiEdit","input":{{"file_path":"{name}","edits":[{parts}]}}}}]}}}}"#
    );
    let (events, _) = read_bytes(edit.as_bytes());
    assert_eq!(events.len(), 1);
    assert!(
        events[0]
            .edits
            .iter()
            .map(|edit| edit.path.len())
            .sum::<usize>()
            < 8 << 20
    );
}

#[test]
fn what_is_no_trace() {
    let (events, report) = read_bytes(b"");
    assert_eq!((events.len(), report.coverage), (0, Coverage::Missing));
    assert_eq!(report.files[0].format, "empty");
    assert_eq!(
        report.files[0].sha256,
        "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
    );

    let (events, report) = read_bytes(b"\x1f\x8b\x08\0\0\0\0\0");
    assert_eq!((events.len(), report.coverage), (0, Coverage::Missing));
    assert!(report.reasons[0].contains("gzip"), "{:?}", report.reasons);

    let dir = tempfile::tempdir().unwrap();
    let (_, report) = read_paths(&[dir.path().to_owned()]);
    assert_eq!(report.coverage, Coverage::Missing);
    assert!(
        report.reasons[0].contains("no regular file"),
        "{:?}",
        report.reasons
    );

    let (_, report) = read_paths(&[]);
    assert_eq!(
        (report.coverage, report.reasons.len()),
        (Coverage::Missing, 1)
    );

    let gone = TraceFile {
        path: dir.path().join("gone.jsonl"),
        label: "gone.jsonl".into(),
    };
    let error = read_traces(&[gone], &mut Log::default()).unwrap_err();
    assert!(matches!(error, Error::InputMissing { .. }));
    assert!(
        error
            .to_string()
            .contains("gone.jsonl: there is no such trace file")
    );
}

#[test]
fn two_agents_in_one_file() {
    let parts = samples();
    let text: String = parts
        .iter()
        .flat_map(|(_, lines)| lines)
        .map(|line| format!("{line}\n"))
        .collect();
    let (events, report) = read_bytes(text.as_bytes());
    let separate: Vec<String> = parts
        .iter()
        .flat_map(|(_, lines)| texts(&read_bytes(lines.join("\n").as_bytes()).0))
        .collect();
    assert_eq!(texts(&events), separate);
    assert_eq!(
        report.files[0].format,
        "claude-stream+claude-session+codex-exec+codex-exec-old+cursor-json+cursor-stream+opencode-run"
    );
}

// ---- anything at all ----------------------------------------------------------------------------

fn any_json() -> impl Strategy<Value = Value> {
    let words = prop_oneof![
        Just("type"),
        Just("assistant"),
        Just("user"),
        Just("result"),
        Just("system"),
        Just("init"),
        Just("message"),
        Just("content"),
        Just("tool_use"),
        Just("tool_result"),
        Just("text"),
        Just("item"),
        Just("item.completed"),
        Just("item.started"),
        Just("thread.started"),
        Just("command_execution"),
        Just("command"),
        Just("session_id"),
        Just("sessionId"),
        Just("sessionID"),
        Just("part"),
        Just("state"),
        Just("input"),
        Just("output"),
        Just("id"),
        Just("tool_call"),
        Just("shellToolCall"),
        Just("editToolCall"),
        Just("args"),
        Just("success"),
        Just("uuid"),
        Just("parentUuid"),
        Just("progress"),
        Just("agent_progress"),
        Just("data"),
        Just("msg"),
        Just("exec_command_begin"),
        Just("call_id"),
        Just("*** Begin Patch\n*** Add File: x\n+y"),
        Just("bash -lc 'x'"),
        Just("{\"a\":\"\\n\"}"),
        Just(""),
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        words.clone().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((words.clone(), inner), 0..8).prop_map(|members| {
                Value::Object(
                    members
                        .into_iter()
                        .map(|(key, value)| (key.to_owned(), value))
                        .collect(),
                )
            }),
        ]
    })
}

fn check_sane(bytes: &[u8]) {
    let (events, report) = read_bytes(bytes);
    assert_eq!(report.files[0].events, events.len() as u64);
    assert_eq!(report.files[0].sha256.len(), 64);
    let mut ids: Vec<_> = events.iter().map(|event| event.id).collect();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), events.len(), "ids are unique");
    for event in &events {
        assert!(event.source.bytes.end <= 2 * bytes.len() as u64 + 3);
        assert_eq!(event.outcome.is_some(), event.channel == Channel::Output);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        check_sane(&bytes);
    }

    #[test]
    fn any_records(records in prop::collection::vec(any_json(), 0..12)) {
        let text: String = records.iter().map(|record| format!("{record}\n")).collect();
        check_sane(text.as_bytes());
    }

    /// A real record with one of its parts replaced.
    #[test]
    fn almost_records(which in 0usize..7, line in 0usize..7, at in any::<prop::sample::Index>(), value in any_json()) {
        let (_, lines) = samples().swap_remove(which);
        let mut records: Vec<Value> = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let line = line % records.len();
        let mut pointers = Vec::new();
        collect_pointers(&records[line], String::new(), &mut pointers);
        let pointer = at.get(&pointers).clone();
        *records[line].pointer_mut(&pointer).unwrap() = value;
        let text: String = records.iter().map(|record| format!("{record}\n")).collect();
        check_sane(text.as_bytes());
    }
}

fn collect_pointers(value: &Value, here: String, out: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            for (key, member) in members {
                collect_pointers(member, format!("{here}/{key}"), out);
            }
        }
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                collect_pointers(item, format!("{here}/{index}"), out);
            }
        }
        _ => {}
    }
    out.push(here);
}

/// CPU seconds of this process so far, where the system tells.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(") ")
        .next()
        .unwrap_or_default()
        .split(' ')
        .collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    (ticks(11).unwrap_or_default() + ticks(12).unwrap_or_default()) / 100.0
}

/// `cargo test --release --test trace_formats -- --ignored --nocapture throughput`
#[test]
#[ignore = "a measurement, for release builds"]
fn throughput() {
    struct Nothing(u64);
    impl EventSink for Nothing {
        fn event(&mut self, event: &Event) {
            self.0 += event.text.len() as u64;
        }
    }
    const TOTAL: usize = 200 << 20;
    let Some(dir) = real_traces() else { return };
    for family in ["claude-stream", "claude-session", "codex-exec", "opencode"] {
        let mut bytes = Vec::new();
        let mut paths: Vec<PathBuf> = std::fs::read_dir(dir.join(family))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
            .collect();
        paths.sort();
        for path in &paths {
            bytes.extend(std::fs::read(path).unwrap());
            bytes.push(b'\n');
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        let files = [TraceFile {
            path: file.path().to_owned(),
            label: family.into(),
        }];
        let times = TOTAL / bytes.len();
        let start = cpu_seconds();
        let mut sink = Nothing(0);
        for _ in 0..times {
            read_traces(&files, &mut sink).unwrap();
        }
        let read = (times * bytes.len()) as f64 / 1e6;
        println!(
            "{family}: {:.0} MB/s of CPU time ({:.0} MB, {:.0} MB of event text)",
            read / (cpu_seconds() - start),
            read,
            sink.0 as f64 / 1e6
        );
    }
}
