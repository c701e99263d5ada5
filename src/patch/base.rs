//! Which tree the agent started from.
//!
//! A base from outside the run (an option, the benchmark's own repository) is sure. A base found in the run
//! can be rewritten by the agent, so its confidence is at most medium, and low where the repository looks
//! as if it had been made anew.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::ThreadId;

use serde::Serialize;

use super::fit::{Fit, fits};
use super::model::Patch;
use super::objects::commit::CommitTree;
use super::objects::id::{Algorithm, Oid};
use super::objects::{GitDir, ObjectStore, refs};
use super::tree::{BaseTree, DirTree};
use crate::rules::finding::Confidence;
use crate::{Error, Result};

/// Most commits of a run that are tried as base.
const MAX_CANDIDATES: usize = 8;

/// Where the base was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaseSource {
    /// `--base`.
    Given,
    /// HEAD of the benchmark's repository for the task.
    BaseRepoHead,
    /// The files of the benchmark's starter tree, which has no git history.
    BaseRepoTree,
    /// The base commit of the task's facts, found in the run.
    Metadata,
    /// The oldest entry of the run's reflog.
    Reflog,
    /// The run's HEAD.
    Head,
    /// There is none.
    Unknown,
}

impl BaseSource {
    /// The name used in JSON and text.
    pub fn name(self) -> &'static str {
        match self {
            Self::Given => "given",
            Self::BaseRepoHead => "base-repo-head",
            Self::BaseRepoTree => "base-repo-tree",
            Self::Metadata => "metadata",
            Self::Reflog => "reflog",
            Self::Head => "head",
            Self::Unknown => "unknown",
        }
    }
}

/// What sort of tree the base is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum BaseKind {
    /// A commit.
    Commit,
    /// A plain directory.
    Directory,
    /// No tree.
    None,
}

/// Which base was taken, and how sure that is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct BaseInfo {
    /// Where it was found.
    pub source: BaseSource,
    /// How sure; `None` when there is no base.
    pub confidence: Option<Confidence>,
    /// The commit, in hexadecimal digits.
    pub commit: Option<String>,
    /// What sort of tree.
    pub kind: BaseKind,
    /// The benchmark's base commit is not among the objects of the run: its history was replaced or cut.
    pub missing_in_run: bool,
}

impl BaseInfo {
    fn unknown() -> Self {
        Self {
            source: BaseSource::Unknown,
            confidence: None,
            commit: None,
            kind: BaseKind::None,
            missing_in_run: false,
        }
    }
}

/// Where to look for a base.
#[derive(Debug, Clone, Copy)]
pub struct BaseRequest<'a> {
    /// The run directory.
    pub run: &'a Path,
    /// `--base`: a revision of the benchmark's repository or of the run.
    pub given: Option<&'a str>,
    /// `base_repo/<TASK>/repo`, if the benchmark has it.
    pub base_repo: Option<&'a Path>,
    /// The base commit of the task's facts, in full or at least seven digits of it.
    pub known_commit: Option<&'a str>,
    /// The GT, which tells commits of the run before the task from those after it.
    pub gt: Option<&'a Patch>,
}

/// The benchmark's base that each thread opened last. A sweep audits the runs of a task one after the other:
/// they share one listing of the base, and one git that reads its objects. Threads share none, so that
/// they do not wait for each other.
#[derive(Default)]
pub struct BaseShelf {
    opened: Mutex<Vec<(ThreadId, Opened)>>,
}

/// A base of the benchmark.
#[derive(Clone)]
struct Opened {
    dir: PathBuf,
    info: BaseInfo,
    commit: Option<Oid>,
    tree: Arc<dyn BaseTree>,
    /// What could not be read of it, in words.
    problems: Vec<String>,
}

impl BaseShelf {
    /// The same as [`choose_base`] for the next of many runs.
    ///
    /// # Errors
    /// As [`choose_base`].
    pub fn choose(&self, request: &BaseRequest<'_>) -> Result<Base> {
        let mut finder = Finder {
            request,
            shelf: self,
            problems: Vec::new(),
        };
        let found = match request.given {
            Some(revision) => Some(finder.given(revision)?),
            None => match finder.in_base_repo()? {
                Some(found) => Some(found),
                None => finder.in_run(),
            },
        };
        let (info, tree) = match found {
            Some((info, tree)) => (info, Some(tree)),
            None => (BaseInfo::unknown(), None),
        };
        Ok(Base {
            info,
            tree,
            problems: finder.problems,
        })
    }

    fn get(&self, dir: &Path) -> Option<Opened> {
        let thread = std::thread::current().id();
        let opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        let own = opened.iter().find(|(owner, _)| *owner == thread);
        own.map(|(_, base)| base)
            .filter(|base| base.dir == dir)
            .cloned()
    }

    fn put(&self, base: &Opened) {
        let thread = std::thread::current().id();
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.retain(|(owner, _)| *owner != thread);
        opened.push((thread, base.clone()));
    }
}

impl std::fmt::Debug for BaseShelf {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BaseShelf").finish_non_exhaustive()
    }
}

/// The base that was taken.
pub struct Base {
    /// Which and how sure.
    pub info: BaseInfo,
    /// Its tree; `None` when it is unknown.
    pub tree: Option<Arc<dyn BaseTree>>,
    /// What could not be read on the way, in words.
    pub problems: Vec<String>,
}

impl std::fmt::Debug for Base {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut out = f.debug_struct("Base");
        out.field("info", &self.info)
            .field("problems", &self.problems);
        out.finish_non_exhaustive()
    }
}

/// Looks for the base in this order: `--base`; HEAD of the benchmark's repository, or its files when it has
/// no history; the known base commit in the run; the oldest reflog entry of the run; the run's HEAD. A known
/// base commit that the run lacks means that its history was replaced: then nothing in the run is believed
/// and the base is unknown. With a GT, the oldest commit of the run that it fits is taken, and none that
/// already holds its changes.
///
/// # Errors
/// When `--base` names nothing, or the benchmark's starter tree cannot be listed.
pub fn choose_base(request: &BaseRequest<'_>) -> Result<Base> {
    BaseShelf::default().choose(request)
}

type Found = (BaseInfo, Arc<dyn BaseTree>);

struct Finder<'a> {
    request: &'a BaseRequest<'a>,
    shelf: &'a BaseShelf,
    problems: Vec<String>,
}

impl Finder<'_> {
    /// Opens the objects of a directory. What is wrong goes to the problems.
    fn store(&mut self, dir: &Path, algorithm: Option<Algorithm>) -> Option<Arc<ObjectStore>> {
        let opened = match GitDir::find(dir) {
            Ok(Some(git)) => ObjectStore::open(git, algorithm),
            Ok(None) => return None,
            Err(why) => Err(why),
        };
        match opened {
            Ok(store) => {
                self.problems.extend_from_slice(store.problems());
                Some(Arc::new(store))
            }
            Err(why) => {
                self.problems.push(format!("history unreadable: {why}"));
                None
            }
        }
    }

    fn tree(&mut self, store: &Arc<ObjectStore>, id: Oid) -> Option<CommitTree> {
        match CommitTree::open(Arc::clone(store), id) {
            Ok(tree) => Some(tree),
            Err(why) => {
                self.problems.push(format!("base commit {id}: {why}"));
                None
            }
        }
    }

    fn given(&mut self, revision: &str) -> Result<Found> {
        let algorithm = Oid::parse(revision.as_bytes()).map(|id| id.algorithm());
        let places = self.request.base_repo.into_iter().chain([self.request.run]);
        for dir in places {
            let Some(store) = self.store(dir, algorithm) else {
                continue;
            };
            let found = store.resolve(revision);
            if let Some(tree) = found.and_then(|id| self.tree(&store, id)) {
                return Ok(commit(BaseSource::Given, Confidence::High, tree));
            }
        }
        Err(Error::Usage {
            what: format!(
                "--base {revision}: no such commit in {}{}",
                self.request.run.display(),
                self.problems
                    .iter()
                    .map(|p| format!("\n  {p}"))
                    .collect::<String>()
            ),
            fix: "give a commit id or ref of the run or of the task's base repository".to_owned(),
        })
    }

    fn in_base_repo(&mut self) -> Result<Option<Found>> {
        let Some(dir) = self.request.base_repo.filter(|d| d.is_dir()) else {
            return Ok(None);
        };
        let opened = match self.shelf.get(dir) {
            Some(opened) => {
                self.problems.extend_from_slice(&opened.problems);
                opened
            }
            None => {
                let Some(opened) = self.open_base_repo(dir)? else {
                    return Ok(None);
                };
                self.shelf.put(&opened);
                opened
            }
        };
        let mut info = opened.info;
        if let Some(id) = opened.commit {
            info.missing_in_run = self.run_lacks(&id);
        }
        Ok(Some((info, opened.tree)))
    }

    /// The benchmark's base; `None` when the directory holds none.
    fn open_base_repo(&mut self, dir: &Path) -> Result<Option<Opened>> {
        let before = self.problems.len();
        let opened = |finder: &Self, info, commit, tree| Opened {
            dir: dir.to_owned(),
            info,
            commit,
            tree,
            problems: finder.problems.get(before..).unwrap_or_default().to_vec(),
        };
        if let Some(store) = self.store(dir, None) {
            match refs::head(store.git_dir()) {
                Ok(id) => {
                    if let Some(tree) = self.tree(&store, id) {
                        let (info, tree) = commit(BaseSource::BaseRepoHead, Confidence::High, tree);
                        return Ok(Some(opened(self, info, Some(id), tree)));
                    }
                }
                Err(why) => self.problems.push(format!("{}: {why}", dir.display())),
            }
        }
        let tree = DirTree::open(dir)?;
        self.problems.extend_from_slice(tree.problems());
        if tree.entries().is_empty() {
            self.problems
                .push(format!("{}: the starter tree is empty", dir.display()));
            return Ok(None);
        }
        let info = BaseInfo {
            source: BaseSource::BaseRepoTree,
            confidence: Some(Confidence::High),
            kind: BaseKind::Directory,
            ..BaseInfo::unknown()
        };
        Ok(Some(opened(self, info, None, Arc::new(tree))))
    }

    /// True when the run has a history and it does not hold the commit.
    fn run_lacks(&mut self, id: &Oid) -> bool {
        let Some(store) = self.store(self.request.run, Some(id.algorithm())) else {
            return false;
        };
        let lacks = !store.has(id);
        if lacks {
            self.problems.push(lacking(id));
        }
        lacks
    }

    fn in_run(&mut self) -> Option<Found> {
        let known = self
            .request
            .known_commit
            .map(str::trim)
            .filter(|c| is_hex(c));
        let algorithm = known
            .and_then(|c| Oid::parse(c.as_bytes()))
            .map(|id| id.algorithm());
        let store = self.store(self.request.run, algorithm)?;
        if let Some(known) = known {
            let id = match Oid::parse(known.as_bytes()) {
                Some(id) => store.has(&id).then_some(id),
                None => store.abbreviated(known),
            };
            let Some(id) = id else {
                self.problems.push(lacking(&known));
                return None;
            };
            let tree = self.tree(&store, id)?;
            return Some(commit(BaseSource::Metadata, Confidence::Medium, tree));
        }
        let mut candidates = Vec::new();
        match refs::head_reflog(store.git_dir()) {
            Ok(entries) => {
                let ids = entries
                    .iter()
                    .flat_map(|e| e.old.into_iter().chain([e.new]));
                candidates.extend(ids.map(|id| (BaseSource::Reflog, id)));
            }
            Err(why) => self.problems.push(format!("no reflog: {why}")),
        }
        match refs::head(store.git_dir()) {
            Ok(id) => candidates.push((BaseSource::Head, id)),
            Err(why) => self.problems.push(format!("HEAD of the run: {why}")),
        }
        self.oldest_fitting(&store, &candidates)
    }

    /// The first candidate that the GT fits. A clone begins at the newest commit and is then moved back to the
    /// base, so the oldest reflog entry need not be the base. Without a GT, or when it fits none, the first
    /// that can be read.
    fn oldest_fitting(
        &mut self,
        store: &Arc<ObjectStore>,
        candidates: &[(BaseSource, Oid)],
    ) -> Option<Found> {
        let mut seen = BTreeSet::new();
        let mut first = None;
        let fresh = candidates.iter().filter(|(_, id)| seen.insert(*id));
        for (source, id) in fresh.take(MAX_CANDIDATES) {
            let Some(tree) = self.tree(store, *id) else {
                continue;
            };
            // A first commit may be the benchmark's, or the agent's own after `git init`.
            let confidence = match source {
                BaseSource::Reflog if !tree.is_root() => Confidence::Medium,
                _ => Confidence::Low,
            };
            let fit = self.request.gt.map(|gt| fits(gt, Some(&tree)));
            let found = commit(*source, confidence, tree);
            match fit {
                None => return Some(found),
                Some(Fit::Fits { already }) if already.is_empty() => return Some(found),
                Some(fit) => {
                    first.get_or_insert((found, fit.already().len()));
                }
            }
        }
        let (found, already) = first?;
        if already > 0 {
            self.problems.push(format!(
                "commit {} of the run already holds the GT's change of {already} files; it cannot be the base",
                found.0.commit.as_deref().unwrap_or_default()
            ));
            return None;
        }
        Some(found)
    }
}

fn is_hex(text: &str) -> bool {
    (7..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit())
}

fn lacking(commit: &dyn std::fmt::Display) -> String {
    format!(
        "the run's repository does not hold the base commit {commit}: its history was replaced or cut"
    )
}

fn commit(source: BaseSource, confidence: Confidence, tree: CommitTree) -> Found {
    let info = BaseInfo {
        source,
        confidence: Some(confidence),
        commit: Some(tree.commit().to_string()),
        kind: BaseKind::Commit,
        missing_in_run: false,
    };
    (info, Arc::new(tree))
}
