//! The report as one JSON object.

use std::io::{self, Write};

use super::super::model::Report;
use super::{Format, Style};
use crate::report::json_text;

/// `--format json`.
pub(super) struct Json;

impl Format for Json {
    fn name(&self) -> &'static str {
        "json"
    }

    fn write(&self, report: &Report<'_>, _: Style, out: &mut dyn Write) -> io::Result<()> {
        json_text::write_document(out, report)
    }
}
