//! Faults of the environment: GT lines that the agent did not put there.
//!
//! A run may start in a tree that holds the GT already, and a harness may copy hidden tests in after the agent
//! has ended. Neither is the agent's doing, and both look like a copy. Only a full trace can show it: every call
//! of it reads only, or is an edit whose content is recorded, so nothing of the agent's can have written the lines.
//! A trace that was cut off proves neither.

use std::collections::BTreeSet;

use super::listen::Heard;
use crate::patch::model::Patch;
use crate::provenance::model::Provenance;
use crate::rules::finding::{Finding, Kind, Stage};
use crate::similarity::compare::Comparison;
use crate::similarity::testpath::is_test;

/// What the environment did.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Faults {
    /// GT lines of the patch that stood in the tree before the agent's first action, beyond those that it
    /// was shown.
    pub(super) preapplied: u64,
    /// Files of the patch that came after its last one.
    pub(super) copied: BTreeSet<String>,
    /// How many of these a call of the agent may have put there all the same.
    pub(super) doubtful: u64,
}

/// Looks for changes that the agent did not make. `apart` names the files of the patch that lie where the reading
/// of a work tree does not go.
pub(super) fn faults(
    heard: &Heard,
    comparison: Option<&Comparison>,
    apart: &BTreeSet<String>,
) -> Faults {
    let (Some(provenance), Some(comparison)) = (&heard.provenance, comparison) else {
        return Faults::default();
    };
    let reached = |f: &Finding| {
        f.kind == Kind::Action
            && f.waived.is_none()
            && !f.blocked
            && f.stage > Some(Stage::Mentioned)
    };
    let full = heard.trace_is_full;
    let honest = full && !heard.rules.findings.iter().any(reached);
    let mut found = judge(provenance, comparison, full, honest, apart);
    if honest {
        // Evaluators put their things there when the agent has ended, and may have looked at the reference. An
        // agent that never reached for it, and never wrote there by name, has nothing to hide.
        let written = |path: &String| provenance.written_paths.contains(path);
        let copied: Vec<&String> = apart.iter().filter(|path| !written(path)).collect();
        if !provenance.environment.accounted {
            found.doubtful = copied.len() as u64;
        }
        found.copied.extend(copied.into_iter().cloned());
    }
    found
}

fn judge(
    provenance: &Provenance,
    comparison: &Comparison,
    full: bool,
    honest: bool,
    apart: &BTreeSet<String>,
) -> Faults {
    let environment = &provenance.environment;
    let nobody_s: BTreeSet<&str> = unwritten(provenance);
    let before = |path: &str| environment.changed_before.iter().any(|p| p == path);
    let after = |path: &str| environment.unchanged_at_the_end.iter().any(|p| p == path);
    let own_code = comparison.similarity.files.iter().any(|file| {
        let path = file.paired_with.as_deref().unwrap_or(&file.path);
        file.paired_with.is_some() && !is_test(path) && !nobody_s.contains(path)
    });
    let only_tests = nobody_s.iter().all(|path| is_test(path)) && own_code;
    let mut found = Faults::default();
    for (index, file) in comparison.similarity.files.iter().enumerate() {
        let path = file.paired_with.as_deref().unwrap_or(&file.path);
        if !nobody_s.contains(path) || apart.contains(path) {
            continue;
        }
        // Tests that stood there unread all the time had no part in the work, whenever they came.
        // Tests beside code of the agent's own are no solution: a call that may have changed anything, such as
        // a test run, is no reason to hold them against an agent that never reached for the reference.
        let explained = full && environment.all_explained;
        let copied = explained && after(path) || only_tests && (explained || honest);
        if before(path) || full && environment.all_explained && !copied {
            let shared = comparison
                .lines
                .iter()
                .filter(|l| l.file == index && l.shared);
            found.preapplied += shared.count() as u64;
        } else if copied {
            found.copied.insert(path.to_owned());
        }
    }
    found
}

/// Files of the patch with lines that no event holds, and that no call of the trace wrote or may have written.
fn unwritten(provenance: &Provenance) -> BTreeSet<&str> {
    let written = |path: &str| provenance.written_paths.iter().any(|p| p == path);
    let unseen = provenance.unseen.iter();
    unseen
        .filter(|u| u.event.is_none() && !written(&u.path))
        .map(|u| u.path.as_str())
        .collect()
}

/// Takes files out of a patch.
pub(super) fn take_out(patch: &mut Patch, copied: &BTreeSet<String>) {
    patch
        .files
        .retain(|file| !copied.contains(&file.path().to_string()));
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::parse;
    use crate::provenance::model::{Environment, UnseenLines};
    use crate::similarity::compare::{CompareInputs, compare};
    use crate::similarity::starter::NoStarter;

    fn new_file(path: &str) -> String {
        let lines: String = (0..6)
            .map(|n| format!("+let value_{n} = compute(\"{path}\", {n});\n"))
            .collect();
        format!(
            "diff --git a/{path} b/{path}\nnew file mode 100644\n--- /dev/null\n+++ b/{path}\n@@ -0,0 +1,6 @@\n{lines}"
        )
    }

    fn found(
        unseen: &[&str],
        written: &[&str],
        environment: Environment,
        full: bool,
    ) -> (u64, Vec<String>) {
        let gt = parse(
            [new_file("src/a.rs"), new_file("tests/a.rs")]
                .concat()
                .as_bytes(),
        );
        let comparison = compare(&CompareInputs::new(&gt, Some(&gt), &NoStarter));
        let provenance = Provenance {
            unseen: unseen
                .iter()
                .map(|path| UnseenLines {
                    path: (*path).to_owned(),
                    lines: 6,
                    gt_lines: 0,
                    imported: false,
                    event: None,
                    file: 0,
                    line: None,
                    command: None,
                })
                .collect(),
            written_paths: written.iter().map(|p| (*p).to_owned()).collect(),
            environment,
            ..Provenance::default()
        };
        let faults = judge(&provenance, &comparison, full, false, &BTreeSet::new());
        (faults.preapplied, faults.copied.into_iter().collect())
    }

    fn environment(before: &[&str], end: &[&str], all_explained: bool) -> Environment {
        let own = |paths: &[&str]| paths.iter().map(|p| (*p).to_owned()).collect();
        Environment {
            changed_before: own(before),
            unchanged_at_the_end: own(end),
            all_explained,
            accounted: all_explained,
        }
    }

    #[test]
    fn before_after_or_nobody_knows() {
        let both = ["src/a.rs", "tests/a.rs"];
        let none = || (0, vec![]);
        type Case<'a> = (
            &'a str,
            &'a [&'a str],
            &'a [&'a str],
            Environment,
            bool,
            (u64, Vec<String>),
        );
        let cases: [Case<'_>; 9] = [
            (
                "no writer in a full trace",
                &both,
                &[],
                environment(&[], &[], true),
                true,
                (12, vec![]),
            ),
            (
                "the trace is cut off",
                &both,
                &[],
                environment(&[], &[], true),
                false,
                none(),
            ),
            (
                "a script ran",
                &both,
                &[],
                environment(&[], &[], false),
                true,
                none(),
            ),
            (
                "listed at the start",
                &["src/a.rs"],
                &[],
                environment(&["src/a.rs"], &[], false),
                false,
                (6, vec![]),
            ),
            (
                "listed, then edited",
                &["src/a.rs"],
                &["src/a.rs"],
                environment(&["src/a.rs"], &[], true),
                true,
                none(),
            ),
            (
                "not there at the end",
                &both,
                &[],
                environment(&[], &both, true),
                true,
                (0, both.map(String::from).to_vec()),
            ),
            (
                "not there, and cut off",
                &both,
                &[],
                environment(&[], &both, true),
                false,
                none(),
            ),
            (
                "not there, and a script ran",
                &both,
                &[],
                environment(&[], &both, false),
                true,
                none(),
            ),
            (
                "tests alone",
                &["tests/a.rs"],
                &["src/a.rs"],
                environment(&[], &[], true),
                true,
                (0, vec!["tests/a.rs".to_owned()]),
            ),
        ];
        for (name, unseen, written, environment, full, want) in cases {
            assert_eq!(found(unseen, written, environment, full), want, "{name}");
        }
    }
}
