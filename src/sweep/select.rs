//! Which directories are runs: by walking a directory of experiments, or by a list of paths.
//!
//! A directory is walked to any depth. A run is what looks like one by its name or by what a harness
//! left in it; what lies inside a run is the agent's and is not searched. Links are not followed,
//! since an agent could have planted one beside its run: whoever means them names them in a list.
//!
//! A list may come from another machine: a path that does not exist here is looked for by its last
//! part, with or without the `-INVALID` that the benchmark adds later. What cannot be found or read is
//! an entry with its reason, so that nothing goes missing in silence.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::experiment::guarded;
use crate::experiment::layout;
use crate::experiment::wording::{show, show_path};
use crate::{Error, Result};

/// How the error of a run that is nowhere begins.
pub(super) const NOT_FOUND: &str = "not found";

/// Largest list that is read, in bytes.
const MAX_LIST: u64 = 64 << 20;

/// Directories below the one that was named in which runs are searched. Deeper ones are an entry
/// with an error, not passed over.
const MAX_DEPTH: usize = 32;

/// Names that hold the benchmark's own things, never runs.
const NOT_SEARCHED: &[&str] = &["base_repo", "node_modules"];

/// A directory to audit, or the reason why it cannot be.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Found {
    /// The directory; for one that was not found, the path as written.
    pub path: PathBuf,
    /// Why it cannot be audited, in words.
    pub problem: Option<String>,
}

/// What the targets of a sweep hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    /// The runs, sorted by path, each once.
    pub found: Vec<Found>,
    /// What a person should know, in words.
    pub notes: Vec<String>,
}

/// Finds the runs of all targets. A target is a directory of experiments, a run, or a list. `root` is
/// where runs of a list are looked for, in addition to the usual places.
///
/// # Errors
/// [`Error::InputMissing`] when a target or `root` is missing or may not be read, [`Error::BadData`]
/// for a list that is no text, and when no run was found at all.
pub fn select(targets: &[PathBuf], root: Option<&Path>) -> Result<Selection> {
    let mut walk = Walk::default();
    let mut lists = Vec::new();
    for target in targets {
        let fix = "name a directory of experiments, or a file with one run a line";
        let meta = fs::metadata(target).map_err(|e| guarded::unreadable(target, &e, fix))?;
        if meta.is_dir() {
            // Named by the user: a link is followed, and a closed directory is their mistake.
            fs::read_dir(target).map_err(|e| guarded::unreadable(target, &e, fix))?;
            walk.search(target);
        } else {
            lists.push(target);
        }
    }
    for list in lists {
        let text = guarded::read_named_text(list, MAX_LIST, "check the path of the list")?;
        let finder = ByName::new(list, root)?;
        for line in text.lines() {
            let line = line.trim();
            if !line.is_empty() && !line.starts_with('#') {
                walk.found.push(finder.find(line, list));
            }
        }
    }
    let selection = walk.finish();
    if selection.found.is_empty() {
        return Err(Error::BadData {
            path: targets.first().cloned().unwrap_or_default(),
            line: None,
            what: "holds no runs".to_owned(),
            fix:
                "name a directory whose folders are runs, such as T34-agent-long-2026-04-14, or a \
                  file with the path of one run a line"
                    .to_owned(),
        });
    }
    Ok(selection)
}

#[derive(Default)]
struct Walk {
    found: Vec<Found>,
    links: u64,
    first_link: Option<PathBuf>,
}

impl Walk {
    /// Searches a directory, which may itself be a run.
    fn search(&mut self, top: &Path) {
        let mut open = vec![(top.to_owned(), 0)];
        while let Some((dir, depth)) = open.pop() {
            if layout::is_run_like(&dir) {
                self.found.push(Found {
                    path: dir,
                    problem: None,
                });
            } else if depth >= MAX_DEPTH {
                let problem = format!("deeper than {MAX_DEPTH} directories; name it by itself");
                self.broken(dir, problem);
            } else {
                match self.children(&dir) {
                    Ok(children) => open.extend(children.into_iter().map(|c| (c, depth + 1))),
                    Err(e) => {
                        let help = guarded::unlock_command(&dir);
                        let problem = match e.kind() {
                            io::ErrorKind::PermissionDenied => format!(
                                "cannot be searched for runs: permission denied\n  to open it: {help}"
                            ),
                            _ => format!("cannot be searched for runs: {e}"),
                        };
                        self.broken(dir, problem);
                    }
                }
            }
        }
    }

    /// The directories in a directory that may be or hold runs.
    fn children(&mut self, dir: &Path) -> io::Result<Vec<PathBuf>> {
        let mut children = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let kind = entry.file_type()?;
            if kind.is_symlink() {
                let path = entry.path();
                if path.is_dir() {
                    self.links += 1;
                    self.first_link.get_or_insert(path);
                }
            } else if kind.is_dir() && !name.starts_with('.') && !NOT_SEARCHED.contains(&&*name) {
                children.push(entry.path());
            }
        }
        Ok(children)
    }

    fn broken(&mut self, path: PathBuf, problem: String) {
        self.found.push(Found {
            path,
            problem: Some(problem),
        });
    }

    /// Sorts, and drops what was named twice.
    fn finish(mut self) -> Selection {
        self.found.sort();
        let all = self.found.len();
        let mut seen = BTreeSet::new();
        self.found.retain(|found| {
            let real = fs::canonicalize(&found.path).unwrap_or_else(|_| found.path.clone());
            seen.insert(real)
        });
        let mut notes = Vec::new();
        let twice = all - self.found.len();
        if twice > 0 {
            notes.push(format!(
                "{twice} runs were named twice; each is audited once"
            ));
        }
        if let Some(first) = self.first_link {
            notes.push(format!(
                "{} links to directories were not followed (the first: {}); name them in a list to audit them",
                self.links,
                show_path(&first)
            ));
        }
        Selection {
            found: self.found,
            notes,
        }
    }
}

/// Looks up the runs of a list.
struct ByName {
    /// Directories whose children may be the runs.
    near: Vec<PathBuf>,
    /// All runs below `--root`, by name.
    below: BTreeMap<String, Vec<PathBuf>>,
}

impl ByName {
    fn new(list: &Path, root: Option<&Path>) -> Result<Self> {
        let beside = list.parent().unwrap_or(Path::new(""));
        let here = std::env::current_dir().unwrap_or_default();
        let starts = [beside.to_owned(), here.join(beside).join(".."), here];
        let mut near = Vec::new();
        for start in starts {
            near.push(start.join("experiment"));
            near.push(start.join("experiments"));
            near.push(start);
        }
        let mut below: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
        if let Some(root) = root {
            let fix = "check the directory given with --root";
            fs::read_dir(root).map_err(|e| guarded::unreadable(root, &e, fix))?;
            let mut walk = Walk::default();
            walk.search(root);
            for found in walk.finish().found {
                let name = base_name(&found.path.to_string_lossy()).to_owned();
                below.entry(name).or_default().push(found.path);
            }
        }
        Ok(Self { near, below })
    }

    fn find(&self, line: &str, list: &Path) -> Found {
        let written = Path::new(line);
        let beside = list.parent().unwrap_or(Path::new(""));
        let as_written = beside.join(written);
        if as_written.is_dir() {
            return Found {
                path: trimmed(&as_written),
                problem: None,
            };
        }
        let name = base_name(line);
        for name in [name.to_owned(), format!("{name}-INVALID")] {
            match self.below.get(&name).map(Vec::as_slice) {
                Some([one]) => {
                    return Found {
                        path: one.clone(),
                        problem: None,
                    };
                }
                Some([first, second, ..]) => {
                    return Found {
                        path: written.to_owned(),
                        problem: Some(format!(
                            "more than one run of that name: {}, {}",
                            show_path(first),
                            show_path(second)
                        )),
                    };
                }
                _ => {}
            }
            // A name such as `..` would lead somewhere else.
            let plain = !name.is_empty() && !matches!(name.as_str(), "." | "..");
            let near = self.near.iter().map(|dir| dir.join(&name));
            if let Some(path) = near.filter(|_| plain).find(|path| path.is_dir()) {
                return Found {
                    path,
                    problem: None,
                };
            }
        }
        Found {
            path: written.to_owned(),
            problem: Some(format!(
                "{NOT_FOUND}: neither the path nor a run named {} beside the list, in a folder `experiment` there, or below --root",
                show(name)
            )),
        }
    }
}

/// The last part of a path of any machine.
pub(crate) fn base_name(path: &str) -> &str {
    let path = path.trim_end_matches(['/', '\\']);
    path.rsplit(['/', '\\']).next().unwrap_or_default()
}

/// The path without trailing slashes and `.`.
fn trimmed(path: &Path) -> PathBuf {
    path.components().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(selection: &Selection) -> Vec<String> {
        let found = selection.found.iter();
        found
            .map(|f| base_name(&f.path.to_string_lossy()).to_owned())
            .collect()
    }

    fn dirs(root: &Path, paths: &[&str]) {
        for path in paths {
            fs::create_dir_all(root.join(path)).unwrap();
        }
    }

    #[test]
    fn walks_to_any_depth_and_never_into_a_run() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path();
        dirs(
            root,
            &[
                "T1-codex-long-20260101/T2-codex-long-20260101",
                "old/2025/deep/K3-A2-short-v2",
                "base_repo/T1/T9-codex-long",
                ".cache/T8-codex-long",
                "notes",
                "odd/sub",
            ],
        );
        fs::write(root.join("odd/claude_run.jsonl"), "{}").unwrap();
        let selection = select(&[root.to_owned()], None).unwrap();
        assert_eq!(
            names(&selection),
            ["T1-codex-long-20260101", "odd", "K3-A2-short-v2"]
        );
        let run = root.join("T1-codex-long-20260101");
        let twice = select(&[run.clone(), run.join(".")], None).unwrap();
        assert_eq!(twice.found.len(), 1);
        assert!(twice.notes[0].contains("named twice"));
        assert!(select(&[root.join("notes")], None).is_err());
        assert!(select(&[root.join("nowhere")], None).is_err());
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed_unless_a_list_names_them() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("experiment");
        dirs(&root, &["T1-codex-long-20260101"]);
        dirs(dir.path(), &["elsewhere/T2-codex-long-20260101"]);
        let link = root.join("T2-codex-long-20260101");
        std::os::unix::fs::symlink("../elsewhere/T2-codex-long-20260101", &link).unwrap();
        std::os::unix::fs::symlink("..", root.join("up")).unwrap();
        let selection = select(std::slice::from_ref(&root), None).unwrap();
        assert_eq!(names(&selection), ["T1-codex-long-20260101"]);
        assert!(
            selection.notes[0].starts_with("2 links"),
            "{:?}",
            selection.notes
        );
        let list = dir.path().join("list.txt");
        fs::write(&list, "/gone/T2-codex-long-20260101/\n").unwrap();
        let named = select(&[list], None).unwrap();
        assert_eq!(named.found[0].problem, None);
    }

    #[test]
    fn a_list_of_another_machine() {
        let dir = tempfile::tempdir().unwrap();
        dirs(
            dir.path(),
            &[
                "experiment/T1-codex-long-20260101",
                "experiment/T2-cursor-composer2-long-2026-04-14-INVALID",
                "far/away/T3-codex-long-20260101",
                "far/b/T4-codex-long",
                "far/a/T4-codex-long",
            ],
        );
        let list = dir.path().join("runs.txt");
        fs::write(
            &list,
            "\u{feff}# all\r\n/home/x/experiment/T1-codex-long-20260101/\r\n\r\n\
             /home/x/experiment/T2-cursor-composer2-long-2026-04-14//\n\
             C:\\x\\T3-codex-long-20260101\\\n/x/T4-codex-long\n/x/T5-codex-long\n/x/..\n",
        )
        .unwrap();
        let far = dir.path().join("far");
        let selection = select(std::slice::from_ref(&list), Some(&far)).unwrap();
        let good: Vec<_> = selection
            .found
            .iter()
            .filter(|f| f.problem.is_none())
            .collect();
        assert_eq!(good.len(), 3, "{selection:?}");
        let bad: Vec<_> = selection
            .found
            .iter()
            .filter_map(|f| f.problem.as_deref())
            .collect();
        assert_eq!(bad.len(), 3, "{selection:?}");
        assert!(bad.iter().any(|p| p.contains("more than one")));
        assert!(bad.iter().any(|p| p.contains("`T5-codex-long`")));
    }
}
