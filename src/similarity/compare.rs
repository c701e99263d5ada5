//! The comparison of a GT with an agent's patch: all measures, file by file and together.
//!
//! The patch is read twice, file by file: once to gather what all of it has of the GT and to find
//! partners by content, once more for the files that have a partner. Memory is bounded by the GT and
//! the largest file of the patch (besides the patch itself).

use std::collections::{BTreeMap, BTreeSet};

use super::candidate::{
    Candidate, ContentIndex, Measured, Tally, candidates, identical, measure, raw_lines,
};
use super::chance::{FITTED_UP_TO, p_chance};
use super::containment::Overlap;
use super::generated::{FileSource, GeneratedFiles, GeneratedPaths};
use super::model::{DistinctiveLine, FileSimilarity, Ratio, Similarity};
use super::multiset;
use super::pairing::{self, GtName, PatchName};
use super::reference::{GtFile, Reference};
use super::runs::RunLengths;
use super::scope;
use super::starter::Starter;
use super::tokens::{ABSTRACT, Grams};
use crate::patch::model::Patch;

/// A file with fewer distinctive lines is not judged alone.
pub const ELIGIBLE_LINES: u64 = 8;

/// An eligible file counts as identical from this copy score on.
pub const IDENTICAL_SCORE: f64 = 0.9;

/// With fewer windows T12 and S23 are not given: a dozen windows may be a single line.
pub const MIN_WINDOWS: u64 = 12;

/// What is compared. Any optional part may be missing.
#[derive(Clone, Copy)]
pub struct CompareInputs<'a> {
    /// The GT.
    pub gt: &'a Patch,
    /// The agent's patch.
    pub patch: Option<&'a Patch>,
    /// The task's list of hand-written files (paths in the GT).
    pub handwritten: Option<&'a BTreeSet<String>>,
    /// The task's list of generated files.
    pub generated: Option<&'a BTreeSet<String>>,
    /// The tree the agent started from, for lines.
    pub starter: &'a dyn Starter,
    /// The prompt that the agent saw.
    pub prompt: Option<&'a str>,
    /// The tree the agent started from, for `.gitattributes` and file heads.
    pub files: Option<&'a dyn FileSource>,
}

impl<'a> CompareInputs<'a> {
    /// Only the patches and the starter.
    pub fn new(gt: &'a Patch, patch: Option<&'a Patch>, starter: &'a dyn Starter) -> Self {
        Self {
            gt,
            patch,
            handwritten: None,
            generated: None,
            starter,
            prompt: None,
            files: None,
        }
    }
}

/// The result of [`compare`].
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The measures.
    pub similarity: Similarity,
    /// The distinctive lines of the hand-written GT files, in the order of the GT.
    pub lines: Vec<DistinctiveLine>,
    /// What was left out or decided, for people.
    pub notes: Vec<String>,
}

/// Compares. Without a patch the measures of the patch are `None` and their ratios 0 of what there
/// is; what the GT alone gives (sizes, distinctive lines, chance) is there.
pub fn compare(inputs: &CompareInputs<'_>) -> Comparison {
    let mut notes = Vec::new();
    let scopes = scope::decide(inputs, &mut notes);
    let reference = Reference::new(inputs, &scopes, &mut notes);
    let files = inputs.patch.map(candidates).unwrap_or_default();
    let mut tally = Tally::new(&reference);
    let index = ContentIndex::new(&reference);
    let mut shared = BTreeMap::new();
    for (at, file) in files.iter().enumerate() {
        let measured = measure(&reference, file);
        tally.add(&measured);
        for (gt, both) in index.similar(&reference, &measured) {
            shared.insert((gt, at), both);
        }
    }
    let gt_names: Vec<GtName> = reference.files.iter().map(|f| f.name.clone()).collect();
    let names: Vec<PatchName> = files.iter().map(|f| f.name.clone()).collect();
    let partners = pairing::pair(&gt_names, &names, &shared);
    let Tally {
        lines: counts,
        grams,
        shapes,
        blocks,
        runs,
    } = tally;
    let whole = Whole {
        counts,
        grams,
        shapes,
        blocks,
        runs: runs.finish(),
        has_patch: inputs.patch.is_some(),
    };
    let mut similarity = whole.measures(&reference);
    for (gt, (file, partner)) in reference.files.iter().zip(&partners).enumerate() {
        let partner = partner.and_then(|at| files.get(at));
        similarity
            .files
            .push(whole.file(&reference, gt, file, partner));
    }
    count_files(&mut similarity);
    pooled_raw(inputs, &reference, &files, &mut similarity);
    let lines = reference.distinctive_lines(|line| whole.count(line) > 0);
    Comparison {
        similarity,
        lines,
        notes,
    }
}

/// What the whole patch has of the GT.
struct Whole {
    counts: Vec<u64>,
    grams: Vec<bool>,
    shapes: Vec<bool>,
    blocks: Vec<bool>,
    runs: RunLengths,
    has_patch: bool,
}

impl Whole {
    fn count(&self, line: u32) -> u64 {
        self.counts.get(line as usize).copied().unwrap_or(0)
    }

    /// `None` without a patch.
    fn given(&self, ratio: Ratio) -> Option<f64> {
        ratio.value().filter(|_| self.has_patch)
    }

    /// The measures of the run, over hand-written files.
    fn measures(&self, reference: &Reference<'_>) -> Similarity {
        let mut out = Similarity::default();
        let mut in_gt: BTreeMap<u32, u64> = BTreeMap::new();
        let mut in_patch: BTreeMap<u32, u64> = BTreeMap::new();
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
                out.u_tests_ratio.den += 1;
                out.u_tests_ratio.num += shared;
            }
            in_gt.insert(number, info.count);
            in_patch.insert(number, self.count(number));
        }
        out.u_ratio.den = out.n;
        out.multiset_ratio = multiset::containment(&in_gt, &in_patch);
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
        out.p_chance = p_chance(out.n_lines);
        out.p_chance_extrapolated = out.n_lines > FITTED_UP_TO;
        out.u = self.given(out.u_ratio);
        out.t12 = self.given(out.t12_ratio);
        out.s23 = self.given(out.s23_ratio);
        out.r6 = self.given(out.r6_ratio);
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

    /// The measures of one file against its partner.
    fn file(
        &self,
        reference: &Reference<'_>,
        index: usize,
        gt: &GtFile<'_>,
        partner: Option<&Candidate<'_>>,
    ) -> FileSimilarity {
        let measured = partner.map_or_else(Measured::default, |file| measure(reference, file));
        let has: BTreeSet<u32> = measured.lines.iter().flatten().copied().collect();
        let shared = |has: &dyn Fn(u32) -> bool| {
            gt.distinctive.iter().filter(|line| has(**line)).count() as u64
        };
        let c = Ratio::new(shared(&|line| has.contains(&line)), gt.name.distinctive);
        let grams: BTreeSet<u32> = measured.grams.iter().copied().collect();
        let t12 = windows(&reference.grams, gt.grams.iter().copied(), |n| {
            grams.contains(&n)
        });
        let raw = Overlap::of(
            &raw_lines(&[gt.patch]),
            &partner
                .map(|file| raw_lines(&file.parts))
                .unwrap_or_default(),
        );
        FileSimilarity {
            path: gt.name.path.clone(),
            paired_with: partner.map(|file| file.name.path.clone()),
            hand_written: gt.scope.hand_written,
            generated: gt.scope.generated,
            test: gt.test,
            status: gt.patch.status,
            gt_lines: gt.patch.added().count() as u64,
            distinctive: c.den,
            shared: c.num,
            shared_anywhere: shared(&|line| self.count(line) > 0),
            containment: raw.containment().filter(|_| self.has_patch),
            jaccard: raw.jaccard().filter(|_| self.has_patch && raw.gt > 0),
            copy_score: larger(self.given(c), self.given(t12)),
            longest_run: self.runs.longest(index),
            p_chance: p_chance(gt.distinct),
            identical: partner.is_some_and(|file| identical(gt, file, &measured)),
            eligible: c.den >= ELIGIBLE_LINES,
        }
    }
}

fn flag(flags: &[bool], number: u32) -> bool {
    flags.get(number as usize).copied().unwrap_or(false)
}

/// Of the windows that count, each once, those that `has` says yes to. 0 of 0 for fewer than
/// [`MIN_WINDOWS`].
fn windows(grams: &Grams, numbers: impl Iterator<Item = u32>, has: impl Fn(u32) -> bool) -> Ratio {
    let counted: BTreeSet<u32> = numbers.filter(|number| grams.counts(*number)).collect();
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

/// The two counts of identical files.
fn count_files(similarity: &mut Similarity) {
    for file in similarity.files.iter().filter(|file| file.hand_written) {
        similarity.hand_written_files += 1;
        similarity.hand_written_identical += u64::from(file.identical);
        if file.eligible {
            similarity.eligible_files += 1;
            similarity.expected_identical += file.p_chance;
            let same = file
                .copy_score
                .is_some_and(|score| score >= IDENTICAL_SCORE);
            similarity.identical_files += u64::from(same);
        }
    }
    similarity.id_files =
        Ratio::new(similarity.identical_files, similarity.eligible_files).or_zero();
}

/// Raw containment and Jaccard, files pooled: the hand-written GT files against the files of the
/// patch that are not generated.
fn pooled_raw(
    inputs: &CompareInputs<'_>,
    reference: &Reference<'_>,
    files: &[Candidate<'_>],
    similarity: &mut Similarity,
) {
    if inputs.patch.is_none() {
        return;
    }
    let mut gt = BTreeSet::new();
    let mut generated: BTreeSet<&str> = BTreeSet::new();
    for file in &reference.files {
        if file.scope.hand_written {
            gt.append(&mut raw_lines(&[file.patch]));
        } else {
            generated.insert(&file.name.path);
        }
    }
    let mut detector =
        GeneratedFiles::new(inputs.generated, inputs.files, GeneratedPaths::builtin());
    let hand_written: BTreeSet<&str> = reference
        .files
        .iter()
        .filter(|file| file.scope.hand_written)
        .map(|file| file.name.path.as_str())
        .collect();
    let mut patch = BTreeSet::new();
    for file in files {
        let path = file.name.path.as_str();
        let counts = hand_written.contains(path)
            || !generated.contains(path) && detector.why(path, None, false).is_none();
        if counts {
            patch.append(&mut raw_lines(&file.parts));
        }
    }
    let overlap = Overlap::of(&gt, &patch);
    similarity.containment = overlap.containment();
    similarity.jaccard = overlap.jaccard().filter(|_| overlap.gt > 0);
}
