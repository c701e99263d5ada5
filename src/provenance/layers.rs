//! The same text in the shapes in which it can carry code: as it stands, without colours, with JSON
//! escapes undone, with HTML undone, out of base64 and other carriers (`carriers`).
//!
//! Line numbers, diff signs and file names need no layer: they stand between lines, and lines are
//! searched in text without white space. Each layer is linear in the text, and its size is bounded by
//! that of the text times a small constant.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memrchr};

use super::carriers::{self, Unpacked};
use crate::base64::sextet;
use crate::similarity::normalise::{squeeze, squeeze_ascii};

/// JSON may be quoted inside JSON this often.
const MAX_ESCAPE_LEVELS: usize = 3;

/// Shorter runs of base64 letters are words.
const MIN_BASE64: usize = 128;

/// Lines of wrapped base64 are at least so long, but for the last.
const MIN_BASE64_LINE: usize = 40;

/// A buffer for squeezed text, used again for every event.
#[derive(Debug, Default)]
pub(super) struct Layers {
    squeezed: Vec<u8>,
    spent: Unpacked,
}

impl Layers {
    /// Calls `visit` with every layer of `text`, squeezed. `encoded` also opens base64 and its like, which is for
    /// texts that an agent is shown; nobody types it.
    pub(super) fn each(&mut self, text: &str, encoded: bool, mut visit: impl FnMut(&[u8])) {
        let plain = without_ansi(text);
        self.show(&plain, &mut visit);
        let mut escaped: Option<String> = None;
        for _ in 0..MAX_ESCAPE_LEVELS {
            let Some(next) = unescaped_lines(escaped.as_deref().unwrap_or(&plain)) else {
                break;
            };
            self.show(&next, &mut visit);
            escaped = Some(next);
        }
        for layer in [Some(plain.as_ref()), escaped.as_deref()]
            .into_iter()
            .flatten()
        {
            if let Some(html) = html_lines(layer) {
                self.show(&html, &mut visit);
            }
            if encoded {
                let mut spent = self.spent;
                for_each_base64(layer, &mut spent, |text| self.show(text, &mut visit));
                carriers::each(layer, &mut spent, |text| self.show(text, &mut visit));
                self.spent = spent;
            }
        }
    }

    fn show(&mut self, text: &str, visit: &mut impl FnMut(&[u8])) {
        self.squeezed.clear();
        squeeze_into(&mut self.squeezed, text);
        visit(&self.squeezed);
    }
}

/// [`squeeze`], with a fast path for the ASCII that most text is.
///
/// An ASCII character begins anew for normalisation: it never joins what stands before it. So a run of
/// other characters can be squeezed alone, together with the last ASCII character before it, which an
/// accent may join. Invisible control characters keep nothing apart and belong to the run.
pub(super) fn squeeze_into(out: &mut Vec<u8>, text: &str) {
    let mut rest = text;
    while let Some(first) = first_foreign(rest.as_bytes()) {
        let before = rest.as_bytes().get(..first).unwrap_or_default();
        let seen = |b: &u8| b.is_ascii_graphic() || b.is_ascii_whitespace();
        let start = before.iter().rposition(seen).unwrap_or(0);
        let run = rest.as_bytes().get(first..).unwrap_or_default();
        let end = run.iter().position(seen).map_or(rest.len(), |n| first + n);
        let (Some((ascii, tail)), Some(segment)) =
            (rest.split_at_checked(start), rest.get(start..end))
        else {
            break;
        };
        squeeze_ascii(out, ascii.as_bytes());
        out.extend_from_slice(squeeze(segment).as_bytes());
        rest = tail.get(end - start..).unwrap_or_default();
    }
    squeeze_ascii(out, rest.as_bytes());
}

/// The first byte that is not ASCII.
fn first_foreign(bytes: &[u8]) -> Option<usize> {
    // Whole chunks at once: most have none.
    const CHUNK: usize = 64;
    let chunk = bytes.chunks(CHUNK).position(|c| !c.is_ascii())?;
    let from = chunk * CHUNK;
    let within = bytes.get(from..)?.iter().position(|b| !b.is_ascii())?;
    Some(from + within)
}

/// Without terminal control sequences (CSI `ESC [ … letter`, OSC `ESC ] … BEL`, two-character ones).
pub(super) fn without_ansi(text: &str) -> Cow<'_, str> {
    if memchr(b'\x1b', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        match chars.next() {
            Some('[') => {
                // Parameters and intermediates are 0x20..=0x3f; anything else ends the sequence.
                for c in chars.by_ref() {
                    if !(' '..='?').contains(&c) {
                        if c == '\n' {
                            out.push(c);
                        }
                        break;
                    }
                }
            }
            Some(']') => {
                for c in chars.by_ref() {
                    if matches!(c, '\u{7}' | '\u{1b}' | '\n') {
                        break;
                    }
                }
            }
            _ => {}
        }
    }
    Cow::Owned(out)
}

/// The lines in which `find` finds something, given what is left of the text. Most lines hold nothing,
/// and are passed over without being looked at one by one.
fn lines_with<'a>(
    text: &'a str,
    find: impl Fn(&[u8]) -> Option<usize> + 'a,
) -> impl Iterator<Item = &'a str> {
    let mut from = 0;
    std::iter::from_fn(move || {
        let bytes = text.as_bytes();
        let at = from + find(bytes.get(from..)?)?;
        let start = memrchr(b'\n', bytes.get(from..at)?).map_or(from, |n| from + n + 1);
        let end = memchr(b'\n', bytes.get(at..)?).map_or(bytes.len(), |n| at + n);
        from = end + 1;
        text.get(start..end)
    })
}

/// [`str::split_once`] at an ASCII character, by a search that is at its best in long texts.
fn split_once(text: &str, at: u8) -> Option<(&str, &str)> {
    let place = memchr(at, text.as_bytes())?;
    Some((text.get(..place)?, text.get(place + 1..)?))
}

/// The lines that hold a backslash, with JSON string escapes undone; `None` when nothing changes.
fn unescaped_lines(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut changed = false;
    for line in lines_with(text, |rest| memchr(b'\\', rest)) {
        changed |= unescape(&mut out, line);
        out.push('\n');
    }
    changed.then_some(out)
}

/// Undoes JSON escapes (and `\'`, which other languages add). What is no escape stays as it is.
fn unescape(out: &mut String, line: &str) -> bool {
    let mut changed = false;
    let mut rest = line;
    while let Some((before, after)) = split_once(rest, b'\\') {
        out.push_str(before);
        let mut chars = after.chars();
        let decoded = match chars.next() {
            Some(c @ ('"' | '\\' | '/' | '\'')) => Some(c),
            Some('n' | 't' | 'r' | 'b' | 'f') => Some('\n'),
            Some('u') => unicode_escape(&mut chars),
            _ => None,
        };
        match decoded {
            Some(c) => {
                out.push(c);
                changed = true;
                rest = chars.as_str();
            }
            None => {
                out.push('\\');
                rest = after;
            }
        }
    }
    out.push_str(rest);
    changed
}

/// Four hexadecimal digits, or two such escapes that are a surrogate pair. Moves `chars` past them.
fn unicode_escape(chars: &mut std::str::Chars<'_>) -> Option<char> {
    let unit = hex4(chars)?;
    if !(0xd800..0xdc00).contains(&unit) {
        return char::from_u32(unit);
    }
    if chars.next() != Some('\\') || chars.next() != Some('u') {
        return None;
    }
    let low = hex4(chars)?;
    let low = (0xdc00..0xe000).contains(&low).then_some(low - 0xdc00)?;
    char::from_u32(0x1_0000 + ((unit - 0xd800) << 10) + low)
}

fn hex4(chars: &mut std::str::Chars<'_>) -> Option<u32> {
    (0..4).try_fold(0, |value, _| Some(value * 16 + chars.next()?.to_digit(16)?))
}

/// The lines that look like HTML, with tags removed and entities undone; `None` when there are none.
fn html_lines(text: &str) -> Option<String> {
    let mut out = String::new();
    for line in lines_with(text, html_mark) {
        entities(&mut out, &without_tags(line));
        out.push('\n');
    }
    (!out.is_empty()).then_some(out)
}

/// The first closing tag, or entity that code is written with.
fn html_mark(text: &[u8]) -> Option<usize> {
    let mut from = 0;
    loop {
        let at = from + memchr2(b'&', b'<', text.get(from..)?)?;
        let rest = text.get(at..)?;
        let marks: [&[u8]; 6] = [b"</", b"&lt;", b"&gt;", b"&amp;", b"&quot;", b"&#"];
        if marks.iter().any(|m| rest.starts_with(m)) {
            return Some(at);
        }
        from = at + 1;
    }
}

/// Without `<tag …>` and `</tag>`; a `<` that opens no tag stays.
fn without_tags(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some((before, after)) = split_once(rest, b'<') {
        out.push_str(before);
        if !after.starts_with(|c: char| c.is_ascii_alphabetic() || c == '/') {
            out.push('<');
            rest = after;
            continue;
        }
        match split_once(after, b'>') {
            Some((_, tail)) => rest = tail,
            // No tag closes any more. Looking again at the next `<` would be quadratic.
            None => {
                out.push('<');
                rest = after;
                break;
            }
        }
    }
    out.push_str(rest);
    out
}

/// Undoes the entities that code is written with.
fn entities(out: &mut String, text: &str) {
    /// The longest entity that is looked at.
    const LONGEST: usize = 10;
    let mut rest = text;
    while let Some((before, after)) = split_once(rest, b'&') {
        out.push_str(before);
        let entity = after.char_indices().take(LONGEST).find(|(_, c)| *c == ';');
        let decoded = entity.and_then(|(at, _)| {
            let (name, tail) = after.split_at_checked(at)?;
            Some((entity_char(name)?, tail.strip_prefix(';')?))
        });
        match decoded {
            Some((c, tail)) => {
                out.push(c);
                rest = tail;
            }
            None => {
                out.push('&');
                rest = after;
            }
        }
    }
    out.push_str(rest);
}

fn entity_char(name: &str) -> Option<char> {
    match name {
        "lt" => Some('<'),
        "gt" => Some('>'),
        "amp" => Some('&'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        "nbsp" => Some(' '),
        _ => {
            let number = name.strip_prefix('#')?;
            let value = match number.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => number.parse().ok()?,
            };
            char::from_u32(value)
        }
    }
}

/// Finds long runs of base64, wrapped or not, and shows what they hold when it is text.
fn for_each_base64(text: &str, spent: &mut Unpacked, mut show: impl FnMut(&str)) {
    for run in base64_runs(text) {
        // A block of a wrapped text ends with a shorter line; words around it are short lines too.
        let mut block = String::new();
        for line in run.split(['\n', '\r']).filter(|l| !l.is_empty()) {
            block.push_str(line);
            if line.len() < MIN_BASE64_LINE {
                decode_block(&block, spent, &mut show);
                block.clear();
            }
        }
        decode_block(&block, spent, &mut show);
    }
}

/// Runs of at least [`MIN_BASE64`] bytes that are base64 letters or line ends.
///
/// A run of that length that begins at `from` has such a byte at its end: looking there first, and
/// from there backwards, passes over ordinary text in long steps.
fn base64_runs(text: &str) -> impl Iterator<Item = &str> {
    let bytes = text.as_bytes();
    let inside = |b: &u8| sextet(*b).is_some() || matches!(b, b'=' | b'\n' | b'\r');
    let mut from = 0;
    std::iter::from_fn(move || {
        loop {
            let window = bytes.get(from..from + MIN_BASE64)?;
            if let Some(outside) = window.iter().rposition(|b| !inside(b)) {
                from += outside + 1;
                continue;
            }
            let rest = bytes.get(from..)?;
            let length = rest.iter().position(|b| !inside(b)).unwrap_or(rest.len());
            let start = from;
            from += length;
            return text.get(start..start + length);
        }
    })
}

fn decode_block(block: &str, spent: &mut Unpacked, show: &mut impl FnMut(&str)) {
    if block.len() < MIN_BASE64 {
        return;
    }
    let mut bytes = Vec::with_capacity(block.len() / 4 * 3);
    let (mut bits, mut held) = (0u32, 0u32);
    for value in block.bytes().filter_map(sextet) {
        bits = (bits << 6 | value) & 0xfff_ffff;
        held += 6;
        if held >= 8 {
            held -= 8;
            bytes.push((bits >> held & 0xff) as u8);
        }
    }
    // `gzip -c x | base64`: the text is one layer further down.
    if let Some(unpacked) = carriers::unpacked(&bytes, spent) {
        show(&String::from_utf8_lossy(&unpacked));
        return;
    }
    // Words that are no base64 decode to bytes that are no UTF-8; a word after the block spoils its end.
    let valid = match std::str::from_utf8(&bytes) {
        Ok(text) => text,
        Err(error) => bytes
            .get(..error.valid_up_to())
            .and_then(|b| std::str::from_utf8(b).ok())
            .unwrap_or_default(),
    };
    if valid.len() >= MIN_BASE64 / 4 * 3 {
        show(valid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn all(text: &str) -> Vec<String> {
        let mut out = Vec::new();
        Layers::default().each(text, true, |s| {
            out.push(String::from_utf8(s.to_vec()).unwrap())
        });
        out
    }

    fn shows(text: &str, wanted: &str) -> bool {
        all(text).iter().any(|layer| layer.contains(wanted))
    }

    #[test]
    fn shapes_in_which_code_arrives() {
        let code = "if(a<b&&s==\"x\"){";
        for text in [
            "  if (a < b && s == \"x\") {",
            "+\tif (a < b && s == \"x\") {\r",
            "\u{1b}[32m+\u{1b}[m\u{1b}[32mif (a <\u{1b}[0m b && s == \"x\") {\u{1b}[m",
            "\u{1b}]8;;file:///x\u{7}if (a < b && s == \"x\") {",
            r#"{"content":"\tif (a < b && s == \"x\") {\n\t\treturn\n"}"#,
            r#"{"content":"if (a \u003c b \u0026\u0026 s == \"x\") {\r\n"}"#,
            r#""{\"content\":\"if (a < b && s == \\\"x\\\") {\\n\"}""#,
            "<td>if (a &lt; b &amp;&amp; s == &quot;x&quot;) {</td>",
            "<span class=\"k\">if</span> (a &#60; b &#x26;&amp; s == &#34;x&#34;) {",
            r#"{"html":"<td>if (a &lt; b &amp;&amp; s == &quot;x&quot;) {<\/td>"}"#,
        ] {
            assert!(shows(text, code), "{text}: {:?}", all(text));
        }
    }

    #[test]
    fn escapes_of_the_code_itself_survive() {
        assert!(shows(r#"{"c":"print(\"a\\n\")"}"#, r#"print("a\n")"#));
        assert!(shows(r#"print("a\n")"#, r#"print("a\n")"#));
        assert!(shows(r#""😀x\ud83d""#, "😀x\\ud83d"));
    }

    #[test]
    fn base64_plain_and_wrapped() {
        let code = "func Rebalance(ctx context.Context, shards []Shard) error {\n".repeat(3);
        let encoded = encode(code.as_bytes());
        let wrapped: Vec<&str> = encoded
            .as_bytes()
            .chunks(60)
            .map(|c| std::str::from_utf8(c).unwrap())
            .collect();
        let wanted = "Rebalance(ctxcontext.Context,shards[]Shard)error{";
        assert!(shows(&encoded, wanted));
        assert!(shows(
            &format!("content\n{}\ndone", wrapped.join("\n")),
            wanted
        ));
        assert!(shows(
            &format!("{{\"content\":\"{}\\n\"}}", wrapped.join("\\n")),
            wanted
        ));
        let mut shown = 0;
        Layers::default().each(&encoded, false, |_| shown += 1);
        assert_eq!(shown, 1, "typed text is not decoded");
    }

    #[test]
    fn gzip_in_base64() {
        // `seq 1000 1200 | sed 's/.*/tide.settle(&);/' | gzip -9n | base64 -w0` would do; a stored block is
        // easier to make.
        let code = "func Rebalance(ctx context.Context, shards []Shard) error {\n".repeat(5);
        let mut packed = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255, 1];
        let length = code.len() as u16;
        packed.extend(length.to_le_bytes());
        packed.extend((!length).to_le_bytes());
        packed.extend(code.as_bytes());
        packed.extend([0; 8]);
        assert!(shows(
            &encode(&packed),
            "Rebalance(ctxcontext.Context,shards[]Shard)error{"
        ));
    }

    fn encode(bytes: &[u8]) -> String {
        const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
        let mut out = String::new();
        for chunk in bytes.chunks(3) {
            let n =
                chunk.iter().fold(0u32, |n, b| n << 8 | u32::from(*b)) << (8 * (3 - chunk.len()));
            for i in 0..=chunk.len() {
                out.push(char::from(LETTERS[(n >> (18 - 6 * i) & 63) as usize]));
            }
        }
        out
    }

    #[test]
    fn hostile_text_stays_linear() {
        let big = 2_000_000;
        for unit in [
            "<", "&", "\\", "<a", "&#", "\u{1b}[", "\\u", "\u{1b}]", "A", "</",
        ] {
            let text = unit.repeat(big / unit.len()) + "</x> &lt;";
            let mut shown = 0;
            Layers::default().each(&text, true, |s| shown += s.len());
            assert!(shown <= text.len() * 8);
        }
    }

    proptest! {
        #[test]
        fn the_fast_path_is_squeeze(text in any::<String>(), ascii in "[ -~\t\r\n\u{1b}\0]{0,40}", mixed in "[ab\u{1}\u{200d}é\u{301}\n \tａ中ﬁ\u{b}\u{85}]{0,30}") {
            for t in [&text, &ascii, &mixed] {
                let mut out = Vec::new();
                squeeze_into(&mut out, t);
                prop_assert_eq!(String::from_utf8(out).unwrap(), squeeze(t));
            }
        }

        #[test]
        fn json_is_undone(text in any::<String>()) {
            let wanted = squeeze(&text);
            let json = serde_json::to_string(&text).unwrap();
            prop_assert!(all(&json).iter().any(|l| l.contains(&wanted)), "{json}");
            let twice = serde_json::to_string(&json).unwrap();
            prop_assert!(all(&twice).iter().any(|l| l.contains(&wanted)), "{twice}");
        }

        #[test]
        fn never_panics(text in any::<String>(), odd in "[<>&#;\\\\u{}0-9a-fA-Z\u{1b}\\[\\]=+/\n]{0,300}") {
            all(&text);
            all(&odd);
        }
    }
}
