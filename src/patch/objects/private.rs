//! A git directory of our own, in a temporary directory outside the run, that borrows the run's objects.
//!
//! Its `HEAD` and `config` are ours. Its object folders hold links to single packs and folders of loose
//! objects that were looked at first: regular files only, no `info/` (alternates, commit-graph, grafts), no
//! multi-pack index, no promisor marks. So git sees objects and nothing else of the run.

use std::fs::{DirBuilder, FileType};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use super::id::Algorithm;

/// Tries to find a free name for the temporary directory.
const ATTEMPTS: u32 = 1000;

/// Most packs that are linked; a repository with more is read without the rest, and the list of problems
/// says so.
const MAX_PACKS: usize = 10_000;

/// A directory that only this user may enter and that is removed with its owner.
#[derive(Debug)]
pub(super) struct PrivateDir {
    path: PathBuf,
}

impl PrivateDir {
    /// Makes an empty one below the system's directory for temporary files.
    pub(super) fn new() -> std::io::Result<Self> {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        let parent = std::env::temp_dir();
        let process = std::process::id();
        let mut last = None;
        for _ in 0..ATTEMPTS {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = parent.join(format!("trace-audit-{process}-{number}"));
            // Fails when the name exists, whatever it is: nobody can prepare it for us.
            match private_builder().create(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) => last = Some(error),
            }
        }
        Err(last.unwrap_or_else(|| std::io::ErrorKind::AlreadyExists.into()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        // Removes links, never what they lead to. A directory that stays behind harms nobody.
        let _ = std::fs::remove_dir_all(&self.path);
    }
}

#[cfg(unix)]
fn private_builder() -> DirBuilder {
    use std::os::unix::fs::DirBuilderExt;
    let mut builder = DirBuilder::new();
    builder.mode(0o700);
    builder
}

#[cfg(not(unix))]
fn private_builder() -> DirBuilder {
    DirBuilder::new()
}

#[cfg(unix)]
fn link(target: &Path, at: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(target, at)
}

#[cfg(not(unix))]
fn link(_: &Path, _: &Path) -> std::io::Result<()> {
    Err(std::io::ErrorKind::Unsupported.into())
}

/// Fills a private directory so that git takes it for a bare repository with the objects of `folders`.
/// Returns what was left out.
pub(super) fn furnish(
    private: &Path,
    algorithm: Algorithm,
    folders: &[PathBuf],
) -> std::io::Result<Vec<String>> {
    let mut problems = Vec::new();
    std::fs::create_dir_all(private.join("refs"))?;
    std::fs::create_dir_all(private.join("objects/info"))?;
    std::fs::write(private.join("HEAD"), "ref: refs/heads/none\n")?;
    std::fs::write(private.join("config"), config(algorithm))?;
    let mut alternates = String::new();
    for (number, folder) in folders.iter().enumerate() {
        let own = private.join(format!("borrowed-{number}"));
        borrow_folder(folder, &own, &mut problems)?;
        // Relative to `objects`, so the name of the temporary directory needs no quoting.
        alternates.push_str(&format!("../borrowed-{number}\n"));
    }
    std::fs::write(private.join("objects/info/alternates"), alternates)?;
    Ok(problems)
}

fn config(algorithm: Algorithm) -> String {
    let (version, extension) = match algorithm {
        Algorithm::Sha1 => (0, ""),
        Algorithm::Sha256 => (1, "[extensions]\n\tobjectFormat = sha256\n"),
    };
    format!(
        "[core]\n\trepositoryFormatVersion = {version}\n\tbare = true\n\tcommitGraph = false\n\
         \tmultiPackIndex = false\n\tbigFileThreshold = 16m\n{extension}[protocol]\n\tallow = never\n"
    )
}

fn borrow_folder(folder: &Path, own: &Path, problems: &mut Vec<String>) -> std::io::Result<()> {
    std::fs::create_dir_all(own.join("pack"))?;
    for (name, kind) in sorted_entries(folder)? {
        let is_loose = name.len() == 2 && name.bytes().all(|b| b.is_ascii_hexdigit());
        let from = folder.join(&name);
        if name == "pack" && kind.is_dir() {
            borrow_packs(&from, &own.join("pack"), problems)?;
        } else if is_loose && kind.is_dir() {
            borrow_loose(&from, &own.join(&name), problems)?;
        } else if is_loose || name == "pack" {
            problems.push(format!("{}: no directory, left out", from.display()));
        }
    }
    Ok(())
}

fn borrow_packs(from: &Path, own: &Path, problems: &mut Vec<String>) -> std::io::Result<()> {
    let mut linked = 0usize;
    for (name, kind) in sorted_entries(from)? {
        if !name.ends_with(".pack") && !name.ends_with(".idx") {
            continue;
        }
        if !kind.is_file() {
            problems.push(format!(
                "{}: no regular file, left out",
                from.join(&name).display()
            ));
        } else if linked == 2 * MAX_PACKS {
            problems.push(format!(
                "{}: only {MAX_PACKS} packs are read",
                from.display()
            ));
            break;
        } else {
            link(&from.join(&name), &own.join(&name))?;
            linked += 1;
        }
    }
    Ok(())
}

/// Links a folder of loose objects as a whole when it holds nothing but regular files, and file by file
/// otherwise: git would wait for ever at a named pipe, and follow a link.
fn borrow_loose(from: &Path, own: &Path, problems: &mut Vec<String>) -> std::io::Result<()> {
    let entries = sorted_entries(from)?;
    if entries.iter().all(|(_, kind)| kind.is_file()) {
        return link(from, own);
    }
    std::fs::create_dir(own)?;
    for (name, kind) in entries {
        if kind.is_file() {
            link(&from.join(&name), &own.join(&name))?;
        } else {
            problems.push(format!(
                "{}: no regular file, left out",
                from.join(&name).display()
            ));
        }
    }
    Ok(())
}

/// Names (those that are UTF-8; git writes no others here) and kinds, links not followed.
fn sorted_entries(dir: &Path) -> std::io::Result<Vec<(String, FileType)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let entry = entry?;
        if let Ok(name) = entry.file_name().into_string() {
            found.push((name, entry.file_type()?));
        }
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}
