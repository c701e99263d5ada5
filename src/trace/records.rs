//! The records of one file: parsed, given to the adapter of their format, and linked.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::io::{self, Read};

use super::ahead::LookAhead;
use super::detect::{Body, Detector, is_certain};
use super::document::{self, Behind, Part};
use super::event::EventSink;
use super::formats::{Adapter, FORMATS, Generic};
use super::intact;
use super::json::{self, Json};
use super::linker::Linker;
use super::mend::mend;
use super::problem::Problem;
use super::reader::{Cut, Reader, Span};
use super::step::{Envelope, Place, Step, Steps, What};
use super::wrapped::{self, Pieces};

/// The start of a document, up to its first item.
struct Head {
    span: Span,
    /// Up to its section's bracket.
    open: String,
    /// What stands behind that section, if it is known.
    behind: Option<Behind>,
}

impl Head {
    /// The document with that text as the items of its section, and that text behind it.
    fn document(&self, items: &str, behind: &str) -> String {
        format!("{}{items}]{behind}}}", self.open)
    }
}

/// The records of one file on their way to the linker.
pub(crate) struct Records {
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
    /// Steps of the last record that were not linked yet.
    queue: VecDeque<Step>,
    /// Records so far.
    number: u32,
    /// The head of a document that waits for its first item, which helps to tell its format.
    head: Option<Head>,
    /// The format of the document whose parts are coming, if it is known.
    document: Option<usize>,
    /// Its members were shown with its head.
    told: bool,
    /// Of a document that could not be looked through: what of it was met so far, to tell at its end whether it
    /// was taken for the right format.
    late: Option<String>,
    /// The format is text, cut into lines.
    text: bool,
    /// Of a line that a container's log holds in pieces, those that were met.
    pieces: Pieces,
    /// Where the last of them stands.
    last_piece: Option<Span>,
}

/// Where the events go.
pub(crate) struct Out<'o> {
    pub(crate) linker: &'o mut Linker,
    pub(crate) sink: &'o mut dyn EventSink,
}

/// How far the reading of a file has come.
pub(crate) enum Progress {
    /// It goes on.
    More,
    /// It goes on, and just named a sub-agent, whose steps may stand in a file of their own.
    Child(String),
    /// It goes on, and the step said that an output was saved in a file of its own.
    Saved(Box<Step>),
    /// There is nothing more.
    End,
}

impl Records {
    /// Starts a file; every record is taken for one of the `forced` format, if there is one.
    pub(crate) fn new(forced: Option<usize>) -> Self {
        Self {
            detector: Detector::new(forced),
            adapters: FORMATS.iter().map(|_| None).collect(),
            generic: Generic,
            found: Vec::new(),
            current: None,
            strange: false,
            steps: Steps::default(),
            queue: VecDeque::new(),
            number: 0,
            head: None,
            document: None,
            told: false,
            late: None,
            text: false,
            pieces: Pieces::default(),
            last_piece: None,
        }
    }

    /// Reads the next record, up to the step that names a sub-agent.
    pub(crate) fn read_next(
        &mut self,
        reader: &mut Reader<impl Read>,
        ahead: &mut LookAhead<'_>,
        out: &mut Out<'_>,
    ) -> io::Result<Progress> {
        while let Some(step) = self.queue.pop_front() {
            if matches!(step.what, What::Sidecar { .. }) {
                return Ok(Progress::Saved(Box::new(step)));
            }
            let child = match &step.what {
                What::ChildName { name, .. } => Some(name.clone()),
                _ => None,
            };
            out.linker.take(step, out.sink);
            if let Some(name) = child {
                return Ok(Progress::Child(name));
            }
        }
        let Some(span) = reader.next_span()? else {
            self.open_document(None, out);
            return Ok(if self.queue.is_empty() {
                Progress::End
            } else {
                Progress::More
            });
        };
        let text = text_of(reader.bytes(&span));
        let line = match span.cut {
            Cut::Line => Some(json::parse(&text)),
            _ => None,
        };
        if matches!(line, Some(Err(_))) {
            reader.take_apart(&span);
            return Ok(Progress::More);
        }
        if span.part == Part::Head {
            let open = text.into_owned();
            self.head(span, open, reader, ahead, out);
            return Ok(Progress::More);
        }
        if matches!(text, Cow::Owned(_)) {
            out.linker.problem(Problem::NotUtf8, span.piece.line);
        }
        match line {
            Some(Ok(value)) => self.record(&span, &Body::Json(value), out),
            _ => self.odd_record(&span, &text, out),
        }
        reader.verbatim(self.text);
        Ok(Progress::More)
    }

    /// The head of a document: looks for what stands behind its section, and lets it wait for its first item.
    fn head(
        &mut self,
        span: Span,
        open: String,
        reader: &mut Reader<impl Read>,
        ahead: &mut LookAhead<'_>,
        out: &mut Out<'_>,
    ) {
        self.open_document(None, out);
        let mut head = Head {
            open,
            behind: reader.behind(),
            span,
        };
        if head.behind.is_none() && !certain(&head.document(reader.first_item(), "")) {
            head.behind = ahead.behind(head.span.piece.bytes.start);
        }
        if head.behind.as_ref().is_some_and(|behind| behind.is_record) {
            return reader.take_whole(&head.span);
        }
        if head.open.contains(char::REPLACEMENT_CHARACTER) {
            out.linker.problem(Problem::NotUtf8, head.span.piece.line);
        }
        self.head = Some(head);
    }

    /// Records so far.
    pub(crate) fn count(&self) -> u64 {
        u64::from(self.number)
    }

    /// Everything but a line that parses.
    fn odd_record(&mut self, span: &Span, text: &str, out: &mut Out<'_>) {
        let problem = match span.cut {
            Cut::Line | Cut::Value => return self.value(span, text, out),
            Cut::Text if is_coloured_record(text) => return self.unwrapped(span, text, out),
            Cut::Text if self.text_record(span, text, out) => return,
            Cut::Text if is_scalar(text) => Problem::BareScalar,
            Cut::Text => Problem::TextLine,
            Cut::Broken => Problem::Broken,
            Cut::Unfinished => Problem::CutShort,
            Cut::TooLong => Problem::TooLong,
        };
        self.open_document(None, out);
        out.linker.problem(problem, span.piece.line);
        let rest = match span.cut {
            Cut::Broken | Cut::Unfinished => self.intact(span, text, out),
            _ => text,
        };
        if rest.len() == text.len() || !rest.trim().is_empty() {
            self.record(span, &Body::Text(Cow::Borrowed(rest)), out);
        }
    }

    /// Hands over what stands intact of a record that breaks off and holds a whole run; returns the rest.
    fn intact<'t>(&mut self, span: &Span, text: &'t str, out: &mut Out<'_>) -> &'t str {
        let Some(start) = intact::start_of(text) else {
            return text;
        };
        let mended;
        let value = match json::parse(&start.text) {
            Ok(value) => Some(value),
            Err(_) => {
                mended = mend(&start.text);
                json::parse(&mended.text).ok()
            }
        };
        let body = value.map(Body::Json).filter(is_certain);
        let Some(body) = body else { return text };
        let chosen = self.detector.choose(&body);
        let part = Span {
            part: Part::Cut,
            ..span.clone()
        };
        self.record_as(chosen, &part, &body, out);
        text.get(start.length..).unwrap_or_default()
    }

    /// A line of a format that is text; false when it is none. A record in JSON ends such a format.
    fn text_record(&mut self, span: &Span, text: &str, out: &mut Out<'_>) -> bool {
        if self.text
            && text.starts_with('{')
            && let Ok(value) = json::parse(text)
        {
            let body = Body::Json(value);
            if let Some(chosen) = self.detector.choose(&body) {
                self.text = false;
                self.record_as(Some(chosen), span, &body, out);
                return true;
            }
        }
        let body = Body::Text(Cow::Borrowed(text));
        let chosen = self.detector.choose(&body);
        self.text = chosen.is_some();
        if self.text {
            self.open_document(None, out);
            self.record_as(chosen, span, &body, out);
        }
        self.text
    }

    /// A balanced value or a part of a document, which may still be refused by the parser.
    fn value(&mut self, span: &Span, text: &str, out: &mut Out<'_>) {
        let text = document::closed(span.part, text);
        self.note(span, &text, out);
        let member = document::Member::at(text.as_bytes(), 1);
        let is_array = member.is_some_and(|member| member.is_array(text.as_bytes()));
        if span.part == Part::Member && self.told && !is_array {
            return;
        }
        self.parsed(span, &text, out);
    }

    /// Parses a value, mending it where need be.
    fn parsed(&mut self, span: &Span, text: &str, out: &mut Out<'_>) {
        if let Ok(value) = json::parse(text) {
            return self.json(span, value, out);
        }
        let mended = mend(text);
        match json::parse(&mended.text) {
            Ok(value) => {
                if mended.deep {
                    out.linker.problem(Problem::TooDeep, span.piece.line);
                }
                if mended.values || !mended.deep {
                    out.linker.problem(Problem::Mended, span.piece.line);
                }
                self.json(span, value, out);
            }
            Err(_) => {
                self.open_document(None, out);
                out.linker.problem(Problem::Broken, span.piece.line);
                self.record(span, &Body::Text(Cow::Borrowed(text)), out);
            }
        }
    }

    /// Hands on the head of a document that waits for its first item, with the name of the section.
    fn open_document(&mut self, first: Option<(&'static str, &Json<'_>)>, out: &mut Out<'_>) {
        let Some(head) = self.head.take() else {
            return;
        };
        let behind = head.behind.as_ref().map(Behind::all).unwrap_or_default();
        let text = head.document("", &behind);
        let mended;
        let document = match json::parse(&text) {
            Ok(document) => Some(document),
            Err(_) => {
                mended = mend(&text);
                json::parse(&mended.text).ok()
            }
        };
        // The item is not copied: it may be long.
        let whole = document.map(|document| match first {
            Some((section, item)) => document::with_section(document, section, item.borrowed()),
            None => document,
        });
        let whole = whole.map(Body::Json);
        self.document = whole.as_ref().and_then(|whole| self.detector.choose(whole));
        let certain = whole.as_ref().is_some_and(is_certain);
        self.late = (head.behind.is_none() && !certain).then_some(text.clone());
        let told = head.behind.as_ref().filter(|behind| !behind.cut);
        self.told = told.is_some();
        let members = told.map(|behind| behind.members.as_str());
        let text = head.document("", members.unwrap_or_default());
        self.parsed(&head.span, &text, out);
    }

    /// Notes the parts of a document that could not be looked through, and says at its end what it is, if it was taken
    /// for something else.
    fn note(&mut self, span: &Span, text: &str, out: &mut Out<'_>) {
        let Some(late) = &mut self.late else { return };
        match span.part {
            Part::Member if late.len() + text.len() <= 2 * document::MAX_HEAD => {
                let member = text.strip_prefix('{').unwrap_or(text);
                late.pop();
                late.push(',');
                late.push_str(member);
            }
            Part::End => {
                let chosen = json::parse(late).ok().map(Body::Json);
                let chosen = chosen.filter(is_certain);
                let chosen = chosen.and_then(|body| Detector::default().choose(&body));
                if chosen.is_some() && chosen != self.document {
                    out.linker.problem(Problem::ToldLate, span.piece.line);
                }
                self.late = None;
            }
            _ => {}
        }
    }

    /// A value, which may be a part of a document.
    fn json(&mut self, span: &Span, value: Json<'_>, out: &mut Out<'_>) {
        self.open_document(
            match span.part {
                Part::Item(section) => Some((section, &value)),
                _ => None,
            },
            out,
        );
        match (span.part, self.document) {
            (Part::Whole, _) => self.record(span, &Body::Json(value), out),
            (Part::Item(section), Some(format)) => {
                let value = document::with_item(section, value);
                self.record_as(Some(format), span, &Body::Json(value), out);
            }
            (_, Some(format)) => self.record_as(Some(format), span, &Body::Json(value), out),
            // A document of no known format: its items may be records of one.
            (Part::Item(_), None) => self.record(span, &Body::Json(value), out),
            (_, None) => self.around(span, &value, out),
        }
    }

    /// What stands around the items of a document of no known format.
    fn around(&mut self, span: &Span, document: &Json<'_>, out: &mut Out<'_>) {
        let others = document::without_sections(document);
        if !others.members().is_empty() {
            self.record_as(None, span, &Body::Json(others), out);
        }
    }

    /// Hands a record to the adapter of its format and the steps to the linker.
    fn record(&mut self, span: &Span, body: &Body<'_>, out: &mut Out<'_>) {
        if body.json().is_some_and(is_own_report) {
            self.number = self.number.saturating_add(1);
            return out.linker.problem(Problem::OwnReport, span.piece.line);
        }
        if let Some(piece) = body.json().and_then(wrapped::log_line) {
            self.last_piece = Some(span.clone());
            if let Some(line) = self.pieces.add(piece) {
                self.unwrapped(span, &line, out);
            }
            return;
        }
        let chosen = self.detector.choose(body);
        match body.json().filter(|_| chosen.is_none()) {
            Some(document) if document::items(document).next().is_some() => {
                self.around(span, document, out);
                for item in document::items(document) {
                    let item = Body::Json(item.clone());
                    let chosen = self.detector.choose(&item);
                    self.record_as(chosen, span, &item, out);
                }
            }
            _ => self.record_as(chosen, span, body, out),
        }
    }

    /// A line of output that was taken out of another record, or out of its colours.
    fn unwrapped(&mut self, span: &Span, line: &str, out: &mut Out<'_>) {
        let plain = wrapped::without_colours(line);
        match json::parse(&plain) {
            Ok(value) => self.record(span, &Body::Json(value), out),
            Err(_) => self.record(span, &Body::Text(Cow::Borrowed(line)), out),
        }
    }

    /// Hands a record to the adapter of that format.
    fn record_as(
        &mut self,
        chosen: Option<usize>,
        span: &Span,
        body: &Body<'_>,
        out: &mut Out<'_>,
    ) {
        if chosen != self.current {
            self.flush(false, out);
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
                out.linker.format_records_calls(format.records_calls);
                if let Some(slot) = self.adapters.get_mut(index) {
                    let adapter = slot.get_or_insert_with(|| (format.open)());
                    adapter.record(body, &mut self.steps);
                }
            }
            None => {
                if body.json().is_some() {
                    self.strange = true;
                    out.linker.problem(Problem::UnknownFormat, span.piece.line);
                }
                self.generic.record(body, &mut self.steps);
            }
        }
        self.queue.extend(self.steps.drain());
    }

    /// Lets the current adapter say what it holds back.
    fn flush(&mut self, end: bool, out: &mut Out<'_>) {
        let current = self.current.and_then(|index| self.adapters.get_mut(index));
        if let Some(Some(adapter)) = current {
            adapter.flush(end, &mut self.steps);
            self.link(out);
        }
    }

    /// The file ends: every adapter says what it holds back, the current one last.
    pub(crate) fn end(&mut self, out: &mut Out<'_>) {
        if let (Some(line), Some(span)) = (self.pieces.rest(), self.last_piece.take()) {
            out.linker.problem(Problem::CutShort, span.piece.line);
            self.unwrapped(&span, &line, out);
        }
        let current = self.current;
        for index in self.found.clone() {
            if Some(index) != current {
                self.current = Some(index);
                self.flush(true, out);
            }
        }
        self.current = current;
        self.flush(true, out);
        for format in self.found.iter().filter_map(|index| FORMATS.get(*index)) {
            if format.experimental {
                out.linker.problem(Problem::Experimental(format.name), 0);
            }
        }
    }

    /// Links what was held back.
    fn link(&mut self, out: &mut Out<'_>) {
        let held = self.queue.drain(..).chain(self.steps.drain());
        for step in held.collect::<Vec<_>>() {
            out.linker.take(step, out.sink);
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

/// A document whose format is beyond doubt.
fn certain(document: &str) -> bool {
    json::parse(document).is_ok_and(|value| is_certain(&Body::Json(value)))
}

/// What this program wrote: a report, or events. It speaks of another trace and is no evidence here.
///
/// Only a record without any other key is one: the record of an agent's log stays one, whatever was put into it.
fn is_own_report(record: &Json<'_>) -> bool {
    const KEYS: &str = " schema tool runs summary sweep run path task agent prompt_variant date excluded error verdict \
         author_label reason clause confidence causes flags trace similarity provenance measures findings inputs \
         unchecked problems notes detail line event channel actor call ok exit_code time text ";
    let own = |key: &str| KEYS.split(' ').any(|known| known == key);
    let Json::Obj(members) = record else {
        return false;
    };
    let schema = record.str("schema");
    let event = ["trace", "line", "event", "channel", "actor", "text"];
    let is_one = schema.is_some_and(|schema| schema.starts_with("trace-audit/"))
        || event.iter().all(|key| record.get(key).is_some());
    is_one && members.iter().all(|(key, _)| own(key))
}

/// The bytes as text. The strict check is several times faster than the lossy one.
fn text_of(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => String::from_utf8_lossy(bytes),
    }
}

/// A record in JSON that a terminal or a printer coloured.
fn is_coloured_record(text: &str) -> bool {
    text.contains('\u{1b}') && {
        let plain = wrapped::without_colours(text);
        plain.trim_start().starts_with('{') && json::parse(&plain).is_ok()
    }
}

/// A JSON string, number or word alone on a line.
fn is_scalar(text: &str) -> bool {
    let text = text.trim();
    text.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit() || "tfn".contains(c))
        && json::parse(text).is_ok()
}
