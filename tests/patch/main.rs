//! Patches and work trees against real data and against git itself.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::string_slice,
    clippy::too_many_lines,
    reason = "tests may stop at the first surprise"
)]

mod bases;
#[cfg(unix)]
mod compare;
#[cfg(unix)]
mod environment;
mod fixture;
#[cfg(unix)]
mod hostile;
#[cfg(unix)]
mod left_behind;
#[cfg(unix)]
mod limits;
#[cfg(unix)]
mod neutral;
#[cfg(unix)]
mod objects;
mod oracles;
mod pitfalls;
mod reading;
mod real;
mod states;
#[cfg(unix)]
mod verdicts;

use std::path::{Path, PathBuf};

fn shared_data() -> Option<PathBuf> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    if dir.is_dir() {
        return Some(dir);
    }
    println!(
        "skipped: no real data beside this checkout ({})",
        dir.display()
    );
    None
}

fn git_available() -> bool {
    let found = std::process::Command::new("git")
        .arg("--version")
        .output()
        .is_ok();
    if !found {
        println!("skipped: git is not installed");
    }
    found
}
