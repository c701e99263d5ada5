//! Codex's own session store, `~/.codex/sessions/…/rollout-*.jsonl`, of all versions so far.
//!
//! Since 0.32 every record is `{timestamp, type, payload}`; before, the payload stood alone. What the
//! model was shown and answered are the `response_item`s. Nearly all of it comes again as `event_msg`s
//! for the user interface, before or after, so texts are counted in each of these tellings and said as
//! often as in the most talkative one, and calls are known by their id. Only what a sandbox ran on its
//! own (commands inside code mode, searches) is in the events alone.

use std::collections::HashMap;
use std::rc::Rc;

use super::codex_items::{self, Held};
use super::{Adapter, Format, user_turn};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::problem::Problem;
use crate::trace::seen::{Seen, hash_of};
use crate::trace::step::{Call, Envelope, Message, Steps, What, Who, remembered};
use crate::trace::text::readable;

pub(crate) const FORMAT: Format = Format {
    name: "codex-rollout",
    fit,
    open: || Box::new(CodexRollout::default()),
    records_calls: true,
    experimental: false,
};

/// Texts whose tellings are counted at a time.
const MAX_TEXTS: usize = 1 << 16;

/// Texts at the start of a user message that Codex put there.
const INJECTED: [&str; 11] = [
    "<skill>",
    "# AGENTS.md instructions",
    "<environment_context>",
    "<ENVIRONMENT_CONTEXT>",
    "<user_instructions>",
    "<INSTRUCTIONS>",
    "<skills_instructions>",
    "<permissions instructions>",
    "<turn_aborted>",
    "<subagent_notification>",
    "<skill>",
];

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let kind = record.str("type").unwrap_or_default();
    if record.has_obj("payload") {
        return Fit::strong_if(matches!(
            kind,
            "session_meta"
                | "response_item"
                | "event_msg"
                | "turn_context"
                | "compacted"
                | "world_state"
                | "token_usage_record"
                | "inter_agent_communication_metadata"
        ));
    }
    if kind == "reasoning" && record.get("summary").is_some() {
        // The same as that of another agent.
        return Fit::Weak;
    }
    let call_id = record.str("call_id").is_some();
    let blocks = |words: &[&str]| {
        let first = record.list("content").first();
        let first = first.and_then(|block| block.str("type"));
        first.is_some_and(|first| words.contains(&first))
    };
    Fit::strong_if(match kind {
        "" => {
            let header = record.get("instructions").is_some() && record.get("git").is_some();
            record.str("record_type") == Some("state") || (header && record.has("timestamp"))
        }
        "function_call" | "custom_tool_call" => call_id && record.str("name").is_some(),
        "function_call_output" | "custom_tool_call_output" => call_id,
        "local_shell_call" => record.has_obj("action"),
        "message" => record.str("role").is_some() && blocks(&["input_text", "output_text"]),
        _ => false,
    })
}

/// The header is that of a sub-agent's session.
fn is_child(meta: &Json<'_>) -> bool {
    meta.at(&["source", "subagent"]).is_some() || meta.str("thread_source") == Some("subagent")
}

/// The sub-agent of a file that begins with that record.
pub(super) fn child_name<'j>(first: &'j Json<'_>) -> Option<&'j str> {
    let meta = first.get("payload").filter(|meta| is_child(meta))?;
    meta.str("id")
        .filter(|_| first.str("type") == Some("session_meta"))
}

/// The tellings of one thing.
#[derive(Debug, Clone, Copy)]
enum Telling {
    /// What went to and came from the model.
    Item = 0,
    /// The event for the user interface.
    Event = 1,
    /// The event of newer versions.
    Completed = 2,
}

#[derive(Default)]
pub(super) struct CodexRollout {
    session: String,
    /// The session that this one was copied from: its header comes again, inside.
    forked_from: Option<String>,
    who: Who,
    cwd: Option<String>,
    /// Number of the last record, in versions that number them.
    ordinal: Option<i64>,
    /// How often each text was told, by telling.
    told: HashMap<u64, [u32; 3]>,
    /// Calls whose ids were met.
    pub(super) calls: Seen,
    /// Calls that started a sub-agent.
    pub(super) spawns: Seen,
    /// A search that its event may tell with its results.
    pub(super) search: Option<Held>,
    /// The agent has spoken and called nothing since.
    spoke: bool,
    /// A total stands behind what it said.
    counted: bool,
    /// Whether totals stand behind the calls of an answer, as far as this session shows.
    totals: Totals,
}

/// Where the totals of an answer stand. Behind its calls, one without calls ends the turn; some
/// versions write them before the calls, where they prove nothing.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Totals {
    #[default]
    Unknown,
    Behind,
    Before,
}

impl Adapter for CodexRollout {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        self.number(record, out);
        let payload = record.get("payload").filter(|p| matches!(p, Json::Obj(_)));
        let time = record.str("timestamp").map(str::to_owned);
        let kind = match payload {
            Some(_) => record.str("type").unwrap_or_default(),
            None if record.has("record_type") => "state",
            None if record.str("type").is_none() => "session_meta",
            None => "response_item",
        };
        let inner = payload.unwrap_or(record);
        if kind == "session_meta" {
            self.start(inner, out);
        }
        if let Some(cwd) = inner.str("cwd").filter(|_| kind == "turn_context") {
            self.cwd = Some(remembered(cwd));
        }
        out.under(Envelope {
            session: self.session.clone(),
            who: self.who.clone(),
            uuid: None,
            time,
            cwd: self.cwd.clone(),
        });
        match kind {
            "session_meta" => instructions(inner, out),
            "response_item" => self.item(inner, out),
            "event_msg" => self.event(inner, out),
            "compacted" => summary(inner, out),
            _ => {}
        }
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        self.let_go(out);
        if end {
            out.push(What::TurnEnd);
        }
    }
}

impl CodexRollout {
    /// Newer versions number their records.
    fn number(&mut self, record: &Json<'_>, out: &mut Steps) {
        let Some(ordinal) = record.int("ordinal") else {
            return;
        };
        let follows = |last: i64| last.checked_add(1) == Some(ordinal);
        if ordinal != 0 && !self.ordinal.is_some_and(follows) {
            out.push(What::Problem(Problem::MissingParent));
        }
        self.ordinal = Some(ordinal);
    }

    /// A header: of this file, of another run behind it, or the copied one of a forked session.
    fn start(&mut self, meta: &Json<'_>, out: &mut Steps) {
        let id = meta.str("id").map(remembered).unwrap_or_default();
        if self.forked_from.as_ref() == Some(&id) {
            return;
        }
        self.let_go(out);
        out.push(What::TurnEnd);
        self.who = if is_child(meta) {
            Who::Child(id.clone())
        } else {
            Who::Main
        };
        self.session = id;
        self.forked_from = meta.str("forked_from_id").map(remembered);
        self.cwd = meta.str("cwd").map(remembered);
        (self.spoke, self.counted, self.totals) = (false, false, Totals::Unknown);
        out.under(Envelope {
            session: self.session.clone(),
            who: self.who.clone(),
            ..Envelope::default()
        });
        out.push(What::Start);
    }

    /// True when this telling tells a text once more than the others did.
    fn is_news(&mut self, channel: Channel, text: &str, telling: Telling) -> bool {
        if self.told.len() >= MAX_TEXTS {
            self.told.clear();
        }
        let counts = self
            .told
            .entry(hash_of((channel, text.trim())))
            .or_default();
        let most = counts.iter().copied().max().unwrap_or_default();
        match counts.get_mut(telling as usize) {
            Some(count) => {
                *count = count.saturating_add(1);
                *count > most
            }
            None => true,
        }
    }

    /// Says a text of a telling, unless another telling said it.
    fn tell(&mut self, channel: Channel, text: &str, telling: Telling, out: &mut Steps) {
        if text.trim().is_empty() || !self.is_news(channel, text, telling) {
            return;
        }
        self.let_go(out);
        self.spoke = channel == Channel::Assistant || (self.spoke && channel != Channel::Prompt);
        self.counted &= self.spoke && channel != Channel::Assistant;
        match channel {
            Channel::Prompt => out.push(What::Message(user_turn::message(text))),
            _ => out.say(channel, text, None),
        }
    }

    /// A search is told with its results by one of two records: true when this one is the second.
    pub(super) fn searched_before(&mut self, query: &str, is_event: bool) -> bool {
        let telling = if is_event {
            Telling::Event
        } else {
            Telling::Item
        };
        !self.is_news(Channel::Web, query, telling)
    }

    /// Says the search that was held back.
    pub(super) fn let_go(&mut self, out: &mut Steps) {
        if let Some((place, envelope, call)) = self.search.take() {
            out.push_at(place, envelope, What::Call(call));
        }
    }

    /// Holds a search back until its event had its chance.
    pub(super) fn hold(&mut self, call: Call, out: &mut Steps) {
        self.let_go(out);
        self.search = Some((out.place().clone(), Rc::clone(out.envelope()), call));
    }

    /// Something was called or returned, so what was said before was not the last word.
    pub(super) fn acts(&mut self, out: &mut Steps) {
        self.let_go(out);
        self.totals = match (self.spoke, self.counted, self.totals) {
            (true, true, _) | (_, _, Totals::Before) => Totals::Before,
            (true, false, _) => Totals::Behind,
            (false, _, totals) => totals,
        };
        (self.spoke, self.counted) = (false, false);
    }

    /// What the model was shown or answered.
    fn item(&mut self, item: &Json<'_>, out: &mut Steps) {
        match item.str("type").unwrap_or_default() {
            "message" => {
                for text in texts(item.get("content")) {
                    let channel = match item.str("role").unwrap_or_default() {
                        "assistant" => Channel::Assistant,
                        "user" => user_channel(text),
                        _ => Channel::System,
                    };
                    self.tell(channel, text, Telling::Item, out);
                }
            }
            "reasoning" => {
                let summary = texts(item.get("summary"));
                let summary = summary.into_iter().chain(texts(item.get("content")));
                for text in summary {
                    self.tell(Channel::Reasoning, text, Telling::Item, out);
                }
            }
            // What another agent says to this one.
            "agent_message" => {
                for text in texts(item.get("content")) {
                    self.tell(Channel::System, text, Telling::Item, out);
                }
            }
            "ghost_snapshot" | "image_generation_call" | "compaction" | "compaction_summary" => {}
            _ => codex_items::call_or_output(self, item, out),
        }
    }

    /// What the user interface was told.
    fn event(&mut self, event: &Json<'_>, out: &mut Steps) {
        let text = |key| event.str(key).unwrap_or_default();
        match text("type") {
            "user_message" => {
                let channel = user_channel(text("message"));
                self.tell(channel, text("message"), Telling::Event, out);
            }
            "agent_message" => {
                self.tell(Channel::Assistant, text("message"), Telling::Event, out);
            }
            "agent_reasoning" | "agent_reasoning_raw_content" => {
                self.tell(Channel::Reasoning, text("text"), Telling::Event, out);
            }
            "item_completed" => {
                if let Some(item) = event.get("item") {
                    self.completed(item, out)
                }
            }
            "error" | "stream_error" | "warning" => {
                let message = event
                    .first_str(&["message"])
                    .or_else(|| event.at(&["error", "message"]).and_then(Json::as_str));
                out.say(Channel::System, message.unwrap_or_default(), None);
            }
            "task_started" | "turn_started" => out.push(What::Active),
            "task_complete" | "turn_complete" | "turn.completed" | "turn_aborted" => {
                self.let_go(out);
                out.push(What::TurnEnd);
                out.push(What::End);
            }
            "token_count" if self.spoke => {
                self.counted = true;
                if self.totals == Totals::Behind {
                    out.push(What::End);
                }
            }
            "collab_agent_spawn_end" => {
                if let (Some(call), Some(name)) = (event.str("call_id"), event.str("new_thread_id"))
                {
                    out.push(What::ChildName {
                        call: call.to_owned(),
                        name: name.to_owned(),
                        calls: None,
                    });
                }
            }
            _ => codex_items::event(self, event, out),
        }
    }

    /// An item of newer versions, told when it is complete.
    fn completed(&mut self, item: &Json<'_>, out: &mut Steps) {
        let contents = texts(item.get("content"));
        match item.str("type").unwrap_or_default() {
            "UserMessage" => {
                for text in contents {
                    self.tell(user_channel(text), text, Telling::Completed, out);
                }
            }
            "AgentMessage" => {
                for text in contents {
                    self.tell(Channel::Assistant, text, Telling::Completed, out);
                }
            }
            "Reasoning" => {
                let summary = texts(item.get("summary_text"));
                for text in summary.into_iter().chain(texts(item.get("raw_content"))) {
                    self.tell(Channel::Reasoning, text, Telling::Completed, out);
                }
            }
            "Plan" => {
                if let Some(text) = item.str("text") {
                    self.tell(Channel::Assistant, text, Telling::Completed, out);
                }
            }
            _ => codex_items::event(self, item, out),
        }
    }
}

/// The texts of a content: a string, or blocks with a `text`, or strings.
fn texts<'j>(content: Option<&'j Json<'_>>) -> Vec<&'j str> {
    let Some(content) = content else {
        return Vec::new();
    };
    if let Some(text) = content.as_str() {
        return vec![text];
    }
    let items = content.items().iter();
    items
        .filter_map(|block| block.as_str().or_else(|| block.str("text")))
        .collect()
}

fn user_channel(text: &str) -> Channel {
    let start = text.trim_start();
    if INJECTED.iter().any(|mark| start.starts_with(mark)) {
        Channel::System
    } else {
        Channel::Prompt
    }
}

/// The system prompt, where the header holds it.
fn instructions(meta: &Json<'_>, out: &mut Steps) {
    for key in ["instructions", "base_instructions"] {
        let text = meta.str(key);
        let text = text.or_else(|| meta.at(&[key, "text"]).and_then(Json::as_str));
        out.say(Channel::System, text.unwrap_or_default(), None);
    }
}

/// A summary of the conversation so far, which the agent wrote for itself. The old items behind it
/// were there before.
fn summary(compacted: &Json<'_>, out: &mut Steps) {
    let text = compacted.str("message").unwrap_or_default();
    if !text.trim().is_empty() {
        out.push(What::Message(Message {
            aside: true,
            ..Message::new(Channel::Assistant, text)
        }));
    }
}

/// A record of a kind that this version does not know.
pub(super) fn unknown(record: &Json<'_>, out: &mut Steps) {
    out.say(Channel::Raw, readable(record), None);
    out.push(What::Problem(Problem::UnknownRecord));
}
