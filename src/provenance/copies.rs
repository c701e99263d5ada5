//! Files that a command copies into the tree: `cp -r /mnt/ref/lantern .` names none of them, and writes all that
//! stand below.

use std::collections::BTreeSet;

use super::cutting::path_words;
use super::paths::{PathId, Paths, Place, base_name};
use super::programs::COPIERS;
use super::scope::is_program;

/// Programs that take an archive apart, with the option that says where to.
const UNPACKERS: [(&str, &[&str]); 4] = [
    ("tar", &["-C", "--directory"]),
    ("bsdtar", &["-C", "--directory"]),
    ("unzip", &["-d"]),
    ("7z", &["-o"]),
];

/// What a command copied into the tree.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Copied {
    /// Known files that it may have written.
    pub(super) known: BTreeSet<PathId>,
    /// They came from outside of the tree.
    pub(super) imports: bool,
}

/// What simple words copy; `None` when they copy nothing. What `find` or `xargs` put in the place of `{}` comes from where
/// `before`, what stands before the words in their command, says.
pub(super) fn copied(
    words: &[&str],
    before: &str,
    paths: &Paths,
    cwd: Option<&str>,
) -> Option<Copied> {
    let (program, arguments) = words.iter().enumerate().find_map(|(at, word)| {
        let name = base_name(word);
        let known =
            COPIERS.contains(&name) || UNPACKERS.iter().any(|(program, _)| *program == name);
        known.then(|| (name, words.get(at + 1..).unwrap_or_default()))
    })?;
    let (target, sources, whole) = match UNPACKERS.iter().find(|(name, _)| *name == program) {
        Some((_, options)) => {
            if program.ends_with("tar") && !extracts(arguments) {
                return None;
            }
            let target = behind(arguments, options).unwrap_or(".");
            (target, plain(arguments, target), true)
        }
        None => {
            let options = ["-t", "--target-directory"];
            match behind(arguments, &options) {
                Some(target) => {
                    let mut sources = plain(arguments, target);
                    if sources.is_empty() && words.iter().any(|w| base_name(w) == "xargs") {
                        sources.push("{}");
                    }
                    (target, sources, false)
                }
                None => {
                    let mut sources = plain(arguments, "");
                    let target = sources.pop()?;
                    (target, sources, false)
                }
            }
        }
    };
    let is_outside = |path: &str| paths.place(path, cwd) == Place::Outside;
    let foreign = |source: &&str| {
        if source.contains("{}") {
            let here = words.iter().copied();
            let said = path_words(before).chain(here);
            return said
                .filter(|word| word.starts_with(['/', '~']))
                .any(|word| is_outside(word) && !is_program(word));
        }
        source.contains(':') || is_outside(source)
    };
    let known = match paths.place(target, cwd) {
        Place::Known(id) => BTreeSet::from([id]),
        Place::Tree(dir) => {
            let comes = |rest: &str| whole || sources.iter().any(|source| brings(source, rest));
            let below = paths.below(dir.trim_matches('/'));
            let below = below.filter(|(_, rest)| comes(rest));
            below.map(|(id, _)| id).collect()
        }
        Place::Outside => return None,
    };
    Some(Copied {
        imports: !known.is_empty() && sources.iter().any(foreign),
        known,
    })
}

/// A source, copied into a directory, makes this file of it.
fn brings(source: &str, rest: &str) -> bool {
    let all = source.ends_with(['/', '.', '*']) || source.contains(['*', '?', '{', '[', '$']);
    let name = base_name(source);
    all || rest == name || rest.strip_prefix(name).is_some_and(|r| r.starts_with('/'))
}

/// `tar x…`, `tar -x…`, `tar --extract`.
fn extracts(arguments: &[&str]) -> bool {
    let letters = |word: &&str| !word.starts_with("--") && word.contains('x');
    let first = arguments.first().is_some_and(letters);
    let flag = |word: &&str| word.starts_with('-') && letters(word) || *word == "--extract";
    first || arguments.iter().any(flag)
}

/// The value of one of the options.
fn behind<'a>(arguments: &[&'a str], options: &[&str]) -> Option<&'a str> {
    arguments.iter().enumerate().find_map(|(at, word)| {
        if options.contains(word) {
            return arguments.get(at + 1).copied();
        }
        let joined = |option: &&str| {
            let value = word.strip_prefix(*option)?;
            let value = value.strip_prefix('=').unwrap_or(value);
            (!value.is_empty()).then_some(value)
        };
        options.iter().find_map(joined)
    })
}

/// The arguments that are no options, without the target and what ends `find -exec`.
fn plain<'a>(arguments: &[&'a str], target: &str) -> Vec<&'a str> {
    let argument = |word: &&&str| {
        !word.starts_with('-') && **word != target && !matches!(**word, "\\" | "+" | ";")
    };
    arguments.iter().filter(argument).copied().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_with_a_directory() {
        let mut paths = Paths::default();
        let all = [
            "lantern/retry.py",
            "lantern/worker.py",
            "tests/test_retry.py",
        ];
        for path in all {
            paths.add(path);
        }
        paths.start_in("/srv/w");
        let none: &[usize] = &[];
        for (command, known, imports) in [
            ("cp -r /mnt/ref/lantern .", &[0, 1][..], true),
            ("cp -a /mnt/ref/. .", &[0, 1, 2], true),
            ("cp /mnt/ref/*.py lantern/", &[0, 1], true),
            ("cp -t lantern /mnt/ref/retry.py", &[0], true),
            ("cp /mnt/ref/retry.py lantern", &[0], true),
            ("cp /mnt/ref/retry.py lantern/retry.py", &[0], true),
            ("rsync -a /mnt/ref/ /srv/w/", &[0, 1, 2], true),
            ("scp host:/mnt/ref/retry.py lantern/", &[0], true),
            ("ln -s /mnt/ref/lantern", none, false),
            ("tar xzf /mnt/ref.tgz -C lantern", &[0, 1], true),
            ("tar -xf /mnt/ref.tgz", &[0, 1, 2], true),
            ("unzip -o /mnt/ref.zip -d /srv/w/tests", &[2], true),
            ("cp -r lantern/old lantern", none, false),
            ("mv lantern/a.py lantern/retry.py", &[0], false),
            ("cp -r templates/tests .", &[2], false),
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            let got = copied(&words, "", &paths, Some("/srv/w")).unwrap_or_default();
            let known: BTreeSet<PathId> = known.iter().map(|id| *id as PathId).collect();
            assert_eq!(got, Copied { known, imports }, "{command}");
        }
        for command in [
            "tar czf /tmp/x.tgz lantern",
            "cp lantern/retry.py /tmp",
            "ls lantern",
        ] {
            let words: Vec<&str> = command.split(' ').collect();
            let got = copied(&words, "", &paths, Some("/srv/w"));
            assert_eq!(got, None, "{command}");
        }
    }
}
