//! The report for a terminal.

use std::io::{self, Write};

use super::super::flags::percent;
use super::super::model::{Population, Rate, Report, Spread, Submission};
use super::wording::{average, evidence, number, shown_hunks};
use super::{Format, Style};
use crate::report::escape::for_terminal;

/// `--format text`.
pub(super) struct Text;

impl Format for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn write(&self, report: &Report<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
        inputs(report, out)?;
        for submission in &report.submissions {
            writeln!(out)?;
            head(submission, out)?;
            counts(submission, report, out)?;
            rates(submission, report, out)?;
            sizes(submission, out)?;
            compat(submission, out)?;
            matches(submission, style, out)?;
        }
        if let Some(population) = &report.population {
            writeln!(out)?;
            self::population(population, out)?;
        }
        Ok(())
    }
}

fn inputs(report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let inputs = &report.inputs;
    let split = inputs.split.map_or_else(
        || "the instances with a gold patch".to_owned(),
        |path| for_terminal(path).into_owned(),
    );
    writeln!(
        out,
        "gold: {} instances; split: {} instances ({split}){}",
        inputs.gold_instances,
        inputs.split_size,
        if inputs.split_without_gold > 0 {
            format!(
                ", {} of them without a gold patch",
                inputs.split_without_gold
            )
        } else {
            String::new()
        }
    )?;
    for (what, ids) in [
        (
            "gold patches that cannot be compared",
            inputs.gold_unusable.clone(),
        ),
        (
            "instances with two different gold patches (the first counts)",
            inputs.gold_conflicting.iter().map(String::as_str).collect(),
        ),
    ] {
        if !ids.is_empty() {
            let shown: Vec<_> = ids.iter().take(5).map(|id| for_terminal(id)).collect();
            let more = if ids.len() > 5 { ", …" } else { "" };
            writeln!(out, "{what}: {}: {}{more}", ids.len(), shown.join(", "))?;
        }
    }
    for file in inputs.gold.iter().filter(|file| file.problems.count > 0) {
        writeln!(
            out,
            "{}: {} lines hold no gold patch",
            for_terminal(&file.path),
            file.problems.count
        )?;
    }
    for file in &report.skipped {
        writeln!(
            out,
            "skipped {}: {}",
            for_terminal(&file.path),
            for_terminal(&file.why)
        )?;
    }
    Ok(())
}

fn head(s: &Submission<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", for_terminal(&s.name))?;
    for flag in &s.flags {
        writeln!(
            out,
            "  FLAG {}: {}",
            flag.flag.name(),
            for_terminal(&flag.text)
        )?;
    }
    Ok(())
}

fn counts(s: &Submission<'_>, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    write!(out, "  {} rows, {} instances", s.rows, s.unique)?;
    if s.duplicates > 0 {
        write!(
            out,
            ", {} duplicates ({} instances with different patches; the {} row counts:",
            s.duplicates,
            s.differing_duplicates,
            report.inputs.duplicates.name(),
        )?;
        let all: Vec<String> = s
            .by_duplicates
            .iter()
            .map(|(name, n)| format!(" {name} {}/{}", n.blog, n.robust))
            .collect();
        write!(out, "{} matches published/robust)", all.join(","))?;
    }
    writeln!(
        out,
        ", {} outside the split, {} empty, {} without a final newline",
        s.outside_split, s.empty, s.no_final_newline
    )?;
    if s.unparsable > 0 {
        let kinds: Vec<String> = s
            .unparsable_kinds
            .iter()
            .map(|(name, n)| format!("{name} {} ({} read tolerantly)", n.count, n.repaired))
            .collect();
        writeln!(
            out,
            "  unidiff fails on {}: {}",
            s.unparsable,
            kinds.join(", ")
        )?;
    }
    if s.no_change_found > 0 {
        writeln!(
            out,
            "  no change to a file in {} predictions",
            s.no_change_found
        )?;
    }
    if s.broken_rows > 0 {
        writeln!(out, "  {} lines are no prediction:", s.broken_rows)?;
        for problem in &s.problems.listed {
            writeln!(
                out,
                "    {}:{}: {}",
                for_terminal(&s.path),
                problem.line,
                for_terminal(&problem.what)
            )?;
        }
        let more = s.problems.count - u64::try_from(s.problems.listed.len()).unwrap_or(0);
        if more > 0 {
            writeln!(out, "    … {more} more")?;
        }
    }
    writeln!(out, "  rates are of {}", s.denominator_words)
}

fn rate(name: &str, rate: Rate, of: u64, out: &mut dyn Write) -> io::Result<()> {
    let interval = rate.interval.map_or_else(String::new, |[low, high]| {
        format!(
            "{:>8}   [{:.1}, {:.1}]",
            percent(rate.rate),
            100.0 * low,
            100.0 * high
        )
    });
    writeln!(
        out,
        "    {name:<42} {:>6} of {of:<6}{interval}",
        rate.matches
    )
}

fn rates(s: &Submission<'_>, report: &Report<'_>, out: &mut dyn Write) -> io::Result<()> {
    let n = s.denominator;
    rate("published rule (unidiff, bit for bit)", s.blog, n, out)?;
    rate(
        "  once the final newline is repaired",
        s.blog_newline,
        n,
        out,
    )?;
    rate("  without context, read tolerantly", s.no_context, n, out)?;
    rate("robust rule", s.robust, n, out)?;
    let split = report.inputs.split_size;
    if split != n {
        rate(
            "published rule, of the whole split",
            s.blog_of_split,
            split,
            out,
        )?;
        rate(
            "robust rule, of the whole split",
            s.robust_of_split,
            split,
            out,
        )?;
    }
    let all = s.all_rows;
    if s.outside_split > 0 || s.duplicates > 0 {
        rate(
            "published rule, all rows as they stand",
            Rate::new(all.blog_matches, all.rows),
            all.rows,
            out,
        )?;
    }
    if s.outside.with_gold > 0 {
        rate(
            "published rule, outside the split",
            Rate::new(s.outside.blog_matches, s.outside.with_gold),
            s.outside.with_gold,
            out,
        )?;
    }
    rate(
        &format!("robust rule, gold of {} and more lines", s.large.from_lines),
        s.large.robust,
        s.large.instances,
        out,
    )?;
    writeln!(
        out,
        "    chance alone: {} in all, {} on the large ones (Poisson tail {}, for triage)",
        number(s.expected_by_chance),
        number(s.large.expected),
        number(s.large.p_chance)
    )?;
    if s.tests.matches > 0 {
        writeln!(
            out,
            "    the hidden tests are in {} of {} predictions",
            s.tests.matches, s.tests.instances
        )?;
    }
    if let Some(resolved) = &s.resolved {
        writeln!(
            out,
            "    resolved: {} of {n} ({}); matches that are not resolved: {}",
            resolved.instances,
            percent(resolved.rate),
            resolved.unresolved_matches
        )?;
    }
    Ok(())
}

fn sizes(s: &Submission<'_>, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "    {:<12}{:>10}{:>11}{:>8}{:>10}",
        "gold lines", "instances", "published", "robust", "chance"
    )?;
    for class in s.sizes.iter().filter(|class| class.instances > 0) {
        writeln!(
            out,
            "    {:<12}{:>10}{:>11}{:>8}{:>10}{}",
            class.lines,
            class.instances,
            class.blog,
            class.robust,
            number(class.expected),
            if class.extrapolated {
                "  extrapolated"
            } else {
                ""
            }
        )?;
    }
    Ok(())
}

fn compat(s: &Submission<'_>, out: &mut dyn Write) -> io::Result<()> {
    for row in s.compat.iter().flatten() {
        writeln!(
            out,
            "  row {}: {} {}",
            row.line,
            for_terminal(&row.instance_id),
            row.outcome
        )?;
    }
    Ok(())
}

fn matches(s: &Submission<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    if s.matches.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "  {} matching instances, the largest gold patch first:",
        s.matches.len()
    )?;
    for found in &s.matches {
        writeln!(
            out,
            "    {}  {}",
            for_terminal(found.instance_id),
            evidence(found)
        )?;
        let files = found.hunks.files();
        let (shown, more) = shown_hunks(&files, style);
        for line in shown {
            writeln!(out, "      | {}", for_terminal(line))?;
        }
        if more > 0 {
            writeln!(out, "      | … {more} more lines (--detail shows all)")?;
        }
    }
    Ok(())
}

fn population(population: &Population, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "{} submissions beside each other",
        population.submissions
    )?;
    for (name, spread) in [
        ("published rule", &population.blog),
        ("robust rule", &population.robust),
    ] {
        self::spread(name, spread, out)?;
    }
    Ok(())
}

fn spread(name: &str, s: &Spread, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "  {name}: {}",
        average(s, &|name| for_terminal(name).into_owned())
    )?;
    if let Some(fit) = s.beta_binomial {
        writeln!(
            out,
            "    beta-binomial: mean {}, rho {:.4}",
            percent(Some(fit.mean)),
            fit.rho
        )?;
    }
    if let Some(why) = &s.no_test {
        writeln!(out, "    no test: {why}")?;
    }
    for test in s.tests.iter().filter(|t| t.z.is_some()) {
        writeln!(
            out,
            "    {:<44} z {:>6.1}  tail {:>8}{}",
            for_terminal(&test.name),
            test.z.unwrap_or_default(),
            test.p.map_or_else(|| "-".to_owned(), number),
            if test.significant {
                "  significant"
            } else {
                ""
            }
        )?;
    }
    Ok(())
}
