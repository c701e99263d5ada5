//! Ranks with shared places, and how far two rankings agree.

use std::cmp::Ordering;

/// Competition ranks (1, 2, 2, 4) of values, the largest first; a value that is missing has no rank.
pub fn ranks<T: Ord>(values: &[Option<T>]) -> Vec<Option<u64>> {
    let mut sorted: Vec<&T> = values.iter().flatten().collect();
    sorted.sort_unstable();
    let not_better = |value: &T| sorted.partition_point(|other| *other <= value);
    values
        .iter()
        .map(|v| {
            v.as_ref()
                .map(|v| 1 + (sorted.len() - not_better(v)) as u64)
        })
        .collect()
}

/// Kendall's tau-b of two rankings over those that have a rank in both; `None` when one of them
/// ties everything (or fewer than two are ranked).
pub fn tau_b(before: &[Option<u64>], after: &[Option<u64>]) -> Option<f64> {
    let both: Vec<(u64, u64)> = before
        .iter()
        .zip(after)
        .filter_map(|(a, b)| Some(((*a)?, (*b)?)))
        .collect();
    let (mut score, mut untied_before, mut untied_after) = (0i64, 0i64, 0i64);
    for (n, (a, b)) in both.iter().enumerate() {
        for (c, d) in both.iter().skip(n + 1) {
            let sign = |o: Ordering| o as i64;
            let (x, y) = (sign(a.cmp(c)), sign(b.cmp(d)));
            score += x * y;
            untied_before += x.abs();
            untied_after += y.abs();
        }
    }
    (untied_before > 0 && untied_after > 0)
        // The root of the product, so that 1 comes out as 1.
        .then(|| score as f64 / (untied_before as f64 * untied_after as f64).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ties_share_a_rank() {
        assert_eq!(
            ranks(&[Some(3), Some(5), None, Some(3), Some(1)]),
            [Some(2), Some(1), None, Some(2), Some(4)]
        );
        assert_eq!(ranks::<u8>(&[]), []);
    }

    #[test]
    fn tau() {
        let r = |v: &[u64]| v.iter().map(|n| Some(*n)).collect::<Vec<_>>();
        assert_eq!(tau_b(&r(&[1, 2, 3]), &r(&[1, 2, 3])), Some(1.0));
        assert_eq!(tau_b(&r(&[1, 2, 3]), &r(&[3, 2, 1])), Some(-1.0));
        assert_eq!(tau_b(&r(&[1, 1, 1]), &r(&[1, 2, 3])), None);
        // One tie in the second: 2 of 3 pairs, sqrt(3) * sqrt(2) below.
        let got = tau_b(&r(&[1, 2, 3]), &r(&[1, 1, 3])).unwrap();
        assert!((got - 0.816_496_58).abs() < 1e-8);
        assert_eq!(tau_b(&[None, Some(1)], &r(&[1, 2])), None);
    }
}
