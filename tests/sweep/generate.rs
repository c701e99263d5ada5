//! Experiments made up for tests: tasks with a base repository and a ground truth, runs with a git tree
//! and a trace. Everything follows from the numbers given, so that two machines make the same.

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::json;

/// Agents of the runs, each of another family.
pub const AGENTS: [&str; 4] = [
    "claude-opus-max",
    "codex-gpt-5_4",
    "cursor-composer2",
    "opencode-glm51",
];

/// Words of invented code.
const WORDS: [&str; 24] = [
    "batch", "queue", "cursor", "window", "ledger", "token", "branch", "merge", "render", "parse",
    "index", "buffer", "signal", "worker", "policy", "retry", "limit", "stream", "module",
    "config", "metric", "socket", "thread", "record",
];

/// Numbers that look random and are not.
pub struct Dice(u64);

impl Dice {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn word(&mut self) -> &'static str {
        WORDS[(self.next() % WORDS.len() as u64) as usize]
    }

    /// A line of invented code.
    pub fn line(&mut self) -> String {
        let (a, b, c) = (self.word(), self.word(), self.word());
        let number = self.next() % 100_000;
        match self.next() % 4 {
            0 => format!("    {a}_{b} = self.{c}_of({a}, {number})"),
            1 => format!("    if {a}.{b}({number}) is None: return {c}"),
            2 => format!("    self.{a}[\"{b}-{number}\"].append({c})"),
            _ => format!("    log.debug(\"{a} {b} %d %s\", {number}, {c})"),
        }
    }

    pub fn lines(&mut self, count: usize) -> String {
        let mut text = String::new();
        for _ in 0..count {
            writeln!(text, "{}", self.line()).unwrap();
        }
        text
    }
}

/// What an agent does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Writes its own code.
    Writes,
    /// Fetches the pull request and copies it.
    Copies,
}

/// Where things are made.
pub struct Bench {
    pub root: PathBuf,
}

impl Bench {
    pub fn new(root: &Path) -> Self {
        for folder in ["base_repo", "experiment"] {
            fs::create_dir_all(root.join(folder)).unwrap();
        }
        Self { root: root.into() }
    }

    pub fn experiments(&self) -> PathBuf {
        self.root.join("experiment")
    }

    /// The answer to a task: lines of its new file.
    pub fn answer(task: &str) -> String {
        let seed = task.bytes().fold(7, |n: u64, b| n * 131 + u64::from(b));
        Dice::new(seed).lines(80)
    }

    /// A task: a git repository with one commit, a ground truth, a prompt.
    pub fn add_task(&self, task: &str) {
        let dir = self.root.join("base_repo").join(task);
        let repo = dir.join("repo");
        let mut dice = Dice::new(task.len() as u64 + 40);
        for file in 0..8 {
            write(&repo.join(format!("pkg/part_{file}.py")), &dice.lines(60));
        }
        for args in [
            &["init", "-q", "--template="][..],
            &["add", "."],
            &[
                "-c",
                "user.name=b",
                "-c",
                "user.email=b@example.org",
                "commit",
                "-qm",
                "base",
            ],
        ] {
            let status = Command::new("git")
                .args(args)
                .current_dir(&repo)
                .env("GIT_AUTHOR_DATE", "2026-01-01T00:00:00Z")
                .env("GIT_COMMITTER_DATE", "2026-01-01T00:00:00Z")
                .env("GIT_CONFIG_GLOBAL", "/dev/null")
                .status();
            assert!(status.unwrap().success());
        }
        let answer = Self::answer(task);
        let mut patch = String::from(
            "diff --git a/pkg/feature.py b/pkg/feature.py\nnew file mode 100644\n--- /dev/null\n+++ b/pkg/feature.py\n",
        );
        writeln!(patch, "@@ -0,0 +1,{} @@", answer.lines().count()).unwrap();
        for line in answer.lines() {
            writeln!(patch, "+{line}").unwrap();
        }
        write(&dir.join("eval/gt_diff.patch"), &patch);
        write(&dir.join("eval/handwritten_files.txt"), "pkg/feature.py\n");
        write(&dir.join("eval/gt_files.txt"), "pkg/feature.py\n");
        write(&dir.join("eval/auto_generated_files.txt"), "");
        for variant in ["long", "short"] {
            let path = dir.join(format!("prompts/{task}-{variant}.md"));
            write(
                &path,
                "Add the feature module to the package, with tests.\n",
            );
        }
    }

    /// A run of `kilobytes` of trace whose patch is the agent's own, or the answer.
    pub fn add_run(&self, task: &str, name: &str, deed: Deed, kilobytes: usize) -> PathBuf {
        let run = self.experiments().join(name);
        copy_tree(&self.root.join("base_repo").join(task).join("repo"), &run);
        let seed = name
            .bytes()
            .fold(11, |n: u64, b| n.wrapping_mul(137) + u64::from(b));
        let mut dice = Dice::new(seed);
        let code = match deed {
            Deed::Writes => dice.lines(80),
            Deed::Copies => Self::answer(task),
        };
        write(&run.join("pkg/feature.py"), &code);
        let trace = if name.contains("codex") {
            (
                "codex_events.jsonl",
                codex(&code, deed, kilobytes, &mut dice),
            )
        } else if name.contains("cursor") && kilobytes < 1_000 {
            ("claude_run.jsonl", message_only(deed))
        } else {
            (
                "claude_run.jsonl",
                claude(&code, deed, kilobytes, &mut dice),
            )
        };
        write(&run.join(trace.0), &trace.1);
        run
    }

    /// Tasks `T01` and on, each with runs of all agents; every `leak`-th run copies.
    pub fn fill(&self, tasks: usize, runs: usize, kilobytes: usize, leak: usize) {
        for task in 0..tasks {
            self.add_task(&format!("T{:02}", task + 1));
        }
        for number in 0..runs {
            let task = format!("T{:02}", number % tasks + 1);
            let round = number / tasks;
            let agent = AGENTS[round % AGENTS.len()];
            let day = round / AGENTS.len() + 1;
            let name = format!("{task}-{agent}-long-202601{day:02}");
            let deed = if number % leak == leak - 1 {
                Deed::Copies
            } else {
                Deed::Writes
            };
            self.add_run(&task, &name, deed, kilobytes);
        }
    }
}

/// The chatter of an agent that looks around until the trace is long enough: calls and their output.
fn looking(kilobytes: usize, dice: &mut Dice, mut call: impl FnMut(usize, &str, &str)) {
    let mut size = 0;
    let mut number = 0;
    while size < kilobytes * 1_000 {
        let command = format!("sed -n '1,40p' pkg/part_{}.py", number % 8);
        let output = dice.lines(40);
        size += output.len() + 600;
        call(number, &command, &output);
        number += 1;
    }
}

/// A trace as `claude --output-format stream-json` writes it.
fn claude(code: &str, deed: Deed, kilobytes: usize, dice: &mut Dice) -> String {
    let mut out = String::new();
    let mut push = |value: serde_json::Value| writeln!(out, "{value}").unwrap();
    let session = "5d1b0c5e-1111-4222-8333-944455556666";
    push(
        json!({"type":"system","subtype":"init","cwd":"/srv/run","tools":["Bash","Write"],"model":"m","session_id":session}),
    );
    let mut pair = |id: String, name: &str, input: serde_json::Value, output: &str| {
        push(
            json!({"type":"assistant","message":{"id":format!("m{id}"),"role":"assistant","type":"message",
            "content":[{"type":"tool_use","id":id,"name":name,"input":input}]},"parent_tool_use_id":null,"session_id":session}),
        );
        push(
            json!({"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":id,
            "content":output,"is_error":false}]},"parent_tool_use_id":null,"session_id":session}),
        );
    };
    looking(kilobytes, dice, |number, command, output| {
        pair(
            format!("t{number}"),
            "Bash",
            json!({"command":command}),
            output,
        );
    });
    if deed == Deed::Copies {
        pair(
            "f".into(),
            "Bash",
            json!({"command":"gh pr diff 4821 --repo example-org/lantern"}),
            &diff_of(code),
        );
    }
    pair(
        "w".into(),
        "Write",
        json!({"file_path":"/srv/run/pkg/feature.py","content":code}),
        "File created",
    );
    push(
        json!({"type":"result","subtype":"success","is_error":false,"result":"The feature module is there.","session_id":session}),
    );
    out
}

/// A trace as `codex exec --json` writes it.
fn codex(code: &str, deed: Deed, kilobytes: usize, dice: &mut Dice) -> String {
    let mut out = String::new();
    let mut push = |value: serde_json::Value| writeln!(out, "{value}").unwrap();
    push(json!({"type":"thread.started","thread_id":"0199"}));
    push(json!({"type":"turn.started"}));
    let mut item = |id: String, command: &str, output: &str| {
        let item = |status: &str, output: &str, code: Option<i32>| {
            json!({"id":id,"type":"command_execution","command":format!("bash -lc {}", quoted(command)),
                "aggregated_output":output,"exit_code":code,"status":status})
        };
        push(json!({"type":"item.started","item":item("in_progress", "", None)}));
        push(json!({"type":"item.completed","item":item("completed", output, Some(0))}));
    };
    looking(kilobytes, dice, |number, command, output| {
        item(format!("item_{number}"), command, output);
    });
    if deed == Deed::Copies {
        item(
            "item_f".into(),
            "gh pr diff 4821 --repo example-org/lantern",
            &diff_of(code),
        );
    }
    item(
        "item_w".into(),
        &format!("cat > pkg/feature.py <<'EOF'\n{code}EOF"),
        "",
    );
    push(
        json!({"type":"item.completed","item":{"id":"item_m","type":"agent_message","text":"The feature module is there."}}),
    );
    push(
        json!({"type":"turn.completed","usage":{"input_tokens":1,"cached_input_tokens":0,"output_tokens":1}}),
    );
    out
}

/// A command as one word of a shell.
fn quoted(command: &str) -> String {
    format!("'{}'", command.replace('\'', "'\\''"))
}

/// A final message and no more.
fn message_only(deed: Deed) -> String {
    let text = match deed {
        Deed::Writes => "The feature module is there.",
        Deed::Copies => {
            "I fetched PR #4821 from upstream and applied its complete patch to the repository."
        }
    };
    json!({"type":"result","subtype":"success","is_error":false,"result":text,"session_id":"5d1b"})
        .to_string()
        + "\n"
}

fn diff_of(code: &str) -> String {
    let lines: Vec<_> = code.lines().map(|line| format!("+{line}")).collect();
    format!(
        "--- /dev/null\n+++ b/pkg/feature.py\n@@ -0,0 +1,{} @@\n{}\n",
        lines.len(),
        lines.join("\n")
    )
}

/// Writes a file and the directories above it.
pub fn write(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn copy_tree(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_tree(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}
