//! Which GT files count: those that people wrote.

use std::collections::BTreeSet;

use bstr::ByteSlice;

use super::compare::CompareInputs;
use super::generated::{GeneratedBy, GeneratedFiles, GeneratedPaths, HEAD_BYTES};
use crate::patch::model::{FilePatch, LineKind};

/// What is decided of one GT file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FileScope {
    /// Counts for the measures.
    pub hand_written: bool,
    /// Made by a generator.
    pub generated: bool,
}

/// Decides for every GT file, in order, and says in `notes` what was decided how.
///
/// The hand-written list wins. Where it lists every GT file while the list of generated files is
/// empty or missing, nobody sorted the files: then, as where there is no list, generated files are
/// found by [`GeneratedFiles`].
pub fn decide(inputs: &CompareInputs<'_>, notes: &mut Vec<String>) -> Vec<FileScope> {
    let paths: Vec<String> = inputs
        .gt
        .files
        .iter()
        .map(|file| file.path().to_str_lossy().into_owned())
        .collect();
    let mut detector =
        GeneratedFiles::new(inputs.generated, inputs.files, GeneratedPaths::builtin());
    let reasons: Vec<Option<GeneratedBy>> = inputs
        .gt
        .files
        .iter()
        .zip(&paths)
        .map(|(file, path)| detector.why(path, head_of(file).as_deref(), file.binary))
        .collect();
    let list = usable_list(inputs, &paths, notes);
    let by_list = inputs.generated.is_some_and(|list| !list.is_empty());
    let scopes: Vec<FileScope> = paths
        .iter()
        .zip(&reasons)
        .map(|(path, reason)| {
            // A list of generated files alone is complete, too.
            let detected = match reason {
                Some(GeneratedBy::List) => true,
                Some(_) => !by_list,
                None => false,
            };
            let hand_written = list.map_or(!detected, |list| list.contains(path));
            FileScope {
                hand_written,
                generated: reason.is_some() && !hand_written,
            }
        })
        .collect();
    if list.is_none() && !by_list {
        let detected = scopes.iter().filter(|scope| scope.generated).count();
        if detected > 0 {
            notes.push(format!(
                "{detected} of {} GT files were taken for generated ones by attributes, markers or paths",
                scopes.len()
            ));
        }
    }
    scopes
}

/// The hand-written list, if it sorts the files.
fn usable_list<'a>(
    inputs: &CompareInputs<'a>,
    paths: &[String],
    notes: &mut Vec<String>,
) -> Option<&'a BTreeSet<String>> {
    let list = inputs.handwritten?;
    let listed = paths.iter().filter(|path| list.contains(*path)).count();
    if listed == 0 {
        if !paths.is_empty() {
            notes.push(
                "the list of hand-written files names no file of the GT and is ignored".into(),
            );
        }
        return None;
    }
    let unsorted = inputs.generated.is_none_or(BTreeSet::is_empty);
    if listed == paths.len() && unsorted {
        notes.push(
            "the list of hand-written files names every file of the GT; generated files are detected"
                .into(),
        );
        return None;
    }
    Some(list)
}

/// The beginning of the new version, where the GT shows it.
pub fn head_of(file: &FilePatch) -> Option<Vec<u8>> {
    let first = file.hunks.first().filter(|hunk| hunk.new_start <= 1)?;
    let mut head = Vec::new();
    for line in first
        .lines
        .iter()
        .filter(|line| line.kind != LineKind::Removed)
    {
        if head.len() > HEAD_BYTES {
            break;
        }
        head.extend_from_slice(&line.text);
        head.push(b'\n');
    }
    Some(head)
}

#[cfg(test)]
mod tests {
    use super::super::prepare::tests::{file, patch};
    use super::super::starter::NoStarter;
    use super::*;

    fn set(paths: &[&str]) -> BTreeSet<String> {
        paths.iter().map(|p| (*p).to_owned()).collect()
    }

    #[test]
    fn the_lists_win_where_they_sort() {
        let gt = patch(vec![
            file("a.c", &["+x"]),
            file("go.sum", &["+x"]),
            file("b.c", &["+// @generated", "+x"]),
        ]);
        let all = set(&["a.c", "go.sum", "b.c"]);
        for (hand, generated, want) in [
            (None, None, "h g g"),
            (Some(set(&["a.c", "go.sum"])), Some(set(&["b.c"])), "h h g"),
            // Neither listed nor detected as generated: out, and not called generated.
            (Some(set(&["go.sum"])), None, "- h g"),
            // A list that sorts nothing.
            (Some(all.clone()), None, "h g g"),
            (Some(all.clone()), Some(set(&[])), "h g g"),
            (Some(all), Some(set(&["other"])), "h h h"),
            (Some(set(&["unknown"])), None, "h g g"),
            (Some(set(&[])), None, "h g g"),
            (None, Some(set(&["a.c"])), "g h h"),
        ] {
            let inputs = CompareInputs {
                handwritten: hand.as_ref(),
                generated: generated.as_ref(),
                ..CompareInputs::new(&gt, None, &NoStarter)
            };
            let scopes = decide(&inputs, &mut Vec::new());
            let got: Vec<&str> = scopes
                .iter()
                .map(|scope| match (scope.hand_written, scope.generated) {
                    (true, false) => "h",
                    (false, true) => "g",
                    (false, false) => "-",
                    (true, true) => "both",
                })
                .collect();
            assert_eq!(got.join(" "), want, "{hand:?} {generated:?}");
        }
    }
}
