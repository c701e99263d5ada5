//! GT lines in what the reading of the work tree leaves out: git directories, folders of the evaluation, what is
//! ignored.
//!
//! A file that was moved there is the agent's work as much as one that was left in its place, and a copy of a GT
//! file there counts as that: nobody else puts one into `.git` or `.claude`. Not so where others do: in a file
//! of harness or evaluation (a report quotes, a log holds what was printed), where packages are installed,
//! in a submodule, or in a folder of tools beside a solution of the agent's own. Such copies are residue: they convict nobody,
//! and keep a run without a full trace from being called clean when all of the GT lies there.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bstr::{BString, ByteSlice};

use super::gt_lines::{GtLines, Reader, Seen};
use crate::patch::model::{FilePatch, Patch};
use crate::patch::worktree::{Apart, ApartFile, ApartKind};
use crate::similarity::distinctive::is_trivial;
use crate::similarity::prepare::squeezed_raw;

/// So many lines that the work tree does not hold make a copy worth counting: fewer may be coincidence.
const MIN_NEW_LINES: usize = 3;

/// Most bytes that are searched in what was left out.
const MAX_BYTES: u64 = 4 << 30;

/// Directories in which package managers put the code of others.
const PACKAGE_DIRS: &[&[u8]] = &[
    b"node_modules",
    b"bower_components",
    b"site-packages",
    b"dist-packages",
    b"vendor",
    b"third_party",
    b"venv",
    b".venv",
    b".tox",
    b".nox",
    b".cargo",
    b".m2",
    b".gradle",
    b".npm",
    b".yarn",
    b".pnpm-store",
];

/// What the search found.
#[derive(Default)]
pub(super) struct FoundApart {
    /// Files that count as work, sorted by path.
    pub(super) files: Vec<FilePatch>,
    /// Telling lines of the GT in copies that do not count.
    pub(super) residue: BTreeSet<String>,
    /// What was found and what was not searched, in words.
    pub(super) problems: Vec<String>,
}

/// Searches what was left out of the tree below `root`. `patch` is the work in the tree itself; `is_read` says of
/// a name in the root that the audit reads the file as what it is (a trace, the prompt).
pub(super) fn search_apart(
    root: &Path,
    apart: &[Apart],
    gt: &Patch,
    lines: &GtLines,
    patch: &Patch,
    is_read: impl Fn(&str) -> bool,
) -> FoundApart {
    let mut search = Search {
        patch,
        lines,
        reader: Reader::new(lines),
        have: telling_lines(patch, lines),
        own: own_sizes(patch, gt),
        out: FoundApart::default(),
        residue_files: Vec::new(),
    };
    let (mut left, mut unread, mut beyond) = (MAX_BYTES, 0u64, 0u64);
    for place in apart {
        if lines.is_empty() || place.path.to_str().is_ok_and(&is_read) {
            continue;
        }
        let (files, problems) = place.files(root);
        search.out.problems.extend(problems);
        for file in files {
            let Some(rest) = left.checked_sub(file.size) else {
                beyond += 1;
                continue;
            };
            left = rest;
            match search.reader.read(&file.disk, file.size) {
                Ok(seen) => search.take(place.kind, &file, seen),
                Err(_) => unread += 1,
            }
        }
    }
    search.finish(unread, beyond)
}

struct Search<'a> {
    patch: &'a Patch,
    lines: &'a GtLines,
    reader: Reader<'a>,
    /// Telling lines that the work has.
    have: BTreeSet<String>,
    /// For each file of the GT, how many lines that tell something the agent wrote in its place.
    own: Vec<usize>,
    out: FoundApart,
    residue_files: Vec<BString>,
}

impl Search<'_> {
    fn take(&mut self, kind: ApartKind, file: &ApartFile, seen: Seen) {
        let new = seen.found.iter().filter(|line| !self.have.contains(*line));
        if new.count() < MIN_NEW_LINES {
            return;
        }
        let Some(copied) = self.lines.copy_of(&seen.found) else {
            return;
        };
        let counts = match kind {
            ApartKind::Git | ApartKind::EvaluationDir => true,
            ApartKind::EvaluationFile => {
                if !seen.is_nothing_else(self.lines) {
                    return;
                }
                true
            }
            ApartKind::Ignored => !is_of_a_package(&file.path),
            ApartKind::Submodule => false,
        };
        if counts && (kind != ApartKind::EvaluationDir || self.is_moved(copied, file)) {
            self.have.extend(seen.found.iter().cloned());
            let whole = seen.whole(file.path.as_bstr(), &file.disk);
            self.out.files.push(whole);
        } else {
            self.out.residue.extend(seen.found);
            self.residue_files.push(file.path.clone());
        }
    }

    /// In a folder that evaluators use too: the agent has no solution of its own in the place of that GT file, or
    /// the work speaks of the folder.
    fn is_moved(&self, copied: usize, file: &ApartFile) -> bool {
        let own = self.own.get(copied).copied().unwrap_or(0);
        // An ignore file names the root of it, whoever reads code from there a place in it.
        let folder = file.path.rsplit_once_str("/").map(|(folder, _)| folder);
        let place = folder.filter(|folder| folder.contains(&b'/'));
        let place = place.unwrap_or(&file.path);
        own * 2 < self.lines.size(copied) || {
            let mut added = self.patch.files.iter().flat_map(FilePatch::added);
            added.any(|line| line.text.contains_str(place))
        }
    }

    fn finish(mut self, unread: u64, beyond: u64) -> FoundApart {
        let out = &mut self.out;
        out.files.sort_by(|a, b| a.path().cmp(b.path()));
        if let Some(first) = out.files.first() {
            out.problems.push(format!(
                "{} files in places that are no part of a work tree (git directories, folders of tools, ignored names) \
                 hold what the ground truth adds (first: {})",
                out.files.len(),
                first.path()
            ));
        }
        if let Some(first) = self.residue_files.first() {
            out.problems.push(format!(
                "{} files that are not counted as work (packages, submodules, copies beside the agent's own \
                 solution) hold lines of the ground truth (first: {first})",
                self.residue_files.len()
            ));
        }
        if unread > 0 {
            let what = "files outside of the compared work tree could not be read";
            out.problems.push(format!("{unread} {what}"));
        }
        if beyond > 0 {
            out.problems.push(format!(
                "{beyond} files outside of the compared work tree were not searched: they hold more than {} GiB",
                MAX_BYTES >> 30
            ));
        }
        self.out
    }
}

fn is_of_a_package(path: &BString) -> bool {
    let mut parts = path.split(|b| *b == b'/');
    parts.any(|part| PACKAGE_DIRS.contains(&part)) || path.contains_str("pkg/mod/")
}

fn telling_lines(patch: &Patch, lines: &GtLines) -> BTreeSet<String> {
    let added = patch.files.iter().flat_map(FilePatch::added);
    added
        .map(squeezed_raw)
        .filter(|line| lines.is_telling(line))
        .collect()
}

/// For each file of the GT, how many distinct lines that tell something the patch adds at its path.
fn own_sizes(patch: &Patch, gt: &Patch) -> Vec<usize> {
    let by_path: BTreeMap<&BString, &FilePatch> =
        patch.files.iter().map(|f| (f.path(), f)).collect();
    let size = |file: &&FilePatch| {
        let lines: BTreeSet<String> = file
            .added()
            .map(squeezed_raw)
            .filter(|line| !is_trivial(line))
            .collect();
        lines.len()
    };
    let sizes = gt.files.iter().map(|file| by_path.get(file.path()));
    sizes.map(|file| file.map_or(0, &size)).collect()
}
