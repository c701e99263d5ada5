//! Exact-match audit of submissions: how many predictions of a benchmark submission equal the gold patch.

pub mod blog_rule;
mod digits;
mod python;
pub mod robust_rule;
pub mod statistics;
pub mod unidiff;
