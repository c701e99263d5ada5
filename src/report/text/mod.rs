//! The report for a person at a terminal: the verdict, what it rests on, what could not be seen.
//!
//! Styles are written always; the stream they go to removes them where they are not wanted.

mod findings;
mod provenance;
mod scanned;
mod similarity;

use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Paint};

use super::escape::for_terminal;
use super::model::{AuditReport, RunReport};
use super::phrases;
use super::sentences;
use super::{Lang, Report, Style};
use crate::verdict::measures::Verdict;
use crate::verdict::words;

/// `--format text`.
pub struct Text;

/// Characters of an excerpt or command that fit on a line.
const EXCERPT: usize = 100;

const DIM: Paint = Paint::new().dimmed();
const BOLD: Paint = Paint::new().bold();

impl Report for Text {
    fn name(&self) -> &'static str {
        "text"
    }

    fn write(&self, report: &AuditReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
        for (position, run) in report.runs.iter().enumerate() {
            if position > 0 && !style.quiet {
                writeln!(out)?;
            }
            write_run(run, style, out)?;
        }
        if report.runs.len() > 1 && !style.quiet {
            write_summary(report, style.lang, out)?;
        }
        Ok(())
    }
}

fn write_run(run: &RunReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    headline(run, style.lang, out)?;
    if style.quiet || run.error.is_some() {
        return Ok(());
    }
    write_reason(run, style, out)?;
    if let Some(measured) = &run.similarity {
        similarity::write(run, measured, style, out)?;
    }
    findings::write(run, style, out)?;
    provenance::write(run, style, out)?;
    write_flags(run, style.lang, out)?;
    write_limits(run, style, out)
}

/// The line with the verdict.
pub(crate) fn headline(run: &RunReport, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    if run.is_scan() {
        return scanned::headline(run, lang, out);
    }
    let name = for_terminal(&run.run);
    let Some(verdict) = run.verdict else {
        let paint = Paint::new().fg_color(Some(AnsiColor::Red.into())).bold();
        let word = lang.pick("ERROR", "出错");
        writeln!(out, "{paint}{word}{paint:#}  {name}")?;
        for line in run.error.as_deref().unwrap_or_default().lines() {
            writeln!(out, "  {}", for_terminal(line))?;
        }
        return Ok(());
    };
    let paint = verdict_paint(verdict);
    let word = phrases::verdict(lang, verdict);
    write!(out, "{paint}{word}{paint:#}  {BOLD}{name}{BOLD:#}    ")?;
    let mut parts = Vec::new();
    if let Some(reason) = &run.reason {
        parts.push(words::reason(*reason, lang).to_owned());
    }
    if !run.causes.is_empty() && verdict != Verdict::Clean {
        let names: Vec<_> = run
            .causes
            .iter()
            .map(|c| phrases::cause(lang, *c))
            .collect();
        parts.push(format!(
            "{} {}",
            lang.pick("cause", "原因"),
            names.join(" + ")
        ));
    }
    if let Some(confidence) = run.confidence {
        parts.push(format!(
            "{} {}",
            lang.pick("confidence", "置信度"),
            phrases::confidence(lang, confidence)
        ));
    }
    write!(out, "{}", parts.join(lang.pick(", ", "，")))?;
    if let (Some(clause), Some(label)) = (run.clause, run.author_label) {
        write!(
            out,
            "   {DIM}[{} {clause}; {}]{DIM:#}",
            lang.pick("clause", "条款"),
            label.name()
        )?;
    }
    if run.excluded {
        write!(
            out,
            "   {DIM}{}{DIM:#}",
            lang.pick("[excluded]", "[已剔除]")
        )?;
    }
    writeln!(out)
}

fn verdict_paint(verdict: Verdict) -> Paint {
    let colour = match verdict {
        Verdict::Clean => AnsiColor::Green,
        Verdict::Inconclusive => AnsiColor::Blue,
        Verdict::Partial => AnsiColor::Yellow,
        Verdict::Invalid => AnsiColor::Red,
    };
    Paint::new().fg_color(Some(colour.into())).bold()
}

/// What met the clause; with `--verbose` also the clause that was missed by least.
fn write_reason(run: &RunReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    if let Some(conditions) = &run.words.conditions {
        let because = style.lang.pick("because ", "因为");
        writeln!(out, "  {because}{}", for_terminal(conditions))?;
    }
    match &run.words.missed {
        Some(missed) if style.verbose => writeln!(out, "  {}", for_terminal(missed)),
        _ => Ok(()),
    }
}

fn more(lang: Lang, all: usize, shown: usize, what: &str, out: &mut dyn Write) -> io::Result<()> {
    let left = all.saturating_sub(shown);
    if left == 0 {
        return Ok(());
    }
    match lang {
        Lang::En => writeln!(out, "    {DIM}… and {left} more {what} (-v){DIM:#}"),
        Lang::Zh => writeln!(out, "    {DIM}……另有 {left} {what}（-v）{DIM:#}"),
    }
}

fn write_flags(run: &RunReport, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    if run.flags.is_empty() {
        return Ok(());
    }
    let flags: Vec<_> = run.flags.iter().map(|f| phrases::flag(lang, *f)).collect();
    writeln!(
        out,
        "  {}{}",
        lang.pick("flags: ", "标记："),
        flags.join(lang.pick(", ", "、"))
    )
}

fn write_limits(run: &RunReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let lang = style.lang;
    if !run.unchecked.is_empty() {
        let list: Vec<_> = run.unchecked.iter().map(|u| said(lang, u)).collect();
        writeln!(
            out,
            "  {DIM}{}{DIM:#}{}",
            lang.pick("could not check: ", "无法检查："),
            list.join(lang.pick("; ", "；"))
        )?;
    }
    let notes = run.notes.iter().filter(|_| style.verbose);
    for problem in run.problems.iter().chain(notes) {
        writeln!(
            out,
            "  {DIM}{}{DIM:#}{}",
            lang.pick("note: ", "注意："),
            said(lang, problem)
        )?;
    }
    Ok(())
}

/// A sentence of the report in the reader's language, safe to print.
fn said(lang: Lang, sentence: &str) -> String {
    for_terminal(&sentences::say(lang, sentence)).into_owned()
}

fn write_summary(report: &AuditReport, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    if report.runs.iter().all(RunReport::is_scan) {
        return Ok(());
    }
    let s = report.summary;
    let words = phrases::counts(lang, &s);
    writeln!(
        out,
        "\n{BOLD}{}{BOLD:#}{}{}",
        phrases::runs(lang, s.runs),
        lang.pick(": ", "："),
        words.join(lang.pick(", ", "，"))
    )
}
