//! Files that a new file of the GT may have been made of: its neighbours in the starter tree.

use bstr::ByteSlice;
use foldhash::HashSet;

use super::comments::strip;
use super::generated::FileSource;
use super::mechanical::shape;
use super::normalise::fold;
use super::prepare::PreparedLine;
use super::reference::added_code;
use super::syntax::Syntax;

/// A new file with fewer lines is not asked for.
const MIN_LINES: usize = 8;

/// Bytes of a neighbour that are read.
const MAX_READ: usize = 128 << 10;

/// Bytes that are read for all files together.
const MAX_READ_ALL: usize = 24 << 20;

/// The neighbour that a file is most like in shape.
pub(super) struct Model {
    /// The file of the GT.
    pub(super) file: usize,
    /// The code of its neighbour, line by line.
    pub(super) code: Vec<String>,
}

/// A neighbour for each file of the GT that is new and has one. `is_new` says which are.
pub(super) fn models(
    prepared: &[Vec<Vec<PreparedLine<'_>>>],
    paths: &[String],
    is_new: impl Fn(usize) -> bool,
    source: &dyn FileSource,
) -> Vec<Model> {
    let mut left = MAX_READ_ALL;
    let mut out = Vec::new();
    for (file, (hunks, path)) in prepared.iter().zip(paths).enumerate() {
        if !is_new(file) {
            continue;
        }
        let shapes: Vec<u64> = added_code(hunks).map(|line| shape(&line.code)).collect();
        if shapes.len() < MIN_LINES {
            continue;
        }
        let mut best: Option<(usize, Vec<String>)> = None;
        for near in source.neighbours(path) {
            if left == 0 {
                break;
            }
            let content = source.head(&near, MAX_READ).unwrap_or_default();
            left = left.saturating_sub(content.len());
            let code = code(&near, &content);
            let there: HashSet<u64> = code.iter().map(|line| shape(line)).collect();
            let alike = shapes.iter().filter(|shape| there.contains(*shape)).count();
            // A file of which half is not even alike in shape was made of another.
            if alike * 2 >= shapes.len() && best.as_ref().is_none_or(|(most, _)| alike > *most) {
                best = Some((alike, code));
            }
        }
        if let Some((_, code)) = best {
            out.push(Model { file, code });
        }
    }
    out
}

/// The lines of a file as they are compared: without comments and indentation, folded.
fn code(path: &str, content: &[u8]) -> Vec<String> {
    let text = content.to_str_lossy();
    let lines: Vec<&str> = text.lines().collect();
    let stripped = strip(Syntax::of(path), &lines);
    let code = stripped
        .iter()
        .map(|line| fold(line.code.trim()).into_owned());
    code.filter(|line| !line.is_empty()).collect()
}

/// Of the paths of a tree, in order, those beside `path`: the same ending, and the same directory, or the same name in a
/// directory beside that. The most alike in name first.
pub fn beside<'t>(path: &str, all: impl Iterator<Item = &'t str>) -> Vec<String> {
    /// A new file is compared with so many.
    const MAX: usize = 12;
    let (dir, name) = path.rsplit_once('/').unwrap_or(("", path));
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    let above = dir.rsplit_once('/').map_or("", |(above, _)| above);
    let is_near = |other: &&str| {
        let (other_dir, other_name) = other.rsplit_once('/').unwrap_or(("", other));
        if *other == path || other_name.rsplit_once('.').map(|(_, e)| e) != ending {
            return false;
        }
        let other_above = other_dir.rsplit_once('/').map_or("", |(above, _)| above);
        other_dir == dir || other_name == name && !dir.is_empty() && other_above == above
    };
    let likeness = |other: &str| {
        let same = |(a, b): &(u8, u8)| a == b;
        let ahead = path.bytes().zip(other.bytes()).take_while(same).count();
        let behind = path.bytes().rev().zip(other.bytes().rev());
        ahead + behind.take_while(same).count()
    };
    let mut near: Vec<&str> = all.filter(is_near).collect();
    near.sort_by_key(|other| std::cmp::Reverse(likeness(other)));
    near.truncate(MAX);
    near.into_iter().map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_of_a_file() {
        let tree = [
            "README.md",
            "pkg/alpha/client.py",
            "pkg/alpha/other.py",
            "pkg/m.py",
            "pkg/beta.go",
            "pkg/gamma.py",
            "client.py",
        ];
        let near = |path| beside(path, tree.into_iter());
        assert_eq!(near("pkg/gammas.py"), ["pkg/gamma.py", "pkg/m.py"]);
        assert_eq!(near("pkg/beta/client.py"), ["pkg/alpha/client.py"]);
        assert_eq!(near("pkg/gamma.py"), ["pkg/m.py"]);
        assert_eq!(near("lib.py"), ["client.py"]);
    }
}
