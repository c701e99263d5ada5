//! The statistics of match rates: intervals, outliers among submissions, false-discovery control.
//!
//! A plain binomial test is absent on purpose. Submissions differ in strength and matches cluster by
//! instance, so their numbers spread more than a binomial allows: of sweeps over 60 honest submissions
//! 88 % had a false alarm with it, 6 % with the beta-binomial (simulated).

use std::f64::consts::PI;

/// Two-sided 95 % quantile of the normal distribution.
const Z95: f64 = 1.959_963_984_540_054;

/// Modified z above which a submission is an outlier (Iglewicz and Hoaglin 1993).
pub const OUTLIER_Z: f64 = 3.5;

/// Fewest submissions for a comparison among them.
pub const MIN_SUBMISSIONS: usize = 8;

/// False-discovery rate of the flags.
pub const FDR: f64 = 0.05;

/// `matches` of `trials`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Count {
    /// How many matched.
    pub matches: u64,
    /// Of how many.
    pub trials: u64,
}

impl Count {
    /// The share, in 0..=1; `None` of nothing.
    pub fn rate(self) -> Option<f64> {
        (self.trials > 0).then(|| self.matches as f64 / self.trials as f64)
    }
}

/// The 95 % score interval of a rate (Wilson 1927); `None` of nothing.
pub fn wilson(count: Count) -> Option<(f64, f64)> {
    let rate = count.rate()?;
    let n = count.trials as f64;
    let z2 = Z95 * Z95;
    let centre = (rate + z2 / (2.0 * n)) / (1.0 + z2 / n);
    let half = Z95 / (1.0 + z2 / n) * (rate * (1.0 - rate) / n + z2 / (4.0 * n * n)).sqrt();
    // At the ends the bound is exact, which rounding would miss.
    let low = if count.matches == 0 {
        0.0
    } else {
        (centre - half).max(0.0)
    };
    let high = if count.matches >= count.trials {
        1.0
    } else {
        (centre + half).min(1.0)
    };
    Some((low, high))
}

/// Modified z of each rate: distance from the median in units of 1.4826 times the median absolute
/// deviation, of `asin(sqrt((k + 3/8) / (n + 3/4)))`, which evens out the variance.
///
/// `None` with fewer than [`MIN_SUBMISSIONS`], or when more than half are equal, so that there is no
/// scale to measure by.
pub fn robust_z(counts: &[Count]) -> Option<Vec<f64>> {
    if counts.len() < MIN_SUBMISSIONS {
        return None;
    }
    let values: Vec<f64> = counts
        .iter()
        .map(|c| {
            let share = (c.matches as f64 + 0.375) / (c.trials as f64 + 0.75);
            share.clamp(0.0, 1.0).sqrt().asin()
        })
        .collect();
    let middle = median(&values)?;
    let deviations: Vec<f64> = values.iter().map(|v| (v - middle).abs()).collect();
    let scale = 1.4826 * median(&deviations)?;
    (scale > 1e-12).then(|| values.iter().map(|v| (v - middle) / scale).collect())
}

fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    let upper = *sorted.get(half)?;
    if sorted.len() % 2 == 1 {
        return Some(upper);
    }
    Some((sorted.get(half.checked_sub(1)?)? + upper) / 2.0)
}

/// A beta-binomial distribution by its mean and overdispersion.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BetaBinomial {
    /// Mean rate, in 0..1.
    pub mean: f64,
    /// Intraclass correlation, in 0..1: 0 would be binomial.
    pub rho: f64,
}

/// Bounds of the fit, as logits: rates from 6e-6, correlations from 4.5e-5 to nearly 1.
const MEAN_BOUNDS: (f64, f64) = (-12.0, 12.0);
const RHO_BOUNDS: (f64, f64) = (-10.0, 5.0);
const STEPS: usize = 40;

impl BetaBinomial {
    /// The most likely distribution of `counts` (golden-section search in both parameters).
    ///
    /// `None` with fewer than [`MIN_SUBMISSIONS`] counts or when nothing matched.
    pub fn fit(counts: &[Count]) -> Option<Self> {
        if counts.len() < MIN_SUBMISSIONS || counts.iter().all(|c| c.matches == 0) {
            return None;
        }
        let at = |rho: f64, mean: f64| Self {
            mean: sigmoid(mean),
            rho: sigmoid(rho),
        };
        let best_mean = |rho: f64| golden(MEAN_BOUNDS, |mean| at(rho, mean).log_likelihood(counts));
        let rho = golden(RHO_BOUNDS, |rho| {
            at(rho, best_mean(rho)).log_likelihood(counts)
        });
        Some(at(rho, best_mean(rho)))
    }

    fn shapes(self) -> (f64, f64) {
        let size = 1.0 / self.rho - 1.0;
        (self.mean * size, (1.0 - self.mean) * size)
    }

    /// Without the binomial coefficients, which do not depend on the parameters.
    fn log_likelihood(self, counts: &[Count]) -> f64 {
        let (a, b) = self.shapes();
        let whole = ln_beta(a, b);
        counts
            .iter()
            .map(|c| {
                let misses = c.trials.saturating_sub(c.matches) as f64;
                ln_beta(c.matches as f64 + a, misses + b) - whole
            })
            .sum()
    }

    /// Probability of at least so many matches, in 0..=1.
    pub fn upper_tail(self, count: Count) -> f64 {
        let (k, n) = (count.matches, count.trials);
        if k == 0 {
            return 1.0;
        }
        if k > n {
            return 0.0;
        }
        let (a, b) = self.shapes();
        let (kf, nf) = (k as f64, n as f64);
        let ln_at = ln_gamma(nf + 1.0) - ln_gamma(kf + 1.0) - ln_gamma(nf - kf + 1.0)
            + ln_beta(kf + a, nf - kf + b)
            - ln_beta(a, b);
        // P(j+1) / P(j); the sum runs away from the mean so that small tails keep their precision.
        let ratio = |j: f64| (nf - j) / (j + 1.0) * (j + a) / (nf - j - 1.0 + b);
        let at = ln_at.exp();
        if kf > nf * self.mean {
            let (mut term, mut sum, mut j) = (at, 0.0, kf);
            while j <= nf && term > sum * f64::EPSILON {
                sum += term;
                term *= if j < nf { ratio(j) } else { 0.0 };
                j += 1.0;
            }
            sum.clamp(0.0, 1.0)
        } else {
            let (mut term, mut below, mut j) = (at, 0.0, kf);
            while j >= 1.0 {
                term /= ratio(j - 1.0);
                j -= 1.0;
                below += term;
                if term <= below * f64::EPSILON {
                    break;
                }
            }
            (1.0 - below).clamp(0.0, 1.0)
        }
    }
}

/// Which hypotheses are rejected at false-discovery rate `q` (Benjamini and Hochberg 1995).
pub fn benjamini_hochberg(p_values: &[f64], q: f64) -> Vec<bool> {
    let mut order: Vec<(usize, f64)> = p_values.iter().copied().enumerate().collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    let m = p_values.len() as f64;
    let cut = order
        .iter()
        .enumerate()
        .filter(|(rank, (_, p))| *p <= (*rank as f64 + 1.0) / m * q)
        .map(|(_, (_, p))| *p)
        .next_back();
    p_values
        .iter()
        .map(|p| cut.is_some_and(|cut| *p <= cut))
        .collect()
}

/// Where `f` is largest, for a function with one hill.
fn golden((mut low, mut high): (f64, f64), f: impl Fn(f64) -> f64) -> f64 {
    let ratio = (5f64.sqrt() - 1.0) / 2.0;
    let mut left = high - ratio * (high - low);
    let mut right = low + ratio * (high - low);
    let (mut at_left, mut at_right) = (f(left), f(right));
    for _ in 0..STEPS {
        if at_left >= at_right {
            (high, right, at_right) = (right, left, at_left);
            left = high - ratio * (high - low);
            at_left = f(left);
        } else {
            (low, left, at_left) = (left, right, at_right);
            right = low + ratio * (high - low);
            at_right = f(right);
        }
    }
    (low + high) / 2.0
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

fn ln_beta(a: f64, b: f64) -> f64 {
    ln_gamma(a) + ln_gamma(b) - ln_gamma(a + b)
}

/// `ln(gamma(x))` for positive `x`: Stirling's series, after moving `x` above 10.
fn ln_gamma(x: f64) -> f64 {
    let mut x = x.max(f64::MIN_POSITIVE);
    let mut shift = 0.0;
    while x < 10.0 {
        shift += x.ln();
        x += 1.0;
    }
    let r = 1.0 / (x * x);
    let series = (1.0 / 12.0 - r * (1.0 / 360.0 - r * (1.0 / 1260.0 - r / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * (2.0 * PI).ln() + series - shift
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn count(matches: u64, trials: u64) -> Count {
        Count { matches, trials }
    }

    #[test]
    fn wilson_intervals() {
        // 16 of 500: 2.0 to 5.1 %.
        let (low, high) = wilson(count(16, 500)).unwrap();
        assert!(
            (low - 0.01978).abs() < 1e-4 && (high - 0.05136).abs() < 1e-4,
            "{low} {high}"
        );
        assert_eq!(wilson(count(0, 0)), None);
        assert_eq!(wilson(count(0, 10)).unwrap().0, 0.0);
        assert_eq!(wilson(count(10, 10)).unwrap().1, 1.0);
    }

    #[test]
    fn gamma() {
        for (x, want) in [
            (1.0, 0.0),
            (0.5, 0.572_364_942_924_700_1),
            (10.0, 12.801_827_480_081_469),
            (1e-3, 6.907_178_885_383_854),
            (1e5, 1_051_287.708_973_656_9),
        ] {
            assert!(
                (ln_gamma(x) - want).abs() <= 1e-12 * f64::max(1.0, want),
                "{x}"
            );
        }
    }

    #[test]
    fn beta_binomial_tails() {
        // With a = b = 1 every count is equally likely.
        let flat = BetaBinomial {
            mean: 0.5,
            rho: 1.0 / 3.0,
        };
        for k in 0..=10 {
            let want = (11 - k) as f64 / 11.0;
            assert!((flat.upper_tail(count(k, 10)) - want).abs() < 1e-12, "{k}");
        }
        assert_eq!(flat.upper_tail(count(11, 10)), 0.0);
        let tight = BetaBinomial {
            mean: 0.045,
            rho: 0.004,
        };
        assert!(tight.upper_tail(count(393, 500)) < 1e-30);
        assert!(tight.upper_tail(count(16, 500)) > 0.5);
    }

    #[test]
    fn the_fit_finds_mean_and_spread() {
        // Ten rates around 5 %, more spread than a binomial allows.
        let counts: Vec<Count> = [5, 12, 18, 22, 25, 27, 30, 34, 40, 47]
            .into_iter()
            .map(|k| count(k, 500))
            .collect();
        let fit = BetaBinomial::fit(&counts).unwrap();
        assert!((fit.mean - 0.052).abs() < 0.002, "{fit:?}");
        assert!(fit.rho > 0.002 && fit.rho < 0.02, "{fit:?}");
        // No parameter in the neighbourhood is likelier.
        let best = fit.log_likelihood(&counts);
        for (dm, dr) in [(1.02, 1.0), (0.98, 1.0), (1.0, 1.1), (1.0, 0.9)] {
            let near = BetaBinomial {
                mean: fit.mean * dm,
                rho: fit.rho * dr,
            };
            assert!(near.log_likelihood(&counts) < best);
        }
        assert_eq!(BetaBinomial::fit(&[count(1, 2); 7]), None);
        assert_eq!(BetaBinomial::fit(&[count(0, 2); 9]), None);
        assert!(BetaBinomial::fit(&[count(2, 2); 9]).is_some());
    }

    #[test]
    fn outliers_stand_out() {
        let mut counts: Vec<Count> = (20..30).map(|k| count(k, 500)).collect();
        counts.push(count(393, 500));
        let z = robust_z(&counts).unwrap();
        assert!(z.iter().take(10).all(|z| z.abs() < OUTLIER_Z));
        assert!(z[10] > OUTLIER_Z);
        assert_eq!(robust_z(&counts[..7]), None);
        assert_eq!(robust_z(&[count(3, 100); 9]), None);
    }

    #[test]
    fn false_discovery_control() {
        // The example of the paper: four of fifteen.
        let p = [
            0.0001, 0.0004, 0.0019, 0.0095, 0.0201, 0.0278, 0.0298, 0.0344, 0.0459, 0.3240, 0.4262,
            0.5719, 0.6528, 0.7590, 1.0,
        ];
        let rejected = benjamini_hochberg(&p, 0.05);
        assert_eq!(rejected.iter().filter(|r| **r).count(), 4);
        assert!(benjamini_hochberg(&[], 0.05).is_empty());
    }

    proptest! {
        #[test]
        fn tails_fall(n in 1u64..2_000, mean in 0.001f64..0.999, rho in 0.0001f64..0.9) {
            let d = BetaBinomial { mean, rho };
            let mut last = 1.0;
            for k in 0..=n.min(50) {
                let tail = d.upper_tail(count(k, n));
                prop_assert!((0.0..=1.0).contains(&tail));
                prop_assert!(tail <= last + 1e-9);
                last = tail;
            }
        }

        #[test]
        fn intervals_hold_the_rate(n in 1u64..100_000, share in 0.0f64..=1.0) {
            let k = (n as f64 * share) as u64;
            let (low, high) = wilson(count(k, n)).unwrap();
            let rate = k as f64 / n as f64;
            prop_assert!(low <= rate && rate <= high && low >= 0.0 && high <= 1.0);
        }
    }
}
