//! The reader of unified diffs: bytes in, a [`Patch`] out, whatever wrote them.
//!
//! Understood: `git diff` and `git format-patch` (with the mail around it), every header that git adds, any or
//! no path prefix, quoted paths, `diff -u` and `diff -ru`, merges (`diff --cc`, seen from the first parent),
//! CRLF and bytes that are no UTF-8. Hunks are read by their counts (see `hunk`). What is broken is left
//! out from there on, the complete lines before it are kept, and a [`PatchProblem`] says so: like
//! `git apply`, the reader never guesses that a line outside a hunk belongs to it.

use bstr::ByteSlice;

use self::builder::{Builder, Form};
use super::cursor::{Cursor, trim_cr};
use super::envelope;
use super::hunk::{HunkHeader, read_hunk};
use super::model::{FilePatch, FileStatus, Patch, PatchProblem};
use super::names;

/// Most problems that are listed; the last entry says how many more there were.
const MAX_PROBLEMS: usize = 200;

/// Reads a patch. Never fails: what cannot be read is in [`Patch::problems`].
///
/// ```
/// let patch = trace_audit::patch::parse(b"--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n one\n+two\n");
/// assert_eq!(patch.files[0].path(), "x");
/// assert_eq!(patch.files[0].added().count(), 1);
/// ```
pub fn parse(bytes: &[u8]) -> Patch {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    if envelope::recognise(bytes) {
        return envelope::parse(bytes);
    }
    let mut parser = Parser {
        cursor: Cursor::new(bytes),
        files: Vec::new(),
        current: None,
        problems: Problems::default(),
    };
    while let Some(line) = parser.cursor.peek() {
        parser.step(line);
    }
    parser.flush();
    Patch {
        files: parser.files,
        problems: parser.problems.finish(),
    }
}

/// A list of problems that hostile text cannot blow up.
#[derive(Debug, Default)]
pub(super) struct Problems {
    list: Vec<PatchProblem>,
    more: u64,
}

impl Problems {
    pub(super) fn push(&mut self, line: u64, what: impl Into<String>) {
        self.add(line, what.into(), true);
    }

    /// Something odd that loses nothing.
    fn push_harmless(&mut self, line: u64, what: &str) {
        self.add(line, what.to_owned(), false);
    }

    fn add(&mut self, line: u64, what: String, loses_lines: bool) {
        if self.list.len() < MAX_PROBLEMS {
            self.list.push(PatchProblem {
                line,
                what,
                loses_lines,
            });
        } else {
            self.more += 1;
        }
    }

    pub(super) fn finish(mut self) -> Vec<PatchProblem> {
        if self.more > 0 {
            self.list.push(PatchProblem {
                line: 0,
                what: format!("{} more problems of this patch are not listed", self.more),
                loses_lines: true,
            });
        }
        self.list
    }
}

struct Parser<'a> {
    cursor: Cursor<'a>,
    files: Vec<FilePatch>,
    current: Option<Builder>,
    problems: Problems,
}

impl<'a> Parser<'a> {
    /// Takes at least one line.
    fn step(&mut self, line: &'a [u8]) {
        if let Some(names) = line.strip_prefix(b"diff --git ") {
            self.flush();
            self.cursor.next();
            self.current = Some(Builder::git(names));
        } else if let Some(name) = strip_any(line, &[b"diff --cc ", b"diff --combined "]) {
            self.flush();
            self.cursor.next();
            self.current = Some(Builder::merge(name));
        } else if (line.starts_with(b"@@") && self.hunk(line))
            || (line.starts_with(b"--- ") && self.file_names(line))
        {
            // These take their lines themselves.
        } else if self.extended_header(line) || self.binary(line) {
            self.cursor.next();
        } else {
            self.other(line);
        }
    }

    /// Ends the file under construction.
    fn flush(&mut self) {
        if let Some(file) = self.current.take() {
            if file.says_nothing() {
                self.problems.push(
                    self.cursor.line(),
                    "the file before this line has a header and no change that can be read",
                );
            }
            self.files.push(file.finish());
        }
    }

    /// Reads a hunk. False when the line is no hunk header after all.
    fn hunk(&mut self, line: &[u8]) -> bool {
        let Some(header) = HunkHeader::parse(line) else {
            return false;
        };
        let at = self.cursor.line();
        self.cursor.next();
        // Behind mail text, or before any file, this is no hunk: reading it could swallow a real header.
        let Some(current) = self.current.as_mut().filter(|c| c.takes_hunks()) else {
            self.problems
                .push(at, "a hunk without the name of a file; left out");
            return true;
        };
        let read = read_hunk(&mut self.cursor, header, current.crlf);
        current.broken = read.broken.is_some();
        current.push(read.hunk, header);
        if let Some((line, what)) = read.broken {
            let what = format!("{what}; its complete lines are kept");
            self.problems.push(line, what);
        }
        true
    }

    /// Reads `--- old` and `+++ new`. False when these are two lines of something else.
    fn file_names(&mut self, line: &[u8]) -> bool {
        let Some(new_line) = self.cursor.ahead(1).filter(|l| l.starts_with(b"+++ ")) else {
            return false;
        };
        let in_header = self
            .current
            .as_ref()
            .is_some_and(|c| c.kind != Form::Plain && c.header && c.names.is_none());
        if !in_header {
            // Only a hunk behind them makes these two lines the start of a file.
            let behind = self.cursor.ahead(2).and_then(HunkHeader::parse);
            if behind.is_none() {
                return false;
            }
            self.flush();
            self.current = Some(Builder::plain());
        }
        let at = self.cursor.line();
        self.cursor.next();
        self.cursor.next();
        if let Some(current) = &mut self.current {
            current.crlf = new_line.ends_with(b"\r");
            if current.crlf {
                self.problems
                    .push_harmless(at, "the patch has CRLF line ends; they were read as LF");
            }
            let (old, old_stamp) = names::side(trim_cr(line.get(4..).unwrap_or_default()));
            let (new, new_stamp) = names::side(trim_cr(new_line.get(4..).unwrap_or_default()));
            current.old_epoch = names::is_epoch(old_stamp);
            current.new_epoch = names::is_epoch(new_stamp);
            current.names = Some((old, new));
        }
        true
    }

    /// One of the lines that git writes between `diff --git` and the first hunk.
    fn extended_header(&mut self, line: &[u8]) -> bool {
        let Some(current) = self.current.as_mut().filter(|c| c.header) else {
            return false;
        };
        if current.kind == Form::Plain {
            return false;
        }
        let line = trim_cr(line);
        let exact = |text: &[u8]| names::unquote(text).map_or_else(|| text.into(), |(n, _)| n);
        if line.starts_with(b"old mode ") || line.starts_with(b"new mode ") {
            current.mode_changed = true;
        } else if line.starts_with(b"new file mode ") {
            current.status = Some(FileStatus::Added);
        } else if line.starts_with(b"deleted file mode ") {
            current.status = Some(FileStatus::Deleted);
        } else if let Some(name) = strip_any(line, &[b"rename from ", b"rename old "]) {
            current.status = Some(FileStatus::Renamed);
            current.from = Some(exact(name));
        } else if let Some(name) = strip_any(line, &[b"rename to ", b"rename new "]) {
            current.status = Some(FileStatus::Renamed);
            current.to = Some(exact(name));
        } else if let Some(name) = line.strip_prefix(b"copy from ") {
            current.status = Some(FileStatus::Copied);
            current.from = Some(exact(name));
        } else if let Some(name) = line.strip_prefix(b"copy to ") {
            current.status = Some(FileStatus::Copied);
            current.to = Some(exact(name));
        } else {
            return strip_any(
                line,
                &[
                    b"index ",
                    b"similarity index ",
                    b"dissimilarity index ",
                    b"mode ",
                ],
            )
            .is_some();
        }
        true
    }

    /// `Binary files a/x and b/x differ` or the start of a `GIT binary patch`, whose data is passed over.
    fn binary(&mut self, line: &[u8]) -> bool {
        let line = trim_cr(line);
        let in_header = self.current.as_ref().is_some_and(|c| c.header);
        if line == b"GIT binary patch" {
            if let Some(current) = self.current.as_mut().filter(|_| in_header) {
                current.binary = true;
            }
            return in_header;
        }
        let Some(names) = strip_any(line, &[b"Binary files ", b"Files "])
            .and_then(|l| l.strip_suffix(b" differ"))
        else {
            return false;
        };
        if !in_header {
            let Some((old, new)) = names.split_once_str(" and ") else {
                return false;
            };
            self.flush();
            let mut file = Builder::plain();
            file.names = Some((names::side(old).0, names::side(new).0));
            file.header = false;
            self.current = Some(file);
        }
        if let Some(current) = &mut self.current {
            current.binary = true;
        }
        true
    }

    /// A line that belongs to no file: mail text, signatures, `Only in …`.
    fn other(&mut self, line: &[u8]) {
        let at = self.cursor.line();
        self.cursor.next();
        let Some(current) = &mut self.current else {
            return;
        };
        let signature = line.starts_with(b"-- ") || line == b"--";
        let changes = matches!(line.first(), Some(b'+' | b'-')) && !signature;
        if !current.header && current.after_hunk && changes {
            self.problems.push(
                at,
                "lines beyond what the hunk header says; like `git apply`, they are left out",
            );
        } else if line.starts_with(b"@@") && current.kind != Form::Merge {
            self.problems.push(
                at,
                "a hunk header that cannot be read; its lines are left out",
            );
        }
        // Text between patches does not look like lines of a hunk.
        let in_hunk = changes || matches!(line.first(), None | Some(b' ' | b'\\'));
        current.after_hunk &= in_hunk;
        // The data of a binary patch and a blank line may stand in a header; nothing else may.
        if !current.binary {
            current.header = false;
        }
    }
}

fn strip_any<'a>(line: &'a [u8], prefixes: &[&[u8]]) -> Option<&'a [u8]> {
    prefixes.iter().find_map(|p| line.strip_prefix(*p))
}

mod builder;
#[cfg(test)]
mod tests;
