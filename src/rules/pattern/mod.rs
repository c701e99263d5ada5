//! One pattern of a rule: a text, an address, a file, a command, a git command, a use of something
//! saved before, or a property of a result.
//!
//! A pattern may contain placeholders for task facts until [`Pattern::expand`] fills them in.

pub mod anchors;
pub mod command;
mod known;
mod loose;
pub mod regexp;

use std::collections::BTreeSet;

use self::command::{CommandPattern, GitPattern};
use self::regexp::Regexp;
use super::glob::RuleGlob;
use super::rule::{Access, Facet, FlowKind};
use super::template::{self, Fact, Facts};

/// Slot of a pattern that may match any text (see [`Pattern::slot`]).
pub const ALWAYS: u32 = u32::MAX;

/// A pattern.
#[derive(Debug, Clone)]
pub struct Pattern {
    /// What it looks for.
    pub kind: PatternKind,
    /// The match must name a version later than the base, or none.
    pub newer: bool,
    /// Its number in the index of anchors; [`ALWAYS`] if it has no anchors.
    pub slot: u32,
}

/// What a pattern looks for.
#[derive(Debug, Clone)]
pub enum PatternKind {
    /// Something in the text.
    Text(Regexp),
    /// An address that is fetched.
    Fetch(Regexp),
    /// A file that is used in one of these ways.
    File(Regexp, Vec<Access>),
    /// A program with arguments.
    Command(CommandPattern),
    /// A git command.
    Git(GitPattern),
    /// A use of something that a call of one of these rules saved (globs over ids; empty: any).
    Flow(FlowKind, Vec<RuleGlob>),
    /// Properties of a result, all of which must hold.
    Is(Vec<Facet>),
}

impl Pattern {
    /// A pattern without a slot.
    pub fn new(kind: PatternKind, newer: bool) -> Self {
        Self {
            kind,
            newer,
            slot: ALWAYS,
        }
    }

    /// The expression whose anchors tell whether the pattern can match at all.
    pub fn regexp(&self) -> Option<&Regexp> {
        match &self.kind {
            PatternKind::Text(r) | PatternKind::Fetch(r) | PatternKind::File(r, _) => Some(r),
            _ => None,
        }
    }

    /// The expression as written, of a pattern that is one.
    pub fn regex_source(&self) -> Option<&str> {
        self.regexp().map(Regexp::source)
    }

    /// The facts that it names.
    pub fn facts(&self) -> BTreeSet<Fact> {
        match &self.kind {
            PatternKind::Text(r) | PatternKind::Fetch(r) | PatternKind::File(r, _) => {
                r.facts().clone()
            }
            PatternKind::Command(command) => {
                let of = |source| template::placeholders(source).0;
                command.sources().flat_map(of).collect()
            }
            PatternKind::Git(git) => git.remote.iter().flat_map(Regexp::facts).copied().collect(),
            PatternKind::Flow(..) | PatternKind::Is(_) => BTreeSet::new(),
        }
    }

    /// True if it names no fact.
    pub fn is_static(&self) -> bool {
        match &self.kind {
            PatternKind::Text(r) | PatternKind::Fetch(r) | PatternKind::File(r, _) => {
                r.facts().is_empty()
            }
            PatternKind::Command(_) => self.facts().is_empty(),
            PatternKind::Git(git) => git.remote.iter().all(|r| r.facts().is_empty()),
            PatternKind::Flow(..) | PatternKind::Is(_) => true,
        }
    }

    /// The pattern with its placeholders replaced.
    pub fn expand(&self, facts: &Facts) -> Self {
        let kind = match &self.kind {
            PatternKind::Text(r) => PatternKind::Text(expand_text(r, facts)),
            PatternKind::Fetch(r) => PatternKind::Fetch(expand_regexp(r, facts)),
            PatternKind::File(r, access) => {
                PatternKind::File(expand_regexp(r, facts), access.clone())
            }
            PatternKind::Command(command) => PatternKind::Command(command.expand(facts)),
            PatternKind::Git(git) => PatternKind::Git(git.expand(facts)),
            other @ (PatternKind::Flow(..) | PatternKind::Is(_)) => other.clone(),
        };
        Self {
            kind,
            newer: self.newer,
            slot: self.slot,
        }
    }
}

/// A text pattern whose placeholders were replaced. If only the facts give it anchors, it is parsed
/// for them.
fn expand_text(regexp: &Regexp, facts: &Facts) -> Regexp {
    // What has no placeholder gets no anchors from the facts either.
    if regexp.anchors().is_some() || regexp.facts().is_empty() {
        return expand_regexp(regexp, facts);
    }
    regexp.with_anchors_of(template::expand(regexp.source(), facts))
}

/// An expression whose placeholders were replaced.
pub(super) fn expand_regexp(regexp: &Regexp, facts: &Facts) -> Regexp {
    if regexp.facts().is_empty() {
        return regexp.clone();
    }
    regexp.with_source(template::expand(regexp.source(), facts))
}
