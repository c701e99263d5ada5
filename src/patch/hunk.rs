//! Hunks: read by the counts in their header and never by what a line looks like.
//!
//! A removed line `-- x` is written `--- x` and an added `++ y` is written `+++ y`: whoever decides by prefix
//! takes them for the header of another file. The counts say how many lines of each side belong to a hunk.

use bstr::ByteSlice;

use super::cursor::{Cursor, trim_cr};
use super::model::{Hunk, Line, LineKind};

/// The numbers in `@@ -old,count +new,count @@`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct HunkHeader {
    /// First line in the old version.
    pub(super) old_start: u32,
    /// Lines of the old version.
    pub(super) old_count: u32,
    /// First line in the new version.
    pub(super) new_start: u32,
    /// Lines of the new version.
    pub(super) new_count: u32,
    /// How many old versions there are: 1, or more in the combined diff of a merge.
    pub(super) parents: usize,
}

/// Most parents of a combined diff that is read (git itself allows no more than a few dozen in practice).
const MAX_PARENTS: usize = 64;

impl HunkHeader {
    /// Reads `@@ -l,s +l,s @@ …`, or `@@@ -l,s -l,s +l,s @@@ …` of a merge (of which the first parent's
    /// numbers are kept).
    pub(super) fn parse(line: &[u8]) -> Option<Self> {
        let marks = line.iter().take_while(|b| **b == b'@').count();
        let parents = marks
            .checked_sub(1)
            .filter(|p| (1..=MAX_PARENTS).contains(p))?;
        let mut rest = line.get(marks..)?;
        let mut old = None;
        for _ in 0..parents {
            let range;
            (range, rest) = parse_range(rest.strip_prefix(b" -")?)?;
            old = old.or(Some(range));
        }
        let (new, rest) = parse_range(rest.strip_prefix(b" +")?)?;
        rest.strip_prefix(b" ")?
            .starts_with(line.get(..marks)?)
            .then_some(())?;
        let old = old?;
        Some(Self {
            old_start: old.0,
            old_count: old.1,
            new_start: new.0,
            new_count: new.1,
            parents,
        })
    }
}

/// `12,3` or `12` (count 1). Numbers beyond 32 bits are no hunk header.
fn parse_range(text: &[u8]) -> Option<((u32, u32), &[u8])> {
    let (start, rest) = parse_number(text)?;
    match rest.strip_prefix(b",") {
        Some(rest) => {
            let (count, rest) = parse_number(rest)?;
            Some(((start, count), rest))
        }
        None => Some(((start, 1), rest)),
    }
}

fn parse_number(text: &[u8]) -> Option<(u32, &[u8])> {
    let digits = text.iter().take_while(|b| b.is_ascii_digit()).count();
    let (number, rest) = text.split_at_checked(digits)?;
    Some((number.to_str().ok()?.parse().ok()?, rest))
}

/// A hunk as far as it could be read.
#[derive(Debug)]
pub(super) struct HunkRead {
    /// Its lines, all of them complete.
    pub(super) hunk: Hunk,
    /// Why reading stopped before the counts were used up: 1-based line and reason.
    pub(super) broken: Option<(u64, String)>,
}

/// Reads the lines of a hunk; the cursor stands behind its header, and afterwards behind its last line.
///
/// With `crlf`, one carriage return at the end of each line belongs to the patch text and not to the file.
pub(super) fn read_hunk(cursor: &mut Cursor<'_>, header: HunkHeader, crlf: bool) -> HunkRead {
    let mut reader = Reader {
        hunk: Hunk {
            old_start: header.old_start,
            new_start: header.new_start,
            lines: Vec::new(),
        },
        old_left: header.old_count,
        new_left: header.new_count,
        parents: header.parents,
        crlf,
    };
    let broken = reader.run(cursor);
    HunkRead {
        hunk: reader.hunk,
        broken,
    }
}

struct Reader {
    hunk: Hunk,
    old_left: u32,
    new_left: u32,
    parents: usize,
    crlf: bool,
}

impl Reader {
    fn run(&mut self, cursor: &mut Cursor<'_>) -> Option<(u64, String)> {
        // Where a header of another file may have been taken for lines of this hunk.
        let mut header_at: Option<(Cursor<'_>, usize)> = None;
        while self.old_left > 0 || self.new_left > 0 {
            let before = *cursor;
            let Some(raw) = cursor.next() else {
                return Some((before.line(), "the text ends inside a hunk".to_owned()));
            };
            let line = if self.crlf { trim_cr(raw) } else { raw };
            if line.starts_with(b"\\") {
                self.mark_no_newline();
                continue;
            }
            if line.starts_with(b"--- ") && cursor.peek().is_some_and(|l| l.starts_with(b"+++ ")) {
                header_at = Some((before, self.hunk.lines.len()));
            }
            if self.take(line).is_none() {
                *cursor = before;
                if let Some((place, len)) = header_at
                    && len + 2 == self.hunk.lines.len()
                {
                    self.hunk.lines.truncate(len);
                    *cursor = place;
                }
                let what = "the hunk has other lines than its header says";
                return Some((cursor.line(), what.to_owned()));
            }
        }
        if cursor.peek().is_some_and(|l| l.starts_with(b"\\ ")) {
            cursor.next();
            self.mark_no_newline();
        }
        None
    }

    /// Adds a line if the counts allow it.
    fn take(&mut self, line: &[u8]) -> Option<()> {
        if self.parents > 1 {
            return self.take_combined(line);
        }
        // Mail programs and editors strip the blank of an empty context line.
        let (mark, text) = line.split_first().unwrap_or((&b' ', b""));
        match mark {
            b' ' => self.push(LineKind::Context, text),
            b'+' => self.push(LineKind::Added, text),
            b'-' => self.push(LineKind::Removed, text),
            _ => None,
        }
    }

    /// A line of a merge, seen from its first parent: lines that only another parent had are left out.
    fn take_combined(&mut self, line: &[u8]) -> Option<()> {
        let (marks, text) = line.split_at_checked(self.parents)?;
        let (first, others) = marks.split_first()?;
        if !marks.iter().all(|m| matches!(m, b' ' | b'+' | b'-')) {
            return None;
        }
        match first {
            b'-' => self.push(LineKind::Removed, text),
            b' ' if others.contains(&b'-') => Some(()),
            b'+' => self.push(LineKind::Added, text),
            _ => self.push(LineKind::Context, text),
        }
    }

    fn push(&mut self, kind: LineKind, text: &[u8]) -> Option<()> {
        let old = u32::from(kind != LineKind::Added);
        let new = u32::from(kind != LineKind::Removed);
        self.old_left = self.old_left.checked_sub(old)?;
        // The old side was already counted when the new one fails; the hunk ends there anyway.
        self.new_left = self.new_left.checked_sub(new)?;
        self.hunk.lines.push(Line {
            kind,
            text: text.into(),
            no_newline: false,
        });
        Some(())
    }

    fn mark_no_newline(&mut self) {
        if let Some(last) = self.hunk.lines.last_mut() {
            last.no_newline = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers() {
        let plain = HunkHeader::parse(b"@@ -1,2 +3 @@ fn x()").unwrap();
        assert_eq!((plain.old_start, plain.old_count), (1, 2));
        assert_eq!((plain.new_start, plain.new_count), (3, 1));
        let merge = HunkHeader::parse(b"@@@ -1,2 -4,5 +6,7 @@@").unwrap();
        assert_eq!((merge.parents, merge.old_start, merge.new_count), (2, 1, 7));
        for bad in [
            "",
            "@",
            "@@",
            "@ -1 +1 @",
            "@@ -1 +1",
            "@@ -a +1 @@",
            "@@ -1, +1 @@",
            "@@ -99999999999 +1 @@",
            "@@ +1 -1 @@",
        ] {
            assert!(HunkHeader::parse(bad.as_bytes()).is_none(), "{bad}");
        }
    }

    #[test]
    fn a_header_eaten_by_a_wrong_count_is_given_back() {
        let text = b" a\n-b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n";
        let mut cursor = Cursor::new(text);
        let header = HunkHeader::parse(b"@@ -1,9 +1,9 @@").unwrap();
        let read = read_hunk(&mut cursor, header, false);
        assert_eq!(read.hunk.lines.len(), 2);
        assert!(read.broken.is_some());
        assert_eq!(cursor.peek(), Some(&b"--- a/y"[..]));
    }
}
