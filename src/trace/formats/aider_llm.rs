//! Aider, the history of its calls of the model (`--llm-history-file`).
//!
//! `TO LLM time` is followed by the whole conversation so far, every time, and `LLM RESPONSE time` by
//! what the model said; lines begin with the role in capitals. What was there before is said once.
//! Texts of the assistant that no response said are canned examples. Output of a command that the
//! agent suggested comes back in a user message; that it is there shows that the command was run.

use std::rc::Rc;

use super::search_replace;
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, Outcome};
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::seen::{Seen, hash_of};
use crate::trace::step::{Answer, Call, Envelope, Message, Place, Steps, What, remembered};
use crate::trace::text::decoded;
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "aider-llm",
    fit,
    open: || Box::new(AiderLlm::default()),
    records_calls: true,
    experimental: false,
};

const TO: &str = "TO LLM ";
const FROM: &str = "LLM RESPONSE ";
/// A text is said when it is that long, in bytes.
const MAX_TEXT: usize = 16 << 20;
/// What aider puts behind the words of the user, every time.
const REMINDER: &str = "# *SEARCH/REPLACE block* Rules:";

fn fit(body: &Body<'_>) -> Fit {
    match body {
        Body::Text(line) if header(line).is_some() => Fit::Strong,
        Body::Text(_) => Fit::Follows,
        Body::Json(_) => Fit::No,
    }
}

/// Time and direction of a header: true towards the model.
fn header(line: &str) -> Option<(&str, bool)> {
    let (time, to) = match (line.strip_prefix(TO), line.strip_prefix(FROM)) {
        (Some(time), _) => (time, true),
        (_, Some(time)) => (time, false),
        _ => return None,
    };
    let date = time.split('T').next()?;
    let dated = date.len() == 10 && date.bytes().all(|b| b.is_ascii_digit() || b == b'-');
    dated.then_some((time.trim(), to))
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Role {
    #[default]
    System,
    User,
    Assistant,
}

#[derive(Default)]
struct AiderLlm {
    started: bool,
    /// The lines go to the model.
    to_model: bool,
    time: Option<String>,
    role: Role,
    text: String,
    /// Where the text begins.
    place: Place,
    /// The last message of the user, which may be the prompt, and where it begins.
    user: Option<(String, Place)>,
    /// Texts that were there before, whoever said them: an architect's answer is the editor's prompt.
    seen: Seen,
}

impl Adapter for AiderLlm {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Body::Text(line) = body else { return };
        out.under(self.envelope());
        if let Some((time, to_model)) = header(line) {
            self.end_message(out);
            self.end_user(!to_model, out);
            self.to_model = to_model;
            self.time = Some(remembered(time));
            out.under(self.envelope());
            if !self.started {
                self.started = true;
                out.push(What::Start);
            }
            return;
        }
        if *line == "-------" {
            return self.end_message(out);
        }
        let roles = [
            ("SYSTEM", Role::System),
            ("USER", Role::User),
            ("ASSISTANT", Role::Assistant),
        ];
        let found = roles.iter().find_map(|(name, role)| {
            let text = line.strip_prefix(name)?;
            (text.is_empty() || text.starts_with(' '))
                .then_some((text.get(1..).unwrap_or(""), *role))
        });
        let (text, role) = found.unwrap_or((line, self.role));
        if role != self.role || self.text.len() > MAX_TEXT {
            self.end_message(out);
            self.role = role;
        }
        if self.text.is_empty() {
            self.place = out.place().clone();
        }
        self.text.push_str(text);
        self.text.push('\n');
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        out.under(self.envelope());
        self.end_message(out);
        self.end_user(false, out);
        if end {
            out.push(What::TurnEnd);
        }
    }
}

impl AiderLlm {
    fn envelope(&self) -> Envelope {
        Envelope {
            time: self.time.clone(),
            ..Envelope::default()
        }
    }

    /// A message is complete.
    fn end_message(&mut self, out: &mut Steps) {
        let text = std::mem::take(&mut self.text);
        let text = match self.role {
            Role::User => text.split(REMINDER).next().unwrap_or_default(),
            _ => &text,
        };
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if self.role != Role::User {
            self.end_user(false, out);
        }
        let new = self.seen.insert(hash_of(text), 0).is_none();
        match self.role {
            Role::Assistant if !self.to_model => {
                self.say(Channel::Assistant, text, &self.place, out);
                for edit in search_replace::edits(text) {
                    let edits = vec![edit];
                    let call = Call {
                        channel: Channel::Edit,
                        text: tools::new_texts(&edits),
                        edits,
                        expects_result: false,
                        ..tools::call("edit", &Json::Null)
                    };
                    let envelope = Rc::new(self.envelope());
                    out.push_at(self.place.clone(), envelope, What::Call(call));
                }
            }
            Role::User => {
                self.end_user(false, out);
                self.user = new.then(|| (text.to_owned(), self.place.clone()));
            }
            // Examples, and answers that other words were put into.
            _ if new => self.say(Channel::System, text, &self.place, out),
            _ => {}
        }
    }

    /// The last message of the user: the prompt when the model answers it, otherwise context.
    fn end_user(&mut self, answered: bool, out: &mut Steps) {
        let Some((text, place)) = self.user.take() else {
            return;
        };
        if text.starts_with("Output from ") {
            return self.outputs(&text, &place, out);
        }
        let channel = if answered {
            Channel::Prompt
        } else {
            Channel::System
        };
        self.say(channel, &text, &place, out);
    }

    fn say(&self, channel: Channel, text: &str, place: &Place, out: &mut Steps) {
        let message = What::Message(Message::new(channel, text));
        out.push_at(place.clone(), Rc::new(self.envelope()), message);
    }

    /// `Output from COMMAND`, and on the lines behind it what the command returned.
    fn outputs(&self, text: &str, place: &Place, out: &mut Steps) {
        let envelope = Rc::new(self.envelope());
        for part in format!("\n{text}").split("\nOutput from ").skip(1) {
            let (command, output) = part.split_once('\n').unwrap_or((part, ""));
            let args = Json::Obj(vec![("command".into(), Json::Str(command.into()))]);
            let call = What::Call(tools::call("shell", &args));
            out.push_at(place.clone(), Rc::clone(&envelope), call);
            let answer = What::Answer(Answer {
                id: None,
                outcome: Outcome {
                    truncated: outcome::is_truncated(output),
                    ..Outcome::default()
                },
                text: decoded(output.to_owned()),
            });
            out.push_at(place.clone(), Rc::clone(&envelope), answer);
        }
    }
}
