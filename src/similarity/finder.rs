//! Finds given lines in a stream of files.
//!
//! Each line is hashed without its white space while it is read; the hash is looked up in a small
//! table, and the rare hits are compared in full. Nothing is allocated for a line that is not found.
//! The text of a line up to something that may begin a comment is looked up as well: the hash is at
//! hand at that point.

use std::collections::{BTreeSet, HashMap};
use std::io::Read;

use super::distinctive::MIN_CHARS;
use super::normalise::squeeze;
use super::starter::StarterAnswer;

/// Lines above this length (bytes) are not looked up. Also the size of the read buffer.
const MAX_LINE_BYTES: usize = 1 << 20;

/// A file with a NUL among its first bytes is binary (git's rule).
const BINARY_PROBE_BYTES: usize = 8_000;

/// Found lines that are kept with their repeats, in bytes of memory.
const MAX_KEPT_BYTES: usize = 8 << 20;

/// What keeping a line takes beside its text.
const KEPT_LINE_BYTES: usize = 64;

/// Looks up whole lines in a stream of files.
pub(crate) struct LineFinder<'a> {
    /// Queries by hash, without those found already.
    wanted: HashMap<u64, Vec<&'a str>>,
    /// One bit for the low bits of each wanted hash: turns most lines away at once.
    filter: Vec<u64>,
    shortest: usize,
    /// Found queries stay wanted, to be found again in the next file.
    repeating: bool,
    /// A NUL makes no file binary: it is passed over like white space.
    any_bytes: bool,
    /// Lines that equal a query, as they stand, in order; `None` when they are not asked for.
    kept: Option<Vec<Vec<u8>>>,
    kept_bytes: usize,
    /// Lines that could tell something, in what was read since the last time.
    telling: u64,
    buffer: Vec<u8>,
    answer: StarterAnswer,
}

/// Bits of the filter, as a power of two: 128 KiB, about one false alarm in 17 at 60,000 queries.
const FILTER_BITS: u32 = 20;

impl<'a> LineFinder<'a> {
    /// Looks for `queries`.
    pub(crate) fn new(queries: &'a BTreeSet<String>) -> Self {
        let mut finder = Self {
            wanted: HashMap::new(),
            filter: vec![0; 1 << (FILTER_BITS - 6)],
            shortest: usize::MAX,
            repeating: false,
            any_bytes: false,
            kept: None,
            kept_bytes: 0,
            telling: 0,
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

    /// Looks for all of `queries` in every file anew; see [`Self::take_found`].
    pub(crate) fn repeating(queries: &'a BTreeSet<String>) -> Self {
        Self {
            repeating: true,
            ..Self::new(queries)
        }
    }

    /// Looks for all of `queries` in every file anew, whatever bytes stand between the lines, so that plain text
    /// in two or four bytes a character is read as well; see [`Self::take_kept`].
    pub(crate) fn keeping(queries: &'a BTreeSet<String>) -> Self {
        Self {
            any_bytes: true,
            kept: Some(Vec::new()),
            ..Self::repeating(queries)
        }
    }

    /// The lines that were found since the last time, as they stand, in order and with repeats (up to
    /// [`MAX_KEPT_BYTES`]; then each query once).
    pub(crate) fn take_kept(&mut self) -> Vec<Vec<u8>> {
        self.kept_bytes = 0;
        self.kept.as_mut().map(std::mem::take).unwrap_or_default()
    }

    /// How many lines of at least [`MIN_CHARS`] visible bytes were read since the last time.
    pub(crate) fn take_telling(&mut self) -> u64 {
        std::mem::take(&mut self.telling)
    }

    /// What was found since the last time.
    pub(crate) fn take_found(&mut self) -> BTreeSet<String> {
        std::mem::take(&mut self.answer.found)
    }

    /// Every query was found, or there was none.
    pub(crate) fn is_done(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Reads one file. Stops silently at a binary one.
    pub(crate) fn read(&mut self, mut file: impl Read) -> std::io::Result<()> {
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
                if !self.any_bytes && memchr::memchr(0, probe).is_some() {
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
        let mut start = 0;
        for end in memchr::memchr_iter(b'\n', text).chain([text.len()]) {
            self.line(text.get(start..end).unwrap_or_default());
            start = end + 1;
        }
    }

    fn line(&mut self, text: &[u8]) {
        let mut line = LineState::default();
        for (at, &byte) in text.iter().enumerate() {
            match class(byte) {
                Class::Plain => {}
                Class::Blank => {
                    line.previous = b' ';
                    continue;
                }
                Class::Marker => {
                    if let Some((hash, marker)) = line.comment_starts(byte)
                        && line.length >= self.shortest
                    {
                        self.probe(hash, text.get(..at - marker).unwrap_or_default());
                    }
                }
                Class::Other => return self.folded_line(text),
            }
            line.before = line.hash;
            line.hash = step(line.hash, byte);
            line.length += 1;
            line.previous = byte;
        }
        self.telling += u64::from(line.length >= MIN_CHARS);
        if line.length >= self.shortest {
            self.probe(line.hash, text);
        }
    }

    /// A line with characters that folding changes: what it makes of them is hashed.
    fn folded_line(&mut self, text: &[u8]) {
        self.telling += 1;
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
        if self.repeating {
            let fresh = self.answer.found.insert(squeezed);
            if let Some(kept) = &mut self.kept
                && (fresh || self.kept_bytes < MAX_KEPT_BYTES)
            {
                self.kept_bytes += text.len() + KEPT_LINE_BYTES;
                kept.push(text.to_vec());
            }
            return;
        }
        queries.swap_remove(at);
        if queries.is_empty() {
            self.wanted.remove(&hash);
        }
        self.answer.found.insert(squeezed);
    }

    /// What was found and read.
    pub(crate) fn answer(self) -> StarterAnswer {
        self.answer
    }
}

/// What begins a comment in most languages, for lines outside the fast path.
const MARKERS: [&[u8]; 5] = [b"//", b"/*", b"#", b"--", b"<!--"];

/// What a byte means for the look-up.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// Goes into the hash.
    Plain,
    /// White space or a control character: squeezed out.
    Blank,
    /// May complete a comment marker.
    Marker,
    /// Not ASCII.
    Other,
}

fn class(byte: u8) -> Class {
    match byte {
        0..=b' ' | 0x7f => Class::Blank,
        b'/' | b'*' | b'-' | b'!' | b'#' => Class::Marker,
        0x80.. => Class::Other,
        _ => Class::Plain,
    }
}

/// What is known of a line while it is read.
struct LineState {
    /// Hash of its visible bytes so far.
    hash: u64,
    /// The hash one visible byte ago.
    before: u64,
    /// Number of visible bytes.
    length: usize,
    /// The last byte; a blank for any white space.
    previous: u8,
}

impl Default for LineState {
    fn default() -> Self {
        Self {
            hash: SEED,
            before: SEED,
            length: 0,
            previous: b' ',
        }
    }
}

impl LineState {
    /// If `byte` completes a comment marker: the hash before the marker, and how many of its bytes
    /// were read before `byte`.
    fn comment_starts(&self, byte: u8) -> Option<(u64, usize)> {
        match (self.previous, byte) {
            (b'/', b'/' | b'*') | (b'-', b'-') | (b'<', b'!') => Some((self.before, 1)),
            (b' ', b'#') => Some((self.hash, 0)),
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

    fn look_up(text: &[u8], queries: &[&str]) -> Vec<String> {
        let queries = queries.iter().map(|line| (*line).to_owned()).collect();
        let mut finder = LineFinder::new(&queries);
        finder.read(text).unwrap();
        finder.answer().found.into_iter().collect()
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
    fn kept_lines_stand_in_order_whatever_is_between_them() {
        let queries = ["alphaline", "betaline"].map(str::to_owned).into();
        let mut finder = LineFinder::keeping(&queries);
        let text = "\0beta line\nother line of text\n  alpha line\nbeta line\n\0\0";
        let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
        for bytes in [text.as_bytes(), &wide] {
            finder.read(bytes).unwrap();
            let kept: Vec<String> = finder
                .take_kept()
                .iter()
                .map(|line| squeeze(&String::from_utf8_lossy(line)))
                .collect();
            assert_eq!(kept, ["betaline", "alphaline", "betaline"]);
            assert_eq!(finder.take_telling(), 4);
            assert_eq!(finder.take_found().len(), 2);
            assert_eq!(finder.take_telling(), 0);
        }
        let many = format!("{}alpha line\n", "beta line\n".repeat(MAX_KEPT_BYTES / 64));
        finder.read(many.as_bytes()).unwrap();
        let kept = finder.take_kept();
        assert!(kept.len() < MAX_KEPT_BYTES / 64 && kept.last().unwrap() == b"alpha line");
    }

    #[test]
    fn binary_files_hold_no_lines() {
        assert!(look_up(b"some line\n\0\n", &["someline"]).is_empty());
        assert!(look_up(b"", &["someline"]).is_empty());
    }
}
