//! A git command line, taken apart: sub-command, revisions, what comes out.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::reach::Reach;
use crate::shell::model::Invocation;

/// What comes out of a git command.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Prints {
    /// Changed lines.
    Patch,
    /// File contents.
    Body,
    /// Names, titles, numbers.
    Names,
    /// Nothing is shown; the work tree is changed.
    Tree,
    /// Nothing is shown; it goes into the object store or another directory.
    Aside,
    /// Nothing of interest.
    #[default]
    Nothing,
}

/// A git command.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GitCall {
    /// Sub-command.
    pub verb: String,
    /// What comes out.
    pub prints: Prints,
    /// It looks for something.
    pub searches: bool,
    /// Revisions, or words that may be revisions or paths, as written.
    pub words: Vec<String>,
    /// All references are walked (`--all`, `--branches`, …).
    pub all: bool,
    /// Lost objects or the reflog are walked.
    pub dangling: bool,
    /// Commits that a walk shows at most.
    pub count: Option<usize>,
    /// Addresses, remote names and refspecs.
    pub remotes: Vec<String>,
    /// The directory or file that receives the output.
    pub aside: Option<String>,
    /// A reference that the command creates.
    pub creates: Option<String>,
    /// What the revisions lead to; filled in by [`super::reach::Map::classify`].
    pub reach: BTreeSet<Reach>,
}

/// The words of a git command, sorted into options and the rest.
struct Words<'w> {
    flags: Vec<&'w str>,
    values: Vec<(&'w str, &'w str)>,
    plain: Vec<&'w str>,
    /// Number of plain words before `--`.
    before_dashes: Option<usize>,
}

impl GitCall {
    /// Takes a git invocation apart; `None` if it is none or has no sub-command.
    pub fn parse(invocation: &Invocation) -> Option<Self> {
        // `tig show X` and `tig blame X` show what `git` would.
        let program = invocation.program.as_str();
        if !matches!(program, "git" | "git.exe" | "hub" | "tig") {
            return None;
        }
        let all: Vec<&str> = invocation.args.iter().map(|w| w.text.as_str()).collect();
        let (verb, rest) = sub_command(&all)?;
        if matches!(rest, ["-h"]) || rest.contains(&"--help") {
            // The manual of a sub-command.
            return Some(Self {
                verb: "help".to_owned(),
                ..Self::default()
            });
        }
        let words = Words::sort(verb, rest);
        let mut call = Self {
            verb: verb.to_owned(),
            ..Self::default()
        };
        call.fill(&words);
        Some(call)
    }

    fn fill(&mut self, words: &Words) {
        self.all = words.any_flag(&["--all", "--branches", "--remotes", "--tags", "--glob"])
            && !matches!(
                self.verb.as_str(),
                "fetch" | "push" | "clone" | "add" | "commit"
            );
        self.dangling = words.any_flag(&["-g", "--walk-reflogs", "--reflog"]);
        match self.verb.as_str() {
            "show" | "log" | "diff" | "whatchanged" | "difftool" | "shortlog" | "rev-list"
            | "range-diff" | "diff-tree" | "cherry" | "merge-tree" => self.fill_history(words),
            "blame" | "annotate" | "cat-file" | "grep" | "archive" | "ls-tree" | "fast-export" => {
                self.fill_contents(words);
            }
            "reflog" | "fsck" | "verify-pack" | "unpack-objects" => self.fill_lost(words),
            "branch" | "tag" | "for-each-ref" | "show-ref" | "describe" | "name-rev"
            | "rev-parse" | "merge-base" | "show-branch" => self.fill_references(words),
            "checkout" | "switch" | "restore" | "reset" | "read-tree" | "cherry-pick" | "merge"
            | "rebase" | "revert" => self.fill_tree(words),
            "worktree" | "format-patch" | "bundle" => self.fill_aside(words),
            "stash" => self.fill_stash(words),
            "fetch" | "pull" | "clone" | "ls-remote" | "remote" | "submodule" | "subtree" => {
                self.fill_remote(words);
            }
            _ => {}
        }
    }

    fn fill_history(&mut self, words: &Words) {
        self.words = words.before_dashes();
        if self.verb == "diff" && words.any_flag(&["--merge-base"]) {
            // What the last side has more than both have in common.
            let last = self.words.pop();
            let word = match (self.words.pop(), last) {
                (Some(left), Some(right)) => Some(format!("{left}...{right}")),
                (None, Some(left)) => Some(format!("{left}...")),
                _ => None,
            };
            self.words.extend(word);
        }
        self.count = words
            .value(&["-n", "--max-count"])
            .and_then(|n| n.parse().ok())
            .or_else(|| {
                let number = |flag: &&str| {
                    flag.trim_start_matches("-n")
                        .trim_start_matches('-')
                        .parse()
                        .ok()
                };
                words.flags.iter().find_map(number)
            });
        self.searches = words.any_value(&["-S", "-G", "--grep"]);
        let patch = words.any_flag(&["-p", "-u", "--patch", "-U", "--unified", "--cc", "-c"])
            || words.any_flag(&["--patch-with-stat", "--word-diff", "--color-words"])
            || words.any_value(&["-L"]);
        let names = words.any_flag(&[
            "--stat",
            "--name-only",
            "--name-status",
            "--no-patch",
            "-s",
            "--shortstat",
            "--numstat",
            "--summary",
            "--dirstat",
            "--raw",
            "--compact-summary",
            "--quiet",
            "--exit-code",
            "--check",
        ]);
        let body = self.verb == "show" && self.words.iter().any(|w| revision_path(w).is_some());
        self.prints = match self.verb.as_str() {
            _ if patch => Prints::Patch,
            "show" if body => Prints::Body,
            "show" | "diff" | "difftool" | "range-diff" | "merge-tree" if !names => Prints::Patch,
            _ => Prints::Names,
        };
        if self.verb == "diff" && words.any_flag(&["--no-index"]) {
            self.words.clear();
            self.prints = Prints::Nothing;
        }
    }

    fn fill_contents(&mut self, words: &Words) {
        self.prints = Prints::Body;
        self.words = words.before_dashes();
        match self.verb.as_str() {
            "cat-file" => {
                self.dangling |= words.any_flag(&["--batch-all-objects"]);
                if words.any_flag(&["-t", "-s", "-e", "--batch-check"]) {
                    self.prints = Prints::Names;
                }
            }
            "grep" if !words.any_value(&["-e", "-f"]) && !self.words.is_empty() => {
                self.words.remove(0);
            }
            "archive" => {
                self.aside = words.value(&["-o", "--output"]);
                if self.aside.is_some() {
                    self.prints = Prints::Aside;
                }
                self.remotes.extend(words.value(&["--remote"]));
            }
            "ls-tree" => self.prints = Prints::Names,
            _ => {}
        }
    }

    fn fill_lost(&mut self, words: &Words) {
        self.prints = Prints::Names;
        self.dangling = self.verb != "fsck"
            || words.any_flag(&[
                "--lost-found",
                "--unreachable",
                "--dangling",
                "--no-reflogs",
            ]);
        if self.verb == "reflog" && words.any_flag(&["-p", "--patch"]) {
            self.prints = Prints::Patch;
        }
    }

    fn fill_references(&mut self, words: &Words) {
        let lists = words.plain.is_empty()
            || !matches!(self.verb.as_str(), "branch" | "tag")
            || words.any_flag(&[
                "-a",
                "-r",
                "-l",
                "--list",
                "--all",
                "--remotes",
                "--sort",
                "--contains",
                "--merged",
                "--no-merged",
                "--points-at",
                "-v",
                "-vv",
            ]);
        if lists {
            self.prints = Prints::Names;
            self.words = match self.verb.as_str() {
                "describe" | "merge-base" | "rev-parse" => words.before_dashes(),
                _ => Vec::new(),
            };
        } else if !words.any_flag(&["-d", "-D", "--delete", "-m", "-M", "-f"]) {
            self.creates = words.plain.first().map(|w| (*w).to_owned());
            self.words = words
                .plain
                .iter()
                .skip(1)
                .map(|w| (*w).to_owned())
                .collect();
        }
        self.all = false;
    }

    fn fill_tree(&mut self, words: &Words) {
        if words.any_flag(&["--abort", "--continue", "--skip", "--quit", "--edit-todo"]) {
            return;
        }
        self.prints = Prints::Tree;
        self.creates = words.value(&["-b", "-B", "-c", "-C", "--create", "--orphan"]);
        match self.verb.as_str() {
            "restore" => self.words = words.value(&["-s", "--source"]).into_iter().collect(),
            "rebase" => {
                self.words = words.before_dashes();
                self.words.extend(words.value(&["--onto"]));
            }
            // `git checkout -- path`: nothing before the dashes is a revision.
            _ => self.words = words.before_dashes(),
        }
        if self.verb == "reset" && words.any_flag(&["--soft"]) {
            self.prints = Prints::Nothing;
        }
    }

    fn fill_aside(&mut self, words: &Words) {
        let plain = |n: usize| words.plain.get(n).map(|w| (*w).to_owned());
        match (self.verb.as_str(), words.plain.first()) {
            ("worktree", Some(&"add")) => {
                self.prints = Prints::Aside;
                self.aside = plain(1);
                self.words = plain(2).into_iter().collect();
                self.creates = words.value(&["-b", "-B"]);
            }
            ("format-patch", _) => {
                self.words = words.before_dashes();
                let counted = |flag: &&str| {
                    flag.strip_prefix('-')
                        .is_some_and(|n| n.starts_with(|c: char| c.is_ascii_digit()))
                };
                if let [word] = self.words.as_mut_slice()
                    && !word.contains("..")
                    && !words.any_flag(&["--root", "--all"])
                    && !words.flags.iter().any(counted)
                {
                    // What `HEAD` has more than the word.
                    word.push_str("..");
                }
                self.aside = words.value(&["-o", "--output-directory"]);
                self.prints = if words.any_flag(&["--stdout"]) {
                    Prints::Patch
                } else {
                    Prints::Aside
                };
            }
            ("bundle", Some(&("unbundle" | "list-heads"))) => {
                self.prints = Prints::Aside;
                self.remotes = plain(1).into_iter().collect();
            }
            _ => {}
        }
    }

    fn fill_stash(&mut self, words: &Words) {
        self.prints = match words.plain.first().copied() {
            Some("show") if words.any_flag(&["-p", "-u", "--patch"]) => Prints::Patch,
            Some("show" | "list") => Prints::Names,
            Some("pop" | "apply" | "branch") => Prints::Tree,
            _ => Prints::Nothing,
        };
    }

    fn fill_remote(&mut self, words: &Words) {
        let plain = |n: usize| words.plain.get(n).map(|w| (*w).to_owned());
        let rest = |n: usize| words.plain.iter().skip(n).map(|w| (*w).to_owned());
        match (self.verb.as_str(), words.plain.first().copied()) {
            ("clone", _) => {
                self.prints = Prints::Aside;
                self.remotes = rest(0).take(1).collect();
                // With no more than the history of one tag, nothing later comes along.
                if words.any_value(&["--depth"]) || words.any_flag(&["--single-branch"]) {
                    self.words = words.value(&["-b", "--branch"]).into_iter().collect();
                }
                let bare = words.any_flag(&["--bare", "--mirror"]);
                let name = |address: &String| {
                    clone_name(address).map(|name| if bare { name + ".git" } else { name })
                };
                self.aside = plain(1).or_else(|| self.remotes.first().and_then(name));
            }
            ("fetch", _) => {
                self.prints = Prints::Aside;
                self.remotes = rest(0).collect();
                self.creates = words
                    .plain
                    .iter()
                    .skip(1)
                    .find_map(|spec| spec.split_once(':'))
                    .map(|(_, to)| local_name(to).to_owned())
                    .filter(|to| !to.is_empty());
            }
            ("pull", _) => {
                self.prints = Prints::Tree;
                self.remotes = rest(0).collect();
            }
            ("ls-remote", _) => {
                self.prints = Prints::Names;
                self.remotes = rest(0).collect();
            }
            ("remote", Some("add" | "set-url")) => {
                self.creates = plain(1);
                self.remotes = rest(2).collect();
            }
            ("remote", Some("update")) => {
                "fetch".clone_into(&mut self.verb);
                self.prints = Prints::Aside;
                self.remotes = rest(1).collect();
            }
            ("remote", Some("show")) => self.prints = Prints::Names,
            ("submodule" | "subtree", Some("add" | "pull" | "merge")) => {
                self.prints = Prints::Tree;
                self.remotes = rest(1).collect();
                if self.verb == "subtree" {
                    self.aside = words.value(&["-P", "--prefix"]);
                }
                if (self.verb.as_str(), words.plain.first()) == ("submodule", Some(&"add")) {
                    let name = self.remotes.first().and_then(|a| clone_name(a));
                    self.aside = plain(2).or(name);
                }
            }
            _ => {}
        }
    }

    /// The words that are paths of a `REV:path`.
    pub fn revision_paths(&self) -> impl Iterator<Item = &str> {
        self.words.iter().filter_map(|w| revision_path(w))
    }
}

/// The path of `REV:path`.
pub fn revision_path(word: &str) -> Option<&str> {
    let (revision, path) = word.split_once(':')?;
    // `https://…` is an address.
    (!path.is_empty() && !revision.is_empty() && !path.starts_with("//")).then_some(path)
}

/// `refs/heads/x` and `+x` as `x`.
pub fn local_name(reference: &str) -> &str {
    let reference = reference.trim_start_matches('+');
    reference
        .strip_prefix("refs/heads/")
        .or_else(|| reference.strip_prefix("refs/tags/"))
        .unwrap_or(reference)
}

/// The directory that `git clone ADDRESS` makes.
fn clone_name(address: &str) -> Option<String> {
    let last = address.trim_end_matches('/').rsplit(['/', ':']).next()?;
    let name = last.strip_suffix(".git").unwrap_or(last);
    (!name.is_empty()).then(|| name.to_owned())
}

/// Skips the options before the sub-command.
fn sub_command<'w>(words: &'w [&'w str]) -> Option<(&'w str, &'w [&'w str])> {
    let mut rest = words;
    while let Some((first, tail)) = rest.split_first() {
        if !first.starts_with('-') {
            return Some((first, tail));
        }
        let value = matches!(
            *first,
            "-C" | "-c" | "--git-dir" | "--work-tree" | "--namespace" | "--exec-path"
        );
        rest = if value { tail.get(1..)? } else { tail };
    }
    None
}

impl<'w> Words<'w> {
    fn sort(verb: &str, words: &[&'w str]) -> Self {
        let mut sorted = Words {
            flags: Vec::new(),
            values: Vec::new(),
            plain: Vec::new(),
            before_dashes: None,
        };
        let mut rest = words.iter().copied();
        while let Some(word) = rest.next() {
            if word == "--" {
                sorted.before_dashes = Some(sorted.plain.len());
                sorted.plain.extend(rest.by_ref());
            } else if !word.starts_with('-') || word == "-" {
                sorted.plain.push(word);
            } else if let Some((name, value)) = word.split_once('=') {
                sorted.flags.push(name);
                sorted.values.push((name, value));
            } else if takes_value(verb, word) {
                sorted.values.push((word, rest.next().unwrap_or_default()));
            } else if let Some((name, value)) = attached(verb, word) {
                sorted.flags.push(name);
                sorted.values.push((name, value));
            } else {
                sorted.flags.push(word);
            }
        }
        sorted
    }

    fn any_flag(&self, names: &[&str]) -> bool {
        self.flags.iter().any(|flag| names.contains(flag))
    }

    fn any_value(&self, names: &[&str]) -> bool {
        self.values.iter().any(|(name, _)| names.contains(name))
    }

    fn value(&self, names: &[&str]) -> Option<String> {
        self.values
            .iter()
            .find(|(name, _)| names.contains(name))
            .map(|(_, value)| (*value).to_owned())
    }

    /// The plain words that may be revisions: those before `--`.
    fn before_dashes(&self) -> Vec<String> {
        let count = self.before_dashes.unwrap_or(self.plain.len());
        self.plain
            .iter()
            .take(count)
            .map(|w| (*w).to_owned())
            .collect()
    }
}

/// True if the option is followed by its value as a word of its own.
fn takes_value(verb: &str, option: &str) -> bool {
    let history = matches!(
        verb,
        "log" | "show" | "diff" | "whatchanged" | "rev-list" | "shortlog"
    );
    match option {
        "-S" | "-G" | "--grep" | "--author" | "--committer" | "--since" | "--after" | "--until"
        | "--before" | "-L" | "-O" | "--max-count" | "--skip" => history || verb == "blame",
        "-n" => history || verb == "branch" || verb == "tag",
        "-b" | "-B" => matches!(verb, "checkout" | "worktree" | "clone" | "switch"),
        "-c" | "-C" | "--create" => verb == "switch",
        "--orphan" => matches!(verb, "checkout" | "switch" | "worktree"),
        "-s" => matches!(verb, "restore" | "merge" | "rebase" | "cherry-pick"),
        "--source" => verb == "restore",
        "-m" => matches!(
            verb,
            "merge" | "tag" | "commit" | "cherry-pick" | "revert" | "stash"
        ),
        "--onto" | "-X" | "--strategy" | "--strategy-option" | "--exec" | "-x" => {
            let runs = matches!(verb, "rebase" | "merge" | "cherry-pick");
            runs && option != "-x" || verb == "difftool"
        }
        "--extcmd" | "-t" | "--tool" if verb == "difftool" => true,
        "-P" => verb == "subtree",
        "-o" | "--output" | "--output-directory" | "--prefix" | "--remote" => {
            matches!(verb, "archive" | "format-patch" | "clone" | "subtree")
        }
        "--branch" | "--origin" | "--reference" | "--separate-git-dir" => verb == "clone",
        "--depth" | "-j" | "--jobs" | "--refmap" => {
            matches!(verb, "clone" | "fetch" | "pull" | "submodule")
        }
        "-e" | "-f" => verb == "grep",
        "-t" => verb == "remote",
        _ => false,
    }
}

/// `-Sword`, `-Gword`, `-L1,5:f`, `-U3`, `-n5`.
fn attached<'w>(verb: &str, word: &'w str) -> Option<(&'w str, &'w str)> {
    let (name, value) = word.split_at_checked(2)?;
    let known = match name {
        "-S" | "-G" | "-L" => matches!(verb, "log" | "show" | "diff" | "whatchanged" | "rev-list"),
        "-U" => true,
        "-s" => verb == "restore",
        _ => false,
    };
    (known && !value.is_empty()).then_some((name, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::call::tests::invocation;

    fn call(text: &str) -> GitCall {
        GitCall::parse(&invocation(text)).unwrap_or_else(|| panic!("{text}"))
    }

    #[test]
    fn what_comes_out() {
        use Prints::*;
        for (text, verb, prints) in [
            ("git show abc", "show", Patch),
            ("git -C /x --no-pager -c a=b show abc", "show", Patch),
            ("git show --stat abc", "show", Names),
            ("git show v1:src/a.py", "show", Body),
            ("git log", "log", Names),
            ("git log -p -3", "log", Patch),
            ("git log -L1,5:a.c", "log", Patch),
            ("git diff", "diff", Patch),
            ("git diff --name-only HEAD", "diff", Names),
            ("git diff --no-index a b", "diff", Nothing),
            ("git cat-file -p abc", "cat-file", Body),
            (
                "git cat-file --batch-all-objects --batch-check",
                "cat-file",
                Names,
            ),
            ("git archive -o x.tar v1", "archive", Aside),
            ("git tag", "tag", Names),
            ("git tag v1", "tag", Nothing),
            ("git branch -a", "branch", Names),
            ("git checkout abc -- f", "checkout", Tree),
            ("git cherry-pick --abort", "cherry-pick", Nothing),
            ("git worktree add /tmp/x v1", "worktree", Aside),
            ("git format-patch -1 abc --stdout", "format-patch", Patch),
            ("git remote update", "fetch", Aside),
            ("git fetch --help", "help", Nothing),
            ("git show -h", "help", Nothing),
            ("git stash", "stash", Nothing),
            ("git stash show -p", "stash", Patch),
            ("git stash pop", "stash", Tree),
        ] {
            let call = call(text);
            assert_eq!((call.verb.as_str(), call.prints), (verb, prints), "{text}");
        }
    }

    #[test]
    fn revisions_are_told_from_options_and_paths() {
        for (text, words) in [
            ("git log -n 5 --grep x abc -- src", vec!["abc"]),
            ("git show --format=%H abc", vec!["abc"]),
            ("git log -Sneedle", vec![]),
            ("git checkout -- f", vec![]),
            ("git checkout -b new abc", vec!["abc"]),
            ("git restore --source=abc f", vec!["abc"]),
            ("git restore -s abc f", vec!["abc"]),
            ("git rebase --onto abc def", vec!["def", "abc"]),
            ("git grep needle abc", vec!["abc"]),
            ("git grep -e needle abc", vec!["abc"]),
            ("git worktree add -b n /tmp/d abc", vec!["abc"]),
            ("git tag n abc", vec!["abc"]),
        ] {
            assert_eq!(call(text).words, words, "{text}");
        }
    }

    #[test]
    fn searches_and_walks() {
        assert!(call("git log --all --grep=x").searches);
        assert!(call("git log -S x").searches);
        assert!(!call("git log --all").searches);
        assert!(call("git log --all").all);
        assert!(!call("git fetch --all").all);
        assert!(call("git log -g").dangling);
        assert!(call("git fsck --lost-found").dangling);
        assert!(!call("git fsck").dangling);
    }

    #[test]
    fn remotes_and_what_is_made() {
        let clone = call("git clone --depth 1 https://h.example/a/b.git");
        assert_eq!(clone.aside.as_deref(), Some("b"));
        let bare = call("git clone --mirror https://h.example/a/b.git");
        assert_eq!(bare.aside.as_deref(), Some("b.git"));
        assert_eq!(clone.remotes, ["https://h.example/a/b.git"]);
        let fetch = call("git fetch -q origin pull/308/head:refs/heads/pr");
        assert_eq!(fetch.creates.as_deref(), Some("pr"));
        assert_eq!(fetch.remotes.len(), 2);
        assert_eq!(
            call("git remote add up https://h/x").creates.as_deref(),
            Some("up")
        );
    }

    #[test]
    fn no_git_no_call() {
        for text in ["gh pr diff", "git", "git --version", "git -C"] {
            assert_eq!(GitCall::parse(&invocation(text)), None, "{text}");
        }
    }
}
