//! Does the GT fit the base? A GT of another task or version says nothing about the agent's patch.

use bstr::{BString, ByteSlice};
use serde::Serialize;

use super::apply::{apply, reverse};
use super::model::{FilePatch, FileStatus, Patch};
use super::tree::{BaseTree, EntryKind, ReadError};

/// Why a file of the GT does not fit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Misfit {
    /// The base lacks the file that the GT changes.
    Missing,
    /// The base has the file that the GT creates, with another content.
    Exists,
    /// The lines around a change are others.
    OtherContent,
}

impl Misfit {
    /// The reason in words.
    pub fn words(self) -> &'static str {
        match self {
            Self::Missing => "the base lacks it",
            Self::Exists => "the base has it already, with another content",
            Self::OtherContent => "the lines around a change are others",
        }
    }
}

/// Whether a GT applies to a base.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fit {
    /// Every file does. Files whose change the base already holds are listed: the starter tree was not clean,
    /// or the base is no base.
    Fits {
        /// Files that are already as the GT leaves them, and that the GT adds lines to.
        already: Vec<BString>,
    },
    /// Some do not.
    DoesNotFit {
        /// Which, and why, sorted by path.
        files: Vec<(BString, Misfit)>,
        /// Files that are already as the GT leaves them.
        already: Vec<BString>,
    },
    /// There is no base, or a file of it cannot be read.
    Unknown,
}

/// Tries every file of a GT on a base, without changing anything. Binary files are looked for and no more,
/// since the patch does not hold their content; line ends that differ throughout are no misfit.
pub fn fits(gt: &Patch, base: Option<&dyn BaseTree>) -> Fit {
    let Some(base) = base.filter(|b| !b.entries().is_empty()) else {
        return Fit::Unknown;
    };
    let mut already = Vec::new();
    let mut files = Vec::new();
    for file in &gt.files {
        match one(file, base) {
            Ok(Found::Fits) => {}
            Ok(Found::Already) => already.push(file.path().clone()),
            Ok(Found::Misfit(why)) => files.push((file.path().clone(), why)),
            Err(_) => return Fit::Unknown,
        }
    }
    files.sort();
    already.sort();
    if files.is_empty() {
        Fit::Fits { already }
    } else {
        Fit::DoesNotFit { files, already }
    }
}

impl Fit {
    /// Files that are already as the GT leaves them.
    pub fn already(&self) -> &[BString] {
        match self {
            Self::Fits { already } | Self::DoesNotFit { already, .. } => already,
            Self::Unknown => &[],
        }
    }
}

enum Found {
    Fits,
    Already,
    Misfit(Misfit),
}

fn one(file: &FilePatch, base: &dyn BaseTree) -> Result<Found, ReadError> {
    let entry = base.entries().get(file.path());
    if entry.is_some_and(|e| e.kind == EntryKind::Submodule) {
        // Its content is a commit of another repository; there is nothing to compare.
        return Ok(Found::Fits);
    }
    let content = |path: &Option<BString>| match path {
        Some(path) => match base.read(path.as_bstr()) {
            Ok(content) => Ok(Some(content)),
            Err(ReadError::Missing) => Ok(None),
            // Too large to read is there, which is all that can be said.
            Err(ReadError::TooLarge(_)) if file.binary => Ok(Some(Vec::new())),
            Err(error) => Err(error),
        },
        None => Ok(None),
    };
    let old = content(&file.old_path)?;
    let new = content(&file.new_path)?;
    let undone = || new.as_ref().is_some_and(|n| applies(&reverse(file), n));
    let done = || file.new_path.is_some() && !file.hunks.is_empty() && undone();
    if file.status == FileStatus::Added {
        return Ok(match new {
            None => Found::Fits,
            Some(new) if new.is_empty() && file.hunks.is_empty() => Found::Fits,
            Some(_) if done() => Found::Already,
            Some(_) => Found::Misfit(Misfit::Exists),
        });
    }
    let Some(old) = old else {
        return Ok(if file.status == FileStatus::Deleted {
            Found::Fits
        } else if done() {
            Found::Already
        } else {
            Found::Misfit(Misfit::Missing)
        });
    };
    Ok(if file.binary || applies(file, &old) {
        Found::Fits
    } else if done() {
        Found::Already
    } else {
        Found::Misfit(Misfit::OtherContent)
    })
}

/// Applies as it stands, or after giving the base plain line feeds.
fn applies(file: &FilePatch, base: &[u8]) -> bool {
    apply(file, base).is_ok()
        || (base.contains_str("\r\n") && apply(file, &base.replace("\r\n", "\n")).is_ok())
}

#[cfg(test)]
mod tests {
    use super::super::parse;
    use super::super::tree::MemTree;
    use super::*;

    const GT: &str = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,3 @@\n one\n+new\n two\n\
        diff --git a/n b/n\nnew file mode 100644\n--- /dev/null\n+++ b/n\n@@ -0,0 +1 @@\n+n\n\
        diff --git a/p.png b/p.png\nBinary files a/p.png and b/p.png differ\n";

    fn tree(files: &[(&str, &str)]) -> MemTree {
        let mut tree = MemTree::default();
        for (path, content) in files {
            tree.insert(*path, EntryKind::File, *content);
        }
        tree
    }

    #[test]
    fn fits_already_or_not() {
        let gt = parse(GT.as_bytes());
        let already = |paths: &[&str]| Fit::Fits {
            already: paths.iter().map(|p| BString::from(*p)).collect(),
        };
        let not = |path: &str, why| Fit::DoesNotFit {
            files: vec![(path.into(), why)],
            already: vec![],
        };
        for (files, want) in [
            (vec![("x", "one\ntwo\n"), ("p.png", "")], already(&[])),
            (vec![("x", "one\r\ntwo\r\n"), ("p.png", "")], already(&[])),
            (
                vec![("x", "one\nnew\ntwo\n"), ("p.png", "")],
                already(&["x"]),
            ),
            (
                vec![("x", "one\ntwo\n"), ("n", "n\n"), ("p.png", "")],
                already(&["n"]),
            ),
            (
                vec![("x", "one\ntwo\n"), ("n", "m\n"), ("p.png", "")],
                not("n", Misfit::Exists),
            ),
            (
                vec![("x", "one\nthree\n"), ("p.png", "")],
                not("x", Misfit::OtherContent),
            ),
            (vec![("x", "one\ntwo\n")], not("p.png", Misfit::Missing)),
            (vec![("p.png", "")], not("x", Misfit::Missing)),
            (vec![], Fit::Unknown),
        ] {
            assert_eq!(fits(&gt, Some(&tree(&files))), want, "{files:?}");
        }
        assert_eq!(fits(&gt, None), Fit::Unknown);
    }
}
