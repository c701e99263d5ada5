//! The filters that the base's `.gitattributes` files name.
//!
//! git runs them at checkout, this program never: so a file with a filter can differ from the base though
//! nobody touched it. That is said, not guessed away. The run's own attributes are not asked, since the agent
//! could write them.

use bstr::{BStr, BString, ByteSlice};
use globset::{GlobBuilder, GlobMatcher};

use crate::patch::tree::BaseTree;

/// Most patterns that are read.
const MAX_PATTERNS: usize = 5_000;

/// Longest attributes file that is read, in bytes.
const MAX_BYTES: usize = 1 << 20;

/// One line that sets or unsets a filter.
struct Rule {
    dir: BString,
    glob: GlobMatcher,
    /// The pattern has no slash: it is matched with the file's name alone.
    by_name: bool,
    filters: bool,
}

/// All such lines, those of deeper directories later.
pub(super) struct Filters(Vec<Rule>);

impl Filters {
    /// Reads the attributes files of a tree. What cannot be read says nothing.
    pub(super) fn of(base: &dyn BaseTree) -> Self {
        let mut rules = Vec::new();
        for path in base.entries().keys() {
            let dir = match path.strip_suffix(b".gitattributes") {
                Some(dir) if dir.is_empty() || dir.ends_with(b"/") => BString::from(dir),
                _ => continue,
            };
            let Ok(text) = base.read(path.as_bstr()) else {
                continue;
            };
            if text.len() <= MAX_BYTES {
                let left = MAX_PATTERNS.saturating_sub(rules.len());
                rules.extend(text.lines().filter_map(|line| rule(&dir, line)).take(left));
            }
        }
        Self(rules)
    }

    /// True when a filter or an encoding is set for a file; Git LFS apart, whose pointers are recognised.
    pub(super) fn apply(&self, path: &BStr) -> bool {
        let name = path
            .rfind_byte(b'/')
            .map_or(path.as_bytes(), |at| path.get(at + 1..).unwrap_or_default());
        let last = self.0.iter().rev().find(|rule| {
            path.strip_prefix(rule.dir.as_slice()).is_some_and(|below| {
                let text = if rule.by_name { name } else { below };
                rule.glob.is_match(text.to_path_lossy())
            })
        });
        last.is_some_and(|rule| rule.filters)
    }
}

/// `pattern attribute…`; `None` when the line says nothing of filters.
fn rule(dir: &BString, line: &[u8]) -> Option<Rule> {
    let line = line.to_str().ok()?.trim();
    let (pattern, attributes) = line.split_once(char::is_whitespace)?;
    if pattern.starts_with(['#', '"', '[']) {
        return None;
    }
    let filters = attributes.split_whitespace().filter_map(|word| {
        let (name, value) = word.split_once('=').unwrap_or((word, ""));
        match name {
            "filter" => Some(value != "lfs"),
            "working-tree-encoding" => Some(true),
            "-filter" | "!filter" | "-working-tree-encoding" | "!working-tree-encoding" => {
                Some(false)
            }
            _ => None,
        }
    });
    let filters = filters.reduce(|a, b| a || b)?;
    let by_name = !pattern.trim_end_matches('/').contains('/');
    let glob = GlobBuilder::new(pattern.trim_start_matches('/'))
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .ok()?;
    Some(Rule {
        dir: dir.clone(),
        glob: glob.compile_matcher(),
        by_name,
        filters,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::patch::tree::{EntryKind, MemTree};

    #[test]
    fn the_last_line_that_fits_decides() {
        let mut tree = MemTree::default();
        let root = "# comment\n*.enc filter=crypt\n*.bin filter=lfs -text\ndocs/*.txt working-tree-encoding=UTF-16\n*.c text\n";
        tree.insert(".gitattributes", EntryKind::File, root);
        tree.insert(
            "open/.gitattributes",
            EntryKind::File,
            "*.enc -filter\n/only.x filter=f\n",
        );
        let filters = Filters::of(&tree);
        for (path, want) in [
            ("a.enc", true),
            ("deep/a.enc", true),
            ("open/a.enc", false),
            ("open/only.x", true),
            ("only.x", false),
            ("a.bin", false),
            ("docs/a.txt", true),
            ("a.txt", false),
            ("a.c", false),
        ] {
            assert_eq!(filters.apply(path.into()), want, "{path}");
        }
    }
}
