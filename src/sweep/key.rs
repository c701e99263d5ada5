//! What the facts of a run were computed from, as one digest: the key of the cache.
//!
//! Everything that enters is in it: the inputs that [`discover`](crate::experiment::discover) resolved
//! (with the text of prompt, lists and task facts), every trace and log, the GT, the whole work tree
//! with its git directory, the base tree, the rules and this program. Files are taken by their
//! metadata (path, kind, size, times of change) or by their content, as the user chooses: the first is
//! fast and trusts the file system's clock, the second reads every byte.

use std::collections::BTreeMap;
use std::fs::{self, File, Metadata};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock};

use sha2::{Digest, Sha256};

use crate::audit::FACTS_SCHEMA;
use crate::experiment::discover::RunInputs;

/// By what the cache knows that a file is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Trust {
    /// Size, mode and times of change. A file that was changed with all of these kept is missed.
    Stat,
    /// Every byte.
    Content,
}

impl Trust {
    /// The word for options and messages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Stat => "stat",
            Self::Content => "content",
        }
    }
}

/// Makes the keys of one sweep. What many runs share (GT, base trees) is looked at once.
pub struct Keys {
    trust: Trust,
    /// What is the same for all runs.
    common: [u8; 32],
    shared: Mutex<BTreeMap<PathBuf, Arc<OnceLock<[u8; 32]>>>>,
}

impl Keys {
    /// Keys for facts made with the rules of that digest.
    pub fn new(rules_digest: &str, trust: Trust) -> Self {
        let mut hash = Hash::default();
        hash.text(FACTS_SCHEMA);
        hash.text(env!("CARGO_PKG_VERSION"));
        hash.text(rules_digest);
        hash.text(trust.name());
        // A program that was built anew may compute something else under the same version.
        if let Ok(meta) = std::env::current_exe().and_then(fs::metadata) {
            hash.metadata(&meta);
        }
        Self {
            trust,
            common: hash.finish(),
            shared: Mutex::default(),
        }
    }

    /// The key of a run: 64 hexadecimal digits.
    ///
    /// It is taken before the run is read. Should a file change in between, the facts are stored under
    /// a key that no later sweep computes.
    pub fn key(&self, inputs: &RunInputs) -> String {
        let mut hash = Hash::default();
        hash.0.update(self.common);
        // All members, whatever is added to them later; text and lists are in it as they are.
        hash.text(&format!("{inputs:?}"));
        for trace in &inputs.traces {
            hash.file(&trace.path, self.trust);
        }
        if let Some(patch) = &inputs.patch_file {
            hash.file(patch, self.trust);
        }
        for inputs in std::iter::once(inputs).chain(&inputs.rivals) {
            let references = inputs.gt.iter().chain(&inputs.other_gt).map(|gt| &gt.path);
            for path in references.chain(&inputs.base_tree) {
                hash.0.update(self.shared(path));
            }
        }
        if let Some(dir) = &inputs.dir {
            hash.tree(dir, self.trust);
        }
        crate::digest::hex(&hash.finish())
    }

    /// The digest of a file or tree that belongs to the benchmark.
    fn shared(&self, path: &Path) -> [u8; 32] {
        let cell = {
            let mut shared = self.shared.lock().unwrap_or_else(|e| e.into_inner());
            Arc::clone(shared.entry(path.to_owned()).or_default())
        };
        *cell.get_or_init(|| {
            let mut hash = Hash::default();
            if path.is_dir() {
                hash.tree(path, self.trust);
            } else {
                hash.file(path, self.trust);
            }
            hash.finish()
        })
    }
}

/// A digest over fields; each is written with its length, so that no two lists of fields are alike.
#[derive(Default)]
struct Hash(Sha256);

impl Hash {
    fn finish(self) -> [u8; 32] {
        self.0.finalize().into()
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    fn text(&mut self, text: &str) {
        self.bytes(text.as_bytes());
    }

    fn number(&mut self, number: u64) {
        self.0.update(number.to_le_bytes());
    }

    /// Size and times of change of a file.
    fn metadata(&mut self, meta: &Metadata) {
        self.number(meta.len());
        #[cfg(unix)]
        {
            use std::os::unix::fs::MetadataExt;
            self.number(u64::from(meta.mode()));
            for time in [
                meta.mtime(),
                meta.mtime_nsec(),
                meta.ctime(),
                meta.ctime_nsec(),
            ] {
                self.0.update(time.to_le_bytes());
            }
        }
        #[cfg(not(unix))]
        {
            let since = |t: std::time::SystemTime| t.duration_since(std::time::UNIX_EPOCH).ok();
            let time = meta.modified().ok().and_then(since).unwrap_or_default();
            self.number(time.as_secs());
            self.number(u64::from(time.subsec_nanos()));
        }
    }

    /// A file that the audit reads; links are followed, as it does.
    fn file(&mut self, path: &Path, trust: Trust) {
        match fs::metadata(path) {
            Ok(meta) => self.known_file(path, &meta, trust),
            Err(e) => self.text(&format!("{:?}", e.kind())),
        }
    }

    fn known_file(&mut self, path: &Path, meta: &Metadata, trust: Trust) {
        if trust == Trust::Stat || !meta.is_file() {
            self.metadata(meta);
            return;
        }
        if let Err(e) = self.content(path) {
            self.text(&format!("{:?}", e.kind()));
            self.metadata(meta);
        }
    }

    fn content(&mut self, path: &Path) -> std::io::Result<()> {
        let mut file = File::open(path)?;
        let mut inner = Sha256::new();
        let mut buffer = vec![0; 64 << 10];
        loop {
            let read = file.read(&mut buffer)?;
            let Some(part) = buffer.get(..read).filter(|part| !part.is_empty()) else {
                break;
            };
            inner.update(part);
        }
        self.0.update(inner.finalize());
        Ok(())
    }

    /// Everything below a directory, in order, links not followed.
    fn tree(&mut self, root: &Path, trust: Trust) {
        let mut open = vec![root.to_owned()];
        while let Some(dir) = open.pop() {
            let entries = match fs::read_dir(&dir) {
                Ok(entries) => entries,
                Err(e) => {
                    self.text(&format!("{:?}", e.kind()));
                    continue;
                }
            };
            let mut entries: Vec<_> = entries.flatten().collect();
            entries.sort_by_key(std::fs::DirEntry::file_name);
            self.number(entries.len() as u64);
            for entry in entries {
                self.bytes(entry.file_name().as_encoded_bytes());
                let path = entry.path();
                match entry.metadata() {
                    Ok(meta) if meta.is_dir() => {
                        self.text("dir");
                        open.push(path);
                    }
                    Ok(meta) if meta.is_symlink() => {
                        let target = fs::read_link(&path).unwrap_or_default();
                        self.bytes(target.as_os_str().as_encoded_bytes());
                    }
                    Ok(meta) => self.known_file(&path, &meta, trust),
                    Err(e) => self.text(&format!("{:?}", e.kind())),
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::gt::GtInput;

    fn key(inputs: &RunInputs, rules: &str, trust: Trust) -> String {
        Keys::new(rules, trust).key(inputs)
    }

    #[test]
    fn whatever_enters_changes_the_key() {
        let dir = tempfile::tempdir().unwrap();
        let run = dir.path().join("run");
        fs::create_dir_all(run.join(".git/logs")).unwrap();
        fs::create_dir_all(dir.path().join("base")).unwrap();
        let put = |path: &str, text: &str| fs::write(dir.path().join(path), text).unwrap();
        for path in ["run/a.py", "run/.git/logs/HEAD", "base/a.py", "gt.patch"] {
            put(path, "old text");
        }
        let inputs = RunInputs {
            dir: Some(run.clone()),
            base_tree: Some(dir.path().join("base")),
            gt: Some(GtInput {
                path: dir.path().join("gt.patch"),
                ..gt_input()
            }),
            ..RunInputs::default()
        };
        for trust in [Trust::Stat, Trust::Content] {
            let mut last = key(&inputs, "r", trust);
            assert_eq!(last, key(&inputs, "r", trust));
            assert_ne!(last, key(&inputs, "other rules", trust));
            let other = RunInputs {
                notes: vec!["n".into()],
                ..inputs.clone()
            };
            assert_ne!(last, key(&other, "r", trust));
            for (path, text) in [
                ("run/a.py", "new text"),
                ("run/.git/logs/HEAD", "new text"),
                ("base/a.py", "new text"),
                ("gt.patch", "new text"),
                ("run/b.py", ""),
                ("run/a.py", "old text"),
            ] {
                // The clock of the file system is coarse.
                std::thread::sleep(std::time::Duration::from_millis(15));
                put(path, text);
                let now = key(&inputs, "r", trust);
                assert_ne!(now, last, "{path} {trust:?}");
                last = now;
            }
            fs::remove_file(run.join("b.py")).unwrap();
            assert_ne!(key(&inputs, "r", trust), last);
            for path in ["run/a.py", "run/.git/logs/HEAD", "base/a.py", "gt.patch"] {
                put(path, "old text");
            }
        }
        assert_ne!(
            key(&inputs, "r", Trust::Stat),
            key(&inputs, "r", Trust::Content)
        );
    }

    fn gt_input() -> GtInput {
        GtInput {
            path: PathBuf::new(),
            source: crate::experiment::gt::InputSource::Flag,
            range: None,
        }
    }
}
