//! Sub-agents: which were started, by whom, and whether their own steps are in the trace.

use std::collections::{BTreeMap, HashMap};

use super::event::{Actor, Outcome};
use super::sessions::Session;
use super::step::Who;

/// Sub-agents that are kept account of. The trace of a run that started more is never complete.
const MAX_CHILDREN: usize = 1 << 16;
/// Names that one sub-agent may have.
const MAX_NAMES: usize = 8;

#[derive(Debug, Default)]
struct Child {
    /// What called itself what: shown to people.
    label: String,
    /// Id of the sub-agent that started it, if the main agent did not.
    parent: Option<String>,
    /// Agent and session ids.
    names: Vec<String>,
    /// The call was refused, so nothing was started.
    refused: bool,
    /// Calls that it made, as far as the format counts them.
    calls: Option<u64>,
}

/// The account of all sub-agents of a run.
#[derive(Debug, Default)]
pub(crate) struct Children {
    /// By session and id of the call.
    started: BTreeMap<(Session, String), Child>,
    /// Which call an agent id belongs to.
    by_name: HashMap<String, (Session, String)>,
    /// Ids under which steps were seen, with the number of calls among them.
    seen: HashMap<String, u64>,
    /// Some were not kept account of.
    overflow: bool,
}

impl Children {
    /// A call that starts a sub-agent.
    pub(crate) fn started(&mut self, session: Session, call: &str, label: String, by: &Who) {
        let parent = match by {
            Who::Main => None,
            Who::Child(id) => Some(id.clone()),
        };
        if let Some(child) = self.child(session, call) {
            child.label = label;
            child.parent = parent;
        }
    }

    /// Another name of the sub-agent that a call started.
    pub(crate) fn named(&mut self, session: Session, call: &str, name: &str, calls: Option<u64>) {
        let Some(child) = self.child(session, call) else {
            return;
        };
        child.calls = child.calls.max(calls);
        if !child.names.iter().any(|known| known == name) && child.names.len() < MAX_NAMES {
            child.names.push(name.to_owned());
            self.by_name
                .insert(name.to_owned(), (session, call.to_owned()));
        }
    }

    /// The result of the call.
    pub(crate) fn answered(&mut self, session: Session, call: &str, outcome: &Outcome) {
        if let Some(child) = self.started.get_mut(&(session, call.to_owned())) {
            child.refused |= outcome.denied;
        }
    }

    /// A step under that id.
    pub(crate) fn saw(&mut self, id: &str, is_call: bool) {
        if let Some(calls) = self.seen.get_mut(id) {
            *calls += u64::from(is_call);
        } else if self.seen.len() < 2 * MAX_CHILDREN {
            self.seen.insert(id.to_owned(), u64::from(is_call));
        } else {
            self.overflow = true;
        }
    }

    /// The actor for an event.
    pub(crate) fn actor(&self, session: Session, who: &Who) -> Actor {
        match who {
            Who::Main => Actor::Main,
            Who::Child(id) => {
                let direct = (session, id.clone());
                let key = self.by_name.get(id).unwrap_or(&direct);
                Actor::Child {
                    id: id.clone(),
                    parent: self.started.get(key).and_then(|child| child.parent.clone()),
                }
            }
        }
    }

    /// Sub-agents whose steps are not all there, in words, sorted.
    pub(crate) fn missing(&self) -> Vec<String> {
        let mut missing: Vec<String> = self
            .started
            .iter()
            .filter(|(_, child)| !child.refused)
            .filter_map(|((_, call), child)| {
                let ids = child.names.iter().chain([call]);
                let counts: Vec<u64> = ids.filter_map(|id| self.seen.get(id)).copied().collect();
                let calls: u64 = counts.iter().sum();
                let shown = child.names.last().unwrap_or(call);
                let name = match child.label.as_str() {
                    "" => shown.clone(),
                    label => format!("{shown} ({label})"),
                };
                if counts.is_empty() {
                    Some(name)
                } else if child.calls.is_some_and(|all| all > calls) {
                    Some(format!("{name}, {calls} of its calls recorded"))
                } else {
                    None
                }
            })
            .collect();
        if self.overflow {
            missing.push(format!("more than {MAX_CHILDREN} sub-agents"));
        }
        missing
    }

    fn child(&mut self, session: Session, call: &str) -> Option<&mut Child> {
        let key = (session, call.to_owned());
        if self.started.len() >= MAX_CHILDREN && !self.started.contains_key(&key) {
            self.overflow = true;
            return None;
        }
        Some(self.started.entry(key).or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn started() -> Children {
        let mut children = Children::default();
        children.started(0, "call1", "Task".into(), &Who::Main);
        children
    }

    #[test]
    fn a_child_is_missing_until_a_step_of_it_was_seen() {
        let mut children = started();
        assert_eq!(children.missing(), ["call1 (Task)"]);
        children.saw("call1", false);
        assert_eq!(children.missing(), Vec::<String>::new());

        let mut children = started();
        children.named(0, "call1", "agent9", None);
        assert_eq!(children.missing(), ["agent9 (Task)"]);
        children.saw("agent9", true);
        assert_eq!(children.missing(), Vec::<String>::new());
    }

    #[test]
    fn some_of_its_calls_are_not_enough() {
        let mut children = started();
        children.named(0, "call1", "agent9", Some(2));
        children.saw("agent9", true);
        assert_eq!(
            children.missing(),
            ["agent9 (Task), 1 of its calls recorded"]
        );
        children.saw("call1", true);
        assert_eq!(children.missing(), Vec::<String>::new());
    }

    #[test]
    fn a_refused_call_started_nothing() {
        let mut children = started();
        let refused = Outcome {
            denied: true,
            ..Outcome::default()
        };
        children.answered(1, "call1", &refused);
        assert_eq!(children.missing().len(), 1, "another session's call");
        children.answered(0, "call1", &refused);
        assert_eq!(children.missing(), Vec::<String>::new());
    }

    #[test]
    fn parents() {
        let mut children = started();
        children.named(0, "call1", "agent9", None);
        children.started(0, "call2", "Task".into(), &Who::Child("agent9".into()));
        children.named(0, "call2", "agent10", None);
        let actor = |id: &str| children.actor(0, &Who::Child(id.into()));
        assert_eq!(
            actor("agent10"),
            Actor::Child {
                id: "agent10".into(),
                parent: Some("agent9".into())
            }
        );
        assert_eq!(
            actor("call1"),
            Actor::Child {
                id: "call1".into(),
                parent: None
            }
        );
    }

    #[test]
    fn the_account_is_bounded() {
        let mut children = Children::default();
        for number in 0..=MAX_CHILDREN {
            let id = number.to_string();
            children.started(0, &id, String::new(), &Who::Main);
            children.saw(&id, true);
        }
        assert_eq!(children.missing(), ["more than 65536 sub-agents"]);
    }
}
