//! A tree of files to compare with: a commit, a directory, or a table in memory.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use bstr::{BStr, BString, ByteSlice, ByteVec};

use super::objects::id::{Algorithm, Oid, hash_object};
use super::worktree::walk::{self, Found, FoundKind, Keep};

/// Largest file, in bytes, whose content is read; larger ones are treated as binary and reported.
pub const MAX_FILE_BYTES: u64 = 64 << 20;

/// Most files and directories of a tree. A larger tree is refused.
pub const MAX_TREE_ENTRIES: usize = 2_000_000;

/// What an entry of a tree is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A file.
    File,
    /// A file that may be executed.
    Executable,
    /// A symbolic link; its content is the path it names.
    Link,
    /// Another repository (a submodule); its files are not in this tree.
    Submodule,
}

/// One path of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// What it is.
    pub kind: EntryKind,
    /// Its blob (commit, for a submodule), where the tree knows it.
    pub id: Option<Oid>,
    /// Its size in bytes, where the tree knows it.
    pub size: Option<u64>,
}

/// Why a content is not to be had.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ReadError {
    /// The tree has no such file.
    #[error("not in the tree")]
    Missing,
    /// Larger than [`MAX_FILE_BYTES`].
    #[error("{0} bytes, which is more than is read")]
    TooLarge(u64),
    /// It is there and cannot be read.
    #[error("{0}")]
    Unreadable(String),
}

/// A tree of files that does not change while it is looked at. Paths are bytes, separated by `/`.
pub trait BaseTree: Send + Sync {
    /// Every path, sorted.
    fn entries(&self) -> &BTreeMap<BString, Entry>;

    /// The content of a file or link.
    fn read(&self, path: &BStr) -> Result<Vec<u8>, ReadError>;

    /// True when the file on disk (a regular file of `size` bytes) has the content of `path`.
    fn equals_file(&self, path: &BStr, file: &Path, size: u64) -> Result<bool, ReadError>;

    /// The name git gives to the content of `path`.
    fn blob_id(&self, path: &BStr) -> Result<Oid, ReadError> {
        let content = self.read(path)?;
        Ok(hash_object(Algorithm::Sha1, "blob", &content))
    }

    /// Calls `take` with every file of the tree and its content, in the order of the paths; files that
    /// are too large or cannot be read are passed over and counted in the result. Links are left out.
    fn visit(&self, take: &mut dyn FnMut(&BStr, &[u8])) -> u64 {
        let mut passed_over = 0;
        for (path, entry) in self.entries() {
            if matches!(entry.kind, EntryKind::File | EntryKind::Executable) {
                match self.read(path.as_bstr()) {
                    Ok(content) => take(path.as_bstr(), &content),
                    Err(_) => passed_over += 1,
                }
            }
        }
        passed_over
    }
}

/// True when the tree has files below a directory.
pub(super) fn has_below<V>(entries: &BTreeMap<BString, V>, dir: &BStr) -> bool {
    let mut prefix = dir.to_owned();
    prefix.push(b'/');
    let next = entries.range(prefix.clone()..).next();
    next.is_some_and(|(path, _)| path.starts_with(&prefix))
}

/// Where a link leads within its own tree: the path it names, without `.` and `..`. `None` when it leads
/// out of the tree.
pub(super) fn link_target(link: &BStr, text: &[u8]) -> Option<BString> {
    if text.starts_with(b"/") || text.contains(&0) {
        return None;
    }
    let mut parts: Vec<&[u8]> = link.split(|b| *b == b'/').collect();
    parts.pop();
    for part in text.split(|b| *b == b'/') {
        match part {
            b"" | b"." => {}
            b".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join(&b"/"[..]).into())
}

/// Reads at most [`MAX_FILE_BYTES`] of a regular file, whatever its size was said to be.
pub(super) fn read_file(path: &Path) -> Result<Vec<u8>, ReadError> {
    let unreadable = |e: std::io::Error| ReadError::Unreadable(e.to_string());
    let file = File::open(path).map_err(unreadable)?;
    let mut content = Vec::new();
    let mut limited = file.take(MAX_FILE_BYTES + 1);
    limited.read_to_end(&mut content).map_err(unreadable)?;
    let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
    if size > MAX_FILE_BYTES {
        return Err(ReadError::TooLarge(size));
    }
    Ok(content)
}

/// The text of a link on disk.
pub(super) fn read_link(path: &Path) -> Result<Vec<u8>, ReadError> {
    let target = std::fs::read_link(path).map_err(|e| ReadError::Unreadable(e.to_string()))?;
    Ok(Vec::from_path_lossy(&target).into_owned())
}

/// A plain directory as a tree, for tasks whose starter tree has no git history.
#[derive(Debug)]
pub struct DirTree {
    found: BTreeMap<BString, Found>,
    entries: BTreeMap<BString, Entry>,
    problems: Vec<String>,
}

impl DirTree {
    /// Lists a directory: no link is followed, `.git` at any depth is passed over.
    pub fn open(root: &Path) -> crate::Result<Self> {
        let walked = walk::walk(root, &mut |path, _| {
            if walk::is_git(path) {
                Keep::Skip
            } else {
                Keep::Take
            }
        })?;
        let problems = walked.problems();
        let entries = walked
            .files
            .iter()
            .map(|(path, found)| (path.clone(), found.entry()))
            .collect();
        Ok(Self {
            found: walked.files,
            entries,
            problems,
        })
    }

    /// What could not be listed, in words.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    fn disk(&self, path: &BStr) -> Result<&Found, ReadError> {
        self.found
            .get::<[u8]>(path.as_ref())
            .ok_or(ReadError::Missing)
    }
}

impl BaseTree for DirTree {
    fn entries(&self) -> &BTreeMap<BString, Entry> {
        &self.entries
    }

    fn read(&self, path: &BStr) -> Result<Vec<u8>, ReadError> {
        self.disk(path)?.read()
    }

    fn equals_file(&self, path: &BStr, file: &Path, size: u64) -> Result<bool, ReadError> {
        let found = self.disk(path)?;
        match found.kind {
            FoundKind::File { size: own, .. } if own == size => same_files(&found.disk, file),
            _ => Ok(false),
        }
    }

    fn blob_id(&self, path: &BStr) -> Result<Oid, ReadError> {
        self.disk(path)?.blob_id(Algorithm::Sha1)
    }
}

/// Compares two files of equal size piece by piece.
fn same_files(a: &Path, b: &Path) -> Result<bool, ReadError> {
    const PIECE: u64 = 256 << 10;
    let unreadable = |e: std::io::Error| ReadError::Unreadable(e.to_string());
    let mut a = File::open(a).map_err(unreadable)?;
    let mut b = File::open(b).map_err(unreadable)?;
    let (mut left, mut right) = (Vec::new(), Vec::new());
    loop {
        left.clear();
        right.clear();
        a.by_ref()
            .take(PIECE)
            .read_to_end(&mut left)
            .map_err(unreadable)?;
        b.by_ref()
            .take(PIECE)
            .read_to_end(&mut right)
            .map_err(unreadable)?;
        if left != right {
            return Ok(false);
        }
        if left.is_empty() {
            return Ok(true);
        }
    }
}

/// A tree in memory, for tests and for contents that come from elsewhere.
#[derive(Debug, Default, Clone)]
pub struct MemTree {
    entries: BTreeMap<BString, Entry>,
    contents: BTreeMap<BString, Vec<u8>>,
}

impl MemTree {
    /// Adds a file, executable or link.
    pub fn insert(
        &mut self,
        path: impl Into<BString>,
        kind: EntryKind,
        content: impl Into<Vec<u8>>,
    ) {
        let (path, content) = (path.into(), content.into());
        let entry = Entry {
            kind,
            id: None,
            size: u64::try_from(content.len()).ok(),
        };
        self.entries.insert(path.clone(), entry);
        self.contents.insert(path, content);
    }
}

impl BaseTree for MemTree {
    fn entries(&self) -> &BTreeMap<BString, Entry> {
        &self.entries
    }

    fn read(&self, path: &BStr) -> Result<Vec<u8>, ReadError> {
        let content = self.contents.get::<[u8]>(path.as_ref());
        content.cloned().ok_or(ReadError::Missing)
    }

    fn equals_file(&self, path: &BStr, file: &Path, size: u64) -> Result<bool, ReadError> {
        let content = self.read(path)?;
        if u64::try_from(content.len()) != Ok(size) {
            return Ok(false);
        }
        Ok(read_file(file)? == content)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_within_the_tree() {
        for (link, text, want) in [
            ("a/b", "c", Some("a/c")),
            ("a/b", "../c/./d", Some("c/d")),
            ("a/b", "../../c", None),
            ("b", "..", None),
            ("b", "/etc/passwd", None),
            ("a/b", ".", Some("a")),
        ] {
            let got = link_target(link.into(), text.as_bytes());
            assert_eq!(got, want.map(BString::from), "{link} -> {text}");
        }
    }

    #[test]
    fn below() {
        let mut tree = MemTree::default();
        tree.insert("a/b", EntryKind::File, "");
        tree.insert("a.c", EntryKind::File, "");
        assert!(has_below(tree.entries(), "a".into()));
        assert!(!has_below(tree.entries(), "a.c".into()));
        assert!(!has_below(tree.entries(), "".into()));
    }
}
