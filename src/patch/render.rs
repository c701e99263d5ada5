//! A [`Patch`] written as `git diff` writes it, so that other tools and people can use it.

use bstr::BString;

use super::model::{FilePatch, FileStatus, Hunk, LineKind, Patch};
use super::names::quote;

/// Writes all files. [`parse`](super::parse) reads the text back to the same files, binary contents aside,
/// which are only said to differ.
pub fn render(patch: &Patch) -> BString {
    let mut out = BString::default();
    for file in &patch.files {
        render_file(file, &mut out);
    }
    out
}

fn prefixed(prefix: &str, path: Option<&BString>) -> BString {
    match path {
        Some(path) => {
            let mut full = BString::from(prefix);
            full.extend_from_slice(path);
            quote(&full)
        }
        None => "/dev/null".into(),
    }
}

fn render_file(file: &FilePatch, out: &mut BString) {
    let path = file.path();
    let old = prefixed("a/", Some(file.old_path.as_ref().unwrap_or(path)));
    let new = prefixed("b/", Some(path));
    line(out, &[b"diff --git ", &old, b" ", &new]);
    let from = file.old_path.as_ref().unwrap_or(path);
    match file.status {
        FileStatus::Added => line(out, &[b"new file mode 100644"]),
        FileStatus::Deleted => line(out, &[b"deleted file mode 100644"]),
        FileStatus::Renamed => {
            line(out, &[b"rename from ", &quote(from)]);
            line(out, &[b"rename to ", &quote(path)]);
        }
        FileStatus::Copied => {
            line(out, &[b"copy from ", &quote(from)]);
            line(out, &[b"copy to ", &quote(path)]);
        }
        FileStatus::ModeOnly => {
            line(out, &[b"old mode 100644"]);
            line(out, &[b"new mode 100755"]);
        }
        FileStatus::Modified => {}
    }
    let old = prefixed("a/", file.old_path.as_ref());
    let new = prefixed("b/", file.new_path.as_ref());
    if file.binary {
        line(out, &[b"Binary files ", &old, b" and ", &new, b" differ"]);
    } else if !file.hunks.is_empty() || file.status == FileStatus::Modified && from != path {
        // The second case: without hunks, only these lines tell where one name ends and the other begins.
        line(out, &[b"--- ", &old, tab(&old)]);
        line(out, &[b"+++ ", &new, tab(&new)]);
        for hunk in &file.hunks {
            render_hunk(hunk, out);
        }
    }
}

/// Git puts a TAB behind an unquoted name with a blank.
fn tab(name: &BString) -> &'static [u8] {
    if name.contains(&b' ') && !name.starts_with(b"\"") {
        b"\t"
    } else {
        b""
    }
}

fn render_hunk(hunk: &Hunk, out: &mut BString) {
    let count = |other: LineKind| hunk.lines.iter().filter(|l| l.kind != other).count();
    let header = format!(
        "@@ -{},{} +{},{} @@",
        hunk.old_start,
        count(LineKind::Added),
        hunk.new_start,
        count(LineKind::Removed)
    );
    line(out, &[header.as_bytes()]);
    for l in &hunk.lines {
        let mark: &[u8] = match l.kind {
            LineKind::Context => b" ",
            LineKind::Added => b"+",
            LineKind::Removed => b"-",
        };
        line(out, &[mark, &l.text]);
        if l.no_newline {
            line(out, &[b"\\ No newline at end of file"]);
        }
    }
}

fn line(out: &mut BString, parts: &[&[u8]]) {
    for part in parts {
        out.extend_from_slice(part);
    }
    out.push(b'\n');
}
