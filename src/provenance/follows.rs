//! Commands whose output follows from the tree: tools that generate or rewrite by fixed rules, substitutions that are spelled
//! out, scripts that stand in the command and take nothing from elsewhere.

use super::given::MAX_COMMAND;
use super::paths::base_name;
use super::programs::DETERMINISTIC;
use super::substitutions::side;
use crate::similarity::normalise::squeeze;

/// Words before a program, or a command that only prepares.
const BEFORE: [&str; 10] = [
    "npx",
    "poetry",
    "run",
    "uv",
    "uvx",
    "pnpm",
    "python",
    "python3",
    "-m",
    "manage.py",
];

/// It installs, or goes somewhere.
pub(super) fn prepares(segment: &str) -> bool {
    let words: Vec<&str> = segment.split_whitespace().collect();
    matches!(
        words.as_slice(),
        [
            "pip" | "pip3" | "npm" | "yarn" | "pnpm" | "cargo",
            "install" | "add" | "i",
            ..
        ] | ["cd", ..]
    ) && !segment.contains("://")
}

/// It runs a tool that generates or rewrites by fixed rules.
pub(super) fn deterministic(segment: &str) -> bool {
    let mut words = segment.split_whitespace().map(base_name);
    let program = words.find(|word| !BEFORE.contains(word));
    !segment.contains('>') && program.is_some_and(|word| DETERMINISTIC.contains(&word))
}

/// A script that stands in the command from end to end, and takes nothing but files of the tree: what it writes follows
/// from those, as long as no call can have changed them unseen.
pub(super) fn is_plain_script(command: &str) -> bool {
    let Some((head, rest)) = command.trim().split_once("<<") else {
        return false;
    };
    let words: Vec<&str> = head.split_whitespace().collect();
    let runs = matches!(
        words.as_slice(),
        ["python" | "python3" | "node"] | ["python" | "python3" | "node", "-"]
    );
    let Some((mark, script)) = rest.split_once('\n') else {
        return false;
    };
    let mark = mark.trim_matches(|c: char| "-'\" ".contains(c));
    let Some(script) = script.strip_suffix(mark) else {
        return false;
    };
    let script = script.to_lowercase();
    runs && !mark.is_empty()
        && command.len() <= MAX_COMMAND
        && !script.lines().any(|line| line.trim() == mark)
        && !REACHES.iter().any(|word| script.contains(word))
}

/// Words of scripts that take something from elsewhere, run something, or hide what they say.
const REACHES: [&str; 33] = [
    "http",
    "urllib",
    "request",
    "socket",
    "subprocess",
    "system",
    "popen",
    "spawn",
    "exec",
    "eval",
    "compile",
    "import(",
    "__import",
    "importlib",
    "base64",
    "b64",
    "zlib",
    "gzip",
    "bz2",
    "lzma",
    "codecs",
    "fromhex",
    "chr(",
    "fromcharcode",
    "'/",
    "\"/",
    "..",
    "~",
    "environ",
    "stdin",
    "argv",
    ".git",
    "[::-1]",
];

/// `sed -i` with substitutions that it spells out, of files of the tree: what they put in, each in pieces.
pub(super) fn substitutes(segment: &str) -> Option<Vec<String>> {
    let rest = segment.trim().strip_prefix("sed ")?;
    let parts: Vec<&str> = rest.split('\'').collect();
    let [options, script, files] = parts.as_slice() else {
        return None;
    };
    let plain = |word: &str| matches!(word, "-i" | "-E" | "-r" | "-e" | "-Ei" | "-i.bak");
    let inside = |file: &str| !file.starts_with(['/', '~', '-', '>']) && !file.contains("..");
    if !options.split_whitespace().all(plain) || !files.split_whitespace().all(inside) {
        return None;
    }
    let new = script.split(';').map(|part| substitution(part.trim()));
    Some(new.collect::<Option<Vec<_>>>()?.concat())
}

/// `s/a/b/g`, which runs nothing and writes no other file: the pieces of what it puts in, without white space.
fn substitution(part: &str) -> Option<Vec<String>> {
    let rest = part.strip_prefix('s')?;
    let delimiter = rest.chars().next()?;
    let (_, after) = side(rest.strip_prefix(delimiter)?, delimiter)?;
    let (new, flags) = side(after, delimiter)?;
    let harmless = |c| matches!(c, 'g' | 'i' | 'I' | '0'..='9');
    if !delimiter.is_ascii_punctuation() || !flags.chars().all(harmless) {
        return None;
    }
    // `\1` and `&` stand for what was there.
    let kept = new
        .split(['\\', '&'])
        .enumerate()
        .map(|(at, piece)| match at {
            0 => piece,
            _ => piece.trim_start_matches(|c: char| c.is_ascii_digit()),
        });
    let kept = kept.map(squeeze).filter(|piece| piece.len() >= MIN_PIECE);
    Some(kept.collect())
}

/// A shorter piece of a replacement is in any line.
const MIN_PIECE: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn scripts_from_end_to_end() {
        for (command, want) in [
            ("python3 - <<'E'\nrows = open('docs/a.md').read()\nopen('a.py', 'w').write(rows)\nE", true),
            ("python3 - <<'E'\nrows = open('/mnt/a.md').read()\nopen('a.py', 'w').write(rows)\nE", false),
            ("python3 - <<'E'\nimport base64\nopen('a.py', 'w').write(base64.b64decode(x))\nE", false),
            ("python3 - <<'E'\nopen('a.py', 'w')\nE\ncp /mnt/ref/a.py a.py", false),
            ("python3 /tmp/x.py <<'E'\nopen('a.py', 'w')\nE", false),
            ("python3 x.py", false),
        ] {
            assert_eq!(is_plain_script(command), want, "{command}");
        }
    }

    #[test]
    fn substitutions_and_what_they_put_in() {
        let put_in = |command| substitutes(command).map(|pieces| pieces.join(" "));
        assert_eq!(
            put_in("sed -E -i 's/a\\((.*), (.*)\\)/assert \\1 == \\2/' a.py"),
            Some("assert".into())
        );
        assert_eq!(put_in("sed -i 's/a/bcd efg/' a.py"), Some("bcdefg".into()));
        assert_eq!(put_in("sed -i 's/a/b/' a.py"), Some(String::new()));
        assert_eq!(put_in("sed -i '$r /mnt/a' a.py"), None);
    }
}
