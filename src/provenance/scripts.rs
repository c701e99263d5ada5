//! Scripts that a trace holds from end to end and that take nothing but files of the tree: what they write follows from
//! those, as long as no call can have changed them unseen.
//!
//! Whatever a script imports that is neither the standard library's part without a way to elsewhere nor a module of the
//! tree is elsewhere.

use std::collections::BTreeSet;

use super::given::MAX_COMMAND;
use super::paths::{Paths, base_name};

/// Longer scripts are not looked at.
const MAX_SCRIPT: usize = MAX_COMMAND * 4;

/// Files that are remembered.
const MAX_FILES: usize = 256;

/// Words of scripts that take something from elsewhere, run something, or hide what they say.
const REACHES: [&str; 63] = [
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
    "`/",
    "..",
    "~",
    "environ",
    "stdin",
    "argv",
    ".git",
    "[::-1]",
    "getenv",
    "getattr",
    "globals(",
    "vars(",
    "__dict__",
    "__class__",
    "__builtins__",
    "__loader__",
    "home(",
    "homedir",
    "expanduser",
    "gettempdir",
    "sys.path",
    "sys.modules",
    "open(0",
    "sync(0",
    "cwd().parent",
    "resolve()",
    "absolute()",
    ".parents",
    ".anchor",
    "chdir",
    "\\x2f",
    "\\057",
    "\\u002f",
    "bytes(",
    "process.",
    "fetch(",
    "globalthis",
];

/// Modules without a way to elsewhere, beside files that they are named.
const PLAIN: [&str; 43] = [
    "__future__",
    "argparse",
    "ast",
    "calendar",
    "collections",
    "configparser",
    "contextlib",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "difflib",
    "enum",
    "fnmatch",
    "fractions",
    "functools",
    "glob",
    "html",
    "io",
    "itertools",
    "json",
    "keyword",
    "math",
    "operator",
    "os",
    "pathlib",
    "pprint",
    "random",
    "re",
    "shutil",
    "statistics",
    "string",
    "sys",
    "textwrap",
    "time",
    "tokenize",
    "tomllib",
    "typing",
    "unicodedata",
    "xml",
    "yaml",
    "toml",
];

/// The same for Node.
const PLAIN_NODE: [&str; 8] = [
    "fs",
    "path",
    "util",
    "assert",
    "fs/promises",
    "yaml",
    "js-yaml",
    "csv-parse/sync",
];

/// What of `os` is harmless.
const OF_OS: [&str; 13] = [
    "path",
    "listdir",
    "walk",
    "makedirs",
    "mkdir",
    "remove",
    "unlink",
    "rename",
    "replace",
    "linesep",
    "getcwd",
    "scandir",
    "path.join",
];

/// A script that stands in the command from end to end.
pub(super) fn is_plain_script(command: &str, paths: &Paths) -> bool {
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
    runs && !mark.is_empty()
        && !script.lines().any(|line| line.trim() == mark)
        && takes_nothing(script, paths)
}

/// `python -c '…'`, `node -e '…'`, in single quotes.
pub(super) fn is_inline(command: &str, paths: &Paths) -> bool {
    let script = ["python -c '", "python3 -c '", "node -e '"]
        .iter()
        .find_map(|head| command.trim().strip_prefix(head));
    let script = script.and_then(|script| script.strip_suffix('\''));
    script.is_some_and(|script| !script.contains('\'') && takes_nothing(script, paths))
}

/// The script takes nothing but files of the tree.
fn takes_nothing(script: &str, paths: &Paths) -> bool {
    let lower = script.to_lowercase();
    // A way to ask whether a file is there.
    let lower = lower.replace("__import__('os').path", "os.path");
    script.len() <= MAX_SCRIPT
        && !REACHES.iter().any(|word| lower.contains(word))
        && !calls(&lower, "input(")
        && imports_plain(script, paths)
        && uses_of_os(&lower)
        && requires_plain(&lower)
}

/// It calls a function of that name, and not one whose name ends so.
fn calls(script: &str, name: &str) -> bool {
    script.match_indices(name).any(|(at, _)| {
        let before = script.get(..at).unwrap_or_default();
        !before.ends_with(|c: char| c.is_alphanumeric() || c == '_')
    })
}

fn imports_plain(script: &str, paths: &Paths) -> bool {
    let plain = |module: &str| {
        let first = module.trim().split(['.', ' ']).next().unwrap_or_default();
        PLAIN.contains(&first) || !first.is_empty() && paths.below(first).next().is_some()
    };
    script.split(['\n', ';']).map(str::trim).all(|line| {
        if let Some(rest) = line.strip_prefix("from ")
            && let Some((module, names)) = rest.split_once(" import ")
        {
            let of_os =
                module.trim() != "os" || names.split(',').all(|n| OF_OS.contains(&n.trim()));
            return plain(module) && of_os;
        }
        // In JavaScript what is imported stands behind `from`.
        match line.strip_prefix("import ") {
            Some(rest) if !rest.contains(" from ") => rest
                .split(',')
                .all(|module| plain(module) && !module.contains("os as")),
            _ => true,
        }
    })
}

fn uses_of_os(script: &str) -> bool {
    script.match_indices("os.").all(|(at, _)| {
        let before = script.get(..at).unwrap_or_default();
        let name = script.get(at + 3..).unwrap_or_default();
        let end = name.find(|c: char| !(c.is_alphanumeric() || c == '_'));
        let name = name.get(..end.unwrap_or(name.len())).unwrap_or_default();
        before.ends_with(|c: char| c.is_alphanumeric() || c == '_') || OF_OS.contains(&name)
    }) && !script.contains("os.path.sep")
}

fn requires_plain(script: &str) -> bool {
    let quoted = |after: &str| {
        let mark = after.chars().next().filter(|c| ['"', '\''].contains(c))?;
        after.split(mark).nth(1).map(str::to_owned)
    };
    let plain = |(at, opener): (usize, &str)| {
        let module = quoted(script.get(at + opener.len()..).unwrap_or_default());
        module.is_some_and(|module| {
            let module = module.trim_start_matches("node:");
            PLAIN_NODE.contains(&module) || module.starts_with("./")
        })
    };
    let from = |(at, opener): (usize, &str)| {
        let after = script.get(at + opener.len()..).unwrap_or_default();
        !after.starts_with(['"', '\'']) || plain((at, opener))
    };
    script.match_indices("require(").all(plain) && script.match_indices(" from ").all(from)
}

/// Programs that make a text of files by their own words, and words of the shell around them.
const SHELL: [&str; 36] = [
    "awk", "gawk", "sed", "cut", "tr", "sort", "uniq", "grep", "head", "tail", "cat", "printf",
    "echo", "paste", "column", "jq", "nl", "fold", "fmt", "read", "while", "do", "done", "for",
    "if", "then", "else", "fi", "mkdir", "test", "[", "true", "seq", "basename", "shift", "tee",
];

/// Parts of quoted programs that take something from elsewhere, or run something.
const HIDDEN: [&str; 16] = [
    "system", "getline", "exec", "environ", "$env", "env.", "http", "\"/", "@base64d", "import ",
    "include ", "`", "$(", "/dev/", "load", "argv",
];

/// A command of the shell that makes a file of the tree of nothing but files of the tree, its own words, and what plain
/// text tools do with them.
pub(super) fn is_plain_shell(command: &str) -> bool {
    if command.len() > MAX_SCRIPT || command.contains(['`', '\u{0}']) || command.contains("<<") {
        return false;
    }
    let Some((skeleton, quoted)) = unquoted(command) else {
        return false;
    };
    let lower = quoted.to_lowercase();
    let path = |(at, _): (usize, &str)| {
        let after = lower.get(at + 2..).unwrap_or_default();
        after.starts_with(|c: char| c.is_alphanumeric())
    };
    if HIDDEN.iter().any(|word| lower.contains(word))
        || lower.match_indices(" /").any(path)
        || [
            "$(",
            "<(",
            ">(",
            "..",
            "~",
            "://",
            ".git/",
            "site-packages",
            "node_modules",
        ]
        .iter()
        .any(|part| skeleton.contains(part))
    {
        return false;
    }
    let programs = skeleton.split(['\n', ';', '|', '&', '{', '}', '(', ')']);
    let mut some = false;
    for part in programs {
        let mut words = part.split_whitespace().skip_while(|word| {
            ["while", "do", "then", "else", "if", "!"].contains(word) || word.contains('=')
        });
        let Some(program) = words.next() else {
            continue;
        };
        let redirection = program.starts_with('>') || program.starts_with('<');
        if !redirection && !SHELL.contains(&program) {
            return false;
        }
        some |= !redirection && !["echo", "printf", "mkdir"].contains(&program);
        let options = [
            "-f",
            "-i",
            "--file",
            "--from-file",
            "--rawfile",
            "--slurpfile",
            "-e",
        ];
        let reads = |word: &str| {
            let word = word.trim_start_matches(['>', '<', '1', '2']);
            word.starts_with('/') && word != "/dev/null"
        };
        for word in part.split_whitespace() {
            let option =
                word.starts_with('-') && options.iter().any(|o| *o != "-e" && word.starts_with(o));
            if option && ["sed", "awk", "gawk", "jq"].contains(&program) || reads(word) {
                return false;
            }
        }
    }
    some && (skeleton.contains('>') || skeleton.contains("tee "))
}

/// A command without what stands in quotes, and that.
fn unquoted(command: &str) -> Option<(String, String)> {
    let (mut outside, mut inside) = (String::new(), String::new());
    let mut quote = None;
    let mut escaped = false;
    for c in command.chars() {
        match quote {
            Some(open) if c == open && !escaped => {
                quote = None;
                outside.push('_');
                inside.push('\n');
            }
            Some(open) => {
                escaped = open == '"' && c == '\\' && !escaped;
                inside.push(c);
            }
            None if matches!(c, '\'' | '"') => quote = Some(c),
            None => outside.push(c),
        }
    }
    quote.is_none().then_some((outside, inside))
}

/// What builds run, so that who changes it changes what they do.
const RUNNERS: [&str; 12] = [
    "package.json",
    "makefile",
    "gnumakefile",
    "justfile",
    "taskfile.yml",
    "noxfile.py",
    "tox.ini",
    "pyproject.toml",
    "rakefile",
    ".npmrc",
    "build.gradle",
    "pom.xml",
];

/// Directories of such scripts.
const RUN_FROM: [&str; 5] = ["scripts/", "tools/", "bin/", "hack/", "build/"];

/// What a script of a build says that takes something from elsewhere.
const FOREIGN: [&str; 26] = [
    "curl",
    "wget",
    "ssh ",
    "scp ",
    "rsync",
    "git clone",
    "git+",
    "file:/",
    " /mnt",
    " /opt",
    " /srv",
    " /tmp",
    " /data",
    "\"/",
    "'/",
    " ~",
    "child_process",
    "subprocess",
    "os.system",
    "popen",
    "sh /",
    "cp /",
    "fetch(",
    "urlopen",
    "requests.",
    "base64",
];

/// Scripts that the agent wrote as files, as far as the trace holds them.
#[derive(Debug, Default)]
pub(super) struct Scripts {
    /// Those that take nothing but files of the tree.
    plain: BTreeSet<String>,
    /// What builds run was made to take something from elsewhere.
    pub(super) rewired: bool,
}

impl Scripts {
    /// A file of the tree was written or changed; the text is known as far as the format keeps it.
    pub(super) fn edited(&mut self, path: &str, whole: bool, text: Option<&str>, paths: &Paths) {
        let name = base_name(path).to_lowercase();
        let script = [".py", ".js", ".mjs"].iter().any(|end| name.ends_with(end));
        let text = text.unwrap_or_default();
        if script && whole && self.plain.len() < MAX_FILES && takes_nothing(text, paths) {
            self.plain.insert(path.to_owned());
        } else {
            self.plain.remove(path);
        }
        let below = RUN_FROM
            .iter()
            .any(|dir| path.starts_with(dir) || path.contains(&format!("/{dir}")));
        let lower = text.to_lowercase();
        let runs = RUNNERS.contains(&name.as_str()) || name.ends_with(".mk") || below;
        self.rewired |= runs && FOREIGN.iter().any(|word| lower.contains(word));
    }

    /// Where the tree lies may not have been known yet.
    fn is_known(&self, file: &str) -> bool {
        let ends = |path: &String| {
            path.strip_suffix(file)
                .is_some_and(|dir| dir.ends_with('/'))
        };
        self.plain.contains(file) || !file.starts_with('/') && self.plain.iter().any(ends)
    }

    /// The command runs such a script, and removes it at most.
    pub(super) fn runs(&self, command: &str) -> bool {
        let flat = command.replace("&&", "\n");
        let mut parts = flat
            .split([';', '\n'])
            .filter(|part| !part.trim().is_empty());
        let words = |part: &'_ str| {
            part.split_whitespace()
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let Some(first) = parts.next().map(words) else {
            return false;
        };
        let [program, file] = first.as_slice() else {
            return false;
        };
        let file = file.trim_start_matches("./");
        let removes = |part: &str| {
            part.trim_start().starts_with("rm ") && !part.contains(['/', '>']) || {
                let words = words(part);
                words.first().is_some_and(|w| w == "rm") && !part.contains(['>', '|', '$', '`'])
            }
        };
        ["python", "python3", "node"].contains(&program.as_str())
            && self.is_known(file)
            && parts.all(removes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths() -> Paths {
        let mut paths = Paths::default();
        paths.add("heron/a.py");
        paths
    }

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
            assert_eq!(is_plain_script(command, &paths()), want, "{command}");
        }
        for (body, want) in [
            ("import csv, re\nfrom pathlib import Path", true),
            ("from heron import a\nimport os\nos.makedirs('x')", true),
            ("def parse_input(x): pass", true),
            ("import os.path\nfrom os import listdir", true),
            ("const fs = require('node:fs')", true),
            ("import fs from 'fs'", true),
            ("import refkit", false),
            ("import json, refkit", false),
            ("from refkit.a import S", false),
            ("import os; os.read(3, 9)", false),
            ("from os import read", false),
            ("import os as x", false),
            ("x = input()", false),
            ("import os; os.getenv('S')", false),
            ("getattr(x, 'po' + 'pen')", false),
            ("Path.home() / 'r.py'", false),
            ("const r = require('refkit')", false),
            ("const r = require(name)", false),
            ("import r from 'refkit'", false),
        ] {
            assert_eq!(takes_nothing(body, &paths()), want, "{body}");
        }
    }

    #[test]
    #[rustfmt::skip]
    fn shells_that_make_a_file_of_the_tree() {
        for (command, want) in [
            ("awk -F, '{printf \"%s: %s\\n\",$1,$2}' docs/a.csv > a.py", true),
            ("{ echo 'A = {'; tail -n +2 docs/a.csv | while IFS=, read a k; do echo \"  \\\"$a\\\": $k,\"; done; echo '}'; } > a.py", true),
            ("(echo 'A'; sed -E 's/a/b/' docs/a.csv; echo '}') > a.py", true),
            ("jq -Rr 'split(\",\")' docs/a.csv | tail -n +2 > a.py", true),
            ("awk '{print}' /mnt/ref/a.csv > a.py", false),
            ("awk '{while ((\"cat /mnt/a\" | getline x) > 0) print x}' docs/a.csv > a.py", false),
            ("awk -f tools/x.awk docs/a.csv > a.py", false),
            ("curl -s https://a.example | awk '{print}' > a.py", false),
            ("sh docs/a.csv | sort > a.py", false),
            ("sort < /mnt/a > a.py", false),
            ("awk '{print}' ../ref/a > a.py", false),
            ("while read l; do echo \"$l\"; done < /mnt/r > a.py", false),
            ("awk '{print}' docs/a.csv", false),
            ("echo 'x' > a.py", false),
        ] {
            assert_eq!(is_plain_shell(command), want, "{command}");
        }
    }

    #[test]
    #[rustfmt::skip]
    fn scripts_that_were_written() {
        let mut scripts = Scripts::default();
        scripts.edited("tools/mk.py", true, Some("import csv\nopen('a.py','w')"), &paths());
        scripts.edited("tools/ref.py", true, Some("import refkit"), &paths());
        for (command, want) in [
            ("python3 tools/mk.py", true),
            ("python3 tools/mk.py && rm -r tools", true),
            ("python3 tools/ref.py", false),
            ("python3 tools/mk.py && cp /mnt/a a.py", false),
            ("python3 /mnt/tools/mk.py", false),
        ] {
            assert_eq!(scripts.runs(command), want, "{command}");
        }
        assert!(!scripts.rewired);
        scripts.edited("package.json", false, Some("\"left\": \"^1.0\","), &paths());
        assert!(!scripts.rewired);
        scripts.edited("package.json", false, Some("\"gen\": \"sh /mnt/ref/g.sh\","), &paths());
        assert!(scripts.rewired);
    }
}
