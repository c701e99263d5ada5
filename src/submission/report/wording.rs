//! Words about a match that all formats for people share.

use super::super::flags::percent;
use super::super::gold::FileHunks;
use super::super::model::{Match, Spread};
use super::Style;

/// Most lines of the hunks of a match that formats for people show without `detail`.
const SHOWN_LINES: usize = 16;

/// The lines of the hunks of a match to show, and how many more there are.
pub(super) fn shown_hunks(files: &[FileHunks], style: Style) -> (Vec<&str>, usize) {
    let lines = files
        .iter()
        .flat_map(|file| std::iter::once(file.path.as_str()).chain(file.hunks.lines()));
    let all = lines.clone().count();
    let limit = if style.detail { all } else { SHOWN_LINES };
    (lines.take(limit).collect(), all.saturating_sub(limit))
}

/// `1 line`, `2 lines`.
pub(super) fn lines(count: u64) -> String {
    format!("{count} line{}", if count == 1 { "" } else { "s" })
}

/// A number without needless digits.
pub(super) fn number(value: f64) -> String {
    if value == 0.0 || (0.01..1e6).contains(&value) {
        format!("{value:.2}")
    } else {
        format!("{value:.1e}")
    }
}

/// What an instance's match rests on: "12 lines, chance 0.02, published robust, peers 1 of 9, not resolved".
pub(super) fn evidence(found: &Match<'_>) -> String {
    let mut parts = vec![
        lines(found.lines),
        format!("chance {}", number(found.p_chance)),
        rules(found),
    ];
    if let Some(peers) = found.peers {
        parts.push(format!("peers {} of {}", peers.matching, peers.of));
    }
    if let Some(resolved) = found.resolved {
        parts.push(if resolved { "resolved" } else { "NOT resolved" }.to_owned());
    }
    if !found.in_split {
        parts.push("outside the split".to_owned());
    }
    parts.join(", ")
}

/// The rules by which an instance matches.
fn rules(found: &Match<'_>) -> String {
    let mut rules = Vec::new();
    for (name, yes) in [
        ("published", found.blog),
        ("newline", found.blog_newline && !found.blog),
        ("no-context", found.no_context && !found.blog),
        ("robust", found.robust),
        ("tests", found.tests),
    ] {
        if yes {
            rules.push(name);
        }
    }
    rules.join(" ")
}

/// "average 41.7 % (30.0 to 52.1); without the outliers a, b: 12.0 % (…)". `escape` makes a name harmless for the format.
pub(super) fn average(s: &Spread, escape: &dyn Fn(&str) -> String) -> String {
    let with_range = |average: Option<f64>, range: Option<[f64; 2]>| {
        let range = range.map_or_else(String::new, |[low, high]| {
            format!(" ({} to {})", percent(Some(low)), percent(Some(high)))
        });
        format!("{}{range}", percent(average))
    };
    let mut out = format!("average {}", with_range(s.average, s.range));
    if !s.outliers.is_empty() {
        let names: Vec<String> = s.outliers.iter().map(|name| escape(name)).collect();
        out.push_str(&format!(
            "; without the outliers {}: {}",
            names.join(", "),
            with_range(s.average_without, s.range_without)
        ));
    }
    out
}
