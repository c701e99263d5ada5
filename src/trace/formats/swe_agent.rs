//! SWE-agent, `*.traj`: one document with `trajectory`, `history` and `info`.
//!
//! Everything stands there two to four times. The steps of `trajectory` are the run; of `history`
//! (and of the `query` that newer versions repeat in every step) only the system prompt and the task
//! are new. Entries marked `is_demo` are a canned demonstration of another task and are left out.

use super::blocks::member_text;
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::{Channel, EditOp, FileEdit, Outcome};
use crate::trace::json::{self, Json};
use crate::trace::outcome;
use crate::trace::problem::Problem;
use crate::trace::seen::hash_of;
use crate::trace::shell_words;
use crate::trace::step::{Answer, Call, Envelope, Message, Steps, What, remembered};
use crate::trace::text::{decoded, readable};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "swe-agent",
    fit,
    open: || Box::new(SweAgent::default()),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let around = ["environment", "history", "info", "replay_config"]
        .iter()
        .any(|key| record.get(key).is_some());
    let own = |step: &Json<'_>| step.str("action").is_some() && step.has("observation");
    let first = record.list("trajectory").first();
    let step = first.is_some_and(own);
    // Nothing else may be in sight of a long one.
    let around = around
        || first.is_some_and(|step| {
            ["thought", "response", "state"]
                .iter()
                .any(|key| step.has(key))
        });
    // The history may come first, and the first step be too long to be seen from there.
    let others = match record.get("trajectory") {
        Some(steps) => steps.items().is_empty() && matches!(steps, Json::Arr(_)),
        None => record.str("environment").is_some(),
    };
    let history = others
        && record
            .list("history")
            .first()
            .is_some_and(|entry| entry.str("role").is_some());
    Fit::strong_if((around && step) || history)
}

#[derive(Default)]
struct SweAgent {
    /// A step of the trajectory was met.
    stepped: bool,
    /// System prompt and task were said: what follows repeats the trajectory.
    told: bool,
    /// The document says how the run ended.
    ended: bool,
    /// It says that the patch was submitted, in so many words.
    submitted: bool,
    /// The last step did that.
    submits: bool,
    /// Hash of the last step with the time that it took: another step does not take the same to the microsecond.
    last: Option<u64>,
}

impl Adapter for SweAgent {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if out.part().starts() {
            *self = Self::default();
            out.push(What::TurnEnd);
            out.push(What::Start);
        }
        for step in record.list("trajectory") {
            self.step(step, out);
        }
        for entry in record.list("history") {
            self.entry(entry, out);
        }
        let status = record.at(&["info", "exit_status"]).and_then(Json::as_str);
        self.ended |= status.is_some();
        self.submitted |= status == Some("submitted");
        if out.part().ends() {
            out.push(What::TurnEnd);
            if self.submitted && self.stepped && !self.submits {
                out.push(What::Problem(Problem::OutOfOrder));
            }
            if self.ended {
                out.push(What::End);
            }
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        if end {
            out.push(What::TurnEnd);
        }
    }
}

impl SweAgent {
    fn step(&mut self, step: &Json<'_>, out: &mut Steps) {
        if !step.has("action") && !step.has("observation") && !step.has("response") {
            out.say(Channel::Raw, readable(step), None);
            return out.push(What::Problem(Problem::UnknownRecord));
        }
        if self.repeats(step) {
            return out.push(What::Problem(Problem::Repeated));
        }
        let stepped = std::mem::replace(&mut self.stepped, true);
        // Newer versions repeat all messages in every step.
        let query = ["query", "messages"].iter().map(|key| step.list(key));
        if let Some(query) = query.into_iter().find(|query| !query.is_empty())
            && !stepped
            && !self.told
        {
            query.iter().for_each(|entry| self.entry(entry, out));
            self.told = true;
        }
        let state = State::of(step);
        out.under(Envelope {
            cwd: state.directory,
            ..Envelope::default()
        });
        let thought = step.str("thought").unwrap_or_default();
        let action = step.str("action").unwrap_or_default().trim();
        let exits = action.starts_with("exit_") && !action.contains([' ', '\n']);
        self.submits = action == "submit";
        if action.is_empty() || exits {
            // The harness ended the run, or no action was found in the response.
            let said = step.first_str(&["response", "thought"]).unwrap_or_default();
            let channel = if exits {
                Channel::System
            } else {
                Channel::Assistant
            };
            out.say(channel, said, None);
            out.say(
                Channel::System,
                step.str("observation").unwrap_or_default(),
                None,
            );
            return;
        }
        if action == "submit" {
            // The end of the run; the harness answers with the patch.
            if !thought.trim().is_empty() {
                out.push(What::Final(Message::new(Channel::Result, thought.trim())));
            }
            return out.say(Channel::System, member_text(step, "observation"), None);
        }
        out.say(Channel::Assistant, thought, None);
        out.push(What::Call(call(action, &state.file)));
        let observation = member_text(step, "observation");
        out.push(What::Answer(Answer {
            id: None,
            outcome: outcome_of(&observation),
            text: decoded(observation),
        }));
    }

    /// True for the last step once more.
    fn repeats(&mut self, step: &Json<'_>) -> bool {
        let time = match step.get("execution_time") {
            Some(Json::Float(seconds)) => seconds.to_bits(),
            _ => {
                self.last = None;
                return false;
            }
        };
        let texts = ["action", "observation", "response", "thought"].map(|key| step.str(key));
        let hash = Some(hash_of((time, texts)));
        std::mem::replace(&mut self.last, hash) == hash
    }

    fn entry(&mut self, entry: &Json<'_>, out: &mut Steps) {
        if self.told || entry.is_true("is_demo") {
            return;
        }
        let text = member_text(entry, "content");
        match entry.str("role").unwrap_or_default() {
            "system" => out.say(Channel::System, text, None),
            // Newer demonstrations are one user message.
            "user" if entry.str("message_type") == Some("demonstration") => {}
            "user" => out.say(Channel::Prompt, text, None),
            _ => self.told = true,
        }
    }
}

/// Where the agent stood before a step: JSON text in old versions, an object in new ones.
#[derive(Default)]
struct State {
    file: String,
    directory: Option<String>,
}

impl State {
    fn of(step: &Json<'_>) -> Self {
        let parsed = step
            .str("state")
            .and_then(|text| json::parse(text.trim()).ok());
        let Some(state) = parsed.as_ref().or_else(|| step.get("state")) else {
            return Self::default();
        };
        Self {
            file: state
                .str("open_file")
                .filter(|file| *file != "n/a")
                .map(remembered)
                .unwrap_or_default(),
            directory: state.str("working_dir").map(remembered),
        }
    }
}

fn outcome_of(observation: &str) -> Outcome {
    let refused = [
        "Your changes have NOT been applied",
        "No replacement was performed",
    ];
    Outcome {
        error: refused.iter().any(|words| observation.contains(words)),
        interrupted: observation.contains("EXECUTION TIMED OUT")
            || observation.contains("was cancelled because it took more than"),
        truncated: outcome::is_truncated(observation),
        ..Outcome::default()
    }
}

/// A line for the shell, or one of the editor's commands, which are functions of that shell.
fn call(action: &str, open_file: &str) -> Call {
    let (first, rest) = action.split_once('\n').unwrap_or((action, ""));
    let words = shell_words::words(action).unwrap_or_default();
    let word = |at: usize| words.get(at).map(String::as_str);
    let edit = match action.split_whitespace().next().unwrap_or_default() {
        "edit" if is_range(first) => Some(FileEdit {
            path: open_file.to_owned(),
            op: EditOp::Replace,
            old: None,
            new: Some(until_end_of_edit(rest)),
        }),
        "edit" => words
            .get(1..)
            .and_then(|words| replacement(words, open_file)),
        "insert" => word(1).filter(|_| words.len() <= 3).map(|text| FileEdit {
            path: open_file.to_owned(),
            op: EditOp::Replace,
            old: None,
            new: Some(text.to_owned()),
        }),
        "create" => word(1).map(|path| FileEdit {
            path: path.to_owned(),
            op: EditOp::Write,
            old: None,
            new: Some(String::new()),
        }),
        "str_replace_editor" => editor(&words),
        _ => None,
    };
    match edit {
        Some(edit) => Call {
            channel: Channel::Edit,
            text: tools::new_texts(std::slice::from_ref(&edit)),
            edits: vec![edit],
            ..tools::call(
                action.split_whitespace().next().unwrap_or("edit"),
                &Json::Null,
            )
        },
        None => Call {
            channel: Channel::Command,
            text: action.to_owned(),
            ..tools::call("bash", &Json::Null)
        },
    }
}

/// `edit 12:15`
fn is_range(line: &str) -> bool {
    let range = line.trim_start_matches("edit").trim();
    range.split_once(':').is_some_and(|(from, to)| {
        let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
        number(from) && number(to)
    })
}

fn until_end_of_edit(text: &str) -> String {
    let text = text.trim_end();
    text.strip_suffix("end_of_edit").unwrap_or(text).to_owned()
}

/// `edit SEARCH REPLACE [all]`
fn replacement(words: &[String], open_file: &str) -> Option<FileEdit> {
    let (old, new) = (words.first()?, words.get(1)?);
    Some(FileEdit {
        path: open_file.to_owned(),
        op: EditOp::Replace,
        old: Some(old.clone()),
        new: Some(new.clone()),
    })
}

/// `str_replace_editor COMMAND PATH --old_str … --new_str …`; nothing for a view.
fn editor(words: &[String]) -> Option<FileEdit> {
    let command = words.get(1)?;
    let path = words.get(2)?.clone();
    let option = |name: &str| {
        let at = words.iter().position(|word| word == name)?;
        words.get(at + 1).cloned()
    };
    let (op, old, new) = match command.as_str() {
        "create" => (EditOp::Write, None, option("--file_text")),
        "str_replace" => (
            EditOp::Replace,
            option("--old_str"),
            option("--new_str").or_else(|| Some(String::new())),
        ),
        "insert" => (EditOp::Replace, None, option("--new_str")),
        "undo_edit" => (EditOp::Unrecorded, None, None),
        _ => return None,
    };
    Some(FileEdit { path, op, old, new })
}
