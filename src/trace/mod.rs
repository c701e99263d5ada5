//! From the bytes of an agent's log to one stream of normalised events.
//!
//! `reader` cuts bytes into records, `detect` and `formats` turn each record into calls, results and
//! messages, and the `linker` joins results to calls, drops repeats and numbers the events. Nothing
//! here aborts on bad input: every problem is counted and lowers the coverage.

pub mod event;
