//! Files that were moved: a deleted one and a new one with the same content, or as the GT moves them.

use std::collections::BTreeMap;

use bstr::{BStr, BString, ByteSlice};

use super::changes::Change;
use super::walk::{FoundKind, Walked};
use crate::patch::model::{FilePatch, FileStatus};
use crate::patch::objects::id::Oid;
use crate::patch::tree::{BaseTree, MAX_FILE_BYTES};

/// Joins deletions and additions that are moves.
///
/// An exact move needs equal content that is not empty; of several, the one of the same file name is taken,
/// then the first by path. Where the GT moves a file and the agent deleted and added the same two paths, that
/// is a move with edits. Other moves with edits stay a deletion and an addition.
pub(super) fn pair(
    changes: Vec<Change>,
    base: &dyn BaseTree,
    walked: &Walked,
    gt: &BTreeMap<&BStr, &FilePatch>,
) -> Vec<Change> {
    let mut deleted: BTreeMap<BString, Change> = BTreeMap::new();
    let mut added: BTreeMap<BString, Change> = BTreeMap::new();
    let mut out = Vec::new();
    for change in changes {
        match (&change.old_path, &change.new_path) {
            (Some(path), None) => {
                deleted.insert(path.clone(), change);
            }
            (None, Some(path)) => {
                added.insert(path.clone(), change);
            }
            _ => out.push(change),
        }
    }
    let mut moves = as_the_gt_moves(&deleted, &added, gt);
    for (old, new) in &moves {
        deleted.remove(old);
        added.remove(new);
    }
    let exact = exact_moves(&deleted, &added, base, walked);
    for (old, new) in &exact {
        deleted.remove(old);
        added.remove(new);
    }
    moves.extend(exact);
    out.extend(moves.into_iter().map(|(old, new)| Change {
        old: Some(old.clone()),
        old_path: Some(old),
        new_path: Some(new),
        status: FileStatus::Renamed,
    }));
    out.extend(deleted.into_values());
    out.extend(added.into_values());
    out
}

fn as_the_gt_moves(
    deleted: &BTreeMap<BString, Change>,
    added: &BTreeMap<BString, Change>,
    gt: &BTreeMap<&BStr, &FilePatch>,
) -> Vec<(BString, BString)> {
    let mut taken = std::collections::BTreeSet::new();
    let moved = gt.values().filter(|f| f.status == FileStatus::Renamed);
    let mut found = Vec::new();
    for file in moved {
        if let (Some(old), Some(new)) = (&file.old_path, &file.new_path)
            && deleted.contains_key(old)
            && added.contains_key(new)
            && taken.insert(old)
        {
            found.push((old.clone(), new.clone()));
        }
    }
    found
}

fn exact_moves(
    deleted: &BTreeMap<BString, Change>,
    added: &BTreeMap<BString, Change>,
    base: &dyn BaseTree,
    walked: &Walked,
) -> Vec<(BString, BString)> {
    // What may have been moved, by content.
    let mut sources: BTreeMap<Oid, Vec<&BString>> = BTreeMap::new();
    for path in deleted.keys() {
        if let Ok(id) = base.blob_id(path.as_bstr()) {
            sources.entry(id).or_default().push(path);
        }
    }
    let mut found = Vec::new();
    let Some(algorithm) = sources.keys().next().map(Oid::algorithm) else {
        return found;
    };
    for path in added.keys() {
        let Some(file) = walked.files.get(path) else {
            continue;
        };
        let FoundKind::File { size, .. } = file.kind else {
            continue;
        };
        if size == 0 || size > MAX_FILE_BYTES {
            continue;
        }
        let Some(candidates) = file
            .blob_id(algorithm)
            .ok()
            .and_then(|id| sources.get_mut(&id))
        else {
            continue;
        };
        let same_name = candidates.iter().position(|c| name(c) == name(path));
        if !candidates.is_empty() {
            let old = candidates.remove(same_name.unwrap_or(0));
            found.push((old.clone(), path.clone()));
        }
    }
    found
}

fn name(path: &BString) -> &[u8] {
    path.rsplit_once_str("/").map_or(path, |(_, name)| name)
}
