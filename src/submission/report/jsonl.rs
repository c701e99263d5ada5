//! The report as JSON lines: one submission a line, each complete in itself.

use std::io::{self, Write};

use serde::Serialize;

use super::super::model::{Inputs, Report, Submission, Tool};
use super::{Format, Style};
use crate::report::json_text;

/// `--format jsonl`.
pub(super) struct JsonLines;

#[derive(Serialize)]
struct Line<'a> {
    schema: &'static str,
    tool: &'a Tool,
    inputs: &'a Inputs<'a>,
    #[serde(flatten)]
    submission: &'a Submission<'a>,
}

impl Format for JsonLines {
    fn name(&self) -> &'static str {
        "jsonl"
    }

    fn write(&self, report: &Report<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        for submission in &report.submissions {
            let line = Line {
                schema: report.schema,
                tool: &report.tool,
                inputs: &report.inputs,
                submission,
            };
            json_text::write_line(out, &line)?;
        }
        Ok(())
    }
}
