//! `trace-audit scan TRACE...|-`: the rules alone, without ground truth and verdict.

use std::mem::ManuallyDrop;
use std::path::{Path, PathBuf};

use trace_audit::audit::scan::{convicts, scan, tool};
use trace_audit::experiment::config::Config;
use trace_audit::experiment::discover::{Options, TaskInputs, discover_task};
use trace_audit::report::model::{AuditReport, RunReport};
use trace_audit::report::{self, Style};
use trace_audit::rules::RuleSet;
use trace_audit::trace::TraceFile;
use trace_audit::{Error, Result};

use super::audit::{lang, load_rules};
use super::output::Terminal;

/// Exit code when reference content was obtained or the agent says so.
const FOUND: u8 = 1;

/// Options of `scan`.
#[derive(Debug, clap::Args)]
#[command(
    after_help = "Exit codes: 1 when reference content was obtained or the agent says so, 0 otherwise; 64 and above: errors."
)]
pub(crate) struct ScanArgs {
    /// Trace files; - is standard input
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Directory (or file) with more rules; may be given several times
    #[arg(long, value_name = "DIR")]
    rules: Vec<PathBuf>,
    /// Task id
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// The prompt that the agent saw
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Task facts: TSV with a header, or TOML
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
    /// Configuration file, instead of the nearest trace-audit.toml above the working directory
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json", "jsonl"])]
    format: String,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Language of the text report
    #[arg(long, value_name = "LANG", default_value = "en", value_parser = ["en", "zh"])]
    lang: String,
    /// Show every finding, mentions too
    #[arg(short, long)]
    verbose: bool,
    /// One line a trace
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
}

/// Scans the traces and returns the exit code.
pub(crate) fn run(args: &ScanArgs, terminal: &mut Terminal) -> anyhow::Result<u8> {
    let is_stdin = |path: &&PathBuf| path.as_os_str() == "-";
    if args.traces.iter().filter(is_stdin).count() > 1 {
        return Err(Error::Usage {
            what: "standard input can be read once".to_owned(),
            fix: "name - only once".to_owned(),
        }
        .into());
    }
    let config = Config::find(None, args.config.as_deref())?;
    let task = what_is_known(args, &config)?;
    // The process ends with this command: taking the rules apart first would be a part of its time for nothing.
    let rules = ManuallyDrop::new(load_rules(&args.rules, &config)?);
    let mut runs = Vec::new();
    let mut first_error = None;
    for path in &args.traces {
        match scan_one(&rules, &task, path) {
            Ok(report) => runs.push(report),
            Err(error) => {
                let name = path.display().to_string();
                runs.push(RunReport::failed(&name, &name, error.to_string()));
                first_error.get_or_insert(error);
            }
        }
    }
    // One trace, read by a person: its error is the whole answer.
    if let ([run], "text") = (runs.as_slice(), args.format.as_str())
        && run.error.is_some()
        && let Some(error) = first_error
    {
        return Err(error.into());
    }
    let found = runs.iter().flat_map(|run| &run.findings).any(convicts);
    let code = match first_error {
        _ if found => FOUND,
        Some(error) => error.exit_code(),
        None => 0,
    };
    write(args, &AuditReport::new(tool(&rules), runs), terminal)?;
    Ok(code)
}

/// What flags and configuration say of the task.
fn what_is_known(args: &ScanArgs, config: &Config) -> Result<TaskInputs> {
    let options = Options {
        task: args.task.clone(),
        prompt: args.prompt.clone(),
        facts: args.facts.clone(),
        ..Options::default()
    };
    discover_task(&options, config)
}

fn scan_one(rules: &RuleSet, task: &TaskInputs, path: &Path) -> Result<RunReport> {
    let label = if path.as_os_str() == "-" {
        "stdin".to_owned()
    } else {
        path.display().to_string()
    };
    let file = TraceFile {
        path: path.to_owned(),
        label,
    };
    scan(rules, task, file)
}

fn write(args: &ScanArgs, report: &AuditReport, terminal: &Terminal) -> anyhow::Result<()> {
    let style = Style {
        lang: lang(&args.lang),
        verbose: args.verbose,
        quiet: args.quiet,
    };
    let format = report::format(&args.format)
        .ok_or_else(|| anyhow::anyhow!("format {} is not in the table", args.format))?;
    terminal.data(args.output.as_deref(), |out| {
        Ok(format.write(report, style, out)?)
    })
}
