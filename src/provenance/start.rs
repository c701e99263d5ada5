//! Looks into the tree as the environment left it: what a call reads before anything could have changed the tree
//! stood there from the start.
//!
//! It speaks for the agent, so it is narrow: plain readers only, file names as they are, and nothing between that
//! could bring lines in from elsewhere.

use std::collections::BTreeSet;

use super::cutting::path_words;
use super::paths::{PathId, Paths, Place, base_name};
use crate::trace::event::{CallRef, Channel};

/// Programs that print files and nothing else.
const PRINTERS: [&str; 6] = ["cat", "head", "tail", "sed", "nl", "more"];

/// Programs that may stand between them; what they print is no content of a file.
const BESIDE: [&str; 4] = ["echo", "pwd", "ls", "wc"];

/// The files of the work tree that a call prints.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Read {
    /// Known ones.
    pub(super) files: BTreeSet<PathId>,
    /// It prints nothing else. Otherwise other files of the tree are printed with them, in which a note may stand
    /// that somebody planted beside the code.
    pub(super) only: bool,
}

/// What a call reads of the work tree, when it reads known files of it and nothing that lies elsewhere.
pub(super) fn read(call: &CallRef, paths: &Paths, cwd: Option<&str>) -> Option<Read> {
    let mut out = Read {
        files: BTreeSet::new(),
        only: true,
    };
    if call.channel == Channel::Command {
        command(call.text.trim(), paths, cwd, &mut out)?;
    } else {
        let place = |word: &str| paths.place(word, cwd);
        let is_known = |word: &str| matches!(place(word), Place::Known(_));
        let mut words = path_words(&call.text).filter(|w| w.contains('/') || is_known(w));
        let Place::Known(id) = place(words.next()?) else {
            return None;
        };
        out.files.insert(id);
        if words.next().is_some() {
            return None;
        }
    }
    (!out.files.is_empty()).then_some(out)
}

/// Readers one after another, each with filters that name no file behind it; before them, a change to a directory
/// of the tree.
fn command(text: &str, paths: &Paths, cwd: Option<&str>, out: &mut Read) -> Option<()> {
    if text.contains(['$', '`', '[', '{', '<', '>', '\\', '(', '~']) {
        return None;
    }
    let text = text.replace("&&", ";").replace("||", ";");
    let mut dir = cwd.map(str::to_owned);
    for (number, part) in text.split([';', '\n']).enumerate() {
        let mut stages = part.split('|');
        let first: Vec<&str> = stages
            .next()
            .unwrap_or_default()
            .split_whitespace()
            .collect();
        match first.as_slice() {
            [] => continue,
            ["cd", to] if number == 0 => {
                let to = to.trim_matches(['\'', '"']);
                if to.contains(['*', '?', '&']) || paths.place(to, cwd) == Place::Outside {
                    return None;
                }
                dir = Some(match cwd {
                    Some(cwd) if !to.starts_with('/') => format!("{cwd}/{to}"),
                    _ => to.to_owned(),
                });
            }
            [program, ..] if BESIDE.contains(program) => {}
            [program, words @ ..] if PRINTERS.contains(&base_name(program)) => {
                for word in words.iter().filter(|word| !is_setting(word)) {
                    let word = word.trim_matches(['\'', '"']);
                    let known = matches!(paths.place(word, dir.as_deref()), Place::Known(_));
                    // A word of `sed` that is no file is a script, which may print any.
                    if base_name(program) == "sed" && !known && !word.contains(['*', '?']) {
                        return None;
                    }
                    file(word, paths, dir.as_deref(), out)?;
                }
            }
            _ => return None,
        }
        for stage in stages {
            let mut words = stage.split_whitespace();
            let filter = words
                .next()
                .is_some_and(|p| PRINTERS.contains(&p) || p == "wc");
            if !filter || !words.all(is_setting) {
                return None;
            }
        }
    }
    Some(())
}

/// An option, or a number of lines as in `head -n 40` and `sed -n '1,40p'`.
fn is_setting(word: &str) -> bool {
    let option = |c: char| c.is_ascii_alphanumeric() || "-+,".contains(c);
    // `sed -f script` does what the script says.
    word.starts_with(['-', '+']) && word.chars().all(option) && !word.starts_with("-f")
        || word
            .chars()
            .all(|c| c.is_ascii_digit() || "',\"p".contains(c))
}

/// One file that is printed, or those that a pattern names.
fn file(word: &str, paths: &Paths, dir: Option<&str>, out: &mut Read) -> Option<()> {
    if word.contains(['&', '\'', '"']) {
        return None;
    }
    if let Some(at) = word.find(['*', '?']) {
        out.only = false;
        let (before, pattern) = word.split_at_checked(at)?;
        let (folder, start) = before.rsplit_once('/').unwrap_or(("", before));
        let folder = match paths.place(if folder.is_empty() { "." } else { folder }, dir) {
            Place::Tree(folder) => folder,
            Place::Known(_) | Place::Outside => return None,
        };
        let pattern = format!("{start}{pattern}");
        let matching = paths
            .below(&folder)
            .filter(|(_, rest)| glob(&pattern, rest));
        out.files.extend(matching.map(|(id, _)| id));
        return Some(());
    }
    match paths.place(word, dir) {
        Place::Known(id) => {
            out.files.insert(id);
        }
        Place::Tree(_) => out.only = false,
        Place::Outside => return None,
    }
    Some(())
}

/// Whether a shell pattern of `*` and `?` fits a path; a `*` stands for no `/`.
fn glob(pattern: &str, path: &str) -> bool {
    let (pattern, path): (Vec<char>, Vec<char>) =
        (pattern.chars().collect(), path.chars().collect());
    let (mut p, mut t) = (0, 0);
    let mut star: Option<(usize, usize)> = None;
    while let Some(c) = path.get(t) {
        match pattern.get(p) {
            Some('*') => {
                star = Some((p, t));
                p += 1;
                continue;
            }
            Some(w) if w == c || *w == '?' && *c != '/' => {
                (p, t) = (p + 1, t + 1);
                continue;
            }
            _ => {}
        }
        match star {
            // The last star takes one more character.
            Some((at, from)) if path.get(from) != Some(&'/') => {
                star = Some((at, from + 1));
                (p, t) = (at + 1, from + 1);
            }
            _ => return false,
        }
    }
    pattern.iter().skip(p).all(|c| *c == '*')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::EventId;

    #[test]
    #[rustfmt::skip]
    fn reads_of_the_tree() {
        let mut paths = Paths::default();
        for path in ["pkg/a.go", "pkg/b.go", "pkg/sub/c.go"] {
            paths.add(path);
        }
        paths.start_in("/w/run");
        let only = |ids: &[PathId]| Some((ids.to_vec(), true));
        let among = |ids: &[PathId]| Some((ids.to_vec(), false));
        for (command, want) in [
            ("cat pkg/a.go", only(&[0])),
            ("cat -n pkg/a.go /w/run/pkg/b.go", only(&[0, 1])),
            ("head -n 400 pkg/a.go pkg/b.go", only(&[0, 1])),
            ("sed -n p pkg/a.go; sed -n '1,40p' pkg/b.go", only(&[0, 1])),
            ("cd pkg && cat a.go b.go", only(&[0, 1])),
            ("cd /w/run && ls pkg && echo --- && cat pkg/a.go | head -50", only(&[0])),
            ("cat pkg/*", among(&[0, 1])),
            ("cat pkg/*.go pkg/sub/?.go", among(&[0, 1, 2])),
            ("cd pkg && head -n 99 *.go", among(&[0, 1])),
            ("cat pkg/a.go pkg/note.md", among(&[0])),
            ("cat pkg/note.md", None),
            ("cat pkg/x*", None),
            ("cat /mnt/ref/*.go pkg/a.go", None),
            ("cat pkg/a.go /mnt/ref/a.go", None),
            ("cat pkg/a.go; cat /mnt/ref/a.go", None),
            ("cd /mnt/ref && cat pkg/a.go", None),
            ("cat pkg/a.go && cd /mnt/ref && cat pkg/a.go", None),
            ("cat ../ref/pkg/a.go pkg/a.go", None),
            ("cat ~/pkg/a.go pkg/a.go", None),
            ("cat pkg/a.go < /mnt/ref", None),
            ("cat pkg/a.go | sed -n -f/mnt/x", None),
            ("sed -n '1r/mnt/ref' pkg/a.go", None),
            ("cat pkg/a.go | cat - /mnt/ref", None),
            ("cat pkg/a.go $(cp /mnt/a pkg/a.go)", None),
            ("cp /mnt/a pkg/a.go; cat pkg/a.go", None),
            ("cat pkg/a.go & cat pkg/b.go", None),
            ("curl -so pkg/a.go https://example.org/a; cat pkg/a.go pkg/b.go", None),
            ("", None),
        ] {
            let call = CallRef {
                event: EventId::default(),
                channel: Channel::Command,
                tool: None,
                text: command.to_owned(),
                line: 1,
            };
            let got = read(&call, &paths, Some("/w/run"));
            let got = got.map(|r| (r.files.into_iter().collect::<Vec<_>>(), r.only));
            assert_eq!(got, want, "{command}");
        }
    }

    #[test]
    fn patterns() {
        for (pattern, path, want) in [
            ("*", "a.go", true),
            ("*", "sub/a.go", false),
            ("*.go", "a.go", true),
            ("*.go", "a.py", false),
            ("*/*.go", "sub/a.go", true),
            ("a?go", "a.go", true),
            ("?", "/", false),
            ("a*b*c", "aXbXbc", true),
            ("", "", true),
        ] {
            assert_eq!(glob(pattern, path), want, "{pattern} {path}");
        }
        assert!(!glob(&"*a".repeat(500), &"a".repeat(499)));
    }
}
