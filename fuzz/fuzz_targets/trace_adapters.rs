//! Every adapter, one at a time: the one named by `TRACE_FORMAT` is given all records of the input, whatever
//! they hold; without the variable the first byte chooses. Never panics, and gives every result an outcome.

#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use trace_audit::trace::event::{Channel, Event, EventSink};
use trace_audit::trace::{format_names, read_bytes};

/// The adapter under test, fixed for the whole process.
static FORMAT: LazyLock<Option<String>> = LazyLock::new(|| std::env::var("TRACE_FORMAT").ok());

struct Checks;

impl EventSink for Checks {
    fn event(&mut self, event: &Event) {
        assert_eq!(event.outcome.is_some(), event.channel == Channel::Output);
    }
}

fuzz_target!(|bytes: &[u8]| {
    if let Some(name) = FORMAT.as_deref() {
        let known = format_names().contains(&name);
        assert!(known, "TRACE_FORMAT={name} is no format");
        read_bytes(bytes, Some(name), &mut Checks);
        return;
    }
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let names = format_names();
    let name = names[usize::from(*first) % names.len()];
    read_bytes(rest, Some(name), &mut Checks);
});
