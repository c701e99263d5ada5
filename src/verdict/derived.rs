//! What the clauses of the table speak of, worked out from the measures: `same`, `taken`, `typed`.
//!
//! Each is monotone: more of an incriminating member never makes an accusing value smaller or an
//! acquitting one larger. The property tests of `judge` rely on it.

use super::measures::Measures;
use super::policy::Policy;
use crate::rules::finding::Confidence;
use crate::trace::event::Coverage;

impl Measures {
    /// Copy score of the run: the larger of U and T12. 0 when neither could be measured.
    pub fn copy_score(&self) -> f64 {
        self.u.or_zero().max(self.t12.or_zero())
    }

    /// The patch is, near enough, the GT: copy score above `same.copy_score`, or identical among
    /// eligible files at least `same.id_files`.
    pub fn same(&self, policy: &Policy) -> bool {
        self.copy_score() > policy.same.copy_score
            || self.identical_files.or_zero() >= policy.same.id_files
                && self.identical_files.num > 0
    }

    /// The trace shows everything.
    pub fn full_trace(&self) -> bool {
        self.coverage == Coverage::Full
    }

    /// A full trace shows that the agent wrote the shared distinctive lines before they were shown to
    /// it. With no shared line there is nothing to type, so a full trace is enough.
    pub fn typed(&self, policy: &Policy) -> bool {
        let shown = self
            .shared_typed
            .value()
            .is_some_and(|share| share >= policy.typed.share);
        self.full_trace() && (shown || self.u.num == 0)
    }

    /// Nothing in the trace brought reference content, tried to without being blocked, or showed more
    /// than a trace of it.
    pub fn fetched_nothing(&self, policy: &Policy) -> bool {
        !self.fetched
            && !self.obtained
            && !self.obtained_after
            && !self.applied
            && self.e.or_zero() <= policy.typed.max_exposed
    }

    /// The lines are regular, made of what was given, and a full trace shows the agent typing them and fetching nothing: who
    /// does the task in that form writes them all.
    pub fn follows(&self, policy: &Policy) -> bool {
        self.shapes > 0 && self.admission_refuted(policy)
    }

    /// The size by which a copy without a source is judged: distinctive lines, or shapes where they follow.
    pub fn size(&self, policy: &Policy) -> u64 {
        if self.follows(policy) {
            self.shapes.min(self.n)
        } else {
            self.n
        }
    }

    /// The agent says that it took the reference, and a full trace shows that it did not.
    pub fn admission_refuted(&self, policy: &Policy) -> bool {
        self.typed(policy) && self.fetched_nothing(policy)
    }

    /// The strongest admission that counts.
    ///
    /// A plan or attempt in the final message that names the task's own pull request or commit counts
    /// as an admission of medium confidence when the patch is the same: whoever says "trying to apply
    /// the full patch of #1" and hands in exactly that patch has succeeded.
    pub fn admitted(&self, policy: &Policy) -> Option<Confidence> {
        let said = self.admission.map(|a| a.confidence);
        let planned = (self.intent_names_own && self.same(policy)).then_some(Confidence::Medium);
        said.max(planned)
            .filter(|_| !self.admission_refuted(policy))
    }

    /// Reference content was in the agent's hands no later than its last change to a GT file. A call
    /// that writes the content into the work tree is such a change itself.
    pub fn obtained_in_time(&self) -> bool {
        self.obtained || self.applied
    }

    /// An admission that makes a copy a leak: one of low confidence, as in a message of a commit, does not.
    pub fn plainly_admitted(&self, policy: &Policy) -> bool {
        self.admitted(policy)
            .is_some_and(|said| said > Confidence::Low)
    }

    /// Reference content was obtained in time, or the agent says so plainly and nothing refutes it.
    pub fn taken(&self, policy: &Policy) -> bool {
        self.obtained_in_time() || self.plainly_admitted(policy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::model::Ratio;
    use crate::verdict::measures::Admission;

    fn said(confidence: Confidence) -> Option<Admission> {
        Some(Admission {
            confidence,
            names_own: true,
        })
    }

    #[test]
    fn nothing_measured_is_nothing_the_same() {
        let policy = Policy::default();
        assert!(!Measures::default().same(&policy));
        let free = Policy::parse("[same]\nid_files = 0", std::path::Path::new("p")).unwrap();
        assert!(
            !Measures::default().same(&free),
            "no eligible file is not all of them"
        );
    }

    #[test]
    fn same_is_above_the_score_and_at_least_the_files() {
        let policy = Policy::default();
        for (u, t12, files, want) in [
            ((85, 100), (0, 0), (0, 0), false),
            ((86, 100), (0, 0), (0, 0), true),
            ((0, 100), (86, 100), (0, 0), true),
            ((0, 100), (0, 100), (4, 5), true),
            ((0, 100), (0, 100), (3, 4), false),
        ] {
            let m = Measures {
                u: Ratio::new(u.0, u.1),
                t12: Ratio::new(t12.0, t12.1),
                identical_files: Ratio::new(files.0, files.1),
                ..Measures::default()
            };
            assert_eq!(m.same(&policy), want, "{u:?} {t12:?} {files:?}");
        }
    }

    #[test]
    fn only_a_full_trace_that_shows_the_typing_refutes() {
        let policy = Policy::default();
        let base = Measures {
            coverage: Coverage::Full,
            u: Ratio::new(10, 10),
            shared_typed: Ratio::new(9, 10),
            admission: said(Confidence::High),
            ..Measures::default()
        };
        assert_eq!(base.admitted(&policy), None);
        let not_refuted = [
            Measures {
                coverage: Coverage::Partial,
                ..base.clone()
            },
            Measures {
                shared_typed: Ratio::new(8, 10),
                ..base.clone()
            },
            Measures {
                shared_typed: Ratio::default(),
                ..base.clone()
            },
            Measures {
                fetched: true,
                ..base.clone()
            },
            Measures {
                obtained_after: true,
                ..base.clone()
            },
            Measures {
                e: Ratio::new(1, 10),
                ..base.clone()
            },
        ];
        for m in not_refuted {
            assert_eq!(m.admitted(&policy), Some(Confidence::High), "{m:?}");
        }
        let other_work = Measures {
            u: Ratio::new(0, 10),
            shared_typed: Ratio::default(),
            ..base
        };
        assert_eq!(other_work.admitted(&policy), None);
    }

    #[test]
    fn an_admission_of_low_confidence_makes_no_leak() {
        let policy = Policy::default();
        let mut m = Measures {
            coverage: Coverage::Partial,
            u: Ratio::new(24, 24),
            admission: said(Confidence::Low),
            ..Measures::default()
        };
        assert_eq!(m.admitted(&policy), Some(Confidence::Low));
        assert!(!m.taken(&policy));
        m.admission = said(Confidence::Medium);
        assert!(m.taken(&policy));
    }

    #[test]
    fn a_plan_counts_only_beside_the_same_patch() {
        let policy = Policy::default();
        let mut m = Measures {
            coverage: Coverage::SummaryOnly,
            intent_names_own: true,
            ..Measures::default()
        };
        assert!(!m.taken(&policy));
        m.u = Ratio::new(9, 10);
        assert_eq!(m.admitted(&policy), Some(Confidence::Medium));
        m.admission = said(Confidence::High);
        assert_eq!(m.admitted(&policy), Some(Confidence::High));
    }
}
