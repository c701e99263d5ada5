//! One complete run per format, written for these tests: the files in `samples/`.
//!
//! `samples/FORMAT.jsonl` holds one record a line, `samples/FORMAT.json` one object, any other ending is
//! text. Each is the same small run: the command `git log --all`, which returns `abc Fix (#5)`, and the
//! final message `Done.`. Formats that cannot show the one or the other have none.

use std::path::Path;

use serde_json::Value;
use trace_audit::trace::event::Coverage;
use trace_audit::trace::format_names;

/// What some formats cannot show, or cannot show to be whole.
const NOT_FULL: &[(&str, Coverage)] = &[
    ("chat", Coverage::Partial),
    ("cursor-json", Coverage::SummaryOnly),
    ("gemini-chat", Coverage::Partial),
    // Results are cut, and exit codes are not recorded.
    ("rovo-dev", Coverage::Partial),
    // No end is recorded, and outputs are not.
    ("aider-chat", Coverage::SummaryOnly),
    ("aider-llm", Coverage::Partial),
    ("antigravity", Coverage::Partial),
    ("cursor-transcript", Coverage::Partial),
    // Experimental.
    ("atif", Coverage::Partial),
    ("cline", Coverage::Partial),
    ("goose", Coverage::Partial),
    ("terminal-bench", Coverage::Partial),
];

/// A terminal does not say what a final message is.
const NO_FINAL_MESSAGE: &[&str] = &["terminal-bench"];

/// How a sample is laid out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Layout {
    /// One JSON record a line.
    Lines,
    /// One JSON object.
    Object,
    /// Text.
    Text,
}

/// A complete run in one format.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) format: String,
    pub(crate) layout: Layout,
    pub(crate) text: String,
    /// What its coverage is.
    pub(crate) coverage: Coverage,
}

/// Where an object holds its records.
fn items_of(format: &str) -> &'static str {
    match format {
        "cline" => "",
        "inspect" => "/samples/0/messages",
        "swe-agent" => "/trajectory",
        "openhands" => "/history",
        "atif" => "/steps",
        _ => "/messages",
    }
}

impl Sample {
    pub(crate) fn lines(&self) -> Vec<&str> {
        self.text.lines().collect()
    }

    /// Its records: lines, or the items of its object.
    pub(crate) fn records(&self) -> Vec<String> {
        if self.layout != Layout::Object {
            return self.text.lines().map(str::to_owned).collect();
        }
        let document: Value = serde_json::from_str(&self.text).unwrap();
        let items = document.pointer(items_of(&self.format));
        let items = items.and_then(Value::as_array).unwrap().iter();
        items.map(Value::to_string).collect()
    }

    /// The sample with other records.
    pub(crate) fn with_records(&self, records: &[String]) -> String {
        if self.layout != Layout::Object {
            return records.join("\n");
        }
        let mut document: Value = serde_json::from_str(&self.text).unwrap();
        let items = format!("[{}]", records.join(","));
        *document.pointer_mut(items_of(&self.format)).unwrap() =
            serde_json::from_str(&items).unwrap();
        serde_json::to_string_pretty(&document).unwrap()
    }

    /// The format has a final message.
    pub(crate) fn has_final_message(&self) -> bool {
        !NO_FINAL_MESSAGE.contains(&self.format.as_str())
    }

    /// The format records calls, so that the sample has one.
    pub(crate) fn has_calls(&self) -> bool {
        self.text.contains("git log --all")
    }
}

/// The samples of all formats, sorted by format. Fails when a format has none.
pub(crate) fn samples() -> Vec<Sample> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/samples");
    let mut samples: Vec<Sample> = format_names()
        .into_iter()
        .map(|format| {
            let endings = [
                ("jsonl", Layout::Lines),
                ("json", Layout::Object),
                ("md", Layout::Text),
                ("txt", Layout::Text),
            ];
            let (path, layout) = endings
                .iter()
                .map(|(ending, layout)| (dir.join(format!("{format}.{ending}")), *layout))
                .find(|(path, _)| path.is_file())
                .unwrap_or_else(|| panic!("tests/traces/samples/ has no sample of {format}"));
            let not_full = NOT_FULL.iter().find(|(name, _)| *name == format);
            Sample {
                layout,
                text: std::fs::read_to_string(path).unwrap(),
                coverage: not_full.map_or(Coverage::Full, |(_, coverage)| *coverage),
                format: format.to_owned(),
            }
        })
        .collect();
    samples.sort_by(|a, b| a.format.cmp(&b.format));
    samples
}

/// The samples of one layout.
pub(crate) fn samples_in(layout: Layout) -> Vec<Sample> {
    let all = samples().into_iter();
    all.filter(|sample| sample.layout == layout).collect()
}

/// Every format has a sample and every sample is of a format.
#[test]
fn every_format_has_a_sample() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/samples");
    assert_eq!(
        std::fs::read_dir(dir).unwrap().count(),
        samples().len(),
        "a file in tests/traces/samples/ is no sample"
    );
    assert_eq!(samples().len(), format_names().len());
    for sample in samples() {
        assert!(sample.records().len() >= 1, "{}", sample.format);
    }
}

/// Every format, and no other, has a row in the table of the documentation, with the mark of the experimental ones.
#[test]
fn every_format_is_documented() {
    let docs = include_str!("../../docs/formats.md");
    let (_, table) = docs.split_once("## What each format records").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows = table.lines().filter_map(|line| line.strip_prefix("| `"));
    let mut rows: Vec<&str> = rows.filter_map(|row| row.split('`').next()).collect();
    rows.sort_unstable();
    let mut formats = trace_audit::trace::format_names();
    formats.extend(["generic", "text"]);
    formats.sort_unstable();
    assert_eq!(rows, formats);
    for sample in samples() {
        let (_, report) = crate::support::read_bytes(sample.text.as_bytes());
        let experimental = report
            .reasons
            .iter()
            .chain(report.files[0].problems.iter().map(|problem| &problem.what));
        let experimental = experimental
            .into_iter()
            .any(|reason| reason.contains("experimental"));
        let marked = table.contains(&format!("| `{}` (experimental) |", sample.format));
        assert_eq!(
            marked, experimental,
            "{}: {:?}",
            sample.format, report.reasons
        );
        if marked {
            assert_ne!(report.coverage, Coverage::Full, "{}", sample.format);
        }
    }
}
