//! Containment of lines counted as often as they occur.
//!
//! A third of the added lines of real patches repeat a line of the same file. Sets count them once,
//! so a table of equal rows weighs as much as a single row; this measure counts each.

use std::collections::BTreeMap;

use super::model::Ratio;

/// Of the occurrences in `gt`, those that `patch` has too: the sum of the smaller counts over the sum
/// of the GT's counts.
pub fn containment<T: Ord>(gt: &BTreeMap<T, u64>, patch: &BTreeMap<T, u64>) -> Ratio {
    let shared = gt
        .iter()
        .map(|(line, count)| patch.get(line).map_or(0, |other| *count.min(other)))
        .sum();
    Ratio::new(shared, gt.values().sum())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_occurrence() {
        let gt = BTreeMap::from([("a", 3), ("b", 1)]);
        assert_eq!(
            containment(&gt, &BTreeMap::from([("a", 2), ("c", 9)])),
            Ratio::new(2, 4)
        );
        assert_eq!(containment(&gt, &gt), Ratio::new(4, 4));
        assert_eq!(
            containment(&BTreeMap::<&str, u64>::new(), &gt),
            Ratio::new(0, 0)
        );
    }
}
