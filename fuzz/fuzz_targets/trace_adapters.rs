//! Every adapter: the first byte chooses one, and all records of the rest are given to it, whatever they
//! hold. Never panics, and gives every result an outcome.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_audit::trace::event::{Channel, Event, EventSink};
use trace_audit::trace::{format_names, read_bytes};

struct Checks;

impl EventSink for Checks {
    fn event(&mut self, event: &Event) {
        assert_eq!(event.outcome.is_some(), event.channel == Channel::Output);
    }
}

fuzz_target!(|bytes: &[u8]| {
    let Some((first, rest)) = bytes.split_first() else {
        return;
    };
    let names = format_names();
    let name = names[usize::from(*first) % names.len()];
    read_bytes(rest, Some(name), &mut Checks);
});
