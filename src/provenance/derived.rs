//! Lines that an edit of a part of them made.
//!
//! Who replaces `sort_keys=True` by `sort_keys=True, ensure_ascii=False` never types the line that results. So
//! for each file of the patch the lines are kept that it certainly had: those that the patch removes or leaves
//! around its changes, and those that the agent typed for it. An edit turns such a line into another. When what
//! results *equals* an added line of that file, the edit wrote it: its old parts were there before, and its new
//! ones were typed. A line that came in by a script or a copy is no such result, whatever fragment of it is edited
//! afterwards, for it is none of the known lines.

use std::collections::{BTreeSet, HashMap, HashSet};

use memchr::memmem;

use super::changes::hash_of;
use super::model::Inputs;
use super::paths::{PathId, Paths};
use crate::similarity::normalise::{squeeze, squeezed};

/// Bytes of lines that are kept, of all files together.
const MAX_KEPT: usize = 48 << 20;

/// Bytes that all edits of a run may look through. Beyond, edits of parts are no longer followed.
const MAX_WORK: usize = 256 << 20;

/// Occurrences in one line that are replaced one by one.
const MAX_PLACES: usize = 6;

/// Lines that can begin, and that can end, a text over several lines which is replaced by part of one.
const MAX_ENDS: usize = 32;

/// A line that holds the old text more often is left alone.
const MAX_OCCURRENCES: usize = 64;

/// Bytes of lines that one edit may make.
const MAX_MADE: usize = 16 << 20;

/// Longer lines are not followed.
const MAX_LINE: usize = 4096;

/// A file of the patch.
#[derive(Debug, Default)]
struct File {
    /// Lines that it had at some time, squeezed.
    lines: Vec<Box<str>>,
    /// Their hashes.
    have: HashSet<u64>,
    /// The hashes of its added lines.
    wanted: HashSet<u64>,
}

/// The lines that the files of the patch had.
#[derive(Debug, Default)]
pub(super) struct Derived {
    files: HashMap<PathId, File>,
    kept: usize,
    work: usize,
}

impl Derived {
    /// The lines that are known before the run. Without a patch there is nothing to follow.
    pub(super) fn new(inputs: &Inputs<'_>, paths: &mut Paths) -> Self {
        let mut out = Self::default();
        for file in inputs.patch.iter().filter(|f| !f.generated) {
            let id = paths.add(&file.path);
            let wanted = file.lines.iter().map(|l| hash_of(&squeezed(&l.text)));
            out.files.entry(id).or_default().wanted.extend(wanted);
            for line in &file.around {
                out.keep(id, squeezed(line).into_owned());
            }
        }
        out
    }

    fn keep(&mut self, id: PathId, line: String) {
        let Some(file) = self.files.get_mut(&id) else {
            return;
        };
        let fits = (1..=MAX_LINE).contains(&line.len()) && self.kept + line.len() <= MAX_KEPT;
        if fits && file.have.insert(hash_of(&line)) {
            // A line costs more than its text.
            self.kept += line.len() + 48;
            file.lines.push(line.into());
        }
    }

    /// The agent typed these lines for a file.
    pub(super) fn typed(&mut self, id: PathId, text: &str) {
        if self.files.contains_key(&id) {
            for line in text.lines() {
                self.keep(id, squeeze(line));
            }
        }
    }

    /// There is no patch to follow.
    pub(super) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Files of the patch, in order.
    pub(super) fn files(&self) -> BTreeSet<PathId> {
        self.files.keys().copied().collect()
    }

    /// The added lines of a file that the replacement of `old` by `new` makes of known lines.
    pub(super) fn replaced(&mut self, id: PathId, old: &str, new: &str) -> Vec<String> {
        let Some(file) = self.files.get(&id) else {
            return Vec::new();
        };
        let size: usize = file.lines.len() * 16 + old.len() + new.len();
        self.work = self.work.saturating_add(size);
        let (old, new) = (Ends::of(old), Ends::of(new));
        if self.work > MAX_WORK || old == new || old.first.is_empty() && old.last.is_none() {
            return Vec::new();
        }
        let mut made = Made::default();
        match &old.last {
            None => {
                for line in &file.lines {
                    self.work = self.work.saturating_add(line.len());
                    in_line(line, &old.first, &new, &mut made);
                }
            }
            Some(last) => {
                self.work = self.work.saturating_add(file.lines.len() * 16);
                over_lines(&file.lines, &old.first, last, &new, &mut made);
            }
        }
        let mut results = Vec::new();
        for line in made.lines {
            self.work = self.work.saturating_add(line.len() + 64);
            if self.work > MAX_WORK {
                break;
            }
            let wanted = |f: &File| f.wanted.contains(&hash_of(&line));
            if self.files.get(&id).is_some_and(wanted) {
                results.push(line.clone());
            }
            self.keep(id, line);
        }
        results
    }
}

/// The lines that an edit makes.
#[derive(Debug, Default)]
struct Made {
    lines: Vec<String>,
    size: usize,
}

impl Made {
    fn push(&mut self, parts: &[&str]) {
        let size: usize = parts.iter().map(|p| p.len()).sum();
        if size <= MAX_LINE && self.size + size <= MAX_MADE {
            self.size += size + 24;
            self.lines.push(parts.concat());
        }
    }
}

/// The first and the last line of a text, squeezed; `None` for the last when it is the first.
#[derive(Debug, PartialEq, Eq)]
struct Ends {
    first: String,
    last: Option<String>,
}

impl Ends {
    fn of(text: &str) -> Self {
        let mut lines = text.split('\n');
        let first = squeeze(lines.next().unwrap_or_default());
        Self {
            first,
            last: lines.next_back().map(squeeze),
        }
    }
}

/// Replaces a part of one line: each occurrence alone, and all together.
fn in_line(line: &str, old: &str, new: &Ends, made: &mut Made) {
    let places: Vec<usize> = memmem::find_iter(line.as_bytes(), old)
        .take(MAX_OCCURRENCES + 1)
        .collect();
    if places.len() > MAX_OCCURRENCES {
        return;
    }
    for at in places.iter().copied().take(MAX_PLACES) {
        let (Some(before), Some(after)) = (line.get(..at), line.get(at + old.len()..)) else {
            continue;
        };
        match &new.last {
            None => made.push(&[before, &new.first, after]),
            Some(last) => {
                made.push(&[before, &new.first]);
                made.push(&[last, after]);
            }
        }
    }
    if places.len() > 1 && new.last.is_none() {
        let room = new.first.len().saturating_mul(places.len());
        if room <= MAX_LINE {
            made.push(&[&line.replace(old, &new.first)]);
        }
    }
}

/// Replaces the end of one line up to the beginning of another.
fn over_lines(lines: &[Box<str>], first: &str, last: &str, new: &Ends, made: &mut Made) {
    let heads = lines.iter().filter_map(|l| l.strip_suffix(first));
    let heads: Vec<&str> = heads.filter(|_| !first.is_empty()).collect();
    let tails = lines.iter().filter_map(|l| l.strip_prefix(last));
    let tails: Vec<&str> = tails.filter(|_| !last.is_empty()).collect();
    match &new.last {
        Some(new_last) => {
            if first != new.first {
                heads.iter().for_each(|head| made.push(&[head, &new.first]));
            }
            if last != new_last {
                tails.iter().for_each(|tail| made.push(&[new_last, tail]));
            }
        }
        None => {
            // A text that ends with a whole line, or begins with one.
            let (heads, tails) = (or_nothing(heads), or_nothing(tails));
            for head in heads.iter().take(MAX_ENDS) {
                for tail in tails.iter().take(MAX_ENDS) {
                    made.push(&[head, &new.first, tail]);
                }
            }
        }
    }
}

fn or_nothing(ends: Vec<&str>) -> Vec<&str> {
    if ends.is_empty() { vec![""] } else { ends }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::model::{AddedFile, AddedLine};

    const BEFORE: &str = "handle.write(json.dumps(job, sort_keys=True))";
    const AFTER: &str = "handle.write(json.dumps(job, sort_keys=True, ensure_ascii=False))";

    fn followed(around: &[&str], added: &[&str]) -> (Derived, PathId) {
        let line = |text: &&str| AddedLine {
            text: (*text).to_owned(),
            starter: false,
        };
        let patch = [AddedFile {
            path: "store.py".into(),
            generated: false,
            around: around.iter().map(|l| (*l).to_owned()).collect(),
            lines: added.iter().map(line).collect(),
        }];
        let inputs = Inputs {
            patch: &patch,
            ..Inputs::default()
        };
        let mut paths = Paths::default();
        let derived = Derived::new(&inputs, &mut paths);
        (derived, paths.add("store.py"))
    }

    #[test]
    #[rustfmt::skip]
    fn edits_of_parts() {
        let two = ["total = tally(first)", "return total + rest(second)"];
        for (around, edits, want) in [
            // A part of a line, by itself or with more of the line.
            (&[BEFORE][..], &[("sort_keys=True", "sort_keys=True, ensure_ascii=False")][..], &[AFTER][..]),
            (&[BEFORE], &[("  True))", "True,\tensure_ascii=False))")], &[AFTER]),
            // In two steps.
            (&[BEFORE], &[("True", "True, ensure_ascii=True"), ("ensure_ascii=True", "ensure_ascii=False")], &[AFTER]),
            // All occurrences, or one of several.
            (&["tries = tries or max_tries"], &[("tries", "attempts")], &["attempts = attempts or max_attempts"]),
            (&["tries = tries or max_tries"], &[("tries", "attempts")], &["tries = attempts or max_tries"]),
            // From part of one line to part of another.
            (&two, &[("(first)\nreturn total", "(first, 0)\nreturn  base")], &["total = tally(first, 0)", "return base + rest(second)"]),
            (&two, &[("tally(first)\nreturn total +", "tally(first) +")], &["total = tally(first) + rest(second)"]),
            (&two, &[("total + rest", "total +\\\n  other_rest")], &["return total +\\", "other_rest(second)"]),
            // The fragment of an edit makes no line that was never known, and none that it does not make exactly.
            (&[], &[("sort_keys=True", "sort_keys=True, ensure_ascii=False")], &[]),
            (&["# nothing like it"], &[("e", "e")], &[]),
            (&[BEFORE], &[("sort_keys=True", "sort_keys=True, ensure_ascii")], &[]),
            (&[BEFORE], &[("o", "0"), ("0", "o")], &[]),
            (&[BEFORE], &[("", "ensure_ascii=False")], &[]),
        ] {
            let (mut derived, id) = followed(around, &[AFTER, "attempts = attempts or max_attempts", "tries = attempts or max_tries",
                "total = tally(first, 0)", "return base + rest(second)", "total = tally(first) + rest(second)", "return total +\\", "other_rest(second)"]);
            let made: Vec<_> = edits.iter().flat_map(|(old, new)| derived.replaced(id, old, new)).collect();
            for want in want {
                assert!(made.contains(&squeeze(want)), "{edits:?} {made:?}");
            }
            assert_eq!(made.is_empty(), want.is_empty(), "{edits:?} {made:?}");
        }
    }

    #[test]
    fn what_was_typed_is_known() {
        let (mut derived, id) = followed(&[], &[AFTER]);
        derived.typed(id, &format!("import json\n    {BEFORE}\n"));
        let made = derived.replaced(id, "True", "True, ensure_ascii=False");
        assert_eq!(made, [squeeze(AFTER)]);
        // A file that the patch does not have.
        assert_eq!(derived.replaced(id + 1, "True", "x"), [] as [String; 0]);
    }

    /// Many edits over many lines cost what they are allowed to.
    #[test]
    fn hostile_edits_end() {
        let line = "a".repeat(MAX_LINE / 2);
        let (mut derived, id) = followed(&[], &[AFTER]);
        for number in 0..2000 {
            derived.typed(id, &format!("{number}{line}"));
        }
        derived.work = MAX_WORK - (8 << 20);
        for number in 0..2000 {
            derived.replaced(id, "aaaaaaaaaaaaaaaa", &format!("aa{number}"));
            derived.replaced(id, &format!("{number}a"), &"b".repeat(number));
        }
        assert!(derived.kept <= MAX_KEPT + 64 && derived.work >= MAX_WORK);
        derived.replaced(id, "a", &"b\n".repeat(100_000));
    }
}
