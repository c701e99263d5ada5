//! Sweeps that are killed, and what they meet on a bad day.

use std::fs;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::{Stage, files, stderr, stdout};

/// Starts a sweep of one run at a time and sends it a signal when some runs are in the cache.
#[cfg(unix)]
fn stopped(stage: &Stage, signal: &str) -> std::process::Output {
    let experiments = stage.bench.experiments();
    let args = [
        "sweep",
        experiments.to_str().unwrap(),
        "--jobs",
        "1",
        "-f",
        "jsonl",
    ];
    let mut command = stage.command(&args);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let start = Instant::now();
    while stage.cached().len() < 3 {
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "nothing gets done"
        );
        std::thread::sleep(Duration::from_millis(2));
    }
    let kill = std::process::Command::new("kill")
        .args([signal, &child.id().to_string()])
        .status();
    assert!(kill.unwrap().success());
    child.wait_with_output().unwrap()
}

#[cfg(unix)]
#[test]
fn a_killed_sweep_goes_on_where_it_was() {
    let stage = Stage::new(4, 24, 300);
    let output = stopped(&stage, "-KILL");
    assert_eq!(output.status.code(), None, "killed");
    let done = stage.cached().len();
    assert!(done < 24, "it was killed too late");
    let resumed = stage.sweep(&["-f", "jsonl"]);
    let words = format!("{done} from the cache");
    assert!(
        stderr(&resumed).contains(&words),
        "{words} in {}",
        stderr(&resumed)
    );
    let anew = stage.sweep(&["-f", "jsonl", "--no-cache"]);
    assert_eq!(stdout(&resumed), stdout(&anew));
    assert!(
        stdout(&anew).starts_with(&stdout(&output)),
        "what was written stays true"
    );
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_in_good_order() {
    let stage = Stage::new(4, 24, 300);
    let output = stopped(&stage, "-INT");
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    let text = stderr(&output);
    assert!(
        text.contains("interrupted after") && text.contains("goes on from there"),
        "{text}"
    );
    let done = stage.cached().len();
    let resumed = stage.sweep(&["-f", "jsonl"]);
    assert!(stderr(&resumed).contains(&format!("{done} from the cache")));
}

#[test]
fn a_damaged_cache_is_read_past() {
    let stage = Stage::new(1, 4, 2);
    let good = stdout(&stage.sweep(&["-f", "jsonl"]));
    for file in stage.cached() {
        let mut bytes = fs::read(&file).unwrap();
        let at = bytes.len() / 2;
        bytes[at] ^= 1;
        fs::write(&file, bytes).unwrap();
    }
    let output = stage.sweep(&["-f", "jsonl"]);
    assert_eq!(stdout(&output), good);
    assert_eq!(stderr(&output).matches("were not used (damaged").count(), 4);
    let third = stage.sweep(&["-f", "jsonl"]);
    assert!(stderr(&third).contains("4 from the cache"));
}

#[test]
fn a_cache_that_cannot_be_written_costs_only_the_cache() {
    let stage = Stage::new(1, 4, 2);
    let good = stdout(&stage.sweep(&["-f", "jsonl", "--no-cache"]));
    fs::create_dir_all(stage.path("blocked")).unwrap();
    // A file where a directory should be: nobody can write below it, not even root.
    fs::write(stage.path("blocked/facts"), "").unwrap();
    let blocked = stage.path("blocked");
    let output = stage.sweep(&[
        "-f",
        "jsonl",
        "--jobs",
        "1",
        "--cache",
        blocked.to_str().unwrap(),
    ]);
    assert_eq!(stdout(&output), good);
    let text = stderr(&output);
    assert_eq!(
        text.matches("the cache cannot be written").count(),
        1,
        "{text}"
    );
    assert!(text.contains("results are complete"), "{text}");

    let inside = stage
        .bench
        .experiments()
        .join("T01-codex-gpt-5_4-long-20260101/c");
    let refused = stage.sweep(&["--cache", inside.to_str().unwrap()]);
    assert_eq!(refused.status.code(), Some(64));
    assert!(
        stderr(&refused).contains("lies in the run"),
        "{}",
        stderr(&refused)
    );
    assert!(files(&inside).is_empty());
}

#[test]
fn a_run_that_vanishes_is_one_row() {
    use std::sync::atomic::AtomicBool;
    use trace_audit::audit::Auditor;
    use trace_audit::experiment::discover::Options;
    use trace_audit::report::Lang;
    use trace_audit::rules::RuleSet;
    use trace_audit::sweep::evaluator::Evaluations;
    use trace_audit::sweep::plan::{Choice, Filter, Plan};
    use trace_audit::sweep::run::Sweep;
    use trace_audit::sweep::select::select;
    use trace_audit::verdict::policy::Policy;

    let stage = Stage::new(1, 4, 2);
    let found = select(&[stage.bench.experiments()], None).unwrap().found;
    let (options, policy) = (Options::default(), Policy::default());
    let choice = Choice {
        filter: &Filter::default(),
        shard: None,
        passing_first: false,
        evaluations: &Evaluations::new(&[]).unwrap(),
        options: &options,
        config: None,
    };
    let plan = Plan::new(&found, &choice).unwrap();
    fs::remove_dir_all(&plan.runs[1].path).unwrap();
    let rules = RuleSet::load(&[]).unwrap();
    let sweep = Sweep {
        auditor: &Auditor::new(&rules, &policy, Lang::En),
        options: &options,
        cache: None,
        jobs: 2,
        stop: &AtomicBool::new(false),
    };
    let mut errors = Vec::new();
    let mut each = |entry: trace_audit::sweep::entry::Entry| {
        errors.push(entry.facts().is_none());
        Ok::<(), ()>(())
    };
    let ended = sweep.run(&plan, &mut |_| {}, &mut each).unwrap();
    assert_eq!(errors, [false, true, false, false]);
    assert!(!ended.stopped && ended.finished == 4);
}

#[cfg(unix)]
#[test]
fn a_closed_directory_is_one_row() {
    use std::os::unix::fs::PermissionsExt;
    let stage = Stage::new(1, 4, 2);
    let run = stage
        .bench
        .experiments()
        .join("T01-codex-gpt-5_4-long-20260101");
    let folder = stage.bench.experiments().join("closed");
    fs::create_dir(&folder).unwrap();
    for dir in [&run, &folder] {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o0)).unwrap();
    }
    if fs::read_dir(&run).is_ok() {
        eprintln!("skipped: this user may read everything");
        return;
    }
    let output = stage.sweep(&["-f", "jsonl"]);
    for dir in [&run, &folder] {
        fs::set_permissions(dir, fs::Permissions::from_mode(0o755)).unwrap();
    }
    assert_eq!(stdout(&output).lines().count(), 5);
    assert_eq!(
        stdout(&output).matches("chmod u+rx").count(),
        2,
        "{}",
        stdout(&output)
    );
    assert_eq!(output.status.code(), Some(0));
    let strict = stage.sweep(&["--strict-errors"]);
    assert_eq!(strict.status.code(), Some(0));
}
