//! Peers: lines that other agents wrote by themselves for the same task weigh less.
//!
//! When runs of several agent families, whose full traces show that they typed a line and had seen
//! nothing of the reference, all wrote it, the task asks for that line. A run that hands it in gives
//! less away by it. The weight falls with the share of the other families that wrote the line, to a
//! half at most: a line of the reference stays a line of the reference, and runs that leaked in the
//! same way without a record must not be able to acquit each other.
//!
//! Pure: the facts of all runs in, what to take off each run out. Peers acquit only; no run is ever
//! judged more harshly for what others did.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::measures::Measures;
use crate::similarity::model::Ratio;

/// So many other families must have written a line before it loses weight.
pub const MIN_FAMILIES: usize = 3;

/// What one run says about the lines of its task: kept with the facts of the run, compared with those
/// of the others when runs are judged together.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeerFacts {
    /// What was to be solved: runs are compared when this is equal (task and digest of the GT).
    pub task: String,
    /// The agent's family ([`family`]).
    pub family: String,
    /// A full trace, in which nothing was fetched and no line of the GT was shown.
    pub independent: bool,
    /// Keys of all distinctive lines of the GT, sorted.
    pub lines: Vec<u64>,
    /// Keys of those that stand in the patch, sorted.
    pub shared: Vec<u64>,
    /// Keys of those that stand in the patch and were typed before they were shown, sorted.
    pub typed: Vec<u64>,
}

/// What the peers take off one run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct Discount {
    /// Other families with an independent run of the task.
    pub families: u64,
    /// Distinctive lines of the GT that at least [`MIN_FAMILIES`] of them wrote.
    pub common: u64,
    /// Of those, the ones in this run's patch.
    pub common_shared: u64,
    /// All distinctive lines, each at its weight (1 when no peer wrote it, a half when all did).
    pub weight: f64,
    /// Those in the patch, likewise.
    pub weight_shared: f64,
}

/// What the peers take off each run, in the order given; `None` where they say nothing.
pub fn discounts(runs: &[PeerFacts]) -> Vec<Option<Discount>> {
    // For each task and line: the families that wrote it independently. Families, not runs: two
    // prompts of one agent are one witness.
    let mut families: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut writers: BTreeMap<(&str, u64), BTreeSet<&str>> = BTreeMap::new();
    for run in runs
        .iter()
        .filter(|r| r.independent && !r.family.is_empty())
    {
        families.entry(&run.task).or_default().insert(&run.family);
        for line in &run.typed {
            let all = writers.entry((&run.task, *line)).or_default();
            all.insert(&run.family);
        }
    }
    let of_run = |run: &PeerFacts| {
        let others = |all: Option<&BTreeSet<&str>>| {
            all.map_or(0, |all| {
                all.len() - usize::from(all.contains(run.family.as_str()))
            })
        };
        let mut out = Discount {
            families: others(families.get(run.task.as_str())) as u64,
            ..Discount::default()
        };
        for line in &run.lines {
            let wrote = others(writers.get(&(run.task.as_str(), *line)));
            let shared = run.shared.binary_search(line).is_ok();
            let mut weight = 1.0;
            if wrote >= MIN_FAMILIES {
                weight -= 0.5 * wrote as f64 / out.families as f64;
                out.common += 1;
                out.common_shared += u64::from(shared);
            }
            out.weight += weight;
            out.weight_shared += if shared { weight } else { 0.0 };
        }
        (out.common > 0).then_some(out)
    };
    runs.iter().map(of_run).collect()
}

impl Measures {
    /// A full trace, in which nothing was fetched and no line of the GT was shown: what the agent wrote
    /// is its own.
    pub fn independent(&self) -> bool {
        self.full_trace()
            && self.e.num == 0
            && !self.fetched
            && !self.obtained
            && !self.obtained_after
            && !self.applied
    }

    /// Takes what the peers take off: n and U at the weight of their lines, never above what they are.
    ///
    /// A n that was above 0 stays above 0: 0 means that nothing could be compared.
    pub fn take_peers(&mut self, discount: &Discount) {
        if self.n == 0 || self.u.den == 0 || discount.weight <= 0.0 {
            return;
        }
        let scale = (discount.weight / self.u.den as f64).clamp(0.5, 1.0);
        let n = (self.n as f64 * scale).floor() as u64;
        self.n = n.clamp(1, self.n);
        // Rounded down, and compared as shares: lines that only this run lacks must not make the
        // others look like more.
        let shared = discount.weight_shared.floor().max(0.0) as u64;
        let weighed = Ratio::new(shared, discount.weight.ceil() as u64);
        if weighed.or_zero() < self.u.or_zero() {
            self.u = weighed;
        }
    }
}

/// The family of an agent: its name up to the first hyphen (`claude-opus-max` is a `claude`). Models
/// and settings of one maker are no independent witnesses.
pub fn family(agent: &str) -> &str {
    agent.split('-').next().unwrap_or(agent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::Coverage;
    use crate::verdict::judge::judge;
    use crate::verdict::measures::{GtState, PatchState, Verdict};
    use crate::verdict::policy::Policy;
    use proptest::prelude::*;

    fn run(family: &str, independent: bool, shared: std::ops::Range<u64>) -> PeerFacts {
        PeerFacts {
            task: "T1".into(),
            family: family.into(),
            independent,
            lines: (0..40).collect(),
            shared: shared.clone().collect(),
            typed: shared.collect(),
        }
    }

    fn same(n: u64, shared: u64) -> Measures {
        Measures {
            gt: GtState::Present,
            patch: PatchState::Present,
            coverage: Coverage::Partial,
            n,
            u: Ratio::new(shared, n),
            ..Measures::default()
        }
    }

    #[test]
    fn three_other_families_are_needed() {
        let us = run("claude", false, 0..40);
        let peers = ["codex", "gemini", "cursor"].map(|f| run(f, true, 0..10));
        for (others, common) in [(&peers[..2], None), (&peers[..], Some(10))] {
            let mut runs = others.to_vec();
            // A second run of a family is no second witness, neither is a run of our own family.
            runs.push(run("codex", true, 0..10));
            runs.push(run("claude", true, 0..10));
            runs.push(us.clone());
            let got = discounts(&runs).pop().unwrap();
            assert_eq!(got.map(|d| d.common), common);
        }
    }

    #[test]
    fn what_leaked_or_is_unrecorded_is_no_witness() {
        let mut runs: Vec<_> = ["codex", "gemini", "cursor"]
            .map(|f| run(f, false, 0..40))
            .into();
        runs.push(run("claude", false, 0..40));
        assert_eq!(discounts(&runs), [None; 4]);
        let elsewhere = ["a", "b", "c"].map(|f| PeerFacts {
            task: "T2".into(),
            ..run(f, true, 0..40)
        });
        runs.extend(elsewhere);
        assert_eq!(discounts(&runs)[3], None);
    }

    #[test]
    fn half_of_the_weight_at_most() {
        let mut runs: Vec<_> = ["codex", "gemini", "cursor"]
            .map(|f| run(f, true, 0..40))
            .into();
        runs.push(run("claude", false, 0..40));
        let all = discounts(&runs)[3].unwrap();
        assert_eq!((all.weight, all.weight_shared), (20.0, 20.0));
        let mut m = same(40, 40);
        m.take_peers(&all);
        assert_eq!((m.n, m.u), (20, Ratio::new(40, 40)));
        // Of four families three wrote it: three eighths off.
        runs.insert(0, run("aider", true, 0..0));
        let most = discounts(&runs)[4].unwrap();
        assert_eq!((most.families, most.weight), (4, 25.0));
    }

    #[test]
    fn a_common_fix_is_small_and_a_large_copy_stays_large() {
        let policy = Policy::default();
        let all = Discount {
            families: 3,
            common: 24,
            common_shared: 24,
            weight: 12.0,
            weight_shared: 12.0,
        };
        let mut m = same(24, 24);
        assert_eq!(judge(&m, &policy).verdict, Verdict::Partial);
        m.take_peers(&all);
        assert_eq!(judge(&m, &policy).verdict, Verdict::Inconclusive);
        let mut large = same(400, 400);
        large.take_peers(&Discount {
            common: 400,
            common_shared: 400,
            weight: 200.0,
            weight_shared: 200.0,
            ..all
        });
        assert_eq!(judge(&large, &policy).verdict, Verdict::Invalid);
    }

    #[test]
    fn families_of_agents() {
        for (agent, want) in [
            ("claude-opus-max", "claude"),
            ("codex-gpt-5_4", "codex"),
            ("x", "x"),
            ("", ""),
        ] {
            assert_eq!(family(agent), want);
        }
    }

    proptest! {
        /// Peers acquit only.
        #[test]
        fn never_harsher(
            n in 0u64..150, shared in 0u64..150, common in 0u64..150, common_shared in 0u64..150,
            per in 0.5f64..1.0, full in any::<bool>(), typed in any::<bool>(),
        ) {
            let shared = shared.min(n);
            let common_shared = common_shared.min(shared).min(common);
            let common = common.min(n - shared + common_shared);
            let discount = Discount {
                families: 3,
                common,
                common_shared,
                weight: n as f64 - common as f64 * (1.0 - per),
                weight_shared: shared as f64 - common_shared as f64 * (1.0 - per),
            };
            let mut m = Measures {
                coverage: if full { Coverage::Full } else { Coverage::Partial },
                shared_typed: Ratio::new(u64::from(typed), 1),
                ..same(n, shared)
            };
            let before = judge(&m, &Policy::default()).verdict;
            m.take_peers(&discount);
            prop_assert!(judge(&m, &Policy::default()).verdict <= before, "{discount:?}");
        }
    }
}
