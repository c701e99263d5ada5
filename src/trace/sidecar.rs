//! Outputs that an agent saved in a file of their own because they were long.
//!
//! Claude Code gives the model the start of a long output and saves all of it in `tool-results/NAME` beside the
//! session (`SESSION.jsonl`, `SESSION/tool-results/`, `SESSION/subagents/agent-….jsonl`). The path in the trace is that
//! of another machine and written by the audited party, so only its last part is used, and only a regular file in
//! that very folder is read, to a limit.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Bytes of a saved output that are read.
const MAX_SAVED: u64 = 16 << 20;
/// Longest name of a saved output, in bytes.
const MAX_NAME: usize = 128;
/// The folder of saved outputs.
const FOLDER: &str = "tool-results";

/// The name of the file at the end of a path of whatever system; `None` unless it is a plain name.
pub(crate) fn name_of(path: &str) -> Option<&str> {
    let name = path.rsplit(['/', '\\']).next()?.trim();
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let usual = !name.is_empty()
        && name.len() <= MAX_NAME
        && !name.starts_with('.')
        && name.bytes().all(plain);
    usual.then_some(name)
}

/// Reads the saved output of that name beside the trace: its text, and whether that is only the start of it.
pub(crate) fn read(trace: &Path, name: &str) -> Option<(String, bool)> {
    let path = folder(trace)?.join(name_of(name)?);
    if !path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
        return None;
    }
    let mut bytes = Vec::new();
    let file = File::open(path).ok()?;
    file.take(MAX_SAVED + 1).read_to_end(&mut bytes).ok()?;
    let cut = bytes.len() as u64 > MAX_SAVED;
    bytes.truncate(MAX_SAVED as usize);
    Some((String::from_utf8_lossy(&bytes).into_owned(), cut))
}

/// The folder of the outputs of a session. No link leads to it.
fn folder(trace: &Path) -> Option<PathBuf> {
    let beside = trace.parent()?;
    let session = if beside.file_name()? == "subagents" {
        beside.parent()?.to_owned()
    } else {
        let name = trace.file_name()?.to_str()?;
        beside.join(name.split_once(".jsonl")?.0)
    };
    let is_real = |path: &Path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let folder = session.join(FOLDER);
    (is_real(&session) && is_real(&folder)).then_some(folder)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn names() {
        for (path, want) in [
            (
                "/h/.claude/projects/-w/S/tool-results/b1.txt",
                Some("b1.txt"),
            ),
            (r"C:\\Users\\x\\tool-results\\b1.txt", Some("b1.txt")),
            ("b-1_2.json", Some("b-1_2.json")),
            ("/h/..", None),
            ("/h/.ssh", None),
            ("/h/", None),
            ("", None),
            ("/h/a b", None),
            ("/h/a\u{0}", None),
        ] {
            assert_eq!(name_of(path), want, "{path}");
        }
        assert_eq!(name_of(&"x".repeat(MAX_NAME + 1)), None);
    }

    #[test]
    fn only_files_of_the_sessions_own_folder() {
        let dir = tempfile::tempdir().unwrap();
        let at = |path: &str| dir.path().join(path);
        fs::create_dir_all(at("s/tool-results")).unwrap();
        fs::create_dir_all(at("s/subagents")).unwrap();
        fs::write(at("s/tool-results/b1.txt"), "all of it").unwrap();
        fs::write(at("secret.txt"), "secret").unwrap();
        let all = Some(("all of it".to_owned(), false));
        assert_eq!(read(&at("s.jsonl"), "b1.txt"), all);
        assert_eq!(read(&at("s.jsonl.gz"), "b1.txt"), all);
        assert_eq!(read(&at("s/subagents/agent-1.jsonl"), "b1.txt"), all);
        for (trace, name) in [
            ("t.jsonl", "b1.txt"),
            ("s.jsonl", "b2.txt"),
            ("s.jsonl", "../../secret.txt"),
            ("s.jsonl", ".."),
            ("-", "b1.txt"),
        ] {
            assert_eq!(read(&at(trace), name), None, "{trace} {name}");
        }
        #[cfg(unix)]
        {
            use std::os::unix::fs::symlink;
            symlink(at("secret.txt"), at("s/tool-results/link.txt")).unwrap();
            assert_eq!(read(&at("s.jsonl"), "link.txt"), None);
            fs::create_dir(at("u")).unwrap();
            symlink(at("s/tool-results"), at("u/tool-results")).unwrap();
            assert_eq!(read(&at("u.jsonl"), "b1.txt"), None);
            symlink(at("s"), at("v")).unwrap();
            assert_eq!(read(&at("v.jsonl"), "b1.txt"), None);
        }
    }

    #[test]
    fn long_ones_are_cut() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir_all(dir.path().join("s/tool-results")).unwrap();
        let long = vec![b'x'; MAX_SAVED as usize + 1];
        fs::write(dir.path().join("s/tool-results/b.txt"), long).unwrap();
        let (text, cut) = read(&dir.path().join("s.jsonl"), "b.txt").unwrap();
        assert_eq!((text.len() as u64, cut), (MAX_SAVED, true));
    }
}
