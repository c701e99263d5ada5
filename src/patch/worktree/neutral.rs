//! Differences that are no work: what a checkout or copy changed (line ends, expanded keywords), large-file
//! pointers. For the encoding see [`mod@super::encoding`].

use bstr::ByteSlice;
use memchr::{memchr, memchr_iter};

use crate::digest;

/// How many lines end in CRLF, and how many in LF alone.
fn ends(content: &[u8]) -> (usize, usize) {
    let (mut crlf, mut lf) = (0, 0);
    for at in memchr_iter(b'\n', content) {
        let before = at.checked_sub(1).and_then(|i| content.get(i));
        if before == Some(&b'\r') {
            crlf += 1;
        } else {
            lf += 1;
        }
    }
    (crlf, lf)
}

/// `new` with the line ends of `old`, when all of `old` ends in one way and most of `new` in the other: a
/// checkout or copy converted the file, and an edit since then may have added lines of the first kind.
pub(super) fn with_line_ends_of(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    if memchr(0, old).is_some() || memchr(0, new).is_some() {
        return None;
    }
    let (new_crlf, new_lf) = ends(new);
    match ends(old) {
        (0, 1..) if new_crlf > new_lf => Some(new.replace("\r\n", "\n")),
        (1.., 0) if new_lf > new_crlf => Some(new.replace("\r\n", "\n").replace("\n", "\r\n")),
        _ => None,
    }
}

/// What `ident` in `.gitattributes` makes git expand at checkout.
const KEYWORD: &[u8] = b"$Id$";

/// `new` with its expanded keywords as they stand in `old`: `$Id: 0123… $` becomes `$Id$`. `None` when there
/// is none, or the base does not have the keyword.
pub(super) fn without_keywords(old: &[u8], new: &[u8]) -> Option<Vec<u8>> {
    if !old.contains_str(KEYWORD) || !new.contains_str("$Id: ") {
        return None;
    }
    let mut out = Vec::with_capacity(new.len());
    let mut rest = new;
    let mut found = false;
    while let Some((before, after)) = rest.split_once_str("$Id: ") {
        out.extend_from_slice(before);
        let line = after.lines_with_terminator().next().unwrap_or_default();
        let name = line
            .split_once_str(" $")
            .filter(|(name, _)| is_object_name(name));
        if let Some((name, _)) = name {
            out.extend_from_slice(KEYWORD);
            rest = after.get(name.len() + 2..).unwrap_or_default();
            found = true;
        } else {
            out.extend_from_slice(b"$Id: ");
            rest = after;
        }
    }
    out.extend_from_slice(rest);
    found.then_some(out)
}

/// Only what git itself writes there is undone; anything else is somebody's text.
fn is_object_name(text: &[u8]) -> bool {
    matches!(text.len(), 40 | 64) && text.iter().all(u8::is_ascii_hexdigit)
}

/// Longest pointer file of Git LFS, in bytes.
const MAX_POINTER: usize = 1024;

/// The SHA-256 that a Git LFS pointer names, in hexadecimal digits.
fn pointer(content: &[u8]) -> Option<&str> {
    if content.len() > MAX_POINTER
        || !content.starts_with(b"version https://git-lfs.github.com/spec/")
    {
        return None;
    }
    let mut lines = content.lines();
    lines.find_map(|l| l.strip_prefix(b"oid sha256:")?.to_str().ok())
}

/// True when one side is a pointer to the other: the file was fetched, or was not.
pub(super) fn is_pointer_to(a: &[u8], b: &[u8]) -> bool {
    let names =
        |p: &[u8], content: &[u8]| pointer(p).is_some_and(|oid| oid == digest::sha256(content));
    names(a, b) || names(b, a)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_ends() {
        for (old, new, want) in [
            ("a\nb\n", "a\r\nc\r\n", Some("a\nc\n")),
            ("a\r\nb\r\n", "a\nc\n", Some("a\r\nc\r\n")),
            ("a\nb\n", "a\nb\n", None),
            ("a\nb\r\n", "a\r\nb\r\n", None),
            ("a\nb\n", "a\r\nc\nb\r\n", Some("a\nc\nb\n")),
            ("a\nb\nc\n", "a\nb\nc\r\n", None),
            ("a", "a\r\n", None),
            ("a\n", "a\r\n\0\r\n", None),
        ] {
            let got = with_line_ends_of(old.as_bytes(), new.as_bytes());
            assert_eq!(got, want.map(|w| w.as_bytes().to_vec()), "{old:?} {new:?}");
        }
    }

    #[test]
    fn keywords() {
        let id = "0123456789012345678901234567890123456789";
        let new = format!("// $Id: {id} $\n$Id: mine $\nx\n$Id: {id} $");
        let want = "// $Id$\n$Id: mine $\nx\n$Id$";
        let got = without_keywords(b"// $Id$\n", new.as_bytes());
        assert_eq!(got.as_deref(), Some(want.as_bytes()));
        assert_eq!(without_keywords(b"nothing", new.as_bytes()), None);
        assert_eq!(without_keywords(b"$Id$", b"$Id: mine $ $Id: "), None);
    }

    #[test]
    fn pointers() {
        let content = b"large";
        let text = format!(
            "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n",
            digest::sha256(content)
        );
        assert!(is_pointer_to(text.as_bytes(), content));
        assert!(is_pointer_to(content, text.as_bytes()));
        assert!(!is_pointer_to(text.as_bytes(), b"other"));
        assert!(!is_pointer_to(content, content));
    }
}
