//! What the run's repository holds beside its final tree: stashes, branches, commits that only a reflog or nothing
//! names any more.
//!
//! None of it is the agent's work, which is the final tree alone. But an answer that was stashed away, or committed
//! and dropped, tells where lines came from.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use bstr::{BString, ByteSlice};

use super::objects::commit::CommitTree;
use super::objects::id::Oid;
use super::objects::{GitDir, ObjectStore, refs};
use super::tree::{BaseTree, EntryKind, MAX_FILE_BYTES};

/// Most commits that are looked at; those that have names come first.
const MAX_COMMITS: usize = 64;

/// Most reflogs and branches that are read.
const MAX_NAMES: usize = 1_000;

/// Most loose objects among which commits without a name are looked for.
const MAX_LOOSE: usize = 20_000;

/// Most files of one commit that are read, and most bytes of all commits together.
const MAX_FILES: usize = 5_000;
const MAX_BYTES: u64 = 512 << 20;

/// A commit of the run that is not its base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Left {
    /// What names it: `stash@{0}`, `HEAD@{2}`, `refs/heads/x`, or `dropped commit`.
    pub name: String,
    /// The commit.
    pub commit: Oid,
}

/// The commits that a run left behind.
#[derive(Debug)]
pub struct History {
    store: Arc<ObjectStore>,
    /// The commits, stashes first.
    pub commits: Vec<Left>,
    /// What was left out, in words.
    pub problems: Vec<String>,
    bytes_left: u64,
}

impl History {
    /// Opens the run's repository. `None` when there is none to read; then whoever looked for a base has said
    /// so.
    pub fn open(run: &Path, base: Option<&str>) -> Option<Self> {
        let git = GitDir::find(run).ok()??;
        let base = base.and_then(|b| Oid::parse(b.as_bytes()));
        let store = ObjectStore::open(git, base.map(|b| b.algorithm())).ok()?;
        let store = Arc::new(store);
        let mut history = Self {
            commits: Vec::new(),
            problems: Vec::new(),
            bytes_left: MAX_BYTES,
            store: Arc::clone(&store),
        };
        let mut known: BTreeSet<Oid> = base.into_iter().collect();
        let loose = store.loose(MAX_LOOSE);
        let dropped = store.commits_among(&loose);
        let named = named(store.git_dir(), &store);
        let dropped = dropped.into_iter().map(|commit| Left {
            name: "dropped commit".to_owned(),
            commit,
        });
        let all = named.into_iter().chain(dropped);
        history.commits = all.filter(|left| known.insert(left.commit)).collect();
        if history.commits.len() > MAX_COMMITS {
            history.problems.push(format!(
                "of {} commits that the run left behind, {MAX_COMMITS} were looked at",
                history.commits.len()
            ));
            history.commits.truncate(MAX_COMMITS);
        }
        Some(history)
    }

    /// Hands over the files of a commit that the base has not with the same content.
    pub fn visit(&mut self, left: &Left, base: Option<&dyn BaseTree>, take: &mut dyn FnMut(&[u8])) {
        let Ok(tree) = CommitTree::open(Arc::clone(&self.store), left.commit) else {
            return;
        };
        let none = BTreeMap::new();
        let before = base.map_or(&none, |base| base.entries());
        let is_new = |path: &BString, id: Oid| match (before.get(path), base) {
            (Some(entry), Some(base)) => match entry.id {
                Some(known) => known != id,
                None => base.blob_id(path.as_bstr()) != Ok(id),
            },
            _ => true,
        };
        let ids: Vec<Oid> = tree
            .entries()
            .iter()
            .filter(|(_, e)| matches!(e.kind, EntryKind::File | EntryKind::Executable))
            .filter_map(|(path, e)| e.id.filter(|id| is_new(path, *id)))
            .take(MAX_FILES)
            .collect();
        let bytes_left = &mut self.bytes_left;
        self.store
            .read_blobs(&ids, MAX_FILE_BYTES, &mut |_, content| {
                let Ok(content) = content else {
                    return ControlFlow::Continue(());
                };
                let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
                let Some(rest) = bytes_left.checked_sub(size) else {
                    return ControlFlow::Break(());
                };
                *bytes_left = rest;
                take(&content);
                ControlFlow::Continue(())
            });
    }
}

/// The commits that stashes, reflogs and branches name. What a remote or a tag names came with the clone.
fn named(git: &GitDir, store: &ObjectStore) -> Vec<Left> {
    let mut found = Vec::new();
    let mut logs = git.files_below("logs", MAX_NAMES);
    logs.retain(|log| {
        !log.starts_with("logs/refs/remotes/") && !log.starts_with("logs/refs/tags/")
    });
    // Stashes first: they are what somebody put away.
    logs.sort_by_key(|log| (log != "logs/refs/stash", log.clone()));
    for log in logs {
        let name = log.trim_start_matches("logs/");
        let name = name.strip_prefix("refs/").unwrap_or(name);
        let entries = refs::reflog(git, &log).unwrap_or_default();
        for (age, entry) in entries.iter().rev().enumerate() {
            let own = Left {
                name: format!("{name}@{{{age}}}"),
                commit: entry.new,
            };
            if name == "stash" {
                found.extend(parts_of_stash(store, &own));
            }
            found.push(own);
        }
    }
    for name in git.files_below("refs", MAX_NAMES) {
        let own = name == "refs/stash" || name.starts_with("refs/heads/");
        if own && let Some(commit) = refs::find(git, &name) {
            let left = Left { name, commit };
            if left.name == "refs/stash" {
                found.extend(parts_of_stash(store, &left));
            }
            found.push(left);
        }
    }
    found
}

/// A stash keeps untracked files in a commit of their own, its third parent.
fn parts_of_stash(store: &ObjectStore, stash: &Left) -> Option<Left> {
    let (kind, content) = store.read(&stash.commit, MAX_FILE_BYTES).ok()?;
    let parents = content
        .lines()
        .filter_map(|line| line.strip_prefix(b"parent "));
    let third = parents.take_while(|_| kind == "commit").nth(2)?;
    Some(Left {
        name: format!("{} (untracked files)", stash.name),
        commit: Oid::parse(third)?,
    })
}
