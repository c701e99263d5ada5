//! Unified diffs and work trees, both as one [`Patch`](model::Patch) type.

pub mod model;
