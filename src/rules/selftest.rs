//! Runs the `[[rule.test]]` cases of all rules.

use std::collections::BTreeSet;
use std::ops::Range;
use std::sync::Arc;

use super::engine::Engine;
use super::finding::{Finding, Kind, Stage};
use super::rule::{Rule, RuleTest};
use super::schema::{Expect, TestEventSyntax};
use super::set::RuleSet;
use crate::trace::event::{
    Actor, CallRef, Channel, EditOp, Event, EventId, EventSink, FileEdit, Outcome, Source,
};

/// A case that went wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Failure {
    /// The rule.
    pub rule: String,
    /// The case.
    pub case: String,
    /// What the case expects.
    pub expected: String,
    /// What came out.
    pub got: String,
    /// Index of the rule file.
    pub file: usize,
    /// Where in it the expectation stands, as a byte range.
    pub span: Range<usize>,
}

/// Result of all cases.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SelfTestReport {
    /// Cases that were run.
    pub run: usize,
    /// Cases that hold.
    pub passed: usize,
    /// Cases that do not.
    pub failed: Vec<Failure>,
    /// Known gaps (`todo-match`) that are still open, as `rule: case`.
    pub todo: Vec<String>,
    /// Known gaps that are closed: the rule matches now.
    pub closed: Vec<Failure>,
    /// Rules with the reasons of allow entries that a case showed at work.
    pub waived: BTreeSet<(String, String)>,
    /// Rules of which each wanted case was run.
    pub complete: BTreeSet<String>,
    /// Rules without a case that matches or without one that does not.
    pub untested: Vec<String>,
}

impl SelfTestReport {
    /// True if every case holds.
    pub fn ok(&self) -> bool {
        self.failed.is_empty()
    }
}

impl RuleSet {
    /// Runs the cases of every rule that is not switched off, with all rules loaded.
    pub fn selftest(&self) -> SelfTestReport {
        let mut report = SelfTestReport::default();
        let full = match self.in_full() {
            Ok(full) => full,
            Err(error) => {
                report.failed.push(Failure {
                    rule: "*".to_owned(),
                    case: "all rules can be read".to_owned(),
                    expected: "no mistakes".to_owned(),
                    got: error.to_string(),
                    file: 0,
                    span: 0..0,
                });
                return report;
            }
        };
        full.run_tests(|_, _| true)
    }

    /// Runs the wanted cases of every rule that is not switched off. The set must have been loaded in
    /// full.
    pub(super) fn run_tests(&self, wanted: impl Fn(&Rule, &RuleTest) -> bool) -> SelfTestReport {
        let mut report = SelfTestReport::default();
        for rule in self.rules().iter().filter(|r| r.disabled.is_none()) {
            let expects = |wanted| rule.tests.iter().any(|t| t.is_positive() == wanted);
            if !expects(true) || !expects(false) {
                report.untested.push(rule.id.clone());
            }
            let before = report.run;
            for test in rule.tests.iter().filter(|test| wanted(rule, test)) {
                report.run += 1;
                self.run_case(rule, test, &mut report);
            }
            if report.run > before || rule.tests.is_empty() {
                report.complete.insert(rule.id.clone());
            }
        }
        report
    }

    fn run_case(&self, rule: &Rule, test: &RuleTest, report: &mut SelfTestReport) {
        let expect = *test.case.expect.get_ref();
        let findings = self.findings_of(rule, test);
        let case = |got: String| Failure {
            rule: rule.id.clone(),
            case: test.case.name.clone(),
            expected: format!("{expect:?}").to_lowercase(),
            got,
            file: test.file,
            span: test.case.expect.span(),
        };
        let reasons = findings.iter().filter_map(|f| f.waived.clone());
        let reasons = reasons.map(|reason| (rule.id.clone(), reason));
        report.waived.extend(reasons);
        if fits(expect, &findings) {
            report.passed += 1;
            if expect == Expect::TodoMatch {
                report.closed.push(case(describe(&findings)));
            }
        } else if expect == Expect::TodoMatch {
            report.todo.push(format!("{}: {}", rule.id, test.case.name));
        } else {
            report.failed.push(case(describe(&findings)));
        }
    }

    /// What the rule finds in a case.
    fn findings_of(&self, rule: &Rule, test: &RuleTest) -> Vec<Finding> {
        let facts = test.case.facts.as_ref().unwrap_or(&test.facts);
        let label = vec!["test".to_owned()];
        let mut engine = Engine::new(self, facts, test.case.prompt.as_deref(), label);
        let events = test.case.event.iter().chain(&test.case.events);
        if rule.kind == Kind::Mark {
            let lines = events.flat_map(|syntax| {
                let path = syntax.path.as_deref().unwrap_or_default();
                engine.scan_added_lines(path, syntax.text.lines().map(|line| (1, line)))
            });
            return lines.filter(|f| f.rule == rule.id).collect();
        }
        let mut record = 0;
        for syntax in events {
            for event in trace_events(syntax, &mut record) {
                engine.event(&event);
            }
        }
        let mut findings = engine.finish().findings;
        findings.retain(|f| f.rule == rule.id);
        findings
    }
}

/// The event of a case and its result.
fn trace_events(syntax: &TestEventSyntax, record: &mut u32) -> Vec<Event> {
    let mut next = |channel, text: &str| {
        *record += 1;
        let id = EventId {
            file: 0,
            record: *record,
            sub: 0,
        };
        let source = Source {
            file: 0,
            line: u64::from(*record),
            bytes: 0..0,
        };
        let mut event = Event::new(id, source, channel, text);
        event.tool.clone_from(&syntax.tool);
        if let Some(id) = &syntax.actor {
            event.actor = Actor::Child {
                id: id.clone(),
                parent: None,
            };
        }
        event
    };
    let mut call = next(syntax.channel, &syntax.text);
    if syntax.channel == Channel::Edit {
        call.edits = vec![FileEdit {
            path: syntax.path.clone().unwrap_or_default(),
            op: EditOp::Write,
            old: syntax.removed.clone(),
            new: Some(syntax.text.clone()),
        }];
    }
    let Some(result) = &syntax.result else {
        return vec![call];
    };
    let mut output = next(Channel::Output, result);
    output.answers = Some(Arc::new(CallRef {
        event: call.id,
        channel: call.channel,
        tool: call.tool.clone(),
        text: syntax.text.clone(),
        line: call.source.line,
    }));
    output.outcome = Some(Outcome {
        exit_code: syntax.exit_code,
        error: syntax.error,
        ..Outcome::default()
    });
    vec![call, output]
}

/// The finding that says most, of those that count.
fn strongest(findings: &[Finding]) -> Option<&Finding> {
    findings
        .iter()
        .filter(|f| f.waived.is_none())
        .max_by_key(|f| (f.stage, !f.blocked, f.applies))
}

fn fits(expect: Expect, findings: &[Finding]) -> bool {
    let strongest = strongest(findings);
    let stage = |wanted| strongest.is_some_and(|f| f.stage == Some(wanted));
    let blocked = strongest.is_some_and(|f| f.blocked);
    match expect {
        Expect::Match | Expect::TodoMatch => strongest.is_some(),
        Expect::Clean => strongest.is_none(),
        Expect::Waived => strongest.is_none() && !findings.is_empty(),
        Expect::Mentioned => stage(Stage::Mentioned),
        Expect::Attempted => stage(Stage::Attempted) && !blocked,
        Expect::Blocked => stage(Stage::Attempted) && blocked,
        Expect::Exposed => stage(Stage::Exposed),
        Expect::Staged => stage(Stage::Staged),
        Expect::Obtained => stage(Stage::Obtained),
        Expect::Applied => stage(Stage::Obtained) && strongest.is_some_and(|f| f.applies),
    }
}

fn describe(findings: &[Finding]) -> String {
    let Some(finding) = strongest(findings).or(findings.first()) else {
        return "no finding".to_owned();
    };
    let stage = finding.stage.map_or_else(
        || format!("{:?}", finding.kind).to_lowercase(),
        |stage| format!("{stage:?}").to_lowercase(),
    );
    let mut out = stage;
    for (set, word) in [
        (finding.blocked, "blocked"),
        (finding.applies, "applied"),
        (finding.outcome_missing, "no result"),
    ] {
        if set {
            out.push_str(", ");
            out.push_str(word);
        }
    }
    if let Some(reason) = &finding.waived {
        out.push_str(", waived: ");
        out.push_str(reason);
    }
    out
}
