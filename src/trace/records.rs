//! The records of one file: parsed, given to the adapter of their format, and linked.

use std::borrow::Cow;
use std::io::{self, Read};

use super::detect::{Body, Detector};
use super::document::{self, Part};
use super::event::EventSink;
use super::formats::{Adapter, FORMATS, Generic};
use super::json::{self, Json};
use super::linker::Linker;
use super::mend::mend;
use super::problem::Problem;
use super::reader::{Cut, Reader, Span};
use super::step::{Envelope, Place, Steps};

/// The start of a document, up to its first item.
struct Head {
    span: Span,
    /// Closed behind the empty section.
    text: String,
    /// Members behind that section.
    behind: String,
}

/// The records of one file on their way to the linker.
pub(crate) struct Records<'r> {
    linker: &'r mut Linker,
    sink: &'r mut dyn EventSink,
    detector: Detector,
    /// One adapter per entry of [`FORMATS`], opened when first needed.
    adapters: Vec<Option<Box<dyn Adapter>>>,
    generic: Generic,
    /// Formats in the order of their first record.
    found: Vec<usize>,
    /// The format of the last record.
    current: Option<usize>,
    /// JSON of no known format was met.
    strange: bool,
    steps: Steps,
    /// Records so far.
    number: u32,
    /// The head of a document that waits for its first item, which helps to tell its format.
    head: Option<Head>,
    /// The format of the document whose parts are coming, if it is known.
    document: Option<usize>,
    /// The format is text, cut into lines.
    text: bool,
}

impl<'r> Records<'r> {
    pub(crate) fn new(linker: &'r mut Linker, sink: &'r mut dyn EventSink) -> Self {
        Self {
            linker,
            sink,
            detector: Detector::default(),
            adapters: FORMATS.iter().map(|_| None).collect(),
            generic: Generic,
            found: Vec::new(),
            current: None,
            strange: false,
            steps: Steps::default(),
            number: 0,
            head: None,
            document: None,
            text: false,
        }
    }

    /// Reads to the end of the stream.
    pub(crate) fn read_all(&mut self, reader: &mut Reader<impl Read>) -> io::Result<()> {
        while let Some(span) = reader.next_span()? {
            let text = text_of(reader.bytes(&span));
            let line = match span.cut {
                Cut::Line => Some(json::parse(&text)),
                _ => None,
            };
            if matches!(line, Some(Err(_))) {
                reader.take_apart(&span);
                continue;
            }
            if matches!(text, Cow::Owned(_)) {
                self.linker.problem(Problem::NotUtf8, span.piece.line);
            }
            match line {
                Some(Ok(value)) => self.record(&span, &Body::Json(value)),
                _ => self.odd_record(&span, &text),
            }
            if let Some(head) = self.head.as_mut().filter(|_| span.part == Part::Head) {
                reader.behind().clone_into(&mut head.behind);
            }
            reader.verbatim(self.text);
        }
        self.open_document(None);
        Ok(())
    }

    /// Records so far.
    pub(crate) fn count(&self) -> u64 {
        u64::from(self.number)
    }

    /// Everything but a line that parses.
    fn odd_record(&mut self, span: &Span, text: &str) {
        let problem = match span.cut {
            Cut::Line | Cut::Value => return self.value(span, text),
            Cut::Text if self.text_record(span, text) => return,
            Cut::Text if is_scalar(text) => Problem::BareScalar,
            Cut::Text => Problem::TextLine,
            Cut::Broken => Problem::Broken,
            Cut::Unfinished => Problem::CutShort,
            Cut::TooLong => Problem::TooLong,
        };
        self.open_document(None);
        self.linker.problem(problem, span.piece.line);
        self.record(span, &Body::Text(Cow::Borrowed(text)));
    }

    /// A line of a format that is text; false when it is none. A record in JSON ends such a format.
    fn text_record(&mut self, span: &Span, text: &str) -> bool {
        if self.text && text.starts_with('{') {
            if let Ok(value) = json::parse(text) {
                let body = Body::Json(value);
                if let Some(chosen) = self.detector.choose(&body) {
                    self.text = false;
                    self.record_as(Some(chosen), span, &body);
                    return true;
                }
            }
        }
        let body = Body::Text(Cow::Borrowed(text));
        let chosen = self.detector.choose(&body);
        self.text = chosen.is_some();
        if self.text {
            self.open_document(None);
            self.record_as(chosen, span, &body);
        }
        self.text
    }

    /// A balanced value or a part of a document, which may still be refused by the parser.
    fn value(&mut self, span: &Span, text: &str) {
        if span.part == Part::Head {
            self.head = Some(Head {
                span: span.clone(),
                text: document::closed(span.part, text).into_owned(),
                behind: String::new(),
            });
            return;
        }
        let text = document::closed(span.part, text);
        self.open_document(matches!(span.part, Part::Item(_)).then_some(&text));
        self.parsed(span, &text);
    }

    /// Parses a value, mending it where need be.
    fn parsed(&mut self, span: &Span, text: &str) {
        if let Ok(value) = json::parse(text) {
            return self.json(span, value);
        }
        let mended = mend(text);
        match json::parse(&mended.text) {
            Ok(value) => {
                if mended.deep {
                    self.linker.problem(Problem::TooDeep, span.piece.line);
                }
                if mended.values || !mended.deep {
                    self.linker.problem(Problem::Mended, span.piece.line);
                }
                self.json(span, value);
            }
            Err(_) => {
                self.linker.problem(Problem::Broken, span.piece.line);
                self.record(span, &Body::Text(Cow::Borrowed(text)));
            }
        }
    }

    /// Hands on the head of a document that waits for its first item.
    fn open_document(&mut self, first: Option<&str>) {
        let Some(head) = self.head.take() else {
            return;
        };
        let open = head.text.strip_suffix("]}").unwrap_or_default();
        let whole = format!("{open}{}]{}}}", first.unwrap_or_default(), head.behind);
        let mended;
        let value = match json::parse(&whole) {
            Ok(value) => Some(value),
            Err(_) => {
                mended = mend(&whole);
                json::parse(&mended.text).ok()
            }
        };
        self.document = value.and_then(|value| self.detector.choose(&Body::Json(value)));
        self.parsed(&head.span, &head.text);
    }

    /// A value, which may be a part of a document.
    fn json(&mut self, span: &Span, value: Json<'_>) {
        match (span.part, self.document) {
            (Part::Whole, _) => self.record(span, &Body::Json(value)),
            (Part::Item(section), Some(format)) => {
                let value = document::with_item(section, value);
                self.record_as(Some(format), span, &Body::Json(value));
            }
            (_, Some(format)) => self.record_as(Some(format), span, &Body::Json(value)),
            // A document of no known format: its items may be records of one.
            (Part::Item(_), None) => self.record(span, &Body::Json(value)),
            (_, None) => self.around(span, &value),
        }
    }

    /// What stands around the items of a document of no known format.
    fn around(&mut self, span: &Span, document: &Json<'_>) {
        let others = document::without_sections(document);
        if !others.members().is_empty() {
            self.record_as(None, span, &Body::Json(others));
        }
    }

    /// Hands a record to the adapter of its format and the steps to the linker.
    fn record(&mut self, span: &Span, body: &Body<'_>) {
        let chosen = self.detector.choose(body);
        match body.json().filter(|_| chosen.is_none()) {
            Some(document) if document::items(document).next().is_some() => {
                self.around(span, document);
                for item in document::items(document) {
                    let item = Body::Json(item.clone());
                    let chosen = self.detector.choose(&item);
                    self.record_as(chosen, span, &item);
                }
            }
            _ => self.record_as(chosen, span, body),
        }
    }

    /// Hands a record to the adapter of that format.
    fn record_as(&mut self, chosen: Option<usize>, span: &Span, body: &Body<'_>) {
        if chosen != self.current {
            self.flush(false);
            self.current = chosen;
        }
        self.number = self.number.saturating_add(1);
        self.steps.at(Place {
            record: self.number,
            line: span.piece.line,
            bytes: span.piece.bytes.clone(),
        });
        self.steps.of_part(span.part);
        self.steps.under(Envelope::default());
        match chosen.and_then(|index| Some((index, FORMATS.get(index)?))) {
            Some((index, format)) => {
                if !self.found.contains(&index) {
                    self.found.push(index);
                }
                self.linker.format_records_calls(format.records_calls);
                if let Some(slot) = self.adapters.get_mut(index) {
                    let adapter = slot.get_or_insert_with(|| (format.open)());
                    adapter.record(body, &mut self.steps);
                }
            }
            None => {
                if body.json().is_some() {
                    self.strange = true;
                    self.linker.problem(Problem::UnknownFormat, span.piece.line);
                }
                self.generic.record(body, &mut self.steps);
            }
        }
        self.link();
    }

    /// Lets the current adapter say what it holds back.
    fn flush(&mut self, end: bool) {
        let current = self.current.and_then(|index| self.adapters.get_mut(index));
        if let Some(Some(adapter)) = current {
            adapter.flush(end, &mut self.steps);
            self.link();
        }
    }

    /// The file ends: every adapter says what it holds back, the current one last.
    pub(crate) fn end(&mut self) {
        let current = self.current;
        for index in self.found.clone() {
            if Some(index) != current {
                self.current = Some(index);
                self.flush(true);
            }
        }
        self.current = current;
        self.flush(true);
        for format in self.found.iter().filter_map(|index| FORMATS.get(*index)) {
            if format.experimental {
                self.linker.problem(Problem::Experimental(format.name), 0);
            }
        }
    }

    fn link(&mut self) {
        for step in self.steps.drain() {
            self.linker.take(step, self.sink);
        }
    }

    /// Names of the formats, as reports show them.
    pub(crate) fn formats(&self) -> String {
        let names: Vec<&str> = self
            .found
            .iter()
            .filter_map(|index| FORMATS.get(*index))
            .map(|format| format.name)
            .collect();
        match (names.is_empty(), self.strange, self.number) {
            (false, ..) => names.join("+"),
            (true, true, _) => "generic".to_owned(),
            (true, false, 0) => "empty".to_owned(),
            (true, false, _) => "text".to_owned(),
        }
    }
}

/// The bytes as text. The strict check is several times faster than the lossy one.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// A JSON string, number or word alone on a line.
fn is_scalar(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit() || "tfn".contains(c))
        && json::parse(text).is_ok()
}
