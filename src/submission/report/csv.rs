//! Tables for spreadsheets: one row a matching instance, or one row a submission.
//!
//! Ids and patches are written by the audited party, and spreadsheets compute cells that begin with
//! `=`, `+`, `-` or `@`: such cells get a quote in front.

use std::borrow::Cow;
use std::io::{self, Write};

use super::super::model::{Match, Rate, Report, Submission};
use super::{Format, Style};

/// `--format csv`.
pub(super) struct Csv;

const MATCHES: &[&str] = &[
    "submission",
    "instance_id",
    "in_split",
    "lines",
    "p_chance",
    "blog",
    "blog_newline",
    "no_context",
    "robust",
    "tests",
    "resolved",
    "peers_matching",
    "peers_of",
    "hunks",
];

const SUBMISSIONS: &[&str] = &[
    "submission",
    "path",
    "flags",
    "rows",
    "unique",
    "duplicates",
    "outside_split",
    "without_gold",
    "broken_rows",
    "empty",
    "unparsable",
    "no_change_found",
    "no_final_newline",
    "denominator",
    "blog_matches",
    "blog_rate",
    "blog_low",
    "blog_high",
    "blog_newline_matches",
    "no_context_matches",
    "robust_matches",
    "robust_rate",
    "robust_low",
    "robust_high",
    "expected_by_chance",
    "large_instances",
    "large_robust_matches",
    "large_expected",
    "test_patch_matches",
    "resolved",
    "resolved_rate",
    "all_rows_blog_matches",
    "outside_blog_matches",
];

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn write(&self, report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
        let mut table = csv::Writer::from_writer(out);
        if style.summary {
            table.write_record(SUBMISSIONS)?;
            for submission in &report.submissions {
                write_row(&mut table, &submission_cells(submission))?;
            }
        } else {
            table.write_record(MATCHES)?;
            for submission in &report.submissions {
                for found in &submission.matches {
                    write_row(&mut table, &match_cells(&submission.name, found))?;
                }
            }
        }
        table.flush()
    }
}

fn write_row<W: Write>(table: &mut csv::Writer<W>, cells: &[String]) -> io::Result<()> {
    table.write_record(cells.iter().map(|cell| harmless(cell).into_owned()))?;
    Ok(())
}

/// A cell that no spreadsheet computes.
fn harmless(cell: &str) -> Cow<'_, str> {
    let computes = cell.trim_start().starts_with([
        '=', '+', '-', '@', '\u{ff1d}', '\u{ff0b}', '\u{ff0d}', '\u{ff20}',
    ]);
    if computes || cell.starts_with(['\t', '\r', '\n']) {
        Cow::Owned(format!("'{cell}"))
    } else {
        Cow::Borrowed(cell)
    }
}

fn optional(value: Option<impl ToString>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn match_cells(submission: &str, found: &Match<'_>) -> Vec<String> {
    let hunks: Vec<String> = found
        .hunks
        .files()
        .into_iter()
        .map(|file| format!("{}\n{}", file.path, file.hunks))
        .collect();
    vec![
        submission.to_owned(),
        found.instance_id.to_owned(),
        found.in_split.to_string(),
        found.lines.to_string(),
        format!("{:.3e}", found.p_chance),
        found.blog.to_string(),
        found.blog_newline.to_string(),
        found.no_context.to_string(),
        found.robust.to_string(),
        found.tests.to_string(),
        optional(found.resolved),
        optional(found.peers.map(|peers| peers.matching)),
        optional(found.peers.map(|peers| peers.of)),
        hunks.concat(),
    ]
}

fn rate_cells(rate: Rate) -> [String; 4] {
    let bound = |f: fn([f64; 2]) -> f64| optional(rate.interval.map(|i| format!("{:.6}", f(i))));
    [
        rate.matches.to_string(),
        optional(rate.rate.map(|rate| format!("{rate:.6}"))),
        bound(|[low, _]| low),
        bound(|[_, high]| high),
    ]
}

fn submission_cells(s: &Submission<'_>) -> Vec<String> {
    let flags: Vec<&str> = s.flags.iter().map(|flag| flag.flag.name()).collect();
    let mut cells = vec![
        s.name.clone(),
        s.path.clone(),
        flags.join(" "),
        s.rows.to_string(),
        s.unique.to_string(),
        s.duplicates.to_string(),
        s.outside_split.to_string(),
        s.without_gold.to_string(),
        s.broken_rows.to_string(),
        s.empty.to_string(),
        s.unparsable.to_string(),
        s.no_change_found.to_string(),
        s.no_final_newline.to_string(),
        s.denominator.to_string(),
    ];
    cells.extend(rate_cells(s.blog));
    cells.push(s.blog_newline.matches.to_string());
    cells.push(s.no_context.matches.to_string());
    cells.extend(rate_cells(s.robust));
    cells.extend([
        format!("{:.3}", s.expected_by_chance),
        s.large.instances.to_string(),
        s.large.robust.matches.to_string(),
        format!("{:.6}", s.large.expected),
        s.tests.matches.to_string(),
        optional(s.resolved.as_ref().map(|r| r.instances)),
        optional(
            s.resolved
                .as_ref()
                .and_then(|r| r.rate)
                .map(|r| format!("{r:.6}")),
        ),
        s.all_rows.blog_matches.to_string(),
        s.outside.blog_matches.to_string(),
    ]);
    cells
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_defused() {
        for (cell, want) in [
            ("=1+1", "'=1+1"),
            ("  @SUM(A1)", "'  @SUM(A1)"),
            ("-2", "'-2"),
            ("+cmd", "'+cmd"),
            ("\t=1", "'\t=1"),
            ("\u{ff1d}1", "'\u{ff1d}1"),
            ("django__django-1", "django__django-1"),
            ("", ""),
        ] {
            assert_eq!(harmless(cell), want);
        }
    }
}
