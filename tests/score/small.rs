//! The small sample tables: every number is worked out by hand.

use std::path::{Path, PathBuf};

use trace_audit::score::analysis::analyse;
use trace_audit::score::read;
use trace_audit::score::report;
use trace_audit::score::sensitivity::Thresholds;
use trace_audit::score::standing::{Standing, Standings};
use trace_audit::score::treatments::{Level, Policy};
use trace_audit::verdict::measures::Verdict;

use crate::common::{Case, by_agent, file, profile, six};

pub(crate) fn sample(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/score/samples")
        .join(name)
}

/// The sample with its audit and its rerun.
pub(crate) fn audited() -> Case {
    let mut case = Case::new(&[sample("long.csv")]);
    case.audits = Some(read::audit::load(&[sample("audit.jsonl")]).unwrap());
    case.reruns = Some(read::load(&[sample("reruns.csv")], &profile()).unwrap());
    case
}

#[test]
fn treatments_of_the_sample() {
    let case = audited();
    let analysis = case.analysis();
    let got: Vec<(Level, Policy, usize, Vec<u64>, u64)> = analysis
        .treated
        .iter()
        .map(|t| {
            let rows = t.table(trace_audit::score::tables::By::Agent);
            (
                t.selection.level,
                t.selection.policy,
                t.selection.runs.len(),
                rows.iter().map(|r| r.rank.unwrap()).collect(),
                t.common_items,
            )
        })
        .collect();
    use Level::{All, Harness, Inconclusive, Invalid, Partial};
    use Policy::{Drop, Substitute};
    assert_eq!(
        got,
        [
            (All, Drop, 12, vec![1, 2, 3], 4),
            (Harness, Drop, 11, vec![1, 2, 3], 3),
            (Harness, Substitute, 11, vec![1, 2, 3], 3),
            (Invalid, Drop, 10, vec![1, 2, 3], 2),
            // The rerun failed: 1 of 4 each.
            (Invalid, Substitute, 11, vec![1, 1, 3], 3),
            (Partial, Drop, 9, vec![1, 1, 3], 1),
            (Partial, Substitute, 10, vec![2, 1, 3], 2),
            (Inconclusive, Drop, 8, vec![1, 1, 3], 0),
            (Inconclusive, Substitute, 9, vec![2, 1, 3], 1),
        ]
    );
    let after = analysis.after().unwrap();
    assert_eq!(by_agent(after, false)[0], "amber 4 1/1/2 25.000 6.6250 #1");
    assert_eq!(by_agent(after, false)[2], "cedar 3 0/2/1 0.000 6.8333 #3");
    let spans: Vec<_> = analysis
        .spans
        .iter()
        .map(|s| (s.best.unwrap(), s.worst.unwrap(), s.unranked))
        .collect();
    assert_eq!(spans, [(1, 2, 0), (1, 2, 0), (1, 3, 0)]);
    assert!(
        matches!(&analysis.thresholds, Thresholds::NotComputed(why) if why.contains("measures"))
    );
    // Tau of (1, 2, 3) and (1, 1, 3): two of three pairs agree, one is tied.
    assert!((after.tau_b.unwrap() - 0.816_496_58).abs() < 1e-8);
}

#[test]
fn every_form_of_the_table_says_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let long = std::fs::read_to_string(sample("long.csv")).unwrap();
    let (header, rows) = long.split_once('\n').unwrap();
    let mut shuffled: Vec<&str> = rows.lines().collect();
    shuffled.reverse();
    // Rows upside down, CRLF, a byte-order mark, the header again, one row twice, another spelling of
    // a judge, an unused column with bytes that are no text, blanks around a cell.
    let mut messy = format!("\u{feff}{header},note\r\n{header},note\r\n").into_bytes();
    for (n, row) in shuffled.iter().enumerate() {
        let row = row
            .replace(",fir,", ",opencode-glm-5.1,")
            .replace(",PASS,", ", pass ,");
        messy.extend(format!("{row},").bytes().chain(*b"\xff\x00\r\n"));
        if n == 5 {
            messy.extend(format!("{row},again\r\n\r\n").bytes());
        }
    }
    let messy = file(dir.path(), "messy.csv", messy);
    let tabs = file(dir.path(), "tabs.tsv", long.replace(',', "\t"));
    let expected = Case::new(&[sample("long.csv")]);
    for (path, judge) in [(sample("wide.csv"), "fir"), (messy, "glm"), (tabs, "fir")] {
        let case = Case::new(std::slice::from_ref(&path));
        let (a, b) = (case.analysis(), expected.analysis());
        let (got, want) = (a.before().unwrap(), b.before().unwrap());
        assert_eq!(
            by_agent(got, false),
            by_agent(want, false),
            "{}",
            path.display()
        );
        assert_eq!(got.agreement.fleiss, want.agreement.fleiss);
        assert!(case.scores.judges.contains(judge));
    }
    let case = Case::new(&[dir.path().join("messy.csv")]);
    let notes = case.analysis().notes.join("\n");
    for words in [
        "1 header lines",
        "1 ratings read more than once",
        "judge opencode-glm-5.1 is read as glm (12 times)",
    ] {
        assert!(notes.contains(words), "{words} in:\n{notes}");
    }
}

#[test]
fn reports_give_the_same_as_tables() {
    let dir = tempfile::tempdir().unwrap();
    let wide = std::fs::read_to_string(sample("wide.csv")).unwrap();
    for row in wide.lines().skip(1) {
        let cells: Vec<&str> = row.split(',').collect();
        let run = dir.path().join(cells[0]);
        std::fs::create_dir(&run).unwrap();
        std::fs::create_dir(run.join("eval_report-deep.md")).unwrap();
        file(&run, "._eval_report-ash.md", "\0\0");
        file(&run, "notes.md", "Verdict: PASS");
        for (judge, cells) in ["ash", "elm", "fir", "oak"]
            .iter()
            .zip(cells[4..].chunks(4))
        {
            if cells[0].is_empty() {
                continue;
            }
            let [verdict, a, b, c] = cells else { panic!() };
            let text = format!(
                "# Report\n\n## 5. Verdict: **{verdict}**\n\n- **A. Functional Correctness**: {a}/5 — fine\n\
                 ### B. Completeness & Coverage: {b} / 5\n| C. Behavioral Equivalence | {c} | words |\n"
            );
            file(&run, &format!("eval_report-{judge}.md"), text);
        }
    }
    let case = Case::new(&[dir.path().into()]);
    let expected = Case::new(&[sample("long.csv")]);
    let (a, b) = (case.analysis(), expected.analysis());
    assert_eq!(
        by_agent(a.before().unwrap(), false),
        by_agent(b.before().unwrap(), false)
    );
    // Twelve directories that are named like reports.
    assert_eq!(case.scores.notes.skipped_files, 12);
    // One run, and one file.
    let run = dir.path().join("A1-birch-long-20310502");
    for path in [run.clone(), run.join("eval_report-ash.md")] {
        let scores = read::load(&[path], &profile()).unwrap();
        assert_eq!(
            scores.runs.keys().collect::<Vec<_>>(),
            ["A1-birch-long-20310502"]
        );
    }
}

#[test]
fn any_csv_with_named_columns() {
    let dir = tempfile::tempdir().unwrap();
    let table = file(
        dir.path(),
        "t.csv",
        "id;who;resolved\nx__y-1;amber;yes\nx__y-2;amber;no\nx__y-1;birch;no\n",
    );
    let config = file(
        dir.path(),
        "p.toml",
        "schema = 1\n[columns]\ntask = [\"id\"]\nagent = [\"who\"]\nverdict = [\"resolved\"]\n\
         [verdicts]\nyes = \"pass\"\nno = \"fail\"\n[panel]\npass = 1\nfail = 1\n",
    );
    let profile = trace_audit::score::profile::Profile::with_file(&config).unwrap();
    let case = Case::of(read::load(&[table], &profile).unwrap())
        .rule(profile.panel.pass, profile.panel.fail);
    let analysis = case.analysis();
    assert_eq!(
        by_agent(analysis.before().unwrap(), false),
        [
            "amber 2 1/0/1 50.000 null #1",
            "birch 1 0/0/1 0.000 null #2"
        ]
    );
    assert_eq!(case.scores.runs.keys().next().unwrap(), "x__y-1-amber");
    assert_eq!(
        six(
            analysis.before().unwrap().agreement.fleiss.value.as_ref(),
            6
        ),
        "null"
    );
}

/// Other thresholds through the hook: the numbers come from the audit, the judging from a closure.
#[test]
fn thresholds_move_the_ranking() {
    let dir = tempfile::tempdir().unwrap();
    // How much of the reference is in the patch, out of 100; the imagined audit calls 50 invalid.
    let line = |run: &str, u: u64| {
        let verdict = if u >= 50 { "invalid" } else { "clean" };
        format!("{{\"run\":\"{run}\",\"verdict\":\"{verdict}\",\"measures\":{{\"u\":{u}}}}}\n")
    };
    let audit = [
        ("A1-amber-long-20310502", 45),
        ("A4-amber-long-20310502", 10),
        ("A1-birch-long-20310502", 55),
    ];
    let audit: String = audit.iter().map(|(run, u)| line(run, *u)).collect();
    let audits = read::audit::load(&[file(dir.path(), "a.jsonl", audit)]).unwrap();
    let case = Case::new(&[sample("long.csv")]);
    let judge = |run: &read::audit::AuditedRun, scale: f64| {
        let u = run.measures.as_ref()?.get("u")?.as_u64()? as f64;
        let verdict = if u >= 50.0 * scale {
            Verdict::Invalid
        } else {
            Verdict::Clean
        };
        Some(Standing::of_verdict(Some(verdict), false))
    };
    let standings = Standings::new(&[&case.scores], Some(&audits), &[], &profile()).unwrap();
    let result = analyse(
        &case.scores,
        None,
        standings.clone(),
        Some(&audits),
        case.options,
        Some(&judge),
    )
    .unwrap();
    let Thresholds::Computed { spans, changed, .. } = &result.thresholds else {
        panic!()
    };
    // At 40 one more is invalid (amber's 45), at 60 birch's 55 is not.
    assert_eq!(changed, &[(0.8, 1), (1.2, 1)]);
    let span = |spans: &[trace_audit::score::sensitivity::Span], i: usize| {
        (spans[i].best.unwrap(), spans[i].worst.unwrap())
    };
    assert_eq!((span(&result.spans, 1), span(spans, 1)), ((2, 2), (2, 2)));
    // Without its PASS birch shares the last rank already; amber keeps the first everywhere.
    assert_eq!((span(&result.spans, 2), span(spans, 0)), ((2, 3), (1, 1)));
    assert!(result.depends_on_auditor());
    let mut json = Vec::new();
    report::by_name("json")
        .unwrap()
        .write(&result, &mut json)
        .unwrap();
    assert_eq!(
        crate::formats::schema_errors(std::str::from_utf8(&json).unwrap()),
        [""; 0]
    );

    // One run without numbers: said, not guessed.
    let none = |_: &read::audit::AuditedRun, _: f64| None;
    let result = analyse(
        &case.scores,
        None,
        standings,
        Some(&audits),
        case.options,
        Some(&none),
    )
    .unwrap();
    assert!(
        matches!(&result.thresholds, Thresholds::NotComputed(why) if why.contains("A1-amber-long-20310502"))
    );
}

/// An agent that lacks tasks has another rank over the common items, which is not the auditor's doing.
#[test]
fn a_gap_in_the_table_is_not_the_auditors_doing() {
    let dir = tempfile::tempdir().unwrap();
    let table = file(
        dir.path(),
        "t.csv",
        "task,agent,verdict\nt1,amber,FAIL\nt2,amber,PASS\nt3,amber,PASS\nt1,birch,PASS\nt2,birch,FAIL\n\
         t1,cedar,PASS\nt2,cedar,PASS\nt4,cedar,PASS\nt4,dogwood,FAIL\nt1,dogwood,FAIL\nt2,dogwood,FAIL\n",
    );
    let case = Case::new(&[table]).rule(1, 1).exclude(&["t4-dogwood"]);
    let analysis = case.analysis();
    let amber = &analysis.spans[0];
    // 2 of 3 against 1 of 2; over t1 and t2 both have one.
    assert_eq!((amber.best, amber.worst), (Some(2), Some(2)));
    let birch = &analysis.spans[1];
    assert_eq!((birch.best, birch.worst), (Some(2), Some(3)));
    assert!(!analysis.depends_on_auditor());
    assert!(case.report("text").contains("differ from the start"));
}

#[test]
fn an_audit_of_other_runs_is_said_first() {
    let mut case = audited();
    let audits = case.audits.take().unwrap();
    case.audits = Some(
        audits
            .into_values()
            .map(|mut run| {
                run.run = format!("other-{}", run.run);
                (run.run.clone(), run)
            })
            .collect(),
    );
    let notes = case.analysis().notes.join("\n");
    let words = "no run of the audit is a run of the score table";
    assert!(notes.contains(words), "{notes}");
    assert!(!audited().analysis().notes.join("\n").contains(words));
}
