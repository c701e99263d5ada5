//! The calls that wait for their results: a bounded table.

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use super::event::{CallRef, EventId};
use super::sessions::Session;
use super::step::Who;

/// Calls without a result that are kept at a time.
pub(crate) const MAX_OPEN_CALLS: usize = 4096;
/// Calls with a result that are kept, for results that come in parts.
const MAX_ANSWERED_CALLS: usize = 1024;

/// How a result finds its call.
pub(crate) type Key = (Session, CallName);

/// What a call is called within its session.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum CallName {
    /// Its id in the trace.
    Id(String),
    /// Calls without an id, numbered.
    Nth(u64),
}

/// A call that waits.
#[derive(Debug)]
pub(crate) struct Open {
    /// What its result will carry along.
    pub(crate) call: Arc<CallRef>,
    /// Hash of its content.
    pub(crate) hash: u64,
    /// Who made it.
    pub(crate) who: Who,
}

/// The table.
#[derive(Debug, Default)]
pub(crate) struct OpenCalls {
    open: BTreeMap<Key, Open>,
    /// Keys of `open` in the order of the calls.
    order: BTreeMap<EventId, Key>,
    answered: VecDeque<(Key, Arc<CallRef>)>,
    nameless: u64,
}

impl OpenCalls {
    /// A key for a call without an id.
    pub(crate) fn new_name(&mut self) -> CallName {
        self.nameless += 1;
        CallName::Nth(self.nameless)
    }

    /// The content of the call that waits under that key.
    pub(crate) fn hash(&self, key: &Key) -> Option<u64> {
        self.open.get(key).map(|open| open.hash)
    }

    /// Adds a call, in place of one under the same key; false when the oldest had to go for it.
    pub(crate) fn wait(&mut self, key: Key, open: Open) -> bool {
        self.close(&key);
        self.order.insert(open.call.event, key.clone());
        self.open.insert(key, open);
        if self.open.len() <= MAX_OPEN_CALLS {
            return true;
        }
        if let Some((_, oldest)) = self.order.pop_first() {
            self.open.remove(&oldest);
        }
        false
    }

    /// Takes a call out of the table.
    pub(crate) fn close(&mut self, key: &Key) -> Option<Arc<CallRef>> {
        let open = self.open.remove(key)?;
        self.order.remove(&open.call.event);
        Some(open.call)
    }

    /// Takes a call out of the table because its result is there.
    pub(crate) fn answer(&mut self, key: &Key) -> Option<Arc<CallRef>> {
        let call = self.close(key)?;
        self.answered.push_back((key.clone(), Arc::clone(&call)));
        if self.answered.len() > MAX_ANSWERED_CALLS {
            self.answered.pop_front();
        }
        Some(call)
    }

    /// A call whose first result was there not long ago.
    pub(crate) fn answered(&self, key: &Key) -> Option<Arc<CallRef>> {
        self.answered
            .iter()
            .rev()
            .find(|(answered, _)| answered == key)
            .map(|(_, call)| Arc::clone(call))
    }

    /// The oldest call without an id of that actor.
    pub(crate) fn oldest_nameless(&self, session: Session, who: &Who) -> Option<Key> {
        self.open
            .range((session, CallName::Nth(0))..=(session, CallName::Nth(u64::MAX)))
            .find(|(_, open)| open.who == *who)
            .map(|(key, _)| key.clone())
    }

    /// The calls that wait, in the order of the trace.
    pub(crate) fn waiting(&self) -> Vec<Arc<CallRef>> {
        self.order
            .values()
            .filter_map(|key| self.open.get(key))
            .map(|open| Arc::clone(&open.call))
            .collect()
    }
}
