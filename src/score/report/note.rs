//! The leakage note: which runs, why, what became of their places, and the digests that say which
//! evidence this rests on. Short enough for a paper.

use super::view::{Block, Grid, treatment_words};
use crate::score::analysis::{Analysis, Treated};
use crate::score::exact::fixed;
use crate::score::model::Run;
use crate::score::standing::{Standing, TakenOut};
use crate::score::tables::By;

/// One run that is not shown to be clean.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub(super) struct Entry {
    /// The run.
    pub(super) run: String,
    /// Its standing.
    pub(super) standing: Standing,
    /// Why: the audit's reason, or where it was taken out.
    pub(super) reason: String,
    /// The audit's causes.
    pub(super) causes: Vec<String>,
    /// The audit's confidence.
    pub(super) confidence: String,
    /// Left out in "after".
    pub(super) left_out: bool,
    /// The rerun in its place.
    pub(super) replaced_by: Option<String>,
    /// SHA-256 of the audit's statement.
    pub(super) evidence_sha256: Option<String>,
    /// Tool, rules and policy of the audit.
    pub(super) audited_by: Option<String>,
}

/// Every run of the tables that is not shown to be clean, in the order of names.
pub(super) fn entries(analysis: &Analysis) -> Vec<Entry> {
    let left_out = analysis
        .after()
        .map(|a| a.selection.left_out.as_slice())
        .unwrap_or_default();
    let mut out = Vec::new();
    for run in analysis.scores.runs.values() {
        let standing = analysis.standings.of(run);
        if matches!(standing, Standing::Clean | Standing::NotAudited) {
            continue;
        }
        // Both lists are in the order of names.
        let gone = left_out
            .binary_search_by(|l| l.run.name.cmp(&run.name))
            .ok()
            .and_then(|at| left_out.get(at));
        out.push(entry(analysis, run, standing, gone.map(|l| l.replaced_by)));
    }
    out
}

fn entry(analysis: &Analysis, run: &Run, standing: Standing, gone: Option<Option<&Run>>) -> Entry {
    let audited = analysis.standings.audited.get(run.name.as_str());
    let audit_reason = audited.map(|a| match &a.error {
        Some(error) if a.verdict.is_none() => error.clone(),
        _ => a.reason.clone(),
    });
    let taken_out = analysis.standings.taken_out(run).map(|how| match how {
        TakenOut::Marked => "its name marks it as taken out",
        TakenOut::InAudit => "the audit lists it as taken out",
        TakenOut::Named => "named to be left out",
    });
    let audited_as = audited
        .and_then(|a| a.verdict)
        .map(|v| format!("audit: {}", v.name()));
    let said = [
        audit_reason.filter(|r| !r.is_empty()),
        taken_out.map(String::from),
        // Otherwise the standing says it.
        audited_as.filter(|_| standing == Standing::Excluded),
    ];
    let reason = said.into_iter().flatten().collect::<Vec<_>>().join(", ");
    Entry {
        run: run.name.clone(),
        standing,
        reason,
        causes: audited.map(|a| a.causes.clone()).unwrap_or_default(),
        confidence: audited.map(|a| a.confidence.clone()).unwrap_or_default(),
        left_out: gone.is_some(),
        replaced_by: gone.flatten().map(|r| r.name.clone()),
        evidence_sha256: audited.map(|a| a.digest.clone()),
        audited_by: audited.and_then(|a| a.tool.clone()),
    }
}

/// The note.
pub(super) fn blocks(analysis: &Analysis) -> Vec<Block> {
    let entries = entries(analysis);
    let mut out = vec![Block::Heading("Leakage".into())];
    let (Some(before), Some(after)) = (analysis.before(), analysis.after()) else {
        out.push(Block::Text("No run is left out.".into()));
        return out;
    };
    out.push(Block::Text(sentences(analysis, before, after, &entries)));
    if entries.is_empty() {
        return out;
    }
    let rows = entries
        .iter()
        .map(|e| {
            let why = [e.reason.as_str(), &e.causes.join(" "), &e.confidence];
            let why: Vec<&str> = why.into_iter().filter(|w| !w.is_empty()).collect();
            let place = match (&e.replaced_by, e.left_out) {
                (Some(rerun), _) => format!("replaced by {rerun}"),
                (None, true) => "left out".into(),
                (None, false) => "kept".into(),
            };
            // Sixteen digits name a statement as surely as sixty-four, in a fraction of the width.
            let digest = e
                .evidence_sha256
                .as_deref()
                .map_or("none", |d| d.get(..16).unwrap_or(d));
            vec![
                e.run.clone(),
                e.standing.name().replace('_', " "),
                why.join("; "),
                place,
                digest.to_string(),
            ]
        })
        .collect();
    let columns = [
        "run",
        "standing",
        "why",
        "in the scores",
        "evidence (SHA-256)",
    ];
    out.push(Block::Table(Grid {
        title: "Runs not shown to be clean".into(),
        left: columns.len(),
        columns: columns.map(String::from).to_vec(),
        rows,
    }));
    out
}

fn sentences(analysis: &Analysis, before: &Treated, after: &Treated, entries: &[Entry]) -> String {
    let s = &after.selection;
    let count = |standing| entries.iter().filter(|e| e.standing == standing).count();
    let pass = |t: &Treated| {
        t.table(By::All)
            .first()
            .map_or((0, 0), |r| (r.pass, r.runs))
    };
    let ((pass_before, runs_before), (pass_after, runs_after)) = (pass(before), pass(after));
    let mut text = format!(
        "Of {} scored runs, {} {} left out ({}); {}.",
        analysis.scores.runs.len(),
        s.left_out.len(),
        if s.left_out.len() == 1 { "is" } else { "are" },
        treatment_words(s.level, s.policy),
        s.policy.words(),
    );
    let standings = [
        (Standing::Invalid, "invalid"),
        (Standing::Excluded, "taken out by their owner"),
        (Standing::Partial, "partial"),
        (Standing::Inconclusive, "inconclusive"),
        (Standing::Failed, "not to be audited"),
        (
            Standing::Harness,
            "spoilt by the environment (no fault of the agent)",
        ),
    ];
    let counts: Vec<String> = standings
        .into_iter()
        .filter(|(standing, _)| count(*standing) > 0)
        .map(|(standing, words)| format!("{} {words}", count(standing)))
        .collect();
    if !counts.is_empty() {
        text.push_str(&format!(" Among all runs: {}.", counts.join(", ")));
    }
    text.push_str(&format!(
        " PASS goes from {pass_before} of {runs_before} to {pass_after} of {runs_after}."
    ));
    let kappa = |t: &Treated| t.agreement.fleiss.value.as_ref().map(|v| fixed(v, 6));
    if let (Some(a), Some(b)) = (kappa(before), kappa(after)) {
        text.push_str(&format!(" Fleiss' kappa goes from {a} to {b}."));
    }
    let ranks: Vec<String> = before
        .table(By::Agent)
        .iter()
        .filter_map(|row| {
            let new = after.row(By::Agent, "", &row.agent).and_then(|r| r.rank);
            let (old, new) = (row.rank?, new.map_or("none".into(), |n| n.to_string()));
            (old.to_string() != new).then(|| format!("{} from {old} to {new}", row.agent))
        })
        .collect();
    text.push_str(&if ranks.is_empty() {
        " No rank changes over the runs left.".into()
    } else {
        format!(" Ranks: {}.", ranks.join(", "))
    });
    let mut tools: Vec<&str> = entries
        .iter()
        .filter_map(|e| e.audited_by.as_deref())
        .collect();
    tools.sort_unstable();
    tools.dedup();
    if !tools.is_empty() {
        text.push_str(&format!(" Audited by trace-audit {}.", tools.join("; ")));
    }
    text
}
