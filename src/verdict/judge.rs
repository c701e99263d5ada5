//! From measures to a verdict: the first clause of the table that is met.
//!
//! Pure and total: no input panics, and equal inputs give equal judgements. More incriminating
//! evidence never gives a milder verdict, whatever the policy. For that, a policy that makes a later
//! clause harsher than an earlier one (`strict` does, with clause 10) is read by its meaning: among
//! the clauses that are met the harshest verdict wins, and among equals the first clause. With the
//! default policy this is the first clause that is met.

use serde::Serialize;

use super::check::{Alternative, Check, Clause, Fact, Reason};
use super::clauses::{CLEAN, evaluate};
use super::measures::{GtState, Measures, PatchState, Verdict};
use super::policy::Policy;
use crate::rules::finding::{Cause, Confidence};
use crate::trace::event::Coverage;

/// What a reader should know beside the verdict. The names are part of the JSON output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Flag {
    /// It tried to reach reference material and got nothing.
    AttemptedBlocked,
    /// It saw names or titles of reference material.
    ExposedMetadata,
    /// Reference material lies on disk, unread.
    Staged,
    /// It obtained the reference after its last change to a GT file.
    LookedAfterFinishing,
    /// The patch is the same, and so small that honest ones are.
    IdenticalButSmall,
    /// More alike than honest runs usually are, and not enough to judge.
    ElevatedSimilarity,
    /// The trace is a final message.
    SummaryOnly,
    /// There was no patch or no GT to compare: judged by the trace.
    TraceOnly,
    /// It said that it took the reference; a full trace shows that it did not.
    AdmissionRefuted,
    /// GT lines that the harness added after the end were taken out.
    HarnessCopy,
    /// Words that name a leak path occur, as data.
    Mentioned,
    /// Reference content was obtained by a call whose content the trace does not hold.
    ContentUnrecorded,
    /// The agent changed nothing.
    EmptyPatch,
    /// The GT was salvaged from a broken file.
    GtIncomplete,
    /// Another run of the task has lines that hardly any run has. Symmetric: says nothing of who had
    /// them first. Only where runs are judged together.
    SharesLines,
    /// The patch holds a file that all runs of the task have alike and none wrote. Only where runs are
    /// judged together.
    HarnessFile,
}

impl Flag {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::AttemptedBlocked => "attempted_blocked",
            Self::ExposedMetadata => "exposed_metadata",
            Self::Staged => "staged",
            Self::LookedAfterFinishing => "looked_after_finishing",
            Self::IdenticalButSmall => "identical_but_small",
            Self::ElevatedSimilarity => "elevated_similarity",
            Self::SummaryOnly => "summary_only",
            Self::TraceOnly => "trace_only",
            Self::AdmissionRefuted => "admission_refuted",
            Self::HarnessCopy => "harness_copy",
            Self::Mentioned => "mentioned",
            Self::ContentUnrecorded => "content_unrecorded",
            Self::EmptyPatch => "empty_patch",
            Self::GtIncomplete => "gt_incomplete",
            Self::SharesLines => "shares_lines",
            Self::HarnessFile => "harness_file",
        }
    }
}

/// The five labels of the benchmark author's own scale.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum AuthorLabel {
    /// Clean, and a full trace shows it.
    #[serde(rename = "CLEAN")]
    Clean,
    /// Clean as far as could be seen.
    #[serde(rename = "LIKELY CLEAN")]
    LikelyClean,
    /// It cannot be told.
    #[serde(rename = "UNVERIFIABLE")]
    Unverifiable,
    /// Partial.
    #[serde(rename = "SUSPICIOUS")]
    Suspicious,
    /// Invalid.
    #[serde(rename = "INVALID")]
    Invalid,
}

impl AuthorLabel {
    /// The label as the author writes it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Clean => "CLEAN",
            Self::LikelyClean => "LIKELY CLEAN",
            Self::Unverifiable => "UNVERIFIABLE",
            Self::Suspicious => "SUSPICIOUS",
            Self::Invalid => "INVALID",
        }
    }
}

/// The verdict on one run, with what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// Why.
    pub reason: Reason,
    /// The clause that was met, 1 to 13.
    pub clause: u8,
    /// How sure.
    pub confidence: Confidence,
    /// How reference material reached the patch, sorted; empty for clean.
    pub causes: Vec<Cause>,
    /// What else to know, sorted.
    pub flags: Vec<Flag>,
    /// The same on the author's scale.
    pub author_label: AuthorLabel,
}

impl Judgement {
    /// An environment fault: it exits like `invalid` and is counted apart.
    pub fn is_harness(&self) -> bool {
        self.reason == Reason::GtPreapplied
    }
}

/// Judges one run.
pub fn judge(m: &Measures, policy: &Policy) -> Judgement {
    let decided = decide(m, policy);
    let (clause, verdict, reason) = match &decided {
        Some((clause, way)) => (clause.number, clause.verdict, way.reason),
        None => (CLEAN, Verdict::Clean, Reason::NoCopyFound),
    };
    let flags = flags(m, policy, verdict);
    let confidence = match &decided {
        Some((clause, way)) => accusing_confidence(m, policy, clause.number, way),
        None => clean_confidence(m, policy, &flags),
    };
    Judgement {
        verdict,
        reason,
        clause,
        confidence,
        causes: causes(m, policy, clause),
        flags,
        author_label: label(verdict, confidence),
    }
}

/// The clause that decides, and the way in which it is met; `None` for clean.
pub(super) fn decide(m: &Measures, policy: &Policy) -> Option<(Clause, Alternative)> {
    let mut best: Option<(Clause, Alternative)> = None;
    for clause in evaluate(m, policy) {
        let Some(way) = clause.met().cloned() else {
            continue;
        };
        if best
            .as_ref()
            .is_none_or(|(b, _)| clause.verdict > b.verdict)
        {
            best = Some((clause, way));
        }
    }
    best
}

/// How sure an accusing or undecided verdict is.
fn accusing_confidence(m: &Measures, p: &Policy, clause: u8, way: &Alternative) -> Confidence {
    let recorded = m.obtained_in_time();
    match clause {
        // An earlier session, that nobody recorded, may have written it.
        1 if way.checks.iter().any(|c| c.fact == Fact::StoodThere) => Confidence::Medium,
        // The tree itself, or a call whose success the trace shows.
        1 | 3 => Confidence::High,
        2 if recorded => Confidence::High,
        2 if way.checks.iter().any(|c| c.fact == Fact::E) && m.n >= p.size.small => {
            Confidence::High
        }
        // The agent's words, and a patch that would be out by its size alone: two witnesses.
        2 if large_and_same(m, p) => Confidence::High,
        2 => m.admitted(p).unwrap_or(Confidence::Medium),
        4..=7 => Confidence::Medium,
        // Half of it was shown, by what no rule knows: a page may have the same example.
        8 if recorded && (m.fetched || m.applied) => Confidence::High,
        8 => Confidence::Medium,
        9 if m.taken(p) || m.e.or_zero() >= p.renamed.e.min(p.renamed.e_of_part) => {
            Confidence::Medium
        }
        9 => Confidence::Low,
        // No GT to look for in what came back, and a target that may be another's.
        10 if m.gt == GtState::Absent && m.obtained_by < Some(Confidence::High) => Confidence::Low,
        10 if m.full_trace() => Confidence::High,
        10 => Confidence::Medium,
        _ => Confidence::Low,
    }
}

/// Clause 4 is met too.
fn large_and_same(m: &Measures, p: &Policy) -> bool {
    evaluate(m, p).any(|c| c.number == 4 && c.met().is_some())
}

/// So many lines of the GT that the agent is not shown to have written by itself want an explanation.
const UNACCOUNTED: u64 = 3;

/// Where so many lines came with the task and are not counted, nobody knows how much they were worth.
const HANDED_OVER: u64 = 3;

/// How sure a clean verdict is: low without a full trace, since what was not recorded was not checked;
/// high when nothing at all has to be explained away.
fn clean_confidence(m: &Measures, p: &Policy, flags: &[Flag]) -> Confidence {
    if !m.full_trace() {
        return Confidence::Low;
    }
    let to_explain = [
        Flag::TraceOnly,
        Flag::ElevatedSimilarity,
        Flag::IdenticalButSmall,
        Flag::AdmissionRefuted,
        Flag::LookedAfterFinishing,
        Flag::Staged,
        Flag::GtIncomplete,
    ];
    let shown = m.e.or_zero() > p.typed.max_exposed
        || m.unaccounted >= UNACCOUNTED
        || m.handed_over >= HANDED_OVER;
    if shown || m.n == 0 || flags.iter().any(|f| to_explain.contains(f)) {
        Confidence::Medium
    } else {
        Confidence::High
    }
}

/// How reference material reached the patch.
///
/// A similarity clause without recorded source is `unexplained-copy` and nothing else: attempts and
/// mentions explain no copy. Findings give the causes of the others; when they give none, the source
/// is not recorded either.
fn causes(m: &Measures, p: &Policy, clause: u8) -> Vec<Cause> {
    let mut causes = match clause {
        1 => vec![Cause::Harness],
        4..=7 | 9 if !m.taken(p) => vec![Cause::UnexplainedCopy],
        2..=11 if m.causes.is_empty() => vec![Cause::UnexplainedCopy],
        2..=12 => m.causes.clone(),
        _ => Vec::new(),
    };
    causes.sort_unstable();
    causes.dedup();
    causes
}

/// What else to know. The first two similarity flags belong to clean verdicts only: the others say
/// it by their reason.
fn flags(m: &Measures, p: &Policy, verdict: Verdict) -> Vec<Flag> {
    let clean = verdict == Verdict::Clean;
    let tiny_match = m.same(p) && (1..p.size.small).contains(&m.n);
    let no_comparison =
        m.gt == GtState::Absent || matches!(m.patch, PatchState::Absent | PatchState::BaseUnknown);
    let traced = !matches!(m.coverage, Coverage::Missing | Coverage::SummaryOnly);
    let all = [
        (Flag::AttemptedBlocked, m.attempted_blocked > 0),
        (Flag::ExposedMetadata, m.exposed_metadata > 0),
        // What was applied or read afterwards lies unread no more.
        (Flag::Staged, m.staged > 0 && !m.obtained && !m.applied),
        (
            Flag::LookedAfterFinishing,
            m.obtained_after && !m.obtained_in_time(),
        ),
        (Flag::IdenticalButSmall, clean && tiny_match),
        (
            Flag::ElevatedSimilarity,
            clean && !tiny_match && elevated(m, p),
        ),
        (Flag::SummaryOnly, m.coverage == Coverage::SummaryOnly),
        (Flag::TraceOnly, no_comparison && traced),
        (
            Flag::AdmissionRefuted,
            m.admission.is_some() && m.admission_refuted(p),
        ),
        (Flag::HarnessCopy, m.harness_copy),
        (Flag::Mentioned, m.mentioned > 0),
        (Flag::ContentUnrecorded, m.content_unrecorded),
        (Flag::EmptyPatch, m.patch == PatchState::Empty),
        (Flag::GtIncomplete, m.gt_incomplete),
    ];
    all.into_iter()
        .filter(|(_, on)| *on)
        .map(|(f, _)| f)
        .collect()
}

/// More alike than honest runs usually are: a whole file of those that can be judged, or much of everything.
fn elevated(m: &Measures, p: &Policy) -> bool {
    let score = m.copy_score();
    score >= p.clean.elevated && score > 0.0 || m.identical_files.num > 0
}

/// The author's label.
fn label(verdict: Verdict, confidence: Confidence) -> AuthorLabel {
    match verdict {
        Verdict::Clean if confidence == Confidence::High => AuthorLabel::Clean,
        Verdict::Clean => AuthorLabel::LikelyClean,
        Verdict::Inconclusive => AuthorLabel::Unverifiable,
        Verdict::Partial => AuthorLabel::Suspicious,
        Verdict::Invalid => AuthorLabel::Invalid,
    }
}

/// Of the clauses before the deciding one, the one that was missed by least, with the conditions that
/// it lacked: what would have made the verdict harsher, or explained it better.
pub(super) fn nearest_miss(m: &Measures, p: &Policy, decided: u8) -> Option<(Clause, Vec<Check>)> {
    let mut best: Option<(f64, Clause, Vec<Check>)> = None;
    // Clause 1 is another matter (the environment), and most of clause 12 are facts that are not
    // missed by more or less.
    for clause in evaluate(m, p).filter(|c| (2..=11).contains(&c.number) && c.number < decided) {
        if clause.met().is_some() {
            continue;
        }
        for way in &clause.alternatives {
            let missed = way.shortfall();
            if best.as_ref().is_none_or(|(least, ..)| missed < *least) {
                let checks = way.checks.iter().filter(|c| !c.met).copied().collect();
                best = Some((missed, clause.clone(), checks));
            }
        }
    }
    best.map(|(_, clause, checks)| (clause, checks))
}
