//! Facts in files: what a shard writes and `merge` reads.
//!
//! JSON lines. The first line says which version and rules made the facts, which part of how many
//! this is, and how many entries follow; each further line is one [`Entry`]. A file with fewer entries
//! than announced was cut short and is refused, and so are files of different versions or rules: facts
//! that were not made alike cannot be judged together.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::entry::{Entry, EntryHead, OrderKey};
use super::evaluator::Vote;
use super::plan::Shard;
use crate::audit::FACTS_SCHEMA;
use crate::experiment::guarded;
use crate::experiment::wording::show;
use crate::{Error, Result, stored};

/// Longest line that is read, in bytes.
const MAX_LINE: u64 = 256 << 20;

/// The first line of a file of facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Header {
    /// Always [`FACTS_SCHEMA`].
    pub schema: String,
    /// Version of the program.
    pub version: String,
    /// SHA-256 over the rules, hexadecimal.
    pub rules_digest: String,
    /// Which part; `None` for all runs.
    pub shard: Option<Shard>,
    /// Entries that follow.
    pub runs: usize,
}

impl Header {
    /// The header of facts made by this program.
    pub fn new(rules_digest: &str, shard: Option<Shard>, runs: usize) -> Self {
        Self {
            schema: FACTS_SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            rules_digest: rules_digest.to_owned(),
            shard,
            runs,
        }
    }

    /// Writes the line.
    ///
    /// # Errors
    /// What the stream says.
    pub fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        out.write_all(b"\n")
    }
}

/// Writes one entry as a line.
///
/// # Errors
/// What the stream says.
pub fn write_entry(entry: &Entry, out: &mut dyn Write) -> io::Result<()> {
    stored::whole(|| serde_json::to_writer(&mut *out, entry))?;
    out.write_all(b"\n")
}

/// Files of facts, read together.
#[derive(Debug)]
pub struct Facts {
    files: Vec<(PathBuf, BufReader<File>)>,
    /// Where each entry stands, in order: file, offset, length.
    places: Vec<(usize, u64, u64)>,
    /// Digest of the rules that made them.
    pub rules_digest: String,
    /// What a person should know, in words.
    pub notes: Vec<String>,
}

/// Of an entry, what its place in the order depends on.
#[derive(Deserialize)]
struct HeadOnly {
    head: EntryHead,
}

impl Facts {
    /// Opens the files and puts their entries in order.
    ///
    /// # Errors
    /// When a file is missing, cut short, broken or made otherwise than the first, and when two of them
    /// hold the same run.
    pub fn open(paths: &[PathBuf], passing_first: bool) -> Result<Self> {
        let mut this = Self {
            files: Vec::new(),
            places: Vec::new(),
            rules_digest: String::new(),
            notes: Vec::new(),
        };
        let mut headers: Vec<Header> = Vec::new();
        let mut heads: Vec<(EntryHead, (usize, u64, u64))> = Vec::new();
        for path in paths {
            let (header, mut reader, mut offset) = open(path)?;
            if let Some(first) = headers.first() {
                check_alike(path, first, &header)?;
            }
            let number = this.files.len();
            for at in 0..header.runs {
                let line = line(&mut reader, path)?;
                let length = line.len() as u64;
                if !line.ends_with(b"\n") {
                    return Err(cut_short(path, at, header.runs));
                }
                let entry: HeadOnly = parse(&line, path, at)?;
                heads.push((entry.head, (number, offset, length)));
                offset += length;
            }
            if !line(&mut reader, path)?.is_empty() {
                return Err(broken(
                    path,
                    header.runs as u64 + 2,
                    "more entries than announced",
                ));
            }
            this.files.push((path.clone(), reader));
            headers.push(header);
        }
        this.rules_digest = headers
            .first()
            .map(|h| h.rules_digest.clone())
            .unwrap_or_default();
        this.notes = missing_shards(&headers);
        check_unique(paths, &heads)?;
        let passing: BTreeSet<Option<String>> = heads
            .iter()
            .filter(|(head, _)| passing_first && head.evaluation.vote() == Vote::Pass)
            .map(|(head, _)| head.task.clone())
            .collect();
        heads.sort_by_cached_key(|(head, _)| OrderKey::new(head, &passing));
        this.places = heads.into_iter().map(|(_, place)| place).collect();
        Ok(this)
    }

    /// Reads the entries in order, one at a time.
    ///
    /// # Errors
    /// When an entry cannot be read; otherwise the first error of `each`.
    pub fn each(
        &mut self,
        each: &mut dyn FnMut(Entry) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        for (file, offset, length) in std::mem::take(&mut self.places) {
            let Some((path, reader)) = self.files.get_mut(file) else {
                continue;
            };
            let mut bytes = Vec::new();
            reader
                .seek(SeekFrom::Start(offset))
                .and_then(|_| reader.take(length).read_to_end(&mut bytes))
                .map_err(|e| Error::io(path.as_path(), e))?;
            each(parse(&bytes, path, usize::MAX)?)?;
        }
        Ok(())
    }
}

/// Opens a file and reads its header; returns the offset after it.
fn open(path: &Path) -> Result<(Header, BufReader<File>, u64)> {
    let fix = "name a file that `sweep --shard I/N -o FILE` wrote";
    guarded::check_named_file(path, fix)?;
    let file = File::open(path).map_err(|e| guarded::unreadable(path, &e, fix))?;
    let mut reader = BufReader::new(file);
    let line = line(&mut reader, path)?;
    let no_facts = || Error::BadData {
        path: path.to_owned(),
        line: Some(1),
        what: "this is no file of facts".to_owned(),
        fix: fix.to_owned(),
    };
    let value: serde_json::Value = serde_json::from_slice(&line).map_err(|_| no_facts())?;
    match value.get("schema").and_then(serde_json::Value::as_str) {
        Some(FACTS_SCHEMA) => {}
        Some(other) if other.starts_with("trace-audit-facts/") => {
            return Err(Error::BadData {
                path: path.to_owned(),
                line: Some(1),
                what: format!(
                    "facts of another form ({}; this program reads {FACTS_SCHEMA})",
                    show(other)
                ),
                fix: "make all shards, and merge them, with one version of trace-audit".to_owned(),
            });
        }
        _ => return Err(no_facts()),
    }
    let header: Header = serde_json::from_value(value).map_err(|_| no_facts())?;
    Ok((header, reader, line.len() as u64))
}

/// One line with its end; empty at the end of the file.
fn line(reader: &mut BufReader<File>, path: &Path) -> Result<Vec<u8>> {
    let mut line = Vec::new();
    reader
        .take(MAX_LINE)
        .read_until(b'\n', &mut line)
        .map_err(|e| Error::io(path, e))?;
    Ok(line)
}

fn parse<T: for<'de> Deserialize<'de>>(line: &[u8], path: &Path, at: usize) -> Result<T> {
    serde_json::from_slice(line).map_err(|e| {
        broken(
            path,
            at.saturating_add(2) as u64,
            &format!("an entry that cannot be read ({e})"),
        )
    })
}

fn broken(path: &Path, line: u64, what: &str) -> Error {
    Error::BadData {
        path: path.to_owned(),
        line: (line < usize::MAX as u64).then_some(line),
        what: what.to_owned(),
        fix: "run this shard again".to_owned(),
    }
}

fn cut_short(path: &Path, found: usize, runs: usize) -> Error {
    Error::BadData {
        path: path.to_owned(),
        line: None,
        what: format!("cut short: {found} of {runs} runs are in it"),
        fix: "run this shard again; with its cache it goes on where it stopped".to_owned(),
    }
}

fn check_alike(path: &Path, first: &Header, header: &Header) -> Result<()> {
    let other = if first.version != header.version {
        format!(
            "version {} instead of {}",
            show(&header.version),
            show(&first.version)
        )
    } else if first.rules_digest != header.rules_digest {
        "other rules than the first file".to_owned()
    } else {
        return Ok(());
    };
    Err(Error::BadData {
        path: path.to_owned(),
        line: Some(1),
        what: format!("made with {other}"),
        fix: "make all shards with the same version of trace-audit and the same rules".to_owned(),
    })
}

/// Refuses a run that stands in the files twice: it would count twice.
fn check_unique(paths: &[PathBuf], heads: &[(EntryHead, (usize, u64, u64))]) -> Result<()> {
    let mut seen: BTreeMap<&str, usize> = BTreeMap::new();
    for (head, (file, ..)) in heads {
        if let Some(first) = seen.insert(&head.path, *file) {
            let name = |file: usize| paths.get(file).cloned().unwrap_or_default();
            return Err(Error::BadData {
                path: name(*file),
                line: None,
                what: format!(
                    "the run {} stands in {}, too",
                    show(&head.path),
                    name(first).display()
                ),
                fix: "name each shard once".to_owned(),
            });
        }
    }
    Ok(())
}

/// Says which parts of the whole were not named.
fn missing_shards(headers: &[Header]) -> Vec<String> {
    let there: BTreeSet<(u32, u32)> = headers
        .iter()
        .filter_map(|h| h.shard)
        .map(|shard| (shard.count, shard.index))
        .collect();
    let counts: BTreeSet<u32> = there.iter().map(|(count, _)| *count).collect();
    let mut notes = Vec::new();
    if counts.len() > 1 {
        notes.push("the files are parts of different divisions".to_owned());
    }
    for count in counts {
        // Most of a large number of parts cannot be named; how many are missing can.
        let found = there.iter().filter(|(of, _)| *of == count).count() as u64;
        let missing = u64::from(count) - found;
        if missing > 0 {
            let first = (1..=count).find(|index| !there.contains(&(count, *index)));
            notes.push(format!(
                "{missing} of {count} parts are missing (the first: {}/{count}); the sums are of the others only",
                first.unwrap_or(0)
            ));
        }
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sweep::testing::entry;

    fn file(dir: &Path, name: &str, header: &Header, runs: &[&str]) -> PathBuf {
        let mut bytes = Vec::new();
        header.write(&mut bytes).unwrap();
        for run in runs {
            write_entry(&entry(run, "codex-1", 20, 0..7, 0..3), &mut bytes).unwrap();
        }
        let path = dir.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    fn names(paths: &[PathBuf]) -> Vec<String> {
        let mut names = Vec::new();
        let mut facts = Facts::open(paths, false).unwrap();
        let mut each = |entry: Entry| {
            names.push(entry.head.run.clone());
            assert_eq!(entry.facts().unwrap().prints.shared.as_slice().len(), 7);
            Ok(())
        };
        facts.each(&mut each).unwrap();
        names
    }

    #[test]
    fn entries_of_all_files_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let part = |index, runs| Header::new("r", Some(Shard { index, count: 2 }), runs);
        let a = file(dir.path(), "a", &part(1, 2), &["T1-x", "T3-x"]);
        let b = file(dir.path(), "b", &part(2, 1), &["T2-x\n\u{1b}"]);
        assert_eq!(
            names(&[a.clone(), b.clone()]),
            ["T1-x", "T2-x\n\u{1b}", "T3-x"]
        );
        assert_eq!(names(&[b, a.clone()]), ["T1-x", "T2-x\n\u{1b}", "T3-x"]);
        let facts = Facts::open(&[a], false).unwrap();
        assert!(facts.notes[0].contains("1 of 2 parts are missing (the first: 2/2)"));
    }

    #[test]
    fn what_does_not_belong_together_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let d = dir.path();
        let good = file(d, "good", &Header::new("r", None, 1), &["T1-x"]);
        let whole = std::fs::read(&good).unwrap();
        std::fs::write(d.join("cut"), &whole[..whole.len() - 1]).unwrap();
        std::fs::write(d.join("text"), "hello\n").unwrap();
        std::fs::write(d.join("empty"), "").unwrap();
        std::fs::write(d.join("report"), "{\"schema\":\"trace-audit/1\"}\n").unwrap();
        let mut later = Header::new("r", None, 0);
        later.schema = "trace-audit-facts/99".into();
        file(d, "later", &later, &[]);
        file(d, "rules", &Header::new("s", None, 1), &["T2-x"]);
        file(d, "few", &Header::new("r", None, 2), &["T2-x"]);
        file(d, "many", &Header::new("r", None, 0), &["T2-x"]);
        for (name, words) in [
            ("cut", "cut short: 0 of 1"),
            ("few", "cut short: 1 of 2"),
            ("many", "more entries than announced"),
            ("text", "no file of facts"),
            ("empty", "no file of facts"),
            ("report", "no file of facts"),
            ("later", "another form"),
            ("rules", "other rules"),
            ("good", "stands in"),
            ("absent", "no such file"),
        ] {
            let error = Facts::open(&[good.clone(), d.join(name)], false).unwrap_err();
            assert!(error.to_string().contains(words), "{name}: {error}");
        }
    }
}
