//! Paths as traces write them, matched with the paths of the patch and the GT.
//!
//! A trace was recorded elsewhere: it has absolute paths below a directory that does not exist here,
//! paths relative to a working directory, Windows separators. What is known are paths relative to the
//! run. An absolute path belongs to the longest known path that it ends with; the part before it is
//! then the root of the run, and tells whether other absolute paths lie inside or outside.

use std::collections::HashMap;

/// Number of a known path.
pub(super) type PathId = u32;

/// More roots than that are not remembered: a run has one, rarely two (host and container).
const MAX_ROOTS: usize = 8;

/// A base name that more paths share (`__init__.py`) names none of them.
const MAX_NAMESAKES: usize = 16;

/// Where a path of a trace lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Place {
    /// A file of the GT or the patch.
    Known(PathId),
    /// Another file of the work tree, relative where that can be told.
    Tree(String),
    /// Not in the work tree.
    Outside,
}

/// The known paths and the roots seen so far.
#[derive(Debug, Default)]
pub(super) struct Paths {
    known: Vec<String>,
    by_path: HashMap<String, PathId>,
    by_name: HashMap<String, Vec<PathId>>,
    roots: Vec<String>,
}

impl Paths {
    /// Adds a path relative to the run, or finds it.
    pub(super) fn add(&mut self, path: &str) -> PathId {
        let path = normalise(path);
        if let Some(id) = self.by_path.get(&path) {
            return *id;
        }
        let id = PathId::try_from(self.known.len()).unwrap_or(PathId::MAX);
        // A command is cut into words at blanks: a name with blanks is known by its last word.
        let name = base_name(&path);
        let word = name.rsplit(char::is_whitespace).next().unwrap_or(name);
        self.by_name.entry(word.to_owned()).or_default().push(id);
        self.by_path.insert(path.clone(), id);
        self.known.push(path);
        id
    }

    /// The number of a path relative to the run.
    pub(super) fn id(&self, path: &str) -> Option<PathId> {
        self.by_path.get(&normalise(path)).copied()
    }

    /// The path with a number.
    pub(super) fn get(&self, id: PathId) -> &str {
        self.known.get(id as usize).map_or("", String::as_str)
    }

    /// Known paths below a directory of the tree, with what stands behind it.
    pub(super) fn below<'a>(&'a self, dir: &'a str) -> impl Iterator<Item = (PathId, &'a str)> {
        (0..).zip(&self.known).filter_map(move |(id, path)| {
            let rest = match dir {
                "" => Some(path.as_str()),
                dir => path
                    .strip_prefix(dir)
                    .and_then(|rest| rest.strip_prefix('/')),
            };
            rest.map(|rest| (id, rest))
        })
    }

    /// Known paths whose base name is, or ends with the word; none when too many are.
    pub(super) fn named(&self, name: &str) -> &[PathId] {
        let ids = self.by_name.get(name).map_or(&[][..], Vec::as_slice);
        if ids.len() > MAX_NAMESAKES { &[] } else { ids }
    }

    /// Remembers the directory that an agent worked in as the root, if none is known yet: agents start
    /// in the root of the run.
    pub(super) fn start_in(&mut self, cwd: &str) {
        if self.roots.is_empty() && is_absolute(cwd) {
            self.add_root(&normalise(cwd));
        }
    }

    /// It is known where the tree lies.
    pub(super) fn is_placed(&self) -> bool {
        !self.roots.is_empty()
    }

    fn add_root(&mut self, root: &str) {
        let root = root.trim_end_matches('/');
        if !root.is_empty() && self.roots.len() < MAX_ROOTS && !self.roots.iter().any(|r| r == root)
        {
            self.roots.push(root.to_owned());
        }
    }

    /// Where a path that a call reads or names lies. Strict: an absolute path outside of the roots is
    /// outside, also when it ends like a known one.
    pub(super) fn place(&self, path: &str, cwd: Option<&str>) -> Place {
        let full = absolute(path, cwd);
        if full.starts_with('~') || full.starts_with('$') || full == ".." || full.starts_with("../")
        {
            return Place::Outside;
        }
        if !is_absolute(&full) {
            return self.relative(&full);
        }
        for root in &self.roots {
            match full.strip_prefix(root.as_str()) {
                Some("") => return Place::Tree(String::new()),
                Some(rest) if rest.starts_with('/') => {
                    return self.relative(rest.trim_start_matches('/'));
                }
                _ => {}
            }
        }
        if self.roots.is_empty() && self.longest_suffix(&full).is_some() {
            // It may be ours, or a copy elsewhere that is laid out the same.
            return Place::Tree(full);
        }
        Place::Outside
    }

    fn relative(&self, path: &str) -> Place {
        match self.by_path.get(path) {
            Some(id) => Place::Known(*id),
            None => Place::Tree(path.to_owned()),
        }
    }

    /// Where a path that an edit call wrote lies. Lenient: an edit by suffix counts, and teaches the
    /// root; a bare file name counts when only one known path ends with it.
    pub(super) fn edited(&mut self, path: &str, cwd: Option<&str>) -> Place {
        let strict = self.place(path, cwd);
        if matches!(strict, Place::Known(_)) {
            return strict;
        }
        let full = absolute(path, cwd);
        if is_absolute(&full) {
            let below_a_root = matches!(strict, Place::Tree(_)) && !self.roots.is_empty();
            if !below_a_root && self.learn(&full) {
                return self.place(&full, None);
            }
            return strict;
        }
        let mut ending = self
            .named(
                base_name(&full)
                    .rsplit(char::is_whitespace)
                    .next()
                    .unwrap_or_default(),
            )
            .iter()
            .filter(|id| self.get(**id).ends_with(&format!("/{full}")));
        match (ending.next(), ending.next()) {
            (Some(id), None) => Place::Known(*id),
            _ => strict,
        }
    }

    /// Takes what stands before a known path for a root.
    fn learn(&mut self, full: &str) -> bool {
        let Some((_, root)) = self.longest_suffix(full) else {
            return false;
        };
        let root = root.to_owned();
        self.add_root(&root);
        true
    }

    /// The longest known path that an absolute path ends with, and what stands before it.
    fn longest_suffix<'a>(&self, full: &'a str) -> Option<(PathId, &'a str)> {
        full.match_indices('/').find_map(|(at, _)| {
            let (before, rest) = full.split_at_checked(at)?;
            let id = self.by_path.get(rest.strip_prefix('/')?)?;
            Some((*id, before))
        })
    }
}

/// The part after the last separator.
pub(super) fn base_name(path: &str) -> &str {
    let from = path.bytes().rposition(|b| b == b'/').map_or(0, |at| at + 1);
    path.get(from..).unwrap_or(path)
}

fn is_absolute(path: &str) -> bool {
    let mut chars = path.chars();
    match (chars.next(), chars.next(), chars.next()) {
        (Some('/'), ..) => true,
        (Some(drive), Some(':'), Some('/')) => drive.is_ascii_alphabetic(),
        _ => false,
    }
}

/// The path joined to the working directory, without `.` and `..`.
fn absolute(path: &str, cwd: Option<&str>) -> String {
    let path = path.strip_prefix("file://").unwrap_or(path);
    // Where the agent works, spelled out.
    let here = ["$PWD/", "${PWD}/"]
        .iter()
        .find_map(|here| path.strip_prefix(here));
    let path = here.unwrap_or(path);
    let slashed = path.replace('\\', "/");
    match cwd {
        Some(cwd) if !is_absolute(&slashed) && !slashed.starts_with(['~', '$']) => {
            normalise(&format!("{cwd}/{slashed}"))
        }
        _ => normalise(&slashed),
    }
}

/// Forward slashes, no `.`, no empty parts, `..` resolved where there is something before it.
fn normalise(path: &str) -> String {
    let slashed = path.replace('\\', "/");
    let rooted = slashed.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in slashed.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            ".." if rooted => {}
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if rooted { format!("/{joined}") } else { joined }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn known() -> Paths {
        let mut paths = Paths::default();
        for path in [
            "pkg/a.go",
            "a.go",
            "cmd/pkg/a.go",
            "docs/read me.md",
            "src/lib/unique.rs",
        ] {
            paths.add(path);
        }
        paths
    }

    #[test]
    fn normalises() {
        for (from, to) in [
            ("./a//b/./c", "a/b/c"),
            ("a/../b", "b"),
            ("../x", "../x"),
            ("/../x", "/x"),
            ("C:\\run\\a.go", "C:/run/a.go"),
            ("", ""),
            ("/", "/"),
        ] {
            assert_eq!(normalise(from), to);
        }
    }

    #[test]
    fn an_edit_below_a_foreign_root_is_matched_by_its_longest_suffix() {
        let mut paths = known();
        let anywhere = "/home/u/run/pkg/a.go";
        assert_eq!(
            paths.place(anywhere, None),
            Place::Tree(anywhere.into()),
            "no root yet"
        );
        let edit = "/Users/someone/bench/experiment/RUN/cmd/pkg/a.go";
        assert_eq!(paths.edited(edit, None), Place::Known(2));
        // The root is known now: what lies below it is inside, the rest is not.
        let root = "/Users/someone/bench/experiment/RUN";
        assert_eq!(paths.place(&format!("{root}/a.go"), None), Place::Known(1));
        assert_eq!(
            paths.place(&format!("{root}/x/y.go"), None),
            Place::Tree("x/y.go".into())
        );
        assert_eq!(paths.place(root, None), Place::Tree(String::new()));
        assert_eq!(paths.place("/tmp/upstream/pkg/a.go", None), Place::Outside);
        assert_eq!(
            paths.place("/Users/someone/bench/experiment/RUN2/a.go", None),
            Place::Outside
        );
    }

    #[test]
    fn relative_paths_follow_the_working_directory() {
        let mut paths = known();
        paths.start_in("/srv/run");
        assert_eq!(paths.place("a.go", Some("/srv/run/pkg")), Place::Known(0));
        assert_eq!(
            paths.place("../a.go", Some("/srv/run/pkg")),
            Place::Known(1)
        );
        assert_eq!(
            paths.place("../../secret", Some("/srv/run/pkg")),
            Place::Outside
        );
        assert_eq!(paths.place("../secret", None), Place::Outside);
        assert_eq!(paths.place("~/notes", Some("/srv/run")), Place::Outside);
        assert_eq!(paths.place("$PWD/a.go", Some("/srv/run")), Place::Known(1));
        assert_eq!(paths.place("./pkg/a.go", None), Place::Known(0));
        assert_eq!(
            paths.place("up/pkg/a.go", Some("/srv/run")),
            Place::Tree("up/pkg/a.go".into())
        );
    }

    #[test]
    fn a_bare_name_is_matched_when_it_is_unique() {
        let mut paths = known();
        assert_eq!(paths.edited("unique.rs", None), Place::Known(4));
        assert_eq!(paths.edited("lib/unique.rs", None), Place::Known(4));
        assert_eq!(paths.edited("a.go", None), Place::Known(1));
        assert_eq!(
            paths.edited("pkg/other.go", None),
            Place::Tree("pkg/other.go".into())
        );
    }

    #[test]
    fn a_name_that_many_files_share_names_none() {
        let mut paths = Paths::default();
        for i in 0..MAX_NAMESAKES {
            paths.add(&format!("p{i}/__init__.py"));
        }
        assert_eq!(paths.named("__init__.py").len(), MAX_NAMESAKES);
        paths.add("q/__init__.py");
        assert!(paths.named("__init__.py").is_empty());
    }

    #[test]
    fn odd_paths() {
        let mut paths = known();
        for path in [
            "", "/", "..", "~", "\\", "C:", "a\0b", "////", "é/ü", "$HOME/x",
        ] {
            paths.edited(path, Some(""));
            paths.place(path, Some("/"));
            paths.place(path, None);
        }
        assert_eq!(paths.place("$HOME/x", None), Place::Outside);
    }
}
