//! Runs of consecutive identical lines: R6 and the longest run.
//!
//! Scattered common lines are coincidence or shared vocabulary; a block of lines in the same order is
//! a copy. R6 is the share of distinctive GT lines that stand in a run of at least six consecutive
//! lines of the patch. "Consecutive" means among the added lines of a file that hold code: unchanged,
//! blank and comment lines between them do not interrupt a run, lines without information take part
//! in it and are not counted.
//!
//! The GT's lines become a suffix automaton (Blumer et al. 1985), through which the lines of the
//! patch are read one by one: linear in both, exact, and the memory depends on the GT alone.

use std::collections::BTreeMap;

/// Runs shorter than this are no evidence.
pub const MIN_RUN: u32 = 6;

const NONE: usize = usize::MAX;
const ROOT: usize = 0;

/// A set of GT lines that end at the same places after the same contexts.
#[derive(Debug, Clone, Default)]
struct State {
    /// Length of the longest sequence that leads here.
    length: u32,
    /// State of the longest suffix that also occurs elsewhere.
    link: usize,
    next: Next,
    /// Longest sequence of the patch that led here.
    seen: u32,
}

/// The states that lines lead to. Nearly all states have one: a line has one line that follows.
#[derive(Debug, Clone, Default)]
struct Next {
    first: Option<(u32, usize)>,
    more: BTreeMap<u32, usize>,
}

impl Next {
    fn get(&self, line: u32) -> Option<usize> {
        match self.first {
            Some((first, state)) if first == line => Some(state),
            _ => self.more.get(&line).copied(),
        }
    }

    fn insert(&mut self, line: u32, state: usize) {
        match &mut self.first {
            Some((first, old)) if *first == line => *old = state,
            Some(_) => {
                self.more.insert(line, state);
            }
            None => self.first = Some((line, state)),
        }
    }
}

/// The GT's line sequences, to read a patch against.
#[derive(Debug, Clone)]
pub struct Runs {
    states: Vec<State>,
    /// For each file, the state after each of its lines.
    files: Vec<Vec<usize>>,
    /// Where the reader of the patch stands.
    at: usize,
    run: u32,
}

/// For each GT file, the length of the longest run that ends at each of its lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunLengths(Vec<Vec<u32>>);

impl Runs {
    /// Takes the lines of each GT file as numbers, equal for equal lines.
    pub fn new(files: &[Vec<u32>]) -> Self {
        let mut runs = Self {
            states: vec![State {
                link: NONE,
                ..State::default()
            }],
            files: Vec::with_capacity(files.len()),
            at: ROOT,
            run: 0,
        };
        // Starting each file at the root keeps sequences within files: a generalised automaton.
        for file in files {
            let mut last = ROOT;
            let mut places = Vec::with_capacity(file.len());
            for line in file {
                last = runs.extend(last, *line);
                places.push(last);
            }
            runs.files.push(places);
        }
        runs
    }

    /// For a patch of which nothing will be read: no run is found in these lines.
    pub fn of_nothing(files: &[Vec<u32>]) -> Self {
        let mut runs = Self::new(&[]);
        runs.files = files.iter().map(|file| vec![ROOT; file.len()]).collect();
        runs
    }

    fn next(&self, state: usize, line: u32) -> Option<usize> {
        self.states.get(state)?.next.get(line)
    }

    fn length(&self, state: usize) -> u32 {
        self.states.get(state).map_or(0, |s| s.length)
    }

    fn link(&self, state: usize) -> usize {
        self.states.get(state).map_or(NONE, |s| s.link)
    }

    fn set_link(&mut self, state: usize, link: usize) {
        if let Some(state) = self.states.get_mut(state) {
            state.link = link;
        }
    }

    /// Appends a line to the sequence that ended in `last`.
    fn extend(&mut self, last: usize, line: u32) -> usize {
        if let Some(known) = self.next(last, line) {
            // Another file went this way before.
            return self.split(last, line, known);
        }
        let new = self.states.len();
        self.states.push(State {
            length: self.length(last) + 1,
            ..State::default()
        });
        let mut state = last;
        while let Some(here) = self.states.get_mut(state)
            && here.next.get(line).is_none()
        {
            here.next.insert(line, new);
            state = here.link;
        }
        let link = match self.next(state, line) {
            Some(known) => self.split(state, line, known),
            None => ROOT,
        };
        self.set_link(new, link);
        new
    }

    /// The state that `line` leads to from `state`, cut off from `known` where that stands for longer
    /// sequences too.
    fn split(&mut self, mut state: usize, line: u32, known: usize) -> usize {
        if self.length(state) + 1 == self.length(known) {
            return known;
        }
        let clone = self.states.len();
        self.states.push(State {
            length: self.length(state) + 1,
            link: self.link(known),
            next: self
                .states
                .get(known)
                .map(|s| s.next.clone())
                .unwrap_or_default(),
            seen: 0,
        });
        self.set_link(known, clone);
        while let Some(here) = self.states.get_mut(state)
            && here.next.get(line) == Some(known)
        {
            here.next.insert(line, clone);
            state = here.link;
        }
        clone
    }

    /// Reads the next line of the patch; `None` for one that the GT does not have.
    pub fn read(&mut self, line: Option<u32>) {
        let Some(line) = line else {
            self.end_file();
            return;
        };
        loop {
            if let Some(next) = self.next(self.at, line) {
                self.at = next;
                self.run += 1;
                break;
            }
            if self.at == ROOT {
                self.run = 0;
                return;
            }
            self.at = self.link(self.at);
            self.run = self.length(self.at);
        }
        if let Some(state) = self.states.get_mut(self.at) {
            state.seen = state.seen.max(self.run);
        }
    }

    /// The patch's next line is in another file.
    pub fn end_file(&mut self) {
        self.at = ROOT;
        self.run = 0;
    }

    /// The lengths of the runs found.
    pub fn finish(mut self) -> RunLengths {
        let mut order: Vec<usize> = (1..self.states.len()).collect();
        order.sort_unstable_by_key(|state| self.length(*state));
        // What led to a state led to all suffixes of it …
        for state in order.iter().rev() {
            let Some(here) = self.states.get(*state) else {
                continue;
            };
            let (seen, link) = (here.seen, here.link);
            if seen > 0
                && let Some(suffix) = self.states.get_mut(link)
            {
                suffix.seen = suffix.length;
            }
        }
        // … and every place of a suffix is a place of the longer sequences around it.
        for state in &order {
            let suffix = self.states.get(self.link(*state)).map_or(0, |s| s.seen);
            if let Some(here) = self.states.get_mut(*state) {
                here.seen = here.seen.max(suffix);
            }
        }
        let length = |state: &usize| self.states.get(*state).map_or(0, |s| s.seen);
        RunLengths(
            self.files
                .iter()
                .map(|places| places.iter().map(length).collect())
                .collect(),
        )
    }
}

impl RunLengths {
    /// Longest run in a file, in lines.
    pub fn longest(&self, file: usize) -> u64 {
        let lengths = self.0.get(file).map(Vec::as_slice).unwrap_or_default();
        lengths.iter().copied().max().map_or(0, u64::from)
    }

    /// For each line of a file, whether it stands in a run of at least [`MIN_RUN`].
    pub fn covered(&self, file: usize) -> Vec<bool> {
        let lengths = self.0.get(file).map(Vec::as_slice).unwrap_or_default();
        let mut reach = 0;
        let mut covered: Vec<bool> = lengths
            .iter()
            .rev()
            .map(|length| {
                if *length >= MIN_RUN {
                    reach = reach.max(*length);
                }
                let inside = reach > 0;
                reach = reach.saturating_sub(1);
                inside
            })
            .collect();
        covered.reverse();
        covered
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn run(gt: &[Vec<u32>], patch: &[Vec<Option<u32>>]) -> RunLengths {
        let mut runs = Runs::new(gt);
        for file in patch {
            file.iter().for_each(|line| runs.read(*line));
            runs.end_file();
        }
        runs.finish()
    }

    /// The definition, without cleverness.
    fn slow(gt: &[Vec<u32>], patch: &[Vec<Option<u32>>]) -> RunLengths {
        let longest_at = |file: &[u32], end: usize| {
            (0..=end)
                .find(|start| {
                    let wanted: Vec<_> = file[*start..=end].iter().map(|l| Some(*l)).collect();
                    patch
                        .iter()
                        .any(|p| p.windows(wanted.len()).any(|w| w == wanted))
                })
                .map_or(0, |start| (end + 1 - start) as u32)
        };
        RunLengths(
            gt.iter()
                .map(|file| (0..file.len()).map(|end| longest_at(file, end)).collect())
                .collect(),
        )
    }

    #[test]
    fn finds_blocks() {
        let gt = vec![(0..10).collect::<Vec<u32>>()];
        let copied: Vec<Option<u32>> = (2..9).map(Some).collect();
        let lengths = run(&gt, &[copied]);
        assert_eq!(lengths.longest(0), 7);
        let covered = lengths.covered(0);
        assert_eq!(covered.iter().filter(|c| **c).count(), 7);
        assert!(!covered[0] && covered[2] && covered[8] && !covered[9]);
        assert_eq!(run(&gt, &[]).longest(0), 0);
        assert_eq!(lengths.longest(7), 0);
        let nothing = Runs::of_nothing(&gt).finish();
        assert_eq!(nothing, run(&gt, &[]));
    }

    proptest! {
        #[test]
        fn agrees_with_the_definition(
            gt in proptest::collection::vec(proptest::collection::vec(0u32..4, 0..14), 0..4),
            patch in proptest::collection::vec(
                proptest::collection::vec(proptest::option::weighted(0.9, 0u32..4), 0..14), 0..4),
        ) {
            prop_assert_eq!(run(&gt, &patch), slow(&gt, &patch));
        }
    }
}
