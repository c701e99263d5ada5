//! Which GT lines already stood in the starter tree.
//!
//! A line that the repository held before the agent came proves nothing: it may have been moved,
//! or it is how everybody writes there. Starter trees have tens of thousands of files, GTs tens of
//! thousands of lines, so the tree is read once, in a stream, and only the lines in question are
//! looked up: each line is hashed without its white space while it is read, the hash is looked up in
//! a small table, and the rare hits are compared in full.
//!
//! A line counts as found when it equals a whole line of the starter, or the part of one before a
//! comment (`//`, `/*`, `#`, `--`, `<!--`).

use std::collections::{BTreeSet, HashMap};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use super::normalise::squeeze;

/// Looks up lines in a starter tree.
pub trait Starter {
    /// Which of `queries` (comparison text, as made by [`squeeze`]) stand anywhere in the tree.
    ///
    /// Unreadable parts never fail the look-up; they are named in [`StarterAnswer::notes`].
    fn known(&self, queries: &BTreeSet<String>) -> StarterAnswer;
}

/// What a look-up found and what it read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StarterAnswer {
    /// The queries that stand in the tree.
    pub found: BTreeSet<String>,
    /// Text files read.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// What could not be read, for people.
    pub notes: Vec<String>,
}

/// No starter tree is at hand. The GT's own context and removed lines are still known.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoStarter;

impl Starter for NoStarter {
    fn known(&self, _queries: &BTreeSet<String>) -> StarterAnswer {
        StarterAnswer {
            notes: vec!["no starter tree was read; only the context of the GT is".into()],
            ..StarterAnswer::default()
        }
    }
}

/// Files above this size are not read, and named.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// Lines above this length (bytes) are not looked up. Also the size of the read buffer.
const MAX_LINE_BYTES: usize = 1 << 20;

/// A file with a NUL among its first bytes is binary (git's rule).
const BINARY_PROBE_BYTES: usize = 8_000;

/// How many unread files are named in a note; the others are counted.
const NAMED_FILES: usize = 5;

/// A plain directory. Links are not followed, `.git` is not entered, files are read in a stream.
#[derive(Debug, Clone)]
pub struct DirStarter {
    root: PathBuf,
    max_file_bytes: u64,
}

impl DirStarter {
    /// The tree under `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            max_file_bytes: MAX_FILE_BYTES,
        }
    }

    /// Sets another limit than [`MAX_FILE_BYTES`].
    pub fn with_max_file_bytes(mut self, bytes: u64) -> Self {
        self.max_file_bytes = bytes;
        self
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

impl Starter for DirStarter {
    fn known(&self, queries: &BTreeSet<String>) -> StarterAnswer {
        let mut finder = LineFinder::new(queries);
        let mut unread = BTreeSet::new();
        let walk = walkdir::WalkDir::new(&self.root)
            .follow_links(false)
            .into_iter()
            .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
        for entry in walk {
            if finder.is_done() {
                break;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(&self.root);
                    unread.insert(self.name(path));
                    continue;
                }
            };
            if !entry.file_type().is_file() {
                continue;
            }
            let small = entry
                .metadata()
                .is_ok_and(|meta| meta.len() <= self.max_file_bytes);
            let read = small
                && File::open(entry.path())
                    .map(|file| finder.read(file.take(self.max_file_bytes)))
                    .is_ok_and(|read| read.is_ok());
            if !read {
                unread.insert(self.name(entry.path()));
            }
        }
        finder.answer(&unread)
    }
}

/// Files handed over one by one, as from a git object store: calls its argument for each path and
/// content.
pub struct BlobStarter<F>(pub F)
where
    F: Fn(&mut dyn FnMut(&str, &[u8]));

impl<F> Starter for BlobStarter<F>
where
    F: Fn(&mut dyn FnMut(&str, &[u8])),
{
    fn known(&self, queries: &BTreeSet<String>) -> StarterAnswer {
        let mut finder = LineFinder::new(queries);
        let mut unread = BTreeSet::new();
        (self.0)(&mut |path, bytes| {
            if finder.read(bytes).is_err() {
                unread.insert(path.to_owned());
            }
        });
        finder.answer(&unread)
    }
}

/// Looks up whole lines in a stream of files.
struct LineFinder<'a> {
    /// Queries by hash, without those found already.
    wanted: HashMap<u64, Vec<&'a str>>,
    /// One bit for the low bits of each wanted hash: turns most lines away at once.
    filter: Vec<u64>,
    shortest: usize,
    buffer: Vec<u8>,
    answer: StarterAnswer,
}

/// Bits of the filter, as a power of two: 128 KiB, about one false alarm in 17 at 60,000 queries.
const FILTER_BITS: u32 = 20;

impl<'a> LineFinder<'a> {
    fn new(queries: &'a BTreeSet<String>) -> Self {
        let mut finder = Self {
            wanted: HashMap::new(),
            filter: vec![0; 1 << (FILTER_BITS - 6)],
            shortest: usize::MAX,
            buffer: Vec::new(),
            answer: StarterAnswer::default(),
        };
        for query in queries.iter().filter(|query| !query.is_empty()) {
            let hash = query.bytes().fold(SEED, step);
            finder.wanted.entry(hash).or_default().push(query);
            finder.shortest = finder.shortest.min(query.len());
            let (word, bit) = filter_place(hash);
            if let Some(word) = finder.filter.get_mut(word) {
                *word |= bit;
            }
        }
        finder
    }

    /// Every query was found, or there was none.
    fn is_done(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Reads one file. Stops silently at a binary one.
    fn read(&mut self, mut file: impl Read) -> std::io::Result<()> {
        if self.is_done() {
            return Ok(());
        }
        let mut buffer = std::mem::take(&mut self.buffer);
        buffer.resize(MAX_LINE_BYTES, 0);
        let result = self.read_into(&mut file, &mut buffer);
        self.buffer = buffer;
        result
    }

    fn read_into(&mut self, file: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<()> {
        let mut filled = 0;
        let mut first = true;
        // Inside a line that is longer than the buffer.
        let mut skipping = false;
        loop {
            let read = match file.read(buffer.get_mut(filled..).unwrap_or_default()) {
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                other => other?,
            };
            let end = filled + read;
            let chunk = buffer.get(..end).unwrap_or_default();
            if first {
                let probe = chunk.get(..BINARY_PROBE_BYTES).unwrap_or(chunk);
                if memchr::memchr(0, probe).is_some() {
                    return Ok(());
                }
                self.answer.files += 1;
                first = false;
            }
            self.answer.bytes += read as u64;
            let complete = match memchr::memrchr(b'\n', chunk) {
                _ if read == 0 => end,
                Some(at) => at + 1,
                None => 0,
            };
            if complete == 0 && read > 0 {
                if end == buffer.len() {
                    skipping = true;
                    filled = 0;
                } else {
                    filled = end;
                }
                continue;
            }
            let mut lines = chunk.get(..complete).unwrap_or_default();
            if skipping {
                let rest = memchr::memchr(b'\n', lines).map_or(lines.len(), |at| at + 1);
                lines = lines.get(rest..).unwrap_or_default();
                skipping = false;
            }
            self.lines(lines);
            if read == 0 {
                return Ok(());
            }
            buffer.copy_within(complete..end, 0);
            filled = end - complete;
        }
    }

    /// Looks up every line of `text`.
    fn lines(&mut self, text: &[u8]) {
        let mut line = LineState::default();
        let mut start = 0;
        for (at, &byte) in text.iter().enumerate() {
            if byte == b'\n' {
                self.end_of_line(text.get(start..at).unwrap_or_default(), &line);
                line = LineState::default();
                start = at + 1;
                continue;
            }
            if let Some((hash, marker)) = line.comment_starts(byte)
                && line.ascii
                && line.length >= self.shortest
            {
                let end = at - marker;
                self.probe(hash, text.get(start..end).unwrap_or_default());
            }
            line.push(byte);
        }
        self.end_of_line(text.get(start..).unwrap_or_default(), &line);
    }

    fn end_of_line(&mut self, text: &[u8], line: &LineState) {
        if line.ascii {
            if line.length >= self.shortest {
                self.probe(line.hash, text);
            }
            return;
        }
        // Folding changes these bytes: hash what it makes of them.
        let comments = MARKERS
            .iter()
            .filter_map(|marker| memchr::memmem::find(text, marker));
        for end in comments.chain([text.len()]) {
            let part = text.get(..end).unwrap_or_default();
            let squeezed = squeeze(&String::from_utf8_lossy(part));
            if squeezed.len() >= self.shortest {
                self.probe(squeezed.bytes().fold(SEED, step), part);
            }
        }
    }

    /// Marks the queries that equal `text`, whose squeezed form hashes to `hash`.
    fn probe(&mut self, hash: u64, text: &[u8]) {
        let (word, bit) = filter_place(hash);
        if self.filter.get(word).is_none_or(|word| word & bit == 0) {
            return;
        }
        let Some(queries) = self.wanted.get_mut(&hash) else {
            return;
        };
        let squeezed = squeeze(&String::from_utf8_lossy(text));
        let Some(at) = queries.iter().position(|query| *query == squeezed) else {
            return;
        };
        queries.swap_remove(at);
        if queries.is_empty() {
            self.wanted.remove(&hash);
        }
        self.answer.found.insert(squeezed);
    }

    fn answer(self, unread: &BTreeSet<String>) -> StarterAnswer {
        let mut answer = self.answer;
        if !unread.is_empty() {
            let named: Vec<&str> = unread
                .iter()
                .map(String::as_str)
                .take(NAMED_FILES)
                .collect();
            answer.notes.push(format!(
                "{} of the starter tree could not be read or are above the size limit: {}{}",
                count(unread.len(), "file"),
                named.join(", "),
                if unread.len() > named.len() {
                    ", …"
                } else {
                    ""
                },
            ));
        }
        answer
    }
}

fn count(number: usize, thing: &str) -> String {
    format!("{number} {thing}{}", if number == 1 { "" } else { "s" })
}

/// What begins a comment in most languages, for lines outside the fast path.
const MARKERS: [&[u8]; 5] = [b"//", b"/*", b"#", b"--", b"<!--"];

/// What is known of a line while it is read.
struct LineState {
    /// Hash of its visible bytes so far.
    hash: u64,
    /// The hash one visible byte ago.
    before: u64,
    /// Number of visible bytes.
    length: usize,
    /// The last byte, visible or not.
    previous: u8,
    ascii: bool,
}

impl Default for LineState {
    fn default() -> Self {
        Self {
            hash: SEED,
            before: SEED,
            length: 0,
            previous: b' ',
            ascii: true,
        }
    }
}

impl LineState {
    fn push(&mut self, byte: u8) {
        if byte > b' ' && byte != 0x7f {
            self.before = self.hash;
            self.hash = step(self.hash, byte);
            self.length += 1;
            self.ascii &= byte < 0x80;
        }
        self.previous = byte;
    }

    /// If `byte` completes a comment marker: the hash before the marker, and how many of its bytes
    /// were read before `byte`.
    fn comment_starts(&self, byte: u8) -> Option<(u64, usize)> {
        match (self.previous, byte) {
            (b'/', b'/' | b'*') | (b'-', b'-') | (b'<', b'!') => Some((self.before, 1)),
            (b' ' | b'\t', b'#') => Some((self.hash, 0)),
            _ => None,
        }
    }
}

const SEED: u64 = 0xcbf2_9ce4_8422_2325;

/// One step of FNV-1a.
fn step(hash: u64, byte: u8) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
}

fn filter_place(hash: u64) -> (usize, u64) {
    // The high bits of FNV are the better mixed ones.
    let index = hash >> (64 - FILTER_BITS);
    ((index >> 6) as usize, 1 << (index & 63))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn set(lines: &[&str]) -> BTreeSet<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    fn look_up(text: &[u8], queries: &[&str]) -> Vec<String> {
        let blobs = BlobStarter(|visit: &mut dyn FnMut(&str, &[u8])| visit("a", text));
        blobs.known(&set(queries)).found.into_iter().collect()
    }

    #[test]
    fn finds_whole_lines_whatever_their_layout() {
        let text = "\tfoo ( a,b );\r\nbar(c); // why\nx = 1  # one\nｆull(1)；\nпривет мир // там\nlast line";
        for query in [
            "foo(a,b);",
            "bar(c);",
            "x=1",
            "full(1);",
            "lastline",
            "x=1#one",
        ] {
            assert_eq!(look_up(text.as_bytes(), &[query]), [query]);
        }
        let cyrillic = squeeze("привет мир");
        assert_eq!(look_up(text.as_bytes(), &[&cyrillic]), [cyrillic.as_str()]);
        for query in ["foo(a,b)", "(a,b);", "bar", "", "x", "astline"] {
            assert!(look_up(text.as_bytes(), &[query]).is_empty(), "{query}");
        }
    }

    #[test]
    fn lines_over_the_edges_of_the_buffer() {
        let filler = "0123456789abcde\n".repeat(MAX_LINE_BYTES / 16 - 1);
        for shift in 0..40 {
            let text = format!("{filler}{}\nwanted line here\nnext", "y".repeat(shift));
            assert_eq!(
                look_up(text.as_bytes(), &["wantedlinehere"]).len(),
                1,
                "{shift}"
            );
        }
    }

    #[test]
    fn overlong_lines_are_passed_over_and_the_next_line_is_not() {
        for extra in [0, 1, 7, MAX_LINE_BYTES] {
            let long = "z".repeat(MAX_LINE_BYTES + extra);
            let text = format!("first line\n{long}\nafter it\n{long}");
            let found = look_up(text.as_bytes(), &["firstline", "afterit", "zzz"]);
            assert_eq!(found, ["afterit", "firstline"], "{extra}");
        }
        let text = format!("{}\nafter it", "\n".repeat(3 * MAX_LINE_BYTES));
        assert_eq!(look_up(text.as_bytes(), &["afterit"]).len(), 1);
    }

    #[test]
    fn binary_files_hold_no_lines() {
        assert!(look_up(b"some line\n\0\n", &["someline"]).is_empty());
        assert!(look_up(b"", &["someline"]).is_empty());
    }

    #[test]
    fn reads_a_directory_without_git_links_and_huge_files() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("src/.git")).unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join("src/a.c"), "one line here;\n").unwrap();
        fs::write(root.join(".git/b"), "two line here;\n").unwrap();
        fs::write(root.join("src/.git/c"), "three line here;\n").unwrap();
        fs::write(
            root.join("big"),
            format!("{}\nfour line here;\n", "x".repeat(5_000)),
        )
        .unwrap();
        fs::write(outside.path().join("d"), "five line here;\n").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path(), root.join("link")).unwrap();
        let queries = set(&[
            "onelinehere;",
            "twolinehere;",
            "threelinehere;",
            "fourlinehere;",
            "fivelinehere;",
        ]);
        let answer = DirStarter::new(root)
            .with_max_file_bytes(4_096)
            .known(&queries);
        assert_eq!(answer.found, set(&["onelinehere;"]));
        assert_eq!(answer.files, 1);
        assert_eq!(answer.notes.len(), 1);
        assert!(answer.notes[0].contains("big"), "{:?}", answer.notes);
        let missing = DirStarter::new(root.join("none")).known(&queries);
        assert!(missing.found.is_empty() && missing.notes.len() == 1);
    }
}
