//! Finding a run's inputs: names, metadata, traces, GT, task facts, configuration.

pub mod task_facts;
