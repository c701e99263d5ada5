//! Finding a run's inputs: names, metadata, traces, GT, task facts, configuration.
//!
//! [`discover::discover`] takes what the user named and returns everything the audit starts from.
//! Two owners meet here. The **run directory** belongs to the audited party: its files are read only
//! when they are regular files inside it, its values are hints, nothing in it is executed or opened
//! by a path it names. The **benchmark** (`base_repo`, facts, configuration) belongs to the user:
//! links are followed there, and what is closed is an error with the command that opens it.

pub mod agents;
pub mod artefacts;
mod base_tree;
pub mod config;
pub mod date;
pub mod discover;
pub mod facts_file;
pub mod gt;
pub mod guarded;
mod identity;
pub(crate) mod layout;
pub mod lists;
pub mod metadata;
pub mod name;
pub mod prompt;
mod rivals;
mod run_check;
mod sessions;
pub mod task_facts;
mod toml_source;
pub mod traces;
pub(crate) mod wording;
