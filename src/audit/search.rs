//! The work tree searched for lines of the GT, where there is no base to compare it with.
//!
//! Without a base nobody knows what the agent changed. Whether the GT stands in the tree can be seen all the
//! same: in the files that the GT names, and in any other file that holds a good part of one GT file (a copy
//! under another name). Such files are taken whole, every line as if added.

use std::collections::BTreeSet;
use std::path::Path;

use bstr::{BString, ByteSlice};

use super::gt_lines::{GtLines, MAX_FILE_BYTES, Reader};
use crate::Result;
use crate::patch::model::Patch;
use crate::patch::tree::{BaseTree, DirTree, Entry, EntryKind};

/// Most bytes that are searched. Trees of real tasks hold up to 2.5 GB, history included.
const MAX_BYTES: u64 = 8 << 30;

/// What the search found.
pub(super) struct Found {
    /// The files, whole, sorted by path.
    pub(super) patch: Patch,
    /// Files of which some was not read, or that declare an encoding which is not decoded.
    pub(super) not_compared: Vec<String>,
    /// What was not searched, in words.
    pub(super) problems: Vec<String>,
}

/// Searches the tree below `dir` without the names `excluded` in its root. Links are not followed, git
/// directories not entered, one file is in memory at a time, and of a large one only the lines of the GT.
pub(super) fn search(
    dir: &Path,
    gt: &Patch,
    lines: &GtLines,
    excluded: &BTreeSet<String>,
) -> Result<Found> {
    let tree = DirTree::open(dir)?;
    let named: BTreeSet<&BString> = gt
        .files
        .iter()
        .filter_map(|f| f.new_path.as_ref())
        .collect();
    let mut reader = Reader::new(lines);
    let mut found = Found {
        patch: Patch::default(),
        not_compared: Vec::new(),
        problems: tree.problems().to_vec(),
    };
    let (mut left, mut unread, mut beyond, mut large) = (MAX_BYTES, 0u64, 0u64, 0u64);
    for (path, entry) in tree.entries() {
        if !is_searched(path, entry, excluded) {
            continue;
        }
        let is_named = named.contains(path);
        let size = entry.size.unwrap_or(0);
        match left.checked_sub(size.min(MAX_FILE_BYTES)) {
            Some(rest) => left = rest,
            None if is_named => {}
            None => {
                beyond += 1;
                continue;
            }
        }
        let disk = dir.join(&*path.to_os_str_lossy());
        let Ok(seen) = reader.read(&disk, size) else {
            unread += 1;
            continue;
        };
        if seen.cut {
            large += 1;
        }
        if seen.undecoded || seen.cut && is_named {
            found.not_compared.push(path.to_string());
        }
        if is_named || lines.copy_of(&seen.found).is_some() {
            found.patch.files.push(seen.whole(path.as_bstr(), &disk));
        }
    }
    if unread > 0 {
        found.say(format!("{unread} files of the work tree could not be read"));
    }
    if large > 0 {
        let limit = MAX_FILE_BYTES >> 20;
        found.say(format!(
            "{large} files are too large to be searched whole: only their first {limit} MiB were"
        ));
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
        let found = search(dir.path(), &gt, &GtLines::new(&gt), &excluded).unwrap();
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
