//! The sums that kappa and alpha are made of. They add up over runs, so the exact statistic and each
//! replicate of the bootstrap are the same formula over sums of two number types.
//!
//! With `n_k` ratings of kind `k` among the `r` ratings of a run:
//!
//! - agreement of pairs: `P_kl = Σ n_k (n_l − [k=l]) / (r (r−1))` over runs with `r >= 2`;
//! - shares: `π_k = mean of n_k / r` over runs with `r >= 1`;
//! - kappa (Gwet): `pa = Σ w_kl P_kl / runs`, `pe = Σ w_kl π_k π_l`, `(pa − pe) / (1 − pe)`. With equal
//!   `r` and `w` the identity this is Fleiss' kappa;
//! - coincidences (Krippendorff): `o_kl = Σ n_k (n_l − [k=l]) / (r−1)`, `n_k = Σ_l o_kl`,
//!   `alpha = 1 − (n−1) Σ o_kl δ_kl / Σ n_k n_l δ_kl`.

use num_traits::{Num, Zero};

use crate::score::exact::Exact;

/// Ratings of one run by kind: FAIL, PARTIAL, PASS.
pub type Votes = [u64; 3];

/// A number the formulas can be computed in.
pub trait Number: Num + Clone {
    /// A whole number.
    fn of(whole: u64) -> Self;
    /// Zero, or so near to it that a quotient by it means nothing.
    fn vanishes(&self) -> bool;
}

impl Number for Exact {
    fn of(whole: u64) -> Self {
        Self::from_integer(whole.into())
    }

    fn vanishes(&self) -> bool {
        self.is_zero()
    }
}

impl Number for f64 {
    fn of(whole: u64) -> Self {
        whole as Self
    }

    fn vanishes(&self) -> bool {
        self.abs() < 1e-9
    }
}

/// How much two verdicts agree, in quarters: rows and columns FAIL, PARTIAL, PASS.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Weights(pub [[u64; 3]; 3]);

impl Weights {
    /// Only the same word agrees.
    pub const IDENTITY: Self = Self([[4, 0, 0], [0, 4, 0], [0, 0, 4]]);
    /// `1 − |k−l| / 2`.
    pub const LINEAR: Self = Self([[4, 2, 0], [2, 4, 2], [0, 2, 4]]);
    /// `1 − (k−l)² / 4`.
    pub const QUADRATIC: Self = Self([[4, 3, 0], [3, 4, 3], [0, 3, 4]]);
    /// PASS against the rest.
    pub const PASS_OR_NOT: Self = Self([[4, 4, 0], [4, 4, 0], [0, 0, 4]]);

    /// `Σ w_kl m_kl`, weights as parts of 1.
    pub(super) fn sum<T: Number>(&self, matrix: &[[T; 3]; 3]) -> T {
        let weights = self.0.iter().flatten();
        let cells = matrix.iter().flatten();
        weights
            .zip(cells)
            .fold(T::zero(), |sum, (w, m)| sum + T::of(*w) * m.clone())
            / T::of(4)
    }
}

/// How far apart two verdicts are, for alpha.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Different is different.
    Nominal,
    /// By the ratings that lie between them: `(Σ_{g=k..l} n_g − (n_k + n_l) / 2)²`.
    Ordinal,
}

/// The sums.
#[derive(Debug, Clone, PartialEq)]
pub struct Tallies<T> {
    rated: T,
    shares: [T; 3],
    runs: T,
    pairs: [[T; 3]; 3],
    coincidences: [[T; 3]; 3],
}

fn zeros<T: Number>() -> [T; 3] {
    [T::zero(), T::zero(), T::zero()]
}

impl<T: Number> Default for Tallies<T> {
    fn default() -> Self {
        Self {
            rated: T::zero(),
            shares: zeros(),
            runs: T::zero(),
            pairs: [zeros(), zeros(), zeros()],
            coincidences: [zeros(), zeros(), zeros()],
        }
    }
}

/// The products `a_k b_l` as a matrix.
pub(super) fn outer<T: Number>(a: &[T; 3], b: &[T; 3]) -> [[T; 3]; 3] {
    a.each_ref()
        .map(|x| b.each_ref().map(|y| x.clone() * y.clone()))
}

impl<T: Number> Tallies<T> {
    /// Adds `times` runs with these votes.
    pub fn add_votes(&mut self, votes: Votes, times: u64) {
        let number: u64 = votes.iter().sum();
        if number == 0 {
            return;
        }
        let times = T::of(times);
        let number_t = T::of(number);
        self.rated = self.rated.clone() + times.clone();
        for (share, n) in self.shares.iter_mut().zip(votes) {
            *share = share.clone() + times.clone() * T::of(n) / number_t.clone();
        }
        if number < 2 {
            return;
        }
        self.runs = self.runs.clone() + times.clone();
        let others = T::of(number - 1);
        let cells = self
            .pairs
            .iter_mut()
            .flatten()
            .zip(self.coincidences.iter_mut().flatten());
        let counts = votes.iter().enumerate().flat_map(|(k, n)| {
            votes
                .iter()
                .enumerate()
                .map(move |(l, m)| n * (m - u64::from(k == l && *m > 0)))
        });
        for ((pair, coincidence), count) in cells.zip(counts) {
            let part = times.clone() * T::of(count) / others.clone();
            *pair = pair.clone() + part.clone() / number_t.clone();
            *coincidence = coincidence.clone() + part;
        }
    }

    /// Adds another set of sums.
    pub fn add(&mut self, other: &Self) {
        fn put<T: Number>(a: &mut T, b: &T) {
            *a = a.clone() + b.clone();
        }
        put(&mut self.rated, &other.rated);
        put(&mut self.runs, &other.runs);
        self.shares
            .iter_mut()
            .zip(&other.shares)
            .for_each(|(a, b)| put(a, b));
        let pairs = self
            .pairs
            .iter_mut()
            .flatten()
            .zip(other.pairs.iter().flatten());
        let coincidences = self
            .coincidences
            .iter_mut()
            .flatten()
            .zip(other.coincidences.iter().flatten());
        pairs.chain(coincidences).for_each(|(a, b)| put(a, b));
    }

    /// Gwet's generalised kappa; `None` without a run that has two ratings, or when chance alone would
    /// always agree.
    pub fn kappa(&self, weights: &Weights) -> Option<T> {
        if self.runs.vanishes() {
            return None;
        }
        let observed = weights.sum(&self.pairs) / self.runs.clone();
        let share = self
            .shares
            .each_ref()
            .map(|s| s.clone() / self.rated.clone());
        let expected = weights.sum(&outer(&share, &share));
        let left = T::one() - expected.clone();
        (!left.vanishes()).then(|| (observed - expected) / left)
    }

    /// Krippendorff's alpha; `None` without a run that has two ratings, or when only one word was said.
    pub fn alpha(&self, metric: Metric) -> Option<T> {
        let totals = self
            .coincidences
            .each_ref()
            .map(|row| row.iter().fold(T::zero(), |a, b| a + b.clone()));
        let [fail, partial, pass] = &totals;
        let all = fail.clone() + partial.clone() + pass.clone();
        let square = |x: T| x.clone() * x;
        let half = |x: &T, y: &T| (x.clone() + y.clone()) / T::of(2);
        // Distances FAIL-PARTIAL, PARTIAL-PASS, FAIL-PASS.
        let distances = match metric {
            Metric::Nominal => [T::one(), T::one(), T::one()],
            Metric::Ordinal => [
                square(half(fail, partial)),
                square(half(partial, pass)),
                square(half(fail, pass) + partial.clone()),
            ],
        };
        let upper = |m: &[[T; 3]; 3]| {
            let [[_, a, c], [_, _, b], _] = m;
            let parts = [a, b, c].into_iter().zip(&distances);
            parts.fold(T::zero(), |sum, (x, d)| sum + x.clone() * d.clone())
        };
        let expected = upper(&outer(&totals, &totals));
        if expected.vanishes() {
            return None;
        }
        let observed = upper(&self.coincidences);
        Some(T::one() - (all - T::one()) * observed / expected)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// The same formula in both number types, and sums that do not depend on the order.
        #[test]
        fn floats_follow_fractions(rows in proptest::collection::vec([0u64..4, 0u64..4, 0u64..4], 1..30)) {
            let mut exact = Tallies::<Exact>::default();
            let mut float = Tallies::<f64>::default();
            let mut halves = [Tallies::<Exact>::default(), Tallies::<Exact>::default()];
            for (i, votes) in rows.iter().enumerate() {
                exact.add_votes(*votes, 1);
                float.add_votes(*votes, 1);
                halves[i % 2].add_votes(*votes, 1);
            }
            let [mut a, b] = halves;
            a.add(&b);
            prop_assert_eq!(&a, &exact);
            for weights in [Weights::IDENTITY, Weights::LINEAR, Weights::QUADRATIC, Weights::PASS_OR_NOT] {
                match (exact.kappa(&weights), float.kappa(&weights)) {
                    (Some(e), Some(f)) => {
                        let e = crate::score::exact::float(&e).unwrap();
                        prop_assert!((e - f).abs() < 1e-5 && e <= 1.0, "{} {}", e, f);
                    }
                    (e, f) => prop_assert!(e.is_none() && f.is_none(), "{:?} {:?}", e, f),
                }
            }
            for metric in [Metric::Nominal, Metric::Ordinal] {
                match (exact.alpha(metric), float.alpha(metric)) {
                    (Some(e), Some(f)) => {
                        let e = crate::score::exact::float(&e).unwrap();
                        prop_assert!((e - f).abs() < 1e-5 && e <= 1.0, "{} {}", e, f);
                    }
                    (e, f) => prop_assert!(e.is_none() && f.is_none(), "{:?} {:?}", e, f),
                }
            }
        }
    }
}
