//! The prompt that the agent saw.
//!
//! Lines of the prompt are no evidence, so the audit needs the text. Benchmarks rewrite their prompts
//! after runs, so the copy that the harness left in the run (`TASK_PROMPT.md`) comes before the
//! benchmark's current file. But that copy lies where the agent can write, and an agent that adds
//! lines of the GT to it would have them discounted. Therefore the benchmark's file is handed on
//! beside it when the two differ, with a note: what only the run's copy holds counts where the trace
//! shows that no call can have written it.

use std::io::ErrorKind;
use std::path::Path;

use super::gt::InputSource;
use super::guarded::{self, Content, RunDir};
use super::wording::show_path;
use crate::Result;

/// The harness's copy of the prompt in a run directory.
const COPY: &str = "TASK_PROMPT.md";

/// Largest prompt that is read, in bytes. Real ones have a few kilobytes.
const LIMIT: u64 = 4 << 20;

/// A prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptInput {
    /// Its text; bytes that are no UTF-8 are replaced.
    pub text: String,
    /// Where it comes from.
    pub source: InputSource,
    /// The file, as a person would name it.
    pub label: String,
    /// SHA-256 of the file's bytes, in hexadecimal.
    pub sha256: String,
}

impl PromptInput {
    fn new(bytes: &[u8], source: InputSource, label: String) -> Self {
        let text = String::from_utf8_lossy(bytes);
        Self {
            text: text.strip_prefix('\u{feff}').unwrap_or(&text).to_owned(),
            source,
            label,
            sha256: crate::digest::sha256(bytes),
        }
    }
}

/// The prompts of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Prompts {
    /// The one to go by.
    pub(crate) prompt: Option<PromptInput>,
    /// The benchmark's current one, when `prompt` comes from the run and differs from it.
    pub(crate) benchmark: Option<PromptInput>,
    /// What is missing or differs.
    pub(crate) notes: Vec<String>,
}

/// Where the benchmark keeps the prompt of a task: `base_repo/TASK`, the task and the variant.
pub(crate) struct BenchmarkPrompt<'a> {
    pub(crate) task_dir: &'a Path,
    pub(crate) task: &'a str,
    pub(crate) variant: &'a str,
}

/// Finds the prompt: the flag's file, else the copy in the run, else the benchmark's.
///
/// # Errors
/// When the file named by the flag is missing, unreadable or larger than 4 MiB.
pub(crate) fn find(
    flag: Option<&Path>,
    run: Option<&RunDir>,
    benchmark: Option<&BenchmarkPrompt<'_>>,
) -> Result<Prompts> {
    let mut found = Prompts::default();
    if let Some(path) = flag {
        let bytes = guarded::read_named(path, LIMIT, "check the path given with --prompt")?;
        let label = path.to_string_lossy().into_owned();
        found.prompt = Some(PromptInput::new(&bytes, InputSource::Flag, label));
        return Ok(found);
    }
    match run.map_or(Content::Absent, |run| run.read(COPY, LIMIT)) {
        Content::Absent => {}
        Content::Refused(why) => found.notes.push(format!("`{COPY}` was not read: it {why}")),
        Content::Bytes(bytes) => {
            found.prompt = Some(PromptInput::new(&bytes, InputSource::Run, COPY.to_owned()));
        }
    }
    let current = benchmark.and_then(|b| read_benchmark(b, &mut found.notes));
    match (&found.prompt, current) {
        (None, current) => found.prompt = current,
        (Some(copy), Some(current)) if copy.text.trim() != current.text.trim() => {
            found.notes.push(format!(
                "`{COPY}` of the run and {} differ; lines that stand in both are the prompt, those of the run's copy alone where a full trace shows that no call can have written them",
                current.label
            ));
            found.benchmark = Some(current);
        }
        _ => {}
    }
    Ok(found)
}

/// The benchmark's file; one that is closed or too large is reported and left out.
fn read_benchmark(at: &BenchmarkPrompt<'_>, notes: &mut Vec<String>) -> Option<PromptInput> {
    let name = format!("{}-{}.md", at.task, at.variant);
    let path = at.task_dir.join("prompts").join(&name);
    if std::fs::metadata(&path).is_err_and(|e| e.kind() == ErrorKind::NotFound) {
        return None;
    }
    match guarded::read_named(&path, LIMIT, "restore the file") {
        Ok(bytes) => {
            let label = format!("base_repo/{}/prompts/{name}", at.task);
            Some(PromptInput::new(&bytes, InputSource::Benchmark, label))
        }
        Err(e) => {
            notes.push(format!("the prompt {} was not read: {e}", show_path(&path)));
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::PathBuf;

    struct Place {
        _root: tempfile::TempDir,
        task_dir: PathBuf,
        run: RunDir,
    }

    fn place(copy: Option<&str>, current: Option<&str>) -> Place {
        let root = tempfile::tempdir().unwrap();
        let task_dir = root.path().join("base_repo/T1");
        fs::create_dir_all(task_dir.join("prompts")).unwrap();
        let run = root.path().join("run");
        fs::create_dir(&run).unwrap();
        if let Some(text) = copy {
            fs::write(run.join(COPY), text).unwrap();
        }
        if let Some(text) = current {
            fs::write(task_dir.join("prompts/T1-long.md"), text).unwrap();
        }
        let run = RunDir::open(&run).unwrap();
        Place {
            _root: root,
            task_dir,
            run,
        }
    }

    fn search(place: &Place, flag: Option<&Path>) -> Result<Prompts> {
        let at = BenchmarkPrompt {
            task_dir: &place.task_dir,
            task: "T1",
            variant: "long",
        };
        find(flag, Some(&place.run), Some(&at))
    }

    #[test]
    fn the_runs_copy_before_the_benchmarks_file() {
        for (copy, current, want, beside, notes) in [
            (
                Some("a"),
                Some("b"),
                Some(("a", InputSource::Run)),
                Some("b"),
                1,
            ),
            (
                Some("a"),
                Some("a\n"),
                Some(("a", InputSource::Run)),
                None,
                0,
            ),
            (Some("a"), None, Some(("a", InputSource::Run)), None, 0),
            (
                None,
                Some("b"),
                Some(("b", InputSource::Benchmark)),
                None,
                0,
            ),
            (None, None, None, None, 0),
        ] {
            let place = place(copy, current);
            let found = search(&place, None).unwrap();
            let prompt = found.prompt.as_ref().map(|p| (p.text.as_str(), p.source));
            assert_eq!(prompt, want);
            assert_eq!(found.benchmark.map(|p| p.text).as_deref(), beside);
            assert_eq!(found.notes.len(), notes, "{:?}", found.notes);
        }
    }

    #[test]
    fn the_flag_wins_and_must_exist() {
        let place = place(Some("a"), Some("b"));
        let mine = place.run.path.join("mine.md");
        fs::write(&mine, "\u{feff}abc").unwrap();
        let prompt = search(&place, Some(&mine)).unwrap().prompt.unwrap();
        assert_eq!(
            (prompt.text.as_str(), prompt.source),
            ("abc", InputSource::Flag)
        );
        fs::write(&mine, "abc").unwrap();
        let prompt = search(&place, Some(&mine)).unwrap().prompt.unwrap();
        // The digest of "abc" in FIPS 180.
        assert!(prompt.sha256.starts_with("ba7816bf8f01cfea"));
        assert_eq!(prompt.sha256.len(), 64);
        let error = search(&place, Some(Path::new("/none.md"))).unwrap_err();
        assert_eq!(error.exit_code(), 66);
    }

    #[cfg(unix)]
    #[test]
    fn a_copy_that_is_a_link_or_huge_is_refused() {
        let place = place(None, Some("b"));
        std::os::unix::fs::symlink("/etc/passwd", place.run.path.join(COPY)).unwrap();
        let found = search(&place, None).unwrap();
        assert_eq!(found.prompt.unwrap().text, "b");
        assert!(found.notes[0].contains("leads out"), "{:?}", found.notes);

        fs::remove_file(place.run.path.join(COPY)).unwrap();
        let file = fs::File::create(place.run.path.join(COPY)).unwrap();
        file.set_len(5 << 30).unwrap();
        let found = search(&place, None).unwrap();
        assert_eq!(found.prompt.unwrap().text, "b");
        assert!(found.notes[0].contains("larger than"), "{:?}", found.notes);
    }
}
