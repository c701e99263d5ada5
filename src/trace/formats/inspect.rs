//! Inspect, `.eval` archives and `.json` logs: a log with its samples, or a sample alone.
//!
//! A sample is a session, and its `messages` are the conversation. The `events` say the same again,
//! with what scorers and the harness did; only calls that the conversation lacks (those of a sub-agent,
//! those cut from a long conversation) are taken from them. Long texts stand in `attachments`, by their
//! hash. `target`, `scores`, `metadata` and `store` are the benchmark's: the agent never saw them.

use super::attachments::Attachments;
use super::chat_message;
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::document::Part;
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::seen::{Seen, hash_of};
use crate::trace::step::{Call, Envelope, Steps, What, Who, remembered};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "inspect",
    fit,
    open: || Box::new(Inspect),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let log = record.has_obj("eval") && record.has_obj("plan");
    let reduction = record.has("scorer") && record.get("samples").is_some();
    Fit::strong_if(log || is_sample(record) || is_summary(record) || reduction)
}

fn is_sample(record: &Json<'_>) -> bool {
    record.has("id") && record.has("epoch") && matches!(record.get("messages"), Some(Json::Arr(_)))
}

/// A sample without its conversation: nothing that the agent saw.
fn is_summary(record: &Json<'_>) -> bool {
    record.has("id") && record.has("epoch") && record.has("input") && record.has("target")
}

struct Inspect;

impl Adapter for Inspect {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if is_sample(record) {
            sample(record, out);
        } else {
            for one in record.list("samples").iter().filter(|one| is_sample(one)) {
                sample(one, out);
            }
            if let Some(text) = record.at(&["error", "message"]).and_then(Json::as_str) {
                out.say(Channel::System, text, None);
            }
        }
    }
}

fn sample(sample: &Json<'_>, out: &mut Steps) {
    let texts = Attachments::of(sample);
    out.under(Envelope {
        session: session(sample),
        who: Who::Main,
        ..Envelope::default()
    });
    out.push(What::Start);
    let messages = sample.list("messages");
    if messages.is_empty() {
        input(sample.get("input"), &texts, out);
    }
    let mut calls = Seen::default();
    let mut last = false;
    for message in messages {
        last = chat_message::read(message, &texts, out);
        let own = message.list("tool_calls").iter().chain([message]);
        for id in own.filter_map(|call| call.first_str(&["tool_call_id", "id"])) {
            calls.insert(hash_of(id), 0);
        }
    }
    let unseen = sample.list("events").iter().filter(|event| {
        let id = event.str("id");
        event.str("event") == Some("tool") && id.is_some_and(|id| calls.get(hash_of(id)).is_none())
    });
    for event in unseen {
        tool_event(event, &texts, out);
        last = false;
    }
    if let Some(text) = sample.at(&["error", "message"]).and_then(Json::as_str) {
        out.say(Channel::System, texts.fill(text), None);
    }
    // Of a sample that breaks off, nobody knows what came last.
    if out.part() == Part::Cut {
        return;
    }
    if last {
        out.push(What::TurnEnd);
    }
    out.push(What::End);
}

/// Samples are told apart by their id and epoch, and those of several logs by their own id.
fn session(sample: &Json<'_>) -> String {
    let id = match sample.get("id") {
        Some(Json::Int(number)) => number.to_string(),
        Some(Json::Str(text)) => remembered(text),
        _ => String::new(),
    };
    let epoch = sample.int("epoch").unwrap_or(1);
    let own = sample.str("uuid").map(remembered).unwrap_or_default();
    format!("sample {id} epoch {epoch} {own}")
        .trim_end()
        .to_owned()
}

/// What the sample asks: a text or messages.
fn input(input: Option<&Json<'_>>, texts: &Attachments<'_>, out: &mut Steps) {
    match input {
        Some(Json::Str(text)) => out.say(Channel::Prompt, texts.fill(text), None),
        Some(Json::Arr(messages)) => {
            for message in messages {
                chat_message::read(message, texts, out);
            }
        }
        _ => {}
    }
}

/// A call and its result, as the harness saw them.
fn tool_event(event: &Json<'_>, texts: &Attachments<'_>, out: &mut Steps) {
    let nothing = Json::Null;
    let tool = event.str("function").unwrap_or("unknown");
    let arguments = event.get("arguments").unwrap_or(&nothing);
    let id = event.str("id").map(str::to_owned);
    out.push(What::Call(Call {
        id,
        ..tools::call(tool, arguments)
    }));
    let result = event.get("result");
    out.push(What::Answer(chat_message::answer(event, result, texts)));
}
