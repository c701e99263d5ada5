//! Views of the own work that name something else than the work tree: a commit of one's own (`git log -p -1`), what was
//! put away, another worktree, the branch that the work is compared with, the mount of the tree in a container.
//!
//! They matter where the trace does not hold what was written: there nobody can tell such a view from one of the
//! reference by its text alone. Narrow on purpose: what is not recognised is not the agent's.

use std::collections::BTreeSet;

use super::cutting::{quiet, segments, without_heredocs, words};
use super::directory::Directory;
use super::paths::{Paths, Place, base_name};
use super::programs::WRITERS;
use super::revisions::{Revisions, Whose, git, spelled};
use super::scope::is_program;
use super::temporary::{fetches, is_temporary};

/// Directories and the like that are remembered.
const MAX_KEPT: usize = 1024;

/// Where containers and graders have the tree of the run.
const MOUNTS: [&str; 12] = [
    "/testbed",
    "/app",
    "/code",
    "/repo",
    "/repository",
    "/workspace",
    "/workdir",
    "/src",
    "/build",
    "/project",
    "/usr/src/app",
    "/usr/src",
];

/// Parts of a text that say that something is not the agent's.
const FOREIGN: [&str; 22] = [
    "://",
    "curl ",
    "wget ",
    "node_modules",
    "/pkg/mod/",
    ".cargo/registry",
    ".m2/repository",
    "FETCH_HEAD",
    "upstream",
    "refs/",
    "gt_diff",
    "/eval/",
    "ground_truth",
    "pip download",
    "npm pack",
    "unzip ",
    "ssh ",
    "GIT_DIR",
    "--git-dir",
    "--work-tree",
    "mount ",
    "scp ",
];

/// Programs whose commands make something that is remembered.
const MAKERS: [&str; 6] = ["git", "gh", "install", "cp ", "rsync", "/tmp/"];

/// What a call may show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct View {
    /// It is compared with something else: of such a view only what is added, or stands on the right, is the agent's.
    pub(super) compared: bool,
    /// It is taken from a place that is the tree's only by its name.
    pub(super) mounted: bool,
    /// It is of a file that the agent's own command made of nothing but the tree.
    pub(super) shaped: bool,
}

/// What the agent made of its own work, as far as calls show it.
#[derive(Debug, Clone, Default)]
pub(super) struct Views {
    /// Revisions that are its own.
    pub(super) revisions: Revisions,
    pull_request: bool,
    installed: bool,
    /// Other worktrees.
    trees: BTreeSet<String>,
}

/// The last word of a range, `HEAD` where none is written.
fn is_head(revision: &str) -> bool {
    matches!(revision, "" | "HEAD" | "@")
}

impl Views {
    /// Remembers what a command made, and what it printed of that.
    pub(super) fn learn(
        &mut self,
        command: &str,
        output: &str,
        succeeded: bool,
        paths: &Paths,
        cwd: Option<&str>,
    ) {
        if !MAKERS.iter().any(|maker| command.contains(maker)) {
            return;
        }
        let skeleton = without_heredocs(command);
        for segment in segments(&quiet(&skeleton)) {
            self.learn_part(&words(segment).collect::<Vec<_>>());
        }
        self.revisions.learn(command, output, succeeded, paths, cwd);
    }

    fn learn_part(&mut self, words: &[&str]) {
        let has = |word: &str| words.contains(&word);
        self.learn_copy(words);
        if let Some((verb, rest, _)) = git(words) {
            self.learn_git(verb, &rest);
        } else if has("gh") && has("pr") && has("create") {
            self.pull_request = true;
        } else if has("install") && (has("pip") || has("pip3") || has("uv")) {
            let names = words.iter().skip_while(|w| **w != "install").skip(1);
            let mut names = names
                .filter(|w| !w.starts_with('-') && !w.ends_with(".txt"))
                .peekable();
            if names.peek().is_some() {
                self.installed = names.all(|w| matches!(*w, "." | "./") || w.starts_with(".["));
            }
        }
    }

    /// `cp -r . /tmp/copy` makes another tree; what is put there from elsewhere ends that.
    fn learn_copy(&mut self, words: &[&str]) {
        let program = words.first().map_or("", |w| base_name(w));
        let relative = |w: &str| !w.starts_with(['/', '~', '$']) && !w.starts_with("..");
        let mut plain: Vec<&str> = words.iter().skip(1).copied().collect();
        plain.retain(|w| !w.starts_with('-'));
        let target = plain.pop().unwrap_or_default();
        let whole = words.iter().any(|w| {
            let flag = w.starts_with('-') && !w.starts_with("--");
            flag && w.contains(['r', 'R', 'a'])
        });
        let sources_own = !plain.is_empty() && plain.iter().all(|w| relative(w));
        if ["cp", "rsync"].contains(&program) && whole && sources_own && is_temporary(target) {
            if self.trees.len() < MAX_KEPT {
                self.trees.insert(target.trim_end_matches('/').to_owned());
            }
        } else if WRITERS.contains(&program) && !sources_own || fetches(words) {
            self.trees
                .retain(|dir| !words.iter().any(|w| w.contains(dir.as_str())));
        }
    }

    fn learn_git(&mut self, verb: &str, rest: &[&str]) {
        if verb == "worktree" && rest.first() == Some(&"add") {
            let mut named = rest.iter().filter(|w| !w.starts_with('-')).skip(1);
            let dir = named.next();
            let own = |w: &str| is_head(w) || self.revisions.whose(w) == Whose::Own;
            if named.all(|w| own(w)) && self.trees.len() < MAX_KEPT {
                self.trees.extend(dir.map(|dir| (*dir).to_owned()));
            }
        }
    }

    /// What a command shows, where that may be the agent's own work. `made`: files outside of the tree that it made.
    pub(super) fn shows(
        &self,
        command: &str,
        paths: &Paths,
        cwd: Option<&str>,
        made: &BTreeSet<String>,
    ) -> Option<View> {
        let text = without_heredocs(command);
        if FOREIGN.iter().any(|w| text.contains(w)) || text.contains("<(") {
            return None;
        }
        let mut view = View {
            compared: false,
            mounted: false,
            shaped: false,
        };
        let mut known = self.clone();
        let mut place = Directory::new(cwd);
        let text = spelled(&text);
        let quiet = quiet(&text);
        for segment in segments(&quiet) {
            let words: Vec<&str> = words(segment).collect();
            place.step(segment, &words);
            known.part(&words, &mut view, paths, place.now.as_deref(), made)?;
            known.learn_part(&words);
            known.revisions.step(&words, paths, place.now.as_deref());
        }
        Some(view)
    }

    /// What one part of it shows.
    fn part(
        &self,
        words: &[&str],
        view: &mut View,
        paths: &Paths,
        cwd: Option<&str>,
        made: &BTreeSet<String>,
    ) -> Option<()> {
        let program = words.first().map_or("", |w| base_name(w));
        let has = |word: &str| words.contains(&word);
        match program {
            "gh" => self.own_pull_request(words)?,
            "glab" | "hub" | "pushd" | "sudo" => return None,
            "docker" | "podman" | "nerdctl" | "docker-compose" => {
                let enters = has("exec") || has("compose") || program.ends_with("compose");
                if !enters || has("cp") {
                    return None;
                }
                view.mounted = true;
            }
            "diff" => {
                let last = words.last().copied().unwrap_or_default();
                let columns = has("-y") || has("--side-by-side");
                if !columns && paths.place(last, cwd) != Place::Outside {
                    view.compared = true;
                    return Some(());
                }
            }
            _ => {}
        }
        if let Some((verb, rest, dir)) = git(words) {
            view.compared |= self.git_shows(verb, &rest, paths)?;
            if verb == "worktree" {
                return Some(());
            }
            if let Some(dir) = dir.filter(|dir| paths.place(dir, cwd) == Place::Outside) {
                self.outside(dir, view, paths, made)?;
            }
        }
        let packages = ["site-packages", "dist-packages"];
        let mut below = words.iter().filter(|_| !self.installed);
        if below.any(|word| packages.iter().any(|p| word.contains(p))) {
            return None;
        }
        let starts = |word: &str| word.starts_with(['/', '~', '$']) || word.starts_with("..");
        for word in words.iter().filter(|word| starts(word)) {
            if paths.place(word, cwd) == Place::Outside && !is_program(word) {
                self.outside(word, view, paths, made)?;
            }
        }
        Some(())
    }

    /// The pull request that the agent opened, without a number or another repository.
    fn own_pull_request(&self, words: &[&str]) -> Option<()> {
        let has = |word: &str| words.contains(&word);
        let shows = self.pull_request && (has("diff") || has("view"));
        let number = |word: &str| word.chars().any(|c| c.is_ascii_digit());
        let other = words.iter().skip(3).any(|w| number(w)) || has("-R") || has("--repo");
        (has("pr") && (has("create") || shows && !other)).then_some(())
    }

    /// A path outside of the tree that may hold the agent's work.
    fn outside(
        &self,
        path: &str,
        view: &mut View,
        paths: &Paths,
        made: &BTreeSet<String>,
    ) -> Option<()> {
        let below = |dir: &str| {
            let rest = path.strip_prefix(dir)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_matches('/'))
        };
        if path.contains("..") {
            return None;
        }
        if made.contains(path) || self.trees.iter().any(|dir| below(dir).is_some()) {
            return Some(());
        }
        let rest = MOUNTS.iter().find_map(|dir| below(dir))?;
        view.mounted = true;
        let known = rest.is_empty()
            || matches!(paths.place(rest, None), Place::Known(_))
            || paths.below(rest).next().is_some();
        known.then_some(())
    }

    /// Whether what git shows is compared with something else; `None` where it is not the agent's.
    fn git_shows(&self, verb: &str, rest: &[&str], paths: &Paths) -> Option<bool> {
        let has = |word: &str| rest.contains(&word);
        let is_path = |word: &str| {
            !word.contains("..")
                && (word.contains('.') || matches!(paths.place(word, None), Place::Known(_)))
        };
        let mut revisions = rest
            .iter()
            .copied()
            .take_while(|w| *w != "--")
            .filter(|w| !w.starts_with('-') && !is_path(w));
        let whose = |word: &str| self.revisions.whose(word);
        // The commit that is checked out, or one of the agent's: what is compared, or where a range ends.
        let ends_here = |word: &str| {
            let end = word.rsplit_once("..").map_or(word, |(_, end)| end);
            is_head(end) || whose(word) == Whose::Own
        };
        match verb {
            "diff" if has("-R") || has("--no-index") => None,
            "diff" => {
                let (left, right) = (revisions.next(), revisions.next());
                let own = left.is_none_or(|word| !word.contains("..") || ends_here(word))
                    && right.is_none_or(ends_here)
                    && revisions.next().is_none();
                own.then_some(left.is_some())
            }
            "show" => {
                let mut named = revisions.peekable();
                let head = named.peek().is_some() || whose("HEAD") == Whose::Own;
                (head && named.all(|word| whose(word) == Whose::Own)).then_some(false)
            }
            "log" | "format-patch" => {
                let count = rest.iter().enumerate().find_map(|(at, word)| {
                    let joined = word
                        .strip_prefix("--max-count=")
                        .or(word.strip_prefix("-n"))
                        .or(word.strip_prefix('-'));
                    let apart = (*word == "-n").then(|| rest.get(at + 1).copied());
                    apart.flatten().or(joined)?.parse::<usize>().ok()
                });
                let range = rest.iter().any(|w| w.contains(".."));
                let number = |word: &&str| word.parse::<usize>().is_err();
                let beyond = ["--all", "--reflog", "-g", "--walk-reflogs"]
                    .iter()
                    .any(|o| has(o));
                let few = count.map_or(range, |count| count <= self.revisions.on_top());
                let own = self.revisions.on_top() > 0 && few && !beyond;
                (own && revisions.filter(number).all(ends_here)).then_some(false)
            }
            "stash" => {
                let shows = has("show") || has("-p");
                let which = rest.iter().find(|w| w.starts_with("stash@")).copied();
                (!shows || whose(which.unwrap_or("stash")) == Whose::Own).then_some(false)
            }
            "checkout" | "switch" => (has("-b") || has("-c")).then_some(false),
            "blame" => revisions.all(ends_here).then_some(false),
            "worktree" | "add" | "commit" | "push" | "status" | "branch" | "fetch"
            | "rev-parse" | "merge-base" | "ls-files" | "grep" | "config" | "tag" => Some(false),
            _ => None,
        }
    }
}

/// What of a comparison stands on the left: lines that are removed.
pub(super) fn is_left(line: &str) -> bool {
    line.starts_with(['-', '<'])
}

#[cfg(test)]
mod tests {
    use super::super::writes::tests::paths;
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn own_work_and_the_work_of_others() {
        for (commands, own) in [
            (&["git commit -qam fix && git log -p -1"][..], true),
            (&["git commit -qam fix", "git log -p -1 -- pkg/a.go"], true),
            (&["git commit -qam fix", "git log -p main..HEAD"], true),
            (&["git log -p -1"], false),
            (&["git commit -qam fix", "git log -p -2"], false),
            (&["git commit -qam fix", "git log -p"], false),
            (&["git commit -qam fix", "git log -p -1 up"], false),
            (&["git commit -qam fix", "git log -p --all -1"], false),
            (&["git commit -qam fix", "git pull", "git log -p -1"], false),
            (&["git stash; git stash show -p; git stash pop"], true),
            (&["git stash", "git stash show -p"], true),
            (&["git stash show -p"], false),
            (&["git diff 5e1f0c2"], true),
            (&["git diff 5e1f0c2..HEAD"], true),
            (&["git diff origin/main..."], true),
            (&["git fetch -q && git diff origin/main -- pkg/a.go"], true),
            (&["git diff HEAD 5e1f0c2"], false),
            (&["git diff HEAD..origin/main"], false),
            (&["git diff -R origin/main"], false),
            (&["git show HEAD"], false),
            (&["git commit -qam fix", "git show HEAD"], true),
            (&["git commit -qam fix && git show HEAD~1"], false),
            (&["git checkout -qb wip && git commit -qam fix", "git show wip -- pkg/a.go"], true),
            (&["git show wip -- pkg/a.go"], false),
            (&["git blame wip -- pkg/a.go"], false),
            (&["git stash show -p stash@{1}"], false),
            (&["git stash", "git stash show -p stash@{1}"], false),
            (&["git show 9aa1b2c"], false),
            (&["git -C /testbed diff"], true),
            (&["git -C /mnt/up diff"], false),
            (&["GIT_DIR=/mnt/up/.git git diff"], false),
            (&["git worktree add /tmp/w && cat /tmp/w/pkg/a.go"], true),
            (&["git worktree add /tmp/w origin/x && cat /tmp/w/pkg/a.go"], false),
            (&["cat /tmp/w/pkg/a.go"], false),
            (&["cp -r . /tmp/c; git reset -q --hard", "cat /tmp/c/pkg/a.go"], true),
            (&["cp -r . /tmp/c", "cp /mnt/x/a.go /tmp/c/pkg/", "cat /tmp/c/pkg/a.go"], false),
            (&["cp -r /mnt/x /tmp/c", "cat /tmp/c/pkg/a.go"], false),
            (&["cp -r . /tmp/c", "curl -so /tmp/c/pkg/a.go h.test/a", "cat /tmp/c/pkg/a.go"], false),
            (&["diff -ru /tmp/orig ."], true),
            (&["diff -ru . /tmp/orig"], false),
            (&["cat /testbed/pkg/a.go"], true),
            (&["cat /testbed/answer/a.go"], false),
            (&["cat /mnt/up/pkg/a.go"], false),
            (&["cat ../other/pkg/a.go"], false),
            (&["cd /testbed && git diff HEAD"], true),
            (&["cd /mnt/up && git diff HEAD"], false),
            (&["docker compose run app cat /code/pkg/a.go"], true),
            (&["docker run ref/solved cat pkg/a.go"], false),
            (&["gh pr create --fill && gh pr diff"], true),
            (&["gh pr create --fill", "gh pr diff 12"], false),
            (&["gh pr create --fill", "gh pr diff -R up/lib"], false),
            (&["gh pr diff"], false),
            (&["pip install -q . && cat .venv/lib/python3.11/site-packages/pkg/a.go"], true),
            (&["pip install -q .", "pip install lib==9", "cat .venv/lib/site-packages/pkg/a.go"], false),
            (&["cat .venv/lib/site-packages/pkg/a.go"], false),
            (&["curl -s https://example.org/a.go; git diff"], false),
        ] {
            let mut views = Views::default();
            let mut last = None;
            for command in commands {
                last = views.shows(command, &paths(), Some("/w/run"), &BTreeSet::new());
                views.learn(command, "", true, &paths(), Some("/w/run"));
            }
            assert_eq!(last.is_some(), own, "{commands:?}");
        }
    }
}
