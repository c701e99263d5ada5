//! A run of which two tasks are said to be its own.
//!
//! The name of the directory is the benchmark's, the metadata in it could be the agent's. Where they disagree, and
//! both tasks exist, neither is believed: the run is read as one of each, and its audit takes the worst.

use super::config::Config;
use super::discover::{Options, RunInputs, discover};
use super::guarded::RunDir;
use super::identity::Identity;
use super::wording::show;

/// The run as one of each other task that it may be of. Where such a task has a reference that cannot be read,
/// that is said.
pub(super) fn find(
    run: Option<&RunDir>,
    id: &Identity,
    options: &Options,
    config: &Config,
    notes: &mut Vec<String>,
) -> Vec<RunInputs> {
    let (Some(run), true) = (run, options.gt.is_empty()) else {
        return Vec::new();
    };
    let mut rivals = Vec::new();
    for task in &id.rival_tasks {
        let options = Options {
            task: Some(task.clone()),
            ..options.clone()
        };
        // With a flag nothing is disputed, so this ends here.
        match discover(Some(&run.path), &options, config) {
            Ok(inputs) => rivals.push(inputs),
            Err(error) => notes.push(format!("not judged as a run of {}: {error}", show(task))),
        }
    }
    rivals
}
