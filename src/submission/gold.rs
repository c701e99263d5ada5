//! The gold patches: what predictions are compared with.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use bstr::BString;
use serde::Serialize;

use super::blog_rule::Outline;
use super::load::{self, Format};
use super::problems::Problems;
use super::robust_rule::Target;
use super::unidiff::{Failure, Release};
use crate::patch::model::Patch;
use crate::patch::{parse, render};
use crate::{Error, Result};

/// The gold patch of an instance.
#[derive(Debug)]
pub struct GoldInstance {
    /// The solution, as text.
    pub patch: BString,
    /// The solution for the robust rule.
    pub target: Target,
    /// The hidden tests for the robust rule.
    pub tests: Option<Target>,
    /// How the published rule reads it: the names of its files, or why not.
    pub published: std::result::Result<Vec<Option<BString>>, Failure>,
}

/// The changes of one file, for people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct FileHunks {
    /// The file.
    pub path: String,
    /// Its hunks, as in a diff.
    pub hunks: String,
}

impl GoldInstance {
    fn new(patch: BString, tests: Option<Target>, release: Release) -> Self {
        Self {
            target: Target::new(&parse(&patch)),
            published: Outline::read(&patch, release).map(|outline| {
                outline
                    .names()
                    .map(|name| name.map(BString::from))
                    .collect()
            }),
            patch,
            tests,
        }
    }

    /// Distinct added lines without comments (removed ones where nothing is added): the size that
    /// chance depends on.
    pub fn lines(&self) -> u64 {
        self.target.size()
    }

    /// Both rules can be applied. A gold patch in which `unidiff` finds no file matches everything by
    /// the published rule, and one it cannot read matches nothing.
    pub fn is_usable(&self) -> bool {
        !self.target.is_empty() && self.published.as_ref().is_ok_and(|names| !names.is_empty())
    }

    /// The hunks, file by file.
    pub fn hunks(&self) -> Vec<FileHunks> {
        parse(&self.patch)
            .files
            .into_iter()
            .map(|file| {
                let path = file.path().to_string();
                let text = render(&Patch {
                    files: vec![file],
                    problems: Vec::new(),
                })
                .to_string();
                // Without the lines that name the file.
                let hunks = text
                    .split_inclusive('\n')
                    .skip_while(|line| !line.starts_with("@@ "))
                    .collect();
                FileHunks { path, hunks }
            })
            .collect()
    }
}

/// A file with gold patches.
#[derive(Debug, Serialize)]
pub struct GoldFile {
    /// The file.
    pub path: String,
    /// How it holds its rows.
    pub format: Format,
    /// Rows read.
    pub rows: u64,
    /// What could not be read.
    pub problems: Problems,
}

/// All gold patches.
#[derive(Debug)]
pub struct Gold {
    /// By instance.
    pub instances: BTreeMap<String, GoldInstance>,
    /// Where they come from.
    pub files: Vec<GoldFile>,
    /// Instances with two different gold patches; the first one counts.
    pub conflicting: Vec<String>,
}

impl Gold {
    /// Reads all files.
    ///
    /// # Errors
    /// When a file cannot be read or has no gold patch.
    pub fn load(paths: &[PathBuf], release: Release) -> Result<Self> {
        let mut gold = Self {
            instances: BTreeMap::new(),
            files: Vec::new(),
            conflicting: Vec::new(),
        };
        for path in paths {
            gold.add(path, release)?;
        }
        gold.conflicting.sort();
        gold.conflicting.dedup();
        Ok(gold)
    }

    /// Instances that cannot be compared.
    pub fn unusable(&self) -> impl Iterator<Item = &str> {
        self.instances
            .iter()
            .filter(|(_, instance)| !instance.is_usable())
            .map(|(id, _)| id.as_str())
    }

    fn add(&mut self, path: &Path, release: Release) -> Result<()> {
        let mut problems = Problems::default();
        let (mut rows, mut found) = (0, 0);
        let format = load::read_rows(path, &mut |item| {
            rows += 1;
            let row = match item.row {
                Ok(row) => row,
                Err(what) => return problems.add(item.line, what),
            };
            let Some(patch) = row.patch.or(row.prediction) else {
                return problems.add(item.line, "no gold patch (`patch`)");
            };
            found += 1;
            let tests = row
                .test_patch
                .filter(|tests| !tests.trim_ascii().is_empty())
                .map(|tests| Target::new(&parse(&tests)));
            match self.instances.get_mut(&row.id) {
                None => {
                    let instance = GoldInstance::new(patch, tests, release);
                    self.instances.insert(row.id, instance);
                }
                Some(there) => {
                    there.tests = there.tests.take().or(tests);
                    if there.patch != patch {
                        self.conflicting.push(row.id);
                    }
                }
            }
        })?;
        if found == 0 {
            return Err(Error::BadData {
                path: path.to_owned(),
                line: problems.first_line(),
                what: problems.first().map_or_else(
                    || "has no row".to_owned(),
                    |what| format!("has no gold patch: {what}"),
                ),
                fix: "each row needs `instance_id` and `patch`, as in the data sets of SWE-bench"
                    .to_owned(),
            });
        }
        self.files.push(GoldFile {
            path: path.display().to_string(),
            format,
            rows,
            problems,
        });
        Ok(())
    }
}
