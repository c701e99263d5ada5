//! Interpreters of other languages: their source texts are kept, and what they start is noted.

use super::call::Call;
use super::embedded;
use super::evaluator::Evaluator;
use super::model::{Join, Origin, Script};
use super::programs::language;
use super::scope::Field;
use super::wrappers::Options;

/// Options with a value that says nothing to us, by language.
fn value_options(language: &str) -> &'static [&'static str] {
    match language {
        "python" => &["-W", "-X", "-Q", "--check-hash-based-pycs"],
        "node" => &["-r", "--require", "--import", "--loader", "-C"],
        "php" => &["-d", "-c"],
        "ruby" => &["-I", "-C"],
        "perl" => &["-I"],
        _ => &[],
    }
}

/// Where an option says that source text follows.
enum Source<'f> {
    No,
    /// In the next word.
    Next,
    /// In the rest of this one.
    Here(&'f str),
}

fn source_option<'f>(language: &str, option: &'f str) -> Source<'f> {
    let letters = option
        .strip_prefix('-')
        .filter(|letters| !letters.starts_with('-'));
    match (language, letters) {
        ("python", Some(letters)) => match letters.split_once('c') {
            Some((flags, "")) if !flags.contains(['W', 'X', 'm']) => Source::Next,
            Some((flags, code)) if !flags.contains(['W', 'X', 'm']) => Source::Here(code),
            _ => Source::No,
        },
        // `-lne`; but `-MModule` and `-Ipath` end in whatever they name.
        ("perl" | "ruby", Some(letters)) if !letters.starts_with(['M', 'm', 'I', 'r']) => {
            if letters.ends_with(['e', 'E']) {
                Source::Next
            } else {
                Source::No
            }
        }
        _ if plain_options(language).contains(&option) => Source::Next,
        ("node", _) => match option.strip_prefix("--eval=") {
            Some(code) => Source::Here(code),
            None => Source::No,
        },
        _ => Source::No,
    }
}

fn plain_options(language: &str) -> &'static [&'static str] {
    match language {
        "node" => &["-e", "-p", "-pe", "--eval", "--print", "eval"],
        "php" => &["-r", "--run"],
        "lua" | "applescript" | "r" => &["-e"],
        "julia" => &["-e", "-E", "--eval", "--print"],
        _ => &[],
    }
}

/// Notes the source text that an interpreter call runs.
pub(super) fn run(evaluator: &mut Evaluator, call: &Call<'_>) {
    if let ("go", [verb, file, ..]) = (call.program(), call.arguments())
        && verb.text == "run"
    {
        self::file(evaluator, call, "go", file);
        return;
    }
    let Some(language) = language(call.program()) else {
        return;
    };
    let arguments = call.arguments();
    if language == "awk" {
        awk(evaluator, call);
        return;
    }
    let mut rest = arguments;
    // `deno run -A -`, `bun run x.ts`
    if matches!(call.program(), "deno" | "bun")
        && rest.first().is_some_and(|first| first.text == "run")
    {
        rest = rest.get(1..).unwrap_or_default();
    }
    while let Some((field, after)) = rest.split_first() {
        let text = field.text.as_str();
        if text == "-m" && language == "python" {
            if !after.is_empty() {
                let mut inner = call.wrapped(after);
                inner.context.join = Join::First;
                evaluator.nested(inner);
            }
            return;
        }
        match source_option(language, text) {
            Source::Next => {
                if let Some(code) = after.first() {
                    field_source(evaluator, call, language, code);
                }
                return;
            }
            Source::Here(code) => {
                source(evaluator, call, language, code);
                return;
            }
            Source::No => {}
        }
        if !text.starts_with('-') || text == "-" {
            file(evaluator, call, language, field);
            return;
        }
        rest = after;
        if value_options(language).contains(&text) {
            rest = rest.get(1..).unwrap_or_default();
        }
    }
    if let Some(input) = input_field(call) {
        field_source(evaluator, call, language, &input);
    }
}

/// `awk -v s=value program`, `awk -f file`: only what starts something matters.
fn awk(evaluator: &mut Evaluator, call: &Call<'_>) {
    let options = Options::read(call.arguments(), &["-F", "-v", "-f"]);
    let text = match options.value(&["-f", "--file"]) {
        Some(file) => match evaluator.file(&file) {
            Some(known) => {
                evaluator.note_run(&file);
                known.text()
            }
            None => return,
        },
        None => options
            .rest
            .first()
            .map_or(String::new(), |program| program.text.clone()),
    };
    if !text.contains("system") && !text.contains('|') {
        return;
    }
    // What is set beforehand stands as if it were set in the program.
    let mut program = String::new();
    for (name, value) in &options.given {
        let Some((name, value)) = value
            .as_ref()
            .filter(|_| name == "-v")
            .and_then(|v| v.text.split_once('='))
        else {
            continue;
        };
        program.push_str(&format!("{name} = {value:?};"));
    }
    program.push_str(&text);
    source(evaluator, call, "awk", &program);
}

/// The standard input as a field.
fn input_field(call: &Call<'_>) -> Option<Field> {
    let (text, decoded, _) = call.input()?;
    Some(Field {
        decoded,
        ..Field::plain(&text)
    })
}

/// Source text in an argument or input, which may have been decoded.
fn field_source(evaluator: &mut Evaluator, call: &Call<'_>, language: &str, code: &Field) {
    if code.decoded == 0 {
        return source(evaluator, call, language, &code.text);
    }
    let mut decoded = call.clone();
    decoded.context.origin = Origin::Decoded;
    source(evaluator, &decoded, language, &code.text);
}

/// `python file.py`, `python -`, `python /dev/stdin`.
fn file(evaluator: &mut Evaluator, call: &Call<'_>, language: &str, name: &Field) {
    if matches!(name.text.as_str(), "-" | "/dev/stdin") {
        if let Some(code) = input_field(call) {
            field_source(evaluator, call, language, &code);
        }
        return;
    }
    let Some(known) = evaluator.file(name) else {
        return;
    };
    evaluator.note_run(name);
    let mut call = call.clone();
    if known.decoded > 0 {
        call.context.origin = Origin::Decoded;
    }
    of_file(evaluator, &call, language, &known.text(), &name.text);
}

/// A source text from a file.
pub(super) fn of_file(
    evaluator: &mut Evaluator,
    call: &Call<'_>,
    language: &str,
    text: &str,
    file: &str,
) {
    let before = evaluator.scripts.len();
    source(evaluator, call, language, text);
    if let Some(script) = evaluator.scripts.get_mut(before) {
        script.file = Some(file.to_owned());
    }
}

/// Keeps a source text and notes what it starts.
pub(super) fn source(evaluator: &mut Evaluator, call: &Call<'_>, language: &str, text: &str) {
    let room = text.len() + size_of::<Script>();
    if evaluator.charge(text.len()) && evaluator.make_room(room) {
        evaluator.scripts.push(Script {
            language: language.to_owned(),
            text: text.to_owned(),
            file: None,
        });
        embedded::search(evaluator, call, language, &super::inert::live(text));
    }
}
