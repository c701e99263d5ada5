//! One complete run per format, written for these tests: the files in `samples/`.
//!
//! `samples/FORMAT.jsonl` holds one record a line, `samples/FORMAT.json` one object, any other ending is
//! text. Each is the same small run: the command `git log --all`, which returns `abc Fix (#5)`, and the
//! final message `Done.`. Formats that cannot show the one or the other have none.

use std::path::Path;

use trace_audit::trace::event::Coverage;

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

impl Sample {
    pub(crate) fn lines(&self) -> Vec<&str> {
        self.text.lines().collect()
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

/// All samples, sorted by format.
pub(crate) fn samples() -> Vec<Sample> {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/traces/samples");
    let mut samples: Vec<Sample> = std::fs::read_dir(dir)
        .unwrap()
        .map(|entry| {
            let path = entry.unwrap().path();
            let format = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let layout = match path.extension().and_then(|extension| extension.to_str()) {
                Some("jsonl") => Layout::Lines,
                Some("json") => Layout::Object,
                _ => Layout::Text,
            };
            let not_full = NOT_FULL.iter().find(|(name, _)| *name == format);
            Sample {
                layout,
                text: std::fs::read_to_string(path).unwrap(),
                coverage: not_full.map_or(Coverage::Full, |(_, coverage)| *coverage),
                format,
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

#[test]
fn every_format_has_a_sample() {
    let have: Vec<String> = samples().into_iter().map(|sample| sample.format).collect();
    for format in trace_audit::trace::format_names() {
        assert!(
            have.iter().any(|name| name == format),
            "tests/traces/samples/ has no sample of {format}"
        );
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
