//! How to read a table: names of columns, spellings, families, the form of names and reports. All of
//! it is data (`profile.toml`), so another benchmark is another file.

use std::collections::BTreeMap;
use std::path::Path;

use regex::Regex;
use serde::Deserialize;

use super::model::Outcome;
use super::panel::PanelRule;
use crate::{Error, Result};

const BUILT_IN: &str = include_str!("profile.toml");

/// A column that a table may have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Field {
    /// Name of the run.
    Run,
    /// Name of the task.
    Task,
    /// Name of the agent.
    Agent,
    /// Form of the prompt.
    Prompt,
    /// Date of the run.
    Date,
    /// Family of the task.
    Family,
    /// Name of the judge (long tables).
    Judge,
    /// The verdict (long tables).
    Verdict,
    /// Components of the points (long tables); all of the names are used.
    Points,
}

impl Field {
    /// The word used in profiles and options.
    pub fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Task => "task",
            Self::Agent => "agent",
            Self::Prompt => "prompt",
            Self::Date => "date",
            Self::Family => "family",
            Self::Judge => "judge",
            Self::Verdict => "verdict",
            Self::Points => "points",
        }
    }

    /// The field of that name.
    pub fn from_name(name: &str) -> Option<Self> {
        [
            Self::Run,
            Self::Task,
            Self::Agent,
            Self::Prompt,
            Self::Date,
            Self::Family,
            Self::Judge,
            Self::Verdict,
            Self::Points,
        ]
        .into_iter()
        .find(|f| f.name() == name)
    }
}

/// A name for a set of tasks.
#[derive(Debug, Clone)]
pub struct Family {
    /// As printed.
    pub name: String,
    /// Matches the whole name of a task.
    pub tasks: Regex,
}

/// How evaluator reports are read.
#[derive(Debug, Clone)]
pub struct ReportForm {
    /// Matches a file name; the group `judge` is the judge.
    pub file: Regex,
    /// The label before the verdict.
    pub verdict: String,
    /// The labels before the points.
    pub points: Vec<String>,
    /// The number after the slash.
    pub out_of: u32,
}

/// How tables and reports are read.
#[derive(Debug, Clone)]
pub struct Profile {
    /// Headers by which a column is found, in order of preference.
    pub columns: BTreeMap<Field, Vec<String>>,
    /// What follows the judge's name in the header of a wide verdict column.
    pub wide_verdict: String,
    /// What follows the judge's name in the headers of wide point columns.
    pub wide_points: Vec<String>,
    /// The words of a verdict, in capitals.
    pub words: BTreeMap<String, Outcome>,
    /// Other spellings of judges.
    pub judge_aliases: BTreeMap<String, String>,
    /// Other spellings of agents.
    pub agent_aliases: BTreeMap<String, String>,
    /// Parts of a run's name.
    pub run_name: Regex,
    /// Endings of the names of runs that were taken out.
    pub excluded: Vec<String>,
    /// Families, in order of preference.
    pub families: Vec<Family>,
    /// How reports are read.
    pub reports: ReportForm,
    /// The rule of the panel.
    pub panel: PanelRule,
}

impl Profile {
    /// The built-in profile.
    ///
    /// # Errors
    ///
    /// Only if the file compiled in were broken (a test reads it).
    pub fn built_in() -> Result<Self> {
        build(
            parse(Path::new("built-in profile"), BUILT_IN)?,
            Path::new("built-in profile"),
        )
    }

    /// The built-in profile with the keys of a file over it.
    ///
    /// # Errors
    ///
    /// The file cannot be read, is not TOML, has unknown keys or a broken pattern.
    pub fn with_file(path: &Path) -> Result<Self> {
        let bytes = super::read::whole_file(path)?;
        let text = String::from_utf8(bytes).map_err(|_| bad(path, None, "is not UTF-8".into()))?;
        let mut file = parse(Path::new("built-in profile"), BUILT_IN)?;
        file.overlay(parse(path, &text)?);
        build(file, path)
    }

    /// The headers of a field.
    pub fn headers(&self, field: Field) -> &[String] {
        self.columns.get(&field).map_or(&[], Vec::as_slice)
    }

    /// The verdict of a word, in any case.
    pub fn outcome(&self, word: &str) -> Option<Outcome> {
        self.words.get(&word.to_uppercase()).copied()
    }

    /// The words of a verdict, for messages.
    pub fn allowed_words(&self) -> String {
        let words: Vec<&str> = self.words.keys().map(String::as_str).collect();
        words.join(", ")
    }

    /// The family of a task, or the empty string.
    pub fn family(&self, task: &str) -> &str {
        self.families
            .iter()
            .find(|f| f.tasks.is_match(task))
            .map_or("", |f| f.name.as_str())
    }

    /// The name without the ending that marks a run as taken out, and whether it had one.
    pub fn unmarked<'a>(&self, name: &'a str) -> (&'a str, bool) {
        self.excluded
            .iter()
            .filter(|ending| !ending.is_empty())
            .find_map(|ending| name.strip_suffix(ending.as_str()))
            .map_or((name, false), |name| (name, true))
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    schema: u32,
    #[serde(default)]
    columns: BTreeMap<Field, Vec<String>>,
    #[serde(default)]
    wide: Wide,
    #[serde(default)]
    verdicts: BTreeMap<String, Outcome>,
    #[serde(default)]
    aliases: Aliases,
    #[serde(default)]
    names: Names,
    #[serde(default)]
    family: Vec<FamilyForm>,
    #[serde(default)]
    reports: Reports,
    panel: Option<PanelRule>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Wide {
    verdict: Option<String>,
    points: Option<Vec<String>>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Aliases {
    judge: BTreeMap<String, String>,
    agent: BTreeMap<String, String>,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Names {
    run: Option<String>,
    excluded: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FamilyForm {
    name: String,
    tasks: String,
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Reports {
    file: Option<String>,
    verdict: Option<String>,
    points: Option<Vec<String>>,
    out_of: Option<u32>,
}

impl File {
    fn overlay(&mut self, over: Self) {
        fn put<T>(slot: &mut Option<T>, over: Option<T>) {
            if over.is_some() {
                *slot = over;
            }
        }
        self.columns.extend(over.columns);
        put(&mut self.wide.verdict, over.wide.verdict);
        put(&mut self.wide.points, over.wide.points);
        self.verdicts.extend(over.verdicts);
        self.aliases.judge.extend(over.aliases.judge);
        self.aliases.agent.extend(over.aliases.agent);
        put(&mut self.names.run, over.names.run);
        put(&mut self.names.excluded, over.names.excluded);
        if !over.family.is_empty() {
            self.family = over.family;
        }
        put(&mut self.reports.file, over.reports.file);
        put(&mut self.reports.verdict, over.reports.verdict);
        put(&mut self.reports.points, over.reports.points);
        put(&mut self.reports.out_of, over.reports.out_of);
        put(&mut self.panel, over.panel);
    }
}

fn bad(path: &Path, line: Option<u64>, what: String) -> Error {
    Error::BadData {
        path: path.into(),
        line,
        what,
        fix: "correct the profile; docs/score.md describes its keys".into(),
    }
}

fn parse(path: &Path, text: &str) -> Result<File> {
    let file: File = toml::from_str(text).map_err(|e| {
        let line = e.span().map(|span| {
            let before = text.bytes().take(span.start);
            1 + before.filter(|b| *b == b'\n').count() as u64
        });
        bad(path, line, e.message().to_string())
    })?;
    if file.schema != 1 {
        let what = format!(
            "schema = {} is not known (this version reads 1)",
            file.schema
        );
        return Err(bad(path, None, what));
    }
    Ok(file)
}

fn build(file: File, path: &Path) -> Result<Profile> {
    let pattern = |key: &str, text: &str| {
        Regex::new(text)
            .map_err(|e| bad(path, None, format!("the pattern of `{key}` is broken: {e}")))
    };
    let need = |key: &str| bad(path, None, format!("`{key}` is missing or empty"));
    let filled =
        |key: &str, text: Option<String>| text.filter(|t| !t.is_empty()).ok_or_else(|| need(key));
    let families = file
        .family
        .into_iter()
        .map(|f| {
            let tasks = pattern("family.tasks", &format!("^(?:{})$", f.tasks))?;
            Ok(Family {
                name: f.name,
                tasks,
            })
        })
        .collect::<Result<_>>()?;
    let panel = file.panel.ok_or_else(|| need("panel"))?;
    if panel.pass == 0 || panel.fail == 0 {
        return Err(bad(
            path,
            None,
            "`panel.pass` and `panel.fail` start at 1".into(),
        ));
    }
    Ok(Profile {
        columns: file.columns,
        wide_verdict: filled("wide.verdict", file.wide.verdict)?,
        wide_points: file.wide.points.unwrap_or_default(),
        words: file
            .verdicts
            .into_iter()
            .map(|(w, o)| (w.to_uppercase(), o))
            .collect(),
        judge_aliases: file.aliases.judge,
        agent_aliases: file.aliases.agent,
        run_name: pattern("names.run", &filled("names.run", file.names.run)?)?,
        excluded: file.names.excluded.unwrap_or_default(),
        families,
        reports: ReportForm {
            file: pattern("reports.file", &filled("reports.file", file.reports.file)?)?,
            verdict: filled("reports.verdict", file.reports.verdict)?,
            points: file.reports.points.unwrap_or_default(),
            out_of: file.reports.out_of.unwrap_or(5),
        },
        panel,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_built_in_profile_is_sound() {
        let profile = Profile::built_in().unwrap();
        assert_eq!(profile.panel, PanelRule { pass: 3, fail: 2 });
        assert_eq!(profile.outcome("partial"), Some(Outcome::Partial));
        assert_eq!(profile.outcome("INVALID"), None);
        assert_eq!(profile.family("T34"), "LongBench");
        assert_eq!(profile.family("T51"), "");
        assert_eq!(profile.family("C1"), "CANN");
        assert_eq!(profile.unmarked("T1-x-long-INVALID"), ("T1-x-long", true));
    }

    #[test]
    fn names_of_runs_are_taken_apart() {
        let profile = Profile::built_in().unwrap();
        for (name, parts) in [
            (
                "C1-alpha-long-20260420",
                Some(["C1", "alpha", "long", "20260420"]),
            ),
            (
                "T34-beta-2-long-2026-04-14-INVALID",
                Some(["T34", "beta-2", "long", "2026-04-14"]),
            ),
            (
                "some-repo-M2-alpha-max-short-20260415",
                Some(["M2", "alpha-max", "short", "20260415"]),
            ),
            (
                "K3-alpha-short-2026-04-15-run2",
                Some(["K3", "alpha", "short", "2026-04-15"]),
            ),
            ("K3-alpha-short", Some(["K3", "alpha", "short", ""])),
            ("notes", None),
        ] {
            let got = profile.run_name.captures(name).map(|c| {
                ["task", "agent", "prompt", "date"].map(|g| c.name(g).map_or("", |m| m.as_str()))
            });
            assert_eq!(got, parts, "{name}");
        }
    }

    #[test]
    fn a_file_is_read_over_it_and_its_faults_have_a_line() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p.toml");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            Profile::with_file(&path)
        };
        let profile =
            read("schema = 1\n[columns]\nrun = [\"id\"]\n[verdicts]\nresolved = \"pass\"\n[panel]\npass = 1\nfail = 1\n")
                .unwrap();
        assert_eq!(profile.headers(Field::Run), ["id"]);
        assert_eq!(
            profile.headers(Field::Agent).first().map(String::as_str),
            Some("agent")
        );
        assert_eq!(profile.outcome("Resolved"), Some(Outcome::Pass));
        assert_eq!(profile.outcome("FAIL"), Some(Outcome::Fail));
        for (text, word) in [
            ("schema = 2\n", "schema = 2"),
            ("schema = 1\nfoo = 1\n", ":2: unknown field `foo`"),
            ("schema = 1\n[verdicts]\nX = \"maybe\"\n", ":3: "),
            ("schema = 1\n[names]\nrun = '('\n", "names.run"),
            ("schema = 1\n[panel]\npass = 0\nfail = 2\n", "start at 1"),
            ("schema = 1\n[columns]\nrum = [\"x\"]\n", ":3: "),
        ] {
            let message = read(text).unwrap_err().to_string();
            assert!(message.contains(word), "{message}");
        }
    }
}
