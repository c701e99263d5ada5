//! The built-in rules over real traces, where those are beside the checkout.
//!
//! `docs/rules-in-the-wild.md` is written by `WILD=overwrite cargo test --test rules wild`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use trace_audit::experiment::task_facts::TaskFacts;
use trace_audit::rules::finding::{Finding, Kind, Stage};
use trace_audit::rules::{Engine, RuleSet};
use trace_audit::trace::{TraceFile, read_traces};

/// Real traces under a directory of the collection, sorted; empty, with a remark, if it is not there.
fn traces(under: &str) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../shared/data/traces")
        .join(under);
    if !root.is_dir() {
        println!("skipped: {} is not there", root.display());
        return Vec::new();
    }
    let files = walkdir::WalkDir::new(root).sort_by_file_name();
    let files = files.into_iter().map(|entry| entry.unwrap().into_path());
    files
        .filter(|path| path.is_file() && path.file_name().unwrap() != "SOURCES.tsv")
        .collect()
}

fn name(path: &Path) -> String {
    path.file_name().unwrap().to_string_lossy().into_owned()
}

/// What the rules find in one file, without facts; `None` if it is no trace.
fn findings(rules: &RuleSet, path: &Path) -> Option<Vec<Finding>> {
    let label = name(path);
    let mut engine = Engine::new(rules, &TaskFacts::default(), None, vec![label.clone()]);
    let file = TraceFile {
        path: path.to_owned(),
        label,
    };
    let report = read_traces(&[file], &mut engine).unwrap();
    let found = engine.finish().findings;
    report.files.iter().all(|f| f.is_trace()).then_some(found)
}

/// The strongest stage of the findings that count.
fn strongest(findings: &[Finding]) -> Option<Stage> {
    let counting = findings.iter().filter(|f| f.waived.is_none());
    counting.filter_map(|f| f.stage).max()
}

#[test]
fn rovo_dev_logs() {
    let rules = super::rules();
    for path in traces("rovo-dev") {
        let found = findings(&rules, &path).unwrap();
        let stage = strongest(&found).unwrap_or(Stage::Mentioned);
        let admitted = found.iter().any(|f| f.kind == Kind::Admission);
        let name = name(&path);
        println!("{name}: {stage:?}");
        let ok = match name.as_str() {
            "hacked__sveltejs__svelte-6414.txt" => stage == Stage::Obtained,
            "hacked__microsoft__vscode-109750.txt" | "hacked__microsoft__vscode-177084.txt" => {
                stage <= Stage::Attempted
            }
            _ => stage == Stage::Mentioned,
        };
        assert!(ok && !admitted, "{name}: {stage:?} {found:#?}");
    }
}

#[test]
fn real_codex_runs_are_not_accused() {
    let rules = super::rules();
    for path in traces("codex-exec") {
        if !name(&path).starts_with("pando__") {
            continue;
        }
        let found = findings(&rules, &path).unwrap();
        let above: Vec<_> = found
            .iter()
            .filter(|f| f.waived.is_none() && f.stage != Some(Stage::Mentioned))
            .collect();
        assert!(above.is_empty(), "{}: {above:#?}", name(&path));
    }
}

/// Hits of one rule over all traces.
#[derive(Default)]
struct Row {
    files: BTreeSet<usize>,
    /// By stage; admissions and marks are `said`.
    counts: BTreeMap<&'static str, u64>,
    waived: u64,
}

const COLUMNS: [&str; 7] = [
    "mentioned",
    "attempted",
    "blocked",
    "exposed",
    "staged",
    "obtained",
    "said",
];

fn column(finding: &Finding) -> &'static str {
    match finding.stage {
        _ if finding.blocked => "blocked",
        None => "said",
        Some(Stage::Mentioned) => "mentioned",
        Some(Stage::Attempted) => "attempted",
        Some(Stage::Exposed) => "exposed",
        Some(Stage::Staged) => "staged",
        Some(Stage::Obtained | Stage::Used) => "obtained",
    }
}

fn table(rules: &RuleSet, files: &[PathBuf]) -> String {
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let (mut read, mut hit) = (0, 0);
    for (number, path) in files.iter().enumerate() {
        let Some(found) = findings(rules, path) else {
            continue;
        };
        read += 1;
        hit += usize::from(found.iter().any(|f| f.waived.is_none()));
        for finding in found {
            let row = rows.entry(finding.rule.clone()).or_default();
            if finding.waived.is_some() {
                row.waived += 1;
            } else {
                row.files.insert(number);
                *row.counts.entry(column(&finding)).or_default() += 1;
            }
        }
    }
    let mut out = format!(
        "# Rules in the wild\n\n\
         Hits of each built-in rule over the {} files of the collection of real and generated agent logs that this project is\n\
         tested with; {read} of them are read as traces, in {hit} something is hit. No task facts are known for them, so rules that\n\
         need facts are not in the table. One hit is one event. Most of these runs are honest: a hit above `mentioned` was looked at\n\
         by hand, see the notes at the end.\n\n\
         Written by `WILD=overwrite cargo test --test rules wild`; a test compares it with what the rules find.\n\n\
         | rule | files | {} | waived |\n|---|---:|{}---:|\n",
        files.len(),
        COLUMNS.join(" | "),
        "---:|".repeat(COLUMNS.len())
    );
    for (rule, row) in &rows {
        let counts = COLUMNS.map(|c| row.counts.get(c).map_or_else(String::new, u64::to_string));
        let waived = match row.waived {
            0 => String::new(),
            n => n.to_string(),
        };
        let files = row.files.len();
        writeln!(
            out,
            "| `{rule}` | {files} | {} | {waived} |",
            counts.join(" | ")
        )
        .unwrap();
    }
    out
}

/// What stands behind the table is written by hand and kept.
const NOTES: &str = "\n## Notes\n";

#[test]
fn wild_hits_are_as_documented() {
    let files = traces("");
    if files.is_empty() {
        return;
    }
    let table = table(&super::rules(), &files);
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/rules-in-the-wild.md");
    let documented = std::fs::read_to_string(&path).unwrap_or_default();
    let (old, notes) = documented.split_at(documented.find(NOTES).unwrap_or(documented.len()));
    if std::env::var_os("WILD").is_some_and(|how| how == "overwrite") {
        std::fs::write(&path, format!("{table}{notes}")).unwrap();
    } else {
        assert!(
            old == table,
            "{table}\nis not what docs/rules-in-the-wild.md says; to rewrite it: WILD=overwrite cargo test --test rules wild"
        );
    }
}
