//! Which instances a submission resolved, from the reports of evaluation harnesses.
//!
//! Understood: `{"resolved": [ids]}` and `{"resolved_ids": [ids]}` (reports of SWE-bench and of its
//! leaderboard), `{id: {"resolved": true}}`, `{id: true}`, a list of ids, and rows with `instance_id`
//! and `resolved` (JSON lines, JSON list). Several files are told apart by their names.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::load;
use crate::{Error, Result};

/// Largest report, in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Names that say nothing about the submission.
const GENERIC: &[&str] = &["results", "report", "results.json", "report.json"];

/// The resolved instances of submissions.
#[derive(Debug, Default)]
pub struct Results {
    files: Vec<(String, PathBuf, BTreeSet<String>)>,
}

impl Results {
    /// Reads reports: files, directories of files, or `NAME=FILE`.
    ///
    /// # Errors
    /// When a file cannot be read or tells of no result.
    pub fn load(arguments: &[String]) -> Result<Self> {
        let mut results = Self::default();
        for argument in arguments {
            let path = PathBuf::from(argument);
            if let Some((name, file)) = argument.split_once('=').filter(|_| !path.exists()) {
                results.add(name.to_owned(), PathBuf::from(file))?;
            } else if path.is_dir() {
                for file in files_of(&path)? {
                    results.add(name_of(&file), file)?;
                }
            } else {
                results.add(name_of(&path), path)?;
            }
        }
        Ok(results)
    }

    fn add(&mut self, name: String, path: PathBuf) -> Result<()> {
        let resolved = read(&path)?;
        self.files.push((name, path, resolved));
        Ok(())
    }

    /// The resolved instances of each submission, by name; a single report is that of a single
    /// submission, whatever their names.
    ///
    /// # Errors
    /// When a report fits no submission, or several.
    pub fn assign(self, submissions: &[&str]) -> Result<BTreeMap<String, BTreeSet<String>>> {
        let mut out = BTreeMap::new();
        if let ([one], 1) = (submissions, self.files.len()) {
            out.extend(
                self.files
                    .into_iter()
                    .map(|(_, _, ids)| ((*one).to_owned(), ids)),
            );
            return Ok(out);
        }
        for (name, path, ids) in self.files {
            let exact = submissions.iter().filter(|s| **s == name);
            let last = submissions
                .iter()
                .filter(|s| s.rsplit('/').next() == Some(name.as_str()));
            // The harness writes `<model>.<run>.json`.
            let begins = submissions
                .iter()
                .filter(|s| name.strip_prefix(**s).is_some_and(|r| r.starts_with('.')));
            let mut fitting: Vec<&&str> = exact.collect();
            if fitting.is_empty() {
                fitting = last.chain(begins).collect();
            }
            match fitting.as_slice() {
                [one] => {
                    out.insert((**one).to_owned(), ids);
                }
                _ => {
                    return Err(Error::Usage {
                        what: format!(
                            "{}: results of `{name}`, which names {} of the submissions",
                            path.display(),
                            if fitting.is_empty() {
                                "none"
                            } else {
                                "several"
                            }
                        ),
                        fix: format!("say whose they are: --results NAME={}", path.display()),
                    });
                }
            }
        }
        Ok(out)
    }
}

fn files_of(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory).map_err(|e| Error::io(directory, e))? {
        let path = entry.map_err(|e| Error::io(directory, e))?.path();
        let data = path
            .extension()
            .is_some_and(|e| e == "json" || e == "jsonl");
        if data && path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}

/// The file's name, or its directory's where the file's says nothing.
fn name_of(path: &Path) -> String {
    let part = |part: Option<&std::ffi::OsStr>| part.map(|p| p.to_string_lossy().into_owned());
    let stem = part(path.file_stem()).unwrap_or_default();
    if !GENERIC.contains(&stem.as_str()) {
        return stem;
    }
    path.ancestors()
        .skip(1)
        .filter_map(|above| part(above.file_name()))
        .find(|name| !GENERIC.contains(&name.as_str()))
        .unwrap_or(stem)
}

fn read(path: &Path) -> Result<BTreeSet<String>> {
    let bad = |what: &str| {
        Error::BadData {
        path: path.to_owned(),
        line: None,
        what: what.to_owned(),
        fix: "give a report with `resolved` or `resolved_ids`, or rows with `instance_id` and `resolved`"
            .to_owned(),
    }
    };
    let mut bytes = Vec::new();
    load::open(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|e| Error::io(path, e))?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > MAX_BYTES) {
        return Err(bad("is larger than 64 MiB"));
    }
    let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
    if let Some(ids) = serde_json::from_slice::<Value>(text)
        .ok()
        .and_then(from_report)
    {
        return Ok(ids);
    }
    let mut ids = BTreeSet::new();
    let mut known = false;
    load::read_rows(path, &mut |item| {
        if let Ok(row) = item.row
            && let Some(resolved) = row.resolved
        {
            known = true;
            if resolved {
                ids.insert(row.id);
            }
        }
    })?;
    if known {
        Ok(ids)
    } else {
        Err(bad("tells of no result"))
    }
}

fn from_report(report: Value) -> Option<BTreeSet<String>> {
    match report {
        Value::Array(items) => items.into_iter().map(id).collect(),
        Value::Object(mut map) => {
            for key in ["resolved_ids", "resolved"] {
                if let Some(Value::Array(items)) = map.remove(key) {
                    return items.into_iter().map(id).collect();
                }
            }
            let verdicts: Option<Vec<(String, bool)>> = map
                .into_iter()
                .map(|(id, value)| {
                    let resolved = match &value {
                        Value::Bool(resolved) => Some(*resolved),
                        Value::Object(fields) => fields.get("resolved").and_then(Value::as_bool),
                        _ => None,
                    };
                    resolved.map(|resolved| (id, resolved))
                })
                .collect();
            let verdicts = verdicts.filter(|all| !all.is_empty())?;
            Some(
                verdicts
                    .into_iter()
                    .filter(|(_, resolved)| *resolved)
                    .map(|(id, _)| id)
                    .collect(),
            )
        }
        _ => None,
    }
}

fn id(value: Value) -> Option<String> {
    match value {
        Value::String(id) => Some(id),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_report() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("r.json");
        for content in [
            r#"{"resolved": ["a"], "applied": ["a", "b"]}"#,
            r#"{"resolved_instances": 1, "resolved_ids": ["a"]}"#,
            r#"{"a": {"resolved": true, "x": 1}, "b": {"resolved": false}}"#,
            r#"{"a": true, "b": false}"#,
            r#"["a"]"#,
            r#"[{"instance_id": "a", "resolved": true}, {"instance_id": "b", "resolved": false}]"#,
            "{\"instance_id\": \"a\", \"resolved\": true}\n{\"instance_id\": \"b\", \"resolved\": false}\n",
        ] {
            std::fs::write(&path, content).unwrap();
            let ids: Vec<String> = read(&path).unwrap().into_iter().collect();
            assert_eq!(ids, ["a"], "{content}");
        }
        for content in ["", "{}", "3", "{\"a\": 1}", "x", "{\"resolved\": 3}"] {
            std::fs::write(&path, content).unwrap();
            assert_eq!(read(&path).unwrap_err().exit_code(), 65, "{content}");
        }
    }

    #[test]
    fn reports_find_their_submission() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(&path, "[\"i\"]").unwrap();
            path.display().to_string()
        };
        let assign = |arguments: &[String], names: &[&str]| {
            Results::load(arguments)
                .and_then(|results| results.assign(names))
                .map(|map| map.into_keys().collect::<Vec<_>>())
                .map_err(|e| e.exit_code())
        };
        let two = &["v/one", "two"];
        assert_eq!(assign(&[file("any.json")], &["x"]), Ok(vec!["x".into()]));
        assert_eq!(assign(&[file("two.json")], two), Ok(vec!["two".into()]));
        assert_eq!(
            assign(&[file("one/results/results.json")], two),
            Ok(vec!["v/one".into()])
        );
        assert_eq!(
            assign(&[file("two.run-3.json")], two),
            Ok(vec!["two".into()])
        );
        assert_eq!(assign(&[file("other.json")], two), Err(64));
        assert_eq!(
            assign(&[format!("two={}", file("other.json"))], two),
            Ok(vec!["two".into()])
        );
    }
}
