//! The words of the text report, English and Chinese side by side.

use super::Lang;
use super::model::Summary;
use crate::provenance::model::{Ledger, UnseenLines};
use crate::rules::finding::{Cause, Confidence, Stage};
use crate::trace::event::Coverage;
use crate::verdict::judge::Flag;
use crate::verdict::measures::Verdict;

/// The verdict as the first word of a report.
pub fn verdict(lang: Lang, verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Clean => lang.pick("CLEAN", "干净"),
        Verdict::Inconclusive => lang.pick("INCONCLUSIVE", "无法判断"),
        Verdict::Partial => lang.pick("PARTIAL", "部分泄漏"),
        Verdict::Invalid => lang.pick("INVALID", "无效"),
    }
}

/// How sure, in one word.
pub fn confidence(lang: Lang, confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => lang.pick("low", "低"),
        Confidence::Medium => lang.pick("medium", "中"),
        Confidence::High => lang.pick("high", "高"),
    }
}

/// How far an action got, in one or two words.
pub fn stage(lang: Lang, stage: Stage) -> &'static str {
    match stage {
        Stage::Mentioned => lang.pick("mentioned", "提及"),
        Stage::Attempted => lang.pick("attempted", "尝试"),
        Stage::Exposed => lang.pick("names only", "仅见名称"),
        Stage::Staged => lang.pick("on disk, unread", "已下载未读"),
        Stage::Obtained => lang.pick("obtained", "已获得"),
        Stage::Used => lang.pick("used", "已使用"),
    }
}

/// A cause. In English the stable name itself, which is a word.
pub fn cause(lang: Lang, cause: Cause) -> &'static str {
    let chinese = match cause {
        Cause::UpstreamFetch => "获取上游",
        Cause::GitHistory => "git 历史",
        Cause::PackageCopy => "安装包",
        Cause::AnswerFile => "答案文件",
        Cause::Delegated => "委托子代理",
        Cause::ThirdParty => "第三方代码",
        Cause::UnexplainedCopy => "来源未记录",
        Cause::Harness => "环境问题",
    };
    lang.pick(cause.name(), chinese)
}

/// A flag in words.
pub fn flag(lang: Lang, flag: Flag) -> String {
    if lang == Lang::En {
        return flag.name().replace('_', " ");
    }
    match flag {
        Flag::AttemptedBlocked => "尝试被阻止",
        Flag::ExposedMetadata => "仅见名称",
        Flag::Staged => "已下载未读",
        Flag::LookedAfterFinishing => "完成后才查看",
        Flag::IdenticalButSmall => "一致但改动很小",
        Flag::ElevatedSimilarity => "相似度偏高",
        Flag::SummaryOnly => "只有最终消息",
        Flag::TraceOnly => "仅凭日志",
        Flag::AdmissionRefuted => "自述被日志否定",
        Flag::HarnessCopy => "评测环境加入的文件",
        Flag::Mentioned => "提及",
        Flag::ContentUnrecorded => "内容未记录",
        Flag::EmptyPatch => "没有改动",
        Flag::GtIncomplete => "参考补丁不完整",
        Flag::SharesLines => "与另一次运行有相同的罕见行",
        Flag::HarnessFile => "含有评测环境放入的文件",
    }
    .to_owned()
}

/// How much of a run its trace shows. In English the stable name itself.
pub fn coverage(lang: Lang, coverage: Coverage) -> &'static str {
    let chinese = match coverage {
        Coverage::Full => "完整",
        Coverage::Partial => "有缺口",
        Coverage::SummaryOnly => "只有最终消息",
        Coverage::Missing => "没有可读日志",
    };
    lang.pick(coverage.name(), chinese)
}

/// A count with its noun, which takes an s where it is not one.
pub fn number(count: u64, thing: &str) -> String {
    match count {
        1 => format!("1 {thing}"),
        count => format!("{count} {thing}s"),
    }
}

/// "1 run", "2 runs".
pub fn runs(lang: Lang, runs: u64) -> String {
    match lang {
        Lang::En => number(runs, "run"),
        Lang::Zh => format!("{runs} 次运行"),
    }
}

/// The verdicts that occur, each with the number of its runs, the harshest first.
pub fn counts(lang: Lang, s: &Summary) -> Vec<String> {
    let fault = match s.harness {
        1 => "harness fault",
        _ => "harness faults",
    };
    let parts = [
        (s.invalid, lang.pick("invalid", "无效")),
        (s.partial, lang.pick("partial", "部分泄漏")),
        (s.inconclusive, lang.pick("inconclusive", "无法判断")),
        (s.clean, lang.pick("clean", "干净")),
        (s.harness, lang.pick(fault, "环境问题")),
        (s.errors, lang.pick("could not be judged", "未能判断")),
    ];
    let shown = parts.iter().filter(|(count, _)| *count > 0);
    shown
        .map(|(count, what)| format!("{count} {what}"))
        .collect()
}

/// "wrote 60 lines of a.py that no event holds, 58 of them of the ground truth (inferred)".
pub fn unseen(lang: Lang, unseen: &UnseenLines) -> String {
    let (path, lines, gt) = (&unseen.path, unseen.lines, unseen.gt_lines);
    match lang {
        Lang::En => format!(
            "{} {} of {path} that no event holds, {gt} of them of the ground truth (inferred)",
            if unseen.imported {
                "copied in"
            } else {
                "may have written"
            },
            number(lines, "line"),
        ),
        Lang::Zh => format!(
            "{} {path} 中没有任何事件记录的 {lines} 行，其中 {gt} 行属于参考补丁（推断）",
            if unseen.imported {
                "从外部复制了"
            } else {
                "可能写入了"
            },
        ),
    }
}

/// "of 212 added lines: 98 % typed by the agent, 2 % moved inside the repository"; `None` without lines.
pub fn ledger(lang: Lang, ledger: &Ledger) -> Option<String> {
    let parts = [
        (
            ledger.authored,
            lang.pick("typed by the agent", "由代理写出"),
        ),
        (
            ledger.seen_first,
            lang.pick("shown to it first", "先被看到"),
        ),
        (
            ledger.starter,
            lang.pick("moved inside the repository", "在仓库内移动"),
        ),
        (ledger.prompt, lang.pick("from the prompt", "来自提示")),
        (
            ledger.unseen,
            lang.pick("in no recorded event", "没有任何事件记录"),
        ),
        (
            ledger.generated,
            lang.pick("in generated files", "属于生成文件"),
        ),
        (
            ledger.unrecorded,
            lang.pick(
                "in edits whose content the format does not keep",
                "所用格式不记录编辑内容",
            ),
        ),
    ];
    let total: u64 = parts.iter().map(|(count, _)| count).sum();
    if total == 0 {
        return None;
    }
    let words: Vec<_> = parts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("{:.0} % {what}", *count as f64 * 100.0 / total as f64))
        .collect();
    Some(match lang {
        Lang::En => format!("of {}: {}", number(total, "added line"), words.join(", ")),
        Lang::Zh => format!("新增 {total} 行：{}", words.join("，")),
    })
}
