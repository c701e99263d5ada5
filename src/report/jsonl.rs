//! The report as JSON lines: one run a line, each complete in itself.

use std::io::{self, Write};

use serde::Serialize;

use super::model::{AuditReport, RunReport, SCHEMA, ToolInfo};
use super::{Report, Style, json_text};

/// `--format jsonl`.
pub struct JsonLines;

#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    tool: &'a ToolInfo,
    #[serde(flatten)]
    run: &'a RunReport,
}

/// Writes one run as one line.
///
/// # Errors
/// What the stream says.
pub fn write_run(tool: &ToolInfo, run: &RunReport, out: &mut dyn Write) -> io::Result<()> {
    let line = Line {
        schema: SCHEMA,
        tool,
        run,
    };
    json_text::write_line(out, &line)
}

impl Report for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn write(&self, report: &AuditReport, _: Style, out: &mut dyn Write) -> io::Result<()> {
        for run in &report.runs {
            write_run(&report.tool, run, out)?;
        }
        Ok(())
    }
}
