//! Builtins that change what later commands mean: `cd`, `export`, `alias`, `read` …

use super::call::Call;
use super::evaluator::Evaluator;
use super::scope::{Directory, Field};
use super::wrappers::as_assignment;

/// Applies the effect of a builtin.
pub(super) fn apply(evaluator: &mut Evaluator, call: &Call<'_>) {
    let arguments = call.arguments();
    let operand = || arguments.iter().find(|field| !is_option(&field.text));
    match call.program() {
        "cd" | "chdir" | "Set-Location" | "sl" => change_directory(evaluator, operand()),
        "pushd" | "Push-Location" => {
            let here = evaluator.scope.directory.clone();
            if evaluator.charge(here.name().map_or(0, str::len)) {
                evaluator.scope.directory_stack.push(here);
            }
            change_directory(evaluator, operand());
        }
        "popd" | "Pop-Location" => {
            let back = evaluator.scope.directory_stack.pop();
            evaluator.scope.directory = back.unwrap_or(Directory::Unknown);
        }
        "export" | "declare" | "local" | "readonly" | "typeset" => {
            for (name, value) in arguments.iter().filter_map(as_assignment) {
                evaluator.scope.variables.set(&name, vec![value]);
            }
        }
        "unset" => {
            for field in arguments {
                evaluator.scope.variables.remove(&field.text);
            }
        }
        "let" => {
            for field in arguments {
                evaluator.compute(&field.text);
            }
        }
        "read" => read(evaluator, call),
        "mapfile" | "readarray" => lines(evaluator, call),
        "printf" => {
            if let [option, name, ..] = arguments
                && option.text == "-v"
            {
                let value = super::filters::formatted(arguments.get(2..).unwrap_or_default());
                let value = value.map_or_else(
                    || Field::unresolved(&format!("${}", name.text)),
                    |known| Field::plain(&known.text()),
                );
                evaluator.scope.variables.set(&name.text, vec![value]);
            }
        }
        "set" => {
            let at = arguments.iter().position(|field| field.text == "--");
            let parameters = at.and_then(|at| arguments.get(at + 1..));
            if let Some(parameters) = parameters {
                set_parameters(evaluator, parameters);
            }
        }
        "shift" => {
            let count = arguments.first().and_then(|field| field.text.parse().ok());
            let old = evaluator.scope.variables.get("@").cloned();
            let old = old.unwrap_or_default();
            if evaluator.charge_fields(&old) {
                let left = old.get(count.unwrap_or(1)..).unwrap_or_default();
                set_parameters(evaluator, left);
            }
        }
        "alias" | "Set-Alias" | "sal" => alias(evaluator, arguments),
        "unalias" => {
            for field in arguments {
                evaluator.scope.aliases.remove(&field.text);
            }
        }
        "tee" => {
            for field in arguments.iter().filter(|field| !is_option(&field.text)) {
                evaluator.store_file(field, call.stdin.clone());
            }
        }
        "cp" | "mv" | "ln" => copy(evaluator, arguments),
        _ => {}
    }
}

/// `read a b`: known input is split, the last name gets all that is left, further lines
/// included, since a loop would read them too.
fn read(evaluator: &mut Evaluator, call: &Call<'_>) {
    let names: Vec<&Field> = super::wrappers::Options::read(
        call.arguments(),
        &["-a", "-d", "-i", "-n", "-N", "-p", "-t", "-u"],
    )
    .rest
    .iter()
    .collect();
    let input = call.stdin.as_ref();
    let text = input.map(super::scope::Known::text);
    let decoded = input.map_or(0, |known| known.decoded);
    let mut rest = text.as_deref().map(str::trim);
    for (at, name) in names.iter().enumerate() {
        let last = at + 1 == names.len();
        let value = match rest {
            None => Field::unresolved(&format!("${}", name.text)),
            Some(text) => {
                let (word, after) = match text.split_once(char::is_whitespace) {
                    Some((word, after)) if !last => (word, after.trim_start()),
                    _ if last => (text, ""),
                    _ => (text, ""),
                };
                rest = Some(after);
                Field {
                    decoded,
                    ..Field::plain(word)
                }
            }
        };
        if evaluator.charge(value.text.len()) {
            evaluator.scope.variables.set(&name.text, vec![value]);
        }
    }
}

/// `mapfile -t names`: each line of a known input is an element.
fn lines(evaluator: &mut Evaluator, call: &Call<'_>) {
    /// Longer inputs are not told apart.
    const MOST: usize = 256;
    let values = &["-d", "-n", "-O", "-s", "-u", "-C", "-c"];
    let options = super::wrappers::Options::read(call.arguments(), values);
    let name = options.rest.first().map_or("MAPFILE", |name| &name.text);
    let text = call.stdin.as_ref().map(super::scope::Known::text);
    let known = text.as_deref().filter(|text| text.lines().count() <= MOST);
    let value = match known {
        Some(text) => text.lines().map(Field::plain).collect(),
        None => vec![Field::unresolved(&format!("${name}"))],
    };
    if evaluator.charge_fields(&value) {
        evaluator.scope.variables.set(name, value);
    }
}

fn is_option(text: &str) -> bool {
    text.starts_with('-') && text != "-"
}

fn change_directory(evaluator: &mut Evaluator, to: Option<&Field>) {
    let home = Field::plain("~");
    evaluator.scope.directory = evaluator.scope.directory.join(to.unwrap_or(&home));
}

fn set_parameters(evaluator: &mut Evaluator, parameters: &[Field]) {
    const NAMED: usize = 9;
    if !evaluator.charge_fields(parameters) {
        return;
    }
    for name in ["@", "*"] {
        evaluator.scope.variables.set(name, parameters.to_vec());
    }
    for at in 0..NAMED {
        let value = parameters.get(at).cloned().into_iter().collect();
        evaluator.scope.variables.set(&(at + 1).to_string(), value);
    }
}

/// `alias gg=git`, and `Set-Alias gg git`.
fn alias(evaluator: &mut Evaluator, arguments: &[Field]) {
    let mut names = arguments.iter().filter(|field| !is_option(&field.text));
    while let Some(field) = names.next() {
        let (name, text) = match field.text.split_once('=') {
            Some((name, text)) => (name, text.to_owned()),
            None => match names.next() {
                Some(value) => (field.text.as_str(), value.text.clone()),
                None => return,
            },
        };
        evaluator.scope.aliases.insert(name.to_owned(), text);
    }
}

/// A copy of a file with known content has the same content.
fn copy(evaluator: &mut Evaluator, arguments: &[Field]) {
    let mut files = arguments.iter().filter(|field| !is_option(&field.text));
    if let (Some(from), Some(to), None) = (files.next(), files.next(), files.next())
        && let Some(known) = evaluator.file(from)
    {
        evaluator.store_file(to, Some(known));
    }
}
