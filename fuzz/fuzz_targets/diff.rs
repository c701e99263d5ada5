//! The reader of unified diffs: never panics, and what is written from it reads back as the same files.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_audit::patch::model::{FilePatch, FileStatus, Patch};
use trace_audit::patch::{parse, render};

/// A header whose lines contradict one another (two names, and no word of a move) can be read, and no header says
/// it again.
fn is_consistent(file: &FilePatch) -> bool {
    let moved = matches!(file.status, FileStatus::Renamed | FileStatus::Copied);
    let named = |path: &Option<_>| path.as_ref().is_none_or(|p: &bstr::BString| !p.is_empty());
    let same = file.old_path.is_none() || file.new_path.is_none() || file.old_path == file.new_path;
    named(&file.old_path) && named(&file.new_path) && (moved || same)
}

fuzz_target!(|bytes: &[u8]| {
    let mut first = parse(bytes);
    first.files.retain(is_consistent);
    let text = render(&first);
    let second = parse(&text);
    assert_eq!(text, render(&second), "writing is stable after one reading");
    let lines = |patch: &Patch| -> usize {
        let hunks = patch.files.iter().flat_map(|f| &f.hunks);
        hunks.map(|h| h.lines.len()).sum()
    };
    assert_eq!(lines(&first), lines(&second), "no line is lost");
});
