//! What a report shows to people, as headings, sentences and tables without any markup.

use std::collections::BTreeMap;

use super::cells::{NOTHING, change, decimals, signed, stat};
use super::{agreement, note};
use crate::score::analysis::{Analysis, Treated};
use crate::score::exact::{fixed, percent};
use crate::score::sensitivity::{Span, Thresholds};
use crate::score::tables::{By, Row};
use crate::score::treatments::{Level, Policy};

/// One part of a report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// A heading.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A list of sentences.
    List(Vec<String>),
    /// A table.
    Table(Grid),
}

/// A table of texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Grid {
    /// What it shows, in a few words.
    pub title: String,
    /// The heads of the columns; the first `left` are aligned to the left, the rest to the right.
    pub columns: Vec<String>,
    /// How many columns hold labels.
    pub left: usize,
    /// The cells.
    pub rows: Vec<Vec<String>>,
}

/// The whole report.
pub fn blocks(analysis: &Analysis) -> Vec<Block> {
    let mut out = head(analysis);
    if let Some(before) = analysis.before() {
        let pair = Pair {
            before,
            after: analysis.after(),
        };
        out.push(Block::Table(groups(&pair, By::All, "All runs")));
        out.push(Block::Table(groups(&pair, By::Agent, "By agent")));
        out.push(Block::Table(ranking(analysis, &pair)));
        for (by, title) in [
            (By::Family, "By family"),
            (By::Prompt, "By prompt"),
            (By::PromptAgent, "By prompt and agent"),
            (By::FamilyAgent, "By family and agent"),
        ] {
            // One scope only says again what the table above says.
            let scopes = before.table(by).chunk_by(|a, b| a.scope == b.scope).count();
            if scopes > 1 {
                out.push(Block::Table(groups(&pair, by, title)));
            }
        }
        if analysis.treated.len() > 1 {
            out.push(Block::Table(treatments(analysis)));
        }
        out.push(Block::Heading(
            "Does the ranking depend on the auditor?".into(),
        ));
        out.extend(sensitivity(analysis));
        out.extend(agreement::blocks(analysis, &pair));
    }
    out.extend(note::blocks(analysis));
    if !analysis.notes.is_empty() {
        out.push(Block::Heading("Notes".into()));
        out.push(Block::List(analysis.notes.clone()));
    }
    out
}

/// Before, and after if there is one.
pub(super) struct Pair<'a> {
    /// All runs.
    pub(super) before: &'a Treated<'a>,
    /// The treatment beside it.
    pub(super) after: Option<&'a Treated<'a>>,
}

/// "what is left out; what becomes of its place".
pub(super) fn treatment_words(level: Level, policy: Policy) -> String {
    match level {
        Level::All => level.words().into(),
        _ => format!("{} ({})", level.words(), policy.name()),
    }
}

fn head(analysis: &Analysis) -> Vec<Block> {
    let scores = analysis.scores;
    let judges: Vec<&str> = scores.judges.iter().map(String::as_str).take(12).collect();
    let more = if scores.judges.len() > judges.len() {
        ", ..."
    } else {
        ""
    };
    let mut out = vec![Block::Heading("Scores".into())];
    out.push(Block::Text(format!(
        "{} runs of {} agents on {} tasks, {} ratings by {} judges ({}{more}). Panel: {}.",
        scores.runs.len(),
        scores.agents().len(),
        scores.tasks().len(),
        scores.ratings(),
        scores.judges.len(),
        judges.join(", "),
        analysis.options.rule,
    )));
    match analysis.after() {
        Some(after) => {
            let s = &after.selection;
            let replaced = s
                .left_out
                .iter()
                .filter(|l| l.replaced_by.is_some())
                .count();
            let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
            for gone in &s.left_out {
                *counts.entry(gone.standing.name()).or_default() += 1;
            }
            let counts: Vec<String> = counts
                .iter()
                .map(|(name, n)| format!("{n} {name}"))
                .collect();
            let counts = if counts.is_empty() {
                "none".into()
            } else {
                counts.join(", ")
            };
            out.push(Block::Text(format!(
                "Before: all runs. After: {}; left out: {counts}; {replaced} replaced. Policy: {}.",
                treatment_words(s.level, s.policy),
                s.policy.words(),
            )));
        }
        None => out.push(Block::Text("Nothing is left out.".into())),
    }
    out
}

pub(super) fn rate_text(row: &Row) -> Option<String> {
    row.rate().map(|r| percent(&r, 2))
}

pub(super) fn interval_text(row: &Row) -> Option<String> {
    row.interval()
        .map(|(low, high)| format!("{:.2} to {:.2}", low * 100.0, high * 100.0))
}

fn groups(pair: &Pair, by: By, title: &str) -> Grid {
    let labels: &[&str] = match by {
        By::All => &["group"],
        By::Agent => &["agent"],
        By::Family => &["family"],
        By::Prompt => &["prompt"],
        By::FamilyAgent => &["family", "agent"],
        By::PromptAgent => &["prompt", "agent"],
    };
    let ranked = matches!(by, By::Agent | By::FamilyAgent | By::PromptAgent);
    let mut columns: Vec<String> = labels.iter().map(|l| (*l).to_string()).collect();
    let numbers = [
        "runs",
        "PASS",
        "PARTIAL",
        "FAIL",
        "PASS %",
        "95 % interval",
        "mean score",
    ];
    columns.extend(numbers.iter().map(|n| (*n).to_string()));
    if ranked {
        columns.push("rank".into());
    }
    let rows = pair
        .before
        .table(by)
        .iter()
        .map(|row| {
            let after = pair.after.map(|a| a.row(by, &row.scope, &row.agent));
            let cell =
                |f: &dyn Fn(&Row) -> Option<String>| change(f(row), after.map(|a| a.and_then(f)));
            let count = |f: &dyn Fn(&Row) -> u64| {
                change(
                    Some(f(row).to_string()),
                    after.map(|a| Some(a.map_or(0, f).to_string())),
                )
            };
            let mut cells: Vec<String> = match by {
                By::All => vec!["all".into()],
                By::Agent => vec![row.agent.clone()],
                By::Family | By::Prompt => vec![row.scope.clone()],
                By::FamilyAgent | By::PromptAgent => vec![row.scope.clone(), row.agent.clone()],
            };
            cells.extend([
                count(&|r| r.runs),
                count(&|r| r.pass),
                count(&|r| r.partial),
                count(&|r| r.fail),
                cell(&rate_text),
                cell(&interval_text),
                cell(&|r| r.mean.as_ref().map(|m| fixed(m, 2))),
            ]);
            if ranked {
                cells.push(cell(&|r| r.rank.map(|n| n.to_string())));
            }
            cells
        })
        .collect();
    Grid {
        title: title.into(),
        left: labels.len(),
        columns,
        rows,
    }
}

/// Ranks over both denominators and the span.
fn ranking(analysis: &Analysis, pair: &Pair) -> Grid {
    let columns = [
        "agent",
        "rank, runs left",
        "rank, items all agents kept",
        "PASS / runs on those items",
        "rank by mean score",
        "change of PASS %, points",
        "95 % interval of the change",
        "rank over all treatments",
    ];
    let rank = |r: &Row| r.rank.map(|n| n.to_string());
    let rows = analysis
        .spans
        .iter()
        .map(|span| {
            let agent = span.agent.as_str();
            let cell = |common: bool, f: &dyn Fn(&Row) -> Option<String>| {
                let row = |t: &Treated| {
                    let row = if common {
                        t.common_row(By::Agent, "", agent)
                    } else {
                        t.row(By::Agent, "", agent)
                    };
                    row.and_then(f)
                };
                change(row(pair.before), pair.after.map(row))
            };
            // Sorted by agent, as the spans are.
            let difference = pair.after.and_then(|a| {
                let at = a
                    .differences
                    .binary_search_by(|d| d.agent.as_str().cmp(agent))
                    .ok()?;
                a.differences.get(at)
            });
            let points = difference
                .and_then(|d| d.change.as_ref())
                .map(|c| signed(percent(c, 2)));
            let interval = difference.and_then(|d| d.interval).map(|i| {
                format!(
                    "{} to {}",
                    signed(decimals(i.low * 100.0, 2)),
                    signed(decimals(i.high * 100.0, 2))
                )
            });
            vec![
                agent.to_string(),
                cell(false, &rank),
                cell(true, &rank),
                cell(true, &|r| Some(format!("{}/{}", r.pass, r.runs))),
                cell(false, &|r| r.rank_by_mean.map(|n| n.to_string())),
                points.unwrap_or_else(|| NOTHING.into()),
                interval.unwrap_or_else(|| NOTHING.into()),
                span_text(span),
            ]
        })
        .collect();
    Grid {
        title: "Ranks (ties shared)".into(),
        left: 1,
        columns: columns.iter().map(|c| (*c).to_string()).collect(),
        rows,
    }
}

pub(super) fn span_text(span: &Span) -> String {
    let text = match (span.best, span.worst) {
        (Some(best), Some(worst)) if best != worst => format!("{best} to {worst}"),
        (Some(best), _) => best.to_string(),
        _ => NOTHING.into(),
    };
    if span.unranked > 0 {
        format!("{text}, {} times none", span.unranked)
    } else {
        text
    }
}

fn treatments(analysis: &Analysis) -> Grid {
    let columns = [
        "treatment",
        "runs",
        "left out",
        "replaced",
        "PASS",
        "PASS %",
        "Fleiss' kappa",
        "items all agents kept",
        "tau-b with all runs",
        "ranks",
    ];
    let rows = analysis
        .treated
        .iter()
        .map(|t| {
            let all = t.table(By::All).first();
            let ranks: Vec<String> = t
                .table(By::Agent)
                .iter()
                .map(|r| {
                    format!(
                        "{} {}",
                        r.agent,
                        r.rank.map_or(NOTHING.into(), |n| n.to_string())
                    )
                })
                .collect();
            let s = &t.selection;
            vec![
                treatment_words(s.level, s.policy),
                s.runs.len().to_string(),
                s.left_out.len().to_string(),
                s.left_out
                    .iter()
                    .filter(|l| l.replaced_by.is_some())
                    .count()
                    .to_string(),
                all.map_or(0, |r| r.pass).to_string(),
                all.and_then(rate_text).unwrap_or_else(|| NOTHING.into()),
                stat(&t.agreement.fleiss),
                format!("{} of {}", t.common_items, t.items),
                t.tau_b.map_or(NOTHING.into(), |v| decimals(v, 4)),
                ranks.join(", "),
            ]
        })
        .collect();
    Grid {
        title: "Treatments".into(),
        left: 1,
        columns: columns.iter().map(|c| (*c).to_string()).collect(),
        rows,
    }
}

fn sensitivity(analysis: &Analysis) -> Vec<Block> {
    let rankings = analysis.treated.len() * 2;
    let mut words = if analysis.treated.len() < 2 {
        "There is one treatment only: nothing to compare.".to_string()
    } else if analysis.depends_on_auditor() {
        let moved: Vec<String> = analysis
            .spans
            .iter()
            .filter(|s| !s.is_point())
            .map(|s| format!("{} ({})", s.agent, span_text(s)))
            .collect();
        format!(
            "Yes. Over {rankings} rankings (every treatment, both denominators) ranks move: {}.",
            moved.join(", ")
        )
    } else if analysis.spans.iter().all(Span::is_point) {
        format!(
            "No. Every agent has the same rank in all {rankings} rankings (every treatment, both denominators)."
        )
    } else {
        "No. Over either denominator every agent has the same rank under every treatment (the two \
         denominators differ from the start: some agents lack tasks)."
            .to_string()
    };
    match &analysis.thresholds {
        Thresholds::NotComputed(why) => {
            words.push_str(&format!(" Thresholds of the audit were not moved: {why}."));
        }
        Thresholds::Computed { spans, changed, .. } => {
            let changed: Vec<String> = changed
                .iter()
                .map(|(scale, n)| format!("{n} at {:.0} %", scale * 100.0))
                .collect();
            let spans: Vec<String> = spans
                .iter()
                .map(|s| format!("{} {}", s.agent, span_text(s)))
                .collect();
            words.push_str(&format!(
                " With the thresholds of the audit moved, runs change their standing ({}), and the ranks span: {}.",
                changed.join(", "),
                spans.join(", ")
            ));
        }
    }
    vec![Block::Text(words)]
}
