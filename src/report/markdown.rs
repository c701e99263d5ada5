//! Rows for an audit log in Markdown: run, conclusion, evidence.
//!
//! The conclusion is said by cause: "copied" stands only where taking is shown, a match without a
//! recorded source is called just that, and a fault of the environment is not the agent's. Names and
//! excerpts come from the audited party; nothing in them can end a cell, start a row or become HTML.

use std::io::{self, Write};

use super::escape::{cut, for_terminal};
use super::model::{AuditReport, RunReport};
use super::{Lang, Report, Style, phrases, sentences};
use crate::rules::finding::{Finding, Kind, Severity, Stage};
use crate::verdict::check::Reason;
use crate::verdict::measures::Verdict;
use crate::verdict::words;

/// `--format markdown`.
pub struct Markdown;

/// Characters of an excerpt in a cell.
const EXCERPT: usize = 80;

/// Things that could not be checked, in one cell.
const UNCHECKED_SHOWN: usize = 2;

impl Report for Markdown {
    fn name(&self) -> &'static str {
        "markdown"
    }

    fn write(&self, report: &AuditReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
        write_head(style.lang, out)?;
        for run in &report.runs {
            write_row(run, style.lang, out)?;
        }
        Ok(())
    }
}

/// The head of the table.
///
/// # Errors
/// What the stream says.
pub fn write_head(lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let head = lang.pick("| run | conclusion | evidence |", "| 实验 | 结论 | 证据 |");
    writeln!(out, "{head}\n|---|---|---|")
}

/// The row of one run.
///
/// # Errors
/// What the stream says.
pub fn write_row(run: &RunReport, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "| {} | {} | {} |",
        cell(&run.run),
        conclusion(run, lang),
        evidence(run, lang)
    )
}

/// Text of others as a cell: one line, no markup, no HTML.
pub fn cell(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in for_terminal(text).chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            // A backslash keeps a pipe from ending the cell and the others from being markup.
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '~' | '$' | '#' | '!' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

/// The verdict in the words of the audit log.
fn conclusion(run: &RunReport, lang: Lang) -> String {
    let Some(verdict) = run.verdict else {
        return lang.pick("could not be judged", "未能判断").to_owned();
    };
    let word = match (verdict, run.is_harness_fault()) {
        (_, true) => lang.pick("✘ **INVALID (environment)**", "✘ **INVALID（环境问题）**"),
        (Verdict::Clean, _) => lang.pick("✔ clean", "✔ 干净"),
        (Verdict::Inconclusive, _) => lang.pick("? cannot be told", "？无法判断"),
        (Verdict::Partial | Verdict::Invalid, _) => {
            let name = match verdict {
                Verdict::Invalid => lang.pick("✘ **INVALID", "✘ **INVALID"),
                _ => lang.pick("⚠ **PARTIAL", "⚠ **PARTIAL"),
            };
            let (open, close) = (lang.pick(" (", "（"), lang.pick(")**", "）**"));
            let text = format!("{name}{open}{}{close}", cause_word(run, lang));
            return with_excluded(text, run, lang);
        }
    };
    with_excluded(word.to_owned(), run, lang)
}

fn with_excluded(mut text: String, run: &RunReport, lang: Lang) -> String {
    if run.excluded {
        text.push_str(lang.pick(" (excluded)", "（已剔除）"));
    }
    text
}

/// Why, in one or two words. Having seen an answer, or saying so, is not yet having copied it.
fn cause_word(run: &RunReport, lang: Lang) -> &'static str {
    match (run.reason, run.words.audit_log) {
        (Some(reason @ (Reason::AnswerSeen | Reason::AdmissionOnly)), _) => {
            words::reason(reason, lang)
        }
        (_, Some("抄袭")) => lang.pick("copied", "抄袭"),
        _ => lang.pick("identical, source not recorded", "一致但来源未记录"),
    }
}

/// What the conclusion rests on, in one cell.
fn evidence(run: &RunReport, lang: Lang) -> String {
    if let Some(error) = &run.error {
        return cell(error.lines().next().unwrap_or_default());
    }
    let mut parts = Vec::new();
    if let (Some(reason), Some(clause)) = (run.reason, run.clause) {
        let reason = words::reason(reason, lang);
        parts.push(match lang {
            Lang::En => format!("{reason} (clause {clause})"),
            Lang::Zh => format!("{reason}（条款 {clause}）"),
        });
    }
    if let Some(s) = &run.similarity {
        let (same, files) = (s.hand_written_identical, s.hand_written_files);
        let (shared, n) = (s.u_ratio.num, s.u_ratio.den);
        parts.push(match lang {
            Lang::En => format!(
                "{same} of {} identical, {shared} of {}",
                phrases::number(files, "hand-written file"),
                phrases::number(n, "distinctive line")
            ),
            Lang::Zh => format!("{files} 个手写文件中 {same} 个一致，特征行 {shared}/{n}"),
        });
    }
    if let Some(finding) = strongest(&run.findings) {
        parts.push(format!(
            "{}:{} “{}”{}{}{}",
            cell(&finding.trace),
            finding.line,
            cell(&cut(&finding.excerpt, EXCERPT)),
            lang.pick(" (", "（"),
            cell(&finding.rule),
            lang.pick(")", "）")
        ));
    }
    let ledger = run.provenance.as_ref().and_then(|p| p.ledger);
    if let (Some(Verdict::Clean), Some(ledger)) = (run.verdict, ledger) {
        parts.extend(phrases::ledger(lang, &ledger));
    }
    if !run.flags.is_empty() {
        let flags: Vec<_> = run.flags.iter().map(|f| phrases::flag(lang, *f)).collect();
        parts.push(flags.join(lang.pick(", ", "、")));
    }
    if !run.unchecked.is_empty() {
        let shown: Vec<_> = run
            .unchecked
            .iter()
            .take(UNCHECKED_SHOWN)
            .map(|u| cell(&sentences::say(lang, u)))
            .collect();
        let shown = shown.join(lang.pick("; ", "；"));
        parts.push(format!(
            "{}{shown}",
            lang.pick("could not check: ", "无法检查：")
        ));
    }
    parts.join(lang.pick("; ", "；"))
}

/// The finding that says most: what was obtained or admitted, then the gravest, then the first.
fn strongest(findings: &[Finding]) -> Option<&Finding> {
    let weight = |f: &Finding| match (f.kind, f.stage) {
        (Kind::Admission, _) => 2,
        (Kind::Action, Some(Stage::Used | Stage::Obtained)) if !f.blocked => 3,
        _ => 0,
    };
    findings
        .iter()
        .filter(|f| f.waived.is_none() && weight(f) > 0)
        .max_by_key(|f| {
            let earliest = std::cmp::Reverse(f.event);
            (weight(f), f.severity == Severity::Critical, earliest)
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdict::judge::Flag;

    fn run(name: &str) -> RunReport {
        RunReport {
            error: None,
            verdict: Some(Verdict::Invalid),
            reason: Some(Reason::UnexplainedCopy),
            clause: Some(4),
            ..RunReport::failed(name, "/srv/x", String::new())
        }
    }

    fn row(run: &RunReport, lang: Lang) -> String {
        let mut out = Vec::new();
        write_row(run, lang, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn a_name_can_neither_end_a_cell_nor_start_a_row_nor_be_html() {
        let name = "T1|x\n| T2 | ✔ | <img src=x onerror=a> &amp; \u{1b}[2J\u{202e}`**[a](b)";
        let row = row(&run(name), Lang::En);
        assert_eq!(row.lines().count(), 1, "{row}");
        let bare = row.replace("\\\\", "").replace("\\|", "");
        assert_eq!(bare.matches('|').count(), 4, "{row}");
        for bad in ["<img", "\u{1b}", "\u{202e}", "[a](", " &amp; "] {
            assert!(!row.contains(bad), "{bad:?} in {row}");
        }
    }

    #[test]
    fn the_word_follows_the_cause() {
        let mut taken = run("r");
        taken.words.audit_log = Some("抄袭");
        let mut harness = run("r");
        harness.reason = Some(Reason::GtPreapplied);
        let mut seen = taken.clone();
        seen.verdict = Some(Verdict::Partial);
        seen.reason = Some(Reason::AnswerSeen);
        let mut clean = run("r");
        clean.verdict = Some(Verdict::Clean);
        clean.excluded = true;
        for (run, zh, en) in [
            (
                run("r"),
                "✘ **INVALID（一致但来源未记录）**",
                "✘ **INVALID (identical, source not recorded)**",
            ),
            (taken, "✘ **INVALID（抄袭）**", "✘ **INVALID (copied)**"),
            (
                harness,
                "✘ **INVALID（环境问题）**",
                "✘ **INVALID (environment)**",
            ),
            (
                seen,
                "⚠ **PARTIAL（看到过答案）**",
                "⚠ **PARTIAL (answer seen)**",
            ),
            (clean, "✔ 干净（已剔除）", "✔ clean (excluded)"),
            (
                RunReport::failed("r", "p", "gone | away\n  fix".into()),
                "未能判断",
                "could not be judged",
            ),
        ] {
            assert!(
                row(&run, Lang::Zh).contains(&format!("| {zh} |")),
                "{}",
                row(&run, Lang::Zh)
            );
            assert!(
                row(&run, Lang::En).contains(&format!("| {en} |")),
                "{}",
                row(&run, Lang::En)
            );
        }
    }

    #[test]
    fn flags_and_limits_are_said() {
        let mut run = run("r");
        run.flags = vec![Flag::SummaryOnly];
        run.unchecked = vec!["tool calls".into()];
        let row = row(&run, Lang::En);
        assert!(
            row.contains("summary only; could not check: tool calls"),
            "{row}"
        );
    }
}
