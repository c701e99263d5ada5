//! Finding a run's inputs: names, metadata, traces, GT, task facts, configuration.

pub mod agents;
pub mod date;
pub mod name;
pub mod task_facts;
