//! The reader of unified diffs: never panics, and what it renders reads back as the same patch.

#![no_main]

use libfuzzer_sys::fuzz_target;
use trace_audit::patch::{parse, render};

fuzz_target!(|bytes: &[u8]| {
    let first = parse(bytes);
    let text = render(&first);
    let second = parse(&text);
    assert_eq!(text, render(&second), "rendering is stable after one reading");
});
