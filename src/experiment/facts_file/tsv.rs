//! The table form of task facts.

use std::collections::BTreeMap;
use std::path::Path;

use super::{COLUMNS, Complaint, FactsTable, TASK_ID_FIX, set};
use crate::experiment::metadata::is_task_id;
use crate::experiment::task_facts::TaskFacts;
use crate::experiment::wording::show;
use crate::{Error, Result};

/// Parses the text; see [`FactsTable::from_tsv`].
pub(super) fn parse(path: &Path, text: &str) -> Result<FactsTable> {
    let complain = |line: u64, c: Complaint| Error::BadData {
        path: path.to_owned(),
        line: Some(line),
        what: c.what,
        fix: c.fix,
    };
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut rows = (1u64..)
        .zip(text.lines())
        .filter(|(_, line)| !line.trim().is_empty() && !line.starts_with("# "));
    let Some((line, header)) = rows.next() else {
        let what = "the file is empty".to_owned();
        return Err(complain(1, Complaint::new(what, HEADER_FIX)));
    };
    let columns = read_header(header).map_err(|c| complain(line, c))?;

    let mut table = FactsTable::default();
    for name in &columns {
        if !COLUMNS.contains(&name.as_str()) {
            table.note_near_miss(path, name);
        }
    }
    let mut lines = BTreeMap::new();
    for (line, row) in rows {
        let (task, facts) = read_row(&columns, row).map_err(|c| complain(line, c))?;
        if let Some(first) = lines.insert(task.clone(), line) {
            let what = format!("task `{task}` stands twice, first in line {first}");
            return Err(complain(
                line,
                Complaint::new(what, "keep one of the lines"),
            ));
        }
        table.tasks.insert(task, facts);
    }
    Ok(table)
}

const HEADER_FIX: &str =
    "the first line names the columns, separated by tabs, and one of them is `task`";

/// The names of the columns, in lower case.
fn read_header(line: &str) -> std::result::Result<Vec<String>, Complaint> {
    let line = line.strip_prefix('#').unwrap_or(line);
    let columns: Vec<String> = line
        .split('\t')
        .map(|name| unquote(name).trim().to_ascii_lowercase())
        .collect();
    if !columns.iter().any(|name| name == "task") {
        let what = if columns.len() == 1 && line.contains(',') {
            "the columns are separated by commas, not tabs".to_owned()
        } else {
            format!("no column `task` in the header {}", show(line))
        };
        return Err(Complaint::new(what, HEADER_FIX));
    }
    for name in COLUMNS {
        if columns.iter().filter(|c| c == name).count() > 1 {
            let what = format!("column `{name}` stands twice in the header");
            return Err(Complaint::new(what, "remove one of them"));
        }
    }
    Ok(columns)
}

/// Task id and facts of one row.
fn read_row(columns: &[String], row: &str) -> std::result::Result<(String, TaskFacts), Complaint> {
    let fields: Vec<String> = row.split('\t').map(unquote).collect();
    // Missing fields at the end are what editors cut off; fields too many shift all the others.
    let surplus = fields.get(columns.len()..).unwrap_or_default();
    if surplus.iter().any(|f| !f.trim().is_empty()) {
        return Err(Complaint::new(
            format!(
                "{} fields, and the header has {} columns",
                fields.len(),
                columns.len()
            ),
            "look for a tab too many in this line",
        ));
    }
    let mut facts = TaskFacts::default();
    let mut task = "";
    for (name, text) in columns.iter().zip(&fields) {
        if name == "task" {
            task = text.trim();
        } else {
            set(&mut facts, name, text)?;
        }
    }
    if !is_task_id(task) {
        return Err(Complaint::new(
            format!("{} is no task id", show(task)),
            TASK_ID_FIX,
        ));
    }
    facts.task = Some(task.to_owned());
    Ok((task.to_owned(), facts))
}

/// A field without the quotes that spreadsheets put around it: `"say ""hi"""` is `say "hi"`. A field
/// that only happens to begin and end with a quote (`"a" and "b"`) stays as it is.
fn unquote(field: &str) -> String {
    let inner = field
        .trim()
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    match inner.map(|inner| (inner, inner.replace("\"\"", ""))) {
        Some((inner, without_pairs)) if !without_pairs.contains('"') => inner.replace("\"\"", "\""),
        _ => field.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotes_of_spreadsheets() {
        for (field, want) in [
            ("plain", "plain"),
            ("\"quoted\"", "quoted"),
            ("\"say \"\"hi\"\"\"", "say \"hi\""),
            ("\"a\" and \"b\"", "\"a\" and \"b\""),
            ("\"", "\""),
            ("\"\"", ""),
            ("\"half", "\"half"),
            ("5\" disk", "5\" disk"),
        ] {
            assert_eq!(unquote(field), want, "{field}");
        }
    }
}
