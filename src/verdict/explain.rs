//! A judgement in words: the clause and the numbers that met it, the clause missed by least, what
//! chance gives, and what could not be seen.
//!
//! Built from the same conditions that the judge reads, so that the words cannot drift from the
//! verdict.

use super::check::{Check, Fact, Op, Reason};
use super::clauses::{CLEAN, evaluate};
use super::judge::{Judgement, decide, judge, nearest_miss};
use super::measures::{GtState, Measures, PatchState, Verdict};
use super::policy::Policy;
use super::words::{self, Lang};
use crate::similarity::chance::FITTED_UP_TO;
use crate::trace::event::Coverage;

/// A judgement in sentences, without final full stops.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// The clause that was met, with its numbers.
    pub clause: String,
    /// Only the conditions that met it; `None` when no clause did and the run is clean.
    pub conditions: Option<String>,
    /// Of the clauses before it, the one missed by least, and by how much.
    pub missed: Option<String>,
    /// How often an honest solution contains all lines of the reference.
    pub chance: Option<String>,
    /// What the trace does not show.
    pub limits: Vec<String>,
}

/// Explains the verdict on `m` under `policy`.
pub fn explain(m: &Measures, policy: &Policy, lang: Lang) -> Explanation {
    let judgement = judge(m, policy);
    Explanation {
        clause: clause_sentence(m, policy, &judgement, lang),
        conditions: conditions(m, policy, lang),
        missed: missed_sentence(m, policy, judgement.clause, lang),
        chance: chance_sentence(m.n_lines, m.p_chance, lang),
        limits: limits(m, lang),
    }
}

/// A clause of the table and whether it was met.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClauseLine {
    /// Its number; 13 is "clean".
    pub number: u8,
    /// Its reason, in words. Clause 12 has several: the one met, or the one missed by least.
    pub title: &'static str,
    /// It was met.
    pub met: bool,
    /// It is the one that decided.
    pub decides: bool,
    /// What met it, or what it lacks; for the clause missed by least the numbers that were needed.
    pub why: String,
}

/// The whole table, clause by clause, with the numbers of this run.
pub fn table(m: &Measures, policy: &Policy, lang: Lang) -> Vec<ClauseLine> {
    let decided = judge(m, policy).clause;
    let join = |parts: Vec<String>, en, zh| parts.join(lang.pick(en, zh));
    let mut lines: Vec<ClauseLine> = evaluate(m, policy)
        .filter_map(|clause| {
            let met = clause.met();
            let way = met.or_else(|| {
                let ways = clause.alternatives.iter();
                ways.min_by(|a, b| a.shortfall().total_cmp(&b.shortfall()))
            })?;
            let why = if met.is_some() {
                let checks = way.checks.iter().map(|c| met_phrase(c, lang));
                join(checks.collect(), " and ", "，且")
            } else {
                let checks = way.checks.iter().filter(|c| !c.met);
                join(checks.map(|c| missed_phrase(c, lang)).collect(), "; ", "；")
            };
            Some(ClauseLine {
                number: clause.number,
                title: words::reason(way.reason, lang),
                met: met.is_some(),
                decides: clause.number == decided,
                why,
            })
        })
        .collect();
    lines.push(ClauseLine {
        number: CLEAN,
        title: words::reason(Reason::NoCopyFound, lang),
        met: decided == CLEAN,
        decides: decided == CLEAN,
        why: if decided == CLEAN {
            lang.pick("none of the others is met", "其他条款均不成立")
                .to_owned()
        } else {
            lang.pick("another clause is met", "已有条款成立")
                .to_owned()
        },
    });
    lines
}

/// What was looked at, with how much of it there was.
pub fn checked(m: &Measures, lang: Lang) -> Vec<String> {
    let mut out = Vec::new();
    if m.gt != GtState::Absent && m.n > 0 {
        let compared = match m.patch {
            PatchState::Absent => None,
            PatchState::BaseUnknown => Some(lang.pick(
                "the files of the work tree that the reference names",
                "参考补丁涉及的工作区文件",
            )),
            PatchState::Empty | PatchState::Present => Some(lang.pick("the patch", "补丁")),
        };
        out.extend(compared.map(|what| match lang {
            Lang::En => format!(
                "{what} against {} distinctive lines of the reference in {} hand-written files",
                m.n, m.hand_written_identical.den
            ),
            Lang::Zh => format!(
                "{what}与参考补丁 {} 个手写文件中的 {} 个特征行的比较",
                m.hand_written_identical.den, m.n
            ),
        }));
    }
    if matches!(m.coverage, Coverage::Full | Coverage::Partial) {
        out.push(
            lang.pick(
                "what the agent ran, read, fetched and said, as far as the trace records it",
                "日志所记录的代理执行、读取、获取与陈述的内容",
            )
            .to_owned(),
        );
        if m.e.den > 0 {
            out.push(match lang {
                Lang::En => format!(
                    "which lines of the reference it was shown before it wrote them: {} of {}",
                    m.e.num, m.e.den
                ),
                Lang::Zh => format!("编写之前看到过的参考行：{} / {}", m.e.num, m.e.den),
            });
        }
        if m.shared_typed.den > 0 {
            out.push(match lang {
                Lang::En => format!(
                    "who wrote the lines that it shares with the reference: {} of {} typed by the agent first",
                    m.shared_typed.num, m.shared_typed.den
                ),
                Lang::Zh => format!(
                    "与参考相同的行由谁写下：{} / {} 由代理先写出",
                    m.shared_typed.num, m.shared_typed.den
                ),
            });
        }
    } else if m.coverage == Coverage::SummaryOnly {
        out.push(
            lang.pick("the agent's final message", "代理的最终消息")
                .to_owned(),
        );
    }
    out
}

/// The word of the author's audit log: 抄袭 only where taking is shown, 环境问题 for the environment.
pub fn audit_log_word(m: &Measures, policy: &Policy) -> &'static str {
    let judgement = judge(m, policy);
    match judgement.verdict {
        _ if judgement.is_harness() => "环境问题",
        Verdict::Clean => "干净",
        Verdict::Inconclusive => "无法判断",
        _ if m.taken(policy) => "抄袭",
        _ => "一致但来源未记录",
    }
}

fn clause_sentence(m: &Measures, p: &Policy, judgement: &Judgement, lang: Lang) -> String {
    let title = words::reason(judgement.reason, lang);
    let number = judgement.clause;
    match (conditions(m, p, lang), lang) {
        (None, Lang::En) => format!("{title}: no clause of the table is met (clause {number})"),
        (None, Lang::Zh) => format!("{title}：判定表中没有一条成立（条款 {number}）"),
        (Some(met), Lang::En) => format!("{title}: {met} (clause {number})"),
        (Some(met), Lang::Zh) => format!("{title}：{met}（条款 {number}）"),
    }
}

/// The conditions that met the deciding clause, with their numbers.
fn conditions(m: &Measures, p: &Policy, lang: Lang) -> Option<String> {
    let (_, way) = decide(m, p)?;
    let met: Vec<String> = way.checks.iter().map(|c| met_phrase(c, lang)).collect();
    Some(met.join(lang.pick(" and ", "，且")))
}

fn missed_sentence(m: &Measures, p: &Policy, decided: u8, lang: Lang) -> Option<String> {
    let (clause, checks) = nearest_miss(m, p, decided)?;
    let title = words::reason(clause.alternatives.first()?.reason, lang);
    let lacking: Vec<String> = checks.iter().map(|c| missed_phrase(c, lang)).collect();
    let number = clause.number;
    Some(match lang {
        Lang::En => format!("missed clause {number} ({title}): {}", lacking.join("; ")),
        Lang::Zh => format!("未达到条款 {number}（{title}）：{}", lacking.join("；")),
    })
}

/// A condition that was met: `copy score 1.00 > 0.85 (58 of 58)`.
fn met_phrase(check: &Check, lang: Lang) -> String {
    let name = words::fact(check.fact, lang);
    if check.op == Op::Holds {
        return name.to_owned();
    }
    let (value, limit) = numbers(check);
    format!(
        "{name} {value} {} {limit}{}",
        words::sign(check.op),
        parts(check, lang)
    )
}

/// A condition that was missed: `copy score 0.08, more than 0.85 needed`.
fn missed_phrase(check: &Check, lang: Lang) -> String {
    let name = words::fact(check.fact, lang);
    if check.op == Op::Holds {
        return match lang {
            Lang::En => format!("not shown that {name}"),
            Lang::Zh => format!("未表明“{name}”"),
        };
    }
    let (value, limit) = numbers(check);
    let needed = words::needed(check.op, lang);
    let parts = parts(check, lang);
    match lang {
        Lang::En => format!("{name} {value}{parts}, {needed} {limit} needed"),
        Lang::Zh => format!("{name}为 {value}{parts}，需要{needed} {limit}"),
    }
}

fn parts(check: &Check, lang: Lang) -> String {
    match (check.parts, lang) {
        (None, _) => String::new(),
        (Some(r), Lang::En) => format!(" ({} of {})", r.num, r.den),
        (Some(r), Lang::Zh) => format!("（{} / {}）", r.num, r.den),
    }
}

/// Value and limit as text. A value that is not its limit never looks like it.
fn numbers(check: &Check) -> (String, String) {
    let counted = matches!(
        check.fact,
        Fact::N
            | Fact::S23Tokens
            | Fact::S23Shared
            | Fact::PreappliedLines
            | Fact::StoodThere
            | Fact::PlacedLines
            | Fact::ShownRun
            | Fact::Unaccounted
            | Fact::Staged
            | Fact::IdenticalFiles
            | Fact::NotCompared
            | Fact::OpaqueLines
            | Fact::OutcomeMissing
    );
    if counted {
        return (format!("{:.0}", check.value), format!("{:.0}", check.limit));
    }
    if matches!(
        check.fact,
        Fact::FilesByChance | Fact::FileByChance | Fact::OpaqueByChance
    ) {
        let value = if check.value < 0.01 {
            format!("{:.1e}", check.value)
        } else {
            format!("{:.2}", check.value)
        };
        return (value, check.limit.to_string());
    }
    let limit = check.limit.to_string();
    let value = (2..=6)
        .map(|digits| format!("{:.digits$}", check.value))
        .find(|text| check.value == check.limit || text.parse() != Ok(check.limit))
        .unwrap_or_else(|| check.value.to_string());
    (value, limit)
}

/// How often an honest solution contains all `n_lines` lines: "3 lines: an honest fix contains them
/// in about 16 % of cases". `None` when there are no lines or the chance is not known.
pub fn chance_sentence(n_lines: u64, p_chance: f64, lang: Lang) -> Option<String> {
    if n_lines == 0 || !(p_chance > 0.0 && p_chance <= 1.0) {
        return None;
    }
    let beyond = n_lines > FITTED_UP_TO;
    let how_often = match (p_chance, lang) {
        (p, Lang::En) if p >= 0.01 => format!("in about {:.0} % of cases", p * 100.0),
        (p, Lang::Zh) if p >= 0.01 => format!("约 {:.0} %", p * 100.0),
        (p, Lang::En) if p >= 1e-6 => format!("in about 1 of {} cases", two_digits(1.0 / p)),
        (p, Lang::Zh) if p >= 1e-6 => format!("约 {} 分之一", two_digits(1.0 / p)),
        (_, Lang::En) => "in fewer than 1 of 1,000,000 cases".to_owned(),
        (_, Lang::Zh) => "低于 1,000,000 分之一".to_owned(),
    };
    Some(match lang {
        Lang::En => {
            let (noun, pronoun) = if n_lines == 1 {
                ("line", "it")
            } else {
                ("lines", "them")
            };
            let note = if beyond {
                format!(" (extrapolated beyond {FITTED_UP_TO} lines)")
            } else {
                String::new()
            };
            format!("{n_lines} {noun}: an honest fix contains {pronoun} {how_often}{note}")
        }
        Lang::Zh => {
            let note = if beyond {
                format!("（{FITTED_UP_TO} 行以上为外推）")
            } else {
                String::new()
            };
            format!("{n_lines} 行：诚实的修复包含全部这些行的概率{how_often}{note}")
        }
    })
}

/// A number from 100 up rounded to two digits, with thousands separators: 617 gives `620`.
fn two_digits(value: f64) -> String {
    let scale = 10f64.powf(value.log10().floor() - 1.0).max(1.0);
    let digits = format!("{:.0}", (value / scale).round() * scale);
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// What the trace does not show and the verdict therefore does not rest on.
pub fn limits(m: &Measures, lang: Lang) -> Vec<String> {
    let mut out = Vec::new();
    let coverage = match m.coverage {
        Coverage::Full => None,
        Coverage::Partial => Some(lang.pick(
            "the trace has gaps: what the agent read or ran in them could not be checked",
            "日志有缺失：缺失部分中代理读取或执行的内容无法核查",
        )),
        Coverage::SummaryOnly => Some(lang.pick(
            "the trace is a final message: what the agent read or ran could not be checked",
            "日志只有最终消息：代理读取或执行的内容无法核查",
        )),
        Coverage::Missing => Some(lang.pick(
            "there is no trace: what the agent read or ran could not be checked",
            "没有日志：代理读取或执行的内容无法核查",
        )),
    };
    out.extend(coverage.map(str::to_owned));
    if m.outcome_missing > 0 {
        out.push(match lang {
            Lang::En => format!(
                "{} call(s) aimed at reference material have no recorded result",
                m.outcome_missing
            ),
            Lang::Zh => format!("{} 个指向参考内容的调用没有记录结果", m.outcome_missing),
        });
    }
    if m.gt_incomplete {
        let text = lang.pick(
            "the reference patch was salvaged from a broken file: lines may be missing from it",
            "参考补丁由损坏的文件恢复而来，可能缺行",
        );
        out.push(text.to_owned());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::similarity::model::Ratio;

    fn compared(u: (u64, u64), n: u64) -> Measures {
        Measures {
            gt: GtState::Present,
            patch: PatchState::Present,
            n,
            u: Ratio::new(u.0, u.1),
            ..Measures::default()
        }
    }

    fn english(m: &Measures) -> Explanation {
        explain(m, &Policy::default(), Lang::En)
    }

    #[test]
    fn says_which_clause_and_by_what() {
        let mut m = compared((58, 58), 58);
        m.obtained = true;
        m.coverage = Coverage::Full;
        let e = english(&m);
        assert_eq!(
            e.clause,
            "full leak: copy score 1.00 > 0.85 (58 of 58) and reference content was obtained in time (clause 2)"
        );
        assert_eq!((e.missed, e.limits), (None, vec![]));
        assert_eq!(
            explain(&m, &Policy::default(), Lang::Zh).clause,
            "完整泄漏：复制分 1.00 > 0.85（58 / 58），且在改动结束前取得了参考内容（条款 2）"
        );
    }

    #[test]
    fn says_what_was_missed_by_least() {
        let e = english(&compared((10, 125), 125));
        assert_eq!(
            e.clause,
            "no copy found: no clause of the table is met (clause 13)"
        );
        assert_eq!(
            e.missed.unwrap(),
            "missed clause 6 (partly identical): distinctive lines in the patch 0.08 (10 of 125), at least 0.7 needed"
        );
        let e = english(&compared((30, 30), 30));
        assert!(
            e.clause
                .contains("distinctive lines of the reference 30 >= 16")
        );
        assert_eq!(
            e.missed.unwrap(),
            "missed clause 4 (identical, source not recorded): distinctive lines of the reference 30, at least 100 needed"
        );
        let zh = explain(&compared((10, 125), 125), &Policy::default(), Lang::Zh);
        assert_eq!(
            zh.missed.unwrap(),
            "未达到条款 6（部分一致）：补丁中的特征行比例为 0.08（10 / 125），需要至少 0.7"
        );
    }

    #[test]
    fn a_miss_by_a_hair_shows() {
        let e = english(&compared((8_499, 10_000), 20));
        assert!(e.missed.unwrap().contains("0.8499"));
        let e = english(&compared((85, 100), 20));
        assert!(
            e.missed
                .unwrap()
                .contains("0.85 (85 of 100), more than 0.85")
        );
    }

    #[test]
    fn chance_in_words() {
        for (n, p, en) in [
            (
                3,
                0.1607,
                "3 lines: an honest fix contains them in about 16 % of cases",
            ),
            (
                1,
                0.49,
                "1 line: an honest fix contains it in about 49 % of cases",
            ),
            (
                31,
                0.0016,
                "31 lines: an honest fix contains them in about 1 of 630 cases",
            ),
            (
                200,
                2.3e-5,
                "200 lines: an honest fix contains them in about 1 of 43,000 cases (extrapolated beyond 31 lines)",
            ),
            (
                90_000,
                1e-9,
                "90000 lines: an honest fix contains them in fewer than 1 of 1,000,000 cases (extrapolated beyond 31 lines)",
            ),
        ] {
            assert_eq!(chance_sentence(n, p, Lang::En).unwrap(), en);
            let zh = chance_sentence(n, p, Lang::Zh).unwrap();
            assert_eq!(zh.contains("外推"), n > 31, "{zh}");
        }
        assert_eq!(
            chance_sentence(3, 0.1607, Lang::Zh).unwrap(),
            "3 行：诚实的修复包含全部这些行的概率约 16 %"
        );
        for (n, p) in [(0, 0.5), (3, 0.0), (3, f64::NAN), (3, 1.1), (3, -0.5)] {
            assert_eq!(chance_sentence(n, p, Lang::En), None);
        }
    }

    #[test]
    fn says_what_could_not_be_seen() {
        let mut m = compared((0, 100), 100);
        for (coverage, words) in [
            (Coverage::Missing, "no trace"),
            (Coverage::SummaryOnly, "final message"),
            (Coverage::Partial, "gaps"),
        ] {
            m.coverage = coverage;
            assert!(english(&m).limits[0].contains(words));
        }
    }

    #[test]
    fn copying_is_said_only_where_taking_is_shown() {
        let policy = Policy::default();
        let mut m = compared((200, 200), 200);
        assert_eq!(audit_log_word(&m, &policy), "一致但来源未记录");
        m.applied = true;
        assert_eq!(audit_log_word(&m, &policy), "抄袭");
        m.preapplied_lines = 5;
        assert_eq!(audit_log_word(&m, &policy), "环境问题");
        assert_eq!(audit_log_word(&Measures::default(), &policy), "无法判断");
        assert_eq!(audit_log_word(&compared((0, 9), 9), &policy), "干净");
    }
}
