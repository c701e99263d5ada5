//! Fingerprints of a run, by which runs are compared with each other.
//!
//! Judging many runs together asks who else wrote the same line, whose patch holds whose answer,
//! which file every run has though nobody wrote it. For that it is enough to know a line by its hash:
//! 48 bits of SHA-256 over the squeezed text, the same on every machine. What of the patch is kept is
//! bounded; the limits are named here.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use crate::provenance::AddedFile;
use crate::provenance::model::Provenance;
use crate::similarity::model::DistinctiveLine;
use crate::similarity::normalise::squeeze;

/// Lines of the patch whose hashes are kept: the smallest ones, which is a fair sample.
pub const MAX_SKETCH: usize = 2_048;

/// Characters, without white space, from which on a line of the patch tells something.
pub const MIN_CHARS: usize = 16;

/// Files of the patch that are kept, the first ones by path.
pub const MAX_FILES: usize = 2_000;

/// A line by its hash: 48 bits.
pub type LineHash = u64;

/// Bytes of the digest that are kept.
const HASH_BYTES: usize = 6;

/// The hash of a squeezed line.
pub fn line_hash(squeezed: &str) -> LineHash {
    let digest = Sha256::digest(squeezed.as_bytes());
    let kept = digest.iter().take(HASH_BYTES);
    kept.fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// What other runs are compared with.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prints {
    /// The distinctive lines of the GT, sorted.
    pub gt: Hashes,
    /// Those that stand in the patch.
    pub shared: Hashes,
    /// Of those, the ones that the agent wrote before any output showed them.
    pub typed: Hashes,
    /// The smallest [`MAX_SKETCH`] hashes of the lines that the agent added and that stand neither
    /// in the base nor in the prompt, of at least [`MIN_CHARS`] characters.
    pub sketch: Hashes,
    /// How many such lines there are.
    pub lines: u64,
    /// The files of the patch, by path; at most [`MAX_FILES`].
    pub files: Vec<FilePrint>,
}

/// A file of the patch.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePrint {
    /// Path relative to the run.
    pub path: String,
    /// Hash over its added lines.
    pub lines: LineHash,
    /// The trace shows a call that wrote it, or may have.
    pub written: bool,
}

impl Prints {
    /// The prints of a run. `gt` are the distinctive lines of its GT, `added` what its patch adds.
    pub(super) fn new(
        gt: &[DistinctiveLine],
        added: &[AddedFile],
        prompt: Option<&str>,
        provenance: Option<&Provenance>,
    ) -> Self {
        let hashes: Vec<LineHash> = gt.iter().map(|line| line_hash(&line.squeezed)).collect();
        let typed = provenance.into_iter().flat_map(|p| &p.typed_lines);
        let shared = gt.iter().zip(&hashes).filter(|(line, _)| line.shared);
        let (sketch, lines) = sketch(added, prompt);
        Self {
            shared: shared.map(|(_, hash)| *hash).collect(),
            typed: typed
                .filter_map(|at| hashes.get(*at as usize).copied())
                .collect(),
            gt: hashes.into_iter().collect(),
            sketch,
            lines,
            files: files(added, provenance),
        }
    }
}

/// The smallest hashes of the agent's own lines, and how many lines there are.
fn sketch(added: &[AddedFile], prompt: Option<&str>) -> (Hashes, u64) {
    let prompt: HashSet<String> = prompt
        .into_iter()
        .flat_map(str::lines)
        .map(squeeze)
        .collect();
    let own: BTreeSet<LineHash> = added
        .iter()
        .filter(|file| !file.generated)
        .flat_map(|file| &file.lines)
        .filter(|line| !line.starter && line.text.chars().nth(MIN_CHARS - 1).is_some())
        .filter(|line| !prompt.contains(&line.text))
        .map(|line| line_hash(&line.text))
        .collect();
    let count = own.len() as u64;
    (own.into_iter().take(MAX_SKETCH).collect(), count)
}

fn files(added: &[AddedFile], provenance: Option<&Provenance>) -> Vec<FilePrint> {
    let mut unwritten = BTreeSet::new();
    let mut traced = false;
    if let Some(provenance) = provenance {
        traced = provenance.ledger.is_some();
        let orphans = provenance.unseen.iter().filter(|u| u.event.is_none());
        unwritten.extend(orphans.map(|u| u.path.as_str()));
        for path in &provenance.written_paths {
            unwritten.remove(path.as_str());
        }
    }
    let by_path: BTreeMap<&str, &AddedFile> = added.iter().map(|f| (f.path.as_str(), f)).collect();
    by_path
        .into_iter()
        .filter(|(_, file)| !file.lines.is_empty())
        .take(MAX_FILES)
        .map(|(path, file)| {
            let mut text = String::new();
            for line in &file.lines {
                text.push_str(&line.text);
                text.push('\n');
            }
            FilePrint {
                lines: line_hash(&text),
                written: traced && !unwritten.contains(path),
                path: path.to_owned(),
            }
        })
        .collect()
}

/// A sorted set of line hashes, stored as one string of hexadecimal digits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hashes(Vec<LineHash>);

impl Hashes {
    /// The hashes, sorted, without repeats.
    pub fn as_slice(&self) -> &[LineHash] {
        &self.0
    }

    /// Whether the set has it.
    pub fn contains(&self, hash: LineHash) -> bool {
        self.0.binary_search(&hash).is_ok()
    }
}

impl FromIterator<LineHash> for Hashes {
    fn from_iter<I: IntoIterator<Item = LineHash>>(hashes: I) -> Self {
        let mut hashes: Vec<_> = hashes.into_iter().collect();
        hashes.sort_unstable();
        hashes.dedup();
        Self(hashes)
    }
}

impl Serialize for Hashes {
    fn serialize<S: serde::Serializer>(&self, s: S) -> Result<S::Ok, S::Error> {
        use std::fmt::Write as _;
        let mut text = String::with_capacity(self.0.len() * HASH_BYTES * 2);
        for hash in &self.0 {
            // Writing to a String cannot fail.
            let _ = write!(text, "{hash:012x}");
        }
        s.serialize_str(&text)
    }
}

impl<'de> Deserialize<'de> for Hashes {
    fn deserialize<D: serde::Deserializer<'de>>(d: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(d)?;
        let digits = text.as_bytes().chunks(HASH_BYTES * 2);
        let hash = |chunk: &[u8]| {
            let digits = chunk.len() == HASH_BYTES * 2 && chunk.iter().all(u8::is_ascii_hexdigit);
            let text = std::str::from_utf8(chunk).ok().filter(|_| digits)?;
            LineHash::from_str_radix(text, 16).ok()
        };
        let hashes: Option<Self> = digits.map(hash).collect();
        hashes.ok_or_else(|| serde::de::Error::custom("line hashes are 12 digits each"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::AddedLine;
    use crate::provenance::model::UnseenLines;

    fn file(path: &str, lines: &[(&str, bool)]) -> AddedFile {
        AddedFile {
            path: path.into(),
            generated: false,
            around: Vec::new(),
            lines: lines
                .iter()
                .map(|(text, starter)| AddedLine {
                    text: (*text).into(),
                    starter: *starter,
                })
                .collect(),
        }
    }

    #[test]
    fn hashes_survive_storing() {
        for hashes in [vec![], vec![0], vec![0xffff_ffff_ffff, 7, 7, 1]] {
            let set: Hashes = hashes.into_iter().collect();
            let text = serde_json::to_string(&set).unwrap();
            assert_eq!(serde_json::from_str::<Hashes>(&text).unwrap(), set);
        }
        for broken in [
            r#""12""#,
            r#""zzzzzzzzzzzz""#,
            r#""+00000000001""#,
            "7",
            r#""é0000000000""#,
        ] {
            assert!(serde_json::from_str::<Hashes>(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_sketch_holds_what_is_the_agents_own() {
        let added = [file(
            "a.py",
            &[
                ("returnself.total_of_all", false),
                ("returnself.total_of_all", false),
                ("return1", false),
                ("standsinthestartertree", true),
                ("standsinthepromptitself", false),
            ],
        )];
        let (sketch, lines) = sketch(&added, Some("x\nstands in the prompt itself\n"));
        assert_eq!((sketch.as_slice().len(), lines), (1, 1));
        assert!(sketch.contains(line_hash("returnself.total_of_all")));
    }

    #[test]
    fn a_file_without_a_writer() {
        let added = [
            file("a", &[("x", false)]),
            file("b", &[("x", false)]),
            file("c", &[]),
        ];
        let mut p = Provenance {
            ledger: Some(Default::default()),
            unseen: ["a", "b"]
                .map(|path| UnseenLines {
                    gt_lines: 0,
                    imported: false,
                    path: path.into(),
                    lines: 1,
                    event: None,
                    file: 0,
                    line: None,
                    command: None,
                })
                .into(),
            written_paths: vec!["b".into()],
            ..Provenance::default()
        };
        let written = |p: &Provenance| -> Vec<_> {
            files(&added, Some(p))
                .iter()
                .map(|f| (f.path.clone(), f.written))
                .collect()
        };
        assert_eq!(
            written(&p),
            [("a".to_owned(), false), ("b".to_owned(), true)]
        );
        p.ledger = None;
        assert_eq!(
            written(&p),
            [("a".to_owned(), false), ("b".to_owned(), false)]
        );
    }
}
