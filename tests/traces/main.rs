//! Traces as people have them: real files against an independent count, one scenario in every format,
//! damage, size, and input that is no trace at all.

// The helpers of tests are tests too.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::panic,
    clippy::print_stdout
)]

mod beside;
mod containers;
mod damage;
mod documents;
mod hostile;
mod limits;
mod memory;
mod real;
mod samples;
mod sidecars;
mod support;
mod throughput;
