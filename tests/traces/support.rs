//! Reading files, bytes and the collection of real traces.

use std::io::Write;
use std::path::{Path, PathBuf};

use trace_audit::trace::event::{Channel, Event, EventSink};
use trace_audit::trace::{TraceFile, TraceReport, read_traces};

#[derive(Default)]
pub(crate) struct Log(pub Vec<Event>);

impl EventSink for Log {
    fn event(&mut self, event: &Event) {
        self.0.push(event.clone());
    }
}

pub(crate) fn read_paths(paths: &[PathBuf]) -> (Vec<Event>, TraceReport) {
    let files: Vec<TraceFile> = paths
        .iter()
        .map(|path| TraceFile {
            path: path.clone(),
            label: path.file_name().unwrap().to_string_lossy().into_owned(),
        })
        .collect();
    let mut log = Log::default();
    let report = read_traces(&files, &mut log).unwrap();
    numbers_go_up(&log.0);
    (log.0, report)
}

/// The events of a file are numbered in their order, whatever is in it.
fn numbers_go_up(events: &[Event]) {
    let mut last = std::collections::BTreeMap::new();
    for event in events {
        if let Some(before) = last.insert(event.id.file, event.id) {
            assert!(before < event.id, "{} behind {before}", event.id);
        }
    }
}

pub(crate) fn read_bytes(bytes: &[u8]) -> (Vec<Event>, TraceReport) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(bytes).unwrap();
    read_paths(&[file.path().to_owned()])
}

/// The real traces, or `None` with a line that says so.
pub(crate) fn real_traces() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data/traces");
    if dir.is_dir() {
        return Some(dir);
    }
    println!("skipped: the collection of real traces is not there");
    None
}

pub(crate) fn texts(events: &[Event]) -> Vec<String> {
    events
        .iter()
        .filter(|event| event.channel != Channel::Raw)
        .map(|event| event.text.clone())
        .collect()
}
