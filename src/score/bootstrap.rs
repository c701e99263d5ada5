//! Percentile bootstrap over clusters, the same on every machine and every day.
//!
//! The random numbers are SplitMix64 (Steele, Lea, Flood 2014): state += 0x9E3779B97F4A7C15, then two
//! multiply-xor-shift rounds. A pick among `n` is the high word of `x * n` (the bias is below n / 2⁶⁴).
//! Only +, -, *, / are applied to floats, which IEEE 754 rounds in one way.

use serde::Serialize;

/// How to draw.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Settings {
    /// Number of replicates; below 40 no percentile of 2.5 % exists and no interval is given.
    pub replicates: u32,
    /// The seed of the generator.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            replicates: 2000,
            seed: 1,
        }
    }
}

/// A 95 % interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
    /// Replicates in which the statistic was undefined; they are left out.
    pub undefined: u32,
}

/// Something that adds up over clusters.
pub trait Additive: Default {
    /// Adds another.
    fn add(&mut self, other: &Self);
}

/// The generator.
#[derive(Debug, Clone)]
pub struct SplitMix64(u64);

impl SplitMix64 {
    /// Starts at a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// The next 64 bits.
    pub fn next_u64(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = self.0;
        let z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n` (0 for `n` = 0).
    pub fn below(&mut self, n: usize) -> usize {
        let high = (u128::from(self.next_u64()) * n as u128) >> 64;
        // High is below n, which came from a usize.
        usize::try_from(high).unwrap_or(0)
    }
}

/// Fewer replicates than this have no 2.5 % point.
pub const MIN_REPLICATES: u32 = 40;

/// Whether there is enough to draw from, and enough draws.
pub fn possible<C>(clusters: &[C], settings: Settings) -> bool {
    clusters.len() >= 2 && settings.replicates >= MIN_REPLICATES
}

/// Draws as many clusters as there are, with replacement, `replicates` times, and returns the
/// 2.5 % and 97.5 % points (nearest rank) of each statistic over the replicates in which it is
/// defined. `None` with fewer than two clusters, fewer than 40 replicates, or if a statistic is
/// undefined in more than half of them.
pub fn intervals<C: Additive>(
    clusters: &[C],
    settings: Settings,
    statistics: impl Fn(&C) -> Vec<Option<f64>>,
) -> Vec<Option<Interval>> {
    let number = statistics(&C::default()).len();
    if !possible(clusters, settings) {
        return vec![None; number];
    }
    let mut random = SplitMix64::new(settings.seed);
    let mut values: Vec<Vec<f64>> = vec![Vec::new(); number];
    for _ in 0..settings.replicates {
        let mut sum = C::default();
        for _ in 0..clusters.len() {
            if let Some(cluster) = clusters.get(random.below(clusters.len())) {
                sum.add(cluster);
            }
        }
        for (list, value) in values.iter_mut().zip(statistics(&sum)) {
            list.extend(value);
        }
    }
    values
        .into_iter()
        .map(|list| interval(list, settings.replicates))
        .collect()
}

fn interval(mut values: Vec<f64>, replicates: u32) -> Option<Interval> {
    let defined = values.len();
    if defined < MIN_REPLICATES as usize || defined * 2 < replicates as usize {
        return None;
    }
    values.sort_by(f64::total_cmp);
    // Nearest rank: the smallest value with at least that share of the values at or below it.
    let at = |thousandths: usize| {
        values
            .get((defined * thousandths).div_ceil(1000).saturating_sub(1))
            .copied()
    };
    Some(Interval {
        low: at(25)?,
        high: at(975)?,
        undefined: replicates - u32::try_from(defined).ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Default, Clone)]
    struct Mean(f64, f64);

    impl Additive for Mean {
        fn add(&mut self, other: &Self) {
            self.0 += other.0;
            self.1 += other.1;
        }
    }

    #[test]
    fn splitmix64_reference_values() {
        // The published sequence for seed 1234567.
        let mut random = SplitMix64::new(1_234_567);
        let got: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(
            got,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
        assert_eq!(random.below(0), 0);
        assert!((0..1000).all(|_| random.below(7) < 7));
    }

    #[test]
    fn interval_of_a_mean_is_near_theory_and_fixed() {
        let clusters: Vec<Mean> = (0..100).map(|i| Mean(f64::from(i), 1.0)).collect();
        let settings = Settings::default();
        let stat = |m: &Mean| vec![(m.1 > 0.0).then(|| m.0 / m.1), None];
        let got = intervals(&clusters, settings, stat);
        let mean = got[0].unwrap();
        // Standard error 28.87 / 10; 1.96 of them around 49.5.
        assert!(
            (mean.low - 43.84).abs() < 0.6 && (mean.high - 55.16).abs() < 0.6,
            "{mean:?}"
        );
        assert_eq!(got[1], None);
        assert_eq!(intervals(&clusters, settings, stat), got);
        assert_ne!(
            intervals(
                &clusters,
                Settings {
                    seed: 2,
                    ..settings
                },
                stat
            )[0],
            got[0]
        );
        assert_eq!(intervals(&clusters[..1], settings, stat), [None, None]);
    }
}
