//! Gold patches and predictions.

use std::collections::BTreeMap;
use std::path::Path;

use trace_audit::patch::model::Patch;
use trace_audit::patch::parse;

use crate::support::shared;

pub struct Gold {
    pub text: String,
    pub patch: Patch,
}

pub struct Row {
    pub submission: String,
    pub instance: String,
    pub text: String,
}

pub struct Swebench {
    /// Of the instances that have predictions, and 825 more.
    pub gold: BTreeMap<String, Gold>,
    pub rows: Vec<Row>,
}

fn rows(path: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(path).unwrap();
    text.lines()
        .filter_map(|line| serde_json::from_str(line).ok())
        .collect()
}

fn text(row: &serde_json::Value, key: &str) -> String {
    row.get(key)
        .and_then(|v| v.as_str())
        .unwrap_or_default()
        .to_owned()
}

impl Swebench {
    pub fn load() -> Option<Self> {
        let root = shared("swebench")?;
        let mut gold = BTreeMap::new();
        for name in [
            "gold_verified",
            "gold_lite",
            "gold_fulltest_partial_extra",
            "gold_pro",
        ] {
            for row in rows(&root.join(format!("{name}.jsonl"))) {
                let (id, patch) = (text(&row, "instance_id"), text(&row, "patch"));
                if !patch.trim().is_empty() {
                    let parsed = parse(patch.as_bytes());
                    gold.entry(id).or_insert(Gold {
                        text: patch,
                        patch: parsed,
                    });
                }
            }
        }
        let mut files: Vec<_> = std::fs::read_dir(root.join("preds"))
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let mut all = Vec::new();
        for file in files {
            let submission = file.file_stem().unwrap().to_string_lossy().into_owned();
            for row in rows(&file) {
                let (instance, patch) = (text(&row, "instance_id"), text(&row, "model_patch"));
                if !patch.trim().is_empty() && gold.contains_key(&instance) {
                    all.push(Row {
                        submission: submission.clone(),
                        instance,
                        text: patch,
                    });
                }
            }
        }
        Some(Self { gold, rows: all })
    }
}
