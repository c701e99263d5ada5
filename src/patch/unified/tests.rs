use bstr::BString;
use proptest::prelude::*;

use super::super::model::{Hunk, Line, LineKind};
use super::super::render;
use super::*;

fn summary(text: &str) -> Vec<(String, FileStatus, usize, usize)> {
    let patch = parse(text.as_bytes());
    assert!(patch.problems.is_empty(), "{:?}", patch.problems);
    brief(&patch)
}

fn brief(patch: &Patch) -> Vec<(String, FileStatus, usize, usize)> {
    let removed = |f: &FilePatch| f.lines_of(LineKind::Removed).count();
    patch
        .files
        .iter()
        .map(|f| {
            (
                f.path().to_string(),
                f.status,
                f.added().count(),
                removed(f),
            )
        })
        .collect()
}

type Case = (&'static str, (&'static str, FileStatus, usize, usize));

use FileStatus::{Added, Copied, Deleted, ModeOnly, Modified, Renamed};

const GIT_FORMS: &[Case] = &[
    (
        "diff --git a/x b/x\nindex 1..2 100644\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        ("x", Modified, 1, 1),
    ),
    (
        "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n",
        ("x", Added, 1, 0),
    ),
    (
        "diff --git a/x b/x\nnew file mode 100644\nindex 0000000..e69de29\n",
        ("x", Added, 0, 0),
    ),
    (
        "diff --git a/x b/x\ndeleted file mode 100644\nindex 1..0\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n",
        ("x", Deleted, 0, 1),
    ),
    (
        "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n",
        ("y", Renamed, 0, 0),
    ),
    (
        "diff --git a/x b/y\nsimilarity index 90%\ncopy from x\ncopy to y\nindex 1..2 100644\n--- a/x\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n",
        ("y", Copied, 1, 1),
    ),
    (
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n",
        ("x", ModeOnly, 0, 0),
    ),
    (
        "diff --git a/x b/x\nold mode 100644\nnew mode 100755\nindex 1..2\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n",
        ("x", Modified, 1, 1),
    ),
    (
        "diff --git a/x.png b/x.png\nindex 1..2 100644\nBinary files a/x.png and b/x.png differ\n",
        ("x.png", Modified, 0, 0),
    ),
    (
        "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\nGIT binary patch\nliteral 3\nKc$@abc\n\nliteral 0\nHcmV?d00001\n\n",
        ("x", Added, 0, 0),
    ),
    (
        "diff --git src/x src/x\n--- src/x\n+++ src/x\n@@ -1 +1 @@\n-a\n+b\n",
        ("src/x", Modified, 1, 1),
    ),
    (
        "diff --git i/x w/x\n--- i/x\n+++ w/x\n@@ -1 +1 @@\n-a\n+b\n",
        ("x", Modified, 1, 1),
    ),
    (
        "diff --git a/a b.txt b/a b.txt\n--- a/a b.txt\t\n+++ b/a b.txt\t\n@@ -1 +1 @@\n-a\n+b\n",
        ("a b.txt", Modified, 1, 1),
    ),
    (
        "diff --git \"a/\\346\\226\\207\" \"b/\\346\\226\\207\"\n--- \"a/\\346\\226\\207\"\n+++ \"b/\\346\\226\\207\"\n@@ -1 +1 @@\n-a\n+b\n",
        ("\u{6587}", Modified, 1, 1),
    ),
    (
        "diff --git a/sub b/sub\nindex 1..2 160000\n--- a/sub\n+++ b/sub\n@@ -1 +1 @@\n-Subproject commit 1\n+Subproject commit 2\n",
        ("sub", Modified, 1, 1),
    ),
];

/// Prefixes, names, and what is not from `git diff`.
const OTHER_FORMS: &[Case] = &[
    (
        "diff -ru old/x new/x\n--- old/x\t2024-01-01 00:00:00 +0000\n+++ new/x\t2024-01-02 00:00:00 +0000\n@@ -1 +1 @@\n-a\n+b\n",
        ("x", Modified, 1, 1),
    ),
    (
        "--- old/x\t1970-01-01 01:00:00.000000000 +0100\n+++ new/x\t2024-01-02 00:00:00 +0000\n@@ -0,0 +1 @@\n+b\n",
        ("x", Added, 1, 0),
    ),
    (
        "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n",
        ("x", Deleted, 0, 1),
    ),
    (
        "--- x.orig\n+++ x\n@@ -1 +1 @@\n-a\n+b\n",
        ("x", Modified, 1, 1),
    ),
    (
        "Binary files old/x.png and new/x.png differ\n",
        ("x.png", Modified, 0, 0),
    ),
    (
        "diff --cc x\nindex 1,2..3\n--- a/x\n+++ b/x\n@@@ -1,3 -1,2 +1,3 @@@\n  one\n -two\n- three\n++both\n +theirs\n",
        ("x", Modified, 1, 1),
    ),
];

#[test]
fn every_form_of_a_file() {
    for (text, (path, status, added, removed)) in GIT_FORMS.iter().chain(OTHER_FORMS) {
        let want = [(path.to_string(), *status, *added, *removed)];
        assert_eq!(summary(text), want, "{text}");
    }
}

#[test]
fn lines_that_look_like_headers_are_lines() {
    let text = "diff --git a/a.sql b/a.sql\n--- a/a.sql\n+++ b/a.sql\n@@ -1,3 +1,3 @@\n--- x\n--- a/y\n+++ b/y\n+++ b/zzz\n ok\n";
    let patch = parse(text.as_bytes());
    assert_eq!(patch.files.len(), 1);
    let lines: Vec<_> = patch.files[0].hunks[0]
        .lines
        .iter()
        .map(|l| l.text.to_string())
        .collect();
    assert_eq!(lines, ["-- x", "-- a/y", "++ b/y", "++ b/zzz", "ok"]);
}

#[test]
fn no_newline_marks_the_line_before_it() {
    let text = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n";
    let patch = parse(text.as_bytes());
    assert!(patch.files[0].hunks[0].lines.iter().all(|l| l.no_newline));
}

#[test]
fn bytes_stay_bytes() {
    let text = b"--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n \x0cform\x0bfeed\xe2\x80\xa8\n-caf\xe9\r\n+caf\xc3\xa9\r\n";
    let patch = parse(text);
    let lines = &patch.files[0].hunks[0].lines;
    assert_eq!(lines[0].text, b"\x0cform\x0bfeed\xe2\x80\xa8".as_slice());
    assert_eq!(lines[1].text, b"caf\xe9\r".as_slice());
    assert_eq!(lines[2].text, b"caf\xc3\xa9\r".as_slice());
}

#[test]
fn a_patch_with_crlf_headers_is_read_as_lf() {
    let text = "diff --git a/x b/x\r\n--- a/x\r\n+++ b/x\r\n@@ -1,2 +1,2 @@\r\n c\r\n-a\r\n+b\r\n";
    let patch = parse(text.as_bytes());
    assert_eq!(patch.files[0].path(), "x");
    assert_eq!(patch.files[0].hunks[0].lines[2].text, "b");
    assert_eq!(patch.problems.len(), 1);
}

#[test]
fn mail_around_a_patch_is_no_part_of_it() {
    let text = "From 1234 Mon Sep 17 00:00:00 2001\nFrom: A <a@example.org>\nSubject: [PATCH] x\n\n\
        @@ -1,9 +1,9 @@ quoted in the message\n---\n x | 2 +-\n 1 file changed\n\n\
        diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n-- \n2.40.1\n\n\
        From 5678 Mon Sep 17 00:00:00 2001\nSubject: [PATCH] y\n\n---\n\
        diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n-- \n2.40.1\n";
    let patch = parse(text.as_bytes());
    assert_eq!(brief(&patch).len(), 2);
    assert_eq!(brief(&patch)[0].2, 1);
    assert_eq!(patch.problems.len(), 1, "only the quoted hunk header");
}

#[test]
fn broken_hunks_keep_their_complete_lines() {
    for (text, added, files) in [
        ("--- a/x\n+++ b/x\n@@ -1,5 +1,6 @@\n c\n+a\n", 1, 1),
        (
            "--- a/x\n+++ b/x\n@@ -1,5 +1,6 @@\n c\n+a\ndiff --git a/y b/y\nnew file mode 100644\n",
            1,
            2,
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1,5 +1,6 @@\n c\n+a\n@@ -9 +9 @@\n-q\n+r\n",
            2,
            1,
        ),
        (
            "--- a/x\n+++ b/x\n@@ -1,5 +1,6 @@\n+a\n--- a/y\n+++ b/y\n@@ -9 +9 @@\n-q\n+r\n",
            2,
            2,
        ),
        ("--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n c\n+a\n+left out\n", 1, 1),
        ("@@ -1 +1,2 @@\n c\n+a\n", 0, 0),
        ("--- a/x\n+++ b/x\n@@ -1 +1,4294967295 @@\n c\n+a\n", 1, 1),
    ] {
        let patch = parse(text.as_bytes());
        let got: usize = patch.files.iter().map(|f| f.added().count()).sum();
        assert_eq!((got, patch.files.len()), (added, files), "{text}");
        assert!(!patch.problems.is_empty(), "{text}");
    }
}

#[test]
fn problems_are_bounded() {
    let text = "@@ -1 +1 @@\n".repeat(10_000);
    let patch = parse(text.as_bytes());
    assert_eq!(patch.problems.len(), MAX_PROBLEMS + 1);
}

fn any_line() -> impl Strategy<Value = Line> {
    let kind = prop_oneof![
        Just(LineKind::Context),
        Just(LineKind::Added),
        Just(LineKind::Removed)
    ];
    let text = prop_oneof![
        "[ -~\u{c}\r\u{6587}]{0,12}",
        Just("-- a/x".to_owned()),
        Just("++ b/x".to_owned()),
        Just("@@ -1 +1 @@".to_owned()),
        Just("diff --git a/x b/x".to_owned()),
    ];
    (kind, text, proptest::bool::weighted(0.1)).prop_map(|(kind, text, no_newline)| Line {
        kind,
        text: text.into_bytes().into(),
        no_newline,
    })
}

fn any_file() -> impl Strategy<Value = FilePatch> {
    let path = proptest::collection::vec(1u8..=255, 1..9)
        .prop_filter("a path", |p| p != b"/dev/null" && !p.contains(&b'/'));
    let hunk = (
        1u32..1000,
        1u32..1000,
        proptest::collection::vec(any_line(), 1..8),
    )
        .prop_map(|(old_start, new_start, lines)| Hunk {
            old_start,
            new_start,
            lines,
        });
    (path, 0usize..4, proptest::collection::vec(hunk, 1..4)).prop_map(|(path, status, hunks)| {
        let path: BString = path.into();
        let mut other = path.clone();
        other.extend_from_slice(b".new");
        let (status, old_path, new_path) = match status {
            0 => (FileStatus::Added, None, Some(path)),
            1 => (FileStatus::Deleted, Some(path), None),
            2 => (FileStatus::Renamed, Some(path), Some(other)),
            _ => (FileStatus::Modified, Some(path.clone()), Some(path)),
        };
        FilePatch {
            old_path,
            new_path,
            status,
            binary: false,
            hunks,
        }
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read_back(files in proptest::collection::vec(any_file(), 0..4)) {
        let patch = Patch { files, problems: Vec::new() };
        let text = render(&patch);
        prop_assert_eq!(parse(&text), patch);
    }

    #[test]
    fn random_bytes_do_no_harm(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        parse(&bytes);
    }

    #[test]
    fn a_mutated_patch_does_no_harm(
        files in proptest::collection::vec(any_file(), 1..4),
        cuts in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
    ) {
        let mut text = render(&Patch { files, problems: Vec::new() });
        for (at, byte) in cuts {
            let at = at.index(text.len());
            if byte < 50 { text.truncate(at + 1) } else { text[at] = byte }
        }
        let patch = parse(&text);
        let lines: usize = patch.files.iter().flat_map(|f| &f.hunks).map(|h| h.lines.len()).sum();
        prop_assert!(lines <= text.lines().count());
    }
}

#[test]
fn a_file_that_claims_to_be_binary_and_has_lines_is_text() {
    let text = b"diff --git a/x b/x\n--- a/x\n+++ b/x\nGIT binary patch\nliteral 2\nKcmZ\n\n@@ -1 +1,2 @@\n one\n+two\n";
    let patch = parse(text);
    let file = &patch.files[0];
    assert!(!file.binary);
    assert_eq!(file.added().count(), 1);
}

#[test]
fn a_file_under_two_names_without_hunks_is_written_with_both() {
    let patch = parse(b"diff --git a/x b/yy\n--- a/x\n+++ b/yy\n");
    assert_eq!(parse(&crate::patch::render(&patch)), patch);
}
