//! A bounded memory of what was there before.

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hash, Hasher};

/// Entries per generation. Two generations are kept, at 17 bytes for each slot of their tables, of which seven in
/// eight are used: as many as fit into 2^18 slots.
const GENERATION: usize = (1 << 18) / 8 * 7;

/// Remembers the hashes of at least the last [`GENERATION`] things, each with the file in which it was
/// first met. Only ever asked for single entries, so the order of its maps shows nowhere.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    young: HashMap<u64, u32, BuildHasherDefault<Fold>>,
    old: HashMap<u64, u32, BuildHasherDefault<Fold>>,
}

impl Seen {
    /// Remembers a hash; the file in which it was met before, if it was.
    pub(crate) fn insert(&mut self, hash: u64, file: u32) -> Option<u32> {
        let before = self.get(hash);
        if before.is_none() {
            if self.young.len() >= GENERATION {
                self.old = std::mem::take(&mut self.young);
            }
            self.young.insert(hash, file);
        }
        before
    }

    /// The file in which the hash was met, if it is remembered.
    pub(crate) fn get(&self, hash: u64) -> Option<u32> {
        self.young
            .get(&hash)
            .or_else(|| self.old.get(&hash))
            .copied()
    }
}

/// A hash that is the same in every run of the program.
pub(crate) fn hash_of(parts: impl Hash) -> u64 {
    let mut hasher = Fold::default();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// A fast hash for long texts: eight bytes at a time, folded by a 128-bit multiplication. It need not
/// withstand an attacker: what is compared always has the same id, and agents do not choose those.
#[derive(Debug, Default)]
struct Fold(u64);

impl Fold {
    fn add(&mut self, word: u64) {
        let product = u128::from(self.0 ^ word ^ 0x9e37_79b9_7f4a_7c15)
            * u128::from(0xa076_1d64_78bd_642f_u64 ^ word.rotate_left(32));
        self.0 = (product as u64) ^ ((product >> 64) as u64) ^ self.0.rotate_left(23);
    }
}

impl Hasher for Fold {
    fn write(&mut self, bytes: &[u8]) {
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            self.add(u64::from_le_bytes(*word));
        }
        let mut last = [0; 8];
        for (to, from) in last.iter_mut().zip(tail) {
            *to = *from;
        }
        self.add(u64::from_le_bytes(last) ^ ((bytes.len() as u64) << 56));
    }

    fn write_u64(&mut self, word: u64) {
        self.add(word);
    }

    fn finish(&self) -> u64 {
        let product = u128::from(self.0) * u128::from(0xe703_7ed1_a0b4_28db_u64);
        (product as u64) ^ ((product >> 64) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn remembers_at_least_a_generation() {
        let mut seen = Seen::default();
        let total = GENERATION as u64 * 3;
        for hash in 0..total {
            assert_eq!(seen.insert(hash, 7), None);
        }
        assert!(seen.young.len() + seen.old.len() <= 2 * GENERATION);
        for hash in (total - GENERATION as u64)..total {
            assert_eq!(seen.insert(hash, 8), Some(7));
        }
        assert_eq!(seen.get(0), None);
    }

    #[test]
    fn hashes_tell_texts_apart() {
        assert_eq!(hash_of(("a", 1)), hash_of(("a", 1)));
        let mut hashes: Vec<u64> = (0..100_000).map(|n| hash_of(format!("text {n}"))).collect();
        let long = "x".repeat(4096);
        for at in 0..long.len() {
            let mut text = long.clone().into_bytes();
            text[at] = b'y';
            hashes.push(hash_of(text));
        }
        for length in 0..64 {
            hashes.push(hash_of("\0".repeat(length)));
        }
        hashes.push(hash_of(("ab", "c")));
        hashes.push(hash_of(("a", "bc")));
        let count = hashes.len();
        hashes.sort_unstable();
        hashes.dedup();
        assert_eq!(hashes.len(), count);
    }
}
