//! Many runs: found, read several at a time, judged together.
//!
//! ```text
//! directory or list ─select─> plan ─run (cache)─> entries ─┬────────────────> judging ─> output
//!                                                          └─shard─> files ─merge─┘
//! ```
//!
//! An entry holds the facts of one run, complete in themselves; it is what the cache keeps, what a
//! shard writes and what is judged. Judging sees all entries in order and nothing else, so that the
//! result is the same byte for byte whatever number of threads, cache or machines produced them.

pub mod across;
pub mod cache;
pub mod entry;
pub mod evaluator;
pub mod group;
pub mod judging;
pub mod key;
pub mod output;
pub mod paragraph;
pub mod plan;
pub mod progress;
pub mod run;
pub mod select;
pub mod shard;
pub mod summary;
pub mod table;
#[cfg(test)]
pub(crate) mod testing;
