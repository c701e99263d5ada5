//! Files that were moved: a deleted one and a new one that hold the same, or nearly, or as the GT moves them.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use bstr::{BStr, BString, ByteSlice};

use super::changes::Change;
use super::walk::{FoundKind, Walked};
use crate::patch::diff::is_binary;
use crate::patch::model::{FilePatch, FileStatus};
use crate::patch::objects::id::{Algorithm, Oid};
use crate::patch::tree::{BaseTree, MAX_FILE_BYTES};

/// Most pairs of a deleted and a new file that are compared line by line, after those of equal name.
const MAX_PAIRS: usize = 2_500;

/// Largest file that is compared line by line, in bytes.
const MAX_BYTES: usize = 256 << 10;

/// The files after a change.
pub(super) trait After {
    /// The name of the content of a file that is neither empty nor too large to read.
    fn blob_id(&self, path: &BStr, algorithm: Algorithm) -> Option<Oid>;

    /// The content of a file.
    fn content(&self, path: &BStr) -> Option<Vec<u8>>;
}

impl After for Walked {
    fn blob_id(&self, path: &BStr, algorithm: Algorithm) -> Option<Oid> {
        let file = self.files.get::<[u8]>(path.as_ref())?;
        match file.kind {
            FoundKind::File { size, .. } if size > 0 && size <= MAX_FILE_BYTES => {
                file.blob_id(algorithm).ok()
            }
            _ => None,
        }
    }

    fn content(&self, path: &BStr) -> Option<Vec<u8>> {
        let file = self.files.get::<[u8]>(path.as_ref())?;
        match file.kind {
            FoundKind::File { size, .. } if size <= MAX_FILE_BYTES => file.read().ok(),
            _ => None,
        }
    }
}

/// Joins deletions and additions that are moves, in this order: as the GT moves them; equal content that is not
/// empty (of several, the one of the same file name, then the first by path); and, as in git, contents that
/// share at least half of their bytes in whole lines. Paths that the GT deletes or creates stay what they
/// are there, so that both patches are told in the same way.
pub(super) fn pair(
    changes: Vec<Change>,
    base: &dyn BaseTree,
    after: &dyn After,
    gt: &BTreeMap<&BStr, &FilePatch>,
) -> Vec<Change> {
    let mut out = Vec::new();
    let mut rest = Unpaired::default();
    for change in changes {
        match (&change.old_path, &change.new_path) {
            (Some(path), None) => drop(rest.deleted.insert(path.clone(), change)),
            (None, Some(path)) => drop(rest.added.insert(path.clone(), change)),
            _ => out.push(change),
        }
    }
    let mut moves = rest.take(as_the_gt_moves(&rest, gt));
    let fixed = |path: &BString, status| gt.get(path.as_bstr()).is_some_and(|f| f.status == status);
    let mut free = Unpaired::default();
    for (path, change) in std::mem::take(&mut rest.deleted) {
        if fixed(&path, FileStatus::Deleted) {
            out.push(change);
        } else {
            free.deleted.insert(path, change);
        }
    }
    for (path, change) in std::mem::take(&mut rest.added) {
        if fixed(&path, FileStatus::Added) {
            out.push(change);
        } else {
            free.added.insert(path, change);
        }
    }
    moves.extend(free.take(exact_moves(&free, base, after)));
    moves.extend(free.take(near_moves(&free, base, after)));
    out.extend(moves.into_iter().map(|(old, new)| Change {
        old: Some(old.clone()),
        old_path: Some(old),
        new_path: Some(new),
        status: FileStatus::Renamed,
    }));
    out.extend(free.deleted.into_values());
    out.extend(free.added.into_values());
    out
}

type Moves = Vec<(BString, BString)>;

#[derive(Default)]
struct Unpaired {
    deleted: BTreeMap<BString, Change>,
    added: BTreeMap<BString, Change>,
}

impl Unpaired {
    /// Removes what was paired.
    fn take(&mut self, moves: Moves) -> Moves {
        for (old, new) in &moves {
            self.deleted.remove(old);
            self.added.remove(new);
        }
        moves
    }
}

fn as_the_gt_moves(rest: &Unpaired, gt: &BTreeMap<&BStr, &FilePatch>) -> Moves {
    let mut taken = BTreeSet::new();
    let mut found = Vec::new();
    for file in gt.values().filter(|f| f.status == FileStatus::Renamed) {
        if let (Some(old), Some(new)) = (&file.old_path, &file.new_path)
            && rest.deleted.contains_key(old)
            && rest.added.contains_key(new)
            && taken.insert(old)
        {
            found.push((old.clone(), new.clone()));
        }
    }
    found
}

fn exact_moves(rest: &Unpaired, base: &dyn BaseTree, after: &dyn After) -> Moves {
    // What may have been moved, by content.
    let mut sources: BTreeMap<Oid, Vec<&BString>> = BTreeMap::new();
    let mut found = Vec::new();
    if rest.added.is_empty() {
        return found;
    }
    for path in rest.deleted.keys() {
        if let Ok(id) = base.blob_id(path.as_bstr()) {
            sources.entry(id).or_default().push(path);
        }
    }
    let Some(algorithm) = sources.keys().next().map(Oid::algorithm) else {
        return found;
    };
    for path in rest.added.keys() {
        let id = after.blob_id(path.as_bstr(), algorithm);
        let Some(candidates) = id.and_then(|id| sources.get_mut(&id)) else {
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

/// Moves with edits: the best pairs first, each file once.
fn near_moves(rest: &Unpaired, base: &dyn BaseTree, after: &dyn After) -> Moves {
    let pairs = candidates(rest);
    let mut old_lines: BTreeMap<&BString, Option<Lines>> = BTreeMap::new();
    let mut new_lines: BTreeMap<&BString, Option<Lines>> = BTreeMap::new();
    let mut scored = Vec::new();
    for (old, new) in pairs {
        let old_file = old_lines
            .entry(old)
            .or_insert_with(|| Lines::of(base.read(old.as_bstr()).ok()?));
        let new_file = new_lines
            .entry(new)
            .or_insert_with(|| Lines::of(after.content(new.as_bstr())?));
        if let (Some(a), Some(b)) = (old_file, new_file) {
            let shared = a.shared(b);
            let larger = a.bytes.max(b.bytes);
            if shared * 2 >= larger && larger > 0 {
                // In thousandths, so that the order does not hang on rounding.
                scored.push((shared * 1000 / larger, old, new));
            }
        }
    }
    scored.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| (a.1, a.2).cmp(&(b.1, b.2))));
    let (mut gone, mut come) = (BTreeSet::new(), BTreeSet::new());
    let mut found = Vec::new();
    for (_, old, new) in scored {
        if !gone.contains(old) && !come.contains(new) {
            gone.insert(old);
            come.insert(new);
            found.push((old.clone(), new.clone()));
        }
    }
    found
}

/// Which pairs are worth a look: those of equal file name, then all when they are few.
fn candidates(rest: &Unpaired) -> Vec<(&BString, &BString)> {
    let mut by_name: BTreeMap<&[u8], Vec<&BString>> = BTreeMap::new();
    for path in rest.added.keys() {
        by_name.entry(name(path)).or_default().push(path);
    }
    let all = rest.deleted.len().saturating_mul(rest.added.len());
    let pairs = rest.deleted.keys().flat_map(|old| {
        let same_name = by_name.get(name(old)).into_iter().flatten().copied();
        let any = rest
            .added
            .keys()
            .take(if all <= MAX_PAIRS { usize::MAX } else { 0 });
        let mut seen = BTreeSet::new();
        let both = same_name.chain(any).filter(move |new| seen.insert(*new));
        both.map(move |new| (old, new))
    });
    pairs.take(MAX_PAIRS).collect()
}

/// The lines of a text file.
struct Lines {
    /// How often each line stands there.
    counts: HashMap<Vec<u8>, usize>,
    bytes: usize,
}

impl Lines {
    fn of(content: Vec<u8>) -> Option<Self> {
        if content.is_empty() || content.len() > MAX_BYTES || is_binary(&content) {
            return None;
        }
        let mut counts = HashMap::new();
        for line in content.lines_with_terminator() {
            *counts.entry(line.to_vec()).or_insert(0) += 1;
        }
        Some(Self {
            counts,
            bytes: content.len(),
        })
    }

    /// Bytes of the lines that stand in both.
    fn shared(&self, other: &Self) -> usize {
        if self.bytes.min(other.bytes) * 2 < self.bytes.max(other.bytes) {
            return 0;
        }
        let common = |(line, count): (&Vec<u8>, &usize)| {
            let there = other.counts.get(line).copied().unwrap_or(0);
            line.len() * there.min(*count)
        };
        self.counts.iter().map(common).sum()
    }
}

fn name(path: &BString) -> &[u8] {
    path.rsplit_once_str("/").map_or(path, |(_, name)| name)
}
