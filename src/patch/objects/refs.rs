//! HEAD, branches, tags and reflogs read as plain files, without git.

use bstr::{BString, ByteSlice};

use super::id::Oid;
use super::locate::GitDir;

/// Largest `HEAD` or loose ref.
const MAX_REF: u64 = 64 << 10;
/// Largest `packed-refs` file.
const MAX_PACKED_REFS: u64 = 64 << 20;
/// Largest reflog that is read.
const MAX_REFLOG: u64 = 16 << 20;
/// Longest chain of symbolic refs.
const MAX_DEPTH: usize = 5;

/// One line of a reflog: what a ref was and became.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReflogEntry {
    /// The commit before; `None` at the birth of the ref.
    pub old: Option<Oid>,
    /// The commit after.
    pub new: Oid,
    /// What git says it did (`commit (initial): …`, `clone: from …`, `reset: moving to …`).
    pub message: BString,
}

/// The commit that HEAD names. An error in words when it names none or cannot be read.
pub fn head(git: &GitDir) -> Result<Oid, String> {
    resolve(git, "HEAD")
}

/// The commit that a full ref name (`HEAD`, `refs/heads/main`) leads to.
fn resolve(git: &GitDir, name: &str) -> Result<Oid, String> {
    if git.has_dir("reftable") {
        return Err("the refs are in reftable format, which is not read".to_owned());
    }
    let mut name = name.to_owned();
    let mut packed = None;
    for _ in 0..MAX_DEPTH {
        match git.read(&name, MAX_REF) {
            Ok(text) => {
                let text = text.trim_ascii();
                let Some(target) = text.strip_prefix(b"ref:") else {
                    return Oid::parse(text).ok_or_else(|| format!("{name} names no commit"));
                };
                name = target.trim_ascii().to_str_lossy().into_owned();
                if !name.starts_with("refs/") {
                    return Err(format!("a ref leads to {name:?}, which is no ref"));
                }
            }
            Err(why) => {
                let packed: &BString = packed.get_or_insert_with(|| {
                    git.read("packed-refs", MAX_PACKED_REFS).unwrap_or_default()
                });
                return find_packed(packed, &name).ok_or(why);
            }
        }
    }
    Err(format!("{name}: too many symbolic refs in a row"))
}

fn find_packed(text: &BString, name: &str) -> Option<Oid> {
    text.lines().find_map(|line| {
        let (id, rest) = line.split_once_str(" ")?;
        (rest.trim_ascii() == name.as_bytes()).then(|| Oid::parse(id))?
    })
}

/// The commit that a short name stands for: as given, a tag, a branch, a branch of a remote.
pub(in crate::patch) fn find(git: &GitDir, name: &str) -> Option<Oid> {
    let candidates = [
        name.to_owned(),
        format!("refs/{name}"),
        format!("refs/tags/{name}"),
        format!("refs/heads/{name}"),
        format!("refs/remotes/{name}"),
    ];
    let full = |c: &&String| *c == "HEAD" || c.starts_with("refs/");
    candidates
        .iter()
        .filter(full)
        .find_map(|c| resolve(git, c).ok())
}

/// The reflog of HEAD, oldest entry first; an error in words when there is none or it is too long. The
/// agent can rewrite it: it is a hint, never proof.
pub fn head_reflog(git: &GitDir) -> Result<Vec<ReflogEntry>, String> {
    reflog(git, "logs/HEAD")
}

/// Any reflog, by the name of its file below the git directory.
pub(in crate::patch) fn reflog(git: &GitDir, file: &str) -> Result<Vec<ReflogEntry>, String> {
    let text = git.read(file, MAX_REFLOG)?;
    Ok(text.lines().filter_map(parse_entry).collect())
}

/// `OLD NEW Name <address> time zone TAB message`.
fn parse_entry(line: &[u8]) -> Option<ReflogEntry> {
    let (ids, message) = line.split_once_str("\t").unwrap_or((line, b""));
    let mut fields = ids.split_str(" ");
    let old = Oid::parse(fields.next()?)?;
    let new = Oid::parse(fields.next()?)?;
    Some(ReflogEntry {
        old: (!old.is_zero()).then_some(old),
        new,
        message: message.into(),
    })
}
