//! Which files of the patch have to do with the GT.
//!
//! What tools write beside the work (lock files, reports, packages, assets) says nothing of who wrote the lines that are
//! compared. Files that do: those of the GT, those that hold a line of it, and code that may hold any code, packed.

use std::collections::BTreeSet;

use super::model::AddedFile;

/// A run of so many signs of an encoding, or a line of that length, may be a packed file.
const PACKED: usize = 60;
const LONG: usize = 480;

/// What the GT is about.
pub(super) struct Concern<'a> {
    paths: BTreeSet<&'a str>,
    endings: BTreeSet<&'a str>,
}

/// The ending of a file name.
fn ending(path: &str) -> Option<&str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').map(|(_, ending)| ending)
}

/// The text may be something else, packed.
fn is_packed(text: &str) -> bool {
    let of_encoding = |b: u8| b.is_ascii_alphanumeric() || b"+/=\\".contains(&b);
    let mut runs = text.as_bytes().split(|b| !of_encoding(*b));
    text.len() >= LONG || text.len() >= PACKED && runs.any(|run| run.len() >= PACKED)
}

impl<'a> Concern<'a> {
    pub(super) fn new(gt_paths: &'a [String]) -> Self {
        Self {
            paths: gt_paths.iter().map(String::as_str).collect(),
            endings: gt_paths.iter().filter_map(|path| ending(path)).collect(),
        }
    }

    /// The file has to do with the GT; `has_line` when it holds one of its lines. Without a GT, each has.
    pub(super) fn about(&self, file: &AddedFile, has_line: bool) -> bool {
        has_line
            || self.paths.is_empty()
            || self.paths.contains(file.path.as_str())
            || self.is_alike(&file.path) && file.lines.iter().any(|line| is_packed(&line.text))
    }

    /// The file may be code of the kind that the GT is.
    pub(super) fn is_alike(&self, path: &str) -> bool {
        ending(path).is_none_or(|ending| self.endings.contains(ending))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::provenance::model::AddedLine;

    #[test]
    fn what_tools_write_beside_the_work_is_of_no_concern() {
        let gt = ["lantern/worker.py".to_owned()];
        let about = |path: &str, text: &str, has_line: bool| {
            let file = AddedFile {
                path: path.to_owned(),
                lines: vec![AddedLine {
                    text: text.to_owned(),
                    starter: false,
                }],
                ..AddedFile::default()
            };
            Concern::new(&gt).about(&file, has_line)
        };
        let packed = format!("exec(b64decode(\"{}\"))", "aGVsbG8g".repeat(9));
        for (path, text, has_line, want) in [
            ("lantern/worker.py", "x=1", false, true),
            ("lantern/other.py", "x=1", true, true),
            ("lantern/other.py", "x=1", false, false),
            ("lantern/load.py", packed.as_str(), false, true),
            ("run", packed.as_str(), false, true),
            ("package-lock.json", packed.as_str(), false, false),
        ] {
            assert_eq!(about(path, text, has_line), want, "{path}");
        }
        assert!(Concern::new(&[]).about(&AddedFile::default(), false));
    }
}
