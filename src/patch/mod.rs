//! Unified diffs and work trees, both as one [`Patch`](model::Patch) type.
//!
//! [`parse`] reads a diff; [`worktree_patch`] makes one from the final tree of a run and its base. The
//! run directory belongs to the party under audit: nothing in it is executed, no link in it is followed,
//! and git never runs with its configuration (see [`objects`]).

pub mod apply;
pub mod base;
mod cursor;
pub mod diff;
mod envelope;
pub mod fit;
pub mod forms;
pub mod history;
mod hunk;
pub mod model;
mod names;
pub mod objects;
mod render;
pub mod tree;
mod unified;
pub mod worktree;

pub use apply::apply;
pub use base::{Base, BaseInfo, BaseRequest, BaseShelf, choose_base};
pub use fit::{Fit, fits};
pub use forms::{GtPatch, load_gt, load_patch, load_range};
pub use render::render;
pub use tree::BaseTree;
pub use unified::parse;
pub use worktree::{AgentPatch, Apart, ApartKind, TreeFlags, apart_without_base, worktree_patch};
