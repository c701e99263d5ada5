//! Which message was the last one?
//!
//! Most formats do not mark the final message; it is the one behind which nothing more is done. So
//! what the main agent says is held back until the next thing decides: another action makes it an
//! ordinary message, the end of the turn makes it the result. Things that decide nothing (reasoning,
//! notices, the work of sub-agents) wait behind it, so that the order stays.

use super::event::{Actor, Channel, Event, EventSink};

/// Events that may wait behind a message.
const MAX_WAITING: usize = 256;
/// Bytes of text that may wait behind a message.
const MAX_WAITING_BYTES: usize = 4 << 20;

/// Holds the last message of the main agent.
#[derive(Debug, Default)]
pub(crate) struct Hold {
    held: Option<Event>,
    waiting: Vec<Event>,
    waiting_bytes: usize,
    /// Events given out, by kind.
    pub(crate) counts: Counts,
}

/// What was given out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Counts {
    /// All events.
    pub(crate) events: u64,
    /// Events that an adapter understood.
    pub(crate) understood: u64,
    /// Messages and results of the agent.
    pub(crate) said: u64,
}

impl Hold {
    /// Takes an event; it may come out later, in its turn.
    pub(crate) fn give(&mut self, event: Event, sink: &mut dyn EventSink) {
        let main = event.actor == Actor::Main;
        match event.channel {
            Channel::Assistant if main => {
                self.release(false, sink);
                self.held = Some(event);
            }
            // A new question means that the answer before it was complete.
            Channel::Prompt if main => {
                self.release(true, sink);
                self.deliver(event, sink);
            }
            Channel::Reasoning | Channel::System | Channel::Raw => self.give_aside(event, sink),
            _ if main => {
                self.release(false, sink);
                self.deliver(event, sink);
            }
            _ => self.give_aside(event, sink),
        }
    }

    /// Takes an event that decides nothing about the message before it.
    pub(crate) fn give_aside(&mut self, event: Event, sink: &mut dyn EventSink) {
        let bytes = self.waiting_bytes + event.text.len();
        if self.held.is_some() && self.waiting.len() < MAX_WAITING && bytes < MAX_WAITING_BYTES {
            self.waiting_bytes = bytes;
            self.waiting.push(event);
        } else {
            self.release(false, sink);
            self.deliver(event, sink);
        }
    }

    /// True when that text is what the main agent said last.
    pub(crate) fn holds(&self, text: &str) -> bool {
        self.held
            .as_ref()
            .is_some_and(|event| event.text.trim() == text.trim())
    }

    /// Gives out the held message, as the result of its turn or as an ordinary one, and what waits.
    pub(crate) fn release(&mut self, result: bool, sink: &mut dyn EventSink) {
        if let Some(mut event) = self.held.take() {
            if result {
                event.channel = Channel::Result;
            }
            self.deliver(event, sink);
        }
        self.waiting_bytes = 0;
        for event in std::mem::take(&mut self.waiting) {
            self.deliver(event, sink);
        }
    }

    fn deliver(&mut self, event: Event, sink: &mut dyn EventSink) {
        self.counts.events += 1;
        self.counts.understood += u64::from(event.channel != Channel::Raw && event.model_saw);
        self.counts.said += u64::from(matches!(
            event.channel,
            Channel::Assistant | Channel::Result
        ));
        sink.owned(event);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::{EventId, Source};

    #[derive(Default)]
    struct Log(Vec<String>);

    impl EventSink for Log {
        fn event(&mut self, event: &Event) {
            self.0.push(format!("{} {}", event.channel, event.text));
        }
    }

    fn event(channel: Channel, text: &str) -> Event {
        Event::new(EventId::default(), Source::default(), channel, text)
    }

    fn child(channel: Channel, text: &str) -> Event {
        Event {
            actor: Actor::Child {
                id: "c".into(),
                parent: None,
            },
            ..event(channel, text)
        }
    }

    #[test]
    fn the_last_message_of_a_turn_is_its_result() {
        let (mut hold, mut log) = (Hold::default(), Log::default());
        for event in [
            event(Channel::Assistant, "first"),
            event(Channel::Command, "ls"),
            event(Channel::Output, "a"),
            event(Channel::Assistant, "done"),
            event(Channel::Reasoning, "hm"),
            child(Channel::Command, "pwd"),
        ] {
            hold.give(event, &mut log);
        }
        assert!(hold.holds(" done\n") && !hold.holds("first"));
        hold.release(true, &mut log);
        hold.release(true, &mut log);
        assert_eq!(
            log.0,
            [
                "assistant first",
                "command ls",
                "output a",
                "result done",
                "reasoning hm",
                "command pwd"
            ]
        );
        assert_eq!(hold.counts.events, 6);
        assert_eq!(hold.counts.said, 2);
    }

    #[test]
    fn a_new_question_ends_the_turn_and_an_aside_does_not() {
        let (mut hold, mut log) = (Hold::default(), Log::default());
        hold.give(event(Channel::Assistant, "a"), &mut log);
        hold.give_aside(event(Channel::Assistant, "summary"), &mut log);
        hold.give(event(Channel::Prompt, "q"), &mut log);
        hold.give(event(Channel::Assistant, "b"), &mut log);
        hold.release(false, &mut log);
        assert_eq!(
            log.0,
            ["result a", "assistant summary", "prompt q", "assistant b"]
        );
    }

    #[test]
    fn waiting_is_bounded() {
        let (mut hold, mut log) = (Hold::default(), Log::default());
        hold.give(event(Channel::Assistant, "a"), &mut log);
        for _ in 0..=MAX_WAITING {
            hold.give(event(Channel::Reasoning, "r"), &mut log);
        }
        assert_eq!(log.0.first().map(String::as_str), Some("assistant a"));
        assert_eq!(log.0.len(), MAX_WAITING + 2);
    }
}
