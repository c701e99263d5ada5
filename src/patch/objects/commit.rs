//! The tree of a commit, every object of it checked against its name.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use bstr::{BStr, BString, ByteSlice};

use super::id::{Oid, hash_file};
use super::store::ObjectStore;
use crate::patch::tree::{BaseTree, Entry, EntryKind, MAX_FILE_BYTES, MAX_TREE_ENTRIES, ReadError};

/// Longest path, in bytes; a longer one can only be made to do harm.
const MAX_PATH: usize = 4096;

/// Largest commit or tag object.
const MAX_COMMIT: u64 = 16 << 20;

/// The files of one commit. Contents are read when asked for.
#[derive(Debug)]
pub struct CommitTree {
    store: Arc<ObjectStore>,
    commit: Oid,
    is_root: bool,
    entries: BTreeMap<BString, Entry>,
}

impl CommitTree {
    /// Lists the tree of a commit; an error in words when the commit or a tree is missing or not what its
    /// name says.
    pub fn open(store: Arc<ObjectStore>, commit: Oid) -> Result<Self, String> {
        let (kind, content) = store
            .read(&commit, MAX_COMMIT)
            .map_err(|e| say(&commit, &e))?;
        if kind != "commit" {
            return Err(format!("{commit} is a {kind} and no commit"));
        }
        let mut lines = content.lines();
        let tree = lines
            .next()
            .and_then(|l| Oid::parse(l.strip_prefix(b"tree ")?))
            .ok_or_else(|| format!("commit {commit} names no tree"))?;
        let is_root = !lines.next().is_some_and(|l| l.starts_with(b"parent "));
        let entries = list(&store, tree)?;
        Ok(Self {
            store,
            commit,
            is_root,
            entries,
        })
    }

    /// The commit.
    pub fn commit(&self) -> Oid {
        self.commit
    }

    /// True when the commit has no parent.
    pub fn is_root(&self) -> bool {
        self.is_root
    }

    fn id(&self, path: &BStr) -> Result<Oid, ReadError> {
        let entry = self.entries.get::<[u8]>(path.as_ref());
        entry.and_then(|e| e.id).ok_or(ReadError::Missing)
    }
}

fn say(id: &Oid, error: &ReadError) -> String {
    format!("object {id}: {error}")
}

/// Walks a tree breadth first, without recursion, in bounded space.
fn list(store: &ObjectStore, root: Oid) -> Result<BTreeMap<BString, Entry>, String> {
    let mut entries = BTreeMap::new();
    let mut seen = 0usize;
    let mut level = vec![(BString::default(), root)];
    while !level.is_empty() {
        let ids: Vec<Oid> = level.iter().map(|(_, id)| *id).collect();
        let mut below = Vec::new();
        let mut failure = None;
        store.read_many(&ids, "tree", MAX_FILE_BYTES, &mut |index, content| {
            let Some((prefix, id)) = level.get(index) else {
                return ControlFlow::Break(());
            };
            let done = content
                .map_err(|e| say(id, &e))
                .and_then(|c| read_tree(&c, id, prefix, &mut entries, &mut below, &mut seen));
            match done {
                Ok(()) => ControlFlow::Continue(()),
                Err(why) => {
                    failure = Some(why);
                    ControlFlow::Break(())
                }
            }
        });
        if let Some(why) = failure {
            return Err(why);
        }
        level = below;
    }
    Ok(entries)
}

/// Reads `mode SP name NUL id` after `mode SP name NUL id`.
fn read_tree(
    content: &[u8],
    tree: &Oid,
    prefix: &BString,
    entries: &mut BTreeMap<BString, Entry>,
    below: &mut Vec<(BString, Oid)>,
    seen: &mut usize,
) -> Result<(), String> {
    let bad = || format!("tree {tree} is damaged");
    let mut rest = content;
    while !rest.is_empty() {
        *seen += 1;
        if *seen > MAX_TREE_ENTRIES {
            return Err(format!(
                "more than {MAX_TREE_ENTRIES} files and directories"
            ));
        }
        let (mode, after) = rest.split_once_str(" ").ok_or_else(bad)?;
        let (name, after) = after.split_once_str("\0").ok_or_else(bad)?;
        let (id, after) = after
            .split_at_checked(tree.algorithm().len())
            .ok_or_else(bad)?;
        rest = after;
        let id = Oid::from_bytes(id).ok_or_else(bad)?;
        let mut path = prefix.clone();
        if !path.is_empty() {
            path.push(b'/');
        }
        path.extend_from_slice(name);
        if name.is_empty() || name.contains(&b'/') || path.len() > MAX_PATH {
            return Err(bad());
        }
        let kind = match mode {
            b"40000" | b"040000" => {
                below.push((path, id));
                continue;
            }
            b"120000" => EntryKind::Link,
            b"160000" => EntryKind::Submodule,
            b"100755" => EntryKind::Executable,
            _ => EntryKind::File,
        };
        let entry = Entry {
            kind,
            id: Some(id),
            size: None,
        };
        entries.insert(path, entry);
    }
    Ok(())
}

impl BaseTree for CommitTree {
    fn entries(&self) -> &BTreeMap<BString, Entry> {
        &self.entries
    }

    fn read(&self, path: &BStr) -> Result<Vec<u8>, ReadError> {
        let id = self.id(path)?;
        self.store.read_blob(&id, MAX_FILE_BYTES)
    }

    fn equals_file(&self, path: &BStr, file: &Path, size: u64) -> Result<bool, ReadError> {
        let id = self.id(path)?;
        if size > MAX_FILE_BYTES && self.store.size(&id)? != size {
            return Ok(false);
        }
        match hash_file(id.algorithm(), file, size) {
            Ok(found) => Ok(found == id),
            Err(error) => Err(ReadError::Unreadable(error.to_string())),
        }
    }

    fn blob_id(&self, path: &BStr) -> Result<Oid, ReadError> {
        self.id(path)
    }

    fn visit(&self, take: &mut dyn FnMut(&BStr, &[u8])) -> u64 {
        let files: Vec<(&BString, Oid)> = self
            .entries
            .iter()
            .filter(|(_, e)| matches!(e.kind, EntryKind::File | EntryKind::Executable))
            .filter_map(|(path, e)| Some((path, e.id?)))
            .collect();
        let ids: Vec<Oid> = files.iter().map(|(_, id)| *id).collect();
        let mut passed_over = 0;
        let mut hand_over = |index: usize, content: Result<Vec<u8>, ReadError>| {
            match (files.get(index), content) {
                (Some((path, _)), Ok(content)) => take(path.as_bstr(), &content),
                _ => passed_over += 1,
            }
            ControlFlow::Continue(())
        };
        self.store.read_blobs(&ids, MAX_FILE_BYTES, &mut hand_over);
        passed_over
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::patch::objects::id::{Algorithm, hash_object};

    fn read(content: &[u8]) -> Result<(usize, usize), String> {
        let id = hash_object(Algorithm::Sha1, "tree", content);
        let (mut entries, mut below, mut seen) = (BTreeMap::new(), Vec::new(), 0);
        let prefix = BString::from("dir");
        read_tree(content, &id, &prefix, &mut entries, &mut below, &mut seen)?;
        assert!(entries.keys().all(|path| path.starts_with(b"dir/")));
        Ok((entries.len(), below.len()))
    }

    #[test]
    fn trees_are_read_or_refused() {
        let entry = |text: &str| [text.as_bytes(), &[7; 20]].concat();
        let good = [entry("100644 a\0"), entry("40000 b\0"), entry("160000 c\0")].concat();
        assert_eq!(read(&good), Ok((2, 1)));
        assert_eq!(read(b""), Ok((0, 0)));
        for bad in [
            &good[..good.len() - 1],
            &entry("100644 \0"),
            &entry("100644 a/b\0"),
            &entry(&format!("100644 {}\0", "x".repeat(MAX_PATH))),
            b"100644",
            b"100644 a",
        ] {
            assert!(read(bad).is_err(), "{}", bad.as_bstr());
        }
    }

    proptest! {
        #[test]
        fn random_trees_do_no_harm(
            parts in proptest::collection::vec(("(100644 |40000 |)[a-z/]{0,4}\0?", any::<[u8; 20]>()), 0..6),
            cut in any::<prop::sample::Index>(),
        ) {
            let mut content: Vec<u8> = parts.iter().flat_map(|(t, id)| [t.as_bytes(), id].concat()).collect();
            content.truncate(cut.index(content.len() + 1));
            let _ = read(&content);
        }
    }
}
