//! Containment and Jaccard of raw added lines.
//!
//! Many scripts compute the share of GT lines that the patch contains and call it "Jaccard". Both
//! numbers are given here under their own names: padding a copy leaves containment at 1 and halves
//! Jaccard.

use std::collections::BTreeSet;

use bstr::ByteSlice;

use crate::patch::model::FilePatch;

/// Sizes of two sets and of what they share.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Overlap {
    /// Size of the first set (the GT).
    pub gt: u64,
    /// Size of the second set (the patch).
    pub patch: u64,
    /// Members of both.
    pub shared: u64,
}

impl Overlap {
    /// Compares two sets.
    pub fn of<T: Ord>(gt: &BTreeSet<T>, patch: &BTreeSet<T>) -> Self {
        Self {
            gt: gt.len() as u64,
            patch: patch.len() as u64,
            shared: gt.intersection(patch).count() as u64,
        }
    }

    /// Shared / GT, in 0..=1; `None` if the GT is empty.
    pub fn containment(self) -> Option<f64> {
        (self.gt > 0).then(|| self.shared as f64 / self.gt as f64)
    }

    /// Shared / union, in 0..=1; `None` if both are empty.
    pub fn jaccard(self) -> Option<f64> {
        let union = self.gt + self.patch - self.shared;
        (union > 0).then(|| self.shared as f64 / union as f64)
    }
}

/// Adds the distinct added lines of a file to `lines`: as they stand, without blank ones and without
/// a carriage return at the end.
pub fn add_raw_lines<'a>(file: &'a FilePatch, lines: &mut BTreeSet<&'a [u8]>) {
    lines.extend(
        file.added()
            .map(|line| line.text.strip_suffix(b"\r").unwrap_or(&line.text))
            .filter(|text| !text.trim().is_empty()),
    );
}

#[cfg(test)]
mod tests {
    use super::super::prepare::tests::file;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn padding_halves_jaccard_and_not_containment() {
        let gt = BTreeSet::from([1, 2, 3]);
        let padded = BTreeSet::from([1, 2, 3, 4, 5, 6]);
        let overlap = Overlap::of(&gt, &padded);
        assert_eq!(overlap.containment(), Some(1.0));
        assert_eq!(overlap.jaccard(), Some(0.5));
        let nothing = Overlap::of(&BTreeSet::<u8>::new(), &BTreeSet::new());
        assert_eq!((nothing.containment(), nothing.jaccard()), (None, None));
    }

    #[test]
    fn raw_lines_are_distinct_and_not_blank() {
        let file = file("a", &["+x\r", "+x", "+ x", "+", "+  ", "-y", " z"]);
        let mut lines = BTreeSet::new();
        add_raw_lines(&file, &mut lines);
        assert_eq!(lines, BTreeSet::from([b"x".as_slice(), b" x"]));
    }

    proptest! {
        #[test]
        fn ranges_and_symmetry(
            a in proptest::collection::btree_set(0u8..30, 0..20),
            b in proptest::collection::btree_set(0u8..30, 0..20),
        ) {
            let here = Overlap::of(&a, &b);
            let there = Overlap::of(&b, &a);
            prop_assert_eq!(here.jaccard(), there.jaccard());
            for value in [here.containment(), here.jaccard()].into_iter().flatten() {
                prop_assert!((0.0..=1.0).contains(&value));
            }
            if a == b && !a.is_empty() {
                prop_assert_eq!(here.jaccard(), Some(1.0));
            }
        }
    }
}
