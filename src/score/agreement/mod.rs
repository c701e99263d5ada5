//! How far the judges agree. A ranking is no better than the verdicts it counts.
//!
//! | number | over | formula |
//! |---|---|---|
//! | Fleiss' kappa | runs with the most common number of ratings (Fleiss needs the same number everywhere) | Fleiss 1971 |
//! | PASS-or-not kappa | the same runs, FAIL and PARTIAL taken together | the same |
//! | generalised kappa, plain, linear, quadratic | all runs with two ratings or more | Gwet 2014, chapter 2 |
//! | Krippendorff's alpha, nominal, ordinal | all runs with two ratings or more | Krippendorff 2011 |
//! | unanimous | runs with two ratings or more | all say the same |
//! | pairwise | runs that both judges rated | raw, Cohen's kappa (plain, linear, quadratic) |
//!
//! Every point estimate is an exact fraction. What is undefined (fewer than two ratings, only one
//! word ever said) is `None`, never 0 or 1. Intervals are percentiles of a bootstrap over tasks:
//! runs of one task resemble each other, and rows drawn one by one would make the interval too narrow.

use std::collections::BTreeMap;

use super::bootstrap::{self, Interval, Settings};
use super::exact::{Exact, ratio};
use super::model::Run;

mod pairs;
mod tallies;

pub use pairs::Pair;
pub use tallies::{Metric, Number, Tallies, Votes, Weights};

/// More judges than this are not compared pair by pair (the table would have more than 2,016 rows);
/// the report says so.
pub const MAX_PAIRED_JUDGES: usize = 64;

/// A statistic, exact, and its interval.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Stat {
    /// The value; `None` when it is undefined.
    pub value: Option<Exact>,
    /// 95 % bootstrap interval.
    pub interval: Option<Interval>,
}

/// Agreement over a set of runs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Agreement {
    /// Runs with two ratings or more.
    pub runs: u64,
    /// Runs with one rating.
    pub single: u64,
    /// Runs with none.
    pub unrated: u64,
    /// The most common number of ratings, from 2 up (the larger if two are equally common).
    pub raters: u64,
    /// Runs with that number: what Fleiss' kappa is over.
    pub complete: u64,
    /// Fleiss' kappa.
    pub fleiss: Stat,
    /// Fleiss' kappa of PASS against the rest.
    pub fleiss_pass: Stat,
    /// Generalised kappa.
    pub kappa: Stat,
    /// Generalised kappa of PASS against the rest.
    pub kappa_pass: Stat,
    /// Generalised kappa, linear weights.
    pub kappa_linear: Stat,
    /// Generalised kappa, quadratic weights.
    pub kappa_quadratic: Stat,
    /// Krippendorff's alpha, nominal.
    pub alpha_nominal: Stat,
    /// Krippendorff's alpha, ordinal.
    pub alpha_ordinal: Stat,
    /// Runs, of `runs`, in which all judges say the same.
    pub unanimous: u64,
    /// Each pair of judges; empty beyond [`MAX_PAIRED_JUDGES`].
    pub pairs: Vec<Pair>,
}

impl Agreement {
    /// Computes everything for a set of runs.
    pub fn of(runs: &[&Run], settings: Settings) -> Self {
        let raters = common_number(runs);
        let mut all: BTreeMap<Votes, u64> = BTreeMap::new();
        let mut by_task: BTreeMap<&str, Cluster> = BTreeMap::new();
        for run in runs {
            let votes = run.votes();
            *all.entry(votes).or_default() += 1;
            by_task
                .entry(&run.task)
                .or_default()
                .add_votes(votes, raters);
        }
        let mut exact = Sums::<Exact>::default();
        let mut out = Self {
            raters,
            pairs: pairs::pairs(runs),
            ..Self::default()
        };
        for (votes, times) in all {
            exact.add_votes(votes, times, raters);
            let number: u64 = votes.iter().sum();
            match number {
                0 => out.unrated += times,
                1 => out.single += times,
                _ => {
                    out.runs += times;
                    out.unanimous += if votes.contains(&number) { times } else { 0 };
                }
            }
            out.complete += if number == raters { times } else { 0 };
        }
        let clusters: Vec<Cluster> = by_task.into_values().collect();
        let mut intervals =
            bootstrap::intervals(&clusters, settings, |c| c.0.statistics()).into_iter();
        let mut values = exact.statistics().into_iter();
        for slot in [
            &mut out.fleiss,
            &mut out.fleiss_pass,
            &mut out.kappa,
            &mut out.kappa_pass,
            &mut out.kappa_linear,
            &mut out.kappa_quadratic,
            &mut out.alpha_nominal,
            &mut out.alpha_ordinal,
        ] {
            slot.value = values.next().flatten();
            // An interval around something undefined would say more than is known.
            slot.interval = intervals.next().flatten().filter(|_| slot.value.is_some());
        }
        out
    }

    /// Share of the runs in which all judges say the same.
    pub fn unanimity(&self) -> Option<Exact> {
        ratio(self.unanimous, self.runs)
    }

    /// Mean raw agreement of the pairs that share a run.
    pub fn mean_pairwise(&self) -> Option<Exact> {
        mean(self.pairs.iter().filter_map(Pair::agreement))
    }

    /// Mean of the pairs' plain Cohen's kappas, over those that are defined.
    pub fn mean_cohen(&self) -> Option<Exact> {
        mean(
            self.pairs
                .iter()
                .filter_map(|p| p.cohen(&Weights::IDENTITY)),
        )
    }
}

fn mean(values: impl Iterator<Item = Exact>) -> Option<Exact> {
    let (mut sum, mut count) = (Exact::of(0), 0);
    for value in values {
        sum += value;
        count += 1;
    }
    (count > 0).then(|| sum / Exact::of(count))
}

/// The most common number of ratings, from 2 up; 0 when no run has two.
fn common_number(runs: &[&Run]) -> u64 {
    let mut counts: BTreeMap<u64, u64> = BTreeMap::new();
    for run in runs.iter().filter(|r| r.ratings.len() > 1) {
        *counts.entry(run.ratings.len() as u64).or_default() += 1;
    }
    counts
        .into_iter()
        .max_by_key(|(number, runs)| (*runs, *number))
        .map_or(0, |(number, _)| number)
}

/// Sums over all runs, and over those with the common number of ratings.
#[derive(Debug, Clone)]
struct Sums<T> {
    all: Tallies<T>,
    complete: Tallies<T>,
}

impl<T: Number> Default for Sums<T> {
    fn default() -> Self {
        Self {
            all: Tallies::default(),
            complete: Tallies::default(),
        }
    }
}

impl<T: Number> Sums<T> {
    fn add_votes(&mut self, votes: Votes, times: u64, raters: u64) {
        self.all.add_votes(votes, times);
        if votes.iter().sum::<u64>() == raters {
            self.complete.add_votes(votes, times);
        }
    }

    /// In the order in which [`Agreement::of`] hands them out.
    fn statistics(&self) -> Vec<Option<T>> {
        vec![
            self.complete.kappa(&Weights::IDENTITY),
            self.complete.kappa(&Weights::PASS_OR_NOT),
            self.all.kappa(&Weights::IDENTITY),
            self.all.kappa(&Weights::PASS_OR_NOT),
            self.all.kappa(&Weights::LINEAR),
            self.all.kappa(&Weights::QUADRATIC),
            self.all.alpha(Metric::Nominal),
            self.all.alpha(Metric::Ordinal),
        ]
    }
}

/// The runs of one task, as floats for the bootstrap.
#[derive(Debug, Clone, Default)]
struct Cluster(Sums<f64>);

impl Cluster {
    fn add_votes(&mut self, votes: Votes, raters: u64) {
        self.0.add_votes(votes, 1, raters);
    }
}

impl bootstrap::Additive for Cluster {
    fn add(&mut self, other: &Self) {
        self.0.all.add(&other.0.all);
        self.0.complete.add(&other.0.complete);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::exact::fixed;
    use crate::score::testing::runs_of;

    const NONE: Settings = Settings {
        replicates: 0,
        seed: 1,
    };

    fn of(rows: &[&str]) -> Agreement {
        let runs = runs_of(rows);
        let refs: Vec<&Run> = runs.iter().collect();
        Agreement::of(&refs, NONE)
    }

    fn text(stat: &Stat) -> String {
        stat.value.as_ref().map_or("null".into(), |v| fixed(v, 4))
    }

    #[test]
    fn perfect_chance_and_undefined() {
        let perfect = of(&["PPP", "FFF", "---"]);
        assert_eq!(text(&perfect.fleiss), "1.0000");
        assert_eq!(text(&perfect.alpha_ordinal), "1.0000");
        assert_eq!(perfect.unanimous, 3);
        // One word only: nothing to agree about.
        let constant = of(&["FF", "FF"]);
        for stat in [
            &constant.fleiss,
            &constant.kappa_quadratic,
            &constant.alpha_nominal,
            &constant.fleiss_pass,
        ] {
            assert_eq!(text(stat), "null");
        }
        // No PASS anywhere: PASS or not is undefined, the rest is not.
        let no_pass = of(&["F-", "FF", "--"]);
        assert_eq!(
            (text(&no_pass.fleiss_pass), text(&no_pass.fleiss)),
            ("null".into(), "0.3333".into())
        );
        assert_eq!(text(&of(&[]).fleiss), "null");
        assert_eq!(text(&of(&["P", "F"]).alpha_nominal), "null");
    }

    #[test]
    fn missing_ratings_leave_fleiss_to_the_complete_runs() {
        let got = of(&["PPP", "FF.", "-.P", "FFP", "F..", "..."]);
        assert_eq!((got.runs, got.single, got.unrated), (4, 1, 1));
        // Two runs have 3 ratings, two have 2: equally common, the larger number counts.
        assert_eq!((got.raters, got.complete), (3, 2));
        assert_eq!(got.unanimous, 2);
        assert_eq!(text(&got.fleiss), text(&of(&["PPP", "FFP"]).fleiss));
    }

    #[test]
    fn published_example() {
        // Fleiss 1971 as retold in the usual textbook example needs five categories; folded into
        // three: votes (F, -, P) for ten subjects and fourteen raters, checked by hand.
        let rows = ["FFFFFFFFFFFFFF", "PPPPPPPPPPPPPP"];
        assert_eq!(text(&of(&rows).fleiss), "1.0000");
        let half = of(&["FP", "FP"]);
        assert_eq!(text(&half.fleiss), "-1.0000");
    }
}
