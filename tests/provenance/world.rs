//! Tasks and runs in a temporary directory, audited in this process.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use tempfile::TempDir;
use trace_audit::audit::{Auditor, RunFacts};
use trace_audit::experiment::config::Config;
use trace_audit::experiment::discover::{Options, discover};
use trace_audit::patch::model::{FilePatch, FileStatus, LineKind, Patch};
use trace_audit::report::Lang;
use trace_audit::report::model::RunReport;
use trace_audit::rules::RuleSet;
use trace_audit::verdict::policy::Policy;

use crate::script::{Format, Step, Trace, trace};
use crate::support::{starter_tree, write, write_tree};

pub type Tree = BTreeMap<PathBuf, Vec<u8>>;

static RULES: LazyLock<RuleSet> = LazyLock::new(|| RuleSet::load(&[]).unwrap());
static POLICY: LazyLock<Policy> = LazyLock::new(Policy::default);

/// A task: its GT and the tree that it starts from.
#[derive(Debug)]
pub struct Task {
    pub id: String,
    pub gt_text: Vec<u8>,
    pub gt: Patch,
    /// What stands in the place of the GT, where somebody put another there.
    pub wrong_gt: Option<Vec<u8>>,
    pub start: Tree,
    pub prompt: String,
    /// `task_facts.tsv`.
    pub facts: String,
    /// Other files of `eval/`, such as the list of hand-written files.
    pub lists: BTreeMap<String, Vec<u8>>,
}

/// What became of an added line: nothing, itself, or other lines.
pub type Change<'a> = &'a dyn Fn(&str, usize, &str) -> Vec<String>;

impl Task {
    /// The files of the GT as an agent leaves them that changes each added line by `change`, given
    /// path, number of the line among the added ones of its file, and text.
    pub fn solved(&self, change: Change<'_>) -> Tree {
        let mut tree = self.start.clone();
        for file in self.gt.files.iter().filter(|f| !f.binary) {
            let Some(path) = &file.new_path else {
                if let Some(old) = &file.old_path {
                    tree.remove(&PathBuf::from(old.to_string()));
                }
                continue;
            };
            if file.status == FileStatus::Renamed
                && let Some(old) = &file.old_path
            {
                tree.remove(&PathBuf::from(old.to_string()));
            }
            let bytes = after(file, change);
            tree.insert(PathBuf::from(path.to_string()), bytes);
        }
        tree
    }

    /// As the GT leaves it.
    pub fn done(&self) -> Tree {
        self.solved(&|_, _, text| vec![text.to_owned()])
    }

    /// The files that differ between two trees, as an agent writes them with its tool.
    pub fn writes(&self, tree: &Tree) -> Vec<Step> {
        tree.iter()
            .filter(|(path, bytes)| self.start.get(*path) != Some(bytes))
            .map(|(path, bytes)| {
                let text = String::from_utf8_lossy(bytes).into_owned();
                Step::Write(path.display().to_string(), text)
            })
            .collect()
    }

    /// The GT's added lines of all files, as text.
    pub fn added(&self) -> String {
        let lines = self.gt.files.iter().flat_map(FilePatch::added);
        lines.map(|l| format!("{}\n", l.text)).collect()
    }

    pub fn gt_string(&self) -> String {
        String::from_utf8_lossy(&self.gt_text).into_owned()
    }
}

/// The new version of a file, as far as its hunks show it, with invented lines between them: the
/// counterpart of [`starter_tree`].
fn after(file: &FilePatch, change: Change<'_>) -> Vec<u8> {
    let path = file.path().to_string();
    let old = file
        .old_path
        .as_ref()
        .map(ToString::to_string)
        .unwrap_or_default();
    let mut lines: Vec<Vec<u8>> = Vec::new();
    let mut old_lines = 0;
    let mut final_newline = true;
    let mut added = 0;
    for hunk in &file.hunks {
        while old_lines + 1 < hunk.old_start as usize {
            old_lines += 1;
            lines.push(format!("filler {old_lines} of {old}").into_bytes());
        }
        for line in &hunk.lines {
            old_lines += usize::from(line.kind != LineKind::Added);
            match line.kind {
                LineKind::Removed => continue,
                LineKind::Context => lines.push(line.text.to_vec()),
                LineKind::Added => {
                    // Bytes that are no text stay as they are.
                    match std::str::from_utf8(&line.text) {
                        Ok(text) => lines.extend(
                            change(&path, added, text)
                                .into_iter()
                                .map(String::into_bytes),
                        ),
                        Err(_) => lines.push(line.text.to_vec()),
                    }
                    added += 1;
                }
            }
            final_newline = !line.no_newline;
        }
    }
    let mut bytes = lines.join(&b'\n');
    if final_newline && !lines.is_empty() {
        bytes.push(b'\n');
    }
    bytes
}

/// The facts with a package of an invented name, which the author's table lacks.
fn with_package(facts: &str) -> String {
    let mut lines = facts.lines();
    let head = lines.next().unwrap_or_default();
    let rows = lines.map(|l| format!("{l}\ttidepkg\n"));
    format!("{head}\tpackage\n{}", rows.collect::<String>())
}

/// A task of the benchmark author.
pub fn real_task(data: &Path, id: &str) -> Option<Task> {
    let eval = data.join("base_repo").join(id).join("eval");
    let gt_text = std::fs::read(eval.join("gt_diff.patch")).ok()?;
    let gt = trace_audit::patch::parse(&gt_text);
    let lists = [
        "handwritten_files.txt",
        "auto_generated_files.txt",
        "gt_files.txt",
    ]
    .into_iter()
    .filter_map(|name| Some((name.to_owned(), std::fs::read(eval.join(name)).ok()?)))
    .collect();
    let mut start = starter_tree(&gt);
    // A GT of new files alone shows nothing of the repository; an empty one would be no base.
    start.insert(
        "starter/notes.txt".into(),
        b"What was there before.\n".to_vec(),
    );
    Some(Task {
        id: id.to_owned(),
        start,
        gt,
        gt_text,
        wrong_gt: None,
        prompt: "Do the task that the issue describes.\n".into(),
        facts: with_package(&std::fs::read_to_string(data.join("task_facts.tsv")).ok()?),
        lists,
    })
}

/// One benchmark with one task.
pub struct World<'t> {
    pub task: &'t Task,
    root: TempDir,
}

/// A finished run.
pub struct Audited {
    pub report: RunReport,
    pub facts: RunFacts,
    pub trace: Trace,
}

impl Audited {
    pub fn verdict(&self) -> &'static str {
        self.report.verdict.map_or("error", |v| v.name())
    }

    pub fn reason(&self) -> String {
        serde_json::to_value(self.report.reason)
            .ok()
            .and_then(|v| v.as_str().map(str::to_owned))
            .unwrap_or_default()
    }

    pub fn causes(&self) -> Vec<&'static str> {
        self.report.causes.iter().map(|c| c.name()).collect()
    }

    pub fn flags(&self) -> Vec<&'static str> {
        self.report.flags.iter().map(|f| f.name()).collect()
    }

    /// Everything about the verdict in one line, for failures.
    pub fn say(&self) -> String {
        let m = &self.facts.measures;
        format!(
            "{} {} clause {:?} {:?} causes {:?} flags {:?} coverage {:?} {:?} n {} U {:?} T12 {:?} R6 {:?} S23 {:?}/{} E {:?} X {:?} obtained {} applied {} typed {:?} findings {:?} ledger {:?} unchecked {:?}",
            self.verdict(),
            self.reason(),
            self.report.clause,
            self.report.confidence,
            self.causes(),
            self.flags(),
            m.coverage,
            self.facts.coverage_reasons,
            m.n,
            m.u,
            m.t12.value(),
            m.r6.value(),
            m.s23.value(),
            m.s23_tokens,
            m.e,
            m.x,
            m.obtained,
            m.applied,
            m.shared_typed,
            self.report
                .findings
                .iter()
                .map(|f| (f.rule.as_str(), f.stage, f.line))
                .collect::<Vec<_>>(),
            self.facts.provenance.as_ref().and_then(|p| p.ledger),
            self.report.unchecked,
        )
    }
}

impl<'t> World<'t> {
    pub fn new(task: &'t Task) -> Self {
        let root = TempDir::new().unwrap();
        let folder = root.path().join("base_repo").join(&task.id);
        let gt = task.wrong_gt.as_ref().unwrap_or(&task.gt_text);
        write(&folder.join("eval/gt_diff.patch"), gt);
        for (name, bytes) in &task.lists {
            write(&folder.join("eval").join(name), bytes);
        }
        write(
            &folder.join("prompts").join(format!("{}-long.md", task.id)),
            &task.prompt,
        );
        write(&root.path().join("task_facts.tsv"), &task.facts);
        let world = Self { task, root };
        world.starts_from(&task.start);
        world
    }

    /// Puts another starter tree in the place of the task's.
    pub fn starts_from(&self, tree: &Tree) {
        let folder = self.root.path().join("base_repo").join(&self.task.id);
        let repo = folder.join("repo");
        if repo.exists() {
            std::fs::remove_dir_all(&repo).unwrap();
        }
        std::fs::create_dir_all(&repo).unwrap();
        write_tree(&repo, tree);
    }

    /// Takes the GT away.
    pub fn without_gt(&self) {
        let folder = self.root.path().join("base_repo").join(&self.task.id);
        std::fs::remove_dir_all(folder.join("eval")).unwrap();
    }

    /// The directory of a run.
    pub fn run_dir(&self, agent: &str) -> PathBuf {
        let name = format!("{}-{agent}-long-20310412", self.task.id);
        self.root.path().join("experiment").join(name)
    }

    /// Writes a run and audits it: the tree that it leaves, what it did, what it said last.
    pub fn audit(&self, format: Format, tree: &Tree, steps: &[Step], last: &str) -> Audited {
        let dir = self.run_dir("claude-opus-max");
        let trace = trace(format, &dir, &self.task.prompt, steps, last);
        self.audit_text(&dir, tree, trace)
    }

    /// The same with a trace that is there already.
    pub fn audit_text(&self, dir: &Path, tree: &Tree, trace: Trace) -> Audited {
        if dir.exists() {
            std::fs::remove_dir_all(dir).unwrap();
        }
        write_tree(dir, tree);
        if !trace.text.is_empty() {
            write(&dir.join("claude_run.jsonl"), &trace.text);
        }
        self.audit_dir(dir, trace)
    }

    /// Audits a run directory as it is.
    pub fn audit_dir(&self, dir: &Path, trace: Trace) -> Audited {
        let options = Options {
            facts: Some(self.root.path().join("task_facts.tsv")),
            ..Options::default()
        };
        let auditor = Auditor::new(&RULES, &POLICY, Lang::En);
        let inputs = discover(Some(dir), &options, &Config::default()).unwrap();
        let facts = auditor.facts(&inputs).unwrap();
        let report = auditor.judge(&facts);
        Audited {
            report,
            facts,
            trace,
        }
    }
}
