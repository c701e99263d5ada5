//! What simple commands print, when it is certain: `echo`, `printf`, `cat` and decoders.
//!
//! Commands hidden by an encoding (`echo … | base64 -d | sh`) come to light this way, and only
//! known input is ever decoded; nothing is run.

use super::call::Call;
use super::escapes::unescape;
use super::evaluator::Evaluator;
use super::limits::{MAX_DECODE_DEPTH, MAX_DECODED};
use super::scope::{Field, Known};
use super::wrappers::Options;
use super::{codec, inflate};

/// What a call prints; `None` if that is not known.
pub(super) fn output(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Known> {
    let arguments = call.arguments();
    let printed = match call.program() {
        ":" | "true" | "cd" | "export" | "set" | "unset" | "alias" | "chmod" | "mkdir"
        | "touch" | "rm" | "sleep" | "let" => Known::empty(),
        "echo" => echo(arguments)?,
        "printf" if arguments.first().is_some_and(|first| first.text == "-v") => Known::empty(),
        "printf" => formatted(arguments)?,
        "expr" => expression(evaluator, arguments)?,
        "seq" => sequence(arguments)?,
        "which" | "command" | "type" => location(arguments)?,
        "mktemp" => temporary(evaluator, arguments)?,
        "cat" | "tee" => input(evaluator, call)?,
        "rev" => map_text(&input(evaluator, call)?, reverse_lines),
        "tac" => map_text(&input(evaluator, call)?, |text| {
            let lines: Vec<&str> = text.lines().rev().collect();
            lines.join("\n") + "\n"
        }),
        "tr" => translate(&input(evaluator, call)?, arguments)?,
        _ => decode(evaluator, call)?,
    };
    let length = printed.bytes.len();
    (length <= MAX_DECODED && evaluator.charge(length)).then_some(printed)
}

/// `expr 48200 + 13`
fn expression(evaluator: &mut Evaluator, arguments: &[Field]) -> Option<Known> {
    // No names: each word is a number or a sign.
    let plain = |field: &Field| !field.dynamic && !field.text.contains(char::is_alphabetic);
    if !arguments.iter().all(plain) {
        return None;
    }
    let text = super::wrappers::join(arguments);
    let number = evaluator.compute(&text)?;
    Some(Known::new(format!("{number}\n").as_bytes(), 0))
}

/// `seq 1 5`
fn sequence(arguments: &[Field]) -> Option<Known> {
    /// Longer lists are not told apart.
    const MOST: usize = 1024;
    let number = |field: &Field| field.text.parse::<i64>().ok().filter(|_| !field.dynamic);
    let (first, step, last) = match arguments {
        [last] => (1, 1, number(last)?),
        [first, last] => (number(first)?, 1, number(last)?),
        [first, step, last] => (number(first)?, number(step)?, number(last)?),
        _ => return None,
    };
    let mut out = String::new();
    let mut at = first;
    for _ in 0..MOST {
        if step == 0 || step > 0 && at > last || step < 0 && at < last {
            return (step != 0).then(|| Known::new(out.as_bytes(), 0));
        }
        out.push_str(&at.to_string());
        out.push('\n');
        at = at.checked_add(step)?;
    }
    None
}

/// `$(which git)`, `$(command -v git)`: a path to the program, whose base name is what counts.
fn location(arguments: &[Field]) -> Option<Known> {
    let mut names = arguments
        .iter()
        .filter(|field| !field.text.starts_with('-'));
    match (names.next(), names.next()) {
        (Some(name), None) if !name.dynamic => {
            let line = format!("{}\n", name.text);
            Some(Known::new(line.as_bytes(), name.decoded))
        }
        _ => None,
    }
}

/// `$(mktemp -d)`: a name that nothing else has. It is invented, but where it lies is known, and that it is the
/// same wherever it is used.
fn temporary(evaluator: &mut Evaluator, arguments: &[Field]) -> Option<Known> {
    let mut directory = None;
    let mut template = None;
    let known = |field: &'_ Field| (!field.dynamic).then(|| field.text.clone());
    let mut rest = arguments.iter().map(known);
    while let Some(argument) = rest.next() {
        let argument = argument?;
        match argument.as_str() {
            "-p" => directory = Some(rest.next()??),
            "-t" | "--tmpdir" => directory = directory.or_else(|| Some("/tmp".to_owned())),
            flag if flag.starts_with('-') => {
                let given = flag
                    .strip_prefix("--tmpdir=")
                    .or_else(|| flag.strip_prefix("-p"));
                directory = given.map(str::to_owned).or(directory);
            }
            _ => template = Some(argument),
        }
    }
    let unique = evaluator.unique();
    let name = match &template {
        Some(name) => match name.find("XXX") {
            Some(at) => {
                let (head, tail) = name.split_at_checked(at)?;
                format!("{head}{unique}{}", tail.trim_start_matches('X'))
            }
            None => format!("{name}.{unique}"),
        },
        None => format!("tmp.{unique}"),
    };
    let directory = directory.or_else(|| template.is_none().then(|| "/tmp".to_owned()));
    let path = match directory {
        Some(directory) => format!("{}/{name}\n", directory.trim_end_matches('/')),
        None => format!("{name}\n"),
    };
    Some(Known::new(path.as_bytes(), 0))
}

fn map_text(known: &Known, change: impl Fn(&str) -> String) -> Known {
    // Reversing and translating hide a text as encoding does.
    Known::new(change(&known.text()).as_bytes(), known.decoded.max(1))
}

fn reverse_lines(text: &str) -> String {
    let reversed = text
        .split('\n')
        .map(|line| line.chars().rev().collect::<String>());
    reversed.collect::<Vec<_>>().join("\n")
}

/// Known standard input, or the known content of the files that are named.
fn input(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Known> {
    let arguments = call.arguments();
    let mut files = arguments
        .iter()
        .filter(|field| !field.text.starts_with('-') || field.text == "-")
        .peekable();
    let names_files = matches!(call.program(), "cat" | "rev" | "tac") || is_decoder(call);
    if !names_files || files.peek().is_none() {
        return standard_input(call);
    }
    let mut all = Some(Known::empty());
    for file in files {
        let content = if matches!(file.text.as_str(), "-" | "/dev/stdin") {
            standard_input(call)
        } else {
            evaluator.file(file)
        };
        all = evaluator.concatenate(all, content);
    }
    all
}

fn standard_input(call: &Call<'_>) -> Option<Known> {
    if let (Some(text), None) = (&call.heredoc, &call.stdin) {
        return Some(Known::new(text.as_bytes(), 0));
    }
    call.stdin.clone()
}

fn echo(arguments: &[Field]) -> Option<Known> {
    let mut rest = arguments;
    let (mut newline, mut escapes) = (true, false);
    while let Some((field, after)) = rest.split_first() {
        let Some(letters) = field.text.strip_prefix('-') else {
            break;
        };
        if letters.is_empty() || letters.contains(|c| !matches!(c, 'n' | 'e' | 'E')) {
            break;
        }
        newline &= !letters.contains('n');
        escapes = (escapes || letters.contains('e')) && !letters.ends_with('E');
        rest = after;
    }
    let (mut bytes, decoded) = joined(rest)?;
    if escapes {
        bytes = unescape(&String::from_utf8_lossy(&bytes));
    }
    if newline {
        bytes.push(b'\n');
    }
    Some(Known::new(&bytes, decoded))
}

/// The arguments with blanks between; `None` if one of them is not known.
fn joined(arguments: &[Field]) -> Option<(Vec<u8>, u8)> {
    let mut bytes = Vec::new();
    let mut decoded = 0;
    for (at, field) in arguments.iter().enumerate() {
        if field.dynamic {
            return None;
        }
        if at > 0 {
            bytes.push(b' ');
        }
        bytes.extend_from_slice(field.text.as_bytes());
        decoded = decoded.max(field.decoded);
    }
    Some((bytes, decoded))
}

/// `printf` with `%s`, `%b`, `%d`, `%c`, `%q` and `%%`; other directives are not followed.
pub(super) fn formatted(arguments: &[Field]) -> Option<Known> {
    let arguments = match arguments {
        [first, rest @ ..] if first.text == "--" => rest,
        all => all,
    };
    let (format, values) = arguments.split_first()?;
    if format.dynamic || values.iter().any(|field| field.dynamic) {
        return None;
    }
    let mut decoded = format.decoded;
    let mut values = values.iter();
    let mut out = Vec::new();
    loop {
        let before = values.len();
        let mut pieces = format.text.split('%');
        out.extend(unescape(pieces.next().unwrap_or_default()));
        while let Some(piece) = pieces.next() {
            if piece.is_empty() {
                // `%%`: an empty piece, then the text behind the second sign.
                out.push(b'%');
                out.extend(unescape(pieces.next().unwrap_or_default()));
                continue;
            }
            let directive = piece.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit());
            let mut rest = directive.chars();
            let value = match rest.next()? {
                's' | 'd' | 'i' | 'q' => values.next().map(|v| v.text.clone().into_bytes()),
                'b' => values.next().map(|v| unescape(&v.text)),
                'c' => values
                    .next()
                    .map(|v| v.text.chars().take(1).collect::<String>().into_bytes()),
                _ => return None,
            };
            out.extend(value.unwrap_or_default());
            out.extend(unescape(rest.as_str()));
        }
        if out.len() > MAX_DECODED {
            return None;
        }
        if values.len() == 0 || values.len() == before {
            break;
        }
    }
    decoded = decoded.max(arguments.iter().map(|field| field.decoded).max()?);
    Some(Known::new(&out, decoded))
}

/// `tr` with plain characters and ranges, and `tr -d`.
fn translate(known: &Known, arguments: &[Field]) -> Option<Known> {
    let deletes = arguments.iter().any(|field| field.text == "-d");
    let mut sets = arguments
        .iter()
        .filter(|field| !field.text.starts_with('-') || field.text.len() == 1)
        .map(|field| character_set(&field.text));
    let from = sets.next()??;
    if deletes {
        return Some(Known::new(
            known
                .text()
                .chars()
                .filter(|c| !from.contains(c))
                .collect::<String>()
                .as_bytes(),
            known.decoded,
        ));
    }
    let to = sets.next()??;
    let last = to.last().copied()?;
    let map = |c: char| match from.iter().position(|f| *f == c) {
        Some(at) => to.get(at).copied().unwrap_or(last),
        None => c,
    };
    Some(map_text(known, |text| text.chars().map(map).collect()))
}

/// The characters of a `tr` set, at most 512.
fn character_set(text: &str) -> Option<Vec<char>> {
    const MOST: usize = 512;
    let text = String::from_utf8(unescape(text)).ok()?;
    let text = match text.as_str() {
        "[:upper:]" => "A-Z".to_owned(),
        "[:lower:]" => "a-z".to_owned(),
        other if other.contains("[:") => return None,
        _ => text,
    };
    let chars: Vec<char> = text.chars().take(MOST + 1).collect();
    let mut out = Vec::new();
    let mut rest = chars.as_slice();
    loop {
        match rest {
            [from, '-', to, after @ ..] if from <= to => {
                out.extend(*from..=*to);
                rest = after;
            }
            [one, after @ ..] => {
                out.push(*one);
                rest = after;
            }
            [] => break,
        }
        if out.len() > MOST {
            return None;
        }
    }
    Some(out)
}

fn is_decoder(call: &Call<'_>) -> bool {
    matches!(
        call.program(),
        "base64" | "gbase64" | "base32" | "openssl" | "xxd" | "gzip" | "gunzip" | "zcat"
    )
}

/// Decoders: each takes one layer off.
fn decode(evaluator: &mut Evaluator, call: &Call<'_>) -> Option<Known> {
    if !is_decoder(call) {
        return None;
    }
    let options = Options::read(call.arguments(), &["-w", "--wrap"]);
    let texts = || call.arguments().iter().map(|field| field.text.as_str());
    let has = |letter: char| {
        options.given.iter().any(|(name, _)| {
            name.starts_with('-') && !name.starts_with("--") && name.contains(letter)
        })
    };
    type Decoder = fn(&[u8], usize) -> Option<Vec<u8>>;
    let decoder: Decoder = match call.program() {
        "base64" | "gbase64" if has('d') || has('D') || options.has(&["--decode"]) => codec::base64,
        "base32" if has('d') || options.has(&["--decode"]) => codec::base32,
        "openssl" if texts().any(|t| t == "-d") && texts().any(|t| t.contains("base64")) => {
            codec::base64
        }
        "xxd" if has('r') && (has('p') || options.has(&["-ps", "-plain"])) => codec::hex,
        "gunzip" | "zcat" => inflate::gzip,
        "gzip" if has('d') || options.has(&["--decompress"]) => inflate::gzip,
        _ => return None,
    };
    let known = if call.program() == "openssl" {
        standard_input(call)
    } else {
        input(evaluator, call)
    }?;
    if known.decoded >= MAX_DECODE_DEPTH {
        evaluator.incomplete = true;
        return None;
    }
    let bytes = decoder(&known.bytes, MAX_DECODED)?;
    Some(Known::new(&bytes, known.decoded + 1))
}
