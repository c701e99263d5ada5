//! Puts everything together: tables, agreement and ranks under every treatment. Pure; reading is in
//! [`super::read`], writing in [`super::report`].

use std::collections::{BTreeMap, BTreeSet};

use super::agreement::Agreement;
use super::bootstrap::Settings;
use super::differences::{Difference, differences};
use super::model::{Run, Scores};
use super::notes;
use super::panel::PanelRule;
use super::rank::tau_b;
use super::read::audit::Audits;
use super::sensitivity::{self, Judge, Rankings, Span, Thresholds};
use super::standing::{Standing, Standings};
use super::tables::{self, By, Row, Table, find_row};
use super::treatments::{Level, Policy, Selection, common};
use crate::{Error, Result};

/// More agents than this are no ranking but a column that was misread.
pub const MAX_AGENTS: usize = 1000;

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
    /// Whether a rank differs between treatments over the same denominator.
    pub moved: bool,
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

    /// The row of a group, over the runs left.
    pub fn row(&self, by: By, scope: &str, agent: &str) -> Option<&Row> {
        find_row(self.table(by), scope, agent)
    }

    /// The row of a group, over the common items.
    pub fn common_row(&self, by: By, scope: &str, agent: &str) -> Option<&Row> {
        find_row(self.common_table(by), scope, agent)
    }

    /// Rank of each of the agents over the runs left.
    fn ranking(&self, agents: &BTreeSet<&str>) -> Vec<Option<u64>> {
        agents
            .iter()
            .map(|agent| self.row(By::Agent, "", agent).and_then(|r| r.rank))
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

    /// Whether an agent's rank differs between treatments or thresholds, over the same denominator.
    pub fn depends_on_auditor(&self) -> bool {
        self.moved || matches!(&self.thresholds, Thresholds::Computed { moved: true, .. })
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
    check_agents(scores)?;
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
    let mut rankings = Rankings::default();
    for t in &treated {
        let by_agent = |tables: &[Table]| Table {
            by: By::Agent,
            rows: rows(tables, By::Agent).to_vec(),
        };
        rankings.add(by_agent(&t.tables), by_agent(&t.common));
    }
    let (spans, moved) = (
        rankings.spans(&agents),
        rankings.move_within_a_denominator(&agents),
    );
    let thresholds = thresholds(
        scores, reruns, &standings, audits, &options, judge, rankings,
    );
    let mut analysis = Analysis {
        scores,
        reruns,
        options,
        standings,
        treated,
        after,
        spans,
        moved,
        thresholds,
        notes: Vec::new(),
    };
    analysis.notes = notes::notes(&analysis, &counts);
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

fn check_agents(scores: &Scores) -> Result<()> {
    let agents = scores.agents().len();
    if agents <= MAX_AGENTS {
        return Ok(());
    }
    Err(Error::Usage {
        what: format!("the tables name {agents} agents; more than {MAX_AGENTS} cannot be ranked"),
        fix: "this is probably another column; name the right one with --column agent=HEADER"
            .into(),
    })
}

fn thresholds(
    scores: &Scores,
    reruns: Option<&Scores>,
    standings: &Standings,
    audits: Option<&Audits>,
    options: &Options,
    judge: Option<&Judge>,
    mut rankings: Rankings,
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
            let shared = common(&selection.runs, &scores.agents());
            let by_agent = |runs: &[&Run]| tables::table(runs, options.rule, By::Agent);
            rankings.add(by_agent(&selection.runs), by_agent(&shared));
        }
    }
    let agents = scores.agents();
    Thresholds::Computed {
        spans: rankings.spans(&agents),
        moved: rankings.move_within_a_denominator(&agents),
        changed,
    }
}
