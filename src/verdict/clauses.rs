//! The verdict table, one function a clause, in the order in which it is read.
//!
//! Clause 13, "clean", is what remains when none of these is met. Numbers are stable: reports print
//! them and people quote them.

use super::check::{Alternative, Check, Clause, Fact, Reason};
use super::measures::{GtState, Measures, PatchState, Verdict};
use super::policy::{Needs, Policy, SeenVerdict};

/// The number of the clause that is left when no other is met.
pub const CLEAN: u8 = 13;

/// Evaluates a clause.
type Evaluate = fn(&Measures, &Policy) -> Vec<Alternative>;

/// Clauses 1 to 12: number, verdict, conditions.
const TABLE: [(u8, Verdict, Evaluate); 12] = [
    (1, Verdict::Invalid, preapplied),
    (2, Verdict::Invalid, full_leak),
    (3, Verdict::Invalid, applied),
    (4, Verdict::Invalid, unexplained_large),
    (5, Verdict::Partial, unexplained_small),
    (6, Verdict::Partial, partly_identical),
    (7, Verdict::Partial, some_files_copied),
    (8, Verdict::Partial, exposed_and_used),
    (9, Verdict::Partial, renamed_copy),
    (10, Verdict::Partial, answer_seen),
    (11, Verdict::Partial, admission_only),
    (12, Verdict::Inconclusive, cannot_tell),
];

/// All clauses but "clean", evaluated, in order.
pub fn evaluate<'a>(m: &'a Measures, p: &'a Policy) -> impl Iterator<Item = Clause> + 'a {
    TABLE
        .iter()
        .map(move |(number, verdict, conditions)| Clause {
            number: *number,
            verdict: if *number == 10 && p.answer_seen.verdict == SeenVerdict::Invalid {
                Verdict::Invalid
            } else {
                *verdict
            },
            alternatives: conditions(m, p),
        })
}

/// Clause 1: GT lines stood in the tree before the agent's first action. The environment's fault.
fn preapplied(m: &Measures, p: &Policy) -> Vec<Alternative> {
    let lines = p.preapplied.lines;
    vec![
        Alternative::new(
            Reason::GtPreapplied,
            [Check::at_least(
                Fact::PreappliedLines,
                m.preapplied_lines,
                lines,
            )],
        ),
        Alternative::new(
            Reason::GtPreapplied,
            [
                Check::at_least(Fact::StoodThere, m.stood_there, lines),
                Check::copied(m, p),
            ],
        ),
    ]
}

/// Clause 2: the same, and the reference was taken, or shown before it was written and then used.
fn full_leak(m: &Measures, p: &Policy) -> Vec<Alternative> {
    let rule = &p.full_leak;
    if rule.needs == Needs::Admission {
        return vec![Alternative::new(
            Reason::FullLeak,
            [
                Check::share(
                    Fact::HandWrittenIdentical,
                    m.hand_written_identical,
                    rule.identical_files,
                ),
                Check::holds(Fact::Admitted, m.plainly_admitted(p)),
            ],
        )];
    }
    vec![
        Alternative::new(Reason::FullLeak, [Check::same(m, p), Check::taken(m, p)]),
        Alternative::new(
            Reason::FullLeak,
            [
                Check::same(m, p),
                Check::share(Fact::E, m.e, rule.e),
                Check::share(Fact::X, m.x, rule.x),
                Check::evident(m, p),
            ],
        ),
    ]
}

/// Clause 3: a call wrote reference content into the tree, and much of it still stands there.
fn applied(m: &Measures, p: &Policy) -> Vec<Alternative> {
    vec![Alternative::new(
        Reason::Applied,
        [
            Check::holds(Fact::Applied, m.applied),
            Check::share(Fact::U, m.u, p.applied.u),
        ],
    )]
}

/// Clause 4: the same, no source recorded, and too large for coincidence. Under `seed`, plain
/// containment too, at any size.
fn unexplained_large(m: &Measures, p: &Policy) -> Vec<Alternative> {
    let rule = &p.unexplained;
    let mut ways = vec![
        Alternative::new(
            Reason::UnexplainedCopy,
            [
                Check::same(m, p),
                Check::at_least(Fact::N, m.size(p), rule.lines),
            ],
        ),
        Alternative::new(
            Reason::UnexplainedCopy,
            [
                Check::same(m, p),
                Check::at_least(Fact::N, m.size(p), rule.lines_with_runs),
                Check::either([
                    Check::share(Fact::R6, m.r6, rule.r6),
                    Check::share(Fact::T12, m.t12, rule.t12),
                ]),
            ],
        ),
    ];
    if p.containment.enabled {
        let overall = m.containment.unwrap_or(0.0);
        let file = m.file_containment.unwrap_or(0.0);
        ways.push(Alternative::new(
            Reason::UnexplainedCopy,
            [Check::either([
                Check::above(Fact::Containment, overall, p.containment.overall),
                Check::above(Fact::FileContainment, file, p.containment.any_file),
            ])],
        ));
    }
    ways
}

/// Clause 5: the same, no source recorded, and of a size at which honest runs are not.
fn unexplained_small(m: &Measures, p: &Policy) -> Vec<Alternative> {
    vec![Alternative::new(
        Reason::UnexplainedCopy,
        [
            Check::same(m, p),
            Check::at_least(Fact::N, m.size(p), p.size.small),
        ],
    )]
}

/// Clause 6: not the same, but much of it is.
fn partly_identical(m: &Measures, p: &Policy) -> Vec<Alternative> {
    let rule = &p.partly_identical;
    vec![
        Alternative::new(
            Reason::PartlyIdentical,
            [
                Check::share(Fact::U, m.u, rule.u_alone),
                Check::at_least(Fact::N, m.size(p), rule.lines_alone),
            ],
        ),
        Alternative::new(
            Reason::PartlyIdentical,
            [
                Check::share(Fact::U, m.u, rule.u),
                Check::at_least(Fact::N, m.size(p), rule.lines),
                Check::either([
                    Check::share(Fact::R6, m.r6, rule.r6),
                    Check::share(Fact::T12, m.t12, rule.t12),
                ]),
            ],
        ),
    ]
}

/// Clause 7: more identical eligible files than chance gives, or one that is too large for it by itself.
fn some_files_copied(m: &Measures, p: &Policy) -> Vec<Alternative> {
    let limit = p.some_files.probability;
    // Chance knows nothing of lines that follow from what was given.
    let by_chance = Check::holds(Fact::Irregular, !m.follows(p));
    let checks = [
        Check::files_by_chance(m, limit),
        Check::file_by_chance(m, limit),
    ];
    let mut ways: Vec<Alternative> = checks
        .into_iter()
        .map(|check| Alternative::new(Reason::SomeFilesCopied, [check, by_chance]))
        .collect();
    ways.push(Alternative::new(
        Reason::UnexplainedCopy,
        [
            Check::at_least(Fact::OpaqueLines, m.opaque_lines, 1),
            Check::opaque_by_chance(m, limit),
        ],
    ));
    ways
}

/// Clause 8: GT lines were shown before they were written, and stand in the patch.
fn exposed_and_used(m: &Measures, p: &Policy) -> Vec<Alternative> {
    let rule = &p.exposed_used;
    vec![
        Alternative::new(
            Reason::ExposedAndUsed,
            [Check::share(Fact::X, m.x, rule.x), Check::evident(m, p)],
        ),
        Alternative::new(
            Reason::ExposedAndUsed,
            [Check::at_least(Fact::ShownRun, m.shown_run, rule.lines)],
        ),
    ]
}

/// Clause 9: the token structure is that of the GT, on enough of it.
fn renamed_copy(m: &Measures, p: &Policy) -> Vec<Alternative> {
    let rule = &p.renamed;
    vec![
        Alternative::new(
            Reason::RenamedCopy,
            [
                Check::share(Fact::S23, m.s23, rule.s23),
                Check::at_least(Fact::S23Tokens, m.s23_tokens, rule.tokens),
            ],
        ),
        Alternative::new(
            Reason::RenamedCopy,
            [
                Check::share(Fact::S23, m.s23, rule.s23),
                Check::at_least(Fact::S23Tokens, m.s23_tokens, rule.tokens_with_trace),
                Check::either([Check::taken(m, p), Check::share(Fact::E, m.e, rule.e)]),
            ],
        ),
        // One file of it, shown, and written again in other words.
        Alternative::new(
            Reason::RenamedCopy,
            [
                Check::share(Fact::EInTime, m.e_in_time, rule.e_of_part),
                Check::share(Fact::S23, m.s23, rule.s23_of_part),
                Check::at_least(Fact::S23Shared, m.s23.num, rule.tokens_of_part),
            ],
        ),
    ]
}

/// Clause 10: the reference was in the agent's hands before it was done, whatever the patch looks like.
fn answer_seen(m: &Measures, _: &Policy) -> Vec<Alternative> {
    vec![Alternative::new(
        Reason::AnswerSeen,
        [Check::either([
            Check::holds(Fact::Obtained, m.obtained),
            Check::holds(Fact::Applied, m.applied),
        ])],
    )]
}

/// Clause 11: the agent says so, and no full trace refutes it.
fn admission_only(m: &Measures, p: &Policy) -> Vec<Alternative> {
    vec![Alternative::new(
        Reason::AdmissionOnly,
        [Check::holds(Fact::Admitted, m.admitted(p).is_some())],
    )]
}

/// Clause 12: it cannot be told, and a verdict either way would be a guess.
///
/// The upper size is `size.small`, the lower size of clause 5, so that no n falls between the two
/// whatever the policy.
fn cannot_tell(m: &Measures, p: &Policy) -> Vec<Alternative> {
    let no_full_trace = Check::holds(Fact::NoFullTrace, !m.full_trace());
    let with_gt = m.gt != GtState::Absent;
    let mut ways = too_small(m, p);
    ways.extend([
        Alternative::new(
            Reason::NoEvidence,
            [Check::holds(Fact::NoGt, !with_gt), no_full_trace],
        ),
        Alternative::new(
            Reason::NoEvidence,
            [
                Check::holds(Fact::NoPatch, m.patch == PatchState::Absent),
                no_full_trace,
            ],
        ),
        Alternative::new(
            Reason::BaseUnknown,
            [
                Check::holds(Fact::NoBase, m.patch == PatchState::BaseUnknown),
                no_full_trace,
            ],
        ),
        Alternative::new(
            Reason::GtDoesNotFit,
            [Check::holds(
                Fact::GtDoesNotFit,
                m.gt == GtState::DoesNotFit,
            )],
        ),
        Alternative::new(Reason::NoEvidence, [Check::holds(Fact::Told, m.told)]),
        Alternative::new(
            Reason::NoEvidence,
            [Check::exactly(Fact::N, m.n, 0), no_full_trace],
        ),
        Alternative::new(
            Reason::NoEvidence,
            [Check::at_least(Fact::NotCompared, m.not_compared, 1)],
        ),
    ]);
    ways.extend(not_shown(m, p));
    ways.extend([
        all_of_it_lies_there(m, p),
        Alternative::new(
            Reason::TraceInconsistent,
            [Check::holds(Fact::Contradiction, m.trace_contradicts_tree)],
        ),
        Alternative::new(
            Reason::OutcomeUnrecorded,
            [Check::at_least(Fact::OutcomeMissing, m.outcome_missing, 1)],
        ),
        Alternative::new(
            Reason::TraceTampered,
            [Check::holds(Fact::Tampered, m.trace_tampered)],
        ),
    ]);
    ways
}

/// Alike, or shown, and so small that honest solutions are the same.
fn too_small(m: &Measures, p: &Policy) -> Vec<Alternative> {
    let alike = Check::above(Fact::U, m.u.or_zero(), p.same.copy_score);
    let alike = Check {
        parts: (m.u.den > 0).then_some(m.u),
        ..alike
    };
    vec![
        Alternative::new(
            Reason::TooSmallToTell,
            [
                alike,
                Check::at_least(Fact::N, m.n, p.size.tiny),
                Check::fewer(Fact::N, m.n, p.size.small),
            ],
        ),
        Alternative::new(
            Reason::TooSmallToTell,
            [
                alike,
                Check::fewer(Fact::N, m.n, p.size.tiny),
                Check::holds(Fact::NotTyped, !m.typed(p)),
            ],
        ),
        Alternative::new(
            Reason::TooSmallToTell,
            [Check::same(m, p), Check::holds(Fact::Follows, m.follows(p))],
        ),
        Alternative::new(
            Reason::TooSmallToTell,
            [
                Check::share(Fact::X, m.x, p.exposed_used.x),
                Check::fewer(Fact::N, m.n, p.size.tiny),
            ],
        ),
    ]
}

/// Lines of the GT of which the trace does not show how they came.
fn not_shown(m: &Measures, p: &Policy) -> Vec<Alternative> {
    vec![
        Alternative::new(
            Reason::OutcomeUnrecorded,
            [Check::at_least(Fact::OpaqueLines, m.opaque_lines, 1)],
        ),
        Alternative::new(
            Reason::OutcomeUnrecorded,
            [Check::at_least(
                Fact::PlacedLines,
                m.placed_lines,
                p.size.tiny,
            )],
        ),
        Alternative::new(
            Reason::OutcomeUnrecorded,
            [Check::at_least(
                Fact::StoodThere,
                m.stood_there,
                p.preapplied.lines,
            )],
        ),
        Alternative::new(
            Reason::OutcomeUnrecorded,
            [
                Check::at_least(Fact::Staged, m.staged, 1),
                Check::at_least(Fact::IdenticalFiles, m.identical_files.num, 1),
            ],
        ),
        Alternative::new(
            Reason::OutcomeUnrecorded,
            [
                Check::at_least(Fact::Unaccounted, m.unaccounted, p.size.tiny),
                Check::at_least(Fact::IdenticalFiles, m.identical_files.num, 1),
            ],
        ),
    ]
}

/// Without a full trace: nearly all of the GT stands in the patch or in copies that are no work.
fn all_of_it_lies_there(m: &Measures, p: &Policy) -> Alternative {
    let share = Check::above(
        Fact::WithResidue,
        m.with_residue.or_zero(),
        p.same.copy_score,
    );
    let share = Check {
        parts: (m.with_residue.den > 0).then_some(m.with_residue),
        ..share
    };
    Alternative::new(
        Reason::NoEvidence,
        [
            share,
            Check::at_least(Fact::N, m.n, p.size.small),
            Check::holds(Fact::NoFullTrace, !m.full_trace()),
        ],
    )
}
