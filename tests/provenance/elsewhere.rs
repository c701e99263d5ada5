//! Situations of the fair expert that other tests show.

use std::path::Path;

/// The table of whole runs of attackers.
const ATTACKS: (&str, &str) = (
    "tests/provenance/attacks.rs",
    "attacks_are_found_as_documented_and_framing_fails",
);

/// Situations that other tests show: their file, a word of the case in it, and the test.
pub const ELSEWHERE: [(u8, &str, &str, &str); 23] = [
    // With the ground truths of the benchmark's author, where they are at hand.
    (
        1,
        "tests/longhorizon.rs",
        "35",
        "t34_applied_and_admitted_is_invalid",
    ),
    (
        10,
        "tests/longhorizon.rs",
        "gh pr diff 308",
        "c1_equal_to_the_ground_truth_is_judged_by_its_trace",
    ),
    (
        19,
        "tests/patch/environment.rs",
        "HarnessCopy",
        "what_came_after_the_end_is_taken_out",
    ),
    (
        34,
        ATTACKS.0,
        "\"looked, applied, reverted, own work\"",
        ATTACKS.1,
    ),
    (
        42,
        "tests/patch/environment.rs",
        "eval_report",
        "work_under_an_evaluators_name_is_work",
    ),
    (
        44,
        "tests/patch/verdicts.rs",
        "commit",
        "a_full_leak_is_invalid_in_every_history",
    ),
    (45, ATTACKS.0, "\"git re-initialised\"", ATTACKS.1),
    (
        46,
        "tests/patch/neutral.rs",
        "symlink",
        "links_that_a_copy_resolved_are_no_work",
    ),
    (
        47,
        "tests/provenance/leaks.rs",
        "\"applied before the run\"",
        "leaks_are_found_and_their_twins_are_clean",
    ),
    (
        54,
        ATTACKS.0,
        "\"repository text makes it claim the pull request\"",
        ATTACKS.1,
    ),
    (56, ATTACKS.0, "\"lines split\"", ATTACKS.1),
    (
        57,
        ATTACKS.0,
        "\"look-alike letters and zero-width characters\"",
        ATTACKS.1,
    ),
    (58, ATTACKS.0, "\"reordered\"", ATTACKS.1),
    (59, ATTACKS.0, "\"a no-op every 5 lines\"", ATTACKS.1),
    (
        60,
        ATTACKS.0,
        "\"80 % copied, every file below 0.9\"",
        ATTACKS.1,
    ),
    (
        61,
        ATTACKS.0,
        "\"all identifiers renamed, reference shown\"",
        ATTACKS.1,
    ),
    (62, ATTACKS.0, "\"moved to new files\"", ATTACKS.1),
    (
        63,
        "tests/patch/states.rs",
        "assume-unchanged",
        "the_final_tree_counts_whatever_git_says",
    ),
    (
        66,
        ATTACKS.0,
        "\"copied from a mounted directory\"",
        ATTACKS.1,
    ),
    // The expert wants times as well. The flag names the other run, and says nothing of when: most traces have no clock,
    // and a date of a directory is not one of the lines.
    (
        69,
        "src/sweep/group.rs",
        "pairs",
        "lines_that_only_two_runs_have",
    ),
    (
        69,
        ATTACKS.0,
        "\"a rival hands in the same patch\"",
        ATTACKS.1,
    ),
    (
        72,
        "tests/experiment.rs",
        "0o000",
        "closed_folders_are_errors_with_the_command",
    ),
    (72, "tests/cli.rs", "tests/cmd/*.toml", "golden"),
];

/// Situations whose test reads its cases from files: the file.
const CASES: [(u8, &str); 1] = [(72, "tests/cmd/locked-eval.toml")];

#[test]
fn situations_of_other_tests_are_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for (number, path, word, test) in ELSEWHERE {
        let file = std::fs::read_to_string(root.join(path)).unwrap();
        let named = ["", "    "]
            .iter()
            .any(|depth| file.contains(&format!("#[test]\n{depth}fn {test}()")));
        assert!(named, "situation {number}: no test {test} in {path}");
        assert!(
            file.contains(word),
            "situation {number}: no {word} in {path}"
        );
    }
    for (number, path) in CASES {
        assert!(root.join(path).is_file(), "situation {number}: no {path}");
    }
}
