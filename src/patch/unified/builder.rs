//! One file of a diff under construction: what its header lines say, and which path and status follow.

use bstr::BString;

use super::super::cursor::trim_cr;
use super::super::hunk::HunkHeader;
use super::super::model::{FilePatch, FileStatus, Hunk};
use super::super::names::{self, Side};

/// Which header a file came with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    Git,
    Merge,
    Plain,
}

/// A file under construction.
#[derive(Debug)]
pub(super) struct Builder {
    pub(super) kind: Form,
    /// Still between the file's first line and its first hunk.
    pub(super) header: bool,
    /// All lines since the last hunk look like lines of one.
    pub(super) after_hunk: bool,
    /// The last hunk broke off, so that its rest and further hunks may follow.
    pub(super) broken: bool,
    /// The path that the `diff` line alone gives.
    pub(super) path: Option<BString>,
    /// The text of the `diff` line, for when nothing else names the file.
    pub(super) names_text: BString,
    pub(super) names: Option<(Side, Side)>,
    pub(super) from: Option<BString>,
    pub(super) to: Option<BString>,
    pub(super) status: Option<FileStatus>,
    pub(super) mode_changed: bool,
    pub(super) binary: bool,
    pub(super) crlf: bool,
    pub(super) old_epoch: bool,
    pub(super) new_epoch: bool,
    /// The first hunk has no old or no new lines.
    pub(super) first_counts: Option<(u32, u32)>,
    pub(super) hunks: Vec<Hunk>,
}

impl Builder {
    pub(super) fn plain() -> Self {
        Self {
            kind: Form::Plain,
            header: true,
            after_hunk: false,
            broken: false,
            path: None,
            names_text: BString::default(),
            names: None,
            from: None,
            to: None,
            status: None,
            mode_changed: false,
            binary: false,
            crlf: false,
            old_epoch: false,
            new_epoch: false,
            first_counts: None,
            hunks: Vec::new(),
        }
    }

    pub(super) fn git(names: &[u8]) -> Self {
        let names = trim_cr(names);
        Self {
            kind: Form::Git,
            path: names::header_path(names),
            names_text: names.into(),
            ..Self::plain()
        }
    }

    pub(super) fn merge(name: &[u8]) -> Self {
        let name = trim_cr(name);
        let path = names::unquote(name).map_or_else(|| name.into(), |(n, _)| n);
        Self {
            kind: Form::Merge,
            path: Some(path),
            ..Self::plain()
        }
    }

    pub(super) fn takes_hunks(&self) -> bool {
        self.header || self.after_hunk || self.broken
    }

    pub(super) fn push(&mut self, hunk: Hunk, header: HunkHeader) {
        self.header = false;
        self.after_hunk = true;
        self.first_counts
            .get_or_insert((header.old_count, header.new_count));
        self.hunks.push(hunk);
    }

    /// A header of git that is followed by neither hunks nor anything else that is a change. Files that are
    /// created or deleted empty are one.
    pub(super) fn says_nothing(&self) -> bool {
        let change = self.binary || self.mode_changed || self.status.is_some();
        self.kind == Form::Git && !change && self.hunks.is_empty()
    }

    pub(super) fn finish(self) -> FilePatch {
        let status = self.status();
        let (old, new) = self.paths();
        FilePatch {
            old_path: (status != FileStatus::Added).then_some(old),
            new_path: (status != FileStatus::Deleted).then_some(new),
            status,
            // Whoever writes both wants the text overlooked.
            binary: self.binary && self.hunks.is_empty(),
            hunks: self.hunks,
        }
    }

    fn status(&self) -> FileStatus {
        if let Some(status) = self.status {
            return status;
        }
        let plain = self.kind == Form::Plain;
        let (old_count, new_count) = self.first_counts.unwrap_or((1, 1));
        let gone = |side: &Side, epoch: bool, count: u32| {
            *side == Side::Absent || (plain && epoch && count == 0)
        };
        match &self.names {
            Some((old, new)) if gone(old, self.old_epoch, old_count) && *new != Side::Absent => {
                FileStatus::Added
            }
            Some((_, new)) if gone(new, self.new_epoch, new_count) => FileStatus::Deleted,
            _ if self.mode_changed && self.hunks.is_empty() && !self.binary => FileStatus::ModeOnly,
            _ => FileStatus::Modified,
        }
    }

    /// Old and new path, both set; which of them holds is for the status to say.
    fn paths(&self) -> (BString, BString) {
        if let (Some(from), Some(to)) = (&self.from, &self.to) {
            return (from.clone(), to.clone());
        }
        if let Some(path) = &self.path {
            return (path.clone(), path.clone());
        }
        match &self.names {
            Some((Side::Path(old), Side::Path(new))) => {
                let (old, new) = names::strip_pair(old, new);
                if self.kind == Form::Plain {
                    // `diff x.orig x`: one file under two names.
                    (new.clone(), new)
                } else {
                    (old, new)
                }
            }
            Some((Side::Path(one), Side::Absent) | (Side::Absent, Side::Path(one))) => {
                let path = names::strip_one(one);
                (path.clone(), path)
            }
            _ => (self.names_text.clone(), self.names_text.clone()),
        }
    }
}
