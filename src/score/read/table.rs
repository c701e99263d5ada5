//! Tables: long (one row a rating) or wide (one row a run, columns for each judge).

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use super::collect::{Collector, RunFacts, Statement};
use super::delimited::{Fault, Reader, Record};
use crate::score::model::{Outcome, Place, Points};
use crate::score::profile::{Field, Profile};
use crate::{Error, Result};

/// Longest name of a run, task, agent, judge, in characters.
const MAX_NAME: usize = 512;
/// The judge of a table with a verdict column and no judge column.
const ONLY_JUDGE: &str = "judge";

/// Which columns hold what.
struct Layout {
    fields: BTreeMap<Field, usize>,
    judges: Judges,
    width: usize,
}

enum Judges {
    /// One rating a row: columns of judge (if any), verdict, points.
    Long {
        judge: Option<usize>,
        verdict: usize,
        points: Vec<usize>,
    },
    /// Many ratings a row: name of the judge, verdict column, point columns.
    Wide(Vec<(String, usize, Vec<usize>)>),
}

/// A table that is being read; knows how to complain.
struct Table<'a> {
    path: &'a Path,
    profile: &'a Profile,
    file: usize,
}

/// Reads a table into the collector.
pub(super) fn read<R: BufRead>(
    path: &Path,
    input: R,
    profile: &Profile,
    collector: &mut Collector,
) -> Result<()> {
    let file = collector.file(path);
    let table = Table {
        path,
        profile,
        file,
    };
    let mut reader = Reader::new(input);
    let Some(header) = table.next(&mut reader)? else {
        let fix = "a table starts with a line of column names";
        return Err(table.error(1, "is empty".into(), fix.into()));
    };
    let layout = table.layout(&header, collector)?;
    while let Some(record) = table.next(&mut reader)? {
        if record.fields == header.fields {
            collector.notes().header_rows += 1;
            continue;
        }
        if record.fields.len() != layout.width {
            let what = format!(
                "has {} fields where the header has {}",
                record.fields.len(),
                layout.width
            );
            let fix = "a quote or a comma is missing or too many in this row or the one before";
            return Err(table.error(record.line, what, fix.into()));
        }
        table.row(&layout, &record, collector)?;
    }
    Ok(())
}

impl Table<'_> {
    fn error(&self, line: u64, what: String, fix: String) -> Error {
        Error::BadData {
            path: self.path.into(),
            line: Some(line),
            what,
            fix,
        }
    }

    fn next<R: BufRead>(&self, reader: &mut Reader<R>) -> Result<Option<Record>> {
        reader.next().map_err(|fault| match fault {
            Fault::Io(e) => Error::io(self.path, e),
            Fault::Text(line, what) => {
                let fix = "correct this line; a table is UTF-8 text, comma-separated, quotes doubled inside quotes";
                self.error(line, what, fix.into())
            }
        })
    }

    /// The text of a cell, trimmed; only cells that are used need to be text.
    fn cell<'r>(&self, record: &'r Record, column: usize) -> Result<&'r str> {
        let bytes = record.fields.get(column).map_or(&[][..], Vec::as_slice);
        let fault = |what: &str| {
            let what = format!("field {} {what}", column + 1);
            self.error(record.line, what, "save the table as UTF-8 text".into())
        };
        let text = std::str::from_utf8(bytes)
            .map_err(|_| fault("is not UTF-8"))?
            .trim();
        if text.chars().any(char::is_control) {
            return Err(fault("holds a control character"));
        }
        if text.chars().count() > MAX_NAME {
            return Err(fault(&format!("is longer than {MAX_NAME} characters")));
        }
        Ok(text)
    }

    fn layout(&self, header: &Record, collector: &mut Collector) -> Result<Layout> {
        let mut names = Vec::new();
        for column in 0..header.fields.len() {
            names.push(self.cell(header, column)?.to_string());
        }
        let find = |wanted: &str| -> Result<Option<usize>> {
            let mut hits = names
                .iter()
                .enumerate()
                .filter(|(_, n)| n.eq_ignore_ascii_case(wanted));
            let first = hits.next().map(|(i, _)| i);
            if hits.next().is_some() {
                let what = format!("has two columns named `{wanted}`");
                return Err(self.error(header.line, what, "rename one of them".into()));
            }
            Ok(first)
        };
        let mut fields = BTreeMap::new();
        for (field, headers) in &self.profile.columns {
            for wanted in headers {
                if let Some(column) = find(wanted)? {
                    fields.entry(*field).or_insert(column);
                    break;
                }
            }
        }
        let verdict = fields.get(&Field::Verdict).copied();
        let (judges, components) = if let Some(verdict) = verdict {
            let mut points = Vec::new();
            let mut components = Vec::new();
            for wanted in self.profile.headers(Field::Points) {
                if let Some(column) = find(wanted)? {
                    points.push(column);
                    components.push(wanted.clone());
                }
            }
            let judge = fields.get(&Field::Judge).copied();
            (
                Judges::Long {
                    judge,
                    verdict,
                    points,
                },
                components,
            )
        } else {
            let mut judges = Vec::new();
            let ending = self.profile.wide_verdict.as_str();
            for (column, name) in names.iter().enumerate() {
                let Some(judge) = name.strip_suffix(ending).filter(|j| !j.is_empty()) else {
                    continue;
                };
                find(name)?;
                let mut points = Vec::new();
                for ending in &self.profile.wide_points {
                    points.extend(find(&format!("{judge}{ending}"))?);
                }
                judges.push((judge.to_string(), column, points));
            }
            (Judges::Wide(judges), self.profile.wide_points.clone())
        };
        if matches!(&judges, Judges::Wide(judges) if judges.is_empty()) {
            return Err(self.no_verdict(header.line, &names));
        }
        if let Judges::Wide(judges) = &judges {
            if judges.iter().any(|(_, _, points)| !points.is_empty()) {
                collector.components(&components);
            }
        } else if !components.is_empty() {
            collector.components(&components);
        }
        Ok(Layout {
            fields,
            judges,
            width: names.len(),
        })
    }

    fn no_verdict(&self, line: u64, names: &[String]) -> Error {
        let mut listed: Vec<&str> = names.iter().map(String::as_str).take(40).collect();
        if names.len() > listed.len() {
            listed.push("...");
        }
        let fix = format!(
            "name the column with --column verdict=HEADER, or give a wide table columns `JUDGE{}`",
            self.profile.wide_verdict
        );
        self.error(
            line,
            format!(
                "has no column with verdicts; its columns are: {}",
                listed.join(", ")
            ),
            fix,
        )
    }

    fn row(&self, layout: &Layout, record: &Record, collector: &mut Collector) -> Result<()> {
        let text = |field: Field| -> Result<String> {
            match layout.fields.get(&field) {
                Some(column) => Ok(self.cell(record, *column)?.to_string()),
                None => Ok(String::new()),
            }
        };
        let facts = RunFacts {
            run: text(Field::Run)?,
            task: text(Field::Task)?,
            agent: text(Field::Agent)?,
            prompt: text(Field::Prompt)?,
            date: text(Field::Date)?,
            family: text(Field::Family)?,
        };
        let place = Place {
            file: self.file,
            line: record.line,
        };
        let run = collector.run(facts, place)?;
        match &layout.judges {
            Judges::Long {
                judge,
                verdict,
                points,
            } => {
                let judge = match judge {
                    Some(column) => self.cell(record, *column)?,
                    None => ONLY_JUDGE,
                };
                self.statement(record, (judge, *verdict, points), &run, collector)
            }
            Judges::Wide(judges) => {
                for (judge, verdict, points) in judges {
                    self.statement(record, (judge, *verdict, points), &run, collector)?;
                }
                Ok(())
            }
        }
    }

    /// One judge's verdict and points on the run.
    fn statement(
        &self,
        record: &Record,
        (judge, verdict, points): (&str, usize, &[usize]),
        run: &str,
        collector: &mut Collector,
    ) -> Result<()> {
        let Some(verdict) = self.verdict(record, verdict)? else {
            collector.notes().blank_verdicts += 1;
            return Ok(());
        };
        if judge.is_empty() {
            let fix = "fill the cell, or name the right column with --column judge=HEADER";
            return Err(self.error(record.line, "has a verdict and no judge".into(), fix.into()));
        }
        let mut values = Vec::with_capacity(points.len());
        for column in points {
            let text = self.cell(record, *column)?;
            if !text.is_empty() {
                let value = Points::parse(text).map_err(|why| {
                    let fix = "points are plain decimals such as 4 or 2.5; leave the cell blank if there are none";
                    self.error(record.line, format!("field {}: `{text}` {why}", column + 1), fix.into())
                })?;
                values.push(value);
            }
        }
        if values.len() != points.len() {
            let notes = collector.notes();
            if values.is_empty() {
                notes.blank_points += 1;
            } else {
                notes.torn_points += 1;
            }
            values.clear();
        }
        let statement = Statement {
            judge: judge.to_string(),
            verdict,
            points: values,
        };
        let place = Place {
            file: self.file,
            line: record.line,
        };
        collector.rating(run, statement, place)
    }

    fn verdict(&self, record: &Record, column: usize) -> Result<Option<Outcome>> {
        let word = self.cell(record, column)?;
        if word.is_empty() {
            return Ok(None);
        }
        self.profile.outcome(word).map(Some).ok_or_else(|| {
            let what = format!("`{word}` is not a known verdict; known are: {}", self.profile.allowed_words());
            let fix = "correct the cell, or give the word a meaning under [verdicts] in a file for --profile";
            self.error(record.line, what, fix.into())
        })
    }
}
