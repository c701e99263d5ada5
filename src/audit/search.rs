//! The work tree searched for lines of the GT, where there is no base to compare it with.
//!
//! Without a base nobody knows what the agent changed. Whether the GT stands in the tree can be seen all the
//! same: in the files that the GT names, and in any other file that holds a good part of one GT file (a copy
//! under another name). Such files are taken whole, every line as if added.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use crate::Result;
use crate::patch::diff::{diff, is_binary};
use crate::patch::model::{FilePatch, FileStatus, LineKind, Patch};
use crate::patch::tree::{BaseTree, DirTree, Entry, EntryKind};
use crate::similarity::distinctive::is_trivial;
use crate::similarity::finder::LineFinder;
use crate::similarity::normalise::squeeze;

/// Lines of one GT file that another file must hold to count as a copy of it, as for files that can be judged
/// alone.
const MIN_LINES: usize = 8;

/// The part of a GT file that another file must hold: one in so many of its telling lines.
const PART: usize = 4;

/// Most bytes that are searched. Trees of real tasks hold up to 2.5 GB, history included.
const MAX_BYTES: u64 = 8 << 30;

/// What the search found.
pub(super) struct Found {
    /// The files, whole, sorted by path.
    pub(super) patch: Patch,
    /// What was not searched, in words.
    pub(super) problems: Vec<String>,
}

/// Searches the tree below `dir` without the names `excluded` in its root. Links are not followed, git
/// directories not entered, one file is in memory at a time.
pub(super) fn search(dir: &Path, gt: &Patch, excluded: &BTreeSet<String>) -> Result<Found> {
    let tree = DirTree::open(dir)?;
    let named: BTreeSet<&BString> = gt
        .files
        .iter()
        .filter_map(|f| f.new_path.as_ref())
        .collect();
    let lines = GtLines::new(gt);
    let queries: BTreeSet<String> = lines.files_of.keys().cloned().collect();
    let mut finder = LineFinder::repeating(&queries);
    let mut found = Found {
        patch: Patch::default(),
        problems: tree.problems().to_vec(),
    };
    let (mut left, mut unread, mut beyond) = (MAX_BYTES, 0u64, 0u64);
    for (path, entry) in tree.entries() {
        if !is_searched(path, entry, excluded) {
            continue;
        }
        let is_named = named.contains(path);
        match left.checked_sub(entry.size.unwrap_or(0)) {
            Some(rest) => left = rest,
            None if is_named => {}
            None => {
                beyond += 1;
                continue;
            }
        }
        let Ok(content) = tree.read(path.as_bstr()) else {
            unread += 1;
            continue;
        };
        // Reading from memory does not fail.
        if is_named
            || finder.read(content.as_slice()).is_ok() && lines.is_copy(&finder.take_found())
        {
            found.patch.files.push(whole(path.as_bstr(), &content));
        }
    }
    if unread > 0 {
        let why = "could not be read or are too large";
        found.say(format!("{unread} files of the work tree {why}"));
    }
    if beyond > 0 {
        let limit = MAX_BYTES >> 30;
        found.say(format!(
            "{beyond} files of the work tree were not searched: it holds more than {limit} GiB"
        ));
    }
    Ok(found)
}

impl Found {
    fn say(&mut self, problem: String) {
        self.problems.push(problem);
    }
}

fn is_searched(path: &BString, entry: &Entry, excluded: &BTreeSet<String>) -> bool {
    let root = path
        .split_once_str("/")
        .map_or(path.as_bytes(), |(root, _)| root);
    matches!(entry.kind, EntryKind::File | EntryKind::Executable)
        && !root.to_str().is_ok_and(|root| excluded.contains(root))
}

fn whole(path: &BStr, content: &[u8]) -> FilePatch {
    let binary = is_binary(content);
    FilePatch {
        old_path: None,
        new_path: Some(path.to_owned()),
        status: FileStatus::Added,
        binary,
        hunks: if binary {
            Vec::new()
        } else {
            diff(b"", content)
        },
    }
}

/// The lines by which files of the GT can be told.
struct GtLines {
    /// For each line, the files of the GT that add it.
    files_of: BTreeMap<String, Vec<usize>>,
    /// For each file, how many such lines it adds.
    sizes: Vec<usize>,
}

impl GtLines {
    fn new(gt: &Patch) -> Self {
        let mut files_of: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut sizes = vec![0; gt.files.len()];
        let known: BTreeSet<String> = gt
            .files
            .iter()
            .flat_map(|f| f.hunks.iter().flat_map(|h| &h.lines))
            .filter(|line| line.kind != LineKind::Added)
            .map(|line| squeeze(&line.text.to_str_lossy()))
            .collect();
        for (index, file) in gt.files.iter().enumerate() {
            let added: BTreeSet<String> = file
                .added()
                .map(|line| squeeze(&line.text.to_str_lossy()))
                .filter(|line| !known.contains(line) && !is_trivial(line))
                .collect();
            if let Some(size) = sizes.get_mut(index) {
                *size = added.len();
            }
            for line in added {
                files_of.entry(line).or_default().push(index);
            }
        }
        Self { files_of, sizes }
    }

    /// True when these lines are a good part of one file of the GT.
    fn is_copy(&self, found: &BTreeSet<String>) -> bool {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let files = found.iter().filter_map(|line| self.files_of.get(line));
        for file in files.flatten() {
            *counts.entry(*file).or_default() += 1;
        }
        counts.iter().any(|(file, count)| {
            let size = self.sizes.get(*file).copied().unwrap_or(usize::MAX);
            *count >= MIN_LINES && *count >= size / PART
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::parse;

    #[test]
    fn copies_under_any_name_and_nothing_else() {
        let lines: Vec<String> = (0..40)
            .map(|n| format!("let value_{n} = compute({n});"))
            .collect();
        let gt = format!(
            "diff --git a/new.rs b/new.rs\nnew file mode 100644\n--- /dev/null\n+++ b/new.rs\n@@ -0,0 +1,40 @@\n{}",
            lines.iter().map(|l| format!("+{l}\n")).collect::<String>()
        );
        let gt = parse(gt.as_bytes());
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, lines: &[String]| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, lines.join("\n")).unwrap();
        };
        put("new.rs", &lines[..1]);
        put("other/name.rs", &lines[..20]);
        put("other/few.rs", &lines[..7]);
        put("build/deep/.hidden/again.rs", &lines);
        put(".git/in.rs", &lines);
        put("claude_run.jsonl", &lines);
        put("unrelated.rs", &["fn main() {}".to_owned()]);
        let excluded = BTreeSet::from(["claude_run.jsonl".to_owned()]);
        let found = search(dir.path(), &gt, &excluded).unwrap();
        let paths: Vec<_> = found
            .patch
            .files
            .iter()
            .map(|f| f.path().to_string())
            .collect();
        assert_eq!(
            paths,
            ["build/deep/.hidden/again.rs", "new.rs", "other/name.rs"]
        );
        assert!(found.problems.is_empty());
    }
}
