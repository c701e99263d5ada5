//! Which paths differ between base and final tree, before any content is looked at line by line.

use std::collections::{BTreeMap, BTreeSet};

use bstr::{BStr, BString, ByteSlice};

use super::TreeFlags;
use super::apart::{Apart, ApartKind};
use super::walk::{Found, FoundKind, Walked};
use crate::patch::model::{FilePatch, FileStatus};
use crate::patch::tree::{BaseTree, Entry, EntryKind, ReadError, has_below, link_target};

/// Most links that are followed, within the base, to find what a copy resolved.
const MAX_LINKS: usize = 40;

/// Longest path made by resolving links, in bytes.
const MAX_PATH: usize = 4096;

/// A path that differs.
#[derive(Debug, Clone)]
pub(super) struct Change {
    /// Path before; `None` for a new file.
    pub(super) old_path: Option<BString>,
    /// Path after; `None` for a deleted file.
    pub(super) new_path: Option<BString>,
    /// What happened.
    pub(super) status: FileStatus,
    /// The file of the base that holds the old content (not `old_path` where a copy resolved a link).
    pub(super) old: Option<BString>,
}

impl Change {
    pub(super) fn added(path: &BString) -> Self {
        Self {
            old_path: None,
            new_path: Some(path.clone()),
            status: FileStatus::Added,
            old: None,
        }
    }

    pub(super) fn deleted(path: &BString) -> Self {
        Self {
            old_path: Some(path.clone()),
            new_path: None,
            status: FileStatus::Deleted,
            old: Some(path.clone()),
        }
    }

    pub(super) fn modified(path: &BString, old: BString) -> Self {
        Self {
            old_path: Some(path.clone()),
            new_path: Some(path.clone()),
            status: FileStatus::Modified,
            old: Some(old),
        }
    }
}

/// One comparison of a base and a final tree.
pub(super) struct Comparison<'a> {
    base: &'a dyn BaseTree,
    walked: &'a Walked,
    gt: &'a BTreeMap<&'a BStr, &'a FilePatch>,
    flags: &'a mut TreeFlags,
    unreadable: BTreeSet<&'a BStr>,
    /// Where the links of the base lead, as far as asked.
    targets: BTreeMap<BString, Option<BString>>,
    changes: Vec<Change>,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        base: &'a dyn BaseTree,
        walked: &'a Walked,
        gt: &'a BTreeMap<&'a BStr, &'a FilePatch>,
        flags: &'a mut TreeFlags,
    ) -> Self {
        let unreadable = walked.unreadable.iter().map(|(p, _)| p.as_bstr()).collect();
        Self {
            base,
            walked,
            gt,
            flags,
            unreadable,
            targets: BTreeMap::new(),
            changes: Vec::new(),
        }
    }

    pub(super) fn run(&mut self) -> Vec<Change> {
        let (base, walked) = (self.base, self.walked);
        for (path, entry) in base.entries() {
            match walked.files.get(path) {
                Some(found) => self.both(path, entry, found),
                None => self.gone(path, entry),
            }
        }
        for (path, found) in &walked.files {
            if !base.entries().contains_key(path) {
                self.new_path(path, found);
            }
        }
        std::mem::take(&mut self.changes)
    }

    /// A path of both trees.
    fn both(&mut self, path: &BString, entry: &Entry, found: &Found) {
        match (entry.kind, found.kind) {
            (EntryKind::Submodule, _) => {
                self.flags.submodules += 1;
                self.changes.push(Change::added(path));
            }
            (EntryKind::Link, FoundKind::Link) => {
                let (old, new) = (self.base.read(path.as_bstr()), found.read());
                if old != new {
                    self.note_link(path, found);
                    self.changes.push(Change::modified(path, path.clone()));
                }
            }
            (EntryKind::Link, FoundKind::File { size, .. }) => {
                self.resolved_link(path, found, size)
            }
            (_, FoundKind::Link) => {
                self.note_link(path, found);
                self.changes.push(Change::modified(path, path.clone()));
            }
            (kind, FoundKind::File { size, executable }) => {
                if !self.differs(path, path, found, size) {
                    if (kind == EntryKind::Executable) != executable {
                        self.mode_only(path);
                    }
                } else {
                    self.changes.push(Change::modified(path, path.clone()));
                }
            }
        }
    }

    /// A link of the base that is a file now: the work of `cp -L` or `rsync --copy-links`, unless the file
    /// has another content than the link led to.
    fn resolved_link(&mut self, path: &BString, found: &Found, size: u64) {
        match self.file_behind(path) {
            Some(target) => {
                self.flags.links_copied += 1;
                if self.differs(path, &target, found, size) {
                    self.changes.push(Change::modified(path, target));
                }
            }
            None => self.changes.push(Change::modified(path, path.clone())),
        }
    }

    /// A path that only the base has.
    fn gone(&mut self, path: &BString, entry: &Entry) {
        if is_below(path, |p| self.unreadable.contains(p)) || self.walked.special.contains(path) {
            return;
        }
        match entry.kind {
            EntryKind::Submodule => self.flags.submodules += 1,
            EntryKind::Link if has_below(&self.walked.files, path.as_bstr()) => {
                // A copy put the files of a directory in the place of a link to it; they are compared one by
                // one.
                self.flags.links_copied += 1;
            }
            EntryKind::Link if !self.leads_somewhere(path) => self.flags.links_copied += 1,
            _ => self.changes.push(Change::deleted(path)),
        }
    }

    /// A path that only the final tree has.
    fn new_path(&mut self, path: &BString, found: &Found) {
        let entries = self.base.entries();
        let kind_above = |wanted: EntryKind| {
            is_below(path, |p| {
                entries
                    .get::<[u8]>(p.as_ref())
                    .is_some_and(|e| e.kind == wanted)
            })
        };
        if kind_above(EntryKind::Submodule) && !self.gt.contains_key(path.as_bstr()) {
            self.flags.apart.push(Apart {
                path: path.clone(),
                kind: ApartKind::Submodule,
            });
            return;
        }
        if let FoundKind::File { size, .. } = found.kind
            && kind_above(EntryKind::Link)
            && let Some(target) = self.file_behind(path)
        {
            if self.differs(path, &target, found, size) {
                self.changes.push(Change::modified(path, target));
            }
            return;
        }
        self.note_link(path, found);
        self.changes.push(Change::added(path));
    }

    /// True when a file of the final tree has another content than a file of the base. A file that cannot be
    /// read is noted and does not count as different.
    fn differs(&mut self, path: &BString, base: &BString, found: &Found, size: u64) -> bool {
        match self.base.equals_file(base.as_bstr(), &found.disk, size) {
            Ok(equal) => !equal,
            Err(ReadError::TooLarge(_)) => true,
            Err(_) => {
                self.flags.unreadable.push(path.clone());
                false
            }
        }
    }

    fn mode_only(&mut self, path: &BString) {
        self.flags.mode_only += 1;
        let named = self.gt.get(path.as_bstr());
        if named.is_some_and(|f| f.status == FileStatus::ModeOnly) {
            let mut change = Change::modified(path, path.clone());
            change.status = FileStatus::ModeOnly;
            self.changes.push(change);
        }
    }

    /// Notes a new link that leads out of the run.
    fn note_link(&mut self, path: &BString, found: &Found) {
        if found.kind == FoundKind::Link {
            let text = found.read().unwrap_or_default();
            if link_target(path.as_bstr(), &text).is_none() {
                self.flags.links_outside.push(path.clone());
            }
        }
    }

    /// The regular file of the base that a path leads to through the links of the base.
    fn file_behind(&mut self, path: &BString) -> Option<BString> {
        let real = self.through_links(path)?;
        let kind = self.base.entries().get(&real)?.kind;
        matches!(kind, EntryKind::File | EntryKind::Executable).then_some(real)
    }

    /// True when a link of the base leads to a file or directory of the base.
    fn leads_somewhere(&mut self, path: &BString) -> bool {
        let Some(real) = self.through_links(path) else {
            return false;
        };
        self.base.entries().contains_key(&real) || has_below(self.base.entries(), real.as_bstr())
    }

    /// A path with every link on its way resolved, within the base. `None` when it leads out of the base or
    /// in a circle.
    fn through_links(&mut self, path: &BString) -> Option<BString> {
        let mut path = path.clone();
        for _ in 0..MAX_LINKS {
            let Some(end) = self.first_link(&path) else {
                return Some(path);
            };
            let (link, rest) = path.split_at_checked(end)?;
            let mut next = self.target(link.as_bstr())?;
            if next.is_empty() {
                next.extend_from_slice(rest.strip_prefix(b"/").unwrap_or(rest));
            } else {
                next.extend_from_slice(rest);
            }
            if next.len() > MAX_PATH {
                return None;
            }
            path = next;
        }
        None
    }

    /// Where the first component ends that is a link of the base.
    fn first_link(&self, path: &BString) -> Option<usize> {
        let ends = path.find_iter("/").chain([path.len()]);
        ends.into_iter().find(|end| {
            let part = path.get(..*end).unwrap_or_default();
            let entry = self.base.entries().get(part);
            entry.is_some_and(|e| e.kind == EntryKind::Link)
        })
    }

    fn target(&mut self, link: &BStr) -> Option<BString> {
        if let Some(known) = self.targets.get(link) {
            return known.clone();
        }
        let text = self.base.read(link).ok();
        let target = text.and_then(|t| link_target(link, &t));
        self.targets.insert(link.to_owned(), target.clone());
        target
    }
}

/// True when a path or one of the directories above it is in a set.
fn is_below(path: &BString, contains: impl Fn(&BStr) -> bool) -> bool {
    let mut ends = path.find_iter("/").chain([path.len()]);
    ends.any(|end| path.get(..end).is_some_and(|p| contains(p.as_bstr())))
}
