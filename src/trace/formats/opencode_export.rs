//! OpenCode, `opencode export`: one document `{"info": {"id": "ses_…"}, "messages": [{"info", "parts"}]}`.
//!
//! Unlike the stream of `run` it holds the prompts and the reasoning. The session of a sub-agent is
//! a document of its own.

use super::opencode_run::tool;
use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::problem::Problem;
use crate::trace::step::{Envelope, Steps, What, Who, remembered};
use crate::trace::text::readable;

pub(crate) const FORMAT: Format = Format {
    name: "opencode-export",
    fit,
    open: || Box::new(OpencodeExport::default()),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Some(record) = body.json() else {
        return Fit::No;
    };
    let info = record.get("info");
    let session = info.is_some_and(|info| {
        info.str("id").is_some() && (info.has("projectID") || info.has("directory"))
    });
    let first = record.list("messages").first();
    let messages = first.is_none_or(|first| first.has_obj("info"));
    // The session may stand behind its messages.
    let own = info.is_none()
        && first.is_some_and(|first| {
            let id = first.at(&["info", "sessionID"]).and_then(Json::as_str);
            id.is_some() && matches!(first.get("parts"), Some(Json::Arr(_)))
        });
    Fit::strong_if((session && messages && record.get("messages").is_some()) || own)
}

#[derive(Default)]
struct OpencodeExport {
    session: Envelope,
    /// How the last message of the assistant ended.
    finish: String,
    /// When the last message was begun, in milliseconds.
    created: i64,
}

impl Adapter for OpencodeExport {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Some(record) = body.json() else { return };
        if out.part().starts() {
            self.start(record, out);
        }
        for message in record.list("messages") {
            self.message(message, out);
        }
        if out.part().ends() {
            out.under(self.session.clone());
            out.push(What::TurnEnd);
            if !matches!(self.finish.as_str(), "" | "tool-calls" | "unknown") {
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

impl OpencodeExport {
    fn start(&mut self, record: &Json<'_>, out: &mut Steps) {
        let nothing = Json::Null;
        let info = record.get("info").unwrap_or(&nothing);
        let id = remembered(info.str("id").unwrap_or_default());
        self.finish.clear();
        self.created = i64::MIN;
        self.session = Envelope {
            who: match info.str("parentID") {
                Some(_) => Who::Child(id.clone()),
                None => Who::Main,
            },
            session: id,
            cwd: info.str("directory").map(remembered),
            ..Envelope::default()
        };
        out.under(self.session.clone());
        out.push(What::Start);
    }

    fn message(&mut self, message: &Json<'_>, out: &mut Steps) {
        let nothing = Json::Null;
        let info = message.get("info").unwrap_or(&nothing);
        if info.str("role").is_none() {
            out.say(Channel::Raw, readable(message), None);
            return out.push(What::Problem(Problem::UnknownRecord));
        }
        let user = info.str("role") == Some("user");
        if !user {
            info.str("finish")
                .unwrap_or_default()
                .clone_into(&mut self.finish);
        }
        let time = info.at(&["time", "created"]);
        if let Some(Json::Int(created)) = time {
            if *created < self.created {
                out.push(What::Problem(Problem::OutOfOrder));
            }
            self.created = self.created.max(*created);
        }
        out.under(Envelope {
            time: match time {
                Some(Json::Int(time)) => Some(time.to_string()),
                _ => None,
            },
            ..self.session.clone()
        });
        for part in message.list("parts") {
            part_steps(part, user, out);
        }
        if let Some(error) = info.get("error").filter(|error| **error != Json::Null) {
            out.say(Channel::System, readable(error), None);
        }
    }
}

fn part_steps(part: &Json<'_>, user: bool, out: &mut Steps) {
    let text = || part.str("text").unwrap_or_default();
    let id = part.str("id");
    match part.str("type").unwrap_or_default() {
        "text" if part.is_true("synthetic") => out.say(Channel::System, text(), id),
        "text" if user => out.say(Channel::Prompt, text(), id),
        // The stream of `run` has the message's id.
        "text" => out.say(Channel::Assistant, text(), part.str("messageID")),
        "reasoning" => out.say(Channel::Reasoning, text(), part.str("messageID")),
        "tool" => tool(part, out),
        "step-start" | "step-finish" | "patch" | "snapshot" | "file" | "compaction" | "agent"
        | "retry" => {}
        "subtask" => out.say(Channel::System, readable(part), id),
        _ => {
            out.say(Channel::Raw, readable(part), id);
            out.push(What::Problem(Problem::UnknownRecord));
        }
    }
}
