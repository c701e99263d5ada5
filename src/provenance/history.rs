//! Looks into the history that the task came with: what an ancestor of the base holds is no part of the answer.
//!
//! A regression is mended with the lines that stood there before, and `git log -p`, `git show HEAD~1:f`, `git show` of a
//! commit that such a log named print them. It speaks for the agent, so it is narrow: the look starts at `HEAD`, which no
//! call so far can have moved, and reaches no other ref.

use std::collections::BTreeSet;

use super::paths::{Paths, Place};
use super::reads::reads_only;

/// Commits that are remembered.
const MAX_COMMITS: usize = 4096;

/// A shorter name of a commit is a word.
const MIN_COMMIT: usize = 6;

/// Options that reach other refs, another repository, or other programs.
const WIDENS: [&str; 14] = [
    "--all",
    "--branches",
    "--remotes",
    "--tags",
    "--reflog",
    "-g",
    "--walk-reflogs",
    "--glob",
    "--stdin",
    "--exclude",
    "--merge",
    "--alternate-refs",
    "--no-index",
    "--contents",
];

/// Words before a release in which it worked.
const WORKED: [&str; 7] = [
    "worked in ",
    "works in ",
    "worked until ",
    "worked with ",
    "worked up to ",
    "fine in ",
    "correct in ",
];

/// Options whose value is the next word.
const VALUES: [&str; 8] = [
    "-S", "-G", "-n", "-L", "--author", "--grep", "--since", "--until",
];

/// A look prints what a commit holds, not only which there are: what a plain log brings is none of the history's code.
pub(super) fn prints_content(command: &str) -> bool {
    let mut words = command.split_whitespace();
    let prints = |word: &str| {
        ["-p", "-u", "-U", "-L", "--patch", "--unified"]
            .iter()
            .any(|option| word.starts_with(option))
            || matches!(word, "show" | "-c" | "--cc")
    };
    words.any(prints)
}

/// What is known of the history.
#[derive(Debug, Default)]
pub(super) struct History {
    commits: BTreeSet<String>,
    /// Releases in which it worked, as the prompt says.
    releases: BTreeSet<String>,
    /// The task forbids even what lies before the base.
    forbidden: bool,
}

impl History {
    /// The history before the base is part of the answer.
    pub(super) fn forbid(&mut self) {
        self.forbidden = true;
    }

    /// Takes what the user wrote: a release in which something worked lies before the base.
    pub(super) fn prompted(&mut self, prompt: &str) {
        let prompt = prompt.to_lowercase();
        for said in WORKED {
            for (at, _) in prompt.match_indices(said) {
                let rest = prompt.get(at + said.len()..).unwrap_or_default();
                let end = rest.find(|c: char| !(c.is_ascii_digit() || c == '.'));
                let release = rest.get(..end.unwrap_or(rest.len())).unwrap_or_default();
                let release = release.trim_end_matches('.');
                if release.contains('.') && self.releases.len() < MAX_COMMITS {
                    self.releases.insert(release.to_owned());
                }
            }
        }
    }

    /// Whether a command only looks at ancestors of `HEAD`.
    pub(super) fn looks(&self, command: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        if self.forbidden || command.contains(['$', '`', '<', '>', '\n', ';']) {
            return false;
        }
        let mut parts = command.split('|');
        let mut first = parts.next().unwrap_or_default().trim();
        if let Some((to, rest)) = first
            .strip_prefix("cd ")
            .and_then(|rest| rest.split_once("&&"))
        {
            if paths.place(to.trim(), cwd) == Place::Outside {
                return false;
            }
            first = rest.trim();
        }
        let filters = |part: &str| {
            // What a filter reads beside is not the history.
            reads_only(part) && !part.contains(['/', '*']) && !part.trim_start().starts_with("git")
        };
        !first.contains('&') && self.one(first, paths, cwd) && parts.all(filters)
    }

    /// Whether a command only puts files of ancestors of `HEAD` back into the tree, and does nothing else:
    /// `git checkout HEAD~1 -- f`, `git show HEAD~1:f > f`.
    pub(super) fn restores(&self, command: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        if self.forbidden || command.contains(['$', '`', '<', '\n', ';', '|', '&']) {
            return false;
        }
        let known = |word: &str| matches!(paths.place(word, cwd), Place::Known(_));
        let words: Vec<&str> = command
            .split_whitespace()
            .map(|w| w.trim_matches(['\'', '"']))
            .collect();
        match words.as_slice() {
            ["git", "checkout", revision, "--", files @ ..] => {
                self.is_ancestor(revision) && files.iter().all(|f| known(f))
            }
            ["git", "restore", source, files @ ..] => {
                let revision = source.strip_prefix("--source=");
                let files = files.strip_prefix(&["--"]).unwrap_or(files);
                revision.is_some_and(|r| self.is_ancestor(r)) && files.iter().all(|f| known(f))
            }
            ["git", "show", object, ">", file] => {
                object.contains(':') && self.is_ancestor(object) && known(file)
            }
            _ => false,
        }
    }

    fn one(&self, command: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        let mut words = command
            .split_whitespace()
            .map(|w| w.trim_matches(['\'', '"']))
            .peekable();
        if words.next() != Some("git") {
            return false;
        }
        words.next_if_eq(&"--no-pager");
        if !matches!(words.next(), Some("log" | "show" | "whatchanged")) {
            return false;
        }
        let mut value = false;
        for word in words {
            let is_value = std::mem::replace(&mut value, VALUES.contains(&word));
            if word == "--" {
                // Paths follow.
                return true;
            }
            let option = word.split('=').next().unwrap_or(word);
            if WIDENS.contains(&option) {
                return false;
            }
            let known = || matches!(paths.place(word, cwd), Place::Known(_));
            if !(is_value || word.starts_with('-') || self.is_ancestor(word) || known()) {
                return false;
            }
        }
        true
    }

    /// `HEAD~2`, a commit that a log named, a file at one, or a range between them.
    fn is_ancestor(&self, word: &str) -> bool {
        if let Some((from, to)) = word.split_once("..") {
            let to = to.trim_start_matches('.');
            let ends = [from, to];
            return ends
                .iter()
                .all(|end| end.is_empty() || self.is_ancestor(end));
        }
        let commit = word.split(':').next().unwrap_or(word);
        let name = commit.split(['~', '^']).next().unwrap_or(commit);
        let release = name.strip_prefix('v').unwrap_or(name);
        matches!(name, "HEAD" | "@") || self.names(name) || self.releases.contains(release)
    }

    fn names(&self, name: &str) -> bool {
        is_commit(name)
            && self
                .commits
                .iter()
                .any(|known| known.starts_with(name) || name.starts_with(known.as_str()))
    }

    /// Learns the commits that a look named.
    pub(super) fn learn(&mut self, output: &str) {
        for line in output.lines() {
            let line = line.trim_start_matches(['*', '|', '/', '\\', '_', ' ']);
            let line = line.strip_prefix("commit ").unwrap_or(line);
            let word = line.split_whitespace().next().unwrap_or_default();
            if is_commit(word) && self.commits.len() < MAX_COMMITS {
                self.commits.insert(word.to_owned());
            }
        }
    }
}

/// It may be the name of a commit.
fn is_commit(word: &str) -> bool {
    let hex = word
        .bytes()
        .all(|b| b.is_ascii_hexdigit() && !b.is_ascii_uppercase());
    hex && (MIN_COMMIT..=40).contains(&word.len()) && word.bytes().any(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn looks_at_ancestors_and_at_others() {
        let mut paths = Paths::default();
        paths.add("db/insp.py");
        paths.start_in("/w/run");
        let mut history = History::default();
        history.prompted("None since 3.2; it worked in 3.1. Fix it for 3.3.");
        history.learn("ae6aa1f Refactor inspector\n* e3fefd3 Inspector\ncommit 0123456789abcdef0123456789abcdef01234567\nadded 12\n");
        for (command, want) in [
            ("git log -p", true),
            ("git log -p -2 -- db/insp.py", true),
            ("git log --oneline | head -20", true),
            ("cd db && git --no-pager log -p -S describe", true),
            ("git show HEAD", true),
            ("git show HEAD~1:db/insp.py", true),
            ("git show ae6aa1f", true),
            ("git show ae6aa1f^:db/insp.py", true),
            ("git show 0123456789", true),
            ("git log -p e3fefd3..HEAD db/insp.py", true),
            ("git blame db/insp.py", false),
            ("git show v3.1:db/insp.py", true),
            ("git show v3.2:db/insp.py", false),
            ("git log -p --all", false),
            ("git log -p --branches=x", false),
            ("git show origin/main", false),
            ("git show FETCH_HEAD", false),
            ("git show 99aabb1", false),
            ("git show v3.3:db/insp.py", false),
            ("git log -p HEAD..origin/main", false),
            ("git log -p ORIG_HEAD", false),
            ("git log -p | cat - /mnt/ref/a", false),
            ("git log -p; cat /mnt/ref/a", false),
            ("git log -p && cat /mnt/ref/a", false),
            ("cd /mnt/ref && git log -p", false),
            ("git -C /mnt/ref log -p", false),
            ("git --git-dir=/mnt/ref/.git log -p", false),
            ("git diff HEAD~1", false),
            ("git fetch origin", false),
            ("gh pr diff 1", false),
        ] {
            assert_eq!(history.looks(command, &paths, Some("/w/run")), want, "{command}");
        }
        for (command, want) in [
            ("git checkout HEAD~1 -- db/insp.py", true),
            ("git checkout ae6aa1f -- 'db/insp.py'", true),
            ("git restore --source=HEAD~2 db/insp.py", true),
            ("git show v3.1:db/insp.py > db/insp.py", true),
            ("git checkout origin/main -- db/insp.py", false),
            ("git checkout 99aabb1 -- db/insp.py", false),
            ("git checkout FETCH_HEAD -- db/insp.py", false),
            ("git checkout HEAD~1 -- .", false),
            ("git checkout HEAD~1", false),
            ("git restore --source=stash@{0} db/insp.py", false),
            ("git show origin/main:db/insp.py > db/insp.py", false),
            ("git show HEAD > db/insp.py", false),
            ("git fetch x && git checkout HEAD~1 -- db/insp.py", false),
        ] {
            assert_eq!(history.restores(command, &paths, Some("/w/run")), want, "{command}");
        }
        history.forbid();
        assert!(!history.looks("git log -p", &paths, None));
        assert!(!history.restores("git checkout HEAD~1 -- db/insp.py", &paths, None));
    }
}
