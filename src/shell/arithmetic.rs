//! Numbers that a shell computes: `$((48200+13))`, `((n += 1))`, `let n++`, `expr 7 \* 6`.
//!
//! Only whole numbers, variables whose values are known, and the operators that people use in commands. What
//! cannot be told stays as it is written, and a variable that it would change is no longer known.

use super::evaluator::Evaluator;
use super::scope::Field;

/// Longest expression that is computed, in bytes.
const LONGEST: usize = 128;

/// A part of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    Number(i64),
    Name(&'t str),
    Sign(&'t str),
}

/// Signs, the longest first.
const SIGNS: &[&str] = &[
    "++", "--", "+=", "-=", "*=", "/=", "%=", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "(",
    ")", "<", ">", "=", ",",
];

fn tokens(text: &str) -> Option<Vec<Token<'_>>> {
    if text.len() > LONGEST {
        return None;
    }
    let mut found = Vec::new();
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        let word = |rest: &str| {
            let part = |c: char| c.is_ascii_alphanumeric() || c == '_';
            rest.find(|c| !part(c)).unwrap_or(rest.len())
        };
        let (token, length) = if first.is_ascii_digit() {
            let length = word(rest);
            let digits = rest.get(..length)?;
            // The shell reads a leading zero as octal.
            let plain = digits.len() == 1 || !digits.starts_with('0');
            (
                Token::Number(digits.parse().ok().filter(|_| plain)?),
                length,
            )
        } else if first.is_ascii_alphabetic() || first == '_' {
            let length = word(rest);
            (Token::Name(rest.get(..length)?), length)
        } else {
            let sign = SIGNS.iter().find(|sign| rest.starts_with(**sign))?;
            (Token::Sign(sign), sign.len())
        };
        found.push(token);
        rest = rest.get(length..)?.trim_start();
    }
    Some(found)
}

/// Reads an expression from left to right; its depth is bounded by [`LONGEST`].
struct Reader<'t, 'e> {
    tokens: &'t [Token<'t>],
    evaluator: &'e mut Evaluator,
}

impl<'t> Reader<'t, '_> {
    fn next_if(&mut self, wanted: &[&str]) -> Option<&'t str> {
        let (Token::Sign(sign), rest) = self.tokens.split_first()? else {
            return None;
        };
        wanted.contains(sign).then(|| {
            self.tokens = rest;
            *sign
        })
    }

    fn list(&mut self) -> Option<i64> {
        let mut value = self.assignment()?;
        while self.next_if(&[","]).is_some() {
            value = self.assignment()?;
        }
        self.tokens.is_empty().then_some(value)
    }

    fn assignment(&mut self) -> Option<i64> {
        let [Token::Name(name), Token::Sign(sign), rest @ ..] = self.tokens else {
            return self.comparison();
        };
        if !matches!(*sign, "=" | "+=" | "-=" | "*=" | "/=" | "%=") {
            return self.comparison();
        }
        self.tokens = rest;
        let right = self.assignment()?;
        let value = if *sign == "=" {
            right
        } else {
            calculate(sign, self.evaluator.number(name)?, right)?
        };
        self.evaluator.set_number(name, value);
        Some(value)
    }

    fn comparison(&mut self) -> Option<i64> {
        let left = self.sum()?;
        let Some(sign) = self.next_if(&["<", "<=", ">", ">=", "==", "!="]) else {
            return Some(left);
        };
        let right = self.sum()?;
        Some(i64::from(match sign {
            "<" => left < right,
            "<=" => left <= right,
            ">" => left > right,
            ">=" => left >= right,
            "==" => left == right,
            _ => left != right,
        }))
    }

    fn sum(&mut self) -> Option<i64> {
        let mut sum = self.product()?;
        while let Some(sign) = self.next_if(&["+", "-"]) {
            sum = calculate(sign, sum, self.product()?)?;
        }
        Some(sum)
    }

    fn product(&mut self) -> Option<i64> {
        let mut product = self.unit()?;
        while let Some(sign) = self.next_if(&["*", "/", "%"]) {
            product = calculate(sign, product, self.unit()?)?;
        }
        Some(product)
    }

    fn unit(&mut self) -> Option<i64> {
        match self.next_if(&["-", "+", "(", "++", "--"]) {
            Some("-") => return self.unit()?.checked_neg(),
            Some("+") => return self.unit(),
            Some("(") => {
                let inner = self.comparison()?;
                return self.next_if(&[")"]).map(|_| inner);
            }
            Some(sign) => {
                let Some((Token::Name(name), rest)) = self.tokens.split_first() else {
                    return None;
                };
                self.tokens = rest;
                return self.step(name, sign);
            }
            None => {}
        }
        let (first, rest) = self.tokens.split_first()?;
        self.tokens = rest;
        match first {
            Token::Number(number) => Some(*number),
            Token::Name(name) => {
                let before = self.evaluator.number(name)?;
                if let Some(sign) = self.next_if(&["++", "--"]) {
                    self.step(name, sign)?;
                }
                Some(before)
            }
            Token::Sign(_) => None,
        }
    }

    /// `n++`, `--n`.
    fn step(&mut self, name: &str, sign: &str) -> Option<i64> {
        let value = calculate(sign, self.evaluator.number(name)?, 1)?;
        self.evaluator.set_number(name, value);
        Some(value)
    }
}

fn calculate(sign: &str, a: i64, b: i64) -> Option<i64> {
    match sign.chars().next()? {
        '+' => a.checked_add(b),
        '-' => a.checked_sub(b),
        '*' => a.checked_mul(b),
        '/' => a.checked_div(b),
        _ => a.checked_rem(b),
    }
}

impl Evaluator {
    /// The value of an expression, after its effects on variables.
    pub(super) fn compute(&mut self, text: &str) -> Option<i64> {
        self.charge(text.len());
        let found = tokens(text)?;
        let mut reader = Reader {
            tokens: &found,
            evaluator: self,
        };
        let value = reader.list();
        if value.is_none() {
            self.forget_changed(&found);
        }
        value
    }

    /// The value of a variable that holds a whole number.
    fn number(&self, name: &str) -> Option<i64> {
        let [only] = self.scope.variables.get(name)?.as_slice() else {
            return None;
        };
        let text = only.text.trim();
        let plain = text.len() == 1 || !text.starts_with('0');
        text.parse().ok().filter(|_| !only.dynamic && plain)
    }

    fn set_number(&mut self, name: &str, value: i64) {
        let value = Field::plain(&value.to_string());
        self.scope.variables.set(name, vec![value]);
    }

    /// What an expression would change is not known any more.
    fn forget_changed(&mut self, tokens: &[Token<'_>]) {
        for (at, token) in tokens.iter().enumerate() {
            let Token::Name(name) = token else { continue };
            let changes = |near: Option<&Token<'_>>| {
                matches!(
                    near,
                    Some(Token::Sign(
                        "++" | "--" | "=" | "+=" | "-=" | "*=" | "/=" | "%="
                    ))
                )
            };
            let before = at.checked_sub(1).and_then(|at| tokens.get(at));
            if changes(tokens.get(at + 1)) || matches!(before, Some(Token::Sign("++" | "--"))) {
                let unknown = Field::unresolved(&format!("${name}"));
                self.scope.variables.set(name, vec![unknown]);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::functions::Functions;
    use super::*;

    fn value(text: &str) -> Option<i64> {
        let mut evaluator = Evaluator::new(text.len(), 1);
        evaluator.functions = Functions::default();
        evaluator.set_number("n", 48_200);
        evaluator.compute(text)
    }

    #[test]
    fn whole_numbers_are_computed() {
        for (text, expected) in [
            ("48200+13", Some(48_213)),
            (" 2 * (3 + 4) - -1 ", Some(15)),
            ("7/2", Some(3)),
            ("7%4", Some(3)),
            ("n+1", Some(48_201)),
            ("n++ + n", Some(96_401)),
            ("++n", Some(48_201)),
            ("n += 13", Some(48_213)),
            ("a = 2, a * 3", Some(6)),
            ("n < 48201", Some(1)),
            ("(n > 48201)", Some(0)),
            ("m+1", None),
            ("1/0", None),
            ("017", None),
            ("9223372036854775807+1", None),
            ("1+", None),
            ("", None),
            ("n ? 1 : 2", None),
        ] {
            assert_eq!(value(text), expected, "{text}");
        }
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(?:[0-9]{1,20}|[a-n]|\\+\\+|[-+*/%()=<>, ]|\\PC){0,40}") {
            value(&text);
        }
    }
}
