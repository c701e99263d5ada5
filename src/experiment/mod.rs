//! Finding a run's inputs: names, metadata, traces, GT, task facts, configuration.

pub mod agents;
pub mod artefacts;
pub mod date;
pub mod guarded;
pub mod lists;
pub mod metadata;
pub mod name;
pub mod task_facts;
pub mod traces;
mod wording;
