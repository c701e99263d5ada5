//! Literals that any match of a regular expression must contain.
//!
//! A rule set is fast because almost no text holds any of these "anchors": one index looks for
//! all anchors of all rules at once, and only the expressions whose anchor was seen are run. They
//! are derived from the parsed expression, not written by hand, so they cannot be wrong:
//!
//! ```text
//! gh\s+pr\s+(?:diff|view)          ->  diff, view      (`gh` and `pr` are shorter)
//! git (?:am|apply).*\.patch        ->  .patch
//! [0-9a-f]{40}                     ->  none
//! ```
//!
//! Anchors are lower case. The index ignores the case of ASCII letters, and texts with other
//! capital letters are lowered before (see [`super::super::text::lowered`]).

use std::borrow::Cow;

use regex_syntax::hir::{Class, Hir, HirKind};

use crate::rules::text::slice;

/// Fewer bytes than this are in every text.
pub const MIN_ANCHOR: usize = 3;

/// An expression with more alternatives than this is not worth an anchor set.
const MAX_SET: usize = 160;

/// A literal of this many bytes is selective enough; among such sets the smaller one is better.
const GOOD_LITERAL: usize = 6;

/// Longer literals are cut: that keeps the index small.
const MAX_LITERAL: usize = 12;

/// A class of at most this many characters is multiplied out.
const MAX_CLASS: u32 = 10;

/// The set of literals of which every match contains one; `None` if there is no useful set.
pub fn anchors(hir: &Hir) -> Option<Vec<Cow<'static, str>>> {
    let found = walk(hir);
    let best = better(found.exact, found.best)?;
    let mut set: Vec<Cow<'static, str>> = best
        .into_iter()
        .map(|literal| {
            let text = String::from_utf8_lossy(&literal).to_lowercase();
            Cow::Owned(slice(&text, 0..MAX_LITERAL).to_owned())
        })
        .collect();
    set.sort_unstable();
    set.dedup();
    let useful = |s: &Cow<str>| s.len() >= MIN_ANCHOR && !s.contains('\u{fffd}');
    (!set.is_empty() && set.iter().all(useful)).then_some(set)
}

type Set = Vec<Vec<u8>>;

/// What is known of a piece: the whole of its matches, and the best literals inside them.
#[derive(Default)]
struct Found {
    exact: Option<Set>,
    best: Option<Set>,
}

/// The nesting of an expression is limited by the parser, so the recursion is bounded.
fn walk(hir: &Hir) -> Found {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Found {
            exact: Some(vec![Vec::new()]),
            best: None,
        },
        HirKind::Literal(literal) => Found {
            exact: Some(vec![literal.0.to_vec()]),
            best: None,
        },
        HirKind::Class(class) => Found {
            exact: class_set(class),
            best: None,
        },
        HirKind::Capture(capture) => walk(&capture.sub),
        HirKind::Repetition(repetition) => {
            let inner = walk(&repetition.sub);
            match (repetition.min, repetition.max) {
                (1, Some(1)) => inner,
                (0, Some(1)) => Found {
                    exact: inner.exact.map(|mut set| {
                        set.push(Vec::new());
                        set
                    }),
                    best: None,
                },
                (0, _) => Found::default(),
                _ => Found {
                    exact: None,
                    best: better(inner.exact, inner.best),
                },
            }
        }
        HirKind::Concat(parts) => concat(parts),
        HirKind::Alternation(parts) => alternation(parts),
    }
}

fn class_set(class: &Class) -> Option<Set> {
    let mut set = Set::new();
    match class {
        Class::Unicode(class) => {
            let size: u32 = class
                .ranges()
                .iter()
                .map(|r| u32::from(r.end()).saturating_sub(u32::from(r.start())) + 1)
                .fold(0, u32::saturating_add);
            if size > MAX_CLASS {
                return None;
            }
            for range in class.ranges() {
                for c in range.start()..=range.end() {
                    set.push(c.to_lowercase().to_string().into_bytes());
                }
            }
        }
        Class::Bytes(class) => {
            let size: u32 = class
                .ranges()
                .iter()
                .map(|r| u32::from(r.end()) - u32::from(r.start()) + 1)
                .sum();
            if size > MAX_CLASS {
                return None;
            }
            for range in class.ranges() {
                for b in range.start()..=range.end() {
                    set.push(vec![b.to_ascii_lowercase()]);
                }
            }
        }
    }
    set.sort_unstable();
    set.dedup();
    Some(set)
}

fn concat(parts: &[Hir]) -> Found {
    let mut run: Set = vec![Vec::new()];
    let mut whole = true;
    let mut best = None;
    for part in parts {
        let found = walk(part);
        match found.exact {
            Some(exact)
                if run.len() * exact.len() <= MAX_SET && (exact.len() == 1 || !good(&run)) =>
            {
                run = run
                    .iter()
                    .flat_map(|head| exact.iter().map(|tail| [&head[..], tail].concat()))
                    .collect();
            }
            exact => {
                whole = false;
                best = better(best, Some(std::mem::take(&mut run)));
                best = better(best, found.best);
                run = exact.unwrap_or_else(|| vec![Vec::new()]);
            }
        }
    }
    if whole {
        return Found {
            exact: Some(run),
            best: None,
        };
    }
    Found {
        exact: None,
        best: better(best, Some(run)),
    }
}

/// Long enough: nothing is gained by multiplying the set with alternatives.
fn good(set: &Set) -> bool {
    set.iter().all(|literal| literal.len() >= GOOD_LITERAL)
}

fn alternation(parts: &[Hir]) -> Found {
    let found: Vec<Found> = parts.iter().map(walk).collect();
    let exact: Option<Set> = found
        .iter()
        .map(|f| f.exact.clone())
        .collect::<Option<Vec<Set>>>()
        .map(|sets| sets.concat());
    let best: Option<Set> = found
        .into_iter()
        .map(|f| better(f.exact, f.best))
        .collect::<Option<Vec<Set>>>()
        .map(|sets| sets.concat());
    Found {
        exact: exact.filter(|set| set.len() <= MAX_SET),
        best: best.filter(|set| set.len() <= MAX_SET),
    }
}

/// The set whose shortest literal is longer; of equals, the smaller set.
fn better(a: Option<Set>, b: Option<Set>) -> Option<Set> {
    let score = |set: &Set| {
        let shortest = set.iter().map(Vec::len).min().unwrap_or(0);
        (shortest.min(GOOD_LITERAL), std::cmp::Reverse(set.len()))
    };
    match (a, b) {
        (Some(a), Some(b)) => Some(if score(&b) > score(&a) { b } else { a }),
        (a, b) => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(pattern: &str) -> Option<Vec<Cow<'static, str>>> {
        let hir = regex_syntax::ParserBuilder::new()
            .unicode(!pattern.is_ascii())
            .utf8(false)
            .build()
            .parse(pattern)
            .unwrap();
        anchors(&hir)
    }

    #[test]
    fn the_longest_literal_that_cannot_be_missing() {
        for (pattern, expected) in [
            (r"gh\s+pr\s+(?:diff|view)", Some(vec!["diff", "view"])),
            (r"git (?:am|apply).*\.patch", Some(vec![".patch"])),
            (r"[0-9a-f]{40}", None),
            (r"(?:PR|pull request)\s*#?7", None),
            (r"cherry[- ]pick", Some(vec!["cherry"])),
            (r"raw\.(?:x|yy)\.com", Some(vec!["raw.x.com", "raw.yy.com"])),
            (r"(?i)Up(?:stream)?!", Some(vec!["up!", "upstream!"])),
            (r"完整应用|照抄", Some(vec!["完整应用", "照抄"])),
            (r"Взял", Some(vec!["взял"])),
            (r"abc|", None),
            (r"(?:foo)?bar", Some(vec!["bar", "foobar"])),
        ] {
            let got = of(pattern);
            let got: Option<Vec<&str>> = got
                .as_ref()
                .map(|set| set.iter().map(AsRef::as_ref).collect());
            assert_eq!(got, expected, "{pattern}");
        }
    }

    proptest::proptest! {
        #[test]
        fn every_match_contains_an_anchor(
            pattern in r"[abc]{0,4}(\([abc]{1,3}\|[abc]{0,4}\)|\[ab\]|[abc]\?|[abc]\+|\.){0,5}[abc]{0,5}",
            text in "[abc]{0,40}",
        ) {
            if let Ok(regex) = regex::bytes::RegexBuilder::new(&pattern).unicode(false).build()
                && let Some(set) = of(&pattern)
                && let Some(hit) = regex.find(text.as_bytes())
            {
                let hit = String::from_utf8_lossy(hit.as_bytes()).into_owned();
                proptest::prop_assert!(
                    set.iter().any(|anchor| hit.contains(anchor.as_ref())),
                    "{pattern} matched {hit:?} without one of {set:?}"
                );
            }
        }
    }
}
