//! Wilson's interval for a share (Wilson 1927), which stays inside 0..=1 and has a width at 0 of n.

/// The 97.5 % point of the normal distribution.
const Z: f64 = 1.959_963_984_540_054;

/// The 95 % interval of `hits` of `n`; `None` for `n` = 0 (or more hits than trials).
pub fn wilson(hits: u64, n: u64) -> Option<(f64, f64)> {
    if n == 0 || hits > n {
        return None;
    }
    let (count, total) = (hits as f64, n as f64);
    let share = count / total;
    let z2 = Z * Z;
    let centre = share + z2 / (2.0 * total);
    let spread = Z * (share * (1.0 - share) / total + z2 / (4.0 * total * total)).sqrt();
    let scale = 1.0 + z2 / total;
    // The formula gives exactly 0 at 0 and 1 at n; rounding must not give -1e-17.
    let low = if hits == 0 {
        0.0
    } else {
        ((centre - spread) / scale).max(0.0)
    };
    let high = if hits == n {
        1.0
    } else {
        ((centre + spread) / scale).min(1.0)
    };
    Some((low, high))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_values() {
        for (hits, n, low, high) in [
            (16, 500, 0.0198, 0.0514),
            (3, 124, 0.00827, 0.06868),
            (0, 10, 0.0, 0.27753),
            (10, 10, 0.72247, 1.0),
            (1, 1, 0.20654, 1.0),
        ] {
            let (l, h) = wilson(hits, n).unwrap();
            assert!(
                (l - low).abs() < 5e-4 && (h - high).abs() < 5e-4,
                "{hits}/{n}: {l} {h}"
            );
        }
        assert_eq!(wilson(0, 0), None);
        assert_eq!(wilson(2, 1), None);
    }
}
