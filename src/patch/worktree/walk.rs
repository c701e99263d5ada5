//! Listing a directory that somebody else filled: no link is followed, nothing but regular files is ever
//! opened, and the size of the list is bounded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice, ByteVec};
use walkdir::WalkDir;

use crate::patch::objects::id::{Algorithm, Oid, hash_file};
use crate::patch::tree::{Entry, EntryKind, MAX_TREE_ENTRIES, ReadError, read_file, read_link};
use crate::{Error, Result};

/// A file or link that was found.
#[derive(Debug, Clone)]
pub(in crate::patch) struct Found {
    /// Where it is.
    pub(in crate::patch) disk: PathBuf,
    /// What it is.
    pub(in crate::patch) kind: FoundKind,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::patch) enum FoundKind {
    /// A regular file.
    File {
        /// Its size in bytes.
        size: u64,
        /// Its owner may execute it.
        executable: bool,
    },
    /// A symbolic link.
    Link,
}

impl Found {
    /// The same in the words of a tree.
    pub(in crate::patch) fn entry(&self) -> Entry {
        let (kind, size) = match self.kind {
            FoundKind::File { size, executable } => {
                let kind = if executable {
                    EntryKind::Executable
                } else {
                    EntryKind::File
                };
                (kind, Some(size))
            }
            FoundKind::Link => (EntryKind::Link, None),
        };
        Entry {
            kind,
            id: None,
            size,
        }
    }

    /// The content of the file, or the text of the link.
    pub(in crate::patch) fn read(&self) -> std::result::Result<Vec<u8>, ReadError> {
        match self.kind {
            FoundKind::File { .. } => read_file(&self.disk),
            FoundKind::Link => read_link(&self.disk),
        }
    }

    /// The name of the blob it would be.
    pub(in crate::patch) fn blob_id(
        &self,
        algorithm: Algorithm,
    ) -> std::result::Result<Oid, ReadError> {
        match self.kind {
            FoundKind::File { size, .. } => hash_file(algorithm, &self.disk, size)
                .map_err(|e| ReadError::Unreadable(e.to_string())),
            FoundKind::Link => Err(ReadError::Missing),
        }
    }
}

/// What to do with an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::patch) enum Keep {
    /// List it, or go into it.
    Take,
    /// Neither list it nor go into it.
    Skip,
}

/// What a directory holds.
#[derive(Debug, Default)]
pub(in crate::patch) struct Walked {
    /// Files and links, by path relative to the root.
    pub(in crate::patch) files: BTreeMap<BString, Found>,
    /// Sockets, pipes and devices. They were not opened.
    pub(in crate::patch) special: Vec<BString>,
    /// Directories and files that could not be listed, and why.
    pub(in crate::patch) unreadable: Vec<(BString, String)>,
}

impl Walked {
    /// What could not be listed, in words.
    pub(in crate::patch) fn problems(&self) -> Vec<String> {
        let unreadable = self.unreadable.iter();
        unreadable.map(|(p, why)| format!("{p}: {why}")).collect()
    }
}

/// True for `.git` in any directory: a repository, or the file that points to one.
pub(in crate::patch) fn is_git(path: &BStr) -> bool {
    path == ".git" || path.ends_with(b"/.git")
}

/// Lists everything below `root` that `keep` lets through; it is asked for directories (`true`) before
/// what is in them, in the order of their names.
pub(in crate::patch) fn walk(
    root: &Path,
    keep: &mut dyn FnMut(&BStr, bool) -> Keep,
) -> Result<Walked> {
    let mut walked = Walked::default();
    let mut entries = WalkDir::new(root)
        .min_depth(1)
        .follow_links(false)
        .follow_root_links(true)
        .sort_by_file_name()
        .into_iter();
    let mut seen = 0usize;
    while let Some(entry) = entries.next() {
        seen += 1;
        if seen > MAX_TREE_ENTRIES {
            return Err(Error::BadData {
                path: root.to_owned(),
                line: None,
                what: format!("more than {MAX_TREE_ENTRIES} files and directories"),
                fix: "remove what is no part of the work tree, or give the change with --patch"
                    .to_owned(),
            });
        }
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                note_error(root, &error, &mut walked)?;
                continue;
            }
        };
        let Some(path) = relative(root, entry.path()) else {
            continue;
        };
        let kind = entry.file_type();
        match keep(path.as_bstr(), kind.is_dir()) {
            Keep::Take => {}
            Keep::Skip => {
                if kind.is_dir() {
                    entries.skip_current_dir();
                }
                continue;
            }
        }
        if !kind.is_dir() {
            take(path, &entry, &mut walked);
        }
    }
    Ok(walked)
}

fn take(path: BString, entry: &walkdir::DirEntry, walked: &mut Walked) {
    let kind = entry.file_type();
    let kind = if kind.is_symlink() {
        FoundKind::Link
    } else if kind.is_file() {
        match entry.metadata() {
            Ok(meta) => file_kind(&meta),
            Err(error) => {
                walked.unreadable.push((path, error.to_string()));
                return;
            }
        }
    } else {
        walked.special.push(path);
        return;
    };
    let disk = entry.path().to_owned();
    walked.files.insert(path, Found { disk, kind });
}

/// What a regular file is.
pub(super) fn file_kind(meta: &std::fs::Metadata) -> FoundKind {
    FoundKind::File {
        size: meta.len(),
        executable: is_executable(meta),
    }
}

/// An unreadable root is an error; anything below it is noted.
fn note_error(root: &Path, error: &walkdir::Error, walked: &mut Walked) -> Result<()> {
    let path = error.path().and_then(|p| relative(root, p));
    let why = error
        .io_error()
        .map_or_else(|| error.to_string(), ToString::to_string);
    match path.filter(|p| !p.is_empty()) {
        Some(path) => {
            walked.unreadable.push((path, why));
            Ok(())
        }
        None => Err(Error::InputMissing {
            path: root.to_owned(),
            what: format!("cannot be listed ({why})"),
            fix: "check that it is a directory that you may read".to_owned(),
        }),
    }
}

fn relative(root: &Path, path: &Path) -> Option<BString> {
    let rest = path.strip_prefix(root).ok()?;
    Some(Vec::from_path_lossy(rest).into_owned().into())
}

#[cfg(unix)]
fn is_executable(meta: &std::fs::Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    meta.permissions().mode() & 0o100 != 0
}

#[cfg(not(unix))]
fn is_executable(_: &std::fs::Metadata) -> bool {
    false
}
