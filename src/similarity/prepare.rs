//! The lines of a patch, made comparable.

use std::borrow::Cow;

use bstr::ByteSlice;

use super::comments::{self, Stripped};
use super::normalise::{fold, squeeze};
use super::syntax::Syntax;
use crate::patch::model::{FilePatch, Hunk, Line, LineKind};

/// A line of a hunk with what is compared of it.
#[derive(Debug, Clone)]
pub struct PreparedLine<'a> {
    /// The line in the patch.
    pub line: &'a Line,
    /// 1-based line in the new version; for a removed line, the line it stood before.
    pub number: u32,
    /// Without comments and indentation, folded, with the other white space: what the lexer reads.
    pub code: Cow<'a, str>,
    /// Comparison text: [`Self::code`] without white space. Empty for blank and comment lines.
    pub text: String,
    /// Where the lines before hide something of this one (a block comment): its code by itself.
    pub alone: Option<String>,
}

impl PreparedLine<'_> {
    /// Added, removed or context.
    pub fn kind(&self) -> LineKind {
        self.line.kind
    }

    /// The line as it stands, but for white space, is its comparison text: no comment, nothing folded.
    pub fn is_bare(&self) -> bool {
        matches!(self.code, Cow::Borrowed(_))
    }
}

/// The bytes of a line as text; what is not UTF-8 becomes U+FFFD.
pub fn raw_text(line: &Line) -> Cow<'_, str> {
    line.text.to_str_lossy()
}

/// The comparison text of a line with its comments.
pub fn squeezed_raw(line: &Line) -> String {
    squeeze(&raw_text(line))
}

/// Prepares a file, hunk by hunk. Comments are told apart within each hunk, on its old and new side.
pub fn prepare(file: &FilePatch) -> Vec<Vec<PreparedLine<'_>>> {
    let syntax = Syntax::of(&file.path().to_str_lossy());
    file.hunks
        .iter()
        .map(|hunk| prepare_hunk(syntax, hunk))
        .collect()
}

fn prepare_hunk<'a>(syntax: &Syntax, hunk: &'a Hunk) -> Vec<PreparedLine<'a>> {
    let raw: Vec<Cow<'a, str>> = hunk.lines.iter().map(raw_text).collect();
    // The new side last: what a context line means there wins.
    let mut stripped: Vec<Option<Stripped<'_>>> = vec![None; raw.len()];
    for other_side in [LineKind::Added, LineKind::Removed] {
        let side: Vec<(usize, &str)> = hunk
            .lines
            .iter()
            .zip(&raw)
            .enumerate()
            .filter(|(_, (line, _))| line.kind != other_side)
            .map(|(at, (_, raw))| (at, raw.as_ref()))
            .collect();
        let lines: Vec<&str> = side.iter().map(|(_, raw)| *raw).collect();
        for ((at, _), line) in side.iter().zip(comments::strip(syntax, &lines)) {
            if let Some(slot) = stripped.get_mut(*at) {
                *slot = Some(line);
            }
        }
    }
    let mut number = hunk.new_start.max(1);
    hunk.lines
        .iter()
        .zip(&raw)
        .zip(&stripped)
        .map(|((line, raw), stripped)| {
            let by_state = stripped.as_ref().is_some_and(|stripped| stripped.by_state);
            let code = stripped.as_ref().map_or("", |stripped| &stripped.code);
            let code = match raw {
                // Most lines have no comment, and are handed back as they are.
                Cow::Borrowed(raw) if raw.len() == code.len() => fold(raw.trim_start()),
                _ => Cow::Owned(fold(code.trim_start()).into_owned()),
            };
            let alone = || fold(comments::strip_line(syntax, raw).trim_start()).into_owned();
            let prepared = PreparedLine {
                line,
                number,
                text: squeeze(&code),
                code,
                alone: by_state.then(alone),
            };
            if line.kind != LineKind::Removed {
                number = number.saturating_add(1);
            }
            prepared
        })
        .collect()
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::patch::model::{FileStatus, Patch};

    /// A one-hunk file from lines with diff prefixes.
    pub(crate) fn file(path: &str, lines: &[&str]) -> FilePatch {
        let lines: Vec<Line> = lines
            .iter()
            .map(|line| Line {
                kind: match line.as_bytes().first() {
                    Some(b'+') => LineKind::Added,
                    Some(b'-') => LineKind::Removed,
                    _ => LineKind::Context,
                },
                text: line.as_bytes()[1..].into(),
                no_newline: false,
            })
            .collect();
        FilePatch {
            old_path: Some(path.into()),
            new_path: Some(path.into()),
            status: FileStatus::Modified,
            binary: false,
            hunks: vec![Hunk {
                old_start: 1,
                new_start: 1,
                lines,
            }],
        }
    }

    pub(crate) fn patch(files: Vec<FilePatch>) -> Patch {
        Patch {
            files,
            problems: Vec::new(),
        }
    }

    #[test]
    fn comments_are_told_apart_on_each_side() {
        let file = file(
            "a.c",
            &[
                " int a; /* one",
                "-still comment */ int old;",
                "+closed */ int x = 1; // two",
                " int b;",
            ],
        );
        let hunks = prepare(&file);
        let texts: Vec<(&str, u32)> = hunks[0]
            .iter()
            .map(|l| (l.text.as_str(), l.number))
            .collect();
        assert_eq!(
            texts,
            [("inta;", 1), ("intold;", 2), ("intx=1;", 2), ("intb;", 3)]
        );
        assert_eq!(hunks[0][2].code.trim(), "int x = 1;");
    }

    #[test]
    fn bytes_that_are_no_text_compare_as_replacement_characters() {
        let mut file = file("a.py", &["+x"]);
        file.hunks[0].lines[0].text = b"x = '\xff'  # \xfe".as_slice().into();
        assert_eq!(prepare(&file)[0][0].text, "x='\u{fffd}'");
    }
}
