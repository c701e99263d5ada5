//! How much of the GT stands in the agent's patch, by several measures that fail differently.
//!
//! Knows patches and no traces. One metric a file.

pub mod blocks;
pub mod candidate;
pub mod chance;
pub mod comments;
pub mod compare;
pub mod confusables;
pub mod containment;
pub mod distinctive;
pub(crate) mod finder;
pub mod generated;
pub mod gitattributes;
pub mod hunks;
pub mod lexer;
mod mechanical;
pub mod model;
pub mod models;
pub mod multiset;
pub mod new_paths;
pub mod normalise;
pub mod pairing;
pub mod prepare;
pub mod prose;
pub mod reference;
pub mod regular;
pub mod remarks;
pub mod runs;
pub mod scope;
pub mod starter;
pub mod syntax;
pub mod testpath;
pub mod tokens;
pub mod whole;
