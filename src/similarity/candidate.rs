//! The files of the agent's patch, measured against the GT one by one.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use bstr::ByteSlice;

use super::containment::add_raw_lines;
use super::hunks;
use super::pairing::PatchName;
use super::prepare::{prepare, squeezed_raw};
use super::reference::{GtFile, Reference, added_code};
use super::runs::Runs;
use crate::patch::model::{FilePatch, FileStatus, LineKind, Patch};

/// All that the patch does to one path. A patch made of several commits may hold a path twice.
pub struct Candidate<'a> {
    /// Its path, and where it was before.
    pub name: PatchName,
    /// The changes, in the order of the patch.
    pub parts: Vec<&'a FilePatch>,
}

/// The files of a patch, by path.
pub fn candidates(patch: &Patch) -> Vec<Candidate<'_>> {
    let mut by_path: BTreeMap<String, Candidate<'_>> = BTreeMap::new();
    for file in &patch.files {
        let path = file.path().to_str_lossy().into_owned();
        let before = file.old_path.as_ref().map(|old| old.to_str_lossy());
        let candidate = by_path.entry(path.clone()).or_insert_with(|| Candidate {
            name: PatchName {
                path: path.clone(),
                moved_from: None,
            },
            parts: Vec::new(),
        });
        if let Some(before) = before.filter(|before| *before != path) {
            candidate.name.moved_from = Some(before.into_owned());
        }
        candidate.parts.push(file);
    }
    by_path.into_values().collect()
}

/// What a file of the patch has of the GT.
#[derive(Default)]
pub struct Measured {
    /// Its added lines with code in order, as numbers of GT lines; `None` for others.
    pub lines: Vec<Option<u32>>,
    /// Windows of T12.
    pub grams: Vec<u32>,
    /// Windows of S23.
    pub shapes: Vec<u32>,
    /// Change blocks.
    pub blocks: Vec<u32>,
}

/// Looks the lines, windows and blocks of a file up in the GT.
pub fn measure(reference: &Reference<'_>, candidate: &Candidate<'_>) -> Measured {
    let mut measured = Measured::default();
    for part in &candidate.parts {
        let prepared = prepare(part);
        let code = || added_code(&prepared);
        measured
            .lines
            .extend(code().map(|line| reference.number(&line.text)));
        let texts = || code().map(|line| line.code.as_str());
        measured.grams.extend(reference.grams.find(texts()));
        measured.shapes.extend(reference.shapes.find(texts()));
        measured.blocks.extend(
            prepared
                .iter()
                .flat_map(|hunk| hunks::blocks(hunk))
                .filter_map(|block| reference.block(&block.key)),
        );
    }
    measured
}

/// What the whole patch has of the GT.
pub struct Tally {
    /// How often the patch adds each GT line.
    pub lines: Vec<u64>,
    /// Windows of T12 that it has.
    pub grams: Vec<bool>,
    /// Windows of S23 that it has.
    pub shapes: Vec<bool>,
    /// Change blocks that it has.
    pub blocks: Vec<bool>,
    /// Runs of equal lines.
    pub runs: Runs,
}

impl Tally {
    /// Nothing yet.
    pub fn new(reference: &Reference<'_>) -> Self {
        let sequences: Vec<Vec<u32>> = reference.files.iter().map(|f| f.lines.clone()).collect();
        Self {
            lines: vec![0; reference.lines.len()],
            grams: vec![false; reference.grams.len()],
            shapes: vec![false; reference.shapes.len()],
            blocks: vec![false; reference.block_count()],
            runs: Runs::new(&sequences),
        }
    }

    /// Adds a file.
    pub fn add(&mut self, measured: &Measured) {
        for line in &measured.lines {
            self.runs.read(*line);
            if let Some(count) = line.and_then(|line| self.lines.get_mut(line as usize)) {
                *count += 1;
            }
        }
        self.runs.end_file();
        mark(&mut self.grams, &measured.grams);
        mark(&mut self.shapes, &measured.shapes);
        mark(&mut self.blocks, &measured.blocks);
    }

    /// True if the patch adds the line.
    pub fn has_line(&self, line: u32) -> bool {
        self.lines
            .get(line as usize)
            .is_some_and(|count| *count > 0)
    }
}

fn mark(flags: &mut [bool], numbers: &[u32]) {
    for number in numbers {
        if let Some(flag) = flags.get_mut(*number as usize) {
            *flag = true;
        }
    }
}

/// For each distinctive GT line, the files that add it: to find files by content.
pub struct ContentIndex(Vec<Vec<usize>>);

impl ContentIndex {
    /// Indexes the GT files.
    pub fn new(reference: &Reference<'_>) -> Self {
        let mut files = vec![Vec::new(); reference.lines.len()];
        for (index, file) in reference.files.iter().enumerate() {
            for line in &file.distinctive {
                if let Some(files) = files.get_mut(*line as usize) {
                    files.push(index);
                }
            }
        }
        Self(files)
    }

    /// The GT files at least half of whose distinctive lines are among `measured`, with how many.
    pub fn similar(&self, reference: &Reference<'_>, measured: &Measured) -> Vec<(usize, u64)> {
        let distinct: HashSet<u32> = measured.lines.iter().flatten().copied().collect();
        let mut shared: BTreeMap<usize, u64> = BTreeMap::new();
        for line in distinct {
            for file in self.0.get(line as usize).into_iter().flatten() {
                *shared.entry(*file).or_default() += 1;
            }
        }
        shared.retain(|file, both| {
            reference
                .files
                .get(*file)
                .is_some_and(|file| *both * 2 >= file.name.distinctive)
        });
        shared.into_iter().collect()
    }
}

/// True if the patch makes the same change to the file as the GT; see
/// [`FileSimilarity::identical`](super::model::FileSimilarity::identical).
pub fn identical(gt: &GtFile<'_>, candidate: &Candidate<'_>, measured: &Measured) -> bool {
    if gt.patch.binary || candidate.parts.iter().any(|part| part.binary) {
        return false;
    }
    if !gt.lines.is_empty() {
        let mut theirs = measured.lines.clone();
        let mut ours: Vec<Option<u32>> = gt.lines.iter().copied().map(Some).collect();
        theirs.sort_unstable();
        ours.sort_unstable();
        return theirs == ours;
    }
    if !measured.lines.is_empty() {
        return false;
    }
    let texts = |parts: &[&FilePatch], kind: LineKind| {
        let mut texts: Vec<String> = parts
            .iter()
            .flat_map(|part| part.lines_of(kind))
            .map(squeezed_raw)
            .filter(|text| !text.is_empty())
            .collect();
        texts.sort_unstable();
        texts
    };
    let added = texts(&[gt.patch], LineKind::Added);
    if added != texts(&candidate.parts, LineKind::Added) {
        return false;
    }
    if !added.is_empty() {
        return true;
    }
    // Nothing is added: the operation and what it removes decide.
    let operation = |file: &FilePatch| match file.status {
        FileStatus::Renamed | FileStatus::Copied => (file.status, file.old_path.clone()),
        status => (status, None),
    };
    candidate.name.path == gt.name.path
        && candidate
            .parts
            .first()
            .is_some_and(|part| operation(part) == operation(gt.patch))
        && texts(&[gt.patch], LineKind::Removed) == texts(&candidate.parts, LineKind::Removed)
}

/// The distinct raw added lines of a file.
pub fn raw_lines<'a>(parts: &[&'a FilePatch]) -> BTreeSet<&'a [u8]> {
    let mut lines = BTreeSet::new();
    for part in parts {
        add_raw_lines(part, &mut lines);
    }
    lines
}
