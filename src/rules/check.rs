//! Everything that is wrong with rule files, in one go: errors, lints, and tests that fail.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::diagnostic::{self, Diagnostic, Level, Sink, SourceFile};
use super::layers::Layers;
use super::lint;
use super::read::Entry;
use super::rule::{Rule, RuleTest};
use super::schema::RuleSyntax;
use super::selftest::SelfTestReport;
use super::set::RuleSet;
use super::sources::{built_in, sources};
use crate::Result;

/// What [`RuleSet::check`] found.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CheckReport {
    /// All findings with file, line and caret, as text; empty if there are none.
    pub rendered: String,
    /// What makes the files unusable.
    pub errors: usize,
    /// What is most likely a mistake; tests that fail among them.
    pub warnings: usize,
    /// Rules that were checked.
    pub rules: usize,
    /// Tests that hold.
    pub passed: usize,
    /// Tests that were not run, since they, or the rules that they are about, have mistakes.
    pub not_run: usize,
}

impl CheckReport {
    /// True if nothing is wrong.
    pub fn ok(&self) -> bool {
        self.errors + self.warnings == 0
    }
}

impl RuleSet {
    /// Checks the rule files of the directories, or the built-in ones if none is given.
    ///
    /// # Errors
    /// If a directory cannot be read or holds no rule file. What is wrong *in* the files is in the
    /// report.
    pub fn check(dirs: &[PathBuf]) -> Result<CheckReport> {
        let sources = sources(dirs)?;
        let (mut files, mut diagnostics) = (sources.files, sources.faults);
        let first = if dirs.is_empty() { 0 } else { built_in() };
        for file in files.iter_mut().skip(first) {
            file.trusted = false;
        }
        let mut layers = Layers::keeping(first);
        (0..files.len()).for_each(|number| layers.read(&files, number, &mut diagnostics));
        layers.apply_overrides(&files, &mut diagnostics);
        lints(&layers, first, &files, &mut diagnostics);
        let mut report = CheckReport {
            rules: layers.count,
            not_run: layers.unfit_tests,
            ..CheckReport::default()
        };
        let kept = std::mem::take(&mut layers.kept);
        let (broken, unknown) = (std::mem::take(&mut layers.broken), layers.unknown);
        // What is without mistakes is tested, whatever is wrong elsewhere. Without a rule there is nothing to test.
        if let Ok(set) = RuleSet::build(layers, files.clone()) {
            let fit =
                |rule: &Rule, test: &RuleTest| test.file >= first && !leans(rule, &broken, unknown);
            let tests = set.run_tests(fit);
            let own = |test: &&RuleTest| test.file >= first;
            let all: usize = set
                .rules
                .iter()
                .map(|rule| rule.tests.iter().filter(own).count())
                .sum();
            report.passed = tests.passed;
            report.not_run += all.saturating_sub(tests.run);
            for (number, entry) in &kept {
                if let Some(file) = files.get(*number) {
                    let mut sink = Sink::new(*number, file, &mut diagnostics);
                    unused_allows(entry, &tests, &mut sink);
                }
            }
            failures(&tests, &files, &mut diagnostics);
        }
        let all = diagnostic::sorted(&diagnostics);
        report.errors = all.iter().filter(|d| d.level == Level::Error).count();
        report.warnings = all.len() - report.errors;
        if !diagnostics.is_empty() {
            report.rendered = diagnostic::render(&diagnostics, &files);
        }
        Ok(report)
    }
}

fn lints(layers: &Layers, first: usize, files: &[SourceFile], diagnostics: &mut Vec<Diagnostic>) {
    let families: BTreeSet<&str> = layers
        .ids_before(first)
        .filter_map(|id| id.split('.').next())
        .collect();
    let ids: Vec<&str> = layers.ids().collect();
    for (number, entry) in &layers.kept {
        let Some(file) = files.get(*number) else {
            continue;
        };
        let mut sink = Sink::new(*number, file, diagnostics);
        sink.doubts = entry.doubts.clone();
        lint::rule(&entry.syntax, &families, &mut sink);
        if !layers.unknown {
            lint::names(&entry.syntax, &ids, &mut sink);
        }
    }
}

/// True if what the rule hits depends on rules that have mistakes: its tests could fail for that alone.
fn leans(rule: &Rule, broken: &[String], unknown: bool) -> bool {
    let globs = rule.names();
    let of_broken =
        |glob: &super::glob::RuleGlob| unknown || broken.iter().any(|id| glob.is_match(id));
    globs.into_iter().any(of_broken)
}

fn unused_allows(entry: &Entry<RuleSyntax>, tests: &SelfTestReport, sink: &mut Sink) {
    let id = entry.syntax.id.get_ref();
    if !tests.complete.contains(id) || !entry.doubts.sure() {
        return;
    }
    for allow in &entry.syntax.allow {
        let used = (id.clone(), allow.reason.get_ref().clone());
        if !tests.waived.contains(&used) {
            sink.warn(
                allow.reason.span(),
                "unused-allow",
                "no test of the rule shows what this allows",
                "add a case with `expect = \"waived\"`, or remove the entry",
            );
        }
    }
}

fn failures(
    tests: &SelfTestReport,
    files: &[diagnostic::SourceFile],
    diagnostics: &mut Vec<diagnostic::Diagnostic>,
) {
    for failure in &tests.failed {
        if let Some(file) = files.get(failure.file) {
            Sink::new(failure.file, file, diagnostics).warn(
                failure.span.clone(),
                "failing-test",
                format!("\"{}\" came out as: {}", failure.case, failure.got),
                format!(
                    "the rule is `{}`",
                    failure.rule.split(' ').next().unwrap_or_default()
                ),
            );
        }
    }
    for closed in &tests.closed {
        if let Some(file) = files.get(closed.file) {
            Sink::new(closed.file, file, diagnostics).warn(
                closed.span.clone(),
                "closed-gap",
                format!("\"{}\" is no gap any more: the rule matches", closed.case),
                "write the stage that came out instead of `todo-match`",
            );
        }
    }
}
