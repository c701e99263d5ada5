//! Interpreters of other languages: their source texts are kept, and what they start is noted.

use super::call::Call;
use super::evaluator::Evaluator;
use super::model::Join;
use super::programs::language;
use super::scope::Field;
use super::wrappers::Options;

/// Options whose next word is source text, by language.
fn source_options(language: &str) -> &'static [&'static str] {
    match language {
        "python" => &["-c"],
        "node" => &["-e", "-p", "-pe", "--eval", "--print", "eval"],
        "perl" => &[
            "-e", "-E", "-ne", "-pe", "-nE", "-le", "-lne", "-ple", "-we", "-Mstrict",
        ],
        "ruby" => &["-e", "-ne", "-pe"],
        "php" => &["-r", "--run"],
        "lua" | "applescript" | "r" => &["-e"],
        _ => &[],
    }
}

/// Notes the source text that an interpreter call runs.
pub(super) fn run(evaluator: &mut Evaluator, call: &Call<'_>) {
    let Some(language) = language(call.program()) else {
        return;
    };
    let arguments = call.arguments();
    if language == "awk" {
        let program = Options::read(arguments, &["-F", "-v", "-f"]).rest.first();
        if let Some(program) = program.filter(|p| p.text.contains("system") || p.text.contains('|'))
        {
            source(evaluator, call, language, &program.text);
        }
        return;
    }
    let options = source_options(language);
    for (at, field) in arguments.iter().enumerate() {
        let text = field.text.as_str();
        if text == "-m" && language == "python" {
            let module = arguments.get(at + 1..).unwrap_or_default();
            if !module.is_empty() {
                let mut inner = call.wrapped(module);
                inner.context.join = Join::First;
                evaluator.nested(inner);
            }
            return;
        }
        if options.contains(&text) {
            if let Some(code) = arguments.get(at + 1) {
                source(evaluator, call, language, &code.text);
            }
            return;
        }
        if !text.starts_with('-') || text == "-" {
            file(evaluator, call, language, field);
            return;
        }
    }
    if let Some((text, _, _)) = call.input() {
        source(evaluator, call, language, &text);
    }
}

/// `python file.py`, `python -`, `python /dev/stdin`.
fn file(evaluator: &mut Evaluator, call: &Call<'_>, language: &str, name: &Field) {
    let text = if matches!(name.text.as_str(), "-" | "/dev/stdin") {
        call.input().map(|(text, _, _)| text)
    } else {
        evaluator.file(name).map(|known| known.text())
    };
    if let Some(text) = text {
        source(evaluator, call, language, &text);
    }
}

/// Keeps a source text and notes what it starts.
pub(super) fn source(evaluator: &mut Evaluator, call: &Call<'_>, language: &str, text: &str) {
    let _ = call;
    if evaluator.charge(text.len()) {
        evaluator
            .scripts
            .push((language.to_owned(), text.to_owned()));
    }
}
