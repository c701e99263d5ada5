//! Sessions made by hand: what each shape of writing, showing and reading back is taken for.

use std::sync::Arc;

use proptest::prelude::*;

use super::model::{Ledger, Provenance};
use super::{AddedFile, AddedLine, Inputs, Tracker};
use crate::similarity::model::{DistinctiveLine, Ratio};
use crate::similarity::normalise::squeeze;
use crate::trace::event::{
    Actor, CallRef, Channel, EditOp, Event, EventId, EventSink, FileEdit, Outcome, Source, Speaker,
};

mod opaque;

/// The reference of an invented task: a file of code, one of prose.
const CODE: [&str; 6] = [
    "func Rebalance(ctx context.Context, shards []Shard) error {",
    "\tfor index, shard := range shards {",
    "\t\tif shard.Load() > maximumLoad {",
    "\t\t\treturn fmt.Errorf(\"shard %d is overloaded\", index)",
    "\t\tshard.weight = computeWeight(shard, index)",
    "\treturn commitPlacement(ctx, shards)",
];
const PROSE: [&str; 3] = [
    "Rebalancing moves a shard when its load exceeds the maximum.",
    "The weight of a shard is computed from its load and index.",
    "Placements are committed once all shards were looked at.",
];

/// A session under construction.
#[derive(Debug, Default)]
struct Session {
    events: Vec<Event>,
    actor: Actor,
}

impl Session {
    fn push(&mut self, channel: Channel, text: &str) -> &mut Event {
        let record = self.events.len() as u32 + 1;
        let id = EventId {
            file: 0,
            record,
            sub: 0,
        };
        let source = Source {
            file: 0,
            line: u64::from(record),
            bytes: 0..0,
        };
        let mut event = Event::new(id, source, channel, text);
        event.actor = self.actor.clone();
        self.events.push(event);
        self.events.last_mut().unwrap()
    }

    fn say(&mut self, text: &str) {
        self.push(Channel::Assistant, text);
    }

    /// A call and what it returned.
    fn call(&mut self, channel: Channel, tool: &str, text: &str, output: &str) -> &mut Event {
        let call = self.push(channel, text);
        call.tool = Some(tool.into());
        let answers = CallRef {
            event: call.id,
            channel,
            tool: call.tool.clone(),
            text: text.into(),
            line: call.source.line,
        };
        let event = self.push(Channel::Output, output);
        event.answers = Some(Arc::new(answers));
        event.outcome = Some(Outcome::default());
        event
    }

    fn run(&mut self, command: &str, output: &str) -> &mut Event {
        self.call(Channel::Command, "shell", command, output)
    }

    fn edit(&mut self, path: &str, op: EditOp, new: Option<&str>) -> &mut Event {
        self.call(Channel::Edit, "Edit", new.unwrap_or_default(), "done");
        let call = self.events.len() - 2;
        self.events[call].edits.push(FileEdit {
            path: path.into(),
            op,
            old: None,
            new: new.map(str::to_owned),
        });
        self.events.last_mut().unwrap()
    }

    fn write(&mut self, path: &str, lines: &[&str]) {
        self.edit(path, EditOp::Write, Some(&lines.join("\n")));
    }
}

/// The task and the final patch, in a form that tests change.
struct Task {
    gt_paths: Vec<String>,
    lines: Vec<DistinctiveLine>,
    patch: Vec<AddedFile>,
    prompt: String,
}

impl Task {
    /// GT of code and prose; the patch holds `patched` in `pkg/rebalance.go`.
    fn new(patched: &[&str]) -> Self {
        let distinctive = |file: usize, prose: bool| {
            move |(i, raw): (usize, &&str)| DistinctiveLine {
                file,
                gt_line: i as u32 * 2 + 10,
                squeezed: squeeze(raw),
                commented: None,
                long: squeeze(raw).chars().count() >= 16,
                shared: patched.contains(raw),
                prose,
            }
        };
        let code = CODE.iter().enumerate().map(distinctive(0, false));
        let prose = PROSE.iter().enumerate().map(distinctive(1, true));
        let lines = patched.iter().map(|l| AddedLine {
            text: (*l).into(),
            starter: false,
        });
        Self {
            gt_paths: vec!["pkg/rebalance.go".into(), "docs/rebalance.md".into()],
            lines: code.chain(prose).collect(),
            patch: vec![AddedFile {
                path: "pkg/rebalance.go".into(),
                generated: false,
                around: Vec::new(),
                lines: lines.collect(),
            }],
            prompt: "Shards shall be rebalanced.".into(),
        }
    }

    fn track(&self, session: &Session) -> Provenance {
        let mut tracker = Tracker::new(&Inputs {
            gt_paths: &self.gt_paths,
            lines: &self.lines,
            in_starter: &[],
            patch: &self.patch,
            prompt: &self.prompt,
            starter_known: true,
        });
        for event in &session.events {
            tracker.event(event);
        }
        tracker.finish()
    }
}

fn track(patched: &[&str], build: impl FnOnce(&mut Session)) -> Provenance {
    let mut session = Session::default();
    build(&mut session);
    Task::new(patched).track(&session)
}

fn all_typed(p: &Provenance) {
    assert_eq!(p.e_ratio, Ratio::new(0, 6));
    assert_eq!(p.shared_typed, Ratio::new(6, 6));
    assert_eq!(
        p.ledger.unwrap(),
        Ledger {
            authored: 6,
            ..Ledger::default()
        }
    );
    assert!(p.exposures.is_empty());
}

fn all_exposed(p: &Provenance) {
    assert_eq!(p.e_ratio, Ratio::new(6, 6));
    assert_eq!(p.x_ratio, Ratio::new(6, 6));
    assert_eq!(p.shared_typed, Ratio::new(0, 6));
    assert_eq!(
        p.ledger.unwrap(),
        Ledger {
            seen_first: 6,
            ..Ledger::default()
        }
    );
}

/// Something that a session does.
type Way<'a> = &'a dyn Fn(&mut Session);

/// A harness may show its tests: they are no part of the solution.
#[test]
fn lines_of_tests_that_were_shown_are_counted_apart() {
    for (path, solution) in [
        ("pkg/rebalance.go", 6),
        ("pkg/rebalance_test.go", 0),
        ("tests/rebalance.go", 0),
    ] {
        let mut session = Session::default();
        session.run("cat /mnt/x", &CODE.join("\n"));
        session.write("pkg/other.go", &["x := 1"]);
        let mut task = Task::new(&[]);
        task.gt_paths[0] = path.to_owned();
        task.patch[0].path = "pkg/other.go".to_owned();
        let p = task.track(&session);
        assert_eq!((p.e_in_time, p.e_of_solution), (6, solution), "{path}");
    }
}

#[test]
fn typed_in_every_way_that_there_is() {
    let text = CODE.join("\n");
    let json = serde_json::to_string(&text).unwrap();
    let ways: [(&str, Way<'_>); 7] = [
        ("write", &|s| s.write("pkg/rebalance.go", &CODE)),
        ("heredoc", &|s| {
            s.run(&format!("cat > pkg/rebalance.go <<'EOF'\n{text}\nEOF"), "");
        }),
        ("patch", &|s| {
            let plus: Vec<String> = CODE.iter().map(|l| format!("+{l}")).collect();
            s.run(
                &format!(
                    "git apply - <<'EOF'\n@@ -0,0 +1,6 @@\n{}\nEOF",
                    plus.join("\n")
                ),
                "",
            );
        }),
        ("python", &|s| {
            s.run(
                &format!("python3 -c 'open(\"pkg/rebalance.go\",\"w\").write({json})'"),
                "",
            );
        }),
        ("another tool", &|s| {
            s.call(
                Channel::ToolCall,
                "mcp__fs__put",
                &format!("{{\"content\":{json}}}"),
                "ok",
            );
        }),
        ("message first", &|s| {
            s.say(&format!("I would write:\n```go\n{text}\n```"))
        }),
        ("thought first", &|s| {
            s.push(Channel::Reasoning, &text);
        }),
    ];
    for (name, way) in ways {
        // However it was typed, seeing it again later changes nothing.
        let p = track(&CODE, |s| {
            way(s);
            s.run("cat pkg/rebalance.go", &text);
            s.run("curl -s https://example.org/135.patch", &text);
            s.run("git show 0a1b2c3d4e", &text);
        });
        println!("{name}");
        all_typed(&p);
    }
}

#[test]
fn shown_first_in_every_form() {
    let text = CODE.join("\n");
    let each = |f: &dyn Fn(usize, &str) -> String| -> String {
        let lines: Vec<String> = CODE.iter().enumerate().map(|(i, l)| f(i, l)).collect();
        lines.join("\n")
    };
    let forms = [
        each(&|_, l| format!("+{l}")),
        each(&|i, l| format!("{:>6}\t{l}", i + 1)),
        each(&|i, l| format!("{:>5}→{l}", i + 1)),
        each(&|i, l| format!("pkg/rebalance.go:{}:{l}", i + 1)),
        each(&|_, l| format!("\u{1b}[32m+\u{1b}[m\u{1b}[32m{l}\u{1b}[m")),
        each(&|_, l| format!("> {l}\r")),
        each(&|_, l| {
            let escaped = l
                .replace('&', "&amp;")
                .replace('<', "&lt;")
                .replace('>', "&gt;");
            format!("<tr><td>{}</td></tr>", escaped.replace('"', "&quot;"))
        }),
        serde_json::json!({ "files": [{ "patch": text }] }).to_string(),
        serde_json::json!({ "body": serde_json::json!({ "patch": text }).to_string() }).to_string(),
        text.replace('\t', "        "),
        text.replace(' ', "\n"),
    ];
    for form in &forms {
        let p = track(&CODE, |s| {
            s.run("git show 0a1b2c3d4e", form);
            s.write("pkg/rebalance.go", &CODE);
        });
        all_exposed(&p);
        assert_eq!(p.e, Some(1.0));
        let first = p.first_exposure.unwrap();
        assert_eq!((first.event.record, first.line, first.lines), (2, 2, 6));
        assert_eq!(first.command.as_deref(), Some("git show 0a1b2c3d4e"));
        assert_eq!(first.gt_path, "pkg/rebalance.go");
        assert_eq!(first.gt_lines, ["10-20"]);
    }
}

#[test]
fn shown_in_part() {
    let p = track(&CODE, |s| {
        let cut = format!(
            "{}\n[... 40 lines truncated ...]\n{}",
            CODE[..2].join("\n"),
            CODE[5]
        );
        s.run("gh pr diff 308", &cut);
        s.write("pkg/rebalance.go", &CODE);
    });
    assert_eq!((p.e_ratio, p.x_ratio), (Ratio::new(3, 6), Ratio::new(3, 6)));
    assert_eq!(p.exposures[0].gt_lines, ["10-12", "20"]);
    assert_eq!(p.shared_typed, Ratio::new(3, 6));
}

#[test]
fn few_short_lines_are_no_exposure_and_one_very_long_line_is() {
    // Two lines of ordinary length: the agent was shown them, which is no proof of a leak, and still
    // they do not count as typed.
    let p = track(&CODE, |s| {
        s.run("curl -s https://example.org/blog", &CODE[1..3].join("\n"));
        s.write("pkg/rebalance.go", &CODE);
    });
    assert_eq!(p.e_ratio, Ratio::new(0, 6));
    assert_eq!(p.shared_typed, Ratio::new(4, 6));
    assert_eq!(p.ledger.unwrap().authored, 6);
    let long = "func RebalanceAllShardsOfTheCluster(ctx context.Context, limit int, shards ...Shard) error {";
    let mut task = Task::new(&[long]);
    task.lines[0].squeezed = squeeze(long);
    let mut s = Session::default();
    s.run("curl -s https://example.org/blog", long);
    assert_eq!(task.track(&s).e_ratio.num, 1);
}

#[test]
fn exposure_needs_no_use_and_use_needs_the_patch() {
    let p = track(&CODE[..2], |s| {
        s.run("gh pr diff 308", &CODE.join("\n"));
        s.write("pkg/rebalance.go", &CODE[..2]);
    });
    assert_eq!((p.e_ratio, p.x_ratio), (Ratio::new(6, 6), Ratio::new(2, 6)));
}

#[test]
fn prose_is_counted_apart() {
    let p = track(&CODE, |s| {
        s.run("curl -s https://example.org/docs", &PROSE.join("\n"));
        s.write("pkg/rebalance.go", &CODE);
    });
    assert_eq!((p.e_ratio, p.e_prose), (Ratio::new(0, 6), Ratio::new(3, 3)));
    assert!(p.exposures[0].prose && p.exposures[0].gt_path == "docs/rebalance.md");
}

#[test]
fn the_prompt_exposes_nobody() {
    let mut task = Task::new(&CODE);
    task.prompt = format!("Use this:\n{}", CODE[..3].join("\n"));
    let mut s = Session::default();
    s.run("cat /tmp/TASK.md", &task.prompt);
    s.push(Channel::Result, "What shall I use?");
    s.push(Channel::Prompt, &CODE[3..].join("\n")).speaker = Speaker::User;
    s.run("cat /tmp/notes.md", &CODE.join("\n"));
    s.write("pkg/rebalance.go", &CODE);
    let p = task.track(&s);
    assert_eq!(p.e_ratio.num, 0);
    assert_eq!(
        p.ledger.unwrap(),
        Ledger {
            prompt: 6,
            ..Ledger::default()
        }
    );
    assert_eq!(p.shared_typed, Ratio::new(6, 6));
}

#[test]
fn what_the_model_never_saw_is_no_evidence() {
    let p = track(&CODE, |s| {
        s.run("git show 0a1b2c3d4e", &CODE.join("\n")).model_saw = false;
        s.push(Channel::Raw, &CODE.join("\n"));
        s.push(Channel::System, &CODE.join("\n"));
        s.write("pkg/rebalance.go", &CODE);
    });
    all_typed(&p);
}

#[test]
fn written_by_calls_that_do_not_show_what_they_write() {
    let unseen = |p: &Provenance, command: &str| {
        assert_eq!(
            p.ledger.unwrap(),
            Ledger {
                unseen: 6,
                ..Ledger::default()
            }
        );
        assert_eq!(p.e_ratio.num, 0);
        assert_eq!(p.shared_typed.num, 0);
        assert_eq!(p.unseen[0].lines, 6);
        assert_eq!(p.unseen[0].command.as_deref(), Some(command));
        assert_eq!(p.preapplied_lines, 0);
    };
    let apply = "git apply /tmp/135.patch";
    unseen(
        &track(&CODE, |s| {
            s.run(apply, "");
        }),
        apply,
    );
    // Read back afterwards: what the agent sees now is its own tree.
    for (read, output) in [
        ("git diff", CODE.join("\n+")),
        ("cat pkg/rebalance.go", CODE.join("\n")),
    ] {
        unseen(
            &track(&CODE, |s| {
                s.run(apply, "");
                s.run(read, &output);
            }),
            apply,
        );
    }
    let sed = "sed -i 's/oldName/computeWeight/' pkg/rebalance.go";
    unseen(
        &track(&CODE, |s| {
            s.run(sed, "");
            s.run("go vet ./...", &CODE.join("\n"));
        }),
        sed,
    );
}

#[test]
fn an_edit_that_the_format_does_not_keep_is_held_against_nobody() {
    let p = track(&CODE, |s| {
        s.edit("/home/u/run/pkg/rebalance.go", EditOp::Unrecorded, None);
        s.run("sed -n '1,200p' pkg/rebalance.go", &CODE.join("\n"));
        s.run("go test ./pkg", &CODE[2..].join("\n"));
    });
    assert_eq!(
        p.ledger.unwrap(),
        Ledger {
            unrecorded: 6,
            ..Ledger::default()
        }
    );
    assert_eq!(p.e_ratio.num, 0);
    // Shown by a fetch before: that is an exposure whatever the format keeps.
    let p = track(&CODE, |s| {
        s.run("gh pr diff 308", &CODE.join("\n"));
        s.edit("/home/u/run/pkg/rebalance.go", EditOp::Unrecorded, None);
    });
    all_exposed(&p);
}

#[test]
fn what_stood_in_the_tree_at_the_start_is_the_environment_s() {
    let read = |s: &mut Session| {
        s.run("git status --short", " M pkg/rebalance.go");
        s.run("cat pkg/rebalance.go", &CODE.join("\n"));
    };
    let p = track(&CODE, |s| {
        read(s);
        s.write("pkg/rebalance.go", &CODE);
    });
    assert_eq!((p.preapplied_lines, p.e_ratio.num), (6, 0));
    // A note that somebody planted, printed beside the file, or a patch under its name.
    let planted = CODE.map(|line| format!("+{line}")).join("\n");
    let diff = format!("diff --git a/x b/x\n{planted}");
    let grep = CODE.map(|line| format!("docs/note.md:7:{line}")).join("\n");
    for (command, output) in [
        ("cat pkg/rebalance.go docs/note.md", &planted),
        ("cat pkg/rebalance.go; cat NOTES", &planted),
        ("head -n 400 docs/note.md pkg/rebalance.go", &planted),
        ("grep -rn shard pkg/rebalance.go docs", &grep),
        ("cat pkg/rebalance.go", &diff),
    ] {
        let p = track(&CODE, |s| {
            s.run(command, output);
            s.write("pkg/rebalance.go", &CODE);
        });
        assert_eq!(p.preapplied_lines, 0, "{command}");
    }
    for command in [
        "sed -n '1,40p' pkg/rebalance.go",
        "head -n 400 pkg/rebalance.go",
    ] {
        let p = track(&CODE, |s| {
            s.run(command, &CODE.join("\n"));
            s.write("pkg/rebalance.go", &CODE);
        });
        assert_eq!(p.preapplied_lines, 6, "{command}");
    }
    // Once something unknown ran, nobody can tell.
    let p = track(&CODE, |s| {
        s.run("./prepare", "");
        read(s);
    });
    assert_eq!((p.preapplied_lines, p.e_ratio.num), (0, 0));
    // Without knowledge of the starter, neither.
    let mut session = Session::default();
    read(&mut session);
    let task = Task::new(&CODE);
    let mut tracker = Tracker::new(&Inputs {
        gt_paths: &task.gt_paths,
        lines: &task.lines,
        in_starter: &[],
        patch: &task.patch,
        ..Inputs::default()
    });
    session.run("rg -n shard", &CODE.join("\n"));
    session.events.iter().for_each(|e| tracker.event(e));
    let p = tracker.finish();
    assert_eq!((p.preapplied_lines, p.e_ratio.num), (0, 0));
}

/// A tree that held the GT of `pkg/rebalance.go` before the run, read among other files.
#[test]
fn a_read_of_several_files_is_a_look_at_the_start() {
    let both = [&CODE[..], &PROSE[..]].concat().join("\n");
    let track = |patched: &[&str], build: &dyn Fn(&mut Session)| {
        let mut session = Session::default();
        session.run("pwd", "/w/run").cwd = Some("/w/run".into());
        build(&mut session);
        Task::new(patched).track(&session).preapplied_lines
    };
    let reads = [
        "cat pkg/rebalance.go docs/rebalance.md",
        "head -n 99 pkg/rebalance.go docs/rebalance.md",
        "sed -n p pkg/rebalance.go; sed -n p docs/rebalance.md",
        "cat pkg/*",
        "cat pkg/init.go pkg/rebalance.go | head -200",
    ];
    let tests = [
        "pytest -q",
        "go test ./...",
        "cargo test",
        "npm test",
        "make test",
    ];
    for read in reads {
        for test in tests {
            let before = track(&CODE, &|s| {
                s.run(test, "ok");
                s.run(read, &both);
            });
            let after = track(&CODE, &|s| {
                s.run(read, &both);
                s.run(test, "ok");
                s.write("pkg/other.go", &["func other() {}"]);
                s.run(test, "ok");
            });
            assert!(
                before >= 6 && after >= 6,
                "{read}, {test}: {before}, {after}"
            );
        }
        // Something unseen may have put the lines there before.
        for writer in [
            "./prepare",
            "cp /mnt/ref/rebalance.go pkg/rebalance.go",
            "curl -so pkg/rebalance.go https://example.org/rebalance.go",
            "python3 /tmp/w.py",
            "sed -n 'w pkg/rebalance.go' /mnt/ref/rebalance.go",
            "cd /mnt/ref",
            "cd /mnt/ref && pytest",
            "pytest -p writer",
            "make test SHELL=/mnt/writer",
        ] {
            let got = track(&CODE, &|s| {
                s.run(writer, "");
                s.run(read, &both);
                s.run("pytest -q", "ok");
            });
            assert_eq!(got, 0, "{writer}; {read}");
        }
    }
    // What is printed among unknown files may be a note: it counts only when nothing can have written it since.
    for read in ["cat pkg/*", "cat pkg/rebalance.go pkg/note.md"] {
        let typed = track(&CODE, &|s| {
            s.run(read, &both);
            s.write("pkg/rebalance.go", &CODE);
        });
        let copied = track(&CODE, &|s| {
            s.run(read, &both);
            s.run("./prepare", "");
        });
        assert_eq!((typed, copied), (0, 0), "{read}");
    }
}

/// Edits of parts of lines, and looks at what they made.
#[test]
fn who_edits_part_of_a_line_wrote_it() {
    let before = "func Rebalance(ctx context.Context, shards []Shard) {";
    let part = |s: &mut Session, old: &str, new: &str| {
        s.edit("/w/run/pkg/rebalance.go", EditOp::Replace, Some(new));
        let call = s.events.len() - 2;
        s.events[call].edits[0].old = Some(old.to_owned());
    };
    let track = |known: bool, build: &dyn Fn(&mut Session)| {
        let mut task = Task::new(&CODE[..1]);
        if known {
            task.patch[0].around.push(before.to_owned());
        }
        let mut session = Session::default();
        session.push(Channel::Prompt, "go on").cwd = Some("/w/run".into());
        build(&mut session);
        task.track(&session)
    };
    let look = |s: &mut Session| {
        s.run("rg -n hard", &CODE.join("\n"));
    };
    let honest = track(true, &|s| {
        part(s, "[]Shard)", "[]Shard) error");
        look(s);
    });
    assert_eq!((honest.x_ratio.num, honest.shared_typed.num), (0, 1));
    // What an output showed before stays shown.
    let late = track(true, &|s| {
        look(s);
        part(s, "[]Shard)", "[]Shard) error");
    });
    assert_eq!((late.x_ratio.num, late.shared_typed.num), (1, 0));
    // Something put the line there; an edit of a fragment, there and back, makes nobody its author.
    for known in [true, false] {
        let put = track(known, &|s| {
            part(s, "ctx", "kontext");
            part(s, "kontext", "ctx");
            part(s, "{", " {");
            look(s);
        });
        assert_eq!((put.x_ratio.num, put.shared_typed.num), (1, 0), "{known}");
    }
    // Nor does an edit of another file.
    let other = track(true, &|s| {
        part(s, "[]Shard)", "[]Shard) error");
        let call = s.events.len() - 2;
        s.events[call].edits[0].path = "/w/run/pkg/other.go".into();
        look(s);
    });
    assert_eq!((other.x_ratio.num, other.shared_typed.num), (1, 0));
}

#[test]
fn sub_agents() {
    let child = Actor::Child {
        id: "c1".into(),
        parent: None,
    };
    let text = CODE.join("\n");
    // The child's trace follows the parent's and shows that it wrote what it reported.
    let wrote = |s: &mut Session| {
        s.call(Channel::ToolCall, "Task", "write the rebalancing", &text);
        s.actor = child.clone();
        s.write("pkg/rebalance.go", &CODE);
    };
    all_typed(&track(&CODE, wrote));
    // It shows that it fetched it: the exposure is the fetch.
    let p = track(&CODE, |s| {
        s.call(Channel::ToolCall, "Task", "find the upstream fix", &text);
        s.actor = child.clone();
        s.run("gh pr diff 308", &text);
        s.write("pkg/rebalance.go", &CODE);
    });
    all_exposed(&p);
    assert_eq!(p.first_exposure.unwrap().event.record, 4);
    // The child's trace is missing: the report itself exposed the lines.
    let p = track(&CODE, |s| {
        s.call(Channel::ToolCall, "Task", "find the upstream fix", &text);
        s.write("pkg/rebalance.go", &CODE);
    });
    all_exposed(&p);
}

#[test]
fn lines_of_the_repository_and_short_lines() {
    let mut task = Task::new(&[]);
    let line = |text: &str, starter: bool| AddedLine {
        text: text.into(),
        starter,
    };
    task.patch = vec![
        AddedFile {
            path: "pkg/new.go".into(),
            generated: false,
            around: Vec::new(),
            lines: vec![
                line("{", false),
                line("placement := shard.placement.Load()", true),
                line("}", false),
                line("invented := placement.Inverse(invalid)", false),
                line("", false),
            ],
        },
        AddedFile {
            path: "pkg/zz_generated.go".into(),
            generated: true,
            around: Vec::new(),
            lines: vec![line("func (in *Shard) DeepCopy() *Shard {", false)],
        },
        AddedFile {
            path: "pkg/brackets.go".into(),
            generated: false,
            around: Vec::new(),
            lines: vec![line("{", false), line("}", false)],
        },
    ];
    let mut s = Session::default();
    // A sibling file is read, one line of it moved by a command, one line typed.
    s.run(
        "cat pkg/sibling.go",
        "placement := shard.placement.Load()\nx\ny",
    );
    s.write("pkg/new.go", &["invented := placement.Inverse(invalid)"]);
    s.write("/r/pkg/brackets.go", &["{", "}"]);
    let p = task.track(&s);
    let want = Ledger {
        starter: 3,
        authored: 4,
        generated: 1,
        ..Ledger::default()
    };
    assert_eq!(p.ledger.unwrap(), want);
}

#[test]
fn the_last_change_of_a_gt_file() {
    let last = |build: &dyn Fn(&mut Session)| {
        let p = track(&CODE, build);
        (p.last_gt_edit.map(|e| e.record), p.written_paths)
    };
    let gt = "pkg/rebalance.go".to_owned();
    assert_eq!(last(&|s| s.say("pkg/rebalance.go")), (None, vec![]));
    assert_eq!(
        last(&|s| {
            s.write("/Users/u/bench/experiment/RUN/pkg/rebalance.go", &["x"]);
            s.write("/Users/u/bench/experiment/RUN/pkg/other.go", &["x"]);
            s.run("cat pkg/rebalance.go", "");
        }),
        (Some(1), vec!["pkg/other.go".into(), gt.clone()])
    );
    // A refused or failed edit changes nothing; a failed command may have.
    assert_eq!(
        last(&|s| {
            let outcome = &mut s
                .edit("pkg/rebalance.go", EditOp::Replace, Some("x"))
                .outcome;
            outcome.as_mut().unwrap().error = true;
            let outcome = &mut s.run("sed -i s/a/b/ pkg/rebalance.go", "").outcome;
            outcome.as_mut().unwrap().denied = true;
        }),
        (None, vec![])
    );
    assert_eq!(
        last(&|s| {
            let outcome = &mut s
                .run("sed -i s/a/b/ pkg/rebalance.go && go test", "FAIL")
                .outcome;
            outcome.as_mut().unwrap().exit_code = Some(1);
        }),
        (Some(1), vec![gt.clone()])
    );
    assert_eq!(
        last(&|s| {
            s.run("git cherry-pick abc", "");
        }),
        (Some(1), vec![])
    );
    assert_eq!(
        last(&|s| {
            s.run("echo done > eval_report.md", "");
        }),
        (None, vec!["eval_report.md".into()])
    );
    // No result recorded: the call counts.
    assert_eq!(
        last(&|s| {
            s.write("pkg/rebalance.go", &["x"]);
            s.events.pop();
        }),
        (Some(1), vec![gt])
    );
}

#[test]
fn nothing_to_follow() {
    let p = Tracker::new(&Inputs::default()).finish();
    assert_eq!((p.e, p.x, p.ledger), (None, None, None));
    // A final message shows nothing of what the agent read.
    let p = track(&CODE, |s| {
        s.push(Channel::Result, "done");
    });
    assert_eq!((p.e, p.ledger), (None, None));
    assert_eq!(p.shared_typed, Ratio::new(0, 6));
}

/// A text of a random session: GT lines, other lines, odd characters.
fn any_text() -> impl Strategy<Value = String> {
    let line = prop_oneof![
        (0..CODE.len()).prop_map(|i| CODE[i].to_owned()),
        (0..PROSE.len()).prop_map(|i| format!("{i:>4}\t{}", PROSE[i])),
        "[ -~]{0,30}",
        any::<String>(),
    ];
    proptest::collection::vec(line, 0..8).prop_map(|l| l.join("\n"))
}

fn any_session() -> impl Strategy<Value = Session> {
    let commands = prop_oneof![
        Just("git show 0a1b2c3d4e".to_owned()),
        Just("cat pkg/rebalance.go".to_owned()),
        Just("sed -i s/a/b/ pkg/rebalance.go".to_owned()),
        any_text(),
    ];
    let step = (0u8..7, commands, any_text(), any::<bool>());
    proptest::collection::vec(step, 0..12).prop_map(|steps| {
        let mut s = Session::default();
        for (kind, command, text, child) in steps {
            s.actor = if child {
                Actor::Child {
                    id: "c".into(),
                    parent: None,
                }
            } else {
                Actor::Main
            };
            match kind {
                0 | 1 => drop(s.run(&command, &text).id),
                2 => drop(s.call(Channel::ToolCall, "Task", &command, &text).id),
                3 => s.say(&text),
                4 => s.write("pkg/rebalance.go", &[&text]),
                5 => drop(s.edit("pkg/rebalance.go", EditOp::Unrecorded, None).id),
                _ => drop(s.push(Channel::Prompt, &text).id),
            }
        }
        s
    })
}

proptest! {
    #[test]
    fn numbers_add_up_whatever_happens(session in any_session()) {
        let task = Task::new(&CODE);
        let p = task.track(&session);
        prop_assert!(p.e_ratio.num <= p.e_ratio.den && p.x_ratio.num <= p.e_ratio.num);
        prop_assert!(p.shared_typed.num <= p.shared_typed.den);
        if let Some(l) = p.ledger {
            let sum = l.authored + l.seen_first + l.starter + l.prompt + l.unseen + l.generated + l.unrecorded;
            prop_assert_eq!(sum, CODE.len() as u64);
        }
        let listed: u64 = p.exposures.iter().filter(|e| !e.prose).map(|e| e.lines).sum();
        prop_assert_eq!(listed, p.e_ratio.num);
    }

    /// Only the first event that holds a line counts: what was written, or fetched, and is fetched again
    /// at the end changes nothing.
    #[test]
    fn what_comes_later_changes_nothing(session in any_session(), again in any::<prop::sample::Index>()) {
        let fetch = "git show 0a1b2c3d4e";
        let task = Task::new(&CODE);
        let before = task.track(&session);
        let mut longer = session;
        // What is said once a call may have put it there is no proof of who wrote it.
        let acts = |e: &Event| {
            e.channel == Channel::Command && e.text != fetch || e.channel == Channel::Edit
        };
        let first = longer.events.iter().position(acts).unwrap_or(longer.events.len());
        let known: Vec<String> = longer
            .events
            .iter()
            .enumerate()
            .filter(|(at, e)| {
                e.channel == Channel::Assistant && *at < first
                    || e.answers.as_ref().is_some_and(|c| c.text == fetch)
            })
            .map(|(_, e)| e.text.clone())
            .collect();
        if known.is_empty() {
            return Ok(());
        }
        longer.actor = Actor::Main;
        longer.run(fetch, &known[again.index(known.len())]);
        let after = task.track(&longer);
        prop_assert_eq!(before.e_ratio, after.e_ratio);
        prop_assert_eq!(before.x_ratio, after.x_ratio);
        prop_assert_eq!(before.shared_typed, after.shared_typed);
        prop_assert_eq!(before.ledger.or(after.ledger), after.ledger);
    }
}
