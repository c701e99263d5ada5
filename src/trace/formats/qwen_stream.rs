//! Qwen Code, `--output-format stream-json`: the records of Claude Code's stream, with tools of its own.
//!
//! A record of the agent has the same id outside and inside; results and the rest look the same in both
//! formats and go with the file.

use super::claude_stream::{ClaudeStream, is_record};
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::json::Json;

pub(crate) const FORMAT: Format = Format {
    name: "qwen-stream",
    fit,
    open: || Box::new(ClaudeStream::default()) as Box<dyn Adapter>,
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json().filter(|record| is_record(record)) else {
        return Fit::No;
    };
    if is_qwen(record) {
        return Fit::Strong;
    }
    Fit::by(false, is_either(record))
}

/// A record that only Qwen Code writes.
pub(super) fn is_qwen(record: &Json<'_>) -> bool {
    match record.str("type").unwrap_or_default() {
        "system" => record.has("qwen_code_version") || record.has("permission_mode"),
        "assistant" => {
            let inner = record.at(&["message", "id"]).and_then(Json::as_str);
            inner.is_some() && inner == record.str("uuid")
        }
        "result" => record.at(&["usage", "total_tokens"]).is_some(),
        _ => false,
    }
}

/// A record of the user that both write.
pub(super) fn is_either(record: &Json<'_>) -> bool {
    record.str("type") == Some("user")
        && record.str("uuid").is_some()
        && record.get("parent_tool_use_id").is_some()
        && !record.has("timestamp")
        && record.get("tool_use_result").is_none()
}
