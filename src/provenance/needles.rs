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

/// Every so many bytes of the text a window is looked up.
const STRIDE: usize = 2;

/// Lines with the same rarest window beyond this number are not searched. Real patches stay below 5;
/// a patch that was made to slow the search down does not.
const MAX_PER_WINDOW: usize = 32;

/// A longer line is found when its first so many bytes are.
const MAX_COMPARED: usize = 512;

/// Slots of the [`Sketch`].
const SKETCH_SLOTS: usize = 1 << 20;

/// Number of a line in the order of insertion.
pub(super) type NeedleId = u32;

/// The bytes of a line that are compared, in the arena.
#[derive(Debug, Clone, Copy)]
struct Needle {
    start: u32,
    /// At most [`MAX_COMPARED`].
    len: u16,
}

/// A window of a line: the line, and where in it the window begins. Sixteen bytes, and all that a comparison
/// needs: tables of a large ground truth are beyond the nearer caches.
#[derive(Debug, Clone, Copy)]
struct Entry {
    /// Those of [`Needle`].
    start: u32,
    len: u16,
    /// Below [`MAX_COMPARED`].
    at: u16,
    id: NeedleId,
    /// Of the window.
    tag: u32,
}

impl Entry {
    /// What stands where no entry is.
    const FREE: Self = Self {
        start: 0,
        len: 0,
        at: 0,
        id: NeedleId::MAX,
        tag: 0,
    };

    fn is_free(&self) -> bool {
        self.id == NeedleId::MAX
    }

    fn needle(&self) -> Needle {
        Needle {
            start: self.start,
            len: self.len,
        }
    }
}

/// Lines by window: a hash table in which a look-up reads from one place on, to the next free one or the end. Entries
/// of one window stand one after the other, if need be with others between them.
#[derive(Debug, Default)]
struct Table {
    /// A power of two of them, at least a third of them free, and behind them what found no room; or none.
    slots: Vec<Entry>,
    /// Odd, and unknown to whoever writes the lines: nobody can make them collide.
    multiplier: u64,
    /// 64 minus the number of bits of a place.
    shift: u32,
}

impl Table {
    /// Room for so many entries.
    fn for_entries(count: usize) -> Self {
        let places = (count.max(1) * 3 / 2 + 1).next_power_of_two();
        Self {
            slots: vec![Entry::FREE; places],
            multiplier: RandomState::new().hash_one(places) | 1,
            shift: 64 - places.trailing_zeros(),
        }
    }

    /// The entries of a window, in the order of insertion; seldom also those of another one with its tag.
    fn get(&self, window: u64) -> impl Iterator<Item = &Entry> {
        let entries = self.slots.get(self.place(window)..).unwrap_or_default();
        let tag = tag(window);
        entries
            .iter()
            .take_while(|entry| !entry.is_free())
            .filter(move |entry| entry.tag == tag)
    }

    fn place(&self, window: u64) -> usize {
        (window.wrapping_mul(self.multiplier) >> self.shift) as usize
    }

    fn insert(&mut self, window: u64, entry: Entry) {
        let place = self.place(window);
        let from_place = self.slots.get_mut(place..).unwrap_or_default();
        match from_place.iter_mut().find(|slot| slot.is_free()) {
            Some(slot) => *slot = entry,
            None => self.slots.push(entry),
        }
    }
}

/// Which windows may occur: a Bloom filter of three bits a window, all in one word, so that a look-up touches one
/// place of memory (Putze, Sanders, Singler, "Cache-, hash- and space-efficient Bloom filters", 2007). Most look-ups
/// wait for that place, so a filter that fits into a nearer cache counts for more than one that passes less.
#[derive(Debug, Default)]
struct Filter {
    words: Vec<u64>,
    /// 64 minus the number of bits of a word's place.
    shift: u32,
}

impl Filter {
    /// With so many bits a window, at most three of a hundred foreign windows pass; mostly one, since the number of
    /// words is rounded up.
    const BITS: usize = 8;

    fn for_windows(count: usize) -> Self {
        let words = (count * Self::BITS / 64).max(2).next_power_of_two();
        Self {
            words: vec![0; words],
            shift: 64 - words.trailing_zeros(),
        }
    }

    fn insert(&mut self, window: u64) {
        let hash = hash(window);
        if let Some(word) = self.words.get_mut((hash >> self.shift) as usize) {
            *word |= Self::bits(hash);
        }
    }

    fn may_have(&self, window: u64) -> bool {
        let hash = hash(window);
        let bits = Self::bits(hash);
        let word = self.words.get((hash >> self.shift) as usize);
        word.is_some_and(|word| word & bits == bits)
    }

    /// By bits of the hash below those that choose the word.
    fn bits(hash: u64) -> u64 {
        1 << (hash >> 40 & 63) | 1 << (hash >> 34 & 63) | 1 << (hash >> 28 & 63)
    }
}

/// The lines to be found, compiled.
#[derive(Debug, Default)]
pub(super) struct Needles {
    arena: Arena,
    filter: Filter,
    by_window: Table,
    skipped: Vec<NeedleId>,
}

/// All lines, one after the other.
#[derive(Debug, Default)]
struct Arena(Vec<u8>);

impl Arena {
    fn add(&mut self, line: &[u8]) -> Needle {
        let line = line.get(..MAX_COMPARED).unwrap_or(line);
        // Beyond four gigabytes there is nothing to compare with: such lines are not found.
        let start = u32::try_from(self.0.len()).unwrap_or(u32::MAX);
        self.0.extend_from_slice(line);
        Needle {
            start,
            len: line.len() as u16,
        }
    }

    fn get(&self, needle: Needle) -> &[u8] {
        let start = needle.start as usize;
        let bytes = self.0.get(start..start + usize::from(needle.len));
        bytes.unwrap_or_default()
    }
}

impl Needles {
    /// Compiles lines (without white space; equal ones must have been merged). Lines shorter than
    /// [`MIN_BYTES`] are never found.
    pub(super) fn new<'a>(lines: impl IntoIterator<Item = &'a str>) -> Self {
        let mut arena = Arena::default();
        let lines: Vec<Needle> = lines
            .into_iter()
            .map(|line| arena.add(line.as_bytes()))
            .collect();
        let shared = Sketch::new(lines.iter().map(|line| arena.get(*line)));
        let mut out = Self {
            filter: Filter::for_windows(lines.len() * STRIDE),
            by_window: Table::for_entries(lines.len() * STRIDE),
            arena,
            skipped: Vec::new(),
        };
        for (id, line) in (0..).zip(lines) {
            out.enter(id, line, &shared);
        }
        out
    }

    /// Enters a line with the neighbouring windows that fewest lines share, the first of equals.
    fn enter(&mut self, id: NeedleId, needle: Needle, shared: &Sketch) {
        let Some((at, windows)) = shared.rarest(self.arena.get(needle)) else {
            return;
        };
        if windows.iter().any(|window| self.is_full(*window)) {
            self.skipped.push(id);
            return;
        }
        for (at, window) in (at..).zip(windows) {
            let Needle { start, len } = needle;
            let entry = Entry {
                start,
                len,
                at,
                id,
                tag: tag(window),
            };
            self.by_window.insert(window, entry);
            self.filter.insert(window);
        }
    }

    fn is_full(&self, wanted: u64) -> bool {
        let wanted_bytes = wanted.to_le_bytes();
        let is_same = |entry: &&Entry| {
            let from_window = self.arena.get(entry.needle()).get(entry.at.into()..);
            let window = from_window.and_then(|bytes| bytes.first_chunk::<WINDOW>());
            window.map(<[u8; WINDOW]>::as_slice) == wanted_bytes.get(..WINDOW)
        };
        self.by_window.get(wanted).filter(is_same).count() >= MAX_PER_WINDOW
    }

    /// Lines that are not searched, since too many others have the same window.
    pub(super) fn skipped(&self) -> &[NeedleId] {
        &self.skipped
    }

    /// Calls `hit` for every occurrence of a line in `text`, which must be squeezed like the lines.
    pub(super) fn scan(&self, text: &[u8], mut hit: impl FnMut(NeedleId)) {
        let mut look = |at: usize, window: u64| {
            if self.filter.may_have(window) {
                self.check(text, at, window, &mut hit);
            }
        };
        // Eight bytes are read at once, one more than a window has.
        let mut next = 0;
        for bytes in text.array_windows::<8>().step_by(STRIDE) {
            look(next, u64::from_le_bytes(*bytes) & WINDOW_BITS);
            next += STRIDE;
        }
        // The text may end with a window.
        if let Some(last) = text
            .get(next..)
            .and_then(|rest| rest.first_chunk::<WINDOW>())
        {
            let byte = |window: u64, byte: &u8| window << 8 | u64::from(*byte);
            look(next, last.iter().rev().fold(0, byte));
        }
    }

    /// The lines that stand in `text` with `window` beginning at a byte.
    #[cold]
    fn check(&self, text: &[u8], window_start: usize, window: u64, hit: &mut impl FnMut(NeedleId)) {
        let stands = |entry: &&Entry| {
            window_start
                .checked_sub(entry.at.into())
                .and_then(|start| text.get(start..start + usize::from(entry.len)))
                .is_some_and(|found| found == self.arena.get(entry.needle()))
        };
        for entry in self.by_window.get(window).filter(stands) {
            hit(entry.id);
        }
    }
}

/// How many lines share a window, up to 255, by hash: collisions only make the choice less good. Windows at even
/// offsets stand for all: a neighbour differs by a byte at each end and is shared by about as many.
struct Sketch(Vec<u8>);

impl Sketch {
    fn new<'a>(lines: impl Iterator<Item = &'a [u8]>) -> Self {
        let mut counts = vec![0u8; SKETCH_SLOTS];
        for (_, [window, _]) in lines.flat_map(choices) {
            if let Some(count) = counts.get_mut(Self::slot(window)) {
                *count = count.saturating_add(1);
            }
        }
        Self(counts)
    }

    fn slot(window: u64) -> usize {
        (hash(window) >> (64 - SKETCH_SLOTS.trailing_zeros())) as usize
    }

    fn count(&self, window: u64) -> u8 {
        self.0.get(Self::slot(window)).copied().unwrap_or(0)
    }

    /// The neighbouring windows of a text that are counted least, the first of equals, and where they begin.
    fn rarest(&self, bytes: &[u8]) -> Option<(u16, [u64; STRIDE])> {
        choices(bytes).min_by_key(|(_, [window, _])| self.count(*window))
    }
}

/// The neighbouring windows with which a line may be entered, and where they begin: those from even offsets on.
fn choices(line: &[u8]) -> impl Iterator<Item = (u16, [u64; STRIDE])> + '_ {
    let pairs = line.array_windows::<8>().step_by(STRIDE);
    (0..).step_by(STRIDE).zip(pairs).map(|(at, bytes)| {
        let both = u64::from_le_bytes(*bytes);
        (at, [both & WINDOW_BITS, both >> 8])
    })
}

/// Multiplicative hash (Fibonacci hashing); its high bits are used.
fn hash(window: u64) -> u64 {
    window.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

/// What is remembered of a window in its entries.
fn tag(window: u64) -> u32 {
    (hash(window) >> 16) as u32
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
