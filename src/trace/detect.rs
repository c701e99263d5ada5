//! Which format is a record? By its content, never by the name of the file.
//!
//! A file may change its format in the middle: a run of another agent appended, error output mixed in.
//! So every record is asked about on its own. Most records tell by themselves ([`Fit::Strong`]); some
//! look the same in two formats ([`Fit::Weak`]) and go to the format that the file was last seen to
//! have.

use super::formats::{FORMATS, Format};
use super::json::Json;

/// What an adapter is shown.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Body<'a> {
    /// A JSON value.
    Json(Json<'a>),
    /// A line that is no JSON, or what is left of a broken record.
    Text(std::borrow::Cow<'a, str>),
}

impl<'a> Body<'a> {
    /// The JSON value, if it is one.
    pub(crate) fn json(&self) -> Option<&Json<'a>> {
        match self {
            Self::Json(value) => Some(value),
            Self::Text(_) => None,
        }
    }
}

/// How well a record fits a format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Fit {
    /// It cannot be.
    No,
    /// It is one of this format if the record before it was; by itself it is anything.
    Follows,
    /// It can be, and it can be another.
    Weak,
    /// It is, whatever stands around it. No record fits two formats this well.
    Strong,
}

impl Fit {
    /// `Strong` when that holds, otherwise `No`.
    pub(crate) fn strong_if(holds: bool) -> Self {
        if holds { Self::Strong } else { Self::No }
    }

    /// `Strong` when the first holds, otherwise `Weak` when the second does.
    pub(crate) fn by(strong: bool, weak: bool) -> Self {
        match (strong, weak) {
            (true, _) => Self::Strong,
            (false, true) => Self::Weak,
            (false, false) => Self::No,
        }
    }
}

/// Chooses the format of each record of one file.
#[derive(Debug, Default)]
pub(crate) struct Detector {
    /// Index into [`FORMATS`] of the last record's format.
    current: Option<usize>,
    /// Index of the format that every record is taken for.
    forced: Option<usize>,
}

impl Detector {
    /// Chooses by content, or always the `forced` format.
    pub(crate) fn new(forced: Option<usize>) -> Self {
        Self {
            current: None,
            forced,
        }
    }

    /// Index into [`FORMATS`]; `None` when the record fits none. Text of no format does not end the
    /// format before it: it is mixed in.
    pub(crate) fn choose(&mut self, body: &Body<'_>) -> Option<usize> {
        let chosen = self
            .forced
            .or_else(|| choose(FORMATS, self.current, body))?;
        self.current = Some(chosen);
        Some(chosen)
    }
}

/// True when the record is of one format, whatever stands around it.
pub(crate) fn is_certain(body: &Body<'_>) -> bool {
    FORMATS
        .iter()
        .any(|format| (format.fit)(body) == Fit::Strong)
}

fn choose(formats: &[Format], current: Option<usize>, body: &Body<'_>) -> Option<usize> {
    let mut weak = None;
    for (index, format) in formats.iter().enumerate() {
        match (format.fit)(body) {
            Fit::Strong => return Some(index),
            Fit::Weak if weak.is_none() || current == Some(index) => weak = Some(index),
            Fit::Follows if current == Some(index) => weak = Some(index),
            _ => {}
        }
    }
    weak
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::trace::json;

    fn names(records: &[&str]) -> Vec<&'static str> {
        let mut detector = Detector::default();
        records
            .iter()
            .map(|text| {
                let body = Body::Json(json::parse(text).unwrap());
                detector
                    .choose(&body)
                    .and_then(|index| FORMATS.get(index))
                    .map_or("-", |format| format.name)
            })
            .collect()
    }

    const CLAUDE_INIT: &str =
        r#"{"type":"system","subtype":"init","session_id":"s","tools":["Bash"],"uuid":"u"}"#;
    const CURSOR_INIT: &str = r#"{"type":"system","subtype":"init","apiKeySource":"login","cwd":"/w","session_id":"s","model":"m","permissionMode":"default"}"#;
    const BARE_RESULT: &str = r#"{"type":"result","result":"done","session_id":"s"}"#;
    const CURSOR_RESULT: &str = r#"{"type":"result","subtype":"success","is_error":false,"duration_ms":1,"duration_api_ms":1,"result":"x","session_id":"s","request_id":"r"}"#;
    const ASSISTANT: &str = r#"{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"x"}]},"session_id":"s"}"#;

    #[test]
    fn one_record_alone() {
        for (record, want) in [
            (CLAUDE_INIT, "claude-stream"),
            (CURSOR_INIT, "cursor-stream"),
            (BARE_RESULT, "cursor-json"),
            (CURSOR_RESULT, "cursor-json"),
            (
                r#"{"type":"result","result":"x","session_id":"s","num_turns":1,"total_cost_usd":0.1}"#,
                "claude-stream",
            ),
            (
                r#"{"type":"summary","summary":"x","leafUuid":"u"}"#,
                "claude-session",
            ),
            (
                r#"{"parentUuid":null,"sessionId":"s","type":"user","uuid":"u","message":{"role":"user","content":"x"}}"#,
                "claude-session",
            ),
            (r#"{"type":"thread.started","thread_id":"t"}"#, "codex-exec"),
            (
                r#"{"id":"0","msg":{"type":"task_started"}}"#,
                "codex-exec-old",
            ),
            (
                r#"{"type":"step_start","timestamp":1,"sessionID":"ses_1","part":{"type":"step-start"}}"#,
                "opencode-run",
            ),
            (r#"{"silly":"this"}"#, "-"),
            (r"[1]", "-"),
            (
                r#"{"type":"init","session_id":"s","model":"gemini"}"#,
                "gemini-stream",
            ),
            (
                r#"{"type":"session.start","data":{"sessionId":"s"},"id":"1","parentId":null}"#,
                "copilot",
            ),
        ] {
            assert_eq!(names(&[record]), [want], "{record}");
        }
    }

    /// Every record of every real log, of formats that are read and of those that are not.
    #[test]
    fn no_real_record_is_two_formats() {
        let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../shared/data/traces");
        if !std::path::Path::new(root).is_dir() {
            println!("skipped: the collection of real traces is not there");
            return;
        }
        for entry in walkdir::WalkDir::new(root).sort_by_file_name() {
            let path = entry.unwrap().into_path();
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            for line in text.lines() {
                let Ok(value) = json::parse(line) else {
                    continue;
                };
                let body = Body::Json(value);
                let fits: Vec<&str> = FORMATS
                    .iter()
                    .filter(|format| (format.fit)(&body) == Fit::Strong)
                    .map(|format| format.name)
                    .collect();
                assert!(fits.len() <= 1, "{}: {fits:?} {line}", path.display());
            }
        }
    }

    #[test]
    fn ambiguous_records_go_with_the_file() {
        assert_eq!(
            names(&[CURSOR_INIT, ASSISTANT, CURSOR_RESULT]),
            ["cursor-stream"; 3]
        );
        assert_eq!(
            names(&[CLAUDE_INIT, ASSISTANT, BARE_RESULT]),
            ["claude-stream"; 3]
        );
        // Two agents in one file.
        assert_eq!(
            names(&[CLAUDE_INIT, ASSISTANT, CURSOR_INIT, ASSISTANT, CLAUDE_INIT]),
            [
                "claude-stream",
                "claude-stream",
                "cursor-stream",
                "cursor-stream",
                "claude-stream"
            ]
        );
        // A resumed Cursor run behind a Claude run.
        assert_eq!(
            names(&[CLAUDE_INIT, CURSOR_RESULT]),
            ["claude-stream", "cursor-json"]
        );
    }
}
