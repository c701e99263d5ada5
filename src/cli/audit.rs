//! `trace-audit RUN...`: the main command.

use std::path::{Path, PathBuf};

use trace_audit::audit::Auditor;
use trace_audit::experiment::config::{Config, PolicyChoice};
use trace_audit::experiment::discover::{Options, discover};
use trace_audit::report::model::{AuditReport, RunReport};
use trace_audit::report::{self, Lang, Style};
use trace_audit::rules::RuleSet;
use trace_audit::rules::diagnostic::nearest;
use trace_audit::verdict::measures::Verdict;
use trace_audit::verdict::policy::Policy;
use trace_audit::{Error, Result};

use super::output::Terminal;

/// Options of the audit.
#[derive(Debug, clap::Args)]
pub(crate) struct AuditArgs {
    /// Run directories (experiment/<dir>)
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,

    #[command(flatten)]
    inputs: InputArgs,

    /// Directory (or file) with more rules; may be given several times
    #[arg(long, value_name = "DIR")]
    rules: Vec<PathBuf>,
    /// default, seed, strict, or a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    policy: Option<String>,

    /// Output format
    #[arg(short, long, value_name = "FORMAT", default_value = "text", value_parser = ["text", "json", "jsonl", "markdown"])]
    format: String,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Language of the text report
    #[arg(long, value_name = "LANG", default_value = "en", value_parser = ["en", "zh"])]
    lang: String,
    /// Show every finding, file and exposure
    #[arg(short, long)]
    verbose: bool,
    /// One line a run
    #[arg(short, long, conflicts_with = "verbose")]
    quiet: bool,
    /// Mildest verdict that gives a non-zero exit code
    #[arg(long, value_name = "VERDICT", default_value = "inconclusive", value_parser = ["invalid", "partial", "inconclusive", "never"])]
    fail_on: String,
}

/// Inputs that are otherwise found by themselves.
#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Inputs (found by themselves unless given)")]
pub(super) struct InputArgs {
    /// Ground truth: a unified diff, a SWE-bench row, or two commits as REPO@A..B; of several, the one
    /// most like the patch counts
    #[arg(long, value_name = "FILE|REPO@A..B")]
    gt: Vec<PathBuf>,
    /// The agent's patch, instead of the work tree
    #[arg(long, value_name = "FILE")]
    patch: Option<PathBuf>,
    /// List of the hand-written files of the ground truth
    #[arg(long, value_name = "FILE")]
    handwritten: Option<PathBuf>,
    /// Task id
    #[arg(long, value_name = "ID")]
    task: Option<String>,
    /// Trace file; may be given several times
    #[arg(long = "trace", value_name = "FILE")]
    traces: Vec<PathBuf>,
    /// Base commit of the work tree, or a directory with the plain base tree
    #[arg(long, value_name = "COMMIT|DIR")]
    base: Option<String>,
    /// The prompt that the agent saw
    #[arg(long, value_name = "FILE")]
    prompt: Option<PathBuf>,
    /// Task facts: TSV with a header, or TOML
    #[arg(long, value_name = "FILE")]
    facts: Option<PathBuf>,
    /// Directory with the tasks (base_repo)
    #[arg(long, value_name = "DIR")]
    base_repo: Option<PathBuf>,
    /// Configuration file, instead of the nearest trace-audit.toml above the run
    #[arg(long, value_name = "FILE")]
    pub(super) config: Option<PathBuf>,
}

impl AuditArgs {
    /// The default command takes any word for a run directory. When the first one does not exist and
    /// is nearly the name of a command, that was meant.
    pub(crate) fn mistyped_command(&self, commands: &[String]) -> Option<Error> {
        let first = self.runs.first()?;
        let word = first.to_str().filter(|word| !word.contains(['/', '\\']))?;
        if first.symlink_metadata().is_ok() {
            return None;
        }
        let meant = nearest(word, commands.iter().map(String::as_str))?;
        Some(Error::Usage {
            what: format!("there is no command and no run directory `{word}`"),
            fix: format!("did you mean `trace-audit {meant}`?"),
        })
    }
}

impl InputArgs {
    fn options(&self) -> Options {
        Options {
            gt: self.gt.clone(),
            patch: self.patch.clone(),
            handwritten: self.handwritten.clone(),
            task: self.task.clone(),
            traces: self.traces.clone(),
            base: self.base.clone(),
            prompt: self.prompt.clone(),
            facts: self.facts.clone(),
            base_repo: self.base_repo.clone(),
            base_tree: None,
        }
    }

    /// Something to audit was named, even without a run directory.
    fn is_enough_alone(&self) -> bool {
        self.patch.is_some() || !self.traces.is_empty()
    }
}

/// Audits the runs and returns the exit code.
pub(crate) fn run(args: &AuditArgs, terminal: &mut Terminal) -> anyhow::Result<u8> {
    let targets: Vec<Option<&Path>> = if args.runs.is_empty() && args.inputs.is_enough_alone() {
        vec![None]
    } else {
        args.runs.iter().map(|r| Some(r.as_path())).collect()
    };
    if targets.is_empty() {
        return Err(Error::Usage {
            what: "no run was named".to_owned(),
            fix: "name a run directory, or give --trace and --patch".to_owned(),
        }
        .into());
    }
    // Rules and policy are the same for all runs: a mistake in them is not one run's fault.
    let config = Config::find(
        targets.first().copied().flatten(),
        args.inputs.config.as_deref(),
    )?;
    let rules = load_rules(&args.rules, &config)?;
    let policy = Policy::load(&policy_name(args.policy.as_deref(), &config))?;
    let auditor = Auditor::new(&rules, &policy, lang(&args.lang));
    let mut runs = Vec::new();
    let mut first_error = None;
    for target in targets {
        match audit_one(&args.inputs, &auditor, target) {
            Ok(report) => runs.push(report),
            Err(error) => {
                let path = target.map_or_else(String::new, |p| p.display().to_string());
                runs.push(RunReport::failed(
                    &run_name(target),
                    &path,
                    error.to_string(),
                ));
                first_error.get_or_insert(error);
            }
        }
    }
    // One run, read by a person: its error is the whole answer.
    if let [run] = runs.as_slice()
        && run.verdict.is_none()
        && args.format == "text"
        && let Some(error) = first_error
    {
        return Err(error.into());
    }
    let code = exit_code(&runs, &args.fail_on, first_error.as_ref());
    let report = AuditReport::new(auditor.tool(), runs);
    write(args, &report, terminal)?;
    Ok(code)
}

/// The rules of the configuration and those named with `--rules`.
pub(super) fn load_rules(more: &[PathBuf], config: &Config) -> Result<RuleSet> {
    let mut dirs = config.rules.clone();
    dirs.extend(more.iter().cloned());
    RuleSet::load(&dirs)
}

/// Audits one run.
pub(super) fn audit_one(
    args: &InputArgs,
    auditor: &Auditor<'_>,
    target: Option<&Path>,
) -> Result<RunReport> {
    let config = Config::find(target, args.config.as_deref())?;
    let inputs = discover(target, &args.options(), &config)?;
    let facts = auditor.facts(&inputs)?;
    Ok(auditor.judge(&facts))
}

/// The flag, else the configuration, else the default.
pub(super) fn policy_name(given: Option<&str>, config: &Config) -> String {
    match (given, &config.policy) {
        (Some(given), _) => given.to_owned(),
        (None, Some(PolicyChoice::Name(given))) => given.clone(),
        (None, Some(PolicyChoice::File(path))) => path.display().to_string(),
        (None, None) => "default".to_owned(),
    }
}

/// The language that `--lang` names.
pub(super) fn lang(name: &str) -> Lang {
    if name == "zh" { Lang::Zh } else { Lang::En }
}

fn run_name(target: Option<&Path>) -> String {
    target
        .and_then(Path::file_name)
        .map_or_else(String::new, |n| n.to_string_lossy().into_owned())
}

/// The worst of the runs in the order invalid, partial, inconclusive, clean; milder ones than
/// `fail_on` count as clean. A run that could not be judged shows when nothing worse does.
pub(super) fn exit_code(runs: &[RunReport], fail_on: &str, error: Option<&Error>) -> u8 {
    let counted: &[Verdict] = match fail_on {
        "invalid" => &[Verdict::Invalid],
        "partial" => &[Verdict::Invalid, Verdict::Partial],
        "inconclusive" => &[Verdict::Invalid, Verdict::Partial, Verdict::Inconclusive],
        _ => &[],
    };
    counted
        .iter()
        .find(|verdict| runs.iter().any(|r| r.verdict == Some(**verdict)))
        .map(|verdict| verdict.exit_code())
        .or_else(|| error.map(Error::exit_code))
        .unwrap_or(0)
}

fn write(args: &AuditArgs, report: &AuditReport, terminal: &Terminal) -> anyhow::Result<()> {
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
