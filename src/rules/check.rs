//! Everything that is wrong with rule files, in one go: errors, lints, and tests that fail.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::diagnostic::{self, Level, Sink};
use super::layers::{Layers, RuleSet, built_in, sources};
use super::lint;
use super::selftest::SelfTestReport;
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
    /// Tests that hold; 0 when errors kept them from being run.
    pub passed: usize,
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
        let mut files = sources(dirs)?;
        let first = if dirs.is_empty() { 0 } else { built_in() };
        for file in files.iter_mut().skip(first) {
            file.trusted = false;
        }
        let mut diagnostics = Vec::new();
        let mut layers = Layers::keeping(first);
        for (number, file) in files.iter().enumerate() {
            layers.read(file, &mut Sink::new(number, file, &mut diagnostics));
        }
        layers.apply_overrides(&files, &mut diagnostics);
        let ids: Vec<String> = layers.built_in_ids(first, &files);
        let families: BTreeSet<&str> = ids.iter().filter_map(|id| id.split('.').next()).collect();
        for (number, syntax) in &layers.kept {
            if let Some(file) = files.get(*number) {
                let mut sink = Sink::new(*number, file, &mut diagnostics);
                lint::rule(syntax, &families, &mut sink);
            }
        }
        for (number, change) in &layers.kept_overrides {
            if let Some(file) = files.get(*number) {
                lint::overriding(change, &mut Sink::new(*number, file, &mut diagnostics));
            }
        }
        let mut report = CheckReport {
            rules: layers.kept.len(),
            ..CheckReport::default()
        };
        if !diagnostics.iter().any(|d| d.level == Level::Error) {
            let kept = std::mem::take(&mut layers.kept);
            let set = layers.build(files.clone())?;
            let tests = set.run_tests(|test| test.file >= first);
            report.passed = tests.passed;
            for (number, syntax) in &kept {
                let Some(file) = files.get(*number) else {
                    continue;
                };
                let mut sink = Sink::new(*number, file, &mut diagnostics);
                for allow in &syntax.allow {
                    let used = (syntax.id.get_ref().clone(), allow.reason.get_ref().clone());
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
            failures(&tests, &files, &mut diagnostics);
        }
        report.errors = diagnostics
            .iter()
            .filter(|d| d.level == Level::Error)
            .count();
        report.warnings = diagnostics.len() - report.errors;
        if !diagnostics.is_empty() {
            report.rendered = diagnostic::render(&diagnostics, &files);
        }
        Ok(report)
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
                format!("the rule is `{}`", failure.rule),
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
