//! Which prompts are turns of the user, and stand where a user can speak.
//!
//! A user speaks before the agent does anything, or when the agent has finished: behind its last word, while no call
//! waits for its result. What a harness puts between (hooks, notices, other agents) mostly stands elsewhere; and the
//! record has to say that it is nothing but a user's words ([`Event::speaker`]).

use std::collections::BTreeSet;

use crate::trace::event::{Actor, Channel, Event, EventId, Source, Speaker};

/// What a prompt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// Certainly the user's.
    User,
    /// The task, in a format whose fields do not say whose it is: the agent has done nothing yet.
    Task,
    /// A harness's, in the user's name or beside the conversation, after the agent has acted: something brought it.
    Harness,
    /// Perhaps somebody else's.
    Doubted,
}

/// Where the run stands.
#[derive(Debug, Default)]
pub(super) struct Turns {
    /// Somebody acted, or was asked.
    begun: bool,
    /// The agent has made a call.
    acted: bool,
    /// The agent has finished, and nothing happened since.
    over: bool,
    /// The trace file of that.
    file: u32,
    /// Calls of the agent without a result.
    waiting: BTreeSet<EventId>,
    /// Turns that held lines.
    pub(super) told: Vec<Source>,
}

impl Turns {
    /// Takes the next event; what it is, if it is a prompt.
    pub(super) fn take(&mut self, event: &Event) -> Turn {
        let file = std::mem::replace(&mut self.file, event.id.file);
        self.over &= file == event.id.file;
        let main = event.actor == Actor::Main;
        let mut turn = Turn::Doubted;
        match event.channel {
            Channel::Prompt if main => {
                let here = self.over || !self.begun;
                if here && event.speaker == Speaker::User && self.waiting.is_empty() {
                    turn = Turn::User;
                } else if !self.begun {
                    turn = Turn::Task;
                }
                if self.acted && event.speaker == Speaker::Harness {
                    turn = Turn::Harness;
                }
                self.over = false;
            }
            Channel::Output => {
                if let Some(call) = &event.answers {
                    self.waiting.remove(&call.event);
                }
                self.over = false;
            }
            Channel::Result if main => self.over = true,
            // Said before anything was asked.
            Channel::System | Channel::Raw => {
                self.over = false;
                return match event.channel {
                    Channel::System if self.acted && main => Turn::Harness,
                    _ => turn,
                };
            }
            Channel::Reasoning => {}
            channel => {
                self.acted |= channel.is_call();
                if main && channel.is_call() {
                    self.waiting.insert(event.id);
                }
                self.over = false;
            }
        }
        self.begun = true;
        turn
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::trace::event::CallRef;

    /// Whether a turn behind these is believed: `u` user, `s` system, `a` assistant, `f` its final message, `c` a call,
    /// `o` its result, `t` thoughts, `k` a call of a sub-agent, `|` another file.
    fn believed(before: &str, by_user: bool) -> bool {
        let mut turns = Turns::default();
        let (mut file, mut call) = (0, EventId::default());
        for (at, kind) in (1..).zip(before.chars().chain(['u'])) {
            let id = EventId {
                file,
                record: at,
                sub: 0,
            };
            let channel = match kind {
                'u' => Channel::Prompt,
                's' => Channel::System,
                'a' => Channel::Assistant,
                'f' => Channel::Result,
                'c' | 'k' => Channel::Command,
                't' => Channel::Reasoning,
                'o' => Channel::Output,
                _ => {
                    file += 1;
                    continue;
                }
            };
            let mut event = Event::new(id, Source::default(), channel, "x");
            event.speaker = match by_user {
                true => Speaker::User,
                false => Speaker::Unknown,
            };
            match kind {
                'c' => call = id,
                'k' => {
                    event.actor = Actor::Child {
                        id: "k".into(),
                        parent: None,
                    }
                }
                'o' => {
                    event.answers = Some(Arc::new(CallRef {
                        event: call,
                        channel: Channel::Command,
                        tool: None,
                        text: String::new(),
                        line: 1,
                    }));
                }
                _ => {}
            }
            let last = turns.take(&event);
            if at as usize == before.chars().count() + 1 {
                return last == Turn::User;
            }
        }
        false
    }

    #[test]
    fn a_user_speaks_when_the_agent_has_finished() {
        for before in ["", "s", "uf", "ucof", "ucoft", "uacofucof"] {
            assert!(believed(before, true), "{before}");
            assert!(!believed(before, false), "{before}");
        }
        for before in [
            "u", "uc", "uco", "ua", "ucf", "ucofs", "ucofu", "ucof|", "ufk", "k",
        ] {
            assert!(!believed(before, true), "{before}");
        }
    }
}
