//! JSON (`docs/score.schema.json`). Numbers are rounded to six decimals; statistics carry their exact
//! fraction beside it. What is undefined is null.
//!
//! The document is written from borrowed parts, not built in memory first: with many families it has
//! hundreds of thousands of rows.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::Format;
use super::agreement::STATS;
use super::note::{self, Entry};
use crate::report::json_text;
use crate::score::agreement::{self, Agreement, Stat, Weights};
use crate::score::analysis::{Analysis, Treated};
use crate::score::bootstrap::Interval;
use crate::score::differences::Difference;
use crate::score::exact::{Exact, float};
use crate::score::model::Scores;
use crate::score::panel::PanelRule;
use crate::score::sensitivity::{Span, Thresholds};
use crate::score::standing::Standing;
use crate::score::tables::{Row, Table, component_means};
use crate::score::treatments::{Level, Policy};

/// JSON.
pub(super) struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn write(&self, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
        json_text::write_document(out, &Document::new(analysis))
    }
}

/// Exact fractions longer than this are left out (null): with many different numbers of judges they can
/// have thousands of digits, and nobody reads them.
const MAX_FRACTION: usize = 200;
/// The reports of many runs are many files; so many are named, all are counted.
const MAX_FILES: usize = 50;

#[derive(Serialize)]
struct Document<'a> {
    schema: &'static str,
    command: &'static str,
    tool: BTreeMap<&'static str, &'static str>,
    inputs: Inputs<'a>,
    reruns: Option<Inputs<'a>>,
    panel: PanelRule,
    standings: BTreeMap<&'static str, u64>,
    before: usize,
    after: Option<usize>,
    treatments: Vec<Treatment<'a>>,
    sensitivity: Sensitivity<'a>,
    leakage: Vec<Entry>,
    bootstrap: Bootstrap,
    notes: &'a [String],
}

impl<'a> Document<'a> {
    fn new(analysis: &'a Analysis) -> Self {
        let options = analysis.options;
        let counts = analysis.standings.counts(&analysis.scores.runs);
        Self {
            schema: "trace-audit/1",
            command: "score",
            tool: BTreeMap::from([("version", env!("CARGO_PKG_VERSION"))]),
            inputs: Inputs::new(analysis.scores),
            reruns: analysis.reruns.map(Inputs::new),
            panel: options.rule,
            standings: counts.into_iter().map(|(s, n)| (s.name(), n)).collect(),
            before: 0,
            after: analysis.after,
            treatments: analysis.treated.iter().map(Treatment::new).collect(),
            sensitivity: Sensitivity {
                ranks: &analysis.spans,
                depends_on_auditor: analysis.depends_on_auditor(),
                thresholds: thresholds(&analysis.thresholds),
            },
            leakage: note::entries(analysis),
            bootstrap: Bootstrap {
                replicates: options.bootstrap.replicates,
                seed: options.bootstrap.seed,
                generator: "SplitMix64",
                cluster: "task",
            },
            notes: &analysis.notes,
        }
    }
}

#[derive(Serialize)]
struct Bootstrap {
    replicates: u32,
    seed: u64,
    generator: &'static str,
    cluster: &'static str,
}

#[derive(Serialize)]
struct Inputs<'a> {
    files: usize,
    first_files: Vec<String>,
    runs: usize,
    ratings: usize,
    tasks: usize,
    agents: BTreeSet<&'a str>,
    judges: &'a BTreeSet<String>,
    points: Vec<Component<'a>>,
}

#[derive(Serialize)]
struct Component<'a> {
    name: &'a str,
    mean: Option<f64>,
}

impl<'a> Inputs<'a> {
    fn new(scores: &'a Scores) -> Self {
        let runs: Vec<_> = scores.runs.values().collect();
        let means = component_means(&runs, scores.components.len());
        let named = scores.components.iter().zip(&means);
        let files = scores.files.iter().take(MAX_FILES);
        Self {
            files: scores.files.len(),
            first_files: files.map(|f| f.display().to_string()).collect(),
            runs: scores.runs.len(),
            ratings: scores.ratings(),
            tasks: scores.tasks().len(),
            agents: scores.agents(),
            judges: &scores.judges,
            points: named
                .map(|(name, mean)| Component {
                    name,
                    mean: number(mean.as_ref()),
                })
                .collect(),
        }
    }
}

fn number(value: Option<&Exact>) -> Option<f64> {
    value.and_then(float)
}

/// Six decimals, without a negative zero.
fn rounded(value: f64) -> f64 {
    let value = format!("{value:.6}").parse().unwrap_or(value);
    if value == 0.0 { 0.0 } else { value }
}

#[derive(Serialize)]
struct Bounds {
    low: f64,
    high: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    undefined_replicates: Option<u32>,
}

impl Bounds {
    fn drawn(interval: Option<Interval>) -> Option<Self> {
        interval.map(|i| Self {
            low: rounded(i.low),
            high: rounded(i.high),
            undefined_replicates: Some(i.undefined),
        })
    }
}

#[derive(Serialize)]
struct Treatment<'a> {
    level: Level,
    policy: Policy,
    runs: usize,
    left_out: Vec<LeftOut<'a>>,
    tables: Tables<'a>,
    common_items: u64,
    items: u64,
    common_tables: Tables<'a>,
    agreement: AgreementForm<'a>,
    differences: Vec<Change<'a>>,
    tau_b: Option<f64>,
}

#[derive(Serialize)]
struct LeftOut<'a> {
    run: &'a str,
    standing: Standing,
    replaced_by: Option<&'a str>,
}

#[derive(Serialize)]
struct Change<'a> {
    agent: &'a str,
    change: Option<f64>,
    interval: Option<Bounds>,
}

impl<'a> Treatment<'a> {
    fn new(treated: &'a Treated) -> Self {
        let s = &treated.selection;
        let left_out = s.left_out.iter().map(|l| LeftOut {
            run: &l.run.name,
            standing: l.standing,
            replaced_by: l.replaced_by.map(|r| r.name.as_str()),
        });
        let change = |d: &'a Difference| Change {
            agent: &d.agent,
            change: number(d.change.as_ref()),
            interval: Bounds::drawn(d.interval),
        };
        Self {
            level: s.level,
            policy: s.policy,
            runs: s.runs.len(),
            left_out: left_out.collect(),
            tables: Tables(&treated.tables),
            common_items: treated.common_items,
            items: treated.items,
            common_tables: Tables(&treated.common),
            agreement: AgreementForm(&treated.agreement),
            differences: treated.differences.iter().map(change).collect(),
            tau_b: treated.tau_b.map(rounded),
        }
    }
}

struct Tables<'a>(&'a [Table]);

impl Serialize for Tables<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.0.iter().map(|t| (t.by.name(), Rows(&t.rows))))
    }
}

struct Rows<'a>(&'a [Row]);

impl Serialize for Rows<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(RowForm::new))
    }
}

#[derive(Serialize)]
struct RowForm<'a> {
    scope: Option<&'a str>,
    agent: Option<&'a str>,
    runs: u64,
    pass: u64,
    partial: u64,
    fail: u64,
    unrated: u64,
    rate: Option<f64>,
    rate_interval: Option<Bounds>,
    scored: u64,
    mean_score: Option<f64>,
    rank: Option<u64>,
    rank_by_mean: Option<u64>,
}

impl<'a> RowForm<'a> {
    fn new(row: &'a Row) -> Self {
        let label = |text: &'a str| Some(text).filter(|t| !t.is_empty());
        Self {
            scope: label(&row.scope),
            agent: label(&row.agent),
            runs: row.runs,
            pass: row.pass,
            partial: row.partial,
            fail: row.fail,
            unrated: row.unrated,
            rate: number(row.rate().as_ref()),
            rate_interval: row.interval().map(|(low, high)| Bounds {
                low: rounded(low),
                high: rounded(high),
                undefined_replicates: None,
            }),
            scored: row.scored,
            mean_score: number(row.mean.as_ref()),
            rank: row.rank,
            rank_by_mean: row.rank_by_mean,
        }
    }
}

struct AgreementForm<'a>(&'a Agreement);

#[derive(Serialize)]
struct Statistic {
    value: Option<f64>,
    exact: Option<String>,
    interval: Option<Bounds>,
}

impl Statistic {
    fn new(stat: &Stat) -> Option<Self> {
        stat.value.as_ref().map(|value| Self {
            value: float(value),
            exact: Some(value.to_string()).filter(|text| text.len() <= MAX_FRACTION),
            interval: Bounds::drawn(stat.interval),
        })
    }
}

impl Serialize for AgreementForm<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let a = self.0;
        let mut map = serializer.serialize_map(None)?;
        for (_, key, of) in STATS {
            map.serialize_entry(key, &Statistic::new(of(a)))?;
        }
        for (key, count) in [
            ("runs", a.runs),
            ("single", a.single),
            ("unrated", a.unrated),
            ("raters", a.raters),
            ("complete", a.complete),
            ("unanimous", a.unanimous),
        ] {
            map.serialize_entry(key, &count)?;
        }
        map.serialize_entry("unanimity", &number(a.unanimity().as_ref()))?;
        map.serialize_entry("mean_pairwise", &number(a.mean_pairwise().as_ref()))?;
        map.serialize_entry("mean_cohen", &number(a.mean_cohen().as_ref()))?;
        map.serialize_entry(
            "pairs",
            &a.pairs.iter().map(PairForm::new).collect::<Vec<_>>(),
        )?;
        map.end()
    }
}

#[derive(Serialize)]
struct PairForm<'a> {
    first: &'a str,
    second: &'a str,
    runs: u64,
    agreed: u64,
    agreement: Option<f64>,
    cohen: Option<f64>,
    cohen_linear: Option<f64>,
    cohen_quadratic: Option<f64>,
}

impl<'a> PairForm<'a> {
    fn new(pair: &'a agreement::Pair) -> Self {
        let cohen = |weights| number(pair.cohen(&weights).as_ref());
        Self {
            first: &pair.first,
            second: &pair.second,
            runs: pair.runs(),
            agreed: pair.agreed(),
            agreement: number(pair.agreement().as_ref()),
            cohen: cohen(Weights::IDENTITY),
            cohen_linear: cohen(Weights::LINEAR),
            cohen_quadratic: cohen(Weights::QUADRATIC),
        }
    }
}

#[derive(Serialize)]
struct Sensitivity<'a> {
    ranks: &'a [Span],
    depends_on_auditor: bool,
    thresholds: ThresholdsForm<'a>,
}

#[derive(Serialize)]
#[serde(untagged)]
enum ThresholdsForm<'a> {
    No {
        computed: bool,
        why: &'a str,
    },
    Yes {
        computed: bool,
        ranks: &'a [Span],
        changed: Vec<Changed>,
    },
}

#[derive(Serialize)]
struct Changed {
    scale: f64,
    runs: u64,
}

fn thresholds(thresholds: &Thresholds) -> ThresholdsForm<'_> {
    match thresholds {
        Thresholds::NotComputed(why) => ThresholdsForm::No {
            computed: false,
            why,
        },
        Thresholds::Computed { spans, changed, .. } => ThresholdsForm::Yes {
            computed: true,
            ranks: spans,
            changed: changed
                .iter()
                .map(|(scale, runs)| Changed {
                    scale: *scale,
                    runs: *runs,
                })
                .collect(),
        },
    }
}
