//! Files that were made large: what is in them besides the padding.
//!
//! A line of a patch takes many times its length in memory, so that a few megabytes of line feeds would take
//! gigabytes. What padding is made of says nothing in any measure: blank lines, comments, the same line again
//! and again. Where a file is too large without it, it is left out; what is left is compared like any other
//! content.

use std::collections::HashMap;
use std::fs::File;
use std::hash::{BuildHasher, RandomState};
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;

use memchr::memchr_iter;

/// What a file may take in a patch beyond the base and the GT, in bytes of memory. Nobody types that much.
pub(crate) const MAX_COST: u64 = 8 << 20;

/// What all files of a patch together may take. Of further files only lines of the GT are looked for.
pub(super) const MAX_TOTAL_COST: u64 = 96 << 20;

/// What a line takes beside its text.
const LINE_COST: u64 = 72;

/// Bytes of a file that are looked through.
const MAX_READ: u64 = 1 << 30;

/// Longest line that is kept, in bytes; of a longer one, the rest is a line of its own.
const MAX_LINE: u64 = 1 << 20;

/// How often the same line is kept.
const MAX_REPEATS: u8 = 16;

/// Most different lines that are told apart.
const MAX_KNOWN: usize = 500_000;

/// Bytes that are zero from here on in one piece are a hole.
const HOLE: usize = 4096;

/// A reader that passes over the holes of a file: a sparse file of a gigabyte costs its sender nothing.
pub(crate) struct WithoutHoles<R>(pub(crate) R);

impl<R: Read> Read for WithoutHoles<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let count = self.0.read(buffer)?;
            let piece = buffer.get(..count).unwrap_or_default();
            // What begins with a zero and is the same one byte on is all zeros: two pieces of memory are
            // compared faster than bytes are looked at.
            let hole = matches!(piece.split_first(), Some((0, rest)) if piece.starts_with(rest));
            if count < HOLE || !hole {
                return Ok(count);
            }
        }
    }
}

/// What a content takes in a patch.
pub(crate) fn cost(content: &[u8]) -> u64 {
    content.len() as u64 + LINE_COST * memchr_iter(b'\n', content).count() as u64
}

/// What so many lines of so many bytes take.
pub(super) fn cost_of(lines: impl Iterator<Item = usize>) -> u64 {
    lines.fold(0, |sum, length| sum + length as u64 + LINE_COST)
}

/// The content of a file without padding; `None` when that takes more than [`MAX_COST`], or the file is longer
/// than what is looked through.
pub(crate) fn without_padding(disk: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = WithoutHoles(File::open(disk)?.take(MAX_READ));
    let mut file = BufReader::with_capacity(1 << 16, file);
    // Which lines are equal does not depend on the keys of the hash.
    let hasher = RandomState::new();
    let mut known: HashMap<u64, u8> = HashMap::new();
    let (mut out, mut line) = (Vec::new(), Vec::new());
    let mut spent = 0;
    loop {
        line.clear();
        if file.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            break;
        }
        let visible = |b: &u8| *b > b' ' && *b != 0x7f;
        let Some(start) = line.iter().position(visible) else {
            continue;
        };
        let text = line.get(start..).unwrap_or_default();
        if text.starts_with(b"//") {
            continue;
        }
        let hash = hasher.hash_one(text);
        if known.len() < MAX_KNOWN || known.contains_key(&hash) {
            let count = known.entry(hash).or_default();
            if *count >= MAX_REPEATS {
                continue;
            }
            *count += 1;
        }
        spent += line.len() as u64 + LINE_COST;
        if spent > MAX_COST {
            return Ok(None);
        }
        // Without the NULs in front, which would make it binary.
        let blank = line.iter().take(start).filter(|b| **b != 0);
        out.extend(blank.copied());
        out.extend_from_slice(line.get(start..).unwrap_or_default());
    }
    Ok((file.get_ref().0.limit() > 0).then_some(out))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_passed_over() {
        let mut text = vec![0; 3 * HOLE];
        text.extend_from_slice(b"a\0b");
        text.resize(9 * HOLE, 0);
        text.extend_from_slice(b"c\n");
        let mut out = Vec::new();
        WithoutHoles(text.as_slice().chain(io::empty()))
            .read_to_end(&mut out)
            .unwrap();
        out.retain(|byte| *byte != 0);
        assert_eq!(out, b"abc\n");
        let mut empty = Vec::new();
        WithoutHoles(io::repeat(0).take(1 << 30))
            .read_to_end(&mut empty)
            .unwrap();
        assert!(empty.len() < 16 * HOLE, "{}", empty.len());
    }

    #[test]
    fn what_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("x");
        let code = "fn a() {\n    b();\n}\n";
        let same = "x = 1;\n";
        for (text, want) in [
            (code.to_owned(), Some(code.to_owned())),
            (
                format!("{}{code}{}", "\n".repeat(5 << 20), "\0".repeat(5 << 20)),
                Some(code.to_owned()),
            ),
            (
                format!("{0}\0{code}{0}", "// nothing\n".repeat(1 << 20)),
                Some(code.to_owned()),
            ),
            (
                same.repeat(1 << 20),
                Some(same.repeat(usize::from(MAX_REPEATS))),
            ),
            ((0..500_000).map(|n| format!("{n}\n")).collect(), None),
        ] {
            std::fs::write(&path, &text).unwrap();
            let got = without_padding(&path).unwrap();
            let got = got.map(|got| String::from_utf8(got).unwrap());
            assert!(got == want, "{} bytes", text.len());
        }
        assert_eq!(cost(b"a\nbc\n"), 5 + 2 * LINE_COST);
        assert_eq!(cost_of([1, 2].into_iter()), 3 + 2 * LINE_COST);
    }
}
