//! What the output of a call shows: the work tree itself, or something from elsewhere.
//!
//! Reading an own file back is no exposure, and neither is reading what a formatter or a script of the
//! agent made of it. Only the call says what was read.

use std::collections::BTreeSet;

use super::cutting::{path_words, pipelines, quiet, segments, without_heredocs};
use super::paths::{PathId, Paths, Place};
use super::revisions::{Revisions, Whose, git, is_revision, spelled};
use crate::trace::event::{CallRef, Channel};

/// What the output of a call shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Scope {
    /// These files of the work tree.
    Files(BTreeSet<PathId>),
    /// Changes of the work tree (`git diff`), or what an edit call reports of its own work.
    OwnChanges,
    /// A sub-agent's report.
    Report,
    /// Something that does not lie in the work tree.
    Outside,
    /// It cannot be told.
    Unclear,
}

/// Words that show that something comes from outside of the work tree, as parts of a text.
const OUTSIDE: [&str; 26] = [
    "http://",
    "https://",
    "ftp://",
    "curl ",
    "wget ",
    "site-packages",
    "dist-packages",
    "node_modules",
    "/pkg/mod/",
    ".cargo/registry",
    ".m2/repository",
    "FETCH_HEAD",
    "ORIG_HEAD",
    "origin/",
    "upstream/",
    "refs/",
    "gt_diff",
    "/eval/",
    "ground_truth",
    "cat-file",
    "pip download",
    "npm pack",
    "docker ",
    "ssh ",
    "unzip -p",
    "reflog",
];

/// What the output of a call shows. Revisions of git that are not among `own` are not the work tree, also where a path of
/// it is named.
pub(super) fn scope(
    call: &CallRef,
    paths: &Paths,
    cwd: Option<&str>,
    own: &Revisions,
    base_known: bool,
) -> Scope {
    match call.channel {
        Channel::Edit => Scope::OwnChanges,
        Channel::Web => Scope::Outside,
        Channel::ToolCall if starts_child(call.tool.as_deref().unwrap_or_default()) => {
            Scope::Report
        }
        Channel::Command => {
            let text = without_heredocs(&call.text);
            let mut git = git_shows(&text, paths, cwd, own);
            // Unless it is known what the base holds, it may be anything.
            if git == GitShows::Base {
                git = match base_known {
                    true => GitShows::Elsewhere,
                    false => GitShows::Nothing,
                };
            }
            if shows_outside(&text) || git == GitShows::Elsewhere {
                return Scope::Outside;
            }
            match (named(&text, paths, cwd), git) {
                (Named::Nothing, GitShows::OwnChanges) => Scope::OwnChanges,
                // Compared with the state of another branch: whose lines they are, nobody can tell.
                (Named::Files(_), GitShows::Mixed) => Scope::Unclear,
                (named, _) => named.into(),
            }
        }
        _ if shows_outside(&call.text) => Scope::Outside,
        _ => named(&call.text, paths, cwd).into(),
    }
}

/// A tool that starts a sub-agent, by its name.
fn starts_child(tool: &str) -> bool {
    let name = tool.to_ascii_lowercase();
    ["task", "agent", "delegate", "spawn"]
        .iter()
        .any(|w| name.contains(w))
        && !name.contains("todo")
        && !name.contains("output")
}

fn shows_outside(text: &str) -> bool {
    OUTSIDE.iter().any(|w| text.contains(w))
        || text.split_whitespace().any(|w| w == "gh" || w == "glab")
}

/// The files that a text names.
#[derive(Debug, PartialEq, Eq)]
enum Named {
    /// None that is known.
    Nothing,
    /// Known files of the work tree only.
    Files(BTreeSet<PathId>),
    /// Known files, and others outside.
    Both,
    /// Files outside only.
    Outside,
}

impl From<Named> for Scope {
    fn from(named: Named) -> Self {
        match named {
            Named::Files(files) => Self::Files(files),
            Named::Outside => Self::Outside,
            Named::Nothing | Named::Both => Self::Unclear,
        }
    }
}

fn named(text: &str, paths: &Paths, cwd: Option<&str>) -> Named {
    let mut files = BTreeSet::new();
    // `cd dir && cat file`: relative paths are below the directory.
    let moved = text.split_once("cd ").and_then(|(_, rest)| {
        rest.split(|c: char| c.is_whitespace() || ";&\"'".contains(c))
            .next()
    });
    let dir = moved.map(|dir| match cwd {
        Some(cwd) if !dir.starts_with('/') => format!("{cwd}/{dir}"),
        _ => dir.to_owned(),
    });
    let cwd = dir.as_deref().or(cwd);
    let (mut outside, mut twin) = (false, false);
    for word in path_words(text) {
        match paths.place(word, cwd) {
            Place::Known(id) => {
                files.insert(id);
            }
            Place::Outside => outside |= !is_program(word),
            // Where the tree lies is not known, and it may be a copy that is laid out the same.
            Place::Tree(path) => twin |= path.starts_with('/'),
        }
    }
    outside |= twin && !files.is_empty();
    match (files.is_empty(), outside) {
        (true, true) => Named::Outside,
        (false, false) => Named::Files(files),
        (false, true) => Named::Both,
        (true, false) => Named::Nothing,
    }
}

/// `/usr/bin/env`, `/bin/sh`, `/dev/null`: outside, and nothing that is shown.
pub(super) fn is_program(path: &str) -> bool {
    [
        "/usr/bin/",
        "/bin/",
        "/usr/local/bin/",
        "/dev/",
        "/opt/homebrew/bin/",
    ]
    .iter()
    .any(|p| path.starts_with(p))
}

/// What the git commands of a text show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum GitShows {
    /// No content.
    Nothing,
    /// What the agent changed.
    OwnChanges,
    /// The own state compared with that of another branch.
    Mixed,
    /// What the base holds, or one before it, and nothing else.
    Base,
    /// Another revision.
    Elsewhere,
}

/// The most foreign thing that the git commands of a text show.
fn git_shows(text: &str, paths: &Paths, cwd: Option<&str>, own: &Revisions) -> GitShows {
    if !text.contains("git") {
        return GitShows::Nothing;
    }
    let mut own = own.clone();
    let mut most = GitShows::Nothing;
    // What the base holds is shown, and nothing else that may be of the tree.
    let (mut base, mut others) = (false, false);
    let text = spelled(text);
    let quiet = quiet(&text);
    for pipeline in pipelines(inner(&quiet)) {
        for (number, segment) in segments(pipeline).enumerate() {
            let tokens = tokens(segment);
            let words: Vec<&str> = tokens.iter().map(String::as_str).collect();
            let Some((verb, args, _)) = git(&words) else {
                let program = words.first().copied().unwrap_or_default();
                others |= number == 0 && !["", "cd", "echo", "pwd"].contains(&program);
                continue;
            };
            let shows =
                one_git_shows(verb, &args).max(another_shows(verb, &args, paths, cwd, &own));
            most = most.max(shows);
            base |= shows == GitShows::Nothing
                && !args.iter().any(|w| w.contains('>'))
                && shows_base(verb, &args, paths, cwd, &own);
            own.step(&words, paths, cwd);
        }
    }
    if base && !others && most == GitShows::Nothing {
        return GitShows::Base;
    }
    most
}

/// Commands of git that put a revision into the tree.
const TAKES: [&str; 6] = [
    "reset",
    "cherry-pick",
    "merge",
    "checkout",
    "restore",
    "rebase",
];

/// All that a command puts into the tree by git is of revisions that the agent made, and it prints no other.
pub(super) fn takes_own(text: &str, paths: &Paths, cwd: Option<&str>, own: &Revisions) -> bool {
    let text = without_heredocs(text);
    if !TAKES.iter().any(|verb| text.contains(verb)) || shows_outside(&text) {
        return false;
    }
    let mut own = own.clone();
    let mut takes = false;
    let quiet = quiet(&text);
    for segment in segments(inner(&quiet)) {
        let tokens = tokens(segment);
        let words: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let Some((verb, args, dir)) = git(&words) else {
            continue;
        };
        let revisions = revisions(verb, &args, paths, cwd);
        if dir.is_some() || revisions.iter().any(|r| own.whose(r) == Whose::Foreign) {
            return false;
        }
        let made = |word: &&str| own.whose(word) == Whose::Own;
        takes |= TAKES.contains(&verb) && revisions.iter().any(made);
        own.step(&words, paths, cwd);
    }
    takes
}

/// The command that a shell is given: `bash -lc "git show HEAD"`.
fn inner(text: &str) -> &str {
    let text = text.trim();
    let shells = [
        "bash -lc ",
        "bash -c ",
        "sh -c ",
        "/bin/bash -lc ",
        "/bin/sh -c ",
    ];
    let inner = shells.iter().find_map(|shell| text.strip_prefix(shell));
    inner.map_or(text, |inner| inner.trim().trim_matches(['\'', '"']))
}

/// The words of a simple command; blanks within quotes part none.
fn tokens(segment: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    let (mut quote, mut open) = (None, false);
    for c in segment.chars() {
        match quote {
            Some(mark) if mark == c => quote = None,
            None if matches!(c, '\'' | '"') => {
                quote = Some(c);
                if !open {
                    out.push(String::new());
                }
                open = true;
            }
            None if c.is_whitespace() || matches!(c, '(' | ')' | '`') => open = false,
            _ => {
                if !open {
                    out.push(String::new());
                }
                open = true;
                if let Some(word) = out.last_mut() {
                    word.push(c);
                }
            }
        }
    }
    out
}

/// Options of git that take the next word.
const TAKES_NEXT: [&str; 9] = ["-e", "-n", "-L", "-U", "-S", "-G", "-m", "-A", "-B"];

/// The revisions that a subcommand is given; of a search behind its pattern.
fn revisions<'a>(verb: &str, args: &[&'a str], paths: &Paths, cwd: Option<&str>) -> Vec<&'a str> {
    let mut out: Vec<&str> = Vec::new();
    let mut pattern = verb == "grep" && !args.iter().any(|w| w.starts_with("-e"));
    let mut value = false;
    // What follows names paths, or where it goes.
    for word in args
        .iter()
        .take_while(|w| **w != "--" && !w.contains(['<', '>']))
    {
        if std::mem::replace(&mut value, takes_next(verb, word)) || word.starts_with('-') {
            continue;
        }
        if std::mem::take(&mut pattern) {
            continue;
        }
        let path = || {
            let known = match paths.place(word, cwd) {
                Place::Known(_) | Place::Outside => true,
                Place::Tree(dir) => paths.below(dir.trim_end_matches('/')).next().is_some(),
            };
            known || word.contains(['.', '*']) || word.is_empty()
        };
        if is_revision(word) || !path() {
            out.push(word);
        }
    }
    out
}

/// `-n` of a search numbers the lines.
fn takes_next(verb: &str, word: &str) -> bool {
    TAKES_NEXT.contains(&word) && !(verb == "grep" && word == "-n")
}

/// A revision that is not the agent's.
fn another_shows(
    verb: &str,
    args: &[&str],
    paths: &Paths,
    cwd: Option<&str>,
    own: &Revisions,
) -> GitShows {
    let revisions = || revisions(verb, args, paths, cwd);
    let foreign = |word: &&str| own.whose(word) == Whose::Foreign;
    let any = |found: bool| {
        if found {
            GitShows::Elsewhere
        } else {
            GitShows::Nothing
        }
    };
    match verb {
        "show" | "grep" | "blame" | "annotate" | "diff-tree" => {
            any(revisions().iter().any(foreign))
        }
        "diff" | "difftool" => {
            let revisions = revisions();
            let first = revisions.first().is_some_and(foreign);
            // On the right, or on the left of a range that ends elsewhere.
            let right = revisions.iter().skip(1).any(foreign);
            let ranged = |word: &&str| word.contains("..") && foreign(word);
            match first {
                _ if right || revisions.iter().any(ranged) => GitShows::Elsewhere,
                true if args.contains(&"-R") => GitShows::Elsewhere,
                true => GitShows::Mixed,
                false => GitShows::Nothing,
            }
        }
        _ => GitShows::Nothing,
    }
}

/// The base as it was, or what lies before it.
fn shows_base(
    verb: &str,
    args: &[&str],
    paths: &Paths,
    cwd: Option<&str>,
    own: &Revisions,
) -> bool {
    let revisions = || revisions(verb, args, paths, cwd);
    let base = |word: &&str| own.whose(word) == Whose::Base;
    match verb {
        "show" | "diff-tree" => {
            let revisions = revisions();
            revisions.iter().all(base) && (!revisions.is_empty() || base(&"HEAD"))
        }
        "grep" | "blame" | "annotate" => {
            let revisions = revisions();
            !revisions.is_empty() && revisions.iter().all(base)
        }
        _ => false,
    }
}

fn one_git_shows(verb: &str, args: &[&str]) -> GitShows {
    let has = |w: &str| verb == w || args.contains(&w);
    let revision = args
        .iter()
        .take_while(|w| **w != "--")
        .map(|w| revision(w))
        .max()
        .unwrap_or(Revision::None);
    let patches = args
        .iter()
        .any(|w| ["-p", "--patch"].contains(w) || w.starts_with("-S") || w.starts_with("-G"));
    let history = has("--all") || has("log") && patches || has("stash") && has("show");
    let other = (has("show") || has("grep")) && revision > Revision::None;
    if history || other {
        GitShows::Elsewhere
    } else if has("diff") {
        match revision {
            Revision::Foreign => GitShows::Elsewhere,
            Revision::Near => GitShows::Mixed,
            Revision::None => GitShows::OwnChanges,
        }
    } else if has("status") {
        GitShows::OwnChanges
    } else {
        GitShows::Nothing
    }
}

/// The commit that a word names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Revision {
    /// None, or the one that is checked out.
    None,
    /// An ancestor, or the main branch: what agents compare their own work with.
    Near,
    /// Any other.
    Foreign,
}

fn revision(word: &str) -> Revision {
    let word = word.trim_matches(['\'', '"']);
    if word.starts_with('-') {
        return Revision::None;
    }
    if let Some((left, right)) = word.split_once("..") {
        let right = right.trim_start_matches('.');
        return match right {
            // A path with `..` is no range.
            _ if left.contains('/') || right.starts_with('/') => Revision::None,
            "" | "HEAD" | "@" => revision(left).max(Revision::Near),
            _ => Revision::Foreign,
        };
    }
    let name = word.split(':').next().unwrap_or(word);
    let hex = name.len() >= 7 && name.bytes().all(|b| b.is_ascii_hexdigit());
    let tag = name
        .strip_prefix('v')
        .is_some_and(|v| v.contains('.') && v.starts_with(|c: char| c.is_ascii_digit()));
    let near =
        matches!(name, "main" | "master") || !name.contains('/') && name.contains(['~', '^']);
    if hex || tag || matches!(name, "upstream" | "origin") {
        Revision::Foreign
    } else if near {
        Revision::Near
    } else {
        Revision::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::EventId;

    fn paths() -> Paths {
        let mut paths = Paths::default();
        for path in ["pkg/a.go", "pkg/b.go", "docs/read me.md"] {
            paths.add(path);
        }
        paths.start_in("/w/run");
        paths
    }

    fn call(channel: Channel, tool: Option<&str>, text: &str) -> CallRef {
        CallRef {
            event: EventId::default(),
            channel,
            tool: tool.map(str::to_owned),
            text: text.to_owned(),
            line: 1,
        }
    }

    #[test]
    #[rustfmt::skip]
    fn outputs_of_the_tree_and_of_elsewhere() {
        let file = |id| Scope::Files([id].into());
        for (channel, tool, text, want) in [
            (Channel::Command, None, "cat pkg/a.go", file(0)),
            (Channel::Command, None, "cat -n /w/run/pkg/b.go | head", file(1)),
            (Channel::Command, None, "cd pkg && cat a.go", file(0)),
            (Channel::Command, None, "cat /tmp/up/pkg/a.go", Scope::Outside),
            (Channel::Command, None, "cd /tmp/up && cat pkg/a.go", Scope::Outside),
            (Channel::Command, None, "cat up/pkg/a.go", Scope::Unclear),
            (Channel::Command, None, "git diff", Scope::OwnChanges),
            (Channel::Command, None, "git diff HEAD --stat", Scope::OwnChanges),
            (Channel::Command, None, "git status -sb", Scope::OwnChanges),
            (Channel::Command, None, "git diff pkg/a.go", file(0)),
            (Channel::Command, None, "git diff main -- pkg/a.go", Scope::Unclear),
            (Channel::Command, None, "git diff main...HEAD", Scope::Unclear),
            (Channel::Command, None, "git diff HEAD..next pkg/a.go", Scope::Outside),
            (Channel::Command, None, "git diff 0a1b2c3d -- pkg/a.go", Scope::Outside),
            (Channel::Command, None, "git diff ../x pkg/a.go", Scope::Unclear),
            (Channel::Command, None, "go vet > /tmp/out; cat pkg/a.go", Scope::Unclear),
            (Channel::Command, None, "git show 0a1b2c3d", Scope::Outside),
            (Channel::Command, None, "git show HEAD", Scope::Unclear),
            (Channel::Command, None, "git show HEAD~1:pkg/a.go", Scope::Outside),
            (Channel::Command, None, "git show v1.2.3:pkg/a.go", Scope::Outside),
            (Channel::Command, None, "git log -p -3", Scope::Outside),
            (Channel::Command, None, "git log --oneline -3", Scope::Unclear),
            (Channel::Command, None, "gh pr diff 308", Scope::Outside),
            (Channel::Command, None, "curl -sL https://example.org/x.patch", Scope::Outside),
            (Channel::Command, None, "/usr/bin/env cat pkg/a.go", file(0)),
            (Channel::Command, None, "go test ./...", Scope::Unclear),
            (Channel::ToolCall, Some("Read"), r#"{"file_path":"/w/run/pkg/a.go"}"#, file(0)),
            (Channel::ToolCall, Some("Read"), r#"{"file_path":"/w/other/pkg/a.go"}"#, Scope::Outside),
            (Channel::ToolCall, Some("Task"), "look at pkg/a.go", Scope::Report),
            (Channel::Edit, Some("Edit"), "x", Scope::OwnChanges),
            (Channel::Web, None, "pkg docs", Scope::Outside),
        ] {
            let own = Revisions::default();
            let got = scope(&call(channel, tool, text), &paths(), Some("/w/run"), &own, false);
            assert_eq!(got, want, "{text}");
        }
    }

    /// A revision or a place of somebody else's, though a file of the tree is named; and the agent's own.
    #[test]
    #[rustfmt::skip]
    fn revisions_of_the_agent_and_of_others() {
        let tree = || Scope::Files([0].into());
        let branch = "git checkout -qb wip; git commit -qam x";
        for (before, text, want) in [
            ("", "git show wip:pkg/a.go", Scope::Outside),
            ("", "git show \"wip:pkg/a.go\" | head -100", Scope::Outside),
            ("", "git show wip -- pkg/a.go", Scope::Outside),
            ("", "git show stash@{0}:pkg/a.go", Scope::Outside),
            ("", "git show HEAD@{1}:pkg/a.go", Scope::Outside),
            ("", "git show @{u}:pkg/a.go", Scope::Outside),
            ("", "git show @{-1}:pkg/a.go", Scope::Outside),
            ("", "git show :1:pkg/a.go", Scope::Outside),
            ("", "git grep -n \"\" wip -- pkg/a.go", Scope::Outside),
            ("", "git grep 'func a' wip -- pkg/a.go", Scope::Outside),
            ("", "git blame wip -- pkg/a.go", Scope::Outside),
            ("", "git diff solution -- pkg/a.go", Scope::Unclear),
            ("", "git diff HEAD stash@{0} -- pkg/a.go", Scope::Outside),
            ("", "git diff -R wip pkg/a.go", Scope::Outside),
            ("", "git diff HEAD..wip pkg/a.go", Scope::Outside),
            ("", "git show HEAD:pkg/a.go", Scope::Outside),
            ("", "git show @:pkg/a.go | head", Scope::Outside),
            ("", "git show HEAD:pkg/a.go; cat pkg/a.go", tree()),
            ("", "git show HEAD:pkg/a.go > /tmp/a; sed -n p pkg/a.go", Scope::Unclear),
            ("", "git grep -n 'func a' pkg/a.go", tree()),
            ("", "git grep -n 'func a' -- pkg/a.go", tree()),
            ("", "git grep -e x HEAD -- pkg/a.go", Scope::Outside),
            ("", "git blame -L 1,40 pkg/a.go", tree()),
            ("", "git show :pkg/a.go", tree()),
            ("", "git diff $(git merge-base HEAD main) -- pkg/a.go", Scope::Unclear),
            ("", "git show $(git rev-parse wip):pkg/a.go", Scope::Outside),
            (branch, "git show $(git rev-parse HEAD):pkg/a.go", tree()),
            (branch, "git show HEAD:pkg/a.go", tree()),
            (branch, "git show HEAD -- pkg/a.go", tree()),
            (branch, "git show wip:pkg/a.go", tree()),
            (branch, "git diff HEAD~1 HEAD -- pkg/a.go", Scope::Unclear),
            (branch, "git grep x wip -- pkg/a.go", tree()),
            (branch, "git blame wip -- pkg/a.go", tree()),
            ("git stash", "git show stash@{0}:pkg/a.go", tree()),
            ("git stash", "git show stash@{1}:pkg/a.go", Scope::Outside),
            ("", "git stash && git show stash@{0}:pkg/a.go", tree()),
            ("", "git show wip:pkg/a.go; git branch wip", Scope::Outside),
        ] {
            let mut own = Revisions::default();
            own.learn(before, "", true, &paths(), Some("/w/run"));
            let got = scope(&call(Channel::Command, None, text), &paths(), Some("/w/run"), &own, true);
            assert_eq!(got, want, "{before}; {text}");
        }
        // Where the tree lies is not known.
        let mut paths = Paths::default();
        paths.add("pkg/a.go");
        let own = Revisions::default();
        for text in ["diff -N pkg/a.go /mnt/ref/pkg/a.go", "cat /mnt/ref/pkg/a.go | diff - pkg/a.go"] {
            let got = scope(&call(Channel::Command, None, text), &paths, None, &own, true);
            assert_eq!(got, Scope::Unclear, "{text}");
        }
    }
}
