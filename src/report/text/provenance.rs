//! Where the patch's lines came from, and where the ground truth was shown.

use std::io::{self, Write};

use super::{DIM, EXCERPT, more};
use crate::provenance::model::{Exposure, Ledger};
use crate::report::escape::{cut, for_terminal};
use crate::report::model::RunReport;
use crate::report::{Lang, Style};

/// Exposures shown without `--verbose`.
const EXPOSURES_SHOWN: usize = 3;

pub(super) fn write(run: &RunReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
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
