//! The reader of unified diffs beside two others: a library of its own kind (`diffy`) and `git apply --numstat`.

use std::collections::BTreeMap;
use std::path::Path;

use diffy::patch_set::{FileOperation, ParseOptions, PatchKind, PatchSet};
use trace_audit::patch::model::{FilePatch, LineKind, Patch};
use trace_audit::patch::parse;

use super::reading::{Numstat, numstat, numstat_of_git, real_patches};

/// The added and removed lines of each file, as one text; `None` for binary files.
type Lines = BTreeMap<Vec<u8>, Option<Vec<u8>>>;

fn lines(patch: &Patch) -> Lines {
    let one = |f: &FilePatch| {
        let mut text = Vec::new();
        for line in f.hunks.iter().flat_map(|h| &h.lines) {
            match line.kind {
                LineKind::Added => text.push(b'+'),
                LineKind::Removed => text.push(b'-'),
                LineKind::Context => continue,
            }
            text.extend_from_slice(&line.text);
            text.push(b'\n');
        }
        (f.path().to_vec(), (!f.binary).then_some(text))
    };
    patch.files.iter().map(one).collect()
}

fn lines_of_diffy(bytes: &[u8], name: &str) -> Lines {
    let mut found = Lines::new();
    for file in PatchSet::parse_bytes(bytes, ParseOptions::gitdiff()) {
        let file = file.unwrap_or_else(|e| panic!("{name}: {e}"));
        let path = match file.operation().strip_prefix(1) {
            FileOperation::Delete(path) => path.into_owned(),
            FileOperation::Create(path) => path.into_owned(),
            FileOperation::Modify { modified, .. } => modified.into_owned(),
            FileOperation::Rename { .. } | FileOperation::Copy { .. } => {
                // Without the prefix that the others have.
                match file.operation() {
                    FileOperation::Rename { to, .. } | FileOperation::Copy { to, .. } => {
                        to.clone().into_owned()
                    }
                    _ => unreachable!(),
                }
            }
        };
        let text = match file.patch() {
            PatchKind::Binary(_) => None,
            PatchKind::Text(patch) => {
                let mut text = Vec::new();
                for line in patch.hunks().iter().flat_map(|h| h.lines()) {
                    let (mark, line) = match line {
                        diffy::Line::Insert(line) => (b'+', line),
                        diffy::Line::Delete(line) => (b'-', line),
                        diffy::Line::Context(_) => continue,
                    };
                    text.push(mark);
                    text.extend_from_slice(line.strip_suffix(b"\n").unwrap_or(line));
                    text.push(b'\n');
                }
                Some(text)
            }
        };
        found.insert(path, text);
    }
    found
}

fn counts(lines: &Lines) -> Numstat {
    let count = |text: &[u8], mark: u8| {
        let all = text.split(|b| *b == b'\n');
        all.filter(|line| line.first() == Some(&mark)).count()
    };
    let one = |(path, text): (&Vec<u8>, &Option<Vec<u8>>)| {
        let text = text.as_ref();
        (path.clone(), text.map(|t| (count(t, b'+'), count(t, b'-'))))
    };
    lines.iter().map(one).collect()
}

#[test]
fn real_patches_agree_with_both_line_by_line() {
    if !super::git_available() {
        return;
    }
    for path in real_patches() {
        let bytes = std::fs::read(&path).unwrap();
        let patch = parse(&bytes);
        let name = path.display().to_string();
        assert!(
            lines(&patch) == lines_of_diffy(&bytes, &name),
            "{name}: diffy"
        );
        assert!(numstat(&patch) == numstat_of_git(&path), "{name}: git");
    }
}

/// Patches that are well formed and made to be misread. git and the library agree on each.
const ADVERSARIAL: &[(&str, &[u8])] = &[
    (
        "added and removed lines that look like file headers",
        b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n--- a/zzz\n-old\n+++ b/zzz\n+new\n",
    ),
    (
        "lines that look like the next file",
        b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,4 @@\n one\n+diff --git a/y b/y\n+@@ -1 +1 @@\n two\n\
          diff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-a\n+b\n",
    ),
    (
        "quoted paths in octal, with a line feed and a quote",
        b"diff --git \"a/caf\\303\\251 \\n \\\"x\\\"\" \"b/caf\\303\\251 \\n \\\"x\\\"\"\n--- \"a/caf\\303\\251 \\n \\\"x\\\"\"\n\
          +++ \"b/caf\\303\\251 \\n \\\"x\\\"\"\n@@ -1 +1 @@\n-a\n+b\n",
    ),
    (
        "a path with spaces and the tab that git puts behind it",
        b"diff --git a/Core and Builtins/a b.rst b/Core and Builtins/a b.rst\nnew file mode 100644\nindex 0000000..1111111\n\
          --- /dev/null\n+++ b/Core and Builtins/a b.rst\t\n@@ -0,0 +1 @@\n+text\n",
    ),
    (
        "carriage returns, form feeds, control characters and bytes that are no UTF-8",
        b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n one\r\n-two\x0c\r\n+tw\rwo\x0c\r\n+caf\xe9 \xff\x1b[31m\x0b\xc2\x85\n three\xe2\x80\xa8\r\n",
    ),
    (
        "no final newline on either side",
        b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n one\n-two\n\\ No newline at end of file\n+2\n\\ No newline at end of file\n",
    ),
    (
        "a move without a change, and one with",
        b"diff --git a/old name b/new name\nsimilarity index 100%\nrename from old name\nrename to new name\n\
          diff --git a/p b/q\nsimilarity index 80%\nrename from p\nrename to q\nindex 1111111..2222222 100644\n--- a/p\n+++ b/q\n@@ -1,2 +1,2 @@\n-a\n+b\n c\n",
    ),
    (
        "hunks without counts, with headings, one after the other",
        b"diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@ fn @@ -9,9 +9,9 @@\n-a\n+b\n@@ -10,0 +11,2 @@\n+c\n+d\n@@ -20,2 +22,0 @@ }\n-e\n-f\n",
    ),
    (
        "binary files, an empty new one and an emptied one",
        b"diff --git a/p.png b/p.png\nindex 1111111..2222222 100644\nBinary files a/p.png and b/p.png differ\n\
          diff --git a/empty b/empty\nnew file mode 100644\nindex 0000000..e69de29\n\
          diff --git a/full b/full\nindex 1111111..e69de29 100644\n--- a/full\n+++ b/full\n@@ -1 +0,0 @@\n-x\n",
    ),
    (
        "deleted and new files whose lines begin with signs",
        b"diff --git a/gone b/gone\ndeleted file mode 100644\nindex 1111111..0000000\n--- a/gone\n+++ /dev/null\n@@ -1,3 +0,0 @@\n--\n--- \n-+\n\
          diff --git a/yaml b/yaml\nnew file mode 100755\nindex 0000000..1111111\n--- /dev/null\n+++ b/yaml\n@@ -0,0 +1,4 @@\n+- item\n++ plus\n++++ b/other\n+\n",
    ),
    (
        "a name that looks like two",
        b"diff --git a/a b/b b/a b/b\nindex 1111111..2222222 100644\n--- a/a b/b\t\n+++ b/a b/b\t\n@@ -1 +1 @@\n-x\n+y\n",
    ),
    (
        "a mail around it",
        b"From 0123456789012345678901234567890123456789 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] x\n\n---\n x | 2 +-\n 1 file changed\n\n\
          diff --git a/x b/x\nindex 1111111..2222222 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.40.0\n\n",
    ),
];

#[test]
fn adversarial_patches_agree_with_both_line_by_line() {
    if !super::git_available() {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    for (name, bytes) in ADVERSARIAL {
        let file: &Path = &dir.path().join("p.patch");
        std::fs::write(file, bytes).unwrap();
        let patch = parse(bytes);
        assert!(patch.problems.is_empty(), "{name}: {:?}", patch.problems);
        let ours = lines(&patch);
        assert_eq!(counts(&ours), numstat_of_git(file), "{name}: git");
        assert_eq!(ours, lines_of_diffy(bytes, name), "{name}: diffy");
    }
}
