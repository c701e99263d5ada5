//! Blocks of consecutive lines that the GT and a patch both add, for people to look at.
//!
//! "Consecutive" is meant as for runs (`runs.rs`): among the added lines of a file that hold code; blank
//! and comment lines between them do not interrupt a block. Each GT file is covered from its first line on by
//! the longest block that begins there, wherever in the patch it stands; of equally long ones, the one in the
//! file's partner, then the first. A block counts when it holds a distinctive line.

use std::collections::{BTreeSet, HashMap};

use bstr::ByteSlice;
use serde::Serialize;

use super::compare::Comparison;
use super::prepare::prepare;
use super::reference::added_code;
use crate::patch::model::{FilePatch, Patch};

/// Places of one line in the patch that are tried as the begin of a block. More can only be a line that
/// says nothing, or a patch made to take long.
const MAX_PLACES: usize = 256;

/// A line of a block.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BlockLine {
    /// 1-based line in the new version of the GT file.
    pub gt_line: u32,
    /// Its text there.
    pub gt_text: String,
    /// 1-based line in the new version of the patch's file.
    pub line: u32,
    /// Its text there, which may differ in white space and comments.
    pub text: String,
    /// The line is distinctive.
    pub distinctive: bool,
}

/// Lines that both have, one after the other.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Block {
    /// The GT file.
    pub gt_path: String,
    /// The file of the patch.
    pub path: String,
    /// The lines.
    pub lines: Vec<BlockLine>,
}

/// An added line with code.
struct Line {
    key: String,
    number: u32,
    raw: String,
}

struct File {
    path: String,
    lines: Vec<Line>,
}

fn file(patch: &FilePatch) -> File {
    let hunks = prepare(patch);
    let lines = added_code(&hunks).map(|line| Line {
        key: line.text.clone(),
        number: line.number,
        raw: line.line.text.to_str_lossy().into_owned(),
    });
    File {
        path: patch.path().to_string(),
        lines: lines.collect(),
    }
}

/// The matching blocks of the hand-written files, in the order of the GT.
pub fn blocks(gt: &Patch, patch: &Patch, comparison: &Comparison) -> Vec<Block> {
    let files: Vec<File> = patch.files.iter().map(file).collect();
    let mut places: HashMap<&str, Vec<(usize, usize)>> = HashMap::new();
    for (at, file) in files.iter().enumerate() {
        for (index, line) in file.lines.iter().enumerate() {
            let known = places.entry(line.key.as_str()).or_default();
            if known.len() < MAX_PLACES {
                known.push((at, index));
            }
        }
    }
    let distinctive: BTreeSet<&str> = comparison
        .lines
        .iter()
        .map(|l| l.squeezed.as_str())
        .collect();
    let mut found = Vec::new();
    for (gt_file, measured) in gt.files.iter().zip(&comparison.similarity.files) {
        if !measured.hand_written {
            continue;
        }
        let partner = measured.paired_with.as_deref().unwrap_or(&measured.path);
        let partner = files.iter().position(|f| f.path == partner);
        let gt_file = file(gt_file);
        let mut at = 0;
        while let Some(line) = gt_file.lines.get(at) {
            let rest = gt_file.lines.get(at..).unwrap_or_default();
            let candidates = places.get(line.key.as_str()).into_iter().flatten();
            let best = candidates
                .filter_map(|(file, start)| {
                    let there = files.get(*file)?.lines.get(*start..)?;
                    let same = rest.iter().zip(there).take_while(|(a, b)| a.key == b.key);
                    Some((same.count(), *file, *start))
                })
                // Of equals, the partner and then the first.
                .max_by_key(|(length, file, start)| {
                    let first = (usize::MAX - file, usize::MAX - start);
                    (*length, Some(*file) == partner, first)
                });
            let Some((length, file, start)) = best.filter(|(length, ..)| *length > 0) else {
                at += 1;
                continue;
            };
            let there = files.get(file);
            let lines: Vec<BlockLine> = rest
                .iter()
                .zip(there.and_then(|f| f.lines.get(start..)).unwrap_or_default())
                .take(length)
                .map(|(gt, own)| BlockLine {
                    gt_line: gt.number,
                    gt_text: gt.raw.clone(),
                    line: own.number,
                    text: own.raw.clone(),
                    distinctive: distinctive.contains(gt.key.as_str()),
                })
                .collect();
            if lines.iter().any(|line| line.distinctive) {
                found.push(Block {
                    gt_path: gt_file.path.clone(),
                    path: there.map(|f| f.path.clone()).unwrap_or_default(),
                    lines,
                });
            }
            at += length;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::compare::{CompareInputs, compare};
    use super::super::prepare::tests::{file, patch};
    use super::super::starter::NoStarter;
    use super::*;

    #[test]
    fn blocks_are_the_longest_wherever_they_stand() {
        let gt = patch(vec![file(
            "a.py",
            &[
                "+alpha = compute(1)",
                "+beta = compute(2)",
                "+gamma = compute(3)",
                "+only_in_gt = compute(4)",
                "+delta = compute(5)",
            ],
        )]);
        let own = patch(vec![
            file(
                "a.py",
                &[
                    "+alpha = compute(1)",
                    "+mine = other(9)",
                    "+delta=compute( 5 )",
                ],
            ),
            file(
                "b.py",
                &[
                    "+alpha = compute(1)",
                    "+",
                    "+beta = compute(2)  # why",
                    "+gamma = compute(3)",
                ],
            ),
        ]);
        let comparison = compare(&CompareInputs::new(&gt, Some(&own), &NoStarter));
        let found: Vec<_> = blocks(&gt, &own, &comparison)
            .into_iter()
            .map(|b| {
                let lines: Vec<_> = b.lines.iter().map(|l| (l.gt_line, l.line)).collect();
                (b.path, lines)
            })
            .collect();
        assert_eq!(
            found,
            [
                ("b.py".to_owned(), vec![(1, 1), (2, 3), (3, 4)]),
                ("a.py".to_owned(), vec![(5, 3)]),
            ]
        );
        let none = patch(vec![]);
        assert!(
            blocks(
                &gt,
                &none,
                &compare(&CompareInputs::new(&gt, Some(&none), &NoStarter))
            )
            .is_empty()
        );
    }
}
