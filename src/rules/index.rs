//! One automaton for the anchors of all patterns: which patterns can match a text at all?

use std::sync::OnceLock;

use aho_corasick::{AhoCorasick, AhoCorasickBuilder, AhoCorasickKind, MatchKind};

use super::pattern::{ALWAYS, Pattern, PatternKind};
use super::rule::Body;
use super::text::lowered;

/// Bytes that are scanned with the compact automaton before the fast one is built. A small run never
/// needs the fast one, whose making takes as long as scanning this much.
const FAST_AFTER: u64 = 4 << 20;

/// The anchors of many patterns.
#[derive(Debug, Default)]
pub struct Index {
    /// Quick to build, a third of the speed.
    compact: Option<AhoCorasick>,
    fast: OnceLock<Option<AhoCorasick>>,
    anchors: Vec<String>,
    /// For each anchor, the slots of the patterns that have it.
    slots: Vec<Vec<u32>>,
    next: u32,
}

/// Collects anchors for an [`Index`].
#[derive(Debug, Default)]
pub struct Builder {
    anchors: std::collections::BTreeMap<String, Vec<u32>>,
    next: u32,
}

impl Builder {
    /// Slots are given out from `first` on, so that two indexes can share one set of [`Marks`].
    pub fn starting_at(first: u32) -> Self {
        Self {
            anchors: std::collections::BTreeMap::new(),
            next: first,
        }
    }

    /// Gives a slot to each pattern of a rule that has anchors.
    pub fn add(&mut self, body: &mut Body) {
        let Body { any, all, .. } = body;
        let unplaced = any.iter_mut().chain(all).filter(|p| p.slot == ALWAYS);
        for pattern in unplaced {
            // Patterns over paths and addresses are tried on short texts, without the automaton.
            let PatternKind::Text(regexp) = &pattern.kind else {
                continue;
            };
            let Some(anchors) = regexp.anchors() else {
                continue;
            };
            for anchor in anchors {
                self.anchors
                    .entry(anchor.clone())
                    .or_default()
                    .push(self.next);
            }
            pattern.slot = self.next;
            self.next += 1;
        }
    }

    /// Builds the automaton.
    pub fn build(self) -> Index {
        let (anchors, slots): (Vec<String>, Vec<Vec<u32>>) = self.anchors.into_iter().unzip();
        Index {
            compact: automaton(&anchors, AhoCorasickKind::ContiguousNFA),
            fast: OnceLock::new(),
            anchors,
            slots,
            next: self.next,
        }
    }
}

fn automaton(anchors: &[String], kind: AhoCorasickKind) -> Option<AhoCorasick> {
    if anchors.is_empty() {
        return None;
    }
    AhoCorasickBuilder::new()
        .ascii_case_insensitive(true)
        .match_kind(MatchKind::Standard)
        .kind(Some(kind))
        .prefilter(false)
        .build(anchors)
        .ok()
}

impl Index {
    /// The first slot that is free behind this index.
    pub fn next_slot(&self) -> u32 {
        self.next
    }

    /// Number of different anchors.
    pub fn len(&self) -> usize {
        self.slots.len()
    }

    /// True if there are none.
    pub fn is_empty(&self) -> bool {
        self.slots.is_empty()
    }

    /// Marks the patterns whose anchors occur in the text.
    pub fn scan(&self, text: &str, marks: &mut Marks) {
        marks.scanned = marks.scanned.saturating_add(text.len() as u64);
        // The DFA is three times faster than the other for 0.2 to 2 MB. Once another run of this
        // process has built it, it costs nothing.
        let build = || {
            self.fast
                .get_or_init(|| automaton(&self.anchors, AhoCorasickKind::DFA))
        };
        let fast = self.fast.get();
        let fast = fast.or_else(|| (marks.scanned > FAST_AFTER).then(build));
        let Some(automaton) = fast.and_then(Option::as_ref).or(self.compact.as_ref()) else {
            return;
        };
        for hit in automaton.find_overlapping_iter(lowered(text).as_ref()) {
            if let Some(slots) = self.slots.get(hit.pattern().as_usize()) {
                for slot in slots {
                    marks.mark(*slot);
                }
            }
        }
    }
}

/// Which slots were marked since the last [`Marks::clear`].
#[derive(Debug, Default)]
pub struct Marks {
    /// Bytes scanned so far.
    scanned: u64,
    round: u32,
    rounds: Vec<u32>,
}

impl Marks {
    /// Room for slots below `count`.
    pub fn new(count: u32) -> Self {
        Self {
            scanned: 0,
            round: 1,
            rounds: vec![0; count as usize],
        }
    }

    /// Forgets all marks.
    pub fn clear(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.rounds.fill(0);
            self.round = 1;
        }
    }

    fn mark(&mut self, slot: u32) {
        if let Some(round) = self.rounds.get_mut(slot as usize) {
            *round = self.round;
        }
    }

    /// True if the pattern can match the scanned text.
    pub fn possible(&self, pattern: &Pattern) -> bool {
        pattern.slot == ALWAYS
            || self
                .rounds
                .get(pattern.slot as usize)
                .is_some_and(|round| *round == self.round)
    }

    /// True if the rule can match the scanned text.
    pub fn can_match(&self, body: &Body) -> bool {
        (body.any.is_empty() || body.any.iter().any(|p| self.possible(p)))
            && body.all.iter().all(|p| self.possible(p))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::RuleSet;
    use crate::rules::task::Task;

    /// A pattern that matches a text is marked by the automaton, with facts and without.
    fn check(rules: &RuleSet, bodies: &[Body], own: &Index, text: &str) {
        let mut marks = Marks::new(own.next_slot().max(rules.index.next_slot()));
        rules.index.scan(text, &mut marks);
        own.scan(text, &mut marks);
        for pattern in bodies.iter().flat_map(Body::hitting) {
            let Some(regexp) = pattern.regexp() else {
                continue;
            };
            assert!(
                !regexp.is_match(text) || marks.possible(pattern),
                "{} matches {text:?} and is not marked",
                regexp.source()
            );
        }
    }

    #[test]
    fn no_match_is_missed_by_the_automaton() {
        let rules = RuleSet::builtin().unwrap().in_full().unwrap();
        let first = rules.rules().iter().flat_map(|r| &r.tests).next().unwrap();
        let task = Task::new(&first.facts);
        let mut builder = Builder::starting_at(rules.index.next_slot());
        let bodies: Vec<Body> = rules
            .rules()
            .iter()
            .map(|rule| {
                let mut body = rule.body.expand(&task.facts);
                builder.add(&mut body);
                body
            })
            .collect();
        let own = builder.build();
        let tests = rules.rules().iter().flat_map(|r| &r.tests);
        for test in tests {
            for event in test.case.event.iter().chain(&test.case.events) {
                for text in [
                    Some(&event.text),
                    event.result.as_ref(),
                    event.path.as_ref(),
                ] {
                    let Some(text) = text else { continue };
                    check(&rules, &bodies, &own, text);
                    check(&rules, &bodies, &own, &text.to_uppercase());
                }
            }
        }
    }
}
