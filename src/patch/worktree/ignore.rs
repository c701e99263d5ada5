//! The ignore rules of the base tree: build results that its `.gitignore` files name are nobody's work.
//!
//! Only the base is asked. The run's own `.gitignore`, `.git/info/exclude` and the user's global ignore file
//! could be written to hide work.

use std::collections::BTreeMap;

use bstr::{BStr, BString, ByteSlice};
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::patch::tree::{BaseTree, EntryKind};

/// Most patterns that are read, over all `.gitignore` files; further ones are passed over.
const MAX_PATTERNS: usize = 50_000;

/// Longest `.gitignore` that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// All rules of a tree.
#[derive(Debug, Default)]
pub(super) struct IgnoreRules {
    /// By directory (`""` is the root).
    dirs: BTreeMap<BString, DirRules>,
}

#[derive(Debug)]
struct DirRules {
    globs: GlobSet,
    rules: Vec<Rule>,
}

#[derive(Debug, Clone, Copy)]
struct Rule {
    /// `!pattern`: do not ignore after all.
    keep: bool,
    /// `pattern/`: directories only.
    dirs_only: bool,
}

impl IgnoreRules {
    /// Reads every `.gitignore` of a tree. What cannot be read has no rules.
    pub(super) fn of(tree: &dyn BaseTree) -> Self {
        let mut left = MAX_PATTERNS;
        let mut dirs = BTreeMap::new();
        for (path, entry) in tree.entries() {
            let dir = match path.strip_suffix(b".gitignore") {
                Some(b"") => b"",
                Some(dir) => match dir.strip_suffix(b"/") {
                    Some(dir) => dir,
                    None => continue,
                },
                None => continue,
            };
            if !matches!(entry.kind, EntryKind::File | EntryKind::Executable) {
                continue;
            }
            let Ok(text) = tree.read(path.as_bstr()) else {
                continue;
            };
            if text.len() <= MAX_BYTES {
                let rules = DirRules::parse(&text, &mut left);
                dirs.insert(BString::from(dir), rules);
            }
        }
        Self { dirs }
    }

    /// True when the rules ignore this path. A path below an ignored directory is for the caller to know.
    pub(super) fn ignores(&self, path: &BStr, is_dir: bool) -> bool {
        // The rules nearest to the path win, then those of its parents.
        let mut dir: &[u8] = path;
        while !dir.is_empty() {
            let end = dir.rfind_byte(b'/').unwrap_or(0);
            dir = dir.get(..end).unwrap_or_default();
            let Some(rules) = self.dirs.get(dir) else {
                continue;
            };
            let below = match end {
                0 => path.get(..),
                _ => path.get(end + 1..),
            };
            if let Some(ignored) = rules.decide(below.unwrap_or_default(), is_dir) {
                return ignored;
            }
        }
        false
    }
}

impl DirRules {
    fn parse(text: &[u8], left: &mut usize) -> Self {
        let mut globs = GlobSetBuilder::new();
        let mut rules = Vec::new();
        for line in text.lines() {
            let Some((pattern, rule)) = parse_line(line) else {
                continue;
            };
            if *left == 0 {
                break;
            }
            let glob = GlobBuilder::new(&pattern)
                .literal_separator(true)
                .backslash_escape(true)
                .build();
            if let Ok(glob) = glob {
                globs.add(glob);
                rules.push(rule);
                *left -= 1;
            }
        }
        match globs.build() {
            Ok(globs) => Self { globs, rules },
            Err(_) => Self {
                globs: GlobSet::empty(),
                rules: Vec::new(),
            },
        }
    }

    /// What the last matching rule says.
    fn decide(&self, path: &[u8], is_dir: bool) -> Option<bool> {
        if self.rules.is_empty() {
            return None;
        }
        let matching = self.globs.matches(path.to_path_lossy());
        let rules = matching.iter().rev().filter_map(|i| self.rules.get(*i));
        let mut fitting = rules.filter(|r| is_dir || !r.dirs_only);
        fitting.next().map(|r| !r.keep)
    }
}

/// Turns a line of a `.gitignore` into a glob over paths below its directory (see `gitignore(5)`).
fn parse_line(line: &[u8]) -> Option<(String, Rule)> {
    // A pattern that is no UTF-8 matches nothing here.
    let line = line.to_str().ok()?;
    let mut text = line.trim_end_matches('\r');
    if text.starts_with('#') {
        return None;
    }
    // Blanks at the end do not count unless the last is escaped.
    while let Some(shorter) = text.strip_suffix(' ') {
        if shorter.ends_with('\\') {
            break;
        }
        text = shorter;
    }
    let keep = text.starts_with('!');
    text = text.strip_prefix('!').unwrap_or(text);
    let dirs_only = text.ends_with('/');
    text = text.strip_suffix('/').unwrap_or(text);
    if text.is_empty() {
        return None;
    }
    // A slash at the start or inside ties the pattern to this directory.
    let pattern = match text.strip_prefix('/') {
        Some(rest) => rest.to_owned(),
        None if text.contains('/') => text.to_owned(),
        None => format!("**/{text}"),
    };
    // `a/**` names what is in `a`, not `a` itself.
    let pattern = match pattern.strip_suffix("/**") {
        Some(dir) => format!("{dir}/**/*"),
        None => pattern,
    };
    Some((pattern, Rule { keep, dirs_only }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::tree::MemTree;

    #[test]
    fn as_in_the_manual() {
        let mut tree = MemTree::default();
        tree.insert(
            ".gitignore",
            EntryKind::File,
            "# no rule\n\n*.o\n!keep.o\n/build/\nout/*.log\ndocs/**\n\\#x\nspace\\ \nqu?[a-c]\ntarget/\n",
        );
        tree.insert("sub/.gitignore", EntryKind::File, "!a.o\n/only-here\n");
        tree.insert("x.gitignore", EntryKind::File, "*\n");
        let rules = IgnoreRules::of(&tree);
        for (path, is_dir, want) in [
            ("a.o", false, true),
            ("sub/b.o", false, true),
            ("sub/a.o", false, false),
            ("keep.o", false, false),
            ("build", true, true),
            ("build", false, false),
            ("sub/build", true, false),
            ("sub/target", true, true),
            ("out/x.log", false, true),
            ("out/y/x.log", false, false),
            ("docs", true, false),
            ("docs/x", false, true),
            ("docs/x/y", false, true),
            ("#x", false, true),
            ("space ", false, true),
            ("quxb", false, true),
            ("quxd", false, false),
            ("only-here", false, false),
            ("sub/only-here", false, true),
            ("anything", false, false),
        ] {
            assert_eq!(rules.ignores(path.into(), is_dir), want, "{path}");
        }
    }
}
