//! Numbers that a command has the shell compute: `pull/$((48200+13))`, `$(expr 7 \* 6)`.

use std::borrow::Cow;

/// Longest expression that is computed, in bytes.
const LONGEST: usize = 64;

/// Expressions of one word that are computed.
const MOST: usize = 16;

/// The word with the expressions that hold only whole numbers computed; others stay as they are.
pub fn computed(word: &str) -> Cow<'_, str> {
    if !word.contains("$((") && !word.contains("$(expr ") {
        return Cow::Borrowed(word);
    }
    let mut out = String::with_capacity(word.len());
    let mut rest = word;
    for _ in 0..MOST {
        let Some(at) = rest.find("$(") else { break };
        let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
        out.push_str(before);
        match expression(from).and_then(|(text, after)| Some((value(text)?, after))) {
            Some((number, after)) => {
                out.push_str(&number.to_string());
                rest = after;
            }
            None => {
                out.push_str("$(");
                rest = from.get(2..).unwrap_or_default();
            }
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// The text of the expression that stands first, and what follows it.
fn expression(text: &str) -> Option<(&str, &str)> {
    if let Some(inside) = text.strip_prefix("$((") {
        return inside.split_once("))");
    }
    text.strip_prefix("$(expr ")?.split_once(')')
}

/// The value of an expression of whole numbers, `+ - * / %` and parentheses, from left to right in two ranks.
fn value(text: &str) -> Option<i64> {
    if text.len() > LONGEST {
        return None;
    }
    let mut tokens = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let digits = rest
            .find(|c: char| !c.is_ascii_digit())
            .unwrap_or(rest.len());
        let length = match first {
            '0'..='9' => digits,
            '+' | '-' | '*' | '/' | '%' | '(' | ')' => 1,
            // `expr 7 \* 6`
            '\\' | '\'' | '"' => {
                rest = rest.get(1..)?;
                continue;
            }
            _ => return None,
        };
        let (token, after) = rest.split_at_checked(length)?;
        tokens.push(token);
        rest = after.trim_start();
    }
    let mut reader = Reader { tokens: &tokens };
    let sum = reader.sum(0)?;
    reader.tokens.is_empty().then_some(sum)
}

struct Reader<'t> {
    tokens: &'t [&'t str],
}

impl Reader<'_> {
    fn next_if(&mut self, wanted: &[&str]) -> Option<&str> {
        let (first, rest) = self.tokens.split_first()?;
        wanted.contains(first).then(|| {
            self.tokens = rest;
            *first
        })
    }

    /// The depth is bounded by [`LONGEST`].
    fn sum(&mut self, depth: usize) -> Option<i64> {
        let mut sum = self.product(depth)?;
        while let Some(sign) = self.next_if(&["+", "-"]).map(|s| s == "+") {
            let next = self.product(depth)?;
            sum = if sign {
                sum.checked_add(next)
            } else {
                sum.checked_sub(next)
            }?;
        }
        Some(sum)
    }

    fn product(&mut self, depth: usize) -> Option<i64> {
        let mut product = self.unit(depth)?;
        while let Some(sign) = self.next_if(&["*", "/", "%"]).map(str::to_owned) {
            let next = self.unit(depth)?;
            product = match sign.as_str() {
                "*" => product.checked_mul(next),
                "/" => product.checked_div(next),
                _ => product.checked_rem(next),
            }?;
        }
        Some(product)
    }

    fn unit(&mut self, depth: usize) -> Option<i64> {
        if depth > LONGEST {
            return None;
        }
        if self.next_if(&["-"]).is_some() {
            return self.unit(depth + 1)?.checked_neg();
        }
        if self.next_if(&["+"]).is_some() {
            return self.unit(depth + 1);
        }
        if self.next_if(&["("]).is_some() {
            let sum = self.sum(depth + 1)?;
            return self.next_if(&[")"]).map(|_| sum);
        }
        let (first, rest) = self.tokens.split_first()?;
        // The shell reads a leading zero as octal.
        let plain = first.len() == 1 || !first.starts_with('0');
        let number = first.parse().ok().filter(|_| plain)?;
        self.tokens = rest;
        Some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_numbers_are_computed() {
        for (word, expected) in [
            ("pull/$((48200+13)).diff", "pull/48213.diff"),
            ("$(( 2 * (3 + 4) - -1 ))", "15"),
            ("$((7/2))-$((7%4))", "3-3"),
            ("$(expr 7 \\* 6)", "42"),
            ("$(expr 48200 + 13)/files", "48213/files"),
            ("$((n+1))", "$((n+1))"),
            ("$((1/0))", "$((1/0))"),
            ("$((017))", "$((017))"),
            ("$((9223372036854775807+1))", "$((9223372036854775807+1))"),
            ("$((1+))", "$((1+))"),
            ("$(cat x) $((1+1))", "$(cat x) 2"),
            ("$((", "$(("),
            ("plain", "plain"),
        ] {
            assert_eq!(computed(word), expected, "{word}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(?:\\$\\(\\(|\\)\\)|\\$\\(expr |[0-9]{1,20}|[-+*/%() ]|\\PC){0,30}") {
            computed(&text);
        }
    }
}
