//! Shells that go on from one call to the next, and the variables that they keep.
//!
//! Only tools that are known to type into one shell: elsewhere `git show $X` shows `HEAD`, since nothing is left
//! of an `X=…` in an earlier call.

use std::collections::BTreeMap;

use crate::trace::event::{Actor, Event};

/// Tools with a shell that goes on, in lower case.
const LASTING: &[&str] = &[
    "execute_bash",
    "run_terminal_cmd",
    "run_terminal_command",
    "terminal",
];

/// Variables by who uses the shell.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    variables: BTreeMap<String, Vec<(String, String)>>,
}

impl Sessions {
    /// What the shell of a call has when the call begins.
    pub(super) fn variables(&self, event: &Event) -> Vec<(String, String)> {
        let known = user(event).and_then(|user| self.variables.get(&user));
        known.cloned().unwrap_or_default()
    }

    /// Remembers what the shell has at the end.
    pub(super) fn learn(&mut self, event: &Event, variables: &[(String, String)]) {
        /// Children whose shells are told apart.
        const MOST: usize = 256;
        let Some(user) = user(event) else { return };
        if self.variables.len() < MOST || self.variables.contains_key(&user) {
            self.variables.insert(user, variables.to_vec());
        }
    }
}

/// Who uses the shell; `None` if it ends with the call.
fn user(event: &Event) -> Option<String> {
    let tool = event.tool.as_deref()?.to_ascii_lowercase();
    LASTING
        .contains(&tool.as_str())
        .then(|| match &event.actor {
            Actor::Main => String::new(),
            Actor::Child { id, .. } => id.clone(),
        })
}
