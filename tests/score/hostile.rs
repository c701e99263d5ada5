//! Input that is broken, or wants to break something.

use std::path::Path;

use proptest::prelude::*;
use trace_audit::score::read;
use trace_audit::score::standing::Standings;

use crate::common::{Case, file, profile};
use crate::small::sample;

const HEAD: &str = "run,task,agent,evaluator,verdict,score_a,score_b,score_c\n";

fn message(dir: &Path, content: impl AsRef<[u8]>) -> String {
    let path = file(dir, "t.csv", content);
    let error = read::load(&[path], &profile())
        .map(|s| s.runs.len())
        .unwrap_err();
    assert_eq!(error.exit_code(), 65, "{error}");
    error
        .to_string()
        .replace(&format!("{}/", dir.display()), "")
}

#[test]
fn faults_name_file_line_and_remedy() {
    let dir = tempfile::tempdir().unwrap();
    let good = "r1,t1,a,ash,PASS,1,2,3\n";
    for (text, words) in [
        (String::new(), "t.csv:1: is empty"),
        (HEAD.into(), "t.csv: holds no rows"),
        (
            "a,b\n1,2\n".into(),
            "t.csv:1: has no column with verdicts; its columns are: a, b",
        ),
        (
            format!("{HEAD}{good}r2,t1,a,ash,GREAT,1,2,3\n"),
            "t.csv:3: `GREAT` is not a known verdict; known are: FAIL, PARTIAL, PASS",
        ),
        (
            format!("{HEAD}{good}r2,t1,a,ash,INVALID,1,2,3\n"),
            "t.csv:3: `INVALID` is not a known verdict",
        ),
        (
            format!("{HEAD}{good}r1,t1,a,ash,FAIL,1,2,3\n"),
            "t.csv:3: run r1, judge ash: FAIL here, PASS there (t.csv:2)",
        ),
        (
            format!("{HEAD}{good}r1,t1,a,ash,PASS,1,2,4\n"),
            "t.csv:3: run r1, judge ash: PASS with 7 points here, PASS with 6 points there (t.csv:2)",
        ),
        (
            format!("{HEAD}{good}r1,t2,a,elm,PASS,1,2,3\n"),
            "t.csv:3: run r1: task is `t2` here, `t1` there (t.csv:2)",
        ),
        (
            format!("{HEAD}{good}r1/,t1,b,elm,PASS,1,2,3\n"),
            "t.csv:3: run r1: agent is `b` here, `a` there (t.csv:2)",
        ),
        (
            format!("{HEAD}{good}r2,t1,a,ash,PASS,1,2\n"),
            "t.csv:3: has 7 fields where the header has 8",
        ),
        (
            format!("{HEAD}{good}r2,t1,a,ash,PASS,1,x,3\n"),
            "t.csv:3: field 7: `x` is not a plain decimal number",
        ),
        (
            format!("{HEAD}{good}r2,t1,a,ash,PASS,1,NaN,3\n"),
            "`NaN` is not a plain decimal number",
        ),
        (
            format!("{HEAD}{good}r2,t1,a,,PASS,1,2,3\n"),
            "t.csv:3: has a verdict and no judge",
        ),
        (
            format!("{HEAD}{good}r2,,a,ash,PASS,1,2,3\n"),
            "t.csv:3: says nothing about the task of run `r2`",
        ),
        (
            format!("{HEAD}{good}r2,t1,\"a\nb\",ash,PASS,1,2,3\n"),
            "t.csv:3: field 3 holds a control character",
        ),
        (
            format!("{HEAD}{good}r2,t1,a\0,ash,PASS,1,2,3\n"),
            "t.csv:3: field 3 holds a control character",
        ),
        (
            format!("{HEAD}{good}r2,t1,{},ash,PASS,1,2,3\n", "x".repeat(600)),
            "t.csv:3: field 3 is longer than 512",
        ),
        (
            format!("{HEAD}{good}\"r2,t1,a,ash,PASS,1,2,3\n{good}"),
            "t.csv:3: opens a quote that is never closed",
        ),
        (
            format!("{HEAD}{good}\"r2\"x,t1,a,ash,PASS,1,2,3\n"),
            "t.csv:3: has text after a closing quote",
        ),
        (
            format!("{HEAD}{}", "x".repeat(2 << 20)),
            "t.csv:2: has a field of more than",
        ),
        (
            format!("verdict,VERDICT,task,agent\n{good}"),
            "t.csv:1: has two columns named `verdict`",
        ),
        (
            "x_verdict,x_verdict,task,agent\n".into(),
            "t.csv:1: has two columns named `x_verdict`",
        ),
        (",".repeat(5000), "t.csv:1: has more than 4096 fields"),
    ] {
        let got = message(dir.path(), &text);
        assert!(got.contains(words), "{words}\n{got}");
        assert!(got.lines().count() == 2, "a remedy: {got}");
    }
    let latin = message(
        dir.path(),
        format!("{HEAD}r2,t1,")
            .bytes()
            .chain(*b"caf\xe9,ash,PASS,1,2,3\n")
            .collect::<Vec<u8>>(),
    );
    assert!(latin.contains("t.csv:2: field 3 is not UTF-8"), "{latin}");
    let utf16 = message(dir.path(), b"\xff\xfer\0u\0n\0");
    assert!(utf16.contains("t.csv:1: is UTF-16"), "{utf16}");
}

#[test]
fn two_files_that_contradict_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let a = file(
        dir.path(),
        "a.csv",
        format!("{HEAD}r1,t1,a,glm,PASS,1,2,3\n"),
    );
    // Only after the other spelling of the judge is known is this the same rating.
    let b = file(
        dir.path(),
        "b.csv",
        format!("{HEAD}r1,t1,a,opencode-glm-5.1,FAIL,1,2,3\n"),
    );
    let text = read::load(&[a, b], &profile()).unwrap_err().to_string();
    assert!(
        text.contains("b.csv:2: run r1, judge glm: FAIL here, PASS there")
            && text.contains("a.csv:2)"),
        "{text}"
    );
}

#[test]
fn missing_inputs() {
    let dir = tempfile::tempdir().unwrap();
    let load = |path: std::path::PathBuf| read::load(&[path], &profile()).unwrap_err();
    let missing = load(dir.path().join("none.csv"));
    assert_eq!(missing.exit_code(), 66);
    assert!(missing.to_string().contains("there is no such file"));
    let empty = load(dir.path().into());
    assert!(
        empty.to_string().contains("holds no evaluator reports"),
        "{empty}"
    );
    assert_eq!(
        read::audit::load(&[dir.path().join("a.jsonl")])
            .unwrap_err()
            .exit_code(),
        66
    );
    // A rule that can never say PASS would make every rate 0.
    let table = file(dir.path(), "one.csv", "task,agent,verdict\nt1,a,PASS\n");
    let scores = read::load(&[table], &profile()).unwrap();
    let standings = Standings::new(&[&scores], None, &[], &profile()).unwrap();
    let options = Case::of(Default::default()).options;
    let error =
        trace_audit::score::analysis::analyse(&scores, None, standings, None, options, None)
            .unwrap_err();
    assert_eq!(error.exit_code(), 64);
    assert!(
        error.to_string().contains("--panel pass=1,fail=1"),
        "{error}"
    );
}

#[cfg(unix)]
#[test]
fn links_among_reports_are_not_followed() {
    let dir = tempfile::tempdir().unwrap();
    let secret = file(dir.path(), "secret", "Verdict: PASS\n");
    let runs = dir.path().join("runs");
    let run = runs.join("A1-amber-long-20310502");
    std::fs::create_dir_all(&run).unwrap();
    file(&run, "eval_report-ash.md", "Verdict: FAIL\n");
    std::os::unix::fs::symlink(&secret, run.join("eval_report-elm.md")).unwrap();
    std::os::unix::fs::symlink(&run, runs.join("A2-amber-long-20310502")).unwrap();
    let scores = read::load(&[runs], &profile()).unwrap();
    assert_eq!(
        (
            scores.runs.len(),
            scores.ratings(),
            scores.notes.skipped_files
        ),
        (1, 1, 1)
    );
}

#[test]
fn runs_marked_as_taken_out_are_listed_and_left_out() {
    let dir = tempfile::tempdir().unwrap();
    let table = file(
        dir.path(),
        "t.csv",
        format!(
            "{HEAD}A1-amber-long-INVALID,A1,amber,ash,PASS,5,5,5\nA1-amber-long,A1,amber,ash,FAIL,1,1,1\nA1-birch-long,A1,birch,ash,PASS,5,5,5\n"
        ),
    );
    let case = Case::new(&[table]).rule(1, 1);
    let analysis = case.analysis();
    let (before, after) = (analysis.before().unwrap(), analysis.after().unwrap());
    assert_eq!(
        (before.selection.runs.len(), after.selection.runs.len()),
        (3, 2)
    );
    let text = case.report("text");
    assert!(text.contains("its name marks it as taken out"), "{text}");
}

/// The bytes with some of them changed, doubled or cut off.
fn damage(bytes: &[u8], changes: &[(usize, u8, u8)]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (at, kind, byte) in changes {
        let at = at % bytes.len().max(1);
        match kind % 4 {
            0 => bytes.insert(at, *byte),
            1 => bytes.truncate(at.max(1)),
            2 => drop(bytes.drain(at..(at + 7).min(bytes.len()))),
            _ => {
                if let Some(b) = bytes.get_mut(at) {
                    *b = *byte;
                }
            }
        }
    }
    bytes
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever is done to a table or an audit, the answer is a report or an error, never a panic; and
    /// a report never counts more than there is.
    #[test]
    fn damaged_inputs(
        table in proptest::collection::vec((any::<usize>(), any::<u8>(), prop_oneof![Just(b'"'), Just(b','), Just(b'\n'), any::<u8>()]), 0..4),
        audit in proptest::collection::vec((any::<usize>(), any::<u8>(), any::<u8>()), 0..3),
        wide in any::<bool>(),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let name = if wide { "wide.csv" } else { "long.csv" };
        let bytes = std::fs::read(sample(name)).unwrap();
        let path = file(dir.path(), "t.csv", damage(&bytes, &table));
        let bytes = std::fs::read(sample("audit.jsonl")).unwrap();
        let audits = read::audit::load(&[file(dir.path(), "a.jsonl", damage(&bytes, &audit))]);
        if let Ok(scores) = read::load(&[path], &profile()) {
            prop_assert!(scores.ratings() <= 48);
            let mut case = Case::of(scores).rule(1, 1);
            case.audits = audits.ok();
            if case.scores.ratings() > 0 {
                for format in trace_audit::score::report::FORMATS {
                    prop_assert!(!case.report(format.name()).is_empty());
                }
            }
        }
    }
}
