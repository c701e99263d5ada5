//! What the reading of a work tree leaves out: git directories, files of the evaluation, what the base ignores,
//! submodules. None of it is compared, and all of it is a place in which work could be hidden. So it is
//! listed, for a search that needs no base.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use bstr::{BStr, BString, ByteSlice};
use serde::Serialize;

use super::walk::{self, FoundKind, Keep, Walked};
use crate::Result;

/// Why something was left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum ApartKind {
    /// A git directory, at any depth.
    Git,
    /// A directory in the root of the run that evaluators make.
    EvaluationDir,
    /// A file in the root of the run under a name of harness or evaluation.
    EvaluationFile,
    /// The `.gitignore` files of the base name it.
    Ignored,
    /// It lies where the base has another repository.
    Submodule,
}

/// A file or directory that was left out, with all that is in it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Apart {
    /// Where it is, from the root of the run.
    pub path: BString,
    /// Why.
    pub kind: ApartKind,
}

/// A regular file in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApartFile {
    /// Where it is, from the root of the run.
    pub path: BString,
    /// The same for the file system.
    pub disk: PathBuf,
    /// Its size in bytes.
    pub size: u64,
}

impl Apart {
    /// Its files, sorted, without what is git's own: objects, packs, the index. Links are not followed. What
    /// could not be listed is said in words.
    pub fn files(&self, root: &Path) -> (Vec<ApartFile>, Vec<String>) {
        let disk = root.join(&*self.path.to_os_str_lossy());
        let walked = match disk.symlink_metadata() {
            Ok(meta) if meta.is_dir() => walk::walk(&disk, &mut |_, _| Keep::Take),
            Ok(meta) if meta.is_file() => {
                let file = ApartFile {
                    path: self.path.clone(),
                    disk,
                    size: meta.len(),
                };
                return (vec![file], Vec::new());
            }
            _ => Ok(Walked::default()),
        };
        let walked = match walked {
            Ok(walked) => walked,
            Err(error) => return (Vec::new(), vec![error.to_string()]),
        };
        let mut problems = walked.problems();
        for problem in &mut problems {
            problem.insert_str(0, &format!("{}/", self.path));
        }
        let files = walked.files.into_iter().filter_map(|(path, found)| {
            let mut whole = self.path.clone();
            whole.push(b'/');
            whole.extend_from_slice(&path);
            let FoundKind::File { size, .. } = found.kind else {
                return None;
            };
            (!is_gits_own(whole.as_bstr(), &found.disk)).then_some(ApartFile {
                path: whole,
                disk: found.disk,
                size,
            })
        });
        (files.collect(), problems)
    }
}

/// What is left out where there is no base: git directories, and `exclude`d names in the root, directories
/// only with a leading dot.
///
/// # Errors
/// When the directory cannot be listed, or holds more entries than are read.
pub fn apart_without_base(root: &Path, exclude: &BTreeSet<String>) -> Result<Vec<Apart>> {
    let mut apart = Vec::new();
    walk::walk(
        root,
        &mut |path, is_dir| match kind_by_name(path, is_dir, exclude) {
            Some(kind) => {
                apart.push(Apart {
                    path: path.to_owned(),
                    kind,
                });
                Keep::Skip
            }
            None => Keep::Take,
        },
    )?;
    Ok(apart)
}

/// What is left out by its name alone.
pub(super) fn kind_by_name(
    path: &BStr,
    is_dir: bool,
    exclude: &BTreeSet<String>,
) -> Option<ApartKind> {
    if walk::is_git(path) {
        return Some(ApartKind::Git);
    }
    let name = path.to_str().ok().filter(|name| exclude.contains(*name))?;
    match is_dir {
        true => name.starts_with('.').then_some(ApartKind::EvaluationDir),
        false => Some(ApartKind::EvaluationFile),
    }
}

/// First bytes of files that git writes: pack, its index and their kin, the index, a multi-pack index, a commit
/// graph.
const MAGIC: &[&[u8; 4]] = &[
    b"PACK", b"\xfftOc", b"RIDX", b"BITM", b"MTME", b"DIRC", b"MIDX", b"CGPH",
];

/// True for a file below a git directory that git itself wrote and that holds no text: by its place and its
/// first bytes, so that a text under the name of an object is none.
fn is_gits_own(path: &BStr, disk: &Path) -> bool {
    if path.rfind("/.git/").is_none() && !path.starts_with(b".git/") {
        return false;
    }
    let mut parts = path.rsplit(|b| *b == b'/');
    let (name, folder) = (parts.next(), parts.next());
    let (Some(name), Some(folder)) = (name, folder) else {
        return false;
    };
    let is_hex = |text: &[u8]| text.iter().all(u8::is_ascii_hexdigit);
    let loose =
        folder.len() == 2 && matches!(name.len(), 38 | 62) && is_hex(folder) && is_hex(name);
    let may_be = loose
        || matches!(folder, b"pack" | b"info" | b"commit-graphs")
        || name.starts_with(b"index")
        || name.starts_with(b"sharedindex");
    let mut head = [0; 4];
    let read = may_be
        && File::open(disk)
            .and_then(|mut file| file.read_exact(&mut head))
            .is_ok();
    // The head of a zlib stream is a multiple of 31.
    let zlib = |[a, b, ..]: [u8; 4]| a & 0x0f == 8 && u16::from_be_bytes([a, b]) % 31 == 0;
    read && if loose {
        zlib(head)
    } else {
        MAGIC.contains(&&head)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_gits_own_is_listed() {
        let dir = tempfile::tempdir().unwrap();
        let put = |name: &str, content: &[u8]| {
            let path = dir.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, content).unwrap();
        };
        let object = "0123456789abcdef0123456789abcdef012345";
        put(&format!(".git/objects/ab/{object}"), b"\x78\x01zlib");
        put(
            &format!(".git/objects/cd/{object}"),
            b"text under the name of an object",
        );
        put(".git/objects/pack/pack-1.pack", b"PACK\0\0\0\x02");
        put(".git/objects/pack/pack-2.pack", b"text");
        put(".git/index", b"DIRC\0\0");
        put(".git/hooks/x.go", b"text");
        put("sub/.git/index", b"text");
        put(".claude/a/b.go", b"text");
        put("eval_report.md", b"text");
        put("src/a.go", b"text");
        let exclude = [".claude", "eval_report.md", "src"].map(str::to_owned);
        let apart = apart_without_base(dir.path(), &exclude.into()).unwrap();
        let mut found = Vec::new();
        for apart in &apart {
            let (files, problems) = apart.files(dir.path());
            assert!(problems.is_empty(), "{problems:?}");
            found.extend(files.into_iter().map(|f| (f.path.to_string(), apart.kind)));
        }
        let want = [
            (".claude/a/b.go".to_owned(), ApartKind::EvaluationDir),
            (".git/hooks/x.go".to_owned(), ApartKind::Git),
            (format!(".git/objects/cd/{object}"), ApartKind::Git),
            (".git/objects/pack/pack-2.pack".to_owned(), ApartKind::Git),
            ("eval_report.md".to_owned(), ApartKind::EvaluationFile),
            ("sub/.git/index".to_owned(), ApartKind::Git),
        ];
        assert_eq!(found, want);
    }
}
