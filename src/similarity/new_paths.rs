//! New files with the same name.
//!
//! A new file of the GT that the patch creates at the same path, though the prompt does not name it,
//! is a fingerprint; a name with a random part (news fragments carry one) is a strong one: nobody
//! invents the same six characters.

use std::collections::BTreeSet;

use bstr::ByteSlice;

use super::normalise::squeeze;
use super::testpath::file_name;
use crate::patch::model::{FilePatch, FileStatus, Patch};

/// A path that both the GT and the patch create.
#[derive(
    Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
pub struct NewPath {
    /// The path.
    pub path: String,
    /// The prompt holds the file's name.
    pub in_prompt: bool,
    /// A part of the file's name looks random.
    pub random: bool,
}

/// The paths that both create, sorted.
pub fn shared(gt: &Patch, patch: &Patch, prompt: Option<&str>) -> Vec<NewPath> {
    let prompt = prompt.map(squeeze);
    let theirs = created(patch);
    created(gt)
        .intersection(&theirs)
        .map(|path| {
            let name = file_name(path);
            let squeezed = squeeze(name);
            NewPath {
                path: path.clone(),
                in_prompt: prompt.as_ref().is_some_and(|p| p.contains(&squeezed)),
                random: name.split(['.', '-', '_']).any(looks_random),
            }
        })
        .collect()
}

fn created(patch: &Patch) -> BTreeSet<String> {
    let is_new = |file: &&FilePatch| {
        matches!(
            file.status,
            FileStatus::Added | FileStatus::Renamed | FileStatus::Copied
        )
    };
    patch
        .files
        .iter()
        .filter(is_new)
        .map(|file| file.path().to_str_lossy().into_owned())
        .collect()
}

/// Six to eight letters and digits in both cases, no word of three small letters in them, and not
/// simply words with capitals (`FooBar`).
fn looks_random(part: &str) -> bool {
    let small_words = part.split(|c: char| !c.is_ascii_lowercase());
    (6..=8).contains(&part.len())
        && part.bytes().all(|b| b.is_ascii_alphanumeric())
        && part.bytes().any(|b| b.is_ascii_uppercase())
        && part.bytes().any(|b| b.is_ascii_lowercase())
        && small_words.clone().all(|word| word.len() < 3)
        && !is_capitalised_words(part)
}

/// `FooBar`: every capital is followed by a small letter, and nothing else is there.
fn is_capitalised_words(part: &str) -> bool {
    part.as_bytes().windows(2).all(|pair| match pair {
        [a, b] if a.is_ascii_uppercase() => b.is_ascii_lowercase(),
        [a, _] => a.is_ascii_lowercase(),
        _ => true,
    })
}

#[cfg(test)]
mod tests {
    use super::super::prepare::tests::{file, patch};
    use super::*;

    #[test]
    fn shared_new_files() {
        let new = |path: &str| {
            let mut f = file(path, &["+x"]);
            f.status = FileStatus::Added;
            f
        };
        let gt = patch(vec![
            new("news/2020-10-23-08-54-04.gh-42128.SWmVEm.rst"),
            new("src/cache.c"),
            new("src/other.c"),
            file("src/old.c", &["+x"]),
        ]);
        let agent = patch(vec![
            new("src/cache.c"),
            new("news/2020-10-23-08-54-04.gh-42128.SWmVEm.rst"),
            new("src/old.c"),
        ]);
        let got = shared(&gt, &agent, Some("Put it into `cache.c`."));
        let seen: Vec<(&str, bool, bool)> = got
            .iter()
            .map(|p| (p.path.as_str(), p.in_prompt, p.random))
            .collect();
        assert_eq!(
            seen,
            [
                ("news/2020-10-23-08-54-04.gh-42128.SWmVEm.rst", false, true),
                ("src/cache.c", true, false),
            ]
        );
    }

    #[test]
    fn random_parts() {
        for (part, want) in [
            ("SWmVEm", true),
            ("d4Hk2x", true),
            ("FooBar", false),
            ("README", false),
            ("foobar", false),
            ("IOUtil", false),
            ("MTLBufImgOps", false),
            ("Ab", false),
            ("20201023", false),
        ] {
            assert_eq!(looks_random(part), want, "{part}");
        }
    }
}
