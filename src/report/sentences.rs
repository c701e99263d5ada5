//! Sentences that a report stores in English, in the reader's language.
//!
//! What could not be checked, and what was noticed on the way, is said by the parts that noticed it, and is
//! stored and sent to other machines as a sentence; JSON holds that sentence, whatever the language. A
//! format for people says it in Chinese by the table here. A sentence that is not in it stays as it is:
//! an English sentence is better than none.

use super::Lang;

/// English sentences and the same in Chinese. `{}` is a number, a name or a list; `{0}` is the first of
/// them. Of several that fit, the first is taken.
const SENTENCES: &[(&str, &str)] = &[
    // What could not be checked.
    (
        "tool calls (the trace holds only a final message)",
        "工具调用（日志只有最终消息）",
    ),
    (
        "what the agent did (there is no readable trace)",
        "代理做了什么（没有可读日志）",
    ),
    (
        "what the agent did (a comparison reads no trace)",
        "代理做了什么（比较时不读日志）",
    ),
    (
        "what the agent changed (no base to compare the work tree with)",
        "代理改动了什么（没有可与工作区比较的基准版本）",
    ),
    (
        "similarity (there is no ground truth)",
        "相似度（没有参考补丁）",
    ),
    (
        "similarity (there is no patch and no work tree)",
        "相似度（没有补丁，也没有工作区）",
    ),
    (
        "whether the task's own pull request was reached (no task facts)",
        "是否访问过本任务的拉取请求（没有任务资料）",
    ),
    (
        "files in the work tree that could not be compared with the ground truth: {}",
        "工作区中无法与参考补丁比较的文件：{0}",
    ),
    (
        "`TASK_PROMPT.md` of the run and {} differ; lines that stand in both are the prompt, those of the run's copy alone where a full trace shows that no call can have written them",
        "运行目录中的 `TASK_PROMPT.md` 与 {0} 不同；两者共有的行视为提示，仅运行副本中的行只有在完整日志表明没有任何调用可能写入时才视为提示",
    ),
    (
        "{} GT lines stand in the run's own prompt and not in the benchmark's; no call of the trace can have written them, so they are not counted",
        "参考补丁的 {0} 行出现在运行自带的提示中而不在基准的提示中；日志中没有任何调用可能写入它们，故不计入",
    ),
    (
        "where the user had {} of {} GT lines from that turns of the user hold (trace {}); they are not counted",
        "用户在对话中给出的参考补丁 {1} 行中的 {0} 行（日志 {2}）从何而来；这些行不计入",
    ),
    (
        "what {} of {} GT lines are worth that calls brought which took what the prompt names, or ran a tool by fixed rules (trace {}); they are not counted",
        "由取用提示中指明的内容或按固定规则运行工具的调用带来的参考补丁 {1} 行中的 {0} 行（日志 {2}）能说明什么；这些行不计入",
    ),
    (
        "{} commands that could not be taken apart",
        "{0} 条无法解析的命令",
    ),
    // Why a trace does not show the whole run.
    ("there is no trace", "没有日志"),
    ("there is no trace file", "没有日志文件"),
    (
        "no record of a known format was found",
        "没有找到已知格式的记录",
    ),
    ("nothing is said or done in the trace", "日志中没有任何言行"),
    (
        "there is no session of the main agent, only of sub-agents",
        "没有主代理的会话，只有子代理的会话",
    ),
    (
        "the format holds a final message and no tool calls",
        "该格式只有最终消息，没有工具调用",
    ),
    ("no start of {}", "没有开头：{0}"),
    ("no end of {}", "没有结尾：{0}"),
    (
        "no call of the trace explains the changes to {}",
        "日志中没有调用能解释这些文件的改动：{0}",
    ),
    (
        "{} added lines stand in no recorded event (written by a script or another program)",
        "新增的 {0} 行没有任何事件记录（由脚本或其他程序写出）",
    ),
    (
        "lines {} of {} stand in {}, in no recorded event; the call in line {} of the trace may have written them: {}",
        "{1} 的第 {0} 行出现在 {2} 中，没有任何事件记录；可能由日志第 {3} 行的调用写入：{4}",
    ),
    (
        "added text of the size of {} lines stands in no recorded event (written by a script or another program)",
        "新增的相当于 {0} 行的文本没有任何事件记录（由脚本或其他程序写出）",
    ),
    (
        "{} commands could not be taken apart, so what they ran is not known for sure",
        "{0} 条命令无法解析，因此不能确定它们执行了什么",
    ),
    (
        "{} calls without a result, the first at {} ({})",
        "{0} 个调用没有结果，第一个在 {1}（{2}）",
    ),
    (
        "{} call without a result, the first at {} ({})",
        "{0} 个调用没有结果，位于 {1}（{2}）",
    ),
    ("{} calls without a result", "{0} 个调用没有结果"),
    ("{} call without a result", "{0} 个调用没有结果"),
    ("{} results without its call", "{0} 个结果没有对应的调用"),
    ("{} result without its call", "{0} 个结果没有对应的调用"),
    (
        "the steps of {} sub-agents are not in the trace: {}",
        "{0} 个子代理的步骤不在日志中：{1}",
    ),
    (
        "the steps of {} sub-agent are not in the trace: {}",
        "{0} 个子代理的步骤不在日志中：{1}",
    ),
    (
        "session logs in the run directory that cannot be told to be of this run were not read: {}",
        "运行目录中有无法确定属于本次运行的会话日志，未读取：{0}",
    ),
    (
        "not read: {} (session logs that no id ties to a trace of this run; to read one with the others, name all of them with --trace)",
        "未读取：{0}（没有标识能把这些会话日志与本次运行的日志联系起来；如需一并读取，请用 --trace 逐一指定）",
    ),
    // Notes.
    (
        "rules not used since the task's facts lack {}: {}",
        "因任务资料缺少 {0} 而未使用的规则：{1} 条",
    ),
    ("{} more mentions by rule {}", "规则 {1} 另有 {0} 处提及"),
    (
        "{} commands start more than {} programs: the rest was looked at as text",
        "{0} 条命令启动了超过 {1} 个程序：其余部分按文本检查",
    ),
    (
        "{} files in places that are no part of a work tree (git directories, folders of tools, ignored names) \
         hold what the ground truth adds (first: {})",
        "{0} 个文件位于不属于工作区的位置（git 目录、工具目录、被忽略的名称），含有参考补丁新增的内容（首个：{1}）",
    ),
    (
        "no call of the trace names, and a script or another program may have written: {} (taken out of the patch)",
        "轨迹中没有调用提到、但可能由脚本或其他程序写入：{0}（已从补丁中去除）",
    ),
    (
        "not the agent's, the full trace holds no writer: {} (taken out of the patch)",
        "并非代理所写，完整轨迹中没有写入者：{0}（已从补丁中去除）",
    ),
    (
        "files of the patch without content: {}",
        "补丁中没有内容的文件：{0}",
    ),
    (
        "lines of the patch that cannot be read",
        "补丁中无法读取的行",
    ),
    (
        "{} files that are not counted as work (packages, submodules, copies beside the agent's own solution) hold \
         lines of the ground truth (first: {})",
        "{0} 个不计为工作的文件（软件包、子模块、代理自己解法之外的副本）含有参考补丁的行（首个：{1}）",
    ),
    (
        "{} files outside of the compared work tree were not searched: they hold more than {} GiB",
        "比较范围之外有 {0} 个文件未搜索：总量超过 {1} GiB",
    ),
    (
        "{} files that are binary or too large hold lines of the ground truth, and are compared by those lines \
         alone (first: {})",
        "{0} 个二进制或过大的文件含有参考补丁的行，仅按这些行比较（首个：{1}）",
    ),
    (
        "judged as a run of each task that it may be of ({}), by the worst: {}",
        "按可能所属的每个任务（{0}）分别判定，取最坏结果：{1}",
    ),
    (
        "{} GT lines follow from lines that were there (a renaming, a formatter, a file made of another) and are not counted",
        "参考补丁有 {0} 行可由原有的行推出（重命名、格式化、仿照另一文件），不计入",
    ),
    (
        "{} GT lines stand in turns of the user that came before the agent wrote them (trace {}), and are not counted",
        "参考补丁有 {0} 行在代理写出之前已由用户在对话中给出（日志 {1}），不计入",
    ),
    (
        "{} GT lines stand in the prompt and are not counted",
        "参考补丁有 {0} 行出现在提示中，不计入",
    ),
    (
        "{} of {} GT files were taken for generated ones by attributes, markers or paths",
        "参考补丁 {1} 个文件中有 {0} 个按属性、标记或路径视为生成文件",
    ),
    (
        "the list of hand-written files names no file of the GT and is ignored",
        "手写文件列表不含参考补丁的任何文件，已忽略",
    ),
    (
        "the list of hand-written files names every file of the GT; generated files are detected",
        "手写文件列表含有参考补丁的全部文件；改为自动识别生成文件",
    ),
    (
        "of {} references the patch is most like {}",
        "{0} 个参考补丁中，补丁与 {1} 最相似",
    ),
    ("ground truth, line {}: {}", "参考补丁第 {0} 行：{1}"),
    ("patch, line {}: {}", "补丁第 {0} 行：{1}"),
];

/// What can be wrong with a trace file; stands after its name in a sentence.
const PROBLEMS: &[(&str, &str)] = &[
    ("the file is empty (0 bytes)", "文件为空（0 字节）"),
    ("this is no regular file", "不是普通文件"),
    (
        "this is {}, which this version does not read; unpack it first",
        "这是 {0}，本版本不能读取；请先解包",
    ),
    (
        "damaged or cut {} data; what stands behind the damage was not read",
        "{0} 数据损坏或被截断；损坏之后的内容未读取",
    ),
    (
        "it expands to more than {} times its size; the rest was not read",
        "展开后超过原大小的 {0} 倍；其余部分未读取",
    ),
    (
        "an entry of the archive is encrypted or packed in a way that is not read",
        "归档中有条目被加密或以无法读取的方式打包",
    ),
    ("reading stopped with an error", "读取因错误而中止"),
    (
        "byte order mark; the file was converted",
        "有字节顺序标记；文件经过转换",
    ),
    ("UTF-16; the file was converted", "UTF-16；文件经过转换"),
    (
        "lines end in CR LF; the file was converted",
        "行以 CR LF 结尾；文件经过转换",
    ),
    ("zero bytes between records", "记录之间有零字节"),
    (
        "bytes that are not UTF-8, read as U+FFFD",
        "有非 UTF-8 字节，读作 U+FFFD",
    ),
    (
        "invalid JSON that could be mended (lone surrogate, control character, NaN)",
        "可修复的无效 JSON（孤立代理码、控制字符、NaN）",
    ),
    (
        "nested deeper than {} levels; the deep part is read as text",
        "嵌套超过 {0} 层；更深部分按文本读取",
    ),
    ("text that is no JSON record", "不是 JSON 记录的文本"),
    ("a bare value that is no record", "不是记录的单个值"),
    ("a record that does not parse", "无法解析的记录"),
    ("the file ends inside a record", "文件在记录中间结束"),
    (
        "a record longer than {} MiB, skipped",
        "超过 {0} MiB 的记录，已跳过",
    ),
    (
        "the array around the records has no end",
        "包含记录的数组没有结尾",
    ),
    (
        "a report that trace-audit wrote, which is no evidence",
        "trace-audit 自己的报告，不是证据",
    ),
    ("a JSON record of no known format", "格式未知的 JSON 记录"),
    (
        "a record of a kind that this version does not know",
        "本版本不认识的记录类型",
    ),
    ("a record that was there before", "重复的记录"),
    (
        "a record that is older than the one before it",
        "比前一条记录更早的记录",
    ),
    (
        "a document whose format shows only at its end was read as another; name the file instead of piping it",
        "到结尾才显出格式的文档被当作其他格式读取；请指定文件而不要用管道",
    ),
    (
        "a record whose predecessor is not in the file",
        "前一条记录不在文件中的记录",
    ),
    (
        "the format {} is experimental: no real log was there to check its reading against",
        "格式 {0} 为试验性支持：没有真实日志可供核对",
    ),
    (
        "more than {} calls without a result at a time",
        "同时有超过 {0} 个调用没有结果",
    ),
];

/// The sentence in the reader's language.
pub fn say(lang: Lang, sentence: &str) -> String {
    let chinese = match lang {
        Lang::En => None,
        Lang::Zh => whole(sentence).or_else(|| of_a_file(sentence)),
    };
    chinese.unwrap_or_else(|| sentence.to_owned())
}

fn whole(sentence: &str) -> Option<String> {
    SENTENCES
        .iter()
        .find_map(|(english, chinese)| Some(filled(chinese, &holes(english, sentence)?)))
}

/// `run.jsonl:3: a record that does not parse (2 times)`.
fn of_a_file(sentence: &str) -> Option<String> {
    let (rest, times) = match holes("{} ({} times)", sentence).as_deref() {
        Some([rest, times]) if times.bytes().all(|b| b.is_ascii_digit()) => (*rest, Some(*times)),
        _ => (sentence, None),
    };
    // The name comes from outside and may hold anything: the split is where a known problem follows.
    let (place, what) = rest.match_indices(": ").find_map(|(at, mark)| {
        let (place, what) = (rest.get(..at)?, rest.get(at + mark.len()..)?);
        let known =
            |(english, chinese): &(&str, &str)| Some(filled(chinese, &holes(english, what)?));
        Some((place, PROBLEMS.iter().find_map(known)?))
    })?;
    Some(match times {
        Some(times) => format!("{place}：{what}（{times} 次）"),
        None => format!("{place}：{what}"),
    })
}

/// What stands in the places of `{}`; `None` when the sentence is another one.
fn holes<'a>(pattern: &str, sentence: &'a str) -> Option<Vec<&'a str>> {
    let mut literals = pattern.split("{}");
    let mut rest = sentence.strip_prefix(literals.next()?)?;
    let mut found = Vec::new();
    let mut literals = literals.peekable();
    while let Some(literal) = literals.next() {
        let (hole, after) = match literals.peek() {
            None => (rest.strip_suffix(literal)?, ""),
            Some(_) => rest.split_once(literal)?,
        };
        if hole.is_empty() {
            return None;
        }
        found.push(hole);
        rest = after;
    }
    rest.is_empty().then_some(found)
}

/// The Chinese pattern with what stands in its places, put in once: a name that looks like a place is a name.
fn filled(pattern: &str, holes: &[&str]) -> String {
    let mut out = String::new();
    let mut parts = pattern.split('{');
    out.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let Some((number, literal)) = part.split_once('}') else {
            continue;
        };
        let hole = number.parse::<usize>().ok().and_then(|n| holes.get(n));
        out.push_str(hole.copied().unwrap_or_default());
        out.push_str(literal);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn zh(sentence: &str) -> String {
        say(Lang::Zh, sentence)
    }

    #[test]
    fn sentences_have_their_numbers_and_names() {
        for (english, chinese) in [
            (
                "tool calls (the trace holds only a final message)",
                "工具调用（日志只有最终消息）",
            ),
            (
                "2 calls without a result, the first at run.jsonl:7 (Bash)",
                "2 个调用没有结果，第一个在 run.jsonl:7（Bash）",
            ),
            ("1 call without a result", "1 个调用没有结果"),
            ("no end of session t1 in a", "没有结尾：session t1 in a"),
            (
                "a: b.jsonl:3: text that is no JSON record (2 times)",
                "a: b.jsonl:3：不是 JSON 记录的文本（2 次）",
            ),
            (
                "r.jsonl: the file is empty (0 bytes)",
                "r.jsonl：文件为空（0 字节）",
            ),
            (
                "no call of the trace explains the changes to {1}, b",
                "日志中没有调用能解释这些文件的改动：{1}, b",
            ),
            ("something else", "something else"),
            ("", ""),
        ] {
            assert_eq!(zh(english), chinese);
            assert_eq!(say(Lang::En, english), english);
        }
    }

    /// Every sentence of the sources that make `unchecked` is in the table: a new one has to be added.
    #[test]
    fn the_sources_say_nothing_that_is_not_translated() {
        for source in [
            include_str!("../audit/facts.rs"),
            include_str!("../audit/scan.rs"),
            include_str!("../audit/mod.rs"),
            include_str!("../audit/sources.rs"),
            include_str!("../audit/listen.rs"),
            include_str!("../trace/coverage.rs"),
        ] {
            let code = source.split("#[cfg(test)]").next().unwrap();
            let places = code
                .split("unchecked.push(")
                .chain(code.split("reasons.push("));
            let places = places.chain(code.split("out.push("));
            for place in places.skip(1) {
                let place = place.trim_start();
                let text = place.strip_prefix("format!(").unwrap_or(place).trim_start();
                let Some(text) = text.strip_prefix('"') else {
                    continue;
                };
                let text = text.split('"').next().unwrap();
                let example = example(text);
                assert_ne!(zh(&example), example, "no Chinese for this sentence");
            }
        }
    }

    /// A format string with something in its places.
    fn example(format: &str) -> String {
        let parts = format.split('{').enumerate().map(|(at, part)| match at {
            0 => part.to_owned(),
            _ => format!("7{}", part.split_once('}').map_or("", |(_, rest)| rest)),
        });
        // The one format whose word is an argument, and those of which the number brings its noun.
        parts
            .collect::<String>()
            .replace("no 7 of", "no end of")
            .replace("7 without its call", "7 results without its call")
            .replace("the steps of 7 are", "the steps of 7 sub-agents are")
    }

    #[test]
    fn every_problem_of_a_trace_has_a_form() {
        let source = include_str!("../trace/problem.rs");
        let words = source.split("fn words(self)").nth(1).unwrap();
        let words = words.split("/// ").next().unwrap();
        let mut seen = 0;
        for text in words.split('"').skip(1).step_by(2) {
            let sentence = example(&format!("a.jsonl: {text}"));
            assert_ne!(zh(&sentence), sentence);
            seen += 1;
        }
        assert_eq!(seen, PROBLEMS.len());
    }
}
