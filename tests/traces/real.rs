//! Every file of the collection of real traces.

use std::collections::BTreeSet;
use std::path::PathBuf;

use trace_audit::trace::event::{Actor, Channel, Coverage, Event};

use crate::support::{read_paths, real_traces};

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

/// A row of `counts.tsv`, which `count.py` writes.
struct Row<'t> {
    file: &'t str,
    format: &'t str,
    counts: Counts,
}

fn rows() -> Vec<Row<'static>> {
    let table = include_str!("counts.tsv");
    let rows = table.lines().skip(1).map(|line| {
        let mut cells = line.split('\t');
        let mut cell = || cells.next().unwrap();
        let (file, format) = (cell(), cell());
        let mut number = || cell().parse().unwrap();
        Row {
            file,
            format,
            counts: Counts {
                commands: number(),
                web: number(),
                edits: number(),
                other_calls: number(),
                outputs: number(),
                said: number(),
                prompts: number(),
            },
        }
    });
    rows.collect()
}

#[test]
fn real_files_hold_what_an_independent_count_finds() {
    let Some(dir) = real_traces() else { return };
    let mut wrong = Vec::new();
    for row in rows() {
        let (events, report) = read_paths(&[dir.join(row.file)]);
        let file = &report.files[0];
        assert_eq!(file.events, events.len() as u64, "{}", row.file);
        let counts = counts_of(&events);
        if row.format == "sidecar" {
            let only_raw = events.iter().all(|event| event.channel == Channel::Raw);
            assert!(
                only_raw && report.coverage == Coverage::Missing,
                "{}",
                row.file
            );
        } else if (file.format.as_str(), counts) != (row.format, row.counts) {
            wrong.push(format!(
                "{}\n  counted  {} {:?}\n  the tool {} {counts:?}",
                row.file, row.format, row.counts, file.format
            ));
        }
    }
    assert!(
        wrong.is_empty(),
        "{} files:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
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

/// A step of the script that every agent was given: its name, and how it is recognised.
type Step = (&'static str, fn(&Event) -> bool);

fn is_command(event: &Event, command: &str) -> bool {
    event.channel == Channel::Command
        && (event.text == command || event.text.ends_with(&format!("; {command}")))
}

fn edits(event: &Event, path: &str) -> bool {
    // Some tools take paths below the working directory.
    event.channel == Channel::Edit
        && event.edits.iter().all(|edit| edit.path.ends_with(path))
        && event.edits.len() == 1
}

const SHOW: &str = "git show origin/main -- calc.py";

const SCRIPT: [Step; 11] = [
    ("look", |e| {
        is_command(e, "git status --short; ls -la; cat README.md")
    }),
    ("history", |e| {
        is_command(e, "git log --oneline --all --graph --color=always")
    }),
    ("bytes", |e| {
        is_command(
            e,
            r"printf '\033[31mred\033[0m \r\n'; printf '\x80\xff\xfe raw bytes\n'",
        )
    }),
    ("show", |e| is_command(e, SHOW)),
    // Agents without a tool for it used curl.
    ("fetch", |e| {
        matches!(e.channel, Channel::Web | Channel::Command) && e.text.contains("pull/102.patch")
    }),
    ("download", |e| {
        e.channel == Channel::Command && e.text.contains("pull/102.diff -o /srv/demo/pr.diff")
    }),
    ("count", |e| is_command(e, "seq 1 20000")),
    // Agents without sub-agents said so.
    ("delegate", |e| {
        is_command(e, "echo nosub")
            || (e.channel == Channel::ToolCall && e.text.contains("explore the repo history"))
    }),
    ("edit", |e| edits(e, "calc.py") && !edits(e, "test_calc.py")),
    ("write", |e| edits(e, "test_calc.py")),
    ("test", |e| {
        is_command(
            e,
            "python3 -c 'from calc import total; print(total([1,2,3]))' && git diff && false",
        )
    }),
];

/// Steps that a file does not hold, and why.
const LACKS: &[(&str, &str)] = &[
    // The model's first answer was lost by the agent.
    ("qwen/gen_qwen_stream.jsonl", "look"),
    ("qwen/gen_qwen_chat_", "look"),
    // Its patch went to a shell that knows no such command.
    ("copilot/", "write"),
];

/// Files of the script, except those of agents that were given a shorter one.
fn scripted() -> Vec<&'static str> {
    let rows = rows().into_iter();
    rows.filter(|row| row.file.contains("/gen_") && row.format != "sidecar")
        .filter(|row| {
            !["__subagents__", "_result.json"]
                .iter()
                .any(|part| row.file.contains(part))
        })
        .map(|row| row.file)
        .filter(|file| !SHORTER.iter().any(|folder| file.starts_with(folder)))
        .collect()
}

/// Agents with a shorter script of their own.
const SHORTER: &[&str] = &["aider/", "mini-swe-agent/"];

#[test]
fn the_scripted_scenario_is_read_alike_in_every_format() {
    let Some(dir) = real_traces() else { return };
    let files = scripted();
    assert!(files.len() >= 22, "{files:?}");
    let mut wrong = Vec::new();
    for name in files {
        let (events, _) = read_paths(&[dir.join(name)]);
        for (step, is_step) in SCRIPT {
            let lacks = LACKS
                .iter()
                .any(|(file, lacks)| name.starts_with(file) && *lacks == step);
            // The sub-agent of some runs has steps of its own.
            let found = events.iter().filter(|event| event.actor == Actor::Main);
            let found = found.filter(|event| is_step(event)).count();
            if found != usize::from(!lacks) {
                wrong.push(format!("{name}: {step} {found} times"));
            }
        }
        let is_output = |event: &&Event| event.channel == Channel::Output;
        for output in events.iter().filter(is_output) {
            if output.answers.is_none() {
                wrong.push(format!(
                    "{name}: an output without its call: {}",
                    output.text
                ));
            }
        }
        let shown = events.iter().filter(is_output);
        let shown = shown.filter(|event| event.text.contains("index 4ec4e03..c52e4fd"));
        let behind: BTreeSet<&str> = shown
            .filter_map(|event| event.answers.as_deref())
            .map(|call| call.text.as_str())
            .collect();
        if !behind.contains(SHOW) {
            wrong.push(format!("{name}: what it showed is behind {behind:?}"));
        }
        let written: Vec<_> = events
            .iter()
            .flat_map(|event| &event.edits)
            .filter_map(|edit| edit.new.as_deref())
            .collect();
        let expected = ["    for i in range(len(xs)):", "== 6  # 求和"];
        for (new, end) in written.iter().zip(expected) {
            if !new.trim_end().ends_with(end) {
                wrong.push(format!("{name}: wrote {new}"));
            }
        }
        let last = events.iter().rfind(|event| {
            event.actor == Actor::Main
                && matches!(event.channel, Channel::Assistant | Channel::Result)
        });
        let said = last.is_some_and(|event| {
            event.channel == Channel::Result
                && event
                    .text
                    .contains("matches upstream commit (#102). 完成。")
        });
        if !said {
            wrong.push(format!("{name}: the last word is {last:?}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// mini-swe-agent knows one tool, and Aider none: their scripts are shorter. They have no steps for a
/// web fetch, a sub-agent and an edit by a tool.
#[test]
fn the_shorter_scripts() {
    let Some(dir) = real_traces() else { return };
    for name in ["gen_mini_v1.traj.json", "gen_mini_v2.4.6.traj.json"] {
        let (events, report) = read_paths(&[dir.join("mini-swe-agent").join(name)]);
        let commands: Vec<_> = events
            .iter()
            .filter(|event| event.channel == Channel::Command)
            .map(|event| event.text.as_str())
            .collect();
        assert_eq!(
            commands,
            [
                "git log --oneline --all | head; cat calc.py",
                "git cherry-pick v1.1 || git show v1.1 | git apply",
                r"git diff v1.0 --stat; printf '\x80\xff raw\n'; echo 完成",
                "echo COMPLETE_TASK_AND_SUBMIT_FINAL_OUTPUT && git diff v1.0",
            ],
            "{name}"
        );
        let picked = events.iter().find(|event| {
            event.channel == Channel::Output
                && event
                    .text
                    .contains("Fix off-by-one in total() (#102)\n Date")
        });
        let outcome = picked.unwrap().outcome.unwrap();
        assert!(
            outcome.succeeded() && outcome.exit_code == Some(0),
            "{name}"
        );
        assert_eq!(report.coverage, Coverage::Full, "{:?}", report.reasons);
    }
    for name in ["gen_aider.chat.history.md", "gen_aider.llm.history"] {
        let (events, report) = read_paths(&[dir.join("aider").join(name)]);
        // `git show v1.1` was suggested and declined.
        assert!(events.iter().all(|event| event.channel != Channel::Command));
        let edits: Vec<_> = events.iter().flat_map(|event| &event.edits).collect();
        assert_eq!(edits.len(), 1, "{name}");
        assert_eq!(edits[0].path, "calc.py");
        assert_eq!(
            edits[0].old.as_deref(),
            Some("    for i in range(len(xs) - 1):\n")
        );
        assert_eq!(
            edits[0].new.as_deref(),
            Some("    for i in range(len(xs)):\n")
        );
        let prompts: Vec<_> = events
            .iter()
            .filter(|event| event.channel == Channel::Prompt)
            .map(|event| event.text.as_str())
            .collect();
        assert_eq!(
            prompts,
            ["Fix the off-by-one bug in calc.py. 请修复。"],
            "{name}"
        );
        assert_eq!(report.coverage, Coverage::Partial);
    }
}

/// The demonstration in every SWE-agent run is about another project.
#[test]
fn demonstrations_are_left_out() {
    let Some(dir) = real_traces() else { return };
    let mut files = 0;
    for entry in std::fs::read_dir(dir.join("swe-agent")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if name.contains("marshmallow") {
            continue;
        }
        files += 1;
        let (events, _) = read_paths(&[path]);
        assert!(
            events
                .iter()
                .all(|event| !event.text.contains("marshmallow")),
            "{name}"
        );
    }
    assert_eq!(files, 12);
}
