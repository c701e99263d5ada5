//! The lines of a patch that name files and count lines, as the package's patterns take them.

use bstr::ByteSlice;

use super::super::digits;
use super::super::python::is_space;
use super::{Failure, Release};

/// The two names of a `diff --git` line.
pub(super) fn git_names(line: &[u8], release: Release) -> Option<(&[u8], &[u8])> {
    let rest = line.strip_prefix(b"diff --git ")?;
    let names = until_tab(rest);
    // Blanks in names do no harm where the names begin like this.
    let begins = |name: &[u8], prefix: &[u8]| {
        let quoted = name.strip_prefix(b"\"");
        let name = quoted
            .filter(|_| release == Release::V1_0_1)
            .unwrap_or(name);
        name.starts_with(prefix) && name.len() > prefix.len()
    };
    let prefixed = divide(names, |source, target| {
        begins(target, b"b/") && begins(source, b"a/")
    });
    prefixed
        .or_else(|| {
            let address = |name: &[u8]| name.rfind(b"://").is_some_and(|at| at + 3 < name.len());
            divide(names, |source, target| address(source) && address(target))
        })
        .or_else(|| {
            divide(names, |source, target| {
                !source.is_empty() && !target.is_empty()
            })
        })
}

/// Divides at the last blank for which both parts are as wanted.
fn divide(text: &[u8], wanted: impl Fn(&[u8], &[u8]) -> bool) -> Option<(&[u8], &[u8])> {
    text.rfind_iter(b" ").find_map(|at| {
        let (source, target) = (text.get(..at)?, text.get(at + 1..)?);
        wanted(source, target).then_some((source, target))
    })
}

/// The part before the first tab or line feed.
fn until_tab(text: &[u8]) -> &[u8] {
    text.split(|b| matches!(b, b'\t' | b'\n'))
        .next()
        .unwrap_or_default()
}

pub(super) fn mode_line(line: &[u8], start: &[u8]) -> bool {
    line.strip_prefix(start).is_some_and(|rest| {
        let rest = rest.strip_suffix(b"\n").unwrap_or(rest);
        digits::run(rest).is_some_and(|(_, after)| after.is_empty())
    })
}

/// The name behind `--- ` or `+++ `, up to a tab.
pub(super) fn name_line<'a>(line: &'a [u8], start: &[u8], release: Release) -> Option<&'a [u8]> {
    let name = until_tab(line.strip_prefix(start)?);
    (release == Release::V1_0_1 || !name.is_empty()).then_some(name)
}

/// The two line counts of a hunk header.
pub(super) fn hunk_counts(line: &[u8]) -> Option<Result<(u64, u64), Failure>> {
    let rest = line.strip_prefix(b"@@ -")?;
    let (source, rest) = range(rest)?;
    let (target, rest) = range(rest.strip_prefix(b" +")?)?;
    let counts = || Ok((count(source)?, count(target)?));
    rest.starts_with(b" @@").then(counts)
}

/// Where a side of a hunk starts and how many lines it has, as digits.
type Range<'a> = (&'a [u8], Option<&'a [u8]>);

/// `12,3` or `12`, and what follows.
fn range(text: &[u8]) -> Option<(Range<'_>, &[u8])> {
    let (start, rest) = digits::run(text)?;
    let count = rest.strip_prefix(b",").and_then(digits::run);
    Some(match count {
        Some((count, rest)) => ((start, Some(count)), rest),
        None => ((start, None), rest),
    })
}

/// How many lines: one where nothing is said.
fn count((start, count): Range<'_>) -> Result<u64, Failure> {
    let number = |text| digits::value(text).ok_or(Failure::NumberTooLong);
    number(start)?;
    count.map_or(Ok(1), number)
}

/// The names in `Binary files x and y differ`, `Binary file x has changed` and the like. A name ends at
/// a tab with a time of digits, blanks and `:+-`, or at a blank.
pub(super) fn binary_names(line: &[u8]) -> Option<(&[u8], Option<&[u8]>)> {
    let rest = line.strip_prefix(b"Binary file")?;
    let text = rest
        .strip_prefix(b"s ")
        .or_else(|| rest.strip_prefix(b" "))?;
    let closed = |at: usize| {
        after_time(text, at)
            .is_some_and(|rest| rest.starts_with(b" differ") || rest.starts_with(b" has changed"))
    };
    let tab = text.find_byte(b'\t').unwrap_or(text.len());
    let last = name_ends(text, 1).filter(|at| closed(*at)).last();
    // The first name is as short as can be, then the second.
    for at in name_ends(text, 1) {
        let Some(rest) = after_time(text, at) else {
            continue;
        };
        let source = text.get(..at)?;
        if rest.starts_with(b" and ") {
            let start = text.len() - rest.len() + 5;
            // Without this look ahead, many ` and ` would make the search quadratic.
            if (at == tab || last >= Some(start + 1))
                && let Some(end) = name_ends(text, start + 1).find(|end| closed(*end))
            {
                return Some((source, text.get(start..end)));
            }
        }
        if closed(at) {
            return Some((source, None));
        }
    }
    None
}

/// Where a name may end: at blanks from `from` on, up to the first tab.
fn name_ends(text: &[u8], from: usize) -> impl Iterator<Item = usize> {
    let rest = text.get(from..).unwrap_or_default();
    let length = rest.find_byteset(b"\t\n").map_or(rest.len(), |tab| tab + 1);
    let rest = rest.get(..length).unwrap_or_default();
    rest.iter()
        .enumerate()
        .filter(|(_, byte)| matches!(byte, b' ' | b'\t'))
        .map(move |(at, _)| from + at)
}

/// What follows the time behind a name, or the name if there is no time.
fn after_time(text: &[u8], at: usize) -> Option<&[u8]> {
    let rest = text.get(at..)?;
    let Some(time) = rest.strip_prefix(b"\t") else {
        return Some(rest);
    };
    let length = time
        .char_indices()
        .find(|(_, _, c)| !(c.is_ascii_digit() || matches!(c, ':' | '+' | '-') || is_space(*c)))
        .map_or(time.len(), |(at, _, _)| at);
    // The blank before the next word is the last character of the time.
    time.get(length.checked_sub(1).filter(|l| *l > 0)?..)
}
