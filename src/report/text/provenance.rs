//! Where the patch's lines came from, and where the ground truth was shown.

use std::io::{self, Write};

use super::{DIM, EXCERPT, more};
use crate::provenance::model::{Exposure, UnseenLines};
use crate::report::escape::{cut, for_terminal};
use crate::report::model::RunReport;
use crate::report::{Lang, Style, phrases};

/// Exposures, and files that a call may have written, shown without `--verbose`.
const EXPOSURES_SHOWN: usize = 3;

pub(super) fn write(run: &RunReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let Some(provenance) = &run.provenance else {
        return Ok(());
    };
    let lang = style.lang;
    if let Some(ledger) = &provenance.ledger
        && let Some(line) = phrases::ledger(lang, ledger)
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
    more(lang, provenance.exposures.len(), shown, what, out)?;
    let unseen: Vec<&UnseenLines> = provenance
        .unseen
        .iter()
        .filter(|u| u.gt_lines > 0 && u.command.is_some())
        .collect();
    let shown = if style.verbose {
        unseen.len()
    } else {
        EXPOSURES_SHOWN
    };
    for lines in unseen.iter().take(shown) {
        write_unseen(run, lines, lang, out)?;
    }
    let what = lang.pick("files with lines that no event holds", "个文件含无记录的行");
    more(lang, unseen.len(), shown, what, out)
}

/// Lines of the GT that no event holds: the call before them is inferred.
fn write_unseen(
    run: &RunReport,
    unseen: &UnseenLines,
    lang: Lang,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (Some(line), Some(command)) = (unseen.line, &unseen.command) else {
        return Ok(());
    };
    let what = phrases::unseen(lang, unseen);
    writeln!(
        out,
        "  {}:{line}  {DIM}call{DIM:#}  {}   {} `{}`",
        for_terminal(trace_name(run, unseen.file)),
        for_terminal(&what),
        lang.pick("by", "来自"),
        for_terminal(&cut(command, EXCERPT))
    )
}

fn trace_name(run: &RunReport, file: u32) -> &str {
    let files = run.trace.as_ref().map(|t| &t.files);
    let file = files.and_then(|files| files.get(file as usize));
    file.map_or("trace", |f| f.label.as_str())
}

fn write_exposure(
    run: &RunReport,
    exposure: &Exposure,
    lang: Lang,
    out: &mut dyn Write,
) -> io::Result<()> {
    let trace = trace_name(run, exposure.file);
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
