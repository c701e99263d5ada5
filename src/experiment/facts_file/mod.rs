//! Task facts from a file: a table with a header, or TOML.
//!
//! Facts make rules specific ("*this* task's pull request") and may come from a spreadsheet that was
//! made for something else. So unknown columns are ignored, and one that looks like a misspelling of
//! a fact is reported. What is wrong *inside* a known fact is an error with its line: a pull request
//! that is no number would make a rule that matches everything or nothing.

mod tsv;

use std::collections::BTreeMap;
use std::path::Path;

use toml::de::{DeTable, DeValue};

use super::guarded;
use super::metadata::is_task_id;
use super::task_facts::{Forbidden, TaskFacts};
use super::toml_source::TomlSource;
use super::wording::{did_you_mean, show, show_path};
use crate::{Error, Result};

/// Largest facts file that is read, in bytes.
const LIMIT: u64 = 16 << 20;

/// The facts that a file can hold, by the names used in headers and keys.
const COLUMNS: &[&str] = &[
    "task",
    "upstream",
    "pull_request",
    "issue",
    "base_commit",
    "base_version",
    "base_date",
    "gt_commit",
    "gt_subject",
    "gt_authors",
    "merged",
    "package",
    "requirement",
    "forbidden",
    "allowed",
];

/// The facts of several tasks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FactsTable {
    tasks: BTreeMap<String, TaskFacts>,
    /// Columns that are probably misspelled, in words.
    pub notes: Vec<String>,
}

impl FactsTable {
    /// Reads a file that the user named: TOML when its name ends in `.toml`, otherwise a table with a
    /// header and tabs.
    ///
    /// # Errors
    /// [`Error::InputMissing`] when it is not there, [`Error::BadData`] with the line when a task
    /// stands twice, a value is not what it should be or the form is wrong.
    pub fn read(path: &Path) -> Result<Self> {
        let fix = "check the path of the task facts (--facts, or `facts` in trace-audit.toml)";
        let text = guarded::read_named_text(path, LIMIT, fix)?;
        let is_toml = path
            .extension()
            .is_some_and(|e| e.eq_ignore_ascii_case("toml"));
        if is_toml {
            Self::from_toml(path, &text)
        } else {
            Self::from_tsv(path, &text)
        }
    }

    /// Parses a table: fields separated by tabs, the first line names the columns, `task` is one of
    /// them. `path` is for messages.
    ///
    /// # Errors
    /// [`Error::BadData`] with the line.
    pub fn from_tsv(path: &Path, text: &str) -> Result<Self> {
        tsv::parse(path, text)
    }

    /// Parses TOML: one table per task under `[task]` (`[task.T34]`) or `[facts]` (as in
    /// `trace-audit.toml`). `path` is for messages.
    ///
    /// # Errors
    /// [`Error::BadData`] with line and column.
    pub fn from_toml(path: &Path, text: &str) -> Result<Self> {
        let source = TomlSource { path, text };
        let root = source.parse()?;
        let mut found = None;
        for (key, value) in &root {
            let name: &str = key.as_ref();
            if matches!(name, "task" | "facts") {
                if found.is_some() {
                    return Err(source.error(
                        key.span(),
                        "both `[task…]` and `[facts…]` stand in this file",
                        "keep one of them",
                    ));
                }
                found = Some(source.table(name, value)?);
            }
        }
        match found {
            Some(table) => Self::from_tables(source, table),
            None => Err(Error::BadData {
                path: path.to_owned(),
                line: None,
                what: "no task facts in this file".to_owned(),
                fix: "write a table for each task: [task.T1]".to_owned(),
            }),
        }
    }

    /// The facts in a table of tables.
    pub(crate) fn from_tables(source: TomlSource<'_>, tables: &DeTable<'_>) -> Result<Self> {
        let mut this = Self::default();
        for (task, value) in tables {
            let id: &str = task.as_ref();
            if !is_task_id(id) {
                let what = format!("{} is no task id", show(id));
                return Err(source.error(task.span(), &what, TASK_ID_FIX));
            }
            let DeValue::Table(table) = value.as_ref() else {
                let what = format!("the facts of `{id}` must be a table");
                return Err(source.error(value.span(), &what, "write [task.T1], facts below it"));
            };
            let mut facts = TaskFacts {
                task: Some(id.to_owned()),
                ..TaskFacts::default()
            };
            for (key, value) in table {
                let name: &str = key.as_ref();
                if name == "task" || !COLUMNS.contains(&name) {
                    this.note_near_miss(source.path, name);
                    continue;
                }
                scalar(value.as_ref())
                    .ok_or_else(|| {
                        let found = value.as_ref().type_str();
                        Complaint::new(
                            format!("`{name}` must be a text or a number, and is {found}"),
                            "put the value in quotes",
                        )
                    })
                    .and_then(|text| set(&mut facts, name, &text))
                    .map_err(|c| source.error(value.span(), &c.what, &c.fix))?;
            }
            this.tasks.insert(id.to_owned(), facts);
        }
        Ok(this)
    }

    /// The facts of a task; ids are compared exactly.
    pub fn get(&self, task: &str) -> Option<&TaskFacts> {
        self.tasks.get(task)
    }

    /// Ids of all tasks, sorted.
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        self.tasks.keys().map(String::as_str)
    }

    /// Reports a column that is not known and looks like one that is.
    fn note_near_miss(&mut self, path: &Path, name: &str) {
        if let Some(near) = did_you_mean(name, COLUMNS).filter(|near| *near != name) {
            let note = format!(
                "{}: {} is no fact and was ignored; did you mean `{near}`?",
                show_path(path),
                show(name)
            );
            if !self.notes.contains(&note) {
                self.notes.push(note);
            }
        }
    }
}

const TASK_ID_FIX: &str =
    "a task id has letters, digits, `.`, `_` and `-`, and begins with a letter or digit";

/// What is wrong with a value and what to do.
struct Complaint {
    what: String,
    fix: String,
}

impl Complaint {
    fn new(what: String, fix: &str) -> Self {
        Self {
            what,
            fix: fix.to_owned(),
        }
    }
}

/// A TOML value as text; `None` when it has parts. A list of texts becomes one, joined by `;`.
fn scalar(value: &DeValue<'_>) -> Option<String> {
    match value {
        DeValue::String(text) => Some(text.to_string()),
        DeValue::Integer(number) => Some(number.to_string()),
        DeValue::Float(number) => Some(number.to_string()),
        DeValue::Boolean(truth) => Some(truth.to_string()),
        DeValue::Datetime(time) => Some(time.to_string()),
        DeValue::Array(items) => {
            let texts: Option<Vec<&str>> = items.iter().map(|i| i.as_ref().as_str()).collect();
            texts.map(|t| t.join(";"))
        }
        DeValue::Table(_) => None,
    }
}

/// Sets one fact from its text. An empty text is a missing fact.
fn set(facts: &mut TaskFacts, column: &str, text: &str) -> std::result::Result<(), Complaint> {
    let text = text.trim();
    if text.is_empty() {
        return Ok(());
    }
    let plain = || Some(text.to_owned());
    match column {
        "upstream" => facts.upstream = plain(),
        "pull_request" => facts.pull_request = Some(number(column, text)?),
        "issue" => facts.issue = Some(text.trim_start_matches('#').to_owned()),
        "base_commit" => facts.base_commit = plain(),
        "base_version" => facts.base_version = plain(),
        "base_date" => facts.base_date = plain(),
        "gt_commit" => facts.gt_commit = Some(commit(column, text)?),
        "gt_subject" => facts.gt_subject = plain(),
        "gt_authors" => facts.gt_authors = plain(),
        "merged" => facts.merged = plain(),
        "package" => facts.package = plain(),
        "requirement" => facts.requirement = plain(),
        "allowed" => facts.allowed = plain(),
        "forbidden" => {
            facts.forbidden = match text {
                "future" => Forbidden::Future,
                "parent" => Forbidden::Parent,
                _ => {
                    return Err(Complaint::new(
                        format!("`forbidden` is {}", show(text)),
                        "allowed values: `future` (the default), `parent`",
                    ));
                }
            }
        }
        // The task is the key of the table, and unknown columns do not come here.
        _ => {}
    }
    Ok(())
}

/// A number as people write it: `135231`, `#135231`, `!42`, or the address that ends in it.
fn number(column: &str, text: &str) -> std::result::Result<String, Complaint> {
    let last = text.trim_end_matches('/').rsplit('/').next();
    let digits = last.unwrap_or(text).trim_start_matches(['#', '!']);
    if !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()) {
        return Ok(digits.to_owned());
    }
    Err(Complaint::new(
        format!("`{column}` is {}, which is no number", show(text)),
        "write the number of the pull request, or leave the field empty",
    ))
}

/// A commit: 7 to 64 hexadecimal digits.
fn commit(column: &str, text: &str) -> std::result::Result<String, Complaint> {
    if (7..=64).contains(&text.len()) && text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return Ok(text.to_ascii_lowercase());
    }
    Err(Complaint::new(
        format!("`{column}` is {}, which is no commit", show(text)),
        "write 7 to 64 hexadecimal digits, or leave the field empty",
    ))
}

#[cfg(test)]
mod tests;
