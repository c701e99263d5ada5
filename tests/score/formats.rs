//! What is written: the schema of the JSON, harmless text in every format, the same bytes each time.

use serde_json::Value;
use trace_audit::score::report::FORMATS;

use crate::common::{Case, file};
use crate::small::{audited, sample};

/// The sample with intervals.
fn whole() -> Case {
    let mut case = audited();
    case.options.bootstrap.replicates = 60;
    case
}

/// What is wrong with a document, by the schema.
pub(crate) fn schema_errors(text: &str) -> Vec<String> {
    let schema = std::fs::read_to_string(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/docs/score.schema.json"
    ))
    .unwrap();
    let schema: Value = serde_json::from_str(&schema).unwrap();
    let validator = jsonschema::validator_for(&schema).unwrap();
    let value: Value = serde_json::from_str(text).unwrap();
    let errors = validator.iter_errors(&value);
    errors
        .map(|e| format!("{}: {e}", e.instance_path()))
        .collect()
}

#[test]
fn json_follows_its_schema() {
    for case in [
        whole(),
        Case::new(&[sample("wide.csv")]),
        Case::new(&[sample("long.csv")]).exclude(&["A4-amber-long-20310502"]),
    ] {
        assert_eq!(schema_errors(&case.report("json")), [""; 0]);
    }
    // The schema is not one that accepts anything.
    let broken = whole().report("json").replacen("\"rate\"", "\"rats\"", 1);
    assert_eq!(schema_errors(&broken).len(), 2);
    let value: Value = serde_json::from_str(&whole().report("json")).unwrap();
    let after = &value["treatments"][value["after"].as_u64().unwrap() as usize];
    assert_eq!(after["tables"]["agent"][0]["rate"], 0.25);
    assert_eq!(after["agreement"]["fleiss"]["value"], 0.458414);
    assert_eq!(value["standings"]["harness"], 1);
    let leak = &value["leakage"][3];
    assert_eq!(leak["reason"], "full_leak");
    assert_eq!(leak["replaced_by"], "A4-amber-long-2031-06-01");
    assert_eq!(leak["evidence_sha256"].as_str().unwrap().len(), 64);
}

#[test]
fn every_format_is_the_same_each_time_and_in_any_order_of_rows() {
    let dir = tempfile::tempdir().unwrap();
    let long = std::fs::read_to_string(sample("long.csv")).unwrap();
    let (header, rows) = long.split_once('\n').unwrap();
    let mut rows: Vec<&str> = rows.lines().collect();
    rows.reverse();
    let path = file(
        dir.path(),
        "reversed.csv",
        format!("{header}\n{}\n", rows.join("\n")),
    );
    for format in FORMATS {
        let first = whole().report(format.name());
        assert_eq!(first, whole().report(format.name()));
        let mut other = whole();
        other.scores = Case::new(std::slice::from_ref(&path)).scores;
        let second = other.report(format.name());
        let own = path.display().to_string();
        let sample = sample("long.csv").display().to_string();
        assert_eq!(
            first.replace(&sample, ""),
            second.replace(&own, ""),
            "{}",
            format.name()
        );
    }
}

#[test]
fn reports_say_what_matters() {
    let case = whole();
    for (format, words) in [
        (
            "text",
            vec![
                "minus invalid (substitute)",
                "Policy: a rerun",
                "2 → 1",
                "Does the ranking depend",
                "58056bff9899c3b1",
                "full_leak",
            ],
        ),
        (
            "markdown",
            vec!["## Leakage", "| amber |", "full\\_leak", "| ---: |"],
        ),
        (
            "latex",
            vec![
                "\\begin{tabular}",
                "\\toprule",
                "full\\_leak",
                "$\\to$",
                "\\paragraph{Leakage}",
            ],
        ),
        (
            "csv",
            vec![
                "\r\ninvalid,substitute,runs_left,agent,,amber,4,1,1,2,0,0.250000,0.045587,0.699358,4,6.625000,1,2,0\r\n",
            ],
        ),
    ] {
        let text = case.report(format);
        for words in words {
            assert!(text.contains(words), "{format}: {words} in\n{text}");
        }
    }
    // Every row of the CSV has as many cells as the header.
    let csv = case.report("csv");
    assert!(csv.lines().all(|l| l.matches(',').count() == 18));
}

#[test]
fn names_cannot_do_anything() {
    let dir = tempfile::tempdir().unwrap();
    let evil = [
        "=cmd|' /C calc'!A0",
        "\\input{/etc/passwd}%",
        "<img src=x>|`x`",
        "\u{202e}live_$a&b#",
        "@sum(1,2)",
        "a, \"\"b\"\"",
    ];
    let mut text = String::from("run,task,agent,evaluator,verdict\n");
    for (n, name) in evil.iter().enumerate() {
        text += &format!("\"r{n} {name}\",t{n},\"{name}\",\"{name}\",PASS\n");
    }
    let path = file(dir.path(), "t.csv", text);
    let case = Case::new(&[path])
        .rule(1, 1)
        .exclude(&["r2 <img src=x>|`x`"]);
    for format in FORMATS {
        let text = case.report(format.name());
        let shown: String = text
            .chars()
            .filter(|c| *c == '\u{202e}' || (c.is_control() && !"\r\n".contains(*c)))
            .collect();
        // JSON and CSV are data: the name must be the name.
        assert!(
            shown.is_empty() || ["json", "csv"].contains(&format.name()),
            "{}: {shown:?}",
            format.name()
        );
    }
    let latex = case.report("latex");
    assert!(!latex.contains("\\input") && !latex.contains("live_$a"));
    let markdown = case.report("markdown");
    assert!(!markdown.contains("<img") && !markdown.contains("|`x`"));
    let csv = case.report("csv");
    assert!(
        csv.contains(",\"'=cmd|' /C calc'!A0\",") && csv.contains(",\"'@sum(1,2)\","),
        "{csv}"
    );
    assert!(
        csv.lines()
            .all(|l| !l.split(',').any(|c| c.starts_with(['=', '@', '+'])))
    );
}
