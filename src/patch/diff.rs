//! The difference of two contents as hunks, as near to what `git diff` prints as a library allows: Myers'
//! algorithm with git's heuristics, hunks slid by git's indent heuristic, three lines of context.
//!
//! A difference is not unique, and git's is not reproduced bit by bit: where the GT's own hunks turn the base
//! into the agent's file, the caller takes those instead (see `worktree`).

use std::collections::HashMap;
use std::ops::Range;

use bstr::ByteSlice;
use imara_diff::{Algorithm, Diff, InternedInput};
use memchr::memchr;

use super::model::{Hunk, Line, LineKind};

/// Lines of context around a change, as in git.
const CONTEXT: u32 = 3;

/// Bytes in which a NUL makes a content binary, as in git (`FIRST_FEW_BYTES`).
const BINARY_WINDOW: usize = 8000;

/// Lines, both sides together, up to which the shortest difference is looked for directly. Longer stretches are
/// first cut at lines that stand exactly once on each side.
const DIRECT_LINES: usize = 60_000;

/// Lines, both sides together, for which the shortest difference is always looked for.
const FREE_LINES: usize = 200;

/// Effort for one work tree, in squares of the lines compared. Contents made to be hard take time that grows
/// with the square of their length; this is about a minute's worth. It is never reached by real changes.
const MAX_EFFORT: u64 = 100_000_000_000;

/// How much work is left for finding short differences, and whether it ran out.
#[derive(Debug)]
pub struct Effort {
    left: u64,
    /// Some stretch was taken as replaced as a whole, since finding out more would take too long.
    pub coarse: bool,
}

impl Default for Effort {
    fn default() -> Self {
        Self {
            left: MAX_EFFORT,
            coarse: false,
        }
    }
}

impl Effort {
    fn allows(&mut self, lines: usize) -> bool {
        if lines <= FREE_LINES {
            return true;
        }
        let lines = u64::try_from(lines).unwrap_or(u64::MAX);
        match self.left.checked_sub(lines.saturating_mul(lines)) {
            Some(left) => {
                self.left = left;
                true
            }
            None => false,
        }
    }
}

/// True when git would call the content binary: a NUL among its first 8,000 bytes.
pub fn is_binary(content: &[u8]) -> bool {
    let window = content.get(..BINARY_WINDOW).unwrap_or(content);
    memchr(0, window).is_some()
}

/// The hunks that turn `old` into `new`; none when they are equal.
pub fn diff(old: &[u8], new: &[u8]) -> Vec<Hunk> {
    diff_within(old, new, &mut Effort::default())
}

/// The same, with the effort of several differences bounded together.
pub fn diff_within(old: &[u8], new: &[u8], effort: &mut Effort) -> Vec<Hunk> {
    if old == new {
        return Vec::new();
    }
    let old: Vec<&[u8]> = old.lines_with_terminator().collect();
    let new: Vec<&[u8]> = new.lines_with_terminator().collect();
    let middle = changed_middle(&old, &new);
    let mut changes = Vec::new();
    let lines = middle.lines();
    if lines <= DIRECT_LINES && effort.allows(lines) {
        let whole = Stretch {
            old: 0..old.len(),
            new: 0..new.len(),
        };
        shortest(&old, &new, &whole, &mut changes);
    } else {
        for stretch in cut_at_unique_lines(&old, &new, &middle) {
            let lines = stretch.lines();
            if stretch.old.is_empty() || stretch.new.is_empty() {
                changes.push(stretch.change());
            } else if lines <= DIRECT_LINES && effort.allows(lines) {
                shortest(&old, &new, &stretch, &mut changes);
            } else {
                effort.coarse = true;
                changes.push(stretch.change());
            }
        }
    }
    hunks(&old, &new, &changes)
}

/// A run of lines of the old version and what stands in its place, 0-based.
#[derive(Debug, Clone)]
struct Change {
    old: Range<u32>,
    new: Range<u32>,
}

/// Lines of both sides that are compared with each other.
#[derive(Debug, Clone)]
struct Stretch {
    old: Range<usize>,
    new: Range<usize>,
}

impl Stretch {
    fn lines(&self) -> usize {
        self.old.len() + self.new.len()
    }

    /// All of it replaced.
    fn change(&self) -> Change {
        Change {
            old: small(self.old.start)..small(self.old.end),
            new: small(self.new.start)..small(self.new.end),
        }
    }
}

/// What is between the common start and the common end.
fn changed_middle(old: &[&[u8]], new: &[&[u8]]) -> Stretch {
    let start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - start;
    let tail = old.iter().rev().zip(new.iter().rev());
    let end = tail.take(rest).take_while(|(a, b)| a == b).count();
    Stretch {
        old: start..old.len() - end,
        new: start..new.len() - end,
    }
}

fn shortest(old: &[&[u8]], new: &[&[u8]], within: &Stretch, out: &mut Vec<Change>) {
    let mut input: InternedInput<&[u8]> = InternedInput::default();
    let part = old.get(within.old.clone()).unwrap_or_default();
    input.update_before(part.iter().copied());
    let part = new.get(within.new.clone()).unwrap_or_default();
    input.update_after(part.iter().copied());
    let mut diff = Diff::compute(Algorithm::Myers, &input);
    diff.postprocess_lines(&input);
    let (old_at, new_at) = (small(within.old.start), small(within.new.start));
    out.extend(diff.hunks().map(|h| Change {
        old: h.before.start + old_at..h.before.end + old_at,
        new: h.after.start + new_at..h.after.end + new_at,
    }));
}

/// Cuts a stretch at lines that stand exactly once on each side, as many of them as keep their order (the
/// longest increasing subsequence, as in patience diff). What is left between them is returned in order.
fn cut_at_unique_lines(old: &[&[u8]], new: &[&[u8]], within: &Stretch) -> Vec<Stretch> {
    let mut out = Vec::new();
    let mut at = (within.old.start, within.new.start);
    let anchors = increasing(unique_pairs(old, new, within));
    let end = (within.old.end, within.new.end);
    for (old_line, new_line) in anchors.into_iter().chain([end]) {
        let stretch = Stretch {
            old: at.0..old_line,
            new: at.1..new_line,
        };
        if stretch.lines() > 0 {
            out.push(stretch);
        }
        at = (old_line + 1, new_line + 1);
    }
    out
}

/// Places of the lines that stand exactly once on each side, in the order of the old one.
fn unique_pairs(old: &[&[u8]], new: &[&[u8]], within: &Stretch) -> Vec<(usize, usize)> {
    // Line to its only place, or none when there are several.
    fn places<'a>(all: &[&'a [u8]], range: &Range<usize>) -> HashMap<&'a [u8], Option<usize>> {
        let mut found = HashMap::new();
        let part = all.get(range.clone()).unwrap_or_default();
        for (place, line) in (range.start..).zip(part) {
            let entry = found.entry(*line).or_insert(Some(place));
            if *entry != Some(place) {
                *entry = None;
            }
        }
        found
    }
    let there = places(new, &within.new);
    let mut pairs: Vec<(usize, usize)> = places(old, &within.old)
        .into_iter()
        .filter_map(|(line, place)| Some((place?, (*there.get(line)?)?)))
        .collect();
    pairs.sort_unstable();
    pairs
}

/// The longest subsequence of pairs whose second members increase too.
fn increasing(pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
    // For each length, the pair that ends such a sequence earliest; and for each pair, the one before it.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    let second = |index: usize| pairs.get(index).map(|p| p.1);
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| second(*end) < Some(pair.1));
        before.push(length.checked_sub(1).and_then(|l| ends.get(l).copied()));
        match ends.get_mut(length) {
            Some(end) => *end = index,
            None => ends.push(index),
        }
    }
    let mut found = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(index) = next {
        found.extend(pairs.get(index).copied());
        next = before.get(index).copied().flatten();
    }
    found.reverse();
    found
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
    fn long_contents_are_cut_at_unique_lines() {
        let line = |n: usize| format!("{n}\n");
        let old: String = (0..DIRECT_LINES).map(line).collect();
        let mut lines: Vec<String> = (0..DIRECT_LINES).map(line).collect();
        lines[1] = "first\n".to_owned();
        lines.remove(5000);
        lines.insert(9000, "in between\n".to_owned());
        lines[DIRECT_LINES - 2] = "last\n".to_owned();
        let new = lines.concat();
        let mut effort = Effort::default();
        let hunks = diff_within(old.as_bytes(), new.as_bytes(), &mut effort);
        assert!(!effort.coarse);
        let changed = |h: &Hunk| {
            h.lines
                .iter()
                .filter(|l| l.kind != LineKind::Context)
                .count()
        };
        assert_eq!(hunks.iter().map(changed).collect::<Vec<_>>(), [2, 1, 1, 2]);
        let got = apply(&modified(hunks), old.as_bytes()).unwrap();
        assert!(got == new.as_bytes());
    }

    #[test]
    fn contents_made_to_be_hard_are_replaced_as_a_whole() {
        let old = "x\ny\n".repeat(DIRECT_LINES);
        let new = "y\nz\nx\n".repeat(DIRECT_LINES);
        let mut effort = Effort::default();
        let hunks = diff_within(old.as_bytes(), new.as_bytes(), &mut effort);
        assert!(effort.coarse);
        let got = apply(&modified(hunks), old.as_bytes()).unwrap();
        assert!(got == new.as_bytes());
    }

    #[test]
    fn effort_runs_out() {
        let mut effort = Effort {
            left: 1_000_000,
            coarse: false,
        };
        assert!(effort.allows(900));
        assert!(!effort.allows(900));
        assert!(effort.allows(FREE_LINES));
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

        #[test]
        fn so_does_one_that_was_cut(old in text(), new in text()) {
            let (a, b): (Vec<&[u8]>, Vec<&[u8]>) =
                (old.lines_with_terminator().collect(), new.lines_with_terminator().collect());
            let middle = changed_middle(&a, &b);
            let mut changes = Vec::new();
            for stretch in cut_at_unique_lines(&a, &b, &middle) {
                changes.push(stretch.change());
            }
            let change = modified(hunks(&a, &b, &changes));
            prop_assert_eq!(apply(&change, &old).unwrap(), new);
        }
    }
}
