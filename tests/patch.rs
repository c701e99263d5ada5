//! Patches and work trees against real data and against git itself.

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

mod reading {
    use std::collections::BTreeMap;
    use std::path::PathBuf;
    use std::process::Command;

    use trace_audit::patch::model::{FileStatus, LineKind, Patch};
    use trace_audit::patch::{parse, render};

    fn real_patches() -> Vec<PathBuf> {
        let Some(data) = super::shared_data() else {
            return Vec::new();
        };
        let tasks = std::fs::read_dir(data.join("longhorizon/base_repo")).unwrap();
        let mut found: Vec<_> = tasks
            .map(|t| t.unwrap().path().join("eval/gt_diff.patch"))
            .filter(|p| p.is_file())
            .collect();
        found.sort();
        found
    }

    #[derive(Debug, Default, PartialEq, Eq)]
    struct Totals {
        files: usize,
        added: usize,
        removed: usize,
        binary: usize,
        new: usize,
        deleted: usize,
        renamed: usize,
        no_newline: usize,
    }

    impl Totals {
        fn add(&mut self, patch: &Patch) {
            for file in &patch.files {
                self.files += 1;
                self.added += file.added().count();
                self.removed += file.lines_of(LineKind::Removed).count();
                self.binary += usize::from(file.binary);
                self.new += usize::from(file.status == FileStatus::Added);
                self.deleted += usize::from(file.status == FileStatus::Deleted);
                self.renamed += usize::from(file.status == FileStatus::Renamed);
                let lines = file.hunks.iter().flat_map(|h| &h.lines);
                self.no_newline += lines.filter(|l| l.no_newline).count();
            }
        }
    }

    #[test]
    fn real_patches_have_the_known_totals() {
        let paths = real_patches();
        if paths.is_empty() {
            return;
        }
        assert_eq!(paths.len(), 61);
        let mut totals = Totals::default();
        for path in &paths {
            let bytes = std::fs::read(path).unwrap();
            let patch = parse(&bytes);
            assert!(
                patch.problems.is_empty(),
                "{}: {:?}",
                path.display(),
                patch.problems
            );
            let again = parse(&render(&patch));
            assert!(
                again == patch,
                "{}: not the same after writing",
                path.display()
            );
            totals.add(&patch);
        }
        assert_eq!(
            totals,
            Totals {
                files: 4544,
                added: 461_586,
                removed: 50_028,
                binary: 109,
                new: 1601,
                deleted: 14,
                renamed: 41,
                no_newline: 83,
            }
        );
    }

    /// Path to (added, removed), `None` for binary files.
    type Numstat = BTreeMap<Vec<u8>, Option<(usize, usize)>>;

    fn numstat_of_git(patch: &std::path::Path) -> Numstat {
        let out = Command::new("git")
            .args(["apply", "--numstat", "-z"])
            .arg(patch)
            .output()
            .unwrap();
        assert!(
            out.status.success(),
            "{}",
            String::from_utf8_lossy(&out.stderr)
        );
        let mut found = Numstat::new();
        for record in out.stdout.split(|b| *b == 0).filter(|r| !r.is_empty()) {
            let mut fields = record.splitn(3, |b| *b == b'\t');
            let mut number = || {
                let text = String::from_utf8_lossy(fields.next().unwrap()).into_owned();
                text.parse::<usize>().ok()
            };
            let (added, removed) = (number(), number());
            let path = fields.next().unwrap().to_vec();
            found.insert(path, added.zip(removed));
        }
        found
    }

    #[test]
    fn real_patches_agree_with_git_file_by_file() {
        let paths = real_patches();
        if paths.is_empty() || !super::git_available() {
            return;
        }
        for path in &paths {
            let patch = parse(&std::fs::read(path).unwrap());
            let ours: Numstat = patch
                .files
                .iter()
                .map(|f| {
                    let counts = (f.added().count(), f.lines_of(LineKind::Removed).count());
                    // git gives a rename its new path.
                    (f.path().to_vec(), (!f.binary).then_some(counts))
                })
                .collect();
            let theirs = numstat_of_git(path);
            assert!(ours == theirs, "{}", path.display());
        }
    }
}
