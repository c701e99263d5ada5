//! Records that something put a coat around on their way into the file.
//!
//! A container's log driver writes each line of the agent's output as the member `log` of a record of its own, cut into
//! pieces of 16 KiB; a terminal or a pretty printer colours it. The record inside is the same, so it is taken out.

use std::borrow::Cow;

use super::json::Json;

/// Bytes from which on a piece without a line end is continued by the next one.
const PIECE: usize = 16_000;

/// Longest line that is put together from pieces, in bytes.
const MAX_LINE: usize = 64 << 20;

/// The line of output inside a record of a container's log: `{"log": "…\n", "stream": "stdout", "time": "…"}`.
pub(crate) fn log_line<'j>(record: &'j Json<'_>) -> Option<&'j str> {
    let stream = matches!(record.str("stream"), Some("stdout" | "stderr"));
    let known = |key: &str| ["log", "stream", "time", "attrs"].contains(&key);
    let only = record.members().iter().all(|(key, _)| known(key));
    record.str("log").filter(|_| stream && only)
}

/// Puts lines together from their pieces.
#[derive(Debug, Default)]
pub(crate) struct Pieces(String);

impl Pieces {
    /// Adds a piece; the whole line, when it is there.
    pub(crate) fn add(&mut self, piece: &str) -> Option<String> {
        self.0.push_str(piece);
        let more = !piece.ends_with('\n') && piece.len() >= PIECE && self.0.len() < MAX_LINE;
        (!more).then(|| self.rest()).flatten()
    }

    /// What is there of a line whose last piece is missing.
    pub(crate) fn rest(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.0);
        let kept = line.trim_end_matches(['\r', '\n']).len();
        (kept > 0).then(|| line.get(..kept).unwrap_or_default().to_owned())
    }
}

/// The text without the sequences that colour it and move the cursor.
pub(crate) fn without_colours(text: &str) -> Cow<'_, str> {
    let Some((before, mut rest)) = text.split_once('\u{1b}') else {
        return Cow::Borrowed(text);
    };
    let mut out = before.to_owned();
    loop {
        let sequence = rest.strip_prefix('[').map(|parameters| {
            parameters.trim_start_matches(|c: char| c.is_ascii_digit() || ";:?=".contains(c))
        });
        if let Some(end) = sequence {
            let mut chars = end.chars();
            let _last = chars.next();
            rest = chars.as_str();
        }
        let Some((plain, next)) = rest.split_once('\u{1b}') else {
            out.push_str(rest);
            return Cow::Owned(out);
        };
        out.push_str(plain);
        rest = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::json::parse;

    #[test]
    fn lines_of_a_containers_log() {
        let line = |text: &str| log_line(&parse(text).unwrap()).map(str::to_owned);
        assert_eq!(
            line(r#"{"log":"a\n","stream":"stdout","time":"T"}"#).as_deref(),
            Some("a\n")
        );
        assert_eq!(line(r#"{"log":"a\n","stream":"file","time":"T"}"#), None);
        assert_eq!(line(r#"{"log":"a","stream":"stdout","type":"x"}"#), None);
    }

    #[test]
    fn pieces_are_put_together() {
        let mut pieces = Pieces::default();
        let long = "x".repeat(PIECE);
        assert_eq!(pieces.add("a\n").as_deref(), Some("a"));
        assert_eq!(pieces.add("\n"), None);
        assert_eq!(pieces.add(&long), None);
        assert_eq!(pieces.add("y\r\n"), Some(format!("{long}y")));
        assert_eq!(pieces.add(&long), None);
        assert_eq!(pieces.rest(), Some(long));
        assert_eq!(pieces.rest(), None);
    }

    #[test]
    fn colours_are_taken_off() {
        assert_eq!(without_colours("plain"), "plain");
        assert_eq!(
            without_colours("\u{1b}[1;32m{\u{1b}[0m\"a\"\u{1b}[K:1\u{1b}[m}"),
            "{\"a\":1}"
        );
        assert_eq!(without_colours("\u{1b}"), "");
        assert_eq!(without_colours("\u{1b}[31"), "");
    }
}
