//! Aider, `.aider.chat.history.md`: the chat as markdown.
//!
//! `#### ` begins a line of the prompt, `> ` one of the program, everything else is the agent. Edits
//! are blocks in the agent's text and count when the program says that it applied them. Commands are
//! suggested there too; they count only when somebody agreed and the program says that it runs them.
//! What they returned is not recorded, nor is the end, so such a log is never complete.

use std::rc::Rc;

use super::search_replace;
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, EditOp, FileEdit};
use crate::trace::json::Json;
use crate::trace::step::{Call, Envelope, Message, Place, Steps, What, remembered};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "aider-chat",
    fit,
    open: || Box::new(AiderChat::default()),
    records_calls: true,
    experimental: false,
};

const START: &str = "# aider chat started at ";
/// A text is said when it is that long, in bytes.
const MAX_TEXT: usize = 16 << 20;

fn fit(body: &Body<'_>) -> Fit {
    match body {
        Body::Text(line) if line.starts_with(START) => Fit::Strong,
        Body::Text(_) => Fit::Follows,
        Body::Json(_) => Fit::No,
    }
}

/// Whose lines are being collected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Voice {
    #[default]
    Agent,
    User,
    Program,
}

#[derive(Default)]
struct AiderChat {
    envelope: Envelope,
    voice: Voice,
    text: String,
    /// Where the text begins.
    place: Place,
    /// The line of the program that is being read goes on.
    open: bool,
    /// Edits that the agent proposed last.
    proposed: Vec<FileEdit>,
    /// Somebody agreed to run commands.
    agreed: bool,
}

impl Adapter for AiderChat {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Body::Text(line) = body else { return };
        if let Some(time) = line.strip_prefix(START) {
            self.say(out);
            self.start(time.trim(), out);
        } else if let Some(prompt) = line.strip_prefix("####") {
            self.add(Voice::User, prompt.strip_prefix(' ').unwrap_or(prompt), out);
            self.agreed = false;
        } else if self.open || is_program(line) {
            let text = line.strip_prefix("> ").unwrap_or(line);
            self.add(Voice::Program, text.trim_end(), out);
            self.open = !line.ends_with("  ");
            if !self.open {
                self.program(text.trim_end(), out);
            }
        } else if line.trim().is_empty() && self.voice != Voice::Agent {
            // A blank line belongs to nobody.
        } else {
            self.add(Voice::Agent, line, out);
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        self.say(out);
        if end {
            out.push(What::TurnEnd);
        }
    }
}

/// Lines of the program end in two blanks; only a commit message may go on behind its first line.
fn is_program(line: &str) -> bool {
    let Some(text) = line.strip_prefix("> ") else {
        return line == ">";
    };
    let commit = text.strip_prefix("Commit ").is_some_and(|rest| {
        let hash = rest.split(' ').next().unwrap_or_default();
        hash.len() >= 7 && hash.bytes().all(|b| b.is_ascii_hexdigit())
    });
    line.ends_with("  ") || commit
}

impl AiderChat {
    fn start(&mut self, time: &str, out: &mut Steps) {
        *self = Self {
            envelope: Envelope {
                session: format!("chat of {}", remembered(time)),
                time: Some(remembered(time)),
                ..Envelope::default()
            },
            ..Self::default()
        };
        out.push(What::TurnEnd);
        out.under(self.envelope.clone());
        out.push(What::Start);
    }

    /// Adds a line to the text of that voice.
    fn add(&mut self, voice: Voice, line: &str, out: &mut Steps) {
        if voice != self.voice || self.text.len() > MAX_TEXT {
            self.say(out);
            self.voice = voice;
        }
        if self.text.is_empty() {
            self.place = out.place().clone();
        }
        self.text.push_str(line);
        self.text.push('\n');
    }

    /// Says what was collected.
    fn say(&mut self, out: &mut Steps) {
        self.open = false;
        let text = std::mem::take(&mut self.text);
        let channel = match self.voice {
            Voice::Agent => Channel::Assistant,
            Voice::User => Channel::Prompt,
            Voice::Program => Channel::System,
        };
        if self.voice == Voice::Agent && !text.trim().is_empty() {
            self.proposed = search_replace::edits(&text);
        }
        if !text.trim().is_empty() {
            let envelope = Rc::new(self.envelope.clone());
            let message = Message::new(channel, text.trim().to_owned());
            out.push_at(self.place.clone(), envelope, What::Message(message));
        }
    }

    /// What the program says that it did.
    fn program(&mut self, line: &str, out: &mut Steps) {
        let call = if let Some(path) = line.strip_prefix("Applied edit to ") {
            self.applied(path)
        } else if let Some(command) = line.strip_prefix("Running ").filter(|_| self.agreed) {
            let args = Json::Obj(vec![("command".into(), Json::Str(command.into()))]);
            tools::call("shell", &args)
        } else {
            if line.starts_with("Run shell command") {
                let answer = line.rsplit(':').next().unwrap_or_default().trim();
                let answer = answer.to_ascii_lowercase();
                self.agreed =
                    answer.starts_with('y') || answer.starts_with('a') || answer.is_empty();
            }
            return;
        };
        self.say(out);
        out.under(self.envelope.clone());
        out.push(What::Call(call));
    }

    fn applied(&self, path: &str) -> Call {
        let same = |edit: &&FileEdit| edit.path == path || edit.path.ends_with(&format!("/{path}"));
        let mut edits: Vec<FileEdit> = self.proposed.iter().filter(same).cloned().collect();
        if edits.is_empty() {
            // Whole files and diffs: the text is the agent's message.
            edits.push(FileEdit {
                path: path.to_owned(),
                op: EditOp::Unrecorded,
                old: None,
                new: None,
            });
        }
        Call {
            channel: Channel::Edit,
            text: tools::new_texts(&edits),
            edits,
            expects_result: false,
            ..tools::call("edit", &Json::Null)
        }
    }
}
