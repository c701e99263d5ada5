//! From a task to its ground truth and the file lists beside it.
//!
//! `base_repo/TASK/eval/` holds `gt_diff.patch`, `handwritten_files.txt`, `gt_files.txt` and
//! `auto_generated_files.txt`. Benchmarks close that folder while agents run: `chmod 000`, or renamed
//! to `eval.locked`. A closed folder is not a missing one. A task without a GT is audited by its
//! trace alone; a closed GT is an error, with the exact command that opens it, because a verdict
//! without it would look complete and is not.

use std::collections::BTreeSet;
use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::guarded;
use super::lists;
use super::wording::{shell_quote, show_path};
use crate::{Error, Result};

const PATCH: &str = "gt_diff.patch";
const HAND_WRITTEN: &str = "handwritten_files.txt";
const ALL_FILES: &str = "gt_files.txt";
const GENERATED: &str = "auto_generated_files.txt";

/// Who named an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum InputSource {
    /// A flag of the command line.
    Flag,
    /// A file of the run directory, written by the harness and open to the agent.
    Run,
    /// The benchmark's own tree.
    Benchmark,
}

impl InputSource {
    /// The name used in text and JSON.
    pub fn name(self) -> &'static str {
        match self {
            Self::Flag => "flag",
            Self::Run => "run",
            Self::Benchmark => "benchmark",
        }
    }
}

/// The ground truth of a run: a file that is there and can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GtInput {
    /// The patch file, or the repository of a range.
    pub path: PathBuf,
    /// Who named it.
    pub source: InputSource,
    /// The two commits whose difference it is, where it is no file.
    pub range: Option<Range>,
}

/// Two commits of a repository, as the user wrote them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Range {
    /// The state before.
    pub from: String,
    /// The state after.
    pub to: String,
}

impl GtInput {
    /// What to call it in a report.
    pub fn label(&self) -> String {
        match &self.range {
            Some(range) => format!("{}@{}..{}", self.path.display(), range.from, range.to),
            None => self.path.display().to_string(),
        }
    }

    /// Reads what was given with `--gt`: a file, or `REPOSITORY@FROM..TO` (and no file of that name is there).
    /// An empty side means `HEAD`, as in git.
    fn parse(given: &Path) -> Self {
        let file = Self {
            path: given.to_owned(),
            source: InputSource::Flag,
            range: None,
        };
        let text = given.to_string_lossy();
        if given.symlink_metadata().is_ok() {
            return file;
        }
        let Some((repository, range)) = text.rsplit_once('@') else {
            return file;
        };
        let Some((from, to)) = range.split_once("..") else {
            return file;
        };
        let or_head = |side: &str| match side {
            "" => "HEAD".to_owned(),
            side => side.to_owned(),
        };
        let repository = if repository.is_empty() {
            "."
        } else {
            repository
        };
        Self {
            path: PathBuf::from(repository),
            range: Some(Range {
                from: or_head(from),
                to: or_head(to.trim_start_matches('.')),
            }),
            ..file
        }
    }
}

/// A ground truth and its lists, as far as they exist.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GroundTruth {
    /// The patch.
    pub gt: Option<GtInput>,
    /// Further patches, any of which would be a solution.
    pub others: Vec<GtInput>,
    /// Files that people wrote.
    pub hand_written: Option<BTreeSet<String>>,
    /// Files that tools wrote.
    pub generated: Option<BTreeSet<String>>,
    /// All files of the GT.
    pub all_files: Option<BTreeSet<String>>,
    /// What is missing, in words.
    pub notes: Vec<String>,
}

impl GroundTruth {
    /// True when the hand-written list names every file of the GT and the generated list is empty:
    /// then nobody has told the two apart, and the hand-written list says nothing.
    ///
    /// Decided by `gt_files.txt`; without it, false. Whoever has read the patch can decide it then.
    pub fn lists_cover_all(&self) -> bool {
        let (Some(hand_written), Some(all)) = (&self.hand_written, &self.all_files) else {
            return false;
        };
        !all.is_empty()
            && all.is_subset(hand_written)
            && self.generated.as_ref().is_none_or(BTreeSet::is_empty)
    }
}

/// The GT and its lists for a run. Flags win; lists come from beside the patch they belong to.
///
/// `task_dir` is `base_repo/TASK`, when both are known.
///
/// # Errors
/// [`Error::InputMissing`] when a file named by a flag is missing, or when the `eval` folder or a
/// file in it exists and is closed.
pub(crate) fn locate(
    gt_flags: &[PathBuf],
    hand_written_flag: Option<&Path>,
    task_dir: Option<&Path>,
) -> Result<GroundTruth> {
    let mut truth = match (gt_flags, task_dir) {
        ([first, others @ ..], _) => {
            let mut truth = by_flag(first)?;
            for other in others {
                truth.others.extend(by_flag(other)?.gt);
            }
            truth
        }
        ([], Some(dir)) => in_benchmark(dir)?,
        ([], None) => GroundTruth::default(),
    };
    if let Some(path) = hand_written_flag {
        truth.hand_written = Some(lists::read(
            path,
            "check the path given with --handwritten",
        )?);
    }
    Ok(truth)
}

fn by_flag(path: &Path) -> Result<GroundTruth> {
    let named = GtInput::parse(path);
    if named.range.is_some() {
        return Ok(GroundTruth {
            gt: Some(named),
            ..GroundTruth::default()
        });
    }
    if let (Err(e), Some(dir)) = (fs::metadata(path), path.parent())
        && e.kind() == ErrorKind::NotFound
        && dir.file_name().is_some_and(|n| n == "eval")
    {
        refuse_locked(dir)?;
    }
    guarded::check_named_file(path, "check the path given with --gt")?;
    let mut truth = GroundTruth {
        gt: Some(named),
        ..GroundTruth::default()
    };
    if let Some(dir) = path.parent() {
        truth.read_lists(dir)?;
    }
    Ok(truth)
}

fn in_benchmark(task_dir: &Path) -> Result<GroundTruth> {
    let eval = task_dir.join("eval");
    let mut truth = GroundTruth::default();
    match fs::metadata(&eval) {
        Ok(meta) if meta.is_dir() => {}
        Ok(_) => {
            truth.note(format!("{} is no directory", show_path(&eval)));
            return Ok(truth);
        }
        Err(e) if e.kind() == ErrorKind::PermissionDenied => return Err(closed(&eval)),
        Err(_) => {
            refuse_locked(&eval)?;
            let missing = if task_dir.is_dir() { &eval } else { task_dir };
            truth.note(format!("{} is not there", show_path(missing)));
            return Ok(truth);
        }
    }
    let patch = eval.join(PATCH);
    match fs::metadata(&patch) {
        Ok(meta) if meta.is_file() => {
            fs::File::open(&patch).map_err(|e| closed_or_io(&patch, &e))?;
            truth.gt = Some(GtInput {
                path: patch,
                source: InputSource::Benchmark,
                range: None,
            });
        }
        Ok(_) => truth.note(format!("{} is no file", show_path(&patch))),
        Err(e) if e.kind() == ErrorKind::NotFound => {
            truth.note(format!("{} is not there", show_path(&patch)));
        }
        Err(e) => return Err(closed_or_io(&patch, &e)),
    }
    truth.read_lists(&eval)?;
    Ok(truth)
}

impl GroundTruth {
    fn note(&mut self, missing: String) {
        self.notes.push(format!(
            "no ground truth: {missing}; the run is judged by its trace"
        ));
    }

    /// Reads the lists that lie in `dir`; one that is missing stays `None`.
    fn read_lists(&mut self, dir: &Path) -> Result<()> {
        for (name, slot) in [
            (HAND_WRITTEN, &mut self.hand_written),
            (ALL_FILES, &mut self.all_files),
            (GENERATED, &mut self.generated),
        ] {
            let path = dir.join(name);
            match fs::metadata(&path) {
                Err(e) if e.kind() == ErrorKind::NotFound => {}
                Err(e) => return Err(closed_or_io(&path, &e)),
                Ok(_) => *slot = Some(lists::read(&path, "restore the list")?),
            }
        }
        Ok(())
    }
}

/// The error for `eval` when its folder was renamed to `eval.locked`.
fn refuse_locked(eval: &Path) -> Result<()> {
    let locked = eval.with_file_name("eval.locked");
    if locked.symlink_metadata().is_err() {
        return Ok(());
    }
    let mut command = format!("mv {} {}", shell_quote(&locked), shell_quote(eval));
    let inside = fs::metadata(locked.join(PATCH));
    if inside.is_err_and(|e| e.kind() == ErrorKind::PermissionDenied) {
        command.push_str(&format!(" && chmod u+rx {}", shell_quote(eval)));
    }
    Err(Error::InputMissing {
        path: eval.to_owned(),
        what: "the folder with the ground truth is locked: it was renamed to `eval.locked`"
            .to_owned(),
        fix: with_alternative(&command),
    })
}

fn closed_or_io(path: &Path, error: &std::io::Error) -> Error {
    if error.kind() == ErrorKind::PermissionDenied {
        closed(path)
    } else {
        guarded::unreadable(path, error, "restore the file")
    }
}

/// The error for a ground truth that is there and may not be read.
fn closed(path: &Path) -> Error {
    Error::InputMissing {
        path: path.to_owned(),
        what: "the ground truth may not be read (permission denied)".to_owned(),
        fix: with_alternative(&guarded::unlock_command(path)),
    }
}

fn with_alternative(command: &str) -> String {
    format!("to open it: {command}\n  or name another ground truth: --gt FILE")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A task folder with the given files in it.
    fn task(files: &[(&str, &str)]) -> (tempfile::TempDir, PathBuf) {
        let root = tempfile::tempdir().unwrap();
        let dir = root.path().join("base_repo/T1");
        for (name, text) in files {
            let path = dir.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        (root, dir)
    }

    fn set(names: &[&str]) -> Option<BTreeSet<String>> {
        Some(names.iter().map(|n| (*n).to_owned()).collect())
    }

    #[test]
    fn the_whole_folder() {
        let (_root, dir) = task(&[
            ("eval/gt_diff.patch", "patch"),
            ("eval/handwritten_files.txt", "a.rs\r\nb c.rs\r\n"),
            ("eval/gt_files.txt", "a.rs\nb c.rs\ng.rs\n"),
            ("eval/auto_generated_files.txt", "g.rs\n"),
        ]);
        let truth = locate(&[], None, Some(&dir)).unwrap();
        let gt = truth.gt.clone().unwrap();
        assert_eq!(gt.path, dir.join("eval/gt_diff.patch"));
        assert_eq!(gt.source, InputSource::Benchmark);
        assert_eq!(truth.hand_written, set(&["a.rs", "b c.rs"]));
        assert_eq!(truth.generated, set(&["g.rs"]));
        assert!(!truth.lists_cover_all());
        assert!(truth.notes.is_empty());
    }

    #[test]
    fn lists_that_tell_nothing_apart() {
        let set = |text: &str| Some(lists::parse(text));
        for (hand_written, all, generated, want) in [
            (set("a\nb"), set("a\nb"), set(""), true),
            (set("a\nb"), set("a\nb"), None, true),
            (set("a\nb\nc"), set("a\nb"), set("\n"), true),
            (set("a"), set("a\nb"), set(""), false),
            (set("a\nb"), set("a\nb"), set("b"), false),
            (set("a"), None, set(""), false),
            (None, set("a"), set(""), false),
            (set(""), set(""), set(""), false),
        ] {
            let truth = GroundTruth {
                hand_written,
                all_files: all,
                generated,
                ..GroundTruth::default()
            };
            assert_eq!(truth.lists_cover_all(), want, "{truth:?}");
        }
    }

    #[test]
    fn a_missing_ground_truth_is_a_note() {
        let (_root, dir) = task(&[("prompts/T1-long.md", "x")]);
        for (path, word) in [(dir.clone(), "eval`"), (dir.with_file_name("T9"), "T9`")] {
            let truth = locate(&[], None, Some(&path)).unwrap();
            assert_eq!(truth.gt, None);
            assert!(truth.notes[0].contains(word), "{:?}", truth.notes);
        }
        let (_root, dir) = task(&[("eval/handwritten_files.txt", "a")]);
        let truth = locate(&[], None, Some(&dir)).unwrap();
        assert_eq!((truth.gt, truth.hand_written), (None, set(&["a"])));
        assert!(truth.notes[0].contains("gt_diff.patch"));
        let (_root, dir) = task(&[("eval", "a file")]);
        assert!(locate(&[], None, Some(&dir)).unwrap().notes[0].contains("no directory"));
        assert_eq!(locate(&[], None, None).unwrap(), GroundTruth::default());
    }

    #[test]
    fn a_renamed_folder_is_an_error_with_the_command() {
        let (_root, dir) = task(&[("eval.locked/gt_diff.patch", "p")]);
        let error = locate(&[], None, Some(&dir)).unwrap_err();
        assert_eq!(error.exit_code(), 66);
        let command = format!(
            "mv '{}' '{}'",
            dir.join("eval.locked").display(),
            dir.join("eval").display()
        );
        assert!(error.to_string().contains(&command), "{error}");
        let flag = dir.join("eval/gt_diff.patch");
        let error = locate(std::slice::from_ref(&flag), None, None).unwrap_err();
        assert!(error.to_string().contains(&command), "{error}");
    }

    #[test]
    fn flags_win_and_bring_their_own_lists() {
        let (_root, dir) = task(&[
            ("eval/gt_diff.patch", "patch"),
            ("eval/handwritten_files.txt", "a"),
            ("mine/gt.patch", "other"),
            ("mine/list.txt", "z"),
        ]);
        let mine = dir.join("mine/gt.patch");
        let truth = locate(std::slice::from_ref(&mine), None, Some(&dir)).unwrap();
        assert_eq!(truth.gt.unwrap().source, InputSource::Flag);
        assert_eq!(truth.hand_written, None);
        let truth = locate(&[], Some(&dir.join("mine/list.txt")), Some(&dir)).unwrap();
        assert_eq!(truth.hand_written, set(&["z"]));
        let named = dir.join("eval/gt_diff.patch");
        assert_eq!(
            locate(std::slice::from_ref(&named), None, None)
                .unwrap()
                .hand_written,
            set(&["a"])
        );

        let error = locate(&[dir.join("none.patch")], None, Some(&dir)).unwrap_err();
        assert_eq!(error.exit_code(), 66);
        assert!(error.to_string().contains("--gt"), "{error}");
        let error = locate(&[], Some(&dir.join("none.txt")), Some(&dir)).unwrap_err();
        assert_eq!(error.exit_code(), 66);
        assert!(error.to_string().contains("--handwritten"), "{error}");
        assert_eq!(
            locate(std::slice::from_ref(&dir), None, None)
                .unwrap_err()
                .exit_code(),
            65
        );
    }

    #[cfg(unix)]
    #[test]
    fn the_benchmarks_own_tree_may_use_links() {
        let (root, dir) = task(&[("prompts/x", "")]);
        let store = root.path().join("store");
        fs::create_dir(&store).unwrap();
        fs::write(store.join("gt_diff.patch"), "p").unwrap();
        std::os::unix::fs::symlink(&store, dir.join("eval")).unwrap();
        assert!(locate(&[], None, Some(&dir)).unwrap().gt.is_some());
    }
}
