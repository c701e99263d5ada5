//! Output formats of the exact-match report: one file each, behind one trait.
//!
//! To add a format, write a file with a type that implements [`Format`] and add it to [`FORMATS`].

mod csv;
mod json;
mod jsonl;
mod markdown;
mod text;
mod wording;

use std::io::{self, Write};

use super::model::Report;

/// How much is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Style {
    /// As CSV, a row for each submission instead of one for each match.
    pub summary: bool,
    /// In formats for people, do not cut long hunks.
    pub detail: bool,
}

/// One output format.
pub trait Format: Sync {
    /// Name for `--format`.
    fn name(&self) -> &'static str;
    /// Writes the whole report.
    ///
    /// # Errors
    /// When `out` does.
    fn write(&self, report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()>;
}

/// All output formats, the default first.
pub const FORMATS: &[&dyn Format] = &[
    &text::Text,
    &json::Json,
    &jsonl::JsonLines,
    &csv::Csv,
    &markdown::Markdown,
];

/// The format of that name.
pub fn format(name: &str) -> Option<&'static dyn Format> {
    FORMATS.iter().copied().find(|format| format.name() == name)
}
