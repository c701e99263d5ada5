//! Facts of runs on disk, so that an unchanged run is not read again.
//!
//! One file a run, named by its key. A file is used only when its header names the same key and the
//! digest of its body is right; anything else counts as absent, with a note. That finds damage, not
//! malice: who can write here can forge facts, so a cache that everybody may write to is refused, and so is
//! one inside a directory of runs.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};

use crate::audit::{FACTS_SCHEMA, RunFacts};
use crate::digest::sha256;
use crate::experiment::wording::shell_quote;
use crate::{Error, Result, stored};

/// Largest file that is read, in bytes.
const MAX_FILE: u64 = 256 << 20;

/// A directory of stored facts.
#[derive(Debug)]
pub struct Cache {
    dir: PathBuf,
    /// Makes the names of unfinished files of this process differ.
    next: AtomicU64,
}

/// What the cache knows of a key.
#[derive(Debug)]
pub enum Lookup {
    /// The facts.
    Hit(Box<RunFacts>),
    /// Nothing.
    Miss,
    /// A file that cannot be used, with the reason in words.
    Broken(String),
}

/// The first line of a file.
#[derive(Serialize, Deserialize)]
struct Header<'a> {
    schema: &'a str,
    key: &'a str,
    sha256: String,
}

impl Cache {
    /// The directory that is used unless another is named: `trace-audit` in the user's cache
    /// directory. `None` when the system names none.
    pub fn default_dir() -> Option<PathBuf> {
        let var = |name| std::env::var_os(name).filter(|value| !value.is_empty());
        let absolute = |value| Some(PathBuf::from(value)).filter(|path| path.is_absolute());
        let home = || var("HOME").map(|home| PathBuf::from(home).join(".cache"));
        var("XDG_CACHE_HOME")
            .and_then(absolute)
            .or_else(home)
            .or_else(|| var("LOCALAPPDATA").map(PathBuf::from))
            .map(|dir| dir.join("trace-audit"))
    }

    /// Opens the cache in `dir`, making the directory if needed. `runs` are the directories that are
    /// audited.
    ///
    /// # Errors
    /// [`Error::Usage`] when it lies in one of the runs, or others may write to it;
    /// [`Error::Io`] when it can neither be made nor read.
    pub fn open<'a>(dir: &Path, runs: impl IntoIterator<Item = &'a Path>) -> Result<Self> {
        let made = make_dir(dir);
        let real = match fs::canonicalize(dir) {
            Ok(real) => real,
            Err(e) => return Err(Error::io(dir, made.err().unwrap_or(e))),
        };
        for run in runs {
            if fs::canonicalize(run).is_ok_and(|run| real.starts_with(run)) {
                return Err(Error::Usage {
                    what: format!(
                        "the cache {} lies in the run {}, where the audited agent could have written it",
                        dir.display(),
                        run.display()
                    ),
                    fix: "name another directory with --cache, or use --no-cache".to_owned(),
                });
            }
        }
        if open_to_all(&real) {
            return Err(Error::Usage {
                what: format!(
                    "everybody may write to the cache {}, so what it holds proves nothing",
                    dir.display()
                ),
                fix: format!("chmod o-w {}, or use --no-cache", shell_quote(dir)),
            });
        }
        Ok(Self {
            dir: real,
            next: AtomicU64::new(0),
        })
    }

    /// Where it lies.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The facts stored under a key.
    pub fn get(&self, key: &str) -> Lookup {
        let path = self.path(key);
        let bytes = match read(&path) {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return Lookup::Broken("larger than any file of a cache".to_owned()),
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Lookup::Miss,
            Err(e) => return Lookup::Broken(e.to_string()),
        };
        match decode(&bytes, key) {
            Some(facts) => Lookup::Hit(facts),
            None => Lookup::Broken("damaged, or written by another version".to_owned()),
        }
    }

    /// Stores facts under a key. A file appears whole or not at all.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn put(&self, key: &str, facts: &RunFacts) -> Result<()> {
        let path = self.path(key);
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let unfinished = path.with_extension(format!("{}-{number}.tmp", std::process::id()));
        let written = encode(key, facts).and_then(|bytes| {
            if let Some(folder) = path.parent() {
                make_dir(folder)?;
            }
            write_new(&unfinished, &bytes)?;
            fs::rename(&unfinished, &path)
        });
        written.map_err(|e| {
            // Nothing is left behind; that it may fail too changes nothing.
            let _ = fs::remove_file(&unfinished);
            Error::io(path, e)
        })
    }

    fn path(&self, key: &str) -> PathBuf {
        let folder = key.get(..2).unwrap_or("00");
        self.dir.join("facts").join(folder).join(key)
    }
}

fn encode(key: &str, facts: &RunFacts) -> io::Result<Vec<u8>> {
    let body = stored::whole(|| serde_json::to_vec(facts))?;
    let header = Header {
        schema: FACTS_SCHEMA,
        key,
        sha256: sha256(&body),
    };
    let mut bytes = serde_json::to_vec(&header)?;
    bytes.reserve(body.len() + 2);
    bytes.push(b'\n');
    bytes.extend_from_slice(&body);
    bytes.push(b'\n');
    Ok(bytes)
}

/// The facts, if the file is whole and about this key.
fn decode(bytes: &[u8], key: &str) -> Option<Box<RunFacts>> {
    let end = memchr::memchr(b'\n', bytes)?;
    let (header, rest) = bytes.split_at_checked(end)?;
    let header: Header<'_> = serde_json::from_slice(header).ok()?;
    let body = rest.strip_prefix(b"\n")?.strip_suffix(b"\n")?;
    let whole = header.schema == FACTS_SCHEMA && header.key == key && header.sha256 == sha256(body);
    whole.then(|| serde_json::from_slice(body).ok())?
}

fn read(path: &Path) -> io::Result<Option<Vec<u8>>> {
    // Before it is opened: the opening of a pipe waits for a writer.
    if !path.symlink_metadata()?.is_file() {
        return Err(io::Error::other("no regular file"));
    }
    let file = File::open(path)?;
    let mut bytes = Vec::new();
    file.take(MAX_FILE + 1).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= MAX_FILE).then_some(bytes))
}

fn write_new(path: &Path, bytes: &[u8]) -> io::Result<()> {
    // Never through a link that somebody put there.
    let mut file = File::create_new(path)?;
    file.write_all(bytes)
}

/// Makes a directory that only the user may enter.
fn make_dir(dir: &Path) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    builder.recursive(true);
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(dir)
}

#[cfg(unix)]
fn open_to_all(dir: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    fs::metadata(dir).is_ok_and(|meta| meta.mode() & 0o002 != 0)
}

#[cfg(not(unix))]
fn open_to_all(_: &Path) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts(run: &str) -> RunFacts {
        let mut facts = crate::sweep::testing::facts();
        facts.identity.run = run.into();
        facts
    }

    fn key(digit: char) -> String {
        std::iter::repeat_n(digit, 64).collect()
    }

    #[test]
    fn what_was_stored_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(&dir.path().join("c/d"), []).unwrap();
        assert!(matches!(cache.get(&key('a')), Lookup::Miss));
        let facts = facts("r\n1");
        cache.put(&key('a'), &facts).unwrap();
        let Lookup::Hit(back) = cache.get(&key('a')) else {
            panic!("a miss");
        };
        assert_eq!(format!("{back:?}"), format!("{facts:?}"));
        assert!(matches!(cache.get(&key('b')), Lookup::Miss));
        let left = walkdir::WalkDir::new(dir.path()).into_iter().flatten();
        assert_eq!(left.filter(|e| e.file_type().is_file()).count(), 1);
    }

    #[test]
    fn a_damaged_file_is_never_used() {
        let dir = tempfile::tempdir().unwrap();
        let cache = Cache::open(dir.path(), []).unwrap();
        cache.put(&key('a'), &facts("r")).unwrap();
        let path = cache.path(&key('a'));
        let good = fs::read(&path).unwrap();
        let mut cases = vec![Vec::new(), b"{}\n{}\n".to_vec(), vec![0; 100]];
        for at in (0..good.len()).step_by(41) {
            let mut bad = good.clone();
            bad[at] ^= 1;
            cases.push(bad);
            cases.push(good[..at].to_vec());
        }
        for bad in cases {
            fs::write(&path, bad).unwrap();
            assert!(matches!(cache.get(&key('a')), Lookup::Broken(_)));
        }
        // The facts of one run under the key of another.
        let other = cache.path(&key('b'));
        fs::create_dir_all(other.parent().unwrap()).unwrap();
        fs::write(&other, &good).unwrap();
        assert!(matches!(cache.get(&key('b')), Lookup::Broken(_)));
        fs::remove_file(&other).unwrap();
        fs::create_dir(&other).unwrap();
        assert!(matches!(cache.get(&key('b')), Lookup::Broken(_)));
        assert!(cache.put(&key('b'), &facts("r")).is_err());
        cache.put(&key('a'), &facts("r")).unwrap();
        assert!(matches!(cache.get(&key('a')), Lookup::Hit(_)));
    }

    #[cfg(unix)]
    #[test]
    fn a_cache_that_others_could_have_written_is_refused() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        fs::create_dir(&run).unwrap();
        for inside in [run.clone(), run.join("x/y")] {
            let error = Cache::open(&inside, [run.as_path()]).unwrap_err();
            assert!(error.to_string().contains("lies in the run"), "{error}");
        }
        symlink(&run, dir.path().join("link")).unwrap();
        assert!(Cache::open(&dir.path().join("link"), [run.as_path()]).is_err());
        let shared = dir.path().join("shared");
        fs::create_dir(&shared).unwrap();
        fs::set_permissions(&shared, fs::Permissions::from_mode(0o777)).unwrap();
        let error = Cache::open(&shared, []).unwrap_err();
        assert!(error.to_string().contains("chmod o-w"), "{error}");

        // A link in the place of a file is replaced, not written through.
        let cache = Cache::open(&dir.path().join("c"), []).unwrap();
        let victim = dir.path().join("victim");
        fs::write(&victim, "precious").unwrap();
        let path = cache.path(&key('a'));
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(&victim, &path).unwrap();
        cache.put(&key('a'), &facts("r")).unwrap();
        assert_eq!(fs::read(&victim).unwrap(), b"precious");
    }
}
