//! `trace-audit explain`: why a run got its verdict.
//!
//! The numbers of a run are read again, from its directory or from a JSON report, and held against
//! every clause of the verdict table.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;
use trace_audit::audit::Auditor;
use trace_audit::experiment::config::Config;
use trace_audit::provenance::model::UnseenLines;
use trace_audit::report::escape::for_terminal;
use trace_audit::report::{Lang, phrases, sentences};
use trace_audit::verdict::explain::{checked, explain, table};
use trace_audit::verdict::judge::judge;
use trace_audit::verdict::measures::Measures;
use trace_audit::verdict::policy::Policy;
use trace_audit::{Error, Result};

use super::audit::{InputArgs, audit_one, lang, load_rules, policy_name};
use super::output::Terminal;

/// Options of `explain`.
#[derive(Debug, clap::Args)]
pub(crate) struct ExplainArgs {
    /// A run directory, or a report made with `--format json` or `jsonl`
    #[arg(value_name = "RUN|RESULT")]
    target: PathBuf,
    /// Of the runs of a report, only this one
    #[arg(long, value_name = "NAME")]
    run: Option<String>,

    #[command(flatten)]
    inputs: InputArgs,
    /// Directory (or file) with more rules; may be given several times
    #[arg(long, value_name = "DIR")]
    rules: Vec<PathBuf>,
    /// default, seed, strict, or a TOML file
    #[arg(long, value_name = "NAME|FILE")]
    policy: Option<String>,
    /// Language of the text
    #[arg(long, value_name = "LANG", default_value = "en", value_parser = ["en", "zh"])]
    lang: String,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// What is explained.
struct Case {
    run: String,
    measures: Measures,
    /// What could not be checked, as the report says.
    unchecked: Vec<String>,
    /// The run as the report has it.
    report: Value,
    /// Digest of the policy that the report was made with.
    policy_digest: Option<String>,
}

/// Explains and returns the exit code: 0, whatever the verdict.
pub(crate) fn run(args: &ExplainArgs, terminal: &mut Terminal) -> anyhow::Result<u8> {
    let lang = lang(&args.lang);
    let config = Config::find(Some(&args.target), args.inputs.config.as_deref())?;
    let (cases, recorded) = if args.target.is_dir() {
        (vec![of_run(args, &config, lang)?], None)
    } else {
        of_report(&args.target, args.run.as_deref())?
    };
    // A report is explained by the policy that it was made with, unless another is named.
    let given = args.policy.as_deref().or(recorded.as_deref());
    let policy = Policy::load(&policy_name(given, &config))?;
    for case in &cases {
        let digest = policy.digest();
        if case.policy_digest.as_ref().is_some_and(|d| *d != digest) {
            terminal.note(&format!(
                "explained with the policy `{}`, whose numbers are not those that the report was made with",
                policy.name
            ));
            break;
        }
    }
    terminal.data(args.output.as_deref(), |out| {
        for (position, case) in cases.iter().enumerate() {
            if position > 0 {
                writeln!(out)?;
            }
            write_case(case, &policy, lang, out)?;
        }
        Ok(())
    })?;
    Ok(0)
}

fn of_run(args: &ExplainArgs, config: &Config, lang: Lang) -> Result<Case> {
    let rules = load_rules(&args.rules, config)?;
    let policy = Policy::load(&policy_name(args.policy.as_deref(), config))?;
    let auditor = Auditor::new(&rules, &policy, lang);
    let audited = audit_one(&args.inputs, &auditor, Some(&args.target))?;
    let report = serde_json::to_value(&audited).map_err(|e| {
        let what = format!("its report cannot be written: {e}");
        bad(&args.target, 1, what)
    })?;
    let unchecked = audited.unchecked;
    Ok(Case {
        run: audited.run,
        measures: audited.measures.unwrap_or_default(),
        report,
        unchecked,
        policy_digest: None,
    })
}

/// The judged runs of a report and the name of its policy.
fn of_report(path: &Path, only: Option<&str>) -> Result<(Vec<Case>, Option<String>)> {
    let metadata = path.metadata().map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => Error::InputMissing {
            path: path.to_owned(),
            what: "there is no such run or report".to_owned(),
            fix: "name a run directory, or a report that `-f json` wrote".to_owned(),
        },
        _ => Error::io(path, e),
    })?;
    if !metadata.is_file() {
        return Err(Error::InputMissing {
            path: path.to_owned(),
            what: "this is no regular file".to_owned(),
            fix: "name a run directory, or a report that `trace-audit RUN -f json` wrote"
                .to_owned(),
        });
    }
    let text = std::fs::read_to_string(path).map_err(|e| Error::io(path, e))?;
    let documents = match serde_json::from_str(&text) {
        Ok(document) => vec![document],
        Err(_) => lines(path, &text)?,
    };
    let mut cases = Vec::new();
    let mut policy = None;
    for document in &documents {
        let tool = document.get("tool");
        let of_tool = |key| tool.and_then(|t| t.get(key)).and_then(Value::as_str);
        policy = policy.or_else(|| of_tool("policy").map(str::to_owned));
        let digest = of_tool("policy_digest").map(str::to_owned);
        let alone = std::slice::from_ref(document);
        let runs = document.get("runs").and_then(Value::as_array);
        for run in runs.map_or(alone, Vec::as_slice) {
            let name = run.get("run").and_then(Value::as_str).unwrap_or_default();
            let measures = run.get("measures").filter(|m| !m.is_null());
            let Some(measures) = measures.filter(|_| only.is_none_or(|o| o == name)) else {
                continue;
            };
            let measures = Measures::deserialize(measures)
                .map_err(|e| bad(path, 1, format!("the measures of run `{name}`: {e}")))?;
            let unchecked = run.get("unchecked").and_then(Value::as_array);
            cases.push(Case {
                run: name.to_owned(),
                measures,
                unchecked: unchecked
                    .into_iter()
                    .flatten()
                    .filter_map(|u| u.as_str().map(str::to_owned))
                    .collect(),
                report: run.clone(),
                policy_digest: digest.clone(),
            });
        }
    }
    if cases.is_empty() {
        let what = match only {
            Some(name) => format!("there is no judged run `{name}` in it"),
            None => "there is no judged run in it".to_owned(),
        };
        return Err(bad(path, 1, what));
    }
    Ok((
        cases,
        policy.filter(|name| Policy::built_in_names().any(|b| b == name)),
    ))
}

/// A report with one run a line.
fn lines(path: &Path, text: &str) -> Result<Vec<Value>> {
    let full = (1u64..)
        .zip(text.lines())
        .filter(|(_, l)| !l.trim().is_empty());
    full.map(|(number, line)| {
        serde_json::from_str(line).map_err(|e| bad(path, number, format!("it is no JSON: {e}")))
    })
    .collect()
}

fn bad(path: &Path, line: u64, what: String) -> Error {
    Error::BadData {
        path: path.to_owned(),
        line: Some(line),

        what,
        fix: "name a run directory, or a report that `trace-audit RUN -f json` wrote".to_owned(),
    }
}

fn write_case(case: &Case, policy: &Policy, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let m = &case.measures;
    let judgement = judge(m, policy);
    let words = explain(m, policy, lang);
    writeln!(
        out,
        "{}  {}",
        phrases::verdict(lang, judgement.verdict),
        for_terminal(&case.run)
    )?;
    writeln!(out, "  {}", words.clause)?;
    writeln!(
        out,
        "  {} {}",
        lang.pick("confidence", "置信度"),
        phrases::confidence(lang, judgement.confidence)
    )?;
    for line in words.missed.iter().chain(&words.chance) {
        writeln!(out, "  {line}")?;
    }
    writeln!(
        out,
        "\n{}",
        lang.pick("The table, clause by clause:", "判定表逐条：")
    )?;
    for line in table(m, policy, lang) {
        let state = match (line.decides, line.met) {
            (true, _) => lang.pick("decides", "判定"),
            (false, true) => lang.pick("met", "成立"),
            (false, false) => lang.pick("no", "不成立"),
        };
        writeln!(
            out,
            "  {:>2}  {state}  {}{}{}",
            line.number,
            line.title,
            lang.pick(": ", "："),
            line.why
        )?;
    }
    list(
        lang.pick("Evidence:", "证据："),
        &evidence(&case.report, lang),
        lang,
        out,
    )?;
    list(
        lang.pick("Checked:", "已检查："),
        &checked(m, lang),
        lang,
        out,
    )?;
    let said = case.unchecked.iter();
    let open: Vec<String> = said.map(|u| sentences::say(lang, u)).collect();
    list(
        lang.pick("Could not be checked:", "无法检查："),
        &open,
        lang,
        out,
    )
}

/// Entries of a kind that are shown; the report has all of them.
const SHOWN: usize = 8;

/// What the report points at: flags, calls that count, outputs that showed the reference, calls that may have written
/// lines of it.
fn evidence(run: &Value, lang: Lang) -> Vec<String> {
    let list = |at: &str| run.pointer(at).and_then(Value::as_array);
    let text = |value: &Value, key: &str| value.get(key).map(plain).unwrap_or_default();
    let mut out = Vec::new();
    let flags: Vec<String> = list("/flags").into_iter().flatten().map(plain).collect();
    if !flags.is_empty() {
        out.push(format!(
            "{} {}",
            lang.pick("flags:", "标记："),
            flags.join(", ")
        ));
    }
    let counts = |f: &&Value| {
        let done = || !["mentioned", ""].contains(&text(f, "stage").as_str());
        f.get("waived").is_none_or(Value::is_null)
            && match text(f, "kind").as_str() {
                "admission" => true,
                kind => kind == "action" && done(),
            }
    };
    let findings = list("/findings").into_iter().flatten().filter(counts);
    let findings = findings.map(|f| {
        let (trace, line, rule) = (text(f, "trace"), text(f, "line"), text(f, "rule"));
        let said = format!("{rule} {}", text(f, "stage"));
        format!(
            "{trace}:{line}  {}: {}",
            said.trim_end(),
            text(f, "excerpt")
        )
    });
    push(&mut out, findings.collect(), lang);
    let exposures = list("/provenance/exposures")
        .into_iter()
        .flatten()
        .map(|e| {
            let lines = e.get("gt_lines").and_then(Value::as_array);
            let lines: Vec<String> = lines.into_iter().flatten().map(plain).collect();
            format!(
                "{} {}{} {}:{} {} `{}`",
                lang.pick("trace line", "日志第"),
                text(e, "line"),
                lang.pick(" showed", " 行显示了"),
                text(e, "gt_path"),
                lines.join(","),
                lang.pick("by", "来自"),
                text(e, "command")
            )
        });
    push(&mut out, exposures.collect(), lang);
    let unseen = list("/provenance/unseen").into_iter().flatten();
    let unseen = unseen.filter_map(|u| UnseenLines::deserialize(u).ok());
    let unseen = unseen.filter(|u| u.gt_lines > 0).filter_map(|u| {
        let (line, command) = (u.line?, u.command.as_deref()?);
        Some(format!(
            "{} {line}{} {} {} `{command}`",
            lang.pick("the call in trace line", "日志第"),
            lang.pick("", " 行的调用"),
            phrases::unseen(lang, &u),
            lang.pick("by", "来自"),
        ))
    });
    push(&mut out, unseen.collect(), lang);
    out
}

/// The first of them, and how many there are more.
fn push(out: &mut Vec<String>, found: Vec<String>, lang: Lang) {
    let more = found.len().saturating_sub(SHOWN);
    out.extend(found.into_iter().take(SHOWN));
    if more > 0 {
        out.push(match lang {
            Lang::En => format!("… and {more} more (see the report)"),
            Lang::Zh => format!("……另有 {more} 条（见报告）"),
        });
    }
}

/// A text or number without the marks of JSON.
fn plain(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

fn list(title: &str, items: &[String], lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "\n{title}")?;
    for item in items {
        writeln!(out, "  - {}", for_terminal(item))?;
    }
    if items.is_empty() {
        writeln!(out, "  - {}", lang.pick("nothing", "无"))?;
    }
    Ok(())
}
