//! Cursor, `--output-format json`: one object with the final message, and nothing else.
//!
//! No tool call is recorded, so such a trace can admit something but prove nothing. `result` is all
//! that the agent said in the run, run together.

use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::step::{Envelope, Message, Steps, What, Who};

pub(crate) const FORMAT: Format = Format {
    name: "cursor-json",
    fit,
    open: || Box::new(CursorJson),
    records_calls: false,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    Fit::by(false, body.json().is_some_and(is_result))
}

/// `{"type":"result","result":"…","session_id":"…"}` without the marks of other agents.
pub(super) fn is_result(record: &Json<'_>) -> bool {
    record.str("type") == Some("result")
        && record.str("result").is_some()
        && record.str("session_id").is_some()
        && !["uuid", "num_turns", "total_cost_usd", "sessionId"]
            .iter()
            .any(|key| record.get(key).is_some())
}

struct CursorJson;

impl Adapter for CursorJson {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        out.under(Envelope {
            session: record.str("session_id").unwrap_or_default().to_owned(),
            who: Who::Main,
            uuid: record.str("request_id").map(str::to_owned),
            time: None,
            cwd: None,
        });
        let text = record.str("result").unwrap_or_default();
        out.push(What::Final(Message::new(Channel::Result, text)));
        out.push(What::End);
    }
}
