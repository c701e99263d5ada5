//! Output formats of the exact-match report: one file each, behind one trait.
//!
//! To add a format, write a file with a type that implements [`Format`] and add it to [`FORMATS`].

mod csv;
mod json;
mod jsonl;
mod markdown;
mod text;

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

/// Most lines of the hunks of a match that formats for people show without `detail`.
const SHOWN_LINES: usize = 16;

/// The lines of the hunks of a match to show, and how many more there are.
fn shown_hunks(files: &[super::gold::FileHunks], style: Style) -> (Vec<&str>, usize) {
    let lines = files
        .iter()
        .flat_map(|file| std::iter::once(file.path.as_str()).chain(file.hunks.lines()));
    let all = lines.clone().count();
    let limit = if style.detail { all } else { SHOWN_LINES };
    (lines.take(limit).collect(), all.saturating_sub(limit))
}

/// `1 line`, `2 lines`.
fn lines(count: u64) -> String {
    format!("{count} line{}", if count == 1 { "" } else { "s" })
}

/// A number without needless digits.
fn number(value: f64) -> String {
    if value == 0.0 || (0.01..1e6).contains(&value) {
        format!("{value:.2}")
    } else {
        format!("{value:.1e}")
    }
}
