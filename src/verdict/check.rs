//! One condition of the verdict table: what was measured, what was needed, and whether it was met.
//!
//! A clause returns its conditions as data instead of a bare `bool`, so that the judge, the
//! explanation and the "next clause missed" all read the same source.

use super::measures::{Measures, Verdict};
use super::policy::Policy;
use crate::similarity::chance::poisson_tail;
use crate::similarity::model::Ratio;
use serde::Serialize;

/// Why a run got its verdict. The names are part of the JSON output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// The GT stood in the tree before the agent's first action.
    GtPreapplied,
    /// The reference was taken and the patch is the same.
    FullLeak,
    /// Reference content was written into the tree by a call, and much of it stands there.
    Applied,
    /// The patch is the same, and no source is recorded.
    UnexplainedCopy,
    /// Much of the patch is the same.
    PartlyIdentical,
    /// More files are identical than chance gives.
    SomeFilesCopied,
    /// GT lines were shown, and then used.
    ExposedAndUsed,
    /// The same code under other names.
    RenamedCopy,
    /// The reference was obtained in time.
    AnswerSeen,
    /// The agent says that it took the reference.
    AdmissionOnly,
    /// The patch is the same, and too small to tell.
    TooSmallToTell,
    /// There is nothing to judge by.
    NoEvidence,
    /// There is no base to compare with.
    BaseUnknown,
    /// The GT is not that of this task.
    GtDoesNotFit,
    /// The trace says one thing and the tree another.
    TraceInconsistent,
    /// A call aimed at reference material, and its result is missing.
    OutcomeUnrecorded,
    /// The agent wrote or deleted its trace or the git logs.
    TraceTampered,
    /// Nothing speaks for a copy.
    NoCopyFound,
}

impl Reason {
    /// The name used in JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::GtPreapplied => "gt_preapplied",
            Self::FullLeak => "full_leak",
            Self::Applied => "applied",
            Self::UnexplainedCopy => "unexplained_copy",
            Self::PartlyIdentical => "partly_identical",
            Self::SomeFilesCopied => "some_files_copied",
            Self::ExposedAndUsed => "exposed_and_used",
            Self::RenamedCopy => "renamed_copy",
            Self::AnswerSeen => "answer_seen",
            Self::AdmissionOnly => "admission_only",
            Self::TooSmallToTell => "too_small_to_tell",
            Self::NoEvidence => "no_evidence",
            Self::BaseUnknown => "base_unknown",
            Self::GtDoesNotFit => "gt_does_not_fit",
            Self::TraceInconsistent => "trace_inconsistent",
            Self::OutcomeUnrecorded => "outcome_unrecorded",
            Self::TraceTampered => "trace_tampered",
            Self::NoCopyFound => "no_copy_found",
        }
    }
}

/// What a condition is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fact {
    /// Larger of U and T12.
    CopyScore,
    /// Identical among eligible files.
    IdFiles,
    /// Distinctive containment.
    U,
    /// 12-token containment.
    T12,
    /// Lines in runs of six.
    R6,
    /// Abstract token containment.
    S23,
    /// GT tokens behind S23.
    S23Tokens,
    /// Distinctive GT lines.
    N,
    /// Shown before written.
    E,
    /// Shown before written, while there was still something to write.
    EInTime,
    /// Token shapes in the patch, counted.
    S23Shared,
    /// Shown, then used.
    X,
    /// Chance of that many identical files.
    FilesByChance,
    /// Chance that the largest identical file is so, among all eligible ones.
    FileByChance,
    /// Lines of files of the GT that an opaque call wrote.
    OpaqueLines,
    /// Chance that an honest solution has them.
    OpaqueByChance,
    /// GT lines in the tree before the first action.
    PreappliedLines,
    /// GT lines in the tree before the first action that the trace holds.
    StoodThere,
    /// GT lines that a call wrote which does not show what it wrote.
    PlacedLines,
    /// GT lines that the agent is not shown to have written by itself.
    Unaccounted,
    /// GT lines that follow each other, shown and used.
    ShownRun,
    /// A call aimed at reference material.
    Fetched,
    /// The lines follow from what was given.
    Follows,
    /// They do not.
    Irregular,
    /// Calls that put reference material on disk.
    Staged,
    /// Identical eligible files, counted.
    IdenticalFiles,
    /// Raw containment of all files.
    Containment,
    /// Raw containment of the most alike file.
    FileContainment,
    /// Identical among hand-written files.
    HandWrittenIdentical,
    /// Reference content was obtained in time.
    Obtained,
    /// Reference content was written into the tree.
    Applied,
    /// An admission that nothing refutes.
    Admitted,
    /// No full trace shows that the agent typed the lines.
    NotTyped,
    /// The trace does not show everything.
    NoFullTrace,
    /// There is no patch.
    NoPatch,
    /// There is no GT.
    NoGt,
    /// There is no base.
    NoBase,
    /// The GT does not apply to the base.
    GtDoesNotFit,
    /// Files of the GT in the tree that could not be compared.
    NotCompared,
    /// GT lines in the patch or in copies that lie in the run and are no work.
    WithResidue,
    /// Turns of the user hold so much of the GT that the verdict would hang on them.
    Told,
    /// Trace and tree contradict each other.
    Contradiction,
    /// Calls whose outcome is missing.
    OutcomeMissing,
    /// The trace was touched.
    Tampered,
}

/// How value and limit are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Op {
    /// value > limit
    Above,
    /// value >= limit
    AtLeast,
    /// value < limit
    Below,
    /// value == limit, for counts
    Equal,
    /// The fact holds; value is 1 or 0.
    Holds,
}

/// One condition, evaluated.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Check {
    /// What it is about.
    pub fact: Fact,
    /// What was measured.
    pub value: f64,
    /// The parts of a measured share.
    pub parts: Option<Ratio>,
    /// How it is compared.
    pub op: Op,
    /// With what.
    pub limit: f64,
    /// Whether it is met. Never, for a value that is not a number.
    pub met: bool,
}

impl Check {
    fn new(fact: Fact, value: f64, op: Op, limit: f64) -> Self {
        let met = match op {
            Op::Above => value > limit,
            Op::AtLeast => value >= limit,
            Op::Below => value < limit,
            Op::Equal => value == limit,
            Op::Holds => value > 0.0,
        };
        Self {
            fact,
            value,
            parts: None,
            op,
            limit,
            met,
        }
    }

    /// A share that must reach `limit`. A share of nothing is 0 and reaches no limit, not even 0.
    pub fn share(fact: Fact, ratio: Ratio, limit: f64) -> Self {
        let mut check = Self::new(fact, ratio.or_zero(), Op::AtLeast, limit);
        check.met &= ratio.num > 0;
        check.parts = (ratio.den > 0).then_some(ratio);
        check
    }

    /// A share, or another number, that must exceed `limit`.
    pub fn above(fact: Fact, value: f64, limit: f64) -> Self {
        Self::new(fact, value, Op::Above, limit)
    }

    /// A count that must reach `limit`.
    pub fn at_least(fact: Fact, count: u64, limit: u64) -> Self {
        // Compared as integers: a double cannot tell apart what lies beyond 2^53.
        let met = count >= limit;
        Self {
            met,
            ..Self::new(fact, count as f64, Op::AtLeast, limit as f64)
        }
    }

    /// A count that must stay below `limit`.
    pub fn fewer(fact: Fact, count: u64, limit: u64) -> Self {
        Self {
            met: count < limit,
            ..Self::new(fact, count as f64, Op::Below, limit as f64)
        }
    }

    /// A count that must be `wanted`.
    pub fn exactly(fact: Fact, count: u64, wanted: u64) -> Self {
        Self {
            met: count == wanted,
            ..Self::new(fact, count as f64, Op::Equal, wanted as f64)
        }
    }

    /// A fact that must hold.
    pub fn holds(fact: Fact, yes: bool) -> Self {
        Self::new(fact, f64::from(u8::from(yes)), Op::Holds, 1.0)
    }

    /// `same`: the copy score or the identical files, whichever is met or else nearer.
    pub fn same(m: &Measures, p: &Policy) -> Self {
        let mut score = Self::above(Fact::CopyScore, m.copy_score(), p.same.copy_score);
        score.parts = Some(if m.u.or_zero() >= m.t12.or_zero() {
            m.u
        } else {
            m.t12
        })
        .filter(|r| r.den > 0);
        Self::either([
            score,
            Self::share(Fact::IdFiles, m.identical_files, p.same.id_files),
        ])
    }

    /// What was shown is evidence: the GT is not so small that a tool which proposes a fix proposes it, or a call aimed at
    /// reference material.
    pub fn evident(m: &Measures, p: &Policy) -> Self {
        Self::either([
            Self::at_least(Fact::N, m.n, p.size.tiny),
            Self::holds(Fact::Fetched, m.fetched),
        ])
    }

    /// What stood there from the start is a copy: the same, and large enough to say so, or a whole file of it.
    pub fn copied(m: &Measures, p: &Policy) -> Self {
        let large = m.n >= p.size.tiny;
        Self::either([
            Self {
                met: large && m.same(p),
                ..Self::same(m, p)
            },
            Self::at_least(Fact::IdenticalFiles, m.identical_files.num, 1),
        ])
    }

    /// `taken`: obtained, applied or plainly admitted.
    pub fn taken(m: &Measures, p: &Policy) -> Self {
        Self::either([
            Self::holds(Fact::Obtained, m.obtained),
            Self::holds(Fact::Applied, m.applied),
            Self::holds(Fact::Admitted, m.plainly_admitted(p)),
        ])
    }

    /// The chance of as many identical eligible files, which must be below `limit`.
    pub fn files_by_chance(m: &Measures, limit: f64) -> Self {
        let tail = poisson_tail(m.identical_files.num, m.expected_identical);
        let mut check = Self::new(Fact::FilesByChance, tail, Op::Below, limit);
        check.parts = (m.identical_files.den > 0).then_some(m.identical_files);
        check
    }

    /// The chance that any of the eligible files is as unlikely to be identical as one that is, which must be below
    /// `limit`: a bound for the file by itself, whatever the others add to the sum.
    pub fn file_by_chance(m: &Measures, limit: f64) -> Self {
        let files = m.identical_files;
        let chance = match files.num {
            0 => 1.0,
            _ => (m.rarest_identical * files.den as f64).min(1.0),
        };
        Self {
            parts: (files.den > 0).then_some(files),
            ..Self::new(Fact::FileByChance, chance, Op::Below, limit)
        }
    }

    /// The chance of the lines that an opaque call wrote, which must be below `limit`.
    pub fn opaque_by_chance(m: &Measures, limit: f64) -> Self {
        Self::new(Fact::OpaqueByChance, m.opaque_chance, Op::Below, limit)
    }

    /// The first condition that is met, or the one that is missed by least (the first of equals).
    pub fn either<const N: usize>(checks: [Self; N]) -> Self {
        let mut best: Option<Self> = None;
        for check in checks {
            if best.is_none_or(|b| !b.met && (check.met || check.shortfall() < b.shortfall())) {
                best = Some(check);
            }
        }
        best.unwrap_or_else(|| Self::holds(Fact::Contradiction, false))
    }

    /// By how much it was missed, relative to what was needed: 0 when met, 1 when nothing was there.
    pub fn shortfall(&self) -> f64 {
        if self.met {
            return 0.0;
        }
        let missing = match self.op {
            Op::Above | Op::AtLeast if self.limit > 0.0 => 1.0 - self.value / self.limit,
            Op::Below if self.value > 0.0 => 1.0 - self.limit / self.value,
            _ => 1.0,
        };
        // A value just at a limit that must be exceeded still is a miss.
        if missing.is_nan() {
            1.0
        } else {
            missing.clamp(1e-9, 1.0)
        }
    }
}

/// One way to meet a clause: all its conditions.
#[derive(Debug, Clone, PartialEq)]
pub struct Alternative {
    /// What it says of the run.
    pub reason: Reason,
    /// The conditions.
    pub checks: Vec<Check>,
}

impl Alternative {
    /// All conditions of it.
    pub fn new<const N: usize>(reason: Reason, checks: [Check; N]) -> Self {
        Self {
            reason,
            checks: checks.to_vec(),
        }
    }

    /// Every condition is met. Nothing is met by no condition.
    pub fn met(&self) -> bool {
        !self.checks.is_empty() && self.checks.iter().all(|c| c.met)
    }

    /// How far it was missed: the sum over its conditions.
    pub fn shortfall(&self) -> f64 {
        self.checks.iter().map(Check::shortfall).sum()
    }
}

/// A clause of the table, evaluated for one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// Its stable number.
    pub number: u8,
    /// The verdict it gives.
    pub verdict: Verdict,
    /// Ways to meet it; one is enough.
    pub alternatives: Vec<Alternative>,
}

impl Clause {
    /// The first alternative that is met.
    pub fn met(&self) -> Option<&Alternative> {
        self.alternatives.iter().find(|a| a.met())
    }
}
