//! Object names: the hash of kind, size and content, in SHA-1 or SHA-256.
//!
//! Every object that is read is hashed and compared with its name, since the index of a pack could map a
//! trusted commit id to whatever its owner likes.

use std::fmt;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use sha1::Sha1;
use sha2::{Digest, Sha256};

/// The hash that a repository names its objects with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// 40 hexadecimal digits; nearly all repositories.
    Sha1,
    /// 64 hexadecimal digits (`git init --object-format=sha256`).
    Sha256,
}

impl Algorithm {
    /// Bytes of a name.
    pub(super) fn len(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
        }
    }
}

/// The name of an object.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Oid {
    /// SHA-1.
    Sha1([u8; 20]),
    /// SHA-256.
    Sha256([u8; 32]),
}

impl Oid {
    /// Reads 40 or 64 hexadecimal digits.
    pub fn parse(hex: &[u8]) -> Option<Self> {
        let digit = |b: &u8| {
            char::from(*b)
                .to_digit(16)
                .and_then(|d| u8::try_from(d).ok())
        };
        let mut bytes = Vec::with_capacity(hex.len() / 2);
        for pair in hex.chunks(2) {
            let [high, low] = pair else { return None };
            bytes.push(digit(high)? << 4 | digit(low)?);
        }
        Self::from_bytes(&bytes)
    }

    /// A name from its 20 or 32 bytes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        if let Ok(id) = bytes.try_into() {
            return Some(Self::Sha1(id));
        }
        bytes.try_into().ok().map(Self::Sha256)
    }

    /// The hash that made it.
    pub fn algorithm(&self) -> Algorithm {
        match self {
            Self::Sha1(_) => Algorithm::Sha1,
            Self::Sha256(_) => Algorithm::Sha256,
        }
    }

    /// True for the name made of zeros, which stands for "nothing" in reflogs.
    pub fn is_zero(&self) -> bool {
        self.bytes().iter().all(|b| *b == 0)
    }

    fn bytes(&self) -> &[u8] {
        match self {
            Self::Sha1(id) => id,
            Self::Sha256(id) => id,
        }
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for byte in self.bytes() {
            write!(f, "{byte:02x}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

enum Hasher {
    Sha1(Sha1),
    Sha256(Sha256),
}

impl Hasher {
    fn new(algorithm: Algorithm, kind: &str, size: u64) -> Self {
        let mut hasher = match algorithm {
            Algorithm::Sha1 => Self::Sha1(Sha1::new()),
            Algorithm::Sha256 => Self::Sha256(Sha256::new()),
        };
        hasher.update(format!("{kind} {size}\0").as_bytes());
        hasher
    }

    fn update(&mut self, bytes: &[u8]) {
        match self {
            Self::Sha1(h) => h.update(bytes),
            Self::Sha256(h) => h.update(bytes),
        }
    }

    fn finish(self) -> Oid {
        match self {
            Self::Sha1(h) => Oid::Sha1(h.finalize().into()),
            Self::Sha256(h) => Oid::Sha256(h.finalize().into()),
        }
    }
}

/// The name of an object of the given kind (`blob`, `tree`, `commit`).
pub(in crate::patch) fn hash_object(algorithm: Algorithm, kind: &str, content: &[u8]) -> Oid {
    let size = u64::try_from(content.len()).unwrap_or(u64::MAX);
    let mut hasher = Hasher::new(algorithm, kind, size);
    hasher.update(content);
    hasher.finish()
}

/// The name of the blob that a regular file of `size` bytes would be, read piece by piece. Of a file that
/// is larger by now, only `size` bytes are read.
pub(in crate::patch) fn hash_file(
    algorithm: Algorithm,
    path: &Path,
    size: u64,
) -> std::io::Result<Oid> {
    const PIECE: usize = 128 << 10;
    let mut buffer = vec![0; usize::try_from(size).unwrap_or(PIECE).clamp(1, PIECE)];
    let mut hasher = Hasher::new(algorithm, "blob", size);
    let mut file = File::open(path)?.take(size);
    loop {
        let read = file.read(&mut buffer)?;
        match buffer.get(..read) {
            None | Some([]) => return Ok(hasher.finish()),
            Some(piece) => hasher.update(piece),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_git() {
        let sha1 = hash_object(Algorithm::Sha1, "blob", b"");
        assert_eq!(sha1.to_string(), "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391");
        let sha256 = hash_object(Algorithm::Sha256, "blob", b"");
        assert_eq!(
            sha256.to_string(),
            "473a0f4c3be8a93681a267e3b1e9a7dcda1185436fe141f7749120a303721813"
        );
        assert_eq!(Oid::parse(sha1.to_string().as_bytes()), Some(sha1));
        assert_eq!(Oid::parse(b"e69d"), None);
        assert_eq!(Oid::parse(b"e69de29bb2d1d6434b8b29ae775ad8c2e48c539"), None);
        assert_eq!(Oid::parse(&[b'g'; 40]), None);
    }
}
