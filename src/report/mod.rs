//! Output formats: one file each, behind one trait.
//!
//! To add a format, write a file with a type that implements [`Report`] and add it to [`FORMATS`].

pub mod escape;
pub mod json;
pub mod json_text;
pub mod jsonl;
pub mod markdown;
pub mod model;
pub mod phrases;
pub mod sentences;
pub mod text;

use std::io::{self, Write};

use model::AuditReport;

pub use crate::verdict::words::Lang;

/// How much a format for people shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Style {
    /// Language of the words.
    pub lang: Lang,
    /// Show every finding, also mentions, and every compared file.
    pub verbose: bool,
    /// Show only the line with the verdict.
    pub quiet: bool,
}

/// One output format.
pub trait Report: Sync {
    /// Name for `--format`.
    fn name(&self) -> &'static str;
    /// Writes the whole report.
    fn write(&self, report: &AuditReport, style: Style, out: &mut dyn Write) -> io::Result<()>;
}

/// All output formats, the default first.
pub const FORMATS: &[&dyn Report] = &[
    &text::Text,
    &json::Json,
    &jsonl::JsonLines,
    &markdown::Markdown,
];

/// The format of that name.
pub fn format(name: &str) -> Option<&'static dyn Report> {
    FORMATS.iter().copied().find(|f| f.name() == name)
}
