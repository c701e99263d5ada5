//! Objects by name, each checked against it.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

use super::batch::{Answer, Batch, PIPELINE, Want};
use super::id::{Algorithm, Oid, hash_object};
use super::locate::GitDir;
use super::private::{PrivateDir, furnish};
use super::refs;
use crate::patch::tree::ReadError;

/// How often git is started again after it died over a damaged object.
const MAX_RESTARTS: u32 = 50;

/// Takes the number of an object in a list and its content, and says whether to go on.
pub(in crate::patch) type Take<'a> =
    dyn FnMut(usize, Result<Vec<u8>, ReadError>) -> ControlFlow<()> + 'a;

type TakeAnswer<'a> = dyn FnMut(usize, &Oid, Result<Answer, ReadError>) -> ControlFlow<()> + 'a;

/// The objects of one repository, read through a private git directory.
#[derive(Debug)]
pub struct ObjectStore {
    git: GitDir,
    private: PrivateDir,
    problems: Vec<String>,
    processes: Mutex<Processes>,
}

#[derive(Debug, Default)]
struct Processes {
    size: Option<Batch>,
    content: Option<Batch>,
    /// How often one of them died.
    deaths: u32,
}

impl Processes {
    fn slot(&mut self, want: Want) -> &mut Option<Batch> {
        match want {
            Want::Size => &mut self.size,
            Want::Content => &mut self.content,
        }
    }
}

impl ObjectStore {
    /// Prepares to read the objects of a repository; an error in words when there are none to read, or no
    /// git program. `algorithm` is given when a trusted commit id tells it, and guessed otherwise.
    pub fn open(git: GitDir, algorithm: Option<Algorithm>) -> Result<Self, String> {
        let mut problems = Vec::new();
        let folders = git.object_folders(&mut problems);
        if folders.is_empty() {
            return Err(problems.join("; "));
        }
        let algorithm = algorithm.unwrap_or_else(|| guess_algorithm(&git, &folders));
        let private = PrivateDir::new().map_err(|e| {
            format!(
                "{}: no temporary directory: {e}",
                std::env::temp_dir().display()
            )
        })?;
        let left_out = furnish(private.path(), algorithm, &folders)
            .map_err(|e| format!("the object folders cannot be read: {e}"))?;
        problems.extend(left_out);
        let store = Self {
            git,
            private,
            problems,
            processes: Mutex::default(),
        };
        // Tells a missing git program from a missing object.
        let mut first = store.lock();
        first.size =
            Some(Batch::start(store.private.path(), Want::Size).map_err(|e| {
                format!("git cannot be started ({e}); it is needed to read objects")
            })?);
        drop(first);
        Ok(store)
    }

    /// The git directory.
    pub fn git_dir(&self) -> &GitDir {
        &self.git
    }

    /// What was left out: alternates outside the run, objects that are no regular files.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// True when the object is there.
    pub fn has(&self, id: &Oid) -> bool {
        self.size(id).is_ok()
    }

    /// The size of an object in bytes.
    pub fn size(&self, id: &Oid) -> Result<u64, ReadError> {
        self.one(&id.to_string(), Want::Size, u64::MAX)
            .map(|a| a.size)
    }

    /// Kind and content of an object of at most `limit` bytes.
    pub fn read(&self, id: &Oid, limit: u64) -> Result<(String, Vec<u8>), ReadError> {
        let answer = self.one(&id.to_string(), Want::Content, limit)?;
        let kind = answer.kind.clone();
        Ok((kind, checked(answer, id, None)?))
    }

    /// The content of a blob. Its size is asked for first, so that a large one is never unpacked.
    pub fn read_blob(&self, id: &Oid, limit: u64) -> Result<Vec<u8>, ReadError> {
        let size = self.size(id)?;
        if size > limit {
            return Err(ReadError::TooLarge(size));
        }
        let answer = self.one(&id.to_string(), Want::Content, limit)?;
        checked(answer, id, Some("blob"))
    }

    /// The commit whose name begins with these hexadecimal digits, if there is just one. Refs are not asked:
    /// the agent can give a branch any name.
    pub fn abbreviated(&self, digits: &str) -> Option<Oid> {
        let is_hex =
            (4..=64).contains(&digits.len()) && digits.bytes().all(|b| b.is_ascii_hexdigit());
        is_hex.then(|| self.commit_of(digits, "")).flatten()
    }

    /// The commit that a revision names: hexadecimal digits, or else a ref or `HEAD`; each with `~1` or `^`
    /// behind it.
    pub fn resolve(&self, revision: &str) -> Option<Oid> {
        let (name, steps) = match revision.find(['~', '^']) {
            Some(at) => revision.split_at_checked(at)?,
            None => (revision, ""),
        };
        let plain = |c: char| matches!(c, '~' | '^') || c.is_ascii_digit();
        if !steps.chars().all(plain) {
            return None;
        }
        let start = self
            .abbreviated(name)
            .or_else(|| refs::find(&self.git, name))?;
        self.commit_of(&start.to_string(), steps)
    }

    /// Asks git for the commit that digits and steps lead to. Both were checked: git sees no other syntax.
    fn commit_of(&self, digits: &str, steps: &str) -> Option<Oid> {
        let asked = format!("{digits}{steps}^{{commit}}");
        self.one(&asked, Want::Size, u64::MAX).ok().map(|a| a.id)
    }

    /// The names of loose objects, sorted; at most `limit`.
    pub(in crate::patch) fn loose(&self, limit: usize) -> Vec<Oid> {
        let mut found = Vec::new();
        for folder in self.git.object_folders(&mut Vec::new()) {
            for number in 0..=u8::MAX {
                let prefix = format!("{number:02x}");
                let entries = std::fs::read_dir(folder.join(&prefix))
                    .into_iter()
                    .flatten();
                let left = limit.saturating_sub(found.len());
                found.extend(entries.flatten().take(left).filter_map(|entry| {
                    let name = entry.file_name().into_string().ok()?;
                    Oid::parse(format!("{prefix}{name}").as_bytes())
                }));
            }
        }
        found.sort_unstable();
        found
    }

    /// Those of these objects that are commits.
    pub(in crate::patch) fn commits_among(&self, ids: &[Oid]) -> Vec<Oid> {
        let mut found = Vec::new();
        self.stream(Want::Size, ids, u64::MAX, &mut |_, id, answer| {
            if answer.is_ok_and(|answer| answer.kind == "commit") {
                found.push(*id);
            }
            ControlFlow::Continue(())
        });
        found
    }

    /// The contents of many objects of one kind, in order, many at a time, until `take` breaks off.
    /// `take` may use this store too.
    pub(super) fn read_many(&self, ids: &[Oid], kind: &str, limit: u64, take: &mut Take<'_>) {
        self.stream(Want::Content, ids, limit, &mut |index, id, answer| {
            take(
                index,
                answer.and_then(|answer| checked(answer, id, Some(kind))),
            )
        });
    }

    /// The contents of many blobs; those above the limit are not unpacked.
    pub(in crate::patch) fn read_blobs(&self, ids: &[Oid], limit: u64, take: &mut Take<'_>) {
        let mut small = Vec::new();
        let mut places = Vec::new();
        self.stream(Want::Size, ids, limit, &mut |place, id, answer| {
            let error = match answer {
                Ok(answer) if answer.size <= limit => {
                    small.push(*id);
                    places.push(place);
                    return ControlFlow::Continue(());
                }
                Ok(answer) => ReadError::TooLarge(answer.size),
                Err(error) => error,
            };
            take(place, Err(error))
        });
        self.read_many(
            &small,
            "blob",
            limit,
            &mut |index, content| match places.get(index) {
                Some(place) => take(*place, content),
                None => ControlFlow::Break(()),
            },
        );
    }

    /// Asks for many objects and hands out the answers in order, until `take` breaks off. A process that
    /// dies over an object is started again behind it.
    fn stream(&self, want: Want, ids: &[Oid], limit: u64, take: &mut TakeAnswer<'_>) {
        // Taken out, so that the lock is not held while `take` runs.
        let mut process = self.lock().slot(want).take();
        // Requests whose answers are still to come.
        let mut asked = 0usize;
        for (index, id) in ids.iter().enumerate() {
            if process.is_none() {
                process = self.start(&self.lock(), want).ok();
                asked = 0;
            }
            let answer = match &mut process {
                Some(running) if asked > 0 => running.answer(limit),
                Some(running) => {
                    let next = ids.get(index..).unwrap_or_default();
                    asked = next.len().min(PIPELINE);
                    let names: Vec<String> = next.iter().take(asked).map(Oid::to_string).collect();
                    let sent = running.ask(names.iter().map(String::as_str));
                    sent.and_then(|()| running.answer(limit))
                }
                None => Err(std::io::ErrorKind::BrokenPipe.into()),
            };
            asked = asked.saturating_sub(1);
            if answer.is_err() {
                process = None;
                self.lock().deaths += 1;
            }
            let answer = answer.map_err(|_| damaged(id));
            let answer = answer.and_then(|a| a.ok_or(ReadError::Missing));
            if take(index, id, answer).is_break() {
                break;
            }
        }
        // Answers that were not read would be taken for those of the next request.
        if asked == 0 {
            *self.lock().slot(want) = process;
        }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Processes> {
        self.processes
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn start(&self, all: &Processes, want: Want) -> std::io::Result<Batch> {
        if all.deaths > MAX_RESTARTS {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        Batch::start(self.private.path(), want)
    }

    /// Asks for one object. The process is kept for the next request unless it failed.
    fn one(&self, name: &str, want: Want, limit: u64) -> Result<Answer, ReadError> {
        let mut all = self.lock();
        let mut process = match all.slot(want).take() {
            Some(process) => process,
            None => self.start(&all, want).map_err(|_| damaged(name))?,
        };
        let asked = process.ask(std::iter::once(name));
        let answer = asked.and_then(|()| process.answer(limit));
        let answer = match answer {
            Ok(answer) => answer,
            Err(_) => {
                all.deaths += 1;
                return Err(damaged(name));
            }
        };
        *all.slot(want) = Some(process);
        answer.ok_or(ReadError::Missing)
    }
}

fn damaged(what: impl std::fmt::Display) -> ReadError {
    ReadError::Unreadable(format!(
        "git cannot read {what}: damaged, or too large to unpack"
    ))
}

/// The content of an answer, if it is what its name says.
fn checked(answer: Answer, id: &Oid, kind: Option<&str>) -> Result<Vec<u8>, ReadError> {
    let content = answer.content.ok_or(ReadError::TooLarge(answer.size))?;
    let expected = kind.unwrap_or(&answer.kind);
    if hash_object(id.algorithm(), expected, &content) != *id {
        return Err(ReadError::Unreadable(format!(
            "{id} has another content than its name says; it was forged"
        )));
    }
    Ok(content)
}

/// SHA-256 when HEAD names such a commit, or the folders hold such names; else SHA-1. The run's
/// configuration is not asked.
fn guess_algorithm(git: &GitDir, folders: &[PathBuf]) -> Algorithm {
    if let Ok(head) = refs::head(git) {
        return head.algorithm();
    }
    let names = folders.iter().flat_map(|f| {
        let packs = std::fs::read_dir(f.join("pack")).into_iter().flatten();
        packs.filter_map(|e| e.ok()?.file_name().into_string().ok())
    });
    let long = |name: String| name.len() == "pack-.idx".len() + 64 && name.ends_with(".idx");
    if names.into_iter().any(long) {
        Algorithm::Sha256
    } else {
        Algorithm::Sha1
    }
}
