//! `score` from files to reports. The published benchmark's tables are used where they are present
//! (`../shared/data`); everything else runs on small tables made here.

// Helpers of tests are outside `#[test]` functions, where clippy does not excuse them.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::too_many_lines
)]

#[path = "score/common.rs"]
mod common;
#[path = "score/formats.rs"]
mod formats;
#[path = "score/hostile.rs"]
mod hostile;
#[path = "score/oracle.rs"]
mod oracle;
#[path = "score/real.rs"]
mod real;
#[path = "score/small.rs"]
mod small;
