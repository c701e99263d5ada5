//! Shapes of messages that several formats share.

use std::borrow::Cow;

use crate::trace::json::Json;
use crate::trace::step::{Call, Steps, What};
use crate::trace::text::readable;
use crate::trace::tools;

/// The text of a content that is a string, or blocks of which some hold text.
pub(super) fn text_of(content: &Json<'_>) -> String {
    if let Some(text) = content.as_str() {
        return text.to_owned();
    }
    let mut out = String::new();
    for block in content.items() {
        // Not copied twice: it may be long.
        let piece = match block.as_str().or_else(|| block.str("text")) {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(match block.str("type") {
                Some(kind @ ("image" | "image_url" | "document" | "audio")) => format!("[{kind}]"),
                _ => readable(block),
            }),
        };
        if !out.is_empty() && !piece.is_empty() {
            out.push('\n');
        }
        out.push_str(&piece);
    }
    if matches!(content, Json::Obj(_)) {
        out = readable(content);
    }
    out
}

/// The member of that name as text; empty when there is none.
pub(super) fn member_text(value: &Json<'_>, key: &str) -> String {
    value.get(key).map(text_of).unwrap_or_default()
}

/// The calls of a message of the OpenAI shape: `tool_calls: [{id, function: {name, arguments}}]`, or
/// `{id, name, arguments}` without the inner object. Returns their number.
pub(super) fn tool_calls(message: &Json<'_>, out: &mut Steps) -> usize {
    let calls = message.list("tool_calls");
    for call in calls {
        let function = call.get("function").unwrap_or(call);
        let nothing = Json::Null;
        let arguments = function.get("arguments").unwrap_or(&nothing);
        let id = call.first_str(&["id", "call_id", "tool_call_id"]);
        out.push(What::Call(Call {
            id: id.map(str::to_owned),
            ..tools::call(function.str("name").unwrap_or("unknown"), arguments)
        }));
    }
    calls.len()
}

/// An integer or a number in seconds or milliseconds, or a text: a time stamp as it stands.
pub(super) fn time_of(value: &Json<'_>, key: &str) -> Option<String> {
    match value.get(key)? {
        Json::Str(text) => Some(crate::trace::step::remembered(text)),
        Json::Int(number) => Some(number.to_string()),
        Json::Float(number) => Some(number.to_string()),
        _ => None,
    }
}
