//! What a reader of the numbers should know: what was read in an unusual way, what is thin, what the
//! audit does not cover.

use std::collections::BTreeMap;

use super::agreement::MAX_PAIRED_JUDGES;
use super::analysis::Analysis;
use super::standing::Standing;
use super::tables::{By, find_row};

/// An agent with fewer runs left than this is pointed out.
const FEW_RUNS: u64 = 10;
/// How many names a note lists before it only counts.
const MAX_LISTED: usize = 20;

/// What a reader should know, in a fixed order.
pub(super) fn notes(analysis: &Analysis, counts: &BTreeMap<Standing, u64>) -> Vec<String> {
    let scores = analysis.scores;
    let mut out = scores.notes.sentences();
    out.extend(
        analysis
            .reruns
            .iter()
            .flat_map(|r| r.notes.sentences())
            .map(|n| format!("reruns: {n}")),
    );
    let unrated = scores
        .runs
        .values()
        .filter(|r| r.ratings.is_empty())
        .count();
    if unrated > 0 {
        out.push(format!(
            "{unrated} runs have no verdict at all and are in no denominator"
        ));
    }
    if let Some(before) = analysis.before() {
        let (raters, rule) = (before.agreement.raters, analysis.options.rule);
        if raters > 0 && rule.pass > raters / 2 + 1 {
            out.push(format!(
                "a PASS needs {} of the {raters} judges that most runs have",
                rule.pass
            ));
        }
    }
    if scores.judges.len() > MAX_PAIRED_JUDGES {
        let n = scores.judges.len();
        out.push(format!(
            "{n} judges: more than {MAX_PAIRED_JUDGES} are not compared pair by pair"
        ));
    }
    let mut cells: BTreeMap<_, u64> = BTreeMap::new();
    for run in scores.runs.values() {
        *cells
            .entry((&run.task, &run.agent, &run.prompt))
            .or_default() += 1;
    }
    let repeated = cells.values().filter(|n| **n > 1).count();
    if repeated > 0 {
        out.push(format!("{repeated} times the tables hold several runs of one task, agent and prompt; each counts"));
    }
    audit_notes(analysis, counts, &mut out);
    if let Some(after) = analysis.after() {
        for agent in scores.agents() {
            let left = find_row(after.table(By::Agent), "", agent).map_or(0, |r| r.runs);
            if left < FEW_RUNS {
                out.push(format!("{agent} has only {left} runs left"));
            }
        }
        if after.common_items == 0 {
            out.push("there is no task on which every agent has a run left".into());
        }
    }
    out
}

fn audit_notes(analysis: &Analysis, counts: &BTreeMap<Standing, u64>, out: &mut Vec<String>) {
    let standings = &analysis.standings;
    let count = |standing| counts.get(&standing).copied().unwrap_or_default();
    if standings.any_audit && standings.audited.is_empty() {
        out.push(
            "no run of the audit is a run of the score table, so nothing is left out by verdict; \
             check that both name the same experiment"
                .to_owned(),
        );
    }
    if standings.any_audit && count(Standing::NotAudited) > 0 {
        let n = count(Standing::NotAudited);
        out.push(format!(
            "the audit says nothing about {n} of the scored runs; they stay in every treatment"
        ));
    }
    if count(Standing::Failed) > 0 {
        let n = count(Standing::Failed);
        out.push(format!(
            "{n} runs could not be audited; they go with the inconclusive ones"
        ));
    }
    for (run, audited) in &standings.audited {
        if **run != audited.run {
            out.push(format!(
                "run {run} is matched with the audit's {}",
                audited.run
            ));
        }
    }
    let unscored: Vec<&str> = standings.unscored.iter().map(|a| a.run.as_str()).collect();
    if !unscored.is_empty() {
        let mut listed = unscored
            .iter()
            .take(MAX_LISTED)
            .copied()
            .collect::<Vec<_>>()
            .join(", ");
        if unscored.len() > MAX_LISTED {
            listed.push_str(", ...");
        }
        out.push(format!(
            "{} audited runs have no scores: {listed}",
            unscored.len()
        ));
    }
}
