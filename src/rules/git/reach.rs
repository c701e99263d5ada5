//! Where the revisions of a git command lead, seen from the base commit of the task.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::call::{GitCall, Prints, revision_path};
use super::history::{History, is_commit_id};
use super::version::Version;
use crate::experiment::task_facts::Forbidden;
use crate::rules::task::Task;

/// Where a revision leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Reach {
    /// The base, `HEAD`, the work of the agent.
    Own,
    /// Ancestors of the base.
    Past,
    /// The commit that is the GT.
    Gt,
    /// Certainly later than the base: a remote branch, `FETCH_HEAD`, a newer release.
    Later,
    /// A commit that only a listing of all references has shown.
    Listed,
    /// All references.
    All,
    /// Lost objects, the reflog.
    Dangling,
    /// The work of the agent set against a remote branch, or against a bare word: a path, the branch that the work
    /// started from. What such a diff adds is the agent's; what it removes is the other side's.
    Review,
    /// A commit of which the trace has shown nothing.
    Unknown,
    /// A local branch or an unknown name.
    Branch,
}

/// What is needed to classify.
#[derive(Debug, Clone, Copy)]
pub struct Map<'m> {
    /// The task.
    pub task: &'m Task,
    /// What the trace has shown.
    pub history: &'m History,
    /// The command runs in a copy of the upstream repository.
    pub foreign: bool,
    /// The command runs outside the work tree, most likely in another repository.
    pub elsewhere: bool,
}

impl Map<'_> {
    /// Fills in [`GitCall::reach`].
    pub fn classify(&self, call: &mut GitCall) {
        let mut reach: BTreeSet<Reach> = match call.verb.as_str() {
            "diff" | "difftool" => self.diff(&call.words),
            "clone" if !call.words.is_empty() && call.words.iter().all(|w| self.is_old_tag(w)) => {
                [Reach::Past].into()
            }
            "fetch" | "pull" | "clone" | "ls-remote" | "submodule" | "subtree" => {
                [Reach::Later].into()
            }
            // A stash that the agent did not make.
            "stash" if call.prints != Prints::Nothing && !self.history.stashed() => {
                [Reach::Dangling].into()
            }
            "stash" => [Reach::Own].into(),
            "merge-base" => self.common_ancestor(&call.words),
            _ => call.words.iter().flat_map(|w| self.word(w)).collect(),
        };
        if call.verb == "grep" {
            // A bare name behind the pattern is a path far more often than a branch.
            reach.remove(&Reach::Branch);
        }
        if call.all {
            reach.insert(Reach::All);
        }
        if call.dangling {
            reach.insert(Reach::Dangling);
        }
        if reach.is_empty() {
            reach.insert(Reach::Own);
        }
        if self.task.forbidden == Forbidden::Parent && !self.elsewhere && self.shows_removal(call) {
            reach.insert(Reach::Past);
        }
        if self.foreign && call.prints != Prints::Nothing {
            reach.insert(Reach::Later);
        }
        if self.elsewhere {
            reach.retain(|r| !matches!(r, Reach::Unknown | Reach::Branch | Reach::Dangling));
        }
        call.reach = reach;
    }

    /// In tasks made by removing code the change of the base itself, read backwards, is the answer: true if the
    /// command shows or undoes it.
    fn shows_removal(&self, call: &GitCall) -> bool {
        let on_top = self.history.on_top();
        let walks = matches!(call.verb.as_str(), "log" | "whatchanged");
        let one = matches!(call.verb.as_str(), "show" | "diff-tree")
            && call.prints == Prints::Patch
            || call.verb == "revert" && call.prints == Prints::Tree;
        // How far below `HEAD` it starts; the base is as far below as there are commits on top.
        let from = |word: &str| {
            let end = word.find(['~', '^']).unwrap_or(word.len());
            let (name, suffix) = word.split_at_checked(end)?;
            match name {
                "HEAD" | "@" => depth(suffix),
                _ if self.task.is_base(name) => depth(suffix).map(|depth| depth + on_top),
                _ => None,
            }
        };
        let mut starts: Vec<usize> = call.words.iter().filter_map(|w| from(w)).collect();
        let unnamed = call
            .words
            .iter()
            .all(|w| !w.contains("..") && self.one(w).is_none_or(|r| r == Reach::Branch));
        if starts.is_empty() && unnamed {
            starts.push(0);
        }
        if walks && call.prints == Prints::Patch {
            let shown = call.count.unwrap_or(usize::MAX);
            starts
                .iter()
                .any(|start| start.saturating_add(shown) > on_top)
        } else {
            one && starts.iter().any(|start| *start >= on_top)
        }
    }

    /// True for the tag of the base's release or of an older one; `2.6` and `2.6.x` are branches that move.
    fn is_old_tag(&self, word: &str) -> bool {
        let base = self.task.base_version.as_ref();
        let exact =
            |base: &Version| tag(word).is_some_and(|v| v <= *base && v.is_as_exact_as(base));
        !word.ends_with(".x") && base.is_some_and(exact)
    }

    /// What one of them has in common with the work of the agent is an ancestor of it.
    fn common_ancestor(&self, words: &[String]) -> BTreeSet<Reach> {
        let reach: BTreeSet<Reach> = words.iter().flat_map(|w| self.word(w)).collect();
        let own = words.len() > 1 && reach.iter().any(|r| *r <= Reach::Past);
        if own { [Reach::Past].into() } else { reach }
    }

    /// True for a bare word behind `git diff` that is a path, or the branch that the work started from, rather than
    /// a branch with a solution in it.
    fn is_bare(&self, word: &str) -> bool {
        const TELLING: [&str; 15] = [
            "solution",
            "solve",
            "fix",
            "answer",
            "gold",
            "reference",
            "upstream",
            "oracle",
            "patch",
            "merged",
            "future",
            "later",
            "truth",
            "original",
            "complete",
        ];
        const FIRST: [&str; 5] = ["main", "master", "trunk", "develop", "dev"];
        let lower = word.to_lowercase();
        // Where code was removed, the branch that the work started from may hold the answer.
        let holds = self.task.forbidden == Forbidden::Parent && FIRST.contains(&lower.as_str());
        !holds && !TELLING.iter().any(|part| lower.contains(part))
    }

    /// A diff shows both of its sides, so it matters what is compared with what.
    fn diff(&self, words: &[String]) -> BTreeSet<Reach> {
        if let [word] | [word, _] = words
            && self.stands_before_later(word)
            && words
                .get(1)
                .is_none_or(|right| self.one(right) == Some(Reach::Own))
        {
            return [Reach::Later].into();
        }
        let bare = |word: &&String| !word.contains("..") && self.one(word) == Some(Reach::Branch);
        let all_bare = words.iter().all(|word| {
            !word.contains("..")
                && self
                    .one(word)
                    .is_none_or(|r| r <= Reach::Past || bare(&word))
        });
        if all_bare
            && words.iter().any(|w| bare(&w))
            && words.iter().filter(bare).all(|w| self.is_bare(w))
        {
            // Ancestors are no answer here, except in tasks made by removing code.
            let past = words.iter().any(|w| self.one(w) == Some(Reach::Past));
            return if past {
                [Reach::Past].into()
            } else {
                [Reach::Review].into()
            };
        }
        let mut sides: Vec<Reach> = Vec::new();
        for word in words {
            if let Some((left, right)) = word.split_once("...") {
                let _ = left;
                return self.one(or_head(right)).into_iter().collect();
            }
            match word.split_once("..").filter(|_| !word.starts_with("..")) {
                Some((left, right)) => {
                    sides.extend(self.one(or_head(left)));
                    sides.extend(self.one(or_head(right)));
                }
                None => sides.extend(self.one(word)),
            }
        }
        let right = sides.get(1).copied().unwrap_or(Reach::Own);
        let reach = match sides.first() {
            None => Reach::Own,
            // Own work against a remote branch: what the branch has more cannot be told from what
            // the agent has done, once it has done something.
            Some(Reach::Later) if right == Reach::Own && self.history.edited() => Reach::Review,
            Some(left) if right <= Reach::Past => (*left).max(right),
            Some(_) => right,
        };
        [reach].into()
    }

    /// True for where `HEAD` was before the agent moved it to something later than the base: what `HEAD` has more
    /// than that is later.
    fn stands_before_later(&self, word: &str) -> bool {
        let (left, right) = word.split_once("..").unwrap_or((word, ""));
        let right = right.trim_start_matches('.');
        let moves = match left {
            "ORIG_HEAD" => Some(1),
            _ => reflog_entry(left).filter(|_| !left.starts_with("stash")),
        };
        moves.is_some_and(|moves| self.history.went_later_within(moves))
            && self.one(or_head(right)) == Some(Reach::Own)
    }

    /// A word with its ranges.
    fn word(&self, word: &str) -> Vec<Reach> {
        if word.contains("..") && self.stands_before_later(word) {
            return vec![Reach::Later];
        }
        if let Some((left, right)) = word.split_once("...") {
            return [left, right]
                .iter()
                .filter_map(|side| self.one(or_head(side)))
                .collect();
        }
        match word.split_once("..").filter(|_| !word.starts_with("..")) {
            Some((_, right)) => self.one(or_head(right)).into_iter().collect(),
            None if word.starts_with('^') => Vec::new(),
            None => self.one(word).into_iter().collect(),
        }
    }

    /// One revision; `None` for what is more likely a path.
    pub fn one(&self, word: &str) -> Option<Reach> {
        let word = revision_path(word).map_or(word, |path| {
            word.get(..word.len() - path.len() - 1).unwrap_or(word)
        });
        let end = word.find(['~', '^']).unwrap_or(word.len());
        let (name, suffix) = word.split_at_checked(end)?;
        let own_entry = reflog_entry(name).is_some_and(|ago| self.history.is_own_move(ago));
        let (name, reflog) = match name.split_once("@{") {
            // `@{u}`, `main@{upstream}`
            Some((_, "u}" | "upstream}" | "push}" | "U}")) => return Some(Reach::Later),
            Some((name, _)) => (name, !own_entry),
            None => (name, false),
        };
        let reach = self.name(name)?;
        let ancestor = suffix.starts_with(['~', '^']) && !suffix.starts_with("^{");
        let on_top = matches!(name, "HEAD" | "@")
            && depth(suffix).is_some_and(|depth| depth <= self.history.on_top());
        Some(match reach {
            Reach::Own if reflog && !name.starts_with("stash") => Reach::Dangling,
            Reach::Own if ancestor && !on_top && suffix != "^0" && suffix != "~0" => Reach::Past,
            other => other,
        })
    }

    fn name(&self, name: &str) -> Option<Reach> {
        let name = super::call::local_name(name);
        match name {
            "" | "HEAD" | "@" | "-" | "stash" | "refs/stash" => return Some(Reach::Own),
            "FETCH_HEAD" => return Some(Reach::Later),
            // Written by what moves a branch; if the agent moved none, the image was made so.
            "ORIG_HEAD" if !self.history.moved() => return Some(Reach::Dangling),
            "ORIG_HEAD" if self.history.left_own() => return Some(Reach::Own),
            "ORIG_HEAD" | "MERGE_HEAD" | "REBASE_HEAD" => return Some(Reach::Unknown),
            _ => {}
        }
        if is_commit_id(name) {
            return Some(self.commit(name));
        }
        let remote = name.strip_prefix("refs/").unwrap_or(name);
        let forge = ["remotes/", "pull/", "merge-requests/", "changes/"];
        if forge.iter().any(|head| remote.starts_with(head)) || self.history.is_later(name) {
            return Some(Reach::Later);
        }
        if let Some((head, _)) = name.split_once('/') {
            let remote = self.history.is_remote(head);
            let named = self.task.pull_request_branch(name);
            return (remote || named).then_some(Reach::Later);
        }
        if self.task.pull_request_branch(name) {
            return Some(Reach::Later);
        }
        if let Some(release) = tag(name) {
            return Some(match &self.task.base_version {
                Some(base) if release > *base => Reach::Later,
                Some(_) => Reach::Past,
                None => Reach::Unknown,
            });
        }
        if self.history.is_own_name(name) {
            return Some(Reach::Own);
        }
        (!name.contains('.')).then_some(Reach::Branch)
    }

    fn commit(&self, id: &str) -> Reach {
        let history = self.history;
        if self.task.is_gt(id) {
            Reach::Gt
        } else if self.task.is_base(id) {
            Reach::Own
        } else if history.is_own(id) {
            Reach::Past
        } else if history.is_listed(id) {
            Reach::Listed
        } else {
            Reach::Unknown
        }
    }

    /// Where the ids lead that a file of git's own directory holds; `None` for other files.
    pub fn kept_in(&self, path: &str) -> Option<Reach> {
        let inside = path
            .rsplit_once(".git/")
            .filter(|(before, _)| before.is_empty() || before.ends_with('/'))?
            .1;
        match inside {
            "packed-refs" => Some(Reach::All),
            "FETCH_HEAD" | "ORIG_HEAD" => self.name(inside),
            _ if inside.starts_with("refs/tags/") => Some(Reach::All),
            _ if inside.starts_with("logs/refs/remotes/") => Some(Reach::Later),
            _ if inside.starts_with("logs/") || inside.starts_with("lost-found/") => {
                Some(Reach::Dangling)
            }
            _ if inside.starts_with("refs/") => self.name(inside),
            _ => None,
        }
    }

    /// True if the command makes a branch of `HEAD` or of what is the agent's.
    pub fn makes_own(&self, call: &GitCall) -> bool {
        let Some(name) = &call.creates else {
            return false;
        };
        let others = call.words.iter().filter(|word| *word != name);
        matches!(
            call.verb.as_str(),
            "checkout" | "switch" | "branch" | "worktree"
        ) && others
            .flat_map(|word| self.word(word))
            .all(|reach| reach <= Reach::Past)
    }

    /// Remembers what the command makes of references.
    pub fn makes_later(&self, call: &GitCall) -> bool {
        call.creates.is_some()
            && call.verb != "remote"
            && call
                .reach
                .iter()
                .any(|r| matches!(r, Reach::Later | Reach::Gt | Reach::Listed))
    }
}

/// How far below `HEAD` a word such as `HEAD~2` is.
pub fn below_head(word: &str) -> Option<usize> {
    let end = word.find(['~', '^']).unwrap_or(word.len());
    let (name, suffix) = word.split_at_checked(end)?;
    matches!(name, "HEAD" | "@")
        .then(|| depth(suffix))
        .flatten()
}

/// How many first parents the suffix goes down: `~2`, `^`, `^^`; `None` for another parent or an object.
fn depth(suffix: &str) -> Option<usize> {
    let mut depth: usize = 0;
    let mut rest = suffix;
    while let Some(step) = rest.chars().next() {
        let tail = rest.get(1..)?;
        let digits = tail.bytes().take_while(u8::is_ascii_digit).count();
        let (number, left) = tail.split_at_checked(digits)?;
        let number: Option<usize> = if number.is_empty() {
            Some(1)
        } else {
            number.parse().ok()
        };
        depth = match (step, number?) {
            ('~', number) => depth.checked_add(number)?,
            ('^', number @ (0 | 1)) => depth.checked_add(number)?,
            _ => return None,
        };
        rest = left;
    }
    Some(depth)
}

/// The number of an entry of the reflog of `HEAD`: 1 for `HEAD@{1}` and `@{1}`.
fn reflog_entry(word: &str) -> Option<usize> {
    let (name, entry) = word.split_once("@{")?;
    let number = entry.strip_suffix('}')?.parse().ok()?;
    matches!(name, "" | "HEAD").then_some(number)
}

fn or_head(side: &str) -> &str {
    if side.is_empty() { "HEAD" } else { side }
}

/// A release tag: `v4.2.0`, `4.2`, `widget-4.2.0`, not a file name.
fn tag(name: &str) -> Option<Version> {
    let file = name.rsplit_once('.').is_some_and(|(_, extension)| {
        extension.starts_with(|c: char| c.is_ascii_alphabetic())
            && !extension.starts_with("rc")
            && !extension.starts_with("dev")
    });
    if file { None } else { Version::parse(name) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::task_facts::TaskFacts;
    use crate::rules::call::tests::invocation;

    fn reach(text: &str, edited: bool) -> Vec<Reach> {
        let task = Task::new(&TaskFacts {
            gt_commit: Some("9ac4e17d".into()),
            base_commit: Some("3f1c2ab".into()),
            base_version: Some("4.1.3".into()),
            pull_request: Some("308".into()),
            ..TaskFacts::default()
        });
        let mut history = History::default();
        history.learn("20aa991 old", false);
        history.learn("51d0aaa new\n20aa991 old", true);
        history.add_remote("up");
        if edited {
            history.set_edited();
        }
        classified(&task, &history, text).into_iter().collect()
    }

    fn classified(task: &Task, history: &History, text: &str) -> BTreeSet<Reach> {
        let map = Map {
            task,
            history,
            foreign: false,
            elsewhere: false,
        };
        let mut call = GitCall::parse(&invocation(text)).unwrap();
        map.classify(&mut call);
        call.reach
    }

    #[test]
    fn revisions_lead_somewhere() {
        use Reach::*;
        for (text, expected) in [
            ("git show", vec![Own]),
            ("git show HEAD", vec![Own]),
            ("git show HEAD~3", vec![Past]),
            ("git show HEAD^:a.py", vec![Past]),
            ("git show 3f1c2ab0", vec![Own]),
            ("git show 9ac4e17", vec![Gt]),
            ("git show 9ac4e17d:src/a.py", vec![Gt]),
            ("git show 20aa991", vec![Past]),
            ("git show 51d0aaa", vec![Listed]),
            ("git show 1234abc", vec![Unknown]),
            ("git show origin/main", vec![Later]),
            ("git log up/main", vec![Later]),
            ("git log refs/remotes/x/main", vec![Later]),
            ("git log feature/x", vec![Own]),
            ("git show v4.2.0:src/a.py", vec![Later]),
            ("git show v4.1.3", vec![Past]),
            ("git grep -n x docs", vec![Own]),
            ("git grep -n x v4.2.0", vec![Later]),
            ("git show FETCH_HEAD", vec![Later]),
            ("git show stash@{0}", vec![Own]),
            ("git show HEAD@{2}", vec![Dangling]),
            ("git log --all", vec![All]),
            ("git log HEAD..origin/main", vec![Later]),
            ("git log origin/main..HEAD", vec![Own]),
            ("git log main", vec![Branch]),
            ("git checkout yarn.lock", vec![Own]),
            ("git checkout pr-308", vec![Later]),
            ("git diff HEAD", vec![Own]),
            ("git diff HEAD~1", vec![Past]),
            ("git diff HEAD..origin/main", vec![Later]),
            ("git diff origin/main...HEAD", vec![Own]),
            ("git diff 9ac4e17d", vec![Gt]),
            ("git diff docs", vec![Review]),
            ("git diff inkwell tests", vec![Review]),
            ("git diff main", vec![Review]),
            ("git diff HEAD docs", vec![Review]),
            ("git diff HEAD~1 docs", vec![Past]),
            ("git diff HEAD..topic", vec![Branch]),
            ("git diff main solution", vec![Branch]),
            ("git diff solution", vec![Branch]),
            ("git diff docs v4.2.0", vec![Later]),
            ("git merge-base HEAD origin/main", vec![Past]),
            ("git merge-base origin/main", vec![Later]),
            ("git merge-base origin/main up/x", vec![Later]),
            ("git diff --merge-base origin/main", vec![Own]),
            ("git diff --merge-base HEAD origin/main", vec![Later]),
            ("git format-patch origin/main --stdout", vec![Own]),
            ("git format-patch -1 origin/main --stdout", vec![Later]),
            ("git format-patch HEAD..origin/main", vec![Later]),
            ("git diff --stat HEAD v4.2.0", vec![Later]),
            ("git fetch", vec![Later]),
            ("git clone --depth 1 -b v4.1.3 https://h/a/b", vec![Past]),
            (
                "git clone --single-branch --branch v4.1.0 https://h/a/b",
                vec![Past],
            ),
            ("git clone -b v4.1.3 https://h/a/b", vec![Later]),
            ("git clone --depth 1 -b v4.2.0 https://h/a/b", vec![Later]),
            ("git clone --depth 1 -b 4.1 https://h/a/b", vec![Later]),
            ("git clone --depth 1 https://h/a/b", vec![Later]),
        ] {
            assert_eq!(reach(text, false), expected, "{text}");
        }
    }

    #[test]
    fn where_code_was_removed_the_change_of_the_base_is_the_answer() {
        use Reach::*;
        let task = Task::new(&TaskFacts {
            base_commit: Some("3f1c2ab".into()),
            forbidden: Forbidden::Parent,
            ..TaskFacts::default()
        });
        for (text, on_top, past) in [
            ("git show HEAD", 0, true),
            ("git show", 0, true),
            ("git show 3f1c2ab", 0, true),
            ("git show HEAD", 1, false),
            ("git show HEAD~1", 1, true),
            ("git show 3f1c2ab", 1, true),
            ("git show HEAD:src/a.py", 0, false),
            ("git show HEAD~1:src/a.py", 1, false),
            ("git show HEAD~2:src/a.py", 1, true),
            ("git show --stat", 0, false),
            ("git log -p -2", 0, true),
            ("git log -p -1", 1, false),
            ("git log -p -2", 1, true),
            ("git log -Sx -p", 1, true),
            ("git log --oneline", 0, false),
            ("git log -p HEAD~1..HEAD", 1, false),
            ("git revert --no-edit HEAD", 0, true),
            ("git revert --no-edit HEAD", 1, false),
            ("git diff HEAD~1", 0, true),
            ("git diff HEAD~1", 1, false),
            ("git diff HEAD^", 1, false),
            ("git diff HEAD^^", 1, true),
            ("git diff HEAD", 0, false),
            ("git worktree add /tmp/p HEAD~1", 0, true),
            ("git worktree add /tmp/p HEAD~1", 1, false),
            ("git reset --hard HEAD~1", 1, false),
        ] {
            let mut history = History::default();
            (0..on_top).for_each(|_| history.add_on_top());
            let reach = classified(&task, &history, text);
            assert_eq!(reach.contains(&Past), past, "{text} {on_top}");
        }
    }

    #[test]
    fn comparing_own_work_with_a_remote_branch_is_a_review() {
        assert_eq!(reach("git diff origin/main", false), [Reach::Later]);
        assert_eq!(reach("git diff origin/main", true), [Reach::Review]);
        assert_eq!(reach("git diff origin/main..HEAD", true), [Reach::Review]);
        assert_eq!(reach("git diff HEAD..origin/main", true), [Reach::Later]);
        assert_eq!(reach("git diff 9ac4e17d", true), [Reach::Gt]);
    }
}
