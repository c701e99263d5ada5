//! Judges two by two: raw agreement and Cohen's kappa over the runs that both rated.

use std::collections::{BTreeMap, BTreeSet};

use super::MAX_PAIRED_JUDGES;
use super::tallies::{Number, Weights, outer};
use crate::score::exact::{Exact, ratio};
use crate::score::model::{Outcome, Run};

/// Two judges and their table of verdicts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The first, by name.
    pub first: String,
    /// The second.
    pub second: String,
    /// Runs by verdict: rows the first judge's, columns the second's; FAIL, PARTIAL, PASS.
    pub table: [[u64; 3]; 3],
}

impl Pair {
    /// Runs that both rated.
    pub fn runs(&self) -> u64 {
        self.table.iter().flatten().sum()
    }

    /// Runs on which they say the same.
    pub fn agreed(&self) -> u64 {
        let [[a, _, _], [_, b, _], [_, _, c]] = self.table;
        a + b + c
    }

    /// Share of the runs on which they say the same.
    pub fn agreement(&self) -> Option<Exact> {
        ratio(self.agreed(), self.runs())
    }

    /// Cohen's (weighted) kappa: `(po − pe) / (1 − pe)` with each judge's own shares.
    pub fn cohen(&self, weights: &Weights) -> Option<Exact> {
        let runs = self.runs();
        if runs == 0 {
            return None;
        }
        let runs = Exact::of(runs);
        let table = self
            .table
            .map(|row| row.map(|n| Exact::of(n) / runs.clone()));
        let sum = |parts: [&Exact; 3]| parts.into_iter().fold(Exact::of(0), |a, b| a + b);
        let [x, y, z] = table.each_ref();
        let first = [x, y, z].map(|row| sum(row.each_ref()));
        let [[a, b, c], [d, e, f], [g, h, i]] = table.each_ref();
        let second = [sum([a, d, g]), sum([b, e, h]), sum([c, f, i])];
        let expected = weights.sum(&outer(&first, &second));
        let left = Exact::of(1) - expected.clone();
        (!left.vanishes()).then(|| (weights.sum(&table) - expected) / left)
    }
}

/// All pairs of judges that rated any of the runs; empty beyond [`MAX_PAIRED_JUDGES`].
pub(super) fn pairs(runs: &[&Run]) -> Vec<Pair> {
    let judges: BTreeSet<&str> = runs
        .iter()
        .flat_map(|r| r.ratings.keys().map(String::as_str))
        .collect();
    if judges.len() > MAX_PAIRED_JUDGES {
        return Vec::new();
    }
    let mut tables: BTreeMap<(&str, &str), [[u64; 3]; 3]> = BTreeMap::new();
    for (n, first) in judges.iter().enumerate() {
        for second in judges.iter().skip(n + 1) {
            tables.insert((first, second), [[0; 3]; 3]);
        }
    }
    for run in runs {
        for (n, (first, a)) in run.ratings.iter().enumerate() {
            for (second, b) in run.ratings.iter().skip(n + 1) {
                if let Some(table) = tables.get_mut(&(first.as_str(), second.as_str())) {
                    count(table, a.verdict, b.verdict);
                }
            }
        }
    }
    tables
        .into_iter()
        .map(|((first, second), table)| Pair {
            first: first.into(),
            second: second.into(),
            table,
        })
        .collect()
}

fn count(table: &mut [[u64; 3]; 3], row: Outcome, column: Outcome) {
    for (r, cells) in Outcome::ALL.into_iter().zip(table.iter_mut()) {
        for (c, cell) in Outcome::ALL.into_iter().zip(cells.iter_mut()) {
            *cell += u64::from(r == row && c == column);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::score::exact::fixed;
    use crate::score::testing::runs_of;

    #[test]
    fn cohen_of_a_textbook_table() {
        // 20 yes-yes, 5 yes-no, 10 no-yes, 15 no-no: po 0.7, pe 0.5, kappa 0.4.
        let pair = Pair {
            first: "a".into(),
            second: "b".into(),
            table: [[20, 5, 0], [10, 15, 0], [0, 0, 0]],
        };
        assert_eq!(
            pair.cohen(&Weights::IDENTITY).map(|k| fixed(&k, 6)),
            Some("0.400000".into())
        );
        assert_eq!((pair.agreed(), pair.runs()), (35, 50));
        assert_eq!(pair.cohen(&Weights::PASS_OR_NOT), None);
    }

    #[test]
    fn only_shared_runs_count() {
        let runs = runs_of(&["PF.", "P.P", "-FF"]);
        let refs: Vec<&Run> = runs.iter().collect();
        let got: Vec<(String, u64, u64)> = pairs(&refs)
            .iter()
            .map(|p| (format!("{}{}", p.first, p.second), p.agreed(), p.runs()))
            .collect();
        assert_eq!(
            got,
            [
                ("j0j1".into(), 0, 2),
                ("j0j2".into(), 1, 2),
                ("j1j2".into(), 1, 1)
            ]
        );
    }
}
