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
use std::hash::{DefaultHasher, Hash, Hasher};

use bstr::{BStr, BString, ByteSlice};
use memchr::memmem::Finder;

use super::python::is_hash_comment;
use crate::patch::model::{FilePatch, Hunk, Line, LineKind, Patch};
use crate::similarity::comments;
use crate::similarity::normalise::fold;
use crate::similarity::syntax::Syntax;

/// Most words of a gold patch that a prediction is searched for before it is read.
const MAX_WORDS: usize = 8;

/// What the two rules say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Matches {
    /// The changed lines of the gold patch are all there.
    pub robust: bool,
    /// The runs of changed lines of the gold patch are all there.
    pub no_context: bool,
}

/// A gold patch, prepared for the two rules. Holds hashes of lines, not the lines.
#[derive(Debug)]
pub struct Target {
    files: Vec<TargetFile>,
    /// All changed lines are comments, so that they are compared.
    only_comments: bool,
    size: u64,
    /// Words without which a text that is plain ASCII cannot match, the longest first.
    words: Vec<Finder<'static>>,
}

#[derive(Debug)]
struct TargetFile {
    path: BString,
    /// Changed lines, sorted, as often as they occur.
    lines: Vec<u64>,
    /// Runs of changed lines.
    runs: BTreeSet<u64>,
}

impl Target {
    /// Prepares a gold patch.
    pub fn new(gold: &Patch) -> Self {
        let files = by_path(gold);
        let mut lines = BTreeMap::new();
        for (path, files) in &files {
            lines.insert(*path, changed_lines(files, true));
        }
        // Otherwise every prediction would contain a patch of comments only.
        let only_comments = lines.values().all(Vec::is_empty);
        if only_comments {
            for (path, files) in &files {
                lines.insert(*path, changed_lines(files, false));
            }
        }
        Self {
            size: size(lines.values().flatten()),
            words: words(lines.values().flatten()),
            files: files
                .iter()
                .map(|(path, files)| TargetFile {
                    path: (*path).to_owned(),
                    lines: hashes(lines.get(path).into_iter().flatten()),
                    runs: runs(files),
                })
                .collect(),
            only_comments,
        }
    }

    /// No changed line at all (binary, renamed or unreadable): nothing can be compared.
    pub fn is_empty(&self) -> bool {
        self.files.iter().all(|file| file.lines.is_empty())
    }

    /// The size that chance depends on: distinct added lines without comments; distinct removed ones
    /// where nothing is added.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// False if `prediction` certainly matches by neither rule, which is found without reading it.
    pub fn may_match(&self, prediction: &[u8]) -> bool {
        !self.is_empty()
            && (self
                .words
                .iter()
                .all(|word| word.find(prediction).is_some())
                || !is_plain(prediction))
    }

    /// What [`Self::compare`] says of the gold patch itself.
    pub fn of_itself(&self) -> Matches {
        Matches {
            robust: !self.is_empty(),
            no_context: !self.is_empty() && self.has_runs(),
        }
    }

    fn has_runs(&self) -> bool {
        self.files.iter().any(|file| !file.runs.is_empty())
    }

    /// The robust rule and the rule without context.
    pub fn compare(&self, prediction: &Patch) -> Matches {
        if self.is_empty() {
            return Matches::default();
        }
        let there = by_path(prediction);
        let find = |file: &TargetFile| there.get(file.path.as_bstr()).map(Vec::as_slice);
        let needed = || self.files.iter().filter(|file| !file.lines.is_empty());
        if !needed().all(|file| find(file).is_some()) {
            return Matches::default();
        }
        let robust = needed().all(|file| {
            let lines = changed_lines(find(file).unwrap_or_default(), !self.only_comments);
            is_sub_multiset(&file.lines, &hashes(&lines))
        });
        let no_context = self.has_runs()
            && self
                .files
                .iter()
                .filter(|file| !file.runs.is_empty())
                .all(|file| find(file).is_some_and(|files| file.runs.is_subset(&runs(files))));
        Matches { robust, no_context }
    }
}

/// A changed line.
#[derive(Debug)]
struct Changed<'a> {
    added: bool,
    /// What is compared of it.
    text: Cow<'a, str>,
}

fn by_path(patch: &Patch) -> BTreeMap<&BStr, Vec<&FilePatch>> {
    let mut out: BTreeMap<&BStr, Vec<&FilePatch>> = BTreeMap::new();
    for file in &patch.files {
        out.entry(file.path().as_bstr()).or_default().push(file);
    }
    out
}

/// Each hash stands for its line: that two different lines of two patches have the same is less likely
/// than a fault of the machine. The same in every process: no random key.
fn hash(value: impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

fn hashes<'a>(lines: impl IntoIterator<Item = &'a Changed<'a>>) -> Vec<u64> {
    let mut out: Vec<u64> = lines
        .into_iter()
        .map(|line| hash((line.added, line.text.as_ref())))
        .collect();
    out.sort_unstable();
    out
}

/// Each value of `part` is in `whole` at least as often. Both are sorted.
fn is_sub_multiset(part: &[u64], whole: &[u64]) -> bool {
    let mut whole = whole.iter();
    part.iter().all(|value| {
        whole
            .by_ref()
            .find(|other| *other >= value)
            .is_some_and(|other| other == value)
    })
}

fn size<'a>(lines: impl Iterator<Item = &'a Changed<'a>> + Clone) -> u64 {
    let count = |added: bool| {
        let distinct: BTreeSet<&str> = lines
            .clone()
            .filter(|line| line.added == added)
            .map(|line| line.text.as_ref())
            .collect();
        u64::try_from(distinct.len()).unwrap_or(u64::MAX)
    };
    match count(true) {
        0 => count(false),
        added => added,
    }
}

/// The longest words of the lines. A word of a line is a word of the prediction that has the line, with
/// or without a comment in it: a comment leaves a blank behind.
fn words<'a>(lines: impl Iterator<Item = &'a Changed<'a>>) -> Vec<Finder<'static>> {
    let longest: BTreeSet<(std::cmp::Reverse<usize>, &str)> = lines
        .filter(|line| is_plain(line.text.as_bytes()))
        .filter_map(|line| {
            line.text
                .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
                .max_by_key(|word| word.len())
        })
        .filter(|word| !word.is_empty())
        .map(|word| (std::cmp::Reverse(word.len()), word))
        .collect();
    longest
        .into_iter()
        .take(MAX_WORDS)
        .map(|(_, word)| Finder::new(word).into_owned())
        .collect()
}

/// Only characters that folding leaves alone: what reads like a word is one.
fn is_plain(text: &[u8]) -> bool {
    // Without a branch for each byte, so that it is done many bytes at a time.
    text.chunks(256).all(|chunk| {
        chunk.iter().fold(true, |plain, byte| {
            plain & (matches!(byte, b' '..=b'~') | matches!(byte, b'\t' | b'\n' | b'\r'))
        })
    })
}

/// The changed lines of a file.
fn changed_lines<'a>(files: &[&'a FilePatch], without_comments: bool) -> Vec<Changed<'a>> {
    let mut out = Vec::new();
    for file in files {
        let syntax = Syntax::of(&file.path().to_str_lossy());
        for hunk in &file.hunks {
            for side in [LineKind::Added, LineKind::Removed] {
                if hunk.lines.iter().any(|line| line.kind == side) {
                    add_side(hunk, side, without_comments.then_some(syntax), &mut out);
                }
            }
        }
    }
    out
}

/// Adds the changed lines of one side of a hunk.
fn add_side<'a>(
    hunk: &'a Hunk,
    side: LineKind,
    syntax: Option<&Syntax>,
    out: &mut Vec<Changed<'a>>,
) {
    let of_side = || {
        hunk.lines
            .iter()
            .filter(move |line| line.kind == side || line.kind == LineKind::Context)
    };
    let marked = |line: &Line| syntax.is_some_and(|syntax| may_have_comment(syntax, &line.text));
    let spans_lines = syntax.is_some_and(|syntax| syntax.block.is_some());
    let Some(syntax) = syntax.filter(|_| !spans_lines || of_side().any(marked)) else {
        let changed = hunk.lines.iter().filter(|line| line.kind == side);
        out.extend(changed.filter_map(|line| Changed::new(side, line.text.to_str_lossy())));
        return;
    };
    if !spans_lines {
        // Each line speaks for itself, and most have no comment.
        for line in hunk.lines.iter().filter(|line| line.kind == side) {
            let text = line.text.to_str_lossy();
            let stripped = marked(line).then(|| strip_all(syntax, std::slice::from_ref(&text)));
            let text = stripped
                .and_then(|mut one| one.pop())
                .flatten()
                .map_or(text, Cow::Owned);
            out.extend(Changed::new(side, text));
        }
        return;
    }
    // A comment may begin or end in the context around.
    let raw: Vec<Cow<'a, str>> = of_side().map(|line| line.text.to_str_lossy()).collect();
    let stripped = strip_all(syntax, &raw);
    for ((line, raw), stripped) in of_side().zip(raw).zip(stripped) {
        if line.kind == side {
            out.extend(Changed::new(side, stripped.map_or(raw, Cow::Owned)));
        }
    }
}

/// The lines without comments; `None` for those that have none.
fn strip_all(syntax: &Syntax, lines: &[Cow<'_, str>]) -> Vec<Option<String>> {
    let views: Vec<&str> = lines.iter().map(AsRef::as_ref).collect();
    comments::strip(syntax, &views)
        .into_iter()
        .zip(&views)
        .map(|(stripped, raw)| (stripped.code != *raw).then(|| stripped.code.into_owned()))
        .collect()
}

/// Has a character that begins or ends a comment of the language.
fn may_have_comment(syntax: &Syntax, line: &[u8]) -> bool {
    let (open, close) = syntax.block.unwrap_or_default();
    syntax
        .line
        .iter()
        .copied()
        .chain([open, close])
        .filter_map(|mark| mark.as_bytes().first())
        .any(|first| memchr::memchr(*first, line).is_some())
}

impl<'a> Changed<'a> {
    /// What is compared of a line: without white space at the end, look-alikes folded. `None` for a
    /// blank line.
    fn new(side: LineKind, text: Cow<'a, str>) -> Option<Self> {
        let text = match text {
            Cow::Borrowed(text) => fold(text.trim_end()),
            Cow::Owned(text) => Cow::Owned(fold(text.trim_end()).into_owned()),
        };
        let blank = text.trim_start().is_empty();
        (!blank).then_some(Self {
            added: side == LineKind::Added,
            text,
        })
    }
}

/// The runs of changed lines between context lines, with the comment rule of the post.
fn runs(files: &[&FilePatch]) -> BTreeSet<u64> {
    let mut out = BTreeSet::new();
    for hunk in files.iter().flat_map(|file| &file.hunks) {
        for group in hunk
            .lines
            .chunk_by(|a, b| (a.kind == LineKind::Context) == (b.kind == LineKind::Context))
        {
            let run: Vec<(bool, &[u8])> = group
                .iter()
                .filter(|line| match line.kind {
                    LineKind::Context => false,
                    LineKind::Added => !is_hash_comment(&line.text),
                    LineKind::Removed => true,
                })
                .map(|line| (line.kind == LineKind::Added, line.text.trim_end()))
                .collect();
            if !run.is_empty() {
                out.insert(hash(run));
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
        let target = Target::new(&gold);
        let found = target.compare(&parse(prediction.as_bytes()));
        assert_eq!(target.compare(&gold), target.of_itself());
        // The look before reading never rules out a match.
        assert!(found == Matches::default() || target.may_match(prediction.as_bytes()));
        (found.robust, found.no_context)
    }

    const GOLD: &str =
        "diff --git a/x.c b/x.c\n--- a/x.c\n+++ b/x.c\n@@ -1,4 +1,4 @@\n a\n-b();\n+c();\n d\n \n";

    #[test]
    fn what_makes_no_difference() {
        let both = (true, true);
        for (what, prediction, want) in [
            ("the gold itself", GOLD.to_owned(), both),
            ("stripped", GOLD.trim().to_owned(), both),
            (
                "no context",
                "--- a/x.c\n+++ b/x.c\n@@ -2 +2 @@\n-b();\n+c();\n".into(),
                both,
            ),
            ("carriage returns", GOLD.replace('\n', "\r\n"), both),
            ("blanks at the end", GOLD.replace("c();", "c(); "), both),
            (
                "a comment",
                GOLD.replace("+1,4", "+1,5")
                    .replace("+c();", "+// c\n+c(); /* d */"),
                (true, false),
            ),
            (
                "look-alike",
                GOLD.replace("c();", "\u{441}();"),
                (true, false),
            ),
            (
                "indentation",
                GOLD.replace("c();", "  c();"),
                (false, false),
            ),
            ("another file", GOLD.replace("x.c", "y.c"), (false, false)),
            (
                "nothing removed",
                GOLD.replace("-1,4", "-1,3").replace("-b();\n", ""),
                (false, false),
            ),
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
        assert_eq!(
            size("--- a/x.py\n+++ b/x.py\n@@ -1,3 +1 @@\n a\n-b\n-c\n"),
            2
        );
        assert_eq!(
            size("--- a/x.py\n+++ b/x.py\n@@ -0,0 +1,4 @@\n+a\n+a\n+# c\n+\n"),
            1
        );
        assert_eq!(size(""), 0);
    }
}
