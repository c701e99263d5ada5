//! The sentence or line around a hit.

use std::ops::Range;

use super::{ceil, floor};
use crate::rules::rule::Unit;

/// A sentence or line longer than this is cut around the hit, so that many hits in one long line
/// stay linear. In bytes, on each side.
pub const MAX_REACH: usize = 600;

/// The piece of the text around a hit in which the other patterns of its rule are tried.
pub fn around(text: &str, hit: &Range<usize>, unit: Unit) -> Range<usize> {
    if unit == Unit::Text {
        return 0..text.len();
    }
    let bytes = text.as_bytes();
    let low = hit.start.saturating_sub(MAX_REACH);
    let high = hit.end.saturating_add(MAX_REACH).min(bytes.len());
    let start = (low..hit.start.min(bytes.len()))
        .rev()
        .find(|at| ends(bytes, *at, unit))
        .map_or(low, |at| at + 1);
    let end = (hit.end..high)
        .find(|at| ends(bytes, *at, unit))
        .unwrap_or(high);
    let end = if unit == Unit::Pair {
        next_end(bytes, end, high)
    } else {
        end
    };
    floor(text, start)..ceil(text, end)
}

/// Where the sentence ends that follows the one that ends at this offset: in the same paragraph, and not after `high`.
fn next_end(bytes: &[u8], end: usize, high: usize) -> usize {
    let rest = bytes.get(end + 1..high).unwrap_or_default();
    let gap = rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    let breaks = rest.iter().take(gap).filter(|b| **b == b'\n').count();
    let here = usize::from(bytes.get(end) == Some(&b'\n'));
    if end >= high || breaks + here > 1 {
        return end;
    }
    (end + 1 + gap..high)
        .find(|at| ends(bytes, *at, Unit::Sentence))
        .unwrap_or(high)
}

/// True if the sentence or line ends with the byte at this offset.
fn ends(bytes: &[u8], at: usize, unit: Unit) -> bool {
    let byte = |i: usize| bytes.get(i).copied();
    match byte(at) {
        Some(b'\n') => {
            // A single line break inside running text ends no sentence.
            unit == Unit::Line || !continues(bytes, at)
        }
        _ if unit == Unit::Line => false,
        Some(b'.' | b'!' | b'?' | b';') => {
            byte(at + 1).is_none_or(|next| next.is_ascii_whitespace()) && !abbreviation(bytes, at)
        }
        // The last byte of 。 (E3 80 82) and of ！ ？ ； (EF BC 81, 9F, 9B).
        Some(0x82) => preceded(bytes, at, &[0xe3, 0x80]),
        Some(0x81 | 0x9f | 0x9b) => preceded(bytes, at, &[0xef, 0xbc]),
        _ => false,
    }
}

fn preceded(bytes: &[u8], at: usize, by: &[u8]) -> bool {
    bytes.get(..at).is_some_and(|head| head.ends_with(by))
}

/// True if a line break stands between two words of one sentence: a lower-case letter follows.
fn continues(bytes: &[u8], at: usize) -> bool {
    bytes
        .get(at + 1)
        .is_some_and(|next| next.is_ascii_lowercase())
        && at
            .checked_sub(1)
            .and_then(|before| bytes.get(before))
            .is_some_and(|before| before.is_ascii_alphanumeric() || *before == b',')
}

/// True for the full stop of `e.g.`, `i.e.`, `vs.`, `no.`
fn abbreviation(bytes: &[u8], at: usize) -> bool {
    bytes.get(..=at).is_some_and(|head| {
        [&b"e.g."[..], b"i.e.", b" vs.", b" no.", b" No.", b" cf."]
            .iter()
            .any(|short| head.ends_with(short))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::text::slice;

    fn sentence<'t>(text: &'t str, word: &str) -> &'t str {
        let at = text.find(word).unwrap();
        let range = around(text, &(at..at + word.len()), Unit::Sentence);
        slice(text, range).trim()
    }

    #[test]
    fn sentences_end_at_stops_and_not_inside_names() {
        let text =
            "I read layout.py, e.g. the PR #12.5 part. Then I ran it! 完成了。我没有应用；好";
        for (word, expected) in [
            ("layout", "I read layout.py, e.g. the PR #12.5 part"),
            ("ran", "Then I ran it"),
            ("完成", "完成了。"),
            ("没有", "我没有应用；"),
        ] {
            assert!(
                sentence(text, word).starts_with(expected.trim_end_matches(['。', '；'])),
                "{word}: {:?}",
                sentence(text, word)
            );
        }
        assert_eq!(
            sentence("did not\ncopy it\nAnd", "copy"),
            "did not\ncopy it"
        );
        assert_eq!(sentence("not\n- copied", "copied"), "- copied");
    }

    #[test]
    fn a_pair_reaches_to_the_end_of_the_next_sentence() {
        for (text, expected) in [
            ("One. The fix. I took it. Then", "The fix. I took it"),
            ("The fix; I took it", "The fix; I took it"),
            ("The fix.\nI took it.\nThen", "The fix.\nI took it"),
            ("The fix.\n\nI took it.", "The fix"),
            ("好。The fix。我抄了。完", "The fix。我抄了。"),
        ] {
            let at = text.find("fix").unwrap();
            let range = around(text, &(at..at + 3), Unit::Pair);
            let found = slice(text, range).trim();
            assert!(
                expected.starts_with(found) && found.len() + 3 >= expected.len(),
                "{text}: {found}"
            );
        }
    }

    #[test]
    fn long_lines_are_cut_around_the_hit() {
        let text = "x".repeat(10_000) + "hit" + &"y".repeat(10_000);
        let range = around(&text, &(10_000..10_003), Unit::Line);
        assert_eq!(range, 10_000 - MAX_REACH..10_003 + MAX_REACH);
    }

    proptest::proptest! {
        #[test]
        fn the_piece_contains_the_hit(text in ".{0,60}", a in 0usize..80, b in 0usize..20) {
            let start = floor(&text, a);
            let end = ceil(&text, start + b);
            for unit in [Unit::Sentence, Unit::Pair, Unit::Line, Unit::Text] {
                let piece = around(&text, &(start..end), unit);
                proptest::prop_assert!(piece.start <= start && piece.end >= end);
                proptest::prop_assert!(text.get(piece).is_some());
            }
        }
    }
}
