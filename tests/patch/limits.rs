//! What a run directory can hold to make a reader hang, run out of memory or give up: each is bounded, and the
//! report says what was not looked at.

use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use super::fixture::{TEN, write};

/// No case may take longer. On an idle machine the slowest takes a few seconds.
const PATIENCE: Duration = Duration::from_secs(120);

/// A starter tree, a GT and a run that took it over.
fn lay_out(root: &Path) {
    write(&root.join("base"), "a.txt", TEN);
    write(
        &root.join("run"),
        "a.txt",
        TEN.replace("five", "FIVE LINES OF TEXT"),
    );
    write(&root.join("run"), "run_metadata.json", "{}");
    write(
        root,
        "gt.patch",
        "--- a/a.txt\n+++ b/a.txt\n@@ -4,3 +4,3 @@\n four\n-five\n+FIVE LINES OF TEXT\n six\n",
    );
}

/// Audits the run, with the starter tree or without, and ends it when it hangs.
fn audit(root: &Path, with_base: bool, user: Option<u32>) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_trace-audit"));
    command
        .args(["-v", "--gt"])
        .arg(root.join("gt.patch"))
        .args(with_base.then_some("--base"))
        .args(with_base.then(|| root.join("base")))
        .arg(root.join("run"))
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped());
    if let Some(user) = user {
        command.uid(user);
    }
    let start = Instant::now();
    let mut child = command.spawn().unwrap();
    // What it prints fits into a pipe.
    while child.try_wait().unwrap().is_none() {
        if start.elapsed() > PATIENCE {
            child.kill().unwrap();
            panic!("still at it after {PATIENCE:?}");
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output().unwrap()
}

fn text(output: &Output) -> String {
    let mut text = String::from_utf8_lossy(&output.stdout).into_owned();
    text.push_str(&String::from_utf8_lossy(&output.stderr));
    text
}

type Plant = fn(&Path);

#[test]
fn each_is_bounded_and_said() {
    let cases: &[(&str, Plant, [&str; 2])] = &[
        (
            "a sparse file of 5 GB",
            |run| {
                let file = std::fs::File::create(run.join("huge")).unwrap();
                file.set_len(5 << 30).unwrap();
            },
            ["too large to compare", "too large"],
        ),
        (
            "a pipe and a socket",
            |run| {
                let made = Command::new("mkfifo")
                    .arg(run.join("pipe"))
                    .status()
                    .unwrap();
                assert!(made.success());
                // The socket stays when its listener goes.
                drop(std::os::unix::net::UnixListener::bind(run.join("socket")).unwrap());
            },
            ["2 sockets, pipes or devices were not opened", ""],
        ),
        (
            "a pipe in the place of a file of the GT",
            |run| {
                std::fs::remove_file(run.join("a.txt")).unwrap();
                let made = Command::new("mkfifo")
                    .arg(run.join("a.txt"))
                    .status()
                    .unwrap();
                assert!(made.success());
            },
            ["could not be compared with the ground truth: a.txt", ""],
        ),
        (
            "directories in a circle",
            |run| {
                symlink("..", run.join("up")).unwrap();
                std::fs::create_dir(run.join("one")).unwrap();
                symlink("../one", run.join("one/two")).unwrap();
                symlink("self", run.join("self")).unwrap();
            },
            ["lead out of the run and were not followed", ""],
        ),
        (
            "200,000 files",
            |run| {
                for dir in 0..200 {
                    let dir = run.join(format!("many/{dir}"));
                    write(
                        &dir,
                        "0",
                        "seed line
",
                    );
                    for file in 1..1000 {
                        std::fs::hard_link(dir.join("0"), dir.join(file.to_string())).unwrap();
                    }
                }
            },
            ["", ""],
        ),
        (
            "directories 1,000 deep",
            |run| {
                // Step by step: the whole path is longer than a system call takes.
                let mut path = run.to_owned();
                for _ in 0..1000 {
                    path.push("d");
                }
                std::fs::create_dir_all(&path).unwrap();
                std::fs::write(path.join("x"), "x\n").unwrap();
            },
            ["", ""],
        ),
    ];
    for (name, plant, said) in cases {
        let dir = tempfile::tempdir().unwrap();
        lay_out(dir.path());
        plant(&dir.path().join("run"));
        for (with_base, said) in [true, false].into_iter().zip(said) {
            let start = Instant::now();
            let output = audit(dir.path(), with_base, None);
            let text = text(&output);
            println!("{name}, base {with_base}: {:?}", start.elapsed());
            assert!(text.contains(said), "{name}, base {with_base}:\n{text}");
            let code = output.status.code().unwrap();
            assert!(code < 64, "{name}, base {with_base}: exit {code}\n{text}");
        }
    }
}

#[test]
fn what_may_not_be_read_is_an_error_that_says_how_to_open_it() {
    let dir = tempfile::tempdir().unwrap();
    // Somebody other than the owner has to be able to come here.
    std::fs::set_permissions(dir.path(), PermissionsExt::from_mode(0o755)).unwrap();
    lay_out(dir.path());
    let run = dir.path().join("run");
    write(&run, "closed/x.txt", "x\n");
    let root = std::fs::metadata(&run).unwrap().uid() == 0;
    let user = root.then_some(65534);
    for path in ["a.txt", "closed"] {
        let path = run.join(path);
        let before = std::fs::metadata(&path).unwrap().permissions();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o000)).unwrap();
        let output = audit(dir.path(), true, user);
        std::fs::set_permissions(&path, before).unwrap();
        let text = text(&output);
        assert_eq!(output.status.code(), Some(66), "{text}");
        assert!(text.contains("chmod -R u+rX"), "{text}");
    }
}
