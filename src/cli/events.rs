//! `trace-audit events`: what the tool sees in a trace.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;

use trace_audit::report::json_text;
use trace_audit::trace::event::{Event, EventSink};
use trace_audit::trace::{EventLine, TraceFile, read_traces};

use super::output::Terminal;

/// Options of `events`.
#[derive(Debug, clap::Args)]
pub(crate) struct EventsArgs {
    /// Trace files
    #[arg(required = true, value_name = "TRACE")]
    traces: Vec<PathBuf>,
    /// Only events of these channels (command, output, edit, web, assistant, …)
    #[arg(long, value_name = "CHANNEL", value_delimiter = ',')]
    channel: Vec<String>,
    /// Only the call with this id and what it returned
    #[arg(long, value_name = "ID")]
    call: Option<String>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

struct Printer<'a> {
    args: &'a EventsArgs,
    labels: &'a [String],
    out: &'a mut dyn Write,
    failed: Option<std::io::Error>,
    counts: BTreeMap<&'static str, u64>,
}

impl Printer<'_> {
    fn wanted(&self, event: &Event) -> bool {
        let channels = &self.args.channel;
        (channels.is_empty() || channels.iter().any(|c| c == event.channel.name()))
            && (self.args.call.is_none() || self.args.call == event.call)
    }
}

impl EventSink for Printer<'_> {
    fn event(&mut self, event: &Event) {
        if self.failed.is_some() || !self.wanted(event) {
            return;
        }
        *self.counts.entry(event.channel.name()).or_default() += 1;
        let label = self
            .labels
            .get(event.source.file as usize)
            .map_or("", String::as_str);
        // Its text may be as long as the longest record, so that no copy of it is made.
        let line = EventLine::new(event, label);
        if let Err(error) = json_text::write_line(&mut self.out, &line) {
            self.failed = Some(error);
        }
    }
}

/// Prints the events to standard output and their counts to standard error.
pub(crate) fn run(args: &EventsArgs, terminal: &mut Terminal) -> anyhow::Result<u8> {
    check_channels(&args.channel)?;
    let files: Vec<_> = args
        .traces
        .iter()
        .map(|path| TraceFile {
            path: path.clone(),
            label: path.display().to_string(),
        })
        .collect();
    let labels: Vec<_> = files.iter().map(|f| f.label.clone()).collect();
    let mut summary = String::new();
    let mut no_trace = None;
    terminal.stream(args.output.as_deref(), |out| {
        let mut printer = Printer {
            args,
            labels: &labels,
            out,
            failed: None,
            counts: BTreeMap::new(),
        };
        let report = read_traces(&files, &mut printer)?;
        let counts: Vec<_> = printer
            .counts
            .iter()
            .map(|(channel, count)| format!("{count} {channel}"))
            .collect();
        let counts = if counts.is_empty() {
            "no events".to_owned()
        } else {
            counts.join(", ")
        };
        summary = format!("{counts}; coverage {}", report.coverage.name());
        for file in &report.files {
            for problem in &file.problems {
                summary.push_str(&format!(
                    "\n{}:{}: {} ({} times)",
                    file.label, problem.line, problem.what, problem.count
                ));
            }
        }
        no_trace = report.files.iter().find(|f| !f.is_trace()).cloned();
        printer.failed.map_or(Ok(true), |error| Err(error.into()))
    })?;
    terminal.note(&summary);
    no_trace.map_or(Ok(0), |file| Err(file.not_a_trace().into()))
}

fn check_channels(wanted: &[String]) -> anyhow::Result<()> {
    use trace_audit::trace::event::Channel;
    for name in wanted {
        if !Channel::ALL.iter().any(|c| c.name() == name) {
            let all: Vec<_> = Channel::ALL.iter().map(|c| c.name()).collect();
            return Err(trace_audit::Error::Usage {
                what: format!("there is no channel `{name}`"),
                fix: format!("channels are {}", all.join(", ")),
            }
            .into());
        }
    }
    Ok(())
}
