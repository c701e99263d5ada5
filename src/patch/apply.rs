//! Applying the change of one file to the bytes of its base, exactly: no fuzz, every context line must match.
//!
//! As in `git apply`, a hunk may stand at another line than its header says; the nearest place where all of
//! its old lines stand, behind the hunk before it, is taken. The work is bounded ([`MAX_COMPARISONS`]), since
//! a file and a hunk of many equal lines could otherwise make it quadratic.

use std::collections::HashMap;

use bstr::{BString, ByteSlice};

use super::model::{FilePatch, FileStatus, Hunk, Line, LineKind};

/// Most line comparisons spent on one file.
pub const MAX_COMPARISONS: u64 = 100_000_000;

/// Why a change does not apply.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ApplyError {
    /// The patch does not hold the content.
    #[error("the patch does not hold the content of this binary file")]
    Binary,
    /// The old lines of a hunk are not in the base.
    #[error("hunk {0} does not match the base")]
    Mismatch(usize),
    /// A deletion leaves lines behind, or a new file has old lines.
    #[error("the file is not what the patch deletes or creates")]
    NotWhole,
    /// Finding the place of a hunk takes more than [`MAX_COMPARISONS`].
    #[error("finding the place of hunk {0} takes too long")]
    TooCostly(usize),
}

/// Applies a change to the content of its old path (empty for a new file) and returns the new content
/// (empty for a deleted file).
pub fn apply(patch: &FilePatch, base: &[u8]) -> Result<Vec<u8>, ApplyError> {
    if patch.binary {
        return Err(ApplyError::Binary);
    }
    if patch.status == FileStatus::Added && !base.is_empty() {
        return Err(ApplyError::NotWhole);
    }
    let lines = Numbered::new(base);
    let mut out = Vec::with_capacity(base.len());
    // Lines of the base already written or removed.
    let mut done = 0usize;
    // How far the last hunk stood from where its header says.
    let mut shift = 0i64;
    let mut left = MAX_COMPARISONS;
    for (index, hunk) in patch.hunks.iter().enumerate() {
        let number = index + 1;
        let old = old_lines(hunk);
        let numbers: Vec<_> = old.iter().map(|l| lines.number(l)).collect();
        let stated = stated_place(hunk, old.len());
        let wanted = stated.map_or(done, |s| clamp(s, shift));
        let at = lines
            .find(&numbers, wanted, done, &mut left)
            .map_err(|Exhausted| ApplyError::TooCostly(number))?
            .ok_or(ApplyError::Mismatch(number))?;
        if let Some(stated) = stated {
            shift = distance(at, stated);
        }
        lines.copy(done..at, &mut out);
        for line in hunk.lines.iter().filter(|l| l.kind != LineKind::Removed) {
            push_line(&mut out, line);
        }
        done = at + old.len();
    }
    lines.copy(done..lines.len(), &mut out);
    if patch.status == FileStatus::Deleted && !out.is_empty() {
        return Err(ApplyError::NotWhole);
    }
    Ok(out)
}

/// The change that undoes another.
pub fn reverse(patch: &FilePatch) -> FilePatch {
    let turn = |line: &Line| Line {
        kind: match line.kind {
            LineKind::Context => LineKind::Context,
            LineKind::Added => LineKind::Removed,
            LineKind::Removed => LineKind::Added,
        },
        ..line.clone()
    };
    FilePatch {
        old_path: patch.new_path.clone(),
        new_path: patch.old_path.clone(),
        status: match patch.status {
            FileStatus::Added => FileStatus::Deleted,
            FileStatus::Deleted => FileStatus::Added,
            other => other,
        },
        binary: patch.binary,
        hunks: patch
            .hunks
            .iter()
            .map(|h| Hunk {
                old_start: h.new_start,
                new_start: h.old_start,
                lines: h.lines.iter().map(turn).collect(),
            })
            .collect(),
    }
}

fn push_line(out: &mut Vec<u8>, line: &Line) {
    out.extend_from_slice(&line.text);
    if !line.no_newline {
        out.push(b'\n');
    }
}

/// The lines that a hunk expects, with their line feeds.
fn old_lines(hunk: &Hunk) -> Vec<BString> {
    let expected = hunk.lines.iter().filter(|l| l.kind != LineKind::Added);
    expected
        .map(|l| {
            let mut text = Vec::with_capacity(l.text.len() + 1);
            push_line(&mut text, l);
            text.into()
        })
        .collect()
}

/// 0-based place that the header names; `None` where it says nothing (`*** Begin Patch`). A hunk without
/// old lines names the line *before* its place.
fn stated_place(hunk: &Hunk, old: usize) -> Option<usize> {
    let start = usize::try_from(hunk.old_start).ok()?;
    match old {
        0 => Some(start),
        _ => start.checked_sub(1),
    }
}

fn clamp(place: usize, shift: i64) -> usize {
    let place = i64::try_from(place).unwrap_or(i64::MAX);
    usize::try_from(place.saturating_add(shift).max(0)).unwrap_or(usize::MAX)
}

fn distance(at: usize, stated: usize) -> i64 {
    let signed = |n: usize| i64::try_from(n).unwrap_or(i64::MAX);
    signed(at).saturating_sub(signed(stated))
}

struct Exhausted;

/// A text cut into lines, each with a number that is equal for equal lines.
struct Numbered<'a> {
    lines: Vec<&'a [u8]>,
    numbers: Vec<u32>,
    known: HashMap<&'a [u8], u32>,
}

/// The number of a line that the base does not hold.
const UNKNOWN: u32 = u32::MAX;

impl<'a> Numbered<'a> {
    fn new(text: &'a [u8]) -> Self {
        let lines: Vec<&[u8]> = text.lines_with_terminator().collect();
        let mut known = HashMap::new();
        let mut numbers = Vec::with_capacity(lines.len());
        for line in &lines {
            let next = u32::try_from(known.len()).unwrap_or(UNKNOWN);
            numbers.push(*known.entry(*line).or_insert(next));
        }
        Self {
            lines,
            numbers,
            known,
        }
    }

    fn len(&self) -> usize {
        self.lines.len()
    }

    fn number(&self, line: &BString) -> u32 {
        self.known.get(line.as_slice()).copied().unwrap_or(UNKNOWN)
    }

    fn copy(&self, range: std::ops::Range<usize>, out: &mut Vec<u8>) {
        for line in self.lines.get(range).unwrap_or_default() {
            out.extend_from_slice(line);
        }
    }

    /// The place nearest to `wanted`, not before `from`, where all of `old` stands.
    fn find(
        &self,
        old: &[u32],
        wanted: usize,
        from: usize,
        left: &mut u64,
    ) -> Result<Option<usize>, Exhausted> {
        let Some(last) = self.len().checked_sub(old.len()).filter(|l| *l >= from) else {
            return Ok(None);
        };
        if old.contains(&UNKNOWN) {
            return Ok(None);
        }
        let wanted = wanted.clamp(from, last);
        if old.is_empty() {
            return Ok(Some(wanted));
        }
        let furthest = (wanted - from).max(last - wanted);
        for step in 0..=furthest {
            let before = wanted.checked_sub(step).filter(|p| *p >= from);
            let after = wanted.checked_add(step).filter(|p| *p <= last && step > 0);
            for place in before.into_iter().chain(after) {
                if self.matches(place, old, left)? {
                    return Ok(Some(place));
                }
            }
        }
        Ok(None)
    }

    fn matches(&self, place: usize, old: &[u32], left: &mut u64) -> Result<bool, Exhausted> {
        let here = self.numbers.get(place..).unwrap_or_default();
        let equal = old.iter().zip(here).take_while(|(a, b)| a == b).count();
        let cost = u64::try_from(equal).unwrap_or(u64::MAX).saturating_add(1);
        *left = left.checked_sub(cost).ok_or(Exhausted)?;
        Ok(equal == old.len())
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::*;

    fn one(text: &str) -> FilePatch {
        parse(text.as_bytes()).files.remove(0)
    }

    #[test]
    fn applies_exactly_or_not_at_all() {
        let change = "--- a/x\n+++ b/x\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n";
        for (base, want) in [
            ("a\nb\nc\nd\ne\n", Ok("a\nb\nC\nd\ne\n")),
            ("0\n1\na\nb\nc\nd\ne\n", Ok("0\n1\na\nb\nC\nd\ne\n")),
            ("b\nc\nd\n", Ok("b\nC\nd\n")),
            ("a\nb\nC\nd\ne\n", Err(ApplyError::Mismatch(1))),
            ("a\nb\nc\nd", Err(ApplyError::Mismatch(1))),
            ("", Err(ApplyError::Mismatch(1))),
        ] {
            let got = apply(&one(change), base.as_bytes());
            assert_eq!(got, want.map(|w| w.as_bytes().to_vec()), "{base:?}");
        }
    }

    #[test]
    fn the_nearest_place_is_taken_and_later_hunks_move_along() {
        let change = one("--- a/x\n+++ b/x\n@@ -5 +5 @@\n-x\n+y\n@@ -7 +7 @@\n-x\n+z\n");
        let base = "x\n1\n2\n3\n4\n5\nx\n7\nx\n";
        let got = apply(&change, base.as_bytes()).unwrap();
        assert_eq!(got.as_bstr(), "x\n1\n2\n3\n4\n5\ny\n7\nz\n");
    }

    #[test]
    fn whole_files() {
        let added = one(
            "diff --git a/x b/x\nnew file mode 100644\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n\\ No newline at end of file\n",
        );
        assert_eq!(apply(&added, b"").unwrap(), b"a");
        assert_eq!(apply(&added, b"z"), Err(ApplyError::NotWhole));
        let deleted = reverse(&added);
        assert_eq!(apply(&deleted, b"a").unwrap(), b"");
        assert_eq!(apply(&deleted, b"a\n"), Err(ApplyError::Mismatch(1)));
    }

    #[test]
    fn an_unnumbered_hunk_is_looked_for() {
        let change = one("*** Begin Patch\n*** Update File: x\n@@\n b\n-c\n+C\n*** End Patch\n");
        assert_eq!(apply(&change, b"a\nb\nc\n").unwrap(), b"a\nb\nC\n");
    }

    #[test]
    fn equal_lines_do_not_make_it_quadratic() {
        let base = "x\n".repeat(60_000);
        let mut hunk = Hunk {
            old_start: 1,
            ..Hunk::default()
        };
        let line = |text: &str| Line {
            kind: LineKind::Context,
            text: text.into(),
            no_newline: false,
        };
        hunk.lines = vec![line("x"); 30_000];
        hunk.lines.push(line("y"));
        let mut change = one("--- a/x\n+++ b/x\n@@ -1 +1 @@\n-x\n+y\n");
        change.hunks = vec![hunk];
        // `y` is nowhere in the base, so no place is tried.
        assert_eq!(
            apply(&change, base.as_bytes()),
            Err(ApplyError::Mismatch(1))
        );
        let base = format!("y\n{base}");
        assert_eq!(
            apply(&change, base.as_bytes()),
            Err(ApplyError::TooCostly(1))
        );
    }
}
