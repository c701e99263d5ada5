//! The first line of a run that was only scanned: what the rules found, and no verdict.

use std::io::{self, Write};

use anstyle::{AnsiColor, Style as Paint};

use super::{BOLD, DIM};
use crate::report::Lang;
use crate::report::escape::for_terminal;
use crate::report::model::RunReport;
use crate::report::phrases;
use crate::rules::finding::{Finding, Kind, Stage};

/// What was found, by its strongest finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Found {
    /// No finding that counts, but for mentions.
    Nothing,
    /// A mark or an action of that stage.
    Stage(Stage),
    /// The agent says so.
    Admission,
}

impl Found {
    /// What a scanned run shows.
    pub(super) fn of(run: &RunReport) -> Self {
        let of = |finding: &Finding| match (finding.kind, finding.stage) {
            (Kind::Admission, _) => Self::Admission,
            (Kind::Action, Some(stage)) if stage > Stage::Mentioned => Self::Stage(stage),
            _ => Self::Nothing,
        };
        let counting = run.findings.iter().filter(|f| f.waived.is_none());
        counting.map(of).max().unwrap_or(Self::Nothing)
    }

    /// In words.
    pub(super) fn name(self, lang: Lang) -> &'static str {
        match self {
            Self::Nothing => lang.pick("nothing", "未发现"),
            Self::Stage(stage) => phrases::stage(lang, stage),
            Self::Admission => lang.pick("admission", "自述"),
        }
    }

    fn paint(self) -> Paint {
        let colour = match self {
            Self::Nothing => AnsiColor::Green,
            Self::Stage(stage) if stage < Stage::Obtained => AnsiColor::Yellow,
            Self::Stage(_) | Self::Admission => AnsiColor::Red,
        };
        Paint::new().fg_color(Some(colour.into())).bold()
    }
}

/// `OBTAINED  trace.jsonl    3 findings, 12 mentions   [coverage full; no verdict: rules alone]`.
pub(super) fn headline(run: &RunReport, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let found = Found::of(run);
    let paint = found.paint();
    let word = found.name(lang).to_uppercase();
    let name = for_terminal(&run.run);
    let counting = || run.findings.iter().filter(|f| f.waived.is_none());
    let mentions = counting().filter(|f| f.stage == Some(Stage::Mentioned));
    let mentions = mentions.count();
    let findings = counting().count() - mentions;
    let coverage = run.trace.as_ref();
    let coverage = coverage.map_or("", |t| phrases::coverage(lang, t.coverage));
    let counts = match lang {
        Lang::En => format!(
            "{}, {}",
            phrases::number(findings as u64, "finding"),
            phrases::number(mentions as u64, "mention")
        ),
        Lang::Zh => format!("{findings} 条发现，{mentions} 处提及"),
    };
    let rest = match lang {
        Lang::En => format!("[coverage {coverage}; rules alone, no verdict]"),
        Lang::Zh => format!("[覆盖 {coverage}；仅规则，不作结论]"),
    };
    writeln!(
        out,
        "{paint}{word}{paint:#}  {BOLD}{name}{BOLD:#}    {counts}   {DIM}{rest}{DIM:#}"
    )
}
