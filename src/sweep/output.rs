//! The output of a sweep: one report after the other while it goes, the sums at the end.
//!
//! Every format streams, so that a sweep of any size needs no more memory for its output than for one
//! run, and whoever reads along sees each task as soon as it is judged.

use std::io::{self, Write};

use serde::Serialize;

use super::summary::SweepSummary;
use super::{paragraph, table};
use crate::report::model::{RunReport, SCHEMA, Summary, ToolInfo};
use crate::report::{Style, json_text, jsonl, markdown, text};

/// What the sums are about.
#[derive(Debug, Clone, Copy)]
pub struct Sums<'a> {
    /// What made the reports.
    pub tool: &'a ToolInfo,
    /// Counts by verdict.
    pub summary: &'a Summary,
    /// The rest.
    pub sweep: &'a SweepSummary,
}

/// How a sweep is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// The sums for a person; with [`Style::verbose`] a line for each run before them.
    Text,
    /// One document with all runs, the counts and the sums.
    Json,
    /// One run a line, no sums.
    JsonLines,
    /// Rows for an audit log and a paragraph for a paper.
    Markdown,
}

impl Format {
    /// The names for `--format`.
    pub const NAMES: [&'static str; 4] = ["text", "json", "jsonl", "markdown"];

    /// The format of that name.
    pub fn of_name(name: &str) -> Option<Self> {
        match name {
            "text" => Some(Self::Text),
            "json" => Some(Self::Json),
            "jsonl" => Some(Self::JsonLines),
            "markdown" => Some(Self::Markdown),
            _ => None,
        }
    }
}

/// Writes a sweep.
pub struct Writer<'a> {
    format: Format,
    style: Style,
    tool: &'a ToolInfo,
    /// Reports written so far.
    written: u64,
}

/// What stands before the runs of a document.
#[derive(Serialize)]
struct Opening<'a> {
    schema: &'static str,
    tool: &'a ToolInfo,
}

impl<'a> Writer<'a> {
    /// A writer that has written nothing yet.
    pub fn new(format: Format, style: Style, tool: &'a ToolInfo) -> Self {
        Self {
            format,
            style,
            tool,
            written: 0,
        }
    }

    /// Writes what comes before the first run.
    ///
    /// # Errors
    /// What the stream says.
    pub fn begin(&self, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::Text | Format::JsonLines => Ok(()),
            Format::Markdown => markdown::write_head(self.style.lang, out),
            Format::Json => {
                let opening = Opening {
                    schema: SCHEMA,
                    tool: self.tool,
                };
                let mut head = Vec::new();
                json_text::write_line(&mut head, &opening)?;
                // The object stays open.
                let open = head.strip_suffix(b"}\n").unwrap_or(&head);
                out.write_all(open)?;
                out.write_all(b",\"runs\":[")
            }
        }
    }

    /// Writes one run.
    ///
    /// # Errors
    /// What the stream says.
    pub fn run(&mut self, run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
        let first = self.written == 0;
        self.written += 1;
        match self.format {
            Format::Text if self.style.verbose => text::headline(run, self.style.lang, out),
            Format::Text => Ok(()),
            Format::JsonLines => jsonl::write_run(self.tool, run, out),
            Format::Markdown => markdown::write_row(run, self.style.lang, out),
            Format::Json => {
                out.write_all(if first { b"\n" } else { b",\n" })?;
                let mut line = Vec::new();
                json_text::write_line(&mut line, run)?;
                out.write_all(line.strip_suffix(b"\n").unwrap_or(&line))
            }
        }
    }

    /// Writes what comes after the last run.
    ///
    /// # Errors
    /// What the stream says.
    pub fn end(&self, sums: &Sums<'_>, out: &mut dyn Write) -> io::Result<()> {
        match self.format {
            Format::JsonLines => Ok(()),
            Format::Text => {
                if self.style.verbose && self.written > 0 {
                    writeln!(out)?;
                }
                table::write(sums, self.style, out)
            }
            Format::Markdown => {
                writeln!(out)?;
                paragraph::write(sums, self.style.lang, out)
            }
            Format::Json => {
                out.write_all(b"\n],\"summary\":")?;
                let mut line = Vec::new();
                json_text::write_line(&mut line, sums.summary)?;
                out.write_all(line.strip_suffix(b"\n").unwrap_or(&line))?;
                out.write_all(b",\"sweep\":")?;
                line.clear();
                json_text::write_line(&mut line, sums.sweep)?;
                out.write_all(line.strip_suffix(b"\n").unwrap_or(&line))?;
                out.write_all(b"}\n")
            }
        }
    }
}
