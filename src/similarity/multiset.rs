//! Containment of lines counted as often as they occur.
//!
//! A third of the added lines of real patches repeat a line of the same file. Sets count them once,
//! so a table of equal rows weighs as much as a single row; this measure counts each.

use super::model::Ratio;

/// Of the occurrences in the GT, those that the patch has too: the sum of the smaller counts over the sum
/// of the GT's counts. `counts` holds for each line how often the GT and the patch have it.
pub fn containment(counts: impl IntoIterator<Item = (u64, u64)>) -> Ratio {
    let mut out = Ratio::default();
    for (gt, patch) in counts {
        out.num += gt.min(patch);
        out.den += gt;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_each_occurrence() {
        assert_eq!(containment([(3, 2), (1, 0), (0, 9)]), Ratio::new(2, 4));
        assert_eq!(containment([(3, 3), (1, 1)]), Ratio::new(4, 4));
        assert_eq!(containment([]), Ratio::new(0, 0));
    }
}
