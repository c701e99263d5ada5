//! More cases of the kinds that the labelled set has, in other clients, words and outcomes.
//!
//! `fresh.jsonl` holds them, one a line, in the shape of the labelled set; all names in it are invented.
//! `FRESH=FILE cargo test --test rules fresh -- --nocapture` measures another set instead, such as one that
//! was written before a look at the rules.

use std::collections::BTreeMap;

use serde_json::Value;

use super::{judge, rules, verdict};

fn cases() -> Vec<Value> {
    let other = std::env::var_os("FRESH").map(|path| std::fs::read_to_string(path).unwrap());
    let text = other.as_deref().unwrap_or(include_str!("fresh.jsonl"));
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

#[test]
fn fresh_cases_of_every_kind() {
    let rules = rules();
    let mut matrix: BTreeMap<(String, &str), usize> = BTreeMap::new();
    let mut wrong = Vec::new();
    for case in cases() {
        let said = verdict(&judge(&rules, &case));
        let label = case["label"].as_str().unwrap().to_owned();
        let wanted: &[&str] = match label.as_str() {
            "leak" => &["obtained", "admission"],
            "attempt_blocked" => &["blocked"],
            "suspicious" => &["attempted", "exposed", "staged"],
            _ => &["nothing", "mentioned"],
        };
        if !wanted.contains(&said) {
            wrong.push(format!(
                "{} {said:10} {} => {}",
                case["id"], case["text"], case["result"]
            ));
        }
        *matrix.entry((label, said)).or_default() += 1;
    }
    for ((label, said), count) in &matrix {
        println!("{label:16} {said:10} {count:3}");
    }
    assert!(wrong.is_empty(), "misjudged:\n{}", wrong.join("\n"));
}
