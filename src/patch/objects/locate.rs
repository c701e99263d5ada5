//! Finding the git directory and object folders of a repository without asking git, and refusing all that
//! leads out of it.

use std::collections::BTreeSet;
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use bstr::{BString, ByteSlice};

/// Most object folders (the own one and its alternates) of one repository.
const MAX_FOLDERS: usize = 32;

/// Largest `.git` file, `alternates` file or loose ref that is read.
const MAX_SMALL_FILE: u64 = 64 << 10;

/// Deepest folder that is listed below `refs` or `logs`.
const MAX_DEPTH: usize = 16;

/// The git directory of a run, shown to lie inside of it.
#[derive(Debug, Clone)]
pub struct GitDir {
    /// The run directory, without links in its own path.
    root: PathBuf,
    /// The git directory, below `root`.
    path: PathBuf,
}

impl GitDir {
    /// Looks for `.git` in `root`. `Ok(None)` when there is none; an error in words when it is refused.
    pub fn find(root: &Path) -> Result<Option<Self>, String> {
        let root = std::fs::canonicalize(root).map_err(|e| format!("{}: {e}", root.display()))?;
        let path = root.join(".git");
        let Ok(meta) = std::fs::symlink_metadata(&path) else {
            return Ok(None);
        };
        if meta.is_dir() {
            return Ok(Some(Self { root, path }));
        }
        if !meta.is_file() {
            return Err(format!("{} is a link; not followed", path.display()));
        }
        let text = read_small(&root, Path::new(".git"), MAX_SMALL_FILE)?;
        let target = text
            .strip_prefix(b"gitdir:")
            .map(|t| t.trim_ascii().to_path_lossy().into_owned())
            .ok_or_else(|| format!("{} is no git directory", path.display()))?;
        match inside(&root, &root, &target) {
            Some(path) if path.is_dir() => Ok(Some(Self { root, path })),
            _ => Err(format!(
                "{} points to {}, which is not in the run; not followed",
                path.display(),
                target.display()
            )),
        }
    }

    /// A file of the git directory, such as `HEAD`, at most `limit` bytes of it. An error in words when it
    /// is missing, no regular file, behind a link, or longer.
    pub(super) fn read(&self, name: &str, limit: u64) -> Result<BString, String> {
        read_small(&self.path, Path::new(name), limit)
    }

    /// True when the git directory holds a directory of this name, not behind a link.
    pub(super) fn has_dir(&self, name: &str) -> bool {
        plain_path(&self.path, Path::new(name)).is_ok_and(|p| p.is_dir())
    }

    /// The regular files below a folder of the git directory, by their names in it, sorted; at most `limit` are
    /// listed. No link is followed.
    pub(in crate::patch) fn files_below(&self, folder: &str, limit: usize) -> Vec<String> {
        let Ok(top) = plain_path(&self.path, Path::new(folder)) else {
            return Vec::new();
        };
        let walk = walkdir::WalkDir::new(top)
            .sort_by_file_name()
            .max_depth(MAX_DEPTH);
        let files = walk
            .into_iter()
            .flatten()
            .filter(|e| e.file_type().is_file());
        let names = files.filter_map(|e| {
            let name = e.path().strip_prefix(&self.path).ok()?;
            Some(name.to_str()?.replace('\\', "/"))
        });
        names.take(limit).collect()
    }

    /// The own object folder and its alternates, as far as they lie in the run. What is refused goes to
    /// `problems`.
    pub(super) fn object_folders(&self, problems: &mut Vec<String>) -> Vec<PathBuf> {
        let own = match plain_path(&self.path, Path::new("objects")) {
            Ok(own) if own.is_dir() => own,
            Ok(own) => {
                problems.push(format!("{}: no object folder", own.display()));
                return Vec::new();
            }
            Err(why) => {
                problems.push(why);
                return Vec::new();
            }
        };
        let mut found = vec![own.clone()];
        let mut known = BTreeSet::from([own]);
        let mut next = 0;
        while let Some(folder) = found.get(next).cloned() {
            next += 1;
            for named in alternates(&folder, problems) {
                match inside(&self.root, &folder, &named) {
                    Some(path) if found.len() < MAX_FOLDERS => {
                        if known.insert(path.clone()) {
                            found.push(path);
                        }
                    }
                    Some(_) => problems.push(format!("more than {MAX_FOLDERS} object folders")),
                    None => problems.push(format!(
                        "{}: the alternate {} is not in the run; not followed",
                        folder.display(),
                        named.display()
                    )),
                }
            }
        }
        found
    }
}

/// The folders named in `info/alternates`.
fn alternates(folder: &Path, problems: &mut Vec<String>) -> Vec<PathBuf> {
    let name = Path::new("info/alternates");
    if std::fs::symlink_metadata(folder.join(name)).is_err() {
        return Vec::new();
    }
    let text = match read_small(folder, name, MAX_SMALL_FILE) {
        Ok(text) => text,
        Err(why) => {
            problems.push(why);
            return Vec::new();
        }
    };
    let lines = text
        .lines()
        .filter(|l| !l.is_empty() && !l.starts_with(b"#"));
    lines.map(|l| l.to_path_lossy().into_owned()).collect()
}

/// The real path of `named` (relative to `from`) when it exists and lies below `root`.
fn inside(root: &Path, from: &Path, named: &Path) -> Option<PathBuf> {
    let real = std::fs::canonicalize(from.join(named)).ok()?;
    real.starts_with(root).then_some(real)
}

/// Joins a relative path to a directory and refuses `..` and links on the way.
fn plain_path(dir: &Path, name: &Path) -> Result<PathBuf, String> {
    let mut path = dir.to_owned();
    for part in name.components() {
        let Component::Normal(part) = part else {
            return Err(format!("{}: not a plain name", name.display()));
        };
        path.push(part);
        let meta =
            std::fs::symlink_metadata(&path).map_err(|e| format!("{}: {e}", path.display()))?;
        if meta.is_symlink() {
            return Err(format!("{} is a link; not followed", path.display()));
        }
    }
    Ok(path)
}

/// Reads a small regular file below `dir`.
fn read_small(dir: &Path, name: &Path, limit: u64) -> Result<BString, String> {
    let path = plain_path(dir, name)?;
    let say = |e: std::io::Error| format!("{}: {e}", path.display());
    if !std::fs::symlink_metadata(&path).map_err(say)?.is_file() {
        return Err(format!("{}: no regular file", path.display()));
    }
    let mut content = Vec::new();
    let file = std::fs::File::open(&path).map_err(say)?;
    file.take(limit + 1)
        .read_to_end(&mut content)
        .map_err(say)?;
    if u64::try_from(content.len()).is_ok_and(|len| len > limit) {
        return Err(format!("{}: more than {limit} bytes", path.display()));
    }
    Ok(content.into())
}
