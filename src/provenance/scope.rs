//! What the output of a call shows: the work tree itself, or something from elsewhere.
//!
//! Reading an own file back is no exposure, and neither is reading what a formatter or a script of the
//! agent made of it. Only the call says what was read.

use std::collections::BTreeSet;

use super::cutting::{path_words, without_heredocs};
use super::paths::{PathId, Paths, Place, base_name};
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

/// What the output of a call shows.
pub(super) fn scope(call: &CallRef, paths: &Paths, cwd: Option<&str>) -> Scope {
    match call.channel {
        Channel::Edit => Scope::OwnChanges,
        Channel::Web => Scope::Outside,
        Channel::ToolCall if starts_child(call.tool.as_deref().unwrap_or_default()) => {
            Scope::Report
        }
        Channel::Command => {
            let text = without_heredocs(&call.text);
            let git = git_shows(&text);
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
    let mut outside = false;
    for word in path_words(text) {
        match paths.place(word, cwd) {
            Place::Known(id) => {
                files.insert(id);
            }
            Place::Outside => outside |= !is_program(word),
            Place::Tree(_) => {}
        }
    }
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
    /// Another revision.
    Elsewhere,
}

/// The most foreign thing that the git commands of a text show.
fn git_shows(text: &str) -> GitShows {
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut most = GitShows::Nothing;
    for (at, _) in words
        .iter()
        .enumerate()
        .filter(|(_, w)| base_name(w) == "git")
    {
        let after = words.get(at + 1..).unwrap_or_default();
        // Up to the end of the simple command.
        let end = after
            .iter()
            .position(|w| ["|", "&&", "||", ";", "&"].contains(w))
            .unwrap_or(after.len());
        most = most.max(one_git_shows(after.get(..end).unwrap_or_default()));
    }
    most
}

fn one_git_shows(args: &[&str]) -> GitShows {
    let has = |w: &str| args.contains(&w);
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
            let got = scope(&call(channel, tool, text), &paths(), Some("/w/run"));
            assert_eq!(got, want, "{text}");
        }
    }
}
