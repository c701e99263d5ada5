//! Errors in rule files, with file, line, column and a caret under the place.
//!
//! All errors of all files are collected and shown together. This is the only user of
//! `annotate-snippets`.

use std::borrow::Cow;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Level as Title, Renderer, Snippet};

use super::gather::Doubts;
use super::text::{ceil, floor};
use crate::Error;
use crate::report::escape::for_terminal;

/// A rule file.
#[derive(Debug, Clone)]
pub struct SourceFile {
    /// Its name, for messages.
    pub name: String,
    /// Its text.
    pub text: Cow<'static, str>,
    /// The file is built in: the tests of this project have checked it, so its tests and the
    /// expressions that are not needed to find candidates are skipped when it is loaded.
    pub trusted: bool,
    /// Nothing is known of what stands in it: it could not be read, or is too large.
    pub(super) unread: bool,
}

impl SourceFile {
    /// A file that is checked in full.
    pub fn new(name: impl Into<String>, text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            name: name.into(),
            text: text.into(),
            trusted: false,
            unread: false,
        }
    }
}

/// How bad.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Level {
    /// The file cannot be used.
    Error,
    /// Most likely a mistake.
    Warning,
}

/// One error or lint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Diagnostic {
    /// How bad.
    pub level: Level,
    /// Index of the file.
    pub file: usize,
    /// Byte range in the file.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What to do, if it is not plain.
    pub help: Option<String>,
}

/// Collects errors of one file.
#[derive(Debug)]
pub struct Sink<'d> {
    /// Index of the file.
    pub file: usize,
    /// Its text.
    pub text: &'d str,
    /// See [`SourceFile::trusted`].
    pub trusted: bool,
    /// What is not known of the entry that is being looked at: what only follows from it is not noted.
    pub(super) doubts: Doubts,
    all: &'d mut Vec<Diagnostic>,
}

impl<'d> Sink<'d> {
    /// A collector for one file.
    pub fn new(number: usize, file: &'d SourceFile, all: &'d mut Vec<Diagnostic>) -> Self {
        Self {
            file: number,
            text: &file.text,
            trusted: file.trusted,
            doubts: Doubts::default(),
            all,
        }
    }

    /// Number of errors noted so far, in all files.
    pub fn count(&self) -> usize {
        self.all.len()
    }

    /// True if more was noted than is shown: it is not worth while to look for advice.
    pub(super) fn full(&self) -> bool {
        self.all.len() > MAX_SHOWN
    }

    fn note(&mut self, level: Level, span: Range<usize>, message: String, help: Option<String>) {
        if !self.doubts.explain(&span, self.text) {
            self.all.push(Diagnostic {
                level,
                file: self.file,
                span,
                message,
                help,
            });
        }
    }

    /// Notes an error.
    pub fn error(&mut self, span: Range<usize>, message: impl Into<String>) {
        self.note(Level::Error, span, message.into(), None);
    }

    /// Notes what a lint found; the message ends with its name.
    pub fn warn(
        &mut self,
        span: Range<usize>,
        lint: &str,
        message: impl std::fmt::Display,
        help: impl Into<String>,
    ) {
        let message = format!("{message} [{lint}]");
        self.note(Level::Warning, span, message, Some(help.into()));
    }

    /// Notes an error with advice.
    pub fn error_help(
        &mut self,
        span: Range<usize>,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.note(Level::Error, span, message.into(), Some(help.into()));
    }

    /// Notes an error of the TOML reader.
    pub fn toml(&mut self, error: &toml::de::Error, whole: Range<usize>) {
        let message = in_words(error.message());
        let span = error.span().unwrap_or(whole);
        let brackets = message.starts_with("invalid type: table, expected a list")
            && self
                .text
                .get(span.clone())
                .is_some_and(|t| t.starts_with('['));
        let help = if brackets {
            Some("write [[double brackets]]: there can be several".to_owned())
        } else {
            suggestion(&message)
        };
        self.all.push(Diagnostic {
            level: Level::Error,
            file: self.file,
            span,
            message,
            help,
        });
    }
}

/// A message of the TOML reader in the words of TOML.
fn in_words(message: &str) -> String {
    let mut message = message.replace('\n', ", ");
    for (theirs, ours) in [
        ("invalid type: map", "invalid type: table"),
        ("invalid type: sequence", "invalid type: list"),
        ("expected a sequence", "expected a list"),
        ("expected u32", "expected a whole number from 0 on"),
        ("expected u64", "expected a whole number from 0 on"),
        ("expected i32", "expected a whole number"),
        ("expected a boolean", "expected true or false"),
    ] {
        if message.starts_with("invalid") {
            message = message.replacen(theirs, ours, 1);
        }
    }
    message
}

/// The errors as one library error, or nothing if there are none.
///
/// # Errors
/// [`Error::BadRules`] with all diagnostics rendered.
pub fn check(diagnostics: &[Diagnostic], files: &[SourceFile]) -> Result<(), Error> {
    if diagnostics.is_empty() {
        return Ok(());
    }
    Err(Error::BadRules {
        rendered: render(diagnostics, files),
        errors: sorted(diagnostics).len(),
    })
}

/// Most diagnostics that are shown; the others are counted.
const MAX_SHOWN: usize = 1_000;

/// Most of a line that is shown, in bytes, on each side of the place.
const MAX_AROUND: usize = 2_000;

/// All diagnostics as text without colours, by file and place. One that is there twice is shown once.
pub fn render(diagnostics: &[Diagnostic], files: &[SourceFile]) -> String {
    let sorted = sorted(diagnostics);
    let mut shown = sorted.clone();
    if shown.len() > MAX_SHOWN {
        // Errors first: they keep the files from being used.
        shown.sort_by_key(|d| d.level != Level::Error);
        shown.truncate(MAX_SHOWN);
        shown.sort_by_key(|d| (d.file, d.span.start, d.span.end));
    }
    let shown = shown.iter();
    let mut parts: Vec<String> = shown.map(|d| render_one(d, files)).collect();
    if sorted.len() > MAX_SHOWN {
        let more = sorted.len() - MAX_SHOWN;
        parts.push(format!(
            "… and {more} more. Mend these {MAX_SHOWN}, then check again."
        ));
    }
    parts.join("\n\n")
}

/// By file and place, each once.
pub fn sorted(diagnostics: &[Diagnostic]) -> Vec<&Diagnostic> {
    let mut sorted: Vec<&Diagnostic> = diagnostics.iter().collect();
    sorted.sort_by_key(|d| (d.file, d.span.start, d.span.end));
    sorted.dedup();
    sorted
}

/// `file:line` of an offset; of a built-in file, whose offsets mean nothing, its name.
pub fn place(files: &[SourceFile], file: usize, offset: usize) -> String {
    let Some(file) = files.get(file) else {
        return String::new();
    };
    match file.trusted {
        true => file.name.clone(),
        false => format!("{}:{}", file.name, line_of(&file.text, offset)),
    }
}

/// The number of the line that holds an offset, from 1.
fn line_of(text: &str, offset: usize) -> usize {
    let before = text.as_bytes().get(..offset).unwrap_or(text.as_bytes());
    1 + memchr::memchr_iter(b'\n', before).count()
}

fn render_one(diagnostic: &Diagnostic, files: &[SourceFile]) -> String {
    let Some(file) = files.get(diagnostic.file) else {
        return format!("error: {}", diagnostic.message);
    };
    let text = file.text.as_ref();
    let start = floor(text, diagnostic.span.start);
    let end = ceil(text, diagnostic.span.end).max(start);
    // Point at the first line of a long span only.
    let first = text.get(start..end).and_then(|s| s.find('\n'));
    let end = first.map_or(end, |length| start + length);
    // Of a file only the line is looked at, and of a long line only what is near: a file can have many mistakes.
    let line_start = text
        .get(..start)
        .and_then(|s| s.rfind('\n'))
        .map_or(0, |at| at + 1);
    let line_end = text
        .get(end..)
        .and_then(|s| s.find('\n'))
        .map_or(text.len(), |at| end + at);
    let from = floor(text, start.saturating_sub(MAX_AROUND)).max(line_start);
    let to = floor(text, start + MAX_AROUND).min(line_end).max(start);
    let end = end.min(to);
    let line = line_of(text, start);
    let snippet = Snippet::source(text.get(from..to).unwrap_or_default())
        .line_start(line)
        .path(file.name.as_str())
        .annotation(AnnotationKind::Primary.span(start - from..end - from));
    let level = match diagnostic.level {
        Level::Error => Title::ERROR,
        Level::Warning => Title::WARNING,
    };
    let mut group = level
        .primary_title(diagnostic.message.as_str())
        .element(snippet);
    if let Some(help) = &diagnostic.help {
        group = group.element(Title::HELP.message(help.as_str()));
    }
    // The file may come from anybody: what it holds must not drive the terminal that shows it.
    let mut shown = Renderer::plain().render(&[group]);
    if from > line_start {
        let column = |from: usize| text.get(from..start).map_or(1, |s| s.chars().count() + 1);
        let place = |column: usize| format!("{}:{line}:{column}", file.name);
        shown = shown.replacen(&place(column(from)), &place(column(line_start)), 1);
    }
    let lines: Vec<Cow<str>> = shown.split('\n').map(for_terminal).collect();
    lines.join("\n")
}

/// For `unknown field `keywrod`, expected one of `a`, `b``: the name that was most likely meant.
fn suggestion(message: &str) -> Option<String> {
    let mut quoted = message.split('`').skip(1).step_by(2);
    let written = quoted.next().filter(|_| message.starts_with("unknown"))?;
    nearest(written, quoted).map(|name| format!("did you mean `{name}`?"))
}

/// The name that differs from the written one in the fewest letters, if it is like it at all.
pub fn nearest<'n>(written: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    names
        .map(|name| (distance(written, name), name))
        .filter(|(distance, name)| *distance <= 1 + name.len() / 4)
        .min()
        .map(|(_, name)| name)
}

/// Number of letters to insert, remove or replace (Levenshtein distance).
fn distance(a: &str, b: &str) -> usize {
    let b: Vec<char> = b.chars().take(64).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.chars().take(64).enumerate() {
        let mut last = i;
        let mut next = vec![i + 1];
        for (y, above) in b.iter().zip(row.iter().skip(1)) {
            let left = next.last().copied().unwrap_or_default();
            next.push((last + usize::from(x != *y)).min(above + 1).min(left + 1));
            last = *above;
        }
        row = next;
    }
    row.last().copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_shows_its_place() {
        let files = [SourceFile::new("r.toml", "a = 1\nliterel = 'x'\n")];
        let shown = render(
            &[Diagnostic {
                level: Level::Error,
                file: 0,
                span: 6..13,
                message: "unknown field".into(),
                help: Some("did you mean `literal`?".into()),
            }],
            &files,
        );
        assert!(shown.contains("r.toml:2:1"), "{shown}");
        assert!(shown.contains("^^^^^^^"), "{shown}");
        assert!(shown.contains("help: did you mean"), "{shown}");
    }

    #[test]
    fn nothing_in_a_file_drives_the_terminal() {
        let text = "a = 'x\u{9b}31m\u{1b}[2J\u{202e}\u{85}'\u{7}\n";
        let files = [SourceFile::new("r\u{9d}0;t\u{9c}.toml", text)];
        let diagnostic = Diagnostic {
            level: Level::Error,
            file: 0,
            span: 4..9,
            message: "not \u{9b}1m".into(),
            help: Some("\u{1b}c".into()),
        };
        let shown = render(&[diagnostic], &files);
        let raw: Vec<char> = shown
            .chars()
            .filter(|c| *c != '\n' && (c.is_control() || *c == '\u{202e}'))
            .collect();
        assert_eq!(raw, [], "{shown:?}");
        assert!(shown.contains("31m"), "{shown}");
    }

    #[test]
    fn spans_out_of_range_are_cut() {
        let files = [SourceFile::new("r", "上")];
        for span in [0..9, 1..2, 7..9, 3..3] {
            let diagnostic = Diagnostic {
                level: Level::Error,
                file: 0,
                span,
                message: "x".into(),
                help: None,
            };
            assert!(render(&[diagnostic], &files).contains("error: x"));
        }
    }

    #[test]
    fn near_names() {
        let names = ["literal", "regex", "command"];
        assert_eq!(nearest("literel", names.into_iter()), Some("literal"));
        assert_eq!(nearest("regexp", names.into_iter()), Some("regex"));
        assert_eq!(nearest("zzz", names.into_iter()), None);
    }
}
