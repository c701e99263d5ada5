//! How probable a match is without copying.
//!
//! Small fixes have few solutions: an honest patch contains all three lines of a three-line GT in
//! about one case of six. [`p_chance`] is that rate as a function of size, [`poisson_tail`] turns a
//! number of identical files into a probability.

/// Above this many lines the formula of [`p_chance`] is extrapolated: it was fitted on smaller GTs.
pub const FITTED_UP_TO: u64 = 31;

/// Above this the sum of [`poisson_tail`] would take too long.
const LARGEST_LAMBDA: f64 = 1e12;

/// Chance that an honest solution contains all of `lines` distinct non-comment GT lines, in 0..=1.
///
/// `sigmoid(1.541 - 1.597 * log2(1 + lines))`, fitted on 3,359 predictions of strong agents for
/// SWE-bench instances with up to 31 lines (observed, in per cent: 1 line 49, 3 lines 16, 7 lines
/// 3.7, 15 lines 0.8). 1 for no lines at all: nothing to contain. See [`FITTED_UP_TO`].
pub fn p_chance(lines: u64) -> f64 {
    if lines == 0 {
        return 1.0;
    }
    let z = 1.541 - 1.597 * (1.0 + lines as f64).log2();
    1.0 / (1.0 + (-z).exp())
}

/// Probability of at least `k` events when `lambda` are expected (Poisson), in 0..=1.
///
/// Sums the terms on the side of `k` that is away from the mean, so that small tails keep their
/// precision. A `lambda` that is no number or above 1e12 gives 1: what cannot be computed accuses
/// nobody.
pub fn poisson_tail(k: u64, lambda: f64) -> f64 {
    if k == 0 || lambda.is_nan() || lambda > LARGEST_LAMBDA {
        return 1.0;
    }
    if lambda <= 0.0 {
        return 0.0;
    }
    let at_k = (k as f64 * lambda.ln() - lambda - ln_factorial(k)).exp();
    if k as f64 > lambda {
        // Each term is smaller than the one before by at least lambda / (k + 1) < 1.
        let mut sum = 0.0;
        let mut term = at_k;
        let mut i = k as f64;
        while term > sum * f64::EPSILON && term > 0.0 {
            sum += term;
            i += 1.0;
            term *= lambda / i;
        }
        sum.min(1.0)
    } else {
        let mut below = 0.0;
        let mut i = k as f64;
        let mut term = at_k * i / lambda;
        while term > below * f64::EPSILON && i >= 1.0 {
            below += term;
            i -= 1.0;
            term *= i / lambda;
        }
        (1.0 - below).clamp(0.0, 1.0)
    }
}

/// `ln(n!)`: summed up to 255, Stirling's series above (error below 1e-15 there).
fn ln_factorial(n: u64) -> f64 {
    if n < 256 {
        return (2..=n).map(|i| (i as f64).ln()).sum();
    }
    let x = n as f64;
    let half_ln_two_pi = 0.918_938_533_204_672_8;
    (x + 0.5) * x.ln() - x + half_ln_two_pi + 1.0 / (12.0 * x) - 1.0 / (360.0 * x * x * x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chance_falls_with_size() {
        // The values printed with the fit.
        for (lines, want) in [
            (1, 0.49),
            (3, 0.16),
            (7, 0.037),
            (15, 0.0078),
            (31, 0.0016),
            (100, 1.1e-4),
            (200, 2.3e-5),
        ] {
            let got = p_chance(lines);
            assert!((got - want).abs() < 0.05 * want, "{lines}: {got}");
        }
        assert_eq!(p_chance(0), 1.0);
        assert!(p_chance(u64::MAX) >= 0.0);
    }

    #[test]
    fn poisson_tails() {
        // Summed with 60 decimal digits.
        for (k, lambda, want) in [
            (0, 3.0, 1.0),
            (1, 0.001, 9.995_001_666_25e-4),
            (1, 1.0, 0.632_120_558_828_557_7),
            (3, 0.5, 0.014_387_677_966_970_69),
            (5, 5.0, 0.559_506_714_934_787_7),
            (10, 1.0, 1.114_254_783_387_207e-7),
            (20, 1.0, 1.587_527_601_073_26e-19),
            (150, 100.0, 1.884_210_466_038_67e-6),
        ] {
            let got = poisson_tail(k, lambda);
            assert!((got - want).abs() <= 1e-9 * want, "{k} {lambda}: {got:e}");
        }
        assert_eq!(poisson_tail(3, 0.0), 0.0);
        assert_eq!(poisson_tail(3, -1.0), 0.0);
        assert_eq!(poisson_tail(3, f64::NAN), 1.0);
        assert_eq!(poisson_tail(3, f64::INFINITY), 1.0);
        assert_eq!(poisson_tail(u64::MAX, 1e18), 1.0);
        assert_eq!(poisson_tail(u64::MAX, 1e-300), 0.0);
        assert!(poisson_tail(1_000_000, 1e6) > 0.49);
        assert!(poisson_tail(1, 1e9) == 1.0);
    }

    #[test]
    fn the_tail_falls_with_k_and_rises_with_lambda() {
        for k in 1..60 {
            for step in 1..60 {
                let lambda = f64::from(step) * 0.5;
                let here = poisson_tail(k, lambda);
                assert!((0.0..=1.0).contains(&here));
                assert!(poisson_tail(k + 1, lambda) <= here + 1e-12, "{k} {lambda}");
                assert!(
                    poisson_tail(k, lambda + 0.5) >= here - 1e-12,
                    "{k} {lambda}"
                );
            }
        }
    }

    #[test]
    fn stirling_meets_the_sum() {
        let summed: f64 = (2..=256u64).map(|i| (i as f64).ln()).sum();
        assert!((ln_factorial(256) - summed).abs() < 1e-9);
    }
}
