//! A bounded memory of what was there before.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Entries per generation. Two generations are kept, at about 24 bytes an entry.
const GENERATION: usize = 1 << 18;

/// Remembers the hashes of at least the last [`GENERATION`] things, each with the file in which it was
/// first met. Only ever asked for single entries, so the order of its maps shows nowhere.
#[derive(Debug, Default)]
pub(crate) struct Seen {
    young: HashMap<u64, u32>,
    old: HashMap<u64, u32>,
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
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
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
        assert_eq!(hash_of(("a", 1)), hash_of(("a", 1)));
    }
}
