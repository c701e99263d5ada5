//! `trace-audit merge`: judges the facts that shards of a sweep wrote.

use std::path::PathBuf;

use trace_audit::audit::Judge;
use trace_audit::experiment::config::Config;
use trace_audit::sweep::shard::Facts;

use super::output::Terminal;
use super::sweep::JudgeArgs;

/// Options of merging.
#[derive(Debug, clap::Args)]
pub(crate) struct MergeArgs {
    /// Files that `sweep --shard I/N -o FILE` wrote, in any order
    #[arg(value_name = "FACTS", required = true)]
    facts: Vec<PathBuf>,

    #[command(flatten)]
    judge: JudgeArgs,

    /// Configuration file with the policy, instead of the nearest trace-audit.toml above the working directory
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,
}

/// Judges the facts and returns the exit code.
pub(crate) fn run(args: &MergeArgs, terminal: &mut Terminal) -> anyhow::Result<u8> {
    let config = Config::find(None, args.config.as_deref())?;
    let policy = args.judge.policy(&config)?;
    let mut facts = Facts::open(&args.facts, args.judge.passing)?;
    for note in &facts.notes {
        terminal.note(note);
    }
    let judge = Judge {
        policy: &policy,
        lang: args.judge.lang(),
    };
    let tool = judge.tool(facts.rules_digest.clone());
    let code = args.judge.write(&tool, judge, terminal, &mut |each| {
        facts.each(each)?;
        Ok(true)
    })?;
    Ok(code.unwrap_or(0))
}
