//! Reports of an analysis. One format, one file, one line in [`FORMATS`].
//!
//! `text`, `markdown` and `latex` show the same [`view`], each with its own escaping; `json` and `csv`
//! carry the numbers.

use std::io::{self, Write};

use super::analysis::Analysis;

mod agreement;
mod cells;
mod csv;
mod json;
mod latex;
mod markdown;
mod note;
mod text;
pub mod view;

/// A form of output.
pub trait Format: Sync {
    /// The word after `--format`.
    fn name(&self) -> &'static str;

    /// Writes the whole report.
    ///
    /// # Errors
    ///
    /// Only those of the writer.
    fn write(&self, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()>;
}

/// All formats, the default first.
pub const FORMATS: [&dyn Format; 5] = [
    &text::Text,
    &json::Json,
    &markdown::Markdown,
    &csv::Csv,
    &latex::Latex,
];

/// The format of a name.
pub fn by_name(name: &str) -> Option<&'static dyn Format> {
    FORMATS.into_iter().find(|f| f.name() == name)
}

/// Makes a text harmless on a terminal and in a line: control characters and those that reverse or
/// hide text are written as `\u{…}`.
fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        let hides = matches!(c, '\u{200B}'..='\u{200F}' | '\u{2028}'..='\u{202E}' | '\u{2066}'..='\u{2069}' | '\u{FEFF}' | '\u{E0000}'..='\u{E007F}');
        if c.is_control() || hides {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out
}
