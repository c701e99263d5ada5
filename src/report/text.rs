//! The report for a person at a terminal: the verdict, what it rests on, what could not be seen.
//!
//! Styles are written always; the stream they go to removes them where they are not wanted.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Paint};

use super::escape::{cut, for_terminal};
use super::model::{AuditReport, RunReport};
use super::phrases;
use super::{Lang, Report, Style};
use crate::provenance::model::{Exposure, Ledger};
use crate::rules::finding::{Finding, Kind, Severity, Stage};
use crate::similarity::model::Similarity;
use crate::verdict::measures::Verdict;
use crate::verdict::words;

/// `--format text`.
pub struct Text;

/// Findings shown without `--verbose`; the number of those left out is printed.
const FINDINGS_SHOWN: usize = 5;
/// Compared files shown without `--verbose`.
const FILES_SHOWN: usize = 5;
/// Exposures shown without `--verbose`.
const EXPOSURES_SHOWN: usize = 3;
/// Characters of an excerpt or command that fit on a line.
const EXCERPT: usize = 100;

/// Copy score from which on it is worth saying what chance gives.
const ALIKE: f64 = 0.5;

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
    if style.quiet || run.verdict.is_none() {
        return Ok(());
    }
    write_reason(run, style, out)?;
    if let Some(similarity) = &run.similarity {
        write_similarity(run, similarity, style, out)?;
    }
    write_findings(run, style, out)?;
    write_provenance(run, style, out)?;
    write_flags(run, style.lang, out)?;
    write_limits(run, style, out)
}

fn headline(run: &RunReport, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
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

fn write_similarity(
    run: &RunReport,
    s: &Similarity,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let lang = style.lang;
    writeln!(out, "  {}", identical_files(lang, s))?;
    writeln!(
        out,
        "  {}",
        match lang {
            Lang::En => format!(
                "{} of {} distinctive lines of the ground truth are in the patch; containment {}, Jaccard {}, 12-token grams {}, longest identical run {} lines",
                s.u_ratio.num,
                s.u_ratio.den,
                share(s.containment),
                share(s.jaccard),
                share(s.t12),
                s.longest_run
            ),
            Lang::Zh => format!(
                "补丁含有参考的 {1} 个特征行中的 {0} 个；包含度 {2}，Jaccard {3}，12 词元组 {4}，最长一致段 {5} 行",
                s.u_ratio.num,
                s.u_ratio.den,
                share(s.containment),
                share(s.jaccard),
                share(s.t12),
                s.longest_run
            ),
        }
    )?;
    if let Some(chance) = &run.words.chance
        && (style.verbose || s.copy_score.unwrap_or(0.0) >= ALIKE)
    {
        writeln!(out, "  {}", for_terminal(chance))?;
    }
    write_files(s, style, out)
}

/// "35 of 35 hand-written files identical (all of the 19 that are long enough to judge alone)".
fn identical_files(lang: Lang, s: &Similarity) -> String {
    let (same, all) = (s.hand_written_identical, s.hand_written_files);
    let (judged, eligible) = (s.identical_files, s.eligible_files);
    match lang {
        Lang::En => {
            let alone = if eligible == 0 {
                "none is long enough to judge alone".to_owned()
            } else if judged == eligible {
                format!("all of the {eligible} that are long enough to judge alone")
            } else {
                format!("{judged} of the {eligible} that are long enough to judge alone")
            };
            format!("{same} of {all} hand-written files identical ({alone})")
        }
        Lang::Zh => {
            let alone = if eligible == 0 {
                "没有足以单独判断的文件".to_owned()
            } else {
                format!("足以单独判断的 {eligible} 个中有 {judged} 个")
            };
            format!("{all} 个手写文件中 {same} 个一致（{alone}）")
        }
    }
}

fn write_files(s: &Similarity, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let lang = style.lang;
    let mut files: Vec<_> = s
        .files
        .iter()
        .filter(|f| f.hand_written && (style.verbose || f.shared > 0))
        .collect();
    // Most telling first: long files with a high score; ties by path.
    files.sort_by(|a, b| {
        let score = |f: &crate::similarity::model::FileSimilarity| {
            f.copy_score.unwrap_or(0.0) * f.distinctive as f64
        };
        score(b)
            .total_cmp(&score(a))
            .then_with(|| a.path.cmp(&b.path))
    });
    let shown = if style.verbose {
        files.len()
    } else {
        FILES_SHOWN
    };
    for file in files.iter().take(shown) {
        let mut line = format!(
            "    {}  {}/{} {}, {} {}",
            for_terminal(&file.path),
            file.shared,
            file.distinctive,
            lang.pick("distinctive lines", "特征行"),
            lang.pick("copy score", "复制分"),
            share(file.copy_score),
        );
        if let Some(other) = file.paired_with.as_ref().filter(|p| **p != file.path) {
            line.push_str(&format!(
                "  ({} {})",
                lang.pick("as", "对应"),
                for_terminal(other)
            ));
        }
        writeln!(out, "{line}")?;
    }
    more(lang, files.len(), shown, lang.pick("files", "个文件"), out)
}

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| "-".to_owned(), |v| format!("{v:.2}"))
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

fn write_findings(run: &RunReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut findings: Vec<_> = run
        .findings
        .iter()
        .filter(|f| style.verbose || (f.waived.is_none() && weight(f) > 0))
        .collect();
    findings.sort_by(|a, b| weight(b).cmp(&weight(a)).then(a.event.cmp(&b.event)));
    let shown = if style.verbose {
        findings.len()
    } else {
        FINDINGS_SHOWN
    };
    for finding in findings.iter().take(shown) {
        write_finding(finding, style.lang, out)?;
    }
    let what = style.lang.pick("findings", "条发现");
    more(style.lang, findings.len(), shown, what, out)
}

/// What to show first: 0 for plain mentions.
fn weight(finding: &Finding) -> u8 {
    let base = match (finding.kind, finding.stage) {
        (Kind::Admission, _) => 8,
        (Kind::Action, Some(Stage::Used)) => 9,
        (Kind::Action, Some(Stage::Obtained)) => 7,
        (Kind::Action, Some(Stage::Staged)) => 5,
        (Kind::Action, Some(Stage::Exposed)) => 4,
        (Kind::Action, Some(Stage::Attempted)) => 3,
        (Kind::Mark, _) => 2,
        _ => 0,
    };
    if base > 0 && finding.severity == Severity::Critical {
        base + 1
    } else {
        base
    }
}

fn write_finding(finding: &Finding, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let mut notes = vec![finding.rule.clone()];
    if let Some(stage) = finding.stage {
        notes.push(phrases::stage(lang, stage).to_owned());
    }
    if finding.blocked {
        notes.push(lang.pick("blocked", "被阻止").to_owned());
    }
    if finding.outcome_missing {
        notes.push(lang.pick("result not recorded", "结果未记录").to_owned());
    }
    if finding.names_own {
        notes.push(
            lang.pick(
                "names the task's own PR, issue or commit",
                "指向本任务的 PR、issue 或提交",
            )
            .to_owned(),
        );
    }
    if let Some(reason) = &finding.waived {
        notes.push(format!(
            "{}: {}",
            lang.pick("waived", "豁免"),
            for_terminal(reason)
        ));
    }
    writeln!(
        out,
        "  {}:{}  {DIM}{}{DIM:#}  \"{}\"   {}",
        for_terminal(&finding.trace),
        finding.line,
        finding.channel,
        for_terminal(&cut(&finding.excerpt, EXCERPT)),
        notes.join(lang.pick(", ", "，"))
    )
}

fn write_provenance(run: &RunReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(provenance) = &run.provenance else {
        return Ok(());
    };
    let lang = style.lang;
    if let Some(ledger) = &provenance.ledger
        && let Some(line) = ledger_line(lang, ledger)
    {
        writeln!(out, "  {line}")?;
    }
    let shown = if style.verbose {
        provenance.exposures.len()
    } else {
        EXPOSURES_SHOWN
    };
    for exposure in provenance.exposures.iter().take(shown) {
        write_exposure(run, exposure, lang, out)?;
    }
    let what = lang.pick("exposures", "处暴露");
    more(lang, provenance.exposures.len(), shown, what, out)
}

/// "97 % of 212 added lines typed by the agent, 2 % moved inside the repository".
fn ledger_line(lang: Lang, ledger: &Ledger) -> Option<String> {
    let parts = [
        (
            ledger.authored,
            lang.pick("typed by the agent", "由代理写出"),
        ),
        (
            ledger.seen_first,
            lang.pick("shown to it first", "先被看到"),
        ),
        (
            ledger.starter,
            lang.pick("moved inside the repository", "在仓库内移动"),
        ),
        (ledger.prompt, lang.pick("from the prompt", "来自提示")),
        (
            ledger.unseen,
            lang.pick("in no recorded event", "没有任何事件记录"),
        ),
        (
            ledger.generated,
            lang.pick("in generated files", "属于生成文件"),
        ),
        (
            ledger.unrecorded,
            lang.pick(
                "in edits whose content the format does not keep",
                "所用格式不记录编辑内容",
            ),
        ),
    ];
    let total: u64 = parts.iter().map(|(count, _)| count).sum();
    if total == 0 {
        return None;
    }
    let words: Vec<_> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{:.0} % {what}", *count as f64 * 100.0 / total as f64))
        .collect();
    Some(match lang {
        Lang::En => format!("of {total} added lines: {}", words.join(", ")),
        Lang::Zh => format!("新增 {total} 行：{}", words.join("，")),
    })
}

fn write_exposure(
    run: &RunReport,
    exposure: &Exposure,
    lang: Lang,
    out: &mut dyn Write,
) -> io::Result<()> {
    let trace = run
        .trace
        .as_ref()
        .and_then(|t| t.files.get(exposure.file as usize))
        .map_or("trace", |f| f.label.as_str());
    write!(
        out,
        "  {}:{}  {DIM}output{DIM:#}  {} {}:{}",
        for_terminal(trace),
        exposure.line,
        lang.pick("showed", "显示了"),
        for_terminal(&exposure.gt_path),
        exposure.gt_lines.join(","),
    )?;
    if let Some(command) = &exposure.command {
        write!(
            out,
            "   {} `{}`",
            lang.pick("by", "来自"),
            for_terminal(&cut(command, EXCERPT))
        )?;
    }
    writeln!(out)
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
        let list: Vec<_> = run.unchecked.iter().map(|u| for_terminal(u)).collect();
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
            for_terminal(problem)
        )?;
    }
    Ok(())
}

fn write_summary(report: &AuditReport, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let s = report.summary;
    let counts = [
        (s.invalid, lang.pick("invalid", "无效")),
        (s.partial, lang.pick("partial", "部分泄漏")),
        (s.inconclusive, lang.pick("inconclusive", "无法判断")),
        (s.clean, lang.pick("clean", "干净")),
        (s.harness, lang.pick("harness faults", "环境问题")),
        (s.errors, lang.pick("could not be judged", "未能判断")),
    ];
    let words: Vec<_> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    writeln!(
        out,
        "\n{BOLD}{} {}{BOLD:#}: {}",
        s.runs,
        lang.pick("runs", "次运行"),
        words.join(", ")
    )
}
