//! What is known about programs by their names.

/// Programs that take their arguments or input as data: words of a command in their arguments are
/// text that is printed, searched or replaced, never executed.
const DATA_PROGRAMS: &[&str] = &[
    "[",
    "[[",
    "ag",
    "apply_patch",
    "awk",
    "banner",
    "basename",
    "bat",
    "cat",
    "cmp",
    "column",
    "comm",
    "cowsay",
    "cut",
    "diff",
    "dirname",
    "echo",
    "egrep",
    "expand",
    "expr",
    "false",
    "fgrep",
    "file",
    "findstr",
    "fmt",
    "fold",
    "gawk",
    "grep",
    "head",
    "iconv",
    "jq",
    "less",
    "logger",
    "ls",
    "mawk",
    "md5sum",
    "more",
    "nl",
    "notify-send",
    "od",
    "paste",
    "printf",
    "read",
    "rev",
    "rg",
    "say",
    "sed",
    "seq",
    "sha256sum",
    "sort",
    "stat",
    "strings",
    "tac",
    "tail",
    "tee",
    "test",
    "tr",
    "tree",
    "true",
    "type",
    "uniq",
    "wc",
    "whereis",
    "which",
    "Write-Host",
    "Write-Output",
    "yq",
    "zgrep",
    ":",
];

/// Programs that would make a command interesting behind a wrapper that is not known.
const WELL_KNOWN: &[&str] = &[
    "aria2c", "bash", "bun", "cargo", "conda", "curl", "docker", "gh", "git", "glab", "go", "http",
    "hub", "jj", "mvn", "node", "npm", "patch", "perl", "php", "pip", "pip3", "pnpm", "podman",
    "python", "python3", "ruby", "sh", "skopeo", "ssh", "svn", "tar", "unzip", "uv", "wget",
    "yarn", "zsh",
];

/// Programs that take names of other programs as plain words.
const NAMES_PROGRAMS: &[&str] = &[
    "alias", "apk", "apt", "apt-get", "brew", "cd", "chmod", "chown", "complete", "cp", "dnf",
    "dpkg", "hash", "help", "info", "kill", "killall", "ln", "make", "man", "mkdir", "mv",
    "pacman", "pgrep", "pkill", "rm", "rmdir", "rpm", "set", "snap", "tldr", "touch", "unalias",
    "unset", "yum",
];

/// True for programs whose arguments are data (`echo`, `grep`, `sed`, `test` …).
pub fn is_data_program(program: &str) -> bool {
    DATA_PROGRAMS.contains(&program)
}

/// True for programs that reveal or fetch something, or run something else.
pub(crate) fn is_well_known(program: &str) -> bool {
    WELL_KNOWN.contains(&program)
}

/// True for well-known programs that are mostly there to run others.
pub(crate) fn runs_others(program: &str) -> bool {
    is_shell(program) || matches!(program, "ssh" | "docker" | "podman" | "find" | "xargs")
}

/// The well-known program that a file pattern fits.
pub(super) fn matching(pattern: &str) -> Option<&'static str> {
    let matcher = globset::Glob::new(pattern).ok()?.compile_matcher();
    WELL_KNOWN
        .iter()
        .copied()
        .find(|known| matcher.is_match(known))
}

/// True if the program may well run its arguments: nothing says that they are names or data.
pub(crate) fn may_wrap(program: &str) -> bool {
    !is_data_program(program) && !NAMES_PROGRAMS.contains(&program) && !is_well_known(program)
}

/// True for words that may stand in front of a program: reserved words, assignments, options, and
/// programs that only start another one, with their numbers.
pub(crate) fn leads_a_command(word: &str) -> bool {
    let assignment = word
        .split_once('=')
        .is_some_and(|(name, _)| name.bytes().all(super::parser::is_name));
    let starter = matches!(word, "eval" | "exec" | "command" | "builtin");
    // `timeout 20s`, `nice -n 5`.
    let number = word.starts_with(|c: char| c.is_ascii_digit())
        && word
            .trim_end_matches(['s', 'm', 'h', 'd'])
            .bytes()
            .all(|b| b.is_ascii_digit() || b == b'.');
    assignment
        || starter
        || number
        || word.starts_with('-')
        || super::parser::is_reserved(word)
        || super::wrappers::is_one(word)
}

/// True for shells of the Bourne family.
pub(super) fn is_shell(program: &str) -> bool {
    matches!(
        program,
        "sh" | "bash"
            | "zsh"
            | "dash"
            | "ksh"
            | "ash"
            | "mksh"
            | "rbash"
            | "fish"
            | "yash"
            | "csh"
            | "tcsh"
            | "nu"
            | "xonsh"
            | "elvish"
            | "osh"
            | "ysh"
    )
}

/// The language of an interpreter, by the name that [`super::CommandLine::scripts`] uses.
pub(super) fn language(program: &str) -> Option<&'static str> {
    let name = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    Some(match name {
        "python" | "pypy" | "ipython" => "python",
        "node" | "nodejs" | "deno" | "bun" | "tsx" | "ts-node" => "node",
        "perl" => "perl",
        "ruby" | "irb" => "ruby",
        "php" => "php",
        "pwsh" | "powershell" => "powershell",
        "lua" | "luajit" => "lua",
        "osascript" => "applescript",
        "Rscript" | "R" => "r",
        "julia" => "julia",
        "awk" | "gawk" | "mawk" => "awk",
        _ => return None,
    })
}

/// The language of a source file, by the ending of its name.
pub(super) fn language_of_file(path: &str) -> Option<&'static str> {
    let (_, ending) = path.rsplit_once('.')?;
    Some(match ending {
        "py" => "python",
        "js" | "mjs" | "cjs" | "ts" | "mts" | "tsx" | "jsx" => "node",
        "pl" => "perl",
        "rb" => "ruby",
        "php" => "php",
        "ps1" => "powershell",
        "lua" => "lua",
        "R" | "r" => "r",
        "jl" => "julia",
        "awk" => "awk",
        _ => return None,
    })
}

/// The base name of a program path, without `.exe`.
pub(super) fn base_name(path: &str) -> &str {
    let windows = path.contains(":\\") || path.starts_with(".\\") || path.starts_with("\\\\");
    let after_slash = path.rsplit('/').next().unwrap_or(path);
    let name = if windows {
        after_slash.rsplit('\\').next().unwrap_or(after_slash)
    } else {
        after_slash
    };
    let stem = name
        .len()
        .checked_sub(4)
        .and_then(|at| name.split_at_checked(at));
    match stem {
        Some((stem, extension)) if extension.eq_ignore_ascii_case(".exe") && !stem.is_empty() => {
            stem
        }
        _ if name.is_empty() => path,
        _ => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_names() {
        let cases = [
            ("/usr/bin/git", "git"),
            ("git", "git"),
            (r"C:\Program Files\Git\bin\git.exe", "git"),
            ("curl.EXE", "curl"),
            (".exe", ".exe"),
            ("./run.sh", "run.sh"),
            ("/", "/"),
        ];
        for (path, want) in cases {
            assert_eq!(base_name(path), want);
        }
    }

    #[test]
    fn lists_are_free_of_contradictions() {
        for program in WELL_KNOWN {
            assert!(!is_data_program(program), "{program}");
        }
    }
}
