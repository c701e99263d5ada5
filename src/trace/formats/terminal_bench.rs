//! Terminal-Bench: recordings of a terminal (`agent.cast`), its raw log (`agent.log`) and the keys that
//! were sent (`commands.txt`).
//!
//! A recording is what a person would have seen, with redraws and colours, so it shows commands only
//! where a shell's prompt can be told, and outputs only as far as they stayed on the screen. Nothing
//! says which keys the agent sent, and nothing is ever complete. Experimental.

use std::sync::LazyLock;

use regex::Regex;

use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Outcome;
use crate::trace::json::Json;
use crate::trace::step::{Answer, Steps, What};
use crate::trace::tools;

pub(crate) const FORMAT: Format = Format {
    name: "terminal-bench",
    fit,
    open: || Box::new(Terminal::default()),
    records_calls: true,
    experimental: true,
};

/// Bytes of output that are collected before they are given out.
const MAX_OUTPUT: usize = 1 << 20;

/// Switches an interactive shell makes around each command.
const BRACKETED_PASTE: &str = "\u{1b}[?2004";

fn fit(body: &Body<'_>) -> Fit {
    match body {
        Body::Json(Json::Arr(items)) => {
            let kind = items.get(1).and_then(Json::as_str);
            let timed = matches!(items.first(), Some(Json::Int(_) | Json::Float(_)));
            let text = items.get(2).and_then(Json::as_str).is_some();
            Fit::strong_if(
                items.len() == 3 && timed && text && matches!(kind, Some("o" | "i" | "r" | "m")),
            )
        }
        Body::Json(header) => Fit::strong_if(
            header.int("version").is_some() && header.has("width") && header.has("height"),
        ),
        Body::Text(line) if line.contains(BRACKETED_PASTE) => Fit::Strong,
        Body::Text(line) if keys(line).is_some_and(|keys| keys.iter().any(|k| is_enter(k))) => {
            Fit::Strong
        }
        Body::Text(_) => Fit::Follows,
    }
}

#[derive(Default)]
struct Terminal {
    /// What a recording printed since the last line feed.
    line: String,
    /// Output since the last command.
    output: String,
    /// A command waits for its output.
    waiting: bool,
    /// Keys sent since the last `Enter`.
    typed: String,
}

impl Adapter for Terminal {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        match body {
            Body::Json(Json::Arr(items)) => {
                let text = items.get(2).and_then(Json::as_str).unwrap_or_default();
                match items.get(1).and_then(Json::as_str) {
                    Some("o") => self.print(text, out),
                    Some("i") => self.press(text, out),
                    _ => {}
                }
            }
            Body::Json(_) => {}
            Body::Text(line) => match keys(line) {
                Some(keys) => {
                    for key in keys {
                        if is_enter(&key) {
                            self.press("\r", out);
                        } else if !is_key_name(&key) {
                            self.press(&key, out);
                        }
                    }
                }
                None => self.line(line, out),
            },
        }
    }

    fn flush(&mut self, _end: bool, out: &mut Steps) {
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.line(&line, out);
        }
        if !self.output.is_empty() {
            self.end_output(out);
        }
    }
}

impl Terminal {
    fn print(&mut self, text: &str, out: &mut Steps) {
        self.line.push_str(text);
        if !text.contains('\n') && self.line.len() < MAX_OUTPUT {
            return;
        }
        let all = std::mem::take(&mut self.line);
        let mut lines: Vec<&str> = all.split('\n').collect();
        let rest = lines.pop().unwrap_or_default();
        lines.iter().for_each(|line| self.line(line, out));
        rest.clone_into(&mut self.line);
    }

    /// Keys; `\r` runs what was typed.
    fn press(&mut self, keys: &str, out: &mut Steps) {
        for key in keys.chars() {
            match key {
                '\r' | '\n' => {
                    let typed = std::mem::take(&mut self.typed);
                    self.command(typed.trim(), out);
                }
                '\u{7f}' | '\u{8}' => {
                    self.typed.pop();
                }
                key if key.is_control() => {}
                key => self.typed.push(key),
            }
        }
    }

    /// A line of the screen.
    fn line(&mut self, line: &str, out: &mut Steps) {
        let line = shown(line);
        if let Some(command) = behind_prompt(&line) {
            self.end_output(out);
            return self.command(command, out);
        }
        if !line.is_empty() {
            self.output.push_str(&line);
            self.output.push('\n');
        }
        if self.output.len() > MAX_OUTPUT {
            self.end_output(out);
        }
    }

    fn command(&mut self, command: &str, out: &mut Steps) {
        if command.is_empty() {
            return;
        }
        let args = Json::Obj(vec![("command".into(), Json::Str(command.into()))]);
        self.waiting = true;
        out.push(What::Call(tools::call("terminal", &args)));
    }

    fn end_output(&mut self, out: &mut Steps) {
        let text = std::mem::take(&mut self.output);
        if text.trim().is_empty() && !self.waiting {
            return;
        }
        self.waiting = false;
        out.push(What::Answer(Answer {
            id: None,
            text,
            outcome: Outcome::default(),
        }));
    }
}

/// What a line shows once all escapes and overwriting are done, roughly: escapes are left out, and of
/// parts that overwrite each other the last one stays.
fn shown(line: &str) -> String {
    static ESCAPES: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new("\u{1b}(\\[[0-?]*[ -/]*[@-~]|\\][^\u{7}\u{1b}]*(\u{7}|\u{1b}\\\\)|[()][0-9A-B]|[=>78M])")
            .ok()
    });
    let plain = match &*ESCAPES {
        Some(escapes) => escapes.replace_all(line, ""),
        None => line.into(),
    };
    let last = plain
        .trim_end_matches('\r')
        .rsplit('\r')
        .next()
        .unwrap_or_default();
    last.trim_end().to_owned()
}

/// `user@host:/path# command`
fn behind_prompt(line: &str) -> Option<&str> {
    let (prompt, command) = line.split_once("# ").or_else(|| line.split_once("$ "))?;
    let (user, place) = prompt.rsplit(' ').next()?.split_once('@')?;
    let (host, path) = place.split_once(':')?;
    let word = |text: &str| {
        !text.is_empty()
            && text
                .chars()
                .all(|c| c.is_alphanumeric() || "._-".contains(c))
    };
    (word(user) && word(host) && path.starts_with(['/', '~'])).then_some(command.trim())
}

/// The strings of a line that is a list as Python prints it.
fn keys(line: &str) -> Option<Vec<String>> {
    let mut rest = line.trim().strip_prefix('[')?.strip_suffix(']')?.trim();
    let mut keys = Vec::new();
    while !rest.is_empty() {
        let quote = rest.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
        let mut key = String::new();
        let mut chars = rest.char_indices().skip(1);
        let end = loop {
            match chars.next()? {
                (at, c) if c == quote => break at + 1,
                (_, '\\') => match chars.next()?.1 {
                    'n' => key.push('\n'),
                    't' => key.push('\t'),
                    'r' => key.push('\r'),
                    c if "\\'\"".contains(c) => key.push(c),
                    c => key.extend(['\\', c]),
                },
                (_, c) => key.push(c),
            }
        };
        keys.push(key);
        rest = rest.get(end..)?.trim_start();
        match rest.strip_prefix(',') {
            Some(more) => rest = more.trim_start(),
            None if rest.is_empty() => {}
            None => return None,
        }
    }
    (!keys.is_empty()).then_some(keys)
}

fn is_enter(key: &str) -> bool {
    matches!(key, "Enter" | "C-m" | "C-j" | "KPEnter")
}

/// Names of keys that tmux knows.
fn is_key_name(key: &str) -> bool {
    let control = key.strip_prefix("C-").or_else(|| key.strip_prefix("M-"));
    control.is_some_and(|rest| rest.chars().count() == 1)
        || matches!(
            key,
            "Escape"
                | "Tab"
                | "BSpace"
                | "Up"
                | "Down"
                | "Left"
                | "Right"
                | "Home"
                | "End"
                | "PPage"
                | "NPage"
                | "Space"
                | "q"
        )
}
