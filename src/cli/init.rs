//! `trace-audit init`: a commented configuration file to start from.

use std::fs::OpenOptions;
use std::io::Write;
use std::path::PathBuf;

use trace_audit::Error;
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
    let path = args.dir.join(config::FILE_NAME);
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .open(&path)
        .map_err(|error| match error.kind() {
            std::io::ErrorKind::AlreadyExists => Error::Usage {
                what: format!("{} exists already", path.display()),
                fix: "edit it, or move it away first".to_owned(),
            },
            _ => Error::io(&path, error),
        })?;
    file.write_all(config::init_text().as_bytes())
        .map_err(|error| Error::io(&path, error))?;
    terminal.note(&format!("wrote {}", path.display()));
    Ok(0)
}
