//! The report as one JSON object.

use std::io::{self, Write};

use super::super::model::Report;
use super::{Format, Style};

/// `--format json`.
pub(super) struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn write(&self, report: &Report<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, report)?;
        out.write_all(b"\n")
    }
}
