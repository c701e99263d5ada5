//! CSV: one row for each treatment, denominator, grouping and group. UTF-8, comma, CRLF as RFC 4180.
//!
//! Texts that a spreadsheet would run as a formula (beginning with `=`, `+`, `-`, `@`, tab or carriage
//! return) get an apostrophe in front; numbers are never changed.

use std::io::{self, Write};

use super::Format;
use crate::score::analysis::{Analysis, Treated};
use crate::score::exact::float;
use crate::score::tables::{Row, Table};

/// CSV.
pub(super) struct Csv;

const HEADER: &str = "level,policy,denominator,by,scope,agent,runs,pass,partial,fail,unrated,rate,rate_low,rate_high,scored,mean_score,rank,rank_by_mean,rank_change";

impl Format for Csv {
    fn name(&self) -> &'static str {
        "csv"
    }

    fn write(&self, analysis: &Analysis, out: &mut dyn Write) -> io::Result<()> {
        write!(out, "{HEADER}\r\n")?;
        for treated in &analysis.treated {
            for (denominator, tables) in [
                ("runs_left", &treated.tables),
                ("common_items", &treated.common),
            ] {
                for table in tables {
                    for row in &table.rows {
                        line(analysis, treated, denominator, table, row, out)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn line(
    analysis: &Analysis,
    treated: &Treated,
    denominator: &str,
    table: &Table,
    row: &Row,
    out: &mut dyn Write,
) -> io::Result<()> {
    let number = |v: Option<f64>| v.map_or(String::new(), |v| format!("{v:.6}"));
    let whole = |v: Option<u64>| v.map_or(String::new(), |v| v.to_string());
    // The rank before is that of all runs, over the same denominator.
    let old = analysis.before().and_then(|before| match denominator {
        "runs_left" => before.row(table.by, &row.scope, &row.agent)?.rank,
        _ => before.common_row(table.by, &row.scope, &row.agent)?.rank,
    });
    let moved = old
        .zip(row.rank)
        .map(|(old, new)| (i128::from(new) - i128::from(old)).to_string());
    let cells = [
        treated.selection.level.name().to_string(),
        treated.selection.policy.name().to_string(),
        denominator.to_string(),
        table.by.name().to_string(),
        quote(&row.scope),
        quote(&row.agent),
        row.runs.to_string(),
        row.pass.to_string(),
        row.partial.to_string(),
        row.fail.to_string(),
        row.unrated.to_string(),
        number(row.rate().as_ref().and_then(float)),
        number(row.interval().map(|i| i.0)),
        number(row.interval().map(|i| i.1)),
        row.scored.to_string(),
        number(row.mean.as_ref().and_then(float)),
        whole(row.rank),
        whole(row.rank_by_mean),
        moved.unwrap_or_default(),
    ];
    write!(out, "{}\r\n", cells.join(","))
}

/// A text as a cell.
fn quote(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        "'"
    } else {
        ""
    };
    if guard.is_empty() && !text.contains([',', '"', '\n', '\r', ';', '\t']) {
        return text.to_string();
    }
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_and_delimiters_are_harmless() {
        for (text, cell) in [
            ("plain-name", "plain-name"),
            ("=cmd|' /C calc'!A0", "\"'=cmd|' /C calc'!A0\""),
            ("@x", "\"'@x\""),
            ("-1", "\"'-1\""),
            ("a,\"b\"", "\"a,\"\"b\"\"\""),
            ("", ""),
        ] {
            assert_eq!(quote(text), cell, "{text}");
        }
    }
}
