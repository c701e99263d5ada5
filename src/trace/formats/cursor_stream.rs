//! Cursor, `--output-format stream-json`.
//!
//! The prompt is echoed. A tool call is two records, `started` and `completed`, under one `call_id`;
//! its kind is the name of the one member of `tool_call` (`shellToolCall`). With
//! `--stream-partial-output` a message comes in pieces, then whole, once or twice; `thinking` always
//! comes in pieces. The text of `result` is everything said in the run, run together.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::cursor_json::is_result;
use super::cursor_tool::{Tool, child_steps};
use super::{Adapter, Format, user_turn};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::problem::Problem;
use crate::trace::step::{Call, Envelope, Message, Place, Steps, What, Who, remembered};
use crate::trace::text::readable;

pub(crate) const FORMAT: Format = Format {
    name: "cursor-stream",
    fit,
    open: || Box::new(CursorStream::default()),
    records_calls: true,
    experimental: false,
};

/// Edits held until their `completed` record says what they wrote.
const MAX_HELD_EDITS: usize = 1024;
/// What the agent said is remembered up to this many bytes, to tell whether `result` repeats it.
const MAX_SAID: usize = 4 << 20;
/// A text in pieces is said when it is that long, in bytes.
const MAX_PIECES: usize = 4 << 20;

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let session = record.str("session_id").is_some();
    let subtype = record.str("subtype");
    match record.str("type") {
        Some("system") => Fit::strong_if(
            session
                && record.has("apiKeySource")
                && record.has("permissionMode")
                && !record.has("tools")
                && !record.has("uuid"),
        ),
        Some("tool_call") => Fit::strong_if(record.has_obj("tool_call")),
        Some("thinking") => {
            Fit::strong_if(session && matches!(subtype, Some("delta" | "completed")))
        }
        Some("interaction_query") => Fit::strong_if(session),
        Some("user" | "assistant") => {
            let foreign = ["uuid", "parent_tool_use_id", "parentUuid", "sessionId"]
                .iter()
                .any(|key| record.get(key).is_some());
            let plain = record
                .get("message")
                .is_some_and(|m| m.str("id").is_none() && m.has("content"));
            Fit::by(false, session && plain && !foreign)
        }
        Some("result") => Fit::by(false, is_result(record)),
        _ => Fit::No,
    }
}

/// A text that comes in pieces.
struct Pieces {
    place: Place,
    envelope: Rc<Envelope>,
    text: String,
}

#[derive(Default)]
struct CursorStream {
    cwd: Option<String>,
    message: Option<Pieces>,
    thinking: Option<Pieces>,
    /// Messages come in pieces in this session.
    partial: bool,
    /// Everything said since the session started, without white space.
    said: String,
    held_edits: BTreeMap<String, (Place, Rc<Envelope>, Call)>,
}

impl Adapter for CursorStream {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if record.str("subtype") == Some("init") {
            self.cwd = record.str("cwd").map(remembered);
        }
        out.under(Envelope {
            session: record.str("session_id").unwrap_or_default().to_owned(),
            who: Who::Main,
            uuid: None,
            time: record.int("timestamp_ms").map(|ms| ms.to_string()),
            cwd: self.cwd.clone(),
        });
        let kind = record.str("type").unwrap_or_default();
        if kind != "thinking" {
            self.flush_thinking(out);
        }
        if kind != "assistant" {
            self.flush_message(out);
        }
        match kind {
            "system" => self.system(record, out),
            "user" => {
                let text = message_text(record);
                if !text.trim().is_empty() {
                    out.push(What::Message(user_turn::message(&text)));
                }
            }
            "assistant" => self.assistant(record, out),
            "thinking" => self.think(record, out),
            "tool_call" => self.tool_call(record, out),
            "result" => self.result(record, out),
            "interaction_query" => {}
            _ => {
                out.say(Channel::Raw, readable(record), None);
                out.push(What::Problem(Problem::UnknownRecord));
            }
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        self.flush_thinking(out);
        self.flush_message(out);
        if end {
            let mut held: Vec<_> = std::mem::take(&mut self.held_edits).into_values().collect();
            held.sort_by_key(|(place, ..)| place.record);
            for (place, envelope, call) in held {
                out.push_at(place, envelope, What::Call(call));
            }
        }
    }
}

impl CursorStream {
    fn system(&mut self, record: &Json<'_>, out: &mut Steps) {
        match record.str("subtype") {
            Some("init") => {
                self.said.clear();
                self.partial = false;
                out.push(What::Start);
            }
            _ => {
                if let Some(text) = record.first_str(&["message", "text", "content"]) {
                    out.say(Channel::System, text, None);
                }
            }
        }
    }

    fn assistant(&mut self, record: &Json<'_>, out: &mut Steps) {
        let text = message_text(record);
        if record.has("timestamp_ms") && !record.has("model_call_id") {
            self.partial = true;
            if add_piece(&mut self.message, &text, out) {
                self.flush_message(out);
            }
            return;
        }
        let plain = squeezed(&text);
        if let Some(pieces) = &self.message {
            let here = squeezed(&pieces.text);
            // The same text whole, or everything said since the start.
            let before = plain.strip_suffix(here.as_str());
            let repeats = before.is_some_and(|before| before.is_empty() || before == self.said);
            self.flush_message(out);
            if repeats {
                return;
            }
        } else if self.partial && self.said.ends_with(&plain) {
            return;
        }
        self.remember(&plain);
        out.say(Channel::Assistant, text, None);
    }

    fn think(&mut self, record: &Json<'_>, out: &mut Steps) {
        let full = record
            .str("text")
            .is_some_and(|text| add_piece(&mut self.thinking, text, out));
        if full || record.str("subtype") == Some("completed") {
            self.flush_thinking(out);
        }
    }

    fn flush_thinking(&mut self, out: &mut Steps) {
        if let Some(pieces) = self.thinking.take() {
            say_pieces(pieces, Channel::Reasoning, out);
        }
    }

    fn flush_message(&mut self, out: &mut Steps) {
        if let Some(pieces) = self.message.take() {
            self.remember(&squeezed(&pieces.text));
            say_pieces(pieces, Channel::Assistant, out);
        }
    }

    fn remember(&mut self, plain: &str) {
        if self.said.len() + plain.len() <= MAX_SAID {
            self.said.push_str(plain);
        }
    }

    fn result(&mut self, record: &Json<'_>, out: &mut Steps) {
        let text = record.str("result").unwrap_or_default();
        // Behind an end, a result object stands for itself.
        let said = std::mem::take(&mut self.said);
        if !said.is_empty() && squeezed(text) == said {
            out.push(What::TurnEnd);
        } else if !text.trim().is_empty() {
            out.push(What::Final(Message::new(Channel::Result, text)));
        }
        out.push(What::End);
    }

    fn tool_call(&mut self, record: &Json<'_>, out: &mut Steps) {
        let id = record.str("call_id").unwrap_or_default();
        let Some(tool) = record.get("tool_call").and_then(Tool::of) else {
            out.push(What::Problem(Problem::UnknownRecord));
            return;
        };
        let completed = record.str("subtype") != Some("started");
        let call = tool.call(id, completed);
        if !completed && call.channel == Channel::Edit && self.held_edits.len() < MAX_HELD_EDITS {
            let held = (out.place().clone(), Rc::clone(out.envelope()), call);
            self.held_edits.insert(id.to_owned(), held);
            return;
        }
        let child = call.child;
        self.held_edits.remove(id);
        out.push(What::Call(call));
        if let (true, Some(result)) = (completed, tool.result) {
            if child {
                child_steps(id, result, out);
            }
            out.push(What::Answer(tool.answer(id, result)));
        }
    }
}

fn message_text(record: &Json<'_>) -> String {
    let content = record.at(&["message", "content"]);
    if let Some(text) = content.and_then(Json::as_str) {
        return text.to_owned();
    }
    let blocks = content.map(Json::items).unwrap_or_default();
    blocks
        .iter()
        .filter_map(|block| block.str("text"))
        .collect()
}

/// Adds a piece; true when the text is long enough to be said.
fn add_piece(pieces: &mut Option<Pieces>, piece: &str, out: &Steps) -> bool {
    let pieces = pieces.get_or_insert_with(|| Pieces {
        place: out.place().clone(),
        envelope: Rc::clone(out.envelope()),
        text: String::new(),
    });
    pieces.text.push_str(piece);
    pieces.text.len() > MAX_PIECES
}

fn say_pieces(pieces: Pieces, channel: Channel, out: &mut Steps) {
    if !pieces.text.trim().is_empty() {
        let message = Message::new(channel, pieces.text);
        out.push_at(pieces.place, pieces.envelope, What::Message(message));
    }
}

fn squeezed(text: &str) -> String {
    text.split_whitespace().collect()
}
