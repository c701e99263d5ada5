//! The change from one tree to another, such as between two commits of a repository.

use std::collections::BTreeMap;

use bstr::{BStr, BString, ByteSlice};

use super::changes::Change;
use super::renames::{self, After};
use crate::patch::diff::{Effort, diff_within, is_binary};
use crate::patch::model::{FilePatch, FileStatus, Patch, PatchProblem};
use crate::patch::objects::id::{Algorithm, Oid};
use crate::patch::tree::{BaseTree, Entry, EntryKind};

/// What turns `before` into `after`, sorted by path, with moves found as for a work tree. Files that cannot be
/// read or are too large count as binary and are named among the problems. Submodules are left out: their
/// content is a commit of another repository.
pub fn tree_patch(before: &dyn BaseTree, after: &dyn BaseTree) -> Patch {
    let changes = renames::pair(
        changes(before, after),
        before,
        &Tree(after),
        &BTreeMap::new(),
    );
    let mut patch = Patch::default();
    let mut effort = Effort::default();
    for change in changes {
        let mut file = FilePatch {
            old_path: change.old_path,
            new_path: change.new_path,
            status: change.status,
            binary: false,
            hunks: Vec::new(),
        };
        let content = |tree: &dyn BaseTree, path: &Option<BString>| match path {
            Some(path) => tree.read(path.as_bstr()),
            None => Ok(Vec::new()),
        };
        match (
            content(before, &file.old_path),
            content(after, &file.new_path),
        ) {
            (Ok(old), Ok(new)) if is_binary(&old) || is_binary(&new) => file.binary = old != new,
            (Ok(old), Ok(new)) => file.hunks = diff_within(&old, &new, &mut effort),
            (Err(why), _) | (_, Err(why)) => {
                file.binary = true;
                patch.problems.push(PatchProblem {
                    line: 0,
                    what: format!("{}: {why}; taken as binary", file.path()),
                    loses_lines: true,
                });
            }
        }
        patch.files.push(file);
    }
    patch.files.sort_by(|a, b| a.path().cmp(b.path()));
    patch
}

fn changes(before: &dyn BaseTree, after: &dyn BaseTree) -> Vec<Change> {
    let (old, new) = (before.entries(), after.entries());
    let counts = |entry: &Entry| entry.kind != EntryKind::Submodule;
    let mut found = Vec::new();
    for (path, entry) in old.iter().filter(|(_, e)| counts(e)) {
        match new.get(path).filter(|e| counts(e)) {
            None => found.push(Change::deleted(path)),
            Some(other) if same_content(before, after, path, entry, other) => {
                if entry.kind != other.kind {
                    let mut change = Change::modified(path, path.clone());
                    change.status = FileStatus::ModeOnly;
                    found.push(change);
                }
            }
            Some(_) => found.push(Change::modified(path, path.clone())),
        }
    }
    let added = new
        .iter()
        .filter(|(path, e)| counts(e) && !old.get(*path).is_some_and(counts));
    found.extend(added.map(|(path, _)| Change::added(path)));
    found
}

fn same_content(
    before: &dyn BaseTree,
    after: &dyn BaseTree,
    path: &BString,
    old: &Entry,
    new: &Entry,
) -> bool {
    match (old.id, new.id) {
        (Some(old), Some(new)) => old == new,
        _ => before.read(path.as_bstr()) == after.read(path.as_bstr()),
    }
}

struct Tree<'a>(&'a dyn BaseTree);

impl After for Tree<'_> {
    fn blob_id(&self, path: &BStr, _: Algorithm) -> Option<Oid> {
        let empty = self.0.entries().get::<[u8]>(path.as_ref())?.size == Some(0);
        let is_empty = || self.0.read(path).is_ok_and(|content| content.is_empty());
        if empty || is_empty() {
            return None;
        }
        self.0.blob_id(path).ok()
    }

    fn content(&self, path: &BStr) -> Option<Vec<u8>> {
        self.0.read(path).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::tree::MemTree;

    #[test]
    fn every_kind_of_change() {
        let (mut before, mut after) = (MemTree::default(), MemTree::default());
        let text = "one\ntwo\nthree\nfour\n";
        for (path, old, new) in [
            ("same", Some("x\n"), Some("x\n")),
            ("changed", Some(text), Some("one\n2\nthree\nfour\n")),
            ("gone", Some("g\n"), None),
            ("new", None, Some("n\n")),
            ("moved/from", Some("long enough\nto be known\n"), None),
            ("moved/to", None, Some("long enough\nto be known\n")),
            ("binary", Some("\0a"), Some("\0b")),
        ] {
            for (tree, content) in [(&mut before, old), (&mut after, new)] {
                if let Some(content) = content {
                    tree.insert(path, EntryKind::File, content);
                }
            }
        }
        before.insert("mode", EntryKind::File, "m");
        after.insert("mode", EntryKind::Executable, "m");
        before.insert("module", EntryKind::Submodule, "");
        let patch = tree_patch(&before, &after);
        let got: Vec<_> = patch
            .files
            .iter()
            .map(|f| (f.path().to_string(), f.status, f.added().count()))
            .collect();
        use FileStatus::{Added, Deleted, ModeOnly, Modified, Renamed};
        let want = [
            ("binary", Modified, 0),
            ("changed", Modified, 1),
            ("gone", Deleted, 0),
            ("mode", ModeOnly, 0),
            ("moved/to", Renamed, 0),
            ("new", Added, 1),
        ];
        assert_eq!(got, want.map(|(p, s, n)| (p.to_owned(), s, n)));
        assert!(patch.problems.is_empty());
    }
}
