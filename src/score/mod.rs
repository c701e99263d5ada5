//! What remains of a ranking when the leaks are out.
//!
//! ```text
//! tables, reports ─read──> scores ──┐
//! audit (jsonl)   ─read──> audits ──┼─> treatments ─> tables, agreement, ranks ─> sensitivity ─> report
//! names to leave out ───────────────┘
//! ```
//!
//! Verdicts of the judges are read and never computed again; the panel's rule makes one verdict of
//! them. Every rate, mean and kappa is an exact fraction ([`exact`]), rounded once when printed. What
//! is left out, and what stands in for it, is a [`treatments`] matter and is always printed with the
//! numbers. `docs/score.md` has the formulas, the forms of input and the known differences to
//! published numbers.

pub mod agreement;
pub mod analysis;
pub mod bootstrap;
pub mod differences;
pub mod exact;
pub mod interval;
pub mod model;
mod notes;
pub mod panel;
pub mod profile;
pub mod rank;
pub mod read;
pub mod report;
pub mod sensitivity;
pub mod standing;
pub mod tables;
#[cfg(test)]
mod testing;
pub mod treatments;
