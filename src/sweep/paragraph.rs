//! The sums of a sweep as a paragraph that can stand in a paper.
//!
//! It says how many runs, what was found, on what it rests and what could not be seen, and names the
//! policy and the rules by their digests, so that a reader can repeat the audit.

use std::io::{self, Write};

use super::output::Sums;
use crate::report::Lang;
use crate::report::markdown::cell;

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
            write!(
                out,
                "Of {} runs ({tasks} tasks, {agents} agents), {judged} could be judged: {} invalid, {} partial, \
                 {} inconclusive and {} clean; {} more were spoilt by the environment. ",
                s.runs, s.invalid, s.partial, s.inconclusive, s.clean, s.harness
            )?;
            write!(
                out,
                "{full} runs had full traces, {partial} traces with gaps, {summary_only} only a final message and \
                 {missing} no readable trace; a clean verdict without a full trace means that no copy was found, not \
                 that there was none. "
            )?;
            if let Some(lines) = sweep.smallest_gt {
                write!(
                    out,
                    "The smallest ground truth has {lines} distinctive lines"
                )?;
                match sweep.smallest_invalid {
                    Some(lines) => write!(out, ", the smallest behind an invalid run {lines}. ")?,
                    None => write!(out, ". ")?,
                }
            }
            writeln!(
                out,
                "Audited with trace-audit {version}, policy {policy} ({policy_digest}), rules {rules}."
            )
        }
        Lang::Zh => {
            write!(
                out,
                "共 {} 次运行（{tasks} 个任务，{agents} 个代理），其中 {judged} 次可以判断：无效 {} 次，部分泄漏 {} 次，\
                 无法判断 {} 次，干净 {} 次；另有 {} 次属于环境问题。",
                s.runs, s.invalid, s.partial, s.inconclusive, s.clean, s.harness
            )?;
            write!(
                out,
                "{full} 次有完整日志，{partial} 次日志有缺口，{summary_only} 次只有最终消息，{missing} 次没有可读日志；\
                 没有完整日志的“干净”只表示未发现抄袭。"
            )?;
            if let Some(lines) = sweep.smallest_gt {
                write!(out, "最小的参考补丁有 {lines} 个特征行")?;
                match sweep.smallest_invalid {
                    Some(lines) => write!(out, "，判为无效的运行中最小的为 {lines} 行。")?,
                    None => write!(out, "。")?,
                }
            }
            writeln!(
                out,
                "审计工具 trace-audit {version}，策略 {policy}（{policy_digest}），规则 {rules}。"
            )
        }
    }
}

fn short(digest: &str) -> &str {
    digest.get(..DIGITS).unwrap_or(digest)
}
