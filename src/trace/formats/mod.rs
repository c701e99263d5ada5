//! One adapter per agent format.
//!
//! To add a format: one file here with a [`Format`] constant, one line in [`FORMATS`], one sample in
//! the tests. The order of the table decides between formats that a record fits equally weakly, so
//! the poorer format stands first: reading little out of a rich record is noticed (its calls are
//! missing), inventing structure is not.

use super::detect::{Body, Fit};
use super::json::Json;
use super::step::Steps;

mod aider_chat;
mod aider_llm;
mod antigravity;
mod atif;
mod attachments;
mod blocks;
mod chat;
mod chat_message;
mod claude_message;
mod claude_session;
mod claude_stream;
mod cline;
mod codex_exec;
mod codex_exec_old;
mod codex_items;
mod codex_rollout;
mod copilot;
mod cursor_json;
mod cursor_stream;
mod cursor_tool;
mod cursor_transcript;
mod droid;
mod gemini_chat;
mod gemini_parts;
mod gemini_stream;
mod generic;
mod goose;
mod grok;
mod hermes;
mod inspect;
mod kimi;
mod mini_swe_agent;
mod opencode_export;
mod opencode_run;
mod openhands;
mod openhands_sdk;
mod pi;
mod qwen_chat;
mod qwen_stream;
mod rovo_dev;
mod search_replace;
mod swe_agent;
mod terminal_bench;
mod user_turn;

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
    /// Written from descriptions of the format: no real file was there to check it against.
    pub(crate) experimental: bool,
}

/// All formats.
pub(crate) const FORMATS: &[Format] = &[
    cursor_json::FORMAT,
    cursor_stream::FORMAT,
    claude_stream::FORMAT,
    claude_session::FORMAT,
    codex_exec::FORMAT,
    codex_exec_old::FORMAT,
    codex_rollout::FORMAT,
    opencode_run::FORMAT,
    rovo_dev::FORMAT,
    gemini_stream::FORMAT,
    gemini_chat::FORMAT,
    qwen_stream::FORMAT,
    qwen_chat::FORMAT,
    copilot::FORMAT,
    inspect::FORMAT,
    cursor_transcript::FORMAT,
    opencode_export::FORMAT,
    aider_chat::FORMAT,
    aider_llm::FORMAT,
    mini_swe_agent::FORMAT,
    swe_agent::FORMAT,
    openhands::FORMAT,
    openhands_sdk::FORMAT,
    pi::FORMAT,
    droid::FORMAT,
    kimi::FORMAT,
    grok::FORMAT,
    hermes::FORMAT,
    antigravity::FORMAT,
    atif::FORMAT,
    terminal_bench::FORMAT,
    cline::FORMAT,
    goose::FORMAT,
    // Last: agents with a format of their own use the same keys.
    chat::FORMAT,
];

/// The sub-agent whose steps a file holds that begins with that record.
pub(crate) fn child_name<'j>(first: &'j Json<'_>) -> Option<&'j str> {
    claude_session::child_name(first).or_else(|| codex_rollout::child_name(first))
}

/// The names of all formats that are read, as reports show them.
pub fn format_names() -> Vec<&'static str> {
    FORMATS.iter().map(|format| format.name).collect()
}

#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_agents;
