//! The report as Markdown, for issues and pages.

use std::io::{self, Write};

use super::super::flags::percent;
use super::super::model::{Match, Population, Rate, Report, Spread, Submission};
use super::wording::{average, evidence, number, shown_hunks};
use super::{Format, Style};
use crate::report::escape::for_terminal;

/// `--format markdown`.
pub(super) struct Markdown;

impl Format for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn write(&self, report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "# Exact matches\n")?;
        let split = report.inputs.split.map_or("gold files".to_owned(), cell);
        writeln!(
            out,
            "Gold: {} instances. Split: {} instances ({split}). Rates are of the predicted instances of the \
             split that have a gold patch. Intervals: 95 %, Wilson.\n",
            report.inputs.gold_instances, report.inputs.split_size
        )?;
        overview(report, out)?;
        if let Some(population) = &report.population {
            self::population(population, out)?;
        }
        for submission in &report.submissions {
            self::submission(submission, style, out)?;
        }
        if !report.skipped.is_empty() {
            writeln!(out, "\n## Skipped files\n")?;
            for file in &report.skipped {
                writeln!(out, "- {}: {}", cell(&file.path), cell(&file.why))?;
            }
        }
        Ok(())
    }
}

/// Text in a table or paragraph: nothing of it is markup.
fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in for_terminal(text).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '#' | '~' | '!' | '@' => {
                // The entity, since a backslash means nothing to some readers of tables.
                out.push_str(&format!("&#{};", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

fn rate(rate: Rate) -> String {
    let interval = rate.interval.map_or_else(String::new, |[low, high]| {
        format!(" [{:.1}, {:.1}]", 100.0 * low, 100.0 * high)
    });
    format!("{} ({}){interval}", rate.matches, percent(rate.rate))
}

fn overview(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "| submission | rows | instances | outside | empty | unparsable | of | published | newline | no context | robust | large | flags |\n\
         |---|---:|---:|---:|---:|---:|---:|---|---:|---:|---|---|---|"
    )?;
    for s in &report.submissions {
        let flags: Vec<&str> = s.flags.iter().map(|flag| flag.flag.name()).collect();
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} | {} of {} | {} |",
            cell(&s.name),
            s.rows,
            s.unique,
            s.outside_split,
            s.empty,
            s.unparsable,
            s.denominator,
            rate(s.blog),
            s.blog_newline.matches,
            s.no_context.matches,
            rate(s.robust),
            s.large.robust.matches,
            s.large.instances,
            cell(&flags.join(", ")),
        )?;
    }
    Ok(())
}

fn population(population: &Population, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n## {} submissions\n", population.submissions)?;
    for (name, spread) in [
        ("Published rule", &population.blog),
        ("Robust rule", &population.robust),
    ] {
        self::spread(name, spread, out)?;
    }
    Ok(())
}

fn spread(name: &str, s: &Spread, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "- {name}: {}", average(s, &cell))?;
    if let Some(fit) = s.beta_binomial {
        write!(
            out,
            "; beta-binomial mean {}, rho {:.4}",
            percent(Some(fit.mean)),
            fit.rho
        )?;
    }
    if let Some(why) = &s.no_test {
        write!(out, "; no test: {why}")?;
    }
    writeln!(out)
}

fn submission(s: &Submission<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n## {}\n", cell(&s.name))?;
    for flag in &s.flags {
        writeln!(
            out,
            "- **{}**: {}",
            cell(flag.flag.name()),
            cell(&flag.text)
        )?;
    }
    writeln!(out, "- Rates are of {}.", s.denominator_words)?;
    for (name, kind) in &s.unparsable_kinds {
        writeln!(
            out,
            "- `unidiff` fails on {} ({}); {} of them read tolerantly.",
            kind.count,
            cell(name),
            kind.repaired
        )?;
    }
    if s.broken_rows > 0 {
        writeln!(out, "- {} lines are no prediction.", s.broken_rows)?;
    }
    if let Some(resolved) = &s.resolved {
        writeln!(
            out,
            "- Resolved: {} ({}); matches that are not resolved: {}.",
            resolved.instances,
            percent(resolved.rate),
            resolved.unresolved_matches
        )?;
    }
    writeln!(
        out,
        "\n| gold lines | instances | published | robust | chance |\n|---|---:|---:|---:|---:|"
    )?;
    for class in s.sizes.iter().filter(|class| class.instances > 0) {
        writeln!(
            out,
            "| {} | {} | {} | {} | {} |",
            class.lines,
            class.instances,
            class.blog,
            class.robust,
            number(class.expected)
        )?;
    }
    matches(&s.matches, style, out)
}

fn matches(matches: &[Match<'_>], style: Style, out: &mut dyn Write) -> io::Result<()> {
    for found in matches {
        writeln!(
            out,
            "\n### {}\n\n{}\n",
            cell(found.instance_id),
            evidence(found)
        )?;
        let files = found.hunks.files();
        let (shown, more) = shown_hunks(&files, style);
        // An indented block, which no line can end.
        for line in shown {
            writeln!(out, "    {}", for_terminal(line))?;
        }
        if more > 0 {
            writeln!(out, "    … {more} more lines")?;
        }
    }
    Ok(())
}
