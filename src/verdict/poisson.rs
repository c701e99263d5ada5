//! The upper tail of the Poisson distribution: how likely chance gives at least so many identical files.
//!
//! Files of one patch are not independent, and the probabilities that are summed up are estimates; the
//! tail is compared with a small threshold and is no p-value to be quoted.

/// More terms than any sum needs that decides something; beyond, the tail is 0 to double precision or
/// its threshold is far away.
const MAX_TERMS: u32 = 100_000;

/// P(X >= `count`) for X Poisson-distributed with mean `expected`, in 0..=1.
///
/// 1 when nothing is counted, and when `expected` is not a number or not finite: an expectation that
/// is not known convicts nobody. A negative expectation is taken for 0.
pub(super) fn upper_tail(expected: f64, count: u64) -> f64 {
    if count == 0 || !expected.is_finite() {
        return 1.0;
    }
    if expected <= 0.0 {
        return 0.0;
    }
    let k = count as f64;
    // P(X = count), by logarithms so that neither factor overflows.
    let at = (k * expected.ln() - expected - ln_factorial(count)).exp();
    if k > expected {
        // at * (1 + m/(k+1) + m^2/((k+1)(k+2)) + ...): each factor is below 1.
        at * series(|i| expected / (k + i))
    } else {
        // The complement: P(X = k-1) * (1 + (k-1)/m + (k-1)(k-2)/m^2 + ...).
        let below = at * k / expected * series(|i| (k - i) / expected);
        1.0 - below
    }
    .clamp(0.0, 1.0)
}

/// 1 + f(1) + f(1)f(2) + ..., for factors that fall below 1.
fn series(factor: impl Fn(f64) -> f64) -> f64 {
    let mut sum = 1.0;
    let mut term = 1.0;
    for i in 1..=MAX_TERMS {
        term *= factor(f64::from(i)).max(0.0);
        sum += term;
        if term <= sum * f64::EPSILON {
            break;
        }
    }
    sum
}

/// ln(n!), exact to about 1e-12: a sum for small n, the Stirling series from 32 up.
fn ln_factorial(n: u64) -> f64 {
    if n < 32 {
        return (2..=n).map(|i| (i as f64).ln()).sum();
    }
    let n = n as f64;
    let tail = 1.0 / (12.0 * n) - 1.0 / (360.0 * n.powi(3)) + 1.0 / (1260.0 * n.powi(5));
    n * n.ln() - n + 0.5 * (2.0 * std::f64::consts::PI * n).ln() + tail
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn known_values() {
        // 1 - exp(-m) * sum of m^i / i! over i < k, with more digits than a double has.
        for (m, k, want) in [
            (1.0, 1, 0.632_120_558_828_557_7),
            (1.0, 2, 0.264_241_117_657_115_4),
            (0.01, 2, 4.966_791_334_026_594e-5),
            (3.0, 10, 0.001_102_488_130_115_482),
            (10.0, 5, 0.970_747_311_923_039),
            (100.0, 150, 1.884_210_466_038_67e-6),
        ] {
            let got = upper_tail(m, k);
            assert!((got / want - 1.0).abs() < 1e-10, "{m} {k}: {got} {want}");
        }
    }

    #[test]
    fn odd_input() {
        assert_eq!(upper_tail(f64::NAN, 3), 1.0);
        assert_eq!(upper_tail(f64::INFINITY, 3), 1.0);
        assert_eq!(upper_tail(-1.0, 3), 0.0);
        assert_eq!(upper_tail(0.0, 1), 0.0);
        assert_eq!(upper_tail(0.0, 0), 1.0);
        assert_eq!(upper_tail(1.0, u64::MAX), 0.0);
        assert!((0.0..=1.0).contains(&upper_tail(1e300, u64::MAX)));
        assert!((0.0..=1.0).contains(&upper_tail(f64::MIN_POSITIVE, 1)));
    }

    proptest! {
        #[test]
        fn falls_with_the_count_and_rises_with_the_mean(m in 1e-6f64..500.0, k in 1u64..600, dm in 0.0f64..5.0) {
            let tail = upper_tail(m, k);
            prop_assert!((0.0..=1.0).contains(&tail));
            prop_assert!(upper_tail(m, k + 1) <= tail + 1e-9);
            prop_assert!(upper_tail(m + dm, k) >= tail - 1e-9);
        }

        #[test]
        fn agrees_with_the_plain_sum(m in 0.01f64..50.0, k in 1u64..80) {
            let mut term = (-m).exp();
            let mut below = 0.0;
            for i in 0..k {
                below += term;
                term *= m / (i + 1) as f64;
            }
            prop_assert!((upper_tail(m, k) - (1.0 - below).max(0.0)).abs() < 1e-9);
        }
    }
}
