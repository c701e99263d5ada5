//! What can be wrong with a trace. Every problem is counted, none aborts, each keeps a trace from
//! being called complete.

use serde::{Deserialize, Serialize};

/// A kind of problem. Kinds are few, so the list of a file is short however broken the file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Problem {
    /// The file has no bytes.
    Empty,
    /// A directory, a pipe, a device.
    NotAFile,
    /// Compressed or binary; the name of what it is.
    Container(&'static str),
    /// Compressed data that cannot be unpacked; its kind.
    Damaged(&'static str),
    /// Compressed data that expands beyond all measure.
    Bomb,
    /// An entry of an archive that is encrypted or packed in a way that is not read.
    SealedEntry,
    /// Reading stopped with an error of the operating system.
    ReadError,
    /// Starts with, or holds, a byte order mark.
    ByteOrderMark,
    /// UTF-16: somebody converted the file.
    Utf16,
    /// Lines end in CR LF: somebody converted the file.
    CrLf,
    /// Zero bytes between records (a log that was truncated while it was written).
    NulBytes,
    /// Bytes that are no UTF-8.
    NotUtf8,
    /// JSON that a strict parser refuses: lone surrogates, raw control characters, `NaN`.
    Mended,
    /// Nested too deep.
    TooDeep,
    /// Plain text where a record should be.
    TextLine,
    /// A number, string, `true`, `false` or `null` where a record should be.
    BareScalar,
    /// Starts like a record and does not parse.
    Broken,
    /// The file ends inside a record.
    CutShort,
    /// Longer than the cap.
    TooLong,
    /// The array around the records has no end.
    OpenArray,
    /// A report of this program.
    OwnReport,
    /// A record of no known format.
    UnknownFormat,
    /// A record of a known format, of a kind that this version does not know.
    UnknownRecord,
    /// The same record again.
    Repeated,
    /// A record that is older than the one before it.
    OutOfOrder,
    /// A document whose format shows only at its end was read as another.
    ToldLate,
    /// The record says which record came before it, and that one is not in the file.
    MissingParent,
    /// The session goes on from an earlier one, whose steps the file does not hold.
    Continues,
    /// The format is read after descriptions of it; its name.
    Experimental(&'static str),
    /// More calls open at a time than are kept.
    TooManyOpen,
}

/// [`Problem::Continues`] in words.
const CONTINUES: &str = "the session goes on from an earlier one, whose steps are not in the file";

impl Problem {
    /// The problem in words, for people.
    pub(crate) fn words(self) -> String {
        match self {
            Self::Empty => "the file is empty (0 bytes)".into(),
            Self::NotAFile => "this is no regular file".into(),
            Self::Container(name) => {
                format!("this is {name}, which this version does not read; unpack it first")
            }
            Self::Damaged(name) => {
                format!("damaged or cut {name} data; what stands behind the damage was not read")
            }
            Self::Bomb => format!(
                "it expands to more than {} times its size; the rest was not read",
                super::container::MAX_RATIO
            ),
            Self::SealedEntry => {
                "an entry of the archive is encrypted or packed in a way that is not read".into()
            }
            Self::ReadError => "reading stopped with an error".into(),
            Self::ByteOrderMark => "byte order mark; the file was converted".into(),
            Self::Utf16 => "UTF-16; the file was converted".into(),
            Self::CrLf => "lines end in CR LF; the file was converted".into(),
            Self::NulBytes => "zero bytes between records".into(),
            Self::NotUtf8 => "bytes that are not UTF-8, read as U+FFFD".into(),
            Self::Mended => {
                "invalid JSON that could be mended (lone surrogate, control character, NaN)".into()
            }
            Self::TooDeep => format!(
                "nested deeper than {} levels; the deep part is read as text",
                super::mend::MAX_NESTING
            ),
            Self::TextLine => "text that is no JSON record".into(),
            Self::BareScalar => "a bare value that is no record".into(),
            Self::Broken => "a record that does not parse".into(),
            Self::CutShort => "the file ends inside a record".into(),
            Self::TooLong => format!(
                "a record longer than {} MiB, skipped",
                super::reader::MAX_RECORD >> 20
            ),
            Self::OpenArray => "the array around the records has no end".into(),
            Self::OwnReport => "a report that trace-audit wrote, which is no evidence".into(),
            Self::UnknownFormat => "a JSON record of no known format".into(),
            Self::UnknownRecord => "a record of a kind that this version does not know".into(),
            Self::Repeated => "a record that was there before".into(),
            Self::OutOfOrder => "a record that is older than the one before it".into(),
            Self::ToldLate => {
                "a document whose format shows only at its end was read as another; name the file instead of piping it"
                    .into()
            }
            Self::MissingParent => "a record whose predecessor is not in the file".into(),
            Self::Continues => CONTINUES.into(),
            Self::Experimental(name) => format!(
                "the format {name} is experimental: no real log was there to check its reading against"
            ),
            Self::TooManyOpen => format!(
                "more than {} calls without a result at a time",
                super::open_calls::MAX_OPEN_CALLS
            ),
        }
    }
}

/// One kind of problem in one file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceProblem {
    /// 1-based line where it was first met; 0 when it is about the whole file.
    pub line: u64,
    /// What is wrong, in words.
    pub what: String,
    /// How often it was met.
    pub count: u64,
}

impl TraceProblem {
    /// What the agent did before the first record of the file is not known.
    pub(crate) fn is_continuation(&self) -> bool {
        self.what == CONTINUES
    }
}

/// The problems of one file, by kind, in the order in which they were first met.
#[derive(Debug, Clone, Default)]
pub(crate) struct Problems {
    kinds: Vec<(Problem, u64, u64)>,
}

impl Problems {
    /// Counts one problem.
    pub(crate) fn add(&mut self, problem: Problem, line: u64) {
        match self.kinds.iter_mut().find(|(kind, ..)| *kind == problem) {
            Some((_, _, count)) => *count += 1,
            None => self.kinds.push((problem, line, 1)),
        }
    }

    /// The list for the report.
    pub(crate) fn list(&self) -> Vec<TraceProblem> {
        self.kinds
            .iter()
            .map(|(kind, line, count)| TraceProblem {
                line: *line,
                what: kind.words(),
                count: *count,
            })
            .collect()
    }
}
