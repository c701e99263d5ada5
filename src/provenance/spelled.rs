//! Commands that replace one text by another and spell both out: `sed -i`, `perl -pi -e`, `ruby -pi -e`, `sd`, alone, behind
//! `find … -exec` or `xargs`, or in a loop over files.
//!
//! They explain a line that holds what they put in, and nothing where they put in nothing to be seen.

use std::borrow::Cow;

use super::substitutions::side;
use crate::similarity::normalise::squeeze;

/// A shorter piece of a replacement is in any line.
const MIN_PIECE: usize = 3;

/// A loop over files, as its body for one of them: `for f in a*.py; do sed … "$f" > x && mv x "$f"; done`.
pub(super) fn unrolled(command: &str) -> Cow<'_, str> {
    let unroll = || {
        let inner = command.trim().strip_prefix("for ")?.strip_suffix("done")?;
        let (head, body) = inner.split_once(';')?;
        let (name, files) = head.split_once(" in ")?;
        let body = body
            .trim()
            .strip_prefix("do ")?
            .trim()
            .trim_end_matches(';');
        let plain = name.trim().chars().all(|c| c.is_alphanumeric() || c == '_');
        let file = files.split_whitespace().next().filter(|_| plain)?;
        if !files.split_whitespace().all(is_inside) || body.contains("for ") {
            return None;
        }
        let name = name.trim();
        let body = body.replace(&format!("${{{name}}}"), file);
        Some(body.replace(&format!("${name}"), file))
    };
    unroll().map_or(Cow::Borrowed(command), Cow::Owned)
}

/// A file of the tree, or a pattern of some.
fn is_inside(file: &str) -> bool {
    !file.starts_with(['/', '~', '-', '>', '<'])
        && !file.contains("..")
        && !file.contains(['$', '`', ':'])
}

/// What replacements in files of the tree put in, each in pieces; `None` where a segment is none, or does something else too.
pub(super) fn substitutes(segment: &str) -> Option<Vec<String>> {
    let words = arguments(segment)?;
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let words = bare_command(&words)?;
    let (program, rest) = words.split_first()?;
    match *program {
        "sed" | "gsed" => with_sed(rest),
        "perl" => scripted(rest, |part| substitution(part, "gims", true)),
        "ruby" => scripted(rest, gsub),
        "sd" => with_sd(rest),
        _ => None,
    }
}

/// `mv a.py.new a.py`, behind a replacement into the new file.
pub(super) fn puts_back(segment: &str) -> bool {
    let words = arguments(segment).unwrap_or_default();
    matches!(words.as_slice(), [mv, from, to] if mv == "mv" && is_inside(from) && is_inside(to) && from.starts_with(to.as_str()))
}

/// The words of a segment as a shell parts them; `None` where it puts in something else for one.
fn arguments(segment: &str) -> Option<Vec<String>> {
    let mut out: Vec<String> = Vec::new();
    let mut open = false;
    let mut quote = None;
    let mut chars = segment.chars().peekable();
    while let Some(c) = chars.next() {
        match quote {
            Some(mark) if c == mark => quote = None,
            Some('"') if matches!(c, '`' | '$') => return None,
            Some('"') if c == '\\' && chars.peek().is_some_and(|n| "\"\\$`".contains(*n)) => {
                out.last_mut()?.push(chars.next()?);
            }
            Some(_) => out.last_mut()?.push(c),
            None if c.is_whitespace() => open = false,
            None if matches!(c, '`' | '$') => return None,
            None => {
                if !open {
                    out.push(String::new());
                    open = true;
                }
                match c {
                    '\'' | '"' => quote = Some(c),
                    '\\' => out.last_mut()?.push(chars.next().unwrap_or(' ')),
                    c => out.last_mut()?.push(c),
                }
            }
        }
    }
    quote.is_none().then_some(out)
}

/// Without `find … -exec … {} +` or `xargs` around it.
fn bare_command<'w>(words: &'w [&'w str]) -> Option<&'w [&'w str]> {
    if let ["xargs", rest @ ..] = words {
        let at = rest.iter().position(|word| !word.starts_with('-'))?;
        return rest.get(at..);
    }
    let ["find", rest @ ..] = words else {
        return Some(words);
    };
    let (before, rest) = rest.split_at_checked(rest.iter().position(|w| *w == "-exec")?)?;
    let narrows = [
        "-name",
        "-iname",
        "-type",
        "-path",
        "-not",
        "-o",
        "-maxdepth",
    ];
    let plain = before
        .iter()
        .all(|w| narrows.contains(w) || is_inside(w) || *w == "!");
    let end = rest.iter().position(|w| *w == "{}")?;
    let ends = rest
        .get(end + 1..)
        .is_some_and(|left| matches!(left, ["+"] | [";"]));
    rest.get(1..end).filter(|_| plain && ends)
}

fn with_sed(words: &[&str]) -> Option<Vec<String>> {
    let mut scripts: Vec<&str> = Vec::new();
    let mut others: Vec<&str> = Vec::new();
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        match word {
            "-e" | "-Ee" => scripts.push(words.next()?),
            "-i" | "-E" | "-r" | "-Ei" | "-iE" | "-i.bak" | "-ri" => {}
            ">" => others.push(words.next()?),
            word if word.starts_with('-') => return None,
            word => others.push(word.strip_prefix('>').unwrap_or(word)),
        }
    }
    if scripts.is_empty() {
        scripts.push(others.first()?);
        others.remove(0);
    }
    let parts = scripts.iter().flat_map(|script| script.split(['\n', ';']));
    let parts = parts.map(str::trim).filter(|part| !part.is_empty());
    let new = parts.map(|part| substitution(part, "giI", false));
    let inside = others.iter().all(|file| is_inside(file));
    Some(new.collect::<Option<Vec<_>>>()?.concat()).filter(|_| inside)
}

/// `-pi -e 'script' files`.
fn scripted(words: &[&str], part: fn(&str) -> Option<Vec<String>>) -> Option<Vec<String>> {
    let at = words.iter().position(|word| !word.starts_with('-'))?;
    let (options, rest) = words.split_at_checked(at)?;
    let (script, files) = rest.split_first()?;
    let letters: String = options.concat();
    let known = options.iter().all(|o| {
        o.trim_start_matches('-')
            .chars()
            .all(|c| "pie0w".contains(c))
    });
    let whole = ['p', 'i', 'e'].iter().all(|c| letters.contains(*c)) && letters.ends_with('e');
    let parts = script
        .split([';', '\n'])
        .map(str::trim)
        .filter(|part| !part.is_empty());
    let new = parts.map(part).collect::<Option<Vec<_>>>()?.concat();
    (known && whole && files.iter().all(|file| is_inside(file))).then_some(new)
}

fn with_sd(words: &[&str]) -> Option<Vec<String>> {
    let mut plain = words.iter().skip_while(|word| ["-s", "-F"].contains(word));
    let (_, new) = (plain.next()?, plain.next()?);
    plain.all(|file| is_inside(file)).then(|| pieces(new))
}

/// `s/a/b/g`, which runs nothing and writes no other file: the pieces of what it puts in, without white space.
fn substitution(part: &str, flags_known: &str, perl: bool) -> Option<Vec<String>> {
    let rest = part.strip_prefix('s')?;
    let delimiter = rest.chars().next()?;
    let (old, after) = side(rest.strip_prefix(delimiter)?, delimiter)?;
    let (new, flags) = side(after, delimiter)?;
    let harmless = |c: char| flags_known.contains(c) || c.is_ascii_digit();
    let runs = perl && (runs_code(old) || !only_groups(new));
    (delimiter.is_ascii_punctuation() && flags.chars().all(harmless) && !runs).then(|| pieces(new))
}

/// A pattern of Perl that runs something, or holds a variable.
fn runs_code(pattern: &str) -> bool {
    let variable = |(at, _): (usize, &str)| {
        let after = pattern.get(at + 1..).unwrap_or_default();
        after.starts_with(|c: char| c.is_alphanumeric() || "_{&$".contains(c))
    };
    let escaped = pattern.replace(r"\@", "");
    escaped.contains('@')
        || pattern.contains("(?{")
        || pattern.contains("(??")
        || pattern.match_indices('$').any(variable)
}

/// A replacement whose variables stand for what was there.
fn only_groups(text: &str) -> bool {
    let group = |(at, _): (usize, &str)| {
        let after = text
            .get(at + 1..)
            .unwrap_or_default()
            .trim_start_matches('{');
        after.starts_with(|c: char| c.is_ascii_digit() || c == '&')
    };
    !text.contains(['@', '`']) && text.match_indices('$').all(group)
}

/// `$_.gsub!(/a/, 'b')`.
fn gsub(part: &str) -> Option<Vec<String>> {
    let calls = ["$_.gsub!(/", "$_.sub!(/", "gsub(/", "sub(/"];
    let rest = calls.iter().find_map(|call| part.strip_prefix(call))?;
    let (old, after) = side(rest, '/')?;
    let new = after
        .trim_start()
        .strip_prefix(',')?
        .trim()
        .strip_suffix(')')?;
    let quoted = [("%q(", ")"), ("'", "'"), ("\"", "\"")];
    let new = quoted
        .iter()
        .find_map(|(open, close)| new.strip_prefix(open)?.strip_suffix(close))?;
    (!old.contains("#{") && !new.contains('#')).then(|| pieces(new))
}

/// The pieces of a replacement, without white space. `\1`, `$1` and `&` stand for what was there.
fn pieces(new: &str) -> Vec<String> {
    let kept = new
        .split(['\\', '&', '$'])
        .enumerate()
        .map(|(at, piece)| match at {
            0 => piece,
            _ => piece.trim_start_matches(|c: char| c.is_ascii_digit() || "{}".contains(c)),
        });
    kept.map(squeeze)
        .filter(|piece| piece.len() >= MIN_PIECE)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[rustfmt::skip]
    fn substitutions_and_what_they_put_in() {
        for (command, want) in [
            (r"sed -E -i 's/a\((.*), (.*)\)/assert \1 == \2/' a.py", Some("assert")),
            ("sed -i 's/a/bcd efg/' a.py", Some("bcdefg")),
            ("sed -i 's/a/b/' a.py", Some("")),
            (r"sed -i -E -e 's/a/bcd/' -e 's/e/fgh/' a.py b.py", Some("bcd fgh")),
            ("sed -i \"s/a/bcd/\" a.py", Some("bcd")),
            ("perl -pi -e 's/a\\((.*)\\)$/assert $1 == $2/g; s/x/yyy/' a.py", Some("assert yyy")),
            ("perl -i -pe 's/a/bcd/' a.py", Some("bcd")),
            ("find heron -name 'm_*.py' -exec sed -i 's/a/bcd/' {} +", Some("bcd")),
            ("xargs sed -i 's/a/bcd/'", Some("bcd")),
            ("ruby -pi -e '$_.gsub!(/a/,%q(assert \\1))' a.py", Some("assert")),
            ("sd 'a' 'assert $1' a.py", Some("assert")),
            ("sed -E 's/a/bcd/' a.py > a.py.new", Some("bcd")),
            ("sed -i '$r /mnt/a' a.py", None),
            ("sed -i 's/a/b/e' a.py", None),
            ("sed -i -f /mnt/s.sed a.py", None),
            ("sed -i \"s/a/$BODY/\" a.py", None),
            ("sed 's/a/bcd/' /mnt/ref/a.py > a.py", None),
            ("perl -pi -e 's/a/`cat \\/mnt\\/a`/e' a.py", None),
            ("perl -pi -e 's/a/@{[ `x` ]}/' a.py", None),
            ("perl -pi -e 's/a(?{system(1)})/bcd/' a.py", None),
            ("perl -pi -e 's/a/$ENV{BODY}/' a.py", None),
            ("perl -MRef -pi -e 's/a/bcd/' a.py", None),
            ("perl -pi -e '$_ = Ref::body()' a.py", None),
            ("ruby -pi -e '$_.gsub!(/a/,\"#{File.read(x)}\")' a.py", None),
            ("find / -name a -exec sed -i 's/a/bcd/' {} +", None),
            ("find . -exec sh /tmp/x.sh {} +", None),
            ("sd 'a' 'bcd' /mnt/a.py", None),
            ("cp a b", None),
        ] {
            let got = substitutes(command).map(|pieces| pieces.join(" "));
            assert_eq!(got.as_deref(), want, "{command}");
        }
    }

    #[test]
    #[rustfmt::skip]
    fn loops_over_files() {
        assert_eq!(
            unrolled("for f in a/*.py; do sed -E 's/a/bcd/' $f > $f.new && mv $f.new $f; done"),
            "sed -E 's/a/bcd/' a/*.py > a/*.py.new && mv a/*.py.new a/*.py"
        );
        for command in ["for f in /mnt/*; do sed -i 's/a/b/' $f; done", "for f in $(x); do y; done", "ls"] {
            assert_eq!(unrolled(command), command);
        }
        assert!(puts_back("mv a.py.new a.py"));
        assert!(!puts_back("mv /mnt/a.py a.py"));
        assert!(!puts_back("mv b.py a.py"));
    }
}
