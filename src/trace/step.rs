//! What an adapter says about a record: steps, as plain data.
//!
//! Adapters know the JSON of one format and nothing else. They turn a record into steps; the
//! [`linker`](super::linker) alone numbers them, joins results to calls and drops repeats. So an
//! adapter may say the same thing as often as its format does.

use std::ops::Range;
use std::rc::Rc;

use super::document::Part;
use super::event::{Channel, FileEdit, Outcome, Speaker};
use super::problem::Problem;
use super::text::cut;

/// Bytes of an id or path that an adapter remembers from one record for the next. Longer ones are no
/// ids, and would be copied into every event behind them.
const MAX_REMEMBERED: usize = 1024;

/// An id or path to be remembered.
pub(crate) fn remembered(text: &str) -> String {
    cut(text, MAX_REMEMBERED).to_owned()
}

/// Where a record stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// 1-based number of the record in its file.
    pub(crate) record: u32,
    /// 1-based line of its first byte.
    pub(crate) line: u64,
    /// Byte range in the decoded file.
    pub(crate) bytes: Range<u64>,
}

/// Who speaks or acts in a record.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Who {
    /// The agent of the run.
    #[default]
    Main,
    /// A sub-agent, by its id or by the id of the call that started it.
    Child(String),
}

/// What all steps of a record share.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Envelope {
    /// The session; call ids are unique within one.
    pub(crate) session: String,
    /// Who acts.
    pub(crate) who: Who,
    /// Id of the record where the format gives one that is unique in the world: the same id again is
    /// the same record.
    pub(crate) uuid: Option<String>,
    /// Time stamp, as it stands.
    pub(crate) time: Option<String>,
    /// Working directory.
    pub(crate) cwd: Option<String>,
}

/// Something that was said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    /// Where it belongs.
    pub(crate) channel: Channel,
    /// The text, decoded.
    pub(crate) text: String,
    /// Id of the message in its session: the same text under the same id is the same message.
    pub(crate) id: Option<String>,
    /// False for what the log keeps and the model never saw.
    pub(crate) model_saw: bool,
    /// Said beside the conversation (a summary), so it is never the final message.
    pub(crate) aside: bool,
    /// Whose words it holds.
    pub(crate) speaker: Speaker,
}

impl Message {
    /// A text that the model saw or wrote, in the conversation.
    pub(crate) fn new(channel: Channel, text: impl Into<String>) -> Self {
        Self {
            channel,
            text: text.into(),
            id: None,
            model_saw: true,
            aside: false,
            speaker: Speaker::Unknown,
        }
    }
}

/// A call of a tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Call {
    /// Its id in its session. Without one, results answer calls in the order of the calls.
    pub(crate) id: Option<String>,
    /// The tool, as the trace has it.
    pub(crate) tool: String,
    /// One of the channels for which [`Channel::is_call`] holds.
    pub(crate) channel: Channel,
    /// The text of the event.
    pub(crate) text: String,
    /// For an edit: the files.
    pub(crate) edits: Vec<FileEdit>,
    /// It starts a sub-agent.
    pub(crate) child: bool,
    /// The format writes a result for it.
    pub(crate) expects_result: bool,
    /// The record comes at the end of the call and says again what its first record said.
    pub(crate) restated: bool,
}

/// The result of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Answer {
    /// The id of the call.
    pub(crate) id: Option<String>,
    /// The text of the event.
    pub(crate) text: String,
    /// How the call ended.
    pub(crate) outcome: Outcome,
}

/// One thing that a record says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum What {
    /// A text.
    Message(Message),
    /// The final message, where the format has a record of its own for it.
    Final(Message),
    /// A call.
    Call(Call),
    /// A result.
    Answer(Answer),
    /// The session starts here.
    Start,
    /// The session goes on, so an earlier end was none.
    Active,
    /// What the agent said last was its final message (of this turn).
    TurnEnd,
    /// The session ends here.
    End,
    /// The call started a sub-agent, which is known by another name too.
    ChildName {
        /// Id of the call.
        call: String,
        /// The other name: agent id or session id.
        name: String,
        /// How many calls the sub-agent made, where the format says so.
        calls: Option<u64>,
    },
    /// The whole output of that call was saved in a file of that name beside the session.
    Sidecar {
        /// Id of the call.
        call: String,
        /// Name of the file.
        name: String,
    },
    /// Something is wrong with the record.
    Problem(Problem),
}

/// A step with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Step {
    /// The record it comes from.
    pub(crate) place: Place,
    /// Session, actor, time.
    pub(crate) envelope: Rc<Envelope>,
    /// The step itself.
    pub(crate) what: What,
}

/// Collects the steps of a record.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    place: Place,
    part: Part,
    envelope: Rc<Envelope>,
    list: Vec<Step>,
}

impl Steps {
    /// What follows comes from this record.
    pub(crate) fn at(&mut self, place: Place) {
        self.place = place;
    }

    /// What follows comes from that part of a document.
    pub(crate) fn of_part(&mut self, part: Part) {
        self.part = part;
    }

    /// The part of a document that the record is.
    pub(crate) fn part(&self) -> Part {
        self.part
    }

    /// The record that steps are said to come from.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// What follows was said or done under this envelope.
    pub(crate) fn under(&mut self, envelope: Envelope) {
        self.envelope = Rc::new(envelope);
    }

    /// The envelope in force.
    pub(crate) fn envelope(&self) -> &Rc<Envelope> {
        &self.envelope
    }

    /// Adds a step.
    pub(crate) fn push(&mut self, what: What) {
        self.list.push(Step {
            place: self.place.clone(),
            envelope: Rc::clone(&self.envelope),
            what,
        });
    }

    /// Adds a step with the place and envelope of an earlier record.
    pub(crate) fn push_at(&mut self, place: Place, envelope: Rc<Envelope>, what: What) {
        self.list.push(Step {
            place,
            envelope,
            what,
        });
    }

    /// Adds a text, unless it is blank.
    pub(crate) fn say(&mut self, channel: Channel, text: impl Into<String>, id: Option<&str>) {
        let text = text.into();
        if !text.trim().is_empty() {
            self.push(What::Message(Message {
                id: id.map(str::to_owned),
                ..Message::new(channel, text)
            }));
        }
    }

    /// How many steps were said so far.
    pub(crate) fn len(&self) -> usize {
        self.list.len()
    }

    /// Lets a format add what it knows to results that shared code has said, from that step on.
    pub(crate) fn answers_from(&mut self, from: usize, mut add: impl FnMut(&mut Answer)) {
        for step in self.list.iter_mut().skip(from) {
            if let What::Answer(answer) = &mut step.what {
                add(answer);
            }
        }
    }

    /// Takes all steps out.
    pub(crate) fn drain(&mut self) -> Vec<Step> {
        std::mem::take(&mut self.list)
    }
}
