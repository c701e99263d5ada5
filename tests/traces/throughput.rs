//! How fast traces are read.

use std::io::Write;
use std::path::PathBuf;

use trace_audit::trace::event::{Event, EventSink};
use trace_audit::trace::{TraceFile, read_traces};

use crate::support::real_traces;

/// CPU seconds of this process so far, where the system tells.
fn cpu_seconds() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat
        .rsplit(") ")
        .next()
        .unwrap_or_default()
        .split(' ')
        .collect();
    let ticks = |at: usize| fields.get(at).and_then(|field| field.parse::<f64>().ok());
    (ticks(11).unwrap_or_default() + ticks(12).unwrap_or_default()) / 100.0
}

/// `cargo test --release --test traces -- --ignored --nocapture throughput`
#[test]
#[ignore = "a measurement, for release builds"]
fn throughput() {
    struct Nothing(u64);
    impl EventSink for Nothing {
        fn event(&mut self, event: &Event) {
            self.0 += event.text.len() as u64;
        }
    }
    const TOTAL: usize = 200 << 20;
    let Some(dir) = real_traces() else { return };
    for family in ["claude-stream", "claude-session", "codex-exec", "opencode"] {
        let mut bytes = Vec::new();
        let mut paths: Vec<PathBuf> = std::fs::read_dir(dir.join(family))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|ext| ext == "jsonl"))
            .collect();
        paths.sort();
        for path in &paths {
            bytes.extend(std::fs::read(path).unwrap());
            bytes.push(b'\n');
        }
        let mut file = tempfile::NamedTempFile::new().unwrap();
        file.write_all(&bytes).unwrap();
        let files = [TraceFile {
            path: file.path().to_owned(),
            label: family.into(),
        }];
        let times = TOTAL / bytes.len();
        let start = cpu_seconds();
        let mut sink = Nothing(0);
        for _ in 0..times {
            read_traces(&files, &mut sink).unwrap();
        }
        let read = (times * bytes.len()) as f64 / 1e6;
        println!(
            "{family}: {:.0} MB/s of CPU time ({:.0} MB, {:.0} MB of event text)",
            read / (cpu_seconds() - start),
            read,
            sink.0 as f64 / 1e6
        );
    }
}
