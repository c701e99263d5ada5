//! Which calls leave the tree as it is: commands that look, run its tests, or only say what they would change.
//!
//! Narrow on purpose: what is not recognised may have changed the tree.

use super::cutting::{quiet, segments};
use super::paths::{Paths, Place, base_name};
use super::programs::{GIT_READERS, READERS, TEST_OPTIONS, TEST_RUNNERS, WRITERS};
use super::writes::interpreted;

/// Every program of a command is one that only looks, and nothing is redirected into a file.
///
/// Narrow on purpose: what is not recognised may have changed the tree.
pub(super) fn reads_only(command: &str) -> bool {
    let quiet = quiet(command);
    !redirects(&quiet) && segments(&quiet).all(segment_reads_only)
}

/// Every program of a command is one that only looks, or that runs the tests of the tree. `inside` tells whether a
/// directory lies in the tree: tests of elsewhere may write whatever they like.
pub(super) fn runs_tests(command: &str, inside: impl Fn(&str) -> bool) -> bool {
    let quiet = quiet(command);
    let stays = |segment: &str| match segment.split_whitespace().collect::<Vec<_>>().as_slice() {
        ["cd", dir] => inside(dir.trim_matches(['\'', '"'])),
        ["cd", ..] => false,
        _ => true,
    };
    !redirects(&quiet)
        && segments(&quiet).all(|segment| {
            stays(segment) && (segment_reads_only(segment) || segment_runs_tests(segment))
        })
}

/// The directories that a command changes to.
pub(super) fn changes_to(command: &str) -> impl Iterator<Item = &str> {
    segments(command).filter_map(|segment| {
        let mut words = segment.split_whitespace();
        let moves = words.next()? == "cd";
        // Alone it goes home, `-` to where it was.
        let to = words
            .next()
            .map_or("~", |dir| dir.trim_matches(['\'', '"']));
        moves.then_some(if to == "-" { "~" } else { to })
    })
}

fn redirects(quiet: &str) -> bool {
    quiet.contains(['>', '`']) || quiet.contains("$(") || quiet.contains("<(")
}

fn segment_runs_tests(segment: &str) -> bool {
    let words: Vec<&str> = segment.split_whitespace().collect();
    let Some(rest) = TEST_RUNNERS.iter().find_map(|run| words.strip_prefix(*run)) else {
        return false;
    };
    // Further targets of `make` may do anything.
    let targets = words.first() == Some(&"make") && rest.iter().any(|w| !w.starts_with('-'));
    !targets
        && rest.iter().all(|word| {
            let name = word.split('=').next().unwrap_or(word);
            match word.starts_with('-') {
                true => *word == "--" || TEST_OPTIONS.contains(&name),
                // Variables (`make test CC=...`), paths of elsewhere.
                false => {
                    let from_elsewhere =
                        word.trim_matches(['\'', '"']).starts_with(['/', '~', '$']);
                    !word.contains(['=', '$', '\\']) && !from_elsewhere && !is_above(word)
                }
            }
        })
}

/// A path with `..` among its parts; Go's `./...` has none.
fn is_above(word: &str) -> bool {
    word.split('/')
        .any(|part| part.trim_matches(['\'', '"']) == "..")
}

pub(super) fn segment_reads_only(segment: &str) -> bool {
    let mut words = segment.split_whitespace();
    let Some(program) = words.next().map(base_name) else {
        return true;
    };
    let has = |wanted: &[&str]| {
        segment
            .split_whitespace()
            .any(|w| wanted.iter().any(|x| w.starts_with(x)))
    };
    match program {
        "git" => {
            words
                .find(|w| !w.starts_with('-'))
                .is_some_and(|w| GIT_READERS.contains(&w))
                && !has(&["--output", "--ext-diff", "--open-files", "-O"])
        }
        "find" => !has(&["-exec", "-ok", "-delete", "-fprint", "-fls"]),
        "sed" => has(&["-n"]) && !has(&["-i", "--in-place", "-f", "--file"]) && sed_prints(segment),
        "awk" => {
            !has(&["-i", "-f", "--file"]) && !segment.contains("system") && !segment.contains('@')
        }
        "sort" => !has(&["-o", "--o", "--comp"]),
        "tree" | "less" => !has(&["-o", "-O", "--log"]),
        "uniq" => words.filter(|w| !w.starts_with('-')).count() < 2,
        "rg" | "ag" => !has(&["--pre", "--pager"]),
        program => READERS.contains(&program),
    }
}

/// The script of `sed -n` prints: it has no command that writes a file (`w`, and the flag of `s`) or runs a
/// program (`e`). Where the script begins with an address in slashes, it ends as one that prints does.
fn sed_prints(segment: &str) -> bool {
    let quote = segment
        .find(['\'', '"'])
        .and_then(|at| segment.split_at_checked(at));
    let script = match quote {
        Some((_, quoted)) => {
            let mark = quoted.chars().next().unwrap_or('\'');
            quoted.split(mark).nth(1).unwrap_or_default()
        }
        None => {
            let mut words = segment.split_whitespace().skip(1);
            words.find(|w| !w.starts_with('-')).unwrap_or_default()
        }
    };
    let (pattern, tail) = script.rsplit_once('/').unwrap_or(("", script));
    let starts = pattern.is_empty()
        || pattern.starts_with(|c: char| "/s$".contains(c) || c.is_ascii_digit());
    let closed =
        pattern.matches('/').count() < 4 && !pattern.contains("/w") && !pattern.contains("/e");
    starts
        && closed
        && tail
            .chars()
            .all(|c| c.is_ascii_digit() || c.is_whitespace() || "p=$,+!~qdgI{}".contains(c))
}

/// A tool that only looks, by its name.
pub(super) fn tool_reads_only(tool: &str) -> bool {
    let name = tool.to_ascii_lowercase();
    [
        "read",
        "view",
        "grep",
        "glob",
        "list",
        "ls",
        "cat",
        "todowrite",
        "todoread",
        "todo_write",
        "update_plan",
    ]
    .contains(&name.as_str())
}

/// A program that changes files, asked only what it would do.
pub(super) fn only_checks(words: &[&str]) -> bool {
    let program = |name: &str| words.iter().any(|w| base_name(w) == name);
    let has = |options: &[&str]| words.iter().any(|w| options.contains(w));
    // Writing what it prints into a file is another matter.
    if words.iter().any(|w| WRITERS.contains(&base_name(w))) {
        return false;
    }
    if program("git") {
        let only = ["--check", "--stat", "--numstat", "--summary"];
        let shelf = has(&["stash"]) && has(&["list", "show"]);
        return has(&["apply"]) && has(&only) && !has(&["--apply"]) || shelf && !interpreted(words);
    }
    if interpreted(words) && !has(&["-m"]) {
        return false;
    }
    program("black") && has(&["--check", "--diff"])
        || program("isort") && has(&["--check-only", "--check", "-c", "--diff"])
        || program("cargo") && has(&["fmt"]) && has(&["--check"])
        || program("rustfmt") && has(&["--check"])
        || program("ruff") && has(&["format"]) && has(&["--check", "--diff"])
        || program("patch") && has(&["--dry-run"])
}

/// `git checkout -- files`, where none of them is known.
pub(super) fn restores_others(words: &[&str], paths: &Paths, cwd: Option<&str>) -> bool {
    let (["git", "checkout" | "restore", "--", files @ ..]
    | ["git", "checkout", "HEAD", "--", files @ ..]) = words
    else {
        return false;
    };
    let other = |word: &&str| match paths.place(word, cwd) {
        Place::Tree(path) => {
            let plain = |c: char| c.is_ascii_alphanumeric() || "/._-+".contains(c);
            !path.is_empty() && path.chars().all(plain) && paths.below(&path).next().is_none()
        }
        _ => false,
    };
    !files.is_empty() && files.iter().all(other)
}

/// `git stash; git stash pop`: what was put away comes back. What runs between may change files, and counts by itself.
pub(super) fn takes_back(command: &str) -> bool {
    let is = |segment: &str, what: &[&[&str]]| {
        let words: Vec<&str> = segment.split_whitespace().collect();
        what.contains(&words.as_slice())
    };
    let mut parts = segments(command);
    let first = parts.find(|part| part.trim_start().starts_with("git stash"));
    first.is_some_and(|first| is(first, PUTS_AWAY))
        && parts.any(|part| is(part, &[&["git", "stash", "pop"]]))
}

/// Changes that are put away.
const PUTS_AWAY: &[&[&str]] = &[&["git", "stash"], &["git", "stash", "push"]];

/// One of the two commands of [`takes_back`].
pub(super) fn is_shelf(words: &[&str]) -> bool {
    PUTS_AWAY.contains(&words) || words == ["git", "stash", "pop"]
}

/// A script that imports modules of the files that are known, and prints what it imported.
pub(super) fn prints(command: &str, words: &[&str], paths: &Paths) -> bool {
    /// Longer ones do more than that; and each part of a command is asked.
    const LONGEST: usize = 4096;
    if command.len() > LONGEST {
        return false;
    }
    let script = match words {
        ["python" | "python3", "-c", ..] => {
            let after = command.split_once("-c").map(|(_, after)| after.trim());
            let quoted = after.and_then(|a| a.strip_prefix(['"', '\'']));
            quoted.and_then(|q| q.strip_suffix(['"', '\'']))
        }
        ["python" | "python3", "-" | "<<E" | "<<EOF" | "<<PY", ..] => command
            .split_once('\n')
            .and_then(|(_, body)| Some(body.trim_end().rsplit_once('\n')?.0)),
        _ => None,
    };
    let plain = |c: char| c.is_alphanumeric() || "_., ".contains(c);
    script.is_some_and(|script| {
        script.split(['\n', ';']).map(str::trim).all(|line| {
            let shown = line
                .strip_prefix("print(")
                .and_then(|l| l.strip_suffix(')'));
            let mut parts = line.split([' ', '.', ',']);
            let imported = ["import", "from"].contains(&parts.next().unwrap_or_default())
                && paths
                    .below(parts.next().unwrap_or_default())
                    .next()
                    .is_some();
            line.is_empty()
                || imported && line.chars().all(plain)
                || shown.is_some_and(|shown| shown.chars().all(plain))
        })
    })
}

#[cfg(test)]
mod tests {
    use super::super::writes::tests::paths;
    use super::*;

    #[test]
    fn test_runs_write_no_source() {
        for (command, want) in [
            ("pytest -q", true),
            (
                "cd /w/run && python -m pytest tests/a.py -k 'x and y' --tb=short 2>&1 | tail -20",
                true,
            ),
            ("go test ./... -run TestX -count=1", true),
            ("cargo test --lib pkg::a", true),
            ("npm test", true),
            ("make test", true),
            ("cat a.go; make check", true),
            ("pytest -p evil", false),
            ("pytest --rootdir=/mnt/x", false),
            ("pytest /mnt/x/test_a.py", false),
            ("pytest ../x", false),
            ("cd /mnt/x && pytest", false),
            ("PYTHONPATH=/mnt pytest", false),
            ("go test -exec /mnt/x ./...", false),
            ("go test -update ./...", false),
            ("cargo test --manifest-path /mnt/Cargo.toml", false),
            ("make -f /mnt/Makefile test", false),
            ("make test SHELL=/mnt/x", false),
            ("make test install", false),
            ("npm test --prefix /mnt", false),
            ("cp /mnt/a.go pkg/a.go; pytest", false),
            ("pytest; python3 /tmp/w.py", false),
            ("pytest > pkg/a.go", false),
            ("python3 /mnt/pytest.py", false),
        ] {
            let inside = |dir: &str| paths().place(dir, Some("/w/run")) != Place::Outside;
            assert_eq!(runs_tests(command, inside), want, "{command}");
        }
    }

    #[test]
    fn commands_that_only_look() {
        for (command, want) in [
            ("ls -la && git status --short", true),
            ("cat a.go | grep -n x | head -5 2>/dev/null", true),
            ("sed -n '1,200p' a.go", true),
            ("git log --oneline -3; pwd", true),
            ("find . -name '*.go'", true),
            ("", true),
            ("find . -name x -delete", false),
            ("sed -n -i 1d a.go", false),
            ("sed 's/a/b/w out' a.go", false),
            ("cat x > a.go", false),
            ("echo $(curl x)", false),
            ("git stash pop", false),
            ("git -C up log", false),
            ("./fetch", false),
            ("go test ./...", false),
            ("FOO=1 cat a.go", false),
            ("sed -n '/func/,/^}/p' a.go", true),
            ("sed -n p a.go", true),
            ("sort a.go | uniq -c", true),
            ("sed -n 'w pkg/a.go' /mnt/a.go", false),
            ("sed -n '1wa.go' /mnt/a.go", false),
            ("sed -n 's/x/x/w a.go' /mnt/a.go", false),
            ("sed -n -f /mnt/x a.go", false),
            ("sort -o pkg/a.go /mnt/a.go", false),
            ("uniq /mnt/a.go pkg/a.go", false),
            ("awk 'BEGIN{system(\"cp /mnt/a.go pkg\")}'", false),
            ("git show v2:pkg/a.go --output=pkg/a.go", false),
            ("rg --pre /mnt/x y", false),
        ] {
            assert_eq!(reads_only(command), want, "{command}");
        }
        assert!(tool_reads_only("Read") && !tool_reads_only("mcp__get_file"));
    }
}
