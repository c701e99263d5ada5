//! Finding a run's inputs: names, metadata, traces, GT, task facts, configuration.

pub mod agents;
pub mod artefacts;
mod base_tree;
pub mod config;
pub mod date;
pub mod gt;
pub mod facts_file;
pub mod guarded;
mod layout;
pub mod lists;
pub mod metadata;
pub mod name;
pub mod prompt;
pub mod task_facts;
mod toml_source;
pub mod traces;
mod wording;
