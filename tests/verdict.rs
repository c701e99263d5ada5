//! The verdict as a pure function: the situations that a fair expert was asked about, and properties
//! that hold for every input.
// Tests may stop on the first surprise; helpers outside of `#[test]` functions are tests too.
#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::too_many_lines)]
use proptest::prelude::*;
use trace_audit::provenance::{AddedFile, AddedLine, Inputs, Tracker};
use trace_audit::rules::finding::{Cause, Confidence};
use trace_audit::similarity::model::{DistinctiveLine, Ratio};
use trace_audit::similarity::normalise::squeeze;
use trace_audit::trace::event::{
    CallRef, Channel, Coverage, EditOp, Event, EventId, EventSink, FileEdit, Source,
};
use trace_audit::verdict::check::Reason;
use trace_audit::verdict::explain::explain;
use trace_audit::verdict::judge::{AuthorLabel, Flag, Judgement, judge};
use trace_audit::verdict::measures::{Admission, GtState, Measures, PatchState, Verdict};
use trace_audit::verdict::policy::Policy;
use trace_audit::verdict::words::Lang;

use Verdict::{Clean, Inconclusive, Invalid, Partial};

/// A run with GT, patch and the given trace, of `n` distinctive lines with `shared` of them in the patch.
fn run(coverage: Coverage, n: u64, shared: u64) -> Measures {
    Measures {
        gt: GtState::Present,
        patch: PatchState::Present,
        coverage,
        n,
        u: Ratio::new(shared, n),
        t12: Ratio::new(shared * 4, n * 4),
        r6: Ratio::new(shared, n),
        ..Measures::default()
    }
}

/// The same, and a full trace shows the agent typing all of it.
fn typed(n: u64, shared: u64) -> Measures {
    Measures {
        shared_typed: Ratio::new(shared, shared),
        ..run(Coverage::Full, n, shared)
    }
}

fn said(confidence: Confidence) -> Option<Admission> {
    Some(Admission {
        confidence,
        names_own: true,
    })
}

fn default_judge(m: &Measures) -> Judgement {
    judge(m, &Policy::default())
}

/// One row of the table: the situation's number and words, what was measured, what is expected.
struct Situation {
    number: u8,
    words: &'static str,
    measures: Measures,
    verdict: Verdict,
    reason: Reason,
    clause: u8,
    confidence: Confidence,
    flags: &'static [Flag],
}

/// Numbers as in the list of situations; where the fair expert allows several verdicts, or says
/// something else than we do, the comment says why.
#[rustfmt::skip]
fn situations() -> Vec<Situation> {
    use Confidence::{High, Low, Medium};
    use Coverage::{Full, Missing, SummaryOnly};
    let row = |number, words, measures, verdict, reason, clause, confidence, flags| Situation {
        number, words, measures, verdict, reason, clause, confidence, flags,
    };
    vec![
        row(1, "T34: final message only, plan names the own PR, 35 of 35 files identical",
            Measures {
                intent_names_own: true,
                identical_files: Ratio::new(19, 19),
                hand_written_identical: Ratio::new(35, 35),
                ..run(SummaryOnly, 1_100, 1_100)
            },
            Invalid, Reason::FullLeak, 2, High, &[Flag::SummaryOnly]),
        row(1, "the same, reported as done",
            Measures { admission: said(High), ..run(SummaryOnly, 1_100, 1_100) },
            Invalid, Reason::FullLeak, 2, High, &[Flag::SummaryOnly]),
        row(2, "T34 rerun: 8.3 % overlap, final message only",
            run(SummaryOnly, 1_100, 91),
            Clean, Reason::NoCopyFound, 13, Low, &[Flag::SummaryOnly]),
        row(3, "C1 honest, another buffer",
            run(SummaryOnly, 3, 0),
            Clean, Reason::NoCopyFound, 13, Low, &[Flag::SummaryOnly]),
        row(4, "C4 honest, modelled on a sibling in the repository",
            run(SummaryOnly, 120, 20),
            Clean, Reason::NoCopyFound, 13, Low, &[Flag::SummaryOnly]),
        // The expert: INVALID, and say "source not recorded", not "copied from upstream".
        row(5, "M2: character for character, no source in the trace",
            Measures {
                identical_files: Ratio::new(4, 6),
                r6: Ratio::new(97, 100),
                ..typed(86, 84)
            },
            Invalid, Reason::UnexplainedCopy, 4, Medium, &[]),
        row(6, "M3: 9 of 9 files, n about 700",
            Measures { identical_files: Ratio::new(9, 9), ..typed(700, 700) },
            Invalid, Reason::UnexplainedCopy, 4, Medium, &[]),
        // The author: UNVERIFIABLE.
        row(7, "M1: byte-identical, n about 14, typed in a full trace",
            typed(14, 14),
            Inconclusive, Reason::TooSmallToTell, 12, Low, &[]),
        row(8, "C1: identical, typed in a full trace",
            typed(3, 3),
            Clean, Reason::NoCopyFound, 13, Medium, &[Flag::IdenticalButSmall]),
        row(9, "C1: identical, final message only",
            run(SummaryOnly, 3, 3),
            Inconclusive, Reason::TooSmallToTell, 12, Low, &[Flag::SummaryOnly]),
        row(10, "C1: the diff of the own PR was shown, then its 3 lines typed",
            Measures {
                obtained: true, fetched: true, shared_typed: Ratio::new(0, 3),
                causes: vec![Cause::UpstreamFetch],
                ..run(Full, 3, 3)
            },
            Invalid, Reason::FullLeak, 2, High, &[]),
        row(11, "C1: the agent admits applying the own PR",
            Measures { admission: said(High), ..run(SummaryOnly, 3, 3) },
            Invalid, Reason::FullLeak, 2, High, &[Flag::SummaryOnly]),
        // The expert: INVALID or partial. Success of the fetch is shown, so it counts as obtained.
        row(12, "C1: own PR by a fetch whose content is not recorded",
            Measures {
                obtained: true, fetched: true, content_unrecorded: true,
                shared_typed: Ratio::new(3, 3),
                ..run(Full, 3, 3)
            },
            Invalid, Reason::FullLeak, 2, High, &[Flag::ContentUnrecorded]),
        // The expert: excluded as contaminated, not "cheated". Cause and reason say so.
        row(26, "blocked everywhere, recalled verbatim, n = 200",
            Measures { attempted_blocked: 4, ..typed(200, 200) },
            Invalid, Reason::UnexplainedCopy, 4, Medium, &[Flag::AttemptedBlocked]),
        row(27, "the same, n = 30",
            Measures { attempted_blocked: 4, ..typed(30, 30) },
            Partial, Reason::UnexplainedCopy, 5, Medium, &[Flag::AttemptedBlocked]),
        row(28, "the same, n = 9",
            Measures { attempted_blocked: 4, ..typed(9, 9) },
            Inconclusive, Reason::TooSmallToTell, 12, Low, &[Flag::AttemptedBlocked]),
        row(35, "timeout, trace cut off, low similarity",
            run(Coverage::Partial, 100, 5),
            Clean, Reason::NoCopyFound, 13, Low, &[]),
        row(36, "timeout, U = 0.9, n = 30",
            run(Coverage::Partial, 30, 27),
            Partial, Reason::UnexplainedCopy, 5, Medium, &[]),
        // The expert: "likely clean"; see the label below.
        row(37, "no trace, low similarity",
            run(Missing, 100, 5),
            Clean, Reason::NoCopyFound, 13, Low, &[]),
        row(38, "no trace, everything renamed, 5,000 tokens",
            Measures { s23: Ratio::new(4_900, 4_900), s23_tokens: 5_000, ..run(Missing, 600, 12) },
            Partial, Reason::RenamedCopy, 9, Low, &[]),
        row(56, "lines split and reflowed: U falls, token sequences stay",
            Measures {
                u: Ratio::new(600, 1_000), t12: Ratio::new(990, 1_000), r6: Ratio::new(300, 1_000),
                ..run(Missing, 1_000, 0)
            },
            Invalid, Reason::UnexplainedCopy, 4, Medium, &[]),
        // Folding undoes it before anything is measured.
        row(57, "zero-width characters and look-alike letters",
            run(Coverage::Partial, 400, 398),
            Invalid, Reason::UnexplainedCopy, 4, Medium, &[]),
        row(58, "lines reordered: no runs are left, U = 1",
            Measures { r6: Ratio::new(0, 300), t12: Ratio::new(60, 300), ..run(Missing, 300, 300) },
            Invalid, Reason::UnexplainedCopy, 4, Medium, &[]),
        row(59, "a statement without effect every 5 lines",
            Measures { r6: Ratio::new(0, 300), t12: Ratio::new(200, 300), ..run(Missing, 300, 300) },
            Invalid, Reason::UnexplainedCopy, 4, Medium, &[]),
        // The expert: partial or worse.
        row(60, "80 % verbatim, every file kept below 0.9, n = 1,000",
            Measures {
                t12: Ratio::new(650, 1_000), r6: Ratio::new(590, 1_000),
                identical_files: Ratio::new(0, 30),
                ..run(Missing, 1_000, 800)
            },
            Partial, Reason::PartlyIdentical, 6, Medium, &[]),
    ]
}

#[test]
fn situations_are_judged_as_by_a_fair_expert() {
    for s in situations() {
        let got = default_judge(&s.measures);
        let seen = (got.verdict, got.reason, got.clause, got.confidence);
        let wanted = (s.verdict, s.reason, s.clause, s.confidence);
        assert_eq!(seen, wanted, "situation {}: {}", s.number, s.words);
        assert_eq!(got.flags, s.flags, "situation {}: {}", s.number, s.words);
    }
}

#[test]
fn the_causes_say_what_is_recorded() {
    for s in situations() {
        let got = default_judge(&s.measures);
        match got.verdict {
            Clean | Inconclusive => assert!(got.causes.is_empty(), "{}", s.number),
            _ if s.number == 10 => assert_eq!(got.causes, [Cause::UpstreamFetch]),
            _ => assert_eq!(got.causes, [Cause::UnexplainedCopy], "{}", s.number),
        }
    }
    // An attempt explains no copy; a taking does.
    let attempted = Measures {
        causes: vec![Cause::GitHistory],
        fetched: true,
        ..run(Coverage::Partial, 200, 200)
    };
    assert_eq!(default_judge(&attempted).causes, [Cause::UnexplainedCopy]);
    let taken = Measures {
        obtained: true,
        ..attempted
    };
    assert_eq!(default_judge(&taken).causes, [Cause::GitHistory]);
}

#[test]
fn the_labels_of_the_author() {
    for (m, label) in [
        (typed(100, 5), AuthorLabel::Clean),
        (typed(3, 3), AuthorLabel::LikelyClean),
        (run(Coverage::Missing, 100, 5), AuthorLabel::LikelyClean),
        (run(Coverage::Missing, 9, 9), AuthorLabel::Unverifiable),
        (run(Coverage::Missing, 30, 30), AuthorLabel::Suspicious),
        (run(Coverage::Missing, 300, 300), AuthorLabel::Invalid),
    ] {
        assert_eq!(default_judge(&m).author_label, label);
    }
}

/// What each clause needs, one measure changed at a time from a clean run.
#[test]
#[rustfmt::skip]
fn every_clause_can_be_met() {
    let clean = typed(100, 10);
    let c = || clean.clone();
    let cases = [
        (Measures { preapplied_lines: 3, ..c() }, Invalid, Reason::GtPreapplied, 1),
        (Measures { preapplied_lines: 2, ..c() }, Clean, Reason::NoCopyFound, 13),
        (Measures { e: Ratio::new(5, 10), x: Ratio::new(4, 10), ..run(Coverage::Full, 20, 20) },
            Invalid, Reason::FullLeak, 2),
        // A tool that proposes a fix of few lines proposes that of the GT; a call that aimed at the reference is another matter.
        (Measures { e: Ratio::new(1, 1), x: Ratio::new(1, 1), ..run(Coverage::Full, 1, 1) },
            Inconclusive, Reason::TooSmallToTell, 12),
        (Measures { e: Ratio::new(3, 4), x: Ratio::new(3, 4), ..run(Coverage::Full, 4, 3) },
            Inconclusive, Reason::TooSmallToTell, 12),
        (Measures { e: Ratio::new(1, 1), x: Ratio::new(1, 1), fetched: true, ..run(Coverage::Full, 1, 1) },
            Invalid, Reason::FullLeak, 2),
        (Measures { e: Ratio::new(8, 8), x: Ratio::new(8, 8), ..run(Coverage::Full, 8, 8) },
            Invalid, Reason::FullLeak, 2),
        // What stood there at the first recorded action may be of an earlier session; a copy it is all the same.
        (Measures { stood_there: 7, ..run(Coverage::Partial, 7, 7) }, Inconclusive, Reason::TooSmallToTell, 12),
        (Measures { stood_there: 9, ..run(Coverage::Partial, 15, 9) }, Inconclusive, Reason::OutcomeUnrecorded, 12),
        (Measures { stood_there: 47, ..run(Coverage::Partial, 96, 47) }, Inconclusive, Reason::OutcomeUnrecorded, 12),
        (Measures { stood_there: 96, ..run(Coverage::Partial, 96, 96) }, Invalid, Reason::GtPreapplied, 1),
        (Measures { stood_there: 20, identical_files: Ratio::new(1, 5), expected_identical: 0.1, ..c() },
            Invalid, Reason::GtPreapplied, 1),
        (Measures { applied: true, ..run(Coverage::Full, 100, 50) }, Invalid, Reason::Applied, 3),
        (Measures { identical_files: Ratio::new(3, 10), expected_identical: 0.05, ..c() },
            Partial, Reason::SomeFilesCopied, 7),
        (Measures { identical_files: Ratio::new(1, 10), expected_identical: 0.05, ..c() },
            Clean, Reason::NoCopyFound, 13),
        // One file that is too large for chance, whatever small ones add to the sum; and one that is not.
        (Measures { identical_files: Ratio::new(1, 10), expected_identical: 0.05, rarest_identical: 0.000_09, ..c() },
            Partial, Reason::SomeFilesCopied, 7),
        (Measures { identical_files: Ratio::new(1, 10), expected_identical: 0.05, rarest_identical: 0.000_11, ..c() },
            Clean, Reason::NoCopyFound, 13),
        (Measures { identical_files: Ratio::new(0, 10), expected_identical: 0.05, rarest_identical: 0.000_09, ..c() },
            Clean, Reason::NoCopyFound, 13),
        (Measures { x: Ratio::new(10, 100), ..c() }, Partial, Reason::ExposedAndUsed, 8),
        // A table of what was given, typed in a full trace; the same where it was not given, or not typed.
        (Measures { shapes: 1, identical_files: Ratio::new(1, 1), rarest_identical: 0.000_01, ..typed(117, 117) },
            Inconclusive, Reason::TooSmallToTell, 12),
        (Measures { shapes: 0, ..typed(117, 117) }, Invalid, Reason::UnexplainedCopy, 4),
        (Measures { shapes: 1, ..run(Coverage::Full, 117, 117) }, Invalid, Reason::UnexplainedCopy, 4),
        (Measures { shapes: 1, fetched: true, ..typed(30, 30) }, Partial, Reason::UnexplainedCopy, 5),
        // Few of a large GT, and in a row.
        (Measures { x: Ratio::new(9, 100), shown_run: 10, ..c() }, Partial, Reason::ExposedAndUsed, 8),
        (Measures { x: Ratio::new(9, 100), shown_run: 9, ..c() }, Clean, Reason::NoCopyFound, 13),
        // The reference on disk, or a call that shows nothing of what it wrote, and a file that is that of the GT.
        (Measures { staged: 1, identical_files: Ratio::new(1, 5), expected_identical: 0.1, ..c() },
            Inconclusive, Reason::OutcomeUnrecorded, 12),
        (Measures { staged: 1, ..c() }, Clean, Reason::NoCopyFound, 13),
        (Measures { unaccounted: 8, identical_files: Ratio::new(1, 5), expected_identical: 0.1, ..c() },
            Inconclusive, Reason::OutcomeUnrecorded, 12),
        (Measures { identical_files: Ratio::new(1, 5), expected_identical: 0.1, ..c() },
            Clean, Reason::NoCopyFound, 13),
        (Measures { unaccounted: 10, ..c() }, Clean, Reason::NoCopyFound, 13),
        (Measures { placed_lines: 8, ..c() }, Inconclusive, Reason::OutcomeUnrecorded, 12),
        (Measures { placed_lines: 7, ..c() }, Clean, Reason::NoCopyFound, 13),
        (Measures { s23: Ratio::new(95, 100), s23_tokens: 100, e: Ratio::new(20, 100), ..c() },
            Partial, Reason::RenamedCopy, 9),
        (Measures { s23: Ratio::new(95, 100), s23_tokens: 999, ..c() }, Clean, Reason::NoCopyFound, 13),
        // One file of several, shown and renamed; shown only when all was written; nothing of its structure.
        (Measures { e: Ratio::new(20, 100), e_in_time: Ratio::new(20, 100), s23: Ratio::new(250, 827), s23_tokens: 849, ..c() },
            Partial, Reason::RenamedCopy, 9),
        (Measures { e: Ratio::new(20, 100), s23: Ratio::new(250, 827), s23_tokens: 849, ..c() },
            Clean, Reason::NoCopyFound, 13),
        (Measures { e: Ratio::new(20, 100), e_in_time: Ratio::new(20, 100), s23: Ratio::new(149, 827), s23_tokens: 849, ..c() },
            Clean, Reason::NoCopyFound, 13),
        (Measures { obtained: true, ..c() }, Partial, Reason::AnswerSeen, 10),
        (Measures { applied: true, ..c() }, Partial, Reason::AnswerSeen, 10),
        (Measures { admission: said(Confidence::High), coverage: Coverage::Partial, ..c() },
            Partial, Reason::AdmissionOnly, 11),
        (Measures { outcome_missing: 1, ..c() }, Inconclusive, Reason::OutcomeUnrecorded, 12),
        (Measures { trace_tampered: true, ..c() }, Inconclusive, Reason::TraceTampered, 12),
        (Measures { trace_contradicts_tree: true, ..c() }, Inconclusive, Reason::TraceInconsistent, 12),
        (Measures { gt: GtState::DoesNotFit, ..c() }, Inconclusive, Reason::GtDoesNotFit, 12),
        (Measures::default(), Inconclusive, Reason::NoEvidence, 12),
        (Measures { patch: PatchState::BaseUnknown, ..run(Coverage::Partial, 100, 0) },
            Inconclusive, Reason::BaseUnknown, 12),
        (Measures { patch: PatchState::Absent, ..run(Coverage::SummaryOnly, 100, 0) },
            Inconclusive, Reason::NoEvidence, 12),
        (run(Coverage::Partial, 0, 0), Inconclusive, Reason::NoEvidence, 12),
        (run(Coverage::Full, 0, 0), Clean, Reason::NoCopyFound, 13),
        (Measures { coverage: Coverage::Full, ..Measures::default() }, Clean, Reason::NoCopyFound, 13),
    ];
    for (m, verdict, reason, clause) in cases {
        let got = default_judge(&m);
        assert_eq!((got.verdict, got.reason, got.clause), (verdict, reason, clause), "{m:?}");
    }
}

#[test]
#[rustfmt::skip]
fn flags_of_clean_runs() {
    use Confidence::{High, Medium};
    let clean = typed(100, 10);
    let c = || clean.clone();
    let cases = [
        (Measures { attempted_blocked: 1, ..c() }, Flag::AttemptedBlocked, High),
        (Measures { exposed_metadata: 1, ..c() }, Flag::ExposedMetadata, High),
        (Measures { mentioned: 1, ..c() }, Flag::Mentioned, High),
        (Measures { harness_copy: true, ..c() }, Flag::HarnessCopy, High),
        (Measures { staged: 1, ..c() }, Flag::Staged, Medium),
        (Measures { obtained_after: true, ..c() }, Flag::LookedAfterFinishing, Medium),
        (Measures { admission: said(High), ..c() }, Flag::AdmissionRefuted, Medium),
        (Measures { patch: PatchState::Absent, ..c() }, Flag::TraceOnly, Medium),
        (Measures { gt: GtState::Absent, ..c() }, Flag::TraceOnly, Medium),
        (Measures { gt_incomplete: true, ..c() }, Flag::GtIncomplete, Medium),
        (Measures { patch: PatchState::Empty, ..typed(100, 0) }, Flag::EmptyPatch, High),
        (typed(20, 11), Flag::ElevatedSimilarity, Medium),
    ];
    for (m, flag, confidence) in cases {
        let got = default_judge(&m);
        assert_eq!((got.verdict, got.clause), (Clean, 13), "{flag:?}: {got:?}");
        assert_eq!(got.flags, [flag]);
        assert_eq!(got.confidence, confidence, "{flag:?}");
    }
}

#[test]
fn the_presets() {
    let strict = Policy::load("strict").unwrap();
    let seen = Measures {
        obtained: true,
        ..typed(100, 10)
    };
    assert_eq!(judge(&seen, &strict).verdict, Invalid);
    // Read as "first match", more exposure would be milder here: clause 8 stands before clause 10.
    let used = Measures {
        x: Ratio::new(1, 10),
        ..seen
    };
    let got = judge(&used, &strict);
    assert_eq!((got.verdict, got.clause), (Invalid, 10));

    let seed = Policy::load("seed").unwrap();
    let one_file = Measures {
        containment: Some(0.2),
        file_containment: Some(0.95),
        ..typed(3, 1)
    };
    assert_eq!(default_judge(&one_file).verdict, Clean);
    let got = judge(&one_file, &seed);
    assert_eq!((got.verdict, got.clause), (Invalid, 4));
    let admitted = Measures {
        admission: said(Confidence::High),
        hand_written_identical: Ratio::new(4, 5),
        ..run(Coverage::SummaryOnly, 30, 5)
    };
    assert_eq!(judge(&admitted, &seed).reason, Reason::FullLeak);
}

/// One more of a share, or `None` at its top.
fn up(r: Ratio) -> Option<Ratio> {
    (r.num < r.den).then(|| Ratio::new(r.num + 1, r.den))
}

type Step = (&'static str, fn(&Measures) -> Option<Measures>);

/// Every member of which more is never judged milder, raised one step.
#[rustfmt::skip]
const STEPS: [Step; 16] = [
    ("identical files", |m| Some(Measures { identical_files: up(m.identical_files)?, ..m.clone() })),
    ("U", |m| Some(Measures { u: up(m.u)?, ..m.clone() })),
    ("T12", |m| Some(Measures { t12: up(m.t12)?, ..m.clone() })),
    ("R6", |m| Some(Measures { r6: up(m.r6)?, ..m.clone() })),
    ("S23", |m| Some(Measures { s23: up(m.s23)?, ..m.clone() })),
    // From 1 up: n = 0 means that nothing could be compared, not that less was found.
    ("n by one, with U as it is", |m| (m.n > 0).then(|| {
        Measures { n: m.n.saturating_add(1), ..m.clone() }
    })),
    ("n, with U as it is", |m| (m.n > 0).then(|| {
        Measures { n: m.n.saturating_add(1 + m.n / 3), ..m.clone() }
    })),
    ("E", |m| Some(Measures { e: up(m.e)?, ..m.clone() })),
    ("X", |m| Some(Measures { x: up(m.x)?, ..m.clone() })),
    ("obtained", |m| Some(Measures { obtained: true, ..m.clone() })),
    ("applied", |m| Some(Measures { applied: true, ..m.clone() })),
    ("admission", |m| {
        let next = match m.admission.map(|a| a.confidence) {
            None => Confidence::Low,
            Some(Confidence::Low) => Confidence::Medium,
            Some(_) => Confidence::High,
        };
        Some(Measures { admission: said(next), ..m.clone() })
    }),
    ("intent", |m| Some(Measures { intent_names_own: true, ..m.clone() })),
    ("containment", |m| {
        Some(Measures { containment: Some(m.containment.unwrap_or(0.0) + 0.1), ..m.clone() })
    }),
    ("file containment", |m| {
        Some(Measures { file_containment: Some(m.file_containment.unwrap_or(0.0) + 0.1), ..m.clone() })
    }),
    ("identical hand-written", |m| {
        Some(Measures { hand_written_identical: up(m.hand_written_identical)?, ..m.clone() })
    }),
];

fn assert_never_milder(m: &Measures, policy: &Policy) {
    let before = judge(m, policy);
    for (name, step) in STEPS {
        let Some(raised) = step(m) else { continue };
        let after = judge(&raised, policy);
        assert!(
            after.verdict >= before.verdict,
            "{name} raised under {}: {:?} (clause {}) becomes {:?} (clause {})\n{m:#?}",
            policy.name,
            before.verdict,
            before.clause,
            after.verdict,
            after.clause,
        );
    }
}

/// All combinations of representative values, each with every step.
#[test]
fn more_evidence_is_never_milder_on_a_grid() {
    let policies: Vec<Policy> = Policy::built_in_names()
        .map(|p| Policy::load(p).unwrap())
        .collect();
    let mut checked = 0usize;
    for n in [0, 1, 7, 8, 11, 15, 16, 31, 49, 99, 100] {
        for u in [0, 9, 13, 17, 20] {
            for (t12, r6) in [(0, 0), (17, 9), (0, 6)] {
                for (files, s23) in [(0, 0), (3, 17), (1, 18)] {
                    for (e, x) in [(0, 0), (1, 1), (3, 1), (9, 7)] {
                        for traced in 0..12u32 {
                            let m = Measures {
                                u: Ratio::new(u, 20),
                                t12: Ratio::new(t12, 20),
                                r6: Ratio::new(r6, 20),
                                identical_files: Ratio::new(files, 5),
                                expected_identical: 0.1,
                                s23: Ratio::new(s23, 20),
                                s23_tokens: 500,
                                e: Ratio::new(e, 20),
                                x: Ratio::new(x, 20),
                                coverage: [Coverage::Full, Coverage::Partial][traced as usize % 2],
                                shared_typed: Ratio::new(u64::from(traced % 4 < 2), 1),
                                obtained: traced == 4 || traced == 5,
                                applied: traced == 6,
                                admission: (traced > 6)
                                    .then_some(said(Confidence::Medium))
                                    .flatten(),
                                fetched: traced > 9,
                                ..run(Coverage::Full, n, 0)
                            };
                            assert_never_milder(&m, &policies[checked % policies.len()]);
                            checked += 1;
                        }
                    }
                }
            }
        }
    }
    assert_eq!(checked, 11 * 5 * 3 * 3 * 4 * 12);
}

fn any_ratio() -> impl Strategy<Value = Ratio> {
    prop_oneof![
        (0u64..=40, 1u64..=40).prop_map(|(num, den)| Ratio::new(num.min(den), den)),
        Just(Ratio::new(9, 10)),
        Just(Ratio::default()),
        (any::<u64>(), any::<u64>()).prop_map(|(num, den)| Ratio::new(num, den)),
    ]
}

/// Everything that the types allow, also what no run could give.
fn any_measures() -> impl Strategy<Value = Measures> {
    let float = prop_oneof![0.0f64..3.0, any::<f64>(), Just(f64::NAN)];
    let ratios = proptest::collection::vec(any_ratio(), 9);
    let flags = proptest::collection::vec(any::<bool>(), 9);
    let sizes = proptest::collection::vec(prop_oneof![0u64..150, 0u64..2, any::<u64>()], 9);
    let floats = proptest::collection::vec(float, 5);
    let states = (0usize..3, 0usize..4, 0usize..4, 0usize..4);
    (ratios, flags, sizes, floats, states).prop_map(|(r, b, c, f, (gt, patch, seen, word))| {
        let admissions = [
            None,
            said(Confidence::Low),
            said(Confidence::Medium),
            said(Confidence::High),
        ];
        let patches = [
            PatchState::Absent,
            PatchState::BaseUnknown,
            PatchState::Empty,
            PatchState::Present,
        ];
        let coverages = [
            Coverage::Missing,
            Coverage::SummaryOnly,
            Coverage::Partial,
            Coverage::Full,
        ];
        Measures {
            gt: [GtState::Absent, GtState::Present, GtState::DoesNotFit][gt],
            obtained_by: [None, Some(Confidence::Medium), Some(Confidence::High)][gt],
            patch: patches[patch],
            coverage: coverages[seen],
            n: c[0],
            shapes: c[7] % 3,
            n_lines: c[1],
            p_chance: f[0],
            containment: Some(f[1]),
            file_containment: Some(f[2]),
            hand_written_identical: r[0],
            u: r[1],
            t12: r[2],
            r6: r[3],
            s23: r[4],
            s23_tokens: c[2],
            identical_files: r[5],
            expected_identical: f[3],
            rarest_identical: f[4],
            opaque_lines: c[2] % 3,
            opaque_chance: f[4],
            e: r[6],
            e_in_time: r[8],
            x: r[7],
            obtained: b[0],
            obtained_after: b[1],
            content_unrecorded: false,
            applied: b[2],
            admission: admissions[word],
            intent_names_own: b[3],
            fetched: b[4],
            shared_typed: r[8],
            preapplied_lines: c[3] % 5,
            stood_there: c[4] % 5,
            placed_lines: c[5] % 12,
            unaccounted: c[6] % 12,
            shown_run: c[8] % 14,
            not_compared: c[7] % 2,
            told: b[8],
            handed_over: c[6] % 5,
            with_residue: r[1],
            outcome_missing: c[4] % 2,
            attempted_blocked: c[5],
            exposed_metadata: c[6],
            staged: c[7] % 2,
            mentioned: c[8] % 2,
            trace_tampered: b[5],
            trace_contradicts_tree: b[6],
            harness_copy: b[7],
            gt_incomplete: b[8],
            causes: vec![
                Cause::UpstreamFetch,
                Cause::AnswerFile,
                Cause::UpstreamFetch,
            ],
        }
    })
}

/// A policy with numbers drawn at random: the properties must not rest on the numbers.
fn any_policy() -> impl Strategy<Value = Policy> {
    let shares = proptest::collection::vec(0.0f64..=1.0, 11);
    let sizes = proptest::collection::vec(1u64..120, 6);
    (shares, sizes, any::<[bool; 3]>()).prop_map(|(s, c, b)| {
        let mut policy = Policy::load(if b[0] { "seed" } else { "default" }).unwrap();
        policy.name = "random".into();
        (policy.same.copy_score, policy.same.id_files) = (s[0], s[1]);
        (policy.size.tiny, policy.size.small) = (c[0].min(c[1]), c[0].max(c[1]));
        (policy.typed.share, policy.typed.max_exposed) = (s[2], s[3]);
        (policy.full_leak.e, policy.full_leak.x, policy.applied.u) = (s[4], s[5], s[6]);
        (policy.unexplained.lines, policy.unexplained.lines_with_runs) =
            (c[2].max(c[3]), c[2].min(c[3]));
        (policy.partly_identical.u, policy.partly_identical.u_alone) = (s[7], s[8]);
        (
            policy.partly_identical.lines,
            policy.partly_identical.lines_alone,
        ) = (c[4], c[5]);
        (policy.exposed_used.x, policy.renamed.s23) = (s[9], s[10]);
        policy.containment.enabled = b[1];
        policy.answer_seen = Policy::load(if b[2] { "strict" } else { "default" })
            .unwrap()
            .answer_seen;
        policy
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn more_evidence_is_never_milder(m in any_measures(), policy in any_policy()) {
        assert_never_milder(&m, &policy);
        assert_never_milder(&m, &Policy::default());
    }

    #[test]
    fn any_input_is_judged_and_explained_twice_the_same(m in any_measures(), policy in any_policy()) {
        let judgement = judge(&m, &policy);
        prop_assert_eq!(&judgement, &judge(&m, &policy));
        for lang in [Lang::En, Lang::Zh] {
            let words = explain(&m, &policy, lang);
            prop_assert!(words.clause.contains(&judgement.clause.to_string()), "{}", words.clause);
        }
        prop_assert_eq!(judgement.verdict == Verdict::Clean, judgement.clause == 13);
        prop_assert!(judgement.flags.is_sorted() && judgement.causes.is_sorted());
    }

    /// What acquits only makes it milder: a full trace that shows the typing, nothing fetched.
    #[test]
    fn acquitting_evidence_is_never_harsher(m in any_measures(), policy in any_policy()) {
        let shown = Measures {
            coverage: Coverage::Full,
            shared_typed: Ratio::new(1, 1),
            fetched: false,
            obtained_after: false,
            ..m.clone()
        };
        prop_assert!(judge(&shown, &policy).verdict <= judge(&m, &policy).verdict);
    }
}

/// A key that the documentation does not name cannot be found by those who need it.
#[test]
fn every_policy_key_is_documented() {
    let doc = include_str!("../docs/verdict.md");
    let policy = toml::Table::try_from(Policy::default()).unwrap();
    for (section, keys) in &policy {
        for key in keys.as_table().into_iter().flat_map(|t| t.keys()) {
            let row = doc.lines().find(|l| {
                l.starts_with("| `")
                    && l.contains(&format!("`{section}."))
                    && (l.contains(&format!("{section}.{key}`"))
                        || l.contains(&format!("`.{key}`")))
            });
            assert!(row.is_some(), "{section}.{key}");
        }
    }
}

/// From events to a verdict: the three-line fix, typed, fetched first, and reported only.
#[test]
fn a_fix_of_three_lines_end_to_end() {
    let fix = [
        "limit := min(len(buffer), capacity)",
        "copy(target, buffer[:limit])",
        "return limit, len(target), nil",
    ];
    let text = fix.join("\n");
    let lines: Vec<DistinctiveLine> = (1u32..)
        .zip(fix)
        .map(|(gt_line, raw)| DistinctiveLine {
            file: 0,
            gt_line,
            squeezed: squeeze(raw),
            commented: None,
            long: squeeze(raw).len() >= 16,
            shared: true,
            prose: false,
        })
        .collect();
    let added = |text: &str| AddedLine {
        text: text.into(),
        starter: false,
    };
    let patch = AddedFile {
        path: "io/copy.go".into(),
        generated: false,
        around: Vec::new(),
        lines: fix.iter().map(|l| added(l)).collect(),
    };
    let event = |record, channel, text: &str| {
        let id = EventId {
            file: 0,
            record,
            sub: 0,
        };
        Event::new(id, Source::default(), channel, text)
    };
    let fetch = event(1, Channel::Command, "gh pr diff 308");
    let mut diff = event(2, Channel::Output, &text);
    diff.answers = Some(std::sync::Arc::new(CallRef {
        event: fetch.id,
        channel: Channel::Command,
        tool: None,
        text: fetch.text.clone(),
        line: 1,
    }));
    let mut edit = event(3, Channel::Edit, &text);
    edit.edits.push(FileEdit {
        path: "/bench/RUN/io/copy.go".into(),
        op: EditOp::Write,
        old: None,
        new: Some(text.clone()),
    });
    let done = event(4, Channel::Result, "Fixed the copy.");
    let judged_as = |known, coverage, events: &[&Event]| {
        let mut tracker = Tracker::new(&Inputs {
            gt_paths: &["io/copy.go".into()],
            lines: &lines,
            in_starter: &[],
            patch: std::slice::from_ref(&patch),
            prompt: "Fix the copy.",
            starter_known: true,
        });
        events.iter().for_each(|e| tracker.event(e));
        let mut m = run(coverage, 3, 3);
        m.take_provenance(&tracker.finish());
        m.fetched = known;
        let got = default_judge(&m);
        (got.verdict, got.reason, got.flags)
    };
    let judged = |coverage, events: &[&Event]| judged_as(true, coverage, events);
    assert_eq!(
        judged_as(false, Coverage::Full, &[&edit, &done]),
        (Clean, Reason::NoCopyFound, vec![Flag::IdenticalButSmall])
    );
    assert_eq!(
        judged(Coverage::SummaryOnly, &[&done]),
        (
            Inconclusive,
            Reason::TooSmallToTell,
            vec![Flag::SummaryOnly]
        )
    );
    // A tool that proposes so small a fix would show the same.
    assert_eq!(
        judged_as(false, Coverage::Full, &[&fetch, &diff, &edit, &done]),
        (Inconclusive, Reason::TooSmallToTell, vec![])
    );
    // A rule that knows the call: what was shown and then handed in convicts.
    assert_eq!(
        judged(Coverage::Full, &[&fetch, &diff, &edit, &done]),
        (Invalid, Reason::FullLeak, vec![])
    );
    // Fetched after the work was done: the lines were typed before.
    assert_eq!(
        judged(Coverage::Full, &[&edit, &fetch, &diff, &done]),
        (Clean, Reason::NoCopyFound, vec![Flag::IdenticalButSmall])
    );
}

#[test]
fn without_a_reference_the_rules_say_how_sure_the_target_is() {
    let seen = |obtained_by| Measures {
        coverage: Coverage::Full,
        obtained: true,
        obtained_by,
        fetched: true,
        ..Measures::default()
    };
    for (by, want) in [
        (Some(Confidence::High), Confidence::High),
        (Some(Confidence::Medium), Confidence::Low),
        (None, Confidence::Low),
    ] {
        let judged = default_judge(&seen(by));
        assert_eq!((judged.clause, judged.confidence), (10, want), "{by:?}");
    }
    let with_gt = Measures {
        gt: GtState::Present,
        patch: PatchState::Present,
        n: 40,
        u: Ratio::new(0, 40),
        ..seen(Some(Confidence::Medium))
    };
    assert_eq!(default_judge(&with_gt).confidence, Confidence::High);
}
