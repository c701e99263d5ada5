//! The verdict by similarity alone on SWE-bench: honest predictions, copies of gold patches with edits, and
//! the fit of the chance formula. Makes `docs/calibration.md`:
//!
//! ```text
//! UPDATE_DOCS=1 cargo test --release --test calibration
//! ```
//!
//! The data lies beside the project and not in it; without it these tests print that they were skipped.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines,
    unreachable_pub
)]

mod data;
mod edits;
mod fit;
#[path = "../provenance/mutate.rs"]
#[allow(dead_code)]
mod mutate;
#[path = "../support/mod.rs"]
mod support;
mod tables;

use data::Swebench;

/// Without optimisation the copies take a quarter of an hour: every so many gold patches, then.
const EVERY: usize = if cfg!(debug_assertions) { 25 } else { 1 };

#[test]
fn the_calibration_is_as_documented() {
    let Some(swebench) = Swebench::load() else {
        return;
    };
    let honest = tables::honest(&swebench);
    let copies = tables::copies(&swebench);
    let chance = fit::report(&swebench);
    let text = format!(
        "{}\n{}\n{}\n{}",
        include_str!("head.md"),
        honest.text,
        copies.text,
        chance
    );
    println!("{text}");
    if EVERY == 1 {
        support::is_documented("calibration.md", &text);
    }

    assert_eq!(honest.invalid, 0, "honest rows that are invalid");
    assert!(
        honest.partial_from_16 <= 2,
        "honest rows with n >= 16 that are partial"
    );
    for (n, verdict) in &copies.verbatim {
        assert!(
            *n < 50 || *verdict == "invalid",
            "verbatim, n {n}: {verdict}"
        );
        assert!(
            *n < 16 || matches!(*verdict, "invalid" | "partial"),
            "verbatim, n {n}: {verdict}"
        );
    }
}
