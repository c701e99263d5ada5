//! What a call may have done to the work tree without the trace saying how.
//!
//! This is recognition, not parsing: words are found wherever they stand, quotes are ignored, so
//! `bash -lc "sed -i … f"` counts like `sed -i … f`. Too much found costs little: it decides which of
//! two innocent explanations a line gets, and when the last change may have happened.

use std::collections::BTreeSet;

use smallvec::SmallVec;

use super::copies::copied;
use super::cutting::{path_words, segments, without_heredocs, words};
use super::directory::Directory;
use super::imports::TEMPORARY;
use super::paths::{PathId, Paths, Place, base_name};
use super::programs::{
    COPIERS, DETERMINISTIC, DOWNLOADERS, GIT_WRITERS, INTERPRETERS, MANAGERS, REWRITERS, WRITERS,
};
use super::reads::{is_shelf, only_checks, prints, restores_others, takes_back};

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

/// What a shell command may have written.
pub(super) fn command_writes(command: &str, paths: &Paths, cwd: Option<&str>) -> Writes {
    let mut out = Writes::default();
    let skeleton = without_heredocs(command);
    let shelved = takes_back(&skeleton);
    let mut place = Directory::new(cwd);
    // Of the whole command, for its scripts: once, however many there are.
    let mut of_scripts = None;
    let mut end = 0;
    for segment in segments(&skeleton) {
        let start = end;
        end += segment.len() + 1;
        let words: SmallVec<[&str; 16]> = words(segment).collect();
        place.step(segment, &words);
        redirections(&words, paths, cwd, &mut out);
        let shelved = shelved && is_shelf(&words);
        if only_checks(&words) || shelved || prints(command, &words, paths) {
            continue;
        }
        let known = place.known(&words);
        let words_here: Vec<&str> = known.iter().map(|w| w.as_ref()).collect();
        let before = flows_into(&skeleton, start);
        if let Some(copied) = copied(&words_here, before, paths, place.now.as_deref()) {
            out.known.extend(copied.known);
            out.imports |= copied.imports;
        }
        if changes_in_place(&words) {
            // A script in a heredoc names its files there.
            let files = match interpreted(&words) {
                true => of_scripts
                    .get_or_insert_with(|| named(command, paths, cwd))
                    .clone(),
                false => named(segment, paths, cwd),
            };
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

/// What flows into the segment that begins there: the part of its pipeline that stands before it.
fn flows_into(command: &str, start: usize) -> &str {
    /// Bytes that are looked at, so that a pipeline of many parts is not read anew for each.
    const MAX_BEFORE: usize = 2048;
    let from = command.floor_char_boundary(start.saturating_sub(MAX_BEFORE));
    let before = command.get(from..start).unwrap_or_default();
    before.rsplit(['\n', ';', '&']).next().unwrap_or_default()
}

/// `git apply`, `git am` or `patch` with a patch that lies outside of the tree, where no agent keeps its own.
fn applies_foreign(words: &[&str], paths: &Paths, cwd: Option<&str>) -> bool {
    let has = |name: &str| words.iter().any(|word| base_name(word) == name);
    let applies = has("git") && (has("apply") || has("am")) || has("patch");
    let own = |word: &str| TEMPORARY.iter().any(|dir| word.starts_with(dir));
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
pub(super) fn interpreted(words: &[&str]) -> bool {
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
    // Whatever they take: what they make is said in `follows`.
    let installs = words.first().is_some_and(|w| MANAGERS.contains(w));
    if !installs && DETERMINISTIC.iter().any(|(name, _)| has(name)) {
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

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(in crate::provenance) fn paths() -> Paths {
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
        for command in [
            "find /tmp/up -name 'a*' -exec cp {} pkg/ \\;",
            "find /mnt/ref -name '*.go' -exec cp -t pkg {} +",
            "echo /mnt/ref/a.go | xargs -I{} cp {} pkg/",
            "ls /mnt/ref/a.go | xargs cp -t pkg",
            "cd /mnt/ref && cp a.go /w/run/pkg/",
            "cd /mnt/ref && cp a.go \"$OLDPWD/pkg/\"",
            "cd /mnt && cd ref; cp a.go /w/run/pkg/a.go",
            "scp host:/mnt/a.go pkg/a.go",
        ] {
            let got = command_writes(command, &paths(), Some("/w/run"));
            assert!(got.imports && got.known.contains(&0), "{command}: {got:?}");
        }
        for command in [
            "find pkg -name 'b*' -exec cp {} pkg/a.go \\;",
            "ls pkg/b.go | xargs -I{} /bin/cp {} pkg/a.go",
            "ls /mnt/ref; find pkg -name 'b*' -exec cp {} pkg/a.go +",
            "cd pkg && cp b.go a.go",
            "(cd /mnt/ref && ls) && cp pkg/b.go pkg/a.go",
            "cd /mnt/ref; ls; cd -; cp pkg/b.go pkg/a.go",
            "cd /mnt/ref && cp /w/run/pkg/b.go /w/run/pkg/a.go",
        ] {
            let got = command_writes(command, &paths(), Some("/w/run"));
            assert!(!got.imports && got.known.contains(&0), "{command}: {got:?}");
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
}
