//! Follows what a call saved: fetched to a file, read or applied later.
//!
//! Fetching the reference and reading it are often two calls. A rule whose calls bring reference
//! content (`carries`) leaves a note of the files or directories it was saved to; a later call that
//! shows, copies or applies one of them is matched by `flow` patterns.

use std::cell::Cell;
use std::collections::BTreeMap;

use globset::{GlobBuilder, GlobMatcher};

use super::call::Io;
use super::finding::Cause;
use super::rule::{Access, FlowKind};
use crate::trace::event::EventId;

/// Saved paths that are remembered. When there are more, the oldest names in alphabetical order
/// stay and a note says so.
pub const MAX_SAVED: usize = 4_096;

/// A saved path.
#[derive(Debug, Clone)]
pub struct Saved {
    /// Id of the rule whose call saved it.
    pub rule: String,
    /// Cause of that rule.
    pub cause: Option<Cause>,
    /// The call.
    pub event: EventId,
}

/// A use of a saved path.
#[derive(Debug, Clone)]
pub struct Use {
    /// How it is used.
    pub kind: FlowKind,
    /// What saved it.
    pub saved: Saved,
}

/// Longest file pattern that is tried on saved paths, and longest path that is compared with what `split` and
/// archives made, in bytes.
const MAX_GLOB: usize = 4_096;

/// Saved paths that patterns are tried on in one run: each of a thousand patterns on all of them.
const MAX_TRIES: usize = MAX_SAVED * 1_000;

/// Paths that hold reference content.
#[derive(Debug, Clone, Default)]
pub struct Stash {
    paths: BTreeMap<String, Saved>,
    /// Directories that hold other things, too: only what is named after the repository counts.
    shared: BTreeMap<String, Saved>,
    /// Directories that an archive was unpacked in: what is named as archives of the repository are.
    unpacked: BTreeMap<String, Saved>,
    /// Beginnings of names of files: what `split` makes.
    beginnings: BTreeMap<String, Saved>,
    /// Name of the repository, lower case.
    name: Option<String>,
    /// More paths were saved than are remembered.
    overflow: bool,
    /// Saved paths that patterns were tried on so far.
    tries: Cell<usize>,
}

impl Stash {
    /// An empty stash. `name` is the name of the task's repository.
    pub fn new(name: Option<&str>) -> Self {
        Self {
            name: name.map(str::to_lowercase),
            ..Self::default()
        }
    }

    /// Remembers a path. `directory/*` is what an archive holds, unpacked in that directory; `name*` all
    /// files whose names begin so.
    pub fn add(&mut self, path: &str, saved: Saved) {
        let path = path.trim_end_matches('/');
        let (places, path) = match path.strip_suffix('*') {
            Some("") => (&mut self.unpacked, ""),
            Some(head) => match head.strip_suffix('/') {
                Some(directory) => (&mut self.unpacked, directory),
                None => (&mut self.beginnings, head),
            },
            None if is_shared(path) => (&mut self.shared, path),
            None => (&mut self.paths, path),
        };
        if places.len() >= MAX_SAVED {
            self.overflow = true;
            return;
        }
        places.entry(path.to_owned()).or_insert(saved);
    }

    /// Forgets what a call saved: it turned out that it got nothing.
    pub fn forget(&mut self, event: EventId) {
        for places in self.all_mut() {
            places.retain(|_, saved| saved.event != event);
        }
    }

    /// True if some saved path was not remembered or not compared: there were too many.
    pub fn overflowed(&self) -> bool {
        self.overflow || self.tries.get() >= MAX_TRIES
    }

    /// Forgets a file: a call wrote something else over it. What the same call saved there is what it wrote:
    /// `echo "$(curl …)" > file`.
    pub fn overwritten(&mut self, path: &str, by: EventId) {
        if self.paths.get(path).is_some_and(|saved| saved.event != by) {
            self.paths.remove(path);
        }
    }

    fn all_mut(&mut self) -> [&mut BTreeMap<String, Saved>; 4] {
        [
            &mut self.paths,
            &mut self.shared,
            &mut self.unpacked,
            &mut self.beginnings,
        ]
    }

    fn is_empty(&self) -> bool {
        [&self.paths, &self.shared, &self.unpacked, &self.beginnings]
            .iter()
            .all(|places| places.is_empty())
    }

    /// What saved the path, or a directory above it.
    pub fn find(&self, path: &str) -> Option<&Saved> {
        if self.is_empty() {
            return None;
        }
        let near = self.find_shared(path).or_else(|| self.find_beginning(path));
        if let Some(saved) = near.or_else(|| self.find_glob(path)) {
            return Some(saved);
        }
        let mut head = path.trim_end_matches(['*', '/']);
        loop {
            if let Some(saved) = self.paths.get(head) {
                return Some(saved);
            }
            head = head.rsplit_once('/').map(|(head, _)| head)?;
            if head.is_empty() {
                return None;
            }
        }
    }

    fn find_shared(&self, path: &str) -> Option<&Saved> {
        let name = self.name.as_deref().filter(|_| path.len() <= MAX_GLOB)?;
        if self.shared.is_empty() && self.unpacked.is_empty() {
            return None;
        }
        // `widget-main`, `widget-4.2.0`, `acme-widget-9ac4e17`: `widget` alone is the package itself.
        let archived = format!("{name}-");
        let roots = path.match_indices('/').map(|(at, _)| at);
        std::iter::once(0).chain(roots).find_map(|at| {
            let (root, below) = path.split_at_checked(at)?;
            let first = below.trim_start_matches('/').split('/').next()?;
            let first = first.to_lowercase();
            let in_shared = || self.shared.get(root).filter(|_| first.contains(name));
            let unpacked = || {
                self.unpacked
                    .get(root)
                    .filter(|_| first.contains(&archived))
            };
            in_shared().or_else(unpacked)
        })
    }

    /// A file or directory that begins as those that were saved, or a pattern for such.
    fn find_beginning(&self, path: &str) -> Option<&Saved> {
        if self.beginnings.is_empty() || path.len() > MAX_GLOB {
            return None;
        }
        let pattern = path.find(MAGIC);
        let head = path.get(..pattern.unwrap_or(path.len()))?;
        let ends = head.char_indices().map(|(at, c)| at + c.len_utf8());
        let known = |end: usize| self.beginnings.get(head.get(..end)?);
        if let Some(saved) = ends.rev().find_map(known) {
            return Some(saved);
        }
        pattern?;
        // `/tmp/*`, where what was saved begins with `/tmp/part_`.
        let mut longer = self.beginnings.range(head.to_owned()..);
        let (beginning, saved) = longer.next()?;
        let rest = beginning.strip_prefix(head)?;
        (!rest.contains('/')).then_some(saved)
    }

    /// A saved path, or a directory above, that a pattern (`/tmp/*.patch`) fits.
    fn find_glob(&self, path: &str) -> Option<&Saved> {
        let first = path.find(MAGIC)?;
        if path.len() > MAX_GLOB {
            return None;
        }
        if self.overflowed() {
            return None;
        }
        let parts = |text: &str| text.split('/').count();
        // As many parts of the pattern as the saved path has.
        let mut made: BTreeMap<usize, Option<GlobMatcher>> = BTreeMap::new();
        let fixed = path.get(..first)?;
        let fixed = fixed.get(..fixed.rfind('/').map_or(0, |at| at + 1))?;
        let below = self.paths.range(fixed.to_owned()..);
        below
            .take_while(|(saved, _)| saved.starts_with(fixed))
            .find_map(|(saved_path, saved)| {
                self.tries.set(self.tries.get() + 1);
                let count = parts(saved_path);
                let glob = made.entry(count).or_insert_with(|| {
                    let head: Vec<&str> = path.split('/').take(count).collect();
                    let head = (head.len() == count).then(|| head.join("/"))?;
                    let mut builder = GlobBuilder::new(&head);
                    let built = builder.literal_separator(true).build().ok()?;
                    Some(built.compile_matcher())
                });
                let fits = glob.as_ref().is_some_and(|g| g.is_match(saved_path));
                fits.then_some(saved)
            })
    }

    /// How a call uses saved paths, without what itself saves.
    pub fn uses(&self, io: &Io, place: &Place) -> Vec<Use> {
        if self.is_empty() {
            return Vec::new();
        }
        let target = io.saves.first();
        let into_tree =
            target.is_some_and(|t| place.in_tree(t) && !t.ends_with('*') && !is_container(t));
        io.files
            .iter()
            .filter(|file| file.access == Access::Read)
            .filter_map(|file| {
                let path = place.resolve(&file.path);
                // Prose and data that came along are no reference, whatever a file of its own is called.
                let itself = || self.paths.contains_key(&path);
                let saved = self.find(&path)?;
                if is_data(&file.path) && !itself() {
                    return None;
                }
                let kind = if io.applies {
                    FlowKind::Apply
                } else if io.prints {
                    FlowKind::Read
                } else if into_tree {
                    FlowKind::Copy
                } else {
                    return None;
                };
                Some(Use {
                    kind,
                    saved: saved.clone(),
                })
            })
            .collect()
    }

    /// Passes the mark on when saved content is copied elsewhere outside the work tree. True if it was.
    pub fn spread(&mut self, io: &Io, place: &Place) -> bool {
        if io.saves.is_empty() || self.is_empty() {
            return false;
        }
        let from = io
            .files
            .iter()
            .filter(|file| file.access == Access::Read)
            .find_map(|file| self.find(&place.resolve(&file.path)).cloned());
        let Some(saved) = from else { return false };
        for path in &io.saves {
            self.add(&place.resolve(path), saved.clone());
        }
        true
    }
}

/// Characters that make a name a pattern.
const MAGIC: &[char] = &['*', '?', '['];

/// True for directories that everything is put into.
fn is_shared(path: &str) -> bool {
    matches!(
        path,
        "" | "."
            | "/tmp"
            | "/var/tmp"
            | "/dev/shm"
            | "~"
            | "$HOME"
            | "/root"
            | "/home"
            | "/opt"
            | "/usr/src"
            | ".."
            | "/mnt"
            | "/workspace"
            | "/work"
    )
}

/// Where a call runs.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place<'p> {
    /// Directory that a `cd` in the command moved to.
    pub moved: Option<&'p str>,
    /// Working directory of the event.
    pub cwd: Option<&'p str>,
}

impl Place<'_> {
    /// The path with the working directory before it, as far as known, and without `.` and `..`.
    pub fn resolve(&self, path: &str) -> String {
        let rooted = path.starts_with(['/', '~', '$']) || path.contains(":\\");
        let mut joined = String::new();
        if !rooted {
            for base in [self.cwd, self.moved].into_iter().flatten() {
                if base.starts_with(['/', '~']) {
                    joined.clear();
                }
                joined.push_str(base.trim_end_matches('/'));
                joined.push('/');
            }
        }
        joined.push_str(path);
        tidy(&joined)
    }

    /// True if the path is more likely inside the work tree than not.
    pub fn in_tree(&self, path: &str) -> bool {
        let path = self.resolve(path);
        if let Some(cwd) = self.cwd
            && path.starts_with(cwd.trim_end_matches('/'))
        {
            return true;
        }
        let outside = [
            "/tmp",
            "/var/tmp",
            "/private/tmp",
            "/dev",
            "/proc",
            "/root",
            "~",
            "$HOME",
            "$TMP",
            "/opt",
            "/usr",
            "/mnt",
            "/var",
            "..",
            "/etc",
            "${TMP",
            "/home",
            "/Users",
        ];
        !outside.iter().any(|o| {
            path.strip_prefix(o)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/') || o.contains('$'))
        })
    }
}

/// A path without `.`, `..` and doubled slashes, as text: links are not followed.
fn tidy(path: &str) -> String {
    let rooted = path.starts_with('/');
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/') {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|p| *p != "..") => {
                parts.pop();
            }
            _ => parts.push(part),
        }
    }
    let joined = parts.join("/");
    if rooted { format!("/{joined}") } else { joined }
}

/// True for files that hold prose or data: they are no reference code.
pub fn is_data(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_ascii_lowercase();
    let extension = name.rsplit_once('.').map_or("", |(_, e)| e);
    let prose = matches!(
        extension,
        "md" | "rst"
            | "txt"
            | "adoc"
            | "log"
            | "csv"
            | "tsv"
            | "json"
            | "jsonl"
            | "yaml"
            | "yml"
            | "toml"
            | "ini"
            | "cfg"
            | "lock"
            | "png"
            | "jpg"
            | "jpeg"
            | "gif"
            | "svg"
            | "ico"
            | "pdf"
            | "xml"
            | "bin"
            | "dat"
            | "npy"
            | "parquet"
    );
    let named = [
        "readme",
        "changelog",
        "changes",
        "license",
        "copying",
        "authors",
        "news",
    ];
    prose || named.iter().any(|n| name.starts_with(n))
}

/// True for archives and patches: they hold code and are none.
pub fn is_container(path: &str) -> bool {
    let extension = path.rsplit_once('.').map_or("", |(_, e)| e);
    matches!(
        extension,
        "patch"
            | "diff"
            | "tar"
            | "gz"
            | "tgz"
            | "xz"
            | "bz2"
            | "zst"
            | "zip"
            | "whl"
            | "jar"
            | "crate"
            | "gem"
            | "7z"
            | "deb"
            | "rpm"
            | "bundle"
            | "html"
            | "htm"
            | "out"
            | "orig"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::call::tests::invocation;

    fn stash() -> Stash {
        let mut stash = Stash::default();
        let saved = Saved {
            rule: "a.b".into(),
            cause: Some(Cause::UpstreamFetch),
            event: EventId::default(),
        };
        stash.add("/tmp/w", saved);
        stash
    }

    fn kinds(command: &str, place: Place) -> Vec<FlowKind> {
        let io = Io::of(&invocation(command));
        stash()
            .uses(&io, &place)
            .into_iter()
            .map(|u| u.kind)
            .collect()
    }

    #[test]
    fn saved_files_are_followed() {
        let here = Place::default();
        let there = Place {
            moved: Some("/tmp/w"),
            cwd: None,
        };
        for (command, place, expected) in [
            ("cat /tmp/w/src/a.py", here, vec![FlowKind::Read]),
            ("cat /tmp/./x/../w/src/a.py", here, vec![FlowKind::Read]),
            ("cat src/a.py", there, vec![FlowKind::Read]),
            ("cat /tmp/wide/a.py", here, vec![]),
            ("cat /tmp/w/README.md", here, vec![]),
            ("cp /tmp/w/tests/data/big.json tests/data/", here, vec![]),
            ("cp /tmp/w/a.py src/", here, vec![FlowKind::Copy]),
            ("cp /tmp/w/a.py /tmp/x/", here, vec![]),
            ("git apply /tmp/w/x.patch", here, vec![FlowKind::Apply]),
            ("ls /tmp/w", here, vec![]),
            ("diff -ru src /tmp/w/src", here, vec![FlowKind::Read]),
        ] {
            assert_eq!(kinds(command, place), expected, "{command}");
        }
    }

    #[test]
    fn saved_under_other_names() {
        let saved = Saved {
            rule: "a.b".into(),
            cause: None,
            event: EventId::default(),
        };
        let mut stash = Stash::new(Some("Widget"));
        for path in [
            "/tmp/one/x.patch",
            "/srv/p_*",
            "/opt/d/*",
            "/tmp",
            "lone-1.2*",
        ] {
            stash.add(path, saved.clone());
        }
        for (path, found) in [
            ("/tmp/one/*.patch", true),
            ("/tmp/*/x.patch", true),
            ("/tmp/one/?.patch", true),
            ("/tmp/one/[a-x].patch", true),
            ("/tmp/one/x.patch/*", true),
            ("/tmp/*.patch", false),
            ("/tmp/one/*.log", false),
            ("/tmp/one/[", false),
            ("/srv/p_aa", true),
            ("/srv/p_*", true),
            ("/srv/*", true),
            ("/srv/q_aa", false),
            ("/srv/q*", false),
            ("/opt/d/widget-main/a.py", true),
            ("/opt/d/acme-Widget-9ac/a.py", true),
            ("/opt/d/widget/a.py", false),
            ("/opt/widget-main/a.py", false),
            ("/tmp/widget/a.py", true),
            ("/tmp/gadget/a.py", false),
            ("lone-1.2.3/a.py", true),
            ("lone-2/a.py", false),
        ] {
            assert_eq!(stash.find(path).is_some(), found, "{path}");
        }
        assert!(!stash.overflowed());
        stash.forget(EventId::default());
        assert!(stash.is_empty());
    }

    proptest::proptest! {
        #[test]
        fn no_path_panics(paths in proptest::collection::vec("[a-c*?\\[\\]{}/.\\\\é]{0,12}", 1..6)) {
            let mut stash = Stash::new(Some("a"));
            for path in &paths {
                let saved = Saved { rule: String::new(), cause: None, event: EventId::default() };
                stash.find(path);
                stash.add(path, saved);
                stash.find(&format!("{path}*"));
            }
        }
    }

    #[test]
    fn copies_outside_the_tree_carry_the_mark() {
        let mut stash = stash();
        stash.spread(
            &Io::of(&invocation("cp -r /tmp/w /tmp/x")),
            &Place::default(),
        );
        assert!(stash.find("/tmp/x/a.py").is_some());
        stash.forget(EventId::default());
        assert!(stash.find("/tmp/x/a.py").is_none());
    }

    #[test]
    fn what_lies_in_the_work_tree() {
        let known = Place {
            moved: None,
            cwd: Some("/home/a/run"),
        };
        assert!(known.in_tree("/home/a/run/src/x"));
        assert!(!known.in_tree("/home/a/other"));
        for (path, inside) in [
            ("src/x", true),
            ("../x", false),
            ("/tmp/x", false),
            ("/testbed/x", true),
            ("~/x", false),
        ] {
            assert_eq!(Place::default().in_tree(path), inside, "{path}");
        }
    }
}
