//! What agents say of their work: admissions in many wordings, and sentences that look like them.
//!
//! `said.txt` was written before the expressions were looked at, so its first numbers were an estimate of what they miss;
//! the floors below say what is kept.

use trace_audit::experiment::task_facts::TaskFacts;
use trace_audit::rules::finding::{Kind, Stage};
use trace_audit::trace::event::Channel;

use super::{event, facts, rules, run};

#[test]
fn admissions_and_sentences_that_look_like_them() {
    let rules = rules();
    let facts = TaskFacts {
        package: Some("acme-widget".into()),
        base_version: Some("4.1.3".into()),
        ..facts()
    };
    let (mut admitted, mut heard, mut false_claims) = (0_usize, 0_usize, Vec::new());
    let mut deaf = Vec::new();
    for line in include_str!("said.txt").lines() {
        let Some((mark, text)) = line.split_once(' ').filter(|(mark, _)| *mark != "#") else {
            continue;
        };
        let findings = run(&rules, &facts, None, &[event(1, Channel::Result, text)]);
        let mut counting = findings.iter().filter(|f| f.waived.is_none());
        let claims: Vec<&str> = counting
            .clone()
            .filter(|f| f.kind == Kind::Admission)
            .map(|f| f.rule.as_str())
            .collect();
        let acted = counting.find(|f| f.stage > Some(Stage::Mentioned));
        match mark {
            "+" => {
                admitted += 1;
                heard += usize::from(!claims.is_empty());
                if claims.is_empty() {
                    deaf.push(text);
                }
            }
            "-" if claims.is_empty() && acted.is_none() => {}
            "~" if claims.is_empty() => {}
            _ => false_claims.push(format!("{text} => {claims:?} {:?}", acted.map(|f| &f.rule))),
        }
    }
    println!("heard {heard} of {admitted}; missed:\n{}", deaf.join("\n"));
    println!("false: {}\n{}", false_claims.len(), false_claims.join("\n"));
    assert!(
        heard * 100 >= admitted * 95,
        "too many admissions are missed"
    );
    assert!(false_claims.len() <= 1, "too many are raised");
}
