//! Lists of files, one path a line: hand-written, generated, all files of a GT.

use std::collections::BTreeSet;
use std::path::Path;

use super::guarded;
use crate::Result;

/// Largest list that is read, in bytes (the largest real one has 60 KB).
const LIMIT: u64 = 16 << 20;

/// Reads a list that the user named or that lies in the benchmark's tree.
///
/// # Errors
/// As [`guarded::read_named`].
pub(crate) fn read(path: &Path, fix: &str) -> Result<BTreeSet<String>> {
    let bytes = guarded::read_named(path, LIMIT, fix)?;
    Ok(parse(&String::from_utf8_lossy(&bytes)))
}

/// The paths of a list.
///
/// LF and CRLF; blank lines and lines that begin with `# ` are left out, as are white space at the
/// ends and a leading `./`. Blanks inside a path stay. A path in double quotes is one that `git diff
/// --name-only` quoted: its backslash escapes are undone.
pub fn parse(text: &str) -> BTreeSet<String> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    text.lines()
        .map(str::trim)
        .filter(|line| !line.is_empty() && *line != "#" && !line.starts_with("# "))
        .map(unquote)
        .map(|path| match path.strip_prefix("./") {
            Some(rest) => rest.to_owned(),
            None => path,
        })
        .filter(|path| !path.is_empty())
        .collect()
}

/// Undoes the quoting of git (`core.quotePath`): `"caf\303\251.md"` is `café.md`. A text that is not
/// quoted in this way is returned as it is.
fn unquote(text: &str) -> String {
    let inner = text
        .strip_prefix('"')
        .and_then(|rest| rest.strip_suffix('"'));
    inner.and_then(unescape).unwrap_or_else(|| text.to_owned())
}

/// The text with C escapes undone; `None` when there is an unknown one or a bare quote.
fn unescape(inner: &str) -> Option<String> {
    let mut out = Vec::with_capacity(inner.len());
    let mut bytes = inner.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return None,
            b'\\' => out.push(match bytes.next()? {
                b'a' => 7,
                b'b' => 8,
                b't' => b'\t',
                b'n' => b'\n',
                b'v' => 11,
                b'f' => 12,
                b'r' => b'\r',
                b'"' => b'"',
                b'\\' => b'\\',
                first @ b'0'..=b'3' => {
                    let mut value = first - b'0';
                    for _ in 0..2 {
                        let digit = bytes.next().filter(|d| (b'0'..=b'7').contains(d))?;
                        value = (value << 3) | (digit - b'0');
                    }
                    value
                }
                _ => return None,
            }),
            other => out.push(other),
        }
    }
    Some(String::from_utf8_lossy(&out).into_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_become_paths() {
        let text = "\u{feff}src/a.rs\r\n\n  \n# a comment\n#\n./src/b.rs\ndocs/with  two blanks.md \n\
                    #not#\nsrc/a.rs\n\"caf\\303\\251.md\"\n\"half\n\"bad \\q\"\n\"in\"side\"\nlast";
        let want = [
            "src/a.rs",
            "src/b.rs",
            "docs/with  two blanks.md",
            "#not#",
            "café.md",
            "\"half",
            "\"bad \\q\"",
            "\"in\"side\"",
            "last",
        ];
        assert_eq!(parse(text), want.iter().map(|s| (*s).to_owned()).collect());
        assert!(parse("").is_empty());
        assert!(parse("\n\r\n./\n\"\"\n").is_empty());
    }

    #[test]
    fn the_real_lists() {
        let root = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../shared/data/longhorizon/base_repo"
        );
        let Ok(tasks) = std::fs::read_dir(root) else {
            println!("skipped: {root} is not here");
            return;
        };
        let (mut hand_written, mut spaced) = (0, 0);
        for task in tasks.flatten() {
            let eval = task.path().join("eval");
            let Ok(text) = std::fs::read_to_string(eval.join("handwritten_files.txt")) else {
                continue;
            };
            let list = parse(&text);
            assert_eq!(list.len(), text.lines().count(), "{eval:?}");
            let all = parse(&std::fs::read_to_string(eval.join("gt_files.txt")).unwrap());
            assert!(list.is_subset(&all), "{eval:?}");
            hand_written += list.len();
            spaced += list.iter().filter(|p| p.contains(' ')).count();
        }
        // 3,587 in the 61 tasks whose patch is published, and those of T39.
        assert_eq!(hand_written, 4_720);
        assert_eq!(spaced, 7);
    }
}
