//! The command line: one file per subcommand. Only these files know clap, and only they print.

mod audit;
mod compare;
mod events;
mod exact_match;
mod explain;
mod init;
mod merge;
mod output;
mod rules;
mod scan;
mod score;
mod sweep;

use std::panic;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use output::{ColorChoice, Terminal};

/// Exit code of a wrong command line (`EX_USAGE`).
const USAGE: u8 = 64;
/// Exit code of a fault of this program (`EX_SOFTWARE`).
const BUG: u8 = 70;
/// Exit code when the system refuses to read or write (`EX_IOERR`).
const IO: u8 = 74;

/// Did a coding agent write its patch, or copy it from the ground truth?
///
/// Reads a run directory (agent trace and work tree), the ground truth and editable rules, and says
/// clean, partial, invalid or inconclusive, with evidence that a person can check. Works offline.
#[derive(Debug, Parser)]
#[command(
    name = "trace-audit",
    version,
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = "Exit codes: 0 clean, 1 partial, 2 invalid, 3 inconclusive (the worst of the runs, in the \
                  order 2, 1, 3, 0);\n64 and above: errors (64 usage, 65 bad data, 66 input missing, 70 bug, 74 I/O)."
)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,

    #[command(flatten)]
    audit: audit::AuditArgs,

    /// When to use colours
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        help_heading = "Output"
    )]
    color: ColorChoice,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Audit runs (the default command)
    Audit(audit::AuditArgs),
    /// Say why a run got its verdict: clause by clause, what was checked, what could not be
    Explain(explain::ExplainArgs),
    /// Compare a patch or work tree with the ground truth alone
    Compare(compare::CompareArgs),
    /// Audit many runs: parallel, cached, resumable
    Sweep(sweep::SweepArgs),
    /// Judge the facts that the shards of a sweep wrote
    Merge(merge::MergeArgs),
    /// Print the normalised events of traces as JSON lines
    Events(events::EventsArgs),
    /// Run the rules over traces, without ground truth and verdict
    Scan(scan::ScanArgs),
    /// List, show, check, test and write rules
    Rules(rules::RulesArgs),
    /// Compare submissions of a benchmark with its gold patches
    ExactMatch(exact_match::ExactMatchArgs),
    /// Recompute a score table without the leaked runs
    Score(score::ScoreArgs),
    /// Write a commented trace-audit.toml
    Init(init::InitArgs),
}

/// Runs the command and maps its end to an exit code.
pub(crate) fn main() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return usage(&error),
    };
    let mut terminal = Terminal::new(cli.color);
    if cli.command.is_none()
        && let Some(error) = cli.audit.mistyped_command(&command_names())
    {
        terminal.error(&error.into());
        return ExitCode::from(USAGE);
    }
    let result = panic::catch_unwind(panic::AssertUnwindSafe(|| {
        run(cli.command, &cli.audit, &mut terminal)
    }));
    match result {
        Ok(Ok(code)) => ExitCode::from(code),
        Ok(Err(error)) => {
            let code = exit_code(&error);
            if code != 0 {
                terminal.error(&error);
            }
            ExitCode::from(code)
        }
        Err(_) => {
            terminal.note("this is a fault of trace-audit, not of the run; please report it with the message above");
            ExitCode::from(BUG)
        }
    }
}

/// Names of the subcommands.
fn command_names() -> Vec<String> {
    let cli = <Cli as clap::CommandFactory>::command();
    cli.get_subcommands()
        .map(|command| command.get_name().to_owned())
        .collect()
}

fn run(
    command: Option<Command>,
    default: &audit::AuditArgs,
    terminal: &mut Terminal,
) -> anyhow::Result<u8> {
    match command {
        None => audit::run(default, terminal),
        Some(Command::Audit(args)) => audit::run(&args, terminal),
        Some(Command::Explain(args)) => explain::run(&args, terminal),
        Some(Command::Compare(args)) => compare::run(&args, terminal),
        Some(Command::Sweep(args)) => sweep::run(&args, terminal),
        Some(Command::Merge(args)) => merge::run(&args, terminal),
        Some(Command::Events(args)) => events::run(&args, terminal),
        Some(Command::Scan(args)) => scan::run(&args, terminal),
        Some(Command::Rules(args)) => rules::run(&args, terminal),
        Some(Command::ExactMatch(args)) => exact_match::run(&args, terminal),
        Some(Command::Score(args)) => score::run(&args, terminal),
        Some(Command::Init(args)) => init::run(&args, terminal),
    }
}

/// Help and version go to standard output and succeed; anything else is a usage error.
fn usage(error: &clap::Error) -> ExitCode {
    let failed = error.use_stderr();
    // When even the message cannot be written there is nowhere left to say so.
    let _ = error.print();
    ExitCode::from(if failed { USAGE } else { 0 })
}

/// A closed pipe (`trace-audit … | head`) is not an error.
fn exit_code(error: &anyhow::Error) -> u8 {
    if let Some(error) = error.downcast_ref::<trace_audit::Error>() {
        return error.exit_code();
    }
    match error.downcast_ref::<std::io::Error>() {
        Some(io) if io.kind() == std::io::ErrorKind::BrokenPipe => 0,
        Some(_) => IO,
        None => BUG,
    }
}
