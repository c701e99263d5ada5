//! Commands of Windows shells: `cmd /c`, PowerShell, paths with backslashes.

use super::call::Call;
use super::codec;
use super::cursor::Base;
use super::evaluator::Evaluator;
use super::limits::MAX_DECODED;
use super::model::Origin;
use super::parser::Dialect;
use super::scope::{Field, Printed};
use super::{interpreters, shells};

/// Programs whose arguments are Windows paths more often than escapes.
const PATH_PROGRAMS: &[&str] = &[
    "type",
    "dir",
    "copy",
    "xcopy",
    "robocopy",
    "move",
    "del",
    "erase",
    "ren",
    "findstr",
    "gc",
    "gci",
    "Get-Content",
    "Get-ChildItem",
    "Copy-Item",
    "Move-Item",
    "Select-String",
    "sls",
    "notepad",
    "certutil",
];

/// Gives the arguments of Windows programs their backslashes back.
///
/// POSIX quoting would read `eval\gt_diff.patch` as `evalgt_diff.patch`. For `type` and its kin a
/// backslash in front of a letter, digit, dot or wildcard separates directories.
pub(super) fn restore_backslashes(argv: &mut [Field]) {
    let Some((program, arguments)) = argv.split_first_mut() else {
        return;
    };
    if !PATH_PROGRAMS.contains(&program.text.as_str()) {
        return;
    }
    for argument in arguments {
        if let Some(path) = path_source(argument) {
            argument.text = path.to_owned();
        }
    }
}

/// An argument as written, if its backslashes look like those of a path.
fn path_source(argument: &Field) -> Option<&str> {
    let source = argument.source.as_deref()?;
    let quotes = source.contains(['\'', '"', '$', '`']);
    let separates = source
        .as_bytes()
        .windows(2)
        .all(|pair| pair.first() != Some(&b'\\') || pair.get(1).is_some_and(is_path_byte));
    (!quotes && separates).then_some(source)
}

/// Words joined by blanks, with their backslashes.
fn join_paths(words: &[Field]) -> String {
    let texts: Vec<&str> = words
        .iter()
        .map(|word| path_source(word).unwrap_or(&word.text))
        .collect();
    texts.join(" ")
}

fn is_path_byte(b: &u8) -> bool {
    b.is_ascii_alphanumeric() || matches!(b, b'.' | b'*' | b'_' | b'\\')
}

/// `cmd /c text`: carets escape, the rest is close enough to a shell.
pub(super) fn command_prompt(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Printed> {
    let arguments = call.arguments();
    let at = arguments.iter().position(|field| {
        let text = field.text.trim_start_matches('/');
        text.eq_ignore_ascii_case("c") || text.eq_ignore_ascii_case("k")
    })?;
    let rest = arguments.get(at + 1..).filter(|rest| !rest.is_empty())?;
    let (_, base) = shells::joined(call, rest);
    let text = join_paths(rest);
    let context = call.script_context(Origin::Script);
    let base = if text.contains('^') {
        Base::Fixed(call.offset)
    } else {
        base
    };
    let text = text.replace('^', "");
    Some(Printed(evaluator.text_in(
        Dialect::Windows,
        &text,
        base,
        &context,
    )))
}

/// `powershell -Command text` and `-EncodedCommand base64`.
///
/// The text is kept as a script of that language; its simple commands are read like a shell's.
pub(super) fn powershell(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Printed> {
    let mut rest = call.arguments();
    let mut text = None;
    while let Some((field, after)) = rest.split_first() {
        let option = field.text.trim_start_matches('-').to_ascii_lowercase();
        let is_option = field.text.starts_with('-') && !option.is_empty();
        if is_option && "encodedcommand".starts_with(&option) && option.starts_with('e') {
            let bytes = codec::base64(after.first()?.text.as_bytes(), MAX_DECODED)?;
            text = Some((utf16(&bytes), Origin::Decoded));
            break;
        }
        if is_option && ("command".starts_with(&option) || option == "c") {
            text = Some((join_paths(after), Origin::Script));
            break;
        }
        if is_option && "file".starts_with(&option) {
            let file = after.first()?;
            let known = evaluator.file(file)?;
            evaluator.note_run(file);
            text = Some((known.text(), Origin::Script));
            break;
        }
        rest = after;
        if is_option
            && matches!(
                option.as_str(),
                "executionpolicy"
                    | "ep"
                    | "ex"
                    | "version"
                    | "windowstyle"
                    | "w"
                    | "workingdirectory"
            )
        {
            rest = rest.get(1..).unwrap_or_default();
        } else if !is_option {
            text = Some((join_paths(call.arguments()), Origin::Script));
            break;
        }
    }
    let (text, origin) = match text {
        Some(found) => found,
        None => (call.input()?.0, Origin::Script),
    };
    let context = call.script_context(origin);
    interpreters::source(evaluator, call, "powershell", &text);
    // The backtick escapes; the call operator and script blocks mean nothing to us.
    let shell = assigning(&text.replace('`', ""));
    let base = Base::Fixed(call.offset);
    Some(Printed(evaluator.text_in(
        Dialect::Windows,
        &shell,
        base,
        &context,
    )))
}

/// `$u = "x"; irm $u` as a shell would write it: `u="x"; irm $u`.
fn assigning(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for statement in text.split_inclusive(['\n', ';']) {
        let written = statement.trim_start();
        let assigned = written.strip_prefix('$').and_then(|rest| {
            let (name, value) = rest.split_once('=')?;
            let value = value.trim_start();
            let literal =
                value.starts_with(['"', '\'']) || value.starts_with(|c: char| c.is_ascii_digit());
            let plain = name.trim_end().bytes().all(super::parser::is_name);
            (plain && literal).then(|| format!("{}={value}", name.trim_end()))
        });
        out.push_str(assigned.as_deref().unwrap_or(statement));
    }
    out
}

/// UTF-16, little endian, as PowerShell encodes commands.
fn utf16(bytes: &[u8]) -> String {
    let units = bytes.chunks_exact(2).map(|pair| {
        let low = pair.first().copied().unwrap_or_default();
        let high = pair.get(1).copied().unwrap_or_default();
        u16::from_le_bytes([low, high])
    });
    char::decode_utf16(units)
        .map(|unit| unit.unwrap_or(char::REPLACEMENT_CHARACTER))
        .collect()
}
