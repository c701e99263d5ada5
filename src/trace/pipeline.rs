//! Runs the files of a run through reader, adapters and linker, and reports on them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::ahead::{Again, LookAhead};
use super::coverage::{self, Facts};
use super::event::EventSink;
use super::formats::{self, FORMATS};
use super::input::{self, Digesting};
use super::json;
use super::linker::{Linker, Tally};
use super::problem::{Problem, Problems};
use super::reader::{Oddities, Reader};
use super::records::{Out, Progress, Records};
use super::report::{TraceFile, TraceFileReport, TraceReport};
use super::sidecar;
use super::step::What;
use crate::{Error, Result};

/// Sub-agents whose files are read within one another. Deeper ones are read behind the others.
const MAX_WITHIN: usize = 64;
/// Bytes at the start of a file in which it says whose it is.
const HEAD: u64 = 256 << 10;

/// Reads all trace files of a run, in the order given, and hands their events to `sink`. The path `-` is
/// standard input.
///
/// Calls, results, repeats and sub-agents are followed across files. The file of a sub-agent is read
/// where the trace of its parent names it, so that what it did stands before what its parent did with
/// it. A file that holds no trace (a directory, nothing at all) is reported as such and does not stop the
/// others.
///
/// # Errors
///
/// [`Error::InputMissing`] when a file is not there or may not be read; nothing is handed to `sink`
/// then.
pub fn read_traces(files: &[TraceFile], sink: &mut dyn EventSink) -> Result<TraceReport> {
    let mut opened = Vec::with_capacity(files.len());
    for file in files {
        opened.push(open(&file.path)?);
    }
    let again = |file: &TraceFile| -> Again<'_> {
        let path = file.path.clone();
        Box::new(move || match path.as_os_str() == "-" {
            true => None,
            false => open(&path).ok().flatten(),
        })
    };
    let mut run = Run::new(sink, &again);
    for (index, file) in files.iter().enumerate() {
        if let Some(name) = child_name(&file.path) {
            run.children.entry(name).or_insert(index);
        }
    }
    Ok(run.read(files.iter().zip(opened).collect()))
}

/// The sub-agent whose steps a file holds, by its first record.
fn child_name(path: &Path) -> Option<String> {
    if !path.is_file() {
        return None;
    }
    let head = File::open(path).and_then(|file| input::head_of(file, HEAD));
    let head = String::from_utf8_lossy(&head.ok()?).into_owned();
    let first = head
        .lines()
        .find_map(|line| json::parse(line.trim()).ok())?;
    formats::child_name(&first).map(str::to_owned)
}

/// Reads one trace from memory. With the name of a format, every record is taken for one of that format,
/// whatever it holds: that is how each adapter is shown input of any kind.
pub fn read_bytes(bytes: &[u8], format: Option<&str>, sink: &mut dyn EventSink) -> TraceReport {
    let file = TraceFile {
        path: "-".into(),
        label: "-".to_owned(),
    };
    let again = |_: &TraceFile| -> Again<'_> { Box::new(move || Some(Box::new(bytes))) };
    let mut run = Run::new(sink, &again);
    run.forced = format.and_then(|name| FORMATS.iter().position(|format| format.name == name));
    run.read(vec![(&file, Some(bytes))])
}

/// The format of a log, as far as its first bytes tell; `None` when they hold no record of a known one.
pub fn format_of(head: &[u8]) -> Option<String> {
    struct Nothing;
    impl EventSink for Nothing {
        fn event(&mut self, _: &super::event::Event) {}
    }
    let report = read_bytes(head, None, &mut Nothing);
    let format = report.files.into_iter().next()?.format;
    (!matches!(format.as_str(), "none" | "empty" | "text" | "generic")).then_some(format)
}

/// Reads streams that are open already; `None` for something that is no file.
#[cfg(test)]
pub(crate) fn read_streams<'f, R: Read>(
    files: impl IntoIterator<Item = (&'f TraceFile, Option<R>)>,
    sink: &mut dyn EventSink,
) -> TraceReport {
    Run::new(sink, &|_| Box::new(|| None)).read(files.into_iter().collect())
}

/// Opens a regular file, or standard input for `-`; `None` when it is something else. Pipes and devices
/// are never opened by their names: that could wait for ever.
fn open(path: &Path) -> Result<Option<Box<dyn Read>>> {
    if path.as_os_str() == "-" {
        return Ok(Some(Box::new(io::stdin())));
    }
    let missing = |error: &io::Error| Error::InputMissing {
        path: path.to_owned(),
        what: match error.kind() {
            io::ErrorKind::NotFound => "there is no such trace file".to_owned(),
            io::ErrorKind::PermissionDenied => "the trace file may not be read".to_owned(),
            _ => format!("the trace file cannot be read: {error}"),
        },
        fix: match error.kind() {
            io::ErrorKind::PermissionDenied => format!("chmod u+r {}", path.display()),
            _ => "check the path; without a trace, leave the option away".to_owned(),
        },
    };
    let metadata = std::fs::metadata(path).map_err(|error| missing(&error))?;
    if !metadata.is_file() {
        return Ok(None);
    }
    let file = File::open(path).map_err(|error| missing(&error))?;
    Ok(Some(Box::new(file)))
}

/// One run: the state that outlives a file.
struct Run<'s, 'f, R> {
    linker: Linker,
    sink: &'s mut dyn EventSink,
    /// Opens a file once more.
    again: &'s dyn Fn(&TraceFile) -> Again<'s>,
    /// Files that were not read yet.
    waiting: Vec<Option<(&'f TraceFile, Option<R>)>>,
    /// Which of them holds the steps of which sub-agent.
    children: BTreeMap<String, usize>,
    /// Sub-agents' files that are being read, one within the other.
    within: usize,
    /// What the files within the current one held.
    inner: Totals,
    reports: BTreeMap<usize, TraceFileReport>,
    /// Index of the format that every record is taken for.
    forced: Option<usize>,
}

/// Totals of the run, or of a part of it.
#[derive(Debug, Clone, Copy, Default)]
struct Totals {
    events: u64,
    tally: Tally,
}

impl Totals {
    /// Both together.
    fn plus(self, more: Self) -> Self {
        let (a, b) = (self.tally, more.tally);
        Self {
            events: self.events + more.events,
            tally: Tally {
                calls: a.calls + b.calls,
                results: a.results + b.results,
                given_up: a.given_up + b.given_up,
                orphans: a.orphans + b.orphans,
                starts: a.starts + b.starts,
                ends: a.ends + b.ends,
            },
        }
    }

    /// What came since the totals were `before`, without what came within.
    fn since(self, before: Self, inner: Self) -> Self {
        let part = |now: u64, before: u64, inner: u64| now - before - inner;
        let (now, old, sub) = (self.tally, before.tally, inner.tally);
        Self {
            events: part(self.events, before.events, inner.events),
            tally: Tally {
                calls: part(now.calls, old.calls, sub.calls),
                results: part(now.results, old.results, sub.results),
                given_up: part(now.given_up, old.given_up, sub.given_up),
                orphans: part(now.orphans, old.orphans, sub.orphans),
                starts: part(now.starts, old.starts, sub.starts),
                ends: part(now.ends, old.ends, sub.ends),
            },
        }
    }
}

impl<'s, 'f, R: Read> Run<'s, 'f, R> {
    fn new(sink: &'s mut dyn EventSink, again: &'s dyn Fn(&TraceFile) -> Again<'s>) -> Self {
        Self {
            linker: Linker::default(),
            sink,
            again,
            waiting: Vec::new(),
            children: BTreeMap::new(),
            within: 0,
            inner: Totals::default(),
            reports: BTreeMap::new(),
            forced: None,
        }
    }

    /// Reads all files: those of sub-agents where they are named, or behind the others.
    fn read(mut self, files: Vec<(&'f TraceFile, Option<R>)>) -> TraceReport {
        let of_children: BTreeSet<usize> = self.children.values().copied().collect();
        self.waiting = files.into_iter().map(Some).collect();
        let all = 0..self.waiting.len();
        let (last, first): (Vec<_>, Vec<_>) = all.partition(|index| of_children.contains(index));
        for index in first.into_iter().chain(last) {
            if let Some(file) = self.take(index) {
                self.linker.start_file(number(index));
                let report = self.file(file);
                let problems = self.linker.end_file();
                self.report(index, report, &problems);
            }
        }
        self.finish()
    }

    fn take(&mut self, index: usize) -> Option<(&'f TraceFile, Option<R>)> {
        self.waiting.get_mut(index).and_then(Option::take)
    }

    fn report(&mut self, index: usize, mut report: TraceFileReport, problems: &Problems) {
        report.problems = problems.list();
        self.reports.insert(index, report);
    }

    fn totals(&self) -> Totals {
        Totals {
            events: self.linker.counts().events,
            tally: self.linker.tally(),
        }
    }

    /// A sub-agent was named: reads its file, if there is one that was not read yet.
    fn child(&mut self, name: &str) {
        if self.within >= MAX_WITHIN {
            return;
        }
        let Some(&index) = self.children.get(name) else {
            return;
        };
        if let Some(file) = self.take(index) {
            self.within += 1;
            let before = self.totals();
            let outer = self.linker.enter(number(index));
            let outer_inner = std::mem::take(&mut self.inner);
            let report = self.file(file);
            let problems = self.linker.leave(outer);
            self.report(index, report, &problems);
            let whole = self.totals().since(before, Totals::default());
            self.inner = outer_inner.plus(whole);
            self.within -= 1;
        }
    }

    fn file(&mut self, (file, stream): (&TraceFile, Option<R>)) -> TraceFileReport {
        let before = self.totals();
        let mut report = TraceFileReport {
            path: file.path.clone(),
            label: file.label.clone(),
            format: "none".to_owned(),
            ..TraceFileReport::default()
        };
        match stream {
            Some(stream) => {
                let ahead = LookAhead::new((self.again)(file));
                self.contents(stream, ahead, &mut report);
            }
            None => self.linker.problem(Problem::NotAFile, 0),
        }
        if self.within == 0 {
            self.linker.release(self.sink);
        }
        let own = self.totals().since(before, std::mem::take(&mut self.inner));
        report.events = own.events;
        report.calls = own.tally.calls;
        report.results = own.tally.results;
        report.orphans = own.tally.orphans;
        report.has_start = own.tally.starts > 0;
        report.has_end = own.tally.ends > 0;
        report
    }

    /// Reads a file to its end, whatever is in it.
    fn contents(&mut self, stream: R, mut ahead: LookAhead<'_>, report: &mut TraceFileReport) {
        let mut raw = Digesting::new(stream);
        let result = match input::open(&mut raw) {
            Ok(opened) => {
                match opened.noticed {
                    Some(problem @ Problem::Container(_)) => self.linker.problem(problem, 0),
                    Some(problem) => self.linker.problem(problem, 1),
                    None => {}
                }
                let result = self.records(opened.text, &mut ahead, report);
                for problem in opened.trouble.take() {
                    self.linker.problem(problem, 0);
                }
                result
            }
            Err(error) => Err(error),
        };
        let drained = result.and_then(|()| io::copy(&mut raw, &mut io::sink()));
        match drained {
            Ok(_) => report.sha256 = raw.hex(),
            Err(_) => self.linker.problem(Problem::ReadError, 0),
        }
        if raw.bytes == 0 && !report.sha256.is_empty() {
            self.linker.problem(Problem::Empty, 0);
            report.format = "empty".to_owned();
        }
    }

    fn records(
        &mut self,
        text: impl Read,
        ahead: &mut LookAhead<'_>,
        report: &mut TraceFileReport,
    ) -> io::Result<()> {
        let mut reader = Reader::new(text);
        let mut records = Records::new(self.forced);
        let result = loop {
            match records.read_next(&mut reader, ahead, &mut self.out()) {
                Ok(Progress::More) => {}
                Ok(Progress::Child(name)) => self.child(&name),
                Ok(Progress::Saved(step)) => {
                    if let What::Sidecar { call, name } = &step.what
                        && let Some((text, cut)) = sidecar::read(&report.path, name)
                    {
                        self.linker.saved(&step, call, text, cut, self.sink);
                    }
                }
                Ok(Progress::End) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        records.end(&mut self.out());
        report.records = records.count();
        report.format = records.formats();
        self.oddities(reader.oddities(), reader.line());
        result
    }

    fn out(&mut self) -> Out<'_> {
        Out {
            linker: &mut self.linker,
            sink: self.sink,
        }
    }

    fn oddities(&mut self, oddities: Oddities, last_line: u64) {
        if let Some(line) = oddities.crlf {
            self.linker.problem(Problem::CrLf, line);
        }
        if let Some(line) = oddities.nul {
            self.linker.problem(Problem::NulBytes, line);
        }
        if oddities.open_arrays > 0 {
            self.linker.problem(Problem::OpenArray, last_line);
        }
    }

    fn finish(self) -> TraceReport {
        let files: Vec<TraceFileReport> = self.reports.into_values().collect();
        let tally = self.linker.tally();
        let unanswered = self.linker.unanswered();
        let missing_children = self.linker.missing_children();
        let (coverage, reasons) = coverage::judge(&Facts {
            files: &files,
            sessions: self.linker.sessions(),
            tally,
            counts: self.linker.counts(),
            unanswered: &unanswered,
            missing_children: &missing_children,
        });
        TraceReport {
            coverage,
            reasons,
            files,
            calls: tally.calls,
            results: tally.results,
            unanswered: unanswered.len() as u64 + tally.given_up,
            orphans: tally.orphans,
            missing_children,
        }
    }
}

/// The number of a file in events.
fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
