//! The sums of a sweep as a paragraph that can stand in a paper.
//!
//! It says how many runs, what was found, on what it rests and what could not be seen, and names the
//! policy and the rules by their digests, so that a reader can repeat the audit.

use std::io::{self, Write};

use super::output::Sums;
use super::summary::SweepSummary;
use crate::report::Lang;
use crate::report::markdown::cell;
use crate::report::model::Summary;
use crate::report::phrases::{self, number};

/// Digits of a digest that are printed; enough to tell two sets of rules apart.
const DIGITS: usize = 12;

/// Writes the paragraph.
///
/// # Errors
/// What the stream says.
pub fn write(sums: &Sums<'_>, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let (s, sweep) = (sums.summary, sums.sweep);
    let known = |names: &std::collections::BTreeSet<Option<&str>>| names.iter().flatten().count();
    let (tasks, agents) = (known(&sweep.task_names()), known(&sweep.agent_names()));
    let judged = s.runs - s.errors;
    let traces = |count: fn(&super::summary::AgentCoverage) -> u64| -> u64 {
        sweep.agents.iter().map(count).sum()
    };
    let (full, partial) = (traces(|a| a.full), traces(|a| a.partial));
    let (summary_only, missing) = (traces(|a| a.summary_only), traces(|a| a.missing));
    let policy = cell(sums.tool.policy.as_deref().unwrap_or_default());
    let policy_digest = short(sums.tool.policy_digest.as_deref().unwrap_or_default());
    let rules = short(&sums.tool.rules_digest);
    let version = &sums.tool.version;
    match lang {
        Lang::En => {
            let (runs, tasks) = (phrases::runs(lang, s.runs), number(tasks as u64, "task"));
            write!(
                out,
                "Of {runs} ({tasks}, {}), {judged} could be judged: {}{}. ",
                number(agents as u64, "agent"),
                listed(&verdicts_of(s, lang), lang),
                sure(sweep, lang)
            )?;
            failures(sums, lang, out)?;
            excluded(sweep, lang, out)?;
            let seen = [
                (full, "full"),
                (partial, "with gaps"),
                (summary_only, "only a final message"),
                (missing, "missing"),
            ];
            write!(
                out,
                "Traces of the runs judged: {}; a clean verdict without a full trace means that no copy was found, not \
                 that there was none. ",
                listed(&nonzero(seen), lang)
            )?;
            smallest(sweep, lang, out)?;
            writeln!(
                out,
                "Audited with trace-audit {version}, policy {policy} ({policy_digest}), rules {rules}."
            )
        }
        Lang::Zh => {
            write!(
                out,
                "共 {} 次运行（{tasks} 个任务，{agents} 个代理），其中 {judged} 次可以判断：{}{}。",
                s.runs,
                listed(&verdicts_of(s, lang), lang),
                sure(sweep, lang)
            )?;
            failures(sums, lang, out)?;
            excluded(sweep, lang, out)?;
            let seen = [
                (full, "次有完整日志"),
                (partial, "次日志有缺口"),
                (summary_only, "次只有最终消息"),
                (missing, "次没有可读日志"),
            ];
            write!(
                out,
                "可以判断的运行中，{}；没有完整日志的“干净”只表示未发现抄袭。",
                listed(&nonzero(seen), lang)
            )?;
            smallest(sweep, lang, out)?;
            writeln!(
                out,
                "审计工具 trace-audit {version}，策略 {policy}（{policy_digest}），规则 {rules}。"
            )
        }
    }
}

/// The smallest ground truth, and the smallest behind an invalid run.
fn smallest(sweep: &SweepSummary, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let Some(gt) = sweep.smallest_gt else {
        return Ok(());
    };
    match (lang, sweep.smallest_invalid) {
        (Lang::En, invalid) => {
            let lines = number(gt, "distinctive line");
            write!(out, "The smallest ground truth has {lines}")?;
            if let Some(invalid) = invalid {
                write!(out, ", the smallest behind an invalid run {invalid}")?;
            }
            write!(out, ". ")
        }
        (Lang::Zh, invalid) => {
            write!(out, "最小的参考补丁有 {gt} 个特征行")?;
            if let Some(invalid) = invalid {
                write!(out, "，判为无效的运行中最小的为 {invalid} 行")?;
            }
            write!(out, "。")
        }
    }
}

fn short(digest: &str) -> &str {
    digest.get(..DIGITS).unwrap_or(digest)
}

/// The verdicts that occur, without the runs that have none.
fn verdicts_of(s: &Summary, lang: Lang) -> Vec<String> {
    phrases::counts(lang, &Summary { errors: 0, ..*s })
}

/// Counts with their words, without those that are zero.
fn nonzero<const N: usize>(parts: [(u64, &str); N]) -> Vec<String> {
    let some = parts.into_iter().filter(|(count, _)| *count > 0);
    some.map(|(count, what)| format!("{count} {what}"))
        .collect()
}

/// "a, b and c"; "none" of nothing.
fn listed(words: &[String], lang: Lang) -> String {
    match (words.split_last(), lang) {
        (None, _) => lang.pick("none", "无").to_owned(),
        (Some((last, [])), _) => last.clone(),
        (Some((last, rest)), Lang::En) => format!("{} and {last}", rest.join(", ")),
        (Some(_), Lang::Zh) => words.join("，"),
    }
}

/// How sure the clean verdicts are, in brackets: they stand last of the verdicts that say something of the agent.
fn sure(sweep: &SweepSummary, lang: Lang) -> String {
    let sure = sweep.clean_confidence;
    let words = nonzero([
        (sure.high, lang.pick("high", "次高")),
        (sure.medium, lang.pick("medium", "次中")),
        (sure.low, lang.pick("low", "次低")),
    ]);
    match (words.is_empty(), lang) {
        (true, _) => String::new(),
        (_, Lang::En) => format!(" (confidence of the clean ones: {})", words.join(", ")),
        (_, Lang::Zh) => format!("（其中干净者的置信度：{}）", words.join("，")),
    }
}

/// The runs that could not be judged, and why.
fn failures(sums: &Sums<'_>, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let (errors, absent) = (sums.summary.errors, sums.sweep.not_found);
    if errors == 0 {
        return Ok(());
    }
    let why = nonzero([
        (absent, lang.pick("not found", "次未找到")),
        (errors.saturating_sub(absent), lang.pick("failed", "次出错")),
    ]);
    let why = why.join(lang.pick(", ", "，"));
    match lang {
        Lang::En => write!(
            out,
            "{} could not be judged ({why}). ",
            number(errors, "run")
        ),
        Lang::Zh => write!(out, "{errors} 次未能判断（{why}）。"),
    }
}

/// The runs that the benchmark has taken out; they are counted above.
fn excluded(sweep: &SweepSummary, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let (all, invalid) = (sweep.excluded, sweep.excluded_invalid);
    if all == 0 {
        return Ok(());
    }
    match lang {
        Lang::En => {
            let are = if all == 1 { "is" } else { "are" };
            write!(
                out,
                "Of all runs, {all} {are} marked as excluded by the benchmark, {invalid} of them invalid. "
            )
        }
        Lang::Zh => write!(
            out,
            "全部运行中 {all} 次被评测者标为已剔除，其中无效 {invalid} 次。"
        ),
    }
}
