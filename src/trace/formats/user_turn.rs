//! Is a record of a user nothing but what the user wrote?
//!
//! Harnesses speak to the model in the user's name: hooks, notices of tasks, messages of other agents, expansions of
//! commands, summaries. Each marks its records in its own way, or not at all. So belief is narrow: a record with a
//! member that is not known to stand beside a user's own words, or a text that looks like a harness, is not believed.

use crate::trace::event::{Channel, Speaker};
use crate::trace::json::Json;
use crate::trace::step::Message;

/// Members that stand beside a user's own words in both Claude formats, with any value.
const KNOWN: [&str; 16] = [
    "type",
    "message",
    "session_id",
    "sessionId",
    "uuid",
    "parentUuid",
    "timestamp",
    "cwd",
    "version",
    "gitBranch",
    "slug",
    "entrypoint",
    "promptId",
    "permissionMode",
    "todos",
    "thinkingMetadata",
];

/// Words in the first line of what a harness says.
const WORDS: [&str; 29] = [
    "agent",
    "background",
    "caveat",
    "channel",
    "claude",
    "command",
    "context",
    "conversation",
    "feedback",
    "hook",
    "interrupted",
    "loop",
    "mcp",
    "monitor",
    "notice",
    "notification",
    "output of",
    "reminder",
    "resource",
    "result of",
    "scheduled",
    "session",
    "skill",
    "stopped by",
    "subagent",
    "summary",
    "system",
    "teammate",
    "tool",
];

/// The first line is looked at up to that many characters.
const FIRST_LINE: usize = 240;

/// The record is a message of one text, without anything beside it, and the text does not look like a harness.
pub(super) fn is_plain(record: &Json<'_>) -> bool {
    let harmless = |key: &str, value: &Json<'_>| match value {
        Json::Null | Json::Bool(false) => true,
        // The echo of what came in, to a stream.
        Json::Bool(true) => key == "isReplay",
        Json::Str(text) if key == "userType" => text == "external",
        _ => KNOWN.contains(&key),
    };
    let plain = record.members().iter().all(|(key, v)| harmless(key, v));
    plain
        && record
            .get("message")
            .and_then(only_text)
            .is_some_and(is_said)
}

/// A prompt, in a format whose records of users have no marks of others: it is the user's unless the text looks like a
/// harness, which puts what it brings between tags.
pub(super) fn message(text: &str) -> Message {
    Message {
        speaker: match is_said(text) {
            true => Speaker::User,
            false if text.trim_start().starts_with('<') => Speaker::Harness,
            false => Speaker::Unknown,
        },
        ..Message::new(Channel::Prompt, text)
    }
}

/// The text of a message that is nothing else.
fn only_text<'j>(message: &'j Json<'_>) -> Option<&'j str> {
    let of = |value: &Json<'_>, known: &[&str]| {
        let members = value.members().iter();
        members
            .map(|(key, _)| key)
            .all(|key| known.contains(&&**key))
    };
    if message.str("role") != Some("user") || !of(message, &["role", "content"]) {
        return None;
    }
    match message.get("content")? {
        Json::Str(text) => Some(text),
        Json::Arr(blocks) => match blocks.as_slice() {
            [block] if block.str("type") == Some("text") && of(block, &["type", "text"]) => {
                block.str("text")
            }
            _ => None,
        },
        _ => None,
    }
}

/// Nothing in the text says that a harness wrote it.
fn is_said(text: &str) -> bool {
    let text = text.trim_start();
    let marked = text.starts_with(|c: char| !c.is_alphanumeric() && !matches!(c, '"' | '\'' | '`'));
    let first = text.lines().next().unwrap_or_default();
    let first: String = first.chars().take(FIRST_LINE).collect();
    let first = first.to_lowercase();
    !marked && !WORDS.iter().any(|word| first.contains(word))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::json::parse;

    #[test]
    fn only_what_a_user_can_have_written_is_believed() {
        let text = r#"[{"type":"text","text":"Please take this:\ndef f():"}]"#;
        let with = |members: &str, content: &str| {
            let record = format!(
                r#"{{"type":"user","uuid":"u1","message":{{"role":"user","content":{content}}}{members}}}"#
            );
            is_plain(&parse(&record).unwrap())
        };
        for members in [
            "",
            r#","session_id":"s","parent_tool_use_id":null"#,
            r#","isSidechain":false,"userType":"external","parentUuid":"u0","isMeta":false"#,
            r#","isReplay":true"#,
        ] {
            assert!(with(members, text), "{members}");
            assert!(with(members, r#""def f():""#), "{members}");
        }
        for members in [
            r#","isMeta":true"#,
            r#","isSynthetic":true"#,
            r#","isCompactSummary":true"#,
            r#","isSidechain":true"#,
            r#","userType":"internal""#,
            r#","origin":{"kind":"task-notification"}"#,
            r#","sender":"worker-2""#,
            r#","tool_use_result":{"stdout":""}"#,
            r#","parent_tool_use_id":"t1""#,
            r#","commandMode":"task-notification""#,
        ] {
            assert!(!with(members, text), "{members}");
        }
        for content in [
            r#"[{"type":"tool_result","tool_use_id":"t","content":"x"},{"type":"text","text":"def f():"}]"#,
            r#"[{"type":"text","text":"notes"},{"type":"text","text":"def f():"}]"#,
            r#""<teammate-message>""#,
            r#""[Resource from ref at ref://gt] def f():""#,
            r#""/notes""#,
            r#""PostToolUse:Edit hook additional context: def f():""#,
            r#""Operation stopped by hook: def f():""#,
            r#""This session is being continued from a previous conversation.\ndef f():""#,
            r#""Another Claude session sent a message:\ndef f():""#,
        ] {
            assert!(!with("", content), "{content}");
        }
    }
}
