//! Commands that go on in the background, and the calls that fetch what they printed later.
//!
//! The result of such a call says under which id, or in which file, its output can be had; a later call of another tool
//! (or of `cat`) names that id or file, and its result is a further result of the command. Agents word both in their own
//! ways, so only the shape is looked for: an id that a result announced and an argument that repeats it.

use std::collections::{BTreeMap, VecDeque};
use std::sync::LazyLock;

use regex_automata::meta::Regex;

use crate::rules::text::{ceil, expected, floor, slice};
use crate::trace::event::{CallRef, Channel, Event, EventId, Outcome};

/// Ids that are kept: the youngest.
const MAX_JOBS: usize = 256;

/// Calls that typed into a terminal which are kept.
const MAX_TYPED: usize = 4;

/// Bytes at the start and at the end of a result in which an id is announced.
const HEAD: usize = 1_024;

/// Words without which no id is announced.
const HINTS: [&str; 8] = [
    "ackground",
    "unning",
    "session",
    "shellId",
    "PID",
    "erminal",
    "written to",
    "tarted",
];

static ANNOUNCED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    expected(concat!(
        r"(?i)(?:\b(?:session|shell|process|task|job|terminal|command|background)[ _-]?ids?\b",
        r"|\bwith[ ]id\b|\bpids?\b)",
        r#"["']?[ ]*(?:is\b|([:=]))?[ ]*["'`<]?([a-z0-9][a-z0-9_.-]{0,63})"#,
        r"|\b(?:written|saved|logged|redirected|streamed)[ ]to:?[ ]+(/[^\s<>]{2,500})",
        r"|^\[[0-9]{1,4}\][ ]+([0-9]{2,10})\s*$",
    ))
});

/// Words in the names of tools that fetch the output of a process, or type into it.
const POLLS: [&str; 11] = [
    "output", "stdin", "bash", "shell", "terminal", "process", "task", "session", "command",
    "exec", "job",
];

/// What runs in the background.
#[derive(Debug, Default)]
pub(super) struct Jobs {
    /// The calls behind an id or a file: the one that started it, and those that typed into it last.
    calls: BTreeMap<String, Vec<EventId>>,
    /// The ids, oldest first.
    order: VecDeque<String>,
    /// Calls that fetch, and the calls whose output they fetch.
    fetches: BTreeMap<EventId, Vec<EventId>>,
    /// The calls that typed into a terminal last: what it shows is the output of one of them.
    typed: VecDeque<EventId>,
    /// The call that started what was announced last.
    last: Option<EventId>,
    /// The call that went on without saying under which id.
    nameless: Option<EventId>,
    /// The tool and the call that was given up waiting for last.
    waiting: Option<(Option<String>, EventId)>,
}

impl Jobs {
    /// Reads in a result which ids it announces. The result of a call that fetches speaks of the call before it.
    pub(super) fn learn(&mut self, answers: &CallRef, text: &str, outcome: Outcome) {
        let call = self.fetched_by(answers.event).last().copied();
        let waited = self.waiting.as_ref().map(|(tool, _)| tool);
        if answers.channel != Channel::Command || call.is_some() {
            // Only a command of its own ends or starts the waiting.
        } else if outcome.interrupted {
            self.waiting = Some((answers.tool.clone(), answers.event));
        } else if waited == Some(&answers.tool) {
            self.waiting = None;
        }
        // What is typed into a shell is a command of its own, which goes on under the id of the shell.
        let call = call
            .filter(|_| answers.channel != Channel::Command)
            .unwrap_or(answers.event);
        let head = slice(text, 0..floor(text, HEAD));
        let tail = if head.len() == text.len() {
            ""
        } else {
            slice(
                text,
                ceil(text, text.len().saturating_sub(HEAD))..text.len(),
            )
        };
        let mut named = false;
        for part in [head, tail] {
            if !HINTS.iter().any(|hint| part.contains(hint)) && !part.starts_with('[') {
                continue;
            }
            let Some(announced) = ANNOUNCED.as_ref() else {
                return;
            };
            for found in announced.captures_iter(part) {
                let id = found.iter().skip(2).flatten().next();
                if let Some(id) = id {
                    let id = slice(part, id.range()).trim_end_matches(['.', ',']);
                    named |= self.add(id, found.get_group(1).is_some(), call);
                }
            }
        }
        let goes_on = text.len() < HEAD && (text.contains("ackground") || text.contains("unning"));
        if named {
            self.last = Some(call);
        } else if goes_on && answers.channel == Channel::Command {
            self.nameless = Some(call);
        }
    }

    /// Remembers an id; false for a word that is none.
    fn add(&mut self, id: &str, told: bool, call: EventId) -> bool {
        // `session id and` announces nothing, `sessionId: show` does.
        let names = told
            || id.contains('/')
            || id.bytes().any(|b| b.is_ascii_digit())
            || id.contains(['_', '-']);
        if !names {
            return false;
        }
        let calls = self.calls.entry(id.to_owned()).or_default();
        if calls.last() != Some(&call) {
            calls.push(call);
        }
        if calls.len() > MAX_TYPED {
            // The first is the one that started it.
            calls.remove(1);
        }
        self.order.retain(|known| known != id);
        self.order.push_back(id.to_owned());
        if self.order.len() > MAX_JOBS
            && let Some(oldest) = self.order.pop_front()
        {
            self.calls.remove(&oldest);
        }
        true
    }

    /// Looks whether a call fetches what earlier ones print.
    pub(super) fn called(&mut self, event: &Event) {
        let mut fetched = match event.channel {
            Channel::ToolCall => self
                .asked(event)
                .or_else(|| self.put_in(event).map(|call| vec![call]))
                .unwrap_or_default(),
            Channel::Command if types(event) => self.last.into_iter().collect(),
            Channel::Command => self.printed(&event.text),
            _ => Vec::new(),
        };
        if event.channel == Channel::Command {
            let holds = |words: &[&str]| words.iter().any(|word| event.text.contains(word));
            if holds(&["capture-pane", "hardcopy"]) {
                fetched.extend(&self.typed);
            }
            if holds(&["send-keys", "-X stuff"]) {
                self.typed.push_back(event.id);
                if self.typed.len() > MAX_TYPED {
                    self.typed.pop_front();
                }
            }
        }
        if !fetched.is_empty() {
            self.fetches.insert(event.id, fetched);
            if self.fetches.len() > MAX_JOBS {
                self.fetches.pop_first();
            }
        }
    }

    /// The calls whose later output that call fetches.
    pub(super) fn fetched_by(&self, call: EventId) -> &[EventId] {
        self.fetches.get(&call).map_or(&[], Vec::as_slice)
    }

    fn asked(&self, event: &Event) -> Option<Vec<EventId>> {
        let tool = event
            .tool
            .as_deref()
            .unwrap_or_default()
            .to_ascii_lowercase();
        let polls = POLLS.iter().any(|word| tool.contains(word));
        if self.calls.is_empty() && !polls {
            return None;
        }
        // The arguments are short; a long text is no request for an output.
        let arguments = slice(&event.text, 0..floor(&event.text, 4 * HEAD));
        let words = arguments
            .split(|c: char| c.is_whitespace() || "\"'`,{}[]():=".contains(c))
            .filter(|word| !word.is_empty());
        let mut key = "";
        for word in words {
            let known = self.calls.get(word);
            if let Some(calls) = known.filter(|_| word.contains('/') || polls && is_id(key)) {
                return Some(calls.clone());
            }
            key = word;
        }
        let nameless = self.nameless.filter(|_| polls && tool != "bash");
        nameless.map(|call| vec![call])
    }

    /// The same tool as before, with input for what it runs still.
    fn put_in(&self, event: &Event) -> Option<EventId> {
        let (tool, call) = self.waiting.as_ref()?;
        (tool.is_some() && *tool == event.tool).then_some(*call)
    }

    /// `tail -n 100 /tmp/tasks/b1.output`
    fn printed(&self, command: &str) -> Vec<EventId> {
        let files = self.calls.iter().filter(|(id, _)| id.contains('/'));
        let mut named = files.filter(|(file, _)| command.contains(file.as_str()));
        named
            .next()
            .map(|(_, calls)| calls.clone())
            .unwrap_or_default()
    }
}

/// True for the name of an argument that says which process is meant.
fn is_id(key: &str) -> bool {
    let key = key.to_ascii_lowercase();
    key.ends_with("id")
        || [
            "session", "shell", "terminal", "process", "job", "task", "name",
        ]
        .contains(&key.as_str())
}

/// True if the tool types into a process that runs already.
fn types(event: &Event) -> bool {
    let tool = event
        .tool
        .as_deref()
        .unwrap_or_default()
        .to_ascii_lowercase();
    ["stdin", "interact", "send", "write_bash", "write_shell"]
        .iter()
        .any(|word| tool.contains(word))
}
