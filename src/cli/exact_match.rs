//! `trace-audit exact-match`: submissions of a benchmark against its gold patches.

use std::io::Write;
use std::path::{Path, PathBuf};

use trace_audit::submission::report::{self, Style};
use trace_audit::submission::tally::Duplicates;
use trace_audit::submission::unidiff::Release;
use trace_audit::submission::{Audit, Options};

/// Options of `exact-match`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExactMatchArgs {
    /// Data sets with gold patches: JSON lines, JSON or Parquet with `instance_id`, `patch`, `test_patch`
    #[arg(long, required = true, num_args = 1.., value_name = "FILE")]
    gold: Vec<PathBuf>,
    /// Predictions with `instance_id`, `model_patch`; a directory holds one submission a file
    #[arg(long, required = true, num_args = 1.., value_name = "FILE|DIR")]
    predictions: Vec<PathBuf>,
    /// Instances that were to be solved: ids, one a line, or a data set [default: those with a gold patch]
    #[arg(long, value_name = "FILE")]
    split: Option<PathBuf>,
    /// Resolved instances: a report of the evaluation, a directory of them, or NAME=FILE
    #[arg(long, num_args = 1.., value_name = "FILE|DIR|NAME=FILE")]
    results: Vec<String>,
    /// Which row counts when an instance has several
    #[arg(long, value_name = "RULE", default_value = "last", value_parser = ["first", "last", "any"])]
    duplicates: String,
    /// Also list what the published rule says of each row, as Python's `unidiff` of this release reads it
    #[arg(long, value_name = "RELEASE", num_args = 0..=1, default_missing_value = "0.7.5", value_parser = ["0.7.5", "1.0.1"])]
    compat: Option<String>,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json", "jsonl", "csv", "markdown"])]
    format: String,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Leave out the lists of matching instances; as CSV, write a row for each submission
    #[arg(long)]
    summary: bool,
    /// Show whole hunks
    #[arg(long)]
    detail: bool,
    /// What gives exit code 1
    #[arg(long, value_name = "WHAT", default_value = "flag", value_parser = ["flag", "never"])]
    fail_on: String,
}

impl ExactMatchArgs {
    /// The file to write to, instead of standard output.
    pub(crate) fn output(&self) -> Option<&Path> {
        self.output.as_deref()
    }
}

/// Compares, writes the report to `out` and returns the exit code: 1 when a submission is flagged.
pub(crate) fn run(args: &ExactMatchArgs, out: &mut dyn Write) -> anyhow::Result<u8> {
    let duplicates = Duplicates::ALL
        .into_iter()
        .find(|rule| rule.name() == args.duplicates)
        .unwrap_or_default();
    let release = match args.compat.as_deref() {
        Some("1.0.1") => Release::V1_0_1,
        _ => Release::V0_7_5,
    };
    let audit = Audit::run(Options {
        gold: args.gold.clone(),
        predictions: args.predictions.clone(),
        split: args.split.clone(),
        results: args.results.clone(),
        duplicates,
        release,
        compat: args.compat.is_some(),
    })?;
    let mut report = audit.report();
    let flagged = report.submissions.iter().any(|s| !s.flags.is_empty());
    if args.summary {
        report = report.without_matches();
    }
    let style = Style {
        summary: args.summary,
        detail: args.detail,
    };
    if let Some(format) = report::format(&args.format) {
        format.write(&report, style, out)?;
    }
    Ok(u8::from(flagged && args.fail_on == "flag"))
}
