//! Release numbers in tags, package names and texts.

use std::cmp::Ordering;

/// Numbers of a release that are read: more make it none, and bound the work.
const MAX_NUMBERS: usize = 6;

/// A release: numbers, and whether it is a pre-release.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Version {
    numbers: Vec<u64>,
    pre: bool,
}

impl Version {
    /// Reads `4.1.3`, `v4.2`, `widget-4.2.0`, `release_4_2`, `4.2.0rc1`; a lone number only after
    /// `v`. `None` if the word holds no release.
    pub fn parse(word: &str) -> Option<Self> {
        let mut best: Option<Self> = None;
        for (at, _) in word.char_indices() {
            let before = word.get(..at).unwrap_or_default();
            let starts = word
                .get(at..)
                .is_some_and(|r| r.starts_with(|c: char| c.is_ascii_digit()))
                && !before.ends_with(|c: char| c.is_ascii_digit() || c == '.');
            if !starts {
                continue;
            }
            let rest = word.get(at..).unwrap_or_default();
            let found = Self::at_start(rest, before.ends_with(['v', 'V']));
            if let Some(found) = found {
                let better = best
                    .as_ref()
                    .is_none_or(|b| found.numbers.len() > b.numbers.len());
                if better {
                    best = Some(found);
                }
            }
        }
        best
    }

    fn at_start(text: &str, after_v: bool) -> Option<Self> {
        let mut numbers = Vec::new();
        let mut rest = text;
        loop {
            let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
            let (head, tail) = rest.split_at_checked(digits)?;
            // More digits than a release number has: a date or an id.
            if digits == 0 || digits > 8 {
                return None;
            }
            numbers.push(head.parse().ok()?);
            rest = tail;
            if numbers.len() == MAX_NUMBERS {
                break;
            }
            let mut next = rest.chars();
            let separator = matches!(next.next(), Some('.' | '_'));
            if separator && next.next().is_some_and(|c| c.is_ascii_digit()) {
                rest = rest.get(1..).unwrap_or_default();
            } else {
                break;
            }
        }
        let tail = rest.trim_start_matches(['-', '.', '_']);
        let lower: String = tail.chars().take(5).collect::<String>().to_lowercase();
        let pre = ["rc", "alpha", "beta", "dev", "pre"]
            .iter()
            .any(|p| lower.starts_with(p))
            || lower.starts_with(['a', 'b'])
                && lower.chars().nth(1).is_some_and(|c| c.is_ascii_digit());
        (numbers.len() >= 2 || after_v).then_some(Self { numbers, pre })
    }

    /// True if it gives no fewer numbers than the other.
    pub fn is_as_exact_as(&self, other: &Self) -> bool {
        self.numbers.len() >= other.numbers.len()
    }

    /// All releases that stand in a text.
    pub fn all(text: &str) -> impl Iterator<Item = Self> {
        text.split(|c: char| {
            c.is_whitespace() || matches!(c, '/' | '@' | '=' | ':' | ',' | '"' | '\'' | '(' | ')')
        })
        .filter_map(Self::parse)
    }
}

impl PartialOrd for Version {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Version {
    fn cmp(&self, other: &Self) -> Ordering {
        let length = self.numbers.len().max(other.numbers.len());
        let padded = |v: &Self| {
            let mut numbers = v.numbers.clone();
            numbers.resize(length, 0);
            numbers
        };
        padded(self)
            .cmp(&padded(other))
            .then(other.pre.cmp(&self.pre))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_releases_and_nothing_else() {
        for (word, numbers) in [
            ("v4.2.0", Some(vec![4, 2, 0])),
            ("widget-4.2.0.tar.gz", Some(vec![4, 2, 0])),
            ("release_4_2", Some(vec![4, 2])),
            ("v5", Some(vec![5])),
            ("py3.11-widget-1.2.3", Some(vec![1, 2, 3])),
            ("main", None),
            ("5", None),
            ("20310302123456789", None),
        ] {
            assert_eq!(Version::parse(word).map(|v| v.numbers), numbers, "{word}");
        }
    }

    #[test]
    fn compares_numbers_and_pre_releases() {
        let v = |s| Version::parse(s).unwrap();
        assert!(v("4.10") > v("4.9.9"));
        assert!(v("4.2.0rc1") < v("4.2"));
        assert!(v("4.2b1") < v("4.2"));
        assert_eq!(v("v4.2").cmp(&v("4.2.0")), Ordering::Equal);
    }

    proptest::proptest! {
        #[test]
        fn never_panics(word in "[v0-9._a-z-]{0,30}|\\PC{0,20}") {
            let _ = Version::parse(&word);
        }
    }
}
