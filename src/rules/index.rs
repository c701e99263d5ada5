//! One pass over a text for the anchors of all patterns: which patterns can match it at all?
//!
//! Three neighbouring bytes, each as one of 64 classes, make one of 262,144 windows; the classes keep letters,
//! digits and the commonest signs apart and ignore the case of letters. Each anchor is known by its rarest
//! window. A text is read once with a table of one bit a window, 32 KiB, of which a text touches little; only
//! where the bit is set are the anchors of that window looked up and compared. No automaton over a thousand
//! anchors is as small, and there is nothing to build.

use std::sync::LazyLock;

use foldhash::HashMap;

use super::pattern::anchors::MIN_ANCHOR;
use super::pattern::{ALWAYS, Pattern, PatternKind};
use super::rule::Body;
use super::text::lowered;

/// Bits of a class of bytes.
const BITS: u32 = 6;

/// Bytes of a window: the length of the shortest anchor.
const WINDOW: usize = MIN_ANCHOR;

/// Number of different windows.
const WINDOWS: usize = 1 << (BITS as usize * WINDOW);

/// One bit a window.
type Bits = [u64; WINDOWS / 64];

/// The class of each byte: letters have one of their own, whatever their case, and digits; the other bytes share
/// the rest, so that neighbours in the table of ASCII differ, and the bytes of one script in UTF-8.
static CLASSES: LazyLock<[u8; 256]> = LazyLock::new(|| {
    std::array::from_fn(|at| {
        let byte = u8::try_from(at).unwrap_or(0).to_ascii_lowercase();
        match byte {
            b'a'..=b'z' => byte - b'a',
            b'0'..=b'9' => byte - b'0' + 26,
            _ => byte % 28 + 36,
        }
    })
});

/// An anchor, with the place of its rarest window.
#[derive(Debug)]
struct Anchor {
    /// Lower case.
    text: Box<[u8]>,
    /// Bytes before the window.
    before: usize,
    /// Slots of the patterns that have it.
    slots: Vec<u32>,
}

/// The anchors of many patterns.
#[derive(Debug, Default)]
pub struct Index {
    /// Whether a window belongs to an anchor; `None` without anchors.
    known: Option<Box<Bits>>,
    /// The anchors of the windows that have some.
    anchors: HashMap<u32, Vec<Anchor>>,
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
            let (PatternKind::Text(regexp)
            | PatternKind::Fetch(regexp)
            | PatternKind::File(regexp, _)) = &pattern.kind
            else {
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

    /// Builds the table.
    pub fn build(self) -> Index {
        let mut index = Index {
            next: self.next,
            ..Index::default()
        };
        for (text, slots) in self.anchors {
            let Some((before, window)) = rarest(text.as_bytes()) else {
                continue;
            };
            let anchor = Anchor {
                text: text.into_bytes().into(),
                before,
                slots,
            };
            index.insert(window, anchor);
        }
        index
    }
}

/// The window behind the next byte.
fn slide(classes: &[u8; 256], window: u32, byte: u8) -> u32 {
    let class = classes.get(usize::from(byte)).copied().unwrap_or(0);
    ((window << BITS) | u32::from(class)) % WINDOWS as u32
}

/// The rarest window of an anchor: the bytes before it, and the window.
fn rarest(anchor: &[u8]) -> Option<(usize, u32)> {
    let windows = anchor.windows(WINDOW).enumerate();
    let (before, bytes) = windows
        .min_by_key(|(_, bytes)| bytes.iter().map(|byte| frequency(*byte)).product::<u32>())?;
    Some((
        before,
        bytes.iter().fold(0, |w, byte| slide(&CLASSES, w, *byte)),
    ))
}

/// How often a byte stands in traces, roughly, per thousand. It decides how much is compared, never what
/// is found.
fn frequency(byte: u8) -> u32 {
    match byte {
        b'e' | b' ' => 90,
        b't' => 70,
        b'a' | b'i' | b'n' | b'o' | b'r' | b's' => 55,
        b'l' => 40,
        b'c' | b'd' | b'm' | b'p' | b'u' => 30,
        b'f' | b'g' | b'h' | b'b' => 18,
        b'_' | b'-' | b'.' | b'/' | b'v' | b'y' | b'w' | b'k' => 12,
        b'0'..=b'9' | b'x' => 8,
        _ => 3,
    }
}

impl Index {
    fn insert(&mut self, window: u32, anchor: Anchor) {
        let known = self
            .known
            .get_or_insert_with(|| Box::new([0; WINDOWS / 64]));
        if let Some(word) = known.get_mut(window as usize / 64) {
            *word |= 1 << (window % 64);
        }
        self.anchors.entry(window).or_default().push(anchor);
    }

    /// The first slot that is free behind this index.
    pub fn next_slot(&self) -> u32 {
        self.next
    }

    /// Marks the patterns whose anchors occur in the text.
    pub fn scan(&self, text: &str, marks: &mut Marks) {
        let Some(known) = self.known.as_deref() else {
            return;
        };
        let text = lowered(text);
        let bytes = text.as_bytes();
        let classes = &*CLASSES;
        let mut window = 0;
        for (at, byte) in bytes.iter().enumerate() {
            window = slide(classes, window, *byte);
            let word = known.get(window as usize / 64).copied();
            // Before the window is full it holds zeros, which no anchor is compared for in vain.
            if word.unwrap_or(0) >> (window % 64) & 1 != 0 {
                self.compare(window, bytes, at, marks);
            }
        }
    }

    /// Compares the anchors of the window that ends with the byte at `at`.
    #[inline(never)]
    fn compare(&self, window: u32, bytes: &[u8], at: usize, marks: &mut Marks) {
        for anchor in self.anchors.get(&window).into_iter().flatten() {
            let start = (at + 1).checked_sub(WINDOW + anchor.before);
            let here = start.and_then(|start| bytes.get(start..)?.get(..anchor.text.len()));
            if here.is_some_and(|here| here.eq_ignore_ascii_case(&anchor.text)) {
                for slot in &anchor.slots {
                    marks.mark(*slot);
                }
            }
        }
    }
}

/// Which slots were marked since the last [`Marks::clear`].
#[derive(Debug, Default)]
pub struct Marks {
    round: u32,
    rounds: Vec<u32>,
    /// Those marked in this round, in no order.
    marked: Vec<u32>,
}

impl Marks {
    /// Room for slots below `count`.
    pub fn new(count: u32) -> Self {
        Self {
            round: 1,
            rounds: vec![0; count as usize],
            marked: Vec::new(),
        }
    }

    /// Forgets all marks.
    pub fn clear(&mut self) {
        self.marked.clear();
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.rounds.fill(0);
            self.round = 1;
        }
    }

    fn mark(&mut self, slot: u32) {
        if let Some(round) = self.rounds.get_mut(slot as usize)
            && *round != self.round
        {
            *round = self.round;
            self.marked.push(slot);
        }
    }

    /// The slots that were marked, in no order.
    pub fn marked(&self) -> &[u32] {
        &self.marked
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

/// True if the rule can match a text that holds no anchor at all.
pub fn matches_unmarked(body: &Body) -> bool {
    (body.any.is_empty() || body.any.iter().any(|p| p.slot == ALWAYS))
        && body.all.iter().all(|p| p.slot == ALWAYS)
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
