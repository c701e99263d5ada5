//! `git` as rules want to see it: `git -C dir -c k=v --no-pager show X` is `git show X` in `dir`.

use super::call::Call;
use super::evaluator::Evaluator;
use super::limits::MAX_ALIAS_STEPS;
use super::model::{Join, Origin, Word};
use super::scope::{Field, Known};
use super::wrappers::join;

/// Global options with a value in the next word.
const VALUES: &[&str] = &[
    "-C",
    "-c",
    "--git-dir",
    "--work-tree",
    "--namespace",
    "--exec-path",
    "--super-prefix",
    "--config-env",
    "--attr-source",
    "--list-cmds",
];

/// Global options without a value.
const FLAGS: &[&str] = &[
    "-p",
    "-P",
    "--paginate",
    "--no-pager",
    "--bare",
    "--no-replace-objects",
    "--no-lazy-fetch",
    "--no-optional-locks",
    "--no-advice",
    "--literal-pathspecs",
    "--glob-pathspecs",
    "--noglob-pathspecs",
    "--icase-pathspecs",
];

/// Takes a `git` call apart.
pub(super) fn run(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Known> {
    let mut call = call.clone();
    let mut settings: Vec<(String, String)> = Vec::new();
    let mut rest = call.arguments();
    while let Some((field, after)) = rest.split_first() {
        let text = field.text.as_str();
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        if !VALUES.contains(&name) && !FLAGS.contains(&name) {
            break;
        }
        rest = after;
        let (name, value) = if VALUES.contains(&text) {
            let value = rest.first().cloned();
            rest = rest.get(1..).unwrap_or_default();
            (text, value)
        } else if let Some((name, value)) = text.split_once('=') {
            (name, Some(Field::plain(value)))
        } else {
            (text, None)
        };
        let Some(value) = value else { continue };
        match name {
            "-C" => call.directory = call.directory.join(&value),
            "--git-dir" => call.env.push(("GIT_DIR".to_owned(), value)),
            "--work-tree" => call.env.push(("GIT_WORK_TREE".to_owned(), value)),
            "--namespace" => call.env.push(("GIT_NAMESPACE".to_owned(), value)),
            "-c" => settings.extend(
                value
                    .text
                    .split_once('=')
                    .map(|(key, value)| (key.to_owned(), value.to_owned())),
            ),
            _ => {}
        }
    }
    for (key, value) in settings {
        if let Some(alias) = key.strip_prefix("alias.") {
            evaluator.scope.git_aliases.insert(alias.to_owned(), value);
        }
    }
    for name in ["GIT_DIR", "GIT_WORK_TREE"] {
        let here = call.env.iter().any(|(set, _)| set == name);
        let exported = evaluator.scope.variables.get(name).and_then(|v| v.first());
        if let Some(value) = exported.filter(|_| !here) {
            call.env.push((name.to_owned(), value.clone()));
        }
    }
    let arguments = resolve_aliases(evaluator, &call, rest)?;
    let args: Vec<Word> = arguments.iter().map(Field::word).collect();
    evaluator.emit_as(&call, "git", args, call.context.origin);
    remember_alias(evaluator, &arguments);
    inner_commands(evaluator, &call, &arguments);
    None
}

/// The arguments with aliases resolved; `None` if the alias was a script, which was run.
fn resolve_aliases(
    evaluator: &mut Evaluator,
    call: &Call<'_>,
    arguments: &[Field],
) -> Option<Vec<Field>> {
    let mut arguments = arguments.to_vec();
    for _ in 0..MAX_ALIAS_STEPS {
        let Some((name, after)) = arguments.split_first() else {
            break;
        };
        let Some(text) = evaluator.scope.git_aliases.get(&name.text).cloned() else {
            break;
        };
        if let Some(script) = text.strip_prefix('!') {
            let script = format!("{script} {}", join(after));
            let context = call.script_context(Origin::Script);
            evaluator.text(&script, super::cursor::Base::Fixed(call.offset), &context);
            return None;
        }
        let words = text
            .split_whitespace()
            .map(|word| Field::plain(word.trim_matches(['"', '\''])));
        arguments = words.chain(after.iter().cloned()).collect();
    }
    Some(arguments)
}

/// `git config alias.x "cherry-pick"`.
fn remember_alias(evaluator: &mut Evaluator, arguments: &[Field]) {
    if arguments.first().is_none_or(|field| field.text != "config") {
        return;
    }
    let mut words = arguments
        .iter()
        .skip(1)
        .filter(|field| !field.text.starts_with("--") && field.text != "set");
    while let Some(field) = words.next() {
        if let Some(alias) = field.text.strip_prefix("alias.") {
            if let Some(value) = words.next() {
                evaluator
                    .scope
                    .git_aliases
                    .insert(alias.to_owned(), value.text.clone());
            }
            return;
        }
    }
}

/// Commands that git itself runs: `bisect run`, `rebase --exec`, `submodule foreach`.
fn inner_commands(evaluator: &mut Evaluator, call: &Call<'_>, arguments: &[Field]) {
    let texts: Vec<&str> = arguments.iter().map(|field| field.text.as_str()).collect();
    let behind: Option<&[Field]> = match texts.as_slice() {
        ["bisect", "run", ..] => arguments.get(2..),
        ["submodule", "foreach", "--recursive", ..] => arguments.get(3..),
        ["submodule", "foreach", ..] => arguments.get(2..),
        ["rebase" | "filter-branch", ..] => {
            let option = texts.iter().position(|text| {
                matches!(
                    *text,
                    "--exec" | "-x" | "--tree-filter" | "--index-filter" | "--msg-filter"
                )
            });
            option.and_then(|at| arguments.get(at + 1..at + 2))
        }
        _ => None,
    };
    if let Some(words) = behind.filter(|words| !words.is_empty()) {
        let mut context = call.script_context(Origin::Wrapped);
        context.join = Join::First;
        let script = join(words);
        evaluator.text(&script, super::cursor::Base::Fixed(call.offset), &context);
    }
}
