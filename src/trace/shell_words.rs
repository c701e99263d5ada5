//! The shell that a harness puts around a command, taken off again.
//!
//! Codex logs `/bin/bash -lc 'git status'` where the agent wrote `git status`. Only this outermost
//! layer is the harness's; shells inside the command are the agent's own and stay.

/// The command inside `bash -lc '…'`, when the whole text is exactly that.
pub(crate) fn unwrap_harness_shell(command: &str) -> Option<String> {
    let words = words(command)?;
    script_of(&words).map(str::to_owned)
}

/// A command given as a list of arguments: the script of a wrapping shell, or the arguments quoted.
pub(crate) fn command_of_argv<S: AsRef<str>>(argv: &[S]) -> String {
    if let Some(script) = script_of(argv) {
        return script.to_owned();
    }
    let mut out = String::new();
    for arg in argv {
        if !out.is_empty() {
            out.push(' ');
        }
        push_quoted(&mut out, arg.as_ref());
    }
    out
}

/// The script in `SHELL FLAGS… SCRIPT` where one of the flags says that a script follows.
fn script_of<S: AsRef<str>>(words: &[S]) -> Option<&str> {
    let (shell, rest) = words.split_first()?;
    let (script, flags) = rest.split_last()?;
    let name = shell.as_ref().rsplit(['/', '\\']).next()?;
    let name = name.strip_suffix(".exe").unwrap_or(name);
    let posix = matches!(
        name,
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "ash" | "fish"
    );
    let windows = matches!(name, "pwsh" | "powershell");
    let mut takes_script = false;
    for flag in flags {
        let flag = flag.as_ref();
        if !flag.starts_with('-') {
            return None;
        }
        takes_script = if posix {
            takes_script || (!flag.starts_with("--") && flag.contains('c'))
        } else {
            windows && (flag.eq_ignore_ascii_case("-command") || flag == "-c")
        };
    }
    takes_script.then(|| script.as_ref())
}

/// Splits a quoted command line into words; `None` when it holds anything that a shell would do more
/// with than join and unquote (an operator, an expansion, an open quote).
pub(crate) fn words(text: &str) -> Option<Vec<String>> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        match c {
            ' ' | '\t' => words.extend(word.take()),
            '\'' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '"' => {
                let word = word.get_or_insert_default();
                loop {
                    match chars.next()? {
                        '"' => break,
                        '\\' => match chars.next()? {
                            '\n' => {}
                            c if "\\\"$`".contains(c) => word.push(c),
                            c => word.extend(['\\', c]),
                        },
                        '$' | '`' => return None,
                        c => word.push(c),
                    }
                }
            }
            '\\' => word.get_or_insert_default().push(chars.next()?),
            c if ";|&<>()$`\n#*?~".contains(c) => return None,
            c => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    Some(words)
}

/// Appends one argument, quoted where a shell would need it.
fn push_quoted(out: &mut String, arg: &str) {
    let plain = !arg.is_empty()
        && arg
            .chars()
            .all(|c| c.is_alphanumeric() || "-_./:=@%+,".contains(c));
    if plain {
        out.push_str(arg);
    } else {
        out.push('\'');
        out.push_str(&arg.replace('\'', "'\\''"));
        out.push('\'');
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn takes_off_the_shell_of_the_harness() {
        for (command, want) in [
            (
                "bash -lc 'git status --short; ls'",
                Some("git status --short; ls"),
            ),
            ("/bin/bash -lc true", Some("true")),
            (
                r#"/bin/zsh -lc "printf '\\033[31m'; echo \"\$HOME\"""#,
                Some(r#"printf '\033[31m'; echo "$HOME""#),
            ),
            (r"bash -lc 'it'\''s'", Some("it's")),
            (
                "bash -lc \"apply_patch <<'EOF'\nx\nEOF\"",
                Some("apply_patch <<'EOF'\nx\nEOF"),
            ),
            ("/usr/bin/sh -l -c 'x y'", Some("x y")),
            (
                "powershell.exe -NoProfile -Command 'git log'",
                Some("git log"),
            ),
            // not the harness's, or more than a wrapper
            ("git status", None),
            ("bash script.sh", None),
            ("bash -lc", None),
            ("bash -lc 'a' && rm x", None),
            ("bash -lc 'a' b", None),
            ("bash -lc \"$CMD\"", None),
            ("bash -lc 'open", None),
            ("python -c 'print(1)'", None),
            ("bash --rcfile x", None),
            ("", None),
        ] {
            assert_eq!(unwrap_harness_shell(command).as_deref(), want, "{command}");
        }
    }

    #[test]
    fn argument_lists() {
        assert_eq!(
            command_of_argv(&["bash", "-lc", "ls -la | wc"]),
            "ls -la | wc"
        );
        assert_eq!(
            command_of_argv(&["git", "commit", "-m", "it's done"]),
            r"git commit -m 'it'\''s done'"
        );
        assert_eq!(command_of_argv::<&str>(&[]), "");
        assert_eq!(command_of_argv(&["x", ""]), "x ''");
    }
}
