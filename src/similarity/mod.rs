//! How much of the GT stands in the agent's patch, by several measures that fail differently.
//!
//! Knows patches and no traces. One metric a file.

pub mod comments;
pub mod confusables;
pub mod model;
pub mod normalise;
pub mod syntax;
