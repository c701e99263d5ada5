//! Where the lines came from, and what follows: whole runs, made by a generator, through the whole tool.
//!
//! Runs on the benchmark author's ground truths need the data beside the project; without it those
//! tests print that they were skipped.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    unreachable_pub
)]

mod attacks;
mod deeds;
mod elsewhere;
mod given;
mod invent;
mod leaks;
mod ledger;
mod mechanical;
mod mutate;
mod one_file;
mod own_work;
mod retold;
mod script;
mod situations;
#[path = "../support/mod.rs"]
mod support;
mod turns;
mod unclear;
mod world;
