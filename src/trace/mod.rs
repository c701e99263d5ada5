//! From the bytes of an agent's log to one stream of normalised events.
//!
//! `input` gives UTF-8 bytes, `reader` cuts them into records, `detect` and `formats` turn each record
//! into calls, results and messages, and the `linker` joins results to calls, drops repeats and
//! numbers the events. Nothing here aborts on bad input: every problem is counted and lowers the
//! coverage.
//!
//! ```text
//! bytes ─input─> UTF-8 ─reader─> spans ─json, mend─> bodies ─detect─> adapter ─> steps ─linker─> events
//! ```

mod ahead;
mod buffer;
mod children;
mod container;
mod coverage;
mod detect;
mod document;
pub mod event;
mod formats;
mod hold;
mod input;
mod intact;
mod json;
mod jsonl;
mod linker;
mod mend;
mod open_calls;
mod outcome;
mod patch_text;
mod pipeline;
mod problem;
mod reader;
mod records;
mod report;
mod scan;
mod seen;
mod sessions;
mod shell_words;
mod sidecar;
mod step;
#[cfg(test)]
mod testing;
mod text;
mod tools;
mod utf16;
mod wrapped;
mod zip;

pub use formats::format_names;
pub(crate) use input::head_of;
pub use jsonl::{EventLine, event_to_json};
pub use pipeline::{format_of, read_bytes, read_traces};
pub use problem::TraceProblem;
pub use report::{TraceFile, TraceFileReport, TraceReport};
