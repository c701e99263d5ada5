//! Archives and compressed files, by their first bytes. They are named, never opened.

/// What they begin with, and where.
const MAGIC: &[(usize, &[u8])] = &[
    (0, b"PK\x03\x04"),
    (0, b"\x1f\x8b\x08"),
    (0, b"BZh"),
    (0, b"\xfd7zXZ\0"),
    (0, b"\x28\xb5\x2f\xfd"),
    (0, b"7z\xbc\xaf\x27\x1c"),
    (0, b"Rar!\x1a\x07"),
    (0, b"\x04\x22\x4d\x18"),
    (0, b"!<arch>\n"),
    (0, b"# v2 git bundle\n"),
    (0, b"# v3 git bundle\n"),
    (257, b"ustar"),
];

/// True for zip (and what is built on it), gzip, bzip2, xz, zstd, 7z, rar, lz4, ar, git bundles and tar.
pub(super) fn is_archive(content: &[u8]) -> bool {
    let begins = |(at, magic): &(usize, &[u8])| {
        content
            .get(*at..)
            .is_some_and(|content| content.starts_with(magic))
    };
    MAGIC.iter().any(begins)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_first_bytes() {
        let mut tar = vec![b'x'; 257];
        tar.extend_from_slice(b"ustar\0");
        for archive in [
            &tar[..],
            b"PK\x03\x04rest",
            b"\x1f\x8b\x08rest",
            b"# v2 git bundle\n",
        ] {
            assert!(is_archive(archive));
        }
        for other in [&tar[1..], b"", b"PK", b"text", b"\x89PNG"] {
            assert!(!is_archive(other));
        }
    }
}
