//! The comparison of a GT with an agent's patch: all measures, file by file and together.
//!
//! The patch is read once, file by file, to gather what all of it has of the GT, to compare files with the
//! same name, and to find partners by content; files that find one are read again. Memory beside the patches
//! is bounded by the GT and about twelve times the largest file of the patch.

use std::collections::{BTreeSet, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::candidate::{Candidate, ContentIndex, Tally, candidates, measure, raw_lines};
use super::containment::Overlap;
use super::generated::{FileSource, GeneratedFiles, GeneratedPaths};
use super::model::{DistinctiveLine, FileSimilarity, Ratio, Similarity};
use super::new_paths;
use super::pairing::{self, GtName, PatchName};
use super::prepare::prepare;
use super::reference::Reference;
use super::remarks::Remark;
use super::scope;
use super::starter::Starter;
use super::whole::{Pair, Whole};
use crate::patch::model::Patch;

/// An eligible file counts as identical from this copy score on.
pub const IDENTICAL_SCORE: f64 = 0.9;

/// An eligible file with so many distinctive lines counts as identical when as large a share of them stands anywhere in the
/// patch.
pub const SCATTERED_LINES: u64 = 16;

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
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Comparison {
    /// The measures.
    pub similarity: Similarity,
    /// The distinctive lines of the hand-written GT files, in the order of the GT. Not stored: a store
    /// holds their hashes (`audit::prints`).
    #[serde(skip)]
    pub lines: Vec<DistinctiveLine>,
    /// The comment lines and messages of the hand-written GT files, in the order of the GT; none without a
    /// patch.
    pub remarks: Vec<Remark>,
    /// What was left out or decided, for people.
    pub notes: Vec<String>,
}

/// Compares. Without a patch the measures of the patch are `None` and their ratios 0 of what there
/// is, or 0 of 0 for windows and blocks, which are made for a patch only, as remarks are; what the GT alone gives
/// (sizes, distinctive lines, chance) is there.
pub fn compare(inputs: &CompareInputs<'_>) -> Comparison {
    let mut notes = Vec::new();
    let scopes = scope::decide(inputs, &mut notes);
    let prepared: Vec<_> = inputs.gt.files.iter().map(prepare).collect();
    let reference = Reference::new(inputs, &scopes, &prepared, &mut notes);
    let files = inputs.patch.map(candidates).unwrap_or_default();
    let (mut tally, partners, mut pairs) = read_patch(&reference, &files, &mut notes);
    let remarks = std::mem::take(&mut tally.remarks);
    let whole = Whole::new(tally, inputs.patch.is_some());
    let mut similarity = whole.measures(&reference);
    for (gt, (file, partner)) in reference.files.iter().zip(&partners).enumerate() {
        let known = partner.and_then(|at| pairs.remove(&(gt, at)));
        let partner = partner.and_then(|at| files.get(at)).map(|candidate| {
            let read = || {
                let measured = measure(&reference, candidate);
                Pair::new(&reference, file, Some(candidate), &measured)
            };
            (candidate, known.unwrap_or_else(read))
        });
        similarity
            .files
            .push(whole.file(&reference, gt, file, partner));
    }
    count_files(&mut similarity);
    pooled_raw(inputs, &reference, &files, &mut similarity);
    let lines = reference.distinctive_lines(|line| whole.count(line) > 0);
    let remarks = reference.remarks.finish(&remarks);
    if let Some(patch) = inputs.patch {
        let shared = remarks.iter().filter(|remark| remark.shared).count() as u64;
        similarity.remarks = Some(Ratio::new(shared, remarks.len() as u64));
        similarity.new_paths = new_paths::shared(inputs.gt, patch, inputs.prompt);
    }
    Comparison {
        similarity,
        lines,
        remarks,
        notes,
    }
}

/// Of the files that resemble a GT file by content, at most this many are considered; the first by
/// path. Only a patch made to exhaust memory has more.
const MAX_LOOKALIKES: usize = 1_000;

/// What files have in common, by their places in the GT and in the patch.
type Pairs = HashMap<(usize, usize), Pair>;

/// Reads all files of the patch once: what they have of the GT together, the partner of each GT file, and what
/// files with the same name have in common.
fn read_patch(
    reference: &Reference<'_>,
    files: &[Candidate<'_>],
    notes: &mut Vec<String>,
) -> (Tally, Vec<Option<usize>>, Pairs) {
    let gt_names: Vec<GtName> = reference.files.iter().map(|f| f.name.clone()).collect();
    let names: Vec<PatchName> = files.iter().map(|f| f.name.clone()).collect();
    let partners = pairing::by_name(&gt_names, &names);
    let taken: HashMap<usize, usize> = (0..)
        .zip(&partners)
        .filter_map(|(gt, at)| Some(((*at)?, gt)))
        .collect();
    let mut tally = Tally::new(reference, files.is_empty());
    let index = ContentIndex::new(reference);
    let mut shared = pairing::Shared::new();
    let mut pairs = Pairs::new();
    let mut lookalikes = vec![0; gt_names.len()];
    for (at, file) in files.iter().enumerate() {
        let measured = measure(reference, file);
        tally.add(&measured);
        if let Some(gt) = taken.get(&at)
            && let Some(gt_file) = reference.files.get(*gt)
        {
            let pair = Pair::new(reference, gt_file, Some(file), &measured);
            pairs.insert((*gt, at), pair);
        }
        for (gt, both) in index.similar(reference, &measured) {
            if partners.get(gt) == Some(&Some(at)) {
                shared.insert((gt, at), both);
            } else if !taken.contains_key(&at)
                && let Some(count) = lookalikes.get_mut(gt)
            {
                *count += 1;
                if *count <= MAX_LOOKALIKES {
                    shared.insert((gt, at), both);
                }
            }
        }
    }
    let most = lookalikes.into_iter().max().unwrap_or(0);
    if most > MAX_LOOKALIKES {
        notes.push(format!(
            "{most} files resemble one GT file; the first {MAX_LOOKALIKES} by path were considered as its partner"
        ));
    }
    let partners = pairing::by_content(&gt_names, &names, &shared, partners);
    (tally, partners, pairs)
}

/// A GT file whose lines stand in the patch, in whatever files: it was split, or merged with others. Of fewer lines than
/// [`SCATTERED_LINES`] those of other files may happen to be the same.
fn is_scattered(file: &FileSimilarity) -> bool {
    let share = Ratio::new(file.shared_anywhere, file.distinctive);
    file.distinctive >= SCATTERED_LINES && share.or_zero() >= IDENTICAL_SCORE
}

/// The two counts of identical files.
fn count_files(similarity: &mut Similarity) {
    let mut expected = Vec::new();
    for file in similarity.files.iter().filter(|file| file.hand_written) {
        similarity.hand_written_files += 1;
        similarity.hand_written_identical += u64::from(file.identical);
        if file.eligible {
            similarity.eligible_files += 1;
            expected.push(file.p_chance);
            let same = file
                .copy_score
                .is_some_and(|score| score >= IDENTICAL_SCORE)
                || is_scattered(file);
            similarity.identical_files += u64::from(same);
            // Whoever runs the tests puts those of the pull request into the tree.
            if same && !file.test {
                let rarest = similarity.rarest_identical.unwrap_or(1.0);
                similarity.rarest_identical = Some(rarest.min(file.p_chance));
            }
        }
    }
    // Sorted, so that the order of the files does not change the last digit.
    expected.sort_by(f64::total_cmp);
    similarity.expected_identical = expected.into_iter().fold(0.0, |sum, p| sum + p);
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
    let mut gt = HashSet::new();
    let mut generated: BTreeSet<&str> = BTreeSet::new();
    for file in &reference.files {
        if file.scope.hand_written {
            gt.extend(raw_lines(&[file.patch]));
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
    let mut patch = HashSet::new();
    for file in files {
        let path = file.name.path.as_str();
        let counts = hand_written.contains(path)
            || !generated.contains(path) && detector.why(path, None, false).is_none();
        if counts {
            patch.extend(raw_lines(&file.parts));
        }
    }
    let overlap = Overlap::of(&gt, &patch);
    similarity.containment = overlap.containment();
    similarity.jaccard = overlap.jaccard().filter(|_| overlap.gt > 0);
}

#[cfg(test)]
mod tests;
