//! How far the judges agree, as tables.

use super::cells::{change, decimals, stat};
use super::view::{Block, Grid, Pair as Sides};
use crate::score::agreement::{Agreement, Pair, Stat, Weights};
use crate::score::analysis::Analysis;
use crate::score::bootstrap::MIN_REPLICATES;
use crate::score::exact::{Exact, fixed, percent};

/// The section.
pub(super) fn blocks(analysis: &Analysis, sides: &Sides) -> Vec<Block> {
    let before = &sides.before.agreement;
    let mut out = vec![
        Block::Heading("Agreement of the judges".into()),
        Block::Text(words(analysis, before)),
        Block::Table(statistics(sides)),
    ];
    if !before.pairs.is_empty() {
        out.push(Block::Table(pairs(sides)));
    }
    out
}

fn words(analysis: &Analysis, before: &Agreement) -> String {
    let settings = analysis.options.bootstrap;
    let intervals = if settings.replicates < MIN_REPLICATES {
        "no intervals".to_string()
    } else {
        let (b, seed) = (settings.replicates, settings.seed);
        format!(
            "intervals: 95 % percentiles of {b} bootstrap replicates over tasks (SplitMix64, seed {seed})"
        )
    };
    format!(
        "{} runs with two ratings or more, {} with one, {} with none; Fleiss' kappa is over the {} runs with {} ratings; {intervals}.",
        before.runs, before.single, before.unrated, before.complete, before.raters
    )
}

type StatOf = fn(&Agreement) -> &Stat;

/// The statistics, with their names in reports and JSON.
pub(super) const STATS: [(&str, &str, StatOf); 8] = [
    ("Fleiss' kappa", "fleiss", |a| &a.fleiss),
    ("Fleiss' kappa, PASS or not", "fleiss_pass", |a| {
        &a.fleiss_pass
    }),
    ("generalised kappa", "kappa", |a| &a.kappa),
    ("generalised kappa, PASS or not", "kappa_pass", |a| {
        &a.kappa_pass
    }),
    ("generalised kappa, linear weights", "kappa_linear", |a| {
        &a.kappa_linear
    }),
    (
        "generalised kappa, quadratic weights",
        "kappa_quadratic",
        |a| &a.kappa_quadratic,
    ),
    ("Krippendorff's alpha, nominal", "alpha_nominal", |a| {
        &a.alpha_nominal
    }),
    ("Krippendorff's alpha, ordinal", "alpha_ordinal", |a| {
        &a.alpha_ordinal
    }),
];

fn statistics(pair: &Sides) -> Grid {
    let after = pair.after.map(|a| &a.agreement);
    let before = &pair.before.agreement;
    let interval = |s: &Stat| {
        s.interval
            .map(|i| format!("{} to {}", decimals(i.low, 3), decimals(i.high, 3)))
    };
    let mut rows: Vec<Vec<String>> = STATS
        .iter()
        .map(|(name, _, of)| {
            vec![
                (*name).to_string(),
                change(Some(stat(of(before))), after.map(|a| Some(stat(of(a))))),
                change(interval(of(before)), after.map(|a| interval(of(a)))),
            ]
        })
        .collect();
    let share = |a: &Agreement, value: Option<Exact>| match value {
        Some(v) if a.runs > 0 => Some(percent(&v, 2)),
        _ => None,
    };
    let unanimous = |a: &Agreement| {
        share(a, a.unanimity()).map(|p| format!("{p} % ({}/{})", a.unanimous, a.runs))
    };
    let mean = |a: &Agreement| share(a, a.mean_pairwise()).map(|p| format!("{p} %"));
    let cohen = |a: &Agreement| a.mean_cohen().map(|k| fixed(&k, 6));
    for (name, of) in [
        (
            "unanimous",
            &unanimous as &dyn Fn(&Agreement) -> Option<String>,
        ),
        ("mean pairwise agreement", &mean),
        ("mean of the pairs' Cohen's kappas", &cohen),
    ] {
        rows.push(vec![
            name.into(),
            change(of(before), after.map(of)),
            String::new(),
        ]);
    }
    Grid {
        title: "Agreement".into(),
        left: 1,
        columns: ["statistic", "value", "95 % interval"]
            .map(String::from)
            .to_vec(),
        rows,
    }
}

fn pairs(pair: &Sides) -> Grid {
    let rows = pair
        .before
        .agreement
        .pairs
        .iter()
        .map(|p| {
            let after = pair.after.map(|a| {
                a.agreement
                    .pairs
                    .iter()
                    .find(|q| q.first == p.first && q.second == p.second)
            });
            let cell =
                |f: &dyn Fn(&Pair) -> Option<String>| change(f(p), after.map(|q| q.and_then(f)));
            let kappa = |w: Weights| cell(&move |q| q.cohen(&w).map(|k| fixed(&k, 4)));
            vec![
                p.first.clone(),
                p.second.clone(),
                cell(&|q| Some(format!("{}/{}", q.agreed(), q.runs()))),
                cell(&|q| q.agreement().map(|a| percent(&a, 2))),
                kappa(Weights::IDENTITY),
                kappa(Weights::LINEAR),
                kappa(Weights::QUADRATIC),
            ]
        })
        .collect();
    let columns = [
        "judge",
        "judge",
        "same / runs",
        "same %",
        "Cohen's kappa",
        "linear",
        "quadratic",
    ];
    Grid {
        title: "Judges two by two".into(),
        left: 2,
        columns: columns.map(String::from).to_vec(),
        rows,
    }
}
