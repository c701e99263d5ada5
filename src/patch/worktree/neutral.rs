//! Differences that are no work: line ends that a checkout or copy changed, large-file pointers.

use bstr::ByteSlice;
use memchr::{memchr, memchr_iter};

use crate::patch::objects::id::sha256_hex;

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
    let names = |p: &[u8], content: &[u8]| pointer(p).is_some_and(|oid| oid == sha256_hex(content));
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
    fn pointers() {
        let content = b"large";
        let text = format!(
            "version https://git-lfs.github.com/spec/v1\noid sha256:{}\nsize 5\n",
            sha256_hex(content)
        );
        assert!(is_pointer_to(text.as_bytes(), content));
        assert!(is_pointer_to(content, text.as_bytes()));
        assert!(!is_pointer_to(text.as_bytes(), b"other"));
        assert!(!is_pointer_to(content, content));
    }
}
