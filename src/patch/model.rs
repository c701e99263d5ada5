//! A change to a tree: files, hunks, lines, as bytes.

use bstr::BString;
use serde::{Deserialize, Serialize};

/// What happened to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// New file.
    Added,
    /// Changed content.
    Modified,
    /// Removed file.
    Deleted,
    /// Moved, perhaps with changes.
    Renamed,
    /// Copied from another file, perhaps with changes.
    Copied,
    /// Only the file mode changed.
    ModeOnly,
}

/// What a line of a hunk is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LineKind {
    /// In both versions.
    Context,
    /// Only in the new version.
    Added,
    /// Only in the old version.
    Removed,
}

/// One line of a hunk, without its prefix and line feed (a carriage return stays).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// Context, added or removed.
    pub kind: LineKind,
    /// The bytes.
    pub text: BString,
    /// The line is the last of its file and has no line feed.
    pub no_newline: bool,
}

/// A run of changed lines with their context.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hunk {
    /// 1-based first line in the old version (0 for an empty file).
    pub old_start: u32,
    /// 1-based first line in the new version (0 for an empty file).
    pub new_start: u32,
    /// The lines in order.
    pub lines: Vec<Line>,
}

/// The change to one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePatch {
    /// Path before; `None` for a new file.
    pub old_path: Option<BString>,
    /// Path after; `None` for a deleted file.
    pub new_path: Option<BString>,
    /// What happened.
    pub status: FileStatus,
    /// The content is binary; there are no hunks.
    pub binary: bool,
    /// Changed runs, in order.
    pub hunks: Vec<Hunk>,
}

impl FilePatch {
    /// The path to call the file by: the new one, or the old one of a deleted file.
    pub fn path(&self) -> &BString {
        static NONE: std::sync::LazyLock<BString> = std::sync::LazyLock::new(BString::default);
        self.new_path
            .as_ref()
            .or(self.old_path.as_ref())
            .unwrap_or(&NONE)
    }

    /// All lines of one kind, in order.
    pub fn lines_of(&self, kind: LineKind) -> impl Iterator<Item = &Line> {
        self.hunks
            .iter()
            .flat_map(|h| h.lines.iter())
            .filter(move |l| l.kind == kind)
    }

    /// The added lines, in order.
    pub fn added(&self) -> impl Iterator<Item = &Line> {
        self.lines_of(LineKind::Added)
    }
}

/// Something in a patch that could not be read as it stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PatchProblem {
    /// 1-based line of the patch text, 0 when it is about the whole.
    pub line: u64,
    /// What was found and what was done about it.
    pub what: String,
    /// Lines that it adds or removes may be left out.
    pub loses_lines: bool,
}

/// A change to a tree.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Patch {
    /// The files, in the order of the patch; sorted by path when made from a work tree.
    pub files: Vec<FilePatch>,
    /// What could not be read and was left out or mended.
    pub problems: Vec<PatchProblem>,
}
