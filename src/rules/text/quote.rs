//! Is a place in a text quoted? What the agent quotes from a file or a person is no claim of its own.
//!
//! Quoted is what stands between quotation marks in one paragraph, in a line that begins with `>`, in a
//! fenced block, or directly behind "the README says". A quotation that is the whole text is none: then
//! the agent speaks in it.

use std::ops::Range;
use std::sync::OnceLock;

use regex::Regex;

use super::{ceil, floor, slice};

/// Reason of a finding that is quoted.
pub const QUOTES: &str = "the agent quotes it from a file or a person";

/// Bytes on either side of a place in which its quotation marks are looked for.
const REACH: usize = 2_000;

/// Quotation marks that tell their sides apart.
const PAIRS: &[(char, char)] = &[
    ('“', '”'),
    ('‘', '’'),
    ('„', '“'),
    ('«', '»'),
    ('‹', '›'),
    ('「', '」'),
    ('『', '』'),
    ('《', '》'),
];

/// Who says it, directly in front of what is said.
const SAYS: &str = concat!(
    r"(?i:",
    r"\b(?:readme|changelog|release\s+notes|file|docs?|documentation|comments?|issue|ticket|thread|log|message|",
    r"description|template|sample|example|fixture|authors?|maintainers?|reviewers?|users?|page|post|article|notes?|",
    r"line|text|(?:pr|commit)\s+(?:body|message|title|description))\b[`'\x22\w./()\[\]-]*(?:\s+[\w`'\x22./#-]+){0,4}?",
    r"\s+(?:says?|said|reads?|states?|stated|claims?|claimed|mentions?|mentioned|writes?|wrote|contains?|quotes?)",
    r"(?:\s+that)?[\s:,]*\z",
    r"|\baccording\s+to\s+(?:the\s+)?[\w`'./ -]{1,40}[\s:,]*\z",
    r"|(?:readme|changelog|文件|文档|注释|说明|日志|提交信息|描述|作者|维护者|评审|用户|评论|他们?|她)[^，。；！？\n]{0,16}",
    r"(?:说|写道|写着|写有|提到|声称|宣称|表示|指出|记载|原文)[是为]?[\s:：,，]*\z",
    r")",
);

/// True if the place that a hit begins at is quoted.
pub fn quoted(text: &str, hit: &Range<usize>) -> bool {
    let inside = slice(text, hit.clone());
    let skipped = inside.find(char::is_alphanumeric).unwrap_or(0);
    let at = floor(text, hit.start.saturating_add(skipped));
    let line = text.get(..at).unwrap_or_default();
    let line = line.rsplit('\n').next().unwrap_or_default();
    line.trim_start().starts_with('>') && !all_lines(text, |l| l.trim_start().starts_with('>'))
        || in_fence(text, at)
        || in_marks(text, at)
        || said(line)
}

fn all_lines(text: &str, holds: impl Fn(&str) -> bool) -> bool {
    text.lines().filter(|l| !l.trim().is_empty()).all(holds)
}

fn is_fence(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("```") || line.starts_with("~~~")
}

/// True inside a fenced block, unless the text is nothing else.
fn in_fence(text: &str, at: usize) -> bool {
    let (before, after) = text.split_at_checked(at).unwrap_or((text, ""));
    let whole = is_fence(text.trim_start()) && text.trim_end().ends_with(['`', '~']);
    let open = before.lines().filter(|line| is_fence(line)).count() % 2 == 1;
    let closed = after.lines().skip(1).any(is_fence);
    let only = text.lines().filter(|line| is_fence(line)).count() == 2;
    open && closed && !(whole && only)
}

/// True between quotation marks in one paragraph.
fn in_marks(text: &str, at: usize) -> bool {
    let start = floor(text, at.saturating_sub(REACH));
    let end = ceil(text, at.saturating_add(REACH).min(text.len()));
    let before = slice(text, start..at);
    let before = before.rsplit("\n\n").next().unwrap_or_default();
    let after = slice(text, at..end);
    let after = after.split("\n\n").next().unwrap_or_default();
    let paired = PAIRS.iter().any(|(open, close)| {
        let opened = before.rfind(*open);
        let closed = before.rfind(*close);
        opened.is_some_and(|o| closed.is_none_or(|c| c <= o))
            && after.contains(*close)
            && !whole(text, *open, *close)
    });
    let straight =
        before.matches('"').count() % 2 == 1 && after.contains('"') && !whole(text, '"', '"');
    paired || straight || in_single(before, after) && !whole(text, '\'', '\'')
}

/// True if the text is one quotation and nothing else.
fn whole(text: &str, open: char, close: char) -> bool {
    let text = text.trim().trim_end_matches(['.', '。']);
    text.strip_prefix(open)
        .and_then(|inner| inner.strip_suffix(close))
        .is_some_and(|inner| !inner.contains([open, close]))
}

/// `'…'`: an apostrophe inside a word is no mark.
fn in_single(before: &str, after: &str) -> bool {
    let word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
    let sides = |text: &str, at: usize| {
        let left = slice(text, 0..at).chars().next_back();
        let right = slice(text, at + 1..text.len()).chars().next();
        (word(left), word(right))
    };
    // What stands right behind the last mark begins the quoted words.
    let opened = before.rmatch_indices('\'').find_map(|(at, _)| {
        let (left, right) = sides(before, at);
        let at_end = at + 1 == before.len();
        (!(left && right)).then_some(!left && (right || at_end))
    });
    let closes = after.match_indices('\'').any(|(at, _)| {
        let (left, right) = sides(after, at);
        (left || at > 0) && !right
    });
    opened == Some(true) && closes
}

/// True if the line up to here names who says what follows.
fn said(before: &str) -> bool {
    static SAID: OnceLock<Option<Regex>> = OnceLock::new();
    let start = ceil(before, before.len().saturating_sub(200));
    SAID.get_or_init(|| Regex::new(SAYS).ok())
        .as_ref()
        .is_some_and(|said| said.is_match(slice(before, start..before.len())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quotations_are_told_from_claims() {
        assert!(Regex::new(SAYS).is_ok());
        for (text, wanted) in [
            ("The README says: 'I copied it'.", true),
            ("The README says that I copied it.", true),
            ("README.md in docs/ reads: I copied it", true),
            ("The maintainer wrote “I copied it” there.", true),
            ("He noted \"I copied it\" and left.", true),
            ("The log:\n\n> I copied it\n\nis old.", true),
            ("Output:\n```\nI copied it\n```\nThat is a sample.", true),
            ("README 里写着：“I copied it”。", true),
            ("文档中提到：I copied it", true),
            ("他说「I copied it」。", true),
            ("According to the changelog, I copied it", true),
            ("I copied it.", false),
            ("It wasn't easy, but I copied it; that's all.", false),
            ("The issue says it fails, so I copied it.", false),
            (
                "I fixed the \"width\" bug: I copied it \"verbatim\".",
                false,
            ),
            ("\"I copied it\"", false),
            ("```\nI copied it\n```", false),
            ("> I copied it\n> from there", false),
            ("The user's file isn't here. I copied it, it's fine.", false),
            ("```\nls\n```\nI copied it.\n```\npwd\n```", false),
            ("The README is new. I copied it", false),
        ] {
            let start = text.find("I copied").unwrap();
            assert_eq!(quoted(text, &(start..start + 8)), wanted, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn any_place_in_any_text(text in "[\"'“”`>\n a‘’é]{0,60}", a in 0usize..90, b in 0usize..20) {
            quoted(&text, &(a..a + b));
        }
    }
}
