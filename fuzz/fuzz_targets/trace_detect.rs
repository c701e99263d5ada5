//! A trace of any kind, detected by its content: never panics, numbers its events apart, and gives every
//! result an outcome.

#![no_main]

use std::collections::BTreeSet;

use libfuzzer_sys::fuzz_target;
use trace_audit::trace::event::{Channel, Event, EventSink};
use trace_audit::trace::read_bytes;

#[derive(Default)]
struct Checks {
    ids: BTreeSet<String>,
    events: u64,
}

impl EventSink for Checks {
    fn event(&mut self, event: &Event) {
        self.events += 1;
        assert!(self.ids.insert(event.id.to_string()), "{} twice", event.id);
        assert_eq!(event.outcome.is_some(), event.channel == Channel::Output);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let mut checks = Checks::default();
    let report = read_bytes(bytes, None, &mut checks);
    assert_eq!(report.files[0].events, checks.events);
});
