//! Finds the submissions: the files and directories that were named, and what to call them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use crate::{Error, Result};

/// Names that say nothing about the submission: the directory names it.
const GENERIC: &[&str] = &["all_preds", "preds", "predictions", "prediction", "patches"];

/// How deep directories are searched.
const MAX_DEPTH: usize = 6;

/// A file with predictions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    /// What to call the submission.
    pub name: String,
    /// The file.
    pub path: PathBuf,
    /// It was found in a directory and not named itself: no predictions in it is no error.
    pub found: bool,
}

/// All submissions, in the order of the arguments, files of a directory by name.
///
/// In a directory count `*.jsonl`, `*.json` and `*.parquet`; where a directory has a file named like
/// `all_preds.jsonl`, only such files, and nothing below. Links are not followed.
///
/// # Errors
/// When a path does not exist or a directory cannot be read or has no such file.
pub fn discover(paths: &[PathBuf]) -> Result<Vec<Source>> {
    let mut files: Vec<(PathBuf, bool)> = Vec::new();
    for path in paths {
        let meta = std::fs::metadata(path).map_err(|error| match error.kind() {
            std::io::ErrorKind::NotFound => Error::InputMissing {
                path: path.clone(),
                what: "no such file or directory".to_owned(),
                fix: "check the path".to_owned(),
            },
            _ => Error::io(path, error),
        })?;
        if !meta.is_dir() {
            files.push((path.clone(), false));
            continue;
        }
        let before = files.len();
        in_directory(path, &mut files)?;
        if files.len() == before {
            return Err(Error::InputMissing {
                path: path.clone(),
                what: "no *.jsonl, *.json or *.parquet in this directory".to_owned(),
                fix: "name the prediction files themselves".to_owned(),
            });
        }
    }
    Ok(name_all(files))
}

fn in_directory(root: &Path, files: &mut Vec<(PathBuf, bool)>) -> Result<()> {
    let mut by_directory: BTreeMap<PathBuf, Vec<PathBuf>> = BTreeMap::new();
    let walk = WalkDir::new(root)
        .max_depth(MAX_DEPTH)
        .follow_links(false)
        .sort_by_file_name();
    for entry in walk {
        let entry = entry.map_err(|error| {
            let path = error.path().unwrap_or(root).to_owned();
            Error::io(path, error.into())
        })?;
        if entry.file_type().is_file() && is_data(entry.path()) {
            let directory = entry.path().parent().unwrap_or(root).to_owned();
            by_directory
                .entry(directory)
                .or_default()
                .push(entry.into_path());
        }
    }
    let with_predictions: Vec<PathBuf> = by_directory
        .iter()
        .filter(|(_, files)| files.iter().any(|file| is_generic(file)))
        .map(|(directory, _)| directory.clone())
        .collect();
    for (directory, found) in by_directory {
        let here = with_predictions.contains(&directory);
        let below = directory
            .ancestors()
            .skip(1)
            .any(|above| with_predictions.iter().any(|d| d == above));
        if below {
            continue;
        }
        files.extend(
            found
                .into_iter()
                .filter(|file| !here || is_generic(file))
                .map(|file| (file, true)),
        );
    }
    Ok(())
}

fn is_data(path: &Path) -> bool {
    path.extension().and_then(|e| e.to_str()).is_some_and(|e| {
        matches!(
            e.to_ascii_lowercase().as_str(),
            "json" | "jsonl" | "parquet"
        )
    })
}

fn is_generic(path: &Path) -> bool {
    path.file_stem()
        .and_then(|stem| stem.to_str())
        .is_some_and(|stem| GENERIC.contains(&stem.to_ascii_lowercase().as_str()))
}

/// The parts of a path that can name a submission, the most telling first.
fn name_parts(path: &Path) -> Vec<String> {
    let stem = path.file_stem().unwrap_or_default();
    let mut parts = vec![stem.to_string_lossy().into_owned()];
    let above = path.parent().into_iter().flat_map(Path::components);
    parts.extend(
        above
            .rev()
            .filter_map(|part| match part {
                std::path::Component::Normal(part) => Some(part.to_string_lossy().into_owned()),
                _ => None,
            })
            .take(MAX_DEPTH),
    );
    if is_generic(path) && parts.len() > 1 {
        parts.remove(0);
    }
    parts
}

/// Names the files, with as many directories as it takes to tell them apart.
fn name_all(files: Vec<(PathBuf, bool)>) -> Vec<Source> {
    let parts: Vec<Vec<String>> = files.iter().map(|(path, _)| name_parts(path)).collect();
    let name = |parts: &[String], length: usize| {
        let mut parts: Vec<&str> = parts.iter().take(length).map(String::as_str).collect();
        parts.reverse();
        parts.join("/")
    };
    let mut lengths = vec![1; files.len()];
    for _ in 0..MAX_DEPTH {
        let mut seen: BTreeMap<String, u32> = BTreeMap::new();
        for (parts, length) in parts.iter().zip(&lengths) {
            *seen.entry(name(parts, *length)).or_default() += 1;
        }
        for (parts, length) in parts.iter().zip(lengths.iter_mut()) {
            if seen.get(&name(parts, *length)).is_some_and(|n| *n > 1) {
                *length += 1;
            }
        }
    }
    let mut taken: BTreeMap<String, u32> = BTreeMap::new();
    files
        .into_iter()
        .zip(parts.iter().zip(lengths))
        .map(|((path, found), (parts, length))| {
            let mut name = name(parts, length);
            let count = taken.entry(name.clone()).or_default();
            *count += 1;
            if *count > 1 {
                name = format!("{name}#{count}");
            }
            Source { name, path, found }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(files: &[&str], arguments: &[&str]) -> Vec<String> {
        let dir = tempfile::tempdir().unwrap();
        for file in files {
            let path = dir.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        let paths: Vec<PathBuf> = arguments.iter().map(|a| dir.path().join(a)).collect();
        discover(&paths)
            .unwrap()
            .into_iter()
            .map(|source| source.name)
            .collect()
    }

    #[test]
    fn names_of_submissions() {
        for (files, arguments, want) in [
            (
                &["x.jsonl", "y.json", "z.txt"][..],
                &["."][..],
                &["x", "y"][..],
            ),
            (&["x.jsonl"], &["x.jsonl", "x.jsonl"], &["x", "x#2"]),
            (
                &[
                    "v/one/all_preds.jsonl",
                    "v/one/results/results.json",
                    "v/two/preds.json",
                    "v/two/meta.json",
                ],
                &["v"],
                &["one", "two"],
            ),
            (
                &["lite/one/all_preds.jsonl", "full/one/all_preds.jsonl"],
                &["lite", "full"],
                &["lite/one", "full/one"],
            ),
            (
                &["a/x.json", "b/x.json"],
                &["a/x.json", "b"],
                &["a/x", "b/x"],
            ),
        ] {
            let got = names(files, arguments);
            let got: Vec<&str> = got
                .iter()
                .map(|name| name.rsplit_once("tmp").map_or(name.as_str(), |(_, n)| n))
                .collect();
            assert!(
                got.iter().zip(want).all(|(got, want)| got.ends_with(want))
                    && got.len() == want.len(),
                "{got:?} {want:?}"
            );
        }
    }

    #[test]
    fn missing_and_empty() {
        let dir = tempfile::tempdir().unwrap();
        let code = |path: PathBuf| discover(&[path]).unwrap_err().exit_code();
        assert_eq!(code(dir.path().join("none")), 66);
        assert_eq!(code(dir.path().to_owned()), 66);
    }

    #[cfg(unix)]
    #[test]
    fn links_are_not_followed() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("x.json"), "").unwrap();
        std::os::unix::fs::symlink(dir.path(), dir.path().join("loop")).unwrap();
        std::os::unix::fs::symlink(dir.path().join("x.json"), dir.path().join("y.json")).unwrap();
        assert_eq!(discover(&[dir.path().to_owned()]).unwrap().len(), 1);
    }
}
