//! What is reported of a run: the JSON contract (`docs/report.schema.json`) as types.

use serde::{Deserialize, Serialize};

use crate::provenance::model::Provenance;
use crate::rules::finding::{Cause, Confidence, Finding};
use crate::similarity::blocks::Block;
use crate::similarity::model::Similarity;
use crate::trace::TraceFileReport;
use crate::trace::event::Coverage;
use crate::verdict::check::Reason;
use crate::verdict::judge::{AuthorLabel, Flag};
use crate::verdict::measures::{Measures, Verdict};

/// Version of the report's shape.
pub const SCHEMA: &str = "trace-audit/1";

/// Which tool, rules and policy made a report.
#[derive(Debug, Clone, Serialize)]
pub struct ToolInfo {
    /// Version of this program.
    pub version: String,
    /// SHA-256 over the rules that were loaded, hexadecimal.
    pub rules_digest: String,
    /// Name of the policy; `None` when nothing was judged.
    pub policy: Option<String>,
    /// SHA-256 over its numbers, hexadecimal.
    pub policy_digest: Option<String>,
}

/// The traces of a run.
#[derive(Debug, Clone, Serialize)]
pub struct TraceInfo {
    /// How much of the run they show.
    pub coverage: Coverage,
    /// Why it is not more.
    #[serde(skip)]
    pub reasons: Vec<String>,
    /// The files.
    pub files: Vec<TraceFileReport>,
}

/// Which inputs a verdict rests on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InputsInfo {
    /// Path of the GT.
    pub gt: Option<String>,
    /// SHA-256 of the GT, hexadecimal.
    pub gt_sha256: Option<String>,
    /// The base the work tree was compared with: a commit or a directory.
    pub base: Option<String>,
    /// How the base was found.
    pub base_source: Option<String>,
    /// Where the prompt was read from.
    pub prompt: Option<String>,
    /// SHA-256 of it, hexadecimal.
    pub prompt_sha256: Option<String>,
    /// Where the task facts were read from.
    pub facts: Option<String>,
    /// Stashes, dropped commits and branches of the run that hold lines of the GT.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_behind: Vec<LeftBehind>,
}

/// A commit of the run that is not its work and holds lines of the GT.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeftBehind {
    /// What names it: `stash@{0}`, `HEAD@{2}`, `refs/heads/x`, or `dropped commit`.
    pub name: String,
    /// The commit, in hexadecimal digits.
    pub commit: String,
    /// Distinctive lines of the GT in files that differ from the base.
    pub gt_lines: u64,
    /// How many of them the final tree has too.
    pub in_patch: u64,
}

/// The verdict in words, for people. Not part of the JSON.
#[derive(Debug, Clone, Default)]
pub struct Words {
    /// The conditions that met the deciding clause, with their numbers; `None` for a clean run.
    pub conditions: Option<String>,
    /// The clause missed by least, and by how much.
    pub missed: Option<String>,
    /// Why a match is or is not evidence.
    pub chance: Option<String>,
    /// Comments, messages and names of new files that the patch shares with the GT, with examples.
    pub alike: Vec<String>,
    /// The word of the author's audit log, by cause.
    pub audit_log: Option<&'static str>,
}

/// What is listed only when asked for.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Detail {
    /// Blocks of lines that GT and patch both add.
    pub matching_blocks: Vec<Block>,
    /// Comment lines and messages that both add.
    pub matching_remarks: Vec<MatchingRemark>,
}

/// A comment line or message of the GT that the patch adds word for word.
#[derive(Debug, Clone, Serialize)]
pub struct MatchingRemark {
    /// File of the GT in which it stands first.
    pub gt_path: String,
    /// 1-based line there, in the new version.
    pub gt_line: u32,
    /// A comment line; otherwise a line with a message.
    pub comment: bool,
    /// The whole line as it stands in the GT.
    pub text: String,
}

/// The verdict on one run and all that it rests on.
#[derive(Debug, Clone, Serialize)]
pub struct RunReport {
    /// Name of the run directory, or of the trace or patch where there is none.
    pub run: String,
    /// Path as given.
    pub path: String,
    /// Task id.
    pub task: Option<String>,
    /// Agent configuration.
    pub agent: Option<String>,
    /// `long` or `short`.
    pub prompt_variant: Option<String>,
    /// Date of the run, `YYYY-MM-DD`.
    pub date: Option<String>,
    /// The directory is marked as out of the evaluation (`-INVALID`).
    pub excluded: bool,
    /// Why the run could not be judged.
    pub error: Option<String>,
    /// The verdict; `None` with an error.
    pub verdict: Option<Verdict>,
    /// The benchmark author's label beside ours.
    pub author_label: Option<AuthorLabel>,
    /// Stable name of the reason.
    pub reason: Option<Reason>,
    /// Number of the clause that decided.
    pub clause: Option<u8>,
    /// How sure.
    pub confidence: Option<Confidence>,
    /// Causes of what was found.
    pub causes: Vec<Cause>,
    /// What else a reader should know, as stable names.
    pub flags: Vec<Flag>,
    /// The traces; `None` when the run has none or could not be read.
    pub trace: Option<TraceInfo>,
    /// The comparison; `None` without GT or patch.
    pub similarity: Option<Similarity>,
    /// Where the lines came from; `None` without GT or trace.
    pub provenance: Option<Provenance>,
    /// All numbers the verdict was computed from; `None` with an error. With these and another
    /// policy the run can be judged again.
    pub measures: Option<Measures>,
    /// What the rules found, by place.
    pub findings: Vec<Finding>,
    /// The inputs.
    pub inputs: InputsInfo,
    /// What could not be checked, in words.
    pub unchecked: Vec<String>,
    /// What was wrong with the inputs, in words.
    pub problems: Vec<String>,
    /// What was decided on the way and why, in words.
    pub notes: Vec<String>,
    /// What was asked for beyond this.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
    /// The verdict in words.
    #[serde(skip)]
    pub words: Words,
}

impl RunReport {
    /// A run that could not be judged.
    pub fn failed(run: &str, path: &str, error: String) -> Self {
        Self {
            run: run.to_owned(),
            path: path.to_owned(),
            task: None,
            agent: None,
            prompt_variant: None,
            date: None,
            excluded: false,
            error: Some(error),
            verdict: None,
            author_label: None,
            reason: None,
            clause: None,
            confidence: None,
            causes: Vec::new(),
            flags: Vec::new(),
            trace: None,
            similarity: None,
            provenance: None,
            measures: None,
            findings: Vec::new(),
            inputs: InputsInfo::default(),
            unchecked: Vec::new(),
            problems: Vec::new(),
            notes: Vec::new(),
            detail: None,
            words: Words::default(),
        }
    }

    /// True when the rules were run over a trace and nothing was judged.
    pub fn is_scan(&self) -> bool {
        self.verdict.is_none() && self.error.is_none()
    }

    /// True when the environment, not the agent, is at fault.
    pub fn is_harness_fault(&self) -> bool {
        self.reason == Some(Reason::GtPreapplied)
    }
}

/// Counts over the runs of a report.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Summary {
    /// All runs.
    pub runs: u64,
    /// Clean ones.
    pub clean: u64,
    /// Ones of which it cannot be told.
    pub inconclusive: u64,
    /// Partial leaks.
    pub partial: u64,
    /// Invalid by the agent's doing.
    pub invalid: u64,
    /// Invalid by the environment's fault.
    pub harness: u64,
    /// Runs that could not be judged.
    pub errors: u64,
    /// Of all these, runs that the benchmark marks as out of the evaluation.
    pub excluded: u64,
}

impl Summary {
    /// Counts one run.
    pub fn add(&mut self, run: &RunReport) {
        self.runs += 1;
        self.excluded += u64::from(run.excluded);
        match run.verdict {
            None => self.errors += u64::from(!run.is_scan()),
            Some(Verdict::Clean) => self.clean += 1,
            Some(Verdict::Inconclusive) => self.inconclusive += 1,
            Some(Verdict::Partial) => self.partial += 1,
            Some(Verdict::Invalid) if run.is_harness_fault() => self.harness += 1,
            Some(Verdict::Invalid) => self.invalid += 1,
        }
    }
}

/// A whole report.
#[derive(Debug, Clone, Serialize)]
pub struct AuditReport {
    /// Always [`SCHEMA`].
    pub schema: &'static str,
    /// What made it.
    pub tool: ToolInfo,
    /// The runs, in the order given.
    pub runs: Vec<RunReport>,
    /// Counts.
    pub summary: Summary,
}

impl AuditReport {
    /// A report over `runs`, counted.
    pub fn new(tool: ToolInfo, runs: Vec<RunReport>) -> Self {
        let mut summary = Summary::default();
        for run in &runs {
            summary.add(run);
        }
        Self {
            schema: SCHEMA,
            tool,
            runs,
            summary,
        }
    }
}
