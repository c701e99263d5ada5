//! `trace-audit compare`: a patch or work tree beside the ground truth, and nothing else.

use std::io::Write;
use std::path::PathBuf;

use anstyle::Style as Paint;
use trace_audit::audit::Auditor;
use trace_audit::experiment::config::Config;
use trace_audit::experiment::discover::{Options, discover};
use trace_audit::report::escape::{cut, for_terminal};
use trace_audit::report::model::{AuditReport, MatchingRemark};
use trace_audit::report::{self, Style};
use trace_audit::rules::RuleSet;
use trace_audit::similarity::blocks::{Block, BlockLine};
use trace_audit::verdict::policy::Policy;

use super::audit::{exit_code, lang};
use super::output::Terminal;

/// Characters of a line that are shown of each side.
const COLUMN: usize = 56;

const BOLD: Paint = Paint::new().bold();
const DIM: Paint = Paint::new().dimmed();

/// Options of the comparison.
#[derive(Debug, clap::Args)]
#[command(group = clap::ArgGroup::new("compared").args(["patch", "worktree"]).required(true))]
pub(crate) struct CompareArgs {
    /// Ground truth: a unified diff, a SWE-bench row, or two commits as REPO@A..B; of several, the one
    /// most like the patch counts
    #[arg(long, required = true, value_name = "FILE|REPO@A..B")]
    gt: Vec<PathBuf>,
    /// The patch to compare: a unified diff
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,
    /// The work tree to compare, instead of a patch
    #[arg(long, value_name = "DIR")]
    worktree: Option<PathBuf>,
    /// The starter tree: a git repository or a plain directory
    #[arg(long, value_name = "DIR")]
    base_repo: Option<PathBuf>,
    /// Another base commit than the HEAD of that repository
    #[arg(long, value_name = "COMMIT")]
    base: Option<String>,
    /// List of the hand-written files of the ground truth
    #[arg(long, value_name = "FILE")]
    handwritten: Option<PathBuf>,
    /// The prompt: its lines are left out
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// The row of the ground truth's file, by its instance id
    #[arg(long, value_name = "ID")]
    task: Option<String>,

    /// List the matching blocks side by side
    #[arg(long)]
    show: bool,
    /// default, seed, strict, or a TOML file
    #[arg(long, value_name = "NAME|FILE", default_value = "default")]
    policy: String,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json"])]
    format: String,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Language of the text report
    #[arg(long, value_name = "LANG", default_value = "en", value_parser = ["en", "zh"])]
    lang: String,
    /// Show every compared file
    #[arg(short, long)]
    verbose: bool,
    /// Mildest verdict that gives a non-zero exit code
    #[arg(long, value_name = "VERDICT", default_value = "inconclusive", value_parser = ["invalid", "partial", "inconclusive", "never"])]
    fail_on: String,
}

impl CompareArgs {
    fn options(&self) -> Options {
        Options {
            gt: self.gt.clone(),
            patch: self.patch.clone(),
            base_tree: self.base_repo.clone(),
            base: self.base.clone(),
            handwritten: self.handwritten.clone(),
            prompt: self.prompt.clone(),
            task: self.task.clone(),
            ..Options::default()
        }
    }
}

/// Compares and returns the exit code: that of the verdict which similarity alone carries.
pub(crate) fn run(args: &CompareArgs, terminal: &mut Terminal) -> anyhow::Result<u8> {
    let rules = RuleSet::load(&[])?;
    let policy = Policy::load(&args.policy)?;
    let lang = lang(&args.lang);
    let auditor = Auditor::new(&rules, &policy, lang);
    let inputs = discover(
        args.worktree.as_deref(),
        &args.options(),
        &Config::default(),
    )?;
    let mut run = auditor.compare(inputs)?;
    let code = exit_code(std::slice::from_ref(&run), &args.fail_on, None);
    if !args.show {
        run.detail = None;
    }
    let report = AuditReport::new(auditor.tool(), vec![run]);
    let style = Style {
        lang,
        verbose: args.verbose,
        quiet: false,
    };
    let format = report::format(&args.format)
        .ok_or_else(|| anyhow::anyhow!("format {} is not in the table", args.format))?;
    terminal.data(args.output.as_deref(), |out| {
        format.write(&report, style, out)?;
        let details = report.runs.iter().filter_map(|run| run.detail.as_ref());
        // JSON has them inside.
        for detail in details.filter(|_| args.format == "text") {
            for block in &detail.matching_blocks {
                write_block(block, out)?;
            }
            write_remarks(&detail.matching_remarks, out)?;
        }
        Ok(())
    })?;
    Ok(code)
}

/// Comments and messages that both sides add, by their place in the GT.
fn write_remarks(remarks: &[MatchingRemark], out: &mut dyn Write) -> anyhow::Result<()> {
    if !remarks.is_empty() {
        writeln!(
            out,
            "\n{BOLD}comments and messages in both, word for word{BOLD:#}"
        )?;
    }
    for remark in remarks {
        let (path, text) = (
            for_terminal(&remark.gt_path),
            for_terminal(remark.text.trim()),
        );
        writeln!(out, "  {path}:{}  {text}", remark.gt_line)?;
    }
    Ok(())
}

/// Both sides of a block. Lines that are not distinctive are dimmed; what is equal on both sides up to white space
/// is printed all the same, since that is what people want to see.
fn write_block(block: &Block, out: &mut dyn Write) -> anyhow::Result<()> {
    let range = |number: fn(&BlockLine) -> u32| {
        let ends = (block.lines.first(), block.lines.last());
        match ends {
            (Some(first), Some(last)) => format!("{}-{}", number(first), number(last)),
            _ => String::new(),
        }
    };
    let left = format!("{}:{}", for_terminal(&block.gt_path), range(|l| l.gt_line));
    let right = format!("{}:{}", for_terminal(&block.path), range(|l| l.line));
    writeln!(out)?;
    writeln!(
        out,
        "{BOLD}{left:<width$} | {right}{BOLD:#}",
        width = COLUMN + 7
    )?;
    for line in &block.lines {
        let paint = if line.distinctive { Paint::new() } else { DIM };
        let mark = if line.distinctive { '*' } else { ' ' };
        let (gt, own) = (column(&line.gt_text), column(&line.text));
        let text = format!(
            "{mark}{:>5} {gt:<COLUMN$} |{:>6} {own}",
            line.gt_line, line.line
        );
        writeln!(out, "{paint}{}{paint:#}", text.trim_end())?;
    }
    Ok(())
}

/// A line made harmless, tabs as two blanks, cut to its column.
fn column(text: &str) -> String {
    let text = text.trim_end_matches('\r').replace('\t', "  ");
    let text = for_terminal(&text);
    let one_less = COLUMN.saturating_sub(1);
    if text.chars().count() > COLUMN {
        cut(&text, one_less).into_owned()
    } else {
        text.into_owned()
    }
}
