//! The `trace-audit` command: arguments in, exit code out. Everything else is in the library.

use std::process::ExitCode;

mod cli;

fn main() -> ExitCode {
    cli::main()
}
