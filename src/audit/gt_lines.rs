//! The lines of the GT looked for in single files, whatever their size, encoding and padding.
//!
//! A file is streamed, and what equals a line of the GT is kept in order. So a file that was padded with
//! hundreds of megabytes costs the memory of its GT lines, and a NUL at its front hides nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use bstr::{BStr, BString, ByteSlice};

use crate::patch::diff::{diff, is_binary};
use crate::patch::model::{FilePatch, FileStatus, Hunk, Line, LineKind, Patch};
use crate::patch::worktree::encoding::{Encoding, encoding};
use crate::patch::worktree::padding;
use crate::similarity::distinctive::is_trivial;
use crate::similarity::finder::LineFinder;
use crate::similarity::normalise::squeeze;
use crate::similarity::prepare::squeezed_raw;

/// Lines of one GT file that another file must hold to count as a copy of it, as for files that can be judged
/// alone.
const MIN_LINES: usize = 8;

/// The part of a GT file that another file must hold: one in so many of its telling lines.
const PART: usize = 4;

/// Bytes of one file that are searched. The rest of a longer one is reported.
pub(super) const MAX_FILE_BYTES: u64 = 1 << 30;

/// Files up to this size are read as a whole, larger ones in a stream.
const SMALL: u64 = 4 << 20;

/// Bytes at the front of a larger file that are looked at for the encoding which it declares.
const HEAD: u64 = 4096;

/// The lines by which files of the GT can be told.
pub(super) struct GtLines {
    /// Every added line, telling or not.
    all: BTreeSet<String>,
    /// For each telling line, the files of the GT that add it.
    files_of: BTreeMap<String, Vec<usize>>,
    /// For each file, how many such lines it adds.
    sizes: Vec<usize>,
}

impl GtLines {
    pub(super) fn new(gt: &Patch) -> Self {
        let mut files_of: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        let mut sizes = vec![0; gt.files.len()];
        let mut all = BTreeSet::new();
        let known: BTreeSet<String> = gt
            .files
            .iter()
            .flat_map(|f| f.hunks.iter().flat_map(|h| &h.lines))
            .filter(|line| line.kind != LineKind::Added)
            .map(squeezed_raw)
            .collect();
        for (index, file) in gt.files.iter().enumerate() {
            let mut added: BTreeSet<String> = file.added().map(squeezed_raw).collect();
            all.extend(added.iter().filter(|line| !line.is_empty()).cloned());
            added.retain(|line| !known.contains(line) && !is_trivial(line));
            if let Some(size) = sizes.get_mut(index) {
                *size = added.len();
            }
            for line in added {
                files_of.entry(line).or_default().push(index);
            }
        }
        Self {
            all,
            files_of,
            sizes,
        }
    }

    /// True when no line tells anything.
    pub(super) fn is_empty(&self) -> bool {
        self.files_of.is_empty()
    }

    /// True for a line that tells something.
    pub(super) fn is_telling(&self, line: &str) -> bool {
        self.files_of.contains_key(line)
    }

    /// How many telling lines a file of the GT has.
    pub(super) fn size(&self, file: usize) -> usize {
        self.sizes.get(file).copied().unwrap_or(0)
    }

    /// The file of the GT of which these lines are a good part; of several, the one they have most of.
    pub(super) fn copy_of(&self, found: &BTreeSet<String>) -> Option<usize> {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        let files = found.iter().filter_map(|line| self.files_of.get(line));
        for file in files.flatten() {
            *counts.entry(*file).or_default() += 1;
        }
        counts
            .into_iter()
            .filter(|(file, count)| *count >= MIN_LINES && *count >= self.size(*file) / PART)
            .max_by_key(|(_, count)| *count)
            .map(|(file, _)| file)
    }
}

/// What a file holds of the GT.
#[derive(Default)]
pub(super) struct Seen {
    /// Its telling lines.
    pub(super) found: BTreeSet<String>,
    /// How many lines long enough to tell something it has, of the GT or not.
    pub(super) long_lines: u64,
    /// Only the first [`MAX_FILE_BYTES`] were read.
    pub(super) cut: bool,
    /// It declares an encoding that was not decoded.
    pub(super) undecoded: bool,
    /// Its lines of the GT as they stand, in order.
    kept: Vec<Vec<u8>>,
    /// The content in UTF-8, where it is small and text.
    content: Option<Vec<u8>>,
}

/// Reads files for the lines of a GT.
pub(super) struct Reader<'a> {
    pub(super) lines: &'a GtLines,
    finder: LineFinder<'a>,
}

impl<'a> Reader<'a> {
    pub(super) fn new(lines: &'a GtLines) -> Self {
        Self {
            lines,
            finder: LineFinder::keeping(&lines.all),
        }
    }

    /// Reads a regular file of so many bytes.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) fn read(&mut self, disk: &Path, size: u64) -> io::Result<Seen> {
        let mut file = File::open(disk)?;
        let mut seen = Seen::default();
        let mut head = Vec::new();
        let small = size <= SMALL;
        file.by_ref()
            .take(if small { SMALL } else { HEAD })
            .read_to_end(&mut head)?;
        let decoded = encoding(b"", &head);
        seen.undecoded = matches!(decoded, Encoding::Unknown(_));
        if small {
            if let Encoding::Decoded(text) = decoded {
                head = text;
            }
            self.finder.read(head.as_slice())?;
            let fits = padding::cost(&head) <= padding::MAX_COST;
            seen.content = (fits && !is_binary(&head)).then_some(head);
        } else {
            // Text in two or four bytes is read as it stands; what hides in ASCII is not.
            let wide = memchr::memchr(0, &head).is_some();
            seen.undecoded |= matches!(decoded, Encoding::Decoded(_)) && !wide;
            seen.cut = size > MAX_FILE_BYTES;
            let rest = padding::WithoutHoles(file.take(MAX_FILE_BYTES.saturating_sub(HEAD)));
            self.finder.read(head.as_slice().chain(rest))?;
        }
        seen.found = self.finder.take_found();
        seen.found.retain(|line| self.lines.is_telling(line));
        seen.kept = self.finder.take_kept();
        seen.long_lines = self.finder.take_telling();
        Ok(seen)
    }
}

impl Seen {
    /// True when most of the file is the GT's: it is no text that quotes it.
    pub(super) fn is_nothing_else(&self, lines: &GtLines) -> bool {
        let own = |line: &&Vec<u8>| lines.is_telling(&squeeze(&line.to_str_lossy()));
        let own = self.kept.iter().filter(own).count() as u64;
        own * 5 >= self.long_lines * 4
    }

    /// The hunks of a new file: all of its lines, or, of a large or binary one, those of the GT.
    pub(super) fn hunks(self) -> Vec<Hunk> {
        if let Some(content) = self.content {
            return diff(b"", &content);
        }
        let added = |text: Vec<u8>| Line {
            kind: LineKind::Added,
            text: text.into(),
            no_newline: false,
        };
        let lines: Vec<Line> = self.kept.into_iter().map(added).collect();
        let hunk = Hunk {
            old_start: 0,
            new_start: 1,
            lines,
        };
        Some(hunk)
            .filter(|hunk| !hunk.lines.is_empty())
            .into_iter()
            .collect()
    }

    /// The same as a new file. A large one is read again, for what is in it besides padding.
    pub(super) fn whole(mut self, path: &BStr, disk: &Path) -> FilePatch {
        if self.content.is_none()
            && let Ok(Some(content)) = padding::without_padding(disk)
            && !is_binary(&content)
        {
            self.content = Some(match encoding(b"", &content) {
                Encoding::Decoded(text) => text,
                _ => content,
            });
        }
        let text = self.content.is_some();
        let hunks = self.hunks();
        FilePatch {
            old_path: None,
            new_path: Some(path.to_owned()),
            status: FileStatus::Added,
            binary: !text && hunks.is_empty(),
            hunks,
        }
    }
}

/// Files of a patch that are binary or too large, read for lines of the GT.
#[derive(Default)]
pub(super) struct Reread {
    /// Those that could not be searched as a whole.
    pub(super) not_compared: BTreeSet<BString>,
    /// What was done, in words.
    pub(super) problems: Vec<String>,
}

/// Gives the files of `patch` that have no hunks, for their size or for bytes that are no text, those lines of
/// the GT that they hold. `unread` says where they are, `large` which of them are so for their size. A binary file
/// must be a copy; a few lines may be chance there.
pub(super) fn reread<'p>(
    patch: &mut Patch,
    unread: impl Fn(&BStr) -> Option<&'p Path>,
    large: &[BString],
    lines: &GtLines,
) -> Reread {
    let mut out = Reread::default();
    let mut reader = Reader::new(lines);
    let mut first: Option<BString> = None;
    let mut count = 0;
    for file in patch.files.iter_mut().filter(|file| file.binary) {
        let path = file.path().clone();
        let Some(disk) = unread(path.as_bstr()) else {
            continue;
        };
        let size = disk.symlink_metadata().map_or(0, |meta| meta.len());
        let Ok(seen) = reader.read(disk, size) else {
            out.not_compared.insert(path);
            continue;
        };
        if seen.cut || seen.undecoded {
            out.not_compared.insert(path.clone());
        }
        let is_text = large.contains(&path);
        let copied = lines.copy_of(&seen.found);
        if is_text && copied.is_none() {
            // Lines that were split or joined are not found one by one.
            out.not_compared.insert(path.clone());
        }
        if is_text && !seen.found.is_empty() || copied.is_some() {
            count += 1;
            first.get_or_insert(path);
            file.hunks = seen.hunks();
            file.binary = file.hunks.is_empty();
        }
    }
    if let Some(first) = first {
        out.problems.push(format!(
            "{count} files that are binary or too large hold lines of the ground truth, and are compared by those \
             lines alone (first: {first})"
        ));
    }
    out
}
