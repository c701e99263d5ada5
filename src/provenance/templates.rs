//! Lines that a command makes of its own words in a loop that it spells out:
//! `for v in a b; do echo "${v}_id: \"$v\","; done > file`.
//!
//! Who types the pattern and the names has typed the lines, though no event holds one of them as a whole.

use std::collections::HashSet;

use super::changes::hash_of;
use crate::similarity::normalise::bare;

/// Longer commands hold enough of any line by chance.
const MAX_COMMAND: usize = 4096;

/// Characters of the pieces that are compared.
const PIECE: usize = 5;

/// Share of a line, in per cent, that stands in the command piece by piece.
const SHARE: usize = 70;

/// Shorter lines say nothing.
const MIN_LINE: usize = 12;

/// Characters of lines that are compared with one command.
const MAX_WORK: usize = 4 << 20;

/// What makes a command repeat something.
const LOOPS: [&str; 6] = ["for ", "while ", "seq ", "xargs", ".map(", ".forEach("];

/// The pieces of a command.
pub(super) struct Typed {
    pieces: HashSet<u64>,
    work: usize,
}

/// Letters and digits, lower case.
fn letters(text: &str) -> Vec<char> {
    bare(text).chars().collect()
}

fn hashes(letters: &[char]) -> impl Iterator<Item = u64> {
    letters
        .windows(PIECE)
        .map(|piece| hash_of(&piece.iter().collect::<String>()))
}

impl Typed {
    /// The pieces of a command with a loop.
    pub(super) fn of(command: &str) -> Option<Self> {
        let loops = command.len() <= MAX_COMMAND && LOOPS.iter().any(|word| command.contains(word));
        // `\n` and the like are no letters.
        let plain = || command.replace(r"\n", " ").replace(r"\t", " ");
        loops.then(|| Self {
            pieces: hashes(&letters(&plain())).collect(),
            work: 0,
        })
    }

    /// The command makes that line: most of it stands there piece by piece.
    pub(super) fn makes(&mut self, line: &str) -> bool {
        self.work = self.work.saturating_add(line.len());
        if self.work > MAX_WORK {
            return false;
        }
        let letters = letters(line);
        let mut covered = vec![false; letters.len()];
        for (at, hash) in hashes(&letters).enumerate() {
            if self.pieces.contains(&hash) {
                covered
                    .iter_mut()
                    .skip(at)
                    .take(PIECE)
                    .for_each(|c| *c = true);
            }
        }
        let count = covered.iter().filter(|c| **c).count();
        letters.len() >= MIN_LINE && count * 100 >= letters.len() * SHARE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_loop() {
        let command = "python3 - <<'E'\nnames='alpha beta gamma'.split()\nbody=''.join(f'  {v}Address: \\\"{v.title()} delivery address\\\",\\n' for v in names)\nopen('labels.ts','w').write(body)\nE";
        let mut typed = Typed::of(command).unwrap();
        for (line, want) in [
            ("  alphaAddress: \"Alpha delivery address\",", true),
            ("  betaAddress: \"Beta delivery address\",", true),
            (
                "  const kept = order.alphaAddress ?? fallback(order);",
                false,
            ),
            ("}", false),
        ] {
            assert_eq!(typed.makes(line), want, "{line}");
        }
        assert!(Typed::of("cp a b").is_none());
        assert!(Typed::of(&"for x ".repeat(1000)).is_none());
    }
}
