//! The names in the headers of a diff: quoting, prefixes, time stamps, `/dev/null`.
//!
//! `git diff` writes `a/` and `b/` before a path, other letters with `diff.mnemonicPrefix`, nothing with
//! `--no-prefix`; it quotes a path with control characters, quotes or (by default) bytes above 127, and puts
//! a TAB after a path with blanks. `diff -ru old new` writes two directory names and a time stamp. None of
//! them says which form it uses, so the two names of one file are compared: what differs is prefix.

use bstr::{BString, ByteSlice};
use memchr::memchr;

/// One of the two names of a file in a diff.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Side {
    /// `/dev/null`: the file does not exist on this side.
    Absent,
    /// A path, with its prefix if it has one.
    Path(BString),
}

/// Prefixes that git puts before paths: `a b` by default, the others with `diff.mnemonicPrefix`.
const PREFIXES: [&[u8]; 8] = [b"a/", b"b/", b"i/", b"w/", b"c/", b"o/", b"1/", b"2/"];

/// Undoes the quoting of git (`"a/\346\226\207"`). `None` when it is not a complete quoted string.
/// Returns the text and what follows the closing quote.
pub(super) fn unquote(text: &[u8]) -> Option<(BString, &[u8])> {
    let mut rest = text.strip_prefix(b"\"")?;
    let mut out = BString::default();
    loop {
        let (&first, after) = rest.split_first()?;
        match first {
            b'"' => return Some((out, after)),
            b'\\' => {
                let (byte, after) = unescape(after)?;
                out.push(byte);
                rest = after;
            }
            _ => {
                out.push(first);
                rest = after;
            }
        }
    }
}

/// One escape of a C string, without its backslash.
fn unescape(text: &[u8]) -> Option<(u8, &[u8])> {
    let (&first, after) = text.split_first()?;
    let byte = match first {
        b'a' => 7,
        b'b' => 8,
        b't' => b'\t',
        b'n' => b'\n',
        b'v' => 11,
        b'f' => 12,
        b'r' => b'\r',
        b'"' | b'\\' => first,
        b'0'..=b'7' => {
            let (digits, after) = text.split_at_checked(3)?;
            let mut value = 0u32;
            for digit in digits {
                value = value * 8 + char::from(*digit).to_digit(8)?;
            }
            return Some((u8::try_from(value).ok()?, after));
        }
        _ => return None,
    };
    Some((byte, after))
}

/// Writes a path as git does: quoted when it holds a control character, a quote, a backslash or a byte
/// above 127.
pub(super) fn quote(path: &[u8]) -> BString {
    let plain = |b: &u8| (0x20..0x7f).contains(b) && *b != b'"' && *b != b'\\';
    if path.iter().all(plain) {
        return path.into();
    }
    let mut out = BString::from("\"");
    for byte in path {
        match byte {
            b'"' | b'\\' => out.extend([b'\\', *byte]),
            b'\n' => out.extend(b"\\n"),
            b'\t' => out.extend(b"\\t"),
            _ if plain(byte) => out.push(*byte),
            _ => out.extend(format!("\\{byte:03o}").bytes()),
        }
    }
    out.push(b'"');
    out
}

/// The name on a `---` or `+++` line, without that mark, and what follows it (a time stamp).
pub(super) fn side(text: &[u8]) -> (Side, &[u8]) {
    let (name, rest) = match unquote(text) {
        Some((name, rest)) => (name, rest),
        None => match memchr(b'\t', text).and_then(|at| text.split_at_checked(at)) {
            Some((name, rest)) => (name.into(), rest),
            None => (text.into(), [].as_slice()),
        },
    };
    if name == "/dev/null" {
        (Side::Absent, rest)
    } else {
        (Side::Path(name), rest)
    }
}

/// True when the time stamp of a name is the start of the Unix epoch, which `diff -N` writes for a file
/// that does not exist. The zone moves it by up to a day.
pub(super) fn is_epoch(stamp: &[u8]) -> bool {
    let stamp = stamp.trim_ascii_start();
    stamp.starts_with(b"1970-01-01 ")
        || stamp.starts_with(b"1969-12-31 ")
        || stamp.contains_str(" 00:00:00 1970")
}

fn after_slash(path: &[u8]) -> Option<&[u8]> {
    memchr(b'/', path).and_then(|at| path.get(at + 1..))
}

fn strip_known(path: &[u8]) -> Option<&[u8]> {
    PREFIXES.iter().find_map(|p| path.strip_prefix(*p))
}

/// The path of a name that stands alone (its other side is `/dev/null`).
pub(super) fn strip_one(path: &[u8]) -> BString {
    strip_known(path).unwrap_or(path).into()
}

/// The two paths of two names. Equal names have no prefix; names that differ in their first component
/// only have that as prefix; otherwise known prefixes are removed from both or from none.
pub(super) fn strip_pair(old: &[u8], new: &[u8]) -> (BString, BString) {
    if old == new {
        return (old.into(), new.into());
    }
    if let (Some(o), Some(n)) = (after_slash(old), after_slash(new))
        && o == n
    {
        return (o.into(), n.into());
    }
    match (strip_known(old), strip_known(new)) {
        (Some(o), Some(n)) => (o.into(), n.into()),
        _ => (old.into(), new.into()),
    }
}

/// The path that both halves of a `diff --git` line name, without that mark. `None` when the halves differ
/// (a rename, whose paths stand on lines of their own) or cannot be told apart.
pub(super) fn header_path(text: &[u8]) -> Option<BString> {
    let (old, new): (BString, BString) = if let Some((old, rest)) = unquote(text) {
        let rest = rest.strip_prefix(b" ")?;
        let new = unquote(rest).map_or_else(|| rest.into(), |(n, _)| n);
        (old, new)
    } else if text.ends_with(b"\"") {
        let at = text.find(" \"")?;
        let (old, rest) = text.split_at_checked(at)?;
        (old.into(), unquote(rest.strip_prefix(b" ")?)?.0)
    } else {
        // Prefixes are equally long, so the blank between equal paths stands in the middle.
        let (old, rest) = text.split_at_checked(text.len() / 2)?;
        (old.into(), rest.strip_prefix(b" ")?.into())
    };
    let (old, new) = strip_pair(&old, &new);
    (old == new).then_some(old)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_names() {
        for (text, want) in [
            ("a/x.c b/x.c", Some("x.c")),
            ("x.c x.c", Some("x.c")),
            ("a/x.c a/x.c", Some("a/x.c")),
            ("i/x y z w/x y z", Some("x y z")),
            ("a/x b/x b/x b/x", Some("x b/x")),
            (r#""a/\346\226\207" "b/\346\226\207""#, Some("\u{6587}")),
            (r#"a/x"y "b/x\"y""#, Some("x\"y")),
            ("a/x b/y", None),
            ("a/x", None),
            ("", None),
            (r#""a/x"#, None),
        ] {
            let got = header_path(text.as_bytes());
            assert_eq!(got, want.map(BString::from), "{text}");
        }
    }

    #[test]
    fn quoting_goes_round() {
        for path in [
            &b"plain/path.rs"[..],
            b"with space",
            b"tab\there",
            b"new\nline",
            b"q\"uote\\",
            b"\xff\xfe",
            "\u{6587}\u{4ef6}".as_bytes(),
        ] {
            let quoted = quote(path);
            let (got, rest) = unquote(&quoted).unwrap_or_else(|| (quoted.clone(), b""));
            assert_eq!(got, path);
            assert!(rest.is_empty());
        }
    }

    #[test]
    fn sides() {
        assert_eq!(side(b"/dev/null").0, Side::Absent);
        assert_eq!(side(b"/dev/null\t1970-01-01 00:00:00").0, Side::Absent);
        assert_eq!(side(b"b/a b\t").0, Side::Path("b/a b".into()));
        let (_, stamp) = side(b"new/x\t1970-01-01 01:00:00.000000000 +0100");
        assert!(is_epoch(stamp));
    }
}
