//! The files of the agent's patch, measured against the GT one by one.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use bstr::ByteSlice;

use super::containment::add_raw_lines;
use super::hunks;
use super::normalise::{fold, squeeze};
use super::pairing::PatchName;
use super::prepare::{PreparedLine, prepare, raw_text, squeezed_raw};
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
    pub code: Vec<Option<u32>>,
    /// The same with the GT lines that stand in what looks like a block comment.
    pub lines: Vec<Option<u32>>,
    /// Windows of T12.
    pub grams: Vec<u32>,
    /// Windows of S23.
    pub shapes: Vec<u32>,
    /// Change blocks.
    pub blocks: Vec<u32>,
    /// Comments and messages.
    pub remarks: HashSet<String>,
}

/// Looks the lines, windows and blocks of a file up in the GT.
///
/// Lines that only the lines before make a comment are looked up as code, too: see
/// [`super::comments`].
pub fn measure(reference: &Reference<'_>, candidate: &Candidate<'_>) -> Measured {
    let mut measured = Measured::default();
    for part in &candidate.parts {
        let mut prepared = prepare(part);
        measured.look_up(reference, &prepared);
        measured.look_behind(reference, &prepared);
        measured.remarks.extend(reference.remarks.find(&prepared));
        let mut hidden = false;
        for line in prepared.iter_mut().flatten() {
            if line.kind() != LineKind::Added {
                continue;
            }
            let number = reference.number(&line.text);
            if !line.text.is_empty() {
                measured.code.push(number);
            }
            let Some(alone) = line.alone.take() else {
                if !line.text.is_empty() {
                    measured.lines.push(number);
                }
                continue;
            };
            let text = squeeze(&alone);
            let number = number.or_else(|| reference.number(&text));
            if number.is_some() || !line.text.is_empty() {
                measured.lines.push(number);
            }
            (line.text, line.code) = (text, Cow::Owned(alone));
            hidden = true;
        }
        if hidden {
            measured.look_up(reference, &prepared);
        }
    }
    measured
}

/// Bytes of a line that were taken for a comment from which on they are also read as code.
const LONG_REMARK: usize = 24;

/// Bytes of a line with quotes from which on it is also read as if there were none.
const LONG_QUOTE: usize = 200;

impl Measured {
    /// Adds the T12 windows of what only looks like a comment or a string: `/[//]/;` and `$#;` begin no
    /// comment where they stand, and a backtick in a regular expression no string, but only a parser of the
    /// language knows. What is a comment holds no windows of the GT anyway.
    fn look_behind(&mut self, reference: &Reference<'_>, hunks: &[Vec<PreparedLine<'_>>]) {
        let added = hunks.iter().flatten();
        let added: Vec<(&PreparedLine<'_>, String)> = added
            .filter(|line| line.kind() == LineKind::Added)
            .map(|line| {
                let raw = raw_text(line.line);
                (line, fold(raw.trim_start()).into_owned())
            })
            .collect();
        let mut find = |lines: &[&str]| {
            let stream = reference.vocabulary.read(lines.iter().copied());
            self.grams.extend(reference.grams.find(&stream.tokens));
        };
        let long = |line: &PreparedLine<'_>, raw: &str| raw.len() >= line.code.len() + LONG_REMARK;
        if added.iter().any(|(line, raw)| long(line, raw)) {
            let whole: Vec<&str> = added.iter().map(|(_, raw)| raw.as_str()).collect();
            find(&whole);
            let begins = |c: char| c.is_alphanumeric() || c == '_' || c == '@';
            let behind = added.iter().filter_map(|(line, raw)| {
                let rest = raw.strip_prefix(line.code.as_ref())?;
                Some(rest.trim_start_matches(|c| !begins(c)))
            });
            find(&behind.collect::<Vec<_>>());
        }
        let quotes = ['"', '\'', '`'];
        let quoted = added
            .iter()
            .filter(|(_, raw)| raw.len() >= LONG_QUOTE && raw.contains(quotes));
        let opened: Vec<String> = quoted.map(|(_, raw)| raw.replace(quotes, " ")).collect();
        if !opened.is_empty() {
            find(&opened.iter().map(String::as_str).collect::<Vec<_>>());
        }
    }

    /// Adds the windows and blocks of these lines.
    fn look_up(&mut self, reference: &Reference<'_>, hunks: &[Vec<PreparedLine<'_>>]) {
        let code = added_code(hunks).map(|line| line.code.as_ref());
        let stream = reference.vocabulary.read(code);
        self.grams.extend(reference.grams.find(&stream.tokens));
        self.shapes.extend(reference.shapes.find(&stream.shapes));
        self.blocks.extend(
            hunks
                .iter()
                .flat_map(|hunk| hunks::blocks(hunk))
                .filter_map(|block| reference.block(&block.key)),
        );
    }
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
    /// Comments and messages that it has.
    pub remarks: HashSet<String>,
}

impl Tally {
    /// Nothing yet. `empty` says that nothing will come.
    pub fn new(reference: &Reference<'_>, empty: bool) -> Self {
        let sequences: Vec<Vec<u32>> = reference.files.iter().map(|f| f.lines.clone()).collect();
        Self {
            lines: vec![0; reference.lines.len()],
            grams: vec![false; reference.grams.len()],
            shapes: vec![false; reference.shapes.len()],
            blocks: vec![false; reference.block_count()],
            runs: if empty {
                Runs::of_nothing(&sequences)
            } else {
                Runs::new(&sequences)
            },
            remarks: HashSet::new(),
        }
    }

    /// Adds a file.
    pub fn add(&mut self, measured: &Measured) {
        self.remarks.extend(measured.remarks.iter().cloned());
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
        let sorted = |lines: &[Option<u32>]| {
            let mut lines = lines.to_vec();
            lines.sort_unstable();
            lines
        };
        let ours: Vec<Option<u32>> = gt.lines.iter().copied().map(Some).collect();
        let ours = sorted(&ours);
        return ours == sorted(&measured.code) || ours == sorted(&measured.lines);
    }
    if !measured.code.is_empty() {
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
pub fn raw_lines<'a>(parts: &[&'a FilePatch]) -> HashSet<&'a [u8]> {
    let mut lines = HashSet::new();
    for part in parts {
        add_raw_lines(part, &mut lines);
    }
    lines
}
