//! Runs the files of a run through reader, adapters and linker, and reports on them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::coverage::{self, Facts};
use super::event::EventSink;
use super::input::{self, Digesting, Opened};
use super::linker::Linker;
use super::problem::Problem;
use super::reader::{Oddities, Reader};
use super::records::Records;
use super::report::{TraceFile, TraceFileReport, TraceReport};
use crate::{Error, Result};

/// Reads all trace files of a run, in the order given, and hands their events to `sink`.
///
/// Calls, results, repeats and sub-agents are followed across files. A file that holds no trace (a
/// directory, an archive, nothing at all) is reported as such and does not stop the others.
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
    Ok(read_streams(files.iter().zip(opened), sink))
}

/// Reads one trace from a stream that is open already, such as standard input.
pub fn read_stream(
    file: &TraceFile,
    stream: &mut dyn Read,
    sink: &mut dyn EventSink,
) -> TraceReport {
    read_streams([(file, Some(stream))], sink)
}

/// Reads streams that are open already; `None` for something that is no file.
pub(crate) fn read_streams<'f, R: Read>(
    files: impl IntoIterator<Item = (&'f TraceFile, Option<R>)>,
    sink: &mut dyn EventSink,
) -> TraceReport {
    let mut run = Run {
        linker: Linker::default(),
        sink,
        files: Vec::new(),
    };
    for (file, stream) in files {
        run.file(file, stream);
    }
    run.finish()
}

/// Opens a regular file; `None` when it is something else. Pipes and devices are never opened: that
/// could wait for ever.
fn open(path: &Path) -> Result<Option<File>> {
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
    File::open(path).map(Some).map_err(|error| missing(&error))
}

/// One run: the state that outlives a file.
struct Run<'s> {
    linker: Linker,
    sink: &'s mut dyn EventSink,
    files: Vec<TraceFileReport>,
}

impl Run<'_> {
    fn file(&mut self, file: &TraceFile, stream: Option<impl Read>) {
        let index = u32::try_from(self.files.len()).unwrap_or(u32::MAX);
        self.linker.start_file(index);
        let (counts, tally) = (self.linker.counts(), self.linker.tally());
        let mut report = TraceFileReport {
            path: file.path.clone(),
            label: file.label.clone(),
            format: "none".to_owned(),
            ..TraceFileReport::default()
        };
        match stream {
            Some(stream) => self.contents(stream, &mut report),
            None => self.linker.problem(Problem::NotAFile, 0),
        }
        report.problems = self.linker.end_file(self.sink).list();
        let (new_counts, new_tally) = (self.linker.counts(), self.linker.tally());
        report.events = new_counts.events - counts.events;
        report.calls = new_tally.calls - tally.calls;
        report.results = new_tally.results - tally.results;
        report.orphans = new_tally.orphans - tally.orphans;
        report.has_start = new_tally.starts > tally.starts;
        report.has_end = new_tally.ends > tally.ends;
        self.files.push(report);
    }

    /// Reads a file to its end, whatever is in it.
    fn contents(&mut self, stream: impl Read, report: &mut TraceFileReport) {
        let mut raw = Digesting::new(stream);
        let result = match input::open(&mut raw) {
            Ok(Opened::Text(text, noticed)) => {
                if let Some(problem) = noticed {
                    self.linker.problem(problem, 1);
                }
                self.records(text, report)
            }
            Ok(Opened::Closed(problem)) => {
                self.linker.problem(problem, 0);
                Ok(())
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

    fn records(&mut self, text: impl Read, report: &mut TraceFileReport) -> io::Result<()> {
        let mut reader = Reader::new(text);
        let mut records = Records::new(&mut self.linker, self.sink);
        let result = records.read_all(&mut reader);
        records.end();
        report.records = records.count();
        report.format = records.formats();
        self.oddities(reader.oddities(), reader.line());
        result
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
        let tally = self.linker.tally();
        let unanswered = self.linker.unanswered();
        let missing_children = self.linker.missing_children();
        let (coverage, reasons) = coverage::judge(&Facts {
            files: &self.files,
            sessions: self.linker.sessions(),
            tally,
            counts: self.linker.counts(),
            unanswered: &unanswered,
            missing_children: &missing_children,
        });
        TraceReport {
            coverage,
            reasons,
            files: self.files,
            calls: tally.calls,
            results: tally.results,
            unanswered: unanswered.len() as u64 + tally.given_up,
            orphans: tally.orphans,
            missing_children,
        }
    }
}
