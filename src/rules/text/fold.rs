//! Undoes the ways in which a text can look the same and match nothing: colour codes, invisible
//! characters, full-width letters, letters of another script that look like Latin ones.
//!
//! Patterns are written against plain text. Most texts are plain ASCII and are returned as they
//! are. Chinese punctuation and pure Cyrillic or Greek words stay as they are, too.

use std::borrow::Cow;

use unicode_normalization::UnicodeNormalization;

use crate::similarity::normalise::is_format_character;

/// The text as patterns see it.
pub fn plain(text: &str) -> Cow<'_, str> {
    let text = without_escapes(text);
    // The quick check: most texts are ASCII.
    if text.is_ascii() || !other_chars(&text).any(|(_, c)| is_disguise(c)) {
        return text;
    }
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, _) in other_chars(&text) {
        if at < done {
            continue;
        }
        // The word around the character: only there something can change.
        let before = text.get(done..at).unwrap_or_default();
        let start = at - before.len() + before.trim_end_matches(is_word).len();
        let rest = text.get(at..).unwrap_or_default();
        let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        let end = at + length.max(rest.chars().next().map_or(0, char::len_utf8));
        out.push_str(text.get(done..start).unwrap_or_default());
        plain_word(text.get(start..end).unwrap_or_default(), &mut out);
        done = end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    Cow::Owned(out)
}

/// Letters, digits, and what shows nothing between them.
fn is_word(c: char) -> bool {
    c.is_alphanumeric() || is_invisible(c) || is_wide(c)
}

/// The characters that are not ASCII, with their offsets.
fn other_chars(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let rest = text.as_bytes().get(at..)?;
        at += rest.iter().position(|byte| *byte >= 0x80)?;
        let start = at;
        let c = text.get(start..)?.chars().next()?;
        at += c.len_utf8();
        Some((start, c))
    })
}

/// A letter that may stand for another one, or nothing at all.
fn is_disguise(c: char) -> bool {
    !c.is_ascii() && (is_invisible(c) || is_wide(c) || look_alike(c).is_some())
}

fn is_invisible(c: char) -> bool {
    !c.is_ascii() && is_format_character(c)
}

/// Full-width and mathematical letters and digits.
fn is_wide(c: char) -> bool {
    matches!(c,
        '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}'
        | '\u{ff0d}' | '\u{ff0f}' | '\u{ff03}' | '\u{1d400}'..='\u{1d7ff}')
}

/// Writes a word without what is invisible, with wide letters narrowed, and with look-alikes
/// replaced if it mixes scripts.
fn plain_word(word: &str, out: &mut String) {
    let mut shown = String::with_capacity(word.len());
    for c in word.chars().filter(|c| !is_invisible(*c)) {
        if is_wide(c) {
            shown.extend(std::iter::once(c).nfkc());
        } else {
            shown.push(c);
        }
    }
    let mixed = shown.chars().any(|c| c.is_ascii_alphabetic())
        && shown.chars().any(|c| look_alike(c).is_some());
    if mixed {
        out.extend(shown.chars().map(|c| look_alike(c).unwrap_or(c)));
    } else {
        out.push_str(&shown);
    }
}

/// The Latin letter that a Cyrillic or Greek letter looks like.
fn look_alike(c: char) -> Option<char> {
    Some(match c {
        'а' => 'a',
        'е' => 'e',
        'о' | 'ο' => 'o',
        'р' | 'ρ' => 'p',
        'с' => 'c',
        'х' => 'x',
        'у' => 'y',
        'і' | 'ι' => 'i',
        'ј' => 'j',
        'ѕ' => 's',
        'ԁ' => 'd',
        'һ' => 'h',
        'ԛ' => 'q',
        'ԝ' => 'w',
        'к' | 'κ' => 'k',
        'т' | 'τ' => 't',
        'м' => 'm',
        'н' => 'h',
        'в' => 'b',
        'ν' => 'v',
        'α' => 'a',
        'А' | 'Α' => 'A',
        'В' | 'Β' => 'B',
        'Е' | 'Ε' => 'E',
        'К' | 'Κ' => 'K',
        'М' | 'Μ' => 'M',
        'Н' | 'Η' => 'H',
        'О' | 'Ο' => 'O',
        'Р' | 'Ρ' => 'P',
        'С' => 'C',
        'Т' | 'Τ' => 'T',
        'Х' | 'Χ' => 'X',
        _ => return None,
    })
}

/// The text without terminal escape sequences (ECMA-48: CSI, OSC and two-character ones).
fn without_escapes(text: &str) -> Cow<'_, str> {
    const ESCAPE: char = '\u{1b}';
    if !text.contains(ESCAPE) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != ESCAPE {
            out.push(c);
            continue;
        }
        match chars.peek() {
            Some('[') => {
                chars.next();
                // Parameters and intermediates, then one final byte.
                while chars.next_if(|c| matches!(c, ' '..='?')).is_some() {}
                chars.next_if(|c| matches!(c, '@'..='~'));
            }
            Some(']') => {
                chars.next();
                while let Some(c) = chars.next_if(|c| *c != '\n') {
                    if c == '\u{7}' || (c == ESCAPE && chars.next_if_eq(&'\\').is_some()) {
                        break;
                    }
                }
            }
            Some('(' | ')' | '#') => {
                chars.next();
                chars.next_if(char::is_ascii_alphanumeric);
            }
            Some('@'..='_' | 'a'..='z' | '0'..='9' | '=' | '>') => {
                chars.next();
            }
            _ => {}
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_are_undone() {
        for (disguised, expected) in [
            ("gi\u{200b}t show", "git show"),
            ("cherry-\u{ad}pick", "cherry-pick"),
            ("ｇｉｔ ｓｈｏｗ", "git show"),
            ("sh\u{43e}w", "show"),
            ("\u{1b}[31mche\u{1b}[0mrry-pick", "cherry-pick"),
            ("\u{1b}]8;;https://x\u{7}link", "link"),
            ("\u{1b}[?1049hx\u{1b}[0Gy", "xy"),
            ("＃48213", "#48213"),
        ] {
            assert_eq!(plain(disguised), expected, "{disguised:?}");
        }
    }

    #[test]
    fn honest_text_is_left_alone() {
        for text in [
            "plain",
            "взял исправление",
            "已完整应用（上游）：PR，好。",
            "é ß",
            "α and β",
        ] {
            assert!(matches!(plain(text), Cow::Borrowed(_)) || plain(text) == text);
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics_and_is_stable(text in "\\PC*|(\u{1b}[\\[\\]()a-z0-9;]{0,4}|.){0,20}") {
            let once = plain(&text).into_owned();
            proptest::prop_assert_eq!(plain(&once).into_owned().contains('\u{200b}'), false);
        }
    }
}
