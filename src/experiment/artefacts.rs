//! Files in the root of a run directory that are not the agent's work.
//!
//! A run directory is the agent's checkout, and the harness and the evaluators put their own files
//! beside it. An evaluator may read the ground truth, so its logs read like a leak; and the trace
//! itself is no part of the patch. Both are known by their **exact names in the root**, as tables:
//! a file of the same name in a folder is the agent's.
//!
//! Two things a reader of the work tree must add, because only it knows them: a file that the GT or
//! the base names is never left out, and neither is one that the trace shows the agent writing.

use std::collections::BTreeSet;

use super::traces;

/// Names that begin with one text, end with another, and have only letters, digits, `.`, `_`, `-`
/// in between.
struct Pattern {
    start: &'static str,
    end: &'static str,
}

/// What evaluators leave behind: exact names.
const EVALUATOR_NAMES: &[&str] = &[
    "eval_report.md",
    "eval_events.jsonl",
    "eval_codex_events.jsonl",
    "eval_codex.log",
    "eval_metadata.json",
    "codex_review.txt",
    "opencode.json",
    ".claude",
    ".opencode_glm51_backups",
];

/// What evaluators leave behind: names that carry the evaluator's own name.
const EVALUATOR_PATTERNS: &[Pattern] = &[
    Pattern {
        start: "eval_report-",
        end: ".md",
    },
    Pattern {
        start: "eval_report_",
        end: ".md",
    },
    Pattern {
        start: "eval_opencode",
        end: ".log",
    },
];

/// What the harness writes, besides the traces.
const HARNESS_NAMES: &[&str] = &[
    "TASK_PROMPT.md",
    "run_metadata.json",
    "experiment_meta.json",
    "run_info.json",
    "RUNNING",
    "COMPLETED",
];

/// True for a file or folder that an evaluator left in the root of a run.
///
/// `root_name` is one path component; a trailing slash is allowed.
pub fn is_evaluator_artefact(root_name: &str) -> bool {
    let name = root_name.strip_suffix('/').unwrap_or(root_name);
    EVALUATOR_NAMES.contains(&name) || EVALUATOR_PATTERNS.iter().any(|p| p.matches(name))
}

/// True for a file that the harness writes into the root of a run: prompt, metadata, markers, traces.
pub fn is_harness_file(root_name: &str) -> bool {
    HARNESS_NAMES.contains(&root_name) || traces::is_runner_file(root_name)
}

impl Pattern {
    fn matches(&self, name: &str) -> bool {
        name.strip_prefix(self.start)
            .and_then(|rest| rest.strip_suffix(self.end))
            .is_some_and(|middle| {
                middle
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
            })
    }
}

/// The names in the root of one run that are not the agent's work: the tables of this module, the
/// evaluator files named in `trace-audit.toml`, and the traces found in this run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RootFilter {
    extra: BTreeSet<String>,
}

impl RootFilter {
    /// A filter with further exact names.
    pub fn new(extra: impl IntoIterator<Item = String>) -> Self {
        Self {
            extra: extra.into_iter().collect(),
        }
    }

    /// True when the file or folder of this name in the root of the run is to be left out of the
    /// agent's work, unless the GT or the base names it or the trace shows the agent writing it.
    pub fn excludes(&self, root_name: &str) -> bool {
        let name = root_name.strip_suffix('/').unwrap_or(root_name);
        self.is_evaluators(name) || is_harness_file(name)
    }

    /// True for a name of the evaluation, which is the agent's work after all where the trace shows the
    /// agent writing it.
    pub fn is_evaluators(&self, root_name: &str) -> bool {
        let name = root_name.strip_suffix('/').unwrap_or(root_name);
        let harness = is_harness_file(name);
        !harness && (is_evaluator_artefact(name) || self.extra.contains(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluator_files_by_exact_name() {
        for name in [
            "eval_report.md",
            "eval_report-claude.md",
            "eval_report-opencode-glm-5.1.md",
            "eval_report_opencode_glm51.md",
            "eval_events.jsonl",
            "eval_codex_events.jsonl",
            "eval_codex.log",
            "eval_opencode.log",
            "eval_opencode_glm51.log",
            "eval_metadata.json",
            "codex_review.txt",
            "opencode.json",
            ".claude",
            ".claude/",
            ".opencode_glm51_backups/",
        ] {
            assert!(is_evaluator_artefact(name), "{name}");
        }
        for name in [
            "",
            "/",
            "eval",
            "eval.md",
            "my_eval_report.md",
            "eval_report.md.bak",
            "eval_report-.rs",
            "eval_report-a b.md",
            "eval_report-a/b.md",
            "eval_reporter.md",
            "EVAL_REPORT.md",
            "src/eval_report.md",
            "claude",
            ".claude2",
            "claude_run.jsonl",
        ] {
            assert!(!is_evaluator_artefact(name), "{name}");
        }
    }

    #[test]
    fn the_filter_knows_harness_traces_and_extra_names() {
        let filter = RootFilter::new(["grading.txt".to_owned()]);
        for name in [
            "TASK_PROMPT.md",
            "run_metadata.json",
            "RUNNING",
            "claude_run.jsonl",
            "claude_run.log",
            "codex_events_isolated.jsonl",
            "eval_codex.log",
            "grading.txt",
        ] {
            assert!(filter.excludes(name), "{name}");
        }
        for name in ["README.md", "grading.txt2", "running", "events.jsonl"] {
            assert!(!filter.excludes(name), "{name}");
        }
    }
}
