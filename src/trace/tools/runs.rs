//! Tools that run something, whatever they are called: a shell, an interpreter, a server for git.
//!
//! Known shells are listed by name. Servers of tools bring names of their own (`start_process`, `run_code`,
//! `git_show`), and a leak that comes through one of them must not look like the call of some harmless tool. So any tool
//! that is given a command line, or code for an interpreter, has run it; the arguments tell. Editors have an argument
//! `command` too, of one word, beside a path: they run nothing.

use super::names::{
    CODE, COMMAND, EDITOR_COMMANDS, INTERPRETERS, PATH, PLACES, RUNS, SHELL, TYPED, TYPING, VERBS,
};
use crate::trace::json::Json;
use crate::trace::shell_words::command_of_argv;

/// What the call runs, as text for a shell; `None`: it runs nothing that its arguments tell.
pub(super) fn command(tool: &str, name: &str, args: &Json<'_>) -> Option<String> {
    if SHELL.contains(&name) {
        return line(args)
            .or_else(|| args.first_str(&["script"]).map(str::to_owned))
            .or_else(|| args.as_str().map(str::to_owned))
            .or_else(|| interpreted(tool, name, args))
            .or_else(|| typed(args).map(str::to_owned))
            .filter(|line| !line.is_empty());
    }
    if TYPING.contains(&name) {
        return typed(args).map(str::to_owned);
    }
    interpreted(tool, name, args)
        .or_else(|| git(tool, args))
        .or_else(|| line(args).filter(|line| runs(line, args)))
}

/// What is typed into a shell that goes on. One key answers a question or turns a page.
fn typed<'j>(args: &'j Json<'_>) -> Option<&'j str> {
    args.first_str(TYPED).filter(|text| text.trim().len() > 2)
}

/// The command line among the arguments: a text, a list of words, or a program and its arguments.
fn line(args: &Json<'_>) -> Option<String> {
    let program = args.first_str(COMMAND);
    let words: Vec<&str> = args.list("args").iter().filter_map(Json::as_str).collect();
    match (program, args.str("args").filter(|text| !text.is_empty())) {
        (Some(program), Some(text)) => return Some(format!("{program} {text}")),
        (Some(program), None) if words.is_empty() => return Some(program.to_owned()),
        (Some(program), None) => {
            // The program may be a line of its own; only the words are data.
            return Some(format!("{program} {}", command_of_argv(&words)));
        }
        (None, _) => {}
    }
    let list =
        |key: &str| -> Vec<&str> { args.list(key).iter().filter_map(Json::as_str).collect() };
    let argv = COMMAND
        .iter()
        .map(|key| list(key))
        .find(|argv| !argv.is_empty());
    argv.map(|argv| command_of_argv(&argv)).or_else(|| {
        let lines = list("commands");
        (!lines.is_empty()).then(|| lines.join("\n"))
    })
}

/// True if the argument is a command line and not the name of what an editor should do.
fn runs(line: &str, args: &Json<'_>) -> bool {
    let one_word = !line.trim().contains(char::is_whitespace);
    let edits = EDITOR_COMMANDS.contains(&line.trim());
    let names = one_word && args.first_str(PATH).is_some();
    !(line.trim().is_empty() || edits || names)
}

/// Code for an interpreter, as the interpreter would be given it by a shell.
fn interpreted(tool: &str, name: &str, args: &Json<'_>) -> Option<String> {
    // The server tells as well as the tool: `mcp__python-repl__submit`.
    let tool = run_together(tool);
    let of_name = INTERPRETERS
        .iter()
        .find(|(word, _)| tool.contains(word))
        .map(|(_, interpreter)| *interpreter);
    let language = args.first_str(&["language", "lang", "kernel", "runtime"]);
    let code = args
        .first_str(CODE)
        .or_else(|| of_name.and_then(|_| args.first_str(&["input", "content", "text"])))
        .or_else(|| of_name.and_then(|_| args.as_str()))?;
    // Others format the code that they are given, or write it to a file.
    if of_name.is_none() && !RUNS.iter().any(|word| name.contains(word)) {
        return None;
    }
    let interpreter = match language.map(str::to_ascii_lowercase).as_deref() {
        Some("bash" | "sh" | "shell" | "zsh") => return Some(code.to_owned()),
        Some("javascript" | "js" | "node" | "nodejs" | "typescript" | "ts") => "node",
        Some("ruby" | "rb") => "ruby",
        Some("perl") => "perl",
        Some(other) if other.starts_with("python") || other.starts_with("py") => "python3",
        _ => of_name.unwrap_or("python3"),
    };
    Some(script(interpreter, code))
}

/// A script on the standard input of an interpreter. The shell lines of a notebook stand behind it.
pub(crate) fn script(interpreter: &str, code: &str) -> String {
    if let Some(shell) = ["%%bash", "%%sh", "%%script bash"]
        .iter()
        .find_map(|magic| code.trim_start().strip_prefix(magic))
    {
        // Behind the magic stand its options.
        return shell
            .split_once('\n')
            .map_or("", |(_, shell)| shell)
            .to_owned();
    }
    let mut end = interpreter.trim_end_matches('3').to_ascii_uppercase();
    while code.lines().any(|line| line.trim() == end) {
        end.push('_');
    }
    let mut out = format!("{interpreter} - <<'{end}'\n{code}\n{end}");
    for line in code.lines() {
        if let Some(command) = line.trim_start().strip_prefix('!') {
            out.push('\n');
            out.push_str(command.trim_start_matches('!'));
        }
    }
    out
}

/// A tool of a server for git: `git_show {repo_path, revision}` runs `git -C repo_path show revision`.
fn git(tool: &str, args: &Json<'_>) -> Option<String> {
    let mut names = tool
        .rsplit("__")
        .flat_map(|part| part.rsplit(['.', '/', ':']));
    let last = names.next()?;
    let name = run_together(last);
    let server = names.next().is_some_and(|server| {
        let server = run_together(server);
        server.starts_with("git") && !server.contains("hub") && !server.contains("lab")
            || server.ends_with("git")
    });
    let rest = name
        .strip_prefix("git")
        .or_else(|| server.then_some(name.as_str()))?;
    let verb = VERBS
        .iter()
        .filter(|verb| rest.starts_with(&run_together(verb)))
        .max_by_key(|verb| verb.len())?;
    let mut words = vec!["git".to_owned()];
    if let Some(at) = args.first_str(PLACES) {
        words.extend(["-C".to_owned(), at.to_owned()]);
    }
    words.push((*verb).to_owned());
    if rest == "diffstaged" || args.is_true("staged") || args.is_true("cached") {
        words.push("--cached".to_owned());
    }
    for (key, value) in args.members() {
        match (key.as_ref(), value) {
            (key, _) if PLACES.contains(&key) || key == "message" => {}
            ("max_count" | "limit" | "n", Json::Int(count)) => words.push(format!("-n{count}")),
            ("all", Json::Bool(true)) => words.push("--all".to_owned()),
            ("branch_type", value) => {
                words.extend((value.as_str() == Some("remote")).then(|| "-r".to_owned()));
            }
            (_, Json::Arr(items)) => {
                words.extend(items.iter().filter_map(Json::as_str).map(str::to_owned));
            }
            (_, value) => words.extend(value.as_str().filter(|t| !t.is_empty()).map(str::to_owned)),
        }
    }
    Some(command_of_argv(&words))
}

/// `Cherry_pick`, `cherry-pick` → `cherrypick`.
fn run_together(name: &str) -> String {
    name.to_ascii_lowercase().replace(['_', '-'], "")
}
