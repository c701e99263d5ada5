//! Lines of the GT that follow from lines that were there before.
//!
//! Who renames `fetch` to `fetch_all` at three hundred places decides once. Each of the three hundred lines is new, and
//! says no more than the first: whoever does the task at all writes them alike. The same holds for a formatter, which
//! decides nothing, and for a file that was made of its neighbour by putting one name in the place of another. So a
//! line that follows from an old one is known, like one of the starter, when
//!
//! - its tokens stand in the removed lines of its change block as they are, however broken (a formatter), or
//! - it becomes of a removed line, or of a line of the file it was modelled on, by replacements that an earlier line of
//!   the GT has shown already. The line that shows a replacement first counts as ever: the choice is information.
//!
//! Only GT and starter are asked, never the patch under audit or its trace: an agent that renames what it copied changes
//! nothing here.

use foldhash::{HashMap, HashMapExt, HashSet, HashSetExt};

use super::lexer::{TokenKind, is_keyword, tokens};
use super::prepare::PreparedLine;
use crate::patch::model::LineKind;

/// Of the pieces of a line, so many of ten stay where it follows from another.
const KEPT_TENTHS: usize = 5;

/// Pieces on either side of a replacement; a longer text is written, not replaced.
const MAX_REPLACED: usize = 12;

/// Replacements in one line.
const MAX_REPLACEMENTS: usize = 8;

/// Longer lines are compared with no other, in pieces.
const MAX_PIECES: usize = 160;

/// Old lines that one added line is compared with, before and after its place in the block or among lines of its shape.
const NEAR: usize = 8;

/// Where the same text is replaced by several, so many of ten places must have it by one.
const SAME_TENTHS: usize = 8;

/// So many of ten lines of a file that was made of another follow from that.
const MODELLED_TENTHS: usize = 6;

/// Steps that the whole comparison may take. Lines beyond count as new.
const MAX_WORK: usize = 60_000_000;

/// A text and what stands in its place, as hashes; where nothing was or is, with what stands around it.
type Replacement = (u64, u64);

/// What is known of an added line: its number, and the replacements that make it of an old one.
type Made = (u32, Vec<Replacement>);

/// Cuts code into pieces: parts of names at their borders, numbers, signs. Quotes are one sign.
pub(super) fn pieces(code: &str) -> Vec<&str> {
    let mut out = raw_pieces(code);
    out.iter_mut().for_each(|piece| *piece = one_quote(piece));
    out
}

/// All quotes are one sign: a formatter changes them.
fn one_quote(piece: &str) -> &str {
    if matches!(piece, "'" | "`") {
        return "\"";
    }
    piece
}

/// The pieces as they are.
fn raw_pieces(code: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = code;
    while let Some(first) = rest.chars().next() {
        let mut length = first.len_utf8();
        if first.is_alphabetic() {
            // `fetchAll`, `FetchAll`, `fetch_all`, `FETCH_ALL`: a part begins with a capital behind a small letter.
            let mut before = first;
            for c in rest.chars().skip(1) {
                if !c.is_alphabetic() || c.is_uppercase() && before.is_lowercase() {
                    break;
                }
                before = c;
                length += c.len_utf8();
            }
        } else if first.is_numeric() {
            let more = rest.chars().take_while(|c| c.is_numeric());
            length = more.map(char::len_utf8).sum();
        }
        let (piece, after) = rest.split_at_checked(length).unwrap_or((rest, ""));
        if !first.is_whitespace() {
            out.push(piece);
        }
        rest = after;
    }
    out
}

/// Finds the lines that follow from others.
#[derive(Default)]
pub(super) struct Mechanical<'a> {
    words: HashMap<&'a str, u32>,
    made: Vec<Made>,
    work: usize,
}

impl<'a> Mechanical<'a> {
    /// The pieces of a line as numbers.
    fn read(&mut self, code: &'a str) -> Vec<u32> {
        self.numbers(pieces(code))
    }

    fn numbers(&mut self, pieces: Vec<&'a str>) -> Vec<u32> {
        let words = &mut self.words;
        let number = |piece: &'a str| {
            let fresh = words.len() as u32;
            *words.entry(piece).or_insert(fresh)
        };
        pieces.into_iter().map(number).collect()
    }

    /// The change blocks of a hunk. `number` is that of an added line that is not known yet.
    pub(super) fn hunk(
        &mut self,
        lines: &'a [PreparedLine<'_>],
        number: &impl Fn(&str) -> Option<u32>,
    ) {
        for block in lines.split(|line| line.kind() == LineKind::Context) {
            let of = |kind| move |line: &&PreparedLine<'_>| line.kind() == kind;
            let removed: Vec<_> = block.iter().filter(of(LineKind::Removed)).collect();
            if removed.is_empty() {
                continue;
            }
            let added: Vec<_> = block.iter().filter(of(LineKind::Added)).collect();
            let old: Vec<Vec<u32>> = removed.iter().map(|l| self.read(&l.code)).collect();
            let layout = self.layout(&removed);
            for (at, line) in added.iter().enumerate() {
                let Some(number) = number(&line.text) else {
                    continue;
                };
                if self.stands_in(&line.code, &layout) {
                    self.made.push((number, Vec::new()));
                    continue;
                }
                let new = self.read(&line.code);
                // Blocks keep their order: the partner of a line is about where it stands itself.
                let place = at * removed.len() / added.len().max(1);
                let near = old.iter().enumerate().skip(place.saturating_sub(NEAR));
                let near = near.take(2 * NEAR + 1).map(|(_, line)| line.as_slice());
                self.made_of(number, &new, near);
            }
        }
    }

    /// The pieces of removed lines, one after the other, without what a formatter adds and takes.
    fn layout(&mut self, lines: &[&'a PreparedLine<'_>]) -> Vec<u32> {
        self.numbers(without_layout(lines.iter().map(|line| &*line.code)))
    }

    /// All of the code stands there in one piece.
    fn stands_in(&mut self, code: &'a str, layout: &[u32]) -> bool {
        let pieces = without_layout(std::iter::once(code));
        let known = |piece: &&str| self.words.get(piece).copied();
        let Some(line) = pieces.iter().map(known).collect::<Option<Vec<u32>>>() else {
            return false;
        };
        if line.is_empty() {
            return false;
        }
        for window in layout.windows(line.len()) {
            let same = window.iter().zip(&line).take_while(|(a, b)| a == b).count();
            self.work += same + 1;
            if same == line.len() || self.work > MAX_WORK {
                return same == line.len() && self.work <= MAX_WORK;
            }
        }
        false
    }

    /// Remembers how a line is made of that of the old ones which it is most like.
    pub(super) fn made_of<'l>(
        &mut self,
        number: u32,
        new: &[u32],
        old: impl Iterator<Item = &'l [u32]>,
    ) {
        let mut best: Option<(usize, Vec<Replacement>)> = None;
        for old in old {
            if old.len().max(new.len()) > MAX_PIECES {
                continue;
            }
            self.work += old.len() * new.len();
            if self.work > MAX_WORK {
                return;
            }
            let Some((kept, replacements)) = replacements(old, new) else {
                continue;
            };
            if best.as_ref().is_none_or(|(most, _)| kept > *most) {
                best = Some((kept, replacements));
            }
        }
        if let Some((_, replacements)) = best {
            self.made.push((number, replacements));
        }
    }

    /// A new file that may have been made of another: `lines` are its code with the numbers of those that are not known,
    /// `model` the code of the other. It was, when most of its lines follow from that.
    pub(super) fn modelled(&mut self, lines: &[(&'a str, Option<u32>)], model: &'a [String]) {
        let mut places: HashMap<u64, Vec<&'a str>> = HashMap::new();
        for line in model {
            places.entry(shape(line)).or_default().push(line);
        }
        let there: HashSet<&str> = model.iter().map(String::as_str).collect();
        let start = self.made.len();
        let mut equal = 0;
        // Of each shape, how many lines there were.
        let mut nth: HashMap<u64, usize> = HashMap::new();
        for (line, number) in lines {
            let shape = shape(line);
            let nth = nth.entry(shape).or_default();
            let place = std::mem::replace(nth, *nth + 1);
            if there.contains(line) {
                equal += 1;
            } else if let (Some(number), Some(alike)) = (number, places.get(&shape)) {
                let new = self.read(line);
                let near = alike.iter().skip(place.saturating_sub(NEAR));
                let old: Vec<Vec<u32>> = near.take(2 * NEAR).map(|l| self.read(l)).collect();
                self.made_of(*number, &new, old.iter().map(Vec::as_slice));
            }
        }
        let own = self.made.get(start..).unwrap_or_default();
        let follow = known(own);
        let of_model = |(_, number): &&(&str, Option<u32>)| {
            number.is_some_and(|number| follow.contains(&number))
        };
        let all = equal + lines.iter().filter(of_model).count();
        if all * 10 < lines.len() * MODELLED_TENTHS {
            self.made.truncate(start);
        }
    }

    /// The numbers of the lines that follow from others, given what was found in the order of the GT.
    pub(super) fn finish(self) -> HashSet<u32> {
        known(&self.made)
    }
}

/// A hash of the signs and keywords of a line.
pub(super) fn shape(line: &str) -> u64 {
    let shape: Vec<&str> = tokens(line)
        .map(|token| match token.kind {
            TokenKind::Identifier if !is_keyword(token.text) => "i",
            TokenKind::Number => "n",
            TokenKind::String => "s",
            TokenKind::Identifier | TokenKind::Punct => token.text,
        })
        .collect();
    hash(&shape)
}

/// The lines that show nothing that one before has not shown.
fn known(made: &[Made]) -> HashSet<u32> {
    let mut by: HashMap<u64, HashMap<u64, usize>> = HashMap::new();
    for (old, new) in made.iter().flat_map(|(_, all)| all) {
        *by.entry(*old).or_default().entry(*new).or_default() += 1;
    }
    let usual = |(old, new): &Replacement| {
        by.get(old).is_some_and(|all| {
            let this = all.get(new).copied().unwrap_or(0);
            this * 10 >= all.values().sum::<usize>() * SAME_TENTHS
        })
    };
    let mut shown = HashSet::new();
    let mut known = HashSet::new();
    let mut first = HashSet::new();
    for (number, replacements) in made {
        // What showed something new once is no repetition where it stands again.
        let new = replacements.iter().any(|r| !usual(r) || !shown.contains(r));
        shown.extend(replacements.iter().copied());
        if new {
            first.insert(*number);
        } else if !first.contains(number) {
            known.insert(*number);
        }
    }
    known
}

/// Without parentheses, semicolons, a comma before a closing bracket, a backslash at the end, as far as those stand in
/// no string: there they are content.
fn without_layout<'c>(lines: impl Iterator<Item = &'c str>) -> Vec<&'c str> {
    let mut out: Vec<&str> = Vec::new();
    for line in lines {
        let pieces = raw_pieces(line);
        // Up to there, pieces are those of a string.
        let mut string = 0;
        for (at, piece) in pieces.iter().enumerate() {
            if at < string {
                out.push(one_quote(piece));
                continue;
            }
            if matches!(*piece, ")" | "]" | "}") && out.last() == Some(&",") {
                out.pop();
            }
            if matches!(*piece, "\"" | "'" | "`") {
                string = end_of_string(&pieces, at).unwrap_or(at);
            }
            if !matches!(*piece, "(" | ")" | ";" | "\\") {
                out.push(one_quote(piece));
            }
        }
    }
    // A line that ends with a comma may have had none.
    if out.last() == Some(&",") {
        out.pop();
    }
    out
}

/// Behind the string that the quote at that place opens, in the same line.
fn end_of_string(pieces: &[&str], quote: usize) -> Option<usize> {
    let mut escaped = false;
    for (at, piece) in pieces.iter().enumerate().skip(quote + 1) {
        if !escaped && Some(piece) == pieces.get(quote) {
            return Some(at + 1);
        }
        escaped = !escaped && *piece == "\\";
    }
    None
}

/// How `new` is made of `old`: the pieces that stay, and the replacements of the others. `None` when too little stays.
fn replacements(old: &[u32], new: &[u32]) -> Option<(usize, Vec<Replacement>)> {
    let kept = common(old, new);
    if kept.len() * 10 < new.len() * KEPT_TENTHS || kept.is_empty() {
        return None;
    }
    let mut out = Vec::new();
    let (mut from_old, mut from_new) = (0, 0);
    let ends = std::iter::once((old.len(), new.len()));
    for (at_old, at_new) in kept.iter().copied().chain(ends) {
        let gone = old.get(from_old..at_old)?;
        let come = new.get(from_new..at_new)?;
        if !(gone.is_empty() && come.is_empty()) {
            if gone.len().max(come.len()) > MAX_REPLACED || out.len() >= MAX_REPLACEMENTS {
                return None;
            }
            // Where nothing stands on one side, its neighbours say where.
            let bare = gone.is_empty() || come.is_empty();
            let around = bare.then(|| {
                let before = from_old.checked_sub(1).and_then(|at| old.get(at));
                (before, old.get(at_old))
            });
            out.push((hash(&(gone, around)), hash(&(come, around))));
        }
        (from_old, from_new) = (at_old + 1, at_new + 1);
    }
    Some((kept.len(), out))
}

/// The places of a longest common subsequence.
fn common(old: &[u32], new: &[u32]) -> Vec<(usize, usize)> {
    let same = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let mut kept: Vec<(usize, usize)> = (0..same).map(|at| (at, at)).collect();
    let (a, b) = (
        old.get(same..).unwrap_or_default(),
        new.get(same..).unwrap_or_default(),
    );
    let width = b.len() + 1;
    // Lengths for the rests of both, by rows of `a`.
    let mut lengths = vec![0u16; (a.len() + 1) * width];
    let at = |i: usize, j: usize| i * width + j;
    for (i, x) in a.iter().enumerate().rev() {
        for (j, y) in b.iter().enumerate().rev() {
            let get = |i, j| lengths.get(at(i, j)).copied().unwrap_or(0);
            let longest = match x == y {
                true => get(i + 1, j + 1) + 1,
                false => get(i + 1, j).max(get(i, j + 1)),
            };
            if let Some(place) = lengths.get_mut(at(i, j)) {
                *place = longest;
            }
        }
    }
    let get = |i, j| lengths.get(at(i, j)).copied().unwrap_or(0);
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x == y {
            kept.push((same + i, same + j));
            (i, j) = (i + 1, j + 1);
        } else if get(i + 1, j) >= get(i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    kept
}

/// A hash that is the same in every run.
fn hash(value: &impl std::hash::Hash) -> u64 {
    use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
    BuildHasherDefault::<DefaultHasher>::default().hash_one(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::prepare::prepare;
    use crate::similarity::prepare::tests::file;

    /// The added lines, with whether they are known.
    fn known(lines: &[&str]) -> Vec<bool> {
        let file = file("a.py", lines);
        let hunks = prepare(&file);
        let texts: Vec<&str> = hunks[0]
            .iter()
            .filter(|l| l.kind() == LineKind::Added)
            .map(|l| l.text.as_str())
            .collect();
        let mut found = Mechanical::default();
        let number = |text: &str| texts.iter().position(|t| *t == text).map(|at| at as u32);
        found.hunk(&hunks[0], &number);
        let known = found.finish();
        (0..texts.len() as u32)
            .map(|n| known.contains(&n))
            .collect()
    }

    #[test]
    fn names_are_cut_at_their_borders() {
        assert_eq!(
            pieces("fetchAll(x_1, 'HTTPError') // ä2b"),
            [
                "fetch",
                "All",
                "(",
                "x",
                "_",
                "1",
                ",",
                "\"",
                "HTTPError",
                "\"",
                ")",
                "/",
                "/",
                "ä",
                "2",
                "b"
            ]
        );
    }

    #[test]
    fn a_renaming_counts_once() {
        let lines = [
            "-first = legacy_call(conn, 1)",
            "-second = legacy_call(conn, 2)",
            "-return legacy_call(first.conn)",
            "+first = modern_call(link, 1)",
            "+second = modern_call(link, 2)",
            "+return modern_call(first.link)",
        ];
        assert_eq!(known(&lines), [false, true, true]);
    }

    #[test]
    fn a_parameter_that_is_handed_on_counts_once() {
        let lines = [
            "-    dock(ship, pier)",
            "-    moor(ship, pier)",
            "+    dock(ctx, ship, pier)",
            "+    moor(ctx, ship, pier)",
        ];
        // Behind another name each time: nothing is said of where it goes.
        assert_eq!(known(&lines), [false, true]);
    }

    #[test]
    fn a_formatter_says_nothing() {
        let lines = [
            "-result = combine( first,second, third)",
            "-print('done')",
            "+result = combine(",
            "+    first, second,",
            "+    third,",
            "+)",
            "+print(\"done\")",
        ];
        // A bracket is nothing anyway.
        assert_eq!(known(&lines), [true, true, true, false, true]);
    }

    /// What stands in a string is content, however it is cut; an apostrophe opens none.
    #[test]
    fn parentheses_in_strings_are_no_layout() {
        let lines = [
            r#"-text = "Lambda(%s,%s)" % (a, b)"#,
            "-keep(&'a first, (second))",
            r#"+text = "Lambda((%s),%s)" % (a, b)"#,
            r#"+text = 'Lambda(%s,%s)' % ("#,
            "+keep(&'a first,",
            "+    (second),",
        ];
        assert_eq!(known(&lines), [false, true, true, true]);
        let escaped = [r#"-say("a \" (b)")"#, r#"+say("a \" b")"#];
        assert_eq!(known(&escaped), [false]);
    }

    /// The windows that are nearly equal cost what they cost.
    #[test]
    fn long_lines_that_nearly_stand_there_end() {
        let (old, new) = ("-".to_owned() + &"0 ".repeat(30_000), "0 ".repeat(15_000));
        let lines = [old, format!("+{new}1"), format!("+1 {new}")];
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let file = file("a.txt", &lines);
        let hunks = prepare(&file);
        let mut found = Mechanical::default();
        found.hunk(&hunks[0], &|_| Some(0));
        assert!(found.work <= MAX_WORK + 160 * 160, "{}", found.work);
    }

    #[test]
    fn what_is_chosen_anew_each_time_counts_each_time() {
        let lines = [
            "-limits = read(alpha)",
            "-limits = read(beta)",
            "-limits = read(gamma)",
            "+limits = read(alpha, floor)",
            "+limits = read(beta, depth)",
            "+limits = read(gamma, width)",
        ];
        assert_eq!(known(&lines), [false; 3]);
        let other = ["-pass", "+tide = sum(level.height for level in levels)"];
        assert_eq!(known(&other), [false]);
    }

    #[test]
    fn one_name_by_several_is_no_renaming() {
        let lines = [
            "-call(x, 1)",
            "-call(x, 2)",
            "-call(x, 3)",
            "-call(x, 4)",
            "+dock(x, 1)",
            "+moor(x, 2)",
            "+dock(x, 3)",
            "+moor(x, 4)",
        ];
        assert_eq!(known(&lines), [false; 4]);
    }

    #[test]
    fn hostile_blocks_end() {
        let line = |sign: &str, n: usize| format!("{sign}{} {n}", "a b".repeat(70));
        let removed = (0..20_000).map(|n| line("-", n));
        let all: Vec<String> = removed
            .chain((0..20_000).map(|n| line("+", n * 7)))
            .collect();
        let lines: Vec<&str> = all.iter().map(String::as_str).collect();
        let file = file("a.txt", &lines);
        let hunks = prepare(&file);
        let mut found = Mechanical {
            work: MAX_WORK - 10_000_000,
            ..Mechanical::default()
        };
        found.hunk(&hunks[0], &|_| Some(0));
        assert!(found.work > MAX_WORK);
        found.finish();
    }
}
