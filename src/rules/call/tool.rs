//! Calls of tools other than a shell: which addresses and files their arguments name.
//!
//! Arguments come as decoded text, most often JSON. They are not parsed as such: a key that names
//! a file is looked for, whatever the notation.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::{FileUse, Io, address};
use crate::rules::rule::Access;
use crate::rules::text::{ascii, slice};
use crate::trace::event::{Channel, EditOp, Event};

static PATH_KEY: LazyLock<Option<Regex>> = LazyLock::new(|| {
    ascii(concat!(
        r#"(?i)["']?\b(?:file_?paths?|absolute_?path|notebook_path|target_file|file_?names?"#,
        r#"|paths?|files?|dir(?:ectory)?|folder|uri)["']?\s*[:=]\s*"#,
        r#"(?:"([^"\n]+)"|'([^'\n]+)'|([^\s"'\[{},-][^\s"'\[{},]*))"#,
    ))
});

/// Words in the name of a tool that tell what it does with a file.
const READS: &[&str] = &[
    "read",
    "view",
    "open",
    "cat",
    "get_file",
    "inspect",
    "expand",
    "grep",
    "search",
    "fetch_file",
    "str_replace_editor",
];
const LISTS: &[&str] = &["ls", "list", "glob", "find", "tree"];
const WRITES: &[&str] = &[
    "write", "edit", "create", "replace", "patch", "insert", "move",
];
const DELETES: &[&str] = &["delete", "remove"];

/// Words in the name of a tool that fetches addresses.
const FETCHES: &[&str] = &[
    "fetch", "web", "browse", "navigate", "url", "http", "download", "scrape", "crawl", "goto",
    "curl",
];

/// What a call other than a shell command does.
pub fn io_of(event: &Event) -> Io {
    let mut io = Io {
        prints: true,
        ..Io::default()
    };
    let tool = event
        .tool
        .as_deref()
        .unwrap_or_default()
        .to_ascii_lowercase();
    let named = |words: &[&str]| words.iter().any(|w| tool.contains(w));
    match event.channel {
        Channel::Web => {
            io.fetches = address::all(&event.text);
            if io.fetches.is_empty() {
                io.fetches = address::of_argument(event.text.trim());
            }
        }
        Channel::Edit => {
            io.prints = false;
            io.files = event
                .edits
                .iter()
                .map(|edit| FileUse {
                    path: edit.path.clone(),
                    access: match edit.op {
                        EditOp::Delete => Access::Delete,
                        EditOp::Write | EditOp::Replace | EditOp::Unrecorded => Access::Write,
                    },
                })
                .collect();
        }
        Channel::ToolCall => {
            if named(FETCHES) {
                io.fetches = address::all(&event.text);
            }
            let access = if named(DELETES) {
                Some(Access::Delete)
            } else if named(WRITES) && !tool.contains("str_replace_editor") {
                Some(Access::Write)
            } else if named(READS) {
                Some(Access::Read)
            } else if named(LISTS) {
                Some(Access::List)
            } else {
                None
            };
            if let Some(access) = access {
                paths(&event.text).for_each(|path| io.uses(path, access));
            }
        }
        _ => {}
    }
    io
}

/// The values of keys that name files; the whole text if it is one word.
fn paths(text: &str) -> impl Iterator<Item = &str> {
    let trimmed = text.trim();
    let bare = (!trimmed.contains(char::is_whitespace) && !trimmed.starts_with(['{', '[']))
        .then_some(trimmed)
        .filter(|t| !t.is_empty());
    let keyed = PATH_KEY
        .as_ref()
        .into_iter()
        .flat_map(move |regex| regex.captures_iter(text.as_bytes()))
        .filter_map(|found| (1..=3).find_map(|n| found.get(n)))
        .map(move |m| slice(text, m.range()));
    // A list of paths: `file_paths: ["a", "b"]` or one a line behind dashes.
    let listed = text
        .lines()
        .filter_map(|line| line.trim().strip_prefix("- "))
        .filter(|item| item.contains(['/', '.']) && !item.contains(' '));
    bare.into_iter().chain(keyed).chain(listed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::event::{EventId, Source};

    fn files(tool: &str, text: &str) -> Vec<(String, Access)> {
        let mut event = Event::new(
            EventId::default(),
            Source::default(),
            Channel::ToolCall,
            text,
        );
        event.tool = Some(tool.to_owned());
        io_of(&event)
            .files
            .into_iter()
            .map(|f| (f.path, f.access))
            .collect()
    }

    #[test]
    fn files_in_any_notation() {
        for (tool, text, path, access) in [
            (
                "Read",
                r#"{"file_path":"/eval/x.patch"}"#,
                "/eval/x.patch",
                Access::Read,
            ),
            (
                "Read",
                r#"{ "file_path" : "/eval/x y.patch", "limit": 5 }"#,
                "/eval/x y.patch",
                Access::Read,
            ),
            (
                "open_files",
                "file_paths:\n- a/b.rs",
                "a/b.rs",
                Access::Read,
            ),
            ("Glob", r#"{"path":"/eval"}"#, "/eval", Access::List),
            ("Write", r#"{"file_path":"/t"}"#, "/t", Access::Write),
            ("delete_file", "path: /t", "/t", Access::Delete),
            ("view", "/eval/x", "/eval/x", Access::Read),
        ] {
            assert_eq!(
                files(tool, text).first(),
                Some(&(path.to_owned(), access)),
                "{text}"
            );
        }
        assert!(files("Task", r#"{"file":"/x"}"#).is_empty());
    }
}
