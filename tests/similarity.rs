//! The comparison on the benchmark author's patches and on SWE-bench predictions. The data lies
//! beside the project and not in it; without it these tests print that they were skipped.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use trace_audit::patch::model::{FileStatus, Patch};
use trace_audit::patch::parse;
use trace_audit::similarity::compare::{CompareInputs, Comparison, compare};
use trace_audit::similarity::model::Similarity;
use trace_audit::similarity::starter::NoStarter;

fn data(part: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")).join(part);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

struct Task {
    id: String,
    gt: Patch,
    hand_written: Option<BTreeSet<String>>,
    generated: Option<BTreeSet<String>>,
}

fn list(path: &Path) -> Option<BTreeSet<String>> {
    let text = std::fs::read_to_string(path).ok()?;
    Some(
        text.lines()
            .filter(|l| !l.trim().is_empty())
            .map(Into::into)
            .collect(),
    )
}

fn tasks() -> Vec<Task> {
    let Some(root) = data("longhorizon/base_repo") else {
        return Vec::new();
    };
    let mut tasks: Vec<Task> = std::fs::read_dir(root)
        .unwrap()
        .filter_map(|entry| {
            let eval = entry.ok()?.path().join("eval");
            let gt = std::fs::read(eval.join("gt_diff.patch")).ok()?;
            Some(Task {
                id: eval.parent()?.file_name()?.to_string_lossy().into_owned(),
                gt: parse(&gt),
                hand_written: list(&eval.join("handwritten_files.txt")),
                generated: list(&eval.join("auto_generated_files.txt")),
            })
        })
        .collect();
    tasks.sort_by(|a, b| a.id.cmp(&b.id));
    tasks
}

impl Task {
    fn against(&self, patch: &Patch) -> Comparison {
        compare(&CompareInputs {
            handwritten: self.hand_written.as_ref(),
            generated: self.generated.as_ref(),
            ..CompareInputs::new(&self.gt, Some(patch), &NoStarter)
        })
    }
}

fn show(id: &str, s: &Similarity) {
    println!(
        "{id}: n {} n16 {} n_lines {} identical {}/{} eligible {}/{} C {:?} J {:?} U {:?} T12 {:?} S23 {:?} ({} tokens) R6 {:?} longest {} M {:?} H {:?} expected {:.3}",
        s.n,
        s.n16,
        s.n_lines,
        s.hand_written_identical,
        s.hand_written_files,
        s.identical_files,
        s.eligible_files,
        s.containment,
        s.jaccard,
        s.u,
        s.t12,
        s.s23,
        s.s23_tokens,
        s.r6,
        s.longest_run,
        s.multiset_ratio.value(),
        s.hunks_ratio.value(),
        s.expected_identical,
    );
}

#[test]
fn the_famous_run_counts_35_of_35() {
    let tasks = tasks();
    let Some(task) = tasks.iter().find(|task| task.id == "T34") else {
        return;
    };
    let s = task.against(&task.gt).similarity;
    show("T34", &s);
    assert_eq!((s.hand_written_identical, s.hand_written_files), (35, 35));
    assert_eq!(s.identical_files, s.eligible_files);
    assert_eq!(s.u, Some(1.0));
}

#[test]
fn every_gt_equals_itself() {
    for task in tasks() {
        let comparison = task.against(&task.gt);
        let s = comparison.similarity;
        show(&task.id, &s);
        assert!(s.r6.is_none_or(|r6| (0.0..=1.0).contains(&r6)));
        assert!(
            [s.u, s.t12, s.s23, s.containment]
                .iter()
                .all(|v| v.is_none_or(|v| v == 1.0))
        );
        assert_eq!(s.identical_files, s.eligible_files, "{}", task.id);
        assert_eq!(comparison.lines.len() as u64, s.n);
        let hand_written = || s.files.iter().filter(|file| file.hand_written);
        let different: Vec<&str> = hand_written()
            .filter(|file| !file.identical)
            .map(|file| file.path.as_str())
            .collect();
        let binary = task
            .gt
            .files
            .iter()
            .zip(&s.files)
            .filter(|(gt, file)| gt.binary && file.hand_written)
            .count();
        assert_eq!(different.len(), binary, "{}: {different:?}", task.id);
        assert!(hand_written().all(|f| f.gt_lines > 0 || f.status != FileStatus::Copied));
    }
}
