//! Where the patch's lines came from, and where the ground truth was shown.

use std::io::{self, Write};

use super::{DIM, EXCERPT, more};
use crate::provenance::model::Exposure;
use crate::report::escape::{cut, for_terminal};
use crate::report::model::RunReport;
use crate::report::{Lang, Style, phrases};

/// Exposures shown without `--verbose`.
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
    more(lang, provenance.exposures.len(), shown, what, out)
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
