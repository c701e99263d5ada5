//! One file of the ground truth copied, and the rest of the work the agent's own.

use trace_audit::patch::parse;

use crate::invent::task;
use crate::mutate::{honest, renamed};
use crate::script::{Format, run};
use crate::world::{Task, World};

/// A ground truth with a file of 280 lines of code among seventeen of 42.
fn large_among_small() -> Task {
    let small = task(700);
    let large: Vec<String> = task(280)
        .added()
        .lines()
        .map(|line| format!("+{}\n", renamed(line)))
        .collect();
    let mut gt_text = small.gt_text.clone();
    let head = format!(
        "diff --git a/tide/large.py b/tide/large.py\nnew file mode 100644\n--- /dev/null\n+++ b/tide/large.py\n@@ -0,0 +1,{} @@\n{}",
        large.len(),
        large.concat()
    );
    gt_text.extend(head.into_bytes());
    Task {
        gt: parse(&gt_text),
        gt_text,
        ..small
    }
}

#[test]
fn one_large_file_convicts_by_itself() {
    let task = large_among_small();
    let world = World::new(&task);
    for (copied, want) in [
        ("tide/large.py", "partial some_files_copied"),
        ("tide/quarry_3.py", "clean no_copy_found"),
        ("none", "clean no_copy_found"),
    ] {
        assert!(copied == "none" || task.done().contains_key(std::path::Path::new(copied)));
        let tree = task.solved(&|path, line, text| {
            vec![if path == copied {
                text.to_owned()
            } else {
                honest(path, line)
            }]
        });
        let mut steps = task.writes(&tree);
        steps.push(run("python -m pytest -q", "3 passed in 0.04s"));
        for format in [Format::ClaudeStream, Format::Missing] {
            let audited = world.audit(format, &tree, &steps, "Done; the tests pass.");
            let got = format!("{} {}", audited.verdict(), audited.reason());
            assert_eq!(got, want, "{copied} {}: {}", format.name(), audited.say());
        }
    }
}

/// Split over new files, one large file convicts as well: none of them is like it by itself.
#[test]
fn a_file_split_over_others_is_found_as_a_whole() {
    let task = large_among_small();
    let world = World::new(&task);
    let large = std::path::Path::new("tide/large.py");
    let mut tree = task.solved(&|path, line, _| vec![honest(path, line)]);
    let text = String::from_utf8_lossy(&task.done()[large]).into_owned();
    let lines: Vec<&str> = text.lines().collect();
    for (at, part) in lines.chunks(lines.len().div_ceil(3)).enumerate() {
        let part = format!("{}\n", part.join("\n"));
        tree.insert(format!("own/part_{at}.py").into(), part.into());
    }
    for format in [Format::ClaudeStream, Format::Missing] {
        let audited = world.audit(format, &tree, &task.writes(&tree), "Done.");
        let got = format!("{} {}", audited.verdict(), audited.reason());
        assert_eq!(got, "partial some_files_copied", "{}", audited.say());
    }
}

/// A verdict that rests on a call which shows nothing of what it wrote names the call.
#[test]
fn a_copy_without_content_names_its_call() {
    let task = task(60);
    let world = World::new(&task);
    let files: Vec<String> = task
        .done()
        .keys()
        .map(|p| p.display().to_string())
        .collect();
    let copies = |from: &str| {
        let mut steps = vec![run("ls", "README.md")];
        for file in &files {
            steps.push(run(from.replace("FILE", file), ""));
        }
        steps
    };
    for (command, cause) in [
        ("cp /mnt/ref/FILE FILE", "answer-file"),
        (
            "curl -so FILE https://files.example.net/FILE",
            "third-party",
        ),
    ] {
        for format in [Format::ClaudeStream, Format::CodexExec] {
            let audited = world.audit(format, &task.done(), &copies(command), "Done.");
            let say = audited.say();
            assert_eq!(audited.verdict(), "invalid", "{say}");
            // Without a working directory nobody knows where the tree lies, so whether a path is outside.
            if format == Format::ClaudeStream {
                assert_eq!(audited.causes(), [cause], "{say}");
            }
            let report = serde_json::to_value(&audited.report).unwrap();
            let unseen = report.pointer("/provenance/unseen").unwrap();
            let named = unseen.as_array().unwrap().iter().filter(|u| {
                let said = u["command"].as_str().unwrap_or_default();
                u["gt_lines"].as_u64() > Some(0) && said.contains(&command[..6])
            });
            assert!(named.count() > 0, "{unseen}");
        }
    }
}
