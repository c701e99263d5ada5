//! Command text: what would be executed, and what is only data.

pub mod model;
