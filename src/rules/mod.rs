//! Rules: what in an event is worth a finding, kept in TOML so that anybody can add one.
//!
//! ```text
//! rule file ─schema─> compile ─> Rule ─┐
//!            (diagnostic on errors)    ├─ layers: built-in packs, then the user's ─> RuleSet
//! task facts ─template─────────────────┘                                               │
//! events ─> engine (index, pattern, git, call, flow, prompt) ─result, outcome─> findings
//! ```
//!
//! `docs/rules.md` is the manual. The engine knows events and commands, no trace formats.

mod allowed;
pub mod call;
mod check;
mod compile;
mod compile_pattern;
pub mod diagnostic;
pub mod engine;
pub mod finding;
pub mod flow;
mod gather;
pub mod git;
mod glob;
pub mod index;
mod layers;
mod lint;
pub mod outcome;
mod overrides;
pub mod pattern;
pub mod prompt;
mod read;
mod recover;
pub mod result;
pub mod rule;
pub mod schema;
pub mod selftest;
mod set;
mod sources;
pub mod task;
pub mod template;
pub mod text;

pub use check::CheckReport;
pub use compile::is_rule_id;
pub use engine::{Engine, EngineReport, InactiveRule};
pub use rule::Rule;
pub use selftest::SelfTestReport;
pub use set::RuleSet;
