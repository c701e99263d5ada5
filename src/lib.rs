//! `trace-audit` answers one question about a run of a coding agent: was the patch written, or
//! copied from the ground truth (GT)?
//!
//! ```text
//! run dir ─experiment─> trace files ─trace──> events ─┬─> rules ──────> findings ──┐
//!             │                                       └─> provenance ─> ledger ────┤
//!             ├─> work tree vs base ─patch─> agent patch ─┐                        ├─> facts
//!             └─> GT, file lists, task facts ─────────────┴─> similarity ──────────┘
//!     facts of one or many runs ─> verdict (a pure function) ─> report
//! ```
//!
//! Everything flows in one direction. Adapters in [`trace`] know the log formats and no rules;
//! [`rules`] knows events and no JSON; [`similarity`] knows patches and no traces; [`verdict`] is a
//! pure function of one struct of measurements; only the binary prints.

#![cfg_attr(
    test,
    allow(
        clippy::string_slice,
        clippy::too_many_lines,
        reason = "tests may stop on the first surprise, and their tables are long"
    )
)]

pub mod audit;
mod base64;
mod digest;
pub mod error;
pub mod experiment;
pub mod patch;
pub mod provenance;
pub mod report;
pub mod rules;
pub mod score;
pub mod shell;
pub mod similarity;
pub mod stored;
pub mod submission;
pub mod sweep;
pub mod trace;
pub mod verdict;

pub use error::{Error, Result};
