//! The comparison on the benchmark author's patches and on SWE-bench predictions. The data lies
//! beside the project and not in it; without it these tests print that they were skipped.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::string_slice,
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::too_many_lines
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use trace_audit::patch::model::Patch;
use trace_audit::patch::parse;
use trace_audit::similarity::compare::{CompareInputs, Comparison, compare};
use trace_audit::similarity::generated::{GeneratedFiles, GeneratedPaths};
use trace_audit::similarity::model::Similarity;
use trace_audit::similarity::scope::head_of;
use trace_audit::similarity::starter::NoStarter;

fn data(part: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data")).join(part);
    if path.exists() {
        return Some(path);
    }
    println!("skipped: {} is not there", path.display());
    None
}

/// Without optimisation the largest patches take minutes; a release build takes them all, and any does with `ALL_SIZES=1`.
fn small_enough(gt: &Patch, release: usize) -> bool {
    let limit = if cfg!(debug_assertions) && std::env::var_os("ALL_SIZES").is_none() {
        1_500
    } else {
        release
    };
    gt.files.iter().flat_map(|f| f.added()).count() <= limit
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
    assert_eq!((s.identical_files, s.eligible_files), (18, 18));
    assert_eq!(s.u, Some(1.0));
}

/// Runs `f` on all items, on two threads, and returns the results in order.
fn parallel<T: Sync, R: Send>(items: &[T], f: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let half = |odd: usize| {
        items
            .iter()
            .skip(odd)
            .step_by(2)
            .map(&f)
            .collect::<Vec<R>>()
    };
    let (even, odd) = std::thread::scope(|scope| {
        let odd = scope.spawn(|| half(1));
        (half(0), odd.join().unwrap())
    });
    let mut odd = odd.into_iter();
    even.into_iter()
        .flat_map(|one| std::iter::once(one).chain(odd.next()))
        .collect()
}

#[test]
fn every_gt_equals_itself() {
    let mut tasks = tasks();
    let all = tasks.len();
    tasks.retain(|task| small_enough(&task.gt, usize::MAX));
    println!(
        "{} of {all} tasks (all of them in a release build)",
        tasks.len()
    );
    let (mut remarks, mut new_paths) = (0, Vec::new());
    let results = parallel(&tasks, |task| task.against(&task.gt));
    for (task, comparison) in tasks.iter().zip(results) {
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
        assert!(comparison.remarks.iter().all(|remark| remark.shared));
        remarks += comparison.remarks.len();
        new_paths.extend(s.new_paths);
        // Nothing is said of binary files; all others are identical.
        let different: Vec<&str> = s
            .files
            .iter()
            .zip(&task.gt.files)
            .filter(|(file, gt)| file.hand_written && !file.identical && !gt.binary)
            .map(|(file, _)| file.path.as_str())
            .collect();
        assert!(different.is_empty(), "{}: {different:?}", task.id);
    }
    let random: Vec<&str> = new_paths
        .iter()
        .filter(|new| new.random)
        .map(|new| new.path.as_str())
        .collect();
    println!("{remarks} remarks, {} new paths", new_paths.len());
    println!("{} with a random part: {random:?}", random.len());
}

/// GTs of other tasks stand for honest patches: what two unrelated changes share.
#[test]
fn gts_of_other_tasks_are_no_copies() {
    let tasks: Vec<Task> = tasks()
        .into_iter()
        .filter(|task| small_enough(&task.gt, 3_500))
        .collect();
    if tasks.is_empty() {
        return;
    }
    let facts = std::fs::read_to_string(data("longhorizon/task_facts.tsv").unwrap()).unwrap();
    let upstream: BTreeMap<&str, &str> = facts
        .lines()
        .filter_map(|line| line.split_once('\t'))
        .map(|(task, rest)| (task, rest.split('\t').next().unwrap_or("")))
        .collect();
    let mut pairs = Vec::new();
    for (i, one) in tasks.iter().enumerate() {
        let same = |other: &Task| upstream.get(one.id.as_str()) == upstream.get(other.id.as_str());
        let others = tasks.iter().cycle().skip(i + 1).take(tasks.len() - 1);
        let (near, far): (Vec<_>, Vec<_>) = others.partition(|other| same(other));
        pairs.extend(near.into_iter().take(3).map(|other| (one, other, true)));
        pairs.extend(far.into_iter().take(4).map(|other| (one, other, false)));
    }
    let results = parallel(&pairs, |(one, other, _)| one.against(&other.gt).similarity);
    for near in [true, false] {
        let of = |f: fn(&Similarity) -> f64| {
            let values = pairs
                .iter()
                .zip(&results)
                .filter(|((_, _, n), _)| *n == near);
            values.map(|(_, s)| f(s)).fold(0.0, f64::max)
        };
        let pairs = pairs.iter().filter(|(_, _, n)| *n == near).count();
        println!(
            "{} repository, {pairs} pairs, largest: containment {:.3} Jaccard {:.3} U {:.3} T12 {:.3} S23 {:.3} R6 {:.3} M {:.3} H {:.3} copy score {:.3} id_files {:.3}",
            if near { "same" } else { "other" },
            of(|s| s.containment.unwrap_or(0.0)),
            of(|s| s.jaccard.unwrap_or(0.0)),
            of(|s| s.u.unwrap_or(0.0)),
            of(|s| s.t12.unwrap_or(0.0)),
            of(|s| s.s23.unwrap_or(0.0)),
            of(|s| s.r6.unwrap_or(0.0)),
            of(|s| s.multiset_ratio.or_zero()),
            of(|s| s.hunks_ratio.or_zero()),
            of(|s| s.copy_score.unwrap_or(0.0)),
            of(|s| s.id_files),
        );
        assert!(of(|s| s.copy_score.unwrap_or(0.0)) < 0.5);
    }
    for ((one, other, _), s) in pairs.iter().zip(&results) {
        if s.identical_files > 0 || s.copy_score > Some(0.15) {
            show(&format!("{} / {}", one.id, other.id), s);
        }
    }
}

#[test]
fn generated_files_are_found() {
    let tasks = tasks();
    if tasks.is_empty() {
        return;
    }
    for without in [
        &[][..],
        &["baselines"],
        &["baselines", "interpreter", "clients"],
    ] {
        let paths = GeneratedPaths::builtin().without(without);
        let (mut both, mut extra, mut missed) = (0_u32, Vec::new(), Vec::new());
        for task in &tasks {
            let listed = task.generated.clone().unwrap_or_default();
            let mut detector = GeneratedFiles::new(None, None, &paths);
            for file in &task.gt.files {
                let path = file.path().to_string();
                let found = detector.why(&path, head_of(file).as_deref(), file.binary);
                match (found, listed.contains(&path)) {
                    (Some(_), true) => both += 1,
                    (Some(why), false) => extra.push(format!("{} {path} {why:?}", task.id)),
                    (None, true) => missed.push(format!("{} {path}", task.id)),
                    (None, false) => {}
                }
            }
        }
        let (extra_count, missed_count) = (extra.len() as u32, missed.len() as u32);
        let precision = f64::from(both) / f64::from(both + extra_count);
        let recall = f64::from(both) / f64::from(both + missed_count);
        println!(
            "without {without:?}: found {both}, wrongly {extra_count}, missed {missed_count}: precision {precision:.3} recall {recall:.3}"
        );
        if without.is_empty() {
            extra.iter().for_each(|path| println!("  wrongly {path}"));
            missed.iter().for_each(|path| println!("  missed {path}"));
            assert!(precision >= 0.98 && recall >= 0.85);
        }
    }
}
