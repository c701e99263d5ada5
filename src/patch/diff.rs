//! The difference of two contents as hunks, as near to what `git diff` prints as a library allows: Myers'
//! algorithm with git's heuristics, hunks slid by git's indent heuristic, three lines of context.
//!
//! A difference is not unique, and git's is not reproduced bit by bit: where the GT's own hunks turn the base
//! into the agent's file, the caller takes those instead (see `worktree`).

use std::ops::Range;

use bstr::ByteSlice;
use imara_diff::{Algorithm, Diff, InternedInput};
use memchr::memchr;

use super::model::{Hunk, Line, LineKind};

/// Lines of context around a change, as in git.
const CONTEXT: u32 = 3;

/// Bytes in which a NUL makes a content binary, as in git (`FIRST_FEW_BYTES`).
const BINARY_WINDOW: usize = 8000;

/// Most lines, both sides together, that are searched for a short difference. Beyond, everything between the
/// common start and the common end counts as replaced.
pub const MAX_DIFF_LINES: usize = 4_000_000;

/// True when git would call the content binary: a NUL among its first 8,000 bytes.
pub fn is_binary(content: &[u8]) -> bool {
    let window = content.get(..BINARY_WINDOW).unwrap_or(content);
    memchr(0, window).is_some()
}

/// The hunks that turn `old` into `new`; none when they are equal.
pub fn diff(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    if old == new {
        return Vec::new();
    }
    let old: Vec<&[u8]> = old.lines_with_terminator().collect();
    let new: Vec<&[u8]> = new.lines_with_terminator().collect();
    let changes = if old.len() + new.len() > MAX_DIFF_LINES {
        vec![replaced_middle(&old, &new)]
    } else {
        shortest(&old, &new)
    };
    hunks(&old, &new, &changes)
}

/// A run of lines of the old version and what stands in its place, 0-based.
struct Change {
    old: Range<u32>,
    new: Range<u32>,
}

fn shortest(old: &[&[u8]], new: &[&[u8]]) -> Vec<Change> {
    let mut input = InternedInput::default();
    input.update_before(old.iter().copied());
    input.update_after(new.iter().copied());
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let changes = diff.hunks().map(|h| Change {
        old: h.before,
        new: h.after,
    });
    changes.collect()
}

fn replaced_middle(old: &[&[u8]], new: &[&[u8]]) -> Change {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - start;
    let tail = old.iter().rev().zip(new.iter().rev());
    let end = tail.take(rest).take_while(|(a, b)| a == b).count();
    Change {
        old: small(start)..small(old.len() - end),
        new: small(start)..small(new.len() - end),
    }
}

fn small(n: usize) -> u32 {
    u32::try_from(n).unwrap_or(u32::MAX)
}

/// Groups changes whose context touches and writes their lines.
fn hunks(old: &[&[u8]], new: &[&[u8]], changes: &[Change]) -> Vec<Hunk> {
    let mut out = Vec::new();
    let mut rest = changes;
    while let Some(first) = rest.first() {
        let together = rest
            .windows(2)
            .take_while(|pair| match pair {
                [a, b] => b.old.start.saturating_sub(a.old.end) <= 2 * CONTEXT,
                _ => false,
            })
            .count()
            + 1;
        let (group, after) = rest.split_at_checked(together).unwrap_or((rest, &[]));
        rest = after;
        out.push(hunk(old, new, first, group));
    }
    out
}

fn hunk(old: &[&[u8]], new: &[&[u8]], first: &Change, group: &[Change]) -> Hunk {
    let lead = CONTEXT.min(first.old.start).min(first.new.start);
    let old_from = first.old.start - lead;
    let new_from = first.new.start - lead;
    let mut lines = Vec::new();
    let mut at = old_from;
    for change in group {
        push(&mut lines, LineKind::Context, old, at..change.old.start);
        push(&mut lines, LineKind::Removed, old, change.old.clone());
        push(&mut lines, LineKind::Added, new, change.new.clone());
        at = change.old.end;
    }
    let end = at.saturating_add(CONTEXT).min(small(old.len()));
    push(&mut lines, LineKind::Context, old, at..end);
    // A side without lines is named by the line before it.
    let start = |from: u32, other: LineKind| {
        let empty = lines.iter().all(|l: &Line| l.kind == other);
        if empty { from } else { from + 1 }
    };
    Hunk {
        old_start: start(old_from, LineKind::Added),
        new_start: start(new_from, LineKind::Removed),
        lines,
    }
}

fn push(out: &mut Vec<Line>, kind: LineKind, from: &[&[u8]], range: Range<u32>) {
    let range = range.start as usize..range.end as usize;
    for line in from.get(range).unwrap_or_default() {
        let text = line.strip_suffix(b"\n");
        out.push(Line {
            kind,
            text: text.unwrap_or(line).into(),
            no_newline: text.is_none(),
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::apply::{apply, reverse};
    use super::super::model::{FilePatch, FileStatus};
    use super::*;

    fn modified(hunks: Vec<Hunk>) -> FilePatch {
        FilePatch {
            old_path: Some("x".into()),
            new_path: Some("x".into()),
            status: FileStatus::Modified,
            binary: false,
            hunks,
        }
    }

    fn shape(old: &str, new: &str) -> Vec<(u32, u32, String)> {
        let mark = |l: &Line| match l.kind {
            LineKind::Context => ' ',
            LineKind::Added => '+',
            LineKind::Removed => '-',
        };
        let hunks = diff(old.as_bytes(), new.as_bytes());
        hunks
            .iter()
            .map(|h| (h.old_start, h.new_start, h.lines.iter().map(mark).collect()))
            .collect()
    }

    #[test]
    fn numbers_and_context_are_those_of_git() {
        let ten = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
        for (old, new, want) in [
            ("", "a\n", vec![(0, 1, "+")]),
            ("a\n", "", vec![(1, 0, "-")]),
            ("a", "a\n", vec![(1, 1, "-+")]),
            (ten, &ten.replace("5\n", "five\n"), vec![(2, 2, "   -+   ")]),
            (ten, &ten.replace("5\n", ""), vec![(2, 2, "   -   ")]),
            (
                ten,
                &ten.replace("1\n2", "0\n1\n2").replace("10\n", "ten\n"),
                vec![(1, 1, "+   "), (7, 8, "   -+")],
            ),
            (
                ten,
                &ten.replace("2\n", "two\n").replace("9\n", "nine\n"),
                vec![(1, 1, " -+      -+ ")],
            ),
        ] {
            let want: Vec<_> = want
                .into_iter()
                .map(|(o, n, l)| (o, n, l.to_owned()))
                .collect();
            assert_eq!(shape(old, new), want, "{old:?} {new:?}");
        }
    }

    #[test]
    fn binary_is_a_nul_near_the_start() {
        assert!(is_binary(b"\x89PNG\0"));
        assert!(!is_binary(b"text"));
        let mut late = vec![b'a'; BINARY_WINDOW];
        late.push(0);
        assert!(!is_binary(&late));
    }

    #[test]
    fn huge_contents_are_compared_at_their_ends_only() {
        let old = "x\n".repeat(MAX_DIFF_LINES / 2 + 1);
        let new = format!(
            "{}y\nz\n{}",
            "x\n".repeat(10),
            "x\n".repeat(MAX_DIFF_LINES / 2)
        );
        let hunks = diff(old.as_bytes(), new.as_bytes());
        assert_eq!(hunks.len(), 1);
        let got = apply(&modified(hunks), old.as_bytes()).unwrap();
        assert!(got == new.as_bytes());
    }

    fn text() -> impl Strategy<Value = Vec<u8>> {
        let line = prop_oneof![
            Just("\n".to_owned()),
            Just("}\n".to_owned()),
            Just("    return x\n".to_owned()),
            Just("\tif a {\n".to_owned()),
            "[a-c]{1,2}\n",
        ];
        (proptest::collection::vec(line, 0..60), any::<bool>()).prop_map(|(lines, cut)| {
            let mut text = lines.concat().into_bytes();
            if cut {
                text.pop();
            }
            text
        })
    }

    proptest! {
        #[test]
        fn a_difference_applies_both_ways(old in text(), new in text()) {
            let change = modified(diff(&old, &new));
            prop_assert_eq!(apply(&change, &old).unwrap(), new.clone());
            prop_assert_eq!(apply(&reverse(&change), &new).unwrap(), old);
        }
    }
}
