//! The forms in which a patch or GT is handed in: a patch file, rows of SWE-bench (JSON, JSONL), or two commits
//! of a repository.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use serde::Deserialize;

use super::model::Patch;
use super::objects::commit::CommitTree;
use super::objects::{GitDir, ObjectStore};
use super::worktree::range::tree_patch;
use super::{parse, render};
use crate::digest::sha256;
use crate::{Error, Result};

/// Largest patch file, in bytes. The largest real one known is 3.2 MB.
pub const MAX_PATCH_BYTES: u64 = 64 << 20;

/// What a part of the GT is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The solution.
    Solution,
    /// The hidden tests, which come with it in some data sets.
    Tests,
}

/// A GT and where it came from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GtPatch {
    /// The solution.
    pub patch: Patch,
    /// SHA-256 of the file it was read from, or of the patch written out, in hexadecimal digits.
    pub sha256: String,
    /// Every part, the solution among them.
    pub roles: BTreeMap<Role, Patch>,
}

/// Reads a GT: a patch file, or one SWE-bench row (`patch`, `test_patch`) as JSON or as a line of JSONL.
///
/// `instance` names the row (its `instance_id`) where the file has several.
///
/// # Errors
/// When the file is missing or may not be read, is too large, holds no patch, or has several rows and
/// `instance` names none of them.
pub fn load_gt(path: &Path, instance: Option<&str>) -> Result<GtPatch> {
    let bytes = read(path)?;
    let sha256 = sha256(&bytes);
    let roles = if looks_like_json(&bytes) {
        from_row(&pick_row(path, &bytes, instance)?)
    } else {
        BTreeMap::from([(Role::Solution, parse(&bytes))])
    };
    let patch = roles.get(&Role::Solution).cloned().unwrap_or_default();
    not_empty(path, &patch)?;
    Ok(GtPatch {
        patch,
        sha256,
        roles,
    })
}

/// Reads a GT as the difference of two commits of a repository, with the reader for hostile repositories: git
/// never runs in it. Revisions are hexadecimal digits, branches, tags or `HEAD`, each with `~N` or `^` behind it.
///
/// # Errors
/// When there is no repository, a revision names no commit, a tree cannot be read, or nothing differs.
pub fn load_range(repository: &Path, from: &str, to: &str) -> Result<GtPatch> {
    let fix = "give --gt as REPOSITORY@FROM..TO, with two commits of that repository";
    let git = match GitDir::find(repository) {
        Ok(Some(git)) => git,
        Ok(None) => return Err(bad(repository, "no git repository", fix)),
        Err(why) => return Err(bad(repository, why, fix)),
    };
    let store = ObjectStore::open(git, None).map_err(|why| bad(repository, why, fix))?;
    let store = Arc::new(store);
    let tree = |revision: &str| {
        let commit = store
            .resolve(revision)
            .ok_or_else(|| bad(repository, format!("no commit {revision}"), fix))?;
        CommitTree::open(Arc::clone(&store), commit).map_err(|why| bad(repository, why, fix))
    };
    let (before, after) = (tree(from)?, tree(to)?);
    let patch = tree_patch(&before, &after);
    if patch.files.is_empty() {
        let what = format!("{from} and {to} do not differ");
        return Err(bad(repository, what, fix));
    }
    Ok(GtPatch {
        sha256: sha256(&render(&patch)),
        roles: BTreeMap::from([(Role::Solution, patch.clone())]),
        patch,
    })
}

/// Reads a patch file, such as the agent's. An empty file is an empty patch: the agent did nothing.
///
/// # Errors
/// When the file is missing, may not be read, is too large, or has text and no patch.
pub fn load_patch(path: &Path) -> Result<Patch> {
    let bytes = read(path)?;
    let patch = parse(&bytes);
    if !bytes.trim_ascii().is_empty() {
        not_empty(path, &patch)?;
    }
    Ok(patch)
}

fn read(path: &Path) -> Result<Vec<u8>> {
    // Looked at before it is opened: opening a named pipe would wait for ever.
    let meta = std::fs::metadata(path).map_err(|error| cannot_open(path, error))?;
    if !meta.is_file() {
        return Err(Error::InputMissing {
            path: path.to_owned(),
            what: "is no file".to_owned(),
            fix: "name the patch file itself".to_owned(),
        });
    }
    let file = std::fs::File::open(path).map_err(|error| cannot_open(path, error))?;
    let mut bytes = Vec::new();
    let mut limited = file.take(MAX_PATCH_BYTES + 1);
    limited
        .read_to_end(&mut bytes)
        .map_err(|e| Error::io(path, e))?;
    if u64::try_from(bytes.len()).is_ok_and(|len| len > MAX_PATCH_BYTES) {
        return Err(bad(
            path,
            "more than 64 MiB",
            "give the patch of this task alone",
        ));
    }
    Ok(bytes)
}

fn cannot_open(path: &Path, error: std::io::Error) -> Error {
    let (what, fix) = match error.kind() {
        std::io::ErrorKind::NotFound => ("no such file", "check the path".to_owned()),
        std::io::ErrorKind::PermissionDenied => (
            "may not be read",
            format!("chmod -R u+rX {}", path.parent().unwrap_or(path).display()),
        ),
        _ => return Error::io(path, error),
    };
    Error::InputMissing {
        path: path.to_owned(),
        what: what.to_owned(),
        fix,
    }
}

fn bad(path: &Path, what: impl Into<String>, fix: impl Into<String>) -> Error {
    Error::BadData {
        path: path.to_owned(),
        line: None,
        what: what.into(),
        fix: fix.into(),
    }
}

fn not_empty(path: &Path, patch: &Patch) -> Result<()> {
    if patch.files.is_empty() {
        let fix = "give a unified diff, such as `git diff BASE > FILE` writes";
        return Err(bad(path, "no patch in it", fix));
    }
    Ok(())
}

/// The fields of a SWE-bench row that matter here.
#[derive(Debug, Deserialize)]
struct Row {
    #[serde(default)]
    instance_id: Option<String>,
    patch: String,
    #[serde(default)]
    test_patch: Option<String>,
}

fn looks_like_json(bytes: &[u8]) -> bool {
    let start = bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start();
    start.starts_with(b"{") || start.starts_with(b"[")
}

fn pick_row(path: &Path, bytes: &[u8], instance: Option<&str>) -> Result<Row> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let is_list = bytes.trim_ascii_start().starts_with(b"[");
    let mut rows: Vec<Row> = if is_list {
        serde_json::from_slice(bytes)
    } else {
        serde_json::Deserializer::from_slice(bytes)
            .into_iter()
            .collect()
    }
    .map_err(|error| Error::BadData {
        path: path.to_owned(),
        line: u64::try_from(error.line()).ok(),
        what: format!("no SWE-bench row: {error}"),
        fix: "each row needs a text field `patch`".to_owned(),
    })?;
    match instance {
        Some(id) => rows
            .into_iter()
            .find(|r| r.instance_id.as_deref() == Some(id))
            .ok_or_else(|| {
                bad(
                    path,
                    format!("no row with instance_id {id}"),
                    "check the task id",
                )
            }),
        None if rows.len() > 1 => {
            let what = format!("{} rows", rows.len());
            Err(bad(path, what, "name one with --task INSTANCE_ID"))
        }
        None => rows
            .pop()
            .ok_or_else(|| bad(path, "no row in it", "give a file with a row")),
    }
}

fn from_row(row: &Row) -> BTreeMap<Role, Patch> {
    let mut roles = BTreeMap::from([(Role::Solution, parse(row.patch.as_bytes()))]);
    if let Some(tests) = row.test_patch.as_deref().filter(|t| !t.trim().is_empty()) {
        roles.insert(Role::Tests, parse(tests.as_bytes()));
    }
    roles
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n";

    fn file(content: &str) -> (tempfile::TempDir, std::path::PathBuf) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("gt");
        std::fs::write(&path, content).unwrap();
        (dir, path)
    }

    fn row(id: &str) -> String {
        serde_json::json!({"instance_id": id, "patch": DIFF, "test_patch": DIFF, "repo": "o/r"})
            .to_string()
    }

    #[test]
    fn every_form_gives_the_same_patch() {
        let rows = format!("{}\n{}\n", row("a"), row("b"));
        for (content, instance) in [
            (DIFF.to_owned(), None),
            (row("a"), None),
            (row("a"), Some("a")),
            (rows.clone(), Some("b")),
            (format!("[{},{}]", row("a"), row("b")), Some("b")),
        ] {
            let (_dir, path) = file(&content);
            let gt = load_gt(&path, instance).unwrap();
            assert_eq!(gt.patch, parse(DIFF.as_bytes()), "{content}");
            assert_eq!(gt.roles.len(), if content == DIFF { 1 } else { 2 });
            assert_eq!(gt.sha256.len(), 64);
        }
        let (_dir, path) = file(&rows);
        assert_eq!(load_gt(&path, None).unwrap_err().exit_code(), 65);
        assert_eq!(load_gt(&path, Some("c")).unwrap_err().exit_code(), 65);
    }

    #[test]
    fn errors_say_what_to_do() {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(
            load_gt(&dir.path().join("none"), None)
                .unwrap_err()
                .exit_code(),
            66
        );
        assert_eq!(load_gt(dir.path(), None).unwrap_err().exit_code(), 66);
        for text in ["", "hello\n", "{\"a\":1}", "[1", "[]"] {
            let (_dir, path) = file(text);
            assert_eq!(load_gt(&path, None).unwrap_err().exit_code(), 65, "{text}");
        }
        let (_dir, path) = file("\n");
        assert!(load_patch(&path).unwrap().files.is_empty());
        let (_dir, path) = file("no patch\n");
        assert_eq!(load_patch(&path).unwrap_err().exit_code(), 65);
    }
}
