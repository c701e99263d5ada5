//! What the agent's own `git status` says of the files of the GT: which stood there changed before the agent
//! could have done anything, and which did not yet after its last act.
//!
//! Both speak of the environment, and for the agent: so only a plain `git status` of the root counts, whose
//! output is whole, and only files whose names it would print as they are.

use std::collections::BTreeSet;

use super::paths::PathId;
use crate::trace::event::Event;

/// Options of `git status` that leave the list of files whole.
const OPTIONS: [&str; 12] = [
    "-s",
    "-b",
    "-sb",
    "-bs",
    "--short",
    "--branch",
    "--long",
    "--porcelain",
    "-u",
    "-uall",
    "--untracked-files",
    "--untracked-files=all",
];

/// What was seen so far.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Files that were listed as changed while nothing could have changed the tree.
    pub(super) before: BTreeSet<PathId>,
    /// Files that the last look did not list; `None` when something may have changed the tree since.
    absent: Option<BTreeSet<PathId>>,
    /// No call so far could have changed the tree without the trace saying how.
    explained: bool,
    /// A call was made.
    started: bool,
}

impl Looks {
    /// A call: whether it reads only, or is an edit whose content the trace holds.
    pub(super) fn call(&mut self, explained: bool) {
        self.explained = explained && (self.explained || !self.started);
        self.started = true;
        if !explained {
            self.absent = None;
        }
    }

    /// A look at these files (number and path) with its list. `undisturbed`: nothing could have changed
    /// the tree up to now.
    pub(super) fn look<'p>(
        &mut self,
        list: &str,
        files: impl Iterator<Item = (PathId, &'p str)>,
        undisturbed: bool,
    ) {
        let words: BTreeSet<&str> = list.split_whitespace().collect();
        // Paths of other directories, quoted ones: the look was not at the root, or says more than is read.
        if words
            .iter()
            .any(|w| w.starts_with("../") || w.starts_with('"'))
        {
            self.absent = None;
            return;
        }
        let mut absent = BTreeSet::new();
        for (id, path) in files.filter(|(_, path)| is_plain(path)) {
            if words.contains(path) {
                if undisturbed {
                    self.before.insert(id);
                }
            } else if !is_below_listed(path, &words) {
                absent.insert(id);
            }
        }
        self.absent = Some(absent);
    }

    /// Files that were not changed at the last look, after which nothing could have changed the tree unseen.
    pub(super) fn absent_at_the_end(&self) -> BTreeSet<PathId> {
        self.absent.clone().unwrap_or_default()
    }

    /// Every call of the trace reads only, or is an edit whose content the trace holds.
    pub(super) fn all_explained(&self) -> bool {
        self.explained || !self.started
    }
}

/// Names that git prints as they are.
fn is_plain(path: &str) -> bool {
    path.bytes()
        .all(|b| b.is_ascii_alphanumeric() || b"/._-+@=,".contains(&b))
}

/// An untracked directory is listed in place of its files.
fn is_below_listed(path: &str, words: &BTreeSet<&str>) -> bool {
    let ends = path.match_indices('/').map(|(at, _)| at + 1);
    ends.filter_map(|end| path.get(..end))
        .any(|dir| words.contains(dir))
}

/// The list, when the output answers a plain `git status` and is whole.
pub(super) fn status_list(output: &Event) -> Option<&str> {
    let call = output.answers.as_ref()?;
    let outcome = output.outcome.unwrap_or_default();
    if outcome.truncated || !outcome.succeeded() {
        return None;
    }
    let mut text = call.text.trim();
    for shell in ["bash -lc ", "bash -c ", "sh -c "] {
        if let Some(inner) = text.strip_prefix(shell) {
            text = inner.trim_matches(['\'', '"']);
        }
    }
    let mut words = text.split_whitespace();
    let is_status = words.next() == Some("git")
        && words.next() == Some("status")
        && words.all(|word| OPTIONS.contains(&word));
    is_status.then_some(output.text.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: [(PathId, &str); 4] = [
        (0, "pkg/a.go"),
        (1, "pkg/new/b.go"),
        (2, "with space.md"),
        (3, "c.go"),
    ];

    fn look(looks: &mut Looks, list: &str, undisturbed: bool) {
        looks.look(list, FILES.into_iter(), undisturbed);
    }

    #[test]
    fn before_and_after() {
        let mut looks = Looks::default();
        looks.call(true);
        look(&mut looks, " M pkg/a.go\n?? pkg/new/\n", true);
        assert_eq!(looks.before, [0].into());
        // A listed directory may hold the file or not; a name with a blank is not told.
        assert_eq!(looks.absent_at_the_end(), [3].into());
        looks.call(true);
        assert_eq!(looks.absent_at_the_end(), [3].into());
        assert!(looks.all_explained());
        looks.call(false);
        assert!(looks.absent_at_the_end().is_empty() && !looks.all_explained());
        look(&mut looks, "\tmodified:   c.go\n", false);
        assert_eq!(looks.before, [0].into());
        assert_eq!(looks.absent_at_the_end(), [0, 1].into());
        look(&mut looks, " M ../c.go\n", false);
        assert!(looks.absent_at_the_end().is_empty());
        looks.call(true);
        assert!(!looks.all_explained(), "one unexplained call is enough");
    }
}
