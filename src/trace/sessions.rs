//! The sessions of a run and how much of each is shown.

use std::collections::HashMap;

/// Sessions that are kept account of.
const MAX_SESSIONS: usize = 1 << 16;

/// A session, by its number in the run.
pub(crate) type Session = u32;

/// What is known of a session.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct SessionMarks {
    /// Its id, as the trace has it.
    pub(crate) name: String,
    /// Index of the file in which it was first met.
    pub(crate) file: u32,
    /// The main agent acts in it.
    pub(crate) main: bool,
    /// Its start is in the trace.
    pub(crate) started: bool,
    /// Its end is in the trace.
    pub(crate) ended: bool,
    /// Its format records calls.
    pub(crate) records_calls: bool,
}

/// All sessions of a run, in the order in which they were met.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    list: Vec<SessionMarks>,
    by_name: HashMap<String, Session>,
}

impl Sessions {
    /// The number of the session of that name. Beyond the limit, sessions share the last number: their
    /// call ids may then meet, which costs links but loses no event.
    pub(crate) fn number(&mut self, name: &str, file: u32, records_calls: bool) -> Session {
        if let Some(session) = self.by_name.get(name) {
            return *session;
        }
        if self.list.len() < MAX_SESSIONS {
            self.by_name
                .insert(name.to_owned(), self.list.len() as Session);
            self.list.push(SessionMarks {
                name: name.to_owned(),
                file,
                records_calls,
                ..SessionMarks::default()
            });
        }
        self.list.len() as Session - 1
    }

    /// What is known of that session.
    pub(crate) fn marks(&mut self, session: Session) -> Option<&mut SessionMarks> {
        self.list.get_mut(session as usize)
    }

    /// All of them.
    pub(crate) fn list(&self) -> &[SessionMarks] {
        &self.list
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_stable_and_bounded() {
        let mut sessions = Sessions::default();
        let first = sessions.number("a", 0, true);
        assert_eq!(sessions.number("a", 3, false), first);
        assert_ne!(sessions.number("b", 0, true), first);
        for n in 0..MAX_SESSIONS + 5 {
            sessions.number(&n.to_string(), 0, true);
        }
        assert_eq!(sessions.list().len(), MAX_SESSIONS);
        assert_eq!(sessions.number("a", 0, true), first);
    }
}
