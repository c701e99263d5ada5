//! Gemini CLI's own session store: `session-*.jsonl`, and one JSON object before 0.40.
//!
//! A message of the agent is written twice in the lines, first without the calls that it makes. Results
//! come within the call and again as the user's next message. Nothing marks the end of a session.

use super::gemini_parts::{self, user_channel};
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::problem::Problem;
use crate::trace::seen::{Seen, hash_of};
use crate::trace::step::{Envelope, Steps, What, Who, remembered};
use crate::trace::text::readable;

pub(crate) const FORMAT: Format = Format {
    name: "gemini-chat",
    fit,
    open: || Box::new(GeminiChat::default()),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let header = record.has("sessionId") && record.has("projectHash") && record.has("startTime");
    let set = record.has_obj("$set");
    let parts = |list: &[Json<'_>]| {
        list.first()
            .is_some_and(|first| first.get("parts").is_some())
    };
    let history = parts(record.list("history"));
    let foreign = ["uuid", "sessionId", "message", "data"]
        .iter()
        .any(|key| record.get(key).is_some());
    let said = record.get("content").is_some() || record.get("parts").is_some();
    let message = !foreign && said && record.str("id").is_some();
    match record.str("type") {
        Some("gemini") => Fit::strong_if(message),
        Some("user" | "model" | "info" | "error" | "warning") => {
            Fit::by(message && record.has("timestamp"), message)
        }
        _ => Fit::strong_if(header || set || history),
    }
}

#[derive(Default)]
struct GeminiChat {
    session: String,
    who: Who,
    /// Texts by the id of their message, calls and results by theirs, and whole records.
    said: Seen,
}

impl Adapter for GeminiChat {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if let Some(session) = record.str("sessionId") {
            self.session = remembered(session);
            self.who = match record.str("kind") {
                Some("subagent") => Who::Child(self.session.clone()),
                _ => Who::Main,
            };
            self.under(record, out);
            out.push(What::Start);
        }
        self.under(record, out);
        let lists = [
            record.get("$set").unwrap_or(record).list("messages"),
            record.list("history"),
        ];
        for message in lists.into_iter().flatten() {
            self.under(message, out);
            self.message(message, out);
        }
        if record.has("type") && !record.has("sessionId") {
            self.message(record, out);
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

impl GeminiChat {
    fn under(&self, message: &Json<'_>, out: &mut Steps) {
        out.under(Envelope {
            session: self.session.clone(),
            who: self.who.clone(),
            time: message.str("timestamp").map(str::to_owned),
            ..Envelope::default()
        });
    }

    /// True when that is said for the first time.
    fn is_new(&mut self, what: impl std::hash::Hash) -> bool {
        self.said.insert(hash_of(what), 0).is_none()
    }

    fn message(&mut self, message: &Json<'_>, out: &mut Steps) {
        let id = message.str("id");
        let calls = message.list("toolCalls");
        // Written again with its calls is how it is done; written again just as it was is damage.
        let whole = (id, calls.len(), content_hash(message));
        if id.is_some() && !self.is_new(("record", whole)) {
            out.push(What::Problem(Problem::Repeated));
            return;
        }
        let channel = match message.first_str(&["type", "role"]).unwrap_or_default() {
            "gemini" | "model" => Channel::Assistant,
            "user" => Channel::Prompt,
            "info" | "error" | "warning" => Channel::System,
            _ => {
                out.say(Channel::Raw, readable(message), None);
                out.push(What::Problem(Problem::UnknownRecord));
                return;
            }
        };
        for thought in message.list("thoughts") {
            let text = thought.str("description").unwrap_or_default();
            if id.is_none() || self.is_new(("thought", id, text)) {
                gemini_parts::thought(thought, out);
            }
        }
        let parts = message.get("content").or_else(|| message.get("parts"));
        if let Some(text) = parts.and_then(Json::as_str) {
            self.text(id, text, channel, out);
        }
        for part in parts.map(Json::items).unwrap_or_default() {
            if let Some(function) = part.get("functionResponse") {
                self.response(function, false, out);
            } else if let Some(function) = part.get("functionCall") {
                self.call(function, out);
            } else if let Some(text) = part.as_str().or_else(|| part.str("text")) {
                self.text(id, text, channel, out);
            }
        }
        for call in calls {
            self.call(call, out);
            let status = call.str("status").unwrap_or_default();
            for result in call.list("result") {
                if let Some(function) = result.get("functionResponse") {
                    self.response(function, matches!(status, "error" | "cancelled"), out);
                }
            }
        }
    }

    fn text(&mut self, id: Option<&str>, text: &str, channel: Channel, out: &mut Steps) {
        let channel = match channel {
            Channel::Prompt => user_channel(text),
            channel => channel,
        };
        if id.is_none() || self.is_new(("text", id, text)) {
            out.say(channel, text, None);
        }
    }

    fn call(&mut self, function: &Json<'_>, out: &mut Steps) {
        let id = function.str("id");
        if id.is_none() || self.is_new(("call", id)) {
            out.push(What::Call(gemini_parts::call(function)));
        }
    }

    fn response(&mut self, function: &Json<'_>, failed: bool, out: &mut Steps) {
        let id = function.str("id");
        if id.is_none() || self.is_new(("response", id)) {
            out.push(What::Answer(gemini_parts::response(function, failed)));
        }
    }
}

fn content_hash(message: &Json<'_>) -> u64 {
    let content = message.get("content").or_else(|| message.get("parts"));
    hash_of(content)
}
