//! Commit dates in the output of git: later than the base, or not?

/// A calendar day. Times of day and zones do not matter: the base and a later commit are weeks
/// apart, and a commit of the same day counts as no later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Day {
    year: u16,
    month: u8,
    day: u8,
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

impl Day {
    /// Reads `2031-03-19…` at the start of a text.
    pub fn iso(text: &str) -> Option<Self> {
        let part = |range: std::ops::Range<usize>| text.get(range)?.parse::<u16>().ok();
        let dashes = text.get(4..5) == Some("-") && text.get(7..8) == Some("-");
        let (year, month, day) = (part(0..4)?, part(5..7)?, part(8..10)?);
        let valid = dashes && (1970..3000).contains(&year) && (1..=12).contains(&month);
        (valid && (1..=31).contains(&day)).then(|| Self {
            year,
            month: u8::try_from(month).unwrap_or_default(),
            day: u8::try_from(day).unwrap_or_default(),
        })
    }

    /// Reads what git prints after `Date:`: `Wed Mar 19 12:00:00 2031 +0000`,
    /// `Wed, 19 Mar 2031 …` or an ISO date.
    pub fn git(text: &str) -> Option<Self> {
        let text = text.trim_start();
        if let Some(day) = Self::iso(text) {
            return Some(day);
        }
        let words: Vec<&str> = text.split_whitespace().take(6).collect();
        let at = words
            .iter()
            .position(|w| MONTHS.iter().any(|m| m.eq_ignore_ascii_case(w)))?;
        let month = MONTHS
            .iter()
            .position(|m| words.get(at).is_some_and(|w| m.eq_ignore_ascii_case(w)))?;
        let number = |w: &&str| w.trim_end_matches(',').parse::<u16>().ok();
        let day = [at + 1, at.wrapping_sub(1)]
            .iter()
            .filter_map(|i| words.get(*i).and_then(number))
            .find(|n| (1..=31).contains(n))?;
        let year = words
            .iter()
            .skip(at)
            .filter_map(number)
            .find(|n| (1970..3000).contains(n))?;
        Some(Self {
            year,
            month: u8::try_from(month + 1).unwrap_or_default(),
            day: u8::try_from(day).unwrap_or_default(),
        })
    }
}

/// The commit dates that an output shows: on lines of a `Date:` header, and in one-line listings
/// that begin with a commit id. Dates elsewhere (in file contents) are none.
pub fn commit_days(output: &str) -> impl Iterator<Item = Day> {
    output.lines().filter_map(|line| {
        let line = line.trim_start_matches(['*', '|', '/', '\\', '_', ' ', '\t']);
        if let Some(header) = line.strip_prefix("commit ") {
            return header.split_once("Date:").and_then(|(_, d)| Day::git(d));
        }
        let named = ["Date:", "AuthorDate:", "CommitDate:"]
            .iter()
            .find_map(|name| line.strip_prefix(name));
        if let Some(date) = named {
            return Day::git(date);
        }
        let id = line.bytes().take_while(u8::is_ascii_hexdigit).count();
        if !(7..=40).contains(&id) {
            return None;
        }
        line.get(id..)?
            .split_whitespace()
            .take(4)
            .find_map(|word| Day::iso(word.trim_start_matches(['(', '['])))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_date_formats_of_git() {
        let day = Day::iso("2031-03-19").unwrap();
        for text in [
            "   Wed Mar 19 12:00:00 2031 +0000",
            "Wed, 19 Mar 2031 12:00:00 +0000",
            "2031-03-19T12:00:00Z",
            "2031-03-19 12:00:00 +0000",
        ] {
            assert_eq!(Day::git(text), Some(day), "{text}");
        }
        assert_eq!(Day::git("yesterday"), None);
        assert_eq!(Day::iso("2031-13-01"), None);
        assert!(Day::iso("2031-03-02").unwrap() < day);
    }

    #[test]
    fn only_commit_dates_count() {
        let output = "commit 9ac4e17d Date: 2031-03-19\n| Date:   Sun Mar 2 00:00:00 2031\n\
                      * 9ac4e17 (2031-01-01) x\n+released 2099-01-01\nbad c0ffee 2098-01-01";
        let days: Vec<_> = commit_days(output).collect();
        assert_eq!(days.len(), 3);
        assert!(days.iter().all(|d| *d < Day::iso("2032-01-01").unwrap()));
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(Date: |commit |[0-9a-f]{7} |\\PC|\n|-){0,20}") {
            let _ = commit_days(&text).count();
            let _ = Day::git(&text);
        }
    }
}
