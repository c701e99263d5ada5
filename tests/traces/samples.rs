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
    ("openhands-sdk", Coverage::Partial),
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
        assert!(!sample.records().is_empty(), "{}", sample.format);
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

/// The cells of the table of the documentation, by format: from, prompt, reasoning, commands, outputs, edits, sub-agents,
/// can be full.
fn documented() -> std::collections::BTreeMap<String, Vec<String>> {
    let docs = include_str!("../../docs/formats.md");
    let (_, table) = docs.split_once("## What each format records").unwrap();
    let (table, _) = table.split_once("\n## ").unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        let format = cells[0].trim_start_matches('`').split('`').next().unwrap();
        let cells = cells[1..].iter().map(|cell| (*cell).to_owned()).collect();
        (format.to_owned(), cells)
    })
    .collect()
}

const PROMPT: usize = 1;
const REASONING: usize = 2;
const COMMANDS: usize = 3;
const OUTPUTS: usize = 4;
const EDITS: usize = 5;
const CHILDREN: usize = 6;
const FULL: usize = 7;

/// A cell that denies.
fn denies(cell: &str) -> bool {
    let cell = cell.trim_start_matches('*');
    cell.starts_with("no") && !cell.starts_with("not")
}

/// What the documentation says of each format holds for its sample: what it denies is not there, and what it promises is.
#[test]
fn the_documentation_says_what_the_samples_show() {
    use trace_audit::trace::event::Channel;
    let table = documented();
    let mut wrong = Vec::new();
    for sample in samples() {
        let (format, cells) = (&sample.format, &table[&sample.format]);
        let (events, report) = crate::support::read_bytes(sample.text.as_bytes());
        let has = |channel| events.iter().any(|event| event.channel == channel);
        for (column, shown) in [
            (PROMPT, has(Channel::Prompt)),
            (COMMANDS, has(Channel::Command)),
            (OUTPUTS, has(Channel::Output)),
            (FULL, report.coverage == Coverage::Full),
        ] {
            // A small run asks no sub-agent.
            let sometimes = cells[column].starts_with("only");
            if denies(&cells[column]) == shown && !sometimes {
                wrong.push(format!("{format}: {:?} and {shown}", cells[column]));
            }
        }
        for (column, shown) in [
            (REASONING, has(Channel::Reasoning)),
            (EDITS, has(Channel::Edit)),
        ] {
            if denies(&cells[column]) && shown {
                wrong.push(format!("{format}: {:?} and {shown}", cells[column]));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Formats whose real files happen to hold nothing of a column that is promised: (format, column).
const NOT_IN_REAL_FILES: &[(&str, usize)] = &[
    ("droid", REASONING),
    ("inspect", REASONING),
    ("inspect", EDITS),
    ("droid", EDITS),
    ("grok", EDITS),
    ("hermes", EDITS),
    ("cursor-transcript", EDITS),
    ("antigravity", COMMANDS),
];

/// The same for the real files, whatever is in them.
#[test]
fn the_documentation_says_what_real_files_show() {
    use std::collections::BTreeMap;
    use trace_audit::trace::event::{Actor, Channel};
    let Some(dir) = crate::support::real_traces() else {
        return;
    };
    let table = documented();
    let mut shown: BTreeMap<String, [bool; 8]> = BTreeMap::new();
    for entry in walkdir::WalkDir::new(dir).sort_by_file_name() {
        let entry = entry.unwrap();
        let small = entry.metadata().unwrap().len() < 2 << 20;
        if !entry.file_type().is_file() || !small {
            continue;
        }
        let (events, report) = crate::support::read_paths(&[entry.path().to_owned()]);
        let columns = shown.entry(report.files[0].format.clone()).or_default();
        for event in &events {
            match event.channel {
                Channel::Prompt => columns[PROMPT] = true,
                Channel::Reasoning => columns[REASONING] = true,
                Channel::Command => columns[COMMANDS] = true,
                Channel::Output => columns[OUTPUTS] = true,
                Channel::Edit => columns[EDITS] = true,
                _ => {}
            }
            columns[CHILDREN] |= event.actor != Actor::Main;
        }
        columns[FULL] |= report.coverage == Coverage::Full;
    }
    let mut wrong = Vec::new();
    for (format, cells) in &table {
        let Some(columns) = shown.get(format) else {
            continue;
        };
        for column in [PROMPT, REASONING, COMMANDS, OUTPUTS, EDITS, CHILDREN, FULL] {
            let cell = cells.get(column).map_or("", String::as_str);
            // A file of Codex that lists changed files has edits without what they wrote.
            let without_content = column == EDITS && format == "codex-exec";
            if denies(cell) && columns[column] && !without_content {
                wrong.push(format!("{format}: {cell:?}, and a real file has it"));
            }
            let promised = cell.starts_with("yes") || cell.starts_with("summary");
            let known = NOT_IN_REAL_FILES.contains(&(format.as_str(), column));
            if promised && column < CHILDREN && columns[column] == known {
                wrong.push(format!(
                    "{format}: {cell:?}, and no real file has it: {known}"
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
