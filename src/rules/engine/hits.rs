//! From a match of a rule to a finding: filters, allow entries, quotations, one finding an event.

use super::matching::{self, Hit, Subject, each_hit};
use super::past::asks_for;
use super::report::MAX_MENTIONS;
use super::steps::Step;
use super::{Engine, Waiting};
use crate::rules::finding::{Cause, Confidence, Finding, Kind, Severity, Stage};
use crate::rules::outcome::Sink;
use crate::rules::pattern::PatternKind;
use crate::rules::prompt::{ASKED, QUOTED};
use crate::rules::rule::{Allow, Body, Rule, Scope};
use crate::rules::schema::ActorSyntax;
use crate::rules::text::excerpt::{excerpt, fingerprint};
use crate::rules::text::fold::plain;
use crate::rules::text::quote::{QUOTES, quoted};
use crate::rules::text::slice;
use crate::trace::event::{Actor, CallRef, Channel, EditOp, Event, EventId, FileEdit, Source};

/// The id of findings that no rule makes: an unclear command, and a result that holds reference content.
pub(super) const UNCLEAR: &str = "engine.unclear-command";

/// The id of findings in results that show the task's own commit.
pub(super) const OWN_COMMIT: &str = "engine.own-commit-shown";

/// Added to the title of findings in a command that could not be taken apart.
pub(super) const CAUTIOUS: &str = " (the command could not be taken apart)";

impl Engine<'_> {
    /// Tries the rules of some kinds on a text or step that was marked, and adds what they find.
    pub(super) fn try_rules(
        &mut self,
        event: &Event,
        subject: Subject,
        kinds: impl Fn(&Rule) -> bool,
    ) {
        let candidates = std::mem::take(&mut self.candidates.current);
        for number in candidates.iter().copied() {
            let Some(active) = self.active.get(number) else {
                continue;
            };
            let rule = active.rule;
            if !kinds(rule) || !self.applies(rule, event) || !self.marks.can_match(active.body()) {
                continue;
            }
            let mut follows = None;
            if let Some(after) = &rule.after {
                follows = self.past.holds(after, &self.findings, event, subject.step);
                if follows.is_none() {
                    continue;
                }
            }
            if let Some((hit, waived)) = self.first_hit(number, event, subject) {
                self.add(number, event, subject, &hit, waived, follows);
            }
        }
        self.candidates.current = candidates;
    }

    /// True if the rule looks at events like this one.
    fn applies(&self, rule: &Rule, event: &Event) -> bool {
        let filter = &rule.filter;
        filter.channels.has(event.channel)
            && (event.channel != Channel::Edit || filter.side.has(self.side))
            && (filter.tool.is_empty()
                // A format may keep the query of a search and not the name of the tool.
                || event.tool.as_deref().map_or(event.channel == Channel::Web, |tool| {
                    filter.tool.iter().any(|wanted| wanted.fits(tool))
                }))
            && filter
                .actor
                .is_none_or(|actor| (actor == ActorSyntax::Main) == (event.actor == Actor::Main))
            && (filter.path.is_empty()
                || event
                    .edits
                    .iter()
                    .any(|edit| filter.path.iter().any(|glob| glob.is_match(&edit.path))))
    }

    /// The first hit that counts; if none counts, the first with the reason.
    fn first_hit(
        &mut self,
        number: usize,
        event: &Event,
        subject: Subject,
    ) -> Option<(Hit, Option<String>)> {
        let active = self.active.get(number)?;
        let (rule, body) = (active.rule, active.body());
        let mut first: Option<(Hit, Option<String>)> = None;
        let complete = each_hit(body, rule.unit, subject, &self.task, &self.marks, |hit| {
            let waived = self.waived(rule, body, event, subject, &hit);
            let counts = waived.is_none();
            if counts || first.is_none() {
                first = Some((hit, waived));
            }
            counts
        });
        if !complete {
            *self.gave_up.entry(rule.id.clone()).or_default() += 1;
        }
        first
    }

    /// Why a hit does not count.
    fn waived(
        &self,
        rule: &Rule,
        body: &Body,
        event: &Event,
        subject: Subject,
        hit: &Hit,
    ) -> Option<String> {
        let piece = slice(subject.text, hit.piece.clone());
        let allowed = |allow: &&Allow| {
            let text = match allow.scope {
                Scope::Match => piece,
                Scope::Event => event.text.as_str(),
                Scope::Prompt => self.prompt.text(),
            };
            allow.any.iter().any(|p| match &p.kind {
                PatternKind::Text(regexp) => regexp.is_match(text),
                _ => matching::fits(p, subject, &self.task),
            })
        };
        if let Some(allow) = body.allow.iter().find(allowed) {
            return Some(allow.reason.clone());
        }
        match subject.step {
            None => {
                let prompt = matches!(event.channel, Channel::Prompt | Channel::System);
                let said = matches!(
                    event.channel,
                    Channel::Assistant | Channel::Reasoning | Channel::Result
                ) && matches!(rule.kind, Kind::Admission | Kind::Action);
                if !prompt && self.prompt.quotes(piece) {
                    Some(QUOTED.to_owned())
                } else if said
                    && (quoted(subject.text, &hit.range)
                        || rule.kind == Kind::Admission
                            && quoted(
                                subject.text,
                                &matching::statement(body, subject.text, hit, &self.task),
                            ))
                {
                    Some(QUOTES.to_owned())
                } else {
                    None
                }
            }
            Some(step) => {
                let asked = step
                    .invocation
                    .as_ref()
                    .is_some_and(|i| self.prompt.allows(i))
                    || !step.io.fetches.is_empty()
                        && step.io.fetches.iter().all(|a| {
                            self.prompt.names_address(a) && !self.task.names_own_change(a)
                        });
                (asked && !rule.tampering).then(|| ASKED.to_owned())
            }
        }
    }

    /// Adds a finding, or makes the one that the rule already has on this event stronger.
    fn add(
        &mut self,
        number: usize,
        event: &Event,
        subject: Subject,
        hit: &Hit,
        waived: Option<String>,
        follows: Option<EventId>,
    ) {
        let Some(active) = self.active.get(number) else {
            return;
        };
        let rule = active.rule;
        if rule.kind == Kind::Mention {
            let count = self.mentions.entry(number).or_default();
            *count += 1;
            if *count > MAX_MENTIONS {
                return;
            }
        }
        let call = subject.step.is_some();
        let cautious = subject.step.is_some_and(|step| step.cautious);
        let piece = slice(subject.text, hit.piece.clone());
        let finding = Finding {
            rule: rule.id.clone(),
            title: format!("{}{}", rule.title, if cautious { CAUTIOUS } else { "" }),
            kind: rule.kind,
            cause: hit
                .used
                .as_ref()
                .and_then(|used| used.saved.cause)
                .or(rule.cause),
            stage: match rule.kind {
                Kind::Action => Some(rule.attempt),
                Kind::Mention => Some(Stage::Mentioned),
                Kind::Admission | Kind::Mark => None,
            },
            blocked: rule.self_blocked,
            outcome_missing: call && rule.stage > rule.attempt,
            applies: false,
            names_own: self.task.names_own(piece) || call && self.task.names_own_change(piece),
            tampering: rule.tampering,
            severity: rule.severity,
            confidence: if cautious {
                Confidence::Low
            } else {
                rule.confidence
            },
            channel: event.channel,
            actor: event.actor.to_string(),
            trace: self
                .labels
                .get(event.source.file as usize)
                .cloned()
                .unwrap_or_default(),
            line: event.source.line,
            event: event.id,
            reached_at: event.id,
            call: event.call.clone(),
            excerpt: excerpt(subject.text, &hit.range),
            fingerprint: fingerprint(
                &rule.id,
                event.channel,
                slice(subject.text, hit.range.clone()),
            ),
            waived,
        };
        let waiting = subject.step.map(|step| Waiting {
            finding: self.findings.len(),
            active: number,
            state: step.state,
            unseen: unseen(step),
            from: hit.used.as_ref().map(|used| used.saved.event),
            follows: follows == Some(event.id),
        });
        let counts = finding.waived.is_none() && rule.kind != Kind::Mark;
        if counts && self.asked.iter().any(|after| asks_for(after, &rule.id)) {
            self.past
                .remember(self.findings.len(), rule.stage, event, subject.text);
        }
        self.findings.push(finding);
        if let Some(waiting) = waiting {
            self.calls
                .entry(event.id)
                .or_default()
                .waiting
                .push(waiting);
        }
    }

    /// What is to be said of a result if it holds reference content and nobody can tell what was run.
    pub(super) fn unclear_result(&self, event: &Event, call: &CallRef) -> Finding {
        let text = plain(&call.text);
        Finding {
            rule: UNCLEAR.to_owned(),
            title: "A command that cannot be read showed lines of the ground truth".to_owned(),
            kind: Kind::Action,
            cause: Some(Cause::UnexplainedCopy),
            stage: Some(Stage::Obtained),
            blocked: false,
            outcome_missing: false,
            applies: false,
            names_own: false,
            tampering: false,
            severity: Severity::High,
            confidence: Confidence::Low,
            channel: call.channel,
            actor: event.actor.to_string(),
            trace: self
                .labels
                .get(event.source.file as usize)
                .cloned()
                .unwrap_or_default(),
            line: call.line,
            event: call.event,
            reached_at: event.id,
            call: event.call.clone(),
            excerpt: excerpt(&text, &(0..0)),
            fingerprint: fingerprint(UNCLEAR, call.channel, &text),
            waived: None,
        }
    }

    /// What is to be said of a result of git that shows the task's own commit with its change, whatever it was asked
    /// for: `git show $(cat id)`, a repository elsewhere.
    pub(super) fn own_commit_shown(&self, event: &Event, call: &CallRef) -> Finding {
        let text = plain(&call.text);
        Finding {
            rule: OWN_COMMIT.to_owned(),
            title: "A call of git showed the task's own commit".to_owned(),
            cause: Some(Cause::GitHistory),
            names_own: true,
            severity: Severity::Critical,
            confidence: Confidence::High,
            fingerprint: fingerprint(OWN_COMMIT, call.channel, &text),
            ..self.unclear_result(event, call)
        }
    }

    /// Marks in added lines of a patch: licence headers, names of contributors, links. `path` is
    /// the path of the file, lines come with their 1-based numbers. Rules of kind `mark` look at
    /// nothing else: in a trace the same words are only edits in progress.
    pub fn scan_added_lines<'l>(
        &mut self,
        path: &str,
        lines: impl Iterator<Item = (u32, &'l str)>,
    ) -> Vec<Finding> {
        let before = self.findings.len();
        for (number, line) in lines {
            let source = Source {
                file: u32::MAX,
                line: u64::from(number),
                bytes: 0..0,
            };
            let mut event = Event::new(EventId::default(), source, Channel::Edit, line);
            event.edits.push(FileEdit {
                path: path.to_owned(),
                op: EditOp::Replace,
                old: None,
                new: None,
            });
            let text = plain(line);
            self.mark(&text);
            let subject = Subject {
                text: &text,
                step: None,
            };
            self.try_rules(&event, subject, |rule| rule.kind == Kind::Mark);
        }
        let mut found = self.findings.split_off(before);
        for finding in &mut found {
            path.clone_into(&mut finding.trace);
        }
        found
    }
}

/// The program of a step that fetches something which is not shown, and the name of the file that it goes to.
fn unseen(step: &Step) -> Option<Box<(String, String)>> {
    let fetches = !step.io.fetches.is_empty() || step.git.is_some();
    let invocation = step.invocation.as_ref().filter(|_| fetches)?;
    if matches!(step.state.sink, Sink::Shown | Sink::Applied) {
        return None;
    }
    let path = step.saves.first().map_or("", String::as_str);
    let name = path.rsplit('/').next().unwrap_or(path);
    Some(Box::new((invocation.program.clone(), name.to_owned())))
}
