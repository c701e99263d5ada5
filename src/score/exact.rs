//! Exact numbers. Rates, means and kappas are fractions of whole numbers, so they are computed as
//! fractions and rounded once, when they are printed.
//!
//! The rule of rounding, everywhere: **to the nearest, ties to the even digit, on the exact
//! fraction**. A binary float of 5.435 is a little less than 5.435 and prints as 5.43; the fraction
//! 1087/200 lies exactly between and prints as 5.44. Where a published table was rounded from floats,
//! the last digit can differ; `docs/score.md` lists the known cases.
//!
//! Numerators and denominators are unbounded (`num-rational` over `num-bigint`): the mean of items
//! with many different numbers of judges has the least common multiple of those numbers below it,
//! which a hostile table can push past 128 bits.

use num_bigint::{BigInt, Sign};
use num_rational::BigRational;
use num_traits::{Signed, Zero};

/// An exact fraction in lowest terms.
pub type Exact = BigRational;

/// `num / den`, or `None` when `den` is 0.
pub fn ratio(num: u64, den: u64) -> Option<Exact> {
    (den != 0).then(|| Exact::new(BigInt::from(num), BigInt::from(den)))
}

/// The value with `digits` decimals: nearest, ties to even.
pub fn fixed(value: &Exact, digits: u32) -> String {
    let power = BigInt::from(10u8).pow(digits);
    let scaled = value.abs() * Exact::from_integer(power);
    let mut whole = scaled.to_integer();
    let rest = scaled - Exact::from_integer(whole.clone());
    let twice = rest * Exact::from_integer(BigInt::from(2u8));
    let one = Exact::from_integer(BigInt::from(1u8));
    if twice > one || (twice == one && whole.bit(0)) {
        whole += 1u8;
    }
    let text = whole.magnitude().to_string();
    let width = digits as usize + 1;
    let text = format!("{text:0>width$}");
    let sign = if value.numer().sign() == Sign::Minus && !whole.is_zero() {
        "-"
    } else {
        ""
    };
    match text.split_at_checked(text.len().saturating_sub(digits as usize)) {
        Some((head, tail)) if !tail.is_empty() => format!("{sign}{head}.{tail}"),
        _ => format!("{sign}{text}"),
    }
}

/// The share as a percentage with `digits` decimals, without the sign `%`.
pub fn percent(value: &Exact, digits: u32) -> String {
    fixed(&(value * Exact::from_integer(BigInt::from(100u8))), digits)
}

/// The value rounded to six decimals, as the nearest float: what JSON and CSV carry. Going through
/// the decimal text makes the printed number the rounded one, on every machine.
pub fn float(value: &Exact) -> Option<f64> {
    fixed(value, 6).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn q(n: i64, d: i64) -> Exact {
        Exact::new(n.into(), d.into())
    }

    #[test]
    fn rounds_to_nearest_ties_to_even() {
        for (n, d, digits, text) in [
            (1087, 200, 2, "5.44"), // 5.435: the float prints 5.43
            (1107, 200, 2, "5.54"), // 5.535
            (187, 40, 2, "4.68"),   // 4.675
            (5, 2, 0, "2"),
            (7, 2, 0, "4"),
            (-5, 2, 0, "-2"),
            (-1, 1000, 2, "0.00"),
            (1, 3, 6, "0.333333"),
            (2, 3, 6, "0.666667"),
            (-2, 3, 3, "-0.667"),
            (0, 1, 2, "0.00"),
            (999_999, 1_000_000, 2, "1.00"),
            (1, 100, 2, "0.01"),
        ] {
            assert_eq!(fixed(&q(n, d), digits), text, "{n}/{d}");
        }
        assert_eq!(percent(&q(3, 124), 2), "2.42");
        assert_eq!(ratio(1, 0), None);
        assert_eq!(float(&q(1, 3)), Some(0.333333));
    }
}
