//! The texts of the rule files: the built-in packs, then the files that a user names.
//!
//! What is wrong with a file as a whole (a link, a pipe, too large, no UTF-8) is noted like a mistake in it, so that the
//! other files are still looked at.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::diagnostic::{Diagnostic, Level, SourceFile};
use crate::{Error, Result};

/// Largest rule file, in bytes. The largest built-in pack has a fourteenth of it.
pub(super) const MAX_FILE: u64 = 1 << 20;

/// Largest sum of all rule files of a user, in bytes.
pub(super) const MAX_FILES: u64 = 8 << 20;

macro_rules! builtin {
    ($($name:literal),* $(,)?) => {
        &[$((
            concat!("rules/", $name, ".toml"),
            include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/rules/", $name, ".toml")),
        )),*]
    };
}

/// The built-in packs: file name and text.
const BUILTIN: &[(&str, &str)] = builtin![
    "admission",
    "answer-files",
    "delegation",
    "download",
    "flow",
    "forge",
    "git-history",
    "git-remote",
    "marks",
    "mention",
    "registry",
    "tampering",
];

/// Number of built-in files; they come first.
pub(super) fn built_in() -> usize {
    BUILTIN.len()
}

/// Rule files, and what is wrong with them as files.
#[derive(Debug, Default)]
pub(super) struct Sources {
    /// The files in the order in which they are read.
    pub(super) files: Vec<SourceFile>,
    /// What is wrong with a file as a whole. Such a file is empty or, if it is no UTF-8, has marks in place of what
    /// could not be read.
    pub(super) faults: Vec<Diagnostic>,
    /// The first file that the system would not let us read, and why.
    pub(super) refused: Option<(PathBuf, io::Error)>,
    bytes: u64,
}

/// The built-in files and those of the given directories.
///
/// # Errors
/// If a directory is not there, cannot be listed or holds no rule file.
pub(super) fn sources(dirs: &[PathBuf]) -> Result<Sources> {
    let mut sources = Sources {
        files: BUILTIN
            .iter()
            .map(|(name, text)| SourceFile {
                trusted: true,
                ..SourceFile::new(*name, *text)
            })
            .collect(),
        ..Sources::default()
    };
    for dir in dirs {
        for (path, kind) in rule_files(dir)? {
            sources.add(path, kind);
        }
    }
    Ok(sources)
}

/// What stands under the name of a rule file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Entry {
    File,
    Link,
    Other,
}

impl Sources {
    fn add(&mut self, path: PathBuf, kind: Entry) {
        let fault = |what: &str, fix: &str| Err((0..0, what.to_owned(), fix.to_owned()));
        let read = match kind {
            // A link could lead anywhere, and a pipe would never end: neither is passed over in silence.
            Entry::Link => fault(
                "this is a link, and links in a rule directory are not followed",
                "remove it, or name the file itself",
            ),
            Entry::Other => fault(
                "this is no regular file",
                "remove it, or name the file itself",
            ),
            Entry::File => match read(&path) {
                Ok((bytes, size)) => self.text(bytes, size),
                Err(error) => {
                    let what = format!("it cannot be read: {error}");
                    self.refused.get_or_insert((path.clone(), error));
                    fault(&what, "make it readable, or remove it")
                }
            },
        };
        let number = self.files.len();
        let text = match read {
            Ok((text, None)) => text,
            Ok((text, Some((span, message, help)))) => {
                self.fault(number, span, message, help);
                text
            }
            Err((span, message, help)) => {
                self.fault(number, span, message, help);
                String::new()
            }
        };
        self.files.push(SourceFile {
            unread: text.is_empty() && self.faults.last().is_some_and(|f| f.file == number),
            ..SourceFile::new(path.display().to_string(), text)
        });
    }

    fn fault(&mut self, file: usize, span: std::ops::Range<usize>, message: String, help: String) {
        self.faults.push(Diagnostic {
            level: Level::Error,
            file,
            span,
            message,
            help: Some(help),
        });
    }

    /// The text of a file, with what is wrong with its characters, or what is wrong with it as a whole.
    #[allow(clippy::type_complexity)]
    fn text(
        &mut self,
        bytes: Vec<u8>,
        size: u64,
    ) -> std::result::Result<(String, Option<Fault>), Fault> {
        if size > MAX_FILE {
            return Err((
                0..0,
                format!("the file has {size} bytes, and a rule file has at most {MAX_FILE}"),
                "split it into several files; long lists of words are better written as one `regex`".to_owned(),
            ));
        }
        self.bytes += size;
        if self.bytes > MAX_FILES {
            return Err((
                0..0,
                format!(
                    "with this one the rule files have {} bytes, and all together have at most {MAX_FILES}",
                    self.bytes
                ),
                "load fewer of them at a time".to_owned(),
            ));
        }
        Ok(match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(error) => {
                let start = error.utf8_error().valid_up_to();
                let bytes = error.into_bytes();
                let text = String::from_utf8_lossy(&bytes).into_owned();
                let places = bytes
                    .utf8_chunks()
                    .filter(|c| !c.invalid().is_empty())
                    .count();
                let more = match places {
                    0 | 1 => String::new(),
                    many => format!(", here and in {} more places", many - 1),
                };
                let span = start..start + char::REPLACEMENT_CHARACTER.len_utf8();
                let fault = (
                    span,
                    format!("a rule file must be UTF-8, and this is not{more}"),
                    "save the file as UTF-8".to_owned(),
                );
                (text, Some(fault))
            }
        })
    }
}

/// Place, message, advice.
type Fault = (std::ops::Range<usize>, String, String);

/// The bytes of a file, not many more than are allowed, and its size.
fn read(path: &Path) -> io::Result<(Vec<u8>, u64)> {
    let file = File::open(path)?;
    let size = file.metadata()?.len();
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    let read = bytes.len() as u64;
    Ok((bytes, size.max(read)))
}

/// The rule files of a directory, sorted by name.
fn rule_files(dir: &Path) -> Result<Vec<(PathBuf, Entry)>> {
    let missing = |what: &str| Error::InputMissing {
        path: dir.to_owned(),
        what: what.to_owned(),
        fix: "name a directory with rule files (*.toml); see docs/rules.md".to_owned(),
    };
    let metadata = fs::metadata(dir).map_err(|e| match e.kind() {
        io::ErrorKind::NotFound => missing("there is no such rule directory"),
        _ => Error::io(dir, e),
    })?;
    if metadata.is_file() {
        return Ok(vec![(dir.to_owned(), Entry::File)]);
    }
    let mut found = Vec::new();
    for entry in fs::read_dir(dir).map_err(|e| Error::io(dir, e))? {
        let entry = entry.map_err(|e| Error::io(dir, e))?;
        let path = entry.path();
        let kind = entry.file_type().map_err(|e| Error::io(&path, e))?;
        if path.extension().is_none_or(|e| e != "toml") || kind.is_dir() {
            continue;
        }
        let kind = match (kind.is_file(), kind.is_symlink()) {
            (true, _) => Entry::File,
            (_, true) => Entry::Link,
            _ => Entry::Other,
        };
        found.push((path, kind));
    }
    if found.is_empty() {
        return Err(missing("the directory holds no rule file"));
    }
    found.sort_by(|a, b| a.0.cmp(&b.0));
    Ok(found)
}
