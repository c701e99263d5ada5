//! Rovo Dev, its text log.
//!
//! No JSON: a ruler of 120 `=`, a heading, then lines until the next ruler that has a heading behind
//! it. `TOOL CALL (name)` holds the arguments as YAML, hard-wrapped at 90 columns or so;
//! `TOOL RETURN (name)` a fence with the result, which the log cuts to a few lines and marks with
//! `...`. Thoughts stand in `<thinking>` inside `AGENT:`.
//!
//! The reader hands out lines as they are, but no blank ones: those are put back here from the numbers of the
//! lines.

use std::borrow::Cow;
use std::rc::Rc;

use super::{Adapter, Format};
use crate::trace::detect::{Body, Fit};
use crate::trace::event::Channel;
use crate::trace::json::Json;
use crate::trace::outcome;
use crate::trace::step::{Answer, Call, Envelope, Place, Steps, What};
use crate::trace::tools;

/// Columns of a ruler.
const RULER: usize = 120;
/// Longest section that is kept, in bytes; the rest of it is dropped and the result is marked as cut.
const MAX_SECTION: usize = 64 << 20;
/// Blank lines that are put back at most.
const MAX_FEEDS: u64 = 4096;

pub(crate) const FORMAT: Format = Format {
    name: "rovo-dev",
    fit,
    open: || Box::new(RovoDev::default()),
    records_calls: true,
    experimental: false,
};

fn fit(body: &Body<'_>) -> Fit {
    let Body::Text(text) = body else {
        return Fit::No;
    };
    let first = text.lines().next().unwrap_or_default();
    if is_ruler(first, b'#') || matches!(heading(first), Some(Heading::Call(_) | Heading::Return)) {
        Fit::Strong
    } else {
        Fit::Follows
    }
}

fn is_ruler(line: &str, of: u8) -> bool {
    line.len() == RULER && line.bytes().all(|byte| byte == of)
}

/// What a section is.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
enum Heading {
    /// Between the headings of phases.
    #[default]
    None,
    Prompt,
    Agent,
    Call(String),
    Return,
}

fn heading(line: &str) -> Option<Heading> {
    match line {
        "AGENT:" => return Some(Heading::Agent),
        "USER PROMPT:" => return Some(Heading::Prompt),
        _ => {}
    }
    let named = |start| {
        let name: &str = line.strip_prefix(start)?.strip_suffix(')')?;
        let plain = |c: char| c.is_ascii_alphanumeric() || "_-.:/".contains(c);
        (!name.is_empty() && name.len() <= 128 && name.chars().all(plain)).then_some(name)
    };
    if let Some(tool) = named("TOOL CALL (") {
        return Some(Heading::Call(tool.to_owned()));
    }
    named("TOOL RETURN (").map(|_| Heading::Return)
}

#[derive(Default)]
struct RovoDev {
    section: Heading,
    text: String,
    cut: bool,
    /// Where the section starts.
    start: Option<(Place, Rc<Envelope>)>,
    /// The number of the last line.
    after: u64,
    /// The last line was a ruler: a heading may follow.
    ruled: bool,
    started: bool,
}

impl Adapter for RovoDev {
    fn record(&mut self, body: &Body<'_>, out: &mut Steps) {
        let Body::Text(text) = body else { return };
        let space = self.space(out.place());
        for (number, line) in text.lines().enumerate() {
            let space = if number == 0 { &space } else { "\n" };
            self.line(space, line, out);
        }
        let feeds = memchr::memchr_iter(b'\n', text.as_bytes()).count();
        self.after = out.place().line + feeds as u64;
    }

    fn flush(&mut self, end: bool, out: &mut Steps) {
        self.close(out);
        if end && self.started {
            out.push(What::TurnEnd);
        }
    }
}

impl RovoDev {
    /// The line breaks between the last line and this one.
    fn space(&self, place: &Place) -> String {
        let feeds = place.line.saturating_sub(self.after).clamp(1, MAX_FEEDS);
        "\n".repeat(usize::try_from(feeds).unwrap_or(1))
    }

    fn line(&mut self, space: &str, line: &str, out: &mut Steps) {
        let next = self.ruled.then(|| heading(line)).flatten();
        self.ruled = is_ruler(line, b'=');
        if let Some(next) = next {
            // The ruler in front of the heading is no part of the section.
            let kept = self.text.trim_end().trim_end_matches('=').len();
            self.text.truncate(kept);
            self.close(out);
            if !self.started {
                out.push(What::Start);
                self.started = true;
            }
            self.section = next;
            self.start = Some((out.place().clone(), Rc::clone(out.envelope())));
        } else if is_ruler(line, b'#') {
            self.close(out);
        } else if self.text.len() + space.len() + line.len() > MAX_SECTION {
            self.cut = true;
        } else {
            self.text.push_str(space);
            self.text.push_str(line);
        }
    }

    /// Says what the section holds.
    fn close(&mut self, out: &mut Steps) {
        let text = std::mem::take(&mut self.text);
        let section = std::mem::take(&mut self.section);
        let cut = std::mem::take(&mut self.cut);
        let Some((place, envelope)) = self.start.take() else {
            return;
        };
        let mut say = |what| out.push_at(place.clone(), Rc::clone(&envelope), what);
        let message = |channel, text: &str| {
            What::Message(crate::trace::step::Message::new(channel, text.trim()))
        };
        match section {
            Heading::None => {}
            Heading::Prompt => say(message(Channel::Prompt, &text)),
            Heading::Agent => {
                for (channel, part) in spoken(&text) {
                    say(message(channel, part));
                }
            }
            Heading::Call(tool) => say(What::Call(call(&tool, &text))),
            Heading::Return => {
                let (text, short) = unfenced(&text);
                let said = outcome::of_text(text, false);
                say(What::Answer(Answer {
                    id: None,
                    outcome: crate::trace::event::Outcome {
                        truncated: said.truncated || short || cut,
                        ..said
                    },
                    text: text.to_owned(),
                }));
            }
        }
    }
}

/// Thoughts and words of an `AGENT:` section, in order.
fn spoken(text: &str) -> Vec<(Channel, &str)> {
    let mut parts = Vec::new();
    let mut rest = text;
    while let Some((words, thought)) = rest.split_once("<thinking>") {
        let (thought, after) = thought.split_once("</thinking>").unwrap_or((thought, ""));
        parts.push((Channel::Assistant, words));
        parts.push((Channel::Reasoning, thought));
        rest = after;
    }
    parts.push((Channel::Assistant, rest));
    parts.retain(|(_, part)| !part.trim().is_empty());
    parts
}

/// A result without its fence, and whether it was cut.
fn unfenced(text: &str) -> (&str, bool) {
    let text = text.trim_matches('\n').trim_end();
    let inner = text.strip_prefix("```").unwrap_or(text);
    let inner = inner.strip_suffix("```").unwrap_or(inner);
    let inner = inner.trim_matches('\n').trim_end();
    match inner.strip_suffix("...") {
        Some(shown) => (shown, true),
        None => (inner, false),
    }
}

fn call(tool: &str, text: &str) -> Call {
    let args = Json::Obj(arguments(text));
    // The shared table knows the tools by the names that most agents give them.
    let known = match tool {
        "find_and_replace_code" => "replace",
        "create_file" => "write",
        other => other,
    };
    Call {
        tool: tool.to_owned(),
        ..tools::call(known, &args)
    }
}

/// The arguments: `key: value` at the start of a line, with the lines that go on.
fn arguments(text: &str) -> Vec<(Cow<'static, str>, Json<'static>)> {
    let mut found: Vec<(String, String)> = Vec::new();
    // Inside a quoted value every line goes on, whatever it looks like.
    let mut open = None;
    for line in text.lines() {
        let key = if open.is_some() { None } else { key(line) };
        match (key, found.last_mut()) {
            (Some((key, value)), _) => {
                open = quote_left_open(None, value.trim());
                found.push((key.to_owned(), value.trim().to_owned()));
            }
            (None, Some((_, value))) => {
                open = open.and_then(|quote| quote_left_open(Some(quote), line));
                value.push('\n');
                value.push_str(line);
            }
            (None, None) => {}
        }
    }
    found
        .into_iter()
        .map(|(key, value)| {
            let key = match key.as_str() {
                "find" => "old_string".to_owned(),
                "initial_content" => "content".to_owned(),
                _ => key,
            };
            (Cow::Owned(key), Json::Str(Cow::Owned(scalar(&value))))
        })
        .collect()
}

/// `key: value`, or `key:`.
fn key(line: &str) -> Option<(&str, &str)> {
    let (key, value) = line.split_once(':')?;
    let plain = |c: char| c.is_ascii_lowercase() || c == '_';
    let named = !key.is_empty() && key.len() <= 40 && key.chars().all(plain);
    (named && (value.is_empty() || value.starts_with(' '))).then_some((key, value))
}

/// The quote that the text leaves open. `inside`: the quote that was open before it.
fn quote_left_open(inside: Option<char>, text: &str) -> Option<char> {
    let mut chars = text.trim_start().chars();
    let quote = match inside {
        Some(quote) => quote,
        None => chars.next().filter(|c| matches!(c, '"' | '\''))?,
    };
    let mut open = true;
    while let Some(c) = chars.next() {
        if c == '\\' && quote == '"' {
            chars.next();
        } else if c == quote {
            // `''` inside single quotes closes and opens again.
            open = !open;
        }
    }
    open.then_some(quote)
}

/// A YAML scalar as its text; lists stay as they are.
fn scalar(text: &str) -> String {
    let text = text.trim_end();
    if let Some(inner) = text.strip_prefix('"') {
        return double_quoted(inner.strip_suffix('"').unwrap_or(inner));
    }
    if let Some(inner) = text.strip_prefix('\'') {
        let inner = inner.strip_suffix('\'').unwrap_or(inner);
        return folded(inner).replace("''", "'");
    }
    let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
    if first.starts_with('|') {
        let lines: Vec<&str> = rest
            .lines()
            .map(|line| line.strip_prefix("  ").unwrap_or(line))
            .collect();
        return lines.join("\n");
    }
    if rest.trim_start().starts_with("- ") {
        return text.trim_start().to_owned();
    }
    folded(text)
}

/// Lines that go on are joined by a space, blank lines are line breaks.
fn folded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut blank = 0;
    for (number, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() {
            blank += 1;
            continue;
        }
        if number > 0 {
            match blank {
                0 => out.push(' '),
                _ => out.push_str(&"\n".repeat(blank)),
            }
        }
        blank = 0;
        out.push_str(line);
    }
    out
}

/// The inside of a double-quoted scalar.
fn double_quoted(text: &str) -> String {
    let mut joined = String::with_capacity(text.len());
    for (number, line) in text.lines().enumerate() {
        // A break behind `\` is none; `\ ` in front of a line keeps the space.
        let line = if number > 0 { line.trim_start() } else { line };
        if number > 0 && !joined.ends_with('\\') {
            joined.push(' ');
        } else if number > 0 {
            joined.pop();
        }
        joined.push_str(line);
    }
    let mut out = String::with_capacity(joined.len());
    let mut chars = joined.chars();
    while let Some(c) = chars.next() {
        if c != '\\' {
            out.push(c);
            continue;
        }
        let digits = match chars.next() {
            Some('n') => "\n",
            Some('t') => "\t",
            Some('r') => "\r",
            Some('0') => "\0",
            Some('e') => "\u{1b}",
            Some(kind @ ('x' | 'u' | 'U')) => {
                let length = match kind {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let hex: String = chars.by_ref().take(length).collect();
                let code = u32::from_str_radix(&hex, 16).ok();
                out.push(code.and_then(char::from_u32).unwrap_or('\u{fffd}'));
                continue;
            }
            Some(other) => {
                out.push(other);
                continue;
            }
            None => continue,
        };
        out.push_str(digits);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_of_all_styles() {
        for (text, want) in [
            (
                "cd /w && git diff a.ts\n  b.ts",
                "cd /w && git diff a.ts b.ts",
            ),
            (
                "\"cat > a\\nb\\\n  \\ c\\n\\\n  d\\te\"",
                "cat > a\nb c\nd\te",
            ),
            ("\"a\n  b \\u4e0a \\x41\"", "a b 上 A"),
            ("'it''s a\n  b'", "it's a b"),
            ("|-\n  a\n    b", "a\n  b"),
            ("\n- src/a.ts\n- b.ts", "- src/a.ts\n- b.ts"),
            ("a\n\n  b", "a\nb"),
            ("\"open \\", "open "),
        ] {
            assert_eq!(scalar(text), want, "{text:?}");
        }
    }

    #[test]
    fn keys_inside_quoted_values_are_none() {
        let args =
            arguments("command: \"echo 'x'\\n\\\n  timeout: 5\n  command: rm\"\ntimeout: 9\n");
        let names: Vec<&str> = args.iter().map(|(key, _)| key.as_ref()).collect();
        assert_eq!(names, ["command", "timeout"]);
    }

    #[test]
    fn results_are_cut_by_the_log() {
        assert_eq!(unfenced("\n```\na\nb...\n```\n"), ("a\nb", true));
        assert_eq!(unfenced("```\n\n```"), ("", false));
    }

    #[test]
    fn thoughts_and_words() {
        let parts = spoken("One.\n<thinking>two</thinking>\nthree <thinking>four");
        let channels: Vec<Channel> = parts.iter().map(|(channel, _)| *channel).collect();
        use Channel::{Assistant, Reasoning};
        assert_eq!(channels, [Assistant, Reasoning, Assistant, Reasoning]);
    }
}
