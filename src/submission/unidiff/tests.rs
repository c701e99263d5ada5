//! Observed behaviour of the package; the outcomes were printed by it.

use bstr::ByteSlice;

use super::*;

/// Files as `source>target(hunk)(hunk)`, or the failure.
fn show(text: &str, release: Release) -> String {
    let files = match parse(text.as_bytes(), release) {
        Ok(files) => files,
        Err(failure) => return format!("! {}", failure.name()),
    };
    let mut out = String::new();
    for file in files {
        let target = file
            .target
            .map_or("None".into(), |name| name.to_str_lossy());
        out.push_str(&format!("[{}>{target}", file.source.as_bstr()));
        for hunk in file.hunks {
            out.push('(');
            for (kind, value) in hunk.lines().filter(|(kind, _)| *kind != b'\\') {
                out.push(char::from(kind));
                out.push_str(&value.to_str_lossy().replace('\n', "$").replace('\r', "^"));
            }
            out.push(')');
        }
        out.push(']');
    }
    out
}

const H: &str = "--- a/x\n+++ b/x\n";
const G: &str = "diff --git a/x b/x\n";
const K: &str = "@@ -1 +1 @@\n-a\n+b\n";

/// The text, and what release 0.7.5 and, where it differs, 1.0.1 makes of it.
fn check(cases: &[(String, &str, Option<&str>)]) {
    for (text, old, new) in cases {
        assert_eq!(show(text, Release::V0_7_5), *old, "{text:?}");
        assert_eq!(show(text, Release::V1_0_1), new.unwrap_or(old), "{text:?}");
    }
}

#[test]
fn hunks() {
    let body = |body: &str| format!("{H}@@ -1,2 +1,2 @@\n{body}");
    check(&[
        (body(" a\n-b\n+c\n"), "[a/x>b/x( a$-b$+c$)]", None),
        (body(" a\n-b\n+c"), "[a/x>b/x( a$-b$+c)]", None),
        (body("\n-b\n+c\n\n\n"), "[a/x>b/x( $-b$+c$)]", None),
        (body("-b\n+c\n\r\n"), "[a/x>b/x(-b$+c$ ^$)]", None),
        (body("-b\n+c\n\r\r\n"), "[a/x>b/x(-b$+c$ ^^)]", None),
        (body("-b\n+c\n\rz\n"), "[a/x>b/x(-b$+c$ ^)]", None),
        (body("-b\n+c\n "), "[a/x>b/x(-b$+c$ )]", None),
        (body(" a\n-b\n"), "! hunk_shorter", None),
        (body(" a\n-b\n-c\n"), "! hunk_longer", None),
        (body(" a\nfoo\n"), "! no_hunk_line", None),
        (body(" a\n-b\n\\ x\n+c\n"), "[a/x>b/x( a$-b$+c$)]", None),
        (format!("{H}@@ -0,0 +0,0 @@\n"), "[a/x>b/x()]", None),
        (format!("{H}@@ -0,0 +0,0 @@\n+a\n"), "! hunk_longer", None),
        (format!("{H}@@ -1 +1 @@"), "! hunk_shorter", None),
        (
            format!("{H}@@ -1,\u{661} +1 @@x\n-a\n+b\n"),
            "[a/x>b/x(-a$+b$)]",
            None,
        ),
        (
            format!("{H}@@ -1,2 +1,2 @@\n--- a\n+++ b\n c\n"),
            "[a/x>b/x(--- a$+++ b$ c$)]",
            None,
        ),
        (
            format!("{H}@@ -{} +1 @@\n", "1".repeat(4301)),
            "! number_too_long",
            None,
        ),
        (format!("{H}@@ -1 +1  @@\n-a\n+b\n"), "[a/x>b/x]", None),
    ]);
}

#[test]
fn what_may_follow_a_header() {
    check(&[
        (K.into(), "! hunk_without_file", None),
        (format!("+++ b/x\n{K}"), "! target_without_source", None),
        (format!("{H}foo\n{K}"), "! hunk_without_file", None),
        (format!("{G}{H}foo\n{K}"), "[a/x>b/x(-a$+b$)]", None),
        (format!("{G}foo\n{K}"), "[a/x>b/x(-a$+b$)]", None),
        (
            format!("{H}\n{K}"),
            "! stray_line",
            Some("! hunk_without_file"),
        ),
        (
            format!("{G}\n{K}"),
            "! stray_line",
            Some("[a/x>b/x(-a$+b$)]"),
        ),
        (format!("{H}{K}\n{K}"), "[a/x>b/x(-a$+b$)(-a$+b$)]", None),
        (format!("{H}{K} \n{K}"), "! hunk_without_file", None),
        (
            format!("\\ No newline at end of file\n{H}"),
            "! stray_line",
            None,
        ),
        (
            format!("{H}{K}{H}{K}"),
            "[a/x>b/x(-a$+b$)(-a$+b$)]",
            Some("[a/x>b/x(-a$+b$)][a/x>b/x(-a$+b$)]"),
        ),
        (
            format!("{H}{K}--- a/x\n+++ b/y\n{K}"),
            "! target_without_source",
            Some("[a/x>b/x(-a$+b$)][a/x>b/y(-a$+b$)]"),
        ),
        (
            format!("{G}--- a/y\n+++ b/x\n{K}"),
            "[a/x>b/x][a/y>b/x(-a$+b$)]",
            Some("[a/x>b/x(-a$+b$)]"),
        ),
        (
            format!("--- \n+++ \n{K}"),
            "! hunk_without_file",
            Some("[>(-a$+b$)]"),
        ),
        (
            format!("{G}new file mode 100644\n"),
            "[/dev/null>b/x]",
            None,
        ),
        (
            format!("{G}deleted file mode 1\n--- a/x\n+++ /dev/null\n{K}"),
            "[a/x>/dev/null(-a$+b$)]",
            None,
        ),
        (format!("{H}new file mode 1\n"), "! mode_without_file", None),
        ("".into(), "", None),
        ("foo\n".into(), "", None),
    ]);
}

#[test]
fn names() {
    let git = |names: &str| format!("diff --git {names}\n");
    check(&[
        (git("a/x y b/x y"), "[a/x y>b/x y]", None),
        (git("a/x b/y b/"), "[a/x>b/y b/]", None),
        (git("foo bar/baz qux"), "[foo bar/baz>qux]", None),
        (git("s://a/x y d://b/x y"), "[s://a/x y>d://b/x y]", None),
        (git("x\ty z"), "", None),
        (git("x"), "", None),
        (
            git("\"a/x y\" \"b/x y\""),
            "[\"a/x y\" \"b/x>y\"]",
            Some("[\"a/x y\">\"b/x y\"]"),
        ),
        (
            format!("--- a/x y\t1\r\n+++ b/x y\r\n{K}"),
            "[a/x y>b/x y\r(-a$+b$)]",
            None,
        ),
    ]);
}

#[test]
fn binary_files() {
    let binary = |rest: &str| format!("Binary file{rest}\n");
    check(&[
        (binary("s a and b differ"), "[a>b]", None),
        (binary("s a and b and c has changed"), "[a>b and c]", None),
        (
            binary("s a\t12 and b\t2020-01-01 00:00 differ"),
            "[a>b]",
            None,
        ),
        (binary("s a\tx and b differ"), "", None),
        (binary(" a differs"), "[a>None]", Some("[a>a]")),
        (
            binary("s a and  differ"),
            "[a and >None]",
            Some("[a and >a and ]"),
        ),
        (binary("s  differ"), "", None),
        (
            format!("{G}GIT binary patch\nfoo\n{K}"),
            "! hunk_without_file",
            None,
        ),
        ("GIT binary patch\n".into(), "! binary_without_file", None),
        ("GIT binary patch".into(), "", None),
        (
            format!("{H}{K}Binary files q and r differ\n"),
            "[a/x>b/x(-a$+b$)][q>r]",
            None,
        ),
    ]);
}
