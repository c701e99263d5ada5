//! One pass over a text for the anchors of all patterns: which patterns can match it at all?
//!
//! Three neighbouring bytes, each as one of 64 classes, make one of 262,144 windows; the classes keep letters,
//! digits and the commonest signs apart and ignore the case of letters. Each anchor is known by its rarest
//! window. A text is read once with a table of one bit a window, 32 KiB, of which a text touches little; only
//! where the bit is set, and the bytes beside the window can be those of an anchor, are the anchors of that window
//! compared. No automaton over thousands of anchors is as small, and there is next to nothing to build.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::LazyLock;

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

/// An anchor in the tables of an [`Index`].
#[derive(Debug)]
struct Anchor {
    /// Where it stands among [`Index::texts`].
    text: Range<u32>,
    /// Bytes before the window.
    before: u8,
    /// Where its patterns stand among [`Index::slots`].
    slots: Range<u32>,
}

/// The anchors of one window.
#[derive(Debug)]
struct Group {
    /// The number of the first of them; they end where those of the next group start.
    first: u32,
    /// One bit for each class of the byte before the window with which an anchor can match.
    before: u64,
    /// The same for the byte behind it.
    behind: u64,
}

/// The anchors of many patterns.
#[derive(Debug, Default)]
pub struct Index {
    /// Whether a window belongs to an anchor; `None` without anchors.
    known: Option<Box<Bits>>,
    /// For each word of `known` the number of groups before it.
    ranks: Vec<u32>,
    /// The groups in the order of their windows, and one more where the last one ends.
    groups: Vec<Group>,
    anchors: Vec<Anchor>,
    /// The texts of all anchors, lower case.
    texts: String,
    slots: Vec<u32>,
    next: u32,
}

/// An anchor on its way into the tables. The order is that of the tables.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    window: u32,
    text: Cow<'static, str>,
    slot: u32,
    before: u8,
}

/// Collects anchors for an [`Index`].
#[derive(Debug, Default)]
pub struct Builder {
    entries: Vec<Entry>,
    next: u32,
}

impl Builder {
    /// Slots are given out from `first` on, so that two indexes can share one set of [`Marks`].
    pub fn starting_at(first: u32) -> Self {
        Self {
            entries: Vec::new(),
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
            let slot = self.next;
            self.entries.extend(anchors.iter().filter_map(|anchor| {
                let (before, window) = rarest(anchor.as_bytes())?;
                Some(Entry {
                    window,
                    text: anchor.clone(),
                    slot,
                    before,
                })
            }));
            pattern.slot = slot;
            self.next += 1;
        }
    }

    /// Builds the tables.
    pub fn build(mut self) -> Index {
        self.entries.sort_unstable();
        let mut index = Index {
            next: self.next,
            ..Index::default()
        };
        for group in self.entries.chunk_by(|a, b| a.window == b.window) {
            index.push(group);
        }
        index.finish();
        index
    }
}

/// The class of a byte.
fn class(byte: u8) -> u32 {
    u32::from(CLASSES.get(usize::from(byte)).copied().unwrap_or(0))
}

/// The window behind the next byte.
fn slide(classes: &[u8; 256], window: u32, byte: u8) -> u32 {
    let class = classes.get(usize::from(byte)).copied().unwrap_or(0);
    ((window << BITS) | u32::from(class)) % WINDOWS as u32
}

/// The rarest window of an anchor: the number of bytes before it, and the window.
fn rarest(anchor: &[u8]) -> Option<(u8, u32)> {
    let windows = (0..=u8::MAX).zip(anchor.windows(WINDOW));
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

/// The classes of the byte at a place of an anchor, as bits: all of them outside of it.
fn beside(anchor: &[u8], at: Option<usize>) -> u64 {
    let byte = at.and_then(|at| anchor.get(at));
    byte.map_or(u64::MAX, |byte| 1 << class(*byte))
}

/// A place in a table. The tables of the rule files that are taken are far below the bound.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}

impl Index {
    /// Adds the entries of one window, which is behind all earlier ones.
    fn push(&mut self, entries: &[Entry]) {
        let Some(window) = entries.first().map(|entry| entry.window) else {
            return;
        };
        let known = self
            .known
            .get_or_insert_with(|| Box::new([0; WINDOWS / 64]));
        if let Some(word) = known.get_mut(window as usize / 64) {
            *word |= 1 << (window % 64);
        }
        let mut group = Group {
            first: place(self.anchors.len()),
            before: 0,
            behind: 0,
        };
        for same in entries.chunk_by(|a, b| a.text == b.text) {
            let Some(Entry { text, before, .. }) = same.first() else {
                continue;
            };
            let at = usize::from(*before);
            group.before |= beside(text.as_bytes(), at.checked_sub(1));
            group.behind |= beside(text.as_bytes(), Some(at + WINDOW));
            let (text_from, slots_from) = (place(self.texts.len()), place(self.slots.len()));
            self.texts.push_str(text);
            self.slots.extend(same.iter().map(|entry| entry.slot));
            self.anchors.push(Anchor {
                text: text_from..place(self.texts.len()),
                before: *before,
                slots: slots_from..place(self.slots.len()),
            });
        }
        self.groups.push(group);
    }

    /// Closes the tables behind the last window.
    fn finish(&mut self) {
        self.groups.push(Group {
            first: place(self.anchors.len()),
            before: 0,
            behind: 0,
        });
        let words = self.known.iter().flat_map(|known| known.iter());
        self.ranks = words
            .scan(0, |groups, word| {
                let before = *groups;
                *groups += word.count_ones();
                Some(before)
            })
            .collect();
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
            let word = known.get(window as usize / 64).copied().unwrap_or(0);
            // Before the window is full it holds zeros, which no anchor is compared for in vain.
            if word >> (window % 64) & 1 != 0 {
                self.compare(window, word, bytes, at, marks);
            }
        }
    }

    /// Compares the anchors of the window that ends with the byte at `at`, unless the bytes beside it belong to
    /// none of them.
    fn compare(&self, window: u32, word: u64, bytes: &[u8], at: usize, marks: &mut Marks) {
        let below = word & ((1 << (window % 64)) - 1);
        let rank = self.ranks.get(window as usize / 64).copied().unwrap_or(0) + below.count_ones();
        let Some([group, next]) = self
            .groups
            .get(rank as usize..)
            .and_then(|g| g.first_chunk())
        else {
            return;
        };
        // At the ends of the text an anchor that needs more bytes fails when it is compared.
        let fits = |mask: u64, at: Option<usize>| {
            let byte = at.and_then(|at| bytes.get(at));
            byte.is_none_or(|byte| mask >> class(*byte) & 1 != 0)
        };
        if fits(group.behind, Some(at + 1)) && fits(group.before, at.checked_sub(WINDOW)) {
            let anchors = self.anchors.get(group.first as usize..next.first as usize);
            self.compare_all(anchors.unwrap_or_default(), bytes, at, marks);
        }
    }

    #[inline(never)]
    fn compare_all(&self, anchors: &[Anchor], bytes: &[u8], at: usize, marks: &mut Marks) {
        for anchor in anchors {
            let text = self.texts.as_bytes();
            let text = text.get(anchor.text.start as usize..anchor.text.end as usize);
            let text = text.unwrap_or_default();
            let start = (at + 1).checked_sub(WINDOW + usize::from(anchor.before));
            let here = start.and_then(|start| bytes.get(start..)?.get(..text.len()));
            if here.is_some_and(|here| here.eq_ignore_ascii_case(text)) {
                let slots = anchor.slots.start as usize..anchor.slots.end as usize;
                for slot in self.slots.get(slots).unwrap_or_default() {
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
