//! What the output of a call shows: the work tree itself, or something from elsewhere.
//!
//! Reading an own file back is no exposure, and neither is reading what a formatter or a script of the
//! agent made of it. Only the call says what was read.

use std::collections::BTreeSet;

use super::paths::{PathId, Paths, Place, base_name};
use super::writes::{path_words, without_heredocs};
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
            if shows_outside(&text) || !git_shows_own(&text) {
                return Scope::Outside;
            }
            let scope = files_shown(&text, paths, cwd);
            let diff = text.contains("git diff") || text.contains("git status");
            if scope == Scope::Unclear && diff {
                return Scope::OwnChanges;
            }
            scope
        }
        _ if shows_outside(&call.text) => Scope::Outside,
        _ => files_shown(&call.text, paths, cwd),
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

/// The files that a text names; outside when it names a path there.
fn files_shown(text: &str, paths: &Paths, cwd: Option<&str>) -> Scope {
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
    for word in path_words(text) {
        match paths.place(word, cwd) {
            Place::Known(id) => {
                files.insert(id);
            }
            Place::Outside if !is_program(word) => return Scope::Outside,
            Place::Outside | Place::Tree(_) => {}
        }
    }
    if files.is_empty() {
        Scope::Unclear
    } else {
        Scope::Files(files)
    }
}

/// `/usr/bin/env`, `/bin/sh`, `/dev/null`: outside, and nothing that is shown.
fn is_program(path: &str) -> bool {
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

/// The git commands of a text show the work tree or its own last state, no other revision.
fn git_shows_own(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
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
        let args = after.get(..end).unwrap_or_default();
        let has = |w: &str| args.contains(&w);
        let other_revision = args.iter().any(|w| is_other_revision(w));
        let history = has("log")
            && args
                .iter()
                .any(|w| ["-p", "--patch", "-S", "-G"].contains(w) || w.starts_with("-S"));
        if (has("show") || has("diff")) && other_revision
            || history
            || has("--all")
            || has("stash") && has("show")
            || has("grep") && other_revision
        {
            return false;
        }
    }
    true
}

/// A word that names a commit other than the one checked out.
fn is_other_revision(word: &str) -> bool {
    let word = word.trim_matches(['\'', '"']);
    if word.starts_with('-') {
        return false;
    }
    let revision = word.split(':').next().unwrap_or(word);
    let hex = revision.len() >= 7 && revision.bytes().all(|b| b.is_ascii_hexdigit());
    let named = matches!(revision, "main" | "master" | "upstream" | "origin");
    let relative = revision.contains(['~', '^']) || revision.contains("..");
    let tag = revision
        .strip_prefix('v')
        .is_some_and(|v| v.contains('.') && v.starts_with(|c: char| c.is_ascii_digit()));
    hex || named || relative && !revision.contains('/') || tag
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
    fn outputs_of_the_tree_and_of_elsewhere() {
        let file = |id| Scope::Files([id].into());
        for (channel, tool, text, want) in [
            (Channel::Command, None, "cat pkg/a.go", file(0)),
            (
                Channel::Command,
                None,
                "cat -n /w/run/pkg/b.go | head",
                file(1),
            ),
            (Channel::Command, None, "cd pkg && cat a.go", file(0)),
            (
                Channel::Command,
                None,
                "cat /tmp/up/pkg/a.go",
                Scope::Outside,
            ),
            (
                Channel::Command,
                None,
                "cd /tmp/up && cat pkg/a.go",
                Scope::Outside,
            ),
            (Channel::Command, None, "cat up/pkg/a.go", Scope::Unclear),
            (Channel::Command, None, "git diff", Scope::OwnChanges),
            (
                Channel::Command,
                None,
                "git diff HEAD --stat",
                Scope::OwnChanges,
            ),
            (Channel::Command, None, "git status -sb", Scope::OwnChanges),
            (Channel::Command, None, "git diff pkg/a.go", file(0)),
            (
                Channel::Command,
                None,
                "git diff main -- pkg/a.go",
                Scope::Outside,
            ),
            (Channel::Command, None, "git show 0a1b2c3d", Scope::Outside),
            (Channel::Command, None, "git show HEAD", Scope::Unclear),
            (
                Channel::Command,
                None,
                "git show HEAD~1:pkg/a.go",
                Scope::Outside,
            ),
            (
                Channel::Command,
                None,
                "git show v1.2.3:pkg/a.go",
                Scope::Outside,
            ),
            (Channel::Command, None, "git log -p -3", Scope::Outside),
            (
                Channel::Command,
                None,
                "git log --oneline -3",
                Scope::Unclear,
            ),
            (Channel::Command, None, "gh pr diff 308", Scope::Outside),
            (
                Channel::Command,
                None,
                "curl -sL https://example.org/x.patch",
                Scope::Outside,
            ),
            (Channel::Command, None, "/usr/bin/env cat pkg/a.go", file(0)),
            (Channel::Command, None, "go test ./...", Scope::Unclear),
            (
                Channel::ToolCall,
                Some("Read"),
                r#"{"file_path":"/w/run/pkg/a.go"}"#,
                file(0),
            ),
            (
                Channel::ToolCall,
                Some("Read"),
                r#"{"file_path":"/w/other/pkg/a.go"}"#,
                Scope::Outside,
            ),
            (
                Channel::ToolCall,
                Some("Task"),
                "look at pkg/a.go",
                Scope::Report,
            ),
            (Channel::Edit, Some("Edit"), "x", Scope::OwnChanges),
            (Channel::Web, None, "pkg docs", Scope::Outside),
        ] {
            let got = scope(&call(channel, tool, text), &paths(), Some("/w/run"));
            assert_eq!(got, want, "{text}");
        }
    }
}
