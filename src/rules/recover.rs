//! A rule file with TOML mistakes, read as far as it goes.
//!
//! The TOML reader goes on behind a mistake, but an array or a text that is never closed takes in all that follows. So the
//! text is cut into statements (a header, or a key with its value), each is read by itself, and one that is broken is
//! replaced by spaces. What is left has the same places as the file, and everything else in it can still be checked.

use std::ops::Range;

use toml::Spanned;
use toml::de::DeTable;

/// How often what is left is read again, each time without the statements that did not fit together.
const MAX_ROUNDS: usize = 8;

/// Statements that one value can seem to go over before it is taken for broken.
const MAX_JOINED: usize = 64;

/// Bytes of them.
const MAX_JOINED_BYTES: usize = 16 << 10;

/// Mistakes of a file that are shown; of one with more, the rest is shown when these are mended.
pub(super) const MAX_MISTAKES: usize = 100;

/// A mistake: place and message.
pub(super) type Mistake = (Range<usize>, String);

/// The file as far as it can be read.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    /// The text with spaces in place of what is broken; empty if that did not help.
    pub(super) text: String,
    /// What is wrong, in the order of the file.
    pub(super) mistakes: Vec<Mistake>,
    /// What was replaced.
    pub(super) gaps: Vec<Range<usize>>,
    /// There are more mistakes than are shown.
    pub(super) more: bool,
}

/// Reads a text that has mistakes.
pub(super) fn recover(text: &str) -> Recovered {
    let mut found = Recovered::default();
    let starts = starts(text);
    broken_statements(text, &starts, &mut found);
    for _ in 0..MAX_ROUNDS {
        found.gaps = merged(std::mem::take(&mut found.gaps));
        found.text = without(text, &found.gaps);
        let mut new = mistakes(&found.text);
        new.retain(|(span, _)| !found.mistakes.iter().any(|(known, _)| known == span));
        new.truncate(MAX_MISTAKES);
        if new.is_empty() {
            break;
        }
        // What does not fit the rest: a key that is there twice, a table where there is a list.
        for (span, _) in &new {
            let next = starts.partition_point(|start| *start <= span.start);
            let start = starts.get(next.saturating_sub(1)).copied().unwrap_or(0);
            let end = starts.get(next).copied().unwrap_or(text.len());
            found.gaps.push(gap(text, start..end));
        }
        found.mistakes.extend(new);
    }
    found.gaps = merged(std::mem::take(&mut found.gaps));
    found.text = without(text, &found.gaps);
    if DeTable::parse(&found.text).is_err() {
        found.text.clear();
    }
    found
        .mistakes
        .sort_by_key(|(span, _)| (span.start, span.end));
    found.more |= found.mistakes.len() > MAX_MISTAKES;
    found.mistakes.truncate(MAX_MISTAKES);
    found
}

/// The mistakes of a text that the TOML reader finds.
fn mistakes(text: &str) -> Vec<Mistake> {
    let mistake = |error: &toml::de::Error| {
        let message = error.message().replace('\n', ", ");
        (error.span().unwrap_or(0..0), message)
    };
    match DeTable::parse(text) {
        Ok(_) => Vec::new(),
        Err(_) => DeTable::parse_recoverable(text)
            .1
            .iter()
            .map(mistake)
            .collect(),
    }
}

/// Notes each statement that is no TOML by itself.
fn broken_statements(text: &str, starts: &[usize], found: &mut Recovered) {
    let end_of = |at: usize| starts.get(at).copied().unwrap_or(text.len());
    let mut at = 0;
    while at < starts.len() {
        let start = end_of(at);
        let mut mistake = None;
        let mut next = at + 1;
        // A value can hold lines that look like statements: a text over several lines, a table over several lines.
        for joined in 1..=MAX_JOINED {
            let end = end_of(at + joined);
            let statement = text.get(start..end).unwrap_or_default();
            let Some((span, message)) = first_mistake(statement) else {
                mistake = None;
                next = at + joined;
                break;
            };
            // Where the value is closed, more lines cannot mend it.
            let open = (message.starts_with("unclosed") || message.contains("multi-line"))
                && !statement.trim_start().starts_with('[');
            mistake.get_or_insert((span.start + start..span.end + start, message));
            if !open || end == text.len() || end - start > MAX_JOINED_BYTES {
                break;
            }
        }
        if let Some(mistake) = mistake {
            found.mistakes.push(mistake);
            found.gaps.push(gap(text, start..end_of(at + 1)));
            if found.mistakes.len() > MAX_MISTAKES {
                found.more = true;
                found.gaps.push(start..text.len());
                return;
            }
        }
        at = next;
    }
}

/// The mistake of a statement that explains the others: a text that does not end, then a list that does not, then the
/// first.
fn first_mistake(statement: &str) -> Option<Mistake> {
    let all = mistakes(statement);
    let saying = |word| all.iter().find(|(_, message)| message.contains(word));
    saying("recurs")
        .or_else(|| saying("string, expected"))
        .or_else(|| saying("unclosed"))
        .or_else(|| all.iter().min_by_key(|(span, _)| span.start))
        .cloned()
}

/// Byte offsets at which lines start that look like a header or a key with its value; the first is 0.
fn starts(text: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if at > 0 && is_start(line) {
            starts.push(at);
        }
        at += line.len();
    }
    starts
}

fn is_start(line: &str) -> bool {
    let line = line.trim_start();
    if line.starts_with('[') {
        // An item of a list of lists does not end with its bracket.
        return header(line).is_some();
    }
    let key = line.split('=').next().unwrap_or_default();
    let known = |c: char| c.is_ascii_alphanumeric() || "_-.\"' \t".contains(c);
    !key.trim().is_empty() && key.len() < line.len() && key.chars().all(known)
        || line.starts_with('=')
}

/// The name in a header, even if its brackets are not closed.
fn header(line: &str) -> Option<&str> {
    let name = line.trim().trim_start_matches('[');
    let name = name.split(['#', ']']).next().unwrap_or_default().trim();
    let known = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    (!name.is_empty() && name.chars().all(known) && !name.starts_with(|c: char| c.is_ascii_digit()))
        .then_some(name)
}

/// What goes with a broken statement: without its header the keys of a table would belong to the table before.
fn gap(text: &str, statement: Range<usize>) -> Range<usize> {
    let broken = text.get(statement.clone()).unwrap_or_default();
    let first = broken.trim_start();
    let Some(name) =
        header(first.lines().next().unwrap_or_default()).filter(|_| first.starts_with('['))
    else {
        return statement;
    };
    let whole = !name.contains('.');
    let mut end = statement.end;
    for line in text
        .get(statement.end..)
        .unwrap_or_default()
        .split_inclusive('\n')
    {
        let here = line.trim_start();
        let ends = here.starts_with('[')
            && header(here).is_some_and(|other| !whole || !other.contains('.'));
        if ends {
            break;
        }
        end += line.len();
    }
    statement.start..end
}

/// The gaps in order, those that overlap as one.
fn merged(mut gaps: Vec<Range<usize>>) -> Vec<Range<usize>> {
    gaps.sort_by_key(|gap| gap.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for gap in gaps {
        match merged.last_mut().filter(|last| gap.start < last.end) {
            Some(last) => last.end = last.end.max(gap.end),
            None => merged.push(gap),
        }
    }
    merged
}

/// The text with spaces in place of the gaps. Line breaks stay.
fn without(text: &str, gaps: &[Range<usize>]) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for gap in gaps {
        for byte in bytes.get_mut(gap.clone()).unwrap_or_default() {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_default()
}

/// The part of a file that belongs to an entry: from its header to the next header of its kind.
pub(super) fn region<T>(text: &str, entry: &Spanned<T>) -> Range<usize> {
    let start = entry.span().start;
    let mut end = start;
    for (number, line) in text
        .get(start..)
        .unwrap_or_default()
        .split_inclusive('\n')
        .enumerate()
    {
        let here = line.trim_start();
        if number > 0
            && here.starts_with('[')
            && header(here).is_some_and(|name| !name.contains('.'))
        {
            break;
        }
        end += line.len();
    }
    start..end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> (Vec<usize>, String) {
        let found = recover(text);
        let lines = found.mistakes.iter();
        let lines =
            lines.map(|(span, _)| text.get(..span.start).unwrap().matches('\n').count() + 1);
        let lines = lines.collect();
        let kept: Vec<&str> = found
            .text
            .lines()
            .map(str::trim)
            .filter(|line| !line.is_empty())
            .collect();
        (lines, kept.join("|"))
    }

    #[test]
    fn each_mistake_is_found_and_the_rest_is_kept() {
        for (text, lines, kept) in [
            ("a = 1\nb = x\nc = \"y\nd = 2\n", vec![2, 3], "a = 1|d = 2"),
            ("a = [1,\n  2,\nb = 3\n", vec![2], "b = 3"),
            (
                "[[r]]\na = '''x\nb = \"\nc'''\nd = \nf = 1\n",
                vec![5],
                "[[r]]|a = '''x|b = \"|c'''|f = 1",
            ),
            ("[r.a\nb = 1\n[r.c]\nd = 1\n", vec![1], "[r.c]|d = 1"),
            (
                "[[r]\nb = 1\n[r.c]\nd = 1\n[[r]]\ne = 1\n",
                vec![1],
                "[[r]]|e = 1",
            ),
            ("a = 1\na = 2\nb = 1\n", vec![2], "a = 1|b = 1"),
            ("a 1\n= 2\nb = 1\n", vec![1, 2], "b = 1"),
        ] {
            assert_eq!(shown(text), (lines, kept.to_owned()), "{text}");
        }
    }

    proptest::proptest! {
        /// What is left has the same places, and can be read.
        #[test]
        fn what_is_left_can_be_read(parts in proptest::collection::vec("a = 1\n|b = \\[\n|\\]\n|c = '''\n|\\[\\[r\\]\\]?\n|\\[r.x\\]\n|\"|=\n|é\n|\\PC{0,5}", 0..12)) {
            let text = parts.concat();
            let found = recover(&text);
            proptest::prop_assert!(found.text.is_empty() || found.text.len() == text.len());
            proptest::prop_assert!(DeTable::parse(&found.text).is_ok());
        }
    }
}
