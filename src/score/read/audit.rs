//! The verdicts of an audit: our own `jsonl` (one object for each run) or `json` (an object with
//! `runs`). Only what scoring needs is read; everything else may change.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::collect::base_name;
use crate::digest::sha256;
use crate::verdict::measures::Verdict;
use crate::{Error, Result};

/// Longest line, and largest `json` document, in bytes. With `--detail` an object can be large.
pub const MAX_LINE: u64 = 256 << 20;

/// What the audit says of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditedRun {
    /// Name of the run, without path.
    pub run: String,
    /// The verdict; `None` when the run could not be judged.
    pub verdict: Option<Verdict>,
    /// The reason, a stable word such as `full_leak`.
    pub reason: String,
    /// Causes, by name.
    pub causes: Vec<String>,
    /// `high`, `medium`, `low`, or empty.
    pub confidence: String,
    /// The audit says that the run was taken out of the scoring (by its name).
    pub excluded: bool,
    /// Why it could not be judged.
    pub error: Option<String>,
    /// SHA-256 of the statement as it stands in the file (`json`: as written compactly), in hex: says
    /// which evidence a later reader looks at.
    pub digest: String,
    /// Version of the tool and digest of its rules, if the statement has them.
    pub tool: Option<String>,
    /// The numbers the verdict depends on, if the statement has them (key `measures`).
    pub measures: Option<Value>,
    /// Where it stands.
    pub path: PathBuf,
    /// 1-based line.
    pub line: u64,
}

/// Audited runs by name.
pub type Audits = BTreeMap<String, AuditedRun>;

#[derive(Deserialize)]
struct Statement {
    run: Option<String>,
    path: Option<String>,
    verdict: Option<String>,
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    causes: Option<Vec<String>>,
    #[serde(default)]
    confidence: Option<String>,
    #[serde(default)]
    excluded: Value,
    #[serde(default)]
    error: Value,
    #[serde(default)]
    tool: Option<Tool>,
    #[serde(default)]
    measures: Option<Value>,
    /// Only a document has it.
    #[serde(default)]
    runs: Option<serde::de::IgnoredAny>,
}

#[derive(Deserialize)]
struct Tool {
    version: Option<String>,
    rules_digest: Option<String>,
    policy: Option<String>,
}

/// Reads audits. A run that is judged twice must be judged alike.
///
/// # Errors
///
/// A file is missing or no audit, a verdict is unknown, two verdicts on one run contradict each other.
pub fn load(paths: &[PathBuf]) -> Result<Audits> {
    let mut audits = Audits::new();
    for path in paths {
        let file = super::open(path)?;
        read(path, BufReader::new(file), &mut audits)?;
    }
    Ok(audits)
}

fn bad(path: &Path, line: u64, what: String) -> Error {
    Error::BadData {
        path: path.into(),
        line: Some(line),
        what,
        fix: "give the output of `trace-audit sweep -f jsonl` (one object a line)".into(),
    }
}

fn read<R: BufRead>(path: &Path, mut input: R, audits: &mut Audits) -> Result<()> {
    let mut buffer = Vec::new();
    let mut line = 0;
    loop {
        buffer.clear();
        let taken = (&mut input)
            .take(MAX_LINE + 1)
            .read_until(b'\n', &mut buffer)
            .map_err(|e| Error::io(path, e))?;
        if taken == 0 {
            return Ok(());
        }
        line += 1;
        if buffer.len() as u64 > MAX_LINE {
            return Err(bad(
                path,
                line,
                format!("is longer than {} MiB", MAX_LINE >> 20),
            ));
        }
        let text = buffer.trim_ascii();
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        if text.is_empty() {
            continue;
        }
        // A sequence would be read as the members in order.
        if !text.starts_with(b"{") {
            return Err(bad(path, line, "is no JSON object".into()));
        }
        match serde_json::from_slice::<Statement>(text) {
            Ok(statement) if statement.runs.is_some() => document(path, line, text, audits)?,
            Ok(statement) => add(path, line, statement, sha256(text), audits)?,
            Err(e) if line == 1 && e.is_eof() => {
                // A pretty-printed document: take the whole file.
                let left = MAX_LINE - buffer.len() as u64;
                (&mut input)
                    .take(left + 1)
                    .read_to_end(&mut buffer)
                    .map_err(|e| Error::io(path, e))?;
                if buffer.len() as u64 > MAX_LINE {
                    return Err(bad(
                        path,
                        line,
                        format!("is larger than {} MiB", MAX_LINE >> 20),
                    ));
                }
                return document(path, line, &buffer, audits);
            }
            Err(e) => return Err(bad(path, line, format!("is no statement about a run: {e}"))),
        }
    }
}

/// A document of format `json`: its tool stands once, above the runs.
fn document(path: &Path, line: u64, text: &[u8], audits: &mut Audits) -> Result<()> {
    let mut value: Value = serde_json::from_slice(text)
        .map_err(|e| bad(path, e.line() as u64, format!("is not JSON: {e}")))?;
    let tool = value.get("tool").cloned();
    let Some(Value::Array(runs)) = value.get_mut("runs").map(Value::take) else {
        return Err(bad(
            path,
            line,
            "is neither a run (`run`, `verdict`) nor a document with `runs`".into(),
        ));
    };
    for mut run in runs {
        let digest = sha256(run.to_string().as_bytes());
        if let (Some(object), Some(tool)) = (run.as_object_mut(), &tool) {
            object.entry("tool").or_insert_with(|| tool.clone());
        }
        let statement = serde_json::from_value(run)
            .map_err(|e| bad(path, line, format!("is no statement about a run: {e}")))?;
        add(path, line, statement, digest, audits)?;
    }
    Ok(())
}

fn add(
    path: &Path,
    line: u64,
    statement: Statement,
    digest: String,
    audits: &mut Audits,
) -> Result<()> {
    let name = statement
        .run
        .filter(|r| !r.is_empty())
        .or(statement.path)
        .unwrap_or_default();
    let run = base_name(&name).to_string();
    if run.is_empty() {
        return Err(bad(path, line, "has no `run`".into()));
    }
    let verdict = statement.verdict.as_deref().map(|word| {
        [
            Verdict::Clean,
            Verdict::Inconclusive,
            Verdict::Partial,
            Verdict::Invalid,
        ]
        .into_iter()
        .find(|v| v.name() == word)
        .ok_or_else(|| {
            let known = "known are: clean, inconclusive, partial, invalid";
            bad(
                path,
                line,
                format!("`{word}` is not a known verdict of an audit; {known}"),
            )
        })
    });
    let error = match statement.error {
        Value::Null | Value::Bool(false) => None,
        Value::String(text) => Some(text),
        other => Some(other.to_string()),
    };
    let new = AuditedRun {
        verdict: verdict.transpose()?,
        reason: statement.reason.unwrap_or_default(),
        causes: statement.causes.unwrap_or_default(),
        confidence: statement.confidence.unwrap_or_default(),
        excluded: match statement.excluded {
            Value::Null | Value::Bool(false) => false,
            Value::String(text) => !text.is_empty(),
            _ => true,
        },
        error,
        digest,
        tool: statement.tool.map(describe),
        measures: statement.measures.filter(|m| !m.is_null()),
        path: path.into(),
        line,
        run: run.clone(),
    };
    if let Some(old) = audits.get(&run) {
        let alike = old.verdict == new.verdict
            && old.excluded == new.excluded
            && old.is_harness() == new.is_harness();
        if !alike {
            let say = |a: &AuditedRun| a.verdict.map_or("not judged", Verdict::name);
            let there = format!("{}:{}", old.path.display(), old.line);
            return Err(bad(
                path,
                line,
                format!(
                    "run {run} is {} here, {} there ({there})",
                    say(&new),
                    say(old)
                ),
            ));
        }
    } else {
        audits.insert(run, new);
    }
    Ok(())
}

fn describe(tool: Tool) -> String {
    let parts = [
        tool.version,
        tool.rules_digest.map(|d| format!("rules {d}")),
        tool.policy.map(|p| format!("policy {p}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

impl AuditedRun {
    /// The environment's fault, not the agent's.
    pub fn is_harness(&self) -> bool {
        self.causes
            .iter()
            .any(|c| c == crate::rules::finding::Cause::Harness.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Audits> {
        let mut audits = Audits::new();
        read(Path::new("a.jsonl"), text.as_bytes(), &mut audits)?;
        Ok(audits)
    }

    #[test]
    fn reads_lines_and_documents() {
        let line = r#"{"schema":"trace-audit/1","tool":{"version":"0.1.0","rules_digest":"ab","policy":"default"},"run":"R1","verdict":"invalid","reason":"full_leak","causes":["upstream-fetch"],"confidence":"high","excluded":null,"error":null,"similarity":{"n":1}}"#;
        let failed = r#"{"run":"x/R2/","verdict":null,"error":"no trace","causes":["harness"],"excluded":true}"#;
        let audits = parse(&format!("{line}\r\n\n{failed}")).unwrap();
        let r1 = &audits["R1"];
        assert_eq!(r1.verdict, Some(Verdict::Invalid));
        assert_eq!(r1.tool.as_deref(), Some("0.1.0, rules ab, policy default"));
        assert_eq!(r1.digest, sha256(line.as_bytes()));
        assert!(!r1.excluded && !r1.is_harness());
        let r2 = &audits["R2"];
        assert_eq!(
            (r2.verdict, r2.error.as_deref(), r2.line),
            (None, Some("no trace"), 3)
        );
        assert!(r2.excluded && r2.is_harness());

        let value = serde_json::json!({"tool": {"version": "0.1.0"}, "runs": [{"run": "R1", "verdict": "clean"}]});
        for text in [
            value.to_string(),
            serde_json::to_string_pretty(&value).unwrap(),
        ] {
            let audits = parse(&text).unwrap();
            assert_eq!(audits["R1"].tool.as_deref(), Some("0.1.0"));
        }
        assert!(parse("").unwrap().is_empty());
    }

    #[test]
    fn refuses_what_it_does_not_understand() {
        for (text, words) in [
            (
                "{\"run\":\"R\",\"verdict\":\"INVALID\"}",
                "a.jsonl:1: `INVALID` is not a known verdict",
            ),
            (
                "{\"run\":\"R\",\"verdict\":\"clean\"}\n{\"run\":\"R\",\"verdict\":\"invalid\"}",
                "a.jsonl:2: run R is invalid here, clean there (a.jsonl:1)",
            ),
            ("{\"verdict\":\"clean\"}", "has no `run`"),
            ("[\"R\", null, \"clean\"]", "is no JSON object"),
            ("7\n", "is no JSON object"),
            (
                "{\"run\":\"R\",\"verdict\":\"clean\"}\nnot json",
                "a.jsonl:2: is no JSON object",
            ),
            (
                "{\"run\":\"R\",\"verdict\":\"clean\"}\n{",
                "a.jsonl:2: is no statement",
            ),
            ("{\"runs\":7}", "neither a run"),
            ("{", "is not JSON"),
            ("run,verdict\n", "is no JSON object"),
        ] {
            let message = parse(text).unwrap_err().to_string();
            assert!(message.contains(words), "{text}: {message}");
        }
    }

    #[test]
    fn deep_input_does_not_crash() {
        let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
        let audits = parse(&format!(
            "{{\"run\":\"R\",\"verdict\":\"clean\",\"detail\":{deep}}}"
        ));
        assert_eq!(audits.unwrap()["R"].verdict, Some(Verdict::Clean));
        assert!(parse(&format!("{{\"run\":\"R\",\"measures\":{deep}}}")).is_err());
        assert!(parse(&format!("{{\"runs\":{deep}}}")).is_err());
    }
}
