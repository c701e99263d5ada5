//! Chat messages of no particular agent: `{role, content, tool_calls}`, one a record or in `messages`.
//!
//! Stands last in the table, since agents with a format of their own use the same keys. Such a log has
//! neither start nor end, so it never shows a whole run.

use super::attachments::Attachments;
use super::chat_message::read;
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::json::Json;
use crate::trace::step::{Steps, What};

pub(crate) const FORMAT: Format = Format {
    name: "chat",
    fit,
    open: || Box::new(Chat),
    records_calls: true,
    experimental: false,
};

const ROLES: [&str; 8] = [
    "user",
    "assistant",
    "system",
    "developer",
    "tool",
    "function",
    "human",
    "model",
];

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let in_list = record.list("messages").first().is_some_and(is_message);
    Fit::by(false, is_message(record) || in_list)
}

fn is_message(record: &Json<'_>) -> bool {
    let role = record.str("role").is_some_and(|role| ROLES.contains(&role));
    let content = match record.get("content").or_else(|| record.get("message")) {
        Some(Json::Str(_) | Json::Arr(_)) => true,
        Some(Json::Null) | None => !record.list("tool_calls").is_empty(),
        Some(_) => false,
    };
    role && content
}

struct Chat;

impl Adapter for Chat {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if is_message(record) {
            read(record, &Attachments::default(), out);
        }
        for message in record.list("messages") {
            read(message, &Attachments::default(), out);
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}
