//! JSON (`docs/score.schema.json`). Numbers are rounded to six decimals; statistics carry their exact
//! fraction beside it. What is undefined is null.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::Format;
use super::agreement::STATS;
use super::note;
use crate::score::agreement::{Agreement, Pair, Stat, Weights};
use crate::score::analysis::{Analysis, Treated};
use crate::score::bootstrap::Interval;
use crate::score::differences::Difference;
use crate::score::exact::{Exact, float};
use crate::score::model::Scores;
use crate::score::sensitivity::Thresholds;
use crate::score::tables::{Row, Table, component_means};

/// JSON.
pub(super) struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn write(&self, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, &value(analysis))?;
        writeln!(out)
    }
}

fn value(analysis: &Analysis) -> Value {
    let options = analysis.options;
    let counts: Map<String, Value> = analysis
        .standings
        .counts(&analysis.scores.runs)
        .into_iter()
        .map(|(standing, n)| (standing.name().to_string(), n.into()))
        .collect();
    json!({
        "schema": "trace-audit/1",
        "command": "score",
        "tool": { "version": env!("CARGO_PKG_VERSION") },
        "inputs": inputs(analysis.scores),
        "reruns": analysis.reruns.map(inputs),
        "panel": options.rule,
        "standings": counts,
        "before": 0,
        "after": analysis.after,
        "treatments": analysis.treated.iter().map(treated).collect::<Vec<_>>(),
        "sensitivity": {
            "ranks": analysis.spans,
            "depends_on_auditor": analysis.depends_on_auditor(),
            "thresholds": thresholds(&analysis.thresholds),
        },
        "leakage": note::entries(analysis),
        "bootstrap": {
            "replicates": options.bootstrap.replicates,
            "seed": options.bootstrap.seed,
            "generator": "SplitMix64",
            "cluster": "task",
        },
        "notes": analysis.notes,
    })
}

fn inputs(scores: &Scores) -> Value {
    let runs: Vec<_> = scores.runs.values().collect();
    let means = component_means(&runs, scores.components.len());
    let components: Vec<Value> = scores
        .components
        .iter()
        .zip(means)
        .map(|(name, mean)| json!({ "name": name, "mean": number(mean.as_ref()) }))
        .collect();
    // The reports of many runs are many files; their number says enough.
    let files: Vec<String> = scores
        .files
        .iter()
        .take(50)
        .map(|f| f.display().to_string())
        .collect();
    json!({
        "files": scores.files.len(),
        "first_files": files,
        "runs": scores.runs.len(),
        "ratings": scores.ratings(),
        "tasks": scores.tasks().len(),
        "agents": scores.agents(),
        "judges": scores.judges,
        "points": components,
    })
}

fn number(value: Option<&Exact>) -> Option<f64> {
    value.and_then(float)
}

fn rounded(value: f64) -> Option<f64> {
    format!("{value:.6}")
        .parse()
        .ok()
        .map(|v: f64| if v == 0.0 { 0.0 } else { v })
}

fn bounds(interval: Option<Interval>) -> Value {
    match interval {
        Some(i) => {
            json!({ "low": rounded(i.low), "high": rounded(i.high), "undefined_replicates": i.undefined })
        }
        None => Value::Null,
    }
}

fn treated(treated: &Treated) -> Value {
    let s = &treated.selection;
    let left_out: Vec<Value> = s
        .left_out
        .iter()
        .map(|l| {
            json!({
                "run": l.run.name,
                "standing": l.standing,
                "replaced_by": l.replaced_by.map(|r| &r.name),
            })
        })
        .collect();
    json!({
        "level": s.level,
        "policy": s.policy,
        "runs": s.runs.len(),
        "left_out": left_out,
        "tables": tables(&treated.tables),
        "common_items": treated.common_items,
        "items": treated.items,
        "common_tables": tables(&treated.common),
        "agreement": agreement(&treated.agreement),
        "differences": treated.differences.iter().map(difference).collect::<Vec<_>>(),
        "tau_b": treated.tau_b.and_then(rounded),
    })
}

fn difference(difference: &Difference) -> Value {
    json!({
        "agent": difference.agent,
        "change": number(difference.change.as_ref()),
        "interval": bounds(difference.interval),
    })
}

fn tables(tables: &[Table]) -> Value {
    let tables: Map<String, Value> = tables
        .iter()
        .map(|t| (t.by.name().to_string(), t.rows.iter().map(row).collect()))
        .collect();
    Value::Object(tables)
}

fn row(row: &Row) -> Value {
    let label = |text: &str| (!text.is_empty()).then(|| text.to_string());
    let interval = row
        .interval()
        .map(|(low, high)| json!({ "low": rounded(low), "high": rounded(high) }));
    json!({
        "scope": label(&row.scope),
        "agent": label(&row.agent),
        "runs": row.runs,
        "pass": row.pass,
        "partial": row.partial,
        "fail": row.fail,
        "unrated": row.unrated,
        "rate": number(row.rate().as_ref()),
        "rate_interval": interval,
        "scored": row.scored,
        "mean_score": number(row.mean.as_ref()),
        "rank": row.rank,
        "rank_by_mean": row.rank_by_mean,
    })
}

/// Exact fractions longer than this are left out (null): with many different numbers of judges they can
/// have thousands of digits, and nobody reads them.
const MAX_FRACTION: usize = 200;

fn agreement(agreement: &Agreement) -> Value {
    let statistic = |stat: &Stat| match &stat.value {
        Some(value) => json!({
            "value": float(value),
            "exact": Some(value.to_string()).filter(|text| text.len() <= MAX_FRACTION),
            "interval": bounds(stat.interval),
        }),
        None => Value::Null,
    };
    let mut out: Map<String, Value> = STATS
        .iter()
        .map(|(_, key, of)| ((*key).to_string(), statistic(of(agreement))))
        .collect();
    let rest = json!({
        "runs": agreement.runs,
        "single": agreement.single,
        "unrated": agreement.unrated,
        "raters": agreement.raters,
        "complete": agreement.complete,
        "unanimous": agreement.unanimous,
        "unanimity": number(agreement.unanimity().as_ref()),
        "mean_pairwise": number(agreement.mean_pairwise().as_ref()),
        "mean_cohen": number(agreement.mean_cohen().as_ref()),
        "pairs": agreement.pairs.iter().map(pair).collect::<Vec<_>>(),
    });
    if let Value::Object(rest) = rest {
        out.extend(rest);
    }
    Value::Object(out)
}

fn pair(pair: &Pair) -> Value {
    let cohen = |weights| number(pair.cohen(&weights).as_ref());
    json!({
        "first": pair.first,
        "second": pair.second,
        "runs": pair.runs(),
        "agreed": pair.agreed(),
        "agreement": number(pair.agreement().as_ref()),
        "cohen": cohen(Weights::IDENTITY),
        "cohen_linear": cohen(Weights::LINEAR),
        "cohen_quadratic": cohen(Weights::QUADRATIC),
    })
}

fn thresholds(thresholds: &Thresholds) -> Value {
    match thresholds {
        Thresholds::NotComputed(why) => json!({ "computed": false, "why": why }),
        Thresholds::Computed { spans, changed } => {
            let changed: Vec<Value> = changed
                .iter()
                .map(|(scale, runs)| json!({ "scale": scale, "runs": runs }))
                .collect();
            json!({ "computed": true, "ranks": spans, "changed": changed })
        }
    }
}
