//! Dates of runs, in one form.
//!
//! Directory names and metadata write the day of a run as `20260418`, `2026-04-14` or as the start
//! of a time stamp. They are compared and printed as `YYYY-MM-DD`. A string of eight digits is not a
//! date because it could be one: the day must exist in the calendar, otherwise a version number or
//! the start of a hash would pass for a date.

/// The date in `text` as `YYYY-MM-DD`; `None` when it holds none or one that does not exist.
///
/// Accepts `YYYYMMDD`, `YYYY-MM-DD` and either of them followed by a time (`T…` or a blank and more).
/// Years are 1970 to 2999.
pub fn normalise_date(text: &str) -> Option<String> {
    let text = text.trim();
    let day = text.split(['T', ' ']).next().unwrap_or(text);
    let parts: Vec<&str> = day.split('-').collect();
    match parts.as_slice() {
        [compact] => from_compact(compact),
        [year, month, day] => from_parts(year, month, day),
        _ => None,
    }
}

/// The date in eight digits, normalised.
fn from_compact(text: &str) -> Option<String> {
    let (year, rest) = text.split_at_checked(4)?;
    let (month, day) = rest.split_at_checked(2)?;
    from_parts(year, month, day)
}

/// The date in its three parts, normalised.
pub(super) fn from_parts(year: &str, month: &str, day: &str) -> Option<String> {
    let y = digits(year, 4)?;
    let m = digits(month, 2)?;
    let d = digits(day, 2)?;
    let real = (1970..=2999).contains(&y) && (1..=days_in(y, m)).contains(&d);
    real.then(|| format!("{year}-{month}-{day}"))
}

/// The number in `text` if it consists of exactly `width` ASCII digits.
fn digits(text: &str, width: usize) -> Option<u32> {
    if text.len() != width || !text.bytes().all(|b| b.is_ascii_digit()) {
        return None;
    }
    text.parse().ok()
}

/// Days of a month of the Gregorian calendar; 0 for a month that does not exist.
fn days_in(year: u32, month: u32) -> u32 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if leap => 29,
        2 => 28,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates() {
        for (text, want) in [
            ("20260418", Some("2026-04-18")),
            ("2026-04-14", Some("2026-04-14")),
            (" 2026-04-14\n", Some("2026-04-14")),
            ("2026-04-14T10:20:30Z", Some("2026-04-14")),
            ("2026-04-14 10:20", Some("2026-04-14")),
            ("20240229", Some("2024-02-29")),
            ("20000229", Some("2000-02-29")),
            ("20260229", None),
            ("21000229", None),
            ("20261301", None),
            ("20260400", None),
            ("20260431", None),
            ("12345678", None),
            ("2026-4-14", None),
            ("+260-04-14", None),
            ("2026041", None),
            ("202604188", None),
            ("２０２６0418", None),
            ("", None),
            ("-", None),
            ("--", None),
            ("2026-04-14-15", None),
        ] {
            assert_eq!(normalise_date(text).as_deref(), want, "{text:?}");
        }
    }
}
