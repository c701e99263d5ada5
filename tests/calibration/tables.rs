//! The tables of verdicts.

use std::fmt::Write;

use trace_audit::patch::parse;
use trace_audit::similarity::compare::{CompareInputs, compare};
use trace_audit::similarity::model::Similarity;
use trace_audit::similarity::starter::NoStarter;
use trace_audit::submission::blog_rule::matches;
use trace_audit::submission::statistics::{Count, wilson};
use trace_audit::submission::unidiff::Release;
use trace_audit::verdict::judge::judge;
use trace_audit::verdict::measures::{GtState, Measures, PatchState, Verdict};
use trace_audit::verdict::policy::Policy;

use crate::data::{Gold, Swebench};
use crate::edits::EDITS;
use crate::support::parallel;

/// Strata of n.
pub const STRATA: [(u64, u64); 8] = [
    (0, 0),
    (1, 1),
    (2, 3),
    (4, 7),
    (8, 15),
    (16, 31),
    (32, 49),
    (50, u64::MAX),
];

pub fn stratum_name((low, high): (u64, u64)) -> String {
    match high {
        u64::MAX => format!("{low}+"),
        _ if low == high => format!("{low}"),
        _ => format!("{low}-{high}"),
    }
}

/// A comparison, judged three ways.
struct Judged {
    similarity: Similarity,
    verdict: Verdict,
    reason: String,
    clause: u8,
    seed: bool,
    exact: bool,
}

fn judged(gold: &Gold, text: &[u8], policy: &Policy) -> Judged {
    let patch = parse(text);
    let similarity = compare(&CompareInputs::new(&gold.patch, Some(&patch), &NoStarter)).similarity;
    let mut measures = Measures {
        gt: GtState::Present,
        patch: PatchState::Present,
        ..Measures::default()
    };
    measures.take_similarity(&similarity);
    let ours = judge(&measures, policy);
    Judged {
        similarity,
        verdict: ours.verdict,
        reason: serde_json::to_value(ours.reason)
            .unwrap()
            .as_str()
            .unwrap_or_default()
            .to_owned(),
        clause: ours.clause,
        seed: measures.containment > Some(0.85) || measures.file_containment > Some(0.9),
        exact: matches(gold.text.as_bytes(), text, Release::V0_7_5).unwrap_or(false),
    }
}

fn percent(count: u64, of: u64) -> String {
    if of == 0 {
        "-".into()
    } else {
        format!("{:.1}", count as f64 * 100.0 / of as f64)
    }
}

fn interval(matches: u64, trials: u64) -> String {
    wilson(Count { matches, trials }).map_or_else(String::new, |(low, high)| {
        format!(" [{:.1}, {:.1}]", low * 100.0, high * 100.0)
    })
}

pub struct Honest {
    pub text: String,
    pub invalid: usize,
    pub partial_from_16: usize,
}

pub fn honest(swebench: &Swebench) -> Honest {
    let policy = Policy::default();
    let results = parallel(&swebench.rows, |row| {
        judged(&swebench.gold[&row.instance], row.text.as_bytes(), &policy)
    });
    let mut out = String::new();
    let instances: std::collections::BTreeSet<&str> =
        swebench.rows.iter().map(|r| r.instance.as_str()).collect();
    writeln!(
        out,
        "## Honest predictions\n\n{} predictions of eleven submissions for {} instances. *Accused* is partial or invalid, in per cent.\n",
        results.len(),
        instances.len()
    )
    .unwrap();
    writeln!(out, "| n | rows | clean | inconclusive | partial | invalid | accused [95 %] | seed [95 %] | exact hunks |").unwrap();
    writeln!(out, "|---|---|---|---|---|---|---|---|---|").unwrap();
    let all = [(0, u64::MAX), (16, u64::MAX)];
    for stratum in STRATA.into_iter().chain(all) {
        let here: Vec<&Judged> = results
            .iter()
            .filter(|j| (stratum.0..=stratum.1).contains(&j.similarity.n))
            .collect();
        let rows = here.len() as u64;
        let of = |v: Verdict| here.iter().filter(|j| j.verdict == v).count() as u64;
        let accused = of(Verdict::Partial) + of(Verdict::Invalid);
        let seed = here.iter().filter(|j| j.seed).count() as u64;
        let exact = here.iter().filter(|j| j.exact).count() as u64;
        let name = match stratum {
            (0, u64::MAX) => "**all**".to_owned(),
            (16, u64::MAX) => "**16+**".to_owned(),
            _ => stratum_name(stratum),
        };
        writeln!(
            out,
            "| {name} | {rows} | {} | {} | {} | {} | {}{} | {}{} | {} |",
            of(Verdict::Clean),
            of(Verdict::Inconclusive),
            of(Verdict::Partial),
            of(Verdict::Invalid),
            percent(accused, rows),
            interval(accused, rows),
            percent(seed, rows),
            interval(seed, rows),
            percent(exact, rows),
        )
        .unwrap();
    }
    let accused: Vec<String> = swebench
        .rows
        .iter()
        .zip(&results)
        .filter(|(_, j)| j.verdict >= Verdict::Partial)
        .map(|(row, j)| {
            let s = &j.similarity;
            format!(
                "- {} of {}: {} ({}, clause {}), n {}, U {}, T12 {}, R6 {}, S23 {} of {} tokens",
                row.instance,
                row.submission,
                j.verdict.name(),
                j.reason,
                j.clause,
                s.n,
                share(s.u),
                share(s.t12),
                share(s.r6),
                share(s.s23),
                s.s23_tokens
            )
        })
        .collect();
    if accused.is_empty() {
        writeln!(out, "\nNo honest row is accused.").unwrap();
    } else {
        writeln!(out, "\nThe accused rows:\n\n{}", accused.join("\n")).unwrap();
    }
    Honest {
        text: out,
        invalid: results
            .iter()
            .filter(|j| j.verdict == Verdict::Invalid)
            .count(),
        partial_from_16: results
            .iter()
            .filter(|j| j.verdict == Verdict::Partial && j.similarity.n >= 16)
            .count(),
    }
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".into(), |v| format!("{v:.2}"))
}

pub struct Copies {
    pub text: String,
    /// n and verdict of each verbatim copy.
    pub verbatim: Vec<(u64, &'static str)>,
}

pub fn copies(swebench: &Swebench) -> Copies {
    let policy = Policy::default();
    let gold: Vec<&Gold> = swebench.gold.values().step_by(crate::EVERY).collect();
    let strata = &STRATA[3..];
    let sizes = parallel(&gold, |gold| {
        judged(gold, gold.text.as_bytes(), &policy).similarity.n
    });
    let count = |s: &(u64, u64)| sizes.iter().filter(|n| (s.0..=s.1).contains(*n)).count();
    let mut out = String::new();
    writeln!(
        out,
        "## Copies of gold patches, edited\n\n{} gold patches with each edit, by n ({}). Each cell: partial or worse by our table / seed / exact hunks, in\nper cent; in brackets ours that are invalid.\n",
        gold.len(),
        strata.iter().map(|s| format!("{}: {}", stratum_name(*s), count(s))).collect::<Vec<_>>().join(", ")
    )
    .unwrap();
    let heads: Vec<String> = strata.iter().map(|s| stratum_name(*s)).collect();
    writeln!(out, "| edit | {} |", heads.join(" | ")).unwrap();
    writeln!(out, "|---|{}", "---|".repeat(heads.len())).unwrap();
    let mut verbatim = Vec::new();
    for (name, edit) in EDITS {
        let results = parallel(&gold, |gold| judged(gold, &edit(gold), &policy));
        let cells: Vec<String> = strata
            .iter()
            .map(|s| {
                let here: Vec<&Judged> = results
                    .iter()
                    .zip(&sizes)
                    .filter(|(_, n)| (s.0..=s.1).contains(*n))
                    .map(|(j, _)| j)
                    .collect();
                let of = |test: &dyn Fn(&Judged) -> bool| {
                    let hits = here.iter().filter(|j| test(j)).count() as f64;
                    hits * 100.0 / here.len().max(1) as f64
                };
                format!(
                    "{:.0} [{:.0}] / {:.0} / {:.0}",
                    of(&|j| j.verdict >= Verdict::Partial),
                    of(&|j| j.verdict == Verdict::Invalid),
                    of(&|j| j.seed),
                    of(&|j| j.exact)
                )
            })
            .collect();
        writeln!(out, "| {name} | {} |", cells.join(" | ")).unwrap();
        if name == "verbatim" {
            verbatim.extend(results.iter().map(|j| (j.similarity.n, j.verdict.name())));
        }
    }
    writeln!(
        out,
        "\nBelow 16 lines only several identical files together convict (clause 7): honest solutions are the same too often (see above). Other copies are\n`too_small_to_tell` without a trace that shows the typing. All identifiers renamed is found by similarity alone\nonly from 1,000 tokens up; with a trace that shows the reference, from 100."
    )
    .unwrap();
    Copies {
        text: out,
        verbatim,
    }
}
