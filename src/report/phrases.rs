//! The words of the text report, English and Chinese side by side.

use super::Lang;
use crate::rules::finding::{Cause, Confidence, Stage};
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
