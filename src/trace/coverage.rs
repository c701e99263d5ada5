//! How much of a run does its trace show?
//!
//! Complete is claimed only when shown: every session of the main agent has its start and its end,
//! every call a result, every sub-agent that was started its own steps, and nothing in the files was
//! damaged. Everything else is said in words, because it goes into the report beside the verdict.

use std::sync::Arc;

use super::event::{CallRef, Coverage};
use super::hold::Counts;
use super::linker::Tally;
use super::report::TraceFileReport;
use super::sessions::SessionMarks;

/// How many sessions or calls a reason names.
const NAMED: usize = 3;

/// What coverage is judged by.
pub(crate) struct Facts<'a> {
    pub(crate) files: &'a [TraceFileReport],
    pub(crate) sessions: &'a [SessionMarks],
    pub(crate) tally: Tally,
    pub(crate) counts: Counts,
    pub(crate) unanswered: &'a [Arc<CallRef>],
    pub(crate) missing_children: &'a [String],
}

/// The coverage, and in words why it is not complete.
pub(crate) fn judge(facts: &Facts<'_>) -> (Coverage, Vec<String>) {
    let mut reasons = problems(facts);
    if facts.files.is_empty() {
        reasons.push("there is no trace file".to_owned());
    }
    let any_session = facts.sessions.iter().any(|session| session.main);
    if facts.counts.understood == 0 && !any_session {
        if !facts.files.is_empty() {
            reasons.push("no record of a known format was found".to_owned());
        }
        return (Coverage::Missing, reasons);
    }
    if facts.counts.understood == 0 {
        reasons.push("nothing is said or done in the trace".to_owned());
    }
    sessions(facts, &mut reasons);
    calls(facts, &mut reasons);
    let complete = |session: &SessionMarks| session.started && session.ended && session.main;
    let whole = facts
        .sessions
        .iter()
        .any(|session| session.records_calls && complete(session));
    let coverage = if facts.tally.calls == 0 && facts.counts.said > 0 && !whole {
        Coverage::SummaryOnly
    } else if reasons.is_empty() {
        Coverage::Full
    } else {
        Coverage::Partial
    };
    (coverage, reasons)
}

fn problems(facts: &Facts<'_>) -> Vec<String> {
    let mut reasons = Vec::new();
    for (number, file) in facts.files.iter().enumerate() {
        for problem in &file.problems {
            // What a later file goes on from is an earlier one.
            if number > 0 && problem.is_continuation() {
                continue;
            }
            let place = match problem.line {
                0 => file.label.clone(),
                line => format!("{}:{line}", file.label),
            };
            reasons.push(match problem.count {
                1 => format!("{place}: {}", problem.what),
                count => format!("{place}: {} ({count} times)", problem.what),
            });
        }
    }
    reasons
}

fn sessions(facts: &Facts<'_>, reasons: &mut Vec<String>) {
    let of_main: Vec<&SessionMarks> = facts.sessions.iter().filter(|s| s.main).collect();
    if of_main.is_empty() {
        reasons.push("there is no session of the main agent, only of sub-agents".to_owned());
    }
    if of_main.iter().any(|session| !session.records_calls) {
        reasons.push("the format holds a final message and no tool calls".to_owned());
    }
    let recorded: Vec<&SessionMarks> = of_main.into_iter().filter(|s| s.records_calls).collect();
    let without = |has: fn(&SessionMarks) -> bool| -> Vec<String> {
        recorded
            .iter()
            .filter(|session| !has(session))
            .map(|session| name_of(session, facts))
            .collect()
    };
    for (what, names) in [
        ("start", without(|session| session.started)),
        ("end", without(|session| session.ended)),
    ] {
        if !names.is_empty() {
            reasons.push(format!("no {what} of {}", shortened(&names)));
        }
    }
}

fn name_of(session: &SessionMarks, facts: &Facts<'_>) -> String {
    let file = facts.files.get(session.file as usize);
    let label = file.map_or("?", |file| file.label.as_str());
    match session.name.as_str() {
        "" => format!("the session in {label}"),
        name => format!("session {name} in {label}"),
    }
}

fn calls(facts: &Facts<'_>, reasons: &mut Vec<String>) {
    let unanswered = facts.unanswered.len() as u64 + facts.tally.given_up;
    if unanswered > 0 {
        let mut reason = format!("{} without a result", number(unanswered, "call"));
        if let Some(call) = facts.unanswered.first() {
            let file = facts.files.get(call.event.file as usize);
            let label = file.map_or("?", |file| file.label.as_str());
            let tool = call.tool.as_deref().unwrap_or("a tool");
            reason = format!("{reason}, the first at {label}:{} ({tool})", call.line);
        }
        reasons.push(reason);
    }
    if facts.tally.orphans > 0 {
        let results = number(facts.tally.orphans, "result");
        reasons.push(format!("{results} without its call"));
    }
    if !facts.missing_children.is_empty() {
        reasons.push(format!(
            "the steps of {} are not in the trace: {}",
            number(facts.missing_children.len() as u64, "sub-agent"),
            shortened(facts.missing_children)
        ));
    }
}

fn number(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        count => format!("{count} {thing}s"),
    }
}

fn shortened(names: &[String]) -> String {
    let shown: Vec<&str> = names.iter().take(NAMED).map(String::as_str).collect();
    match names.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::{Channel, EventId};
    use crate::trace::problem::TraceProblem;

    fn session(started: bool, ended: bool) -> SessionMarks {
        SessionMarks {
            name: "s1".into(),
            main: true,
            started,
            ended,
            records_calls: true,
            ..SessionMarks::default()
        }
    }

    struct Given {
        sessions: Vec<SessionMarks>,
        problems: Vec<TraceProblem>,
        tally: Tally,
        counts: Counts,
        unanswered: usize,
        missing: Vec<String>,
    }

    /// A run that is shown whole.
    fn whole() -> Given {
        Given {
            sessions: vec![session(true, true)],
            problems: Vec::new(),
            tally: Tally {
                calls: 2,
                results: 2,
                ..Tally::default()
            },
            counts: Counts {
                events: 5,
                understood: 5,
                said: 1,
            },
            unanswered: 0,
            missing: Vec::new(),
        }
    }

    fn judged(given: &Given) -> (Coverage, Vec<String>) {
        let file = TraceFileReport {
            label: "run.jsonl".into(),
            problems: given.problems.clone(),
            ..TraceFileReport::default()
        };
        let call = Arc::new(CallRef {
            event: EventId::default(),
            channel: Channel::Command,
            tool: Some("Bash".into()),
            text: String::new(),
            line: 7,
        });
        judge(&Facts {
            files: &[file],
            sessions: &given.sessions,
            tally: given.tally,
            counts: given.counts,
            unanswered: &vec![call; given.unanswered],
            missing_children: &given.missing,
        })
    }

    #[test]
    fn full_only_when_nothing_is_wrong() {
        assert_eq!(judged(&whole()), (Coverage::Full, Vec::new()));
        type Change = fn(&mut Given);
        let table: [(Change, &str); 8] = [
            (
                |g| g.sessions = vec![session(false, true)],
                "no start of session s1 in run.jsonl",
            ),
            (
                |g| g.sessions.push(session(true, false)),
                "no end of session s1 in run.jsonl",
            ),
            (
                |g| g.unanswered = 2,
                "2 calls without a result, the first at run.jsonl:7 (Bash)",
            ),
            (|g| g.tally.given_up = 1, "1 call without a result"),
            (|g| g.tally.orphans = 1, "1 result without its call"),
            (
                |g| g.missing = vec!["a (Task)".into()],
                "the steps of 1 sub-agent are not in the trace: a (Task)",
            ),
            (
                |g| {
                    g.problems = vec![TraceProblem {
                        line: 3,
                        what: "text".into(),
                        count: 2,
                    }];
                },
                "run.jsonl:3: text (2 times)",
            ),
            (
                |g| g.sessions = vec![],
                "there is no session of the main agent, only of sub-agents",
            ),
        ];
        for (change, reason) in table {
            let mut given = whole();
            change(&mut given);
            assert_eq!(judged(&given), (Coverage::Partial, vec![reason.to_owned()]));
        }
    }

    #[test]
    fn less_than_partial() {
        let mut given = whole();
        given.tally = Tally::default();
        assert_eq!(
            judged(&given).0,
            Coverage::Full,
            "an agent that did nothing"
        );

        given.sessions[0].records_calls = false;
        assert_eq!(
            judged(&given),
            (
                Coverage::SummaryOnly,
                vec!["the format holds a final message and no tool calls".to_owned()]
            )
        );
        given.counts = Counts::default();
        assert_eq!(judged(&given).0, Coverage::Partial, "a start and no more");
        given.sessions.clear();
        assert_eq!(judged(&given).0, Coverage::Missing);
    }
}
