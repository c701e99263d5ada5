//! From what the patch has of the GT to the measures: of the run and of each file.

use std::collections::HashSet;

use super::candidate::{Candidate, Measured, Tally, identical, raw_lines};
use super::chance::{FITTED_UP_TO, p_chance};
use super::containment::Overlap;
use super::model::{FileSimilarity, Ratio, Similarity};
use super::multiset;
use super::reference::{GtFile, Reference};
use super::runs::RunLengths;
use super::tokens::{ABSTRACT, Grams};

/// A file with fewer distinctive lines is not judged alone.
pub const ELIGIBLE_LINES: u64 = 8;

/// With fewer windows T12 and S23 are not given: a dozen windows may be a single line.
pub const MIN_WINDOWS: u64 = 12;

/// What the whole patch has of the GT.
pub struct Whole {
    counts: Vec<u64>,
    grams: Vec<bool>,
    shapes: Vec<bool>,
    blocks: Vec<bool>,
    runs: RunLengths,
    has_patch: bool,
}

impl Whole {
    /// From what was gathered of the whole patch, if there is one.
    pub fn new(tally: Tally, has_patch: bool) -> Self {
        let Tally {
            lines: counts,
            grams,
            shapes,
            blocks,
            runs,
            remarks: _,
        } = tally;
        Self {
            counts,
            grams,
            shapes,
            blocks,
            runs: runs.finish(),
            has_patch,
        }
    }

    /// How often the patch adds a line.
    pub fn count(&self, line: u32) -> u64 {
        self.counts.get(line as usize).copied().unwrap_or(0)
    }

    /// `None` without a patch.
    fn given(&self, ratio: Ratio) -> Option<f64> {
        ratio.value().filter(|_| self.has_patch)
    }

    /// The measures of the run, over hand-written files.
    pub fn measures(&self, reference: &Reference<'_>) -> Similarity {
        let mut out = Similarity::default();
        let mut counts = Vec::with_capacity(reference.lines.len());
        for (number, info) in reference.lines.iter().enumerate() {
            let number = number as u32;
            if !info.hand_written {
                continue;
            }
            out.n_lines += 1;
            if !info.distinctive {
                continue;
            }
            let shared = u64::from(self.count(number) > 0);
            out.n += 1;
            out.u_ratio.num += shared;
            if reference
                .files
                .get(info.file())
                .is_some_and(|file| file.test)
            {
                out.u_tests.den += 1;
                out.u_tests.num += shared;
            }
            counts.push((info.count, self.count(number)));
        }
        out.u_ratio.den = out.n;
        out.multiset_ratio = multiset::containment(counts);
        let hand_written = || {
            reference
                .files
                .iter()
                .filter(|file| file.scope.hand_written)
        };
        let grams = hand_written().flat_map(|f| &f.grams).copied();
        out.t12_ratio = windows(&reference.grams, grams, |n| flag(&self.grams, n));
        let shapes = hand_written().flat_map(|f| &f.shapes).copied();
        out.s23_ratio = windows(&reference.shapes, shapes, |n| flag(&self.shapes, n));
        if out.s23_ratio.den > 0 {
            out.s23_tokens = out.s23_ratio.den + ABSTRACT as u64 - 1;
        }
        for block in hand_written().flat_map(|f| &f.blocks) {
            out.hunks_ratio.den += 1;
            out.hunks_ratio.num += u64::from(flag(&self.blocks, *block));
        }
        for (index, file) in reference.files.iter().enumerate() {
            if file.scope.hand_written {
                self.add_runs(reference, index, file, &mut out);
            }
        }
        out.n16 = reference.long_lines();
        let counted = || reference.lines.iter().filter(|info| info.hand_written);
        let follow = counted().filter(|info| info.follows).count() as u64;
        let choices = out.n_lines.saturating_sub(follow);
        out.p_chance = p_chance(choices);
        out.p_chance_extrapolated = choices > FITTED_UP_TO;
        out.u = self.given(out.u_ratio);
        out.t12 = self.given(out.t12_ratio);
        out.s23 = self.given(out.s23_ratio);
        out.r6 = self.given(out.r6_ratio);
        out.multiset = self.given(out.multiset_ratio);
        out.hunks = self.given(out.hunks_ratio);
        out.copy_score = larger(out.u, out.t12);
        out
    }

    fn add_runs(
        &self,
        reference: &Reference<'_>,
        index: usize,
        file: &GtFile<'_>,
        out: &mut Similarity,
    ) {
        out.longest_run = out.longest_run.max(self.runs.longest(index));
        for (line, covered) in file.lines.iter().zip(self.runs.covered(index)) {
            if reference.is_distinctive(*line) {
                out.r6_ratio.den += 1;
                out.r6_ratio.num += u64::from(covered);
            }
        }
    }

    /// The measures of one file against its partner, if it has one.
    pub fn file(
        &self,
        reference: &Reference<'_>,
        index: usize,
        gt: &GtFile<'_>,
        partner: Option<(&Candidate<'_>, Pair)>,
    ) -> FileSimilarity {
        let pair = partner.as_ref().map_or_else(
            || Pair::new(reference, gt, None, &Measured::default()),
            |(_, pair)| *pair,
        );
        let partner = partner.map(|(file, _)| file);
        let overlap = || {
            let theirs = partner.map(|file| raw_lines(&file.parts));
            Overlap::of(&raw_lines(&[gt.patch]), &theirs.unwrap_or_default())
        };
        let raw = self.has_patch.then(overlap);
        let anywhere = gt.distinctive.iter().filter(|line| self.count(**line) > 0);
        FileSimilarity {
            path: gt.name.path.clone(),
            paired_with: partner.map(|file| file.name.path.clone()),
            hand_written: gt.scope.hand_written,
            generated: gt.scope.generated,
            test: gt.test,
            status: gt.patch.status,
            gt_lines: gt.patch.added().count() as u64,
            distinctive: pair.lines.den,
            shared: pair.lines.num,
            shared_anywhere: anywhere.count() as u64,
            containment: raw.and_then(Overlap::containment),
            jaccard: raw.filter(|raw| raw.gt > 0).and_then(Overlap::jaccard),
            copy_score: larger(self.given(pair.lines), self.given(pair.grams)),
            longest_run: self.runs.longest(index),
            p_chance: p_chance(gt.distinct),
            identical: pair.identical,
            eligible: pair.lines.den >= ELIGIBLE_LINES,
        }
    }
}

/// What a file of the GT and a file of the patch have in common.
#[derive(Debug, Clone, Copy)]
pub struct Pair {
    /// Distinctive lines.
    lines: Ratio,
    /// Windows of T12.
    grams: Ratio,
    identical: bool,
}

impl Pair {
    /// Of a file of the GT and a measured file; without one, what there is to have in common.
    pub fn new(
        reference: &Reference<'_>,
        gt: &GtFile<'_>,
        file: Option<&Candidate<'_>>,
        measured: &Measured,
    ) -> Self {
        let has: HashSet<u32> = measured.lines.iter().flatten().copied().collect();
        let shared = gt.distinctive.iter().filter(|line| has.contains(line));
        let grams: HashSet<u32> = measured.grams.iter().copied().collect();
        let of_gt = gt.grams.iter().copied();
        Self {
            lines: Ratio::new(shared.count() as u64, gt.name.distinctive),
            grams: windows(&reference.grams, of_gt, |n| grams.contains(&n)),
            identical: file.is_some_and(|file| identical(gt, file, measured)),
        }
    }
}

fn flag(flags: &[bool], number: u32) -> bool {
    flags.get(number as usize).copied().unwrap_or(false)
}

/// Of the windows that count, each once, those that `has` says yes to. 0 of 0 for fewer than
/// [`MIN_WINDOWS`].
fn windows(grams: &Grams, numbers: impl Iterator<Item = u32>, has: impl Fn(u32) -> bool) -> Ratio {
    let mut counted: Vec<u32> = numbers.filter(|number| grams.counts(*number)).collect();
    counted.sort_unstable();
    counted.dedup();
    let den = counted.len() as u64;
    if den < MIN_WINDOWS {
        return Ratio::default();
    }
    Ratio::new(counted.iter().filter(|n| has(**n)).count() as u64, den)
}

fn larger(a: Option<f64>, b: Option<f64>) -> Option<f64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.max(b)),
        (a, b) => a.or(b),
    }
}
