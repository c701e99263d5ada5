//! Gemini CLI, `--output-format stream-json`.
//!
//! The prompt is echoed; what the agent says comes in pieces. A result holds what was shown to the user:
//! nothing for a file that was read, so such a result is marked as cut.

use std::rc::Rc;

use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::step::{Answer, Call, Envelope, Message, Place, Steps, What, Who, remembered};
use crate::trace::text::decoded;
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "gemini-stream",
    fit,
    open: || Box::new(GeminiStream::default()),
    records_calls: true,
    experimental: false,
};

/// A text in pieces is said when it is that long, in bytes.
const MAX_PIECES: usize = 4 << 20;

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    match record.str("type").unwrap_or_default() {
        "init" => Fit::strong_if(record.str("session_id").is_some() && record.has("model")),
        "message" => {
            let message = record.str("role").is_some() && record.str("content").is_some();
            let dated = record.has("timestamp") || record.has("delta");
            Fit::by(message && dated && !record.has("id"), message)
        }
        "tool_use" => Fit::strong_if(record.has("tool_id") && record.has("tool_name")),
        "tool_result" => Fit::strong_if(record.has("tool_id")),
        "result" => Fit::strong_if(record.has_obj("stats") && record.has("status")),
        "error" => Fit::by(record.has("severity"), record.str("message").is_some()),
        _ => Fit::No,
    }
}

#[derive(Default)]
struct GeminiStream {
    session: String,
    /// What the agent is saying, in pieces.
    pieces: Option<(Place, Rc<Envelope>, String)>,
}

impl Adapter for GeminiStream {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        let kind = record.str("type").unwrap_or_default();
        if kind == "init" {
            self.speak(out);
            out.push(What::TurnEnd);
            self.session = record.str("session_id").map(remembered).unwrap_or_default();
        }
        out.under(Envelope {
            session: self.session.clone(),
            who: Who::Main,
            time: record.str("timestamp").map(str::to_owned),
            ..Envelope::default()
        });
        let role = record.str("role").unwrap_or_default();
        if kind == "message" && role != "user" && record.is_true("delta") {
            self.piece(record.str("content").unwrap_or_default(), out);
            return;
        }
        self.speak(out);
        match kind {
            "init" => out.push(What::Start),
            "message" => {
                let channel = if role == "user" {
                    Channel::Prompt
                } else {
                    Channel::Assistant
                };
                out.say(channel, record.str("content").unwrap_or_default(), None);
            }
            "tool_use" => {
                let nothing = Json::Null;
                let tool = record.str("tool_name").unwrap_or("unknown");
                let parameters = record.get("parameters").unwrap_or(&nothing);
                out.push(What::Call(Call {
                    id: record.str("tool_id").map(str::to_owned),
                    ..tools::call(tool, parameters)
                }));
            }
            "tool_result" => out.push(What::Answer(answer(record))),
            "result" => {
                error_text(record, out);
                out.push(What::TurnEnd);
                out.push(What::End);
            }
            _ => out.say(
                Channel::System,
                record.str("message").unwrap_or_default(),
                None,
            ),
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        self.speak(out);
        if end {
            out.push(What::TurnEnd);
        }
    }
}

impl GeminiStream {
    fn piece(&mut self, text: &str, out: &mut Steps) {
        match &mut self.pieces {
            Some((_, _, pieces)) => pieces.push_str(text),
            None => {
                let place = out.place().clone();
                self.pieces = Some((place, Rc::clone(out.envelope()), text.to_owned()));
            }
        }
        let long = self
            .pieces
            .as_ref()
            .is_some_and(|(_, _, text)| text.len() > MAX_PIECES);
        if long {
            self.speak(out);
        }
    }

    /// Says what came in pieces.
    fn speak(&mut self, out: &mut Steps) {
        if let Some((place, envelope, text)) = self.pieces.take()
            && !text.trim().is_empty()
        {
            let message = Message::new(Channel::Assistant, text);
            out.push_at(place, envelope, What::Message(message));
        }
    }
}

fn answer(record: &Json<'_>) -> Answer {
    let failed = record
        .str("status")
        .is_some_and(|status| status != "success");
    let said = record.str("output");
    let error = record.at(&["error", "message"]).and_then(Json::as_str);
    let text = said
        .filter(|text| !text.is_empty())
        .or(error)
        .unwrap_or_default();
    let mut outcome = outcome::of_text(text, failed);
    // Writers have no `output`; readers have an empty one, for what the model saw and the user did not.
    outcome.truncated |= !failed && said == Some("");
    outcome.interrupted |= record.str("status") == Some("cancelled");
    Answer {
        id: record.str("tool_id").map(str::to_owned),
        text: decoded(text.to_owned()),
        outcome,
    }
}

fn error_text(record: &Json<'_>, out: &mut Steps) {
    if let Some(text) = record.at(&["error", "message"]).and_then(Json::as_str) {
        out.say(Channel::System, text, None);
    }
}
