//! Numbers as texts.

use crate::score::agreement::Stat;
use crate::score::exact::fixed;

/// What is printed where nothing can be said.
pub(super) const NOTHING: &str = "n/a";

/// The cell of a value before and after: one value if they are equal.
pub(super) fn change(before: Option<String>, after: Option<Option<String>>) -> String {
    let text = |v: Option<String>| v.unwrap_or_else(|| NOTHING.into());
    let before = text(before);
    match after.map(text) {
        Some(after) if after != before => format!("{before} → {after}"),
        _ => before,
    }
}

/// A float with decimals, without a negative zero.
pub(super) fn decimals(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    match text.strip_prefix('-') {
        Some(rest) if rest.chars().all(|c| c == '0' || c == '.') => rest.into(),
        _ => text,
    }
}

/// The number with its sign, unless it is 0.
pub(super) fn signed(number: String) -> String {
    let zero = number.chars().all(|c| c == '0' || c == '.');
    if zero || number.starts_with('-') {
        number
    } else {
        format!("+{number}")
    }
}

/// The statistic with six decimals.
pub(super) fn stat(stat: &Stat) -> String {
    stat.value.as_ref().map_or(NOTHING.into(), |v| fixed(v, 6))
}
