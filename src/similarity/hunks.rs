//! Exact change blocks: H.
//!
//! The rule of a well-known study of leaked submissions counts hunks that are equal, character by
//! character, with comment lines left out. Taken literally it depends on how many lines of context
//! the diff was made with, and on a missing final newline; so it is applied here to change blocks:
//! removed and added lines between two unchanged ones, in comparison text, blank and comment lines
//! left out. A block counts if an added line of it is distinctive.

use super::prepare::PreparedLine;
use crate::patch::model::LineKind;

/// A change block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// Equal for equal blocks: the removed lines, then the added ones.
    pub key: String,
    /// Added lines of the block, as places in the hunk.
    pub added: Vec<usize>,
}

/// The change blocks of a hunk that hold an added line with code.
pub fn blocks(hunk: &[PreparedLine<'_>]) -> Vec<Block> {
    let mut out = Vec::new();
    let mut start = 0;
    for group in hunk.chunk_by(|a, b| is_context(a) == is_context(b)) {
        let from = start;
        start += group.len();
        if group.first().is_some_and(is_context) {
            continue;
        }
        let mut key = String::new();
        let mut added = Vec::new();
        for (kind, sign) in [(LineKind::Removed, '-'), (LineKind::Added, '+')] {
            for (at, line) in group.iter().enumerate() {
                if line.kind() == kind && !line.text.is_empty() {
                    key.push(sign);
                    key.push_str(&line.text);
                    key.push('\n');
                    if kind == LineKind::Added {
                        added.push(from + at);
                    }
                }
            }
        }
        if !added.is_empty() {
            out.push(Block { key, added });
        }
    }
    out
}

fn is_context(line: &PreparedLine<'_>) -> bool {
    line.kind() == LineKind::Context
}

#[cfg(test)]
mod tests {
    use super::super::prepare::{prepare, tests::file};
    use super::*;

    #[test]
    fn context_comments_and_blanks_make_no_difference() {
        let keys = |lines: &[&str]| {
            let file = file("a.py", lines);
            let hunks = prepare(&file);
            blocks(&hunks[0])
                .into_iter()
                .map(|b| b.key)
                .collect::<Vec<_>>()
        };
        let wide = keys(&[
            " a",
            " b",
            "-old()",
            "+new( 1 )",
            "+# why",
            " c",
            "+x = 2",
            "-gone",
            " d",
        ]);
        let tight = keys(&["-old()", "+", "+new(1)", " c", "-gone", "+x=2"]);
        assert_eq!(wide, ["-old()\n+new(1)\n", "-gone\n+x=2\n"]);
        assert_eq!(wide, tight);
        assert!(keys(&["-old()", " b", "+# c"]).is_empty());
    }
}
