//! Brace expansion: `{git,show,X}` is three words.

use super::ast::{Part, RawWord};
use super::limits::{MAX_BRACE_WORDS, MAX_WORD};

/// What the braces of a word come to.
#[derive(Debug)]
pub(crate) enum Braces {
    /// There are none.
    None,
    /// The word stands for these words.
    Words(Vec<RawWord>),
    /// They stand for so many words that the word is left alone.
    TooMany,
}

/// The words that a word with unquoted braces stands for.
pub(crate) fn expand(word: &RawWord) -> Braces {
    let pieces = match pieces(&word.parts) {
        Ok(Some(pieces)) => pieces,
        Ok(None) => return Braces::None,
        Err(TooMany) => return Braces::TooMany,
    };
    let mut done: Vec<Vec<Piece>> = Vec::new();
    let mut todo = vec![pieces];
    while let Some(candidate) = todo.pop() {
        match split_first_group(&candidate) {
            Ok(Some(alternatives)) => todo.extend(alternatives.into_iter().rev()),
            Ok(None) => done.push(candidate),
            Err(TooMany) => return Braces::TooMany,
        }
        if done.len() + todo.len() > MAX_BRACE_WORDS {
            return Braces::TooMany;
        }
    }
    if done.len() > 1 {
        Braces::Words(done.into_iter().map(join).collect())
    } else {
        Braces::None
    }
}

/// More pieces or alternatives than are worth telling apart.
struct TooMany;

/// A word in the grain that braces need.
#[derive(Debug, Clone)]
enum Piece {
    Open,
    Comma,
    Close,
    /// Anything else.
    Rest(Part),
}

/// Cuts the parts at unquoted braces and commas; `None` if the word cannot have a group.
fn pieces(parts: &[Part]) -> Result<Option<Vec<Piece>>, TooMany> {
    /// Words with more pieces or longer texts are data, not a trick.
    const MAX_PIECES: usize = 1024;
    let unquoted = |part: &Part| match part {
        Part::Literal {
            text,
            quoted: false,
        } => text.contains('{'),
        _ => false,
    };
    if !parts.iter().any(unquoted) {
        return Ok(None);
    }
    let mut out = Vec::new();
    let mut groups = 0_usize;
    let mut length = 0_usize;
    for part in parts {
        if let Part::Literal { text, .. } = part {
            length = length.saturating_add(text.len());
        }
        if out.len() > MAX_PIECES || length > MAX_WORD {
            return Err(TooMany);
        }
        let Part::Literal {
            text,
            quoted: false,
        } = part
        else {
            out.push(Piece::Rest(part.clone()));
            continue;
        };
        for chunk in text.split_inclusive(['{', ',', '}']) {
            let plain = chunk.trim_end_matches(['{', ',', '}']);
            if !plain.is_empty() {
                out.push(Piece::Rest(Part::Literal {
                    text: plain.to_owned(),
                    quoted: false,
                }));
            }
            match chunk.bytes().last() {
                Some(b'{') => {
                    groups += 1;
                    out.push(Piece::Open);
                }
                Some(b',') => out.push(Piece::Comma),
                Some(b'}') => out.push(Piece::Close),
                _ => {}
            }
        }
    }
    match groups {
        0 => Ok(None),
        _ if groups > MAX_BRACE_WORDS || out.len() > MAX_PIECES => Err(TooMany),
        _ => Ok(Some(out)),
    }
}

/// Replaces the first complete group by each of its alternatives.
fn split_first_group(pieces: &[Piece]) -> Result<Option<Vec<Vec<Piece>>>, TooMany> {
    let opens = pieces
        .iter()
        .enumerate()
        .filter(|(_, piece)| matches!(piece, Piece::Open))
        .map(|(at, _)| at);
    for open in opens {
        let Some((before, [_, inside @ ..])) = pieces.split_at_checked(open) else {
            continue;
        };
        if let Some((alternatives, after)) = group_alternatives(inside) {
            if alternatives.len() > MAX_BRACE_WORDS {
                return Err(TooMany);
            }
            let whole = alternatives
                .into_iter()
                .map(|chosen| [before, &chosen, after].concat())
                .collect();
            return Ok(Some(whole));
        }
    }
    Ok(None)
}

/// The alternatives of a group, read after its opening brace, and what follows it.
fn group_alternatives(inside: &[Piece]) -> Option<(Vec<Vec<Piece>>, &[Piece])> {
    let mut alternatives = vec![Vec::new()];
    let mut depth = 0_usize;
    for (at, piece) in inside.iter().enumerate() {
        match piece {
            Piece::Close if depth == 0 => {
                let after = inside.get(at + 1..)?;
                if alternatives.len() > 1 {
                    return Some((alternatives, after));
                }
                let range = sequence(alternatives.first()?)?;
                return Some((range, after));
            }
            Piece::Comma if depth == 0 => {
                alternatives.push(Vec::new());
                continue;
            }
            Piece::Open => depth += 1,
            Piece::Close => depth -= 1,
            _ => {}
        }
        alternatives.last_mut()?.push(piece.clone());
    }
    None
}

/// `1..5` or `a..e`.
fn sequence(group: &[Piece]) -> Option<Vec<Vec<Piece>>> {
    let [
        Piece::Rest(Part::Literal {
            text,
            quoted: false,
        }),
    ] = group
    else {
        return None;
    };
    let (from, to) = text.split_once("..")?;
    let texts: Vec<String> = if let (Ok(from), Ok(to)) = (from.parse::<i64>(), to.parse::<i64>()) {
        let length = from.abs_diff(to);
        if length >= MAX_BRACE_WORDS as u64 {
            return None;
        }
        let mut numbers: Vec<i64> = (from.min(to)..=from.max(to)).collect();
        if to < from {
            numbers.reverse();
        }
        numbers.iter().map(i64::to_string).collect()
    } else {
        let mut from = from.chars();
        let mut to = to.chars();
        match (from.next()?, from.next(), to.next()?, to.next()) {
            (from, None, to, None) if from.is_ascii_alphabetic() && from <= to && to <= 'z' => {
                (from..=to).map(String::from).collect()
            }
            _ => return None,
        }
    };
    let pieces = texts.into_iter().map(|text| {
        vec![Piece::Rest(Part::Literal {
            text,
            quoted: false,
        })]
    });
    Some(pieces.collect())
}

fn join(pieces: Vec<Piece>) -> RawWord {
    let literal = |text: &str| Part::Literal {
        text: text.to_owned(),
        quoted: false,
    };
    let parts = pieces.into_iter().map(|piece| match piece {
        Piece::Open => literal("{"),
        Piece::Comma => literal(","),
        Piece::Close => literal("}"),
        Piece::Rest(part) => part,
    });
    RawWord {
        parts: parts.collect(),
        ..RawWord::default()
    }
}
