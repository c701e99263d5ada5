//! The words of the text report, English and Chinese side by side.

use super::Lang;
use crate::rules::finding::{Confidence, Stage};
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
