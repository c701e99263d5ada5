//! What the rules found, the gravest first.

use std::collections::BTreeSet;
use std::io::{self, Write};

use super::{DIM, EXCERPT, more};
use crate::report::escape::{cut, for_terminal};
use crate::report::model::RunReport;
use crate::report::{Lang, Style, phrases};
use crate::rules::finding::{Finding, Kind, Severity, Stage};

/// Findings shown without `--verbose`; the number of those left out is printed.
const FINDINGS_SHOWN: usize = 5;

pub(super) fn write(run: &RunReport, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let mut findings: Vec<_> = run
        .findings
        .iter()
        .filter(|f| style.verbose || (f.waived.is_none() && weight(f) > 0))
        .collect();
    findings.sort_by(|a, b| weight(b).cmp(&weight(a)).then(a.event.cmp(&b.event)));
    let shown = if style.verbose {
        findings.len()
    } else {
        // One sentence that several rules hear is one claim.
        let mut claims = BTreeSet::new();
        findings
            .retain(|f| f.kind != Kind::Admission || claims.insert((&f.trace, f.line, &f.excerpt)));
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
            "{}{}",
            lang.pick("waived: ", "豁免："),
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
