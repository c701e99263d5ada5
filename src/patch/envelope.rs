//! The patch form that some agents give to their edit tool: `*** Begin Patch` … `*** End Patch`.
//!
//! It has no line numbers and no counts, so here, and only here, the first character of a line decides.
//! Hunks get line number 0 ("not said").

use super::cursor::{Cursor, trim_cr};
use super::model::{FilePatch, FileStatus, Hunk, Line, LineKind, Patch};
use super::unified::Problems;

const BEGIN: &[u8] = b"*** Begin Patch";
const END: &[u8] = b"*** End Patch";

/// True when the first line that is not blank begins such a patch.
pub(super) fn recognise(bytes: &[u8]) -> bool {
    bytes.trim_ascii_start().starts_with(BEGIN)
}

/// Reads every envelope of the text. What stands between two of them is passed over.
pub(super) fn parse(bytes: &[u8]) -> Patch {
    let mut files: Vec<FilePatch> = Vec::new();
    let mut problems = Problems::default();
    let mut cursor = Cursor::new(bytes);
    let mut inside = false;
    loop {
        let at = cursor.line();
        let Some(raw) = cursor.next() else { break };
        let line = trim_cr(raw);
        if line.starts_with(BEGIN) {
            inside = true;
        } else if line.starts_with(END) {
            inside = false;
        } else if !inside {
        } else if let Some(name) = line.strip_prefix(b"*** ") {
            if !directive(name, &mut files) {
                problems.push(at, "an unknown `***` line; passed over");
            }
        } else if let Some(file) = files.last_mut() {
            if !body(line, file) {
                problems.push(at, "a line that is no part of a hunk; left out");
            }
        } else {
            problems.push(at, "a hunk without the name of a file; left out");
        }
    }
    if inside {
        problems.push(cursor.line(), "`*** End Patch` is missing");
    }
    for file in &mut files {
        file.hunks.retain(|h| !h.lines.is_empty());
    }
    Patch {
        files,
        problems: problems.finish(),
    }
}

fn directive(text: &[u8], files: &mut Vec<FilePatch>) -> bool {
    let (status, path) = if let Some(path) = text.strip_prefix(b"Add File: ") {
        (FileStatus::Added, path)
    } else if let Some(path) = text.strip_prefix(b"Delete File: ") {
        (FileStatus::Deleted, path)
    } else if let Some(path) = text.strip_prefix(b"Update File: ") {
        (FileStatus::Modified, path)
    } else if let Some(path) = text.strip_prefix(b"Move to: ") {
        if let Some(file) = files.last_mut() {
            file.status = FileStatus::Renamed;
            file.new_path = Some(path.trim_ascii().into());
        }
        return !files.is_empty();
    } else {
        return text.starts_with(b"End of File");
    };
    let path: bstr::BString = path.trim_ascii().into();
    files.push(FilePatch {
        old_path: (status != FileStatus::Added).then(|| path.clone()),
        new_path: (status != FileStatus::Deleted).then_some(path),
        status,
        binary: false,
        hunks: Vec::new(),
    });
    true
}

fn body(line: &[u8], file: &mut FilePatch) -> bool {
    if line.starts_with(b"@@") {
        file.hunks.push(Hunk::default());
        return true;
    }
    let (mark, text) = line.split_first().unwrap_or((&b' ', b""));
    let kind = match mark {
        b'+' => LineKind::Added,
        b'-' => LineKind::Removed,
        b' ' => LineKind::Context,
        _ => return false,
    };
    if file.hunks.is_empty() {
        file.hunks.push(Hunk::default());
    }
    if let Some(hunk) = file.hunks.last_mut() {
        hunk.lines.push(Line {
            kind,
            text: text.into(),
            no_newline: false,
        });
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_operations() {
        let text = b"*** Begin Patch\n*** Add File: new.py\n+a\n+\n*** Delete File: old.py\n\
            *** Update File: x.py\n*** Move to: y.py\n@@ def f():\n ctx\n-one\n+two\n*** End of File\n\
            *** End Patch\n";
        assert!(recognise(text));
        let patch = parse(text);
        assert!(patch.problems.is_empty(), "{:?}", patch.problems);
        let got: Vec<_> = patch
            .files
            .iter()
            .map(|f| (f.path().to_string(), f.status, f.added().count()))
            .collect();
        assert_eq!(
            got,
            [
                ("new.py".to_owned(), FileStatus::Added, 2),
                ("old.py".to_owned(), FileStatus::Deleted, 0),
                ("y.py".to_owned(), FileStatus::Renamed, 1),
            ]
        );
    }

    #[test]
    fn broken_ones_say_so() {
        for text in [
            &b"*** Begin Patch\n+x\n*** End Patch\n"[..],
            b"*** Begin Patch\n*** Frob: x\n*** End Patch\n",
            b"*** Begin Patch\n*** Move to: x\n*** End Patch\n",
            b"*** Begin Patch\n*** Add File: x\n+y",
        ] {
            assert!(!parse(text).problems.is_empty());
        }
    }
}
