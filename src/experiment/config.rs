//! `trace-audit.toml`: what a project tells the tool once instead of with every command.
//!
//! The file is searched upward, from the folder that holds the run and then from the working
//! directory, and never inside a run, where the agent could have put one. Everything in it can be
//! overridden by a flag. Unknown keys are errors with their place: a misspelled key that is silently
//! ignored would change verdicts.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use toml::de::DeValue;

use super::facts_file::FactsTable;
use super::guarded::{self, RunDir};
use super::layout;
use super::toml_source::TomlSource;
use super::wording::show;
use crate::{Error, Result};

/// The name under which the configuration is searched.
pub const FILE_NAME: &str = "trace-audit.toml";

/// A commented configuration that changes nothing: what `init` writes.
pub const INIT_TEMPLATE: &str = include_str!("init.toml");

/// Largest configuration that is read, in bytes.
const LIMIT: u64 = 4 << 20;

/// The keys of the file.
const KEYS: &[&str] = &[
    "base_repo",
    "facts",
    "rules",
    "policy",
    "evaluator_files",
    "aliases",
];

/// Which policy to use.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PolicyChoice {
    /// A preset by name.
    Name(String),
    /// A policy file.
    File(PathBuf),
}

/// Where the facts of the tasks stand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FactsSource {
    /// In a file of their own.
    File(PathBuf),
    /// In the configuration itself.
    Inline(FactsTable),
}

/// What `trace-audit.toml` says; the default is what holds without one. Paths are already resolved
/// against the folder of the file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Config {
    /// The file, when there is one.
    pub path: Option<PathBuf>,
    /// Where the tasks are.
    pub base_repo: Option<PathBuf>,
    /// Facts about the tasks.
    pub facts: Option<FactsSource>,
    /// Further directories with rules.
    pub rules: Vec<PathBuf>,
    /// The policy.
    pub policy: Option<PolicyChoice>,
    /// Further exact names of evaluator files in the root of a run.
    pub evaluator_files: Vec<String>,
    /// Spellings of agents and the names to use for them.
    pub aliases: BTreeMap<String, String>,
}

impl Config {
    /// The configuration for a run: `explicit` (the flag `--config`), else the nearest
    /// `trace-audit.toml` above the run, else above the working directory; the default when there is
    /// none.
    ///
    /// # Errors
    /// [`Error::InputMissing`] when `explicit` is missing or a file cannot be read,
    /// [`Error::BadData`] with line and column when it holds a mistake.
    pub fn find(run: Option<&Path>, explicit: Option<&Path>) -> Result<Self> {
        if let Some(path) = explicit {
            return Self::read(path);
        }
        let run = run.and_then(|r| RunDir::open(r).ok());
        let here = std::env::current_dir().ok();
        match search(run.as_ref(), here.as_deref()) {
            Some(path) => Self::read(&path),
            None => Ok(Self::default()),
        }
    }

    /// Reads one file.
    ///
    /// # Errors
    /// As [`Config::find`].
    pub fn read(path: &Path) -> Result<Self> {
        let fix = "check the path given with --config; `trace-audit init` writes a new file";
        let text = guarded::read_named_text(path, LIMIT, fix)?;
        Self::parse(path, &text)
    }

    /// Parses a text; `path` is for messages, and relative paths are meant from its folder.
    ///
    /// # Errors
    /// [`Error::BadData`] with line and column.
    pub fn parse(path: &Path, text: &str) -> Result<Self> {
        let source = TomlSource { path, text };
        let folder = path.parent().unwrap_or_else(|| Path::new(""));
        let resolve = |text: &str| folder.join(text);
        let mut this = Self {
            path: Some(path.to_owned()),
            ..Self::default()
        };
        for (key, value) in &source.parse()? {
            let name: &str = key.as_ref();
            match name {
                "base_repo" => this.base_repo = Some(resolve(source.string(name, value)?)),
                "facts" => {
                    this.facts = Some(match value.as_ref() {
                        DeValue::Table(tables) => {
                            FactsSource::Inline(FactsTable::from_tables(source, tables)?)
                        }
                        _ => FactsSource::File(resolve(source.string(name, value)?)),
                    });
                }
                "rules" => {
                    let dirs = source.strings(name, value)?;
                    this.rules = dirs.into_iter().map(|(dir, _)| resolve(dir)).collect();
                }
                "policy" => this.policy = Some(policy(source.string(name, value)?, resolve)),
                "evaluator_files" => {
                    for (file, span) in source.strings(name, value)? {
                        if !is_root_name(file) {
                            let what = format!("{} is no name of a file in the root", show(file));
                            let fix = "write exact names, without folders and wildcards";
                            return Err(source.error(span, &what, fix));
                        }
                        this.evaluator_files.push(file.to_owned());
                    }
                }
                "aliases" => {
                    for (alias, canonical) in source.table(name, value)? {
                        let alias: &str = alias.as_ref();
                        let canonical = source.string(alias, canonical)?;
                        this.aliases.insert(alias.to_owned(), canonical.to_owned());
                    }
                }
                _ => return Err(source.unknown_key(key, KEYS)),
            }
        }
        Ok(this)
    }
}

/// A policy by its text: a file when it looks like a path, otherwise a name.
fn policy(text: &str, resolve: impl Fn(&str) -> PathBuf) -> PolicyChoice {
    if text.contains('/') || text.ends_with(".toml") {
        PolicyChoice::File(resolve(text))
    } else {
        PolicyChoice::Name(text.to_owned())
    }
}

/// True for one plain path component. `.git` is none: nothing may hide the history of a run.
fn is_root_name(name: &str) -> bool {
    !name.is_empty()
        && !matches!(name, "." | ".." | ".git")
        && !name.contains(['/', '\\', '*', '?', '\0'])
}

/// The nearest configuration above the run, else above the working directory.
fn search(run: Option<&RunDir>, here: Option<&Path>) -> Option<PathBuf> {
    let above_run = run.and_then(|r| layout::search_start_of_run(&r.path));
    let above_here = match (run, here) {
        (Some(run), Some(here)) if here.starts_with(&run.real) => {
            layout::search_start_of_run(&run.real)
        }
        (_, here) => here.and_then(layout::search_start),
    };
    [above_run, above_here]
        .into_iter()
        .flatten()
        .flat_map(Path::ancestors)
        .map(|dir| dir.join(FILE_NAME))
        .find(|path| fs::metadata(path).is_ok_and(|meta| meta.is_file()))
}

/// Writes the commented configuration into a directory, unless it has one; returns its path.
///
/// # Errors
/// [`Error::Usage`] when there is one already, [`Error::Io`] when it cannot be written.
pub fn init(dir: &Path) -> Result<PathBuf> {
    let path = dir.join(FILE_NAME);
    let file = fs::File::create_new(&path);
    match file.and_then(|mut f| std::io::Write::write_all(&mut f, INIT_TEMPLATE.as_bytes())) {
        Ok(()) => Ok(path),
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Err(Error::Usage {
            what: format!("{} is there already", path.display()),
            fix: "remove it first, or edit it".to_owned(),
        }),
        Err(e) => Err(Error::io(path, e)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Config> {
        Config::parse(Path::new("/bench/trace-audit.toml"), text)
    }

    #[test]
    fn the_template_changes_nothing() {
        let config = parse(INIT_TEMPLATE).unwrap();
        let want = Config {
            path: config.path.clone(),
            ..Config::default()
        };
        assert_eq!(config, want);
    }

    #[test]
    fn every_setting_of_the_template_is_real() {
        // Switch each setting on: `#key` becomes `key`, while prose has a blank after the `#`.
        let on: String = INIT_TEMPLATE
            .lines()
            .map(|line| match line.strip_prefix('#') {
                Some(rest) if !rest.starts_with(' ') && !rest.is_empty() => rest,
                _ => line,
            })
            // `facts` stands there in both forms; the file goes.
            .filter(|line| !line.starts_with("facts ="))
            .fold(String::new(), |text, line| text + line + "\n");
        let config = parse(&on).unwrap();
        assert_eq!(config.base_repo, Some(PathBuf::from("/bench/base_repo")));
        assert_eq!(config.rules, [PathBuf::from("/bench/audit-rules")]);
        assert_eq!(
            config.policy,
            Some(PolicyChoice::Name("default".to_owned()))
        );
        assert_eq!(config.evaluator_files, ["grading_report.md"]);
        assert_eq!(config.aliases["my-agent-v1.2"], "my-agent");
        let Some(FactsSource::Inline(facts)) = config.facts else {
            panic!("{:?}", config.facts);
        };
        assert_eq!(
            facts.get("T1").unwrap().pull_request.as_deref(),
            Some("123")
        );
        for key in KEYS {
            assert!(INIT_TEMPLATE.contains(key), "{key} is not in the template");
        }
    }

    #[test]
    fn paths_are_meant_from_the_file() {
        let config =
            parse("base_repo = '../b'\nfacts = '/abs/f.tsv'\nrules = 'one'\npolicy = 'p/own.toml'")
                .unwrap();
        assert_eq!(config.base_repo, Some(PathBuf::from("/bench/../b")));
        assert_eq!(
            config.facts,
            Some(FactsSource::File(PathBuf::from("/abs/f.tsv")))
        );
        assert_eq!(config.rules, [PathBuf::from("/bench/one")]);
        assert_eq!(
            config.policy,
            Some(PolicyChoice::File(PathBuf::from("/bench/p/own.toml")))
        );
    }

    #[test]
    fn mistakes_have_their_place_and_a_fix() {
        for (text, place, word) in [
            (
                "\nbse_repo = 'x'",
                ":2: column 1: ",
                "did you mean `base_repo`?",
            ),
            ("verdicts = 1", ":1: column 1: ", "known keys: base_repo"),
            (
                "base_repo = 3",
                ":1: column 13: ",
                "must be a string, and is integer",
            ),
            ("rules = ['a', 3]", ":1: column 15: ", "must be a string"),
            (
                "evaluator_files = ['a/b']",
                ":1: column 20: ",
                "no name of a file",
            ),
            (
                "evaluator_files = ['.git']",
                ":1: column 20: ",
                "no name of a file",
            ),
            (
                "evaluator_files = ['*']",
                ":1: column 20: ",
                "no name of a file",
            ),
            ("aliases = 'x'", ":1: column 11: ", "must be a table"),
            ("[aliases]\nx = 1", ":2: column 5: ", "must be a string"),
            ("facts = 1", ":1: column 9: ", "must be a string"),
            (
                "[facts.T1]\npull_request = 'x'",
                ":2: column 16: ",
                "no number",
            ),
            (
                "policy = 'a'\npolicy = 'b'",
                ":2: column 1: ",
                "duplicate key",
            ),
            ("x", ":1: column ", ""),
        ] {
            let error = parse(text).unwrap_err();
            assert_eq!(error.exit_code(), 65);
            let shown = error.to_string();
            assert!(
                shown.starts_with(&format!("/bench/trace-audit.toml{place}")),
                "{text}: {shown}"
            );
            assert!(shown.contains(word), "{text}: {shown}");
        }
    }

    #[test]
    fn deep_nesting_is_an_error_or_harmless() {
        for (open, close) in [("[", "]"), ("{a=", "}"), ("a.", "a = 1")] {
            for depth in [50, 1_000, 200_000] {
                let text = format!("rules = {}1{}", open.repeat(depth), close.repeat(depth));
                assert!(parse(&text).is_err());
                let text = format!("{}{close}", open.repeat(depth));
                assert!(parse(&text).is_err());
            }
        }
        for depth in [100, 100_000] {
            assert!(parse(&format!("facts.{}x = 1", "a.".repeat(depth))).is_err());
            assert!(parse(&format!("[facts.{}x]", "a.".repeat(depth))).is_err());
        }
    }

    #[test]
    fn found_above_the_run_and_never_inside() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let run = root.join("experiment/T1-codex-long-20260418");
        fs::create_dir_all(run.join("inner")).unwrap();
        fs::write(run.join("claude_run.jsonl"), "").unwrap();
        fs::write(run.join(FILE_NAME), "policy = 'agent'").unwrap();
        fs::write(run.join("inner").join(FILE_NAME), "policy = 'agent'").unwrap();
        let dir = RunDir::open(&run).unwrap();
        let inner = RunDir::open(&run.join("inner")).unwrap();

        let top = root.join(FILE_NAME);
        fs::write(&top, "").unwrap();
        for (run, here) in [
            (Some(&dir), None),
            (Some(&inner), None),
            (None, Some(run.as_path())),
            (None, Some(inner.path.as_path())),
            (Some(&dir), Some(run.as_path())),
        ] {
            assert_eq!(search(run, here), Some(top.clone()), "{run:?} {here:?}");
        }
        let near = root.join("experiment").join(FILE_NAME);
        fs::write(&near, "").unwrap();
        assert_eq!(search(Some(&dir), None), Some(near));
        let elsewhere = root.join("elsewhere");
        fs::create_dir(&elsewhere).unwrap();
        fs::write(elsewhere.join(FILE_NAME), "").unwrap();
        assert_eq!(
            search(None, Some(&elsewhere)),
            Some(elsewhere.join(FILE_NAME))
        );
    }

    #[test]
    fn the_named_file_wins_and_must_exist() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("other.toml");
        fs::write(&path, "policy = 'seed'").unwrap();
        let config = Config::find(None, Some(&path)).unwrap();
        assert_eq!(config.policy, Some(PolicyChoice::Name("seed".to_owned())));
        let error = Config::find(None, Some(&root.path().join("none"))).unwrap_err();
        assert_eq!(error.exit_code(), 66);
    }

    #[test]
    fn init_never_overwrites() {
        let root = tempfile::tempdir().unwrap();
        let path = init(root.path()).unwrap();
        assert_eq!(Config::read(&path).unwrap().policy, None);
        fs::write(&path, "policy = 'seed'").unwrap();
        assert_eq!(init(root.path()).unwrap_err().exit_code(), 64);
        assert!(Config::read(&path).unwrap().policy.is_some());
        assert_eq!(init(&root.path().join("none")).unwrap_err().exit_code(), 74);
    }
}
