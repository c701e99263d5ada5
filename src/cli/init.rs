//! `trace-audit init`: a commented configuration file to start from.

use std::path::PathBuf;

use trace_audit::experiment::config;

use super::output::Terminal;

/// Options of `init`.
#[derive(Debug, clap::Args)]
pub(crate) struct InitArgs {
    /// Directory to put trace-audit.toml into (the one that holds `experiment/` and `base_repo/`)
    #[arg(default_value = ".", value_name = "DIR")]
    dir: PathBuf,
}

/// Writes the file; an existing one is never overwritten.
pub(crate) fn run(args: &InitArgs, terminal: &mut Terminal) -> anyhow::Result<u8> {
    let path = config::init(&args.dir)?;
    terminal.note(&format!("wrote {}", path.display()));
    Ok(0)
}
