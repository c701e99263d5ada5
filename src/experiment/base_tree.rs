//! The tree an agent started from, as the benchmark keeps it.

use std::path::{Path, PathBuf};

/// `base_repo/TASK/repo`, or the task folder itself when it is a git repository; `None` when neither
/// is there. Only the place is told; whoever reads it decides between its history and its files.
pub(crate) fn locate(task_dir: &Path) -> Option<PathBuf> {
    let repo = task_dir.join("repo");
    if repo.is_dir() {
        return Some(repo);
    }
    let is_repository = task_dir.join(".git").symlink_metadata().is_ok();
    is_repository.then(|| task_dir.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn places() {
        let root = tempfile::tempdir().unwrap();
        let task = root.path().join("T1");
        assert_eq!(locate(&task), None);
        fs::create_dir(&task).unwrap();
        assert_eq!(locate(&task), None);
        fs::write(task.join(".git"), "gitdir: elsewhere").unwrap();
        assert_eq!(locate(&task), Some(task.clone()));
        fs::create_dir(task.join("repo")).unwrap();
        assert_eq!(locate(&task), Some(task.join("repo")));
    }
}
