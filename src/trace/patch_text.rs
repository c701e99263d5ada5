//! Patch texts that agents hand to an edit tool: what they add and remove, by file.
//!
//! Two notations occur: the `*** Begin Patch` format of `apply_patch`, and unified diffs. This is not
//! a patch parser: it sorts lines into old and new text and ignores positions.

use super::event::{EditOp, FileEdit};

/// The patch in a command that is `apply_patch` with a here-document and nothing else, which Codex
/// takes for its edit tool and never gives to a shell.
pub(crate) fn heredoc(command: &str) -> Option<&str> {
    let mut program = command.trim_start();
    if let Some((change_dir, rest)) = program.split_once("&&")
        && change_dir.trim_start().starts_with("cd ")
        && !change_dir.contains(['\n', ';', '|', '`', '('])
    {
        program = rest.trim_start();
    }
    let behind = program
        .strip_prefix("apply_patch")
        .or_else(|| program.strip_prefix("applypatch"))?;
    let delimiter = behind.trim_start().strip_prefix("<<")?;
    let (delimiter, patch) = delimiter.split_once('\n')?;
    let delimiter = delimiter.trim().trim_matches(['\'', '"']);
    let (patch, end) = patch.split_once("\n*** End Patch\n")?;
    let whole = patch.trim_start().starts_with("*** Begin Patch") && end.trim() == delimiter;
    whole.then_some(patch)
}

/// The files of an `apply_patch` text or of a unified diff; empty when the text is neither.
pub(crate) fn file_edits(patch: &str) -> Vec<FileEdit> {
    if patch.contains("*** Begin Patch") || patch.contains("*** Update File: ") {
        apply_patch(patch)
    } else {
        unified_files(patch)
    }
}

/// Old and new lines of the hunks of one file, whatever headers stand before them.
pub(crate) fn hunk_lines(diff: &str) -> (String, String) {
    let mut old = String::new();
    let mut new = String::new();
    let has_hunks = diff.lines().any(|line| line.starts_with("@@"));
    let mut in_hunk = !has_hunks;
    for line in diff.lines() {
        if line.starts_with("@@") {
            in_hunk = true;
        } else if line.starts_with("diff --git ") || line.starts_with("Index: ") {
            in_hunk = !has_hunks;
        } else if in_hunk && !is_file_header(line, has_hunks) {
            sort_line(line, &mut old, &mut new);
        }
    }
    (old, new)
}

/// `--- a` and `+++ b` where there are no hunk headers to tell headers from lines.
fn is_file_header(line: &str, has_hunks: bool) -> bool {
    !has_hunks && (line.starts_with("--- ") || line.starts_with("+++ "))
}

fn sort_line(line: &str, old: &mut String, new: &mut String) {
    if let Some(added) = line.strip_prefix('+') {
        push_line(new, added);
    } else if let Some(removed) = line.strip_prefix('-') {
        push_line(old, removed);
    }
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

fn apply_patch(patch: &str) -> Vec<FileEdit> {
    let mut edits: Vec<FileEdit> = Vec::new();
    for line in patch.lines() {
        let header = [
            ("*** Add File: ", EditOp::Write),
            ("*** Update File: ", EditOp::Replace),
            ("*** Delete File: ", EditOp::Delete),
        ]
        .into_iter()
        .find_map(|(prefix, op)| Some((line.strip_prefix(prefix)?, op)));
        if let Some((path, op)) = header {
            let texts = op != EditOp::Delete;
            edits.push(FileEdit {
                path: path.trim().to_owned(),
                op,
                old: (op == EditOp::Replace).then(String::new),
                new: texts.then(String::new),
            });
        } else if let Some(target) = line.strip_prefix("*** Move to: ") {
            if let Some(edit) = edits.last_mut() {
                edit.path = target.trim().to_owned();
            }
        } else if let Some(edit) = edits.last_mut().filter(|_| !line.starts_with("*** ")) {
            let mut nowhere = String::new();
            let new = edit.new.as_mut().unwrap_or(&mut nowhere);
            match &mut edit.old {
                Some(old) => sort_line(line, old, new),
                None => sort_line(line, &mut String::new(), new),
            }
        }
    }
    edits
}

/// Splits a unified diff at its `+++` headers.
fn unified_files(diff: &str) -> Vec<FileEdit> {
    let mut files: Vec<(String, String, String)> = Vec::new();
    let mut old_path = "";
    for line in diff.lines() {
        if let Some(path) = line.strip_prefix("--- ") {
            old_path = path;
        } else if let Some(path) = line.strip_prefix("+++ ") {
            let gone = path.starts_with("/dev/null");
            let path = clean_path(if gone { old_path } else { path });
            files.push((path.to_owned(), String::new(), String::new()));
        } else if let Some((_, old, new)) = files.last_mut()
            && !line.starts_with("diff --git ")
        {
            sort_line(line, old, new);
        }
    }
    files
        .into_iter()
        .map(|(path, old, new)| FileEdit {
            path,
            op: EditOp::Replace,
            old: Some(old),
            new: Some(new),
        })
        .collect()
}

/// A path of a `---`/`+++` line without `a/`, `b/` and time stamp.
fn clean_path(path: &str) -> &str {
    let path = path.split('\t').next().unwrap_or(path).trim();
    path.strip_prefix("a/")
        .or_else(|| path.strip_prefix("b/"))
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edit(path: &str, op: EditOp, old: Option<&str>, new: Option<&str>) -> FileEdit {
        FileEdit {
            path: path.into(),
            op,
            old: old.map(Into::into),
            new: new.map(Into::into),
        }
    }

    #[test]
    fn apply_patch_text() {
        let patch = "*** Begin Patch\n*** Add File: new.py\n+a = 1\n+\n*** Update File: src/old.py\n\
                     *** Move to: src/moved.py\n@@ def f():\n     keep\n-    x\n+    y\n@@\n+    z\n\
                     *** Delete File: gone.py\n*** End Patch\n";
        assert_eq!(
            file_edits(patch),
            [
                edit("new.py", EditOp::Write, None, Some("a = 1\n\n")),
                edit(
                    "src/moved.py",
                    EditOp::Replace,
                    Some("    x\n"),
                    Some("    y\n    z\n")
                ),
                edit("gone.py", EditOp::Delete, None, None),
            ]
        );
    }

    #[test]
    fn unified_diffs() {
        let diff = "diff --git a/x.rs b/x.rs\n--- a/x.rs\t2026\n+++ b/x.rs\t2026\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n\
                    diff --git a/y.rs b/y.rs\n--- a/y.rs\n+++ /dev/null\n@@ -1 +0,0 @@\n-gone\n";
        assert_eq!(
            file_edits(diff),
            [
                edit("x.rs", EditOp::Replace, Some("b\n"), Some("c\n")),
                edit("y.rs", EditOp::Replace, Some("gone\n"), Some("")),
            ]
        );
        assert_eq!(file_edits("no patch at all\n+x"), []);
    }

    #[test]
    fn lines_of_one_file() {
        let diff = "Index: f\n===\n--- f\n+++ f\n@@ -1 +1 @@\n-old\n+new\n+++ counter\n";
        assert_eq!(
            hunk_lines(diff),
            ("old\n".into(), "new\n++ counter\n".into())
        );
        assert_eq!(
            hunk_lines("--- f\n+++ f\n-old\n+new\n"),
            ("old\n".into(), "new\n".into())
        );
    }
}
