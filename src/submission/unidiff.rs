//! How the Python package `unidiff` reads a patch, including where it gives up.
//!
//! The published exact-match rule compares hunks as that package hands them out. Its numbers can only be
//! reproduced by a reader with the same habits, so this is one, written from observed behaviour (see
//! `tests/exact_match/reference.py` for the comparison): it takes the hunk counts literally, fails when the
//! text ends before they are used up, ignores quoting, keeps carriage returns, and refuses a hunk that
//! does not follow a file header. It is no good reader of patches; [`crate::patch::parse`] is.
//!
//! Version 0.7.5 was the current one when the rule was published. Version 1.0.1 reads some odd patches
//! differently: a file named twice in a row, names that the `diff` line and the `---` line spell
//! differently, quoted names with blanks, empty names, blank lines before the first hunk.

mod headers;

use headers::{binary_names, git_names, hunk_counts, mode_line, name_line};

/// Why the package raises an exception. Each is a "failed to parse" of the published rule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Failure {
    /// The text ends inside a hunk: "Hunk is shorter than expected". Nearly always a submitter who
    /// stripped the patch and so lost its last, blank, context line.
    HunkShorter,
    /// More lines of one side than the header says: "Hunk is longer than expected".
    HunkLonger,
    /// A line inside a hunk that begins with none of blank, `+`, `-`, `\`: "Hunk diff line expected".
    NoHunkLine,
    /// A hunk header that follows no file header: "Unexpected hunk found".
    HunkWithoutFile,
    /// `+++` that does not fit the file header before it, or has none: "Target without source".
    TargetWithoutSource,
    /// `new file mode` or `deleted file mode` outside a file: "Unexpected new file found".
    ModeWithoutFile,
    /// An empty line or `\ No newline at end of file` where no hunk came before: "Unexpected trailing
    /// newline character", "Unexpected marker".
    StrayLine,
    /// `GIT binary patch` outside a file.
    BinaryWithoutFile,
    /// A number of more than 4,300 digits, which Python refuses to convert.
    NumberTooLong,
}

impl Failure {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::HunkShorter => "hunk_shorter",
            Self::HunkLonger => "hunk_longer",
            Self::NoHunkLine => "no_hunk_line",
            Self::HunkWithoutFile => "hunk_without_file",
            Self::TargetWithoutSource => "target_without_source",
            Self::ModeWithoutFile => "mode_without_file",
            Self::StrayLine => "stray_line",
            Self::BinaryWithoutFile => "binary_without_file",
            Self::NumberTooLong => "number_too_long",
        }
    }
}

/// The change to a file, as the package sees it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct File<'a> {
    /// The name before the change, prefix and quotes and all.
    pub source: &'a [u8],
    /// The name after the change; `None` for a binary file of which the text gives one name only.
    pub target: Option<&'a [u8]>,
    /// The hunks, in order.
    pub hunks: Vec<Hunk<'a>>,
}

/// The lines of a hunk, as they stand in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Hunk<'a> {
    body: &'a [u8],
}

impl<'a> Hunk<'a> {
    #[cfg(test)]
    pub(super) fn new(body: &'a [u8]) -> Self {
        Self { body }
    }

    /// Type (`+`, `-`, blank, `\`) and value, with its line feed, of each line.
    pub fn lines(self) -> impl Iterator<Item = (u8, &'a [u8])> {
        Lines::new(self.body).map(|line| match line.split_first() {
            Some((kind @ (b'+' | b'-' | b' ' | b'\\'), value)) => (*kind, value),
            // An empty line counts as context; of one with more carriage returns two characters are
            // kept and nothing behind them.
            _ => (b' ', line.get(..ends_only(line).min(2)).unwrap_or(line)),
        })
    }
}

/// The lines of a text, line feeds included. One search for all line feeds is faster than one a line.
struct Lines<'a> {
    text: &'a [u8],
    start: usize,
    ends: memchr::Memchr<'a>,
}

impl<'a> Lines<'a> {
    fn new(text: &'a [u8]) -> Self {
        Self {
            text,
            start: 0,
            ends: memchr::memchr_iter(b'\n', text),
        }
    }
}

impl<'a> Iterator for Lines<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let end = self.ends.next().map_or(self.text.len(), |at| at + 1);
        let line = self.text.get(self.start..end).filter(|l| !l.is_empty())?;
        self.start = end;
        Some(line)
    }
}

/// How many line-end characters `line` begins with.
fn ends_only(line: &[u8]) -> usize {
    line.iter()
        .take_while(|b| matches!(b, b'\r' | b'\n'))
        .count()
}

/// Which release of the package is imitated.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Release {
    /// The current one when the rule was published.
    #[default]
    V0_7_5,
    /// The one of 2026.
    V1_0_1,
}

impl Release {
    /// Its number.
    pub fn name(self) -> &'static str {
        match self {
            Self::V0_7_5 => "0.7.5",
            Self::V1_0_1 => "1.0.1",
        }
    }
}

const ABSENT: &[u8] = b"/dev/null";

/// Reads a patch as `unidiff.PatchSet(text)` does. `text` is UTF-8 in which surrogates may stand alone.
///
/// # Errors
/// Where the package raises an exception.
pub fn parse(text: &[u8], release: Release) -> Result<Vec<File<'_>>, Failure> {
    let mut reader = Reader {
        release,
        lines: Lines::new(text),
        files: Vec::new(),
        open: false,
        header: false,
        source: None,
        named: false,
    };
    while let Some(line) = reader.lines.next() {
        reader.step(line)?;
    }
    Ok(reader.files)
}

struct Reader<'a> {
    release: Release,
    lines: Lines<'a>,
    files: Vec<File<'a>>,
    /// The last file still takes hunks.
    open: bool,
    /// Lines that mean nothing may stand here without ending the file.
    header: bool,
    /// The name that a `+++` line continues.
    source: Option<&'a [u8]>,
    /// There was a `---` line.
    named: bool,
}

impl<'a> Reader<'a> {
    fn current(&mut self) -> Option<&mut File<'a>> {
        self.files.last_mut().filter(|_| self.open)
    }

    fn push(&mut self, source: &'a [u8], target: Option<&'a [u8]>) {
        self.files.push(File {
            source,
            target,
            hunks: Vec::new(),
        });
        self.open = true;
    }

    fn step(&mut self, line: &'a [u8]) -> Result<(), Failure> {
        match line.first() {
            Some(b'd' | b'n') if self.git_header(line)? => Ok(()),
            Some(b'-') if self.source_line(line) => Ok(()),
            Some(b'+') if self.target_line(line)? => Ok(()),
            Some(b'@') if self.hunk_line(line)? => Ok(()),
            Some(b'\\') if line.starts_with(b"\\ No newline at end of file") => self.no_newline(),
            Some(b'\n') if self.blank()? => Ok(()),
            Some(b'B' | b'G') if self.binary(line)? => Ok(()),
            _ => {
                self.meaningless();
                Ok(())
            }
        }
    }

    fn git_header(&mut self, line: &'a [u8]) -> Result<bool, Failure> {
        if let Some((source, target)) = git_names(line, self.release) {
            self.source = Some(source);
            self.push(source, Some(target));
            self.header = true;
            return Ok(true);
        }
        let new = mode_line(line, b"new file mode ");
        if !new && !mode_line(line, b"deleted file mode ") {
            return Ok(false);
        }
        let header = self.header;
        let file = self
            .current()
            .filter(|_| header)
            .ok_or(Failure::ModeWithoutFile)?;
        if new {
            file.source = ABSENT;
        } else {
            file.target = Some(ABSENT);
        }
        Ok(true)
    }

    fn source_line(&mut self, line: &'a [u8]) -> bool {
        let Some(name) = name_line(line, b"--- ", self.release) else {
            return false;
        };
        self.source = Some(name);
        self.named = true;
        let goes_on = match self.release {
            Release::V0_7_5 => self.current().is_some_and(|file| file.source == name),
            Release::V1_0_1 => self.header,
        };
        self.open &= goes_on;
        true
    }

    fn target_line(&mut self, line: &'a [u8]) -> Result<bool, Failure> {
        let Some(name) = name_line(line, b"+++ ", self.release) else {
            return Ok(false);
        };
        if let Some(file) = self.current() {
            return if file.target == Some(name) {
                Ok(true)
            } else {
                Err(Failure::TargetWithoutSource)
            };
        }
        let known = self.named || self.release == Release::V1_0_1;
        let source = self
            .source
            .filter(|_| known)
            .ok_or(Failure::TargetWithoutSource)?;
        if self.release == Release::V1_0_1 {
            self.source = None;
        }
        self.push(source, Some(name));
        self.header = false;
        Ok(true)
    }

    fn hunk_line(&mut self, line: &'a [u8]) -> Result<bool, Failure> {
        let Some(counts) = hunk_counts(line) else {
            return Ok(false);
        };
        self.header = false;
        if !self.open {
            return Err(Failure::HunkWithoutFile);
        }
        let hunk = self.hunk(counts?)?;
        if let Some(file) = self.current() {
            file.hunks.push(hunk);
        }
        Ok(true)
    }

    fn has_hunk(&mut self) -> Option<bool> {
        self.current().map(|file| !file.hunks.is_empty())
    }

    fn no_newline(&mut self) -> Result<(), Failure> {
        match self.has_hunk() {
            Some(true) => Ok(()),
            _ => Err(Failure::StrayLine),
        }
    }

    /// An empty line behind a hunk belongs to it.
    fn blank(&mut self) -> Result<bool, Failure> {
        match (self.has_hunk(), self.release) {
            (Some(true), _) => Ok(true),
            (Some(false), Release::V0_7_5) => Err(Failure::StrayLine),
            _ => Ok(false),
        }
    }

    fn binary(&mut self, line: &'a [u8]) -> Result<bool, Failure> {
        if let Some((source, target)) = binary_names(line) {
            self.source = Some(source);
            if !(self.open && self.header) {
                let target = match self.release {
                    Release::V0_7_5 => target,
                    Release::V1_0_1 => target.or(Some(source)),
                };
                self.push(source, target);
            }
        } else if line == b"GIT binary patch\n" {
            if !(self.open && self.header) {
                return Err(Failure::BinaryWithoutFile);
            }
        } else {
            return Ok(false);
        }
        self.open = false;
        self.header = false;
        Ok(true)
    }

    fn meaningless(&mut self) {
        if !self.header {
            self.open = false;
            self.header = true;
        }
    }

    /// Reads the lines of a hunk with so many lines of each side.
    fn hunk(&mut self, (source, target): (u64, u64)) -> Result<Hunk<'a>, Failure> {
        let start = self.lines.start;
        let (mut old, mut new) = (0, 0);
        for line in self.lines.by_ref() {
            match line.first() {
                Some(b'+') => new += 1,
                Some(b'-') => old += 1,
                Some(b' ' | b'\r' | b'\n') => {
                    old += 1;
                    new += 1;
                }
                Some(b'\\') => {}
                _ => return Err(Failure::NoHunkLine),
            }
            if old > source || new > target {
                return Err(Failure::HunkLonger);
            }
            if old == source && new == target {
                break;
            }
        }
        if old < source || new < target {
            return Err(Failure::HunkShorter);
        }
        let body = self.lines.text.get(start..self.lines.start);
        Ok(Hunk {
            body: body.unwrap_or_default(),
        })
    }
}

#[cfg(test)]
mod tests;
