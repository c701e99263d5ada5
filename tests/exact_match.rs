//! Exact-match audit of submissions: the published numbers on real files where they are at hand, and
//! hostile files.

#![allow(clippy::unwrap_used, clippy::panic, clippy::print_stdout)]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use trace_audit::submission::report::{FORMATS, Style, format};
use trace_audit::submission::tally::Duplicates;
use trace_audit::submission::{Audit, Options};

/// The real files, which are no part of the project.
fn shared() -> Option<PathBuf> {
    let path = Path::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../shared/data/swebench"
    ));
    if path.is_dir() {
        return Some(path.to_owned());
    }
    println!("skipped: {} is not there", path.display());
    None
}

fn options(root: &Path, gold: &[&str], predictions: &[&str]) -> Options {
    let paths = |names: &[&str]| names.iter().map(|name| root.join(name)).collect();
    Options {
        gold: paths(gold),
        predictions: paths(predictions),
        ..Options::default()
    }
}

const GOLD: &[&str] = &[
    "gold_verified.jsonl",
    "gold_lite.jsonl",
    "gold_fulltest_partial_extra.jsonl",
];

/// The report as JSON.
fn report(options: Options) -> Value {
    let audit = Audit::run(options).unwrap();
    let mut out = Vec::new();
    format("json")
        .unwrap()
        .write(&audit.report(), Style::default(), &mut out)
        .unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn submission<'a>(report: &'a Value, name: &str) -> &'a Value {
    report["submissions"]
        .as_array()
        .unwrap()
        .iter()
        .find(|s| s["name"] == name)
        .unwrap_or_else(|| panic!("no submission {name}"))
}

#[test]
fn every_row_as_python_says() {
    let Some(root) = shared() else { return };
    let mut gold = GOLD.to_vec();
    gold.push("gold_pro.jsonl");
    let audit = Audit::run(Options {
        compat: true,
        ..options(&root, &gold, &["preds", "honeycomb_like.jsonl"])
    })
    .unwrap();
    let report = audit.report();
    let mut ours: BTreeMap<&str, Vec<(String, &str)>> = BTreeMap::new();
    for submission in &report.submissions {
        let rows = ours.entry(submission.name.as_str()).or_default();
        for row in submission.compat.as_ref().unwrap() {
            rows.push((digest(&row.instance_id), row.outcome));
        }
    }
    let mut theirs: BTreeMap<&str, Vec<(String, &str)>> = BTreeMap::new();
    let mut name = "";
    for line in include_str!("exact_match/reference.tsv").lines() {
        if let Some(next) = line.strip_prefix("> ") {
            name = next;
        } else {
            let (id, outcome) = line.split_once('\t').unwrap();
            theirs
                .entry(name)
                .or_default()
                .push((id.to_owned(), outcome));
        }
    }
    assert_eq!(theirs.values().map(Vec::len).sum::<usize>(), 2_940);
    assert_eq!(
        ours.keys().collect::<Vec<_>>(),
        theirs.keys().collect::<Vec<_>>()
    );
    for (name, rows) in &theirs {
        for (at, (ours, theirs)) in ours[name].iter().zip(rows).enumerate() {
            assert_eq!(ours, theirs, "{name}, row {}", at + 1);
        }
        assert_eq!(ours[name].len(), rows.len(), "{name}");
    }
}

fn digest(id: &str) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(id.as_bytes())
        .iter()
        .take(6)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

#[test]
fn the_numbers_of_real_submissions() {
    let Some(root) = shared() else { return };
    let report = report(options(&root, GOLD, &["preds"]));
    // Name, rows, instances, and matches: published, with newline, without context, robust.
    for (name, rows, unique, matches) in [
        (
            "lite_full__20240402_sweagent_gpt4",
            302,
            299,
            [12, 12, 14, 16],
        ),
        ("lite_full__acr_run1_gpt4-0125", 249, 249, [5, 5, 9, 13]),
        ("lite_full__sweagent_run1", 271, 271, [6, 6, 6, 7]),
        ("lite_resolved__20240523_aider", 79, 79, [10, 10, 12, 15]),
        (
            "verified_full__vstorm_minimax_m25",
            486,
            486,
            [8, 54, 77, 95],
        ),
        (
            "verified_part__sonnet45_full_i0_run1",
            100,
            100,
            [13, 13, 17, 22],
        ),
        (
            "verified_part__sonnet45_full_i0_run2",
            100,
            100,
            [14, 14, 18, 21],
        ),
        (
            "verified_resolved__20240617_factory_code_droid",
            185,
            185,
            [22, 22, 25, 28],
        ),
        (
            "verified_resolved__20240628_autocoderover-v20240620",
            192,
            192,
            [28, 28, 33, 34],
        ),
        (
            "verified_resolved__20240509_amazon-q-developer-agent-20240430-dev",
            128,
            128,
            [0, 0, 28, 31],
        ),
    ] {
        let s = submission(&report, name);
        assert_eq!(
            (&s["rows"], &s["unique"]),
            (&json!(rows), &json!(unique)),
            "{name}"
        );
        let found =
            ["blog", "blog_newline", "no_context", "robust"].map(|rule| &s[rule]["matches"]);
        assert_eq!(found, matches.map(Value::from).each_ref(), "{name}");
        assert_eq!(s["denominator"], json!(unique), "{name}");
        // Honest work, as far as is known: nothing stands out, least of all large gold patches.
        assert_eq!(s["flags"], json!([]), "{name}");
        assert_eq!(s["large"]["robust"]["matches"], 0, "{name}");
    }
}

#[test]
fn what_is_counted_of_real_submissions() {
    let Some(root) = shared() else { return };
    let report = report(options(&root, GOLD, &["preds"]));
    let minimax = submission(&report, "verified_full__vstorm_minimax_m25");
    assert_eq!(minimax["empty"], 54);
    assert_eq!(minimax["unparsable"], 61);
    assert_eq!(
        minimax["unparsable_kinds"],
        json!({"hunk_shorter": {"count": 61, "repaired": 61}})
    );
    let sweagent = submission(&report, "lite_full__20240402_sweagent_gpt4");
    assert_eq!(sweagent["duplicates"], 3);
    assert_eq!(sweagent["all_rows"]["blog_matches"], 12);
    let population = &report["population"];
    assert_eq!(population["submissions"], 11);
    assert!(
        population["blog"]["beta_binomial"]["mean"]
            .as_f64()
            .unwrap()
            < 0.1
    );
    assert!(
        population["blog"]["tests"]
            .as_array()
            .unwrap()
            .iter()
            .all(|test| test["significant"] == false)
    );
}

#[test]
fn a_file_for_another_split_is_named_first() {
    let Some(root) = shared() else { return };
    for split in ["verified_ids.txt", "gold_verified.jsonl"] {
        let report = report(Options {
            split: Some(root.join(split)),
            ..options(&root, GOLD, &["honeycomb_like.jsonl"])
        });
        let s = &report["submissions"][0];
        assert_eq!(s["flags"][0]["flag"], "more_predictions_than_split");
        let text = s["flags"][0]["text"].as_str().unwrap();
        for part in [
            "787 predictions for a split of 500 instances",
            "8 of 486 (1.6 %) match inside",
            "301 of 301 (100.0 %) with a gold patch outside",
            "309 of 787 (39.3 %) of all rows",
        ] {
            assert!(text.contains(part), "{part}: {text}");
        }
        assert_eq!(s["flags"].as_array().unwrap().len(), 1);
        assert_eq!(
            (&s["rows"], &s["outside_split"]),
            (&json!(787), &json!(301))
        );
        assert_eq!(s["all_rows"]["blog_matches"], 309);
        assert_eq!(s["blog"]["matches"], 8);
        assert_eq!(s["blog_of_split"]["rate"], 0.016);
    }
    // Without a split everything counts, and the line of the post is crossed.
    let report = report(options(&root, GOLD, &["honeycomb_like.jsonl"]));
    let s = &report["submissions"][0];
    assert_eq!(s["blog"]["matches"], 309);
    let flags: Vec<&str> = s["flags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|flag| flag["flag"].as_str().unwrap())
        .collect();
    assert_eq!(flags, ["large_matches", "above_line"]);
}

/// A diff that adds `lines` lines to a file.
fn diff(path: &str, lines: &[&str]) -> String {
    let body: String = lines.iter().map(|line| format!("+{line}\n")).collect();
    format!(
        "diff --git a/{path} b/{path}\n--- a/{path}\n+++ b/{path}\n@@ -1,1 +1,{} @@\n first\n{body}",
        lines.len() + 1
    )
}

fn gold_rows(count: usize, lines: usize) -> Vec<Value> {
    (0..count)
        .map(|i| {
            let lines: Vec<String> = (0..lines).map(|n| format!("value_{n} = {i}")).collect();
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            json!({"instance_id": format!("org__repo-{i}"), "patch": diff("a.py", &lines),
                   "test_patch": diff("test_a.py", &["assert value"])})
        })
        .collect()
}

fn predict(id: &str, patch: impl Into<Value>) -> Value {
    json!({"instance_id": id, "model_patch": patch.into(), "model_name_or_path": "m"})
}

struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn rows(&self, name: &str, rows: &[Value]) -> &Self {
        let text: String = rows.iter().map(|row| format!("{row}\n")).collect();
        self.text(name, text)
    }

    fn text(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        let path = self.0.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
        self
    }

    fn options(&self, predictions: &[&str]) -> Options {
        options(self.0.path(), &["gold.jsonl"], predictions)
    }
}

#[test]
fn duplicates_empty_rows_and_broken_lines() {
    let files = Files::new();
    let gold = gold_rows(4, 2);
    let patch = |i: usize| gold[i]["patch"].clone();
    files.rows("gold.jsonl", &gold);
    let rows = [
        predict("org__repo-0", patch(0)),
        predict("org__repo-0", "other"),
        predict("org__repo-1", Value::Null),
        predict("org__repo-2", patch(2)),
        predict("org__repo-2", patch(2)),
        predict("nobody-1", patch(0)),
        gold[3].clone(),
    ];
    let mut text: String = rows.iter().map(|row| format!("{row}\n")).collect();
    text.push_str("{\"instance_id\": \"org__repo-3\", \"model_patch\": \"cut o");
    files.text("p.jsonl", text);
    for (rule, blog) in [
        (Duplicates::First, 2),
        (Duplicates::Last, 1),
        (Duplicates::Any, 2),
    ] {
        let report = report(Options {
            duplicates: rule,
            ..files.options(&["p.jsonl"])
        });
        let s = &report["submissions"][0];
        assert_eq!(s["blog"]["matches"], blog, "{rule:?}");
        assert_eq!(s["robust"]["matches"], blog, "{rule:?}");
        for (field, want) in [
            ("rows", 6),
            ("unique", 4),
            ("duplicates", 2),
            ("differing_duplicates", 1),
            ("outside_split", 1),
            ("broken_rows", 2),
            ("empty", 1),
            ("denominator", 3),
        ] {
            assert_eq!(s[field], want, "{field}");
        }
        assert_eq!(s["by_duplicates"]["first"], json!({"blog": 2, "robust": 2}));
        assert_eq!(s["all_rows"]["blog_matches"], 3);
        let problems = s["problems"]["listed"].as_array().unwrap();
        assert_eq!(problems[0]["line"], 7);
        assert!(problems[0]["what"].as_str().unwrap().contains("data set"));
        assert_eq!(problems[1]["line"], 8);
    }
}

#[test]
fn copies_of_large_gold_patches_raise_a_flag() {
    let files = Files::new();
    let gold = gold_rows(40, 20);
    files.rows("gold.jsonl", &gold);
    let rows: Vec<Value> = gold
        .iter()
        .enumerate()
        .map(|(i, row)| {
            // Three copies in disguise: no context, comments, no final newline.
            let copy = row["patch"].as_str().unwrap().replace(
                "@@ -1,1 +1,21 @@\n first\n",
                "@@ -1,0 +2,22 @@\n+# note\n+\n",
            );
            let honest = diff("a.py", &["solved = True"]);
            let patch = if i < 3 {
                copy.trim_end().to_owned()
            } else {
                honest
            };
            predict(row["instance_id"].as_str().unwrap(), patch)
        })
        .collect();
    files.rows("p.jsonl", &rows);
    files.text("r.json", r#"{"resolved": ["org__repo-0", "org__repo-9"]}"#);
    let report = report(Options {
        results: vec![files.0.path().join("r.json").display().to_string()],
        ..files.options(&["p.jsonl"])
    });
    let s = &report["submissions"][0];
    assert_eq!(
        (&s["blog"]["matches"], &s["robust"]["matches"]),
        (&json!(0), &json!(3))
    );
    let flags: Vec<&Value> = s["flags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| &f["flag"])
        .collect();
    assert_eq!(flags, ["large_matches", "matches_above_resolved"]);
    assert!(s["large"]["p_chance"].as_f64().unwrap() < 1e-3);
    assert_eq!(
        s["resolved"],
        json!({"instances": 2, "rate": 0.05, "unresolved_matches": 2})
    );
    let found = &s["matches"][0];
    assert_eq!(
        (&found["lines"], &found["resolved"]),
        (&json!(20), &json!(true))
    );
    assert!(
        found["hunks"][0]["hunks"]
            .as_str()
            .unwrap()
            .starts_with("@@ -1")
    );
}

#[test]
fn hidden_tests_are_counted_apart() {
    let files = Files::new();
    let gold = gold_rows(2, 3);
    files.rows("gold.jsonl", &gold);
    let with_tests = format!(
        "{}{}",
        diff("a.py", &["mine = 1"]),
        gold[0]["test_patch"].as_str().unwrap()
    );
    files.rows(
        "p.jsonl",
        &[
            predict("org__repo-0", with_tests),
            predict("org__repo-1", ""),
        ],
    );
    let report = report(files.options(&["p.jsonl"]));
    let s = &report["submissions"][0];
    assert_eq!(s["tests"], json!({"instances": 2, "matches": 1}));
    assert_eq!(s["robust"]["matches"], 0);
}

#[test]
fn an_outlier_among_many() {
    let files = Files::new();
    let gold = gold_rows(200, 2);
    files.rows("gold.jsonl", &gold);
    for submission in 0..12 {
        let copied = if submission == 11 {
            150
        } else {
            6 + submission
        };
        let rows: Vec<Value> = gold
            .iter()
            .enumerate()
            .map(|(i, row)| {
                let patch = if i < copied {
                    row["patch"].clone()
                } else {
                    json!("x")
                };
                predict(row["instance_id"].as_str().unwrap(), patch)
            })
            .collect();
        files.rows(&format!("subs/s{submission:02}/all_preds.jsonl"), &rows);
    }
    files.text("subs/s00/results.json", "{}");
    let report = report(files.options(&["subs"]));
    let population = &report["population"];
    assert_eq!(population["submissions"], 12);
    for rule in ["blog", "robust"] {
        assert_eq!(population[rule]["outliers"], json!(["s11"]), "{rule}");
        assert!(population[rule]["average_without"].as_f64().unwrap() < 0.06);
        assert!(population[rule]["average"].as_f64().unwrap() > 0.1);
        let significant: Vec<&Value> = population[rule]["tests"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|test| test["significant"] == true)
            .map(|test| &test["name"])
            .collect();
        assert_eq!(significant, ["s11"], "{rule}");
    }
    let flags: Vec<&Value> = submission(&report, "s11")["flags"]
        .as_array()
        .unwrap()
        .iter()
        .map(|flag| &flag["flag"])
        .collect();
    assert_eq!(flags, ["above_line", "outlier", "outlier"]);
    assert_eq!(submission(&report, "s05")["flags"], json!([]));
    let peers = |at: usize| submission(&report, "s11")["matches"][at]["peers"].clone();
    assert_eq!(peers(0), json!({"matching": 11, "of": 11}));
    assert_eq!(peers(149), json!({"matching": 0, "of": 11}));
}

#[test]
fn every_format_says_the_same_and_nothing_drives_the_reader() {
    let files = Files::new();
    let id = "=cmd|' /C x'!A0\u{1b}[2J\n<script>|`";
    let gold =
        json!({"instance_id": id, "patch": diff("\u{1b}]0;x\u{7}.py", &["\u{1b}[31mred", "```"])});
    files.rows(
        "gold.jsonl",
        &[
            gold.clone(),
            json!({"instance_id": 7, "patch": diff("b", &["b"])}),
        ],
    );
    files.rows(
        "p.jsonl",
        &[
            predict(id, gold["patch"].clone()),
            json!({"instance_id": 7, "model_patch": diff("b", &["c"])}),
        ],
    );
    let audit = Audit::run(files.options(&["p.jsonl"])).unwrap();
    let report = audit.report();
    for format in FORMATS {
        let mut out = Vec::new();
        format.write(&report, Style::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        let name = format.name();
        match name {
            "json" | "jsonl" => assert!(!text.contains('\u{1b}'), "{name}"),
            "csv" => {
                let mut table = csv::Reader::from_reader(text.as_bytes());
                let rows: Vec<_> = table.records().map(Result::unwrap).collect();
                assert_eq!(rows.len(), 1);
                assert!(rows[0][1].starts_with("'=cmd"));
            }
            _ => {
                assert!(
                    !text.contains('\u{1b}') && !text.contains('\u{7}'),
                    "{name}: {text}"
                );
                assert!(text.contains("red"), "{name}");
            }
        }
        if name == "markdown" {
            assert!(!text.contains("<script>"), "{text}");
        }
        let mut again = Vec::new();
        format.write(&report, Style::default(), &mut again).unwrap();
        assert_eq!(text.as_bytes(), again, "{name}");
    }
    assert_eq!(report.submissions[0].unique, 2);
}

#[test]
fn errors_name_the_file_and_the_way_out() {
    let files = Files::new();
    files.rows("gold.jsonl", &gold_rows(1, 1));
    files.rows("p.jsonl", &[predict("org__repo-0", "x")]);
    files.text("empty.jsonl", "");
    files.text("text.jsonl", "hello\n");
    files.text("x.parquet", "PAR1");
    let code = |options: Options| Audit::run(options).unwrap_err().exit_code();
    for (predictions, want) in [
        ("none.jsonl", 66),
        ("empty.jsonl", 65),
        ("text.jsonl", 65),
        ("gold.jsonl", 65),
        ("x.parquet", 65),
    ] {
        assert_eq!(code(files.options(&[predictions])), want, "{predictions}");
    }
    for gold in ["p2.jsonl", "empty.jsonl", "text.jsonl"] {
        let options = options(files.0.path(), &[gold], &["p.jsonl"]);
        assert!(matches!(code(options), 65 | 66), "{gold}");
    }
    // In a directory, files without predictions are passed over.
    files.rows("d/one.jsonl", &[predict("org__repo-0", "x")]);
    files.text("d/two.json", "{\"a\": 3}");
    let report = report(files.options(&["d"]));
    assert_eq!(report["submissions"].as_array().unwrap().len(), 1);
    assert!(
        report["skipped"][0]["path"]
            .as_str()
            .unwrap()
            .ends_with("two.json")
    );
}

#[test]
fn hostile_patches_are_no_traps() {
    let files = Files::new();
    let many_hunks: String = (0..20_000)
        .map(|i| format!("@@ -{i} +{i} @@\n-a\n+b\n"))
        .collect();
    let header = "--- a/a.py\n+++ b/a.py\n";
    let patches = [
        format!("{header}{many_hunks}"),
        format!(
            "{header}@@ -1,0 +1,1000000 @@\n{}",
            "+x = 1\n".repeat(1_000_000)
        ),
        format!("Binary files {}\n", "a and ".repeat(100_000)),
        format!("diff --git {}\n", "a/ b/".repeat(100_000)),
        format!("{header}@@ -1 +1,{} @@\n", "9".repeat(100_000)),
        format!("{header}@@ -1,2 +1,2 @@\n{}", "/*".repeat(200_000)),
        "--- a/a.py\n+++ b/a.py\n".repeat(50_000),
        format!("{header}@@ -1 +1 @@\n-\u{0}\n+\u{feff}\n"),
        "\\ No newline at end of file\n".repeat(10_000),
    ];
    let mut gold = gold_rows(patches.len(), 3);
    gold[0]["patch"] = json!(format!("{header}{many_hunks}"));
    gold[1]["patch"] = json!(patches[1]);
    files.rows("gold.jsonl", &gold);
    let rows: Vec<Value> = patches
        .iter()
        .enumerate()
        .map(|(i, patch)| predict(&format!("org__repo-{i}"), patch.as_str()))
        .collect();
    files.rows("p.jsonl", &rows);
    let report = report(files.options(&["p.jsonl"]));
    let s = &report["submissions"][0];
    assert_eq!(s["rows"], 9);
    assert_eq!(s["blog"]["matches"], 2);
    assert_eq!(s["robust"]["matches"], 2);
}

#[test]
#[cfg(feature = "parquet")]
fn parquet_rows_are_read() {
    // Written by the oracle's environment: see `parquet.py`.
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/exact_match"));
    let report = report(options(root, &["gold.parquet"], &["predictions.parquet"]));
    let s = &report["submissions"][0];
    assert_eq!((&s["format"], &s["rows"]), (&json!("parquet"), &json!(3)));
    assert_eq!(s["blog"]["matches"], 1);
    assert_eq!(s["empty"], 1);
}
