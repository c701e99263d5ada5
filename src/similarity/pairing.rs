//! Which file of the patch a GT file is compared with.
//!
//! By path; else by rename (the patch moved the GT's file, or the GT moved the patch's); else by
//! content: the file that has at least half of the GT file's distinctive lines. Content also beats a
//! path where the file at that path has less than half of the lines and another, unpaired one has
//! half of them: a stub left at the old place hides nothing. One GT file, one file of the patch;
//! ties are broken by path, so the order of the files in a patch makes no difference.

use std::collections::BTreeMap;

/// A GT file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GtName {
    /// Its path (the old one if it is deleted).
    pub path: String,
    /// Its path before, if the GT moves it.
    pub moved_from: Option<String>,
    /// Its distinctive lines.
    pub distinctive: u64,
}

/// A file of the patch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PatchName {
    /// Its path (the old one if it is deleted). No two files have the same.
    pub path: String,
    /// Its path before, if the patch moves it.
    pub moved_from: Option<String>,
}

/// Pairs files. `shared` holds, for a GT file and a file of the patch (as indices), the number of
/// distinctive lines they share; pairs below half may be left out. Returns the partner of each GT
/// file.
pub fn pair(
    gt: &[GtName],
    patch: &[PatchName],
    shared: &BTreeMap<(usize, usize), u64>,
) -> Vec<Option<usize>> {
    let mut partner = by_path(gt, patch);
    by_rename(gt, patch, &mut partner);
    by_content(gt, patch, shared, &mut partner);
    partner
}

fn by_path(gt: &[GtName], patch: &[PatchName]) -> Vec<Option<usize>> {
    let at: BTreeMap<&str, usize> = patch
        .iter()
        .enumerate()
        .map(|(index, file)| (file.path.as_str(), index))
        .collect();
    gt.iter()
        .map(|file| at.get(file.path.as_str()).copied())
        .collect()
}

fn by_rename(gt: &[GtName], patch: &[PatchName], partner: &mut [Option<usize>]) {
    let mut taken = taken(patch.len(), partner);
    // Where a file of the patch was before, and where it is.
    let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, file) in patch.iter().enumerate() {
        for path in file.moved_from.iter().chain([&file.path]) {
            places.entry(path).or_default().push(index);
        }
    }
    let mut order: Vec<usize> = (0..gt.len()).collect();
    order.sort_by_key(|index| gt.get(*index).map(|file| &file.path));
    for index in order {
        let (Some(file), Some(None)) = (gt.get(index), partner.get(index)) else {
            continue;
        };
        let found = [Some(&file.path), file.moved_from.as_ref()]
            .into_iter()
            .flatten()
            .filter_map(|path| places.get(path.as_str()))
            .flatten()
            .filter(|at| !taken.get(**at).copied().unwrap_or(true))
            .min_by_key(|at| patch.get(**at).map(|file| &file.path));
        if let (Some(at), Some(slot)) = (found, partner.get_mut(index)) {
            *slot = Some(*at);
            if let Some(taken) = taken.get_mut(*at) {
                *taken = true;
            }
        }
    }
}

fn by_content(
    gt: &[GtName],
    patch: &[PatchName],
    shared: &BTreeMap<(usize, usize), u64>,
    partner: &mut [Option<usize>],
) {
    let mut taken = taken(patch.len(), partner);
    let half = |gt_index: usize, at: usize| {
        let lines = gt.get(gt_index).map_or(0, |file| file.distinctive);
        let both = shared.get(&(gt_index, at)).copied().unwrap_or(0);
        both > 0 && both * 2 >= lines
    };
    let mut candidates: Vec<(usize, usize)> = shared
        .keys()
        .copied()
        .filter(|(gt_index, at)| {
            half(*gt_index, *at)
                && !taken.get(*at).copied().unwrap_or(true)
                && partner
                    .get(*gt_index)
                    .is_some_and(|now| now.is_none_or(|now| !half(*gt_index, now)))
        })
        .collect();
    // Best share first, as exact fractions; then by path.
    candidates.sort_by(|a, b| {
        let share = |(g, at): &(usize, usize)| {
            let both = shared.get(&(*g, *at)).copied().unwrap_or(0);
            let lines = gt.get(*g).map_or(1, |file| file.distinctive.max(1));
            (u128::from(both), u128::from(lines))
        };
        let path = |(g, at): &(usize, usize)| {
            (
                gt.get(*g).map(|file| file.path.clone()),
                patch.get(*at).map(|file| file.path.clone()),
            )
        };
        let ((a_both, a_lines), (b_both, b_lines)) = (share(a), share(b));
        (b_both * a_lines)
            .cmp(&(a_both * b_lines))
            .then_with(|| path(a).cmp(&path(b)))
    });
    let mut done = vec![false; gt.len()];
    for (gt_index, at) in candidates {
        let (Some(done), Some(taken), Some(slot)) = (
            done.get_mut(gt_index),
            taken.get_mut(at),
            partner.get_mut(gt_index),
        ) else {
            continue;
        };
        if !*done && !*taken {
            *slot = Some(at);
            (*done, *taken) = (true, true);
        }
    }
}

fn taken(files: usize, partner: &[Option<usize>]) -> Vec<bool> {
    let mut taken = vec![false; files];
    for at in partner.iter().flatten() {
        if let Some(taken) = taken.get_mut(*at) {
            *taken = true;
        }
    }
    taken
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gt(path: &str, from: Option<&str>, distinctive: u64) -> GtName {
        GtName {
            path: path.into(),
            moved_from: from.map(Into::into),
            distinctive,
        }
    }

    fn file(path: &str, from: Option<&str>) -> PatchName {
        PatchName {
            path: path.into(),
            moved_from: from.map(Into::into),
        }
    }

    #[test]
    fn path_then_rename_then_content() {
        let gts = [
            gt("a", None, 10),
            gt("b2", Some("b"), 10),
            gt("c", None, 10),
            gt("d", None, 10),
            gt("e", None, 10),
            gt("f", None, 10),
        ];
        let files = [
            file("a", None),
            file("b", None),
            file("c3", Some("c")),
            file("elsewhere", None),
            file("f", None),
            file("g", None),
        ];
        let shared = BTreeMap::from([
            ((0, 0), 9),
            ((3, 3), 5), // half: enough
            ((4, 3), 4), // less than half
            ((5, 4), 1), // a stub at the path
            ((5, 5), 8), // and the content elsewhere
            ((0, 5), 9), // the path has it already
        ]);
        let want = [Some(0), Some(1), Some(2), Some(3), None, Some(5)];
        assert_eq!(pair(&gts, &files, &shared), want);
    }

    #[test]
    fn one_file_is_no_partner_of_two() {
        let gts = [gt("a", None, 8), gt("b", None, 8)];
        let files = [file("x", None), file("y", None)];
        let shared = BTreeMap::from([((0, 0), 8), ((1, 0), 8), ((1, 1), 4)]);
        assert_eq!(pair(&gts, &files, &shared), [Some(0), Some(1)]);
        let shared = BTreeMap::from([((0, 0), 8), ((1, 0), 8)]);
        assert_eq!(pair(&gts, &files, &shared), [Some(0), None]);
    }

    #[test]
    fn the_order_of_files_makes_no_difference() {
        let gts = [gt("a", None, 4), gt("b", None, 4), gt("c", Some("m"), 4)];
        let files = [file("x", None), file("y", None), file("z", Some("m"))];
        let shared = BTreeMap::from([((0, 0), 4), ((1, 0), 4), ((0, 1), 4), ((1, 1), 4)]);
        let one = pair(&gts, &files, &shared);
        let turned: BTreeMap<_, _> = shared
            .iter()
            .map(|((g, f), n)| ((2 - g, 2 - f), *n))
            .collect();
        let gts_turned: Vec<_> = gts.iter().rev().cloned().collect();
        let files_turned: Vec<_> = files.iter().rev().cloned().collect();
        let mut two = pair(&gts_turned, &files_turned, &turned);
        two.reverse();
        let two: Vec<_> = two.iter().map(|at| at.map(|at| 2 - at)).collect();
        assert_eq!(one, two);
    }
}
