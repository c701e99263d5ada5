//! One adapter per agent format.
//!
//! To add a format: one file here with a [`Format`] constant, one line in [`FORMATS`], one sample in
//! the tests. The order of the table decides between formats that a record fits equally weakly, so
//! the poorer format stands first: reading little out of a rich record is noticed (its calls are
//! missing), inventing structure is not.

use super::detect::{Body, Fit};
use super::step::Steps;

mod claude_message;
mod claude_session;
mod claude_stream;
mod codex_exec;
mod codex_exec_old;
mod cursor_json;
mod cursor_stream;
mod cursor_tool;
mod generic;
mod opencode_run;
mod rovo_dev;

pub(crate) use generic::Generic;

/// Turns the records of one file into steps. Has the state of that file: an adapter is opened anew for
/// each file.
pub(crate) trait Adapter {
    /// Reads one record.
    fn record(&mut self, body: &Body<'_>, out: &mut Steps);

    /// Says what was held back: the file goes on in another format, or ends (`end`).
    fn flush(&mut self, end: bool, out: &mut Steps) {
        let _ = (end, out);
    }
}

/// A format and how to read it.
pub(crate) struct Format {
    /// Its name in reports.
    pub(crate) name: &'static str,
    /// How well a record fits.
    pub(crate) fit: fn(&Body<'_>) -> Fit,
    /// An adapter for one file.
    pub(crate) open: fn() -> Box<dyn Adapter>,
    /// The format records tool calls at all.
    pub(crate) records_calls: bool,
}

/// All formats.
pub(crate) const FORMATS: &[Format] = &[
    cursor_json::FORMAT,
    cursor_stream::FORMAT,
    claude_stream::FORMAT,
    claude_session::FORMAT,
    codex_exec::FORMAT,
    codex_exec_old::FORMAT,
    opencode_run::FORMAT,
    rovo_dev::FORMAT,
];

#[cfg(test)]
mod tests;
