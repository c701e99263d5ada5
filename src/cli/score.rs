//! `trace-audit score`: what remains of a ranking when the leaks are out.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use serde::Deserialize;
use trace_audit::score::analysis::{Options, analyse};
use trace_audit::score::bootstrap::Settings;
use trace_audit::score::panel::PanelRule;
use trace_audit::score::profile::{Field, Profile};
use trace_audit::score::read;
use trace_audit::score::read::audit::AuditedRun;
use trace_audit::score::report;
use trace_audit::score::standing::{Standing, Standings};
use trace_audit::score::treatments::Level;
use trace_audit::verdict::judge::judge;
use trace_audit::verdict::measures::Measures;
use trace_audit::verdict::policy::Policy;
use trace_audit::{Error, Result};

use super::output::Terminal;

/// Score before and after: counts, rates, ranks and agreement of the judges with and without the runs
/// that an audit (or you) found leaked.
///
/// Examples:
///
///   trace-audit score --scores scores.csv --audit audit.jsonl
///
///   trace-audit score --scores old.csv --exclude T34-agent-long-2026-04-14 --reruns new.csv -f markdown
#[derive(Debug, clap::Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct ScoreArgs {
    /// Score tables (CSV: one row a rating, or one row a run with columns for each judge), evaluator
    /// reports (eval_report-JUDGE.md), or directories with such reports
    #[arg(long, value_name = "FILE", required = true, num_args = 1..)]
    pub(crate) scores: Vec<PathBuf>,

    /// Verdicts of an audit (`trace-audit RUN... --format jsonl`, or json)
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) audit: Vec<PathBuf>,

    /// Names of runs to leave out, as if they were invalid
    #[arg(long, value_name = "RUN", num_args = 1..)]
    pub(crate) exclude: Vec<String>,

    /// Scores of reruns: a run left out is replaced by a rerun of the same task, agent and prompt
    #[arg(long, value_name = "FILE", num_args = 1..)]
    pub(crate) reruns: Vec<PathBuf>,

    /// What "after" leaves out; each level includes those before it
    #[arg(long, value_name = "LEVEL", default_value = "invalid",
          value_parser = PossibleValuesParser::new(["all", "harness", "invalid", "partial", "inconclusive"]))]
    pub(crate) treatment: String,

    /// When the judges together say PASS and FAIL [default: the profile's, pass=3,fail=2]
    #[arg(long, value_name = "pass=N,fail=N")]
    pub(crate) panel: Option<PanelRule>,

    /// How tables and reports are read: names of columns, words, spellings (see docs/score.md)
    #[arg(long, value_name = "FILE")]
    pub(crate) profile: Option<PathBuf>,

    /// A column's header: run, task, agent, prompt, date, family, judge, verdict or points (several
    /// headers of points are separated by commas)
    #[arg(long, value_name = "FIELD=HEADER", value_parser = column)]
    pub(crate) column: Vec<(Field, Vec<String>)>,

    /// Replicates of the bootstrap; 0 for no intervals
    #[arg(long, value_name = "N", default_value_t = Settings::default().replicates,
          value_parser = clap::value_parser!(u32).range(0..=100_000))]
    pub(crate) bootstrap: u32,

    /// Seed of the bootstrap
    #[arg(long, value_name = "N", default_value_t = Settings::default().seed)]
    pub(crate) seed: u64,

    /// Form of the output
    #[arg(short, long, value_name = "FORMAT", default_value = "text",
          value_parser = PossibleValuesParser::new(report::FORMATS.map(|f| f.name())))]
    pub(crate) format: String,

    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,

    /// Policy whose thresholds are moved by 20 % to see whether a rank depends on them: the one of
    /// the audit
    #[arg(long, value_name = "NAME|FILE", default_value = "default")]
    pub(crate) policy: String,
}

/// Reads `FIELD=HEADER`.
fn column(text: &str) -> std::result::Result<(Field, Vec<String>), String> {
    let (field, header) = text
        .split_once('=')
        .ok_or("write FIELD=HEADER, such as run=experiment_id")?;
    let field = Field::from_name(field.trim()).ok_or_else(|| {
        format!(
            "`{field}` is none of run, task, agent, prompt, date, family, judge, verdict, points"
        )
    })?;
    let headers = match field {
        Field::Points => header.split(',').map(|h| h.trim().to_string()).collect(),
        _ => vec![header.trim().to_string()],
    };
    Ok((field, headers))
}

/// Computes and writes the report. The exit code is 0; what was found is no error.
///
/// # Errors
///
/// Those of [`trace_audit::Error`], with its exit codes, and those of the writer.
pub(crate) fn run(args: &ScoreArgs, terminal: &Terminal) -> anyhow::Result<u8> {
    let profile = profile(args)?;
    let scores = read::load(&args.scores, &profile)?;
    let reruns = match args.reruns.as_slice() {
        [] => None,
        paths => Some(read::load(paths, &profile)?),
    };
    let audits = match args.audit.as_slice() {
        [] => None,
        paths => Some(read::audit::load(paths)?),
    };
    let tables: Vec<_> = std::iter::once(&scores).chain(&reruns).collect();
    let standings = Standings::new(&tables, audits.as_ref(), &args.exclude, &profile)?;
    let options = Options {
        rule: args.panel.unwrap_or(profile.panel),
        level: Level::ALL
            .into_iter()
            .find(|l| l.name() == args.treatment)
            .unwrap_or(Level::Invalid),
        bootstrap: Settings {
            replicates: args.bootstrap,
            seed: args.seed,
        },
    };
    let analysis = analyse(
        &scores,
        reruns.as_ref(),
        standings,
        audits.as_ref(),
        options,
        Some(&judge_again(&Policy::load(&args.policy)?)),
    )?;
    let format = report::by_name(&args.format).ok_or_else(|| Error::Usage {
        what: format!("there is no format `{}`", args.format),
        fix: "choose one of text, json, markdown, csv, latex".into(),
    })?;
    terminal.data(args.output.as_deref(), |out| {
        Ok(format.write(&analysis, out)?)
    })?;
    Ok(0)
}

/// Judges an audited run again with the thresholds of `policy` multiplied.
fn judge_again(policy: &Policy) -> impl Fn(&AuditedRun, f64) -> Option<Standing> + '_ {
    move |run, scale| {
        let measures = Measures::deserialize(run.measures.as_ref()?).ok()?;
        let judgement = judge(&measures, &policy.scaled(scale));
        Some(Standing::of_verdict(
            Some(judgement.verdict),
            judgement.is_harness(),
        ))
    }
}

/// The profile with the options over it.
fn profile(args: &ScoreArgs) -> Result<Profile> {
    let mut profile = match &args.profile {
        Some(path) => Profile::with_file(path)?,
        None => Profile::built_in()?,
    };
    for (field, headers) in &args.column {
        profile.columns.insert(*field, headers.clone());
    }
    Ok(profile)
}
