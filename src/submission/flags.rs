//! What stands out in a submission. Flags ask for a look; they accuse nobody.

use serde::Serialize;

use super::model::{Rate, Submission};
use super::statistics::OUTLIER_Z;

/// The line of the post: above this share of matches it asks submitters for an explanation.
pub const LINE: f64 = 0.2;

/// From how many lines on a gold patch counts as large: no honest match of that size was seen on 666
/// predictions.
pub const LARGE_LINES: u64 = 16;

/// Matches on large gold patches that raise a flag.
pub const LARGE_MATCHES: u64 = 3;

/// What stands out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Flag {
    /// Which flag.
    pub flag: Kind,
    /// The numbers, in words.
    pub text: String,
}

/// The flags, the one to look at first first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// More instances predicted than the split has: often the wrong file, not a leak.
    MorePredictionsThanSplit,
    /// More than 20 % match outside the split.
    MatchesOutsideSplit,
    /// Several full matches on large gold patches: what separates a leak from a strong model.
    LargeMatches,
    /// More than 20 % match by the published rule.
    AboveLine,
    /// More matches than resolved instances.
    MatchesAboveResolved,
    /// Far above the other submissions.
    Outlier,
}

impl Kind {
    /// Name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::MorePredictionsThanSplit => "more_predictions_than_split",
            Self::MatchesOutsideSplit => "matches_outside_split",
            Self::LargeMatches => "large_matches",
            Self::AboveLine => "above_line",
            Self::MatchesAboveResolved => "matches_above_resolved",
            Self::Outlier => "outlier",
        }
    }
}

/// A rate in per cent, for people.
pub fn percent(rate: Option<f64>) -> String {
    rate.map_or_else(|| "-".to_owned(), |rate| format!("{:.1} %", 100.0 * rate))
}

fn share(matches: u64, of: u64) -> String {
    let rate = (of > 0).then(|| matches as f64 / of as f64);
    format!("{matches} of {of} ({})", percent(rate))
}

/// The flags of a submission by itself.
pub(super) fn of_submission(submission: &Submission<'_>, split_size: u64) -> Vec<Flag> {
    let mut flags = Vec::new();
    let mut add = |flag, text| flags.push(Flag { flag, text });
    let outside = submission.outside;
    let inside_and_outside = || {
        format!(
            "by the published rule {} match inside the split, {} with a gold patch outside, {} of all rows. A file \
             for another split explains this as well as a leak does",
            share(submission.blog.matches, submission.denominator),
            share(outside.blog_matches, outside.with_gold),
            share(submission.all_rows.blog_matches, submission.all_rows.rows),
        )
    };
    let rate_outside = Rate::new(outside.blog_matches, outside.with_gold).rate;
    if submission.unique > split_size {
        add(
            Kind::MorePredictionsThanSplit,
            format!(
                "{} predictions for a split of {split_size} instances, {} of them for instances outside it; {}",
                submission.unique,
                outside.instances,
                inside_and_outside(),
            ),
        );
    } else if rate_outside.is_some_and(|rate| rate > LINE) {
        add(
            Kind::MatchesOutsideSplit,
            format!(
                "{} predictions for instances outside the split; {}",
                outside.instances,
                inside_and_outside(),
            ),
        );
    }
    let large = &submission.large;
    if large.robust.matches >= LARGE_MATCHES {
        add(
            Kind::LargeMatches,
            format!(
                "{} full matches on gold patches of {LARGE_LINES} and more lines, where chance gives {:.2}",
                share(large.robust.matches, large.instances),
                large.expected,
            ),
        );
    }
    if submission.blog.rate.is_some_and(|rate| rate > LINE) {
        add(
            Kind::AboveLine,
            format!(
                "{} match by the published rule, more than its line of {}",
                share(submission.blog.matches, submission.denominator),
                percent(Some(LINE)),
            ),
        );
    }
    if let Some(resolved) = &submission.resolved {
        let matches = submission.blog.matches.max(submission.robust.matches);
        if matches > resolved.instances {
            add(
                Kind::MatchesAboveResolved,
                format!(
                    "{} match and only {} are resolved; {} matches are not resolved",
                    share(matches, submission.denominator),
                    share(resolved.instances, submission.denominator),
                    resolved.unresolved_matches,
                ),
            );
        }
    }
    flags
}

/// The flag of a submission among others.
pub(super) fn outlier(
    rule: &str,
    z: Option<f64>,
    p: Option<f64>,
    significant: bool,
) -> Option<Flag> {
    let by_z = z.is_some_and(|z| z > OUTLIER_Z);
    if !by_z && !significant {
        return None;
    }
    let mut text = format!("far above the other submissions by the {rule} rule:");
    if let Some(z) = z {
        text.push_str(&format!(" modified z {z:.1}"));
    }
    if let Some(p) = p {
        text.push_str(&format!(
            "{} beta-binomial tail {p:.1e}",
            if z.is_some() { "," } else { "" }
        ));
    }
    Some(Flag {
        flag: Kind::Outlier,
        text,
    })
}
