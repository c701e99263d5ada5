//! The report as one JSON object (`docs/report.schema.json`).

use std::io::{self, Write};

use super::model::AuditReport;
use super::{Report, Style, json_text};

/// `--format json`.
pub struct Json;

impl Report for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn write(&self, report: &AuditReport, _: Style, out: &mut dyn Write) -> io::Result<()> {
        json_text::write_document(out, report)
    }
}
