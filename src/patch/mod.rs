//! Unified diffs and work trees, both as one [`Patch`](model::Patch) type.
//!
//! [`parse`] reads a diff; [`worktree_patch`] makes one from the final tree of a run and its base. The
//! run directory belongs to the party under audit: nothing in it is executed, no link in it is followed,
//! and git never runs with its configuration (see [`objects`]).

pub mod apply;
mod cursor;
pub mod diff;
mod envelope;
mod hunk;
pub mod model;
mod names;
mod render;
mod unified;

pub use apply::apply;
pub use render::render;
pub use unified::parse;
