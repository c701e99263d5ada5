//! Operations on the value of a variable: `${x%.git}`, `${x:0:3}`, `${x//a/b}`.

use super::ast::Operation;

/// Applies `operation` with its expanded argument to a value; `None` if it cannot be told.
pub(crate) fn apply(operation: Operation, value: &str, argument: &str) -> Option<String> {
    match operation {
        Operation::Value | Operation::Default | Operation::Assign | Operation::Alternative => {
            Some(value.to_owned())
        }
        Operation::Length => Some(value.chars().count().to_string()),
        Operation::StripPrefix { longest } => {
            strip_prefix(value, argument, longest).map(str::to_owned)
        }
        Operation::StripSuffix { longest } => {
            strip_suffix(value, argument, longest).map(str::to_owned)
        }
        Operation::Replace { all } => replace(value, argument, all),
        Operation::Upper { all } => Some(change_case(value, all, |c| c.to_ascii_uppercase())),
        Operation::Lower { all } => Some(change_case(value, all, |c| c.to_ascii_lowercase())),
        Operation::Substring => substring(value, argument),
        Operation::Indirect | Operation::Unknown => None,
    }
}

/// True if a pattern has no wildcard.
fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['*', '?', '[', '\\'])
}

/// Handles `text`, `*text` and `text*`; other patterns are left unresolved.
fn strip_prefix<'v>(value: &'v str, pattern: &str, longest: bool) -> Option<&'v str> {
    let (leading, rest) = match pattern.strip_prefix('*') {
        Some(rest) => (true, rest),
        None => (false, pattern),
    };
    let (rest, trailing) = match rest.strip_suffix('*') {
        Some(rest) => (rest, true),
        None => (rest, false),
    };
    if !is_literal(rest) {
        return None;
    }
    let after = match (leading, longest) {
        (false, _) => value.strip_prefix(rest),
        (true, false) => value.split_once(rest).map(|(_, after)| after),
        (true, true) => value.rsplit_once(rest).map(|(_, after)| after),
    };
    Some(match after {
        Some(_) if trailing && longest => "",
        Some(after) => after,
        None => value,
    })
}

fn strip_suffix<'v>(value: &'v str, pattern: &str, longest: bool) -> Option<&'v str> {
    let (rest, trailing) = match pattern.strip_suffix('*') {
        Some(rest) => (rest, true),
        None => (pattern, false),
    };
    let (leading, rest) = match rest.strip_prefix('*') {
        Some(rest) => (true, rest),
        None => (false, rest),
    };
    if !is_literal(rest) {
        return None;
    }
    let before = match (trailing, longest) {
        (false, _) => value.strip_suffix(rest),
        (true, false) => value.rsplit_once(rest).map(|(before, _)| before),
        (true, true) => value.split_once(rest).map(|(before, _)| before),
    };
    Some(match before {
        Some(_) if leading && longest => "",
        Some(before) => before,
        None => value,
    })
}

fn replace(value: &str, argument: &str, all: bool) -> Option<String> {
    let (pattern, text) = argument.split_once('/').unwrap_or((argument, ""));
    if !is_literal(pattern) || pattern.is_empty() || pattern.starts_with(['#', '%']) {
        return None;
    }
    Some(if all {
        value.replace(pattern, text)
    } else {
        value.replacen(pattern, text, 1)
    })
}

fn change_case(value: &str, all: bool, change: impl Fn(char) -> char) -> String {
    value
        .chars()
        .enumerate()
        .map(|(at, c)| if all || at == 0 { change(c) } else { c })
        .collect()
}

/// `offset` or `offset:length`, negative numbers count from the end.
fn substring(value: &str, argument: &str) -> Option<String> {
    let (offset, length) = match argument.split_once(':') {
        Some((offset, length)) => (offset, Some(length)),
        None => (argument, None),
    };
    let count = value.chars().count();
    let position = |text: &str| -> Option<usize> {
        let number: i64 = text.trim().parse().ok()?;
        Some(match usize::try_from(number) {
            Ok(forward) => forward.min(count),
            Err(_) => {
                let back = usize::try_from(number.unsigned_abs()).unwrap_or(count);
                count.saturating_sub(back)
            }
        })
    };
    let start = position(offset)?;
    let end = match length {
        None => count,
        Some(text) if text.trim().starts_with('-') => position(text)?,
        Some(text) => start.saturating_add(position(text)?),
    };
    Some(value.chars().take(end).skip(start).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operations() {
        let prefix = |longest| Operation::StripPrefix { longest };
        let suffix = |longest| Operation::StripSuffix { longest };
        let cases = [
            (suffix(false), "a/widget.git", ".git", Some("a/widget")),
            (prefix(true), "a/b/c", "*/", Some("c")),
            (prefix(false), "a/b/c", "*/", Some("b/c")),
            (suffix(false), "a/b/c", "/*", Some("a/b")),
            (suffix(true), "a/b/c", "/*", Some("a")),
            (prefix(false), "abc", "x", Some("abc")),
            (prefix(true), "abc", "a*", Some("")),
            (prefix(false), "abc", "[ab]", None),
            (Operation::Replace { all: true }, "gxixt", "x/", Some("git")),
            (
                Operation::Replace { all: false },
                "a-b-c",
                "-/_",
                Some("a_b-c"),
            ),
            (Operation::Substring, "xgity", "1:3", Some("git")),
            (Operation::Substring, "xgit", " -3", Some("git")),
            (Operation::Substring, "xgity", "1:-1", Some("git")),
            (Operation::Substring, "x", "9:9", Some("")),
            (Operation::Upper { all: true }, "git", "", Some("GIT")),
            (Operation::Lower { all: false }, "GIT", "", Some("gIT")),
            (Operation::Length, "git", "", Some("3")),
        ];
        for (operation, value, argument, want) in cases {
            let got = apply(operation, value, argument);
            assert_eq!(got.as_deref(), want, "{operation:?} {value} {argument}");
        }
    }
}
