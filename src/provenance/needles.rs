//! Finding many known lines in much text: one pass, exact, whatever the number of lines.
//!
//! Every line is represented by a few bytes out of it, the place that fewest other lines share. The scan
//! looks at every second position of the text: it asks a bit set whether any line has the bytes there, and
//! compares the bytes around them when one does. So that no occurrence falls between two positions, a line
//! is entered with the windows of two neighbouring offsets. An automaton over whole lines does the same work
//! at a tenth of the speed once there are thousands of lines, and needs far more memory.
//!
//! Lines and text come from the party under audit, so the work must be bounded for any of them: of
//! lines that share a window only [`MAX_PER_WINDOW`] are searched (the others are reported by
//! [`Needles::skipped`]), and a line is compared by its first [`MAX_COMPARED`] bytes.

use std::hash::{BuildHasher, RandomState};

/// Bytes that a line must have to be searched.
pub(super) const MIN_BYTES: usize = WINDOW + STRIDE - 1;

/// Bytes of a window.
const WINDOW: usize = 7;

/// The bits of a window in a word of eight bytes, the first of them lowest.
const WINDOW_BITS: u64 = (1 << (8 * WINDOW)) - 1;

/// Every so many bytes of the text a window is looked up; divides eight.
const STRIDE: usize = 2;

/// Lines with the same rarest window beyond this number are not searched. Real patches stay below 5;
/// a patch that was made to slow the search down does not.
const MAX_PER_WINDOW: usize = 32;

/// A longer line is found when its first so many bytes are.
const MAX_COMPARED: usize = 512;

/// Slots that count how many lines share a window, up to 255; collisions only make the choice less good.
const SKETCH_SLOTS: usize = 1 << 20;

/// Number of a line in the order of insertion.
pub(super) type NeedleId = u32;

/// A line to be found.
#[derive(Debug, Clone, Copy)]
struct Needle {
    /// Where its bytes begin in the arena.
    start: usize,
    /// How many of them are compared.
    len: usize,
}

/// A window of a line: the line, and where in it the window begins.
#[derive(Debug, Clone, Copy)]
struct Entry {
    window: u64,
    id: NeedleId,
    /// Below [`MAX_COMPARED`].
    at: u32,
}

impl Entry {
    /// What stands where no entry is.
    const FREE: Self = Self {
        window: 0,
        id: NeedleId::MAX,
        at: 0,
    };

    fn is_free(&self) -> bool {
        self.id == NeedleId::MAX
    }
}

/// Lines by window: a hash table in which a look-up reads from one place on. Equal windows stand one after the
/// other, if need be with others between them.
#[derive(Debug, Default)]
struct Table {
    /// A power of two of them, at least half of them free; or none.
    slots: Vec<Entry>,
    /// Odd, and unknown to whoever writes the lines: nobody can make them collide.
    multiplier: u64,
    /// 64 minus the number of bits of a place.
    shift: u32,
    len: usize,
}

impl Table {
    /// Room for so many entries.
    fn for_entries(count: usize) -> Self {
        let places = (count.max(1) * 2).next_power_of_two();
        Self {
            slots: vec![Entry::FREE; places],
            multiplier: RandomState::new().hash_one(places) | 1,
            shift: 64 - places.trailing_zeros(),
            len: 0,
        }
    }

    /// The entries of a window, in the order of insertion.
    fn get(&self, window: u64) -> impl Iterator<Item = &Entry> {
        let (before, after) = self
            .slots
            .split_at(self.place(window).min(self.slots.len()));
        let entries = after.iter().chain(before);
        entries
            .take_while(|entry| !entry.is_free())
            .filter(move |entry| entry.window == window)
    }

    fn place(&self, window: u64) -> usize {
        (window.wrapping_mul(self.multiplier) >> self.shift) as usize
    }

    /// There must be room.
    fn insert(&mut self, entry: Entry) {
        let place = self.place(entry.window).min(self.slots.len());
        let (before, after) = self.slots.split_at_mut(place);
        let free = after.iter_mut().chain(before).find(|slot| slot.is_free());
        if let Some(slot) = free {
            *slot = entry;
            self.len += 1;
        }
    }
}

/// The lines to be found, compiled.
#[derive(Debug, Default)]
pub(super) struct Needles {
    /// All lines, one after the other.
    arena: Vec<u8>,
    needles: Vec<Needle>,
    /// Which windows may occur, by hash.
    filter: Vec<u64>,
    /// 64 minus the number of bits of a filter index.
    shift: u32,
    by_window: Table,
    skipped: Vec<NeedleId>,
}

impl Needles {
    /// Compiles lines (without white space; equal ones must have been merged). Lines shorter than
    /// [`MIN_BYTES`] are never found.
    pub(super) fn new<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut out = Self::default();
        for line in lines {
            let start = out.arena.len();
            out.arena.extend_from_slice(line.as_bytes());
            out.needles.push(Needle {
                start,
                len: line.len().min(MAX_COMPARED),
            });
        }
        out.choose_windows();
        out.build_filter();
        out
    }

    /// Lines that are not searched, since too many others have the same window.
    pub(super) fn skipped(&self) -> &[NeedleId] {
        &self.skipped
    }

    /// Calls `hit` for every occurrence of a line in `text`, which must be squeezed like the lines.
    pub(super) fn scan(&self, text: &[u8], mut hit: impl FnMut(NeedleId)) {
        if self.by_window.len == 0 {
            return;
        }
        let (filter, shift) = (self.filter.as_slice(), self.shift);
        let (words, tail) = text.as_chunks::<8>();
        let mut last = [0; 8];
        for (slot, byte) in last.iter_mut().zip(tail) {
            *slot = *byte;
        }
        let mut words = words.iter().chain([&last, &[0; 8]]);
        let mut word = words.next().copied().map_or(0, u64::from_le_bytes);
        // Windows that reach beyond the end hold no line: that shows when it is compared.
        words.enumerate().for_each(|(number, next)| {
            let next = u64::from_le_bytes(*next);
            let both = u128::from(next) << 64 | u128::from(word);
            for offset in (0..8).step_by(STRIDE) {
                let window = (both >> (8 * offset)) as u64 & WINDOW_BITS;
                let slot = hash(window) >> shift;
                let bits = filter.get((slot >> 6) as usize).copied().unwrap_or(0);
                if bits >> (slot & 63) & 1 == 1 {
                    self.check(text, number * 8 + offset, window, &mut hit);
                }
            }
            word = next;
        });
    }

    /// The lines that stand in `text` with `window` beginning at a byte.
    #[cold]
    fn check(&self, text: &[u8], at: usize, window: u64, hit: &mut impl FnMut(NeedleId)) {
        for entry in self.by_window.get(window) {
            if self.stands_at(*entry, text, at) {
                hit(entry.id);
            }
        }
    }

    /// The line stands in `text` so that its window is at `window_start`.
    fn stands_at(&self, entry: Entry, text: &[u8], window_start: usize) -> bool {
        let Some(needle) = self.needles.get(entry.id as usize) else {
            return false;
        };
        window_start
            .checked_sub(entry.at as usize)
            .and_then(|start| text.get(start..start + needle.len))
            .is_some_and(|found| Some(found) == self.bytes(needle))
    }

    fn bytes(&self, needle: &Needle) -> Option<&[u8]> {
        self.arena.get(needle.start..needle.start + needle.len)
    }

    /// Enters each line with the neighbouring windows that fewest lines share, the first of equals.
    fn choose_windows(&mut self) {
        let mut shared = vec![0u8; SKETCH_SLOTS];
        for needle in &self.needles {
            for window in windows(self.bytes(needle).unwrap_or_default()) {
                if let Some(count) = shared.get_mut(sketch_slot(window)) {
                    *count = count.saturating_add(1);
                }
            }
        }
        let count = |window: u64| u32::from(shared.get(sketch_slot(window)).copied().unwrap_or(0));
        let mut by_window = Table::for_entries(self.needles.len() * STRIDE);
        for (id, needle) in (0..).zip(&self.needles) {
            let Some((at, chosen)) = rarest(self.bytes(needle).unwrap_or_default(), count) else {
                continue;
            };
            let full = |w: &u64| by_window.get(*w).nth(MAX_PER_WINDOW - 1).is_some();
            if chosen.iter().any(full) {
                self.skipped.push(id);
                continue;
            }
            for (at, window) in (at..).zip(chosen) {
                by_window.insert(Entry { window, id, at });
            }
        }
        self.by_window = by_window;
    }

    /// A bit for every window; thirty-two times as many bits as windows keep false alarms near 3 %.
    fn build_filter(&mut self) {
        let bits = (self.by_window.len.max(64) * 32)
            .next_power_of_two()
            .trailing_zeros();
        self.shift = 64 - bits;
        self.filter = vec![0; 1 << (bits - 6)];
        for entry in self.by_window.slots.iter().filter(|e| !e.is_free()) {
            let slot = hash(entry.window) >> self.shift;
            if let Some(word) = self.filter.get_mut((slot >> 6) as usize) {
                *word |= 1 << (slot & 63);
            }
        }
    }
}

/// Multiplicative hash (Fibonacci hashing); its high bits are used.
fn hash(window: u64) -> u64 {
    window.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn sketch_slot(window: u64) -> usize {
    (hash(window) >> (64 - SKETCH_SLOTS.trailing_zeros())) as usize
}

/// The neighbouring windows of a text that are counted least, the first of equals, and where they begin.
fn rarest(bytes: &[u8], count: impl Fn(u64) -> u32) -> Option<(u32, [u64; STRIDE])> {
    let mut all = windows(bytes);
    let mut before = all.next()?;
    let mut count_before = count(before);
    let mut best: Option<(u32, u32, [u64; STRIDE])> = None;
    for (at, window) in (0u32..).zip(all) {
        let here = count(window);
        let sum = count_before + here;
        if best.is_none_or(|(least, ..)| sum < least) {
            best = Some((sum, at, [before, window]));
        }
        (before, count_before) = (window, here);
    }
    best.map(|(_, at, chosen)| (at, chosen))
}

/// The windows of a text at all its offsets.
fn windows(bytes: &[u8]) -> impl Iterator<Item = u64> + '_ {
    let mut register = 0u64;
    let registers = bytes.iter().map(move |byte| {
        register = register >> 8 | u64::from(*byte) << 56;
        register >> (64 - 8 * WINDOW)
    });
    registers.skip(WINDOW - 1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    fn found(lines: &[&str], text: &str) -> BTreeSet<NeedleId> {
        let mut out = BTreeSet::new();
        Needles::new(lines.iter().copied()).scan(text.as_bytes(), |id| {
            out.insert(id);
        });
        out
    }

    #[test]
    fn finds_lines_anywhere() {
        let lines = ["returncompute(a,b)", "iferr!=nil{", "short", "中文标识符=1"];
        assert_eq!(
            found(&lines, "x+returncompute(a,b)+iferr!=nil{"),
            [0, 1].into()
        );
        assert_eq!(found(&lines, "returncompute(a,b"), [].into());
        assert_eq!(found(&lines, "shortshort"), [].into());
        assert_eq!(found(&lines, "中文标识符=1"), [3].into());
        assert_eq!(found(&lines, ""), [].into());
        assert_eq!(found(&[], "returncompute(a,b)"), [].into());
    }

    #[test]
    fn a_window_of_zero_bytes_at_the_end_is_no_hit() {
        // What is read behind the end are zeros.
        assert_eq!(found(&["\0\0\0\0\0\0\0\0"], "\0\0\0"), [].into());
        assert_eq!(found(&["\0\0\0\0\0\0\0\0"], "\0\0\0\0\0\0\0\0"), [0].into());
    }

    #[test]
    fn long_lines_are_found_by_their_beginning() {
        let line: String = (0..600)
            .map(|i| char::from(b'a' + (i * 7 % 26) as u8))
            .collect();
        assert_eq!(found(&[&line], &line), [0].into());
        let head = |n| line.chars().take(n).collect::<String>();
        assert_eq!(found(&[&line], &head(512)), [0].into());
        assert_eq!(found(&[&line], &head(511)), [].into());
    }

    #[test]
    fn lines_with_one_window_are_capped_and_reported() {
        let lines: Vec<String> = (8..200).map(|n| "a".repeat(n)).collect();
        let needles = Needles::new(lines.iter().map(String::as_str));
        // A line with two equal windows takes two places.
        assert_eq!(needles.skipped().len(), 192 - MAX_PER_WINDOW / STRIDE);
        let mut hits = 0;
        needles.scan("a".repeat(50).as_bytes(), |_| hits += 1);
        assert!(hits >= MAX_PER_WINDOW / STRIDE);
    }

    #[test]
    fn ordinary_lines_are_all_searched() {
        let lines: Vec<String> = (0..20_000)
            .map(|i| format!("result.field{}=source.field{}(ctx,{i})", i % 700, i % 300))
            .collect();
        let needles = Needles::new(lines.iter().map(String::as_str));
        assert_eq!(needles.skipped(), &[] as &[NeedleId]);
        let text = lines.concat();
        let mut seen = vec![false; lines.len()];
        needles.scan(text.as_bytes(), |id| seen[id as usize] = true);
        assert!(seen.iter().all(|s| *s));
    }

    proptest! {
        #[test]
        fn finds_what_a_plain_search_finds(
            lines in proptest::collection::btree_set("[abc]{8,14}|[a-f]{8,20}", 0..12),
            parts in proptest::collection::vec("[abc]{0,10}", 0..8),
            at in any::<prop::sample::Index>(),
        ) {
            let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
            let mut text = parts.concat();
            if !lines.is_empty() {
                text.push_str(lines[at.index(lines.len())]);
            }
            text.push_str(&parts.concat());
            let plain: BTreeSet<NeedleId> = (0u32..)
                .zip(&lines)
                .filter(|(_, l)| text.contains(**l))
                .map(|(i, _)| i)
                .collect();
            prop_assert_eq!(found(&lines, &text), plain);
        }
    }
}
