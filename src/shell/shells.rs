//! Shells and builtins that run a text: `bash -c`, `eval`, `source`, a heredoc to `sh`.
//!
//! Where the text is known, its commands take the place of the shell.

use super::call::Call;
use super::cursor::Base;
use super::evaluator::Evaluator;
use super::model::{Join, Origin};
use super::programs::is_shell;
use super::scope::{Field, Known, Printed};
use super::wrappers::{Options, join};
use super::{interpreters, programs, windows};

/// Calls of `eval` in a row, each of which takes a layer of quotes off, that are told apart.
const MAX_EVALS: usize = 3;

/// Runs the text that a shell call is given; `None` if it is no such call, or the text is unknown.
pub(super) fn run(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Printed> {
    let program = call.program();
    let arguments = call.arguments();
    match program {
        "eval" if !arguments.is_empty() => {
            // `eval eval x` is `eval x`, unless each takes a layer of quotes off.
            let evals = arguments.iter().take_while(|field| field.text == "eval");
            let evals = evals.count();
            let texts = arguments.get(evals..).unwrap_or_default();
            let layered = texts
                .iter()
                .any(|field| field.text.contains(['\\', '\'', '"']));
            let kept = if layered { evals.min(MAX_EVALS) } else { 0 };
            let arguments = arguments.get(evals - kept..).unwrap_or_default();
            let mut context = call.script_context(script_origin(arguments));
            context.expanded = arguments.iter().any(|field| field.dynamic);
            let (text, base) = joined(call, arguments);
            Some(Printed(evaluator.text(&text, base, &context)))
        }
        "trap" => {
            let (first, _) = arguments.split_first()?;
            let runs = arguments.len() > 1 && !first.text.is_empty() && first.text != "-";
            runs.then(|| {
                let context = call.script_context(Origin::Script);
                Printed(evaluator.text(&first.text, call.base_of(first), &context))
            })
        }
        "su" | "runuser" | "script" | "flock" | "nix-shell" | "sg" => {
            after_option(evaluator, call, &["-c", "--command", "--run"])
        }
        "cmd" => windows::command_prompt(evaluator, call),
        "powershell" | "pwsh" => windows::powershell(evaluator, call),
        "iex" | "Invoke-Expression" if matches!(arguments, [only] if !only.text.starts_with('-')) =>
        {
            let only = arguments.first()?;
            Some(Printed(run_text(evaluator, call, only, &[])))
        }
        "at" | "batch" => from_input(evaluator, call, &[]),
        _ if is_shell(program) => shell(evaluator, call),
        _ => None,
    }
}

/// What the options of a shell call say.
#[derive(Debug, Default)]
struct ShellOptions<'f> {
    /// `-c`: the first operand is a text to run, the second one `$0`.
    takes_text: bool,
    /// `-s`: what flows in is run, operands are its parameters.
    takes_input: bool,
    /// `-n`: the syntax is looked at, nothing is run.
    only_checks: bool,
    /// `--command=text`.
    command: Option<Field>,
    operands: &'f [Field],
}

impl<'f> ShellOptions<'f> {
    /// Names that bash takes with one dash too.
    const LONG: &'static [&'static str] = &[
        "debug",
        "debugger",
        "dump-po-strings",
        "dump-strings",
        "init-file",
        "login",
        "noediting",
        "noprofile",
        "norc",
        "posix",
        "rcfile",
        "restricted",
        "verbose",
    ];

    fn read(call: &Call<'f>) -> Self {
        let mut options = Self::default();
        let mut rest = call.arguments();
        while let Some((field, after)) = rest.split_first() {
            let text = field.text.as_str();
            if text.len() < 2 || text == "--" || !text.starts_with(['-', '+']) {
                // A lone `-` ends the options as `--` does.
                rest = if matches!(text, "-" | "--") {
                    after
                } else {
                    rest
                };
                break;
            }
            rest = after;
            let name = text.trim_start_matches('-');
            if text.starts_with("--") || Self::LONG.contains(&name) {
                rest = options.long(name, rest);
                continue;
            }
            let on = text.starts_with('-');
            for letter in name.chars() {
                match letter {
                    'c' => options.takes_text |= on,
                    's' => options.takes_input |= on,
                    'n' => options.only_checks = on,
                    'C' if call.program() == "fish" => rest = rest.get(1..).unwrap_or_default(),
                    // `-euo pipefail`
                    'o' | 'O' => {
                        let value = rest.first().map_or("", |value| value.text.as_str());
                        if value == "noexec" {
                            options.only_checks = on;
                        }
                        rest = rest.get(1..).unwrap_or_default();
                    }
                    _ => {}
                }
            }
        }
        options.operands = rest;
        options
    }

    /// Reads a long option; the result is what follows it and its value.
    fn long(&mut self, name: &str, rest: &'f [Field]) -> &'f [Field] {
        let behind = || rest.get(1..).unwrap_or_default();
        match name.split_once('=') {
            Some(("command", text)) => self.command = Some(Field::plain(text)),
            Some(_) => {}
            None if name == "command" => {
                self.command = rest.first().cloned();
                return behind();
            }
            None if matches!(name, "rcfile" | "init-file" | "init-command") => return behind(),
            None => self.only_checks |= name == "no-execute",
        }
        rest
    }
}

fn shell(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Printed> {
    let options = ShellOptions::read(call);
    if options.only_checks {
        return Some(Printed(None));
    }
    if let Some(text) = &options.command {
        return Some(Printed(run_text(evaluator, call, text, options.operands)));
    }
    if options.takes_text {
        let (text, after) = options.operands.split_first()?;
        let parameters = after.get(1..).unwrap_or_default();
        return Some(Printed(run_text(evaluator, call, text, parameters)));
    }
    match options.operands.first() {
        _ if options.takes_input => from_input(evaluator, call, options.operands),
        None => from_input(evaluator, call, &[]),
        Some(first) if first.text == "/dev/stdin" => from_input(evaluator, call, &[]),
        Some(_) => None,
    }
}

fn run_text(
    evaluator: &mut Evaluator,
    call: &Call<'_>,
    text: &Field,
    parameters: &[Field],
) -> Option<Known> {
    let mut context = call.script_context(script_origin(std::slice::from_ref(text)));
    context.expanded = text.dynamic;
    let base = call.base_of(text);
    let outer = std::mem::replace(&mut evaluator.scope.directory, call.directory.clone());
    let printed = evaluator.with_parameters(parameters, |evaluator| {
        for (name, value) in &call.env {
            evaluator.scope.variables.set(name, vec![value.clone()]);
        }
        evaluator.text(&text.text, base, &context)
    });
    evaluator.scope.directory = outer;
    printed
}

/// Runs what flows in.
fn from_input(evaluator: &mut Evaluator, call: &Call<'_>, parameters: &[Field]) -> Option<Printed> {
    let (text, decoded, base) = call.input()?;
    let field = Field {
        decoded,
        exact: match base {
            Base::Exact(at) => Some(at),
            Base::Fixed(_) => None,
        },
        ..Field::plain(&text)
    };
    let mut inner = call.clone();
    inner.heredoc = None;
    inner.stdin = None;
    if call.heredoc.is_none() {
        inner.context.join = Join::First;
    }
    Some(Printed(run_text(evaluator, &inner, &field, parameters)))
}

/// `su user -c text`, `flock file program argument`.
fn after_option(evaluator: &mut Evaluator, call: &Call<'_>, names: &[&str]) -> Option<Printed> {
    let arguments = call.arguments();
    for (at, field) in arguments.iter().enumerate() {
        let text = field.text.as_str();
        let cluster = text.starts_with('-') && !text.starts_with("--") && text.ends_with('c');
        if names.contains(&text) || cluster {
            let script = arguments.get(at + 1)?;
            return Some(Printed(run_text(evaluator, call, script, &[])));
        }
        if let Some(script) = text.strip_prefix("--command=") {
            return Some(Printed(run_text(
                evaluator,
                call,
                &Field::plain(script),
                &[],
            )));
        }
    }
    let options = Options::read(arguments, &["-w", "-E", "-u", "-g"]);
    let operands = match call.program() {
        "flock" | "script" => 1,
        "runuser" if options.has(&["-u"]) => 0,
        _ => return None,
    };
    let inner = options.rest.get(operands..).unwrap_or_default();
    (!inner.is_empty()).then(|| Printed(evaluator.nested(call.wrapped(inner))))
}

/// Runs a file that this text wrote: `sh run.sh`, `. env.sh`, `./run.sh`.
pub(super) fn run_file(evaluator: &mut Evaluator, call: &Call<'_>) {
    let program = call.program();
    let named = call.argv.first();
    let (file, parameters) = if is_shell(program) || matches!(program, "source" | ".") {
        let operands = ShellOptions::read(call).operands;
        (operands.first(), operands.get(1..))
    } else if named.is_some_and(|field| field.text.contains('/')) {
        (named, call.argv.get(1..))
    } else {
        return;
    };
    let Some(file) = file else { return };
    let known = if file.text == "/dev/stdin" {
        call.stdin.clone()
    } else {
        evaluator.file(file)
    };
    let Some(known) = known else { return };
    evaluator.note_run(file);
    let text = known.text();
    let mut inner = call.clone();
    inner.context.join = Join::First;
    let shebang = text.lines().next().unwrap_or_default();
    let named = |line: &str| line.split(['/', ' ']).find_map(programs::language);
    let language = match shebang.strip_prefix("#!") {
        Some(line) => named(line),
        // `uv run get.py`
        None => programs::language_of_file(&file.text),
    };
    if let Some(language) = language {
        interpreters::of_file(evaluator, &inner, language, &text, &file.text);
        return;
    }
    let field = Field {
        decoded: known.decoded,
        ..Field::plain(&text)
    };
    let parameters = parameters.unwrap_or_default();
    if matches!(program, "source" | ".") && parameters.is_empty() {
        // What it sets stays.
        let context = inner.script_context(script_origin(std::slice::from_ref(&field)));
        evaluator.text(&field.text, Base::Fixed(call.offset), &context);
        return;
    }
    run_text(evaluator, &inner, &field, parameters);
}

/// How a text came to be a script.
fn script_origin(fields: &[Field]) -> Origin {
    if fields.iter().any(|field| field.decoded > 0) {
        Origin::Decoded
    } else {
        Origin::Script
    }
}

/// Words joined by blanks, and where they stand if it is only one.
pub(super) fn joined(call: &Call<'_>, words: &[Field]) -> (String, Base) {
    match words {
        [only] => (only.text.clone(), call.base_of(only)),
        words => (join(words), Base::Fixed(call.offset)),
    }
}
