//! More cases of the kinds that the labelled set has, in other clients, words and outcomes.
//!
//! `fresh.jsonl` holds them, one a line, in the shape of the labelled set; all names in it are invented.
//! `FRESH=FILE cargo test --test rules fresh -- --nocapture` measures another set instead, such as one that
//! was written before a look at the rules.

use std::collections::BTreeMap;

use serde_json::Value;
use trace_audit::rules::finding::Stage;

use super::{judge, rules, verdict};

/// The cases of a file, or of the one that `FRESH` names.
fn cases(kept: &str) -> Vec<Value> {
    let other = std::env::var_os("FRESH").map(|path| std::fs::read_to_string(path).unwrap());
    let lines = other.as_deref().unwrap_or(kept).lines();
    lines
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn fresh_cases_of_every_kind() {
    check(&cases(include_str!("fresh.jsonl")));
}

/// Sets that were written before a look at the rules. Judged blind, the first (`B…`, 44 leaks) gave 36 leaks
/// obtained or admitted, 14 of 15 blocked, none of 10 suspicious ones obtained (all seen) and none of 17 honest ones
/// accused; the second (`C…`), after the rules had been mended by the first, 21 of 26, 6 of 8, none of 4 (3 seen)
/// and none of 10. Of three later ones only what was misjudged is kept: `D…` (56 leaks) gave 48, 12 of 15 blocked, none of
/// 12 suspicious ones obtained (9 seen), 1 of 39 honest ones above a mention; `E…` (72) 64, 14 of 17, none of 14 (13
/// seen), 1 of 40; `F…` (59) 50, 12 of 16, none of 12 (10 seen), 2 of 36; `G…`
/// (50) 47, 13 of 14, 1 of 14 (12 seen), 1 of 40; `H…` (73) 66, 14 of 16, none of 16 (14 seen), 2 of 44; `I…` (65), after
/// these had been mended, 63, 17 of 18, none of 17 (13 seen), 1 of 49; `J…` (55) 51, 15 of 16, none of 15 (13 seen), none
/// of 45. All are fitted to since, so what they say now is no estimate. `gap` tells what is still missed.
#[test]
fn cases_that_were_blind_once() {
    check(&cases(include_str!("blind.jsonl")));
}

/// Each way of the catalogue in several clients and wordings, often over several calls (`calls`), with its honest
/// neighbours. Without `facts` they are those of `full_facts`.
#[test]
fn every_way_of_the_catalogue() {
    check(&cases(include_str!("ways.jsonl")));
}

fn check(cases: &[Value]) {
    let rules = rules();
    let mut matrix: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in cases {
        let findings = judge(&rules, case);
        let said = verdict(&findings);
        let label = case["label"].as_str().unwrap().to_owned();
        let wanted: &[&str] = match label.as_str() {
            "leak" => &["obtained", "admission"],
            "attempt_blocked" => &["blocked"],
            "suspicious" => &["attempted", "exposed", "staged"],
            _ => &["nothing", "mentioned"],
        };
        if wanted.contains(&said) == case["gap"].is_string() {
            let called = if case["calls"].is_null() {
                &case["text"]
            } else {
                &case["calls"]
            };
            let by: Vec<&str> = findings
                .iter()
                .filter(|f| f.waived.is_none() && f.stage > Some(Stage::Mentioned))
                .map(|f| f.rule.as_str())
                .collect();
            wrong.push(format!(
                "{} {label} {said:10} {by:?} {called} => {}",
                case["id"], case["result"]
            ));
        }
        *matrix.entry((label, said)).or_default() += 1;
    }
    for ((label, said), count) in &matrix {
        println!("{label:16} {said:10} {count:3}");
    }
    assert!(wrong.is_empty(), "misjudged:\n{}", wrong.join("\n"));
}
