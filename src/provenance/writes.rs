//! What a call may have done to the work tree without the trace saying how.
//!
//! This is recognition, not parsing: words are found wherever they stand, quotes are ignored, so
//! `bash -lc "sed -i … f"` counts like `sed -i … f`. Too much found costs little: it decides which of
//! two innocent explanations a line gets, and when the last change may have happened.

use std::collections::BTreeSet;

use super::copies::copied;
use super::paths::{PathId, Paths, Place, base_name};

/// What a command may have written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Writes {
    /// Known files that it names and changes.
    pub(super) known: BTreeSet<PathId>,
    /// Other files that it names as the target of a redirection.
    pub(super) other: BTreeSet<String>,
    /// It may change any file of the tree.
    pub(super) tree: bool,
    /// It copies what it writes from outside of the tree, or from the net.
    pub(super) imports: bool,
}

impl Writes {
    /// It changes nothing that this module knows of.
    pub(super) fn is_empty(&self) -> bool {
        self.known.is_empty() && self.other.is_empty() && !self.tree
    }
}

/// Programs whose arguments are files that they change.
const WRITERS: [&str; 8] = ["tee", "cp", "mv", "install", "rsync", "ln", "rm", "dd"];

/// Programs that save what they fetch.
const DOWNLOADERS: [&str; 3] = ["curl", "wget", "aria2c"];

/// Of the writers, those that copy; their last argument is where to.
const COPIERS: [&str; 4] = ["cp", "mv", "install", "rsync"];

/// Programs that may write anywhere by what their script says.
const INTERPRETERS: [&str; 11] = [
    "python",
    "python3",
    "python2",
    "node",
    "ruby",
    "perl",
    "php",
    "deno",
    "bun",
    "Rscript",
    "osascript",
];

/// Formatters and generators with the word that makes them write ("" for always).
const REWRITERS: [(&str, &str); 24] = [
    ("gofmt", "-w"),
    ("goimports", "-w"),
    ("gofumpt", "-w"),
    ("go", "generate"),
    ("go", "fmt"),
    ("cargo", "fmt"),
    ("cargo", "fix"),
    ("rustfmt", ""),
    ("black", ""),
    ("isort", ""),
    ("autopep8", "-i"),
    ("yapf", "-i"),
    ("ruff", "format"),
    ("ruff", "--fix"),
    ("prettier", "--write"),
    ("eslint", "--fix"),
    ("clang-format", "-i"),
    ("spotlessApply", ""),
    ("spotless:apply", ""),
    ("protoc", ""),
    ("patch", ""),
    ("unzip", ""),
    ("tar", "x"),
    ("buf", "generate"),
];

/// Subcommands of git that change the work tree.
const GIT_WRITERS: [&str; 12] = [
    "apply",
    "am",
    "cherry-pick",
    "checkout",
    "restore",
    "merge",
    "rebase",
    "stash",
    "pull",
    "revert",
    "switch",
    "read-tree",
];

/// The known files that a text names, by path or by base name.
pub(super) fn named(text: &str, paths: &Paths, cwd: Option<&str>) -> BTreeSet<PathId> {
    let mut out = BTreeSet::new();
    for word in path_words(text) {
        if let Place::Known(id) = paths.place(word, cwd) {
            out.insert(id);
            continue;
        }
        // `cd pkg && sed -i … a.go`, a path with blanks, a script that joins paths.
        out.extend(paths.named(base_name(word)));
    }
    out
}

/// The words of a text that could be paths.
pub(super) fn path_words(text: &str) -> impl Iterator<Item = &str> {
    let part = |c: char| c.is_alphanumeric() || "/._-+@~%$\\".contains(c);
    text.split(move |c| !part(c))
        .map(|w| w.trim_end_matches(['.', '\\']))
        .filter(|w| w.len() > 1 && w.contains(['.', '/']) || w.len() > 3)
}

/// The command without the bodies of its heredocs: those are data, or code of another language.
pub(super) fn without_heredocs(command: &str) -> String {
    let mut out = String::with_capacity(command.len().min(4096));
    let mut ends: Option<String> = None;
    for line in command.lines() {
        if let Some(end) = &ends {
            if line.trim() == end {
                ends = None;
            }
            continue;
        }
        out.push_str(line);
        out.push('\n');
        if let Some((_, after)) = line.split_once("<<")
            && !after.starts_with('<')
        {
            let word = after.trim_start_matches('-').trim_start();
            let end: String = word
                .trim_start_matches(['\'', '"', '\\'])
                .chars()
                .take_while(|c| c.is_alphanumeric() || *c == '_')
                .collect();
            ends = (!end.is_empty()).then_some(end);
        }
    }
    out
}

/// What a shell command may have written.
pub(super) fn command_writes(command: &str, paths: &Paths, cwd: Option<&str>) -> Writes {
    let mut out = Writes::default();
    let skeleton = without_heredocs(command);
    for segment in skeleton.split(['\n', ';', '|', '&']) {
        let words: Vec<&str> = segment
            .split(|c: char| c.is_whitespace() || "'\"()`".contains(c))
            .filter(|w| !w.is_empty())
            .collect();
        redirections(&words, paths, cwd, &mut out);
        if only_checks(&words) || is_shelved(&skeleton, &words) || prints(command, &words, paths) {
            continue;
        }
        if let Some(copied) = copied(&words, paths, cwd) {
            out.known.extend(copied.known);
            out.imports |= copied.imports;
        }
        if changes_in_place(&words) {
            // A script in a heredoc names its files there.
            let text = if interpreted(&words) {
                command
            } else {
                segment
            };
            let files = named(text, paths, cwd);
            out.imports |= applies_foreign(&words, paths, cwd);
            out.tree |= files.is_empty() && !restores_others(&words, paths, cwd);
            out.known.extend(files);
        } else if words.iter().any(|w| WRITERS.contains(&base_name(w))) {
            out.known.extend(named(segment, paths, cwd));
            out.imports |= imports(&words, paths, cwd);
        } else if words.iter().any(|w| DOWNLOADERS.contains(&base_name(w))) {
            let files = named(segment, paths, cwd);
            out.imports |= !files.is_empty();
            out.known.extend(files);
        }
    }
    out
}

/// `git apply`, `git am` or `patch` with a patch that lies outside of the tree, where no agent keeps its own.
fn applies_foreign(words: &[&str], paths: &Paths, cwd: Option<&str>) -> bool {
    let has = |name: &str| words.iter().any(|word| base_name(word) == name);
    let applies = has("git") && (has("apply") || has("am")) || has("patch");
    let own = |word: &str| {
        let dirs = ["/tmp/", "/var/tmp/", "/private/tmp/"];
        dirs.iter().any(|dir| word.starts_with(dir))
    };
    let foreign = |word: &str| {
        let path = word.starts_with(['/', '~']);
        path && !own(word) && paths.place(word, cwd) == Place::Outside
    };
    let is_program = |word: &str| ["git", "patch"].contains(&base_name(word));
    applies && words.iter().any(|word| foreign(word) && !is_program(word))
}

/// A copy of something that lies outside of the tree.
fn imports(words: &[&str], paths: &Paths, cwd: Option<&str>) -> bool {
    let Some(at) = words.iter().position(|w| COPIERS.contains(&base_name(w))) else {
        return false;
    };
    let after = words.get(at + 1..).unwrap_or_default();
    let mut named = after.iter().filter(|w| !w.starts_with('-')).rev();
    named.next().is_some()
        && named.any(|word| word.contains("://") || paths.place(word, cwd) == Place::Outside)
}

/// `> file`, `>>file`, `2> file`; a target that is no file is none.
fn redirections(words: &[&str], paths: &Paths, cwd: Option<&str>, out: &mut Writes) {
    let mut rest = words.iter();
    while let Some(word) = rest.next() {
        let Some((before, after)) = word.split_once('>') else {
            continue;
        };
        // `->`, `=>`, `2>`: only digits and `&` may stand before a redirection.
        if !before.chars().all(|c| c.is_ascii_digit() || c == '&') {
            continue;
        }
        let after = after.trim_start_matches(['>', '|']);
        let target = if after.is_empty() {
            rest.next().copied().unwrap_or_default()
        } else {
            after
        };
        if target.is_empty() || target.starts_with('&') || target.starts_with("/dev/") {
            continue;
        }
        match paths.place(target, cwd) {
            Place::Known(id) => {
                out.known.insert(id);
            }
            Place::Tree(path) => {
                out.other.insert(path);
            }
            Place::Outside => {
                out.other.insert(target.to_owned());
            }
        }
    }
}

/// The words run a script of another language.
fn interpreted(words: &[&str]) -> bool {
    words.iter().any(|w| INTERPRETERS.contains(&base_name(w)))
}

/// The words are a program that changes files in a way that the trace does not show.
fn changes_in_place(words: &[&str]) -> bool {
    let has = |name: &str| words.iter().any(|w| base_name(w) == name);
    let flag = |letter: char| {
        words
            .iter()
            .any(|w| w.starts_with('-') && !w.starts_with("--") && w.contains(letter))
    };
    let word = |wanted: &str| words.contains(&wanted);
    if has("git") {
        let creates =
            word("checkout") && (word("-b") || word("-B")) || word("switch") && word("-c");
        return GIT_WRITERS.iter().any(|g| word(g)) && !creates || word("reset") && word("--hard");
    }
    if interpreted(words) {
        // `python -m pytest` and version queries write nothing of interest.
        return !(word("-m") || word("--version") || word("-V")) || word("black") || word("isort");
    }
    if has("sed") && (flag('i') || word("--in-place")) || has("awk") && word("inplace") {
        return true;
    }
    if edits_files(words) {
        return true;
    }
    let generates = |w: &&str| {
        ["gen", "update", "fmt", "format", "clinic"]
            .iter()
            .any(|g| w.contains(g))
    };
    if has("make") && words.iter().any(generates) {
        return true;
    }
    if words
        .iter()
        .any(|w| w.ends_with(".sh") && !w.starts_with('-'))
    {
        return true;
    }
    REWRITERS.iter().any(|(name, with)| {
        has(name) && (with.is_empty() || words.iter().any(|w| w.contains(with)))
    })
}

/// Editors of files that are no formatters, where the words run one.
fn edits_files(words: &[&str]) -> bool {
    let before = [
        "xargs", "-c", "-lc", "sudo", "env", "time", "npx", "do", "then",
    ];
    let is_run = |at: usize| {
        let last = at.checked_sub(1).and_then(|at| words.get(at));
        last.is_none_or(|last| before.contains(last) || last.starts_with('-'))
    };
    let runs = |names: &[&str]| {
        let mut found = words.iter().enumerate();
        found.any(|(at, w)| names.contains(&base_name(w)) && is_run(at))
    };
    let has = |options: &[&str]| words.iter().any(|w| options.contains(w));
    runs(&["ed", "ex", "sponge", "sd", "codemod"])
        || runs(&["vim", "vi", "nvim"])
            && words
                .iter()
                .any(|w| ["-c", "-es", "-Es", "-s"].contains(w) || w.starts_with('+'))
        || runs(&["ast-grep", "sg"]) && has(&["-U", "--update-all"])
        || runs(&["comby"]) && has(&["-i", "-in-place"])
}

/// A program that changes files, asked only what it would do.
fn only_checks(words: &[&str]) -> bool {
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
fn restores_others(words: &[&str], paths: &Paths, cwd: Option<&str>) -> bool {
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

/// `git stash; git stash pop`: what was put away comes back.
fn is_shelved(command: &str, words: &[&str]) -> bool {
    let puts = matches!(words, ["git", "stash"] | ["git", "stash", "push" | "pop"]);
    let part = |segment: &str, with: &[&[&str]]| {
        let words: Vec<&str> = segment.split_whitespace().collect();
        with.contains(&words.as_slice())
    };
    let away: &[&[&str]] = &[&["git", "stash"], &["git", "stash", "push"]];
    let mut segments = command.split(['\n', ';', '|', '&']);
    let mut left = segments.by_ref().skip_while(|s| !part(s, away)).skip(1);
    let mut shelf = command.split(['\n', ';', '|', '&']);
    let first = shelf.find(|s| s.trim_start().starts_with("git stash"));
    // What runs between may change files, and counts by itself.
    puts && first.is_some_and(|first| part(first, away))
        && left.any(|s| part(s, &[&["git", "stash", "pop"]]))
}

/// A script that imports modules of the files that are known, and prints what it imported.
fn prints(command: &str, words: &[&str], paths: &Paths) -> bool {
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

/// What a call of another tool may have written: the known files it names, when its name says so.
pub(super) fn tool_writes(tool: &str, text: &str, paths: &Paths, cwd: Option<&str>) -> Writes {
    let name = tool.to_ascii_lowercase();
    let writes = [
        "write", "edit", "create", "replace", "insert", "patch", "rename", "move", "delete",
    ];
    let mut out = Writes::default();
    if writes.iter().any(|w| name.contains(w)) && !name.contains("todo") {
        out.known = named(text, paths, cwd);
        out.tree = out.known.is_empty() && name.contains("patch");
    }
    out
}

/// Programs that only look.
const READERS: [&str; 34] = [
    "ls", "cat", "head", "tail", "grep", "egrep", "fgrep", "rg", "ag", "find", "pwd", "echo",
    "printf", "wc", "sort", "uniq", "sed", "awk", "cut", "tr", "nl", "less", "more", "file",
    "stat", "tree", "which", "true", "test", "cd", "diff", "du", "date", "jq",
];

/// Subcommands of git that only look.
const GIT_READERS: [&str; 10] = [
    "status",
    "diff",
    "log",
    "show",
    "branch",
    "rev-parse",
    "ls-files",
    "grep",
    "blame",
    "remote",
];

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

/// Without redirections that lead nowhere.
fn quiet(command: &str) -> String {
    command
        .replace("2>&1", "")
        .replace("2>/dev/null", "")
        .replace(">/dev/null", "")
}

fn redirects(quiet: &str) -> bool {
    quiet.contains(['>', '`']) || quiet.contains("$(") || quiet.contains("<(")
}

fn segments(quiet: &str) -> impl Iterator<Item = &str> {
    quiet.split(['\n', ';', '|', '&'])
}

/// Commands that run tests, as their first words.
const TEST_RUNNERS: [&[&str]; 10] = [
    &["pytest"],
    &["python", "-m", "pytest"],
    &["python3", "-m", "pytest"],
    &["python", "-m", "unittest"],
    &["python3", "-m", "unittest"],
    &["go", "test"],
    &["cargo", "test"],
    &["npm", "test"],
    &["make", "test"],
    &["make", "check"],
];

/// Options of them that bring in nothing from elsewhere and write nothing. Others may.
const TEST_OPTIONS: [&str; 27] = [
    "-q",
    "-qq",
    "-v",
    "-vv",
    "-s",
    "-x",
    "-k",
    "-m",
    "-ra",
    "-rA",
    "-n",
    "-j",
    "-race",
    "-short",
    "-run",
    "-count",
    "-timeout",
    "-failfast",
    "--lib",
    "--all",
    "--workspace",
    "--no-run",
    "--quiet",
    "--tb",
    "--maxfail",
    "--durations",
    "--nocapture",
];

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

fn segment_reads_only(segment: &str) -> bool {
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

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Paths {
        let mut paths = Paths::default();
        for path in ["pkg/a.go", "pkg/b.go", "docs/read me.md"] {
            paths.add(path);
        }
        paths.start_in("/w/run");
        paths
    }

    #[test]
    fn commands_that_write() {
        let files = |ids: &[PathId]| Writes {
            known: ids.iter().copied().collect(),
            ..Writes::default()
        };
        let tree = Writes {
            tree: true,
            ..Writes::default()
        };
        for (command, want) in [
            ("sed -i 's/a/b/' pkg/a.go", files(&[0])),
            (
                "bash -lc \"sed -i.bak -e 's/a/b/' pkg/a.go pkg/b.go\"",
                files(&[0, 1]),
            ),
            ("cd pkg && perl -pi -e 's/a/b/' a.go", files(&[0])),
            ("cat > pkg/a.go <<'EOF'\nif a > b {\nEOF", files(&[0])),
            ("cat >>/w/run/pkg/b.go", files(&[1])),
            (
                "python3 - <<'EOF'\nopen('pkg/b.go','w').write(x)\nEOF",
                files(&[1]),
            ),
            ("python3 fix_all.py", tree.clone()),
            ("git apply /tmp/x.patch", tree.clone()),
            ("git checkout abc1234 -- pkg/a.go", files(&[0])),
            ("cp pkg/b.go pkg/a.go", files(&[0, 1])),
            (
                "curl -s https://example.org/x.tgz -o /tmp/x.tgz",
                Writes::default(),
            ),
            ("gofmt -w .", tree.clone()),
            ("make update-codegen", tree.clone()),
            ("cat 'docs/read me.md' | tee 'docs/read me.md'", files(&[2])),
            ("grep -rn foo pkg/a.go", Writes::default()),
            ("sed -n '1,5p' pkg/a.go", Writes::default()),
            ("git checkout -b work", Writes::default()),
            ("git diff > /dev/null 2>&1", Writes::default()),
            ("python -m pytest pkg", Writes::default()),
            ("go test ./... 2>&1 | tail -5", Writes::default()),
            ("cat pkg/a.go", Writes::default()),
            ("", Writes::default()),
        ] {
            assert_eq!(
                command_writes(command, &paths(), Some("/w/run")),
                want,
                "{command}"
            );
        }
        for command in [
            "cp /tmp/up/pkg/a.go pkg/",
            "install -m 644 /mnt/share/a.go pkg/a.go",
            "curl -sL https://example.org/raw/a.go -o pkg/a.go",
        ] {
            let want = Writes {
                imports: true,
                ..files(&[0])
            };
            let got = command_writes(command, &paths(), Some("/w/run"));
            assert_eq!(got, want, "{command}");
        }
        let report = command_writes("echo ok > eval_report.md", &paths(), Some("/w/run"));
        assert_eq!(report.other, ["eval_report.md".to_owned()].into());
    }

    #[test]
    #[rustfmt::skip]
    fn writers_and_those_that_only_check() {
        for (command, writes) in [
            ("ed -s pkg/a.go <<'E'\n,s/a/b/\nw\nq\nE", true),
            ("ex -sc '%s/a/b/g|x' pkg/a.go", true),
            ("vim -es -c '%s/a/b/g' -c wq pkg/a.go", true),
            ("vim pkg/a.go", false),
            ("tac pkg/a.go | sponge pkg/a.go", true),
            ("rg -l a | xargs sd a b", true),
            ("rg 'ed' pkg/a.go", false),
            ("ast-grep -p 'a($X)' -r 'b($X)' -U pkg", true),
            ("ast-grep -p 'a($X)' pkg", false),
            ("comby 'a' 'b' pkg/a.go -i", true),
            ("black --check pkg", false),
            ("black --diff pkg", false),
            ("black pkg", true),
            ("isort --check-only .", false),
            ("cargo fmt --check", false),
            ("cargo fmt -- --check", false),
            ("cargo fmt", true),
            ("ruff check .", false),
            ("ruff check --fix .", true),
            ("ruff format --check .", false),
            ("git apply --check /tmp/x.diff", false),
            ("git apply --stat --apply /tmp/x.diff", true),
            ("git apply --check /tmp/x.diff && git apply /tmp/x.diff", true),
            ("patch --dry-run -p1 < /tmp/x.diff", false),
            ("patch --dry-run -p1 < /tmp/x.diff && patch -p1 < /tmp/x.diff", true),
            ("git stash; git stash pop", false),
            ("git stash && python -m pytest -q; git stash pop", false),
            ("git stash pop", true),
            ("git checkout -- tests/test_a.py", false),
            ("git checkout HEAD -- tests/test_a.py", false),
            ("git checkout up -- tests/test_a.py", true),
            ("git checkout -- .", true),
            ("git checkout -- pkg", true),
            ("git checkout -- pkg/a.go", true),
            ("git checkout -- '*.py'", true),
            ("git stash; git checkout up -- pkg; git stash pop", true),
            ("git stash pop; git stash; git stash pop", true),
            ("git stash pop; git stash", true),
            ("python -c \"import pkg.a\"", false),
            ("python -c \"import pkg.a; print(pkg.a.X)\"", false),
            ("python -c \"import pkg.a; pkg.a.write()\"", true),
            ("python -c \"import fetched\"", true),
            ("python -c \"import pkg.a\"; python x.py", true),
            ("python3 - <<'E'\nfrom pkg.a import X\nprint(X)\nE", false),
            ("python3 - <<'E'\nopen('pkg/a.go', 'w').write(x)\nE", true),
        ] {
            let got = command_writes(command, &paths(), Some("/w/run"));
            assert_eq!(got.tree || !got.known.is_empty(), writes, "{command}");
        }
    }

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
