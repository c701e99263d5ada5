//! Events as JSON lines: what the tool sees, for people and scripts.

use serde::Serialize;

use super::event::{Channel, Event, EventId};

/// One event as the `events` command prints it. Serialise this rather than the
/// [`serde_json::Value`] to keep the order of the members.
#[derive(Debug, Serialize)]
pub struct EventLine<'e> {
    trace: &'e str,
    line: u64,
    event: EventId,
    channel: Channel,
    actor: String,
    tool: Option<&'e str>,
    call: Option<&'e str>,
    /// `null` where the trace says nothing about how something ended.
    ok: Option<bool>,
    exit_code: Option<i32>,
    time: Option<&'e str>,
    path: Option<&'e str>,
    text: &'e str,
}

impl<'e> EventLine<'e> {
    /// `trace` is how reports call the trace file.
    pub fn new(event: &'e Event, trace: &'e str) -> Self {
        Self {
            trace,
            line: event.source.line,
            event: event.id,
            channel: event.channel,
            actor: event.actor.to_string(),
            tool: event.tool.as_deref(),
            call: event.call.as_deref(),
            ok: event.outcome.map(|outcome| outcome.succeeded()),
            exit_code: event.outcome.and_then(|outcome| outcome.exit_code),
            time: event.time.as_deref(),
            path: event.edits.first().map(|edit| edit.path.as_str()),
            text: &event.text,
        }
    }
}

/// One event as a JSON object with the members `trace`, `line`, `event`, `channel`, `actor`, `tool`,
/// `call`, `ok`, `exit_code`, `time`, `path` (of the first file of an edit) and `text`.
pub fn event_to_json(event: &Event, trace: &str) -> serde_json::Value {
    // Cannot fail: there are no maps with other keys than strings.
    serde_json::to_value(EventLine::new(event, trace)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::{EditOp, FileEdit, Outcome, Source};

    #[test]
    fn shape() {
        let id = EventId {
            file: 0,
            record: 3,
            sub: 1,
        };
        let source = Source {
            file: 0,
            line: 5,
            bytes: 0..9,
        };
        let mut event = Event::new(id, source, Channel::ToolCall, "x\ny");
        let text = serde_json::to_string(&EventLine::new(&event, "run.jsonl")).unwrap();
        assert_eq!(
            text,
            r#"{"trace":"run.jsonl","line":5,"event":"0:3.1","channel":"tool_call","actor":"main","tool":null,"call":null,"ok":null,"exit_code":null,"time":null,"path":null,"text":"x\ny"}"#
        );
        event.outcome = Some(Outcome {
            exit_code: Some(2),
            ..Outcome::default()
        });
        event.edits.push(FileEdit {
            path: "a.rs".into(),
            op: EditOp::Write,
            old: None,
            new: None,
        });
        let value = event_to_json(&event, "run.jsonl");
        assert_eq!(value["ok"], false);
        assert_eq!(value["exit_code"], 2);
        assert_eq!(value["path"], "a.rs");
        assert_eq!(value.as_object().unwrap().len(), 12);
    }
}
