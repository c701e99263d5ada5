//! The same bytes for any number of jobs, order, state of the cache and division into shards.

use std::fs;

use crate::{Stage, stderr, stdout};

const FORMATS: [&[&str]; 5] = [
    &["-f", "jsonl"],
    &["-f", "json"],
    &["-f", "markdown", "--lang", "zh"],
    &["-f", "text", "-v"],
    &["-f", "jsonl", "--passing"],
];

#[test]
fn the_same_bytes_in_every_way() {
    let stage = Stage::new(3, 12, 8);
    let one = stage
        .bench
        .experiments()
        .join("T02-claude-opus-max-long-20260101");
    fs::write(
        one.join("eval_report-x.md"),
        "Verdict: PASS\nIt is byte-identical.",
    )
    .unwrap();
    // One that cannot be judged belongs to the result like any other.
    fs::write(stage.path("experiment/broken.txt"), "").unwrap();
    let mut list: Vec<String> = fs::read_dir(stage.bench.experiments())
        .unwrap()
        .map(|entry| entry.unwrap().path().display().to_string() + "/")
        .filter(|path| !path.contains("broken"))
        .collect();
    list.sort();
    list.reverse();
    list.push("/gone/T09-codex-gpt-5_4-long-20260101/".to_owned());
    let list_file = stage.path("list.txt");
    fs::write(&list_file, list.join("\n")).unwrap();
    let list_file = list_file.to_str().unwrap();

    for format in FORMATS {
        let run = |more: &[&str]| {
            let mut args = vec!["sweep", list_file];
            args.extend(format);
            args.extend(more);
            let output = stage.run(&args);
            assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
            stdout(&output)
        };
        let whole = run(&["--no-cache", "--jobs", "1"]);
        assert!(whole.lines().count() > 5);
        for more in [
            &["--no-cache", "--jobs", "7"][..],
            &["--jobs", "3"],
            &["--jobs", "2"],
            &["--trust", "content"],
            &["--trust", "content"],
        ] {
            assert_eq!(run(more), whole, "{format:?} {more:?}");
        }
        let mut parts = Vec::new();
        for shard in ["3/3", "1/3", "2/3"] {
            let part = stage.path(&format!("part-{}.facts", &shard[..1]));
            let part = part.to_str().unwrap().to_owned();
            let mut args = vec!["sweep", list_file, "--shard", shard, "-o", &part];
            args.extend(format.contains(&"--passing").then_some("--passing"));
            let output = stage.run(&args);
            assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
            parts.push(part);
        }
        let mut args = vec!["merge"];
        args.extend(parts.iter().map(String::as_str));
        args.extend(format);
        let merged = stage.run(&args);
        assert_eq!(merged.status.code(), Some(2));
        assert_eq!(stdout(&merged), whole, "{format:?}");
    }
}

#[test]
fn files_are_written_whole_or_not_at_all() {
    let stage = Stage::new(1, 2, 2);
    let out = stage.path("out.jsonl");
    let name = out.to_str().unwrap();
    let output = stage.sweep(&["-f", "jsonl", "-o", name, "-q"]);
    assert_eq!(output.status.code(), Some(0), "{}", stderr(&output));
    assert_eq!(
        fs::read_to_string(&out).unwrap(),
        stdout(&stage.sweep(&["-f", "jsonl"]))
    );
    assert!(output.stderr.is_empty() && output.stdout.is_empty());
    assert!(!stage.path("out.jsonl.partial").exists());
    #[cfg(target_os = "linux")]
    {
        let full = stage.sweep(&["-f", "jsonl", "-o", "/dev/full"]);
        assert_eq!(full.status.code(), Some(74));
        assert!(stderr(&full).contains("No space left"), "{}", stderr(&full));
    }
}

#[test]
fn a_second_sweep_reads_only_what_changed() {
    let stage = Stage::new(2, 6, 4);
    let from_cache = |args: &[&str]| {
        let output = stage.sweep(args);
        let text = stderr(&output);
        let last = text
            .lines()
            .rfind(|l| l.contains("runs/s"))
            .unwrap()
            .to_owned();
        let (_, count) = last.rsplit_once(", ").unwrap();
        count
            .strip_suffix(" from the cache")
            .map_or(0, |n| n.parse::<u32>().unwrap())
    };
    assert_eq!(from_cache(&[]), 0);
    assert_eq!(from_cache(&[]), 6);
    assert_eq!(from_cache(&["--trust", "content"]), 0);
    assert_eq!(from_cache(&["--trust", "content"]), 6);
    std::thread::sleep(std::time::Duration::from_millis(20));
    let run = stage
        .bench
        .experiments()
        .join("T01-codex-gpt-5_4-long-20260101");
    let trace = run.join("codex_events.jsonl");
    let old = fs::read(&trace).unwrap();
    // One byte, and the size stays.
    let mut new = old.clone();
    let at = new.len() / 2;
    new[at] = if new[at] == b'x' { b'y' } else { b'x' };
    fs::write(&trace, &new).unwrap();
    assert_eq!(from_cache(&[]), 5);
    assert_eq!(from_cache(&["--trust", "content"]), 5);
    fs::write(&trace, old).unwrap();
    assert_eq!(from_cache(&["--trust", "content"]), 6);
    // The answer of a task belongs to all its runs.
    let gt = stage.path("base_repo/T02/eval/gt_diff.patch");
    let text = fs::read_to_string(&gt).unwrap();
    fs::write(&gt, text.replacen("self.", "this.", 1)).unwrap();
    assert_eq!(from_cache(&["--trust", "content"]), 3);
    // Another policy judges the same facts.
    assert_eq!(from_cache(&["--trust", "content", "--policy", "strict"]), 6);
}

/// A member that is not stored would be lost in every cache and shard; this finds it.
#[test]
fn facts_survive_storing() {
    use trace_audit::audit::{Auditor, RunFacts};
    use trace_audit::experiment::config::Config;
    use trace_audit::experiment::discover::{Options, discover};
    use trace_audit::report::Lang;
    use trace_audit::rules::RuleSet;
    use trace_audit::verdict::policy::Policy;

    let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("samples/experiment");
    let rules = RuleSet::load(&[]).unwrap();
    let policy = Policy::default();
    let auditor = Auditor::new(&rules, &policy, Lang::En);
    let mut findings = 0;
    for entry in fs::read_dir(samples).unwrap() {
        let run = entry.unwrap().path();
        let config = Config::find(Some(&run), None).unwrap();
        let inputs = discover(Some(&run), &Options::default(), &config).unwrap();
        let mut facts = auditor.facts(&inputs).unwrap();
        let stored = trace_audit::stored::whole(|| serde_json::to_string(&facts)).unwrap();
        let back: RunFacts = serde_json::from_str(&stored).unwrap();
        // What is left out on purpose.
        if let Some(comparison) = &mut facts.comparison {
            comparison.lines.clear();
        }
        if let Some(provenance) = &mut facts.provenance {
            provenance.typed_lines.clear();
        }
        for file in facts.trace.iter_mut().flat_map(|t| &mut t.files) {
            file.path = Default::default();
        }
        assert_eq!(format!("{back:#?}"), format!("{facts:#?}"));
        findings += facts.rules.findings.len();
    }
    assert!(findings > 0);
}
