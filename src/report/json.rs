//! The report as one JSON object (`docs/report.schema.json`).

use std::io::{self, Write};

use super::model::AuditReport;
use super::{Report, Style};

/// `--format json`.
pub struct Json;

impl Report for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn write(&self, report: &AuditReport, _: Style, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, report)?;
        out.write_all(b"\n")
    }
}
