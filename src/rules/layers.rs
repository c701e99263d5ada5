//! Which rules there are: the built-in packs, then the files of the user.
//!
//! A user file adds rules (`[[rule]]`) or changes them by id (`[[override]]`). It never replaces the
//! built-in packs as a whole, and a rule that is already there is never replaced by another of the
//! same id: both have made other scanners report nothing and look clean.

use std::collections::BTreeMap;
use std::ops::Range;

use toml::Spanned;

use super::compile;
use super::diagnostic::{self, Diagnostic, Sink, SourceFile};
use super::gather::{Doubts, NOWHERE};
use super::overrides;
use super::read::{self, Entry, Taken};
use super::rule::Rule;
use super::schema::{OverrideSyntax, RuleSyntax};
use crate::experiment::task_facts::TaskFacts;

/// Where a rule is defined.
#[derive(Debug)]
struct Definition {
    file: usize,
    span: Range<usize>,
    /// Its number among the rules; `None`: it has mistakes.
    rule: Option<usize>,
}

/// The rules read so far.
#[derive(Default)]
pub(super) struct Layers {
    rules: Vec<Rule>,
    defined: BTreeMap<String, Definition>,
    overrides: Vec<(usize, Entry<OverrideSyntax>)>,
    /// Facts for tests, by the number of the file.
    facts: Vec<Option<TaskFacts>>,
    /// Files from this number on are kept as written, for lints.
    keep_from: Option<usize>,
    /// Rules as written, with the numbers of their files.
    pub(super) kept: Vec<(usize, Entry<RuleSyntax>)>,
    /// Rules in the files that are kept, with those that could not be read at all.
    pub(super) count: usize,
    /// Tests in those files that belong to rules, or are themselves, not as they were meant.
    pub(super) unfit_tests: usize,
    /// Ids of rules that have mistakes.
    pub(super) broken: Vec<String>,
    /// There are rules of which not even the id is known.
    pub(super) unknown: bool,
    /// What of the user was read so far.
    taken: Taken,
}

impl Layers {
    /// Layers that keep what stands in the files from a number on.
    pub(super) fn keeping(first: usize) -> Self {
        Self {
            keep_from: Some(first),
            ..Self::default()
        }
    }

    /// Ids of all rules, with those that have mistakes.
    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.defined.keys().chain(&self.broken).map(String::as_str)
    }

    /// Ids of the rules that stand in files before a number.
    pub(super) fn ids_before(&self, first: usize) -> impl Iterator<Item = &str> {
        let defined = self.defined.iter();
        defined
            .filter(move |(_, definition)| definition.file < first)
            .map(|(id, _)| id.as_str())
    }

    /// Adds what stands in a file.
    pub(super) fn read(
        &mut self,
        files: &[SourceFile],
        number: usize,
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let Some(file) = files.get(number) else {
            return;
        };
        let sink = &mut Sink::new(number, file, diagnostics);
        let entries = read::file(file, &mut self.taken, sink);
        let facts = entries.facts.clone().unwrap_or_default();
        self.facts.resize(sink.file, None);
        self.facts.push(entries.facts);
        self.broken.extend(entries.lost);
        self.unknown |= entries.unknown;
        let keep = self.keep_from.is_some_and(|first| sink.file >= first);
        if keep {
            self.count += entries.count;
        }
        for entry in entries.rules {
            self.add(entry, &facts, files, keep, sink);
        }
        let overrides = entries.overrides.into_iter();
        self.overrides
            .extend(overrides.map(|entry| (sink.file, entry)));
    }

    fn add(
        &mut self,
        entry: Entry<RuleSyntax>,
        facts: &TaskFacts,
        files: &[SourceFile],
        keep: bool,
        sink: &mut Sink,
    ) {
        let origin = files.get(sink.file).map_or("", |file| file.name.as_str());
        let id = entry.syntax.id.clone();
        let tests = entry.syntax.test.len();
        sink.doubts = entry.doubts.clone();
        if keep {
            let entry = Entry {
                span: entry.span.clone(),
                syntax: entry.syntax.clone(),
                doubts: entry.doubts.clone(),
            };
            self.kept.push((sink.file, entry));
        }
        let harmless = entry.doubts.harmless();
        let syntax = Spanned::new(entry.span, entry.syntax);
        let compiled = compile::rule(syntax, facts, origin, sink).filter(|_| harmless);
        if keep {
            self.unfit_tests += tests - compiled.as_ref().map_or(0, |rule| rule.tests.len());
        }
        let named = id.span() != NOWHERE;
        let twice = named && self.defined.contains_key(id.get_ref());
        if let (true, Some(first)) = (twice, self.defined.get(id.get_ref())) {
            let place = diagnostic::place(files, first.file, first.span.start);
            sink.error_help(
                id.span(),
                format!("rule `{}` is already defined in {place}", id.get_ref()),
                "use [[override]] to change a rule",
            );
        }
        sink.doubts = Doubts::default();
        let Some(mut rule) = compiled else {
            if named && !twice {
                let definition = Definition {
                    file: sink.file,
                    span: id.span(),
                    rule: None,
                };
                self.defined.insert(id.get_ref().clone(), definition);
            }
            match named {
                true => self.broken.push(id.into_inner()),
                false => self.unknown = true,
            }
            return;
        };
        if twice || !named {
            // Its tests are run all the same, under a name that no other rule has.
            rule.id = format!("{} ({origin}, {})", rule.id, self.rules.len());
        }
        let definition = Definition {
            file: sink.file,
            span: id.span(),
            rule: Some(self.rules.len()),
        };
        self.defined.insert(rule.id.clone(), definition);
        self.rules.push(rule);
    }

    /// Changes the rules as the overrides say.
    pub(super) fn apply_overrides(
        &mut self,
        files: &[SourceFile],
        diagnostics: &mut Vec<Diagnostic>,
    ) {
        let mut last = None;
        for (number, entry) in std::mem::take(&mut self.overrides) {
            let Some(file) = files.get(number) else {
                continue;
            };
            let mut sink = Sink::new(number, file, diagnostics);
            let id = entry.syntax.id.clone();
            let keep = self.keep_from.is_some_and(|first| number >= first);
            let tests = entry
                .syntax
                .append
                .as_ref()
                .map_or(0, |append| append.test.len());
            let harmless = entry.doubts.harmless();
            sink.doubts = entry.doubts;
            let defined = self.defined.get(id.get_ref());
            let own = |file: usize| self.facts.get(file).cloned().flatten();
            let facts = own(number)
                .or_else(|| own(defined?.file))
                .unwrap_or_default();
            let change = overrides::compile(entry.syntax, &facts, &mut sink).filter(|_| harmless);
            last = Some((number, id.span()));
            let known = defined.is_some() || self.broken.contains(id.get_ref());
            let rule = defined
                .and_then(|d| d.rule)
                .and_then(|at| self.rules.get_mut(at));
            let before = rule.as_ref().map_or(0, |rule| rule.tests.len());
            match (rule, change) {
                (Some(rule), Some(change)) => {
                    overrides::apply(rule, change, &mut sink);
                    let added = rule.tests.len().saturating_sub(before);
                    self.unfit_tests += if keep { tests.saturating_sub(added) } else { 0 };
                    continue;
                }
                (None, _) if !known && !id.get_ref().is_empty() => {
                    let ids = self
                        .defined
                        .keys()
                        .map(String::as_str)
                        .filter(|_| !sink.full());
                    let near = diagnostic::nearest(id.get_ref(), ids);
                    let help = near.map_or_else(
                        || "`trace-audit rules list` shows all ids".to_owned(),
                        |near| format!("did you mean `{near}`?"),
                    );
                    sink.error_help(
                        id.span(),
                        format!("there is no rule `{}`", id.get_ref()),
                        help,
                    );
                }
                _ => {}
            }
            self.unfit_tests += if keep { tests } else { 0 };
        }
        if let Some((number, span)) = last
            && let Some(file) = files.get(number)
            && !self.rules.is_empty()
            && self.rules.iter().all(|rule| rule.disabled.is_some())
        {
            Sink::new(number, file, diagnostics).error_help(
                span,
                "no rule is left, so nothing could ever be found",
                "leave one switched on",
            );
        }
    }

    /// The rules, if one of them is switched on.
    pub(super) fn into_rules(self) -> Option<Vec<Rule>> {
        let on = self.rules.iter().any(|rule| rule.disabled.is_none());
        on.then_some(self.rules)
    }
}
