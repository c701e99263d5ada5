//! Real GTs: a starter tree rebuilt from their context, the GT applied to it, and the result read back.

use std::collections::BTreeSet;
use std::path::Path;

use bstr::ByteSlice;
use trace_audit::patch::base::BaseSource;
use trace_audit::patch::model::{FilePatch, FileStatus, Line, LineKind, Patch};
use trace_audit::patch::{BaseRequest, Fit, apply, choose_base, fits, load_gt, worktree_patch};

/// The old version of a file as far as its hunks show it; the lines between them are made up.
fn rebuilt(file: &FilePatch) -> Vec<u8> {
    let mut out = Vec::new();
    let mut line = 1;
    for hunk in &file.hunks {
        while line < hunk.old_start {
            out.extend_from_slice(format!("line {line} of the starter\n").as_bytes());
            line += 1;
        }
        for old in hunk.lines.iter().filter(|l| l.kind != LineKind::Added) {
            out.extend_from_slice(&old.text);
            if !old.no_newline {
                out.push(b'\n');
            }
            line += 1;
        }
    }
    if file.binary {
        out.extend_from_slice(b"\0old");
    }
    out
}

fn put(dir: &Path, path: &[u8], content: &[u8]) {
    let path = dir.join(path.to_path().unwrap());
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

/// Writes the starter tree and the tree with the GT applied.
fn lay_out(gt: &Patch, base: &Path, run: &Path) {
    put(base, b"README", b"starter\n");
    put(run, b"README", b"starter\n");
    for file in &gt.files {
        let old = rebuilt(file);
        if let Some(path) = &file.old_path {
            put(base, path, &old);
        }
        let Some(path) = &file.new_path else { continue };
        let new = if file.binary {
            b"\0new".to_vec()
        } else {
            apply(file, if file.old_path.is_some() { &old } else { b"" }).unwrap()
        };
        put(run, path, &new);
    }
}

#[test]
fn a_tree_with_the_gt_applied_reads_as_the_gt() {
    let Some(data) = super::shared_data() else {
        return;
    };
    let (mut same, mut all) = (0, 0);
    for task in ["C1", "K2", "M3", "T02", "T03", "T27", "T34", "T40", "T47"] {
        let path = data.join(format!("longhorizon/base_repo/{task}/eval/gt_diff.patch"));
        let gt = load_gt(&path, None).unwrap().patch;
        let dir = tempfile::tempdir().unwrap();
        let (base_dir, run) = (dir.path().join("base"), dir.path().join("run"));
        lay_out(&gt, &base_dir, &run);
        let request = BaseRequest {
            run: &run,
            given: None,
            base_repo: Some(&base_dir),
            known_commit: None,
            gt: None,
        };
        let base = choose_base(&request).unwrap();
        assert_eq!(base.info.source, BaseSource::BaseRepoTree);
        let tree = base.tree.as_deref();
        assert_eq!(fits(&gt, tree), Fit::Fits { already: vec![] }, "{task}");
        let none = BTreeSet::new();
        let agent = worktree_patch(&run, &base, &none, Some(&gt)).unwrap();
        let mut want = gt.files.clone();
        want.sort_by(|a, b| a.path().cmp(b.path()));
        assert_eq!(agent.patch.files.len(), want.len(), "{task}");
        for (got, want) in agent.patch.files.iter().zip(&want) {
            // A moved file without hunks is empty here, since the GT does not show its content.
            let unseen = want.hunks.is_empty() && want.status == FileStatus::Renamed;
            assert!(got == want || unseen, "{task}: {}", want.path());
        }
        // Without the GT's help most files still get the very lines of git (of all 61 GTs: 96 %).
        let alone = worktree_patch(&run, &base, &none, None).unwrap();
        for want in want
            .iter()
            .filter(|f| f.status == FileStatus::Modified && !f.binary)
        {
            let got = alone
                .patch
                .files
                .iter()
                .find(|f| f.path() == want.path())
                .unwrap();
            let lines = |f: &FilePatch| f.added().cloned().collect::<Vec<Line>>();
            all += 1;
            same += usize::from(lines(got) == lines(want));
        }
        // The wrong GT does not fit.
        if task != "C1" {
            let other = data.join("longhorizon/base_repo/C1/eval/gt_diff.patch");
            let other = load_gt(&other, None).unwrap().patch;
            assert!(
                matches!(fits(&other, tree), Fit::DoesNotFit { .. }),
                "{task}"
            );
        }
    }
    println!("{same} of {all} changed files have the very lines of git");
    assert!(same * 100 >= all * 90, "{same} of {all}");
}
