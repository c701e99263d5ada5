//! The chance formula: how often does an honest prediction contain all lines of the gold patch?
//!
//! A logistic regression of "all distinct non-comment added lines of the gold patch are added by the
//! prediction" on `log2(1 + lines)`, lines as this project normalises them, by Newton's method; checked
//! by leaving out a fifth of the instances at a time.

use std::collections::BTreeSet;
use std::fmt::Write;

use trace_audit::patch::model::{LineKind, Patch};
use trace_audit::patch::parse;
use trace_audit::similarity::chance::p_chance;
use trace_audit::similarity::prepare::prepare;

use crate::data::Swebench;
use crate::support::parallel;

/// A prediction: instance, lines of the gold patch, and whether all are there.
struct Point<'a> {
    instance: &'a str,
    strong: bool,
    lines: u64,
    all: bool,
}

/// Distinct added lines that are no comments.
fn lines(patch: &Patch) -> BTreeSet<String> {
    let prepared = patch.files.iter().flat_map(prepare).flatten();
    prepared
        .filter(|l| l.kind() == LineKind::Added && !l.text.is_empty())
        .map(|l| l.text)
        .collect()
}

fn sigmoid(z: f64) -> f64 {
    1.0 / (1.0 + (-z).exp())
}

fn x(lines: u64) -> f64 {
    (1.0 + lines as f64).log2()
}

/// Intercept and slope of greatest likelihood.
fn fit(points: &[&Point<'_>]) -> (f64, f64) {
    let (mut a, mut b) = (0.0, -1.0);
    for _ in 0..50 {
        let (mut ga, mut gb, mut haa, mut hab, mut hbb) = (0.0, 0.0, 1e-9, 0.0, 1e-9);
        for point in points {
            let x = x(point.lines);
            let p = sigmoid(a + b * x);
            let (rest, weight) = (f64::from(u8::from(point.all)) - p, p * (1.0 - p));
            ga += rest;
            gb += rest * x;
            haa += weight;
            hab += weight * x;
            hbb += weight * x * x;
        }
        let det = haa * hbb - hab * hab;
        let (da, db) = ((hbb * ga - hab * gb) / det, (haa * gb - hab * ga) / det);
        (a, b) = (a + da, b + db);
        if da.abs() + db.abs() < 1e-10 {
            break;
        }
    }
    (a, b)
}

fn log_loss(points: &[&Point<'_>], p: impl Fn(u64) -> f64) -> f64 {
    let one = |point: &&&Point<'_>| {
        let p = p(point.lines).clamp(1e-9, 1.0 - 1e-9);
        -(if point.all { p } else { 1.0 - p }).ln()
    };
    points.iter().map(|p| one(&p)).sum::<f64>() / points.len() as f64
}

/// One of five parts, the same for all rows of an instance.
fn part(instance: &str) -> u32 {
    instance
        .bytes()
        .fold(7u32, |sum, b| sum.wrapping_mul(31).wrapping_add(b.into()))
        % 5
}

pub fn report(swebench: &Swebench) -> String {
    let gold: std::collections::BTreeMap<&str, BTreeSet<String>> = swebench
        .gold
        .iter()
        .map(|(id, g)| (id.as_str(), lines(&g.patch)))
        .collect();
    let measured = parallel(&swebench.rows, |row| {
        let gold = &gold[row.instance.as_str()];
        let there = lines(&parse(row.text.as_bytes()));
        (gold.len() as u64, gold.is_subset(&there))
    });
    let points: Vec<Point<'_>> = swebench
        .rows
        .iter()
        .zip(measured)
        .map(|(row, (lines, all))| Point {
            instance: &row.instance,
            // Rows of resolved issues only, and models of 2025 and later.
            strong: row.submission.contains("resolved") || row.submission.starts_with("verified_"),
            lines,
            all,
        })
        .collect();
    // A gold patch that only deletes says nothing about added lines.
    let all: Vec<&Point<'_>> = points.iter().filter(|p| p.lines > 0).collect();
    let strong: Vec<&Point<'_>> = all.iter().copied().filter(|p| p.strong).collect();
    let mut out = String::new();
    writeln!(out, "## Chance\n").unwrap();
    writeln!(
        out,
        "How often an honest prediction contains *all* distinct non-comment added lines of the gold patch, by their number.\n\
         *Strong*: submissions of resolved issues only, and of models from 2025 on. The formula in use is\n\
         `sigmoid(1.541 - 1.597 * log2(1 + lines))`; it was fitted on 3,359 strong rows, of which these are a part.\n"
    )
    .unwrap();
    writeln!(out, "| lines | rows | instances | all of them, % | strong rows | all of them, % | formula, % | refit (strong), % |").unwrap();
    writeln!(out, "|---|---|---|---|---|---|---|---|").unwrap();
    let fits = [("all", fit(&all)), ("strong", fit(&strong))];
    let refit = fits[1].1;
    for (low, high) in [(1, 1), (2, 3), (4, 7), (8, 15), (16, 31), (32, u64::MAX)] {
        let here = |points: &[&Point<'_>]| -> (usize, usize, usize) {
            let here: Vec<_> = points
                .iter()
                .filter(|p| (low..=high).contains(&p.lines))
                .collect();
            let instances: BTreeSet<&str> = here.iter().map(|p| p.instance).collect();
            (
                here.len(),
                instances.len(),
                here.iter().filter(|p| p.all).count(),
            )
        };
        let mean = |p: &dyn Fn(u64) -> f64| {
            let here: Vec<_> = strong
                .iter()
                .filter(|s| (low..=high).contains(&s.lines))
                .collect();
            here.iter().map(|s| p(s.lines)).sum::<f64>() * 100.0 / here.len().max(1) as f64
        };
        let (rows, instances, matches) = here(&all);
        let (strong_rows, _, strong_matches) = here(&strong);
        let name = if high == u64::MAX {
            format!("{low}+")
        } else if low == high {
            format!("{low}")
        } else {
            format!("{low}-{high}")
        };
        writeln!(
            out,
            "| {name} | {rows} | {instances} | {:.1} | {strong_rows} | {:.1} | {:.2} | {:.2} |",
            matches as f64 * 100.0 / rows.max(1) as f64,
            strong_matches as f64 * 100.0 / strong_rows.max(1) as f64,
            mean(&p_chance),
            mean(&|n| sigmoid(refit.0 + refit.1 * x(n))),
        )
        .unwrap();
    }
    writeln!(out, "\n| rows | intercept | slope | slopes with a fifth left out | log loss, left-out rows | of the formula in use |").unwrap();
    writeln!(out, "|---|---|---|---|---|---|").unwrap();
    for ((name, (a, b)), points) in fits.iter().zip([&all, &strong]) {
        let mut slopes = Vec::new();
        let (mut loss, mut old) = (0.0, 0.0);
        for fifth in 0..5 {
            let (test, train): (Vec<&Point<'_>>, Vec<&Point<'_>>) = points
                .iter()
                .copied()
                .partition(|p| part(p.instance) == fifth);
            let (a, b) = fit(&train);
            slopes.push(b);
            let share = test.len() as f64 / points.len() as f64;
            loss += share * log_loss(&test, |n| sigmoid(a + b * x(n)));
            old += share * log_loss(&test, p_chance);
        }
        let low = slopes.iter().copied().fold(f64::MAX, f64::min);
        let high = slopes.iter().copied().fold(f64::MIN, f64::max);
        writeln!(
            out,
            "| {name}, {} | {a:.3} | {b:.3} | {low:.3} .. {high:.3} | {loss:.4} | {old:.4} |",
            points.len()
        )
        .unwrap();
    }
    out
}
