//! The tutorial, followed to the letter with the program, and what the program prints for other tools.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

fn program(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_trace-audit"))
        .args(args)
        .current_dir(dir)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// The fenced block of the manual that holds `part`, without its fences.
fn block<'m>(manual: &'m str, part: &str) -> &'m str {
    let found = manual.split("```").find(|block| block.contains(part));
    found.unwrap().split_once('\n').unwrap().1
}

#[test]
fn the_tutorial_can_be_followed() {
    let manual = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules.md"));
    let manual = manual.unwrap();
    let dir = tempfile::tempdir().unwrap();
    let here = dir.path();
    let rules = here.join("my-rules/fixbot.toml");
    fs::create_dir(here.join("my-rules")).unwrap();
    // Step 2 writes a file that can be checked as it is.
    let new = program(here, &["rules", "new", "ours.fixbot"]);
    assert!(new.status.success(), "{}", text(&new.stderr));
    let check = program(here, &["rules", "check", "ours.fixbot.toml"]);
    assert!(check.status.success(), "{}", text(&check.stdout));
    // Steps 2 to 4.
    let rule = block(&manual, "id = \"ours.fixbot\"");
    let tests = block(&manual, "the change is printed");
    fs::write(&rules, format!("{rule}{tests}")).unwrap();
    let test = program(here, &["rules", "test", "my-rules"]);
    assert!(test.status.success(), "{}", text(&test.stdout));
    let wrong = block(&manual, "error: unknown field");
    let typo: String = rule
        .lines()
        .map(|line| match line.starts_with("match.any") {
            true => "match.any = [{ regexp = \"fixbot\" }]\n".to_owned(),
            false => format!("{line}\n"),
        })
        .collect();
    fs::write(&rules, typo).unwrap();
    let shown = text(&program(here, &["rules", "test", "my-rules"]).stderr);
    for line in wrong.lines().skip(1) {
        assert!(shown.contains(line), "{line:?} is not in\n{shown}");
    }
    // Step 5.
    fs::write(&rules, format!("{rule}{tests}")).unwrap();
    fs::write(here.join("facts.toml"), block(&manual, "[task.T1]")).unwrap();
    fs::write(here.join("run.jsonl"), TRACE).unwrap();
    let commands = manual.lines().filter_map(|line| {
        let command = line.strip_prefix("    trace-audit ")?;
        (command.contains("my-rules") && !command.starts_with("--rules")).then_some(command)
    });
    let mut followed = 0;
    for command in commands {
        let words: Vec<&str> = command
            .split("   ")
            .next()
            .unwrap()
            .split_whitespace()
            .collect();
        let done = program(here, &words);
        let shown = text(&done.stdout);
        let wanted = match words[..2] {
            ["rules", "check"] => "1 rules: 0 errors, 0 warnings, 4 tests passed",
            ["rules", "test"] => "ours.fixbot  1 hits",
            _ => "ours.fixbot, obtained",
        };
        assert!(
            shown.contains(wanted),
            "{command}: {shown}{}",
            text(&done.stderr)
        );
        followed += 1;
    }
    assert_eq!(followed, 3);
    // "both commands say so"
    let none = program(here, &["rules", "test", "my-rules", "--trace", "run.jsonl"]);
    assert!(text(&none.stdout).contains("inactive"));
    assert!(text(&none.stderr).contains("--facts"));
    let none = program(here, &["scan", "--rules", "my-rules", "run.jsonl"]);
    assert!(text(&none.stdout).contains("inactive"));
}

const TRACE: &str = r#"{"type":"system","subtype":"init","cwd":"/srv/w","session_id":"s"}
{"type":"assistant","message":{"id":"m1","role":"assistant","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"fixbot show 4711"}}]},"session_id":"s"}
{"type":"user","message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"t1","content":"diff --git a/src/a.c b/src/a.c\n+    w = clamp(w);"}]},"session_id":"s"}
{"type":"result","subtype":"success","result":"Done.","session_id":"s"}
"#;

/// Each pattern that is printed for other tools is one: no placeholder is left in it.
#[test]
fn ripgrep_accepts_every_printed_pattern() {
    let dir = tempfile::tempdir().unwrap();
    let printed = program(dir.path(), &["rules", "list", "--patterns"]);
    let patterns = text(&printed.stdout);
    assert!(patterns.lines().count() > 100);
    for pattern in patterns.lines() {
        for (name, _) in trace_audit::rules::template::Fact::ALL {
            assert!(!pattern.contains(&format!("{{{name}}}")), "{pattern}");
        }
        assert!(regex::Regex::new(pattern).is_ok(), "{pattern}");
    }
    let Ok(mut child) = Command::new("rg")
        .args(["-c", "-f", "-"])
        .arg(dir.path())
        .stdin(Stdio::piped())
        .stderr(Stdio::piped())
        .stdout(Stdio::null())
        .spawn()
    else {
        println!("skipped: there is no rg");
        return;
    };
    child
        .stdin
        .take()
        .unwrap()
        .write_all(patterns.as_bytes())
        .unwrap();
    let done = child.wait_with_output().unwrap();
    assert!(
        done.status.code().is_some_and(|code| code < 2),
        "{}",
        text(&done.stderr)
    );
}
