//! Files outside of the tree that the agent's own commands make: which of them hold something of its own, and which are
//! made of nothing but the tree.

use super::imports::TEMPORARY;
use super::paths::base_name;
use super::programs::{COPIES, FETCHERS, FETCHES, MANAGERS, SHAPERS};

/// Parts of scripts that may bring in anything.
const REACHES: [&str; 11] = [
    "http",
    "urllib",
    "requests",
    "subprocess",
    "system(",
    "socket",
    "b64",
    "base64",
    "zlib",
    "exec(",
    "popen",
];

/// Directories of the tree that hold the work of others.
const OTHERS: [&str; 6] = [
    "site-packages",
    "dist-packages",
    "node_modules",
    "vendor/",
    ".git/",
    ".cargo/",
];

pub(super) fn is_temporary(word: &str) -> bool {
    TEMPORARY.iter().any(|dir| word.starts_with(dir))
}

/// The words bring something from elsewhere.
pub(super) fn fetches(words: &[&str]) -> bool {
    let has = |names: &[&str]| words.iter().any(|w| names.contains(&base_name(w)));
    let git = has(&["git"]) && has(&["fetch", "pull", "clone", "submodule", "ls-remote"]);
    git || has(&FETCHERS)
        || has(&MANAGERS) && has(&FETCHES)
        || words.iter().any(|w| w.contains("://"))
}

/// The word behind a redirection, or the last one.
fn target<'w>(words: &[&'w str]) -> Option<&'w str> {
    let redirected = words.iter().enumerate().find_map(|(at, word)| {
        let (before, after) = word.split_once('>')?;
        let after = after.trim_start_matches(['>', '|']);
        let here = before.chars().all(|c| c.is_ascii_digit()) && !after.starts_with('&');
        here.then(|| match after {
            "" => words.get(at + 1).copied(),
            after => Some(after),
        })?
    });
    redirected.or(words.iter().rev().find(|w| !w.starts_with('-')).copied())
}

/// The temporary files that the words make and that hold nothing but what is the agent's; `own` tells which files are.
pub(super) fn made<'w>(words: &[&'w str], own: impl Fn(&str) -> bool) -> Vec<&'w str> {
    let clean = |word: &&'w str| {
        let word = word.trim_start_matches(['>', '<', '|', '&']);
        word.rsplit('=').next().unwrap_or(word)
    };
    let temporary = || words.iter().map(clean).filter(|word| is_temporary(word));
    let copies = words
        .iter()
        .find(|w| !w.starts_with(['>', '<']))
        .is_some_and(|w| COPIES.contains(&base_name(w)));
    if fetches(words) {
        return Vec::new();
    }
    if !copies {
        return temporary().collect();
    }
    let Some(target) = target(words).filter(|word| is_temporary(word)) else {
        return Vec::new();
    };
    let foreign = temporary().any(|word| word != target && !own(word));
    if foreign { Vec::new() } else { vec![target] }
}

/// The temporary file that a pipeline makes of nothing but files that `known` tells of.
pub(super) fn shaped(pipeline: &str, known: impl Fn(&str) -> bool) -> Option<&str> {
    if OTHERS.iter().any(|dir| pipeline.contains(dir)) || pipeline.contains(['`', '$', '\\']) {
        return None;
    }
    // What stands in quotes is a program, not a file.
    let mut quote = None;
    let is_plain = |c: char| {
        let before = quote;
        match quote {
            None if matches!(c, '\'' | '"') => quote = Some(c),
            Some(mark) if mark == c => quote = None,
            _ => {}
        }
        !matches!(c, '\'' | '"') && before.is_none()
    };
    let marks: Vec<bool> = pipeline.chars().map(is_plain).collect();
    let plain: String = pipeline
        .chars()
        .zip(marks)
        .filter_map(|(c, plain)| plain.then_some(c))
        .collect();
    let target = target(&pipeline.split_whitespace().collect::<Vec<_>>())?;
    let mut inputs = 0;
    for part in plain.split('|') {
        let mut words = part.split_whitespace();
        if !words.next().is_some_and(|word| SHAPERS.contains(&word)) {
            return None;
        }
        for word in words.map(|w| w.trim_start_matches(['<', '>'])) {
            if word.is_empty() || word == target || word.starts_with('-') {
                continue;
            }
            if !known(word) {
                return None;
            }
            inputs += 1;
        }
    }
    (inputs > 0 && is_temporary(target) && plain.contains('>')).then_some(target)
}

/// The temporary files that a script in a command writes, when it reaches for nothing.
pub(super) fn written_by_script(command: &str) -> Vec<&str> {
    if !command.contains("/tmp/") || REACHES.iter().any(|part| command.contains(part)) {
        return Vec::new();
    }
    let mut out = Vec::new();
    for opener in ["open(", "Path(", "writeFileSync("] {
        for (at, _) in command.match_indices(opener) {
            let after = command.get(at + opener.len()..).unwrap_or_default();
            let Some(mark) = after.chars().next().filter(|c| ['"', '\''].contains(c)) else {
                continue;
            };
            let mut parts = after.splitn(3, mark);
            let name = parts.nth(1).unwrap_or_default();
            let rest = parts.next().unwrap_or_default();
            let rest = rest.trim_start_matches([' ', ',', ')']);
            let writes = ["'w", "\"w", "'a", "\"a", ".write", "mode='w", "mode=\"w"];
            let writes = opener == "writeFileSync(" || writes.iter().any(|w| rest.starts_with(w));
            if writes && is_temporary(name) {
                out.push(name);
            }
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    #[rustfmt::skip]
    fn what_commands_make() {
        let own = |word: &str| ["/tmp/own.py", "docs/a.md"].contains(&word);
        for (command, want) in [
            ("node -e x > /tmp/g.ts", &["/tmp/g.ts"][..]),
            ("mkdir -p /tmp/g", &["/tmp/g"]),
            ("cp a.py /tmp/a.py", &["/tmp/a.py"]),
            ("cp /tmp/own.py /tmp/b.py", &["/tmp/b.py"]),
            ("cp /tmp/ref/a.py /tmp/b.py", &[]),
            ("cp /tmp/ref/a.py a.py", &[]),
            ("unzip -p /tmp/x.whl a.py >/tmp/a.py", &[]),
            ("pip download -d /tmp/w lib", &[]),
            ("curl -so /tmp/a.py h.test/a.py", &[]),
            ("gh pr diff > /tmp/a.diff", &[]),
        ] {
            assert_eq!(made(&words(command), own), want, "{command}");
        }
        for (pipeline, want) in [
            ("awk -F'|' 'NR>4{...}' docs/a.md > /tmp/t.py", Some("/tmp/t.py")),
            ("sort docs/a.md | sed 's/a/b/' >/tmp/t.py", Some("/tmp/t.py")),
            ("sed 's/a/b/' /tmp/own.py > /tmp/t.py", Some("/tmp/t.py")),
            ("sed 's/a/b/' answer.txt > /tmp/t.py", None),
            ("sed 's/a/b/' /tmp/ref.py > /tmp/t.py", None),
            ("cat .venv/lib/site-packages/x.py > /tmp/t.py", None),
            ("python3 docs/a.md > /tmp/t.py", None),
            ("curl -s docs/a.md | cat > /tmp/t.py", None),
        ] {
            assert_eq!(shaped(pipeline, own), want, "{pipeline}");
        }
        for (script, want) in [
            ("python3 - <<'E'\nopen('/tmp/g/t.py','w').write(out)\nE", &["/tmp/g/t.py"][..]),
            ("python3 - <<'E'\nPath(\"/tmp/t.py\").write_text(out)\nE", &["/tmp/t.py"]),
            ("python3 - <<'E'\nopen('/tmp/g/t.py').read()\nE", &[]),
            ("python3 - <<'E'\nimport urllib.request\nopen('/tmp/g/t.py','w').write(out)\nE", &[]),
        ] {
            assert_eq!(written_by_script(script), want, "{script}");
        }
    }
}
