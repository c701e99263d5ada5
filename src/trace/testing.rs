//! Helpers for the tests of this module: texts in, events as short lines out.

use super::event::{Actor, Event, EventSink};
use super::pipeline::read_streams;
use super::report::{TraceFile, TraceReport};

#[derive(Default)]
struct Log(Vec<Event>);

impl EventSink for Log {
    fn event(&mut self, event: &Event) {
        self.0.push(event.clone());
    }
}

/// Reads texts as the trace files `a`, `b`, … of one run.
pub(crate) fn read_files(texts: &[&str]) -> (Vec<Event>, TraceReport) {
    let files: Vec<TraceFile> = ('a'..)
        .zip(texts)
        .map(|(name, _)| TraceFile {
            path: name.to_string().into(),
            label: name.to_string(),
        })
        .collect();
    let mut log = Log::default();
    let streams = files
        .iter()
        .zip(texts.iter().map(|text| Some(text.as_bytes())));
    let report = read_streams(streams, &mut log);
    (log.0, report)
}

/// Reads one text.
pub(crate) fn read(text: &str) -> (Vec<Event>, TraceReport) {
    read_files(&[text])
}

/// `channel@child text [flags]`, with line feeds shown as `⏎`.
pub(crate) fn short(events: &[Event]) -> Vec<String> {
    events.iter().map(short_one).collect()
}

fn short_one(event: &Event) -> String {
    let mut out = event.channel.to_string();
    if let Actor::Child { id, parent } = &event.actor {
        out.push_str(&format!("@{id}"));
        if let Some(parent) = parent {
            out.push_str(&format!("<{parent}"));
        }
    }
    if !event.text.is_empty() {
        out.push(' ');
        out.push_str(&event.text.replace('\n', "⏎"));
    }
    for edit in &event.edits {
        out.push_str(&format!(" [{:?} {}]", edit.op, edit.path));
    }
    if let Some(outcome) = &event.outcome {
        let flags = [
            (outcome.error, "error"),
            (outcome.denied, "denied"),
            (outcome.interrupted, "interrupted"),
            (outcome.truncated, "truncated"),
        ];
        for (_, name) in flags.iter().filter(|(on, _)| *on) {
            out.push_str(&format!(" !{name}"));
        }
        if let Some(code) = outcome.exit_code {
            out.push_str(&format!(" !{code}"));
        }
        if event.answers.is_none() {
            out.push_str(" !orphan");
        }
    }
    if !event.model_saw {
        out.push_str(" !unseen");
    }
    out
}
