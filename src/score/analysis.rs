//! Puts everything together: tables, agreement and ranks under every treatment. Pure; reading is in
//! [`super::read`], writing in [`super::report`].

use std::collections::{BTreeMap, BTreeSet};

use super::agreement::{Agreement, MAX_PAIRED_JUDGES};
use super::bootstrap::{self, Interval, Settings};
use super::exact::Exact;
use super::model::{Outcome, Run, Scores};
use super::panel::PanelRule;
use super::rank::tau_b;
use super::read::audit::Audits;
use super::sensitivity::{self, Judge, Span, Thresholds};
use super::tables::{self, By, Row, Table};
use super::treatments::{Level, Policy, Selection, Standing, Standings, common};
use crate::{Error, Result};

/// An agent with fewer runs left than this is pointed out.
pub const FEW_RUNS: u64 = 10;
/// How many names a note lists before it only counts.
const MAX_LISTED: usize = 20;

/// What to compute.
#[derive(Debug, Clone, Copy)]
pub struct Options {
    /// The rule of the panel.
    pub rule: PanelRule,
    /// The treatment shown as "after".
    pub level: Level,
    /// How intervals are drawn.
    pub bootstrap: Settings,
}

/// The change of an agent's rate of PASS against all runs.
#[derive(Debug, Clone, PartialEq)]
pub struct Difference {
    /// The agent.
    pub agent: String,
    /// Rate under the treatment minus rate over all runs.
    pub change: Option<Exact>,
    /// 95 % interval, both rates from the same draws of tasks.
    pub interval: Option<Interval>,
}

/// Everything under one treatment.
#[derive(Debug, Clone)]
pub struct Treated<'a> {
    /// Which runs.
    pub selection: Selection<'a>,
    /// Tables over the runs that are left.
    pub tables: Vec<Table>,
    /// Items (task and form of the prompt) on which every agent has a run left.
    pub common_items: u64,
    /// Items in the score tables.
    pub items: u64,
    /// Tables over the runs of those items.
    pub common: Vec<Table>,
    /// How far the judges agree on the runs that are left.
    pub agreement: Agreement,
    /// Change of each agent's rate.
    pub differences: Vec<Difference>,
    /// Kendall's tau-b between the ranking of all runs and this one.
    pub tau_b: Option<f64>,
}

/// The whole result.
#[derive(Debug, Clone)]
pub struct Analysis<'a> {
    /// The scores.
    pub scores: &'a Scores,
    /// The reruns.
    pub reruns: Option<&'a Scores>,
    /// What was asked for.
    pub options: Options,
    /// Standing of each run.
    pub standings: Standings<'a>,
    /// All treatments; the first is all runs.
    pub treated: Vec<Treated<'a>>,
    /// Which of them is "after"; `None` when nothing is left out by any.
    pub after: Option<usize>,
    /// Span of the ranks over treatments and denominators.
    pub spans: Vec<Span>,
    /// The same over other thresholds.
    pub thresholds: Thresholds,
    /// What a reader should know.
    pub notes: Vec<String>,
}

impl<'a> Treated<'a> {
    fn new(selection: Selection<'a>, scores: &'a Scores, options: &Options) -> Self {
        let shared = common(&selection.runs, &scores.agents());
        let items = |runs: &[&Run]| {
            runs.iter()
                .map(|r| (r.task.clone(), r.prompt.clone()))
                .collect::<BTreeSet<_>>()
        };
        Self {
            tables: tables::tables(&selection.runs, options.rule),
            common_items: items(&shared).len() as u64,
            items: items(&scores.runs.values().collect::<Vec<_>>()).len() as u64,
            common: tables::tables(&shared, options.rule),
            agreement: Agreement::of(&selection.runs, options.bootstrap),
            differences: differences(scores, &selection, options),
            tau_b: None,
            selection,
        }
    }

    /// The table of a grouping, over the runs left.
    pub fn table(&self, by: By) -> &[Row] {
        rows(&self.tables, by)
    }

    /// The table of a grouping, over the common items.
    pub fn common_table(&self, by: By) -> &[Row] {
        rows(&self.common, by)
    }

    /// Rank of each of the agents over the runs left.
    fn ranking(&self, agents: &BTreeSet<&str>) -> Vec<Option<u64>> {
        let ranks: BTreeMap<&str, Option<u64>> = self
            .table(By::Agent)
            .iter()
            .map(|r| (r.agent.as_str(), r.rank))
            .collect();
        agents
            .iter()
            .map(|a| ranks.get(a).copied().flatten())
            .collect()
    }
}

fn rows(tables: &[Table], by: By) -> &[Row] {
    tables
        .iter()
        .find(|t| t.by == by)
        .map_or(&[], |t| t.rows.as_slice())
}

impl Analysis<'_> {
    /// All runs.
    pub fn before(&self) -> Option<&Treated<'_>> {
        self.treated.first()
    }

    /// The treatment shown beside it, if it leaves anything out.
    pub fn after(&self) -> Option<&Treated<'_>> {
        self.after.and_then(|i| self.treated.get(i))
    }

    /// Whether any agent's rank differs between treatments, denominators or thresholds.
    pub fn depends_on_auditor(&self) -> bool {
        let wide = |spans: &[Span]| spans.iter().any(|s| !s.is_point());
        wide(&self.spans)
            || matches!(&self.thresholds, Thresholds::Computed { spans, .. } if wide(spans))
    }
}

/// Computes everything.
///
/// # Errors
///
/// The rule of the panel can never say PASS on these tables.
pub fn analyse<'a>(
    scores: &'a Scores,
    reruns: Option<&'a Scores>,
    standings: Standings<'a>,
    audits: Option<&Audits>,
    options: Options,
    judge: Option<&Judge>,
) -> Result<Analysis<'a>> {
    check_rule(scores, options.rule)?;
    let counts = standings.counts(&scores.runs);
    let agents = scores.agents();
    let mut treated: Vec<Treated> = treatments(&standings, &counts, reruns.is_some())
        .into_iter()
        .map(|(level, policy)| {
            let selection = standings.select(scores, reruns, level, policy);
            Treated::new(selection, scores, &options)
        })
        .collect();
    let first = treated
        .first()
        .map(|t| t.ranking(&agents))
        .unwrap_or_default();
    for t in &mut treated {
        t.tau_b = tau_b(&first, &t.ranking(&agents));
    }
    let policy = if reruns.is_some() {
        Policy::Substitute
    } else {
        Policy::Drop
    };
    let after = treated
        .iter()
        .position(|t| t.selection.level == options.level && t.selection.policy == policy)
        .filter(|_| options.level != Level::All);
    let rankings = |t: &'_ [Treated]| -> Vec<Table> {
        t.iter()
            .flat_map(|t| {
                t.tables
                    .iter()
                    .chain(&t.common)
                    .filter(|t| t.by == By::Agent)
                    .cloned()
            })
            .collect()
    };
    let base = rankings(&treated);
    let spans = sensitivity::spans(&agents, base.iter());
    let thresholds = thresholds(scores, reruns, &standings, audits, &options, judge, base);
    let mut analysis = Analysis {
        scores,
        reruns,
        options,
        standings,
        treated,
        after,
        spans,
        thresholds,
        notes: Vec::new(),
    };
    analysis.notes = notes(&analysis, &counts);
    Ok(analysis)
}

/// The treatments that say something, given who stands how.
fn treatments(
    standings: &Standings,
    counts: &BTreeMap<Standing, u64>,
    reruns: bool,
) -> Vec<(Level, Policy)> {
    let has = |standing| counts.contains_key(&standing);
    let policies: &[Policy] = if reruns {
        &[Policy::Drop, Policy::Substitute]
    } else {
        &[Policy::Drop]
    };
    let levels = Level::ALL.into_iter().filter(|level| match level {
        Level::All => false,
        Level::Harness => has(Standing::Harness),
        Level::Invalid => standings.any_audit || has(Standing::Excluded),
        Level::Partial | Level::Inconclusive => standings.any_audit,
    });
    let rest = levels.flat_map(|level| policies.iter().map(move |policy| (level, *policy)));
    std::iter::once((Level::All, Policy::Drop))
        .chain(rest)
        .collect()
}

fn check_rule(scores: &Scores, rule: PanelRule) -> Result<()> {
    let most = scores
        .runs
        .values()
        .map(|r| r.ratings.len() as u64)
        .max()
        .unwrap_or_default();
    if most >= rule.pass {
        return Ok(());
    }
    let majority = most / 2 + 1;
    Err(Error::Usage {
        what: format!(
            "the panel needs {} votes for a PASS, and no run has more than {most} ratings",
            rule.pass
        ),
        fix: format!(
            "give a rule that fits the table, such as --panel pass={majority},fail={majority}"
        ),
    })
}

fn thresholds(
    scores: &Scores,
    reruns: Option<&Scores>,
    standings: &Standings,
    audits: Option<&Audits>,
    options: &Options,
    judge: Option<&Judge>,
    mut rankings: Vec<Table>,
) -> Thresholds {
    let Some(audits) = audits else {
        return Thresholds::NotComputed("there is no audit whose thresholds could move".into());
    };
    let verdicts = match sensitivity::verdicts_at(audits, judge) {
        Ok(verdicts) => verdicts,
        Err(why) => return Thresholds::NotComputed(why),
    };
    let mut changed = Vec::new();
    for (scale, verdicts) in verdicts {
        // Verdicts are by the audit's names; standings by those of the tables.
        let by_run: BTreeMap<String, Standing> = standings
            .audited
            .iter()
            .filter_map(|(run, audited)| Some(((*run).to_string(), *verdicts.get(&audited.run)?)))
            .collect();
        let other = standings.rejudged(&by_run);
        let differ = scores
            .runs
            .values()
            .filter(|r| other.of(r) != standings.of(r))
            .count() as u64;
        changed.push((scale, differ));
        for (level, policy) in treatments(&other, &other.counts(&scores.runs), reruns.is_some()) {
            let selection = other.select(scores, reruns, level, policy);
            rankings.push(tables::table(&selection.runs, options.rule, By::Agent));
            rankings.push(tables::table(
                &common(&selection.runs, &scores.agents()),
                options.rule,
                By::Agent,
            ));
        }
    }
    Thresholds::Computed {
        spans: sensitivity::spans(&scores.agents(), rankings.iter()),
        changed,
    }
}

/// PASS and runs of each agent, before and after, in one cluster.
#[derive(Debug, Clone, Default)]
struct RateCluster(Vec<[f64; 4]>);

impl bootstrap::Additive for RateCluster {
    fn add(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), [0.0; 4]);
        for (sum, part) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *sum += part;
        }
    }
}

fn differences(scores: &Scores, selection: &Selection, options: &Options) -> Vec<Difference> {
    if selection.level == Level::All {
        return Vec::new();
    }
    let agents: Vec<&str> = scores.agents().into_iter().collect();
    let mut clusters: BTreeMap<&str, RateCluster> = BTreeMap::new();
    let all = scores.runs.values().map(|r| (r, false));
    for (run, after) in all.chain(selection.runs.iter().map(|r| (*r, true))) {
        let Some(outcome) = options.rule.judge(run) else {
            continue;
        };
        let cluster = clusters.entry(&run.task).or_default();
        cluster.0.resize(agents.len(), [0.0; 4]);
        let pass = f64::from(u8::from(outcome == Outcome::Pass));
        for (agent, [pass_before, before, pass_after, left]) in
            agents.iter().zip(cluster.0.iter_mut())
        {
            if *agent == run.agent {
                let (passes, runs) = if after {
                    (pass_after, left)
                } else {
                    (pass_before, before)
                };
                *passes += pass;
                *runs += 1.0;
            }
        }
    }
    let clusters: Vec<RateCluster> = clusters.into_values().collect();
    let count = agents.len();
    let intervals = bootstrap::intervals(&clusters, options.bootstrap, |sum| {
        let rate = |[pass_before, before, pass_after, left]: &[f64; 4]| {
            (*before > 0.0 && *left > 0.0).then(|| pass_after / left - pass_before / before)
        };
        let mut rates: Vec<Option<f64>> = sum.0.iter().map(rate).collect();
        rates.resize(count, None);
        rates
    });
    let everything: Vec<&Run> = scores.runs.values().collect();
    let before = tables::table(&everything, options.rule, By::Agent);
    let after = tables::table(&selection.runs, options.rule, By::Agent);
    let rate = |table: &Table, agent: &str| {
        table
            .rows
            .iter()
            .find(|r| r.agent == agent)
            .and_then(Row::rate)
    };
    agents
        .iter()
        .zip(intervals)
        .map(|(agent, interval)| Difference {
            agent: (*agent).into(),
            change: rate(&after, agent)
                .zip(rate(&before, agent))
                .map(|(a, b)| a - b),
            interval,
        })
        .collect()
}

/// What a reader should know, in a fixed order.
fn notes(analysis: &Analysis, counts: &BTreeMap<Standing, u64>) -> Vec<String> {
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
            let left = after
                .table(By::Agent)
                .iter()
                .find(|r| r.agent == agent)
                .map_or(0, |r| r.runs);
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
