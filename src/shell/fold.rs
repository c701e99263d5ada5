//! What hides a command from the eye is taken out before it is read.
//!
//! Full-width letters become ASCII, characters that show nothing and terminal escape sequences are
//! dropped. Only letters, digits, `-` and `_` are folded: full-width punctuation in Chinese or
//! Japanese prose must not turn into shell syntax. Positions in the folded text map back to the
//! original one.

use std::borrow::Cow;

use crate::similarity::normalise::is_format_character;

/// A command text without disguises.
#[derive(Debug)]
pub(crate) struct Folded<'t> {
    /// The text to read.
    pub(crate) text: Cow<'t, str>,
    /// Where the distance between folded and original positions changes, ascending by folded
    /// position: `(folded, original)`.
    steps: Vec<(usize, usize)>,
}

impl Folded<'_> {
    /// Position in the original text for a position in the folded one.
    pub(crate) fn original(&self, folded: usize) -> usize {
        let after = self.steps.partition_point(|(at, _)| *at <= folded);
        match after.checked_sub(1).and_then(|i| self.steps.get(i)) {
            Some((at, original)) => original.saturating_add(folded.saturating_sub(*at)),
            None => folded,
        }
    }
}

/// Removes the disguises of `text`; costs nothing for plain ASCII.
pub(crate) fn fold(text: &str) -> Folded<'_> {
    if !text.chars().any(is_disguise) {
        return Folded {
            text: Cow::Borrowed(text),
            steps: Vec::new(),
        };
    }
    let mut out = String::with_capacity(text.len());
    let mut steps: Vec<(usize, usize)> = Vec::new();
    let mut rest = text.char_indices();
    while let Some((at, c)) = rest.next() {
        if !is_disguise(c) {
            out.push(c);
            continue;
        }
        match c {
            '\u{1b}' => {
                let tail = text.get(at..).unwrap_or_default();
                for _ in 1..escape_length(tail) {
                    rest.next();
                }
            }
            _ => out.extend(ascii_of(c)),
        }
        steps.push((out.len(), rest.offset()));
    }
    Folded {
        text: Cow::Owned(out),
        steps,
    }
}

fn is_disguise(c: char) -> bool {
    match c {
        '\t' | '\n' | '\r' | ' '..='~' => false,
        _ => ascii_of(c).is_some() || is_format_character(c),
    }
}

/// The ASCII letter, digit, `-`, `_` or blank that a full-width character stands for.
fn ascii_of(c: char) -> Option<char> {
    match c {
        '０'..='９' | 'Ａ'..='Ｚ' | 'ａ'..='ｚ' | '－' | '＿' => {
            char::from_u32(u32::from(c).wrapping_sub(0xfee0))
        }
        '\u{3000}' | '\u{a0}' => Some(' '),
        _ => None,
    }
}

/// Number of characters of the terminal escape sequence that `tail` begins with (at least 1).
///
/// CSI sequences (`ESC [ … letter`), OSC strings (`ESC ] … BEL` or `ESC \`) and two-character
/// escapes. A sequence longer than 256 characters is none.
fn escape_length(tail: &str) -> usize {
    const LONGEST: usize = 256;
    let mut chars = tail.chars().skip(1).take(LONGEST).enumerate();
    match chars.next() {
        Some((_, '[')) => chars
            .find(|(_, c)| ('@'..='~').contains(c))
            .map_or(2, |(i, _)| i + 2),
        Some((_, ']')) => {
            let mut before = ' ';
            for (i, c) in chars {
                if c == '\u{7}' || (c == '\\' && before == '\u{1b}') {
                    return i + 2;
                }
                before = c;
            }
            2
        }
        Some((_, ' '..='~')) => 2,
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disguises_are_taken_off_and_offsets_map_back() {
        let cases = [
            ("git show", "git show"),
            ("ｇｉｔ\u{3000}show", "git show"),
            ("cherry-\u{ad}pick", "cherry-pick"),
            ("\u{1b}[31mche\u{1b}[0mrry", "cherry"),
            ("\u{1b}]0;title\u{7}ls", "ls"),
            ("\u{1b}[?1049hls \u{1b}[0G", "ls "),
            ("echo 你好（世界）；完", "echo 你好（世界）；完"),
            ("a\0b", "ab"),
            ("\u{1b}", ""),
            ("x\u{feff}\n\ty", "x\n\ty"),
        ];
        for (text, want) in cases {
            assert_eq!(fold(text).text, want, "{text:?}");
        }
        let text = "\u{1b}[31mls\u{200b} ｇit x";
        let folded = fold(text);
        for (at, c) in folded.text.char_indices() {
            let original = folded.original(at);
            let there = text.get(original..).and_then(|rest| rest.chars().next());
            let same = there == Some(c) || there.and_then(ascii_of) == Some(c);
            assert!(same, "{at} -> {original}: {there:?} is not {c:?}");
        }
    }
}
