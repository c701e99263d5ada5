//! Looks into the history that the task came with: what an ancestor of the base holds is no part of the answer.
//!
//! A regression is mended with the lines that stood there before, and `git log -p`, `git show HEAD~1:f`, `git show` of a
//! commit that such a log named print them. It speaks for the agent, so it is narrow: the look starts at `HEAD`, which no
//! call so far can have moved, and reaches no other ref.

use std::collections::BTreeSet;

use super::paths::{Paths, Place};
use super::reads::reads_only;
use super::revisions::{MIN_ID, is_id};

/// Commits that are remembered.
const MAX_COMMITS: usize = 4096;

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
            || matches!(word, "show" | "diff" | "-c" | "--cc")
    };
    words.any(prints) || !command.contains("git")
}

/// A look prints files as the base holds them: `git show HEAD:f`.
pub(super) fn shows_head(command: &str) -> bool {
    let mut words = command
        .split_whitespace()
        .map(|w| w.trim_matches(['\'', '"']));
    let head = |word: &str| word.starts_with("HEAD:") || word.starts_with("@:");
    words.any(|word| word == "show") && words.any(head)
}

/// A look prints the last commit alone: `git show`, `git log -p -1`.
pub(super) fn shows_last_commit(command: &str) -> bool {
    let first = command.split('|').next().unwrap_or_default();
    let words: Vec<&str> = first.split_whitespace().collect();
    let named = |words: &[&str]| {
        let revisions = words.iter().take_while(|w| **w != "--");
        revisions
            .filter(|w| !w.starts_with('-'))
            .all(|w| ["HEAD", "@"].contains(w))
    };
    match words.as_slice() {
        ["git", "show", rest @ ..] => named(rest),
        ["git", "log", rest @ ..] => {
            let one = rest
                .iter()
                .any(|w| ["-1", "-n1", "--max-count=1"].contains(w));
            one && named(rest)
        }
        _ => false,
    }
}

/// Programs that print files.
const PRINTERS: [&str; 6] = ["cat", "head", "tail", "nl", "grep", "diff"];

/// The command prints a patch: of a commit, or of two compared.
fn prints_patch(command: &str) -> bool {
    let mut words = command.split_whitespace().skip(1);
    let verb = words.next();
    matches!(verb, Some("show" | "diff"))
        && !words.any(|w| w.contains(':') || w.starts_with("--stat"))
}

/// `git apply`, also backwards, of what comes in, and nothing else.
fn applies(command: &str) -> bool {
    let words: Vec<&str> = command.split_whitespace().collect();
    let options = ["-R", "--reverse", "-3", "--3way", "--index", "-", "-v"];
    let rest = words.strip_prefix(&["git", "apply"]);
    rest.is_some_and(|rest| rest.iter().all(|w| options.contains(w)))
}

/// What is known of the history.
#[derive(Debug, Default)]
pub(super) struct History {
    commits: BTreeSet<String>,
    /// Releases in which it worked, as the prompt says.
    releases: BTreeSet<String>,
    /// Directories in which such a commit is laid out.
    trees: BTreeSet<String>,
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
        // A commit that the user names is no secret, and lies before the base.
        let words = prompt.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-'));
        for id in words.filter(|word| is_commit(word) && word.len() > MIN_ID) {
            if self.commits.len() < MAX_COMMITS {
                self.commits.insert(id.to_owned());
            }
        }
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
        let looks = self.one(first, paths, cwd) || self.reads_tree(first, paths, cwd);
        !first.contains('&') && looks && parts.all(filters)
    }

    /// Whether a command only puts files of ancestors of `HEAD` back into the tree, and does nothing else:
    /// `git checkout HEAD~1 -- f`, `git show HEAD~1:f > f`.
    pub(super) fn restores(&self, command: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        if self.forbidden || command.contains(['$', '`', '<', '\n', ';', '&']) {
            return false;
        }
        if let Some((patch, apply)) = command.split_once('|') {
            return self.one(patch.trim(), paths, cwd) && prints_patch(patch) && applies(apply);
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
            ["git", "revert", rest @ ..] => {
                let plain = ["--no-edit", "-n", "--no-commit", "-s", "--signoff"];
                let mut commits = rest.iter().filter(|w| !plain.contains(w)).peekable();
                let single = |w: &str| self.is_ancestor(w) && !w.contains([':', '.']);
                commits.peek().is_some() && commits.all(|w| single(w))
            }
            ["cp", from, to] => self.is_below(from) && known(to),
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
        let verb = words.next();
        if !matches!(verb, Some("log" | "show" | "whatchanged" | "diff")) {
            return false;
        }
        // With one alone, the work tree is compared.
        let mut ends = if verb == Some("diff") { 2 } else { 0_usize };
        let mut value = false;
        for word in words {
            let is_value = std::mem::replace(&mut value, VALUES.contains(&word));
            if word == "--" {
                // Paths follow.
                break;
            }
            let option = word.split('=').next().unwrap_or(word);
            if WIDENS.contains(&option) {
                return false;
            }
            let known = || matches!(paths.place(word, cwd), Place::Known(_));
            if !(is_value || word.starts_with('-') || self.is_ancestor(word) || known()) {
                return false;
            }
            if self.is_ancestor(word) {
                ends = ends.saturating_sub(if word.contains("..") { 2 } else { 1 });
            }
        }
        ends == 0
    }

    /// Whether a command only lays such a commit out in a directory of its own. Remembers which.
    pub(super) fn lays_out(&mut self, command: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        let words: Vec<&str> = command.split_whitespace().collect();
        let ["git", "worktree", "add", rest @ ..] = words.as_slice() else {
            return false;
        };
        let plain: Vec<&str> = rest
            .iter()
            .copied()
            .filter(|w| !["-q", "--quiet", "--detach", "-d", "-f", "--force"].contains(w))
            .collect();
        let [dir, commit] = plain.as_slice() else {
            return false;
        };
        let own = dir.starts_with('/') && paths.place(dir, cwd) == Place::Outside;
        let lays = !self.forbidden
            && own
            && !dir.contains(['$', '*', ';', '|', '&', '<', '>', '`'])
            && self.is_ancestor(commit)
            && self.trees.len() < MAX_COMMITS;
        if lays {
            self.trees.insert(dir.trim_end_matches('/').to_owned());
        }
        lays
    }

    /// A path in such a directory.
    fn is_below(&self, path: &str) -> bool {
        let inside = |dir: &String| {
            let rest = path.strip_prefix(dir.as_str());
            rest.is_some_and(|rest| rest.starts_with('/'))
        };
        !path.contains("..") && self.trees.iter().any(inside)
    }

    /// A command prints files of such a directory, and none but known ones beside.
    fn reads_tree(&self, command: &str, paths: &Paths, cwd: Option<&str>) -> bool {
        let mut words = command
            .split_whitespace()
            .map(|w| w.trim_matches(['\'', '"']));
        if self.trees.is_empty() || !words.next().is_some_and(|w| PRINTERS.contains(&w)) {
            return false;
        }
        let (mut below, mut others) = (false, false);
        for word in words.filter(|w| !w.starts_with('-') && w.contains(['/', '.', '*'])) {
            let inside = self.is_below(word);
            below |= inside;
            others |= !inside && !matches!(paths.place(word, cwd), Place::Known(_));
        }
        below && !others
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

/// It may be the name of a commit, as git prints it.
fn is_commit(word: &str) -> bool {
    is_id(word) && !word.bytes().any(|b| b.is_ascii_uppercase())
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
        history.prompted("None since 3.2; it worked in 3.1. Fix it for 3.3, which 77ccdd2 broke.");
        for (command, want) in [
            ("git worktree add -q /tmp/old HEAD~2", true),
            ("git worktree add /tmp/new origin/main", false),
            ("git worktree add -b x /tmp/new HEAD", false),
        ] {
            assert_eq!(history.lays_out(command, &paths, Some("/w/run")), want, "{command}");
        }
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
            ("git diff ae6aa1f HEAD -- db/insp.py", true),
            ("git diff ae6aa1f..HEAD", true),
            ("git diff HEAD origin/main", false),
            ("git diff HEAD 99aabb1", false),
            ("git show 77ccdd2b0011", true),
            ("cat /tmp/old/db/insp.py", true),
            ("diff /tmp/old/db/insp.py db/insp.py", true),
            ("cat /tmp/new/db/insp.py", false),
            ("cat /tmp/old/../x/insp.py", false),
            ("cat /tmp/old/db/insp.py /mnt/ref/a.py", false),
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
            ("git revert --no-edit ae6aa1f", true),
            ("git revert -n 77ccdd2b0011", true),
            ("git revert 99aabb1", false),
            ("git revert FETCH_HEAD", false),
            ("git show ae6aa1f | git apply -R", true),
            ("git diff ae6aa1f ae6aa1f~1 | git apply", true),
            ("git diff HEAD~1 | git apply -R", false),
            ("git show 99aabb1 | git apply -R", false),
            ("git show ae6aa1f | sh", false),
            ("git show ae6aa1f | git apply --directory=x", false),
            ("cp /tmp/old/db/insp.py db/insp.py", true),
            ("cp /mnt/ref/insp.py db/insp.py", false),
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
        for (command, want) in [
            ("git show", true),
            ("git show HEAD -- db/insp.py | head -40", true),
            ("git log -p -1", true),
            ("git log -p -2", false),
            ("git show HEAD~1", false),
            ("git show HEAD:db/insp.py", false),
        ] {
            assert_eq!(shows_last_commit(command), want, "{command}");
            assert_eq!(shows_head(command), command.contains("HEAD:"), "{command}");
        }
        history.forbid();
        assert!(!history.looks("git log -p", &paths, None));
        assert!(!history.restores("git checkout HEAD~1 -- db/insp.py", &paths, None));
    }
}
