//! Rules: what in an event is worth a finding, kept in TOML so that anybody can add one.

pub mod finding;
