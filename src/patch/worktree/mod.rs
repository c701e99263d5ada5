//! The agent's work: the final tree of a run against its base.
//!
//! What counts is what lies on disk at the end, committed or not, tracked or not. Neither the index
//! (`assume-unchanged` and `skip-worktree` hide edits there) nor the run's ignore rules, HEAD or branches are
//! asked. Files are compared by content; what copying, checking out or fetching large files changes is told
//! apart from work and counted in [`TreeFlags`].

mod apart;
mod archive;
mod changes;
pub(crate) mod encoding;
mod filters;
mod ignore;
mod links;
mod neutral;
pub(crate) mod padding;
pub mod range;
mod renames;
pub(in crate::patch) mod walk;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};
use serde::Serialize;

use self::apart::kind_by_name;
use self::changes::{Change, Comparison};
use self::encoding::{Encoding, encoding};
use self::filters::Filters;
use self::walk::{FoundKind, Keep, Walked};
use super::apply::apply;
use super::base::{Base, BaseInfo};
use super::diff::{Effort, diff_within, is_binary};
use super::model::{FilePatch, FileStatus, Patch};
use super::tree::{self, BaseTree, ReadError};
use crate::Result;

pub use self::apart::{Apart, ApartFile, ApartKind, apart_without_base};

/// Differences that are no work, or could not be looked at. Counts and paths, for people and tests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TreeFlags {
    /// Files whose line ends were converted as a whole; compared after undoing that.
    pub line_ends: Vec<BString>,
    /// Files in an encoding that shows no line of their text (UTF-16, UTF-7) where the base has plain text;
    /// compared after decoding.
    pub encoded: Vec<BString>,
    /// Changed files that name an encoding which is not decoded, and its name: they were not compared.
    pub undecoded: Vec<(BString, String)>,
    /// Files in which a checkout expanded `$Id$`; compared after undoing that.
    pub keywords: Vec<BString>,
    /// Changed files for which the `.gitattributes` of the base name a filter, which is never run: their
    /// content on disk may differ from the base without any work.
    pub filtered: Vec<BString>,
    /// Files that are a Git LFS pointer on one side and its content on the other.
    pub lfs: Vec<BString>,
    /// Links of the base that a copy replaced by what they lead to, or dropped since they lead nowhere.
    pub links_copied: u64,
    /// Links that the agent made and that lead out of the run; their text is compared, they are not followed.
    pub links_outside: Vec<BString>,
    /// Files of the GT in the place of which the agent made a link to a file in the run, itself or above them;
    /// compared by what it leads to.
    pub links_followed: Vec<BString>,
    /// Files that differ in their permissions only.
    pub mode_only: u64,
    /// Files and directories (each counted once) that the base's `.gitignore` files name.
    pub ignored: u64,
    /// Files of the evaluation in the root of the run that were left out.
    pub excluded: Vec<String>,
    /// Everything that was left out, for a search.
    pub apart: Vec<Apart>,
    /// Submodules of the base; their files are not compared unless the GT names them.
    pub submodules: u64,
    /// Directories below the root with a `.git` of their own. Their files are compared like any other.
    pub nested_repos: Vec<BString>,
    /// Files too large to read, or grown by more than a patch can hold (see `padding`); they count as binary.
    pub oversized: Vec<BString>,
    /// Files so large that blank, repeated and comment lines were left out of the comparison.
    pub padded: Vec<BString>,
    /// Archives and compressed files that the agent left, by their first bytes. They were not opened.
    pub archives: Vec<BString>,
    /// Files so long and so different that parts count as replaced as a whole.
    pub coarse: Vec<BString>,
    /// Sockets, pipes and devices. They were not opened.
    pub special: Vec<BString>,
    /// Files that could not be read or compared.
    pub unreadable: Vec<BString>,
    /// Files for which the GT's own hunks give exactly what the agent left, and were taken.
    pub gt_hunks: u64,
}

/// The agent's work and how it was found.
#[derive(Debug, Clone)]
pub struct AgentPatch {
    /// The change, sorted by path. Empty when the base is unknown.
    pub patch: Patch,
    /// The base it is a change to.
    pub base: BaseInfo,
    /// What was told apart from work.
    pub flags: TreeFlags,
    /// What could not be read, in words; each lowers the coverage.
    pub problems: Vec<String>,
    /// Files of the patch without hunks, since they are binary or too large, and where they are.
    pub unread: BTreeMap<BString, PathBuf>,
}

/// Compares the final tree of a run with its base.
///
/// `exclude` holds exact names in the root of the run that belong to the evaluation (traces, reports);
/// they are left out unless the base or the GT has them, or they are directories without a leading dot, in which
/// anything could be put. `gt` serves three ends: files it names count even when ignored, and as text where it
/// has text; and where its hunks turn the base into exactly the agent's file, they become the agent's, since
/// a difference can be written in more than one way.
///
/// # Errors
/// When the run directory cannot be listed, or holds more entries than are read. With an unknown base
/// there is no error: the patch is empty, and [`BaseInfo`] says so.
pub fn worktree_patch(
    root: &Path,
    base: &Base,
    exclude: &BTreeSet<String>,
    gt: Option<&Patch>,
) -> Result<AgentPatch> {
    let mut agent = AgentPatch {
        patch: Patch::default(),
        base: base.info.clone(),
        flags: TreeFlags::default(),
        problems: base.problems.clone(),
        unread: BTreeMap::new(),
    };
    if let Some(tree) = &base.tree {
        let mut maker = Maker::new(root, tree.as_ref(), exclude, gt)?;
        agent.patch.files = maker.files();
        for file in agent.patch.files.iter().filter(|f| f.binary) {
            if let Some(found) = maker.walked.files.get(file.path())
                && matches!(found.kind, FoundKind::File { .. })
            {
                agent.unread.insert(file.path().clone(), found.disk.clone());
            }
        }
        agent.flags = maker.flags;
        let closed = maker.walked.unreadable.iter().map(|(path, _)| path.clone());
        agent.flags.unreadable.extend(closed);
        agent.problems.extend(maker.walked.problems());
        agent.problems.extend(agent.flags.problems());
    }
    Ok(agent)
}

impl TreeFlags {
    /// What could not be looked at, in words.
    fn problems(&self) -> Vec<String> {
        let mut out = Vec::new();
        let mut say = |paths: &[BString], what: &str| {
            if let Some(first) = paths.first() {
                out.push(format!("{} {what} (first: {first})", paths.len()));
            }
        };
        say(
            &self.oversized,
            "files are too large to compare line by line and count as binary",
        );
        say(
            &self.padded,
            "files are so large that blank, repeated and comment lines were left out",
        );
        say(
            &self.archives,
            "archives or compressed files were left in the work tree and not opened",
        );
        let undecoded: Vec<BString> = self.undecoded.iter().map(|(p, _)| p.clone()).collect();
        say(
            &undecoded,
            "files declare an encoding that hides their text, and were not compared",
        );
        say(
            &self.coarse,
            "files are so different that parts count as replaced as a whole",
        );
        say(
            &self.filtered,
            "changed files have a filter in .gitattributes, which is not run; they may look changed without being so",
        );
        say(&self.special, "sockets, pipes or devices were not opened");
        say(&self.unreadable, "files could not be read or compared");
        say(
            &self.links_outside,
            "new links lead out of the run and were not followed",
        );
        out
    }
}

struct Maker<'a> {
    base: &'a dyn BaseTree,
    gt: BTreeMap<&'a BStr, &'a FilePatch>,
    walked: Walked,
    flags: TreeFlags,
    effort: Effort,
    /// What the files of the patch take so far.
    spent: u64,
}

impl<'a> Maker<'a> {
    fn new(
        root: &Path,
        base: &'a dyn BaseTree,
        exclude: &BTreeSet<String>,
        gt: Option<&'a Patch>,
    ) -> Result<Self> {
        let gt: BTreeMap<&BStr, &FilePatch> = gt
            .into_iter()
            .flat_map(|p| &p.files)
            .map(|f| (f.path().as_bstr(), f))
            .collect();
        let mut flags = TreeFlags::default();
        let mut walked = list(root, base, exclude, &gt, &mut flags)?;
        flags.links_followed = links::follow(root, &mut walked, base, &gt);
        flags.special.clone_from(&walked.special);
        Ok(Self {
            base,
            gt,
            walked,
            flags,
            effort: Effort::default(),
            spent: 0,
        })
    }

    fn files(&mut self) -> Vec<FilePatch> {
        let mut comparison = Comparison::new(self.base, &self.walked, &self.gt, &mut self.flags);
        let changes = comparison.run();
        let changes = renames::pair(changes, self.base, &self.walked, &self.gt);
        let mut files: Vec<FilePatch> = changes.iter().filter_map(|c| self.file(c)).collect();
        self.note_filters(&files);
        files.sort_by(|a, b| a.path().cmp(b.path()));
        files
    }

    /// Notes changed files that the base's attributes say are filtered at checkout.
    fn note_filters(&mut self, files: &[FilePatch]) {
        let filters = Filters::of(self.base);
        let changed = files.iter().filter(|f| f.status == FileStatus::Modified);
        let filtered = changed.filter(|f| filters.apply(f.path().as_bstr()));
        self.flags.filtered = filtered.map(|f| f.path().clone()).collect();
    }

    /// The patch of one change; `None` when it turns out to be no work.
    fn file(&mut self, change: &Change) -> Option<FilePatch> {
        let mut file = FilePatch {
            old_path: change.old_path.clone(),
            new_path: change.new_path.clone(),
            status: change.status,
            binary: false,
            hunks: Vec::new(),
        };
        if change.status == FileStatus::ModeOnly {
            return Some(file);
        }
        let path = file.path().clone();
        let old = self.old_content(change);
        let room = old.as_ref().map_or(0, |old| padding::cost(old));
        let (old, new) = match (old, self.new_content(change, room)) {
            (Ok(old), Ok(new)) => (old, new),
            (old, new) => {
                let too_large = [&old, &new]
                    .iter()
                    .any(|c| matches!(c, Err(ReadError::TooLarge(_))));
                if too_large {
                    self.flags.oversized.push(path);
                    file.binary = true;
                    return Some(file);
                }
                self.flags.unreadable.push(path);
                return None;
            }
        };
        let mut new = new;
        match encoding(&old, &new) {
            Encoding::Plain => {}
            Encoding::Decoded(text) => {
                self.flags.encoded.push(path.clone());
                new = text;
            }
            Encoding::Unknown(name) => self.flags.undecoded.push((path.clone(), name)),
        }
        if archive::is_archive(&new) && !archive::is_archive(&old) {
            self.flags.archives.push(path.clone());
        }
        if file.old_path.is_some() && file.new_path.is_some() {
            if let Some(plain) = neutral::without_keywords(&old, &new) {
                self.flags.keywords.push(path.clone());
                new = plain;
            }
            if let Some(converted) = neutral::with_line_ends_of(&old, &new) {
                self.flags.line_ends.push(path.clone());
                new = converted;
            }
            if old == new && change.status == FileStatus::Modified {
                return None;
            }
            if neutral::is_pointer_to(&old, &new) {
                self.flags.lfs.push(path);
                return None;
            }
        }
        if self.take_gt_hunks(&mut file, &new) {
            return Some(file);
        }
        // A NUL hides nothing where the GT has text.
        let named = self.gt.get(file.path().as_bstr());
        let is_text = named.is_some_and(|gt| !gt.binary && !gt.hunks.is_empty());
        if !is_text && (is_binary(&old) || is_binary(&new)) {
            file.binary = old != new;
        } else {
            self.effort.coarse = false;
            file.hunks = diff_within(&old, &new, &mut self.effort);
            if self.effort.coarse {
                self.flags.coarse.push(file.path().clone());
            }
            let lines = file.hunks.iter().flat_map(|h| &h.lines);
            self.spent += padding::cost_of(lines.map(|l| l.text.len()));
            if self.spent > padding::MAX_TOTAL_COST {
                self.flags.oversized.push(path);
                file.binary = true;
                file.hunks = Vec::new();
            }
        }
        Some(file)
    }

    fn old_content(&self, change: &Change) -> std::result::Result<Vec<u8>, ReadError> {
        match &change.old {
            Some(path) => self.base.read(path.as_bstr()),
            None => Ok(Vec::new()),
        }
    }

    /// The content after the change; `old` is what that before takes in a patch.
    fn new_content(
        &mut self,
        change: &Change,
        old: u64,
    ) -> std::result::Result<Vec<u8>, ReadError> {
        let Some(path) = &change.new_path else {
            return Ok(Vec::new());
        };
        let found = self.walked.files.get(path).ok_or(ReadError::Missing)?;
        let FoundKind::File { size, .. } = found.kind else {
            return found.read();
        };
        let gt = self.gt.get(path.as_bstr());
        let of_gt = gt.map_or(0, |gt| padding::cost_of(gt.added().map(|l| l.text.len())));
        let limit = old + of_gt + padding::MAX_COST;
        if size <= limit.min(tree::MAX_FILE_BYTES) {
            let content = found.read()?;
            if padding::cost(&content) <= limit {
                return Ok(content);
            }
        }
        match padding::without_padding(&found.disk) {
            Ok(Some(content)) => {
                self.flags.padded.push(path.clone());
                Ok(content)
            }
            Ok(None) => Err(ReadError::TooLarge(size)),
            Err(error) => Err(ReadError::Unreadable(error.to_string())),
        }
    }

    /// Takes the hunks of the GT when they turn the base into exactly this content.
    fn take_gt_hunks(&mut self, file: &mut FilePatch, new: &[u8]) -> bool {
        let Some(gt) = self.gt.get(file.path().as_bstr()) else {
            return false;
        };
        if gt.binary || gt.hunks.is_empty() || gt.new_path.is_some() != file.new_path.is_some() {
            return false;
        }
        let old = match &gt.old_path {
            Some(path) => self.base.read(path.as_bstr()),
            None if file.old_path.is_none() => Ok(Vec::new()),
            None => return false,
        };
        if !old.is_ok_and(|old| apply(gt, &old).is_ok_and(|got| got == new)) {
            return false;
        }
        file.hunks.clone_from(&gt.hunks);
        if file.old_path != gt.old_path {
            // The GT moved a file that the agent copied.
            file.old_path.clone_from(&gt.old_path);
            file.status = FileStatus::Copied;
        }
        self.flags.gt_hunks += 1;
        true
    }
}

/// Lists the run without what is no work.
fn list(
    root: &Path,
    base: &dyn BaseTree,
    exclude: &BTreeSet<String>,
    gt: &BTreeMap<&BStr, &FilePatch>,
    flags: &mut TreeFlags,
) -> Result<Walked> {
    let rules = ignore::IgnoreRules::of(base);
    let named: BTreeMap<BString, ()> = gt.keys().map(|p| ((*p).to_owned(), ())).collect();
    let entries = base.entries();
    let wanted = |path: &BStr| {
        entries.contains_key::<[u8]>(path.as_ref())
            || named.contains_key::<[u8]>(path.as_ref())
            || tree::has_below(entries, path)
            || tree::has_below(&named, path)
    };
    let mut ignored_dirs: BTreeSet<BString> = BTreeSet::new();
    walk::walk(root, &mut |path, is_dir| {
        let mut leave = |kind: ApartKind| {
            let path = path.to_owned();
            flags.apart.push(Apart { path, kind });
            Keep::Skip
        };
        match kind_by_name(path, is_dir, exclude) {
            Some(ApartKind::Git) => {
                let left = leave(ApartKind::Git);
                if let Some(dir) = path.strip_suffix(b"/.git") {
                    flags.nested_repos.push(dir.into());
                }
                return left;
            }
            Some(kind) if !wanted(path) => {
                let left = leave(kind);
                flags.excluded.push(path.to_str_lossy().into_owned());
                return left;
            }
            _ => {}
        }
        let parent = path.rfind_byte(b'/').and_then(|at| path.get(..at));
        let inside = parent.is_some_and(|p| ignored_dirs.contains(p.as_bstr()));
        if !inside && !rules.ignores(path, is_dir) {
            return Keep::Take;
        }
        if !wanted(path) {
            flags.ignored += 1;
            return leave(ApartKind::Ignored);
        }
        if is_dir {
            ignored_dirs.insert(path.to_owned());
        }
        Keep::Take
    })
}
