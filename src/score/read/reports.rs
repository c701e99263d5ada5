//! Evaluator reports (`eval_report-JUDGE.md`): prose in Markdown with a line for the verdict and one
//! for each component of the points. The verdict is the judge's word, never recomputed from the points.
//!
//! Seen in real reports, all read: `### Verdict: PASS`, `## 5. Verdict: **PASS**`,
//! `| **Verdict** | **PASS** |`, `- **B. Completeness**: 4/5 — ...`, `### B. Completeness & Coverage: 4 / 5`,
//! `| **B. Completeness & Coverage** | 4 | ... |`. Prose that begins with the same word ("**Verdict**:
//! Incompatible interface") is not a verdict. Text in code fences is a quotation and is skipped.

use std::path::Path;

use super::collect::{Collector, RunFacts, Statement};
use super::whole_file;
use crate::score::model::{Outcome, Place, Points};
use crate::score::profile::{Profile, ReportForm};
use crate::{Error, Result};

/// Reads the reports of a run's directory, or of every directory in it (one level, nothing deeper).
pub(super) fn read_directory(
    dir: &Path,
    profile: &Profile,
    collector: &mut Collector,
) -> Result<()> {
    let mut found = read_run(dir, profile, collector)?;
    if found == 0 {
        for name in names(dir)? {
            let child = dir.join(name);
            if child.symlink_metadata().is_ok_and(|m| m.is_dir()) {
                found += read_run(&child, profile, collector)?;
            }
        }
    }
    if found == 0 {
        return Err(Error::BadData {
            path: dir.into(),
            line: None,
            what: "holds no evaluator reports, neither itself nor in the directories of runs in it"
                .into(),
            fix: "name a score table, a directory of a run, or a directory of such directories"
                .into(),
        });
    }
    Ok(())
}

/// The names in a directory, sorted.
fn names(dir: &Path) -> Result<Vec<std::ffi::OsString>> {
    let entries = std::fs::read_dir(dir).map_err(|e| super::missing(dir, e))?;
    let mut names = Vec::new();
    for entry in entries {
        names.push(entry.map_err(|e| Error::io(dir, e))?.file_name());
    }
    names.sort();
    Ok(names)
}

/// Reads the reports directly in a directory and returns how many there were.
fn read_run(dir: &Path, profile: &Profile, collector: &mut Collector) -> Result<u64> {
    let mut found = 0;
    for name in names(dir)? {
        if !name
            .to_str()
            .is_some_and(|n| profile.reports.file.is_match(n))
        {
            continue;
        }
        let path = dir.join(&name);
        // A link could lead anywhere, a pipe would block.
        if path.symlink_metadata().is_ok_and(|m| m.is_file()) {
            read_report(&path, profile, collector)?;
            found += 1;
        } else {
            collector.notes().skipped_files += 1;
        }
    }
    Ok(found)
}

/// Reads one report; the directory is the run, the file name says the judge.
pub(super) fn read_report(path: &Path, profile: &Profile, collector: &mut Collector) -> Result<()> {
    let bytes = whole_file(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let file = collector.file(path);
    let report = parse(&text, profile).map_err(|(line, what)| Error::BadData {
        path: path.into(),
        line: (line > 0).then_some(line),
        what,
        fix: "correct the report, or leave it out and give its verdict in a table".into(),
    })?;
    let place = Place {
        file,
        line: report.line,
    };
    let full = std::path::absolute(path).map_err(|e| Error::io(path, e))?;
    let run = full
        .parent()
        .and_then(Path::file_name)
        .map(|n| n.to_string_lossy().into_owned());
    let name = path
        .file_name()
        .map(|n| n.to_string_lossy().into_owned())
        .unwrap_or_default();
    let judge = profile
        .reports
        .file
        .captures(&name)
        .and_then(|c| c.name("judge").map(|m| m.as_str().to_string()))
        .unwrap_or_else(|| "unnamed".into());
    let key = collector.run(
        RunFacts {
            run: run.unwrap_or_default(),
            ..RunFacts::default()
        },
        place,
    )?;
    if report.points.is_empty() && !profile.reports.points.is_empty() {
        if report.torn {
            collector.notes().torn_points += 1;
        } else {
            collector.notes().blank_points += 1;
        }
    }
    collector.components(&profile.reports.points);
    let statement = Statement {
        judge,
        verdict: report.verdict,
        points: report.points,
    };
    collector.rating(&key, statement, place)
}

/// The verdict that a report states; `None` when it states none, or contradicts itself.
pub(crate) fn verdict_of(text: &str, profile: &Profile) -> Option<Outcome> {
    parse(text, profile).ok().map(|report| report.verdict)
}

/// What a report says.
#[derive(Debug, PartialEq, Eq)]
struct Report {
    verdict: Outcome,
    line: u64,
    points: Vec<Points>,
    /// Some components have points and others have none.
    torn: bool,
}

type Fault = (u64, String);

fn parse(text: &str, profile: &Profile) -> std::result::Result<Report, Fault> {
    let form = &profile.reports;
    let mut verdict: Option<(Outcome, u64)> = None;
    let mut points: Vec<Option<(Points, u64)>> = vec![None; form.points.len()];
    let mut unknown: Option<(u64, String)> = None;
    let mut fenced = false;
    for (number, line) in (1u64..).zip(text.lines()) {
        if line.trim_start().starts_with("```") || line.trim_start().starts_with("~~~") {
            fenced = !fenced;
        }
        if fenced {
            continue;
        }
        if let Some(word) = verdict_word(line, &form.verdict) {
            match (profile.outcome(&word), verdict) {
                (Some(new), Some((old, at))) if old != new => {
                    let what = format!("says {} here and {} on line {at}", new.name(), old.name());
                    return Err((number, what));
                }
                (Some(new), None) => verdict = Some((new, number)),
                (Some(_), Some(_)) => {}
                (None, _) => {
                    unknown.get_or_insert((number, word));
                }
            }
        }
        for (label, slot) in form.points.iter().zip(points.iter_mut()) {
            let Some(new) = point_value(line, label, form) else {
                continue;
            };
            match slot {
                Some((old, at)) if *old != new => {
                    return Err((
                        number,
                        format!("gives other points for `{label}` here than on line {at}"),
                    ));
                }
                Some(_) => {}
                None => *slot = Some((new, number)),
            }
        }
    }
    let Some((verdict, line)) = verdict else {
        let words = profile.allowed_words();
        if let Some((at, word)) = unknown {
            return Err((
                at,
                format!("`{word}` is not a known verdict; known are: {words}"),
            ));
        }
        return Err((
            0,
            format!(
                "has no line `{}: WORD` with one of the words {words}",
                form.verdict
            ),
        ));
    };
    let given: Vec<Points> = points.iter().flatten().map(|(p, _)| *p).collect();
    let complete = given.len() == points.len();
    Ok(Report {
        verdict,
        line,
        torn: !complete && !given.is_empty(),
        points: if complete { given } else { Vec::new() },
    })
}

/// The line without Markdown's marks, list dash and section number.
fn plain(line: &str) -> String {
    let marks = ['*', '`', '#', '>', '_'];
    let text: String = line
        .chars()
        .map(|c| if marks.contains(&c) { ' ' } else { c })
        .collect();
    let text = text.trim().trim_start_matches(['|', '-', ' ']);
    let numbered = text
        .split_once(". ")
        .filter(|(n, _)| !n.is_empty() && n.chars().all(|c| c.is_ascii_digit()));
    numbered.map_or(text, |(_, rest)| rest).trim().to_string()
}

/// What follows a label at the start of a text, if the label ends there as a word.
fn after_label<'t>(text: &'t str, label: &str) -> Option<&'t str> {
    let (head, rest) = text.split_at_checked(label.len())?;
    let ends = !rest.starts_with(|c: char| c.is_alphanumeric());
    (head.eq_ignore_ascii_case(label) && ends).then_some(rest)
}

fn verdict_word(line: &str, label: &str) -> Option<String> {
    let text = plain(line);
    let rest = after_label(&text, label)?.trim_start();
    let rest = rest.strip_prefix([':', '|'])?.trim_start();
    let word: String = rest.chars().take_while(|c| c.is_alphanumeric()).collect();
    (!word.is_empty()).then_some(word)
}

/// The number of `LABEL...: N/5`, or of the second cell of `| LABEL... | N |`.
fn point_value(line: &str, label: &str, form: &ReportForm) -> Option<Points> {
    let text = plain(line);
    let rest = after_label(&text, label)?;
    let in_table = line.trim_start().starts_with('|');
    let (_, value) = rest.split_once(if in_table { '|' } else { ':' })?;
    let value = value.trim_start();
    let digits: String = value
        .chars()
        .take_while(|c| c.is_ascii_digit() || *c == '.')
        .collect();
    let after = value.strip_prefix(digits.as_str())?.trim_start();
    let slash = after.strip_prefix('/').map(str::trim_start);
    let counted = match slash {
        Some(rest) => {
            let out_of: String = rest.chars().take_while(char::is_ascii_digit).collect();
            out_of.parse() == Ok(form.out_of)
        }
        None => in_table && after.starts_with('|'),
    };
    counted.then(|| Points::parse(&digits).ok()).flatten()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn read(text: &str) -> std::result::Result<Report, Fault> {
        parse(text, &Profile::built_in().unwrap())
    }

    fn points(text: &str) -> Option<String> {
        let form = Profile::built_in().unwrap().reports;
        point_value(text, "B. Completeness", &form)
            .map(|p| (p.units() / (Points::UNIT / 10)).to_string())
    }

    #[test]
    fn verdict_lines() {
        for (line, word) in [
            ("### Verdict: PASS", Some("PASS")),
            ("## 5. Verdict: **PARTIAL**", Some("PARTIAL")),
            ("| **Verdict** | **FAIL** |", Some("FAIL")),
            ("**Verdict: PASS**", Some("PASS")),
            ("- Verdict: pass (see below)", Some("pass")),
            ("**Verdict**: Incompatible interface", Some("Incompatible")),
            ("**Verdict on the rest**: PASS", None),
            ("The verdict: PASS", None),
            ("Verdicts: PASS", None),
            ("Verdict PASS", None),
        ] {
            assert_eq!(verdict_word(line, "Verdict").as_deref(), word, "{line}");
        }
    }

    #[test]
    fn point_lines() {
        for (line, tenths) in [
            ("- **B. Completeness**: 4/5 — all", Some("40")),
            ("### B. Completeness & Coverage: **3 / 5**", Some("30")),
            (
                "| **B. Completeness & Coverage** | 1 | Minimal: 3/25 files |",
                Some("10"),
            ),
            (
                "| B. Completeness & Coverage | 2.5 / 5 | words |",
                Some("25"),
            ),
            ("- B. Completeness: 3 of 5 files", None),
            ("- B. Completeness: 3/9 files", None),
            ("- B. Completeness: files 3/5", None),
            ("B. Completeness", None),
        ] {
            assert_eq!(points(line).as_deref(), tenths, "{line}");
        }
    }

    #[test]
    fn whole_reports() {
        let all = "A. Functional Correctness: 2/5\nB. Completeness: 1/5\nC. Behavioral Equivalence: 0/5\n";
        let report = read(&format!(
            "# R\n```\nVerdict: PASS\n```\nVerdict: FAIL\n{all}"
        ))
        .unwrap();
        assert_eq!(
            (report.verdict, report.line, report.points.len()),
            (Outcome::Fail, 5, 3)
        );
        let torn = read("Verdict: FAIL\nB. Completeness: 1/5\n").unwrap();
        assert!(torn.torn && torn.points.is_empty());
        assert_eq!(read("Verdict: PASS\n\nVerdict: FAIL").unwrap_err().0, 3);
        let (line, what) = read("\nVerdict: superb").unwrap_err();
        assert!(
            line == 2 && what.contains("`superb`") && what.contains("FAIL, PARTIAL, PASS"),
            "{what}"
        );
        assert!(read("Verdict: superb\nVerdict: PASS").is_ok());
        assert!(
            read("no word")
                .unwrap_err()
                .1
                .contains("FAIL, PARTIAL, PASS")
        );
        assert_eq!(
            read(&format!("Verdict: PASS\n{all}B. Completeness: 3/5"))
                .unwrap_err()
                .0,
            5
        );
    }

    proptest! {
        #[test]
        fn never_panics(text in "([#*|> -]{0,3}(Verdict|B. Completeness|é)[:| ]{0,3}[0-9/PAS*]{0,8}\n?){0,6}") {
            let _ = read(&text);
        }
    }
}
