//! Replacements of one text by another that a command spells out: `sed -i 's/a/b/'`, `perl -pi -e`, `sd a b`,
//! `text.replace("a", "b")` in a script.
//!
//! Recognition, not parsing: what is found here makes a line the agent's only when a known line becomes exactly a
//! line of the patch (see `derived`), and both texts were typed. Only literal texts count; a pattern that stands for
//! many texts is left alone.

/// Replacements of one command.
const MAX_FOUND: usize = 64;

/// Bytes of one side.
const MAX_SIDE: usize = 2048;

/// The replacements, in order: what is replaced, and by what.
pub(super) fn substitutions(command: &str) -> Vec<(String, String)> {
    let word = |name: &str| {
        let mut words = command.split(|c: char| !(c.is_ascii_alphanumeric() || "_-.".contains(c)));
        words.any(|w| w == name)
    };
    let mut out = Vec::new();
    if word("sed") || word("gsed") || word("perl") {
        let extended = word("perl") || word("-E") || word("-r") || command.contains("-Ei");
        scripts(&command.replace(r"'\''", "'"), extended, &mut out);
    }
    if word("sd") {
        for (at, _) in command.match_indices("sd ").take(MAX_FOUND) {
            let rest = command.get(at + 3..).unwrap_or_default();
            let rest = rest.trim_start_matches(['-', 's', 'F', ' ']);
            pair(rest, |after| Some(after.trim_start()), &mut out);
        }
    }
    for (at, found) in command.match_indices(".replace(").take(MAX_FOUND) {
        let rest = command.get(at + found.len()..).unwrap_or_default();
        pair(rest.trim_start(), after_comma, &mut out);
    }
    out.truncate(MAX_FOUND);
    out
}

/// Two strings, the second where `next` says after the first.
fn pair(text: &str, next: fn(&str) -> Option<&str>, out: &mut Vec<(String, String)>) {
    if let Some((old, after)) = string(text)
        && let Some(after) = next(after)
        && let Some((new, _)) = string(after)
    {
        out.push((old, new));
    }
}

fn after_comma(text: &str) -> Option<&str> {
    Some(text.trim_start().strip_prefix(',')?.trim_start())
}

/// A quoted string at the beginning of a text, and what follows it.
fn string(text: &str) -> Option<(String, &str)> {
    let quote = ["\"\"\"", "'''", "\"", "'"]
        .into_iter()
        .find(|quote| text.starts_with(quote))?;
    let rest = text.get(quote.len()..)?;
    let mut out = String::new();
    let mut escaped = false;
    for (at, c) in rest.char_indices() {
        if out.len() > MAX_SIDE {
            return None;
        }
        if escaped {
            escaped = false;
            out.push(match c {
                'n' => '\n',
                't' => '\t',
                c => c,
            });
        } else if c == '\\' {
            escaped = true;
        } else if rest.get(at..)?.starts_with(quote) {
            return Some((out, rest.get(at + quote.len()..)?));
        } else {
            out.push(c);
        }
    }
    None
}

/// The `s/old/new/` of a text.
fn scripts(text: &str, extended: bool, out: &mut Vec<(String, String)>) {
    let mut before = ' ';
    let mut from = 0;
    for (at, c) in text.char_indices() {
        let starts = c == 's' && !(before.is_alphabetic() || "_-.\\".contains(before));
        before = c;
        if at < from || !starts {
            continue;
        }
        if out.len() >= MAX_FOUND {
            return;
        }
        let rest = text.get(at + 1..).unwrap_or_default();
        let Some(sign) = rest.chars().next().filter(|c| "/|#,@!:~%".contains(*c)) else {
            continue;
        };
        let rest = rest.get(1..).unwrap_or_default();
        let Some((old, after)) = side(rest, sign) else {
            continue;
        };
        let Some((new, left)) = side(after, sign) else {
            continue;
        };
        from = text.len() - left.len();
        if let (Some(old), Some(new)) = (literal(old, sign, extended), by(new)) {
            let new = new.replace('\u{0}', &old);
            out.push((old, new));
        }
    }
}

/// The text up to a sign that is not escaped, and what follows it.
pub(super) fn side(text: &str, sign: char) -> Option<(&str, &str)> {
    let mut escaped = false;
    for (at, c) in text.char_indices() {
        if at > MAX_SIDE || c == '\n' && !escaped {
            return None;
        }
        if !escaped && c == sign {
            return Some((text.get(..at)?, text.get(at + 1..)?));
        }
        escaped = c == '\\' && !escaped;
    }
    None
}

/// The text that a pattern stands for, when it is one: a point for itself, anchors and edges of words for nothing.
fn literal(pattern: &str, sign: char, extended: bool) -> Option<String> {
    let pattern = pattern.strip_prefix('^').unwrap_or(pattern);
    let mut out = String::new();
    let mut chars = pattern.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                'b' | '<' | '>' => {}
                c if c == sign => out.push(c),
                c if "(){}|+?".contains(c) && !extended => return None,
                c if c.is_ascii_punctuation() => out.push(c),
                _ => return None,
            },
            '$' if chars.peek().is_none() => {}
            '*' | '[' => return None,
            c if extended && "(){}|+?".contains(c) => return None,
            c => out.push(c),
        }
    }
    (!out.is_empty()).then_some(out)
}

/// What is put in place; a NUL stands for what was there.
fn by(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next()? {
                'n' | '\n' => out.push('\n'),
                't' => out.push('\t'),
                c if c.is_ascii_punctuation() => out.push(c),
                _ => return None,
            },
            '&' => out.push('\u{0}'),
            '$' if chars
                .peek()
                .is_some_and(|c| c.is_ascii_digit() || "{&".contains(*c)) =>
            {
                return None;
            }
            c => out.push(c),
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn replacements_of_texts() {
        for (command, want) in [
            ("sed -i 's/tries/attempts/g' a.py", &[("tries", "attempts")][..]),
            (r"grep -rl x pkg | xargs sed -i 's/legacy(/modern(/;s/conn\.fetch/db.fetch/'", &[("legacy(", "modern("), ("conn.fetch", "db.fetch")]),
            (r"sed -i -e '3,9s|a/b|c/d|' -e '/x/s#\<p\>#q#' f", &[("a/b", "c/d"), ("p", "q")]),
            (r#"sed -i "s/sort_keys=True/&, ensure_ascii=False/" f"#, &[("sort_keys=True", "sort_keys=True, ensure_ascii=False")]),
            (r"perl -pi -e 's/\bold\(x\)$/new(x, 1)/' f", &[("old(x)", "new(x, 1)")]),
            ("sd -s 'a(b)' 'c(b)' f", &[("a(b)", "c(b)")]),
            ("python3 - <<'E'\ns = s.replace(\"a\\n\", 'b\"')\nE", &[("a\n", "b\"")]),
            ("sed -i 's/a.*b/c/' f", &[]),
            (r"sed -i 's/\(a\)b/\1c/' f", &[]),
            ("sed -E -i 's/(a)b/c/' f", &[]),
            ("perl -pi -e 's/ab/$1c/' f", &[]),
            ("ls s/a/b/", &[]),
            ("sed -i s/a", &[]),
            ("", &[]),
        ] {
            let got = substitutions(command);
            let got: Vec<_> = got.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
            assert_eq!(got, want, "{command}");
        }
    }
}
