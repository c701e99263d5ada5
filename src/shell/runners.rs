//! Programs that run others and matter themselves: `xargs`, `find -exec`, `ssh`, `docker run`.

use super::call::Call;
use super::evaluator::Evaluator;
use super::limits::MAX_LOOP_ROUNDS;
use super::model::{Join, Origin};
use super::programs::{base_name, is_shell};
use super::scope::{Field, Printed};
use super::shells;
use super::wrappers::Options;

/// Most words taken from a known standard input for `xargs`.
const MAX_INPUT_WORDS: usize = 64;

const XARGS_VALUES: &[&str] = &[
    "-I",
    "-n",
    "-P",
    "-L",
    "-d",
    "-E",
    "-s",
    "-a",
    "-R",
    "-S",
    "-J",
    "--max-args",
    "--max-procs",
    "--replace",
    "--delimiter",
    "--arg-file",
    "--max-lines",
];
const PARALLEL_VALUES: &[&str] = &[
    "-I",
    "-j",
    "-n",
    "-N",
    "-P",
    "-S",
    "-a",
    "--jobs",
    "--colsep",
    "--delay",
    "--timeout",
    "--joblog",
    "--results",
    "--retries",
];
const SSH_VALUES: &[&str] = &[
    "-b", "-c", "-D", "-E", "-e", "-F", "-I", "-i", "-J", "-L", "-l", "-m", "-O", "-o", "-p", "-Q",
    "-R", "-S", "-W", "-w",
];

/// Options of `docker run` and `docker exec` without a value; every other one takes one.
const CONTAINER_FLAGS: &[&str] = &[
    "-d",
    "-i",
    "-t",
    "-it",
    "-ti",
    "-id",
    "-dit",
    "-itd",
    "-T",
    "-P",
    "-q",
    "--rm",
    "--init",
    "--privileged",
    "--read-only",
    "--detach",
    "--interactive",
    "--tty",
    "--publish-all",
    "--quiet",
    "--no-healthcheck",
    "--oom-kill-disable",
    "--no-deps",
    "--service-ports",
    "--use-aliases",
    "--build",
];

/// Takes such a call apart; `None` if it is none.
pub(super) fn run(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Printed> {
    match call.program() {
        "wget" | "aria2c" | "curl" => listed(evaluator, call),
        "xargs" => xargs(evaluator, call),
        "parallel" => parallel(evaluator, call),
        "find" | "fd" | "fdfind" => {
            evaluator.emit(call);
            find(evaluator, call);
            Some(Printed(None))
        }
        "ssh" => {
            evaluator.emit(call);
            ssh(evaluator, call);
            Some(Printed(None))
        }
        "docker" | "podman" | "nerdctl" | "docker-compose" | "kubectl" | "oc" => {
            evaluator.emit(call);
            container(evaluator, call);
            Some(Printed(None))
        }
        "vim" | "vi" | "nvim" | "ex" | "view" => {
            evaluator.emit(call);
            editor(evaluator, call);
            Some(Printed(None))
        }
        "nix" => {
            evaluator.emit(call);
            let arguments = call.arguments();
            let at = arguments
                .iter()
                .position(|field| matches!(field.text.as_str(), "-c" | "--command"));
            let command = at.and_then(|at| arguments.get(at + 1..));
            behind(evaluator, call, command.unwrap_or_default());
            Some(Printed(None))
        }
        "psql" | "mysql" | "mariadb" | "sqlite3" | "gdb" | "lldb" | "ed" | "ftp" | "sftp" => {
            evaluator.emit(call);
            escapes(evaluator, call);
            Some(Printed(None))
        }
        "tmux" | "screen" => {
            evaluator.emit(call);
            terminal(evaluator, call);
            Some(Printed(None))
        }
        _ => None,
    }
}

/// `wget -i file`, `curl -K file`: the addresses in a file that is known are arguments.
fn listed(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Printed> {
    let names: &[&str] = match call.program() {
        "curl" => &["-K", "--config"],
        _ => &["-i", "--input-file"],
    };
    let letter = if call.program() == "curl" { 'K' } else { 'i' };
    let arguments = call.arguments();
    let at = arguments.iter().position(|field| {
        let short = field.text.starts_with('-') && !field.text.starts_with("--");
        names.contains(&field.text.as_str()) || short && field.text.ends_with(letter)
    })?;
    let known = evaluator.file(arguments.get(at + 1)?)?;
    let mut argv = call.argv.to_vec();
    for word in known
        .text()
        .split(|c: char| c.is_whitespace() || "\"'=".contains(c))
    {
        if word.contains("://") && argv.len() < call.argv.len() + MAX_INPUT_WORDS {
            argv.push(Field {
                decoded: known.decoded,
                ..Field::plain(word)
            });
        }
    }
    let mut inner = call.clone();
    inner.argv = &argv;
    evaluator.emit(&inner);
    Some(Printed(None))
}

/// A call behind one that was noted itself.
fn behind(evaluator: &mut Evaluator, call: &Call<'_>, argv: &[Field]) {
    if !argv.is_empty() {
        let mut inner = call.wrapped(argv);
        inner.context.join = Join::First;
        evaluator.nested(inner);
    }
}

/// A script behind a call that was noted itself.
fn script_behind(evaluator: &mut Evaluator, call: &Call<'_>, words: &[Field]) {
    if !words.is_empty() {
        let mut context = call.script_context(Origin::Wrapped);
        context.join = Join::First;
        let (text, base) = shells::joined(call, words);
        evaluator.text(&text, base, &context);
    }
}

/// Words of the standard input, or its lines; `None` if it is not known.
fn input_words(call: &Call<'_>, by_line: bool) -> Option<Vec<Field>> {
    let (text, decoded, _) = call.input()?;
    let separates = |c: char| {
        if by_line {
            matches!(c, '\n' | '\0')
        } else {
            c.is_whitespace()
        }
    };
    let words = text
        .split(separates)
        .map(str::trim)
        .filter(|word| !word.is_empty())
        .take(MAX_INPUT_WORDS)
        .map(|word| Field {
            decoded,
            ..Field::plain(word)
        });
    Some(words.collect())
}

fn xargs(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Printed> {
    let options = Options::read(call.arguments(), XARGS_VALUES);
    let placeholder = options
        .value(&["-I", "--replace", "-J"])
        .or_else(|| options.has(&["-i"]).then(|| Field::plain("{}")));
    if options.rest.is_empty() {
        return None;
    }
    let by_line =
        placeholder.is_some() || options.has(&["-0", "--null", "-d", "--delimiter", "-L"]);
    let added = input_words(call, by_line).unwrap_or_else(|| vec![Field::unresolved("{}")]);
    if placeholder.is_none() {
        let argv = with_placeholder(options.rest, None, &added);
        return Some(Printed(evaluator.nested(call.wrapped(&argv))));
    }
    if added.len() > MAX_LOOP_ROUNDS {
        evaluator.incomplete = true;
    }
    for item in added.iter().take(MAX_LOOP_ROUNDS) {
        let argv = with_placeholder(
            options.rest,
            placeholder.as_ref(),
            std::slice::from_ref(item),
        );
        evaluator.nested(call.wrapped(&argv));
    }
    Some(Printed(None))
}

fn parallel(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Printed> {
    let options = Options::read(call.arguments(), PARALLEL_VALUES);
    let separator = options
        .rest
        .iter()
        .position(|field| field.text.starts_with(":::"));
    let (command, listed) = match separator.and_then(|at| options.rest.split_at_checked(at)) {
        Some((command, listed)) => (command, listed.get(1..)),
        None => (options.rest, None),
    };
    let added = match listed {
        Some(listed) => listed.iter().take(MAX_INPUT_WORDS).cloned().collect(),
        None => input_words(call, true).unwrap_or_else(|| vec![Field::unresolved("{}")]),
    };
    if command.is_empty() {
        return None;
    }
    let argv = with_placeholder(command, None, &added);
    let context = call.script_context(Origin::Wrapped);
    let (text, base) = shells::joined(call, &argv);
    Some(Printed(evaluator.text(&text, base, &context)))
}

/// Puts the words of the input in the place of the placeholder, or behind the command.
fn with_placeholder(command: &[Field], placeholder: Option<&Field>, added: &[Field]) -> Vec<Field> {
    let mark = placeholder.map_or("{}", |field| field.text.as_str());
    let holds = |field: &Field| !mark.is_empty() && field.text.contains(mark);
    if !command.iter().any(holds) {
        let mut argv = command.to_vec();
        if placeholder.is_none() {
            argv.extend(added.iter().cloned());
        }
        return argv;
    }
    let first = added.first();
    let replace = |field: &Field| {
        if !holds(field) {
            return field.clone();
        }
        match first {
            Some(value) if !value.dynamic && added.len() == 1 => Field {
                decoded: field.decoded.max(value.decoded),
                dynamic: field.dynamic,
                ..Field::plain(&field.text.replacen(mark, &value.text, MAX_INPUT_WORDS))
            },
            // A pattern that stands for them, or nothing that is known.
            _ => {
                let only = first.filter(|value| value.dynamic && added.len() == 1);
                let text = only.map_or("{}", |value| value.text.as_str());
                Field {
                    dynamic: true,
                    ..Field::plain(&field.text.replacen(mark, text, MAX_INPUT_WORDS))
                }
            }
        }
    };
    command.iter().map(replace).collect()
}

/// The commands of `-exec`, `-execdir`, `-ok` and of `fd -x`.
fn find(evaluator: &mut Evaluator, call: &Call<'_>) {
    let mut rest = call.arguments();
    let starts: &[&str] = if call.program() == "find" {
        &["-exec", "-execdir", "-ok", "-okdir"]
    } else {
        &["-x", "-X", "--exec", "--exec-batch"]
    };
    // What a script is handed of one directory elsewhere is called by a pattern over it. What other programs are handed
    // is the matter of `find` itself.
    let elsewhere = |field: &&Field| !field.dynamic && field.text.starts_with(['/', '~']);
    let root = rest.first().filter(elsewhere).filter(|_| {
        let second = rest.get(1);
        call.program() == "find" && second.is_some_and(|word| word.text.starts_with(['-', '(']))
    });
    let found = root.map_or("{}".to_owned(), |root| {
        format!("{}/*", root.text.trim_end_matches('/'))
    });
    while let Some(at) = rest
        .iter()
        .position(|field| starts.contains(&field.text.as_str()))
    {
        let command = rest.get(at + 1..).unwrap_or_default();
        let end = command
            .iter()
            .position(|field| matches!(field.text.as_str(), ";" | "+"))
            .unwrap_or(command.len());
        let argv = command.get(..end).unwrap_or_default();
        let shell = argv
            .first()
            .is_some_and(|program| is_shell(base_name(&program.text)));
        let unknown = [Field::unresolved(if shell { &found } else { "{}" })];
        let argv = if argv.iter().any(|field| field.text.contains("{}")) {
            with_placeholder(argv, None, &unknown)
        } else {
            argv.to_vec()
        };
        behind(evaluator, call, &argv);
        rest = command.get(end..).unwrap_or_default();
    }
}

fn ssh(evaluator: &mut Evaluator, call: &Call<'_>) {
    let options = Options::read(call.arguments(), SSH_VALUES);
    let after_host = options.rest.get(1..).unwrap_or_default();
    // Options may also stand between the host and the command.
    let command = Options::read(after_host, SSH_VALUES).rest;
    if command.is_empty()
        && let Some((text, _, base)) = call.input()
    {
        let mut context = call.inside(Origin::Wrapped);
        context.join = Join::First;
        context.stdin = None;
        evaluator.text(&text, base, &context);
    }
    script_behind(evaluator, call, command);
}

/// `docker run [options] image command`, `docker exec`, `kubectl exec pod -- command`.
fn container(evaluator: &mut Evaluator, call: &Call<'_>) {
    let arguments = call.arguments();
    let Some(at) = arguments
        .iter()
        .position(|field| matches!(field.text.as_str(), "run" | "exec"))
    else {
        return;
    };
    let mut rest = arguments.get(at + 1..).unwrap_or_default();
    if matches!(call.program(), "kubectl" | "oc") {
        let command = rest.iter().position(|field| field.text == "--");
        let command = command.and_then(|at| rest.get(at + 1..));
        behind(evaluator, call, command.unwrap_or_default());
        return;
    }
    let mut entry_point = None;
    while let Some((field, after)) = rest.split_first() {
        let text = field.text.as_str();
        if !text.starts_with('-') {
            break;
        }
        rest = after;
        if let Some(value) = text.strip_prefix("--entrypoint=") {
            entry_point = Some(Field::plain(value));
        } else if !text.contains('=') && !CONTAINER_FLAGS.contains(&text) {
            if text == "--entrypoint" {
                entry_point = rest.first().cloned();
            }
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    let command = rest.get(1..).unwrap_or_default();
    let argv: Vec<Field> = entry_point
        .into_iter()
        .filter(|field| !field.text.is_empty())
        .chain(command.iter().cloned())
        .collect();
    behind(evaluator, call, &argv);
}

/// `vim -c '!command'`, `vim -c 'r !command'`, `vim +'!command'`.
fn editor(evaluator: &mut Evaluator, call: &Call<'_>) {
    let typed = call.input().map(|(text, ..)| text);
    let typed = typed
        .iter()
        .flat_map(|text| text.lines())
        .take(MAX_INPUT_WORDS);
    let given = call.arguments().iter().map(|field| field.text.as_str());
    for text in given.chain(typed) {
        let text = text.trim_start_matches(['+', ':', ' ', '%', '.']);
        let text = text
            .strip_prefix("read")
            .or_else(|| text.strip_prefix('r'))
            .unwrap_or(text)
            .trim_start();
        let text = text.strip_prefix("silent").unwrap_or(text).trim_start();
        if let Some(command) = text.strip_prefix('!') {
            script_behind(evaluator, call, &[Field::plain(command)]);
        }
    }
}

/// Commands for the shell among those of another program: `\\! x`, `.shell x`, `!x`, `shell x`.
fn escapes(evaluator: &mut Evaluator, call: &Call<'_>) {
    let given = call.arguments().iter().map(|field| field.text.clone());
    let typed = call.input().map(|(text, ..)| text);
    let lines: Vec<String> = given
        .chain(typed)
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .take(MAX_INPUT_WORDS)
        .collect();
    for line in lines {
        let line = line.trim_start();
        let marks = [
            "\\!",
            "!",
            ".shell ",
            ".system ",
            "shell ",
            "system ",
            "platform shell ",
        ];
        if let Some(command) = marks.iter().find_map(|mark| line.strip_prefix(mark)) {
            script_behind(evaluator, call, &[Field::plain(command)]);
        }
    }
}

/// `tmux new-session -d 'command'`, `tmux send-keys 'command' Enter`, `screen -dm command`.
fn terminal(evaluator: &mut Evaluator, call: &Call<'_>) {
    const VALUES: &[&str] = &[
        "-s", "-t", "-n", "-c", "-x", "-y", "-S", "-L", "-F", "-e", "-f",
    ];
    let arguments = call.arguments();
    // That shell goes on.
    evaluator.functions.reach();
    if call.program() == "screen" {
        let options = Options::read(arguments, &["-S", "-c", "-t", "-L"]);
        behind(evaluator, call, options.rest);
        return;
    }
    let Some((verb, after)) = Options::read(arguments, &["-L", "-S", "-f"])
        .rest
        .split_first()
    else {
        return;
    };
    let options = Options::read(after, VALUES);
    match verb.text.as_str() {
        "new-session" | "new" | "new-window" | "neww" | "split-window" | "splitw" | "run-shell"
        | "run" | "respawn-pane" => script_behind(evaluator, call, options.rest),
        "send-keys" | "send" => {
            let keys = options
                .rest
                .iter()
                .filter(|field| !matches!(field.text.as_str(), "Enter" | "C-m" | "C-c"));
            let keys: Vec<Field> = keys.cloned().collect();
            script_behind(evaluator, call, &keys);
        }
        _ => {}
    }
}
