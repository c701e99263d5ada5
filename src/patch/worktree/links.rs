//! Links in the place of files that the GT names.
//!
//! A link of the agent's that leads to a file in the run, wherever that lies (in `.git`, under an ignored
//! name), stands for that file: whoever builds or tests the tree reads it. Links that lead out of the run, to
//! nothing or in a circle are not followed. Other links need not be: what they lead to is compared where it
//! stands, or searched as left out.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};

use super::walk::{Found, FoundKind, Walked, file_kind};
use crate::patch::model::FilePatch;
use crate::patch::tree::{BaseTree, EntryKind, read_link};

/// Puts the files that such links lead to in the place of the links, and returns their paths.
pub(super) fn follow(
    root: &Path,
    walked: &mut Walked,
    base: &dyn BaseTree,
    gt: &BTreeMap<&BStr, &FilePatch>,
) -> Vec<BString> {
    let Ok(real) = root.canonicalize() else {
        return Vec::new();
    };
    let mut followed = Vec::new();
    for (path, file) in gt {
        let is_file = |found: &Found| matches!(found.kind, FoundKind::File { .. });
        if file.new_path.is_none() || walked.files.get::<[u8]>(path.as_ref()).is_some_and(is_file) {
            continue;
        }
        let disk = root.join(&*path.to_os_str_lossy());
        if is_meant(path, file, base, &disk) {
            continue;
        }
        if let Some(found) = inside(&real, &disk) {
            walked.files.insert((*path).to_owned(), found);
            followed.push((*path).to_owned());
        }
    }
    followed
}

/// The link is the base's own, or the one that the GT makes there.
fn is_meant(path: &BStr, file: &FilePatch, base: &dyn BaseTree, disk: &Path) -> bool {
    let entries = base.entries();
    let mut above = path.find_iter("/").chain([path.len()]);
    let of_base = above.any(|end| {
        let part = path.get(..end).unwrap_or_default();
        entries
            .get(part)
            .is_some_and(|entry| entry.kind == EntryKind::Link)
    });
    let mut added = file.added();
    let only = added.next().filter(|_| added.next().is_none());
    of_base || only.is_some_and(|line| read_link(disk).is_ok_and(|text| text == *line.text))
}

/// The regular file below `real` that a path leads to.
fn inside(real: &Path, disk: &Path) -> Option<Found> {
    let disk: PathBuf = disk.canonicalize().ok()?;
    if !disk.starts_with(real) {
        return None;
    }
    let meta = disk.symlink_metadata().ok().filter(|m| m.is_file())?;
    Some(Found {
        kind: file_kind(&meta),
        disk,
    })
}
