//! Which GT lines already stood in the starter tree.
//!
//! A line that the repository held before the agent came proves nothing: it may have been moved,
//! or it is how everybody writes there. Starter trees have tens of thousands of files, GTs tens of
//! thousands of lines, so the tree is read once, in a stream, and only the lines in question are
//! looked up (`finder.rs`).
//!
//! A line counts as found when it equals a whole line of the starter, or the part of one before a
//! comment (`//`, `/*`, `#`, `--`, `<!--`).

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use super::finder::LineFinder;
use super::generated::FileSource;

/// Looks up lines in a starter tree.
pub trait Starter {
    /// Which of `queries` (comparison text, as made by
    /// [`squeeze`](super::normalise::squeeze)) stand anywhere in the tree.
    ///
    /// Unreadable parts never fail the look-up; they are named in [`StarterAnswer::notes`].
    fn known(&self, queries: &BTreeSet<String>) -> StarterAnswer;

    /// There is no tree: nothing need be asked, since nothing is ever found.
    fn is_absent(&self) -> bool {
        false
    }
}

/// What a look-up found and what it read.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StarterAnswer {
    /// The queries that stand in the tree.
    pub found: BTreeSet<String>,
    /// Text files read.
    pub files: u64,
    /// Bytes read.
    pub bytes: u64,
    /// What could not be read, for people.
    pub notes: Vec<String>,
}

/// No starter tree is at hand. The GT's own context and removed lines are still known.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoStarter;

impl Starter for NoStarter {
    fn is_absent(&self) -> bool {
        true
    }

    fn known(&self, _queries: &BTreeSet<String>) -> StarterAnswer {
        StarterAnswer {
            notes: vec![
                "no starter tree was read: only the GT's own context counts as known before".into(),
            ],
            ..StarterAnswer::default()
        }
    }
}

/// Files above this size are not read, and named.
pub const MAX_FILE_BYTES: u64 = 256 << 20;

/// How many unread files are named in a note; the others are counted.
const NAMED_FILES: usize = 5;

/// A plain directory. Links are not followed, `.git` is not entered, files are read in a stream.
#[derive(Debug, Clone)]
pub struct DirStarter {
    root: PathBuf,
    max_file_bytes: u64,
}

impl DirStarter {
    /// The tree under `root`.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            max_file_bytes: MAX_FILE_BYTES,
        }
    }

    /// Sets another limit than [`MAX_FILE_BYTES`].
    pub fn with_max_file_bytes(mut self, bytes: u64) -> Self {
        self.max_file_bytes = bytes;
        self
    }

    fn name(&self, path: &Path) -> String {
        path.strip_prefix(&self.root)
            .unwrap_or(path)
            .display()
            .to_string()
    }
}

impl Starter for DirStarter {
    fn known(&self, queries: &BTreeSet<String>) -> StarterAnswer {
        let mut finder = LineFinder::new(queries);
        let mut unread = BTreeSet::new();
        let walk = walkdir::WalkDir::new(&self.root)
            .follow_links(false)
            .into_iter()
            .filter_entry(|entry| entry.depth() == 0 || entry.file_name() != ".git");
        for entry in walk {
            if finder.is_done() {
                break;
            }
            let entry = match entry {
                Ok(entry) => entry,
                Err(error) => {
                    let path = error.path().unwrap_or(&self.root);
                    unread.insert(self.name(path));
                    continue;
                }
            };
            if !entry.file_type().is_file() {
                continue;
            }
            let small = entry
                .metadata()
                .is_ok_and(|meta| meta.len() <= self.max_file_bytes);
            let read = small
                && File::open(entry.path())
                    .map(|file| finder.read(file.take(self.max_file_bytes)))
                    .is_ok_and(|read| read.is_ok());
            if !read {
                unread.insert(self.name(entry.path()));
            }
        }
        answer(finder, &unread)
    }
}

/// Files handed over one by one, as from a git object store: calls its argument for each path and
/// content.
pub struct BlobStarter<F>(pub F)
where
    F: Fn(&mut dyn FnMut(&str, &[u8]));

impl<F> Starter for BlobStarter<F>
where
    F: Fn(&mut dyn FnMut(&str, &[u8])),
{
    fn known(&self, queries: &BTreeSet<String>) -> StarterAnswer {
        let mut finder = LineFinder::new(queries);
        let mut unread = BTreeSet::new();
        (self.0)(&mut |path, bytes| {
            if finder.read(bytes).is_err() {
                unread.insert(path.to_owned());
            }
        });
        answer(finder, &unread)
    }
}

/// The finder's answer with the names of the files that were not read.
fn answer(finder: LineFinder<'_>, unread: &BTreeSet<String>) -> StarterAnswer {
    let mut answer = finder.answer();
    if !unread.is_empty() {
        let named: Vec<&str> = unread
            .iter()
            .map(String::as_str)
            .take(NAMED_FILES)
            .collect();
        answer.notes.push(format!(
            "{} of the starter tree could not be read or are above the size limit: {}{}",
            if unread.len() == 1 {
                "1 file".into()
            } else {
                format!("{} files", unread.len())
            },
            named.join(", "),
            if unread.len() > named.len() {
                ", …"
            } else {
                ""
            },
        ));
    }
    answer
}

impl FileSource for DirStarter {
    /// Reads only regular files inside the tree: no links, no `..`.
    fn head(&self, path: &str, limit: usize) -> Option<Vec<u8>> {
        let mut place = self.root.clone();
        let mut is_file = false;
        for part in Path::new(path).components() {
            let Component::Normal(part) = part else {
                return None;
            };
            place.push(part);
            let kind = place.symlink_metadata().ok()?.file_type();
            if kind.is_symlink() {
                return None;
            }
            is_file = kind.is_file();
        }
        if !is_file {
            return None;
        }
        let mut head = Vec::new();
        let file = File::open(place).ok()?;
        file.take(limit as u64).read_to_end(&mut head).ok()?;
        Some(head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn set(lines: &[&str]) -> BTreeSet<String> {
        lines.iter().map(|line| (*line).to_owned()).collect()
    }

    #[test]
    fn reads_a_directory_without_git_links_and_huge_files() {
        let dir = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        let root = dir.path();
        fs::create_dir_all(root.join("src/.git")).unwrap();
        fs::create_dir_all(root.join(".git")).unwrap();
        fs::write(root.join("src/a.c"), "one line here;\n").unwrap();
        fs::write(root.join(".git/b"), "two line here;\n").unwrap();
        fs::write(root.join("src/.git/c"), "three line here;\n").unwrap();
        fs::write(
            root.join("big"),
            format!("{}\nfour line here;\n", "x".repeat(5_000)),
        )
        .unwrap();
        fs::write(outside.path().join("d"), "five line here;\n").unwrap();
        #[cfg(unix)]
        std::os::unix::fs::symlink(outside.path(), root.join("link")).unwrap();
        let queries = set(&[
            "onelinehere;",
            "twolinehere;",
            "threelinehere;",
            "fourlinehere;",
            "fivelinehere;",
        ]);
        let answer = DirStarter::new(root)
            .with_max_file_bytes(4_096)
            .known(&queries);
        assert_eq!(answer.found, set(&["onelinehere;"]));
        assert_eq!(answer.files, 1);
        assert_eq!(answer.notes.len(), 1);
        assert!(answer.notes[0].contains("big"), "{:?}", answer.notes);
        let missing = DirStarter::new(root.join("none")).known(&queries);
        assert!(missing.found.is_empty() && missing.notes.len() == 1);
    }

    #[test]
    fn heads_come_from_inside_the_tree() {
        let dir = tempfile::tempdir().unwrap();
        let tree = dir.path().join("tree");
        fs::create_dir_all(tree.join("sub")).unwrap();
        fs::write(tree.join("sub/a"), "0123456789").unwrap();
        fs::write(dir.path().join("secret"), "secret").unwrap();
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("../secret", tree.join("link")).unwrap();
            std::os::unix::fs::symlink("..", tree.join("up")).unwrap();
        }
        let starter = DirStarter::new(&tree);
        assert_eq!(starter.head("sub/a", 4).unwrap(), b"0123");
        for path in [
            "",
            "sub",
            "none",
            "link",
            "up/secret",
            "../secret",
            "/etc/passwd",
            "sub/../sub/a",
        ] {
            assert_eq!(starter.head(path, 4), None, "{path}");
        }
    }
}
