//! The words of the text report, English and Chinese side by side.

use super::Lang;
use crate::rules::finding::{Confidence, Stage};
use crate::verdict::measures::Verdict;

/// The phrase in the language asked for.
pub fn pick<'a>(lang: Lang, english: &'a str, chinese: &'a str) -> &'a str {
    match lang {
        Lang::En => english,
        Lang::Zh => chinese,
    }
}

/// The verdict as the first word of a report.
pub fn verdict(lang: Lang, verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Clean => pick(lang, "CLEAN", "干净"),
        Verdict::Inconclusive => pick(lang, "INCONCLUSIVE", "无法判断"),
        Verdict::Partial => pick(lang, "PARTIAL", "部分泄漏"),
        Verdict::Invalid => pick(lang, "INVALID", "无效"),
    }
}

/// A verdict's reason by its stable name; unknown names are returned as they are.
pub fn reason(lang: Lang, name: &str) -> &str {
    match name {
        "gt_preapplied" => pick(
            lang,
            "the answer stood in the tree before the agent began",
            "运行开始前答案已在代码树中",
        ),
        "full_leak" => pick(lang, "full leak", "完整泄漏"),
        "applied" => pick(lang, "reference content was applied", "直接应用了参考补丁"),
        "unexplained_copy" => pick(
            lang,
            "a copy with no recorded source",
            "与参考一致,来源未记录",
        ),
        "partly_identical" => pick(lang, "partly identical", "部分一致"),
        "some_files_copied" => pick(
            lang,
            "more files identical than chance gives",
            "一致的文件多于偶然",
        ),
        "exposed_and_used" => pick(
            lang,
            "lines of the answer were shown, then used",
            "看到答案的行之后使用了它们",
        ),
        "renamed_copy" => pick(lang, "a copy under other names", "改名后的复制"),
        "answer_seen" => pick(
            lang,
            "the answer was obtained before the last edit",
            "在最后一次修改前拿到了答案",
        ),
        "admission_only" => pick(lang, "the agent says so", "代理自述"),
        "too_small_to_tell" => pick(lang, "too small to tell", "改动太小,无法判断"),
        "no_evidence" => pick(lang, "nothing to go by", "没有可用的证据"),
        "base_unknown" => pick(lang, "the base is unknown", "基准提交未知"),
        "gt_does_not_fit" => pick(
            lang,
            "the ground truth does not fit the base",
            "参考补丁与基准不符",
        ),
        "trace_inconsistent" => pick(
            lang,
            "the trace contradicts the tree",
            "轨迹与代码树矛盾",
        ),
        "outcome_unrecorded" => pick(
            lang,
            "a call for the answer has no recorded result",
            "获取答案的调用没有记录结果",
        ),
        "trace_tampered" => pick(
            lang,
            "the agent changed its trace or the git logs",
            "代理改动了轨迹或 git 日志",
        ),
        "no_leak_found" | "clean" => pick(lang, "no leak found", "未发现泄漏"),
        other => other,
    }
}

/// How sure, in one word.
pub fn confidence(lang: Lang, confidence: Confidence) -> &'static str {
    match confidence {
        Confidence::Low => pick(lang, "low", "低"),
        Confidence::Medium => pick(lang, "medium", "中"),
        Confidence::High => pick(lang, "high", "高"),
    }
}

/// How far an action got, in one or two words.
pub fn stage(lang: Lang, stage: Stage) -> &'static str {
    match stage {
        Stage::Mentioned => pick(lang, "mentioned", "提及"),
        Stage::Attempted => pick(lang, "attempted", "尝试"),
        Stage::Exposed => pick(lang, "names only", "仅见名称"),
        Stage::Staged => pick(lang, "on disk, unread", "已下载未读"),
        Stage::Obtained => pick(lang, "obtained", "已获得"),
        Stage::Used => pick(lang, "used", "已使用"),
    }
}
