//! From files to [`Scores`]. A path is a table (CSV and its like), an evaluator report, a directory of
//! a run with reports in it, or a directory of such directories.
//!
//! Whatever decides a number is read strictly: a broken quote, a row of another length, an unknown
//! verdict or two statements that contradict each other is an error with file and line, since a row
//! lost in silence would change a ranking in silence.

use std::fs::File;
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use super::model::Scores;
use super::profile::Profile;
use crate::{Error, Result};

pub mod audit;
mod collect;
mod delimited;
mod reports;
mod table;

pub(crate) use reports::verdict_of;

/// Largest report or profile that is read, in bytes. A report is a page of prose.
pub const MAX_TEXT: u64 = 4 << 20;

/// Reads tables and reports into one set of scores.
///
/// # Errors
///
/// A file is missing or unreadable, a table or report is broken, a verdict is unknown, or two
/// statements about one run contradict each other.
pub fn load(paths: &[PathBuf], profile: &Profile) -> Result<Scores> {
    let mut collector = collect::Collector::new(profile);
    for path in paths {
        let name = path
            .file_name()
            .and_then(|n| n.to_str())
            .unwrap_or_default();
        if path.is_dir() {
            reports::read_directory(path, profile, &mut collector)?;
        } else if profile.reports.file.is_match(name) {
            reports::read_report(path, profile, &mut collector)?;
        } else {
            let file = open(path)?;
            table::read(path, BufReader::new(file), profile, &mut collector)?;
        }
    }
    collector.finish()
}

/// The name of a run in a path: the last part, without final slashes.
pub(super) fn run_name(path: &str) -> &str {
    collect::base_name(path)
}

/// Opens a file that the user named.
pub(super) fn open(path: &Path) -> Result<File> {
    File::open(path).map_err(|e| missing(path, e))
}

/// The error for a file that does not open.
fn missing(path: &Path, error: std::io::Error) -> Error {
    let what = match error.kind() {
        std::io::ErrorKind::NotFound => "there is no such file",
        std::io::ErrorKind::PermissionDenied => "it may not be read",
        _ => return Error::io(path, error),
    };
    Error::InputMissing {
        path: path.into(),
        what: what.into(),
        fix: "check the path and its permissions".into(),
    }
}

/// The bytes of a small text file, at most [`MAX_TEXT`].
pub(super) fn whole_file(path: &Path) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open(path)?
        .take(MAX_TEXT + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Error::io(path, e))?;
    if bytes.len() as u64 > MAX_TEXT {
        return Err(Error::BadData {
            path: path.into(),
            line: None,
            what: format!("is larger than {} MiB", MAX_TEXT >> 20),
            fix: "this is no report or profile; name the right file".into(),
        });
    }
    Ok(bytes)
}
