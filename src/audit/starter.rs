//! The look-up of lines in the base tree, done once.
//!
//! The lines of the GT and those of the agent's patch are asked for at different times, and a base may
//! hold hundreds of megabytes. So the lines of the patch are announced first and asked for together with the
//! GT's: the tree is streamed once a run. A sweep audits many runs of one task: what was found for one of them
//! is kept ([`StarterCache`]) and asked no more, as long as the base is the benchmark's own. A base that was
//! read from the run itself is nobody else's.

use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use bstr::{BString, ByteSlice};
use sha2::{Digest, Sha256};

use crate::patch::base::BaseSource;
use crate::patch::tree::EntryKind;
use crate::patch::{Base, BaseShelf, BaseTree};
use crate::provenance::Parts;
use crate::similarity::generated::FileSource;
use crate::similarity::model::DistinctiveLine;
use crate::similarity::models::beside;
use crate::similarity::regular::Regular;
use crate::similarity::starter::{BlobStarter, Starter, StarterAnswer};

/// Which base a look-up was made in: the benchmark's repository, and its commit when it has a history.
type Key = (PathBuf, Option<String>);

/// What is known of one base.
#[derive(Debug, Default)]
struct Memory {
    /// Every line that was asked for, and whether it is there.
    known: BTreeMap<String, bool>,
    /// What could not be read; the same for every look-up, since each reads the whole tree.
    notes: Vec<String>,
    /// For the lines of a GT, by their digest: which stand in it as part of another text.
    parts: BTreeMap<[u8; 32], Vec<bool>>,
}

impl Memory {
    fn learn(&mut self, asked: &BTreeSet<String>, answer: &StarterAnswer) {
        for line in asked {
            self.known.insert(line.clone(), answer.found.contains(line));
        }
        self.notes.clone_from(&answer.notes);
    }

    fn answer(&self, queries: &BTreeSet<String>) -> StarterAnswer {
        let is_there = |line: &&String| self.known.get(*line) == Some(&true);
        StarterAnswer {
            found: queries.iter().filter(is_there).cloned().collect(),
            notes: self.notes.clone(),
            ..StarterAnswer::default()
        }
    }
}

/// Answers of look-ups in the benchmark's own trees, for all runs of a process. Shared by threads; what it
/// answers does not depend on the order of the questions.
#[derive(Debug, Default)]
pub(super) struct StarterCache {
    bases: Mutex<BTreeMap<Key, Arc<Mutex<Memory>>>>,
    /// The trees themselves.
    pub(super) shelf: BaseShelf,
}

impl StarterCache {
    /// The memory for a base, when it is one that several runs share.
    fn of(&self, base: &Base, base_repo: Option<&Path>) -> Option<Arc<Mutex<Memory>>> {
        let shared = matches!(
            base.info.source,
            BaseSource::BaseRepoHead | BaseSource::BaseRepoTree
        );
        let place = std::fs::canonicalize(base_repo.filter(|_| shared)?).ok()?;
        let mut bases = self.bases.lock().unwrap_or_else(PoisonError::into_inner);
        let memory = bases.entry((place, base.info.commit.clone()));
        Some(Arc::clone(memory.or_default()))
    }
}

/// The base tree of one run as comparison and provenance see it: lines that were there before, heads of
/// files.
pub(super) struct RunStarter {
    tree: Arc<dyn BaseTree>,
    /// Lines that will be asked for later; looked up with the first question.
    announced: RefCell<BTreeSet<String>>,
    /// What this run learnt.
    own: RefCell<Memory>,
    /// What all runs of the task learnt.
    shared: Option<Arc<Mutex<Memory>>>,
    /// How often the tree was streamed.
    streams: Cell<u32>,
}

impl RunStarter {
    /// The starter of a run; `None` when its base is unknown. `announced` holds lines (squeezed) that will be
    /// asked for after the first question.
    pub(super) fn new(
        base: &Base,
        base_repo: Option<&Path>,
        cache: &StarterCache,
        announced: BTreeSet<String>,
    ) -> Option<Self> {
        Some(Self {
            tree: Arc::clone(base.tree.as_ref()?),
            announced: RefCell::new(announced),
            own: RefCell::default(),
            shared: cache.of(base, base_repo),
            streams: Cell::new(0),
        })
    }

    /// Reads the whole tree once for these lines.
    fn stream(&self, queries: &BTreeSet<String>) -> StarterAnswer {
        self.streams.set(self.streams.get() + 1);
        let passed_over = Cell::new(0);
        let blobs = BlobStarter(|take: &mut dyn FnMut(&str, &[u8])| {
            let left = self.tree.visit(&mut |path, content| {
                take(&path.to_str_lossy(), content);
            });
            passed_over.set(left);
        });
        let mut answer = blobs.known(queries);
        let left = passed_over.get();
        if left > 0 {
            answer
                .notes
                .push(format!("{left} files of the base were not read"));
        }
        answer
    }

    /// For each distinctive line of the GT: it stands in the tree as part of another text. Empty for no
    /// lines.
    pub(super) fn parts(&self, lines: &[DistinctiveLine]) -> Vec<bool> {
        if lines.is_empty() {
            return Vec::new();
        }
        let mut digest = Sha256::new();
        for line in lines {
            digest.update(line.squeezed.as_bytes());
            digest.update(b"\n");
        }
        let digest = digest.finalize().into();
        if let Some(shared) = &self.shared {
            let shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            if let Some(known) = shared.parts.get(&digest) {
                return known.clone();
            }
        }
        let mut parts = Parts::new(lines);
        self.tree.visit(&mut |_, content| parts.read(content));
        let found = parts.finish();
        if let Some(shared) = &self.shared {
            let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
            shared.parts.insert(digest, found.clone());
        }
        found
    }

    /// Reads the files of the tree for the names of a regular GT.
    pub(super) fn read_for(&self, regular: &mut Regular) {
        self.tree
            .visit(&mut |_, content| regular.read(&String::from_utf8_lossy(content)));
    }

    /// Takes over what other runs learnt of these lines.
    fn recall(&self, queries: &BTreeSet<String>) {
        let Some(shared) = &self.shared else { return };
        let shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
        let mut own = self.own.borrow_mut();
        for line in queries {
            if let Some(there) = shared.known.get(line) {
                own.known.insert(line.clone(), *there);
            }
        }
        own.notes.clone_from(&shared.notes);
    }
}

impl Starter for RunStarter {
    fn known(&self, queries: &BTreeSet<String>) -> StarterAnswer {
        if queries.is_empty() {
            return StarterAnswer::default();
        }
        self.recall(queries);
        let is_new = |line: &&String| !self.own.borrow().known.contains_key(*line);
        let mut missing: BTreeSet<String> = queries.iter().filter(is_new).cloned().collect();
        let announced = self.announced.take();
        if !missing.is_empty() || self.streams.get() == 0 {
            missing.extend(announced.iter().filter(is_new).cloned());
        }
        if !missing.is_empty() {
            let answer = self.stream(&missing);
            self.own.borrow_mut().learn(&missing, &answer);
            if let Some(shared) = &self.shared {
                // The other lines of a patch are this run's alone; keeping them would only cost memory.
                missing.retain(|line| queries.contains(line));
                let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
                shared.learn(&missing, &answer);
            }
        }
        self.own.borrow().answer(queries)
    }
}

impl FileSource for RunStarter {
    fn head(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        let mut content = self.tree.read(path.into()).ok()?;
        content.truncate(limit);
        Some(content)
    }

    fn neighbours(&self, path: &str) -> Vec<String> {
        /// Files that are looked through.
        const MAX: usize = 20_000;
        // Below the directory above that of the file; where there is none, below its own.
        let dir = path.rsplit_once('/').map_or("", |(dir, _)| dir);
        let above = dir.rsplit_once('/').map_or(dir, |(above, _)| above);
        let entries = self.tree.entries().range(BString::from(above)..);
        let files = entries
            .take_while(|(path, _)| path.starts_with(above.as_bytes()))
            .take(MAX)
            .filter(|(_, entry)| matches!(entry.kind, EntryKind::File | EntryKind::Executable));
        beside(path, files.filter_map(|(path, _)| path.to_str().ok()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::base::{BaseInfo, BaseKind};
    use crate::patch::tree::MemTree;
    use crate::rules::finding::Confidence;

    fn set(lines: &[&str]) -> BTreeSet<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    fn base(source: BaseSource) -> Base {
        Base {
            info: BaseInfo {
                source,
                confidence: Some(Confidence::High),
                commit: None,
                kind: BaseKind::Directory,
                missing_in_run: false,
            },
            tree: Some(tree()),
            problems: Vec::new(),
        }
    }

    fn tree() -> Arc<dyn BaseTree> {
        let mut tree = MemTree::default();
        tree.insert("a", EntryKind::File, "alpha line\nbeta line\n");
        tree.insert("b", EntryKind::File, "gamma line\n");
        Arc::new(tree)
    }

    #[test]
    fn one_stream_serves_gt_and_patch() {
        let cache = StarterCache::default();
        let given = base(BaseSource::Given);
        let starter = RunStarter::new(&given, None, &cache, set(&["betaline", "new"])).unwrap();
        assert_eq!(
            starter.known(&set(&["alphaline", "gone"])).found,
            set(&["alphaline"])
        );
        assert_eq!(
            starter.known(&set(&["betaline", "new"])).found,
            set(&["betaline"])
        );
        assert_eq!(starter.streams.get(), 1);
        assert_eq!(starter.known(&set(&["gammaline"])).found.len(), 1);
        assert_eq!(starter.streams.get(), 2);
    }

    #[test]
    fn runs_of_a_task_share_what_was_found_and_only_in_the_benchmarks_tree() {
        let dir = tempfile::tempdir().unwrap();
        let cache = StarterCache::default();
        let queries = set(&["alphaline", "gone"]);
        for (source, streams) in [
            (BaseSource::BaseRepoTree, [1, 0, 0]),
            (BaseSource::Head, [1, 1, 1]),
        ] {
            for want in streams {
                let base = base(source);
                let starter =
                    RunStarter::new(&base, Some(dir.path()), &cache, BTreeSet::new()).unwrap();
                assert_eq!(starter.known(&queries).found, set(&["alphaline"]));
                assert_eq!(starter.streams.get(), want, "{source:?}");
            }
        }
    }

    #[test]
    fn threads_get_the_same_answers() {
        let dir = tempfile::tempdir().unwrap();
        let cache = StarterCache::default();
        std::thread::scope(|scope| {
            for at in 0..8 {
                let (cache, dir) = (&cache, &dir);
                scope.spawn(move || {
                    let base = base(BaseSource::BaseRepoTree);
                    let own = set(&[&format!("own{at}"), "gammaline"]);
                    let starter =
                        RunStarter::new(&base, Some(dir.path()), cache, own.clone()).unwrap();
                    assert_eq!(starter.known(&set(&["alphaline", "gone"])).found.len(), 1);
                    assert_eq!(starter.known(&own).found, set(&["gammaline"]));
                });
            }
        });
    }
}
