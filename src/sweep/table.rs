//! The sums of a sweep for a person: counts, tasks by agents, causes, coverage, what to look at first.

use std::collections::BTreeMap;
use std::io::{self, Write};

use anstyle::Style as Paint;

use super::output::Sums;
use super::summary::{AgentCoverage, Look, LookReason, SweepSummary};
use crate::report::escape::{cut, for_terminal};
use crate::report::model::Summary;
use crate::report::{Lang, Style, phrases};
use crate::verdict::words;

/// Runs to look at that are shown without `--verbose`; the number of those left out is printed.
const LOOKS_SHOWN: usize = 20;

/// Other remarks that are shown without `--verbose`, of each kind.
const REMARKS_SHOWN: usize = 10;

/// Characters of a name of a task or an agent.
const NAME: usize = 40;

const DIM: Paint = Paint::new().dimmed();
const BOLD: Paint = Paint::new().bold();

/// Writes the sums.
///
/// # Errors
/// What the stream says.
pub fn write(sums: &Sums<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let lang = style.lang;
    counts(sums, lang, out)?;
    if style.quiet {
        return Ok(());
    }
    matrix(sums.sweep, lang, out)?;
    causes(sums.sweep, lang, out)?;
    coverage(sums.sweep, lang, out)?;
    remarks(sums.sweep, style, out)?;
    looks(&sums.sweep.look_first, style, out)
}

fn counts(sums: &Sums<'_>, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let (s, sweep) = (sums.summary, sums.sweep);
    let shown = phrases::counts(lang, s);
    let (tasks, agents) = (sweep.task_names().len(), sweep.agent_names().len());
    let of = match lang {
        Lang::En => format!(
            " of {} by {}",
            phrases::number(tasks as u64, "task"),
            phrases::number(agents as u64, "agent")
        ),
        Lang::Zh => format!("，{tasks} 个任务，{agents} 个代理"),
    };
    let runs = phrases::runs(lang, s.runs);
    let (colon, comma) = marks(lang);
    write!(out, "{BOLD}{runs}{BOLD:#}{of}{colon}{}", shown.join(comma))?;
    if sweep.excluded > 0 {
        let word = lang.pick("marked as excluded", "已被剔除");
        let (open, close) = (lang.pick(" (", "（"), lang.pick(")", "）"));
        write!(out, "{open}{} {word}{close}", sweep.excluded)?;
    }
    writeln!(out)
}

/// Colon and comma.
fn marks(lang: Lang) -> (&'static str, &'static str) {
    match lang {
        Lang::En => (": ", ", "),
        Lang::Zh => ("：", "，"),
    }
}

/// The letters of a cell.
fn letters(counts: &Summary) -> String {
    let parts = [
        (counts.invalid, 'I'),
        (counts.partial, 'P'),
        (counts.inconclusive, '?'),
        (counts.clean, '·'),
        (counts.harness, 'H'),
        (counts.errors, 'E'),
    ];
    let shown = parts.iter().filter(|(count, _)| *count > 0);
    let words: Vec<_> = shown
        .map(|(count, letter)| format!("{count}{letter}"))
        .collect();
    words.join(" ")
}

fn name(name: Option<&str>) -> String {
    cut(&for_terminal(name.unwrap_or("-")), NAME).into_owned()
}

fn matrix(sweep: &SweepSummary, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    let agents: Vec<_> = sweep.agent_names().into_iter().collect();
    let mut rows: BTreeMap<Option<&str>, BTreeMap<Option<&str>, String>> = BTreeMap::new();
    for cell in &sweep.matrix {
        let row = rows.entry(cell.task.as_deref()).or_default();
        row.insert(cell.agent.as_deref(), letters(&cell.counts));
    }
    let width = |agent: &Option<&str>| {
        let cells = rows.values().filter_map(|row| row.get(agent));
        let widest = cells.map(|cell| cell.chars().count()).max().unwrap_or(0);
        widest.max(name(*agent).chars().count())
    };
    let widths: Vec<_> = agents.iter().map(width).collect();
    let first = rows
        .keys()
        .map(|task| name(*task).chars().count())
        .max()
        .unwrap_or(0)
        .max(4);
    let legend = lang.pick(
        "I invalid, P partial, ? inconclusive, · clean, H harness fault, E could not be judged",
        "I 无效，P 部分泄漏，? 无法判断，· 干净，H 环境问题，E 未能判断",
    );
    writeln!(out, "\n{DIM}{legend}{DIM:#}")?;
    let mut line = format!("{:first$}", "");
    for (agent, width) in agents.iter().zip(&widths) {
        line.push_str(&format!("  {:width$}", name(*agent)));
    }
    writeln!(out, "{BOLD}{}{BOLD:#}", line.trim_end())?;
    for (task, row) in &rows {
        let mut line = format!("{:first$}", name(*task));
        for (agent, width) in agents.iter().zip(&widths) {
            let cell = row.get(agent).map_or("", String::as_str);
            line.push_str(&format!("  {cell:width$}"));
        }
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

fn causes(sweep: &SweepSummary, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    if sweep.causes.is_empty() {
        return Ok(());
    }
    let words: Vec<_> = sweep
        .causes
        .iter()
        .map(|c| format!("{} {}", phrases::cause(lang, c.cause), c.runs))
        .collect();
    let title = lang.pick("causes", "原因");
    let (colon, comma) = marks(lang);
    let words = words.join(comma);
    writeln!(out, "\n{BOLD}{title}{BOLD:#}{colon}{words}")
}

fn coverage(sweep: &SweepSummary, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    writeln!(
        out,
        "\n{BOLD}{}{BOLD:#}",
        lang.pick("what the traces show", "日志情况")
    )?;
    let (colon, comma) = marks(lang);
    for agent in &sweep.agents {
        let parts = seen(agent, lang);
        let words = match parts.as_slice() {
            // "124 runs, final message only": the number again would say nothing.
            [(_, what)] => (*what).to_owned(),
            parts => {
                let words: Vec<_> = parts
                    .iter()
                    .map(|(n, what)| format!("{n} {what}"))
                    .collect();
                words.join(comma)
            }
        };
        let runs = phrases::runs(lang, agent.runs);
        let agent = name(agent.agent.as_deref());
        writeln!(out, "  {agent}{colon}{runs}{comma}{words}")?;
    }
    Ok(())
}

fn seen(agent: &AgentCoverage, lang: Lang) -> Vec<(u64, &'static str)> {
    let parts = [
        (agent.full, lang.pick("full trace", "完整日志")),
        (agent.partial, lang.pick("trace with gaps", "日志有缺口")),
        (
            agent.summary_only,
            lang.pick("final message only", "只有最终消息"),
        ),
        (
            agent.missing,
            lang.pick("no readable trace", "没有可读日志"),
        ),
        (agent.errors, lang.pick("could not be judged", "未能判断")),
    ];
    parts.into_iter().filter(|(count, _)| *count > 0).collect()
}

/// What shows only across runs.
fn remarks(sweep: &SweepSummary, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let lang = style.lang;
    let others = sweep.other_tasks.iter().map(|o| {
        let (run, other) = (for_terminal(&o.run), name(o.other.as_deref()));
        match lang {
            Lang::En => format!(
                "{run} holds {} of {} lines of the ground truth of {other}",
                o.lines, o.of
            ),
            Lang::Zh => format!(
                "{run} 含有任务 {other} 参考补丁 {} 行中的 {} 行",
                o.of, o.lines
            ),
        }
    });
    section(
        lang.pick("another task's ground truth", "其他任务的参考补丁"),
        others,
        style,
        out,
    )?;
    let files = sweep.harness_files.iter().map(|f| {
        let (task, path) = (name(f.task.as_deref()), for_terminal(&f.path));
        match lang {
            Lang::En => format!(
                "{task}: {path} is alike in all {} runs, and no trace shows a writer",
                f.runs
            ),
            Lang::Zh => format!(
                "{task}：{path} 在全部 {} 次运行中相同，且没有日志记录写入",
                f.runs
            ),
        }
    });
    section(
        lang.pick(
            "files that the harness must have made",
            "应由评测环境放入的文件",
        ),
        files,
        style,
        out,
    )?;
    let shared = sweep.shared_lines.iter().map(|s| {
        let [a, b] = &s.runs;
        let (a, b) = (for_terminal(a), for_terminal(b));
        match lang {
            Lang::En => format!(
                "{a} and {b} share {} lines that hardly any other run has",
                s.lines
            ),
            Lang::Zh => format!("{a} 与 {b} 有 {} 行其他运行几乎没有的相同行", s.lines),
        }
    });
    section(
        lang.pick(
            "shared unusual lines (says nothing of who had them first)",
            "相同的罕见行（不说明谁在先）",
        ),
        shared,
        style,
        out,
    )?;
    small_matches(sweep, style, out)
}

fn small_matches(sweep: &SweepSummary, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let lang = style.lang;
    let small = sweep.small_matches.iter().map(|s| {
        let agent = name(Some(&s.agent));
        match lang {
            Lang::En => format!(
                "{agent}: {} of {} tasks too small to judge are identical, chance gives {:.1}",
                s.matches, s.tasks, s.expected
            ),
            Lang::Zh => format!(
                "{agent}：{} 个过小的任务中 {} 个一致，偶然约为 {:.1} 个",
                s.tasks, s.matches, s.expected
            ),
        }
    });
    section(
        lang.pick("repeated small matches", "多次小规模一致"),
        small,
        style,
        out,
    )
}

fn section(
    title: &str,
    lines: impl ExactSizeIterator<Item = String>,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let all = lines.len();
    if all == 0 {
        return Ok(());
    }
    writeln!(out, "\n{BOLD}{title}{BOLD:#}")?;
    let shown = if style.verbose { all } else { REMARKS_SHOWN };
    for line in lines.take(shown) {
        writeln!(out, "  {line}")?;
    }
    more(all, shown, style.lang, out)
}

fn more(all: usize, shown: usize, lang: Lang, out: &mut dyn Write) -> io::Result<()> {
    match all.saturating_sub(shown) {
        0 => Ok(()),
        left => match lang {
            Lang::En => writeln!(out, "  {DIM}… and {left} more (-v){DIM:#}"),
            Lang::Zh => writeln!(out, "  {DIM}……另有 {left} 项（-v）{DIM:#}"),
        },
    }
}

fn looks(looks: &[Look], style: Style, out: &mut dyn Write) -> io::Result<()> {
    let lang = style.lang;
    if looks.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{BOLD}{}{BOLD:#}",
        lang.pick("look at first", "建议先看")
    )?;
    let shown = if style.verbose {
        looks.len()
    } else {
        LOOKS_SHOWN
    };
    for look in looks.iter().take(shown) {
        let verdict = look.verdict.map_or(lang.pick("ERROR", "出错"), |verdict| {
            phrases::verdict(lang, verdict)
        });
        let mut reasons: Vec<_> = look.reasons.iter().map(|r| reason(r, lang)).collect();
        if look.passed {
            reasons.push(lang.pick("passed", "评测通过").to_owned());
        }
        let words = reasons.join(lang.pick(", ", "，"));
        writeln!(out, "  {verdict}  {}  {words}", for_terminal(&look.run))?;
    }
    more(looks.len(), shown, lang, out)
}

fn reason(reason: &LookReason, lang: Lang) -> String {
    match reason {
        LookReason::Verdict { reason } | LookReason::PassedUnverified { reason } => {
            words::reason(*reason, lang).to_owned()
        }
        LookReason::OtherTask { task, lines } => {
            let task = name(task.as_deref());
            match lang {
                Lang::En => format!("holds {lines} lines of the ground truth of {task}"),
                Lang::Zh => format!("含有任务 {task} 参考补丁的 {lines} 行"),
            }
        }
        LookReason::EvaluatorWords { words } => match lang {
            Lang::En => format!("an evaluator says \"{words}\""),
            Lang::Zh => format!("评测者写道“{words}”"),
        },
        LookReason::CoversFiles { changed, of } => match lang {
            Lang::En => format!("changes {changed} of the {of} files of the ground truth"),
            Lang::Zh => format!("改动了参考补丁 {of} 个文件中的 {changed} 个"),
        },
        LookReason::SharesLines => lang
            .pick(
                "shares unusual lines with another run",
                "与另一次运行有相同的罕见行",
            )
            .to_owned(),
        LookReason::Failed => lang.pick("could not be judged", "未能判断").to_owned(),
    }
}
