//! Exact matches that survive what makes no difference: context, a lost final newline, broken hunk
//! counts at the end, comments, blank lines, the order of hunks.
//!
//! Two rules. The *robust* one compares, file by file, the changed lines as a multiset: comments of the
//! file's language out, blank lines out, white space at line ends out, look-alike characters folded
//! (indentation stays, it means something). The one *without context* is the published rule applied to
//! runs of changed lines, for comparison with it. Both accept a prediction that changes more than the
//! gold patch does, as the published rule does, and both read patches by [`crate::patch::parse`].

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use bstr::{BStr, ByteSlice};

use super::python::is_hash_comment;
use crate::patch::model::{FilePatch, Hunk, LineKind, Patch};
use crate::similarity::comments;
use crate::similarity::normalise::fold;
use crate::similarity::syntax::Syntax;

/// Changed lines of a file and how often each occurs.
type Lines<'a> = BTreeMap<(bool, Cow<'a, str>), u64>;

/// A gold patch, prepared for the two rules.
#[derive(Debug)]
pub struct Target<'a> {
    files: BTreeMap<&'a BStr, Vec<&'a FilePatch>>,
    lines: BTreeMap<&'a BStr, Lines<'a>>,
    /// All changed lines are comments, so that they are compared.
    only_comments: bool,
}

impl<'a> Target<'a> {
    /// Prepares a gold patch.
    pub fn new(gold: &'a Patch) -> Self {
        let files = by_path(gold);
        let prepare = |without_comments: bool| -> BTreeMap<&'a BStr, Lines<'a>> {
            files
                .iter()
                .map(|(path, files)| (*path, changed_lines(files, without_comments)))
                .collect()
        };
        let mut lines = prepare(true);
        // Otherwise every prediction would contain a patch of comments only.
        let only_comments = lines.values().all(BTreeMap::is_empty);
        if only_comments {
            lines = prepare(false);
        }
        Self {
            files,
            lines,
            only_comments,
        }
    }

    /// No changed line at all (binary, renamed or unreadable): nothing can be compared.
    pub fn is_empty(&self) -> bool {
        self.lines.values().all(BTreeMap::is_empty)
    }

    /// The size that chance depends on: distinct added lines without comments; distinct removed ones
    /// where nothing is added.
    pub fn size(&self) -> u64 {
        let count = |added: bool| {
            let distinct: BTreeSet<&str> = self
                .lines
                .values()
                .flat_map(BTreeMap::keys)
                .filter(|(kind, _)| *kind == added)
                .map(|(_, text)| text.as_ref())
                .collect();
            u64::try_from(distinct.len()).unwrap_or(u64::MAX)
        };
        match count(true) {
            0 => count(false),
            added => added,
        }
    }

    /// The robust rule and the rule without context.
    pub fn compare(&self, prediction: &Patch) -> Matches {
        if self.is_empty() {
            return Matches::default();
        }
        let there = by_path(prediction);
        let mut needed = self.lines.iter().filter(|(_, lines)| !lines.is_empty());
        if !needed.all(|(path, _)| there.contains_key(path)) {
            return Matches::default();
        }
        let robust = self.lines.iter().all(|(path, gold)| {
            gold.is_empty()
                || there.get(path).is_some_and(|files| {
                    let lines = changed_lines(files, !self.only_comments);
                    gold.iter()
                        .all(|(line, count)| lines.get(line).is_some_and(|n| n >= count))
                })
        });
        Matches {
            robust,
            no_context: self.runs_in(&there),
        }
    }

    fn runs_in(&self, prediction: &BTreeMap<&BStr, Vec<&FilePatch>>) -> bool {
        let mut any = false;
        let all = self.files.iter().all(|(path, files)| {
            let gold = runs(files);
            if gold.is_empty() {
                return true;
            }
            any = true;
            prediction
                .get(path)
                .is_some_and(|files| gold.is_subset(&runs(files)))
        });
        any && all
    }
}

/// What the two rules say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Matches {
    /// The changed lines of the gold patch are all there.
    pub robust: bool,
    /// The runs of changed lines of the gold patch are all there.
    pub no_context: bool,
}

fn by_path(patch: &Patch) -> BTreeMap<&BStr, Vec<&FilePatch>> {
    let mut out: BTreeMap<&BStr, Vec<&FilePatch>> = BTreeMap::new();
    for file in &patch.files {
        out.entry(file.path().as_bstr()).or_default().push(file);
    }
    out
}

/// The added (`true`) and removed lines of a file.
fn changed_lines<'a>(files: &[&'a FilePatch], without_comments: bool) -> Lines<'a> {
    let mut out = Lines::new();
    for file in files {
        let syntax = Syntax::of(&file.path().to_str_lossy());
        for hunk in &file.hunks {
            for side in [LineKind::Added, LineKind::Removed] {
                add_side(hunk, side, without_comments.then_some(syntax), &mut out);
            }
        }
    }
    out
}

/// Adds the changed lines of one side of a hunk. Comments are told apart with the context around them.
fn add_side<'a>(hunk: &'a Hunk, side: LineKind, syntax: Option<&Syntax>, out: &mut Lines<'a>) {
    if !hunk.lines.iter().any(|line| line.kind == side) {
        return;
    }
    let of_side = || {
        hunk.lines
            .iter()
            .filter(move |line| line.kind == side || line.kind == LineKind::Context)
    };
    let raw: Vec<Cow<'a, str>> = of_side().map(|line| line.text.to_str_lossy()).collect();
    let mut add = |kind: LineKind, text: Cow<'a, str>| {
        if kind == side && !text.trim().is_empty() {
            *out.entry((side == LineKind::Added, tidy(text))).or_default() += 1;
        }
    };
    let Some(syntax) = syntax else {
        for (line, text) in of_side().zip(raw) {
            add(line.kind, text);
        }
        return;
    };
    let views: Vec<&str> = raw.iter().map(AsRef::as_ref).collect();
    let stripped: Vec<Option<String>> = comments::strip(syntax, &views)
        .into_iter()
        .zip(&views)
        .map(|(text, raw)| (text.as_ref() != *raw).then(|| text.into_owned()))
        .collect();
    for ((line, raw), stripped) in of_side().zip(raw).zip(stripped) {
        add(line.kind, stripped.map_or(raw, Cow::Owned));
    }
}

/// Without white space at the end, look-alikes folded.
fn tidy(text: Cow<'_, str>) -> Cow<'_, str> {
    match text {
        Cow::Borrowed(text) => fold(text.trim_end()),
        Cow::Owned(text) => Cow::Owned(fold(text.trim_end()).into_owned()),
    }
}

/// The runs of changed lines between context lines, with the comment rule of the post.
fn runs(files: &[&FilePatch]) -> BTreeSet<Vec<u8>> {
    let mut out = BTreeSet::new();
    for hunk in files.iter().flat_map(|file| &file.hunks) {
        for group in hunk
            .lines
            .chunk_by(|a, b| (a.kind == LineKind::Context) == (b.kind == LineKind::Context))
        {
            let mut run = Vec::new();
            for line in group {
                let sign = match line.kind {
                    LineKind::Context => break,
                    LineKind::Added if is_hash_comment(&line.text) => continue,
                    LineKind::Added => b'+',
                    LineKind::Removed => b'-',
                };
                run.push(sign);
                run.extend_from_slice(line.text.trim_end());
                run.push(b'\n');
            }
            if !run.is_empty() {
                out.insert(run);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::parse;

    fn compare(gold: &str, prediction: &str) -> (bool, bool) {
        let gold = parse(gold.as_bytes());
        let found = Target::new(&gold).compare(&parse(prediction.as_bytes()));
        (found.robust, found.no_context)
    }

    const GOLD: &str = "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -1,4 +1,4 @@\n a\n-b();\n+c();\n d\n \n";

    #[test]
    fn what_makes_no_difference() {
        let both = (true, true);
        for (what, prediction, want) in [
            ("the gold itself", GOLD.to_owned(), both),
            ("stripped", GOLD.trim().to_owned(), both),
            ("no context", "--- a/x.c\n+++ b/x.c\n@@ -2 +2 @@\n-b();\n+c();\n".into(), both),
            ("carriage returns", GOLD.replace('\n', "\r\n"), both),
            ("blanks at the end", GOLD.replace("c();", "c(); "), both),
            (
                "a comment",
                GOLD.replace("+1,4", "+1,5").replace("+c();", "+// c\n+c(); /* d */"),
                (true, false),
            ),
            ("look-alike", GOLD.replace("c();", "\u{441}();"), (true, false)),
            ("indentation", GOLD.replace("c();", "  c();"), (false, false)),
            ("another file", GOLD.replace("x.c", "y.c"), (false, false)),
            ("nothing removed", GOLD.replace("-1,4", "-1,3").replace("-b();\n", ""), (false, false)),
            ("empty", String::new(), (false, false)),
        ] {
            assert_eq!(compare(GOLD, &prediction), want, "{what}");
        }
    }

    #[test]
    fn lines_count_as_often_as_they_occur() {
        let gold = "--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+a\n";
        let once = "--- a/x\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n";
        let apart = "--- a/x\n+++ b/x\n@@ -0,0 +1,1 @@\n+a\n@@ -9,0 +10,1 @@\n+a\n";
        assert!(!compare(gold, once).0);
        assert!(compare(gold, apart).0);
    }

    #[test]
    fn a_gold_patch_without_code_matches_not_everything() {
        let comment = "--- a/x.py\n+++ b/x.py\n@@ -1 +1,2 @@\n a\n+# why\n";
        assert!(compare(comment, comment).0);
        assert!(!compare(comment, &comment.replace("why", "how")).0);
        let binary = "diff --git a/x b/x\nBinary files a/x and b/x differ\n";
        for gold in ["", "x\n", binary] {
            assert_eq!(compare(gold, gold), (false, false), "{gold}");
        }
        // A file without code beside one with code is not asked for.
        let two = format!("{comment}--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n-1\n+2\n");
        assert!(compare(&two, "--- a/y.py\n+++ b/y.py\n@@ -1 +1 @@\n-1\n+2\n").0);
    }

    #[test]
    fn sizes() {
        let size = |text: &str| Target::new(&parse(text.as_bytes())).size();
        assert_eq!(size(GOLD), 1);
        assert_eq!(size("--- a/x.py\n+++ b/x.py\n@@ -1,3 +1 @@\n a\n-b\n-c\n"), 2);
        assert_eq!(size("--- a/x.py\n+++ b/x.py\n@@ -0,0 +1,4 @@\n+a\n+a\n+# c\n+\n"), 1);
        assert_eq!(size(""), 0);
    }
}
