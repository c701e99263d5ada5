//! The rule of the post on cheating in SWE-bench submissions (November 2025), as published.
//!
//! Both patches are read by `unidiff`; added lines that begin with `#` are left out; the prediction
//! matches when it changes every file of the gold patch and holds each of its hunks, context and all,
//! line for line. Files are known by their name after the change, so that of several deleted files
//! (`/dev/null`) only the last counts, and so does the last of several sections for one file. Its
//! weaknesses are kept: another number of context lines, a missing final newline or another language's
//! comments defeat it, and a gold patch without any file matches everything.

use std::collections::{BTreeMap, HashSet};

use super::python::is_hash_comment;
use super::unidiff::{self, Failure, Hunk, Release};

/// A patch as the rule sees it: the hunks of each file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Outline<'a> {
    files: BTreeMap<Option<&'a [u8]>, Vec<Hunk<'a>>>,
}

impl<'a> Outline<'a> {
    /// Reads a patch.
    ///
    /// # Errors
    /// Where Python's `unidiff` raises an exception.
    pub fn read(patch: &'a [u8], release: Release) -> Result<Self, Failure> {
        // The later of two files with one name wins, as in a Python dictionary.
        let files = unidiff::parse(patch, release)?
            .into_iter()
            .map(|file| (file.target, file.hunks))
            .collect();
        Ok(Self { files })
    }

    /// The names of its files.
    pub fn names(&self) -> impl Iterator<Item = Option<&'a [u8]>> {
        self.files.keys().copied()
    }

    /// Whether it names such a file.
    pub fn has(&self, name: Option<&[u8]>) -> bool {
        self.files.contains_key(&name)
    }

    /// How many files it names. A gold patch without any is contained in every prediction.
    pub fn len(&self) -> usize {
        self.files.len()
    }

    /// Names no file.
    pub fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Whether every hunk of `self`, the gold patch, is in `prediction`.
    pub fn contained_in(&self, prediction: &Outline<'_>) -> bool {
        let has_all_files = self
            .files
            .keys()
            .all(|name| prediction.files.contains_key(name));
        has_all_files
            && self.files.iter().all(|(name, hunks)| {
                let there = prediction.files.get(name).map_or(&[][..], Vec::as_slice);
                hunks_in(hunks, there)
            })
    }
}

/// Above so many pairs, hunks are looked up by their keys: the pairs would grow with the square.
const MAX_PAIRS: usize = 4_096;

fn hunks_in(gold: &[Hunk<'_>], prediction: &[Hunk<'_>]) -> bool {
    if gold.len().saturating_mul(prediction.len()) <= MAX_PAIRS {
        // Two different hunks nearly always differ early, so that this is cheaper than making keys.
        return gold.iter().all(|wanted| {
            prediction
                .iter()
                .any(|hunk| lines(*hunk).eq(lines(*wanted)))
        });
    }
    let there: HashSet<Vec<u8>> = prediction.iter().map(|hunk| key(*hunk)).collect();
    gold.iter().all(|hunk| there.contains(&key(*hunk)))
}

/// Type and value of each line that counts.
fn lines(hunk: Hunk<'_>) -> impl Iterator<Item = (u8, &[u8])> {
    hunk.lines()
        .filter(|(kind, value)| *kind != b'\\' && !(*kind == b'+' && is_hash_comment(value)))
}

/// Equal for hunks whose [`lines`] are equal.
fn key(hunk: Hunk<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    for (kind, value) in lines(hunk) {
        out.push(kind);
        out.extend_from_slice(value);
        if !value.ends_with(b"\n") {
            // No line begins with a line feed, so this says unmistakably that one was missing.
            out.extend_from_slice(b"\n\n");
        }
    }
    out
}

/// The published function: is `gold` contained in `prediction`?
///
/// # Errors
/// When one of the two cannot be read, which the published code reports as a parse error and never
/// counts as a match.
pub fn matches(gold: &[u8], prediction: &[u8], release: Release) -> Result<bool, Failure> {
    let gold = Outline::read(gold, release)?;
    Ok(gold.contained_in(&Outline::read(prediction, release)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLD: &str =
        "diff --git a/x.py b/x.py\n--- a/x.py\n+++ b/x.py\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n d\n";

    fn check(gold: &str, prediction: &str) -> Result<bool, Failure> {
        matches(gold.as_bytes(), prediction.as_bytes(), Release::V0_7_5)
    }

    #[test]
    fn what_the_rule_accepts_and_what_defeats_it() {
        let other = "diff --git a/y b/y\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-q\n+r\n";
        for (what, prediction, want) in [
            ("the gold itself", GOLD.to_owned(), Ok(true)),
            (
                "another place",
                GOLD.replace("-1,3 +1,3", "-9,3 +9,3"),
                Ok(true),
            ),
            ("more files", format!("{GOLD}{other}"), Ok(true)),
            (
                "an added comment",
                GOLD.replace("+1,3", "+1,4").replace("+c", "+ # c\n+c"),
                Ok(true),
            ),
            (
                "more context",
                GOLD.replace("1,3", "1,4") + " e\n",
                Ok(false),
            ),
            ("no final newline", GOLD.trim_end().to_owned(), Ok(false)),
            ("carriage returns", GOLD.replace('\n', "\r\n"), Ok(false)),
            ("other files", other.to_owned(), Ok(false)),
            ("empty", String::new(), Ok(false)),
            (
                "a stripped context line",
                GOLD.replace(" d\n", ""),
                Err(Failure::HunkShorter),
            ),
            (
                "edited counts",
                GOLD.replace("+1,3", "+1,2"),
                Err(Failure::HunkLonger),
            ),
        ] {
            assert_eq!(check(GOLD, &prediction), want, "{what}");
        }
        assert_eq!(check("", GOLD), Ok(true));
        assert_eq!(check("x", ""), Ok(true));
        assert_eq!(check("@@ -1 +1 @@\n", GOLD), Err(Failure::HunkWithoutFile));
    }

    #[test]
    fn deleted_files_collide() {
        let delete = |name: &str, line: &str| {
            format!("--- a/{name}\n+++ /dev/null\n@@ -1 +0,0 @@\n-{line}\n")
        };
        let gold = delete("x", "one") + &delete("y", "two");
        assert_eq!(check(&gold, &delete("z", "two")), Ok(true));
        assert_eq!(check(&gold, &delete("x", "one")), Ok(false));
    }

    #[test]
    fn lines_without_line_feed_are_not_confused_with_others() {
        let hunk = |body: &str| format!("--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n{body}");
        // A lone carriage return is context with the value "\r"; the rest of its line is dropped.
        assert_eq!(
            check(&hunk("\rz\n+a\n b\n"), &hunk("\ry\n+a\n b\n")),
            Ok(true)
        );
        assert_eq!(
            check(&hunk("\r\n+a\n b\n"), &hunk("\rz\n+a\n b\n")),
            Ok(false)
        );
        assert_eq!(check(&hunk(" a\n b\n+c\n"), &hunk(" a\n b\n+c")), Ok(false));
    }

    #[test]
    fn keys_are_equal_where_lines_are() {
        let bodies = [
            " a\n b\n+c\n",
            " a\n b\n+c",
            "\rz\n+a\n b\n",
            "\r\n+a\n b\n",
            " \r+a\n b\n",
            " a\n+#\n b\n+c\n",
        ];
        let hunks: Vec<Hunk<'_>> = bodies.iter().map(|b| Hunk::new(b.as_bytes())).collect();
        for one in &hunks {
            for other in &hunks {
                assert_eq!(
                    key(*one) == key(*other),
                    lines(*one).eq(lines(*other)),
                    "{one:?} {other:?}"
                );
            }
        }
        assert_eq!(key(hunks[0]), key(hunks[5]));
    }

    #[test]
    fn many_hunks_are_no_quadratic_trap() {
        let mut text = String::from("--- a/x\n+++ b/x\n");
        for i in 0..60_000 {
            text.push_str(&format!("@@ -{i} +{i} @@\n-{i}\n+b\n"));
        }
        assert_eq!(check(&text, &text), Ok(true));
    }
}
