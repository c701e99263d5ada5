//! Agreement statistics against other implementations: `oracle.py` computes the reference values with
//! statsmodels and krippendorff, `oracle.json` stores them. Where Python has the packages, the script
//! is run and must say what is stored (`TRACE_AUDIT_PYTHON` names another interpreter).

use std::path::Path;
use std::process::Command;

use serde_json::Value;
use trace_audit::score::agreement::{Agreement, Weights};
use trace_audit::score::bootstrap::Settings;
use trace_audit::score::exact::Exact;
use trace_audit::score::model::Run;
use trace_audit::score::read;

use crate::common::{file, profile};

fn here(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/score")
        .join(name)
}

fn stored() -> Vec<Value> {
    let text = std::fs::read_to_string(here("oracle.json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// The rows of votes as a wide table, read by the reader.
fn runs(rows: &[&str], dir: &Path) -> Vec<Run> {
    let judges = rows[0].len();
    let mut text = String::from("run,task,agent");
    for j in 0..judges {
        text += &format!(",j{j}_verdict");
    }
    for (n, row) in rows.iter().enumerate() {
        text += &format!("\nr{n},t{n},a");
        for c in row.chars() {
            text += match c {
                'F' => ",FAIL",
                '-' => ",PARTIAL",
                'P' => ",PASS",
                _ => ",",
            };
        }
    }
    let path = file(dir, "table.csv", text);
    read::load(&[path], &profile())
        .unwrap()
        .runs
        .into_values()
        .collect()
}

fn float(value: Option<&Exact>) -> Option<f64> {
    use num_traits::ToPrimitive;
    value.map(|v| v.to_f64().unwrap())
}

fn same(got: Option<&Exact>, expected: &Value, what: &str) {
    match (float(got), expected.as_f64()) {
        (Some(a), Some(b)) => assert!((a - b).abs() < 1e-9, "{what}: {a}, reference {b}"),
        (a, b) => assert!(a.is_none() && b.is_none(), "{what}: {a:?}, reference {b:?}"),
    }
}

#[test]
fn equal_to_the_reference() {
    let dir = tempfile::tempdir().unwrap();
    let tables = stored();
    assert!(tables.len() >= 44);
    let mut pairs = 0;
    for (n, table) in tables.iter().enumerate() {
        let rows: Vec<&str> = table["rows"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r.as_str().unwrap())
            .collect();
        let runs = runs(&rows, dir.path());
        assert_eq!(runs.len(), rows.len());
        let refs: Vec<&Run> = runs.iter().collect();
        let got = Agreement::of(
            &refs,
            Settings {
                replicates: 0,
                seed: 1,
            },
        );
        for (key, stat) in [
            ("fleiss", &got.fleiss),
            ("fleiss_pass", &got.fleiss_pass),
            ("alpha_nominal", &got.alpha_nominal),
            ("alpha_ordinal", &got.alpha_ordinal),
            ("kappa", &got.kappa),
            ("kappa_pass", &got.kappa_pass),
            ("kappa_linear", &got.kappa_linear),
            ("kappa_quadratic", &got.kappa_quadratic),
        ] {
            same(
                stat.value.as_ref(),
                &table[key],
                &format!("table {n}, {key}"),
            );
        }
        for reference in table["pairs"].as_array().unwrap() {
            let name = |i: usize| format!("j{}", reference[i]);
            // A judge that never speaks is in no pair; the reference says null for it.
            let pair = got
                .pairs
                .iter()
                .find(|p| p.first == name(0) && p.second == name(1));
            for (i, weights) in [Weights::IDENTITY, Weights::LINEAR, Weights::QUADRATIC]
                .into_iter()
                .enumerate()
            {
                let value = pair.and_then(|p| p.cohen(&weights));
                same(
                    value.as_ref(),
                    &reference[i + 2],
                    &format!("table {n}, pair {reference}"),
                );
                pairs += 1;
            }
        }
    }
    assert!(pairs > 300);
}

#[test]
fn the_script_says_what_is_stored() {
    let python = std::env::var("TRACE_AUDIT_PYTHON").unwrap_or_else(|_| "python3".into());
    let importable = Command::new(&python)
        .args(["-c", "import numpy, statsmodels, krippendorff"])
        .output()
        .is_ok_and(|o| o.status.success());
    if !importable {
        println!(
            "skipped: {python} lacks numpy, statsmodels or krippendorff; the stored numbers are used"
        );
        return;
    }
    let output = Command::new(&python)
        .arg(here("oracle.py"))
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let fresh: Vec<Value> = serde_json::from_slice(&output.stdout).unwrap();
    let stored = stored();
    assert_eq!(fresh.len(), stored.len());
    for (a, b) in fresh.iter().zip(&stored) {
        near(a, b);
    }
}

/// Equal, numbers within rounding.
fn near(a: &Value, b: &Value) {
    match (a, b) {
        (Value::Number(x), Value::Number(y)) => {
            assert!(
                (x.as_f64().unwrap() - y.as_f64().unwrap()).abs() < 1e-9,
                "{x} {y}"
            );
        }
        (Value::Array(x), Value::Array(y)) => {
            assert_eq!(x.len(), y.len());
            x.iter().zip(y).for_each(|(a, b)| near(a, b));
        }
        (Value::Object(x), Value::Object(y)) => {
            assert_eq!(x.len(), y.len());
            x.iter().for_each(|(k, v)| near(v, &y[k]));
        }
        _ => assert_eq!(a, b),
    }
}
