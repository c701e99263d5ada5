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
use super::{interpreters, windows};

/// Options of shells that take a value.
const SHELL_VALUES: &[&str] = &["-o", "+o", "-O", "+O", "--rcfile", "--init-file", "-C"];

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
        "at" | "batch" => from_input(evaluator, call, &[]),
        _ if is_shell(program) => shell(evaluator, call),
        _ => None,
    }
}

fn shell(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Printed> {
    // `bash -n` only looks at the syntax.
    let mut flags = call
        .arguments()
        .iter()
        .take_while(|field| field.text.starts_with('-'));
    if flags.any(|field| !field.text.starts_with("--") && field.text.contains('n')) {
        return Some(Printed(None));
    }
    let options = Options::read(call.arguments(), SHELL_VALUES);
    let takes_text = options
        .given
        .iter()
        .any(|(name, _)| !name.starts_with("--") && name.starts_with('-') && name.contains('c'));
    if takes_text || options.has(&["--command"]) {
        let attached = options.value(&["--command"]);
        let (text, parameters) = match (&attached, options.rest.split_first()) {
            (Some(text), _) => (text, options.rest),
            // The word after the text is `$0`.
            (None, Some((text, after))) => (text, after.get(1..).unwrap_or_default()),
            (None, None) => return None,
        };
        return Some(Printed(run_text(evaluator, call, text, parameters)));
    }
    let reads_input = match options.rest.first() {
        None => true,
        Some(first) => options.has(&["-s"]) || matches!(first.text.as_str(), "-" | "/dev/stdin"),
    };
    if reads_input {
        let parameters = if options.has(&["-s"]) {
            options.rest
        } else {
            &[]
        };
        return from_input(evaluator, call, parameters);
    }
    None
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
        let options = Options::read(call.arguments(), SHELL_VALUES);
        (options.rest.first(), options.rest.get(1..))
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
    let text = known.text();
    let mut inner = call.clone();
    inner.context.join = Join::First;
    let shebang = text.lines().next().unwrap_or_default();
    if let Some(language) = shebang
        .strip_prefix("#!")
        .and_then(|line| line.split(['/', ' ']).find_map(super::programs::language))
    {
        interpreters::source(evaluator, &inner, language, &text);
        return;
    }
    let field = Field {
        decoded: known.decoded,
        ..Field::plain(&text)
    };
    run_text(evaluator, &inner, &field, parameters.unwrap_or_default());
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
