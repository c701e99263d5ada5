//! What a finding shows of a text: a short piece around the hit, safe to print, without secrets.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::LazyLock;

use regex::bytes::Regex;
use sha2::{Digest, Sha256};

use super::{ascii, ceil, floor, folded, slice};
use crate::digest::hex;
use crate::trace::event::Channel;

/// Longest excerpt, in characters.
pub const MAX_EXCERPT: usize = 160;

/// How much of the text around a hit is looked at for secrets, in bytes on each side: a secret must
/// be seen whole to be redacted although only a part of it would be shown.
const SECRET_REACH: usize = 2_000;

/// Hexadecimal digits of a fingerprint.
const FINGERPRINT_DIGITS: usize = 16;

/// The text around a hit: at most [`MAX_EXCERPT`] characters, on one line, control characters
/// escaped, secrets replaced.
pub fn excerpt(text: &str, hit: &Range<usize>) -> String {
    let low = floor(text, hit.start.saturating_sub(SECRET_REACH));
    let high = ceil(text, hit.end.min(hit.start + SECRET_REACH) + SECRET_REACH);
    let window = text.get(low..high).unwrap_or_default();
    let (window, at) = redact(window, hit.start.saturating_sub(low));
    let length = hit.end.saturating_sub(hit.start);
    cut(&window, at, length)
}

/// Cuts the window so that the hit stays in view.
fn cut(window: &str, at: usize, length: usize) -> String {
    let chars: Vec<(usize, char)> = window.char_indices().collect();
    let position = |byte: usize| chars.partition_point(|(i, _)| *i < byte);
    let (first, last) = (position(at), position(at.saturating_add(length)));
    let room = MAX_EXCERPT.saturating_sub(last - first + 2);
    let start = first.saturating_sub(room / 3);
    let mut out = String::new();
    let mut shown = 0;
    let mut tail = false;
    if start > 0 {
        out.push('…');
        shown += 1;
    }
    let mut blank = true;
    for (_, c) in chars.iter().skip(start) {
        // A run of white space is shown as one blank.
        if c.is_whitespace() {
            if !blank {
                out.push(' ');
                shown += 1;
            }
            blank = true;
        } else {
            blank = false;
            let before = out.len();
            escape(*c, &mut out);
            shown += out.get(before..).map_or(1, |s| s.chars().count());
        }
        if shown >= MAX_EXCERPT - 1 {
            tail = true;
            break;
        }
    }
    let mut out = out.trim_end().to_owned();
    if tail {
        while out.chars().count() >= MAX_EXCERPT {
            out.pop();
        }
        out.push('…');
    }
    out
}

/// Escapes what a terminal would act on or not show.
fn escape(c: char, out: &mut String) {
    let hidden = c.is_control() || crate::similarity::normalise::is_format_character(c);
    if hidden {
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
    } else {
        out.push(c);
    }
}

static SECRETS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(concat!(
        r"(?x)",
        r"(?P<token>",
        r"gh[pousr]_[A-Za-z0-9]{16,} | github_pat_[A-Za-z0-9_]{20,} | glpat-[A-Za-z0-9_-]{16,}",
        r"| sk-[A-Za-z0-9_-]{16,} | xox[abprs]-[A-Za-z0-9-]{10,} | AKIA[0-9A-Z]{16}",
        r"| AIza[0-9A-Za-z_-]{30,} | hf_[A-Za-z0-9]{20,} | npm_[A-Za-z0-9]{30,}",
        r"| eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*",
        r")",
        r"| (?P<lead>(?i:bearer|authorization:\s*basic|private-token:)\s+)[A-Za-z0-9._~+/=-]{8,}",
        r"| (?P<key>(?i:password|passwd|secret|token|api[_-]?key)",
        "[\"']?\\s*[=:]\\s*[\"']?)[A-Za-z0-9._~+/=-]{8,}",
        r"| (?P<scheme>[a-z][a-z0-9+.-]*://)[^/\s:@]*:[^/\s@]+@",
    ))
});

/// Replaces secrets; returns the offset moved along.
fn redact(text: &str, at: usize) -> (String, usize) {
    let Some(secrets) = SECRETS.as_ref() else {
        return (text.to_owned(), at);
    };
    let mut out = String::with_capacity(text.len());
    let (mut done, mut moved) = (0, at);
    for found in secrets.captures_iter(text.as_bytes()) {
        let Some(whole) = found.get(0) else { continue };
        let head = ["lead", "key", "scheme"]
            .iter()
            .find_map(|name| found.name(name))
            .map_or("", |m| slice(text, m.range()));
        let tail = if found.name("scheme").is_some() {
            "@"
        } else {
            ""
        };
        out.push_str(text.get(done..whole.start()).unwrap_or_default());
        if whole.start() < at {
            let new = head.len() + "[redacted]".len() + tail.len();
            moved = (moved + new)
                .saturating_sub(whole.len().min(at - whole.start()))
                .max(out.len());
        }
        out.push_str(head);
        out.push_str("[redacted]");
        out.push_str(tail);
        done = whole.end();
    }
    out.push_str(text.get(done..).unwrap_or_default());
    (out, moved)
}

/// The stable identity of a hit: rule, channel and the matched text with white space folded. It
/// does not move when something else is added to the trace, and never contains the text itself.
pub fn fingerprint(rule: &str, channel: Channel, matched: &str) -> String {
    let mut hash = Sha256::new();
    for part in [rule, channel.name(), &folded(matched)] {
        hash.update(part.as_bytes());
        hash.update([0]);
    }
    hex(&hash.finalize())
        .chars()
        .take(FINGERPRINT_DIGITS)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(text: &str, word: &str) -> String {
        let at = text.find(word).unwrap();
        excerpt(text, &(at..at + word.len()))
    }

    #[test]
    fn short_texts_are_shown_whole() {
        assert_eq!(show("gh pr\n  diff 308", "diff"), "gh pr diff 308");
        assert_eq!(show("a\u{1b}[31m\u{200b}b", "b"), r"a\u{1b}[31m\u{200b}b");
    }

    #[test]
    fn long_texts_are_cut_around_the_hit() {
        let text = format!("{} needle {}", "前".repeat(500), "後".repeat(500));
        let shown = show(&text, "needle");
        assert!(shown.contains("needle"), "{shown}");
        assert!(shown.chars().count() <= MAX_EXCERPT);
        assert!(shown.starts_with('…') && shown.ends_with('…'));
    }

    #[test]
    fn secrets_are_replaced_even_when_cut() {
        for (text, gone) in [
            (
                "curl -H 'Authorization: Bearer abcdefghij0123' x",
                "abcdefghij",
            ),
            (
                "git clone https://bob:hunter2pass@forge.example/a/b",
                "hunter2",
            ),
            ("GH_TOKEN=ghp_0123456789abcdefghij0123 gh x", "ghp_"),
            ("export API_KEY=\"zzzzzzzzzzzz\" x", "zzzz"),
            ("key AKIAABCDEFGHIJKLMNOP x", "AKIA"),
        ] {
            let shown = show(text, "x");
            assert!(!shown.contains(gone), "{shown}");
            assert!(shown.contains("[redacted]"), "{shown}");
        }
        let text = format!("sk-{} {}x", "k".repeat(1_900), "-".repeat(150));
        assert!(!show(&text, "x").contains("kkkk"));
    }

    #[test]
    fn fingerprints_ignore_white_space_and_are_for_ever() {
        let a = fingerprint("a.b", Channel::Command, "gh  pr\ndiff");
        assert_eq!(a, fingerprint("a.b", Channel::Command, "gh pr diff"));
        assert_ne!(a, fingerprint("a.b", Channel::Web, "gh pr diff"));
        assert_eq!(a.len(), FINGERPRINT_DIGITS);
    }

    proptest::proptest! {
        #[test]
        fn excerpts_are_short_and_safe(text in "(?s).{0,400}", a in 0usize..500, b in 0usize..300) {
            let start = floor(&text, a);
            let end = ceil(&text, start + b);
            let shown = excerpt(&text, &(start..end));
            proptest::prop_assert!(shown.chars().count() <= MAX_EXCERPT);
            proptest::prop_assert!(!shown.chars().any(char::is_control));
        }
    }
}
