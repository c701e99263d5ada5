//! Words for messages: values of others shown safely, commands that can be pasted, near misses.
//!
//! What a run directory holds was written by the audited party. It reaches a message only through
//! [`show`], which escapes control characters and cuts, so that a value cannot forge lines of a
//! report or drive a terminal.

use std::path::Path;

/// Longest value that a message shows, in characters.
const SHOWN: usize = 80;

/// A value in back quotes, control characters escaped, cut to 80 characters.
pub(crate) fn show(value: &str) -> String {
    let mut out = String::from("`");
    let mut chars = value.chars();
    for c in chars.by_ref().take(SHOWN) {
        if c.is_control() || crate::similarity::normalise::is_format_character(c) || c == '`' {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    if chars.next().is_some() {
        out.push('…');
    }
    out.push('`');
    out
}

/// A path in back quotes, as [`show`] but never cut: a message must name the whole path.
pub(crate) fn show_path(path: &Path) -> String {
    let text = path.to_string_lossy();
    let mut out = String::from("`");
    for c in text.chars() {
        if c.is_control() || crate::similarity::normalise::is_format_character(c) {
            out.extend(c.escape_unicode());
        } else {
            out.push(c);
        }
    }
    out.push('`');
    out
}

/// A path as one word of a shell command, always in quotes.
///
/// A path with control characters or bytes that are no UTF-8 is written as `$'…'`, so that the
/// command stays on one line and means the same file. One that begins with a dash gets a `./`.
pub(crate) fn shell_quote(path: &Path) -> String {
    let bytes = path.as_os_str().as_encoded_bytes();
    let dash = if bytes.starts_with(b"-") { "./" } else { "" };
    match path.to_str() {
        Some(text) if !text.chars().any(char::is_control) => {
            format!("'{dash}{}'", text.replace('\'', r"'\''"))
        }
        _ => format!("$'{dash}{}'", ansi_c_escape(bytes)),
    }
}

/// The inside of a `$'…'` word.
fn ansi_c_escape(bytes: &[u8]) -> String {
    let mut out = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            match c {
                '\'' => out.push_str("\\'"),
                '\\' => out.push_str("\\\\"),
                c if c.is_control() => {
                    let mut buffer = [0; 4];
                    push_octal(&mut out, c.encode_utf8(&mut buffer).as_bytes());
                }
                c => out.push(c),
            }
        }
        push_octal(&mut out, chunk.invalid());
    }
    out
}

/// Appends each byte as a backslash and three octal digits.
fn push_octal(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        out.push_str(&format!("\\{byte:03o}"));
    }
}

/// The candidate that `word` is most likely a misspelling of: at most a third of the letters (and at
/// least one) differ. The first of equally near ones wins.
pub(crate) fn did_you_mean<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    if word.len() > 64 {
        return None;
    }
    let folded = word.to_ascii_lowercase().replace('-', "_");
    candidates
        .iter()
        .map(|c| (edit_distance(&folded, c), *c))
        .filter(|(distance, c)| *distance <= (c.len() / 3).max(1))
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, c)| c)
}

/// Insertions, deletions, replacements and swaps of neighbours that turn `a` into `b` (optimal
/// string alignment distance).
fn edit_distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().collect();
    let mut before: Vec<usize> = Vec::new();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    let mut last = None;
    for (i, ca) in a.chars().enumerate() {
        let mut next = vec![i + 1];
        for (j, cb) in b.iter().enumerate() {
            let at = |row: &[usize], k: usize| row.get(k).copied().unwrap_or(usize::MAX - 1);
            let mut best = (at(&next, j) + 1)
                .min(at(&row, j + 1) + 1)
                .min(at(&row, j) + usize::from(ca != *cb));
            let swapped = j.checked_sub(1).is_some_and(|k| b.get(k) == Some(&ca));
            if swapped && last == Some(*cb) {
                best = best.min(at(&before, j - 1).saturating_add(1));
            }
            next.push(best);
        }
        before = std::mem::replace(&mut row, next);
        last = Some(ca);
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_cannot_drive_a_terminal() {
        assert_eq!(show("T34"), "`T34`");
        assert_eq!(show("a\u{1b}[2J\nb"), "`a\\u{1b}[2J\\u{a}b`");
        assert_eq!(show("`"), "`\\u{60}`");
        assert_eq!(show("\u{202e}x"), "`\\u{202e}x`");
        let cut = show(&"é".repeat(1000));
        assert_eq!(cut.chars().count(), SHOWN + 3);
        assert!(cut.ends_with("…`"));
        assert_eq!(show_path(Path::new("/a/\nb")), "`/a/\\u{a}b`");
    }

    #[cfg(unix)]
    #[test]
    fn quoting_survives_a_shell() {
        use std::os::unix::ffi::OsStrExt;
        for text in [
            &b"plain"[..],
            b"it's",
            b"a b",
            b"$(x) `y` \\ \"z\" !h",
            b"new\nline\tand 'quote' \\",
            "é\u{85}ü".as_bytes(),
            b"latin\xe9'",
            b"",
        ] {
            let path = Path::new(std::ffi::OsStr::from_bytes(text));
            let command = format!("printf %s {}", shell_quote(path));
            let Ok(output) = std::process::Command::new("bash")
                .args(["-c", &command])
                .output()
            else {
                println!("skipped: no bash");
                return;
            };
            assert_eq!(output.stdout, text, "{command}");
            assert!(!command.contains('\n'), "{command}");
        }
        assert_eq!(shell_quote(Path::new("-rf")), "'./-rf'");
    }

    #[test]
    fn distances() {
        for (a, b, want) in [
            ("", "", 0),
            ("", "abc", 3),
            ("abc", "", 3),
            ("kitten", "sitting", 3),
            ("bse_repo", "base_repo", 1),
            ("abse_repo", "base_repo", 1),
            ("ca", "abc", 3),
        ] {
            assert_eq!(edit_distance(a, b), want, "{a} {b}");
        }
    }

    #[test]
    fn near_misses() {
        let keys = ["base_repo", "facts", "rules", "policy"];
        for (word, want) in [
            ("bse_repo", Some("base_repo")),
            ("base-repo", Some("base_repo")),
            ("BASE_REPO", Some("base_repo")),
            ("fcats", Some("facts")),
            ("rule", Some("rules")),
            ("verdict", None),
            ("", None),
        ] {
            assert_eq!(did_you_mean(word, &keys), want, "{word}");
        }
        assert_eq!(did_you_mean(&"base_repo".repeat(1_000_000), &keys), None);
    }
}
