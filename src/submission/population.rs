//! The submissions beside each other: average, range, outliers, peers per instance.

use std::collections::BTreeMap;

use super::flags::{self, LINE};
use super::gold::Gold;
use super::model::{Fit, Peers, Population, Rate, Spread, Submission, Test};
use super::split::Split;
use super::statistics::{
    BetaBinomial, Count, FDR, MIN_SUBMISSIONS, OUTLIER_Z, benjamini_hochberg, robust_z,
};
use super::tally::{Duplicates, Tally};

/// Compares the submissions and flags those far above the others. `None` for fewer than two.
pub(super) fn compare(submissions: &mut [Submission<'_>]) -> Option<Population> {
    if submissions.len() < 2 {
        return None;
    }
    let mut spread = |rule: &str, rate: fn(&Submission<'_>) -> Rate| {
        let spread = spread(submissions, rate);
        for (submission, test) in submissions.iter_mut().zip(&spread.tests) {
            submission
                .flags
                .extend(flags::outlier(rule, test.z, test.p, test.significant));
        }
        spread
    };
    let blog = spread("published", |s| s.blog);
    let robust = spread("robust", |s| s.robust);
    Some(Population {
        submissions: u64::try_from(submissions.len()).unwrap_or(u64::MAX),
        blog,
        robust,
    })
}

fn spread(submissions: &[Submission<'_>], rate: fn(&Submission<'_>) -> Rate) -> Spread {
    let counts: Vec<Count> = submissions
        .iter()
        .map(|s| Count {
            matches: rate(s).matches,
            trials: s.denominator,
        })
        .collect();
    let z = robust_z(&counts);
    let z_of = |at: usize| z.as_ref().and_then(|z| z.get(at)).copied();
    let far = |at: usize| z_of(at).is_some_and(|z| z > OUTLIER_Z);
    let above = |count: &Count| count.rate().is_some_and(|rate| rate > LINE);
    let is_outlier: Vec<bool> = counts
        .iter()
        .enumerate()
        .map(|(at, count)| far(at) || (rate_is_published(submissions, rate) && above(count)))
        .collect();
    let rates = |with_outliers: bool| -> Vec<f64> {
        counts
            .iter()
            .zip(&is_outlier)
            .filter(|(_, out)| with_outliers || !**out)
            .filter_map(|(count, _)| count.rate())
            .collect()
    };
    let trimmed: Vec<Count> = counts
        .iter()
        .enumerate()
        .filter(|(at, _)| !z_of(*at).is_some_and(|z| z.abs() > OUTLIER_Z))
        .map(|(_, count)| *count)
        .collect();
    // Without z there is nothing to trim by, and an outlier would hide itself in the fit.
    let fit = z.as_ref().and_then(|_| BetaBinomial::fit(&trimmed));
    let p: Option<Vec<f64>> = fit.map(|fit| counts.iter().map(|c| fit.upper_tail(*c)).collect());
    let significant = p.as_ref().map(|p| benjamini_hochberg(p, FDR));
    let tests = submissions
        .iter()
        .enumerate()
        .map(|(at, submission)| Test {
            name: submission.name.clone(),
            z: z_of(at),
            p: p.as_ref().and_then(|p| p.get(at)).copied(),
            significant: significant
                .as_ref()
                .and_then(|s| s.get(at))
                .copied()
                .unwrap_or(false),
        })
        .collect();
    Spread {
        average: mean(&rates(true)),
        range: range(&rates(true)),
        outliers: submissions
            .iter()
            .zip(&is_outlier)
            .filter(|(_, out)| **out)
            .map(|(submission, _)| submission.name.clone())
            .collect(),
        average_without: mean(&rates(false)),
        range_without: range(&rates(false)),
        beta_binomial: fit.map(|fit| Fit {
            mean: fit.mean,
            rho: fit.rho,
        }),
        no_test: no_test(counts.len(), z.is_some(), fit.is_some()),
        tests,
    }
}

/// The line of the post was drawn for its own rule.
fn rate_is_published(submissions: &[Submission<'_>], rate: fn(&Submission<'_>) -> Rate) -> bool {
    submissions.iter().all(|s| rate(s) == s.blog)
}

fn no_test(submissions: usize, z: bool, fit: bool) -> Option<String> {
    if submissions < MIN_SUBMISSIONS {
        return Some(format!(
            "{submissions} submissions; a comparison among them needs {MIN_SUBMISSIONS}"
        ));
    }
    if !z {
        return Some("more than half of the rates are equal, so that there is no scale".to_owned());
    }
    (!fit).then(|| "no match, or too few submissions without the outliers".to_owned())
}

fn mean(values: &[f64]) -> Option<f64> {
    (!values.is_empty()).then(|| values.iter().sum::<f64>() / values.len() as f64)
}

fn range(values: &[f64]) -> Option<[f64; 2]> {
    let low = values.iter().copied().reduce(f64::min)?;
    let high = values.iter().copied().reduce(f64::max)?;
    Some([low, high])
}

/// How many submissions have a prediction for an instance, and how many of them match.
#[derive(Debug, Default)]
pub(super) struct PeerCounts {
    by_instance: BTreeMap<String, Peers>,
    submissions: usize,
}

impl PeerCounts {
    /// Counts over all submissions.
    pub(super) fn of(
        tallies: &[Tally],
        gold: &Gold,
        split: &Split,
        duplicates: Duplicates,
    ) -> Self {
        let mut by_instance: BTreeMap<String, Peers> = BTreeMap::new();
        if tallies.len() > 1 {
            for (id, entry) in tallies.iter().flat_map(|tally| tally.counted(gold, split)) {
                let outcome = entry.outcome(duplicates);
                if outcome.empty {
                    continue;
                }
                let peers = by_instance
                    .entry(id.to_owned())
                    .or_insert(Peers { matching: 0, of: 0 });
                peers.of += 1;
                peers.matching += u64::from(outcome.robust);
            }
        }
        Self {
            by_instance,
            submissions: tallies.len(),
        }
    }

    /// The peers of a submission whose own prediction for the instance does or does not match.
    pub(super) fn others(&self, id: &str, own_match: bool) -> Option<Peers> {
        if self.submissions < 2 {
            return None;
        }
        let all = self.by_instance.get(id)?;
        Some(Peers {
            matching: all.matching.saturating_sub(u64::from(own_match)),
            of: all.of.saturating_sub(1),
        })
    }
}
