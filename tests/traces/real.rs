//! Every file of the collection of real traces.

use std::collections::BTreeSet;
use std::path::PathBuf;

use trace_audit::trace::event::{Actor, Channel, Coverage, EditOp, Event};

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
        "codex-rollout/gen_rollout-2026-11-29T17-51-01-1ae4ab90-d22d-41d8-8bf7-96187fccbb78.jsonl",
        "codex-rollout/gen_rollout-2026-11-29T18-01-32-01a22878-27a0-7252-b47b-d5dd37c353d8.jsonl",
        "codex-rollout/gen_rollout-2026-11-29T17-51-03-01a2286e-8bd5-7b20-af79-390c5c52c795.jsonl",
        "codex-rollout/gen_rollout-2026-11-29T17-51-04-01a2286e-9322-7d50-ba23-c4397b5c6b48.jsonl",
        "codex-rollout/gen_latest_rollout-2026-11-29T17-51-07-01a2286e-9bdc-7352-bb7a-16fc8821e2f1.jsonl",
        "opencode/gen_opencode_1.18_run.jsonl",
        "opencode/gen_opencode_1.18_export.json",
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
        // Some tools take paths below the working directory.
        let paths: Vec<_> = edits
            .iter()
            .map(|edit| edit.path.trim_start_matches("/srv/demo/work/"))
            .collect();
        assert_eq!(paths, ["calc.py", "test_calc.py"], "{name}");
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
        let outcome = picked.unwrap().outcome.clone().unwrap();
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
