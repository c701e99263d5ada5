//! One `git cat-file` process that answers request after request.

use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bstr::ByteSlice;

use super::id::Oid;

/// Longest time that git may take for one object before it is ended.
const PATIENCE: Duration = Duration::from_secs(120);

/// Requests sent before their answers are read. Their text (at most 70 bytes each) fits in a pipe, so
/// neither side ever waits for the other.
pub(super) const PIPELINE: usize = 200;

/// Longest first line of an answer.
const MAX_ANSWER_LINE: u64 = 4096;

/// An object as git hands it out.
#[derive(Debug)]
pub(super) struct Answer {
    /// Its name.
    pub(super) id: Oid,
    /// `blob`, `tree`, `commit` or `tag`.
    pub(super) kind: String,
    /// Its size in bytes.
    pub(super) size: u64,
    /// Its content; empty when only asked for its size, `None` when larger than the limit.
    pub(super) content: Option<Vec<u8>>,
}

/// What a process is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// Kind and size.
    Size,
    /// The content too.
    Content,
}

/// A running process. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Batch {
    child: Arc<Mutex<Child>>,
    requests: ChildStdin,
    answers: BufReader<ChildStdout>,
    want: Want,
    /// `true` before waiting for git, `false` after.
    waiting: Sender<bool>,
}

impl Batch {
    /// Starts `git cat-file` in a private git directory. Nothing but the search path is taken over from the
    /// environment.
    pub(super) fn start(private: &Path, want: Want) -> std::io::Result<Self> {
        let mode = match want {
            Want::Size => "--batch-check",
            Want::Content => "--batch",
        };
        let mut child = Command::new("git")
            .args(["--no-pager", "--no-replace-objects", "cat-file", mode])
            .env_clear()
            .envs(std::env::var_os("PATH").map(|path| ("PATH", path)))
            .env("HOME", private)
            .env("XDG_CONFIG_HOME", private)
            .env("GIT_DIR", private)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", null_device())
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_ALLOC_LIMIT", "1g")
            .env("LC_ALL", "C")
            .current_dir(private)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()?;
        let (Some(requests), Some(answers)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        };
        let child = Arc::new(Mutex::new(child));
        let (waiting, signals) = channel();
        let watched = Arc::clone(&child);
        std::thread::spawn(move || watch(&signals, &watched));
        Ok(Self {
            child,
            requests,
            answers: BufReader::with_capacity(64 << 10, answers),
            want,
            waiting,
        })
    }

    /// Asks for objects; at most [`PIPELINE`] before their answers are read.
    pub(super) fn ask<'a>(&mut self, names: impl Iterator<Item = &'a str>) -> std::io::Result<()> {
        let mut text = String::new();
        for name in names.take(PIPELINE) {
            text.push_str(name);
            text.push('\n');
        }
        self.requests.write_all(text.as_bytes())?;
        self.requests.flush()
    }

    /// The next answer; `None` for an object that is not there.
    pub(super) fn answer(&mut self, limit: u64) -> std::io::Result<Option<Answer>> {
        let _ = self.waiting.send(true);
        let answer = self.read_answer(limit);
        let _ = self.waiting.send(false);
        answer
    }

    fn read_answer(&mut self, limit: u64) -> std::io::Result<Option<Answer>> {
        let mut line = Vec::new();
        let mut head = self.answers.by_ref().take(MAX_ANSWER_LINE);
        head.read_until(b'\n', &mut line)?;
        let Some(line) = line.strip_suffix(b"\n") else {
            return Err(std::io::ErrorKind::UnexpectedEof.into());
        };
        if line.ends_with(b" missing") || line.ends_with(b" ambiguous") {
            return Ok(None);
        }
        let mut fields = line.split_str(" ");
        let mut field = || fields.next().and_then(|f| f.to_str().ok());
        let bad = || std::io::Error::from(std::io::ErrorKind::InvalidData);
        let id = field()
            .and_then(|f| Oid::parse(f.as_bytes()))
            .ok_or_else(bad)?;
        let kind = field().ok_or_else(bad)?.to_owned();
        let size: u64 = field().and_then(|f| f.parse().ok()).ok_or_else(bad)?;
        let content = match self.want {
            Want::Size => Some(Vec::new()),
            Want::Content => self.read_content(size, limit)?,
        };
        Ok(Some(Answer {
            id,
            kind,
            size,
            content,
        }))
    }

    fn read_content(&mut self, size: u64, limit: u64) -> std::io::Result<Option<Vec<u8>>> {
        let mut content = Vec::new();
        let content = if size > limit {
            std::io::copy(&mut self.answers.by_ref().take(size), &mut std::io::sink())?;
            None
        } else {
            self.answers.by_ref().take(size).read_to_end(&mut content)?;
            Some(content)
        };
        let mut end = [0u8];
        self.answers.read_exact(&mut end)?;
        if end != *b"\n" {
            return Err(std::io::ErrorKind::InvalidData.into());
        }
        Ok(content)
    }
}

impl Drop for Batch {
    fn drop(&mut self) {
        end(&self.child);
    }
}

fn end(child: &Mutex<Child>) {
    let mut child = child.lock().unwrap_or_else(PoisonError::into_inner);
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends the process when one answer takes longer than [`PATIENCE`].
fn watch(signals: &Receiver<bool>, child: &Mutex<Child>) {
    while let Ok(waiting) = signals.recv() {
        if !waiting {
            continue;
        }
        match signals.recv_timeout(PATIENCE) {
            Ok(_) => {}
            Err(RecvTimeoutError::Timeout) => return end(child),
            Err(RecvTimeoutError::Disconnected) => return,
        }
    }
}

fn null_device() -> &'static str {
    if cfg!(windows) { "NUL" } else { "/dev/null" }
}
