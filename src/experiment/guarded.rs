//! Reading files of two kinds of owners.
//!
//! A **run directory** belongs to the audited party. Its files are read only when they are regular
//! files inside it: a link that leads out would let the agent choose what the audit reads, a pipe or
//! device would make it hang. A **named file** (a flag, the configuration, the benchmark's own tree)
//! belongs to the user: links are followed, and a file that cannot be read is an error that says how
//! to mend it. Both are read up to a limit, never further.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::wording::shell_quote;
use crate::{Error, Result};

/// A run directory and its real place, against which links are checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunDir {
    /// The path as given, made absolute.
    pub path: PathBuf,
    /// The path with all links resolved.
    pub real: PathBuf,
}

/// What a name in the root of a run directory leads to.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// Nothing of that name.
    Absent,
    /// A regular file inside the run; the path has no links in it when the entry is one.
    File(PathBuf),
    /// Something that is not read, with the reason in words.
    Refused(String),
}

/// The content of a file in the root of a run directory.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Content {
    /// Nothing of that name.
    Absent,
    /// All of it.
    Bytes(Vec<u8>),
    /// Not read, or too large, with the reason in words.
    Refused(String),
}

impl RunDir {
    /// Opens a directory that the user named.
    ///
    /// # Errors
    /// [`Error::InputMissing`] when it is not there or may not be entered.
    pub fn open(given: &Path) -> Result<Self> {
        let missing = |e: io::Error| unreadable(given, &e, "name an existing run directory");
        let real = fs::canonicalize(given).map_err(missing)?;
        let plain = std::path::absolute(given).map_err(missing)?;
        // `..` after a link means another place than it seems to: the real path has none.
        let odd = plain.file_name().is_none()
            || plain
                .components()
                .any(|c| c == std::path::Component::ParentDir);
        let path = if odd { real.clone() } else { plain };
        Ok(Self { path, real })
    }

    /// The directory's own name.
    pub fn name(&self) -> String {
        self.path
            .file_name()
            .map(|n| n.to_string_lossy().into_owned())
            .unwrap_or_default()
    }

    /// Looks at one name in the root, without reading it.
    pub(crate) fn entry(&self, name: &str) -> Entry {
        let path = self.path.join(name);
        let kind = match fs::symlink_metadata(&path) {
            Ok(meta) => meta.file_type(),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Entry::Absent,
            Err(e) => return Entry::Refused(format!("cannot be looked at ({e})")),
        };
        if kind.is_file() {
            return Entry::File(path);
        }
        if !kind.is_symlink() {
            let what = if kind.is_dir() {
                "is a directory"
            } else {
                "is no regular file"
            };
            return Entry::Refused(what.to_owned());
        }
        match fs::canonicalize(&path) {
            Ok(target) if !target.starts_with(&self.real) => {
                Entry::Refused("is a link that leads out of the run directory".to_owned())
            }
            Ok(target) if target.is_file() => Entry::File(target),
            Ok(_) => Entry::Refused("is a link to something that is no regular file".to_owned()),
            Err(_) => Entry::Refused("is a link that leads nowhere".to_owned()),
        }
    }

    /// Reads one file in the root, at most `limit` bytes; a larger one is refused.
    pub(crate) fn read(&self, name: &str, limit: u64) -> Content {
        let path = match self.entry(name) {
            Entry::Absent => return Content::Absent,
            Entry::Refused(why) => return Content::Refused(why),
            Entry::File(path) => path,
        };
        match read_limited(&path, limit) {
            Ok(Some(bytes)) => Content::Bytes(bytes),
            Ok(None) => Content::Refused(format!("is larger than {limit} bytes")),
            Err(e) => Content::Refused(format!("cannot be read ({e})")),
        }
    }
}

/// The whole file, or `None` when it is larger than `limit` bytes.
fn read_limited(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?
        .take(limit.saturating_add(1))
        .read_to_end(&mut bytes)?;
    let fits = u64::try_from(bytes.len()).is_ok_and(|n| n <= limit);
    Ok(fits.then_some(bytes))
}

/// Reads a file that the user named, at most `limit` bytes. `fix` says what to do when it is missing.
///
/// # Errors
/// [`Error::InputMissing`] when it is not there or may not be read, [`Error::BadData`] when it is a
/// directory or too large, [`Error::Io`] for anything else.
pub(crate) fn read_named(path: &Path, limit: u64, fix: &str) -> Result<Vec<u8>> {
    check_named_file(path, fix)?;
    match read_limited(path, limit) {
        Ok(Some(bytes)) => Ok(bytes),
        Ok(None) => Err(Error::BadData {
            path: path.to_owned(),
            line: None,
            what: format!("larger than {limit} bytes, which no file of this kind is"),
            fix: "check that this is the file you mean".to_owned(),
        }),
        Err(e) => Err(unreadable(path, &e, fix)),
    }
}

/// As [`read_named`], decoded: UTF-8 with or without byte order mark.
///
/// # Errors
/// As [`read_named`]; [`Error::BadData`] with the line of the first byte that is no UTF-8.
pub(crate) fn read_named_text(path: &Path, limit: u64, fix: &str) -> Result<String> {
    let bytes = read_named(path, limit, fix)?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => Ok(text.to_owned()),
        Err(e) => {
            let good = bytes.get(..e.valid_up_to()).unwrap_or_default();
            let lines = memchr::memchr_iter(b'\n', good).count();
            Err(Error::BadData {
                path: path.to_owned(),
                line: u64::try_from(lines + 1).ok(),
                what: "not UTF-8 text".to_owned(),
                fix: "save the file as UTF-8".to_owned(),
            })
        }
    }
}

/// Checks that a path the user named leads to something readable that is no directory.
///
/// # Errors
/// As [`read_named`].
pub(crate) fn check_named_file(path: &Path, fix: &str) -> Result<()> {
    let meta = fs::metadata(path).map_err(|e| unreadable(path, &e, fix))?;
    if meta.is_dir() {
        return Err(Error::BadData {
            path: path.to_owned(),
            line: None,
            what: "a directory, where a file is needed".to_owned(),
            fix: "name the file itself".to_owned(),
        });
    }
    // A pipe (`<(…)`) is opened once, by whoever reads it.
    if meta.is_file() {
        File::open(path).map_err(|e| unreadable(path, &e, fix))?;
    }
    Ok(())
}

/// The error for a path that could not be opened: for "permission denied" with the command that
/// helps, for "not found" with `fix`.
pub(crate) fn unreadable(path: &Path, error: &io::Error, fix: &str) -> Error {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Error::InputMissing {
            path: path.to_owned(),
            what: "no such file or directory".to_owned(),
            fix: fix.to_owned(),
        },
        io::ErrorKind::PermissionDenied => Error::InputMissing {
            path: path.to_owned(),
            what: "permission denied".to_owned(),
            fix: format!("to make it readable: {}", unlock_command(path)),
        },
        _ => Error::io(path, io::Error::new(error.kind(), error.to_string())),
    }
}

/// The command that makes a path readable which exists and is closed: `chmod` of the outermost
/// directory that may not be entered, or of the path itself.
pub(crate) fn unlock_command(path: &Path) -> String {
    let closed = closed_directory(path);
    match &closed {
        Some(dir) => format!("chmod u+rx {}", shell_quote(dir)),
        None if path.is_dir() => format!("chmod u+rx {}", shell_quote(path)),
        None => format!("chmod u+r {}", shell_quote(path)),
    }
}

/// The outermost ancestor that may not be entered: the parent of the first ancestor that cannot be
/// looked at.
fn closed_directory(path: &Path) -> Option<PathBuf> {
    let ancestors: Vec<&Path> = path.ancestors().collect();
    let blocked = ancestors.iter().rev().find(|a| {
        !a.as_os_str().is_empty()
            && fs::metadata(a).is_err_and(|e| e.kind() == io::ErrorKind::PermissionDenied)
    })?;
    blocked
        .parent()
        .map(|dir| match dir.as_os_str().is_empty() {
            true => PathBuf::from("."),
            false => dir.to_owned(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn only_regular_files_inside_the_run() {
        use std::os::unix::fs::symlink;
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        fs::create_dir_all(run.join("sub")).unwrap();
        fs::write(dir.path().join("secret"), "s").unwrap();
        fs::write(run.join("plain"), "p").unwrap();
        fs::write(run.join("sub/deep"), "d").unwrap();
        symlink("../secret", run.join("out")).unwrap();
        symlink("/etc/passwd", run.join("etc")).unwrap();
        symlink("sub/deep", run.join("in")).unwrap();
        symlink("sub", run.join("folder")).unwrap();
        symlink("loop", run.join("loop")).unwrap();
        symlink("nowhere", run.join("dangling")).unwrap();
        // A folder whose name begins like the run's is outside.
        fs::create_dir(dir.path().join("run-other")).unwrap();
        fs::write(dir.path().join("run-other/f"), "x").unwrap();
        symlink("../run-other/f", run.join("sibling")).unwrap();
        let fifo = std::process::Command::new("mkfifo")
            .arg(run.join("pipe"))
            .status();
        assert!(fifo.unwrap().success());

        let run = RunDir::open(&run).unwrap();
        assert_eq!(run.read("plain", 10), Content::Bytes(b"p".to_vec()));
        assert_eq!(run.read("in", 10), Content::Bytes(b"d".to_vec()));
        assert_eq!(run.read("none", 10), Content::Absent);
        for (name, word) in [
            ("out", "leads out"),
            ("etc", "leads out"),
            ("sibling", "leads out"),
            ("loop", "leads nowhere"),
            ("dangling", "leads nowhere"),
            ("folder", "no regular file"),
            ("sub", "is a directory"),
            ("pipe", "no regular file"),
        ] {
            match run.read(name, 10) {
                Content::Refused(why) => assert!(why.contains(word), "{name}: {why}"),
                other => panic!("{name}: {other:?}"),
            }
        }
    }

    #[test]
    fn large_files_are_refused_at_the_limit() {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), vec![b'x'; 100]).unwrap();
        let run = RunDir::open(dir.path()).unwrap();
        assert!(matches!(run.read("f", 100), Content::Bytes(b) if b.len() == 100));
        assert!(matches!(run.read("f", 99), Content::Refused(_)));
        assert_eq!(
            read_named(&dir.path().join("f"), 100, "").unwrap().len(),
            100
        );
        assert_eq!(
            read_named(&dir.path().join("f"), 99, "")
                .unwrap_err()
                .exit_code(),
            65
        );
    }

    #[test]
    fn named_files_fail_with_a_fix() {
        let dir = tempfile::tempdir().unwrap();
        let missing = read_named(&dir.path().join("x"), 9, "do this").unwrap_err();
        assert_eq!(missing.exit_code(), 66);
        assert!(missing.to_string().contains("do this"));
        let folder = read_named(dir.path(), 9, "").unwrap_err();
        assert_eq!(folder.exit_code(), 65);
        fs::write(dir.path().join("t"), b"ok\nb\xffd\n").unwrap();
        let text = read_named_text(&dir.path().join("t"), 99, "").unwrap_err();
        assert!(text.to_string().contains("t:2: not UTF-8"), "{text}");
        fs::write(dir.path().join("b"), b"\xef\xbb\xbfok").unwrap();
        assert_eq!(
            read_named_text(&dir.path().join("b"), 99, "").unwrap(),
            "ok"
        );
    }

    #[test]
    fn the_name_of_a_run_given_in_odd_ways() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("T1-codex-long");
        fs::create_dir_all(run.join("sub")).unwrap();
        for given in [
            run.clone(),
            run.join(""),
            run.join("."),
            run.join("sub/.."),
            run.join("../T1-codex-long/"),
        ] {
            assert_eq!(
                RunDir::open(&given).unwrap().name(),
                "T1-codex-long",
                "{given:?}"
            );
        }
    }
}
